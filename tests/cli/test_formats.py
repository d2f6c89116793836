"""Formats on the command line and in plans: recognised and noted, named where the content does not tell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rankstats.cli.main import main
from rankstats.plan import plan_text, read_plan

QUERIES = [str(n) for n in range(20)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Judgments and two runs of three columns: ranks that count to 2, and scores; and both as TREC files."""
    monkeypatch.chdir(tmp_path)
    contents: dict[str, list[str]] = {
        "qrels.txt": [f"{q} 0 {doc} {grade}" for q in QUERIES for doc, grade in ((7, 1), (8, 0))],
        "qrels.three": [f"{q} {doc} {grade}" for q in QUERIES for doc, grade in ((7, 1), (8, 0))],
        "first.ranks": [f"{q}\t{doc}\t{rank}" for q in QUERIES for rank, doc in ((1, 8), (2, 7))],
        "first.trec": [f"{q} Q0 {doc} {rank} {3 - rank} x" for q in QUERIES for rank, doc in ((1, 8), (2, 7))],
        "second.scores": [f"{q} {doc} {score}" for q in QUERIES for doc, score in ((8, 0.5), (7, 1 + int(q) % 3))],
        "ratings.csv": ["user,item,stars,hate", *(f"{q},{doc},{g},0" for q in QUERIES for doc, g in ((7, 1), (8, 0)))],
        "estimates.csv": ["user,item,estimate,other", *(f"{q},{d},{d},0" for q in QUERIES for d in (7, 8))],
    }
    for name, lines in contents.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def means(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, float]:
    assert main(["evaluate", "--measures", "RR", "--format", "json", *arguments]) == 0
    return {row["system"]: row["value"] for row in json.loads(capsys.readouterr().out)}


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert main(list(arguments)) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    return printed.err


def test_formats_are_named_for_all_runs_or_for_one(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    qrels = ("--qrels", "qrels.txt", "--quiet")
    message = refused(capsys, "evaluate", *qrels, "first.ranks")
    assert message.startswith("rankstats: first.ranks: has three columns, and the third may be a rank or a score; say")
    assert means(capsys, *qrels, "first.ranks", "--run-format", "rank") == {"first.ranks": 0.5}
    assert means(capsys, *qrels, "first.ranks", "--run-format", "score") == {"first.ranks": 1}
    both = means(capsys, *qrels, "a=first.ranks", "b=first.trec", "--run-format", "a=rank")
    assert both == {"a": 0.5, "b": 0.5}
    both = means(capsys, *qrels, "a=first.ranks", "b=first.trec", "--run-format", "rank", "--run-format", "b=trec")
    assert both == {"a": 0.5, "b": 0.5}
    assert means(capsys, *qrels, "second.scores") == {"second.scores": 1}
    message = refused(capsys, "evaluate", *qrels, "b=first.trec", "--run-format", "rank")
    assert message.startswith(
        "rankstats: first.trec:1: 6 fields where 3 are expected (qid docid rank); this line looks"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--run-format", "ranks"], "run_format 'ranks' is unknown; choose one of trec, rank"),
        (["--run-format", "c=rank"], "run_format names 'c', which is no run"),
        (["--run-format", "a=rank", "--run-format", "a=score"], "--run-format gives two formats for a: rank and score"),
        (["--run-format", "rank", "--run-format", "score"], "--run-format gives two formats for all runs"),
    ],
)
def test_options_that_are_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    assert message in refused(capsys, "evaluate", "--qrels", "qrels.txt", "a=first.ranks", *options)


def test_qrels_formats(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert means(capsys, "--qrels", "qrels.three", "first.trec", "--quiet") == {"first": 0.5}
    assert means(capsys, "--qrels", "qrels.three", "first.trec", "--qrels-format", "grade") == {"first": 0.5}
    message = refused(capsys, "evaluate", "--qrels", "qrels.three", "first.trec", "--qrels-format", "trec")
    assert "qrels.three:1: 3 fields where 4 are expected (qid iter docid grade)" in message
    with pytest.raises(SystemExit):
        main(["evaluate", "--qrels", "qrels.three", "first.trec", "--qrels-format", "other"])


def test_what_was_recognised_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "--qrels", "qrels.three", "second.scores", "--measures", "RR"]) == 0
    printed = capsys.readouterr().err.splitlines()
    assert printed == [
        "note: qrels.three has three columns, read as query, document and grade",
        "note: second.scores has three columns, read as query, document and score, because the third holds fractions "
        "or numbers below 0",
    ]
    assert main(["compare", "--qrels", "qrels.three", "second.scores", "first.trec", "--resamples", "99"]) == 0
    report: dict[str, Any] = json.loads((folder / "reports/second.scores-vs-first/report.json").read_text())
    assert report["audit"]["notes"] == [line.removeprefix("note: ") for line in printed]
    assert report["audit"]["formats"] == {"judgments": "grade", "runs": {"second.scores": "score", "first": "TREC"}}
    told = [warning["message"] for warning in report["warnings"] if warning["code"] == "reading"]
    assert told == report["audit"]["notes"]


def test_columns_by_name(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    named = ("--id", "user", "--document", "item")
    inputs = ("--qrels", "ratings.csv", "estimates.csv", *named)
    assert means(capsys, *inputs, "--grade", "stars", "--score", "estimate") == {"estimates": 0.5}
    assert "no grade column; name it with --grade (there are user, item, stars, hate)" in refused(
        capsys, "evaluate", *inputs
    )
    assert "no score or rank column; name it with --score (there are user, item, estimate, other)" in refused(
        capsys, "evaluate", *inputs, "--grade", "stars"
    )
    # what is no table needs no names, but some file must have them
    mixed = means(capsys, "--qrels", "qrels.txt", "estimates.csv", "first.trec", *named, "--score", "estimate")
    assert mixed == {"estimates": 0.5, "first": 0.5}
    plain = ("evaluate", "--qrels", "qrels.txt", "first.trec")
    assert "--score estimate: no run has named columns" in refused(capsys, *plain, "--score", "estimate")
    assert "--document item: neither judgments nor runs have" in refused(capsys, *plain, "--document", "item")


def test_formats_in_a_plan(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = folder / "plan.toml"
    plan.write_text(
        'schema_version = "1"\n[inputs]\nqrels = "qrels.three"\nqrels_format = "grade"\n'
        'runs = { a = "first.ranks", b = "second.scores" }\nrun_format = { a = "rank" }\n'
        '[comparison]\nmeasures = ["RR"]\n[statistics]\nresamples = 99\n'
    )
    assert main(["compare", "--plan", str(plan), "--out", "one"]) == 0
    assert capsys.readouterr().out.startswith("b is better than a on RR")
    report = json.loads((folder / "one/report.json").read_text())
    assert report["audit"]["formats"] == {"judgments": "grade", "runs": {"a": "rank", "b": "score"}}
    kept = folder / "kept.toml"
    kept.write_text(plan_text({k: v for k, v in report["reproduction"]["plan"].items() if k != "overridden"}))
    assert (read_plan(kept).qrels_format, read_plan(kept).run_format) == ("grade", {"a": "rank"})
    one = plan.read_text().replace('{ a = "rank" }', '"rank"').replace("second.scores", "first.ranks")
    plan.write_text(one)
    assert read_plan(plan).run_format == {"": "rank"}
    kept.write_text(plan_text({k: v for k, v in read_plan(plan).to_dict().items() if k != "overridden"}))
    assert read_plan(kept).run_format == {"": "rank"}
    plan.write_text(one.replace('"rank"', '"ranks"'))
    assert "run_format 'ranks' is unknown" in refused(capsys, "compare", "--plan", str(plan))


def test_scores_of_other_programs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, value in (("a", 0.25), ("b", 0.5)):
        (folder / f"{name}.txt").write_text("".join(f"{q}\tmine\t{value + int(q) / 100}\n" for q in QUERIES))
    message = refused(capsys, "compare", "--scores", "a.txt", "--scores", "b.txt")
    assert "say which with --scores-format trec_eval or --scores-format ir_measures" in message
    command = ["compare", "--scores", "a.txt", "--scores", "b.txt", "--resamples", "99"]
    assert main([*command, "--scores-format", "ir_measures", "--out", "x"]) == 0
    assert capsys.readouterr().out.startswith("b is better than a on mine by +0.25")
    report = json.loads((folder / "x/report.json").read_text())
    assert report["audit"]["formats"] == {"scores": "ir_measures"}
    assert "--run-format tell how runs are evaluated" in refused(capsys, *command, "--run-format", "rank")
