"""Which claims hang on a single query."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankstats.comparison.columns import Block
from rankstats.comparison.evidence import Evidence
from rankstats.comparison.result import Difference
from rankstats.comparison.significance import chosen_correction, correct, run_test
from rankstats.plan import Plan

_MOST_CLAIMS = 40
"""Larger families are not looked at: each claim means one more run of the whole family."""


def carried_claims(
    evidence: Evidence, plan: Plan, block: Block, claims: Sequence[int], rows: Sequence[Difference]
) -> tuple[tuple[Difference, str], ...]:
    """Return the claims that fall when their most helpful query is left out, with that query's id.

    A claim falls when its adjusted p-value rises above alpha once the query with the largest (weighted) difference in
    the direction of the mean is left out of the whole family.

    Parameters
    ----------
    evidence : Evidence
        Names the queries.
    plan : Plan
        Test, correction and level.
    block : Block
        The columns under the plan's weights.
    claims : sequence of int
        Columns of the confirmatory family.
    rows : sequence of Difference
        The same claims as rows.
    """
    if len(claims) > _MOST_CLAIMS:
        return ()
    family = block.differences.select(np.asarray(claims))
    sizes = np.full(len(claims), len(claims), dtype=np.int64)
    members = range(len(claims))
    carried = []
    adjusted: dict[int, np.ndarray] = {}
    for k, row in enumerate(rows):
        if row.p_adjusted is None or row.p_adjusted > plan.alpha or row.n < 2:
            continue
        sign = np.sign(family.mean[k])
        query = int(np.argmax(sign * family.numerators[:, k]))
        if query not in adjusted:
            rest = family.within(np.arange(family.n_rows) != query)
            tested = run_test(plan.test, rest, plan, sizes)
            correction = chosen_correction(plan, len(claims), int(rest.n.min()))
            adjusted[query] = correct(correction, tested, rest, members, plan).p_adjusted
        if not adjusted[query][k] <= plan.alpha:
            carried.append((row, evidence.scores.query_ids[query]))
    return tuple(carried)
