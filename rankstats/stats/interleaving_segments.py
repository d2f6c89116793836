"""Do segments of impressions differ in what users prefer? One test for segments that share units."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from rankstats.errors import RankstatsError
from rankstats.stats.heterogeneity import cochran_q
from rankstats.stats.random_blocks import RNG, generator_from
from rankstats.stats.resampling import label_codes
from rankstats.stats.results import ColumnResult
from rankstats.stats.validation import check_count

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_UNITS_FLIPPED = 2_000
_PRODUCTS = 4_000_000
"""Units times pairs of segments up to which signs are flipped."""
_AT_ONCE = 500
_SINGULAR = 1e-12
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class SegmentPreferences(ColumnResult):
    """Result of `segment_preferences`; array fields have one entry a segment that took part.

    Attributes
    ----------
    segment : ndarray
        Labels, sorted.
    n : ndarray of int
        Impressions.
    estimate : ndarray
        Mean outcome.
    standard_error : ndarray
        Between whole units.
    statistic : float
        F of all segments having one mean; NaN with fewer than two segments or too few units.
    p_value : float
        By flips of whole units up to 2,000 of them, else of F on (segments − 1, units − segments + 1) degrees of
        freedom; 1 where all means are equal, never 0.
    q, i_squared : float
        Cochran's Q and I², as if the segments shared no units.
    units : int
        Units that took part.
    """

    segment: NDArray[np.generic]
    n: Integers
    estimate: Floats
    standard_error: Floats
    statistic: float
    p_value: float
    q: float
    i_squared: float
    units: int


def segment_preferences(
    outcomes: ArrayLike,
    segments: ArrayLike,
    units: ArrayLike | None = None,
    *,
    least_n: int = 2,
    resamples: int = 10_000,
    rng: RNG = 0,
) -> SegmentPreferences:
    """Test whether the mean outcome is the same in all segments of impressions.

    1. A unit may have impressions in several segments (a user asks short and long queries), so the segments' means are
       not independent. Their covariance is that of the units' contributions Σ(x − mean) / n to each mean, with the
       factor G / (G − 1) for G units; the differences of the means are put together in Hotelling's T².
    2. With few units, or some that have most impressions, F finds differences that are not there: T² is compared with
       what it is when the signs of whole units' deviations from the common mean are flipped (the wild cluster bootstrap
       with the hypothesis imposed), (b + 1) / (B + 1). With thousands of units F says the same.

    Parameters
    ----------
    outcomes : array_like, shape (m,)
        From `impression_outcomes`, of one pair of rankers; NaN (no clicks) is left out.
    segments : array_like, shape (m,)
        Segment of each impression.
    units : array_like, shape (m,), optional
        Unit of each impression; without them impressions count as independent.
    least_n : int
        Segments with fewer impressions, or fewer than two units, are left out.
    resamples : int
        Sign patterns drawn.
    rng : int, SeedSequence, BitGenerator, Generator or None
        Seed or source of the random bits.

    Returns
    -------
    SegmentPreferences

    Raises
    ------
    RankstatsError
        If shapes do not fit.

    References
    ----------
    Hotelling 1931; Cameron & Miller 2015 (cluster-robust covariance); Cameron, Gelbach & Miller 2008 (wild cluster
    bootstrap).

    Examples
    --------
    >>> outcomes = [0.5, 0.5, -0.5, 0.5, 0.5, -0.5, -0.5, 0.0, -0.5, -0.5]
    >>> result = segment_preferences(outcomes, list("aaaaabbbbb"), list("uvwxyuvwxy"))
    >>> result.estimate.tolist(), round(result.statistic, 3), round(result.p_value, 3)
    ([0.3, -0.4], 5.444, 0.131)
    """
    values = np.asarray(outcomes, dtype=np.float64)
    if values.ndim != 1:
        raise RankstatsError("outcomes: one number for each impression is expected")
    labels = np.asarray(segments)
    of_segment = label_codes(labels, len(values), "segments")
    of_unit = np.arange(len(values)) if units is None else label_codes(units, len(values), "units")
    kept, place = _kept(of_segment, of_unit, ~np.isnan(values), least_n)
    values, of_unit, places = values[kept], np.unique(of_unit[kept], return_inverse=True)[1], place[of_segment[kept]]
    count = int(places.max(initial=-1)) + 1
    n = np.bincount(places, minlength=count)
    mean = np.bincount(places, weights=values, minlength=count) / np.maximum(n, 1)
    groups = int(of_unit.max(initial=-1)) + 1
    parts = np.zeros((groups, count))
    np.add.at(parts, (of_unit, places), (values - mean[places]) / n[places])
    covariance = parts.T @ parts * (groups / max(1, groups - 1))
    error = np.sqrt(np.diag(covariance))
    statistic, p_value = _hotelling(mean, covariance, groups)
    few = groups <= _UNITS_FLIPPED and groups * count**2 <= _PRODUCTS
    if few and np.isfinite(statistic) and statistic > 0:
        common = values - values.mean()
        sizes, residuals = np.zeros((groups, count)), np.zeros((groups, count))
        np.add.at(sizes, (of_unit, places), 1 / n[places])
        np.add.at(residuals, (of_unit, places), common / n[places])
        p_value = _flipped_p(statistic, residuals, sizes, check_count("resamples", resamples), rng)
    q, _, i_squared = cochran_q(mean, error)
    first = np.array([labels[kept][places == k][0] for k in range(count)], dtype=labels.dtype)
    return SegmentPreferences(first, n, mean, error, statistic, p_value, q, i_squared, groups)


def _kept(of_segment: Integers, of_unit: Integers, known: NDArray[np.bool_], least_n: int) -> tuple[Integers, Integers]:
    """Return the impressions that take part, and the place of each segment among those that do (−1 for none)."""
    size = int(of_segment.max(initial=-1)) + 1
    n = np.bincount(of_segment[known], minlength=size)
    units = int(of_unit.max(initial=-1)) + 1
    pairs = np.unique(of_segment[known] * units + of_unit[known]) // max(1, units)
    enough = (n >= least_n) & (np.bincount(pairs, minlength=size) >= 2)
    place = np.where(enough, np.cumsum(enough) - 1, -1)
    return np.flatnonzero(known & enough[of_segment]), place


def _flipped_p(statistic: float, residuals: Floats, sizes: Floats, resamples: int, rng: RNG) -> float:
    """Return p of F under flips of the units' residuals, shape (G, k); `sizes` are their shares of each segment."""
    groups, k = residuals.shape
    products = np.einsum("gs,gt->gst", residuals, sizes).reshape(groups, k * k)
    fixed, shares = residuals.T @ residuals, sizes.T @ sizes
    generator, beyond = generator_from(rng), 0
    for start in range(0, resamples, _AT_ONCE):
        signs = 2.0 * generator.integers(0, 2, (min(_AT_ONCE, resamples - start), groups)) - 1.0
        mean = signs @ residuals
        crossed = np.einsum("bst,bt->bst", (signs @ products).reshape(-1, k, k), mean)
        outer = np.einsum("bs,bt->bst", mean, mean)
        covariance = (fixed - crossed - crossed.transpose(0, 2, 1) + outer * shares) * (groups / max(1, groups - 1))
        found = _statistics(mean, covariance, groups)
        # without a covariance to judge by, a pattern speaks for no difference
        beyond += int(np.count_nonzero(~(found < statistic * (1 - _ROUNDING))))
    return (beyond + 1) / (resamples + 1)


def _statistics(mean: Floats, covariance: Floats, groups: int) -> Floats:
    """Return F of each pattern, shapes (B, k) and (B, k, k); NaN without a covariance of full rank."""
    contrast = mean[:, 1:] - mean[:, :1]
    spread = covariance[:, 1:, 1:] - covariance[:, 1:, :1] - covariance[:, :1, 1:] + covariance[:, :1, :1]
    k = contrast.shape[1]
    sizes, directions = np.linalg.eigh(spread)
    known = sizes[:, 0] > _SINGULAR * sizes[:, -1]
    along = np.einsum("bst,bs->bt", directions, contrast)
    squared = np.sum(along**2 / np.where(known[:, None], sizes, 1.0), axis=1)
    return np.where(known, squared * (groups - k) / (k * (groups - 1)), np.nan)


def _hotelling(mean: Floats, covariance: Floats, groups: int) -> tuple[float, float]:
    k = len(mean) - 1
    df = groups - k
    if k < 1 or df < 1:
        return np.nan, np.nan
    contrast = mean[1:] - mean[0]
    spread = covariance[1:, 1:] - covariance[1:, :1] - covariance[:1, 1:] + covariance[0, 0]
    scale = float(np.trace(spread)) / k
    if np.all(np.abs(contrast) <= 1e-12):
        return 0.0, 1.0
    if not scale > 0 or np.linalg.cond(spread) > 1e12:
        return np.nan, np.nan
    squared = float(contrast @ np.linalg.solve(spread, contrast))
    statistic = squared * df / (k * (groups - 1))
    return statistic, max(float(special.fdtrc(k, df, statistic)), float(np.finfo(np.float64).tiny))
