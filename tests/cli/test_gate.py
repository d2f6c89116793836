"""``rankstats gate``: exit statuses, first and last line, folder, archived baselines, and what is refused."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from rankstats.cli.main import main
from rankstats.decision import policy_from_document
from rankstats.report import folder
from tests.shared import shared

QUERIES = 40
POLICY = """
baseline = "prod"
candidate = "new"
[[claim]]
id = "better"
measure = "RR"
[[guard]]
id = "kinds"
measure = "P@10"
segment = { attribute = "kind" }
margin = 0.5
[[floor]]
id = "level"
measure = "RR"
at_least = 0.4
"""
GATE = ["gate", "--qrels", "q.txt", "prod.run", "new.run", "--resamples", "499", "--policy"]
FILES = ["junit.xml", "per_query.csv", "report.html", "report.json", "summary.md", "to_judge.tsv"]


WITH_PAGE = {"test_a_go_from_runs", "test_a_finished_report_gets_the_decision_on_top", "test_trec_covid"}
"""Tests that draw the page; to draw it for all takes longer than all else."""


@pytest.fixture(autouse=True)
def _quick_page(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.node.originalname not in WITH_PAGE:
        monkeypatch.setattr(folder, "page_html", lambda page: f"<p>{page.title}</p>")


@pytest.fixture
def collection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Judgments, runs whose relevant document stands higher in new than in prod, a query table, and policies."""
    monkeypatch.chdir(tmp_path)
    qrels, queries = [], ["query_id\tquery\tclicks\tkind"]
    runs: dict[str, list[str]] = {"prod": [], "new": [], "worse": []}
    for i in range(QUERIES):
        qrels += [f"q{i} 0 d{i} {1 + i % 3}", f"q{i} 0 e{i} 0"]
        for name, place in (("prod", i % 5), ("new", i % 2), ("worse", 5 + i % 2)):
            docs = [f"x{j}" for j in range(7)]
            docs[place] = f"d{i}"
            runs[name] += [f"q{i} Q0 {doc} {rank} {10 - rank} tag" for rank, doc in enumerate(docs, start=1)]
        queries.append(f"q{i}\tword {'long ' * (i % 5)}\t{(QUERIES - i) ** 3}\t{'xy'[i % 2]}")
    files = {"q.txt": qrels, "queries.tsv": queries, **{f"{name}.run": lines for name, lines in runs.items()}}
    for name, lines in files.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "p.toml").write_text(POLICY, encoding="utf-8")
    (tmp_path / "worse.toml").write_text(POLICY.replace('"new"', '"worse"'), encoding="utf-8")
    open_ended = POLICY.replace("at_least = 0.4", "at_least = 0.72")
    (tmp_path / "open.toml").write_text(open_ended, encoding="utf-8")
    (tmp_path / "blocks.toml").write_text("open_exit = 1\n" + open_ended, encoding="utf-8")
    return tmp_path


def lines_of(capsys: pytest.CaptureFixture[str]) -> list[str]:
    printed = capsys.readouterr()
    assert printed.err == ""
    assert "\N{MINUS SIGN}" not in printed.out
    return printed.out.splitlines()


def test_a_go_from_runs(collection: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*GATE, "p.toml", "--queries", "queries.tsv"]) == 0
    lines = lines_of(capsys)
    assert lines[0] == "GO: all 6 rules hold."
    assert lines[-1] == "reports/prod-vs-new/report.html"
    assert [line.split()[:2] for line in lines[1:-1]] == [
        ["holds", "evidence.missing_queries"],
        ["holds", "evidence.identical_systems"],
        ["holds", "better"],
        ["holds", "kinds:"],
        ["holds", "kinds:"],
        ["holds", "level"],
    ]
    written = collection / "reports/prod-vs-new"
    assert sorted(path.name for path in written.iterdir()) == FILES
    report = json.loads((written / "report.json").read_text())
    assert report["decision"]["outcome"] == "go"
    assert report["baseline"] == "prod"
    # the measures, the segments and the leading measure are those of the policy
    assert [row["name"] for row in report["measures"]][:2] == ["RR", "P@10"]
    assert report["primary"] == ["RR"]
    assert {row["attribute"] for row in report["segments"]} == {"kind"}
    assert ET.parse(written / "junit.xml").getroot().get("tests") == "6"
    assert "GO: all 6 rules hold" in (written / "report.html").read_text()


def test_the_order_of_runs_plays_no_part(collection: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, runs in (("a", ["prod.run", "new.run"]), ("b", ["new.run", "worse.run", "prod.run"])):
        command = ["gate", "--qrels", "q.txt", *runs, "--policy", "p.toml", "--queries", "queries.tsv", "--quiet"]
        assert main([*command, "--resamples", "499", "--out", name]) == 0
        assert lines_of(capsys) == ["GO: all 6 rules hold.", f"{name}/report.html"]
    first, second = (json.loads((collection / name / "report.json").read_text())["decision"] for name in "ab")
    assert first == second


@pytest.mark.parametrize(
    ("policy", "runs", "status", "line"),
    [
        ("worse.toml", ["worse.run"], 1, 'NO-GO: "better" fails — RR falls by 0.'),
        ("open.toml", ["new.run"], 3, 'CANNOT TELL: "level" is open — RR is 0.75 '),
        ("blocks.toml", ["new.run"], 1, 'CANNOT TELL: "level" is open — RR is 0.75 '),
    ],
)
def test_the_exit_status_is_the_decision(
    collection: Path, capsys: pytest.CaptureFixture[str], policy: str, runs: list[str], status: int, line: str
) -> None:
    command = ["gate", "--qrels", "q.txt", "prod.run", *runs, "--policy", policy, "--queries", "queries.tsv"]
    assert main([*command, "--resamples", "499", "--out", "o", "--quiet"]) == status
    lines = lines_of(capsys)
    assert lines[0].startswith(line)
    assert lines[-1] == "o/report.html"
    suite = ET.parse("o/junit.xml").getroot()
    # what blocks is a failure, what cannot be told is skipped
    assert (suite.get("failures") == "0") == (status == 3)
    assert (suite.get("skipped") == "0") == (status == 1)


def test_shuffled_lines_give_the_same_decision(collection: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*GATE, "p.toml", "--queries", "queries.tsv", "--out", "a"]) == 0
    for name in ("q.txt", "prod.run", "new.run"):
        lines = (collection / name).read_text().splitlines()
        random.Random(1).shuffle(lines)
        (collection / name).write_text("\n".join(lines), encoding="utf-8")
    assert main([*GATE, "p.toml", "--queries", "queries.tsv", "--out", "b"]) == 0
    first, second = (json.loads((collection / name / "report.json").read_text())["decision"] for name in "ab")
    assert json.dumps(first) == json.dumps(second)
    assert (collection / "a/junit.xml").read_bytes() == (collection / "b/junit.xml").read_bytes()
    capsys.readouterr()


def test_a_finished_report_gets_the_decision_on_top(collection: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compare = ["compare", "--qrels", "q.txt", "new.run", "prod.run", "--resamples", "499", "--queries", "queries.tsv"]
    assert main([*compare, "--measures", "RR,P@10", "--out", "report", "--quiet"]) == 0
    capsys.readouterr()
    before = json.loads((collection / "report/report.json").read_text())
    assert main(["gate", "report/report.json", "--policy", "p.toml", "--out", "gate"]) == 0
    assert lines_of(capsys)[-1] == "gate/report.html"
    assert sorted(path.name for path in (collection / "gate").iterdir()) == FILES[:-1]
    after = json.loads((collection / "gate/report.json").read_text())
    assert after.pop("decision")["outcome"] == "go"
    assert before.pop("decision") is None
    assert after["reproduction"]["inputs"].pop()["name"] == "p.toml"
    assert after == before
    assert (collection / "gate/per_query.csv").read_bytes() == (collection / "report/per_query.csv").read_bytes()
    # again from the JSON alone, the decision stays
    assert main(["render", "gate/report.json", "--out", "again"]) == 0
    assert (collection / "again/report.html").read_bytes() == (collection / "gate/report.html").read_bytes()
    # into its own folder
    assert main(["gate", "report/report.json", "--policy", "p.toml", "--out", "report", "--quiet"]) == 0
    assert sorted(path.name for path in (collection / "report").iterdir()) == FILES
    assert json.loads((collection / "report/report.json").read_text())["decision"]["outcome"] == "go"
    # by default where compare writes as well
    assert main(["gate", "report/report.json", "--policy", "p.toml", "--quiet"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "reports/prod-vs-new/report.html"


def test_scores_are_gated_by_name(collection: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"{i},{0.5 + i % 5 / 10},{0.6 + i % 5 / 10 + i % 3 / 50}" for i in range(60)]
    (collection / "wide.csv").write_text("\n".join(["query_id,new,prod", *rows]), encoding="utf-8")
    (collection / "s.toml").write_text(
        'baseline = "prod"\ncandidate = "new"\n[[guard]]\nid = "g"\nmeasure = "clicks"\nmargin = 0.05\n',
        encoding="utf-8",
    )
    command = ["gate", "--scores", "wide.csv", "--measures", "clicks", "--policy", "s.toml", "--out", "w"]
    assert main([*command, "--resamples", "499"]) == 1
    assert lines_of(capsys)[0].startswith('NO-GO: "g" fails — clicks falls by 0.1')


def test_39_of_40_queries_are_never_a_silent_pass(collection: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = (collection / "new.run").read_text().splitlines()
    (collection / "new.run").write_text(
        "\n".join(line for line in lines if not line.startswith("q7 ")), encoding="utf-8"
    )
    assert main([*GATE, "p.toml", "--queries", "queries.tsv", "--out", "o", "--quiet"]) == 3
    first = lines_of(capsys)[0]
    assert first.startswith('CANNOT TELL: "evidence.missing_queries" is open — new lacks 1 query; 0 allowed')


ARCHIVE = ["compare", "--qrels", "q.txt", "prod.run", "worse.run", "--measures", "RR,P@10", "--resamples", "499"]
AGAINST = ["gate", "--qrels", "q.txt", "new.run", "--measures", "RR,P@10", "--resamples", "499", "--out", "g"]
AGAINST += ["--queries", "queries.tsv", "--against", "archive/report.json", "--policy"]


@pytest.fixture
def archive(collection: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    assert main([*ARCHIVE, "--out", "archive", "--quiet"]) == 0
    capsys.readouterr()
    return collection


def _same_numbers(first: dict[str, Any], second: dict[str, Any]) -> None:
    for left, right in zip(first["rules"], second["rules"], strict=True):
        assert left == right


def test_an_archived_baseline_is_matched_by_query_id(archive: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*GATE, "p.toml", "--queries", "queries.tsv", "--measures", "RR,P@10", "--out", "both"]) == 0
    content = json.loads((archive / "archive/report.json").read_text())
    order = random.Random(2).sample(range(QUERIES), QUERIES)
    content["queries"] = [content["queries"][q] for q in order]
    for columns in content["values"].values():
        for name, column in columns.items():
            columns[name] = [column[q] for q in order]
    (archive / "archive/report.json").write_text(json.dumps(content), encoding="utf-8")
    capsys.readouterr()
    assert main([*AGAINST, "p.toml"]) == 0
    assert lines_of(capsys)[0] == "GO: all 6 rules hold."
    fresh, against = (json.loads((archive / name / "report.json").read_text()) for name in ("both", "g"))
    _same_numbers(fresh["decision"], against["decision"])
    assert against["systems"][0] == {"name": "prod", "source": "archive/report.json (prod)"}
    assert [row["name"] for row in against["reproduction"]["inputs"][-2:]] == ["archive/report.json", "p.toml"]
    assert against["audit"]["unjudged_at"]["10"].keys() == {"prod", "new"}


def test_two_finished_reports(archive: Path, capsys: pytest.CaptureFixture[str]) -> None:
    both = ["compare", "--qrels", "q.txt", "new.run", "other=worse.run", "--measures", "RR,P@10", "--resamples", "499"]
    assert main([*both, "--queries", "queries.tsv", "--out", "now", "--quiet"]) == 0
    capsys.readouterr()
    command = ["gate", "now/report.json", "--against", "archive/report.json", "--policy", "p.toml", "--out", "g"]
    assert main(command) == 0
    assert lines_of(capsys)[0] == "GO: all 6 rules hold."
    assert main([*GATE, "p.toml", "--queries", "queries.tsv", "--measures", "RR,P@10", "--out", "both"]) == 0
    fresh, against = (json.loads((archive / name / "report.json").read_text()) for name in ("both", "g"))
    _same_numbers(fresh["decision"], against["decision"])
    assert [row["name"] for row in against["systems"]] == ["prod", "new", "other"]
    capsys.readouterr()


def test_a_query_that_the_archive_lacks_is_missing(archive: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = json.loads((archive / "archive/report.json").read_text())
    content["queries"].pop(3)
    for columns in content["values"].values():
        for column in columns.values():
            column.pop(3)
    (archive / "archive/report.json").write_text(json.dumps(content), encoding="utf-8")
    assert main([*AGAINST, "p.toml", "--quiet"]) == 3
    assert "prod lacks 1 query; 0 allowed" in lines_of(capsys)[0]


def _changed(archive: Path, change: str) -> list[str]:
    if change == "judgments":
        with (archive / "q.txt").open("a", encoding="utf-8") as stream:
            stream.write("q1 0 x0 1\n")
    if change == "conventions":
        return ["--conventions", "trec_eval"]
    if change == "measures":
        return ["--measures", "AP"]
    if change == "definition":
        content = json.loads((archive / "archive/report.json").read_text())
        content["measures"][0]["definition"]["formula"] = "another one"
        (archive / "archive/report.json").write_text(json.dumps(content), encoding="utf-8")
    if change == "ready-made":
        assert main(["compare", "--scores", "archive/per_query.csv", "--out", "scores", "--quiet"]) == 0
        (archive / "archive/report.json").write_bytes((archive / "scores/report.json").read_bytes())
    if change == "name":
        return ["prod.run"]
    return []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("judgments", "archive/report.json: other judgments (sha256 "),
        ("conventions", "other conventions: no_relevant was undefined, is zero"),
        ("measures", "measure AP is not in the archived report (it holds RR, P@10)"),
        ("definition", "measure RR is defined otherwise: formula was another one, is "),
        ("ready-made", "the archived values are ready-made"),
        ("name", "'prod' is among the new systems and in archive/report.json"),
    ],
)
def test_an_archive_that_was_made_otherwise_is_refused(
    archive: Path, capsys: pytest.CaptureFixture[str], change: str, message: str
) -> None:
    more = _changed(archive, change)
    capsys.readouterr()
    assert main([*AGAINST, "p.toml", *more]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err
    assert not (archive / "g").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gate"], "give a policy: --policy FILE"),
        (["gate", "--policy", "p.toml"], "give one report.json, or --qrels FILE and the runs"),
        (["gate", "a.json", "b.json", "--policy", "p.toml"], "give one report.json"),
        (["gate", "none.json", "--policy", "p.toml"], "none.json: cannot read"),
        (["gate", "queries.tsv", "--policy", "p.toml"], "queries.tsv:1: is not JSON"),
        (["gate", "some.json", "--policy", "p.toml"], "is not a report.json of rankstats"),
        (["gate", "bare.json", "--policy", "p.toml"], "the report lacks the keys"),
        ([*GATE, "none.toml"], "none.toml: cannot read the policy"),
        ([*GATE, "p.toml"], "--segment kind needs a query table"),
        ([*GATE, "worse.toml"], "candidate 'worse' of the policy is not among the systems (prod, new)"),
        ([*GATE, "p.toml", "--queries", "queries.tsv", "--out", ""], "--out names nothing"),
        ([*GATE, "p.toml", "--queries", "queries.tsv", "--against", "none.json"], "none.json: cannot read"),
        ([*GATE, "p.toml", "--queries", "queries.tsv", "--segment", "size"], "no column 'size'"),
    ],
)
def test_what_is_refused_says_the_way_out(
    collection: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    (collection / "some.json").write_text("{}", encoding="utf-8")
    (collection / "bare.json").write_text('{"schema_version": "1", "differences": []}', encoding="utf-8")
    before = sorted(path.name for path in collection.iterdir())
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err
    assert sorted(path.name for path in collection.iterdir()) == before


def test_a_policy_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gate", "--print-policy"]) == 0
    printed = capsys.readouterr().out
    policy = policy_from_document(tomllib.loads(printed))
    assert (policy.baseline, policy.candidate) == ("prod", "new")
    assert printed.count("# ") > 10


def test_a_reader_of_the_first_line_leaves_the_status_alone(collection: Path) -> None:
    words = [word.replace("new.run", "worse.run") for word in GATE]
    command = [sys.executable, "-m", "rankstats", *words, "worse.toml", "--queries", "queries.tsv", "--out", "o"]
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (1, b"")


def _policy_text(baseline: str, candidate: str, rules: str) -> str:
    return f'baseline = "{baseline}"\ncandidate = "{candidate}"\n{rules}'


@pytest.mark.shared
def test_trec_covid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    data = shared("data/ir/trec-covid-r5")
    monkeypatch.chdir(tmp_path)
    rules = """
[evidence]
queries = 50
judged = { k = 10, at_least = 0.9, gap = 0.05 }
[[claim]]
id = "better"
measure = "nDCG@10"
more_than = 0.05
[[guard]]
id = "recall"
measure = "R@1000"
margin_relative = 0.05
[[floor]]
id = "AP"
measure = "AP"
at_least = 0.3
"""
    runs = [str(data / f"runs/{name}.run.gz") for name in ("r5.fusion2", "covidex.r5.2s.lr", "HKPU-BM25-dPRF")]
    command = ["gate", "--qrels", str(data / "qrels.txt.gz"), *runs, "--resamples", "1999", "--quiet", "--policy"]
    Path("go.toml").write_text(_policy_text("r5.fusion2", "covidex.r5.2s.lr", rules), encoding="utf-8")
    Path("back.toml").write_text(_policy_text("covidex.r5.2s.lr", "r5.fusion2", rules), encoding="utf-8")
    assert main([*command, "go.toml", "--out", "go"]) == 0
    assert main(["gate", "go/report.json", "--policy", "back.toml", "--out", "back", "--quiet"]) == 1
    lines = lines_of(capsys)
    assert lines[0] == "GO: all 7 rules hold."
    assert lines[2].startswith('NO-GO: "better" fails — nDCG@10 falls by 0.240')
    means = dict(_trec_eval_means(data / "perquery_trec_eval.tsv", "nDCG@10"))
    decision = json.loads(Path("go/report.json").read_text())["decision"]
    observed = {rule["id"]: rule["observed"] for rule in decision["rules"]}
    assert observed["better"] == pytest.approx(means["covidex.r5.2s.lr"] - means["r5.fusion2"], abs=1e-6)


def _trec_eval_means(path: Path, measure: str) -> list[tuple[str, float]]:
    lines = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    head = lines[0]
    sums: dict[str, list[float]] = {}
    for line in lines[1:]:
        row = dict(zip(head, line, strict=True))
        sums.setdefault(row["run"], []).append(float(row[measure]))
    return [(run, sum(values) / len(values)) for run, values in sums.items()]


@pytest.mark.shared
def test_dl_hard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    data = shared("data/ir/dl-hard-passage")
    monkeypatch.chdir(tmp_path)
    rules = """
[[guard]]
id = "rank"
measure = "nDCG@10"
margin = 0.05
[[guard]]
id = "found"
measure = "R(rel=2)@100"
margin = 0.02
"""
    Path("p.toml").write_text(_policy_text("bm25", "bm25_rm3", rules), encoding="utf-8")
    runs = [str(data / f"runs/{name}.run.gz") for name in ("bm25", "bm25_rm3")]
    command = ["gate", "--qrels", str(data / "qrels.txt.gz"), *runs, "--resamples", "1999", "--policy", "p.toml"]
    assert main([*command, "--out", "o"]) == 3
    lines = lines_of(capsys)
    assert lines[0].startswith("CANNOT TELL: ")
    assert "more queries would settle it" in "\n".join(lines)
    decision = json.loads(Path("o/report.json").read_text())["decision"]
    # one query has no document of grade 2
    assert {rule["id"]: rule["n"] for rule in decision["rules"] if rule["kind"] == "guard"} == {"rank": 50, "found": 49}
