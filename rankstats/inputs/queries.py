"""The query table: texts, frequencies and other attributes of queries."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankstats.inputs.audit import Read, ReadAudit
from rankstats.inputs.columns import FREQUENCY_NAMES, ID_NAMES, TEXT_ID_NAMES, TEXT_NAMES, ColumnNames, folded
from rankstats.inputs.fields import NUMBER, with_newlines
from rankstats.inputs.files import StoredFile
from rankstats.inputs.first_lines import cells_of, delimiter_of, first_line, is_json, is_parquet
from rankstats.inputs.formats import read_table
from rankstats.inputs.frames import table_of
from rankstats.inputs.frequency import frequencies, guessed_frequency
from rankstats.inputs.origin import HandedIn
from rankstats.inputs.quoting import quoted
from rankstats.inputs.table_file import TableFile
from rankstats.tables.scores import Queries

_HEADERLESS = ("query_id", "text")


def read_queries(
    data: Any,
    *,
    id_column: str | None = None,
    text: str | None = None,
    frequency: str | None = None,
    numeric: Collection[str] = (),
) -> Read[Queries]:
    r"""Read a query table from a file, or from data handed in.

    Files are TSV, CSV, JSON lines, JSON arrays or Parquet, recognised by their content, plain or compressed. Data are a
    dictionary ``{query_id: text}`` or ``{query_id: {column: value}}``, an iterable of named tuples, mappings or tuples
    (query, text), or a pandas, Polars or Arrow frame; they are left as they are.

    The first row of a TSV or CSV file is a header row when one of its cells is a given column name, or a known one.
    Where a cell is a number, or there are two cells, a known name counts in the first cell only; of two cells, neither
    may be a number then. Without a header row there must be two columns: query_id and text.

    The id is query_id, qid, id, _id, topic … or else query, query_text (the text is the id). The text is query, text,
    query_text, title or question; the frequency is frequency, freq, count, clicks, total_clicks, searches, traffic or
    volume: the first of each list that is there, for the frequency the first whose cells are meant as numbers.
    Capitals, hyphens and spaces in names do not matter.

    Parameters
    ----------
    data : path, mapping, iterable or frame
        The query table.
    id_column : str, optional
        The query id column; a table with a header must have it.
    text, frequency : str, optional
        The columns of text and frequency.
    numeric : collection of str, optional
        Columns that must be numbers, whatever they look like: weights. A name that the table does not have is ignored.

    Returns
    -------
    Read of Queries
        The table in the order of the file, and the audit. Columns in which every cell that is not empty is a number are
        float64 (NaN where empty), the others hold str or None. Whole numbers with leading zeros (007), with more than
        15 digits, and -0 are ids: one of them makes the whole column text. The text column is always text.

    Raises
    ------
    InputError
        With file and line: two rows of one id, an empty id, a row with a wrong number of cells, a frequency that is
        not a number from 0 to 1e100, a cell of a `numeric` column that is not a finite number. With the file: a column
        that is missing or ambiguous.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "queries.tsv"
    >>> _ = path.write_text("qid\tquery\tclicks\n007\tred shoes\t12\n")
    >>> queries = read_queries(path).table
    >>> queries.query_ids, queries.text, queries.columns["clicks"].tolist()
    (('007',), 'query', [12.0])
    """
    headerless: tuple[str, str] | None = None
    if isinstance(data, str | Path):
        file = StoredFile(data)
        named = [name for name in (id_column, text, frequency) if name]
        headerless = None if _has_header(file, named) else _HEADERLESS
        table = read_table(file, headerless)
    else:
        table = _table_handed_in(data)
    names = ColumnNames(table)
    named_id = id_column is not None and not headerless
    query_id = names.named("--id", str(id_column)) if named_id else names.query_id(None)
    if headerless and text is None:
        text = "text"
    text = text if text == query_id else names.optional(TEXT_NAMES, "--text", text, {query_id})
    if text is None and folded(query_id) in TEXT_ID_NAMES:
        text = query_id
    notes: tuple[str, ...] = ()
    if frequency is None:
        frequency, notes = guessed_frequency(table, table.names, {query_id, text or ""})
    frequency = frequency and names.named("--frequency", frequency)
    queries = queries_of_table(table, query_id, text, frequency, numeric)
    return Read(queries, ReadAudit((table.file.source(),), len(table), table.blank_lines, notes=notes))


def _table_handed_in(data: Any) -> TableFile:
    if isinstance(data, Mapping):
        data = [
            {"query_id": query_id, **(row if isinstance(row, Mapping) else {"text": row})}
            for query_id, row in data.items()
        ]
    return table_of(data, HandedIn("queries"), _HEADERLESS, truth_as_text=True)


def queries_of_table(
    table: TableFile, query_id: str, text: str | None, frequency: str | None, numeric: Collection[str] = ()
) -> Queries:
    """Make the query table of a table whose columns are known; a text that is the id is a column too."""
    ids = table.id_list(query_id)
    _check_distinct(table, ids)
    columns: dict[str, NDArray[Any]] = {}
    for name in table.names:
        if name == text:
            columns[name] = np.array(table.texts(name).to_pylist(), object)
        elif name == frequency:
            columns[name] = frequencies(table, name)
        elif name in numeric and name != query_id:
            columns[name] = table.numbers(name)
        elif name != query_id:
            columns[name] = table.numbers_or_texts(name)
    return Queries(tuple(ids), columns, text, frequency)


def _has_header(file: StoredFile, named: list[str]) -> bool:
    if is_parquet(file) or is_json(file):
        return True
    first = first_line(with_newlines(file.data))
    cells = cells_of(first)
    known = {folded(name) for name in (*ID_NAMES, *TEXT_ID_NAMES, *TEXT_NAMES, *FREQUENCY_NAMES, *named)}
    is_known = [folded(cell) in known for cell in cells]
    holds_number = any(NUMBER.fullmatch(cell) for cell in cells)
    if any(cell in named for cell in cells):
        has_header = True
    elif len(cells) == len(_HEADERLESS):
        has_header = is_known[0] and not holds_number
    else:
        has_header = is_known[0] if holds_number else any(is_known)
    if not has_header and len(cells) != len(_HEADERLESS):
        kind = {"\t": "tab", ",": "comma", ";": "semicolon", None: "tab or comma"}[delimiter_of(first)]
        if first[:1] in (b"[", b"<"):
            raise file.error("is JSON or XML, not a table; give TSV, CSV, JSON lines or Parquet")
        raise file.error(
            f"no header row ({len(cells)} {kind}-separated cells, none a known column name); write one with a column "
            "query_id, name the id column with --id, or give two columns, query_id and text"
        )
    return has_header


def _check_distinct(table: TableFile, ids: list[str]) -> None:
    rows: dict[str, int] = {}
    for row, query_id in enumerate(ids):
        first = rows.setdefault(query_id, row)
        if first != row:
            raise table.error(
                f"query {quoted(query_id)} is listed twice, first in {table.place(first)}; remove one", row
            )
