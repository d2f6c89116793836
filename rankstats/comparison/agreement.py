"""Agreement: between measures, systems and their top lists, and between a ranking and the judges' grades."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankstats import stats
from rankstats.comparison.agreeing import mean_over_queries
from rankstats.comparison.depth import DEPTH
from rankstats.comparison.order_agreement import BOOTSTRAP, judging_measures
from rankstats.comparison.result import Agreement, Interval, defined
from rankstats.tables import Hits, Scores
from rankstats.tables.documents import Documents

_STATISTICS = ("kendall_tau_b", "spearman")
_FEWEST_FOR_INTERVAL = 3
"""Two systems have two orders only: an interval of their correlation says nothing."""
_RESAMPLES = 2_000
"""Enough for the two decimals with which an interval of a correlation is shown."""
MOST_UNLIKE = 10
"""Queries of a pair of systems that are listed: those on which the two top lists differ most."""
_MOST_PAIRS = 10
"""Of more pairs single queries are not listed; `rankstats agree --runs --per-query` lists them all."""
MOST_ROWS = 200
"""Pairs of systems whose values are correlated; of more, the first ones."""


def make_agreement(
    scores: Scores,
    hits: Sequence[Hits],
    pairs: Sequence[tuple[int, int]],
    *,
    alpha: float = 0.05,
    resamples: int = _RESAMPLES,
    seed: int = 0,
    clusters: ArrayLike | None = None,
) -> tuple[Agreement, ...]:
    """Return how far measures, systems, top lists and grades agree.

    * measures: do two measures order the systems alike? Kendall's τ-b and Spearman's ρ over the systems' means; τ-b
      with a bootstrap interval over queries from three systems on.
    * systems: are two systems good on the same queries? Over the queries, for each measure.
    * lists: do two systems show the same documents? RBO (p = 0.9), overlap and τ_ap,b of the common documents of the
      first 10, averaged over the queries that both answer, with t intervals; lists_of_query: the queries on which they
      differ most.
    * grades: does a system rank better judged documents higher? For each query over the judged documents that it
      returned, averaged over the queries where it is defined.

    Parameters
    ----------
    scores : Scores
        The values.
    hits : sequence of Hits
        In the order of the systems; empty for ready-made scores.
    pairs : sequence of (int, int)
        The systems that are compared.
    alpha : float
        1 − level of the intervals.
    resamples : int
        Bootstrap resamples of the queries, of which 2,000 are used at most.
    seed : int
        Seed of the resamples.
    clusters : array_like, shape (Q,), optional
        Cluster of each query; clusters are resampled whole.
    """
    resampling = {"alpha": alpha, "resamples": min(resamples, _RESAMPLES), "rng": seed, "clusters": clusters}
    return (
        *_measures(scores, resampling),
        *_systems(scores, pairs),
        *_lists(scores, hits, pairs, alpha),
        *_grades(hits),
    )


def _pair(kind: str, what: tuple[str, ...], x: NDArray[np.float64], y: NDArray[np.float64]) -> list[Agreement]:
    values = (stats.kendall_tau(x, y), stats.spearman_rho(x, y))
    return [
        Agreement(kind, what, statistic, defined(value), None, len(x))
        for statistic, value in zip(_STATISTICS, values, strict=True)
    ]


def _measures(scores: Scores, resampling: Mapping[str, Any]) -> list[Agreement]:
    judging = [m for m in judging_measures(scores) if not scores.measures[m].diagnostic]
    if len(judging) < 2 or len(scores.systems) < 2:
        return []
    signs = [1.0 if scores.measures[m].higher_is_better else -1.0 for m in judging]
    sets = [scores.values[:, :, m] * sign for m, sign in zip(judging, signs, strict=True)]
    enough = len(scores.systems) >= _FEWEST_FOR_INTERVAL
    found = stats.order_agreements(sets, **{**resampling, "resamples": resampling["resamples"] if enough else 0})
    rows: list[Agreement] = []
    for (a, b), order in zip(combinations(judging, 2), found, strict=True):
        what = (scores.measures[a].name, scores.measures[b].name)
        interval = Interval.from_ends(order.tau_b_low, order.tau_b_high, 1 - order.alpha, BOOTSTRAP)
        rows.append(Agreement("measures", what, "kendall_tau_b", defined(order.tau_b), interval, order.n_systems))
        rows.append(Agreement("measures", what, "spearman", defined(order.rho), None, order.n_systems))
    return rows


def _systems(scores: Scores, pairs: Sequence[tuple[int, int]]) -> list[Agreement]:
    defined_for_all = scores.defined()
    rows: list[Agreement] = []
    for m, info in enumerate(scores.measures):
        if info.diagnostic:
            continue
        values = scores.values[defined_for_all[:, m], :, m]
        for b, s in pairs[:MOST_ROWS]:
            rows += _pair("systems", (info.name, scores.systems[b], scores.systems[s]), values[:, b], values[:, s])
    return rows


def _lists(scores: Scores, hits: Sequence[Hits], pairs: Sequence[tuple[int, int]], alpha: float) -> list[Agreement]:
    if not hits or not pairs:
        return []
    queries = len(scores.query_ids)
    lists = _top_lists(hits, queries)
    every = np.arange(queries)
    first = np.concatenate([b * queries + every for b, _ in pairs])
    second = np.concatenate([s * queries + every for _, s in pairs])
    values = {
        "rbo": stats.rank_biased_overlap(lists, first, second).extrapolated,
        f"overlap@{DEPTH}": stats.overlap_at(lists, first, second, DEPTH),
        "tau_ap_b": stats.list_correlation(lists, first, second).tau_ap_b,
    }
    by_pair = {name: column.reshape(len(pairs), queries) for name, column in values.items()}
    rows: list[Agreement] = []
    for i, (b, s) in enumerate(pairs):
        what = (scores.systems[b], scores.systems[s])
        for name, column in by_pair.items():
            mean = mean_over_queries(column[i], alpha, lowest=-1.0 if name == "tau_ap_b" else 0.0)
            rows.append(Agreement("lists", what, name, *mean))
    for i, (b, s) in enumerate(pairs if len(pairs) <= _MOST_PAIRS else ()):
        for q in _most_unlike(by_pair["rbo"][i]):
            whose = (scores.query_ids[q], scores.systems[b], scores.systems[s])
            rows += [
                Agreement("lists_of_query", whose, name, defined(column[i, q]), None, DEPTH)
                for name, column in by_pair.items()
            ]
    return rows


def _top_lists(hits: Sequence[Hits], queries: int) -> stats.RankedLists:
    """Return the first documents of all systems and queries: list ``system · queries + query``, in its order."""
    documents = Documents(None)
    index, item, rank = [], [], []
    for s, hit in enumerate(hits):
        shown = hit.top.rank <= DEPTH
        index.append(s * queries + hit.top.query[shown].astype(np.int64))
        item.append(documents.numbers(hit.top.doc_ids)[shown])
        rank.append(hit.top.rank[shown])
    scores = -np.concatenate(rank).astype(np.float64)
    return stats.ranked_lists(np.concatenate(index), np.concatenate(item), scores, n_lists=len(hits) * queries)


def _most_unlike(overlap: NDArray[np.float64]) -> list[int]:
    """Indices of the queries with the lowest RBO below 1; equal ones in order of query id."""
    amount = np.where(np.isnan(overlap), np.inf, overlap)
    order = np.argsort(amount, kind="stable")[:MOST_UNLIKE]
    return [int(q) for q in order if amount[q] < 1]


def _grades(hits: Sequence[Hits]) -> list[Agreement]:
    rows: list[Agreement] = []
    for hit in hits:
        result = stats.grouped_rank_correlation(-hit.rank.astype(np.float64), hit.grade, hit.query)
        for statistic, values in zip(_STATISTICS, (result.tau_b, result.rho), strict=True):
            known = np.sort(values[~np.isnan(values)])
            mean = float(np.mean(known)) if len(known) else None
            rows.append(Agreement("grades", (hit.system,), statistic, mean, None, len(known)))
    return rows
