from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from statsmodels.stats.power import TTestPower

from rankstats.errors import RankstatsError
from rankstats.stats import (
    detectable_shift,
    effect_sizes,
    fractional_queries_needed,
    paired_differences,
    power_analysis,
    queries_needed,
    sign_test_power,
    t_power,
)
from rankstats.stats.power import noncentral_t_tail
from tests.stats.cases import golden


@pytest.mark.parametrize("row", golden("power")["sample_size"])
def test_fractional_queries_equal_r_pwr_and_statsmodels(row: dict[str, float]) -> None:
    n = fractional_queries_needed(1.0, row["d"], alpha=row["alpha"], power=row["power"])
    assert_allclose(n, [row["n_power.t.test"], row["n_pwr"], row["statsmodels_n"]], rtol=0, atol=2e-4)
    assert np.ceil(n) == queries_needed(1.0, row["d"], alpha=row["alpha"], power=row["power"]) == row["n_ceiling"]


def test_sign_test_power_equals_r() -> None:
    row = golden("power")["sign_test_power"]
    assert_allclose(sign_test_power(row["n"], row["p"], alpha=row["alpha"]), row["power_exact"], atol=1e-9)


@pytest.mark.parametrize("n", [1, 5, 6, 7, 20, 33])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.5, 0.65, 1.0])
@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_sign_test_power_by_its_definition(n: int, share: float, alternative: Literal["two-sided", "greater"]) -> None:
    p = [stats.binomtest(wins, n, 0.5, alternative).pvalue for wins in range(n + 1)]
    expected = sum(stats.binom.pmf(wins, n, share) for wins in range(n + 1) if p[wins] <= 0.05)
    ours = sign_test_power(n, share, two_sided=alternative == "two-sided")
    assert_allclose(ours, expected, atol=1e-12)


@settings(deadline=None, max_examples=60)
@given(
    st.one_of(st.integers(1, 12), st.integers(1, 5000)),
    st.floats(0.01, 50),
    st.floats(-4, 4),
)
def test_noncentral_t_equals_scipy(df: int, critical: float, deviation: float) -> None:
    shift = critical + deviation * np.sqrt(1 + critical**2 / (2 * df))
    theirs = stats.nct.sf(critical, df, shift)
    if np.isfinite(theirs):
        assert_allclose(noncentral_t_tail(shift, df, critical), theirs, rtol=0, atol=1e-8)
        assert_allclose(noncentral_t_tail(-shift, df, -critical), 1 - theirs, rtol=0, atol=1e-8)


@pytest.mark.parametrize(("df", "critical"), [(1, 300.0), (3, 0.01), (5000, 2.0), (100_000, 0.5), (40, 60.0)])
@pytest.mark.parametrize("deviation", [-2.5, 0.0, 1.0])
def test_noncentral_t_where_the_integrand_is_steep(df: int, critical: float, deviation: float) -> None:
    shift = critical + deviation * np.sqrt(1 + critical**2 / (2 * df))
    assert_allclose(noncentral_t_tail(shift, df, critical), stats.nct.sf(critical, df, shift), rtol=0, atol=1e-10)


def test_noncentral_t_at_its_edges() -> None:
    assert_allclose(noncentral_t_tail(0.0, 7, 2.0), stats.t.sf(2.0, 7), atol=1e-12)
    assert_allclose(noncentral_t_tail(0.3, 7, 0.0), stats.norm.cdf(0.3), atol=1e-15)
    assert noncentral_t_tail(200.0, 5, 2.0) == pytest.approx(1.0, abs=1e-12)
    assert 0 <= noncentral_t_tail(-40.0, 30, 2.0) < 1e-12


@settings(deadline=None, max_examples=30)
@given(
    st.integers(2, 2000),
    st.sampled_from([0.01, 0.05, 0.1]),
    st.sampled_from([0.5, 0.8, 0.95]),
    st.booleans(),
    st.sampled_from([1, 3, 20]),
)
def test_power_of_the_smallest_detectable_is_the_wanted_power(
    n: int, alpha: float, power: float, two_sided: bool, family: int
) -> None:
    shift = detectable_shift(n, alpha=alpha, power=power, two_sided=two_sided, family_size=family)
    assert_allclose(t_power(shift, n - 1, alpha=alpha / family, two_sided=two_sided), power, atol=1e-9)
    d = paired_differences(np.zeros(7), [0.1, 0.4, -0.2, 0.3, 0.0, 0.2, 0.1])
    plan = power_analysis(d, 0.1, n=n, alpha=alpha, power=power, two_sided=two_sided, family_size=family)
    there = power_analysis(
        d, plan.smallest_detectable, n=n, alpha=alpha, power=power, two_sided=two_sided, family_size=family
    )
    assert_allclose(there.power_at_n, power, atol=1e-9)
    assert there.queries_needed[0] in (n, n + 1)


@settings(deadline=None, max_examples=30)
@given(st.floats(0.05, 1.5), st.sampled_from([0.01, 0.05]), st.sampled_from([0.6, 0.8, 0.9]), st.sampled_from([1, 8]))
def test_queries_equal_statsmodels_at_the_divided_level(size: float, alpha: float, power: float, family: int) -> None:
    n = fractional_queries_needed(1.0, size, alpha=alpha, power=power, family_size=family)
    theirs = TTestPower().power(size, n, alpha / family)
    if n > 2 and np.isfinite(theirs):
        assert_allclose(theirs, power, atol=1e-6)


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 300), st.floats(0.01, 3), st.booleans())
def test_power_grows_with_n_and_difference(n: int, size: float, two_sided: bool) -> None:
    def power(queries: int, shift: float) -> float:
        return t_power(shift * np.sqrt(queries), queries - 1, two_sided=two_sided)

    assert power(n, size) <= power(n + 1, size) + 1e-9
    assert power(n, size) <= power(n, 1.1 * size) + 1e-9
    assert 0.05 - 1e-9 <= power(n, size) <= 1 + 1e-9


def test_analysis_uses_the_spread_and_never_the_mean() -> None:
    values = np.random.default_rng(1).normal(0, 2, 50)
    one = power_analysis(paired_differences(np.zeros(50), values), 0.5)
    moved = power_analysis(paired_differences(np.zeros(50), values + 7), 0.5)
    assert_allclose(one.power_at_n, moved.power_at_n, atol=1e-8)
    scaled = power_analysis(paired_differences(np.zeros(50), 8 * values), 4.0)
    assert_array_equal(one.power_at_n, scaled.power_at_n)
    assert_array_equal(8 * one.smallest_detectable, scaled.smallest_detectable)
    mirrored = power_analysis(paired_differences(values, np.zeros(50)), -0.5)
    assert_array_equal(one.queries_needed, mirrored.queries_needed)
    assert_allclose(one.standard_deviation, values.std(ddof=1), rtol=1e-9)


def test_analysis_agrees_with_effect_sizes_with_and_without_weights() -> None:
    rng = np.random.default_rng(2)
    for weights in (None, rng.exponential(size=30)):
        d = paired_differences(np.zeros((30, 2)), rng.normal(0, 1, (30, 2)), weights)
        plan = power_analysis(d, 0.3)
        assert_allclose(plan.smallest_detectable, effect_sizes(d).smallest_detectable, rtol=1e-9)
        for column in range(2):
            assert plan.queries_needed[column] == queries_needed(plan.standard_deviation[column], 0.3)


def test_analysis_without_spread_or_queries() -> None:
    d = paired_differences(np.zeros((3, 3)), [[0.5, 0.0, np.nan]] * 3)
    plan = power_analysis(d, 0.1)
    assert np.isnan([plan.power_at_n, plan.queries_needed, plan.smallest_detectable]).all()
    one = power_analysis(paired_differences([0.1, 0.2], [0.3, 0.1]), 0.1, n=1)
    assert np.isnan(one.power_at_n[0])
    assert one.queries_needed[0] > 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sign_test_power(0, 0.5), "n = 0"),
        (lambda: sign_test_power(10, 1.5), "win_share"),
        (lambda: queries_needed(1.0, 0.1, family_size=0), "family_size"),
        (lambda: fractional_queries_needed(1.0, 0.0), "difference"),
        (lambda: power_analysis(paired_differences([0.1, 0.2], [0.3, 0.1]), 0.1, n=2.5), "n = 2.5"),
        (lambda: power_analysis(paired_differences([0.1, 0.2], [0.3, 0.1]), 0.0), "difference"),
    ],
)
def test_messages(call: Callable[[], object], message: str) -> None:
    with pytest.raises(RankstatsError, match=message):
        call()
