"""Which comparisons a page draws and lists where there are too many for it, and the words that say so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rankstats.report.source import Pair, Row, Source, effect_of

ROWS_DRAWN = 40
"""Rows of a forest, a page high."""
ROWS_LISTED = 250
"""Rows of a table of comparisons."""
PAIRS_FILE = "pairs.csv"


@dataclass(frozen=True, slots=True)
class Chosen:
    """The comparisons of a measure that are drawn, and which of how many they are; empty words where all are.

    `skipped` is how many lie between the first and the second half of the rows.
    """

    rows: tuple[Row, ...]
    total: int
    words: str
    skipped: int = 0

    @property
    def remark(self) -> str:
        """A sentence that says where the rest is; the title of a figure says what it draws; empty where all are."""
        if not self.words:
            return ""
        place = "The page's table" if self.total <= ROWS_LISTED else f"{PAIRS_FILE} beside this page"
        return f"{place} has all of them."


def chosen(source: Source, measure: str) -> Chosen:
    """Return the comparisons of a measure that are worth drawing.

    Up to `ROWS_DRAWN` all of them in their order; of more, those among the systems with the best means where systems
    are compared with each other, else those with the best and the worst differences.
    """
    if measure not in source.chosen:
        source.chosen[measure] = _chosen(source, measure)
    found: Chosen = source.chosen[measure]
    return found


def _chosen(source: Source, measure: str) -> Chosen:
    rows = [row for _, row in source.planned_pairs(measure)]
    if len(rows) <= ROWS_DRAWN:
        return Chosen(tuple(rows), len(rows), "")
    of = f"of {len(rows):,} comparisons"
    if len({row["baseline"] for row in rows}) > 1:
        leading, among = _among_leading(source, measure, rows)
        if among:
            return Chosen(among, len(rows), f"the {len(among)} among the {leading} systems with the best means, {of}")
    half = ROWS_DRAWN // 2
    ordered = _best_first(source, measure, rows)
    first, last = ("highest", "lowest") if source.measures[measure]["higher_is_better"] else ("lowest", "highest")
    words = f"the {half} {first} and the {half} {last} differences, {of}"
    return Chosen((*ordered[:half], *ordered[-half:]), len(rows), words, len(rows) - 2 * half)


def listed(source: Source, measures: Sequence[str]) -> tuple[tuple[Row, ...], str]:
    """Return the comparisons that a table over several measures lists, and the sentence that says what it leaves out.

    Up to `ROWS_LISTED` rows all of them; of more, those that are drawn for each measure.
    """
    rows = tuple(row for measure in measures for _, row in source.planned_pairs(measure))
    if len(rows) <= ROWS_LISTED:
        return rows, ""
    parts = [chosen(source, measure) for measure in measures]
    kept = tuple(row for part in parts for row in part.rows)
    if len(kept) == len(rows):
        return rows, ""
    each = next(part.words for part in parts if part.words)
    on = "" if len(measures) == 1 else ", on each measure"
    return kept, f"Listed: {each}{on}. {PAIRS_FILE} beside this page has all of them."


def is_cut(source: Source) -> bool:
    """Return whether some comparison over all queries is on no table of the page."""
    others = [measure for measure in source.outcome_measures if measure not in source.primary]
    return any(listed(source, group)[1] for group in ([m] for m in source.primary)) or bool(listed(source, others)[1])


def leading_pairs(source: Source, measure: str) -> list[tuple[Pair, Row]]:
    """Return the pairs that sections with a part for each pair begin with: all in their order, or those drawn."""
    return [((row["baseline"], row["system"]), row) for row in chosen(source, measure).rows]


def first_of(shown: int, total: int, where: str) -> str:
    """Return the sentence that says how many comparisons a section has a part for; empty where it has all."""
    if shown >= total:
        return ""
    return f"For {shown:,} of {total:,} comparisons; the values of all are in {where}."


def _among_leading(source: Source, measure: str, rows: Sequence[Row]) -> tuple[int, tuple[Row, ...]]:
    """Return how many leading systems fit, and the comparisons among them."""
    place = {system: i for i, system in enumerate(source.by_mean(measure))}
    reach = [(max(place[row["baseline"]], place[row["system"]]), row) for row in rows]
    counts = [0] * len(place)
    for farthest, _ in reach:
        counts[farthest] += 1
    kept, fitting = 0, 0
    for i, n in enumerate(counts):
        if kept + n > ROWS_DRAWN:
            break
        kept, fitting = kept + n, i
    among = [row for farthest, row in reach if farthest <= fitting]
    return fitting + 1, tuple(sorted(among, key=lambda row: sorted((place[row["baseline"]], place[row["system"]]))))


def _best_first(source: Source, measure: str, rows: Sequence[Row]) -> list[Row]:
    sign = 1 if source.measures[measure]["higher_is_better"] else -1
    return sorted(rows, key=lambda row: -sign * (effect_of(row) or 0.0))


def limited(source: Source, rows: Sequence[Row]) -> tuple[tuple[Row, ...], str]:
    """Return the rows about comparisons that a table lists, and the sentence that says what it leaves out.

    Up to `ROWS_LISTED` rows all of them; of more, those about comparisons that are drawn.

    Parameters
    ----------
    source : Source
        The report.
    rows : sequence of mapping
        Each with the keys ``measure``, ``baseline`` and ``system``.
    """
    if len(rows) <= ROWS_LISTED:
        return tuple(rows), ""
    measures = dict.fromkeys(row["measure"] for row in rows)
    drawn = {(m, row["baseline"], row["system"]) for m in measures for row in chosen(source, m).rows}
    about = [row for row in rows if (row["measure"], row["baseline"], row["system"]) in drawn]
    kept = tuple((about or rows)[:ROWS_LISTED])
    return kept, f"Listed: {len(kept):,} of {len(rows):,}, on the leading comparisons; report.json has all of them."
