"""Every kind of fault that experiments are read with elsewhere: refused, warned of, or right."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats as scipy_stats

from rankstats.errors import InputError, PlanError
from rankstats.experiment import Readout, metric_from_text, read_out
from tests.experiment.made import check, codes, column, effect, events, readout, settings, units


def text_file(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


# ── units ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_event_rows_with_a_unit_have_the_standard_error_of_units() -> None:
    rows = [row for row in units(300) for _ in range(9)]
    right = effect(readout(rows, "revenue"), "revenue")
    assert right.n == 300
    assert right.standard_error == pytest.approx(
        9 * (effect(readout(units(300), "revenue"), "revenue").standard_error or 0)
    )


def test_rows_taken_as_units_are_warned_of() -> None:
    rows = [{"arm": row["arm"], "revenue": row["revenue"]} for row in events(units(100))]
    found = readout(rows, "revenue")
    assert check(found, "unit_of_analysis").outcome == "warns"
    assert "unit_of_analysis" in codes(found)
    assert check(readout(units(100), "revenue"), "unit_of_analysis").outcome == "ok"


def test_units_in_two_arms_are_left_out_and_many_block_the_verdict() -> None:
    rows = units(400)
    twice = [*rows, {**rows[0], "arm": "B" if rows[0]["arm"] == "A" else "A"}]
    few = readout(twice, "revenue")
    assert sum(unit.n for unit in few.units) == 399
    assert check(few, "two_arms").outcome == "warns"
    alone = effect(readout(rows[1:], "revenue"), "revenue").p_value
    assert effect(few, "revenue").p_value == pytest.approx(alone, rel=1e-12)
    flipped = [{**row, "arm": "B" if row["arm"] == "A" else "A"} for row in rows[:20]]
    many = readout([*rows, *flipped], "revenue")
    assert check(many, "two_arms").outcome == "blocks"
    assert many.verdict[0].outcome == "not_shown"
    assert "withheld" in many.verdict[0].sentence


def test_ids_stay_what_they_are(tmp_path: Path) -> None:
    ids = ["007", "7", "1e5", "100000", "NA", "null", "#5", "ü", "12345678901234567890", "12345678901234567891"]
    lines = [f"{name},{'AB'[i % 2]},{i % 3}" for i, name in enumerate(ids * 3)]
    path = text_file(tmp_path / "r.csv", "\n".join(["user,arm,x", *lines]) + "\n")
    assert sum(unit.n for unit in read_out(settings("x", rows=((None, path),))).units) == len(ids)


# ── shares of units ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_designed_split_is_no_mismatch_and_an_undesigned_one_blocks() -> None:
    rows = units(2000)
    kept = [r for r in rows if r["arm"] == "A"] + [r for r in rows if r["arm"] == "B"][:60]
    designed = readout(kept, "revenue", shares={"A": 94.34, "B": 5.66})
    assert check(designed, "sample_ratio").outcome == "ok"
    blocked = readout(kept, "revenue")
    assert check(blocked, "sample_ratio").outcome == "blocks"
    assert blocked.verdict[0].outcome == "not_shown"
    assert "sample_ratio" in {w.code for w in blocked.warnings if w.severity == "serious"}
    p = scipy_stats.chisquare([1000, 60]).pvalue
    assert check(blocked, "sample_ratio").p_value == pytest.approx(p, rel=1e-9)


def test_an_arm_of_the_design_without_units_is_named() -> None:
    found = readout(units(), "revenue", shares={"A": 1, "B": 1, "C": 1})
    ratio = check(found, "sample_ratio")
    assert ratio.outcome == "blocks"
    assert "No unit is in C" in ratio.found
    assert effect(found, "revenue", system="C").difference is None
    assert any("cannot be compared" in verdict.sentence for verdict in found.verdict)


def test_an_arm_without_a_share_is_refused() -> None:
    with pytest.raises(PlanError, match="'B' has no share"):
        readout(units(), "revenue", shares={"A": 1, "b2": 1})


# ── values ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_nulls_are_not_zeros_and_not_in_n() -> None:
    rows = units()
    for row in rows[::7]:
        row["revenue"] = None
    found = readout(rows, "revenue")
    row = effect(found, "revenue")
    assert row.n == sum(r["revenue"] is not None for r in rows)
    assert row.p_value == pytest.approx(
        scipy_stats.ttest_ind(*(column(rows, arm, "revenue") for arm in "BA"), equal_var=False).pvalue, rel=1e-9
    )
    assert {"empty_cells"} <= codes(found)
    assert found.to_dict()["audit"]["undefined"] == {"revenue": len(rows[::7])}


def test_values_missing_in_one_arm_block_the_verdict_of_that_metric() -> None:
    rows = units()
    for row in [r for r in rows if r["arm"] == "B"][:60]:
        row["revenue"] = None
    metrics = tuple(replace(metric_from_text(name), role="primary") for name in ("revenue", "paid"))
    found = readout(rows, metrics=metrics)
    withheld = {verdict.measure: "withheld" in verdict.sentence for verdict in found.verdict}
    assert withheld == {"revenue": True, "paid": False}


def test_numerator_and_denominator_come_from_the_same_rows() -> None:
    rows = units()
    for row in rows[::5]:
        row["impressions"] = None
    found = readout(rows, "ctr = sum(clicks)/sum(impressions)")
    kept = [r for r in rows if r["impressions"] is not None]
    for arm, mean in (("A", effect(found, "ctr").mean_baseline), ("B", effect(found, "ctr").mean_system)):
        assert mean == pytest.approx(sum(column(kept, arm, "clicks")) / sum(column(kept, arm, "impressions")))
    assert effect(found, "ctr").n == len(kept)


def test_a_cap_that_would_flatten_a_metric_is_refused_and_a_good_one_is_shown() -> None:
    rows = units(1000)
    for i, row in enumerate(rows):
        row["rare"] = 50.0 if i % 200 == 0 else 0.0
    with pytest.raises(PlanError, match="would cap every unit"):
        readout(rows, metrics=(replace(metric_from_text("rare"), role="primary", winsorise=0.99),))
    found = readout(rows, metrics=(replace(metric_from_text("revenue"), role="primary", winsorise=0.95),))
    ordered = sorted(row["revenue"] for row in rows)
    assert found.caps[0].cap == ordered[949]
    assert sum(found.caps[0].capped.values()) == 50
    assert any(other.test == "not winsorised" for other in effect(found, "revenue").also)
    assert "winsorised" in codes(found)


def test_a_unit_that_makes_up_the_spread_is_named() -> None:
    rows = units()
    rows[17]["revenue"] = 5000.0
    found = readout(rows, "revenue")
    assert "u00017" in check(found, "dominant_unit").found
    without = next(other for other in effect(found, "revenue").also if other.test == "without unit u00017")
    rest = rows[:17] + rows[18:]
    p = scipy_stats.ttest_ind(*(column(rest, arm, "revenue") for arm in "BA"), equal_var=False).pvalue
    assert without.p_value == pytest.approx(p, rel=1e-9)


def test_a_few_conversions_are_no_dominating_units() -> None:
    rows = units(100)
    for i, row in enumerate(rows):
        row["rare"] = int(i in (3, 40))
    assert "dominant_unit" not in codes(readout(rows, "rare"))


def test_identical_arms_have_p_1_and_lower_can_be_better() -> None:
    rows = [{"user": str(i), "arm": "AB"[i % 2], "x": 1.5, "ms": float(i % 2) * 5 + (i % 7)} for i in range(140)]
    assert effect(readout(rows, "x"), "x").p_value == 1.0
    slower = readout(rows, metrics=(replace(metric_from_text("ms"), role="primary", better="lower"),))
    assert slower.verdict[0].outcome == "worse"
    assert "lower is better" in slower.verdict[0].sentence


def test_too_few_units_have_no_verdict() -> None:
    rows = [{"user": str(i), "arm": "AB"[i >= 9], "x": float(i >= 9) * 10 + i % 3} for i in range(18)]
    assert readout(rows, "x").verdict[0].sentence.startswith("Too few units")


# ── what the treatment may have changed ─────────────────────────────────────────────────────────────────────────────


def timed(rows: list[dict[str, Any]], name: str, late: int) -> list[dict[str, Any]]:
    return [
        {**row, "seen": "2024-05-10", f"{name}_at": "2024-05-11" if i < late else "2024-05-01"}
        for i, row in enumerate(rows)
    ]


def test_segments_and_covariates_measured_after_exposure_are_refused() -> None:
    rows = units()
    asked = {"exposed_at": "seen"}
    with pytest.raises(PlanError, match="segment 'country' was measured after the exposure in 3 rows"):
        readout(timed(rows, "country", 3), "revenue", segments=("country",), **asked)
    readout(timed(rows, "country", 0), "revenue", segments=("country",), **asked)
    metrics = (replace(metric_from_text("revenue"), role="primary", covariate=("past",)),)
    with pytest.raises(PlanError, match="covariate 'past' was measured after"):
        readout(timed(rows, "past", 1), metrics=metrics, **asked)
    readout(timed(rows, "past", 0), metrics=metrics, **asked)


def test_what_changes_within_a_unit_is_no_segment_and_no_covariate() -> None:
    rows = events(units(100))
    for i, row in enumerate(rows):
        row["page"] = str(i % 3)
    with pytest.raises(PlanError, match="segment 'page' changes between the rows"):
        readout(rows, "revenue", segments=("page",))


def test_a_covariate_and_a_segment_that_the_treatment_changed_are_warned_of() -> None:
    rows = units(1000)
    for row in rows:
        row["past"] += 2.0 * (row["arm"] == "B")
        row["active"] = "yes" if row["paid"] or (row["arm"] == "B" and row["clicks"] > 1) else "no"
    metrics = (replace(metric_from_text("revenue"), role="primary", covariate=("past",)),)
    assert {"covariate_balance", "segment_balance"} <= codes(readout(rows, metrics=metrics, segments=("active",)))


def test_rows_before_exposure_are_left_out_and_counted() -> None:
    rows = units(200)
    early = [{**row, "revenue": 1000.0, "when": "2024-05-01", "seen": "2024-05-02"} for row in rows]
    late = [{**row, "when": "2024-05-03", "seen": "2024-05-02"} for row in rows]
    found = readout([*early, *late], "revenue", time="when", exposed_at="seen")
    assert effect(found, "revenue").difference == pytest.approx(effect(readout(rows, "revenue"), "revenue").difference)
    assert "before_exposure" in codes(found)


# ── looks ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_second_look_at_a_fixed_horizon_is_warned_of() -> None:
    rows = units()
    assert check(readout(rows, "revenue"), "looks").outcome == "ok"
    assert check(readout(rows, "revenue", look=2), "looks").outcome == "warns"
    assert check(readout(rows, "revenue", earlier=({"units": 200},)), "looks").outcome == "warns"
    sequence = readout(rows, "revenue", design="confidence-sequence", planned_units=400, earlier=({"units": 200},))
    assert check(sequence, "looks").outcome == "ok"


def test_the_first_look_is_not_tested_at_the_level_of_the_last() -> None:
    found = readout(units(), "revenue", looks=(0.2, 1.0), look=1)
    assert found.design.nominal_p is not None
    assert found.design.nominal_p < 1e-4


def test_a_sequence_without_planned_units_and_looks_out_of_order_are_refused() -> None:
    with pytest.raises(PlanError, match="planned_units"):
        settings("x", design="confidence-sequence")
    with pytest.raises(PlanError, match="ascending"):
        settings("x", looks=(1.0, 0.5))
    with pytest.raises(PlanError, match="2 are planned"):
        settings("x", looks=(0.5, 1.0), look=3)


# ── reading ─────────────────────────────────────────────────────────────────────────────────────────────────────────

GOOD = "user,arm,x\n" + "".join(f"u{i},{'AB'[i % 2]},{i % 5}\n" for i in range(40))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GOOD + 'v,A,"1,5"\n', "row 41: x is '1,5'"),
        (GOOD + "v,A,abc\n", "row 41: x is 'abc'"),
        (GOOD + "v,A,inf\n", "row 41: x is 'inf'"),
        (GOOD + "v,,1\n", "row 41 has no arm"),
        (GOOD + ",A,1\n", "row 41 has no unit"),
        (GOOD + "v,A,1,7\n", r"r\.csv:42: 4 fields where 3 are expected"),
        ("user,arm,x\n", "no rows"),
        ("", "empty"),
        ("user,arm,arm\nu,A,1\n", "two columns are named 'arm'"),
        ("1,2,3\n4,5,6\n", "a header"),
        (GOOD.replace("B", "A"), "only the arm 'A'"),
        (GOOD.replace("x", "y", 1), "'x' is no column"),
    ],
)
def test_a_spoilt_file_is_refused_with_its_place(text: str, message: str, tmp_path: Path) -> None:
    path = text_file(tmp_path / "r.csv", text)
    with pytest.raises((InputError, PlanError), match=message):
        read_out(settings("x", rows=((None, path),)))


@pytest.mark.parametrize(
    "change", [("\n", "\r\n"), ("user", "\ufeffuser"), (",1\n", ",1e0\n"), (",0\n", ",\n"), ("x", '"x"')]
)
def test_odd_but_good_files_are_read(change: tuple[str, str], tmp_path: Path) -> None:
    path = text_file(tmp_path / "r.csv", GOOD.replace(*change) if change[0] != "x" else GOOD.replace("x", '"x"', 1))
    assert sum(unit.n for unit in read_out(settings("x", rows=((None, path),))).units) == 40


AGGREGATES = "arm,metric,n,mean,variance,units\nA,m,100,1.0,2.0,110\nB,m,100,1.5,2.0,110\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (AGGREGATES + "B,m,100,1.5,2.0,110\n", "two rows are of metric 'm' and arm 'B'"),
        (AGGREGATES + "A,k,100,1.5,2.0,110\n", "'k' has no row for the arm 'B'"),
        (AGGREGATES.replace("1.0,2.0", "1.0,-2.0"), "variance is negative"),
        (AGGREGATES.replace("A,m,100", "A,m,1.5"), "whole numbers"),
        (AGGREGATES.replace("A,m,100", "A,m,200"), "more than the 110 units"),
        (AGGREGATES.replace("1.0,2.0", "x,2.0"), "row 1: mean is 'x'"),
    ],
)
def test_spoilt_aggregates_are_refused(text: str, message: str, tmp_path: Path) -> None:
    path = text_file(tmp_path / "a.csv", text)
    with pytest.raises(InputError, match=message):
        read_out(settings(rows=((None, path),)))


def test_aggregates_cannot_give_segments(tmp_path: Path) -> None:
    path = text_file(tmp_path / "a.csv", AGGREGATES)
    with pytest.raises(PlanError, match="segments cannot be had from aggregates"):
        read_out(settings(rows=((None, path),), segments=("country",)))
    found = read_out(settings(rows=((None, path),)))
    assert effect(found, "m").p_value == pytest.approx(
        scipy_stats.ttest_ind_from_stats(1.5, np.sqrt(2), 100, 1.0, np.sqrt(2), 100, equal_var=False).pvalue
    )
    assert [unit.n for unit in found.units] == [110, 110]


def test_a_segment_with_too_many_values_is_refused_and_quantiles_are_offered() -> None:
    rows = units()
    with pytest.raises(PlanError, match="past:q4"):
        readout(rows, "revenue", segments=("past",))
    found = readout(rows, "revenue", segments=("past:q4",))
    assert [segment.n for segment in found.segments] == [100, 100, 100, 100]


def test_renaming_the_arms_only_renames() -> None:
    rows = units()
    renamed = [{**row, "arm": {"A": "z", "B": "a"}[row["arm"]]} for row in rows]
    first, second = readout(rows, "revenue"), readout(renamed, "revenue", control="z")
    assert effect(first, "revenue").p_value == effect(second, "revenue").p_value
    assert second.baseline == "z"
    with pytest.raises(PlanError, match="not among the arms"):
        readout(renamed, "revenue", control="Z")


# ── one file an arm ─────────────────────────────────────────────────────────────────────────────────────────────────


def arm_files(folder: Path, held: dict[str, str], column_name: str = "arm") -> tuple[tuple[str, str], ...]:
    """One file an arm, each with a column of its own that says ``held`` (values with | between them, row by row)."""
    files = []
    for name, values in held.items():
        said = values.split("|")
        lines = [f"{name}{i},{said[i % len(said)]},{i % 5}" for i in range(30)]
        path = text_file(folder / f"{name}.csv", "\n".join([f"user,{column_name},x", *lines]) + "\n")
        files.append((name, path))
    return tuple(files)


@pytest.mark.parametrize(
    ("held", "column_name"),
    [
        ({"A": "B", "B": "A"}, "arm"),
        ({"A": "A|B", "B": "B"}, "arm"),
        ({"A": "control|treatment", "B": "treatment"}, "variant"),
        ({"A": "x", "B": "a"}, "group"),
    ],
)
def test_a_file_named_as_one_arm_that_says_another_is_refused(
    held: dict[str, str], column_name: str, tmp_path: Path
) -> None:
    with pytest.raises(PlanError, match="without ARM="):
        read_out(settings("x", rows=arm_files(tmp_path, held, column_name)))


@pytest.mark.parametrize(
    ("held", "column_name"),
    [({"A": "A", "B": "B"}, "arm"), ({"A": "old", "B": "new"}, "arm"), ({"A": "v1|v2", "B": "v2|v1"}, "version")],
)
def test_a_column_that_does_not_contradict_is_no_fault(held: dict[str, str], column_name: str, tmp_path: Path) -> None:
    found = read_out(settings("x", rows=arm_files(tmp_path, held, column_name)))
    assert [(unit.arm, unit.n) for unit in found.units] == [("A", 30), ("B", 30)]


def test_aggregates_name_their_arms_themselves(tmp_path: Path) -> None:
    lines = AGGREGATES.splitlines(keepends=True)
    files = tuple(
        (arm, text_file(tmp_path / f"{arm}.csv", lines[0] + line)) for arm, line in zip("BA", lines[1:], strict=True)
    )
    with pytest.raises(PlanError, match="without ARM="):
        read_out(settings(rows=files))
    assert effect(read_out(settings(rows=((None, files[0][1]), (None, files[1][1])))), "m").difference == 0.5


def test_named_and_unnamed_files_are_not_mixed(tmp_path: Path) -> None:
    (name, path), (_, other) = arm_files(tmp_path, {"A": "A", "B": "B"})
    with pytest.raises(PlanError, match="name all, or none"):
        settings("x", rows=((name, path), (None, other)))


# ── spread ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_metric_without_spread_has_no_interval_and_says_why() -> None:
    rows = [{"user": str(i), "arm": "AB"[i % 2], "x": 2.5 + i % 2, "y": i % 7, "z": 4.0} for i in range(140)]
    metrics = (
        replace(metric_from_text("x"), role="primary"),
        replace(metric_from_text("z"), role="guard", margin=0.1),
        metric_from_text("y"),
    )
    found = readout(rows, metrics=metrics)
    row = effect(found, "x")
    assert (row.difference, row.p_value, row.interval, row.relative_interval) == (1.0, 1.0, None, None)
    assert row.no_interval is not None
    assert "no spread" in row.no_interval
    assert found.verdict[0].outcome == "not_shown"
    assert "no spread" in found.verdict[0].sentence
    assert found.guards[0].outcome == "open"
    assert "no spread" in found.guards[0].sentence
    written = found.to_dict()["differences"][0]
    assert (written["interval"], written["adjusted_interval"]) == (None, None)
    assert written["no_interval"] == row.no_interval
    assert effect(found, "y").no_interval is None


def test_one_arm_without_spread_is_compared() -> None:
    rows = [{"user": str(i), "arm": "AB"[i % 2], "x": 2.0 + (i % 2) * (i % 5)} for i in range(140)]
    row = effect(readout(rows, "x"), "x")
    # without spread in A, Welch's t is that of B against a number
    expected = scipy_stats.ttest_1samp(column(rows, "B", "x"), 2.0).pvalue
    assert row.p_value == pytest.approx(expected, rel=1e-9)
    assert row.interval is not None


def test_a_ratio_is_dominated_by_a_unit_too() -> None:
    rows = units()
    rows[17] |= {"clicks": 4000, "impressions": 4100}
    found = readout(rows, "ctr = sum(clicks)/sum(impressions)")
    assert "(u00017, clicks = 4,000)" in check(found, "dominant_unit").found
    again = readout(events(rows), "ctr = sum(clicks)/sum(impressions)")
    assert check(again, "dominant_unit").found == check(found, "dominant_unit").found


# ── sizes of arms ───────────────────────────────────────────────────────────────────────────────────────────────────


def unequal(n: int = 2000, *, skewed: bool = True) -> list[dict[str, Any]]:
    rng = np.random.default_rng(3)
    value = np.where(rng.random(n) < 0.2, rng.lognormal(0, 1, n), 0.0) if skewed else rng.normal(size=n)
    return [
        {"user": f"u{i}", "arm": "B" if i % 10 == 0 else "A", "x": x, "n": 1 + i % 3}
        for i, x in enumerate(value.tolist())
    ]


@pytest.mark.parametrize("metric", ["x", "x = sum(x)/sum(n)"])
def test_unequal_arms_of_a_skewed_metric_are_warned_of(metric: str) -> None:
    shares = {"A": 0.9, "B": 0.1}
    found = check(readout(unequal(), metric, shares=shares), "unequal_arms")
    assert found.outcome == "warns"
    assert found.statistic == pytest.approx(0.6, abs=0.3)
    text = check(readout(as_texts(unequal()), metric, shares=shares), "unequal_arms")
    assert text.statistic == pytest.approx(found.statistic, rel=1e-9)
    even = readout(unequal(skewed=False), metric, shares=shares)
    assert check(even, "unequal_arms").outcome == "ok"
    assert "unequal_arms" not in {row.code for row in readout(units(), "revenue").checks}


def test_the_thresholds_of_the_sample_ratio() -> None:
    for b, outcome in ((1000, "ok"), (880, "warns"), (820, "blocks")):
        rows = [{"user": f"u{i}", "arm": "A" if i < 1000 else "B", "x": i % 3} for i in range(1000 + b)]
        p = scipy_stats.chisquare([1000, b]).pvalue
        found = readout(rows, "x")
        assert check(found, "sample_ratio").outcome == outcome
        assert check(found, "sample_ratio").p_value == pytest.approx(p, rel=1e-9)
        assert ("withheld" in found.verdict[0].sentence) == (outcome == "blocks")


def test_events_without_assignments_say_that_silent_units_are_missing() -> None:
    assert "no assignments are given" in check(readout(events(units(100)), "revenue"), "unit_of_analysis").found
    assert "no assignments" not in check(readout(units(100), "revenue"), "unit_of_analysis").found
    given = [{"user": row["user"], "arm": row["arm"]} for row in units(100)]
    with_them = readout(events(units(100)), "revenue", assignments=given)
    assert "no assignments" not in check(with_them, "unit_of_analysis").found


def test_days_on_which_an_arm_was_not_logged_are_named() -> None:
    rows = [{**row, "when": f"2024-05-{1 + day:02d}"} for row in units(600) for day in range(5)]
    assert check(readout(rows, "revenue", time="when"), "logging").outcome == "ok"
    lost = [row for row in rows if not (row["arm"] == "B" and row["when"] == "2024-05-03" and row["clicks"] > 1)]
    found = check(readout(lost, "revenue", time="when"), "logging")
    assert found.outcome == "warns"
    assert "on 2024-05-03 (on 2024-05-03: A 300 of 300, B " in found.found


# ── more units than planned ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("changes", "outcome", "message"),
    [
        ({"planned_units": 400}, "ok", "One look"),
        ({"planned_units": 1000}, "warns", "The plan has 1,000 units at this look; there are 400."),
        ({"planned_units": 300}, "warns", "If the end was moved after looking"),
        ({"planned_units": 800, "looks": (0.5, 1.0), "look": 1}, "ok", "Look 1 of 2"),
        ({"planned_units": 600, "looks": (0.5, 1.0), "look": 1}, "warns", "The plan has 300 units"),
        ({"planned_units": 300, "looks": (0.5, 1.0)}, "warns", "there are 400. The bounds are those of the plan"),
        ({"planned_units": 300, "design": "confidence-sequence"}, "ok", "more than the 300 planned"),
        ({"planned_units": 500, "design": "confidence-sequence"}, "ok", "holds at every look"),
    ],
)
def test_units_that_are_not_those_of_the_plan_are_named(changes: dict[str, Any], outcome: str, message: str) -> None:
    found = check(readout(units(400), "revenue", **changes), "looks")
    assert found.outcome == outcome
    assert message in found.found


# ── triggers ────────────────────────────────────────────────────────────────────────────────────────────────────────


def noted(found: Readout) -> str:
    """Return the outcome of the only check."""
    (row,) = found.evidence_checks
    return row.outcome


def test_a_trigger_that_misses_changes_is_warned_of() -> None:
    rows = units(1500, effect=1.0)
    for i, row in enumerate(rows):
        row["seen"] = int(i % 3 == 0)
    found = readout(rows, "revenue", trigger="seen")
    assert "untriggered_effect" in codes(found)
    assert [round(row.share, 3) for row in found.trigger] == [0.333]
    told = check(found, "untriggered_effect")
    assert (told.outcome, told.p_value, told.threshold) == ("warns", found.trigger[0].untriggered_p, 0.01)
    honest = [{**row, "revenue": row["revenue"] - (row["arm"] == "B") * (1 - row["seen"])} for row in rows]
    fine = readout(honest, "revenue", "impressions", trigger="seen")
    assert "untriggered_effect" not in codes(fine)
    told = check(fine, "untriggered_effect")
    assert (told.outcome, told.threshold) == ("ok", 0.005)
    assert told.p_value == min(row.untriggered_p or 1.0 for row in fine.trigger)
    assert "below .005 it warns" in told.found
    # what is no warning has no verdict: by segment the same difference may be shown
    assert "differ" not in told.found
    assert "Are as many units triggered in every arm?" in {row.question for row in fine.checks}
    assert noted(replace(fine, checks=(replace(told, p_value=0.024),))) == "info"
    assert noted(replace(fine, checks=(replace(told, p_value=0.026),))) == "ok"
    assert "untriggered_effect" not in {row.code for row in readout(honest, "revenue").checks}
    with pytest.raises(PlanError, match="makes its own segments"):
        settings("revenue", trigger="seen", segments=("seen",))


# ── rows that are units, by sums or one by one ──────────────────────────────────────────────────────────────────────


def as_texts(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same rows with numbers as texts: these are read unit by unit."""
    return [{key: None if cell is None else str(cell) for key, cell in row.items()} for row in rows]


def test_the_index_of_a_frame_is_no_column() -> None:
    """A filtered or joined pandas frame has an index of its own, which Arrow would carry along."""
    rows = units()
    frame = pd.DataFrame(rows)
    joined = pd.concat([frame[frame.arm == "B"], frame[frame.arm == "A"]])
    for given in (joined, frame.set_index(pd.Index(range(5, 5 + len(frame)), name="place"))):
        found = effect(readout(given, "revenue", unit="user", arm="arm"), "revenue")
        assert found.difference == effect(readout(rows, "revenue", unit="user", arm="arm"), "revenue").difference
