"""The files of a report folder, as texts; `rankstats.output` writes them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rankstats.comparison import Comparison
from rankstats.errors import InputError, PlanError, did_you_mean
from rankstats.report.choice import PAIRS_FILE, is_cut
from rankstats.report.delimited import delimited_text
from rankstats.report.html import page_html
from rankstats.report.latex import render_latex
from rankstats.report.markdown import page_markdown
from rankstats.report.model import page_model
from rankstats.report.source import Source
from rankstats.report.tables import FlatTable, csv_text, flat_tables, parquet_bytes
from rankstats.tables import Source as FileSource

LONGEST_NOTES = 1_000_000
"""Bytes of the author's notes."""


def report_files(
    comparison: Comparison,
    *,
    notes: str | None = None,
    titles: Mapping[str, str] | None = None,
    sources: Sequence[FileSource] = (),
    report: Mapping[str, Any] | None = None,
) -> dict[str, str]:
    """Return all files of a comparison's folder by name, the page first.

    Parameters
    ----------
    comparison : Comparison
        What was computed.
    notes : str, optional
        The author's notes in Markdown.
    titles : mapping of str to str, optional
        Titles of documents by their ids, for the lists that are shown.
    sources : sequence of Source, optional
        The files that the titles came from; they join the inputs of the report.
    report : mapping, optional
        What `annotated` made of the comparison, where it is at hand; notes and titles are in it.

    Returns
    -------
    dict of str to str
        ``report.html``, ``report.json``, ``summary.md``, ``per_query.csv``, ``pairs.csv`` where there are more
        comparisons than the page lists and, where runs were read, ``to_judge.tsv``.
    """
    if report is None:
        report = annotated(comparison.to_dict(), notes=notes, titles=titles, sources=sources)
    files = rendered_files(report)
    files["report.json"] = json_text(report)
    if report["audit"]["unjudged_at"]:
        files["to_judge.tsv"] = delimited_text(
            ("query_id", "doc_id", "systems", "best_rank"),
            ((row.query_id, row.doc_id, ",".join(row.systems), row.best_rank) for row in comparison.to_judge),
            "\t",
        )
    return files


def annotated(
    report: Mapping[str, Any],
    *,
    notes: str | None = None,
    titles: Mapping[str, str] | None = None,
    sources: Sequence[FileSource] = (),
) -> dict[str, Any]:
    """Return a report with what its author knows of it, so that report.json holds all that the page shows.

    Parameters
    ----------
    report : mapping
        The content of a report.json; it is not changed.
    notes : str, optional
        Markdown; kept under ``notes``.
    titles : mapping of str to str, optional
        Titles by document id; kept as ``title`` of the listed documents that have one.
    sources : sequence of Source, optional
        The files that the titles came from; they join ``reproduction.inputs``.

    Examples
    --------
    >>> report = {"lists": [{"query_id": "q", "system": "a", "docs": [{"doc_id": "d1", "rank": 1, "grade": None}]}]}
    >>> annotated(report, titles={"d1": "Lamp"})["lists"][0]["docs"]
    [{'doc_id': 'd1', 'rank': 1, 'grade': None, 'title': 'Lamp'}]
    """
    found = dict(report)
    if notes is not None:
        found["notes"] = notes
    if titles is not None:
        found["lists"] = [
            {**row, "docs": [_titled(doc, titles.get(doc["doc_id"])) for doc in row["docs"]]} for row in report["lists"]
        ]
    if sources:
        read = [{"name": source.name, "sha256": source.sha256, "bytes": source.size} for source in sources]
        made = report["reproduction"]
        found["reproduction"] = {**made, "inputs": [*made["inputs"], *read]}
    return found


def _titled(doc: Mapping[str, Any], title: str | None) -> dict[str, Any]:
    return dict(doc) if title is None else {**doc, "title": title}


def rendered_files(report: Mapping[str, Any]) -> dict[str, str]:
    """Return the files that can be made from report.json alone, the page first."""
    page = page_model(report)
    if report["kind"] == "interleaving":
        tables = flat_tables(report)
        named = {f"{name}.csv": csv_text(tables[name]) for name in ("pairs", "segments") if name in tables}
        return {"report.html": page_html(page), "summary.md": page_markdown(page), **named}
    files = {
        "report.html": page_html(page),
        "summary.md": page_markdown(page),
        "per_query.csv": per_query_text(report),
    }
    if is_cut(Source(report)):
        files[PAIRS_FILE] = csv_text(flat_tables(report)["pairs"])
    return files


def json_text(report: Mapping[str, Any]) -> str:
    """Return report.json: UTF-8, one line a top-level list item, no NaN."""
    lines = []
    for key, value in report.items():
        if isinstance(value, list) and value and isinstance(value[0], dict | list):
            items = ",\n".join("  " + _compact(item) for item in value)
            lines.append(f" {json.dumps(key)}: [\n{items}\n ]")
        else:
            lines.append(f" {json.dumps(key)}: {_compact(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(", ", ": "))


TABLE_FORMATS = ("csv", "parquet", "latex")

_COLUMNS = ("query_id", "system", "measure", "value", "weight")
"""Columns of per_query.csv that no attribute may be called."""


def per_query_table(report: Mapping[str, Any]) -> FlatTable:
    """Return the values of all queries: query_id, system, measure, value, weight, then the attributes."""
    names: list[str] = []
    for query in report["queries"]:
        names += [name for name in query["attributes"] if name not in names]
    header: list[str] = []
    for name in names:
        taken = {*_COLUMNS, *header, *names}
        free = name
        while free in taken - {name} or (free == name and name in _COLUMNS):
            free += "_"
        header.append(free)
    rows = (
        (
            query["query_id"],
            system["name"],
            measure["name"],
            report["values"][system["name"]][measure["name"]][q],
            query["weight"],
            *(query["attributes"].get(name) for name in names),
        )
        for q, query in enumerate(report["queries"])
        for system in report["systems"]
        for measure in report["measures"]
    )
    return FlatTable((*_COLUMNS, *header), tuple(rows))


def per_query_text(report: Mapping[str, Any]) -> str:
    """Return per_query.csv, which reads back exactly."""
    return csv_text(per_query_table(report))


def table_files(report: Mapping[str, Any], formats: Sequence[str] = ("csv", "latex")) -> dict[str, str | bytes]:
    """Return the tables of a report as files of their own, by name.

    Parameters
    ----------
    report : mapping
        The content of a report.json.
    formats : sequence of str
        Out of 'csv' and 'parquet' (one file a table, exact values) and 'latex' (``tables.tex``, as on the page).

    Raises
    ------
    PlanError
        If a format is another one.
    """
    for name in formats:
        if name not in TABLE_FORMATS:
            known = ", ".join(TABLE_FORMATS)
            raise PlanError(f"{name!r} is no format of tables ({known})" + did_you_mean(name, TABLE_FORMATS))
    files: dict[str, str | bytes] = {}
    if set(formats) & {"csv", "parquet"}:
        for name, table in {**flat_tables(report), "per_query": per_query_table(report)}.items():
            if "csv" in formats:
                files[f"{name}.csv"] = csv_text(table)
            if "parquet" in formats:
                files[f"{name}.parquet"] = parquet_bytes(table)
    if "latex" in formats:
        files["tables.tex"] = render_latex(report)
    return files


def read_notes(path: str | Path) -> str:
    """Read the author's notes.

    Raises
    ------
    InputError
        If the file cannot be read, is not UTF-8 text, or is larger than `LONGEST_NOTES` bytes.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"cannot read: {error.strerror}", path) from error
    if len(data) > LONGEST_NOTES:
        raise InputError(f"has {len(data):,} bytes; notes may have {LONGEST_NOTES:,}", path)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError("is not UTF-8 text; notes are Markdown in UTF-8", path) from error


def read_report(path: str | Path) -> dict[str, Any]:
    """Read a report.json.

    Raises
    ------
    InputError
        If the file cannot be read, is not JSON, or is not a report of a known schema version.
    """
    try:
        report = json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"cannot read: {error.strerror}", path) from error
    except UnicodeDecodeError as error:
        raise InputError("is not UTF-8 text; a report.json of rankstats is expected", path) from error
    except (RecursionError, OverflowError) as error:
        raise InputError("is nested too deeply; a report.json of rankstats is expected", path) from error
    except json.JSONDecodeError as error:
        raise InputError(f"is not JSON: {error.msg}", path, error.lineno) from error
    except ValueError as error:
        raise InputError(f"holds a number that cannot be read: {error}", path) from error
    if not isinstance(report, dict) or report.get("schema_version") != "1" or "differences" not in report:
        raise InputError("is not a report.json of rankstats (schema_version '1')", path)
    return report
