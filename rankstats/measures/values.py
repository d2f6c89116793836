"""Computes measures: hits in, one value a query out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rankstats.conventions import Policies
from rankstats.errors import MeasureError
from rankstats.measures.beyond_accuracy import is_known, listed
from rankstats.measures.declaration import Together
from rankstats.measures.evaluation import Evaluation, Pool, divide
from rankstats.measures.measure import Measure

if TYPE_CHECKING:
    from rankstats.tables import Histories, Hits, Items, Judgments


def evaluate(
    measures: Sequence[Measure],
    judgments: Judgments,
    hits: Hits,
    policies: Policies,
    *,
    items: Items | None = None,
    histories: Histories | None = None,
) -> NDArray[np.float64]:
    """Compute measures for one system.

    Parameters
    ----------
    measures : sequence of Measure, length M
        What to compute.
    judgments : Judgments
        The judgments that the hits were made with.
    hits : Hits
        The system's judged documents.
    policies : Policies
        `no_relevant` says whether undefined values are NaN or 0.
    items : Items, optional
        The item table, for measures of novelty, diversity and coverage.
    histories : Histories, optional
        What each query's user has had before, for the popularity gap.

    Returns
    -------
    ndarray of float64, shape (Q, M)
        In the order of `judgments.query_ids` and of `measures`. A query that the run lacks has the value of an empty
        list, 0 for all but a few measures that say so; an undefined value is NaN, or 0 when the policy is 'zero'.
        Measures beyond accuracy and of predicted ratings are NaN for lists that they say nothing of, measures of all
        queries together for every query.

    Raises
    ------
    MeasureError
        If a measure cannot be computed on these judgments: one message for all of them.

    Examples
    --------
    >>> import numpy as np
    >>> import pyarrow as pa
    >>> from rankstats.measures import parse_measures
    >>> from rankstats.tables import Judgments, Ranking, Source, make_hits
    >>> source, query = Source("made here"), np.zeros(2, np.int32)
    >>> judgments = Judgments(
    ...     ("q1",), query, pa.array(["a", "b"]), np.array([0.0, 2.0]), np.array([0, 2]), source
    ... )
    >>> run = Ranking("new", ("q1",), query, pa.array(["a", "b"]), np.array([2.0, 1.0]), None, source)
    >>> hits = make_hits(judgments, run, Policies())
    >>> evaluate(parse_measures("RR, AP, P@10, DCG@2"), judgments, hits, Policies()).round(4).tolist()
    [[0.5, 0.5, 0.1, 1.2619]]
    """
    values = evaluate_systems(measures, judgments, [hits], policies, items=items, histories=histories)
    return np.ascontiguousarray(values[:, 0, :])


def evaluate_systems(
    measures: Sequence[Measure],
    judgments: Judgments,
    hits: Sequence[Hits],
    policies: Policies,
    *,
    items: Items | None = None,
    histories: Histories | None = None,
) -> NDArray[np.float64]:
    """Compute measures for several systems; totals over the judgments are made once.

    Parameters
    ----------
    measures : sequence of Measure, length M
        What to compute.
    judgments : Judgments
        The judgments that the hits were made with.
    hits : sequence of Hits, length S
        One a system.
    policies, items, histories : Policies, Items, Histories
        As in `evaluate`.

    Returns
    -------
    ndarray of float64, shape (Q, S, M)
        As in `evaluate`.

    Raises
    ------
    MeasureError
        As in `evaluate`.
    """
    pool = Pool(judgments, items, histories)
    check_measures(measures, pool)
    values = np.zeros((judgments.n_queries, len(hits), len(measures)))
    for system, system_hits in enumerate(hits):
        evaluation = Evaluation(pool, system_hits)
        for column, measure in enumerate(measures):
            values[:, system, column] = measure_values(measure, evaluation)
    for column, measure in enumerate(measures):
        undefined = measure.declaration.undefined
        if undefined is not None:
            empty = np.nan if policies.no_relevant == "undefined" else measure.declaration.zero
            values[undefined.where(pool, measure.settings), :, column] = empty
    return values


def evaluate_together(
    measures: Sequence[Measure], judgments: Judgments, hits: Sequence[Hits], *, items: Items | None = None
) -> NDArray[np.float64] | None:
    """Compute measures that are one value of all queries together.

    Parameters
    ----------
    measures, judgments, hits, items : sequence of Measure, Judgments, sequence of Hits, Items
        As in `evaluate_systems`.

    Returns
    -------
    ndarray of float64, shape (S, M), or None
        NaN for measures with a value a query, and where nothing is listed; None where no measure is of all queries
        together.

    Raises
    ------
    MeasureError
        As in `evaluate`.
    """
    if not any(measure.together for measure in measures):
        return None
    pool = Pool(judgments, items)
    evaluations = [Evaluation(pool, system) for system in hits]
    totals = np.full((len(hits), len(measures)), np.nan)
    for column, measure in enumerate(measures):
        if measure.together:
            made = _exchangeable(measure, measure.together, evaluations)
            totals[:, column] = [made.statistic(parts[None])[0] for parts in made.parts]
    return totals


def documents_left_out(
    measures: Sequence[Measure], judgments: Judgments, hits: Sequence[Hits], items: Items
) -> NDArray[np.int64]:
    """Count the listed documents that measures leave out because the item table does not say enough of them.

    Parameters
    ----------
    measures, judgments, hits, items : sequence of Measure, Judgments, sequence of Hits, Items
        As in `evaluate_systems`.

    Returns
    -------
    ndarray of int64, shape (S, M)
        Documents among the first k of all judged queries' lists; 0 for measures that take every document.
    """
    pool = Pool(judgments, items)
    counts = np.zeros((len(hits), len(measures)), dtype=np.int64)
    evaluations = [Evaluation(pool, system) for system in hits]
    for column, measure in enumerate(measures):
        marks = measure.declaration.known
        known = marks(pool, measure.settings) if marks else None
        if known is None or measure.cutoff is None:
            continue
        for system, evaluation in enumerate(evaluations):
            rows = listed(evaluation, int(measure.cutoff))
            counts[system, column] = np.count_nonzero(~is_known(rows.document, known))
    return counts


@dataclass(frozen=True, slots=True)
class Exchangeable:
    """What `rankstats.stats.list_exchange_test` takes.

    Attributes
    ----------
    parts : tuple of ndarray, each of shape (Q, …)
        What each query brings, one array a system. Listed documents are numbered from 0 on, −1 stands for none.
    statistic : callable
        From arrays of shape (R, Q, …) to R values.
    """

    parts: tuple[NDArray[Any], ...]
    statistic: Callable[[NDArray[Any]], NDArray[np.float64]]


def exchangeable(
    measure: Measure, judgments: Judgments, hits: Sequence[Hits], *, items: Items | None = None
) -> Exchangeable:
    """Return what each query brings to a measure of all queries together, and how that makes the value of a system.

    Parameters
    ----------
    measure : Measure
        One whose `together` is not None.
    judgments, hits, items : Judgments, sequence of Hits, Items
        As in `evaluate_systems`.

    Returns
    -------
    Exchangeable
        Parts of the systems in the order of `hits`, to be exchanged within queries.

    Raises
    ------
    MeasureError
        If the measure has a value a query, or as in `evaluate`.
    """
    together = measure.together
    if together is None:
        raise MeasureError(f"{measure.name} has a value a query; it is not of all queries together")
    pool = Pool(judgments, items)
    return _exchangeable(measure, together, [Evaluation(pool, system) for system in hits])


def _exchangeable(measure: Measure, together: Together, evaluations: Sequence[Evaluation]) -> Exchangeable:
    pool = evaluations[0].pool
    check_measures([measure], pool)
    parts = np.stack([together.parts(evaluation, measure.settings) for evaluation in evaluations])
    if np.issubdtype(parts.dtype, np.integer):
        # a statistic counts up to the largest number, which a catalogue of millions would make large
        distinct, dense = np.unique(parts, return_inverse=True)
        parts = dense.reshape(parts.shape) - int(np.count_nonzero(distinct < 0))
    return Exchangeable(tuple(parts), together.statistic(pool, measure.settings))


def contributions(measure: Measure, judgments: Judgments, hits: Hits) -> NDArray[np.float64] | None:
    """Return how much of a query's value each judged document brings, shape (H,).

    Contributions of a query add up to its value (0 where the value is undefined).

    Returns
    -------
    ndarray of float64, shape (H,), or None
        In the order of the hits; None for a measure that is not a sum over documents (F, HitRate).
    """
    declaration = measure.declaration
    if declaration.terms is None:
        return None
    pool = Pool(judgments)
    check_measures([measure], pool)
    whole = Evaluation(pool, hits)
    evaluation = whole.condensed() if measure.condensed else whole
    parts = declaration.terms(evaluation, measure.settings)
    if declaration.denominator is not None:
        parts = divide(parts, declaration.denominator(evaluation, measure.settings)[evaluation.hits.query])
    if not measure.condensed:
        return parts
    found = np.zeros(len(hits.query))
    found[whole.kept_when_condensed()] = parts
    return found


def check_measures(measures: Sequence[Measure], pool: Pool) -> None:
    """Raise one error for every measure that the judgments do not allow."""
    problems = []
    for measure in measures:
        refusal = measure.declaration.refusal
        reason = refusal(pool, measure.settings) if refusal else None
        if reason:
            problems.append(f"{measure.name}: {reason}")
    if problems:
        raise MeasureError("\n".join(problems))


def measure_values(measure: Measure, evaluation: Evaluation) -> NDArray[np.float64]:
    """Return the values of a measure, shape (Q,), also where it is undefined."""
    declaration, settings = measure.declaration, measure.settings
    if measure.condensed:
        evaluation = evaluation.condensed()
    if declaration.values is not None:
        return declaration.values(evaluation, settings)
    if declaration.terms is None:
        raise TypeError(f"{declaration.name} declares neither terms nor values")
    total = evaluation.sum(declaration.terms(evaluation, settings))
    return total if declaration.denominator is None else divide(total, declaration.denominator(evaluation, settings))
