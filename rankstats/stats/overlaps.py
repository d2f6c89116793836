"""Rank-biased overlap of ranked lists, of unequal length and with ties, and the overlap of their tops."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rankstats.errors import RankstatsError
from rankstats.stats.item_lists import Codes, Floats, ItemIndex, Matches, RankedLists, checked_pairs, chunks_of_pairs
from rankstats.stats.results import ColumnResult
from rankstats.stats.validation import check_choice, check_count

TIE_VERSIONS = ("a", "b", "w")


@dataclass(frozen=True, slots=True, eq=False)
class RankBiasedOverlap(ColumnResult):
    """Result of `rank_biased_overlap`; array fields have one entry a pair of lists.

    Attributes
    ----------
    extrapolated : ndarray
        RBO_ext: the agreement of what was seen is taken to go on below; from 0 (no item in common) to 1. NaN where a
        list is empty.
    minimum : ndarray
        RBO_min: nothing below the ends of the lists agrees.
    residual : ndarray
        RBO_res: what the unseen items could add at most to the minimum.
    n : ndarray of int
        Items in common.
    p : float
        Persistence.
    ties : str
        Version for ties.
    """

    extrapolated: Floats
    minimum: Floats
    residual: Floats
    n: Codes
    p: float
    ties: str

    @property
    def maximum(self) -> Floats:
        """RBO_max: everything that can agree below the ends of the lists does."""
        return np.asarray(self.minimum + self.residual)


def rank_biased_overlap(
    lists: RankedLists, first: ArrayLike, second: ArrayLike, *, p: float = 0.9, ties: str = "a"
) -> RankBiasedOverlap:
    """Return the rank-biased overlap of pairs of lists.

    RBO = (1 − p) Σ p^(d − 1) A_d over all depths d, A_d the agreement of the two lists at depth d: the share of items
    that their first d places have in common. A reader who goes on to the next place with probability p sees 1/(1 − p)
    places on average; with p = 0.9 the first 10 places hold 86 % of the weight.

    Ties, by version (without ties all are one):

    * a: the order inside a tie is unknown. An item of a tie over places t … b counts (d − t + 1)/(b − t + 1) at depth
      d; A_d = Σ c·c'/d. RBO is the mean over all ways to break the ties.
    * b: the same contributions, A_d = Σ c·c' / √(Σ c² Σ c'²): equal lists have RBO 1, ties or not.
    * w: tied items share the highest place; A_d is twice the number of common items among those placed at d or above,
      over the numbers of items placed there.

    Parameters
    ----------
    lists : RankedLists
        The lists.
    first, second : int or array_like of int, shape (k,)
        Positions of the lists of each pair.
    p : float
        Persistence, between 0 and 1.
    ties : {'a', 'b', 'w'}
        Version for ties.

    Returns
    -------
    RankBiasedOverlap

    Raises
    ------
    RankstatsError
        If p or `ties` is out of range, or there are no such lists.

    References
    ----------
    Webber, Moffat & Zobel 2010 (RBO, also of uneven lists; version w); Corsi & Urbano 2024 (versions a and b).

    Examples
    --------
    >>> from rankstats.stats import lists_of_items
    >>> lists = lists_of_items(["a", "b", "c"], ["b", "a", "x"], ["p", "q"])
    >>> result = rank_biased_overlap(lists, [0, 0], [1, 2])
    >>> result.extrapolated.round(4).tolist(), result.residual.round(4).tolist(), result.n.tolist()
    ([0.63, 0.0], [0.5613, 0.7378], [2, 0])
    """
    one, other = checked_pairs(lists, first, second)
    if not 0 < p < 1:
        raise RankstatsError(f"p = {p!r}: the persistence lies between 0 and 1, for instance 0.9")
    check_choice("ties", ties, TIE_VERSIONS)
    found = np.full((3, len(one)), np.nan)
    n = np.zeros(len(one), dtype=np.int64)
    index = ItemIndex(lists)
    for chunk in chunks_of_pairs(lists, one, other):
        depths = _Depths.of(lists, index, one[chunk], other[chunk])
        found[:, chunk] = _overlaps(depths, p, ties)
        n[chunk] = depths.n
    return RankBiasedOverlap(found[0], found[1], found[2], n, float(p), ties)


def overlap_at(lists: RankedLists, first: ArrayLike, second: ArrayLike, k: int) -> Floats:
    """Return the share of items that the first k places of two lists have in common.

    A tie that reaches beyond place k counts with its expected number of items under random order. The number of common
    items is divided by k or, where both lists are shorter, by the length of the longer one.

    Parameters
    ----------
    lists : RankedLists
        The lists.
    first, second : int or array_like of int, shape (pairs,)
        Positions of the lists of each pair.
    k : int
        Depth, at least 1.

    Returns
    -------
    ndarray, shape (pairs,)
        From 0 to 1; NaN where a list is empty.

    Raises
    ------
    RankstatsError
        If k is below 1, or there are no such lists.

    Examples
    --------
    >>> from rankstats.stats import lists_of_items
    >>> overlap_at(lists_of_items(["a", "b", "c"], ["b", ["c", "x"]]), 0, 1, 2).tolist()
    [0.5]
    """
    one, other = checked_pairs(lists, first, second)
    check_count("k", k)
    found = np.full(len(one), np.nan)
    index = ItemIndex(lists)
    for chunk in chunks_of_pairs(lists, one, other):
        depths = _Depths.of(lists, index, one[chunk], other[chunk], deepest=k)
        at = np.minimum(k, depths.longer)
        common = depths.expected[np.arange(len(at)), np.maximum(at, 1) - 1]
        found[chunk] = np.divide(common, at, out=np.full(len(at), np.nan), where=depths.shorter > 0)
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Active:
    """The tie of one list that each depth falls into; arrays of shape (pairs, depths), 0 beyond the end of the list.

    `share` is the part of the tie above or at the depth; `above` the items of the list above the tie (all beyond its
    end); `size` the items of the tie.
    """

    share: Floats
    above: Codes
    size: Codes

    @classmethod
    def of(cls, lists: RankedLists, chosen: Codes, deepest: int) -> _Active:
        depth = np.arange(1, deepest + 1)
        inside = depth <= lists.lengths[chosen][:, None]
        row = np.where(inside, lists.offsets[chosen][:, None] + depth - 1, 0)
        top, bottom = (values[row] if len(values) else row for values in (lists.top, lists.bottom))
        size = np.where(inside, bottom - top + 1, 0)
        share = np.divide(depth - top + 1, size, out=np.zeros(row.shape), where=inside)
        return cls(share, np.where(inside, top - 1, lists.lengths[chosen][:, None]), size)


@dataclass(frozen=True, slots=True, eq=False)
class _Depths:
    """Pairs of lists at each depth 1, 2 …, the shorter list of each pair first; arrays of shape (pairs, depths).

    Attributes
    ----------
    shorter, longer : ndarray of int, shape (pairs,)
        Lengths.
    n : ndarray of int, shape (pairs,)
        Items in common.
    one, other : _Active
        The ties of the shorter and of the longer list.
    expected : ndarray
        Σ c·c': common items, weighted with the chance that they stand at the depth or above.
    placed : ndarray of int
        Common items of which the highest places are at the depth or above.
    passed, passing : ndarray of int
        Common items that both lists have passed; that the shorter list has passed and the longer one is passing.
    """

    shorter: Codes
    longer: Codes
    n: Codes
    one: _Active
    other: _Active
    expected: Floats
    placed: Codes
    passed: Codes
    passing: Codes

    @classmethod
    def of(
        cls, lists: RankedLists, index: ItemIndex, first: Codes, second: Codes, deepest: int | None = None
    ) -> _Depths:
        swapped = lists.lengths[first] > lists.lengths[second]
        short, long = np.where(swapped, second, first), np.where(swapped, first, second)
        width = max(1, int(lists.lengths[long].max(initial=0)))
        width = width if deepest is None else min(width, deepest)
        common = index.common(short, long)
        one, other = _Active.of(lists, short, width), _Active.of(lists, long, width)
        counts = _counts(lists, common, (len(short), width))
        passed, one_passing, passing, both_passing, placed = counts
        expected = passed + one.share * one_passing + other.share * passing + one.share * other.share * both_passing
        n = np.bincount(common.pair, minlength=len(short))
        return cls(lists.lengths[short], lists.lengths[long], n, one, other, expected, placed, passed, passing)


def _counts(lists: RankedLists, common: Matches, shape: tuple[int, int]) -> tuple[Codes, Codes, Codes, Codes, Codes]:
    """Count the common items at each depth.

    Returns those that both lists have passed; that the first list is passing and the second one has passed; that the
    second is passing and the first has passed; that both are passing; and those placed at the depth or above.
    """
    top, bottom = lists.top[common.first], lists.bottom[common.first]
    other_top, other_bottom = lists.top[common.second], lists.bottom[common.second]
    never = np.full(len(top), np.iinfo(np.int64).max)

    def between(start: Codes, stop: Codes) -> Codes:
        """Count the items for which the depth lies in ``start <= depth < stop``."""
        steps = np.zeros(shape[0] * (shape[1] + 1), dtype=np.int64)
        for ends, sign in ((start, 1), (np.maximum(start, stop), -1)):
            place = common.pair * (shape[1] + 1) + np.minimum(ends - 1, shape[1])
            steps += sign * np.bincount(place, minlength=len(steps))
        return np.cumsum(steps.reshape(shape[0], -1), axis=1)[:, :-1]

    return (
        between(np.maximum(bottom, other_bottom) + 1, never),
        between(np.maximum(top, other_bottom + 1), bottom + 1),
        between(np.maximum(other_top, bottom + 1), other_bottom + 1),
        between(np.maximum(top, other_top), np.minimum(bottom, other_bottom) + 1),
        between(np.maximum(top, other_top), never),
    )


def _overlaps(depths: _Depths, p: float, ties: str) -> tuple[Floats, Floats, Floats]:
    """Return extrapolated and minimum RBO, and the residual."""
    depth = np.arange(1, depths.expected.shape[1] + 1)
    weight = (1 - p) / p * p**depth
    shorter, longer = depths.shorter, depths.longer
    row = np.arange(len(shorter))
    unseen = np.maximum(depth - shorter[:, None], 0)
    common = depths.placed if ties == "w" else depths.expected
    size = _sizes(depths, ties)
    agreement = common / size
    at_end = agreement[row, np.maximum(shorter, 1) - 1]

    def summed(matched: Floats) -> Floats:
        """Add up to the end of the longer list, one depth after the other, so that padding changes nothing."""
        terms = np.where(depth <= longer[:, None], (common + matched) / size * weight, 0.0)
        return np.asarray(np.cumsum(terms, axis=1)[:, -1])

    known = summed(np.zeros(common.shape))
    guessed = summed(unseen * at_end[:, None] * _open_share(depths, ties))
    possible = summed(_matchable(depths, unseen, ties))
    last = (depths.n + (longer - shorter) * at_end) / np.maximum(longer, 1)
    extrapolated = guessed + last * p**longer
    tail, rest = _beyond(depths, p)
    defined = shorter > 0
    return (
        np.where(defined, extrapolated, np.nan),
        np.where(defined, known + tail, np.nan),
        np.where(defined, possible - known + rest - tail, np.nan),
    )


def _sizes(depths: _Depths, ties: str) -> Floats:
    """Return what the common items are divided by; the unseen items of the shorter list have no ties."""
    depth = np.arange(1, depths.expected.shape[1] + 1)
    if ties == "a":
        return np.broadcast_to(depth.astype(np.float64), depths.expected.shape)
    sizes = []
    for active in (depths.one, depths.other):
        part = active.size if ties == "w" else active.share**2 * active.size
        sizes.append(np.where(active.size > 0, active.above + part, depth))
    return np.asarray((sizes[0] + sizes[1]) / 2 if ties == "w" else np.sqrt(sizes[0] * sizes[1]))


def _open_share(depths: _Depths, ties: str) -> Floats:
    """Return how much an item of the longer list counts that the shorter one has not shown, on average."""
    if ties == "w":
        return np.ones(depths.expected.shape)
    depth = np.arange(1, depths.expected.shape[1] + 1)
    items = np.where(depths.other.size > 0, depths.other.above + depths.other.size, depth) - depths.placed
    return np.divide(depth - depths.expected, items, out=np.ones(depths.expected.shape), where=items > 0)


def _matchable(depths: _Depths, unseen: Codes, ties: str) -> Floats:
    """Return what the unseen items of the shorter list could add at most: they match the longer one from its top."""
    if ties == "w":
        return unseen.astype(np.float64)
    whole = depths.other.above - depths.passed
    partly = depths.other.size - depths.passing
    return np.asarray(np.minimum(unseen, whole) + np.clip(unseen - whole, 0, partly) * depths.other.share)


def _beyond(depths: _Depths, p: float) -> tuple[Floats, Floats]:
    """Return the least and the most that depths beyond the longer list add."""
    full = depths.shorter + depths.longer - depths.n
    powers = p ** np.arange(1, int(full.max(initial=0)) + 1)
    sums = np.concatenate([[0.0], np.cumsum(powers)])
    harmonic = np.concatenate([[0.0], np.cumsum(powers / np.arange(1, len(powers) + 1))])
    least = depths.n * np.maximum(-np.log1p(-p) - harmonic[depths.longer], 0.0)
    between = 2 * (sums[full] - sums[depths.longer]) - full * (harmonic[full] - harmonic[depths.longer])
    return (1 - p) / p * least, (1 - p) / p * between + p**full
