"""Reads an experiment: files or frames of rows, one file an arm, or ready aggregates, to evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankstats.errors import InputError, PlanError
from rankstats.experiment.aggregates import evidence_of_aggregates, is_aggregates
from rankstats.experiment.arms import designed_shares, order_arms
from rankstats.experiment.evidence import Cell, Evidence
from rankstats.experiment.lazy_units import lazy_units
from rankstats.experiment.segments import Attribute, attribute_codes, attribute_of
from rankstats.experiment.settings import ExperimentSettings
from rankstats.experiment.summarising import (
    MetricValues,
    SummaryRequest,
    UnitTable,
    refuse_what_cannot_merge,
    summarise_units,
)
from rankstats.experiment.summary import ExperimentSummary, merge_summaries
from rankstats.experiment.summary_evidence import evidence_of_files, holds_summaries, with_replicates
from rankstats.experiment.sums_reading import SumsReader
from rankstats.experiment.unit_batches import EVERY_UNIT, Batch, unit_batches
from rankstats.experiment.unit_metrics import UnitMetrics, Units
from rankstats.experiment.unit_query import UnitQuery
from rankstats.experiment.unit_sums import UnitSumsReader
from rankstats.inputs.row_tables import RowTable, RowTables, identifier, literal, time_of
from rankstats.stats import (
    unit_moments,
)
from rankstats.tables.engines.choice import EngineChoice

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


def read_experiment(
    settings: ExperimentSettings,
    *,
    rows: Any = None,
    assignments: Any = None,
    summarise: SummaryRequest | None = None,
    room: EngineChoice | None = None,
) -> Evidence:
    """Read what the settings name, or rows handed in; summaries are recognised by their content.

    Parameters
    ----------
    settings : ExperimentSettings
        Files, columns, metrics.
    rows : frame, mapping of arm to frame, or sequence of mappings, optional
        Rows instead of the files of the settings.
    assignments : path or frame, optional
        All units instead of the file of the settings.
    summarise : SummaryRequest, optional
        Keep the sums that can be merged with those of other units, as `Evidence.summary`.
    room : EngineChoice, optional
        Memory that is not to be exceeded, and the folder for what does not fit.

    Returns
    -------
    Evidence

    Raises
    ------
    InputError
        If something cannot be read.
    PlanError
        If settings and data do not fit together.
    """
    if rows is None and holds_summaries(settings):
        return evidence_of_files(settings)
    with RowTables(room) as tables:
        lazy = lazy_units(tables, settings, rows, assignments)
        if lazy is not None:
            return _Reader(lazy, summarise).evidence()
        given, settings = _opened(tables, settings, rows)
        kinds = {is_aggregates(table) for table in given}
        if kinds == {True} and summarise is None:
            if any(arm is not None for arm, _ in settings.rows):
                raise PlanError("aggregates name their arms themselves; give the files without ARM=")
            return evidence_of_aggregates(tables, given, settings)
        return _reader(tables, given, settings, assignments, summarise).evidence()


def read_units(
    settings: ExperimentSettings,
    rows: Any,
    assignments: Any,
    request: SummaryRequest,
    room: EngineChoice | None = None,
) -> ExperimentSummary:
    """Return the sums of rows, without comparing arms; parameters as in `summarise_experiment`."""
    with RowTables(room) as tables:
        lazy = lazy_units(tables, settings, rows, assignments)
        if lazy is not None:
            return _Reader(lazy, request).summary()
        given, settings = _opened(tables, settings, rows)
        return _reader(tables, given, settings, assignments, request).summary()


def _reader(
    tables: RowTables,
    given: list[RowTable],
    settings: ExperimentSettings,
    assignments: Any,
    request: SummaryRequest | None,
) -> _Reader:
    for table in given:
        if is_aggregates(table):
            said = "holds aggregates and other files rows; give files of one kind"
            if request is not None:
                said = "holds aggregates, of which no summary can be made: units are not in them; give the rows"
            raise InputError(said, table.name)
    named = assignments if assignments is not None else settings.assignments
    assigned = None if named is None else tables.open(named, "assignments")
    return _Reader(UnitQuery(tables, given, settings, assigned), request)


def _opened(tables: RowTables, settings: ExperimentSettings, rows: Any) -> tuple[list[RowTable], ExperimentSettings]:
    if rows is None:
        if not settings.rows:
            raise PlanError("give the rows of the experiment: ROWS, or ARM=FILE for every arm (rankstats ab --help)")
        return [tables.open(path) for _, path in settings.rows], settings
    if isinstance(rows, Mapping):
        named = tuple((str(arm), f"rows of {arm}") for arm in rows)
        opened = [tables.open(data, f"rows of {arm}") for arm, data in rows.items()]
        return opened, replace(settings, rows=named)
    return [tables.open(rows, "rows")], replace(settings, rows=())


class _Reader:
    """The steps from rows to evidence."""

    def __init__(self, query: UnitQuery, request: SummaryRequest | None = None) -> None:
        self.query = query
        self.request = request
        self.settings = query.settings
        self.tables = query.tables
        self.metrics = UnitMetrics(query, all_days=request is not None)
        trigger = self.settings.trigger
        triggered = () if trigger is None else (Attribute(trigger, ((trigger, 0),)),)
        self.attributes = (*triggered, *(attribute_of(text) for text in self.settings.segments))
        self.covariates = tuple(dict.fromkeys(c for m in self.settings.metrics for c in m.covariate))

    def _prepare(self) -> tuple[tuple[str, ...], list[str]]:
        """Make the units; return the columns of the segments, and the arms."""
        query = self.query
        query.prepare()
        if self.request is not None:
            if self.settings.trigger is not None:
                raise PlanError("a trigger is not held by summaries; leave it out, or read the rows without a summary")
            refuse_what_cannot_merge(self.settings, self.request, query.unit)
        columns = tuple(dict.fromkeys(c for attribute in self.attributes for c in attribute.columns))
        self._check_columns((*columns, *self.covariates))
        self._refuse_late((*columns, *self.covariates))
        query.wanted = (*columns, *self.covariates)
        query.make_units(columns, self.covariates)
        return columns, query.count_twice()

    def summary(self) -> ExperimentSummary:
        """Return the sums of the units alone."""
        columns, found = self._prepare()
        return self._summary(columns, found)

    def _summary(self, columns: tuple[str, ...], found: Sequence[str]) -> ExperimentSummary:
        """Return the sums of the units, of some of them at a time."""
        self.query.collect_units()
        designed = (arm for arm, share in self.settings.shares.items() if share > 0)
        arms, noted = tuple(sorted({*found, *designed})), tuple(self.query.notes)
        caps = {m.name: self.metrics.cap_of_all(i, m, arms) for i, m in enumerate(self.settings.metrics) if m.winsorise}
        summary: ExperimentSummary | None = None
        for batch in unit_batches(self.query, self.attributes):
            units = self._units(arms, columns, batch)
            units.covariates = {name: self._covariate(units, name) for name in self.covariates}
            values = [self.metrics.values(i, metric, units, caps) for i, metric in enumerate(self.settings.metrics)]
            part = self._summed(units, values, noted)
            summary = part if summary is None else merge_summaries([summary, part])
        assert summary is not None  # there is a first batch
        return summary

    def evidence(self) -> Evidence:
        if (sums := self._by_sums()) is not None:
            return sums
        columns, found = self._prepare()
        summary = None if self.request is None else self._summary(columns, found)
        evidence = self._by_unit_sums(columns) or self._by_units(columns, found)
        if summary is None:
            return evidence
        metrics = with_replicates(evidence.metrics, summary, evidence.arms, evidence.cells)
        return replace(evidence, metrics=metrics, summary=summary)

    def _by_unit_sums(self, columns: tuple[str, ...]) -> Evidence | None:
        """Return the evidence where sums of the units are all that is needed."""
        reader = UnitSumsReader(self.query, self.attributes, self.covariates)
        found = reader.evidence() if reader.suits() else None
        return None if found is None else replace(found, counts={**found.counts, **self._repeats(columns)})

    def _by_units(self, columns: tuple[str, ...], found: Sequence[str]) -> Evidence:
        """Return the evidence of units in memory."""
        query = self.query
        query.collect_units()
        arms, note = order_arms(found, self.settings, query.name)
        units = self._units(arms, columns)
        cells = self._cells(units)
        units.covariates = {name: self._covariate(units, name) for name in self.covariates}
        values = [self.metrics.values(i, metric, units) for i, metric in enumerate(self.settings.metrics)]
        metrics = tuple(self.metrics.evidence(of_metric, units) for of_metric in values)
        sources = [table.source for table in query.given]
        return Evidence(
            arms=arms,
            units=cells[0].n,
            shares=designed_shares(arms, self.settings.shares),
            cells=cells,
            metrics=metrics,
            unit=query.unit,
            source_kind="rows",
            covariates={
                name: tuple(unit_moments(values[units.arm == a]) for a in range(len(arms)))
                for name, values in units.covariates.items()
            },
            sources=(*sources, *([] if query.assigned is None else [query.assigned.source])),
            rows=query.rows,
            counts={**query.counts, **self._repeats(columns)},
            notes=(*([note] if note else []), *query.notes),
        )

    def _by_sums(self) -> Evidence | None:
        """Return the evidence where rows are units and sums are all that is needed."""
        if self.request is not None or self.query.in_engine:
            return None
        self.query.find_columns()
        columns = tuple(dict.fromkeys(c for attribute in self.attributes for c in attribute.columns))
        self._check_columns((*columns, *self.covariates))
        reader = SumsReader(self.query, self.attributes, self.covariates)
        if not reader.suits():
            return None
        found = reader.evidence()
        if found is None:
            return None
        return replace(found, counts={**found.counts, **self._repeats(columns)})

    def _summed(self, units: Units, values: Sequence[MetricValues], notes: tuple[str, ...]) -> ExperimentSummary:
        query = self.query
        names = self.query.fetch(f"SELECT rowid AS place, u FROM units WHERE {units.batch.condition} ORDER BY rowid")
        name_of = dict(zip(np.asarray(names["place"]).tolist(), np.asarray(names["u"]).tolist(), strict=True))
        first = units.batch.first
        sources = [table.source for table in query.given]
        sources += [] if query.assigned is None else [query.assigned.source]
        table = UnitTable(
            arms=units.arms,
            arm=units.arm,
            ids=np.array([str(name_of[place]) for place in units.place.tolist()], dtype=object),
            all_ids=np.array([str(name) for name in name_of.values()], dtype=object),
            columns=units.columns,
            covariates=units.covariates,
            metrics=values,
            attributes=self.attributes,
            # what is of all units stands with the first of them
            counts={**query.counts, **self._repeats(())} if first else {},
            notes=notes if first else (),
            sources=sources if first else (),
            rows=query.rows if first else 0,
        )
        return summarise_units(table, self.settings, self.request or SummaryRequest(), query.unit)

    # ── columns that must be older than the experiment ──────────────────────────────────────────────────────────────

    def _check_columns(self, columns: Sequence[str]) -> None:
        assigned = self.query.assigned
        for column in columns:
            if assigned is None or column not in assigned.columns:
                what = "covariate" if column in self.covariates else "segment"
                what = "trigger" if column == self.settings.trigger else what
                table = self.query.given[0]
                RowTable(table.name, "", self.query.columns, table.origin).column(column, what)

    def _refuse_late(self, columns: Sequence[str]) -> None:
        """Refuse segments and covariates whose time of measurement (column ``NAME_at``) is not before the exposure."""
        exposed = self.settings.exposed_at
        if exposed is None:
            return
        for column in columns:
            view, known = "all_rows", self.query.columns
            assigned = self.query.assigned
            if assigned is not None and column in assigned.columns:
                view, known = assigned.view, assigned.columns
            if exposed not in known:
                if exposed not in self.query.columns:
                    raise InputError(f"exposed_at {exposed!r} is no column", self.query.name)
                continue
            what = "covariate" if column in self.covariates else "segment"
            if column == exposed:
                raise PlanError(f"{what} {column!r} is the time of exposure itself: no unit had it before")
            if f"{column}_at" in known:
                late = f"{time_of(f'{column}_at')} >= {time_of(exposed)}"
                n = self.tables.rows(f"SELECT count(*) FROM {view} WHERE {late}", self.query.name)[0][0]
                if n:
                    raise PlanError(
                        f"{what} {column!r} was measured after the exposure in {n:,} rows ({column}_at is not before "
                        f"{exposed}): the treatment may have changed it. Take its value from before"
                    )

    def _repeats(self, columns: Sequence[str]) -> dict[str, Any]:
        """Count units that have several rows where every row is taken as a unit."""
        query = self.query
        if query.unit is not None:
            return {}
        ids = [c for c in query.columns if c.casefold().removesuffix("_id").endswith(("user", "visitor", "session"))]
        if len(ids) < 2:
            return {}
        named = identifier(ids[0])
        n = self.tables.rows(f"SELECT count(*) - count(DISTINCT {named}) FROM all_rows", query.name)[0][0]
        return {"repeated": int(n), "repeated_column": ids[0]} if n else {}

    # ── units, segments ─────────────────────────────────────────────────────────────────────────────────────────────

    def _units(self, arms: tuple[str, ...], columns: Sequence[str], batch: Batch = EVERY_UNIT) -> Units:
        coded = " ".join(f"WHEN arm = {literal(arm)} THEN {place}" for place, arm in enumerate(arms))
        sums = [f"m{i}_{j}" for i, m in enumerate(self.settings.metrics) for j in range(len(m.expression.columns))]
        kept = [f"{identifier('f ' + c)} AS {identifier(c)}" for c in dict.fromkeys((*columns, *self.covariates))]
        cells = [f"CASE {coded} END AS __arm", "rowid AS __place", *sums, *kept]
        sql = f"SELECT {', '.join(cells)} FROM units WHERE NOT twice AND {batch.condition}"
        columns_found = self.query.fetch(sql)
        arm, place = (np.asarray(columns_found.pop(name), dtype=np.int64) for name in ("__arm", "__place"))
        return Units(arms, arm, place, columns_found, batch=batch)

    def _cells(self, units: Units) -> tuple[Cell, ...]:
        """Return all units and the segments, and keep who is in them."""
        units.members.append(np.ones(len(units.arm), dtype=bool))
        cells = [Cell("", "", units.counts(units.members[0]))]
        for attribute in self.attributes:
            values, codes = attribute_codes(attribute, units.columns)
            if len(values) < 2:
                self.query.notes.append(f"All units have one value of {attribute.name}: it makes no segments.")
                continue
            for code, value in enumerate(values):
                units.members.append(codes == code)
                cells.append(Cell(attribute.name, value, units.counts(codes == code)))
        return tuple(cells)

    def _covariate(self, units: Units, name: str) -> Floats:
        """Return a covariate as numbers; NaN where a unit has none."""
        texts = units.columns[name]
        truth = {"true": 1.0, "false": 0.0}
        values = np.full(len(texts), np.nan)
        for place, text in enumerate(texts):
            if text is None or str(text).lower() in ("na", "nan", "null", "none", "\\n"):
                continue
            try:
                values[place] = truth[str(text).lower()] if str(text).lower() in truth else float(text)
            except ValueError:
                raise InputError(
                    f"covariate {name!r} is {text!r} for a unit; a number is expected", self.query.name
                ) from None
        if not np.all(np.isnan(values) | np.isfinite(values)):
            raise InputError(f"covariate {name!r} is infinite for a unit; a finite number is expected", self.query.name)
        return values
