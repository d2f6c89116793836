"""Paired bootstrap of mean differences: shifted test, its dual interval, and the distribution for display."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankstats.stats.differences import Differences
from rankstats.stats.flip_readings import TOLERANCE, column_chunks
from rankstats.stats.random_blocks import RNG, replayed
from rankstats.stats.ratios import mean_ratios
from rankstats.stats.reading import adjusted_p, largest_at, monte_carlo_p, monte_carlo_rank
from rankstats.stats.resampled_ratios import mean_and_deviation, resampled_ratios
from rankstats.stats.resampling import Resampling
from rankstats.stats.resampling import checked_indices as indices_of_rows
from rankstats.stats.results import ColumnResult
from rankstats.stats.validation import ALTERNATIVES, check_alpha, check_choice, check_count, check_family_size

_COLUMNS_AT_ONCE = 256

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class BootstrapResult(ColumnResult):
    """Result of `paired_bootstrap`; array fields have shape (c,) unless said otherwise.

    Attributes
    ----------
    estimate : ndarray
        (Weighted) mean difference.
    standard_error : ndarray
        Standard deviation of the resampled means (denominator B − 1).
    p_value : ndarray
        1 where all differences are equal, NaN without queries, never 0.
    low, high : ndarray
        Interval of level 1 − alpha; unbounded where all differences are equal, NaN (no interval) where all are 0.
    p_adjusted, adjusted_low, adjusted_high : ndarray
        Bonferroni over `family_size`, from the same resamples.
    edges : ndarray, shape (c, bins + 1)
        Edges of the histogram of the resampled means.
    counts : ndarray of int, shape (c, bins)
        Resamples in each bin.
    n : ndarray of int
        Queries.
    family_size : ndarray of int
        Comparisons that the adjustment covers.
    resamples : int
        Number of resamples B.
    alpha : float
        Level.
    alternative : str
        'two-sided', 'greater' or 'less'.
    """

    estimate: Floats
    standard_error: Floats
    p_value: Floats
    low: Floats
    high: Floats
    p_adjusted: Floats
    adjusted_low: Floats
    adjusted_high: Floats
    edges: Floats
    counts: NDArray[np.int64]
    n: NDArray[np.int64]
    family_size: NDArray[np.int64]
    resamples: int
    alpha: float
    alternative: str


def paired_bootstrap(
    differences: Differences,
    *,
    alpha: float = 0.05,
    resamples: int = 10_000,
    rng: RNG = 0,
    alternative: str = "two-sided",
    family_size: ArrayLike = 1,
    batch: int | None = None,
    bins: int = 60,
    scheme: str = "rows",
    strata: ArrayLike | None = None,
    indices: ArrayLike | None = None,
    counts: ArrayLike | None = None,
) -> BootstrapResult:
    """Resample whole queries with replacement; test the mean difference by shifting, with the dual interval.

    1. Each resample draws as many queries as the column has (with their weights) and gives d* = Σwd / Σw.
    2. b counts resamples with ``|d* − d| >= |d|``; p = (b + 1) / (B + 1). Deviations that differ from ``|d|`` by at
       most 1e-9 · Σ|wd| / Σw, or by no more than rounding to whole units explains, are equal to it.
    3. The interval is d ± q, q the r-th largest ``|d* − d|`` r the largest number for which r / (B + 1) ≤ alpha, so
       p ≤ alpha exactly when the interval leaves out 0. One-sided: the same with d* − d and one end.

    Where all differences are equal and not 0, resampling shows no spread and tests nothing: p = 1 and the interval is
    unbounded.

    All columns share one block of random words; columns with the same queries share their resamples. A column with n
    queries uses the first n words of each resample.

    Parameters
    ----------
    differences : Differences
        n queries, c columns; or whole clusters made by `cluster_sums`.
    alpha : float
        Level of test and interval, between 0 and 1.
    resamples : int
        Number of resamples B.
    rng : int, SeedSequence, BitGenerator, Generator or None
        Seed or source of the random words.
    alternative : {'two-sided', 'greater', 'less'}
        'greater' tests for a positive mean difference.
    family_size : int or array_like of int, shape (c,)
        Comparisons for Bonferroni's adjustment.
    batch : int, optional
        Resamples held in memory at once; no number depends on it.
    bins : int
        Bins of the histogram.
    scheme : {'rows', 'poisson'}
        Draw n queries with replacement, or count each query a Poisson(1) number of times, which takes a fraction of
        the time and memory for very many queries.
    strata : array_like, shape (n,), optional
        Labels within which queries are resampled ('rows' only).
    indices : array_like of int, shape (B, n), optional
        Resamples to replay instead of drawing: rows counted from 0. Only for columns without absent queries.
    counts : array_like of int, shape (B, n), optional
        Resamples to replay, as how often each query counts.

    Returns
    -------
    BootstrapResult

    Raises
    ------
    RankstatsError
        If an argument is out of range.

    References
    ----------
    Efron & Tibshirani 1993, section 16.4 (shifted test); Sakai 2006 (paired bootstrap in IR).

    Examples
    --------
    >>> from rankstats.stats import paired_differences
    >>> d = paired_differences([0.1, 0.2, 0.4, 0.3], [0.3, 0.3, 0.5, 0.7])
    >>> result = paired_bootstrap(d, resamples=999)
    >>> result.p_value.round(3).tolist(), bool(result.low[0] > 0), int(result.counts.sum())
    ([0.003], True, 999)
    """
    alpha, bins = check_alpha(alpha), check_count("bins", bins)
    check_choice("alternative", alternative, ALTERNATIVES)
    family = check_family_size(family_size, differences.n_columns)
    resampling = Resampling.of(
        differences.present,
        resamples=resamples,
        rng=rng,
        batch=batch,
        scheme=scheme,
        strata=strata,
        indices=indices,
        counts=counts,
    )
    error, p_value, lows, highs, edges, in_bins = _resample_all(
        differences, resampling, bins, alpha=alpha, family=family, alternative=alternative
    )
    return BootstrapResult(
        estimate=differences.mean,
        standard_error=error,
        p_value=p_value,
        low=lows[0],
        high=highs[0],
        p_adjusted=adjusted_p(p_value, family),
        adjusted_low=lows[1],
        adjusted_high=highs[1],
        edges=edges,
        counts=in_bins,
        n=differences.n,
        family_size=family,
        resamples=resampling.resamples,
        alpha=alpha,
        alternative=alternative,
    )


def _resample_all(
    differences: Differences,
    resampling: Resampling,
    bins: int,
    *,
    alpha: float,
    family: NDArray[np.int64],
    alternative: str,
) -> tuple[Floats, Floats, Floats, Floats, Floats, NDArray[np.int64]]:
    """Return standard errors, p-values, ends of shape (2, c), edges and counts, by pieces of the columns."""
    n_columns = differences.n_columns
    p_value, error = np.empty(n_columns), np.empty(n_columns)
    lows, highs = np.empty((2, n_columns)), np.empty((2, n_columns))
    edges, counts = np.empty((n_columns, bins + 1)), np.empty((n_columns, bins), dtype=np.int64)
    chunks = column_chunks(np.arange(n_columns), _COLUMNS_AT_ONCE)
    for number, chunk in enumerate(chunks):
        source = resampling.generator if number == len(chunks) - 1 else replayed(resampling.generator)
        chosen = differences.select(chunk)
        means = resampled_ratios(mean_ratios(chosen), replace(resampling, generator=source)).values
        error[chunk] = mean_and_deviation(means)[1]
        p_value[chunk], lows[:, chunk], highs[:, chunk] = _read(chosen, means, alpha, family[chunk], alternative)
        edges[chunk], counts[chunk] = _histograms(means, bins)
    return error, p_value, lows, highs, edges, counts


def checked_indices(indices: ArrayLike, differences: Differences) -> NDArray[np.int64]:
    """Return resamples to replay, shape (B, n), or raise where they do not fit the differences."""
    return indices_of_rows(indices, differences.present)


def _read(
    differences: Differences, means: Floats, alpha: float, family: NDArray[np.int64], alternative: str
) -> tuple[Floats, Floats, Floats]:
    """Return p-values, shape (c,), and lower and upper ends, plain and adjusted, shape (2, c)."""
    resamples = means.shape[1]
    estimate = differences.mean
    oriented = -estimate if alternative == "less" else np.abs(estimate) if alternative == "two-sided" else estimate
    # a resample without any weight is as extreme as can be
    deviations = np.where(np.isnan(means), np.inf, means - estimate[:, None])
    deviations = np.abs(deviations) if alternative == "two-sided" else deviations
    deviations = np.where(np.isnan(means), np.inf, -deviations) if alternative == "less" else deviations
    size = np.abs(differences.numerators).sum(axis=0) * differences.numerator_unit
    # rounding moves the mean of a resample, and twice the mean that it is compared with
    noise = np.maximum(TOLERANCE * size, 3 * differences.rounding * differences.numerator_unit)
    tolerance = np.divide(noise, differences.total_weight, out=np.zeros(len(size)), where=size > 0)
    equal = np.abs(deviations - oriented[:, None]) <= tolerance[:, None]
    deviations = np.where(equal, oriented[:, None], deviations)
    count = np.count_nonzero(deviations >= oriented[:, None], axis=1)
    ranks = np.array(
        [
            [monte_carlo_rank(alpha, resamples)] * len(family),
            [monte_carlo_rank(alpha, resamples, int(m)) for m in family],
        ]
    )
    widths = largest_at(deviations, ranks)
    none, constant = size == 0, differences.constant
    widths = np.where(constant, np.inf, widths)
    p_value = np.where(constant, 1.0, monte_carlo_p(count, resamples))
    lows = np.full(ranks.shape, -np.inf) if alternative == "less" else estimate - widths
    highs = np.full(ranks.shape, np.inf) if alternative == "greater" else estimate + widths
    return (
        np.where(differences.n > 0, p_value, np.nan),
        np.where(none, np.nan, lows),
        np.where(none, np.nan, highs),
    )


def _histograms(means: Floats, bins: int) -> tuple[Floats, NDArray[np.int64]]:
    """Return edges, shape (c, bins + 1), and counts, shape (c, bins); wider than a point where all means are equal."""
    lowest = np.nan_to_num(np.fmin.reduce(means, axis=1))
    highest = np.nan_to_num(np.fmax.reduce(means, axis=1))
    flat = lowest == highest
    half = np.where(flat, np.maximum(0.5, 1e-6 * np.abs(lowest)), 0.0)
    lowest, highest = lowest - half, highest + half
    edges = np.linspace(lowest, highest, bins + 1, axis=1)
    position = (means - lowest[:, None]) / (highest - lowest)[:, None] * bins
    defined = ~np.isnan(position)
    place = np.clip(np.nan_to_num(position), 0, bins - 1).astype(np.int64)
    place += np.arange(len(means))[:, None] * bins
    counts = np.bincount(place[defined], minlength=len(means) * bins)
    return edges, counts.reshape(len(means), bins)
