"""CSV and TSV files, with a header row or without.

Cells are text. The delimiter is the first line's tab, else its comma, else its semicolon. In tab-separated files quotes
are ordinary characters; elsewhere they enclose cells, which may then hold delimiters and line ends.
"""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.csv

from rankstats.inputs.fields import with_newlines
from rankstats.inputs.files import LARGE, StoredFile, arrow_stream
from rankstats.inputs.first_lines import delimiter_of, first_line, reader_of
from rankstats.inputs.quoting import listed, quoted
from rankstats.inputs.table_file import TableFile

BLOCK_BYTES = 1 << 22


def read_delimited(file: StoredFile, headerless: Sequence[str] | None) -> TableFile:
    """Read a CSV or TSV file; `headerless` names the columns of one without a header row.

    Raises
    ------
    InputError
        With file and line: a row with another number of cells than the header, two columns of one name, bytes that
        are not UTF-8.
    """
    data = with_newlines(file.data)
    delimiter = delimiter_of(first_line(data)) or ","
    quoted = delimiter != "\t" and b'"' in data
    names, start = (headerless, 0) if headerless else _header(file, data, delimiter)
    # of one column, pyarrow and the csv module do not agree on what a blank line is
    table = _parse(data[start:], delimiter, names, quoted) if len(names) > 1 else None
    if table is None:
        return _from_records(file, data, delimiter, names, headerless is None)

    def line_of(row: int) -> int:
        records = _records(file, data, delimiter)
        return next(itertools.islice(records, row + (headerless is None), None))[0]

    columns = {
        name: pa.concat_arrays(column.chunks) if column.num_chunks else pa.nulls(0, pa.string())
        for name, column in zip(names, table.columns, strict=True)
    }
    return TableFile(file, columns, line_of, _count_blank(data, delimiter))


def _count_blank(data: bytes, delimiter: str) -> int:
    if b"\n\n" not in data and not data.startswith(b"\n"):
        return 0
    return sum(not record for record in reader_of(data.decode(), delimiter))


def _records(file: StoredFile, data: bytes, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the records that are not blank, with the line in which each begins."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise file.error("is not UTF-8 text; save the file as UTF-8", line) from None
    reader = reader_of(text, delimiter)
    line = 1
    try:
        for record in reader:
            if record and (len(record) > 1 or record[0].strip()):
                yield line, record
            line = reader.line_num + 1
    except csv.Error as error:
        raise file.error(f"cannot be read as a table ({error}); is a quote left open?", line) from None


def _header(file: StoredFile, data: bytes, delimiter: str) -> tuple[list[str], int]:
    """Return the column names and the offset of the first row."""
    records = _records(file, data, delimiter)
    line, cells = next(records)
    names = [cell.strip() or f"column {i}" for i, cell in enumerate(cells, 1)]
    for name in names:
        if names.count(name) > 1:
            raise file.error(f"two columns are named {quoted(name)}; rename one", line)
    return names, _offset_after(data, line + sum(cell.count("\n") for cell in cells))


def _offset_after(data: bytes, lines: int) -> int:
    offset = 0
    for _ in range(lines):
        end = data.find(b"\n", offset)
        if end < 0:
            return len(data)
        offset = end + 1
    return offset


def _parse(data: bytes, delimiter: str, names: Sequence[str], quoted: bool) -> pa.Table | None:
    try:
        return pa.csv.read_csv(
            arrow_stream(data),
            pa.csv.ReadOptions(column_names=list(names), block_size=BLOCK_BYTES, use_threads=len(data) >= LARGE),
            pa.csv.ParseOptions(
                delimiter=delimiter,
                quote_char='"' if quoted else False,
                double_quote=quoted,
                newlines_in_values=quoted,
            ),
            pa.csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), null_values=[], strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid:
        return None


def _from_records(file: StoredFile, data: bytes, delimiter: str, names: Sequence[str], header: bool) -> TableFile:
    """Read record by record: raises at the first fault, and reads right what pyarrow refuses without one."""
    lines: list[int] = []
    rows: list[list[str]] = []
    for number, (line, record) in enumerate(_records(file, data, delimiter)):
        if header and number == 0:
            continue
        if len(record) != len(names):
            raise file.error(_wrong_width(record, names, delimiter), line)
        lines.append(line)
        rows.append(record)
    columns: dict[str, pa.Array[Any]] = {
        name: pa.array([row[i] for row in rows], pa.string()) for i, name in enumerate(names)
    }
    return TableFile(file, columns, lines.__getitem__, _count_blank(data, delimiter))


def _wrong_width(record: Sequence[str], names: Sequence[str], delimiter: str) -> str:
    problem = f"{len(record)} cell{'s' * (len(record) != 1)} where {len(names)} are expected ({listed(names)})"
    if delimiter == "\t" and any(cell.startswith('"') for cell in record):
        problem += "; quotes do not enclose cells in a tab-separated file, so write it as CSV"
    return problem
