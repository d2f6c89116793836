"""What the unjudged documents could change: scenarios against evaluating edited files, and verdicts withheld."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rankstats.comparison import collect, compare_evidence
from rankstats.comparison.claim_checks import _turning
from rankstats.comparison.coverage import _find_unjudged, with_grades
from rankstats.comparison.result import Comparison
from rankstats.measures import evaluate_systems, parse_measures
from rankstats.plan import Plan
from tests.shared import shared

MEASURES = ("P@10", "AP", "nDCG@10", "RR")


def write_collection(folder: Path, *, n: int, unjudged: int, seed: int = 0, better: float = 0.0) -> Plan:
    """Write judgments and two runs; `unjudged` of the new run's ten documents were never seen by a judge."""
    rng = np.random.default_rng(seed)
    qrels, old, new = [], [], []
    for q in range(n):
        for d in range(40):
            qrels.append(f"q{q} 0 d{d} {int(rng.random() < 0.6)}")
        for lines, tag, pool in ((old, "old", 0), (new, "new", unjudged)):
            docs = [f"d{d}" for d in rng.permutation(40)[: 10 - pool]] + [f"u{d}" for d in range(pool)]
            if tag == "new" and rng.random() < better:
                relevant = {line.split()[2] for line in qrels if line.startswith(f"q{q} ") and line.endswith(" 1")}
                docs = [*sorted(relevant)[: 10 - pool], *[f"u{d}" for d in range(pool)]]
            rng.shuffle(docs)
            lines += [f"q{q} Q0 {doc} {r + 1} {10 - r} {tag}" for r, doc in enumerate(docs)]
    for name, lines in (("qrels.txt", qrels), ("old.run", old), ("new.run", new)):
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return Plan(
        qrels=str(folder / "qrels.txt"),
        runs=(("old", str(folder / "old.run")), ("new", str(folder / "new.run"))),
        measures=MEASURES,
        primary=("P@10",),
        resamples=499,
    )


def compared(plan: Plan) -> Comparison:
    return compare_evidence(collect(plan), plan)


def test_a_scenario_is_what_edited_judgments_give(tmp_path: Path) -> None:
    plan = write_collection(tmp_path, n=12, unjudged=3)
    evidence = collect(plan)
    assert evidence.judgments is not None
    unjudged = _find_unjudged(*evidence.hits)
    assert len(unjudged) == 36
    chosen = np.array([0, 4, 5, 20])
    judgments, pair = with_grades(evidence.judgments, (evidence.hits[0], evidence.hits[1]), unjudged, chosen, 2.0)
    values = evaluate_systems(parse_measures(MEASURES), judgments, pair, plan.policies)
    lines = (tmp_path / "qrels.txt").read_text(encoding="utf-8")
    lines += "".join(f"q{evidence.scores.query_ids[unjudged.query[i]][1:]} 0 {unjudged.doc_ids[i]} 2\n" for i in chosen)
    (tmp_path / "qrels.txt").write_text(lines, encoding="utf-8")
    np.testing.assert_allclose(values, collect(plan).scores.values, rtol=0, atol=1e-12)


def test_a_verdict_is_withheld_where_the_losing_list_was_hardly_judged(tmp_path: Path) -> None:
    plan = write_collection(tmp_path, n=60, unjudged=3)
    comparison = compared(plan)
    (row,) = [row for row in comparison.differences if row.role == "confirmatory"]
    (coverage,) = comparison.coverage
    assert (coverage.unjudged_baseline, coverage.unjudged_system, coverage.documents) == (0, pytest.approx(0.3), 180)
    assert coverage.verdict == "worse"
    assert (coverage.worst, coverage.worst_outcome) == (pytest.approx(row.difference), "worse")
    assert coverage.best == pytest.approx((row.difference or 0) + 0.3)
    assert coverage.best_outcome == "better"
    assert coverage.to_turn is not None
    assert coverage.turns_to == "not_shown"
    assert coverage.likely == pytest.approx(0.6 * 180, rel=0.2)
    assert coverage.to_turn <= coverage.likely
    (verdict,) = comparison.verdict
    assert verdict.outcome == "not_shown"
    turned = f"if {coverage.to_turn:,} of those documents, over all queries, were relevant the verdict would change"
    assert turned in verdict.sentence
    assert "is unjudged (old: 0\N{NO-BREAK SPACE}%); if" in verdict.sentence
    assert [w.severity for w in comparison.warnings if w.code == "unjudged_decide"] == ["serious"]


def test_the_number_of_documents_is_the_smallest(tmp_path: Path) -> None:
    plan = write_collection(tmp_path, n=60, unjudged=3)
    evidence = collect(plan)
    (coverage,) = compare_evidence(evidence, plan).coverage
    assert evidence.judgments is not None
    unjudged = _find_unjudged(*evidence.hits)
    order = unjudged.towards(1, evidence.query_weights)
    outcomes = []
    for count in (coverage.to_turn or 0, (coverage.to_turn or 0) - 1):
        pair = (evidence.hits[0], evidence.hits[1])
        judgments, graded = with_grades(evidence.judgments, pair, unjudged, order[:count], 1.0)
        scores = replace(
            evidence.scores, values=evaluate_systems(parse_measures(MEASURES), judgments, graded, plan.policies)
        )
        edited = replace(evidence, scores=scores, judgments=None, hits=())
        outcomes.append(compare_evidence(edited, plan).verdict[0].outcome)
    assert outcomes == ["not_shown", "worse"]


def test_a_verdict_stands_where_both_lists_are_judged_alike(tmp_path: Path) -> None:
    plan = write_collection(tmp_path, n=60, unjudged=0, better=0.9)
    comparison = compared(plan)
    (coverage,) = comparison.coverage
    assert comparison.verdict[0].outcome == coverage.verdict == "better"
    assert (coverage.documents, coverage.to_turn) == (0, None)
    assert coverage.best == coverage.worst == pytest.approx(comparison.differences[0].difference)


def test_judgments_of_relevant_documents_alone_withhold_nothing(tmp_path: Path) -> None:
    plan = write_collection(tmp_path, n=60, unjudged=3)
    lines = [line for line in (tmp_path / "qrels.txt").read_text(encoding="utf-8").splitlines() if line.endswith(" 1")]
    (tmp_path / "qrels.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    comparison = compared(plan)
    assert comparison.verdict[0].outcome == "worse"
    (coverage,) = comparison.coverage
    assert coverage.to_turn is not None
    assert coverage.likely is None


def test_the_winner_may_be_judged_less_and_still_win(tmp_path: Path) -> None:
    plan = write_collection(tmp_path, n=60, unjudged=2, better=1.0)
    comparison = compared(plan)
    (coverage,) = comparison.coverage
    assert (coverage.verdict, comparison.verdict[0].outcome) == ("better", "better")
    assert coverage.unjudged_system == pytest.approx(0.2)
    assert coverage.to_turn is None


def test_documents_at_the_same_place_of_both_lists_decide_nothing(tmp_path: Path) -> None:
    plan = write_collection(tmp_path, n=60, unjudged=0, better=0.6)
    outcome = compared(plan).verdict[0].outcome
    assert outcome == "better"
    for name in ("old.run", "new.run"):
        lines = (tmp_path / name).read_text(encoding="utf-8").splitlines()
        top = [f"q{q} Q0 s{d} 0 {30 - d} x" for q in range(60) for d in range(4)]
        (tmp_path / name).write_text("\n".join([*top, *lines]) + "\n", encoding="utf-8")
    comparison = compared(plan)
    (coverage,) = comparison.coverage
    assert coverage.documents == 240
    assert coverage.to_turn is None
    assert coverage.likely == 0


def test_a_withheld_verdict_is_not_spoken_by_ranks_or_segments(tmp_path: Path) -> None:
    plan = write_collection(tmp_path, n=60, unjudged=3)
    (tmp_path / "copy.run").write_text((tmp_path / "old.run").read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "q.tsv").write_text("query_id\tkind\n" + "".join(f"q{q}\tk{q % 2}\n" for q in range(60)), "utf-8")
    plan = replace(
        plan,
        runs=(*plan.runs, ("copy", str(tmp_path / "copy.run"))),
        queries=str(tmp_path / "q.tsv"),
        segments=("kind",),
        family="segments",
    )
    comparison = compared(plan)
    outcomes = {(row.system, row.segment and row.segment["value"]): row.outcome for row in comparison.verdict}
    assert {outcomes["new", segment] for segment in (None, "k0", "k1")} == {"not_shown"}
    assert {(row.low, row.may_be_best) for row in comparison.standings} == {(None, None)}


def test_segments_that_are_no_claims_are_withheld_with_the_claim(tmp_path: Path) -> None:
    plan = write_collection(tmp_path, n=60, unjudged=3)
    (tmp_path / "q.tsv").write_text("query_id\tkind\n" + "".join(f"q{q}\tk{q % 2}\n" for q in range(60)), "utf-8")
    comparison = compared(replace(plan, queries=str(tmp_path / "q.tsv"), segments=("kind",)))
    reasons = {(row.measure, row.segment is None): row.withheld for row in comparison.differences}
    assert reasons["P@10", True] is not None
    assert reasons["P@10", False] == reasons["P@10", True]
    assert reasons["AP", True] is None


def test_a_value_that_changes_is_no_longer_equivalent(tmp_path: Path) -> None:
    plan = write_collection(tmp_path, n=40, unjudged=9)
    old = (tmp_path / "old.run").read_text(encoding="utf-8").splitlines()
    # the same relevant documents first, then nine that nobody judged
    new = [line.replace(" old", " new") for line in old if line.split()[3] == "1"]
    new += [f"q{q} Q0 u{d} 0 {-d} new" for q in range(40) for d in range(9)]
    (tmp_path / "old.run").write_text("\n".join(line for line in old if line.split()[3] == "1") + "\n", "utf-8")
    (tmp_path / "new.run").write_text("\n".join(new) + "\n", encoding="utf-8")
    comparison = compared(replace(plan, margin={"P@10": 0.01}))
    (coverage,) = comparison.coverage
    assert coverage.verdict == "equivalent"
    assert (coverage.best, coverage.best_outcome) == (pytest.approx(0.9), "better")
    assert coverage.to_turn is not None


def test_nothing_is_decided_anew_where_the_family_is_another_one(tmp_path: Path) -> None:
    plan = write_collection(tmp_path, n=30, unjudged=2)
    assert compared(replace(plan, compare="best")).coverage == ()


@pytest.mark.shared
def test_a_collection_that_leaked_gives_no_verdict() -> None:
    folder = shared("data/odd/leaky-scifact")
    runs = sorted((folder / "runs").iterdir())
    plan = Plan(
        qrels=str(folder / "qrels.txt"),
        # the weakest run first, so that the others would be better
        runs=tuple((path.name.split(".")[0], str(path)) for path in reversed(runs)),
        measures=("nDCG@10", "RR"),
        resamples=499,
    )
    comparison = compared(plan)
    assert {row.outcome for row in comparison.verdict} == {"not_shown"}
    assert "may have leaked" in comparison.verdict[0].sentence
    # the other measure rests on the same runs
    assert all("leaked" in (row.withheld or "") for row in comparison.differences)
    codes = {warning.code: warning for warning in comparison.warnings}
    assert codes["perfect_run"].severity == "serious"
    assert codes["identical_systems"].where == "tfidf-text and tfidf-exact"


def write_deep(folder: Path, *, n: int, first: int, last: int) -> Plan:
    """Write two runs of thirty documents; nobody judged the new run's documents at the ranks `first` to `last`."""
    rng = np.random.default_rng(5)
    qrels, old, new = [], [], []
    for q in range(n):
        # the old run finds more
        grades = rng.random((2, 31)) < np.array([[0.7], [0.4]])
        for name, lines, row in (("o", old, grades[0]), ("n", new, grades[1])):
            for rank in range(1, 31):
                lines.append(f"q{q} Q0 {name}{rank} {rank} {-rank} {name}")
                if name == "o" or not first <= rank <= last:
                    qrels.append(f"q{q} 0 {name}{rank} {int(row[rank])}")
    for name, lines in (("qrels.txt", qrels), ("old.run", old), ("new.run", new)):
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return Plan(
        qrels=str(folder / "qrels.txt"),
        runs=(("old", str(folder / "old.run")), ("new", str(folder / "new.run"))),
        resamples=499,
    )


@pytest.mark.parametrize(
    ("measure", "depth", "documents", "gain"),
    [("P@5", 5, 0, 0.0), ("P@12", 12, 80, 2 / 12), ("P@20", 20, 400, 10 / 20), ("Condensed(P@5)", 100, 400, 0.0)],
)
def test_lists_are_looked_at_as_deep_as_the_measure_looks(
    tmp_path: Path, measure: str, depth: int, documents: int, gain: float
) -> None:
    plan = replace(write_deep(tmp_path, n=40, first=11, last=20), measures=(measure,))
    comparison = compared(plan)
    (coverage,) = comparison.coverage
    (row,) = comparison.differences
    assert (coverage.depth, coverage.documents, coverage.verdict) == (depth, documents, "worse")
    assert coverage.unjudged_baseline == 0
    assert coverage.unjudged_system == pytest.approx(max(0, min(depth, 20, 30) - 10) / min(depth, 30))
    assert coverage.best == pytest.approx((row.difference or 0) + gain)
    assert (coverage.to_turn is not None) == (measure == "P@20")


def test_documents_below_a_small_cutoff_do_not_count(tmp_path: Path) -> None:
    plan = write_deep(tmp_path, n=40, first=6, last=10)
    for measure, documents in (("P@5", 0), ("P@8", 120), ("P@10", 200)):
        (coverage,) = compared(replace(plan, measures=(measure,))).coverage
        assert coverage.documents == documents
        assert bool(coverage.likely) == bool(documents)


def test_a_measure_of_whole_lists_is_turned_from_below_rank_10(tmp_path: Path) -> None:
    plan = replace(write_deep(tmp_path, n=40, first=11, last=30), measures=("AP", "P@10"), primary=("AP",))
    comparison = compared(plan)
    (coverage,) = comparison.coverage
    assert (coverage.depth, coverage.documents, coverage.verdict) == (100, 800, "worse")
    assert coverage.to_turn is not None
    # the same as judgments in which the most telling documents are relevant
    evidence = collect(plan)
    assert evidence.judgments is not None
    pair = (evidence.hits[0], evidence.hits[1])
    unjudged = _find_unjudged(*pair, 100)
    order = unjudged.towards(1, evidence.query_weights)
    outcomes = []
    for count in (coverage.to_turn, coverage.to_turn - 1):
        judgments, graded = with_grades(evidence.judgments, pair, unjudged, order[:count], 1.0)
        values = evaluate_systems(parse_measures(("AP", "P@10")), judgments, graded, plan.policies)
        edited = replace(evidence, scores=replace(evidence.scores, values=values), judgments=None, hits=())
        outcomes.append(compare_evidence(edited, plan).verdict[0].outcome)
    assert outcomes == ["not_shown", "worse"]
    # the lists that are shown, and those to judge, end at rank 10 as ever
    assert {doc.rank for shown in comparison.lists for doc in shown.docs} == set(range(1, 11))
    assert comparison.to_judge == ()


def test_the_warning_names_the_list_that_loses_and_counts_over_all_queries(tmp_path: Path) -> None:
    (coverage,) = compared(write_collection(tmp_path, n=60, unjudged=3)).coverage
    turned = replace(coverage, to_turn=1, likely=22.4, depth=10)
    expected = {"better": coverage.baseline, "worse": coverage.system}
    for verdict, loser in expected.items():
        text = _turning(replace(turned, verdict=verdict), 60)
        assert text.startswith("1 unjudged document (top 10 of 60 queries) would turn the verdict if it was relevant")
        assert f"of those that would help {loser} about 22 are likely relevant" in text
    assert _turning(replace(turned, likely=None), 60).endswith("of the lowest grade.")
