"""Max-T by joint sign flips: one simultaneous test for a family of paired comparisons, single-step and step-down."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankstats.stats.classical import agreeing_ends
from rankstats.stats.differences import Differences
from rankstats.stats.flip_readings import column_chunks
from rankstats.stats.joint_flips import JointSigns, flip_ends, inverse_root, slack
from rankstats.stats.products import product
from rankstats.stats.random_blocks import RNG, generator_from
from rankstats.stats.results import ColumnResult
from rankstats.stats.validation import check_alpha, check_count

_COLUMNS_AT_ONCE = 1024
"""Few large matrix products: where cores are busy, threads wait long for each other in every small one."""

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class FlipMaxTResult(ColumnResult):
    """Result of `flip_max_t`; array fields have shape (c,).

    Attributes
    ----------
    estimate : ndarray
        (Weighted) mean difference.
    statistic : ndarray
        ``Σwd / √Σ(wd)²``; NaN where all differences are 0.
    p_value : ndarray
        Of each column by itself, from the same sign patterns; equal to `sign_flip_test`'s where both enumerate or
        both draw. 1 where all differences are 0, NaN without queries, never 0.
    p_adjusted : ndarray
        Single-step: never below `p_value`, matched to the interval.
    p_stepdown : ndarray
        Step-down: between `p_value` and `p_adjusted`; it has no interval.
    adjusted_low, adjusted_high : ndarray
        Simultaneous interval of level 1 − alpha; infinite where unbounded; NaN (no interval) where all differences
        are 0.
    n : ndarray of int
        Queries.
    critical_value : float
        What the absolute statistic has to pass; infinite where no p-value can reach alpha.
    family_size : int
        Columns that took part.
    exact : bool
        Whether all sign patterns were enumerated.
    patterns : int
        2**k for k queries that differ in any column, or the number drawn.
    alpha : float
        Level of the family.
    """

    estimate: Floats
    statistic: Floats
    p_value: Floats
    p_adjusted: Floats
    p_stepdown: Floats
    adjusted_low: Floats
    adjusted_high: Floats
    n: Counts
    critical_value: float
    family_size: int
    exact: bool
    patterns: int
    alpha: float


def flip_max_t(
    differences: Differences,
    *,
    alpha: float = 0.05,
    resamples: int = 10_000,
    rng: RNG = 0,
    batch: int | None = None,
) -> FlipMaxTResult:
    """Adjust a family of comparisons by the largest statistic under joint sign flips.

    1. A sign pattern flips whole queries, in all columns together. The statistic of a column is |Σwd| / √Σ(wd)²; its
       denominator is the same under every flip. Up to 16 queries that differ in any column, all M = 2**k patterns are
       enumerated; otherwise B patterns are drawn.
    2. *Single-step*: b counts the patterns whose maximum over all columns reaches the column's observed statistic;
       p_adjusted = b / M, drawn (b + 1) / (B + 1). Statistics that differ by less than 3e-9 · Σ|wd| / √Σ(wd)², or by
       no more than rounding to whole units explains, are equal.
    3. *Step-down*: the maximum is taken only over the columns whose observed statistic is no larger; p-values are then
       made ascending from the largest statistic to the smallest.
    4. The critical value c is the order statistic of the maxima after the largest count for which p ≤ alpha. The
       interval holds the θ with |Σw(d − θ)| ≤ c · √Σw²(d − θ)². So p_adjusted ≤ alpha exactly when it leaves out 0.

    The level is exact when the vector of differences is jointly symmetric about 0 (for a single comparison: when the
    two systems are exchangeable within every query); for centred but skewed differences the test is liberal.

    A column of which all differences are 0 has p = 1 and takes no part in the maximum.

    Parameters
    ----------
    differences : Differences
        n queries, c columns: the members of the family.
    alpha : float
        Level of the family, between 0 and 1.
    resamples : int
        Sign patterns drawn where not all are enumerated.
    rng : int, SeedSequence, BitGenerator, Generator or None
        Seed or source of the random bits; the bits of a query depend on its position only.
    batch : int, optional
        Sign patterns held in memory at once; no number depends on it.

    Returns
    -------
    FlipMaxTResult

    Raises
    ------
    RankstatsError
        If alpha, resamples or batch are out of range.

    References
    ----------
    Westfall & Young 1993 (single-step and step-down maxT); Ge, Dudoit & Speed 2003; multtest's ``mt.maxT``.

    Examples
    --------
    >>> import numpy as np
    >>> from rankstats.stats import paired_differences
    >>> systems = np.array([[0.2, 0.5], [0.3, 0.4], [0.1, 0.6], [0.4, 0.5], [0.1, 0.4], [0.3, 0.6]])
    >>> result = flip_max_t(paired_differences([0.2] * 6, systems), alpha=0.1)
    >>> result.p_adjusted.tolist(), result.p_stepdown.tolist(), (result.adjusted_low > 0).tolist()
    ([0.875, 0.03125], [0.75, 0.03125], [False, True])
    """
    alpha, resamples = check_alpha(alpha), check_count("resamples", resamples)
    batch = None if batch is None else check_count("batch", batch)
    numerators = differences.numerators
    inverse = inverse_root(numerators)
    signs = JointSigns.of(np.any(numerators != 0, axis=1), resamples)
    statistic = numerators.sum(axis=0) * inverse
    thresholds = np.abs(statistic) - slack(differences, inverse)
    tally = _Tally.of(numerators, inverse, thresholds, signs, signs.blocks(generator_from(rng), batch))
    critical = signs.critical_value(tally.largest, alpha)
    none = np.where(differences.n > 0, 1.0, np.nan)
    p_value, p_adjusted, p_stepdown = (
        np.where(inverse > 0, signs.p_value(count), none) for count in (tally.alone, tally.single, tally.stepdown)
    )
    estimate = differences.mean
    low, high = agreeing_ends(p_adjusted <= alpha, estimate, *flip_ends(differences, critical))
    return FlipMaxTResult(
        estimate=estimate,
        statistic=np.where(inverse > 0, statistic, np.nan),
        p_value=p_value,
        p_adjusted=p_adjusted,
        p_stepdown=p_stepdown,
        adjusted_low=low,
        adjusted_high=high,
        n=differences.n,
        critical_value=critical,
        family_size=int(np.count_nonzero(inverse)),
        exact=signs.exact,
        patterns=signs.patterns,
        alpha=alpha,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Tally:
    """How many patterns reach each column's threshold, shape (c,), and the maximum of each pattern, ascending."""

    alone: Counts
    single: Counts
    stepdown: Counts
    largest: Floats

    @classmethod
    def of(
        cls,
        numerators: Floats,
        inverse: Floats,
        thresholds: Floats,
        signs: JointSigns,
        blocks: Iterator[tuple[slice, Floats]],
    ) -> _Tally:
        """Pass once through the patterns, columns from the smallest threshold to the largest."""
        n_columns = len(inverse)
        alone, stepdown = np.zeros(n_columns, dtype=np.int64), np.zeros(n_columns, dtype=np.int64)
        testable = np.flatnonzero(inverse)
        order = testable[np.argsort(thresholds[testable], kind="stable")]
        # rows of queries, one after another, are what a block of columns is made of
        transposed = np.ascontiguousarray(numerators[signs.rows].T)
        largest = np.zeros(signs.looked_at)
        for looked_at, block in blocks:
            flips, running = np.ascontiguousarray(block.T), largest[looked_at]
            for chunk in column_chunks(order, _COLUMNS_AT_ONCE):
                values = product(transposed[chunk], flips)
                np.abs(values, out=values)
                values *= inverse[chunk][:, None]
                alone[chunk] += _reaching(values, thresholds[chunk])
                _running_maximum(values, running)
                stepdown[chunk] += _reaching(values, thresholds[chunk])
        largest.sort()
        single = signs.looked_at - np.searchsorted(largest, thresholds, side="left")
        # ascending from the largest threshold down
        stepdown[order] = np.maximum.accumulate(stepdown[order][::-1])[::-1]
        return cls(alone, single, stepdown, largest)


def _reaching(values: Floats, thresholds: Floats) -> Counts:
    return np.asarray(np.count_nonzero(values >= thresholds[:, None], axis=1), dtype=np.int64)


def _running_maximum(values: Floats, running: Floats) -> None:
    """Replace each row by the maximum of it, the rows above it and `running`; then `running` by the last row."""
    above = running
    for row in values:
        np.maximum(row, above, out=row)
        above = row
    running[:] = above
