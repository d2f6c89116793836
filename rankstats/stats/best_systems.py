"""Multiple comparisons with the best: which of several systems may be the best one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankstats.errors import RankstatsError
from rankstats.stats.complete_values import all_pairs, pairwise_differences, systems_of
from rankstats.stats.differences import Differences
from rankstats.stats.joint_flips import JointSigns, flip_ends, inverse_root, slack
from rankstats.stats.moments import CentredMoments, studentised
from rankstats.stats.products import product
from rankstats.stats.random_blocks import RNG, generator_from, index_words, indices_from_words, resample_counts
from rankstats.stats.reading import monte_carlo_p, monte_carlo_rank
from rankstats.stats.results import ColumnResult
from rankstats.stats.validation import check_alpha, check_choice, check_count

_RESAMPLES_AT_ONCE = 1024
_NARROW = 16
METHODS = ("bootstrap", "randomisation")

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class BestSystems(ColumnResult):
    """Result of `best_systems`; array fields have shape (m,), one entry a system.

    Attributes
    ----------
    estimate : ndarray
        (Weighted) mean less the highest of the other systems' means: positive for the leader alone.
    low, high : ndarray
        Simultaneous interval of level 1 − alpha for that difference; `high` is 0 for systems that are not the best,
        `low` is 0 for a system that is the only candidate.
    p_value : ndarray
        Of the hypothesis that no other system is better; never 0.
    candidate : ndarray of bool
        Not separable from the best: p_value > alpha, or no other mean is higher.
    n : int
        Queries on which all systems are defined.
    left_out : int
        Queries on which some system is not.
    exact : bool
        Whether all sign patterns were enumerated.
    resamples : int
        Resamples or sign patterns.
    alpha : float
        Level.
    method : str
        'bootstrap' or 'randomisation'.
    """

    estimate: Floats
    low: Floats
    high: Floats
    p_value: Floats
    candidate: NDArray[np.bool_]
    n: int
    left_out: int
    exact: bool
    resamples: int
    alpha: float
    method: str


def best_systems(
    values: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    method: str = "bootstrap",
    alpha: float = 0.05,
    resamples: int = 10_000,
    rng: RNG = 0,
    batch: int | None = None,
) -> BestSystems:
    """Find the systems that may be the best one, by multiple comparisons with the best.

    1. Every system i in turn is compared with all others, one-sided, as in Dunnett's test: is any of them better? Its
       p-value is that of the largest studentised difference (other − i) over the others, from joint resamples of whole
       queries ('bootstrap': (d* − d) / se*, re-studentised) or joint sign flips ('randomisation': Σwd / √Σ(wd)²,
       enumerated for up to 16 queries).
    2. Systems with p > alpha, and the one with the highest mean, are candidates. Only the test of the system that is
       truly best can exclude it wrongly, so the candidates hold it with probability 1 − alpha without any further
       correction.
    3. With c_i the critical value of that test, the intervals of mean_i − max of the others' means are Hsu's:
       upper end max(0, min_j(mean_i − mean_j + c_i se_ij)); lower end min(0, min over candidates j ≠ i of
       (mean_i − mean_j − c_j se_ij)), 0 for the only candidate. They hold all at once; systems that are out have an
       upper end of 0. With flips, the ends solve the equation of `flip_max_t` instead of adding c se.

    Parameters
    ----------
    values : array_like, shape (n, m)
        One row a query, one column a system; higher is better (negate otherwise). Queries with a NaN are left out and
        counted.
    weights : array_like, shape (n,), optional
        Weights of the queries.
    method : {'bootstrap', 'randomisation'}
        The bootstrap needs about 25 queries to be of use.
    alpha : float
        Level, between 0 and 1.
    resamples : int
        Resamples, or sign patterns drawn where not all are enumerated.
    rng : int, SeedSequence, BitGenerator, Generator or None
        Seed or source of the random numbers.
    batch : int, optional
        Resamples held in memory at once; no number depends on it.

    Returns
    -------
    BestSystems

    Raises
    ------
    RankstatsError
        If shapes, weights or another argument are out of range.

    References
    ----------
    Hsu 1984 and 1996 (multiple comparisons with the best); Edwards & Hsu 1983 (unequal variances).

    Examples
    --------
    >>> values = np.random.default_rng(1).normal([0.0, 0.9, 1.0, 0.1], 0.5, size=(40, 4))
    >>> result = best_systems(values, resamples=999)
    >>> result.candidate.tolist(), result.high.round(2).tolist()
    ([False, True, True, False], [0.0, 0.16, 0.23, 0.0])
    """
    alpha, resamples = check_alpha(alpha), check_count("resamples", resamples)
    batch = None if batch is None else check_count("batch", batch)
    check_choice("method", method, METHODS)
    pairs = _complete_pairs(values, weights)
    source = _Flips.of(pairs, resamples) if method == "randomisation" else PairResamples.of(pairs, resamples)
    largest = largest_statistics(source, source.blocks(generator_from(rng), batch))
    return read_best(source, largest.of_others, alpha=alpha, method=method)


def read_best(source: _Flips | PairResamples, largest: Floats, *, alpha: float, method: str) -> BestSystems:
    """Read candidates and intervals off the largest statistics of (other − system), shape (B, m)."""
    pairs = source.pairs
    m, n = systems_of(pairs.n_columns), int(pairs.n[0])
    threshold = (
        _off_diagonal(_square(source.observed, _opposite(source.observed), m), -np.inf).max(axis=0) - source.slack
    )
    p_value = source.p_value(np.count_nonzero(largest >= threshold, axis=0)) if n else np.full(m, np.nan)
    critical = np.array([max(source.critical_value(np.sort(column), alpha), 0.0) for column in largest.T])
    means = _square(pairs.mean, -pairs.mean, m)
    leads = _off_diagonal(means, -np.inf).max(axis=0)
    candidate = (p_value > alpha) | (leads <= 0)
    low, high = _hsu(source.lower_ends(critical, m), candidate)
    return BestSystems(
        estimate=-leads,
        low=low if n else np.full(m, np.nan),
        high=high if n else np.full(m, np.nan),
        p_value=p_value,
        candidate=candidate,
        n=n,
        left_out=pairs.n_rows - n,
        exact=source.exact,
        resamples=source.patterns,
        alpha=alpha,
        method=method,
    )


def _complete_pairs(values: ArrayLike, weights: ArrayLike | None) -> Differences:
    """Return the differences of all pairs, with the queries absent on which a system is not defined."""
    array = np.array(values, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] < 2:
        raise RankstatsError(f"values have shape {array.shape}; (queries, systems) with at least 2 systems is expected")
    array[np.isnan(array).any(axis=1)] = np.nan
    return pairwise_differences(array, weights)


Statistics: TypeAlias = Callable[[slice], Floats]
"""Statistics of some pairs in a block of resamples, shape (batch, pairs); −inf where there is none."""


@dataclass(frozen=True, slots=True, eq=False)
class Largest:
    """Largest statistics in each of B resamples.

    Attributes
    ----------
    of_others : ndarray, shape (B, m)
        Of (other − system), over the others; −inf where there is none.
    of_members : ndarray, shape (B,)
        Of the chosen pairs, either way round; −inf where there is none.
    absent : ndarray of int, shape (pairs,)
        Resamples in which a pair has no statistic.
    """

    of_others: Floats
    of_members: Floats
    absent: Codes


def largest_statistics(
    source: _Flips | PairResamples,
    blocks: Iterator[tuple[slice, Statistics]],
    members: NDArray[np.bool_] | None = None,
) -> Largest:
    """Return the largest statistics over all pairs, and over the `members` among them: by default all."""
    n_pairs = source.pairs.n_columns
    m, outside = systems_of(n_pairs), np.zeros(n_pairs, dtype=bool) if members is None else ~members
    of_others = np.full((source.looked_at, m), -np.inf)
    of_members, count = np.empty(source.looked_at), np.zeros(n_pairs, dtype=np.int64)
    for resampled, statistics in blocks:
        part = of_others[resampled]
        later: list[tuple[int, Codes, Floats]] = []
        for system, columns in enumerate(pairs_by_baseline(m)):
            values = statistics(columns)
            if values.min() == -np.inf:
                count[columns] += np.count_nonzero(np.isneginf(values), axis=0)
            rest = np.flatnonzero(outside[columns])
            if len(rest):
                later.append((system, system + 1 + rest, values[:, rest]))
                values[:, rest] = -np.inf
            np.maximum(part[:, system], _row_maxima(values), out=part[:, system])
            others = part[:, system + 1 :]
            np.maximum(others, _opposite(values), out=others)
        # so far the members alone, each of them either way round
        of_members[resampled] = _row_maxima(part)
        for system, other, values in later:
            np.maximum(part[:, system], _row_maxima(values), out=part[:, system])
            part[:, other] = np.maximum(part[:, other], _opposite(values))
    return Largest(of_others, of_members, count)


def _row_maxima(values: Floats) -> Floats:
    """Return the largest value of each row; halves are laid on each other, for numpy is slow along short rows."""
    while values.shape[1] > _NARROW:
        half = (values.shape[1] + 1) // 2
        values = np.maximum(values[:, :half], values[:, -half:])
    return np.asarray(np.ascontiguousarray(values.T).max(axis=0))


def _opposite(statistics: Floats) -> Floats:
    """Return the statistics of the pairs the other way round; where there is none, there is none."""
    if statistics.min() > -np.inf:
        return -statistics
    return np.where(np.isneginf(statistics), statistics, -statistics)


def pairs_by_baseline(m: int) -> list[slice]:
    """Return which columns hold the pairs of each system with the later ones."""
    starts = np.concatenate([[0], np.cumsum(np.arange(m - 1, 0, -1))])
    return [slice(int(start), int(stop)) for start, stop in pairwise(starts)]


def _square(later: Floats, earlier: Floats, m: int) -> Floats:
    """Return the matrix [j, i] of what is said of system j against i: of the pair's later and its earlier system."""
    baseline, system = all_pairs(m)
    matrix = np.zeros((m, m))
    matrix[system, baseline], matrix[baseline, system] = later, earlier
    return matrix


def _off_diagonal(matrix: Floats, diagonal: float) -> Floats:
    return np.where(np.eye(len(matrix), dtype=bool), diagonal, matrix)


def _hsu(lower: Floats, candidate: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Return Hsu's intervals from the lower ends [j, i] of mean_j − mean_i with the critical value of i."""
    high = np.where(candidate, np.maximum(-_off_diagonal(lower, -np.inf).max(axis=0), 0.0), 0.0)
    against = np.where(candidate, _off_diagonal(lower, np.inf), np.inf)
    return np.minimum(against.min(axis=1), 0.0), high


@dataclass(frozen=True, slots=True, eq=False)
class _Flips:
    """Joint sign flips of all pairs of systems."""

    pairs: Differences
    inverse: Floats
    observed: Floats
    slack: float
    signs: JointSigns

    @classmethod
    def of(cls, pairs: Differences, resamples: int) -> _Flips:
        inverse = inverse_root(pairs.numerators)
        signs = JointSigns.of(np.any(pairs.numerators != 0, axis=1), resamples, two_sided=False)
        observed = np.where(inverse > 0, pairs.numerators.sum(axis=0) * inverse, -np.inf)
        return cls(pairs, inverse, observed, float(slack(pairs, inverse).max()), signs)

    @property
    def exact(self) -> bool:
        return self.signs.exact

    @property
    def patterns(self) -> int:
        return self.signs.patterns

    @property
    def looked_at(self) -> int:
        return self.signs.looked_at

    def blocks(self, generator: np.random.Generator, batch: int | None) -> Iterator[tuple[slice, Statistics]]:
        numerators = self.pairs.numerators[self.signs.rows]
        for flipped, block in self.signs.blocks(generator, batch):
            yield flipped, partial(self._statistics, numerators, block)

    def _statistics(self, numerators: Floats, block: Floats, columns: slice) -> Floats:
        inverse = self.inverse[columns]
        return np.where(inverse > 0, product(block, numerators[:, columns]) * inverse, -np.inf)

    def p_value(self, count: Codes) -> Floats:
        return self.signs.p_value(count)

    def critical_value(self, ascending: Floats, alpha: float) -> float:
        return self.signs.critical_value(ascending, alpha)

    def lower_ends(self, critical: Floats, m: int) -> Floats:
        baseline, system = all_pairs(m)
        low, high = flip_ends(self.pairs, critical[baseline])[0], flip_ends(self.pairs, critical[system])[1]
        return _square(np.nan_to_num(low, nan=0.0), -np.nan_to_num(high, nan=0.0), m)


@dataclass(frozen=True, slots=True, eq=False)
class PairResamples:
    """Joint bootstrap resamples of all pairs of systems, re-studentised."""

    pairs: Differences
    observed: Floats
    rows: Codes
    moments: list[CentredMoments]
    looked_at: int
    slack: float = 0.0
    exact: bool = False

    @classmethod
    def of(cls, pairs: Differences, resamples: int) -> PairResamples:
        """Prepare the sums of all pairs."""
        rows = np.flatnonzero(pairs.present.any(axis=1))
        error, m = pairs.standard_error, systems_of(pairs.n_columns)
        observed = np.divide(pairs.mean, error, out=np.full(len(error), -np.inf), where=error > 0)
        moments = [
            CentredMoments.of(pairs.select(np.arange(columns.start, columns.stop)), len(rows)).restricted(rows)
            for columns in pairs_by_baseline(m)
        ]
        return cls(pairs, observed, rows, moments, resamples)

    @property
    def patterns(self) -> int:
        """Resamples."""
        return self.looked_at

    def blocks(self, generator: np.random.Generator, batch: int | None) -> Iterator[tuple[slice, Statistics]]:
        """Yield which resamples a block holds, and what gives the statistics of pairs there."""
        n = len(self.rows)
        size = batch or max(1, min(_RESAMPLES_AT_ONCE, (1 << 20) // max(n, 1)))
        of_columns = {columns.start: part for columns, part in zip(self._columns(), self.moments, strict=True)}
        for resampled, words in index_words(generator, self.pairs.n_rows, self.looked_at, size):
            counts = resample_counts(indices_from_words(words, n), n)
            yield resampled, partial(self._statistics, of_columns, counts)

    def _columns(self) -> list[slice]:
        return pairs_by_baseline(systems_of(self.pairs.n_columns))

    def _statistics(self, moments: dict[int, CentredMoments], counts: Floats, columns: slice) -> Floats:
        deviation, variance = moments[columns.start].deviation_and_variance(counts)
        usable = (variance > 0) & (self.observed[columns] > -np.inf)
        return studentised(deviation, variance, usable, -np.inf)

    def p_value(self, count: Codes) -> Floats:
        """Return p-values from counts of resamples at least as extreme."""
        return monte_carlo_p(count, self.looked_at)

    def critical_value(self, ascending: Floats, alpha: float) -> float:
        """Return the value that a share of alpha of the resamples exceeds."""
        rank = monte_carlo_rank(alpha, self.looked_at)
        return float(ascending[self.looked_at - rank]) if rank else np.inf

    def lower_ends(self, critical: Floats, m: int) -> Floats:
        """Return the lower ends [j, i] of mean_j − mean_i with the critical value of i."""
        baseline, system = all_pairs(m)
        error, mean = self.pairs.standard_error, self.pairs.mean
        zero = ~np.any(self.pairs.integers != 0, axis=0)
        # pairs that cannot be studentised have no bound, identical systems differ by 0
        usable = np.where(error > 0, error, np.nan)
        low = np.where(zero, 0.0, np.nan_to_num(mean - critical[baseline] * usable, nan=-np.inf))
        high = np.where(zero, 0.0, np.nan_to_num(mean + critical[system] * usable, nan=np.inf))
        return _square(low, -high, m)
