"""Permutations of the systems within queries: sums of every system, drawn or enumerated.

Every query's values are put in ascending order first, so the numbers do not depend on how the systems are ordered.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from rankstats.stats.random_blocks import index_words

_ENUMERATED_ROWS = 1 << 18
"""Rows that one step of the enumeration may make."""
_ENUMERATED_IN_ALL = 1 << 20
_INDEX_BITS = 16

Floats = NDArray[np.float64]


def drawn_sums(
    values: Floats, resamples: int, generator: np.random.Generator, batch: int | None = None
) -> Iterator[tuple[slice, Floats]]:
    """Permute the values of every query at random and yield the systems' sums, shape (batch, m).

    Each place of a query gets a random 64-bit word whose low 16 bits are replaced by the place; in the order of the
    words, the places are a random permutation.

    Parameters
    ----------
    values : ndarray, shape (n, m)
        Whole numbers; m at most 65,536.
    resamples : int
        Permutations of each query.
    generator : numpy.random.Generator
        Advanced by n · m words a resample.
    batch : int, optional
        Resamples held in memory at once; the sums do not depend on it.
    """
    n, m = values.shape
    ordered = np.sort(values, axis=1)
    places = np.arange(m, dtype=np.uint64)
    low = np.uint64((1 << _INDEX_BITS) - 1)
    for resampled, halves_of_words in index_words(generator, 2 * n * m, resamples, batch):
        words = np.ascontiguousarray(halves_of_words).view("<u8").reshape(-1, n, m)
        words &= ~low
        words |= places
        words.sort(axis=2)
        words &= low
        sums = np.zeros((len(words), m))
        for query in range(n):
            sums += ordered[query][words[:, query].astype(np.intp)]
        yield resampled, sums


def enumerated_sums(values: Floats) -> tuple[Floats, Floats, int, int] | None:
    """Return the sums under all permutations within queries, or None when there are too many.

    What is read off the sums may not depend on which system has which: they are given in ascending order, or with
    the first query left as it is.

    Returns
    -------
    sums : ndarray, shape (distinct, m)
        Sums of the systems.
    count : ndarray, shape (distinct,)
        How many of the permutations that leave the first query as it is give these sums, whole numbers.
    counted : int
        Their number.
    patterns : int
        m! to the power of the queries on which systems differ.

    Examples
    --------
    >>> sums, count, counted, patterns = enumerated_sums(np.array([[0.0, 1.0], [0.0, 2.0]]))
    >>> np.ptp(sums, axis=1).tolist(), count.tolist(), counted, patterns
    ([3.0, 1.0], [1.0, 1.0], 2, 4)
    """
    m = values.shape[1]
    differing = np.sort(values[np.ptp(values, axis=1) > 0], axis=1)
    total = 1 if not len(differing) else math.factorial(m) ** len(differing)
    if total > 2**52 or math.factorial(m) > _ENUMERATED_ROWS:
        return None
    # sums with many ties merge early when equal queries follow one another
    differing = differing[np.lexsort(differing.T)]
    arrangements = np.array(list(permutations(range(m))), dtype=np.intp)
    sums, counts, made = differing[:1] if len(differing) else np.zeros((1, m)), np.ones(1), 0
    for query, row in enumerate(differing[1:], start=1):
        made += len(sums) * len(arrangements)
        if len(sums) * len(arrangements) > _ENUMERATED_ROWS or made > _ENUMERATED_IN_ALL:
            return None
        sums = (sums[:, None, :] + row[arrangements][None]).reshape(-1, m)
        counts = np.repeat(counts, len(arrangements))
        if query < len(differing) - 1:
            sums, counts = _merged(sums, counts)
    return sums, counts, total // math.factorial(m) if len(differing) else 1, total


def _merged(sums: Floats, counts: Floats) -> tuple[Floats, Floats]:
    distinct, inverse = np.unique(np.sort(sums, axis=1), axis=0, return_inverse=True)
    return distinct, np.asarray(np.bincount(inverse.ravel(), weights=counts), dtype=np.float64)
