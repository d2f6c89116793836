"""Histories: what each user has had before the lists were made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from rankstats.inputs.audit import Read, ReadAudit
from rankstats.inputs.columns import ID_NAMES, TEXT_ID_NAMES, ColumnNames
from rankstats.inputs.fields import NUMBER, read_columns, with_newlines
from rankstats.inputs.files import StoredFile
from rankstats.inputs.first_lines import first_line, is_parquet
from rankstats.inputs.formats import read_table
from rankstats.inputs.frames import table_of
from rankstats.inputs.items import ITEM_NAMES
from rankstats.inputs.layout import Layout
from rankstats.inputs.origin import HandedIn
from rankstats.inputs.quoting import listed
from rankstats.inputs.table_file import TableFile
from rankstats.tables.arrow_arrays import values_of
from rankstats.tables.items import Histories

USER_NAMES = (*ID_NAMES, "user_id", "userid", "user", *TEXT_ID_NAMES)
_LINES = Layout(
    "a table has a header row that names its columns (query_id, doc_id)",
    ("qid", "iter", "docid", "rating"),
    query=0,
    document=2,
    numbers=(3,),
    other_width=6,
    other_number=4,
    other_hint="this looks like a run; are --history and the run swapped?",
)


def read_histories(data: Any, *, id_column: str | None = None, item_column: str | None = None) -> Read[Histories]:
    r"""Read histories, one row a user and item, from a file, or from data handed in.

    Files are tables with named columns (TSV, CSV, JSON lines, JSON arrays or Parquet), or lines as in qrels, plain or
    compressed. Data are a pandas, Polars or Arrow frame, or an iterable of named tuples, mappings or tuples (user,
    item); they are left as they are.

    In a table the user is query_id, user_id, userId … or the column named with `id_column` where the
    table has it, the item doc_id, item_id, movieId …; other columns do not matter. Lines without a header row are
    ``qid iter docid rating``; the rating does not matter.

    Parameters
    ----------
    data : path, iterable, frame or Histories
        The histories.
    id_column, item_column : str, optional
        The columns of a headed table; used where the table has them, so that one option can serve several files.

    Returns
    -------
    Read of Histories
        The rows in the order of the file, and the audit.

    Raises
    ------
    InputError
        With file and line: a line with a wrong number of fields, an empty id. With the file: no user or item column.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "ratings.csv"
    >>> _ = path.write_text("userId,movieId,rating\n1,31,2.5\n1,1029,3.0\n")
    >>> histories = read_histories(path).table
    >>> histories.query_ids, histories.doc_ids.to_pylist()
    (('1',), ['31', '1029'])
    """
    if isinstance(data, Histories):
        return Read(data, ReadAudit((data.source,), len(data.query)))
    if isinstance(data, str | Path):
        file = StoredFile(data)
        if _has_lines(file):
            return _from_lines(file)
        return _from_table(read_table(file), id_column, item_column)
    return _from_table(table_of(data, HandedIn("histories"), ("query_id", "doc_id")), id_column, item_column)


def _has_lines(file: StoredFile) -> bool:
    """Return whether the first line is one of qrels."""
    if is_parquet(file):
        return False
    fields = first_line(with_newlines(file.data)).decode("utf-8", "replace").split()
    return len(fields) == len(_LINES.names) and NUMBER.fullmatch(fields[-1]) is not None


def _from_lines(file: StoredFile) -> Read[Histories]:
    columns = read_columns(file, file.view, _LINES)
    doc_ids: Any = columns.doc_ids.combine_chunks()
    if isinstance(doc_ids, pa.ChunkedArray):  # what older pyarrow returns
        doc_ids = pa.concat_arrays(doc_ids.chunks)
    histories = Histories(columns.query_ids, columns.query, doc_ids, file.source())
    return Read(histories, ReadAudit((histories.source,), len(histories.query), columns.blank_lines))


def _from_table(table: TableFile, id_column: str | None, item_column: str | None) -> Read[Histories]:
    names = ColumnNames(table)
    user = names.optional(USER_NAMES, "--id", id_column if id_column in table.names else None, ())
    item = names.optional(ITEM_NAMES, "--item-id", item_column if item_column in table.names else None, {user or ""})
    if user is None or item is None:
        what, option = ("user", "--id") if user is None else ("item", "--item-id")
        raise table.file.error(f"no {what} column; name it with {option} (there are {listed(table.names)})")
    query: Any = table.ids(user).dictionary_encode()
    codes = values_of(query.indices).astype(np.int32)
    doc_ids = table.ids(item)
    histories = Histories(tuple(query.dictionary.to_pylist()), codes, doc_ids, table.file.source())
    return Read(histories, ReadAudit((histories.source,), len(codes), table.blank_lines))
