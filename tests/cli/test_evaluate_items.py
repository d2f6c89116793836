"""``rankstats evaluate`` with an item table: options, values, notes and refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rankstats.cli.main import main

FILES = {
    "q.txt": "u1 0 a 1\nu2 0 b 1\n",
    "a.run": "u1 Q0 a 1 2 a\nu1 Q0 c 2 1 a\nu2 Q0 b 1 2 a\nu2 Q0 new 2 1 a\n",
    "items.tsv": "id\tsold\tgenres\na\t4\tx\nb\t2\tx|y\nc\t2\ty\nd\t0\tz\n",
    "had.csv": "user,item\nu1,a\nu2,a\nu2,b\n",
}


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)


def evaluate(*arguments: str) -> int:
    return main(["evaluate", "--qrels", "q.txt", "a.run", "--items", "items.tsv", *arguments])


def test_the_table_shows_the_value_of_all_lists(capsys: pytest.CaptureFixture[str]) -> None:
    measures = "Coverage@2,ILD@2,Gini@1,PopularityGap@1"
    assert evaluate("--popularity", "sold", "--measures", measures) == 0
    printed = capsys.readouterr()
    header, row = printed.out.splitlines()
    assert header.split() == ["system", "Coverage@2", "ILD@2", "Gini@1", "PopularityGap@1"]
    # u1 lists x and y; u2 one known item; a and b are shown first, used 4 and 2 times where the mean is 2
    assert row.split() == ["a", "0.7500", "1.0000", "0.5000", "0.5000"]
    notes = printed.err.splitlines()
    assert (
        "note: a: 1 of 4 documents among the first 2 is left out of Coverage@2, ILD@2, because items.tsv lacks them or "
        "does not say what is asked"
    ) in notes
    assert (
        "note: Coverage@2, Gini@1 are one value of all lists each; queries have none, and what stands for the mean is "
        "that value"
    ) in notes
    assert "note: ILD@2 is undefined on 1 query; left out of every system's mean" in notes
    assert not any("Coverage@2 is undefined" in note for note in notes)


def test_queries_are_empty_and_the_mean_row_is_the_value(capsys: pytest.CaptureFixture[str]) -> None:
    assert evaluate("--measures", "Coverage(catalogue=8)@2", "--per-query", "--format", "tsv", "--quiet") == 0
    assert capsys.readouterr().out.splitlines() == [
        "query_id\tsystem\tmeasure\tvalue",
        "u1\ta\tCoverage(catalogue=8)@2\t",
        "u2\ta\tCoverage(catalogue=8)@2\t",
        "all\ta\tCoverage(catalogue=8)@2\t0.5",
    ]
    assert evaluate("--measures", "Coverage(catalogue=8)@2", "--per-query", "--format", "json", "--quiet") == 0
    assert [row["value"] for row in json.loads(capsys.readouterr().out)] == [None, None, 0.5]


def test_history(capsys: pytest.CaptureFixture[str]) -> None:
    measure = "PopularityGap(to='history')@1"
    options = ("--popularity", "sold", "--history", "had.csv", "--measures", measure, "--per-query", "--format", "tsv")
    assert evaluate(*options) == 0
    values = [line.rsplit("\t", 1)[1] for line in capsys.readouterr().out.splitlines()[1:]]
    assert [float(value) for value in values] == pytest.approx([0, 2 / 3 - 1, -1 / 6])


def test_columns_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--item-id", "id", "--category", "genres", "--popularity", "sold", "--vector", "sold")
    assert evaluate(*options, "--measures", "ILD(by='vectors')@2", "--quiet") == 0
    assert capsys.readouterr().out.split() == ["system", "ILD(by='vectors')@2", "a", "0.0000"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--measures", "Novelty@2"), "the item table items.tsv has no popularity column; name it with --popularity"),
        (("--category", "genre", "--measures", "ILD@2"), "no column 'genre' (--category); did you mean 'genres'?"),
        (("--popularity", "sold", "--measures", "Novelty@2"), "Novelty(smoothing=1)@2"),
        (("--item-id", "genres", "--measures", "ILD@2"), "item"),
        (("--measures", "PopularityGap(to='history')@2", "--popularity", "sold"), "--history FILE"),
    ],
)
def test_refusals(arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert evaluate(*arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err
    assert "Traceback" not in printed.err


def test_help_says_what_items_are(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["evaluate", "--help"])
    assert caught.value.code == 0
    shown = " ".join(capsys.readouterr().out.split())
    for text in (
        "--items FILE",
        "doc_id, popularity, category",
        "--item-id COLUMN",
        "--vector COLUMN",
        "--history FILE",
    ):
        assert text in shown


def test_an_input_is_never_the_output(capsys: pytest.CaptureFixture[str]) -> None:
    assert evaluate("--measures", "ILD@2", "--output", "items.tsv") == 2
    assert "items.tsv" in capsys.readouterr().err
    assert Path("items.tsv").read_text() == FILES["items.tsv"]
