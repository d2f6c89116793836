"""Shown lists, documents to judge, and agreement, on a small collection of files."""

from __future__ import annotations

import math
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import scipy.stats

from rankstats.comparison import compare, compare_evidence
from rankstats.comparison.agreement import make_agreement
from rankstats.errors import InputError, PlanError
from rankstats.plan import Columns, Plan
from rankstats.stats import ap_correlation
from tests.comparison.made import evidence_of

DOCS = 12
QUERIES = 14


def write_collection(folder: Path, seed: int = 0) -> Plan:
    """Three systems over random grades; every third document is unjudged."""
    rng = np.random.default_rng(seed)
    qrels, runs = [], {name: [] for name in "abc"}
    for q in range(QUERIES):
        docs = [f"d{i:02}" for i in range(DOCS)]
        qrels += [f"q{q:02} 0 {doc} {rng.integers(0, 4)}" for i, doc in enumerate(docs) if i % 3]
        for name, lines in runs.items():
            lines += [
                f"q{q:02} Q0 {doc} 1 {score:.6f} {name}" for doc, score in zip(docs, rng.random(DOCS), strict=True)
            ]
    (folder / "q.txt").write_text("\n".join(qrels), encoding="utf-8")
    for name, lines in runs.items():
        (folder / f"{name}.run").write_text("\n".join(lines), encoding="utf-8")
    paths = tuple((name, str(folder / f"{name}.run")) for name in runs)
    return Plan(qrels=str(folder / "q.txt"), runs=paths, resamples=99, measures=("nDCG@10", "RR"))


def read_run(path: Path) -> dict[str, list[str]]:
    """Documents of each query, best first."""
    rows = [line.split() for line in path.read_text(encoding="utf-8").splitlines()]
    ranked: dict[str, list[tuple[float, str]]] = {}
    for query_id, _, doc_id, _, score, _ in rows:
        ranked.setdefault(query_id, []).append((-float(score), doc_id))
    return {query_id: [doc for _, doc in sorted(listed)] for query_id, listed in ranked.items()}


def read_qrels(path: Path) -> dict[tuple[str, str], float]:
    rows = [line.split() for line in path.read_text(encoding="utf-8").splitlines()]
    return {(query_id, doc_id): float(grade) for query_id, _, doc_id, grade in rows}


def test_shown_lists_are_the_ranked_documents_with_their_grades(tmp_path: Path) -> None:
    comparison = compare(write_collection(tmp_path))
    grades = read_qrels(tmp_path / "q.txt")
    runs = {name: read_run(tmp_path / f"{name}.run") for name in "abc"}
    assert {row.system for row in comparison.lists} == {"a", "b", "c"}
    for row in comparison.lists:
        assert [doc.doc_id for doc in row.docs] == runs[row.system][row.query_id][:10]
        assert [doc.rank for doc in row.docs] == list(range(1, 11))
        assert [doc.grade for doc in row.docs] == [grades.get((row.query_id, doc.doc_id)) for doc in row.docs]


def test_the_biggest_wins_and_losses_have_their_lists(tmp_path: Path) -> None:
    comparison = compare(write_collection(tmp_path))
    shown = {(row.query_id, row.system) for row in comparison.lists}
    values = comparison.scores_table.values[:, :, 0]
    for s, system in ((1, "b"), (2, "c")):
        difference = values[:, s] - values[:, 0]
        for q in (int(np.argmax(difference)), int(np.argmin(difference))):
            query_id = comparison.scores_table.query_ids[q]
            assert (query_id, system) in shown
            assert (query_id, "a") in shown


def test_every_unjudged_document_of_a_top_ten_is_listed_once_and_the_decisive_first(tmp_path: Path) -> None:
    comparison = compare(write_collection(tmp_path))
    grades = read_qrels(tmp_path / "q.txt")
    ranks: dict[tuple[str, str], dict[str, int]] = {}
    for name in "abc":
        for query_id, docs in read_run(tmp_path / f"{name}.run").items():
            for rank, doc in enumerate(docs[:10], start=1):
                if (query_id, doc) not in grades:
                    ranks.setdefault((query_id, doc), {})[name] = rank
    assert [(row.query_id, row.doc_id) for row in comparison.to_judge] != sorted(ranks)
    assert {(row.query_id, row.doc_id): (row.systems, row.best_rank) for row in comparison.to_judge} == {
        key: (tuple(sorted(found)), min(found.values())) for key, found in ranks.items()
    }
    assert len(comparison.to_judge) == len(ranks)

    def swing(key: tuple[str, str]) -> float:
        discount = {name: 1 / math.log2(1 + rank) for name, rank in ranks[key].items()}
        return max(abs(discount.get("a", 0) - discount.get(other, 0)) for other in "bc")

    swings = [swing((row.query_id, row.doc_id)) for row in comparison.to_judge]
    assert swings == pytest.approx(sorted(swings, reverse=True), abs=1e-12)


def test_unjudged_shares_are_counted(tmp_path: Path) -> None:
    comparison = compare(write_collection(tmp_path))
    grades = read_qrels(tmp_path / "q.txt")
    for name in "abc":
        tops = [(q, doc) for q, docs in read_run(tmp_path / f"{name}.run").items() for doc in docs[:10]]
        share = sum(key not in grades for key in tops) / len(tops)
        assert comparison.audit["unjudged_at"]["10"][name] == pytest.approx(share)
    assert "unjudged" in [warning.code for warning in comparison.warnings]


def test_agreement_of_a_ranking_with_the_grades_equals_scipy(tmp_path: Path) -> None:
    comparison = compare(write_collection(tmp_path))
    grades = read_qrels(tmp_path / "q.txt")
    for name in "abc":
        found = {"kendall_tau_b": [], "spearman": []}
        for query_id, docs in read_run(tmp_path / f"{name}.run").items():
            judged = [(rank, grades[(query_id, doc)]) for rank, doc in enumerate(docs) if (query_id, doc) in grades]
            x, y = [-rank for rank, _ in judged], [grade for _, grade in judged]
            if len(set(y)) > 1:
                found["kendall_tau_b"].append(scipy.stats.kendalltau(x, y).statistic)
                found["spearman"].append(scipy.stats.spearmanr(x, y).statistic)
        for row in comparison.agreement:
            if row.kind == "grades" and row.what == (name,):
                assert row.value == pytest.approx(np.mean(found[row.statistic]), abs=1e-12)
                assert row.n == len(found[row.statistic])


def test_agreement_of_systems_and_of_measures_equals_scipy() -> None:
    values = np.round(np.random.default_rng(5).random((40, 6, 3)), 1)
    comparison = compare_evidence(evidence_of(values), Plan(resamples=99))
    rows = {(row.kind, row.what, row.statistic): row for row in comparison.agreement}
    for m in range(3):
        x, y = values[:, 0, m], values[:, 1, m]
        key = (f"m{m}", "a", "b")
        assert rows[("systems", key, "kendall_tau_b")].value == pytest.approx(scipy.stats.kendalltau(x, y).statistic)
        assert rows[("systems", key, "spearman")].value == pytest.approx(scipy.stats.spearmanr(x, y).statistic)
    # whole tenths: equal means must tie
    sums = np.rint(values * 10).sum(axis=0)
    for a, b in combinations(range(3), 2):
        tau, rho = (rows[("measures", (f"m{a}", f"m{b}"), name)] for name in ("kendall_tau_b", "spearman"))
        assert tau.value == pytest.approx(scipy.stats.kendalltau(sums[:, a], sums[:, b]).statistic)
        assert rho.value == pytest.approx(scipy.stats.spearmanr(sums[:, a], sums[:, b]).statistic)
        assert tau.n == rho.n == 6
        assert rho.interval is None
        assert tau.interval is not None
        assert -1 <= tau.interval.ends[0] <= tau.value <= tau.interval.ends[1] <= 1
        assert (tau.interval.level, tau.interval.method) == (0.95, "bootstrap of queries")


def plain_rbo(x: list[str], y: list[str], p: float = 0.9) -> float:
    """RBO_ext of two lists of equal length without ties."""
    agreed = [len(set(x[:d]) & set(y[:d])) / d for d in range(1, len(x) + 1)]
    return (1 - p) / p * sum(a * p ** (d + 1) for d, a in enumerate(agreed)) + agreed[-1] * p ** len(x)


def test_agreement_of_top_lists_equals_its_definition(tmp_path: Path) -> None:
    comparison = compare(write_collection(tmp_path))
    tops = {name: {q: docs[:10] for q, docs in read_run(tmp_path / f"{name}.run").items()} for name in "abc"}
    rows = {(row.kind, row.what, row.statistic): row for row in comparison.agreement}
    for system in "bc":
        pairs = {q: (tops["a"][q], tops[system][q]) for q in tops["a"]}
        rbo = {q: plain_rbo(x, y) for q, (x, y) in pairs.items()}
        overlap = {q: len(set(x) & set(y)) / 10 for q, (x, y) in pairs.items()}
        tau = {}
        for q, (x, y) in pairs.items():
            common = [doc for doc in x if doc in y]
            tau[q] = ap_correlation([-x.index(doc) for doc in common], [-y.index(doc) for doc in common]).tau_ap_b
        for statistic, values in (("rbo", rbo), ("overlap@10", overlap), ("tau_ap_b", tau)):
            row = rows[("lists", ("a", system), statistic)]
            assert row.value == pytest.approx(np.mean(list(values.values())), abs=1e-9)
            assert row.n == QUERIES
            assert row.interval is not None
            low, high = scipy.stats.t.interval(
                0.95, QUERIES - 1, np.mean(list(values.values())), scipy.stats.sem(list(values.values()))
            )
            assert row.interval.ends == pytest.approx((low, high), abs=1e-6)
        listed = [r for r in comparison.agreement if r.kind == "lists_of_query" and r.what[2] == system]
        shown = [r.what[0] for r in listed if r.statistic == "rbo"]
        assert shown == sorted(rbo, key=lambda q: (round(rbo[q], 12), q))[:10]
        assert all(r.value == pytest.approx(overlap[r.what[0]]) for r in listed if r.statistic == "overlap@10")


def test_a_query_without_an_answer_is_left_out_of_the_lists(tmp_path: Path) -> None:
    plan = write_collection(tmp_path)
    path = tmp_path / "b.run"
    kept = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("q03")]
    path.write_text("\n".join(kept), encoding="utf-8")
    rows = compare(plan).agreement
    assert {row.n for row in rows if row.kind == "lists" and row.what == ("a", "b")} == {QUERIES - 1}
    assert "q03" not in {row.what[0] for row in rows if row.kind == "lists_of_query" and row.what[2] == "b"}


def test_two_systems_have_no_interval_of_their_order() -> None:
    values = np.random.default_rng(6).random((30, 2, 2))
    rows = compare_evidence(evidence_of(values), Plan(resamples=99)).agreement
    assert {row.interval for row in rows if row.kind == "measures"} == {None}


def test_the_interval_of_measures_follows_level_seed_and_clusters() -> None:
    scores = evidence_of(np.random.default_rng(7).random((40, 10, 2))).scores
    first = make_agreement(scores, (), (), resamples=149)
    assert make_agreement(scores, (), (), resamples=149) == first
    for changed in ({"alpha": 0.5}, {"seed": 3}, {"clusters": np.arange(40) // 8}):
        other = make_agreement(scores, (), (), resamples=149, **changed)
        assert [row.value for row in other] == [row.value for row in first]
        assert other[0].interval != first[0].interval


def test_constant_values_have_no_agreement() -> None:
    comparison = compare_evidence(evidence_of(np.full((20, 2), 0.5)), Plan(resamples=99))
    assert {row.value for row in comparison.agreement if row.kind == "systems"} == {None}


def test_a_query_table_that_does_not_fit_is_named(tmp_path: Path) -> None:
    plan = write_collection(tmp_path)
    (tmp_path / "t.tsv").write_text("query_id\tquery\nz\twords\n", encoding="utf-8")
    wrong = Plan(qrels=plan.qrels, runs=plan.runs, queries=str(tmp_path / "t.tsv"))
    with pytest.raises(PlanError, match="none of the 14 judged queries is in the query table"):
        compare(wrong)


def test_weights_must_cover_the_judged_queries(tmp_path: Path) -> None:
    plan = write_collection(tmp_path)
    rows = "\n".join(f"q{q:02}\t{'' if q == 3 else q}" for q in range(QUERIES))
    (tmp_path / "t.tsv").write_text("query_id\tw\n" + rows, encoding="utf-8")
    weighted = Plan(qrels=plan.qrels, runs=plan.runs, queries=str(tmp_path / "t.tsv"), columns=Columns(weight="w"))
    with pytest.raises(PlanError, match=r"1 of 14 judged queries have no weight \(q03\)"):
        compare(weighted)


def test_a_run_without_a_judged_query_is_named(tmp_path: Path) -> None:
    plan = write_collection(tmp_path)
    (tmp_path / "z.run").write_text("Q1 Q0 d1 1 1 t\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"z\.run: answers none of the 14 judged queries"):
        compare(Plan(qrels=plan.qrels, runs=(*plan.runs, ("z", str(tmp_path / "z.run")))))


def test_missing_queries_count_as_zero_and_are_reported(tmp_path: Path) -> None:
    plan = write_collection(tmp_path)
    path = tmp_path / "b.run"
    kept = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("q03")]
    path.write_text("\n".join(kept), encoding="utf-8")
    comparison = compare(plan)
    assert comparison.audit["queries"]["missing"] == {"a": [], "b": ["q03"], "c": []}
    assert comparison.scores_table.values[3, 1].tolist() == [0.0, 0.0]
    assert {row.n for row in comparison.differences} == {QUERIES}
    (warning,) = [w for w in comparison.warnings if w.code == "missing_queries"]
    assert warning.severity == "serious"
    assert warning.message == "b answers 13 of 14 queries; the missing one counts as 0."


def test_ids_stay_text_as_segments_and_are_numbers_where_numbers_are_asked_for(tmp_path: Path) -> None:
    plan = write_collection(tmp_path)
    rows = "\n".join(f"q{q:02}\t{'007' if q % 2 else '7'}\t0{q + 1}" for q in range(QUERIES))
    (tmp_path / "t.tsv").write_text("query_id\tshop\tw\n" + rows, encoding="utf-8")
    asked = Plan(
        qrels=plan.qrels,
        runs=plan.runs,
        queries=str(tmp_path / "t.tsv"),
        segments=("shop", "w:q2"),
        columns=Columns(weight="w"),
        resamples=99,
    )
    comparison = compare(asked)
    assert [(s.attribute, s.value, s.n) for s in comparison.segments] == [
        ("shop", "007", 7),
        ("shop", "7", 7),
        ("w", "q1", 7),
        ("w", "q2", 7),
    ]
    assert [query.weight for query in comparison.queries] == [q + 1.0 for q in range(QUERIES)]
