"""Readers: files to tables, with an audit of what was read and of what was left out.

Every reader of files returns a `Read`: ``.table`` is what was read (`Judgments`, `Ranking`, `Queries`, or a
`ScoresInput` with ``.scores``, ``.queries`` and ``.missing``) and ``.audit`` the `ReadAudit` (sources with digest and
size, rows, blank lines, duplicates that a policy settled …). What is made from Python data (``…_from_dict``) is the
table itself. Every fault is an `InputError` that names file, line, rule and the way out.

The format is recognised by the content, compression (gz, bz2, xz, zst) by its first bytes. Ids are text.
"""

from rankstats.inputs.audit import Read, ReadAudit
from rankstats.inputs.judgments import judgments_from_dict, read_judgments
from rankstats.inputs.names import run_name, run_names
from rankstats.inputs.queries import read_queries
from rankstats.inputs.runs import ranking_from_dict, read_run
from rankstats.inputs.scores import ScoresInput, read_scores

__all__ = [
    "Read",
    "ReadAudit",
    "ScoresInput",
    "judgments_from_dict",
    "ranking_from_dict",
    "read_judgments",
    "read_queries",
    "read_run",
    "read_scores",
    "run_name",
    "run_names",
]
