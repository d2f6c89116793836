"""Agreement: between measures, systems and their top lists, and between a ranking and the judges' grades."""

from __future__ import annotations

from collections.abc import Sequence

from rankstats import wording
from rankstats.comparison.agreement_rows import FEW_SYSTEMS
from rankstats.conventions import SMALLEST_VERDICT_N
from rankstats.report.blocks import Block, Cell, Column, Paragraph, Section, Table
from rankstats.report.means import weighted_means
from rankstats.report.rows import without_constants
from rankstats.report.source import Row, Source
from rankstats.report.texts import beginning, natural_key, sentence_list, shown

ROWS_SHOWN = 200
STATISTIC_NAMES = {
    "kendall_tau_b": "Kendall τ-b",
    "spearman": "Spearman ρ",
    "rbo": "RBO",
    "overlap@10": "overlap of the top 10",
    "tau_ap_b": "τ-ap,b",
}
_KINDS = {
    "measures": ("Do the measures order the systems alike?", "measures", "systems"),
    "systems": ("Do two systems find the same queries hard?", "systems", "queries"),
    "lists": ("Do two systems show the same documents?", "systems", "queries"),
    "lists_of_query": ("On which queries do two systems show the most different documents?", "query", ""),
    "grades": ("Does the ranking follow the judges' grades?", "system", "queries"),
}
"""The question of each kind, what its rows are, and what its numbers rest on."""
_ABOUT_LISTS = (
    "Of the first 10 documents. RBO, rank-biased overlap with p = 0.9, is 1 for equal lists and 0 for lists without a "
    "common document; differences near the top weigh more. τ-ap,b compares the order of the documents that both show. "
    "“rankstats agree --runs” compares whole lists, query by query."
)
_ABOUT_GRADES = (
    "Of the judged documents that a system returned, query by query; a query with fewer than two, or with one grade "
    "alone, is not counted."
)
_CORRELATIONS = "Correlations: 1 the same order, 0 none in common, −1 the opposite one."
_UNDEFINED = "“—”: not defined, where all values are tied, fewer than two documents are common, or there is one query."
_TWO = 2
_ONE = {"queries": "query", "systems": "system"}
FEW_WITHOUT = 3
"""Up to so many queries without a common document are listed, of more a pair has their number."""
_BOTH = ("kendall_tau_b", "spearman")


def agreement(source: Source) -> Section:
    """Return section 12: agreement by kind, then weighted beside plain means."""
    rows = source.report["agreement"]
    blocks: list[Block] = []
    for kind in dict.fromkeys(row["kind"] for row in rows):
        blocks += _of_kind(source, kind, [row for row in rows if row["kind"] == kind])
    tables = [block for block in blocks if isinstance(block, Table)]
    if tables:
        blocks.append(Paragraph(_remarks(source, tables), small=True))
    weighted = weighted_means(source)
    heading = "Agreement" if not weighted else "Agreement; weighted and plain means"
    return Section("agreement", heading if rows else "Weighted and plain means", (*blocks, *weighted))


def _remarks(source: Source, tables: Sequence[Table]) -> str:
    keys = {table.key.removeprefix("agreement-") for table in tables}
    remarks = [_CORRELATIONS] if keys - {"lists_of_query"} else []
    if any(cell.text == wording.UNDEFINED for table in tables for row in table.rows for cell in row):
        remarks.append(_UNDEFINED)
    if "measures" in keys and len(source.systems) < FEW_SYSTEMS:
        remarks.append(f"With fewer than {FEW_SYSTEMS} systems few orders exist: agreement of measures is coarse.")
    if any(row["kind"] == "measures" and row["interval"] for row in source.report["agreement"]):
        remarks.append("Intervals of measures: how far another sample of queries could move τ-b.")
    return " ".join(remarks)


def _of_kind(source: Source, kind: str, rows: list[Row]) -> list[Block]:
    """Return the table of a kind with its remarks, or one sentence where a table would say nothing more."""
    question = _KINDS[kind][0] if kind in _KINDS else f"Agreement of {shown(kind, 40)}"
    if kind == "measures" and len(source.systems) == _TWO:
        return [Paragraph(f"{question} {_first_of_two(source, rows)}")]
    if all(row["value"] is None for row in rows):
        return [Paragraph(f"{question} No value is defined here.")]
    remarks = {"lists": [_ABOUT_LISTS], "grades": [_ABOUT_GRADES]}.get(kind, [])
    if kind == "lists_of_query":
        rows, remarks = _worth_listing(rows)
    if not rows:
        return []
    if kind == "systems" and len({tuple(row["what"][1:]) for row in rows}) > 1:
        table = _by_measure(source, rows, question)
    else:
        table = _table(kind, rows, question, [_named(source, kind, tuple(row["what"])) for row in rows])
    if len(table.rows) > ROWS_SHOWN:
        remarks = [f"The first {ROWS_SHOWN} of {len(table.rows):,}; report.json has all of them.", *remarks]
    short = Table(table.key, table.caption, table.columns, table.rows[:ROWS_SHOWN])
    return [short, *([Paragraph(" ".join(remarks), small=True)] if remarks else [])]


def _first_of_two(source: Source, rows: list[Row]) -> str:
    """Say which of two systems each measure puts first: their correlations can be nothing but 1 or −1."""
    by_leader: dict[str, list[str]] = {}
    for measure in dict.fromkeys(name for row in rows for name in row["what"]):
        by_leader.setdefault(_leader(source, measure), []).append(source.measure_label(measure))
    if len(by_leader) == 1 and "" not in by_leader:
        leader, named = next(iter(by_leader.items()))
        every = {1: "The measure puts", _TWO: "Both measures put"}.get(len(named), f"All {len(named)} measures put")
        return f"{every} {shown(leader, 60)} first."
    parts = [
        f"{sentence_list(named)} {'puts' if len(named) == 1 else 'put'} {shown(leader, 60)} first"
        if leader
        else f"on {sentence_list(named)} the means are equal"
        for leader, named in by_leader.items()
    ]
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}." if text.startswith("on ") else f"{text}."


def _leader(source: Source, measure: str) -> str:
    """Return the system with the better mean, nothing where they are equal."""
    rows = [source.overall.get((system, measure)) for system in source.systems]
    means = [None if row is None else source.lead_mean(row) for row in rows]
    return "" if len(set(means)) == 1 or None in means else source.by_mean(measure)[0]


def _worth_listing(rows: list[Row]) -> tuple[list[Row], list[str]]:
    """Return the rows of queries that tell something, and what is said of the rest.

    Left out: pairs of which no listed query has a common document, since the report does not say how many more there
    are; many such queries of one of several pairs, which are counted; a pair that repeats another one, as that of a run
    given twice; and the order of the common documents, of which there are one or two.
    """
    by_pair: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        by_pair.setdefault(tuple(row["what"][1:]), []).append(row)
    kept: list[Row] = []
    counted: list[str] = []
    repeated: list[str] = []
    seen: dict[tuple[object, ...], str] = {}
    for pair, own in by_pair.items():
        named = " and ".join(shown(name, 60) for name in pair)
        overlaps = {row["what"][0]: row["value"] or 0.0 for row in own if row["statistic"] == "rbo"}
        without = {query for query, value in overlaps.items() if value == 0}
        first = seen.setdefault(tuple((row["what"][0], row["statistic"], row["value"]) for row in own), named)
        if len(without) == len(overlaps):
            counted.append(f"{named} {len(without):,} or more")
        elif first != named:
            repeated.append(f"{named}: the same as {first}.")
        else:
            many = len(by_pair) > 1 and len(without) > FEW_WITHOUT
            counted += [f"{named} {len(without):,}"] if many else []
            asked = [r for r in own if r["statistic"] != "tau_ap_b" and not (many and r["what"][0] in without)]
            kept += sorted(asked, key=lambda r: (overlaps.get(r["what"][0], 0.0), natural_key(r["what"][0])))
    told = [f"Queries without any common document: {'; '.join(counted)}."] if counted else []
    return kept, told + repeated


def _table(kind: str, rows: list[Row], caption: str, names: list[tuple[str, str]]) -> Table:
    """One line a comparison, one column a statistic; what all lines share stands in the caption."""
    _, first, counted = _KINDS.get(kind, ("", "what", "n"))
    statistics = tuple(dict.fromkeys(row["statistic"] for row in rows))
    lines: dict[tuple[str, ...], dict[str, Row]] = {}
    about: dict[tuple[str, ...], tuple[str, str]] = {}
    for row, name in zip(rows, names, strict=True):
        lines.setdefault(tuple(row["what"]), {})[row["statistic"]] = row
        about[tuple(row["what"])] = name
    notes = {note for _, note in about.values()}
    shared = notes.pop() if len(notes) == 1 else ""
    columns = (
        Column("measure" if kind == "systems" else first, number=False),
        *(Column(STATISTIC_NAMES.get(name, shown(name, 40))) for name in statistics),
        *([Column(counted)] if counted else []),
    )
    cells = tuple(
        (
            Cell(about[what][0], note="" if shared else about[what][1]),
            *(_value(found.get(name), _rests_on(found), counted) for name in statistics),
            *([Cell(f"{_rests_on(found):,}")] if counted else []),
        )
        for what, found in lines.items()
    )
    kept, body, said = without_constants(columns, cells, (counted,))
    over = f" Over {said[counted]} {counted if said[counted] != '1' else _ONE[counted]}." if counted in said else ""
    caption = f"{caption} {shared}." if shared else caption
    return Table(f"agreement-{kind}" if kind in _KINDS else "agreement-other", caption + over, kept, body)


def _by_measure(source: Source, rows: list[Row], question: str) -> Table:
    """Return the correlations of many pairs of systems with one column a measure, ρ under τ-b."""
    found = {(*row["what"], row["statistic"]): row for row in rows}
    measures = tuple(dict.fromkeys(row["what"][0] for row in rows))
    n = {m: next(row["n"] for row in rows if row["what"][0] == m) for m in measures}
    alike = len(set(n.values())) == 1
    columns = (
        Column("systems", number=False),
        *(Column(source.measure_label(m), note="" if alike else f"n = {n[m]:,}") for m in measures),
    )
    body = tuple(
        (Cell(" and ".join(shown(name, 60) for name in pair)), *(_both(found, (m, *pair)) for m in measures))
        for pair in dict.fromkeys(tuple(row["what"][1:]) for row in rows)
    )
    over = f", over {wording.count(n[measures[0]], 'query', 'queries')}" if alike else ""
    return Table("agreement-systems", f"{question} Kendall τ-b, below Spearman ρ{over}.", columns, body)


def _both(found: dict[tuple[str, ...], Row], what: tuple[str, ...]) -> Cell:
    tau, rho = (_value(row, row["n"], "queries") if (row := found.get((*what, name))) else None for name in _BOTH)
    if tau is None or rho is None or tau.text == wording.UNDEFINED:
        return Cell(wording.UNDEFINED)
    return Cell(tau.text, note=" · ".join(part for part in (rho.text, tau.note) if part), tone=tau.tone)


def _rests_on(found: dict[str, Row]) -> int:
    return int(next(iter(found.values()))["n"])


def _value(row: Row | None, n: int, counted: str) -> Cell:
    """Return a value with its interval; where it rests on another n than its line, or on too few queries, that."""
    if row is None or row["value"] is None:
        return Cell(wording.UNDEFINED)
    few = counted == "queries" and row["n"] < SMALLEST_VERDICT_N
    parts = [] if row["interval"] is None else [_interval(row)]
    parts += [wording.count(row["n"], "query", "queries")] if row["n"] != n and counted == "queries" else []
    parts += ["too few"] if few else []
    return Cell(wording.number(row["value"], _decimals(row)), note=" · ".join(parts), tone="quiet" if few else "")


def _named(source: Source, kind: str, names: tuple[str, ...]) -> tuple[str, str]:
    """Return what a line is about, and what it is about among several; a table of one such names it once."""
    texts = [shown(name, 60) for name in names]
    if kind == "measures":
        return " and ".join(source.measure_label(m) for m in names), ""
    if kind == "systems" and len(names) == 3:
        return source.measure_label(names[0]), f"{texts[1]} and {texts[2]}"
    if kind == "lists_of_query" and len(names) == 3:
        return _query(source, names[0]), f"{texts[1]} and {texts[2]}"
    return (" and " if kind == "lists" else ", ").join(texts), ""


def _query(source: Source, query_id: str) -> str:
    """Return the text of a query, or its id where there is no text."""
    texts = {query["query_id"]: query["attributes"].get("text") for query in source.report["queries"]}
    text = texts.get(query_id)
    return beginning(str(text), 60) if text else shown(query_id, 60)


def _interval(row: Row) -> str:
    return " to ".join(wording.number(row["interval"][end], _decimals(row)) for end in ("low", "high"))


def _decimals(row: Row) -> int:
    """Return two decimals, more where an interval would have no width in them."""
    low, high = (None, None) if row["interval"] is None else (row["interval"]["low"], row["interval"]["high"])
    if low is None or high is None or low == high:
        return 2
    return next((d for d in (2, 3) if round(low, d) != round(high, d)), 4)
