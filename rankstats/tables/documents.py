"""Numbers for documents, so that lists can be counted and compared as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rankstats.tables.arrow_arrays import arrow_of, is_valid, values_of
from rankstats.tables.arrow_functions import cast, encoded, index_in, take
from rankstats.tables.items import Items


class Documents:
    """Numbers documents: the rows of the item table first, then other documents as they are met.

    Parameters
    ----------
    items : Items or None
        The item table.

    Examples
    --------
    >>> documents = Documents(None)
    >>> documents.numbers(pa.array(["b", "a", "b"])).tolist(), documents.numbers(pa.array(["a", "c"])).tolist()
    ([0, 1, 0], [1, 2])
    """

    def __init__(self, items: Items | None) -> None:
        self._known: pa.Array[Any] = pa.nulls(0, pa.string()) if items is None else cast(items.doc_ids, pa.string())

    def numbers(self, doc_ids: pa.Array[Any]) -> NDArray[np.int64]:
        """Return the number of each document, shape (N,)."""
        found = index_in(doc_ids, self._known)
        if found.null_count:
            met = encoded(take(doc_ids, arrow_of(np.flatnonzero(~is_valid(found)))))
            self._known = pa.concat_arrays([self._known, met.dictionary])
            found = index_in(doc_ids, self._known)
        return values_of(found).astype(np.int64)
