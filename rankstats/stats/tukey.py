"""Randomised Tukey HSD: all pairs of systems tested together by permuting systems within queries."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankstats.stats.classical import agreeing_ends
from rankstats.stats.complete_values import all_pairs, complete_values
from rankstats.stats.flip_readings import TOLERANCE
from rankstats.stats.query_permutations import drawn_sums, enumerated_sums
from rankstats.stats.random_blocks import RNG, generator_from
from rankstats.stats.reading import monte_carlo_p, monte_carlo_rank
from rankstats.stats.results import ColumnResult
from rankstats.stats.validation import check_alpha, check_count

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class RandomisedTukeyResult(ColumnResult):
    """Result of `randomised_tukey`; array fields have shape (pairs,), in the order of `all_pairs`.

    Attributes
    ----------
    baseline, system : ndarray of int
        Positions of the two systems.
    estimate : ndarray
        (Weighted) mean of system less that of baseline.
    p_adjusted : ndarray
        1 for identical systems, NaN without queries, never 0.
    adjusted_low, adjusted_high : ndarray
        Simultaneous interval of level 1 − alpha; infinite where unbounded.
    critical_value : float
        Half its width; infinite where no p-value can reach alpha.
    n : int
        Queries on which all systems are defined.
    left_out : int
        Queries on which some system is not.
    exact : bool
        Whether all permutations were enumerated.
    patterns : int
        Permutations: m! to the power of the queries that differ, or the number drawn.
    alpha : float
        Level of the family.
    """

    baseline: Codes
    system: Codes
    estimate: Floats
    p_adjusted: Floats
    adjusted_low: Floats
    adjusted_high: Floats
    critical_value: float
    n: int
    left_out: int
    exact: bool
    patterns: int
    alpha: float


def randomised_tukey(
    values: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    alpha: float = 0.05,
    resamples: int = 10_000,
    rng: RNG = 0,
    batch: int | None = None,
) -> RandomisedTukeyResult:
    """Randomised Tukey HSD: all pairs against the range of system means under permutations within queries.

    1. The values of every query are permuted over the systems. All (m!)**k permutations of the k queries on which
       systems differ are enumerated where there are few enough distinct sums, otherwise B are drawn.
    2. The statistic is the range (largest less smallest) of the system means. b counts the permutations whose range
       reaches the absolute difference of a pair, sums that miss it by at most 1e-9 of the largest possible range, or
       by no more than rounding to whole units explains, included; p_adjusted = b / M, drawn (b + 1) / (B + 1).
    3. The interval of every pair is difference ± c, c the largest range that more than alpha of the permutations reach.
       So p_adjusted ≤ alpha exactly when it leaves out 0.

    All systems are taken to be exchangeable; one very different system widens everybody's interval.

    Parameters
    ----------
    values : array_like, shape (n, m)
        One row a query, one column a system; queries with a NaN are left out and counted.
    weights : array_like, shape (n,), optional
        Weights of the queries.
    alpha : float
        Level of the family, between 0 and 1.
    resamples : int
        Permutations drawn where not all are enumerated.
    rng : int, SeedSequence, BitGenerator, Generator or None
        Seed or source of the random words.
    batch : int, optional
        Permutations held in memory at once; no number depends on it.

    Returns
    -------
    RandomisedTukeyResult

    Raises
    ------
    RankstatsError
        If shapes, weights, alpha, resamples or batch are out of range.

    References
    ----------
    Carterette 2012 (randomised Tukey HSD in IR); Sakai 2014.

    Examples
    --------
    >>> values = [[0.1, 0.1, 0.4], [0.2, 0.3, 0.6], [0.0, 0.1, 0.3], [0.5, 0.4, 0.8], [0.3, 0.3, 0.5]]
    >>> result = randomised_tukey(values)
    >>> result.p_adjusted.round(4).tolist(), (result.adjusted_low > 0).tolist(), result.patterns
    ([1.0, 0.0123, 0.0185], [False, True, True], 7776)
    """
    alpha, resamples = check_alpha(alpha), check_count("resamples", resamples)
    batch = None if batch is None else check_count("batch", batch)
    kept = complete_values(values, weights)
    numerators, unit, rounding = kept.weighted()
    baseline, system = all_pairs(kept.n_systems)
    sums = numerators.sum(axis=0)
    difference = sums[system] - sums[baseline]
    # rounding moves four sums: two of the difference, two of the range
    slack = max(TOLERANCE * float(np.ptp(numerators, axis=1).sum()), 4 * rounding)
    threshold = np.abs(difference) - slack
    ranges = _Ranges.of(numerators, resamples, generator_from(rng), batch)
    scale = unit / kept.total_weight if kept.n else np.nan
    p_adjusted = ranges.p_value(threshold) if kept.n else np.full(len(baseline), np.nan)
    critical = ranges.critical_value(alpha) * scale
    estimate = difference * scale
    low, high = agreeing_ends(p_adjusted <= alpha, estimate, estimate - critical, estimate + critical)
    return RandomisedTukeyResult(
        baseline=baseline,
        system=system,
        estimate=estimate,
        p_adjusted=p_adjusted,
        adjusted_low=low,
        adjusted_high=high,
        critical_value=critical,
        n=kept.n,
        left_out=kept.left_out,
        exact=ranges.exact,
        patterns=ranges.patterns,
        alpha=alpha,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Ranges:
    """Ranges of the sums under permutations, ascending, and the share of the permutations that reach each."""

    ascending: Floats
    reaching: Floats
    """Of ranges from here on; one more entry, 0, for none. Not used where drawn."""
    exact: bool
    patterns: int
    orbit: float
    """The smallest share that permutations can have: systems may be renamed without changing a range."""

    @classmethod
    def of(cls, numerators: Floats, resamples: int, generator: np.random.Generator, batch: int | None) -> _Ranges:
        enumerated = enumerated_sums(numerators)
        if enumerated is None:
            drawn = np.empty(resamples)
            for rows, sums in drawn_sums(numerators, resamples, generator, batch):
                drawn[rows] = np.ptp(sums, axis=1)
            drawn.sort()
            return cls(drawn, np.zeros(0), False, resamples, 0.0)
        sums, count, orbits, patterns = enumerated
        ranges = np.ptp(sums, axis=1)
        order = np.argsort(ranges, kind="stable")
        reaching = np.append(np.cumsum(count[order][::-1])[::-1], 0.0) / orbits
        return cls(ranges[order], reaching, True, patterns, 1 / orbits)

    def p_value(self, threshold: Floats) -> Floats:
        place = np.searchsorted(self.ascending, threshold, side="left")
        if self.exact:
            return np.asarray(self.reaching[place])
        return monte_carlo_p(len(self.ascending) - place, self.patterns)

    def critical_value(self, alpha: float) -> float:
        if not self.exact:
            rank = monte_carlo_rank(alpha, self.patterns)
            return float(self.ascending[self.patterns - rank]) if rank else np.inf
        if self.orbit > alpha:
            return np.inf
        # the last of equal ranges has the smallest share, but all of them are reached together
        return float(self.ascending[np.flatnonzero(self._reached_together() > alpha)[-1]])

    def _reached_together(self) -> Floats:
        first = np.searchsorted(self.ascending, self.ascending, side="left")
        return np.asarray(self.reaching[first])
