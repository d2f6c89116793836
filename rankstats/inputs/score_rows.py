"""Gathers score rows of several files and lays them out as queries, systems and measures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from rankstats.errors import InputError
from rankstats.inputs.quoting import plain, quoted
from rankstats.inputs.table_file import LARGEST

if TYPE_CHECKING:
    from rankstats.inputs.origin import Origin

MEAN_QUERY = "all"
"""The query id of mean rows."""


class Placed(Protocol):
    """What knows where its rows stand: a table, or the lines of trec_eval output."""

    @property
    def file(self) -> Origin:
        """The file, or the data handed in."""

    def place(self, row: int) -> str:
        """Return 'line 7' or 'row 7'."""

    def error(self, problem: str, row: int) -> InputError:
        """Return an error at a row."""


class ScoreRows:
    """Rows of query, system, measure and value, as they come.

    Attributes
    ----------
    blank_lines, comment_lines, mean_rows, undefined : int
        What was counted on the way.
    """

    def __init__(self) -> None:
        self.blank_lines = 0
        self.comment_lines = 0
        self.mean_rows = 0
        self.undefined = 0
        self._queries: dict[str, int] = {}
        self._systems: dict[str, int] = {}
        self._measures: dict[str, int] = {}
        self._codes: list[NDArray[np.int64]] = []
        self._values: list[NDArray[np.float64]] = []
        self._rows: list[NDArray[np.int64]] = []
        self._tables: list[Placed] = []

    @property
    def count(self) -> int:
        """Rows taken up."""
        return sum(map(len, self._values))

    def add(
        self,
        table: Placed,
        queries: Sequence[str],
        systems: Sequence[str],
        measures: Sequence[str],
        values: NDArray[np.float64],
    ) -> None:
        """Take up the rows of a table; those of the query ``all`` are counted and left out.

        Raises
        ------
        InputError
            If the magnitude of a value is beyond 1e100.
        """
        kept = np.array([query != MEAN_QUERY for query in queries], bool)
        huge = kept & (np.abs(values) > LARGEST)
        if huge.any():
            row = int(np.argmax(huge))
            what = f"{plain(measures[row])} of system {quoted(systems[row])} for query {quoted(queries[row])}"
            raise table.error(f"{what} is {values[row]:g}, beyond {LARGEST:g}; give it on another scale", row)
        self.mean_rows += int(np.count_nonzero(~kept))
        rows = np.flatnonzero(kept)
        positions = rows.tolist()
        codes = [
            [known.setdefault(names[row], len(known)) for row in positions]
            for known, names in ((self._queries, queries), (self._systems, systems), (self._measures, measures))
        ]
        self._codes.append(np.array(codes, np.int64).reshape(3, len(rows)))
        self._values.append(values[rows])
        self._rows.append(rows)
        self._tables.append(table)
        self.undefined += int(np.count_nonzero(np.isnan(values[rows])))

    def pivoted(
        self, files: Sequence[Origin]
    ) -> tuple[NDArray[np.float64], tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        """Return values of shape (Q, S, M), query ids ascending, systems and measures as they first appeared.

        Raises
        ------
        InputError
            If there is no row, or one query, system and measure has two.
        """
        if not self.count:
            hint = f"; the rows of {MEAN_QUERY!r} are means (trec_eval needs -q)" if self.mean_rows else ""
            raise InputError(f"no per-query value{hint}", files[0].path)
        query, system, measure = np.concatenate(self._codes, axis=1)
        shape = (len(self._queries), len(self._systems), len(self._measures))
        cells = np.ravel_multi_index((query, system, measure), shape)
        self._check_distinct(cells)
        flat = np.full(np.prod(shape), np.nan)
        flat[cells] = np.concatenate(self._values)
        names = list(self._queries)
        ascending = sorted(range(len(names)), key=names.__getitem__)
        query_ids = tuple(names[i] for i in ascending)
        return flat.reshape(shape)[ascending], query_ids, tuple(self._systems), tuple(self._measures)

    def missing(self) -> dict[str, tuple[str, ...]]:
        """Return for each system the queries, ascending, of which it has no row."""
        query, system, _ = np.concatenate(self._codes, axis=1)
        present = np.zeros((len(self._systems), len(self._queries)), bool)
        present[system, query] = True
        names = np.array(list(self._queries), object)
        return {name: tuple(sorted(names[~present[i]].tolist())) for name, i in self._systems.items()}

    def _check_distinct(self, cells: NDArray[np.int64]) -> None:
        order = np.argsort(cells, kind="stable")
        repeats = np.flatnonzero(cells[order][1:] == cells[order][:-1]) + 1
        if not len(repeats):
            return
        at = repeats[np.argmin(order[repeats])]
        (table, row), (other, other_row) = self._origin(int(order[at])), self._origin(int(order[at - 1]))
        query, system, measure = np.concatenate(self._codes, axis=1)[:, order[at]].tolist()
        where = other.place(other_row) if other.file is table.file else f"{other.file.path}, {other.place(other_row)}"
        raise table.error(
            f"{plain(list(self._measures)[measure])} of system {quoted(list(self._systems)[system])} for query "
            f"{quoted(list(self._queries)[query])} is listed twice, first in {where}; remove one",
            row,
        )

    def _origin(self, position: int) -> tuple[Placed, int]:
        for table, rows in zip(self._tables, self._rows, strict=True):
            if position < len(rows):
                return table, int(rows[position])
            position -= len(rows)
        raise IndexError(position)
