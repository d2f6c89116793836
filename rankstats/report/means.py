"""The scoreboard, and weighted beside plain means."""

from __future__ import annotations

import math
import re

from rankstats import wording
from rankstats.conventions import RANK_TESTS, SMALLEST_VERDICT_N
from rankstats.procedure_names import CORRECTION_NAMES
from rankstats.report.blocks import Block, Cell, Column, Paragraph, Section, Table
from rankstats.report.choice import ROWS_DRAWN, listed
from rankstats.report.rows import difference_cells, difference_columns, tests_line, without_constants
from rankstats.report.source import Row, Source, ends, level, says_nothing
from rankstats.report.texts import sentence_list, shown
from rankstats.report.tones import DIRECTION_ASSUMED, WITHHELD
from rankstats.report.trust import totals

ORDERED_FROM = 3
"""With so many systems the table is ordered by the mean: ranks read down the column."""
_RANGE = re.compile(r"(-?[\d.]+) (?:to (-?[\d.]+)|or more)$")


def scoreboard(source: Source) -> Section:
    """Return section 3: systems × measures, means with their intervals, ranks on the primary measures."""
    if not source.overall:
        return Section("scoreboard", "Scoreboard", ())
    one, lead = ("arm", "control") if source.report["experiment"] else ("system", "baseline")
    columns: list[Column] = [Column("system", number=False)]
    cells: dict[str, list[Cell]] = {
        system: [Cell(shown(system, 60), note=lead if system == source.baseline else "")] for system in source.systems
    }
    for m in source.measures:
        rows = [row for (_, measure), row in source.overall.items() if measure == m]
        best = _best(source, m, rows)
        columns.append(Column(source.measure_label(m), note=_column_note(source, m)))
        for system, line in cells.items():
            line.append(_mean_cell(source, source.overall.get((system, m)), best))
        ranked = [row for (measure, _), row in source.ranks.items() if measure == m]
        if ranked:
            columns.append(Column("rank", note=_rank_note(ranked)))
            for system, line in cells.items():
                line.append(_rank_cell(source.ranks.get((m, system))))
    order, by_mean = order_of_systems(source)
    table = Table(
        "means",
        _caption(source, by_mean=by_mean),
        tuple(columns),
        tuple(tuple(cells[s]) for s in order),
        sortable=by_mean,
    )
    remark = (
        f"The intervals are each {one}'s own. Whether two {one}s differ is read from their difference, "
        f"{'query by query, ' if source.unit[0] == 'query' else ''}not from two intervals that overlap."
    )
    words = f"{remark if _intervals(source) else ''}{_adjustment_words(source)}{_rank_words(source)}".strip()
    blocks: list[Block] = [table, *([Paragraph(words, small=True)] if words else []), *totals(source)]
    return Section("scoreboard", "Scoreboard", tuple(blocks))


def order_of_systems(source: Source) -> tuple[tuple[str, ...], bool]:
    """Return the systems in the order of the scoreboard, and whether that is the order of their means."""
    by_mean = len(source.systems) >= ORDERED_FROM
    return (source.by_mean(source.primary[0]) if by_mean else source.systems), by_mean


def _caption(source: Source, *, by_mean: bool) -> str:
    caption = "Means over queries" if source.unit[0] == "query" else "Means over units"
    if source.planned_weighting is not None:
        caption = f"Means weighted by {shown(source.planned_weighting, 40)}"
    known = _intervals(source)
    if known:
        every = len(known) == len(source.overall)
        caption += f", with the {level(known[0])} {'of each' if every else 'where there is one'}"
    n = {row["n"] for row in source.overall.values()}
    caption += f", n = {n.pop():,}" if len(n) == 1 else ""
    first = "highest" if source.primary[0] in source.assumed else "best"
    return f"{caption}, the {first} {source.measure_label(source.primary[0])} first" if by_mean else caption


def _intervals(source: Source) -> list[Row]:
    """Return the intervals of the means that say something."""
    found = [row["interval"] for row in source.overall.values()]
    return [interval for interval in found if interval and not says_nothing(interval)]


def _adjustment_words(source: Source) -> str:
    """Say which differences are not those of the means in the table."""
    found = {
        source.measure_label(row["measure"]): sentence_list([shown(name, 40) for name in row["adjusted_for"]])
        for row in source.report["differences"]
        if row.get("adjusted_for")
    }
    told = sentence_list([f"{measure} are adjusted for {names}" for measure, names in found.items()])
    return f" These means are as measured; the differences in {told}." if told else ""


def _rank_note(rows: list[Row]) -> str:
    known = next((row for row in rows if row["low"] is not None), None)
    return "" if known is None else level(known)


def _rank_cell(row: Row | None) -> Cell:
    """Return '2 (1–3)', and in words whether the system may be the best."""
    if row is None:
        return Cell(wording.UNDEFINED)
    text = f"{row['rank']:,}"
    if row["low"] is not None and row["high"] is not None:
        text += f" ({row['low']:,}–{row['high']:,})"
    return Cell(text, note="may be the best" if row["may_be_best"] else "")


def _rank_words(source: Source) -> str:
    """Explain rank intervals and candidates, with the correction that they rest on; or why there are none."""
    rows = list(source.ranks.values())
    if not rows:
        return ""
    words = ""
    known = next((row for row in rows if row["low"] is not None), None)
    if known is not None:
        named = CORRECTION_NAMES.get(known["correction"] or "", shown(known["correction"] or "", 60))
        words = (
            f" In brackets the ranks that a system may have, by the comparisons of all pairs"
            f"{f' ({named})' if named else ''}: all true ranks of a measure lie inside together, at the level given."
        )
    if any(row["may_be_best"] is not None for row in rows):
        words += " “May be the best”: that no other system has a better true mean is not ruled out at that level."
    if any(row["low"] == 1 and row["may_be_best"] is False for row in rows):
        words += (
            " That is asked by a sharper test of its own, each system against the best of the others: a system can be "
            "ruled out although its bracket begins at 1."
        )
    return words + _why_no_intervals(source, rows)


def _why_no_intervals(source: Source, rows: list[Row]) -> str:
    by_reason: dict[str, list[str]] = {}
    for row in rows:
        measure = row["measure"]
        named = by_reason.setdefault(_reason(source, measure), []) if row["low"] is None else []
        if source.measure_label(measure) not in named:
            named.append(source.measure_label(measure))
    return "".join(f" No rank intervals on {sentence_list(named)}: {why}." for why, named in by_reason.items())


def _reason(source: Source, measure: str) -> str:
    claims = [row for _, row in source.planned_pairs(measure)]
    if any(source.tone(row) == WITHHELD for row in claims):
        return "a verdict there is withheld"
    if any(row["test"] in RANK_TESTS for row in claims):
        return "the test is not about the mean"
    if any(row.get("alternative", "two-sided") != "two-sided" for row in claims):
        return "the tests are one-sided"
    return f"there are too few {source.unit[1]} to say how certain the ranks are"


def _column_note(source: Source, measure: str) -> str:
    every = {row["n"] for row in source.overall.values()}
    own = {row["n"] for row in source.overall.values() if row["measure"] == measure}
    parts = ["primary"] if measure in source.primary else []
    parts += [] if source.measures[measure]["higher_is_better"] else ["lower is better"]
    parts += [DIRECTION_ASSUMED] if measure in source.assumed else []
    parts += [f"n = {own.pop():,}"] if len(own) == 1 < len(every) else []
    return " · ".join(parts)


def _best(source: Source, measure: str, rows: list[Row]) -> set[str]:
    """Name the systems with the best mean, unless all are equal or nothing says what is best: a direction, queries."""
    if measure in source.assumed or any(row["n"] < SMALLEST_VERDICT_N for row in rows):
        return set()
    means = {row["system"]: mean for row in rows if (mean := source.lead_mean(row)) is not None}
    if len(set(means.values())) < 2 or source.measures[measure].get("diagnostic"):
        return set()
    choose = max if source.measures[measure]["higher_is_better"] else min
    top = choose(means.values())
    return {system for system, mean in means.items() if mean == top}


def _mean_cell(source: Source, row: Row | None, best: set[str]) -> Cell:
    if row is None:
        return Cell(wording.UNDEFINED)
    measure = row["measure"]
    word = "highest" if source.measures[measure]["higher_is_better"] else "lowest"
    is_best = row["system"] in best
    return Cell(
        source.mean(measure, source.lead_mean(row)),
        note=_interval_note(source, row),
        tone="best" if is_best else "",
        badge=word if is_best else "",
    )


def _interval_note(source: Source, row: Row) -> str:
    """Return the interval of a mean, cut at the range of its measure; words where it says nothing."""
    both, measure = ends(row["interval"]), row["measure"]
    if both is None or all(map(math.isinf, both)):
        return ""
    if both[0] == both[1]:
        return "no spread"
    lowest, highest = range_of(source.measures[measure]["definition"])
    cut = {**row["interval"], "low": max(both[0], lowest), "high": min(both[1], highest)}
    return source.range(measure, cut, sign=False)


def range_of(definition: Row) -> tuple[float, float]:
    """Return the least and the largest value that a measure can have, infinite where its definition says none.

    Examples
    --------
    >>> range_of({"range": "-1 to 1"}), range_of({"range": "0 or more"}), range_of({})
    ((-1.0, 1.0), (0.0, inf), (-inf, inf))
    """
    found = _RANGE.match(str(definition.get("range", "")))
    if found is None:
        return -math.inf, math.inf
    return float(found[1]), math.inf if found[2] is None else float(found[2])


def weighted_means(source: Source) -> list[Block]:
    """Return weighted and plain means side by side, and the differences both ways."""
    rows = [row for row in source.report["scores"] if row["segment"] is None and row["weighted_mean"] is not None]
    if not rows:
        return []
    weights = [w for w in source.weightings if w is not None]
    named = shown(weights[0], 40) if weights else "the weights"
    columns = (Column("system", number=False), Column("measure", number=False), Column("plain"), Column("weighted"))
    cells = tuple(
        (
            Cell(shown(row["system"], 60)),
            Cell(source.measure_label(row["measure"])),
            Cell(source.mean(row["measure"], row["mean"])),
            Cell(source.mean(row["measure"], row["weighted_mean"])),
        )
        for row in rows
    )
    title = f"Plain means, and means weighted by {named}"
    out: list[Block] = [Table("weighted-means", title, columns, cells, folded=len(cells) > ROWS_DRAWN)]
    return out + _both_differences(source, named)


def _both_differences(source: Source, named: str) -> list[Block]:
    """Return the differences with and without weights, one under the other."""
    if len(source.weightings) < 2:
        return []
    claims, remark = listed(source, list(source.measures))
    rows = [
        row
        for claim in claims
        for weighting in source.weightings
        if (row := source.difference(claim["measure"], (claim["baseline"], claim["system"]), None, weighting))
    ]
    body = tuple(
        difference_cells(
            source,
            row,
            (
                f"{row['system']} against {row['baseline']}",
                source.measure_label(row["measure"]),
                "plain" if row["weighting"] is None else "weighted",
            ),
            rows,
        )
        for row in rows
    )
    heading = difference_columns(("comparison", "measure", "mean"), rows)
    heading, body, said = without_constants(heading, body, ("comparison", "n"))
    title = ", ".join(
        (f"Differences, plain and weighted by {named}", *(f"{'n = ' * (k == 'n')}{v}" for k, v in said.items()))
    )
    table = Table("weighted-differences", title, heading, body, folded=len(body) > ROWS_DRAWN)
    return [table, Paragraph(f"{remark} {tests_line(source, rows)}".strip(), small=True)]
