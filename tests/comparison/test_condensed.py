"""Claims on condensed lists: against runs without the unjudged rows, compared again; and where both disagree."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from rankstats.comparison import collect, compare_evidence
from rankstats.comparison.result import Comparison
from rankstats.plan import Plan
from rankstats.report.folder import report_files
from tests.comparison.test_coverage import write_collection
from tests.report.test_schema import VALIDATOR


def compared(plan: Plan) -> Comparison:
    return compare_evidence(collect(plan), plan)


def without_unjudged(plan: Plan, folder: Path) -> Plan:
    """Take the unjudged rows out of the run files by hand."""
    assert plan.qrels is not None
    judged = {tuple(line.split()[:3:2]) for line in Path(plan.qrels).read_text(encoding="utf-8").splitlines()}
    runs = []
    for name, path in plan.runs:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
        kept = [line for line in lines if tuple(line.split()[:3:2]) in judged]
        (folder / f"{name}.condensed").write_text("\n".join(kept) + "\n", encoding="utf-8")
        runs.append((name, str(folder / f"{name}.condensed")))
    return replace(plan, runs=tuple(runs))


def with_third(plan: Plan, folder: Path) -> Plan:
    lines = Path(plan.runs[1][1]).read_text(encoding="utf-8").splitlines()
    (folder / "third.run").write_text("\n".join(line for k, line in enumerate(lines) if k % 7) + "\n", encoding="utf-8")
    return replace(plan, runs=(*plan.runs, ("third", str(folder / "third.run"))))


@pytest.mark.parametrize("options", ["plain", "all-pairs", "weighted", "clustered", "segments", "best"])
def test_the_same_as_comparing_lists_without_their_unjudged_rows(tmp_path: Path, options: str) -> None:
    plan = with_third(write_collection(tmp_path, n=50, unjudged=3, better=0.3), tmp_path)
    table = "".join(f"q{q}\t{1 + q % 3}\tu{q % 25}\tk{q % 2}\n" for q in range(50))
    (tmp_path / "q.tsv").write_text("query_id\tw\tuser\tkind\n" + table, encoding="utf-8")
    plan = replace(plan, primary=("P@10", "AP", "RR"), queries=str(tmp_path / "q.tsv"))
    plan = {
        "plain": plan,
        "all-pairs": replace(plan, compare="all-pairs", primary=("nDCG@10",)),
        "weighted": replace(plan, columns=replace(plan.columns, weight="w")),
        "clustered": replace(plan, columns=replace(plan.columns, cluster="user")),
        "segments": replace(plan, segments=("kind",), family="segments"),
        "best": replace(plan, compare="best"),
    }[options]
    whole = compared(plan)
    baseline = whole.condensed[0].baseline if options == "best" else None
    again = without_unjudged(plan, tmp_path)
    if options == "best":
        # the reference is that of the lists as judged
        again = replace(again, compare="baseline", baselines=(str(baseline),))
    condensed = compared(again)
    by_hand = {
        (row.measure, row.baseline, row.system): (row, verdict)
        for row, verdict in zip(
            (row for row in condensed.differences if row.role == "confirmatory"),
            condensed.verdict,
            strict=True,
        )
        if row.segment is None
    }
    assert len(whole.condensed) == len(by_hand) == (3 if options == "all-pairs" else 6)
    assert any(row.removed_system for row in whole.condensed)
    for found in whole.condensed:
        row, verdict = by_hand[found.measure, found.baseline, found.system]
        for key in ("n", "mean_baseline", "mean_system", "difference", "interval"):
            assert getattr(found, key) == getattr(row, key), (found, key)
        if options == "best":
            assert (found.outcome, found.p_adjusted, found.adjusted_interval) == (None, None, None)
        else:
            assert (found.p_adjusted, found.adjusted_interval) == (row.p_adjusted, row.adjusted_interval)
            assert found.outcome == verdict.outcome


def test_judged_against_condensed_a_made_case(tmp_path: Path) -> None:
    # as judged the new list loses three of ten places; its judged documents are better than the old list's
    plan = replace(write_collection(tmp_path, n=60, unjudged=6, better=1.0), primary=("P@5",), measures=("P@5", "AP"))
    comparison = compared(plan)
    (found,) = comparison.condensed
    (row,) = [row for row in comparison.differences if row.role == "confirmatory"]
    assert row.difference is not None
    assert found.difference is not None
    assert (found.plain, found.verdict) == (row.difference, "worse")
    assert found.outcome == "better"
    assert found.difference > 0 > row.difference
    assert found.disagreement == "verdict"
    assert (found.removed_baseline, found.removed_system) == (0, 360)
    (warning,) = [warning for warning in comparison.warnings if warning.code == "condensed_disagree"]
    assert warning.severity == "warning"
    assert "condensed lists" in warning.message
    assert "(better)" in warning.message
    assert "(worse, withheld)" in warning.message
    files = report_files(comparison)
    report = json.loads(files["report.json"])
    VALIDATOR.validate(report)
    assert report["condensed"][0]["difference"] == found.difference
    assert report["condensed"][0].keys() == asdict(found).keys()
    assert "No: on condensed lists it has another verdict." in files["report.html"]
    assert "no: another verdict" in files["report.html"]


def test_both_agree_where_everything_is_judged(tmp_path: Path) -> None:
    comparison = compared(write_collection(tmp_path, n=40, unjudged=0, better=0.6))
    (found,) = comparison.condensed
    (row,) = [row for row in comparison.differences if row.role == "confirmatory"]
    assert (found.difference, found.interval, found.outcome) == (row.difference, row.interval, found.verdict)
    assert found.disagreement is None
    assert not [warning for warning in comparison.warnings if warning.code == "condensed_disagree"]
    assert "condensed-lists" not in report_files(comparison)["report.html"]


def test_measures_of_listed_documents_cannot_be_condensed(tmp_path: Path) -> None:
    plan = write_collection(tmp_path, n=20, unjudged=2)
    (tmp_path / "items.csv").write_text(
        "item_id,genre\n" + "".join(f"{kind}{d},g{d % 3}\n" for kind in "du" for d in range(40)), encoding="utf-8"
    )
    plan = replace(plan, measures=("ILD@5", "P@5"), primary=("ILD@5",), items=str(tmp_path / "items.csv"))
    plan = replace(plan, columns=replace(plan.columns, category="genre"))
    assert compared(plan).condensed == ()
    both = compared(replace(plan, primary=("ILD@5", "P@5")))
    (found,) = both.condensed
    assert (found.measure, found.outcome) == ("P@5", None)


def test_ready_made_scores_have_no_lists(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("query_id,a,b\n" + "".join(f"q{q},0.{q % 9},0.5\n" for q in range(20)), "utf-8")
    assert compared(Plan(scores=(str(tmp_path / "s.csv"),), resamples=199)).condensed == ()
