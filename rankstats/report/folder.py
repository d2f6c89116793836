"""The files of a report folder, as texts; `rankstats.output` writes them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rankstats.comparison import Comparison
from rankstats.errors import InputError
from rankstats.report.delimited import delimited_text
from rankstats.report.html import render_html
from rankstats.report.markdown import render_markdown


def report_files(comparison: Comparison) -> dict[str, str]:
    """Return all files of a comparison's folder by name, the page first.

    Parameters
    ----------
    comparison : Comparison
        What was computed.

    Returns
    -------
    dict of str to str
        ``report.html``, ``report.json``, ``summary.md``, ``per_query.csv`` and, where runs were read,
        ``to_judge.tsv``.
    """
    report = comparison.to_dict()
    files = rendered_files(report)
    files["report.json"] = json_text(report)
    files["per_query.csv"] = per_query_text(report)
    if report["audit"]["unjudged_at"]:
        files["to_judge.tsv"] = delimited_text(
            ("query_id", "doc_id", "systems", "best_rank"),
            ((row.query_id, row.doc_id, ",".join(row.systems), row.best_rank) for row in comparison.to_judge),
            "\t",
        )
    return files


def rendered_files(report: Mapping[str, Any]) -> dict[str, str]:
    """Return the files that can be made from report.json alone: the page and the Markdown summary."""
    return {"report.html": render_html(report), "summary.md": render_markdown(report)}


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


_COLUMNS = ("query_id", "system", "measure", "value", "weight")
"""Columns of per_query.csv that no attribute may be called."""


def per_query_text(report: Mapping[str, Any]) -> str:
    """Return per_query.csv: query_id, system, measure, value, weight, then the attributes."""
    names: list[str] = []
    for query in report["queries"]:
        names += [name for name in query["attributes"] if name not in names]
    header: list[str] = []
    for name in names:
        taken = {"query_id", "system", "measure", "value", "weight", *header, *names}
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
    return delimited_text(("query_id", "system", "measure", "value", "weight", *header), rows)


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
