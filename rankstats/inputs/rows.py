"""Rows of query, document and numbers, as every format of runs and judgments gives them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from rankstats.errors import InputError
from rankstats.inputs.fields import Columns, lines_of_rows
from rankstats.inputs.files import Contents, StoredFile
from rankstats.inputs.origin import Origin
from rankstats.inputs.quoting import plain
from rankstats.tables.arrow_arrays import values_of

if TYPE_CHECKING:
    from rankstats.inputs.table_file import TableFile
    from rankstats.tables.arrow_arrays import Column


class Words(NamedTuple):
    """What errors call the parts of a dictionary of dictionaries: its numbers, and what they belong to."""

    number: str
    member: str = "document"


GRADES, SCORES, VALUES = Words("grade"), Words("score"), Words("value", "measure")


@dataclass(frozen=True, slots=True)
class Rows:
    """What a format gives, with the means to say where a row stands.

    Attributes
    ----------
    columns : Columns
        Queries, documents and numbers: the grade of judgments; the score or the rank of a run, or the score and then
        the rank.
    origin : Origin
        Where the rows came from.
    format : str
        The format, for the audit.
    place : callable
        Returns where a row stands: 'line 7'.
    error_at : callable
        Returns the error for a problem with a row.
    by_rank : bool
        Whether the first number of a run is a rank, 1 the best.
    comment_lines : int
        Lines that are comments.
    notes : tuple of str
        What was decided and could surprise, each a sentence.
    subtopics : callable or None
        Returns name and texts of the column that may name subtopics of judgments; None where there is none.
    """

    columns: Columns
    origin: Origin
    format: str
    place: Callable[[int], str]
    error_at: Callable[[str, int], InputError]
    by_rank: bool = False
    comment_lines: int = 0
    notes: tuple[str, ...] = ()
    subtopics: Callable[[], tuple[str, Column]] | None = None


def rows_of_lines(
    file: StoredFile,
    columns: Columns,
    form: str,
    *,
    data: Contents | None = None,
    by_rank: bool = False,
    comment_lines: int = 0,
    notes: tuple[str, ...] = (),
) -> Rows:
    """Return the rows of a file that has one row a line; `data` are its contents where comments were blanked."""
    contents = file.view if data is None else data

    def place(row: int) -> str:
        return f"line {lines_of_rows(contents, [row])[0]}"

    def error_at(problem: str, row: int) -> InputError:
        return file.error(problem, lines_of_rows(contents, [row])[0])

    if comment_lines:
        columns = replace(columns, blank_lines=columns.blank_lines - comment_lines)
    return Rows(columns, file, form, place, error_at, by_rank, comment_lines, notes)


def columns_of_table(
    table: TableFile,
    query_name: str,
    doc_name: str,
    number_names: Sequence[str],
    notes: tuple[str, ...] = (),
    *,
    by_rank: bool = False,
) -> Rows:
    """Return columns of a table as rows; an empty cell is an error.

    Raises
    ------
    InputError
        With file and line (or row): an empty id, ids that would fall together, a number that is not finite.
    """
    query: Any = table.ids(query_name).dictionary_encode()
    columns = Columns(
        tuple(query.dictionary.to_pylist()),
        values_of(query.indices).astype(np.int32),
        pa.chunked_array([table.ids(doc_name)]),
        tuple(table.numbers(name, empty_is_error=True) for name in number_names),
        table.blank_lines,
    )
    form = f"table: {', '.join(map(plain, (query_name, doc_name, *number_names)))}"
    return Rows(columns, table.file, form, table.place, table.error, by_rank, notes=notes)
