"""Judgments in every format but TREC's, and judgments handed in from Python, to rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rankstats.inputs.columns import ColumnNames, present
from rankstats.inputs.dicts import rows_of_dict
from rankstats.inputs.files import StoredFile
from rankstats.inputs.formats import read_table
from rankstats.inputs.frames import table_of
from rankstats.inputs.letor import read_letor
from rankstats.inputs.nested_json import nested_value, read_nested
from rankstats.inputs.origin import HandedIn
from rankstats.inputs.rows import GRADES, Rows, columns_of_table
from rankstats.inputs.subtopics import SUBTOPIC_NAMES
from rankstats.inputs.table_file import TableFile

NamedColumns = tuple[str | None, str | None, str | None]
"""The columns of query, grade and document that were named."""


def rows_of_file(file: StoredFile, recognised: str, form: str | None, columns: NamedColumns) -> Rows:
    """Return the rows of a file that is recognised as 'json', 'table' or 'letor'; `form` is the format that was named.

    Raises
    ------
    InputError
        As `rankstats.inputs.read_judgments`.
    """
    value = nested_value(file) if recognised == "json" else None
    if value is None and form == "json":
        raise file.error("is no JSON object {query_id: {doc_id: grade}}; leave out --qrels-format")
    if value is None and recognised != "letor":
        return _rows_of_table(read_table(file), *columns)
    _, grade_column, _ = columns
    if grade_column:
        what = "has no header row, so no" if value is None else "is no table, so it has no"
        raise file.error(f"{what} column {grade_column!r}; leave --grade out")
    return read_letor(file) if value is None else read_nested(file, value, GRADES)


def rows_of_data(data: Any, columns: NamedColumns) -> Rows:
    """Return the rows of a dictionary, a frame or an iterable of rows.

    Raises
    ------
    InputError
        As `rankstats.inputs.read_judgments`.
    """
    origin = HandedIn("judgments")
    if isinstance(data, Mapping):
        return rows_of_dict(data, origin, GRADES)
    return _rows_of_table(table_of(data, origin, ("query_id", "doc_id", "relevance")), *columns)


def _rows_of_table(
    table: TableFile, id_column: str | None, grade_column: str | None, document_column: str | None
) -> Rows:
    names = ColumnNames(table)
    query_name = names.query_id(id_column)
    grade_name = names.grade(grade_column)
    doc_name = names.document({query_name, grade_name}, document_column)
    rows = columns_of_table(table, query_name, doc_name, [grade_name], tuple(names.notes))
    named = present(SUBTOPIC_NAMES, table.names, {query_name, grade_name, doc_name})
    return replace(rows, subtopics=lambda: (named[0], table.ids(named[0]))) if named else rows
