"""Ranked lists shown beside the numbers, and the documents worth judging next."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from rankstats.comparison.depth import DEPTH
from rankstats.comparison.result import JudgeRow, ListedDocument, RankedList
from rankstats.tables import Hits, Scores
from rankstats.tables.arrow_arrays import arrow_of

EXTREMES = 10
"""Biggest wins and biggest losses shown for a pair and primary measure."""


def extreme_queries(scores: Scores, pairs: Sequence[tuple[int, int]], primary: Sequence[int]) -> dict[int, set[int]]:
    """Return the queries with the biggest wins and losses of each pair, as system index to query indices.

    Parameters
    ----------
    scores : Scores
        The values.
    pairs : sequence of (int, int)
        Compared (baseline, system) indices.
    primary : sequence of int
        Indices of the primary measures.
    """
    defined = scores.defined()
    shown: dict[int, set[int]] = defaultdict(set)
    for b, s in pairs:
        for m in primary:
            difference = scores.values[:, s, m] - scores.values[:, b, m]
            for q in [*_largest(difference, defined[:, m]), *_largest(-difference, defined[:, m])]:
                shown[b].add(q)
                shown[s].add(q)
    return shown


def _largest(difference: NDArray[np.float64], defined: NDArray[np.bool_]) -> list[int]:
    """Indices of the largest positive differences; equal ones in order of query id."""
    amount = np.where(defined, difference, -np.inf)
    order = np.argsort(-amount, kind="stable")[:EXTREMES]
    return [int(q) for q in order if amount[q] > 0]


def shown_lists(
    hits: Sequence[Hits],
    scores: Scores,
    shown: Mapping[int, set[int]],
    brought: Mapping[int, NDArray[np.float64] | None],
) -> tuple[RankedList, ...]:
    """Return the top lists of the shown queries, sorted by query and then in the order of systems.

    `hits` are in the order of the systems; the queries of the hits are those of the scores. `brought` holds what each
    hit of a system contributes to a measure.
    """
    rows = []
    for s, system in enumerate(scores.systems):
        if s >= len(hits):
            break
        for q in sorted(shown.get(s, ())):
            rows.append((q, s, RankedList(scores.query_ids[q], system, _documents(hits[s], brought.get(s), q))))
    return tuple(row for _, _, row in sorted(rows, key=lambda item: item[:2]))


def _documents(hits: Hits, brought: NDArray[np.float64] | None, q: int) -> tuple[ListedDocument, ...]:
    top = hits.top
    start, stop = np.searchsorted(top.query, [q, q + 1])
    first, last = np.searchsorted(hits.query, [q, q + 1])
    terms: dict[int, float] = {}
    if brought is not None:
        terms = dict(zip(hits.rank[first:last].tolist(), brought[first:last].tolist(), strict=True))
    ids = [str(doc_id) for doc_id in top.doc_ids.slice(int(start), int(stop - start)).to_pylist()]
    return tuple(
        ListedDocument(
            doc_id,
            int(rank),
            None if math.isnan(grade) else float(grade),
            None if brought is None else terms.get(int(rank), 0.0),
        )
        for doc_id, rank, grade in zip(ids, top.rank[start:stop].tolist(), top.grade[start:stop].tolist(), strict=True)
        if rank <= DEPTH
    )


def documents_to_judge(
    hits: Sequence[Hits], scores: Scores, pairs: Sequence[tuple[int, int]], weights: NDArray[np.float64]
) -> tuple[JudgeRow, ...]:
    """Return the unjudged documents in the top 10, the most decisive first.

    A document is the more decisive, the more its places in two compared lists differ in discount, 1/log2(1 + rank),
    times the query's weight: had it been relevant, that much would move. Ties by best rank, query and document.
    """
    ranks: dict[tuple[int, str], dict[int, int]] = defaultdict(dict)
    for s, hit in enumerate(hits):
        top = hit.top
        unjudged = np.flatnonzero(np.isnan(top.grade) & (top.rank <= DEPTH))
        ids = [str(doc_id) for doc_id in top.doc_ids.take(arrow_of(np.asarray(unjudged, dtype=np.int64))).to_pylist()]
        for q, rank, doc_id in zip(top.query[unjudged].tolist(), top.rank[unjudged].tolist(), ids, strict=True):
            ranks[(q, doc_id)][s] = rank
    order = sorted(
        ranks,
        key=lambda key: (
            -weights[key[0]] * _swing(ranks[key], pairs),
            min(ranks[key].values()),
            scores.query_ids[key[0]],
            key[1],
        ),
    )
    return tuple(
        JudgeRow(
            scores.query_ids[q],
            doc_id,
            tuple(scores.systems[s] for s in sorted(ranks[(q, doc_id)])),
            min(ranks[(q, doc_id)].values()),
        )
        for q, doc_id in order
    )


def _swing(ranks: Mapping[int, int], pairs: Sequence[tuple[int, int]]) -> float:
    def discount(s: int) -> float:
        return 1 / math.log2(1 + ranks[s]) if s in ranks else 0.0

    return round(max(abs(discount(b) - discount(s)) for b, s in pairs), 12)
