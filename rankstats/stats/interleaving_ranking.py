"""Several rankers in one log: scores that order them, and the ranks that the comparisons leave open."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankstats.errors import RankstatsError
from rankstats.stats.results import ColumnResult

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class RankerScores(ColumnResult):
    """Result of `ranker_scores`; array fields have one entry a ranker.

    Attributes
    ----------
    score : ndarray
        Mean win share against the others; NaN where the log does not connect the rankers.
    rank : ndarray of int
        Place in the order of the scores, 1 the best; 0 where there is no order.
    low, high : ndarray of int
        Ranks that the comparisons leave open.
    may_be_best : ndarray of bool
        No ranker is shown to be better.
    """

    score: Floats
    rank: Integers
    low: Integers
    high: Integers
    may_be_best: NDArray[np.bool_]


def ranker_scores(
    first: ArrayLike, second: ArrayLike, estimate: ArrayLike, shown: ArrayLike, *, rankers: int
) -> RankerScores:
    """Order rankers by the pairs that were compared.

    1. Scores are the least-squares solution of score(second) − score(first) = estimate over the pairs, which count
       alike, brought to the mean share against all others: where every two rankers were compared, that is the plain
       mean of a ranker's win shares; of two rankers it is the win share.
    2. A ranker's rank lies between 1 + the number of rankers shown to be better and m − the number shown to be worse.
       With simultaneous comparisons these intervals hold all true ranks at the level of the family, pairs that were
       not compared being open.

    Parameters
    ----------
    first, second : array_like of int, shape (pairs,)
        Rankers of each pair, from 0.
    estimate : array_like, shape (pairs,)
        Win share of the second less ½; NaN (no clicks) leaves the pair out.
    shown : array_like of bool, shape (pairs,)
        Whether the pair is shown to differ, after adjustment for all pairs.
    rankers : int
        Number of rankers m.

    Returns
    -------
    RankerScores

    Raises
    ------
    RankstatsError
        If shapes do not fit.

    References
    ----------
    Jiang, Lim, Yao & Ye 2011 (least squares on pairs).

    Examples
    --------
    >>> result = ranker_scores([0, 0, 1], [1, 2, 2], [0.1, 0.2, 0.06], [True, True, False], rankers=3)
    >>> result.score.round(2).tolist(), result.low.tolist(), result.high.tolist()
    ([0.35, 0.52, 0.63], [3, 1, 1], [3, 2, 2])
    """
    a, b = np.asarray(first, dtype=np.int64), np.asarray(second, dtype=np.int64)
    size, differs = np.asarray(estimate, dtype=np.float64), np.asarray(shown, dtype=np.bool_)
    if not a.shape == b.shape == size.shape == differs.shape or a.ndim != 1:
        raise RankstatsError("first, second, estimate and shown: one entry for each pair is expected")
    score = _scores(a, b, size, rankers)
    better = np.zeros((rankers, rankers), dtype=bool)
    up, down = differs & (size > 0), differs & (size < 0)
    better[b[up], a[up]] = True
    better[a[down], b[down]] = True
    beaten_by = better.sum(axis=0)
    rank = np.zeros(rankers, dtype=np.int64)
    if not np.isnan(score).any():
        rounded = np.round(score, 12)
        rank = np.array([1 + np.count_nonzero(rounded > own) for own in rounded], dtype=np.int64)
    return RankerScores(score, rank, 1 + beaten_by, rankers - better.sum(axis=1), beaten_by == 0)


def _scores(a: Integers, b: Integers, size: Floats, rankers: int) -> Floats:
    known = ~np.isnan(size)
    rows = np.arange(np.count_nonzero(known))
    design = np.zeros((len(rows), rankers))
    design[rows, b[known]] = 1.0
    design[rows, a[known]] -= 1.0
    if rankers < 2 or len(rows) < rankers - 1 or np.linalg.matrix_rank(design) < rankers - 1:
        return np.full(rankers, np.nan)
    strengths = np.linalg.lstsq(design, size[known], rcond=None)[0]
    return np.asarray(0.5 + (strengths - strengths.mean()) * rankers / (rankers - 1))
