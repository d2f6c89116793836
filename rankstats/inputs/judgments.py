"""Judgments: files of any format that is recognised, or data handed in from Python, to sorted grades."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rankstats.conventions import QRELS_FORMATS, Policies
from rankstats.errors import PlanError, did_you_mean
from rankstats.inputs.audit import Read, ReadAudit
from rankstats.inputs.fields import NUMBER, Columns, read_columns
from rankstats.inputs.files import StoredFile
from rankstats.inputs.layout import Layout
from rankstats.inputs.quoting import quoted
from rankstats.inputs.recognised import judgments_format
from rankstats.inputs.rows import Rows, rows_of_lines
from rankstats.inputs.three_columns import read_three_column_judgments
from rankstats.tables.arrow_arrays import arrow_of, values_of
from rankstats.tables.arrow_functions import equal, sorting, take
from rankstats.tables.judgments import Judgments, Source

if TYPE_CHECKING:
    from rankstats.inputs.judgment_formats import NamedColumns

_QRELS = Layout(
    "a qrels file has no header row",
    ("qid", "iter", "docid", "grade"),
    query=0,
    document=2,
    numbers=(3,),
    other_width=6,
    other_number=4,
    other_hint="this looks like a run; are --qrels and the run swapped?",
)
_SUBTOPICS = replace(_QRELS, document=1, numbers=())


def read_judgments(
    data: Any,
    policies: Policies,
    *,
    form: str | None = None,
    id_column: str | None = None,
    grade_column: str | None = None,
    document_column: str | None = None,
    subtopics: bool = False,
    digest: bool = True,
) -> Read[Judgments]:
    r"""Read judgments from a file, plain or compressed (gz, bz2, xz, zst), or from data handed in.

    Files are recognised by their content:

    * TREC qrels: lines of ``qid iter docid grade``, separated by any white space (a line that is not four fields so,
      but has exactly three tabs, is split at its tabs). Lines that begin with ``#`` and are not judgments are comments,
      and counted.
    * Three columns, ``qid docid grade``, where the numbers can be nothing but grades; else the format has to be named.
    * Tables with named columns as CSV, TSV, JSON lines, JSON arrays or Parquet: the query id from query_id, qid … or
      else from query (the text is the id); the document from doc_id, docid, product_id, corpus-id …; the grade from
      grade, relevance, rating, label or score.
    * JSON ``{query_id: {doc_id: grade}}``, and the judgmentRatings of OpenSearch.
    * LETOR files: ``grade qid:ID feature:value … # docid``.

    Data are such a dictionary, an iterable of named tuples, mappings or tuples (query, document, relevance), or a
    pandas, Polars or Arrow frame with such columns. They are left as they are.

    Parameters
    ----------
    data : path, mapping, iterable, frame or Judgments
        The judgments.
    policies : Policies
        `duplicate_judgments` and `negative_grades`.
    form : {'trec', 'grade', 'table', 'json', 'letor'}, optional
        The format of a file, instead of recognising it.
    id_column : str, optional
        The query id column of a table; used where the table has it, so that one option can serve several files.
    grade_column, document_column : str, optional
        The grade and the document column of a table; what is no table has no grade column, and needs no other.
    subtopics : bool, optional
        Whether subtopics are wanted, so that the second field of qrels, or a column subtopic, is read as the subtopic
        where some query has two of them. It is in any case where some document has two of them (TREC diversity qrels);
        then the grade of a document is the highest of its subtopics, which a note says.
    digest : bool, optional
        Whether the source of a file gets a digest of its bytes.

    Returns
    -------
    Read of Judgments
        Sorted by query id and document id, and the audit, whose notes say what was recognised.

    Raises
    ------
    InputError
        With file and line (or row): a wrong number of fields, a grade that is not a finite decimal number, a grade
        below 0 if the policy forbids it, an empty id, two grades for one pair (unless the policy settles it). With the
        file: one that is absent, empty or damaged, or could be of two formats; a column that is missing or ambiguous.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "qrels.txt"
    >>> _ = path.write_text("q2 0 d1 1\nq1 0 d2 0.5\n")
    >>> judgments = read_judgments(path, Policies()).table
    >>> judgments.query_ids, judgments.grade.tolist()
    (('q1', 'q2'), [0.5, 1.0])
    """
    if isinstance(data, Judgments):
        return Read(data, ReadAudit((data.source,), len(data.grade), duplicates=data.duplicates, format="Judgments"))
    form = _known_form(form)
    columns = (id_column, grade_column, document_column)
    if isinstance(data, str | Path):
        rows = _rows_of_file(StoredFile(data, digest=digest), form, columns)
    else:
        rows = _other_formats().rows_of_data(data, columns)
    if not rows.columns.query_ids:
        raise rows.origin.error("there are no judgments")
    judgments, notes = _settled(rows, policies, subtopics)
    audit = ReadAudit(
        (judgments.source,),
        len(judgments.grade),
        rows.columns.blank_lines,
        rows.comment_lines,
        judgments.duplicates,
        notes=(*rows.notes, *notes),
        format=rows.format,
    )
    return Read(judgments, audit, rows.columns if rows.format == "LETOR" else None)


def judgments_from_dict(qrels: Mapping[str, Mapping[str, float]]) -> Judgments:
    """Make judgments from ``{query_id: {doc_id: grade}}``, which is left as it is.

    Parameters
    ----------
    qrels : mapping of str to mapping of str to float
        Grades; a query with an empty mapping is a judged query without judged documents.

    Raises
    ------
    InputError
        If there is no query, a grade is not a finite number, an id is missing, or two ids are one as text.

    Examples
    --------
    >>> judgments_from_dict({"q1": {"d2": 1, "d1": 0}}).doc_ids.to_pylist()
    ['d1', 'd2']
    """
    return read_judgments(qrels, Policies()).table


def _known_form(form: str | None) -> str | None:
    if form is not None and form not in QRELS_FORMATS:
        raise PlanError(
            f"qrels format {form!r} is unknown; choose one of {', '.join(QRELS_FORMATS)}"
            + did_you_mean(form, QRELS_FORMATS)
        )
    return form


def _rows_of_file(file: StoredFile, form: str | None, columns: NamedColumns) -> Rows:
    recognised = form or judgments_format(file, [name for name in columns if name])
    if recognised in ("table", "json", "letor"):
        rows: Rows = _other_formats().rows_of_file(file, recognised, form, columns)
        return rows
    _, grade_column, _ = columns
    if grade_column:
        raise file.error(f"has no header row, so no column {grade_column!r}; leave --grade out")
    width, number = (4, 3) if recognised == "trec" else (3, 2)
    contents, comments = _without_comments(file, width, number)
    if not contents.strip():
        raise file.error("holds comments only, no judgment")
    if recognised != "trec":
        return read_three_column_judgments(file, contents, comments, is_named=form is not None)
    read = read_columns(file, contents, _QRELS)
    rows = rows_of_lines(file, read, "TREC", data=contents, comment_lines=comments)
    return replace(rows, subtopics=lambda: ("the second field", read_columns(file, contents, _SUBTOPICS).doc_ids))


def _other_formats() -> Any:
    # every format brings libraries of its own; TREC files need none of them
    return import_module("rankstats.inputs.judgment_formats")


def _without_comments(file: StoredFile, width: int, number: int) -> tuple[bytes, int]:
    """Blank the lines that begin with # and are no judgments; count them."""
    data = file.data
    if b"#" not in data or not (data.startswith(b"#") or b"\n#" in data):
        return data, 0
    lines = data.split(b"\n")
    comments = 0
    for place, line in enumerate(lines):
        if not line.startswith(b"#"):
            continue
        fields = line.split()
        if len(fields) == width and NUMBER.fullmatch(fields[number].decode("utf-8", "replace")):
            if fields[0] == b"#":
                raise file.error("is this a comment or a judgment of query '#'? Remove the line", place + 1)
            continue
        lines[place] = b""
        comments += 1
    return b"\n".join(lines), comments


def _settled(rows: Rows, policies: Policies, subtopics: bool) -> tuple[Judgments, tuple[str, ...]]:
    """Apply the policies, which name the place of what they refuse; return the judgments and notes."""
    (grade,) = rows.columns.numbers
    if policies.negative_grades == "error" and (grade < 0).any():
        row = int(np.argmax(grade < 0))
        raise rows.error_at(f"grade {grade[row]:g} is below 0 (negative_grades = 'error')", row)
    judgments, order = _sorted(rows.columns, rows.origin.source())
    repeats = _repeats(judgments)
    if rows.subtopics is not None and (subtopics or repeats.any()):
        made = _by_subtopic(rows, judgments, order, repeats, policies.duplicate_judgments, wanted=subtopics)
        if made is not None:
            return made
    if not repeats.any():
        return judgments, ()
    if policies.duplicate_judgments == "error":
        _raise_for_repeat(judgments, order, repeats, rows)
    return _merged(judgments, repeats, policies.duplicate_judgments), ()


def _by_subtopic(
    rows: Rows,
    judgments: Judgments,
    order: NDArray[np.int64],
    repeats: NDArray[np.bool_],
    policy: str,
    *,
    wanted: bool,
) -> tuple[Judgments, tuple[str, ...]] | None:
    """Return the judgments with their subtopics and a note, or None if there are no subtopics."""
    from rankstats.inputs.subtopics import SubtopicColumn, holds_subtopics, with_subtopics  # noqa: PLC0415  rarely needed

    if rows.subtopics is None:
        return None
    column = SubtopicColumn.of(*rows.subtopics())
    if not holds_subtopics(judgments, order, repeats, column, wanted=wanted):
        return None
    made, note = with_subtopics(
        judgments,
        order,
        repeats,
        column,
        policy=policy,
        refuse=lambda order, again: _raise_for_repeat(judgments, order, again, rows),
    )
    return made, (note,)


def _sorted(columns: Columns, source: Source) -> tuple[Judgments, NDArray[np.int64]]:
    """Sort by query, document and grade; return the row of the file that stands at each place too."""
    ids = sorted(columns.query_ids)
    position = {query_id: i for i, query_id in enumerate(ids)}
    code = np.array([position[query_id] for query_id in columns.query_ids], np.int32)[columns.query]
    doc_ids = columns.doc_ids.combine_chunks()
    if isinstance(doc_ids, pa.ChunkedArray):  # what older pyarrow returns
        doc_ids = pa.concat_arrays(doc_ids.chunks) if doc_ids.num_chunks else pa.nulls(0, pa.string())
    table = pa.table({"query": arrow_of(code), "document": doc_ids, "grade": arrow_of(columns.numbers[0])})
    order = sorting(table, *table.column_names)
    rows = values_of(order).astype(np.int64)
    query = code[rows]
    offsets = np.searchsorted(query, np.arange(len(ids) + 1)).astype(np.int64)
    return Judgments(tuple(ids), query, take(doc_ids, order), columns.numbers[0][rows], offsets, source), rows


def _repeats(judgments: Judgments) -> NDArray[np.bool_]:
    """Return which rows have query and document of the row before."""
    repeats = np.zeros(len(judgments.query), bool)
    if len(repeats) > 1:
        same = values_of(equal(judgments.doc_ids[1:], judgments.doc_ids[:-1]))
        repeats[1:] = same & (judgments.query[1:] == judgments.query[:-1])
    return repeats


def _raise_for_repeat(
    judgments: Judgments,
    order: NDArray[np.int64],
    repeats: NDArray[np.bool_],
    rows: Rows,
) -> None:
    groups = np.cumsum(~repeats) - 1
    rows_of_group: dict[int, list[int]] = {}
    for group, row in zip(groups.tolist(), order.tolist(), strict=True):
        rows_of_group.setdefault(group, []).append(row)
    pairs = (sorted(members)[:2] for members in rows_of_group.values() if len(members) > 1)
    first, second = min(pairs, key=lambda pair: pair[1])
    at = int(np.flatnonzero(order == first)[0])
    query_id, doc_id = judgments.query_ids[judgments.query[at]], judgments.doc_ids[at].as_py()
    raise rows.error_at(
        f"document {quoted(doc_id)} of query {quoted(query_id)} is judged twice, first in {rows.place(first)}; "
        "remove one, or set duplicate_judgments = 'max' or 'mean'",
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
    doc_ids = take(judgments.doc_ids, arrow_of(starts))
    return Judgments(judgments.query_ids, query, doc_ids, grade, offsets, judgments.source, duplicates)
