"""Do segments differ in their mean difference? A permutation test of Welch's F, with Cochran's Q and I² beside it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from rankstats.errors import RankstatsError
from rankstats.stats.differences import Differences, paired_differences
from rankstats.stats.flip_readings import TOLERANCE, distinct_masks
from rankstats.stats.moments import CentredMoments
from rankstats.stats.random_blocks import RNG, batches, generator_from
from rankstats.stats.reading import monte_carlo_p
from rankstats.stats.results import ColumnResult
from rankstats.stats.validation import check_choice, check_count

STATISTICS = ("welch", "between")

_FLOOR = 1e-9
"""A segment without spread counts with this fraction of the squared standard error of all queries."""

_COLUMN_ELEMENTS = 1 << 21

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class HeterogeneityResult(ColumnResult):
    """Result of `heterogeneity_test`; array fields have shape (c,).

    Attributes
    ----------
    statistic : ndarray
        Welch's F (or the between-segment sum of squares); NaN with fewer than two segments.
    p_value : ndarray
        Of the permutation test; 1 where all differences are equal, NaN with fewer than two segments, never 0.
    exact : ndarray of bool
        Whether all arrangements of the labels were enumerated.
    welch_p : ndarray
        p of Welch's F by its F distribution, for comparison; NaN for the other statistic.
    cochran_q, q_p_value, i_squared : ndarray
        Cochran's Q over the segments that have a spread, its χ² p-value, and I² as a fraction; NaN with fewer than two.
    segments : ndarray of int
        Segments that took part: those of at least two queries.
    left_out : ndarray of int
        Queries in segments of one query.
    n : ndarray of int
        Queries that took part.
    resamples : int
        Permutations asked for.
    """

    statistic: Floats
    p_value: Floats
    exact: NDArray[np.bool_]
    welch_p: Floats
    cochran_q: Floats
    q_p_value: Floats
    i_squared: Floats
    segments: NDArray[np.int64]
    left_out: NDArray[np.int64]
    n: NDArray[np.int64]
    resamples: int


def heterogeneity_test(
    differences: Differences | ArrayLike,
    labels: Sequence[str] | Sequence[int] | NDArray[np.generic],
    *,
    statistic: str = "welch",
    resamples: int = 10_000,
    rng: RNG = 0,
    batch: int | None = None,
) -> HeterogeneityResult:
    """Test whether the mean difference is the same in all segments by permuting the labels.

    1. Segments of one query are left out (and counted); the labels of the other queries present in a column are
       permuted over its (weighted) differences.
    2. The statistic is Welch's F, which stays valid under unequal variances where permuting the plain sum of squares
       does not. A segment without any spread is given a tiny one (1e-9 of that of all queries), so F stays finite.
    3. If the labels have no more than `resamples` distinct arrangements all of them are enumerated and p = b / M;
       otherwise p = (b + 1) / (B + 1). Values within 1e-9 of the observed one, or as near as rounding of the
       differences explains, count as equal to it.

    Parameters
    ----------
    differences : Differences or array_like, shape (n,) or (n, c)
        Differences per query; an array stands for differences from 0.
    labels : sequence of str or int, length n
        The segment of each query, the same for all columns.
    statistic : {'welch', 'between'}
        Welch's F or the (weighted) sum of squares between segments.
    resamples : int
        Permutations drawn where not all are enumerated.
    rng : int, SeedSequence, BitGenerator, Generator or None
        Seed or source of random numbers.
    batch : int, optional
        Permutations held in memory at once; no number depends on it.

    Returns
    -------
    HeterogeneityResult

    Raises
    ------
    RankstatsError
        If the labels do not fit or an argument is out of range.

    References
    ----------
    Welch 1951; Janssen 1997 (studentised permutation tests); Cochran 1954; Higgins & Thompson 2002 (I²).

    Examples
    --------
    >>> result = heterogeneity_test([0.10, 0.14, -0.02, 0.01, 0.05, -0.06, 0.0], list("aabbccc"))
    >>> result.exact.tolist(), result.segments.tolist(), bool(0 < result.p_value[0] < 1)
    ([True], [3], True)
    """
    check_choice("statistic", statistic, STATISTICS)
    resamples = check_count("resamples", resamples)
    if not isinstance(differences, Differences):
        values = np.asarray(differences, dtype=np.float64)
        differences = paired_differences(np.zeros(values.shape), values)
    codes = _codes(labels, differences.n_rows)
    seed = generator_from(rng).integers(0, 2**64 - 1, size=4, dtype=np.uint64, endpoint=True)
    result = _empty(differences.n_columns, resamples)
    masks, mask_of = distinct_masks(differences.present)
    for mask in range(masks.shape[1]):
        columns = np.flatnonzero(mask_of == mask)
        rows, arranged, left_out = _segments(codes, masks[:, mask])
        sizes = np.bincount(arranged)
        result.segments[columns], result.left_out[columns], result.n[columns] = len(sizes), left_out, len(rows)
        if len(sizes) > 1:
            test = _Test.of(differences.select(columns), rows, sizes, statistic)
            _fill(result, columns, test, arranged, seed=seed, batch=batch)
    return result


def _empty(n_columns: int, resamples: int) -> HeterogeneityResult:
    undefined, none = np.full(n_columns, np.nan), np.zeros(n_columns, dtype=np.int64)
    return HeterogeneityResult(
        statistic=undefined.copy(),
        p_value=undefined.copy(),
        exact=np.zeros(n_columns, dtype=bool),
        welch_p=undefined.copy(),
        cochran_q=undefined.copy(),
        q_p_value=undefined.copy(),
        i_squared=undefined.copy(),
        segments=none.copy(),
        left_out=none.copy(),
        n=none.copy(),
        resamples=resamples,
    )


def _fill(
    result: HeterogeneityResult,
    columns: Codes,
    test: _Test,
    arranged: Codes,
    *,
    seed: NDArray[np.uint64],
    batch: int | None,
) -> None:
    observed = test.statistics(arranged[None])[0]
    exact, p_value = _permutation_p(test, arranged, observed, result.resamples, seed=seed, batch=batch)
    result.statistic[columns], result.p_value[columns], result.exact[columns] = observed, p_value, exact
    welch_p, q, q_p_value, i_squared = test.parametric(arranged)
    result.welch_p[columns], result.cochran_q[columns] = welch_p, q
    result.q_p_value[columns], result.i_squared[columns] = q_p_value, i_squared


def _codes(labels: Sequence[str] | Sequence[int] | NDArray[np.generic], n: int) -> Codes:
    array = np.asarray(labels)
    if array.shape != (n,):
        raise RankstatsError(f"labels have shape {array.shape}; one for each of the {n} queries is expected")
    return np.unique(array.astype(str) if array.dtype == object else array, return_inverse=True)[1].ravel()


def _segments(codes: Codes, present: NDArray[np.bool_]) -> tuple[Codes, Codes, int]:
    """Return the rows that take part, their segments numbered 0 … k − 1, and how many rows were left out."""
    sizes = np.bincount(codes[present], minlength=codes.max(initial=0) + 1)
    rows = np.flatnonzero(present & (sizes[codes] > 1))
    return rows, np.unique(codes[rows], return_inverse=True)[1].ravel(), int(np.count_nonzero(sizes == 1))


@dataclass(frozen=True, slots=True)
class _Test:
    """Statistics of arrangements of labels over the rows of columns that share them."""

    moments: CentredMoments
    sizes: Codes
    weights: Floats
    floor: Floats
    statistic: str
    rounding: Floats
    """By how much rounding can move a segment's mean from the mean of all, shape (c,)."""
    deviation: Floats

    @classmethod
    def of(cls, differences: Differences, rows: Codes, sizes: Codes, statistic: str) -> _Test:
        inside = np.zeros(differences.n_rows, dtype=bool)
        inside[rows] = True
        taking_part = differences.within(inside)
        moments = CentredMoments.of(taking_part, len(rows)).restricted(rows)
        error = np.nan_to_num(taking_part.standard_error)
        return cls(
            moments,
            sizes,
            differences.weight_integers[rows],
            _FLOOR * error**2,
            statistic,
            taking_part.unit + taking_part.numerator_unit * len(rows) / taking_part.total_weight,
            taking_part.standard_deviation,
        )

    def _of_segments(self, arrangements: Codes) -> tuple[Floats, Floats, Floats]:
        """Return mean less the mean of all, squared standard error, and weight; shape (arrangements, k, c)."""
        k, shape = len(self.sizes), (len(arrangements), len(self.sizes), -1)
        members = (arrangements[:, None, :] == np.arange(k)[:, None]).astype(np.float64)
        stacked = members.reshape(-1, members.shape[2])
        deviation, variance = self.moments.deviation_and_variance(stacked)
        weight = (stacked @ self.weights).reshape(len(arrangements), k, 1)
        return np.nan_to_num(deviation).reshape(shape), np.nan_to_num(variance).reshape(shape), weight

    def statistics(self, arrangements: Codes) -> Floats:
        """Return the statistic of each arrangement of labels, shape (arrangements, c); NaN without any spread."""
        deviation, variance, weight = self._of_segments(arrangements)
        if self.statistic == "between":
            return _over_segments(weight * deviation**2)
        precision = 1 / np.maximum(variance, np.where(self.floor > 0, self.floor, np.nan))
        total = _over_segments(precision)[:, None]
        centre = _over_segments(precision * deviation)[:, None] / total
        k = len(self.sizes)
        between = _over_segments(precision * (deviation - centre) ** 2) / (k - 1)
        return np.asarray(between / (1 + 2 * (k - 2) / (k**2 - 1) * self._imbalance(precision / total)))

    def _imbalance(self, share: Floats) -> Floats:
        return _over_segments((1 - share) ** 2 / (self.sizes - 1)[:, None])

    def slack(self, observed: Floats) -> Floats:
        """Return by how much a statistic may miss the observed one and still count as equal to it, shape (c,)."""
        if self.statistic == "between":
            total = self.weights.sum()
            moved = 2 * self.rounding * np.sqrt(total * observed) + total * self.rounding**2
        else:
            n, deviation = self.sizes.sum(), self.deviation
            share = np.divide(self.rounding, deviation, out=np.zeros(len(deviation)), where=deviation > 0)
            moved = 4 * share * (observed + np.sqrt(n * observed)) + 2 * n * share**2
        return np.asarray(np.maximum(TOLERANCE * observed, moved))

    def parametric(self, arranged: Codes) -> tuple[Floats, Floats, Floats, Floats]:
        """Return p of Welch's F, Cochran's Q, its p and I², each of shape (c,)."""
        deviation, variance, _ = (part[0] for part in self._of_segments(arranged[None]))
        n_columns, k = deviation.shape[1], len(self.sizes)
        welch_p = np.full(n_columns, np.nan)
        if self.statistic == "welch":
            precision = 1 / np.maximum(variance, np.where(self.floor > 0, self.floor, np.nan))
            imbalance = self._imbalance((precision / _over_segments(precision[None]))[None])[0]
            welch_p = special.fdtrc(k - 1, (k**2 - 1) / (3 * imbalance), self.statistics(arranged[None])[0])
        pooled = [cochran_q(deviation[:, j], np.sqrt(variance[:, j])) for j in range(n_columns)]
        q, q_p, i_squared = np.array(pooled).T
        return welch_p, q, q_p, i_squared


def _over_segments(terms: Floats) -> Floats:
    """Add (arrangements, k, c) over k one by one: numpy's own order would depend on the number of columns."""
    return reduce(np.add, (terms[:, segment] for segment in range(terms.shape[1])))


def cochran_q(estimates: ArrayLike, standard_errors: ArrayLike) -> tuple[float, float, float]:
    """Return Cochran's Q of independent estimates, its χ² p-value, and I².

    Estimates whose standard error is 0 or NaN are left out; with fewer than two others all three are NaN.

    Parameters
    ----------
    estimates, standard_errors : array_like, shape (k,)
        Estimates and their standard errors.

    Returns
    -------
    q, p_value, i_squared : float
        I² = max(0, (Q − df) / Q), a fraction.

    References
    ----------
    Cochran 1954; Higgins & Thompson 2002; R's metafor.

    Examples
    --------
    >>> [round(number, 4) for number in cochran_q([0.012, 0.045, -0.02, 0.06], [0.01, 0.015, 0.012, 0.03])]
    [14.4892, 0.0023, 0.7929]
    """
    error = np.asarray(standard_errors, dtype=np.float64)
    usable = error > 0
    df = int(np.count_nonzero(usable)) - 1
    if df < 1:
        return np.nan, np.nan, np.nan
    estimate, precision = np.asarray(estimates, dtype=np.float64)[usable], error[usable] ** -2
    centre = np.sum(precision * estimate) / np.sum(precision)
    q = float(np.sum(precision * (estimate - centre) ** 2))
    return q, float(special.chdtrc(df, q)), max(0.0, (q - df) / q) if q > 0 else 0.0


def _permutation_p(
    test: _Test, arranged: Codes, observed: Floats, resamples: int, *, seed: NDArray[np.uint64], batch: int | None
) -> tuple[bool, Floats]:
    threshold = observed - test.slack(observed)
    count = np.zeros(len(observed), dtype=np.int64)
    total = _arrangement_count(test.sizes)
    exact = total <= resamples
    if batch is None:
        batch = max(1, _COLUMN_ELEMENTS // (len(test.sizes) * max(len(arranged), len(observed))))
    source = _all_arrangements(test.sizes, batch) if exact else _permuted(arranged, resamples, seed, batch)
    for arrangements in source:
        # no spread at all: every arrangement is as extreme as the observed one
        count += np.count_nonzero(~(test.statistics(arrangements) < threshold), axis=0)
    return exact, count / total if exact else monte_carlo_p(count, resamples)


def _permuted(arranged: Codes, resamples: int, seed: NDArray[np.uint64], batch: int) -> Iterator[Codes]:
    # a generator of its own for each set of rows, so that no column depends on which others there are
    generator = np.random.default_rng(seed)
    for start, stop in batches(resamples, len(arranged), batch):
        yield generator.permuted(np.tile(arranged, (stop - start, 1)), axis=1)


def _arrangement_count(sizes: Codes) -> int:
    return math.factorial(int(sizes.sum())) // math.prod(math.factorial(int(size)) for size in sizes)


def _all_arrangements(sizes: Codes, batch: int) -> Iterator[Codes]:
    table = _arrangements([int(size) for size in sizes])
    for start, stop in batches(len(table), table.shape[1], batch):
        yield table[start:stop]


def _arrangements(sizes: list[int]) -> Codes:
    """Return every distinct arrangement of labels 0 … k − 1 of the given sizes, one a row."""
    n = sum(sizes)
    if len(sizes) == 1:
        return np.zeros((1, n), dtype=np.int64)
    others = _arrangements(sizes[1:]) + 1
    blocks = []
    for chosen in combinations(range(n), sizes[0]):
        block = np.zeros((len(others), n), dtype=np.int64)
        block[:, np.setdiff1d(np.arange(n), chosen)] = others
        blocks.append(block)
    return np.concatenate(blocks)
