"""Readers: files and data handed in to tables, with an audit of what was read and of what was left out.

Every reader takes a path, or data handed in from Python (dictionaries, named tuples, pandas, Polars or Arrow frames),
and returns a `Read`: ``.table`` is what was read (`Judgments`, `Ranking`, `Queries`, or a `ScoresInput` with
``.scores``, ``.queries`` and ``.missing``) and ``.audit`` the `ReadAudit` (format, sources with digest and size, rows,
blank lines, duplicates that a policy settled …). What ``…_from_dict`` makes is the table itself. Every fault is an
`InputError` that names file and line, or the data and the row, the rule and the way out.

The format is recognised by the content, compression (gz, bz2, xz, zst) by its first bytes; what could be two formats is
refused, with the option that settles it. Ids are text.

A format goes from its module (`fields` TREC, `three_columns`, `delimited`, `json_tables`, `nested_json`, `letor`,
`value_lines`, `dicts`, `frames`) through `rows` or `table_file` to `judgments`, `runs`, `queries` or `scores`;
`recognised` says which it is, by `first_lines`. `judgments` and `runs` read TREC files themselves and load
`judgment_formats` and `run_formats`, with the libraries of all other formats, only where they are needed.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankstats.inputs.audit import Read, ReadAudit
    from rankstats.inputs.histories import read_histories
    from rankstats.inputs.items import read_items
    from rankstats.inputs.judgments import judgments_from_dict, read_judgments
    from rankstats.inputs.names import run_name, run_names
    from rankstats.inputs.queries import read_queries
    from rankstats.inputs.runs import ranking_from_dict, read_run
    from rankstats.inputs.scores import ScoresInput, read_scores

_HOMES = {
    "Read": "audit",
    "ReadAudit": "audit",
    "ScoresInput": "scores",
    "judgments_from_dict": "judgments",
    "ranking_from_dict": "runs",
    "read_histories": "histories",
    "read_items": "items",
    "read_judgments": "judgments",
    "read_queries": "queries",
    "read_run": "runs",
    "read_scores": "scores",
    "run_name": "names",
    "run_names": "names",
}

__all__ = [
    "Read",
    "ReadAudit",
    "ScoresInput",
    "judgments_from_dict",
    "ranking_from_dict",
    "read_histories",
    "read_items",
    "read_judgments",
    "read_queries",
    "read_run",
    "read_scores",
    "run_name",
    "run_names",
]


def __getattr__(name: str) -> Any:
    # a reader is loaded when it is asked for: each format brings libraries of its own
    if name in _HOMES:
        return getattr(import_module(f"rankstats.inputs.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'rankstats.inputs' has no attribute {name!r}")
