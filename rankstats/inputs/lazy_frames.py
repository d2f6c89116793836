"""Lazy frames (DuckDB, Polars, Spark, Ibis) as runs that stay where they are, for an engine to rank."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import narwhals as nw

from rankstats.conventions import Policies
from rankstats.inputs.audit import ReadAudit
from rankstats.inputs.columns import SYSTEM_NAMES, ColumnNames, present
from rankstats.inputs.origin import HandedIn, Origin
from rankstats.inputs.quoting import listed, plain
from rankstats.tables.engines.adapters import Engine, engine_of
from rankstats.tables.engines.hit_making import make_engine_hits
from rankstats.tables.engines.ranking import EngineRanking
from rankstats.tables.hits import Hits
from rankstats.tables.judgments import Judgments, Source
from rankstats.tables.ranking import Ranking

if TYPE_CHECKING:
    from rankstats.inputs.table_file import TableFile

NamedColumns = tuple[str | None, str | None, str | None]
"""The columns of query, document and score as options name them."""
Report = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class NamedOrigin:
    """Files, or a frame, that are not read here; what columns are looked up by.

    Attributes
    ----------
    file : Origin
        What errors name.
    names : tuple of str
        The columns.
    """

    file: Origin
    names: tuple[str, ...]


class EngineRead:
    """A run that an engine holds, with the audit of its reading, which is complete once the hits are made.

    Parameters
    ----------
    table : EngineRanking
        The run.
    origin : Origin
        Files; or data handed in, whose digest is that of the hits and totals, all that is taken of them.
    form : str
        The format, for the audit.
    notes : sequence of str
        What was decided and could surprise.
    sources : callable, optional
        Returns the files with their digests.
    """

    def __init__(
        self,
        table: EngineRanking,
        origin: Origin,
        form: str,
        notes: Sequence[str] = (),
        sources: Callable[[], tuple[Source, ...]] | None = None,
    ) -> None:
        self.table = table
        self._origin = origin
        self._format = form
        self._notes = tuple(notes)
        self._sources = sources or (lambda: (origin.source(),))

    def make_hits(
        self,
        judgments: Judgments,
        ranking: EngineRanking,
        policies: Policies,
        *,
        depth: int,
        reverse_ties: bool = False,
    ) -> Hits:
        """Make hits as `rankstats.tables.make_hits` does, in the engine."""
        hits = make_engine_hits(judgments, ranking, policies, depth=depth, reverse_ties=reverse_ties)
        if isinstance(self._origin, HandedIn) and not reverse_ties:
            for taken in (hits.query, hits.rank, hits.judgment, hits.score, hits.returned):
                if taken is not None:
                    self._origin.take(taken)
        return hits

    @property
    def audit(self) -> ReadAudit:
        """What was counted, and the files."""
        made = self.table.made
        dropped = made.get("dropped", 0)
        rows = made.get("rows", 0) - dropped
        return ReadAudit(self._sources(), rows, duplicates=dropped, notes=self._notes, format=self._format)


def read_lazy_frame(data: Any, name: str, columns: NamedColumns, ties: str, report: Report) -> EngineRead | None:
    """Return a lazy frame as a run, or None where the data are none, or one of an engine without windows.

    Parameters
    ----------
    data : object
        Anything.
    name : str
        The name of the system.
    columns : tuple
        Named columns of query, document and score, each may be None.
    ties : str
        The tie policy: ranks are looked at where it asks for them.
    report : callable
        Called with what is being done.

    Raises
    ------
    InputError
        If a column is missing, ambiguous or of the wrong kind, or the frame holds several systems.
    """
    if isinstance(data, str | bytes | Path | Mapping | Sequence | Ranking):
        return None
    try:
        frame: Any = nw.from_native(data, pass_through=True)
    except (nw.exceptions.NarwhalsError, TypeError, ValueError):  # what reads it into memory says why
        return None
    if not isinstance(frame, nw.LazyFrame):
        return None
    engine = engine_of(frame)
    if engine is None:
        return None
    origin = HandedIn(f"run {name}")
    return engine_read(engine, origin, name, columns=columns, ties=ties, report=report, form=f"table ({engine.name})")


def engine_read(
    engine: Engine,
    origin: Origin,
    name: str,
    *,
    columns: NamedColumns,
    ties: str,
    report: Report,
    form: str,
    notes: Sequence[str] = (),
    sources: Callable[[], tuple[Source, ...]] | None = None,
) -> EngineRead:
    """Return what an engine holds as a run; parameters as in `read_lazy_frame` and `EngineRead`."""
    frame: Any = nw.from_native(engine.native)
    schema = frame.collect_schema()
    named = NamedOrigin(origin, tuple(schema.names()))
    chosen = ColumnNames(cast("TableFile", named))
    query, doc = (found := chosen.query_id(columns[0])), chosen.document({found}, columns[1])
    score, rank = chosen.score_or_rank({query, doc}, columns[2])
    _check_one_system(engine, frame, named, {query, doc, score, rank})
    ranked = rank is not None and (score is None or ties == "rank")
    made = {
        "query_id": _text(schema, query, origin),
        "doc_id": _text(schema, doc, origin),
        "score": _number(schema, score, origin) if score else 0 - _number(schema, rank or "", origin),
    }
    if ranked and rank is not None:
        made["rank"] = _number(schema, rank, origin)
    if score is None:
        notes = (*notes, f"{origin.path} has no score column; documents are ordered by {plain(rank or '')}, 1 the best")
    used = ", ".join(plain(column) for column in (query, doc, score, rank if ranked else None) if column)
    table = EngineRanking(
        system=name,
        rows=frame.select(**made),
        ranked=ranked,
        by_rank=score is None,
        engine=engine,
        source=Source(origin.path),
        report=report,
    )
    return EngineRead(table, origin, form.replace("table", f"table: {used}"), (*chosen.notes, *notes), sources)


def _text(schema: nw.Schema, name: str, origin: Origin) -> nw.Expr:
    """Return a column of ids as text."""
    kind = schema[name]
    if not (kind.is_integer() or kind in (nw.String, nw.Categorical, nw.Enum)):
        raise origin.error(f"column {plain(name)} is of type {kind}; ids are text or whole numbers")
    return nw.col(name).cast(nw.String)


def _number(schema: nw.Schema, name: str, origin: Origin) -> nw.Expr:
    kind = schema[name]
    if not kind.is_numeric():
        raise origin.error(f"column {plain(name)} is of type {kind}; numbers are expected")
    return nw.col(name).cast(nw.Float64)


def _check_one_system(engine: Engine, frame: Any, named: NamedOrigin, taken: set[str | None]) -> None:
    """Raise where a column says that the frame holds the runs of several systems."""
    for name in present(SYSTEM_NAMES, named.names, {column for column in taken if column}):
        first = engine.collect(frame.select(name).unique().head(100), named.file.path)
        systems = sorted(str(system) for system in first.column(name).to_pylist() if system is not None)
        if len(systems) > 1:
            several = len(systems) if len(systems) < 100 else "100 or more"
            raise named.file.error(
                f"holds {several} systems in column {plain(name)} ({listed(systems)}); give one of them for each run"
            )
