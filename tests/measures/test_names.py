from __future__ import annotations

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankstats.conventions import DEFAULT_MEASURES
from rankstats.errors import MeasureError
from rankstats.measures import DECLARATIONS, parse_measure, parse_measures, spellings, split_measures
from tests.measures.oracle import FORMULAS
from tests.tables.made import patient

CANONICAL = {
    "nDCG@10": "nDCG@10",
    "nDCG": "nDCG",
    "nDCG(dcg='exp-log2')@10": "nDCG(dcg='exp-log2')@10",
    ' nDCG ( dcg = "exp-log2" ) @ 10 ': "nDCG(dcg='exp-log2')@10",
    "nDCG@10(dcg=exp-log2)": "nDCG(dcg='exp-log2')@10",
    "nDCG(cutoff=10, dcg='exp-log2')": "nDCG(dcg='exp-log2')@10",
    "nDCG(dcg='log2')@10": "nDCG@10",
    "nDCG(gains={2: 3, 1: 1})@10": "nDCG(gains={1: 1, 2: 3})@10",
    "nDCG(gains={1:0.5})": "nDCG(gains={1: 0.5})",
    "AP(rel=1)": "AP",
    "AP(rel=2)": "AP(rel=2)",
    "AP(rel=2.0)": "AP(rel=2)",
    "AP(rel=1.5)": "AP(rel=1.5)",
    "AP(denominator='min', rel=2)@100": "AP(rel=2,denominator='min')@100",
    "AP(denominator=R)@5": "AP@5",
    "F1@10": "F1@10",
    "F(beta=1)@10": "F1@10",
    "F(rel=2,beta=1.0)@10": "F1(rel=2)@10",
    "F1(rel=2)@10": "F1(rel=2)@10",
    "F(beta=0.5)@10": "F(beta=0.5)@10",
    "HitRate@1": "HitRate@1",
    "Success@1": "Success@1",
    "ERR@20": "ERR@20",
    "ERR(max=4)@20": "ERR@20",
    "ERR(max=3)@20": "ERR(max=3)@20",
    "ERR(max=query)@20": "ERR(max='query')@20",
    "Judged": "Judged",
    "Judged(denominator='k')@10": "Judged(denominator='k')@10",
}

ALIASES = {
    "trec_eval": {
        "map": "AP",
        "map_cut_100": "AP@100",
        "map_cut.100": "AP@100",
        "P_10": "P@10",
        "P.10": "P@10",
        "recall_100": "R@100",
        "recip_rank": "RR",
        "ndcg": "nDCG",
        "ndcg_cut_10": "nDCG@10",
        "ndcg_cut.10": "nDCG@10",
        "success_1": "HitRate@1",
    },
    "ir_measures": {
        "MAP": "AP",
        "MAP@5": "AP@5",
        "MAP(rel=2)@5": "AP(rel=2)@5",
        "MRR": "RR",
        "MRR@10": "RR@10",
        "NDCG@10": "nDCG@10",
        "NDCG(dcg='exp-log2')@5": "nDCG(dcg='exp-log2')@5",
        "Precision@10": "P@10",
        "Recall@100": "R@100",
    },
    "ranx": {
        "hit_rate@10": "HitRate@10",
        "precision@10": "P@10",
        "recall@10": "R@10",
        "f1@10": "F1@10",
        "mrr@10": "RR@10",
        "mrr": "RR",
        "map@100": "AP@100",
        "dcg@10": "DCG@10",
        "dcg_burges@10": "DCG(dcg='exp-log2')@10",
        "ndcg@10": "nDCG@10",
        "ndcg_burges@10": "nDCG(dcg='exp-log2')@10",
        "ndcg_burges": "nDCG(dcg='exp-log2')",
    },
    "BEIR": {
        "NDCG@10": "nDCG@10",
        "MAP@100": "AP@100",
        "Recall@100": "R@100",
        "P@10": "P@10",
        "R_cap@100": "R(denominator='min')@100",
    },
}

ERRORS = {
    "NDGC@10": "measure 'NDGC@10' is unknown; did you mean 'nDCG@10'?",
    "precission@5": "measure 'precission@5' is unknown; did you mean 'Precision@5'?",
    "xyzzy": "measure 'xyzzy' is unknown; `rankstats measures` lists all",
    "P": "measure 'P' needs a cutoff: P@10",
    "recall": "measure 'recall' needs a cutoff: R@10",
    "ndcg_cut": "measure 'ndcg_cut' needs a cutoff: ndcg_cut_10 or nDCG@10",
    "P@0": "measure 'P@0' has the cutoff '0', where a whole number from 1 is expected",
    "P_0": "measure 'P_0' has the cutoff '0', where a whole number from 1 is expected",
    "P@-1": "measure 'P@-1' has the cutoff '-1', where a whole number from 1 is expected",
    "P@": "measure 'P@' has the cutoff '', where a whole number from 1 is expected",
    "P@1.5": "measure 'P@1.5' has the cutoff '1.5', where a whole number from 1 is expected",
    "P(cutoff=5)@5": "measure 'P(cutoff=5)@5' names its cutoff twice",
    "P_5(cutoff=5)": "measure 'P_5(cutoff=5)' names its cutoff twice",
    "recip_rank@10": "measure 'recip_rank@10' takes no cutoff; write RR@10",
    "hits@10": (
        "measure 'hits@10' is ambiguous: ranx's hits@k counts relevant documents, others mean the hit rate by it; "
        "write HitRate@k for the hit rate"
    ),
    "AP(rle=2)": (
        "measure 'AP(rle=2)' has the unknown parameter 'rle'; did you mean 'rel'?; it takes rel, denominator, cutoff"
    ),
    "AP(rel)": "measure 'AP(rel)' has 'rel' in parentheses, where parameter=value is expected",
    "AP(rel=1,rel=2)": "measure 'AP(rel=1,rel=2)' names rel twice",
    "AP(rel=x)": "measure 'AP(rel=x)' is wrong: rel is 'x', where a grade of 0 or more is expected",
    "AP(rel=nan)": "measure 'AP(rel=nan)' is wrong: rel is 'nan', where a grade of 0 or more is expected",
    "AP(rel=-1)": "measure 'AP(rel=-1)' is wrong: rel is '-1', where a grade of 0 or more is expected",
    "AP(denominator='min')": (
        "measure \"AP(denominator='min')\" divides by min(R, k) with denominator='min', which needs a cutoff"
    ),
    "Judged(denominator=k)": (
        "measure 'Judged(denominator=k)' divides by k with denominator='k', which needs a cutoff"
    ),
    "nDCG(dcg=exp)@10": "measure 'nDCG(dcg=exp)@10' is wrong: dcg is 'exp'; choose 'log2' or 'exp-log2'",
    "nDCG(gains={})": (
        "measure 'nDCG(gains={})' is wrong: gains is '{}', where a table of grades and gains such as {1: 1, 2: 3} is "
        "expected"
    ),
    "nDCG(gains={1: -1})": (
        "measure 'nDCG(gains={1: -1})' is wrong: gains is '{1: -1}'; grades and gains are numbers, gains are not "
        "below 0"
    ),
    "nDCG(gains={1: 2},dcg=exp-log2)": (
        "measure 'nDCG(gains={1: 2},dcg=exp-log2)' takes gains from a table or dcg='exp-log2', not both: write the "
        "gains wanted into the table"
    ),
    "ERR(max=0)@20": (
        "measure 'ERR(max=0)@20' is wrong: max is '0', where a grade of 1 or more, or 'query', is expected"
    ),
    "F@10": "measure 'F@10' needs beta: F(beta=…, rel=1)@k",
    "F1(beta=2)@10": "measure 'F1(beta=2)@10' already says what beta is; write F(beta=2)",
    "10": "measure '10' is not a measure; write every cutoff with its name, such as P@10",
    "AP(": "measure 'AP(' is not of the form NAME(parameter=value)@k",
    "P@5()@5": "measure 'P@5()@5' is not of the form NAME(parameter=value)@k",
    "@10": "measure '@10' is not of the form NAME(parameter=value)@k",
}


@pytest.mark.parametrize(("written", "canonical"), CANONICAL.items())
def test_canonical_name(written: str, canonical: str) -> None:
    assert parse_measure(written).name == canonical


@pytest.mark.parametrize(("written", "canonical"), [pair for spelled in ALIASES.values() for pair in spelled.items()])
def test_alias(written: str, canonical: str) -> None:
    assert parse_measure(written).name == canonical


def test_every_declared_alias_is_tried_here() -> None:
    tried = {name.split("@")[0] for spelled in ALIASES.values() for name in spelled}
    tried |= {name.rpartition(mark)[0] for name in ALIASES["trec_eval"] for mark in "_."}
    assert {alias.name for declaration in DECLARATIONS for alias in declaration.aliases} <= tried


def test_spellings_that_differ_in_case_only_lead_to_one_formula() -> None:
    meanings: dict[str, set[tuple[str, tuple[tuple[str, object], ...]]]] = {}
    for spelling in spellings():
        meaning = (spelling.declaration.name, tuple(spelling.settings.items()))
        meanings.setdefault(spelling.text.casefold(), set()).add(meaning)
    assert {text: found for text, found in meanings.items() if len(found) > 1} == {}


@pytest.mark.parametrize(("written", "message"), ERRORS.items())
def test_error(written: str, message: str) -> None:
    with pytest.raises(MeasureError) as caught:
        parse_measure(written)
    assert str(caught.value) == message


@pytest.mark.parametrize("name", [*FORMULAS, *DEFAULT_MEASURES])
def test_canonical_names_are_their_own(name: str) -> None:
    assert parse_measure(name).name == name


@pytest.mark.parametrize(
    "name",
    [
        "nDCG@10",
        "nDCG(dcg='exp-log2')@10",
        "AP(rel=2)@100",
        "P(rel=2)@5",
        "R@100",
        "RR(rel=2)@10",
        "ERR@20",
        "Judged@10",
    ],
)
def test_spelled_as_ir_measures_prints_it(name: str) -> None:
    assert repr(ir_measures.parse_measure(name)) == parse_measure(name).name == name


@patient
@given(st.text(alphabet="APRnDCG@0123()={}'\", relgains.:", max_size=20))
def test_any_text_is_a_measure_or_a_clean_error(text: str) -> None:
    try:
        measure = parse_measure(text)
    except MeasureError:
        return
    assert parse_measure(measure.name) == measure


def test_a_list_splits_outside_parentheses() -> None:
    assert split_measures("AP(rel=2,denominator='min')@5,nDCG(gains={1: 1, 2: 3}), ,RR") == [
        "AP(rel=2,denominator='min')@5",
        "nDCG(gains={1: 1, 2: 3})",
        "RR",
    ]


def test_lists_may_be_repeated_and_keep_their_order() -> None:
    names = [measure.name for measure in parse_measures(["RR,AP", "nDCG@10"])]
    assert names == ["RR", "AP", "nDCG@10"]


def test_all_errors_of_a_list_come_at_once() -> None:
    with pytest.raises(MeasureError) as caught:
        parse_measures("NDGC@10, P, AP, map, AP")
    assert str(caught.value).split("\n") == [
        ERRORS["NDGC@10"],
        ERRORS["P"],
        "measures 'AP' and 'map' are the same (AP); name one of them",
        "measure 'AP' is named twice; name it once",
    ]


def test_names_of_equal_standing_are_the_same_measure() -> None:
    with pytest.raises(MeasureError, match="'HitRate@5' and 'Success@5' are the same"):
        parse_measures("HitRate@5,Success@5")


@pytest.mark.parametrize("nothing", ["", " , ", []])
def test_a_list_without_measures_is_an_error(nothing: str | list[str]) -> None:
    with pytest.raises(MeasureError, match="no measure is named"):
        parse_measures(nothing)
