"""Pairs that two variables order alike, counted within many groups at once in n log n time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """Values of one variable, group by group.

    Attributes
    ----------
    group : ndarray of int, shape (N,)
        Group of each value, not descending.
    size : ndarray of int, shape (g,)
        Values in each group.
    start : ndarray of int, shape (g,)
        Position of the first value of each group.
    """

    group: Codes
    size: Codes
    start: Codes

    @classmethod
    def of(cls, group: Codes, n_groups: int) -> Groups:
        """Return the groups of codes that do not descend."""
        size = np.bincount(group, minlength=n_groups)
        return cls(group, size, np.cumsum(size) - size)

    @property
    def pairs(self) -> Codes:
        """Pairs of values within each group, shape (g,)."""
        return self.size * (self.size - 1) // 2

    def sums(self, values: Codes | Floats) -> Floats:
        """Add up values, one by one in their order, within each group; shape (g,)."""
        weights = values.astype(np.float64, copy=False)
        return np.bincount(self.group, weights, minlength=len(self.size)).astype(np.float64, copy=False)


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """The distinct values of one variable in each group: its levels, ascending.

    A group has as many slots as values; the levels take the first of them.

    Attributes
    ----------
    slot : ndarray of int, shape (N,)
        Slot of each value's level.
    count : ndarray of int, shape (N,)
        Values on the level in each slot; 0 in a slot without level.
    below : ndarray of int, shape (N,)
        Values of the group on lower levels than that in each slot.
    """

    slot: Codes
    count: Codes
    below: Codes

    @classmethod
    def of(cls, values: Floats, groups: Groups) -> Levels:
        """Return the levels of a variable."""
        order = np.lexsort((values, groups.group))
        ascending = values[order]
        # the groups stand in order, so that sorting leaves them in their places
        rises = np.zeros(len(values), dtype=np.int64)
        rises[1:] = (ascending[1:] != ascending[:-1]) & (groups.group[1:] == groups.group[:-1])
        risen = np.cumsum(rises)
        first = groups.start[groups.group]
        slot = np.empty(len(values), dtype=np.int64)
        slot[order] = first + risen - risen[first]
        count = np.bincount(slot, minlength=len(values))
        return cls(slot, count, np.cumsum(count) - count - first)

    def tied_pairs(self, groups: Groups) -> Codes:
        """Return the pairs of equal values in each group, shape (g,)."""
        return groups.sums(self.count * (self.count - 1) // 2).astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Concordance:
    """Two variables in the same groups, and how their pairs are ordered; see `concordance`.

    Attributes
    ----------
    groups : Groups
        The groups.
    x, y : Levels
        The levels of the two variables.
    above : ndarray of int, shape (N,)
        For each pair of values how many of its group are greater in both variables.
    balance, untied_x, untied_y : ndarray of int, shape (g,)
        Concordant less discordant pairs, and the pairs that are not tied in x and in y.
    """

    groups: Groups
    x: Levels
    y: Levels
    above: Codes
    balance: Codes
    untied_x: Codes
    untied_y: Codes


def concordance(x: Floats, y: Floats, groups: Groups) -> Concordance:
    """Count how pairs are ordered, within each group.

    Parameters
    ----------
    x, y : ndarray, shape (N,)
        Values without NaN, group by group.
    groups : Groups
        Their groups.

    Examples
    --------
    >>> counted = concordance(np.array([1.0, 2, 3]), np.array([1.0, 3, 2]), Groups.of(np.zeros(3, np.int64), 1))
    >>> counted.above.tolist(), counted.balance.tolist()
    ([2, 0, 0], [1])
    """
    of_x, of_y = Levels.of(x, groups), Levels.of(y, groups)
    first = groups.start[groups.group]
    above = _greater_in_both(of_x.slot - first, of_y.slot - first, groups)
    tied_x, tied_y = of_x.tied_pairs(groups), of_y.tied_pairs(groups)
    concordant = groups.sums(above).astype(np.int64)
    tied_in_both = groups.sums(tied_with(of_x, of_y)).astype(np.int64) // 2
    discordant = groups.pairs - tied_x - tied_y + tied_in_both - concordant
    return Concordance(groups, of_x, of_y, above, concordant - discordant, groups.pairs - tied_x, groups.pairs - tied_y)


def balances(counted: Concordance) -> Codes:
    """Return for each pair of values with how many of its group it is concordant, less discordant, shape (N,).

    Examples
    --------
    >>> one_group = Groups.of(np.zeros(3, np.int64), 1)
    >>> balances(concordance(np.array([1.0, 2, 3]), np.array([1.0, 3, 2]), one_group)).tolist()
    [2, 0, 0]
    """
    groups, x, y = counted.groups, counted.x, counted.y
    last = (groups.start + groups.size - 1)[groups.group]
    concordant = counted.above + _greater_in_both(last - x.slot, last - y.slot, groups)
    untied = groups.size[groups.group] + 1 - x.count[x.slot] - y.count[y.slot] + tied_with(x, y)
    return np.asarray(2 * concordant - untied)


def tied_with(x: Levels, y: Levels) -> Codes:
    """Return with how many others of its group each pair of values is tied in both variables, shape (N,)."""
    cells = x.slot * len(x.slot) + y.slot
    _, cell, count = np.unique(cells, return_inverse=True, return_counts=True)
    return np.asarray(count[cell] - 1)


def _greater_in_both(x: Codes, y: Codes, groups: Groups) -> Codes:
    """Return for each pair of codes, counted from 0, how many of its group are greater in both."""
    # highest y first; within a tie of y the lowest x first, so that nothing tied counts as greater
    order = np.lexsort((x, -y, groups.group))
    first = groups.start[groups.group]
    above = np.empty(len(x), dtype=np.int64)
    above[order] = _earlier_greater(x[order], first, first + groups.size[groups.group])
    return above


def _earlier_greater(code: Codes, start: Codes, end: Codes) -> Codes:
    """Return for each position how many earlier ones of its block ``start:end`` hold a greater code.

    The codes are sorted bit by bit, the highest first, which splits every block into one of zeros and one of ones. Of
    two codes that were together so far, the greater one is the one whose bit is set.
    """
    position = np.arange(len(code))
    place, count = position, np.zeros(len(code), dtype=np.int64)
    for bit in reversed(range(int(code.max(initial=0)).bit_length())):
        one = (code >> bit) & 1 == 1
        ones = np.concatenate([[0], np.cumsum(one)])
        before = ones[:-1] - ones[start]
        count[place[~one]] += before[~one]
        boundary = end - (ones[end] - ones[start])
        target = np.where(one, boundary + before, position - before)
        moved = [np.empty_like(code) for _ in range(4)]
        for to, values in zip(
            moved, (code, place, np.where(one, boundary, start), np.where(one, end, boundary)), strict=True
        ):
            to[target] = values
        code, place, start, end = moved
    return count
