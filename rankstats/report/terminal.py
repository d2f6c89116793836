"""The report as plain lines for a terminal or a pipe: the verdict first, then scoreboard, differences and warnings."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from rankstats.report.blocks import Notice, Table
from rankstats.report.choice import leading_pairs, listed
from rankstats.report.interleaving_sections import in_words_of_interleaving
from rankstats.report.means import order_of_systems, scoreboard
from rankstats.report.notices import notices
from rankstats.report.rows import difference_cells, difference_columns
from rankstats.report.rules import decision
from rankstats.report.source import Source
from rankstats.report.summaries import summaries
from rankstats.report.texts import whole
from rankstats.report.texts import width as wide
from rankstats.report.tones import WORDS
from rankstats.report.verdict import (
    SINGLED_OUT,
    heterogeneity_words,
    segment_rows,
    statements,
)

_ASCII = str.maketrans(
    {
        "\N{MINUS SIGN}": "-",
        "\N{NO-BREAK SPACE}": " ",
        "\N{EM DASH}": "-",
        "\N{INFINITY}": "inf",
        # marks of direction, which a script would read as text
        "\N{FIRST STRONG ISOLATE}": "",
        "\N{POP DIRECTIONAL ISOLATE}": "",
    }
)
_NARROWEST = 40


def render_terminal(report: Mapping[str, Any], width: int | None = None) -> str:
    """Return the summary of a report as plain text.

    Parameters
    ----------
    report : mapping
        The content of a report.json.
    width : int, optional
        Columns of the terminal: remarks and warnings are wrapped there. Without it (a pipe) nothing is wrapped.
        Verdicts and tables are never broken or cut.

    Returns
    -------
    str
        Lines, the first one the verdict; minus signs are ASCII, no line ends in a space, no newline at the end.
    """
    source = Source(report)
    parts = [_answers(source)]
    overall = _score_lines(source)
    parts += [part for part in (overall, _differences(source), _segments(source, width)) if part]
    warned = notices(source)
    if warned:
        parts.append("\n".join(_notice(notice, width) for notice in warned))
    text = "\n\n".join(part for part in parts if part)
    return "\n".join(line.rstrip() for line in text.translate(_ASCII).splitlines())


def verdict_lines(report: Mapping[str, Any]) -> str:
    """Return the answers alone: one sentence a line, of many comparisons a summary and the leading ones."""
    return _answers(Source(report)).translate(_ASCII)


def _answers(source: Source) -> str:
    """Keep each sentence on one line: scripts read the first."""
    decided, _ = decision(source)
    summed = summaries(source)
    said = [*([decided] if decided else []), *summed, *statements(source)[: SINGLED_OUT if summed else None]]
    if not said:
        return "Nothing is compared: there is one system."
    return "\n".join(statement.sentence for statement in said)


def _wrapped(text: str, width: int | None, indent: str = "  ") -> str:
    if width is None:
        return text
    return textwrap.fill(
        text,
        max(width, _NARROWEST),
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _notice(notice: Notice, width: int | None) -> str:
    return _wrapped(f"{notice.word}: {notice.full}", width)


def _score_lines(source: Source) -> str:
    section = scoreboard(source)
    if source.report.get("interleaving"):
        section = in_words_of_interleaving(section)
    tables = [block for block in section.blocks if isinstance(block, Table)]
    if not tables:
        return ""
    table = tables[0]
    heads = [column.label for column in table.columns]
    if source.planned_weighting is not None:
        heads[0] = f"weighted by {source.planned_weighting}"
    rows = []
    for system, row in zip(order_of_systems(source)[0], table.rows, strict=True):
        name = f"{system} ({row[0].note})" if row[0].note else system
        rows.append([name, *(cell.text for cell in row[1:])])
    return columns_text(heads, rows, [column.number for column in table.columns])


def _differences(source: Source) -> str:
    rows, remark = listed(source, source.outcome_measures)
    if not rows:
        return ""
    one = "ranker" if source.report.get("interleaving") else "system"
    heads = ("measure", one, "baseline")
    kept = ("measure", one, "baseline", "n", "difference", "relative", "interval", "adj. p", "p", "shown?")
    columns = difference_columns(heads, rows)
    wanted = [i for i, column in enumerate(columns) if column.label.split("\N{NO-BREAK SPACE}% ")[-1] in kept]
    body = []
    for row in rows:
        names = (source.measure_label(row["measure"]), row["system"], row["baseline"])
        cells = difference_cells(source, row, names, rows)
        texts = [*names, *(cell.text for cell in cells[len(names) :])]
        body.append([texts[i] for i in wanted])
    table = columns_text([columns[i].label for i in wanted], body, [columns[i].number for i in wanted])
    return f"{table}\n{remark.replace('beside this page', 'beside the page')}" if remark else table


def _segments(source: Source, width: int | None) -> str:
    """Return the primary measure by segment for each pair."""
    measure = source.primary[0]
    parts = []
    for pair, _ in leading_pairs(source, measure):
        rows = segment_rows(source, measure, pair)
        if len(rows) < 2:
            continue
        adjusted = any(row.adjusted for row in rows)
        heads = ["segment", "n", "share", "difference", "interval", "p", *(["adj. p"] if adjusted else []), "shown?"]
        body = [
            [r.name, r.n, r.share, r.difference, r.interval, *([r.own_p] if adjusted else []), r.p, WORDS[r.tone]]
            for r in rows
        ]
        title = f"{whole(pair[1])} against {whole(pair[0])} on {source.measure_label(measure)}"
        table = columns_text(heads, body, [False, *[True] * (len(heads) - 2), False])
        told = heterogeneity_words(source, measure, pair)
        parts.append("\n".join([title, table, *([_wrapped(told, width)] if told else [])]))
    return "\n\n".join(parts)


def columns_text(heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[bool]) -> str:
    """Return rows as aligned columns, numbers to the right; nothing is cut.

    Examples
    --------
    >>> print(columns_text(["system", "AP"], [["a", "0.5"], ["long", "10.25"]], [False, True]))
    system     AP
    a         0.5
    long    10.25
    """
    lines = [list(heads), *(list(row) for row in rows)]
    lines = [[whole(text).translate(_ASCII) for text in line] for line in lines]
    sizes = [max(wide(line[i]) for line in lines) for i in range(len(heads))]
    out = []
    for line in lines:
        cells = []
        for text, size, number in zip(line, sizes, numbers, strict=True):
            gap = " " * (size - wide(text))
            cells.append(gap + text if number else text + gap)
        out.append("  ".join(cells).rstrip())
    return "\n".join(out)
