"""Output of trec_eval -q: lines of measure, query and value."""

from __future__ import annotations

import numpy as np

from rankstats.errors import InputError
from rankstats.inputs.fields import NUMBER
from rankstats.inputs.files import StoredFile
from rankstats.inputs.quoting import plain, quoted
from rankstats.inputs.score_rows import ScoreRows

_NOT_VALUES = ("runid", "relstring")
"""Measures of trec_eval that describe the run or its list in words."""


class _Lines:
    """The lines of a file, as rows."""

    def __init__(self, file: StoredFile) -> None:
        self.file = file
        self.numbers: list[int] = []

    def place(self, row: int) -> str:
        return f"line {self.numbers[row]}"

    def error(self, problem: str, row: int) -> InputError:
        return self.file.error(problem, self.numbers[row])


def read_trec_eval(file: StoredFile, system: str, rows: ScoreRows) -> None:
    """Take up the values of one system from ``measure query value`` lines.

    Raises
    ------
    InputError
        With the line: a wrong number of fields, or a value that is not a finite decimal number.
    """
    lines = _Lines(file)
    queries: list[str] = []
    measures: list[str] = []
    values: list[float] = []
    for number, content in enumerate(_text(file).split("\n"), 1):
        fields = content.split()
        if not fields:
            rows.blank_lines += 1
            continue
        if fields[0].split("_")[0] in _NOT_VALUES:
            rows.comment_lines += 1
            continue
        if len(fields) != 3:
            raise file.error(_problem(fields, first=not lines.numbers), number)
        lines.numbers.append(number)
        measures.append(fields[0])
        queries.append(fields[1])
        values.append(_value(file, number, fields, first=len(lines.numbers) == 1))
    rows.blank_lines -= file.data.endswith(b"\n")
    rows.add(lines, queries, [system] * len(queries), measures, np.array(values, np.float64))


def _text(file: StoredFile) -> str:
    try:
        return file.data.decode()
    except UnicodeDecodeError as error:
        line = file.data.count(b"\n", 0, error.start) + 1
        raise file.error("is not UTF-8 text; save the file as UTF-8", line) from None


def _value(file: StoredFile, number: int, fields: list[str], first: bool) -> float:
    is_number = NUMBER.fullmatch(fields[2])
    if first and not is_number:
        raise file.error(_problem(fields, first), number)
    if not is_number or not np.isfinite(float(fields[2])):
        problem = f"value {quoted(fields[2])} of {plain(fields[0])} is not a finite number"
        raise file.error(f"{problem} (query {quoted(fields[1])})", number)
    return float(fields[2])


def _problem(fields: list[str], first: bool) -> str:
    if first:
        return (
            "neither a table with a column query_id nor output of trec_eval -q (measure query value); "
            "add a column query_id, or name the query id column with --id"
        )
    return f"{len(fields)} field{'s' * (len(fields) != 1)} where 3 are expected (measure query value)"
