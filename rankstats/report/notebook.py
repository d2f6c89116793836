"""A comparison as a notebook shows it: the answers, the scoreboard and the differences, styled for themselves alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from markupsafe import Markup

from rankstats.report.blocks import Page, Table
from rankstats.report.html import environment, template_text
from rankstats.report.model import page_model

TEMPLATE, STYLE = "notebook.html.j2", "notebook.css"
ROWS_SHOWN = 20


def notebook_html(report: Mapping[str, Any]) -> str:
    """Return a comparison as a fragment of HTML for the output of a notebook's cell.

    It asks for nothing, runs nothing, carries no ids that several outputs could share, and its style reaches nothing
    else of the notebook.

    Parameters
    ----------
    report : mapping
        The content of a report.json, or `Comparison.to_dict()`.
    """
    page = page_model(report)
    answers = [*([page.decision] if page.decision else []), *page.summaries, *page.statements]
    more = page.more_statements.split(":", maxsplit=1)[0]
    return (
        environment()
        .get_template(TEMPLATE)
        .render(page=page, answers=answers, more=f"{more}.", tables=_tables(page), style=Markup(template_text(STYLE)))
    )


def _tables(page: Page) -> list[Table]:
    """Return the scoreboard and the differences on the primary measures, cut to a cell's length."""
    found = []
    for section in page.sections:
        for block in section.blocks:
            table = block if isinstance(block, Table) else getattr(block, "table", None)
            primary = section.key == "pairwise" and not isinstance(block, Table)
            if isinstance(table, Table) and (section.key == "scoreboard" or primary):
                found.append(_cut(table))
    return found


def _cut(table: Table) -> Table:
    if len(table.rows) <= ROWS_SHOWN:
        return table
    caption = f"{table.caption} (the first {ROWS_SHOWN} of {len(table.rows):,} rows)"
    return replace(table, caption=caption, rows=table.rows[:ROWS_SHOWN])
