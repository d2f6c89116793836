"""The page as HTML: one file that asks nothing of anyone. The only module that knows jinja2."""

from __future__ import annotations

import base64
import functools
import hashlib
import importlib.resources
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup, escape

from rankstats.report import blocks, tones
from rankstats.report.model import page_model
from rankstats.report.strips import strip, ticks
from rankstats.report.texts import showable, width

PAGE, STYLE = "page.html.j2", "style.css"
SCRIPTS = ("queries.js", "script.js")
_RISKY = re.compile("[<>&\x7f-\x9f\u2028-\u202e\u2066\u2067]")
_FORMULA = re.compile(r"\(2\^rel \N{MINUS SIGN} 1\)")
_STATEMENT = re.compile(r"\b([np]) ([=<]) (?=[.\d])")
# An option, a date, a name: broken after its hyphen it reads as another, and cannot be typed again from paper.
_HYPHENED = re.compile(r"(?<!\S)(?=\S*-)\S{3,24}(?!\S)")
# In a command a path may be longer: a narrow page scrolls it.
_ARGUMENT = re.compile(r"(?<!\S)(?=\S*[-/])\S{2,40}(?!\S)")
_PATH = re.compile(r"(?<!\S)[^\s<>]{17,}(?!\S)")
_WHOLE = Markup('<span class="whole">{}</span>')
_CHECKS = "evidence-checks"
_UNBROKEN_CELL = 16
"""Width of the longest text of a cell that is kept on one line."""


def render_html(report: Mapping[str, Any]) -> str:
    """Return the page of a report as HTML, made from the content of its report.json alone.

    Parameters
    ----------
    report : mapping
        The content of a report.json; it is not changed.

    Returns
    -------
    str
        One self-contained document with its own content-security policy; the same bytes for the same report.

    Raises
    ------
    RankstatsError
        If the mapping is not a report of a known version.
    """
    return page_html(page_model(report))


def page_html(page: blocks.Page) -> str:
    """Return a page of the model as HTML; see `render_html`."""
    style, script = template_text(STYLE), "".join(map(template_text, SCRIPTS))
    return (
        environment()
        .get_template(PAGE)
        .render(
            page=page,
            policy=_policy(style, script),
            style=Markup(style),
            script=Markup(script),
        )
    )


def template_text(name: str) -> str:
    """Return a file of the templates: from the installed package, else from the folder beside it.

    Raises
    ------
    FileNotFoundError
        If neither place holds the file.
    """
    try:
        found = importlib.resources.files("rankstats.templates").joinpath(name)
        if found.is_file():
            return found.read_text(encoding="utf-8")
    except ModuleNotFoundError:
        pass
    return (Path(__file__).resolve().parents[2] / "templates" / name).read_text(encoding="utf-8")


@functools.cache
def environment() -> jinja2.Environment:
    """Return the environment of all templates: everything is escaped, nothing may be undefined."""
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(template_text),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_finalized,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
    )
    environment.globals |= {
        "strip": strip,
        "ticks": ticks,
        "marks": tones.MARKS,
        "is_brief": _is_brief,
        "is_aside": _is_aside,
        "set_aside": _set_aside,
        "figure_svg": _figure_svg,
        "data_text": _data_text,
        "prose_html": _prose_html,
    }
    environment.filters |= {"unbroken": _unbroken, "command": _command, "noted": _noted}
    return environment


def _finalized(value: Any) -> Any:
    """Let no character through that no font shows, should a section have missed one; hold a p or n to its number."""
    if isinstance(value, Markup):
        return value
    kept = showable(value)
    if not isinstance(kept, str):
        return kept
    held = _FORMULA.sub(lambda match: match[0].replace(" ", "\N{NO-BREAK SPACE}"), kept)
    return _STATEMENT.sub("\\1\N{NO-BREAK SPACE}\\2\N{NO-BREAK SPACE}", held)


def _unbroken(text: str, longest: int = 24) -> Markup:
    """Return a text with its short hyphened words held together; long paths break after a stroke."""
    held = _held(_HYPHENED, text, longest)
    return Markup(_PATH.sub(lambda match: match[0].replace("/", "/<wbr>"), held))


def _command(text: str) -> Markup:
    """Return a command with its arguments held together, but for very long ones."""
    return _held(_ARGUMENT, text)


def _noted(text: str) -> str:
    """Return a note whose short parts, "lower is better", are held together."""
    parts = (part.replace(" ", "\N{NO-BREAK SPACE}") if _is_brief(part, 20) else part for part in text.split(" · "))
    return " · ".join(parts)


def _held(words: re.Pattern[str], text: str, longest: int = 40) -> Markup:
    def whole(match: re.Match[str]) -> str:
        return str(_WHOLE.format(Markup(match[0]))) if len(match[0]) <= longest else match[0]

    return Markup(words.sub(whole, str(escape(_finalized(text)))))


def _is_brief(text: str, longest: int = _UNBROKEN_CELL) -> bool:
    """Return whether a text is short enough to stay on one line."""
    return len(text) <= longest and width(text) <= longest


def _is_aside(table: blocks.Table, row: tuple[blocks.Cell, ...]) -> bool:
    """Return whether paper leaves the row out: a check that found nothing, and has nothing to tell."""
    return table.key == _CHECKS and row[1].tone == "quiet" and not row[-1].text


def _set_aside(table: blocks.Table) -> list[tuple[str, list[str]]]:
    """Return what paper says in place of the rows that it leaves out: the questions of each outcome."""
    told: dict[str, list[str]] = {}
    for row in table.rows:
        if _is_aside(table, row):
            told.setdefault(row[1].text, []).append(row[0].text)
    return list(told.items())


def _figure_svg(figure: blocks.Figure) -> Markup:
    from rankstats.report.figures import figure_svg  # noqa: PLC0415  matplotlib is slow to load, not all pages draw

    return Markup(figure_svg(figure))


def _data_text(data: Mapping[str, Any]) -> Markup:
    """Return data as JSON that no parser of HTML takes for markup, and that turns no text around it."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup(_RISKY.sub(lambda match: f"\\u{ord(match[0]):04x}", text))


def _prose_html(text: str) -> Markup:
    from rankstats.report.prose import prose_html  # noqa: PLC0415  few reports have notes

    return Markup(prose_html(text))


def _policy(style: str, script: str) -> str:
    """Return a content-security policy that allows the page's own style and script by their hashes, and no more."""
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
