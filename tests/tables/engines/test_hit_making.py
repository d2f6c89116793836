from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankstats.conventions import Policies
from rankstats.errors import InputError, PlanError
from rankstats.tables import make_hits
from tests.tables.engines.made import FRAMES, assert_same_hits, engine_hits, held, table_of
from tests.tables.made import Row, collections, judgments_of, ranking_of

Collection = tuple[dict[str, dict[str, float]], list[Row]]
few = settings(deadline=None, max_examples=15)  # each goes through an engine several times
both = pytest.mark.parametrize("engine", FRAMES)


@both
@few
@given(collections(), st.sampled_from(("doc_id", "rank", "float32")), st.integers(0, 4), st.booleans(), st.data())
def test_the_same_hits_as_in_memory(
    engine: str, made: Collection, ties: str, depth: int, reverse: bool, data: st.DataObject
) -> None:
    grades, rows = made
    if not rows:
        return
    ranks = data.draw(st.lists(st.integers(1, 4).map(float), min_size=len(rows), max_size=len(rows)))
    at_once = data.draw(st.sampled_from([None, 9]))
    judgments, policies = judgments_of(grades), Policies(ties=ties)
    expected = make_hits(judgments, ranking_of(rows, ranks), policies, depth=depth, reverse_ties=reverse)
    ranking = held(FRAMES[engine](table_of(rows, ranks)), rows_at_once=at_once)
    assert_same_hits(engine_hits(judgments, ranking, policies, depth=depth, reverse_ties=reverse), expected)
    if reverse:  # the steps that both orders share are not run again
        straight = make_hits(judgments, ranking_of(rows, ranks), policies, depth=depth)
        assert_same_hits(engine_hits(judgments, ranking, policies, depth=depth), straight)


@both
@few
@given(collections(), st.integers(0, 1), st.data())
def test_given_ranks_without_gaps_need_no_window(
    engine: str, made: Collection, lowest: int, data: st.DataObject
) -> None:
    grades, rows = made
    if not rows:
        return
    ranks: list[float] = []
    for query_id, _, _ in rows:
        ranks.append(float(lowest + sum(row[0] == query_id for row in rows[: len(ranks)])))
    order = data.draw(st.permutations(range(len(rows))))
    rows, ranks = [rows[i] for i in order], [ranks[i] for i in order]
    judgments, policies = judgments_of(grades), Policies(ties="rank")
    ranking = held(FRAMES[engine](table_of(rows, ranks)))
    expected = make_hits(judgments, ranking_of(rows, ranks), policies, depth=2)
    assert_same_hits(engine_hits(judgments, ranking, policies, depth=2), expected)
    assert ranking.made["prepared"].lowest_rank == lowest
    # where the rule is another one, ranks that stand there count for nothing
    by_score = engine_hits(judgments, held(FRAMES[engine](table_of(rows, ranks))), Policies())
    assert_same_hits(by_score, make_hits(judgments, ranking_of(rows, ranks), Policies()))


@both
def test_scores_that_32_bits_cannot_hold_are_tied_as_infinite(engine: str) -> None:
    judgments = judgments_of({"q": {"a": 1.0, "b": 2.0, "c": 1.0, "d": 0.0}})
    edge = 3.4028235677973366e38  # rounds to infinity; the number before it does not
    rows = [("q", "b", 1e300), ("q", "a", edge), ("q", "c", 3.4028235677973362e38), ("q", "d", -1e300)]
    policies = Policies(ties="float32")
    expected = make_hits(judgments, ranking_of(rows), policies)
    hits = engine_hits(judgments, held(FRAMES[engine](table_of(rows))), policies)
    assert_same_hits(hits, expected)
    assert hits.tied.tolist() == [2]


@both
@pytest.mark.parametrize("at_once", [None, 2])
def test_a_document_that_is_listed_twice(engine: str, at_once: int | None) -> None:
    judgments = judgments_of({"q": {"a": 1.0, "b": 1.0}, "r": {"a": 1.0}})
    rows = [("q", "b", 1.0), ("q", "a", 0.5), ("q", "b", 2.0), ("q", "b", 0.1), ("r", "a", 1.0), ("s", "x", 1.0)]
    ranking = held(FRAMES[engine](table_of(rows)), rows_at_once=at_once)
    with pytest.raises(InputError, match=r"document 'b' is listed 3 times for query 'q'.*duplicate_documents = 'best'"):
        engine_hits(judgments, ranking, Policies())
    best = [("q", "b", 2.0), ("q", "a", 0.5), ("r", "a", 1.0), ("s", "x", 1.0)]
    policies = Policies(duplicate_documents="best")
    ranking = held(FRAMES[engine](table_of(rows)), rows_at_once=at_once)
    assert_same_hits(engine_hits(judgments, ranking, policies), make_hits(judgments, ranking_of(best), policies))
    assert (ranking.made["rows"], ranking.made["dropped"]) == (6, 2)


@both
@pytest.mark.parametrize(
    ("row", "message"),
    [
        (("q", "c", float("nan")), "the score of document 'c' for query 'q' nan is not a finite number"),
        (("q", "c", float("-inf")), "the score of document 'c' for query 'q' -inf is not a finite number"),
        (("q", "c", None), "the score of document 'c' for query 'q' is missing"),
        (("q", "", 1.0), "a document id is missing for query 'q'"),
        (("q", None, 1.0), "a document id is missing for query 'q'"),
        (("q", "c ", 1.0), "document id 'c ' for query 'q' has white space at its ends"),
        ((None, "c", 1.0), "a query id is missing"),
        ((" ", "c", 1.0), "a query id is missing"),
        ((" q", "c", 1.0), "query id ' q' has white space at its ends"),
    ],
)
def test_rows_that_cannot_be_used_are_named(engine: str, row: Row, message: str) -> None:
    judgments = judgments_of({"q": {"a": 1.0}})
    with pytest.raises(InputError, match=message):
        engine_hits(judgments, held(FRAMES[engine](table_of([("q", "a", 0.5), row]))), Policies())


@both
@pytest.mark.parametrize(
    ("policies", "message"),
    [
        (Policies(ties="input"), "ties = 'input' asks for the order of the lines"),
        (Policies(duplicate_documents="first"), "duplicate_documents = 'first' asks for the order of the lines"),
        (Policies(ties="rank", duplicate_documents="best"), "the best score may stand at another rank"),
    ],
)
def test_policies_that_no_engine_can_follow_are_refused_by_name(engine: str, policies: Policies, message: str) -> None:
    ranking = held(FRAMES[engine](table_of([("q", "a", 0.5)], [1.0])))
    with pytest.raises(PlanError, match=message):
        engine_hits(judgments_of({"q": {"a": 1.0}}), ranking, policies)


@both
def test_ranks_that_are_asked_for_must_be_there(engine: str) -> None:
    ranking = held(FRAMES[engine](table_of([("q", "a", 0.5)])))
    with pytest.raises(InputError, match="needs the rank column"):
        engine_hits(judgments_of({"q": {"a": 1.0}}), ranking, Policies(ties="rank"))


@both
def test_missing_and_unknown_queries_follow_the_policies(engine: str) -> None:
    judgments = judgments_of({"q": {"a": 1.0}, "r": {"a": 1.0}})
    rows = [("q", "a", 0.5), ("z", "a", 0.5)]
    with pytest.raises(InputError, match=r"1 judged queries are missing from the run \(r\)"):
        engine_hits(judgments, held(FRAMES[engine](table_of(rows))), Policies(missing_query="error"))
    with pytest.raises(InputError, match=r"1 queries have no judgments \(z\)"):
        engine_hits(judgments, held(FRAMES[engine](table_of(rows))), Policies(unknown_query="error"))


@both
def test_a_run_without_rows(engine: str) -> None:
    with pytest.raises(InputError, match="lists no document"):
        engine_hits(judgments_of({"q": {"a": 1.0}}), held(FRAMES[engine](table_of([]))), Policies())


@both
def test_more_of_the_lists_than_an_engine_hands_over(engine: str) -> None:
    judgments = judgments_of({"q": {"a": 1.0}, "r": {"a": 1.0}})
    with pytest.raises(PlanError, match=r"first 20,000,000 documents of 2 queries.*at most 20,000,000"):
        engine_hits(judgments, held(FRAMES[engine](table_of([("q", "a", 0.5)]))), Policies(), depth=20_000_000)
