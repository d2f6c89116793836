"""Min-P by joint sign flips: like max-T, but columns are put on one scale by their own p-values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankstats.stats.differences import Differences
from rankstats.stats.flip_readings import column_chunks, negligible_sums
from rankstats.stats.joint_flips import JointSigns
from rankstats.stats.products import product
from rankstats.stats.random_blocks import RNG, generator_from, replayed
from rankstats.stats.results import ColumnResult
from rankstats.stats.validation import check_count

_COLUMNS_AT_ONCE = 64

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class FlipMinPResult(ColumnResult):
    """Result of `flip_min_p`; array fields have shape (c,).

    Attributes
    ----------
    estimate : ndarray
        (Weighted) mean difference.
    p_value : ndarray
        Of each column by itself; 1 where all differences are 0, NaN without queries, never 0.
    p_adjusted : ndarray
        Single-step; never below `p_value`. It has no interval.
    p_stepdown : ndarray
        Step-down; between the two.
    n : ndarray of int
        Queries.
    family_size : int
        Columns that took part.
    exact : bool
        Whether all sign patterns were enumerated.
    patterns : int
        2**k for k queries that differ in any column, or the number drawn.
    """

    estimate: Floats
    p_value: Floats
    p_adjusted: Floats
    p_stepdown: Floats
    n: Counts
    family_size: int
    exact: bool
    patterns: int


def flip_min_p(
    differences: Differences, *, resamples: int = 10_000, rng: RNG = 0, batch: int | None = None
) -> FlipMinPResult:
    """Adjust a family of comparisons by the smallest p-value under joint sign flips.

    1. Every sign pattern, the observed one included, gets a p-value in every column: the share of patterns with an
       absolute sum at least as large.
    2. *Single-step*: p_adjusted is the share of patterns whose smallest p-value over all columns is at most the
       column's own. *Step-down*: the smallest over the columns whose own p-value is no smaller, then made ascending.

    All members weigh the same, whatever the shape of their distributions. With few patterns p-values are coarse, and
    with drawn ones p_adjusted cannot be small where the family is large: max-T is better there, and faster.

    Parameters
    ----------
    differences : Differences
        n queries, c columns: the members of the family.
    resamples : int
        Sign patterns drawn where more than 16 queries differ.
    rng : int, SeedSequence, BitGenerator, Generator or None
        Seed or source of the random bits; the bits of a query depend on its position only.
    batch : int, optional
        Sign patterns drawn at once; no number depends on it.

    Returns
    -------
    FlipMinPResult

    Raises
    ------
    RankstatsError
        If resamples or batch are out of range.

    References
    ----------
    Westfall & Young 1993; Ge, Dudoit & Speed 2003; multtest's ``mt.minP``.

    Examples
    --------
    >>> import numpy as np
    >>> from rankstats.stats import paired_differences
    >>> systems = np.array([[0.2, 0.5], [0.3, 0.4], [0.1, 0.6], [0.4, 0.5], [0.1, 0.4], [0.3, 0.6]])
    >>> result = flip_min_p(paired_differences([0.2] * 6, systems))
    >>> result.p_value.tolist(), result.p_stepdown.tolist()
    ([0.75, 0.03125], [0.75, 0.03125])
    """
    resamples = check_count("resamples", resamples)
    batch = None if batch is None else check_count("batch", batch)
    numerators = differences.numerators
    signs = JointSigns.of(np.any(numerators != 0, axis=1), resamples)
    testable = np.flatnonzero(np.any(numerators != 0, axis=0))
    family = _Family(numerators[signs.rows], 3 * negligible_sums(differences), signs, batch)
    alone, single, stepdown = _counts(family, testable, generator_from(rng))
    patterns = signs.looked_at + (not signs.exact)
    none = np.where(differences.n > 0, 1.0, np.nan)
    tested = np.isin(np.arange(differences.n_columns), testable)
    p_value, p_adjusted, p_stepdown = (np.where(tested, count / patterns, none) for count in (alone, single, stepdown))
    return FlipMinPResult(
        estimate=differences.mean,
        p_value=p_value,
        p_adjusted=p_adjusted,
        p_stepdown=p_stepdown,
        n=differences.n,
        family_size=len(testable),
        exact=signs.exact,
        patterns=signs.patterns,
    )


@dataclass(frozen=True, slots=True)
class _Family:
    """Numerators of the queries that differ, by how much equal sums of each column may differ, and what flips them."""

    numerators: Floats
    tolerance: Floats
    signs: JointSigns
    batch: int | None

    def absolute_sums(self, columns: Counts, generator: np.random.Generator) -> Floats:
        """Return |Σwd| of each column and pattern, the observed pattern first."""
        transposed = np.ascontiguousarray(self.numerators[:, columns].T)
        sums = np.empty((len(columns), self.signs.looked_at))
        for looked_at, block in self.signs.blocks(generator, self.batch):
            sums[:, looked_at] = np.abs(product(transposed, block.T))
        if not self.signs.exact:
            sums = np.hstack([np.abs(transposed.sum(axis=1, keepdims=True)), sums])
        return sums


def _counts(family: _Family, testable: Counts, generator: np.random.Generator) -> tuple[Counts, Counts, Counts]:
    """Return how many patterns reach each column alone, single-step and step-down, the observed pattern included."""
    tolerance, signs = family.tolerance, family.signs
    alone, single, stepdown = (np.zeros(len(tolerance), dtype=np.int64) for _ in range(3))
    for chunk in column_chunks(testable, _COLUMNS_AT_ONCE):
        sums = family.absolute_sums(chunk, replayed(generator))
        alone[chunk] = np.count_nonzero(sums >= sums[:, :1] - tolerance[chunk, None], axis=1)
    order = testable[np.argsort(-alone[testable], kind="stable")]
    smallest = np.full(signs.looked_at + (not signs.exact), np.iinfo(np.int64).max)
    for chunk in column_chunks(order, _COLUMNS_AT_ONCE):
        sums = family.absolute_sums(chunk, replayed(generator))
        for column, values, equal in zip(chunk, sums, tolerance[chunk], strict=True):
            reaching = len(values) - np.searchsorted(np.sort(values), values - equal, side="left")
            np.minimum(smallest, reaching, out=smallest)
            stepdown[column] = np.count_nonzero(smallest <= alone[column])
    ascending = np.sort(smallest)
    single[order] = np.searchsorted(ascending, alone[order], side="right")
    # ascending from the smallest p-value; columns of one p-value get the count that includes all of them
    stepdown[order] = np.maximum.accumulate(stepdown[order][::-1])[::-1]
    return alone, single, stepdown
