"""Sums over resampled rows, from one block of random numbers for all columns.

Two schemes: `rows` draws as many rows as there are, with replacement (within strata where there are any); `poisson`
counts each row a Poisson(1) number of times, independently of the others, which needs no more than a piece of the rows
at a time and is meant for very many of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankstats.errors import RankstatsError
from rankstats.stats.random_blocks import (
    RNG,
    batches,
    generator_from,
    index_words,
    resample_counts,
    word_blocks,
)
from rankstats.stats.validation import check_choice, check_count

SCHEMES = ("rows", "poisson")

_BLOCK_ELEMENTS = 1 << 21
"""Counts held at once, 16 MiB in float64: few large matrix products, for small ones wait long where cores are busy."""

_COUNTERS = 1 << 17
"""Counters filled at once: they stay near enough to the processor to be filled at random."""

_POISSON_ROWS = 4096
_POISSON_RESAMPLES = 16

POISSON_SHARES = (24109, 24111, 12053, 4018, 1005, 201, 33, 6)
"""How many of the 65,536 values of a 16-bit word stand for the counts 0, 1, 2, …

No share is further than 2 from that of the Poisson(1) distribution, and both mean and variance are exactly 1.
"""

_THRESHOLDS = np.cumsum(POISSON_SHARES[:-1]).astype(np.uint16)

Floats = NDArray[np.float64]
Block = tuple[slice, list[Floats]]


@dataclass(frozen=True, slots=True, eq=False)
class Summands:
    """What is added up over some of the rows.

    Attributes
    ----------
    rows : ndarray of int, shape (r,)
        The rows that are resampled, ascending.
    matrix : ndarray, shape (r, k)
        Whole numbers whose sums stay below 2**53.
    """

    rows: NDArray[np.int64]
    matrix: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Resampling:
    """Where the resamples come from.

    Attributes
    ----------
    resamples : int
        Number of resamples B.
    n_rows : int
        Number of rows n, present or not.
    generator : numpy.random.Generator
        Source of the random words.
    batch : int or None
        Resamples held at once; no number depends on it.
    scheme : {'rows', 'poisson'}
        How rows are drawn.
    strata : ndarray of int, shape (n,), or None
        Stratum of each row, 0, 1, 2 …; each stratum keeps its number of rows.
    indices : ndarray of int, shape (B, n), or None
        Which rows were drawn in each resample; nothing is drawn then.
    counts : ndarray of float64, shape (B, n), or None
        How often each row counts in each resample; nothing is drawn then.
    """

    resamples: int
    n_rows: int
    generator: np.random.Generator
    batch: int | None = None
    scheme: str = "rows"
    strata: NDArray[np.int64] | None = None
    indices: NDArray[np.int64] | None = None
    counts: Floats | None = None

    @classmethod
    def of(
        cls,
        present: NDArray[np.bool_],
        *,
        resamples: int,
        rng: RNG,
        batch: int | None,
        scheme: str,
        strata: ArrayLike | None,
        indices: ArrayLike | None,
        counts: ArrayLike | None,
    ) -> Resampling:
        """Check the arguments that all bootstraps share; `present` says which rows (n, c) there are."""
        check_choice("scheme", scheme, SCHEMES)
        if strata is not None and scheme == "poisson":
            raise RankstatsError("strata cannot be kept by scheme = 'poisson'; use scheme = 'rows'")
        if indices is not None and counts is not None:
            raise RankstatsError("give either indices or counts to replay, not both")
        replayed_indices = None if indices is None else checked_indices(indices, present)
        replayed_counts = None if counts is None else checked_counts(counts, present)
        for replay in (replayed_indices, replayed_counts):
            resamples = resamples if replay is None else len(replay)
        return cls(
            check_count("resamples", resamples),
            len(present),
            generator_from(rng),
            None if batch is None else check_count("batch", batch),
            scheme,
            None if strata is None else label_codes(strata, len(present), "strata"),
            replayed_indices,
            replayed_counts,
        )


def resampled_sums(summands: Sequence[Summands], resampling: Resampling) -> Iterator[Block]:
    """Yield, block by block, the sums of each of the `summands` over the rows of each resample.

    Yields
    ------
    resamples : slice
        Which of the resamples the block holds.
    sums : list of ndarray, shape (batch, k)
        One matrix for each of the summands; exact.
    """
    if not summands:
        return iter(())
    if resampling.indices is not None or resampling.counts is not None:
        return _replayed_sums(summands, resampling)
    if resampling.scheme == "poisson":
        return _poisson_sums(summands, resampling)
    return _drawn_sums(summands, resampling)


def _size(resampling: Resampling) -> int:
    return resampling.batch or max(1, min(resampling.resamples, _BLOCK_ELEMENTS // max(resampling.n_rows, 1)))


def _replayed_sums(summands: Sequence[Summands], resampling: Resampling) -> Iterator[Block]:
    n = resampling.n_rows
    for start, stop in batches(resampling.resamples, n, _size(resampling)):
        if resampling.counts is not None:
            counts = resampling.counts[start:stop]
        elif resampling.indices is not None:
            counts = resample_counts(resampling.indices[start:stop], n)
        yield slice(start, stop), [counts[:, some.rows] @ some.matrix for some in summands]


@dataclass(frozen=True, slots=True, eq=False)
class _Drawn:
    """Rows in the order of their strata; the i-th of them takes the i-th word of a resample.

    A word becomes one of `sizes` numbers, counted from `offsets`.
    """

    matrix: Floats
    sizes: NDArray[np.uint64]
    offsets: NDArray[np.int64]

    @classmethod
    def of(cls, summands: Summands, strata: NDArray[np.int64] | None) -> _Drawn:
        n = len(summands.rows)
        if strata is None:
            return cls(summands.matrix, np.array([n], dtype=np.uint64), np.zeros(1, dtype=np.int64))
        codes = strata[summands.rows]
        order = np.argsort(codes, kind="stable")
        sizes = np.bincount(codes)
        first = np.cumsum(sizes) - sizes
        return cls(summands.matrix[order], sizes[codes[order]].astype(np.uint64), first[codes[order]])

    def sums(self, words: NDArray[np.uint32]) -> Floats:
        n = len(self.matrix)
        counts = np.empty((len(words), n))
        step = max(1, _COUNTERS // max(n, 1))
        starts = np.arange(min(step, len(words)), dtype=np.int64)[:, None] * n + self.offsets
        for first in range(0, len(words), step):
            scaled = words[first : first + step, :n].astype(np.uint64)
            scaled *= self.sizes
            scaled >>= np.uint64(32)
            places = scaled.view(np.int64)
            places += starts[: len(places)]
            counts[first : first + step] = np.bincount(places.ravel(), minlength=places.size).reshape(places.shape)
        return counts @ self.matrix


def _drawn_sums(summands: Sequence[Summands], resampling: Resampling) -> Iterator[Block]:
    drawn = [_Drawn.of(some, resampling.strata) for some in summands]
    for resamples, words in index_words(
        resampling.generator, resampling.n_rows, resampling.resamples, _size(resampling)
    ):
        yield resamples, [some.sums(words) for some in drawn]


def poisson_counts(words: NDArray[np.uint16]) -> NDArray[np.uint8]:
    """Return the Poisson(1) counts that 16-bit words stand for; see `POISSON_SHARES`.

    Examples
    --------
    >>> poisson_counts(np.array([0, 24108, 24109, 65535], dtype=np.uint16)).tolist()
    [0, 0, 1, 7]
    """
    words = np.ascontiguousarray(words)
    counts: NDArray[np.uint8] = (words >= _THRESHOLDS[0]).view(np.uint8)
    reached = np.empty(words.shape, dtype=np.bool_)
    for threshold in _THRESHOLDS[1:]:
        np.greater_equal(words, threshold, out=reached)
        counts += reached.view(np.uint8)
    return counts


def _poisson_sums(summands: Sequence[Summands], resampling: Resampling) -> Iterator[Block]:
    """Add up piece by piece of the rows; a row's words depend on its position only."""
    n = resampling.n_rows
    ends = np.cumsum([some.matrix.shape[1] for some in summands])
    matrix = np.zeros((n, int(ends[-1])))
    for some, end in zip(summands, ends, strict=True):
        matrix[some.rows, end - some.matrix.shape[1] : end] = some.matrix
    for resamples, words in word_blocks(resampling.generator, -(-n // 4), resampling.resamples, resampling.batch):
        codes = words.view("<u2")
        sums = np.zeros((len(codes), matrix.shape[1]))
        for first in range(0, len(codes), _POISSON_RESAMPLES):
            some_resamples = slice(first, first + _POISSON_RESAMPLES)
            for start in range(0, n, _POISSON_ROWS):
                rows = slice(start, min(start + _POISSON_ROWS, n))
                counts = poisson_counts(codes[some_resamples, rows]).astype(np.float64)
                sums[some_resamples] += counts @ matrix[rows]
        yield resamples, np.split(sums, ends[:-1], axis=1)


def label_codes(labels: ArrayLike, n: int, name: str) -> NDArray[np.int64]:
    """Number labels by their order, or raise when there is not one defined label for each of n rows.

    Examples
    --------
    >>> label_codes(["b", "a", "b"], 3, "strata").tolist()
    [1, 0, 1]
    """
    array = np.asarray(labels)
    if array.shape != (n,):
        raise RankstatsError(f"{name} have shape {array.shape}; one label for each of the {n} rows is expected")
    if array.dtype.kind == "O":
        missing = [value is None or (isinstance(value, float) and np.isnan(value)) for value in array]
        array = array.astype(str)
    else:
        missing = np.isnan(array).tolist() if array.dtype.kind == "f" else []
    if any(missing):
        raise RankstatsError(f"{name}: row {missing.index(True)} (counted from 0) has no label; every row needs one")
    if array.dtype.kind == "i" and n:
        least, most = int(array.min()), int(array.max())
        if most - least <= 4 * n:
            # numbers close together are counted, not sorted
            places = array.astype(np.int64)
            places -= least
            there = np.bincount(places) > 0
            return places if there.all() else np.asarray((np.cumsum(there) - 1)[places])
    return np.unique(array, return_inverse=True)[1].reshape(n).astype(np.int64)


def checked_indices(indices: ArrayLike, present: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return resamples to replay, shape (B, n), or raise where they do not fit the rows."""
    array = _whole_numbers("indices", indices, present)
    if array.min() < 0 or array.max() >= len(present):
        raise RankstatsError(f"indices must lie between 0 and {len(present) - 1}: rows are counted from 0")
    return array


def checked_counts(counts: ArrayLike, present: NDArray[np.bool_]) -> Floats:
    """Return how often each row counts in resamples to replay, shape (B, n), or raise where they do not fit."""
    array = _whole_numbers("counts", counts, present)
    if array.min() < 0:
        raise RankstatsError("counts must not be negative: they say how often each row counts")
    return array.astype(np.float64)


def _whole_numbers(name: str, values: ArrayLike, present: NDArray[np.bool_]) -> NDArray[np.int64]:
    array, n = np.asarray(values), len(present)
    if array.ndim != 2 or array.shape[1] != n or array.dtype.kind not in "iu" or not array.size:
        raise RankstatsError(f"{name} have shape {array.shape}; whole numbers of shape (resamples, {n}) are expected")
    if not present.all():
        raise RankstatsError(f"{name} can only be replayed for columns without absent queries")
    return array.astype(np.int64)
