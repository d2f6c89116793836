"""Which systems are compared with which."""

from __future__ import annotations

from rankstats.errors import PlanError, did_you_mean
from rankstats.plan import Plan
from rankstats.tables import Scores


def choose_pairs(plan: Plan, scores: Scores, primary: str) -> tuple[tuple[int, int], ...]:
    """Return the compared pairs as (baseline, system) indices.

    Parameters
    ----------
    plan : Plan
        Its `compare` and `baselines` decide.
    scores : Scores
        The values; 'best' looks at the means of the primary measure.
    primary : str
        Name of the first primary measure.

    Raises
    ------
    PlanError
        If a baseline is unknown or there are fewer than two systems.
    """
    systems = scores.systems
    if len(systems) < 2:
        raise PlanError(f"a comparison needs two systems or more; {len(systems)} given ({', '.join(systems)})")
    for name in plan.baselines:
        if name not in systems:
            raise PlanError(
                f"baseline {name!r} is not among the systems ({', '.join(systems)})" + did_you_mean(name, systems)
            )
    if plan.compare == "all-pairs":
        return tuple((i, j) for i in range(len(systems)) for j in range(i + 1, len(systems)))
    if plan.compare == "best":
        baselines = [_best(scores, primary)]
    else:
        baselines = [systems.index(name) for name in plan.baselines] or [0]
    pairs: list[tuple[int, int]] = []
    for b in baselines:
        pairs += [(b, s) for s in range(len(systems)) if s != b and (s, b) not in pairs and (b, s) not in pairs]
    return tuple(pairs)


def _best(scores: Scores, primary: str) -> int:
    m = [info.name for info in scores.measures].index(primary)
    sign = 1.0 if scores.measures[m].higher_is_better else -1.0
    means = scores.means()
    return min(range(len(scores.systems)), key=lambda s: (-sign * (means[(s, m)] or 0.0), scores.systems[s]))
