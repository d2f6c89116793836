"""JSON files of one value: ``{query_id: {doc_id: number}}`` as pytrec_eval and ranx write it, and lists of ratings.

The file is parsed at once. Only where that shows a fault, or the line of a row is asked for, is it walked value by
value, to name the line.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from rankstats.errors import InputError
from rankstats.inputs.columns import DOCUMENT_NAMES, ID_NAMES, TEXT_ID_NAMES, folded
from rankstats.inputs.fields import NUMBER, Columns
from rankstats.inputs.files import StoredFile
from rankstats.inputs.json_values import Constant, Members, json_decoder
from rankstats.inputs.quoting import quoted
from rankstats.inputs.rows import Rows, Words
from rankstats.inputs.texts import arrow_texts

RATINGS = "judgmentRatings"
"""The key under which OpenSearch's Search Relevance Workbench keeps judgments, a list of queries with ratings."""

_ROW_NAMES = (*ID_NAMES, *TEXT_ID_NAMES, *DOCUMENT_NAMES)
_MARKS = re.compile(r"[ \t\n\r,:]*")


@dataclass(frozen=True, slots=True)
class _Member:
    """A document of a query with its number as it stands in the file.

    Without a document it is the query itself, with a number (or whatever stands there) if it has no documents.
    """

    query_id: str
    doc_id: str | None
    number: Any
    line: int


def nested_value(file: StoredFile) -> Members | None:
    """Return the one value of a JSON file if it holds dictionaries by query, or ratings; None for a table.

    Raises
    ------
    InputError
        With the line, if the first value spans several lines and is no JSON.
    """
    text = _text(file)
    try:
        value = json_decoder().decode(text)
    except json.JSONDecodeError as error:
        if error.lineno > 1 and not error.msg.startswith("Extra data"):
            raise file.error(f"is not JSON ({error.msg})", error.lineno) from None
        return None
    except (ValueError, RecursionError):  # the reader of JSON lines says what is wrong
        return None
    return value if isinstance(value, Members) and _is_nested(value) else None


def _is_nested(value: Members) -> bool:
    keys = [key for key, _ in value]
    are_members = [isinstance(inner, Members) for _, inner in value]
    # the one row of a table may begin with an object, but then names its query and its document
    is_row = sum(folded(key) in _ROW_NAMES for key in keys) > 1
    return RATINGS in keys or all(are_members) or (are_members[0] and not is_row)


def read_nested(file: StoredFile, value: Members, words: Words) -> Rows:
    """Return a value of `nested_value` as rows; `words` name its parts in errors.

    Raises
    ------
    InputError
        With file and line: a number that is not finite, an empty id, a query that stands twice, half a surrogate pair.
        With the file: no query.
    """
    if not value:
        raise file.error("holds no query")
    if any(key == RATINGS for key, _ in value):
        return _rows_of_ratings(file, value, words)
    if not all(isinstance(of_query, Members) for _, of_query in value):
        raise _fault(file, words)
    query_ids = [query_id.strip() for query_id, _ in value]
    documents = [doc_id.strip() for _, of_query in value for doc_id, _ in of_query]
    numbers = _numbers([number for _, of_query in value for _, number in of_query])
    try:
        doc_ids = arrow_texts(documents)
        "".join(query_ids).encode()
    except UnicodeEncodeError:
        doc_ids = None
    if numbers is None or doc_ids is None or not all(query_ids) or not all(documents) or _repeats(query_ids):
        raise _fault(file, words)
    query = np.repeat(np.arange(len(value), dtype=np.int32), [len(of_query) for _, of_query in value])
    columns = Columns(tuple(query_ids), query, pa.chunked_array([doc_ids]), (numbers,), 0)

    def line_of(row: int) -> int:
        documents = (member for member in _walk(_text(file)) if member.doc_id is not None)
        return next(itertools.islice(documents, row, None)).line

    return Rows(
        columns,
        file,
        "JSON",
        lambda row: f"line {line_of(row)}",
        lambda problem, row: file.error(problem, line_of(row)),
    )


def _text(file: StoredFile) -> str:
    try:
        return file.data.decode()
    except UnicodeDecodeError as error:
        line = file.data.count(b"\n", 0, error.start) + 1
        raise file.error("is not UTF-8 text; save the file as UTF-8", line) from None


def _repeats(names: list[str]) -> bool:
    return len(set(names)) < len(names)


def _numbers(values: list[Any]) -> Any:
    """Return the numbers, also those that stand as text, or None where one is none."""
    if not set(map(type, values)) <= {int, float}:
        values = [_number(value) for value in values]
    try:
        numbers = np.array(values, np.float64)
    except OverflowError:
        return None
    return numbers if np.isfinite(numbers).all() else None


def _number(value: Any) -> float:
    if isinstance(value, str):
        return float(value) if NUMBER.fullmatch(value.strip()) else float("nan")
    return value if type(value) in (int, float) else float("nan")


def _fault(file: StoredFile, words: Words) -> InputError:
    """Return the error for the first fault, with its line."""
    lines: dict[str, int] = {}
    for member in _walk(_text(file)):
        problem = _problem(member, words)
        query_id = member.query_id.strip()
        if problem is None and member.doc_id is None and query_id in lines:
            problem = f"query {quoted(query_id)} stands twice, first in line {lines[query_id]}; put them together"
        if problem is not None:
            return file.error(problem, member.line)
        lines.setdefault(query_id, member.line)
    raise AssertionError("a fault was seen, but none is found")


def _problem(member: _Member, words: Words) -> str | None:
    name = member.query_id if member.doc_id is None else member.doc_id
    kind = "query id" if member.doc_id is None else f"{words.member} id"
    try:
        name.encode()
    except UnicodeEncodeError:
        return f"{kind} {quoted(name)} holds half a surrogate pair, which is no character; write both halves"
    if not name.strip():
        return f"a {kind} is empty"
    if member.doc_id is None and member.number is not None:
        return f"query {quoted(name)} has no object {{{words.member}: {words.number}}}"
    if member.doc_id is None or np.isfinite(_single_number(member.number)):
        return None
    of = f"of query {quoted(member.query_id)}, {words.member} {quoted(name)}"
    if isinstance(member.number, Constant):
        return f"{words.number} {member.number.name} {of} is not a finite number"
    if isinstance(member.number, list):
        return f"{words.number} {of} is a list or an object; a number is expected"
    return f"{words.number} {quoted(member.number)} {of} is not a finite number"


def _single_number(value: Any) -> float:
    try:
        return float(_number(value))
    except OverflowError:
        return float("inf")


def _walk(text: str) -> Iterator[_Member]:
    """Yield queries and documents of a text that is known to be a JSON object of objects."""
    cursor = _Cursor(text)
    cursor.enter()
    while not cursor.leaves():
        line, query_id = cursor.line(), cursor.key()
        if not cursor.is_at_object():
            yield _Member(query_id, None, (cursor.value(),), line)
            continue
        yield _Member(query_id, None, None, line)
        cursor.enter()
        while not cursor.leaves():
            line, doc_id = cursor.line(), cursor.key()
            yield _Member(query_id, doc_id, cursor.value(), line)


class _Cursor:
    """A place in a text that is known to be JSON, so that marks between tokens need no check."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._line = 1
        self._counted_to = 0
        self._decoder = json_decoder()

    def _pass_marks(self) -> None:
        found = _MARKS.match(self._text, self._at)
        self._at = found.end() if found else self._at

    def is_at_object(self) -> bool:
        """Return whether an object comes next."""
        self._pass_marks()
        return self._text[self._at] == "{"

    def enter(self) -> None:
        """Go into an object."""
        self._pass_marks()
        self._at += 1

    def leaves(self) -> bool:
        """Go to the next key, or out of the object if there is none; return whether it was left."""
        self._pass_marks()
        if self._text[self._at] != "}":
            return False
        self._at += 1
        return True

    def key(self) -> str:
        """Pass over a key and return it."""
        key, self._at = self._decoder.raw_decode(self._text, self._at)
        return str(key)

    def value(self) -> Any:
        """Pass over a value and return it."""
        self._pass_marks()
        value, self._at = self._decoder.raw_decode(self._text, self._at)
        return value

    def line(self) -> int:
        """Return the line, counted from 1."""
        self._line += self._text.count("\n", self._counted_to, self._at)
        self._counted_to = self._at
        return self._line


def _rows_of_ratings(file: StoredFile, value: Members, words: Words) -> Rows:
    """Read a list of queries, each with a list of documents and ratings."""
    codes: dict[str, int] = {}
    query: list[int] = []
    documents: list[str] = []
    numbers: list[float] = []
    for name, doc_id, number in _ratings(file, dict(value)[RATINGS]):
        place = f"row {len(query) + 1}: "
        if not name.strip() or not doc_id.strip():
            raise file.error(place + ("the query is empty" if not name.strip() else "docId is empty"))
        problem = _problem(_Member(name, None, None, 0), words) or _problem(_Member(name, doc_id, number, 0), words)
        if problem:
            raise file.error(place + problem)
        query.append(codes.setdefault(name.strip(), len(codes)))
        documents.append(doc_id.strip())
        numbers.append(_single_number(number))
    if not query:
        raise file.error("holds no rating")
    doc_ids = pa.chunked_array([arrow_texts(documents)])
    columns = Columns(tuple(codes), np.array(query, np.int32), doc_ids, (np.array(numbers, np.float64),), 0)
    return Rows(
        columns,
        file,
        f"JSON: {RATINGS}",
        lambda row: f"row {row + 1}",
        lambda problem, row: file.error(f"row {row + 1}: {problem}"),
    )


def _ratings(file: StoredFile, queries: Any) -> Iterator[tuple[str, str, Any]]:
    row = 0
    for query in _items(file, queries, RATINGS):
        name, ratings = _member(file, query, "query", row), _member(file, query, "ratings", row)
        for rating in _items(file, ratings, "ratings"):
            doc_id = _member(file, rating, "docId", row)
            for text in (name, doc_id):
                if type(text) not in (str, int):
                    raise file.error(f"row {row + 1}: {quoted(text)} is no id; ids are text")
            row += 1
            yield str(name), str(doc_id), _member(file, rating, "rating", row - 1)


def _items(file: StoredFile, value: Any, what: str) -> list[Any]:
    if not isinstance(value, list) or isinstance(value, Members):
        raise file.error(f"{what} is no list")
    return value


def _member(file: StoredFile, value: Any, key: str, row: int) -> Any:
    if not isinstance(value, Members) or sum(name == key for name, _ in value) != 1:
        raise file.error(f"row {row + 1}: an object with one key {key!r} is expected")
    return dict(value)[key]
