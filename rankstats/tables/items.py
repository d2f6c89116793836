"""Items: what is known of the documents themselves, judged or not, and who has had which of them before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rankstats.tables.judgments import Source

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Categories:
    """Which categories each item has.

    Attributes
    ----------
    names : tuple of str
        The distinct categories, ascending by code point.
    offsets : ndarray of int64, shape (N + 1,)
        The categories of item i are ``code[offsets[i]:offsets[i + 1]]``.
    code : ndarray of int32
        Index into `names`; ascending and distinct within an item.
    """

    names: tuple[str, ...]
    offsets: NDArray[np.int64]
    code: NDArray[np.int32]

    @property
    def count(self) -> NDArray[np.int64]:
        """Number of categories of each item, shape (N,)."""
        return np.diff(self.offsets)


@dataclass(frozen=True, slots=True)
class Items:
    """The item table: the declared catalogue.

    Attributes
    ----------
    doc_ids : pyarrow.Array of string, shape (N,)
        Document ids, distinct, in the order of the file.
    source : Source
        Where the table came from.
    columns : tuple of str
        The columns of the file.
    popularity : ndarray of float64, shape (N,), or None
        How often each item was used, 0 or more; NaN where it is not known.
    categories : Categories or None
        The categories of each item; an item may have none.
    vectors : ndarray of float64, shape (N, D), or None
        A vector for each item; NaN in the row of an item without one.
    """

    doc_ids: pa.Array[Any]
    source: Source
    columns: tuple[str, ...] = ()
    popularity: NDArray[np.float64] | None = None
    categories: Categories | None = None
    vectors: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self.doc_ids)


@dataclass(frozen=True, slots=True)
class Histories:
    """What each user (query) has had before the lists were made; a pair may stand more than once.

    Attributes
    ----------
    query_ids : tuple of str
        The distinct users.
    query : ndarray of int32, shape (N,)
        Index into `query_ids`.
    doc_ids : pyarrow.Array of string, shape (N,)
        Document ids.
    source : Source
        Where the histories came from.
    """

    query_ids: tuple[str, ...]
    query: NDArray[np.int32]
    doc_ids: pa.Array[Any]
    source: Source
