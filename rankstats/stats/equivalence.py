"""Equivalence and non-inferiority: one-sided tests at a margin, and the intervals that decide the same way."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankstats.errors import RankstatsError
from rankstats.stats.classical import mean_interval, paired_t
from rankstats.stats.differences import Differences, paired_differences
from rankstats.stats.effects import relative_difference
from rankstats.stats.margin_flips import MarginReadings, read_margins
from rankstats.stats.random_blocks import RNG, generator_from
from rankstats.stats.reading import adjusted_p
from rankstats.stats.results import ColumnResult
from rankstats.stats.validation import check_alpha, check_choice, check_count, check_family_size

MARGIN_TESTS = ("randomisation", "t")

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class EquivalenceResult(ColumnResult):
    """Result of `equivalence_test`; array fields have shape (c,).

    Attributes
    ----------
    estimate : ndarray
        (Weighted) mean difference; with `relative_to` the relative difference, a fraction.
    margin : ndarray
        The margin, on the scale of the estimate.
    p_lower, p_upper : ndarray
        One-sided p-values of 'not below −margin' and 'not above margin'.
    p_value : ndarray
        The larger of the two; never 0.
    low, high : ndarray
        Interval of level 1 − 2 alpha: inside ±margin (ends excluded) exactly when p ≤ alpha. NaN where undefined.
    p_adjusted, adjusted_low, adjusted_high : ndarray
        Bonferroni over `family_size`.
    equivalent : ndarray of bool
        Whether p ≤ alpha.
    n : ndarray of int
        Queries.
    family_size : ndarray of int
        Comparisons that the adjustment covers.
    alpha : float
        Level of each one-sided test.
    test : str
        'randomisation' or 't'.
    relative : bool
        Whether margin, estimate and interval are fractions of the baseline's mean.
    """

    estimate: Floats
    margin: Floats
    p_lower: Floats
    p_upper: Floats
    p_value: Floats
    low: Floats
    high: Floats
    p_adjusted: Floats
    adjusted_low: Floats
    adjusted_high: Floats
    equivalent: NDArray[np.bool_]
    n: NDArray[np.int64]
    family_size: NDArray[np.int64]
    alpha: float
    test: str
    relative: bool


@dataclass(frozen=True, slots=True, eq=False)
class NoninferiorityResult(ColumnResult):
    """Result of `noninferiority_test`; array fields have shape (c,).

    Attributes
    ----------
    estimate : ndarray
        (Weighted) mean difference; with `relative_to` the relative difference, a fraction.
    margin : ndarray
        The tolerated loss, on the scale of the estimate.
    p_value : ndarray
        Of 'no worse than the margin'; never 0.
    low, high : ndarray
        One-sided interval of level 1 − alpha: beyond the margin exactly when p ≤ alpha. NaN where undefined.
    p_adjusted, adjusted_low, adjusted_high : ndarray
        Bonferroni over `family_size`.
    noninferior : ndarray of bool
        Whether p ≤ alpha.
    n : ndarray of int
        Queries.
    family_size : ndarray of int
        Comparisons that the adjustment covers.
    alpha : float
        Level.
    alternative : str
        'greater' where higher values are better, 'less' where lower ones are.
    test : str
        'randomisation' or 't'.
    relative : bool
        Whether margin, estimate and interval are fractions of the baseline's mean.
    """

    estimate: Floats
    margin: Floats
    p_value: Floats
    low: Floats
    high: Floats
    p_adjusted: Floats
    adjusted_low: Floats
    adjusted_high: Floats
    noninferior: NDArray[np.bool_]
    n: NDArray[np.int64]
    family_size: NDArray[np.int64]
    alpha: float
    alternative: str
    test: str
    relative: bool


def equivalence_test(
    differences: Differences,
    margin: ArrayLike,
    *,
    relative_to: ArrayLike | None = None,
    test: str = "randomisation",
    alpha: float = 0.05,
    resamples: int = 10_000,
    rng: RNG = 0,
    family_size: ArrayLike = 1,
    batch: int | None = None,
) -> EquivalenceResult:
    """Test that a mean difference lies within ±margin, by two one-sided tests (TOST).

    1. p_lower tests difference > −margin, p_upper difference < margin; p is the larger. The interval joins the two
       one-sided intervals of level 1 − alpha, so its level is 1 − 2 alpha, and p ≤ alpha exactly when it lies inside
       ±margin.
    2. 't': paired t tests of the differences moved by the margin; where all differences are equal there is no estimate
       of spread, p = 1 and the interval is unbounded (null where all are 0).
    3. 'randomisation': the differences moved by the margin have their signs flipped; a pattern reaches the observed
       sum exactly when the mean of its flipped set is at or beyond the margin. So one array of set means gives p on
       both sides and, as its order statistics, the interval. Up to 16 queries all patterns, else B random ones.
    4. Relative margin: the differences are moved by margin × |baseline| query by query, which tests the ratio of means
       with the baseline's own uncertainty. Interval: Fieller's for 't', order statistics of the sets' ratios for
       'randomisation'. Undefined (NaN, not equivalent) where the baseline's mean cannot be told from 0.

    Parameters
    ----------
    differences : Differences
        n queries, c columns.
    margin : float or array_like, shape (c,)
        More than 0; set before the data are seen.
    relative_to : array_like, shape (n,) or (n, c), optional
        The baseline's values; the margin is then a fraction of their (weighted) mean. For 'randomisation' they must
        not differ in sign.
    test : {'randomisation', 't'}
        Which test.
    alpha : float
        Level of each one-sided test, between 0 and 0.5.
    resamples : int
        Sign patterns drawn where not all are enumerated.
    rng : int, SeedSequence, BitGenerator, Generator or None
        Seed or source of the random bits.
    family_size : int or array_like of int, shape (c,)
        Comparisons for Bonferroni's adjustment.
    batch : int, optional
        Sign patterns held in memory at once; no number depends on it.

    Returns
    -------
    EquivalenceResult

    Raises
    ------
    RankstatsError
        If an argument is out of range.

    References
    ----------
    Schuirmann 1987; Hartigan 1969 (typical values); Fieller 1954.

    Examples
    --------
    >>> from rankstats.stats import paired_differences
    >>> d = paired_differences([0.31, 0.52, 0.11, 0.75, 0.4, 0.6], [0.33, 0.51, 0.12, 0.74, 0.42, 0.59])
    >>> result = equivalence_test(d, 0.03)
    >>> result.equivalent.tolist(), result.p_value.tolist(), result.low.round(3).tolist(), result.high.round(3).tolist()
    ([True], [0.015625], [-0.01], [0.02])
    """
    asked = _asked(margin, relative_to, differences, test=test, alpha=alpha, family_size=family_size, least=0.0)
    if np.any(asked.margin == 0):
        raise RankstatsError("margin = 0: equivalence needs a margin of more than 0")
    readings = _read(differences, asked, check_count("resamples", resamples), rng, batch)
    p_value = np.maximum(readings.p_lower, readings.p_upper)
    with np.errstate(invalid="ignore"):  # undefined columns are NaN
        equivalent = p_value <= asked.alpha
    return EquivalenceResult(
        estimate=asked.estimate,
        margin=asked.margin,
        p_lower=readings.p_lower,
        p_upper=readings.p_upper,
        p_value=p_value,
        low=readings.low[0],
        high=readings.high[0],
        p_adjusted=_adjusted(p_value, readings, asked.family),
        adjusted_low=readings.low[1],
        adjusted_high=readings.high[1],
        equivalent=equivalent,
        n=differences.n,
        family_size=asked.family,
        alpha=asked.alpha,
        test=test,
        relative=relative_to is not None,
    )


def noninferiority_test(
    differences: Differences,
    margin: ArrayLike,
    *,
    relative_to: ArrayLike | None = None,
    test: str = "randomisation",
    alpha: float = 0.05,
    alternative: str = "greater",
    resamples: int = 10_000,
    rng: RNG = 0,
    family_size: ArrayLike = 1,
    batch: int | None = None,
) -> NoninferiorityResult:
    """Test that a system is worse than the baseline by less than a margin: one of the two tests of `equivalence_test`.

    Parameters
    ----------
    differences : Differences
        n queries, c columns.
    margin : float or array_like, shape (c,)
        Tolerated loss, 0 or more; with 0 it is the one-sided test of a difference.
    relative_to, test, resamples, rng, family_size, batch
        As in `equivalence_test`.
    alpha : float
        Level of the test, between 0 and 0.5.
    alternative : {'greater', 'less'}
        'greater' tests difference > −margin (higher values are better), 'less' difference < margin.

    Returns
    -------
    NoninferiorityResult

    Raises
    ------
    RankstatsError
        If an argument is out of range.

    Examples
    --------
    >>> from rankstats.stats import paired_differences
    >>> d = paired_differences([0.31, 0.52, 0.11, 0.75, 0.4, 0.6], [0.33, 0.51, 0.12, 0.74, 0.42, 0.59])
    >>> result = noninferiority_test(d, 0.02, test="t")
    >>> result.noninferior.tolist(), result.low.round(3).tolist(), result.high.tolist()
    ([True], [-0.009], [inf])
    """
    check_choice("alternative", alternative, ("greater", "less"))
    asked = _asked(margin, relative_to, differences, test=test, alpha=alpha, family_size=family_size, least=0.0)
    readings = _read(differences, asked, check_count("resamples", resamples), rng, batch)
    higher = alternative == "greater"
    p_value = readings.p_lower if higher else readings.p_upper
    unbounded = np.where(np.isnan(readings.low), np.nan, np.inf)
    low, high = (readings.low, unbounded) if higher else (-unbounded, readings.high)
    with np.errstate(invalid="ignore"):  # undefined columns are NaN
        noninferior = p_value <= asked.alpha
    return NoninferiorityResult(
        estimate=asked.estimate,
        margin=asked.margin,
        p_value=p_value,
        low=low[0],
        high=high[0],
        p_adjusted=_adjusted(p_value, readings, asked.family),
        adjusted_low=low[1],
        adjusted_high=high[1],
        noninferior=noninferior,
        n=differences.n,
        family_size=asked.family,
        alpha=asked.alpha,
        alternative=alternative,
        test=test,
        relative=relative_to is not None,
    )


@dataclass(frozen=True, slots=True)
class _Asked:
    """The checked question: margins, levels, and the baseline's values where the margin is relative to them."""

    margin: Floats
    alpha: float
    family: NDArray[np.int64]
    test: str
    estimate: Floats
    base: Floats | None
    """Baseline values turned so that their mean is positive, shape (n, c)."""


def _asked(
    margin: ArrayLike,
    relative_to: ArrayLike | None,
    differences: Differences,
    *,
    test: str,
    alpha: float,
    family_size: ArrayLike,
    least: float,
) -> _Asked:
    check_choice("test", test, MARGIN_TESTS)
    if not check_alpha(alpha) < 0.5:
        raise RankstatsError(f"alpha = {alpha!r}: the level of a one-sided test at a margin lies between 0 and 0.5")
    margins = np.asarray(margin, dtype=np.float64)
    if margins.shape not in ((), (differences.n_columns,)) or not np.all(np.isfinite(margins) & (margins >= least)):
        raise RankstatsError(
            f"margin: one finite number of at least 0, or one for each of the {differences.n_columns} columns, is "
            "expected; give the size of the tolerated difference without a sign"
        )
    margins = np.broadcast_to(margins, (differences.n_columns,)).copy()
    family = check_family_size(family_size, differences.n_columns)
    if relative_to is None:
        return _Asked(margins, float(alpha), family, test, differences.mean, None)
    base = _turned_baseline(relative_to, differences)
    level = paired_differences(np.zeros(base.shape), base, differences.weights).mean
    estimate = np.divide(differences.mean, level, out=np.full(len(level), np.nan), where=level > 0)
    return _Asked(margins, float(alpha), family, test, estimate, base)


def _adjusted(p_value: Floats, readings: MarginReadings, family: NDArray[np.int64]) -> Floats:
    # at the family's level the baseline's mean may no longer be told from 0
    undefined = np.isnan(readings.low[1]) & (p_value < 1)
    return np.where(undefined, np.nan, adjusted_p(p_value, family))


def _turned_baseline(relative_to: ArrayLike, differences: Differences) -> Floats:
    values = np.asarray(relative_to, dtype=np.float64)
    values = values[:, None] if values.ndim == 1 else values
    if values.ndim != 2 or len(values) != differences.n_rows or values.shape[1] not in (1, differences.n_columns):
        raise RankstatsError(
            f"relative_to has shape {np.shape(relative_to)}; the baseline's values of {differences.n_rows} queries and "
            f"1 or {differences.n_columns} columns are expected"
        )
    values = np.where(differences.present, values, np.nan)
    if np.any(np.isnan(values) & differences.present):
        raise RankstatsError(
            "relative_to is not defined for queries that have a difference; give the baseline's values"
        )
    mean = paired_differences(np.zeros(values.shape), values, differences.weights).mean
    return np.asarray(values * np.where(mean < 0, -1.0, 1.0))


def _read(differences: Differences, asked: _Asked, resamples: int, rng: RNG, batch: int | None) -> MarginReadings:
    batch = None if batch is None else check_count("batch", batch)
    generator = generator_from(rng)
    if asked.test == "t":
        return _read_t(differences, asked)
    base = (
        None if asked.base is None else paired_differences(np.zeros(asked.base.shape), asked.base, differences.weights)
    )
    if base is not None and np.any(base.integers < 0):
        raise RankstatsError(
            "relative_to holds values of both signs: the randomisation test at a relative margin needs values of one "
            "sign; use test='t' or an absolute margin"
        )
    return read_margins(
        differences,
        base,
        asked.margin,
        alpha=asked.alpha,
        family=asked.family,
        resamples=resamples,
        generator=generator,
        batch=batch,
    )


def _read_t(differences: Differences, asked: _Asked) -> MarginReadings:
    moved = np.where(differences.present, asked.margin * (1.0 if asked.base is None else asked.base), np.nan)
    values, zeros = differences.values, np.zeros(moved.shape)
    p_lower, p_upper = (
        paired_t(paired_differences(zeros, moved + sign * values, differences.weights), alternative="greater").p_value
        for sign in (1.0, -1.0)
    )
    sizes = np.stack([np.ones_like(asked.family), asked.family])
    low, high = np.full(sizes.shape, np.nan), np.full(sizes.shape, np.nan)
    for size in np.unique(sizes):
        ends = _t_ends(differences, asked.base, asked.alpha / int(size))
        low, high = np.where(sizes == size, ends[0], low), np.where(sizes == size, ends[1], high)
    if asked.base is not None:
        p_lower, p_upper = (np.where(np.isnan(low[0]), np.nan, p) for p in (p_lower, p_upper))
    return MarginReadings(p_lower, p_upper, low, high).agreeing(asked.margin, asked.alpha, sizes)


def _t_ends(differences: Differences, base: Floats | None, alpha: float) -> tuple[Floats, Floats]:
    if base is None:
        low = paired_t(differences, alpha=alpha, alternative="greater").low
        return low, paired_t(differences, alpha=alpha, alternative="less").high
    ratio = relative_difference(base, base + differences.values, differences.weights, alpha=2 * alpha)
    # without spread in either there is nothing to judge by
    level = mean_interval(base, differences.weights, alpha=2 * alpha)
    known = ~((level.standard_error == 0) & (differences.standard_error == 0))
    return np.where(known, ratio.low, np.nan), np.where(known, ratio.high, np.nan)
