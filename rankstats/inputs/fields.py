"""White-space separated files (TREC runs and qrels) to columns.

A file whose fields are separated by single spaces or single tabs is read in blocks of lines small enough for the
processor's cache, side by side in threads: split with array operations, or, where a block holds more than those know,
by pyarrow's CSV reader. Any other white space is first normalised. Only a file that is still refused is walked line by
line, to name the line; so the common case costs little and the message is exact.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from threading import local
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
from numpy.typing import NDArray

from rankstats.inputs.files import Contents, Room, StoredFile, let_go
from rankstats.inputs.joining import JoinedNumbers, JoinedTexts
from rankstats.inputs.layout import NEWLINE, SPACE, TAB, Block, Layout
from rankstats.inputs.quoting import quoted
from rankstats.inputs.split_lines import split_block
from rankstats.tables.arrow_arrays import arrow_of, values_of
from rankstats.tables.arrow_functions import encoded, equal, take
from rankstats.tables.text_hashes import hashes_of_ends
from rankstats.tables.threads import in_threads, keep_pieces

NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
"""A decimal number; no NaN, no infinity, no hexadecimal or grouped digits."""

BLOCK_BYTES = 1 << 21
_LEAST_BLOCK_BYTES = 1 << 19
_BLOCKS = 128
"""Blocks that a file is cut into before they get larger than the least: larger ones cost less time and more memory."""
SCAN_BYTES = 1 << 18  # fits in the second-level cache
_WHITE_BYTES = b" \t\n\r\v\f"
_IS_WHITE = np.zeros(256, bool)
_IS_WHITE[np.frombuffer(_WHITE_BYTES, np.uint8)] = True


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a file in the order of its lines.

    Attributes
    ----------
    query_ids : tuple of str
        The distinct queries.
    query : ndarray of int32, shape (N,)
        Index into `query_ids`.
    doc_ids : pyarrow.ChunkedArray of string, shape (N,)
        Document ids.
    numbers : tuple of ndarray of float64, each of shape (N,)
        Finite numbers, in the order of the layout.
    blank_lines : int
        Lines of white space only.
    hashes : ndarray of uint32, shape (N,), or None
        `rankstats.tables.text_hashes.hashes_of_ends` of the documents, where they were made.
    """

    query_ids: tuple[str, ...]
    query: NDArray[np.int32]
    doc_ids: pa.ChunkedArray[Any]
    numbers: tuple[NDArray[np.float64], ...]
    blank_lines: int
    hashes: NDArray[np.uint32] | None = None


def read_columns(file: StoredFile, data: Contents, layout: Layout) -> Columns:
    """Read the columns of a file whose lines have the fields of `layout`.

    A line is split at white space; where that does not give the right number of fields, a line with exactly one tab
    fewer than fields is split at its tabs, so that ids of several words survive in tab-separated files.

    Parameters
    ----------
    file : StoredFile
        Named in errors.
    data : bytes or mmap
        The contents of the file, with comments blanked.
    layout : Layout
        The fields.

    Raises
    ------
    InputError
        At the first line with a wrong number of fields, an unreadable number, or bytes that are not UTF-8.
    """
    columns = _read_plain(data, layout)
    if columns is not None:
        return columns
    lines = with_newlines(data)
    for text, separator in _normalised(lines):
        columns = _parse(text, separator, layout)
        if columns is not None:
            return replace(columns, blank_lines=_count_lines(lines) - len(columns.query))
    return _walk(file, lines, layout)


def lines_of_rows(data: Contents, rows: Iterable[int]) -> list[int]:
    """Return the lines, counted from 1, at which the given rows (lines that are not blank) stand."""
    wanted = list(rows)
    found: dict[int, int] = dict.fromkeys(wanted, 0)
    for row, (line, _) in enumerate(_rows(with_newlines(data))):
        if row in found:
            found[row] = line
    return [found[row] for row in wanted]


def with_newlines(data: Contents) -> bytes:
    """Return the contents with LF for CRLF and for CR."""
    return bytes(data).replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _rows(data: bytes) -> Iterator[tuple[int, bytes]]:
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            yield number, line


def _count_lines(data: bytes) -> int:
    return data.count(b"\n") + (not data.endswith(b"\n"))


def _read_plain(data: Contents, layout: Layout) -> Columns | None:
    """Read a file in which one separator is the only white space within lines, and single; None if it is not that."""
    first = re.search(rb"\s", data)
    if first is None or first.group() not in (b" ", b"\t") or first.start() == 0:
        return None
    if data[-1] <= SPACE and data[-1:] != b"\n":
        return None
    return _parse(data, first.group(), layout, plain=True)


def _parse(data: Contents, separator: bytes, layout: Layout, *, plain: bool = False) -> Columns | None:
    """Return the columns as pyarrow reads them.

    None where it refuses, a number is not finite, or, if `plain` is asked for, white space is not single or other than
    the separator.
    """
    rooms = local()
    keep_pieces()

    def read(piece: tuple[int, int]) -> Block | None:
        if not hasattr(rooms, "room"):
            rooms.room = Room()
        text = rooms.room.fill(data, *piece)
        block = split_block(rooms.room, separator[0], layout) if plain else None
        if block is not None:
            return block
        white = _count_single_white(text) if plain else None
        if plain and white is None:
            return None
        table = _table(rooms.room.stream(), len(text), separator, layout)
        # each row as pyarrow splits it holds its separators and a line end; anything beyond is other white space
        unended = text[-1] != NEWLINE
        if table is None or (plain and white != table.num_rows * len(layout.names) - unended):
            return None
        return _block(table, layout)

    pieces = _pieces(data)
    joined: _Joined | None = None
    for (start, end), block in zip(pieces, in_threads(read, pieces), strict=True):
        if block is None:
            return None
        if joined is None:
            joined = _Joined(layout, len(block.query) * len(data) // (end - start), len(data))
        joined.add(block)
    return None if joined is None else joined.columns()


def _pieces(data: Contents) -> list[tuple[int, int]]:
    """Return where blocks of whole lines begin and end."""
    pieces, start = [], 0
    size = min(BLOCK_BYTES, max(len(data) // _BLOCKS, _LEAST_BLOCK_BYTES))
    while start < len(data):
        end = start + size
        if end < len(data):
            last = data.rfind(b"\n", start, end)
            end = 1 + (last if last >= 0 else data.find(b"\n", end))
        end = min(end or len(data), len(data))
        pieces.append((start, end))
        start = end
    let_go(data)  # what was looked at for line ends, and much around it
    return pieces


def _count_single_white(array: NDArray[np.uint8]) -> int | None:
    """Count bytes of white space in a block of lines, or return None where two stand side by side."""
    if array[0] <= SPACE:
        return None
    count = 0
    for start in range(0, len(array), SCAN_BYTES):
        white = array[start : start + SCAN_BYTES + 1] <= SPACE
        if np.any(white[1:] & white[:-1]):
            return None
        count += int(np.count_nonzero(white[:SCAN_BYTES]))
    return count


def _table(stream: pa.BufferReader, size: int, separator: bytes, layout: Layout) -> pa.Table | None:
    """Return queries, documents and numbers of a block of lines; None where pyarrow refuses them."""
    names = [str(i) for i in range(len(layout.names))]
    query, document = str(layout.query), str(layout.document)
    numbers = [str(i) for i in layout.numbers]
    types = {query: pa.string(), document: pa.string(), **dict.fromkeys(numbers, pa.float64())}
    try:
        return pa.csv.read_csv(
            stream,
            pa.csv.ReadOptions(column_names=names, block_size=size + 1, use_threads=False),
            pa.csv.ParseOptions(delimiter=separator.decode(), quote_char=False, double_quote=False),
            pa.csv.ConvertOptions(
                column_types=types,
                include_columns=[query, document, *numbers],
                null_values=[],
                strings_can_be_null=False,
            ),
            memory_pool=pa.system_memory_pool(),  # others keep much of what is given back
        )
    except pa.ArrowInvalid:
        return None


def _block(table: pa.Table, layout: Layout) -> Block | None:
    """Return the columns of a block; None where a number is not finite."""
    numbers = [values_of(column) for column in table.columns[2:]]
    if not all(np.isfinite(column).all() for column in numbers):
        return None
    ids: Any = table.column(0).chunk(0) if table.column(0).num_chunks == 1 else table.column(0).combine_chunks()
    # lines of a query mostly stand together: the first one of each run of lines says all
    changes = np.flatnonzero(~values_of(equal(ids[1:], ids[:-1]))) + 1
    starts = np.concatenate([np.zeros(1, np.int64), changes])
    codes = encoded(take(ids, arrow_of(starts)))
    query = np.repeat(values_of(codes.indices), np.diff(starts, append=len(ids)))
    doc_ids = table.column(1)
    hashes = np.concatenate([hashes_of_ends(chunk) for chunk in doc_ids.chunks]) if layout.is_hashed else None
    return Block(codes.dictionary.to_pylist(), query, doc_ids, numbers, hashes)


class _Joined:
    """Blocks one after the other, each let go of once it is added; `rows` and `n_bytes` are guesses of their sums."""

    def __init__(self, layout: Layout, rows: int, n_bytes: int) -> None:
        rows += rows // 64
        self._codes: dict[str, int] = {}
        self._query = JoinedNumbers(np.int32, rows)
        self._numbers = [JoinedNumbers(np.float64, rows) for _ in layout.numbers]
        self._hashes = JoinedNumbers(np.uint32, rows) if layout.is_hashed else None
        self._doc_ids = JoinedTexts(rows, n_bytes)

    def add(self, block: Block) -> None:
        codes = np.array([self._codes.setdefault(text, len(self._codes)) for text in block.queries], np.int32)
        self._query.add(codes[block.query])
        for column, values in zip(self._numbers, block.numbers, strict=True):
            column.add(values)
        if self._hashes is not None and block.hashes is not None:
            self._hashes.add(block.hashes)
        if isinstance(block.doc_ids, pa.ChunkedArray):
            for chunk in block.doc_ids.chunks:
                self._doc_ids.add(chunk)
        else:
            self._doc_ids.keep(block.doc_ids)

    def columns(self) -> Columns:
        doc_ids = pa.chunked_array(self._doc_ids.chunks(), pa.string())
        numbers = tuple(column.values() for column in self._numbers)
        hashes = None if self._hashes is None else self._hashes.values()
        return Columns(tuple(self._codes), self._query.values(), doc_ids, numbers, 0, hashes)


def _normalised(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the text with one separator between fields: first split at white space, then split at tabs."""
    array = np.frombuffer(data, np.uint8)
    white = _IS_WHITE[array]
    begins = white.copy()
    begins[1:] &= ~white[:-1]
    starts = np.flatnonzero(begins)
    ends_line = _holding(starts, array == NEWLINE)
    if white[-1]:
        ends_line[-1] = True
    yield _split_at_white(array, white, starts, ends_line), b" "
    text = _split_at_tabs(array, white, starts, ends_line)
    if not re.search(rb"\A\t|\t\Z|\n\t|\t[\t\n]", text):
        yield text, b"\t"


def _holding(starts: NDArray[np.intp], what: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which runs of white space hold a byte of the kind `what`."""
    holds = np.zeros(len(starts), bool)
    holds[np.searchsorted(starts, np.flatnonzero(what), side="right") - 1] = True
    return holds


def _split_at_white(
    array: NDArray[np.uint8], white: NDArray[np.bool_], starts: NDArray[np.intp], ends_line: NDArray[np.bool_]
) -> bytes:
    text = array.copy()
    text[starts] = np.where(ends_line, NEWLINE, SPACE)
    keep = ~white
    keep[starts] = True
    keep[0] = not white[0]
    return text[keep].tobytes()


def _split_at_tabs(
    array: NDArray[np.uint8], white: NDArray[np.bool_], starts: NDArray[np.intp], ends_line: NDArray[np.bool_]
) -> bytes:
    separates = _holding(starts, array == TAB) | ends_line
    inside = white.astype(np.int8)
    run = np.cumsum(np.bincount(starts, minlength=len(array)).astype(np.int32)) - 1
    inside[white] = ~separates[run[white]]
    keep = ~white | (array == TAB) | (array == NEWLINE) | (inside == 1)
    return re.sub(rb"\n+", b"\n", array[keep].tobytes())


def _walk(file: StoredFile, data: bytes, layout: Layout) -> Columns:
    """Read line by line: raises at the first fault, and reads right what pyarrow refuses without one."""
    codes: dict[str, int] = {}
    query: list[int] = []
    documents: list[str] = []
    numbers: list[list[float]] = [[] for _ in layout.numbers]
    last = 0
    for row, (line, content) in enumerate(_rows(data)):
        fields = _fields(file, line, content, layout, row)
        for column, position in zip(numbers, layout.numbers, strict=True):
            column.append(_number(file, line, fields[position], layout.names[position], _header_hint(layout, row)))
        query.append(codes.setdefault(_text(file, line, fields[layout.query]), len(codes)))
        documents.append(_text(file, line, fields[layout.document]))
        last = row + 1
    return Columns(
        tuple(codes),
        np.array(query, np.int32),
        pa.chunked_array([pa.array(documents, pa.string())]),
        tuple(np.array(column, np.float64) for column in numbers),
        _count_lines(data) - last,
    )


def _fields(file: StoredFile, line: int, content: bytes, layout: Layout, row: int) -> list[bytes]:
    fields = content.split()
    if len(fields) == len(layout.names):
        return fields
    at_tabs = [field.strip() for field in content.split(b"\t")]
    if len(at_tabs) == len(layout.names) and all(at_tabs):
        return at_tabs
    count = f"{len(fields)} field{'s' * (len(fields) != 1)}"
    if len(at_tabs) not in (1, len(fields)):
        count += f" ({len(at_tabs)} at tabs)"
    hint = f"; {layout.other_hint}" if row == 0 and _is_other(fields, layout) else ""
    raise file.error(f"{count} {layout.expected}{hint}", line)


def _is_other(fields: list[bytes], layout: Layout) -> bool:
    number = fields[layout.other_number].decode("utf-8", "replace") if len(fields) == layout.other_width else ""
    return NUMBER.fullmatch(number) is not None


def _number(file: StoredFile, line: int, field: bytes, name: str, hint: str) -> float:
    text = field.decode("utf-8", "replace")
    if NUMBER.fullmatch(text):
        if np.isfinite(value := float(text)):
            return value
        raise file.error(f"{name} {quoted(text)} is too large", line)
    if re.fullmatch(r"[+-]?(?:nan|inf|infinity)", text, re.IGNORECASE):
        raise file.error(f"{name} {quoted(text)} is not a finite number", line)
    if NUMBER.fullmatch(text.replace(",", ".")):
        hint = "; write a decimal point"
    raise file.error(f"{name} {quoted(text)} is not a number{hint}", line)


def _header_hint(layout: Layout, row: int) -> str:
    return "" if row else f"; {layout.header_hint}"


def _text(file: StoredFile, line: int, field: bytes) -> str:
    try:
        return field.decode()
    except UnicodeDecodeError:
        raise file.error(f"{quoted(field)} is not UTF-8 text; save the file as UTF-8", line) from None
