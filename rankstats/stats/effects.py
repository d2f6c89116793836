"""Sizes: win/tie/loss, standardised difference, relative difference, smallest detectable difference."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from rankstats.stats.classical import agreeing_ends
from rankstats.stats.differences import Differences, paired_differences
from rankstats.stats.exact_sums import power_of_two_at_least, to_grid
from rankstats.stats.power import detectable_shift
from rankstats.stats.results import ColumnResult
from rankstats.stats.validation import check_alpha

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class EffectSizes(ColumnResult):
    """Result of `effect_sizes`; array fields have shape (c,).

    Attributes
    ----------
    estimate : ndarray
        (Weighted) mean difference.
    wins, ties, losses : ndarray of int
        Queries on which the system is better, equal (to one unit of rounding) and worse.
    effect_size : ndarray
        d_z, the mean difference over the standard deviation of the differences; NaN where that is 0 or n < 2.
    superiority : ndarray
        Probability of superiority: share of wins plus half the share of ties, weighted where there are weights.
    smallest_detectable : ndarray
        Mean difference that a two-sided paired t test at `alpha` would find with probability `power`, at the present n
        and standard deviation of the differences; NaN for n < 2. With weights the standard error takes the place of
        sd / √n.
    n_effective : ndarray
        Kish's effective number of queries; n when not weighted.
    n : ndarray of int
        Queries.
    alpha, power : float
        Of `smallest_detectable`.
    """

    estimate: Floats
    wins: NDArray[np.int64]
    ties: NDArray[np.int64]
    losses: NDArray[np.int64]
    effect_size: Floats
    superiority: Floats
    smallest_detectable: Floats
    n_effective: Floats
    n: NDArray[np.int64]
    alpha: float
    power: float


def effect_sizes(differences: Differences, *, alpha: float = 0.05, power: float = 0.8) -> EffectSizes:
    """Describe the size of paired differences.

    Parameters
    ----------
    differences : Differences
        n queries, c columns.
    alpha, power : float
        Level and power of the smallest detectable difference.

    Returns
    -------
    EffectSizes

    Raises
    ------
    RankstatsError
        If alpha or power do not lie between 0 and 1, or power does not exceed alpha.

    References
    ----------
    Cohen 1988 (d_z); R's ``power.t.test(type = "paired", strict = TRUE)``.

    Examples
    --------
    >>> from rankstats.stats import paired_differences
    >>> sizes = effect_sizes(paired_differences([0.1, 0.2, 0.4, 0.3], [0.3, 0.3, 0.4, 0.2]))
    >>> sizes.wins.tolist(), sizes.ties.tolist(), sizes.losses.tolist(), sizes.superiority.tolist()
    ([2], [1], [1], [0.625])
    """
    n, deviation = differences.n, differences.standard_deviation
    weights = differences.weight_integers
    total = weights @ differences.present
    sign = np.sign(differences.integers)
    balance = np.divide(weights @ sign, total, out=np.full(len(n), np.nan), where=total > 0)
    shifts = {int(size): detectable_shift(int(size), alpha=alpha, power=power) for size in np.unique(n)}
    return EffectSizes(
        estimate=differences.mean,
        wins=np.count_nonzero(sign > 0, axis=0),
        ties=n - np.count_nonzero(sign, axis=0),
        losses=np.count_nonzero(sign < 0, axis=0),
        effect_size=np.divide(differences.mean, deviation, out=np.full(len(n), np.nan), where=deviation > 0),
        superiority=(1 + balance) / 2,
        smallest_detectable=np.array([shifts[int(size)] for size in n]) * differences.standard_error,
        n_effective=differences.n_effective,
        n=n,
        alpha=alpha,
        power=power,
    )


def kish_n_effective(weights: ArrayLike) -> float:
    """Return Kish's effective number of queries, (Σw)² / Σw²; 0 when all weights are 0.

    Examples
    --------
    >>> kish_n_effective([1, 1, 2])
    2.6666666666666665
    """
    array = np.asarray(weights, dtype=np.float64)
    square = float(np.sum(array**2))
    return float(np.sum(array)) ** 2 / square if square else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class RelativeDifference(ColumnResult):
    """Result of `relative_difference`; array fields have shape (c,).

    Attributes
    ----------
    estimate : ndarray
        (mean system − mean baseline) / |mean baseline|, a fraction; NaN where undefined.
    low, high : ndarray
        Fieller's interval of level 1 − alpha; NaN where undefined.
    n : ndarray of int
        Queries.
    alpha : float
        1 − level.
    """

    estimate: Floats
    low: Floats
    high: Floats
    n: NDArray[np.int64]
    alpha: float


def relative_difference(
    baseline: ArrayLike, system: ArrayLike, weights: ArrayLike | None = None, *, alpha: float = 0.05
) -> RelativeDifference:
    """Return the relative difference as a ratio of means, with Fieller's interval.

    The ratio is undefined (NaN) where the t interval of the baseline's mean covers 0. Its sign follows the difference:
    from −10 to −5 is +50 %. The interval leaves out 0 exactly when the paired t test is significant at alpha.

    Parameters
    ----------
    baseline, system : array_like, shape (n,) or (n, c)
        Values per query; NaN in either makes the query absent.
    weights : array_like, shape (n,), optional
        Weights of the queries, 0 or more.
    alpha : float
        1 − level.

    Returns
    -------
    RelativeDifference

    Raises
    ------
    RankstatsError
        If shapes, weights or alpha are out of range.

    References
    ----------
    Fieller 1954.

    Examples
    --------
    >>> result = relative_difference([-9.0, -10.0, -11.0], [-4.0, -5.0, -6.0])
    >>> result.estimate.round(9).tolist()
    [0.5]
    """
    return relative_of(*difference_and_level(baseline, system, weights), alpha=alpha)


def difference_and_level(
    baseline: ArrayLike, system: ArrayLike, weights: ArrayLike | None
) -> tuple[Differences, Differences]:
    """Return system − baseline and baseline − 0 over the queries that both have."""
    difference = paired_differences(baseline, system, weights)
    before = np.asarray(baseline, dtype=np.float64).reshape(difference.n_rows, -1)
    before = np.broadcast_to(before, difference.present.shape)
    level = paired_differences(np.zeros(before.shape), np.where(difference.present, before, np.nan), weights)
    return difference, level


def relative_of(difference: Differences, level: Differences, *, alpha: float = 0.05) -> RelativeDifference:
    """Return the relative difference as `relative_difference` does, from differences and the baseline's level."""
    alpha = check_alpha(alpha)
    n = difference.n
    # products of four means would leave the range of floats at 1e77: a power of two changes no digit
    scale = power_of_two_at_least(np.nan_to_num(np.maximum(np.abs(difference.mean), np.abs(level.mean))))
    mean, base = difference.mean / scale, level.mean / scale
    t_squared = special.stdtrit(np.maximum(n - 1, 1), alpha / 2) ** 2
    of_mean = t_squared * (difference.standard_error / scale) ** 2
    of_base = t_squared * (level.standard_error / scale) ** 2
    shared = t_squared * (covariance_of_means(difference, level) / scale / scale)
    leading = base**2 - of_base
    defined = (n > 1) & (leading > 0)
    leading = np.where(defined, leading, np.nan)
    middle = mean * base - shared
    with np.errstate(invalid="ignore"):  # undefined columns are NaN
        root = np.sqrt(np.maximum(middle**2 - leading * (mean**2 - of_mean), 0.0))
        ends = np.sort(np.sign(base) * np.array([middle - root, middle + root]) / leading, axis=0)
    estimate = mean / np.where(defined, np.abs(base), np.nan)
    significant = mean**2 > of_mean
    low, high = agreeing_ends(significant, estimate, ends[0], ends[1])
    low, high = np.where(defined, low, np.nan), np.where(defined, high, np.nan)
    return RelativeDifference(estimate, low, high, n, alpha)


def covariance_of_means(first: Differences, second: Differences) -> Floats:
    """Return the (linearised) covariance of two columns' means over the same queries, shape (c,)."""
    n = first.n
    products = (first.weights**2)[:, None] * first.centred() * second.centred()
    factor = np.divide(n, n - 1, out=np.full(len(n), np.nan), where=n > 1)
    total = np.where(first.total_weight > 0, first.total_weight, np.nan)
    on_grid, unit = to_grid(products, first.n_rows)
    return np.asarray(factor * on_grid.sum(axis=0) * unit / total**2)
