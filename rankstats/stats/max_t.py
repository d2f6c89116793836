"""Bootstrap max-T: one simultaneous test and interval for a family of paired comparisons."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankstats.stats.bootstrap import checked_indices
from rankstats.stats.differences import Differences
from rankstats.stats.flip_readings import column_chunks
from rankstats.stats.moments import CentredMoments, studentised
from rankstats.stats.random_blocks import (
    RNG,
    batches,
    generator_from,
    index_words,
    indices_from_words,
    resample_counts,
)
from rankstats.stats.reading import monte_carlo_p, monte_carlo_rank
from rankstats.stats.results import ColumnResult
from rankstats.stats.validation import check_alpha, check_count

_COLUMNS_AT_ONCE = 512
_BLOCK_ELEMENTS = 1 << 20

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class MaxTResult(ColumnResult):
    """Result of `bootstrap_max_t`; array fields have shape (c,).

    Attributes
    ----------
    estimate : ndarray
        (Weighted) mean difference.
    standard_error : ndarray
        (Linearised) standard error; 0 where all differences are equal, NaN for n < 2.
    statistic : ndarray
        ``estimate / standard_error``; NaN where it is not defined.
    p_adjusted : ndarray
        1 for a column that cannot be studentised, NaN without queries, never 0.
    adjusted_low, adjusted_high : ndarray
        Simultaneous interval of level 1 − alpha; unbounded for a column that cannot be studentised; NaN (no interval)
        where all differences are 0.
    left_out : ndarray of int
        Resamples in which the column had no spread and was left out of the maximum.
    n : ndarray of int
        Queries.
    critical_value : float
        The number of standard errors on either side of every estimate.
    family_size : int
        Columns that took part.
    resamples : int
        Number of resamples B.
    alpha : float
        Level of the family.
    """

    estimate: Floats
    standard_error: Floats
    statistic: Floats
    p_adjusted: Floats
    adjusted_low: Floats
    adjusted_high: Floats
    left_out: NDArray[np.int64]
    n: NDArray[np.int64]
    critical_value: float
    family_size: int
    resamples: int
    alpha: float


def bootstrap_max_t(
    differences: Differences,
    *,
    alpha: float = 0.05,
    resamples: int = 10_000,
    rng: RNG = 0,
    batch: int | None = None,
    indices: ArrayLike | None = None,
) -> MaxTResult:
    """Adjust a family of comparisons by the bootstrap distribution of the largest studentised deviation.

    1. The queries that are present in any column are resampled jointly for all columns.
    2. In each resample t* = |d* − d| / se*, with the standard error recomputed from the resample; the maximum is taken
       over the columns. Where a column has no spread in a resample it is left out of that maximum (and counted).
    3. ``p_adjusted = (b + 1) / (B + 1)``, b counting the resamples whose maximum reaches the column's |d| / se; the
       simultaneous interval is d ± q · se with q the r-th largest maximum, r the largest number for which
       r / (B + 1) ≤ alpha. So p_adjusted ≤ alpha exactly when the interval leaves out 0.

    A column that cannot be studentised (all differences equal, or n < 2) has p_adjusted = 1 and takes no part in the
    maximum. Below about 25 queries the critical value is too large to be of use.

    Parameters
    ----------
    differences : Differences
        n queries, c columns: the members of the family.
    alpha : float
        Level of the family, between 0 and 1.
    resamples : int
        Number of resamples B.
    rng : int, SeedSequence, BitGenerator, Generator or None
        Seed or source of the random words.
    batch : int, optional
        Resamples held in memory at once; no number depends on it.
    indices : array_like of int, shape (B, n), optional
        Resamples to replay instead of drawing: rows counted from 0. Only for columns without absent queries.

    Returns
    -------
    MaxTResult

    Raises
    ------
    RankstatsError
        If an argument is out of range.

    References
    ----------
    Romano & Wolf 2005 (joint resampling, studentised maximum).

    Examples
    --------
    >>> import numpy as np
    >>> from rankstats.stats import paired_differences
    >>> values = np.random.default_rng(1).normal([0.0, 0.0, 1.0], 1.0, size=(50, 3))
    >>> result = bootstrap_max_t(paired_differences(np.zeros(50), values), resamples=999)
    >>> (result.p_adjusted <= 0.05).tolist(), (result.adjusted_low > 0).tolist()
    ([False, False, True], [False, False, True])
    """
    alpha, resamples = check_alpha(alpha), check_count("resamples", resamples)
    replay = None if indices is None else checked_indices(indices, differences)
    resamples = resamples if replay is None else len(replay)
    largest = np.zeros(resamples)
    left_out = np.zeros(differences.n_columns, dtype=np.int64)
    moments = _family_moments(differences)
    rows = np.flatnonzero(differences.present.any(axis=1))
    generator = generator_from(rng)
    for resampled, counts in _joint_counts(
        rows, differences.n_rows, resamples, generator=generator, batch=batch, replay=replay
    ):
        for columns, part in moments:
            deviation, variance = part.deviation_and_variance(counts)
            spread = variance > 0
            ratio = studentised(np.abs(deviation, out=deviation), variance, spread, 0.0)
            largest[resampled] = np.maximum(largest[resampled], ratio.max(axis=1))
            left_out[columns] += len(spread) - np.count_nonzero(spread, axis=0)
    return read_family(differences, np.sort(largest), left_out, alpha)


def _family_moments(differences: Differences) -> list[tuple[NDArray[np.int64], CentredMoments]]:
    testable = np.flatnonzero(differences.standard_error > 0)
    rows = np.flatnonzero(differences.present.any(axis=1))
    return [
        (chunk, CentredMoments.of(differences.select(chunk), len(rows)).restricted(rows))
        for chunk in column_chunks(testable, _COLUMNS_AT_ONCE)
    ]


def _joint_counts(
    rows: NDArray[np.int64],
    n_rows: int,
    resamples: int,
    *,
    generator: np.random.Generator,
    batch: int | None,
    replay: NDArray[np.int64] | None,
) -> Iterator[tuple[slice, Floats]]:
    """Yield blocks of how often each of `rows` was drawn, small enough for the arrays of all columns' statistics."""
    n = len(rows)
    size = batch or max(1, min(1024, _BLOCK_ELEMENTS // max(n, 1)))
    if replay is not None:
        for start, stop in batches(resamples, n_rows, size):
            yield slice(start, stop), resample_counts(replay[start:stop], n_rows)
        return
    for resampled, words in index_words(generator, n_rows, resamples, size):
        yield resampled, resample_counts(indices_from_words(words, n), n)


def read_family(differences: Differences, ordered: Floats, left_out: NDArray[np.int64], alpha: float) -> MaxTResult:
    """Read the family off the largest statistics of its resamples, ascending; `left_out` counts as in the result."""
    resamples, estimate, error = len(ordered), differences.mean, differences.standard_error
    rank = monte_carlo_rank(alpha, resamples)
    critical = float(ordered[resamples - rank]) if rank else np.inf
    testable = error > 0
    size = np.abs(estimate)
    count = np.full(len(estimate), resamples)
    # products rather than quotients on both sides, so that p and interval decide by the same numbers
    for column in np.flatnonzero(testable):
        count[column] = resamples - np.searchsorted(ordered * error[column], size[column], side="left")
    with np.errstate(invalid="ignore"):  # an unbounded critical value times a standard error of 0
        width = np.where(testable, critical * error, np.inf)
    zero = ~np.any(differences.integers != 0, axis=0)
    return MaxTResult(
        estimate=estimate,
        standard_error=error,
        statistic=np.divide(estimate, error, out=np.full(len(estimate), np.nan), where=testable),
        p_adjusted=np.where(differences.n > 0, monte_carlo_p(count, resamples), np.nan),
        adjusted_low=np.where(zero, np.nan, estimate - width),
        adjusted_high=np.where(zero, np.nan, estimate + width),
        left_out=left_out,
        n=differences.n,
        critical_value=critical,
        family_size=int(np.count_nonzero(testable)),
        resamples=resamples,
        alpha=alpha,
    )
