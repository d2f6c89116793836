"""All differences of a comparison: rows with their tests and sizes, and the families they are corrected in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankstats import stats
from rankstats.comparison.collecting import canonical_name
from rankstats.comparison.columns import Block, Column, make_block, make_columns, two_sided_alpha
from rankstats.comparison.condensed import make_condensed
from rankstats.comparison.coverage import make_coverage, reason_to_withhold, withheld
from rankstats.comparison.evidence import Evidence
from rankstats.comparison.families import Place, place_all
from rankstats.comparison.heterogeneity import attribute_tests
from rankstats.comparison.influence import carried_claims
from rankstats.comparison.leaks import reason_of_leak
from rankstats.comparison.pair_draws import PairDraws
from rankstats.comparison.result import (
    CondensedDifference,
    Coverage,
    Difference,
    Distribution,
    Family,
    Heterogeneity,
    Interval,
    OtherTest,
    Robustness,
    TieEffect,
    defined,
)
from rankstats.comparison.robustness import make_robustness
from rankstats.comparison.segments import NONE, Attribute
from rankstats.comparison.significance import ESTIMANDS, GUARDED, Tested, bootstrap
from rankstats.comparison.ties import make_tie_effects
from rankstats.conventions import RANK_TESTS, SMALLEST_VERDICT_N
from rankstats.plan import Plan
from rankstats.tables import exact_mean

_MOST_DISTRIBUTIONS = 100
"""Claims up to which the resampled means are kept as histograms."""


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
    robustness : tuple of Robustness
        One a claim over all queries.
    coverage : tuple of Coverage
        One a claim over all queries, where lists and judgments are known.
    condensed : tuple of CondensedDifference
        The same claims on condensed lists.
    tie_effects : tuple of TieEffect
        Claims on which tied scores change a value.
    carried_by : tuple of (Difference, str)
        Claims that fall when one query is left out, and that query.
    """

    differences: tuple[Difference, ...]
    families: tuple[Family, ...]
    distributions: tuple[Distribution, ...]
    heterogeneity: tuple[Heterogeneity, ...]
    confirmatory: tuple[Difference, ...]
    plain: tuple[Difference, ...]
    robustness: tuple[Robustness, ...]
    coverage: tuple[Coverage, ...]
    condensed: tuple[CondensedDifference, ...]
    tie_effects: tuple[TieEffect, ...]
    carried_by: tuple[tuple[Difference, str], ...]


def analyse(
    evidence: Evidence,
    plan: Plan,
    pairs: Sequence[tuple[int, int]],
    primary: Sequence[int],
    attributes: Sequence[Attribute],
    *,
    draws: PairDraws,
) -> Analysis:
    """Test every measure, pair and segment, with and without weights, and correct within families.

    The claims, under the plan's weights, are the confirmatory family: the overall differences of the primary measures
    unless the plan's `family` widens it. Everything else is exploratory and corrected together by Benjamini and
    Hochberg's procedure.

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
    draws : PairDraws
        Takes joint resamples of all pairs, for the standings.
    """
    columns = make_columns(evidence.scores, pairs, attributes)
    claims = [c for c, column in enumerate(columns) if _is_claim(column, evidence, plan, primary)]
    weightings = [False] if evidence.weights is None else [True, False]
    blocks = [
        make_block(evidence, plan, columns, attributes, claims, weighted=weighted, first_id=k * len(columns))
        for k, weighted in enumerate(weightings)
    ]
    places, families = place_all(evidence, plan, blocks, claims, draws=draws)
    sizes = {family.id: family.size for family in families}
    rows = {
        block.id(c): _row(evidence, plan, block, c, place=places[block.id(c)], family_sizes=sizes)
        for block in blocks
        for c in range(len(columns))
    }
    confirmatory = tuple(rows[blocks[0].id(c)] for c in claims)
    coverage = make_coverage(evidence, plan, blocks[0], claims, confirmatory)
    rows |= _withheld_rows(evidence, rows, coverage)
    confirmatory = tuple(rows[blocks[0].id(c)] for c in claims)
    return Analysis(
        differences=tuple(rows.values()),
        families=families,
        distributions=_distributions(blocks[0], claims, plan),
        heterogeneity=attribute_tests(evidence, plan, pairs, attributes),
        confirmatory=confirmatory,
        plain=tuple(rows[blocks[1].id(c)] for c in claims) if len(blocks) > 1 else (),
        robustness=make_robustness(evidence, blocks[0], claims),
        coverage=coverage,
        condensed=make_condensed(evidence, plan, blocks[0], claims, confirmatory),
        tie_effects=make_tie_effects(evidence, plan, blocks[0], claims, confirmatory),
        carried_by=carried_claims(evidence, plan, blocks[0], claims, confirmatory),
    )


def _withheld_rows(
    evidence: Evidence, rows: Mapping[str, Difference], coverage: Sequence[Coverage]
) -> dict[str, Difference]:
    """Return the rows without a verdict, with the reason.

    Unjudged documents withhold the claim, its segments and both weightings, which rest on the same lists; a leak of the
    judgments withholds every measure.
    """
    leak = reason_of_leak(evidence)
    reasons = {
        (found.measure, found.baseline, found.system): reason_to_withhold(found)
        for found in coverage
        if withheld(found, rows[found.difference_id])
    }
    leaked = {info.name for info in evidence.scores.measures if leak is not None and not info.diagnostic}
    return {
        key: replace(row, withheld=leak if row.measure in leaked else reasons[row.measure, row.baseline, row.system])
        for key, row in rows.items()
        if row.measure in leaked or (row.measure, row.baseline, row.system) in reasons
    }


def _is_claim(column: Column, evidence: Evidence, plan: Plan, primary: Sequence[int]) -> bool:
    if column.attribute is not None and (plan.family != "segments" or column.value == NONE):
        return False
    if plan.family == "measures":
        return column.measure in primary or not evidence.scores.measures[column.measure].diagnostic
    return column.measure in primary


def _row(
    evidence: Evidence, plan: Plan, block: Block, c: int, *, place: Place, family_sizes: Mapping[str, int]
) -> Difference:
    column, tested = block.columns[c], block.tested[plan.test]
    info = evidence.scores.measures[column.measure]
    before, after = _mean(block.baseline[:, c], block), _mean(block.system[:, c], block)
    difference = _difference(before, after, float(block.sizes.estimate[c]))
    relative = Interval.from_ends(
        float(block.relative.low[c]), float(block.relative.high[c]), 1 - plan.alpha, "Fieller"
    )
    members = family_sizes[place.family] if place.correction != "bh" else 1
    # a ratio of two mean logarithms says nothing
    logarithms = info.aggregate == "geometric mean"
    return Difference(
        id=block.id(c),
        measure=info.name,
        baseline=evidence.scores.systems[column.baseline],
        system=evidence.scores.systems[column.system],
        segment=column.segment,
        weighting=block.weighting,
        estimand=ESTIMANDS[plan.test] if block.weighting is None else "weighted " + ESTIMANDS[plan.test],
        n=int(block.sizes.n[c]),
        n_clusters=None if block.clusters is None else int(block.units.n[c]),
        mean_baseline=before,
        mean_system=after,
        difference=difference,
        standard_error=defined(block.standard_error[c]),
        relative_difference=None if logarithms else defined(block.relative.estimate[c]),
        relative_interval=None if logarithms else relative,
        margin=_margin(plan, info.name),
        test=plan.test,
        estimate=_estimate(tested, c, difference),
        p_value=defined(tested.p_value[c]),
        smallest_p=_smallest_p(block, c, place, members),
        alternative=plan.alternative,
        interval=tested.interval(c),
        p_adjusted=defined(place.p_adjusted),
        adjusted_interval=place.interval,
        family=place.family,
        role=place.role,
        correction=place.correction,
        higher_is_better=info.higher_is_better,
        also=_also(block, c, plan.test),
        also_adjusted=place.others,
        detectable_in_family=_detectable(block, c, two_sided_alpha(plan) / members, plan.test),
        **_sizes(block, c, higher_is_better=info.higher_is_better),
    )


def _sizes(block: Block, c: int, *, higher_is_better: bool) -> dict[str, Any]:
    """The fields that describe size; wins are queries on which the system is better."""
    sizes = block.sizes
    wins, losses, superiority = int(sizes.wins[c]), int(sizes.losses[c]), float(sizes.superiority[c])
    if not higher_is_better:
        wins, losses, superiority = losses, wins, 1 - superiority
    return {
        "n_effective": defined(block.units.n_effective[c]),
        "wins": wins,
        "ties": int(sizes.ties[c]),
        "losses": losses,
        # where every difference is 0 the grid has no finest step
        "tie_tolerance": defined(block.differences.unit[c]) if block.differences.integers[:, c].any() else 0.0,
        "effect_size": defined(sizes.effect_size[c]),
        "probability_of_superiority": defined(superiority),
        "smallest_detectable": defined(block.units.smallest_detectable[c]),
    }


def _margin(plan: Plan, measure: str) -> float | None:
    """The margin of a measure, under whatever spelling the plan gives it."""
    found = [size for name, size in plan.margin.items() if measure in (name, canonical_name(name))]
    return found[0] if found else None


def _estimate(tested: Tested, c: int, difference: float | None) -> float | None:
    """The parameter of the test; for tests of the mean the difference itself, to the last bit."""
    return defined(tested.estimate[c]) if tested.test in RANK_TESTS else difference


def _smallest_p(block: Block, c: int, place: Place, members: int) -> float | None:
    """The smallest adjusted p that the sign flips and the correction can give."""
    smallest = float(block.tested["randomisation"].smallest_p[c])
    return defined(min(1.0, smallest * (members if place.correction in ("bonferroni", GUARDED) else 1)))


def _detectable(block: Block, c: int, alpha: float, test: str) -> float | None:
    """The mean difference that a paired t test at `alpha` finds with power .8; None where the data cannot say."""
    error, n = float(block.standard_error[c]), float(block.units.n_effective[c])
    if not error > 0 or n < SMALLEST_VERDICT_N or test in RANK_TESTS:
        return None
    return defined(_detectable_shift(int(n), alpha) * error)


@cache
def _detectable_shift(n: int, alpha: float) -> float:
    return float(stats.detectable_shift(n, alpha=alpha))


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
    shown = [OtherTest(t.test, defined(t.p_value[c]), t.interval(c)) for t in tests]
    if block.intervals is not None and block.columns[c].attribute is None:
        shown += _asked_intervals(block.intervals, c)
    return tuple(shown)


def _asked_intervals(intervals: stats.BootstrapIntervals, c: int) -> list[OtherTest]:
    """The bootstrap intervals asked for by name; they carry no p-value."""
    level = 1 - intervals.alpha
    return [
        OtherTest(
            name,
            None,
            Interval.from_ends(float(intervals.low[c, k]), float(intervals.high[c, k]), level, f"bootstrap, {name}"),
        )
        for k, name in enumerate(intervals.methods)
    ]


def _distributions(block: Block, claims: Sequence[int], plan: Plan) -> tuple[Distribution, ...]:
    if len(claims) > _MOST_DISTRIBUTIONS:
        return ()
    result = bootstrap(block.differences.select(np.asarray(claims)), plan, clusters=block.clusters)
    return tuple(
        Distribution(block.id(c), tuple(result.edges[k].tolist()), tuple(result.counts[k].tolist()))
        for k, c in enumerate(claims)
        if block.sizes.n[c] > 0
    )
