"""Which systems are compared with which, and the columns of differences that follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankstats.comparison.segments import Attribute
from rankstats.errors import PlanError, did_you_mean
from rankstats.plan import Plan
from rankstats.tables import Scores


@dataclass(frozen=True, slots=True)
class Column:
    """One difference to be tested.

    Attributes
    ----------
    measure : int
        Index of the measure.
    baseline, system : int
        Indices of the systems.
    attribute, value : str or None
        The segment; None for all queries.
    """

    measure: int
    baseline: int
    system: int
    attribute: str | None = None
    value: str | None = None

    @property
    def segment(self) -> dict[str, str] | None:
        """The segment as report.json writes it."""
        if self.attribute is None or self.value is None:
            return None
        return {"attribute": self.attribute, "value": self.value}


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
    defined = defined_queries(scores)[:, m]
    sign = 1.0 if scores.measures[m].higher_is_better else -1.0
    # numpy's mean of one contiguous column does not depend on the order of systems
    means = [sign * float(np.mean(scores.values[defined, s, m])) for s in range(len(scores.systems))]
    return min(range(len(means)), key=lambda s: (-means[s], scores.systems[s]))


def defined_queries(scores: Scores) -> NDArray[np.bool_]:
    """Return which queries are defined for all systems, per measure, shape (Q, M): one n for every system."""
    return np.asarray(~np.isnan(scores.values).any(axis=1), dtype=np.bool_)


def make_columns(
    scores: Scores, pairs: Sequence[tuple[int, int]], attributes: Sequence[Attribute]
) -> tuple[Column, ...]:
    """Return one column for each measure, pair and segment: all queries first, then the segments in display order."""
    splits: list[tuple[str | None, str | None]] = [(None, None)]
    splits += [(attribute.name, value) for attribute in attributes for value in attribute.values]
    return tuple(
        Column(m, b, s, attribute, value)
        for attribute, value in splits
        for m in range(len(scores.measures))
        for b, s in pairs
    )


def column_values(
    scores: Scores, columns: Sequence[Column], attributes: Sequence[Attribute]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the baseline's and the system's values, each of shape (Q, c); NaN outside segment or definition."""
    defined = defined_queries(scores)
    by_name = {attribute.name: attribute for attribute in attributes}
    baseline = np.empty((len(scores.query_ids), len(columns)))
    system = np.empty_like(baseline)
    for c, column in enumerate(columns):
        kept = defined[:, column.measure]
        if column.attribute is not None and column.value is not None:
            kept = kept & by_name[column.attribute].members(column.value)
        baseline[:, c] = np.where(kept, scores.values[:, column.baseline, column.measure], np.nan)
        system[:, c] = np.where(kept, scores.values[:, column.system, column.measure], np.nan)
    return baseline, system
