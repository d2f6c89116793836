r"""Tables for a paper: booktabs, every text escaped, stars with their meaning under each table that has them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from rankstats.report.blocks import Cell, Column, Page, Table
from rankstats.report.model import page_model
from rankstats.report.source import STAR_LEVELS, Source
from rankstats.report.tones import MARKS

SECTIONS = ("scoreboard", "pairwise", "segments", "outcomes", "matrix", "agreement")
LONG = 45
"""Rows that fit on a page; longer tables may break."""

WIDE = 8
"""Columns that fit beside each other in a table that breaks over pages."""

_ESCAPES = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "[": "{[}",
    "*": "{*}",
    "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}",
    "-": "{-}",
    "\N{NO-BREAK SPACE}": "~",
    "\N{MINUS SIGN}": "$-$",
    "\N{PLUS-MINUS SIGN}": r"$\pm$",
    "\N{MULTIPLICATION SIGN}": r"$\times$",
    "\N{LESS-THAN OR EQUAL TO}": r"$\leq$",
    "\N{GREATER-THAN OR EQUAL TO}": r"$\geq$",
    "\N{INFINITY}": r"$\infty$",
    "\N{EN DASH}": "--",
    "\N{EM DASH}": "---",
    "\N{MIDDLE DOT}": r"$\cdot$",
    "\N{HORIZONTAL ELLIPSIS}": r"\dots{}",
    "\N{LEFT DOUBLE QUOTATION MARK}": "``",
    "\N{RIGHT DOUBLE QUOTATION MARK}": "''",
    "\N{RIGHT SINGLE QUOTATION MARK}": "'",
    "\N{GREEK SMALL LETTER TAU}": r"$\tau$",
    "\N{GREEK SMALL LETTER RHO}": r"$\rho$",
    "\N{GREEK SMALL LETTER ALPHA}": r"$\alpha$",
    "\N{GREEK SMALL LETTER KAPPA}": r"$\kappa$",
    "\N{REPLACEMENT CHARACTER}": "?",
}
_FIT = (
    r"\providecommand\rankstatsfit[1]{\sbox0{#1}\ifdim\wd0>\linewidth"
    r"\resizebox{\linewidth}{!}{\usebox0}\else\usebox0\fi}"
)
"""A table that is wider than the line is made as small as the line."""
_LETTER = (
    r"\providecommand\rankstatsletter[2]{\ifcsname u8:\detokenize{#1}\endcsname\else"
    r"\expandafter\gdef\csname u8:\detokenize{#1}\endcsname{{\scriptsize U+#2}}\fi}"
)
"""Where pdfLaTeX looks for the meaning of a letter; the other engines never look there."""
_MARKS = re.compile(f"[{''.join(MARKS.values())}] ?")


def render_latex(report: Mapping[str, Any]) -> str:
    r"""Return the tables of a report as LaTeX, to be read with ``\input{tables.tex}``.

    Parameters
    ----------
    report : mapping
        The content of a report.json.

    Returns
    -------
    str
        One ``table`` (or ``longtable``) environment for each table of the scoreboard, the comparisons, the segments,
        the counts and the agreement, with the same texts as the page; ``booktabs``, ``graphicx``, ``longtable`` and
        ``textcomp`` are needed. A table that is wider than the line is made smaller; letters that pdfLaTeX does not
        know are shown by their number.
    """
    page, alpha = page_model(report), Source(report).alpha
    tables = [_environment(table, alpha) for table in tables_of(page)]
    head = [
        "% Needs \\usepackage{booktabs,graphicx,longtable,textcomp}; letters beyond Latin need LuaLaTeX or XeLaTeX.",
        f"% {_comment(page.title)}",
        _FIT,
        *_letters("".join(tables)),
    ]
    return "\n\n".join(["\n".join(head), *tables]) + "\n"


def _letters(text: str) -> list[str]:
    """Let pdfLaTeX show the number of a letter that it does not know, instead of stopping there."""
    found = sorted({c for c in text if not c.isascii()})
    if not found:
        return []
    return [_LETTER, *(rf"\rankstatsletter{{{c}}}{{{ord(c):04X}}}" for c in found)]


def tables_of(page: Page, sections: Sequence[str] = SECTIONS) -> list[Table]:
    """Return the tables of some sections, those beside figures among them."""
    found = []
    for section in page.sections:
        for block in section.blocks if section.key in sections else ():
            table = block if isinstance(block, Table) else getattr(block, "table", None)
            if isinstance(table, Table):
                found.append(table)
    return found


def escaped(text: str) -> str:
    r"""Return a text that LaTeX sets as it is.

    Examples
    --------
    >>> print(escaped(r"50 % of $x_1$ & \input{a}"))
    50 \% of \$x\_1\$ \& \textbackslash{}input\{a\}
    """
    kept = (c for c in text if unicodedata.category(c) not in {"Cf", "Cc", "Cs"})
    return "".join(_ESCAPES.get(c, c) for c in kept)


def _comment(text: str) -> str:
    return " ".join(text.split())


def _environment(table: Table, alpha: float) -> str:
    columns = "".join("r" if column.number else "l" for column in table.columns)
    heads = [" & ".join(_heading(column) for column in table.columns) + r" \\"]
    if any(column.note for column in table.columns):
        heads.append(" & ".join(_note(column.note) for column in table.columns) + r" \\")
    body = [" & ".join(_cell(cell) for cell in row) + r" \\" for row in table.rows]
    caption = rf"\caption{{{escaped(table.caption)}}}\label{{tab:{table.key}}}"
    starred = any(cell.stars for row in table.rows for cell in row)
    below = [_meaning(alpha)] if starred else []
    rules = [r"\toprule", *heads, r"\midrule"]
    if len(table.rows) > LONG:
        inner = [
            rf"\begin{{longtable}}{{{columns}}}",
            rf"{caption}\\",
            *rules,
            r"\endhead",
            r"\bottomrule",
            r"\endlastfoot",
        ]
        size = r"\scriptsize\setlength\tabcolsep{3pt}" if len(table.columns) > WIDE else r"\small"
        return "\n".join([rf"\begingroup{size}", *inner, *body, r"\end{longtable}", *below, r"\endgroup"])
    inner = [
        r"\rankstatsfit{%",
        rf"\begin{{tabular}}{{{columns}}}",
        *rules,
        *body,
        r"\bottomrule",
        r"\end{tabular}}",
    ]
    return "\n".join([r"\begin{table}", r"\centering\small", caption, *inner, *below, r"\end{table}"])


def _heading(column: Column) -> str:
    return escaped(column.label)


def _note(note: str) -> str:
    return rf"{{\scriptsize {escaped(note)}}}" if note else ""


def _cell(cell: Cell) -> str:
    """Return a cell; the mark before a word is left out, the word says the same."""
    parts = [escaped(cell.badge), escaped(_MARKS.sub("", cell.text))]
    text = " ".join(part for part in parts if part)
    stars = rf"\textsuperscript{{{'*' * cell.stars}}}" if cell.stars else ""
    note = f" {_note(f'({cell.note})')}" if cell.note else ""
    return f"{text}{stars}{note}"


def _meaning(alpha: float) -> str:
    levels = [alpha, *(level for level in STAR_LEVELS if level < alpha)]
    told = ", ".join(
        rf"\textsuperscript{{{'*' * (i + 1)}}}~adjusted $p \leq {level:g}$" for i, level in enumerate(levels)
    )
    return rf"\par\medskip{{\footnotesize {told}. Without a star: not shown (which does not mean equal) or withheld.}}"
