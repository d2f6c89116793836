"""The scoreboard, and weighted beside plain means."""

from __future__ import annotations

from rankstats import wording
from rankstats.report.blocks import Block, Cell, Column, Paragraph, Section, Table
from rankstats.report.rows import difference_cells, difference_columns, tests_line
from rankstats.report.source import Row, Source, level
from rankstats.report.texts import shown


def scoreboard(source: Source) -> Section:
    """Return section 3: systems × measures, means with their intervals."""
    overall = [row for row in source.report["scores"] if row["segment"] is None]
    if not overall:
        return Section("scoreboard", "Scoreboard", ())
    by_cell = {(row["system"], row["measure"]): row for row in overall}
    best = {m: _best(source, m, [row for row in overall if row["measure"] == m]) for m in source.measures}
    columns = (
        Column("system", number=False),
        *(Column(source.measure_label(m), note=_column_note(source, m, overall)) for m in source.measures),
    )
    rows = tuple(
        (
            Cell(shown(system, 60), note="baseline" if system == source.baseline else ""),
            *(_mean_cell(source, by_cell.get((system, m)), best[m]) for m in source.measures),
        )
        for system in source.systems
    )
    interval = next((row["interval"] for row in overall if row["interval"]), None)
    caption = "Means over queries" if source.unit[0] == "query" else "Means over units"
    if source.planned_weighting is not None:
        caption = f"Means weighted by {shown(source.planned_weighting, 40)}"
    caption += f", with the {level(interval)} of each" if interval else ""
    remark = (
        "The intervals are each system's own. Whether two systems differ is read from their difference, "
        "query by query, not from two intervals that overlap."
    )
    table = Table("means", caption, columns, rows)
    return Section("scoreboard", "Scoreboard", (table, Paragraph(remark, small=True)))


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
    out: list[Block] = [Table("weighted-means", f"Plain means, and means weighted by {named}", columns, cells)]
    differences = [row for row in source.report["differences"] if row["segment"] is None]
    if len({row["weighting"] for row in differences}) > 1:
        heads = ("comparison", "measure", "mean")
        body = tuple(
            difference_cells(
                source,
                row,
                (
                    f"{row['system']} against {row['baseline']}",
                    source.measure_label(row["measure"]),
                    "plain" if row["weighting"] is None else "weighted",
                ),
                differences,
            )
            for row in sorted(differences, key=lambda r: _pair_order(source, r))
        )
        heading = difference_columns(heads, differences)
        out.append(Table("weighted-differences", f"Differences, plain and weighted by {named}", heading, body))
        out.append(Paragraph(tests_line(source, differences), small=True))
    return out


def _pair_order(source: Source, row: Row) -> tuple[int, int]:
    measures = list(source.measures)
    return (measures.index(row["measure"]), source.pairs.index((row["baseline"], row["system"])))
