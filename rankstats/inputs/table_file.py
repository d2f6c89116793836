"""A table with named columns as read from a file, which knows where its rows stand."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rankstats.errors import InputError
from rankstats.inputs.fields import NUMBER
from rankstats.inputs.origin import Origin
from rankstats.inputs.quoting import plain, quoted
from rankstats.inputs.texts import LARGEST_WHOLE, merged_pair
from rankstats.tables.arrow_arrays import floats_of, is_valid, values_of

LARGEST = 1e100
"""The largest magnitude of a value: squares, products and sums of such values stay finite."""

_NONE: Any = pa.nulls(1, pa.string())[0]
_EMPTY: Any = pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(bytes(8)), pa.py_buffer(b"")])[0]
_NUMBER_CELLS = rf"^(?:{NUMBER.pattern})$"
_ID_CELLS = r"^[+-]?(?:0[0-9]|[0-9]{16})|^-0$"
"""Numbers that lose something as float64: leading zeros, digits beyond the fifteenth before the point, a sign of 0."""
_GROUPED = re.compile(r"[+-]?\d{1,3}(?:[,.'’_\s]\d{3})+")


def is_plain_number(text: str) -> bool:
    """Return whether a text is a finite number that float64 holds without loss of an id's digits.

    Examples
    --------
    >>> [is_plain_number(text) for text in ("7", "0.50", "-1e5", "007", "1234567890123456", "-0", "x")]
    [True, True, True, False, False, False, False]
    """
    is_number = NUMBER.fullmatch(text) is not None and re.match(_ID_CELLS, text) is None
    return is_number and bool(np.isfinite(float(text)))


class TableFile:
    """A table as read, with the means to say where a row stands in its file.

    Parameters
    ----------
    file : Origin
        The file, or the data handed in from Python.
    columns : mapping of str to pyarrow.Array
        Columns in the order of the file: strings with nulls, or float64 where the format itself has numbers.
    line_of : callable, or None
        Returns the line of a row, counted from 1; None where the format has no lines.
    blank_lines : int
        Blank lines left out.
    is_typed : bool
        Whether the format tells texts from numbers, so that white space at the ends of a text was put there.
    """

    def __init__(
        self,
        file: Origin,
        columns: Mapping[str, pa.Array[Any]],
        line_of: Callable[[int], int] | None,
        blank_lines: int = 0,
        *,
        is_typed: bool = False,
    ) -> None:
        self.file = file
        self.columns = columns
        self.blank_lines = blank_lines
        self._line_of = line_of
        self._is_typed = is_typed

    @property
    def names(self) -> tuple[str, ...]:
        """Column names in the order of the file."""
        return tuple(self.columns)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()))) if self.columns else 0

    def place(self, row: int) -> str:
        """Return where a row stands: 'line 7', or 'row 7' where the format has no lines."""
        return f"row {row + 1}" if self._line_of is None else f"line {self._line_of(row)}"

    def error(self, problem: str, row: int) -> InputError:
        """Return an error at a row."""
        if self._line_of is None:
            return self.file.error(f"row {row + 1}: {problem}")
        return self.file.error(problem, self._line_of(row))

    def ids(self, name: str) -> pa.Array[Any]:
        """Return a column of ids as text; an empty cell is an error, and so are ids that would fall together."""
        texts: Any = self.texts(name)
        trimmed: Any = pc.utf8_trim_whitespace(texts)
        empty = ~is_valid(trimmed) | values_of(pc.equal(trimmed, _EMPTY))
        if empty.any():
            raise self.error(f"{plain(name)} is empty", int(np.argmax(empty)))
        self._check_ids(name, texts, trimmed)
        ids: pa.Array[Any] = trimmed
        return ids

    def _check_ids(self, name: str, texts: pa.Array[Any], trimmed: pa.Array[Any]) -> None:
        if not pa.types.is_string(self.columns[name].type):
            beyond = np.abs(values_of(self.columns[name])) >= LARGEST_WHOLE
            if beyond.any():
                row = int(np.argmax(beyond))
                what = f"{plain(name)} {texts[row].as_py()}"
                raise self.error(f"{what} has lost digits as a floating-point number; give ids as text", row)
        merged = merged_pair(texts, trimmed) if self._is_typed else None
        if merged:
            first, second = merged
            raise self.error(
                f"{plain(name)} {quoted(texts[second].as_py())} and {quoted(texts[first].as_py())} "
                f"({self.place(first)}) are one without white space at their ends; give ids without it",
                second,
            )

    def id_list(self, name: str) -> list[str]:
        """Return a column of ids as a list of text; an empty cell is an error."""
        return [str(query_id) for query_id in self.ids(name).to_pylist()]

    def texts(self, name: str) -> pa.Array[Any]:
        """Return a column as text, null where a cell is empty."""
        column: Any = self.columns[name]
        if pa.types.is_string(column.type):
            return _without_empty(column)
        return pa.array([_decimal(number) for number in column.to_pylist()], pa.string())

    def numbers(
        self, name: str, *, empty_is_error: bool = False, label: Callable[[int], str] | None = None
    ) -> NDArray[np.float64]:
        """Return a column of finite numbers, NaN where a cell is empty; anything else is an error.

        `label` says in the error what the row is about.
        """
        values, bad = self._numbers(name)
        wrong = bad | np.isnan(values) if empty_is_error else bad
        if wrong.any():
            row = int(np.argmax(wrong))
            problem = _number_problem(name, self.columns[name][row].as_py())
            raise self.error(problem + (f" ({label(row)})" if label else ""), row)
        return values

    def has_number(self, name: str) -> bool:
        """Return whether a cell of a column is a number."""
        return bool((~np.isnan(self._numbers(name)[0])).any())

    def numbers_or_texts(self, name: str) -> NDArray[Any]:
        """Return float64 where every cell that is not empty is a plain number, else an object array of str and None.

        Whole numbers with leading zeros or more than 15 digits, and -0, are not plain: they are ids, which as float64
        would fall together.
        """
        values, bad = self._numbers(name)
        if bad.any() or np.isnan(values).all():
            return np.array(self.texts(name).to_pylist(), object)
        if self._holds_ids(name):
            return np.array(self.trimmed(name).to_pylist(), object)
        return values

    def trimmed(self, name: str) -> pa.Array[Any]:
        """Return a column as text without white space at its ends, null where nothing is left."""
        return _without_empty(pc.utf8_trim_whitespace(self.texts(name)))

    def _holds_ids(self, name: str) -> bool:
        if not pa.types.is_string(self.columns[name].type):
            return False
        trimmed: Any = self.trimmed(name)
        return bool((values_of(pc.match_substring_regex(trimmed, _ID_CELLS)) & is_valid(trimmed)).any())

    def _numbers(self, name: str) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return the numbers of a column (NaN where empty) and which cells are no finite numbers."""
        column: Any = self.columns[name]
        if not pa.types.is_string(column.type):
            values = floats_of(column)
            return values, np.isinf(values)
        trimmed: Any = self.trimmed(name)
        fits: Any = pc.match_substring_regex(trimmed, _NUMBER_CELLS)
        numbers: Any = pc.if_else(fits, pc.replace_substring_regex(trimmed, r"^\+", ""), _NONE)
        values = floats_of(pc.cast(numbers, pa.float64()))
        is_number = values_of(fits) | ~is_valid(trimmed)
        return values, ~is_number | np.isinf(values)


def _without_empty(column: Any) -> pa.Array[Any]:
    texts: pa.Array[Any] = pc.if_else(pc.equal(column, _EMPTY), _NONE, column)
    return texts


def _number_problem(column: str, cell: Any) -> str:
    name = plain(column)
    text = "" if cell is None else str(cell).strip()
    if not text:
        return f"{name} is empty"
    if _GROUPED.fullmatch(text):
        return f"{name} {quoted(cell)} is not a number; leave out separators of thousands, and write a decimal point"
    if "," in text and NUMBER.fullmatch(text.replace(",", ".")):
        return f"{name} {quoted(cell)} is not a number; write a decimal point"
    return f"{name} {quoted(cell)} is not a finite number"


def _decimal(number: float | None) -> str | None:
    if number is None or np.isnan(number):
        return None
    return str(int(number)) if float(number).is_integer() else repr(number)
