"""Ready aggregates as evidence: one row an arm and metric, recognised by the columns."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rankstats.errors import InputError, PlanError, RankstatsError, did_you_mean
from rankstats.experiment.arms import designed_shares, order_arms
from rankstats.experiment.evidence import Cell, Evidence, MetricEvidence
from rankstats.experiment.metrics import Expression, Metric
from rankstats.experiment.settings import ExperimentSettings
from rankstats.inputs.row_tables import RowTable, RowTables, identifier, no_number, number_of, text_of
from rankstats.stats import UnitMoments, aggregated_moments, ratio_aggregates

MEAN_COLUMNS = ("mean", "variance")
RATIO_COLUMNS = (
    "numerator_mean",
    "numerator_variance",
    "denominator_mean",
    "denominator_variance",
    "covariance",
)
_NUMBERS = ("n", "units", *MEAN_COLUMNS, *RATIO_COLUMNS)

_COLUMNS = ("arm", "metric", "n", *MEAN_COLUMNS, *RATIO_COLUMNS, "units")

Row = Mapping[str, Any]


def is_aggregates(table: RowTable) -> bool:
    """Whether a table holds aggregates: arm, metric, n, and mean and variance or the parts of a ratio."""
    columns = set(table.columns)
    if not {"arm", "metric", "n"} <= columns:
        return False
    return set(MEAN_COLUMNS) <= columns or set(RATIO_COLUMNS) <= columns


def evidence_of_aggregates(tables: RowTables, given: Sequence[RowTable], settings: ExperimentSettings) -> Evidence:
    """Return the evidence that tables of aggregates hold.

    Raises
    ------
    InputError
        If a row cannot be used, two rows are of one arm and metric, or an arm lacks a metric.
    PlanError
        If something is asked for that needs the units themselves.
    """
    _refuse_what_needs_units(settings)
    rows: dict[tuple[str, str], Row] = {}
    for table in given:
        for row in _rows_of(tables, table):
            key = (row["metric"], row["arm"])
            if key in rows:
                raise InputError(f"two rows are of metric {key[0]!r} and arm {key[1]!r}; leave one out", table.name)
            rows[key] = row
    place = given[0].name
    arms, note = order_arms({arm for _, arm in rows}, settings, place)
    metrics = _metrics(sorted({metric for metric, _ in rows}), settings)
    found = tuple(_metric_evidence(metric, arms, rows, place) for metric in metrics)
    units = tuple(_units(arm, rows) for arm in arms)
    return Evidence(
        arms=arms,
        units=units,
        shares=designed_shares(arms, settings.shares),
        cells=(Cell("", "", units),),
        metrics=found,
        unit=settings.unit,
        source_kind="aggregates",
        sources=tuple(table.source for table in given),
        rows=len(rows),
        notes=(note,) if note else (),
    )


def _refuse_what_needs_units(settings: ExperimentSettings) -> None:
    asked = {
        "segments": settings.segments,
        "assignments": settings.assignments,
        "exposed_at": settings.exposed_at,
        "a time": settings.time,
        "a covariate": [m for m in settings.metrics if m.covariate],
        "winsorising": [m for m in settings.metrics if m.winsorise],
    }
    for what, value in asked.items():
        if value:
            raise PlanError(f"{what} cannot be had from aggregates; read the rows of the units instead")


def _rows_of(tables: RowTables, table: RowTable) -> list[dict[str, Any]]:
    numbers = [name for name in _NUMBERS if name in table.columns]
    cells = [f"{text_of('arm')}, {text_of('metric')}"]
    for name in numbers:
        cells += [number_of(name, table.columns[name]), no_number(name, table.columns[name]), identifier(name)]
    found = []
    for line, row in enumerate(tables.rows(f"SELECT {', '.join(cells)} FROM {table.view}", table.name), 1):
        made: dict[str, Any] = {"arm": row[0], "metric": row[1]}
        for place, name in enumerate(numbers):
            number, wrong, cell = row[2 + 3 * place : 5 + 3 * place]
            if wrong:
                raise InputError(f"row {line}: {name} is {cell!r}; a number is expected", table.name)
            made[name] = math.nan if number is None else float(number)
        if made["arm"] is None or made["metric"] is None:
            raise InputError(f"row {line} has no {'arm' if made['arm'] is None else 'metric'}", table.name)
        found.append(made)
    return found


def _metrics(held: list[str], settings: ExperimentSettings) -> tuple[Metric, ...]:
    """Return the metrics asked for; all of the table, each a claim, where none are."""
    if not settings.metrics:
        return tuple(Metric(name, Expression("mean", (name,)), name, role="primary") for name in held)
    for metric in settings.metrics:
        if metric.name not in held:
            raise PlanError(
                f"metric {metric.name!r} is not among the aggregates ({', '.join(held)})"
                + did_you_mean(metric.name, held)
            )
    return settings.metrics


def _metric_evidence(
    metric: Metric, arms: tuple[str, ...], rows: Mapping[tuple[str, str], Row], place: str
) -> MetricEvidence:
    moments = []
    for arm in arms:
        row = rows.get((metric.name, arm))
        if row is None:
            raise InputError(
                f"metric {metric.name!r} has no row for the arm {arm!r}; add it, with n = 0 if empty", place
            )
        try:
            moments.append(_moments(row))
        except RankstatsError as error:
            raise InputError(f"metric {metric.name!r}, arm {arm!r}: {error}", place) from None
    if len({part.n_variables for part in moments}) > 1:
        raise InputError(f"metric {metric.name!r} is a ratio in one arm and a mean in another", place)
    ratio = moments[0].n_variables == 2
    if not ratio:
        return MetricEvidence(metric, tuple(moments), binary=all(map(_is_binary, moments)))
    if metric.expression.kind == "mean":
        expression = Expression("ratio", ("numerator", "denominator"))
        metric = replace(metric, expression=expression)
    return MetricEvidence(metric, tuple(moments))


def _moments(row: Row) -> UnitMoments:
    n, units = row["n"], row.get("units", math.nan)
    if math.isnan(n):
        raise RankstatsError("n is empty; the number of units is expected")
    if n > units:
        raise RankstatsError(f"n = {n:g} is more than the {units:g} units of the arm")
    parts = [row.get(name, math.nan) for name in RATIO_COLUMNS]
    if not any(math.isnan(part) for part in parts):
        return ratio_aggregates(n, **dict(zip(RATIO_COLUMNS, parts, strict=True)))
    mean, variance = (row.get(name, math.nan) for name in MEAN_COLUMNS)
    return aggregated_moments(n, 0.0 if n == 0 else mean, 0.0 if n < 2 else variance)


def _is_binary(moments: UnitMoments) -> bool:
    """Whether mean and variance are those of zeros and ones: no other values between 0 and 1 have them."""
    n, mean, variance = int(moments.n[0]), float(moments.mean[0, 0]), float(moments.covariance[0, 0, 0])
    if n < 2 or not 0 <= mean <= 1:
        return n < 2
    whole = abs(mean * n - round(mean * n)) <= 1e-6
    return whole and bool(np.isclose(variance, mean * (1 - mean) * n / (n - 1), rtol=1e-9, atol=1e-15))


def _units(arm: str, rows: Mapping[tuple[str, str], Row]) -> int:
    """Return the randomised units of an arm: those stated, else the largest n of its metrics."""
    counts = [row.get("units", math.nan) for (_, other), row in rows.items() if other == arm]
    stated = [count for count in counts if not math.isnan(count)]
    counts = stated or [row["n"] for (_, other), row in rows.items() if other == arm]
    return int(max(counts, default=0))


def aggregates_text(evidence: Evidence) -> str:
    """Return the aggregates of all metrics that have them as CSV, one row an arm and metric, numbers exact.

    Quantiles cannot be had from aggregates and are left out; roles, covariates and segments are not kept, so that
    effects read from the file are unadjusted. `summarise_experiment` keeps all of it.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for metric in evidence.metrics:
        for place, arm in enumerate(evidence.arms):
            if metric.arms:
                writer.writerow([arm, metric.metric.name, *_numbers_of(metric, place), evidence.units[place]])
    return out.getvalue()


def _numbers_of(metric: MetricEvidence, arm: int) -> list[str]:
    moments = metric.arms[arm].select([0])
    mean, spread = moments.mean[0], moments.covariance[0]
    if metric.is_ratio:
        parts = [mean[0], spread[0, 0], mean[1], spread[1, 1], spread[0, 1]]
        return [str(int(moments.n[0])), "", "", *map(_text, parts)]
    return [str(int(moments.n[0])), _text(mean[0]), _text(spread[0, 0]), *[""] * len(RATIO_COLUMNS)]


def _text(value: float) -> str:
    return "" if math.isnan(value) else repr(float(value))
