"""Tied scores: reversed lists against runs that break the ties the other way, and verdicts that hang on a tie."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from rankstats.comparison import collect, compare
from rankstats.comparison.claim_checks import ties_decide
from rankstats.comparison.findings import Findings
from rankstats.comparison.result import Comparison
from rankstats.conventions import Policies
from rankstats.plan import Plan


def warned(comparison: Comparison) -> list[str]:
    return [warning.severity for warning in comparison.warnings if warning.code == "ties_decide"]


def write(folder: Path, n: int, *, constant: bool, seed: int = 1) -> Plan:
    """Write judgments and two runs of ten documents; the new one ties all scores, or pairs of them."""
    rng = np.random.default_rng(seed)
    qrels, old, new, turned = [], [], [], []
    for q in range(n):
        relevant = rng.integers(0, 2, 10)
        qrels += [f"q{q} 0 d{d} {relevant[d]}" for d in range(10)]
        order = rng.permutation(10)
        old += [f"q{q} Q0 d{d} 0 {10 - r} old" for r, d in enumerate(order)]
        # the relevant documents have the larger ids half of the time only
        scores = np.zeros(10) if constant else np.floor(np.argsort(rng.permutation(10)) / 2)
        new += [f"q{q} Q0 d{d} 0 {scores[d]} new" for d in range(10)]
        # the same order with every tie broken towards the smaller id
        turned += [f"q{q} Q0 d{d} 0 {scores[d] - d / 100} new" for d in range(10)]
    for name, lines in (("qrels", qrels), ("old", old), ("new", new), ("turned", turned)):
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return Plan(
        qrels=str(folder / "qrels"),
        runs=(("old", str(folder / "old")), ("new", str(folder / "new"))),
        measures=("AP", "RR"),
        resamples=499,
    )


@pytest.mark.parametrize("ties", ["doc_id", "float32"])
def test_reversed_ties_are_a_run_that_breaks_them_the_other_way(tmp_path: Path, ties: str) -> None:
    plan = replace(write(tmp_path, 20, constant=False), policies=Policies(ties=ties))
    evidence = collect(plan, reverse_ties=True)
    assert evidence.reversed_ties is not None
    other = collect(replace(plan, runs=(plan.runs[0], ("new", str(tmp_path / "turned")))))
    np.testing.assert_array_equal(evidence.reversed_ties, other.scores.values)
    np.testing.assert_array_equal(evidence.reversed_ties[:, 0], evidence.scores.values[:, 0])
    assert collect(plan).reversed_ties is None


def test_input_order_is_turned_round_within_ties(tmp_path: Path) -> None:
    plan = replace(write(tmp_path, 12, constant=True), policies=Policies(ties="input"))
    evidence = collect(plan, reverse_ties=True)
    lines = (tmp_path / "new").read_text(encoding="utf-8").splitlines()
    (tmp_path / "new").write_text("\n".join(reversed(lines)) + "\n", encoding="utf-8")
    np.testing.assert_array_equal(evidence.reversed_ties, collect(plan).scores.values)


def test_a_run_without_ties_is_not_evaluated_again(tmp_path: Path) -> None:
    plan = write(tmp_path, 12, constant=False)
    plan = replace(plan, runs=(plan.runs[0], ("again", str(tmp_path / "old"))))
    assert collect(plan, reverse_ties=True).reversed_ties is None
    assert warned(compare(plan)) == []


def test_ties_that_change_values_are_told_and_verdicts_that_hang_on_them_warned_of(tmp_path: Path) -> None:
    plan = write(tmp_path, 40, constant=False)
    comparison = compare(plan)
    (effect,) = comparison.tie_effects
    evidence = collect(plan, reverse_ties=True)
    assert evidence.reversed_ties is not None
    values = evidence.scores.values[:, 1, 0]
    assert effect.queries_baseline == 0
    assert effect.queries_system == np.count_nonzero(values != evidence.reversed_ties[:, 1, 0])
    plain = comparison.differences[0].difference
    turned = float((evidence.reversed_ties[:, 1, 0] - evidence.scores.values[:, 0, 0]).mean())
    assert (effect.low, effect.high) == (pytest.approx(min(plain, turned)), pytest.approx(max(plain, turned)))
    assert (effect.verdict, effect.turns_to) == ("not_shown", None)
    assert warned(comparison) == ["info"]
    # all scores equal, relevant documents first by id: everything hangs on the tie rule
    lines = [f"q{q} 0 d{d} {int(d > 6)}" for q in range(40) for d in range(10)]
    (tmp_path / "qrels").write_text("\n".join(lines) + "\n", encoding="utf-8")
    constant = write_constant(tmp_path, plan)
    comparison = compare(constant)
    assert comparison.verdict[0].outcome == "better"
    assert comparison.tie_effects[0].turns_to == "worse"
    assert warned(comparison) == ["warning"]


def write_constant(folder: Path, plan: Plan) -> Plan:
    lines = [f"q{q} Q0 d{d} 0 1 new" for q in range(40) for d in range(10)]
    (folder / "new").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return plan


def test_ties_that_change_nothing_in_the_digits_shown_are_not_told(tmp_path: Path) -> None:
    comparison = compare(write(tmp_path, 40, constant=False))
    (effect,) = comparison.tie_effects
    row = comparison.differences[0]
    for high, told in ((effect.low + 1e-9, []), (effect.low + 0.5, ["info"])):
        findings = SimpleNamespace(
            confirmatory=(row,), tie_effects=(replace(effect, high=high),), place=lambda row: row.measure,
            decimals=lambda measure: 3,
        )  # fmt: skip
        assert [warning.severity for warning in ties_decide(cast("Findings", findings))] == told
    # a verdict that turns is told, with the digits that show by how much
    findings.tie_effects = (replace(effect, high=effect.low + 1e-9, turns_to="better"),)
    (warning,) = ties_decide(cast("Findings", findings))
    low, high = warning.message.partition("lies between ")[2].partition(",")[0].split(" and ")
    assert low != high
    assert warning.message.endswith("the verdict would be “better”.")


def test_a_note_on_ties_has_the_digits_of_the_report(tmp_path: Path) -> None:
    comparison = compare(write(tmp_path, 40, constant=False))
    row = comparison.differences[0]
    rows = tuple(replace(row, standard_error=error) for error in (0.02, 0.03, 0.0004))
    findings = SimpleNamespace(confirmatory=rows, plain=())
    # the middle of the claims, not the row's own
    assert Findings.decimals(cast("Findings", findings), row.measure) == 3
    assert Findings.decimals(cast("Findings", findings), "another") == 3
