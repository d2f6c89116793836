"""Where systems stand among many: rank intervals; and how well a measure tells them apart: discriminative power."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankstats.errors import RankstatsError
from rankstats.stats.complete_values import all_pairs, systems_of
from rankstats.stats.results import ColumnResult
from rankstats.stats.validation import check_alpha

FEWEST_SYSTEMS = 5
"""Discriminative power says nothing about a measure with fewer systems than this."""

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class RankIntervals(ColumnResult):
    """Result of `rank_intervals`; array fields have shape (m,), one entry a system.

    Attributes
    ----------
    low, high : ndarray of int
        Ranks that the system may have, 1 for the best: 1 + `n_better` and m − `n_worse`.
    n_better, n_worse : ndarray of int
        Systems that are significantly better, and significantly worse.
    """

    low: Codes
    high: Codes
    n_better: Codes
    n_worse: Codes


def rank_intervals(estimates: ArrayLike, significant: ArrayLike) -> RankIntervals:
    """Turn the simultaneous test of all pairs into an interval of ranks for every system.

    A system's rank is at least 1 + the number of systems significantly better, and at most m − the number significantly
    worse. When the test keeps the probability of any false claim below alpha, all intervals hold the ranks of the true
    means at once with probability 1 − alpha at least (ranks of equal means count as any of the ranks they share).

    Parameters
    ----------
    estimates : array_like, shape (pairs,)
        Differences of all pairs in the order of `all_pairs`: later system less earlier one, positive where the later
        one is better (negate for measures of which lower is better).
    significant : array_like of bool, shape (pairs,)
        Pairs that are told apart by a simultaneous all-pairs test: p_adjusted ≤ alpha of `flip_max_t`,
        `bootstrap_max_t`, `randomised_tukey` or `adjust`.

    Returns
    -------
    RankIntervals

    Raises
    ------
    RankstatsError
        If the shapes do not belong to all pairs of some number of systems.

    References
    ----------
    Al Mohamad, Goeman & van Zwet 2022 (simultaneous confidence intervals for ranks from pairwise tests).

    Examples
    --------
    >>> result = rank_intervals([0.1, 0.3, 0.2], [False, True, False])
    >>> list(zip(result.low.tolist(), result.high.tolist()))
    [(2, 3), (1, 3), (1, 2)]
    """
    estimate, told_apart = np.asarray(estimates, dtype=np.float64), np.asarray(significant, dtype=bool)
    if estimate.ndim != 1 or told_apart.shape != estimate.shape:
        raise RankstatsError(f"shapes {estimate.shape} and {told_apart.shape}: one entry for each pair is expected")
    m = systems_of(len(estimate))
    baseline, system = all_pairs(m)
    later, earlier = told_apart & (estimate > 0), told_apart & (estimate < 0)
    better = np.bincount(baseline[later], minlength=m) + np.bincount(system[earlier], minlength=m)
    worse = np.bincount(system[later], minlength=m) + np.bincount(baseline[earlier], minlength=m)
    return RankIntervals(low=1 + better, high=m - worse, n_better=better, n_worse=worse)


@dataclass(frozen=True, slots=True, eq=False)
class DiscriminativePower(ColumnResult):
    """Result of `discriminative_power`; array fields have one entry, or one row, a measure.

    Attributes
    ----------
    power : ndarray, shape (k,)
        Share of the pairs with p ≤ alpha.
    told_apart : ndarray of int, shape (k,)
        Number of these pairs.
    required_difference : ndarray, shape (k,)
        The difference that is significant for every pair: the largest half-width; NaN where no intervals are given.
    curve : ndarray, shape (k, pairs)
        Achieved significance levels of the pairs, descending: lower curves are of more discriminative measures.
    pairs : int
        Pairs of systems.
    alpha : float
        Level of each pair.
    """

    power: Floats
    told_apart: Codes
    required_difference: Floats
    curve: Floats
    pairs: int
    alpha: float


def discriminative_power(
    p_values: ArrayLike, half_widths: ArrayLike | None = None, *, alpha: float = 0.05
) -> DiscriminativePower:
    """How many pairs of systems a measure tells apart, and its curve of achieved significance levels (ASL).

    Measures are compared over the same systems and queries. The p-values are those of every pair, from any test, not
    adjusted [Sakai 2006 uses the paired bootstrap] or adjusted for all pairs together [Carterette 2012; Sakai 2014 use
    randomised Tukey HSD]. Discriminative power is no more than this: it does not say that a measure is right.

    Parameters
    ----------
    p_values : array_like, shape (pairs,) or (pairs, k)
        All pairs of at least 5 systems, a column a measure.
    half_widths : array_like, shape (pairs,) or (pairs, k), optional
        Half-widths of the matching intervals; the largest is the difference required for significance.
    alpha : float
        Level of each pair, between 0 and 1.

    Returns
    -------
    DiscriminativePower

    Raises
    ------
    RankstatsError
        If there are fewer than 5 systems or not all their pairs, or a p-value lies outside 0 to 1.

    References
    ----------
    Sakai 2006 (Evaluating evaluation metrics based on the bootstrap).

    Examples
    --------
    >>> p = np.array([0.01, 0.2, 0.03, 0.04, 0.5, 0.9, 0.001, 0.3, 0.07, 0.02])
    >>> result = discriminative_power(p)
    >>> result.power.tolist(), result.curve[0, :3].tolist()
    ([0.5], [0.9, 0.5, 0.3])
    """
    alpha = check_alpha(alpha)
    p = _by_measure(p_values)
    if systems_of(len(p)) < FEWEST_SYSTEMS:
        raise RankstatsError(
            f"{len(p)} pairs: discriminative power needs all pairs of at least {FEWEST_SYSTEMS} systems"
        )
    if not np.all((p >= 0) & (p <= 1)):
        raise RankstatsError("p_values: each from 0 to 1, one for every pair")
    widths = np.full(p.shape, np.nan) if half_widths is None else _by_measure(half_widths)
    if widths.shape != p.shape:
        raise RankstatsError(f"half_widths have shape {widths.shape}, p_values {p.shape}; one for each is expected")
    told_apart = np.count_nonzero(p <= alpha, axis=0)
    return DiscriminativePower(
        power=told_apart / len(p),
        told_apart=told_apart,
        required_difference=widths.max(axis=0),
        curve=-np.sort(-p.T, axis=1),
        pairs=len(p),
        alpha=alpha,
    )


def _by_measure(values: ArrayLike) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim not in (1, 2):
        raise RankstatsError(f"shape {array.shape}: (pairs,) or (pairs, measures) is expected")
    return array if array.ndim == 2 else array[:, None]
