"""What a policy requires of an experiment: enough units, no check that blocks, none of the warnings it names."""

from __future__ import annotations

from collections.abc import Sequence

from rankstats.decision.policy import COMPARISON_WARNINGS, EXPERIMENT_WARNINGS, Policy, Requirements
from rankstats.decision.reported_experiment import BLOCKING, ReportedExperiment
from rankstats.decision.requirements import requirement
from rankstats.decision.rules import Rule, RuleOutcome
from rankstats.errors import PlanError, did_you_mean
from rankstats.experiment.result import Check
from rankstats.wording import count

_USUAL = Requirements()
_SKEWED = "unequal_arms"


def check_arms(policy: Policy, reported: ReportedExperiment, rules: Sequence[Rule]) -> tuple[RuleOutcome, ...]:
    """Return one outcome a requirement: it holds or is open.

    * units: the smaller number of the two arms;
    * every check that forbids a verdict when it fails (sample ratio, units in two arms, values missing more often in
      one arm), whether the policy names it or not;
    * unless the policy lists warnings: that Welch's test keeps its level on the metrics compared, which it does not on
      skewed ones in unequal arms;
    * warnings: one requirement a code.

    Raises
    ------
    PlanError
        If the policy requires what only comparisons of runs have.
    """
    asked = policy.evidence
    for name in ("queries", "judged", "missing_queries"):
        if getattr(asked, name) != getattr(_USUAL, name):
            more = "; write units, the least number of units of each arm" if name == "queries" else ""
            raise PlanError(f"[evidence] {name} is of comparisons of runs, and this is an experiment{more}")
    codes = tuple(code for code in dict.fromkeys(asked.warnings) if code not in _USUAL.warnings)
    for code in codes:
        if code not in EXPERIMENT_WARNINGS:
            raise PlanError(
                f"[evidence] warnings: {code!r} is of comparisons of runs; an experiment has "
                f"{', '.join(EXPERIMENT_WARNINGS)}" + did_you_mean(code, EXPERIMENT_WARNINGS)
            )
    found = [] if asked.units is None else [_units(asked.units, policy, reported)]
    measures = {rule.measure for rule in rules}
    found += [
        _checked(check, holds=check.outcome != "blocks")
        for check in reported.checks
        if check.code in BLOCKING and check.code not in codes and (check.measure is None or check.measure in measures)
    ]
    compared = {rule.measure for rule in rules if rule.kind != "floor"}
    found += [
        _checked(check, holds=check.outcome == "ok")
        for check in reported.checks
        if asked.warnings == _USUAL.warnings and check.code == _SKEWED and check.measure in compared
    ]
    return (*found, *(_warning(code, reported) for code in codes))


def refuse_units(asked: Requirements) -> None:
    """Raise a PlanError where a policy for runs requires what only experiments have."""
    if asked.units is not None:
        raise PlanError("[evidence] units is of experiments, and this is a comparison of runs; write queries")
    for code in asked.warnings:
        if code not in COMPARISON_WARNINGS:
            raise PlanError(f"[evidence] warnings: {code!r} is of experiments, and this is a comparison of runs")


def _checked(check: Check, *, holds: bool) -> RuleOutcome:
    name = check.code if check.measure is None else f"{check.code}: {check.measure}"
    return requirement(name, holds, "ok", check.outcome, check.found, title=check.question)


def _units(least: int, policy: Policy, reported: ReportedExperiment) -> RuleOutcome:
    sizes = {row["arm"]: int(row["n"]) for row in reported.report["experiment"]["units"]}
    pair = (policy.baseline, policy.candidate)
    arm = min(pair, key=sizes.__getitem__)
    more = "" if sizes[arm] >= least else f"; {least - sizes[arm]:,} more are needed"
    told = ", ".join(f"{name} has {count(sizes[name], 'unit')}" for name in pair)
    return requirement(
        "units",
        sizes[arm] >= least,
        least,
        sizes[arm],
        f"{told}; {least:,} in each arm asked for{more}",
        title="enough units",
        n=sizes[arm],
    )


def _warning(code: str, reported: ReportedExperiment) -> RuleOutcome:
    found = [str(row["message"]) for row in reported.report["warnings"] if row["code"] == code]
    more = f" (and {len(found) - 1:,} more)" if len(found) > 1 else ""
    question = next((check.question for check in reported.checks if check.code == code), code.replace("_", " "))
    told = found[0] + more if found else f"“{question}”: nothing was found"
    return requirement(code, not found, code, found[0] if found else None, told, title=question)
