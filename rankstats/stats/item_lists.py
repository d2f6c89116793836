"""Ranked lists of items with ties, and how alike two of them order the items that both hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankstats.errors import RankstatsError
from rankstats.stats.concordance import Groups, concordance
from rankstats.stats.correlation import rho, tau_b
from rankstats.stats.results import ColumnResult
from rankstats.stats.top_correlation import grouped_weighted_tau, tau_ap_b

_ELEMENTS = 1 << 19

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class RankedLists:
    """Lists of items, best first; made by `ranked_lists` or `lists_of_items`.

    Attributes
    ----------
    offsets : ndarray of int, shape (L + 1,)
        Rows of list i are ``offsets[i]:offsets[i + 1]``.
    item : ndarray of int, shape (N,)
        The item in each row, as a number; equal numbers are equal items, and nothing else is read from them.
    top, bottom : ndarray of int, shape (N,)
        The highest and the lowest rank that the item may have: those of the tie that it belongs to; 1 is the top.
    """

    offsets: Codes
    item: Codes
    top: Codes
    bottom: Codes

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> Codes:
        """Number of items of each list, shape (L,)."""
        return np.diff(self.offsets)


def ranked_lists(
    list_index: ArrayLike, item: ArrayLike, score: ArrayLike | None = None, *, n_lists: int | None = None
) -> RankedLists:
    """Make ranked lists of rows of list, item and score.

    Parameters
    ----------
    list_index : array_like of int, shape (N,)
        The list of each row, counted from 0.
    item : array_like, shape (N,)
        Ids: whole numbers or text. Each stands in a list once.
    score : array_like, shape (N,), optional
        The higher, the nearer to the top; equal scores are ties. Without scores the rows of a list stand in its order.
    n_lists : int, optional
        Number of lists L, where the last ones may be empty.

    Returns
    -------
    RankedLists

    Raises
    ------
    RankstatsError
        If shapes differ, a score is NaN, or a list holds an item twice.

    Examples
    --------
    >>> lists = ranked_lists([0, 0, 0, 1], ["a", "b", "c", "b"], [0.5, 0.9, 0.5, 1.0])
    >>> lists.top.tolist(), lists.bottom.tolist(), lists.lengths.tolist()
    ([1, 2, 2, 1], [1, 3, 3, 1], [3, 1])
    """
    index = np.asarray(list_index, dtype=np.int64)
    ids = np.asarray(item)
    scores = -np.arange(len(index), dtype=np.float64) if score is None else np.asarray(score, dtype=np.float64)
    if not index.shape == ids.shape == scores.shape or index.ndim != 1:
        raise RankstatsError(
            f"list_index, item and score have shapes {index.shape}, {ids.shape} and {scores.shape}; one is expected"
        )
    if np.isnan(scores).any():
        raise RankstatsError("score holds NaN; a list has no place for an item without a score")
    count = max(int(index.max(initial=-1)) + 1, n_lists or 0)
    names, codes = np.unique(ids, return_inverse=True)
    pairs = np.sort(index * max(len(names), 1) + codes)
    repeated = np.flatnonzero(pairs[1:] == pairs[:-1])
    if len(repeated):
        place, code = divmod(int(pairs[repeated[0]]), len(names))
        raise RankstatsError(f"list {place} (counted from 0) holds item {names[code].item()!r} twice; leave one out")
    return _in_order(index, codes.astype(np.int64), scores, count)


def _in_order(index: Codes, item: Codes, score: Floats, count: int) -> RankedLists:
    order = np.lexsort((item, -score, index))
    index, item, score = index[order], item[order], score[order]
    offsets = np.searchsorted(index, np.arange(count + 1)).astype(np.int64)
    begins = np.ones(len(index), dtype=np.bool_)
    begins[1:] = (index[1:] != index[:-1]) | (score[1:] != score[:-1])
    first = np.flatnonzero(begins)
    tie = np.cumsum(begins) - 1
    last = np.append(first[1:], len(index)) - 1
    return RankedLists(offsets, item, first[tie] - offsets[index] + 1, last[tie] - offsets[index] + 1)


def lists_of_items(*lists: Sequence[Hashable]) -> RankedLists:
    """Make ranked lists of sequences of ids; a set, list or tuple inside a sequence is a tie.

    Raises
    ------
    RankstatsError
        If a list holds an item twice.

    Examples
    --------
    >>> lists = lists_of_items(["a", ["b", "c"], "d"], ["d", "a"])
    >>> lists.top.tolist(), lists.lengths.tolist()
    ([1, 2, 2, 4, 1, 2], [4, 2])
    """
    rows = [
        (index, item, -float(place))
        for index, sequence in enumerate(lists)
        for place, entry in enumerate(sequence)
        for item in (entry if isinstance(entry, set | frozenset | list | tuple) else (entry,))
    ]
    known: dict[Hashable, int] = {}
    codes = [known.setdefault(item, len(known)) for _, item, _ in rows]
    for (index, item), count in Counter((index, item) for index, item, _ in rows).items():
        if count > 1:
            raise RankstatsError(f"list {index} (counted from 0) holds item {item!r} twice; leave one out")
    return ranked_lists([row[0] for row in rows], codes, [row[2] for row in rows], n_lists=len(lists))


def checked_pairs(lists: RankedLists, first: ArrayLike, second: ArrayLike) -> tuple[Codes, Codes]:
    """Return the positions of the lists that are compared, or raise where there are no such lists."""
    one, other = np.atleast_1d(np.asarray(first, np.int64)), np.atleast_1d(np.asarray(second, np.int64))
    if one.shape != other.shape or one.ndim != 1:
        raise RankstatsError(f"first and second have shapes {one.shape} and {other.shape}; one is expected")
    both = np.concatenate([one, other])
    if len(both) and (both.min() < 0 or both.max() >= len(lists)):
        raise RankstatsError(f"first and second: lists are counted from 0 to {len(lists) - 1}")
    return one, other


def chunks_of_pairs(lists: RankedLists, first: Codes, second: Codes) -> Iterator[slice]:
    """Yield consecutive pairs whose lists fit into memory together."""
    size = np.maximum(lists.lengths[first], lists.lengths[second]) + 1
    start = 0
    while start < len(first):
        # padded to the longest list of the chunk
        cost = np.maximum.accumulate(size[start:]) * np.arange(1, len(size) - start + 1)
        stop = start + max(1, int(np.searchsorted(cost, _ELEMENTS, side="right")))
        yield slice(start, stop)
        start = stop


@dataclass(frozen=True, slots=True, eq=False)
class Matches:
    """Items that two lists have in common; arrays have one entry an item, pair by pair.

    Attributes
    ----------
    pair : ndarray of int
        The pair of lists, not descending.
    first, second : ndarray of int
        Row of the item in the first and in the second list.
    """

    pair: Codes
    first: Codes
    second: Codes


class ItemIndex:
    """Finds items in ranked lists.

    Parameters
    ----------
    lists : RankedLists
        The lists.
    """

    def __init__(self, lists: RankedLists) -> None:
        self._lists = lists
        self._width = int(lists.item.max(initial=0)) + 1
        keys = np.repeat(np.arange(len(lists)), lists.lengths) * self._width + lists.item
        self._row = np.argsort(keys, kind="stable")
        self._keys = keys[self._row]

    def common(self, first: Codes, second: Codes) -> Matches:
        """Return the items that the lists of each pair have in common."""
        lists = self._lists
        sizes = lists.lengths[first]
        pair = np.repeat(np.arange(len(first)), sizes)
        row = np.arange(len(pair)) - np.repeat(np.cumsum(sizes) - sizes, sizes) + lists.offsets[first][pair]
        wanted = second[pair] * self._width + lists.item[row]
        at = np.searchsorted(self._keys, wanted)
        found = np.zeros(len(wanted), dtype=np.bool_)
        inside = at < len(self._keys)
        found[inside] = self._keys[at[inside]] == wanted[inside]
        return Matches(pair[found], row[found], self._row[at[found]])


@dataclass(frozen=True, slots=True, eq=False)
class ListCorrelation(ColumnResult):
    """Result of `list_correlation`; array fields have one entry a pair of lists.

    Attributes
    ----------
    tau_b, rho, tau_ap_b, weighted_tau : ndarray
        Kendall's τ_b, Spearman's ρ on mid-ranks, τ_ap,b and Vigna's weighted τ of the common items; NaN for fewer than
        two of them, or where one list ties them all.
    n : ndarray of int
        Common items.
    """

    tau_b: Floats
    rho: Floats
    tau_ap_b: Floats
    weighted_tau: Floats
    n: Codes


def list_correlation(lists: RankedLists, first: ArrayLike, second: ArrayLike) -> ListCorrelation:
    """Return rank correlations of pairs of lists over the items that both hold.

    What one list alone holds is left out, so that two lists with few common items may still agree perfectly on them:
    `n` says how many there are, and `rank_biased_overlap` takes all of both lists into account.

    Parameters
    ----------
    lists : RankedLists
        The lists.
    first, second : int or array_like of int, shape (k,)
        Positions of the lists of each pair.

    Returns
    -------
    ListCorrelation

    Raises
    ------
    RankstatsError
        If there are no such lists.

    Examples
    --------
    >>> lists = lists_of_items(["a", "b", "c", "d"], ["x", "b", "a", "d"], ["y", "z"])
    >>> result = list_correlation(lists, [0, 0], [1, 2])
    >>> result.tau_b.round(4).tolist(), result.n.tolist()
    ([0.3333, nan], [3, 0])
    """
    one, other = checked_pairs(lists, first, second)
    found = np.full((4, len(one)), np.nan)
    n = np.zeros(len(one), dtype=np.int64)
    index = ItemIndex(lists)
    for chunk in chunks_of_pairs(lists, one, other):
        common = index.common(one[chunk], other[chunk])
        groups = Groups.of(common.pair, chunk.stop - chunk.start)
        x, y = -lists.top[common.first].astype(np.float64), -lists.top[common.second].astype(np.float64)
        counted = concordance(x, y, groups)
        found[:, chunk] = [tau_b(counted), rho(counted), tau_ap_b(counted), grouped_weighted_tau(counted)]
        n[chunk] = groups.size
    return ListCorrelation(found[0], found[1], found[2], found[3], n)
