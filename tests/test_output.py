"""Files appear whole or not at all."""

from __future__ import annotations

import os
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
    with pytest.raises(InputError, match="cannot write"):
        write_folder(tmp_path / "out", {"report.html": "x"})


def test_permissions_follow_the_umask(tmp_path: Path) -> None:
    previous = os.umask(0o027)
    try:
        path = write_file(tmp_path / "deep" / "a.csv", "x")
    finally:
        os.umask(previous)
    assert path.stat().st_mode & 0o777 == 0o640
