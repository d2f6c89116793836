"""How many queries are better, equal and worse: bars and tables of counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from rankstats import wording
from rankstats.report.blocks import Block, Cell, Column, Figure, Section, Table
from rankstats.report.choice import ROWS_DRAWN, Chosen, chosen, listed
from rankstats.report.comparisons import direction_note, in_order, not_drawn, part_drawn, remarks
from rankstats.report.drawings import OutcomeBar, OutcomeBars
from rankstats.report.order import told_first
from rankstats.report.rows import without_constants
from rankstats.report.source import Pair, Row, Source
from rankstats.report.texts import label, shown

ROUNDING = 1e-6
"""Differences below it come from computing, not from the values."""
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def outcomes(source: Source) -> Section:
    """Return section 6: how many queries are better, equal and worse, for each pair and measure."""
    heading = "Better, equal and worse queries" if source.unit[0] == "query" else "Outcomes"
    if source.report["kind"] == "interleaving" and any(
        row.get("win_share") is not None for row in source.report["differences"]
    ):
        # the section of the log shows them
        return Section("outcomes", heading, ())
    blocks: list[Block] = []
    for i, measure in enumerate(source.primary, 1):
        picked = chosen(source, measure)
        if _counted(picked.rows):
            blocks.append(_outcome_figure(source, measure, picked, f"outcomes-{i}"))
            blocks += remarks(picked.remark, equal_words([row for _, row in _counted(picked.rows)]))
    found, remark = listed(source, [m for m in source.outcome_measures if m not in source.primary])
    rest, order = in_order(source, found)
    if _counted(rest):
        caption = "Better, equal and worse on the other measures"
        table = _outcome_table(source, _counted(rest), "outcomes-other", caption)
        blocks.append(replace(table, caption=f"{table.caption}{order}", folded=len(rest) > ROWS_DRAWN))
        blocks += remarks(remark, equal_words([row for _, row in _counted(rest)]))
    return Section("outcomes", heading, tuple(blocks))


def _counted(rows: Sequence[Row]) -> list[tuple[Pair, Row]]:
    return [((row["baseline"], row["system"]), row) for row in rows if row["wins"] is not None]


def _outcome_figure(source: Source, measure: str, picked: Chosen, key: str) -> Figure:
    rows = _counted(told_first(source, listed(source, [measure])[0]))
    one_baseline = len({pair[0] for pair, _ in rows}) == 1
    bars = [
        OutcomeBar(label(pair[1] if one_baseline else f"{pair[1]} − {pair[0]}"), r["wins"], r["ties"], r["losses"])
        for pair, r in _counted(told_first(source, picked.rows))
    ]
    if picked.skipped and len(bars) == len(picked.rows):
        bars[len(bars) // 2] = replace(bars[len(bars) // 2], before=not_drawn(picked))
    title = f"{source.unit[1].capitalize()} better, equal and worse on {source.measure_label(measure)}"
    title += f" against {label(rows[0][0][0])}" if one_baseline else ""
    told = "; ".join(f"{b.label}: {b.better:,} better, {b.equal:,} equal, {b.worse:,} worse" for b in bars)
    table = replace(_outcome_table(source, rows, f"{key}-table", title), caption=title, folded=True)
    return Figure(
        key,
        f"{title}{part_drawn(source, measure, picked)}",
        f"{told}.",
        OutcomeBars(tuple(bars), source.unit[1]),
        table,
    )


def _outcome_table(source: Source, rows: list[tuple[Pair, Row]], key: str, caption: str) -> Table:
    """Count wins, ties and losses; what all rows share is said once, in the caption and under the table."""
    columns = (
        *(Column(text, number=False) for text in ("measure", "system", "baseline")),
        *(Column(text) for text in ("better", "equal", "worse", "equal within")),
    )
    cells = tuple(
        (
            Cell(source.measure_label(row["measure"]), note=direction_note(source, row["measure"])),
            *(Cell(shown(name, 60)) for name in (pair[1], pair[0])),
            *(Cell(f"{row[count]:,}") for count in ("wins", "ties", "losses")),
            Cell(_tolerance(row)),
        )
        for pair, row in rows
    )
    if equal_words([row for _, row in rows]):
        columns, cells = columns[:-1], tuple(line[:-1] for line in cells)
    # a row alone keeps its heading
    constant = ("measure", "system", "baseline") if len(rows) > 1 else ("system", "baseline")
    kept, body, said = without_constants(columns, cells, constant, least=1)
    caption += f": {said['system']}" if "system" in said else ""
    return Table(key, f"{caption} against {said['baseline']}" if "baseline" in said else caption, kept, body)


def equal_words(rows: Sequence[Row]) -> str:
    """Say which values count as equal, where that is one rule for all rows; else nothing.

    Examples
    --------
    >>> equal_words([{"tie_tolerance": 1.2e-10}, {"tie_tolerance": 0.0}]), equal_words([{"tie_tolerance": 0.05}])
    ('Equal: apart by no more than rounding (10⁻⁹).', 'Equal: apart by at most 0.05.')
    """
    found = {row.get("tie_tolerance") for row in rows}
    sizes = [size for size in found if size is not None]
    if not sizes or len(sizes) < len(found):
        return ""
    largest = max(sizes)
    if largest == 0:
        return "Equal: exactly the same value."
    if largest < ROUNDING:
        power = str(math.ceil(math.log10(largest))).translate(_RAISED)
        return f"Equal: apart by no more than rounding (10{power})."
    return f"Equal: apart by at most {largest:g}." if len(found) == 1 else ""


def _tolerance(row: Row) -> str:
    tolerance = row.get("tie_tolerance")
    if tolerance is None:
        return wording.UNDEFINED
    return "exactly equal" if tolerance == 0 else "rounding" if tolerance < ROUNDING else f"±{tolerance:g}"
