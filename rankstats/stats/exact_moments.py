"""Sums and sums of products without any rounding: they merge to the same bits in any order and any grouping.

A double is a whole number of units of 2**-1074. Values are cut into pieces of 16 bits whose sums and products are exact
in float64, and the pieces are put together as Python's integers. Means and covariances are rounded once, at the end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankstats.errors import RankstatsError
from rankstats.stats.differences import LARGEST_VALUE
from rankstats.stats.unit_moments import UnitMoments, stack_moments

Floats = NDArray[np.float64]

SCALE = 1088
"""Sums are whole numbers of 2**-SCALE, sums of products of 2**-(2 · SCALE); no bit of a double lies below."""

_BITS = 16
_LOWEST = -SCALE // _BITS
_ROWS_AT_ONCE = 1 << 20
_EXACT = re.compile(r"(-?)([0-9a-f]+)p(-?\d+)")
_LARGEST_EXPONENT = 8192


@dataclass(frozen=True, slots=True)
class ExactMoments:
    """Number, sums and sums of products of k variables over units, as whole numbers.

    Attributes
    ----------
    n : int
        Units for which all variables are defined.
    sums : tuple of int, length k
        Sums in units of 2**-1088.
    products : tuple of int, length k (k + 1) / 2
        Sums of products of the variables i ≤ j, row by row, in units of 2**-2176; not centred, so that they add up.
    """

    n: int
    sums: tuple[int, ...]
    products: tuple[int, ...]

    @property
    def n_variables(self) -> int:
        """Number of variables k."""
        return len(self.sums)

    def __add__(self, other: ExactMoments) -> ExactMoments:
        """Return the moments over the units of both, which have none in common."""
        return self._combined(other, 1)

    def __sub__(self, other: ExactMoments) -> ExactMoments:
        """Return the moments over the units that are not among those of `other`."""
        return self._combined(other, -1)

    def _combined(self, other: ExactMoments, sign: int) -> ExactMoments:
        if self.n_variables != other.n_variables:
            raise RankstatsError(f"moments are of {self.n_variables} and of {other.n_variables} variables")
        return ExactMoments(
            self.n + sign * other.n,
            tuple(a + sign * b for a, b in zip(self.sums, other.sums, strict=True)),
            tuple(a + sign * b for a, b in zip(self.products, other.products, strict=True)),
        )

    def variables(self, chosen: Sequence[int]) -> ExactMoments:
        """Return the moments of some of the variables, in the given order."""
        place = {pair: at for at, pair in enumerate(_pairs(self.n_variables))}
        pairs = [(chosen[i], chosen[j]) for i, j in _pairs(len(chosen))]
        return ExactMoments(
            self.n,
            tuple(self.sums[i] for i in chosen),
            tuple(self.products[place[min(pair), max(pair)]] for pair in pairs),
        )

    def moments(self) -> UnitMoments:
        """Return means and sample covariances in one column, each the double nearest to the exact value."""
        k = self.n_variables
        mean, covariance = np.full((1, k), np.nan), np.full((1, k, k), np.nan)
        if self.n > 0:
            mean[0] = [total / (self.n << SCALE) for total in self.sums]
        if self.n > 1:
            for (i, j), product in zip(_pairs(k), self.products, strict=True):
                centred = self.n * product - self.sums[i] * self.sums[j]
                covariance[0, i, j] = covariance[0, j, i] = centred / (self.n * (self.n - 1) << 2 * SCALE)
        return UnitMoments(np.array([self.n], dtype=np.int64), mean, covariance)


def _pairs(k: int) -> list[tuple[int, int]]:
    return [(i, j) for i in range(k) for j in range(i, k)]


def no_moments(k: int) -> ExactMoments:
    """Return the moments of k variables over no units: what adding leaves as it is.

    Examples
    --------
    >>> no_moments(2)
    ExactMoments(n=0, sums=(0, 0), products=(0, 0, 0))
    """
    return ExactMoments(0, (0,) * k, (0,) * (k * (k + 1) // 2))


def exact_moments(*variables: ArrayLike) -> ExactMoments:
    """Add up the units of one arm, or of a part of it.

    Parameters
    ----------
    *variables : array_like, shape (n,)
        One value a unit, as in `unit_moments`; NaN makes the unit absent, with all its variables.

    Returns
    -------
    ExactMoments

    Raises
    ------
    RankstatsError
        If shapes differ or a value is infinite or beyond 1e100.

    Notes
    -----
    Merge law: for sets of units U and V without a common unit, ``exact_moments(U) + exact_moments(V)`` equals
    ``exact_moments(U ∪ V)``, to the last bit; the sum is commutative and associative, and `no_moments` is its zero.

    Examples
    --------
    >>> parts = [exact_moments([0.1]), exact_moments([0.2, float("nan")]), exact_moments([0.3])]
    >>> parts[0] + parts[1] + parts[2] == parts[2] + (parts[1] + parts[0]) == exact_moments([0.3, 0.1, 0.2])
    True
    >>> exact_moments([0.1, 0.1, 0.1]).moments().covariance.tolist()
    [[[0.0]]]
    """
    values = _stacked(variables)
    values = values[~np.isnan(values).any(axis=1)]
    k = values.shape[1]
    sums, products = [0] * k, dict.fromkeys(_pairs(k), 0)
    for start in range(0, len(values), _ROWS_AT_ONCE):
        pieces, variable, power = _pieces(values[start : start + _ROWS_AT_ONCE])
        shift = [_BITS * (at - _LOWEST) for at in power]
        totals, gram = pieces.sum(axis=0), pieces.T @ pieces
        for i, first in enumerate(variable):
            sums[first] += int(totals[i]) << shift[i]
            for j, second in enumerate(variable):
                if first < second or (first == second and i <= j):
                    twice = 2 if first == second and i < j else 1
                    products[first, second] += int(gram[i, j]) * twice << shift[i] + shift[j]
    return ExactMoments(len(values), tuple(sums), tuple(products.values()))


def _stacked(variables: Sequence[ArrayLike]) -> Floats:
    arrays = [np.asarray(variable, dtype=np.float64) for variable in variables]
    if not arrays or any(array.ndim != 1 or len(array) != len(arrays[0]) for array in arrays):
        raise RankstatsError("exact_moments needs at least one variable, and one value a unit of each")
    values = np.stack(arrays, axis=1)
    if np.any(np.abs(values) > LARGEST_VALUE):
        raise RankstatsError("values are infinite or beyond 1e100")
    return values


def _pieces(values: Floats) -> tuple[Floats, list[int], list[int]]:
    """Return pieces of 16 bits, shape (n, p), and of each the variable and the power of 2**16 that it counts."""
    columns: list[Floats] = []
    variable: list[int] = []
    power: list[int] = []
    for place in range(values.shape[1]):
        rest = values[:, place]
        at = int(np.frexp(np.max(np.abs(rest), initial=0.0))[1]) // _BITS
        while rest.any():
            piece = np.trunc(np.ldexp(rest, -_BITS * at))
            if piece.any():
                rest = rest - np.ldexp(piece, _BITS * at)
                columns.append(piece)
                variable.append(place)
                power.append(at)
            at -= 1
    return np.stack(columns, axis=1) if columns else np.zeros((len(values), 0)), variable, power


@dataclass(frozen=True, slots=True)
class ExactCubes:
    """Sums of products of three of one or two variables, in units of 2**-3264: xxx; or xxx, xxy, xyy, yyy."""

    sums: tuple[int, ...]

    def __add__(self, other: ExactCubes) -> ExactCubes:
        """Return the sums over the units of both, which have none in common."""
        return ExactCubes(tuple(a + b for a, b in zip(self.sums, other.sums, strict=True)))


def exact_cubes(*variables: ArrayLike) -> ExactCubes:
    """Add up products of three values of each unit, of one or two variables as in `exact_moments`.

    Examples
    --------
    >>> exact_cubes([0.5, 1.0]).sums[0] / 2 ** (3 * SCALE)
    1.125
    >>> exact_cubes([0.1, 0.2], [3.0, 5.0]) == exact_cubes([0.2], [5.0]) + exact_cubes([0.1], [3.0])
    True
    """
    values = _stacked(variables)
    values = values[~np.isnan(values).any(axis=1)]
    keys = list(combinations_with_replacement(range(values.shape[1]), 3))
    totals = dict.fromkeys(keys, 0)
    for start in range(0, len(values), _ROWS_AT_ONCE):
        found = _pieces(values[start : start + _ROWS_AT_ONCE])
        for key in keys:
            totals[key] += _cube(*found, key)
    return ExactCubes(tuple(totals.values()))


def _cube(pieces: Floats, variable: Sequence[int], power: Sequence[int], key: tuple[int, int, int]) -> int:
    """Return the sum of the products of three variables over some rows."""
    of = [[place for place, other in enumerate(variable) if other == wanted] for wanted in key]
    shift = [_BITS * (at - _LOWEST) for at in power]
    total = 0
    for i in of[0]:
        for j in of[1]:
            if key[0] == key[1] and j < i:
                continue
            twice = 2 if key[0] == key[1] and i < j else 1
            product = pieces[:, i] * pieces[:, j]
            high = np.trunc(np.ldexp(product, -_BITS))
            # products of 16 bits and 16 bits again, so that sums of 2**20 rows are exact
            for part, more in ((high, _BITS), (product - np.ldexp(high, _BITS), 0)):
                sums = part @ pieces[:, of[2]]
                for m, found in zip(of[2], sums.tolist(), strict=True):
                    total += int(found) * twice << more + shift[i] + shift[j] + shift[m]
    return total


def third_moment(moments: ExactMoments, cubes: ExactCubes) -> float:
    """Return the third central moment of one variable, or of the linear parts (x − r y) / ȳ of the ratio r of two.

    NaN without units, or where the denominators add up to 0.

    Examples
    --------
    >>> third_moment(exact_moments([0.0, 0.0, 0.0, 4.0]), exact_cubes([0.0, 0.0, 0.0, 4.0]))
    6.0
    """
    n = moments.n
    sums = [Fraction(total, 1 << SCALE) for total in moments.sums]
    products = [Fraction(total, 1 << 2 * SCALE) for total in moments.products]
    cubed = [Fraction(total, 1 << 3 * SCALE) for total in cubes.sums]
    if not n or (len(cubed) == 4 and not sums[1]):
        return float("nan")
    if len(cubed) == 1:
        mean = sums[0] / n
        return float(cubed[0] / n - 3 * mean * products[0] / n + 2 * mean**3)
    ratio, bottom = sums[0] / sums[1], sums[1] / n
    parts = cubed[0] - 3 * ratio * cubed[1] + 3 * ratio**2 * cubed[2] - ratio**3 * cubed[3]
    return float(parts / n / bottom**3)


def exact_resampled(counts: Iterator[tuple[slice, Floats]], values: Floats, resamples: int) -> list[list[int]]:
    """Return ``counts @ values`` without rounding, one list of whole numbers of 2**-1088 for each of k columns.

    Parameters
    ----------
    counts : iterator of (slice, ndarray of shape (B, rows))
        Pieces of the rows, and how often each of their rows counts: whole numbers below 2**16.
    values : ndarray, shape (n, k)
        Finite values.
    resamples : int
        Number of resamples B.

    Examples
    --------
    >>> exact_resampled(iter([(slice(0, 2), np.array([[2.0, 1.0]]))]), np.array([[0.5], [0.25]]), 1)[0][0] / 2**SCALE
    1.25
    """
    pieces, variable, power = _pieces(values)
    totals = np.zeros((resamples, len(variable)), dtype=np.int64)
    for rows, of_rows in counts:
        # whole numbers of 16 bits times 16 bits, of at most 2**20 rows: exact in float64
        totals += (of_rows @ pieces[rows]).astype(np.int64)
    sums = [[0] * resamples for _ in range(values.shape[1])]
    for column, place, at in zip(totals.T.tolist(), variable, power, strict=True):
        shift = _BITS * (at - _LOWEST)
        sums[place] = [total + (piece << shift) for total, piece in zip(sums[place], column, strict=True)]
    return sums


def moments_of(cells: Sequence[ExactMoments]) -> UnitMoments:
    """Return the moments of several sets of units side by side, a column each.

    Examples
    --------
    >>> moments_of([exact_moments([1.0, 3.0]), no_moments(1)]).mean.tolist()
    [[2.0], [nan]]
    """
    return stack_moments([cell.moments() for cell in cells])


def exact_text(number: int, scale: int = SCALE) -> str:
    """Return ``number · 2**-scale`` as text: a hexadecimal whole number, 'p', and the power of two that it counts.

    Examples
    --------
    >>> exact_text(3 << SCALE), exact_text(5 << SCALE - 3), exact_text(0)
    ('3p0', '5p-3', '0p0')
    """
    if not number:
        return "0p0"
    zeros = (number & -number).bit_length() - 1
    return f"{number >> zeros:x}p{zeros - scale}"


def exact_number(text: str, scale: int = SCALE) -> int:
    """Return what `exact_text` wrote.

    Raises
    ------
    RankstatsError
        If the text is no such number.

    Examples
    --------
    >>> exact_number("5p-3") / 2**SCALE
    0.625
    """
    found = _EXACT.fullmatch(text)
    if not found or abs(int(found[3])) > _LARGEST_EXPONENT or int(found[3]) + scale < 0:
        raise RankstatsError(f"{text[:40]!r} is no exact number such as 5p-3")
    size = int(found[2], 16) << (int(found[3]) + scale)
    return -size if found[1] else size
