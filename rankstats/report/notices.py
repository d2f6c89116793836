"""The warnings: one line each, of many that are alike one line for all, the single ones folded away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rankstats.report.adjustment import adjustment_warning
from rankstats.report.blocks import Block, Cell, Column, Notice, Table
from rankstats.report.source import Row, Source
from rankstats.report.summaries import claims_told
from rankstats.report.texts import shown
from rankstats.report.tones import BETTER, SHOWN, WORSE

ALIKE_FROM = 3
"""Places from which warnings of one kind are said together."""

_ORDER = ("serious", "warning", "info")
_SEVERITY = {"serious": "Serious", "warning": "Warning", "info": "Note"}
_ABOUT_CLAIMS = frozenset(
    (
        *("level_unreachable", "few_queries", "reversal", "weights_disagree", "adjustment_decides", "mix_disagrees"),
        *("one_query_carries", "tests_disagree", "corrections_disagree", "unjudged_decide", "condensed_disagree"),
        *("ties_decide", "segment_reversal", "mean_against_losses", "assumed_direction", "perfect_run"),
    )
)
"""Warnings that touch a verdict; of one severity they come before those about the data."""
_QUALIFY = frozenset(("mean_against_losses", "segment_reversal"))
"""Those that qualify a verdict; of one claim they come after those by which it would be another."""
_TOPICS = frozenset(("verdict", "segments", "judgments", "intervals", "bootstrap", "plan", "inputs", "all systems"))
"""Places that name no comparison and no system: nothing to say under a warning."""
_PERFECT = "has a relevant document first on every query"
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
    "constant_measure": "{n} measures are the same for every query and system and tell nothing",
    "mix_disagrees": "Under another mix of segments {n} comparisons would be decided differently",
    "perfect_run": "{n} systems have a relevant document first on every query: check that no judgments leaked",
}


@dataclass(frozen=True, slots=True)
class Warned:
    """A line that warns, and the warnings that it stands for: one, or several of one kind."""

    notice: Notice
    rows: tuple[Row, ...]

    @property
    def alike(self) -> tuple[Row, ...]:
        """The warnings behind the line, where they are several."""
        return self.rows if len(self.rows) > 1 else ()


def notices(source: Source) -> tuple[Notice, ...]:
    """Return the warnings, the serious ones first, those that are alike together."""
    return tuple(found.notice for found in warned(source))


def unsaid(source: Source, told: Sequence[Row]) -> tuple[Notice, ...]:
    """Return the notices of the first screen: without those that only repeat why a verdict above is withheld.

    Parameters
    ----------
    source : Source
        The report.
    told : sequence of mapping
        The differences that have a statement of their own above the notices.
    """
    reasons = {_place(source, row): str(row["withheld"]) for row in told if row.get("withheld")}
    return tuple(found.notice for found in warned(source) if not all(_is_said(row, reasons) for row in found.rows))


def _is_said(row: Row, reasons: Mapping[str, str]) -> bool:
    """Return whether a warning says no more than the reason of a verdict that is withheld."""
    message = str(row["message"])
    if row["code"] == "perfect_run":
        return row["severity"] == "serious" and any(_PERFECT in reason for reason in reasons.values())
    if row["code"] == "unjudged_decide":
        reason = reasons.get(row["where"] or "")
        return reason is not None and reason in message
    # the same share of the same list, such as "46 % of new's top 10"
    share = message.partition(" is unjudged")[0]
    return row["code"] == "judged_gap" and any(
        place.startswith(f"{row['where']}, ") and reason.startswith(f"{share} is") for place, reason in reasons.items()
    )


def warned(source: Source) -> tuple[Warned, ...]:
    """Return the lines that warn: the serious ones first, then those about a claim, each with its warnings.

    Of those about claims the ones about what is shown come first, in the order in which the page tells the claims.
    """
    rows = [*source.report["warnings"], *_adjustments(source)]
    places = _told_places(source)

    def key(row: Row) -> tuple[int, bool, int, bool]:
        code = row["code"]
        return _ORDER.index(row["severity"]), code not in _ABOUT_CLAIMS, _place_of(row, places), code in _QUALIFY

    rows.sort(key=key)
    kinds: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        kinds.setdefault((row["severity"], row["code"]), []).append(row)
    out: list[Warned] = []
    seen: set[tuple[str, str]] = set()
    for row in rows:
        kind = (row["severity"], row["code"])
        alike = kinds[kind]
        if len({one["where"] for one in alike}) < ALIKE_FROM:
            out.append(Warned(_notice(row, row["message"], _worth_saying(source, row["where"] or "")), (row,)))
        elif kind not in seen:
            seen.add(kind)
            out.append(Warned(_together(alike), tuple(alike)))
    return tuple(out)


def _told_places(source: Source) -> dict[str, int]:
    """Return where the claims stand on the page: those that show something first; also by the name of the system."""
    claims = sorted(claims_told(source), key=lambda row: source.tone(row) not in SHOWN)
    found: dict[str, int] = {}
    for i, row in enumerate(claims):
        found.setdefault(_place(source, row), i)
        if source.tone(row) in SHOWN:
            found.setdefault(row["system"], i)
    return found


def _place_of(row: Row, places: Mapping[str, int]) -> int:
    """Return the first place of those that a warning is about; the last of all where it is about none."""
    return min((places[name] for name in (row["where"] or "").split("; ") if name in places), default=len(places))


def _worth_saying(source: Source, where: str) -> str:
    """Return the place of a warning, unless it names nothing or the page has one comparison alone."""
    alone = len(source.pairs) == 1 and len(source.primary) == 1
    claims = {_place(source, row) for row in source.report["differences"]} if alone else set()
    return "" if where in _TOPICS or where in claims else where


def _adjustments(source: Source) -> list[Row]:
    """Return a warning for each verdict that rests on its adjustment by covariates."""
    claims = [source.by_id[verdict["difference_id"]] for verdict in source.report["verdict"]]
    told = [(row, adjustment_warning(source, row)) for row in claims if source.tone(row) in (BETTER, WORSE)]
    return [
        {"code": "adjustment_decides", "severity": "warning", "message": text, "where": _place(source, row)}
        for row, text in told
        if text
    ]


def _place(source: Source, row: Row) -> str:
    """Name a comparison as the warnings do."""
    return f"{row['system']} against {row['baseline']}, {source.measures[row['measure']]['label']}"


def warning_tables(source: Source) -> list[Block]:
    """Return the table of all warnings, and behind it those that one of its lines stands for."""
    found = warned(source)
    if not found:
        return []
    heads = (Column("severity", number=False), Column("what to know", number=False))
    rows = tuple(
        (
            Cell(n.word, tone=f"severity-{n.severity}", mark=n.mark),
            Cell(n.message, note="" if n.where.casefold() in n.message.casefold() else n.where),
        )
        for n in (one.notice for one in found)
    )
    blocks: list[Block] = [Table("warnings", "Warnings and notes", heads, rows)]
    several = [one for one in found if one.alike]
    for k, one in enumerate(several, 1):
        heads = (Column("where", number=False), Column("what to know", number=False))
        rows = tuple((Cell(shown(row["where"] or "", 80)), Cell(shown(row["message"], 600))) for row in one.alike)
        caption = f"One by one: {_together(one.alike, first=False).message.removesuffix('.')}"
        blocks.append(Table(f"warnings-{k}", caption, heads, rows, folded=True))
    return blocks


def _together(alike: Sequence[Row], *, first: bool = True) -> Notice:
    """Say once what many places share, with the first of them as the example unless that is not wanted."""
    places = list(dict.fromkeys(row["where"] or "" for row in alike))
    row = alike[0]
    if row["code"] in _TOGETHER:
        message = _TOGETHER[row["code"]].format(n=f"{len(places):,}")
        return _notice(row, f"{message}; the first is {shown(places[0], 80)}." if first else f"{message}.", "")
    return _notice(row, f"{row['message']} {len(places) - 1:,} more are alike.", places[0])


def _notice(row: Row, message: str, where: str) -> Notice:
    return Notice(
        mark="ℹ" if row["severity"] == "info" else "⚠",
        word=_SEVERITY[row["severity"]],
        severity=row["severity"],
        message=shown(message, 600),
        where=shown(where, 240),
    )
