"""Exact sign flips for many queries of which few differ: patterns of the non-zero differences, times flipped zeros.

With N zeros, a set of non-zero differences of sum S and size j stands for C(N, z) sets of size j + z and mean
S / (j + z), for each z from 0 to N. The p-value depends on S alone; the ends of the interval are order statistics of
the means with these multiplicities, found by bisection on the binomial distribution function.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from rankstats.stats.differences import Differences
from rankstats.stats.flip_readings import Question, Readings, halves, negligible_sums

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Patterns:
    """Distinct sets of the non-zero differences: sum, size, share of all 2**k sets; and the zeros' binomial."""

    total: Floats
    size: Floats
    share: Floats
    zeros: int
    at_most: Floats
    """P(flipped zeros < i), shape (N + 2,)."""


def read_sparse(differences: Differences, columns: NDArray[np.int64], question: Question, readings: Readings) -> None:
    """Fill the readings of `columns` (equal weights, few non-zero differences) exactly."""
    for column in columns:
        values = differences.integers[:, column]
        non_zero = values[values != 0]
        zeros = int(differences.n[column]) - len(non_zero)
        family = int(question.family[column])
        unit = differences.unit[column]
        tolerance = float(negligible_sums(differences.select([column]))[0])
        patterns = _patterns(non_zero, zeros, tolerance)
        p, equal = _probabilities(patterns, float(non_zero.sum()), tolerance, question.two_sided)
        sides = 2 if question.two_sided else 1
        lows = [_lowest_end(patterns, question.alpha, sides, m) for m in (1, family)]
        highs = [np.inf, np.inf]
        if question.two_sided:
            opposite = _patterns(-non_zero, zeros, tolerance)
            highs = [-_lowest_end(opposite, question.alpha, sides, m) for m in (1, family)]
        at = np.array([column])
        readings.put_ends(at, np.array([lows]).T * unit, np.array([highs]).T * unit)
        readings.p_value[at], readings.mid_p[at] = p, p - equal / 2
        readings.smallest_p[at] = sides / 2 ** len(non_zero)
        readings.patterns[at] = 2 ** len(non_zero)


def _patterns(non_zero: Floats, zeros: int, tolerance: float) -> _Patterns:
    bits = halves(len(non_zero))
    bits = np.concatenate([bits, 1 - bits])
    observed = non_zero.sum()
    total = bits @ non_zero
    size, rest = np.abs(total), np.abs(observed - total)
    total = np.where((size <= tolerance) & ((size < rest) | (abs(observed) <= tolerance)), 0.0, total)
    # complex numbers sort by real, then by imaginary part
    distinct, counts = np.unique(total + 1j * bits.sum(axis=1), return_counts=True)
    below = np.concatenate([[0.0], _at_most(zeros)])
    return _Patterns(distinct.real.copy(), distinct.imag.copy(), counts / len(bits), zeros, below)


def _at_most(zeros: int) -> Floats:
    """Return P(X ≤ i) for i = 0 … zeros and X binomial with a probability of ½.

    Beta's incomplete integral instead of ``scipy.stats.binom.cdf``, for `scipy.stats` takes long to load.
    """
    i = np.arange(zeros + 1.0)
    tail = np.minimum(i, zeros - 1 - i)
    # there is nothing beyond the last one
    smaller = np.where(tail < 0, 0.0, special.betainc(np.maximum(zeros - tail, 1.0), np.maximum(tail, 0.0) + 1, 0.5))
    return np.where(2 * i + 1 < zeros, smaller, 1 - smaller)


def _probabilities(patterns: _Patterns, observed: float, tolerance: float, two_sided: bool) -> tuple[float, float]:
    """Return p and the probability of the observed absolute sum (one-sided: of the observed sum)."""
    equal = float(patterns.share[patterns.total == 0].sum())
    below = float(patterns.share[patterns.total <= 0].sum())
    above = float(patterns.share[patterns.total >= 0].sum())
    if not two_sided:
        return below, equal
    if abs(observed) <= tolerance:
        return 1.0, equal
    return 2 * (below if observed > 0 else above), 2 * equal


def _least_flipped(total: Floats, size: Floats, zeros: int, mean: float) -> NDArray[np.int64]:
    """Return i: sets have means of at most `mean` when fewer (total < 0) or no fewer (else) than i zeros join them."""
    members = total / mean
    if mean < 0:
        members = np.floor(members)
        members += total / (members + 1) <= mean
        members -= total / np.maximum(members, 1) > mean
        return np.clip(members - size + 1, 0, zeros + 1).astype(np.int64)
    members = np.ceil(members)
    members -= total / np.maximum(members - 1, 1) <= mean
    members += total / np.maximum(members, 1) > mean
    return np.clip(members - size, 0, zeros + 1).astype(np.int64)


def _lowest_end(patterns: _Patterns, alpha: float, sides: int, family: int) -> float:
    """Return the smallest set mean at which the p-value of the sets below and at it exceeds alpha."""

    def exceeds(share: float) -> bool:
        return min(1.0, family * (sides * share)) > alpha

    empty = float(patterns.share[(patterns.total == 0) & (patterns.size == 0)].sum() * patterns.at_most[1])
    if exceeds(empty):
        return -np.inf
    bound = float(np.abs(patterns.total).max()) + 1
    least = 0.5 / (patterns.zeros + float(patterns.size.max()))
    negative, positive = patterns.total < 0, patterns.total > 0
    if not exceeds(float(patterns.share[~positive].sum())):
        return _first_exceeding(patterns, positive, (least, bound), float(patterns.share[~positive].sum()), exceeds)
    # below 0 all sets of a negative sum are counted when mean = −least
    if exceeds(empty + float(patterns.share[negative].sum())):
        return _first_exceeding(patterns, negative, (-bound, -least), empty, exceeds)
    return 0.0


def _first_exceeding(
    patterns: _Patterns,
    chosen: NDArray[np.bool_],
    bracket: tuple[float, float],
    settled: float,
    exceeds: Callable[[float], bool],
) -> float:
    """Bisect to neighbouring numbers of which only the upper one exceeds: that one is the mean of a set.

    Sets that are on the same side of both ends of the bracket are settled and leave the search.
    """
    low, high = bracket
    total, size, share = patterns.total[chosen], patterns.size[chosen], patterns.share[chosen]
    at = [_least_flipped(total, size, patterns.zeros, end) for end in bracket]
    while len(total):
        middle = low + (high - low) / 2
        if middle in (low, high):
            break
        index = _least_flipped(total, size, patterns.zeros, middle)
        below = share * (patterns.at_most[index] if middle < 0 else 1 - patterns.at_most[index])
        upper = exceeds(settled + float(below.sum()))
        low, high, at[upper] = (low, middle, index) if upper else (middle, high, index)
        open_ = at[0] != at[1]
        settled += float(below[~open_].sum())
        total, size, share, at = total[open_], size[open_], share[open_], [part[open_] for part in at]
    return high
