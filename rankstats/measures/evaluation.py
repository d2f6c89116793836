"""What measures are computed from: totals over the judgments and sums over the hits, each made once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankstats.tables import Hits, Judgments

Floats = NDArray[np.float64]
Gain = Callable[[Floats], Floats]


class Pool:
    """The judgments' side of measures, the same for every system.

    Parameters
    ----------
    judgments : Judgments
        The judged documents.
    """

    def __init__(self, judgments: Judgments) -> None:
        self.judgments = judgments
        self._made: dict[Hashable, Any] = {}

    @property
    def n_queries(self) -> int:
        """Number of judged queries, Q."""
        return self.judgments.n_queries

    def _once(self, key: Hashable, make: Callable[[], Any]) -> Any:
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    def relevant(self, rel: float) -> Floats:
        """Return the number of documents of at least grade `rel` per query, shape (Q,)."""
        made: Floats = self._once(("relevant", rel), lambda: self.judgments.relevant(rel).astype(np.float64))
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

        made: Floats = self._once("largest grades", make)
        return made

    def ideal(self, name: Hashable, gain: Gain, cutoff: int | None) -> Floats:
        """Return the discounted gain of the best possible list per query, shape (Q,).

        Parameters
        ----------
        name : hashable
            Identifies the gain.
        gain : callable
            Makes gains from grades.
        cutoff : int or None
            Documents in the list.
        """

        def rank_by_gain() -> tuple[NDArray[np.int32], NDArray[np.int64], Floats]:
            gains = gain(self.judgments.grade)
            keep = np.flatnonzero(gains > 0)
            keep = keep[np.lexsort((-gains[keep], self.judgments.query[keep]))]
            query = self.judgments.query[keep]
            return query, ordinals(query), gains[keep]

        query, place, gains = self._once(("ideal list", name), rank_by_gain)
        keep = slice(None) if cutoff is None else place <= cutoff
        terms = gains[keep] / np.log2(place[keep] + 1.0)
        return _sums(query[keep], terms, self.n_queries)


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
        self._ordinals: dict[float, NDArray[np.int64]] = {}

    def within(self, cutoff: int | None) -> NDArray[np.bool_]:
        """Mark the hits at rank `cutoff` or above, shape (H,)."""
        return np.ones(len(self.hits.rank), dtype=bool) if cutoff is None else self.hits.rank <= cutoff

    def sum(self, terms: Floats) -> Floats:
        """Add up a number per hit in the order of ranks, shape (Q,)."""
        return _sums(self.hits.query, terms, self.pool.n_queries)

    def ordinal(self, rel: float) -> NDArray[np.int64]:
        """Return which relevant document of its list each hit is, from 1; 0 for hits that are not, shape (H,)."""
        if rel not in self._ordinals:
            relevant = np.flatnonzero(self.hits.grade >= rel)
            ordinal = np.zeros(len(self.hits.grade), dtype=np.int64)
            ordinal[relevant] = ordinals(self.hits.query[relevant])
            self._ordinals[rel] = ordinal
        return self._ordinals[rel]

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
        reach = np.ones(len(stops))
        rows = np.flatnonzero(stops > 0)
        place = ordinals(self.hits.query[rows])
        left = np.ones(self.pool.n_queries)
        # one pass for each place in the lists, over all queries at once
        by_place = rows[np.argsort(place, kind="stable")]
        for at in np.split(by_place, np.cumsum(np.bincount(place, minlength=1)[1:-1])):
            query = self.hits.query[at]
            reach[at] = left[query]
            left[query] *= 1.0 - stops[at]
        return reach


def _sums(query: NDArray[np.int32], terms: Floats, n_queries: int) -> Floats:
    # bincount adds row by row, so a query's sum does not depend on the other queries
    return np.asarray(np.bincount(query, weights=terms, minlength=n_queries), dtype=np.float64)


def ordinals(query: NDArray[np.int32]) -> NDArray[np.int64]:
    """Number the rows of each query from 1; rows of a query stand together."""
    starts = np.flatnonzero(np.append(True, query[1:] != query[:-1])) if len(query) else np.zeros(0, dtype=np.int64)
    lengths = np.diff(np.append(starts, len(query)))
    return np.asarray(np.arange(1, len(query) + 1) - np.repeat(starts, lengths), dtype=np.int64)
