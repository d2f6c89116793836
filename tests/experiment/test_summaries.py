"""Summaries of parts of an experiment: merged they are one pass; what cannot merge is refused; what was asked stays."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as limits
from hypothesis import strategies as st

from rankstats.errors import InputError, PlanError, RankstatsError
from rankstats.experiment import (
    ExperimentSettings,
    ExperimentSummary,
    Readout,
    merge_summaries,
    metric_from_text,
    read_out,
    read_out_summary,
    read_summaries,
    read_summary,
    settings_of_summary,
    summarise_experiment,
    summary_bytes,
    summary_text,
)
from tests.experiment.made import Rows, check, codes, effect, events, units

METRICS = (
    replace(metric_from_text("revenue"), role="primary", covariate=("past",)),
    replace(metric_from_text("ctr = sum(clicks)/sum(impressions)"), role="primary", margin=0.01),
    replace(metric_from_text("paid = share(paid)"), role="guard", margin=0.05),
    replace(metric_from_text("clicks"), better="lower"),
)
ASKED = ExperimentSettings(
    unit="user",
    control="B",
    shares={"A": 0.5, "B": 0.5},
    metrics=METRICS,
    segments=("country",),
    time="when",
    alpha=0.04,
)


def made(n: int = 240, days: int = 3) -> Rows:
    """Events of units first exposed on one of some days; some rows come on the day after."""
    rows = events(units(n))
    for place, row in enumerate(rows):
        first = int(row["user"][1:]) % days
        row["first"] = first
        row["when"] = f"2024-05-0{1 + first + place % 2}T12:00:00"
    return rows


def by_day(rows: Rows) -> list[Rows]:
    return [[row for row in rows if row["first"] == day] for day in sorted({row["first"] for row in rows})]


def summaries(parts: list[Rows], asked: ExperimentSettings = ASKED, **options: Any) -> list[ExperimentSummary]:
    return [summarise_experiment(asked, rows=part, **options) for part in parts]


def content(summary: ExperimentSummary) -> str:
    """All that a summary says but for the files that it comes from."""
    return summary_text(replace(summary, sources=()))


def numbers(found: Readout) -> list[float | str]:
    """Every number of a readout in order, and every word."""

    def flat(value: Any) -> list[Any]:
        if isinstance(value, dict):
            return [leaf for key in sorted(value) for leaf in [key, *flat(value[key])]]
        return [leaf for item in value for leaf in flat(item)] if isinstance(value, list) else [value]

    told = found.to_dict()
    return flat(
        [told[key] for key in ("differences", "scores", "families", "heterogeneity", "segments", "verdict")]
    ) + flat({key: value for key, value in told["experiment"].items() if key != "checks"})


def assert_same(first: Readout, second: Readout) -> None:
    one, two = numbers(first), numbers(second)
    assert len(one) == len(two)
    for a, b in zip(one, two, strict=True):
        if isinstance(a, float) and isinstance(b, float):
            assert a == pytest.approx(b, rel=1e-9, abs=1e-12)
        else:
            assert a == b


# ── the merge law ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_daily_summaries_in_any_order_and_grouping_are_one_pass_to_the_last_bit() -> None:
    rows = made()
    days = summaries(by_day(rows), resamples=40, seed=3)
    whole = content(summarise_experiment(ASKED, rows=rows, resamples=40, seed=3))
    for order in permutations(days):
        assert content(merge_summaries(order)) == whole
        assert content(merge_summaries([order[0], merge_summaries(order[1:])])) == whole
        assert content(merge_summaries([merge_summaries(order[:2]), order[2]])) == whole


@given(part=st.lists(st.integers(0, 2), min_size=30, max_size=30), first=st.sampled_from([0, 1, 2]))
@limits(max_examples=6, deadline=None)
def test_any_division_of_the_units_merges_to_one_pass(part: list[int], first: int) -> None:
    rows = made(30)
    groups = [[row for row in rows if part[int(row["user"][1:])] == at] for at in range(3)]
    found = summaries([group for group in groups[first:] + groups[:first] if group], resamples=3)
    assert content(merge_summaries(found)) == content(summarise_experiment(ASKED, rows=rows, resamples=3))


def test_the_readout_of_merged_days_is_that_of_the_rows() -> None:
    rows = made()
    found = read_out_summary(merge_summaries(summaries(by_day(rows))))
    assert_same(found, read_out(ASKED, rows=rows))
    assert [day.day for day in found.days][:4] == ["2024-05-01", "2024-05-02", "2024-05-03", "2024-05-04"]
    assert found.audit["rows"] == {"experiment": len(rows), "kind": "summaries"}


def test_a_late_day_changes_only_what_it_should() -> None:
    days = by_day(made())
    early = merge_summaries(summaries(days[:2]))
    late = merge_summaries([early, *summaries(days[2:])])
    before, after = (read_out_summary(summary) for summary in (early, late))
    assert sum(unit.n for unit in after.units) == sum(unit.n for unit in before.units) + 80

    def of_day(found: Readout, day: str) -> list[Any]:
        return [row for row in found.days if row.day == day and row.measure == "ctr"]

    assert of_day(after, "2024-05-01") == of_day(before, "2024-05-01")
    assert of_day(after, "2024-05-02") == of_day(before, "2024-05-02")
    assert of_day(after, "2024-05-03") != of_day(before, "2024-05-03")
    assert not of_day(before, "2024-05-04")
    assert settings_of_summary(late) == settings_of_summary(early)


def test_a_day_without_units_of_an_arm_merges() -> None:
    days = by_day(made())
    lonely = [row for row in days[1] if row["arm"] == "A"]
    found = summaries([days[0], lonely, days[2]])
    assert set(found[1].units) == {"A"}
    whole = summarise_experiment(ASKED, rows=[*days[0], *lonely, *days[2]])
    assert content(merge_summaries(found)) == content(whole)
    with pytest.raises(PlanError, match="the control 'B' has no units"):
        read_out_summary(found[1])


def test_a_day_without_a_segment_or_without_missing_covariates_merges() -> None:
    rows = made()
    for row in rows:
        if row["first"] == 0:
            row["country"] = "de"
        elif row["user"].endswith("7"):
            row["past"] = None
    found = merge_summaries(summaries(by_day(rows)))
    assert content(found) == content(summarise_experiment(ASKED, rows=rows))
    assert_same(read_out_summary(found), read_out(ASKED, rows=rows))


def test_missing_values_and_units_in_two_arms_are_counted_over_all_days() -> None:
    rows = made()
    rows += [{**rows[0], "arm": "A" if rows[0]["arm"] == "B" else "B"}]
    for row in rows:
        if row["user"].endswith("9"):
            row["clicks"] = None
    found, whole = read_out_summary(merge_summaries(summaries(by_day(rows)))), read_out(ASKED, rows=rows)
    assert check(found, "two_arms") == check(whole, "two_arms")
    assert check(found, "two_arms").outcome == "warns"
    assert check(found, "missing_values").found == check(whole, "missing_values").found
    assert "empty_cells" in codes(found)


def test_a_dominating_unit_is_found_in_the_sums() -> None:
    rows = made()
    rows[5]["revenue"] = 900.0
    found, whole = read_out_summary(merge_summaries(summaries(by_day(rows)))), read_out(ASKED, rows=rows)
    assert check(found, "dominant_unit").found == check(whole, "dominant_unit").found
    assert rows[5]["user"] in check(found, "dominant_unit").found
    assert_same(found, whole)


def test_unequal_arms_of_skewed_values_are_warned_of() -> None:
    rows = [row for row in made(900) if row["arm"] == "A" or int(row["user"][1:]) % 9 == 0]
    for row in rows:
        row["revenue"] = row["revenue"] * (40.0 if int(row["user"][1:]) % 50 == 0 else 1.0)
    found = read_out_summary(merge_summaries(summaries(by_day(rows))))
    whole = read_out(ASKED, rows=rows)
    assert [row.outcome for row in whole.checks if row.code == "unequal_arms"].count("warns") >= 1
    assert [(row.found, row.outcome) for row in found.checks if row.code == "unequal_arms"] == [
        (row.found, row.outcome) for row in whole.checks if row.code == "unequal_arms"
    ]


# ── what is asked survives ────────────────────────────────────────────────────────────────────────────────────────────


def test_roles_directions_margins_covariates_segments_shares_and_control_survive() -> None:
    summary = merge_summaries(summaries(by_day(made())))
    held = settings_of_summary(summary)
    assert held.metrics == METRICS
    assert (held.unit, held.control, held.shares, held.segments) == ("user", "B", {"A": 0.5, "B": 0.5}, ("country",))
    assert (held.alpha, held.time) == (0.04, "when")
    found = read_out_summary(summary)
    assert (found.baseline, found.primary, found.alpha) == ("B", ("revenue", "ctr"), 0.04)
    assert [guard.measure for guard in found.guards] == ["paid"]
    row = effect(found, "revenue")
    assert row.adjusted_for == ("past",)
    assert row.variance_reduction is not None
    assert row.variance_reduction > 0.3
    assert not effect(found, "clicks").higher_is_better
    assert effect(found, "ctr").margin == 0.01
    assert {segment.value for segment in found.segments} == {"de", "fr", "it"}


def test_readers_may_choose_metrics_and_level_anew_but_not_what_was_added_up() -> None:
    summary = summarise_experiment(ASKED, rows=made())
    only = replace(METRICS[3], role="primary")
    found = read_out_summary(summary, ExperimentSettings(metrics=(only,), alpha=0.1))
    assert (found.primary, found.alpha) == (("clicks",), 0.1)
    for changed, message in [
        (ExperimentSettings(metrics=(replace(metric_from_text("clicks = mean(paid)"), role="primary"),)), "expression"),
        (ExperimentSettings(metrics=(replace(METRICS[3], covariate=("past",)),)), "covariate"),
        (ExperimentSettings(metrics=(metric_from_text("clicsk"),)), "did you mean 'clicks'"),
        (ExperimentSettings(segments=("countr",)), "did you mean 'country'"),
        (ExperimentSettings(time="ts"), "cannot be had from a summary"),
        (ExperimentSettings(trigger="seen"), "trigger = 'seen' cannot be had"),
        (ExperimentSettings(control="C"), "has no share"),
    ]:
        with pytest.raises(PlanError, match=message):
            read_out_summary(summary, changed)


def test_equal_caps_merge_and_are_the_cap_of_all() -> None:
    rows = made()
    for row in rows:
        row["revenue"] = float(int(row["user"][1:]) // 3 % 20) if row["revenue"] else 0.0
    asked = replace(ASKED, metrics=(replace(METRICS[0], winsorise=0.9, covariate=()),), time=None)
    found = merge_summaries(summaries(by_day(rows), asked))
    whole = read_out(asked, rows=rows)
    assert content(found) == content(summarise_experiment(asked, rows=rows))
    assert_same(read_out_summary(found), whole)
    assert read_out_summary(found).caps == whole.caps
    assert sum(whole.caps[0].capped.values()) > 0


def test_resamples_stand_beside_the_test_and_have_its_standard_error() -> None:
    rows = made(600)
    found = read_out_summary(merge_summaries(summaries(by_day(rows), resamples=400, seed=1)))
    for measure in ("ctr", "clicks"):
        row = effect(found, measure)
        (other,) = [also for also in row.also if also.test.startswith("Poisson bootstrap (400 resamples")]
        assert other.interval is not None
        assert row.interval is not None
        wide = [ends.high - ends.low for ends in (other.interval, row.interval)]  # type: ignore[operator]  # both are bounded
        assert wide[0] / wide[1] == pytest.approx(1, abs=0.2)
    whole = read_out_summary(summarise_experiment(ASKED, rows=rows, resamples=400, seed=1))
    assert whole.differences == found.differences


# ── what cannot merge ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_quantiles_and_resamples_without_units_are_refused() -> None:
    rows = made(40)
    with pytest.raises(PlanError, match="'p95' is a quantile"):
        summarise_experiment(replace(ASKED, metrics=(metric_from_text("p95 = quantile(revenue, 0.95)"),)), rows=rows)
    nameless = [{"arm": row["arm"], "revenue": row["revenue"]} for row in rows]
    asked = ExperimentSettings(metrics=(replace(metric_from_text("revenue"), role="primary"),))
    with pytest.raises(PlanError, match="by the id of the unit"):
        summarise_experiment(asked, rows=nameless, resamples=10)
    assert summarise_experiment(asked, rows=nameless).sketch is None


def test_units_in_two_summaries_are_refused() -> None:
    days = by_day(made())
    shared = [*days[1], days[0][0]]
    with pytest.raises(InputError, match=r"tuesday: has 1 unit in common with monday"):
        merge_summaries(summaries([days[0], shared]), ["monday", "tuesday"])
    (day,) = summaries(days[:1])
    with pytest.raises(InputError, match="has 80 units in common"):
        merge_summaries([day, day])


def test_rows_without_units_are_told_apart_by_their_file() -> None:
    asked = ExperimentSettings(metrics=(replace(metric_from_text("revenue"), role="primary"),))
    nameless = [{"arm": row["arm"], "revenue": row["revenue"]} for row in made(40)]
    first, second = summaries([nameless[:30], nameless[30:]], asked)
    assert merge_summaries([first, second]).n == len(nameless)
    with pytest.raises(InputError, match="rows of a file that summary 1 holds too"):
        merge_summaries([first, first])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"metrics": METRICS[:3]}, "metric.clicks is not given there"),
        (
            {"metrics": (*METRICS[:2], replace(METRICS[2], margin=0.1), METRICS[3])},
            "metric.paid.margin is 0.1 there",
        ),
        ({"metrics": (*METRICS[:3], replace(METRICS[3], role="primary"))}, "metric.clicks.role is 'primary' there"),
        ({"metrics": (METRICS[1], METRICS[0], *METRICS[2:])}, "metric is "),
        ({"segments": ()}, "comparison.segments is"),
        ({"control": "A"}, "control is 'A' there, 'B' in the first"),
        ({"shares": {"A": 0.4, "B": 0.6}}, "shares.A is 0.4 there"),
        ({"alpha": 0.05}, "statistics.alpha is 0.05 there, 0.04 in the first"),
        ({"time": None}, "time is not given there, 'when' in the first"),
    ],
)
def test_other_plans_are_refused_by_name(changed: dict[str, Any], message: str) -> None:
    days = by_day(made(60))
    one, two = summarise_experiment(ASKED, rows=days[0]), summarise_experiment(replace(ASKED, **changed), rows=days[1])
    with pytest.raises(InputError, match=r"not of the same plan as a\.json") as caught:
        merge_summaries([one, two], ["a.json", "b.json"])
    assert str(caught.value).startswith("b.json: ")
    assert message in str(caught.value)


def test_other_seeds_caps_and_quantile_segments_are_refused() -> None:
    days = by_day(made(90))
    one, two = summaries(days[:1], resamples=5)[0], summaries(days[1:2], resamples=5, seed=1)[0]
    with pytest.raises(InputError, match="5 resamples of seed 1 there, 5 of seed 0"):
        merge_summaries([one, two])
    capped = replace(ASKED, metrics=(replace(METRICS[0], winsorise=0.9), *METRICS[1:]))
    with pytest.raises(InputError, match=r"metric 'revenue' is capped at .* in summary 1 at"):
        merge_summaries(summaries(days, capped))
    nothing = [{**row, "revenue": None} for row in days[0]]
    with pytest.raises(InputError, match=r"summary 3: metric 'revenue' is capped at .* in summary 2 at"):
        merge_summaries(summaries([nothing, *days[1:]], capped))
    assert merge_summaries(summaries([nothing, days[1]], capped)).n == 60
    classes = replace(ASKED, segments=("past:q4",))
    parts = summaries(days, classes)
    assert_same(read_out_summary(parts[0]), read_out(classes, rows=days[0]))
    with pytest.raises(InputError, match="'past:q4' is cut at quantiles"):
        merge_summaries(parts)


# ── files ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    paths = []
    for place, summary in enumerate(summaries(by_day(made()), resamples=6)):
        path = tmp_path / f"day{place}.json"
        path.write_bytes(summary_bytes(summary, compressed=place == 1))
        paths.append(path)
    return paths


def test_files_read_back_whole_and_merge(files: list[Path]) -> None:
    for path in files:
        again = read_summary(path)
        stored = path.read_bytes()
        assert summary_bytes(again, compressed=stored.startswith(b"\x1f\x8b")) == stored
    found = read_out(ExperimentSettings(rows=tuple((None, str(path)) for path in files)))
    assert_same(found, read_out_summary(read_summaries(files)))
    assert [row["name"] for row in found.reproduction["inputs"]] == [str(path) for path in files]
    assert found.alpha == 0.04


def test_damage_other_versions_and_edits_are_told(files: list[Path], tmp_path: Path) -> None:
    text = files[0].read_text(encoding="utf-8")
    path = tmp_path / "bad.json"
    whole = json.loads(text)
    edited = {**whole, "summary": {**whole["summary"], "rows": 7}}
    for content_, message in [
        (text[:-300], "damaged summary, perhaps cut short"),
        (json.dumps(edited), "does not fit its digest"),
        (json.dumps({**whole, "version": 2}), "is a summary of version 2"),
        ('{"format":"rankstats experiment summary"}', "damaged"),
    ]:
        path.write_text(content_, encoding="utf-8")
        with pytest.raises(InputError, match=message) as caught:
            read_out(ExperimentSettings(rows=((None, str(path)),)))
        assert str(caught.value).startswith(str(path))
    path.write_bytes(gzip.compress(text.encode())[:-40])
    with pytest.raises(RankstatsError):
        read_summary(path)
    path.write_text(json.dumps(whole, indent=2), encoding="utf-8")
    assert summary_text(read_summary(path)) == text


def test_summaries_do_not_mix_with_rows_or_arms(files: list[Path], tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("user,arm,revenue\nu,A,1\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"rows.csv: is no summary"):
        read_out(ExperimentSettings(rows=((None, str(files[0])), (None, str(rows)))))
    with pytest.raises(InputError, match="holds all arms"):
        read_out(ExperimentSettings(rows=(("A", str(files[0])), ("B", str(files[2])))))


def test_nothing_of_a_summary_depends_on_the_order_of_rows() -> None:
    rows = made()
    mixed = [rows[i] for i in np.random.default_rng(2).permutation(len(rows))]
    assert content(summarise_experiment(ASKED, rows=mixed)) == content(summarise_experiment(ASKED, rows=rows))
