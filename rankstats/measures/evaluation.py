"""What measures are computed from: totals over the judgments and sums over the hits, each made once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from rankstats.tables import Histories, Hits, Items, Judgments

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Whole = NDArray[np.int64]
Gain = Callable[[Floats], Floats]
"""Makes gains from grades."""
Discount = Callable[[Floats], Floats]
"""Makes the weight of each rank."""

_CELLS = 250_000
"""Numbers held at once where lists are laid out side by side."""


def log2_discount(rank: Floats) -> Floats:
    """Return 1 / log2(rank + 1)."""
    discount: Floats = 1.0 / np.log2(rank + 1.0)
    return discount


@dataclass(frozen=True, slots=True)
class IdealLists:
    """The judged documents with a gain above 0 in the best possible order, query by query.

    Attributes
    ----------
    query : ndarray of int32, shape (I,)
        Index of the query, not descending.
    place : ndarray of int64, shape (I,)
        Place in the list of its query, from 1.
    gain : ndarray of float64, shape (I,)
        Not ascending within a query.
    starts, lengths : ndarray of int64, shape (Q,)
        Rows of query q are ``starts[q]:starts[q] + lengths[q]``.
    """

    query: NDArray[np.int32]
    place: Whole
    gain: Floats
    starts: Whole
    lengths: Whole

    def at(self, values: Floats, query: NDArray[np.int32], place: Whole) -> Floats:
        """Return a number of the list at given places; the last one for places beyond the end, 0 for empty lists.

        Parameters
        ----------
        values : ndarray of float64, shape (I,)
            A number for each document of the lists.
        query, place : ndarray of int, shape (N,)
            Where to look; places count from 1.
        """
        if not len(values):
            return np.zeros(len(query))
        reached = np.minimum(place, self.lengths[query])
        rows = np.clip(self.starts[query] + reached - 1, 0, len(values) - 1)
        return np.where(reached > 0, values[rows], 0.0)


class Pool:
    """The judgments' side of measures, the same for every system.

    Parameters
    ----------
    judgments : Judgments
        The judged documents.
    items : Items, optional
        What is known of all documents.
    histories : Histories, optional
        What each query's user has had before.
    """

    def __init__(self, judgments: Judgments, items: Items | None = None, histories: Histories | None = None) -> None:
        self.judgments = judgments
        self.items = items
        self.histories = histories
        self._made: dict[Hashable, Any] = {}

    @property
    def n_queries(self) -> int:
        """Number of judged queries, Q."""
        return self.judgments.n_queries

    def once(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """Return what `make` returns, made at the first call with this key."""
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    def relevant(self, rel: float) -> Floats:
        """Return the number of documents of at least grade `rel` per query, shape (Q,)."""
        made: Floats = self.once(("relevant", rel), lambda: self.judgments.relevant(rel).astype(np.float64))
        return made

    def not_relevant(self, rel: float) -> Floats:
        """Return the number of documents judged with a grade from 0 to below `rel` per query, shape (Q,)."""
        made: Floats = self.once(("not relevant", rel), lambda: self.relevant(min(0.0, rel)) - self.relevant(rel))
        return made

    def largest_grade(self) -> float:
        """Return the largest grade of all judgments, 0 when there is none above."""
        return float(np.max(self.judgments.grade, initial=0.0))

    def largest_grades(self) -> Floats:
        """Return the largest grade per query, 0 when there is none above, shape (Q,)."""

        def make() -> Floats:
            largest = np.zeros(self.n_queries)
            np.maximum.at(largest, self.judgments.query, self.judgments.grade)
            return largest

        made: Floats = self.once("largest grades", make)
        return made

    def ideal_lists(self, name: Hashable, gain: Gain) -> IdealLists:
        """Return the best possible list of every query.

        Parameters
        ----------
        name : hashable
            Identifies the gain.
        gain : callable
            Makes gains from grades.
        """

        def make() -> IdealLists:
            gains = gain(self.judgments.grade)
            keep = np.flatnonzero(gains > 0)
            keep = keep[np.lexsort((-gains[keep], self.judgments.query[keep]))]
            query = self.judgments.query[keep]
            lengths = np.bincount(query, minlength=self.n_queries).astype(np.int64)
            return IdealLists(query, ordinals(query), gains[keep], np.cumsum(lengths) - lengths, lengths)

        made: IdealLists = self.once(("ideal list", name), make)
        return made

    def ideal(
        self,
        name: Hashable,
        gain: Gain,
        cutoff: int | None,
        discount: Discount = log2_discount,
        discount_name: Hashable = "log2",
    ) -> Floats:
        """Return the discounted gain of the best possible list per query, shape (Q,).

        Parameters
        ----------
        name : hashable
            Identifies the gain.
        gain : callable
            Makes gains from grades.
        cutoff : int or None
            Documents in the list.
        discount : callable, optional
            Makes the weight of each rank.
        discount_name : hashable, optional
            Identifies the discount.
        """

        def make() -> Floats:
            lists = self.ideal_lists(name, gain)
            keep = slice(None) if cutoff is None else lists.place <= cutoff
            return sums(
                lists.query[keep], lists.gain[keep] * discount(lists.place[keep].astype(np.float64)), self.n_queries
            )

        made: Floats = self.once(("ideal", name, discount_name, cutoff), make)
        return made


class Evaluation:
    """One system's hits with the totals of the judgments.

    Parameters
    ----------
    pool : Pool
        The judgments' side.
    hits : Hits
        The system's judged documents.
    """

    def __init__(self, pool: Pool, hits: Hits) -> None:
        self.pool = pool
        self.hits = hits
        self._ordinals: dict[float, Whole] = {}
        self._made: dict[Hashable, Any] = {}
        self._condensed: Evaluation | None = None

    def once(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """Return what `make` returns, made at the first call with this key."""
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    def within(self, cutoff: int | None) -> Flags:
        """Mark the hits at rank `cutoff` or above, shape (H,)."""
        return np.ones(len(self.hits.rank), dtype=bool) if cutoff is None else self.hits.rank <= cutoff

    def sum(self, terms: Floats) -> Floats:
        """Add up a number per hit in the order of ranks, shape (Q,)."""
        return sums(self.hits.query, terms, self.pool.n_queries)

    def ordinal(self, rel: float) -> Whole:
        """Return which relevant document of its list each hit is, from 1; 0 for hits that are not, shape (H,)."""
        if rel not in self._ordinals:
            relevant = np.flatnonzero(self.hits.grade >= rel)
            ordinal = np.zeros(len(self.hits.grade), dtype=np.int64)
            ordinal[relevant] = ordinals(self.hits.query[relevant])
            self._ordinals[rel] = ordinal
        return self._ordinals[rel]

    def so_far(self, marked: Flags) -> Whole:
        """Count the marked hits of its list down to each hit, itself included, shape (H,)."""
        query = self.hits.query
        counted = np.cumsum(marked)
        before = np.searchsorted(query, query)
        return np.asarray(counted - np.where(before > 0, counted[before - 1], 0), dtype=np.int64)

    def running_sums(self, terms: Floats) -> Floats:
        """Add up a number per hit down to each hit of its list, itself included, shape (H,)."""
        return running_sums(self.hits.query, terms)

    def relevant(self, rel: float, cutoff: int | None) -> Floats:
        """Mark the relevant hits at rank `cutoff` or above with 1, shape (H,)."""
        return np.asarray((self.hits.grade >= rel) & self.within(cutoff), dtype=np.float64)

    def shown(self, cutoff: int | None) -> Floats:
        """Return the number of documents returned at rank `cutoff` or above, shape (Q,)."""
        returned = self.hits.returned.astype(np.float64)
        return returned if cutoff is None else np.minimum(returned, cutoff)

    def reaches(self, stops: Floats) -> Floats:
        """Return the probability that a reader gets as far as each hit, shape (H,).

        Parameters
        ----------
        stops : ndarray of float64, shape (H,)
            Probability that the reader, once there, is satisfied and stops.
        """
        return reaches(self.hits.query, stops, self.pool.n_queries)

    def kept_when_condensed(self) -> Flags:
        """Mark the hits that a condensed list keeps: those with a grade of 0 or more, shape (H,)."""
        return np.asarray(self.hits.grade >= 0)

    def condensed(self) -> Evaluation:
        """Return the evaluation of the lists without the documents that have no grade of 0 or more."""
        if self._condensed is None:
            hits, kept = self.hits, self.kept_when_condensed()
            query = hits.query[kept]
            self._condensed = Evaluation(
                self.pool,
                replace(
                    hits,
                    query=query,
                    rank=ordinals(query),
                    grade=hits.grade[kept],
                    judgment=hits.judgment[kept],
                    returned=np.bincount(query, minlength=self.pool.n_queries).astype(np.int64),
                    score=None if hits.score is None else hits.score[kept],
                ),
            )
        return self._condensed


def sums(query: NDArray[np.int32] | Whole, terms: Floats, n_queries: int) -> Floats:
    """Add up the terms of each query in their order, shape (Q,)."""
    # bincount adds row by row, so a query's sum does not depend on the other queries
    return np.asarray(np.bincount(query, weights=terms, minlength=n_queries), dtype=np.float64)


def divide(total: Floats, by: Floats) -> Floats:
    """Divide, with 0 where the divisor is 0."""
    return np.divide(total, by, out=np.zeros_like(total), where=by > 0)


def ordinals(query: NDArray[np.int32] | Whole) -> Whole:
    """Number the rows of each query from 1; rows of a query stand together."""
    starts = np.flatnonzero(np.append(True, query[1:] != query[:-1])) if len(query) else np.zeros(0, dtype=np.int64)
    lengths = np.diff(np.append(starts, len(query)))
    return np.asarray(np.arange(1, len(query) + 1) - np.repeat(starts, lengths), dtype=np.int64)


def running_sums(query: NDArray[np.int32], terms: Floats) -> Floats:
    """Add up terms from the first row of each query to each row; rows of a query stand together.

    One sum over all rows with differences taken would let a query's sums depend on the queries before it.
    """
    sums_so_far = np.zeros(len(terms))
    for rows, line, place in side_by_side(query):
        laid = np.zeros((int(line[-1]) + 1, int(place.max()) + 1))
        laid[line, place] = terms[rows]
        sums_so_far[rows] = np.cumsum(laid, axis=1)[line, place]
    return sums_so_far


def side_by_side(query: NDArray[np.int32], width: int | None = None) -> list[tuple[slice, Whole, Whole]]:
    """Split rows into blocks of whole queries that fit into a small table with a line a query.

    Parameters
    ----------
    query : ndarray of int, shape (N,)
        Query of each row; rows of a query stand together.
    width : int, optional
        Columns of the table; the longest query by default.

    Returns
    -------
    list of (slice, ndarray, ndarray)
        The rows of a block, and line and column of each in its table, from 0.
    """
    if not len(query):
        return []
    starts = np.flatnonzero(np.append(True, query[1:] != query[:-1]))
    lengths = np.diff(np.append(starts, len(query)))
    lines = max(1, _CELLS // max(int(lengths.max()), width or 1))
    line = np.repeat(np.arange(len(starts)), lengths)
    place = np.arange(len(query)) - np.repeat(starts, lengths)
    blocks = []
    for first in range(0, len(starts), lines):
        last = min(first + lines, len(starts)) - 1
        rows = slice(int(starts[first]), int(starts[last] + lengths[last]))
        blocks.append((rows, line[rows] - first, place[rows]))
    return blocks


def reaches(query: NDArray[np.int32], stops: Floats, n_queries: int) -> Floats:
    """Return the probability that a reader gets as far as each row of a list.

    Parameters
    ----------
    query : ndarray of int, shape (N,)
        Query of each row; rows of a query stand together, best rank first.
    stops : ndarray of float64, shape (N,)
        Probability that the reader, once there, is satisfied and stops.
    n_queries : int
        Number of queries, Q.
    """
    reach = np.ones(len(stops))
    rows = np.flatnonzero(stops > 0)
    place = ordinals(query[rows])
    left = np.ones(n_queries)
    # one pass for each place in the lists, over all queries at once
    by_place = rows[np.argsort(place, kind="stable")]
    for at in np.split(by_place, np.cumsum(np.bincount(place, minlength=1)[1:-1])):
        reach[at] = left[query[at]]
        left[query[at]] *= 1.0 - stops[at]
    return reach
