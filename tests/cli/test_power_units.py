"""``rankstats power`` for experiments: statsmodels, the formula turned round, days, arms, covariates, reports."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from statsmodels.stats.power import TTestIndPower
from statsmodels.stats.proportion import power_proportions_2indep

from rankstats.cli.main import main
from rankstats.experiment import metric_from_text, read_out
from rankstats.planning import PlannedMetric, Terms, Traffic, metrics_of_report, plan_effect
from rankstats.report import json_text
from tests.experiment.made import column, readout, settings, units


def _rows(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    assert main(["power", *arguments, "--format", "json"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    found: list[dict[str, Any]] = json.loads(printed.out)
    return found


def test_means_are_those_of_statsmodels(capsys: pytest.CaptureFixture[str]) -> None:
    (row,) = _rows(capsys, "--sd", "40", "--mean", "12", "--difference", "-2", "--units", "8000")
    theirs = TTestIndPower()
    assert row["power_at_units"] == pytest.approx(theirs.power(2 / 40, 4000, 0.05), rel=1e-8)
    n = theirs.solve_power(2 / 40, alpha=0.05, power=0.8)
    assert row["control_needed"] == row["arm_needed"] == row["units_needed"] / 2
    assert 2 * n <= row["units_needed"] <= 2 * n + 2
    smallest = theirs.solve_power(nobs1=4000, alpha=0.05, power=0.8)
    assert row["smallest_detectable"] == pytest.approx(40 * smallest, rel=1e-4)
    assert row["smallest_detectable_relative"] == pytest.approx(40 * smallest / 12, rel=1e-4)
    assert row["relative_difference"] == pytest.approx(-2 / 12)
    assert "noncentral t" in row["formula"]


def test_shares_are_those_of_statsmodels(capsys: pytest.CaptureFixture[str]) -> None:
    (row,) = _rows(capsys, "--base-rate", "0.05", "--difference", "10%", "--units", "60000")
    theirs = power_proportions_2indep(0.005, 0.05, 30_000, return_results=False)
    assert row["power_at_units"] == pytest.approx(theirs, rel=1e-6)
    assert row["difference"] == pytest.approx(0.005)
    for units_of_arm, enough in ((row["arm_needed"], True), (row["arm_needed"] - 1, False)):
        reached = power_proportions_2indep(0.005, 0.05, units_of_arm, return_results=False)
        assert (reached >= 0.8) == enough
    assert "pooled share" in row["formula"]


@pytest.mark.parametrize(
    "given",
    [
        ["--sd", "3", "--mean", "2"],
        ["--sd", "3", "--mean", "2", "--correlation", "0.7"],
        ["--base-rate", "0.03"],
        ["--base-rate", "0.03", "--correlation", "0.4"],
        ["--base-rate", "0.6", "--arms", "4", "--control-share", "0.4"],
        ["--sd", "1", "--one-sided", "--arms", "3"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("power", ["0.6", "0.9"])
def test_the_power_for_the_smallest_detectable_effect_is_the_power_asked_for(
    capsys: pytest.CaptureFixture[str], given: list[str], power: str
) -> None:
    asked = [*given, "--units", "5000", "--power", power]
    (row,) = _rows(capsys, *asked)
    smallest = row["smallest_detectable"]
    (there,) = _rows(capsys, *asked, "--difference", repr(smallest))
    assert there["power_at_units"] == pytest.approx(float(power), abs=1e-9)
    # and the units that this effect needs are those it was found for
    assert there["units_needed"] == there["control_needed"] + (there["arms"] - 1) * there["arm_needed"]
    assert there["units_needed"] == pytest.approx(5000, abs=there["arms"])
    (needed,) = _rows(capsys, *given, "--power", power, "--difference", "0.1")
    enough, fewer = (
        _rows(capsys, *given, "--power", power, "--difference", "0.1", "--units", str(n))[0]["power_at_units"]
        for n in (needed["units_needed"], needed["units_needed"] - 4)
    )
    assert fewer < float(power) <= enough


def test_days_follow_from_users_per_day(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--base-rate", "0.05", "--difference", "0.005"]
    (row,) = _rows(capsys, *asked, "--users-per-day", "4000", "--days", "14")
    assert (row["units"], row["days"]) == (56_000, 14)
    assert row["days_needed"] == math.ceil(row["units_needed"] / 4000)
    (row,) = _rows(capsys, *asked, "--users-per-day", "30000,50000,62000,63000", "--days", "3")
    assert (row["units"], row["days"]) == (62_000, 3)
    assert (
        row["days_needed"] == 4 if 62_000 < row["units_needed"] <= 63_000 else row["days_needed"] in (3, math.inf, None)
    )


def test_several_arms_and_metrics_share_the_level(capsys: pytest.CaptureFixture[str]) -> None:
    metrics = ["--base-rate", "paid=0.1", "--sd", "revenue=4", "--mean", "revenue=10"]
    wanted = ["--difference", "paid=5%,revenue=1%"]
    rows = {row["measure"]: row for row in _rows(capsys, *metrics, *wanted, "--arms", "3")}
    assert {row["terms"]["comparisons"] for row in rows.values()} == {4}
    n = TTestIndPower().solve_power(0.1 / 4, alpha=0.05 / 4, power=0.8)
    assert rows["revenue"]["arm_needed"] == pytest.approx(n, abs=1)
    assert rows["revenue"]["units_needed"] == pytest.approx(3 * n, abs=3)
    (alone,) = _rows(capsys, "--sd", "4", "--difference", "0.1", "--arms", "3", "--comparisons", "1")
    assert alone["arm_needed"] == pytest.approx(TTestIndPower().solve_power(0.1 / 4, alpha=0.05, power=0.8), abs=1)
    # an unequal control: the pair holds its units, the third arm comes on top
    (uneven,) = _rows(capsys, "--sd", "4", "--difference", "0.1", "--arms", "3", "--control-share", "0.5")
    assert uneven["control_needed"] == pytest.approx(2 * uneven["arm_needed"], abs=2)
    assert uneven["units_needed"] == pytest.approx(4 * uneven["arm_needed"], abs=4)


def test_a_covariate_saves_units(capsys: pytest.CaptureFixture[str]) -> None:
    raw, less = (
        _rows(capsys, "--sd", "4", "--difference", "0.1", "--correlation", r)[0]["units_needed"] for r in ("0", "0.6")
    )
    assert less / raw == pytest.approx(1 - 0.36, rel=1e-3)


def test_a_report_tells_level_and_spread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = units(800)
    made = readout(rows, "revenue", "share(paid)", "ctr = sum(clicks)/sum(impressions)", unit="user", arm="arm")
    Path("report.json").write_text(json_text(made.to_dict()), encoding="utf-8")
    found = {row["measure"]: row for row in _rows(capsys, "report.json", "--measures", "revenue,share(paid),ctr")}
    before = np.array(column(rows, "A", "revenue"))
    assert found["revenue"]["control_value"] == pytest.approx(before.mean())
    assert found["revenue"]["standard_deviation"] == pytest.approx(before.std(ddof=1))
    assert {row["units"] for row in found.values()} == {800}
    assert found["share(paid)"]["control_value"] == pytest.approx(np.mean(column(rows, "A", "paid")))
    assert "pooled share" in found["share(paid)"]["formula"]
    clicks, shown = (np.array(column(rows, "A", name)) for name in ("clicks", "impressions"))
    ratio = clicks.sum() / shown.sum()
    assert found["ctr"]["standard_deviation"] == pytest.approx(((clicks - ratio * shown) / shown.mean()).std(ddof=1))
    assert {row["terms"]["comparisons"] for row in found.values()} == {3}
    assert "noncentral t" in found["ctr"]["formula"]
    sd = repr(found["revenue"]["standard_deviation"])
    (from_report,) = _rows(capsys, "report.json", "--difference", "2%")
    (given,) = _rows(capsys, "--sd", sd, "--mean", repr(float(before.mean())), "--difference", "2%", "--units", "800")
    for name in ("units_needed", "smallest_detectable", "power_at_units"):
        assert given[name] == pytest.approx(from_report[name], rel=1e-9)


def test_what_covariates_left_is_what_the_report_tells() -> None:
    rows = units(800)
    made = settings("revenue")
    metric = metric_from_text("revenue")
    cuped = replace(made, metrics=(replace(metric, role="primary", covariate=("past",)),), unit="user", arm="arm")
    (planned,) = metrics_of_report(read_out(cuped, rows=rows).to_dict())
    (raw,) = metrics_of_report(readout(rows, "revenue", unit="user", arm="arm").to_dict())
    correlation = np.corrcoef(column(rows, "A", "revenue"), column(rows, "A", "past"))[0, 1]
    assert planned.deviation == pytest.approx(raw.deviation * math.sqrt(1 - correlation**2), rel=0.1)


def test_table_csv_figure_and_curve(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    asked = ["--base-rate", "0.05", "--difference", "10%", "--users-per-day", "4000"]
    assert main(["power", *asked, "--out", "p"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "two-sided, level 0.05; found with probability 0.8"
    assert lines[1].startswith("shares: normal, pooled share under no effect")
    assert lines[-1] == "p/power.svg"
    table = list(csv.DictReader(io.StringIO(Path("p/power.csv").read_text(encoding="utf-8"))))
    (row,) = _rows(capsys, *asked)
    at = {int(line["units"]): line for line in table}
    there = at[row["units_needed"]]
    assert float(there["power"]) == pytest.approx(0.8, abs=1e-3)
    assert float(there["power"]) >= 0.8
    assert float(there["days"]) == row["days_needed"]
    powers = [float(line["power"]) for line in table]
    assert powers == sorted(powers)
    for line in table:
        smallest = line["smallest_detectable"]
        if smallest not in ("", "nan"):
            planned = plan_effect(PlannedMetric(None, "share", 0.05), float(smallest), units=int(line["units"]))
            assert planned.power_at_units == pytest.approx(0.8, abs=1e-8)
    figure = Path("p/power.svg").read_text(encoding="utf-8")
    assert ET.fromstring(figure).tag.endswith("svg")
    assert "units of all arms" in figure
    assert main(["power", *asked, "--format", "csv"]) == 0
    assert capsys.readouterr().out.splitlines()[0].startswith("measure,control_value,standard_deviation,units,days")


def test_python_plans_as_the_command_does(capsys: pytest.CaptureFixture[str]) -> None:
    found = plan_effect(
        PlannedMetric("paid", "share", 0.05),
        0.1,
        relative=True,
        traffic=Traffic((4000.0,), arms=3),
        terms=Terms(comparisons=2),
    )
    (row,) = _rows(
        capsys, *("--base-rate", "paid=0.05", "--difference", "10%", "--users-per-day", "4000", "--arms", "3")
    )
    assert {key: row[key] for key in ("units_needed", "days_needed")} == {
        "units_needed": found.units_needed,
        "days_needed": found.days_needed,
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--sd", "nan", "--difference", "0.1"], "--sd nan: a finite number is expected"),
        (["--sd", "wide", "--difference", "0.1"], "--sd wide: write NUMBER, such as 0.2"),
        (["--sd", "0", "--difference", "0.1"], "a number above 0 is expected"),
        (["--sd", "1", "--difference", "0.1", "--repetitions", "0"], "--repetitions 0: a whole number of 1 or more"),
        (["--sd", "1", "--difference", "0.1", "--resamples", "-1"], "--resamples -1: a whole number of 1 or more"),
        (["--base-rate", "5", "--difference", "0.1"], "base rate = 5.0; a share between 0 and 1 is expected"),
        (["--base-rate", "0.5"], "give --difference SIZE (or SIZE%), or --units N"),
        (["--base-rate", "0.5", "--difference", "0"], "a difference other than 0"),
        (["--base-rate", "0.5", "--difference", "0.6"], "make 1.1, which is no share of units"),
        (["--sd", "1", "--difference", "1%"], "give its --mean (with --sd) or --base-rate"),
        (["--base-rate", "0.5", "--users-per-day", "9,12", "--days", "3"], "the users of 2 days"),
        (["--sd", "2", "--arms", "2", "--difference", "5%"], "is of the control: say its base rate or mean"),
        (["--base-rate", "0.5", "--sd", "2", "--difference", "0.1"], "are both of one metric"),
        (["--base-rate", "a=0.5", "--difference", "b=0.1"], "there is no metric 'b'"),
        (["--base-rate", "0.5", "--days", "3"], "--days needs --users-per-day"),
        (["--base-rate", "0.5", "--days", "3", "--units", "9"], "--units or --days, not both"),
        (["--base-rate", "0.5", "--units", "3"], "at least two in each arm"),
        (["--base-rate", "0.5", "--units", "90", "--users-per-day", "0"], "one number above 0"),
        (["--base-rate", "0.5", "--units", "90", "--users-per-day", "9,8"], "ascending numbers"),
        (["--base-rate", "0.5", "--units", "90", "--users-per-day", "many"], "write N, or N1,N2"),
        (["--base-rate", "0.5", "--units", "90", "--arms", "1"], "two arms or more"),
        (["--base-rate", "0.5", "--units", "90", "--control-share", "1"], "a share between 0 and 1"),
        (["--base-rate", "0.5", "--units", "90", "--correlation", "1"], "a number between -1 and 1"),
        (["--base-rate", "0.5", "--units", "90", "--n", "9"], "--n: of queries"),
        (["--base-rate", "0.5", "--units", "90", "--measures", "paid"], "--measures: of a report"),
        (["--base-rate", "0.5", "--units", "90", "--baseline", "A"], "--baseline: of queries"),
        (["--mean", "3", "--units", "90"], "give --base-rate SHARE or --sd NUMBER"),
    ],
)
def test_what_is_refused_says_the_way_out(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main(["power", *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err


def test_what_never_comes_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["power", "--base-rate", "0.5", "--difference", "0.1", "--users-per-day", "100,190"]) == 0
    assert capsys.readouterr().out.split()[-1] == "never"
    assert main(["power", "--base-rate", "0.5", "--units", "4"]) == 0
    assert "so few units find no effect at all with probability 0.8" in capsys.readouterr().out
