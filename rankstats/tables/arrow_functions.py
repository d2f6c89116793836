"""The few functions of Arrow that every reading needs, without `pyarrow.compute`.

`pyarrow.compute` writes a documented wrapper for each of some 300 functions while it loads, which takes longer than to
read a small run. Methods of arrays (``take``, ``cast``, ``filter``, ``unique``, ``dictionary_encode``) load it too.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

try:
    from pyarrow._compute import CastOptions, SetLookupOptions, SortOptions, TakeOptions, call_function
except ImportError:  # a release that keeps them elsewhere
    from pyarrow.compute import CastOptions, SetLookupOptions, SortOptions, TakeOptions, call_function


def _call(name: str, arguments: list[Any], options: Any = None) -> Any:
    # the system's pool: others keep much of what is given back
    return call_function(name, arguments, options, pa.system_memory_pool())


def take(column: Any, rows: pa.Array[Any]) -> Any:
    """Return some rows of an array, a chunked array or a table.

    Examples
    --------
    >>> take(pa.array(["a", "b"]), pa.array([1, 0, 1])).to_pylist()
    ['b', 'a', 'b']
    """
    return _call("take", [column, rows], TakeOptions())


def cast(column: Any, kind: pa.DataType) -> Any:
    """Return an array or a chunked array as another type; raises where a value does not fit.

    Examples
    --------
    >>> cast(pa.array([1, 2]), pa.string()).to_pylist()
    ['1', '2']
    """
    return column if column.type == kind else _call("cast", [column], CastOptions(kind))


def equal(first: Any, second: Any) -> Any:
    """Return where two arrays are equal, element by element.

    Examples
    --------
    >>> equal(pa.array(["a", "b"]), pa.array(["a", "c"])).to_pylist()
    [True, False]
    """
    return _call("equal", [first, second])


def encoded(column: pa.Array[Any]) -> Any:
    """Return an array as indices into its distinct values, in the order in which they are met.

    Examples
    --------
    >>> encoded(pa.array(["b", "a", "b"])).indices.to_pylist()
    [0, 1, 0]
    """
    return _call("dictionary_encode", [column])


def index_in(column: Any, values: pa.Array[Any]) -> Any:
    """Return the place of each element among some values, null for those that are not there.

    Examples
    --------
    >>> index_in(pa.array(["a", "x"]), pa.array(["b", "a"])).to_pylist()
    [1, None]
    """
    return _call("index_in", [column], SetLookupOptions(values))


def sorting(table: Any, *keys: str, order: str = "ascending") -> Any:
    """Return the order in which the rows of a table, or of an array (without keys), are sorted; equal ones stay.

    Examples
    --------
    >>> sorting(pa.array(["b", "a", "c"]), order="descending").to_pylist()
    [2, 0, 1]
    """
    return _call("sort_indices", [table], SortOptions([(key, order) for key in keys or ("",)]))
