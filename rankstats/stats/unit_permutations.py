"""Permutation test of the arms' labels over the units, studentised so that unequal variances do no harm."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from rankstats.errors import RankstatsError
from rankstats.stats.arm_pairs import ArmPair, mean_pair, ratio_pair
from rankstats.stats.classical import agreeing_ends
from rankstats.stats.flip_readings import TOLERANCE
from rankstats.stats.random_blocks import RNG, batches, generator_from
from rankstats.stats.reading import exact_rank, monte_carlo_p, monte_carlo_rank
from rankstats.stats.results import ColumnResult
from rankstats.stats.unit_moments import UnitMoments, unit_moments
from rankstats.stats.validation import check_alpha, check_count

_ENUMERATED_UP_TO = 10_000
_BLOCK_ELEMENTS = 1 << 20
_DISTINCT_SHARE = 8
"""Units of equal values are dealt out together where there are at least this many of them on average."""

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class UnitPermutationResult(ColumnResult):
    """Result of `unit_permutation_test`; array fields have shape (1,).

    Attributes
    ----------
    estimate : ndarray
        Treatment − control.
    statistic : ndarray
        The difference over Welch's (or the delta method's) standard error; NaN without any spread.
    p_value : ndarray
        1 without any spread, never 0.
    low, high : ndarray
        estimate ± q times the standard error, q the permuted statistic that p is compared with: leaves out 0 exactly
        when p ≤ alpha. Unbounded with too few arrangements for the level, or without any spread; NaN where the arms
        have no spread and are equal.
    exact : ndarray of bool
        Whether all arrangements were enumerated.
    arrangements : ndarray of int
        How many were looked at.
    control_n, treatment_n : ndarray of int
        Units.
    alpha : float
        Level.
    """

    estimate: Floats
    statistic: Floats
    p_value: Floats
    low: Floats
    high: Floats
    exact: NDArray[np.bool_]
    arrangements: Integers
    control_n: Integers
    treatment_n: Integers
    alpha: float


def unit_permutation_test(
    control: ArrayLike,
    treatment: ArrayLike,
    *,
    control_denominators: ArrayLike | None = None,
    treatment_denominators: ArrayLike | None = None,
    control_counts: ArrayLike | None = None,
    treatment_counts: ArrayLike | None = None,
    alpha: float = 0.05,
    resamples: int = 10_000,
    rng: RNG = 0,
) -> UnitPermutationResult:
    """Test the difference of two arms by dealing out their units again.

    1. The statistic is |difference| over its standard error, computed anew in each arrangement: exact when the arms
       differ in nothing, and right for large n when only their means are equal.
    2. With at most 10,000 arrangements all are enumerated and p = b / M; else p = (b + 1) / (B + 1).
    3. Units of equal values are dealt out together where there are many of them; the numbers depend on the values, not
       on their order.

    Parameters
    ----------
    control, treatment : array_like, shape (n,)
        One value a unit; NaN is absent.
    control_denominators, treatment_denominators : array_like, shape (n,), optional
        For a ratio metric, of which the first two are the numerators.
    control_counts, treatment_counts : array_like of int, shape (n,), optional
        Units that have each of the values: the aggregate that this test needs.
    alpha : float
        Level of test and interval.
    resamples : int
        Arrangements drawn where not all are enumerated.
    rng : int, SeedSequence, BitGenerator, Generator or None
        Seed or source of random numbers.

    Returns
    -------
    UnitPermutationResult

    Raises
    ------
    RankstatsError
        If shapes do not fit or an arm has no units.

    References
    ----------
    Janssen 1997; Chung & Romano 2013 (studentised permutations); Phipson & Smyth 2010.

    Examples
    --------
    >>> result = unit_permutation_test([1.0, 2.0, 3.0, 2.5], [4.0, 5.0, 4.5, 6.0])
    >>> result.exact.tolist(), result.p_value.round(4).tolist()
    ([True], [0.0286])
    """
    alpha, resamples = check_alpha(alpha), check_count("resamples", resamples)
    arms = [
        _rows(control, control_denominators, control_counts),
        _rows(treatment, treatment_denominators, treatment_counts),
    ]
    if arms[0].shape[1] != arms[1].shape[1]:
        raise RankstatsError("denominators are needed for both arms, or for none")
    if not len(arms[0]) or not len(arms[1]):
        raise RankstatsError("both arms need units with a value")
    pair = _pair(*(unit_moments(*arm.T) for arm in arms))
    deal = _Deal.of(arms)
    exact, permuted = deal.statistics(resamples, generator_from(rng))
    size, has_spread = len(permuted), bool(pair.variance[0] > 0)
    statistic = float(pair.difference[0] / pair.standard_error[0]) if has_spread else np.nan
    p, (low, high) = 1.0, _without_spread(pair)
    if has_spread:
        reached = np.count_nonzero(permuted >= abs(statistic) * (1 - TOLERANCE))
        p = reached / size if exact else float(monte_carlo_p(np.array(reached), size))
        low, high = _ends(pair, permuted, p <= alpha, _rank(alpha, size, exact=exact))
    return UnitPermutationResult(
        estimate=pair.difference,
        statistic=np.array([statistic]),
        p_value=np.array([p]),
        low=low,
        high=high,
        exact=np.array([exact]),
        arrangements=np.array([size]),
        control_n=pair.control_n,
        treatment_n=pair.treatment_n,
        alpha=alpha,
    )


def _rank(alpha: float, size: int, *, exact: bool) -> int:
    """Return which of the largest permuted statistics bounds the interval; 0 where the level is out of reach."""
    if exact:
        rank = exact_rank(alpha, size)
        return rank if rank > 1 else 0
    return monte_carlo_rank(alpha, size)


def _without_spread(pair: ArmPair) -> tuple[Floats, Floats]:
    """Return no interval for arms that are equal in every unit, else an unbounded one."""
    high = np.where((pair.variance == 0) & (pair.difference == 0), np.nan, np.inf)
    return -high, high


def _ends(pair: ArmPair, permuted: Floats, significant: bool, rank: int) -> tuple[Floats, Floats]:
    if rank == 0:
        return np.array([-np.inf]), np.array([np.inf])
    half = float(np.partition(permuted, len(permuted) - rank)[len(permuted) - rank]) * pair.standard_error
    # a permuted value within rounding of the observed one is equal to it: p decides
    return agreeing_ends(np.array([significant]), pair.difference, pair.difference - half, pair.difference + half)


def permutation_p(count: int, drawn: int, arrangements: int) -> float:
    """Return the exact p-value of a test whose arrangements were drawn with replacement from a known number of them.

    Takes into account that an arrangement may be drawn more than once: slightly below (count + 1) / (drawn + 1).

    Parameters
    ----------
    count : int
        Drawn arrangements at least as extreme as the observed one.
    drawn : int
        Arrangements drawn.
    arrangements : int
        Distinct arrangements that there are.

    Raises
    ------
    RankstatsError
        If an argument is out of range.

    References
    ----------
    Phipson & Smyth 2010, equation 2 (the mean of a binomial distribution function over k / M); above 10,000
    arrangements its integral approximation, as ``permp`` of R's statmod.

    Examples
    --------
    >>> round(permutation_p(3, 1000, 256), 6), round(permutation_p(5, 999, 10**9), 9)
    (0.001961, 0.006)
    """
    check_count("count", count, least=0)
    check_count("drawn", drawn)
    check_count("arrangements", arrangements)
    if count > drawn:
        raise RankstatsError(f"count = {count}: no more than the {drawn} that were drawn")
    if arrangements <= _ENUMERATED_UP_TO:
        shares = np.arange(1, arrangements + 1) / arrangements
        return float(np.mean(special.bdtr(count, drawn, shares)))
    # the integral of the distribution function from 0 to 1 / (2 M), term by term
    terms = np.arange(count + 1)
    correction = np.sum(special.betainc(terms + 1, drawn - terms + 1, 0.5 / arrangements)) / (drawn + 1)
    return float((count + 1) / (drawn + 1) - correction)


def _rows(values: ArrayLike, denominators: ArrayLike | None, counts: ArrayLike | None) -> Floats:
    """Return units as rows: value, or numerator and denominator; absent units left out."""
    columns = [np.asarray(values, dtype=np.float64)]
    if denominators is not None:
        columns.append(np.asarray(denominators, dtype=np.float64))
    if any(column.shape != (columns[0].size,) for column in columns):
        raise RankstatsError(f"values have shapes {[c.shape for c in columns]}; one value a unit, (n,), is expected")
    rows = np.column_stack(columns)
    if counts is not None:
        units = np.asarray(counts)
        if units.shape != (len(rows),) or np.any(units != np.floor(units)) or np.any(units < 0):
            raise RankstatsError("counts: a whole number of units for each value is expected")
        rows = np.repeat(rows, units.astype(np.int64), axis=0)
    return rows[~np.isnan(rows).any(axis=1)]


def _pair(control: UnitMoments, treatment: UnitMoments) -> ArmPair:
    return mean_pair(control, treatment) if control.n_variables == 1 else ratio_pair(control, treatment)


@dataclass(frozen=True, slots=True, eq=False)
class _Deal:
    """Distinct rows of both arms, in order, how many units have each, and how many units the treatment gets."""

    rows: Floats
    counts: Integers
    treated: int

    @classmethod
    def of(cls, arms: list[Floats]) -> _Deal:
        rows, counts = np.unique(np.concatenate(arms), axis=0, return_counts=True)
        return cls(rows, counts.astype(np.int64), len(arms[1]))

    @property
    def n(self) -> int:
        """Units of both arms."""
        return int(self.counts.sum())

    def statistics(self, resamples: int, generator: np.random.Generator) -> tuple[bool, Floats]:
        """Return whether all arrangements were enumerated, and |difference| / standard error in each."""
        exact = math.comb(self.n, self.treated) <= _ENUMERATED_UP_TO
        parts = [self._of_sums(sums) for sums in (self._enumerated() if exact else self._drawn(resamples, generator))]
        return exact, np.concatenate(parts)

    @property
    def _summands(self) -> Floats:
        """What is added up: the centred variables and their products, shape (distinct rows, s)."""
        centre = self.counts @ self.rows / self.n
        centred = self.rows - centre
        scale = np.abs(centred).max(axis=0)
        centred = centred / np.where(scale > 0, scale, 1.0)
        k = centred.shape[1]
        products = [centred[:, i] * centred[:, j] for i in range(k) for j in range(i, k)]
        return np.column_stack([centred, *products])

    def _enumerated(self) -> Iterator[Floats]:
        summands = np.repeat(self._summands, self.counts, axis=0)
        chosen = np.array(list(combinations(range(self.n), self.treated)))
        yield summands[chosen].sum(axis=1)

    def _drawn(self, resamples: int, generator: np.random.Generator) -> Iterator[Floats]:
        summands, distinct = self._summands, len(self.rows)
        if self.n >= _DISTINCT_SHARE * distinct:
            for start, stop in batches(resamples, distinct, None):
                dealt = generator.multivariate_hypergeometric(
                    self.counts, self.treated, size=stop - start, method="marginals"
                )
                yield dealt @ summands
            return
        of_units = np.repeat(summands, self.counts, axis=0)
        labels = np.zeros(self.n)
        labels[: self.treated] = 1.0
        for start, stop in batches(resamples, self.n, max(1, _BLOCK_ELEMENTS // self.n)):
            yield generator.permuted(np.tile(labels, (stop - start, 1)), axis=1) @ of_units

    def _of_sums(self, sums: Floats) -> Floats:
        """Return |difference| / standard error from the treatment's sums; 0 where both are 0."""
        whole = self.counts @ self._summands
        sizes = (self.n - self.treated, self.treated)
        control, treatment = (self._moments(part, size) for part, size in zip((whole - sums, sums), sizes, strict=True))
        pair = _pair(control, treatment)
        with np.errstate(invalid="ignore"):  # an arm of one unit has no variance
            spread = pair.variance > 0
        unbounded = np.where(np.abs(pair.difference) > 0, np.inf, 0.0)
        return np.divide(np.abs(pair.difference), pair.standard_error, out=unbounded, where=spread)

    def _moments(self, sums: Floats, size: int) -> UnitMoments:
        k = self.rows.shape[1]
        centre = self.counts @ self.rows / self.n
        scale = np.abs(self.rows - centre).max(axis=0)
        scale = np.where(scale > 0, scale, 1.0)
        mean = sums[:, :k] / size
        covariance = np.empty((len(sums), k, k))
        column = k
        for i in range(k):
            for j in range(i, k):
                product = sums[:, column] - size * mean[:, i] * mean[:, j]
                covariance[:, i, j] = covariance[:, j, i] = product / max(size - 1, 1) * scale[i] * scale[j]
                column += 1
        return UnitMoments(np.full(len(sums), size), centre + mean * scale, covariance)
