"""Weight and attributes that stand beside the values of a long score table, gathered to one row a query."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankstats.inputs.columns import TEXT_NAMES, present
from rankstats.inputs.frequency import frequencies, guessed_frequency
from rankstats.inputs.quoting import plain, quoted
from rankstats.inputs.score_rows import MEAN_QUERY
from rankstats.inputs.table_file import TableFile
from rankstats.tables.arrow_arrays import arrow_of
from rankstats.tables.scores import Queries


class _Cell(NamedTuple):
    """What stands in a cell (None: nothing), and its number where the column is one of numbers."""

    text: str | None
    number: float | None

    def is_same(self, other: _Cell) -> bool:
        return self.text == other.text or (self.number is not None and self.number == other.number)


class Attributes:
    """Attribute values of queries, each of which must be one for all rows of a query.

    Parameters
    ----------
    numeric : collection of str
        Columns that must be numbers, whatever they look like.

    Attributes
    ----------
    notes : list of str
        Columns passed over as the frequency.
    """

    def __init__(self, numeric: Collection[str] = ()) -> None:
        self.notes: list[str] = []
        self._numeric = set(numeric)
        self._frequency: str | None = None
        self._columns: dict[str, dict[str, _Cell]] = {}
        self._places: dict[tuple[str, str], str] = {}

    def add(self, table: TableFile, ids: Sequence[str], names: Sequence[str]) -> None:
        """Take up the columns `names` of a table.

        Raises
        ------
        InputError
            If a query has two values of one attribute, or a number is none.
        """
        guess, notes = guessed_frequency(table, names)
        self.notes.extend(notes)
        self._frequency = self._frequency or guess
        rows: dict[str, int] = {}
        first = np.array([rows.setdefault(query_id, row) for row, query_id in enumerate(ids)], np.int64)
        rows.pop(MEAN_QUERY, None)
        is_query = np.array([query_id in rows for query_id in ids], bool)
        for name in names:
            cells = self._cells(table, name)
            differs = _differ(cells, cells[first]) & is_query
            if differs.any():
                row = int(np.argmax(differs))
                place = table.place(int(first[row]))
                raise table.error(_conflict(name, ids[row], cells[row], cells[first[row]], place), row)
            self._take_up(table, rows, name, cells)

    def _cells(self, table: TableFile, name: str) -> NDArray[Any]:
        if name == self._frequency:
            return frequencies(table, name)
        return table.numbers(name) if name in self._numeric else table.numbers_or_texts(name)

    def _take_up(self, table: TableFile, rows: dict[str, int], name: str, cells: NDArray[Any]) -> None:
        of_query = np.array(list(rows.values()), np.int64)
        is_numeric = cells.dtype != object
        texts = table.trimmed(name).take(arrow_of(of_query)).to_pylist() if is_numeric else cells[of_query].tolist()
        known = self._columns.setdefault(name, {})
        for (query_id, row), text in zip(rows.items(), texts, strict=True):
            cell = _Cell(text, float(cells[row]) if is_numeric and text is not None else None)
            place = self._places.setdefault((name, query_id), table.file.path)
            if not cell.is_same(known.setdefault(query_id, cell)):
                raise table.error(_conflict(name, query_id, cell.text, known[query_id].text, place), row)

    def queries(self, query_ids: Sequence[str]) -> Queries | None:
        """Return the gathered table for the given queries, or None where there are no attributes."""
        if not self._columns:
            return None
        nothing = _Cell(None, None)
        columns = {}
        for name, cells in self._columns.items():
            is_numeric = name in self._numeric or name == self._frequency
            columns[name] = _array([cells.get(query_id, nothing) for query_id in query_ids], is_numeric)
        text = next(iter(present(TEXT_NAMES, list(columns))), None)
        return Queries(tuple(query_ids), columns, text, self._frequency)


def _differ(cells: NDArray[Any], others: NDArray[Any]) -> NDArray[np.bool_]:
    differ: NDArray[np.bool_] = (cells != others).astype(bool)
    if cells.dtype != object:
        differ &= ~(np.isnan(cells) & np.isnan(others))
    return differ


def _conflict(name: str, query_id: str, cell: Any, known: Any, place: str) -> str:
    return f"{plain(name)} of query {quoted(query_id)} is {_shown(cell)}, but {_shown(known)} in {place}"


def _shown(cell: Any) -> str:
    if isinstance(cell, str):
        return quoted(cell)
    return "empty" if cell is None or np.isnan(cell) else repr(float(cell))


def _array(cells: list[_Cell], is_numeric: bool) -> NDArray[Any]:
    is_text = all(cell.number is None for cell in cells) or any(cell.number is None and cell.text for cell in cells)
    if is_text and not is_numeric:
        return np.array([cell.text for cell in cells], object)
    return np.array([np.nan if cell.number is None else cell.number for cell in cells], np.float64)
