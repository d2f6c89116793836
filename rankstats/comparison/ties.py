"""What the order of tied scores could change: values with each tie turned round, for one list or for both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rankstats.comparison.columns import Block
from rankstats.comparison.coverage import can_decide_anew
from rankstats.comparison.evidence import Evidence
from rankstats.comparison.result import Difference, TieEffect
from rankstats.comparison.scenarios import ClaimedFamily
from rankstats.comparison.verdicts import outcome_of
from rankstats.plan import Plan


def make_tie_effects(
    evidence: Evidence, plan: Plan, block: Block, claims: Sequence[int], rows: Sequence[Difference]
) -> tuple[TieEffect, ...]:
    """Return for each claim over all queries what the order inside ties of scores changes; empty where nothing ties.

    Parameters
    ----------
    evidence : Evidence
        With the values of reversed ties.
    plan : Plan
        Test and level.
    block : Block
        The columns under the plan's weights.
    claims : sequence of int
        Columns of the confirmatory family.
    rows : sequence of Difference
        The same claims as rows.
    """
    if evidence.reversed_ties is None or not can_decide_anew(plan, claims):
        return ()
    family = ClaimedFamily.of(evidence, plan, block, claims)
    found = []
    for k, (c, row) in enumerate(zip(claims, rows, strict=True)):
        column = block.columns[c]
        if column.attribute is not None or row.difference is None:
            continue
        pair = (column.baseline, column.system)
        plain = [evidence.scores.values[:, s, column.measure] for s in pair]
        turned = [evidence.reversed_ties[:, s, column.measure] for s in pair]
        moved = [int(np.count_nonzero(~np.isnan(a) & (a != b))) for a, b in zip(plain, turned, strict=True)]
        if not any(moved):
            continue
        verdict = outcome_of(replace(row, withheld=None), plan.alpha)
        cases = [(turned[0], plain[1]), (plain[0], turned[1]), (turned[0], turned[1])]
        anchored = family.anchored(k, row, plan)
        decided = [anchored.decide(k, row, *case) for case in cases]
        sizes = [size for size, _ in decided if size is not None] + [row.difference]
        others = {outcome for _, outcome in decided} - {verdict}
        found.append(
            TieEffect(
                difference_id=row.id,
                measure=row.measure,
                baseline=row.baseline,
                system=row.system,
                queries_baseline=moved[0],
                queries_system=moved[1],
                low=min(sizes),
                high=max(sizes),
                verdict=verdict,
                turns_to=min(others, default=None),
            )
        )
    return tuple(found)
