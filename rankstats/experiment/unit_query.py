"""Rows to units: the queries that add up rows, check cells and bring one row a unit into memory."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from rankstats.errors import InputError, PlanError
from rankstats.experiment.metrics import ALL_ROWS, Metric
from rankstats.experiment.segments import TRIGGERED, UNTRIGGERED
from rankstats.experiment.settings import ExperimentSettings
from rankstats.inputs.row_tables import (
    RowTable,
    RowTables,
    identifier,
    literal,
    no_number,
    number_of,
    text_of,
    time_of,
)

Floats = NDArray[np.float64]

UNIT_NAMES = (
    *("unit", "unit_id", "user", "user_id", "userid", "uid", "visitor", "visitor_id", "session", "session_id"),
    *("customer", "customer_id", "client_id", "account_id", "device_id", "cookie", "cookie_id", "member_id"),
)
ARM_NAMES = ("arm", "variant", "group", "bucket", "treatment", "test_version", "version", "policy", "condition")
_ARM_ONLY = ("arm", "variant", "treatment")
"""Names of columns that hold nothing but arms."""
_NO_ARM = "has no arm; leave the row out, or name its arm"
_EXACT = float(1 << 53)
BYTES_KEPT = 64
"""What one number takes while it waits for those of its unit to be added up in one order."""


@dataclass(slots=True)
class UnitQuery:
    """The rows of an experiment, seen unit by unit.

    Attributes
    ----------
    tables : RowTables
        The engine.
    given : sequence of RowTable
        The tables of rows.
    settings : ExperimentSettings
        What is asked.
    assigned : RowTable or None
        All units with their arms.
    """

    tables: RowTables
    given: Sequence[RowTable]
    settings: ExperimentSettings
    assigned: RowTable | None
    unit: str | None = None
    arm: str | None = None
    name: str = ""
    columns: dict[str, str] = field(default_factory=dict)
    numbers: tuple[str, ...] = ()
    exact: frozenset[str] = frozenset()
    empty: dict[str, int] = field(default_factory=dict)
    rows: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    # ── columns ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def prepare(self) -> None:
        """Join the tables, find the columns and check every cell that will be used."""
        if not self.name:
            self.find_columns()
        self._check_cells()

    def find_columns(self) -> None:
        """Join the tables and find the columns of unit, arm and numbers."""
        self.name = self.given[0].name
        self._join_tables()
        self._find_unit()
        self._find_arm()
        self._find_numbers()

    def _join_tables(self) -> None:
        first = self.given[0]
        for table in self.given[1:]:
            if set(table.columns) != set(first.columns):
                odd = sorted(set(table.columns) ^ set(first.columns))
                raise InputError(
                    f"has other columns than {first.name} ({', '.join(odd)}); give files of one kind", table.name
                )
        self.columns = {}
        for column, kind in first.columns.items():
            same = all(table.columns[column] == kind for table in self.given)
            self.columns[column] = kind if same else "VARCHAR"
        parts = []
        for (arm, _), table in zip(self._arms_of_files(), self.given, strict=True):
            cells = [
                f"CAST({identifier(column)} AS VARCHAR) AS {identifier(column)}"
                if kind != table.columns[column]
                else identifier(column)
                for column, kind in self.columns.items()
            ]
            named = "NULL" if arm is None else literal(arm)
            parts.append(f"SELECT {', '.join(cells)}, CAST({named} AS VARCHAR) AS __file_arm FROM {table.view}")
        self.tables.run(f"CREATE VIEW all_rows AS {' UNION ALL '.join(parts)}", self.name)

    def _arms_of_files(self) -> list[tuple[str | None, str]]:
        if len(self.settings.rows) == len(self.given):
            return list(self.settings.rows)
        return [(None, table.name) for table in self.given]

    @property
    def arm_of_file(self) -> bool:
        """Whether files are named by arm."""
        return any(arm is not None for arm, _ in self._arms_of_files())

    def _find_unit(self) -> None:
        if self.settings.unit is not None:
            self.unit = self._column(self.settings.unit, "unit")
            return
        usual = [column for column in self.columns if column.casefold() in UNIT_NAMES]
        if len(usual) == 1:
            self.unit = usual[0]
            self.notes.append(f"The unit is the column {usual[0]}: nobody named one (--unit).")
        elif self.assigned is not None:
            raise PlanError("assignments need the column of the unit; name it with --unit")

    def _find_arm(self) -> None:
        if self.assigned is not None:
            if self.arm_of_file:
                raise PlanError("the arm comes from the assignments; give the rows without ARM=")
            return
        if self.arm_of_file:
            self._refuse_mislabelled()
            return
        if self.settings.arm is not None:
            self.arm = self._column(self.settings.arm, "arm")
            return
        usual = [column for column in self.columns if column.casefold() in ARM_NAMES]
        if len(usual) != 1:
            held = f"{' and '.join(usual)} could be it" if usual else f"columns: {', '.join(self.columns)}"
            raise PlanError(f"{self.name}: which column is the arm? Name it with --arm ({held})")
        self.arm = usual[0]
        self.notes.append(f"The arm is the column {usual[0]}: nobody named one (--arm).")

    def _refuse_mislabelled(self) -> None:
        """Refuse files named ARM=FILE whose own column of the arm says something else."""
        named = {(arm or "").casefold() for arm, _ in self._arms_of_files()}
        for column in (c for c in self.columns if c.casefold() in ARM_NAMES):
            for (arm, _), table in zip(self._arms_of_files(), self.given, strict=True):
                sql = f"SELECT DISTINCT {text_of(column)} FROM {table.view} ORDER BY 1 LIMIT 20"
                held = [str(row[0]) for row in self.tables.rows(sql, table.name) if row[0] is not None]
                others = [value for value in held if value.casefold() in named - {(arm or "").casefold()}]
                if others or (len(held) > 1 and column.casefold() in _ARM_ONLY):
                    raise PlanError(
                        f"{table.name} is given as the arm {arm!r}, but its column {column!r} holds "
                        f"{', '.join(map(repr, held[:5]))}{' …' if len(held) > 5 else ''}. Give the files without ARM= "
                        f"(--arm {column}) if the column is the arm, or rename the column if it is not"
                    )

    def _column(self, name: str, what: str) -> str:
        return RowTable(self.name, "", self.columns, self.given[0].origin).column(name, what)

    def _find_numbers(self) -> None:
        wanted: dict[str, None] = {}
        for metric in self.settings.metrics:
            for column in metric.expression.columns:
                if column != ALL_ROWS:
                    wanted[self._column(column, f"metric {metric.name!r}:")] = None
        if not wanted:
            raise PlanError(
                f"no metric is asked for; name one with --metric, such as --metric 'mean(COLUMN)' "
                f"(columns of {self.name}: {', '.join(self.columns)})"
            )
        self.numbers = tuple(wanted)

    # ── cells ───────────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def unit_sql(self) -> str:
        """SQL of the unit of a row."""
        return "__row" if self.unit is None else text_of(self.unit)

    @property
    def arm_sql(self) -> str:
        """SQL of the arm that a row names."""
        return "__file_arm" if self.arm_of_file else "NULL" if self.arm is None else text_of(self.arm)

    @property
    def time_sql(self) -> str:
        """SQL of the time of a row."""
        time = self.settings.time
        return "NULL" if time is None else time_of(self._column(time, "time"))

    def _check_cells(self) -> None:
        checks = {}
        if self.unit is not None:
            checks[f"{self.unit_sql} IS NULL"] = (self.unit, "has no unit; leave the row out, or name its unit")
        if self.assigned is None and self.arm is not None:
            checks[f"{self.arm_sql} IS NULL"] = (self.arm, _NO_ARM)
        if self.settings.time is not None:
            wrong = f"{self.time_sql} IS NULL"
            checks[wrong] = (self.settings.time, "has no time that can be read; write it as 2024-05-31 23:59:00")
        for column in self.numbers:
            checks[no_number(column, self.columns[column])] = (column, "")
        facts = ["count(*)", *(f"count(*) FILTER ({wrong})" for wrong in checks)]
        for column in self.numbers:
            number = number_of(column, self.columns[column])
            facts.append(f"count(*) FILTER ({number} IS NULL)")
            facts.append(f"coalesce(bool_and({number} = trunc({number})) AND sum(abs({number})) < {_EXACT}, true)")
        row = self.tables.rows(f"SELECT {', '.join(facts)} FROM all_rows", self.name)[0]
        self.rows = int(row[0])
        if not self.rows:
            raise InputError("there are no rows under the header", self.name)
        for bad, (wrong, (column, problem)) in zip(row[1 : 1 + len(checks)], checks.items(), strict=True):
            if bad:
                raise self._first_wrong(wrong, column, problem)
        rest = row[1 + len(checks) :]
        self.empty = dict(zip(self.numbers, map(int, rest[::2]), strict=True))
        self.exact = frozenset(column for column, exact in zip(self.numbers, rest[1::2], strict=True) if exact)

    def refuse_without_arm(self) -> NoReturn:
        """Raise for the first row that has no arm.

        Raises
        ------
        InputError
            Always.
        """
        raise self._first_wrong(f"{self.arm_sql} IS NULL", self.arm or "", _NO_ARM)

    def _first_wrong(self, wrong: str, column: str, problem: str) -> InputError:
        for (arm, _), table in zip(self._arms_of_files(), self.given, strict=True):
            inner = f"SELECT *, row_number() OVER () AS __row, {literal(arm or '')} AS __file_arm FROM {table.view}"
            sql = f"SELECT __row, CAST({identifier(column)} AS VARCHAR) FROM ({inner}) WHERE {wrong} LIMIT 1"
            for row, cell in self.tables.rows(sql, table.name):
                said = problem or f"{column} is {cell!r}; a finite number is expected, or nothing"
                return InputError(f"row {row}{' ' if problem else ': '}{said}", table.name)
        return InputError(problem, self.name)

    # ── one row a unit ──────────────────────────────────────────────────────────────────────────────────────────────

    def make_units(self, attributes: Sequence[str], covariates: Sequence[str]) -> None:
        """Make the table ``units``: unit, arm, whether it is in two arms, sums, attributes, covariates."""
        if self.assigned is not None:
            self._make_assigned(attributes, covariates)
        self._make_clean()
        fixed = [c for c in (*attributes, *covariates) if self.assigned is None or c not in self.assigned.columns]
        sums = [
            f"{sql} AS m{i}_{j}" for i, m in enumerate(self.settings.metrics) for j, sql in enumerate(self._sums(m))
        ]
        # 'triggered' is the larger of the two texts: a unit is triggered when one of its rows is
        kept = [f"{'max' if c == self.settings.trigger else 'min'}({_fixed(c)}) AS {_fixed(c)}" for c in fixed]
        steady = [c for c in fixed if c != self.settings.trigger]
        varies = [f"min({_fixed(c)}) <> max({_fixed(c)}) AS {identifier('v ' + c)}" for c in steady]
        parts = ["min(a) AS arm", "min(a) <> max(a) AS twice", "count(*) AS rows", *kept, *varies, *sums]
        if self.unit is None:
            one = ["a AS arm", "false AS twice", "1 AS rows", *(identifier("f " + c) for c in fixed)]
            self.tables.run(
                f"CREATE TEMP TABLE summed AS SELECT u, {', '.join([*one, *self._single()])} FROM clean", self.name
            )
        else:
            self._add_up(f"SELECT u, {', '.join(parts)}")
            self._refuse_varying(steady, attributes)
        self._join_assigned()

    def _add_up(self, select: str) -> None:
        """Make the table ``summed`` in parts of whole units: what one grouping holds does not grow with the rows."""
        parts = -(-self.rows * self._bytes_a_row // self.tables.memory) or 1
        if parts == 1:
            self.tables.run(f"CREATE TEMP TABLE summed AS {select} FROM clean GROUP BY u", self.name)
            return
        # each row is written once and read once, whatever the number of parts
        folder = self.tables.folder / "rows"
        numbered = f"SELECT *, hash({self._raw_unit}) % {parts} AS part FROM clean"
        form = "FORMAT parquet, PARTITION_BY (part), COMPRESSION lz4_raw"
        self.tables.run(f"COPY ({numbered}) TO {literal(str(folder))} ({form})", self.name)
        for place, part in enumerate(sorted(folder.iterdir())):
            made = "INSERT INTO summed" if place else "CREATE TEMP TABLE summed AS"
            source = f"read_parquet({literal(f'{part}/*.parquet')}, hive_partitioning = false)"
            self.tables.run(f"{made} {select} FROM {source} GROUP BY u", self.name)
            shutil.rmtree(part)

    @property
    def _bytes_a_row(self) -> int:
        """Memory that adding up takes a row: only sums in one order keep their numbers; others can go to the disk."""
        added = (m.expression.columns for m in self.settings.metrics if m.expression.kind in ("mean", "ratio"))
        ordered = {column for columns in added for column in columns} - self.exact - {ALL_ROWS}
        sums = sum(len(metric.expression.columns) for metric in self.settings.metrics)
        states = 4 + 3 * len(self.wanted) + sums  # the engine may begin them anew for every row
        return BYTES_KEPT * (1 + len(ordered)) + BYTES_KEPT // 4 * states if ordered else 0

    @property
    def _raw_unit(self) -> str:
        """The unit as it stands in the rows, where that is one for one text: numbers are hashed faster than texts."""
        return "raw_u" if self.columns.get(self.unit or "", "").endswith("INT") else "u"

    def _make_clean(self) -> None:
        """Make the view of rows that count: typed cells, rows after exposure, units that were assigned."""
        cells = [f"{self.unit_sql} AS u", f"{self.arm_sql} AS a", f"{self.time_sql} AS t"]
        cells += [f"{identifier(self.unit)} AS raw_u"] if self._raw_unit == "raw_u" and self.unit else []
        cells += [f"{number_of(c, self.columns[c])} AS {identifier('x ' + c)}" for c in self.numbers]
        for column in self._fixed_columns():
            cells.append(f"{self._fixed_cell(column, self.columns[column])} AS {_fixed(column)}")
        source = "all_rows" if self.unit is not None else "(SELECT *, row_number() OVER () AS __row FROM all_rows)"
        inner = f"SELECT {', '.join(cells)} FROM {source}"
        exposed = self._exposure(inner)
        if self.assigned is not None:
            unassigned = f"SELECT count(DISTINCT r.u) FROM ({inner}) r ANTI JOIN assigned s ON r.u = s.u"
            self.counts["unassigned"] = int(self.tables.rows(unassigned, self.name)[0][0])
            inner = f"SELECT r.* FROM ({inner}) r JOIN assigned s ON r.u = s.u"
        if exposed:
            before = f"SELECT count(*) FROM ({inner}) r JOIN exposure e ON r.u = e.u WHERE r.t < e.exposed"
            self.counts["before"] = int(self.tables.rows(before, self.name)[0][0])
            inner = f"SELECT r.* FROM ({inner}) r JOIN exposure e ON r.u = e.u WHERE r.t >= e.exposed"
        self.tables.run(f"CREATE VIEW clean AS {inner}", self.name)

    def _fixed_cell(self, column: str, kind: str) -> str:
        """Return SQL of what a row says of its unit: the text, or whether the row is triggered."""
        if column != self.settings.trigger:
            # the shortest text of a narrow number is another one than the number
            is_narrow = kind == "FLOAT" and any(column in metric.covariate for metric in self.settings.metrics)
            return f"CAST(CAST({identifier(column)} AS DOUBLE) AS VARCHAR)" if is_narrow else text_of(column)
        return f"CASE WHEN {number_of(column, kind)} > 0 THEN {literal(TRIGGERED)} ELSE {literal(UNTRIGGERED)} END"

    def _fixed_columns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(c for c in self.wanted if self.assigned is None or c not in self.assigned.columns))

    wanted: tuple[str, ...] = ()

    def _exposure(self, inner: str) -> bool:
        """Make the table of first exposures where rows have times to be compared with it."""
        column = self.settings.exposed_at
        if column is None or self.settings.time is None or column == self.settings.time or self.unit is None:
            return False
        if self.assigned is not None and column in self.assigned.columns:
            sql = "SELECT u, exposed FROM assigned"
        else:
            time = time_of(self._column(column, "exposed_at"))
            sql = f"SELECT {self.unit_sql} AS u, min({time}) AS exposed FROM all_rows GROUP BY 1"
        self.tables.run(f"CREATE TEMP TABLE exposure AS {sql}", self.name)
        missing = self.tables.rows("SELECT count(*) FROM exposure WHERE exposed IS NULL", self.name)[0][0]
        if missing:
            raise InputError(f"{missing:,} units have no time of exposure ({column}) that can be read", self.name)
        return True

    def _sums(self, metric: Metric) -> list[str]:
        columns = [identifier("x " + c) for c in metric.expression.columns if c != ALL_ROWS]
        kind = metric.expression.kind
        if kind == "share":
            return [f"CAST(max(CAST({columns[0]} > 0 AS INTEGER)) AS DOUBLE)"]
        if kind == "quantile":
            return [f"CAST(count({columns[0]}) AS DOUBLE)"]
        complete = " AND ".join(f"{c} IS NOT NULL" for c in columns)
        sums = []
        for name in metric.expression.columns:
            if name == ALL_ROWS:
                sums.append(f"CAST(nullif(count(*) FILTER ({complete}), 0) AS DOUBLE)")
                continue
            x = identifier("x " + name)
            # sums of whole numbers are exact; others are added in one order, whatever that of the rows: that of a
            # sorted list, which takes half the memory of an ordered sum
            total = f"sum({x}) FILTER ({complete})"
            sums.append(total if name in self.exact else f"list_sum(list_sort(list({x}) FILTER ({complete})))")
        return sums

    def _single(self) -> list[str]:
        """Return what `_sums` gives where every row is a unit."""
        out = []
        for i, metric in enumerate(self.settings.metrics):
            columns = [identifier("x " + c) for c in metric.expression.columns if c != ALL_ROWS]
            complete = " AND ".join(f"{c} IS NOT NULL" for c in columns)
            for j, name in enumerate(metric.expression.columns):
                x = "1.0" if name == ALL_ROWS else identifier("x " + name)
                x = f"CAST({x} > 0 AS DOUBLE)" if metric.expression.kind == "share" else x
                x = f"CAST({x} IS NOT NULL AS DOUBLE)" if metric.expression.kind == "quantile" else x
                out.append(f"CASE WHEN {complete} THEN {x} END AS m{i}_{j}")
        return out

    def _refuse_varying(self, fixed: Sequence[str], attributes: Sequence[str]) -> None:
        for column in fixed:
            sql = f"SELECT count(*) FROM summed WHERE {identifier('v ' + column)}"
            n = self.tables.rows(sql, self.name)[0][0]
            if n:
                what = "segment" if column in attributes else "covariate"
                raise PlanError(
                    f"{what} {column!r} changes between the rows of {n:,} units: a {what} must be known before the "
                    "experiment, one value a unit. Take its value from before the exposure (for instance from the "
                    "assignments)"
                )

    def _make_assigned(self, attributes: Sequence[str], covariates: Sequence[str]) -> None:
        table = self.assigned
        assert table is not None
        unit = table.column(self.unit or "", "unit")
        usual = [column for column in table.columns if column.casefold() in ARM_NAMES]
        named = self.settings.arm or (usual[0] if len(usual) == 1 else "arm")
        arm = table.column(named, "arm")
        cells = [
            f"{text_of(unit)} AS u",
            f"min({text_of(arm)}) AS arm",
            f"min({text_of(arm)}) <> max({text_of(arm)}) AS twice",
        ]
        for column in dict.fromkeys((*attributes, *covariates)):
            if column in table.columns:
                cells.append(f"max({self._fixed_cell(column, table.columns[column])}) AS {_fixed(column)}")
        exposed = self.settings.exposed_at
        if exposed is not None and exposed in table.columns:
            cells.append(f"min({time_of(exposed)}) AS exposed")
        self.tables.run(
            f"CREATE TEMP TABLE assigned AS SELECT {', '.join(cells)} FROM {table.view} GROUP BY 1", table.name
        )
        missing = self.tables.rows("SELECT count(*) FROM assigned WHERE u IS NULL OR arm IS NULL", table.name)[0][0]
        if missing:
            raise InputError(f"{missing:,} units have no id or no arm", table.name)

    def _join_assigned(self) -> None:
        if self.assigned is None:
            self.tables.run("ALTER TABLE summed RENAME TO units", self.name)
            return
        sums = [f"m{i}_{j}" for i, m in enumerate(self.settings.metrics) for j in range(len(m.expression.columns))]
        # a unit without rows did nothing: its sums are 0, not unknown
        cells = [f"CASE WHEN b.u IS NULL THEN 0.0 ELSE b.{name} END AS {name}" for name in sums]
        nothing = {c: literal(UNTRIGGERED) if c == self.settings.trigger else "NULL" for c in self._fixed_columns()}
        cells += [f"coalesce(b.{_fixed(c)}, {none}) AS {_fixed(c)}" for c, none in nothing.items()]
        columns = f"s.*, coalesce(b.rows, 0) AS rows, {', '.join(cells)}"
        own = f"SELECT {columns} FROM assigned s LEFT JOIN summed b ON s.u = b.u"
        self.tables.run(f"CREATE TEMP TABLE units AS {own}", self.name)
        logged = next((c for c in (self.settings.arm, "arm") if c in self.columns), None)
        if logged is not None:
            arm = text_of(logged)
            sql = (
                f"SELECT count(DISTINCT s.u) FROM (SELECT {self.unit_sql} AS u, {arm} AS a FROM all_rows) r "
                "JOIN assigned s ON r.u = s.u WHERE r.a <> s.arm"
            )
            self.counts["relabelled"] = int(self.tables.rows(sql, self.name)[0][0])

    def fixed_sql(self, column: str) -> str:
        """Return SQL of a segment or covariate in ``units``: a text."""
        return _fixed(column)

    def fixed_number(self, column: str) -> str:
        """Return SQL of a covariate in ``units`` as a number."""
        return number_of("f " + column, "VARCHAR")

    def count_twice(self) -> list[str]:
        """Count the units in two arms; return the arms that there are.

        Raises
        ------
        InputError
            If every unit is in two arms.
        """
        sql = "SELECT arm, count(*), count(*) FILTER (WHERE twice) FROM units GROUP BY arm"
        found = self.unit_tables.rows(sql, self.name)
        self.counts["twice"] = sum(int(row[2]) for row in found)
        if self.counts["twice"] == sum(int(row[1]) for row in found):
            raise InputError("every unit is in two arms; is the unit the right column?", self.name)
        return [str(row[0]) for row in found]

    @property
    def in_engine(self) -> bool:
        """Whether the rows stay in an engine of the user's."""
        return False

    @property
    def unit_tables(self) -> Any:
        """The engine that holds the units, with a method ``rows`` that runs SQL."""
        return self.tables

    def collect_units(self) -> None:
        """Bring the units into the embedded engine, where they are already."""

    # ── into memory ─────────────────────────────────────────────────────────────────────────────────────────────────

    def fetch(self, sql: str) -> dict[str, NDArray[Any]]:
        """Return the columns of a query; numbers that are NULL are NaN."""
        columns = self.tables.run(sql, self.name).fetchnumpy()
        return {name: _filled(column) for name, column in columns.items()}


def _fixed(column: str) -> str:
    return identifier("f " + column)


def _filled(column: Any) -> NDArray[Any]:
    if not isinstance(column, np.ma.MaskedArray):
        return np.asarray(column)
    absent = np.ma.getmaskarray(column)
    if column.dtype.kind in "fiub":
        numbers = np.asarray(column.data, dtype=np.float64)
        return np.where(absent, np.nan, numbers)
    texts = np.asarray(column.data, dtype=object).copy()
    texts[absent] = None
    return texts
