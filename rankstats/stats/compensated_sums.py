"""Sums to about twice the precision of a double, which depend neither on order nor on how rows are cut into pieces.

A value is split into a whole number of large units and a rest, and the rest into whole numbers of small units: both
sums are exact, and what is lost is some 2**-100 of the largest value. Sums of pieces are held as two doubles.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankstats.stats.exact_sums import to_grid

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class DoubleSums:
    """Unevaluated sums ``high + low`` with ``abs(low)`` at most half a unit in the last place of ``high``."""

    high: Floats
    low: Floats

    @property
    def value(self) -> Floats:
        """The sums, rounded to doubles."""
        return self.high + self.low

    def plus(self, other: DoubleSums) -> DoubleSums:
        """Return the sums of both."""
        high, rest = _two_sum(self.high, other.high)
        low, lost = _two_sum(self.low, other.low)
        high, rest = _two_sum(high, rest + low)
        return DoubleSums(*_two_sum(high, rest + lost))


def _two_sum(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return the rounded sum and the exact rounding error [Knuth, TAOCP 2, 4.2.2]."""
    total = a + b
    of_b = total - a
    return total, (a - (total - of_b)) + (b - of_b)


def double_sums(values: Floats) -> DoubleSums:
    """Return the sums over the rows of finite values, shape (n, …) to shape (…).

    Examples
    --------
    >>> float(double_sums(np.array([1e16, 1.0, -1e16])).value)
    1.0
    """
    return weighted_double_sums(None, values, 1)


def weighted_double_sums(counts: Floats | None, values: Floats, most: int) -> DoubleSums:
    """Return ``counts @ values`` for whole numbers `counts` of at most `most`, shape (B, n); plain sums without counts.

    Examples
    --------
    >>> weighted_double_sums(np.array([[2.0, 1.0]]), np.array([0.1, 0.3]), 2).value.tolist()
    [0.5]
    """
    rows = len(values) * most
    flat = values.reshape(len(values), math.prod(values.shape[1:]))
    coarse, unit = to_grid(flat, rows)
    fine, small_unit = to_grid(flat - coarse * unit, rows)
    shape = values.shape[1:] if counts is None else (len(counts), *values.shape[1:])
    high = coarse.sum(axis=0) if counts is None else counts @ coarse
    low = fine.sum(axis=0) if counts is None else counts @ fine
    high, low = _two_sum((high * unit).reshape(shape), (low * small_unit).reshape(shape))
    return DoubleSums(high, low)


def merge_double_sums(parts: list[DoubleSums]) -> DoubleSums:
    """Return the sums of all parts."""
    total = parts[0]
    for part in parts[1:]:
        total = total.plus(part)
    return total
