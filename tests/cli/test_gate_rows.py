"""``rankstats gate --rows`` and gate on the report of an experiment: the lines, the files, the exit statuses."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from rankstats.cli.main import main
from rankstats.report import experiment_files
from rankstats.report import folder as folder_files
from tests.experiment.made import Rows, events, units
from tests.shared import shared

POLICY = """
baseline = "A"
candidate = "B"
[evidence]
units = 200
[[claim]]
id = "revenue"
measure = "revenue"
[[guard]]
id = "clicks"
measure = "sum(clicks)/sum(impressions)"
margin_relative = 0.3
[[guard]]
id = "countries"
measure = "revenue"
segment = { attribute = "country" }
margin = 1.5
"""
GATE = ["gate", "--rows", "rows.csv", "--unit", "user", "--policy"]


@pytest.fixture(autouse=True)
def _quick_page(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw the page in one test: to draw it in all takes longer than all else."""
    if request.node.originalname != "test_a_go_from_rows_and_the_same_from_the_report":
        monkeypatch.setattr(experiment_files, "render_html", lambda report: f"<p>{report['title']}</p>")
        monkeypatch.setattr(folder_files, "page_html", lambda page: f"<p>{page.title}</p>")


def _write(path: Path, rows: Rows) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    _write(tmp_path / "rows.csv", units(600, effect=0.8))
    (tmp_path / "p.toml").write_text(POLICY, encoding="utf-8")
    (tmp_path / "high.toml").write_text(
        POLICY.replace('measure = "revenue"\n[[g', 'measure = "revenue"\nmore_than = 9\n[[g', 1)
    )
    (tmp_path / "many.toml").write_text("open_exit = 1\n" + POLICY.replace("200", "301"), encoding="utf-8")
    return tmp_path


def _report(path: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(path, "report.json").read_text(encoding="utf-8"))
    return found


def _lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    printed = capsys.readouterr()
    assert printed.err == ""
    return printed.out.splitlines()


def test_a_go_from_rows_and_the_same_from_the_report(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*GATE, "p.toml"]) == 0
    lines = _lines(capsys)
    assert lines[0] == "GO: all 8 rules hold."
    assert lines[-1] == "reports/A-vs-B/report.html"
    written = folder / "reports/A-vs-B"
    assert sorted(path.name for path in written.iterdir()) == ["junit.xml", "report.html", "report.json", "summary.md"]
    report = _report("reports/A-vs-B")
    assert report["decision"]["outcome"] == "go"
    assert (report["kind"], report["baseline"], report["primary"]) == ("experiment", "A", ["revenue"])
    assert {row["attribute"] for row in report["segments"]} == {"country"}
    assert "GO: all 8 rules hold" in (written / "report.html").read_text(encoding="utf-8")
    assert (written / "summary.md").read_text(encoding="utf-8").splitlines()[4].startswith("**GO")
    cases = ET.parse(written / "junit.xml").getroot().findall(".//testcase")
    assert [case.get("name") for case in cases] == [rule["id"] for rule in report["decision"]["rules"]]
    before = {path.name: path.read_bytes() for path in written.iterdir()}
    assert main(["gate", "reports/A-vs-B/report.json", "--policy", "p.toml", "--out", "again"]) == 0
    assert _lines(capsys)[:-1] == lines[:-1]
    again = {path.name: path.read_bytes() for path in Path("again").iterdir()}
    assert again == before


def test_an_ab_report_is_gated_as_its_rows_are(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    metrics = ["--metric", "revenue", "--metric", "sum(clicks)/sum(impressions)", "--segment", "country"]
    asked = ["--unit", "user", *metrics, "--alpha", "0.2", "--quiet"]
    assert main(["ab", "rows.csv", *asked, "--out", "ab"]) == 0
    assert main(["gate", "ab/report.json", "--policy", "p.toml", "--out", "ab"]) == 0
    assert main([*GATE, "p.toml", "--out", "rows"]) == 0
    capsys.readouterr()
    first, second = (_report(name)["decision"]["rules"] for name in ("ab", "rows"))
    assert [rule["sentence"] for rule in first] == [rule["sentence"] for rule in second]


@pytest.mark.parametrize(("policy", "status", "word"), [("high.toml", 1, "NO-GO"), ("many.toml", 1, "CANNOT TELL")])
def test_the_exit_status_is_the_decision(
    folder: Path, capsys: pytest.CaptureFixture[str], policy: str, status: int, word: str
) -> None:
    assert main([*GATE, policy, "--quiet", "--out", "o"]) == status
    assert _lines(capsys)[0].startswith(f"{word}: ")
    assert ET.parse("o/junit.xml").getroot().get("failures") != "0"


def test_a_lost_arm_cannot_tell(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = units(600, effect=0.8)
    _write(folder / "rows.csv", [row for k, row in enumerate(rows) if row["arm"] == "A" or k % 3])
    policy = POLICY.replace("units = 200", "units = 100")
    Path("p.toml").write_text(policy, encoding="utf-8")
    assert main([*GATE, "p.toml", "--quiet"]) == 3
    assert _lines(capsys)[0].startswith('CANNOT TELL: "evidence.sample_ratio" is open — The arms\' sizes do not fit')
    # the same sizes by design
    assert main([*GATE, "p.toml", "--quiet", "--share", "A=3", "--share", "B=2"]) == 0


def test_events_files_by_arm_aggregates_and_plans_decide_alike(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = POLICY.split('[[guard]]\nid = "countries"', maxsplit=1)[0].replace("sum(clicks)/sum(impressions)", "ctr")
    Path("plain.toml").write_text(plain, encoding="utf-8")
    rows = units(600, effect=0.8)
    _write(folder / "events.csv", events(rows))
    for arm in "AB":
        _write(
            folder / f"{arm}.csv", [{k: v for k, v in row.items() if k != "arm"} for row in rows if row["arm"] == arm]
        )
    metrics = ["--metric", "revenue", "--metric", "ctr = sum(clicks)/sum(impressions)"]
    assert main(["ab", "rows.csv", "--unit", "user", *metrics, "--summary-out", "sums.csv", "--out", "x"]) == 0
    Path("plan.toml").write_text(
        '[experiment]\nrows = ["events.csv"]\nunit = "user"\n[[experiment.metric]]\nname = "revenue"\n'
        '[[experiment.metric]]\nname = "ctr"\nvalue = "sum(clicks)/sum(impressions)"\n',
        encoding="utf-8",
    )
    capsys.readouterr()
    for given in (
        ["--rows", "events.csv", "--unit", "user", *metrics],
        ["--rows", "A=A.csv", "B=B.csv", "--unit", "user", *metrics],
        ["--rows", "sums.csv"],
        ["--plan", "plan.toml"],
    ):
        assert main(["gate", *given, "--policy", "plain.toml", "--out", "o", "--quiet"]) == 0, given
        rules = {rule["id"]: rule for rule in _report("o")["decision"]["rules"]}
        assert rules["revenue"]["observed"] == pytest.approx(1.0, abs=0.4)
        seen = (rules["revenue"]["observed"], rules["clicks"]["observed"])
        first = seen if given[1] == "events.csv" else first  # noqa: F821  set by the first of them
        assert seen == pytest.approx(first, rel=1e-9)
        capsys.readouterr()


def test_the_direction_of_a_metric_may_be_told_by_the_policy(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rule = '[[guard]]\nid = "slow"\nmeasure = "revenue"\nmargin = 0.1\nbetter = "lower"\n'
    Path("slow.toml").write_text('baseline = "A"\ncandidate = "B"\n' + rule, encoding="utf-8")
    assert main([*GATE, "slow.toml", "--quiet"]) == 1
    assert "a rise of up to 0.1 is allowed" in _lines(capsys)[0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([*GATE, "p.toml", "--qrels", "q.txt"], "--qrels: of runs, and --rows are of an experiment"),
        (["gate", "rows.csv", "--unit", "user", "--policy", "p.toml"], "--unit: of experiments; give their rows"),
        ([*GATE, "p.toml", "--control", "B", "--arm", "group"], "group"),
        ([*GATE, "c.toml"], "'C'"),
        ([*GATE, "none.toml"], "none.toml: cannot read the policy"),
        (["gate", "--rows", "none.csv", "--unit", "user", "--policy", "p.toml"], "none.csv"),
        ([*GATE, "p.toml", "--metric", "revenue", "--metric", "revenue"], "two metrics are named 'revenue'"),
    ],
)
def test_what_is_refused_says_the_way_out_and_writes_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    Path("c.toml").write_text(POLICY.replace('candidate = "B"', 'candidate = "C"'), encoding="utf-8")
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err
    assert not Path("reports").exists()


def test_options_speak_of_the_metrics_of_the_policy(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*GATE, "p.toml", "--quiet", "--covariate", "revenue=past", "--winsorise", "revenue=0.99"]) == 0
    capsys.readouterr()
    metrics = _report("reports/A-vs-B")["reproduction"]["plan"]["experiment"]["metric"]
    assert [(row["name"], row["role"]) for row in metrics] == [
        ("revenue", "primary"),
        ("sum(clicks)/sum(impressions)", "secondary"),
    ]
    assert (metrics[0]["covariate"], metrics[0]["winsorise"]) == (["past"], 0.99)


@pytest.mark.shared
def test_cookie_cats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    data = shared("data/ab/cookie-cats")
    monkeypatch.chdir(tmp_path)
    rule = '[[guard]]\nid = "day 7"\nmeasure = "share(retention_7)"\nmargin = {}\n'
    head = 'baseline = "gate_30"\ncandidate = "gate_40"\n[evidence]\nunits = 10000\n'
    rows = ["gate", "--rows", str(data / "cookie_cats.csv.gz"), "--unit", "userid", "--arm", "test_version"]
    outcomes = {}
    for margin in ("0.001", "0.005", "0.02"):
        Path("p.toml").write_text(head + rule.format(margin), encoding="utf-8")
        outcomes[margin] = main([*rows, "--policy", "p.toml", "--out", "o", "--quiet"])
    assert outcomes == {"0.001": 1, "0.005": 3, "0.02": 0}
    capsys.readouterr()
    found = json.loads((data / "expected_scipy.json").read_text(encoding="utf-8"))
    decided = next(rule for rule in _report("o")["decision"]["rules"] if rule["id"] == "day 7")
    shares = [found["retention_7"][arm] / found[f"{arm}_n"] for arm in ("gate_30", "gate_40")]
    assert decided["observed"] == pytest.approx(shares[1] - shares[0], abs=1e-12)
    sizes = (found["gate_30_n"], found["gate_40_n"])
    error = sum(share * (1 - share) / n for share, n in zip(shares, sizes, strict=True))
    ends = [decided["observed"] + side * 1.959964 * error**0.5 for side in (-1, 1)]
    assert [decided["interval"][end] for end in ("low", "high")] == pytest.approx(ends, abs=2e-6)


def test_metrics_of_the_policy_are_read_as_those_that_are_named(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Claims stay the primary metrics, and covariates hold for all, where --metric names one of them."""
    policy = POLICY.replace('"sum(clicks)/sum(impressions)"', '"ctr"')
    Path("named.toml").write_text(policy, encoding="utf-8")
    asked = ["--metric", "ctr = sum(clicks)/sum(impressions)", "--covariate", "past", "--quiet"]
    main([*GATE, "named.toml", *asked, "--out", "named"])
    main([*GATE, "p.toml", "--covariate", "past", "--quiet", "--out", "plain"])
    capsys.readouterr()
    named, plain = _report("named"), _report("plain")
    assert named["primary"] == plain["primary"] == ["revenue"]
    for first, second in zip(named["decision"]["rules"], plain["decision"]["rules"], strict=True):
        assert (first["interval"], first["outcome"]) == (second["interval"], second["outcome"])
