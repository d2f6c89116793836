"""The same collections through pytrec_eval and ir_measures."""

from __future__ import annotations

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
]
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
]
WITHOUT_TIES = ["RR@1", "RR@5", "MRR@10", "RR(rel=2)@5", "Judged", "Judged@1", "Judged@5", "Judged@100"]
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
    theirs = pytrec_eval.RelevanceEvaluator(qrels, set(TREC_EVAL)).evaluate(run)
    table = ours(TREC_EVAL, qrels, run)
    assert set(theirs) == set(qrels) & set(run)
    for query_id, values in table.items():
        expected = theirs.get(query_id, dict.fromkeys(TREC_EVAL, 0.0))
        assert values == pytest.approx({name: expected[name] for name in TREC_EVAL}, abs=1e-12), query_id


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
    assert compared == {"AP", "ERR", "HitRate", "Judged", "P", "R", "RR", "nDCG"}
