"""Decision: whether a candidate may be launched, by a policy, from the content of a report.

GO needs every rule to hold, so each is tested at its own level without a correction (intersection–union): it holds
where the interval of level 1 − alpha lies beyond what is asked. That a rule fails is claimed over all rules together,
so it takes the interval that is corrected for their number. Everything else is open.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankstats.comparison.result import plain
from rankstats.conventions import SMALLEST_VERDICT_N
from rankstats.decision.arm_measuring import measure_arms
from rankstats.decision.arm_requirements import check_arms, refuse_units
from rankstats.decision.policy import Policy
from rankstats.decision.reported import Reported
from rankstats.decision.reported_experiment import ReportedExperiment
from rankstats.decision.requirements import check_requirements
from rankstats.decision.rule_measuring import measure_rules
from rankstats.decision.rule_wording import decision_sentence, needed_words, rule_sentence
from rankstats.decision.rules import (
    FAILS,
    HOLDS,
    OPEN,
    AnyReport,
    Measured,
    Rule,
    RuleOutcome,
    breaks,
    make_rules,
    passes,
    queries_to_settle,
)

if TYPE_CHECKING:
    from rankstats.comparison import Comparison
    from rankstats.experiment import Readout

GO, NO_GO, CANNOT_TELL = "go", "no_go", "cannot_tell"


@dataclass(frozen=True, slots=True)
class Decision:
    """What a policy says of a report.

    Attributes
    ----------
    outcome : {'go', 'no_go', 'cannot_tell'}
        NO-GO if a rule fails, else CANNOT TELL if one is open, else GO.
    policy : Policy
        What was asked.
    rules : tuple of RuleOutcome
        The requirements of the evidence, then claims, guards and floors, one a segment where every one is asked for.
    notes : tuple of str
        What the rules leave out, each a sentence.
    """

    outcome: str
    policy: Policy
    rules: tuple[RuleOutcome, ...]
    notes: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The decision in one line, with the rules that decide."""
        return decision_sentence(self.outcome, self.rules)

    @property
    def exit_status(self) -> int:
        """0 for GO, 1 for NO-GO, the policy's `open_exit` for CANNOT TELL."""
        return {GO: 0, NO_GO: 1, CANNOT_TELL: self.policy.open_exit}[self.outcome]

    def to_dict(self) -> dict[str, Any]:
        """Return the decision as report.json holds it, with the policy beside it."""
        content: dict[str, Any] = plain(
            {
                "outcome": self.outcome,
                "baseline": self.policy.baseline,
                "candidate": self.policy.candidate,
                "alpha": self.policy.alpha,
                "sentence": self.sentence,
                "rules": self.rules,
                "notes": self.notes,
                "policy": self.policy.to_dict(),
            }
        )
        return content

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return one row a rule."""
        rows: list[dict[str, Any]] = self.to_dict()["rules"]
        return rows


def decide(report: Mapping[str, Any] | Comparison | Readout, policy: Policy) -> Decision:
    """Decide by a policy on a comparison of runs or on an experiment.

    1. A rule *holds* where its interval of level 1 − alpha (two-sided, so one-sided alpha / 2) lies beyond what is
       asked. For claims and guards that is the interval of inverted sign flips, with weights, clusters, seed and number
       of patterns of the report; for floors the t interval of the candidate's mean. A guard also holds where no query
       differs.
    2. A rule *fails* where the interval at alpha / m, for m claims, guards and floors, lies wholly on the wrong side;
       of differences it is the wider one of flips and t.
    3. Else it is *open*, as it is below 10 queries (or clusters, or so many in effective number), where the report
       withholds its verdict, and where nothing is defined. `queries_needed` tells what would settle it.
    4. Requirements of the evidence hold or are open.

    Only the values in the report are used, so the report's own tests, corrections, primary measures and the direction
    of its comparisons play no part, nor does the order of systems or queries.

    Of an experiment the candidate and the baseline are arms, one of them the control. Intervals are those of the
    readout: Welch's t (the score interval for shares), Fieller for relative margins, repeated intervals and confidence
    sequences where the design has several looks. A check that blocks opens every rule that it is about, `too few` is
    below 10 units in an arm, and `units_needed` counts both arms.

    Parameters
    ----------
    report : mapping, Comparison or Readout
        The content of a report.json, a comparison, or the readout of an experiment.
    policy : Policy
        Rules.

    Returns
    -------
    Decision

    Raises
    ------
    PlanError
        If a system, measure or segment of the policy is not in the report.
    RankstatsError
        If the report is of another kind.

    References
    ----------
    Berger 1982 (intersection–union tests); Hartigan 1969 (typical values).

    Examples
    --------
    >>> from rankstats import compare_scores
    >>> from rankstats.decision import Claim
    >>> rows = [(f"q{n}", s, "AP", 0.1 * (n % 5) + gain) for n in range(30) for s, gain in (("a", 0.0), ("b", 0.3))]
    >>> decision = decide(compare_scores(rows), Policy("a", "b", claims=(Claim("better", "AP", more_than=0.1),)))
    >>> decision.outcome, decision.exit_status
    ('go', 0)
    """
    content = report if isinstance(report, Mapping) else report.to_dict()
    reported: AnyReport = ReportedExperiment(content) if content.get("kind") == "experiment" else Reported(content)
    reported.check_system(policy.baseline, "baseline")
    reported.check_system(policy.candidate, "candidate")
    rules, notes = make_rules(policy, reported)
    if isinstance(reported, ReportedExperiment):
        requirements = check_arms(policy, reported, rules)
        measured = measure_arms(rules, reported, policy)
    else:
        refuse_units(policy.evidence)
        requirements = check_requirements(policy, reported, rules)
        measured = measure_rules(rules, reported, policy)
    judged = [_judge(rule, found, reported, policy, len(rules)) for rule, found in zip(rules, measured, strict=True)]
    outcomes = (*requirements, *judged)
    found_outcomes = {rule.outcome for rule in outcomes}
    outcome = NO_GO if FAILS in found_outcomes else CANNOT_TELL if OPEN in found_outcomes else GO
    return Decision(outcome, policy, outcomes, notes)


def _judge(rule: Rule, measured: Measured, reported: AnyReport, policy: Policy, family: int) -> RuleOutcome:
    outcome, reason, withheld = _outcome(rule, measured, reported, policy)
    pair = (policy.baseline, policy.candidate)
    sentence = rule_sentence(rule, measured, reported, pair, outcome=outcome, reason=reason)
    needed = None
    of_units = isinstance(reported, ReportedExperiment)
    if withheld is not None:
        sentence += f"; withheld: {withheld}"
    elif outcome == OPEN and reason in ("interval", "too_few") and not _looks_again(reported):
        needed = queries_to_settle(rule, measured, policy, family)
        told = needed_words(rule, measured, needed, reported.noun)
        sentence += f"; {told}" if told else ""
    return RuleOutcome(
        id=rule.id,
        kind=rule.kind,
        criterion=rule.criterion,
        measure=rule.measure,
        segment=None if rule.segment is None else {"attribute": rule.segment[0], "value": rule.segment[1]},
        asked=rule.asked,
        observed=measured.estimate,
        interval=measured.interval,
        family_interval=measured.family_interval,
        n=measured.n,
        outcome=outcome,
        reason=reason,
        queries_needed=None if of_units else needed,
        units_needed=needed if of_units else None,
        sentence=sentence,
    )


def _looks_again(reported: AnyReport) -> bool:
    """Whether an experiment was planned with several looks: no formula tells what the next ones will say."""
    return isinstance(reported, ReportedExperiment) and reported.design["kind"] != "fixed"


def _outcome(rule: Rule, measured: Measured, reported: AnyReport, policy: Policy) -> tuple[str, str | None, str | None]:
    """Return outcome, reason where it is open, and why the report withholds its verdict."""
    if isinstance(reported, ReportedExperiment) and (blocked := reported.withheld(rule.measure)) is not None:
        return OPEN, "withheld", blocked
    if measured.estimate is None:
        return OPEN, "undefined", None
    if reported.aggregate(rule.measure) == "together":
        level = measured.estimate if rule.higher_is_better else -measured.estimate
        return (HOLDS if level >= rule.bound else FAILS), None, None
    if measured.independent < SMALLEST_VERDICT_N:
        return OPEN, "too_few", None
    if rule.kind != "floor":
        if isinstance(reported, Reported):
            row = reported.row(rule.measure, (policy.baseline, policy.candidate), rule.segment)
            withheld = None if row is None else row.get("withheld")
            if withheld is not None:
                return OPEN, "withheld", str(withheld)
        if measured.interval is None and rule.kind == "claim":
            return OPEN, "no_difference", None
        if measured.interval is None and _vacuous(rule, reported, policy):
            return OPEN, "constant", None
    if passes(rule, measured):
        return HOLDS, None, None
    if breaks(rule, measured):
        return FAILS, None, None
    return OPEN, "interval", None


def _vacuous(rule: Rule, reported: AnyReport, policy: Policy) -> bool:
    """Whether a measure could not show harm: 0 everywhere although higher is better, or one value for all units."""
    if isinstance(reported, ReportedExperiment):
        return True
    values = reported.values(policy.candidate, rule.measure)[reported.defined(rule.measure)]
    return rule.higher_is_better and not values.any()
