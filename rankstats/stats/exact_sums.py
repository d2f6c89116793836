"""Integers held in float64, so that sums do not depend on the order in which they are added.

A sum of integers is exact as long as no partial sum reaches 2**53. Values are therefore put on a grid whose unit is a
power of two, chosen per column so that n of them cannot reach that bound, whatever their signs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

LARGEST_SUM = 2.0**52
"""Half of the bound, so that rounding to the grid cannot carry a sum across it."""

_SMALLEST_UNIT = 2.0**-1000
"""Keeps divisions by a unit away from subnormal numbers."""


def power_of_two_at_least(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the smallest power of two that is at least each value; 1 for 0.

    Examples
    --------
    >>> power_of_two_at_least(np.array([0.0, 0.3, 0.5, 3.0])).tolist()
    [1.0, 0.5, 0.5, 4.0]
    """
    mantissa, exponent = np.frexp(values)
    power = np.ldexp(1.0, np.where(mantissa == 0.5, exponent - 1, exponent))
    return np.where(values > 0, np.maximum(power, _SMALLEST_UNIT), 1.0)


def smallest_unit(largest: NDArray[np.float64], n: NDArray[np.int64] | int) -> NDArray[np.float64]:
    """Return the smallest unit for which n integers of at most ``largest / unit`` have exact sums."""
    return power_of_two_at_least(np.asarray(largest / LARGEST_SUM * np.maximum(n, 1)))


def to_grid(
    values: NDArray[np.float64], n: NDArray[np.int64] | int, at_least: NDArray[np.float64] | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Round each column to integers whose sums over n terms are exact.

    Parameters
    ----------
    values : ndarray, shape (n, c)
        Finite values.
    n : int or ndarray of int, shape (c,)
        The number of terms that will be added at most.
    at_least : ndarray, shape (c,), optional
        The unit is not made smaller than this.

    Returns
    -------
    integers : ndarray, shape (n, c)
        Whole numbers in float64.
    unit : ndarray, shape (c,)
        Power of two; ``integers * unit`` are the rounded values.

    Examples
    --------
    >>> integers, unit = to_grid(np.array([[0.5], [0.25]]), 2, at_least=np.array([0.25]))
    >>> integers.ravel().tolist(), unit.tolist()
    ([2.0, 1.0], [0.25])
    """
    largest = np.max(np.abs(values), axis=0, initial=0.0)
    unit = smallest_unit(largest, n)
    if at_least is not None:
        unit = np.maximum(unit, at_least)
    return np.rint(values / unit), unit
