"""Means and standard errors of any multiset of rows, from sums that depend on no order."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rankstats.stats.differences import Differences
from rankstats.stats.exact_sums import to_grid
from rankstats.stats.flip_readings import distinct_masks

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
        return self.from_sums(counts @ self.columns, counts @ self.sets)

    def from_sums(self, of_columns: Floats, of_sets: Floats) -> tuple[Floats, Floats]:
        """Return the same for sums over rows that were made elsewhere: counts @ `columns` and counts @ `sets`."""
        resamples = len(of_columns)
        of_columns = of_columns.reshape(resamples, *self.column_units.shape) * self.column_units
        of_sets = of_sets.reshape(resamples, *self.set_units.shape) * self.set_units
        of_sets = of_sets[:, :, self.set_of]
        first, second = of_columns[:, 0], of_columns[:, 1]
        cross = of_columns[:, 2] if self.weighted else first
        weight, square_weight, rows = of_sets[:, 0], of_sets[:, 1 % of_sets.shape[1]], of_sets[:, -1]
        known = np.where(weight > 0, weight, np.nan)
        deviation = first / known
        spread = second - 2 * deviation * cross + deviation**2 * square_weight
        magnitude = second + 2 * np.abs(deviation * cross) + deviation**2 * square_weight
        units = self.column_units
        rounding = self.terms * (units[1] + 2 * np.abs(deviation) * units[-1 if self.weighted else 0])
        noise = (
            rounding
            + 2.0**-48 * magnitude
            + self.terms
            * self.set_units[1 % len(self.set_units)][self.set_of]
            * (deviation**2 if self.weighted else 0.0)
        )
        spread = np.where(spread > noise, spread, 0.0)
        factor = rows / np.where(rows > 1, rows - 1, np.nan)
        return deviation, factor * spread / known**2
