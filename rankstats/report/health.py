"""Data health: what was read, what was left out, and what that means."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from rankstats import wording
from rankstats.report import trust
from rankstats.report.blocks import Block, Cell, Column, Paragraph, Section, Table
from rankstats.report.interleaving_sections import log_facts
from rankstats.report.notices import warning_tables
from rankstats.report.rows import decimals_of_shares, share_text
from rankstats.report.source import Row, Source
from rankstats.report.texts import capital, natural_key, shown

IDS_SHOWN = 5

BOTH = 2
CHECKS_IN_SIGHT = 12
_MORE = re.compile(r" \([\d,]+ more among the warnings\)$")
CHECKS_OF = {"unit": "Checks of the experiment", "impression": "Checks of the log"}

_NOTHING = {
    "missing queries": "no query missing",
    "queries without judgments": "none without judgments",
    "documents listed twice": "no document listed twice",
    "tied documents": "no tied scores",
}
"""What a column of the systems says that is 0 throughout."""

Fact = tuple[str, str, str]


def health(source: Source) -> Section:
    """Return section 2: warnings, counts of queries, and one row a system."""
    blocks = warning_tables(source)
    blocks += _checks(source)
    facts = log_facts(source) or _query_facts(source)
    # the header of the page says how many units there are
    if facts and (len(facts) > 1 or not source.report["experiment"]):
        told = (Column("consequence", number=False),) if any(fact[2] for fact in facts) else ()
        heads = (Column("count of", number=False), Column("number"), *told)
        counted = tuple(tuple(Cell(text) for text in fact[: len(heads)]) for fact in facts)
        caption = {"unit": "Units", "impression": "Rows and impressions"}.get(source.unit[0], "Queries")
        caption += " and judgments" if caption == "Queries" and _with_judgments(source) else ""
        blocks.append(Table("counts", caption, heads, counted))
    blocks += _system_table(source)
    blocks += [Paragraph(remark, small=True) for remark in (_of_what(source), _files_remark(source)) if remark]
    blocks += trust.unjudged(source) + trust.condensed(source) + trust.ties(source)
    if source.report["experiment"]:
        blocks += _units(source.report["experiment"]["units"])
    return Section("health", "Data health", tuple(blocks))


def _checks(source: Source) -> list[Block]:
    """Return the table of all checks; the few of an experiment or a log are in sight."""
    found = [_without_repeats(source, b) if isinstance(b, Table) else b for b in trust.checks(source)]
    if source.unit[0] == "query":
        return found
    told = [_in_sight(source, block) if isinstance(block, Table) else block for block in found]
    return told or _bare_checks((source.report["experiment"] or {}).get("checks") or [])


def _without_repeats(source: Source, table: Table) -> Table:
    """Return the table of checks without the sentences that stand among the warnings above it."""
    warned = {row["message"] for row in source.report["warnings"]}
    rows = tuple(
        tuple(Cell("as said above", tone="quiet") if _MORE.sub("", cell.text) in warned else cell for cell in row)
        for row in table.rows
    )
    return replace(table, rows=rows)


def _in_sight(source: Source, table: Table) -> Table:
    caption = CHECKS_OF.get(source.unit[0], table.caption)
    return replace(table, caption=caption, folded=len(table.rows) > CHECKS_IN_SIGHT)


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
    queries, judged = audit["queries"], _with_judgments(source)
    out: list[Fact] = []
    if queries["judged"] is not None and not judged:
        out += [] if queries["judged"] == queries["scored"] else [("queries", f"{queries['judged']:,}", "")]
    elif queries["judged"] is not None:
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
    if rows.get("scores") is not None:
        out.append(("rows of scores read", f"{rows['scores']:,}", ""))
    if rows.get("judgments") is not None and judged:
        out.append(("judgments read", f"{rows['judgments']:,}", ""))
    duplicates = audit["duplicates"].get("judgments")
    if duplicates:
        out.append(("judgments given twice", f"{duplicates:,}", "one grade was taken, see Method"))
    return out + _query_table_facts(source, audit.get("query_table"))


def _with_judgments(source: Source) -> bool:
    """Return whether judgments were read: of ready-made values nothing is known about them."""
    formats = source.report["audit"].get("formats") or {}
    return "scores" not in formats or "judgments" in formats


def _query_table_facts(source: Source, table: Row | None) -> list[Fact]:
    if not table:
        return []
    out: list[Fact] = []
    if table.get("rows") is not None:
        by_traffic = any(segment["share_of"] == "traffic" for segment in source.segments)
        consequence = "shares of traffic are taken over all of them" if by_traffic else ""
        out.append(("rows of the query table", f"{table['rows']:,}", consequence))
    judged = _with_judgments(source)
    if table.get("judged_without_row"):
        named = f"{'judged ' if judged else ''}queries not in the query table"
        out.append((named, f"{table['judged_without_row']:,}", "the segment “(none)”"))
    if table.get("rows_without_judgments"):
        named = f"rows of it without {'judgments' if judged else 'values'}"
        out.append((named, f"{table['rows_without_judgments']:,}", "not evaluated"))
    return out


def _system_table(source: Source) -> list[Block]:
    """Return a row a system of what was read; what is 0 for all systems is said in a sentence."""
    audit = source.report["audit"]
    queries = audit["queries"]
    columns: list[tuple[Column, dict[str, Cell]]] = []
    _add(columns, "rows read", {s: f"{n:,}" for s, n in ((audit.get("rows") or {}).get("runs") or {}).items()})
    _add(columns, "missing queries", {s: f"{len(ids):,}" for s, ids in queries["missing"].items()}, _ids(queries))
    if _with_judgments(source):
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
        unjudged = {s: share_text(share, decimals_of_shares(shares.values())) for s, share in shares.items()}
        _add(columns, f"unjudged in the top {k}", unjudged, note="of the documents listed")
    nothing = [_NOTHING[c.label] for c, cells in columns if c.label in _NOTHING and _all_zero(source, cells)]
    columns = [(c, cells) for c, cells in columns if c.label not in _NOTHING or not _all_zero(source, cells)]
    number = len(source.systems)
    of_all = "" if number == 1 else "For both systems: " if number == BOTH else f"For all {number:,} systems: "
    said: list[Block] = [Paragraph(capital(f"{of_all}{', '.join(nothing)}."), small=True)] if nothing else []
    if not columns:
        return said
    rows = tuple(
        (Cell(shown(s, 60)), *(cells.get(s, Cell(wording.UNDEFINED)) for _, cells in columns)) for s in source.systems
    )
    heads = (Column("system", number=False), *(column for column, _ in columns))
    return [Table("systems", "What was read, by system", heads, rows), *said]


def _all_zero(source: Source, cells: dict[str, Cell]) -> bool:
    return len(cells) == len(source.systems) and all(cell.text == "0" for cell in cells.values())


def _of_what(source: Source) -> str:
    """Say of what the unjudged shares are, where a measure of the same name counts queries instead."""
    lacking = any(source.report["audit"]["queries"]["missing"].values())
    named = [
        f"Judged@{depth}" for depth in source.report["audit"]["unjudged_at"] if f"Judged@{depth}" in source.measures
    ]
    if not named:
        return ""
    told = f"Unjudged is a share of all documents listed; {named[0]} is a mean over queries"
    return f"{told}, to which a missing query adds 0." if lacking else f"{told}."


def _add(
    columns: list[tuple[Column, dict[str, Cell]]],
    name: str,
    texts: dict[str, str],
    notes: dict[str, str] | None = None,
    *,
    note: str = "",
) -> None:
    if texts:
        cells = {s: Cell(text, note=(notes or {}).get(s, "")) for s, text in texts.items()}
        columns.append((Column(name, note=note), cells))


def _ids(queries: Row) -> dict[str, str]:
    out = {}
    for system, ids in queries["missing"].items():
        if ids:
            named = ", ".join(shown(q, 24) for q in sorted(ids, key=natural_key)[:IDS_SHOWN])
            more = len(ids) - IDS_SHOWN
            out[system] = named + (f" and {more:,} more" if more > 0 else "")
    return out


def _units(units: list[dict[str, Any]]) -> list[Block]:
    """Compare the arms' shares with the design, as exactly as the check of the sample ratio does."""
    if not units:
        return []
    total = sum(unit["n"] for unit in units)
    rows = tuple(
        (
            Cell(shown(unit["arm"], 60)),
            Cell(f"{unit['n']:,}"),
            Cell(wording.percent(unit["n"] / total if total else None, 2)),
            Cell(wording.percent(unit["designed_share"], 2)),
        )
        for unit in units
    )
    heads = (Column("arm", number=False), Column("units"), Column("share"), Column("designed share"))
    return [Table("units", "Units by arm", heads, rows)]


def _bare_checks(checks: list[Row]) -> list[Block]:
    """Return the checks of a report that does not say what each of them found."""
    if not checks:
        return []
    rows = tuple(
        (
            Cell(shown(check.get("question") or check["code"].replace("_", " "), 120)),
            Cell(wording.p_value(check["p_value"])),
            Cell(check["outcome"]),
        )
        for check in checks
    )
    heads = (Column("check", number=False), Column("p"), Column("outcome", number=False))
    return [Table("checks", CHECKS_OF["unit"], heads, rows)]
