"""Agreement: between measures, systems and their top lists, and between a ranking and the judges' grades."""

from __future__ import annotations

from dataclasses import replace

from rankstats import wording
from rankstats.comparison.agreement_rows import FEW_SYSTEMS
from rankstats.report.blocks import Block, Cell, Column, Paragraph, Section, Table
from rankstats.report.means import weighted_means
from rankstats.report.source import Row, Source
from rankstats.report.texts import shown

ROWS_SHOWN = 200
STATISTIC_NAMES = {
    "kendall_tau_b": "Kendall τ-b",
    "spearman": "Spearman ρ",
    "rbo": "RBO",
    "overlap@10": "overlap of the top 10",
    "tau_ap_b": "τ-ap,b",
}
_KINDS = {
    "measures": ("Do the measures order the systems alike?", "systems"),
    "systems": ("Do two systems find the same queries hard?", "queries"),
    "lists": ("Do two systems show the same documents?", "queries"),
    "lists_of_query": ("On which queries do two systems show the most different documents?", "documents compared"),
    "grades": ("Does the ranking follow the judges' grades?", "queries"),
}
_ABOUT_LISTS = (
    "Of the first 10 documents. RBO, rank-biased overlap with p = 0.9, is 1 for equal lists and 0 for lists without a "
    "common document; differences near the top weigh more. τ-ap,b compares the order of the documents that both show. "
    "“rankstats agree --runs” compares whole lists, query by query."
)


def agreement(source: Source) -> Section:
    """Return section 12: agreement by kind, then weighted beside plain means."""
    blocks: list[Block] = []
    rows = source.report["agreement"]
    for kind in dict.fromkeys(row["kind"] for row in rows):
        table = _table(source, kind, [row for row in rows if row["kind"] == kind])
        blocks.append(replace(table, rows=table.rows[:ROWS_SHOWN]))
        if len(table.rows) > ROWS_SHOWN:
            remark = f"The first {ROWS_SHOWN} of {len(table.rows):,}; report.json has all of them."
            blocks.append(Paragraph(remark, small=True))
    if any(row["kind"] == "lists" for row in rows):
        blocks.append(Paragraph(_ABOUT_LISTS, small=True))
    if blocks:
        remark = "Correlations: 1 the same order, 0 none in common, −1 the opposite one; “—” where all values are tied."
        if len(source.systems) < FEW_SYSTEMS and any(row["kind"] == "measures" for row in rows):
            remark += f" With fewer than {FEW_SYSTEMS} systems few orders exist: agreement of measures is coarse."
        if any(row["kind"] == "measures" and row["interval"] for row in rows):
            remark += " Intervals of measures: how far another sample of queries could move τ-b."
        blocks.append(Paragraph(remark, small=True))
    weighted = weighted_means(source)
    heading = "Agreement" if not weighted else "Agreement; weighted and plain means"
    return Section("agreement", heading if rows else "Weighted and plain means", (*blocks, *weighted))


def _table(source: Source, kind: str, rows: list[Row]) -> Table:
    """One line a comparison, one column a statistic."""
    caption, counted = _KINDS.get(kind, (f"Agreement of {shown(kind, 40)}", "n"))
    statistics = tuple(dict.fromkeys(row["statistic"] for row in rows))
    by_what: dict[tuple[str, ...], dict[str, Row]] = {}
    for row in rows:
        by_what.setdefault(tuple(row["what"]), {})[row["statistic"]] = row
    columns = (
        Column("what", number=False),
        *(Column(STATISTIC_NAMES.get(name, shown(name, 40))) for name in statistics),
        Column(counted),
    )
    body = tuple(
        (
            Cell(_what(source, kind, what)),
            *(_value(found.get(name)) for name in statistics),
            Cell(f"{next(iter(found.values()))['n']:,}"),
        )
        for what, found in by_what.items()
    )
    return Table(f"agreement-{kind}" if kind in _KINDS else "agreement-other", caption, columns, body)


def _value(row: Row | None) -> Cell:
    if row is None:
        return Cell(wording.UNDEFINED)
    interval = "" if row["interval"] is None else _interval(row)
    return Cell(wording.number(row["value"], 2), note=interval)


def _what(source: Source, kind: str, names: tuple[str, ...]) -> str:
    if kind == "measures":
        return " and ".join(source.measure_label(m) for m in names)
    if kind in ("systems", "lists_of_query") and len(names) == 3:
        about = source.measure_label(names[0]) if kind == "systems" else f"query {_query(source, names[0])}"
        return f"{shown(names[1], 60)} and {shown(names[2], 60)}, {about}"
    if kind == "lists":
        return " and ".join(shown(name, 60) for name in names)
    return ", ".join(shown(name, 60) for name in names)


def _query(source: Source, query_id: str) -> str:
    """Return the text of a query, or its id where there is no text."""
    texts = {query["query_id"]: query["attributes"].get("text") for query in source.report["queries"]}
    text = texts.get(query_id)
    return f"“{shown(str(text), 60)}”" if text else shown(query_id, 60)


def _interval(row: Row) -> str:
    return " to ".join(wording.number(row["interval"][end], 2) for end in ("low", "high"))
