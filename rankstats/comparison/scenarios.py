"""Claims decided anew: what a verdict would be if a pair of systems had other values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rankstats import stats
from rankstats.comparison.columns import Block
from rankstats.comparison.evidence import Evidence
from rankstats.comparison.result import Difference
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
        sizes = np.full(family.n_columns, family.n_columns, dtype=np.int64)
        tested = run_test(self.plan.test, family, self.plan, sizes, self.clusters)
        corrected = correct(row.correction, tested, family, self.plan, self.clusters)
        p, estimate = float(corrected.p_adjusted[member]), float(tested.estimate[member])
        counted = family.integers[family.present[:, member], member]
        changed = replace(
            row,
            n=int(family.n[member]),
            ties=int(np.count_nonzero(counted == 0)),
            difference=estimate,
            estimate=estimate,
            p_adjusted=None if np.isnan(p) else p,
            interval=tested.interval(member),
            adjusted_interval=corrected.interval(member),
            withheld=None,
        )
        return (None if np.isnan(estimate) else estimate), outcome_of(changed, self.plan.alpha)
