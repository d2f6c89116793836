"""Runs: TREC files of six fields, or a dictionary, to a ranking."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rankstats.conventions import Policies
from rankstats.errors import InputError
from rankstats.inputs.audit import Read, ReadAudit
from rankstats.inputs.duplicates import repeated_rows
from rankstats.inputs.fields import Columns, Layout, lines_of_rows, read_columns
from rankstats.inputs.files import StoredFile
from rankstats.inputs.quoting import quoted
from rankstats.tables.judgments import Source
from rankstats.tables.ranking import Ranking

_RUN = Layout(
    "a TREC run",
    ("qid", "Q0", "docid", "rank", "score", "tag"),
    query=0,
    document=2,
    numbers=(4,),
    other_width=4,
    other_number=3,
    other_hint="this looks like qrels; are --qrels and the run swapped?",
)
_RUN_WITH_RANK = replace(_RUN, numbers=(4, 3))


def read_run(path: str | Path, name: str, policies: Policies) -> Read[Ranking]:
    r"""Read a TREC run: lines of ``qid Q0 docid rank score tag``, plain or compressed (gz, bz2, xz, zst).

    Fields are separated by any white space; a line that is not six fields so, but has exactly five tabs, is split at
    its tabs. Ids are text, quotes are ordinary characters. Blank lines, CRLF, a byte order mark and a missing last
    newline are fine.

    Parameters
    ----------
    path : str or Path
        The file.
    name : str
        The name of the system.
    policies : Policies
        `ties` (the rank column is read for ``'rank'`` only) and `duplicate_documents`.

    Returns
    -------
    Read of Ranking
        The rows in the order of the file, and the audit.

    Raises
    ------
    InputError
        With file and line: a wrong number of fields, a score that is not a finite decimal number, bytes that are not
        UTF-8, a document listed twice for a query (unless the policy settles it). With the file: one that is absent,
        empty or damaged.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.run"
    >>> _ = path.write_text("q1 Q0 d1 1 2.5 a\nq1 Q0 d2 2 1e-3 a\n")
    >>> run = read_run(path, "a", Policies())
    >>> run.table.query_ids, run.table.score.tolist(), run.audit.rows
    (('q1',), [2.5, 0.001], 2)
    """
    file = StoredFile(path)
    layout = _RUN_WITH_RANK if policies.ties == "rank" else _RUN
    columns = read_columns(file, file.view, layout)
    keep, dropped = _settled(file, columns, policies.duplicate_documents)
    rank = columns.numbers[1] if policies.ties == "rank" else None
    source = file.source()
    ranking = Ranking(name, columns.query_ids, columns.query, columns.doc_ids, columns.numbers[0], rank, source)
    if keep is not None:
        ranking = _selected(ranking, keep)
    return Read(ranking, ReadAudit((source,), len(ranking.query), columns.blank_lines, duplicates=dropped))


def ranking_from_dict(name: str, run: Mapping[str, Mapping[str, float]]) -> Ranking:
    """Make a ranking from ``{query_id: {doc_id: score}}``, which is left as it is.

    Parameters
    ----------
    name : str
        The name of the system.
    run : mapping of str to mapping of str to float
        Scores, higher is better; a query with an empty mapping stays a query of the run that returns nothing.

    Raises
    ------
    InputError
        If a score is not a finite number, or two ids are one as text.

    Examples
    --------
    >>> ranking_from_dict("a", {"q1": {"d1": 2, "d2": 1.5}}).score.tolist()
    [2.0, 1.5]
    """
    columns = columns_of_dict(run, "score")
    return Ranking(name, columns.query_ids, columns.query, columns.doc_ids, columns.numbers[0], None, Source(name))


def columns_of_dict(values: Mapping[str, Mapping[str, float]], what: str) -> Columns:
    """Return a dictionary of dictionaries as columns; `what` names the inner values in errors."""
    query_ids = tuple(str(query_id) for query_id in values)
    query = np.repeat(np.arange(len(values), dtype=np.int32), [len(of_query) for of_query in values.values()])
    doc_ids = pa.array([str(doc_id) for of_query in values.values() for doc_id in of_query], pa.string())
    columns = Columns(query_ids, query, pa.chunked_array([doc_ids]), (_numbers_of_dict(values, what),), 0)
    for query_id, number in Counter(query_ids).items():
        if number > 1:
            raise InputError(f"two queries are {query_id!r} as text; ids are text")
    for first, _ in (group[:2] for group in repeated_rows(query, columns.doc_ids)):
        doc_id = doc_ids[first].as_py()
        raise InputError(f"two documents of query {query_ids[query[first]]!r} are {doc_id!r} as text; ids are text")
    return columns


def _numbers_of_dict(values: Mapping[str, Mapping[str, float]], what: str) -> NDArray[np.float64]:
    numbers = []
    for query_id, of_query in values.items():
        for doc_id, value in of_query.items():
            try:
                number = float(value)
            except (TypeError, ValueError):
                number = float("nan")
            if not np.isfinite(number):
                place = f"query {quoted(query_id)}, document {quoted(doc_id)}"
                raise InputError(f"{what} {quoted(value)} of {place} is not a finite number")
            numbers.append(number)
    return np.array(numbers, np.float64)


def _settled(file: StoredFile, columns: Columns, policy: str) -> tuple[NDArray[np.bool_] | None, int]:
    """Return which rows stay (None: all) and how many do not, or raise at the first repeated document."""
    groups = repeated_rows(columns.query, columns.doc_ids)
    if not groups:
        return None, 0
    if policy == "error":
        first, second = groups[0][:2]
        line, other = lines_of_rows(file.view, (second, first))
        query_id, doc_id = columns.query_ids[columns.query[first]], columns.doc_ids[first].as_py()
        raise file.error(
            f"document {quoted(doc_id)} is listed twice for query {quoted(query_id)}, first in line {other}; "
            "remove one, or set duplicate_documents = 'first' or 'best'",
            line,
        )
    score = columns.numbers[0]
    keep = np.ones(len(score), bool)
    for group in groups:
        stays = group[0] if policy == "first" else max(group, key=lambda row: score[row])
        keep[group] = False
        keep[stays] = True
    return keep, int(np.count_nonzero(~keep))


def _selected(ranking: Ranking, keep: NDArray[np.bool_]) -> Ranking:
    rank = None if ranking.rank is None else ranking.rank[keep]
    doc_ids = ranking.doc_ids.filter(pa.array(keep))
    return Ranking(
        ranking.system, ranking.query_ids, ranking.query[keep], doc_ids, ranking.score[keep], rank, ranking.source
    )
