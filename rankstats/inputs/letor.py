"""LETOR files (SVMlight with qid: and the document in a comment), and the predictions that refer to their lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from rankstats.inputs.fields import NUMBER, Columns, with_newlines
from rankstats.inputs.files import StoredFile
from rankstats.inputs.quoting import quoted
from rankstats.inputs.rows import Rows
from rankstats.inputs.texts import arrow_texts

SHAPE = "grade qid:ID feature:value … # docid"
_LINE = re.compile(rb"\s*(\S+)\s+qid:([^\s#]+)((?:\s+[^\s:#]+:[^\s#]+)*)\s*(?:#(.*))?")
_NAMED_DOCUMENT = re.compile(rb"\s*doc_?id\s*[=:]\s*(\S+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    grade: float
    query_id: str
    doc_id: str | None


def read_letor(file: StoredFile) -> Rows:
    """Read a LETOR file: lines of ``grade qid:ID feature:value … # docid``; features are passed over.

    The document is what ``docid =`` names in the comment, else the first word of the comment. In a file without
    comments the documents of each query are called 0, 1, 2 …, as RankLib numbers them. Lines that begin with ``#`` are
    comments, and counted.

    Raises
    ------
    InputError
        With file and line: another shape, a grade that is not a finite number, a document named in some lines only,
        bytes that are not UTF-8. With the file: no line.
    """
    data = with_newlines(file.data)
    lines = list(_lines(file, data))
    if not lines:
        raise file.error("holds comments only, no judgment")
    is_named = lines[0].doc_id is not None
    for line in lines:
        if (line.doc_id is not None) != is_named:
            has, first = ("names a document", "none") if line.doc_id is not None else ("names no document", "one")
            raise file.error(f"{has} after #, but line {lines[0].number} {first}; name all or none", line.number)
    codes: dict[str, int] = {}
    query = [codes.setdefault(line.query_id, len(codes)) for line in lines]
    grades = np.array([line.grade for line in lines], np.float64)
    doc_ids = [str(line.doc_id) for line in lines] if is_named else _numbered(query, len(codes))
    comments = sum(line.lstrip().startswith(b"#") for line in data.split(b"\n"))
    blank = sum(not line.strip() for line in data.split(b"\n")) - data.endswith(b"\n")
    columns = Columns(
        tuple(codes), np.array(query, np.int32), pa.chunked_array([arrow_texts(doc_ids)]), (grades,), blank
    )
    note = f"{file.path} names no documents; they are called by their number within the query, from 0"
    return Rows(
        columns,
        file,
        "LETOR",
        lambda row: f"line {lines[row].number}",
        lambda problem, row: file.error(problem, lines[row].number),
        comment_lines=comments,
        notes=() if is_named else (note,),
    )


def _lines(file: StoredFile, data: bytes) -> Iterator[_Line]:
    for number, content in enumerate(data.split(b"\n"), 1):
        stripped = content.strip()
        if not stripped or stripped.startswith(b"#"):
            continue
        found = _LINE.fullmatch(content)
        if found is None:
            raise file.error(_problem(content), number)
        try:
            grade, query_id = found[1].decode(), found[2].decode()
            words = [word.decode() for word in (found[4] or b"").split()]
        except UnicodeDecodeError:
            raise file.error("is not UTF-8 text; save the file as UTF-8", number) from None
        if not NUMBER.fullmatch(grade) or not np.isfinite(float(grade)):
            raise file.error(f"grade {quoted(grade)} is not a finite number", number)
        named = _NAMED_DOCUMENT.match(found[4] or b"")
        doc_id = named[1].decode() if named else words[0] if words else None
        yield _Line(number, float(grade), query_id, doc_id)


def _problem(content: bytes) -> str:
    fields = content.partition(b"#")[0].split()
    if len(fields) < 2 or not fields[1].startswith(b"qid:") or fields[1] == b"qid:":
        return f"no query id after the grade ({SHAPE})"
    odd = next((field for field in fields[2:] if not re.fullmatch(rb"[^:]+:.+", field)), fields[-1])
    return f"{quoted(odd.decode('utf-8', 'replace'))} is no feature:value ({SHAPE})"


def _numbered(query: list[int], n_queries: int) -> list[str]:
    seen = [0] * n_queries
    names = []
    for code in query:
        names.append(str(seen[code]))
        seen[code] += 1
    return names


def read_predictions(file: StoredFile, listed: Columns | None) -> Rows:
    """Read a file of one number a line as the scores of the lines of a LETOR file.

    Parameters
    ----------
    file : StoredFile
        The predictions.
    listed : Columns or None
        Queries and documents of the LETOR file in the order of its lines; None where the judgments are no LETOR file.

    Raises
    ------
    InputError
        With file and line: a line that is not one finite number. With the file: another number of lines than the
        LETOR file has, or no LETOR file.
    """
    if listed is None:
        raise file.error(
            "holds one number a line, as predictions for the lines of a LETOR file, but the judgments are no LETOR "
            "file; give a run that names queries and documents"
        )
    numbers: list[float] = []
    lines: list[int] = []
    contents = with_newlines(file.data).split(b"\n")
    for number, content in enumerate(contents, 1):
        text = content.decode("utf-8", "replace").strip()
        if text:
            if not NUMBER.fullmatch(text) or not np.isfinite(float(text)):
                raise file.error(f"prediction {quoted(text)} is not a finite number", number)
            numbers.append(float(text))
            lines.append(number)
    if len(numbers) != len(listed.query):
        raise file.error(
            f"{len(numbers)} predictions for {len(listed.query)} judged lines; there must be one for each line"
        )
    blank = len(contents) - len(lines) - (not contents[-1])
    columns = Columns(listed.query_ids, listed.query, listed.doc_ids, (np.array(numbers, np.float64),), blank)
    return Rows(
        columns,
        file,
        "predictions",
        lambda row: f"line {lines[row]}",
        lambda problem, row: file.error(problem, lines[row]),
    )
