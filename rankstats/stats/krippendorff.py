"""Krippendorff's α: reliability of grades by any number of raters, each of whom may have rated some items only."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankstats.errors import RankstatsError
from rankstats.stats.random_blocks import RNG
from rankstats.stats.results import ColumnResult
from rankstats.stats.table_bootstrap import bootstrap_tables, check_table_size, cluster_tables, percentile_ends
from rankstats.stats.validation import check_alpha, check_choice

LEVELS = ("nominal", "ordinal", "interval", "ratio")

_EXACT = 2.0**53

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class KrippendorffAlpha(ColumnResult):
    """Result of `krippendorff_alpha`; array fields have one entry a level of measurement.

    Attributes
    ----------
    level : ndarray of str
        'nominal', 'ordinal', 'interval' or 'ratio'.
    reliability : ndarray
        α: 1 for perfect agreement, 0 for that of grades given at random; NaN where all ratings are one grade.
    low, high : ndarray
        Percentile bootstrap interval of level 1 − alpha; NaN where none was asked for.
    n : int
        Items rated at least twice; others say nothing about agreement.
    ratings : int
        Their ratings.
    raters : int
        Raters who gave one of them.
    alpha : float
        1 − level of the interval.
    """

    level: NDArray[np.str_]
    reliability: Floats
    low: Floats
    high: Floats
    n: int
    ratings: int
    raters: int
    alpha: float


def krippendorff_alpha(
    ratings: ArrayLike,
    *,
    levels: Sequence[str] = ("nominal", "ordinal", "interval"),
    clusters: ArrayLike | None = None,
    alpha: float = 0.05,
    resamples: int = 0,
    rng: RNG = 0,
) -> KrippendorffAlpha:
    """Return Krippendorff's α of any number of raters.

    α = 1 − observed / expected disagreement of pairs of ratings. Two grades disagree by 1 (nominal), by the squared
    number of ratings from one to the other (ordinal), by their squared difference (interval), or by the square of
    their difference over their sum (ratio).

    Parameters
    ----------
    ratings : array_like, shape (n, raters)
        Grades, NaN where a rater did not rate an item.
    levels : sequence of {'nominal', 'ordinal', 'interval', 'ratio'}
        What is computed.
    clusters : array_like, shape (n,), optional
        Labels of items that are resampled together, such as their queries.
    alpha : float
        1 − level of the intervals.
    resamples : int
        Bootstrap resamples of items or clusters; 0 for no interval.
    rng : int, SeedSequence, BitGenerator, Generator or None
        Seed or source of the random numbers.

    Returns
    -------
    KrippendorffAlpha

    Raises
    ------
    RankstatsError
        If an argument is out of range.

    References
    ----------
    Krippendorff 2011 (Computing Krippendorff's alpha-reliability).

    Examples
    --------
    >>> result = krippendorff_alpha([[1, 1, np.nan], [2, 2, 3], [3, 3, 3], [3, 3, 4], [2, 2, 2], [1, 2, 3]])
    >>> dict(zip(result.level.tolist(), result.reliability.round(4).tolist()))
    {'nominal': 0.4227, 'ordinal': 0.6084, 'interval': 0.604}
    """
    for level in levels:
        check_choice("levels", level, LEVELS)
    alpha = check_alpha(alpha)
    array = np.asarray(ratings, dtype=np.float64)
    if array.ndim != 2 or np.isinf(array).any():
        raise RankstatsError(f"ratings have shape {array.shape}; finite grades of shape (items, raters) are expected")
    kept = np.count_nonzero(~np.isnan(array), axis=1) >= 2
    used = array[kept]
    rated = ~np.isnan(used)
    scale = np.unique(used[rated])
    if "ratio" in levels and len(scale) and scale[0] < 0:
        raise RankstatsError(f"grade {scale[0]:g} is below 0; the level 'ratio' is for grades from 0 on")
    tables, unit = _coincidences(used, scale)

    def reliabilities(sums: Floats) -> Floats:
        pairs = sums.reshape(len(sums), len(scale), len(scale)) / unit
        return np.stack([_reliability(pairs, scale, level) for level in levels])

    values = reliabilities(tables.sum(axis=0)[None])[:, 0]
    drawn = bootstrap_tables(cluster_tables(tables, clusters, kept), reliabilities, resamples=resamples, rng=rng)
    ends = [percentile_ends(row, alpha) for row in drawn]
    return KrippendorffAlpha(
        level=np.array(levels, dtype=np.str_),
        reliability=values,
        low=np.array([low for low, _ in ends]),
        high=np.array([high for _, high in ends]),
        n=len(used),
        ratings=int(np.count_nonzero(rated)),
        raters=int(np.count_nonzero(rated.any(axis=0))),
        alpha=alpha,
    )


def _coincidences(ratings: Floats, scale: Floats) -> tuple[Floats, float]:
    """Return for each item how often two grades meet in it, shape (n, g · g), and the unit of these numbers.

    The ordered pairs of an item rated m times count 1/(m − 1) each; the unit makes whole numbers of them, while their
    sums stay exact.
    """
    size = len(scale)
    check_table_size(len(ratings), size)
    counts = np.stack([np.count_nonzero(ratings == grade, axis=1) for grade in scale], axis=1) if size else ratings
    counts = counts.astype(np.float64).reshape(len(ratings), size)
    others = counts.sum(axis=1) - 1
    unit = math.lcm(*np.unique(others).astype(int).tolist())
    if unit * counts.sum() >= _EXACT:
        unit = 1
    pairs = counts[:, :, None] * counts[:, None, :]
    pairs[:, np.arange(size), np.arange(size)] -= counts
    return (pairs * (unit / others)[:, None, None]).reshape(len(ratings), size * size), float(unit)


def _reliability(pairs: Floats, scale: Floats, level: str) -> Floats:
    """Return α of tables of coincidences, shape (b, g, g)."""
    given = pairs.sum(axis=2)
    distance = _distances(given, scale, level)
    observed = (pairs * distance).sum(axis=(1, 2))
    expected = (given[:, :, None] * given[:, None, :] * distance).sum(axis=(1, 2))
    ratio = np.divide(observed, expected, out=np.full(len(pairs), np.nan), where=expected > 0)
    return np.asarray(1 - (given.sum(axis=1) - 1) * ratio)


def _distances(given: Floats, scale: Floats, level: str) -> Floats:
    """Return the squared distances of grades, shape (b or 1, g, g), with how often each was given."""
    if level == "nominal":
        return (1 - np.eye(len(scale)))[None]
    if level == "ordinal":
        # ratings from the middle of one grade to the middle of the other
        middle = np.cumsum(given, axis=1) - given / 2
        return np.asarray((middle[:, :, None] - middle[:, None, :]) ** 2)
    difference = (scale[:, None] - scale) ** 2
    if level == "interval":
        return difference[None]
    total = (scale[:, None] + scale) ** 2
    return np.divide(difference, total, out=np.zeros_like(total), where=total > 0)[None]
