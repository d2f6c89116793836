"""Values of metrics a unit, for units in memory: caps, moments, quantiles, days, and the unit that dominates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankstats.errors import PlanError, RankstatsError
from rankstats.experiment.evidence import Dominant, MetricEvidence
from rankstats.experiment.metrics import ALL_ROWS, Metric
from rankstats.experiment.skewness import third_moments
from rankstats.experiment.summarising import MetricValues
from rankstats.experiment.sums_reading import DOMINATES, LEAST_UNITS
from rankstats.experiment.unit_batches import EVERY_UNIT, Batch
from rankstats.experiment.unit_days import QUARTER_HOUR, day_names
from rankstats.experiment.unit_query import UnitQuery
from rankstats.inputs.row_tables import identifier
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


@dataclass(slots=True)
class Units:
    """Units in memory: places of their arms and in the table, columns, members of the cells, covariates."""

    arms: tuple[str, ...]
    arm: Codes
    place: Codes
    columns: dict[str, NDArray[Any]]
    members: list[NDArray[np.bool_]] = field(default_factory=list)
    covariates: dict[str, Floats] = field(default_factory=dict)
    batch: Batch = EVERY_UNIT

    @property
    def position(self) -> Codes:
        """Where the unit of each place in the table stands here."""
        position = np.full(int(self.place.max(initial=-1)) + 1, -1, dtype=np.int64)
        position[self.place] = np.arange(len(self.place))
        return position

    def counts(self, of: NDArray[np.bool_]) -> tuple[int, ...]:
        """Return how many of some units each arm has."""
        return tuple(np.bincount(self.arm[of], minlength=len(self.arms)).tolist())

    def of(self, name: str) -> Floats:
        """Return a column as numbers."""
        return np.asarray(self.columns[name], dtype=np.float64)


class UnitMetrics:
    """Makes the evidence of metrics from the columns of units.

    Parameters
    ----------
    query : UnitQuery
        Where the units are.
    all_days : bool
        Whether days are wanted of all metrics, not of the primary ones only.
    """

    def __init__(self, query: UnitQuery, *, all_days: bool) -> None:
        self.query = query
        self.settings = query.settings
        self.tables = query.tables
        self._all_days = all_days

    def values(
        self, place: int, metric: Metric, units: Units, caps: Mapping[str, WinsorisingCap | None] | None = None
    ) -> MetricValues:
        """Return the values of the metric in a place, as they are and capped."""
        raw = [units.of(f"m{place}_{j}") for j in range(len(metric.expression.columns))]
        empty = sum(self.query.empty.get(c, 0) for c in set(metric.expression.columns)) if units.batch.first else 0
        kept, cap = list(raw), None
        if caps is not None:
            cap = caps.get(metric.name)
        elif metric.winsorise is not None and not np.isnan(raw[0]).all():
            cap = self._cap(metric, raw[0], units)
        if cap is not None:
            kept[0] = cap.apply(raw[0])
        days = self._by_day(metric, units) if self._all_days or metric.role == "primary" else ()
        return MetricValues(metric, raw, kept, cap, empty, days)

    def evidence(self, of_metric: MetricValues, units: Units) -> MetricEvidence:
        """Return the moments or quantiles of a metric, by arm and cell."""
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

    def cap_of_all(self, place: int, metric: Metric, arms: tuple[str, ...]) -> WinsorisingCap | None:
        """Return the cap of a metric over all units, whose values alone come into memory for it."""
        values = self.query.fetch(f"SELECT arm, m{place}_0 AS x FROM units WHERE NOT twice")
        of = np.asarray(values["x"], dtype=np.float64)
        place_of = {arm: a for a, arm in enumerate(arms)}
        codes = np.array([place_of[str(arm)] for arm in values["arm"].tolist()], dtype=np.int64)
        return None if np.isnan(of).all() else self._cap(metric, of, Units(arms, codes, np.arange(len(of)), {}))

    def _cap(self, metric: Metric, values: Floats, units: Units) -> WinsorisingCap:
        try:
            return winsorising_cap([values[units.arm == a] for a in range(len(units.arms))], metric.winsorise or 0.999)
        except RankstatsError as error:
            raise PlanError(f"metric {metric.name!r}: {error}") from None

    def _dominant(self, variables: Sequence[Floats], units: Units) -> Dominant | None:
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

    def _quantiles(self, metric: Metric, units: Units) -> tuple[tuple[ArmQuantiles | None, ...], ...]:
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

    def _by_day(self, metric: Metric, units: Units) -> tuple[NDArray[Any], ...]:
        """Return place of the unit, day and sums, of means and ratios whose rows have a time."""
        if self.settings.time is None or metric.expression.kind not in ("mean", "ratio") or metric.winsorise:
            return ()
        columns = metric.expression.columns
        known = " AND ".join(f"{identifier('x ' + c)} IS NOT NULL" for c in columns if c != ALL_ROWS)
        sums = [f"CAST({_day_sum(c)} AS DOUBLE) AS s{j}" for j, c in enumerate(columns)]
        bucket = f"CAST(floor(epoch(c.t) / {QUARTER_HOUR}) AS BIGINT)"
        sql = (
            f"SELECT u.rowid AS unit, {bucket} AS bucket, {', '.join(sums)} FROM clean c "
            f"JOIN units u ON c.u = u.u WHERE NOT u.twice AND {units.batch.of('u')} AND {known} "
            f"GROUP BY u.rowid, {bucket} ORDER BY 1, 2"
        )
        rows = self.query.fetch(sql)
        if not len(rows["unit"]):
            return ()
        days = day_names(np.asarray(rows["bucket"], dtype=np.int64), self.settings.timezone)
        places = units.position[np.asarray(rows["unit"], dtype=np.int64)]
        return (places, days, *(np.asarray(rows[f"s{j}"], dtype=np.float64) for j in range(len(columns))))


def _daily(of_metric: MetricValues, units: Units) -> tuple[DailyMoments, ...]:
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


def _moments(variables: list[Floats], units: Units, members: list[NDArray[np.bool_]]) -> tuple[UnitMoments, ...]:
    """Return the moments of each arm, a column a cell."""
    return tuple(
        stack_moments([unit_moments(*(v[inside & (units.arm == a)] for v in variables)) for inside in members])
        for a in range(len(units.arms))
    )


def _quantile(values: Floats, units: Codes, level: float) -> ArmQuantiles | None:
    return arm_quantiles(values, units, levels=level) if len(values) else None
