"""Judgments: what the judges said of query and document pairs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Source:
    """Where a table came from, for the audit and the reproduction section.

    Attributes
    ----------
    name : str
        The path as the user gave it, or a word for data handed in from Python.
    sha256 : str or None
        Digest of the bytes of the file as stored (compressed files as they are).
    size : int or None
        Number of those bytes.
    """

    name: str
    sha256: str | None = None
    size: int | None = None


@dataclass(frozen=True, slots=True)
class Subtopics:
    """Grades of documents for the subtopics (intents, aspects) of their query, sorted by document and subtopic.

    Attributes
    ----------
    names : tuple of str
        The distinct subtopic ids of all queries, ascending by code point.
    judgment : ndarray of int64, shape (N,)
        Row of the judgments, which names query and document; not descending.
    subtopic : ndarray of int32, shape (N,)
        Index into `names`, ascending within a row of the judgments.
    grade : ndarray of float64, shape (N,)
        Grade of the document for the subtopic; the judgments hold its highest one.
    """

    names: tuple[str, ...]
    judgment: NDArray[np.int64]
    subtopic: NDArray[np.int32]
    grade: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Judgments:
    """Grades of documents for queries, sorted by query and then by document id.

    Attributes
    ----------
    query_ids : tuple of str
        The judged queries, ascending by code point: the order of every per-query array downstream.
    query : ndarray of int32, shape (J,)
        Index into `query_ids`, not descending.
    doc_ids : pyarrow.Array of string, shape (J,)
        Document ids, ascending within a query.
    grade : ndarray of float64, shape (J,)
        Relevance grades; below 0 means not relevant.
    offsets : ndarray of int64, shape (Q + 1,)
        Rows of query q are ``offsets[q]:offsets[q + 1]``.
    source : Source
        Where the judgments came from.
    duplicates : int
        Pairs with more than one grade that a policy settled (with subtopics: pairs and subtopics).
    subtopics : Subtopics or None
        Grades by subtopic, of which `grade` is the highest; None where the judgments name no subtopics.
    """

    query_ids: tuple[str, ...]
    query: NDArray[np.int32]
    doc_ids: pa.Array[Any]
    grade: NDArray[np.float64]
    offsets: NDArray[np.int64]
    source: Source
    duplicates: int = 0
    subtopics: Subtopics | None = None
    made: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    """What is made of these judgments once, for every run that is looked up in them."""

    @property
    def n_queries(self) -> int:
        """Number of judged queries."""
        return len(self.query_ids)

    def relevant(self, at_least: float = 1.0) -> NDArray[np.int64]:
        """Return the number of documents per query with a grade of at least `at_least`, shape (Q,)."""
        return np.bincount(self.query[self.grade >= at_least], minlength=self.n_queries).astype(np.int64)
