"""Runs: files of any format that is recognised, or data handed in from Python, to a ranking."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rankstats.conventions import RUN_FORMATS, Policies
from rankstats.errors import PlanError, did_you_mean
from rankstats.inputs.audit import Read, ReadAudit
from rankstats.inputs.duplicates import repeated_rows
from rankstats.inputs.fields import Columns, read_columns
from rankstats.inputs.files import StoredFile
from rankstats.inputs.layout import Layout
from rankstats.inputs.origin import HandedIn
from rankstats.inputs.quoting import quoted
from rankstats.inputs.recognised import run_format
from rankstats.inputs.rows import SCORES, Rows, rows_of_lines
from rankstats.tables.arrow_arrays import rows_of
from rankstats.tables.judgments import Source
from rankstats.tables.ranking import Ranking

if TYPE_CHECKING:
    from rankstats.inputs.run_formats import NamedColumns

_RUN = Layout(
    "a TREC run has no header row",
    ("qid", "Q0", "docid", "rank", "score", "tag"),
    query=0,
    document=2,
    numbers=(4,),
    other_width=4,
    other_number=3,
    other_hint="this looks like qrels; are --qrels and the run swapped?",
    is_hashed=True,
)
_RUN_WITH_RANK = replace(_RUN, numbers=(4, 3))


def read_run(
    data: Any,
    name: str,
    policies: Policies,
    *,
    form: str | None = None,
    id_column: str | None = None,
    document_column: str | None = None,
    score_column: str | None = None,
    listed: Columns | None = None,
    digest: bool = True,
) -> Read[Ranking]:
    r"""Read a run from a file, plain or compressed (gz, bz2, xz, zst), or from data handed in.

    Files are recognised by their content:

    * TREC: lines of ``qid Q0 docid rank score tag``. Fields are separated by any white space; a line that is not six
      fields so, but has exactly five tabs, is split at its tabs. Blank lines, CRLF, a byte order mark and a missing
      last newline are fine.
    * Three columns: ``qid docid rank`` where the third counts 1, 2, 3 … for every query, ``qid docid score`` where it
      holds fractions or numbers below 0; anything else has to be named.
    * Tables with named columns as CSV, TSV, JSON lines, JSON arrays or Parquet: query_id, qid …; doc_id, docid,
      docno …; score, similarity … or else rank, position …
    * JSON ``{query_id: {doc_id: score}}``.
    * One number a line: the scores of the lines of a LETOR file.

    Data are such a dictionary, an iterable of named tuples, mappings or tuples (query, document, score), a pandas,
    Polars or Arrow frame with such columns, or a one-dimensional array of predictions. They are left as they are.

    Ids are text, and ranks are turned into scores, so that 1 is the best.

    Parameters
    ----------
    data : path, mapping, iterable, frame, array or Ranking
        The run.
    name : str
        The name of the system.
    policies : Policies
        `ties` (the rank column of a TREC file is read for ``'rank'`` only) and `duplicate_documents`.
    form : {'trec', 'rank', 'score', 'table', 'json', 'predictions'}, optional
        The format of a file, instead of recognising it.
    id_column, document_column, score_column : str, optional
        Columns of tables; what is no table needs none. `id_column` is used where a table has it, so that one option can
        serve several files.
    listed : Columns, optional
        What `read_judgments` gives for a LETOR file, for predictions.
    digest : bool, optional
        Whether the source of a file gets a digest of its bytes, which takes about as long as to count its lines.

    Returns
    -------
    Read of Ranking
        The rows in the order of the file, and the audit, whose notes say what was recognised.

    Raises
    ------
    InputError
        With file and line (or row): a wrong number of fields, a score that is not a finite decimal number, bytes that
        are not UTF-8, an empty id, a document listed twice for a query (unless the policy settles it). With the file:
        one that is absent, empty or damaged, or could be of two formats; a column that is missing or ambiguous.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.run"
    >>> _ = path.write_text("q1 Q0 d1 1 2.5 a\nq1 Q0 d2 2 1e-3 a\n")
    >>> run = read_run(path, "a", Policies())
    >>> run.table.query_ids, run.table.score.tolist(), run.audit.rows
    (('q1',), [2.5, 0.001], 2)
    >>> read_run({"q1": {"d1": 2, "d2": 1.5}}, "a", Policies()).table.score.tolist()
    [2.0, 1.5]
    """
    if isinstance(data, Ranking):
        return Read(replace(data, system=name), ReadAudit((data.source,), len(data.query), format="Ranking"))
    form = _known_form(form)
    columns = (id_column, document_column, score_column)
    if isinstance(data, str | Path):
        rows = _rows_of_file(StoredFile(data, digest=digest), policies, form, columns, listed)
    else:
        rows = _other_formats().rows_of_data(data, HandedIn(f"run {name}"), columns, listed)
    if not len(rows.columns.query):
        raise rows.origin.error("lists no document")
    return _settled(rows, name, policies)


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
        If a score is not a finite number, an id is missing, or two ids are one as text.

    Examples
    --------
    >>> ranking_from_dict("a", {"q1": {"d1": 2, "d2": 1.5}}).score.tolist()
    [2.0, 1.5]
    """
    columns = _other_formats().rows_of_dict(run, HandedIn(f"run {name}"), SCORES).columns
    return Ranking(name, columns.query_ids, columns.query, columns.doc_ids, columns.numbers[0], None, Source(name))


def _known_form(form: str | None) -> str | None:
    if form is not None and form not in RUN_FORMATS:
        raise PlanError(
            f"run format {form!r} is unknown; choose one of {', '.join(RUN_FORMATS)}" + did_you_mean(form, RUN_FORMATS)
        )
    return form


def _rows_of_file(
    file: StoredFile, policies: Policies, form: str | None, columns: NamedColumns, listed: Columns | None
) -> Rows:
    recognised = form or run_format(file, [name for name in columns if name])
    if recognised != "trec":
        rows: Rows = _other_formats().rows_of_file(file, recognised, form, columns, listed)
        return rows
    layout = _RUN_WITH_RANK if policies.ties == "rank" else _RUN
    return rows_of_lines(file, read_columns(file, file.view, layout), "TREC")


def _other_formats() -> Any:
    # every format brings libraries of its own; TREC files, the most and the largest, need none of them
    return import_module("rankstats.inputs.run_formats")


def _settled(rows: Rows, name: str, policies: Policies) -> Read[Ranking]:
    """Make the ranking; raise at the first repeated document, or keep what the policy says."""
    columns = rows.columns
    score = 0.0 - columns.numbers[0] if rows.by_rank else columns.numbers[0]
    rank = columns.numbers[0] if rows.by_rank else columns.numbers[1] if len(columns.numbers) > 1 else None
    keep, dropped = _kept(rows, score, policies.duplicate_documents)
    source = rows.origin.source()
    kept_rank = rank if policies.ties == "rank" else None
    ranking = Ranking(name, columns.query_ids, columns.query, columns.doc_ids, score, kept_rank, source, columns.hashes)
    if keep is not None:
        ranking = _selected(ranking, keep)
    audit = ReadAudit(
        (source,),
        len(ranking.query),
        columns.blank_lines,
        duplicates=dropped,
        notes=rows.notes,
        format=rows.format,
    )
    return Read(ranking, audit)


def _kept(rows: Rows, score: NDArray[np.float64], policy: str) -> tuple[NDArray[np.bool_] | None, int]:
    """Return which rows stay (None: all) and how many do not, or raise at the first repeated document."""
    columns = rows.columns
    groups = repeated_rows(columns.query, columns.doc_ids, columns.hashes)
    if not groups:
        return None, 0
    if policy == "error":
        first, second = groups[0][:2]
        query_id, doc_id = columns.query_ids[columns.query[first]], columns.doc_ids[first].as_py()
        raise rows.error_at(
            f"document {quoted(doc_id)} is listed twice for query {quoted(query_id)}, first in {rows.place(first)}; "
            "remove one, or set duplicate_documents = 'first' or 'best'",
            second,
        )
    keep = np.ones(len(score), bool)
    for group in groups:
        stays = group[0] if policy == "first" else max(group, key=lambda row: score[row])
        keep[group] = False
        keep[stays] = True
    return keep, int(np.count_nonzero(~keep))


def _selected(ranking: Ranking, keep: NDArray[np.bool_]) -> Ranking:
    rows = np.flatnonzero(keep)
    return replace(
        ranking,
        query=ranking.query[rows],
        doc_ids=rows_of(ranking.doc_ids, rows),
        score=ranking.score[rows],
        rank=None if ranking.rank is None else ranking.rank[rows],
        doc_hashes=None if ranking.doc_hashes is None else ranking.doc_hashes[rows],
    )
