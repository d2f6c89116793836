"""Tests on the ranks of several systems within queries: Friedman, Iman–Davenport, Nemenyi, Conover.

A system's mean rank depends on which other systems are in the pool: adding or removing a third system can turn a
difference of two round, and its significance with it [Benavoli, Corani & Mangili 2016]. Compare pairs with a test of
their own (`sign_flip_test`, `signed_rank_test`) and a correction; these are here because readers ask for them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray
from scipy import special

from rankstats.stats.classical import SMALLEST_P, agreeing_ends
from rankstats.stats.complete_values import all_pairs, complete_values
from rankstats.stats.query_permutations import enumerated_sums
from rankstats.stats.results import ColumnResult
from rankstats.stats.studentised_maxima import studentised_range_tail, upper_point
from rankstats.stats.validation import check_alpha

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class FriedmanResult(ColumnResult):
    """Result of `friedman_test`; `mean_rank` has shape (m,), one entry a system.

    Attributes
    ----------
    mean_rank : ndarray
        Mean over the queries of the rank within a query, 1 for the highest value, tied values sharing their mean rank.
    statistic, df, p_value : float, int, float
        Friedman's χ² with correction for ties, on m − 1 degrees of freedom; p = 1 where no query tells systems apart.
    p_exact : float
        Share of all permutations within queries with a statistic at least as large; NaN where they are too many.
    iman_davenport, iman_davenport_df, iman_davenport_p : float, int, float
        F on m − 1 and `iman_davenport_df` = (n − 1) (m − 1) degrees of freedom; where all queries agree, F is infinite
        and p = (1 / m!)**(n − 1) [Conover 1999].
    kendall_w : float
        Kendall's coefficient of concordance, χ² / (n (m − 1)): 1 where all queries agree.
    n, left_out : int
        Queries on which all systems are defined, and the others.
    """

    mean_rank: Floats
    statistic: float
    df: int
    p_value: float
    p_exact: float
    iman_davenport: float
    iman_davenport_df: int
    iman_davenport_p: float
    kendall_w: float
    n: int
    left_out: int


def friedman_test(values: ArrayLike) -> FriedmanResult:
    """Friedman's test that no system tends to rank above another, with Iman and Davenport's F and Kendall's W.

    1. Systems are ranked within every query, 1 for the highest value; values at most one unit apart (about 1e-10 of the
       largest) are tied.
    2. With R_j the sum of a system's ranks, A = Σ r² and C = n m (m + 1)² / 4:
       χ² = (m − 1) Σ(R_j − n(m + 1)/2)² / (A − C), F = (n − 1) χ² / (n (m − 1) − χ²), W = χ² / (n (m − 1)).
    3. The exact p enumerates the permutations of the ranks within queries where there are few enough distinct sums.

    Mean ranks, and so the result, depend on which systems are in the pool [Benavoli, Corani & Mangili 2016].

    Parameters
    ----------
    values : array_like, shape (n, m)
        One row a query, one column a system; queries with a NaN are left out and counted. Where lower is better, hand
        in the negated values.

    Returns
    -------
    FriedmanResult

    Raises
    ------
    RankstatsError
        If the shape does not fit.

    References
    ----------
    Friedman 1937; Iman & Davenport 1980; Conover 1999, section 5.8; R's ``friedman.test``.

    Examples
    --------
    >>> result = friedman_test([[0.1, 0.2, 0.4], [0.3, 0.3, 0.6], [0.2, 0.5, 0.4], [0.1, 0.3, 0.4]])
    >>> result.mean_rank.tolist(), round(result.statistic, 4), round(result.p_value, 4)
    ([2.875, 1.875, 1.25], 5.7333, 0.0569)
    >>> round(result.p_exact * 6**4), round(result.kendall_w, 4)
    (84, 0.7167)
    """
    ranks = _Ranks.of(values)
    n, m = ranks.n, ranks.m
    df2 = max(n - 1, 0) * (m - 1)
    statistic = ranks.statistic
    rest = n * (m - 1) - statistic
    agree = ranks.left == 0 and ranks.spread > 0
    f = np.inf if agree else (n - 1) * statistic / rest if rest > 0 else 0.0
    f_p = math.factorial(m) ** (1.0 - n) if agree and m <= 170 else float(special.fdtrc(m - 1, max(df2, 1), f))
    nothing = 1.0 if n else np.nan
    tested = ranks.spread > 0
    return FriedmanResult(
        mean_rank=ranks.sums / n if n else np.full(m, np.nan),
        statistic=statistic if n else np.nan,
        df=m - 1,
        p_value=max(float(special.chdtrc(m - 1, statistic)), SMALLEST_P) if tested else nothing,
        p_exact=ranks.exact_p() if tested else nothing,
        iman_davenport=float(f) if n > 1 else np.nan,
        iman_davenport_df=df2,
        iman_davenport_p=max(f_p, SMALLEST_P) if tested and n > 1 else nothing,
        kendall_w=statistic / (n * (m - 1)) if tested else np.nan,
        n=n,
        left_out=ranks.left_out,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Ranks:
    """Ranks within queries, and what all tests make of them."""

    within: Floats
    sums: Floats
    left_out: int

    @classmethod
    def of(cls, values: ArrayLike) -> _Ranks:
        kept = complete_values(values)
        within = scipy.stats.rankdata(-kept.integers, axis=1) if kept.n else kept.integers
        return cls(within, within.sum(axis=0), kept.left_out)

    @property
    def n(self) -> int:
        """Queries."""
        return int(self.within.shape[0])

    @property
    def m(self) -> int:
        """Systems."""
        return int(self.within.shape[1])

    @property
    def spread(self) -> float:
        """A − C: squares of the ranks about their mean; 0 where all are tied. Sums of quarters are exact."""
        n, m = self.n, self.m
        return float(np.sum(self.within**2)) - n * m * (m + 1) ** 2 / 4

    @property
    def between(self) -> float:
        """Squares of the rank sums about their mean."""
        n, m = self.n, self.m
        return float(np.sum(self.sums**2)) - n**2 * m * (m + 1) ** 2 / 4

    @property
    def statistic(self) -> float:
        """Friedman's χ²; 0 where all are tied."""
        return (self.m - 1) * self.between / self.spread if self.spread > 0 else 0.0

    @property
    def left(self) -> float:
        """Within queries, n A − Σ R²: 0 where all queries agree."""
        return self.n * float(np.sum(self.within**2)) - float(np.sum(self.sums**2))

    def exact_p(self) -> float:
        enumerated = enumerated_sums(self.within * 2)
        if enumerated is None:
            return np.nan
        sums, count, counted, _ = enumerated
        reaches = np.sum(sums**2, axis=1) >= self._observed_square()
        return float(count[reaches].sum() / counted)

    def _observed_square(self) -> float:
        # queries in which all are tied have been left out of the enumeration
        differing = self.within[np.ptp(self.within, axis=1) > 0]
        return float(np.sum((2 * differing).sum(axis=0) ** 2))


@dataclass(frozen=True, slots=True, eq=False)
class RankPairsResult(ColumnResult):
    """Result of `nemenyi_test` and `conover_test`; array fields have shape (pairs,), in the order of `all_pairs`.

    Attributes
    ----------
    baseline, system : ndarray of int
        Positions of the two systems.
    estimate : ndarray
        Mean rank of baseline less that of system: positive where system ranks higher (nearer to 1).
    statistic : ndarray
        Nemenyi: `estimate` over √(m (m + 1) / (6 n)). Conover: t.
    p_value : ndarray
        Nemenyi: for all pairs together, already adjusted. Conover: of each pair, not adjusted. 1 where the systems
        rank alike, NaN without queries, never 0.
    low, high : ndarray
        Interval of `estimate`, matched to p: estimate ± `critical_difference`.
    critical_difference : float
        Smallest difference of mean ranks that is significant at alpha; infinite where there is none.
    n, left_out : int
        Queries on which all systems are defined, and the others.
    alpha : float
        Level.
    """

    baseline: Codes
    system: Codes
    estimate: Floats
    statistic: Floats
    p_value: Floats
    low: Floats
    high: Floats
    critical_difference: float
    n: int
    left_out: int
    alpha: float


def nemenyi_test(values: ArrayLike, *, alpha: float = 0.05) -> RankPairsResult:
    """Nemenyi's comparison of all pairs of mean ranks, with its critical difference.

    z = |difference of mean ranks| / √(m (m + 1) / (6 n)); z √2 is referred to the range of m normal variables, without
    a correction for ties, which makes it conservative where there are many. The critical difference is the smallest
    difference with p ≤ alpha, q / √2 · √(m (m + 1) / (6 n)).

    A pair's result depends on which other systems are in the pool [Benavoli, Corani & Mangili 2016].

    Parameters
    ----------
    values : array_like, shape (n, m)
        One row a query, one column a system; higher is better. Queries with a NaN are left out and counted.
    alpha : float
        Level of the family, between 0 and 1.

    Returns
    -------
    RankPairsResult

    Raises
    ------
    RankstatsError
        If the shape or alpha are out of range.

    References
    ----------
    Nemenyi 1963; Demšar 2006.

    Examples
    --------
    >>> result = nemenyi_test([[0.1, 0.2, 0.4], [0.3, 0.3, 0.6], [0.2, 0.5, 0.4], [0.1, 0.3, 0.4]])
    >>> result.estimate.tolist(), result.p_value.round(4).tolist(), round(result.critical_difference, 4)
    ([1.0, 1.625, 0.625], [0.3335, 0.0561, 0.6505], 1.6572)
    """
    alpha = check_alpha(alpha)
    ranks = _Ranks.of(values)
    n, m = ranks.n, ranks.m
    error = math.sqrt(m * (m + 1) / (6 * n)) if n else np.nan

    def tail(z: Floats) -> Floats:
        return studentised_range_tail(np.sqrt(2) * z, m, np.inf)

    point = upper_point(lambda z: float(tail(np.array([z]))[0]), alpha)
    statistic = _rank_differences(ranks, error)
    p_value = np.where(statistic == 0, 1.0, np.maximum(tail(np.abs(np.nan_to_num(statistic))), SMALLEST_P))
    return _rank_pairs(ranks, statistic, p_value, point * error, alpha)


def conover_test(values: ArrayLike, *, alpha: float = 0.05) -> RankPairsResult:
    """Conover's comparison of pairs of rank sums after Friedman's test, each by itself (adjust the p-values yourself).

    t = |R_i − R_j| / √(2 (n A − Σ R²) / ((n − 1) (m − 1))) on (n − 1) (m − 1) degrees of freedom, with A the sum of the
    squared ranks. Where all queries agree on the order, there is no spread to compare with: p is that of the sign test,
    2**(1 − n), for systems of different rank, and the interval is left unbounded or at the estimate to match.

    A pair's result depends on which other systems are in the pool [Benavoli, Corani & Mangili 2016].

    Parameters
    ----------
    values : array_like, shape (n, m)
        One row a query, one column a system; higher is better. Queries with a NaN are left out and counted.
    alpha : float
        Level of each pair, between 0 and 1.

    Returns
    -------
    RankPairsResult

    Raises
    ------
    RankstatsError
        If the shape or alpha are out of range.

    References
    ----------
    Conover 1999, section 5.8; scikit-posthocs' ``posthoc_conover_friedman``.

    Examples
    --------
    >>> result = conover_test([[0.1, 0.2, 0.4], [0.3, 0.3, 0.6], [0.2, 0.5, 0.4], [0.1, 0.3, 0.4]])
    >>> result.p_value.round(4).tolist()
    [0.055, 0.0083, 0.188]
    """
    alpha = check_alpha(alpha)
    ranks = _Ranks.of(values)
    n, m = ranks.n, ranks.m
    df = max(n - 1, 0) * (m - 1)
    error = math.sqrt(2 * ranks.left / df) / n if df else np.nan
    if error > 0:
        statistic = _rank_differences(ranks, error)
        p_value = np.maximum(2 * special.stdtr(df, -np.abs(statistic)), SMALLEST_P)
        return _rank_pairs(ranks, statistic, p_value, -float(special.stdtrit(df, alpha / 2)) * error, alpha)
    statistic = np.full(m * (m - 1) // 2, np.nan)
    agreed = max(2.0 ** (1 - n), SMALLEST_P) if n else np.nan
    p_value = np.where(_rank_differences(ranks, 1.0) == 0, 1.0, agreed)
    return _rank_pairs(ranks, statistic, p_value, 0.0 if agreed <= alpha else np.inf, alpha)


def _rank_differences(ranks: _Ranks, error: float) -> Floats:
    n, m = ranks.n, ranks.m
    baseline, system = all_pairs(m)
    return np.asarray((ranks.sums[baseline] - ranks.sums[system]) / (n * error if n else np.nan))


def _rank_pairs(ranks: _Ranks, statistic: Floats, p_value: Floats, critical: float, alpha: float) -> RankPairsResult:
    n, m = ranks.n, ranks.m
    baseline, system = all_pairs(m)
    estimate = _rank_differences(ranks, 1.0)
    low, high = agreeing_ends(p_value <= alpha, estimate, estimate - critical, estimate + critical)
    return RankPairsResult(
        baseline=baseline,
        system=system,
        estimate=estimate,
        statistic=statistic,
        p_value=p_value if n else np.full(len(estimate), np.nan),
        low=low,
        high=high,
        critical_difference=critical,
        n=n,
        left_out=ranks.left_out,
        alpha=alpha,
    )
