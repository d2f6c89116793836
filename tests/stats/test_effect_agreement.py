"""Agreement of two sets of effects against scipy, its intervals by simulation, and what is undefined."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rankstats.errors import RankstatsError
from rankstats.stats import effect_agreement

EFFECTS = st.lists(st.tuples(st.integers(-5, 5), st.integers(-5, 5)), max_size=30)


def test_correlations_and_signs_are_those_of_scipy() -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(size=25)
    y = x + rng.normal(size=25)
    found = effect_agreement(x, y, alpha=0.1)
    assert found.kendall.value == pytest.approx(stats.kendalltau(x, y).statistic)
    assert found.spearman.value == pytest.approx(stats.spearmanr(x, y).statistic)
    pearson = stats.pearsonr(x, y)
    assert found.pearson.value == pytest.approx(pearson.statistic)
    low, high = pearson.confidence_interval(0.9)
    assert (found.pearson.low, found.pearson.high) == pytest.approx((low, high))
    same = int(np.sum(x * y > 0))
    exact = stats.binomtest(same, 25).proportion_ci(0.9, method="exact")
    assert (found.same_low, found.same_high) == pytest.approx((exact.low, exact.high))
    assert found.sign_p_value == pytest.approx(stats.binomtest(same, 25).pvalue)


@given(EFFECTS, st.sampled_from([0.01, 0.05, 0.2]))
def test_signs_interval_and_p_agree_and_sides_can_be_exchanged(pairs: list[tuple[int, int]], alpha: float) -> None:
    x, y = ([float(pair[side]) for pair in pairs] for side in (0, 1))
    found, turned = effect_agreement(x, y, alpha=alpha), effect_agreement(y, x, alpha=alpha)
    assert (found.same, found.opposite, found.n) == (turned.same, turned.opposite, len(pairs))
    assert found.same + found.opposite == sum(a * b != 0 for a, b in pairs)
    if found.same + found.opposite:
        assert (found.sign_p_value <= alpha) == (not found.same_low < 0.5 < found.same_high)
        assert found.same_low <= found.same_share <= found.same_high
    mirrored = effect_agreement([-v for v in x], y, alpha=alpha)
    assert (mirrored.same, mirrored.opposite) == (found.opposite, found.same)
    for name, correlation in found.correlations.items():
        other = mirrored.correlations[name]
        assert [correlation.value, correlation.low, correlation.high] == pytest.approx(
            [-other.value, -other.high, -other.low], nan_ok=True, abs=1e-12
        )
        if not math.isnan(correlation.low):
            assert -1 <= correlation.low <= correlation.value <= correlation.high <= 1


def test_few_pairs_have_no_correlation_or_no_interval() -> None:
    three = effect_agreement([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
    assert math.isnan(three.kendall.value)
    assert (three.same, three.opposite) == (3, 0)
    nine = effect_agreement(np.arange(9.0), np.arange(9.0) ** 2)
    assert nine.kendall.value == 1
    assert math.isnan(nine.kendall.low)
    assert math.isnan(nine.spearman.low)
    assert nine.pearson.low < nine.pearson.value
    ten = effect_agreement(np.arange(10.0), np.arange(10.0) ** 2)
    assert 0.5 < ten.kendall.low < 1
    assert ten.kendall.high == 1


def test_what_is_undefined_is_left_out_and_what_is_constant_has_no_correlation() -> None:
    found = effect_agreement([1.0, math.nan, 2.0, -1.0, 3.0, 4.0], [1.0, 1.0, math.nan, -1.0, 2.0, 3.0])
    assert (found.n, found.same) == (4, 4)
    flat = effect_agreement([1.0] * 12, np.arange(12.0))
    assert math.isnan(flat.pearson.value)
    assert (flat.same, flat.n) == (11, 12)
    nothing = effect_agreement([], [])
    assert (nothing.n, nothing.same) == (0, 0)
    assert math.isnan(nothing.same_share)
    for wrong in (([1.0], [1.0, 2.0]), ([math.inf], [1.0])):
        with pytest.raises(RankstatsError):
            effect_agreement(*wrong)


def test_huge_and_tiny_effects_do_not_overflow() -> None:
    x = np.array([1e-300, 2e-300, 3e-300, 5e-300])
    assert effect_agreement(x, x * 1e305 * 1e300).pearson.value == pytest.approx(1)


@pytest.mark.slow
@pytest.mark.parametrize("n", [10, 20, 40])
def test_intervals_of_rank_correlations_cover(n: int) -> None:
    rng, rho, draws = np.random.default_rng(n), 0.5, 2_000
    truths = {
        "kendall_tau_b": 2 / math.pi * math.asin(rho),
        "spearman_rho": 6 / math.pi * math.asin(rho / 2),
        "pearson_r": rho,
    }
    covered = dict.fromkeys(truths, 0)
    for _ in range(draws):
        x = rng.normal(size=n)
        found = effect_agreement(x, rho * x + math.sqrt(1 - rho**2) * rng.normal(size=n))
        for name, truth in truths.items():
            correlation = found.correlations[name]
            covered[name] += correlation.low <= truth <= correlation.high
    for name, hits in covered.items():
        assert 0.92 < hits / draws < 0.985, (name, hits / draws)


def test_pairs_on_one_line_have_no_interval_of_r() -> None:
    for slope in (2.0, -0.1):
        found = effect_agreement([1.0, 2.0, 3.0, 7.0], [slope * x for x in (1.0, 2.0, 3.0, 7.0)])
        assert abs(found.pearson.value) == pytest.approx(1.0)
        assert math.isnan(found.pearson.low + found.pearson.high)
