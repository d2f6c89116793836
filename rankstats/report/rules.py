"""The decision of a policy: one sentence, and the table of its rules."""

from __future__ import annotations

from rankstats import wording
from rankstats.report.blocks import Cell, Column, Statement, Table
from rankstats.report.source import Row, Source
from rankstats.report.texts import label, sentence_list, shown

_DECISIONS = {
    "go": ("▲", "better", "GO"),
    "no_go": ("▼", "worse", "NO-GO"),
    "cannot_tell": ("●", "not-shown", "CANNOT TELL"),
}
_RULES = {"fails": ("▼", "worse"), "open": ("●", "not-shown"), "holds": ("▲", "better")}
_DECIDING = {"no_go": "fails", "cannot_tell": "open"}
NAMED = 3
"""Rules that the headline names."""


def decision(source: Source) -> tuple[Statement | None, Table | None]:
    """Return the decision of a policy and the table of its rules, or two times None."""
    found = source.report["decision"]
    if found is None:
        return None, None
    mark, tone, word = _DECISIONS[found["outcome"]]
    rules = found["rules"]
    against = f"{label(found['candidate'], 60)} against {label(found['baseline'], 60)}"
    headline = f"{word}: {_decisive(found['outcome'], rules)}"
    decided_by_some = found["outcome"] in _DECIDING
    # what was found stands in the table below
    details = (f"{against}; {_rule_counts(rules)}" if decided_by_some else f"{against}.",)
    places = list(_RULES)
    columns = (Column("rule", number=False), Column("outcome", number=False), Column("what was found", number=False))
    rows = tuple(
        (
            Cell(_name(rule)),
            Cell(rule["outcome"], tone=_RULES[rule["outcome"]][1], mark=_RULES[rule["outcome"]][0]),
            Cell(shown(rule["sentence"], 300)),
        )
        for rule in sorted(rules, key=lambda rule: places.index(rule["outcome"]))
    )
    return Statement(mark, tone, word, headline, details, headline), Table(
        "rules", "Rules of the policy", columns, rows
    )


def _decisive(outcome: str, rules: list[Row]) -> str:
    """Say which rules decide: all of them, those that fail, or those that are open."""
    if outcome == "go":
        return f"all {len(rules)} rules hold" if len(rules) > 1 else "the rule holds"
    wanted = _DECIDING[outcome]
    one, many = ("fails", "fail") if outcome == "no_go" else ("is open", "are open")
    names = [f"“{_name(rule)}”" for rule in rules if rule["outcome"] == wanted]
    if len(names) > NAMED + 1:
        names[NAMED:] = [f"{len(names) - NAMED:,} more"]
    return f"{sentence_list(names)} {one if len(names) == 1 else many}"


def _name(rule: Row) -> str:
    """Return the name that the policy gives a rule, or words for one that the evidence asks for."""
    return shown(str(rule.get("title") or rule["id"]), 60)


def _rule_counts(rules: list[Row]) -> str:
    counts = {outcome: sum(rule["outcome"] == outcome for rule in rules) for outcome in _RULES}
    verbs = {"holds": ("holds", "hold"), "fails": ("fails", "fail"), "open": ("is open", "are open")}
    told = [f"{n} {verbs[outcome][n != 1]}" for outcome, n in counts.items() if n]
    return f"of {wording.count(len(rules), 'rule')}, {sentence_list(told)}."
