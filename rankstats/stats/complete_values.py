"""Values of several systems on the same queries, held so that every sum of them is exact; and all pairs of systems."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankstats.errors import RankstatsError
from rankstats.stats.differences import LARGEST_VALUE, RELATIVE_UNIT, Differences, paired_differences
from rankstats.stats.exact_sums import power_of_two_at_least, to_grid
from rankstats.stats.validation import check_count

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class CompleteValues:
    """Values over the lowest of each query, for the queries on which every system is defined.

    Attributes
    ----------
    integers : ndarray, shape (n, m)
        In units, whole numbers in float64, 0 for the lowest system of a query. Values of a query that are at most one
        unit apart are equal.
    unit : float
        Power of two, about 1e-10 of the largest value.
    weights : ndarray, shape (n,)
        Weights of the queries; ones when there are none.
    left_out : int
        Queries on which a system is not defined, or of weight 0.
    """

    integers: Floats
    unit: float
    weights: Floats
    left_out: int

    @property
    def n(self) -> int:
        """Queries."""
        return int(self.integers.shape[0])

    @property
    def n_systems(self) -> int:
        """Systems m."""
        return int(self.integers.shape[1])

    @property
    def total_weight(self) -> float:
        """Sum of the weights."""
        return math.fsum(self.weights)

    def weighted(self) -> tuple[Floats, float, float]:
        """Return weight times value as whole numbers, shape (n, m), their unit, and the rounding of a system's sum.

        Rounding, in units, is half a unit of every product, and of every value as often as it is weighted, over the
        queries on which systems differ.
        """
        differing = self.integers.any(axis=1)
        if not self.n or bool(np.all(self.weights == self.weights[0])):
            unit = self.unit * (float(self.weights[0]) if self.n else 1.0)
            return self.integers, unit, 0.5 * float(np.count_nonzero(differing))
        products = self.weights[:, None] * self.integers * self.unit
        at_least = power_of_two_at_least(RELATIVE_UNIT * np.array([products.max(initial=0.0)]))
        integers, units = to_grid(products.reshape(-1, 1), self.n, at_least=at_least)
        unit = float(units[0])
        in_units = 1 + self.weights * (self.unit / unit)
        return integers.reshape(products.shape), unit, 0.5 * math.fsum(in_units[differing])


def complete_values(values: ArrayLike, weights: ArrayLike | None = None) -> CompleteValues:
    """Check and round the values of m systems on n queries, and leave out incomplete queries.

    Raises
    ------
    RankstatsError
        If shapes or weights do not fit, a value is infinite, or there are fewer than two systems.

    Examples
    --------
    >>> kept = complete_values([[0.3, 0.1, 0.2], [0.5, float("nan"), 0.1]])
    >>> kept.n, kept.left_out, (kept.integers * kept.unit).round(9).tolist()
    (1, 1, [[0.2, 0.0, 0.1]])
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] < 2:
        raise RankstatsError(f"values have shape {array.shape}; (queries, systems) with at least 2 systems is expected")
    if np.any(np.abs(array) > LARGEST_VALUE):
        raise RankstatsError("values are infinite or beyond 1e100; use NaN for an undefined one")
    # the weights are checked there
    checked = paired_differences(np.zeros(len(array)), np.zeros(len(array)), weights)
    kept = checked.present[:, 0] & ~np.isnan(array).any(axis=1)
    chosen = array[kept]
    above = chosen - chosen.min(axis=1, keepdims=True)
    at_least = power_of_two_at_least(RELATIVE_UNIT * np.array([np.abs(chosen).max(initial=0.0)]))
    # integers of at most this unit keep sums over all queries and systems exact
    integers, unit = to_grid(above.reshape(-1, 1), max(above.size, 1), at_least=at_least)
    return CompleteValues(
        _with_ties(integers.reshape(above.shape)), float(unit[0]), checked.weights[kept], int(np.count_nonzero(~kept))
    )


def _with_ties(integers: Floats) -> Floats:
    """Make values of a query equal that are at most one unit apart."""
    order = np.argsort(integers, axis=1, kind="stable")
    ascending = np.take_along_axis(integers, order, axis=1)
    begins = np.diff(ascending, axis=1, prepend=-np.inf) > 1
    # the values ascend, so the last beginning so far is the largest
    tied = np.maximum.accumulate(np.where(begins, ascending, -np.inf), axis=1)
    result = np.empty_like(integers)
    np.put_along_axis(result, order, tied, axis=1)
    return result


def all_pairs(n_systems: int) -> tuple[Codes, Codes]:
    """Return the positions of baseline and system of all m (m − 1) / 2 pairs: (0, 1), (0, 2), … (m − 2, m − 1).

    Examples
    --------
    >>> [positions.tolist() for positions in all_pairs(3)]
    [[0, 0, 1], [1, 2, 2]]
    """
    first, second = np.triu_indices(check_count("n_systems", n_systems, 2), 1)
    return first.astype(np.int64), second.astype(np.int64)


def systems_of(n_pairs: int) -> int:
    """Return how many systems have so many pairs.

    Raises
    ------
    RankstatsError
        If no number of systems has.

    Examples
    --------
    >>> systems_of(10)
    5
    """
    m = (1 + math.isqrt(1 + 8 * n_pairs)) // 2
    if m < 2 or m * (m - 1) // 2 != n_pairs:
        raise RankstatsError(f"{n_pairs} pairs: m (m − 1) / 2 of m systems are expected, in the order of `all_pairs`")
    return m


def pairwise_differences(values: ArrayLike, weights: ArrayLike | None = None) -> Differences:
    """Return the differences of all pairs of systems, one column a pair in the order of `all_pairs`.

    Parameters
    ----------
    values : array_like, shape (n, m)
        One column a system; NaN makes a query absent from the pairs of that system only.
    weights : array_like, shape (n,), optional
        Weights of the queries.

    Examples
    --------
    >>> pairwise_differences([[0.1, 0.3, 0.2], [0.5, 0.5, 0.1]]).mean.round(9).tolist()
    [0.1, -0.15, -0.25]
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 2:
        raise RankstatsError(f"values have shape {array.shape}; (queries, systems) is expected")
    first, second = all_pairs(array.shape[1])
    return paired_differences(array[:, first], array[:, second], weights)
