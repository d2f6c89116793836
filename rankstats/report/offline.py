"""Offline against online: what the comparison of the same launch said, beside the experiment."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from rankstats import wording
from rankstats.report.blocks import Block, Cell, Column, Paragraph, Section, Table
from rankstats.report.source import Row, Source, ends
from rankstats.report.texts import shown

_DIRECTIONS = {1: "same", -1: "opposite", 0: "none"}
_STATISTICS = {
    "same_direction_share": "same direction",
    "kendall_tau_b": "Kendall τ-b",
    "spearman_rho": "Spearman ρ",
    "pearson_r": "Pearson r",
}


def offline(source: Source) -> Section:
    """Return the section; without blocks where no offline report was given."""
    found = source.report.get("offline")
    heading = "Offline against online"
    if not found:
        return Section("offline", heading, ())
    blocks: list[Block] = [Paragraph(found["answer"]), _side_by_side(found["rows"])]
    agreement = [row for row in found["rows"] if row["kind"] == "online_segments"]
    if agreement:
        blocks.append(_agreement(agreement))
    blocks += [Paragraph(f"{note[0].upper()}{note[1:]}.", small=True) for note in found["notes"]]
    return Section("offline", heading, tuple(blocks))


def _side_by_side(rows: Sequence[Row]) -> Table:
    columns = (
        Column("where", number=False), Column("compared", number=False), Column("offline"), Column("n offline"),
        Column("online"), Column("n online"), Column("direction", number=False),
    )  # fmt: skip
    cells: dict[tuple[str, str], dict[str, Row]] = {}
    for row in rows:
        if row["kind"] == "side_by_side":
            cells.setdefault((row["segment"], row["pair"]), {})[row["statistic"]] = row
    body = tuple(
        (
            Cell("everywhere" if segment == "all" else shown(segment, 60)),
            Cell(shown(pair, 80)),
            *_effect(found["offline_difference"]),
            *_effect(found["online_difference"]),
            _direction(found),
        )
        for (segment, pair), found in cells.items()
    )
    return Table("offline-online", "Differences offline and online, each with its interval", columns, body)


def _effect(row: Row) -> tuple[Cell, Cell]:
    both = ends(row["interval"])
    width = both[1] - both[0] if both else math.inf
    decimals = wording.decimals_for(width / 4 if math.isfinite(width) else None)
    interval = "" if both is None else wording.interval(row["interval"]["low"], row["interval"]["high"], decimals)
    return Cell(wording.signed(row["value"], decimals), note=interval), Cell(f"{row['n']:,}")


def _direction(found: Mapping[str, Row]) -> Cell:
    value = found["same_direction"]["value"]
    if value is None:
        return Cell(wording.UNDEFINED)
    both = [ends(found[f"{side}_difference"]["interval"]) for side in ("offline", "online")]
    shown_both = all(interval is not None and not interval[0] <= 0 <= interval[1] for interval in both)
    return Cell(_DIRECTIONS[int(value)], note="both shown" if shown_both else "")


def _agreement(rows: Sequence[Row]) -> Table:
    by_attribute: dict[tuple[str, str], dict[str, Row]] = {}
    for row in rows:
        by_attribute.setdefault((row["segment"], row["pair"]), {})[row["statistic"]] = row
    columns = (
        Column("over the segments of", number=False),
        Column("compared", number=False),
        *(Column(name) for name in _STATISTICS.values()),
        Column("segments"),
    )
    body = tuple(
        (
            Cell(shown(attribute, 60)),
            Cell(shown(pair, 80)),
            *(_value(found[name]) for name in _STATISTICS),
            Cell(f"{found['kendall_tau_b']['n']:,}"),
        )
        for (attribute, pair), found in by_attribute.items()
    )
    return Table("offline-agreement", "Do the segments agree?", columns, body)


def _value(row: Row) -> Cell:
    both = row["interval"]
    note = "" if both is None else " to ".join(wording.number(both[end], 2) for end in ("low", "high"))
    return Cell(wording.number(row["value"], 2), note=note)
