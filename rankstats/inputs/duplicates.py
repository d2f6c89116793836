"""Finds documents that stand twice in the list of one query: by 64-bit hashes, then exactly."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rankstats.tables.arrow_arrays import arrow_of
from rankstats.tables.threads import in_threads

_ODD = np.uint64(0x9E3779B97F4A7C15)
_ODD_TOO = np.uint64(0xD6E8FEB86659FD93)
_HALF = np.uint64(32)
_SEGMENT_ROWS = 1 << 15  # what is looked at together fits in the processor's cache
_SLOTS_A_ROW = 8
_LOWEST_BYTES = np.array([(1 << (8 * n)) - 1 for n in range(9)], np.uint64)


def repeated_rows(query: NDArray[np.int32], doc_ids: pa.ChunkedArray[Any]) -> list[list[int]]:
    """Return groups of rows that share query and document, each ascending, ordered by their second row.

    Equal pairs have equal hashes, so no pair is missed; groups of equal hashes are compared as text, so none is
    invented.

    Parameters
    ----------
    query : ndarray of int32, shape (N,)
        Query of each row.
    doc_ids : pyarrow.ChunkedArray of string, shape (N,)
        Document of each row.

    Examples
    --------
    >>> repeated_rows(np.array([0, 0, 1], np.int32), pa.chunked_array([["d1", "d1", "d1"]]))
    [[0, 1]]
    """
    segments = _segments(query)
    if segments and not any(in_threads(lambda segment: _shares_hash(query, doc_ids, *segment), segments)):
        return []
    rows = _rows_with_shared_hash(_hashes_of_pairs(query, doc_ids))
    if not len(rows):
        return []
    candidates = pa.concat_arrays(doc_ids.take(arrow_of(rows)).chunks)
    hashes = _hashes_of_all(candidates) ^ (query[rows].astype(np.uint64) * _ODD_TOO)
    again = _rows_with_shared_hash(hashes)
    groups: dict[tuple[int, str], list[int]] = {}
    documents: list[Any] = candidates.take(arrow_of(again)).to_pylist()
    for row, number, document in zip(rows[again].tolist(), query[rows[again]].tolist(), documents, strict=True):
        groups.setdefault((number, document), []).append(row)
    return sorted((group for group in groups.values() if len(group) > 1), key=lambda group: group[1])


def _segments(query: NDArray[np.int32]) -> list[tuple[int, int]]:
    """Cut rows into segments of whole queries; none where the rows of a query do not stand together."""
    starts = np.flatnonzero(np.append(True, query[1:] != query[:-1])[: len(query)])
    if len(np.unique(query[starts])) < len(starts):
        return []
    cuts = np.searchsorted(starts, np.arange(0, len(query), _SEGMENT_ROWS))
    begins = np.unique(starts[np.minimum(cuts, len(starts) - 1)]).tolist()
    return list(pairwise([*begins, len(query)]))


def _hashes_of_pairs(query: NDArray[np.int32], doc_ids: pa.ChunkedArray[Any]) -> NDArray[np.uint64]:
    hashes = np.concatenate([_hashes_of_ends(chunk) for chunk in doc_ids.chunks])
    hashes ^= query.astype(np.uint64) * _ODD_TOO
    return hashes


def _shares_hash(query: NDArray[np.int32], doc_ids: pa.ChunkedArray[Any], start: int, end: int) -> bool:
    """Return whether two of the rows from `start` to `end` have the same hash.

    Each row writes its number into the slot that its hash names; those that do not find it there again share the slot
    with the row that they find, and few are left to be sorted.
    """
    hashes = _hashes_of_pairs(query[start:end], doc_ids.slice(start, end - start))
    bits = (_SLOTS_A_ROW * len(hashes)).bit_length()
    slot = (hashes >> np.uint64(64 - bits)).astype(np.intp)
    holder = np.empty(1 << bits, np.int32)  # read only where it is written
    numbers = np.arange(len(hashes), dtype=np.int32)
    holder[slot] = numbers
    found = holder[slot]
    lost = np.flatnonzero(found != numbers)
    ordered = np.sort(hashes[lost])
    return bool(np.any(hashes[lost] == hashes[found[lost]]) or np.any(ordered[1:] == ordered[:-1]))


def _rows_with_shared_hash(hashes: NDArray[np.uint64]) -> NDArray[np.intp]:
    ordered = np.sort(hashes)
    shared = ordered[1:][ordered[1:] == ordered[:-1]]
    return np.flatnonzero(np.isin(hashes, shared)) if len(shared) else np.empty(0, np.intp)


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


def _hashes_of_ends(chunk: pa.Array[Any]) -> NDArray[np.uint64]:
    """Mix the first and the last eight bytes of each string, where ids differ most, with its length."""
    words, offsets = _bytes_and_offsets(chunk)
    lengths = np.diff(offsets)
    hashes = words[offsets[:-1]]
    shortest, longest = lengths.min(initial=9), lengths.max(initial=0)
    if shortest < 8:
        hashes &= _LOWEST_BYTES[np.minimum(lengths, 8)]
    if longest > 8:
        last = words[offsets[1:] - 8]
        if shortest <= 8:
            last[lengths <= 8] = 0  # the first eight bytes say all; also, a hash must not depend on the other strings
        last *= _ODD_TOO
        hashes += last
    hashes += lengths.astype(np.uint64)
    hashes *= _ODD
    hashes ^= hashes >> _HALF
    return hashes


def _hashes_of_all(chunk: pa.Array[Any]) -> NDArray[np.uint64]:
    """Mix all bytes of each string, eight at a time, with its length."""
    words, offsets = _bytes_and_offsets(chunk)
    starts, lengths = offsets[:-1], np.diff(offsets)
    hashes = lengths.astype(np.uint64) * _ODD
    for begin in range(0, int(lengths.max(initial=0)), 8):
        rows = np.flatnonzero(lengths > begin)
        word = words[starts[rows] + begin] & _LOWEST_BYTES[np.minimum(lengths[rows] - begin, 8)]
        mixed = (hashes[rows] ^ word) * _ODD
        hashes[rows] = mixed ^ (mixed >> _HALF)
    return hashes
