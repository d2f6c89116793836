from __future__ import annotations

import math
import random
import struct
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankstats import tables
from rankstats.conventions import Policies
from rankstats.errors import InputError
from rankstats.tables import Hits, Judgments, Ranking, make_hits
from tests.tables.made import SOURCE, Row, collections, judgments_of, patient, ranking_of

TIES = ("doc_id", "rank", "input", "float32")


def to_32_bits(score: float) -> float:
    return float(struct.unpack("f", struct.pack("f", score))[0])


def code_points(doc_id: str) -> list[int]:
    return [ord(character) for character in doc_id]


def ordered(rows: list[tuple[int, str, float, float]], ties: str) -> list[tuple[int, str, float, float]]:
    """Order rows of (line, document, score, rank) of one query, in the plainest way."""
    by_document = sorted(rows, key=lambda row: code_points(row[1]), reverse=True)
    if ties == "doc_id":
        return sorted(by_document, key=lambda row: -row[2])
    if ties == "float32":
        return sorted(by_document, key=lambda row: -to_32_bits(row[2]))
    if ties == "rank":
        return sorted(by_document, key=lambda row: (row[3], -row[2]))
    return sorted(rows, key=lambda row: (-row[2], row[0]))


def tie_key(row: tuple[int, str, float, float], ties: str) -> float:
    return row[3] if ties == "rank" else to_32_bits(row[2]) if ties == "float32" else row[2]


def expected_lists(rows: list[Row], ranks: list[float], ties: str) -> dict[str, list[tuple[int, str, float, float]]]:
    lists: dict[str, list[tuple[int, str, float, float]]] = {}
    for line, ((query_id, doc_id, score), rank) in enumerate(zip(rows, ranks, strict=True)):
        lists.setdefault(query_id, []).append((line, doc_id, score, rank))
    return {query_id: ordered(listed, ties) for query_id, listed in lists.items()}


def hit_rows(judgments: Judgments, hits: Hits) -> list[tuple[str, int, str, float]]:
    doc_ids = [str(doc_id) for doc_id in judgments.doc_ids.to_pylist()]
    return [
        (judgments.query_ids[query], rank, doc_ids[row], grade)
        for query, rank, row, grade in zip(
            hits.query.tolist(), hits.rank.tolist(), hits.judgment.tolist(), hits.grade.tolist(), strict=True
        )
    ]


def top_rows(judgments: Judgments, hits: Hits) -> list[tuple[str, int, str, float | None]]:
    top = hits.top
    grades = [None if math.isnan(grade) else grade for grade in top.grade.tolist()]
    queries = [judgments.query_ids[query] for query in top.query.tolist()]
    doc_ids = [str(doc_id) for doc_id in top.doc_ids.to_pylist()]
    return list(zip(queries, top.rank.tolist(), doc_ids, grades, strict=True))


@patient
@given(collections(), st.sampled_from(TIES), st.integers(0, 4), st.integers(1, 3), st.data())
def test_agrees_with_the_plainest_way(
    made: tuple[dict[str, dict[str, float]], list[Row]], ties: str, depth: int, pieces: int, data: st.DataObject
) -> None:
    grades, rows = made
    ranks = data.draw(st.lists(st.integers(1, 4).map(float), min_size=len(rows), max_size=len(rows)))
    judgments = judgments_of(grades)
    ranking = ranking_of(rows, ranks, pieces=pieces)
    hits = make_hits(judgments, ranking, Policies(ties=ties), depth=depth)

    lists = expected_lists(rows, ranks, ties)
    placed = [
        (query_id, rank, row[1], grades[query_id].get(row[1]))
        for query_id in judgments.query_ids
        for rank, row in enumerate(lists.get(query_id, []), start=1)
    ]
    assert hit_rows(judgments, hits) == [row for row in placed if row[3] is not None]
    assert top_rows(judgments, hits) == [row for row in placed if row[1] <= depth]
    keys = {query_id: [tie_key(row, ties) for row in listed] for query_id, listed in lists.items()}
    assert hits.returned.tolist() == [len(keys.get(query_id, [])) for query_id in judgments.query_ids]
    assert hits.tied.tolist() == [
        sum(keys.get(query_id, []).count(key) > 1 for key in keys.get(query_id, [])) for query_id in judgments.query_ids
    ]
    assert hits.unknown_queries == tuple(sorted(set(lists) - set(grades)))


def assert_same(first: Hits, second: Hits) -> None:
    for name in ("query", "rank", "grade", "judgment", "returned", "tied"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    assert first.top.doc_ids.to_pylist() == second.top.doc_ids.to_pylist()
    np.testing.assert_array_equal(first.top.rank, second.top.rank)
    assert first.unknown_queries == second.unknown_queries


@patient
@given(collections(), st.sampled_from(TIES), st.integers(1, 3))
def test_hashes_change_nothing(made: tuple[dict[str, dict[str, float]], list[Row]], ties: str, pieces: int) -> None:
    grades, rows = made
    ranks, policies, judgments = [1.0 for _ in rows], Policies(ties=ties), judgments_of(grades)
    assert_same(
        make_hits(judgments, ranking_of(rows, ranks, pieces=pieces, is_hashed=True), policies),
        make_hits(judgments, ranking_of(rows, ranks), policies),
    )


def test_a_document_that_shares_its_hash_with_a_judged_one_is_no_hit() -> None:
    judgments = judgments_of({"q1": {"starts-so-A-ends-so": 1.0}})
    rows = [("q1", "starts-so-B-ends-so", 2.0), ("q1", "starts-so-A-ends-so", 1.0)]
    run = ranking_of(rows, is_hashed=True)
    assert run.doc_hashes is not None
    assert run.doc_hashes[0] == run.doc_hashes[1]
    hits = make_hits(judgments, run, Policies())
    assert (hits.rank.tolist(), hits.top.doc_ids.to_pylist()) == ([2], [rows[0][1], rows[1][1]])


@patient
@given(collections(), st.sampled_from(["doc_id", "rank", "float32"]), st.randoms(use_true_random=False))
def test_order_of_lines_changes_nothing(
    made: tuple[dict[str, dict[str, float]], list[Row]], ties: str, shuffler: random.Random
) -> None:
    grades, rows = made
    ranks = [float(shuffler.randint(1, 4)) for _ in rows]
    shuffled = list(range(len(rows)))
    shuffler.shuffle(shuffled)
    policies, judgments = Policies(ties=ties), judgments_of(grades)
    assert_same(
        make_hits(judgments, ranking_of(rows, ranks), policies),
        make_hits(judgments, ranking_of([rows[i] for i in shuffled], [ranks[i] for i in shuffled]), policies),
    )


def test_ties_beyond_the_top_are_settled_where_a_judged_document_stands_in_them() -> None:
    judgments = judgments_of({"q1": {"d05": 1.0}})
    rows = [("q1", f"d{number:02}", 1.0 if number > 2 else 9.0 - number) for number in range(9)]
    hits = make_hits(judgments, ranking_of(rows), Policies(), depth=2)
    # d00 and d01 and d02 first, then d08, d07, d06, d05
    assert hits.rank.tolist() == [7]
    assert hits.tied.tolist() == [6]


def test_a_tie_that_begins_at_the_last_place_shown_is_settled() -> None:
    judgments = judgments_of({"q1": {"z": 1.0}})
    rows = [("q1", "a", 2.0), ("q1", "b", 1.0), ("q1", "c", 1.0)]
    assert make_hits(judgments, ranking_of(rows), Policies(), depth=2).top.doc_ids.to_pylist() == ["a", "c"]


def test_a_document_judged_for_two_queries_has_each_querys_grade() -> None:
    judgments = judgments_of({"q1": {"a": 1.0}, "q2": {"a": 3.0, "b": 2.0}})
    rows = [("q2", "a", 1.0), ("q1", "b", 2.0), ("q1", "a", 1.0)]
    assert hit_rows(judgments, make_hits(judgments, ranking_of(rows), Policies())) == [
        ("q1", 2, "a", 1.0),
        ("q2", 1, "a", 3.0),
    ]


def test_interleaved_descending_queries_are_not_taken_for_grouped_ones() -> None:
    judgments = judgments_of({"q1": {"a": 1.0, "b": 1.0}, "q2": {"c": 1.0}})
    rows = [("q1", "a", 3.0), ("q2", "c", 2.0), ("q1", "b", 1.0)]
    assert make_hits(judgments, ranking_of(rows), Policies()).rank.tolist() == [1, 2, 1]


@pytest.mark.parametrize("type_", [pa.string(), pa.large_string()])
def test_string_types_of_the_run_may_differ_from_those_of_the_judgments(type_: pa.DataType) -> None:
    judgments = judgments_of({"q1": {"a": 1.0}})
    doc_ids = pa.array(["x", "a"], type_)
    run = Ranking("new", ("q1",), np.zeros(2, np.int32), doc_ids, np.array([1.0, 1.0]), None, SOURCE)
    hits = make_hits(judgments, run, Policies())
    assert hits.rank.tolist() == [2]
    assert hits.top.doc_ids.type == pa.string()


def test_an_empty_run_leaves_every_query_without_documents() -> None:
    judgments = judgments_of({"q1": {"a": 1.0}, "q2": {"b": 0.0}})
    hits = make_hits(judgments, ranking_of([]), Policies())
    assert hits.returned.tolist() == [0, 0]
    assert len(hits.query) == len(hits.top.doc_ids) == 0


def test_scores_beyond_32_bits_tie_under_float32() -> None:
    judgments = judgments_of({"q1": {"a": 1.0}})
    rows = [("q1", "b", 1e300), ("q1", "a", 2e300)]
    assert make_hits(judgments, ranking_of(rows), Policies()).rank.tolist() == [1]
    assert make_hits(judgments, ranking_of(rows), Policies(ties="float32")).rank.tolist() == [2]


def test_tables_and_measure_names_load_without_pyarrow() -> None:
    program = "import sys, rankstats.measures, rankstats.tables; sys.exit('pyarrow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
    with pytest.raises(AttributeError, match="no attribute 'make_misses'"):
        tables.make_misses  # noqa: B018  # the look-up is what is tested


def test_a_missing_rank_column_is_an_error_that_names_the_run() -> None:
    with pytest.raises(InputError, match=r"made here: ties = 'rank' needs the rank column"):
        make_hits(judgments_of({"q1": {"a": 1.0}}), ranking_of([("q1", "a", 1.0)]), Policies(ties="rank"))


def test_unknown_queries_may_be_an_error() -> None:
    judgments = judgments_of({"q1": {"a": 1.0}})
    ranking = ranking_of([(f"x{number}", "a", 1.0) for number in range(7)])
    with pytest.raises(InputError, match=r"7 queries have no judgments \(x0, x1, x2, x3, x4, …\)"):
        make_hits(judgments, ranking, Policies(unknown_query="error"))


def test_missing_queries_may_be_an_error() -> None:
    judgments = judgments_of({"q1": {"a": 1.0}, "q2": {"a": 1.0}})
    with pytest.raises(InputError, match=r"made here: 1 judged queries are missing from the run \(q2\)"):
        make_hits(judgments, ranking_of([("q1", "a", 1.0)]), Policies(missing_query="error"))
