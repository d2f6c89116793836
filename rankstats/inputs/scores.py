"""Ready-made per-query scores: long and wide tables, output of trec_eval and ir_measures, data handed in."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankstats.conventions import SCORES_FORMATS
from rankstats.errors import InputError, PlanError, did_you_mean
from rankstats.inputs.attributes import Attributes
from rankstats.inputs.audit import Read, ReadAudit
from rankstats.inputs.columns import ID_NAMES, SYSTEM_NAMES, TEXT_ID_NAMES, ColumnNames, folded
from rankstats.inputs.dicts import rows_of_dict
from rankstats.inputs.fields import NUMBER, with_newlines
from rankstats.inputs.files import StoredFile
from rankstats.inputs.first_lines import cells_of, first_line, has_known_name, is_json, is_parquet
from rankstats.inputs.formats import read_table
from rankstats.inputs.frames import table_of
from rankstats.inputs.names import run_name
from rankstats.inputs.nested_json import nested_value, read_nested
from rankstats.inputs.origin import HandedIn, Origin
from rankstats.inputs.quoting import listed, plain, quoted
from rankstats.inputs.rows import VALUES, Rows
from rankstats.inputs.score_rows import ScoreRows
from rankstats.inputs.table_file import TableFile
from rankstats.inputs.value_lines import read_value_lines
from rankstats.tables.scores import MeasureInfo, Queries, Scores

_MEASURE_NAMES = ("measure", "metric")
_VALUE_NAMES = ("value", "score")


@dataclass(frozen=True, slots=True)
class ScoresInput:
    """Scores and what stood beside them in the files.

    Attributes
    ----------
    scores : Scores
        Queries ascending, systems and measures in the order of first appearance.
    queries : Queries or None
        Weight and attributes of long tables, one row a query; None if there are none.
    missing : mapping of str to tuple of str
        For each system the queries of which no measure has a row.
    """

    scores: Scores
    queries: Queries | None
    missing: Mapping[str, tuple[str, ...]]


def read_scores(
    data: Any,
    *,
    measures: Sequence[str] | None = None,
    id_column: str | None = None,
    numeric: Collection[str] = (),
    form: str | None = None,
) -> Read[ScoresInput]:
    r"""Read per-query scores from files, or from data handed in.

    Each file is recognised by its content:

    * a long table (query_id, system, measure, value; other columns are weight and attributes of the query; without a
      column system, the system is named by the file),
    * a table of measures (query_id, system, then one column a measure),
    * a wide table (query_id, then one column a system), all three as CSV, TSV, JSON lines, JSON arrays or Parquet,
    * the output of ``trec_eval -q`` (measure, query, value) or ``ir_measures -q`` (query, measure, value), or JSON
      ``{query_id: {measure: value}}`` as pytrec_eval gives it: one file a system, named by the file or by
      ``NAME=FILE``.

    Several files are put together. Rows of the query ``all`` are means, left out and counted. An empty cell is
    undefined (NaN), and counted.

    Parameters
    ----------
    data : path, iterable of paths, Scores, frame, iterable of rows, or mapping
        The files; or such a table as a frame or an iterable of named tuples or mappings; or a mapping of systems to
        tables without a column system, or to ``{query_id: {measure: value}}``.
    measures : sequence of str, optional
        The name of the measure of wide tables, if it is one name; without it the measure is called ``value``.
    id_column : str, optional
        The query id column; used where a table has it.
    numeric : collection of str, optional
        Attributes that must be numbers, whatever they look like: weights.
    form : {'table', 'json', 'trec_eval', 'ir_measures'}, optional
        The format of all files, instead of recognising it.

    Returns
    -------
    Read of ScoresInput
        Scores, attributes of queries and missing queries, and the audit.

    Raises
    ------
    InputError
        With file and line (or row): a value that is not a finite number or beyond 1e100, two values of one query,
        system and measure, two values of one attribute of a query, an empty id. With the file: a missing column, no row
        of a query.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "scores.csv"
    >>> _ = path.write_text("query_id,a,b\nq2,0.5,1\nq1,,0\n")
    >>> read = read_scores(path, measures=["AP"])
    >>> read.table.scores.systems, read.table.scores.query_ids, read.audit.undefined
    (('a', 'b'), ('q1', 'q2'), 1)
    """
    if isinstance(data, Scores):
        return _handed_in_scores(data)
    if form is not None and form not in SCORES_FORMATS:
        raise PlanError(
            f"scores format {form!r} is unknown; choose one of {', '.join(SCORES_FORMATS)}"
            + did_you_mean(form, SCORES_FORMATS)
        )
    reading = _Reading(measures, id_column, ScoreRows(), Attributes(numeric))
    if isinstance(data, Mapping):
        for name, of_system in data.items():
            reading.take_data(of_system, HandedIn(f"scores {name}"), str(name))
    elif _is_path(data):
        reading.take_file(data, form)
    elif isinstance(data, list | tuple) and (not data or _is_path(data[0])):
        for path in data:
            reading.take_file(path, form)
    else:
        reading.take_data(data, HandedIn("scores"), None)
    return reading.finished()


def _is_path(data: Any) -> bool:
    return isinstance(data, str | Path)


def _handed_in_scores(scores: Scores) -> Read[ScoresInput]:
    origin = HandedIn("scores")
    origin.take(np.ascontiguousarray(scores.values))
    absent: NDArray[np.bool_] = np.asarray(np.isnan(scores.values).all(axis=2))
    missing = {
        system: tuple(scores.query_ids[q] for q in np.flatnonzero(absent[:, s]).tolist())
        for s, system in enumerate(scores.systems)
    }
    undefined = int(np.count_nonzero(np.isnan(scores.values)))
    audit = ReadAudit((origin.source(),), scores.values.size, undefined=undefined, format="Scores")
    return Read(ScoresInput(scores, None, missing), audit)


class _Reading:
    """What is gathered from one file, or one table handed in, after the other."""

    def __init__(
        self, measures: Sequence[str] | None, id_column: str | None, rows: ScoreRows, attributes: Attributes
    ) -> None:
        self._measures = measures
        self._id_column = id_column
        self._rows = rows
        self._attributes = attributes
        self._origins: list[Origin] = []
        self._formats: list[str] = []
        self._notes: list[str] = []

    def take_file(self, argument: str | Path, form: str | None) -> None:
        """Take up a file, which may be given as NAME=FILE."""
        name, path = run_name(argument)
        file = StoredFile(path)
        self._origins.append(file)
        value = nested_value(file) if form in (None, "json") and is_json(file) else None
        if value is not None:
            self._take_nested(read_nested(file, value, VALUES), name)
        elif form == "json":
            raise file.error("is no JSON object {query_id: {measure: value}}; leave out --scores-format")
        elif form == "table" or (form is None and _is_table(file, self._id_column)):
            self._take_table(read_table(file), name)
        else:
            self._formats.append(read_value_lines(file, name, self._rows, form))

    def take_data(self, data: Any, origin: HandedIn, system: str | None) -> None:
        """Take up data handed in; without the name of a system they must tell it themselves."""
        self._origins.append(origin)
        if isinstance(data, Mapping) and system is not None:
            self._take_nested(rows_of_dict(data, origin, VALUES), system)
        else:
            names = ("query_id", "measure", "value") if system else ("query_id", "system", "measure", "value")
            self._take_table(table_of(data, origin, names), system)

    def _take_nested(self, rows: Rows, system: str) -> None:
        columns = rows.columns
        queries = [columns.query_ids[code] for code in columns.query.tolist()]
        measures = [str(measure) for measure in columns.doc_ids.to_pylist()]
        self._formats.append(rows.format)
        self._rows.add(_PlacedRows(rows), queries, [system] * len(queries), measures, columns.numbers[0])

    def _take_table(self, table: TableFile, system: str | None) -> None:
        query_name = ColumnNames(table).query_id(self._id_column)
        self._formats.append("table")
        note = _read_table(table, query_name, self._rows, self._attributes, file_system=system, measures=self._measures)
        if note:
            self._notes.append(note)

    def finished(self) -> Read[ScoresInput]:
        """Lay out what was gathered."""
        if not self._origins:
            raise InputError("no score file is named")
        rows = self._rows
        values, query_ids, systems, names = rows.pivoted(self._origins)
        scores = Scores(values, query_ids, systems, tuple(MeasureInfo(name, name) for name in names))
        audit = ReadAudit(
            tuple(origin.source() for origin in self._origins),
            rows=rows.count,
            blank_lines=rows.blank_lines,
            comment_lines=rows.comment_lines,
            mean_rows=rows.mean_rows,
            undefined=rows.undefined,
            notes=(*self._notes, *self._attributes.notes),
            format=", ".join(dict.fromkeys(self._formats)),
        )
        return Read(ScoresInput(scores, self._attributes.queries(query_ids), rows.missing()), audit)


class _PlacedRows:
    """Rows of query and measure, as what knows where they stand."""

    def __init__(self, rows: Rows) -> None:
        self.file = rows.origin
        self.place = rows.place
        self.error = rows.error_at


def _is_table(file: StoredFile, id_column: str | None) -> bool:
    if is_parquet(file) or is_json(file):
        return True
    first = first_line(with_newlines(file.data))
    cells = cells_of(first)
    known = [*ID_NAMES, *TEXT_ID_NAMES, *([id_column] if id_column else [])]
    if not any(NUMBER.fullmatch(cell) for cell in cells):
        return has_known_name(cells, known)
    # systems may be called 1 and 2; but trec_eval may have a query called 'id', and so may a table without a header
    named_by_number = all(cell.isdecimal() for cell in cells if NUMBER.fullmatch(cell))
    return has_known_name(cells[:1], known) and (named_by_number or cells[0] == id_column)


def _read_table(
    table: TableFile,
    query_name: str,
    rows: ScoreRows,
    attributes: Attributes,
    *,
    file_system: str | None,
    measures: Sequence[str] | None,
) -> str | None:
    """Take up a long table, a table of measures or a wide one; return what was decided and could surprise."""
    rows.blank_lines += table.blank_lines
    ids = table.id_list(query_name)
    by_folded = {folded(column): column for column in reversed(table.names) if column != query_name}
    system, measure, value = (_first(by_folded, n) for n in (SYSTEM_NAMES, _MEASURE_NAMES, _VALUE_NAMES))
    if measure and value and (system or file_system):
        systems = table.id_list(system) if system else [str(file_system)] * len(ids)
        label = _label(ids, systems)
        rows.add(table, ids, systems, table.id_list(measure), table.numbers(value, label=label))
        others = [column for column in table.names if column not in (query_name, system, measure, value)]
        attributes.add(table, ids, others)
        if system is None and isinstance(table.file, StoredFile):
            return f"{table.file.path} has no column system, so that all its values are of {plain(str(file_system))}"
    elif measure and value:
        raise table.file.error(f"has columns {measure} and {value} but no column system; add one")
    elif system and (len(set(ids)) < len(ids) or not _is_numeric(table, system)):
        _read_measures(table, ids, query_name, system, rows)
    else:
        _read_wide(table, ids, query_name, _only_name(table.file, measures), rows)
    return None


def _first(by_folded: Mapping[str, str], names: Iterable[str]) -> str | None:
    return next((by_folded[name] for name in names if name in by_folded), None)


def _is_numeric(table: TableFile, name: str) -> bool:
    return table.numbers_or_texts(name).dtype != object


def _only_name(file: Origin, measures: Sequence[str] | None) -> str:
    if not measures:
        return "value"
    if len(measures) > 1:
        raise file.error(
            f"is a wide table, which holds one measure, but {len(measures)} are named ({listed(measures)}); "
            "name one, or give a long table (query_id, system, measure, value)"
        )
    return measures[0]


def _read_measures(table: TableFile, ids: list[str], query_name: str, system: str, rows: ScoreRows) -> None:
    systems = table.id_list(system)
    for name in table.names:
        if name not in (query_name, system):
            rows.add(table, ids, systems, [name] * len(ids), table.numbers(name, label=_label(ids, systems)))


def _read_wide(table: TableFile, ids: list[str], query_name: str, measure: str, rows: ScoreRows) -> None:
    names = [name for name in table.names if name != query_name]
    if not names:
        raise table.file.error("has a query id column and no other; a wide table has one column a system")
    for name in names:
        systems = [name] * len(ids)
        rows.add(table, ids, systems, [measure] * len(ids), table.numbers(name, label=_label(ids, systems)))


def _label(ids: Sequence[str], systems: Sequence[str]) -> Callable[[int], str]:
    def label(row: int) -> str:
        return f"system {quoted(systems[row])}, query {quoted(ids[row])}"

    return label
