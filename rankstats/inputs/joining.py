"""Columns that come block by block, gathered in arrays of their own, so that each block can go at once."""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

_CHUNK_BYTES = 1 << 25
_CHUNK_ROWS = 1 << 22
_MAPPED_BYTES = 1 << 20


def _room_for(size: int, dtype: type[Any]) -> NDArray[Any]:
    """Return an array that is not filled yet; what is never written to takes no memory.

    A large one is mapped, so that the system has it back as soon as it is let go of, and so that the allocator, which
    keeps for later as much as it has once seen freed in one piece, never sees it.
    """
    size_in_bytes = size * np.dtype(dtype).itemsize
    if size_in_bytes < _MAPPED_BYTES:
        return np.empty(size, dtype)
    private = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_PRIVATE") else {}
    room = mmap.mmap(-1, size_in_bytes, **private)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        room.madvise(mmap.MADV_HUGEPAGE)  # fewer pages to fetch
    return np.frombuffer(room, dtype)


class JoinedNumbers:
    """A column of numbers that grows.

    Parameters
    ----------
    dtype : type
        Kind of the numbers.
    rows : int
        A guess of how many there will be.
    """

    def __init__(self, dtype: type[Any], rows: int) -> None:
        self._room = _room_for(rows, dtype)
        self._dtype = dtype
        self._rows = 0

    def add(self, values: NDArray[Any]) -> None:
        """Append values."""
        start, self._rows = self._rows, self._rows + len(values)
        if self._rows > len(self._room):
            larger = _room_for(self._rows + self._rows // 8, self._dtype)
            larger[:start] = self._room[:start]
            self._room = larger
        self._room[start : self._rows] = values

    def values(self) -> NDArray[Any]:
        """Return all values in their order."""
        return self._room[: self._rows]


class JoinedTexts:
    """A column of texts that grows, in few large chunks.

    Parameters
    ----------
    rows, n_bytes : int or None, optional
        Guesses of how many texts there will be, and how long all of them are; they bound the first chunks.
    """

    def __init__(self, rows: int | None = None, n_bytes: int | None = None) -> None:
        self._chunk_rows = _CHUNK_ROWS if rows is None else min(rows, _CHUNK_ROWS)
        self._chunk_bytes = _CHUNK_BYTES if n_bytes is None else min(n_bytes, _CHUNK_BYTES)
        self._chunks: list[pa.Array[Any]] = []
        self._bytes = np.empty(0, np.uint8)
        self._offsets = np.zeros(1, np.int32)
        self._n_bytes = self._rows = 0

    def add(self, texts: pa.Array[Any]) -> None:
        """Append an array of strings without nulls."""
        _, offset_buffer, byte_buffer = _buffers(texts)
        if not len(texts):
            return
        offsets = np.frombuffer(offset_buffer, np.int32)[texts.offset : texts.offset + len(texts) + 1]
        first, size = int(offsets[0]), int(offsets[-1] - offsets[0])
        if not self._has_room(len(texts), size):
            self._close()
            self._bytes = _room_for(max(self._chunk_bytes, size), np.uint8)
            self._offsets = _room_for(max(self._chunk_rows, len(texts)) + 1, np.int32)
            self._offsets[0] = 0
        if size:
            content = np.frombuffer(byte_buffer, np.uint8)
            self._bytes[self._n_bytes : self._n_bytes + size] = content[first : first + size]
        ends = self._offsets[self._rows + 1 : self._rows + 1 + len(texts)]
        np.add(offsets[1:], self._n_bytes - first, out=ends)
        self._n_bytes += size
        self._rows += len(texts)

    def keep(self, texts: pa.Array[Any]) -> None:
        """Append an array as it is, without a copy: one that holds no more memory than its texts.

        It is copied all the same where a chunk has been begun and has room: one that is closed early wastes the rest.
        """
        if self._rows and self._has_room(len(texts), _buffers(texts)[2].size):
            self.add(texts)
            return
        self._close()
        self._chunks.append(texts)

    def chunks(self) -> Sequence[pa.Array[Any]]:
        """Return all texts in their order; nothing can be added any more."""
        self._close()
        return self._chunks

    def _has_room(self, rows: int, size: int) -> bool:
        return self._n_bytes + size <= len(self._bytes) and self._rows + rows < len(self._offsets)

    def _close(self) -> None:
        if self._rows:
            offsets, content = self._offsets[: self._rows + 1], self._bytes[: self._n_bytes]
            buffers = [None, pa.py_buffer(offsets), pa.py_buffer(content)]
            self._chunks.append(pa.Array.from_buffers(pa.string(), self._rows, buffers))
        # the chunk has these now: nothing may be written to them any more
        self._bytes, self._offsets = np.empty(0, np.uint8), np.zeros(1, np.int32)
        self._n_bytes = self._rows = 0


def _buffers(texts: pa.Array[Any]) -> list[Any]:
    """Return validity, offsets and content of an array of strings."""
    buffers: list[Any] = texts.buffers()
    return buffers
