"""What the lines of a file consist of, and what is read of some of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

SPACE, TAB, NEWLINE = 32, 9, 10


@dataclass(frozen=True, slots=True)
class Layout:
    """The fields of a line.

    Attributes
    ----------
    header_hint : str
        What messages say of a header row.
    names : tuple of str
        The fields in order, as messages call them.
    query, document : int
        Positions of the ids.
    numbers : tuple of int
        Positions of the numbers to read.
    other_width, other_number : int
        Fields of the file that is taken for this one by mistake, and where such a file has a number.
    other_hint : str
        What messages say then.
    is_hashed : bool
        Whether the documents are hashed as they are read, while their bytes are at hand.
    """

    header_hint: str
    names: tuple[str, ...]
    query: int
    document: int
    numbers: tuple[int, ...]
    other_width: int
    other_number: int
    other_hint: str
    is_hashed: bool = False

    @property
    def expected(self) -> str:
        """The end of messages about a wrong number of fields."""
        return f"where {len(self.names)} are expected ({' '.join(self.names)})"


class Block(NamedTuple):
    """The columns of some lines; `query` counts within the texts of the block."""

    queries: list[str]
    query: NDArray[np.int32]
    doc_ids: pa.ChunkedArray[Any] | pa.Array[Any]
    numbers: list[NDArray[np.float64]]
    hashes: NDArray[np.uint32] | None
