from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from statsmodels.stats.weightstats import DescrStatsW

from rankstats.errors import RankstatsError
from rankstats.stats import mean_interval, paired_differences, paired_t, sign_test
from tests.stats.cases import Case, alternatives, cases, golden, leaves_out_zero

PAIRED = ["p8", "p10ties", "p12sparse", "p5allpos", "p20", "p50skew"]


@settings(deadline=None)
@given(cases(), st.floats(1e-6, 0.999), alternatives)
def test_p_and_interval_agree_exactly(case: Case, alpha: float, alternative: str) -> None:
    result = paired_t(case.differences, alpha=alpha, alternative=alternative)
    assert_array_equal(result.p_value <= alpha, leaves_out_zero(result.low, result.high))
    assert np.all(result.p_value[result.n > 0] > 0)


@settings(deadline=None)
@given(cases(most=40), st.integers(0, 2), alternatives)
def test_they_agree_at_the_p_value_itself(case: Case, column: int, alternative: str) -> None:
    p = paired_t(case.differences, alternative=alternative).p_value[column]
    if not 0 < p < 0.999:
        return
    for alpha in (np.nextafter(p, 0), p, np.nextafter(p, 1)):
        result = paired_t(case.differences, alpha=float(alpha), alternative=alternative)
        assert_array_equal(result.p_value <= alpha, leaves_out_zero(result.low, result.high))


@pytest.mark.parametrize("name", PAIRED)
def test_t_equals_r(name: str) -> None:
    data, expected = golden("data")[name], golden("paired")["cases"][name]["R"]["t_test"]
    d = paired_differences(data["a"], data["b"])
    result = paired_t(d)
    assert_allclose(result.statistic, expected["t"], atol=1e-6)
    assert_allclose(result.p_value, expected["p_two"], atol=1e-9)
    assert_allclose([result.low[0], result.high[0]], expected["ci95"], atol=1e-9)
    assert_allclose(paired_t(d, alternative="greater").p_value, expected["p_greater"], atol=1e-9)
    assert_allclose(paired_t(d, alternative="less").p_value, expected["p_less"], atol=1e-9)
    wide = paired_t(d, alpha=0.01)
    assert_allclose([wide.low[0], wide.high[0]], expected["ci99"], atol=1e-9)


def test_weighted_t_equals_r_survey() -> None:
    reference = golden("weighted")
    expected = reference["p20"]
    result = paired_t(paired_differences(reference["a"], reference["b"], expected["w"]))
    assert_allclose(result.statistic, expected["paired_t_weighted"]["t"], atol=1e-7)
    assert_allclose(result.p_value, expected["paired_t_weighted"]["df_n_minus_1"]["p"], atol=1e-9)
    assert_allclose([result.low[0], result.high[0]], expected["svymean_ci_df19"], atol=1e-9)


@settings(deadline=None)
@given(cases(most=60, weights=False), alternatives)
def test_t_equals_scipy(case: Case, alternative: str) -> None:
    d = case.differences
    ours = paired_t(d, alternative=alternative)
    for column in np.flatnonzero(d.standard_error > 1e-6):
        values = d.values[d.present[:, column], column]
        theirs = stats.ttest_1samp(values, 0, alternative=alternative)
        assert_allclose(ours.statistic[column], theirs.statistic, rtol=1e-7, atol=1e-9)
        assert_allclose(ours.p_value[column], max(theirs.pvalue, 2.3e-308), rtol=1e-5)


def test_t_without_spread_is_defined() -> None:
    columns = np.column_stack([np.full(4, 0.1), np.zeros(4), [0.1, np.nan, np.nan, np.nan], np.full(4, np.nan)])
    result = paired_t(paired_differences(np.zeros((4, 4)), columns))
    assert_array_equal(result.p_value, [1, 1, 1, np.nan])
    assert np.isnan(result.statistic).all()
    assert_array_equal(result.low, [-np.inf, np.nan, -np.inf, np.nan])


def test_p_is_never_zero() -> None:
    values = 1 + np.random.default_rng(1).normal(0, 0.01, 7000)
    d = paired_differences(np.zeros(7000), values)
    assert paired_t(d).p_value[0] > 0
    assert sign_test(d).p_value[0] > 0


def test_mean_interval_equals_statsmodels() -> None:
    values = np.random.default_rng(1).random((30, 2))
    result = mean_interval(values)
    low, high = DescrStatsW(values).tconfint_mean()
    assert_allclose(result.low, low, atol=1e-9)
    assert_allclose(result.high, high, atol=1e-9)
    assert_allclose(result.mean, values.mean(axis=0), atol=1e-9)


def test_mean_interval_of_constants_of_one_and_of_none() -> None:
    result = mean_interval([[0.5, 0.5, np.nan], [0.5, np.nan, np.nan]])
    assert_array_equal(result.low, [0.5, -np.inf, np.nan])
    assert_array_equal(result.high, [0.5, np.inf, np.nan])


@pytest.mark.parametrize("name", PAIRED)
def test_sign_test_equals_r(name: str) -> None:
    data, expected = golden("data")[name], golden("paired")["cases"][name]["R"]["sign"]
    d = paired_differences(data["a"], data["b"])
    result = sign_test(d)
    assert [result.wins[0], result.losses[0], result.ties[0]] == [expected[k] for k in ("pos", "neg", "zero")]
    assert_allclose(result.p_value, expected["p_two"], rtol=1e-12)
    assert_allclose(sign_test(d, alternative="greater").p_value, expected["p_greater"], rtol=1e-12)


@settings(deadline=None)
@given(cases(most=60, weights=False), alternatives)
def test_sign_test_equals_scipy(case: Case, alternative: str) -> None:
    result = sign_test(case.differences, alternative=alternative)
    for column, (wins, losses) in enumerate(zip(result.wins, result.losses, strict=True)):
        if wins + losses:
            theirs = stats.binomtest(int(wins), int(wins + losses), alternative=alternative).pvalue
            assert_allclose(result.p_value[column], theirs, rtol=1e-10)


@settings(deadline=None)
@given(cases(most=60, weights=False), st.sampled_from([0.01, 0.05, 0.2]))
def test_interval_of_the_median_equals_scipys_for_quantiles(case: Case, alpha: float) -> None:
    d = case.differences
    result = sign_test(d, alpha=alpha)
    for column in np.flatnonzero((d.n > 0) & (result.ties < d.n)):
        values = d.values[d.present[:, column], column]
        theirs = stats.quantile_test(values).confidence_interval(1 - alpha)
        ends = [np.nan_to_num(end, nan=fill) for end, fill in zip(theirs, (-np.inf, np.inf), strict=True)]
        assert_array_equal([result.low[column], result.high[column]], ends)
        assert result.estimate[column] == np.median(values)


def test_without_ties_sign_test_and_median_agree() -> None:
    for seed in range(50):
        values = np.random.default_rng(seed).normal(0.5, 1, 20)
        result = sign_test(paired_differences(np.zeros(20), values))
        assert_array_equal(result.p_value <= 0.05, leaves_out_zero(result.low, result.high))


def test_messages() -> None:
    d = paired_differences([0.1, 0.2], [0.2, 0.4])
    with pytest.raises(RankstatsError, match="alpha"):
        paired_t(d, alpha=2)
    with pytest.raises(RankstatsError, match="alternative"):
        sign_test(d, alternative="both")
