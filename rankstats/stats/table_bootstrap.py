"""Bootstrap of statistics that are functions of one table of counts, and ends of intervals from resampled values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankstats.errors import RankstatsError
from rankstats.stats.quantiles import quantile_at
from rankstats.stats.random_blocks import RNG, batches, generator_from
from rankstats.stats.resampling import label_codes
from rankstats.stats.validation import check_count

_ELEMENTS = 1 << 21
_LARGEST = 1 << 28

Floats = NDArray[np.float64]


def bootstrap_tables(tables: Floats, statistics: Callable[[Floats], Floats], *, resamples: int, rng: RNG = 0) -> Floats:
    """Resample tables with replacement and return statistics of their sums.

    Equal tables are drawn together, so that the order of items plays no part and very many of them cost no more than a
    few: how often each of m different tables is drawn has a multinomial distribution.

    Parameters
    ----------
    tables : ndarray, shape (n, k)
        One table an item or cluster; whole numbers, so that sums are exact.
    statistics : callable
        From sums of shape (b, k) to values of shape (s, b).
    resamples : int
        Number of resamples B; 0 for none.
    rng : int, SeedSequence, BitGenerator, Generator or None
        Seed or source of the random numbers.

    Returns
    -------
    ndarray, shape (s, B)

    Examples
    --------
    >>> drawn = bootstrap_tables(np.array([[0.0], [1.0]]), lambda sums: sums.T / 2, resamples=999)
    >>> drawn.shape, np.unique(drawn).tolist()
    ((1, 999), [0.0, 0.5, 1.0])
    """
    resamples = check_count("resamples", resamples, 0)
    if not len(tables) or not resamples:
        return statistics(np.zeros((0, tables.shape[1])))
    generator = generator_from(rng)
    different, count = np.unique(tables, axis=0, return_counts=True)
    width = max(different.shape)
    parts = []
    for start, stop in batches(resamples, width, max(1, _ELEMENTS // width)):
        drawn = generator.multinomial(len(tables), count / len(tables), size=stop - start)
        parts.append(statistics(drawn.astype(np.float64) @ different))
    return np.concatenate(parts, axis=1)


def check_table_size(n_items: int, n_grades: int) -> None:
    """Raise where one table of grades an item does not fit into memory."""
    if n_items * n_grades**2 > _LARGEST:
        raise RankstatsError(
            f"{n_grades:,} different grades of {n_items:,} items need too much memory; round the grades to fewer"
        )


def percentile_ends(values: Floats, alpha: float) -> tuple[float, float]:
    """Return the percentile interval of resampled values, NaN where there are none; undefined ones are left out.

    Examples
    --------
    >>> percentile_ends(np.array([0.1, 0.2, np.nan, 0.3, 0.4, 0.5]), 0.5)
    (0.2, 0.4)
    """
    ordered = np.sort(values[~np.isnan(values)])
    if not len(ordered):
        return np.nan, np.nan
    low, high = (float(quantile_at(ordered[None], np.array([at]))[0]) for at in (alpha / 2, 1 - alpha / 2))
    return low, high


def reflected_ends(values: Floats, estimate: float, alpha: float) -> tuple[float, float]:
    """Return the interval of a correlation that takes in the percentiles and their reflections at the estimate.

    Examples
    --------
    >>> reflected_ends(np.array([0.25, 0.5, 0.5, 0.75, 0.75]), 0.75, 0.5)
    (0.5, 1.0)
    """
    low, high = percentile_ends(values, alpha)
    if np.isnan(low) or np.isnan(estimate):
        return np.nan, np.nan
    return max(-1.0, min(low, 2 * estimate - high)), min(1.0, max(high, 2 * estimate - low))


def cluster_tables(tables: Floats, clusters: ArrayLike | None, kept: NDArray[np.bool_]) -> Floats:
    """Add up the tables of the kept items within each cluster; without clusters every item stands for itself.

    Parameters
    ----------
    tables : ndarray, shape (kept items, k)
        One table a kept item.
    clusters : array_like, shape (n,), or None
        A label for every item.
    kept : ndarray of bool, shape (n,)
        Items that have a table.
    """
    if clusters is None:
        return tables
    codes = label_codes(clusters, len(kept), "clusters")[kept]
    used, codes = np.unique(codes, return_inverse=True)
    sums = np.zeros((len(used), tables.shape[1]))
    np.add.at(sums, codes, tables)
    return sums
