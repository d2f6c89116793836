"""Rows that an engine holds (DuckDB, Polars, Spark, Ibis): the engine adds them up to units, and Spark to sums.

Of other engines the units come into the embedded one, which may put them on disk; of Spark nothing but sums does, where
these are all that is asked for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

from rankstats.errors import InputError, PlanError
from rankstats.experiment.exact_sums import Request, Variable, grouped_sums
from rankstats.experiment.metrics import ALL_ROWS, Metric
from rankstats.experiment.settings import ExperimentSettings
from rankstats.experiment.unit_query import UNIT_NAMES, UnitQuery
from rankstats.inputs.row_tables import RowTable, RowTables, identifier
from rankstats.tables.engines.adapters import SparkEngine, lazy_frame
from rankstats.tables.engines.event_rows import LazyRows, lazy_rows
from rankstats.tables.engines.spark_units import SparkUnits
from rankstats.tables.engines.unit_steps import LARGEST, Scale, UnitMetric, cell_facts, units_of_rows
from rankstats.tables.judgments import Source

_EXACT = float(1 << 53)


def lazy_units(tables: RowTables, settings: ExperimentSettings, rows: Any, assignments: Any) -> LazyUnitQuery | None:
    """Return the query of rows that an engine holds, or None where they are none, or must be read to be read out.

    Quantiles, times, exposures, triggers, assignments and rows without a unit need the rows themselves.
    """
    if assignments is not None or settings.assignments or settings.time or settings.exposed_at or settings.trigger:
        return None
    if any(metric.expression.kind == "quantile" for metric in settings.metrics):
        return None
    given = lazy_rows(rows)
    if given is None or not settings.metrics:
        return None
    usual = [column for column in given.columns if column.casefold() in UNIT_NAMES]
    if settings.unit is None and len(usual) != 1:
        return None
    query = LazyUnitQuery(tables, [RowTable("rows", "", given.columns, Source("rows"))], settings, None)
    query.lazy = given
    query.find_columns()
    fixed = (column for m in settings.metrics for column in m.covariate)
    if not all(given.is_number(column) for column in (*query.numbers, *fixed) if column in given.columns):
        return None
    texts = [query.unit, *([] if given.by_arm else [query.arm]), *query.segment_columns]
    return query if all(given.is_text(column or "") for column in texts if column in given.columns) else None


def explain_experiment(settings: ExperimentSettings, rows: Any) -> str:
    """Return the plans of the engine that adds up rows, for every step; nothing is run.

    Parameters
    ----------
    settings : ExperimentSettings
        What is asked.
    rows : frame
        A relation of DuckDB, LazyFrame of Polars, DataFrame of Spark or table of Ibis.

    Raises
    ------
    PlanError
        If no engine adds up the rows: they are none that it holds, or must be read to be read out.

    Examples
    --------
    >>> import polars
    >>> from rankstats.experiment import metric_from_text
    >>> frame = polars.LazyFrame({"user": ["a", "b"], "arm": ["A", "B"], "paid": [1, 0]})
    >>> plans = explain_experiment(ExperimentSettings(metrics=(metric_from_text("paid"),)), frame)
    >>> [line for line in plans.splitlines() if line.startswith("==")]
    ['== rows in Polars: what the cells hold', '== rows in Polars: rows to units']
    """
    with RowTables() as tables:
        query = lazy_units(tables, settings, rows, None)
        if query is None:
            raise PlanError("no engine adds up these rows: they are not in one, or must be read into memory")
        return query.explain()


class _Plans:
    """Takes the plans of the queries that it is asked, and answers none."""

    def __init__(self, units: SparkUnits, engine: SparkEngine) -> None:
        self.units, self.engine = units, engine
        self.plan = ""

    def rows(self, sql: str, name: str) -> list[tuple[Any, ...]]:
        self.plan = self.plan or self.engine.explain(lazy_frame(self.units.sql(sql)))
        return []


@dataclass(slots=True)
class LazyUnitQuery(UnitQuery):
    """The rows of an experiment that an engine holds, seen unit by unit; as `UnitQuery`."""

    lazy: LazyRows = field(default_factory=LazyRows)
    bounds: dict[str, float] = field(default_factory=dict)
    spark: SparkUnits | None = None
    fixed: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    frame: Any = None
    held: bool = False

    @property
    def segment_columns(self) -> tuple[str, ...]:
        """The columns of the segments."""
        from rankstats.experiment.segments import attribute_of  # noqa: PLC0415  with the settings

        return tuple(dict.fromkeys(c for text in self.settings.segments for c in attribute_of(text).columns))

    @property
    def in_engine(self) -> bool:
        """Whether the rows stay in an engine of the user's."""
        return True

    @property
    def arm_of_file(self) -> bool:
        """Whether frames are named by arm."""
        return self.lazy.by_arm

    def _join_tables(self) -> None:
        self.columns = dict(self.lazy.columns)

    def _refuse_mislabelled(self) -> None:
        """Frames named by arm that have a column of arms are not taken here."""

    @property
    def _arm_column(self) -> str:
        return self.lazy.arm_column if self.lazy.by_arm else self.arm or ""

    # ── cells ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def _rows(self, texts: Sequence[str] = (), covariates: Sequence[str] = ()) -> Any:
        return self.lazy.selected(self.unit or "", self._arm_column, self.numbers, (texts, covariates))

    def _check_cells(self) -> None:
        facts = self.lazy.engine.collect(cell_facts(self._rows(), len(self.numbers)), self.name).to_pylist()[0]
        self.rows = int(facts["n"])
        if not self.rows:
            raise InputError("there are no rows", self.name)
        for key, column, problem in (
            ("no_unit", self.unit, "no unit; leave them out, or name their unit"),
            ("no_arm", self.arm, "no arm; leave them out, or name their arm"),
            *((f"bad{i}", c, "a number that is infinite or beyond 1e100") for i, c in enumerate(self.numbers)),
        ):
            if facts[key]:
                number = int(facts[key])
                raise InputError(f"{number:,} row{'s' * (number != 1)} with {problem} (column {column})", self.name)
        exact = set()
        for i, column in enumerate(self.numbers):
            self.empty[column] = self.rows - int(facts[f"present{i}"])
            bound = self.bounds[column] = max(abs(float(facts[f"{end}{i}"] or 0)) for end in ("low", "high"))
            if not int(facts[f"broken{i}"] or 0) and bound * self.rows < _EXACT:
                exact.add(column)
        self.exact = frozenset(exact)

    def refuse_without_arm(self) -> NoReturn:
        """Raise for rows without an arm; parameters as in `UnitQuery`."""
        raise InputError("there are rows without an arm", self.name)

    # ── units ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def _metric(self, metric: Metric) -> UnitMetric:
        columns, share = metric.expression.columns, metric.expression.kind == "share"
        places = tuple(None if c == ALL_ROWS else self.numbers.index(c) for c in columns)
        scales = tuple(
            None if share or c == ALL_ROWS or c in self.exact else Scale.of(self.bounds.get(c, LARGEST), self.rows)
            for c in columns
        )
        return UnitMetric(places, share, scales)

    def _units(self) -> Any:
        texts, covariates = self.fixed
        metrics = [self._metric(metric) for metric in self.settings.metrics]
        return units_of_rows(self._rows(texts, covariates), metrics, len(texts), len(covariates))

    def make_units(self, attributes: Sequence[str], covariates: Sequence[str]) -> None:
        """Let the engine make the units."""
        self.fixed = tuple(attributes), tuple(covariates)
        self.frame = self._units()
        if isinstance(self.lazy.engine, SparkEngine):
            self.spark = SparkUnits(self.frame.to_native().persist())
            self.tables.at_exit.append(self.spark.drop)
        else:
            self.collect_units()
        self._refuse_flagged()
        self._take_digest()

    def _refuse_flagged(self) -> None:
        """Refuse segments and covariates that change within a unit, with one look at all of them."""
        flags = {f"vf{place}": ("segment", column) for place, column in enumerate(self.fixed[0])}
        flags |= {f"vc{place}": ("covariate", column) for place, column in enumerate(self.fixed[1])}
        if not flags:
            return
        counted = ", ".join(f"count(*) FILTER (WHERE {flag})" for flag in flags)
        row = self.unit_tables.rows(f"SELECT {counted} FROM units WHERE true", self.name)[0]
        for n, (what, column) in zip(row, flags.values(), strict=True):
            if n:
                raise PlanError(
                    f"{what} {column!r} changes between the rows of {n:,} units: a {what} must be known before the "
                    "experiment, one value a unit. Take its value from before the exposure"
                )

    @property
    def unit_tables(self) -> Any:
        """The engine that holds the units."""
        return self.tables if self.spark is None or self.held else self.spark

    def collect_units(self) -> None:
        """Bring the units into the embedded engine."""
        if self.held:
            return
        frame = self.frame if self.spark is None else lazy_frame(self.spark.frame)
        batches = self.lazy.engine.batches(frame, self.name)
        self.tables.engine.register("units_of_engine", batches)
        texts, covariates = self.fixed
        named = [f"CAST(c{place} AS VARCHAR) AS {identifier('f ' + c)}" for place, c in enumerate(covariates)]
        named += [f"f{place} AS {identifier('f ' + c)}" for place, c in enumerate(texts) if c not in covariates]
        self.tables.run(f"CREATE TEMP TABLE units AS SELECT *, {', '.join(named) or 'NULL AS nothing'} "
                        "FROM units_of_engine", self.name)  # fmt: skip
        self.tables.engine.unregister("units_of_engine")
        self.held = True

    def _take_digest(self) -> None:
        """Put a digest of the units, which is all that is taken of the rows, into the source."""
        sums = [f"m{i}_{j}" for i, m in enumerate(self.settings.metrics) for j in range(len(m.expression.columns))]
        asked = ", ".join(f"count({name}), min({name}), max({name})" for name in sums)
        found = self.unit_tables.rows(f"SELECT arm, count(*), {asked} FROM units GROUP BY arm ORDER BY arm", self.name)
        digest = hashlib.sha256(repr([tuple(row) for row in found]).encode())
        table = self.given[0]
        self.given = [replace(table, origin=Source(table.name, digest.hexdigest()))]

    def fixed_sql(self, column: str) -> str:
        """Return SQL of a segment in ``units``."""
        return f"f{self.fixed[0].index(column)}"

    def fixed_number(self, column: str) -> str:
        """Return SQL of a covariate in ``units`` as a number."""
        return f"c{self.fixed[1].index(column)}"

    # ── plans ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def explain(self) -> str:
        """Return the engine's plans, for numbers that are not whole."""
        engine = self.lazy.engine
        covariates = tuple(dict.fromkeys(c for metric in self.settings.metrics for c in metric.covariate))
        self.fixed, self.rows = (self.segment_columns, covariates), 1
        plans = {
            "what the cells hold": engine.explain(cell_facts(self._rows(), len(self.numbers))),
            "rows to units": engine.explain(self._units()),
        }
        if isinstance(engine, SparkEngine):
            units = SparkUnits(self._units().to_native())
            asked = [Request((Variable("m0_0", 0.0, 1.0),), 1)]
            recorded: Any = _Plans(units, engine)
            keys = ["arm", *map(self.fixed_sql, self.segment_columns)]
            grouped_sums(recorded, "(SELECT * FROM units WHERE NOT twice)", keys, asked, rows=1, name=self.name)
            plans["units to sums by arm and segment"] = recorded.plan
            units.drop()
        return "\n\n".join(f"== rows in {engine.name}: {what}\n{plan.strip()}" for what, plan in plans.items()) + "\n"
