"""What the units of an arm are reduced to: their number, means, and covariances of one or several variables.

Every statistic of an experiment that is not a quantile is computed from these, so it is the same from units and from
aggregates. Units are what was randomised (users, sessions): rows of events are added up per unit before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankstats.errors import RankstatsError
from rankstats.stats.compensated_sums import double_sums
from rankstats.stats.differences import LARGEST_VALUE
from rankstats.stats.results import ColumnResult

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class UnitMoments(ColumnResult):
    """Moments of k variables over the units of an arm, in c columns (metrics, segments, days).

    Attributes
    ----------
    n : ndarray of int, shape (c,)
        Units for which all variables are defined.
    mean : ndarray, shape (c, k)
        Means; NaN without units.
    covariance : ndarray, shape (c, k, k)
        Sample covariances (denominator n − 1); NaN for n < 2.
    """

    n: NDArray[np.int64]
    mean: Floats
    covariance: Floats

    @property
    def n_columns(self) -> int:
        """Number of columns c."""
        return len(self.n)

    @property
    def n_variables(self) -> int:
        """Number of variables k."""
        return int(self.mean.shape[1])

    @property
    def sums(self) -> Floats:
        """Sums of the variables over the units, shape (c, k)."""
        return np.where(self.n[:, None] > 0, self.n[:, None] * self.mean, 0.0)

    def select(self, columns: ArrayLike) -> UnitMoments:
        """Return the chosen columns, in the chosen order."""
        chosen = np.asarray(columns)
        return UnitMoments(self.n[chosen], self.mean[chosen], self.covariance[chosen])

    def variables(self, chosen: Sequence[int]) -> UnitMoments:
        """Return the moments of some of the variables, in the given order."""
        places = np.asarray(chosen, dtype=np.int64)
        return UnitMoments(self.n, self.mean[:, places], self.covariance[:, places[:, None], places])


def unit_moments(*variables: ArrayLike) -> UnitMoments:
    """Reduce the units of one arm to moments.

    Sums are compensated: the numbers do not depend on the order of the units.

    Parameters
    ----------
    *variables : array_like, shape (n,) or (n, c)
        One value a unit: the metric; for a ratio metric numerator and denominator; after them covariates from before
        the experiment. A variable of one column serves all columns. NaN makes the unit absent from that column, with
        all its variables: a unit without events has the value 0, not NaN.

    Returns
    -------
    UnitMoments

    Raises
    ------
    RankstatsError
        If shapes do not fit or a value is infinite or beyond 1e100.

    Examples
    --------
    >>> arm = unit_moments([3.0, 0.0, 2.0, float("nan")])
    >>> arm.n.tolist(), arm.mean.round(9).tolist(), arm.covariance.round(9).tolist()
    ([3], [[1.666666667]], [[[2.333333333]]])
    """
    values = _stacked(variables)
    present = np.asarray(~np.isnan(values).any(axis=2))
    n = np.count_nonzero(present, axis=0).astype(np.int64)
    values = np.where(present[:, :, None], values, 0.0)
    known = np.where(n > 0, n, np.nan)[:, None]
    lowest, highest = _range(values, present)
    # equal values are their own mean, whatever their number
    mean = np.where(lowest == highest, highest, double_sums(values).value / known)
    centred = np.where(present[:, :, None], values - np.nan_to_num(mean), 0.0)
    products = _products(centred) / np.where(n > 1, n - 1, np.nan)[:, None, None]
    varies = highest > lowest
    still = ~(varies[:, :, None] & varies[:, None, :]) & (n > 1)[:, None, None]
    return UnitMoments(n, mean, np.where(still, 0.0, products))


def _products(centred: Floats) -> Floats:
    """Return sums of products of centred variables, shape (c, k, k); one pair of variables in memory at a time."""
    columns, k = centred.shape[1:]
    products = np.empty((columns, k, k))
    for first in range(k):
        for second in range(first + 1):
            of_pair = double_sums(centred[:, :, first] * centred[:, :, second]).value
            products[:, first, second] = products[:, second, first] = of_pair
    return products


def _stacked(variables: Sequence[ArrayLike]) -> Floats:
    """Return values of shape (n, c, k)."""
    if not variables:
        raise RankstatsError("unit_moments needs at least one variable")
    arrays = []
    for place, variable in enumerate(variables):
        array = np.asarray(variable, dtype=np.float64)
        if array.ndim not in (1, 2):
            raise RankstatsError(f"variable {place} has {array.ndim} dimensions; (n,) or (n, c) is expected")
        if np.any(np.abs(array) > LARGEST_VALUE):
            raise RankstatsError(f"variable {place} holds values that are infinite or beyond 1e100")
        arrays.append(array if array.ndim == 2 else array[:, None])
    columns = max(array.shape[1] for array in arrays)
    shapes = [array.shape for array in arrays]
    if any(shape[0] != shapes[0][0] or shape[1] not in (1, columns) for shape in shapes):
        raise RankstatsError(f"variables have shapes {shapes}; the same units are rows of all, and 1 or c columns")
    return np.stack([np.broadcast_to(array, (len(array), columns)) for array in arrays], axis=2)


def _range(values: Floats, present: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Return the smallest and the largest value of each variable; infinite without units."""
    lowest = np.min(np.where(present[:, :, None], values, np.inf), axis=0, initial=np.inf)
    highest = np.max(np.where(present[:, :, None], values, -np.inf), axis=0, initial=-np.inf)
    return np.asarray(lowest), np.asarray(highest)


def aggregated_moments(n: ArrayLike, mean: ArrayLike, covariance: ArrayLike) -> UnitMoments:
    """Take moments that were computed elsewhere.

    Parameters
    ----------
    n : array_like of int, shape () or (c,)
        Units.
    mean : array_like, shape () or (c,) for one variable, (c, k) for several
        Means.
    covariance : array_like, shape () or (c,) for one variable, (c, k, k) for several
        Sample variances, or sample covariances (denominator n − 1).

    Returns
    -------
    UnitMoments

    Raises
    ------
    RankstatsError
        If shapes do not fit, n is no whole number, a variance is negative or a covariance is impossible.

    Examples
    --------
    >>> aggregated_moments([100], [0.2], [0.16]).n_variables
    1
    """
    given = np.atleast_1d(np.asarray(n, dtype=np.float64))
    if given.ndim != 1 or np.any(given != np.floor(given)) or np.any(given < 0):
        raise RankstatsError("n: whole numbers of units, 0 or more, are expected")
    sizes = given.astype(np.int64)
    means, spread = np.asarray(mean, dtype=np.float64), np.asarray(covariance, dtype=np.float64)
    if means.ndim < 2:
        means, spread = np.atleast_1d(means)[:, None], np.atleast_1d(spread)[:, None, None]
    columns, k = len(sizes), means.shape[1]
    if means.shape != (columns, k) or spread.shape != (columns, k, k):
        raise RankstatsError(
            f"means have shape {np.shape(mean)} and covariances {np.shape(covariance)} for {columns} columns; "
            "(c,) and (c,) are expected for one variable, (c, k) and (c, k, k) for several"
        )
    spread = np.where(sizes[:, None, None] > 1, spread, np.nan)
    means = np.where(sizes[:, None] > 0, means, np.nan)
    _check_covariances(sizes, means, spread)
    return UnitMoments(sizes, means, spread)


def _check_covariances(n: NDArray[np.int64], mean: Floats, covariance: Floats) -> None:
    if not np.all(np.isfinite(mean[n > 0])) or not np.all(np.isfinite(covariance[n > 1])):
        raise RankstatsError("means and variances must be finite; leave out a metric that an arm does not have")
    variances = np.diagonal(covariance, axis1=1, axis2=2)
    if np.any(variances < 0):
        column = int(np.flatnonzero(np.any(variances < 0, axis=1))[0])
        raise RankstatsError(f"column {column} (counted from 0): a variance is negative")
    most = np.sqrt(variances[:, :, None] * variances[:, None, :])
    wrong = np.any(np.abs(covariance) > most * (1 + 1e-9), axis=(1, 2)) | np.any(
        np.abs(covariance - np.swapaxes(covariance, 1, 2)) > 1e-9 * most, axis=(1, 2)
    )
    if np.any(wrong):
        raise RankstatsError(
            f"column {int(np.flatnonzero(wrong)[0])} (counted from 0): a covariance is larger than its variances allow,"
            " or differs from its mirror image; give sample covariances over the units"
        )


def ratio_aggregates(
    n: ArrayLike,
    *,
    numerator_mean: ArrayLike,
    numerator_variance: ArrayLike,
    denominator_mean: ArrayLike,
    denominator_variance: ArrayLike,
    covariance: ArrayLike,
) -> UnitMoments:
    """Take the aggregates of a ratio metric, each of shape () or (c,): the columns of an aggregate file.

    Examples
    --------
    >>> clicks, impressions = {"mean": 2.25, "variance": 4.75}, {"mean": 8.17, "variance": 30.3}
    >>> ratio_aggregates(
    ...     12,
    ...     numerator_mean=clicks["mean"],
    ...     numerator_variance=clicks["variance"],
    ...     denominator_mean=impressions["mean"],
    ...     denominator_variance=impressions["variance"],
    ...     covariance=11.4,
    ... ).n_variables
    2
    """
    parts = [
        np.atleast_1d(np.asarray(part, dtype=np.float64))
        for part in (numerator_mean, denominator_mean, numerator_variance, covariance, denominator_variance)
    ]
    top, bottom, top_variance, shared, bottom_variance = parts
    spread = np.stack([top_variance, shared, shared, bottom_variance], axis=-1).reshape(len(top), 2, 2)
    return aggregated_moments(n, np.stack([top, bottom], axis=-1), spread)


def count_moments(successes: ArrayLike, n: ArrayLike) -> UnitMoments:
    """Return the moments of a metric that is 0 or 1, from the number of ones among n units.

    Parameters
    ----------
    successes, n : array_like of int, shape () or (c,)
        Ones, and units.

    Raises
    ------
    RankstatsError
        If a number is not whole, negative, or there are more successes than units.

    Examples
    --------
    >>> count_moments(30, 120).covariance.round(6).tolist()
    [[[0.189076]]]
    """
    ones, units = checked_counts(successes, n)
    rate = ones / np.where(units > 0, units, np.nan)
    variance = rate * (1 - rate) * units / np.where(units > 1, units - 1, np.nan)
    return UnitMoments(units, rate[:, None], variance[:, None, None])


def checked_counts(successes: ArrayLike, n: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return successes and units as arrays of one shape (c,), or raise."""
    ones, units = np.broadcast_arrays(np.atleast_1d(np.asarray(successes)), np.atleast_1d(np.asarray(n)))
    for name, counts in (("successes", ones), ("n", units)):
        if counts.ndim != 1 or np.any(counts != np.floor(counts)) or np.any(counts < 0):
            raise RankstatsError(f"{name}: whole numbers of at least 0 are expected, one or (c,)")
    if np.any(ones > units):
        raise RankstatsError("successes: there are more successes than units; count each unit once")
    return ones.astype(np.int64), units.astype(np.int64)


def merge_moments(parts: Sequence[UnitMoments]) -> UnitMoments:
    """Return the moments of all units of several disjoint sets of units, column by column.

    Raises
    ------
    RankstatsError
        If the parts do not have the same columns and variables.

    References
    ----------
    Chan, Golub & LeVeque 1983 (updating formulas).

    Examples
    --------
    >>> whole = merge_moments([unit_moments([1.0, 2.0]), unit_moments([6.0])])
    >>> whole.n.tolist(), whole.mean.tolist(), whole.covariance.tolist()
    ([3], [[3.0]], [[[7.0]]])
    """
    shapes = {part.mean.shape for part in parts}
    if len(shapes) != 1:
        raise RankstatsError(f"parts have means of shapes {sorted(shapes)}; the same columns and variables are needed")
    n = sum((part.n for part in parts), np.zeros_like(parts[0].n))
    known = np.where(n > 0, n, np.nan)
    mean = sum(part.sums for part in parts) / known[:, None]
    products = np.zeros_like(parts[0].covariance)
    for part in parts:
        away = np.nan_to_num(part.mean - mean)
        within = np.where((part.n > 1)[:, None, None], (part.n - 1)[:, None, None] * part.covariance, 0.0)
        products = products + within + part.n[:, None, None] * away[:, :, None] * away[:, None, :]
    return UnitMoments(n, mean, products / np.where(n > 1, n - 1, np.nan)[:, None, None])


def stack_moments(parts: Sequence[UnitMoments]) -> UnitMoments:
    """Put the columns of several moments of the same number of variables side by side.

    Examples
    --------
    >>> stack_moments([unit_moments([1.0, 2.0]), unit_moments([6.0])]).n.tolist()
    [2, 1]
    """
    if len({part.n_variables for part in parts}) != 1:
        raise RankstatsError("columns can only be put side by side when they have the same number of variables")
    return UnitMoments(
        np.concatenate([part.n for part in parts]),
        np.concatenate([part.mean for part in parts]),
        np.concatenate([part.covariance for part in parts]),
    )


def covariate_with_missing(covariate: ArrayLike) -> tuple[Floats, Floats]:
    """Return a covariate with 0 in place of NaN, and an indicator of the missing values: two covariates.

    A unit that was not there before the experiment keeps its outcome, so that raw and adjusted effects speak of the
    same units.

    Examples
    --------
    >>> covariate_with_missing([2.0, float("nan")])
    (array([2., 0.]), array([0., 1.]))
    """
    values = np.asarray(covariate, dtype=np.float64)
    missing = np.isnan(values)
    return np.where(missing, 0.0, values), missing.astype(np.float64)
