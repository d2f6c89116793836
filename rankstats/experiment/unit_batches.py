"""Units a batch at a time: what a summary takes in memory does not grow with their number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rankstats.experiment.segments import Attribute
from rankstats.experiment.unit_query import UnitQuery

UNITS_AT_ONCE = 1 << 18


@dataclass(frozen=True, slots=True)
class Batch:
    """Some units, by their places in the table of units; `end` is None for all of them.

    Examples
    --------
    >>> Batch(20, 30).of("u"), Batch().first
    ('u.rowid >= 20 AND u.rowid < 30', True)
    """

    start: int = 0
    end: int | None = None

    @property
    def first(self) -> bool:
        """Whether these are the first units."""
        return self.start == 0

    @property
    def condition(self) -> str:
        """SQL that holds for these units."""
        return "true" if self.end is None else f"rowid >= {self.start} AND rowid < {self.end}"

    def of(self, table: str) -> str:
        """Return the condition for a table of that name."""
        return self.condition.replace("rowid", f"{table}.rowid")


EVERY_UNIT = Batch()


def unit_batches(query: UnitQuery, attributes: Sequence[Attribute]) -> Iterator[Batch]:
    """Yield batches of the units of a query; all at once where segments are quantiles of all of them."""
    units = int(query.tables.rows("SELECT count(*) FROM units", query.name)[0][0])
    if units <= UNITS_AT_ONCE or any(parts for attribute in attributes for _, parts in attribute.parts):
        yield EVERY_UNIT
        return
    for start in range(0, units, UNITS_AT_ONCE):
        yield Batch(start, start + UNITS_AT_ONCE)
