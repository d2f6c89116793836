"""Quantiles of rows (page loads, latencies) where units are larger than rows: users with any number of rows each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from rankstats.errors import RankstatsError
from rankstats.stats.arm_pairs import ArmPair, linearised, welch_df
from rankstats.stats.poisson_bootstrap import ArmBootstrapResult, bootstrapped_effect, unit_counts, unit_keys
from rankstats.stats.resampling import label_codes
from rankstats.stats.unit_moments import UnitMoments, unit_moments
from rankstats.stats.validation import check_count

_BAND = float(-special.ndtri(0.025))
"""The density is that of the rows within this many standard errors of the quantile."""

_BLOCK_ELEMENTS = 1 << 22

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ArmQuantiles:
    """Quantiles of an arm and what their standard errors are made of: aggregates, for c levels.

    Attributes
    ----------
    level : ndarray, shape (c,)
        Levels of the quantiles.
    quantile : ndarray, shape (c,)
        Smallest value that at least `level` of the rows do not exceed.
    density : ndarray, shape (c,)
        Density of the rows at the quantile; infinite where the rows there have one value.
    moments : UnitMoments
        Two variables over the units: rows up to the quantile, and rows.
    """

    level: Floats
    quantile: Floats
    density: Floats
    moments: UnitMoments

    @property
    def variance(self) -> Floats:
        """Squared standard error of the quantiles, shape (c,): that of the share of rows over density²."""
        return _share_variance(self.moments) / self.density**2


def _share_variance(moments: UnitMoments) -> Floats:
    _, parts = linearised(moments, ratio=True)
    return np.asarray(parts.covariance[:, 0, 0] / np.where(moments.n > 0, moments.n, np.nan))


def arm_quantiles(values: ArrayLike, units: ArrayLike | None = None, *, levels: ArrayLike = 0.5) -> ArmQuantiles:
    """Reduce the rows of an arm to quantiles with standard errors at the unit.

    1. The share of rows up to the quantile is a ratio of sums over the units; the delta method gives its standard error
       s, whatever the correlation of rows of one unit.
    2. The density is the share of rows between the quantiles at level ± 1.96 s over the distance of these quantiles
       (interpolated); the quantile's standard error is s over the density, that is the half width of the interval of
       ranks over 1.96.

    Made for values with few ties; where the rows around the quantile all have one value there is no estimate of spread,
    and `bootstrap_quantiles` has one.

    Parameters
    ----------
    values : array_like, shape (n,)
        Values of the rows; NaN is absent.
    units : array_like, shape (n,), optional
        Unit of each row; each row is a unit of its own when not given.
    levels : float or array_like, shape (c,)
        Between 0 and 1.

    Returns
    -------
    ArmQuantiles

    Raises
    ------
    RankstatsError
        If shapes do not fit, there are no values, or a level is out of range.

    References
    ----------
    Deng, Knoblich & Lu 2018, section 4 (percentile metrics); Woodruff 1952 (the interval of ranks).

    Examples
    --------
    >>> arm = arm_quantiles(np.arange(1.0, 101.0), np.repeat(np.arange(50), 2), levels=[0.5, 0.9])
    >>> arm.quantile.tolist(), np.sqrt(arm.variance).round(2).tolist()
    ([50.0, 90.0], [7.07, 4.24])
    """
    rows, codes, wanted = _checked(values, units, levels)
    order = np.argsort(rows, kind="stable")
    ordered = rows[order]
    quantile = ordered[_position(wanted, len(ordered))]
    n_units = int(codes.max()) + 1
    per_unit = np.bincount(codes, minlength=n_units)
    below = np.stack([np.bincount(codes[rows <= value], minlength=n_units) for value in quantile], axis=1)
    moments = unit_moments(below, per_unit)
    half = _BAND * np.sqrt(np.nan_to_num(_share_variance(moments)))
    low, high = np.maximum(wanted - half, 0.0), np.minimum(wanted + half, 1.0)
    distance = np.quantile(ordered, high) - np.quantile(ordered, low)
    density = np.divide(high - low, distance, out=np.full(len(wanted), np.inf), where=distance > 0)
    return ArmQuantiles(wanted, quantile, density, moments)


def _position(levels: Floats, n: int) -> NDArray[np.int64]:
    # a product that rounding lifted above a whole number counts as that number
    return np.clip(np.ceil(levels * n * (1 - 1e-12)).astype(np.int64) - 1, 0, n - 1)


def _checked(values: ArrayLike, units: ArrayLike | None, levels: ArrayLike) -> tuple[Floats, NDArray[np.int64], Floats]:
    """Return the rows that have a value, their units numbered from 0, and the levels."""
    rows = np.asarray(values, dtype=np.float64)
    if rows.ndim != 1 or np.any(np.isinf(rows)):
        raise RankstatsError("values: finite numbers of shape (n,) are expected, NaN for absent ones")
    wanted = np.atleast_1d(np.asarray(levels, dtype=np.float64))
    if wanted.ndim != 1 or not np.all((wanted > 0) & (wanted < 1)):
        raise RankstatsError("levels: numbers between 0 and 1 are expected, for instance 0.95")
    present = ~np.isnan(rows)
    if not present.any():
        raise RankstatsError("values: there is none")
    codes = np.arange(len(rows)) if units is None else label_codes(units, len(rows), "units")
    return rows[present], np.unique(codes[present], return_inverse=True)[1].ravel().astype(np.int64), wanted


def quantile_pair(control: ArmQuantiles, treatment: ArmQuantiles) -> ArmPair:
    """Compare quantiles of the same levels, for `compare_arms`; absolute and relative effects alike.

    Raises
    ------
    RankstatsError
        If the arms have different levels.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> pair = quantile_pair(arm_quantiles(rng.exponential(1, 400)), arm_quantiles(rng.exponential(1, 400)))
    >>> pair.n_columns, bool(pair.standard_error[0] < 0.1)
    (1, True)
    """
    if not np.array_equal(control.level, treatment.level):
        raise RankstatsError(f"control has quantiles at {control.level.tolist()}, treatment {treatment.level.tolist()}")
    n = (control.moments.n, treatment.moments.n)
    variances = (control.variance, treatment.variance)
    return ArmPair(
        control.quantile,
        treatment.quantile,
        *variances,
        np.zeros(len(control.level)),
        welch_df(*variances, n[0] - 1, n[1] - 1),
        np.maximum(n[0] - 1.0, 0.0),
        *n,
    )


def bootstrap_quantiles(
    control: tuple[ArrayLike, ArrayLike],
    treatment: tuple[ArrayLike, ArrayLike],
    *,
    levels: ArrayLike = 0.5,
    effect: str = "difference",
    alpha: float = 0.05,
    resamples: int = 1000,
    seed: int = 0,
) -> ArmBootstrapResult:
    """Compare quantiles of two arms by the Poisson bootstrap of their units.

    Parameters
    ----------
    control, treatment : tuple of two array_like, each of shape (n,)
        Values of the rows (NaN is absent), and the id of each row's unit, from which its random counts come.
    levels : float or array_like, shape (c,)
        Between 0 and 1.
    effect, alpha
        As in `poisson_bootstrap`.
    resamples, seed : int
        As in `poisson_sums`.

    Returns
    -------
    ArmBootstrapResult

    Raises
    ------
    RankstatsError
        If shapes do not fit, an arm has no values, or an argument is out of range.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> arms = [(rng.exponential(1, 300), np.arange(n, n + 300)) for n in (0, 300)]
    >>> result = bootstrap_quantiles(*arms, levels=[0.5, 0.9], resamples=200)
    >>> result.p_value.shape
    (2,)
    """
    check_count("resamples", resamples)
    arms = [_resampled_quantiles(*arm, levels=levels, resamples=resamples, seed=seed) for arm in (control, treatment)]
    return bootstrapped_effect(*arms, effect=effect, alpha=alpha)


def _resampled_quantiles(
    values: ArrayLike, unit_ids: ArrayLike, *, levels: ArrayLike, resamples: int, seed: int
) -> tuple[Floats, Floats]:
    """Return quantiles, shape (c,), and resampled ones, shape (B, c); NaN for a resample without rows."""
    present = ~np.isnan(np.asarray(values, dtype=np.float64))
    rows, _, wanted = _checked(values, None, levels)
    ids = np.asarray(unit_ids)
    if ids.shape != present.shape:
        raise RankstatsError(f"values have shape {present.shape}, unit ids {ids.shape}; one id for each row")
    keys, of_row = unit_keys(ids[present], len(rows), seed)
    order = np.argsort(rows, kind="stable")
    ordered, of_row = rows[order], of_row[order]
    counts = unit_counts(keys, resamples).T
    drawn = np.full((resamples, len(wanted)), np.nan)
    step = max(1, _BLOCK_ELEMENTS // len(rows))
    for start in range(0, resamples, step):
        reached = np.cumsum(counts[start : start + step, of_row], axis=1, dtype=np.int64)
        for resample, cumulated in enumerate(reached, start):
            if cumulated[-1]:
                places = _position(wanted, int(cumulated[-1])) + 1
                drawn[resample] = ordered[np.searchsorted(cumulated, places)]
    return ordered[_position(wanted, len(ordered))], drawn
