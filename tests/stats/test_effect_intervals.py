from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from rankstats.errors import RankstatsError
from rankstats.stats import effect_intervals, effect_sizes, paired_differences, paired_t
from rankstats.stats.effect_intervals import hedges_correction
from tests.stats.cases import Case, cases, golden, leaves_out_zero, levels


@pytest.mark.parametrize("name", ["p8", "p10ties", "p12sparse", "p5allpos", "p20", "p50skew"])
def test_estimates_equal_independent_programs(name: str) -> None:
    data, expected = golden("data")[name], golden("paired")["cases"][name]["python"]["effect"]
    result = effect_intervals(paired_differences(data["a"], data["b"]))
    assert_allclose(result.effect_size, expected["cohen_dz"], atol=1e-7)
    assert_allclose(result.hedges, expected["hedges_gz_exact_J"], atol=1e-7)
    assert_allclose(result.superiority, expected["prob_superiority_paired"], atol=1e-12)
    assert_allclose(result.common_language, stats.norm.cdf(expected["cohen_dz"]), atol=1e-7)


@pytest.mark.parametrize(("n", "shift"), [(2, 0.5), (3, 2.0), (5, 0.0), (12, -0.7), (50, 0.3), (400, 0.1), (30, 8.0)])
def test_ends_are_noncentralities(n: int, shift: float) -> None:
    d = paired_differences(np.zeros(n), np.random.default_rng(n).normal(shift, 1, n))
    result, t = effect_intervals(d, alpha=0.1), paired_t(d).statistic[0]
    low, high = result.effect_low[0] * np.sqrt(n), result.effect_high[0] * np.sqrt(n)
    assert_allclose(stats.nct.sf(t, n - 1, low), 0.05, atol=1e-6)
    assert_allclose(stats.nct.cdf(t, n - 1, high), 0.05, atol=1e-6)


@settings(deadline=None, max_examples=60)
@given(cases(most=80), levels)
def test_interval_leaves_out_zero_exactly_when_t_is_significant(case: Case, alpha: float) -> None:
    result, t = effect_intervals(case.differences, alpha=alpha), paired_t(case.differences, alpha=alpha)
    known = ~np.isnan(result.effect_low)
    significant = t.p_value[known] <= alpha
    for prefix, centre in (("effect", 0.0), ("common_language", 0.5)):
        low, high = getattr(result, f"{prefix}_low")[known], getattr(result, f"{prefix}_high")[known]
        clear = np.abs(t.p_value[known] - alpha) > 1e-9
        assert_array_equal(leaves_out_zero(low - centre, high - centre)[clear], significant[clear])
    assert np.all(result.effect_low[known] <= result.effect_size[known] + 1e-9)
    assert np.all(result.effect_size[known] <= result.effect_high[known] + 1e-9)
    assert_array_equal(np.isnan(result.effect_low), np.isnan(t.statistic))


@settings(deadline=None, max_examples=40)
@given(cases(most=60))
def test_mirror_image_scale_and_agreement_with_effect_sizes(case: Case) -> None:
    d = case.differences
    one, other, sizes = effect_intervals(d), effect_intervals(d.negated()), effect_sizes(d)
    assert_allclose(one.effect_size, sizes.effect_size, rtol=1e-12)
    assert_allclose(one.superiority, sizes.superiority, rtol=1e-12)
    assert_allclose(one.effect_low, -other.effect_high, atol=1e-12)
    assert_allclose(one.superiority_low, 1 - other.superiority_high, atol=1e-12)
    scaled = effect_intervals(paired_differences(4 * case.baseline, 4 * case.systems, case.weights))
    for name in ("effect_size", "effect_low", "hedges_high", "superiority_low"):
        assert_array_equal(getattr(one, name), getattr(scaled, name))


@settings(deadline=None, max_examples=40)
@given(cases(most=60))
def test_superiority_stays_within_its_bounds(case: Case) -> None:
    result = effect_intervals(case.differences)
    known = ~np.isnan(result.superiority_low)
    low, high = result.superiority_low[known], result.superiority_high[known]
    assert np.all((low >= -1e-12) & (high <= 1 + 1e-12) & (low < high))
    estimate = result.superiority[known]
    assert np.all((low <= estimate + 1e-12) & (estimate <= high + 1e-12))


@pytest.mark.parametrize(("wins", "losses"), [(7, 3), (10, 0), (0, 4), (55, 45)])
def test_superiority_without_ties_is_wilsons(wins: int, losses: int) -> None:
    n = wins + losses
    d = paired_differences(np.zeros(n), [1.0] * wins + [-1.0] * losses)
    result = effect_intervals(d)
    expected = proportion_confint(wins, n, 0.05, method="wilson")
    assert_allclose([result.superiority_low[0], result.superiority_high[0]], expected, atol=1e-9)


@pytest.mark.parametrize(("wins", "losses", "ties"), [(15, 5, 10), (14, 5, 30), (3, 9, 8), (12, 3, 2)])
def test_superiority_leaves_out_a_half_when_wins_and_losses_differ(wins: int, losses: int, ties: int) -> None:
    d = paired_differences(np.zeros(wins + losses + ties), [1.0] * wins + [-1.0] * losses + [0.0] * ties)
    result = effect_intervals(d)
    z = (wins - losses) / np.sqrt(wins + losses)
    outside = leaves_out_zero(result.superiority_low - 0.5, result.superiority_high - 0.5)[0]
    assert outside == (abs(z) > stats.norm.ppf(0.975))


def test_weighted() -> None:
    rng = np.random.default_rng(1)
    values, weights = rng.normal(0.4, 1, 30), rng.exponential(size=30)
    d = paired_differences(np.zeros(30), values, weights)
    result = effect_intervals(d)
    assert_allclose(result.superiority, weights[values > 0].sum() / weights.sum(), rtol=1e-9)
    doubled = effect_intervals(paired_differences(np.zeros(30), values, 2 * weights))
    assert_allclose(result.superiority_low, doubled.superiority_low, rtol=1e-9)
    even = effect_intervals(paired_differences(np.zeros(30), values))
    width = result.superiority_high - result.superiority_low
    assert width[0] > (even.superiority_high - even.superiority_low)[0]


def test_undefined() -> None:
    columns = np.column_stack([np.full(4, 0.1), np.zeros(4), [0.1, np.nan, np.nan, np.nan], np.full(4, np.nan)])
    result = effect_intervals(paired_differences(np.zeros((4, 4)), columns))
    assert np.isnan([result.effect_size, result.effect_low, result.hedges_high, result.common_language]).all()
    assert_array_equal(result.superiority, [1, 0.5, 1, np.nan])
    assert_array_equal(np.isnan(result.superiority_low), [False, True, False, True])
    with pytest.raises(RankstatsError, match="alpha"):
        effect_intervals(paired_differences([0.1, 0.2], [0.2, 0.1]), alpha=0)


def test_hedges_correction() -> None:
    assert_allclose(hedges_correction(np.array([10, 100])), 1 - 3 / (4 * np.array([10, 100]) - 1), rtol=1e-3)
    assert_array_equal(hedges_correction(np.array([0, 1])), [np.nan, 0])


@pytest.mark.slow
@pytest.mark.parametrize("n", [10, 25, 100])
def test_coverage(n: int) -> None:
    """Nominal .95; bands of four Monte Carlo standard errors, wider below for a discrete share at n = 10."""
    repetitions, rng = 2000, np.random.default_rng(n)
    band = 4 * np.sqrt(0.95 * 0.05 / repetitions)
    normal = effect_intervals(paired_differences(np.zeros((n, repetitions)), rng.normal(0.4, 1, (n, repetitions))))
    coverage = np.mean((normal.effect_low <= 0.4) & (normal.effect_high >= 0.4))
    assert abs(coverage - 0.95) < band
    for win, tie in ((0.5, 0.3), (0.2, 0.6), (0.8, 0.1)):
        draw = rng.random((n, repetitions))
        signs = np.where(draw < win, 1.0, np.where(draw < win + tie, 0.0, -1.0))
        result = effect_intervals(paired_differences(np.zeros((n, repetitions)), signs))
        true = win + tie / 2
        defined = ~np.isnan(result.superiority_low)
        covered = ((result.superiority_low <= true) & (result.superiority_high >= true))[defined]
        assert 0.95 - band - (0.015 if n == 10 else 0.005) < covered.mean() < 0.95 + band + 0.02
