"""Units in memory to a summary: exact sums by arm, segment and day, resamples, and which units they were."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankstats.errors import PlanError
from rankstats.experiment.metrics import Metric
from rankstats.experiment.segments import Attribute, attribute_keys
from rankstats.experiment.settings import ExperimentSettings
from rankstats.experiment.summary import CellSums, ExperimentSummary, Extremes, MetricSums, in_order
from rankstats.stats import (
    ExactMoments,
    ExactPoissonSums,
    WinsorisingCap,
    exact_cubes,
    exact_moments,
    exact_poisson_sums,
    unit_sketch,
)
from rankstats.stats.validation import check_count
from rankstats.tables.judgments import Source

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
ByArm = dict[str, ExactMoments]

_NOT_OF_THE_PLAN = ("rows", "assignments", "arm", "look", "unit", "control")


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    """What a summary shall hold beside sums.

    Attributes
    ----------
    resamples : int
        Poisson resamples of the units; 0 for none.
    seed : int
        Their seed; that of all parts that are to be merged.
    """

    resamples: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        if check_count("resamples", self.resamples, least=0) and check_count("seed", self.seed, least=0) >= 1 << 63:
            raise PlanError(f"seed = {self.seed}: a whole number below 2**63 is expected")


@dataclass(frozen=True, slots=True)
class MetricValues:
    """Values of a metric, one a unit: before and after capping."""

    metric: Metric
    raw: Sequence[Floats]
    kept: Sequence[Floats]
    cap: WinsorisingCap | None
    empty_cells: int
    days: tuple[NDArray[Any], ...] = ()
    """Place of the unit, day, and sums of every unit and day; empty without times."""


@dataclass(slots=True)
class UnitTable:
    """What a summary is made of; arrays have an entry a unit.

    Attributes
    ----------
    arms : tuple of str
        Names of the arms.
    arm : ndarray of int
        Places of their arms.
    ids : ndarray of object
        Ids of the units.
    all_ids : ndarray of object
        The same with those that are left out because they are in two arms.
    columns : mapping of str to ndarray
        Columns of the segments.
    covariates : mapping of str to ndarray
        NaN where a unit has none.
    """

    arms: tuple[str, ...]
    arm: NDArray[np.int64]
    ids: NDArray[Any]
    all_ids: NDArray[Any]
    columns: Mapping[str, NDArray[Any]]
    covariates: Mapping[str, Floats]
    metrics: Sequence[MetricValues] = ()
    attributes: Sequence[Attribute] = ()
    counts: Mapping[str, Any] = field(default_factory=dict)
    notes: Sequence[str] = ()
    sources: Sequence[Source] = ()
    rows: int = 0

    def by_arm(self, inside: Mask) -> Iterator[tuple[str, Mask]]:
        """Yield the arms that have units inside, in the order of their names."""
        for name in sorted(self.arms):
            members = inside & (self.arm == self.arms.index(name))
            if members.any():
                yield name, members

    def counted(self, inside: Mask) -> dict[str, int]:
        """Return the units inside by arm, without arms that have none."""
        return {arm: int(np.count_nonzero(members)) for arm, members in self.by_arm(inside)}


def refuse_what_cannot_merge(settings: ExperimentSettings, request: SummaryRequest, unit: str | None) -> None:
    """Raise where a summary cannot hold what is asked for.

    Raises
    ------
    PlanError
        For quantiles, and for resamples of rows that have no unit.
    """
    for metric in settings.metrics:
        if metric.expression.kind == "quantile":
            raise PlanError(
                f"metric {metric.name!r} is a quantile: it does not follow from sums, so no summary holds it. Leave it "
                "out of the summary (a run of its own without --summary-out), or ask for the share above a limit"
            )
    if request.resamples and unit is None:
        raise PlanError("resamples are drawn by the id of the unit; name its column with --unit")


def plan_of(settings: ExperimentSettings, unit: str | None) -> dict[str, Any]:
    """Return what of the settings is the plan of the experiment: everything but files and the number of the look."""
    whole = settings.to_dict()
    experiment = {key: value for key, value in whole["experiment"].items() if key not in _NOT_OF_THE_PLAN}
    named = [arm for arm, _ in settings.rows if arm is not None]
    control = settings.control or (named[0] if named else None)
    experiment |= {key: value for key, value in (("unit", unit), ("control", control)) if value is not None}
    kept = {key: value for key, value in whole.items() if key not in ("experiment", "overridden")}
    plan: dict[str, Any] = json.loads(json.dumps({**kept, "experiment": experiment}))
    return plan


def summarise_units(
    table: UnitTable, settings: ExperimentSettings, request: SummaryRequest, unit: str | None
) -> ExperimentSummary:
    """Return the summary of units."""
    everyone = np.ones(len(table.arm), dtype=np.bool_)
    members = [("", (), everyone), *_segments(table)]
    return ExperimentSummary(
        plan=plan_of(settings, unit),
        resamples=request.resamples,
        seed=request.seed,
        sources=tuple(sorted(table.sources, key=lambda source: (source.name, source.sha256 or ""))),
        rows=table.rows,
        units=table.counted(everyone),
        sketch=None if unit is None else unit_sketch(table.all_ids),
        counts={key: value for key, value in sorted(table.counts.items()) if value},
        notes=tuple(sorted(set(table.notes))),
        cells=in_order((_cell(table, request, *cell) for cell in members), settings.segments),
        metrics={values.metric.name: _metric(table, values) for values in table.metrics},
        covariates={
            name: {
                arm: exact_moments(covariate[inside]) for arm, inside in table.by_arm(everyone & ~np.isnan(covariate))
            }
            for name, covariate in table.covariates.items()
        },
    )


def _segments(table: UnitTable) -> Iterator[tuple[str, tuple[str, ...], Mask]]:
    for attribute in table.attributes:
        keys, codes = attribute_keys(attribute, table.columns)
        for code, key in enumerate(keys):
            yield attribute.name, key, codes == code


def _cell(table: UnitTable, request: SummaryRequest, attribute: str, parts: tuple[str, ...], inside: Mask) -> CellSums:
    sums: dict[str, ByArm] = {}
    replicates: dict[str, dict[str, ExactPoissonSums]] = {}
    for values in table.metrics:
        known = inside & _known(values.raw)
        columns = _with_covariates(values.kept, values.metric, table)
        sums[values.metric.name] = {
            arm: exact_moments(*(c[members] for c in columns)) for arm, members in table.by_arm(known)
        }
        if request.resamples:
            replicates[values.metric.name] = {
                arm: exact_poisson_sums(
                    table.ids[members],
                    *(column[members] for column in values.kept),
                    resamples=request.resamples,
                    seed=request.seed,
                )
                for arm, members in table.by_arm(known)
            }
    return CellSums(attribute, parts, table.counted(inside), sums, replicates)


def _known(variables: Sequence[Floats]) -> Mask:
    return np.asarray(~np.isnan(np.stack(variables)).any(axis=0))


def _with_covariates(variables: Sequence[Floats], metric: Metric, table: UnitTable) -> list[Floats]:
    """Return the variables, then two for each covariate: with 0 where it is missing, and whether it is."""
    columns = list(variables)
    for name in metric.covariate:
        missing = np.isnan(table.covariates[name])
        columns += [np.where(missing, 0.0, table.covariates[name]), missing.astype(np.float64)]
    return columns


def _metric(table: UnitTable, values: MetricValues) -> MetricSums:
    known = _known(values.raw)
    column, cap = values.kept[0], values.cap
    single = len(values.kept) == 1
    uncapped: ByArm = {}
    if values.metric.winsorise is not None:
        columns = _with_covariates(values.raw, values.metric, table)
        uncapped = {arm: exact_moments(*(c[members] for c in columns)) for arm, members in table.by_arm(known)}
    on_day, to_date = _days(table, values)
    return MetricSums(
        binary=single and bool(np.all(np.isin(column[known], (0.0, 1.0)))),
        empty_cells=values.empty_cells,
        absent=table.counted(~known),
        cap=None if cap is None else cap.cap,
        capped={} if cap is None else table.counted(known & (values.raw[0] > cap.cap)),
        uncapped=uncapped,
        cubes={arm: exact_cubes(*(c[m] for c in values.kept)) for arm, m in table.by_arm(known)},
        extremes={arm: _extremes(column[m], table.ids[m]) for arm, m in table.by_arm(known)} if single else {},
        on_day=on_day,
        to_date=to_date,
    )


def _extremes(values: Floats, ids: NDArray[Any]) -> Extremes:
    ends = [(float(end), min(map(str, ids[values == end]))) for end in (values.min(), values.max())]
    return Extremes(ends[0], ends[1])


def _days(table: UnitTable, values: MetricValues) -> tuple[dict[str, ByArm], dict[str, ByArm]]:
    """Return the moments of each day, and of all days up to it; a unit counts from its first row on."""
    if not values.days:
        return {}, {}
    unit, day, *sums = values.days
    totals = [np.zeros(len(table.arm)) for _ in sums]
    seen = np.zeros(len(table.arm), dtype=np.bool_)
    on_day: dict[str, ByArm] = {}
    to_date: dict[str, ByArm] = {}
    for name in np.unique(day).tolist():
        rows = day == name
        here = np.zeros(len(table.arm), dtype=np.bool_)
        here[unit[rows]] = True
        of_day = [np.bincount(unit[rows], weights=column[rows], minlength=len(table.arm)) for column in sums]
        seen |= here
        totals = [total + column for total, column in zip(totals, of_day, strict=True)]
        for found, inside, columns in ((on_day, here, of_day), (to_date, seen, totals)):
            found[str(name)] = {arm: exact_moments(*(c[m] for c in columns)) for arm, m in table.by_arm(inside)}
    return on_day, to_date
