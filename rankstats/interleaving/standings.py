"""Several rankers in one log: their order, means, and the ranks that the claims leave open."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankstats import stats
from rankstats.comparison.result import Interval, Standing, defined
from rankstats.conventions import SMALLEST_VERDICT_N
from rankstats.interleaving.effects import NAMES
from rankstats.interleaving.evidence import LogEvidence
from rankstats.interleaving.result import Preference


def ranker_order(evidence: LogEvidence, claims: Sequence[Preference], alpha: float) -> stats.RankerScores:
    """Return the rankers' scores and the ranks that the claims leave open."""
    place = {name: i for i, name in enumerate(evidence.rankers)}
    told = [row for row in claims if row.difference is not None and row.withheld is None]
    shown = [
        row.p_adjusted is not None and row.p_adjusted <= alpha and row.n_system >= SMALLEST_VERDICT_N for row in told
    ]
    return stats.ranker_scores(
        np.array([place[row.baseline] for row in told], dtype=np.int64),
        np.array([place[row.system] for row in told], dtype=np.int64),
        np.array([(row.difference or 0.0) / 2 for row in told], dtype=np.float64),
        np.array(shown, dtype=np.bool_),
        rankers=len(evidence.rankers),
    )


def ranker_mean(evidence: LogEvidence, order: stats.RankerScores, i: int) -> float:
    """Return a ranker's mean win share against the others, or its credited clicks an impression with clicks."""
    if evidence.outcome == "wins":
        return float(order.score[i])
    return credited_mean(evidence, evidence.rankers[i])


def credited_mean(evidence: LogEvidence, ranker: str) -> float:
    """Return a ranker's credited clicks an impression with clicks, over all that it took part in."""
    credits, total, n = evidence.credits, 0.0, 0
    for k, pair in enumerate(evidence.pairs):
        if ranker in pair:
            inside = (evidence.pair == k) & evidence.clicked
            total += float((credits.credit_b if ranker == pair[1] else credits.credit_a)[inside].sum())
            n += int(np.count_nonzero(inside))
    return total / n if n else np.nan


def credited_interval(evidence: LogEvidence, side: int, alpha: float) -> Interval | None:
    """Return the t interval, between whole units, of the mean that `credited_mean` gives one of two rankers."""
    inside = evidence.clicked
    credited = (evidence.credits.credit_b if side else evidence.credits.credit_a)[inside]
    labels = evidence.tested_labels[inside]
    if len(np.unique(labels)) < 2:
        return None
    column = stats.paired_differences(np.zeros(len(credited)), credited)
    found = stats.on_clusters(stats.interval_of_means, column, labels, alpha=alpha)
    return Interval.from_ends(max(0.0, float(found.low[0])), float(found.high[0]), 1 - alpha, "t")


def make_log_standings(
    evidence: LogEvidence, claims: Sequence[Preference], order: stats.RankerScores, alpha: float
) -> tuple[Standing, ...]:
    """Return a row a ranker, the best first; empty for two rankers, or where the log does not connect them."""
    if len(evidence.rankers) < 3 or np.any(order.rank == 0):
        return ()
    certain = all(row.withheld is None for row in claims)
    rows = [
        Standing(
            measure=NAMES[evidence.outcome],
            system=ranker,
            weighting=None,
            n=sum(row.n for row in claims if ranker in (row.baseline, row.system)),
            mean=defined(ranker_mean(evidence, order, i)),
            rank=int(order.rank[i]),
            low=int(order.low[i]) if certain else None,
            high=int(order.high[i]) if certain else None,
            may_be_best=bool(order.may_be_best[i]) if certain else None,
            level=1 - alpha,
            correction="bonferroni",
        )
        for i, ranker in enumerate(evidence.rankers)
    ]
    return tuple(sorted(rows, key=lambda row: row.rank))
