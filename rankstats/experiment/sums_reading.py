"""Rows that are units already, read by sums alone: one pass of the engine, whatever their number.

Nothing of a unit comes into memory. What needs the units themselves (quantiles, winsorising, days, assignments, texts
that stand for numbers, rows to be added up) is read by `read_experiment` another way, with the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankstats.errors import InputError
from rankstats.experiment.arms import designed_shares, order_arms
from rankstats.experiment.evidence import Cell, Dominant, Evidence, MetricEvidence
from rankstats.experiment.exact_sums import GroupedSums, Request, Variable, VariableSums, grouped_sums
from rankstats.experiment.metrics import ALL_ROWS, Metric
from rankstats.experiment.segments import MOST_VALUES, Attribute, attribute_keys, refuse_many_values
from rankstats.experiment.skewness import are_unequal
from rankstats.experiment.unit_query import UnitQuery
from rankstats.inputs.row_tables import identifier, is_value, literal, number_of, text_of
from rankstats.stats import stack_moments
from rankstats.stats.arm_pairs import linearised

WHOLE_TYPES = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")
NUMBER_TYPES = (*WHOLE_TYPES, "FLOAT", "DOUBLE")
DOMINATES = 0.1
"""Share of an arm's sum of squares from which one unit is named."""
LEAST_UNITS = 50
_LARGEST = 1e100
_LARGEST_OF_CUBES = 1e50
_MOST_FLAGS = 1 << 28
_FIRST_ROWS = 100_000
_MOST_GROUPS = 4_000

Mask = NDArray[np.bool_]


class _NotBySumsError(Exception):
    """Values are too different in size for sums to keep them all."""


@dataclass(frozen=True, slots=True)
class Facts:
    """A column of numbers: its bounds, and how many of its cells are empty."""

    low: float
    high: float
    empty: int


@dataclass(frozen=True, slots=True, eq=False)
class _Pass:
    """The groups of a pass: arm and values of each, and the sums."""

    arm: NDArray[np.object_]
    columns: dict[str, NDArray[np.object_]]
    found: GroupedSums

    def of_arm(self, arm: str) -> Mask:
        return np.asarray(self.arm == arm, dtype=bool)


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """Some groups of a pass: the units of an arm in a cell."""

    held: _Pass
    groups: Mask

    @property
    def units(self) -> int:
        """Number of the units."""
        return int(self.held.found.units[self.groups].sum())

    def sums(self, request: int) -> VariableSums:
        """Return the sums of a request over all of the groups."""
        return self.held.found.sums[request].of(self.groups)


class SumsReader:
    """The steps from rows that are units to evidence; `suits` says whether it can be had this way."""

    source = "all_rows"
    """SQL of the units, one row a unit."""

    def __init__(self, query: UnitQuery, attributes: Sequence[Attribute], covariates: Sequence[str]) -> None:
        self.query, self.tables, self.settings = query, query.tables, query.settings
        self.attributes, self.covariates = tuple(attributes), tuple(covariates)
        self.facts: dict[str, Facts] = {}
        self.rows = 0
        self._trusting = True
        asked = [metric.expression for metric in self.settings.metrics]
        signs = {column for expression in asked if expression.kind == "share" for column in expression.columns}
        self._summed = {*self.query.numbers, *self.covariates} - signs

    # ── whether it can be had this way ──────────────────────────────────────────────────────────────────────────────

    def suits(self) -> bool:
        """Whether rows are units and what is asked for follows from sums; leaves the facts of the columns."""
        query, settings = self.query, self.settings
        if query.assigned is not None or settings.exposed_at or settings.time or settings.trigger:
            return False
        if any(metric.expression.kind == "quantile" or metric.winsorise for metric in settings.metrics):
            return False
        if any(quantiles for attribute in self.attributes for _, quantiles in attribute.parts):
            return False
        numbers = dict.fromkeys((*query.numbers, *self.covariates))
        if not all(query.columns.get(column) in NUMBER_TYPES for column in numbers):
            return False
        return self._finds_facts(tuple(numbers)) and self._has_units_as_rows()

    def _finds_facts(self, columns: Sequence[str]) -> bool:
        """Take bounds and counts, which Parquet files state; False where a cell is no finite number."""
        asked = ["count(*)", *(f"{f}({identifier(c)})" for c in columns for f in ("count", "min", "max"))]
        row = self.tables.rows(f"SELECT {', '.join(asked)} FROM {self.source}", self.query.name)[0]
        self.rows = int(row[0])
        for place, column in enumerate(columns):
            count, low, high = row[1 + 3 * place : 4 + 3 * place]
            if low is not None and not (float(low) >= -_LARGEST and float(high) <= _LARGEST):
                return False
            self.facts[column] = Facts(float(low or 0), float(high or 0), self.rows - int(count))
        return self.rows > 0

    def _has_units_as_rows(self) -> bool:
        unit = self.query.unit
        if unit is None:
            return True
        source, name = text_of(unit), self.query.name
        first = f"SELECT count(u), count(DISTINCT u) FROM (SELECT {source} AS u FROM {self.source} LIMIT {_FIRST_ROWS})"
        known, distinct = self.tables.rows(first, name)[0]
        if known != distinct or known < min(self.rows, _FIRST_ROWS):
            return False
        if self.query.columns[unit] in WHOLE_TYPES:
            column = identifier(unit)
            low, high = self.tables.rows(f"SELECT min({column}), max({column}) FROM {self.source}", name)[0]
            if high - low < _MOST_FLAGS:
                return self._all_different(column, int(low), int(high))
            source = column
        known, distinct = self.tables.rows(
            f"SELECT count({source}), count(DISTINCT {source}) FROM {self.source}", name
        )[0]
        return bool(known == distinct == self.rows)

    def _all_different(self, column: str, low: int, high: int) -> bool:
        """Whether a column of whole numbers repeats none: a flag a number, which takes less than sorting."""
        # the difference may leave the range of a narrow type
        wide = f"CAST({column} AS {'UBIGINT' if low >= 0 else 'BIGINT'})"
        places = self.query.fetch(f"SELECT {wide} - {low} AS place FROM {self.source}")["place"]
        if len(places) != self.rows or places.dtype.kind not in "iu":
            return False
        seen = np.zeros(high - low + 1, dtype=bool)
        seen[places] = True
        return int(np.count_nonzero(seen)) == self.rows

    # ── evidence ────────────────────────────────────────────────────────────────────────────────────────────────────

    def evidence(self) -> Evidence | None:
        """Return the evidence of the units; None where values are too different in size for sums to keep them all."""
        noted = list(self.query.notes)
        # what a file states of its columns does not tell of NaN, which is rare: looked for once it stopped a sum
        for trusting in (True, False):
            self._trusting = trusting
            try:
                return self._evidence()
            except _NotBySumsError:
                self.query.notes[:] = noted
                return None
            except InputError:
                self.query.notes[:] = noted
                if not trusting:
                    raise
        return None

    def _evidence(self) -> Evidence:
        query = self.query
        requests = [self._request(metric) for metric in self.settings.metrics]
        requests += [
            Request((self._covariate(name),), 1, complete=not self._may_be_empty(name)) for name in self.covariates
        ]
        passes = [self._pass(columns, requests) for columns in self._passes()]
        found = sorted(set(passes[0].arm.tolist()))
        arms, note = order_arms(found, self.settings, query.name)
        cells, members = self._cells(arms, passes)
        for place, request in enumerate(requests):
            self._refuse_doubtful(place, request, members)
        metrics = tuple(
            self._metric(place, metric, arms, members) for place, metric in enumerate(self.settings.metrics)
        )
        balance = {
            name: tuple(group.sums(len(self.settings.metrics) + place).moments() for group in members[0])
            for place, name in enumerate(self.covariates)
        }
        return Evidence(
            arms=arms,
            units=cells[0].n,
            shares=designed_shares(arms, self.settings.shares),
            cells=cells,
            metrics=metrics,
            unit=query.unit,
            source_kind="rows",
            covariates=balance,
            sources=tuple(table.source for table in query.given),
            rows=self.rows,
            counts={**query.counts, "twice": 0},
            notes=(*([note] if note else []), *query.notes),
        )

    # ── what is added up ────────────────────────────────────────────────────────────────────────────────────────────

    def _request(self, metric: Metric) -> Request:
        columns = [c for c in metric.expression.columns if c != ALL_ROWS]
        complete = [f"{self._number(c)} IS NOT NULL" for c in columns if self._may_be_empty(c)]
        variables = [self._outcome(metric, c, " AND ".join(complete)) for c in metric.expression.columns]
        for name in metric.covariate:
            variables += self._with_missing(name)
        return Request(tuple(variables), len(metric.expression.columns), complete=not complete)

    def _outcome(self, metric: Metric, column: str, complete: str) -> Variable:
        facts = self.facts.get(column, Facts(1.0, 1.0, 0))
        sql, low, high, whole = "1.0::DOUBLE", facts.low, facts.high, True
        if column != ALL_ROWS:
            sql, whole = self._number(column), self.query.columns[column] in WHOLE_TYPES
        if metric.expression.kind == "share":
            sql, low, high, whole = f"CAST({sql} > 0 AS DOUBLE)", 0.0, 1.0, True
        return Variable(f"CASE WHEN {complete} THEN {sql} END" if complete else sql, low, high, whole)

    def _number(self, column: str) -> str:
        return f"CAST({identifier(column)} AS DOUBLE)" if self._is_trusted(column) else self._checked(column)

    def _checked(self, column: str) -> str:
        """Return SQL of a number that is NULL where the cell holds NaN."""
        kind = self.query.columns[column]
        name = identifier(column)
        if kind == "DOUBLE":
            return f"CASE WHEN {is_value(name)} THEN {name} END"
        return f"CAST({name} AS DOUBLE)" if kind in WHOLE_TYPES else number_of(column, kind)

    def _may_be_empty(self, column: str) -> bool:
        is_whole = self.query.columns[column] in WHOLE_TYPES
        return bool(self.facts[column].empty) or not (is_whole or self._is_trusted(column))

    def _is_trusted(self, column: str) -> bool:
        """Whether fractions are taken to hold no NaN: it would stop their sum, which is one of whole numbers.

        Where all are equal, or only their sign is asked for, none is.
        """
        facts = self.facts[column]
        return self._trusting and column in self._summed and not facts.empty and facts.low < facts.high

    def _covariate(self, name: str) -> Variable:
        facts = self.facts[name]
        return Variable(self._number(name), facts.low, facts.high, self.query.columns[name] in WHOLE_TYPES)

    def _with_missing(self, name: str) -> list[Variable]:
        """Return a covariate, with 0 where a unit has none, and then an indicator of that beside it."""
        plain = self._covariate(name)
        if self._may_be_empty(name) and self._empty(name):
            low, high = min(plain.low, 0.0), max(plain.high, 0.0)
            return [
                Variable(f"coalesce({plain.sql}, 0)", low, high, plain.whole),
                Variable(f"CAST({plain.sql} IS NULL AS DOUBLE)", 0.0, 1.0, whole=True),
            ]
        return [plain]

    def _empty(self, column: str) -> int:
        # a sum does not meet the NaN of a unit that it leaves out because another column has no value
        sql = f"SELECT count(*) - count({self._checked(column)}) FROM {self.source}"
        return int(self.tables.rows(sql, self.query.name)[0][0])

    # ── groups ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def _passes(self) -> list[tuple[str, ...]]:
        """Return the columns of each pass: all together, or each attribute's where that makes too many groups."""
        columns = tuple(dict.fromkeys(c for attribute in self.attributes for c in attribute.columns))
        keys = ", ".join([self._arm_key(), *(self._key(c) for c in columns)])
        first = f"SELECT {keys} FROM {self.source} LIMIT {_FIRST_ROWS}"
        groups = self.tables.rows(f"SELECT DISTINCT * FROM ({first})", self.query.name)
        for attribute in self.attributes if len(groups) > MOST_VALUES else ():
            places = [1 + columns.index(c) for c in attribute.columns]
            if len({tuple(group[place] for place in places) for group in groups}) > MOST_VALUES:
                refuse_many_values(attribute, self._values(attribute))
        return [columns] if len(groups) <= _MOST_GROUPS else [attribute.columns for attribute in self.attributes]

    def _values(self, attribute: Attribute) -> int:
        keys = ", ".join(map(self._key, attribute.columns))
        sql = f"SELECT count(*) FROM (SELECT DISTINCT {keys} FROM {self.source})"
        return int(self.tables.rows(sql, self.query.name)[0][0])

    def _arm_key(self) -> str:
        if self.query.arm_of_file:
            return "__file_arm"
        return self._key(self.query.arm or "")

    def _key(self, column: str) -> str:
        """Return SQL of what groups are made by: trimming and turning into text is done with the groups alone."""
        name, kind = identifier(column), self.query.columns[column]
        return name if kind == "VARCHAR" or kind in WHOLE_TYPES else f"CAST({name} AS VARCHAR)"

    def _pass(self, columns: Sequence[str], requests: Sequence[Request]) -> _Pass:
        keys = [self._arm_key(), *(self._key(c) for c in columns)]
        sums = grouped_sums(self.tables, self.source, keys, requests, rows=self.rows, name=self.query.name)
        texts = [tuple(None if cell is None else str(cell).strip(" ") or None for cell in key) for key in sums.keys]
        arm = [key[0] for key in texts]
        if None in arm:
            self.query.refuse_without_arm()
        held = {c: np.array([key[1 + place] for key in texts], dtype=object) for place, c in enumerate(columns)}
        return _Pass(np.array(arm, dtype=object), held, sums)

    def _cells(self, arms: tuple[str, ...], passes: Sequence[_Pass]) -> tuple[tuple[Cell, ...], list[list[Members]]]:
        """Return all units and the segments, and for each the groups of each arm."""
        members = [[Members(passes[0], passes[0].of_arm(arm)) for arm in arms]]
        cells = [Cell("", "", tuple(group.units for group in members[0]))]
        for attribute in self.attributes:
            held = next(part for part in passes if set(attribute.columns) <= set(part.columns))
            keys, codes = attribute_keys(attribute, held.columns)
            if len(keys) < 2:
                self.query.notes.append(f"All units have one value of {attribute.name}: it makes no segments.")
                continue
            for code, key in enumerate(keys):
                groups = [Members(held, held.of_arm(arm) & (codes == code)) for arm in arms]
                members.append(groups)
                cells.append(Cell(attribute.name, " + ".join(key), tuple(group.units for group in groups)))
        return tuple(cells), members

    def _refuse_doubtful(self, place: int, request: Request, members: Sequence[Sequence[Members]]) -> None:
        """Raise where units whose sums show no sure spread have more than one value, by a look at the values."""
        ends: dict[int, list[tuple[Any, ...]]] = {}
        for group in (group for cell in members for group in cell):
            doubtful = group.sums(place).doubtful()
            if not doubtful:
                continue
            held = group.held
            if id(held) not in ends:
                ends[id(held)] = self._group_ends(request, held)
            rows = [row for row, inside in zip(ends[id(held)], group.groups.tolist(), strict=True) if inside]
            for v in doubtful:
                values = {end for row in rows for end in row[2 * v : 2 * v + 2] if end is not None}
                if len(values) > 1:
                    raise _NotBySumsError

    def _group_ends(self, request: Request, held: _Pass) -> list[tuple[Any, ...]]:
        """Return the smallest and the largest value of every variable, group by group in the order of the pass."""
        keys = [self._arm_key(), *(self._key(c) for c in held.columns)]
        asked = ", ".join(f"{end}({sql})" for sql in request.inside for end in ("min", "max"))
        numbers = ", ".join(str(1 + place) for place in range(len(keys)))
        sql = f"SELECT {', '.join(keys)}, {asked} FROM {self.source} GROUP BY {numbers}"
        found = {row[: len(keys)]: row[len(keys) :] for row in self.tables.rows(sql, self.query.name)}
        return [found[key] for key in held.found.keys]

    # ── metrics ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _metric(
        self, place: int, metric: Metric, arms: tuple[str, ...], members: list[list[Members]]
    ) -> MetricEvidence:
        whole = [group.sums(place) for group in members[0]]
        moments = tuple(
            stack_moments([groups[a].sums(place).moments() for groups in members]) for a in range(len(arms))
        )
        absent = tuple(group.units - int(sums.n[0]) for group, sums in zip(members[0], whole, strict=True))
        outcomes = [sums.leading(len(metric.expression.columns)) for sums in whole]
        there = [sums for sums in outcomes if sums.n[0]]
        binary = bool(there) and all(sums.zeros_and_ones for sums in there)
        columns = sorted(set(metric.expression.columns) - {ALL_ROWS})
        return MetricEvidence(
            metric,
            moments,
            binary=binary,
            dominant=None if binary else self._dominant(arms, outcomes),
            thirds=() if binary else self._thirds(arms, outcomes),
            absent=absent,
            empty_cells=sum(map(self._empty, columns)) if any(absent) else 0,
        )

    def _dominant(self, arms: tuple[str, ...], outcomes: Sequence[VariableSums]) -> Dominant | None:
        """Return the unit with the largest share of its arm's sum of squares, where it is large."""
        best: Dominant | None = None
        for arm, sums in enumerate(outcomes):
            found = self._largest(arms, arm, sums) if sums.n[0] >= LEAST_UNITS else None
            if found is not None and (best is None or found.share > best.share):
                best = found
        return best

    def _largest(self, arms: tuple[str, ...], arm: int, sums: VariableSums) -> Dominant | None:
        """Look for a unit that dominates an arm, but only where the bounds of the values leave room for one."""
        _, parts = linearised(sums.moments(), ratio=len(sums.variables) == 2)
        from_center, bound, scale = _from_center(sums)
        whole = float(parts.covariance[0, 0, 0]) * (int(sums.n[0]) - 1) * scale**2
        if not whole > 0 or bound**2 <= DOMINATES * whole:
            return None
        away, top = f"abs{from_center}", f"({sums.variables[0].sql})"
        inside = f"{self._arm_sql()} = {literal(arms[arm])} AND {top} IS NOT NULL"
        values = [f"({variable.sql})" for variable in sums.variables]
        ask = f"SELECT {away} AS away, {', '.join(values)} FROM {self.source} WHERE {inside} ORDER BY away DESC, "
        row = self.tables.rows(f"{ask}{', '.join(reversed(values))} LIMIT 1", self.query.name)[0]
        share = float(row[0]) ** 2 / whole
        if share <= DOMINATES:
            return None
        alike = (
            f"SELECT min({self._unit_sql()}), count(*) FROM ({self._named_units()}) "
            f"WHERE {inside} AND {away} = {row[0]!r}::DOUBLE"
        )
        name, times = self.tables.rows(alike, self.query.name)[0]
        same = " AND ".join(f"{sql} = {value!r}::DOUBLE" for sql, value in zip(values, row[1:], strict=True))
        without = sums.without(row[1:]) if times > 1 else self._sums_where(f"{inside} AND NOT ({same})", sums.variables)
        return Dominant(str(name), arm, float(row[1]), share, without.moments())

    def _sums_where(self, condition: str, variables: Sequence[Variable]) -> VariableSums:
        """Return the sums of some units, in units that fit their own bounds."""
        source, name = f"(SELECT * FROM {self.source} WHERE {condition})", self.query.name
        asked = ", ".join(f"{end}({variable.sql})" for variable in variables for end in ("min", "max"))
        ends = self.tables.rows(f"SELECT {asked} FROM {source}", name)[0]
        own = [replace(v, low=ends[2 * place], high=ends[2 * place + 1]) for place, v in enumerate(variables)]
        request = Request(tuple(own), len(own))
        sums = grouped_sums(self.tables, source, (), [request], rows=self.rows, name=name).sums[0]
        if any(own[v].low < own[v].high for v in sums.doubtful()):
            raise _NotBySumsError
        return sums

    def _thirds(self, arms: tuple[str, ...], outcomes: Sequence[VariableSums]) -> tuple[float, ...]:
        """Return third central moments of the arms, where their sizes differ enough for them to matter."""
        if not are_unequal([int(sums.n[0]) for sums in outcomes]):
            return ()
        requests, level = [], []
        for arm, sums in zip(arms, outcomes, strict=True):
            away, bound, scale = _from_center(sums)
            if bound > _LARGEST_OF_CUBES:
                raise _NotBySumsError
            cubes = f"CASE WHEN {self._arm_sql()} = {literal(arm)} THEN {away} * {away} * {away} END"
            requests.append(Request((Variable(cubes, -(bound**3), bound**3),), 1))
            level.append(scale**3)
        found = grouped_sums(self.tables, self.source, (), requests, rows=self.rows, name=self.query.name)
        means = [float(sums.moments().mean[0, 0]) for sums in found.sums]
        return tuple(mean / scale for mean, scale in zip(means, level, strict=True))

    def _named_units(self) -> str:
        return f"SELECT *, row_number() OVER () AS __row FROM {self.source}"

    def _unit_sql(self) -> str:
        return self.query.unit_sql

    def _arm_sql(self) -> str:
        return "__file_arm" if self.query.arm_of_file else text_of(self.query.arm or "")


def _from_center(sums: VariableSums) -> tuple[str, float, float]:
    """Return SQL of how far units are from their mean, or ratio; its bound, and what it is to be divided by."""
    (top, *bottoms), mean = sums.variables, sums.moments().mean[0].tolist()
    if not bottoms:
        away, bound = f"(({top.sql}) - {mean[0]!r}::DOUBLE)", max(abs(top.low - mean[0]), abs(top.high - mean[0]))
    elif not mean[1]:
        raise _NotBySumsError
    else:
        ratio, bottom = mean[0] / mean[1], bottoms[0]
        away = f"(({top.sql}) - {ratio!r}::DOUBLE * ({bottom.sql}))"
        bound = max(abs(top.low), abs(top.high)) + abs(ratio) * max(abs(bottom.low), abs(bottom.high))
    if not bound <= _LARGEST:
        raise _NotBySumsError
    return away, bound, mean[1] if bottoms else 1.0
