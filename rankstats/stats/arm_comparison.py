"""Comparing a treatment with a control: p-value and interval from one statistic, absolute or relative."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankstats.stats.arm_pairs import ArmPair
from rankstats.stats.arm_scales import Scale, critical_value, scale_of, tail
from rankstats.stats.classical import SMALLEST_P, agreeing_ends
from rankstats.stats.reading import adjusted_p
from rankstats.stats.results import ColumnResult
from rankstats.stats.validation import ALTERNATIVES, check_alpha, check_choice, check_family_size

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ArmComparison(ColumnResult):
    """Result of `compare_arms`; array fields have shape (c,).

    Attributes
    ----------
    control, treatment : ndarray
        Estimates of the arms.
    estimate : ndarray
        Treatment − control; on a relative scale that difference over the size of the control.
    standard_error : ndarray
        Of the difference; on the scale 'delta' of the relative difference, on 'log' of the logarithm of the ratio; NaN
        for 'fieller', which has none.
    statistic : ndarray
        Distance from no effect in standard errors; NaN without any spread.
    df : ndarray
        Degrees of freedom; infinite for the normal distribution.
    p_value : ndarray
        1 where there is no estimate of spread, NaN where nothing is defined, never 0.
    low, high : ndarray
        Interval of level 1 − alpha, leaving out 0 exactly when p ≤ alpha; infinite where unbounded; NaN (no interval)
        where nothing is defined, or neither arm has any spread and they are equal.
    p_adjusted, adjusted_low, adjusted_high : ndarray
        Bonferroni over `family_size`.
    control_n, treatment_n : ndarray of int
        Units.
    family_size : ndarray of int
        Comparisons that the adjustment covers.
    alpha : float
        Level.
    alternative : str
        'two-sided', 'greater' or 'less'.
    scale : str
        'difference', 'delta', 'log' or 'fieller'.
    reference : str
        't' or 'normal'.
    """

    control: Floats
    treatment: Floats
    estimate: Floats
    standard_error: Floats
    statistic: Floats
    df: Floats
    p_value: Floats
    low: Floats
    high: Floats
    p_adjusted: Floats
    adjusted_low: Floats
    adjusted_high: Floats
    control_n: NDArray[np.int64]
    treatment_n: NDArray[np.int64]
    family_size: NDArray[np.int64]
    alpha: float
    alternative: str
    scale: str
    reference: str


def compare_arms(
    pair: ArmPair,
    *,
    scale: str = "difference",
    alpha: float = 0.05,
    alternative: str = "two-sided",
    reference: str = "t",
    family_size: ArrayLike = 1,
) -> ArmComparison:
    """Test whether two arms differ, with the interval that decides the same way.

    1. 'difference': (treatment − control) over its standard error, on Welch–Satterthwaite degrees of freedom.
    2. 'delta': the relative difference over its linearised standard error. 'log': the logarithm of the ratio over its
       linearised standard error, the ends taken back. 'fieller': treatment − ratio × control over the standard error of
       that difference; its p is that of the absolute difference. The degrees of freedom are those of the difference on
       every scale. Relative effects are undefined where the control's interval of level 1 − alpha covers 0, and on the
       log scale where the arms have different signs; a negative control turns both arms, so −10 → −5 is +50 %.
    3. p and interval come from one statistic: p ≤ alpha exactly when the interval leaves out 0, for the adjusted ones
       too. Where rounding of the last digit would contradict, p decides.

    For other corrections give the column of p-values of a family (metrics × arms × segments) to `adjust`.

    Parameters
    ----------
    pair : ArmPair
        From `mean_pair`, `ratio_pair`, `cuped`, `regression_adjustment` or `quantile_pair`.
    scale : {'difference', 'delta', 'log', 'fieller'}
        What is estimated, and how its interval is made.
    alpha : float
        Level of test and interval, between 0 and 1.
    alternative : {'two-sided', 'greater', 'less'}
        'greater' tests for a treatment above the control.
    reference : {'t', 'normal'}
        Distribution of the statistic.
    family_size : int or array_like of int, shape (c,)
        Comparisons for Bonferroni's adjustment.

    Returns
    -------
    ArmComparison

    Raises
    ------
    RankstatsError
        If an argument is out of range.

    References
    ----------
    Welch 1947; Fieller 1954; Deng, Knoblich & Lu 2018 (delta method).

    Examples
    --------
    >>> from rankstats.stats.arm_pairs import mean_pair
    >>> from rankstats.stats.unit_moments import aggregated_moments
    >>> pair = mean_pair(aggregated_moments(1000, 2.0, 9.0), aggregated_moments(1000, 2.4, 9.6))
    >>> result = compare_arms(pair, scale="fieller")
    >>> result.estimate.round(3).tolist(), result.p_value.round(4).tolist(), result.low.round(3).tolist()
    ([0.2], [0.0034], [0.062])
    """
    alpha = check_alpha(alpha)
    two_sided = check_choice("alternative", alternative, ALTERNATIVES) == "two-sided"
    family = check_family_size(family_size, pair.n_columns)
    on_scale = scale_of(pair, scale, reference)
    statistic = on_scale.statistic()
    oriented = np.abs(statistic) if two_sided else -statistic if alternative == "less" else statistic
    p_value = p_from_tail(on_scale, tail(oriented, on_scale.df) * (2 if two_sided else 1))
    ends = []
    for size in (np.ones_like(family), family):
        defined = on_scale.told_from_zero(alpha / size)
        p = np.where(defined, adjusted_p(p_value, size), np.nan)
        critical = critical_value(alpha / size / (2 if two_sided else 1), on_scale.df)
        ends.append((p, *_interval(on_scale, p, critical, alpha=alpha, alternative=alternative)))
    (p_value, low, high), (p_adjusted, adjusted_low, adjusted_high) = ends
    return ArmComparison(
        control=pair.control,
        treatment=pair.treatment,
        estimate=on_scale.estimate,
        standard_error=on_scale.standard_error,
        statistic=statistic,
        df=on_scale.df,
        p_value=p_value,
        low=low,
        high=high,
        p_adjusted=p_adjusted,
        adjusted_low=adjusted_low,
        adjusted_high=adjusted_high,
        control_n=pair.control_n,
        treatment_n=pair.treatment_n,
        family_size=family,
        alpha=alpha,
        alternative=alternative,
        scale=scale,
        reference=reference,
    )


def p_from_tail(scale: Scale, probability: Floats) -> Floats:
    """Return p-values: 1 where both arms have an estimate but no spread, NaN where an arm has none."""
    known = ~np.isnan(scale.estimate)
    # on the log scale a ratio of at most 0 has no value
    spreadless = known & ~(scale.pair.variance_at(np.ones(scale.pair.n_columns)) > 0)
    return np.where(spreadless, 1.0, np.where(known, np.clip(probability, SMALLEST_P, 1.0), np.nan))


def _interval(scale: Scale, p: Floats, critical: Floats, *, alpha: float, alternative: str) -> tuple[Floats, Floats]:
    """Return the ends that agree with p; unbounded without spread, NaN where p is."""
    low, high = scale.ends(critical)
    spreadless = ~np.isnan(p) & np.isnan(scale.statistic())
    low, high = np.where(spreadless, -np.inf, low), np.where(spreadless, np.inf, high)
    two_sided = alternative == "two-sided"
    towards = scale.estimate if two_sided else np.full(len(p), -1.0 if alternative == "less" else 1.0)
    with np.errstate(invalid="ignore"):  # undefined columns are NaN
        low, high = agreeing_ends(p <= alpha, towards, low, high)
    low = np.full(len(p), -np.inf) if alternative == "less" else low
    high = np.full(len(p), np.inf) if alternative == "greater" else high
    none = np.isnan(p) | (spreadless & (scale.pair.difference == 0) & (scale.pair.variance == 0))
    return np.where(none, np.nan, low), np.where(none, np.nan, high)


def repeated_interval(
    pair: ArmPair, critical: ArrayLike, *, scale: str = "difference", alpha: float = 0.05
) -> tuple[Floats, Floats]:
    """Return the effects that a statistic compared with given critical values does not reject.

    With the bounds of `sequential_bounds` these are repeated confidence intervals, on any scale.

    Parameters
    ----------
    pair : ArmPair
        Estimates.
    critical : float or array_like, shape (c,)
        Critical values, in standard errors; infinite where nothing can be rejected.
    scale : {'difference', 'delta', 'log', 'fieller'}
        As in `compare_arms`.
    alpha : float
        Relative effects are undefined where the control's interval of level 1 − alpha covers 0.

    Returns
    -------
    low, high : ndarray, shape (c,)
        NaN where undefined, infinite where unbounded.

    References
    ----------
    Jennison & Turnbull 2000, chapter 9.

    Examples
    --------
    >>> from rankstats.stats.arm_pairs import mean_pair
    >>> from rankstats.stats.unit_moments import aggregated_moments
    >>> pair = mean_pair(aggregated_moments(100, 2.0, 1.0), aggregated_moments(100, 2.5, 1.0))
    >>> [ends.round(3).tolist() for ends in repeated_interval(pair, 2.68)]
    [[0.121], [0.879]]
    """
    on_scale = scale_of(pair, scale, "normal")
    values = np.broadcast_to(np.asarray(critical, dtype=np.float64), (pair.n_columns,))
    bounded = np.isfinite(values)
    low, high = on_scale.ends(np.where(bounded, values, 1.0))
    known = on_scale.told_from_zero(check_alpha(alpha))
    # a relative effect whose control is not told from 0 at this critical value has no bounds either
    open_low, open_high = ~bounded | (known & np.isnan(low)), ~bounded | (known & np.isnan(high))
    low, high = np.where(open_low, -np.inf, low), np.where(open_high, np.inf, high)
    return np.where(known, low, np.nan), np.where(known, high, np.nan)
