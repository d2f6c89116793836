"""Data health: what was read, what was left out, and what that means."""

from __future__ import annotations

from typing import Any

from rankstats import wording
from rankstats.report import trust
from rankstats.report.blocks import Block, Cell, Column, Paragraph, Section, Table
from rankstats.report.interleaving_sections import log_facts
from rankstats.report.notices import warning_tables
from rankstats.report.rows import share_text
from rankstats.report.source import Row, Source
from rankstats.report.texts import shown

IDS_SHOWN = 5

Fact = tuple[str, str, str]


def health(source: Source) -> Section:
    """Return section 2: warnings, counts of queries, and one row a system."""
    blocks = warning_tables(source)
    blocks += trust.checks(source)
    facts = log_facts(source) or _query_facts(source)
    if facts:
        told = (Column("consequence", number=False),) if any(fact[2] for fact in facts) else ()
        heads = (Column("count of", number=False), Column("number"), *told)
        counted = tuple(tuple(Cell(text) for text in fact[: len(heads)]) for fact in facts)
        caption = {"unit": "Units", "impression": "Rows and impressions"}.get(source.unit[0], "Queries and judgments")
        blocks.append(Table("counts", caption, heads, counted))
    by_system = _system_table(source)
    if by_system:
        blocks.append(by_system)
    remark = _files_remark(source)
    if remark:
        blocks.append(Paragraph(remark, small=True))
    blocks += trust.unjudged(source) + trust.condensed(source) + trust.ties(source)
    if source.report["experiment"]:
        blocks += _experiment_tables(source.report["experiment"])
    return Section("health", "Data health", tuple(blocks))


def _files_remark(source: Source) -> str:
    """Say which files beside the page take a reader further."""
    unjudged = source.report["audit"].get("to_judge")
    if not unjudged:
        return ""
    named = wording.count(unjudged, "document")
    return (
        f"to_judge.tsv beside this page lists the {named} of the top 10 that nobody judged, the most decisive first: "
        "they count as not relevant, so judging them is the way to settle a close verdict."
    )


def _query_facts(source: Source) -> list[Fact]:
    audit = source.report["audit"]
    queries = audit["queries"]
    out: list[Fact] = []
    if queries["judged"] is not None:
        out.append(("judged queries", f"{queries['judged']:,}", ""))
    out.append((f"{source.unit[1]} with values", f"{queries['scored']:,}", ""))
    if queries["without_relevant"]:
        out.append(
            (
                "queries without a relevant document",
                f"{queries['without_relevant']:,}",
                "measures that divide by it are undefined there; left out for all systems alike",
            )
        )
    for measure, n in (audit.get("undefined") or {}).items():
        if n:
            text = f"{source.unit[1]} where {source.measure_label(measure)} is undefined"
            out.append((text, f"{n:,}", "left out for all systems alike"))
    rows = audit.get("rows") or {}
    if rows.get("judgments") is not None:
        out.append(("judgments read", f"{rows['judgments']:,}", ""))
    duplicates = audit["duplicates"].get("judgments")
    if duplicates:
        out.append(("judgments given twice", f"{duplicates:,}", "one grade was taken, see Method"))
    return out + _query_table_facts(source, audit.get("query_table"))


def _query_table_facts(source: Source, table: Row | None) -> list[Fact]:
    if not table:
        return []
    out: list[Fact] = []
    if table.get("rows") is not None:
        by_traffic = any(segment["share_of"] == "traffic" for segment in source.segments)
        consequence = "shares of traffic are taken over all of them" if by_traffic else ""
        out.append(("rows of the query table", f"{table['rows']:,}", consequence))
    if table.get("judged_without_row"):
        out.append(
            ("judged queries not in the query table", f"{table['judged_without_row']:,}", "the segment “(none)”")
        )
    if table.get("rows_without_judgments"):
        out.append(("rows without judgments", f"{table['rows_without_judgments']:,}", "not evaluated"))
    return out


def _system_table(source: Source) -> Table | None:
    audit = source.report["audit"]
    queries = audit["queries"]
    columns: list[tuple[Column, dict[str, Cell]]] = []
    _add(columns, "rows read", {s: f"{n:,}" for s, n in ((audit.get("rows") or {}).get("runs") or {}).items()})
    _add(columns, "missing queries", {s: f"{len(ids):,}" for s, ids in queries["missing"].items()}, _ids(queries))
    _add(columns, "queries without judgments", {s: f"{n:,}" for s, n in queries["unknown"].items()})
    duplicates = audit["duplicates"].get("documents") or {}
    _add(columns, "documents listed twice", {s: f"{n:,}" for s, n in duplicates.items()})
    tied = {s: t for s, t in audit["ties"].items() if isinstance(t, dict)}
    _add(
        columns,
        "tied documents",
        {s: f"{t['documents']:,}" for s, t in tied.items()},
        {s: f"in {wording.count(t['queries'], 'query', 'queries')}" for s, t in tied.items() if t["queries"]},
    )
    for k, shares in audit["unjudged_at"].items():
        _add(columns, f"unjudged in the top {k}", {s: share_text(share) for s, share in shares.items()})
    if not columns:
        return None
    rows = tuple(
        (Cell(shown(s, 60)), *(cells.get(s, Cell(wording.UNDEFINED)) for _, cells in columns)) for s in source.systems
    )
    heads = (Column("system", number=False), *(column for column, _ in columns))
    return Table("systems", "What was read, by system", heads, rows)


def _add(
    columns: list[tuple[Column, dict[str, Cell]]], name: str, texts: dict[str, str], notes: dict[str, str] | None = None
) -> None:
    if texts:
        cells = {s: Cell(text, note=(notes or {}).get(s, "")) for s, text in texts.items()}
        columns.append((Column(name), cells))


def _ids(queries: Row) -> dict[str, str]:
    out = {}
    for system, ids in queries["missing"].items():
        if ids:
            named = ", ".join(shown(q, 24) for q in ids[:IDS_SHOWN])
            more = len(ids) - IDS_SHOWN
            out[system] = named + (f" and {more:,} more" if more > 0 else "")
    return out


def _experiment_tables(experiment: Row) -> list[Block]:
    units: list[dict[str, Any]] = experiment["units"]
    checks = experiment["checks"]
    total = sum(unit["n"] for unit in units)
    out: list[Block] = []
    if units:
        rows = tuple(
            (
                Cell(shown(unit["arm"], 60)),
                Cell(f"{unit['n']:,}"),
                Cell(share_text(unit["n"] / total if total else None)),
                Cell(share_text(unit["designed_share"])),
            )
            for unit in units
        )
        heads = (Column("arm", number=False), Column("units"), Column("share"), Column("designed share"))
        out.append(Table("units", "Units by arm", heads, rows))
    if checks:
        rows = tuple(
            (
                Cell(shown(check.get("question") or check["code"].replace("_", " "), 120)),
                Cell(wording.number(check["statistic"], 2)),
                Cell(wording.p_value(check["p_value"])),
                Cell(check["outcome"]),
            )
            for check in checks
        )
        heads = (Column("check", number=False), Column("statistic"), Column("p"), Column("outcome", number=False))
        out.append(Table("checks", "Checks of the experiment", heads, rows))
    return out
