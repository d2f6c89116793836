"""Decides whether an engine reads a run, and hands it over."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rankstats.conventions import Policies
from rankstats.errors import InputError
from rankstats.inputs.columns import RANK_NAMES, SCORE_NAMES, present
from rankstats.inputs.engine_files import Layout, RunFiles, layout_of
from rankstats.inputs.lazy_frames import EngineRead, NamedColumns, Report, engine_read, read_lazy_frame
from rankstats.tables.engines.choice import PART_OF_MEMORY, EngineChoice
from rankstats.wording import count


def read_engine_run(
    data: Any,
    name: str,
    policies: Policies,
    choice: EngineChoice,
    *,
    form: str | None = None,
    columns: NamedColumns = (None, None, None),
    report: Report = lambda what: None,
    digest: bool = True,
) -> EngineRead | None:
    """Return a run that an engine is to rank, or None for one that is read into memory.

    Parameters
    ----------
    data : path, frame or anything else
        The run: a file, a pattern with * or ?, a folder of parts, or a lazy frame.
    name : str
        The name of the system.
    policies : Policies
        `ties`: the ranks are looked at where it asks for them.
    choice : EngineChoice
        The engine, its memory limit and temporary folder.
    form : str, optional
        The format of files if it is named.
    columns : tuple, optional
        Named columns of query, document and score.
    report : callable, optional
        Called with what is being done.
    digest : bool, optional
        Whether files get a digest.

    Raises
    ------
    InputError
        If an engine was chosen that cannot read the run, or what is found is not a run.
    """
    if choice.name == "local":
        return None
    if not isinstance(data, str | Path):
        return read_lazy_frame(data, name, columns, policies.ties, report)
    files = RunFiles(data)
    if not files.parts:
        return None  # the readers of files say what is wrong
    asked = choice.name == "duckdb" or files.is_several
    if not asked and files.bytes_in_memory * PART_OF_MEMORY <= choice.memory:
        return None
    try:
        run = _read_files(files, name, policies, choice, form=form, columns=columns, report=report)
    except InputError:
        if asked:
            raise
        return None  # in memory it may be read, or refused with the line
    if digest:
        files.start_digests()
    return run


def _read_files(
    files: RunFiles,
    name: str,
    policies: Policies,
    choice: EngineChoice,
    *,
    form: str | None,
    columns: NamedColumns,
    report: Report,
) -> EngineRead:
    from rankstats.tables.engines.duckdb_session import DuckDBFiles  # noqa: PLC0415  loads DuckDB

    layout = layout_of(files, form)
    named = columns if layout.has_named_columns else (None, None, None)
    engine = DuckDBFiles(layout.relation(files.parts, _numbers(layout, policies, named[2])), choice, files.path)
    return engine_read(
        engine,
        files,
        name,
        columns=named,
        ties=policies.ties,
        report=report,
        form=f"{layout.form} ({count(len(files.parts), 'file')}, DuckDB)",
        sources=files.sources,
    )


def _numbers(layout: Layout, policies: Policies, named_score: str | None) -> list[str]:
    """Return the columns to read as numbers: the score, and the rank only where it is looked at."""
    scores = [named_score] if named_score else present(SCORE_NAMES, layout.names)
    ranks = present(RANK_NAMES, layout.names) if policies.ties == "rank" or not scores else []
    return [*scores, *ranks]
