"""Reports of every kind as the program itself makes them: comparisons, decisions, experiments, many systems."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from rankstats.decision import decide
from rankstats.decision.policy import policy_from_document
from rankstats.experiment import metric_from_text
from rankstats.plan import Plan
from tests.decision.made import claim, guard, noise, policy_of, report_of
from tests.experiment.made import readout, units
from tests.interleaving import made

Content = dict[str, Any]


def comparison_report() -> Content:
    """Two systems of 60 queries by kind, compared by the program."""
    return _compared(0.03)


def gate_report(outcome: str) -> Content:
    """A comparison with a decision: 'go', 'no_go' or 'cannot_tell'."""
    report = _compared({"go": 0.05, "no_go": -0.06, "cannot_tell": 0.008}[outcome])
    rules = [claim(0.0), guard(0.02, segment={"attribute": "kind"})]
    floor = {"id": "floor", "measure": "AP", "at_least": 0.2}
    policy = policy_of(claim=rules[:1], guard=rules[1:], floor=[floor], evidence={"queries": 30, "warnings": []})
    decision = decide(report, policy_from_document(policy))
    assert decision.outcome == outcome
    made: Content = json.loads(json.dumps(report | {"decision": decision.to_dict()}))
    return made


def _compared(mean: float) -> Content:
    change = noise(120, mean, 0.05)
    base = 0.5 + np.random.default_rng(0).uniform(-0.2, 0.2, len(change))
    kinds = [("brand", "plain")[i % 2] for i in range(len(change))]
    plan = Plan(resamples=999, segments=("kind",))
    return report_of(np.stack([base, base + change], axis=1), plan=plan, columns={"kind": kinds})


def experiment_report(**changes: Any) -> Content:
    """An A/B readout with a covariate, a guard, a cap, segments and days."""
    rows = [{**row, "when": f"2024-05-0{1 + i % 5}"} for i, row in enumerate(units())]
    metrics = (
        replace(metric_from_text("revenue"), role="primary", covariate=("past",)),
        replace(metric_from_text("paid"), role="guard", margin=0.2),
        replace(metric_from_text("capped = mean(revenue)"), winsorise=0.95),
    )
    made = readout(rows, **{"metrics": metrics, "segments": ("country",), "time": "when", **changes}).to_dict()
    content: Content = json.loads(json.dumps(made))
    return content


def interleaving_report() -> Content:
    """A readout of an interleaving log."""
    content: Content = json.loads(json.dumps(made.readout(made.log()).to_dict()))
    return content


def many_report(systems: int = 129) -> Content:
    """As many systems as the largest public matrices of scores hold, against one baseline."""
    rng = np.random.default_rng(4)
    base = rng.uniform(0.1, 0.6, (20, 1))
    values = np.clip(base + rng.normal(0, 0.1, (20, systems)) + np.linspace(0, 0.2, systems), 0, 1)
    return report_of(values, plan=Plan(resamples=199), systems=[f"run{i:03d}" for i in range(systems)])


KINDS: dict[str, Callable[[], Content]] = {
    "comparison": comparison_report,
    "go": functools.partial(gate_report, "go"),
    "no-go": functools.partial(gate_report, "no_go"),
    "cannot-tell": functools.partial(gate_report, "cannot_tell"),
    "experiment": experiment_report,
    "interleaving": interleaving_report,
    "many": many_report,
}


@functools.cache
def report_text(kind: str) -> str:
    """Return a report as JSON text, made once."""
    return json.dumps(KINDS[kind]())


def report(kind: str) -> Content:
    """Return a report of a kind, a fresh copy each time."""
    content: Content = json.loads(report_text(kind))
    return content
