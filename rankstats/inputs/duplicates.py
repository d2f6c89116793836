"""Finds documents that stand twice in the list of one query: by hashes of their ids, then exactly."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rankstats.tables.arrow_arrays import arrow_of, rows_of
from rankstats.tables.arrow_functions import take
from rankstats.tables.row_groups import are_distinct, group_starts
from rankstats.tables.text_hashes import ODD, hashes_of_all, hashes_of_ends
from rankstats.tables.threads import in_threads

_SPREAD = np.uint32(0x9E3779B1)
_SEGMENT_ROWS = 1 << 16  # few enough for the cache of the processor, enough for threads not to wait for each other
_SLOTS_A_ROW = 4


def repeated_rows(
    query: NDArray[np.int32], doc_ids: pa.ChunkedArray[Any], hashes: NDArray[np.uint32] | None = None
) -> list[list[int]]:
    """Return groups of rows that share query and document, each ascending, ordered by their second row.

    Equal pairs have equal hashes, so no pair is missed; rows of equal hashes are compared as text, so none is invented.

    Parameters
    ----------
    query : ndarray of int32, shape (N,)
        Query of each row.
    doc_ids : pyarrow.ChunkedArray of string, shape (N,)
        Document of each row.
    hashes : ndarray of uint32, shape (N,), optional
        `rankstats.tables.text_hashes.hashes_of_ends` of the documents, where they were made before.

    Examples
    --------
    >>> repeated_rows(np.array([0, 0, 1], np.int32), pa.chunked_array([["d1", "d1", "d1"]]))
    [[0, 1]]
    """
    if not len(query):
        return []
    if hashes is None:
        hashes = np.concatenate([hashes_of_ends(chunk) for chunk in doc_ids.chunks])
    rows = _suspects(query, hashes)
    if not len(rows):
        return []
    candidates = rows_of(doc_ids, rows)
    again = _in_groups(hashes_of_all(candidates) ^ (query[rows].astype(np.uint64) * ODD))
    groups: dict[tuple[int, str], list[int]] = {}
    documents: list[Any] = take(candidates, arrow_of(again)).to_pylist()
    for row, number, document in zip(rows[again].tolist(), query[rows[again]].tolist(), documents, strict=True):
        groups.setdefault((number, document), []).append(row)
    return sorted((group for group in groups.values() if len(group) > 1), key=lambda group: group[1])


def _suspects(query: NDArray[np.int32], hashes: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Return the rows, ascending, that share query and hash with another one."""
    segments = _segments(query)
    if not segments:
        return _in_groups(_keys(query, hashes))

    def look(segment: tuple[int, int]) -> NDArray[np.int64]:
        start, end = segment
        return start + _suspects_together(query[start:end], hashes[start:end])

    return np.concatenate(list(in_threads(look, segments)))


def _segments(query: NDArray[np.int32]) -> list[tuple[int, int]]:
    """Cut rows into segments of whole queries; none where the rows of a query do not stand together."""
    starts = group_starts(query)
    if not are_distinct(query[starts]):
        return []
    cuts = np.searchsorted(starts, np.arange(0, len(query), _SEGMENT_ROWS))
    begins = dict.fromkeys(starts[np.minimum(cuts, len(starts) - 1)].tolist())
    return list(pairwise([*begins, len(query)]))


def _suspects_together(query: NDArray[np.int32], hashes: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Return the rows that share query and hash with another one.

    Each row writes its number into the slot that its hash and query name; those that do not find it there again share
    the slot with the row that they find, and few are left to be sorted.
    """
    bits = (_SLOTS_A_ROW * len(hashes)).bit_length()
    slot = ((hashes ^ (query.astype(np.uint32) * _SPREAD)) >> np.uint32(max(32 - bits, 0))).astype(np.intp)
    holder = np.empty(1 << min(bits, 32), np.int32)  # read only where it is written
    numbers = np.arange(len(hashes), dtype=np.int32)
    holder[slot] = numbers
    found = holder[slot]
    lost = np.flatnonzero(found != numbers)
    keys = _keys(query[lost], hashes[lost])
    theirs = _keys(query[found[lost]], hashes[found[lost]])
    ordered = np.sort(keys)
    shared = np.concatenate([keys[keys == theirs], ordered[1:][ordered[1:] == ordered[:-1]]])
    return _rows_among(_keys(query, hashes), np.sort(shared)) if len(shared) else np.empty(0, np.int64)


def _keys(query: NDArray[np.int32], hashes: NDArray[np.uint32]) -> NDArray[np.uint64]:
    return query.astype(np.uint64) << np.uint64(32) | hashes


def _in_groups(keys: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return the rows, ascending, whose key is that of another row."""
    ordered = np.sort(keys)
    shared = ordered[1:][ordered[1:] == ordered[:-1]]
    return _rows_among(keys, shared) if len(shared) else np.empty(0, np.int64)


def _rows_among(keys: NDArray[np.uint64], wanted: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return the rows whose keys are among some, which ascend."""
    at = np.minimum(np.searchsorted(wanted, keys), len(wanted) - 1)
    return np.flatnonzero(wanted[at] == keys)
