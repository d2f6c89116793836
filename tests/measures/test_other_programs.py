"""The same collections through pytrec_eval and ir_measures."""

from __future__ import annotations

import re
import shutil

import ir_measures
import numpy as np
import pytest
import pytrec_eval
from numpy.typing import NDArray

from rankstats.conventions import Policies
from rankstats.measures import parse_measure
from tests.measures.computed import table_of
from tests.tables.made import Row

TREC_EVAL = [
    *("map", "map_cut_1", "map_cut_5", "map_cut_100", "P_1", "P_5", "P_100", "recall_1", "recall_5", "recall_100"),
    *("recip_rank", "ndcg", "ndcg_cut_1", "ndcg_cut_5", "ndcg_cut_100", "success_1", "success_5"),
    *(
        "Rprec",
        "bpref",
        "infAP",
        "gm_map",
        "gm_bpref",
        "G",
        "binG",
        "ndcg_rel",
        "Rndcg",
        "set_P",
        "set_recall",
        "set_F",
    ),
    *("set_map", "set_relative_P", "relative_P_5", "relative_P_100", "num_ret", "num_rel", "num_rel_ret"),
    *("num_nonrel_judged_ret", *(f"Rprec_mult_{fifth / 5:.2f}" for fifth in (1, 2, 3, 4, 6, 7, 8, 9, 10))),
]
VERSION_9 = {
    **{f"iprec_at_recall_{tenth / 10:.2f}": f"IPrec@{tenth / 10:g}" for tenth in range(11)},
    "11pt_avg": "IAP",
}
"""pytrec_eval computes as trec_eval 9, which turns levels of recall into documents differently from version 10."""
IR_MEASURES = [
    *(
        "AP",
        "AP@5",
        "AP(rel=2)",
        "AP(rel=3)@5",
        "MAP@20",
        "P@1",
        "P@10",
        "P(rel=2)@10",
        "Precision@3",
        "R@5",
        "R(rel=2)@5",
    ),
    *("Recall@100", "Success@1", "Success(rel=2)@5", "RR", "RR(rel=2)", "nDCG", "nDCG@1", "nDCG@10", "NDCG@5"),
    *("nDCG(gains={1: 1, 2: 3})@10", "nDCG(gains={1: 0, 2: 5, 3: 5})", "nDCG(dcg='log2')@7"),
    *(
        "Bpref",
        "Bpref(rel=2)",
        "infAP",
        "infAP(rel=3)",
        "Rprec",
        "Rprec(rel=2)",
        "IPrec@0.0",
        "IPrec@0.35",
        "IPrec@1.0",
    ),
    *("SetP", "SetP(rel=2)", "SetR", "SetF", "SetF(beta=0.5)", "SetF(rel=2,beta=3.0)", "SetAP", "SetRelP", "NumRelRet"),
]
WITHOUT_TIES = [
    *("RR@1", "RR@5", "MRR@10", "RR(rel=2)@5", "Judged", "Judged@1", "Judged@5", "Judged@100"),
]
"""ir_measures computes them with tie rules of their own."""
OF_GDEVAL = ["ERR@1", "ERR@5", "ERR@20", "ERR@100", "nDCG(dcg='exp-log2')@1", "nDCG(dcg='exp-log2')@10"]
SEEDS = range(6)

Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]


def collection(seed: int, *, ties: bool) -> tuple[Qrels, Run]:
    """Twelve queries with every kind of trouble: grades below 0, nothing relevant, missing, unknown, unjudged, ties."""
    rng = np.random.default_rng(seed)
    documents = [f"d{number}" for number in range(60)]
    qrels = {
        str(query): {d: int(g) for d, g in zip(rng.permutation(documents)[:25], grades(rng, query), strict=True)}
        for query in range(1, 13)
    }
    run: Run = {}
    for query in [*range(2, 13), 99]:
        returned = rng.permutation(documents)[: rng.integers(1, 50)]
        scores = rng.integers(-8, 8, len(returned)) / 4 if ties else rng.permutation(len(returned)) / 4
        run[str(query)] = {str(d): float(s) for d, s in zip(returned, scores, strict=True)}
    return qrels, run


def grades(rng: np.random.Generator, query: int) -> NDArray[np.int64]:
    return rng.integers(-1, 1, 25) if query == 12 else rng.choice([-1, 0, 0, 0, 1, 2, 3, 4], 25)


def rows_of(run: Run) -> list[Row]:
    return [(query_id, doc_id, score) for query_id, scored in run.items() for doc_id, score in scored.items()]


def ours(names: list[str], qrels: Qrels, run: Run) -> dict[str, dict[str, float]]:
    table = table_of(names, qrels, rows_of(run), Policies.from_preset("trec_eval"))
    return {query_id: dict(values) for query_id, values in table.items()}


@pytest.mark.parametrize("seed", SEEDS)
def test_pytrec_eval(seed: int) -> None:
    qrels, run = collection(seed, ties=True)
    asked = {re.sub(r"_[0-9]\.[0-9]+$", "", name) for name in [*TREC_EVAL, *VERSION_9]}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, asked).evaluate(run)
    table = ours([*TREC_EVAL, *VERSION_9.values()], qrels, run)
    assert set(theirs) == set(qrels) & set(run)
    for query_id, values in theirs.items():
        expected = {VERSION_9.get(name, name): values[name] for name in [*TREC_EVAL, *VERSION_9]}
        assert table[query_id] == pytest.approx(expected, abs=1e-12), query_id
    for query_id in set(qrels) - set(run):
        empty = {name for name, value in table[query_id].items() if value}
        assert empty == {"num_rel", "gm_map", "gm_bpref"}


@pytest.mark.parametrize("rel", [2, 3])
def test_pytrec_eval_with_another_level(rel: int) -> None:
    qrels, run = collection(7, ties=True)
    names = {
        "map": "AP",
        "recip_rank": "RR",
        "Rprec": "Rprec",
        "bpref": "Bpref",
        "infAP": "infAP",
        "binG": "binG",
        "set_P": "SetP",
        "set_recall": "SetR",
        "set_F": "SetF",
        "set_map": "SetAP",
        "num_rel_ret": "NumRet",
        "gm_map": "GMAP",
        "gm_bpref": "GMBpref",
        "11pt_avg": "IAP",
        "num_nonrel_judged_ret": "NumNonRelRet",
    }
    theirs = pytrec_eval.RelevanceEvaluator(qrels, set(names), relevance_level=rel).evaluate(run)
    table = ours([f"{name}(rel={rel})" for name in names.values()], qrels, run)
    for query_id, values in theirs.items():
        expected = {f"{ours_}(rel={rel})": values[name] for name, ours_ in names.items()}
        assert table[query_id] == pytest.approx(expected, abs=1e-12), query_id


def from_ir_measures(names: list[str], qrels: Qrels, run: Run) -> dict[str, dict[str, float]]:
    # asked together, ir_measures confuses measures that differ by their gains, depending on the order of a set
    plain = [name for name in names if "gains" not in name]
    found: dict[str, dict[str, float]] = {}
    for group in [plain, *([name] for name in names if name not in plain)]:
        asked = {ir_measures.parse_measure(name): name for name in group}
        for metric in ir_measures.iter_calc(list(asked), qrels, run):
            found.setdefault(metric.query_id, {})[asked[metric.measure]] = metric.value
    return found


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("names", "ties"), [(IR_MEASURES, True), (IR_MEASURES, False), (WITHOUT_TIES, False)])
def test_ir_measures(names: list[str], ties: bool, seed: int) -> None:
    qrels, run = collection(seed, ties=ties)
    theirs = from_ir_measures(names, qrels, run)
    assert all(set(values) == set(names) for values in theirs.values())
    for query_id, values in ours(names, qrels, run).items():
        expected = dict.fromkeys(names, 0.0) | theirs.get(query_id, {})
        assert values == pytest.approx(expected, abs=1e-12), query_id


@pytest.mark.skipif(shutil.which("perl") is None, reason="gdeval, which ir_measures calls, is a Perl script")
@pytest.mark.parametrize("seed", SEEDS[:2])
def test_gdeval(seed: int) -> None:
    qrels, run = collection(seed, ties=True)
    theirs = from_ir_measures(OF_GDEVAL, qrels, run)
    assert sum(values[name] > 0 for values in theirs.values() for name in OF_GDEVAL) > 30
    for query_id, values in ours(OF_GDEVAL, qrels, run).items():
        expected = dict.fromkeys(OF_GDEVAL, 0.0) | theirs.get(query_id, {})
        assert values == pytest.approx(expected, abs=6e-6), query_id


def test_every_measure_that_ir_measures_has_too_is_compared() -> None:
    compared = {parse_measure(name).declaration.name for name in [*IR_MEASURES, *WITHOUT_TIES, *OF_GDEVAL]}
    assert compared == {
        *("AP", "ERR", "HitRate", "Judged", "P", "R", "RR", "nDCG"),
        *("Bpref", "infAP", "Rprec", "IPrec", "SetP", "SetR", "SetF", "SetAP", "NumRet"),
    }


OF_CWL_EVAL = {
    "BPM(max_rel=4)@10": "0 .075 .025 .1 .2 .25 .025 .1 .075 .166666666667 .25 0",
    "BPM(T=0.5,min_rel=1,max_rel=3)@20": ("0 .05 0 .083333333333 .25 .166666666667 0 .25 .0625 .333333333333 1 0"),
    "SDCG(max_rel=4)@10": (
        "0 .049168199584 .055022941575 .071009528589 .151201915247 .197066825269 .027511470787 .101241616036 "
        ".053056591493 .168388203061 .331947059525 0"
    ),
    "SDCG(max_rel=3)@100": (
        "0 .038708969783 .015919507754 .032769002924 .043746480891 .105094353792 .007959753877 .055813609392 "
        ".042298306552 .056813481825 .123374259275 0"
    ),
    "NERR8(max_rel=4)@10": (
        "0 .065789473684 .032258064516 .09375 .205882352941 .242424242424 .030303030303 .125 .073529411765 "
        ".231884057971 .432432432432 0"
    ),
    "NERR9(max_rel=4)@10": (
        "0 .023903145695 .102177350687 .040280339358 .160963591569 .129915022325 .031386615850 .124182420930 "
        ".029861185839 .136624859941 .576171875 0"
    ),
    "NERR10(max_rel=4)": (
        "0 .055645066795 .032258064516 .072781948229 .180559388288 .211054007948 .024763069398 .133067271911 "
        ".052229956424 .208731028901 .457344823547 0"
    ),
    "NERR10(p=0.8,max_rel=2)": (
        "0 .039879664745 .166666666667 .088819498656 .444444444444 .262295081967 .086021505376 .444444444444 "
        ".058164009126 .262295081967 1 0"
    ),
    "NERR11(max_rel=4)": (
        "0 .014457021177 .114583936644 .024065912283 .145245526846 .100403709799 .026534570581 .125868657242 "
        ".016652317658 .110485955118 .607735139143 0"
    ),
    "NERR11(T=2,max_rel=4)": (
        "0 .027171864951 .068607484148 .041102595105 .169084663036 .147010347056 .028380665165 .138238155286 "
        ".029372226846 .155725035039 .540500965992 0"
    ),
    "INST(max_rel=4)": (
        "0 .023484434482 .106974602896 .027276647195 .131426018409 .124954774703 .024856887678 .107637265604 "
        ".020766663655 .101354030039 .459304962920 0"
    ),
    "INST(T=2,max_rel=4)": (
        "0 .040348456471 .058413606981 .042094855651 .130498344305 .164444381603 .025161389138 .102369112633 "
        ".033904086225 .120201332838 .308747214083 0"
    ),
    "INSQ(max_rel=4)": (
        "0 .023683083077 .097059400704 .027440084599 .123690211327 .126290647559 .024264850176 .101555797743 "
        ".021070361579 .098377415350 .357855266002 0"
    ),
    "INSQ(T=2,max_rel=3)": (
        "0 .048412247774 .073661193300 .055282784959 .160217642415 .190729789024 .032738308133 .129501799449 "
        ".043835048336 .141773113006 .340465946049 0"
    ),
}
"""Values of queries 1 to 12 of the first collection, by cwl_eval 1.0.12 through ir_measures 0.4.3."""


@pytest.mark.parametrize("name", OF_CWL_EVAL)
def test_cwl_eval(name: str) -> None:
    qrels, run = collection(0, ties=False)
    table = ours([name], qrels, run)
    values = [table[str(query)][name] for query in range(1, 13)]
    assert values == pytest.approx([float(value) for value in OF_CWL_EVAL[name].split()], abs=1e-11)
