"""What the beginning of a file tells of its format."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from typing import Any

from rankstats.inputs.columns import folded
from rankstats.inputs.fields import NUMBER
from rankstats.inputs.files import StoredFile

_MARKS = "\t,;"


def is_parquet(file: StoredFile) -> bool:
    """Return whether the file begins as Parquet files do."""
    return file.view[:4] == b"PAR1"


def is_json(file: StoredFile) -> bool:
    """Return whether the file begins as a JSON object does, or an array of them."""
    return re.match(rb"\s*(?:\[\s*)?\{\s*[\"}]", file.view[:4096]) is not None


def looks_like_letor(fields: list[str]) -> bool:
    """Return whether the fields of a line are a grade and a query id in the manner of LETOR files.

    Examples
    --------
    >>> looks_like_letor(["2", "qid:7", "1:0.5"]), looks_like_letor(["2", "0", "d1", "1"])
    (True, False)
    """
    return len(fields) > 1 and fields[1].startswith("qid:") and NUMBER.fullmatch(fields[0]) is not None


def delimiter_of(line: bytes) -> str | None:
    """Return the delimiter of a table from one of its lines, or None if there is none."""
    return next((mark for mark in _MARKS if mark.encode() in line), None)


def first_line(data: bytes, comment: bytes | None = None) -> bytes:
    """Return the first line that is not blank and does not begin with `comment`; empty if there is none."""
    for line in io.BytesIO(data):
        text = line.strip(b"\r\n")
        if text.strip() and not (comment and text.startswith(comment)):
            return text
    return b""


def cells_of(line: bytes) -> list[str]:
    """Return the cells of a line; none if it is no row of a table."""
    try:
        cells: list[str] = next(reader_of(line.decode("utf-8", "replace"), delimiter_of(line) or ","), [])
    except csv.Error:
        return []
    return [cell.strip() for cell in cells]


def has_known_name(cells: Iterable[str], known: Iterable[str]) -> bool:
    """Return whether one of the cells is a known column name."""
    names = {folded(name) for name in known}
    return any(folded(cell) in names for cell in cells)


def reader_of(text: str, delimiter: str) -> Any:
    """Return a reader of the records of a table, each a list of cells."""
    lines = io.StringIO(text, newline="\n")
    if delimiter == "\t":
        return csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE)
    return csv.reader(lines, delimiter=delimiter)
