"""Makes hits of a run that an engine holds: runs the heavy steps, and collects hits, totals and the top of the lists.

What comes out is what `rankstats.tables.make_hits` makes of the same rows in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rankstats.conventions import Policies
from rankstats.errors import PlanError
from rankstats.tables.arrow_arrays import arrow_of, floats_of, is_valid, text_array, values_of
from rankstats.tables.engines.checks import check_policies, check_queries, check_totals, repeated_document
from rankstats.tables.engines.ranking import EngineRanking
from rankstats.tables.engines.steps import (
    best_of_repeated,
    judged_rows,
    kept_rows,
    ranked_as_given,
    ranked_by_key,
    repeated,
    totals,
)
from rankstats.tables.hits import Hits, TopLists
from rankstats.tables.judgments import Judgments

if TYPE_CHECKING:
    from rankstats.tables.engines.steps import Frame

MOST_LISTED = 20_000_000
"""Documents of top lists that are collected at most."""
_KEPT = {
    "query": pa.int32(),
    "judgment": pa.int64(),
    "place": pa.int64(),
    "score": pa.float64(),
    "listed": pa.int64(),
    "tied": pa.int64(),
    "shown": pa.string(),
}


@dataclass(frozen=True, slots=True)
class _Prepared:
    """What the steps after the totals start from.

    `rows` are those of judged queries and `judged` the judged pairs, in the engine; `returned` is the length of each
    judged query's list; `lowest_rank` is where ranks begin if they may count every list without a gap, else None.
    """

    rows: Frame
    judged: Frame
    returned: NDArray[np.int64]
    unknown: tuple[str, ...]
    n_rows: int
    lowest_rank: float | None


def make_engine_hits(
    judgments: Judgments,
    ranking: EngineRanking,
    policies: Policies,
    *,
    depth: int = 10,
    reverse_ties: bool = False,
) -> Hits:
    """Rank a system's documents within each judged query, in an engine, and collect the judged ones.

    Three steps go over the rows, each a grouping or a window: the totals by query, with what cannot be used; documents
    listed twice; ranks, joined with the judgments. Where ranks are given and count every list from its top without a
    gap, they are taken as they are, and no window is needed.

    Parameters
    ----------
    judgments : Judgments
        The judged documents, one grade a pair of query and document.
    ranking : EngineRanking
        The system's rows.
    policies : Policies
        `ties` ('doc_id', 'float32' or 'rank'), `duplicate_documents` ('error' or 'best'), `missing_query` and
        `unknown_query`.
    depth : int, optional
        Documents of each query kept in `Hits.top`.
    reverse_ties : bool, optional
        Turn the order inside each tie round.

    Returns
    -------
    Hits
        As `rankstats.tables.make_hits` makes them.

    Raises
    ------
    InputError
        If a score is no finite number, an id is missing, a document is listed twice, or the engine fails.
    PlanError
        If a policy asks for what an engine cannot do: the order of lines, or the first of repeated lines.
    """
    check_policies(ranking, policies)
    if depth * judgments.n_queries > MOST_LISTED:
        raise PlanError(
            f"the measures look at the first {depth:,} documents of {judgments.n_queries:,} queries, judged or not: "
            f"{depth * judgments.n_queries:,} documents, and {ranking.engine.name} hands over at most "
            f"{MOST_LISTED:,}; give a smaller cutoff, or evaluate in memory (--engine local)"
        )
    prepared = _prepare(judgments, ranking, policies)
    steps = _steps(judgments, ranking, policies, max(depth, 1), reverse_ties=reverse_ties)
    parts = [_plain(ranking.engine.collect(frame, ranking.source.name)) for frame in steps]
    return _hits(judgments, ranking, prepared, pa.concat_tables(parts), depth)


def explain_engine_hits(judgments: Judgments, ranking: EngineRanking, policies: Policies, *, depth: int = 10) -> str:
    """Return the engine's plans of the steps of `make_engine_hits`, for ranks that are not given; no step is run.

    Raises
    ------
    PlanError
        If a policy asks for what an engine cannot do.
    """
    check_policies(ranking, policies)
    engine = ranking.engine
    queries, judged = _tables(judgments, ranking)
    rows = judged_rows(ranking.rows, queries, ranked=ranking.ranked)
    ties = _ties(ranking, policies)
    steps = {
        "totals by query": totals(ranking.rows, ranked=ranking.ranked),
        "documents listed twice": repeated(rows, "doc_id"),
        "ranks and judged documents": kept_rows(ranked_by_key(rows, ties), judged, max(depth, 1)),
    }
    title = f"{ranking.system} in {engine.name}"
    return "\n\n".join(f"== {title}: {what}\n{engine.explain(frame).strip()}" for what, frame in steps.items()) + "\n"


def _ties(ranking: EngineRanking, policies: Policies) -> str:
    """Return the tie rule for rows of which some have no scores but ranks."""
    return "doc_id" if ranking.by_rank and policies.ties == "rank" else policies.ties


def _tables(judgments: Judgments, ranking: EngineRanking) -> tuple[Frame, Frame]:
    """Return the judged queries with their numbers, and the judged pairs, as frames of the engine."""
    numbers = arrow_of(np.arange(judgments.n_queries, dtype=np.int32))
    queries = pa.table([text_array(judgments.query_ids), numbers], ["query_id", "query"])
    rows = arrow_of(np.arange(len(judgments.query), dtype=np.int64))
    pairs = [arrow_of(judgments.query.astype(np.int32)), judgments.doc_ids.cast(pa.string()), rows]
    judged = pa.table(pairs, ["query", "doc_id", "judgment"])
    return ranking.engine.put(queries), ranking.engine.put(judged)


def _prepare(judgments: Judgments, ranking: EngineRanking, policies: Policies) -> _Prepared:
    """Look at the totals, and raise for what cannot be used; once a run."""
    if "prepared" in ranking.made:
        known: _Prepared = ranking.made["prepared"]
        return known
    ranking.report(f"counting {ranking.system}")
    table = ranking.engine.collect(totals(ranking.rows, ranked=ranking.ranked), ranking.source.name)
    check_totals(ranking, table)
    numbers = {query_id: number for number, query_id in enumerate(judgments.query_ids)}
    query_ids: list[Any] = table.column("query_id").cast(pa.string()).to_pylist()
    n = values_of(table.column("n").cast(pa.int64()))
    returned = np.zeros(judgments.n_queries, np.int64)
    query = np.array([numbers.get(query_id, -1) for query_id in query_ids], np.int64)
    returned[query[query >= 0]] = n[query >= 0]
    unknown = tuple(sorted(query_id for query_id in query_ids if query_id not in numbers))
    missing = [judgments.query_ids[q] for q in np.flatnonzero(returned == 0).tolist()]
    check_queries(ranking, policies, missing, unknown)
    queries, judged = _tables(judgments, ranking)
    rows = judged_rows(ranking.rows, queries, ranked=ranking.ranked)
    lowest = _lowest_rank(table) if ranking.by_rank or policies.ties == "rank" else None
    prepared = _Prepared(rows, judged, returned, unknown, int(n.sum()), lowest)
    ranking.made.update(prepared=prepared, rows=prepared.n_rows)
    return prepared


def _lowest_rank(table: pa.Table) -> float | None:
    """Return the first rank where every list's ranks may count it without a gap, or None."""
    lowest, highest = (floats_of(table.column(name).cast(pa.float64())) for name in ("lowest", "highest"))
    n = values_of(table.column("n").cast(pa.int64()))
    whole = not values_of(table.column("bad_ranks").cast(pa.int64())).any()
    counted = whole and bool(np.all(highest - lowest + 1 == n)) and bool(np.all(lowest == lowest[0]))
    return float(lowest[0]) if counted else None


def _steps(
    judgments: Judgments, ranking: EngineRanking, policies: Policies, depth: int, *, reverse_ties: bool
) -> Iterator[Frame]:
    """Yield the frames to collect, one a bucket of queries."""
    prepared = _prepare(judgments, ranking, policies)
    buckets = _buckets(ranking, prepared)
    for number, rows in enumerate(buckets, start=1):
        part = f" ({number} of {len(buckets)})" if len(buckets) > 1 else ""
        name = f"settled {number}"
        if name not in ranking.made:
            ranking.report(f"looking for documents listed twice in {ranking.system}{part}")
            ranking.made[name] = _settled(judgments, ranking, rows, policies)
        settled: Frame = ranking.made[name]
        ranking.report(f"ranking {ranking.system}{part}")
        lowest = prepared.lowest_rank
        if lowest is not None and settled is rows and not _first_repeated(ranking, rows, "rank"):
            ranked = ranked_as_given(rows, lowest)
        else:
            ranked = ranked_by_key(settled, _ties(ranking, policies), reverse_ties=reverse_ties)
        yield kept_rows(ranked, prepared.judged, depth)


def _buckets(ranking: EngineRanking, prepared: _Prepared) -> list[Frame]:
    """Return the rows of judged queries, split so that no step sorts more at once than the engine is to."""
    if "buckets" not in ranking.made:
        limit = ranking.engine.rows_at_once
        buckets = 1 if limit is None else max(-(-prepared.n_rows // limit), 1)
        if buckets > 1:
            ranking.report(f"splitting {ranking.system} into {buckets} parts")
        ranking.made["buckets"] = ranking.engine.in_buckets(prepared.rows, buckets, ranking.source.name)
    buckets_made: list[Frame] = ranking.made["buckets"]
    return buckets_made


def _first_repeated(ranking: EngineRanking, rows: Frame, column: str) -> pa.Table | None:
    """Return the first value of a column that a list holds twice, or None."""
    first = ranking.engine.collect(repeated(rows, column).sort("query", column).head(1), ranking.source.name)
    return first if len(first) else None


def _settled(judgments: Judgments, ranking: EngineRanking, rows: Frame, policies: Policies) -> Frame:
    """Raise for a document that is listed twice, or keep its best score."""
    first = _first_repeated(ranking, rows, "doc_id")
    if first is None:
        return rows
    if policies.duplicate_documents == "error":
        raise repeated_document(ranking, judgments.query_ids, first)
    settled = best_of_repeated(rows)
    surplus = settled.select((nw.col("copies") - 1).sum().alias("surplus"))
    counted: Any = ranking.engine.collect(surplus, ranking.source.name).column("surplus")[0].as_py()
    ranking.made["dropped"] = ranking.made.get("dropped", 0) + int(counted)
    return settled.select("query", "doc_id", "score")


def _plain(table: pa.Table) -> pa.Table:
    """Return collected rows in types that do not depend on the engine."""
    return table.select(list(_KEPT)).cast(pa.schema(list(_KEPT.items())))


def _hits(judgments: Judgments, ranking: EngineRanking, prepared: _Prepared, table: pa.Table, depth: int) -> Hits:
    columns = {name: values_of(table.column(name)) for name in _KEPT if name not in ("judgment", "shown")}
    query, place = columns["query"], columns["place"]
    judgment = np.where(is_valid(table.column("judgment")), values_of(table.column("judgment")), -1)
    order = np.lexsort((place, query))
    hit = order[judgment[order] >= 0]
    first = (place == 1) & (columns["listed"] > 0)  # ranks that were given bring no lengths
    returned, tied = prepared.returned.copy(), np.zeros(judgments.n_queries, np.int64)
    returned[query[first]] = columns["listed"][first]
    tied[query[first]] = columns["tied"][first]
    return Hits(
        system=ranking.system,
        query=query[hit],
        rank=place[hit],
        grade=judgments.grade[judgment[hit]],
        judgment=judgment[hit],
        returned=returned,
        tied=tied,
        top=_top(judgments, table, order[place[order] <= depth], judgment),
        unknown_queries=prepared.unknown,
        score=columns["score"][hit],
    )


def _top(judgments: Judgments, table: pa.Table, rows: NDArray[np.int64], judgment: NDArray[np.int64]) -> TopLists:
    judged = judgment[rows] >= 0
    grade = np.full(len(rows), np.nan)
    grade[judged] = judgments.grade[judgment[rows][judged]]
    query, place = (values_of(table.column(name))[rows] for name in ("query", "place"))
    shown: Any = table.column("shown").take(arrow_of(rows))
    doc_ids = pa.concat_arrays(shown.chunks) if shown.num_chunks else pa.nulls(0, pa.string())
    return TopLists(query=query, rank=place, doc_ids=doc_ids, grade=grade)
