from __future__ import annotations

from pathlib import Path

import pytest

from rankstats.errors import InputError
from rankstats.inputs import run_name, run_names


@pytest.mark.parametrize(
    ("argument", "name", "path"),
    [
        ("runs/covidex.r5.2s.lr.run.gz", "covidex.r5.2s.lr", "runs/covidex.r5.2s.lr.run.gz"),
        ("a.txt", "a", "a.txt"),
        ("a.run.txt", "a.run", "a.run.txt"),
        ("a.gz.bz2", "a.gz", "a.gz.bz2"),
        ("a.jsonl.zst", "a", "a.jsonl.zst"),
        ("a.eval.xz", "a", "a.eval.xz"),
        ("A.RUN.GZ", "A", "A.RUN.GZ"),
        ("r5.fusion2", "r5.fusion2", "r5.fusion2"),
        (".run", ".run", ".run"),
        ("prod=a.run", "prod", "a.run"),
        ("prod = v2=x/a.run", "prod", " v2=x/a.run"),
        ("runs/lr=0.1/a.run", "a", "runs/lr=0.1/a.run"),
        (Path("lr=0.1.run"), "lr=0.1", "lr=0.1.run"),
    ],
)
def test_run_name(argument: str | Path, name: str, path: str) -> None:
    assert run_name(argument) == (name, Path(path))


def test_a_file_whose_name_holds_an_equals_sign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lr=0.1.run").write_text("")
    assert run_name("lr=0.1.run") == ("lr=0.1", Path("lr=0.1.run"))
    assert run_name("new=lr=0.1.run") == ("new", Path("lr=0.1.run"))


@pytest.mark.parametrize("argument", ["=a.run", "a=", " =a.run"])
def test_half_a_name(argument: str) -> None:
    with pytest.raises(InputError, match="is not of the form NAME=FILE"):
        run_name(argument)


def test_two_runs_of_one_name() -> None:
    assert run_names(["b.run", "a.run"]) == [("b", Path("b.run")), ("a", Path("a.run"))]
    with pytest.raises(InputError) as error:
        run_names(["old/bm25.run", "new/bm25.run.gz"])
    assert str(error.value) == (
        "two runs are named 'bm25' (old/bm25.run and new/bm25.run.gz); "
        "give one of them a name of its own, such as bm25-2=new/bm25.run.gz"
    )
