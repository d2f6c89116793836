"""Summaries to evidence: what a readout needs, rounded once from the exact sums."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path

import numpy as np

from rankstats.errors import InputError, PlanError, did_you_mean
from rankstats.experiment.arms import designed_shares, order_arms
from rankstats.experiment.evidence import Cell, Dominant, Evidence, MetricEvidence
from rankstats.experiment.metrics import Metric
from rankstats.experiment.segments import attribute_of, refuse_many_values
from rankstats.experiment.settings import ExperimentSettings, settings_from_plan
from rankstats.experiment.skewness import are_unequal
from rankstats.experiment.summary import CellSums, ExperimentSummary, MetricSums
from rankstats.experiment.summary_files import is_summary, read_summaries
from rankstats.plan import plan_from_document
from rankstats.stats import (
    DailyMoments,
    ExactMoments,
    ExactPoissonSums,
    PoissonSums,
    UnitMoments,
    WinsorisingCap,
    exact_moments,
    moments_of,
    no_moments,
    rounded_poisson_sums,
)
from rankstats.stats.exact_moments import third_moment
from rankstats.tables.judgments import Source

DOMINATES = 0.1
"""Share of an arm's sum of squares from which one unit is named."""
_LEAST_UNITS = 50
_FROM_ROWS = ("assignments", "exposed_at", "time", "trigger", "unit", "arm")


def holds_summaries(settings: ExperimentSettings) -> bool:
    """Whether the files of the settings are summaries.

    Raises
    ------
    InputError
        If some are and some are not, or a summary is named ARM=FILE.
    """
    kinds = [is_summary(path) for _, path in settings.rows]
    if any(kinds) and not all(kinds):
        other = settings.rows[kinds.index(False)][1]
        raise InputError(
            "is no summary, while other files are; summarise its rows first (rankstats ab ROWS --summary-out FILE)",
            other,
        )
    for arm, path in settings.rows if any(kinds) else ():
        if arm is not None:
            raise InputError(f"is a summary, which holds all arms; give it without {arm}=", path)
    return any(kinds)


def evidence_of_files(settings: ExperimentSettings) -> Evidence:
    """Return the evidence that the summaries named in the settings hold together."""
    return evidence_of_summary(read_summaries([path for _, path in settings.rows]), settings)


def settings_of_summary(summary: ExperimentSummary, **changes: object) -> ExperimentSettings:
    """Return the settings that a summary was made under, with some of them replaced.

    Raises
    ------
    PlanError
        If the plan holds something that this version does not know.
    """
    settings = settings_from_plan(plan_from_document(summary.plan))
    return replace(settings, **changes)  # type: ignore[arg-type]  # checked by the settings


def completed_settings(settings: ExperimentSettings, summary: ExperimentSummary) -> ExperimentSettings:
    """Return the settings with everything that they leave at its default taken from the summary."""
    default, held = ExperimentSettings(), settings_of_summary(summary)
    given = {
        field.name: getattr(settings, field.name)
        for field in fields(settings)
        if getattr(settings, field.name) != getattr(default, field.name)
    }
    return replace(held, **given)


def evidence_of_summary(summary: ExperimentSummary, settings: ExperimentSettings) -> Evidence:
    """Return the evidence of a summary.

    Parameters
    ----------
    summary : ExperimentSummary
        One part, or several merged.
    settings : ExperimentSettings
        Metrics (all of the summary where there are none), segments, control and shares may be chosen anew; what was
        added up may not.

    Raises
    ------
    PlanError
        If something is asked for that the summary does not hold.
    """
    whole = completed_settings(settings, summary)
    held = settings_of_summary(summary)
    _refuse_other_sums(whole, held)
    place = ", ".join(source.name for source in summary.sources)
    arms, note = order_arms(summary.units, whole, place)
    cells, notes = _cells(summary, whole)
    metrics = tuple(_metric(metric, summary, arms, cells) for metric in whole.metrics)
    ratios = [m.metric.name for m in metrics if m.is_ratio]
    if ratios:
        notes.append(f"Whether one unit carries {', '.join(ratios)} does not follow from sums and was not looked at.")
    return Evidence(
        arms=arms,
        units=_by_arm(summary.units, arms),
        shares=designed_shares(arms, whole.shares),
        cells=tuple(Cell(cell.attribute, cell.value, _by_arm(cell.units, arms)) for cell in cells),
        metrics=with_replicates(metrics, summary, arms, [Cell(c.attribute, c.value, ()) for c in cells]),
        unit=held.unit,
        source_kind="summaries",
        covariates={
            name: tuple(_one(summary.covariates[name].get(arm)) for arm in arms)
            for name in dict.fromkeys(c for metric in whole.metrics for c in metric.covariate)
        },
        sources=_files(settings) or summary.sources,
        rows=summary.rows,
        counts=summary.counts,
        notes=(*([note] if note else []), *summary.notes, *notes),
        summary=summary,
    )


def _files(settings: ExperimentSettings) -> tuple[Source, ...]:
    """Return the summaries as sources of a report."""
    found = []
    for _, path in settings.rows:
        content = Path(path).read_bytes()
        found.append(Source(path, hashlib.sha256(content).hexdigest(), len(content)))
    return tuple(found)


def _one(sums: ExactMoments | None) -> UnitMoments:
    return (sums or no_moments(1)).moments()


def _by_arm(counts: Mapping[str, int], arms: Sequence[str]) -> tuple[int, ...]:
    return tuple(counts.get(arm, 0) for arm in arms)


def _refuse_other_sums(asked: ExperimentSettings, held: ExperimentSettings) -> None:
    """Raise where the readout would need other sums than there are; roles, directions and margins may be others."""
    for name in _FROM_ROWS:
        if getattr(asked, name) not in (None, getattr(held, name)):
            raise PlanError(
                f"{name} = {getattr(asked, name)!r} cannot be had from a summary; summarise the rows with it"
            )
    for text in asked.segments:
        if text not in held.segments:
            raise PlanError(
                f"segment {text!r} is not in the summary ({', '.join(held.segments) or 'no segments'}); summarise the "
                "rows with it" + did_you_mean(text, held.segments)
            )
    known = {metric.name: metric for metric in held.metrics}
    for metric in asked.metrics:
        if metric.name not in known:
            raise PlanError(
                f"metric {metric.name!r} is not in the summary ({', '.join(known)})" + did_you_mean(metric.name, known)
            )
        for what in ("expression", "covariate", "winsorise"):
            there, here = getattr(known[metric.name], what), getattr(metric, what)
            if there != here:
                shown = known[metric.name].text if what == "expression" else there or "nothing"
                raise PlanError(
                    f"metric {metric.name!r}: the summary was made with {what} {shown!r}; another one needs the rows"
                )


def _cells(summary: ExperimentSummary, settings: ExperimentSettings) -> tuple[list[CellSums], list[str]]:
    """Return all units and the segments that are asked for, and what there is to say about them."""
    cells, notes = [summary.cells[0]], []
    for text in settings.segments:
        attribute = attribute_of(text)
        own = [cell for cell in summary.cells if cell.attribute == attribute.name]
        refuse_many_values(attribute, len(own))
        if len(own) < 2:
            notes.append(f"All units have one value of {attribute.name}: it makes no segments.")
            continue
        cells += own
    return cells, notes


def _metric(metric: Metric, summary: ExperimentSummary, arms: tuple[str, ...], cells: list[CellSums]) -> MetricEvidence:
    own, name = summary.metrics[metric.name], metric.name
    ratio = metric.expression.kind == "ratio"
    size = (2 if ratio else 1) + 2 * len(metric.covariate)
    sums = [[cell.sums.get(name, {}).get(arm, no_moments(size)) for cell in cells] for arm in arms]
    kept = _kept(sums, size, len(metric.covariate))
    n = sum(of_arm[0].n for of_arm in sums)
    binary = own.binary and not ratio and n > 0
    uncapped = [own.uncapped.get(arm, no_moments(size)).variables(kept).moments() for arm in arms]
    return MetricEvidence(
        metric,
        tuple(moments_of([cell.variables(kept) for cell in of_arm]) for of_arm in sums),
        binary=binary,
        uncapped=tuple(uncapped) if own.uncapped else (),
        cap=None if own.cap is None else _cap(metric, own, [of_arm[0].n for of_arm in sums], arms),
        dominant=None if binary or ratio else _dominant(own, [of_arm[0].variables([0]) for of_arm in sums], arms),
        thirds=() if binary else _thirds(own, [of_arm[0].variables([0, 1][: 1 + ratio]) for of_arm in sums], arms),
        absent=_by_arm(own.absent, arms),
        empty_cells=own.empty_cells,
        daily=_daily(own, 2 if ratio else 1, arms) if metric.role == "primary" else (),
    )


def _kept(sums: Sequence[Sequence[ExactMoments]], size: int, covariates: int) -> list[int]:
    """Return the variables that are used: the indicator of a missing covariate only where one is missing."""
    first = size - 2 * covariates
    missing = [any(of_arm[0].sums[first + 2 * place + 1] for of_arm in sums) for place in range(covariates)]
    pairs = [[first + 2 * place, *([first + 2 * place + 1] if missing[place] else [])] for place in range(covariates)]
    return [*range(first), *(variable for pair in pairs for variable in pair)]


def _cap(metric: Metric, own: MetricSums, n: list[int], arms: tuple[str, ...]) -> WinsorisingCap:
    capped, units = np.array(_by_arm(own.capped, arms), dtype=np.int64), np.array(n, dtype=np.int64)
    share = capped / np.where(units > 0, units, np.nan)
    return WinsorisingCap(capped, share, units, float(own.cap or 0.0), float(metric.winsorise or 0.0), False)


def _thirds(own: MetricSums, sums: list[ExactMoments], arms: tuple[str, ...]) -> tuple[float, ...]:
    """Return third moments of the arms, where their sizes differ enough for them to matter."""
    if not are_unequal([moments.n for moments in sums]):
        return ()
    return tuple(third_moment(moments, own.cubes[arm]) for arm, moments in zip(arms, sums, strict=True))


def _dominant(own: MetricSums, sums: list[ExactMoments], arms: tuple[str, ...]) -> Dominant | None:
    """Return the unit with the largest share of its arm's sum of squares: the smallest or the largest value has it."""
    best: Dominant | None = None
    for place, (arm, whole) in enumerate(zip(arms, sums, strict=True)):
        if whole.n < _LEAST_UNITS:
            continue
        moments = whole.moments()
        mean, squares = float(moments.mean[0, 0]), float(moments.covariance[0, 0, 0]) * (whole.n - 1)
        ends = (own.extremes[arm].low, own.extremes[arm].high)
        value, unit = max(ends, key=lambda end: abs(end[0] - mean))
        share = (value - mean) ** 2 / squares if squares > 0 else 0.0
        if share > DOMINATES and (best is None or share > best.share):
            best = Dominant(unit, place, value, share, (whole - exact_moments([value])).moments())
    return best


def _daily(own: MetricSums, size: int, arms: tuple[str, ...]) -> tuple[DailyMoments, ...]:
    days = sorted(own.to_date)
    if len(days) < 2:
        return ()
    return tuple(
        DailyMoments(
            np.array(days),
            *(
                moments_of([of_days.get(day, {}).get(arm, no_moments(size)) for day in days])
                for of_days in (own.on_day, own.to_date)
            ),
        )
        for arm in arms
    )


def with_replicates(
    metrics: tuple[MetricEvidence, ...], summary: ExperimentSummary, arms: tuple[str, ...], cells: Sequence[Cell]
) -> tuple[MetricEvidence, ...]:
    """Return the metrics with the resamples that a summary holds of them."""
    if not summary.resamples:
        return metrics
    held = {(cell.attribute, cell.value): cell.replicates for cell in summary.cells}
    nothing = ExactPoissonSums((0, 0), ((0,) * summary.resamples,) * 2, summary.seed)

    def of_arm(name: str, arm: str) -> PoissonSums:
        return rounded_poisson_sums(
            [held.get((cell.attribute, cell.value), {}).get(name, {}).get(arm, nothing) for cell in cells]
        )

    return tuple(
        replace(metric, replicates=tuple(of_arm(metric.metric.name, arm) for arm in arms)) for metric in metrics
    )
