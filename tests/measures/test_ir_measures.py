"""Every measure of ir_measures that can be computed here, by its bare name, on every open collection."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import ir_measures
import numpy as np
import pytest

from rankstats.conventions import Policies
from rankstats.measures import evaluate, parse_measures
from rankstats.tables import make_hits
from tests.shared import SHARED, shared
from tests.tables.made import judgments_of, lines_of, ranking_of

pytestmark = pytest.mark.shared

NAMES = (
    *("AP", "MAP@20", "AP(rel=2)", "Bpref", "BPref(rel=2)", "Compat", "Compat(p=0.8)", "Compat(normalize=False)"),
    *("Accuracy", "Accuracy@20", "Accuracy(rel=2)", "infAP", "infAP(rel=2)"),
    *(f"IPrec@{tenth / 10:.1f}" for tenth in range(11)),
    *("IPrec(rel=2)@0.5", "Judged", "Judged@10", "nDCG", "NDCG@10", "NumQ", "NumRel", "NumRet", "NumRelRet"),
    *("NumRet(rel=2)", "P@10", "Precision@5", "P(rel=2)@5", "R@100", "Recall@5", "Rprec", "RPrec(rel=2)", "RR"),
    *(
        "MRR@10",
        "RR(rel=2)",
        "SetAP",
        "SetF",
        "SetF(beta=2.0)",
        "SetF(beta=0.3)",
        "SetP",
        "SetRelP",
        "SetR",
        "SetR(rel=2)",
    ),
    *("SetP(rel=2)", "SetAP(rel=2)", "Success@5", "Success(rel=2)@1"),
    *("AP(judged_only=True)", "nDCG(judged_only=True)@10", "P(judged_only=True)@10", "RR(judged_only=True)"),
    *("SetP(judged_only=True)", "IPrec(judged_only=True)@0.5", "Rprec(judged_only=True)", "R(judged_only=True)@5"),
    *("Success(judged_only=True)@3", "SetF(judged_only=True)", "SetAP(judged_only=True)"),
)
OF_GDEVAL = ("ERR@20", "nDCG(dcg='exp-log2')@10")
"""Printed with five decimals by a Perl script that wants numbers for queries."""
NOT_AVAILABLE = {
    "RBP": "needs cwl_eval or trectools",
    "BPM": "needs cwl_eval",
    "INST": "needs cwl_eval",
    "INSQ": "needs cwl_eval",
    "NERR8": "needs cwl_eval",
    "NERR9": "needs cwl_eval",
    "NERR10": "needs cwl_eval",
    "NERR11": "needs cwl_eval",
    "SDCG": "needs cwl_eval",
    **dict.fromkeys(("alpha_DCG", "alpha_nDCG", "ERR_IA", "nERR_IA", "NRBP", "nNRBP", "AP_IA", "P_IA"), "subtopics"),
    "StRecall": "subtopics",
}
"""What ir_measures lists but cannot compute without programs that the tests do not install, or from subtopics."""

COLLECTIONS = {
    "ir/trec-covid-r5": "runs*/*.run*",
    "ir/dl-hard-passage": "runs/*",
    "ir/dl-hard-doc": "runs/*",
    "ir/trec-web-2012": "runs/*",
    "ir/trec-web-2013-2014-diversity": "runs/*",
    "ir/trec_eval-test": "results.*",
    "ir/ranx-test": "tests_run.trec",
    "querylog/zzquerylog": "runs_generated/*",
    "recsys/ml-latest-small-2016": "runs_generated/*",
    "odd/leaky-scifact": "runs/*",
}
QRELS = {
    "ir/trec-web-2013-2014-diversity": "qrels.{year}.adhoc.txt.gz",
    "ir/trec_eval-test": "qrels.rel_level.gz",
    "ir/ranx-test": "tests_qrels.trec",
}
"""Judgments that are not the only file named qrels…"""
TOLERANCE = 1e-9


def runs_of(folder: str) -> list[str]:
    path = SHARED / "data" / folder
    return sorted(str(run.relative_to(path)) for run in path.glob(COLLECTIONS[folder]) if "302" not in run.name)


def qrels_path(folder: str, run: str) -> Path:
    base = shared(f"data/{folder}")
    if folder in QRELS:
        return base / QRELS[folder].format(year="wt14" if "wt14" in run else "wt13")
    (path,) = base.glob("qrels*")
    return path


@cache
def read_qrels(path: Path) -> dict[str, dict[str, int]]:
    qrels: dict[str, dict[str, int]] = {}
    for query_id, _, doc_id, grade in lines_of(path):
        qrels.setdefault(query_id, {})[doc_id] = int(grade)
    return qrels


def untied(path: Path) -> dict[str, dict[str, float]]:
    """Return a run whose scores are places from the end of the list, in the order that we give it.

    Programs inside ir_measures order equal scores differently, and some hold scores in 32 bits.
    """
    lists: dict[str, list[tuple[float, str]]] = {}
    for line in lines_of(path):
        lists.setdefault(line[0], []).append((float(line[4]), line[2]))
    return {
        query_id: {doc_id: float(place) for place, (_, doc_id) in enumerate(sorted(documents), start=1)}
        for query_id, documents in lists.items()
    }


def theirs(
    names: tuple[str, ...], qrels: dict[str, dict[str, int]], run: dict[str, dict[str, float]]
) -> Iterator[tuple[str, str, float]]:
    asked = {ir_measures.parse_measure(name): name for name in names}
    condensed = [measure for measure in asked if measure.params.get("judged_only")]
    others = [measure for measure in asked if measure.NAME != "Accuracy" and measure not in condensed]
    # asked together, NumRet may count the condensed list, depending on the order of a set
    for group in filter(None, (others, condensed)):
        for metric in ir_measures.iter_calc(group, qrels, run):
            yield asked[metric.measure], metric.query_id, float(metric.value)
    for measure in (measure for measure in asked if measure.NAME == "Accuracy"):
        # ir_measures divides by 0 where all documents are relevant
        mixed = {
            query_id: scored for query_id, scored in run.items() if not all_relevant(measure, qrels, query_id, scored)
        }
        for metric in ir_measures.iter_calc([measure], qrels, mixed):
            yield asked[measure], metric.query_id, float(metric.value)


def all_relevant(
    measure: ir_measures.Measure, qrels: dict[str, dict[str, int]], query_id: str, scored: dict[str, float]
) -> bool:
    first = sorted(scored, key=lambda doc_id: -scored[doc_id])[: measure.params.get("cutoff")]
    return all(qrels.get(query_id, {}).get(doc_id, 0) >= measure.params.get("rel", 1) for doc_id in first)


def compare(names: tuple[str, ...], folder: str, run_name: str, tolerance: float, queries: int | None = None) -> int:
    """Count the values that agree, for the first queries of the judgments or all."""
    qrels = read_qrels(qrels_path(folder, run_name))
    qrels = dict(list(qrels.items())[:queries])
    judgments = judgments_of(qrels)
    run = untied(shared(f"data/{folder}") / run_name)
    if queries is not None:
        run = {query_id: scored for query_id, scored in run.items() if query_id in qrels}
    rows = [(query_id, doc_id, score) for query_id, scored in run.items() for doc_id, score in scored.items()]
    policies = Policies.from_preset("trec_eval")
    values = evaluate(parse_measures(names), judgments, make_hits(judgments, ranking_of(rows), policies), policies)
    number = {query_id: q for q, query_id in enumerate(judgments.query_ids)}
    column = {name: m for m, name in enumerate(names)}
    compared, wrong = 0, []
    for name, query_id, value in theirs(names, qrels, run):
        if query_id not in number or (query_id not in run and name.startswith(("NumQ", "NumRel"))):
            # a query that the run lacks has no documents judged for ir_measures
            continue
        ours = values[number[query_id], column[name]]
        # ir_measures has 0 / 0 where nothing is left of a condensed list
        wanted = 0.0 if np.isnan(value) and "judged_only" in name else value
        if not np.isclose(ours, wanted, rtol=0, atol=tolerance):
            wrong.append((name, query_id, ours, value))
        compared += 1
    assert wrong == []
    return compared


@pytest.mark.parametrize("folder", COLLECTIONS)
def test_some_queries_of_each_collection(folder: str) -> None:
    shared(f"data/{folder}")
    assert compare(NAMES, folder, runs_of(folder)[0], TOLERANCE, queries=12) >= len(NAMES)


@pytest.mark.slow
@pytest.mark.parametrize(("folder", "run"), [(folder, run) for folder in COLLECTIONS for run in runs_of(folder)])
def test_every_run(folder: str, run: str) -> None:
    assert compare(NAMES, folder, run, TOLERANCE) >= len(NAMES)


@pytest.mark.skipif(shutil.which("perl") is None, reason="gdeval, which ir_measures calls, is a Perl script")
@pytest.mark.parametrize("folder", ["ir/trec-covid-r5", "ir/dl-hard-passage", "ir/trec-web-2012"])
def test_gdeval(folder: str) -> None:
    assert compare(OF_GDEVAL, folder, runs_of(folder)[-1], 6e-6) >= 80


def test_every_measure_of_ir_measures_is_compared_or_not_available() -> None:
    listed = {measure.NAME for measure in ir_measures.measures.registry.values()}
    compared = {ir_measures.parse_measure(name).NAME for name in (*NAMES, *OF_GDEVAL)}
    assert compared | set(NOT_AVAILABLE) == listed
    assert compared.isdisjoint(NOT_AVAILABLE)
