"""The author's notes: Markdown from outside, made into HTML that can neither run, fetch nor restyle anything."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from rankstats.report.blocks import Block, Prose, Section
from rankstats.report.source import Source
from rankstats.report.texts import multiline

HEADING_SHIFT = 2
"""A first-level heading of the notes stands below that of their section."""
_LOWEST_HEADING = 6
_ALIGNED = {"text-align:right": "n", "text-align:center": "c"}


def notes(source: Source) -> Section:
    """Return the author's notes; absent where there are none."""
    text = source.report.get("notes")
    blocks: tuple[Block, ...] = (Prose("notes-text", multiline(str(text))),) if text and str(text).strip() else ()
    return Section("notes", "Notes", blocks)


def prose_html(text: str) -> str:
    r"""Return Markdown as HTML: CommonMark and tables; HTML in it is text, images are links, no attribute styles.

    Parameters
    ----------
    text : str
        Markdown; its first-level headings become third-level ones.

    Examples
    --------
    >>> prose_html("# Why\n<b>now</b>, see [the plan](javascript:alert(1))")
    '<h3>Why</h3>\n<p>&lt;b&gt;now&lt;/b&gt;, see [the plan](javascript:alert(1))</p>\n'
    """
    parser = _parser()
    tokens = parser.parse(text)
    _tame(tokens)
    html: Any = parser.renderer.render(tokens, parser.options, {})
    return str(html)


@functools.cache
def _parser() -> MarkdownIt:
    # "commonmark" would let HTML through; the options are given in full so that no preset can change what is safe.
    return (
        MarkdownIt("commonmark", {"html": False, "linkify": False, "typographer": False})
        .enable("table")
        .disable("image")
    )


def _tame(tokens: Sequence[Token]) -> None:
    for token in tokens:
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(_LOWEST_HEADING, int(token.tag[1]) + HEADING_SHIFT)}"
        style = token.attrs.pop("style", None)
        if style in _ALIGNED:
            token.attrJoin("class", _ALIGNED[str(style)])
        if token.type == "link_open":
            token.attrSet("rel", "noopener noreferrer")
        _tame(token.children or ())
