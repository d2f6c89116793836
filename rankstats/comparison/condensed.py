"""Claims on condensed lists: compared again with the unjudged documents taken out of all lists.

As judged, a document without a judgment counts as not relevant; condensed, it counts not at all [Sakai 2007]. Where the
two ways disagree, the verdict rests on documents that nobody judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rankstats import stats
from rankstats.comparison.columns import Block
from rankstats.comparison.evidence import Evidence
from rankstats.comparison.result import CondensedDifference, Difference
from rankstats.comparison.scenarios import decided
from rankstats.comparison.significance import chosen_correction
from rankstats.comparison.verdicts import outcome_of
from rankstats.measures import evaluate_systems, parse_measure
from rankstats.measures.measure import Measure
from rankstats.plan import Plan
from rankstats.tables import Hits, exact_mean

Floats = NDArray[np.float64]


def make_condensed(
    evidence: Evidence, plan: Plan, block: Block, claims: Sequence[int], rows: Sequence[Difference]
) -> tuple[CondensedDifference, ...]:
    """Return each claim over all queries on condensed lists; empty without lists.

    The whole family is condensed, tested and corrected as the plan says: the same numbers as a comparison of runs that
    hold judged documents only. Measures that cannot be condensed have no row.

    Parameters
    ----------
    evidence : Evidence
        Judgments and hits.
    plan : Plan
        Test, correction, level, resamples and seed.
    block : Block
        The columns under the plan's weights.
    claims : sequence of int
        Columns of the confirmatory family.
    rows : sequence of Difference
        The same claims as rows.
    """
    if evidence.judgments is None or not evidence.hits:
        return ()
    measures = {c: _condensed(evidence, block.columns[c].measure) for c in claims}
    known = [k for k, c in enumerate(claims) if measures[c] is not None]
    shown = [k for k in known if block.columns[claims[k]].attribute is None and rows[k].difference is not None]
    if not shown:
        return ()
    chosen = [claims[k] for k in known]
    baseline, system = _values(evidence, plan, block, chosen, [m for c in chosen if (m := measures[c]) is not None])
    family = stats.paired_differences(baseline, system, None if block.weighting is None else evidence.weights)
    # the best of all systems may be another one, and Tukey's range is that of all systems
    repeats = plan.compare != "best" and plan.correction != "tukey" and len(known) == len(claims)
    correction = chosen_correction(plan, family, block.clusters) if repeats else "none"
    places = [known.index(k) for k in shown]
    about = [rows[k] for k in shown]
    changed = decided(family, about, places, plan=plan, clusters=block.clusters, correction=correction)
    removed = [_removed(hits) for hits in evidence.hits]
    return tuple(
        _row(
            (rows[k], new),
            (family.weights, baseline[:, place], system[:, place]),
            (removed[block.columns[claims[k]].baseline], removed[block.columns[claims[k]].system]),
            plan.alpha,
            repeats=repeats,
        )
        for k, place, new in zip(shown, places, changed, strict=True)
    )


def _condensed(evidence: Evidence, m: int) -> Measure | None:
    """The measure on condensed lists; None where it looks at the listed documents themselves."""
    measure = parse_measure(evidence.scores.measures[m].name)
    return None if "lists" in measure.declaration.needs else replace(measure, condensed=True)


def _values(
    evidence: Evidence, plan: Plan, block: Block, columns: Sequence[int], measures: Sequence[Measure]
) -> tuple[Floats, Floats]:
    """Values of both sides of some columns on condensed lists; NaN outside the segment or where undefined."""
    assert evidence.judgments is not None
    distinct = list(dict.fromkeys(measures))
    values = evaluate_systems(distinct, evidence.judgments, evidence.hits, plan.policies)
    kept: NDArray[np.bool_] = np.all(~np.isnan(values), axis=1)
    place = np.array([distinct.index(measure) for measure in measures])
    there = kept[:, place] & ~np.isnan(block.baseline[:, np.asarray(columns)])
    sides = [
        values[:, np.array([getattr(block.columns[c], side) for c in columns]), place]
        for side in ("baseline", "system")
    ]
    return np.where(there, sides[0], np.nan), np.where(there, sides[1], np.nan)


def _removed(hits: Hits) -> int:
    """How many documents a condensed list lacks, over all queries."""
    return int(hits.returned.sum()) - int(np.count_nonzero(hits.grade >= 0))


def _row(
    claim: tuple[Difference, Difference],
    values: tuple[Floats, Floats, Floats],
    removed: tuple[int, int],
    alpha: float,
    *,
    repeats: bool,
) -> CondensedDifference:
    plain, new = claim
    weights, baseline, system = values
    known = ~np.isnan(baseline)
    before, after = (exact_mean(side[known], weights[known]) for side in (baseline, system))
    difference = None if before is None or after is None else after - before if new.estimate != 0 else 0.0
    verdict = outcome_of(replace(plain, withheld=None), alpha)
    outcome = outcome_of(new, alpha) if repeats else None
    disagreement = None
    if outcome is not None and outcome != verdict:
        disagreement = "verdict"
    elif difference is not None and plain.difference is not None and difference * plain.difference < 0:
        disagreement = "sign"
    return CondensedDifference(
        difference_id=plain.id,
        measure=plain.measure,
        baseline=plain.baseline,
        system=plain.system,
        removed_baseline=removed[0],
        removed_system=removed[1],
        n=new.n,
        mean_baseline=before,
        mean_system=after,
        difference=difference,
        interval=new.interval,
        p_adjusted=new.p_adjusted if repeats else None,
        adjusted_interval=new.adjusted_interval if repeats else None,
        outcome=outcome,
        plain=plain.difference,
        verdict=verdict,
        disagreement=disagreement,
    )
