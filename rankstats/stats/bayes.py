"""Posterior probabilities that a system is practically worse, equivalent or better: Bayesian t, signed-rank and sign.

A posterior probability answers another question than a p-value and is never put in its place; the region of practical
equivalence (ROPE) is set before the data are seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from rankstats.errors import RankstatsError
from rankstats.stats.differences import Differences
from rankstats.stats.random_blocks import RNG, generator_from, index_words
from rankstats.stats.results import ColumnResult
from rankstats.stats.validation import check_alpha, check_count

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class BayesianTResult(ColumnResult):
    """Result of `bayesian_t`; array fields have shape (c,), NaN where the differences have no spread.

    Attributes
    ----------
    estimate : ndarray
        (Weighted) mean difference: centre of the posterior.
    scale : ndarray
        Scale of the posterior t distribution.
    worse, equivalent, better : ndarray
        Posterior probabilities of a mean difference below −rope, from −rope to rope, and above rope; they add up to 1.
    low, high : ndarray
        Central credible interval of probability 1 − alpha.
    rope : ndarray
        Half width of the region of practical equivalence.
    n : ndarray of int
        Queries.
    alpha, correlation : float
        As given.
    """

    estimate: Floats
    scale: Floats
    worse: Floats
    equivalent: Floats
    better: Floats
    low: Floats
    high: Floats
    rope: Floats
    n: NDArray[np.int64]
    alpha: float
    correlation: float


def bayesian_t(
    differences: Differences, rope: ArrayLike = 0.0, *, alpha: float = 0.05, correlation: float = 0.0
) -> BayesianTResult:
    """Return the posterior of the mean difference under normal differences and Jeffreys' prior: exact, without draws.

    The posterior is a t distribution on n − 1 degrees of freedom around the mean difference, its squared scale
    s² (1/n + ρ / (1 − ρ)). With ρ = 0 (independent queries) P(difference < 0) is the one-sided p of the paired t test
    and the credible interval equals its interval. ρ = 1/k corrects the scores of k-fold cross-validation (Nadeau &
    Bengio); do not use it for independent queries. With weights s²/n is the squared linearised standard error.

    Parameters
    ----------
    differences : Differences
        n queries, c columns.
    rope : float or array_like, shape (c,)
        Half width of the region of practical equivalence, 0 or more.
    alpha : float
        1 − probability of the credible interval.
    correlation : float
        ρ between the differences, from 0 to below 1.

    Returns
    -------
    BayesianTResult

    Raises
    ------
    RankstatsError
        If an argument is out of range.

    References
    ----------
    Corani & Benavoli 2015; Benavoli, Corani, Demšar & Zaffalon 2017, section 4.1; Nadeau & Bengio 2003.

    Examples
    --------
    >>> from rankstats.stats import paired_differences
    >>> d = paired_differences([0.31, 0.52, 0.11, 0.75], [0.36, 0.49, 0.25, 0.86])
    >>> result = bayesian_t(d, 0.01)
    >>> result.worse.round(3).tolist(), result.equivalent.round(3).tolist(), result.better.round(3).tolist()
    ([0.065], [0.046], [0.889])
    """
    alpha, half = check_alpha(alpha), _checked_rope(rope, differences)
    if not 0 <= correlation < 1:
        raise RankstatsError(f"correlation = {correlation!r}: a number from 0 to below 1 is expected")
    estimate, error, n = differences.mean, differences.standard_error, differences.n
    scale = np.where(error > 0, error, np.nan) * np.sqrt(1 + n * correlation / (1 - correlation))
    df = np.maximum(n - 1, 1)
    worse = special.stdtr(df, (-half - estimate) / scale)
    better = special.stdtr(df, (estimate - half) / scale)
    width = -special.stdtrit(df, alpha / 2) * scale
    return BayesianTResult(
        estimate=estimate,
        scale=scale,
        worse=worse,
        # as a difference of the same two tails it could fall below 0 by rounding
        equivalent=np.where(half > 0, np.maximum(0.0, 1 - worse - better), np.where(np.isnan(worse), np.nan, 0.0)),
        better=better,
        low=estimate - width,
        high=estimate + width,
        rope=half,
        n=n,
        alpha=alpha,
        correlation=float(correlation),
    )


@dataclass(frozen=True, slots=True, eq=False)
class BayesianShareResult(ColumnResult):
    """Result of `bayesian_signed_rank` and `bayesian_sign`; array fields have shape (c,), NaN without queries.

    Attributes
    ----------
    worse, equivalent, better : ndarray
        Posterior probabilities that the region below −rope, within ±rope, above rope is the most likely of the three
        (draws in which two are equally likely count for both in halves); they add up to 1.
    share_worse, share_equivalent, share_better : ndarray
        Posterior means of the regions' own probabilities: of half the sum of two queries' differences (signed rank) or
        of one query's difference (sign) to lie there; they add up to 1.
    monte_carlo_error : ndarray
        Largest Monte Carlo standard error of the first three.
    rope : ndarray
        Half width of the region of practical equivalence.
    n : ndarray of int
        Queries.
    prior : float
        Strength of the prior, in queries without a difference.
    draws : int
        Draws from the posterior.
    """

    worse: Floats
    equivalent: Floats
    better: Floats
    share_worse: Floats
    share_equivalent: Floats
    share_better: Floats
    monte_carlo_error: Floats
    rope: Floats
    n: NDArray[np.int64]
    prior: float
    draws: int


def bayesian_signed_rank(
    differences: Differences,
    rope: ArrayLike = 0.0,
    *,
    prior: float = 0.5,
    draws: int = 50_000,
    rng: RNG = 0,
    batch: int | None = None,
) -> BayesianShareResult:
    """Bayesian signed-rank test: posterior of where the average of two queries' differences lies.

    1. Each draw weighs the queries, and one pseudo-query without a difference, by a Dirichlet distribution with
       parameters 1 and `prior`: exponential variables (for the pseudo-query a gamma variable) over their sum, made from
       one block of random words for all columns.
    2. Of a draw, θ_better = Σᵢ Σⱼ wᵢ wⱼ [dᵢ + dⱼ > 2 rope], θ_worse likewise below −2 rope, and θ_equivalent the rest;
       with rope = 0 sums of 0 go to either side in halves. The probabilities are shares of draws in which each is the
       largest.

    Weights of the queries play no part.

    Parameters
    ----------
    differences : Differences
        n queries, c columns.
    rope : float or array_like, shape (c,)
        Half width of the region of practical equivalence, 0 or more; its ends belong to it.
    prior : float
        Strength of the prior, more than 0.
    draws : int
        Draws from the posterior.
    rng : int, SeedSequence, BitGenerator, Generator or None
        Seed or source of the random words; those of a query depend on its position only.
    batch : int, optional
        Draws held in memory at once; no number depends on it.

    Returns
    -------
    BayesianShareResult

    Raises
    ------
    RankstatsError
        If an argument is out of range.

    References
    ----------
    Benavoli, Mangili, Corani, Zaffalon & Ruggeri 2014; Benavoli, Corani, Demšar & Zaffalon 2017, section 4.2; the
    program baycomp, which counts sums on the edge of a region in halves.

    Examples
    --------
    >>> from rankstats.stats import paired_differences
    >>> d = paired_differences([0.31, 0.52, 0.11, 0.75, 0.4], [0.36, 0.49, 0.25, 0.86, 0.4])
    >>> result = bayesian_signed_rank(d, 0.01)
    >>> result.worse.round(2).tolist(), result.equivalent.round(2).tolist(), result.better.round(2).tolist()
    ([0.06], [0.03], [0.9])
    """
    return _sampled(differences, rope, prior=prior, draws=draws, rng=rng, batch=batch, pairs=True)


def bayesian_sign(
    differences: Differences,
    rope: ArrayLike = 0.0,
    *,
    prior: float = 1.0,
    draws: int = 50_000,
    rng: RNG = 0,
    batch: int | None = None,
) -> BayesianShareResult:
    """Bayesian sign test: posterior of the shares of queries that are worse, equivalent and better.

    Queries and one pseudo-query without a difference are weighed as in `bayesian_signed_rank`; the shares of the three
    regions then have a Dirichlet distribution with the counts of queries in them, plus `prior` for the middle one. With
    rope = 0 the middle one holds the ties and the prior. Weights of the queries play no part.

    Parameters
    ----------
    differences, rope, prior, draws, rng, batch
        As in `bayesian_signed_rank`.

    Returns
    -------
    BayesianShareResult

    Raises
    ------
    RankstatsError
        If an argument is out of range.

    References
    ----------
    Benavoli, Corani, Demšar & Zaffalon 2017, section 4.2; the program baycomp.

    Examples
    --------
    >>> from rankstats.stats import paired_differences
    >>> d = paired_differences([0.31, 0.52, 0.11, 0.75, 0.4], [0.36, 0.49, 0.25, 0.86, 0.4])
    >>> result = bayesian_sign(d, 0.01)
    >>> result.share_worse.round(2).tolist(), result.share_better.round(2).tolist()
    ([0.17], [0.5])
    """
    return _sampled(differences, rope, prior=prior, draws=draws, rng=rng, batch=batch, pairs=False)


def _checked_rope(rope: ArrayLike, differences: Differences) -> Floats:
    half = np.asarray(rope, dtype=np.float64)
    if half.shape not in ((), (differences.n_columns,)) or not np.all(np.isfinite(half) & (half >= 0)):
        raise RankstatsError(
            f"rope: one finite number of at least 0, or one for each of the {differences.n_columns} columns, is "
            "expected; give half the width of the region"
        )
    return np.broadcast_to(half, (differences.n_columns,)).copy()


def _sampled(
    differences: Differences,
    rope: ArrayLike,
    *,
    prior: float,
    draws: int,
    rng: RNG,
    batch: int | None,
    pairs: bool,
) -> BayesianShareResult:
    half, draws = _checked_rope(rope, differences), check_count("draws", draws)
    if not 0 < prior < np.inf:
        raise RankstatsError(f"prior = {prior!r}: a finite strength of more than 0 is expected")
    batch = None if batch is None else check_count("batch", batch)
    regions = [_Regions.of(differences, column, half[column], pairs) for column in range(differences.n_columns)]
    winners = np.zeros((3, len(regions)))
    for weights in _dirichlet(differences.n_rows, prior, draws, generator_from(rng), batch):
        for column, region in enumerate(regions):
            share = region.shares(weights)
            largest = share == share.max(axis=0)
            winners[:, column] += (largest / largest.sum(axis=0)).sum(axis=1)
    empty = differences.n == 0
    probability = np.where(empty, np.nan, winners / draws)
    mean_share = np.array([region.mean_shares(prior) for region in regions]).reshape(-1, 3).T
    mean_share = np.where(empty, np.nan, mean_share)
    error = np.sqrt(np.max(probability * (1 - probability), axis=0, initial=0.0) / draws)
    return BayesianShareResult(
        worse=probability[0],
        equivalent=probability[1],
        better=probability[2],
        share_worse=mean_share[0],
        share_equivalent=mean_share[1],
        share_better=mean_share[2],
        monte_carlo_error=error,
        rope=half,
        n=differences.n,
        prior=float(prior),
        draws=draws,
    )


def _dirichlet(n: int, prior: float, draws: int, generator: np.random.Generator, batch: int | None) -> Iterator[Floats]:
    """Yield unnormalised weights of the pseudo-query (first) and the queries, shape (draws of the batch, n + 1)."""
    for _, words in index_words(generator, n + 1, draws, batch):
        uniform = (words + 0.5) / 2.0**32
        weights = -np.log(uniform)
        weights[:, 0] = special.gammaincinv(prior, uniform[:, 0])
        yield weights


@dataclass(frozen=True, slots=True)
class _Regions:
    """Which queries, or sums of two queries, lie in which region; queries ordered by their differences.

    `at_least` and `at_most` hold, for each query i of the order, where the partners j with a sum above the region begin
    and where those with a sum below it end; for single queries, of which there is one row, likewise. Sums of 0 with
    rope = 0 lie between the two and are shared out in halves.
    """

    order: NDArray[np.int64]
    at_most: NDArray[np.int64]
    at_least: NDArray[np.int64]
    pairs: bool
    shared_out: bool

    @classmethod
    def of(cls, differences: Differences, column: int, rope: float, pairs: bool) -> _Regions:
        rows = np.flatnonzero(differences.present[:, column])
        values = np.concatenate([[0.0], differences.integers[rows, column]])
        order = np.argsort(values, kind="stable")
        values = values[order]
        # on the grid of the differences, so that a difference as large as the rope lies within it
        edge = np.rint(rope / differences.unit[column]) * (2 if pairs else 1)
        partners = values if pairs else np.zeros(1)
        return cls(
            order=np.concatenate([[0], rows + 1])[order],
            at_most=np.searchsorted(values, -edge - partners, side="left"),
            at_least=np.searchsorted(values, edge - partners, side="right"),
            pairs=pairs,
            shared_out=pairs and rope == 0,
        )

    def shares(self, weights: Floats) -> Floats:
        """Return the shares of the regions below, within and above in each draw, shape (3, draws)."""
        ordered = np.take(weights, self.order, axis=1)
        # added up from left to right, which depends on no number of threads
        running = np.concatenate([np.zeros((len(ordered), 1)), np.cumsum(ordered, axis=1)], axis=1)
        total = running[:, -1:]
        outer = ordered / total if self.pairs else np.ones((len(ordered), 1))
        below = np.sum(outer * np.take(running, self.at_most, axis=1) / total, axis=1)
        above = np.sum(outer * (total - np.take(running, self.at_least, axis=1)) / total, axis=1)
        return self._with_middle(below, above)

    def mean_shares(self, prior: float) -> Floats:
        """Return the posterior means of the shares, from the moments of the Dirichlet distribution, shape (3,)."""
        strength = np.where(self.order == 0, prior, 1.0)
        running = np.concatenate([[0.0], np.cumsum(strength)])
        total = running[-1]
        if not self.pairs:
            return self._with_middle(running[self.at_most[0]] / total, (total - running[self.at_least[0]]) / total)
        place = np.arange(len(strength))
        below = running[self.at_most] + (place < self.at_most)
        above = total - running[self.at_least] + (place >= self.at_least)
        norm = total * (total + 1)
        return self._with_middle(np.sum(strength * below) / norm, np.sum(strength * above) / norm)

    def _with_middle(self, below: Floats | np.floating[Any], above: Floats | np.floating[Any]) -> Floats:
        middle = np.maximum(0.0, 1 - below - above)
        if self.shared_out:
            return np.array([below + middle / 2, np.zeros_like(middle), above + middle / 2])
        return np.array([below, middle, above])
