"""Policies against data: the right outcome, for the right reason."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import pytest

from rankstats.decision import decide, policy_from_document
from rankstats.errors import PlanError
from rankstats.plan import Plan
from tests.decision.made import Content, claim, guard, noise, pair, policy_of, report_of, shuffled

TAIL = {"attribute": "popularity", "value": "tail"}


@dataclass(frozen=True)
class Case:
    """A report, a policy, the decision, and for single rules their outcome with a piece of the reason."""

    name: str
    report: Callable[[], Content]
    policy: Content
    outcome: str
    rules: dict[str, tuple[str, str]] = field(default_factory=dict)


def _popularity(n: int, tail: int) -> dict[str, list[str]]:
    return {"popularity": ["tail"] * tail + ["head"] * (n - tail)}


def _segmented(tail: np.ndarray, head: np.ndarray) -> Content:
    columns = _popularity(len(tail) + len(head), len(tail))
    return report_of(
        pair(np.concatenate([tail, head])), columns=columns, plan=Plan(resamples=999, segments=("column:popularity",))
    )


@cache
def _many_without_difference() -> Content:
    return report_of(pair(noise(20_000, 0.0, 0.1)), plan=Plan(resamples=199))


def _latency(change: float, n: int = 300) -> Content:
    rng = np.random.default_rng(5)
    before = rng.uniform(80, 120, n)
    values = np.stack([before, before * (1 + noise(n, change, 0.05))], axis=1)
    return report_of(values, measures=["latency_ms"], lower_is_better=["latency_ms"])


def _undefined() -> Content:
    values = np.concatenate([pair(noise(40, 0.1, 0.1))[:, :, None], np.full((40, 2, 1), np.nan)], axis=2)
    return report_of(values, measures=["AP", "gone"])


def _partly_undefined() -> Content:
    values = pair(noise(40, 0.1, 0.1))
    values[:3, 1] = np.nan
    return report_of(values)


def _together(value: float) -> Content:
    report = report_of(pair(noise(40, 0.1, 0.1)))
    report["measures"].append(
        {
            "name": "Coverage@10",
            "label": "Coverage@10",
            "definition": {"formula": "share of the catalogue that is listed"},
            "higher_is_better": True,
            "diagnostic": False,
            "aggregate": "together",
        }
    )
    for k, system in enumerate(("prod", "new")):
        report["values"][system]["Coverage@10"] = [None] * 40
        row = {"system": system, "measure": "Coverage@10", "segment": None, "n": 40}
        report["scores"].append(row | {"mean": value + 0.1 * k, "weighted_mean": None, "interval": None})
    return report


def _missing() -> Content:
    values = pair(noise(40, 0.1, 0.1))
    values[7, 1] = 0.0
    report = report_of(values)
    report["audit"]["queries"]["missing"]["new"] = ["q00007"]
    return report


def _withheld() -> Content:
    report = report_of(pair(noise(60, 0.1, 0.1)))
    report["differences"][0]["withheld"] = "40 % of prod's top 10 is unjudged against 2 % of new's"
    return report


def _judged(prod: float, new: float) -> Content:
    report = report_of(pair(noise(60, 0.1, 0.1)))
    report["audit"]["unjudged_at"] = {"10": {"prod": 1 - prod, "new": 1 - new}}
    return report


JUDGED = {"evidence": {"judged": {"k": 10, "at_least": 0.8, "gap": 0.05}}, "claim": [claim()]}


CASES = [
    Case(
        "better by more than the margin asked for",
        lambda: report_of(pair(noise(100, 0.10, 0.1))),
        policy_of(claim=[claim(0.05)]),
        "go",
        {"claim": ("holds", "rises by 0.1")},
    ),
    Case(
        "better, but by less than asked for",
        lambda: report_of(pair(noise(400, 0.03, 0.1))),
        policy_of(claim=[claim(0.05)]),
        "no_go",
        {"claim": ("fails", "a gain of more than 0.05 asked for")},
    ),
    Case(
        "better, perhaps by enough",
        lambda: report_of(pair(noise(50, 0.06, 0.1))),
        policy_of(claim=[claim(0.05)]),
        "cannot_tell",
        {"claim": ("open", "more queries would settle it")},
    ),
    Case(
        "no difference, 20 queries",
        lambda: report_of(pair(noise(20, 0.0, 0.1))),
        policy_of(guard=[guard()]),
        "cannot_tell",
        {"guard": ("open", "about 180 more queries would settle it")},
    ),
    Case(
        "no difference, 20,000 queries",
        _many_without_difference,
        policy_of(guard=[guard()]),
        "go",
        {"guard": ("holds", "a fall of up to 0.02 is allowed")},
    ),
    Case(
        "no difference is no gain, 20,000 queries",
        _many_without_difference,
        policy_of(claim=[claim()]),
        "cannot_tell",
        {"claim": ("open", "")},
    ),
    Case(
        "worse",
        lambda: report_of(pair(noise(100, -0.1, 0.1))),
        policy_of(claim=[claim()], guard=[guard()]),
        "no_go",
        {"claim": ("fails", "falls by 0.10"), "guard": ("fails", "falls by 0.10")},
    ),
    Case(
        "worse on the tail only",
        lambda: _segmented(noise(60, -0.15, 0.1), noise(140, 0.15, 0.1)),
        policy_of(claim=[claim()], guard=[guard(segment=TAIL)]),
        "no_go",
        {"claim": ("holds", ""), "guard": ("fails", "AP on tail falls by 0.150")},
    ),
    Case(
        "the overall guard does not see the tail",
        lambda: _segmented(noise(60, -0.15, 0.1), noise(140, 0.15, 0.1)),
        policy_of(guard=[guard()]),
        "go",
    ),
    Case(
        "every segment is guarded",
        lambda: _segmented(noise(60, -0.15, 0.1), noise(140, 0.15, 0.1)),
        policy_of(guard=[guard(segment={"attribute": "popularity"})]),
        "no_go",
        {"guard: tail": ("fails", ""), "guard: head": ("holds", "AP on head rises")},
    ),
    Case(
        "a segment with 4 queries",
        lambda: _segmented(noise(4, 0.1, 0.01), noise(100, 0.1, 0.1)),
        policy_of(guard=[guard(segment=TAIL)]),
        "cannot_tell",
        {
            "guard": (
                "open",
                "4 queries are too few for a verdict, at least 10 are needed; at least 6 more tail queries",
            )
        },
    ),
    Case(
        "a segment with 4 queries that all fail",
        lambda: _segmented(noise(4, -0.4, 0.001), noise(100, 0.1, 0.1)),
        policy_of(guard=[guard(segment=TAIL)]),
        "cannot_tell",
        {"guard": ("open", "too few")},
    ),
    Case(
        "latency up 3 % within a guard of 5 %",
        lambda: _latency(0.03),
        policy_of(guard=[{"id": "latency", "measure": "latency_ms", "margin_relative": 0.05}]),
        "go",
        {"latency": ("holds", "rises by 2.98 %")},
    ),
    Case(
        "latency up 3 %, a guard of 2 %",
        lambda: _latency(0.03),
        policy_of(guard=[{"id": "latency", "measure": "latency_ms", "margin_relative": 0.02}]),
        "no_go",
        {"latency": ("fails", "a rise of up to 2 % is allowed")},
    ),
    Case(
        "latency down is no harm",
        lambda: _latency(-0.2),
        policy_of(
            guard=[{"id": "latency", "measure": "latency_ms", "margin": 5.0}], claim=[claim(10.0, measure="latency_ms")]
        ),
        "go",
        {"claim": ("holds", "falls by 19.95"), "latency": ("holds", "a rise of up to 5 is allowed")},
    ),
    Case(
        "39 of 40 queries",
        _missing,
        policy_of(claim=[claim()]),
        "cannot_tell",
        {"claim": ("holds", ""), "evidence.missing_queries": ("open", "new lacks 1 query; 0 allowed")},
    ),
    Case(
        "39 of 40 queries, accepted",
        _missing,
        policy_of(evidence={"missing_queries": 1}, claim=[claim()]),
        "go",
        {"evidence.missing_queries": ("holds", "new lacks 1 query; 1 allowed")},
    ),
    Case(
        "a value that one system lacks is a missing query",
        _partly_undefined,
        policy_of(claim=[claim()]),
        "cannot_tell",
        {"evidence.missing_queries": ("open", "new lacks 3 queries")},
    ),
    Case(
        "fewer queries than required",
        lambda: report_of(pair(noise(40, 0.1, 0.1))),
        policy_of(evidence={"queries": 50}, claim=[claim()]),
        "cannot_tell",
        {"evidence.queries": ("open", "40 queries with a value of AP, 50 asked for; 10 more are needed")},
    ),
    Case(
        "queries, systems and measures in another order",
        lambda: shuffled(_segmented(noise(60, -0.15, 0.1), noise(140, 0.15, 0.1))),
        policy_of(claim=[claim()], guard=[guard(segment=TAIL)]),
        "no_go",
        {"claim": ("holds", ""), "guard": ("fails", "AP on tail falls by 0.150")},
    ),
    Case(
        "swapped roles in the report",
        lambda: report_of(pair(noise(60, 0.1, 0.1))[:, ::-1], systems=["new", "prod"]),
        policy_of(claim=[claim(0.05)]),
        "go",
        {"claim": ("holds", "rises by 0.100")},
    ),
    Case(
        "swapped roles in the policy",
        lambda: report_of(pair(noise(60, 0.1, 0.1))),
        {"baseline": "new", "candidate": "prod", "claim": [claim()]},
        "no_go",
        {"claim": ("fails", "falls by 0.100")},
    ),
    Case(
        "identical runs under two names: a claim",
        lambda: report_of(pair(np.zeros(60))),
        policy_of(claim=[claim(0.01)]),
        "cannot_tell",
        {
            "claim": ("open", "is the same on every one of 60 queries"),
            "evidence.identical_systems": ("open", "is it the same run?"),
        },
    ),
    Case(
        "identical runs under two names: guards alone do not pass",
        lambda: report_of(pair(np.zeros(60))),
        policy_of(guard=[guard()]),
        "cannot_tell",
        {"guard": ("holds", ""), "evidence.identical_systems": ("open", "is it the same run?")},
    ),
    Case(
        "identical runs, which the policy accepts",
        lambda: report_of(pair(np.zeros(60))),
        policy_of(evidence={"warnings": []}, guard=[guard()]),
        "go",
    ),
    Case(
        "identical systems that the report does not compare with each other",
        lambda: report_of(
            np.stack([*pair(noise(60, 0.1, 0.1)).T, pair(noise(60, 0.1, 0.1))[:, 1]], axis=1),
            systems=["first", "prod", "new"],
        ),
        policy_of(guard=[guard()]),
        "cannot_tell",
        {"evidence.identical_systems": ("open", "is it the same run?")},
    ),
    Case(
        "a measure without any value",
        _undefined,
        policy_of(guard=[guard(measure="gone")]),
        "cannot_tell",
        {"guard": ("open", "no query is defined")},
    ),
    Case(
        "a constant measure shows no gain",
        lambda: report_of(np.full((60, 2), 0.5)),
        policy_of(evidence={"warnings": []}, claim=[claim()]),
        "cannot_tell",
        {"claim": ("open", "nothing can be claimed")},
    ),
    Case(
        "a measure that is 0 everywhere could not show harm",
        lambda: report_of(np.zeros((60, 2))),
        policy_of(evidence={"warnings": []}, guard=[guard()]),
        "cannot_tell",
        {"guard": ("open", "could not show harm")},
    ),
    Case(
        "a floor on a mean is judged on the interval",
        lambda: report_of(pair(noise(60, 0.0, 0.01), level=0.25)),
        policy_of(floor=[{"id": "floor", "measure": "AP", "at_least": 0.24}]),
        "cannot_tell",
        {"floor": ("open", "at least 0.24 asked for")},
    ),
    Case(
        "a floor reached, and one missed",
        lambda: report_of(pair(noise(200, 0.0, 0.01), level=0.5)),
        policy_of(
            floor=[
                {"id": "low", "measure": "AP", "at_least": 0.4},
                {"id": "high", "measure": "AP", "at_least": 0.6},
            ]
        ),
        "no_go",
        {"low": ("holds", "AP is 0.5"), "high": ("fails", "at least 0.6 asked for")},
    ),
    Case(
        "a ceiling where lower is better",
        lambda: _latency(0.03),
        policy_of(floor=[{"id": "slow", "measure": "latency_ms", "at_most": 90}]),
        "no_go",
        {"slow": ("fails", "at most 90 asked for")},
    ),
    Case(
        "a constant measure at its floor",
        lambda: report_of(np.full((60, 2), 1.0)),
        policy_of(evidence={"warnings": []}, floor=[{"id": "floor", "measure": "AP", "at_least": 1.0}]),
        "go",
        {"floor": ("holds", "AP is 1.0")},
    ),
    Case(
        "a floor on a measure of all queries together, missed",
        lambda: _together(0.3),
        policy_of(floor=[{"id": "coverage", "measure": "Coverage@10", "at_least": 0.5}]),
        "no_go",
        {"coverage": ("fails", "Coverage@10 is 0.400")},
    ),
    Case(
        "the same, reached",
        lambda: _together(0.4),
        policy_of(floor=[{"id": "coverage", "measure": "Coverage@10", "at_least": 0.5}]),
        "go",
    ),
    Case(
        "a verdict that the report withholds",
        _withheld,
        policy_of(claim=[claim()], guard=[guard()]),
        "cannot_tell",
        {"claim": ("open", "withheld: 40 % of prod's top 10"), "guard": ("open", "withheld")},
    ),
    Case("enough is judged", lambda: _judged(0.9, 0.88), policy_of(**JUDGED), "go"),
    Case(
        "too little is judged",
        lambda: _judged(0.82, 0.78),
        policy_of(**JUDGED),
        "cannot_tell",
        {"evidence.judged": ("open", "prod 82.0 %, new 78.0 %"), "claim": ("holds", "")},
    ),
    Case(
        "one is judged much more than the other",
        lambda: _judged(0.98, 0.90),
        policy_of(**JUDGED),
        "cannot_tell",
        {"evidence.judged": ("open", "at most 5 percentage points apart")},
    ),
    Case(
        "one percentage point is one",
        lambda: _judged(0.98, 0.90),
        policy_of(evidence={"judged": {"k": 10, "gap": 0.01}}),
        "cannot_tell",
        {"evidence.judged": ("open", "at most 1 percentage point apart")},
    ),
    Case(
        "a failed rule outweighs an open one",
        lambda: _segmented(noise(4, 0.1, 0.01), noise(100, -0.1, 0.1)),
        policy_of(guard=[guard(segment=TAIL)], claim=[claim()]),
        "no_go",
        {"guard": ("open", ""), "claim": ("fails", "")},
    ),
    Case(
        "no verdict from 9 queries, however clear",
        lambda: report_of(pair(noise(9, 0.3, 0.001))),
        policy_of(claim=[claim()]),
        "cannot_tell",
        {"claim": ("open", "9 queries are too few")},
    ),
    Case("a verdict from 10 queries", lambda: report_of(pair(noise(10, 0.3, 0.01))), policy_of(claim=[claim()]), "go"),
    Case(
        "weights that leave few queries",
        lambda: report_of(
            pair(noise(40, 0.3, 0.01)), weights=[100.0] * 3 + [0.1] * 37, columns={"w": [100.0] * 3 + [0.1] * 37}
        ),
        policy_of(claim=[claim()]),
        "cannot_tell",
        {
            "claim": (
                "open",
                "40 queries that count like 3.1 are too few for a verdict, at least 10 are needed; at least 91 more ",
            )
        },
    ),
    Case(
        "few clusters",
        lambda: (
            report_of(
                pair(noise(40, 0.3, 0.01)),
                clusters=[q % 8 for q in range(40)],
                columns={"user": [f"u{q % 8}" for q in range(40)]},
            )
            | {"clusters": "user"}
        ),
        policy_of(claim=[claim()]),
        "cannot_tell",
        {
            "claim": (
                "open",
                "8 clusters are too few for a verdict, at least 10 are needed; at least 10 more queries are needed",
            )
        },
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_policy_has_the_right_outcome_for_the_right_reason(case: Case) -> None:
    decision = decide(case.report(), policy_from_document(case.policy))
    found = {rule.id: rule for rule in decision.rules}
    told = "\n".join(f"{rule.outcome} {rule.id}: {rule.sentence}" for rule in decision.rules)
    assert decision.outcome == case.outcome, told
    for name, (outcome, piece) in case.rules.items():
        assert found[name].outcome == outcome, told
        assert piece in found[name].sentence.replace("\N{NO-BREAK SPACE}", " "), told
    deciding = {"go": set(), "no_go": {"fails"}, "cannot_tell": {"open"}}[case.outcome]
    assert deciding <= {rule.outcome for rule in decision.rules}
    assert decision.sentence.startswith(
        {"go": "GO: ", "no_go": "NO-GO: ", "cannot_tell": "CANNOT TELL: "}[case.outcome]
    )
    assert decision.exit_status == {"go": 0, "no_go": 1, "cannot_tell": 3}[case.outcome]


def _refused(report: Content, document: Content) -> str:
    with pytest.raises(PlanError) as raised:
        decide(report, policy_from_document(document))
    return str(raised.value)


def test_a_candidate_that_is_absent_is_named_with_those_there() -> None:
    report = report_of(pair(noise(40, 0.1, 0.1)))
    message = _refused(report, {"baseline": "prod", "candidate": "nwe", "claim": [claim()]})
    assert message == "candidate 'nwe' is not among the systems (prod, new); did you mean 'new'?"
    assert "baseline 'old'" in _refused(report, {"baseline": "old", "candidate": "new", "claim": [claim()]})


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"claim": [claim(measure="nDCH@10")]}, "measure 'nDCH@10' is not in the report (it holds AP)"),
        ({"claim": [claim(measure="nDCG@5")]}, "or compare with it among --measures"),
        ({"guard": [guard(segment={"attribute": "popularty"})]}, "did you mean 'popularity'?"),
        ({"guard": [guard(segment={"attribute": "brand"})]}, "make the report with --segment brand"),
        ({"guard": [guard(segment={"attribute": "popularity", "value": "tial"})]}, "did you mean 'tail'?"),
        ({"floor": [{"id": "f", "measure": "AP", "at_most": 0.5}]}, "write at_least instead of at_most"),
        ({"claim": [claim(better="lower")]}, "contradicts AP"),
        (
            {"guard": [guard(segment={"attribute": "popularity"}), guard(id="guard: tail")]},
            "two rules have the id 'guard: tail'",
        ),
        ({"evidence": {"judged": {"k": 7, "gap": 0.1}}, "claim": [claim()]}, "with --measures Judged@7"),
    ],
)
def test_what_the_report_cannot_answer_is_refused(rules: Content, message: str) -> None:
    report = _segmented(noise(30, 0.1, 0.1), noise(30, 0.1, 0.1))
    assert message in _refused(report, policy_of(**rules))


def test_a_relative_margin_needs_values_of_one_sign() -> None:
    report = report_of(pair(noise(40, 0.1, 0.1)) - 0.5)
    message = _refused(report, policy_of(guard=[{"id": "g", "measure": "AP", "margin_relative": 0.1}]))
    assert "values of both signs" in message
    assert "use margin" in message


def test_a_report_of_another_kind_is_refused() -> None:
    report = report_of(pair(noise(40, 0.1, 0.1)))
    with pytest.raises(ValueError, match="report of an interleaving"):
        decide({**report, "kind": "interleaving"}, policy_from_document(policy_of(claim=[claim()])))
    with pytest.raises(ValueError, match="lacks the keys experiment"):
        decide({**report, "kind": "experiment"}, policy_from_document(policy_of(claim=[claim()])))
    with pytest.raises(ValueError, match="lacks the keys values"):
        decide({k: v for k, v in report.items() if k != "values"}, policy_from_document(policy_of(claim=[claim()])))


def test_the_direction_of_a_ready_made_column_may_be_told() -> None:
    report = report_of(pair(noise(60, 0.1, 0.1)), measures=["seconds"])
    report["measures"][0]["definition"] = {"formula": "ready-made values, as given"}
    slow: dict[str, Any] = {"id": "slow", "measure": "seconds", "margin": 0.02}
    assert decide(report, policy_from_document(policy_of(guard=[slow]))).outcome == "go"
    decision = decide(report, policy_from_document(policy_of(guard=[slow | {"better": "lower"}])))
    assert decision.outcome == "no_go"
    assert "a rise of up to 0.02 is allowed" in decision.rules[-1].sentence


def test_a_segment_that_the_report_was_not_made_with_comes_from_the_attributes() -> None:
    columns = {"kind": ["x", "y"] * 40, "size": [float(q % 2) for q in range(80)]}
    difference = np.where(np.arange(80) % 2 == 0, -0.2, 0.2) + noise(80, 0.0, 0.05)
    report = report_of(pair(difference), columns=columns)
    assert report["segments"] == []
    for attribute, values in (("kind", ("x", "y")), ("size", ("0", "1"))):
        rules = [guard(segment={"attribute": attribute})]
        decision = decide(report, policy_from_document(policy_of(guard=rules)))
        found = {rule.id: rule.outcome for rule in decision.rules}
        assert found[f"guard: {values[0]}"] == "fails"
        assert found[f"guard: {values[1]}"] == "holds"


def test_quantile_segments_hold_the_queries_of_the_report() -> None:
    price = [float(p) for p in np.random.default_rng(2).integers(1, 60, 120)]
    report = report_of(
        pair(noise(120, 0.05, 0.1)), columns={"price": price}, plan=Plan(resamples=999, segments=("price:q4",))
    )
    decision = decide(report, policy_from_document(policy_of(guard=[guard(segment={"attribute": "price"})])))
    rows = {row["segment"]["value"]: row for row in report["differences"] if row["segment"] and row["measure"] == "AP"}
    for value in ("q1", "q2", "q3", "q4"):
        rule = next(rule for rule in decision.to_dicts() if rule["id"] == f"guard: {value}")
        assert rule["n"] == rows[value]["n"]
        assert rule["interval"] == rows[value]["interval"]


def test_a_column_that_hides_a_segment_is_said_to() -> None:
    columns = {"text": ["a b c d", "a"] * 30, "length": ["u", "v"] * 30}
    report = report_of(
        pair(noise(60, 0.05, 0.1)), columns=columns, text="text", plan=Plan(resamples=999, segments=("length",))
    )
    assert "rename that column" in _refused(report, policy_of(guard=[guard(segment={"attribute": "length"})]))


def test_few_queries_without_a_value_are_told_and_many_are_guarded() -> None:
    def decided(without: int) -> tuple[set[str], tuple[str, ...]]:
        kinds = [None] * without + ["x", "y"] * 30
        report = report_of(
            pair(noise(len(kinds), 0.1, 0.1)), columns={"kind": kinds}, plan=Plan(resamples=999, segments=("kind",))
        )
        found = decide(report, policy_from_document(policy_of(guard=[guard(segment={"attribute": "kind"})])))
        return {rule.id for rule in found.rules if rule.kind == "guard"}, found.notes

    assert decided(4) == (
        {"guard: x", "guard: y"},
        ("Rule 'guard' leaves out 4 of the queries: they have no value of kind.",),
    )
    assert decided(12) == ({"guard: x", "guard: y", "guard: (none)"}, ())
    assert decided(0) == ({"guard: x", "guard: y"}, ())


def test_warnings_about_other_systems_do_not_open_a_decision() -> None:
    values = np.concatenate([pair(noise(60, 0.1, 0.1)), pair(noise(60, 0.1, 0.1))[:, :1]], axis=1)
    report = report_of(values, systems=["prod", "new", "copy"])
    codes = {row["code"] for row in report["warnings"]}
    assert "identical_systems" in codes
    document = policy_of(evidence={"warnings": ["identical_systems", "judged_gap"]}, claim=[claim()])
    assert decide(report, policy_from_document(document)).outcome == "go"
    assert decide(report, policy_from_document({**document, "candidate": "copy"})).outcome == "cannot_tell"
    about_ours = copy.deepcopy(report)
    about_ours["warnings"].append(
        {"code": "judged_gap", "severity": "warning", "message": "18 % is unjudged.", "where": "new against prod"}
    )
    decision = decide(about_ours, policy_from_document(document))
    assert decision.outcome == "cannot_tell"
    assert decision.sentence == 'CANNOT TELL: "evidence.judged_gap" is open — 18 % is unjudged.'


def test_an_end_that_nearly_reaches_the_bound_is_told_from_it() -> None:
    report = report_of(pair(noise(60, -0.02, 0.1)))

    def ruled(margin: float) -> tuple[str, str]:
        rule = decide(report, policy_from_document(policy_of(guard=[guard(margin)]))).rules[-1]
        return rule.outcome, rule.sentence.replace("\N{NO-BREAK SPACE}", " ")

    ends = decide(report, policy_from_document(policy_of(guard=[guard(0.05)]))).rules[-1].interval
    assert ends is not None
    low = ends.ends[0]
    outcome, sentence = ruled(-low + 1e-5)
    assert outcome == "holds"
    shown = float(sentence.split("interval \N{MINUS SIGN}")[1].split(" to ")[0])
    asked = float(sentence.split(" of up to ")[1].split(" is")[0])
    assert shown < asked
    assert shown == pytest.approx(-low, abs=1e-5)
    assert "exactly" not in sentence
    outcome, sentence = ruled(-low)
    assert outcome == "open"
    assert "; the interval ends exactly at what is asked" in sentence
    # far from the bound two digits of the error are enough
    assert "interval \N{MINUS SIGN}0.04" in ruled(0.3)[1]
