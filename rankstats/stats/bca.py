"""What BCa adds to the percentile interval: bias correction, acceleration, and the levels that they move."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import special

from rankstats.stats.exact_sums import to_grid
from rankstats.stats.flip_readings import TOLERANCE
from rankstats.stats.ratios import Ratios, cluster_totals

Floats = NDArray[np.float64]


def bias_correction(ratios: Ratios, values: Floats, known: NDArray[np.bool_], *, strictly: bool) -> Floats:
    """Return z0, the normal quantile of the share of known values below the estimate, shape (c,).

    Values equal to the estimate count half, or, `strictly`, not at all.
    """
    estimate = ratios.estimate[:, None]
    total = ratios.denominators.sum(axis=0)
    rounding = np.where(ratios.present, ratios.slack, 0.0).sum(axis=0)
    noise = np.maximum(TOLERANCE * np.abs(ratios.numerators).sum(axis=0), rounding) * ratios.scale
    tolerance = np.divide(noise, total, out=np.zeros(len(noise)), where=total > 0)
    equal = known & (np.abs(values - estimate) <= tolerance[:, None])
    below = np.count_nonzero(known & ~equal & (values < estimate), axis=1)
    below = below + (0.0 if strictly else 0.5) * np.count_nonzero(equal, axis=1)
    count = np.count_nonzero(known, axis=1)
    return np.asarray(special.ndtri(below / np.where(count > 0, count, np.nan)))


def jackknife_acceleration(ratios: Ratios, strata: NDArray[np.int64] | None) -> Floats:
    """Return Σn⁻³L³ / (Σn⁻²L²)^1.5 / 6, L the jackknife influence of a row within its stratum of n rows."""
    acceleration = np.full(ratios.n_columns, np.nan)
    residuals = ratios.residuals()
    codes = np.zeros(ratios.n_rows, dtype=np.int64) if strata is None else strata
    for columns, place, some in ratios.summands():
        of = np.unique(codes[some.rows], return_inverse=True)[1].ravel()
        y = some.matrix[:, place]
        influence = _influence(residuals[np.ix_(some.rows, columns)], y, of)
        squares, unit = to_grid(influence**2, len(of))
        cubes, unit_of_cubes = to_grid(influence**3, len(of))
        spread = (squares.sum(axis=0) * unit) ** 1.5
        skew = cubes.sum(axis=0) * unit_of_cubes
        acceleration[columns] = np.where(
            spread > 0, skew / np.where(spread > 0, spread, 1.0) / 6, np.where(np.isnan(spread), np.nan, 0.0)
        )
    return acceleration


def _influence(residuals: Floats, denominators: Floats, strata: NDArray[np.int64]) -> Floats:
    """Return (mean of the jackknife values − value) · (n − 1) / n within strata; a row left out leaves its weight."""
    sizes = np.bincount(strata)[strata][:, None] if len(strata) else np.ones((0, 1), dtype=np.int64)
    grid, unit = to_grid(residuals, len(strata))
    change = _left_out(grid, strata, sizes) * unit
    left = _left_out(denominators, strata, sizes)
    value = change / np.where(left > 0, left, np.nan)
    # a column for which leaving out a row leaves nothing has no acceleration
    broken = np.any(np.isnan(value), axis=0)
    on_grid, unit = to_grid(np.nan_to_num(value), len(strata))
    centre = cluster_totals(on_grid, strata)[strata] * unit / sizes
    influence = np.where(sizes > 1, (centre - value) * (sizes - 1) / sizes, 0.0)
    # a power of two brings the influence near 1: its cube must not leave the range of doubles
    largest = np.abs(np.nan_to_num(influence)).max(axis=0, initial=0.0)
    scaled = influence * np.exp2(-np.where(largest > 0, np.frexp(largest)[1], 0))
    return np.where(broken, np.nan, scaled)


def _left_out(values: Floats, strata: NDArray[np.int64], sizes: NDArray[np.int64]) -> Floats:
    """Return total sums without each row in turn, the other rows of its stratum counting n / (n − 1) times."""
    of_stratum = cluster_totals(values, strata)[strata]
    others = of_stratum - values
    return np.asarray(values.sum(axis=0) - of_stratum + others * (sizes / np.maximum(sizes - 1, 1)))


def bca_level(z0: Floats, a: Floats, level: Floats) -> Floats:
    """Return the moved level Φ(z0 + (z0 + z) / (1 − a(z0 + z))); NaN where the formula has none."""
    shifted = np.where(np.isfinite(z0), z0, np.nan) + special.ndtri(level)
    known = 1 - a * shifted
    return np.asarray(special.ndtr(z0 + shifted / np.where(known > 0, known, np.nan)))
