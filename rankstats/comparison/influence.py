"""Which claims hang on a single query."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rankstats.comparison.columns import Block
from rankstats.comparison.evidence import Evidence
from rankstats.comparison.result import Difference
from rankstats.comparison.significance import Clusters, correct, run_test
from rankstats.comparison.verdicts import outcome_of
from rankstats.plan import Plan
from rankstats.stats import Differences

_MOST_CLAIMS = 40
"""Larger families are not looked at: each claim may mean more runs of the whole family."""
_CANDIDATES = 3
"""Queries that are left out in turn for a claim."""


def carried_claims(
    evidence: Evidence, plan: Plan, block: Block, claims: Sequence[int], rows: Sequence[Difference]
) -> tuple[tuple[Difference, str], ...]:
    """Return the claims that fall when one query is left out, with the id of the first such query.

    For each claim with a verdict of better or worse, the queries whose absence brings t closest to 0 are left out of
    the whole family in turn; the claim falls when its adjusted p-value then lies above alpha.

    Parameters
    ----------
    evidence : Evidence
        Names the queries.
    plan : Plan
        Test and level.
    block : Block
        The columns under the plan's weights.
    claims : sequence of int
        Columns of the confirmatory family.
    rows : sequence of Difference
        The same claims as rows; their correction is kept.
    """
    # where the best was chosen by the data the correction covers pairs that are no claims
    if len(claims) > _MOST_CLAIMS or plan.correction == "tukey" or plan.compare == "best":
        return ()
    family = block.differences.select(np.asarray(claims))
    adjusted: dict[int, NDArray[np.float64]] = {}
    carried = []
    for k, row in enumerate(rows):
        if outcome_of(row, plan.alpha) not in ("better", "worse"):
            continue
        for query in _most_helpful(family, k):
            if query not in adjusted:
                adjusted[query] = _without(family, query, row.correction, plan, block.clusters)
            if not adjusted[query][k] <= plan.alpha:
                carried.append((row, evidence.scores.query_ids[query]))
                break
    return tuple(carried)


def _without(family: Differences, query: int, correction: str, plan: Plan, clusters: Clusters) -> NDArray[np.float64]:
    rest = family.within(np.arange(family.n_rows) != query)
    sizes = np.full(family.n_columns, family.n_columns, dtype=np.int64)
    return correct(correction, run_test(plan.test, rest, plan, sizes, clusters), rest, plan, clusters).p_adjusted


def _most_helpful(family: Differences, column: int) -> list[int]:
    """Queries whose absence brings the (weighted) t closest to 0, the closest first."""
    present = np.flatnonzero(family.present[:, column] & (family.weights > 0))
    weight = family.weights[present]
    value = (family.integers[present, column] * family.unit[column])[:, None]
    keep = 1.0 - np.eye(len(present)) if len(present) <= _EXACT_UP_TO else None
    if keep is None:
        # with thousands of queries the one with the largest contribution is the most helpful
        mean = float(family.mean[column])
        order = np.argsort(-np.sign(mean) * weight * (value[:, 0] - mean), kind="stable")
        return [int(q) for q in present[order[:_CANDIDATES]]]
    weights = keep * weight[:, None]
    total = weights.sum(axis=0)
    mean_without = (weights * value).sum(axis=0) / np.where(total > 0, total, 1)
    spread = np.sqrt((weights**2 * (value - mean_without) ** 2).sum(axis=0))
    size = np.abs(mean_without) * total
    closeness = np.where(spread > 0, size / np.where(spread > 0, spread, 1), np.inf)
    sign = np.where(mean_without * float(family.mean[column]) < 0, -1.0, 1.0)
    order = np.argsort(np.round(sign * closeness, 9), kind="stable")
    return [int(q) for q in present[order[:_CANDIDATES]]]


_EXACT_UP_TO = 1000
"""Queries up to which the t without each one is computed."""
