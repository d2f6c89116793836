"""Which format a file of judgments or of a run has, by its content; what could be two formats is refused."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from rankstats.inputs.columns import (
    DOCUMENT_NAMES,
    GRADE_NAMES,
    ID_NAMES,
    RANK_NAMES,
    SCORE_NAMES,
    TEXT_ID_NAMES,
    folded,
)
from rankstats.inputs.fields import NUMBER
from rankstats.inputs.files import Contents, StoredFile
from rankstats.inputs.first_lines import cells_of, is_json, is_parquet, looks_like_letor

_LINE = re.compile(rb"[^\r\n]*[^\s][^\r\n]*")
_RUN_WIDTHS = {"trec": (6, 4), "three": (3, 2)}
_JUDGMENT_WIDTHS = {"trec": (4, 3), "three": (3, 2)}
"""Fields of a line, and which of them is a number."""
_LONGEST_JSON = 1 << 16


class _FirstLine(NamedTuple):
    """A line, split at white space and, where every cell holds something, at tabs."""

    content: bytes
    fields: list[str]
    at_tabs: list[str]

    def has(self, width: int, number: int) -> bool:
        """Return whether the line has so many fields, one way or the other, with a number where it is expected."""
        splits = (self.fields, self.at_tabs)
        return any(len(cells) == width and NUMBER.fullmatch(cells[number]) for cells in splits)

    def is_split_both_ways(self, first: int, second: int) -> bool:
        """Return whether the line has so many fields at white space, and so many at tabs."""
        return len(self.fields) == first and len(self.at_tabs) == second


def run_format(file: StoredFile, named_columns: Sequence[str] = ()) -> str:
    """Return 'trec', 'three' (columns), 'table', 'json' or 'predictions'.

    What is none of these is taken for 'trec' or 'three', whose readers name what is wrong in which line.

    Raises
    ------
    InputError
        If the first line could be of two formats, or the file is one of judgments.
    """
    if is_parquet(file):
        return "table"
    first = _first_line(file.view)
    found = [name for name, (width, number) in _RUN_WIDTHS.items() if first.has(width, number)]
    if len(found) == len(_RUN_WIDTHS):
        raise file.error(
            "the first line has six fields at spaces and three at tabs; say which with --run-format trec, "
            "--run-format rank or --run-format score"
        )
    if found:
        return found[0]
    if len(first.fields) == 1 and NUMBER.fullmatch(first.fields[0]):
        return "predictions"
    if is_json(file):
        return "json"
    if _is_header(first, (*DOCUMENT_NAMES, *SCORE_NAMES, *RANK_NAMES), named_columns):
        return "table"
    if looks_like_letor(first.fields):
        raise file.error("looks like a LETOR file of judgments; give it as --qrels, and the predictions as the run")
    _refuse_commas(file, first, "query_id,doc_id,score")
    return "three" if 3 in (len(first.fields), len(first.at_tabs)) else "trec"


def judgments_format(file: StoredFile, named_columns: Sequence[str] = ()) -> str:
    """Return 'trec', 'three' (columns), 'table', 'json' or 'letor'.

    Lines that begin with ``#`` are passed over. What is none of these is taken for 'trec' or 'three', whose readers
    name what is wrong in which line.

    Raises
    ------
    InputError
        If the first line could be of two formats.
    """
    if is_parquet(file):
        return "table"
    first = _first_line(file.view, comment=b"#")
    if looks_like_letor(first.fields):
        return "letor"
    found = [name for name, (width, number) in _JUDGMENT_WIDTHS.items() if first.has(width, number)]
    if len(found) == len(_JUDGMENT_WIDTHS):
        raise file.error(
            "the first line has four fields at spaces and three at tabs; say which with --qrels-format trec or "
            "--qrels-format grade"
        )
    if found:
        return found[0]
    if is_json(file):
        return "json"
    if _is_header(first, (*DOCUMENT_NAMES, *GRADE_NAMES), named_columns):
        return "table"
    _refuse_commas(file, first, "query_id,doc_id,grade")
    return "three" if 3 in (len(first.fields), len(first.at_tabs)) else "trec"


def _first_line(data: Contents, comment: bytes | None = None) -> _FirstLine:
    """Return the first line that is not blank and does not begin with `comment`; an empty one if there is none."""
    lines = (found.group() for found in _LINE.finditer(data))
    content = next((line for line in lines if not (comment and line.startswith(comment))), b"")
    if content.lstrip()[:1] in (b"{", b"["):
        content = content[:_LONGEST_JSON]  # JSON in one line may be the whole file
    # bytes are split at white space of ASCII, as the readers do; text would be split at any
    cells = [cell.strip() for cell in content.split(b"\t")]
    at_tabs = cells if len(cells) > 1 and all(cells) else []
    return _FirstLine(content, _decoded(content.split()), _decoded(at_tabs))


def _decoded(cells: Sequence[bytes]) -> list[str]:
    return [cell.decode("utf-8", "replace") for cell in cells]


def _is_header(first: _FirstLine, names: Sequence[str], named_columns: Sequence[str]) -> bool:
    """Return whether a cell is a named or a known column name; beside a number, one known name may be an id."""
    cells = cells_of(first.content)
    known = {*ID_NAMES, *TEXT_ID_NAMES, *names}
    n_known = sum(folded(cell) in known for cell in cells)
    holds_number = any(NUMBER.fullmatch(cell) for cell in cells)
    return any(cell in named_columns for cell in cells) or n_known > holds_number


def _refuse_commas(file: StoredFile, first: _FirstLine, header: str) -> None:
    cells = cells_of(first.content)
    if len(first.fields) < 3 and len(cells) > 2 and any(NUMBER.fullmatch(cell) for cell in cells[2:]):
        raise file.error(f"has no header row; write one that names the columns, such as {header}")
