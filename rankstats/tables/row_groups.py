"""Rows that stand together because they have the same query, found piece by piece so that little is held at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

_ROWS_AT_ONCE = 1 << 16


def group_starts(query: NDArray[Any]) -> NDArray[np.int64]:
    """Return the rows at which another number begins, ascending.

    Examples
    --------
    >>> group_starts(np.array([3, 3, 1, 3])).tolist()
    [0, 2, 3]
    """
    changes = [
        first + np.flatnonzero(query[first:last] != query[first - 1 : last - 1]) for first, last in pieces(query)
    ]
    return np.concatenate([np.zeros(min(len(query), 1), np.int64), *changes])


def pieces(rows: NDArray[Any]) -> Iterator[tuple[int, int]]:
    """Yield where pieces of all rows but the first begin and end."""
    for first in range(1, len(rows), _ROWS_AT_ONCE):
        yield first, min(first + _ROWS_AT_ONCE, len(rows))


def are_distinct(numbers: NDArray[Any]) -> bool:
    """Return whether no number stands twice among whole numbers from 0, none far above their count.

    `numpy.unique` would load masked arrays first.

    Examples
    --------
    >>> are_distinct(np.array([2, 0, 1])), are_distinct(np.array([1, 0, 1]))
    (True, False)
    """
    return not len(numbers) or int(np.bincount(numbers).max()) == 1
