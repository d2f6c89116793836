"""What a log of interleaved result pages says of itself: impressions, teams, and the prefix that rankers share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankstats.errors import RankstatsError
from rankstats.stats.resampling import label_codes

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

NO_TEAM = ("", "none", "both", "shared", "tie")
"""What a log may write for a result that belongs to no team: one of a shared prefix."""


def team_signs(teams: Sequence[str] | NDArray[np.generic], ranker_a: ArrayLike, ranker_b: ArrayLike) -> Integers:
    """Return −1 for results that ranker a put on the page, 1 for those of ranker b, 0 for those of no team.

    Parameters
    ----------
    teams : sequence of str, length n
        Team of each result: the name of the ranker; or 'a' / 'b', where the rankers are not called that; or blank,
        'both', 'none', 'shared' or 'tie' for a result of a shared prefix.
    ranker_a, ranker_b : str or array_like of str, shape (n,)
        Names of the rankers compared in the row's impression.

    Raises
    ------
    RankstatsError
        If a team is neither of the two rankers, or the two have one name.

    Examples
    --------
    >>> team_signs(["prod", "new", "", "b"], "prod", "new").tolist()
    [-1, 1, 0, 1]
    """
    labels = np.array(["" if _missing(team) else str(team) for team in teams], dtype=str)
    first, second = (np.broadcast_to(np.asarray(names).astype(str), labels.shape) for names in (ranker_a, ranker_b))
    same = np.flatnonzero(first == second)
    if len(same):
        raise RankstatsError(f"row {same[0]} (counted from 0): ranker {first[same[0]]!s} is compared with itself")
    folded = np.char.lower(np.char.strip(labels))
    signs = np.where(labels == first, -1, np.where(labels == second, 1, 0))
    by_letter = (signs == 0) & ~np.isin(folded, NO_TEAM)
    signs = np.where(by_letter & (folded == "a"), -1, np.where(by_letter & (folded == "b"), 1, signs))
    unknown = np.flatnonzero((signs == 0) & ~np.isin(folded, NO_TEAM))
    if len(unknown):
        row = unknown[0]
        raise RankstatsError(
            f"row {row} (counted from 0): team {labels[row]!s} is neither {first[row]!s} nor {second[row]!s}; leave it "
            "blank for a result that both rankers put there"
        )
    return signs.astype(np.int64)


def _missing(team: Any) -> bool:
    return team is None or (isinstance(team, float) and np.isnan(team))


def impression_labels(queries: ArrayLike, units: ArrayLike, positions: ArrayLike) -> Integers:
    """Number the impressions of a log that does not name them, shape (n,).

    Rows of one query and unit belong to one impression until a position comes again, in the order of the rows: with the
    log in the order of time, a unit that repeats its query makes a new impression.

    Parameters
    ----------
    queries, units : array_like, shape (n,)
        Query and unit of each row.
    positions : array_like, shape (n,)
        Position on the page.

    Raises
    ------
    RankstatsError
        If shapes do not fit.

    Examples
    --------
    >>> impression_labels(["q", "q", "r", "q", "q"], ["u", "u", "u", "u", "u"], [1, 2, 1, 1, 3]).tolist()
    [0, 0, 1, 2, 2]
    """
    place = np.asarray(positions)
    n = len(place)
    of_query, of_unit = label_codes(queries, n, "queries"), label_codes(units, n, "units")
    current: dict[tuple[int, int], tuple[int, set[Any]]] = {}
    made = 0
    labels = np.empty(n, dtype=np.int64)
    for row, (query, unit, position) in enumerate(
        zip(of_query.tolist(), of_unit.tolist(), place.tolist(), strict=True)
    ):
        known = current.get((query, unit))
        if known is None or position in known[1]:
            known = current[query, unit] = (made, set())
            made += 1
        known[1].add(position)
        labels[row] = known[0]
    return labels


def shared_prefix(impressions: ArrayLike, positions: ArrayLike, rank_a: ArrayLike, rank_b: ArrayLike) -> Flags:
    """Return which rows belong to the prefix that both rankers have in common, shape (n,).

    These are the results from the top down that stand at the same rank in both rankings: they would be shown whichever
    ranker chose, so clicks on them say nothing.

    Parameters
    ----------
    impressions : array_like, shape (n,)
        Impression of each row.
    positions : array_like of int, shape (n,)
        Position on the page, 1 at the top.
    rank_a, rank_b : array_like, shape (n,)
        Rank of the result in each ranking, 1 at the top; NaN where a ranking does not have it.

    Examples
    --------
    >>> shared_prefix([7, 7, 7, 7], [1, 2, 3, 4], [1, 2, 3, 5], [1, 3, 2, 4]).tolist()
    [True, False, False, False]
    """
    page = Page.of(impressions, positions)
    first, second = (page.ordered(ranks) for ranks in (rank_a, rank_b))
    same = (first == second) & (first == page.place + 1)
    broken = np.cumsum(~same)
    before = np.where(page.start > 0, broken[page.start - 1], 0)
    return np.asarray(page.back((broken == before).astype(np.float64)) > 0)


@dataclass(frozen=True, slots=True, eq=False)
class Page:
    """Rows sorted by impression and position."""

    order: Integers
    start: Integers
    """Place of the first row of each row's impression."""

    @classmethod
    def of(cls, impressions: ArrayLike, positions: ArrayLike) -> Page:
        """Sort the rows, or raise where an impression has two results at one position."""
        labels, place = np.asarray(impressions), np.asarray(positions)
        codes = label_codes(labels, len(labels), "impressions")
        if place.shape != codes.shape:
            raise RankstatsError(f"positions have shape {place.shape}; one for each of the {len(codes)} rows")
        order = np.lexsort((place, codes))
        ordered = codes[order]
        first = np.diff(ordered, prepend=-1) > 0
        twice = np.flatnonzero(~first & (np.diff(place[order], prepend=0) == 0))
        if len(twice):
            label = labels[order[twice[0]]]
            raise RankstatsError(f"impression {label!s} has two results at position {place[order[twice[0]]]!s}")
        start = np.maximum.accumulate(np.where(first, np.arange(len(order)), 0))
        return cls(order, start)

    @property
    def place(self) -> Integers:
        """Place of each sorted row on its page, from 0."""
        return np.arange(len(self.order)) - self.start

    def ordered(self, values: ArrayLike) -> Floats:
        """Return values of the rows in the order of the pages."""
        array = np.asarray(values, dtype=np.float64)
        if array.shape != self.order.shape:
            raise RankstatsError(f"values have shape {array.shape}; one for each of the {len(self.order)} rows")
        return array[self.order]

    def back(self, values: Floats) -> Floats:
        """Return values in the order of the rows."""
        out = np.empty_like(values)
        out[self.order] = values
        return out

    def cumulated(self, values: Floats) -> Floats:
        """Return sums from the top of the page down; each page adds up its own rows only."""
        sums, place = values.copy(), self.place
        by_place = np.argsort(place, kind="stable")
        ends = np.cumsum(np.bincount(place))
        for first, last in pairwise(ends.tolist()):
            rows = by_place[first:last]
            sums[rows] += sums[rows - 1]
        return sums
