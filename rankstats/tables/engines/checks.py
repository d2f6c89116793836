"""What an engine cannot do, and what its rows must not hold; in the words of the readers of files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from rankstats.conventions import Policies
from rankstats.errors import InputError, PlanError
from rankstats.tables.arrow_arrays import values_of
from rankstats.tables.engines.ranking import EngineRanking
from rankstats.tables.engines.steps import is_finite, is_no_id

if TYPE_CHECKING:
    from rankstats.tables.engines.steps import Frame

_NAMES_SHOWN = 5


def check_policies(ranking: EngineRanking, policies: Policies) -> None:
    """Raise for a policy that asks for what rows in an engine do not have.

    Raises
    ------
    PlanError
        If ties or repeated documents are to follow the order of the lines, or ranks are asked for that are not there.
    """
    name = ranking.engine.name
    if policies.ties == "input":
        raise PlanError(
            f"ties = 'input' asks for the order of the lines, which rows in {name} do not have; use ties = 'doc_id', "
            "'float32' or 'rank', or evaluate in memory (--engine local)"
        )
    if policies.duplicate_documents == "first":
        raise PlanError(
            f"duplicate_documents = 'first' asks for the order of the lines, which rows in {name} do not have; use "
            "'best', or evaluate in memory (--engine local)"
        )
    if policies.ties == "rank" and not ranking.ranked:
        raise InputError("ties = 'rank' needs the rank column, which the run does not have", ranking.source.name)
    if policies.ties == "rank" and policies.duplicate_documents == "best" and not ranking.by_rank:
        raise PlanError(
            f"ties = 'rank' with duplicate_documents = 'best' is not done in {name}: the best score may stand at "
            "another rank; use one of them, or evaluate in memory (--engine local)"
        )


def check_totals(ranking: EngineRanking, table: pa.Table) -> None:
    """Raise where rows cannot be used: no row at all, a missing id, a score that is no finite number.

    Raises
    ------
    InputError
        With the query and the document of one such row.
    """
    name = ranking.source.name
    if not len(table):
        raise InputError("lists no document", name)
    query_ids: list[Any] = table.column("query_id").cast(pa.string()).to_pylist()
    for query_id in query_ids:
        if query_id is None or not query_id.strip():
            raise InputError("a query id is missing; every row names its query", name)
        if query_id != query_id.strip():
            raise InputError(f"query id {query_id!r} has white space at its ends; trim the ids", name)
    for column, what in (("bad_documents", "doc_id"), ("bad_scores", "score")):
        number = int(values_of(table.column(column).cast(pa.int64())).sum())
        if number:
            raise _unusable(ranking, what, number)
    if ranking.by_rank:
        _check_ranks(ranking, table)


def _unusable(ranking: EngineRanking, column: str, number: int) -> InputError:
    condition = is_no_id(column) if column == "doc_id" else ~is_finite(column)
    shown = _first(ranking, ranking.rows.filter(condition))
    query_id, doc_id = shown["query_id"], shown["doc_id"]
    rows = f"{number:,} row{'s' * (number != 1)} in all"
    if column == "score":
        what = "is missing" if shown["score"] is None else f"{shown['score']!r} is not a finite number"
        problem = f"the score of document {doc_id!r} for query {query_id!r} {what} ({rows})"
    elif doc_id is None or not doc_id.strip():
        problem = f"a document id is missing for query {query_id!r} ({rows})"
    else:
        problem = f"document id {doc_id!r} for query {query_id!r} has white space at its ends ({rows}); trim the ids"
    return InputError(problem, ranking.source.name)


def _check_ranks(ranking: EngineRanking, table: pa.Table) -> None:
    lowest: list[Any] = table.column("lowest").to_pylist()
    if min(lowest) < 0:
        raise InputError(f"rank {min(lowest):g} is below 0; is this a score?", ranking.source.name)


def _first(ranking: EngineRanking, rows: Frame) -> dict[str, Any]:
    columns = ["query_id", "doc_id", "score"]
    table = ranking.engine.collect(rows.select(*columns).sort("query_id", "doc_id").head(1), ranking.source.name)
    row: dict[str, Any] = table.to_pylist()[0]
    return row


def check_queries(ranking: EngineRanking, policies: Policies, missing: Sequence[str], unknown: Sequence[str]) -> None:
    """Raise where the policies do not allow missing or unknown queries."""
    if policies.unknown_query == "error" and unknown:
        raise InputError(
            f"{len(unknown)} queries have no judgments ({_some(unknown)}); judge them, remove them from the run, or "
            "set unknown_query = 'leave_out'",
            ranking.source.name,
        )
    if policies.missing_query == "error" and missing:
        raise InputError(
            f"{len(missing)} judged queries are missing from the run ({_some(missing)}); add them, or set "
            "missing_query = 'zero'",
            ranking.source.name,
        )


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_NAMES_SHOWN])
    return shown if len(names) <= _NAMES_SHOWN else f"{shown}, …"


def repeated_document(ranking: EngineRanking, query_ids: Sequence[str], first: pa.Table) -> InputError:
    """Return the error for a document that is listed twice for a query."""
    row: dict[str, Any] = first.to_pylist()[0]
    times = {2: "twice"}.get(row["copies"], f"{row['copies']:,} times")
    return InputError(
        f"document {row['doc_id']!r} is listed {times} for query {query_ids[row['query']]!r}; remove one, or set "
        "duplicate_documents = 'best'",
        ranking.source.name,
    )
