"""The report: a page model without markup, and what renders it as HTML, Markdown and terminal text.

Names are imported when they are first used: jinja2 and matplotlib are heavy.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankstats.report.folder import json_text, per_query_text, read_report, rendered_files, report_files
    from rankstats.report.html import render_html
    from rankstats.report.markdown import render_markdown
    from rankstats.report.model import page_model
    from rankstats.report.terminal import render_terminal

_HOMES = {
    "json_text": "folder",
    "page_model": "model",
    "per_query_text": "folder",
    "read_report": "folder",
    "render_html": "html",
    "render_markdown": "markdown",
    "render_terminal": "terminal",
    "rendered_files": "folder",
    "report_files": "folder",
}

__all__ = [
    "json_text",
    "page_model",
    "per_query_text",
    "read_report",
    "render_html",
    "render_markdown",
    "render_terminal",
    "rendered_files",
    "report_files",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'rankstats.report' has no attribute {name!r}")
    return getattr(importlib.import_module(f"rankstats.report.{_HOMES[name]}"), name)
