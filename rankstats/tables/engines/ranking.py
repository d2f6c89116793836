"""A run that an engine holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rankstats.tables.engines.adapters import Engine
from rankstats.tables.judgments import Source

if TYPE_CHECKING:
    from rankstats.tables.engines.steps import Frame


@dataclass(frozen=True, slots=True)
class EngineRanking:
    """One system's rows, held by an engine; nothing is read yet.

    Attributes
    ----------
    system : str
        The system's name.
    rows : LazyFrame
        Columns query_id and doc_id (text), score (float64), and rank (float64) if `ranked`.
    ranked : bool
        Whether the ranks may be used: the tie policy asks for them, or there are no scores.
    by_rank : bool
        Whether the scores were made of the ranks.
    engine : Engine
        Who holds the rows.
    source : Source
        Where the run came from.
    report : callable
        Called with what is being done.
    made : dict
        What steps found that several need.
    """

    system: str
    rows: Frame
    ranked: bool
    by_rank: bool
    engine: Engine
    source: Source
    report: Callable[[str], None] = lambda what: None
    made: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
