"""What is refused before anything is computed or written: formats, places, counts, files named twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankstats.cli.main import main

QRELS = "".join(f"q{q} 0 d{d} {int(d < 2)}\n" for q in range(12) for d in range(4))
RUN = "".join(f"q{q} Q0 d{d} 0 {d} x\n" for q in range(12) for d in range(4))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--tables", "t", "--table-formats", "csv,xlsx"], "--table-formats xlsx: choose from csv, parquet, latex"),
        (["--figures", "f", "--figure-formats", "jpg"], "--figure-formats jpg: choose from svg, png, pdf"),
        (["--tables", "notes.md"], "--tables notes.md: notes.md is a file; name a folder"),
        (["--figures", "notes.md/x"], "--figures notes.md/x: notes.md is a file; name a folder"),
        (["--table-formats", "csv"], "--table-formats needs --tables DIR"),
        (["--figures", ""], "--figures names nothing"),
        (["--out", "notes.md"], "--out notes.md: notes.md is a file; name a folder"),
        (["--out", "notes.md/x"], "--out notes.md/x: notes.md is a file; name a folder"),
    ],
)
def test_files_beside_the_report(
    options: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in (("q", QRELS), ("a", RUN), ("b", RUN), ("notes.md", "x")):
        Path(name).write_text(text, encoding="utf-8")
    before = sorted(path.name for path in tmp_path.iterdir())
    assert main(["compare", "--qrels", "q", "a", "b", "--out", "o", *options]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"rankstats: {message}")
    assert err.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_a_file_named_twice_does_not_count_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("e.csv").write_text("user,arm,clicks\n" + "".join(f"u{i},{'AB'[i % 2]},{i}\n" for i in range(40)), "utf-8")
    assert main(["ab", "e.csv", "./e.csv", "--unit", "user", "--metric", "clicks"]) == 2
    assert "is named twice; its rows would count twice" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", [["agree", "--runs", "a", "b", "--cutoff", "9" * 20], ["power", "--sd", ".2", "--n", "9" * 23]]
)
def test_counts_beyond_all_bounds(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(words)
    assert stopped.value.code == 2
    assert "a whole number of at most 1,000,000,000 is expected" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["power", "--sd", "0.2", "--n", "50", "--out", "f"], "--out f: f is a file; name a folder"),
        (["gate", "r.json", "--policy", "p.toml", "--out", "f"], "--out f: f is a file; name a folder"),
        (["demo", "--out", "f"], "f: is a file; name a folder"),
        (["compare", "--plan", "plan.toml"], "plan.toml: comparison is 3; a section is expected: write [comparison]"),
    ],
)
def test_a_file_for_a_folder_and_a_number_for_a_section(
    words: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("f").write_text("kept", encoding="utf-8")
    Path("plan.toml").write_text("comparison = 3\n", encoding="utf-8")
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert Path("f").read_text(encoding="utf-8") == "kept"
