"""Differences under a stated mix of segments: what the queries judged would say about the queries asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankstats import stats
from rankstats.comparison.columns import Column, make_columns, overall_differences
from rankstats.comparison.evidence import Evidence
from rankstats.comparison.result import Interval, PostStratified, defined
from rankstats.comparison.segments import NONE, Attribute
from rankstats.conventions import SMALLEST_VERDICT_N
from rankstats.errors import PlanError, did_you_mean
from rankstats.plan import Plan


@dataclass(frozen=True, slots=True)
class _Mix:
    """Shares of an attribute's values, adding up to 1, and where they come from."""

    attribute: Attribute
    shares: NDArray[np.float64]
    source: str


def post_stratify(
    evidence: Evidence, plan: Plan, pairs: Sequence[tuple[int, int]], attributes: Sequence[Attribute]
) -> tuple[PostStratified, ...]:
    """Return the differences of all pairs and measures under the mix of each attribute that has one.

    The plan's `mix` states the shares of an attribute's values; else the measured traffic of the whole query table
    does, where there is one. Queries without a value of the attribute play no part. There is no interval where a
    segment of the mix has fewer than 10 queries, nor beside one-sided tests.

    Parameters
    ----------
    evidence : Evidence
        The values.
    plan : Plan
        Level and stated mixes.
    pairs : sequence of (int, int)
        Baseline and system indices.
    attributes : sequence of Attribute
        The segments.

    Raises
    ------
    PlanError
        If a stated mix names an attribute or a value that is not there.
    """
    mixes = _mixes(plan, attributes)
    if evidence.clusters is not None:
        if plan.mix:
            raise PlanError("--mix weights segments query by query and knows no clusters; leave out one of the two")
        return ()
    if not mixes:
        return ()
    columns = make_columns(evidence.scores, pairs, ())
    differences = overall_differences(evidence, columns, weighted=evidence.weights is not None)
    return tuple(row for mix in mixes for row in _rows(evidence, plan, mix, columns, differences))


def _mixes(plan: Plan, attributes: Sequence[Attribute]) -> list[_Mix]:
    known = {attribute.name: attribute for attribute in attributes}
    for name in plan.mix:
        if name not in known:
            listed = ", ".join(known) or "none"
            near = did_you_mean(name, known) or f"; add the segments (--segment {name})"
            raise PlanError(f"mix of {name!r}: it is not among the segments ({listed}){near}")
    found = []
    for name, attribute in known.items():
        if name in plan.mix:
            found.append(_Mix(attribute, _stated(attribute, plan.mix[name]), "stated"))
        elif attribute.share_of == "traffic":
            shares = np.where([value == NONE for value in attribute.values], 0.0, attribute.share)
            if shares.sum() > 0:
                found.append(_Mix(attribute, shares / shares.sum(), "traffic"))
    return found


def _stated(attribute: Attribute, mix: Mapping[str, float]) -> NDArray[np.float64]:
    values = [value for value in attribute.values if value != NONE]
    for value in mix:
        if value not in values:
            raise PlanError(
                f"mix of {attribute.name!r}: {value!r} is not among its values ({', '.join(values)})"
                + did_you_mean(value, values)
            )
    missing = [value for value in values if value not in mix]
    if missing:
        raise PlanError(
            f"mix of {attribute.name!r}: no share for {', '.join(repr(value) for value in missing)}; give every value "
            "one, 0 to leave it out"
        )
    shares = np.array([mix.get(value, 0.0) for value in attribute.values])
    return np.asarray(shares / shares.sum())


def _rows(
    evidence: Evidence, plan: Plan, mix: _Mix, columns: Sequence[Column], differences: stats.Differences
) -> list[PostStratified]:
    result = stats.post_stratified(differences, mix.attribute.code, mix.shares, alpha=plan.alpha)
    scores = evidence.scores
    shares = {
        value: float(share) for value, share in zip(mix.attribute.values, mix.shares.tolist(), strict=True) if share > 0
    }
    plain = differences.mean
    used = [k for k, share in enumerate(mix.shares.tolist()) if share > 0]
    sizes = np.array([differences.within(mix.attribute.code == k).n for k in used])
    # a segment of a few queries that agree would pass for certain
    told = (sizes.min(axis=0) >= SMALLEST_VERDICT_N) & (plan.alternative == "two-sided")
    return [
        PostStratified(
            measure=scores.measures[column.measure].name,
            baseline=scores.systems[column.baseline],
            system=scores.systems[column.system],
            weighting=evidence.weights_name if evidence.weights is not None else None,
            attribute=mix.attribute.name,
            mix=shares,
            source=mix.source,
            n=int(result.n[c]),
            plain=defined(plain[c]),
            difference=defined(result.estimate[c]),
            standard_error=defined(result.standard_error[c]) if told[c] else None,
            p_value=defined(result.p_value[c]) if told[c] else None,
            interval=Interval.from_ends(float(result.low[c]), float(result.high[c]), 1 - plan.alpha, "t, Satterthwaite")
            if told[c]
            else None,
        )
        for c, column in enumerate(columns)
    ]
