"""Matrix products of whole numbers in pieces that one core does alone.

A library that shares a product out to threads waits for the slowest of them, milliseconds where other programs keep the
cores busy; a thousand products of a millisecond each are then a matter of minutes. Sums of whole numbers below 2**53
are exact, so no number depends on the pieces.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

_ALONE = 1 << 18
"""Multiplications up to which OpenBLAS does a product without other threads."""
_NARROWEST = 32
"""Side of a piece below which the pieces cost more than the waiting."""

Floats = NDArray[np.float64]


def product(left: Floats, right: Floats, out: Floats | None = None) -> Floats:
    """Return ``left @ right`` of whole numbers whose sums stay below 2**53.

    Parameters
    ----------
    left : ndarray of float64, shape (a, n)
        Whole numbers.
    right : ndarray of float64, shape (n, b)
        Whole numbers.
    out : ndarray of float64, shape (a, b), optional
        Where the product is put.

    Examples
    --------
    >>> left, right = np.arange(40_000.0).reshape(400, 100), np.arange(30_000.0).reshape(100, 300)
    >>> bool(np.all(product(left, right) == left @ right))
    True
    """
    found = np.empty((len(left), right.shape[1])) if out is None else out
    n = max(1, len(right))
    side = math.isqrt(_ALONE // n)
    if side < _NARROWEST or found.size * n <= _ALONE:
        return np.asarray(np.matmul(left, right, out=found))
    width = min(found.shape[1], side)
    height = _ALONE // (n * width)
    for start in range(0, found.shape[1], width):
        columns = slice(start, start + width)
        some = np.ascontiguousarray(right[:, columns])
        for first in range(0, len(found), height):
            rows = slice(first, first + height)
            np.matmul(left[rows], some, out=found[rows, columns])
    return found
