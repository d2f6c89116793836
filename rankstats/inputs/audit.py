"""What a reader counted: the audit of what was read and of what was left out."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from rankstats.tables.judgments import Source

if TYPE_CHECKING:
    from rankstats.inputs.fields import Columns

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class ReadAudit:
    """Counts of one reading; nothing is left out without being counted here.

    Attributes
    ----------
    sources : tuple of Source
        The files that were read, with digest and size, in the order given.
    rows : int
        Rows that stand in the table.
    blank_lines : int
        Lines that hold white space only.
    comment_lines : int
        Lines of qrels or of trec_eval output that hold no judgment or value: comments, ``runid``, ``relstring``.
    duplicates : int
        Rows that a policy merged into another row of the same query and document.
    mean_rows : int
        Rows of the query ``all`` in score files: means, not values of a query.
    undefined : int
        Empty cells of score files.
    notes : tuple of str
        What was decided of formats and columns and could surprise, each a sentence.
    format : str
        The format of judgments or a run, with its columns if they are named.
    """

    sources: tuple[Source, ...]
    rows: int
    blank_lines: int = 0
    comment_lines: int = 0
    duplicates: int = 0
    mean_rows: int = 0
    undefined: int = 0
    notes: tuple[str, ...] = ()
    format: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the counts and the format by name, the notes, and the sources with name, sha256 and bytes."""
        counts = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in ("sources", "notes")}
        sources = [{"name": s.name, "sha256": s.sha256, "bytes": s.size} for s in self.sources]
        return {"sources": sources, **counts, "notes": list(self.notes)}


@dataclass(frozen=True, slots=True)
class Read(Generic[T_co]):
    """A table and the audit of its reading: what every reader returns.

    Attributes
    ----------
    table : Judgments, Ranking, Queries or ScoresInput
        What was read.
    audit : ReadAudit
        What was counted on the way.
    listed : Columns or None
        Queries and documents of a LETOR file in the order of its lines, which predictions refer to; None elsewhere.
    """

    table: T_co
    audit: ReadAudit
    listed: Columns | None = None
