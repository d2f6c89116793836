"""Rows of an interleaving log: files or frames, their columns and cells, into arrays of codes and numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rankstats.errors import InputError, PlanError
from rankstats.inputs.row_tables import RowTable, RowTables, identifier, literal, no_number, number_of, text_of
from rankstats.interleaving.settings import COLUMNS, InterleavingSettings
from rankstats.stats import team_signs
from rankstats.stats.interleaving_logs import NO_TEAM
from rankstats.tables.arrow_functions import encoded, sorting, take
from rankstats.tables.judgments import Source

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]
"""Half as large as the codes of impressions: a log has several columns of them."""
Signs = NDArray[np.int8]

FLAGS = {"ranker_a": "--ranker-a", "ranker_b": "--ranker-b", "rank_a": "--rank-a", "rank_b": "--rank-b"}
"""Options whose names are not the role with two hyphens."""
_TEXTS = ("query", "unit", "impression", "ranker_a", "ranker_b", "team")
_LARGEST = 1e6


@dataclass(frozen=True, slots=True)
class Texts:
    """A column of texts: the distinct ones, sorted, and the place of each row's; −1 where a row has none.

    Impressions are numbered in the order of their ids, and their names, of which there are many, are not kept.
    """

    names: tuple[str, ...]
    codes: Codes


@dataclass(frozen=True, slots=True)
class LogRows:
    """The rows of a log.

    Attributes
    ----------
    name : str
        The first file, for errors.
    columns : mapping of str to str
        Column by role.
    texts : mapping of str to Texts
        Query, unit, impression where there are such columns; rankers always; segment columns by ``segment NAME``.
    team : ndarray of int or None
        −1 for ranker a, 1 for ranker b, 0 for nobody.
    position, clicks : ndarray
        Of each row.
    rank_a, rank_b : ndarray or None
        Ranks in the two rankings, NaN where a ranking does not have the result.
    sources : tuple of Source
        Files with digests.
    notes : tuple of str
        What was decided and could surprise.
    """

    name: str
    columns: dict[str, str]
    texts: dict[str, Texts]
    team: Signs | None
    position: Codes
    clicks: Floats
    rank_a: Floats | None
    rank_b: Floats | None
    sources: tuple[Source, ...]
    notes: tuple[str, ...]

    @property
    def count(self) -> int:
        """Number of rows."""
        return len(self.position)


def read_log(tables: RowTables, log: Any, settings: InterleavingSettings, segments: Sequence[str]) -> LogRows:
    """Read the files of the settings, or a frame or rows handed in.

    Parameters
    ----------
    tables : RowTables
        The engine.
    log : frame, sequence of mappings, path, list of paths, or None
        The log instead of the files of the settings.
    settings : InterleavingSettings
        Files and columns.
    segments : sequence of str
        Columns that make segments.

    Raises
    ------
    InputError
        If something cannot be read; it names file and row.
    PlanError
        If a column is missing.
    """
    given = [tables.open(data, name) for data, name in _named(log, settings)]
    return _Reader(tables, given, settings).rows(segments)


def _named(log: Any, settings: InterleavingSettings) -> list[tuple[Any, str]]:
    if log is None:
        if not settings.logs:
            raise PlanError("give the log of shown results: LOG... (rankstats interleave --help)")
        return [(path, path) for path in settings.logs]
    return [(log, "log")]


@dataclass(slots=True)
class _Reader:
    """The steps from tables to arrays."""

    tables: RowTables
    given: Sequence[RowTable]
    settings: InterleavingSettings
    kinds: dict[str, str] = field(default_factory=dict)
    columns: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.given[0].name

    def rows(self, segments: Sequence[str]) -> LogRows:
        self._join_tables()
        self._find_columns()
        for column in segments:
            if column in ("length", "popularity") and column not in self.kinds:
                raise PlanError(f"segment {column!r} is made of the query table; give it with --queries FILE")
        kept = {f"segment {column}": self._known(column, "segment") for column in segments}
        self._check_cells()
        texts, numbers = self._fetch(kept)
        if "ranker_a" not in texts:
            texts |= self._rankers(texts)
        together = _on_one_scale(texts["ranker_a"], texts["ranker_b"])
        texts |= {"ranker_a": together[0], "ranker_b": together[1]}
        itself = np.flatnonzero(together[0].codes == together[1].codes)
        if len(itself):
            ranker = together[0].names[int(together[0].codes[itself[0]])]
            said = f"row {itself[0] + 1:,} of all files: ranker {ranker} is compared with itself; leave such rows out"
            raise InputError(said, self.name)
        team = self._signs(texts) if "team" in texts else None
        return LogRows(
            name=self.name,
            columns=dict(self.columns),
            texts=texts,
            team=team,
            position=numbers["position"].astype(np.int32),
            clicks=numbers["clicked"],
            rank_a=numbers.get("rank_a"),
            rank_b=numbers.get("rank_b"),
            sources=tuple(table.source for table in self.given),
            notes=tuple(self.notes),
        )

    # ── columns ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _join_tables(self) -> None:
        first = self.given[0]
        for table in self.given[1:]:
            if set(table.columns) != set(first.columns):
                odd = sorted(set(table.columns) ^ set(first.columns))
                raise InputError(
                    f"has other columns than {first.name} ({', '.join(odd)}); give files of one kind", table.name
                )
        for column, kind in first.columns.items():
            same = all(table.columns[column] == kind for table in self.given)
            self.kinds[column] = kind if same else "VARCHAR"
        parts = [self._cells_of(table) for table in self.given]
        self.tables.run(f"CREATE VIEW log_rows AS {' UNION ALL '.join(parts)}", self.name)

    def _cells_of(self, table: RowTable) -> str:
        cells = [
            identifier(column)
            if kind == table.columns[column]
            else f"CAST({identifier(column)} AS VARCHAR) AS {identifier(column)}"
            for column, kind in self.kinds.items()
        ]
        return f"SELECT {', '.join(cells)} FROM {table.view}"

    def _known(self, column: str, what: str) -> str:
        return RowTable(self.name, "", self.kinds, self.given[0].origin).column(column, what)

    def _find_columns(self) -> None:
        folded = {column.casefold(): column for column in self.kinds}
        for role, usual in COLUMNS.items():
            named = self.settings.columns.get(role)
            if named is not None:
                self.columns[role] = self._known(named, role)
                continue
            there = [folded[name] for name in usual if name in folded]
            if there:
                self.columns[role] = there[0]
            if there and (len(there) > 1 or there[0].casefold() not in (usual[0], role)):
                self.notes.append(f"The {role} is the column {there[0]}: nobody named one ({flag(role)}).")
        for role in ("position", "clicked"):
            if role not in self.columns:
                raise PlanError(
                    f"{self.name}: which column is the {role}? Name it with {flag(role)} "
                    f"(columns: {', '.join(self.kinds)})"
                )
        if "impression" not in self.columns and not {"query", "unit"} & self.columns.keys():
            raise PlanError(
                f"{self.name}: nothing tells impressions apart; name the column of the impression (--impression), or "
                f"those of query and unit (--query, --unit) (columns: {', '.join(self.kinds)})"
            )
        self._find_sides()

    def _find_sides(self) -> None:
        """Check that rankers are named, and that both sides of what is logged by side are there."""
        for one, other in (("ranker_a", "ranker_b"), ("ranker_b", "ranker_a"), ("rank_a", "rank_b")):
            if one in self.columns and other not in self.columns:
                raise PlanError(
                    f"{self.name}: there is a column {self.columns[one]} but none of {other} ({flag(other)})"
                )
        if "rank_b" in self.columns and "rank_a" not in self.columns:
            raise PlanError(f"{self.name}: there is a column {self.columns['rank_b']} but none of rank_a (--rank-a)")
        if self.settings.rankers and "ranker_a" in self.columns:
            raise PlanError("the log names its rankers (ranker_a, ranker_b); give it without rankers (--rankers)")
        if not self.settings.rankers and "ranker_a" not in self.columns and "team" not in self.columns:
            raise PlanError(
                f"{self.name}: which rankers were interleaved? Name their columns (--ranker-a, --ranker-b), or the two "
                f"rankers themselves: --rankers prod,new (columns: {', '.join(self.kinds)})"
            )

    # ── cells ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def _check_cells(self) -> None:
        checks: list[tuple[str, str, str]] = []
        for role in ("query", "unit", "impression", "ranker_a", "ranker_b"):
            if role in self.columns:
                column = self.columns[role]
                said = f"has no {role.replace('_', ' ')}; leave the row out, or fill in the column {column}"
                checks.append((column, f"{text_of(column)} IS NULL", said))
        checks.append(self._no_whole("position", 1, "a whole number is expected, 1 at the top of the page"))
        clicked = "0 or 1, or a number of clicks, is expected; write 0 for a result that was not clicked"
        checks.append(self._no_whole("clicked", 0, clicked))
        absent = "a rank from 1 is expected, or nothing where the ranking does not have the result"
        checks += [self._no_whole(role, 1, absent, absent=True) for role in FLAGS if role in self._ranks]
        counts = ", ".join(f"count(*) FILTER ({wrong})" for _, wrong, _ in checks)
        row = self.tables.rows(f"SELECT count(*), {counts} FROM log_rows", self.name)[0]
        if not row[0]:
            raise InputError("there are no rows under the header", self.name)
        for bad, (column, wrong, said) in zip(row[1:], checks, strict=True):
            if bad:
                raise self._first_wrong(column, wrong, said)

    @property
    def _ranks(self) -> set[str]:
        return {"rank_a", "rank_b"} & self.columns.keys()

    def _no_whole(self, role: str, least: int, said: str, *, absent: bool = False) -> tuple[str, str, str]:
        """Return the column, SQL that tells cells that hold no whole number, and what to do; nothing may be allowed."""
        column = self.columns[role]
        kind = self.kinds[column]
        number = number_of(column, kind)
        none = no_number(column, kind) if absent else f"{number} IS NULL"
        wrong = f"({none} OR {number} < {least} OR {number} > {_LARGEST} OR {number} <> trunc({number}))"
        return column, wrong, said

    def _first_wrong(self, column: str, wrong: str, said: str) -> InputError:
        for table in self.given:
            inner = f"SELECT *, row_number() OVER () AS __row FROM ({self._cells_of(table)})"
            sql = f"SELECT __row, CAST({identifier(column)} AS VARCHAR) FROM ({inner}) WHERE {wrong} LIMIT 1"
            for row, cell in self.tables.rows(sql, table.name):
                shown = (
                    "" if said.startswith("has no") else f": {column} is {cell!r};" if cell else f": {column} is empty;"
                )
                return InputError(f"row {row}{shown} {said}", table.name)
        return InputError(said, self.name)

    # ── into memory ─────────────────────────────────────────────────────────────────────────────────────────────────

    def _fetch(self, segments: dict[str, str]) -> tuple[dict[str, Texts], dict[str, Floats]]:
        wanted = {role: self.columns[role] for role in _TEXTS if role in self.columns} | segments
        cells = [f"{text_of(column)} AS {identifier('t ' + role)}" for role, column in wanted.items()]
        numbers = [role for role in ("position", "clicked", "rank_a", "rank_b") if role in self.columns]
        for role in numbers:
            column = self.columns[role]
            cells.append(f"CAST({number_of(column, self.kinds[column])} AS DOUBLE) AS {identifier('n ' + role)}")
        sql = f"SELECT {', '.join(cells)} FROM log_rows"
        parts: list[list[Any]] = [[] for _ in cells]
        for batch in self.tables.batches(sql, self.name):
            for part, column in zip(parts, batch.columns, strict=True):
                part.append(_compact(column))
        texts, columns = parts[: len(wanted)], parts[len(wanted) :]
        del parts
        return (
            # what is encoded is let go before the next column
            {role: _encoded(texts.pop(0), named=role != "impression") for role in wanted},
            {role: np.concatenate(part) for role, part in zip(numbers, columns, strict=True)},
        )

    def _rankers(self, texts: dict[str, Texts]) -> dict[str, Texts]:
        """Return the two rankers of a log that does not name them by row: those of the settings, or of the teams."""
        names = self.settings.rankers
        if not names:
            found = [name for name in texts["team"].names if name.casefold() not in NO_TEAM]
            if len(found) != 2:
                raise PlanError(
                    f"{self.name}: the teams are {', '.join(found[:5]) or 'all empty'}, and no column names the two "
                    "rankers; name them with --rankers, or their columns with --ranker-a and --ranker-b"
                )
            names = (found[0], found[1])
        none = np.zeros(len(next(iter(texts.values())).codes), dtype=np.int32)
        return {"ranker_a": Texts((names[0],), none), "ranker_b": Texts((names[1],), none)}

    def _signs(self, texts: dict[str, Texts]) -> Signs:
        """Return the side of each row's team, from the few combinations of team and rankers that occur."""
        team, first, second = (texts[role] for role in ("team", "ranker_a", "ranker_b"))
        rankers = len(first.names)
        key = ((team.codes.astype(np.int64) + 1) * rankers + first.codes) * rankers + second.codes
        distinct = np.unique(key)
        teams, named = [None, *team.names], dict[tuple[str, str], set[bool]]()
        signs = np.zeros(len(distinct), dtype=np.int8)
        for i, one in enumerate(distinct.tolist()):
            label = teams[one // rankers**2]
            a, b = first.names[one // rankers % rankers], second.names[one % rankers]
            try:
                signs[i] = team_signs(["" if label is None else label], a, b)[0]
            except ValueError:
                column = self.columns["team"]
                raise self._first_wrong(
                    column,
                    f"{text_of(column)} = {literal(str(label))}{self._where(a, b)}",
                    f"{a} or {b} is expected (or a, b), or nothing for a result that both put there",
                ) from None
            if signs[i]:
                named.setdefault((a, b), set()).add(label in (a, b))
        for (a, b), ways in named.items():
            if len(ways) > 1:
                raise InputError(
                    f"the teams of {a} and {b} are called partly by name, partly a and b: whose is a, whose is b? "
                    f"Write the rankers' names in the column {self.columns['team']}",
                    self.name,
                )
        return signs[np.searchsorted(distinct, key)]

    def _where(self, a: str, b: str) -> str:
        if "ranker_a" not in self.columns:
            return ""
        pair = zip(("ranker_a", "ranker_b"), (a, b), strict=True)
        return "".join(f" AND {text_of(self.columns[role])} = {literal(name)}" for role, name in pair)


def flag(role: str) -> str:
    """Return the option that names the column of a role."""
    return FLAGS.get(role, f"--{role}")


def _compact(column: pa.Array) -> Any:
    """Return texts as their distinct ones and places among them, so that no text is held twice; numbers as they are."""
    if pa.types.is_floating(column.type):
        # a copy: a view would hold all columns of the batch
        return np.array(column.to_numpy(zero_copy_only=False), dtype=np.float64)
    return encoded(column)


def _encoded(parts: Sequence[pa.DictionaryArray], *, named: bool) -> Texts:
    """Return the parts of a column as one, the distinct texts sorted by code points; names only where asked for."""
    chunks = pa.chunked_array(parts).unify_dictionaries().chunks
    distinct = chunks[0].dictionary
    order = sorting(distinct)
    place = np.full(len(distinct) + 1, -1, dtype=np.int32)
    place[order.to_numpy()] = np.arange(len(distinct))
    codes = np.concatenate([place[chunk.indices.fill_null(-1).to_numpy(zero_copy_only=False)] for chunk in chunks])
    return Texts(tuple(take(distinct, order).to_pylist()) if named else (), codes)


def _on_one_scale(first: Texts, second: Texts) -> tuple[Texts, Texts]:
    """Return two columns of rankers as codes of the same names."""
    names = tuple(sorted({*first.names, *second.names}))
    place = {name: i for i, name in enumerate(names)}

    def coded(column: Texts) -> Texts:
        codes = np.array([place[name] for name in column.names], dtype=np.int32)[column.codes]
        return Texts(names, codes)

    return coded(first), coded(second)
