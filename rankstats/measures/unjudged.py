"""How far a value could be off because documents are unjudged: its best and worst case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rankstats.conventions import Policies
from rankstats.errors import MeasureError
from rankstats.measures.evaluation import Evaluation, Floats, Pool, ordinals
from rankstats.measures.measure import Measure
from rankstats.measures.values import check_measures, evaluate, measure_values
from rankstats.tables import Hits, Judgments


@dataclass(frozen=True, slots=True)
class UnjudgedBounds:
    """Values of measures, and what they could be if all documents returned were judged.

    Attributes
    ----------
    query_ids : tuple of str, length Q
        The judged queries.
    measures : tuple of str, length M
        Canonical names.
    worst, value, best : ndarray of float64, shape (Q, M)
        The smallest value possible, the value as it is, and the largest value possible; NaN where there is none.
    unjudged : ndarray of int64, shape (Q,)
        Documents returned without a judgment, down to the depth looked at.
    grade : float
        The grade that an unjudged document may turn out to have; otherwise it has 0.
    """

    query_ids: tuple[str, ...]
    measures: tuple[str, ...]
    worst: NDArray[np.float64]
    value: NDArray[np.float64]
    best: NDArray[np.float64]
    unjudged: NDArray[np.int64]
    grade: float

    def to_dicts(self) -> list[dict[str, str | float | int]]:
        """Return a row for each query and measure."""
        return [
            {
                "query_id": query_id,
                "measure": name,
                "worst": float(self.worst[q, m]),
                "value": float(self.value[q, m]),
                "best": float(self.best[q, m]),
                "unjudged": int(self.unjudged[q]),
            }
            for q, query_id in enumerate(self.query_ids)
            for m, name in enumerate(self.measures)
        ]


def unjudged_bounds(
    measures: Sequence[Measure],
    judgments: Judgments,
    hits: Hits,
    policies: Policies,
    *,
    grade: float | None = None,
    depth: int = 100,
) -> UnjudgedBounds:
    """Return the smallest and largest values that one system could have if its unjudged documents were judged.

    Every unjudged document among the first `depth` turns out to have the grade 0 or the grade `grade`. Judging one
    relevant changes the list and also what measures divide by (R, the ideal list), so the extremes need not be all or
    none of them. They are exact: for each number of relevant ones the best case has them at the top of the list and the
    worst at its end, because the measures reward moving a better document up; all numbers are tried.

    Parameters
    ----------
    measures : sequence of Measure, length M
        Measures that reward moving a relevant document up.
    judgments : Judgments
        The judgments that the hits were made with.
    hits : Hits
        The system's judged documents.
    policies : Policies
        As in `evaluate`.
    grade : float, optional
        The grade of an unjudged document that turns out relevant; the largest grade judged (at least 1) by default.
    depth : int, optional
        Unjudged documents below this rank, and those not returned, stay as they are.

    Returns
    -------
    UnjudgedBounds

    Raises
    ------
    MeasureError
        If a measure does not reward moving a relevant document up, or cannot be computed on the judgments.

    Notes
    -----
    Time grows with `depth`: twice as many evaluations as the query with most unjudged documents has.

    Examples
    --------
    >>> import numpy as np
    >>> import pyarrow as pa
    >>> from rankstats.measures import parse_measures
    >>> from rankstats.tables import Ranking, Source, make_hits
    >>> source, query = Source("made here"), np.zeros(2, np.int32)
    >>> judgments = Judgments(("q1",), query[:1], pa.array(["a"]), np.array([1.0]), np.array([0, 1]), source)
    >>> run = Ranking("new", ("q1",), query, pa.array(["x", "a"]), np.array([2.0, 1.0]), None, source)
    >>> hits = make_hits(judgments, run, Policies())
    >>> bounds = unjudged_bounds(parse_measures("AP, P@2"), judgments, hits, Policies())
    >>> bounds.worst.tolist(), bounds.value.tolist(), bounds.best.tolist()
    ([[0.5, 0.5]], [[0.5, 0.5]], [[1.0, 1.0]])
    """
    refuse_unpromising(measures, "bounds over unjudged documents")
    value = evaluate(measures, judgments, hits, policies)
    given = max(Pool(judgments).largest_grade(), 1.0) if grade is None else grade
    filled = _Filled(judgments, hits, depth)
    worst = best = filled.values(np.zeros(filled.size), measures, policies)
    for number in range(1, int(filled.unjudged.max(initial=0)) + 1):
        top = filled.values(np.where(filled.from_top <= number, given, 0.0), measures, policies)
        bottom = filled.values(np.where(filled.from_end <= number, given, 0.0), measures, policies)
        best, worst = np.fmax(best, np.fmax(top, bottom)), np.fmin(worst, np.fmin(top, bottom))
    names = tuple(measure.name for measure in measures)
    return UnjudgedBounds(judgments.query_ids, names, worst, value, best, filled.unjudged, given)


def refuse_unpromising(measures: Sequence[Measure], what: str) -> None:
    """Raise one error for the measures that a better document further up may lower, or that need more than grades."""
    unfit = [
        measure.name
        for measure in measures
        if measure.declaration.needs
        or measure.declaration.together is not None
        or not measure.declaration.rewards_moving_up(measure.settings)
    ]
    if unfit:
        raise MeasureError(
            f"{what} need measures of grades alone that a better document further up never lowers; this is not so for "
            f"{', '.join(unfit)}; leave {'it' if len(unfit) == 1 else 'them'} out"
        )


class _Filled:
    """The judgments and hits of one system with its unjudged documents put in, whose grades are still open."""

    def __init__(self, judgments: Judgments, hits: Hits, depth: int) -> None:
        query, rank = _unjudged_places(judgments, hits, depth)
        self.size = len(query)
        self.unjudged = np.bincount(query, minlength=judgments.n_queries).astype(np.int64)
        self.from_top = ordinals(query)
        self.from_end = self.unjudged[query] - self.from_top + 1
        self._grades = hits.grade
        self._judged = judgments.grade
        both_queries, both_ranks = np.concatenate([hits.query, query]), np.concatenate([hits.rank, rank])
        self._hit_order = np.lexsort((both_ranks, both_queries))
        self._row_order = np.argsort(np.concatenate([judgments.query, query]), kind="stable")
        rows = np.empty(len(self._row_order), dtype=np.int64)
        rows[self._row_order] = np.arange(len(rows))
        places = np.concatenate([rows[hits.judgment], rows[len(judgments.query) :]])
        self._hits = replace(
            hits,
            query=both_queries[self._hit_order],
            rank=both_ranks[self._hit_order],
            judgment=places[self._hit_order],
            score=None,
        )
        lengths = np.diff(judgments.offsets) + self.unjudged
        self._judgments = replace(
            judgments,
            query=np.concatenate([judgments.query, query])[self._row_order],
            offsets=np.append(0, np.cumsum(lengths)).astype(np.int64),
        )

    def values(self, grades: Floats, measures: Sequence[Measure], policies: Policies) -> Floats:
        """Return the values with certain grades of the unjudged documents, shape (Q, M)."""
        pool = Pool(replace(self._judgments, grade=np.concatenate([self._judged, grades])[self._row_order]))
        check_measures(measures, pool)
        evaluation = Evaluation(
            pool, replace(self._hits, grade=np.concatenate([self._grades, grades])[self._hit_order])
        )
        values = np.stack([measure_values(measure, evaluation) for measure in measures], axis=1)
        for column, measure in enumerate(measures):
            undefined = measure.declaration.undefined
            if undefined is not None:
                empty = np.nan if policies.no_relevant == "undefined" else measure.declaration.zero
                values[undefined.where(pool, measure.settings), column] = empty
        return values


def _unjudged_places(judgments: Judgments, hits: Hits, depth: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return query and rank of every document without a judgment among the first `depth`."""
    shown = np.minimum(hits.returned, depth)
    query = np.repeat(np.arange(judgments.n_queries, dtype=np.int32), shown)
    rank = np.arange(1, len(query) + 1) - np.repeat(np.cumsum(shown) - shown, shown)
    within = hits.rank <= depth
    taken = (np.cumsum(shown) - shown)[hits.query[within]] + hits.rank[within] - 1
    free = np.ones(len(query), dtype=bool)
    free[taken] = False
    return query[free], rank[free]
