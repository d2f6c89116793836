"""The warnings: one line each, of many that are alike one line for all, the single ones folded away."""

from __future__ import annotations

from dataclasses import dataclass

from rankstats.report.blocks import Block, Cell, Column, Notice, Table
from rankstats.report.source import Row, Source
from rankstats.report.texts import shown

ALIKE_FROM = 3
"""Places from which warnings of one kind are said together."""

_ORDER = ("serious", "warning", "info")
_SEVERITY = {"serious": "Serious", "warning": "Warning", "info": "Note"}
_TOGETHER = {
    "corrections_disagree": "The verdict depends on the correction in {n} comparisons",
    "tests_disagree": "The tests of the mean decide differently in {n} comparisons: treat them as borderline",
    "ties_decide": "The order of tied scores changes the difference of {n} comparisons",
    "unjudged_decide": "Unjudged documents, if relevant, would turn the verdict of {n} comparisons",
    "condensed_disagree": "Without the unjudged documents (condensed lists) {n} comparisons differ",
    "judged_gap": "In {n} comparisons one top 10 is judged less than the other and may be better than it looks",
    "mean_against_losses": "In {n} comparisons the mean goes one way and more queries go the other",
    "one_query_carries": "The verdict of {n} comparisons hangs on one query",
    "missing_queries": "{n} systems lack queries, which count as 0",
    "identical_systems": "{n} pairs of systems have the same values everywhere: are they the same runs?",
    "perfect_run": "{n} systems have a relevant document first on every query: check that no judgments leaked",
}


@dataclass(frozen=True, slots=True)
class Warned:
    """A warning, or several of one kind: the line that stands for them, and the single ones behind it."""

    notice: Notice
    alike: tuple[Row, ...]


def notices(source: Source) -> tuple[Notice, ...]:
    """Return the warnings, the serious ones first, those that are alike together."""
    return tuple(found.notice for found in warned(source))


def warned(source: Source) -> tuple[Warned, ...]:
    """Return the lines that warn, the serious ones first, each with the warnings it stands for if they are several."""
    kinds: dict[tuple[str, str], list[Row]] = {}
    for row in source.report["warnings"]:
        kinds.setdefault((row["severity"], row["code"]), []).append(row)
    out: list[Warned] = []
    seen: set[tuple[str, str]] = set()
    for row in sorted(source.report["warnings"], key=lambda row: _ORDER.index(row["severity"])):
        kind = (row["severity"], row["code"])
        alike = kinds[kind]
        if len({one["where"] for one in alike}) < ALIKE_FROM:
            out.append(Warned(_notice(row, row["message"], row["where"] or ""), ()))
        elif kind not in seen:
            seen.add(kind)
            out.append(Warned(_together(alike), tuple(alike)))
    return tuple(out)


def warning_tables(source: Source) -> list[Block]:
    """Return the table of all warnings, and behind it those that one of its lines stands for."""
    found = warned(source)
    if not found:
        return []
    heads = (Column("severity", number=False), Column("what to know", number=False))
    rows = tuple(
        (
            Cell(n.word, tone=f"severity-{n.severity}", mark=n.mark),
            Cell(n.message, note="" if n.where in n.message else n.where),
        )
        for n in (one.notice for one in found)
    )
    blocks: list[Block] = [Table("warnings", "Warnings and notes", heads, rows)]
    several = [one for one in found if one.alike]
    for k, one in enumerate(several, 1):
        heads = (Column("where", number=False), Column("what to know", number=False))
        rows = tuple((Cell(shown(row["where"] or "", 80)), Cell(shown(row["message"], 600))) for row in one.alike)
        caption = f"One by one: {one.notice.message.removesuffix('.')}"
        blocks.append(Table(f"warnings-{k}", caption, heads, rows, folded=True))
    return blocks


def _together(alike: list[Row]) -> Notice:
    """Say once what many places share, with the first of them as the example."""
    places = list(dict.fromkeys(row["where"] or "" for row in alike))
    first = alike[0]
    if first["code"] in _TOGETHER:
        message = f"{_TOGETHER[first['code']].format(n=f'{len(places):,}')}; the first is {shown(places[0], 80)}."
        return _notice(first, message, "")
    return _notice(first, f"{first['message']} {len(places) - 1:,} more are alike.", places[0])


def _notice(row: Row, message: str, where: str) -> Notice:
    return Notice(
        mark="ℹ" if row["severity"] == "info" else "⚠",
        word=_SEVERITY[row["severity"]],
        severity=row["severity"],
        message=shown(message, 600),
        where=shown(where, 80),
    )
