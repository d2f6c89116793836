"""What measures have to do with one another, and how several of them are read."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankstats.conventions import Policies
from rankstats.errors import MeasureError
from rankstats.measures import evaluate, parse_measures
from rankstats.tables import Scores, make_hits
from tests.measures.computed import brisk, table_of, value_of_grades, values_of_grades
from tests.measures.oracle_graded import graded_ap_by_threshold
from tests.tables.made import Row, collections, judgments_of, ranking_of

Collection = tuple[dict[str, dict[str, float]], list[Row]]
GRADES = st.lists(st.sampled_from([0.0, 1.0, 2.0, 3.0, 4.0]), min_size=1, max_size=7)

SAME = {
    "Q(beta=0)": "AP",
    "Q(beta=0)@3": "AP@3",
    "SetR": "R@100",
    "IAP(levels=[0.5])": "IPrec@0.5",
    "IPrec@0": "IPrec@0.001",
    "RBP(p=0.5,rel=1)": "RBP(p=0.5,rel=1)@100",
    "nDCG(discount=[1, 1, 1])": "nDCG(discount='none')@3",
    "nDCG(discount=[1, 0.5])": "nDCG(discount='rank')@2",
    "ERR(max='query')@50": "ERR(max='query')",
}
"""Names that differ and values that do not."""


@brisk
@given(collections())
def test_different_names_for_the_same_values(made: Collection) -> None:
    for values in table_of([*SAME, *SAME.values()], *made).values():
        for special, general in SAME.items():
            assert values[special] == pytest.approx(values[general], abs=1e-12, nan_ok=True), special


@brisk
@given(collections())
def test_with_one_grade_graded_measures_are_binary_ones(made: Collection) -> None:
    grades, rows = made
    binary = {q: {doc_id: float(grade >= 1) for doc_id, grade in judged.items()} for q, judged in grades.items()}
    pairs = {"GAP": "AP", "GAP@3": "AP@3", "RBP": "RBP(rel=1)", "G": "binG"}
    for values in table_of([*pairs, *pairs.values()], binary, rows).values():
        for graded, plain in pairs.items():
            assert values[graded] == pytest.approx(values[plain], abs=1e-12, nan_ok=True), graded


@brisk
@given(GRADES, GRADES)
def test_graded_average_precision_is_the_expectation_over_thresholds(shown: list[float], lost: list[float]) -> None:
    listed = [f"d{rank:03}" for rank in range(len(shown))]
    judged = dict(zip(listed, shown, strict=True)) | {f"z{place}": grade for place, grade in enumerate(lost)}
    expected = graded_ap_by_threshold(judged, listed)
    value = value_of_grades("GAP", shown, not_returned=lost)
    assert value == pytest.approx(math.nan if expected is None else expected, abs=1e-12, nan_ok=True)


@brisk
@given(collections(), st.sampled_from([0.5, 0.8, 0.95]))
def test_rank_biased_precision_cannot_exceed_its_residual(made: Collection, p: float) -> None:
    grades, rows = made
    names = [f"RBP(p={p},rel=1)", f"RBP_residual(p={p})"]
    now = table_of(names, grades, rows)
    listed: dict[str, set[str]] = {}
    for query_id, doc_id, _ in rows:
        listed.setdefault(query_id, set()).add(doc_id)
    # all that is not judged, or pooled only, turns out relevant
    best = {
        q: {doc_id: grade if grade >= 0 else 1.0 for doc_id, grade in judged.items()}
        | dict.fromkeys(listed.get(q, set()) - set(judged), 1.0)
        for q, judged in grades.items()
    }
    for query_id, values in table_of(names[:1], best, rows).items():
        value, residual = now[query_id].values()
        tail = p ** len(listed.get(query_id, ()))
        assert values[names[0]] + tail == pytest.approx(value + residual, abs=1e-12)


@brisk
@given(GRADES, GRADES)
def test_a_judged_list_is_its_own_condensed_list(shown: list[float], lost: list[float]) -> None:
    names = ["AP", "nDCG@3", "RR", "P@2", "SetP", "Bpref", "RBP"]
    values = values_of_grades(names + [f"Condensed({name})" for name in names], shown, not_returned=lost)
    for name in names:
        assert values[name] == pytest.approx(values[f"Condensed({name})"], abs=0, nan_ok=True)


@pytest.mark.parametrize(
    ("threshold", "right"),
    # judged: a and b relevant, c and d not; x is unjudged; scores a .9, c .5, b .4, x .3; d is not returned
    [(None, 3), (0.3, 3), (0.4, 2), (0.5, 3), (0.9, 2), (-1, 3)],
)
def test_accuracy_of_classes_counts_scores_above_a_threshold(threshold: float | None, right: int) -> None:
    name = "ClassAccuracy" + ("" if threshold is None else f"(threshold={threshold})")
    rows = [("q", "a", 0.9), ("q", "c", 0.5), ("q", "b", 0.4), ("q", "x", 0.3)]
    assert table_of([name], {"q": {"a": 1.0, "b": 2.0, "c": 0.0, "d": 0.0}}, rows)["q"][name] == right / 4


def test_a_threshold_needs_scores() -> None:
    judgments = judgments_of({"q": {"a": 1.0}})
    hits = make_hits(judgments, ranking_of([("q", "a", 1.0)]), Policies())
    assert hits.score is not None
    assert hits.score.tolist() == [1.0]
    with pytest.raises(MeasureError, match=r"needs the scores of new, which its hits do not carry"):
        evaluate(parse_measures("ClassAccuracy(threshold=0)"), judgments, replace(hits, score=None), Policies())


@brisk
@given(collections())
def test_hits_carry_the_scores_of_their_documents(made: Collection) -> None:
    grades, rows = made
    judgments = judgments_of(grades)
    hits = make_hits(judgments, ranking_of(rows), Policies())
    scores = {(query_id, doc_id): score for query_id, doc_id, score in rows}
    documents = judgments.doc_ids.to_pylist()
    assert hits.score is not None
    for query, judgment, score in zip(hits.query, hits.judgment, hits.score, strict=True):
        assert scores[(judgments.query_ids[query], documents[judgment])] == score


@brisk
@given(collections())
def test_running_sums_of_a_query_do_not_depend_on_other_queries(made: Collection) -> None:
    grades, rows = made
    uneven = {q: {doc_id: grade + 0.1 for doc_id, grade in judged.items()} for q, judged in grades.items()}
    names = ["Q", "nDCG_rel", "Rndcg", "G", "Compat"]
    for query_id, values in table_of(names, uneven, rows).items():
        alone = table_of(names, {query_id: uneven[query_id]}, rows)[query_id]
        np.testing.assert_array_equal(list(values.values()), list(alone.values()))


def test_geometric_means_and_sums_of_queries() -> None:
    measures = parse_measures("GMAP, NumRelRet, AP, GMBpref")
    judgments = judgments_of({"q1": {"a": 1.0}, "q2": {"a": 1.0, "b": 0.0}, "q3": {"a": 1.0}})
    rows = [("q1", "a", 2.0), ("q2", "b", 2.0), ("q2", "a", 1.0)]
    values = evaluate(measures, judgments, make_hits(judgments, ranking_of(rows), Policies()), Policies())
    infos = tuple(measure.info() for measure in measures)
    scores = Scores(values[:, None, :], judgments.query_ids, ("new",), infos)
    assert [info.aggregate for info in infos] == ["geometric mean", "sum", "mean", "geometric mean"]
    found = [scores.aggregates()[(0, m)] for m in range(4)]
    assert found == pytest.approx([(1 * 0.5 * 0.00001) ** (1 / 3), 2, 0.5, (1 * 0.00001 * 0.00001) ** (1 / 3)])
    assert values[:, 0].tolist() == pytest.approx([0, math.log(0.5), math.log(0.00001)])


def test_a_grade_above_the_scale_of_rbp_is_refused() -> None:
    judgments = judgments_of({"q": {"a": 3.0}})
    hits = make_hits(judgments, ranking_of([("q", "a", 1.0)]), Policies())
    with pytest.raises(MeasureError, match=r"RBP\(max=2\): .* name the maximum: RBP\(max=3\)"):
        evaluate(parse_measures("RBP(max=2)"), judgments, hits, Policies())
    values = evaluate(parse_measures("RBP(rel=1), RBP(max=6)@1, RBP"), judgments, hits, Policies())
    assert values.tolist() == [pytest.approx([0.2, 0.1, 0.2])]
