"""The direction of ready-made measures: stated, known by the name, or assumed and said so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rankstats import compare_scores
from rankstats.cli.main import main
from rankstats.errors import PlanError
from rankstats.plan import Plan, plan_from_document, plan_text
from rankstats.report import folder

MEASURES = ("RR", "latency_ms", "success", "rmse")


def rows() -> list[tuple[str, str, str, float]]:
    """Scores of two systems; the second one is slower, and has the larger values everywhere."""
    return [
        (f"q{n:02d}", system, measure, 0.01 * (n % 7) + more)
        for n in range(30)
        for system, more in (("prod", 0.1), ("slow", 0.3))
        for measure in MEASURES
    ]


def found(**settings: Any) -> dict[str, Any]:
    return compare_scores(rows(), primary=("latency_ms",), resamples=199, **settings).to_dict()


def told(report: dict[str, Any]) -> list[str]:
    return [row["message"] for row in report["warnings"] if row["code"] == "assumed_direction"]


def test_an_assumed_direction_is_warned_of_where_the_name_speaks_of_less() -> None:
    report = found()
    (message,) = told(report)
    assert message.startswith("Higher values of latency_ms are taken as better")
    assert "--lower latency_ms" in message
    assert "--higher latency_ms" in message
    assert [row["higher_is_better"] for row in report["measures"]] == [True, True, True, False]
    directions = {row["name"]: row["definition"].get("direction") for row in report["measures"]}
    assert directions["RR"] == "higher is better"
    assert (
        directions["latency_ms"] == directions["success"] == "higher is better, as assumed: nobody stated a direction"
    )
    assert directions["rmse"] == "lower is better, as of RMSE"
    assert report["verdict"][0]["outcome"] == "better"
    assert next(row["outcome"] for row in report["checks"] if row["code"] == "assumed_direction") == "warning"


@pytest.mark.parametrize(("direction", "outcome"), [("lower", "worse"), ("higher", "better")])
def test_a_stated_direction_turns_the_verdict_and_ends_the_warning(direction: str, outcome: str) -> None:
    report = found(better={"latency_ms": direction})
    assert told(report) == []
    assert report["verdict"][0]["outcome"] == outcome
    assert report["measures"][1]["definition"]["direction"] == f"{direction} is better, as stated"
    assert report["reproduction"]["plan"]["comparison"]["better"] == {"latency_ms": direction}


@pytest.mark.parametrize(
    ("better", "message"),
    [
        ({"latency": "lower"}, "hold no measure 'latency'.*did you mean 'latency_ms'"),
        ({"RR": "lower"}, "lower values of RR cannot be better"),
        ({"latency_ms": "less"}, "better 'less' is unknown"),
    ],
)
def test_a_direction_that_cannot_be_is_refused(better: dict[str, str], message: str) -> None:
    with pytest.raises(PlanError, match=message):
        found(better=better)


def test_a_plan_keeps_the_directions() -> None:
    plan = plan_from_document({"comparison": {"better": {"latency_ms": "lower"}}})
    assert plan.better == {"latency_ms": "lower"}
    assert 'better = { "latency_ms" = "lower" }' in plan_text(plan.to_dict())
    with pytest.raises(PlanError, match=r"\[comparison\] better is 'lower'; a table"):
        plan_from_document({"comparison": {"better": "lower"}})
    assert Plan().better == {}


@pytest.fixture
def scores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(folder, "page_html", lambda page: f"<p>{page.title}</p>")
    lines = ["query_id,system,measure,value", *(",".join(map(str, row)) for row in rows())]
    Path("s.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return "s.csv"


def report_of(out: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(Path(out, "report.json").read_text(encoding="utf-8"))
    return content


def test_options_state_directions_and_join_those_of_the_plan(scores: str) -> None:
    Path("p.toml").write_text('[comparison]\nbetter = { success = "lower" }\n', encoding="utf-8")
    command = ["compare", "--scores", scores, "--plan", "p.toml", "--lower", "latency_ms,rmse", "--out", "o", "--quiet"]
    assert main([*command, "--resamples", "199"]) == 0
    report = report_of("o")
    assert [row["higher_is_better"] for row in report["measures"]] == [True, False, False, False]
    assert told(report) == []
    assert report["reproduction"]["plan"]["comparison"]["better"] == {
        "success": "lower", "latency_ms": "lower", "rmse": "lower",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--scores", "s.csv", "--lower", "RR", "--higher", "RR"], "both name RR"),
        (["--scores", "s.csv", "--lower", ","], "--lower names nothing"),
        (["--qrels", "q.txt", "a.run", "b.run", "--lower", "AP"], "--lower state"),
    ],
)
def test_options_that_say_nothing_or_too_much_are_refused(
    options: list[str], message: str, scores: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", *options]) == 2
    assert message in capsys.readouterr().err


def test_a_gate_takes_the_directions_of_its_policy(scores: str) -> None:
    policy = 'baseline = "prod"\ncandidate = "slow"\n[[guard]]\nid = "fast"\nmeasure = "latency_ms"\nmargin = 0.05\n'
    Path("p.toml").write_text(policy + 'better = "lower"\n', encoding="utf-8")
    assert main(["gate", "--scores", scores, "--policy", "p.toml", "--out", "g", "--quiet", "--resamples", "199"]) == 1
    report = report_of("g")
    assert told(report) == []
    assert report["verdict"][0]["outcome"] == "worse"
    assert report["reproduction"]["inputs"][-1]["name"] == "p.toml"
