"""Planning from reports: reference values, the formula turned round, families, segments, clusters, and the curve."""

from __future__ import annotations

import json
import math
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from statsmodels.stats.power import TTestPower

from rankstats.errors import PlanError, RankstatsError
from rankstats.plan import Plan
from rankstats.planning import Terms, family_size, plan_deviation, plan_report
from rankstats.report.power_curve import MOST_CURVES, power_svg, power_table
from rankstats.stats import fractional_queries_needed, t_power
from tests.decision.made import Content, noise, pair, report_of
from tests.stats.cases import golden


@pytest.mark.parametrize("row", golden("power")["sample_size"], ids=lambda row: f"d {row['d']}")
def test_queries_needed_are_those_of_r_and_statsmodels(row: dict[str, float]) -> None:
    planned = plan_deviation(2.0, 2.0 * row["d"], terms=Terms(row["alpha"], row["power"]))
    assert planned.queries_needed == row["n_ceiling"]
    assert planned.queries_needed == math.ceil(row["n_power.t.test"])


@pytest.mark.parametrize("row", golden("power")["power"], ids=lambda row: f"n {row['n']} d {row['d']}")
@pytest.mark.parametrize("two_sided", [True, False])
def test_power_is_that_of_r_and_statsmodels(row: dict[str, float], two_sided: bool) -> None:
    terms = Terms(row["alpha"], two_sided=two_sided)
    planned = plan_deviation(0.3, 0.3 * row["d"], n=int(row["n"]), terms=terms)
    assert planned.power_at_n == pytest.approx(row["power_two_strict" if two_sided else "power_one"], abs=1e-9)
    assert planned.power_at_n == pytest.approx(row["statsmodels_two" if two_sided else "statsmodels_one"], abs=1e-9)


@pytest.mark.parametrize("row", golden("power")["mde"], ids=lambda row: f"n {row['n']}")
def test_the_smallest_detectable_difference_is_that_of_r_and_statsmodels(row: dict[str, float]) -> None:
    planned = plan_deviation(0.5, n=int(row["n"]), terms=Terms(row["alpha"], row["power"]))
    assert planned.smallest_detectable == pytest.approx(0.5 * row["mde_d"], abs=5e-6)
    assert planned.smallest_detectable == pytest.approx(0.5 * row["statsmodels_d"], abs=1e-6)


@pytest.mark.parametrize("power", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("comparisons", [1, 7])
@pytest.mark.parametrize("size", [0.1, 0.45, 1.2])
def test_the_power_at_the_queries_needed_is_the_power_asked_for(power: float, comparisons: int, size: float) -> None:
    terms = Terms(0.05, power, comparisons)
    needed = plan_deviation(1.0, size, terms=terms).queries_needed
    assert needed is not None
    reached = [plan_deviation(1.0, size, n=n, terms=terms).power_at_n for n in (needed - 1, needed) if n > 1]
    assert reached[-1] is not None
    assert reached[-1] >= power
    assert len(reached) == 1 or reached[0] is None or reached[0] < power
    n = fractional_queries_needed(1.0, size, alpha=0.05, power=power, family_size=comparisons)
    if n > 2:
        assert t_power(size * n**0.5, n - 1, alpha=0.05 / comparisons) == pytest.approx(power, abs=1e-8)
    detectable = plan_deviation(1.0, n=needed, terms=terms).smallest_detectable
    assert detectable is not None
    assert plan_deviation(1.0, detectable, n=needed, terms=terms).power_at_n == pytest.approx(power, abs=1e-8)


def _report() -> Content:
    difference = np.concatenate([noise(30, 0.02, 0.1, seed=1), noise(50, 0.02, 0.3, seed=2)])
    kinds = ["x"] * 30 + ["y"] * 50
    return report_of(pair(difference), columns={"kind": kinds}, plan=Plan(resamples=199, segments=("kind",)))


def test_a_report_gives_its_standard_deviations_by_segment() -> None:
    rows = plan_report(_report(), 0.05, segments=["kind"], terms=Terms(comparisons=3))
    assert [(row.segment, row.n) for row in rows] == [
        (None, 80),
        ({"attribute": "kind", "value": "x"}, 30),
        ({"attribute": "kind", "value": "y"}, 50),
    ]
    assert [row.standard_deviation for row in rows[1:]] == pytest.approx([0.1, 0.3], rel=1e-6)
    for row in rows:
        assert row.standard_deviation is not None
        n = TTestPower().solve_power(0.05 / row.standard_deviation, alpha=0.05 / 3, power=0.8)
        assert row.queries_needed == math.ceil(n)


def test_only_the_spread_is_used_never_the_observed_difference() -> None:
    spreads = {
        mean: plan_report(report_of(pair(noise(40, mean, 0.1))), 0.05)[0].queries_needed for mean in (-0.3, 0.0, 0.3)
    }
    assert len(set(spreads.values())) == 1


def test_clusters_count_and_are_told_in_queries() -> None:
    users = [f"u{q // 4:02}" for q in range(80)]
    shared_noise = np.repeat(noise(20, 0.0, 0.1), 4)
    report = report_of(pair(shared_noise), clusters=[q // 4 for q in range(80)], columns={"user": users})
    report["clusters"] = "user"
    clustered = plan_report(report, 0.05)[0]
    alone = plan_deviation(0.1, 0.05)
    assert (clustered.per_unit, clustered.n) == (4.0, 80)
    assert clustered.standard_deviation == pytest.approx(0.1, rel=1e-6)
    assert alone.queries_needed is not None
    assert clustered.queries_needed == 4 * alone.queries_needed


def test_measures_pairs_and_wanted_differences_go_by_name() -> None:
    rng = np.random.default_rng(3)
    report = report_of(
        rng.uniform(0, 1, (40, 3, 2)), systems=["a", "b", "c"], measures=["AP", "RR"], plan=Plan(resamples=199)
    )
    assert [(r.measure, r.baseline, r.system) for r in plan_report(report)] == [
        (m, "a", s) for m in ("AP", "RR") for s in ("b", "c")
    ]
    rows = plan_report(report, {"RR": 0.1}, baseline="c", system="b")
    assert [(r.measure, r.baseline, r.system, r.difference) for r in rows] == [("RR", "c", "b", 0.1)]
    assert family_size(report) == 2
    with pytest.raises(PlanError, match="did you mean 'AP'"):
        plan_report(report, {"APP": 0.1})
    with pytest.raises(PlanError, match="baseline 'z' is not among the systems"):
        plan_report(report, baseline="z")
    with pytest.raises(PlanError, match="compares no pair"):
        plan_report(report, baseline="c")


def test_without_spread_nothing_is_said() -> None:
    (row,) = plan_report(report_of(pair(np.zeros(30))), 0.1)
    assert (row.standard_deviation, row.queries_needed, row.smallest_detectable, row.curve()) == (None, None, None, ())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0.0, 0.1), "a number above 0"),
        ((1.0, 0.0), "other than 0"),
        ((1.0, 1e-9), "too small beside"),
    ],
)
def test_numbers_out_of_range_are_refused(arguments: tuple[float, float], message: str) -> None:
    with pytest.raises(RankstatsError, match=message):
        plan_deviation(*arguments)
    with pytest.raises(RankstatsError, match="2 queries or more"):
        plan_deviation(1.0, n=1)


def test_the_simulation_agrees_with_the_formula_on_normal_differences() -> None:
    report = report_of(pair(noise(60, 0.0, 0.2)), plan=Plan(resamples=199))
    (row,) = plan_report(report, 0.08, simulate="t", repetitions=1000)
    found = row.simulated
    assert found is not None
    assert row.power_at_n is not None
    assert row.smallest_detectable is not None
    assert row.queries_needed is not None
    assert found.power_at_n == pytest.approx(row.power_at_n, abs=4 * math.sqrt(0.25 / 1000))
    assert found.smallest_detectable == pytest.approx(row.smallest_detectable, rel=0.15)
    assert found.queries_needed == pytest.approx(row.queries_needed, rel=0.15)
    json.dumps(row.to_dict(), allow_nan=False)


def test_the_curve_passes_through_what_is_asked() -> None:
    planned = plan_deviation(0.2, 0.05, n=40)
    curve = {n: (power, detectable) for n, power, detectable in planned.curve()}
    assert planned.queries_needed in curve
    assert curve[40] == (planned.power_at_n, planned.smallest_detectable)
    powers = [power for _, (power, _) in sorted(curve.items())]
    assert powers == sorted(powers)
    assert powers[-1] > 0.8
    for n, (power, _) in curve.items():
        assert power == pytest.approx(TTestPower().power(0.25, n, 0.05), abs=1e-6)


def test_figure_and_table_hold_the_curves() -> None:
    rows = plan_report(_report(), 0.05, segments=["kind"])
    lines = power_table(rows).splitlines()
    assert lines[0] == "measure,baseline,system,segment,n,power,smallest_detectable"
    assert len(lines) == 1 + sum(len(row.curve()) for row in rows)
    assert "AP,prod,new,kind=x,30," in "\n".join(lines)
    first, second = power_svg(rows), power_svg(rows)
    assert first == second
    root = ET.fromstring(first.encode("utf-8"))
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert root.get("role") == "img"
    described = "".join(root.find("{http://www.w3.org/2000/svg}desc").itertext())  # type: ignore[union-attr]  it is there
    assert f"AP, x, difference 0.05: power 0.8 at {rows[1].queries_needed} queries" in described
    assert "style=" not in first
    assert MOST_CURVES == 6
    ET.fromstring(power_svg(plan_report(_report())).encode("utf-8"))
