"""Hashes of texts, made with array operations: equal texts have equal hashes, wherever they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa

ODD = np.uint64(0x9E3779B97F4A7C15)
_ODD_TOO = np.uint64(0xD6E8FEB86659FD93)
_HALF = np.uint64(32)
LOWEST_BYTES = np.array([(1 << (8 * n)) - 1 for n in range(9)], np.uint64)
"""Masks of the first n of eight bytes."""


def hashes_of_ends(texts: pa.Array[Any]) -> NDArray[np.uint32]:
    """Mix the first and the last eight bytes of each text, where ids differ most, with its length.

    Parameters
    ----------
    texts : pyarrow.Array of string, shape (N,)
        Without nulls.

    Returns
    -------
    ndarray of uint32, shape (N,)
    """
    words, offsets = _bytes_and_offsets(texts)
    lengths = np.diff(offsets)
    last = words[offsets[1:] - 8] if lengths.max(initial=0) > 8 else None
    return hashes_of_words(words[offsets[:-1]], last, lengths)


def hashes_of_words(
    first: NDArray[np.uint64], last: NDArray[np.uint64] | None, lengths: NDArray[np.int64]
) -> NDArray[np.uint32]:
    """Return what `hashes_of_ends` does, of texts whose ends are at hand.

    Parameters
    ----------
    first, last : ndarray of uint64, shape (N,)
        The first and the last eight bytes of each text, the first byte the lowest; of shorter texts with anything
        behind or before. `last` may be None where no text is longer than eight bytes.
    lengths : ndarray of int64, shape (N,)
        How many bytes each text has.
    """
    shortest = lengths.min(initial=9)
    hashes = first & LOWEST_BYTES[np.minimum(lengths, 8)] if shortest < 8 else first.copy()
    if last is not None:
        last = last * _ODD_TOO
        if shortest <= 8:
            last[lengths <= 8] = 0  # the first eight bytes say all; also, a hash must not depend on the other strings
        hashes += last
    hashes += lengths.view(np.uint64)
    hashes *= ODD
    hashes ^= hashes >> _HALF
    return hashes.astype(np.uint32)


def hashes_of_all(texts: pa.Array[Any]) -> NDArray[np.uint64]:
    """Mix all bytes of each text, eight at a time, with its length, shape (N,)."""
    words, offsets = _bytes_and_offsets(texts)
    starts, lengths = offsets[:-1], np.diff(offsets)
    hashes = lengths.astype(np.uint64) * ODD
    for begin in range(0, int(lengths.max(initial=0)), 8):
        rows = np.flatnonzero(lengths > begin)
        word = words[starts[rows] + begin] & LOWEST_BYTES[np.minimum(lengths[rows] - begin, 8)]
        mixed = (hashes[rows] ^ word) * ODD
        hashes[rows] = mixed ^ (mixed >> _HALF)
    return hashes


def _bytes_and_offsets(chunk: pa.Array[Any]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the eight bytes that begin at each byte of the strings, and where the strings begin and end in them."""
    buffers: list[Any] = chunk.buffers()
    _, offset_buffer, byte_buffer = buffers
    offsets = np.frombuffer(offset_buffer, np.int32)[chunk.offset : chunk.offset + len(chunk) + 1]
    first, last = int(offsets[0]), int(offsets[-1])
    content = np.zeros(last - first + 16, np.uint8)  # eight bytes of room before and after
    if last > first:
        content[8:-8] = np.frombuffer(byte_buffer, np.uint8)[first:last]
    words: NDArray[np.uint64] = np.ndarray((len(content) - 7,), "<u8", content, strides=(1,))
    return words, offsets.astype(np.int64) - (first - 8)
