"""Rules of a policy against a report: what each asks, what the values show, and whether it holds, fails or is open."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rankstats import stats
from rankstats.comparison.directions import READY_MADE
from rankstats.comparison.result import Interval
from rankstats.comparison.segments import NONE
from rankstats.conventions import SMALLEST_VERDICT_N
from rankstats.decision.policy import Claim, Floor, Guard, Policy
from rankstats.decision.reported import Reported
from rankstats.decision.reported_experiment import ReportedExperiment
from rankstats.errors import PlanError, did_you_mean

HOLDS, FAILS, OPEN = "holds", "fails", "open"
POWER = 0.8
"""Probability with which the queries that are said to be needed settle a rule."""
MOST_QUERIES = 10_000_000
"""Numbers of queries beyond this are not named."""

AnyReport = Reported | ReportedExperiment


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that is asked of one measure on one set of queries.

    Attributes
    ----------
    id : str
        Its name.
    kind : {'claim', 'guard', 'floor'}
        What it is.
    criterion : {'more_than', 'margin', 'margin_relative', 'at_least', 'at_most'}
        What the number that it asks for means.
    asked : float
        That number.
    measure : str
        Name in the report.
    segment : (str, str) or None
        Attribute and value; None for all queries.
    higher_is_better : bool
        The direction of better.
    """

    id: str
    kind: str
    criterion: str
    asked: float
    measure: str
    segment: tuple[str, str] | None
    higher_is_better: bool

    @property
    def bound(self) -> float:
        """What the improvement (or the level, its sign turned where lower is better) must pass."""
        if self.kind == "guard":
            return -self.asked
        return self.asked if self.kind == "claim" or self.higher_is_better else -self.asked


@dataclass(frozen=True, slots=True)
class Measured:
    """What the values say of a rule.

    Attributes
    ----------
    n : int
        Queries.
    units : int
        What is flipped: queries, or their clusters.
    independent : float
        Effective number of units.
    estimate : float or None
        Difference, relative difference, or level of the candidate; None where nothing is defined.
    interval, family_interval : Interval or None
        At the rule's own level, and corrected for all rules. None where no query differs.
    deviation : float
        Standard deviation a unit: standard error times the root of their number; NaN where unknown.
    slack : float
        By how much rounding can move an end.
    """

    n: int
    units: int
    independent: float
    estimate: float | None
    interval: Interval | None
    family_interval: Interval | None
    deviation: float = math.nan
    slack: float = 0.0


def make_rules(policy: Policy, reported: AnyReport) -> tuple[tuple[Rule, ...], tuple[str, ...]]:
    """Return the rules of a policy, one a segment where every segment is asked for, and notes on what that leaves out.

    Queries (units) without a value form a segment of their own, '(none)'; below 10 queries it is left out with a note.

    Raises
    ------
    PlanError
        If a measure or a segment is not in the report, a direction contradicts the measure, or ids collide.
    """
    rules: list[Rule] = []
    notes: list[str] = []
    for asked in policy.rules:
        try:
            rules += _expanded(asked, reported, notes)
        except PlanError as error:
            raise PlanError(f"rule {asked.id!r}: {error}") from error
    ids = [rule.id for rule in rules]
    repeated = next((name for name in ids if ids.count(name) > 1), None) if len(set(ids)) < len(ids) else None
    if repeated is not None:
        raise PlanError(f"two rules have the id {repeated!r}, one of them made for a segment; rename a rule")
    return tuple(rules), tuple(notes)


def _expanded(asked: Claim | Guard | Floor, reported: AnyReport, notes: list[str]) -> list[Rule]:
    measure = reported.measure(asked.measure)
    higher = _direction(asked, reported, measure)
    kind, criterion, number = _asked(asked)
    together = reported.aggregate(measure) == "together"
    if together and (kind != "floor" or asked.segment is not None):
        raise PlanError(f"{measure} is one value of all lists; only a [[floor]] over all queries can be asked of it")
    if criterion in ("at_least", "at_most") and (criterion == "at_least") != higher:
        better, other = ("higher", "at_least") if higher else ("lower", "at_most")
        raise PlanError(f"{better} values of {measure} are better; write {other} instead of {criterion}")
    if criterion == "margin_relative" and higher and number >= 1:
        raise PlanError(
            f"margin_relative = {number:g} lets {measure} fall by {100 * number:g} %; as a fraction 2 % is 0.02"
        )
    rest = (kind, criterion, number, measure)
    if asked.segment is None:
        return [Rule(asked.id, *rest, None, higher)]
    attribute, value = asked.segment.attribute, asked.segment.value
    sizes = reported.segment_sizes(attribute)
    if value is not None:
        if value not in sizes:
            raise PlanError(
                f"{attribute!r} has no segment {value!r} (it has {', '.join(sizes)})" + did_you_mean(value, sizes)
            )
        return [Rule(asked.id, *rest, (attribute, value), higher)]
    without = sizes.get(NONE, 0)
    if 0 < without < SMALLEST_VERDICT_N:
        left_out = f"{without} of the {reported.noun[1]}"
        notes.append(f"Rule {asked.id!r} leaves out {left_out}: they have no value of {attribute}.")
    kept = [value for value in sizes if value != NONE or without >= SMALLEST_VERDICT_N]
    return [Rule(f"{asked.id}: {value}", *rest, (attribute, value), higher) for value in kept]


def _asked(asked: Claim | Guard | Floor) -> tuple[str, str, float]:
    if isinstance(asked, Claim):
        return "claim", "more_than", asked.more_than
    names = ("margin", "margin_relative") if isinstance(asked, Guard) else ("at_least", "at_most")
    given = [(name, getattr(asked, name)) for name in names if getattr(asked, name) is not None]
    return ("guard" if isinstance(asked, Guard) else "floor"), given[0][0], float(given[0][1])


def _direction(asked: Claim | Guard | Floor, reported: AnyReport, measure: str) -> bool:
    row = reported.measures[measure]
    higher = bool(row["higher_is_better"])
    if asked.better is None or (asked.better == "higher") == higher:
        return higher
    # of ready-made columns a report knows no direction but what it is told
    if not str(row["definition"].get("formula", "")).startswith(READY_MADE):
        raise PlanError(f"better = {asked.better!r} contradicts {measure}, of which the other direction is better")
    return not higher


def improvement(rule: Rule, interval: Interval) -> tuple[float, float]:
    """Return the ends of an interval as improvements: turned where lower is better."""
    low, high = interval.ends
    return (low, high) if rule.higher_is_better else (-high, -low)


def passes(rule: Rule, measured: Measured) -> bool:
    """Whether the interval at the rule's own level lies beyond what is asked; a level may be just reached."""
    if measured.interval is None:
        # no query differs: a guard has nothing to object, and nothing is claimed
        return rule.kind == "guard" and measured.estimate == 0
    low, _ = improvement(rule, measured.interval)
    return low >= rule.bound - measured.slack if rule.kind == "floor" else low > rule.bound + measured.slack


def breaks(rule: Rule, measured: Measured) -> bool:
    """Whether the interval that is corrected for all rules lies wholly on the wrong side."""
    if measured.family_interval is None:
        return False
    _, high = improvement(rule, measured.family_interval)
    return high < rule.bound - measured.slack


def queries_to_settle(rule: Rule, measured: Measured, policy: Policy, family: int) -> int | None:
    """Return the number of queries (of the segment) that would settle an open rule four times in five.

    By the paired t test, if difference and spread stay what they are: to hold, at the rule's own level; to fail, at the
    level that the family leaves. Below 10 queries in effective number those that make 10. None where no number can be
    told, or none below ten million.
    """
    if 0 < measured.independent < SMALLEST_VERDICT_N:
        return math.ceil(measured.n * SMALLEST_VERDICT_N / measured.independent)
    if measured.estimate is None or not measured.deviation > 0:
        return SMALLEST_VERDICT_N if measured.n < SMALLEST_VERDICT_N else None
    distance = measured.estimate * (1 if rule.higher_is_better else -1) - rule.bound
    a_query = measured.n / measured.units
    if abs(distance) <= measured.slack or 16 * (measured.deviation / distance) ** 2 * a_query > MOST_QUERIES:
        return None
    units = stats.queries_needed(
        measured.deviation, distance, alpha=policy.alpha, power=POWER, family_size=1 if distance > 0 else family
    )
    # what is there was not enough, whatever a formula says
    return math.ceil(max(units, measured.units + max(1, measured.units // 10)) * a_query)


@dataclass(frozen=True, slots=True)
class RuleOutcome:
    """A rule and what became of it.

    Attributes
    ----------
    id, kind, criterion, measure, segment, asked
        As in `Rule`; requirements of the evidence are of kind 'evidence'.
    observed : Any
        Difference, relative difference or level; of a requirement what was found.
    interval, family_interval : Interval or None
        At the rule's own level, which decides whether it holds; corrected for all rules, which decides whether it
        fails.
    n : int or None
        Queries.
    outcome : {'holds', 'fails', 'open'}
        What became of it.
    reason : {None, 'interval', 'too_few', 'undefined', 'no_difference', 'withheld', 'evidence'}
        Why it is open.
    queries_needed : int or None
        Number of queries, those at hand included, that would settle an open rule.
    sentence : str
        All of that in words.
    units_needed : int or None
        The same of an experiment: units of both arms together, of the candidate alone for a floor.
    title : str or None
        What a requirement of the evidence asks for, for readers; None for rules, which the policy names.
    """

    id: str
    kind: str
    criterion: str
    measure: str | None
    segment: Mapping[str, str] | None
    asked: Any
    observed: Any
    interval: Interval | None
    family_interval: Interval | None
    n: int | None
    outcome: str
    reason: str | None
    queries_needed: int | None
    sentence: str
    units_needed: int | None = None
    title: str | None = None
