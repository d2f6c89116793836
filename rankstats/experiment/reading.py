"""Reads an experiment: files or frames of rows, one file an arm, or ready aggregates, to evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankstats.errors import InputError, PlanError, RankstatsError
from rankstats.experiment.aggregates import evidence_of_aggregates, is_aggregates
from rankstats.experiment.arms import designed_shares, order_arms
from rankstats.experiment.evidence import Cell, Dominant, Evidence, MetricEvidence
from rankstats.experiment.metrics import ALL_ROWS, Metric
from rankstats.experiment.segments import Attribute, attribute_codes, attribute_of
from rankstats.experiment.settings import ExperimentSettings
from rankstats.experiment.skewness import third_moments
from rankstats.experiment.summarising import (
    MetricValues,
    SummaryRequest,
    UnitTable,
    refuse_what_cannot_merge,
    summarise_units,
)
from rankstats.experiment.summary import ExperimentSummary
from rankstats.experiment.summary_evidence import evidence_of_files, holds_summaries, with_replicates
from rankstats.experiment.sums_reading import DOMINATES, LEAST_UNITS, SumsReader
from rankstats.experiment.unit_days import QUARTER_HOUR, day_names
from rankstats.experiment.unit_query import UnitQuery
from rankstats.inputs.row_tables import RowTable, RowTables, identifier, literal, time_of
from rankstats.stats import (
    ArmQuantiles,
    DailyMoments,
    UnitMoments,
    WinsorisingCap,
    arm_quantiles,
    covariate_with_missing,
    daily_moments,
    stack_moments,
    unit_moments,
    winsorising_cap,
)

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


def read_experiment(
    settings: ExperimentSettings,
    *,
    rows: Any = None,
    assignments: Any = None,
    summarise: SummaryRequest | None = None,
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
    with RowTables() as tables:
        given, settings = _opened(tables, settings, rows)
        kinds = {is_aggregates(table) for table in given}
        if kinds == {True} and summarise is None:
            if any(arm is not None for arm, _ in settings.rows):
                raise PlanError("aggregates name their arms themselves; give the files without ARM=")
            return evidence_of_aggregates(tables, given, settings)
        return _reader(tables, given, settings, assignments, summarise).evidence()


def read_units(settings: ExperimentSettings, rows: Any, assignments: Any, request: SummaryRequest) -> ExperimentSummary:
    """Return the sums of rows, without comparing arms; parameters as in `summarise_experiment`."""
    with RowTables() as tables:
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


@dataclass(slots=True)
class _Units:
    """Units in memory: places of their arms and in the table, columns, members of the cells, covariates."""

    arms: tuple[str, ...]
    arm: Codes
    place: Codes
    columns: dict[str, NDArray[Any]]
    members: list[NDArray[np.bool_]] = field(default_factory=list)
    covariates: dict[str, Floats] = field(default_factory=dict)

    @property
    def position(self) -> Codes:
        """Where the unit of each place in the table stands here."""
        position = np.full(int(self.place.max()) + 1, -1, dtype=np.int64)
        position[self.place] = np.arange(len(self.place))
        return position

    def counts(self, of: NDArray[np.bool_]) -> tuple[int, ...]:
        """Return how many of some units each arm has."""
        return tuple(np.bincount(self.arm[of], minlength=len(self.arms)).tolist())

    def of(self, name: str) -> Floats:
        return np.asarray(self.columns[name], dtype=np.float64)


class _Reader:
    """The steps from rows to evidence."""

    def __init__(self, query: UnitQuery, request: SummaryRequest | None = None) -> None:
        self.query = query
        self.request = request
        self.settings = query.settings
        self.tables = query.tables
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
        return columns, [str(row[0]) for row in self.tables.rows("SELECT DISTINCT arm FROM units", query.name)]

    def summary(self) -> ExperimentSummary:
        """Return the sums of the units alone."""
        columns, found = self._prepare()
        designed = (arm for arm, share in self.settings.shares.items() if share > 0)
        units = self._units(tuple(sorted({*found, *designed})), columns)
        units.covariates = {name: self._covariate(units, name) for name in self.covariates}
        values = [self._values(i, metric, units) for i, metric in enumerate(self.settings.metrics)]
        return self._summed(units, values, tuple(self.query.notes))

    def evidence(self) -> Evidence:
        query = self.query
        if (sums := self._by_sums()) is not None:
            return sums
        columns, found = self._prepare()
        arms, note = order_arms(found, self.settings, query.name)
        units = self._units(arms, columns)
        noted = tuple(query.notes)
        cells = self._cells(units)
        units.covariates = {name: self._covariate(units, name) for name in self.covariates}
        values = [self._values(i, metric, units) for i, metric in enumerate(self.settings.metrics)]
        metrics = tuple(self._metric(of_metric, units) for of_metric in values)
        summary = None if self.request is None else self._summed(units, values, noted)
        if summary is not None:
            metrics = with_replicates(metrics, summary, arms, cells)
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
            summary=summary,
        )

    def _by_sums(self) -> Evidence | None:
        """Return the evidence where rows are units and sums are all that is needed."""
        if self.request is not None:
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

    def _summed(self, units: _Units, values: Sequence[MetricValues], notes: tuple[str, ...]) -> ExperimentSummary:
        query = self.query
        names = self.query.fetch("SELECT rowid AS place, u, twice FROM units ORDER BY rowid")
        name_of = dict(zip(np.asarray(names["place"]).tolist(), np.asarray(names["u"]).tolist(), strict=True))
        sources = [table.source for table in query.given]
        table = UnitTable(
            arms=units.arms,
            arm=units.arm,
            ids=np.array([str(name_of[place]) for place in units.place.tolist()], dtype=object),
            all_ids=np.array([str(name) for name in name_of.values()], dtype=object),
            columns=units.columns,
            covariates=units.covariates,
            metrics=values,
            attributes=self.attributes,
            counts={**query.counts, **self._repeats(())},
            notes=notes,
            sources=(*sources, *([] if query.assigned is None else [query.assigned.source])),
            rows=query.rows,
        )
        return summarise_units(table, self.settings, self.request or SummaryRequest(), query.unit)

    # ── columns that must be older than the experiment ──────────────────────────────────────────────────────────────

    def _check_columns(self, columns: Sequence[str]) -> None:
        assigned = self.query.assigned
        for column in columns:
            if assigned is None or column not in assigned.columns:
                what = "covariate" if column in self.covariates else "segment"
                table = self.query.given[0]
                RowTable(table.name, "", self.query.columns, table.source).column(column, what)

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

    def _units(self, arms: tuple[str, ...], columns: Sequence[str]) -> _Units:
        coded = " ".join(f"WHEN arm = {literal(arm)} THEN {place}" for place, arm in enumerate(arms))
        sums = [f"m{i}_{j}" for i, m in enumerate(self.settings.metrics) for j in range(len(m.expression.columns))]
        kept = [f"{identifier('f ' + c)} AS {identifier(c)}" for c in dict.fromkeys((*columns, *self.covariates))]
        cells = [f"CASE {coded} END AS __arm", "rowid AS __place", *sums, *kept]
        sql = f"SELECT {', '.join(cells)} FROM units WHERE NOT twice"
        self.query.counts["twice"] = int(
            self.tables.rows("SELECT count(*) FROM units WHERE twice", self.query.name)[0][0]
        )
        columns_found = self.query.fetch(sql)
        arm, place = (np.asarray(columns_found.pop(name), dtype=np.int64) for name in ("__arm", "__place"))
        if not len(arm):
            raise InputError("every unit is in two arms; is the unit the right column?", self.query.name)
        return _Units(arms, arm, place, columns_found)

    def _cells(self, units: _Units) -> tuple[Cell, ...]:
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

    def _covariate(self, units: _Units, name: str) -> Floats:
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

    # ── metrics ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _values(self, place: int, metric: Metric, units: _Units) -> MetricValues:
        raw = [units.of(f"m{place}_{j}") for j in range(len(metric.expression.columns))]
        empty = sum(self.query.empty.get(c, 0) for c in set(metric.expression.columns))
        kept, cap = list(raw), None
        if metric.winsorise is not None and not np.isnan(raw[0]).all():
            cap = self._cap(metric, raw[0], units)
            kept[0] = cap.apply(raw[0])
        days = self._by_day(metric, units) if self.request is not None or metric.role == "primary" else ()
        return MetricValues(metric, raw, kept, cap, empty, days)

    def _metric(self, of_metric: MetricValues, units: _Units) -> MetricEvidence:
        metric, variables, cap, empty = of_metric.metric, of_metric.kept, of_metric.cap, of_metric.empty_cells
        if metric.expression.kind == "quantile":
            absent = units.counts(np.nan_to_num(variables[0]) == 0)
            quantiles = self._quantiles(metric, units)
            return MetricEvidence(metric, (), quantiles=quantiles, absent=absent, empty_cells=empty)
        undefined = np.any(np.isnan(np.stack(variables)), axis=0)
        uncapped: tuple[UnitMoments, ...] = ()
        extra = [v for name in metric.covariate for v in _with_missing(units.covariates[name])]
        if metric.winsorise is not None:
            uncapped = _moments([*of_metric.raw, *extra], units, units.members[:1])
        values = variables[0][~undefined]
        binary = len(variables) == 1 and len(values) > 0 and bool(np.all((values == 0) | (values == 1)))
        return MetricEvidence(
            metric,
            _moments([*variables, *extra], units, units.members),
            binary=binary,
            uncapped=uncapped,
            cap=cap,
            dominant=None if binary else self._dominant(variables, units),
            thirds=()
            if binary
            else third_moments(
                [[v[~undefined & (units.arm == arm)] for v in variables] for arm in range(len(units.arms))]
            ),
            absent=units.counts(undefined),
            empty_cells=empty,
            daily=_daily(of_metric, units) if metric.role == "primary" else (),
        )

    def _cap(self, metric: Metric, values: Floats, units: _Units) -> WinsorisingCap:
        try:
            return winsorising_cap([values[units.arm == a] for a in range(len(units.arms))], metric.winsorise or 0.999)
        except RankstatsError as error:
            raise PlanError(f"metric {metric.name!r}: {error}") from None

    def _dominant(self, variables: Sequence[Floats], units: _Units) -> Dominant | None:
        """Return the unit with the largest share of its arm's sum of squares, where it is large."""
        best: Dominant | None = None
        for arm in range(len(units.arms)):
            inside = np.flatnonzero((units.arm == arm) & ~np.any(np.isnan(np.stack(variables)), axis=0))
            if len(inside) < LEAST_UNITS:
                continue
            # in the order of their values, sums do not depend on that of the units
            inside = inside[np.lexsort([v[inside] for v in variables])]
            parts = [v[inside] for v in variables]
            centred = parts[0] - parts[0].mean()
            if len(parts) == 2:
                total = parts[1].sum()
                centred = parts[0] - (parts[0].sum() / total if total else 0.0) * parts[1]
            squares = centred**2
            whole = float(squares.sum())
            largest = int(np.argmax(squares))
            share = float(squares[largest]) / whole if whole > 0 else 0.0
            if share > DOMINATES and (best is None or share > best.share):
                alike = ", ".join(map(str, units.place[inside[squares == squares[largest]]].tolist()))
                name = self.tables.rows(f"SELECT min(u) FROM units WHERE rowid IN ({alike})", self.query.name)[0][0]
                without = unit_moments(*(np.delete(part, largest) for part in parts))
                best = Dominant(str(name), arm, float(parts[0][largest]), share, without)
        return best

    def _quantiles(self, metric: Metric, units: _Units) -> tuple[tuple[ArmQuantiles | None, ...], ...]:
        column = identifier("x " + metric.expression.columns[0])
        sql = (
            f"SELECT u.rowid AS place, CAST({column} AS DOUBLE) AS value FROM clean c JOIN units u ON c.u = u.u "
            f"WHERE NOT u.twice AND {column} IS NOT NULL"
        )
        rows = self.query.fetch(sql)
        of_row = units.position[np.asarray(rows["place"], dtype=np.int64)]
        values = np.asarray(rows["value"], dtype=np.float64)
        return tuple(
            tuple(
                _quantile(values[kept], of_row[kept], metric.expression.level or 0.5)
                for inside in units.members
                for kept in [(units.arm[of_row] == arm) & inside[of_row]]
            )
            for arm in range(len(units.arms))
        )

    # ── days ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def _by_day(self, metric: Metric, units: _Units) -> tuple[NDArray[Any], ...]:
        """Return place of the unit, day and sums, of means and ratios whose rows have a time."""
        if self.settings.time is None or metric.expression.kind not in ("mean", "ratio") or metric.winsorise:
            return ()
        columns = metric.expression.columns
        known = " AND ".join(f"{identifier('x ' + c)} IS NOT NULL" for c in columns if c != ALL_ROWS)
        sums = [f"CAST({_day_sum(c)} AS DOUBLE) AS s{j}" for j, c in enumerate(columns)]
        bucket = f"CAST(floor(epoch(c.t) / {QUARTER_HOUR}) AS BIGINT)"
        sql = (
            f"SELECT u.rowid AS unit, {bucket} AS bucket, {', '.join(sums)} FROM clean c "
            f"JOIN units u ON c.u = u.u WHERE NOT u.twice AND {known} GROUP BY u.rowid, {bucket} ORDER BY 1, 2"
        )
        rows = self.query.fetch(sql)
        if not len(rows["unit"]):
            return ()
        days = day_names(np.asarray(rows["bucket"], dtype=np.int64), self.settings.timezone)
        places = units.position[np.asarray(rows["unit"], dtype=np.int64)]
        return (places, days, *(np.asarray(rows[f"s{j}"], dtype=np.float64) for j in range(len(columns))))


def _daily(of_metric: MetricValues, units: _Units) -> tuple[DailyMoments, ...]:
    """Return an arm's units by day, where there are at least two days."""
    if not of_metric.days:
        return ()
    unit, days, *sums = of_metric.days
    everyday = np.unique(days)
    if len(everyday) < 2:
        return ()
    inside = [units.arm[unit] == arm for arm in range(len(units.arms))]
    return tuple(
        daily_moments(unit[rows], days[rows], *(column[rows] for column in sums), all_days=everyday) for rows in inside
    )


def _day_sum(column: str) -> str:
    name = identifier("x " + column)
    return "count(*)" if column == ALL_ROWS else f"sum({name} ORDER BY {name})"


def _with_missing(values: Floats) -> tuple[Floats, ...]:
    return covariate_with_missing(values) if np.isnan(values).any() else (values,)


def _moments(variables: list[Floats], units: _Units, members: list[NDArray[np.bool_]]) -> tuple[UnitMoments, ...]:
    """Return the moments of each arm, a column a cell."""
    return tuple(
        stack_moments([unit_moments(*(v[inside & (units.arm == a)] for v in variables)) for inside in members])
        for a in range(len(units.arms))
    )


def _quantile(values: Floats, units: Codes, level: float) -> ArmQuantiles | None:
    return arm_quantiles(values, units, levels=level) if len(values) else None
