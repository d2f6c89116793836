"""The frequency of queries: which column holds it, and its numbers."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from rankstats.inputs.columns import FREQUENCY_NAMES, present
from rankstats.inputs.quoting import plain
from rankstats.inputs.table_file import LARGEST, TableFile

_LIKE_NUMBER = re.compile(r"[+-]?(?:\d[\d.,'’_\s]*|0x[0-9a-f]+|inf(?:inity)?)(?:e[+-]?\d+)?", re.IGNORECASE)
"""Digits of any script with separators, hexadecimal digits, infinity: meant as numbers, but not read as such."""


def frequencies(table: TableFile, name: str) -> NDArray[np.float64]:
    """Return a column of frequencies, NaN where a cell is empty.

    Raises
    ------
    InputError
        With file and line: a frequency that is not a number, is below 0 or beyond 1e100.
    """
    values = table.numbers(name)
    for wrong, problem in ((values < 0, "is below 0"), (values > LARGEST, f"is beyond {LARGEST:g}")):
        if wrong.any():
            row = int(np.argmax(wrong))
            raise table.error(f"{plain(name)} {values[row]:g} {problem}", row)
    return values


def guessed_frequency(
    table: TableFile, names: Sequence[str], taken: Collection[str] = ()
) -> tuple[str | None, tuple[str, ...]]:
    """Return the first column with a known name whose cells are meant as numbers, and notes on those passed over."""
    notes: list[str] = []
    for name in present(FREQUENCY_NAMES, names, taken):
        if table.has_number(name) or _is_meant_as_numbers(table, name):
            return name, tuple(notes)
        notes.append(f"column {plain(name)} of {table.file.path} holds no number, so it is not read as the frequency")
    return None, tuple(notes)


def _is_meant_as_numbers(table: TableFile, name: str) -> bool:
    return any(_LIKE_NUMBER.fullmatch(str(cell).strip()) for cell in table.texts(name).to_pylist() if cell is not None)
