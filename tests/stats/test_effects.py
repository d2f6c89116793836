from __future__ import annotations

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
    kish_n_effective,
    paired_differences,
    paired_t,
    queries_needed,
    relative_difference,
    t_power,
)
from tests.stats.cases import Case, cases, golden, leaves_out_zero


@pytest.mark.parametrize("name", ["p8", "p10ties", "p12sparse", "p5allpos", "p20", "p50skew"])
def test_equals_independent_programs(name: str) -> None:
    data, expected = golden("data")[name], golden("paired")["cases"][name]["python"]
    sizes = effect_sizes(paired_differences(data["a"], data["b"]))
    assert [sizes.wins[0], sizes.ties[0], sizes.losses[0]] == [expected[k] for k in ("wins", "ties", "losses")]
    assert_allclose(sizes.effect_size, expected["effect"]["cohen_dz"], atol=1e-7)
    assert_allclose(sizes.superiority, expected["effect"]["prob_superiority_paired"], atol=1e-12)
    relative = relative_difference(data["a"], data["b"])
    assert_allclose(relative.estimate, expected["effect"]["relative_change"], atol=1e-8)


@pytest.mark.parametrize("row", golden("power")["power"])
def test_power_equals_r_and_statsmodels(row: dict[str, float]) -> None:
    n = row["n"]
    shift = row["d"] * np.sqrt(n)
    assert_allclose(t_power(shift, n - 1, alpha=row["alpha"]), row["power_two_strict"], atol=1e-9)
    assert_allclose(t_power(shift, n - 1, alpha=row["alpha"], two_sided=False), row["power_one"], atol=1e-9)


@pytest.mark.parametrize("row", golden("power")["sample_size"])
def test_queries_needed_equals_r(row: dict[str, float]) -> None:
    assert queries_needed(1.0, row["d"], alpha=row["alpha"], power=row["power"]) == row["n_ceiling"]


@pytest.mark.parametrize("row", golden("power")["mde"])
def test_smallest_detectable_equals_statsmodels(row: dict[str, float]) -> None:
    size = detectable_shift(row["n"], alpha=row["alpha"], power=row["power"]) / np.sqrt(row["n"])
    assert_allclose(size, row["statsmodels_d"], rtol=0, atol=1e-6)
    assert_allclose(size, row["mde_d"], rtol=0, atol=5e-6)


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 3000), st.sampled_from([0.01, 0.05, 0.1]), st.sampled_from([0.5, 0.8, 0.95]))
def test_power_of_the_smallest_detectable_is_the_wanted_power(n: int, alpha: float, power: float) -> None:
    shift = detectable_shift(n, alpha=alpha, power=power)
    assert_allclose(t_power(shift, n - 1, alpha=alpha), power, atol=1e-9)
    theirs = TTestPower().power(shift / np.sqrt(n), n, alpha)
    if np.isfinite(theirs):  # noncentral t of far tails is not, in some versions
        assert_allclose(theirs, power, atol=1e-6)


def test_queries_needed_is_the_least_number() -> None:
    n = queries_needed(0.2, 0.05)
    assert t_power(0.25 * np.sqrt(n), n - 1) >= 0.8 > t_power(0.25 * np.sqrt(n - 1), n - 2)
    assert queries_needed(0.0, 0.05) == 2
    assert queries_needed(0.2, -0.05) == n
    assert queries_needed(0.2, 0.05, two_sided=False) < n


def test_smallest_detectable_scales_with_the_standard_error() -> None:
    values = np.random.default_rng(1).normal(0, 2, 50)
    sizes = effect_sizes(paired_differences(np.zeros(50), values))
    assert_allclose(sizes.smallest_detectable, 0.4041830 * values.std(ddof=1), rtol=1e-6)


def test_weighted_sizes() -> None:
    d = paired_differences(np.zeros(4), [1.0, 1.0, -1.0, 0.0], [1, 2, 3, 4])
    sizes = effect_sizes(d)
    assert_allclose(sizes.superiority, (3 + 4 / 2) / 10)
    assert_allclose(sizes.n_effective, 100 / 30)
    assert kish_n_effective([1, 2, 3, 4]) == 100 / 30
    assert kish_n_effective([0, 0]) == 0


def test_sizes_without_spread_or_queries() -> None:
    sizes = effect_sizes(paired_differences(np.zeros((3, 3)), [[0.5, 0.0, np.nan]] * 3))
    assert np.isnan(sizes.effect_size).all()
    assert_array_equal(sizes.superiority, [1, 0.5, np.nan])
    assert_array_equal(sizes.smallest_detectable, [0, 0, np.nan])


def test_relative_difference_follows_the_sign_of_the_difference() -> None:
    rng = np.random.default_rng(1)
    baseline, gain = 10 + rng.normal(size=30), 5 + rng.normal(size=30)
    positive = relative_difference(baseline, baseline + gain)
    negative = relative_difference(-baseline, -baseline + gain)
    assert 0.4 < negative.estimate[0] < 0.6
    assert_allclose(positive.estimate, negative.estimate, rtol=1e-9)
    assert negative.low[0] < negative.estimate[0] < negative.high[0]
    mirrored = relative_difference(-baseline, -baseline - gain)
    assert_allclose([mirrored.low, mirrored.high], [-positive.high, -positive.low], rtol=1e-7)


def test_relative_difference_is_undefined_near_a_baseline_of_zero() -> None:
    baseline = np.random.default_rng(1).normal(0.01, 1, 30)
    result = relative_difference(baseline, baseline + 1)
    assert np.isnan([result.estimate, result.low, result.high]).all()


def test_fieller_by_its_definition() -> None:
    rng = np.random.default_rng(4)
    a, b = 3 + rng.normal(size=25), 3.5 + rng.normal(size=25)
    result = relative_difference(a, b)
    t = stats.t.ppf(0.975, 24)
    for end in (result.low[0], result.high[0]):
        values = b - (1 + end) * a
        assert_allclose(abs(values.mean()), t * values.std(ddof=1) / 5, rtol=1e-6)


@settings(deadline=None)
@given(cases(most=60))
def test_relative_interval_leaves_out_zero_exactly_when_t_is_significant(case: Case) -> None:
    relative = relative_difference(case.baseline, case.systems, case.weights)
    t = paired_t(case.differences)
    # a difference without spread has no t test, but a ratio
    known = ~np.isnan(relative.low) & ~np.isnan(t.statistic) & (np.abs(t.p_value - 0.05) > 1e-9)
    assert_array_equal(leaves_out_zero(relative.low, relative.high)[known], (t.p_value <= 0.05)[known])
    assert np.all(relative.low[known] <= relative.estimate[known] + 1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: queries_needed(-1, 0.1), "standard_deviation"),
        (lambda: queries_needed(1, 0), "difference"),
        (lambda: queries_needed(1, 0.1, power=0.01), "power"),
        (lambda: detectable_shift(10, power=1.0), "power"),
    ],
)
def test_messages(call: object, message: str) -> None:
    with pytest.raises(RankstatsError, match=message):
        call()  # type: ignore[operator]  # parametrised lambdas


def test_relative_differences_of_very_large_and_very_small_values() -> None:
    rng = np.random.default_rng(0)
    baseline, system = rng.random(30) + 1, rng.random(30) + 1.2
    plain = relative_difference(baseline, system)
    for scale in (1e99, 1e-99):
        scaled = relative_difference(baseline * scale, system * scale)
        for name in ("estimate", "low", "high"):
            assert getattr(scaled, name) == pytest.approx(getattr(plain, name), rel=1e-7)
