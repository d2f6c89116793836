"""The report: a page model without markup, and what renders it as HTML, Markdown, LaTeX, tables and terminal text.

Names are imported when they are first used: jinja2 and matplotlib are heavy.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankstats.report.figures_files import figure_files
    from rankstats.report.folder import (
        annotated,
        json_text,
        per_query_table,
        per_query_text,
        read_notes,
        read_report,
        rendered_files,
        report_files,
        table_files,
    )
    from rankstats.report.html import render_html
    from rankstats.report.latex import render_latex
    from rankstats.report.markdown import render_markdown
    from rankstats.report.model import page_model
    from rankstats.report.notebook import notebook_html
    from rankstats.report.terminal import render_terminal, verdict_lines

_HOMES = {
    "annotated": "folder",
    "figure_files": "figures_files",
    "json_text": "folder",
    "notebook_html": "notebook",
    "page_model": "model",
    "per_query_table": "folder",
    "per_query_text": "folder",
    "read_notes": "folder",
    "read_report": "folder",
    "render_html": "html",
    "render_latex": "latex",
    "render_markdown": "markdown",
    "render_terminal": "terminal",
    "rendered_files": "folder",
    "report_files": "folder",
    "table_files": "folder",
    "verdict_lines": "terminal",
}

__all__ = [
    "annotated",
    "figure_files",
    "json_text",
    "notebook_html",
    "page_model",
    "per_query_table",
    "per_query_text",
    "read_notes",
    "read_report",
    "render_html",
    "render_latex",
    "render_markdown",
    "render_terminal",
    "rendered_files",
    "report_files",
    "table_files",
    "verdict_lines",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'rankstats.report' has no attribute {name!r}")
    return getattr(importlib.import_module(f"rankstats.report.{_HOMES[name]}"), name)
