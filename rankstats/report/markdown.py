"""The report as Markdown: short enough for a pull-request comment or the summary of a CI job."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from rankstats.report.blocks import Cell, Page, Statement, Table
from rankstats.report.model import page_model

LONGEST = 60_000
"""Characters; the services that show such summaries cut or refuse longer ones."""

_TABLES = ("scoreboard", "pairwise", "segments", "interleaving", "outcomes", "health")
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$@!&])")
_LEADING = re.compile(r"^(\s*\d*)([-+=.)])(?=[\s=-]|$)")
"""What makes a list, a rule or a heading of a line that begins with it."""


def render_markdown(report: Mapping[str, Any]) -> str:
    """Return the summary of a report as Markdown, at most `LONGEST` characters.

    Parameters
    ----------
    report : mapping
        The content of a report.json.

    Returns
    -------
    str
        Title, verdicts, warnings, the strip, scoreboard and differences; what does not fit is named, never cut off
        in the middle of a table.
    """
    return page_markdown(page_model(report))


def page_markdown(page: Page) -> str:
    """Return a page of the model as Markdown; see `render_markdown`."""
    parts = [f"# {escaped(page.title)}", escaped(" · ".join(page.facts))]
    parts += _answers(page)
    if any(section.key == "notes" for section in page.sections):
        parts.append("The author's notes are in report.html.")
    return _fitted(parts, _tables(page))


def escaped(text: str) -> str:
    r"""Return a text that Markdown shows as it is, also inside a table.

    Examples
    --------
    >>> escaped("a|b *c* <script>"), escaped("1. a"), escaped("- a")
    ('a\\|b \\*c\\* \\<script\\>', '1\\. a', '\\- a')
    """
    return _LEADING.sub(r"\1\\\2", _SPECIAL.sub(r"\\\1", text))


def _answers(page: Page) -> list[str]:
    parts = [] if page.decision is None else [f"**{escaped(page.decision.headline)}**"]
    if page.rules is not None:
        parts.append(_table(page.rules))
    parts += [_statement(said) for said in (*page.summaries, *page.statements)]
    if page.more_statements:
        parts.append(escaped(page.more_statements))
    if page.notices:
        lines = [f"- {n.mark} **{n.word}:** {escaped(n.full)}" for n in page.notices]
        more = [f"- {escaped(page.more_notices)}"] if page.more_notices else []
        parts.append("\n".join([f"**{escaped(page.notices_heading)}**", "", *lines, *more]))
    return parts


def _statement(said: Statement) -> str:
    return "  \n".join([f"{said.mark} **{escaped(said.headline)}**", *(escaped(line) for line in said.details)])


def _tables(page: Page) -> list[tuple[str, str]]:
    """Return tables with the names by which they are missed, in the order in which they are wanted."""
    by_key = {section.key: section for section in page.sections}
    out: list[tuple[str, str]] = []
    for key in _TABLES:
        if key not in by_key:
            continue
        heading = f"## {escaped(by_key[key].heading)}"
        for block in by_key[key].blocks:
            table = block if isinstance(block, Table) else getattr(block, "table", None)
            if isinstance(table, Table) and not table.key.startswith("warnings"):
                caption = f"**{escaped(table.caption)}**"
                out.append((table.caption, "\n\n".join(part for part in (heading, caption, _table(table)) if part)))
                heading = ""
    return out


def _table(table: Table) -> str:
    heads = [" ".join(part for part in (column.label, column.note) if part) for column in table.columns]
    lines = [_line(escaped(head) for head in heads)]
    lines.append(_line("---:" if column.number else "---" for column in table.columns))
    lines += [_line(_cell(cell) for cell in row) for row in table.rows]
    return "\n".join(lines)


def _line(cells: Any) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(cell: Cell) -> str:
    text = escaped(" ".join(part for part in (cell.mark, cell.badge, cell.text) if part))
    return f"{text} ({escaped(cell.note)})" if cell.note else text


def _fitted(parts: list[str], tables: list[tuple[str, str]]) -> str:
    """Add tables while they fit, and name those that do not."""
    kept = [part for part in parts if part]
    size = sum(len(part) + 2 for part in kept)
    room = LONGEST - 400
    if size > room:
        kept, size = _shortened(kept, room)
    left_out = 0
    for _, text in tables:
        if size + len(text) + 2 <= room:
            kept.append(text)
            size += len(text) + 2
        else:
            left_out += 1
    if left_out:
        kept.append(f"{left_out} more tables are in report.html.")
    return "\n\n".join(kept) + "\n"


def _shortened(parts: list[str], room: int) -> tuple[list[str], int]:
    kept: list[str] = []
    size = 0
    for part in parts:
        if size + len(part) + 2 > room:
            kept.append("More is in report.html.")
            break
        kept.append(part)
        size += len(part) + 2
    return kept, size
