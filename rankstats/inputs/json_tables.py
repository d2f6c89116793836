"""Tables in JSON: one object a line, or an array of objects."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

from rankstats.errors import InputError
from rankstats.inputs.files import StoredFile
from rankstats.inputs.json_values import Members, json_decoder, without_members
from rankstats.inputs.quoting import quoted
from rankstats.inputs.table_file import TableFile, is_plain_number

_Cell = str | float | None


def read_json_table(file: StoredFile) -> TableFile:
    """Read JSON lines, or an array of objects, whose rows have numbers instead of lines.

    Raises
    ------
    InputError
        With file and line (or row): what is no JSON object, a key that stands twice, a number that is not finite, half
        a surrogate pair, nesting that is too deep.
    """
    return _read_array(file) if file.data.lstrip()[:1] == b"[" else _read_lines(file)


def _read_lines(file: StoredFile) -> TableFile:
    decoder = json_decoder()
    rows: list[dict[str, _Cell]] = []
    lines: list[int] = []
    contents = file.data.split(b"\n")
    for number, content in enumerate(contents, 1):
        stripped = content.strip()
        if stripped:
            try:
                rows.append(_cells(_value_of_line(decoder, stripped.decode()), b"\\u" in stripped))
            except RecursionError:
                raise file.error("is nested too deep", number) from None
            except InputError as error:
                raise file.error(error.problem, number) from None
            except ValueError as error:  # no JSON, no UTF-8, or a number of thousands of digits
                raise file.error(f"is not a JSON object on one line ({error})", number) from None
            lines.append(number)
    blank_lines = len(contents) - len(rows) - (not contents[-1])
    return TableFile(file, _columns(rows), lines.__getitem__, blank_lines, is_typed=True)


def _value_of_line(decoder: json.JSONDecoder, text: str) -> Members:
    value, end = decoder.raw_decode(text)
    if end != len(text):
        decoder.decode(text)  # says what stands behind the value
    if not isinstance(value, Members):
        raise InputError("is not a JSON object on one line")
    return value


def _read_array(file: StoredFile) -> TableFile:
    rows: list[dict[str, _Cell]] = []
    may_hold_halves = b"\\u" in file.data
    try:
        for value in json_decoder().decode(file.data.decode()):
            if not isinstance(value, Members):
                raise InputError("is not a JSON object")
            rows.append(_cells(value, may_hold_halves))
    except RecursionError:
        raise file.error("is nested too deep") from None
    except json.JSONDecodeError as error:
        raise file.error(f"is not JSON ({error.msg})", error.lineno) from None
    except InputError as error:
        raise file.error(f"row {len(rows) + 1}: {error.problem}") from None
    except ValueError as error:  # no UTF-8, or a number of thousands of digits
        raise file.error(f"is not JSON ({error})") from None
    return TableFile(file, _columns(rows), None, is_typed=True)


def _cells(value: Members, may_hold_halves: bool) -> dict[str, _Cell]:
    """Return an object as cells: whole numbers as decimal text, lists and objects as JSON.

    Raises
    ------
    InputError
        Without a place: a key that stands twice, a number that is not finite, half a surrogate pair.
    """
    cells = dict(value)
    if len(cells) < len(value):
        raise InputError(f"the key {quoted(value.repeated_key())} stands twice in one object; remove one")
    for name, member in value:
        kind = type(member)
        if kind is int:
            cells[name] = str(member)
        elif kind is not str and kind is not float and member is not None:
            cells[name] = json.dumps(without_members(member, InputError), ensure_ascii=False)
    if may_hold_halves:
        for text in (*cells, *cells.values()):
            _check_characters(str(text))
    return cells


def _check_characters(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        problem = "holds half a surrogate pair, which is no character; write both halves, or leave it out"
        raise InputError(f"{quoted(text)} {problem}") from None


def _columns(rows: list[dict[str, _Cell]]) -> dict[str, pa.Array[Any]]:
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: _column([row.get(name) for row in rows]) for name in names}


def _column(values: list[_Cell]) -> pa.Array[Any]:
    if any(isinstance(value, float) for value in values) and not any(
        isinstance(value, str) and not is_plain_number(value) for value in values
    ):
        return pa.array([None if value is None else float(value) for value in values], pa.float64())
    return pa.array([repr(value) if isinstance(value, float) else value for value in values], pa.string())
