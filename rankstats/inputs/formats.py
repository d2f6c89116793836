"""Tables with named columns: CSV, TSV, JSON lines and Parquet, recognised by their content."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from rankstats.inputs.delimited import read_delimited
from rankstats.inputs.files import StoredFile, arrow_stream
from rankstats.inputs.first_lines import is_json, is_parquet
from rankstats.inputs.json_tables import read_json_table
from rankstats.inputs.quoting import quoted
from rankstats.inputs.table_file import TableFile


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
        table = read_json_table(file)
    else:
        table = read_delimited(file, headerless)
    if not len(table):
        raise file.error("the table has no rows")
    return table


def _read_parquet(file: StoredFile) -> TableFile:
    from pyarrow.parquet import ParquetFile  # noqa: PLC0415  brings file systems and TLS, for this format alone

    try:
        table = ParquetFile(arrow_stream(file.data)).read()
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise file.error(f"is a damaged Parquet file ({reason})") from None
    for name in table.column_names:
        if table.column_names.count(name) > 1:
            raise file.error(f"two columns are named {quoted(name)}; rename one")
    columns = {name: plain_column(table.column(name)) for name in table.column_names}
    return TableFile(file, columns, None, is_typed=True)


def plain_column(column: pa.ChunkedArray[Any]) -> pa.Array[Any]:
    """Return a column of any type as float64, if it holds floating-point numbers, or else as strings."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    wanted = pa.float64() if pa.types.is_floating(column.type) else pa.string()
    try:
        column = column.cast(wanted)
    except pa.ArrowException:  # lists and records
        texts = [
            None if cell is None else json.dumps(cell, ensure_ascii=False, default=str) for cell in column.to_pylist()
        ]
        return pa.array(texts, wanted)
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.nulls(0, wanted)
