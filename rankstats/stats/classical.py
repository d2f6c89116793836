"""Paired t test and sign test, with their intervals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from rankstats.stats.differences import Differences, paired_differences
from rankstats.stats.results import ColumnResult
from rankstats.stats.validation import ALTERNATIVES, check_alpha, check_choice

SMALLEST_P = float(np.finfo(np.float64).tiny)
"""What a p-value too small for double precision is given as: p is never 0."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class PairedTResult(ColumnResult):
    """Result of `paired_t`; array fields have shape (c,).

    Attributes
    ----------
    estimate, standard_error : ndarray
        (Weighted) mean difference and its (linearised) standard error.
    statistic : ndarray
        t; NaN where the standard error is 0 or n < 2.
    df : ndarray of int
        n − 1.
    p_value : ndarray
        1 where t is not defined, NaN without queries, never 0.
    low, high : ndarray
        Interval of level 1 − alpha; unbounded where t is not defined; NaN (no interval) where all differences are 0.
    n : ndarray of int
        Queries.
    alpha : float
        Level.
    alternative : str
        'two-sided', 'greater' or 'less'.
    """

    estimate: Floats
    standard_error: Floats
    statistic: Floats
    df: NDArray[np.int64]
    p_value: Floats
    low: Floats
    high: Floats
    n: NDArray[np.int64]
    alpha: float
    alternative: str


def paired_t(differences: Differences, *, alpha: float = 0.05, alternative: str = "two-sided") -> PairedTResult:
    """Paired t test of the mean difference, with its interval d ± t · se on n − 1 degrees of freedom.

    With weights the mean is Σwd / Σw and the standard error is linearised (R's ``svymean``). Where all differences are
    equal and not 0 there is no estimate of spread: t is not defined, p = 1 and the interval is unbounded. p ≤ alpha
    holds exactly when the interval leaves out 0; where rounding in the last digit would contradict, p decides.

    Parameters
    ----------
    differences : Differences
        n queries, c columns.
    alpha : float
        Level of test and interval, between 0 and 1.
    alternative : {'two-sided', 'greater', 'less'}
        'greater' tests for a positive mean difference.

    Returns
    -------
    PairedTResult

    Raises
    ------
    RankstatsError
        If alpha or alternative are out of range.

    References
    ----------
    Student 1908; Lumley 2010 for the linearised standard error.

    Examples
    --------
    >>> from rankstats.stats import paired_differences
    >>> result = paired_t(paired_differences([0.31, 0.52, 0.11, 0.75], [0.36, 0.49, 0.25, 0.86]))
    >>> result.statistic.round(4).tolist(), result.p_value.round(4).tolist()
    ([1.8], [0.1697])
    """
    alpha = check_alpha(alpha)
    two_sided = check_choice("alternative", alternative, ALTERNATIVES) == "two-sided"
    estimate, error, n = differences.mean, differences.standard_error, differences.n
    defined = error > 0
    statistic = np.divide(estimate, error, out=np.full(len(n), np.nan), where=defined)
    oriented = -np.abs(statistic) if two_sided else statistic if alternative == "less" else -statistic
    df = np.maximum(n - 1, 1)
    tail = special.stdtr(df, oriented) * (2 if two_sided else 1)
    p_value = np.where(defined, np.clip(tail, SMALLEST_P, 1.0), np.where(n > 0, 1.0, np.nan))
    quantile = -special.stdtrit(df, alpha / 2 if two_sided else alpha)
    width = np.where(defined, quantile * np.where(defined, error, 1.0), np.inf)
    towards = estimate if two_sided else np.full(len(n), -1.0 if alternative == "less" else 1.0)
    low, high = agreeing_ends(p_value <= alpha, towards, estimate - width, estimate + width)
    if alternative == "greater":
        high = np.full(len(n), np.inf)
    if alternative == "less":
        low = np.full(len(n), -np.inf)
    zero = ~np.any(differences.integers != 0, axis=0)
    return PairedTResult(
        estimate=estimate,
        standard_error=error,
        statistic=statistic,
        df=np.maximum(n - 1, 0),
        p_value=p_value,
        low=np.where(zero, np.nan, low),
        high=np.where(zero, np.nan, high),
        n=n,
        alpha=alpha,
        alternative=alternative,
    )


def agreeing_ends(significant: NDArray[np.bool_], towards: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Settle, in favour of p, ends that are on the wrong side of 0 by the rounding of a quantile.

    `towards` is positive where a significant interval lies above 0 and negative where it lies below.

    Examples
    --------
    >>> agreeing_ends(np.array([False]), np.array([1.0]), np.array([1e-17]), np.array([2.0]))
    (array([0.]), array([2.]))
    """
    above, below = significant & (towards > 0), significant & (towards < 0)
    low = np.where(above, np.maximum(low, SMALLEST_P), np.where(below, low, np.minimum(low, 0.0)))
    high = np.where(below, np.minimum(high, -SMALLEST_P), np.where(above, high, np.maximum(high, 0.0)))
    return low, high


@dataclass(frozen=True, slots=True, eq=False)
class MeanIntervalResult(ColumnResult):
    """Result of `mean_interval`; array fields have shape (c,).

    Attributes
    ----------
    mean, standard_error : ndarray
        (Weighted) mean and its (linearised) standard error.
    low, high : ndarray
        Interval of level 1 − alpha; unbounded for n = 1, NaN for n = 0.
    n : ndarray of int
        Queries.
    alpha : float
        1 − level.
    """

    mean: Floats
    standard_error: Floats
    low: Floats
    high: Floats
    n: NDArray[np.int64]
    alpha: float


def mean_interval(values: ArrayLike, weights: ArrayLike | None = None, *, alpha: float = 0.05) -> MeanIntervalResult:
    """Return means of single columns with t intervals: for showing systems one by one, not for comparing them.

    The interval is m ± t · se on n − 1 degrees of freedom, a point where all values are equal. It may pass the bounds
    of a measure.

    Parameters
    ----------
    values : array_like, shape (n,) or (n, c)
        One value a query; NaN where undefined.
    weights : array_like, shape (n,), optional
        Weights of the queries, 0 or more.
    alpha : float
        1 − level.

    Returns
    -------
    MeanIntervalResult

    Raises
    ------
    RankstatsError
        If shapes, weights or alpha are out of range.

    Examples
    --------
    >>> mean_interval([0.5, 0.7, 0.6, 0.8]).low.round(3).tolist()
    [0.445]
    """
    array = np.asarray(values, dtype=np.float64)
    return interval_of_means(paired_differences(np.zeros(array.shape), array, weights), alpha=alpha)


def interval_of_means(column: Differences, *, alpha: float = 0.05) -> MeanIntervalResult:
    """Return the means of columns with t intervals, as `mean_interval` does; columns are differences from 0."""
    alpha = check_alpha(alpha)
    error, n = column.standard_error, column.n
    quantile = -special.stdtrit(np.maximum(n - 1, 1), alpha / 2)
    width = np.where(n > 1, quantile * error, np.where(n > 0, np.inf, np.nan))
    return MeanIntervalResult(column.mean, error, column.mean - width, column.mean + width, n, alpha)


@dataclass(frozen=True, slots=True, eq=False)
class SignTestResult(ColumnResult):
    """Result of `sign_test`; array fields have shape (c,).

    Attributes
    ----------
    estimate : ndarray
        Median of all differences.
    wins, losses, ties : ndarray of int
        Positive, negative and zero differences.
    p_value : ndarray
        1 where all differences are 0, NaN without queries, never 0.
    low, high : ndarray
        Interval of the median, of a level of at least 1 − alpha; infinite where n is too small for it; NaN (no
        interval) where all differences are 0.
    n : ndarray of int
        Queries.
    alpha : float
        Level.
    alternative : str
        'two-sided', 'greater' or 'less'.
    """

    estimate: Floats
    wins: NDArray[np.int64]
    losses: NDArray[np.int64]
    ties: NDArray[np.int64]
    p_value: Floats
    low: Floats
    high: Floats
    n: NDArray[np.int64]
    alpha: float
    alternative: str


def sign_test(differences: Differences, *, alpha: float = 0.05, alternative: str = "two-sided") -> SignTestResult:
    """Exact binomial test of wins against losses, ties dropped; beside it the interval of the median difference.

    The interval is made of order statistics of all differences, ties included: the k-th smallest and largest, k the
    largest number with P(Bin(n, ½) < k) ≤ alpha / 2 (alpha one-sided). It speaks of the median, the p-value of the
    share of wins among decided queries, so with ties the two may disagree. Weights play no part.

    Parameters
    ----------
    differences : Differences
        n queries, c columns.
    alpha : float
        Level, between 0 and 1.
    alternative : {'two-sided', 'greater', 'less'}
        'greater' tests for more wins than losses.

    Returns
    -------
    SignTestResult

    Raises
    ------
    RankstatsError
        If alpha or alternative are out of range.

    References
    ----------
    Conover 1999, sections 3.2 and 3.4; R's ``binom.test``.

    Examples
    --------
    >>> from rankstats.stats import paired_differences
    >>> result = sign_test(paired_differences([0.1] * 6, [0.2, 0.3, 0.4, 0.5, 0.6, 0.1]))
    >>> result.p_value.tolist(), result.wins.tolist(), result.ties.tolist()
    ([0.0625], [5], [1])
    """
    alpha = check_alpha(alpha)
    two_sided = check_choice("alternative", alternative, ALTERNATIVES) == "two-sided"
    wins = np.count_nonzero(differences.integers > 0, axis=0)
    losses = np.count_nonzero(differences.integers < 0, axis=0)
    decided, n = wins + losses, differences.n
    at_most = {"two-sided": np.minimum(wins, losses), "greater": losses, "less": wins}[alternative]
    tail = special.bdtr(at_most, decided, 0.5) * (2 if two_sided else 1)
    p_value = np.where(n > 0, np.clip(np.where(decided > 0, tail, 1.0), SMALLEST_P, 1.0), np.nan)
    ends = np.array([_median_ends(differences, column, alpha, two_sided) for column in range(len(n))]).reshape(-1, 3)
    zero = decided == 0
    return SignTestResult(
        estimate=ends[:, 1],
        wins=wins,
        losses=losses,
        ties=n - decided,
        p_value=p_value,
        low=np.where(zero, np.nan, -np.inf if alternative == "less" else ends[:, 0]),
        high=np.where(zero, np.nan, np.inf if alternative == "greater" else ends[:, 2]),
        n=n,
        alpha=alpha,
        alternative=alternative,
    )


def _median_ends(differences: Differences, column: int, alpha: float, two_sided: bool) -> tuple[float, float, float]:
    present = differences.present[:, column]
    ordered = np.sort(differences.integers[present, column]) * differences.unit[column]
    n = len(ordered)
    if n == 0:
        return np.nan, np.nan, np.nan
    below = special.bdtr(np.arange(n), n, 0.5)
    k = int(np.searchsorted(below, alpha / 2 if two_sided else alpha, side="right"))
    median = float(np.median(ordered))
    return (float(ordered[k - 1]), median, float(ordered[n - k])) if k else (-np.inf, median, np.inf)
