"""Weight and attributes that stand beside the values of a long score table, gathered to one row a query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankstats.inputs.columns import FREQUENCY_NAMES, TEXT_NAMES, folded
from rankstats.inputs.score_rows import MEAN_QUERY
from rankstats.inputs.table_file import TableFile
from rankstats.tables.scores import Queries

_Cell = float | str | None


class Attributes:
    """Attribute values of queries, each of which must be one for all rows of a query."""

    def __init__(self) -> None:
        self._columns: dict[str, dict[str, _Cell]] = {}
        self._places: dict[tuple[str, str], str] = {}

    def add(self, table: TableFile, ids: Sequence[str], names: Sequence[str]) -> None:
        """Take up the columns `names` of a table.

        Raises
        ------
        InputError
            If a query has two values of one attribute.
        """
        rows: dict[str, int] = {}
        first = np.array([rows.setdefault(query_id, row) for row, query_id in enumerate(ids)], np.int64)
        rows.pop(MEAN_QUERY, None)
        for name in names:
            cells = table.numbers_or_texts(name)
            differs = _differ(cells, cells[first]) & np.array([query_id in rows for query_id in ids], bool)
            if differs.any():
                row = int(np.argmax(differs))
                place = table.place(int(first[row]))
                raise table.error(_conflict(name, ids[row], cells[row], cells[first[row]], place), row)
            for query_id, row in rows.items():
                self._take_up(table, row, query_id, name, _cell(cells[row]))

    def _take_up(self, table: TableFile, row: int, query_id: str, name: str, cell: _Cell) -> None:
        known = self._columns.setdefault(name, {}).setdefault(query_id, cell)
        place = self._places.setdefault((name, query_id), table.file.path)
        if known != cell:
            raise table.error(_conflict(name, query_id, cell, known, place), row)

    def queries(self, query_ids: Sequence[str]) -> Queries | None:
        """Return the gathered table for the given queries, or None where there are no attributes."""
        if not self._columns:
            return None
        columns = {
            name: _array([cells.get(query_id) for query_id in query_ids]) for name, cells in self._columns.items()
        }
        by_folded = {folded(name): name for name in reversed(columns)}
        text = next((by_folded[name] for name in TEXT_NAMES if name in by_folded), None)
        frequency = next((by_folded[name] for name in FREQUENCY_NAMES if name in by_folded), None)
        if frequency is not None and columns[frequency].dtype == object:
            frequency = None
        return Queries(tuple(query_ids), columns, text, frequency)


def _differ(cells: NDArray[Any], others: NDArray[Any]) -> NDArray[np.bool_]:
    differ: NDArray[np.bool_] = (cells != others).astype(bool)
    if cells.dtype != object:
        differ &= ~(np.isnan(cells) & np.isnan(others))
    return differ


def _conflict(name: str, query_id: str, cell: Any, known: Any, place: str) -> str:
    return f"{name} of query {query_id!r} is {_cell(cell)!r}, but {_cell(known)!r} in {place}"


def _cell(value: Any) -> _Cell:
    if value is None or isinstance(value, str):
        return value
    return None if np.isnan(value) else float(value)


def _array(cells: list[_Cell]) -> NDArray[Any]:
    if any(isinstance(cell, str) for cell in cells) or all(cell is None for cell in cells):
        return np.array([cell if cell is None or isinstance(cell, str) else repr(cell) for cell in cells], object)
    return np.array([np.nan if cell is None else cell for cell in cells], np.float64)
