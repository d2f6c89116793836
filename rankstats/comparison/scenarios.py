"""Claims decided anew: what a verdict would be if a pair of systems had other values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rankstats import stats
from rankstats.comparison.columns import Block
from rankstats.comparison.evidence import Evidence
from rankstats.comparison.result import Difference, defined
from rankstats.comparison.significance import Clusters, correct, run_test
from rankstats.comparison.verdicts import outcome_of
from rankstats.plan import Plan

MOST_RESAMPLES = 1999
"""Scenarios are many and need no more."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ClaimedFamily:
    """The values behind the claims of a comparison.

    Attributes
    ----------
    plan : Plan
        Test, level and seed, with fewer resamples.
    baseline, system : ndarray of float64, shape (Q, k)
        Values of the k claims; NaN where undefined.
    weights : ndarray of float64, shape (Q,), or None
        Weights of the queries.
    clusters : ndarray of int64, shape (Q,), or None
        Clusters of the queries.
    """

    plan: Plan
    baseline: Floats
    system: Floats
    weights: Floats | None
    clusters: Clusters

    def anchored(self, member: int, row: Difference, plan: Plan) -> ClaimedFamily:
        """Return a family that decides the unchanged claim as the comparison does, with all resamples if need be."""
        unchanged = self.decide(member, row, self.baseline[:, member], self.system[:, member])[1]
        return self if unchanged == outcome_of(replace(row, withheld=None), plan.alpha) else replace(self, plan=plan)

    @classmethod
    def of(cls, evidence: Evidence, plan: Plan, block: Block, claims: Sequence[int]) -> ClaimedFamily:
        """Return the family of the claims, which are columns of the block."""
        chosen = np.asarray(claims, dtype=np.int64)
        return cls(
            replace(plan, resamples=min(plan.resamples, MOST_RESAMPLES)),
            block.baseline[:, chosen],
            block.system[:, chosen],
            None if block.weighting is None else evidence.weights,
            block.clusters,
        )

    def decide(self, member: int, row: Difference, baseline: Floats, system: Floats) -> tuple[float | None, str]:
        """Return difference and outcome of a claim when its pair has other values, all other claims as they are.

        Parameters
        ----------
        member : int
            Place of the claim in the family.
        row : Difference
            The claim as it stands; its correction is kept.
        baseline, system : ndarray of float64, shape (Q,)
            The other values; NaN where undefined.
        """
        before, after = self.baseline.copy(), self.system.copy()
        before[:, member], after[:, member] = baseline, system
        family = stats.paired_differences(before, after, self.weights)
        changed = decided(family, [row], [member], plan=self.plan, clusters=self.clusters, correction=row.correction)[0]
        return changed.difference, outcome_of(changed, self.plan.alpha)


def decided(
    family: stats.Differences,
    rows: Sequence[Difference],
    members: Sequence[int],
    *,
    plan: Plan,
    clusters: Clusters,
    correction: str,
) -> list[Difference]:
    """Return claims as they are when the family has other values, none of them withheld.

    Parameters
    ----------
    family : Differences
        All claims, a column each.
    rows : sequence of Difference
        Some claims as they stand.
    members : sequence of int
        Their places in the family.
    plan : Plan
        Test, level, resamples and seed.
    clusters : ndarray of int64, shape (Q,), or None
        Clusters of the queries.
    correction : str
        How the family is corrected.
    """
    sizes = np.full(family.n_columns, family.n_columns, dtype=np.int64)
    tested = run_test(plan.test, family, plan, sizes, clusters)
    corrected = correct(correction, tested, family, plan, clusters)
    return [
        replace(
            row,
            n=int(family.n[member]),
            ties=int(np.count_nonzero(family.integers[family.present[:, member], member] == 0)),
            difference=defined(tested.estimate[member]),
            estimate=defined(tested.estimate[member]),
            p_adjusted=defined(corrected.p_adjusted[member]),
            interval=tested.interval(member),
            adjusted_interval=corrected.interval(member),
            withheld=None,
        )
        for row, member in zip(rows, members, strict=True)
    ]
