from __future__ import annotations

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankstats.conventions import DEFAULT_MEASURES
from rankstats.errors import MeasureError
from rankstats.measures import parse_measure, parse_measures, spellings, split_measures
from tests.measures.computed import OF_HITS
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
    "nDCG(discount='jk2')@10": "nDCG(discount='jk2')@10",
    "nDCG(discount=log2)@10": "nDCG@10",
    "nDCG(discount=[1, .5,0.25])": "nDCG(discount=[1, 0.5, 0.25])",
    "IPrec@.1": "IPrec@0.1",
    "IPrec(recall=0.5)": "IPrec@0.5",
    "IPrec(rel=2)@1.0": "IPrec(rel=2)@1",
    "IAP(levels=[0.2,0.5,0.8])": "IAP(levels=[0.2, 0.5, 0.8])",
    "Rprec(mult=1.0)": "Rprec",
    "RBP(rel=1)": "RBP(rel=1)",
    "RBP(p=0.9)@20": "RBP(p=0.9)@20",
    "rbp(p=0.9)": "RBP(p=0.9)",
    "Compat(normalize=false, p=0.8)": "Compat(p=0.8,normalize=False)",
    "SetP(relative=True)": "SetRelP",
    "NumRet(rel=1)": "NumRelRet",
    "NumRet(rel=2)@5": "NumRet(rel=2)@5",
    "ClassAccuracy(threshold=-0.5)": "ClassAccuracy(threshold=-0.5)",
    "Condensed(nDCG@10)": "Condensed(nDCG@10)",
    " condensed( ap( rel=2 ) )": "Condensed(AP(rel=2))",
    "AP(judged_only=True)@5": "Condensed(AP@5)",
    "P(judged_only=False)@5": "P@5",
    "Condensed(ndcg_cut_5)": "Condensed(nDCG@5)",
    "INST(max_rel=3)": "INST(max_rel=3)",
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
        "relative_P_5": "R(denominator='min')@5",
        "unj_5": "Unjudged@5",
        "Rprec": "Rprec",
        "Rprec_mult_0.20": "Rprec(mult=0.2)",
        "Rprec_mult.1.40": "Rprec(mult=1.4)",
        "bpref": "Bpref",
        "infAP": "infAP",
        "gm_map": "GMAP",
        "gm_bpref": "GMBpref",
        "iprec_at_recall_0.10": "IPrec(rounding='nearest')@0.1",
        "iprec_at_recall_1.00": "IPrec(rounding='nearest')@1",
        "iprec_at_recall..25": "IPrec(rounding='nearest')@0.25",
        "11pt_avg": "IAP(rounding='nearest')",
        "11pt_avg_.25,.5,.75": "IAP(levels=[0.25, 0.5, 0.75],rounding='nearest')",
        "ndcg_1=3,2=9,4=4.5": "nDCG(gains={1: 3, 2: 9, 4: 4.5})",
        "ndcg_rel": "nDCG_rel",
        "ndcg_rel.2=5": "nDCG_rel(gains={2: 5})",
        "Rndcg": "Rndcg",
        "Rndcg_1=2": "Rndcg(gains={1: 2})",
        "G": "G",
        "G.1=3.5,2=9.0,4=7.0": "G(gains={1: 3.5, 2: 9, 4: 7})",
        "binG": "binG",
        "set_P": "SetP",
        "set_relative_P": "SetRelP",
        "set_recall": "SetR",
        "set_F": "SetF",
        "set_F_0.5": "SetF(beta=0.5)",
        "set_map": "SetAP",
        "num_q": "NumQ",
        "num_rel": "NumRel",
        "num_ret": "NumRet",
        "num_rel_ret": "NumRelRet",
        "num_nonrel_judged_ret": "NumNonRelRet",
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
        "BPref": "Bpref",
        "RPrec": "Rprec",
        "SetF(beta=0.5)": "SetF(beta=0.5)",
        "NumRelRet": "NumRelRet",
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
        "r-precision": "Rprec",
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
        "write NumRelRet@k for the count or HitRate@k for the hit rate"
    ),
    "rbp": (
        "measure 'rbp' is ambiguous: trec_eval means p = 0.9 by it, ranx gains that are not divided by the largest "
        "grade; write RBP(p=0.9) for grades as shares of the largest one judged for the query, RBP(p=0.9,rel=1) for "
        "gains 0 and 1"
    ),
    "Rprec@5": "measure 'Rprec@5' takes no cutoff; write Rprec",
    "gm_map@5": "measure 'gm_map@5' takes no cutoff; write GMAP",
    "Bpref(cutoff=5)": "measure 'Bpref(cutoff=5)' takes no cutoff; write Bpref",
    "IPrec": "measure 'IPrec' needs a level of recall: IPrec@0.5",
    "IPrec@1.5": "measure 'IPrec@1.5' has the level of recall '1.5', where a number from 0 to 1 is expected",
    "IPrec@x": "measure 'IPrec@x' has the level of recall 'x', where a number from 0 to 1 is expected",
    "iprec_at_recall": "measure 'iprec_at_recall' needs a level of recall: iprec_at_recall_0.5",
    "Rprec_mult": "measure 'Rprec_mult' needs a number: Rprec_mult_0.5",
    "set_F_0.5(beta=1)": "measure 'set_F_0.5(beta=1)' names beta twice",
    "Condensed": "measure 'Condensed' needs a measure: Condensed(nDCG@10)",
    "Condensed(nDCG)@10": (
        "measure 'Condensed(nDCG)@10' has its cutoff outside; write it inside, such as Condensed(nDCG@10)"
    ),
    "Condensed(Condensed(AP))": "measure 'Condensed(Condensed(AP))' condenses its list twice",
    "Condensed(ILD@5)": (
        "measure 'Condensed(ILD@5)' looks at all documents of the list, judged or not; it has no condensed list"
    ),
    "Condensed(NDGC@10)": "measure 'Condensed(NDGC@10)' is unknown; did you mean 'nDCG@10'?",
    "Condensd(AP)": "measure 'Condensd(AP)' is unknown; did you mean 'Condensed'?",
    "AP(judged_only=yes)": "measure 'AP(judged_only=yes)' is wrong: judged_only is 'yes'; choose True or False",
    "nDCG(discount=jk1)@5": (
        "measure 'nDCG(discount=jk1)@5' is wrong: discount is 'jk1'; choose 'log2', 'rank', 'none', 'jk2' (or another "
        "base) or a list of weights such as [1, 0.5]"
    ),
    "nDCG(discount=[0.5, 1])": (
        "measure 'nDCG(discount=[0.5, 1])' is wrong: discount is '[0.5, 1]'; weights begin above 0 and do not rise "
        "from rank to rank"
    ),
    "nDCG(gains={1: 1e999})": (
        "measure 'nDCG(gains={1: 1e999})' is wrong: gains is '{1: 1e999}'; grades and gains are numbers, gains are not "
        "below 0"
    ),
    "IAP(levels=[0.5, 2])": (
        "measure 'IAP(levels=[0.5, 2])' is wrong: levels is '[0.5, 2]'; levels of recall are from 0 to 1"
    ),
    "RBP(p=1)": "measure 'RBP(p=1)' is wrong: p is '1', where a number above 0 and below 1 is expected",
    "RBP(rel=1,max=3)": (
        "measure 'RBP(rel=1,max=3)' takes rel (gains 0 and 1) or max (gains that are grades divided by it), not both"
    ),
    "BPM@10": "measure 'BPM@10' needs max_rel: BPM(T=1, min_rel=0, max_rel=…)@k",
    "INST(max_rel=1,T=0)": "measure 'INST(max_rel=1,T=0)' needs a target T above 0",
    "SDCG(max_rel=0)@5": "measure 'SDCG(max_rel=0)@5' needs a max_rel above min_rel",
    "Q(denominator=min)": (
        "measure 'Q(denominator=min)' divides by min(R, k) with denominator='min', which needs a cutoff"
    ),
    "SetP(relative=1)": "measure 'SetP(relative=1)' is wrong: relative is '1'; choose True or False",
    "P_10.5": "measure 'P_10.5' is unknown; `rankstats measures` lists all",
    "AP(rle=2)": (
        "measure 'AP(rle=2)' has the unknown parameter 'rle'; did you mean 'rel'?; it takes rel, denominator, cutoff, "
        "judged_only"
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
    aliases = {(alias.name, alias.joined) for declaration in OF_HITS for alias in declaration.aliases}
    assert {name for name, joined in aliases if not joined} <= tried
    joined_names = {name for name, joined in aliases if joined}
    assert joined_names <= {
        name for name in joined_names for given in tried if given.startswith((f"{name}_", f"{name}."))
    }


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
        "Rprec",
        "Bpref(rel=2)",
        "infAP",
        "IPrec@0.5",
        "Compat(p=0.8)",
        "SetAP",
        "SetF(beta=0.5)",
        "NumQ",
        "Accuracy@5",
        "RBP(rel=1)",
        "BPM(max_rel=3)@10",
        "INSQ(max_rel=3)",
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


def test_lists_of_cutoffs_as_trec_eval_takes_them() -> None:
    names = "P.5,10,map,iprec_at_recall.0,.5,ndcg.1=3,2=9,Rprec_mult.0.2,0.35,11pt_avg..25,.75,recall_5"
    assert [measure.name for measure in parse_measures(names)] == [
        *("P@5", "P@10", "AP", "IPrec(rounding='nearest')@0", "IPrec(rounding='nearest')@0.5"),
        *("nDCG(gains={1: 3, 2: 9})", "Rprec(mult=0.2)", "Rprec(mult=0.35)"),
        *("IAP(levels=[0.25, 0.75],rounding='nearest')", "R@5"),
    ]
    assert [measure.name for measure in parse_measures(["success.1", "5"])] == ["HitRate@1", "HitRate@5"]


@pytest.mark.parametrize("names", ["nDCG@10,20", "P_5,10", "AP,5"])
def test_a_number_alone_is_no_measure_otherwise(names: str) -> None:
    with pytest.raises(MeasureError, match="is not a measure; write every cutoff with its name"):
        parse_measures(names)


def test_names_of_equal_standing_are_the_same_measure() -> None:
    with pytest.raises(MeasureError, match="'HitRate@5' and 'Success@5' are the same"):
        parse_measures("HitRate@5,Success@5")


@pytest.mark.parametrize("nothing", ["", " , ", []])
def test_a_list_without_measures_is_an_error(nothing: str | list[str]) -> None:
    with pytest.raises(MeasureError, match="no measure is named"):
        parse_measures(nothing)
