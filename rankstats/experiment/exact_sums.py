"""Sums and cross-products of the units' values, added up by the engine in one pass, exactly.

Values are scaled to whole numbers by powers of two before they are added. Sums of whole numbers do not depend on the
order of rows or on threads, so neither do the results; and a variance is the difference of exact numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankstats.inputs.row_tables import RowTables
from rankstats.stats import UnitMoments

Sums = NDArray[np.object_]

_EXACT = float(1 << 53)
_NARROW, _WIDE = 61, 121
_LARGEST_EXPONENT = 1023
_ROUNDING = Fraction(1, 1 << 53)
_WANTED = Fraction(1, 10**11)
"""Fraction of a sum of squares that scaling may change before wider numbers are used."""
_TOLERATED = Fraction(1, 10**8)
"""Fraction of a sum of squares that rounding of the squares may change: that of means 5,000 times their spread."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A number of every unit.

    Attributes
    ----------
    sql : str
        SQL of the number; NULL where a unit has none.
    low, high : float
        Bounds of the numbers.
    whole : bool
        Whether all of them are whole.
    """

    sql: str
    low: float
    high: float
    whole: bool = False

    @property
    def shift(self) -> float:
        """What is taken off before squaring: numbers that differ little from each other would lose digits."""
        largest = max(abs(self.low), abs(self.high))
        near = self.high - self.low < largest / 2
        return self.low if near and not (self.whole and largest**2 <= _EXACT) else 0.0

    @property
    def is_indicator(self) -> bool:
        """Whether all numbers are 0 or 1, and so their own squares."""
        return self.whole and self.low >= 0 and self.high <= 1

    @property
    def shifted(self) -> str:
        """SQL of the number less the shift."""
        return f"({self.sql} - {_double(self.shift)})" if self.shift else self.sql

    @property
    def bound(self) -> float:
        """Largest size of the number less the shift."""
        return max(abs(self.low - self.shift), abs(self.high - self.shift))

    @property
    def has_exact_squares(self) -> bool:
        """Whether squares need no rounding."""
        return not self.bound or (self.whole and self.bound**2 <= _EXACT)


@dataclass(frozen=True, slots=True)
class _Added:
    """A sum as the engine computes it: whole numbers in a unit of 2^-exponent."""

    sql: str
    exponent: int


@dataclass(frozen=True, slots=True, eq=False)
class VariableSums:
    """Exact sums of k variables in groups of units.

    Attributes
    ----------
    variables : tuple of Variable
        What was added up.
    n : ndarray of object, shape (groups,)
        Units for which all are defined.
    first : ndarray of object, shape (groups, k)
        Sums of the shifted variables, as whole numbers.
    second : ndarray of object, shape (groups, k (k + 1) / 2)
        Sums of their products.
    exponents : tuple of int
        Exponents of the units of `first`, then of `second`.
    """

    variables: tuple[Variable, ...]
    n: Sums
    first: Sums
    second: Sums
    exponents: tuple[int, ...]

    def of(self, groups: NDArray[np.bool_]) -> VariableSums:
        """Return the sums of some groups together, as one."""
        n = np.array([sum(self.n[groups].tolist())], dtype=object)
        first, second = (part[groups].sum(axis=0)[None] for part in (self.first, self.second))
        return VariableSums(self.variables, n, first, second, self.exponents)

    def leading(self, k: int) -> VariableSums:
        """Return the sums of the first k variables alone."""
        all_of = len(self.variables)
        kept = [place for place, (_, j) in enumerate(_pairs(all_of)) if j < k]
        exponents = (*self.exponents[:k], *(self.exponents[all_of + place] for place in kept))
        return VariableSums(self.variables[:k], self.n, self.first[:, :k], self.second[:, kept], exponents)

    def without(self, values: Sequence[float]) -> VariableSums:
        """Return the sums of one group without a unit that has these values."""
        k = len(values)
        away = [value - variable.shift for value, variable in zip(values, self.variables, strict=True)]
        parts = [*away, *(away[i] * away[j] for i, j in _pairs(k))]
        whole = [round(Fraction(part) * _power(e)) for part, e in zip(parts, self.exponents, strict=True)]
        first, second = np.array(whole[:k], dtype=object), np.array(whole[k:], dtype=object)
        return replace(self, n=self.n - 1, first=self.first - first, second=self.second - second)

    @property
    def zeros_and_ones(self) -> bool:
        """Whether all units of all groups have 0 or 1, and there are some."""
        if len(self.variables) != 1 or not self.n.sum():
            return False
        only = self.variables[0]
        if only.low < 0 or only.high > 1 or only.shift:
            return False
        total, squares = self.first.sum(), self.second.sum()
        return bool(total * _power(self.exponents[1]) == squares * _power(self.exponents[0]))

    def precise(self) -> bool:
        """Whether scaling has changed no group's sum of squares by more than 1e-11 of it."""
        groups = np.flatnonzero(self.n > 1).tolist()
        return all(
            self._scaling(group, v) <= _WANTED * self._spread(group, self._square(v), v, v)
            for group in groups
            for v in range(len(self.variables))
        )

    def doubtful(self) -> list[int]:
        """Return the variables of one group that have no spread, or one that scaling or rounding may have made."""
        if self.n[0] < 2:
            return []
        found = []
        for v in range(len(self.variables)):
            spread = self._spread(0, self._square(v), v, v)
            if self._scaling(0, v) > _WANTED * spread or self._rounding(0, v) > _TOLERATED * spread:
                found.append(v)
        return found

    def moments(self) -> UnitMoments:
        """Return the moments, a column a group."""
        parts = [self._moments(group) for group in range(len(self.n))]
        return UnitMoments(
            np.array(self.n, dtype=np.int64),
            np.array([mean for mean, _ in parts]).reshape(len(parts), -1),
            np.array([spread for _, spread in parts]),
        )

    def _spread(self, group: int, place: int, i: int, j: int) -> Fraction:
        """Return the sum of products of two variables less their means."""
        k, n = len(self.variables), int(self.n[group])
        products = Fraction(self.second[group, place]) / _power(self.exponents[k + place])
        sums = (Fraction(self.first[group, v]) / _power(self.exponents[v]) for v in (i, j))
        return products - math.prod(sums, start=Fraction(1)) / n

    def _moments(self, group: int) -> tuple[list[float], NDArray[np.float64]]:
        k, n = len(self.variables), int(self.n[group])
        spread = np.full((k, k), np.nan)
        if not n:
            return [math.nan] * k, spread
        mean = [
            float(Fraction(self.first[group, v]) / _power(self.exponents[v]) / n + Fraction(self.variables[v].shift))
            for v in range(k)
        ]
        if n == 1:
            return mean, spread
        for place, (i, j) in enumerate(_pairs(k)):
            spread[i, j] = spread[j, i] = float(self._spread(group, place, i, j) / (n - 1))
        for v in range(k):
            if self._still(group, v):
                spread[v, :] = spread[:, v] = 0.0
        return mean, spread

    def _square(self, v: int) -> int:
        """Return the place of a variable's squares among the products."""
        return _pairs(len(self.variables)).index((v, v))

    def _scaling(self, group: int, v: int) -> Fraction:
        """Return by how much scaling may have changed a sum of squares less the mean."""
        variable, exponent = self.variables[v], self.exponents[len(self.variables) + self._square(v)]
        if not variable.bound or (variable.whole and exponent >= 0):
            return Fraction(0)
        return 3 * int(self.n[group]) / _power(exponent)

    def _rounding(self, group: int, v: int) -> Fraction:
        """Return by how much rounding of the squares may have changed their sum."""
        if self.variables[v].has_exact_squares:
            return Fraction(0)
        place = self._square(v)
        return 4 * _ROUNDING * Fraction(self.second[group, place]) / _power(self.exponents[len(self.variables) + place])

    def _still(self, group: int, v: int) -> bool:
        """Whether what is left of a sum of squares is no more than what scaling and rounding can leave."""
        left = self._spread(group, self._square(v), v, v)
        return left <= self._scaling(group, v) + self._rounding(group, v)


def _pairs(k: int) -> list[tuple[int, int]]:
    return list(combinations_with_replacement(range(k), 2))


def _power(exponent: int) -> Fraction:
    return Fraction(2) ** exponent


def _double(number: float) -> str:
    return f"CAST({number!r} AS DOUBLE)"


@dataclass(frozen=True, slots=True)
class Request:
    """Variables to be added up together; the first `outcomes` of them must be defined, the others are wherever.

    `complete` tells that all of them are defined for every unit.
    """

    variables: tuple[Variable, ...]
    outcomes: int
    complete: bool = False

    @property
    def inside(self) -> list[str]:
        """SQL of the shifted variables, NULL where not all outcomes are defined."""
        first, plain = self.variables[0].sql, len(self.variables) if self.complete else self.outcomes
        return [
            variable.shifted if place < plain else f"CASE WHEN {first} IS NOT NULL THEN {variable.shifted} END"
            for place, variable in enumerate(self.variables)
        ]


def _added(sql: str, bound: float, *, whole: bool, rows: int, bits: int) -> _Added:
    """Return the sum of an expression: in double precision where that is exact, else of scaled whole numbers."""
    if not bound or (whole and bound * rows < _EXACT):
        return _Added(f"coalesce(sum({sql}), 0)", 0)
    exponent = min(bits - math.frexp(bound)[1], _LARGEST_EXPONENT)
    kind = "BIGINT" if bits == _NARROW else "HUGEINT"
    return _Added(f"coalesce(sum(CAST({sql} * {_double(2.0**exponent)} AS {kind})), 0)", exponent)


def _sums_of(request: Request, rows: int, bits: int) -> list[_Added]:
    """Return the sums of variables and of their products."""
    variables, inside = request.variables, request.inside
    sums = [_added(sql, v.bound, whole=v.whole, rows=rows, bits=bits) for sql, v in zip(inside, variables, strict=True)]
    for i, j in _pairs(len(variables)):
        a, b = variables[i], variables[j]
        if i == j and a.is_indicator:
            sums.append(sums[i])
            continue
        whole = a.whole and b.whole
        sums.append(_added(f"{inside[i]} * {inside[j]}", a.bound * b.bound, whole=whole, rows=rows, bits=bits))
    return sums


@dataclass(frozen=True, slots=True, eq=False)
class GroupedSums:
    """What a pass found: the key of every group, its units, and the sums of every request."""

    keys: tuple[tuple[Any, ...], ...]
    units: NDArray[np.int64]
    sums: tuple[VariableSums, ...]


def grouped_sums(
    tables: RowTables, source: str, keys: Sequence[str], requests: Sequence[Request], *, rows: int, name: str
) -> GroupedSums:
    """Add up variables by group, in one pass over the source.

    Parameters
    ----------
    tables : RowTables
        The engine.
    source : str
        SQL of the units, one row a unit: what follows FROM.
    keys : sequence of str
        SQL of the columns whose values make the groups.
    requests : sequence of Request
        What is added up.
    rows : int
        Upper limit of the number of units.
    name : str
        Where the units come from, for errors.

    Returns
    -------
    GroupedSums

    Raises
    ------
    InputError
        If the source cannot be read.

    Examples
    --------
    >>> with RowTables() as tables:
    ...     view = tables.open([{"arm": "AB"[i % 2], "x": 0.5 * i} for i in range(6)]).view
    ...     asked = Request((Variable("x", 0.0, 2.5),), 1)
    ...     found = grouped_sums(tables, view, ["arm"], [asked], rows=6, name="rows")
    >>> found.units.tolist(), found.sums[0].of(np.array([key == ("B",) for key in found.keys])).moments().mean.tolist()
    ([3, 3], [[1.5]])
    """
    found = _pass(tables, (source, name), keys, requests, (rows, _NARROW))
    if all(sums.precise() for sums in found.sums):
        return found
    return _pass(tables, (source, name), keys, requests, (rows, _WIDE - rows.bit_length()))


def _pass(
    tables: RowTables, place: tuple[str, str], keys: Sequence[str], requests: Sequence[Request], size: tuple[int, int]
) -> GroupedSums:
    rows, bits = size
    plans = [_sums_of(request, rows, bits) for request in requests]
    counts = ["count(*)" if request.complete else f"count({request.variables[0].sql})" for request in requests]
    asked = dict.fromkeys(["count(*)", *counts, *(added.sql for plan in plans for added in plan)])
    at = {sql: len(keys) + column for column, sql in enumerate(asked)}
    grouped = f" GROUP BY {', '.join(str(1 + key) for key in range(len(keys)))}" if keys else ""
    sql = f"SELECT {', '.join([*keys, *asked])} FROM {place[0]}{grouped}"
    table = np.empty((0, len(keys) + len(asked)), dtype=object)
    if found := tables.rows(sql, place[1]):
        table = np.array([[*row[: len(keys)], *map(int, row[len(keys) :])] for row in found], dtype=object)
    sums = []
    for request, plan, count in zip(requests, plans, counts, strict=True):
        columns = table[:, [at[added.sql] for added in plan]]
        k = len(request.variables)
        exponents = tuple(added.exponent for added in plan)
        sums.append(VariableSums(request.variables, table[:, at[count]], columns[:, :k], columns[:, k:], exponents))
    units = table[:, at["count(*)"]].astype(np.int64)
    return GroupedSums(tuple(map(tuple, table[:, : len(keys)])), units, tuple(sums))
