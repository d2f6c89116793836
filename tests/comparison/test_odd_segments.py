"""Segments without queries, of one query, with missing attributes: named and counted, no crash, no verdict."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankstats.comparison import collect, compare_evidence
from rankstats.comparison.result import Comparison
from rankstats.decision import decide
from rankstats.decision.policy import read_policy
from rankstats.errors import RankstatsError
from rankstats.plan import Plan
from rankstats.report.folder import report_files

TEXT = {"many": "one two", "one": "one two three four five", "empty": "six words are longer than that"}


def write(folder: Path, *, gain: float = 0.2) -> Plan:
    """Thirty scored queries: 26 of kind `many`, one of kind `one`, two without a kind, one outside the table.

    No scored query is of kind `empty`, which the table holds.
    """
    rng = np.random.default_rng(2)
    kinds = ["many"] * 26 + ["one", "", ""]
    scores = [f"q{q},{a!r},{a + gain + b / 10!r}\n" for q, (a, b) in enumerate(rng.random((30, 2)).tolist())]
    (folder / "s.csv").write_text("query_id,old,new\n" + "".join(scores), encoding="utf-8")
    rows = [f"q{q}\t{TEXT.get(kind, '')}\t{kind}\t{1000 - q}\t{1 + q % 3}\tu{q % 15}\n" for q, kind in enumerate(kinds)]
    rows += [f"x{q}\t{TEXT['empty']}\tempty\t1\t1\tu1\n" for q in range(3)]
    (folder / "q.tsv").write_text("query_id\ttext\tkind\tclicks\tw\tuser\n" + "".join(rows), encoding="utf-8")
    return Plan(
        scores=(str(folder / "s.csv"),),
        measures=("AP",),
        queries=str(folder / "q.tsv"),
        segments=("kind", "length:3,5", "kind+length:3,5", "popularity:0.5,0.999"),
        resamples=499,
    )


def compared(plan: Plan) -> Comparison:
    return compare_evidence(collect(plan), plan)


def by_kind(comparison: Comparison) -> dict[str, Any]:
    found = {s.value: s for s in comparison.segments if s.attribute == "kind"}
    assert list(found) == ["empty", "many", "one", "(none)"]
    return found


OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "claims": {"family": "segments"},
    "t": {"test": "t", "family": "segments"},
    "bootstrap": {"test": "bootstrap", "family": "segments"},
    "wilcoxon": {"test": "wilcoxon", "family": "segments"},
    "sign": {"test": "sign", "family": "segments"},
    "max-t": {"correction": "max-t", "family": "segments"},
    "holm": {"correction": "holm", "family": "segments"},
    "margin": {"family": "segments", "margin": {"AP": 5.0}},
    "one-sided": {"alternative": "greater", "family": "segments"},
    "intervals": {"intervals": ("bca", "percentile", "studentised")},
    "weights": {"weight": "w", "family": "segments"},
    "clusters": {"cluster": "user", "family": "segments"},
}


@pytest.mark.parametrize("options", OPTIONS)
def test_named_counted_and_without_a_verdict(tmp_path: Path, options: str) -> None:
    plan = write(tmp_path)
    changes = dict(OPTIONS[options])
    columns = {name: changes.pop(name) for name in ("weight", "cluster") if name in changes}
    if columns:
        # weights and clusters need a row for every scored query
        with (tmp_path / "q.tsv").open("a", encoding="utf-8") as table:
            table.write("q29\t\t\t1\t1\tu1\n")
    plan = replace(plan, columns=replace(plan.columns, frequency="clicks", **columns), **changes)
    comparison = compared(plan)
    segments = by_kind(comparison)
    assert {value: s.n for value, s in segments.items()} == {"empty": 0, "many": 26, "one": 1, "(none)": 3}
    assert {value: s.too_few for value, s in segments.items()} == {
        "empty": True,
        "many": False,
        "one": True,
        "(none)": True,
    }
    assert segments["empty"].share == pytest.approx(3 / (sum(1000 - q for q in range(29)) + 3 + bool(columns)))
    rows = {row.segment["value"]: row for row in comparison.differences if row.segment and not row.weighting}
    assert rows["empty"].n == 0
    assert (rows["empty"].difference, rows["empty"].p_value, rows["empty"].interval) == (None, None, None)
    assert rows["one"].n == 1
    # a verdict needs ten queries, whatever the size of the effect and the margin
    for verdict in comparison.verdict:
        if verdict.segment is not None and verdict.segment["value"] in ("empty", "one", "(none)", "one+long"):
            assert verdict.outcome == "not_shown", verdict
            assert "cannot be compared" in verdict.sentence or "Too few queries" in verdict.sentence
    if "family" in changes:
        claimed = {v.segment["value"] for v in comparison.verdict if v.segment and v.segment["attribute"] == "kind"}
        assert claimed == {"empty", "many", "one"}
    (health,) = [row for row in comparison.heterogeneity if row.attribute == "kind"]
    assert health.p_value is None or health.p_value > 0
    if not columns:
        assert [w.code for w in comparison.warnings if w.code == "not_in_query_table"]
    if options in ("plain", "claims", "clusters"):
        page = report_files(comparison)["report.html"]
        assert "<!doctype html>" in page.lower()
        assert "empty" in page


def test_a_policy_about_such_segments_is_open(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text(
        'schema_version = "1"\nbaseline = "old"\ncandidate = "new"\n'
        '[[claim]]\nid = "better"\nmeasure = "AP"\nmore_than = 0.0\n'
        + "".join(
            f'[[guard]]\nid = "{value}"\nmeasure = "AP"\nmargin = 0.05\n'
            f'segment = {{ attribute = "kind", value = "{value}" }}\n'
            for value in ("many", "one", "empty", "(none)")
        ),
        encoding="utf-8",
    )
    decision = decide(compared(write(tmp_path)), read_policy(tmp_path / "p.toml"))
    outcomes = {rule.id: rule.outcome for rule in decision.rules if not rule.id.startswith("evidence.")}
    assert outcomes == {"better": "holds", "many": "holds", "one": "open", "empty": "open", "(none)": "open"}
    assert decision.outcome == "cannot_tell"


def test_a_column_without_any_value_is_refused_by_name(tmp_path: Path) -> None:
    plan = write(tmp_path)
    lines = (tmp_path / "q.tsv").read_text(encoding="utf-8").splitlines()
    (tmp_path / "q.tsv").write_text("\n".join([lines[0] + "\tvoid", *(line + "\t" for line in lines[1:])]), "utf-8")
    with pytest.raises(RankstatsError, match="--segment void: no query has a value"):
        compared(replace(plan, segments=("void",)))


def test_a_column_of_values_that_no_scored_query_has(tmp_path: Path) -> None:
    plan = write(tmp_path)
    lines = (tmp_path / "q.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line + ("\tseen" if line.startswith("x") else "\t") for line in lines[1:]]
    (tmp_path / "q.tsv").write_text("\n".join([lines[0] + "\tlater", *rows]) + "\n", encoding="utf-8")
    plan = replace(plan, segments=("later",), columns=replace(plan.columns, frequency="clicks"))
    comparison = compared(plan)
    (verdict,) = comparison.verdict
    assert verdict.outcome == "better"
    assert [w.severity for w in comparison.warnings if w.code == "undivided_segment"] == ["info"]
    assert "<!doctype html>" in report_files(comparison)["report.html"].lower()
