"""``rankstats ab``: first and last line, files, exit status, plan, aggregates, looks."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from rankstats.cli.main import main
from rankstats.plan import plan_from_document, plan_text
from tests.experiment.made import units


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.csv"
    made = units()
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(made[0]))
        writer.writeheader()
        writer.writerows(made)
    return path


def report(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    return found


def test_the_first_line_is_the_verdict_and_the_last_the_path(
    rows: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    asked = ["--metric", "revenue", "--metric", "ctr = sum(clicks)/sum(impressions)", "--segment", "country"]
    assert main(["ab", str(rows), "--unit", "user", *asked, "--out", str(out)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("B is ")
    assert "400 units" in lines[0]
    assert lines[-1] == str(out / "report.html")
    assert {path.name for path in out.iterdir()} == {"report.html", "report.json", "summary.md"}
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "400 units" in page
    assert "queries" not in page.split('id="method"')[0].split("<main")[-1]
    assert main(["render", str(out / "report.json"), "--out", str(tmp_path / "again")]) == 0
    assert (tmp_path / "again" / "report.html").read_text(encoding="utf-8") == page


def test_every_option_reaches_the_settings(rows: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = [
        *("--unit", "user", "--arm", "arm", "--control", "B", "--share", "A=1", "--share", "B=1"),
        *("--metric", "paid", "--metric", "revenue", "--metric", "clicks", "--primary", "revenue"),
        *("--guard", "paid=5%", "--lower", "clicks", "--margin", "revenue=2", "--winsorise", "revenue=0.99"),
        *("--covariate", "revenue=past", "--alpha", "0.01", "--title", "T", "--quiet", "--out", str(out)),
    ]
    assert main(["ab", str(rows), *arguments]) == 0
    found = report(out)
    assert (found["title"], found["alpha"], found["baseline"], found["primary"]) == ("T", 0.01, "B", ["revenue"])
    metrics = {row["name"]: row for row in found["reproduction"]["plan"]["experiment"]["metric"]}
    assert metrics["paid"] == {
        "name": "paid",
        "value": "paid",
        "role": "guard",
        "better": "higher",
        "margin_relative": 0.05,
    }
    assert metrics["revenue"]["covariate"] == ["past"]
    assert metrics["revenue"]["winsorise"] == 0.99
    assert metrics["clicks"]["better"] == "lower"


def test_the_plan_of_the_report_gives_the_same_report(rows: Path, tmp_path: Path) -> None:
    out, again = tmp_path / "out", tmp_path / "again"
    asked = ["--unit", "user", "--metric", "revenue", "--covariate", "past", "--segment", "country", "--quiet"]
    assert main(["ab", str(rows), *asked, "--out", str(out)]) == 0
    first = report(out)
    kept = {key: value for key, value in first["reproduction"]["plan"].items() if key != "overridden"}
    plan = tmp_path / "plan.toml"
    plan.write_text(plan_text(kept), encoding="utf-8")
    assert main(["ab", "--plan", str(plan), "--quiet", "--out", str(again)]) == 0
    second = report(again)
    for key in ("differences", "verdict", "warnings", "experiment", "scores"):
        assert second[key] == first[key]


def test_another_look_into_the_same_folder_is_warned_of(rows: Path, tmp_path: Path) -> None:
    arguments = ["--metric", "revenue", "--quiet", "--out", str(tmp_path / "out")]
    text = rows.read_text()
    rows.write_text("".join(text.splitlines(keepends=True)[:201]))
    assert main(["ab", str(rows), *arguments]) == 0
    first = report(tmp_path / "out")
    assert main(["ab", str(rows), *arguments]) == 0
    assert report(tmp_path / "out") == first
    rows.write_text(text)
    assert main(["ab", str(rows), *arguments]) == 0
    looks = [row for row in report(tmp_path / "out")["experiment"]["checks"] if row["code"] == "looks"]
    assert looks[0]["outcome"] == "warns"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give ROWS"),
        (["ROWS"], "no metric is asked for"),
        (["ROWS", "--metric", "maen(revenue)"], "did you mean 'mean'"),
        (["ROWS", "--metric", "revenu"], "did you mean 'revenue'"),
        (["ROWS", "--metric", "revenue", "--unit", "usr"], "did you mean 'user'"),
        (["ROWS", "--metric", "revenue", "--control", "C"], "not among the arms"),
        (["ROWS", "--metric", "revenue", "--guard", "paid=0.1"], "'paid' is not among the metrics"),
        (["ROWS", "--metric", "revenue", "--guard", "revenue"], "write METRIC=MARGIN"),
        (["ROWS", "--metric", "revenue", "--share", "A"], "write ARM=SIZE"),
        (["ROWS", "--metric", "revenue", "--looks", "half"], "fractions"),
        (["A=ROWS", "B=ROWS", "--metric", "revenue", "--arm", "arm"], "not both"),
        (["missing.csv", "--metric", "revenue"], "no such file"),
    ],
)
def test_a_fault_is_one_message_and_writes_nothing(
    arguments: list[str], message: str, rows: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [text.replace("ROWS", str(rows)) for text in arguments]
    assert main(["ab", *given, "--out", str(tmp_path / "out")]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
    assert len(captured.err.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_a_misspelled_key_of_a_plan_is_hinted_at() -> None:
    from rankstats.errors import PlanError  # noqa: PLC0415  only here

    with pytest.raises(PlanError, match="did you mean 'unit'"):
        plan_from_document({"experiment": {"unt": "user"}})
    with pytest.raises(PlanError, match="did you mean 'winsorise'"):
        plan_from_document({"experiment": {"metric": [{"winsorize": 0.9}]}})
