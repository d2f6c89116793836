"""Sign-flip randomisation test of a (weighted) mean difference, and the interval that its flips invert to."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankstats.stats.differences import Differences
from rankstats.stats.flip_readings import Question, Readings, read_drawn, read_enumerated
from rankstats.stats.random_blocks import RNG, generator_from
from rankstats.stats.reading import adjusted_p
from rankstats.stats.results import ColumnResult
from rankstats.stats.sparse_flips import read_sparse
from rankstats.stats.validation import ALTERNATIVES, check_alpha, check_choice, check_count, check_family_size

EXACT_UP_TO = 16
"""Queries, or non-zero differences, up to which all sign patterns are enumerated."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class SignFlipResult(ColumnResult):
    """Result of `sign_flip_test`; array fields have shape (c,).

    Attributes
    ----------
    estimate : ndarray
        (Weighted) mean difference; NaN for a column without queries.
    p_value : ndarray
        1 where all differences are 0, NaN without queries, never 0.
    low, high : ndarray
        Interval of level 1 − alpha; infinite where unbounded; NaN (no interval) where all differences are 0.
    p_adjusted : ndarray
        ``min(1, family_size * p_value)``.
    adjusted_low, adjusted_high : ndarray
        Interval of level 1 − alpha / family_size, matched to `p_adjusted`.
    mid_p : ndarray
        Exact p less half the probability of the observed value; NaN where p is not exact. It has no interval.
    smallest_p : ndarray
        The smallest p-value that these data's pattern count can give.
    exact : ndarray of bool
        Whether all sign patterns were enumerated.
    patterns : ndarray of int
        Sign patterns: 2**n (2**k where zeros were left out of the enumeration), or the number drawn.
    n : ndarray of int
        Queries.
    family_size : ndarray of int
        Comparisons that the adjustment covers.
    alpha : float
        Level.
    alternative : str
        'two-sided', 'greater' or 'less'.
    """

    estimate: Floats
    p_value: Floats
    low: Floats
    high: Floats
    p_adjusted: Floats
    adjusted_low: Floats
    adjusted_high: Floats
    mid_p: Floats
    smallest_p: Floats
    exact: NDArray[np.bool_]
    patterns: NDArray[np.int64]
    n: NDArray[np.int64]
    family_size: NDArray[np.int64]
    alpha: float
    alternative: str


def sign_flip_test(
    differences: Differences,
    *,
    alpha: float = 0.05,
    resamples: int = 10_000,
    rng: RNG = 0,
    alternative: str = "two-sided",
    family_size: ArrayLike = 1,
    batch: int | None = None,
) -> SignFlipResult:
    """Test mean differences by flipping signs, and invert the same flips to intervals.

    1. A sign pattern splits the queries into a flipped and an unflipped set with sums S_F and S_U of w d. Its absolute
       sum reaches the observed one exactly when S_F · S_U ≤ 0; b counts these patterns. Sums of at most
       1e-9 · Σ|w d|, or of no more than rounding to whole units explains, are 0 (of both sets of a pattern only the
       smaller, unless the observed sum is 0 itself).
    2. Up to 16 queries all M = 2**n patterns are enumerated and p = b / M; with more queries, equal weights and at most
       16 non-zero differences the patterns of these are combined with the binomial number of flipped zeros. Otherwise
       B patterns are drawn, the same for all columns, and p = (b + 1) / (B + 1).
    3. The ends of the interval are order statistics of the sets' weighted means (a set without weight counts as −∞
       below and +∞ above), at the rank after the largest count for which p ≤ alpha. Therefore p ≤ alpha exactly when
       the interval leaves out 0, and the same holds for `p_adjusted` and the adjusted interval.
    4. One-sided ('greater'): p counts the flipped sets with S_F ≤ 0, the lower end is an order statistic of the flipped
       sets' means, the upper end is unbounded; 'less' is the mirror image.

    Parameters
    ----------
    differences : Differences
        n queries, c columns; or whole clusters made by `cluster_sums`.
    alpha : float
        Level of test and interval, between 0 and 1.
    resamples : int
        Sign patterns drawn where not all are enumerated.
    rng : int, SeedSequence, BitGenerator, Generator or None
        Seed or source of the random bits; the bits of a query depend on its position only.
    alternative : {'two-sided', 'greater', 'less'}
        'greater' tests for a positive mean difference.
    family_size : int or array_like of int, shape (c,)
        Comparisons for Bonferroni's adjustment.
    batch : int, optional
        Sign patterns held in memory at once; no number depends on it.

    Returns
    -------
    SignFlipResult

    Raises
    ------
    RankstatsError
        If alpha, resamples, alternative, family_size or batch are out of range.

    References
    ----------
    Smucker, Allan & Carterette 2007 (randomisation in IR); Phipson & Smyth 2010 (p-values are never 0);
    Hartigan 1969 (typical values).

    Examples
    --------
    >>> from rankstats.stats import paired_differences
    >>> result = sign_flip_test(paired_differences([0.1] * 6, [0.3] * 6))
    >>> result.p_value.tolist(), result.low.round(9).tolist(), result.exact.tolist()
    ([0.03125], [0.2], [True])
    """
    family = check_family_size(family_size, differences.n_columns)
    question = Question(
        check_alpha(alpha),
        check_choice("alternative", alternative, ALTERNATIVES) == "two-sided",
        check_count("resamples", resamples),
        family,
    )
    oriented = differences.negated() if alternative == "less" else differences
    readings = Readings.of_zeros(differences.n)
    few, sparse, drawn = _kinds(differences)
    read_enumerated(oriented, few, question, readings)
    read_sparse(oriented, sparse, question, readings)
    batch = None if batch is None else check_count("batch", batch)
    read_drawn(oriented, drawn, question, readings, generator=generator_from(rng), batch=batch)
    if alternative == "less":
        readings.mirror()
    return SignFlipResult(
        estimate=differences.mean,
        p_adjusted=adjusted_p(readings.p_value, family),
        n=differences.n,
        family_size=family,
        alpha=question.alpha,
        alternative=alternative,
        **{f.name: getattr(readings, f.name) for f in fields(readings)},
    )


def _kinds(differences: Differences) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the columns to enumerate, those to enumerate over their non-zero differences, and those to draw for."""
    n = differences.n
    non_zero = np.count_nonzero(differences.numerators, axis=0)
    counted = non_zero > 0
    few = counted & (n <= EXACT_UP_TO)
    weights = differences.weight_integers[:, None]
    heaviest = np.max(np.where(differences.present, weights, -np.inf), axis=0, initial=-np.inf)
    lightest = np.min(np.where(differences.present, weights, np.inf), axis=0, initial=np.inf)
    sparse = counted & ~few & (non_zero <= EXACT_UP_TO) & (heaviest == lightest)
    return np.flatnonzero(few), np.flatnonzero(sparse), np.flatnonzero(counted & ~few & ~sparse)
