"""Judgments: TREC qrels, headed tables, or a dictionary, to grades sorted by query and document."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rankstats.conventions import Policies
from rankstats.errors import InputError
from rankstats.inputs.audit import Read, ReadAudit
from rankstats.inputs.columns import DOCUMENT_NAMES, GRADE_NAMES, ID_NAMES, TEXT_ID_NAMES, ColumnNames
from rankstats.inputs.delimited import cells_of, first_line, has_known_name
from rankstats.inputs.fields import NUMBER, Columns, Layout, lines_of_rows, read_columns, with_newlines
from rankstats.inputs.files import StoredFile
from rankstats.inputs.formats import is_json, is_parquet, read_table
from rankstats.inputs.quoting import quoted
from rankstats.inputs.runs import columns_of_dict
from rankstats.inputs.table_file import TableFile
from rankstats.tables.arrow_arrays import arrow_of, values_of
from rankstats.tables.judgments import Judgments, Source

_QRELS = Layout(
    "a qrels file",
    ("qid", "iter", "docid", "grade"),
    query=0,
    document=2,
    numbers=(3,),
    other_width=6,
    other_number=4,
    other_hint="this looks like a run; are --qrels and the run swapped?",
)


def read_judgments(
    path: str | Path, policies: Policies, *, id_column: str | None = None, grade_column: str | None = None
) -> Read[Judgments]:
    r"""Read judgments: TREC qrels or a table with a header row, plain or compressed (gz, bz2, xz, zst).

    Qrels are lines of ``qid iter docid grade``, separated by any white space (a line that is not four fields so, but
    has exactly three tabs, is split at its tabs). Lines that begin with ``#`` and are not judgments are comments, and
    counted. A CSV or TSV file whose first row names its columns is read by those names: the query id from
    query_id, qid … or else from query (the text is the id); the document from doc_id, docid, document, product_id …;
    the grade from grade, relevance, rating, label or score.

    Parameters
    ----------
    path : str or Path
        The file.
    policies : Policies
        `duplicate_judgments` and `negative_grades`.
    id_column : str, optional
        The query id column of a headed table; used where the table has it, so that one option can serve several files.
    grade_column : str, optional
        The grade column of a headed table.

    Returns
    -------
    Read of Judgments
        Sorted by query id and document id, and the audit.

    Raises
    ------
    InputError
        With file and line: a wrong number of fields, a grade that is not a finite decimal number, a grade below 0 if
        the policy forbids it, two grades for one pair (unless the policy settles it). With the file: one that is
        absent, empty or damaged, or a header row in which a column is missing or ambiguous.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "qrels.txt"
    >>> _ = path.write_text("q2 0 d1 1\nq1 0 d2 0.5\n")
    >>> judgments = read_judgments(path, Policies()).table
    >>> judgments.query_ids, judgments.grade.tolist()
    (('q1', 'q2'), [0.5, 1.0])
    """
    file = StoredFile(path)
    if _is_table(file, [name for name in (id_column, grade_column) if name]):
        return _from_table(read_table(file), policies, id_column, grade_column)
    if grade_column:
        raise file.error(f"has no header row, so no column {grade_column!r}; leave --grade out for TREC qrels")
    data, comments = _without_comments(file)
    columns = read_columns(file, data, _QRELS)
    if not len(columns.query):
        raise file.error("holds comments only, no judgment")

    def error_at(problem: str, row: int) -> InputError:
        return file.error(problem, lines_of_rows(data, [row])[0])

    def place(row: int) -> str:
        return f"line {lines_of_rows(data, [row])[0]}"

    judgments = _settled(columns, policies, error_at, place, file.source())
    audit = ReadAudit(
        (judgments.source,), len(judgments.grade), columns.blank_lines - comments, comments, judgments.duplicates
    )
    return Read(judgments, audit)


def judgments_from_dict(qrels: Mapping[str, Mapping[str, float]]) -> Judgments:
    """Make judgments from ``{query_id: {doc_id: grade}}``, which is left as it is.

    Parameters
    ----------
    qrels : mapping of str to mapping of str to float
        Grades; a query with an empty mapping is a judged query without judged documents.

    Raises
    ------
    InputError
        If there is no query, a grade is not a finite number, or two ids are one as text.

    Examples
    --------
    >>> judgments_from_dict({"q1": {"d2": 1, "d1": 0}}).doc_ids.to_pylist()
    ['d1', 'd2']
    """
    if not qrels:
        raise InputError("there are no judgments")
    return _sorted(columns_of_dict(qrels, "grade"), Source("judgments"))[0]


def _is_table(file: StoredFile, named: list[str]) -> bool:
    """Decide from the first line: a header row, or the four fields of qrels."""
    if is_parquet(file):
        return True
    first = first_line(with_newlines(file.data), comment=b"#")
    fields = first.decode("utf-8", "replace").split()
    if len(fields) == len(_QRELS.names) and NUMBER.fullmatch(fields[-1]):
        return False
    return is_json(file) or has_known_name(
        cells_of(first), [*ID_NAMES, *TEXT_ID_NAMES, *DOCUMENT_NAMES, *GRADE_NAMES, *named]
    )


def _from_table(
    table: TableFile, policies: Policies, id_column: str | None, grade_column: str | None
) -> Read[Judgments]:
    names = ColumnNames(table)
    query_name = names.query_id(id_column)
    grade_name = names.grade(grade_column)
    doc_name = names.document({query_name, grade_name})
    query: Any = table.ids(query_name).dictionary_encode()
    grade = table.numbers(grade_name, empty_is_error=True)
    columns = Columns(
        tuple(query.dictionary.to_pylist()),
        values_of(query.indices).astype(np.int32),
        pa.chunked_array([table.ids(doc_name)]),
        (grade,),
        table.blank_lines,
    )
    judgments = _settled(columns, policies, table.error, table.place, table.file.source())
    audit = ReadAudit((judgments.source,), len(judgments.grade), columns.blank_lines, duplicates=judgments.duplicates)
    return Read(judgments, audit)


def _without_comments(file: StoredFile) -> tuple[bytes, int]:
    """Blank the lines that begin with # and are no judgments; count them."""
    data = file.data
    if b"#" not in data or not (data.startswith(b"#") or b"\n#" in data):
        return data, 0
    lines = data.split(b"\n")
    comments = 0
    for number, line in enumerate(lines):
        if not line.startswith(b"#"):
            continue
        fields = line.decode("utf-8", "replace").split()
        if len(fields) == len(_QRELS.names) and NUMBER.fullmatch(fields[-1]):
            if fields[0] == "#":
                raise file.error("is this a comment or a judgment of query '#'? Remove the line", number + 1)
            continue
        lines[number] = b""
        comments += 1
    return b"\n".join(lines), comments


def _settled(
    columns: Columns,
    policies: Policies,
    error_at: Callable[[str, int], InputError],
    place: Callable[[int], str],
    source: Source,
) -> Judgments:
    """Sort the judgments and apply the policies."""
    grade = columns.numbers[0]
    if policies.negative_grades == "error" and (grade < 0).any():
        row = int(np.argmax(grade < 0))
        raise error_at(f"grade {grade[row]:g} is below 0 (negative_grades = 'error')", row)
    judgments, order = _sorted(columns, source)
    repeats = _repeats(judgments)
    if not repeats.any():
        return judgments
    if policies.duplicate_judgments == "error":
        _raise_for_repeat(judgments, order, repeats, error_at, place)
    return _merged(judgments, repeats, policies.duplicate_judgments)


def _sorted(columns: Columns, source: Source) -> tuple[Judgments, NDArray[np.int64]]:
    """Sort by query, document and grade; return the row of the file that stands at each place too."""
    ids = sorted(columns.query_ids)
    position = {query_id: i for i, query_id in enumerate(ids)}
    code = np.array([position[query_id] for query_id in columns.query_ids], np.int32)[columns.query]
    doc_ids = columns.doc_ids.combine_chunks()
    if isinstance(doc_ids, pa.ChunkedArray):  # what older pyarrow returns
        doc_ids = pa.concat_arrays(doc_ids.chunks) if doc_ids.num_chunks else pa.nulls(0, pa.string())
    table = pa.table({"query": arrow_of(code), "document": doc_ids, "grade": arrow_of(columns.numbers[0])})
    keys: Any = [(name, "ascending") for name in table.column_names]
    order = pc.sort_indices(table, sort_keys=keys)
    rows = values_of(order).astype(np.int64)
    query = code[rows]
    offsets = np.searchsorted(query, np.arange(len(ids) + 1)).astype(np.int64)
    return Judgments(tuple(ids), query, doc_ids.take(order), columns.numbers[0][rows], offsets, source), rows


def _repeats(judgments: Judgments) -> NDArray[np.bool_]:
    """Return which rows have query and document of the row before."""
    repeats = np.zeros(len(judgments.query), bool)
    if len(repeats) > 1:
        same = values_of(pc.equal(judgments.doc_ids[1:], judgments.doc_ids[:-1]))
        repeats[1:] = same & (judgments.query[1:] == judgments.query[:-1])
    return repeats


def _raise_for_repeat(
    judgments: Judgments,
    order: NDArray[np.int64],
    repeats: NDArray[np.bool_],
    error_at: Callable[[str, int], InputError],
    place: Callable[[int], str],
) -> None:
    groups = np.cumsum(~repeats) - 1
    rows_of_group: dict[int, list[int]] = {}
    for group, row in zip(groups.tolist(), order.tolist(), strict=True):
        rows_of_group.setdefault(group, []).append(row)
    first, second = min((sorted(rows)[:2] for rows in rows_of_group.values() if len(rows) > 1), key=lambda r: r[1])
    at = int(np.flatnonzero(order == first)[0])
    query_id, doc_id = judgments.query_ids[judgments.query[at]], judgments.doc_ids[at].as_py()
    raise error_at(
        f"document {quoted(doc_id)} of query {quoted(query_id)} is judged twice, first in {place(first)}; remove one, "
        "or set duplicate_judgments = 'max' or 'mean'",
        second,
    )


def _merged(judgments: Judgments, repeats: NDArray[np.bool_], policy: str) -> Judgments:
    """Keep one row a pair: the highest grade, or the mean of its grades, added in ascending order."""
    starts = np.flatnonzero(~repeats)
    if policy == "max":
        grade = np.maximum.reduceat(judgments.grade, starts)
    else:
        grade = np.add.reduceat(judgments.grade, starts) / np.diff(starts, append=len(repeats))
    query = judgments.query[starts]
    offsets = np.searchsorted(query, np.arange(judgments.n_queries + 1)).astype(np.int64)
    duplicates = int(np.count_nonzero(np.diff(starts, append=len(repeats)) > 1))
    doc_ids = judgments.doc_ids.take(arrow_of(starts))
    return Judgments(judgments.query_ids, query, doc_ids, grade, offsets, judgments.source, duplicates)
