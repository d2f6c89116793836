"""Segments that share units, and the order of several rankers, by their definitions."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from rankstats.errors import RankstatsError
from rankstats.stats import (
    interleaving_test,
    paired_differences,
    paired_t,
    ranker_scores,
    segment_preferences,
    team_draft_credits,
)


def test_two_segments_of_the_same_units_are_a_paired_t_test() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.normal(0.2, 1.0, 30), rng.normal(0.0, 1.0, 30)
    found = segment_preferences(np.r_[first, second], np.repeat(["x", "y"], 30), np.tile(np.arange(30), 2))
    wanted = stats.ttest_rel(first, second)
    assert found.statistic == pytest.approx(wanted.statistic**2)
    assert found.p_value == pytest.approx(wanted.pvalue, abs=0.02)
    assert found.standard_error == pytest.approx([stats.sem(first), stats.sem(second)])


def test_more_segments_of_the_same_units_are_hotellings_test() -> None:
    rng = np.random.default_rng(1)
    table = rng.normal(0.0, 1.0, (25, 4)) + rng.normal(0.0, 1.0, (25, 1))
    found = segment_preferences(table.ravel(), np.tile(list("abcd"), 25), np.repeat(np.arange(25), 4))
    contrasts = table[:, 1:] - table[:, :1]
    mean, spread = contrasts.mean(axis=0), np.cov(contrasts, rowvar=False)
    squared = 25 * mean @ np.linalg.solve(spread, mean)
    wanted = squared * 22 / (3 * 24)
    assert found.statistic == pytest.approx(wanted)
    # flips of whole units, with no more noise than 10,000 of them have
    assert found.p_value == pytest.approx(stats.f.sf(wanted, 3, 22), abs=0.02)
    assert (
        found.p_value
        == segment_preferences(table.ravel(), np.tile(list("abcd"), 25), np.repeat(np.arange(25), 4)).p_value
    )


def test_thousands_of_units_need_no_flips() -> None:
    rng = np.random.default_rng(6)
    first, second = rng.normal(0.02, 1.0, 2500), rng.normal(0.0, 1.0, 2500)
    found = segment_preferences(np.r_[first, second], np.repeat(["x", "y"], 2500), np.tile(np.arange(2500), 2))
    assert found.p_value == pytest.approx(stats.ttest_rel(first, second).pvalue)


def test_flips_by_their_definition() -> None:
    """Every statistic again, from outcomes whose deviations from the common mean are flipped by hand."""
    rng = np.random.default_rng(7)
    units, segments = rng.integers(0, 9, 80), rng.integers(0, 3, 80)
    outcomes = rng.choice([-0.5, 0.0, 0.5], 80)
    found = segment_preferences(outcomes, segments, units, resamples=199, rng=5)
    signs = 2 * np.random.default_rng(5).integers(0, 2, (199, 9)) - 1
    beyond = sum(
        not segment_preferences(signs[b][units] * (outcomes - outcomes.mean()), segments, units, resamples=1).statistic
        < found.statistic
        for b in range(199)
    )
    assert found.p_value == (beyond + 1) / 200


@pytest.mark.parametrize("between", [True, False])
def test_level_where_units_are_few_and_some_heavy(between: bool) -> None:
    """Of 300 logs at .1, 14 to 48 rejections are within 99.9 % of the binomial."""
    rng = np.random.default_rng(8)
    rejected = 0
    for _ in range(300):
        units = np.repeat(np.arange(20), 1 + rng.poisson(10 * rng.gamma(0.6, 1.6, 20)))
        outcomes = np.where(rng.random(len(units)) < 0.5 + rng.normal(0.0, 0.2, 20)[units], 0.5, -0.5)
        segments = rng.integers(0, 3, 20)[units] if between else rng.integers(0, 3, len(units))
        found = segment_preferences(outcomes, segments, units, least_n=10, resamples=199)
        rejected += bool(found.p_value <= 0.1)
    assert 14 <= rejected <= 48


def test_level_where_heavy_units_are_in_all_segments() -> None:
    """Of 400 logs without heterogeneity at .05, 6 to 36 rejections are within 99.9 % of the binomial."""
    rng = np.random.default_rng(2)
    rejected = 0
    for _ in range(400):
        units = np.repeat(np.arange(60), 1 + rng.poisson(6 * rng.gamma(0.5, 1.0, 60)))
        outcomes = np.sign(rng.normal(rng.normal(0.0, 1.0, 60)[units], 1.0)) / 2
        found = segment_preferences(outcomes, rng.integers(0, 3, len(units)), units, resamples=199)
        rejected += bool(found.p_value <= 0.05)
    assert 6 <= rejected <= 36


def test_small_segments_absent_outcomes_and_no_spread() -> None:
    found = segment_preferences([0.5, np.nan, -0.5, 0.5, 0.5, 0.5], list("aabbbc"), list("uvuvwu"), least_n=2)
    assert found.segment.tolist() == ["b"]
    assert np.isnan(found.p_value)
    # one unit is no evidence of a segment
    assert segment_preferences([0.5, 0.5, -0.5, 0.5], list("aabb"), list("uuvw")).segment.tolist() == ["b"]
    assert segment_preferences([0.5] * 6, list("aaabbb"), list("uvwuvw")).p_value == 1.0
    assert len(segment_preferences([], [], []).n) == 0
    with pytest.raises(RankstatsError, match="one number for each impression"):
        segment_preferences([[0.5]], ["a"])


def test_scores_of_all_pairs_are_mean_shares() -> None:
    rng = np.random.default_rng(3)
    pairs = list(combinations(range(5), 2))
    size = rng.uniform(-0.3, 0.3, len(pairs))
    found = ranker_scores([a for a, _ in pairs], [b for _, b in pairs], size, [False] * 10, rankers=5)
    shares = np.full((5, 5), np.nan)
    for (a, b), one in zip(pairs, size, strict=True):
        shares[b, a], shares[a, b] = 0.5 + one, 0.5 - one
    assert found.score == pytest.approx(np.nanmean(shares, axis=1))
    assert found.rank.tolist() == stats.rankdata(-found.score).astype(int).tolist()
    assert found.low.tolist() == [1] * 5
    assert found.high.tolist() == [5] * 5
    assert found.may_be_best.all()


def test_rankers_that_never_met_have_no_order() -> None:
    found = ranker_scores([0, 2], [1, 3], [0.1, 0.1], [True, True], rankers=4)
    assert np.isnan(found.score).all()
    assert found.rank.tolist() == [0] * 4
    assert found.low.tolist() == [2, 1, 2, 1]
    with pytest.raises(RankstatsError, match="one entry for each pair"):
        ranker_scores([0], [1, 2], [0.1], [True], rankers=3)


def test_levels_beside_the_tested_one_are_left_out_on_request() -> None:
    rng = np.random.default_rng(4)
    credits = team_draft_credits(np.repeat(np.arange(60), 2), np.tile([-1, 1], 60), rng.integers(0, 2, 120))
    units, queries = rng.integers(0, 20, 60), rng.integers(0, 9, 60)
    whole = interleaving_test(credits, units=units, queries=queries, resamples=499)
    alone = interleaving_test(credits, units=units, queries=queries, resamples=499, beside=False)
    assert whole.p_value == alone.p_value
    assert (whole.low_unit[0], whole.high_unit[0]) == (whole.low[0], whole.high[0])
    assert np.isnan([alone.p_query[0], alone.low_impression[0]]).all()
    for level in ("unit", "query", "impression"):
        p, low, high = (getattr(whole, f"{part}_{level}")[0] for part in ("p", "low", "high"))
        assert bool(p <= 0.05) == bool(low > 0 or high < 0)


def test_the_standard_error_is_that_between_units() -> None:
    rng = np.random.default_rng(5)
    clicks = rng.integers(0, 2, (50, 2))
    credits = team_draft_credits(np.repeat(np.arange(50), 2), np.tile([-1, 1], 50), clicks.ravel())
    seen = clicks.sum(axis=1) > 0
    values = (np.sign(clicks[:, 1] - clicks[:, 0]) / 2)[seen]
    alone = interleaving_test(credits, resamples=99)
    assert alone.standard_error[0] == pytest.approx(
        paired_t(paired_differences(np.zeros(len(values)), values)).standard_error[0]
    )
    units = rng.integers(0, 12, 50)
    of_units = interleaving_test(credits, units=units, resamples=99)
    sums = np.bincount(units[seen], values - values.mean())
    groups = len(np.unique(units[seen]))
    kept = np.unique(units[seen])
    wanted = np.sqrt(groups / (groups - 1) * np.sum(sums[kept] ** 2)) / len(values)
    assert of_units.standard_error[0] == pytest.approx(wanted)
