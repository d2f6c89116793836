"""Wilcoxon's signed-rank test, exact with ties and zeros, and the Hodges–Lehmann estimate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy import special

from rankstats.stats.classical import SMALLEST_P
from rankstats.stats.differences import Differences
from rankstats.stats.results import ColumnResult
from rankstats.stats.validation import ALTERNATIVES, check_alpha, check_choice

EXACT_UP_TO = 200
"""Non-zero differences up to which method 'auto' uses the exact distribution."""

ZERO_METHODS = ("wilcox", "pratt")
METHODS = ("auto", "exact", "normal")

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class SignedRankResult(ColumnResult):
    """Result of `signed_rank_test`; array fields have shape (c,).

    Attributes
    ----------
    estimate : ndarray
        Hodges–Lehmann estimate (pseudo-median) of all differences.
    statistic : ndarray
        Sum of the ranks of the positive differences.
    p_value : ndarray
        1 where all differences are 0, NaN without queries, never 0.
    low, high : ndarray
        Interval of the pseudo-median; infinite where n is too small for the level; NaN (no interval) where all
        differences are 0.
    exact : ndarray of bool
        Whether p comes from the exact distribution.
    n, zeros : ndarray of int
        Queries, and those without a difference.
    zero_method : str
        'wilcox' or 'pratt'.
    correction : bool
        Whether the normal approximation uses a continuity correction.
    alpha : float
        Level.
    alternative : str
        'two-sided', 'greater' or 'less'.
    """

    estimate: Floats
    statistic: Floats
    p_value: Floats
    low: Floats
    high: Floats
    exact: NDArray[np.bool_]
    n: NDArray[np.int64]
    zeros: NDArray[np.int64]
    zero_method: str
    correction: bool
    alpha: float
    alternative: str


def signed_rank_test(
    differences: Differences,
    *,
    alpha: float = 0.05,
    alternative: str = "two-sided",
    method: str = "auto",
    zero_method: str = "wilcox",
    correction: bool = False,
) -> SignedRankResult:
    """Wilcoxon's signed-rank test with the Hodges–Lehmann estimate and its interval.

    1. Absolute differences are ranked, ties by mid-ranks; zeros are dropped before ('wilcox') or after ('pratt').
    2. Exact: the distribution of the sum of positive ranks over all sign patterns of the ranks at hand (dynamic
       programming over doubled ranks), so ties and zeros are accounted for. Normal: as
       ``scipy.stats.wilcoxon(method='asymptotic')``, variance corrected for ties.
    3. The estimate is the median of the averages of all pairs (i ≤ j) of all differences; the interval ends at the k-th
       smallest and largest of them, k from the distribution without ties. With ties or zeros interval and p-value may
       therefore disagree at the margin. Weights play no part.

    Parameters
    ----------
    differences : Differences
        n queries, c columns.
    alpha : float
        Level, between 0 and 1.
    alternative : {'two-sided', 'greater', 'less'}
        'greater' tests for positive differences.
    method : {'auto', 'exact', 'normal'}
        'auto' is exact up to 200 non-zero differences.
    zero_method : {'wilcox', 'pratt'}
        Zeros dropped before or after ranking.
    correction : bool
        Continuity correction of the normal approximation.

    Returns
    -------
    SignedRankResult

    Raises
    ------
    RankstatsError
        If an argument is out of range.

    References
    ----------
    Wilcoxon 1945; Pratt 1959; Hollander, Wolfe & Chicken 2014, chapter 3; exact values as R's exactRankTests and coin.

    Examples
    --------
    >>> from rankstats.stats import paired_differences
    >>> d = paired_differences([0.5, 0.25, 0.75, 0.0, 1.0], [0.6, 0.25, 0.65, 0.2, 1.3])
    >>> result = signed_rank_test(d)
    >>> result.statistic.tolist(), result.p_value.tolist()
    ([8.5], [0.375])
    """
    alpha = check_alpha(alpha)
    check_choice("alternative", alternative, ALTERNATIVES)
    check_choice("method", method, METHODS)
    check_choice("zero_method", zero_method, ZERO_METHODS)
    n = differences.n
    non_zero = np.count_nonzero(differences.integers, axis=0)
    exact = non_zero <= EXACT_UP_TO if method == "auto" else np.full(len(n), method == "exact")
    statistic, p_value = np.zeros(len(n)), np.where(n > 0, 1.0, np.nan)
    ends = np.full((len(n), 3), np.nan)
    for column in np.flatnonzero(n):
        values = differences.integers[differences.present[:, column], column]
        ends[column] = _pseudo_median(values, alpha, alternative)
        if non_zero[column]:
            ranks, positive = _signed_ranks(values, zero_method)
            statistic[column] = ranks[positive].sum()
            p_value[column] = _p_of(ranks, statistic[column], alternative, exact[column], correction)
    low, estimate, high = (ends * differences.unit[:, None]).T
    return SignedRankResult(
        estimate=estimate,
        statistic=statistic,
        p_value=p_value,
        low=np.where(non_zero > 0, low, np.nan),
        high=np.where(non_zero > 0, high, np.nan),
        exact=exact,
        n=n,
        zeros=n - non_zero,
        zero_method=zero_method,
        correction=correction,
        alpha=alpha,
        alternative=alternative,
    )


def _signed_ranks(values: Floats, zero_method: str) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the ranks of the non-zero differences and which of these are positive."""
    if zero_method == "wilcox":
        values = values[values != 0]
    ranks = scipy.stats.rankdata(np.abs(values))
    counted = values != 0
    return ranks[counted], values[counted] > 0


def _p_of(ranks: Floats, statistic: float, alternative: str, exact: bool, correction: bool) -> float:
    if exact:
        return min(1.0, max(_exact_p(ranks, statistic, alternative), SMALLEST_P))
    return min(1.0, max(_normal_p(ranks, statistic, alternative, correction), SMALLEST_P))


def _exact_p(ranks: Floats, statistic: float, alternative: str) -> float:
    doubled = np.rint(2 * ranks).astype(np.int64)
    probability = np.zeros(int(doubled.sum()) + 1)
    probability[0] = 1.0
    reached = 0
    for rank in doubled:
        probability[rank : reached + rank + 1] += probability[: reached + 1].copy()
        reached += rank
        probability[: reached + 1] *= 0.5
    at = round(2 * statistic)
    upper, lower = float(probability[at:].sum()), float(probability[: at + 1].sum())
    return {"two-sided": 2 * min(upper, lower), "greater": upper, "less": lower}[alternative]


def _normal_p(ranks: Floats, statistic: float, alternative: str, correction: bool) -> float:
    # Σr²/4 over the given ranks is the variance with its corrections for ties and zeros
    deviation = statistic - ranks.sum() / 2
    if correction:
        shift = {"two-sided": np.sign(deviation), "greater": 1.0, "less": -1.0}[alternative]
        deviation -= 0.5 * shift
    z = deviation / np.sqrt(np.sum(ranks**2) / 4)
    return float(
        {"two-sided": 2 * special.ndtr(-abs(z)), "greater": special.ndtr(-z), "less": special.ndtr(z)}[alternative]
    )


def _pseudo_median(values: Floats, alpha: float, alternative: str) -> tuple[float, float, float]:
    """Return lower end, estimate and upper end in units of the differences."""
    ordered, n = np.sort(values), len(values)
    averages = n * (n + 1) // 2
    middle = (_pair_sum(ordered, (averages + 1) // 2) + _pair_sum(ordered, averages // 2 + 1)) / 4
    k = _interval_rank(n, alpha / 2 if alternative == "two-sided" else alpha)
    low = _pair_sum(ordered, k) / 2 if k and alternative != "less" else -np.inf
    high = _pair_sum(ordered, averages + 1 - k) / 2 if k and alternative != "greater" else np.inf
    return low, middle, high


def _pair_sum(ordered: Floats, rank: int) -> float:
    """Return the rank-th smallest sum of two values i ≤ j, by bisection: they are whole numbers."""
    low, high = 2 * ordered[0] - 1, 2 * ordered[-1]
    places = np.arange(len(ordered))
    while high - low > 1:
        middle = np.floor((low + high) / 2)
        partners = np.searchsorted(ordered, middle - ordered, side="right") - places
        low, high = (low, middle) if np.maximum(partners, 0).sum() >= rank else (middle, high)
    return float(high)


def _interval_rank(n: int, tail: float) -> int:
    """Return the largest k with P(W < k) ≤ tail, W the signed-rank sum of n untied differences; 0 if there is none."""
    if n > EXACT_UP_TO:
        centre, spread = n * (n + 1) / 4, np.sqrt(n * (n + 1) * (2 * n + 1) / 24)
        return max(0, int(np.floor(centre + 0.5 + spread * special.ndtri(tail))))
    probability = np.zeros(n * (n + 1) // 2 + 1)
    probability[0] = 1.0
    for rank in range(1, n + 1):
        probability[rank:] = (probability[rank:] + probability[:-rank]) / 2
        probability[:rank] /= 2
    return int(np.searchsorted(np.cumsum(probability), tail, side="right"))
