"""Best and worst cases over unjudged documents, against all assignments of grades."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankstats.conventions import Policies
from rankstats.errors import MeasureError
from rankstats.measures import parse_measure, parse_measures, unjudged_bounds
from rankstats.tables import make_hits
from tests.measures.oracle import FORMULAS
from tests.tables.made import judgments_of, ranking_of

NAMES = tuple(
    name
    for name in FORMULAS
    if (measure := parse_measure(name)).declaration.rewards_moving_up(measure.settings) and "max_rel" not in name
)
Listed = Sequence[float | None]
"""Grades from the top; None for an unjudged document."""


def extremes(name: str, judged: Mapping[str, float], listed: Sequence[str], depth: int, grade: float) -> list[float]:
    """Return smallest and largest value over every assignment of 0 or the grade to the unjudged documents."""
    unjudged = [doc_id for doc_id in listed[:depth] if doc_id not in judged]
    values = []
    for grades in itertools.product((0.0, grade), repeat=len(unjudged)):
        value = FORMULAS[name]({**judged, **dict(zip(unjudged, grades, strict=True))}, listed)
        values.append(math.nan if value is None else value)
    defined = [value for value in values if not math.isnan(value)]
    return [min(defined), max(defined)] if defined else [math.nan, math.nan]


@settings(deadline=None, max_examples=25)
@given(
    st.lists(st.lists(st.sampled_from([None, None, 0.0, 1.0, 2.0]), max_size=6).filter(any), min_size=1, max_size=3),
    st.lists(st.sampled_from([0.0, 1.0, 2.0]), max_size=2),
    st.integers(1, 7),
    st.sampled_from([None, 1.0]),
)
def test_against_every_assignment(
    lists: list[list[float | None]], not_returned: list[float], depth: int, grade: float | None
) -> None:
    judged = {
        f"q{q}": {
            **{f"d{rank}": grade for rank, grade in enumerate(grades) if grade is not None},
            **{f"z{place}": grade for place, grade in enumerate(not_returned)},
        }
        for q, grades in enumerate(lists)
    }
    judgments = judgments_of(judged)
    rows = [(f"q{q}", f"d{rank}", float(-rank)) for q, grades in enumerate(lists) for rank in range(len(grades))]
    hits = make_hits(judgments, ranking_of(rows), Policies())
    bounds = unjudged_bounds(parse_measures(NAMES), judgments, hits, Policies(), grade=grade, depth=depth)
    largest = max(max(grades.values()) for grades in judged.values())
    assert bounds.grade == (max(largest, 1.0) if grade is None else grade)
    for q, query_id in enumerate(judgments.query_ids):
        listed = [f"d{rank}" for rank in range(len(lists[q]))]
        assert bounds.unjudged[q] == sum(doc_id not in judged[query_id] for doc_id in listed[:depth])
        for m, name in enumerate(NAMES):
            expected = extremes(name, judged[query_id], listed, depth, bounds.grade)
            found = [bounds.worst[q, m], bounds.best[q, m]]
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12, err_msg=f"{name} {query_id}")


def test_recall_may_fall_when_more_is_relevant() -> None:
    judgments = judgments_of({"q": {"a": 1.0}})
    hits = make_hits(judgments, ranking_of([("q", "a", 3.0), ("q", "x", 2.0), ("q", "y", 1.0)]), Policies())
    (row,) = unjudged_bounds(parse_measures("R@1"), judgments, hits, Policies()).to_dicts()
    assert row == {"query_id": "q", "measure": "R@1", "worst": 1 / 3, "value": 1.0, "best": 1.0, "unjudged": 2}


def test_bounds_leave_their_inputs_alone() -> None:
    judgments = judgments_of({"q": {"a": 1.0}})
    hits = make_hits(judgments, ranking_of([("q", "x", 2.0), ("q", "a", 1.0)]), Policies())
    unjudged_bounds(parse_measures("AP"), judgments, hits, Policies())
    assert hits.rank.tolist() == [2]
    assert judgments.grade.tolist() == [1.0]


def test_a_query_without_a_relevant_document_may_get_a_value() -> None:
    judgments = judgments_of({"q": {"a": 0.0}})
    hits = make_hits(judgments, ranking_of([("q", "x", 2.0), ("q", "a", 1.0)]), Policies())
    bounds = unjudged_bounds(parse_measures("AP"), judgments, hits, Policies())
    assert np.isnan(bounds.value[0, 0])
    assert [bounds.worst[0, 0], bounds.best[0, 0]] == [1.0, 1.0]
    zero = unjudged_bounds(parse_measures("AP"), judgments, hits, Policies(no_relevant="zero"))
    assert [zero.worst[0, 0], zero.value[0, 0], zero.best[0, 0]] == [0.0, 0.0, 1.0]


def test_measures_that_a_better_document_further_up_may_lower_are_refused_at_once() -> None:
    judgments = judgments_of({"q": {"a": 1.0}})
    hits = make_hits(judgments, ranking_of([("q", "a", 1.0)]), Policies())
    with pytest.raises(MeasureError, match=r"bounds over unjudged .* for Q, Judged@5, StRecall@5; leave them out"):
        unjudged_bounds(parse_measures("Q, AP, Judged@5, StRecall@5"), judgments, hits, Policies())
