"""Runs in every format but TREC's, and runs handed in from Python, to rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankstats.inputs.columns import SYSTEM_NAMES, ColumnNames, present
from rankstats.inputs.dicts import predictions_of, rows_of_dict, rows_of_predictions
from rankstats.inputs.fields import Columns
from rankstats.inputs.files import StoredFile
from rankstats.inputs.formats import read_table
from rankstats.inputs.frames import table_of
from rankstats.inputs.letor import read_predictions
from rankstats.inputs.nested_json import nested_value, read_nested
from rankstats.inputs.origin import HandedIn
from rankstats.inputs.quoting import listed as names_listed
from rankstats.inputs.quoting import plain
from rankstats.inputs.rows import SCORES, Rows, columns_of_table
from rankstats.inputs.table_file import TableFile
from rankstats.inputs.three_columns import check_ranks, read_three_column_run

NamedColumns = tuple[str | None, str | None, str | None]
"""The columns of query, document and score that were named."""


def rows_of_file(
    file: StoredFile, recognised: str, form: str | None, columns: NamedColumns, listed: Columns | None
) -> Rows:
    """Return the rows of a file that is recognised as anything but TREC; `form` is the format that was named.

    Raises
    ------
    InputError
        As `rankstats.inputs.read_run`.
    """
    if recognised == "json":
        value = nested_value(file)
        if value is not None:
            return read_nested(file, value, SCORES)
        if form:
            raise file.error("is no JSON object {query_id: {doc_id: score}}; leave out --run-format")
    if recognised in ("table", "json"):
        return _rows_of_table(read_table(file), *columns)
    if recognised == "predictions":
        return read_predictions(file, listed)
    return read_three_column_run(file, form)


def rows_of_data(data: Any, origin: HandedIn, columns: NamedColumns, listed: Columns | None) -> Rows:
    """Return the rows of a dictionary, a frame, an iterable of rows or an array of predictions.

    Raises
    ------
    InputError
        As `rankstats.inputs.read_run`.
    """
    if isinstance(data, Mapping):
        return rows_of_dict(data, origin, SCORES)
    predictions = predictions_of(data)
    if predictions is not None:
        return rows_of_predictions(predictions, origin, listed)
    return _rows_of_table(table_of(data, origin, ("query_id", "doc_id", "score")), *columns)


def _rows_of_table(
    table: TableFile, id_column: str | None, document_column: str | None, score_column: str | None
) -> Rows:
    names = ColumnNames(table)
    query_name = names.query_id(id_column)
    doc_name = names.document({query_name}, document_column)
    score_name, rank_name = names.score_or_rank({query_name, doc_name}, score_column)
    _check_one_system(table, {query_name, doc_name, score_name, rank_name})
    used = [name for name in (score_name, rank_name) if name]
    if score_name is None:
        names.notes.append(
            f"{table.file.path} has no score column; documents are ordered by {plain(used[0])}, 1 the best"
        )
    rows = columns_of_table(table, query_name, doc_name, used, tuple(names.notes), by_rank=score_name is None)
    check_ranks(rows)
    return rows


def _check_one_system(table: TableFile, taken: set[str | None]) -> None:
    """Raise where a column says that the table holds the runs of several systems."""
    for name in present(SYSTEM_NAMES, table.names, {name for name in taken if name}):
        systems = [str(system) for system in table.texts(name).unique().to_pylist() if system is not None]
        if len(systems) > 1:
            raise table.file.error(
                f"holds {len(systems)} systems in column {plain(name)} ({names_listed(systems)}); "
                "give one file for each"
            )
