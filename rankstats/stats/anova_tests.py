"""Several systems tested together with the error of a two-way analysis of variance: Tukey HSD and Dunnett."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from rankstats.errors import RankstatsError
from rankstats.stats.classical import SMALLEST_P, agreeing_ends
from rankstats.stats.complete_values import CompleteValues, all_pairs, complete_values
from rankstats.stats.exact_sums import to_grid
from rankstats.stats.results import ColumnResult
from rankstats.stats.studentised_maxima import many_to_one_tail, studentised_range_tail, upper_point
from rankstats.stats.validation import check_alpha

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Tail: TypeAlias = Callable[[Floats, int], Floats]
"""P(largest statistic ≥ t) on so many degrees of freedom."""


@dataclass(frozen=True, slots=True, eq=False)
class TwoWayAnovaResult(ColumnResult):
    """Result of `two_way_anova`; array fields have shape (3,): systems, queries, error.

    Attributes
    ----------
    source : ndarray of str
        'systems', 'queries', 'error'.
    sum_of_squares, mean_square : ndarray
        Sums of squares, and these over their degrees of freedom.
    df : ndarray of int
        m − 1, n − 1 and (n − 1) (m − 1).
    statistic, p_value : ndarray
        F and its p-value; NaN for the error, and where the error is 0.
    n, left_out : int
        Queries on which all systems are defined, and the others.
    """

    source: NDArray[np.str_]
    sum_of_squares: Floats
    mean_square: Floats
    df: Codes
    statistic: Floats
    p_value: Floats
    n: int
    left_out: int


def two_way_anova(values: ArrayLike) -> TwoWayAnovaResult:
    """Analysis of variance of systems and queries without interaction: one value a cell.

    Parameters
    ----------
    values : array_like, shape (n, m)
        One row a query, one column a system; queries with a NaN are left out and counted.

    Returns
    -------
    TwoWayAnovaResult

    Raises
    ------
    RankstatsError
        If the shape does not fit.

    References
    ----------
    Fisher 1925; R's ``aov(y ~ system + query)``.

    Examples
    --------
    >>> result = two_way_anova([[0.1, 0.2, 0.4], [0.3, 0.3, 0.6], [0.2, 0.4, 0.4]])
    >>> result.df.tolist(), result.statistic[:2].round(3).tolist()
    ([2, 2, 4], [8.909, 3.455])
    """
    array = np.asarray(values, dtype=np.float64)
    kept = complete_values(array)
    n, m = kept.n, kept.n_systems
    df = np.array([m - 1, max(n - 1, 0), max(n - 1, 0) * (m - 1)], dtype=np.int64)
    complete = array[~np.isnan(array).any(axis=1)]
    squares = np.array([_systems_square(kept), _queries_square(complete), _error_square(kept)])
    mean_square = np.divide(squares, df, out=np.full(3, np.nan), where=df > 0)
    statistic = np.full(3, np.nan)
    if mean_square[2] > 0:
        statistic[:2] = mean_square[:2] / mean_square[2]
    tails = special.fdtrc(np.maximum(df, 1), max(df[2], 1), statistic)
    return TwoWayAnovaResult(
        source=np.array(["systems", "queries", "error"]),
        sum_of_squares=squares,
        mean_square=mean_square,
        df=df,
        statistic=statistic,
        p_value=np.maximum(tails, SMALLEST_P),
        n=n,
        left_out=kept.left_out,
    )


def _square_sum(deviations: Floats) -> float:
    squares, unit = to_grid(deviations.reshape(-1, 1) ** 2, max(deviations.size, 1))
    return float(squares.sum() * unit[0])


def _systems_square(kept: CompleteValues) -> float:
    means = kept.integers.sum(axis=0) / max(kept.n, 1)
    grand = float(kept.integers.sum()) / max(kept.integers.size, 1)
    return kept.n * _square_sum(means - grand) * kept.unit**2


def _queries_square(values: Floats) -> float:
    n, m = values.shape
    integers, unit = to_grid(values.reshape(-1, 1), max(values.size, 1))
    integers = integers.reshape(n, m)
    means = integers.sum(axis=1) / m
    grand = float(integers.sum()) / max(values.size, 1)
    return float(m * _square_sum(means - grand) * unit[0] ** 2)


def _error_square(kept: CompleteValues) -> float:
    """Return the residual sum of squares; 0 where residuals are no larger than the rounding of the values."""
    if not kept.n:
        return 0.0
    x = kept.integers
    residuals = x - x.sum(axis=0) / kept.n - x.sum(axis=1, keepdims=True) / kept.n_systems + x.sum() / x.size
    return _square_sum(residuals) * kept.unit**2 if float(np.abs(residuals).max()) > 2 else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class AnovaComparisons(ColumnResult):
    """Result of `tukey_hsd` and `dunnett`; array fields have shape (comparisons,).

    Attributes
    ----------
    baseline, system : ndarray of int
        Positions of the two systems.
    estimate : ndarray
        Mean of system less that of baseline.
    effect_size : ndarray
        The difference over the square root of the error's mean square [Sakai 2018]; NaN where that is 0.
    statistic : ndarray
        t: the difference over `standard_error`; the studentised range statistic is |t| √2.
    p_adjusted : ndarray
        1 where there is no error to compare with, NaN without queries, never 0.
    adjusted_low, adjusted_high : ndarray
        Simultaneous interval of level 1 − alpha; unbounded where there is no error to compare with.
    standard_error : float
        Of a difference of two means.
    critical_value : float
        Standard errors on either side of every estimate.
    df : int
        Degrees of freedom of the error, (n − 1) (m − 1).
    n, left_out : int
        Queries on which all systems are defined, and the others.
    alpha : float
        Level of the family.
    """

    baseline: Codes
    system: Codes
    estimate: Floats
    effect_size: Floats
    statistic: Floats
    p_adjusted: Floats
    adjusted_low: Floats
    adjusted_high: Floats
    standard_error: float
    critical_value: float
    df: int
    n: int
    left_out: int
    alpha: float


def tukey_hsd(values: ArrayLike, *, alpha: float = 0.05) -> AnovaComparisons:
    """Tukey's honestly significant differences of all pairs, with the error of the two-way analysis of variance.

    q = |difference| / √(MSE / n) is referred to the studentised range of m means on (n − 1) (m − 1) degrees of freedom.
    It takes the error to be normal and equal for all pairs. p_adjusted ≤ alpha holds exactly when the interval leaves
    out 0; where rounding in the last digit would contradict, p decides.

    Parameters
    ----------
    values : array_like, shape (n, m)
        One row a query, one column a system; queries with a NaN are left out and counted.
    alpha : float
        Level of the family, between 0 and 1.

    Returns
    -------
    AnovaComparisons
        In the order of `all_pairs`.

    Raises
    ------
    RankstatsError
        If the shape or alpha are out of range.

    References
    ----------
    Tukey 1953; Sakai 2018; R's ``TukeyHSD(aov(y ~ system + query))``.

    Examples
    --------
    >>> result = tukey_hsd([[0.1, 0.2, 0.4], [0.3, 0.3, 0.6], [0.2, 0.4, 0.4]])
    >>> result.p_adjusted.round(4).tolist(), result.df
    ([0.357, 0.03, 0.1217], 4)
    """
    alpha = check_alpha(alpha)
    n_systems = complete_values(values).n_systems

    def tail(t: Floats, df: int) -> Floats:
        return studentised_range_tail(np.sqrt(2) * t, n_systems, df)

    return _compared(values, *all_pairs(n_systems), tail, alpha)


def dunnett(values: ArrayLike, baseline: int = 0, *, alpha: float = 0.05) -> AnovaComparisons:
    """Dunnett's test of every system against one, with the error of the two-way analysis of variance.

    |t| = |difference| / √(2 MSE / n) is referred to the largest of m − 1 absolute t statistics on (n − 1) (m − 1)
    degrees of freedom with correlation ½. scipy's ``dunnett`` is for independent samples and leaves the pairing out.

    Parameters
    ----------
    values : array_like, shape (n, m)
        One row a query, one column a system; queries with a NaN are left out and counted.
    baseline : int
        Position of the system that the others are compared with.
    alpha : float
        Level of the family, between 0 and 1.

    Returns
    -------
    AnovaComparisons
        One row for each of the other systems, in their order.

    Raises
    ------
    RankstatsError
        If the shape, the baseline or alpha are out of range.

    References
    ----------
    Dunnett 1955; R's ``multcomp::glht(…, mcp(system = "Dunnett"))``.

    Examples
    --------
    >>> dunnett([[0.1, 0.2, 0.4], [0.3, 0.3, 0.6], [0.2, 0.4, 0.4]]).p_adjusted.round(4).tolist()
    [0.3042, 0.0237]
    """
    alpha = check_alpha(alpha)
    n_systems = complete_values(values).n_systems
    if not 0 <= baseline < n_systems:
        raise RankstatsError(f"baseline = {baseline}: a position from 0 to {n_systems - 1} is expected")
    others = np.delete(np.arange(n_systems, dtype=np.int64), baseline)

    def tail(t: Floats, df: int) -> Floats:
        return many_to_one_tail(t, len(others), df)

    return _compared(values, np.full(len(others), baseline, dtype=np.int64), others, tail, alpha)


def _compared(values: ArrayLike, baseline: Codes, system: Codes, tail: Tail, alpha: float) -> AnovaComparisons:
    kept = complete_values(values)
    n, df = kept.n, max(kept.n - 1, 0) * (kept.n_systems - 1)
    sums = kept.integers.sum(axis=0)
    estimate = (sums[system] - sums[baseline]) * (kept.unit / n if n else np.nan)
    square = _error_square(kept) / df if df else 0.0
    error = float(np.sqrt(2 * square / n)) if n else np.nan
    if error > 0:
        statistic, effect_size = estimate / error, estimate / np.sqrt(square)
        p_adjusted = np.maximum(tail(np.abs(statistic), df), SMALLEST_P)
        critical = upper_point(lambda t: float(tail(np.array([t]), df)[0]), alpha)
    else:
        statistic = effect_size = np.full(len(estimate), np.nan)
        p_adjusted, critical = np.full(len(estimate), 1.0 if n else np.nan), np.inf
    width = critical * error if error > 0 else np.inf
    low, high = agreeing_ends(p_adjusted <= alpha, estimate, estimate - width, estimate + width)
    return AnovaComparisons(
        baseline=baseline,
        system=system,
        estimate=estimate,
        effect_size=effect_size,
        statistic=statistic,
        p_adjusted=p_adjusted,
        adjusted_low=low,
        adjusted_high=high,
        standard_error=error,
        critical_value=critical,
        df=df,
        n=n,
        left_out=kept.left_out,
        alpha=alpha,
    )
