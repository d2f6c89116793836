"""The order in which a page tells its comparisons: one for statements, figures, examples and tables."""

from __future__ import annotations

from collections.abc import Sequence

from rankstats.report.choice import leading_pairs
from rankstats.report.source import Pair, Row, Source, effect_of

ORDERED_ABOVE = 3
"""More comparisons than this are summed up before single ones are told."""


def gain(source: Source, row: Row) -> float:
    """Return how much better a system is, whichever way its measure goes."""
    effect = effect_of(row) or 0.0
    return effect if source.measures[row["measure"]]["higher_is_better"] else -effect


def told_first(source: Source, rows: Sequence[Row]) -> list[Row]:
    """Return differences in the order in which the page tells them, so that what it names first is drawn first.

    With one baseline the best come first, whatever the order of the input; several keep their order, and so do the
    comparisons of a report with a decision, where the policy says what comes first.

    Parameters
    ----------
    source : Source
        The report.
    rows : sequence of mapping
        Differences over all queries.
    """
    planned = source.report["decision"] is not None and len(source.pairs) <= ORDERED_ABOVE
    if planned or len({row["baseline"] for row in rows}) > 1:
        return list(rows)
    return sorted(rows, key=lambda row: -gain(source, row))


def told_pairs(source: Source, measure: str) -> list[tuple[Pair, Row]]:
    """Return the pairs that a section with a part for each begins with, those first that the statements name first."""
    rows = told_first(source, [row for _, row in leading_pairs(source, measure)])
    return [((row["baseline"], row["system"]), row) for row in rows]
