"""The scoreboard, and weighted beside plain means."""

from __future__ import annotations

from rankstats import wording
from rankstats.report.blocks import Block, Cell, Column, Paragraph, Section, Table
from rankstats.report.choice import ROWS_DRAWN, listed
from rankstats.report.rows import CORRECTION_NAMES, difference_cells, difference_columns, tests_line
from rankstats.report.source import Row, Source, level
from rankstats.report.texts import shown
from rankstats.report.trust import totals

ORDERED_FROM = 9
"""With so many systems the table is ordered by the mean; a reader finds fewer by name."""


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
        columns.append(Column(source.measure_label(m), note=_column_note(source, m, rows)))
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
    blocks: list[Block] = [table, Paragraph(f"{remark}{_rank_words(source)}", small=True), *totals(source)]
    return Section("scoreboard", "Scoreboard", tuple(blocks))


def order_of_systems(source: Source) -> tuple[tuple[str, ...], bool]:
    """Return the systems in the order of the scoreboard, and whether that is the order of their means."""
    by_mean = len(source.systems) >= ORDERED_FROM
    return (source.by_mean(source.primary[0]) if by_mean else source.systems), by_mean


def _caption(source: Source, *, by_mean: bool) -> str:
    interval = next((row["interval"] for row in source.overall.values() if row["interval"]), None)
    caption = "Means over queries" if source.unit[0] == "query" else "Means over units"
    if source.planned_weighting is not None:
        caption = f"Means weighted by {shown(source.planned_weighting, 40)}"
    caption += f", with the {level(interval)} of each" if interval else ""
    return f"{caption}, the best {source.measure_label(source.primary[0])} first" if by_mean else caption


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
    """Explain rank intervals and candidates, with the correction that they rest on."""
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
    return words or " Ranks are those of the means; there are too few queries to say how certain they are."


def _column_note(source: Source, measure: str, rows: list[Row]) -> str:
    n = {row["n"] for row in rows if row["measure"] == measure}
    direction = "" if source.measures[measure]["higher_is_better"] else "lower is better · "
    role = "primary · " if measure in source.primary else ""
    return f"{role}{direction}n = {n.pop():,}" if len(n) == 1 else f"{role}{direction}".removesuffix(" · ")


def _best(source: Source, measure: str, rows: list[Row]) -> set[str]:
    """Name the systems with the best mean, unless all are equal."""
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
    interval = "" if row["interval"] is None else source.range(measure, row["interval"], sign=False)
    is_best = row["system"] in best
    return Cell(
        source.mean(measure, source.lead_mean(row)),
        note=interval,
        tone="best" if is_best else "",
        badge=word if is_best else "",
    )


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
    title = f"Differences, plain and weighted by {named}"
    table = Table("weighted-differences", title, heading, body, folded=len(body) > ROWS_DRAWN)
    return [table, Paragraph(f"{remark} {tests_line(source, rows)}".strip(), small=True)]
