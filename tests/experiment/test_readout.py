"""Numbers of a readout against scipy and statsmodels, and the same experiment given in several forms."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import stats as scipy_stats
from statsmodels.stats.multitest import multipletests

import rankstats.report
from rankstats.experiment import (
    Readout,
    aggregates_text,
    metric_from_text,
    parse_expression,
    read_experiment,
    read_out,
    with_roles,
)
from rankstats.experiment.metrics import Metric
from tests.experiment.made import Rows, check, codes, column, effect, events, readout, settings, units

METRICS = ("revenue", "paid", "ctr = sum(clicks)/sum(impressions)")
SCHEMA = json.loads((Path(rankstats.report.__file__).parent / "report.schema.json").read_text(encoding="utf-8"))


def numbers(found: Readout) -> list[tuple[Any, ...]]:
    """Every number of the effects, rounded to what different orders of summation may change."""
    rows = []
    for row in found.differences:
        ends = (row.interval.ends if row.interval else (None, None)) + (
            row.relative_interval.ends if row.relative_interval else (None, None)
        )
        values = (row.mean_baseline, row.mean_system, row.difference, row.standard_error, row.p_value, row.p_adjusted)
        rows.append((row.measure, row.system, str(row.segment), row.n, *values, *ends))
    return rows


def assert_same(first: Readout, second: Readout) -> None:
    for one, two in zip(numbers(first), numbers(second), strict=True):
        assert one[:4] == two[:4]
        assert one[4:] == pytest.approx(two[4:], rel=1e-9, abs=1e-12)


def test_means_shares_and_ratios_are_those_of_other_programs() -> None:
    rows = units()
    found = readout(rows, *METRICS)
    a, b = (column(rows, arm, "revenue") for arm in "AB")
    welch = scipy_stats.ttest_ind(b, a, equal_var=False)
    row = effect(found, "revenue")
    low, high = welch.confidence_interval(0.95)
    assert row.p_value == pytest.approx(welch.pvalue, rel=1e-9)
    assert row.interval is not None
    assert row.interval.ends == pytest.approx((low, high), rel=1e-9)
    table = [[sum(column(rows, arm, "paid")), len(column(rows, arm, "paid"))] for arm in "AB"]
    chi = scipy_stats.chi2_contingency([[k, n - k] for k, n in table], correction=False)
    assert effect(found, "paid").p_value == pytest.approx(chi.pvalue, rel=1e-9)
    # the delta method is Welch on the linear parts of the ratio
    parts = []
    for arm in "AB":
        clicks, shown = (np.array(column(rows, arm, name)) for name in ("clicks", "impressions"))
        ratio = clicks.sum() / shown.sum()
        parts.append(ratio + (clicks - ratio * shown) / shown.mean())
    assert effect(found, "ctr").p_value == pytest.approx(
        scipy_stats.ttest_ind(parts[1], parts[0], equal_var=False).pvalue, rel=1e-9
    )


def test_relative_effects_are_fiellers_by_definition() -> None:
    rows = units()
    row = effect(readout(rows, "revenue"), "revenue")
    a, b = (np.array(column(rows, arm, "revenue")) for arm in "AB")
    assert row.relative_difference == pytest.approx(b.mean() / a.mean() - 1)
    assert row.relative_interval is not None
    va, vb = a.var(ddof=1) / len(a), b.var(ddof=1) / len(b)
    df = (va + vb) ** 2 / (va**2 / (len(a) - 1) + vb**2 / (len(b) - 1))
    for end in row.relative_interval.ends:
        distance = b.mean() - (1 + end) * a.mean()
        assert abs(distance) / np.sqrt(vb + (1 + end) ** 2 * va) == pytest.approx(
            scipy_stats.t.ppf(0.975, df), rel=1e-6
        )


def test_covariates_lower_the_variance_and_the_raw_effect_stands_beside() -> None:
    rows = units()
    metrics = (replace(metric_from_text("revenue"), role="primary", covariate=("past",)),)
    found = readout(rows, metrics=metrics)
    row = effect(found, "revenue")
    past, revenue = (np.array([r[name] for r in rows]) for name in ("past", "revenue"))
    theta = np.cov(revenue, past)[0, 1] / past.var(ddof=1)
    adjusted = {
        arm: np.array([r["revenue"] - theta * (r["past"] - past.mean()) for r in rows if r["arm"] == arm])
        for arm in "AB"
    }
    assert row.difference == pytest.approx(adjusted["B"].mean() - adjusted["A"].mean(), rel=1e-9)
    assert row.standard_error == pytest.approx(
        np.sqrt(sum(v.var(ddof=1) / len(v) for v in adjusted.values())), rel=1e-9
    )
    assert row.variance_reduction is not None
    assert row.variance_reduction > 0.5
    raw = next(other for other in row.also if other.test == "without covariates")
    assert raw.p_value == pytest.approx(
        scipy_stats.ttest_ind(*(column(rows, arm, "revenue") for arm in "BA"), equal_var=False).pvalue, rel=1e-9
    )


def test_families_are_metrics_times_arms_times_segments() -> None:
    rows = [{**row, "arm": "ABC"[i % 3]} for i, row in enumerate(units(600))]
    metrics = tuple(
        replace(metric_from_text(text), role=role)
        for text, role in (("revenue", "primary"), ("paid", "primary"), ("clicks", "secondary"))
    )
    found = readout(rows, metrics=metrics, segments=("country",))
    claims = [row for row in found.differences if row.family == "confirmatory"]
    assert {(row.measure, row.system, row.segment) for row in claims} == {
        (m, s, None) for m in ("revenue", "paid") for s in "BC"
    }
    for row in claims:
        assert row.p_value is not None
        assert row.p_adjusted == pytest.approx(min(1.0, 4 * row.p_value))
    rest = [row for row in found.differences if row.family == "exploratory"]
    assert len(rest) == 2 + 3 * 2 * 3
    expected = multipletests([row.p_value for row in rest], method="fdr_bh")[1]
    assert [row.p_adjusted for row in rest] == pytest.approx(list(expected))
    assert len(found.verdict) == 4


def test_guards_hold_fail_or_are_open_by_the_interval() -> None:
    rows = units(2000, effect=-0.5)
    welch = scipy_stats.ttest_ind(*(column(rows, arm, "revenue") for arm in "BA"), equal_var=False)
    low, high = welch.confidence_interval(0.95)
    outcomes = {}
    for margin in (float(-high * 0.9), float((-low - high) / 2), float(-low * 1.1)):
        guard = replace(metric_from_text("revenue"), role="guard", margin=margin)
        found = readout(rows, metrics=(replace(metric_from_text("paid"), role="primary"), guard))
        outcomes[found.guards[0].outcome] = found
    assert list(outcomes) == ["fails", "open", "holds"]
    assert {"guard_fails"} <= codes(outcomes["fails"])
    assert not {"guard_fails", "guard_open"} & codes(outcomes["holds"])
    assert outcomes["open"].guards[0].interval is not None
    assert outcomes["open"].guards[0].interval.ends == pytest.approx((low, high), rel=1e-9)


def test_heterogeneity_is_cochrans_q() -> None:
    rows = units(1200)
    found = readout(rows, "revenue", segments=("country",))
    effects, weights = [], []
    for country in ("de", "fr", "it"):
        a, b = (np.array([r["revenue"] for r in rows if r["arm"] == arm and r["country"] == country]) for arm in "AB")
        effects.append(b.mean() - a.mean())
        weights.append(1 / (a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b)))
    mean = np.average(effects, weights=weights)
    q = float(np.sum(np.array(weights) * (np.array(effects) - mean) ** 2))
    assert found.heterogeneity[0].q == pytest.approx(q, rel=1e-9)
    assert found.heterogeneity[0].p_value == pytest.approx(scipy_stats.chi2.sf(q, 2), rel=1e-9)


def test_quantiles_of_clustered_rows_are_the_samples() -> None:
    rows = events(units(800))
    for i, row in enumerate(rows):
        row["latency"] = float((i * 7919) % 1000)
    found = readout(rows, "p90 = quantile(latency, 0.9)")
    row = effect(found, "p90")
    for arm, value in (("A", row.mean_baseline), ("B", row.mean_system)):
        ordered = sorted(column(rows, arm, "latency"))
        assert value == ordered[int(np.ceil(0.9 * len(ordered))) - 1]
    assert row.n == 800


def write_csv(rows: Rows, path: Path) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter="\t" if path.suffix == ".tsv" else ",")
        writer.writeheader()
        writer.writerows(rows)
    return path


def write_json_lines(rows: Rows, path: Path) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def write_parquet(rows: Rows, path: Path) -> Path:
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


@pytest.mark.parametrize(
    ("name", "write"),
    [("r.csv", write_csv), ("r.tsv", write_csv), ("r.jsonl", write_json_lines), ("r.parquet", write_parquet)],
)
def test_files_of_every_format_give_the_same_numbers(name: str, write: Callable[..., Path], tmp_path: Path) -> None:
    rows = units()
    path = write(rows, tmp_path / name)
    asked = settings(*METRICS, segments=("country",), rows=((None, str(path)),), unit="user", arm="arm")
    assert_same(read_out(asked), readout(rows, *METRICS, segments=("country",)))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.Table.from_pylist, list])
def test_frames_of_every_library_give_the_same_numbers(make: Callable[[Rows], Any]) -> None:
    rows = units()
    assert_same(readout(make(rows), *METRICS), readout(rows, *METRICS))


def test_one_file_an_arm_gives_the_same_numbers(tmp_path: Path) -> None:
    rows = units()
    files = [
        (
            arm,
            str(
                write_csv(
                    [{k: v for k, v in r.items() if k != "arm"} for r in rows if r["arm"] == arm],
                    tmp_path / f"{arm}.csv",
                )
            ),
        )
        for arm in "AB"
    ]
    assert_same(read_out(settings(*METRICS, rows=tuple(files))), readout(rows, *METRICS))


def test_events_and_units_give_the_same_numbers() -> None:
    rows = units()
    metrics = ("revenue", "share(paid)", "ctr = sum(clicks)/sum(impressions)")
    assert_same(readout(events(rows), *metrics, segments=("country",)), readout(rows, *metrics, segments=("country",)))


def test_aggregates_and_rows_give_the_same_numbers(tmp_path: Path) -> None:
    rows = units()
    asked = settings(*METRICS)
    text = aggregates_text(read_experiment(asked, rows=rows))
    path = tmp_path / "aggregates.csv"
    path.write_text(text, encoding="utf-8")
    found = read_out(replace(asked, rows=((None, str(path)),)))
    assert_same(found, readout(rows, *METRICS))
    assert [unit.n for unit in found.units] == [200, 200]
    shuffled = io.StringIO(text).readlines()
    path.write_text("".join([shuffled[0], *reversed(shuffled[1:])]), encoding="utf-8")
    assert_same(read_out(replace(asked, rows=((None, str(path)),))), found)


def test_the_order_of_rows_changes_nothing_at_all() -> None:
    rows = events(units())
    for row in rows:
        row["revenue"] += 0.1 + 40 * (row["user"] in ("u00007", "u00011"))
    mixed = [rows[i] for i in np.random.default_rng(5).permutation(len(rows))]
    metrics = (*METRICS, "quantile(revenue, 0.9)")
    first, second = (readout(given, *metrics, segments=("country",)) for given in (rows, mixed))
    assert first.differences == second.differences
    assert first.scores == second.scores
    assert first.checks == second.checks
    assert check(first, "dominant_unit").outcome == "warns"


def test_assignments_bring_in_units_without_rows(tmp_path: Path) -> None:
    rows = units(300)
    active = [{k: v for k, v in row.items() if k not in ("arm", "past")} for row in rows if row["paid"]]
    given = [{"user": r["user"], "arm": r["arm"], "past": r["past"]} for r in rows]
    path = write_csv(given, tmp_path / "assigned.csv")
    filled = [{**row, "revenue": row["revenue"] if row["paid"] else 0.0} for row in rows]
    found = readout(active, "revenue", "sum(clicks)/sum(impressions)", assignments=str(path))
    assert_same(readout(filled, "revenue"), replace(found, differences=found.differences[:1]))
    assert [unit.n for unit in found.units] == [150, 150]
    stranger = [*active, {**active[0], "user": "stranger"}]
    assert "unassigned_units" in codes(readout(stranger, "revenue", assignments=str(path)))


def test_effects_by_day_add_up_to_the_whole() -> None:
    rows = events(units())
    for i, row in enumerate(rows):
        row["when"] = f"2024-05-0{1 + i % 4}T23:30:00+00:00"
    found = readout(rows, "revenue", time="when")
    assert [day.day for day in found.days] == ["2024-05-01", "2024-05-02", "2024-05-03", "2024-05-04"]
    assert found.days[-1].difference_to_date == pytest.approx(effect(found, "revenue").difference)
    later = readout(rows, "revenue", time="when", timezone="Europe/Berlin")
    assert later.days[0].day == "2024-05-02"


def test_a_group_sequential_look_has_the_bound_of_its_design() -> None:
    rows = units(800, effect=0.35)
    found = readout(rows, "revenue", looks=(0.5, 1.0), look=1)
    row, fixed = effect(found, "revenue"), effect(readout(rows, "revenue"), "revenue")
    # Lan and DeMets, O'Brien-Fleming spending, first of two equally spaced looks (program ldbounds)
    assert found.design.bound == pytest.approx(2.9626, abs=1e-3)
    assert row.interval is not None
    assert fixed.standard_error is not None
    assert row.interval.ends[1] - row.interval.ends[0] == pytest.approx(2 * 2.9626 * fixed.standard_error, rel=1e-3)
    assert row.p_value is not None
    assert (row.p_value <= 0.05) == row.interval.leaves_out_zero()
    assert check(found, "looks").outcome == "ok"


def test_a_confidence_sequence_is_about_the_difference_and_wider() -> None:
    rows = units(800)
    found = readout(rows, "revenue", design="confidence-sequence", planned_units=800)
    row, fixed = effect(found, "revenue"), effect(readout(rows, "revenue"), "revenue")
    assert row.interval is not None
    assert fixed.interval is not None
    low, high = row.interval.ends
    assert low < fixed.interval.ends[0] < fixed.interval.ends[1] < high
    assert (low + high) / 2 == pytest.approx(fixed.difference)


@pytest.mark.parametrize("changes", [{}, {"segments": ("country",)}, {"looks": (0.5, 1.0)}, {"trigger": "paid"}])
def test_the_report_is_valid_under_the_published_schema(changes: dict[str, Any]) -> None:
    jsonschema.validate(readout(units(), *METRICS, **changes).to_dict(), SCHEMA)


def test_a_guard_named_first_leaves_the_claim_to_the_next_metric() -> None:
    metrics = with_roles(
        (replace(metric_from_text("paid"), role="guard", margin=0.1), metric_from_text("revenue")), frozenset({"paid"})
    )
    assert readout(units(), metrics=metrics).primary == ("revenue",)


# ── the same experiment by sums, unit by unit, as events and as aggregates ──────────────────────────────────────────

KINDS = {
    "mean": Metric("m", parse_expression("revenue"), "revenue", role="primary"),
    "proportion": Metric("m", parse_expression("share(paid)"), "share(paid)", role="primary"),
    "ratio": Metric("m", parse_expression("sum(clicks)/sum(impressions)"), "r", role="primary"),
    "ratio to rows": Metric("m", parse_expression("sum(revenue)/count(*)"), "r", role="primary"),
    "winsorised": Metric("m", parse_expression("revenue"), "revenue", role="primary", winsorise=0.95),
    "CUPED": Metric("m", parse_expression("revenue"), "revenue", role="primary", covariate=("past",)),
    "CUPED of a ratio": Metric("m", parse_expression("sum(clicks)/sum(impressions)"), "r", role="primary",
                               covariate=("past",)),
    "quantile": Metric("m", parse_expression("quantile(revenue, 0.9)"), "q", role="primary"),
}  # fmt: skip


def with_gaps(rows: Rows) -> Rows:
    """Rows of which some lack the revenue, and some the past."""
    return [
        {**row, "revenue": None if i % 11 == 0 else row["revenue"], "past": None if i % 7 == 0 else row["past"]}
        for i, row in enumerate(rows)
    ]


def as_texts(rows: Rows) -> Rows:
    return [{key: None if cell is None else str(cell) for key, cell in row.items()} for row in rows]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("gaps", [False, True])
def test_sums_alone_give_what_units_one_by_one_give(kind: str, gaps: bool, tmp_path: Path) -> None:
    rows = with_gaps(units(900, seed=4)) if gaps else units(900, seed=4)
    asked = settings(metrics=(KINDS[kind],), segments=("country", "country+arm2"), unit="user", arm="arm")
    rows = [{**row, "arm2": i % 2} for i, row in enumerate(rows)]
    by_sums = read_out(replace(asked, rows=((None, str(write_parquet(rows, tmp_path / "r.parquet"))),)))
    one_by_one = read_out(asked, rows=as_texts(rows))
    assert_same(by_sums, one_by_one)
    assert [c.found for c in by_sums.checks] == [c.found for c in one_by_one.checks]
    assert by_sums.to_dict()["audit"] == one_by_one.to_dict()["audit"]
    assert codes(by_sums) == codes(one_by_one)


@pytest.mark.parametrize("kind", [name for name in KINDS if name not in ("quantile", "ratio to rows")])
def test_events_give_what_units_give(kind: str) -> None:
    rows = units(500, seed=5)
    asked = settings(metrics=(KINDS[kind],), segments=("country",))
    assert_same(read_out(asked, rows=events(rows)), read_out(asked, rows=rows))


@pytest.mark.parametrize("kind", ["mean", "proportion", "ratio"])
def test_aggregates_give_what_units_give(kind: str, tmp_path: Path) -> None:
    rows, lines = units(500, seed=6), ["arm,metric,n,mean,variance,numerator_mean,numerator_variance,"
                                      "denominator_mean,denominator_variance,covariance"]  # fmt: skip
    for arm in "AB":
        if kind == "ratio":
            both = np.array([column(rows, arm, name) for name in ("clicks", "impressions")], dtype=float)
            spread = np.cov(both)
            numbers = ["", "", both[0].mean(), spread[0, 0], both[1].mean(), spread[1, 1], spread[0, 1]]
        else:
            values = np.array(column(rows, arm, "revenue" if kind == "mean" else "paid"), dtype=float)
            numbers = [values.mean(), values.var(ddof=1), *[""] * 5]
        lines.append(",".join([arm, "m", str(sum(r["arm"] == arm for r in rows)), *(f"{x}" for x in numbers)]))
    path = tmp_path / "aggregates.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    asked = settings(metrics=(KINDS[kind],))
    assert_same(read_out(replace(asked, rows=((None, str(path)),))), read_out(asked, rows=rows))


def test_sums_are_exact_whatever_the_sizes_of_the_values() -> None:
    rng = np.random.default_rng(8)
    for values in (
        1e9 + rng.random(400),
        np.where(np.arange(400) == 7, 1e12, rng.random(400)),
        1e-30 * rng.lognormal(size=400),
        np.where(np.arange(400) % 2, 1e-8, -1e8 * rng.random(400)),
    ):
        rows = [{"user": i, "arm": "AB"[i % 2], "x": x, "s": i % 3} for i, x in enumerate(values.tolist())]
        found = readout(rows, "x", segments=("s",))
        for segment in (None, "0", "1", "2"):
            row = effect(found, "x", segment)
            inside = [segment in (None, str(i % 3)) for i in range(400)]
            a, b = (values[np.array(inside) & (np.arange(400) % 2 == arm)] for arm in (0, 1))
            error = np.sqrt(a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b))
            assert row.standard_error == pytest.approx(error, rel=1e-9)
            # the difference of two means is no better than their last digits
            near = 1e-9 * error + 1e-15 * float(np.abs(values).max())
            assert row.difference == pytest.approx(b.mean() - a.mean(), abs=near)


def test_rows_of_one_unit_are_added_up_wherever_the_second_one_stands() -> None:
    rows = [{"user": i, "arm": "AB"[i % 2], "x": float(i % 9)} for i in range(300)]
    late = [*rows, {**rows[3], "x": 100.0}]
    for given in (late, [{**row, "user": 10**12 * row["user"]} for row in late], as_texts(late)):
        found = readout(given, "x")
        assert sum(unit.n for unit in found.units) == 300
        assert effect(found, "x").mean_system == pytest.approx(
            (sum(r["x"] for r in rows if r["arm"] == "B") + 100) / 150
        )
