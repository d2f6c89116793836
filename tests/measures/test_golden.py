"""Values worked out by hand, and what trec_eval made of odd files."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import pytest

from rankstats.conventions import Policies
from tests.measures.computed import table_of, values_of
from tests.shared import shared
from tests.tables.made import qrels_of, run_of

pytestmark = pytest.mark.shared

OUR_NAMES = {
    "AP": "AP",
    "RR": "RR",
    "nDCG_lin": "nDCG",
    "nDCG_exp": "nDCG(dcg='exp-log2')",
    "P@k": "P@k",
    "P@k_den_min_k_ret": "P(denominator='returned')@k",
    "recall@k": "R@k",
    "F1@k": "F1@k",
    "success@k": "HitRate@k",
    "RR@k": "RR@k",
    "AP@k_den_R": "AP@k",
    "AP@k_den_min_R_k": "AP(denominator='min')@k",
    "AP@k_den_retrieved_rel": "AP(denominator='retrieved')@k",
    "DCG_lin@k": "DCG@k",
    "DCG_exp@k": "DCG(dcg='exp-log2')@k",
    "nDCG_lin@k": "nDCG@k",
    "nDCG_exp@k": "nDCG(dcg='exp-log2')@k",
    "ERR_gmax_query@k": "ERR(max='query')@k",
    "ERR_gmax4@k": "ERR@k",
    "judged@k": "Judged(rel=0,denominator='k')@k",
    "judged@k_den_min_k_ret": "Judged(rel=0)@k",
    "num_ret": "NumRet",
    "num_rel": "NumRel",
    "num_rel_ret": "NumRelRet",
    "num_nonrel_judged": "NumNonRel",
    "Rprec": "Rprec",
    "bpref": "Bpref",
    "infAP": "infAP",
    "AP_condensed": "Condensed(AP)",
    "nDCG_lin_condensed@k": "Condensed(nDCG@k)",
    "nDCG_JK2002_b2@k": "nDCG(discount='jk2')@k",
    "Q_beta1_gain_lin": "Q",
    **{f"RBP_{p}_binary": f"RBP(p={p},rel=1)" for p in (0.5, 0.8, 0.9, 0.95)},
    **{f"RBP_{p}_graded_g/gmax": f"RBP(p={p})" for p in (0.5, 0.8, 0.9, 0.95)},
    **{f"RBP_{p}_residual": f"RBP_residual(p={p})" for p in (0.5, 0.8, 0.9, 0.95)},
}
PARTS_OF_NDCG = re.compile(r"(IDCG|nDCG)_(lin|exp)(_ideal_from_retrieved)?@(\d+)")
"""Ideal DCG, and the nDCG with an ideal from what was returned: no measures here, but made of DCG values."""
OPEN = (
    # where a case leaves a measure without a value and our rules give 0
    ("7", r"RR|ERR", "nothing is relevant, but neither R nor an ideal is divided by"),
    ("19", r"P\(denominator='returned'\)|Judged", "a missing query has the value 0"),
    ("", r"AP\(denominator='retrieved'\)", "nothing relevant is among the first k, but something exists"),
)


def cases() -> list[dict[str, Any]]:
    loaded: list[dict[str, Any]] = json.loads(shared("golden/metrics_hand_cases.json").read_text())["cases"]
    return loaded


def our_name(key: str) -> str | None:
    """Return our name of a golden key, None where it is not a measure but a part of one."""
    pattern = re.sub(r"@\d+", "@k", key)
    if pattern.startswith("IDCG") or "ideal_from_retrieved" in pattern:
        return None
    cutoff = re.search(r"@(\d+)", key)
    return OUR_NAMES[pattern].replace("@k", f"@{cutoff[1]}" if cutoff else "")


def dcg_of(name: str, qrels: dict[str, float], listed: list[str]) -> float:
    rows = [("q", doc_id, float(-rank)) for rank, doc_id in enumerate(listed)]
    return table_of([name], {"q": qrels}, rows)["q"][name]


def part_of_ndcg(key: str, case: dict[str, Any]) -> float:
    """Return an ideal DCG, or the nDCG whose ideal is made of the documents returned."""
    form = PARTS_OF_NDCG.fullmatch(key)
    assert form is not None
    name = "DCG" + ("(dcg='exp-log2')" if form[2] == "exp" else "") + f"@{form[4]}"
    qrels, listed = case["qrels"], case["effective_order_trec_eval"]
    pool = listed if form[3] else list(qrels)
    ideal = dcg_of(name, qrels, sorted(pool, key=lambda doc_id: -qrels.get(doc_id, 0)))
    if form[1] == "IDCG":
        return ideal
    return dcg_of(name, qrels, listed) / ideal if ideal else math.nan


def where_open(case: dict[str, Any], name: str) -> float:
    """Return our value of a measure that a case leaves without one; an empty case number stands for all."""
    relevant = any(grade >= 1 for grade in case["qrels"].values())
    for case_id, pattern, _ in OPEN:
        if re.match(pattern, name) and (case["id"] == case_id or (not case_id and relevant)):
            return 0.0
    return math.nan


def test_hand_cases() -> None:
    compared = 0
    for case in cases():
        if not case["qrels"]:
            continue
        named = {name: value for key, value in case["expected"].items() if (name := our_name(key))}
        rows = [("q", doc_id, float(score)) for doc_id, score in case["run"]]
        values = table_of(list(named), {"q": case["qrels"]}, rows)["q"]
        for name, expected in named.items():
            wanted = where_open(case, name) if expected is None else expected
            assert values[name] == pytest.approx(wanted, abs=1e-9, nan_ok=True), (case["id"], name)
        parts = {key: value for key, value in case["expected"].items() if our_name(key) is None}
        for key, expected in parts.items():
            if expected is not None:
                assert part_of_ndcg(key, case) == pytest.approx(expected, abs=1e-9), (case["id"], key)
        compared += len(case["expected"])
        assert len(named) + len(parts) == len(case["expected"])
    assert compared == sum(len(case["expected"]) for case in cases() if case["qrels"]) > 2500


def test_normalised_err_as_pyntcireval_has_it() -> None:
    compared = 0
    for case in cases():
        theirs = case["by_program"].get("pyNTCIREVAL")
        if not case["qrels"] or not isinstance(theirs, dict):
            continue
        rows = [("q", doc_id, float(score)) for doc_id, score in case["run"]]
        for key, expected in theirs.items():
            if key.startswith("nERR_gmax_query@") and expected is not None:
                name = key.replace("nERR_gmax_query", "nERR(max='query')")
                value = table_of([name], {"q": case["qrels"]}, rows)["q"][name]
                assert value == pytest.approx(expected, abs=1e-9), (case["id"], key)
                compared += 1
    assert compared >= 50


def test_hand_cases_ties_in_32_bits() -> None:
    (case,) = (case for case in cases() if case["id"] == "12")
    rows = [("q", doc_id, float(score)) for doc_id, score in case["run"]]
    values = table_of(["AP", "RR", "nDCG@3"], {"q": case["qrels"]}, rows, Policies(ties="float32"))["q"]
    theirs = case["by_program"]["pytrec_eval"]
    assert list(values.values()) == pytest.approx([theirs[name] for name in ("map", "recip_rank", "ndcg_cut_3")])


ODD = {
    "01-ties-broken-by-docid": "",
    "02-duplicate-doc-adjacent": "a duplicate document is an error of reading",
    "03-line-with-4-fields": "a line of four fields is an error of reading",
    "04-missing-queries": "",
    "05-negative-grades": "",
    "06-hash-in-docid": "",
    "07-no-topic-overlap": "",
    "08-all-scores-equal": "",
    "09-negative-scores": "",
    "10-tabs-and-spaces": "",
    "11-crlf": "",
    "12-bom": "trec_eval takes the byte order mark for a part of the first id",
    "13-nan-score": "a score that is not a number is an error of reading",
    "14-empty-run": "an empty run is an error of trec_eval",
    "15-query-without-relevant": "",
    "16-scientific-scores": "",
    "17-gz": "trec_eval reads the unpacked file",
    "18-float32-ties": "",
}
TREC_NAMES = ("map", "recip_rank", "P_10", "ndcg_cut_10")


@pytest.mark.parametrize("case", [name for name, reason in ODD.items() if not reason or name == "17-gz"])
def test_odd_files_as_trec_eval_10_has_them(case: str) -> None:
    outcomes = json.loads(shared("data/odd/made/trec_eval_outcomes.json").read_text())["cases"]
    folder = shared(f"data/odd/made/{case}")
    compared = 0
    for outcome in (outcome for outcome in outcomes if outcome["case"] == case):
        judgments = qrels_of(folder / "qrels.txt")
        values = values_of(TREC_NAMES, judgments, run_of(folder / outcome["run"]), Policies.from_preset("trec_eval"))
        for name, query_id, printed in outcome["trec_eval 10.0-rc3 -c"]["stdout"]:
            column = values[:, TREC_NAMES.index(name)]
            value = column.mean() if query_id == "all" else column[judgments.query_ids.index(query_id)]
            assert value == pytest.approx(float(printed), abs=5.1e-5), (name, query_id)
            compared += 1
    assert compared >= 8


def test_every_odd_case_is_listed() -> None:
    assert {path.name for path in shared("data/odd/made").iterdir() if path.is_dir()} == set(ODD)
