"""Ready-made per-query scores: long and wide tables and trec_eval -q output."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rankstats.errors import InputError
from rankstats.inputs.attributes import Attributes
from rankstats.inputs.audit import Read, ReadAudit
from rankstats.inputs.columns import ID_NAMES, TEXT_ID_NAMES, ColumnNames, folded
from rankstats.inputs.delimited import cells_of, first_line, has_known_name
from rankstats.inputs.fields import NUMBER, with_newlines
from rankstats.inputs.files import StoredFile
from rankstats.inputs.formats import is_json, is_parquet, read_table
from rankstats.inputs.names import run_name
from rankstats.inputs.quoting import listed, quoted
from rankstats.inputs.score_rows import ScoreRows
from rankstats.inputs.table_file import TableFile
from rankstats.inputs.trec_eval_output import read_trec_eval
from rankstats.tables.scores import MeasureInfo, Queries, Scores

_SYSTEM_NAMES = ("system", "run", "run_id", "runid", "model")
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
    paths: str | Path | Iterable[str | Path],
    *,
    measures: Sequence[str] | None = None,
    id_column: str | None = None,
    numeric: Collection[str] = (),
) -> Read[ScoresInput]:
    r"""Read per-query scores.

    Each file is recognised by its content: a long table (query_id, system, measure, value; other columns are weight
    and attributes of the query), a table of measures (query_id, system, then one column a measure), a wide table
    (query_id, then one column a system), all as CSV, TSV, JSON lines or Parquet, or the output of ``trec_eval -q``
    (one file a system, named by the file or by ``NAME=FILE``). Several files are put together. Rows of the query
    ``all`` are means, left out and counted. An empty cell is undefined (NaN), and counted.

    Parameters
    ----------
    paths : path or iterable of paths
        The files.
    measures : sequence of str, optional
        The name of the measure of wide tables, if it is one name; without it the measure is called ``value``.
    id_column : str, optional
        The query id column; used where a table has it.
    numeric : collection of str, optional
        Attributes that must be numbers, whatever they look like: weights.

    Returns
    -------
    Read of ScoresInput
        Scores, attributes of queries and missing queries, and the audit.

    Raises
    ------
    InputError
        With file and line: a value that is not a finite number or beyond 1e100, two values of one query, system and
        measure, two values of one attribute of a query, an empty id. With the file: a missing column, no row of a
        query.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "scores.csv"
    >>> _ = path.write_text("query_id,a,b\nq2,0.5,1\nq1,,0\n")
    >>> read = read_scores(path, measures=["AP"])
    >>> read.table.scores.systems, read.table.scores.query_ids, read.audit.undefined
    (('a', 'b'), ('q1', 'q2'), 1)
    """
    arguments = [paths] if isinstance(paths, str | Path) else list(paths)
    if not arguments:
        raise InputError("no score file is named")
    rows = ScoreRows()
    attributes = Attributes(numeric)
    files = []
    for argument in arguments:
        name, path = run_name(argument)
        file = StoredFile(path)
        files.append(file)
        if _is_table(file, id_column):
            score_table = read_table(file)
            _read_table(score_table, ColumnNames(score_table).query_id(id_column), measures, rows, attributes)
        else:
            read_trec_eval(file, name, rows)
    values, query_ids, systems, names = rows.pivoted(files)
    scores = Scores(values, query_ids, systems, tuple(MeasureInfo(name, name) for name in names))
    audit = ReadAudit(
        tuple(file.source() for file in files),
        rows=rows.count,
        blank_lines=rows.blank_lines,
        comment_lines=rows.comment_lines,
        mean_rows=rows.mean_rows,
        undefined=rows.undefined,
        notes=tuple(attributes.notes),
    )
    return Read(ScoresInput(scores, attributes.queries(query_ids), rows.missing()), audit)


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
    table: TableFile, query_name: str, measures: Sequence[str] | None, rows: ScoreRows, attributes: Attributes
) -> None:
    rows.blank_lines += table.blank_lines
    ids = table.id_list(query_name)
    by_folded = {folded(column): column for column in reversed(table.names) if column != query_name}
    system, measure, value = (_first(by_folded, n) for n in (_SYSTEM_NAMES, _MEASURE_NAMES, _VALUE_NAMES))
    if system and measure and value:
        _read_long(table, ids, (system, measure, value), rows)
        others = [column for column in table.names if column not in (query_name, system, measure, value)]
        attributes.add(table, ids, others)
    elif measure and value:
        raise table.file.error(f"has columns {measure} and {value} but no column system; add one")
    elif system and (len(set(ids)) < len(ids) or not _is_numeric(table, system)):
        _read_measures(table, ids, query_name, system, rows)
    else:
        _read_wide(table, ids, query_name, _only_name(table.file, measures), rows)


def _first(by_folded: Mapping[str, str], names: Iterable[str]) -> str | None:
    return next((by_folded[name] for name in names if name in by_folded), None)


def _is_numeric(table: TableFile, name: str) -> bool:
    return table.numbers_or_texts(name).dtype != object


def _only_name(file: StoredFile, measures: Sequence[str] | None) -> str:
    if not measures:
        return "value"
    if len(measures) > 1:
        raise file.error(
            f"is a wide table, which holds one measure, but {len(measures)} are named ({listed(measures)}); "
            "name one, or give a long table (query_id, system, measure, value)"
        )
    return measures[0]


def _read_long(table: TableFile, ids: list[str], names: tuple[str, str, str], rows: ScoreRows) -> None:
    systems, measures = table.id_list(names[0]), table.id_list(names[1])
    rows.add(table, ids, systems, measures, table.numbers(names[2], label=_label(ids, systems)))


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
