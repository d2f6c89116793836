"""What a policy requires of the evidence, against a report: requirements that are not met keep the decision open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from rankstats.comparison.checks import CHECKS
from rankstats.decision.policy import Judged, Policy
from rankstats.decision.reported import Reported, Row
from rankstats.decision.rules import HOLDS, OPEN, Rule, RuleOutcome
from rankstats.errors import PlanError
from rankstats.wording import count, percent

EVIDENCE = "evidence"
IDENTICAL = "identical_systems"


def check_requirements(policy: Policy, reported: Reported, rules: Sequence[Rule]) -> tuple[RuleOutcome, ...]:
    """Return one outcome a requirement: it holds or is open.

    * queries: the smallest number on which a measure of the policy is defined for all systems and counted;
    * missing queries: the larger number of judged queries that one of the two systems lacks, or for which it has no
      value of a measure of the policy although the other one has;
    * judged documents: the share among the first k, of either system, and how far the two are apart;
    * warnings: one requirement a code.

    Raises
    ------
    PlanError
        If the report cannot tell what is asked.
    """
    measures = list(dict.fromkeys(rule.measure for rule in rules if reported.aggregate(rule.measure) != "together"))
    measures = measures or list(reported.report.get("primary") or list(reported.measures)[:1])
    asked = policy.evidence
    found = [] if asked.queries is None else [_queries(asked.queries, reported, measures)]
    found.append(_missing(policy, reported, measures))
    if asked.judged is not None:
        found.append(_judged(asked.judged, policy, reported))
    found += [_warning(code, policy, reported) for code in dict.fromkeys(asked.warnings)]
    return tuple(found)


def requirement(
    name: str, holds: bool, asked: Any, observed: Any, sentence: str, *, title: str, **more: Any
) -> RuleOutcome:
    """Return what became of a requirement: `name` for machines, `title` for readers, a sentence without full stop."""
    return RuleOutcome(
        id=f"{EVIDENCE}.{name}",
        kind=EVIDENCE,
        criterion=name,
        measure=None,
        segment=None,
        asked=asked,
        observed=observed,
        interval=None,
        family_interval=None,
        n=more.get("n"),
        outcome=HOLDS if holds else OPEN,
        reason=None if holds else EVIDENCE,
        queries_needed=more.get("queries_needed"),
        sentence=sentence.rstrip("."),
        title=title,
    )


def _queries(least: int, reported: Reported, measures: Sequence[str]) -> RuleOutcome:
    sizes = {name: int((reported.defined(name) & reported.counted).sum()) for name in measures}
    measure = min(sizes, key=sizes.__getitem__)
    n = sizes[measure]
    more = "" if n >= least else f"; {least - n:,} more are needed"
    return requirement(
        "queries",
        n >= least,
        least,
        n,
        f"{count(n, 'query', 'queries')} with a value of {reported.label(measure)}, {least:,} asked for{more}",
        title="enough queries",
        n=n,
        queries_needed=None if n >= least else least,
    )


def _missing(policy: Policy, reported: Reported, measures: Sequence[str]) -> RuleOutcome:
    pair = (policy.baseline, policy.candidate)
    lacking = {
        system: len(set(_unanswered(reported, system)) | set(_without_value(reported, system, other, measures)))
        for system, other in (pair, pair[::-1])
    }
    worst = max(lacking.values())
    most = policy.evidence.missing_queries
    said = [f"{system} lacks {count(n, 'query', 'queries')}" for system, n in lacking.items() if n]
    told = " and ".join(said) if said else "neither system lacks a query"
    allowed = f"; {most:,} allowed" if most or worst else ""
    advice = "" if worst <= most else f" (missing_queries = {worst} would accept that)"
    title = "every query answered" if not most else "few queries missing"
    return requirement("missing_queries", worst <= most, most, worst, f"{told}{allowed}{advice}", title=title)


def _unanswered(reported: Reported, system: str) -> Iterator[str]:
    yield from (reported.report["audit"]["queries"].get("missing") or {}).get(system) or ()


def _without_value(reported: Reported, system: str, other: str, measures: Sequence[str]) -> Iterator[str]:
    """Queries on which a system has no value of a measure although the other one has."""
    for measure in measures:
        lacks = np.isnan(reported.values(system, measure)) & ~np.isnan(reported.values(other, measure))
        yield from (reported.queries[q]["query_id"] for q in np.flatnonzero(lacks & reported.counted).tolist())


def _judged(asked: Judged, policy: Policy, reported: Reported) -> RuleOutcome:
    shares = {system: _judged_share(reported, system, asked.k) for system in (policy.baseline, policy.candidate)}
    known = {system: share for system, share in shares.items() if share is not None}
    enough = asked.at_least is None or all(share >= asked.at_least for share in known.values())
    apart = max(known.values()) - min(known.values()) if len(known) > 1 else 0.0
    close = asked.gap is None or apart <= asked.gap + 1e-12
    listed = ", ".join(f"{system} {percent(share, 1)}" for system, share in shares.items())
    wanted = [] if asked.at_least is None else [f"at least {_short(asked.at_least)}\N{NO-BREAK SPACE}% each"]
    wanted += [] if asked.gap is None else [f"at most {_points(asked.gap)} apart"]
    return requirement(
        "judged",
        len(known) == len(shares) and enough and close,
        {"k": asked.k, "at_least": asked.at_least, "gap": asked.gap},
        shares,
        f"judged of the documents in the top {asked.k}: {listed}; asked for: {', '.join(wanted)}",
        title="enough judged",
    )


def _short(share: float) -> str:
    """Return a share in percent with as many decimals as it is given with."""
    return f"{100 * share:.10g}"


def _points(share: float) -> str:
    points = _short(share)
    return f"{points} percentage {'point' if points == '1' else 'points'}"


def _judged_share(reported: Reported, system: str, k: int) -> float | None:
    unjudged = (reported.report["audit"].get("unjudged_at") or {}).get(str(k))
    if unjudged is not None and system in unjudged:
        share = unjudged[system]
        return None if share is None else 1 - float(share)
    name = f"Judged@{k}"
    if name not in reported.measures:
        raise PlanError(
            f"[evidence] judged: the report does not tell how much of the first {k} documents is judged; it is made "
            f"from judgments and runs, and for this depth with --measures {name}"
        )
    values = reported.values(system, name)
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else None


def _warning(code: str, policy: Policy, reported: Reported) -> RuleOutcome:
    found = [row for row in reported.report["warnings"] if row["code"] == code and _concerns(row, policy, reported)]
    message = str(found[0]["message"]) if found else None
    if code == IDENTICAL and message is None and _identical(policy, reported):
        message = (
            f"{policy.candidate} and {policy.baseline} have the same value of every measure on every query: "
            "is it the same run?"
        )
    more = f" (and {len(found) - 1:,} more)" if len(found) > 1 else ""
    question = next((check.question for check in CHECKS if code in check.codes), code)
    title = "two different systems" if code == IDENTICAL else question
    quiet = "the two systems differ" if code == IDENTICAL else f"“{question}”: nothing was found"
    told = quiet if message is None else message + more
    return requirement(code, message is None, code, message, told, title=title)


def _identical(policy: Policy, reported: Reported) -> bool:
    pairs = [
        [reported.values(system, name) for system in (policy.baseline, policy.candidate)] for name in reported.measures
    ]
    known = any(not np.isnan(before).all() for before, _ in pairs)
    return known and all(np.array_equal(before, after, equal_nan=True) for before, after in pairs)


def _concerns(warning: Row, policy: Policy, reported: Reported) -> bool:
    """Whether a warning may be about the two systems; False only where it names others."""
    where, ours = str(warning["where"]), {policy.baseline, policy.candidate}
    if where in set(reported.systems) - ours:
        return False
    pairs = [(a, b) for a in reported.systems for b in reported.systems if a != b]
    named = [{a, b} for a, b in pairs if where == f"{a} against {b}" or where.startswith(f"{a} against {b}, ")]
    return not named or ours in named
