"""Frames (pandas, Polars, Arrow) and iterables of rows to tables."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from rankstats.inputs.columns import DOCUMENT_NAMES, GRADE_NAMES, ID_NAMES, SCORE_NAMES
from rankstats.inputs.formats import plain_column
from rankstats.inputs.origin import HandedIn
from rankstats.inputs.quoting import plain, quoted
from rankstats.inputs.table_file import TableFile
from rankstats.inputs.texts import arrow_texts, is_missing
from rankstats.tables.arrow_arrays import arrow_of

_PLAIN = "a path, a dictionary {query_id: {doc_id: number}}, named tuples, or a pandas, Polars or Arrow frame"
_ATTRIBUTES = (*ID_NAMES, *DOCUMENT_NAMES, *GRADE_NAMES, *SCORE_NAMES, "text", "system", "measure", "value")


class _Made(Mapping[str, Any]):
    """Columns that are made, and taken up in the digest, when they are first asked for."""

    def __init__(self, makers: Mapping[str, Callable[[], pa.Array[Any]]], origin: HandedIn) -> None:
        self._makers = makers
        self._origin = origin
        self._columns: dict[str, pa.Array[Any]] = {}

    def __getitem__(self, name: str) -> pa.Array[Any]:
        if name not in self._columns:
            column = self._makers[name]()
            self._origin.take(column)
            self._columns[name] = column
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


class HandedInTable(TableFile):
    """A table of data handed in from Python, whose rows are counted from 1."""

    def __init__(self, makers: Mapping[str, Callable[[], pa.Array[Any]]], origin: HandedIn, length: int) -> None:
        super().__init__(origin, _Made(makers, origin), None, is_typed=True)
        self._length = length

    def __len__(self) -> int:
        return self._length


def table_of(data: Any, origin: HandedIn, names: Sequence[str], *, truth_as_text: bool = False) -> TableFile:
    """Return a frame, or an iterable of rows, as a table; what is handed in is left as it is.

    Parameters
    ----------
    data : object
        A frame that narwhals knows, or an iterable of mappings, named tuples, dataclasses, objects with the first two
        of `names` as attributes, or plain tuples.
    origin : HandedIn
        What the data are, for errors.
    names : sequence of str
        The names of the items of plain tuples.
    truth_as_text : bool
        Whether truth values become 'true' and 'false'; else they are 1 and 0.

    Raises
    ------
    InputError
        If the data are of none of these kinds or hold no row, or two columns have one name.
    """
    table = _table_of_frame(data, origin, truth_as_text)
    if table is None:
        table = _table_of_rows(data, origin, names, truth_as_text)
    if not len(table):
        raise origin.error("there are no rows")
    return table


def _table_of_frame(data: Any, origin: HandedIn, truth_as_text: bool) -> TableFile | None:
    import narwhals as nw  # noqa: PLC0415  files need it not

    try:
        frame: Any = nw.from_native(data, pass_through=True)
    except (nw.exceptions.NarwhalsError, TypeError, ValueError) as error:
        raise origin.error(f"cannot be read as a frame ({' '.join(str(error).split())})") from None
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    if not isinstance(frame, nw.DataFrame):
        return None
    names = [str(name) for name in frame.columns]
    for name in names:
        if names.count(name) > 1:
            raise origin.error(f"two columns are named {quoted(name)}; rename one")

    def maker(name: Any, text: str) -> Callable[[], pa.Array[Any]]:
        return lambda: _arrow_column(frame.get_column(name), text, origin, truth_as_text)

    makers = {text: maker(name, text) for name, text in zip(frame.columns, names, strict=True)}
    return HandedInTable(makers, origin, len(frame))


def _arrow_column(series: Any, name: str, origin: HandedIn, truth_as_text: bool) -> pa.Array[Any]:
    try:
        column = series.to_arrow()
    except (pa.ArrowException, TypeError, ValueError, OverflowError, UnicodeEncodeError):  # cells of several kinds
        return _column_of_cells(series.to_list(), name, origin, truth_as_text)
    chunked = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
    if pa.types.is_boolean(chunked.type) and not truth_as_text:
        chunked = chunked.cast(pa.int8()).cast(pa.float64())
    return plain_column(chunked)


def _table_of_rows(data: Any, origin: HandedIn, plain_names: Sequence[str], truth_as_text: bool) -> TableFile:
    if isinstance(data, str | bytes | Mapping) or not isinstance(data, Iterable):
        raise origin.error(f"{_kind(data)} cannot be read; give {_PLAIN}")
    rows = list(data)
    if not rows:
        raise origin.error("there are no rows")
    kind = type(rows[0])
    other = next((row for row, item in enumerate(rows) if type(item) is not kind), None)
    if other is not None:
        problem = f"{_kind(rows[other])} where row 1 is {_kind(rows[0])}; give rows of one kind"
        raise origin.error(f"row {other + 1}: {problem}")
    columns = _columns_of_rows(rows, origin, plain_names)

    def maker(name: str) -> Callable[[], pa.Array[Any]]:
        return lambda: _column_of_cells(columns[name], name, origin, truth_as_text)

    return HandedInTable({name: maker(name) for name in columns}, origin, len(rows))


def _columns_of_rows(rows: list[Any], origin: HandedIn, plain_names: Sequence[str]) -> dict[str, Sequence[Any]]:
    """Return the cells by column, by the kind of the first row, which is that of all."""
    first = rows[0]
    if isinstance(first, Mapping):
        keys = dict.fromkeys(name for row in rows for name in row)
        return {str(key): [row.get(key) for row in rows] for key in keys}
    if isinstance(first, tuple | list):
        names = getattr(first, "_fields", tuple(plain_names))
        odd = next((row for row, item in enumerate(rows) if len(item) != len(names)), None)
        if odd is not None:
            expected = f"{len(names)} are expected ({', '.join(names)})"
            raise origin.error(f"row {odd + 1}: {len(rows[odd])} items where {expected}")
        return dict(zip(names, zip(*rows, strict=True), strict=True))
    if dataclasses.is_dataclass(first) and not isinstance(first, type):
        names = tuple(field.name for field in dataclasses.fields(first))
    else:
        names = tuple(name for name in _ATTRIBUTES if hasattr(first, name))
    if not set(plain_names[:2]) <= set(names):
        raise origin.error(f"rows are {_kind(first)}, without {' and '.join(plain_names[:2])}; give {_PLAIN}")
    return {name: [getattr(row, name, None) for row in rows] for name in names}


def _kind(value: Any) -> str:
    return f"a value of type {type(value).__name__}"


def _column_of_cells(cells: Sequence[Any], name: str, origin: HandedIn, truth_as_text: bool) -> pa.Array[Any]:
    """Return Python values as strings, or as float64 where all of them are numbers and one is a float."""
    plain_kinds = set(map(type, cells))
    if plain_kinds == {float}:
        return arrow_of(np.array(cells, np.float64))
    if plain_kinds == {str}:
        try:
            return arrow_texts(cells)
        except UnicodeEncodeError:  # named below
            pass
    kept = [None if is_missing(cell) else cell.item() if isinstance(cell, np.generic) else cell for cell in cells]
    if truth_as_text:
        kept = [str(cell).lower() if isinstance(cell, bool) else cell for cell in kept]
    kinds = {type(cell) for cell in kept if cell is not None}
    if kinds and kinds <= {int, float, bool} and kinds & {float, bool}:
        try:
            return arrow_of(np.array([np.nan if cell is None else float(cell) for cell in kept], np.float64))
        except OverflowError:
            row = next(row for row, cell in enumerate(kept) if isinstance(cell, int) and abs(cell) > 1e308)
            raise origin.error(f"row {row + 1}: {plain(name)} is too large") from None
    texts = [None if cell is None else _cell_text(cell, name, row, origin) for row, cell in enumerate(kept)]
    _check_kinds(kept, texts, name, origin)
    return pa.array(texts, pa.string())


def _cell_text(cell: Any, name: str, row: int, origin: HandedIn) -> str:
    is_several = isinstance(cell, Iterable) and not isinstance(cell, str | bytes)
    methods: list[Any] = [type(cell).__str__, type(cell).__repr__]
    if is_several or methods == [object.__str__, object.__repr__]:
        raise origin.error(f"row {row + 1}: {plain(name)} holds {_kind(cell)}; a text or a number is expected")
    try:
        text = cell.decode() if isinstance(cell, bytes) else str(cell)
        text.encode()
    except UnicodeError:
        raise origin.error(f"row {row + 1}: {plain(name)} {quoted(cell)} cannot be written as UTF-8 text") from None
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else text


def _check_kinds(cells: Sequence[Any], texts: Sequence[str | None], name: str, origin: HandedIn) -> None:
    """Raise where two values of different kinds, such as 1 and '1', are one as text."""
    kinds: dict[str, tuple[bool, int]] = {}
    for row, (cell, text) in enumerate(zip(cells, texts, strict=True)):
        if text is not None:
            is_text = isinstance(cell, str | bytes)
            known, first = kinds.setdefault(text.strip(), (is_text, row))
            if known != is_text:
                raise origin.error(
                    f"row {row + 1}: {plain(name)} {quoted(cell)} and {quoted(cells[first])} (row {first + 1}) are "
                    "one as text; give ids of one kind"
                )
