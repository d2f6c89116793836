"""Means and standard errors of any multiset of rows, from sums that depend on no order."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rankstats.stats.differences import Differences
from rankstats.stats.exact_sums import to_grid
from rankstats.stats.flip_readings import distinct_masks
from rankstats.stats.products import product

_ELEMENTS_AT_ONCE = 1 << 15
"""Statistics that are worked out at once."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class CentredMoments:
    """Sums that give mean and linearised standard error of any multiset of rows; integers on grids of their own.

    With x the difference less its mean: Σ w x, Σ w² x² and Σ w² x per column, and Σ w, Σ w², Σ 1 per set of rows. Not
    weighted, the second x sum equals the first and the second weight sum the third.
    """

    weighted: bool
    columns: Floats
    column_units: Floats
    sets: Floats
    set_units: Floats
    set_of: NDArray[np.int64]
    terms: int

    @classmethod
    def of(cls, differences: Differences, terms: int) -> CentredMoments:
        """Prepare the sums of at most `terms` rows."""
        x, w = differences.centred(), differences.weights[:, None]
        masks, set_of = distinct_masks(differences.present)
        column_parts = [to_grid(w * x, terms), to_grid(w**2 * x**2, terms)]
        set_parts = [to_grid(w * masks, terms)]
        if differences.weighted:
            column_parts.append(to_grid(w**2 * x, terms))
            set_parts += [to_grid(w**2 * masks, terms), to_grid(masks.astype(np.float64), terms)]
        return cls(
            differences.weighted,
            np.hstack([part for part, _ in column_parts]),
            np.array([unit for _, unit in column_parts]),
            np.hstack([part for part, _ in set_parts]),
            np.array([unit for _, unit in set_parts]),
            set_of,
            terms,
        )

    def restricted(self, rows: NDArray[np.int64]) -> CentredMoments:
        """Return the same sums over some of the rows only."""
        return replace(self, columns=self.columns[rows], sets=self.sets[rows])

    def deviation_and_variance(self, counts: Floats) -> tuple[Floats, Floats]:
        """Return d* − d and squared standard errors for rows taken `counts` times, both of shape (resamples, c).

        A variance that rounding to the grids cannot tell from 0 is 0; both are NaN where there is no weight.
        """
        return self.from_sums(product(counts, self.columns), product(counts, self.sets))

    def from_sums(self, of_columns: Floats, of_sets: Floats) -> tuple[Floats, Floats]:
        """Return the same for sums over rows that were made elsewhere: counts @ `columns` and counts @ `sets`."""
        shape = len(of_columns), len(self.set_of)
        deviation, variance = np.empty(shape), np.empty(shape)
        step = max(1, _ELEMENTS_AT_ONCE // max(shape[1], 1))
        for start in range(0, len(of_columns), step):
            some = slice(start, start + step)
            self._fill(of_columns[some], of_sets[some], deviation[some], variance[some])
        return deviation, variance

    def _fill(self, of_columns: Floats, of_sets: Floats, deviation: Floats, variance: Floats) -> None:
        """Work out the formulas step by step in arrays that stay near the processor."""
        sums = of_columns.reshape(len(of_columns), *self.column_units.shape) * self.column_units
        first, second, cross = sums[:, 0], sums[:, 1], sums[:, 2 if self.weighted else 0]
        known, square_weight, factor = self._of_sets(of_sets)
        np.divide(first, known, out=deviation)
        square = deviation**2
        square *= square_weight
        drift = 2 * deviation
        product = drift * cross
        # Σw²x² − 2d*Σw²x + d*²Σw²
        np.subtract(second, product, out=variance)
        variance += square
        doubtful = self._doubtful(variance, deviation, second, cross, (known, square_weight))
        if len(doubtful):
            some = variance[:, doubtful]
            terms = [np.abs(part[:, doubtful]) for part in (drift, product)]
            magnitude = terms[1] + second[:, doubtful] + square[:, doubtful]
            noise = self._noise(terms[0], magnitude, deviation[:, doubtful], doubtful)
            variance[:, doubtful] = np.where(some > noise, some, 0.0)
        variance *= factor
        variance /= known**2

    def _doubtful(
        self, variance: Floats, deviation: Floats, second: Floats, cross: Floats, of_sets: tuple[Floats, Floats]
    ) -> NDArray[np.int64]:
        """Return the columns of which some variance is not above the most that rounding could make of all of them."""
        largest = np.maximum(deviation.max(axis=0), -deviation.min(axis=0))
        weight, square_weight = (part.max(axis=0) for part in of_sets)
        # not weighted, the sum that crosses is the one that the deviation is made of
        crossing = np.maximum(cross.max(axis=0), -cross.min(axis=0)) if self.weighted else largest * weight
        drift = 2 * largest
        magnitude = drift * crossing + second.max(axis=0) + largest**2 * square_weight
        everything = np.arange(len(drift))
        most = self._noise(drift[None].copy(), magnitude[None], drift[None] / 2, everything)[0]
        # twice, for the bound is rounded too; NaN is doubtful
        return np.flatnonzero(~(variance.min(axis=0) > 2 * most))

    def _of_sets(self, of_sets: Floats) -> tuple[Floats, Floats, Floats]:
        """Return Σw (NaN where it is 0), Σw² and n/(n − 1) of the columns; of shape (resamples, 1) where all agree."""
        sums = of_sets.reshape(len(of_sets), *self.set_units.shape) * self.set_units
        weight, square_weight, rows = sums[:, 0], sums[:, 1 % sums.shape[1]], sums[:, -1]
        known = np.where(weight > 0, weight, np.nan)
        factor = rows / np.where(rows > 1, rows - 1, np.nan)
        if sums.shape[2] == 1:
            return known, square_weight, factor
        return known[:, self.set_of], square_weight[:, self.set_of], factor[:, self.set_of]

    def _noise(self, drift: Floats, magnitude: Floats, deviation: Floats, columns: NDArray[np.int64]) -> Floats:
        """Return, in the place of `drift` (2 |d*|), how large a variance may come from rounding alone.

        `magnitude` is the sum of the absolute values of the terms of the variance.
        """
        units = self.column_units[:, columns]
        drift *= units[-1 if self.weighted else 0]
        drift += units[1]
        drift *= self.terms
        drift += magnitude * 2.0**-48
        if self.weighted:
            drift += self.terms * self.set_units[1][self.set_of[columns]] * deviation**2
        return drift


def studentised(deviation: Floats, variance: Floats, usable: NDArray[np.bool_], otherwise: float) -> Floats:
    """Return deviation / √variance where usable, else `otherwise`; the two arrays may be overwritten."""
    if usable.all():
        return np.asarray(np.divide(deviation, np.sqrt(variance, out=variance), out=deviation))
    found = np.full(variance.shape, otherwise)
    return np.asarray(np.divide(deviation, np.sqrt(variance), out=found, where=usable))
