"""What only interleaving logs have: wins and Δ, the levels of the test, and who went first."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from rankstats import wording
from rankstats.report.blocks import Block, Cell, Column, Figure, Paragraph, Section, Subheading, Table, Terms
from rankstats.report.drawings import OutcomeBar, OutcomeBars
from rankstats.report.rows import is_adjusted, p_of
from rankstats.report.source import Row, Source, ends, level, pair_label
from rankstats.report.texts import label, sentence_list, shown

GLOSSARY = (
    ("impression", "One result page shown once. Impressions without a click decide nothing and are counted apart."),
    ("unit", "What is independent of others: a user, a session. One with many impressions is flipped as a whole."),
    (
        "ranker",
        "What orders results; two of them share a page, and each of its results is credited to one, or to none.",
    ),
    ("team", "The ranker that put a result on the page. Results that both would show next are of no team."),
    (
        "credited clicks",
        "Clicks on a ranker's results: of its team (team-draft), in its top k (balanced), or in shares by the "
        "probability that it put the result there (probabilistic).",
    ),
    (
        "win share",
        "Impressions with clicks in which a ranker has more credited clicks, ties counted half, as a share of all "
        "impressions with clicks. One half means no preference.",
    ),
    ("Δ", "Win share less one half; the difference of the two win shares is twice that."),
    (
        "interval",
        "The values of the true difference that the data do not speak against, at the level given; made by the same "
        "sign flips as its p-value, so it leaves out zero exactly when p is at most alpha.",
    ),
    ("simultaneous interval", "Wider, so that all intervals of the family are right together at the level given."),
    (
        "p",
        "How often flipping the sides of whole units at random gives a difference at least this large. The flips "
        "suppose that without a preference either ranker could have had the other's part of a page.",
    ),
    ("adjusted p", "The p-value after allowing for the number of comparisons in its family."),
    (
        "better, worse",
        "The adjusted p is at most alpha, and the difference lies on that side. It says nothing of size: read win "
        "share and interval.",
    ),
    ("not shown", "The data do not settle the sign. It does not mean that users like both rankers equally."),
    ("withheld", "A check says that the log cannot be believed: there is no verdict, whatever the numbers are."),
    ("heterogeneity", "Whether the preference differs between the segments of an attribute by more than chance."),
    ("confirmatory", "The claims: every pair over all impressions with clicks. They must be fixed before looking."),
    ("exploratory", "The other measure and all segments: hints, corrected among themselves."),
)
"""What the terms mean where two rankers share a page."""

_LEVELS = {
    "unit": "whole units flipped",
    "query": "whole queries flipped",
    "impression": "impressions flipped",
    "decided": "sign test of impressions without ties",
}
_HEADINGS = {"system": "ranker"}
_NAMED = 6
_COUNTS = {"better": "won", "equal": "tied", "worse": "lost"}
_OUTCOMES = re.compile(r"better, equal and worse on (?:win share|credited clicks)")
_WON = "won, tied and lost"
_SYSTEM = re.compile(r"\b([Ss])ystem(s?)\b")
_OF_RANKERS = ("scoreboard", "matrix")
"""Sections whose remarks name no ranker, so that their words may be changed."""


def interleaving(source: Source) -> Section:
    """Return the section of an interleaving log; without blocks where the report is of another kind."""
    found = source.report.get("interleaving")
    heading = "Wins, and the test at other levels"
    if not found:
        return Section("interleaving", heading, ())
    blocks: list[Block] = [*_wins(source), *_levels(source, found["levels"]), *_logged(source, found["pairs"])]
    return Section("interleaving", heading, tuple(blocks))


def _claims(source: Source) -> list[Row]:
    return [row for row in source.report["differences"] if row["segment"] is None and row["measure"] in source.primary]


def _wins(source: Source) -> list[Block]:
    """Show wins, ties, losses, win share and Δ of every pair, where wins say something."""
    rows = [row for row in _claims(source) if row["win_share"] is not None]
    if not rows:
        return []
    several = len(rows) > 1
    columns = (
        Column("comparison", number=False), Column("won"), Column("tied"), Column("lost"), Column("win share"),
        Column("Δ", note="win share less ½"),
        Column(f"{_level_of(rows)} of Δ", note="below: simultaneous" if several else ""),
    )  # fmt: skip
    body = tuple(
        (
            Cell(pair_label((row["baseline"], row["system"]))),
            *(Cell(f"{row[name]:,}") for name in ("wins", "ties", "losses")),
            Cell(source.mean(row["measure"], row["win_share"])),
            Cell(wording.signed(row["delta"], _delta_decimals(row))),
            Cell(
                _delta_range(row, row["interval"]),
                note=_delta_range(row, row["adjusted_interval"]) if several else "",
            ),
        )
        for row in rows
    )
    remark = (
        "Of impressions with clicks. Ties count half for each ranker. Δ, the win share less one half, is half of the "
        "difference between the two win shares that the verdict is about."
    )
    return [Table("wins", "Impressions won", columns, body), _won_bars(source, rows), Paragraph(remark, small=True)]


def _level_of(rows: Sequence[Row]) -> str:
    return level(next((row["interval"] for row in rows if row["interval"]), None))


def _won_bars(source: Source, rows: Sequence[Row]) -> Figure:
    """Draw the wins, ties and losses of the table above, which is the figure's twin."""
    one_baseline = len({row["baseline"] for row in rows}) == 1
    bars = tuple(
        OutcomeBar(
            label(row["system"] if one_baseline else f"{row['system']} − {row['baseline']}"),
            row["wins"],
            row["ties"],
            row["losses"],
        )
        for row in rows
    )
    title = f"Impressions {_WON}" + (f" against {label(rows[0]['baseline'])}" if one_baseline else "")
    told = "; ".join(f"{bar.label}: {bar.better:,} won, {bar.equal:,} tied, {bar.worse:,} lost" for bar in bars)
    return Figure("wins-bars", title, f"{told}.", OutcomeBars(bars, source.unit[1], words=("won", "tied", "lost")))


def _delta_decimals(row: Row) -> int:
    error = row["standard_error"]
    return wording.decimals_for(None if error is None else error / 2)


def _delta_range(row: Row, interval: Row | None) -> str:
    """Return an interval of the difference of win shares as one of Δ, which is half of it."""
    both = ends(interval)
    return wording.UNDEFINED if both is None else wording.interval(both[0] / 2, both[1] / 2, _delta_decimals(row))


def _levels(source: Source, levels: Sequence[Row]) -> list[Block]:
    if not levels:
        return []
    several = len(source.pairs) > 1
    columns = (
        *([Column("comparison", number=False)] if several else []), Column("test", number=False), Column("n"),
        Column(_level_of(levels)), Column("p"),
    )  # fmt: skip
    body = tuple(
        (
            *([Cell(pair_label((row["baseline"], row["system"])))] if several else []),
            Cell(_LEVELS[row["level"]], note="the verdict rests on it" if row["used"] else ""),
            Cell(f"{row['n']:,}"),
            Cell(source.range(row["measure"], row["interval"])),
            Cell(wording.p_value(row["p_value"])),
        )
        for row in levels
    )
    remark = (
        "Impressions of one unit are alike, so flipping single impressions is right only if no unit has two. Flipping "
        "whole queries asks whether other queries would show the same. Not adjusted for the number of comparisons."
    )
    measure = levels[0]["measure"]
    claim = source.difference(measure, (levels[0]["baseline"], levels[0]["system"]))
    size = f", {source.signed(measure, claim['difference'])}," if claim and not several else ""
    caption = f"The same difference in {source.measure_label(measure)}{size} at every level"
    return [
        Table("levels", f"{caption}{_of_pair(source)}", columns, body),
        Paragraph(remark, small=True),
    ]


def _of_pair(source: Source) -> str:
    return f": {pair_label(source.pairs[0])}" if len(source.pairs) == 1 else ""


def _logged(source: Source, pairs: Sequence[Row]) -> list[Block]:
    """Count what was logged; pages that show no difference have a column where there are some."""
    alike = any(row["undecidable"] for row in pairs)
    columns = (
        Column("comparison", number=False), Column("impressions"), Column("without clicks"),
        *([Column("same results")] if alike else []), Column("clicks"), Column("units"),
        Column("queries"), _first_column(source),
    )  # fmt: skip
    body = tuple(
        (
            Cell(pair_label((row["baseline"], row["system"]))),
            Cell(f"{row['impressions']:,}"),
            Cell(f"{row['without_clicks']:,}", note=_share(row["without_clicks"], row["impressions"])),
            *([Cell(f"{row['undecidable']:,}", note=_share(row["undecidable"], row["impressions"]))] if alike else []),
            Cell(f"{row['clicks']:,}"),
            *(_tested_units(source, row, of) for of in ("unit", "query")),
            Cell(_first(row), note=f"of {row['first_known']:,}" if row["first_known"] else ""),
        )
        for row in pairs
    )
    table = Table("logged", "What was logged, by comparison", columns, body)
    remark = "Same results: impressions on which nothing tells the rankers apart; clicks on them are ties."
    return [table, *([Paragraph(remark, small=True)] if alike else [])]


def _tested_units(source: Source, row: Row, of: str) -> Cell:
    """Return the units, or queries, of a pair; below them those with clicks, which the verdict counts."""
    n = row[{"unit": "units", "query": "queries"}[of]]
    if n is None:
        return Cell(wording.UNDEFINED)
    pair = (row["baseline"], row["system"])
    counted = [claim["n_clusters"] for claim in _claims(source) if (claim["baseline"], claim["system"]) == pair]
    known = source.report["interleaving"]["tested_at"] == of and counted and counted[0] not in (None, n)
    return Cell(f"{n:,}", note=f"{counted[0]:,} with clicks" if known else "")


def _first_column(source: Source) -> Column:
    if len(source.pairs) == 1:
        return Column(f"{label(source.pairs[0][1])} went first")
    return Column("went first", note="the ranker, not the baseline")


def _share(part: int, whole: int) -> str:
    return wording.percent(part / whole, 1) if whole else ""


def _first(row: Row) -> str:
    if not row["first_known"]:
        return wording.UNDEFINED
    return f"{row['went_first']:,} ({_share(row['went_first'], row['first_known'])})"


# ── what other sections say of a log ────────────────────────────────────────────────────────────────────────────────


def preference_lines(source: Source, row: Row, intervals: str, sensitivity: str) -> tuple[str, str]:
    """Return the lines under a verdict: interval, p and impressions; win shares, and wins or what could be shown."""
    letter = "adjusted p" if is_adjusted(row) else "p"
    p = wording.p_statement(p_of(row), letter).replace(" ", "\N{NO-BREAK SPACE}")
    parts = []
    if row["win_share"] is not None:
        both = (source.mean(row["measure"], share) for share in (row["win_share"], 1 - row["win_share"]))
        parts.append(f"win share {' against '.join(both)}")
    elif row["mean_system"] is not None:
        means = " against ".join(source.mean(row["measure"], row[f"mean_{side}"]) for side in ("system", "baseline"))
        parts.append(f"{source.measure_label(row['measure'])} {means} an impression")
    if row["wins"] is not None and not sensitivity:
        parts.append(f"{source.n_text(row['wins'])} won, {row['ties']:,} tied, {row['losses']:,} lost")
    parts += [sensitivity.replace(source.n_text(row["n"]), "so many")] if sensitivity else []
    return " · ".join((intervals, p, _counted(source, row))), " · ".join(parts)


def _counted(source: Source, row: Row) -> str:
    n = f"{source.n_text(row['n'])} with clicks"
    if row["n_clusters"] is None:
        return n
    words = ("unit", "units") if source.report["interleaving"]["tested_at"] == "unit" else ("query", "queries")
    return f"{n} of {wording.count(row['n_clusters'], *words)}"


def order_words(source: Source) -> tuple[str, str, bool]:
    """Return which ranker leads, who may be the best, and whether that is one alone; of three or more rankers."""
    ranks = sorted(source.ranks.values(), key=lambda row: row["rank"])
    first, measure = ranks[0], source.primary[0]
    mean = source.mean(measure, first["mean"])
    name = label(first["system"], 60)
    of = wording.count(len(source.systems), "ranker")
    headline = f"{name} has the highest {source.measure_label(measure)} of {of} ({mean})"
    candidates = [label(row["system"], 40) for row in ranks if row["may_be_best"]]
    if not candidates:
        return headline, "which may be the best is not said: a verdict is withheld", False
    if len(candidates) == 1:
        return headline, "no other ranker may be the best", True
    named = sentence_list(candidates) if len(candidates) <= _NAMED else f"{len(candidates):,} rankers"
    return headline, f"{named} may be the best", False


def log_facts(source: Source) -> list[tuple[str, str, str]]:
    """Return what was read of a log as counts with their consequences; nothing where the report is of another kind."""
    found = source.report.get("interleaving")
    if not found:
        return []
    total = log_impressions(source)
    without = sum(row["without_clicks"] for row in found["pairs"])
    facts = [("rows read", f"{found['rows']:,}", "")]
    repeated = source.report["audit"]["rows"].get("repeated")
    if repeated:
        facts.append(("rows logged twice", f"{repeated:,}", "count once"))
    for why, n in found["left_out"].items():
        facts.append((f"impressions {shown(why, 80)}", f"{n:,}", "left out"))
    facts += [
        ("impressions", f"{total:,}", ""),
        ("impressions without clicks", f"{without:,}", "decide nothing"),
        ("impressions with clicks", f"{total - without:,}", ""),
    ]
    return facts


def log_impressions(source: Source) -> int:
    """Return the number of impressions that were used."""
    return sum(row["impressions"] for row in source.report["interleaving"]["pairs"])


def in_words_of_interleaving(section: Section) -> Section:
    """Return a section with rankers in the place of systems, and impressions in that of units.

    Examples
    --------
    >>> section = Section("scoreboard", "Scoreboard", (Paragraph("Each system's own."),))
    >>> in_words_of_interleaving(section).blocks[0].text
    "Each ranker's own."
    """
    heading = _SYSTEM.sub(_ranker, section.heading) if section.key in _OF_RANKERS else section.heading
    return replace(section, heading=heading, blocks=tuple(_block(block, section.key) for block in section.blocks))


def _ranker(found: re.Match[str]) -> str:
    return f"{'R' if found[1] == 'S' else 'r'}anker{found[2]}"


def _block(block: Block, section: str) -> Block:
    remarks = section in _OF_RANKERS
    if isinstance(block, Table):
        return _table(block, remarks=remarks)
    if isinstance(block, Figure) and block.table is not None:
        title = _OUTCOMES.sub(_WON, block.title)
        title = _SYSTEM.sub(_ranker, title) if remarks else title
        return replace(block, title=title, table=_table(block.table, remarks=remarks))
    if isinstance(block, Terms) and section == "method":
        return replace(block, items=tuple(map(_term, block.items)))
    if isinstance(block, Subheading) and block.text == "Metrics":
        return replace(block, text="Measures")
    if isinstance(block, Paragraph) and remarks:
        return replace(block, text=_SYSTEM.sub(_ranker, block.text))
    return block


def _term(item: tuple[str, str]) -> tuple[str, str]:
    term, text = item
    return (term, _SYSTEM.sub(_ranker, text)) if term == "compared" else item


def _table(table: Table, *, remarks: bool) -> Table:
    caption = _OUTCOMES.sub(_WON, table.caption.replace("Means over units", "Means over impressions with clicks"))
    caption = _SYSTEM.sub(_ranker, caption) if remarks else caption
    both = {"baseline mean", "system mean"} <= {column.label for column in table.columns}
    columns = tuple(
        replace(column, label="ranker mean" if both and column.label == "system mean" else _heading(column, table))
        for column in table.columns
    )
    return replace(table, caption=caption, columns=columns)


def _heading(column: Column, table: Table) -> str:
    """Return a heading in the words of a log; 'better' and 'worse' are counts in the table of outcomes alone."""
    outcomes = table.key.startswith("outcomes")
    return (
        _COUNTS.get(column.label, column.label)
        if outcomes and column.number
        else _HEADINGS.get(column.label, column.label)
    )
