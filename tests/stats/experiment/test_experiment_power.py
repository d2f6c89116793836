"""Planning: against statsmodels, R's published examples, and the test that is planned for."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from statsmodels.stats.power import NormalIndPower, TTestIndPower
from statsmodels.stats.proportion import power_proportions_2indep

from rankstats.errors import RankstatsError
from rankstats.stats import (
    compare_arms,
    cuped,
    mean_pair,
    plan_means,
    plan_proportions,
    ratio_pair,
    unit_moments,
    unit_variance,
)

SIZES = st.sampled_from([0.02, 0.1, 0.5])
ALPHAS = st.sampled_from([0.01, 0.05, 0.1])


@given(SIZES, st.integers(10, 4000), ALPHAS, st.booleans())
@settings(max_examples=25)
def test_means_in_equal_arms_equal_statsmodels(size: float, per_arm: int, alpha: float, two_sided: bool) -> None:
    ours = plan_means(4.0, 2 * size, units=2 * per_arm, alpha=alpha, two_sided=two_sided)
    theirs = TTestIndPower().power(size, per_arm, alpha, alternative="two-sided" if two_sided else "larger")
    # scipy's noncentral t is NaN far out
    assert_allclose(ours.power_at_units[0], 1.0 if np.isnan(theirs) else theirs, rtol=1e-7)


@given(SIZES, st.sampled_from([0.1, 0.3]), ALPHAS)
@settings(max_examples=20)
def test_means_in_unequal_arms_tend_to_the_normal_formula(size: float, share: float, alpha: float) -> None:
    units = int(20 / size**2) + 4000
    ours = plan_means(1.0, size, units=units, treatment_share=share, alpha=alpha)
    theirs = NormalIndPower().power(size, units * (1 - share), alpha, ratio=share / (1 - share))
    assert_allclose(ours.power_at_units[0], theirs, atol=5e-3)


def test_published_numbers_of_r() -> None:
    """The examples of help(power.t.test) and help(power.prop.test)."""
    assert_allclose(plan_means(1.0, 1.0, units=40).power_at_units, 0.8689528, atol=1e-6)
    # power = .90, delta = 1: n = 22.02110 a group
    assert plan_means(1.0, 1.0, power=0.9).units_needed[0] == np.ceil(2 * 22.02110)
    assert_allclose(plan_proportions(0.5, 0.25, units=100, two_sided=True).power_at_units, 0.7401659, atol=2e-4)
    # p1 = .50, p2 = .75, power = .90: n = 76.7 a group
    assert plan_proportions(0.5, 0.25, power=0.9).units_needed[0] == np.ceil(2 * 76.69294)


@given(st.sampled_from([0.01, 0.05, 0.3]), st.sampled_from([0.1, -0.1, 0.4]), st.integers(200, 50_000), st.booleans())
@settings(max_examples=40)
def test_proportions_equal_statsmodels(baseline: float, lift: float, per_arm: int, two_sided: bool) -> None:
    ours = plan_proportions(baseline, lift, relative=True, units=2 * per_arm, two_sided=two_sided)
    effect = lift * baseline
    theirs = power_proportions_2indep(
        effect,
        baseline,
        per_arm,
        alternative="two-sided" if two_sided else "larger" if lift > 0 else "smaller",
        return_results=False,
    )
    assert_allclose(ours.power_at_units[0], theirs, rtol=1e-6)
    assert_allclose(ours.effect, effect)


@given(
    st.integers(8, 10**6),
    st.sampled_from([0.5, 0.8, 0.95]),
    st.sampled_from([0.1, 0.5, 0.8]),
    ALPHAS,
    st.booleans(),
    st.sampled_from([1, 6]),
)
@settings(max_examples=25)
def test_the_smallest_detectable_effect_has_the_power(
    units: int, power: float, share: float, alpha: float, two_sided: bool, family: int
) -> None:
    if units * min(share, 1 - share) <= 1:
        return
    arguments = {
        "units": units,
        "power": power,
        "treatment_share": share,
        "alpha": alpha,
        "two_sided": two_sided,
        "family_size": family,
    }
    plan = plan_means(3.0, 0.1, **arguments)  # type: ignore[arg-type]  # of several kinds
    again = plan_means(3.0, plan.smallest_detectable, **arguments)  # type: ignore[arg-type]  # of several kinds
    assert_allclose(again.power_at_units, power, rtol=1e-9)
    shares = plan_proportions(0.2, -0.01, **arguments)  # type: ignore[arg-type]  # of several kinds
    if not np.isnan(shares.smallest_detectable[0]):
        again = plan_proportions(0.2, -shares.smallest_detectable, **arguments)  # type: ignore[arg-type]  # of several kinds
        assert_allclose(again.power_at_units, power, rtol=1e-9)


@given(st.sampled_from([0.05, 0.2, 1.0]), st.sampled_from([0.2, 0.5]), st.sampled_from([0.7, 0.9]))
@settings(max_examples=20)
def test_units_needed_are_the_least(effect: float, share: float, power: float) -> None:
    for plan in (plan_means, lambda _, *rest, **options: plan_proportions(0.1, effect / 5, **options)):
        needed = plan(1.0, effect, treatment_share=share, power=power).units_needed[0]
        at = [
            plan(1.0, effect, treatment_share=share, power=power, units=max(needed - less, 4)).power_at_units[0]
            for less in (0, 1)
        ]
        assert at[0] >= power > at[1] or needed <= 8


def test_covariates_and_ratios_need_fewer_or_more_units() -> None:
    rng = np.random.default_rng(0)
    past = rng.gamma(2, 1, 5000)
    value = past + rng.normal(0, 1, 5000)
    moments = unit_moments(value, past)
    reduction = np.corrcoef(value, past)[0, 1] ** 2
    raw, adjusted = unit_variance(moments), unit_variance(moments, covariates=True)
    assert_allclose([raw[0], adjusted[0]], [value.var(ddof=1), value.var(ddof=1) * (1 - reduction)], rtol=1e-9)
    plans = [plan_means(raw, 0.05), plan_means(adjusted, 0.05), plan_means(raw, 0.05, variance_reduction=reduction)]
    assert_array_equal(plans[1].units_needed, plans[2].units_needed)
    assert_allclose(plans[1].units_needed / plans[0].units_needed, 1 - reduction, rtol=1e-3)
    # the variance that an experiment of this size would have
    half = (unit_moments(value[:2500], past[:2500]), unit_moments(value[2500:], past[2500:]))
    assert_allclose(cuped(*half).adjusted.variance, adjusted * 4 / 5000, rtol=0.05)
    shown = 1.0 + rng.poisson(4, 5000)
    ratio = unit_moments(value, shown)
    pair = ratio_pair(ratio, ratio)
    assert_allclose(unit_variance(ratio, ratio=True), pair.control_variance * 5000, rtol=1e-9)


def test_planned_power_is_the_power_of_the_test() -> None:
    rng, repetitions, n = np.random.default_rng(1), 4000, 60
    plan = plan_means(1.0, 0.5, units=2 * n)
    control, treatment = rng.normal(size=(n, repetitions)), rng.normal(0.5, 1, (n, repetitions))
    found = np.mean(compare_arms(mean_pair(unit_moments(control), unit_moments(treatment))).p_value <= 0.05)
    assert abs(found - plan.power_at_units[0]) < 4 * np.sqrt(0.25 / repetitions)


def test_units_of_each_arm() -> None:
    plan = plan_means([4.0, 1.0], 0.1, treatment_share=0.2)
    assert_array_equal(plan.control_needed, np.ceil(0.8 * plan.units_needed))
    assert_array_equal(plan.treatment_needed, np.ceil(0.2 * plan.units_needed))
    even = plan_means(4.0, 0.1)
    assert even.control_needed[0] == even.treatment_needed[0] == np.ceil(even.units_needed[0] / 2)


def test_days() -> None:
    assert plan_means(4.0, 0.1, daily_units=800).days_needed[0] == np.ceil(12561 / 800)
    growing = plan_means(4.0, 0.1, daily_units=[5000, 9000, 12_000, 12_561, 13_000])
    assert growing.days_needed[0] == 4
    assert plan_means(4.0, 0.1, daily_units=[5000, 9000]).days_needed[0] == np.inf
    assert np.isnan(plan_means(4.0, 0.1).days_needed[0])


def test_columns_and_what_was_not_asked() -> None:
    plan = plan_means([1.0, 4.0], 0.1, baseline=[2.0, 5.0], relative=True, family_size=2)
    assert_allclose(plan.effect, [0.2, 0.5])
    assert np.isnan(plan.power_at_units).all()
    assert plan.to_dicts()[0]["smallest_detectable"] is None
    assert "Welch" in plan.formula
    # no difference between 0 and 1 can be found with four units
    assert np.isnan(plan_proportions(0.9, 0.05, units=4, power=0.99).smallest_detectable[0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plan_means(0.0, 0.1), "more than 0"),
        (lambda: plan_means(1.0, 0.0), "other than 0"),
        (lambda: plan_means(1.0, 0.1, relative=True), "and a baseline"),
        (lambda: plan_means(1.0, 0.1, variance_reduction=1.0), "below 1"),
        (lambda: plan_means(1.0, 0.1, power=0.01), "power"),
        (lambda: plan_means(1.0, 0.1, treatment_share=1.0), "between 0 and 1"),
        (lambda: plan_means(1.0, 0.1, units=3), "two in each arm"),
        (lambda: plan_means(1.0, 0.1, daily_units=0), "more than 0 units"),
        (lambda: plan_means(1.0, 0.1, daily_units=[5, 4]), "ascending"),
        (lambda: plan_proportions(0.0, 0.1), "between 0 and 1"),
        (lambda: plan_proportions(0.5, 0.6), "relative=True"),
    ],
)
def test_messages(call: Callable[[], object], message: str) -> None:
    with pytest.raises(RankstatsError, match=message):
        call()
