"""How the queries carry a mean: sorted differences, one system against the other, and what resampling gives."""

from __future__ import annotations

from itertools import pairwise

from rankstats import wording
from rankstats.conventions import SMALLEST_VERDICT_N
from rankstats.report.blocks import Block, Cell, Column, Figure, Paragraph, Section, Table
from rankstats.report.carriers import carriers
from rankstats.report.drawings import Distribution, Scatter, Waterfall
from rankstats.report.examples import differences_of
from rankstats.report.order import told_pairs
from rankstats.report.rows import deciding_interval
from rankstats.report.source import Pair, Row, Source, ends, level, pair_label
from rankstats.report.strips import POINTS_DRAWN
from rankstats.report.texts import label, sentence_list, shown

PAIRS_SHOWN = 3
TENTHS = tuple(i / 10 for i in range(11))


def spread(source: Source) -> Section:
    """Return section 7: the sorted differences of each pair and, beside them, its scatter."""
    measure = source.primary[0]
    pairs = told_pairs(source, measure)[:PAIRS_SHOWN]
    found = [(pair, row, differences_of(source, measure, pair)) for pair, row in pairs]
    drawn = [item for item in found if len(item[2]) >= SMALLEST_VERDICT_N]
    blocks: list[Block] = [*carriers(source)]
    if drawn:
        said = _drawn_words(source, measure, len(drawn), len(list(source.planned_pairs(measure))))
        blocks += [Paragraph(said, small=True)] if said else []
    for i, (pair, row, differences) in enumerate(drawn, 1):
        tolerance = row.get("tie_tolerance") or 0.0
        blocks.append(_waterfall(source, measure, pair, differences, tolerance=tolerance, i=i))
        blocks.append(_scatter(source, measure, pair, differences, tolerance=tolerance, i=i))
    return Section("spread", "Is the mean carried by a few queries?", tuple(blocks))


def _drawn_words(source: Source, measure: str, drawn: int, total: int) -> str:
    """Say which comparisons are drawn on which measure, and where the rest is; empty where nothing is left out."""
    of = f" for {drawn:,} of {total:,} comparisons" if drawn < total else ""
    several = len(source.primary) > 1
    if not of and not several:
        return ""
    on = f" on {source.measure_label(measure)}" + (", the first primary measure" if several else "")
    return f"Drawn{of}{on}. The values of all are in per_query.csv."


def _waterfall(
    source: Source, measure: str, pair: Pair, found: list[tuple[int, float]], *, tolerance: float, i: int
) -> Figure:
    ordered = sorted((d for _, d in found), reverse=True)
    name = source.measure_label(measure)
    title = f"{pair_label(pair)}: differences in {name}, sorted"
    # Order statistics, so that every number of the table is a difference that occurs.
    points = [ordered[min(len(ordered) - 1, round(share * (len(ordered) - 1)))] for share in TENTHS]
    rows = tuple(
        (Cell(_position(share)), Cell(source.signed(measure, value)))
        for share, value in zip(TENTHS, points, strict=True)
    )
    columns = (Column(f"position among the sorted {source.unit[1]}", number=False), Column("difference"))
    table = Table(f"waterfall-{i}-table", f"{title}: every tenth part", columns, rows, folded=True)
    told = f"From {source.signed(measure, points[0])} to {source.signed(measure, points[-1])}; "
    told += f"the middle one is {source.signed(measure, points[5])}."
    higher = source.measures[measure]["higher_is_better"]
    drawing = Waterfall(tuple(ordered), f"difference in {name}", higher, tolerance)
    return Figure(f"waterfall-{i}", title, told, drawing, table)


def _position(share: float) -> str:
    named = {0.0: "most positive", 0.5: "middle", 1.0: "most negative"}
    return named.get(share, f"after {wording.percent(share)}")


def _scatter(
    source: Source, measure: str, pair: Pair, found: list[tuple[int, float]], *, tolerance: float, i: int
) -> Figure:
    a, b = (source.report["values"][system][measure] for system in pair)
    x, y = tuple(a[k] for k, _ in found), tuple(b[k] for k, _ in found)
    higher = source.measures[measure]["higher_is_better"]
    above = sum(d > tolerance for _, d in found)
    below = sum(d < -tolerance for _, d in found)
    marks = f"One mark a {source.unit[0]}"
    if len(found) > POINTS_DRAWN:
        marks = f"The {source.unit[1]} are counted in cells, larger where there are more"
    told = (
        f"{marks}. Above the diagonal, where {label(pair[1])} has the larger value: {above:,}; "
        f"below it: {below:,}; on it: {len(found) - above - below:,}."
    )
    title = f"{pair_label(pair)}: {source.measure_label(measure)} of every {source.unit[0]}"
    columns = (Column("where", number=False), Column(source.unit[1]))
    rows = tuple(
        (Cell(text), Cell(f"{n:,}"))
        for text, n in (
            ("above the diagonal", above),
            ("on the diagonal", len(found) - above - below),
            ("below the diagonal", below),
        )
    )
    table = Table(f"scatter-{i}-table", title, columns, rows, folded=True)
    drawing = Scatter(x, y, pair[0], pair[1], higher, tolerance)
    return Figure(f"scatter-{i}", title, told, drawing, table)


def distributions(source: Source) -> Section:
    """Return section 8: resampled differences with the observed one and its interval."""
    resampled = {row["difference_id"]: row for row in source.report["distributions"]}
    planned = [
        row
        for measure in source.primary
        for _, row in told_pairs(source, measure)
        if row["id"] in resampled and row["n"] >= SMALLEST_VERDICT_N
    ]
    drawn = planned[:PAIRS_SHOWN]
    blocks: list[Block] = [Paragraph(_reading(source, drawn, len(planned)), small=True)] if drawn else []
    for i, row in enumerate(drawn, 1):
        figure = _distribution(source, resampled[row["id"]], row, i)
        blocks += [figure, Paragraph(figure.description, small=True)]
    return Section("distributions", "What resampling gives", tuple(blocks))


def _reading(source: Source, drawn: list[Row], total: int) -> str:
    """Say what is drawn: the grey shape, the dashed line, the bar; and for which comparisons."""
    intervals = [row["interval"] for row in drawn if row["interval"]]
    made = sentence_list(list(dict.fromkeys(shown(interval["method"], 80) for interval in intervals)))
    parts = ["Grey: the mean differences that the bootstrap gives. Dashed: the observed difference."]
    if intervals:
        parts.append(f"Bar below: its {level(intervals[0])}, made by the test ({made}).")
    if len(drawn) < total:
        names = sentence_list(list(dict.fromkeys(source.measure_label(row["measure"]) for row in drawn)))
        parts.append(f"Drawn for {len(drawn):,} of {total:,} claims, on {names}; report.json has the others.")
    return " ".join(parts)


def _distribution(source: Source, row: Row, difference: Row, i: int) -> Figure:
    measure = difference["measure"]
    pair = (difference["baseline"], difference["system"])
    name = source.measure_label(measure)
    title = f"{pair_label(pair)}: bootstrap of the difference in {name}"
    total = sum(row["counts"])
    own = f"{level(difference['interval'])} {source.range(measure, difference['interval'])}"
    if deciding_interval(source, difference) != source.range(measure, difference["interval"]):
        own += f"; simultaneous {source.range(measure, difference['adjusted_interval'])}, so not shown"
    told = f"{total:,} resamples. Observed {source.signed(measure, difference['difference'])}, {own}."
    columns = (Column("from"), Column("to"), Column("resamples"))
    rows = tuple(
        (Cell(source.signed(measure, low)), Cell(source.signed(measure, high)), Cell(f"{n:,}"))
        for (low, high), n in zip(pairwise(row["edges"]), row["counts"], strict=True)
    )
    drawing = Distribution(
        tuple(row["edges"]),
        tuple(row["counts"]),
        difference["difference"],
        ends(difference["interval"]),
        source.tone(difference),
        f"difference in {name}",
    )
    table = Table(f"distribution-{i}-table", title, columns, rows, folded=True)
    return Figure(f"distribution-{i}", title, told, drawing, table)
