"""Who carries a mean: medians and trimmed means beside it, and the queries that move it most."""

from __future__ import annotations

from rankstats import wording
from rankstats.report.answers import carried_answer
from rankstats.report.blocks import Block, Cell, Column, Paragraph, Table
from rankstats.report.choice import limited
from rankstats.report.order import told_first
from rankstats.report.source import Row, Source
from rankstats.report.texts import label, shown
from rankstats.report.tones import TOO_FEW
from rankstats.report.trust import claim_cell


def carriers(source: Source) -> list[Block]:
    """Return whether few queries carry a mean, and a row a claim: median and trimmed mean, and who carries it."""
    rows = {row["difference_id"]: row for row in source.report.get("robustness") or []}
    about = [row for row in source.report["differences"] if row["id"] in rows and source.tone(row) != TOO_FEW]
    measures = dict.fromkeys(row["measure"] for row in about)
    ordered = [row for m in measures for row in told_first(source, [row for row in about if row["measure"] == m])]
    kept, left_out = limited(source, ordered)
    found = [(rows[row["id"]], row) for row in kept]
    if not found:
        return []
    trim = wording.percent(found[0][0]["trim"])
    columns = (
        Column("comparison", number=False),
        Column("mean"),
        Column("median"),
        Column("trimmed mean", note=f"{trim} off each end"),
        Column("half of the gains (losses) from", number=False),
        Column(f"strongest {source.unit[1]}", number=False, note="id (difference)"),
    )
    body = tuple(_carrier_cells(source, row, difference) for row, difference in found)
    table = Table("carriers", "How many queries carry the difference", columns, body)
    answer = carried_answer(source, [(rows[row["id"]], row) for row in ordered])
    above = [Paragraph(answer)] if answer else []
    return [*above, table, *([Paragraph(left_out, small=True)] if left_out else [])]


def _carrier_cells(source: Source, row: Row, difference: Row) -> tuple[Cell, ...]:
    measure = difference["measure"]
    half = "gains and losses are equal"
    if row["side"] is not None:
        side = row["side"] if row["movers"] == 1 else {"gain": "gains", "loss": "losses"}[row["side"]]
        half = f"{row['half']:,} of {source.n_text(row['movers'])} with {side}"
    named = ", ".join(_carrier(source, difference, carrier) for carrier in row["carriers"][:3])
    return (
        claim_cell(source, difference),
        Cell(source.signed(measure, difference["difference"])),
        Cell(source.signed(measure, row["median"])),
        Cell(source.signed(measure, row["trimmed_mean"])),
        Cell(half),
        Cell(named),
    )


def _carrier(source: Source, difference: Row, carrier: Row) -> str:
    """Return a query and its difference, held together; of one that a system does not have, also that."""
    size = source.signed(difference["measure"], carrier["difference"])
    missing = source.report["audit"]["queries"]["missing"]
    without = [s for s in (difference["baseline"], difference["system"]) if carrier["query_id"] in missing.get(s, ())]
    told = "".join(f", {label(system, 24)} missing" for system in without)
    return f"{shown(carrier['query_id'], 24)}\N{NO-BREAK SPACE}({size}{told})"
