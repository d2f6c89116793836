"""Summary of a part of an experiment: sums that add up to those of the whole, with everything that was asked.

Merge law: let S(U) be the summary of the units U under one plan. For U and V without a common unit
S(U) + S(V) = S(U ∪ V), to the last bit; + is commutative and associative. So days that are summarised once can be
merged later, in any order and any grouping, and give what one pass over all rows gives. It holds for numbers of
units, sums, sums of products, Poisson resamples (decided by the hash of the unit's id), extremes and days. It does
not hold for quantiles, which are refused; caps are quantiles, too, and merge only where they are equal (then the cap
of all units is the same); segments cut at quantiles do not merge. Units in two summaries would count twice: they are
looked for, and refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import combinations
from typing import Any, Protocol, TypeVar

import numpy as np

from rankstats.errors import InputError
from rankstats.experiment.segments import natural_order
from rankstats.stats import ExactCubes, ExactMoments, ExactPoissonSums, UnitSketch, shared_units
from rankstats.tables.judgments import Source
from rankstats.wording import count

ByArm = Mapping[str, ExactMoments]

_QUANTILES = re.compile(r":q\d+")


class _Addable(Protocol):
    def __add__(self, other: Any) -> Any: ...


_T = TypeVar("_T", bound=_Addable)


@dataclass(frozen=True, slots=True)
class CellSums:
    """All units, or a segment: units by arm, and by metric and arm the moments and resamples."""

    attribute: str
    parts: tuple[str, ...]
    units: Mapping[str, int]
    sums: Mapping[str, ByArm]
    replicates: Mapping[str, Mapping[str, ExactPoissonSums]] = field(default_factory=dict)

    @property
    def value(self) -> str:
        """The value of the segment, as a readout names it."""
        return " + ".join(self.parts)


@dataclass(frozen=True, slots=True)
class Extremes:
    """The smallest and the largest value of an arm with the unit that has it; the first by id among equals."""

    low: tuple[float, str]
    high: tuple[float, str]

    def __add__(self, other: Extremes) -> Extremes:
        """Return those of the units of both."""
        high = min(self.high, other.high, key=lambda end: (-end[0], end[1]))
        return Extremes(min(self.low, other.low), high)


@dataclass(frozen=True, slots=True)
class MetricSums:
    """What a metric holds beside the sums of its cells, by arm; nothing that is zero is held.

    Attributes
    ----------
    binary : bool
        Whether every value is 0 or 1.
    empty_cells : int
        Cells of rows without a value.
    absent : mapping of str to int
        Units without a value.
    cap : float or None
        What larger values were set to.
    capped : mapping of str to int
        Units above the cap.
    uncapped : mapping of str to ExactMoments
        Moments before capping, over all units.
    cubes : mapping of str to ExactCubes
        Sums of products of three of the metric's one or two variables, over all units.
    extremes : mapping of str to Extremes
        Of means.
    on_day, to_date : mapping of str to mapping of str to ExactMoments
        By day: moments of the units with rows on the day, and with rows up to it.
    """

    binary: bool
    empty_cells: int = 0
    absent: Mapping[str, int] = field(default_factory=dict)
    cap: float | None = None
    capped: Mapping[str, int] = field(default_factory=dict)
    uncapped: ByArm = field(default_factory=dict)
    cubes: Mapping[str, ExactCubes] = field(default_factory=dict)
    extremes: Mapping[str, Extremes] = field(default_factory=dict)
    on_day: Mapping[str, ByArm] = field(default_factory=dict)
    to_date: Mapping[str, ByArm] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ExperimentSummary:
    """Sums of the units of an experiment, or of a part of them.

    Attributes
    ----------
    plan : mapping
        The settings under the keys of a plan file: metrics with roles, directions, margins, covariates and winsorising,
        segments, shares, control, unit, time, design, level. Parts of one experiment have one plan.
    resamples : int
        Poisson resamples that are held; 0 for none.
    seed : int
        Their seed.
    sources : tuple of Source
        Files with digests.
    rows : int
        Rows read.
    units : mapping of str to int
        Units of each arm.
    sketch : UnitSketch or None
        Which units they are; None where every row was taken as a unit.
    counts : mapping of str to int
        What was left out or odd, as in `Evidence`.
    notes : tuple of str
        What was decided and could surprise.
    cells : tuple of CellSums
        All units first, then the segments.
    metrics : mapping of str to MetricSums
        By name.
    covariates : mapping of str to mapping of str to ExactMoments
        Moments of each covariate by arm, over the units that have it.
    """

    plan: Mapping[str, Any]
    resamples: int
    seed: int
    sources: tuple[Source, ...]
    rows: int
    units: Mapping[str, int]
    sketch: UnitSketch | None
    counts: Mapping[str, Any]
    notes: tuple[str, ...]
    cells: tuple[CellSums, ...]
    metrics: Mapping[str, MetricSums]
    covariates: Mapping[str, ByArm]

    @property
    def segments(self) -> tuple[str, ...]:
        """The segment attributes of the plan."""
        return tuple(self.plan.get("comparison", {}).get("segments", ()))

    @property
    def n(self) -> int:
        """Units of all arms."""
        return sum(self.units.values())


def merge_summaries(parts: Sequence[ExperimentSummary], names: Sequence[str] = ()) -> ExperimentSummary:
    """Return the summary of all units of several parts of one experiment.

    Parameters
    ----------
    parts : sequence of ExperimentSummary
        Of disjoint sets of units, such as the units first exposed on each day, each with all of its rows.
    names : sequence of str, optional
        What they are called in errors.

    Returns
    -------
    ExperimentSummary
        The same in any order and any grouping, and the same as of one pass over all rows (but for `sources`).

    Raises
    ------
    InputError
        If plans, seeds or caps differ (the difference is named), segments are cut at quantiles of each part, or parts
        have units in common. With up to 16,384 units in each of two parts every common unit is found; above, the share
        p of units whose hashes both parts hold is compared, so that m common units stay unseen with probability
        (1 − p)**m.
    """
    if not parts:
        raise InputError("there is no summary to merge")
    called = list(names) or [f"summary {place}" for place in range(1, len(parts) + 1)]
    for place, part in enumerate(parts[1:], 1):
        _refuse_other_plans((parts[0], called[0]), (part, called[place]))
    _refuse_other_caps(parts, called)
    for first, second in _overlapping(parts):
        _refuse_shared_units((parts[first], called[first]), (parts[second], called[second]))
    if len(parts) > 1:
        _refuse_quantile_segments(parts[0], called[0])
    return reduce(_merged, parts)


# ── what cannot be merged ─────────────────────────────────────────────────────────────────────────────────────────────

Named = tuple[ExperimentSummary, str]


def _refuse_other_plans(first: Named, second: Named) -> None:
    (a, a_name), (b, b_name) = first, second
    difference = next(plan_differences(a.plan, b.plan), None)
    if difference is None and (a.resamples, a.seed) != (b.resamples, b.seed):
        difference = f"{b.resamples} resamples of seed {b.seed} there, {a.resamples} of seed {a.seed} in the first"
    if difference is None and (a.sketch is None) != (b.sketch is None):
        difference = "one holds units and the other rows"
    if difference is not None:
        raise InputError(
            f"is not of the same plan as {a_name}: {difference}. Summaries are merged only where they were made alike; "
            "make one of them again",
            b_name,
        )


def _refuse_other_caps(parts: Sequence[ExperimentSummary], names: Sequence[str]) -> None:
    for metric in parts[0].metrics:
        found = [(part.metrics[metric].cap, name) for part, name in zip(parts, names, strict=True)]
        caps = [(cap, name) for cap, name in found if cap is not None]
        for cap, name in caps[1:]:
            if cap != caps[0][0]:
                raise InputError(
                    f"metric {metric!r} is capped at {cap:.10g}, in {caps[0][1]} at {caps[0][0]:.10g}: a cap is a "
                    "quantile of all units, and sums of differently capped values do not add up. Cap the column at one "
                    "value before summarising, leave winsorising out, or read the rows together",
                    name,
                )


def plan_differences(first: Any, second: Any, where: str = "") -> Iterator[str]:
    """Yield what differs between two plans, in words.

    Examples
    --------
    >>> list(plan_differences({"a": {"role": "guard"}}, {"a": {"role": "primary"}}))
    ["a.role is 'primary' there, 'guard' in the first"]
    """
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        for key in sorted({*first, *second}):
            place = f"{where}.{key}" if where else str(key)
            yield from plan_differences(first.get(key), second.get(key), place)
        return
    if where.endswith(".metric") and isinstance(first, list) and isinstance(second, list):
        by_name = [{row["name"]: row for row in rows} for rows in (first, second)]
        place = where.replace("experiment.metric", "metric")
        if list(by_name[0]) == list(by_name[1]) or set(by_name[0]) != set(by_name[1]):
            yield from plan_differences(by_name[0], by_name[1], place)
            return
    if first != second:
        shown = ["not given" if value is None else repr(value) for value in (second, first)]
        yield f"{where.removeprefix('experiment.')} is {shown[0]} there, {shown[1]} in the first"


def _overlapping(parts: Sequence[ExperimentSummary]) -> Iterator[tuple[int, int]]:
    """Yield the pairs of parts whose sketches have a hash in common; all pairs where rows are no units."""
    sketches = [part.sketch for part in parts]
    if any(sketch is None for sketch in sketches):
        yield from combinations(range(len(parts)), 2)
        return
    hashes = np.concatenate([sketch.smallest for sketch in sketches if sketch is not None])
    places = np.repeat(np.arange(len(parts)), [len(sketch.smallest) for sketch in sketches if sketch is not None])
    order = np.argsort(hashes, kind="stable")
    twice = np.flatnonzero(hashes[order][1:] == hashes[order][:-1])
    yield from sorted({(int(places[order[at]]), int(places[order[at + 1]])) for at in twice})


def _refuse_shared_units(first: Named, second: Named) -> None:
    (a, a_name), (b, b_name) = first, second
    if a.sketch is None or b.sketch is None:
        common = {source.sha256 for source in a.sources} & {source.sha256 for source in b.sources}
        if common:
            raise InputError(f"holds rows of a file that {a_name} holds too; every row must be in one summary", b_name)
        return
    shared = shared_units(a.sketch, b.sketch)
    if shared.found:
        whole = shared.reach == 1
        much = count(shared.found, "unit") if whole else f"about {shared.estimate:,.0f} units"
        raise InputError(
            f"has {much} in common with {a_name}, which would count twice, with a part of their rows each. A unit "
            "belongs into one summary with all of its rows: summarise the units first exposed on a day together, and "
            "make the summary again when late rows of them arrive; or read the rows together",
            b_name,
        )


def _refuse_quantile_segments(part: ExperimentSummary, name: str) -> None:
    for text in part.segments:
        if _QUANTILES.search(text):
            raise InputError(
                f"segment {text!r} is cut at quantiles of the units of each summary, so that its classes are not the "
                "same in all of them. Write fixed classes into a column, or read the rows together",
                name,
            )


# ── sums of two ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _merged(a: ExperimentSummary, b: ExperimentSummary) -> ExperimentSummary:
    return ExperimentSummary(
        plan=a.plan,
        resamples=a.resamples,
        seed=a.seed,
        sources=tuple(sorted((*a.sources, *b.sources), key=lambda source: (source.name, source.sha256 or ""))),
        rows=a.rows + b.rows,
        units=_added(a.units, b.units),
        sketch=None if a.sketch is None or b.sketch is None else a.sketch + b.sketch,
        counts=_counts(a.counts, b.counts),
        notes=tuple(sorted({*a.notes, *b.notes})),
        cells=_cells((*a.cells, *b.cells), a.segments),
        metrics={name: _metric(metric, b.metrics[name]) for name, metric in a.metrics.items()},
        covariates=_each(a.covariates, b.covariates, _added),
    )


def _added(a: Mapping[str, _T], b: Mapping[str, _T]) -> dict[str, _T]:
    return {key: a[key] + b[key] if key in a and key in b else (a[key] if key in a else b[key]) for key in _keys(a, b)}


def _keys(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[str]:
    return sorted({*a, *b})


def _each(a: Mapping[str, Any], b: Mapping[str, Any], add: Callable[[Any, Any], Any]) -> dict[str, Any]:
    return {key: add(a.get(key, {}), b.get(key, {})) for key in _keys(a, b)}


def _counts(a: Mapping[str, Any], b: Mapping[str, Any]) -> dict[str, Any]:
    """Add numbers; a text (the column that repeats) is that of either."""
    return {
        key: a[key] + b[key] if isinstance(a.get(key), int) and isinstance(b.get(key), int) else a.get(key, b.get(key))
        for key in _keys(a, b)
    }


def _cells(cells: Iterable[CellSums], segments: Sequence[str]) -> tuple[CellSums, ...]:
    found: dict[tuple[str, tuple[str, ...]], CellSums] = {}
    for cell in cells:
        key = cell.attribute, cell.parts
        found[key] = _cell(found[key], cell) if key in found else cell
    return in_order(found.values(), segments)


def in_order(cells: Iterable[CellSums], segments: Sequence[str]) -> tuple[CellSums, ...]:
    """Return all units first, then the segments: attributes as asked for, values in their natural order."""
    place = {"": -1, **{text.strip(): at for at, text in enumerate(segments)}}

    def order(cell: CellSums) -> tuple[Any, ...]:
        # classes made of quantiles stand in their order already
        return place[cell.attribute], () if _QUANTILES.search(cell.attribute) else natural_order(cell.parts)

    return tuple(sorted(cells, key=order))


def _cell(a: CellSums, b: CellSums) -> CellSums:
    return replace(
        a,
        units=_added(a.units, b.units),
        sums=_each(a.sums, b.sums, _added),
        replicates=_each(a.replicates, b.replicates, _added),
    )


def _metric(a: MetricSums, b: MetricSums) -> MetricSums:
    days = _keys(a.to_date, b.to_date)
    return MetricSums(
        binary=a.binary and b.binary,
        empty_cells=a.empty_cells + b.empty_cells,
        absent=_added(a.absent, b.absent),
        cap=b.cap if a.cap is None else a.cap,
        capped=_added(a.capped, b.capped),
        uncapped=_added(a.uncapped, b.uncapped),
        cubes=_added(a.cubes, b.cubes),
        extremes=_added(a.extremes, b.extremes),
        on_day=_each(a.on_day, b.on_day, _added),
        to_date={day: _added(_latest(a.to_date, day), _latest(b.to_date, day)) for day in days},
    )


def _latest(to_date: Mapping[str, ByArm], day: str) -> ByArm:
    """Return the moments up to a day, on which the part may have no rows."""
    known = [other for other in to_date if other <= day]
    return to_date[max(known)] if known else {}
