"""Rules and decisions in words: what was found, what was asked, and what would settle it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rankstats.comparison.result import Interval
from rankstats.comparison.verdicts import level_text
from rankstats.conventions import SMALLEST_VERDICT_N
from rankstats.decision.reported_experiment import ReportedExperiment
from rankstats.decision.rules import FAILS, OPEN, POWER, AnyReport, Measured, Rule, RuleOutcome
from rankstats.wording import count, decimals_for, interval, number, percent, signed

_MOST_DECIMALS = 9
_HARDLY = 100
"""Times the queries at hand from which a number of queries is no advice."""
_SHOWN = 3
"""Deciding rules that the first line tells in full."""


def rule_sentence(
    rule: Rule, measured: Measured, reported: AnyReport, pair: tuple[str, str], *, outcome: str, reason: str | None
) -> str:
    """Return what was found of a rule about a pair of baseline and candidate: effect, intervals, what was asked.

    The interval that is corrected for all rules is told where it differs and decides: when a rule fails, and when one
    that looks failed is open.
    """
    place = reported.label(rule.measure) + ("" if rule.segment is None else f" on {rule.segment[1]}")
    if reported.weights_name is not None:
        place += f" (weighted by {reported.weights_name})"
    if measured.estimate is None and measured.n:
        return f"{place}: the baseline's mean is 0, of which no share can be taken"
    if measured.estimate is None:
        of_units = isinstance(reported, ReportedExperiment)
        return f"{place}: {'an arm has no value' if of_units else 'no query is defined for all systems'}"
    decimals = _decimals(rule, measured, reported, pair)
    found = f"{place} {_effect(rule, measured, decimals, reported.noun)}"
    told = [_ends(rule, measured.interval, decimals)] if measured.interval is not None else []
    if measured.interval is not None and measured.family_interval is not None:
        own, wider = (_range(rule, shown, decimals) for shown in (measured.interval, measured.family_interval))
        if wider != own and (outcome == FAILS or _looks_failed(rule, measured)):
            told.append(f"for all rules together {wider}")
    evidence = f" ({', '.join(told)}; {_asked(rule, decimals)})" if told else f" ({_asked(rule, decimals)})"
    return found + evidence + _exactly(rule, measured) + _why(measured, reported, reason)


def _exactly(rule: Rule, measured: Measured) -> str:
    if measured.interval is None or not any(_at_bound(rule, measured, end) for end in measured.interval.ends):
        return ""
    return "; the interval ends exactly at what is asked"


def _decimals(rule: Rule, measured: Measured, reported: AnyReport, pair: tuple[str, str]) -> int:
    """Return the decimals of the pair's page, and more where an end would look as if it were at the bound.

    The page has one number of decimals a measure, which the error over all queries supports; relative differences are
    on a scale of their own.
    """
    error = measured.deviation / measured.units**0.5 if measured.units else None
    if rule.criterion != "margin_relative":
        error = reported.standard_error(rule.measure, pair) or error
    decimals = decimals_for(error)
    intervals = [shown for shown in (measured.interval, measured.family_interval) if shown is not None]
    ends = [
        end for shown in intervals for end in shown.ends if math.isfinite(end) and not _at_bound(rule, measured, end)
    ]
    while decimals < _MOST_DECIMALS and any(round(end, decimals) == round(_bound(rule), decimals) for end in ends):
        decimals += 1
    return decimals


def _bound(rule: Rule) -> float:
    """What is asked, on the scale of the values."""
    return rule.bound if rule.higher_is_better else -rule.bound


def _at_bound(rule: Rule, measured: Measured, end: float) -> bool:
    return abs(end - _bound(rule)) <= max(measured.slack, 1e-12 * abs(end))


def _looks_failed(rule: Rule, measured: Measured) -> bool:
    assert measured.interval is not None
    low, high = measured.interval.ends
    return (high if rule.higher_is_better else -low) < rule.bound


def _effect(rule: Rule, measured: Measured, decimals: int, noun: tuple[str, str]) -> str:
    assert measured.estimate is not None
    if rule.kind == "floor":
        return f"is {number(measured.estimate, decimals)}"
    if measured.interval is None and measured.estimate == 0:
        return f"is the same on every one of {count(measured.n, *noun)}"
    if measured.estimate == 0:
        return "does not change"
    verb = "rises" if measured.estimate > 0 else "falls"
    return f"{verb} by {_amount(rule, abs(measured.estimate), decimals)}"


def _amount(rule: Rule, size: float, decimals: int) -> str:
    return percent(size, max(1, decimals - 2)) if rule.criterion == "margin_relative" else number(size, decimals)


def _ends(rule: Rule, shown: Interval, decimals: int) -> str:
    return f"{level_text(shown)} interval {_range(rule, shown, decimals)}"


def _range(rule: Rule, shown: Interval, decimals: int) -> str:
    low, high = shown.ends
    if rule.criterion == "margin_relative":
        digits = max(1, decimals - 2)
        return f"{signed(100 * low, digits)} to {percent(high, digits, sign=True)}"
    if rule.kind == "floor":
        return f"{number(low, decimals)} to {number(high, decimals)}"
    return interval(shown.low, shown.high, decimals)


def _asked(rule: Rule, decimals: int) -> str:
    size = f"{rule.asked:g}"
    if rule.criterion == "margin_relative":
        decimals = 0 if round(100 * rule.asked, 6).is_integer() else 1
        size = percent(rule.asked, decimals)
    allowed = f"a {'fall' if rule.higher_is_better else 'rise'} of up to {size} is allowed"
    words = {
        "more_than": f"{'a gain' if rule.higher_is_better else 'a fall'} of more than {size} asked for",
        "margin": allowed,
        "margin_relative": allowed,
        "at_least": f"at least {size} asked for",
        "at_most": f"at most {size} asked for",
    }
    return words[rule.criterion]


def _why(measured: Measured, reported: AnyReport, reason: str | None) -> str:
    if reason == "too_few" and isinstance(reported, ReportedExperiment):
        few = count(round(measured.independent), "unit")
        return f"; {few} in the smaller arm are too few for a verdict, at least {SMALLEST_VERDICT_N} are needed"
    if reason == "too_few":
        unit = reported.noun if reported.clusters is None else ("cluster", "clusters")
        like = (
            "" if round(measured.independent, 1) >= measured.units else f" that count like {measured.independent:.1f}"
        )
        few = f"{count(measured.units, *unit)}{like} are too few for a verdict"
        return f"; {few}, at least {SMALLEST_VERDICT_N} are needed"
    constant = "; it is 0 for both systems everywhere, so it could not show harm"
    if isinstance(reported, ReportedExperiment):
        constant = "; it is one value everywhere, so it could not show harm"
    told = {"no_difference": f"; where no {reported.noun[0]} differs nothing can be claimed", "constant": constant}
    return told.get(reason or "", "")


def needed_words(rule: Rule, measured: Measured, needed: int | None, noun: tuple[str, str]) -> str:
    """Return how many more queries, or units, would settle an open rule."""
    if needed is None:
        return f"no number of {noun[1]} that could be named would settle it" if measured.deviation > 0 else ""
    more = needed - measured.n
    where = "" if rule.segment is None else f"{rule.segment[1]} "
    shown = more if more < 100 else round(more, 2 - len(str(more)))
    what = noun[0] if shown == 1 else noun[1]
    if needed > _HARDLY * max(measured.n, SMALLEST_VERDICT_N):
        return f"the estimate lies so near to what is asked that more {where}{noun[1]} would hardly settle it"
    if measured.independent < SMALLEST_VERDICT_N:
        return f"at least {shown:,} more {where}{what} are needed"
    return f"about {shown:,} more {where}{what} would settle it, {POWER * 5:g} times in 5, if nothing else changes"


def decision_sentence(outcome: str, rules: Sequence[RuleOutcome]) -> str:
    """Return the decision in one line: GO, or the rules that fail, or those that are open, each with its reason."""
    if outcome == "go":
        return f"GO: all {len(rules)} rules hold." if len(rules) > 1 else "GO: the rule holds."
    wanted, word, verb = (FAILS, "NO-GO", "fails") if outcome == "no_go" else (OPEN, "CANNOT TELL", "is open")
    found = [rule for rule in rules if rule.outcome == wanted]
    told = [f'"{rule.id}" {verb} — {rule.sentence}' for rule in found[:_SHOWN]]
    more = len(found) - len(told)
    rest = (
        f"; {more:,} more {'is' if more == 1 else 'are'} open"
        if wanted == OPEN
        else f"; {more:,} more {'fails' if more == 1 else 'fail'}"
    )
    return f"{word}: {'; '.join(told)}{rest if more else ''}."
