"""All differences of a comparison: rows with their tests and sizes, and the families they are corrected in."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankstats import stats
from rankstats.comparison.columns import Block, make_block, make_columns
from rankstats.comparison.evidence import Evidence
from rankstats.comparison.heterogeneity import attribute_tests
from rankstats.comparison.influence import carried_claims
from rankstats.comparison.result import (
    Difference,
    Distribution,
    Family,
    Heterogeneity,
    Interval,
    OtherCorrection,
    OtherTest,
)
from rankstats.comparison.segments import Attribute
from rankstats.comparison.significance import (
    ESTIMANDS,
    Corrected,
    bootstrap,
    chosen_correction,
    correct,
    other_corrections,
)
from rankstats.plan import Plan
from rankstats.tables import exact_mean


@dataclass(frozen=True, slots=True)
class Analysis:
    """Everything that was tested.

    Attributes
    ----------
    differences : tuple of Difference
        All, in the order of their ids.
    families : tuple of Family
        Confirmatory and exploratory.
    distributions : tuple of Distribution
        Of the confirmatory differences.
    heterogeneity : tuple of Heterogeneity
        One an attribute, measure and pair.
    confirmatory : tuple of Difference
        The claims.
    plain : tuple of Difference
        With weights: the claims' unweighted twins.
    carried_by : tuple of (Difference, str)
        Claims that fall when one query is left out, and that query.
    """

    differences: tuple[Difference, ...]
    families: tuple[Family, ...]
    distributions: tuple[Distribution, ...]
    heterogeneity: tuple[Heterogeneity, ...]
    confirmatory: tuple[Difference, ...]
    plain: tuple[Difference, ...]
    carried_by: tuple[tuple[Difference, str], ...]


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a difference stands: its family, and its correction there."""

    family: str
    correction: str
    p_adjusted: float
    interval: Interval | None
    others: tuple[OtherCorrection, ...] = ()


def analyse(
    evidence: Evidence,
    plan: Plan,
    pairs: Sequence[tuple[int, int]],
    primary: Sequence[int],
    attributes: Sequence[Attribute],
) -> Analysis:
    """Test every measure, pair and segment, with and without weights, and correct within families.

    The overall differences of the primary measures, under the plan's weights, are the confirmatory family; everything
    else is exploratory and corrected together by Benjamini and Hochberg's procedure.

    Parameters
    ----------
    evidence : Evidence
        The values.
    plan : Plan
        Tests, correction, level, resamples, seed.
    pairs : sequence of (int, int)
        Baseline and system indices.
    primary : sequence of int
        Indices of the primary measures.
    attributes : sequence of Attribute
        The segments.
    """
    columns = make_columns(evidence.scores, pairs, attributes)
    claims = [c for c, column in enumerate(columns) if column.attribute is None and column.measure in primary]
    weightings = [False] if evidence.weights is None else [True, False]
    blocks = [
        make_block(evidence, plan, columns, attributes, claims, weighted=weighted, first_id=k * len(columns))
        for k, weighted in enumerate(weightings)
    ]
    places = _exploratory(blocks, claims, plan) | _confirmatory(blocks[0], claims, plan)
    rows = {
        block.id(c): _row(evidence, plan, block, c, places[block.id(c)])
        for block in blocks
        for c in range(len(columns))
    }
    confirmatory = tuple(rows[blocks[0].id(c)] for c in claims)
    return Analysis(
        differences=tuple(rows.values()),
        families=_families(tuple(rows.values()), plan),
        distributions=_distributions(blocks[0], claims, plan),
        heterogeneity=attribute_tests(evidence, plan, pairs, attributes),
        confirmatory=confirmatory,
        plain=tuple(rows[blocks[1].id(c)] for c in claims) if len(blocks) > 1 else (),
        carried_by=carried_claims(evidence, plan, blocks[0], claims, confirmatory),
    )


def _confirmatory(block: Block, claims: Sequence[int], plan: Plan) -> dict[str, _Place]:
    tested = block.tested[plan.test]
    smallest_n = int(block.differences.n[list(claims)].min())
    correction = chosen_correction(plan, len(claims), smallest_n)
    chosen = correct(correction, tested, block.differences, claims, plan)
    others = other_corrections(correction, tested, block.differences, claims, plan, smallest_n=smallest_n)
    return {
        block.id(c): _Place(
            "confirmatory",
            correction,
            float(chosen.p_adjusted[k]),
            chosen.interval(k),
            tuple(_other(name, other, k) for name, other in others.items()),
        )
        for k, c in enumerate(claims)
    }


def _other(name: str, other: Corrected, member: int) -> OtherCorrection:
    return OtherCorrection(name, _defined(other.p_adjusted[member]), other.interval(member))


def _exploratory(blocks: Sequence[Block], claims: Sequence[int], plan: Plan) -> dict[str, _Place]:
    claimed = set(claims)
    members = [
        (block, c) for k, block in enumerate(blocks) for c in range(len(block.columns)) if k > 0 or c not in claimed
    ]
    p_values = np.array([block.tested[plan.test].p_value[c] for block, c in members])
    adjusted = stats.adjust(p_values, "bh") if members else p_values
    return {
        block.id(c): _Place("exploratory", "bh", float(p), None)
        for (block, c), p in zip(members, adjusted.tolist(), strict=True)
    }


def _families(rows: Sequence[Difference], plan: Plan) -> tuple[Family, ...]:
    families = []
    for role in ("confirmatory", "exploratory"):
        members = [row for row in rows if row.role == role]
        if members:
            families.append(Family(role, role, members[0].correction, plan.alpha, tuple(row.id for row in members)))
    return tuple(families)


def _row(evidence: Evidence, plan: Plan, block: Block, c: int, place: _Place) -> Difference:
    column, tested = block.columns[c], block.tested[plan.test]
    info = evidence.scores.measures[column.measure]
    before, after = _mean(block.baseline[:, c], block), _mean(block.system[:, c], block)
    relative = Interval.from_ends(
        float(block.relative.low[c]), float(block.relative.high[c]), 1 - plan.alpha, "Fieller"
    )
    sizes = block.sizes
    single = place.family == "confirmatory" and place.correction == "none"
    return Difference(
        id=block.id(c),
        measure=info.name,
        baseline=evidence.scores.systems[column.baseline],
        system=evidence.scores.systems[column.system],
        segment=column.segment,
        weighting=block.weighting,
        estimand=ESTIMANDS[plan.test] if block.weighting is None else "weighted " + ESTIMANDS[plan.test],
        n=int(block.differences.n[c]),
        mean_baseline=before,
        mean_system=after,
        difference=_difference(before, after, float(sizes.estimate[c])),
        standard_error=_defined(block.differences.standard_error[c]),
        n_effective=_defined(sizes.n_effective[c]),
        relative_difference=_defined(block.relative.estimate[c]),
        relative_interval=relative,
        margin=plan.margin.get(info.name),
        test=plan.test,
        p_value=_defined(tested.p_value[c]),
        interval=tested.interval(c),
        p_adjusted=_defined(place.p_adjusted),
        adjusted_interval=tested.interval(c) if single else place.interval,
        family=place.family,
        role=place.family,
        correction=place.correction,
        higher_is_better=info.higher_is_better,
        also=_also(block, c, plan.test),
        also_adjusted=place.others,
        wins=int(sizes.wins[c]),
        ties=int(sizes.ties[c]),
        losses=int(sizes.losses[c]),
        tie_tolerance=_defined(block.differences.unit[c]),
        effect_size=_defined(sizes.effect_size[c]),
        probability_of_superiority=_defined(sizes.superiority[c]),
        smallest_detectable=_defined(sizes.smallest_detectable[c]),
    )


def _difference(before: float | None, after: float | None, estimate: float) -> float | None:
    """Difference of the means; 0 where every per-query difference is a tie, whatever the last bits of the means say."""
    if before is None or after is None:
        return None
    return after - before if estimate != 0 else 0.0


def _mean(values: NDArray[np.float64], block: Block) -> float | None:
    known = ~np.isnan(values)
    return exact_mean(values[known], block.differences.weights[known])


def _also(block: Block, c: int, chosen: str) -> tuple[OtherTest, ...]:
    tests = [tested for test, tested in block.tested.items() if test != chosen]
    if block.columns[c].attribute is None:
        tests += list(block.overall.values())
    return tuple(OtherTest(t.test, _defined(t.p_value[c]), t.interval(c)) for t in tests)


def _defined(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _distributions(block: Block, claims: Sequence[int], plan: Plan) -> tuple[Distribution, ...]:
    result = bootstrap(block.differences.select(np.asarray(claims)), plan)
    return tuple(
        Distribution(block.id(c), tuple(result.edges[k].tolist()), tuple(result.counts[k].tolist()))
        for k, c in enumerate(claims)
        if block.differences.n[c] > 0
    )
