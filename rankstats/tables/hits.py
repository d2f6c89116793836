"""Hits: the judged documents that a ranking returned, and what is needed beside them.

Every relevance measure is a function of the judgments and the hits, so whoever can produce hits gets every measure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class TopLists:
    """The first documents of a system for every judged query, sorted by query and rank.

    Attributes
    ----------
    query : ndarray of int32, shape (T,)
        Index into the judgments' query ids.
    rank : ndarray of int64, shape (T,)
        1 is the top.
    doc_ids : pyarrow.Array of string, shape (T,)
        Document ids.
    grade : ndarray of float64, shape (T,)
        The judges' grade; NaN for an unjudged document.
    """

    query: NDArray[np.int32]
    rank: NDArray[np.int64]
    doc_ids: pa.Array[Any]
    grade: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Hits:
    """Judged documents returned by one system, sorted by query and rank.

    Attributes
    ----------
    system : str
        The system's name.
    query : ndarray of int32, shape (H,)
        Index into the judgments' query ids, not descending.
    rank : ndarray of int64, shape (H,)
        Rank of the document in the system's list; 1 is the top; ascending within a query.
    grade : ndarray of float64, shape (H,)
        The judges' grade.
    judgment : ndarray of int64, shape (H,)
        Row of the judgments, which names the document.
    returned : ndarray of int64, shape (Q,)
        Documents returned for each judged query, judged or not; 0 where the run lacks the query.
    tied : ndarray of int64, shape (Q,)
        Returned documents that share their score with another one of the same query (as the tie policy compares them:
        in 32 bits under 'float32', the rank instead of the score under 'rank').
    top : TopLists
        The first documents, for display and for the list of documents to judge.
    unknown_queries : tuple of str
        Queries of the run without judgments, ascending; left out.
    score : ndarray of float64, shape (H,), or None
        The system's score of the document, for measures with a threshold; None where it is not known.
    """

    system: str
    query: NDArray[np.int32]
    rank: NDArray[np.int64]
    grade: NDArray[np.float64]
    judgment: NDArray[np.int64]
    returned: NDArray[np.int64]
    tied: NDArray[np.int64]
    top: TopLists
    unknown_queries: tuple[str, ...]
    score: NDArray[np.float64] | None = None
