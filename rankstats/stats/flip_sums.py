"""Sums of the flipped sets of drawn sign patterns, from packed bits.

Every number that is added is a whole number and no sum reaches 2**53, so both ways below give the same sums, whatever
the size of the pieces, and the same as a product of all bits with the whole matrix.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from rankstats.stats.products import product
from rankstats.stats.random_blocks import word_blocks

_ROWS_AT_ONCE = 1024
_BITS_AT_ONCE = 1 << 17
"""Bits that are unpacked at once: they stay in the cache until they are multiplied, and few products are made."""

_LOOKED_UP_FROM = 1024
_LOOKED_UP_COLUMNS = 2
"""Look-up beats the matrix product from so many rows on, for at most so many columns."""

_OCTETS_AT_ONCE = 64

_OCTET_BITS = ((np.arange(256)[:, None] >> np.arange(8)) & 1).astype(np.float64)

Floats = NDArray[np.float64]


def flipped_sums(
    generator: np.random.Generator, matrix: Floats, resamples: int, batch: int | None = None
) -> Iterator[tuple[slice, Floats]]:
    """Yield, block by block, the sums of the rows that random sign patterns flip.

    The bits are those of `random_blocks.sign_bits`.

    Parameters
    ----------
    generator : numpy.random.Generator
        Advanced by ``ceil(n / 64)`` words a resample.
    matrix : ndarray, shape (n, k)
        Whole numbers whose sums stay below 2**53.
    resamples : int
        Sign patterns in total.
    batch : int, optional
        Patterns a block; the sums do not depend on it.

    Yields
    ------
    patterns : slice
        Which of the patterns the block holds.
    sums : ndarray, shape (batch, k)
        Exact sums over the flipped rows; those of a column lie beside each other in memory.

    Examples
    --------
    >>> from rankstats.stats.random_blocks import generator_from, sign_bits
    >>> matrix = np.arange(10.0)[:, None]
    >>> sums = [part for _, part in flipped_sums(generator_from(0), matrix, 3)]
    >>> bits = [part for _, part in sign_bits(generator_from(0), 10, 3)]
    >>> bool(np.all(sums[0] == bits[0] @ matrix))
    True
    """
    n, columns = matrix.shape
    sums = _looked_up if n >= _LOOKED_UP_FROM and columns <= _LOOKED_UP_COLUMNS else _multiplied
    for patterns, words in word_blocks(generator, -(-n // 64), resamples, batch):
        yield patterns, sums(words.view(np.uint8), matrix)


def _multiplied(octets: NDArray[np.uint8], matrix: Floats) -> Floats:
    n = len(matrix)
    at_once = max(1, _BITS_AT_ONCE // max(1, min(n, _ROWS_AT_ONCE)))
    sums = np.zeros((matrix.shape[1], len(octets)))
    for first in range(0, len(octets), at_once):
        patterns = slice(first, first + at_once)
        for start in range(0, n, _ROWS_AT_ONCE):
            rows = matrix[start : start + _ROWS_AT_ONCE]
            packed = octets[patterns, start // 8 : (start + _ROWS_AT_ONCE) // 8]
            bits = np.unpackbits(packed, axis=1, count=len(rows), bitorder="little").astype(np.float64)
            if n <= _ROWS_AT_ONCE:
                product(rows.T, bits.T, out=sums[:, patterns])
            else:
                sums[:, patterns] += rows.T @ bits.T
    return sums.T


def _looked_up(octets: NDArray[np.uint8], matrix: Floats) -> Floats:
    """Add up table entries: a table holds the sums of all 256 sets of 8 rows, of two columns as one complex number."""
    patterns, columns = len(octets), matrix.shape[1]
    pairs, groups = -(-columns // 2), -(-len(matrix) // 8)
    padded = np.zeros((groups * 8, 2 * pairs))
    padded[: len(matrix), :columns] = matrix
    sums = np.zeros((pairs, patterns), dtype=np.complex128)
    found = np.empty(patterns, dtype=np.complex128)
    for start in range(0, groups, _OCTETS_AT_ONCE):
        stop = min(start + _OCTETS_AT_ONCE, groups)
        tables = _OCTET_BITS @ padded[8 * start : 8 * stop].reshape(stop - start, 8, 2 * pairs)
        paired = np.ascontiguousarray(tables.view(np.complex128).transpose(2, 0, 1))
        positions = octets[:, start:stop].T.astype(np.intp, order="C")
        for pair in range(pairs):
            for group in range(stop - start):
                # an octet cannot be out of bounds, and this mode writes to `found` without a copy
                np.take(paired[pair, group], positions[group], out=found, mode="clip")
                sums[pair] += found
    parts = np.stack([sums.real, sums.imag], axis=1).reshape(2 * pairs, patterns)
    return np.asarray(parts[:columns].T)
