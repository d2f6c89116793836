"""Runs as frames of an engine, and what the hits of both ways are compared by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import duckdb
import narwhals as nw
import numpy as np
import polars as pl
import pyarrow as pa

from rankstats.conventions import Policies
from rankstats.tables import Hits, Judgments
from rankstats.tables.engines.adapters import engine_of
from rankstats.tables.engines.hit_making import make_engine_hits
from rankstats.tables.engines.ranking import EngineRanking
from tests.tables.made import SOURCE, Row


def table_of(rows: Sequence[Row], ranks: Sequence[float] | None = None) -> pa.Table:
    columns: dict[str, Any] = {
        "query_id": pa.array([row[0] for row in rows], pa.string()),
        "doc_id": pa.array([row[1] for row in rows], pa.string()),
        "score": pa.array([row[2] for row in rows], pa.float64()),
    }
    if ranks is not None:
        columns["rank"] = pa.array(ranks, pa.float64())
    return pa.table(columns)


def duckdb_frame(table: pa.Table) -> Any:
    return duckdb.from_arrow(table)


def polars_frame(table: pa.Table) -> Any:
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame.lazy()


FRAMES: dict[str, Callable[[pa.Table], Any]] = {"duckdb": duckdb_frame, "polars": polars_frame}


def held(native: Any, *, by_rank: bool = False, rows_at_once: int | None = None) -> EngineRanking:
    frame = nw.from_native(native)
    engine = engine_of(frame)
    assert engine is not None
    engine.rows_at_once = rows_at_once
    ranked = "rank" in frame.collect_schema().names()
    if by_rank:
        frame = frame.with_columns(score=0 - nw.col("rank"))
    return EngineRanking("new", frame, ranked, by_rank, engine, SOURCE)


def engine_hits(
    judgments: Judgments, ranking: EngineRanking, policies: Policies, *, depth: int = 10, reverse_ties: bool = False
) -> Hits:
    return make_engine_hits(judgments, ranking, policies, depth=depth, reverse_ties=reverse_ties)


def assert_same_hits(one: Hits, other: Hits) -> None:
    for name in ("query", "rank", "grade", "judgment", "returned", "tied", "score"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
        assert getattr(one, name).dtype == getattr(other, name).dtype, name
    assert one.unknown_queries == other.unknown_queries
    np.testing.assert_array_equal(one.top.query, other.top.query)
    np.testing.assert_array_equal(one.top.rank, other.top.rank)
    np.testing.assert_array_equal(one.top.grade, other.top.grade)
    assert one.top.doc_ids.to_pylist() == other.top.doc_ids.to_pylist()
