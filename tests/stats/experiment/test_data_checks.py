"""Sample ratio, winsorising and the permutation test of units."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from rankstats.errors import RankstatsError
from rankstats.stats import permutation_p, sample_ratio_test, unit_permutation_test, winsorising_cap
from tests.stats.experiment.arms import Arms, arms


@given(st.lists(st.integers(1, 3000), min_size=2, max_size=5), st.integers(0, 100))
@settings(max_examples=50)
def test_sample_ratio_equals_scipy(counts: list[int], seed: int) -> None:
    shares = np.random.default_rng(seed).random(len(counts)) + 0.1
    ours = sample_ratio_test(counts, shares)
    theirs = stats.chisquare(counts, shares / shares.sum() * sum(counts))
    assert_allclose([ours.statistic, ours.p_value], [theirs.statistic, theirs.pvalue], rtol=1e-9, atol=1e-300)
    assert ours.outcome == ("blocks" if ours.p_value < 0.001 else "warns" if ours.p_value < 0.01 else "ok")


def test_designs_and_outcomes() -> None:
    assert sample_ratio_test([9510, 490], [95, 5]).outcome == "ok"
    assert sample_ratio_test([9510, 490]).outcome == "blocks"
    assert sample_ratio_test([50321, 49412]).outcome == "warns"
    assert sample_ratio_test([50321, 49412]).contribution.sum() == pytest.approx(8.28493076514293)
    three = sample_ratio_test([100, 100, 100])
    assert [three.df, three.p_value, three.outcome] == [2, 1.0, "ok"]
    assert three.to_dicts()[0]["designed_share"] == pytest.approx(1 / 3)


def test_arms_without_units_and_units_without_arm() -> None:
    empty = sample_ratio_test([500, 510, 0])
    assert [empty.outcome, empty.df] == ["blocks", 2]
    # χ² of three units says nothing; an arm without any is worth a word
    small = sample_ratio_test([2, 1, 0])
    assert small.p_value > 0.01
    assert small.few
    assert small.outcome == "warns"
    nowhere = sample_ratio_test([500, 500, 1], [1, 1, 0])
    assert nowhere.outcome == "blocks"
    assert sample_ratio_test([500, 500, 0], [1, 1, 0]).outcome == "ok"


@given(arms(ratio=False), st.sampled_from([0.5, 0.8, 0.95, 0.999]))
@settings(max_examples=50)
def test_caps_by_their_definition(case: Arms, level: float) -> None:
    parts = [case.control[:, 0], case.treatment[:, 0]]
    together = np.sort(np.concatenate(parts))
    wanted = np.quantile(together, level, method="inverted_cdf")
    if together[0] < together[-1] and wanted == together[0]:
        with pytest.raises(RankstatsError, match="would cap every unit"):
            winsorising_cap(parts, level)
        return
    ours = winsorising_cap(parts, level)
    assert ours.cap == wanted
    assert_array_equal(ours.capped, [np.count_nonzero(part > wanted) for part in parts])
    assert max(part.max() for part in map(ours.apply, parts)) <= wanted
    # from how many units have which value
    counted = [np.unique(part, return_counts=True) for part in parts]
    aggregated = winsorising_cap([value for value, _ in counted], level, counts=[count for _, count in counted])
    assert aggregated.cap == ours.cap
    assert_array_equal(aggregated.capped, ours.capped)
    swapped = winsorising_cap(parts[::-1], level)
    assert swapped.cap == ours.cap


def test_a_cap_of_zero_is_refused() -> None:
    revenue = [np.r_[np.zeros(99), 50.0], np.r_[np.zeros(98), 20.0, 70.0]]
    with pytest.raises(RankstatsError, match=r"cap every unit at 0.*positive_only"):
        winsorising_cap(revenue, 0.95)
    assert winsorising_cap(revenue, 0.6, positive_only=True).cap == 50
    assert winsorising_cap(revenue, 0.999).capped.tolist() == [0, 0]
    # a metric that has one value anyway
    assert winsorising_cap([[2.0, 2.0], [2.0]], 0.9).cap == 2


def test_missing_values_are_no_values() -> None:
    ours = winsorising_cap([[1.0, np.nan, 5.0], [np.nan, 2.0]], 0.5)
    assert ours.n.tolist() == [2, 1]
    assert ours.cap == 2
    assert np.isnan(ours.apply([np.nan])[0])


def _studentised(a: list[float], b: list[float]) -> float:
    return abs(float(stats.ttest_ind(b, a, equal_var=False).statistic))


@pytest.mark.parametrize("sizes", [(4, 5), (3, 7), (6, 4)])
def test_exact_permutations_by_their_definition(sizes: tuple[int, int]) -> None:
    values = np.random.default_rng(sum(sizes) + sizes[0]).lognormal(size=sum(sizes))
    a, b = values[: sizes[0]], values[sizes[0] :]
    observed, reached, count = _studentised(list(a), list(b)), 0, 0
    for chosen in combinations(range(sum(sizes)), sizes[1]):
        inside = np.isin(np.arange(sum(sizes)), chosen)
        reached += _studentised(list(values[~inside]), list(values[inside])) >= observed - 1e-9
        count += 1
    ours = unit_permutation_test(a, b)
    assert ours.exact[0]
    assert ours.arrangements[0] == count
    assert ours.p_value[0] == reached / count


@pytest.mark.parametrize("kind", ["counts", "revenue"])
def test_drawn_permutations_agree_with_scipy(kind: str) -> None:
    rng = np.random.default_rng(1)
    a, b = (rng.poisson(3, 80), rng.poisson(3.5, 70)) if kind == "counts" else rng.lognormal(size=(2, 60))
    ours = unit_permutation_test(a, b, rng=3)

    def statistic(x: object, y: object, axis: int = -1) -> object:
        return np.abs(stats.ttest_ind(x, y, axis=axis, equal_var=False).statistic)

    theirs = stats.permutation_test(
        (b, a), statistic, vectorized=True, n_resamples=10_000, alternative="greater", rng=np.random.default_rng(2)
    )
    error = np.sqrt(2 * theirs.pvalue * (1 - theirs.pvalue) / 10_000)
    assert abs(ours.p_value[0] - theirs.pvalue) < 4.5 * error + 1e-4


@given(arms(most=12), st.sampled_from([0.01, 0.05, 0.2]))
@settings(max_examples=40)
def test_permutations_and_their_interval_agree(case: Arms, alpha: float) -> None:
    bottom = (case.control[:, 1], case.treatment[:, 1]) if case.ratio else (None, None)
    ours = unit_permutation_test(
        case.control[:, 0],
        case.treatment[:, 0],
        control_denominators=bottom[0],
        treatment_denominators=bottom[1],
        alpha=alpha,
        resamples=199,
    )
    assert 0 < ours.p_value[0] <= 1
    assert bool(ours.p_value[0] <= alpha) == bool(ours.low[0] > 0 or ours.high[0] < 0)
    assert_array_equal(ours.estimate, case.pair.difference)


def test_the_order_of_units_plays_no_part() -> None:
    rng = np.random.default_rng(5)
    for values in (rng.poisson(2, 300).astype(float), rng.normal(size=300)):
        one = unit_permutation_test(values[:150], values[150:], resamples=299)
        other = unit_permutation_test(rng.permutation(values[:150]), rng.permutation(values[150:]), resamples=299)
        assert one.p_value[0] == other.p_value[0]
        assert one.low[0] == other.low[0]


def test_permutations_from_how_many_units_have_which_value() -> None:
    rng = np.random.default_rng(8)
    a, b = rng.poisson(2, 300), rng.poisson(2.2, 250)
    (values_a, counts_a), (values_b, counts_b) = (np.unique(arm, return_counts=True) for arm in (a, b))
    of_units = unit_permutation_test(a, b, resamples=199)
    of_counts = unit_permutation_test(
        values_a, values_b, control_counts=counts_a, treatment_counts=counts_b, resamples=199
    )
    assert of_units.to_dicts() == of_counts.to_dicts()


def test_permutations_of_a_ratio_keep_rows_together() -> None:
    rng = np.random.default_rng(6)
    shown = 1.0 + rng.poisson(6, 400)
    clicks = rng.binomial(shown.astype(int), 0.3).astype(float)
    ours = unit_permutation_test(
        clicks[:200], clicks[200:], control_denominators=shown[:200], treatment_denominators=shown[200:], rng=1
    )
    pair_p = 2 * stats.norm.sf(abs(ours.statistic[0]))
    assert abs(ours.p_value[0] - pair_p) < 0.03


def test_no_spread() -> None:
    equal = unit_permutation_test([1.0, 1.0], [1.0, 1.0, np.nan])
    assert equal.p_value[0] == 1
    assert np.isnan(equal.low[0])
    apart = unit_permutation_test([1.0, 1.0], [2.0, 2.0])
    assert apart.p_value[0] == 1
    assert np.isinf(apart.low[0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sample_ratio_test([5]), "at least two arms"),
        (lambda: sample_ratio_test([5, 1.5]), "whole numbers"),
        (lambda: sample_ratio_test([0, 0]), "no arm has any units"),
        (lambda: sample_ratio_test([5, 5], [1, 1, 1]), "one for each of the 2 arms"),
        (lambda: sample_ratio_test([5, 5], [1, 0]), "more than 0 for two arms"),
        (lambda: winsorising_cap([[1.0, 2.0]], 1.0), "between 0 and 1"),
        (lambda: winsorising_cap([[np.nan]]), "no values"),
        (lambda: winsorising_cap([[np.inf]]), "finite"),
        (lambda: winsorising_cap([[0.0, -1.0]], positive_only=True), "no value is above 0"),
        (lambda: winsorising_cap([[1.0]], counts=[[1, 2]]), "of both is expected"),
        (lambda: winsorising_cap([[1.0]], counts=[[-1]]), "whole numbers"),
        (lambda: unit_permutation_test([np.nan], [1.0]), "both arms need units"),
        (lambda: unit_permutation_test([1.0], [1.0], control_denominators=[1.0]), "for both arms, or for none"),
        (lambda: unit_permutation_test([1.0], [1.0, 2.0], treatment_denominators=[1.0]), "shapes"),
        (lambda: unit_permutation_test([1.0], [1.0], control_counts=[1.5]), "whole number of units"),
        (lambda: permutation_p(5, 4, 10), "no more than the 4"),
        (lambda: permutation_p(1, 4, 0), "at least 1"),
    ],
)
def test_messages(call: Callable[[], object], message: str) -> None:
    with pytest.raises(RankstatsError, match=message):
        call()
