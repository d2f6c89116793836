"""A table with named columns as read from a file, which knows where its rows stand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rankstats.errors import InputError
from rankstats.inputs.fields import NUMBER
from rankstats.inputs.files import StoredFile

_EMPTY = pa.scalar("")
_NUMBER_CELLS = rf"^(?:{NUMBER.pattern})$"


class TableFile:
    """A table as read, with the means to say where a row stands in its file.

    Parameters
    ----------
    file : StoredFile
        The file.
    columns : dict of str to pyarrow.Array
        Columns in the order of the file: strings with nulls, or float64 where the format itself has numbers.
    line_of : callable, or None
        Returns the line of a row, counted from 1; None where the format has no lines.
    blank_lines : int
        Blank lines left out.
    """

    def __init__(
        self,
        file: StoredFile,
        columns: dict[str, pa.Array[Any]],
        line_of: Callable[[int], int] | None,
        blank_lines: int = 0,
    ) -> None:
        self.file = file
        self.columns = columns
        self.blank_lines = blank_lines
        self._line_of = line_of

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
        """Return a column of ids as text; an empty cell is an error."""
        texts: Any = pc.utf8_trim_whitespace(self.texts(name))
        empty = pc.fill_null(pc.equal(texts, _EMPTY), True).to_numpy(zero_copy_only=False)
        if empty.any():
            raise self.error(f"{name} is empty", int(np.argmax(empty)))
        trimmed: pa.Array[Any] = texts
        return trimmed

    def id_list(self, name: str) -> list[str]:
        """Return a column of ids as a list of text; an empty cell is an error."""
        return [str(query_id) for query_id in self.ids(name).to_pylist()]

    def texts(self, name: str) -> pa.Array[Any]:
        """Return a column as text, null where a cell is empty."""
        column: Any = self.columns[name]
        if pa.types.is_string(column.type):
            texts: pa.Array[Any] = pc.if_else(pc.equal(column, _EMPTY), None, column)
            return texts
        return pa.array([None if number is None else _decimal(number) for number in column.to_pylist()], pa.string())

    def numbers(self, name: str, *, empty_is_error: bool = False) -> NDArray[np.float64]:
        """Return a column of finite numbers, NaN where a cell is empty; anything else is an error."""
        values, bad = self._numbers(name)
        wrong = bad | np.isnan(values) if empty_is_error else bad
        if wrong.any():
            row = int(np.argmax(wrong))
            raise self.error(_number_problem(name, self.columns[name][row].as_py()), row)
        return values

    def has_number(self, name: str) -> bool:
        """Return whether a cell of a column is a number."""
        return bool((~np.isnan(self._numbers(name)[0])).any())

    def numbers_or_texts(self, name: str) -> NDArray[Any]:
        """Return float64 where every cell that is not empty is a number, else an object array of str and None."""
        values, bad = self._numbers(name)
        if bad.any() or np.isnan(values).all():
            return np.array(self.texts(name).to_pylist(), object)
        return values

    def _numbers(self, name: str) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return the numbers of a column (NaN where empty) and which cells are no finite numbers."""
        column: Any = self.columns[name]
        if not pa.types.is_string(column.type):
            values = column.to_numpy(zero_copy_only=False).astype(np.float64)
            return values, np.isinf(values)
        trimmed: Any = pc.utf8_trim_whitespace(column)
        trimmed = pc.if_else(pc.equal(trimmed, _EMPTY), None, trimmed)
        fits: Any = pc.match_substring_regex(trimmed, _NUMBER_CELLS)
        plain: Any = pc.if_else(fits, pc.replace_substring_regex(trimmed, r"^\+", ""), None)
        values = pc.cast(plain, pa.float64()).to_numpy(zero_copy_only=False).astype(np.float64)
        is_number = pc.fill_null(fits, True).to_numpy(zero_copy_only=False)
        return values, ~is_number | np.isinf(values)


def _number_problem(name: str, cell: Any) -> str:
    if cell is None or not str(cell).strip():
        return f"{name} is empty"
    if NUMBER.fullmatch(str(cell).replace(",", ".").strip()) and "," in str(cell):
        return f"{name} {cell!r} is not a number; write a decimal point"
    return f"{name} {cell!r} is not a finite number"


def _decimal(number: float) -> str:
    return str(int(number)) if float(number).is_integer() else repr(number)
