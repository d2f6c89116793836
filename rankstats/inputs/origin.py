"""What rows came from: a file, or data handed in from Python."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rankstats.errors import InputError
from rankstats.tables.arrow_arrays import is_valid
from rankstats.tables.judgments import Source


class Origin(Protocol):
    """What is named in errors and listed in the audit.

    Attributes
    ----------
    path : str
        The file as the user named it, or what the data are: ``judgments``, ``run bm25``.
    """

    path: str

    def source(self) -> Source:
        """Return name, digest and size."""

    def error(self, problem: str, line: int | None = None) -> InputError:
        """Return an error that names this origin."""


class HandedIn:
    """Data handed in from Python.

    Parameters
    ----------
    name : str
        What the data are.
    """

    def __init__(self, name: str) -> None:
        self.path = name
        import hashlib  # noqa: PLC0415  loads a library that nothing else needs

        self._hash = hashlib.sha256()
        self._size = 0

    def take(self, values: NDArray[Any] | pa.Array[Any]) -> None:
        """Add values to the digest: the bytes of numbers, the lengths and the UTF-8 bytes of texts."""
        for piece in [values] if isinstance(values, np.ndarray) else _pieces(values):
            content: Any = np.ascontiguousarray(piece).view(np.uint8)
            self._hash.update(content)
            self._size += len(content)

    def source(self) -> Source:
        """Return the name, and digest and size of the values that were taken up."""
        return Source(self.path, self._hash.hexdigest(), self._size)

    def error(self, problem: str, line: int | None = None) -> InputError:
        """Return an error that names the data."""
        return InputError(problem, self.path, line)


def _pieces(column: pa.Array[Any]) -> list[NDArray[Any]]:
    buffers: list[Any] = column.buffers()
    if not pa.types.is_string(column.type):
        width = column.type.bit_width // 8
        start = column.offset * width
        return [np.frombuffer(buffers[1], np.uint8)[start : start + len(column) * width]] if len(column) else []
    if not len(column) or buffers[1] is None:
        return []
    offsets = np.frombuffer(buffers[1], np.int32)[column.offset : column.offset + len(column) + 1]
    lengths = np.where(is_valid(column), np.diff(offsets), -1).astype(np.int32)
    if buffers[2] is None or offsets[-1] == offsets[0]:
        return [lengths]
    return [lengths, np.frombuffer(buffers[2], np.uint8)[offsets[0] : offsets[-1]]]
