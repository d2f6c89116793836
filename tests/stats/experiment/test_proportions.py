"""Proportions: against scipy, statsmodels, published intervals and the likelihood itself."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import optimize, stats
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from rankstats.errors import RankstatsError
from rankstats.stats import compare_proportions, proportion_interval
from tests.stats.experiment.arms import ALTERNATIVES, LEVELS

TABLES = st.tuples(st.integers(1, 60), st.integers(1, 400)).flatmap(
    lambda n: st.tuples(st.integers(0, n[0]), st.just(n[0]), st.integers(0, n[1]), st.just(n[1]))
)


@given(TABLES)
@settings(max_examples=40)
def test_tests_equal_scipy(table: tuple[int, int, int, int]) -> None:
    x1, n1, x2, n2 = table
    ours = compare_proportions(*table)
    counts = [[x2, n2 - x2], [x1, n1 - x1]]
    assert_allclose(ours.p_fisher[0], stats.fisher_exact(counts).pvalue, rtol=1e-12)
    if 0 < x1 + x2 < n1 + n2:
        for p, correction in ((ours.p_value[0], False), (ours.p_corrected[0], True)):
            # scipy moves the counts by ½ also where they differ from expectation by less
            theirs = stats.chi2_contingency(counts, correction=correction)
            assert_allclose(p, theirs.pvalue, rtol=1e-9, atol=1e-300)
    else:
        assert ours.p_value[0] == 1


@given(TABLES, st.sampled_from([0.01, 0.05, 0.2]))
@settings(max_examples=25)
def test_score_intervals_end_where_the_score_test_does(table: tuple[int, int, int, int], alpha: float) -> None:
    """The most likely shares with a given difference, as the root of the score equation, and the test at the ends."""
    x1, n1, x2, n2 = table
    ours, z = compare_proportions(*table, alpha=alpha), stats.norm.isf(alpha / 2)
    for end in (ours.low[0], ours.high[0]):
        if abs(end) > 1 - 1e-6:
            continue

        def slope(share: float, end: float = end) -> float:
            of_control = x1 / share - (n1 - x1) / (1 - share)
            return of_control + x2 / (share + end) - (n2 - x2) / (1 - share - end)

        low, high = max(0.0, -end) + 1e-13, min(1.0, 1 - end) - 1e-13
        share = low if slope(low) < 0 else high if slope(high) > 0 else optimize.brentq(slope, low, high, xtol=1e-15)
        variance = share * (1 - share) / n1 + (share + end) * (1 - share - end) / n2
        if variance > 1e-6:
            assert_allclose(abs(x2 / n2 - x1 / n1 - end) / np.sqrt(variance), z, rtol=1e-5)


def test_intervals_equal_published_ones() -> None:
    """Newcombe 1998, table II: methods 5 (Mee) and 10."""
    published = {
        (48, 80, 56, 70): ((0.0533, 0.3377), (0.0524, 0.3339)),
        (3, 10, 9, 10): ((0.1821, 0.8370), (0.1705, 0.8090)),
        (2, 7, 6, 7): ((0.0544, 0.8478), (0.0582, 0.8062)),
    }
    for table, (mee, newcombe) in published.items():
        ours = compare_proportions(*table)
        assert_allclose([ours.low[0], ours.high[0]], mee, atol=6e-5)
        assert_allclose([ours.newcombe_low[0], ours.newcombe_high[0]], newcombe, atol=6e-5)


@given(TABLES)
@settings(max_examples=30)
def test_newcombe_and_wald_equal_statsmodels(table: tuple[int, int, int, int]) -> None:
    x1, n1, x2, n2 = table
    ours = compare_proportions(*table)
    wald = confint_proportions_2indep(x2, n2, x1, n1, method="wald")
    newcombe = confint_proportions_2indep(x2, n2, x1, n1, method="newcomb")
    assert_allclose([ours.wald_low[0], ours.wald_high[0]], wald, atol=1e-12)
    assert_allclose([ours.newcombe_low[0], ours.newcombe_high[0]], newcombe, atol=1e-12)


@given(st.integers(0, 40), st.integers(0, 300), st.sampled_from([0.01, 0.05, 0.2]))
@settings(max_examples=50)
def test_single_intervals_equal_statsmodels(successes: int, failures: int, alpha: float) -> None:
    n = successes + failures
    for method, name in (("wilson", "wilson"), ("clopper-pearson", "beta")):
        low, high = proportion_interval(successes, n, alpha=alpha, method=method)
        if n == 0:
            assert np.isnan([low[0], high[0]]).all()
        else:
            assert_allclose([low[0], high[0]], proportion_confint(successes, n, alpha, name), atol=1e-12)


@given(TABLES, LEVELS, ALTERNATIVES)
@settings(max_examples=40)
def test_p_and_interval_agree(table: tuple[int, int, int, int], alpha: float, alternative: str) -> None:
    ours = compare_proportions(*table, alpha=alpha, alternative=alternative, family_size=3)
    assert bool(ours.p_value[0] <= alpha) == bool(ours.low[0] > 0 or ours.high[0] < 0)
    assert bool(ours.p_adjusted[0] <= alpha) == bool(ours.adjusted_low[0] > 0 or ours.adjusted_high[0] < 0)
    assert ours.low[0] <= ours.estimate[0] + 1e-12
    assert ours.estimate[0] <= ours.high[0] + 1e-12


@given(TABLES)
@settings(max_examples=25)
def test_exchanging_arms_or_outcomes_mirrors(table: tuple[int, int, int, int]) -> None:
    x1, n1, x2, n2 = table
    ours, swapped = compare_proportions(*table), compare_proportions(x2, n2, x1, n1)
    failures = compare_proportions(n1 - x1, n1, n2 - x2, n2)
    for other in (swapped, failures):
        assert_allclose(ours.p_value, other.p_value, rtol=1e-9)
        assert_allclose([ours.low, ours.high], [-other.high, -other.low], atol=1e-9)


def test_columns_and_empty_arms() -> None:
    many = compare_proportions([120, 0, 0], [2400, 10, 0], [151, 0, 5], [2410, 20, 10], family_size=2)
    alone = compare_proportions(120, 2400, 151, 2410, family_size=2)
    assert many.low[0] == alone.low[0]
    assert many.p_value[1] == 1
    assert np.isnan([many.p_value[2], many.low[2], many.p_fisher[2], many.p_corrected[2]]).all()
    assert many.to_dicts()[2]["p_value"] is None
    assert_array_equal(many.control_n, [2400, 10, 0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: compare_proportions(5, 4, 1, 2), "more successes than units"),
        (lambda: compare_proportions(0.5, 4, 1, 2), "whole numbers"),
        (lambda: compare_proportions(1, 4, 1, 2, alternative="more"), "alternative"),
        (lambda: proportion_interval(1, 2, method="wald"), "choose one of wilson"),
        (lambda: proportion_interval(1, 2, alpha=1.0), "between 0 and 1"),
    ],
)
def test_messages(call: Callable[[], object], message: str) -> None:
    with pytest.raises(RankstatsError, match=message):
        call()
