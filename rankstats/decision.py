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
from rankstats.policy import (
    Claim,
    Floor,
    Guard,
    Judged,
    Part,
    Policy,
    Requirements,
    policy_from_document,
    read_policy,
)
from rankstats.reported import Reported
from rankstats.requirements import check_requirements
from rankstats.rule_measuring import measure_rules
from rankstats.rule_wording import decision_sentence, needed_words, rule_sentence
from rankstats.rules import (
    FAILS,
    HOLDS,
    OPEN,
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

__all__ = [
    "Claim",
    "Decision",
    "Floor",
    "Guard",
    "Judged",
    "Part",
    "Policy",
    "Requirements",
    "RuleOutcome",
    "decide",
    "policy_from_document",
    "read_policy",
]

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


def decide(report: Mapping[str, Any] | Comparison, policy: Policy) -> Decision:
    """Decide by a policy.

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

    Parameters
    ----------
    report : mapping or Comparison
        The content of a report.json, or a comparison.
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
    >>> rows = [(f"q{n}", s, "AP", 0.1 * (n % 5) + gain) for n in range(30) for s, gain in (("a", 0.0), ("b", 0.3))]
    >>> decision = decide(compare_scores(rows), Policy("a", "b", claims=(Claim("better", "AP", more_than=0.1),)))
    >>> decision.outcome, decision.exit_status
    ('go', 0)
    """
    content = report if isinstance(report, Mapping) else report.to_dict()
    reported = Reported(content)
    reported.check_system(policy.baseline, "baseline")
    reported.check_system(policy.candidate, "candidate")
    rules, notes = make_rules(policy, reported)
    measured = measure_rules(rules, reported, policy)
    judged = [_judge(rule, found, reported, policy, len(rules)) for rule, found in zip(rules, measured, strict=True)]
    outcomes = (*check_requirements(policy, reported, rules), *judged)
    found_outcomes = {rule.outcome for rule in outcomes}
    outcome = NO_GO if FAILS in found_outcomes else CANNOT_TELL if OPEN in found_outcomes else GO
    return Decision(outcome, policy, outcomes, notes)


def _judge(rule: Rule, measured: Measured, reported: Reported, policy: Policy, family: int) -> RuleOutcome:
    outcome, reason, withheld = _outcome(rule, measured, reported, policy)
    sentence = rule_sentence(rule, measured, reported, outcome=outcome, reason=reason)
    needed = None
    if withheld is not None:
        sentence += f"; withheld: {withheld}"
    elif outcome == OPEN and reason in ("interval", "too_few"):
        needed = queries_to_settle(rule, measured, policy, family)
        told = needed_words(rule, measured, needed)
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
        queries_needed=needed,
        sentence=sentence,
    )


def _outcome(rule: Rule, measured: Measured, reported: Reported, policy: Policy) -> tuple[str, str | None, str | None]:
    """Return outcome, reason where it is open, and why the report withholds its verdict."""
    if measured.estimate is None:
        return OPEN, "undefined", None
    if reported.aggregate(rule.measure) == "together":
        level = measured.estimate if rule.higher_is_better else -measured.estimate
        return (HOLDS if level >= rule.bound else FAILS), None, None
    if measured.independent < SMALLEST_VERDICT_N:
        return OPEN, "too_few", None
    if rule.kind != "floor":
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


def _vacuous(rule: Rule, reported: Reported, policy: Policy) -> bool:
    """Whether a measure is 0 everywhere although higher is better: it could not show harm."""
    values = reported.values(policy.candidate, rule.measure)[reported.defined(rule.measure)]
    return rule.higher_is_better and not values.any()
