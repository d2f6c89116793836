"""CUPED and regression adjustment: against least squares by statsmodels, definitions, and their own invariances."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from scipy import stats
from statsmodels.regression.linear_model import OLS

from rankstats.errors import RankstatsError
from rankstats.stats import (
    compare_arms,
    covariate_with_missing,
    cuped,
    mean_pair,
    ratio_pair,
    regression_adjustment,
    unit_moments,
)
from tests.stats.experiment.arms import same

Floats = NDArray[np.float64]
METHODS: dict[str, Callable[..., Any]] = {
    "cuped": cuped,
    "common": lambda *arms, **options: regression_adjustment(*arms, slopes="common", **options),
    "separate": lambda *arms, **options: regression_adjustment(*arms, slopes="separate", **options),
}


def _experiment(seed: int, n: int = 60, covariates: int = 1) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Values, covariates (n, p) and arm of the units; the slopes differ between the arms."""
    rng = np.random.default_rng(seed)
    x = rng.lognormal(0, 0.6, (n, covariates)) * 10.0 ** np.arange(covariates)
    treated = rng.random(n) < 0.4
    slope = np.where(treated, 1.4, 0.8)
    return 2 + slope * (x / 10.0 ** np.arange(covariates)).sum(axis=1) + rng.normal(size=n) + 0.3 * treated, x, treated


def _arms(y: Floats, x: Floats, treated: NDArray[np.bool_]) -> tuple[Any, Any]:
    control, treatment = (unit_moments(y[inside], *x[inside].T) for inside in (~treated, treated))
    return control, treatment


@given(st.integers(0, 10_000), st.integers(1, 3))
@settings(max_examples=30)
def test_analysis_of_covariance_equals_statsmodels(seed: int, covariates: int) -> None:
    y, x, treated = _experiment(seed, covariates=covariates)
    fit = OLS(y, np.column_stack([np.ones(len(y)), treated, x])).fit()
    ours = compare_arms(METHODS["common"](*_arms(y, x, treated)).adjusted)
    assert_allclose([ours.estimate[0], ours.standard_error[0]], [fit.params[1], fit.bse[1]], rtol=1e-7)
    assert_allclose([ours.p_value[0], ours.df[0]], [fit.pvalues[1], fit.df_resid], rtol=1e-6)
    assert_allclose([ours.low[0], ours.high[0]], fit.conf_int()[1], rtol=1e-6, atol=1e-9)


@given(st.integers(0, 10_000), st.integers(1, 3))
@settings(max_examples=30)
def test_separate_slopes_are_the_interacted_regression(seed: int, covariates: int) -> None:
    y, x, treated = _experiment(seed, covariates=covariates)
    centred = x - x.mean(axis=0)
    fit = OLS(y, np.column_stack([np.ones(len(y)), treated, centred, treated[:, None] * centred])).fit()
    arms = METHODS["separate"](*_arms(y, x, treated))
    assert_allclose(arms.adjusted.difference[0], fit.params[1], rtol=1e-7)
    variance = 0.0
    for inside in (treated, ~treated):
        residuals = fit.resid[inside]
        variance += residuals @ residuals / (len(residuals) - 1 - covariates) / len(residuals)
    apart = fit.params[2 + covariates :]
    variance += apart @ np.atleast_2d(np.cov(x.T)) @ apart / len(y)
    assert_allclose(arms.adjusted.variance[0], variance, rtol=1e-7)


@given(st.integers(0, 10_000), st.integers(1, 3))
@settings(max_examples=30)
def test_cuped_is_welch_on_adjusted_values(seed: int, covariates: int) -> None:
    y, x, treated = _experiment(seed, covariates=covariates)
    centred = x - x.mean(axis=0)
    theta = np.linalg.lstsq(centred, y - y.mean(), rcond=None)[0]
    adjusted = y - centred @ theta
    theirs = stats.ttest_ind(adjusted[treated], adjusted[~treated], equal_var=False)
    arms = cuped(*_arms(y, x, treated))
    ours = compare_arms(arms.adjusted)
    assert_allclose(arms.slopes[0], theta, rtol=1e-7)
    assert_allclose([ours.statistic[0], ours.df[0], ours.p_value[0]], [*theirs[:1], theirs.df, theirs[1]], rtol=1e-6)
    assert_allclose([ours.control[0], ours.treatment[0]], [adjusted[~treated].mean(), adjusted[treated].mean()])
    assert_allclose(arms.r_squared[0], 1 - adjusted.var() / y.var(), rtol=1e-7)


def test_cuped_of_a_ratio_adjusts_its_linear_parts() -> None:
    rng = np.random.default_rng(2)
    shown, past = 1.0 + rng.poisson(5, 200), rng.gamma(2, 1, 200)
    clicks = rng.binomial(shown.astype(int), np.clip(0.1 * past, 0, 0.9)).astype(float)
    treated = np.arange(200) % 2 == 0
    control, treatment = (unit_moments(clicks[rows], shown[rows], past[rows]) for rows in (~treated, treated))
    arms = cuped(control, treatment, ratio=True)
    linear = np.empty(200)
    for rows in (~treated, treated):
        ratio = clicks[rows].sum() / shown[rows].sum()
        linear[rows] = ratio + (clicks[rows] - ratio * shown[rows]) / shown[rows].mean()
    theta = np.cov(linear, past)[0, 1] / past.var(ddof=1)
    adjusted = linear - theta * (past - past.mean())
    assert_allclose(arms.adjusted.difference[0], adjusted[treated].mean() - adjusted[~treated].mean(), rtol=1e-9)
    variance = adjusted[treated].var(ddof=1) / 100 + adjusted[~treated].var(ddof=1) / 100
    assert_allclose(arms.adjusted.variance[0], variance, rtol=1e-9)
    raw = ratio_pair(control.variables([0, 1]), treatment.variables([0, 1]))
    assert_array_equal(arms.raw.difference, raw.difference)


@pytest.mark.parametrize("method", METHODS)
@given(seed=st.integers(0, 10_000))
@settings(max_examples=25)
def test_aggregates_give_the_same_numbers(method: str, seed: int) -> None:
    arms = _arms(*_experiment(seed, covariates=2))
    one, other = METHODS[method](*arms), METHODS[method](*map(same, arms))
    for scale in ("difference", "fieller"):
        ours, theirs = compare_arms(one.adjusted, scale=scale), compare_arms(other.adjusted, scale=scale)
        for name in ("estimate", "p_value", "low", "high", "df"):
            assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_scale_and_origin_of_covariates_play_no_part(method: str) -> None:
    y, x, treated = _experiment(5, covariates=2)
    plain = METHODS[method](*_arms(y, x, treated)).adjusted
    moved = METHODS[method](*_arms(y, x * [1e-6, 1e6] + [5, -3e6], treated)).adjusted
    assert_allclose([moved.difference, moved.variance], [plain.difference, plain.variance], rtol=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_covariates_that_add_nothing_change_nothing(method: str) -> None:
    y, x, treated = _experiment(6)
    plain = METHODS[method](*_arms(y, x, treated)).adjusted
    for nothing in (np.full((60, 1), 3.0), 2 * x + 1):
        more = METHODS[method](*_arms(y, np.hstack([x, nothing]), treated))
        assert_allclose(more.adjusted.difference, plain.difference, rtol=1e-9)
        assert_allclose(more.adjusted.variance, plain.variance, rtol=1e-9)
        assert more.slopes[0, 1] == 0


def test_an_unrelated_covariate_leaves_the_raw_effect_beside_it() -> None:
    y, _, treated = _experiment(7)
    arms = cuped(*_arms(y, np.full((60, 1), 1.0), treated))
    assert_allclose(arms.adjusted.difference, arms.raw.difference, rtol=1e-12)
    assert arms.explained[0] == pytest.approx(0)
    control, treatment = _arms(y, np.full((60, 1), 1.0), treated)
    assert_array_equal(arms.raw.difference, mean_pair(control.variables([0]), treatment.variables([0])).difference)


def test_units_without_a_past_keep_their_outcome() -> None:
    y, x, treated = _experiment(8, n=200)
    x[::3] = np.nan
    arms = []
    for rows in (~treated, treated):
        arms.append(unit_moments(y[rows], *covariate_with_missing(x[rows, 0])))
    adjusted = cuped(arms[0], arms[1])
    assert adjusted.adjusted.control_n[0] + adjusted.adjusted.treatment_n[0] == 200
    assert 0 < adjusted.explained[0] < 1


def test_relative_effects_know_that_the_arms_share_covariate_means() -> None:
    """The covariance of the adjusted arms, against resampling."""
    y, x, treated = _experiment(9, n=400)
    y = y + 8
    ours = compare_arms(METHODS["separate"](*_arms(y, x, treated)).adjusted, scale="delta")
    rng, drawn = np.random.default_rng(0), []
    for _ in range(250):
        rows = np.concatenate([rng.choice(np.flatnonzero(part), part.sum()) for part in (treated, ~treated)])
        pair = METHODS["separate"](*_arms(y[rows], x[rows], treated[rows])).adjusted
        drawn.append(pair.treatment[0] / pair.control[0] - 1)
    # the standard error of a standard deviation from 250 values is 4.5 %
    assert_allclose(ours.standard_error[0], np.std(drawn), rtol=0.2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cuped(unit_moments([1.0, 2.0]), unit_moments([1.0, 2.0])), "at least one covariate"),
        (lambda: cuped(*[unit_moments([1.0, 2.0], [1.0, 2.0])] * 2, ratio=True), "numerator, denominator"),
        (
            lambda: regression_adjustment(*[unit_moments([1.0, 2.0], [1.0, 2.0])] * 2, slopes="shared"),
            "choose one of common, separate",
        ),
    ],
)
def test_messages(call: Callable[[], object], message: str) -> None:
    with pytest.raises(RankstatsError, match=message):
        call()
