"""Computes measures: hits in, one value a query out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rankstats.conventions import Policies
from rankstats.errors import MeasureError
from rankstats.measures.evaluation import Evaluation, Pool
from rankstats.measures.measure import Measure
from rankstats.tables import Hits, Judgments


def evaluate(measures: Sequence[Measure], judgments: Judgments, hits: Hits, policies: Policies) -> NDArray[np.float64]:
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

    Returns
    -------
    ndarray of float64, shape (Q, M)
        In the order of `judgments.query_ids` and of `measures`. A query that the run lacks has the value 0; an
        undefined value is NaN, or 0 when the policy is 'zero'.

    Raises
    ------
    MeasureError
        If a measure cannot be computed on these judgments: one message for all of them.

    Examples
    --------
    >>> import numpy as np
    >>> import pyarrow as pa
    >>> from rankstats.measures import parse_measures
    >>> from rankstats.tables import Ranking, Source, make_hits
    >>> source, query = Source("made here"), np.zeros(2, np.int32)
    >>> judgments = Judgments(
    ...     ("q1",), query, pa.array(["a", "b"]), np.array([0.0, 2.0]), np.array([0, 2]), source
    ... )
    >>> run = Ranking("new", ("q1",), query, pa.array(["a", "b"]), np.array([2.0, 1.0]), None, source)
    >>> hits = make_hits(judgments, run, Policies())
    >>> evaluate(parse_measures("RR, AP, P@10, DCG@2"), judgments, hits, Policies()).round(4).tolist()
    [[0.5, 0.5, 0.1, 1.2619]]
    """
    return np.ascontiguousarray(evaluate_systems(measures, judgments, [hits], policies)[:, 0, :])


def evaluate_systems(
    measures: Sequence[Measure], judgments: Judgments, hits: Sequence[Hits], policies: Policies
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
    policies : Policies
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
    pool = Pool(judgments)
    _check(measures, pool)
    values = np.zeros((judgments.n_queries, len(hits), len(measures)))
    for system, system_hits in enumerate(hits):
        evaluation = Evaluation(pool, system_hits)
        for column, measure in enumerate(measures):
            values[:, system, column] = _values(measure, evaluation)
    empty = np.nan if policies.no_relevant == "undefined" else 0.0
    for column, measure in enumerate(measures):
        undefined = measure.declaration.undefined
        if undefined is not None:
            values[undefined.where(pool, measure.settings), :, column] = empty
    return values


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
    _check([measure], pool)
    evaluation = Evaluation(pool, hits)
    terms = declaration.terms(evaluation, measure.settings)
    if declaration.denominator is None:
        return terms
    return _divide(terms, declaration.denominator(evaluation, measure.settings)[hits.query])


def _check(measures: Sequence[Measure], pool: Pool) -> None:
    """Raise one error for every measure that the judgments do not allow."""
    problems = []
    for measure in measures:
        refusal = measure.declaration.refusal
        reason = refusal(pool, measure.settings) if refusal else None
        if reason:
            problems.append(f"{measure.name}: {reason}")
    if problems:
        raise MeasureError("\n".join(problems))


def _values(measure: Measure, evaluation: Evaluation) -> NDArray[np.float64]:
    declaration, settings = measure.declaration, measure.settings
    if declaration.values is not None:
        return declaration.values(evaluation, settings)
    if declaration.terms is None:
        raise TypeError(f"{declaration.name} declares neither terms nor values")
    total = evaluation.sum(declaration.terms(evaluation, settings))
    return total if declaration.denominator is None else _divide(total, declaration.denominator(evaluation, settings))


def _divide(total: NDArray[np.float64], by: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(total, by, out=np.zeros_like(total), where=by > 0)
