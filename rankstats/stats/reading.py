"""How a p-value and the ends of an interval are read off one and the same set of resampled values.

With p an increasing function of a count of values at least as extreme as observed, the interval of level 1 − alpha ends
at the order statistic after the largest count for which p ≤ alpha. Both sides use one float expression, so that
``p <= alpha`` holds exactly when the interval leaves out 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

_SELECTED_FROM, _SAMPLED = 8, 500
"""Order statistics among the smallest eighth are looked for below a value that a sample of so many gives."""

Floats = NDArray[np.float64]


def adjusted_p(p_value: Floats, family_size: NDArray[np.int64] | int) -> Floats:
    """Return Bonferroni's p, ``min(1, m p)``: the one expression that intervals are matched to."""
    return np.minimum(1.0, family_size * p_value)


def monte_carlo_p(count: NDArray[np.int64], resamples: int) -> Floats:
    """Return ``(b + 1) / (B + 1)`` [Phipson & Smyth 2010]."""
    return np.asarray((count + 1) / (resamples + 1), dtype=np.float64)


def monte_carlo_rank(alpha: float, resamples: int, family_size: int = 1) -> int:
    """Return the largest r with ``min(1, m (r / (B + 1))) <= alpha``; 0 when there is none.

    Examples
    --------
    >>> monte_carlo_rank(0.05, 9999), monte_carlo_rank(0.05, 9999, 1000), monte_carlo_rank(0.05, 99, 10)
    (500, 0, 0)
    """
    return _largest(
        lambda r: min(1.0, family_size * (r / (resamples + 1))) <= alpha, alpha * (resamples + 1) / family_size
    )


def exact_rank(alpha: float, patterns: int, family_size: int = 1) -> int:
    """Return 1 + the largest b with ``min(1, m (b / M)) <= alpha``, for exact p-values b / M.

    Examples
    --------
    >>> exact_rank(0.05, 32), exact_rank(0.01, 32)
    (2, 1)
    """
    return 1 + _largest(lambda b: min(1.0, family_size * (b / patterns)) <= alpha, alpha * patterns / family_size)


def _largest(holds: Callable[[int], bool], near: float) -> int:
    # the real-number solution may be off by the rounding of the float expression
    value = math.floor(near) + 1
    while value > 0 and not holds(value):
        value -= 1
    return value


def smallest_at(values: Floats, ranks: NDArray[np.int64]) -> Floats:
    """Return the ranks-th smallest value of each row (1 is the smallest); −inf for rank 0.

    Parameters
    ----------
    values : ndarray, shape (c, B)
        One row a column of the data.
    ranks : ndarray of int, shape (..., c)
        Ranks from 0 to B.

    Examples
    --------
    >>> smallest_at(np.array([[3.0, 1.0, 2.0]]), np.array([[2], [0]])).tolist()
    [[2.0], [-inf]]
    """
    wanted = np.unique(ranks[ranks > 0]) - 1
    if not len(wanted):
        return np.full(ranks.shape, -np.inf)
    most = int(wanted[-1]) + 1
    if most * _SELECTED_FROM <= values.shape[1]:
        smallest = _smallest(values, wanted, most)
    else:
        smallest = np.partition(values, wanted, axis=1)[:, wanted]
    found = smallest[np.arange(values.shape[0]), np.searchsorted(wanted, np.maximum(ranks - 1, wanted[0]))]
    return np.where(ranks > 0, found, -np.inf)


def _smallest(values: Floats, wanted: NDArray[np.int64], most: int) -> Floats:
    """Return the wanted order statistics of each row (0 is the smallest), looked for among the small values only."""
    sample = values[:, :: max(1, values.shape[1] // _SAMPLED)]
    expected = most * sample.shape[1] / values.shape[1]
    # most rows have enough values below this one; a row that has not is looked through in full
    place = min(sample.shape[1] - 1, math.ceil(expected + 4 * math.sqrt(expected) + 4))
    bounds = np.partition(sample, place, axis=1)[:, place]
    found = np.empty((len(values), len(wanted)))
    for k, (row, bound) in enumerate(zip(values, bounds, strict=True)):
        small = row.compress(row <= bound)
        if len(small) < most:
            small = row.copy()
        small.partition(wanted)
        found[k] = small[wanted]
    return found


def largest_at(values: Floats, ranks: NDArray[np.int64]) -> Floats:
    """Return the ranks-th largest value of each row; +inf for rank 0. See `smallest_at`."""
    return -smallest_at(-values, ranks)
