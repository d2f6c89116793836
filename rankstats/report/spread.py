"""How the queries carry a mean: sorted differences, one system against the other, and what resampling gives."""

from __future__ import annotations

from itertools import pairwise

from rankstats import wording
from rankstats.report.blocks import (
    Block,
    Cell,
    Column,
    Distribution,
    Figure,
    Paragraph,
    Scatter,
    Section,
    Table,
    Waterfall,
)
from rankstats.report.choice import first_of, leading_pairs
from rankstats.report.examples import differences_of
from rankstats.report.source import Pair, Row, Source, ends, level, pair_label
from rankstats.report.texts import label
from rankstats.report.trust import carriers

PAIRS_SHOWN = 3
TENTHS = tuple(i / 10 for i in range(11))


def spread(source: Source) -> Section:
    """Return section 7: the sorted differences of each pair and its scatter."""
    measure = source.primary[0]
    blocks: list[Block] = []
    drawn = leading_pairs(source, measure)[:PAIRS_SHOWN]
    for i, (pair, _) in enumerate(drawn, 1):
        found = differences_of(source, measure, pair)
        if len(found) > 1:
            blocks += [_waterfall(source, measure, pair, found, i), _scatter(source, measure, pair, found, i)]
    left_out = first_of(len(drawn), len(list(source.planned_pairs(measure))), "per_query.csv")
    if blocks and left_out:
        blocks.append(Paragraph(left_out, small=True))
    return Section("spread", "Is the mean carried by a few queries?", tuple(carriers(source) + blocks))


def _waterfall(source: Source, measure: str, pair: Pair, found: list[tuple[int, float]], i: int) -> Figure:
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
    drawing = Waterfall(tuple(ordered), f"difference in {name}", higher)
    return Figure(f"waterfall-{i}", title, told, drawing, table)


def _position(share: float) -> str:
    named = {0.0: "largest", 0.5: "middle", 1.0: "smallest"}
    return named.get(share, f"after {wording.percent(share)}")


def _scatter(source: Source, measure: str, pair: Pair, found: list[tuple[int, float]], i: int) -> Figure:
    a, b = (source.report["values"][system][measure] for system in pair)
    x, y = tuple(a[k] for k, _ in found), tuple(b[k] for k, _ in found)
    higher = source.measures[measure]["higher_is_better"]
    above = sum(d > 0 for _, d in found)
    below = sum(d < 0 for _, d in found)
    told = (
        f"One dot a {source.unit[0]}. Above the diagonal, where {label(pair[1])} has the larger value: {above:,}; "
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
    return Figure(f"scatter-{i}", title, told, Scatter(x, y, pair[0], pair[1], higher), table)


def distributions(source: Source) -> Section:
    """Return section 8: resampled differences with the observed one and its interval."""
    by_id = {row["id"]: row for row in source.report["differences"]}
    found = {row["difference_id"]: row for row in source.report["distributions"]}
    planned = [row["id"] for m in source.primary for _, row in leading_pairs(source, m) if row["id"] in found]
    blocks: list[Block] = [
        _distribution(source, found[key], by_id[key], i) for i, key in enumerate(planned[:PAIRS_SHOWN], 1)
    ]
    return Section("distributions", "What resampling gives", tuple(blocks))


def _distribution(source: Source, row: Row, difference: Row, i: int) -> Figure:
    measure = difference["measure"]
    pair = (difference["baseline"], difference["system"])
    name = source.measure_label(measure)
    title = f"{pair_label(pair)}: bootstrap of the difference in {name}"
    total = sum(row["counts"])
    told = (
        f"{total:,} resamples. Observed {source.signed(measure, difference['difference'])}, "
        f"{level(difference['interval'])} {source.range(measure, difference['interval'])}."
    )
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
