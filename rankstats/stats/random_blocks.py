"""One block of random numbers for all columns.

Every stream is made of full-range 64-bit words, a whole number of words for each resample, so the numbers that a
resample gets depend on the generator, on its own position and on the number of rows, and on nothing else: neither on
the batch size nor on how many columns there are. A row's position decides its bits; sort the queries before.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

RNG: TypeAlias = int | np.integer | np.random.SeedSequence | np.random.BitGenerator | np.random.Generator | None
"""What the keyword `rng` takes (SPEC 7): everything that `numpy.random.default_rng` takes."""

_BLOCK_ELEMENTS = 1 << 21
"""Elements of one block: 16 MiB in float64, within the caches' reach and far below any memory bound."""

_BLOCK_WORDS = 1 << 24
_PIECE_WORDS = 1 << 19
_RESAMPLES_AT_ONCE = 1024
"""Bounds of a block of packed bits: 128 MiB."""


def generator_from(rng: RNG) -> np.random.Generator:
    """Return a generator for a seed, a bit generator or a generator (used as it is, and advanced)."""
    return np.random.default_rng(rng)


def replayed(generator: np.random.Generator) -> np.random.Generator:
    """Return an independent generator in the same state, so that the same block can be drawn again."""
    return np.random.Generator(copy.deepcopy(generator.bit_generator))


def batches(resamples: int, n: int, batch: int | None) -> Iterator[tuple[int, int]]:
    """Yield start and stop of consecutive batches of resamples."""
    size = batch if batch is not None else max(1, min(resamples, _BLOCK_ELEMENTS // max(n, 1)))
    for start in range(0, resamples, size):
        yield start, min(start + size, resamples)


def _words(generator: np.random.Generator, rows: int, columns: int) -> NDArray[np.uint64]:
    words = generator.integers(0, 2**64 - 1, size=(rows, columns), dtype=np.uint64, endpoint=True)
    # the bytes are read in little-endian order on every machine
    return words.astype("<u8", copy=False)


def word_blocks(
    generator: np.random.Generator, width: int, resamples: int, batch: int | None = None
) -> Iterator[tuple[slice, NDArray[np.uint64]]]:
    """Yield blocks of random words, `width` of them for each resample, for sums that are made from packed bits.

    Parameters
    ----------
    generator : numpy.random.Generator
        Advanced by `width` words a resample.
    width : int
        Words a resample.
    resamples : int
        Resamples in total.
    batch : int, optional
        Resamples a block; the words do not depend on it.

    Yields
    ------
    rows : slice
        Which of the resamples the block holds.
    words : ndarray of uint64, shape (batch, width)
        Little-endian on every machine; the next block overwrites them.
    """
    size = batch if batch is not None else max(1, min(_RESAMPLES_AT_ONCE, _BLOCK_WORDS // max(width, 1)))
    size = min(size, resamples)
    # one buffer for all blocks, filled piece by piece: fresh memory of this size costs more than the random words
    buffer = np.empty((size, width), dtype="<u8")
    piece = max(1, _PIECE_WORDS // max(width, 1))
    for start, stop in batches(resamples, width, size):
        for first in range(0, stop - start, piece):
            last = min(first + piece, stop - start)
            buffer[first:last] = _words(generator, last - first, width)
        yield slice(start, stop), buffer[: stop - start]


def sign_bits(
    generator: np.random.Generator, n: int, resamples: int, batch: int | None = None
) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    """Yield blocks of random bits: 1 where a row's sign is flipped.

    Parameters
    ----------
    generator : numpy.random.Generator
        Advanced by ``ceil(n / 64)`` words a resample.
    n : int
        Rows.
    resamples : int
        Sign patterns in total.
    batch : int, optional
        Patterns a block; the bits do not depend on it.

    Yields
    ------
    rows : slice
        Which of the resamples the block holds.
    bits : ndarray of float64, shape (batch, n)
        0.0 or 1.0.

    Examples
    --------
    >>> whole = [bits for _, bits in sign_bits(generator_from(0), 5, 4)]
    >>> parts = [bits for _, bits in sign_bits(generator_from(0), 5, 4, batch=1)]
    >>> bool(np.all(np.concatenate(whole) == np.concatenate(parts)))
    True
    """
    for start, stop in batches(resamples, n, batch):
        octets = _words(generator, stop - start, -(-n // 64)).view(np.uint8)
        bits = np.unpackbits(octets, axis=1, count=n, bitorder="little")
        yield slice(start, stop), bits.astype(np.float64)


def index_words(
    generator: np.random.Generator, n: int, resamples: int, batch: int | None = None
) -> Iterator[tuple[slice, NDArray[np.uint32]]]:
    """Yield blocks of random 32-bit words, n for each resample, from which bootstrap indices are made.

    Parameters
    ----------
    generator : numpy.random.Generator
        Advanced by ``ceil(n / 2)`` 64-bit words a resample.
    n : int
        Rows.
    resamples : int
        Resamples in total.
    batch : int, optional
        Resamples a block; the words do not depend on it.

    Yields
    ------
    rows : slice
        Which of the resamples the block holds.
    words : ndarray of uint32, shape (batch, n)
        See `resample_counts`.
    """
    for start, stop in batches(resamples, n, batch):
        words = _words(generator, stop - start, -(-n // 2)).view("<u4")
        yield slice(start, stop), words[:, :n]


def indices_from_words(words: NDArray[np.uint32], n: int) -> NDArray[np.int64]:
    """Map words to indices 0 … n − 1 by multiplying and shifting.

    An index is drawn with a probability that differs from 1/n by less than 2**-32: relative to 1/n, less than one part
    in 600,000 for n = 6,980 and 1 in 4,000 for n = 1,000,000.

    Parameters
    ----------
    words : ndarray of uint32, shape (batch, at least n)
        The first n words of each row are used.
    n : int
        Number of rows that are resampled.

    Examples
    --------
    >>> indices_from_words(np.array([[0, 2**31, 2**32 - 1]], dtype=np.uint32), 3).tolist()
    [[0, 1, 2]]
    """
    scaled = words[:, :n].astype(np.uint64)
    scaled *= np.uint64(n)
    scaled >>= np.uint64(32)
    return scaled.view(np.int64)


def resample_counts(indices: NDArray[np.int64], n: int) -> NDArray[np.float64]:
    """Return how often each of n rows was drawn in each resample, shape (batch, n), as float64.

    Examples
    --------
    >>> resample_counts(np.array([[0, 0, 2]]), 3).tolist()
    [[2.0, 0.0, 1.0]]
    """
    rows = indices.shape[0]
    offsets = np.arange(rows, dtype=np.int64)[:, None] * n
    return np.bincount((indices + offsets).ravel(), minlength=rows * n).reshape(rows, n).astype(np.float64)
