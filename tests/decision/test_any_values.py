"""Decisions on any values: no crash, no warning, no verdict from few queries, and the same answer in another order."""

from __future__ import annotations

import json

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rankstats.decision import decide, policy_from_document
from tests.calibration.gate import content_of
from tests.decision.made import Content, policy_of, shuffled

VALUES = st.sampled_from([None, 0.0, 0.1, 0.3, 0.5, 1.0, 1e-12, 1e9])


@st.composite
def reports(draw: st.DrawFn) -> Content:
    n = draw(st.integers(0, 24))
    content = content_of(np.zeros((n, 2)))
    for system in ("prod", "new"):
        content["values"][system] = {name: draw(st.lists(VALUES, min_size=n, max_size=n)) for name in ("m0", "m1")}
    content["measures"][1]["higher_is_better"] = draw(st.booleans())
    for query in content["queries"]:
        query["weight"] = draw(st.sampled_from([0.0, 1.0, 2.5]))
        query["attributes"] = {"kind": draw(st.sampled_from(["x", "y", None])), "user": draw(st.sampled_from("abc"))}
    content["weights"] = "w" if any(query["weight"] for query in content["queries"]) and draw(st.booleans()) else None
    content["clusters"] = "user" if n and draw(st.booleans()) else None
    content["reproduction"]["resamples"] = 99
    return content


def _policy(content: Content) -> Content:
    level = "at_least" if content["measures"][1]["higher_is_better"] else "at_most"
    guards = [
        {"id": "g", "measure": "m0", "margin": 0.05},
        {"id": "r", "measure": "m1", "margin_relative": 0.1},
    ]
    if any(query["attributes"]["kind"] for query in content["queries"]):
        guards.append({"id": "k", "measure": "m0", "margin": 0.05, "segment": {"attribute": "kind"}})
    return policy_of(
        evidence={"queries": 5},
        claim=[{"id": "c", "measure": "m1"}],
        guard=guards,
        floor=[{"id": "f", "measure": "m1", level: 0.4}],
    )


@given(reports())
@settings(max_examples=30)
def test_any_values_give_a_decision(content: Content) -> None:
    policy = policy_from_document(_policy(content))
    decision = decide(content, policy)
    found = {rule.outcome for rule in decision.rules}
    assert found <= {"holds", "fails", "open"}
    assert decision.outcome == ("no_go" if "fails" in found else "cannot_tell" if "open" in found else "go")
    for rule in decision.rules:
        if rule.kind != "evidence" and (rule.n or 0) < 10:
            assert rule.outcome == "open"
        if rule.outcome == "open" and rule.queries_needed is not None:
            assert rule.queries_needed > (rule.n or 0)
        assert rule.sentence
        assert "nan" not in rule.sentence
    text = json.dumps(decision.to_dict(), allow_nan=False)
    assert json.dumps(decide(shuffled(content), policy).to_dict()) == text
