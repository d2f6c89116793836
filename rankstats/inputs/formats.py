"""Tables with named columns: CSV, TSV, JSON lines and Parquet, recognised by their content."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from rankstats.errors import InputError
from rankstats.inputs.delimited import read_delimited
from rankstats.inputs.files import StoredFile, arrow_stream
from rankstats.inputs.quoting import quoted
from rankstats.inputs.table_file import TableFile, is_plain_number


def read_table(file: StoredFile, headerless: Sequence[str] | None = None) -> TableFile:
    """Read a table, recognised by its content.

    Parameters
    ----------
    file : StoredFile
        The file.
    headerless : sequence of str, optional
        The names of the columns of a delimited file without a header row.
    """
    if is_parquet(file):
        table = _read_parquet(file)
    elif is_json(file):
        table = _read_json_lines(file)
    else:
        table = read_delimited(file, headerless)
    if not len(table):
        raise file.error("the table has no rows")
    return table


def is_parquet(file: StoredFile) -> bool:
    """Return whether the file begins as Parquet files do."""
    return file.view[:4] == b"PAR1"


def is_json(file: StoredFile) -> bool:
    """Return whether the file begins as a JSON object does, or an array of them."""
    return re.match(rb"\s*(?:\[\s*)?\{\s*[\"}]", file.view[:4096]) is not None


def _read_parquet(file: StoredFile) -> TableFile:
    try:
        table = pa.parquet.ParquetFile(arrow_stream(file.data)).read()
    except (pa.ArrowException, OSError) as error:
        raise file.error(f"is a damaged Parquet file ({error})") from None
    for name in table.column_names:
        if table.column_names.count(name) > 1:
            raise file.error(f"two columns are named {quoted(name)}; rename one")
    columns = {name: _plain_column(table.column(name)) for name in table.column_names}
    return TableFile(file, columns, None)


def _plain_column(column: pa.ChunkedArray[Any]) -> pa.Array[Any]:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    wanted = pa.float64() if pa.types.is_floating(column.type) or pa.types.is_decimal(column.type) else pa.string()
    try:
        column = column.cast(wanted)
    except pa.ArrowException:  # lists and records
        texts = [
            None if cell is None else json.dumps(cell, ensure_ascii=False, default=str) for cell in column.to_pylist()
        ]
        return pa.array(texts, wanted)
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.nulls(0, wanted)


def _read_json_lines(file: StoredFile) -> TableFile:
    if file.data.lstrip()[:1] == b"[":
        raise file.error("is a JSON array; write one object a line (JSON lines), as jq -c '.[]' does")
    rows: list[dict[str, str | float | None]] = []
    lines: list[int] = []
    contents = file.data.split(b"\n")
    for number, content in enumerate(contents, 1):
        if content.strip():
            rows.append(_json_row(file, number, content))
            lines.append(number)
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: _json_column([row.get(name) for row in rows]) for name in names}
    return TableFile(file, columns, lines.__getitem__, len(contents) - len(rows) - (not contents[-1]))


def _json_row(file: StoredFile, number: int, content: bytes) -> dict[str, str | float | None]:
    def refuse(constant: str) -> None:
        raise file.error(f"{constant} is not a finite number", number)

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise file.error(f"the key {quoted(twice)} stands twice in one object; remove one", number)
        return members

    try:
        row = json.loads(content.decode(), parse_constant=refuse, object_pairs_hook=once)
        if not isinstance(row, dict):
            raise file.error("is not a JSON object on one line", number)
        cells = {name: _json_cell(value) for name, value in row.items()}
    except RecursionError:
        raise file.error("is nested too deep", number) from None
    except InputError:
        raise
    except ValueError as error:  # no JSON, no UTF-8, or a number of thousands of digits
        raise file.error(f"is not a JSON object on one line ({error})", number) from None
    if b"\\u" in content:
        _check_characters(file, number, cells)
    return cells


def _check_characters(file: StoredFile, number: int, cells: dict[str, str | float | None]) -> None:
    for text in (*cells, *cells.values()):
        try:
            str(text).encode()
        except UnicodeEncodeError:
            problem = "holds half a surrogate pair, which is no character; write both halves, or leave it out"
            raise file.error(f"{quoted(text)} {problem}", number) from None


def _json_cell(value: Any) -> str | float | None:
    if value is None or isinstance(value, str | float):
        return value
    return json.dumps(value, ensure_ascii=False)  # whole numbers to decimal text, lists and objects to JSON


def _json_column(values: list[str | float | None]) -> pa.Array[Any]:
    if any(isinstance(value, float) for value in values) and not any(
        isinstance(value, str) and not is_plain_number(value) for value in values
    ):
        return pa.array([None if value is None else float(value) for value in values], pa.float64())
    return pa.array([repr(value) if isinstance(value, float) else value for value in values], pa.string())
