"""Files of three columns without a header row: query and document, and a rank, a score or a grade.

The third column does not say which it is. It is taken for what it must be, and where it could be either, the file is
refused with the option that settles it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankstats.errors import InputError
from rankstats.inputs.fields import Columns, read_columns
from rankstats.inputs.files import Contents, StoredFile
from rankstats.inputs.layout import Layout
from rankstats.inputs.rows import Rows, rows_of_lines

_ENOUGH_RANKS = 3
"""A third column that counts 1, 2, 3 … for every query, this far at least for one, is a rank."""
_LARGEST_PLAIN_GRADE = 100


def layout(third: str) -> Layout:
    """Return the layout of a file whose third column is a 'rank', a 'score' or a 'grade' ('rank or score')."""
    is_grade = third == "grade"
    kind = "qrels" if is_grade else "a TREC run"
    return Layout(
        f"a header row has known names (query_id, doc_id, {third}) with tabs or commas between them",
        ("qid", "docid", third),
        query=0,
        document=1,
        numbers=(2,),
        other_width=4 if is_grade else 6,
        other_number=3 if is_grade else 4,
        other_hint=f"this line looks like {kind}",
    )


def read_three_column_run(file: StoredFile, form: str | None) -> Rows:
    """Read a run of three columns; `form` says 'rank' or 'score', None that the numbers have to tell.

    Numbers that count 1, 2, 3 … down the lines of every query are ranks; fractions and numbers below 0 are scores.

    Raises
    ------
    InputError
        With file and line: a wrong number of fields, a number that is none, a rank below 0. With the file: numbers
        that may be either.
    """
    columns = read_columns(file, file.view, layout(form or "rank or score"))
    note = ""
    if form is None:
        form, why = _rank_or_score(file, columns)
        note = f"{file.path} has three columns, read as query, document and {form}, because {why}"
    rows = rows_of_lines(file, columns, form, by_rank=form == "rank", notes=(note,) if note else ())
    check_ranks(rows)
    return rows


def check_ranks(rows: Rows) -> None:
    """Raise at the first rank below 0, where the rows of a run have ranks and no scores."""
    below = rows.columns.numbers[0] < 0
    if rows.by_rank and below.any():
        row = int(np.argmax(below))
        raise rows.error_at(f"rank {rows.columns.numbers[0][row]:g} is below 0; is this a score?", row)


def read_three_column_judgments(file: StoredFile, data: Contents, comment_lines: int, *, is_named: bool) -> Rows:
    """Read judgments of three columns; unless the format is named, what may be something else is refused.

    Grades are whole numbers of at most 100 that do not count 1, 2, 3 … down the lines of every query, and the second
    column tells documents apart.

    Raises
    ------
    InputError
        With file and line: a wrong number of fields, a number that is none. With the file: columns that may be
        something else.
    """
    columns = read_columns(file, data, layout("grade"))
    notes: tuple[str, ...] = ()
    if not is_named:
        _check_grades(file, columns)
        notes = (f"{file.path} has three columns, read as query, document and grade",)
    return rows_of_lines(file, columns, "grade", data=data, comment_lines=comment_lines, notes=notes)


def _rank_or_score(file: StoredFile, columns: Columns) -> tuple[str, str]:
    number = columns.numbers[0]
    if counted_down(columns) >= _ENOUGH_RANKS:
        return "rank", "the third counts 1, 2, 3 … for every query"
    if (number < 0).any() or not _are_whole(number):
        return "score", "the third holds fractions or numbers below 0"
    if len(number) == len(columns.query_ids):
        return "score", "every query has one document, so that a rank would give the same order"
    raise _unclear(
        file,
        "the third may be a rank or a score",
        "--run-format rank (1 is the best) or --run-format score (the highest is the best)",
    )


def _check_grades(file: StoredFile, columns: Columns) -> None:
    number = columns.numbers[0]
    way_out = "--qrels-format grade if they are qid, docid and grade"
    if counted_down(columns) >= _ENOUGH_RANKS:
        raise _unclear(file, "the third counts 1, 2, 3 … for every query like the ranks of a run", way_out)
    if not _are_whole(number) or (np.abs(number) > _LARGEST_PLAIN_GRADE).any():
        raise _unclear(file, "the third may be a grade or the score of a run", way_out)
    if len(columns.query_ids) > 1 and len(columns.doc_ids.unique()) == 1:
        raise _unclear(file, "the second is the same in every line, as if the grade were missing", way_out)


def _unclear(file: StoredFile, why: str, way_out: str) -> InputError:
    return file.error(f"has three columns, and {why}; say which with {way_out}")


def _are_whole(numbers: NDArray[np.float64]) -> bool:
    return bool((numbers == np.floor(numbers)).all())


def counted_down(columns: Columns) -> int:
    """Return how far the numbers count 1, 2, 3 … down the lines of the longest query; 0 if not of every query.

    Examples
    --------
    >>> import pyarrow as pa
    >>> documents = pa.chunked_array([["a", "b", "a"]])
    >>> counted_down(Columns(("q1", "q2"), np.array([0, 0, 1]), documents, (np.array([1.0, 2.0, 1.0]),), 0))
    2
    """
    query, number = columns.query, columns.numbers[0]
    new = np.ones(len(query), bool)
    new[1:] = query[1:] != query[:-1]
    starts = np.flatnonzero(new)
    if len(starts) != len(columns.query_ids):
        return 0
    lengths = np.diff(starts, append=len(query))
    expected = np.arange(len(query)) - np.repeat(starts, lengths) + 1
    return int(lengths.max(initial=0)) if np.array_equal(number, expected) else 0
