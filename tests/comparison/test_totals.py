"""Measures of all lists together in a comparison: values, the exchange test, and no claim about them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rankstats.comparison import compare
from rankstats.comparison.collecting import collect
from rankstats.comparison.significance import seed_of
from rankstats.errors import PlanError
from rankstats.measures import exchangeable, parse_measure
from rankstats.plan import Columns, Plan
from rankstats.stats import list_exchange_test


def write(folder: Path) -> Plan:
    """Write a catalogue of thirty, a run that shows the same two documents always, and one that varies."""
    queries = [f"q{i:02d}" for i in range(20)]
    (folder / "qrels").write_text("".join(f"{q} 0 d{i % 30} 1\n" for i, q in enumerate(queries)), encoding="utf-8")
    same = "".join(f"{q} Q0 d{r} 0 {9 - r} x\n" for q in queries for r in range(2))
    varied = "".join(f"{q} Q0 d{(i + r) % 30} 0 {9 - r} x\n" for i, q in enumerate(queries) for r in range(2))
    (folder / "same").write_text(same, encoding="utf-8")
    (folder / "varied").write_text(varied, encoding="utf-8")
    (folder / "items.tsv").write_text(
        "doc_id\tpopularity\n" + "".join(f"d{i}\t{i}\n" for i in range(30)), encoding="utf-8"
    )
    return Plan(
        qrels=str(folder / "qrels"),
        runs=(("same", str(folder / "same")), ("varied", str(folder / "varied"))),
        items=str(folder / "items.tsv"),
        columns=Columns(),
        measures=("Coverage@2", "RR"),
        resamples=199,
    )


def test_coverage_is_shown_with_the_exchange_test(tmp_path: Path) -> None:
    plan = write(tmp_path)
    comparison = compare(plan)
    (row,) = comparison.totals
    assert (row.value_baseline, row.value_system) == (pytest.approx(2 / 30), pytest.approx(21 / 30))
    assert row.difference == pytest.approx(19 / 30)
    evidence = collect(plan)
    assert evidence.judgments is not None
    made = exchangeable(parse_measure("Coverage@2"), evidence.judgments, evidence.hits, items=evidence.items)
    direct = list_exchange_test(
        made.parts[0], made.parts[1], made.statistic, resamples=199, rng=seed_of(plan, "labels")
    )
    assert row.p_value == direct.p_value
    assert {difference.measure for difference in comparison.differences} == {"RR"}
    assert comparison.primary == ("RR",)
    means = {(score.system, score.measure): score.mean for score in comparison.scores if score.segment is None}
    assert means["varied", "Coverage@2"] == pytest.approx(21 / 30)
    assert not [w for w in comparison.warnings if w.code == "identical_systems"]


def test_a_measure_without_a_value_a_query_is_no_claim(tmp_path: Path) -> None:
    plan = write(tmp_path)
    with pytest.raises(PlanError, match="has no value a query; choose one that has"):
        compare(replace(plan, primary=("Coverage@2",)))
    with pytest.raises(PlanError, match="no measure has a value a query"):
        compare(replace(plan, measures=("Coverage@2",)))
