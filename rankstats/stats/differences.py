"""Per-query differences of two systems, held so that every sum of them is exact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankstats.errors import RankstatsError
from rankstats.stats.exact_sums import power_of_two_at_least, smallest_unit, to_grid

LARGEST_VALUE = 1e100
"""Squares of larger values would overflow."""

RELATIVE_UNIT = 1e-10
"""Differences are rounded to about this fraction of the largest value of the column."""


@dataclass(frozen=True, slots=True, eq=False)
class Differences:
    """Differences system − baseline in c columns over n queries; made by `paired_differences`.

    Attributes
    ----------
    integers : ndarray, shape (n, c)
        Differences in units, whole numbers in float64; 0 where absent. Differences of at most one unit are ties and 0.
    unit : ndarray, shape (c,)
        Power of two.
    present : ndarray of bool, shape (n, c)
        Where both values are defined and the weight is not 0.
    weights : ndarray, shape (n,)
        Weights as given; ones when there are none.
    weighted : bool
        False when all weights are equal.
    numerators : ndarray, shape (n, c)
        Weight times difference in units of `numerator_unit`, whole numbers; equal to `integers` when not weighted.
    numerator_unit : ndarray, shape (c,)
        Power of two.
    weight_integers : ndarray, shape (n,)
        Weights in units of `weight_unit`, whole numbers; ones when not weighted.
    weight_unit : float
        Power of two.
    rounding : ndarray, shape (c,)
        By how much rounding to whole units can have moved a sum of numerators, in their units.
    """

    integers: NDArray[np.float64]
    unit: NDArray[np.float64]
    present: NDArray[np.bool_]
    weights: NDArray[np.float64]
    weighted: bool
    numerators: NDArray[np.float64]
    numerator_unit: NDArray[np.float64]
    weight_integers: NDArray[np.float64]
    weight_unit: float
    rounding: NDArray[np.float64]

    @property
    def n_columns(self) -> int:
        """Number of columns c."""
        return int(self.integers.shape[1])

    @property
    def n_rows(self) -> int:
        """Number of queries, present or not."""
        return int(self.integers.shape[0])

    @property
    def values(self) -> NDArray[np.float64]:
        """Rounded differences, shape (n, c); NaN where absent."""
        return np.where(self.present, self.integers * self.unit, np.nan)

    @property
    def n(self) -> NDArray[np.int64]:
        """Number of queries present in each column, shape (c,)."""
        return np.asarray(np.count_nonzero(self.present, axis=0), dtype=np.int64)

    @property
    def total_weight(self) -> NDArray[np.float64]:
        """Sum of the weights (the number of queries when not weighted) of the present queries, shape (c,)."""
        return np.asarray(self.weight_integers @ self.present * self.weight_unit)

    @property
    def mean(self) -> NDArray[np.float64]:
        """(Weighted) mean difference, shape (c,); NaN where no weight is present."""
        total = self.weight_integers @ self.present
        ratio = np.divide(self.numerators.sum(axis=0), total, out=np.full(self.n_columns, np.nan), where=total > 0)
        return np.asarray(ratio * (self.numerator_unit / self.weight_unit))

    @property
    def constant(self) -> NDArray[np.bool_]:
        """Columns whose differences are all equal (to one unit), shape (c,); True for n = 1."""
        highest = np.max(np.where(self.present, self.integers, -np.inf), axis=0, initial=-np.inf)
        lowest = np.min(np.where(self.present, self.integers, np.inf), axis=0, initial=np.inf)
        return np.asarray(highest <= lowest + 1)

    @property
    def standard_error(self) -> NDArray[np.float64]:
        """Standard error of the mean, shape (c,); NaN where n < 2, 0 where all differences are equal.

        Weighted: linearised as in `svymean` of R's survey package, ``sqrt(n/(n−1) Σ w²(d−m)²) / Σw``.
        """
        squares = self._squared_deviations(self.weights**2)
        factor = np.divide(self.n, self.n - 1, out=np.full(self.n_columns, np.nan), where=self.n > 1)
        with np.errstate(invalid="ignore", divide="ignore"):  # columns without any weight are NaN
            error = np.sqrt(factor * squares) / self.total_weight
        return np.where(self.constant & (self.n > 1), 0.0, error)

    @property
    def standard_deviation(self) -> NDArray[np.float64]:
        """Standard deviation of the differences, shape (c,); NaN where n < 2.

        Denominator n − 1; weighted: ``sqrt(n/(n−1) Σ w(d−m)² / Σw)``.
        """
        squares = self._squared_deviations(self.weights)
        factor = np.divide(self.n, self.n - 1, out=np.full(self.n_columns, np.nan), where=self.n > 1)
        with np.errstate(invalid="ignore", divide="ignore"):  # columns without any weight are NaN
            deviation = np.sqrt(factor * squares / self.total_weight)
        return np.where(self.constant & (self.n > 1), 0.0, deviation)

    @property
    def n_effective(self) -> NDArray[np.float64]:
        """Kish's effective number of queries, (Σw)² / Σw², shape (c,)."""
        squares, unit = to_grid(self.weights[:, None] ** 2 * self.present, self.n_rows)
        square = squares.sum(axis=0) * unit
        effective = np.divide(self.total_weight**2, square, out=np.zeros(self.n_columns), where=square > 0)
        return np.asarray(effective)

    def centred(self) -> NDArray[np.float64]:
        """Return differences less their (weighted) mean, shape (n, c); 0 where absent."""
        mean = np.nan_to_num(self.mean)
        return np.where(self.present, self.integers * self.unit - mean, 0.0)

    def _squared_deviations(self, factor: NDArray[np.float64]) -> NDArray[np.float64]:
        # rounded to a grid before adding, so that the sum depends on no order
        squares, unit = to_grid(factor[:, None] * self.centred() ** 2, self.n_rows)
        return np.asarray(squares.sum(axis=0) * unit)

    def negated(self) -> Differences:
        """Return baseline − system."""
        return replace(self, integers=-self.integers, numerators=-self.numerators)

    def select(self, columns: ArrayLike) -> Differences:
        """Return the chosen columns, in the chosen order."""
        chosen = np.asarray(columns)
        return replace(
            self,
            integers=self.integers[:, chosen],
            unit=self.unit[chosen],
            present=self.present[:, chosen],
            numerators=self.numerators[:, chosen],
            numerator_unit=self.numerator_unit[chosen],
            rounding=self.rounding[chosen],
        )

    def within(self, rows: ArrayLike) -> Differences:
        """Return the same columns with all queries outside `rows` (bool, shape (n,)) absent: a segment."""
        inside = np.asarray(rows, dtype=bool)[:, None]
        return replace(
            self,
            integers=np.where(inside, self.integers, 0.0),
            present=self.present & inside,
            numerators=np.where(inside, self.numerators, 0.0),
        )


def paired_differences(baseline: ArrayLike, system: ArrayLike, weights: ArrayLike | None = None) -> Differences:
    """Return per-query differences system − baseline, rounded so that their sums are exact.

    1. The unit of a column is the smallest power of two of at least 1e-10 times its largest absolute value, larger
       where a sum over its queries could otherwise reach 2**53.
    2. Differences (not values) are rounded to whole units; those of at most one unit are ties and become 0.
    3. With weights, the products weight × difference are rounded in the same way, to a unit of their own.

    Parameters
    ----------
    baseline, system : array_like, shape (n,) or (n, c)
        Values per query; NaN in either makes the query absent from that column. A single baseline column is compared
        with every column of `system`.
    weights : array_like, shape (n,), optional
        Weights of the queries, 0 or more, on any scale. Equal weights count as no weights; a query of weight 0 (or
        less than 5e-11 of the largest weight) is absent.

    Returns
    -------
    Differences

    Raises
    ------
    RankstatsError
        If shapes do not fit, a value is infinite or beyond 1e100, or a weight is negative, not finite, or all are 0.

    Examples
    --------
    >>> d = paired_differences([0.1, 0.1, 0.1], [0.3, 0.3, 0.1])
    >>> d.n.tolist(), d.mean.round(9).tolist(), len(set(d.integers.ravel().tolist()))
    ([3], [0.133333333], 2)
    """
    before, after = _two_dimensional(baseline, "baseline"), _two_dimensional(system, "system")
    if before.shape[0] != after.shape[0] or before.shape[1] not in (1, after.shape[1]):
        raise RankstatsError(f"baseline has shape {before.shape}, system {after.shape}; queries are rows of both")
    present = ~(np.isnan(before) | np.isnan(after))
    before, after = np.where(present, before, 0.0), np.where(present, after, 0.0)
    n = np.count_nonzero(present, axis=0).astype(np.int64)
    largest = np.maximum(np.abs(before), np.abs(after)).max(axis=0, initial=0.0)
    integers, unit = to_grid(after - before, n, at_least=power_of_two_at_least(RELATIVE_UNIT * largest))
    integers = np.where(np.abs(integers) <= 1, 0.0, integers)
    return _with_weights(integers, unit, present, _checked_weights(weights, len(integers)))


def stack_columns(parts: Sequence[Differences]) -> Differences:
    """Put the columns of several differences over the same queries and weights side by side.

    Examples
    --------
    >>> d = paired_differences([0.1, 0.2, 0.3], [0.2, 0.2, 0.5])
    >>> stack_columns([d, d.within([True, True, False])]).n.tolist()
    [3, 2]
    """
    first = parts[0]
    if any(not np.array_equal(part.weights, first.weights) for part in parts):
        raise RankstatsError("columns can only be put side by side when they share their queries and weights")
    return replace(
        first,
        integers=np.hstack([part.integers for part in parts]),
        unit=np.concatenate([part.unit for part in parts]),
        present=np.hstack([part.present for part in parts]),
        numerators=np.hstack([part.numerators for part in parts]),
        numerator_unit=np.concatenate([part.numerator_unit for part in parts]),
        rounding=np.concatenate([part.rounding for part in parts]),
    )


def _two_dimensional(values: ArrayLike, name: str) -> NDArray[np.float64]:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim not in (1, 2):
        raise RankstatsError(f"{name} has {array.ndim} dimensions; (n,) or (n, c) is expected")
    if np.any(np.abs(array) > LARGEST_VALUE):
        raise RankstatsError(f"{name} holds values that are infinite or beyond 1e100; use NaN for an undefined one")
    return array if array.ndim == 2 else array[:, None]


def _checked_weights(weights: ArrayLike | None, n: int) -> NDArray[np.float64]:
    if weights is None:
        return np.ones(n)
    array = np.asarray(weights, dtype=np.float64)
    if array.shape != (n,):
        raise RankstatsError(f"weights have shape {array.shape}; one for each of the {n} queries is expected")
    if not np.all(np.isfinite(array)) or np.any(array < 0):
        raise RankstatsError("weights must be finite and not negative")
    if n and not np.any(array > 0):
        raise RankstatsError("all weights are 0; at least one query must count")
    return array


def _with_weights(
    integers: NDArray[np.float64],
    unit: NDArray[np.float64],
    present: NDArray[np.bool_],
    weights: NDArray[np.float64],
) -> Differences:
    n = len(weights)
    weighted = bool(n) and bool(np.any(weights != weights[0]))
    if not weighted:
        ones, rounding = np.ones(n), 0.5 * np.count_nonzero(integers, axis=0)
        return Differences(integers, unit, present, ones, False, integers, unit, ones, 1.0, rounding)
    heaviest = np.asarray(weights.max())
    weight_unit = np.maximum(smallest_unit(heaviest, n), power_of_two_at_least(RELATIVE_UNIT * heaviest))
    weight_integers = np.rint(weights / weight_unit)
    counted = (weight_integers > 0)[:, None]
    integers, present = np.where(counted, integers, 0.0), present & counted
    products = (weight_integers * weight_unit)[:, None] * integers * unit
    largest = np.abs(products).max(axis=0, initial=0.0)
    numerators, numerator_unit = to_grid(products, n, at_least=power_of_two_at_least(RELATIVE_UNIT * largest))
    # half a unit of every product, and of every difference as often as it is weighted
    of_differences = weight_integers @ (numerators != 0) * (weight_unit * unit)
    rounding = 0.5 * (np.count_nonzero(numerators, axis=0) + of_differences / numerator_unit)
    return Differences(
        integers,
        unit,
        present,
        weights,
        True,
        numerators,
        numerator_unit,
        weight_integers,
        float(weight_unit),
        rounding,
    )
