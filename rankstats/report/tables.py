"""The lists of report.json as flat tables with exact values, for other programs: CSV and Parquet."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankstats.report.delimited import delimited_text

Row = Mapping[str, Any]

_NOT_FLAT = {"systems", "measures", "queries", "segments", "values", "families"}
"""Lists that say what is compared, or are in per_query.csv."""


@dataclass(frozen=True, slots=True)
class FlatTable:
    """A table of plain values: column names, and rows of text, numbers, truth values or None."""

    header: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


def flat_tables(report: Mapping[str, Any]) -> dict[str, FlatTable]:
    """Return the lists of a report as tables by name; empty ones are absent.

    `means` are the scores, `pairs` the differences over all queries, `segments` those by segment; `lists`,
    `distributions` and `explanations` have a row a document, a bin and a move; every other list of rows keeps its name.
    Segments become the columns ``attribute`` and ``value``, intervals ``…_low``, ``…_high``, ``…_level`` and so on;
    lists within a row are left to report.json.

    Parameters
    ----------
    report : mapping
        The content of a report.json.

    Examples
    --------
    >>> rows = [{"system": "a", "segment": None, "interval": {"low": 0.1, "high": 0.3}}]
    >>> table = flat_tables({"scores": rows})["means"]
    >>> table.header, table.rows
    (('system', 'attribute', 'value', 'interval_low', 'interval_high'), (('a', None, None, 0.1, 0.3),))
    """
    found: dict[str, list[dict[str, Any]]] = {}
    for key, rows in report.items():
        if key in _NOT_FLAT or not isinstance(rows, list) or not rows or not isinstance(rows[0], Mapping):
            continue
        for name, kept in _SPECIAL.get(key, _whole(key))(rows):
            found.setdefault(name, []).extend(kept)
    return {name: _table(rows) for name, rows in found.items() if rows}


_Parts = Iterable[tuple[str, list[dict[str, Any]]]]


def _whole(name: str) -> Callable[[Sequence[Row]], _Parts]:
    return lambda rows: [(name, [_flat(row) for row in rows])]


def _differences(rows: Sequence[Row]) -> _Parts:
    overall = [_flat(row) for row in rows if row["segment"] is None]
    for row in overall:
        del row["attribute"], row["value"]
    return [("pairs", overall), ("segments", [_flat(row) for row in rows if row["segment"] is not None])]


def _parts_of(inner: str, name: str) -> Callable[[Sequence[Row]], _Parts]:
    """Return a row for each item of an inner list, with what stands around it."""
    return lambda rows: [(name, [_flat(row) | _flat(item) for row in rows for item in row[inner]])]


def _distributions(rows: Sequence[Row]) -> _Parts:
    bins = [
        {"difference_id": row["difference_id"], "low": low, "high": high, "count": count}
        for row in rows
        for low, high, count in zip(row["edges"], row["edges"][1:], row["counts"], strict=False)
    ]
    return [("distributions", bins)]


_SPECIAL: dict[str, Callable[[Sequence[Row]], _Parts]] = {
    "scores": lambda rows: [("means", [_flat(row) for row in rows])],
    "differences": _differences,
    "lists": _parts_of("docs", "lists"),
    "explanations": _parts_of("moves", "explanations"),
    "distributions": _distributions,
}


def _flat(row: Row) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in row.items():
        if key == "segment":
            flat |= {"attribute": value and value["attribute"], "value": value and value["value"]}
        elif isinstance(value, Mapping):
            parts = value.items() if key.endswith("interval") else [("", json.dumps(value, ensure_ascii=False))]
            flat |= {f"{key}_{name}" if name else key: part for name, part in parts}
        elif isinstance(value, list):
            if key == "what":
                flat[key] = " / ".join(map(str, value))
        elif key.endswith("interval"):
            flat |= {f"{key}_{name}": None for name in ("low", "high")}
        else:
            flat[key] = value
    return flat


def _table(rows: Sequence[Mapping[str, Any]]) -> FlatTable:
    header = tuple(dict.fromkeys(name for row in rows for name in row))
    return FlatTable(header, tuple(tuple(row.get(name) for name in header) for row in rows))


def csv_text(table: FlatTable) -> str:
    """Return a table as CSV that reads back exactly."""
    return delimited_text(table.header, table.rows)


def parquet_bytes(table: FlatTable) -> bytes:
    """Return a table as Parquet: texts, whole numbers, floats and truth values, null where undefined."""
    import pyarrow as pa  # noqa: PLC0415  slow to load and seldom asked for
    import pyarrow.parquet as pq  # noqa: PLC0415  as above

    columns = [_column([row[i] for row in table.rows]) for i in range(len(table.header))]
    made = pa.table([pa.array(column) for column in columns], names=list(table.header))
    stream = io.BytesIO()
    pq.write_table(made, stream)
    return stream.getvalue()


def _column(values: list[Any]) -> list[Any]:
    """Give a column one type: numbers stay numbers, anything mixed becomes text."""
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int, float} and float in kinds:
        return [None if value is None else float(value) for value in values]
    return values if len(kinds) <= 1 else [None if value is None else str(value) for value in values]
