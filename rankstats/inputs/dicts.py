"""Dictionaries of dictionaries, ``{query_id: {doc_id: number}}``, to rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rankstats.inputs.duplicates import repeated_rows
from rankstats.inputs.fields import NUMBER, Columns
from rankstats.inputs.origin import HandedIn
from rankstats.inputs.quoting import quoted
from rankstats.inputs.rows import Rows, Words
from rankstats.inputs.texts import arrow_texts, id_texts, why_no_id
from rankstats.tables.arrow_arrays import arrow_of


def rows_of_dict(values: Mapping[Any, Any], origin: HandedIn, words: Words) -> Rows:
    """Return a dictionary of dictionaries, which is left as it is, as rows; `words` name its parts in errors.

    Raises
    ------
    InputError
        If an inner value is no dictionary, a number is not finite, an id is missing, or two ids are one as text.
    """
    for query_id, of_query in values.items():
        if not isinstance(of_query, Mapping):
            raise origin.error(
                f"query {quoted(query_id)} has {_article(of_query)} where a dictionary "
                f"{{{words.member}: {words.number}}} is expected"
            )
    query_ids = _query_ids(list(values), origin)
    query = np.repeat(np.arange(len(values), dtype=np.int32), [len(of_query) for of_query in values.values()])
    documents = [doc_id for of_query in values.values() for doc_id in of_query]

    def named(row: int) -> str:
        return f"query {quoted(query_ids[query[row]])}, {words.member} {quoted(documents[row])}"

    numbers = _numbers(
        [number for of_query in values.values() for number in of_query.values()], words.number, named, origin
    )
    columns = Columns(query_ids, query, _members(documents, query_ids, query, words, origin), (numbers,), 0)
    _check_distinct(columns, words, origin)
    for piece in (arrow_texts(query_ids), arrow_of(query), *columns.doc_ids.chunks, arrow_of(numbers)):
        origin.take(piece)
    return Rows(columns, origin, "dictionary", named, lambda problem, row: origin.error(f"{named(row)}: {problem}"))


def _article(value: Any) -> str:
    return "a number" if isinstance(value, Real) else f"a {type(value).__name__}"


def _query_ids(given: Sequence[Any], origin: HandedIn) -> tuple[str, ...]:
    query_ids: list[str] = []
    known: dict[str, Any] = {}
    for value, query_id in zip(given, id_texts(given), strict=True):
        if query_id is None:
            raise origin.error(f"a query id {why_no_id(value)}")
        if query_id in known:
            raise origin.error(
                f"two queries are {query_id!r} as text ({quoted(known[query_id])} and {quoted(value)}); "
                "put them together, or rename one"
            )
        known[query_id] = value
        query_ids.append(query_id)
    _check_characters(query_ids, "query id", origin)
    return tuple(query_ids)


def _members(
    given: list[Any], query_ids: Sequence[str], query: NDArray[np.int32], words: Words, origin: HandedIn
) -> pa.ChunkedArray[Any]:
    texts: list[str] = []
    for row, (value, doc_id) in enumerate(zip(given, id_texts(given), strict=True)):
        if doc_id is None:
            raise origin.error(f"a {words.member} id of query {quoted(query_ids[query[row]])} {why_no_id(value)}")
        texts.append(doc_id)
    _check_characters(texts, f"{words.member} id", origin)
    return pa.chunked_array([arrow_texts(texts)])


def _check_characters(texts: Sequence[str], what: str, origin: HandedIn) -> None:
    try:
        "".join(texts).encode()
    except UnicodeEncodeError as error:
        length = 0
        for text in texts:
            length += len(text)
            if length > error.start:
                raise origin.error(
                    f"{what} {quoted(text)} holds half a surrogate pair, which is no character; leave it out"
                ) from None


def _numbers(values: list[Any], what: str, named: Any, origin: HandedIn) -> NDArray[np.float64]:
    kinds = set(map(type, values))
    numbers: NDArray[np.float64] | None = None
    if all(issubclass(kind, Real | Decimal | np.bool_) for kind in kinds):
        try:
            numbers = np.array(values if kinds <= {int, float} else list(map(float, values)), np.float64)
        except (OverflowError, ValueError):  # beyond float64; a signalling NaN of Decimal
            numbers = None
    if numbers is None or not np.isfinite(numbers).all():
        numbers = np.array([_number(value) for value in values], np.float64)
        wrong = ~np.isfinite(numbers)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise origin.error(f"{what} {quoted(values[row])} of {named(row)} is not a finite number")
    return numbers


def _number(value: Any) -> float:
    """Return what has a value as a float, or text that is a decimal number; NaN for the rest."""
    if isinstance(value, str):
        return float(value) if NUMBER.fullmatch(value.strip()) else float("nan")
    try:
        return float(value) if hasattr(type(value), "__float__") else float("nan")
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def _check_distinct(columns: Columns, words: Words, origin: HandedIn) -> None:
    for first, *_ in repeated_rows(columns.query, columns.doc_ids):
        doc_id = columns.doc_ids[first].as_py()
        raise origin.error(
            f"two {words.member}s of query {columns.query_ids[columns.query[first]]!r} are {doc_id!r} as text; "
            "ids are text, without white space at their ends"
        )


def predictions_of(values: Any) -> list[Any] | None:
    """Return the numbers of a one-dimensional array, series or sequence of numbers, or None for anything else."""
    if hasattr(values, "to_numpy") and not hasattr(values, "columns"):
        values = values.to_numpy()
    if isinstance(values, np.ndarray):
        return values.tolist() if values.ndim == 1 and values.dtype.kind in "fiu" else None
    if isinstance(values, Sequence) and not isinstance(values, str | bytes) and values:
        return list(values) if isinstance(values[0], Real) else None
    return None


def rows_of_predictions(values: list[Any], origin: HandedIn, listed: Columns | None) -> Rows:
    """Return predictions as the scores of the lines of a LETOR file, as `read_predictions` does for a file."""
    if listed is None:
        raise origin.error(
            "holds numbers alone, as predictions for the lines of a LETOR file, but the judgments are no LETOR file; "
            "give a run that names queries and documents"
        )
    if len(values) != len(listed.query):
        raise origin.error(
            f"{len(values)} predictions for {len(listed.query)} judged lines; there must be one for each line"
        )

    def place(row: int) -> str:
        return f"row {row + 1}"

    numbers = _numbers(values, "prediction", place, origin)
    origin.take(arrow_of(numbers))
    columns = Columns(listed.query_ids, listed.query, listed.doc_ids, (numbers,), 0)
    return Rows(columns, origin, "predictions", place, lambda problem, row: origin.error(f"{place(row)}: {problem}"))
