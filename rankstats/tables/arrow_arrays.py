"""NumPy arrays out of Arrow arrays and back by their buffers.

pyarrow's own ``to_numpy``, ``pa.array`` and ``pa.scalar`` load pandas first, which takes longer than a run to read.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rankstats.tables.arrow_functions import cast, take

if TYPE_CHECKING:
    Column: TypeAlias = pa.Array[Any] | pa.ChunkedArray[Any]

_DTYPES: dict[str, Any] = {
    "int8": np.int8,
    "int32": np.int32,
    "int64": np.int64,
    "uint64": np.uint64,
    "double": np.float64,
}
_TYPES = {np.dtype(dtype): pa.type_for_alias(name) for name, dtype in _DTYPES.items()}


def values_of(column: Column) -> NDArray[Any]:
    """Return the values of a column of numbers or truth values; what stands for a null is arbitrary.

    Parameters
    ----------
    column : pyarrow.Array or pyarrow.ChunkedArray of int8, int32, int64, uint64, float64 or bool, shape (N,)
        The column.

    Returns
    -------
    ndarray, shape (N,)
        Read-only where it shares the memory of the column.

    Examples
    --------
    >>> values_of(pa.chunked_array([[1, 2], [3]])).tolist(), values_of(pa.array([True, False])[1:]).tolist()
    ([1, 2, 3], [False])
    """
    if isinstance(column, pa.ChunkedArray):
        chunks = [values_of(chunk) for chunk in column.chunks]
        return np.concatenate(chunks) if chunks else values_of(pa.nulls(0, column.type))
    data = column.buffers()[1]
    if pa.types.is_boolean(column.type):
        return _bits(data, column)
    dtype = _DTYPES[str(column.type)]
    if data is None or not len(column):
        return np.zeros(len(column), dtype)
    return np.frombuffer(data, dtype, len(column) + column.offset)[column.offset :]


def is_valid(column: Column) -> NDArray[np.bool_]:
    """Return which cells of a column are not null, shape (N,).

    Examples
    --------
    >>> is_valid(pa.chunked_array([["a", None], ["b"]])).tolist()
    [True, False, True]
    """
    if isinstance(column, pa.ChunkedArray):
        return np.concatenate([np.ones(0, bool), *(is_valid(chunk) for chunk in column.chunks)])
    if not column.null_count:
        return np.ones(len(column), bool)
    if pa.types.is_null(column.type):
        return np.zeros(len(column), bool)
    return _bits(column.buffers()[0], column)


def floats_of(column: Column) -> NDArray[np.float64]:
    """Return a column of float64 with NaN for null, shape (N,).

    Examples
    --------
    >>> floats_of(pa.array([0.5, None])).tolist()
    [0.5, nan]
    """
    return np.where(is_valid(column), values_of(column), np.nan)


def arrow_of(values: NDArray[Any]) -> pa.Array[Any]:
    """Return numbers as an Arrow array that shares their memory.

    Examples
    --------
    >>> arrow_of(np.array([3, 4])).to_pylist()
    [3, 4]
    """
    values = np.ascontiguousarray(values)
    return pa.Array.from_buffers(_TYPES[values.dtype], len(values), [None, pa.py_buffer(values)])


def text_array(texts: Sequence[str]) -> pa.Array[Any]:
    """Return texts as an Arrow array of strings, without the look at pandas that `pyarrow.array` takes.

    Examples
    --------
    >>> text_array(["a", "", "ü"]).to_pylist()
    ['a', '', 'ü']
    """
    encoded = [text.encode() for text in texts]
    ends = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum([len(text) for text in encoded], out=ends[1:])
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(b"".join(encoded))]
    return cast(pa.Array.from_buffers(pa.large_string(), len(encoded), buffers), pa.string())


def rows_of(column: Column, rows: NDArray[np.int64]) -> pa.Array[Any]:
    """Return some rows of a column as one array.

    Examples
    --------
    >>> rows_of(pa.chunked_array([["a", "b"], ["c"]]), np.array([2, 0])).to_pylist()
    ['c', 'a']
    """
    if not isinstance(column, pa.ChunkedArray):
        return take(column, arrow_of(rows))
    # chunk by chunk: to take from many at once makes one of them first
    ends = np.cumsum([len(chunk) for chunk in column.chunks])
    order = None if np.all(rows[1:] >= rows[:-1]) else np.argsort(rows, kind="stable")
    ascending = rows if order is None else rows[order]
    cuts = np.searchsorted(ascending, ends).tolist()
    taken = [
        take(chunk, arrow_of(ascending[start:end] - (last - len(chunk))))
        for chunk, last, (start, end) in zip(column.chunks, ends.tolist(), pairwise([0, *cuts]), strict=True)
        if start < end
    ]
    whole = pa.concat_arrays(taken) if taken else pa.nulls(0, column.type)
    if order is None:
        return whole
    place = np.empty(len(rows), dtype=np.int64)
    place[order] = np.arange(len(rows))
    return take(whole, arrow_of(place))


def _bits(buffer: pa.Buffer | None, column: pa.Array[Any]) -> NDArray[np.bool_]:
    if buffer is None:
        return np.zeros(len(column), bool)
    end = column.offset + len(column)
    bits = np.unpackbits(np.frombuffer(buffer, np.uint8), count=end, bitorder="little")
    return bits[column.offset :].view(np.bool_)
