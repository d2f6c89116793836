"""Joint resamples of all pairs of systems: drawn by the correction, read once more for who may be the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from rankstats import stats
from rankstats.comparison.columns import Column
from rankstats.comparison.evidence import Evidence
from rankstats.comparison.significance import MAX_T_FROM, MaxT, max_t_of, seed_of
from rankstats.plan import Plan
from rankstats.stats import Differences


@dataclass(frozen=True, slots=True)
class PairDraws:
    """What was drawn of each measure, by its index; both readings use the same numbers, so one pass serves them."""

    of_measure: dict[int, stats.PairBootstrap] = field(default_factory=dict)

    def max_t(self, evidence: Evidence, columns: Sequence[Column]) -> MaxT:
        """Return what draws the max-T of the columns: it keeps the resamples where they are of all pairs of systems.

        Not where weights, clusters or undefined queries set the two readings apart, or where lower is better.
        """
        m, scores = columns[0].measure, evidence.scores
        pairs = [Column(m, b, s) for b, s in combinations(range(len(scores.systems)), 2)]
        alike = evidence.weights is None and evidence.clusters is None and bool(scores.defined()[:, m].all())
        enough = len(pairs) > 1 and len(scores.query_ids) >= MAX_T_FROM
        if not (alike and enough and scores.measures[m].higher_is_better and list(columns) == pairs):
            return max_t_of

        def draw(units: Differences, members: NDArray[np.bool_], alpha: float, plan: Plan) -> stats.MaxTResult:
            drawn = stats.PairBootstrap.of(units, members, resamples=plan.resamples, rng=seed_of(plan, "max-T"))
            self.of_measure[m] = drawn
            return drawn.max_t(alpha)

        return draw
