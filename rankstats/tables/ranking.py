"""Ranking: one system's scored documents, as read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rankstats.tables.judgments import Source

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Ranking:
    """One system's rows in the order of the file; not yet ranked.

    Attributes
    ----------
    system : str
        The system's name.
    query_ids : tuple of str
        The distinct queries of the run, in any order.
    query : ndarray of int32, shape (N,)
        Index into `query_ids`.
    doc_ids : pyarrow.Array or ChunkedArray of string, shape (N,)
        Document ids.
    score : ndarray of float64, shape (N,)
        Finite scores, higher is better.
    rank : ndarray of float64, shape (N,), or None
        The file's rank column, kept only where the tie policy asks for it.
    source : Source
        Where the run came from.
    doc_hashes : ndarray of uint32, shape (N,), or None
        `rankstats.tables.text_hashes.hashes_of_ends` of the document ids, where they were made in reading.
    """

    system: str
    query_ids: tuple[str, ...]
    query: NDArray[np.int32]
    doc_ids: pa.Array[Any] | pa.ChunkedArray[Any]
    score: NDArray[np.float64]
    rank: NDArray[np.float64] | None
    source: Source
    doc_hashes: NDArray[np.uint32] | None = None
