"""Welch, the delta method, relative effects and margins: against other programs, definitions and each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from statsmodels.stats.weightstats import ttost_ind

from rankstats.errors import RankstatsError
from rankstats.stats import (
    ArmPair,
    adjust,
    aggregated_moments,
    arm_equivalence,
    arm_noninferiority,
    compare_arms,
    mean_pair,
    ratio_pair,
    repeated_interval,
    unit_moments,
)
from tests.stats.cases import leaves_out_zero
from tests.stats.experiment.arms import ALTERNATIVES, LEVELS, REFERENCES, SCALES, Arms, arms, fields, same

FAMILIES = st.sampled_from([1, 4])


@given(arms(ratio=False), ALTERNATIVES, LEVELS)
@settings(max_examples=50)
def test_welch_equals_scipy(case: Arms, alternative: str, alpha: float) -> None:
    a, b = case.control[:, 0], case.treatment[:, 0]
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return  # scipy warns of cancellation
    ours = compare_arms(case.pair, alpha=alpha, alternative=alternative)
    theirs = stats.ttest_ind(b, a, equal_var=False, alternative=alternative)
    assert_allclose([ours.statistic[0], ours.df[0]], [theirs.statistic, theirs.df], rtol=1e-8)
    assert_allclose(ours.p_value[0], theirs.pvalue, rtol=1e-7, atol=1e-300)
    low, high = theirs.confidence_interval(1 - alpha)
    # an interval that excludes 0 by a rounding is settled by p
    assert_allclose([ours.low[0], ours.high[0]], [low, high], rtol=1e-7, atol=1e-9)


def _ratio_by_its_definition(rows: Any) -> tuple[float, float]:
    """Ratio and squared standard error by the textbook's four terms."""
    top, bottom = rows[:, 0], rows[:, 1]
    n, mean_top, mean_bottom = len(rows), top.mean(), bottom.mean()
    covariance = np.cov(top, bottom, ddof=1)
    variance = (
        covariance[0, 0] / mean_bottom**2
        - 2 * mean_top * covariance[0, 1] / mean_bottom**3
        + mean_top**2 * covariance[1, 1] / mean_bottom**4
    )
    return mean_top / mean_bottom, variance / n


@given(arms(ratio=True))
@settings(max_examples=50)
def test_ratios_by_their_definition(case: Arms) -> None:
    pair = case.pair
    for ratio, variance, rows in (
        (pair.control[0], pair.control_variance[0], case.control),
        (pair.treatment[0], pair.treatment_variance[0], case.treatment),
    ):
        wanted = _ratio_by_its_definition(rows)
        assert_allclose(ratio, wanted[0], rtol=1e-12)
        assert_allclose(variance, wanted[1], rtol=1e-8, atol=1e-16)


def test_a_ratio_to_one_row_a_unit_is_the_mean() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.lognormal(size=40), rng.lognormal(size=30)
    means = mean_pair(unit_moments(a), unit_moments(b))
    ratios = ratio_pair(unit_moments(a, np.ones(40)), unit_moments(b, np.ones(30)))
    for name, value in fields(means).items():
        assert_allclose(getattr(ratios, name), value, rtol=1e-12)


@given(arms(), SCALES, REFERENCES)
@settings(max_examples=50)
def test_aggregates_give_the_same_numbers(case: Arms, scale: str, reference: str) -> None:
    pair = ratio_pair if case.ratio else mean_pair
    of_units = compare_arms(case.pair, scale=scale, reference=reference)
    of_aggregates = compare_arms(pair(*map(same, case.moments)), scale=scale, reference=reference)
    for name, value in fields(of_units).items():
        if isinstance(value, np.ndarray):
            assert_allclose(getattr(of_aggregates, name), value, rtol=1e-9, atol=1e-12, err_msg=name)


@given(arms(), SCALES, ALTERNATIVES, REFERENCES, LEVELS, FAMILIES)
def test_p_and_interval_agree(
    case: Arms, scale: str, alternative: str, reference: str, alpha: float, family: int
) -> None:
    ours = compare_arms(
        case.pair, scale=scale, alpha=alpha, alternative=alternative, reference=reference, family_size=family
    )
    known = ~np.isnan(ours.p_value)
    assert_array_equal((ours.p_value <= alpha)[known], leaves_out_zero(ours.low, ours.high)[known])
    known = ~np.isnan(ours.p_adjusted)
    assert_array_equal((ours.p_adjusted <= alpha)[known], leaves_out_zero(ours.adjusted_low, ours.adjusted_high)[known])
    assert np.all(ours.p_value[~np.isnan(ours.p_value)] > 0)
    both = known & ~np.isnan(ours.low)
    assert np.all(ours.adjusted_low[both] <= ours.low[both] + 1e-12)
    assert np.all(ours.p_adjusted[known] >= ours.p_value[known])


@given(arms(), SCALES, ALTERNATIVES)
@settings(max_examples=50)
def test_they_agree_at_the_p_value_itself(case: Arms, scale: str, alternative: str) -> None:
    p = compare_arms(case.pair, scale=scale, alternative=alternative).p_value[0]
    if not 0 < p < 0.99:
        return
    for alpha in (np.nextafter(p, 0), p, np.nextafter(p, 1)):
        ours = compare_arms(case.pair, scale=scale, alternative=alternative, alpha=float(alpha))
        if not np.isnan(ours.p_value[0]):
            assert bool(ours.p_value[0] <= alpha) == bool(leaves_out_zero(ours.low, ours.high)[0])


def _strong(seed: int = 1, lift: float = 1.1) -> ArmPair:
    rng = np.random.default_rng(seed)
    return mean_pair(unit_moments(rng.lognormal(0, 0.5, 400)), unit_moments(lift * rng.lognormal(0, 0.5, 500)))


def test_relative_scales_by_their_definitions() -> None:
    pair = _strong()
    before, after = pair.control[0], pair.treatment[0]
    v0, v1, t = pair.control_variance[0], pair.treatment_variance[0], stats.t.ppf(0.975, pair.df[0])
    delta = compare_arms(pair, scale="delta")
    error = np.sqrt(v1 / before**2 + after**2 * v0 / before**4)
    assert_allclose([delta.low[0], delta.high[0]], after / before - 1 + np.array([-t, t]) * error)
    log = compare_arms(pair, scale="log")
    error = np.sqrt(v1 / after**2 + v0 / before**2)
    assert_allclose([log.low[0], log.high[0]], np.exp(np.log(after / before) + np.array([-t, t]) * error) - 1)
    assert_allclose(log.p_value[0], 2 * stats.t.sf(np.log(after / before) / error, pair.df[0]))
    fieller = compare_arms(pair, scale="fieller")
    assert fieller.p_value[0] == compare_arms(pair).p_value[0]
    for end in (fieller.low[0], fieller.high[0]):
        ratio = 1 + end
        assert_allclose(abs(after - ratio * before) / np.sqrt(v1 + ratio**2 * v0), t, rtol=1e-9)


@given(arms(), SCALES, LEVELS)
@settings(max_examples=50)
def test_arms_below_zero_are_turned(case: Arms, scale: str, alpha: float) -> None:
    pair = case.pair
    turned = replace(pair, control=-pair.control, treatment=-pair.treatment)
    one, other = compare_arms(pair, scale=scale, alpha=alpha), compare_arms(turned, scale=scale, alpha=alpha)
    assert_allclose(one.p_value, other.p_value, rtol=1e-9)
    assert_allclose(one.estimate, -other.estimate, rtol=1e-12)
    assert_allclose(one.low, -other.high, rtol=1e-9, atol=1e-12)


def test_the_sign_of_a_relative_effect_is_that_of_the_difference() -> None:
    pair = mean_pair(aggregated_moments(100, -10.0, 1.0), aggregated_moments(100, -5.0, 1.0))
    for scale in ("delta", "log", "fieller"):
        ours = compare_arms(pair, scale=scale)
        assert_allclose(ours.estimate, 0.5)
        assert ours.low[0] > 0


def test_relative_effects_need_a_control_that_is_told_from_zero() -> None:
    pair = mean_pair(aggregated_moments(50, 0.1, 1.0), aggregated_moments(50, 2.0, 1.0))
    for scale in ("delta", "log", "fieller"):
        ours = compare_arms(pair, scale=scale)
        assert np.isnan([ours.p_value[0], ours.low[0], ours.high[0]]).all()
    opposite = mean_pair(aggregated_moments(50, 1.0, 1.0), aggregated_moments(50, -2.0, 1.0))
    assert np.isnan(compare_arms(opposite, scale="log").p_value[0])
    assert compare_arms(opposite, scale="fieller").high[0] < -1
    # told from 0 at the plain level, but not at that of a large family
    close = mean_pair(aggregated_moments(50, 0.35, 1.0), aggregated_moments(50, 0.4, 1.0))
    ours = compare_arms(close, scale="fieller", family_size=100)
    assert not np.isnan(ours.p_value[0])
    assert np.isnan([ours.p_adjusted[0], ours.adjusted_low[0]]).all()


def test_no_spread_and_no_units() -> None:
    constant = compare_arms(mean_pair(unit_moments([1.0, 1.0]), unit_moments([2.0, 2.0, 2.0])))
    assert constant.p_value[0] == 1
    assert [constant.low[0], constant.high[0]] == [-np.inf, np.inf]
    equal = compare_arms(mean_pair(unit_moments([0.1] * 3), unit_moments([0.1] * 4)))
    assert equal.p_value[0] == 1
    assert np.isnan(equal.low[0])
    single = compare_arms(mean_pair(unit_moments([1.0]), unit_moments([2.0, 3.0])))
    assert single.p_value[0] == 1
    assert np.isinf([single.low[0], single.high[0]]).all()
    none = compare_arms(mean_pair(unit_moments([np.nan]), unit_moments([2.0, 3.0])))
    assert np.isnan([none.p_value[0], none.low[0], none.estimate[0]]).all()
    assert none.to_dicts()[0]["p_value"] is None
    no_rows = compare_arms(ratio_pair(unit_moments([0.0, 0.0], [0.0, 0.0]), unit_moments([1.0, 2.0], [3.0, 4.0])))
    assert np.isnan(no_rows.p_value[0])
    same_ratio = ratio_pair(unit_moments([0.1, 0.2], [1.0, 2.0]), unit_moments([0.3, 0.1], [3.0, 1.0]))
    assert compare_arms(same_ratio).p_value[0] == 1


def test_an_arm_that_cannot_be_tested_leaves_the_others_alone() -> None:
    rng = np.random.default_rng(3)
    control, values = unit_moments(rng.normal(size=50)), rng.normal(0.4, 1, (50, 4))
    values[:, 1] = np.nan
    family = compare_arms(mean_pair(control, unit_moments(values)), family_size=3)
    for column in (0, 2, 3):
        alone = compare_arms(mean_pair(control, unit_moments(values[:, column])), family_size=3)
        assert alone.p_adjusted[0] == family.p_adjusted[column]
    assert np.isnan(family.p_value[1])
    # the family of metrics, arms and segments is one column of p-values
    adjusted = adjust(family.p_value, "holm")
    assert_allclose(np.nanmin(adjusted), 3 * np.nanmin(family.p_value))


def test_one_control_for_several_arms() -> None:
    rng = np.random.default_rng(4)
    control, treatments = rng.normal(size=30), rng.normal(size=(40, 3))
    together = mean_pair(unit_moments(control), unit_moments(treatments))
    assert together.n_columns == 3
    alone = mean_pair(unit_moments(control), unit_moments(treatments[:, 1]))
    for name, value in fields(alone).items():
        assert_array_equal(getattr(together.select([1]), name), value)


@given(arms(ratio=False), st.sampled_from([0.05, 0.3, 1.0, 4.0]))
@settings(max_examples=40)
def test_tost_equals_statsmodels(case: Arms, margin: float) -> None:
    a, b = case.control[:, 0], case.treatment[:, 0]
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return
    p, lower, upper = ttost_ind(b, a, -margin, margin, usevar="unequal")
    ours = arm_equivalence(case.pair, margin)
    assert_allclose([ours.p_lower[0], ours.p_upper[0]], [lower[1], upper[1]], rtol=1e-6, atol=1e-300)
    assert_allclose(ours.p_value[0], p, rtol=1e-6, atol=1e-300)


@given(
    arms(),
    SCALES,
    st.sampled_from([0.01, 0.1, 0.5, 2.0]),
    st.sampled_from([0.01, 0.05, 0.2, 0.4]),
    REFERENCES,
    FAMILIES,
)
@settings(max_examples=60)
def test_margins_decide_as_their_intervals(
    case: Arms, scale: str, margin: float, alpha: float, reference: str, family: int
) -> None:
    arguments: dict[str, Any] = {"scale": scale, "alpha": alpha, "reference": reference, "family_size": family}
    ours = arm_equivalence(case.pair, margin, **arguments)
    assert_array_equal(ours.holds, (ours.low > -margin) & (ours.high < margin))
    known = ~np.isnan(ours.p_adjusted)
    inside = (ours.adjusted_low > -margin) & (ours.adjusted_high < margin)
    assert_array_equal((ours.p_adjusted <= alpha)[known], inside[known])
    higher = arm_noninferiority(case.pair, margin, **arguments)
    assert_array_equal(higher.holds, higher.low > -margin)
    lower = arm_noninferiority(case.pair, margin, alternative="less", **arguments)
    assert_array_equal(lower.holds, lower.high < margin)
    if not np.isnan(ours.p_value[0]):
        assert ours.p_value[0] == max(higher.p_value[0], lower.p_value[0])


@given(arms(), SCALES)
@settings(max_examples=30)
def test_without_margin_it_is_the_one_sided_test(case: Arms, scale: str) -> None:
    for alternative in ("greater", "less"):
        ours = arm_noninferiority(case.pair, 0.0, scale=scale, alternative=alternative)
        plain = compare_arms(case.pair, scale=scale, alternative=alternative)
        if not np.isnan(ours.p_value[0]) and not np.isnan(plain.p_value[0]):
            assert_allclose(ours.p_value, plain.p_value, rtol=1e-12)
            assert_allclose(ours.low, plain.low, rtol=1e-9, atol=1e-300)


def test_a_relative_margin_is_a_fraction_of_the_control() -> None:
    pair = _strong(lift=0.99)
    for margin in (0.01, 0.05, 0.1):
        ours = arm_noninferiority(pair, margin, scale="fieller")
        t = (pair.treatment[0] - (1 - margin) * pair.control[0]) / np.sqrt(
            pair.treatment_variance[0] + (1 - margin) ** 2 * pair.control_variance[0]
        )
        assert_allclose(ours.p_value[0], stats.t.sf(t, pair.df[0]), rtol=1e-9)


def test_repeated_intervals_are_those_of_their_critical_values() -> None:
    pair = _strong()
    for scale in ("difference", "delta", "log", "fieller"):
        ours = compare_arms(pair, scale=scale, reference="normal", alpha=0.01)
        low, high = repeated_interval(pair, stats.norm.isf(0.005), scale=scale)
        assert_allclose([low, high], [ours.low, ours.high], rtol=1e-9)
        low, high = repeated_interval(pair, np.inf, scale=scale)
        assert [low[0], high[0]] == [-np.inf, np.inf]
    weak = mean_pair(aggregated_moments(50, 0.35, 1.0), aggregated_moments(50, 0.4, 1.0))
    assert repeated_interval(weak, 4.0, scale="fieller")[1][0] == np.inf


PAIR = mean_pair(aggregated_moments(10, 1.0, 1.0), aggregated_moments(10, 2.0, 1.0))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: compare_arms(PAIR, scale="fieler"), "did you mean 'fieller'"),
        (lambda: compare_arms(PAIR, alpha=0), "between 0 and 1"),
        (lambda: compare_arms(PAIR, alternative="higher"), "alternative"),
        (lambda: compare_arms(PAIR, reference="z"), "reference"),
        (lambda: compare_arms(PAIR, family_size=[1, 2]), "family_size"),
        (lambda: arm_equivalence(PAIR, 0.0), "more than 0"),
        (lambda: arm_noninferiority(PAIR, -0.1), "without a sign"),
        (lambda: arm_noninferiority(PAIR, 0.1, alpha=0.5), "0 and 0.5"),
        (lambda: arm_noninferiority(PAIR, 0.1, alternative="two-sided"), "alternative"),
        (lambda: ratio_pair(unit_moments([1.0]), unit_moments([1.0])), "numerator, then denominator"),
        (lambda: mean_pair(unit_moments([1.0]), unit_moments([1.0], [1.0])), "both need the same"),
        (lambda: mean_pair(unit_moments(np.ones((2, 3))), unit_moments(np.ones((2, 2)))), "or the same number"),
    ],
)
def test_messages(call: Callable[[], object], message: str) -> None:
    with pytest.raises(RankstatsError, match=message):
        call()
