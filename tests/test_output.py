"""Files appear whole or not at all."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from rankstats.errors import InputError
from rankstats.output import write_file, write_folder


def test_stale_files_of_ours_go_and_others_stay(tmp_path: Path) -> None:
    (tmp_path / "to_judge.tsv").write_text("old", encoding="utf-8")
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    written = write_folder(tmp_path, {"report.html": "ä\n", "report.json": b"{}"})
    assert [path.name for path in written] == ["report.html", "report.json"]
    assert (tmp_path / "report.html").read_bytes() == "ä\n".encode()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes.txt", "report.html", "report.json"]


def test_a_failure_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "report.html").write_text("old", encoding="utf-8")
    calls = iter([None, OSError(28, "No space left on device")])

    def fail_second(stream: int, mode: str) -> object:
        problem = next(calls)
        if problem is not None:
            os.close(stream)
            raise problem
        return real(stream, mode)

    real = os.fdopen
    monkeypatch.setattr(os, "fdopen", fail_second)
    with pytest.raises(InputError, match="No space left on device"):
        write_folder(tmp_path, {"report.html": "new", "report.json": "new"})
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == "old"


def test_a_file_in_the_place_of_the_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="out: is a file; name a folder"):
        write_folder(tmp_path / "out", {"report.html": "x"})


def test_nothing_changes_where_one_target_is_a_folder(tmp_path: Path) -> None:
    (tmp_path / "junit.xml").mkdir()
    (tmp_path / "report.html").write_text("old", encoding="utf-8")
    with pytest.raises(InputError, match=r"junit\.xml: is a folder where a file would be written"):
        write_folder(tmp_path, {"report.html": "new"})
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == "old"


def test_inputs_are_never_replaced(tmp_path: Path) -> None:
    run = tmp_path / "a.run"
    run.write_text("rows", encoding="utf-8")
    (tmp_path / "link").symlink_to(run)
    for target in (run, tmp_path / "link"):
        with pytest.raises(InputError, match="is one of the files that are read"):
            write_file(target, "x", inputs=[str(run)])
    assert run.read_text(encoding="utf-8") == "rows"


def test_links_are_followed_and_pipes_written_to(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old", encoding="utf-8")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_file(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text(encoding="utf-8") == "new"
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_file(tmp_path / "pipe", "through")
    assert os.read(reader, 100) == b"through"
    os.close(reader)
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_folders_made_for_a_failed_write_go_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object, **named: object) -> tuple[int, str]:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "mkstemp", fail)
    with pytest.raises(InputError, match="No space left on device"):
        write_folder(tmp_path / "deep" / "out", {"report.html": "x"})
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_comes_before_or_after_all_renames(tmp_path: Path) -> None:
    """A signal sent by the first rename arrives when the last is done."""
    program = """
import os, signal, sys
from pathlib import Path
from rankstats.output import write_folder

signal.signal(signal.SIGTERM, signal.default_int_handler)
rename = Path.replace
def replace(self, target):
    os.kill(os.getpid(), signal.SIGTERM)
    return rename(self, target)
Path.replace = replace
write_folder(sys.argv[1], {"report.html": "new", "report.json": "new", "summary.md": "new"})
"""
    for name in ("report.html", "report.json", "summary.md"):
        (tmp_path / name).write_text("old", encoding="utf-8")
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, check=False)
    assert b"KeyboardInterrupt" in done.stderr
    assert {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()} == {
        "report.html": "new",
        "report.json": "new",
        "summary.md": "new",
    }


def test_permissions_follow_the_umask(tmp_path: Path) -> None:
    previous = os.umask(0o027)
    try:
        path = write_file(tmp_path / "deep" / "a.csv", "x")
    finally:
        os.umask(previous)
    assert path.stat().st_mode & 0o777 == 0o640
