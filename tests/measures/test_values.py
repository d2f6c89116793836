from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankstats.conventions import Policies
from rankstats.errors import MeasureError
from rankstats.measures import contributions, evaluate, evaluate_systems, parse_measure, parse_measures
from rankstats.tables import make_hits
from tests.measures.computed import brisk, table_of, value_of_grades, values_of_grades
from tests.measures.oracle import FORMULAS, Value
from tests.tables.made import Row, collections, judgments_of, patient, ranking_of

NAMES = tuple(FORMULAS)
Collection = tuple[dict[str, dict[str, float]], list[Row]]
MEASURES = parse_measures(NAMES)
PROMISING = [m.name for m in MEASURES if m.declaration.rewards_moving_up(m.settings)]
AT_BEST = [m.name for m in MEASURES if m.declaration.best_is_one(m.settings)]


def lists_of(rows: list[Row]) -> dict[str, list[str]]:
    lists: dict[str, list[str]] = {}
    by_document = sorted(rows, key=lambda row: row[1].encode("utf-32-be"), reverse=True)
    for query_id, doc_id, _ in sorted(by_document, key=lambda row: -row[2]):
        lists.setdefault(query_id, []).append(doc_id)
    return lists


def as_number(name: str, value: Value, policy: str) -> float:
    if value is not None:
        return value
    return np.nan if policy == "undefined" else parse_measure(name).declaration.zero


@patient
@given(collections(), st.sampled_from(["undefined", "zero"]))
def test_agrees_with_the_definitions(made: Collection, policy: str) -> None:
    grades, rows = made
    lists = lists_of(rows)
    table = table_of(NAMES, grades, rows, Policies(no_relevant=policy))
    for query_id, judged in grades.items():
        expected = [as_number(name, FORMULAS[name](judged, lists.get(query_id, [])), policy) for name in NAMES]
        np.testing.assert_allclose(list(table[query_id].values()), expected, rtol=0, atol=1e-12)


@brisk
@given(collections())
def test_values_stay_within_their_bounds(made: Collection) -> None:
    table = table_of(NAMES, *made)
    for values in table.values():
        for name in NAMES:
            low, high = parse_measure(name).declaration.bounds
            assert np.isnan(values[name]) or low - 1e-12 <= values[name] <= (np.inf if high is None else high + 1e-12)


@patient
@given(st.lists(st.sampled_from([0.0, 1.0, 2.0, 3.0]), min_size=1, max_size=8).filter(any), st.integers(0, 2))
def test_the_ideal_list_scores_1(grades: list[float], unjudged: int) -> None:
    best = sorted(grades, reverse=True)
    listed = [f"d{rank:03}" for rank in range(len(best))]
    judged = dict(zip(listed, best, strict=True))
    rows = [("q", doc_id, float(-rank)) for rank, doc_id in enumerate(listed + [f"u{i}" for i in range(unjudged)])]
    for name, value in table_of(AT_BEST, {"q": judged}, rows)["q"].items():
        assert np.isnan(value) or value == pytest.approx(1, abs=1e-12), name


def test_what_promises_1_for_the_ideal_list() -> None:
    promising = {parse_measure(name).declaration.name for name in AT_BEST}
    assert promising == {
        *("nDCG", "nERR", "AP", "R", "Q", "GAP", "nDCG_rel", "Rndcg", "binG", "Compat"),
        *("Rprec", "IPrec", "IAP", "Bpref", "SetP", "SetR", "Accuracy"),
    }


@brisk
@given(collections(), st.integers(1, 6))
def test_a_cutoff_never_raises_the_reciprocal_rank(made: Collection, k: int) -> None:
    for values in table_of(["RR", f"RR@{k}"], *made).values():
        assert values[f"RR@{k}"] <= values["RR"]


@brisk
@given(collections(), st.integers(1, 12))
def test_precision_counts_documents(made: Collection, k: int) -> None:
    for values in table_of([f"P@{k}"], *made).values():
        documents = values[f"P@{k}"] * k
        assert documents == pytest.approx(round(documents), abs=1e-12)
        assert values[f"P@{k}"] == round(documents) / k


@brisk
@given(collections())
def test_with_one_relevant_document_ap_is_rr(made: Collection) -> None:
    grades, rows = made
    one = {q: {doc_id: float(doc_id == max(judged)) for doc_id in judged} for q, judged in grades.items()}
    for values in table_of(["AP", "RR", "AP@3", "RR@3"], one, rows).values():
        assert values["AP"] == values["RR"]
        assert values["AP@3"] == values["RR@3"]


@brisk
@given(collections(), st.sampled_from([lambda x: 3 * x - 7, lambda x: x**3, np.arctan]))
def test_an_increasing_transformation_of_scores_changes_nothing(made: Collection, transform: object) -> None:
    grades, rows = made
    assert callable(transform)
    coarse = [(q, d, round(score, 2)) for q, d, score in rows]
    moved = [(q, d, float(transform(score))) for q, d, score in coarse]
    np.testing.assert_equal(table_of(NAMES, grades, moved), table_of(NAMES, grades, coarse))


@brisk
@given(collections(), st.integers(0, 2**32))
def test_new_document_ids_change_nothing_without_ties(made: Collection, seed: int) -> None:
    grades, rows = made
    shuffler = random.Random(seed)
    untied = [(q, d, float(rank)) for rank, (q, d, _) in enumerate(rows)]
    documents = sorted({d for _, d, _ in rows} | {d for judged in grades.values() for d in judged})
    names = shuffler.sample([f"n{number}" for number in range(100)], len(documents))
    new = dict(zip(documents, names, strict=True))
    renamed = {q: {new[d]: grade for d, grade in judged.items()} for q, judged in grades.items()}
    np.testing.assert_equal(
        table_of(NAMES, renamed, [(q, new[d], s) for q, d, s in untied]), table_of(NAMES, grades, untied)
    )


@patient
@given(st.lists(st.sampled_from([0.0, 1.0, 2.0, 3.0, 4.0]), min_size=2, max_size=7), st.data())
def test_moving_a_better_document_up_lowers_nothing_that_promises_so(grades: list[float], data: st.DataObject) -> None:
    positions = st.lists(st.integers(0, len(grades) - 1), min_size=2, max_size=2, unique=True)
    upper, lower = sorted(data.draw(positions))
    worse, better = grades.copy(), grades.copy()
    worse[upper], worse[lower] = sorted((grades[upper], grades[lower]))
    better[upper], better[lower] = sorted((grades[upper], grades[lower]), reverse=True)
    before, after = values_of_grades(PROMISING, worse), values_of_grades(PROMISING, better)
    for name in PROMISING:
        assert np.isnan(before[name]) or after[name] >= before[name] - 1e-15


def test_what_promises_to_reward_moving_up() -> None:
    assert set(NAMES) - set(PROMISING) == {
        *("AP(denominator='retrieved')@3", "nDCG(gains={1: 0, 2: 5})@3", "nDCG_rel", "G"),
        *("Q", "Q(rel=2,beta=0.5)@3", "Q(denominator='min')@2"),
        *("Judged", "Judged@3", "Judged(rel=0,denominator='k')@3", "Unjudged@3", "RBP_residual"),
        *("RBP_residual(p=0.5)@2", "BPM(max_rel=4)@3", "BPM(T=0.5,min_rel=1,max_rel=3)@5", "INST(max_rel=4)"),
        *("INST(T=2,max_rel=2)", "NERR8(max_rel=4)@3", "NERR9(max_rel=4)@3", "NERR10(max_rel=4)", "NERR11(max_rel=4)"),
        *("Accuracy@3", "ClassAccuracy(rel=2)@2", "NumNonRelRet", "infAP", "infAP(rel=2)"),
    }


@brisk
@given(collections())
def test_contributions_add_up_to_the_value(made: Collection) -> None:
    grades, rows = made
    judgments = judgments_of(grades)
    hits = make_hits(judgments, ranking_of(rows), Policies())
    for name in NAMES:
        measure = parse_measure(name)
        parts = contributions(measure, judgments, hits)
        value = evaluate([measure], judgments, hits, Policies(no_relevant="zero"))[:, 0]
        if parts is None:
            assert measure.declaration.terms is None
        else:
            assert len(parts) == len(hits.query)
            sums = np.bincount(hits.query, weights=parts, minlength=judgments.n_queries)
            np.testing.assert_allclose(sums, value, rtol=0, atol=1e-12)


@brisk
@given(collections(), collections())
def test_systems_and_measures_do_not_touch_one_another(first: Collection, second: Collection) -> None:
    judgments = judgments_of(first[0])
    hits = [make_hits(judgments, ranking_of(rows), Policies()) for rows in (first[1], second[1])]
    together = evaluate_systems(MEASURES, judgments, hits, Policies())
    for (system, one), (column, measure) in itertools.product(enumerate(hits), enumerate(MEASURES)):
        alone = evaluate([measure], judgments, one, Policies())
        np.testing.assert_array_equal(together[:, system, column], alone[:, 0])


def test_a_query_without_a_relevant_document_has_no_value_where_r_or_the_ideal_divides() -> None:
    names = ["AP", "R@5", "F1@5", "nDCG", "R(denominator='min')@5", "P@5", "RR", "DCG", "HitRate@5", "ERR", "Judged@5"]
    values = table_of(names, {"q": {"a": 0.0, "b": -1.0}}, [("q", "a", 1.0)])["q"]
    assert [name for name in names if np.isnan(values[name])] == names[:5]
    assert [values[name] for name in names[5:]] == [0, 0, 0, 0, 0, 1]
    zero = table_of(names, {"q": {"a": 0.0, "b": -1.0}}, [("q", "a", 1.0)], Policies(no_relevant="zero"))["q"]
    assert [zero[name] for name in names[:5]] == [0] * 5


def test_undefined_follows_the_threshold_in_the_name() -> None:
    values = table_of(["AP", "AP(rel=2)", "nDCG"], {"q": {"a": 1.0}}, [("q", "a", 1.0)])["q"]
    assert values["AP"] == values["nDCG"] == 1
    assert np.isnan(values["AP(rel=2)"])


def test_a_missing_query_is_0_and_stays_undefined_without_a_relevant_document() -> None:
    table = table_of(["AP", "P@5", "Judged@5"], {"q1": {"a": 1.0}, "q2": {"a": 0.0}}, [])
    assert table["q1"] == {"AP": 0, "P@5": 0, "Judged@5": 0}
    assert np.isnan(table["q2"]["AP"])


def test_fractional_grades_keep_their_fraction() -> None:
    assert value_of_grades("nDCG@2", [1.5, 1.9]) == pytest.approx(
        (1.5 + 1.9 / np.log2(3)) / (1.9 + 1.5 / np.log2(3)), abs=1e-12
    )
    assert value_of_grades("DCG@1", [0.5]) == 0.5
    assert value_of_grades("P@1", [0.5]) == 0


def test_an_exponential_gain_of_grades_above_10_is_refused_for_all_measures_at_once() -> None:
    judgments = judgments_of({"q": {"a": 100.0, "b": 10.0}})
    hits = make_hits(judgments, ranking_of([("q", "a", 1.0)]), Policies())
    measures = parse_measures("nDCG(dcg='exp-log2')@10, nDCG@10, DCG(dcg='exp-log2'), nDCG(gains={100: 3}), ERR@20")
    with pytest.raises(MeasureError) as caught:
        evaluate(measures, judgments, hits, Policies())
    lines = str(caught.value).split("\n")
    assert [line.split(":")[0] for line in lines] == ["nDCG(dcg='exp-log2')@10", "DCG(dcg='exp-log2')", "ERR@20"]
    assert "a grade of 100" in lines[0]
    assert "linear gain" in lines[0]
    assert "gains={100: 3, …}" in lines[0]
    assert "ERR(max=100)" in lines[2]
    with pytest.raises(MeasureError, match="grade of 100"):
        contributions(measures[0], judgments, hits)


def test_grade_10_is_still_allowed_with_the_exponential_gain() -> None:
    assert value_of_grades("DCG(dcg='exp-log2')@1", [10.0]) == 1023


def test_a_constant_scorer_gains_nothing_from_the_order_of_lines() -> None:
    rows = [("q", doc_id, 1.0) for doc_id in ("a", "b", "c", "d")]
    for lines in itertools.permutations(rows):
        assert table_of(["RR"], {"q": {"a": 1.0}}, lines)["q"]["RR"] == 0.25
