"""Bootstrap intervals by name: of mean differences and of ratios, all from one set of resamples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from rankstats.errors import RankstatsError
from rankstats.stats.bca import bca_level, bias_correction, jackknife_acceleration
from rankstats.stats.differences import Differences
from rankstats.stats.flip_readings import column_chunks
from rankstats.stats.joined_columns import join_columns
from rankstats.stats.quantiles import QUANTILES, quantile_at
from rankstats.stats.random_blocks import RNG, replayed
from rankstats.stats.ratios import Ratios, as_ratios, cluster_totals
from rankstats.stats.resampled_ratios import Resampled, mean_and_deviation, resampled_ratios, standard_errors
from rankstats.stats.resampling import Resampling
from rankstats.stats.results import ColumnResult
from rankstats.stats.validation import check_alpha, check_choice

INTERVAL_METHODS = ("normal", "percentile", "expanded", "basic", "bca", "studentised")

_NEED_STANDARD_ERROR = ("normal", "studentised")

_COLUMNS_AT_ONCE = 128

Floats = NDArray[np.float64]
Ends = tuple[Floats, Floats]


@dataclass(frozen=True, slots=True, eq=False)
class BootstrapIntervals(ColumnResult):
    """Result of `bootstrap_intervals`; array fields have shape (c,) unless said otherwise.

    Attributes
    ----------
    estimate : ndarray
        The statistic; NaN where it is not defined.
    standard_error : ndarray
        Standard deviation of the resampled values (denominator B − 1).
    bias : ndarray
        Mean of the resampled values less the estimate.
    bias_correction : ndarray
        z0 of BCa: the normal quantile of the share of resampled values below the estimate.
    acceleration : ndarray
        a of BCa, from the jackknife; NaN where BCa was not asked for or leaving out a row leaves nothing.
    low, high : ndarray, shape (c, m)
        Ends of the intervals, in the order of `methods`. NaN (no interval) where all differences are 0 or the
        statistic is not defined; unbounded where resampling shows no spread.
    undefined : ndarray of int
        Resamples in which the denominator was not positive.
    unstudentised : ndarray of int
        Resamples without a standard error, of which t* is infinite; 0 where none was asked for.
    n : ndarray of int
        Rows: queries, or clusters.
    methods : tuple of str
        Names of the intervals.
    quantiles : str
        Convention of the quantiles.
    scheme : str
        'rows' or 'poisson'.
    resamples : int
        Number of resamples B.
    alpha : float
        1 − level.
    """

    estimate: Floats
    standard_error: Floats
    bias: Floats
    bias_correction: Floats
    acceleration: Floats
    low: Floats
    high: Floats
    undefined: NDArray[np.int64]
    unstudentised: NDArray[np.int64]
    n: NDArray[np.int64]
    methods: tuple[str, ...]
    quantiles: str
    scheme: str
    resamples: int
    alpha: float

    def interval(self, method: str) -> Ends:
        """Return the lower and upper ends of one interval, each of shape (c,).

        Raises
        ------
        RankstatsError
            If it was not asked for.
        """
        at = self.methods.index(check_choice("method", method, self.methods))
        return self.low[:, at], self.high[:, at]


def bootstrap_intervals(
    statistic: Differences | Ratios,
    *,
    methods: Sequence[str] | None = None,
    alpha: float = 0.05,
    resamples: int = 10_000,
    rng: RNG = 0,
    quantiles: str = "type7",
    scheme: str = "rows",
    strata: ArrayLike | None = None,
    batch: int | None = None,
    indices: ArrayLike | None = None,
    counts: ArrayLike | None = None,
) -> BootstrapIntervals:
    """Return bootstrap intervals of (weighted) mean differences, or of ratios; none of them carries a p-value.

    With R the estimate, R* the resampled values, q(p) their quantile and z normal quantiles:

    * ``normal``: 2R − mean R* ± z · se, with the linearised standard error. Not offered with strata.
    * ``percentile``: q(alpha/2) to q(1 − alpha/2).
    * ``expanded``: the percentile interval of level 1 − 2Φ(−√(n/(n − 1)) · t), t of n − 1 degrees of freedom: wide
      enough for small n, where the plain one is not. With H strata n − H takes the place of n − 1.
    * ``basic``: 2R − q(1 − alpha/2) to 2R − q(alpha/2).
    * ``bca``: q at levels moved by the bias correction z0 and the acceleration a. Values equal to R (to 1e-9 of
      Σ|numerator| / Σ denominator, or to rounding) count half as below it, with ``norm.inter`` not at all, as in R's
      boot. The acceleration comes from the jackknife, within strata where there are any. Meant for ratios and weighted
      means.
    * ``studentised``: R − q_t(1 − alpha/2) · se to R − q_t(alpha/2) · se, q_t the quantile of (R* − R) / se*, with the
      linearised standard error recomputed in each resample. A resample without spread has t* = ±∞; more than alpha/2
      of them on a side leave that end unbounded. Not offered with strata.

    A resample without a positive denominator counts as −∞ for lower and +∞ for upper ends. BCa is unbounded at an end
    for which its formula has no level.

    All columns share one block of random words; columns with the same rows share their resamples, which are those of
    `paired_bootstrap`.

    Parameters
    ----------
    statistic : Differences or Ratios
        n queries, c columns; `relative_ratios` makes relative differences, ``of_clusters`` resamples whole clusters.
    methods : sequence of str, optional
        Any of 'normal', 'percentile', 'expanded', 'basic', 'bca', 'studentised'; all that can be had by default.
    alpha : float
        1 − level, between 0 and 1.
    resamples : int
        Number of resamples B.
    rng : int, SeedSequence, BitGenerator, Generator or None
        Seed or source of the random words.
    quantiles : {'type7', 'type6', 'norm.inter'}
        Convention of the quantiles; the last one is that of R's ``boot.ci``.
    scheme : {'rows', 'poisson'}
        Resample n rows with replacement, or count each row a Poisson(1) number of times: for very many rows.
    strata : array_like, shape (n,), optional
        Labels within which rows are resampled ('rows' only). A column of which a row is alone in its stratum keeps it.
    batch : int, optional
        Resamples held in memory at once; no number depends on it.
    indices : array_like of int, shape (B, n), optional
        Resamples to replay instead of drawing: rows counted from 0. Only for columns without absent rows.
    counts : array_like of int, shape (B, n), optional
        Resamples to replay, as how often each row counts.

    Returns
    -------
    BootstrapIntervals

    Raises
    ------
    RankstatsError
        If an argument is out of range.

    References
    ----------
    Efron 1987 (BCa); Davison & Hinkley 1997 (basic, studentised, stratified); Hesterberg 2015 (expanded percentile);
    Hanley & MacGibbon 2006, Chamandy et al. 2012 (Poisson).

    Examples
    --------
    >>> from rankstats.stats import paired_differences
    >>> d = paired_differences(np.zeros(20), np.random.default_rng(1).normal(0.3, 0.5, 20))
    >>> result = bootstrap_intervals(d, methods=["percentile", "expanded"], resamples=999)
    >>> bool(result.low[0, 1] < result.low[0, 0] < result.estimate[0] < result.high[0, 0] < result.high[0, 1])
    True
    """
    ratios = as_ratios(statistic)
    resampling = Resampling.of(
        ratios.present,
        resamples=resamples,
        rng=rng,
        batch=batch,
        scheme=scheme,
        strata=strata,
        indices=indices,
        counts=counts,
    )
    asked = _Asked(
        _checked_methods(methods, stratified=strata is not None),
        check_alpha(alpha),
        check_choice("quantiles", quantiles, QUANTILES),
    )
    chunks = column_chunks(np.arange(ratios.n_columns), _COLUMNS_AT_ONCE) or [np.arange(0)]
    parts = []
    for number, chunk in enumerate(chunks):
        generator = resampling.generator if number == len(chunks) - 1 else replayed(resampling.generator)
        parts.append(_intervals_of(ratios.select(chunk), replace(resampling, generator=generator), asked))
    return join_columns(parts)


@dataclass(frozen=True, slots=True)
class _Asked:
    """Which intervals, of which level, by which quantiles."""

    methods: tuple[str, ...]
    alpha: float
    quantiles: str


def _checked_methods(methods: Sequence[str] | None, *, stratified: bool) -> tuple[str, ...]:
    if methods is None:
        return tuple(name for name in INTERVAL_METHODS if not (stratified and name in _NEED_STANDARD_ERROR))
    chosen = [methods] if isinstance(methods, str) else list(methods)
    if not chosen or len(set(chosen)) < len(chosen):
        raise RankstatsError(f"methods = {methods!r}: name at least one interval, and each only once")
    for name in chosen:
        check_choice("methods", name, INTERVAL_METHODS)
        if stratified and name in _NEED_STANDARD_ERROR:
            raise RankstatsError(f"methods: {name!r} is not offered with strata; choose 'bca' or 'expanded'")
    return tuple(chosen)


def _intervals_of(ratios: Ratios, resampling: Resampling, asked: _Asked) -> BootstrapIntervals:
    resampled = resampled_ratios(ratios, resampling, studentised="studentised" in asked.methods)
    values, estimate = resampled.values, ratios.estimate
    known = np.isfinite(values)
    mean, deviation = mean_and_deviation(values)
    z0 = bias_correction(ratios, values, known, strictly=asked.quantiles == "norm.inter")
    with_bca = "bca" in asked.methods
    a = jackknife_acceleration(ratios, resampling.strata) if with_bca else np.full(len(estimate), np.nan)
    half = np.full(len(estimate), asked.alpha / 2)
    levels = {
        "percentile": (half, 1 - half),
        "expanded": _expanded_levels(ratios, resampling.strata, asked.alpha),
        "bca": (bca_level(z0, a, half), bca_level(z0, a, 1 - half)),
    }
    ends = _ends(resampled, levels, estimate, standard_errors(ratios), asked)
    low, high = (np.column_stack(side) for side in zip(*(_with_degenerate(ratios, e) for e in ends), strict=True))
    return BootstrapIntervals(
        estimate=estimate,
        standard_error=deviation,
        bias=mean - estimate,
        bias_correction=z0,
        acceleration=a,
        low=low,
        high=high,
        undefined=np.where(ratios.n > 0, np.count_nonzero(~known, axis=1), 0),
        unstudentised=resampled.unstudentised,
        n=ratios.n,
        methods=asked.methods,
        quantiles=asked.quantiles,
        scheme=resampling.scheme,
        resamples=resampling.resamples,
        alpha=asked.alpha,
    )


def _ends(resampled: Resampled, levels: dict[str, Ends], estimate: Floats, error: Floats, asked: _Asked) -> list[Ends]:
    """Return the ends of each method, from the one formula that each has."""
    ordered, ends = _ordered(resampled.values), []
    for method in asked.methods:
        lower, upper = _quantiles(ordered, levels.get(method, levels["percentile"]), asked)
        if method == "basic":
            lower, upper = 2 * estimate - upper, 2 * estimate - lower
        elif method == "normal":
            middle = 2 * estimate - mean_and_deviation(resampled.values)[0]
            width = -special.ndtri(asked.alpha / 2) * error
            lower, upper = middle - width, middle + width
        elif method == "studentised":
            smallest, largest = _quantiles(_ordered(resampled.studentised), levels["percentile"], asked)
            known = np.where(error > 0, error, np.nan)
            lower, upper = estimate - largest * known, estimate - smallest * known
        ends.append((lower, upper))
    return ends


def _ordered(values: Floats) -> Ends:
    """Return the values in ascending order, those that are not known as −∞ and as +∞."""
    unknown = np.isnan(values)
    if not unknown.any():
        ordered = np.sort(values, axis=1)
        return ordered, ordered
    return np.sort(np.where(unknown, -np.inf, values), axis=1), np.sort(np.where(unknown, np.inf, values), axis=1)


def _quantiles(ordered: Ends, levels: Ends, asked: _Asked) -> Ends:
    return quantile_at(ordered[0], levels[0], asked.quantiles), quantile_at(ordered[1], levels[1], asked.quantiles)


def _expanded_levels(ratios: Ratios, strata: NDArray[np.int64] | None, alpha: float) -> Ends:
    n = ratios.n
    if strata is None:
        used = np.minimum(n, 1)
    else:
        inside = cluster_totals(ratios.present.astype(np.float64), strata) > 0
        used = np.count_nonzero(inside, axis=0)
    df = n - used
    t = special.stdtrit(np.maximum(df, 1), alpha / 2)
    level = np.where(df > 0, special.ndtr(np.sqrt(n / np.maximum(df, 1)) * t), 0.0)
    return level, 1 - level


def _with_degenerate(ratios: Ratios, ends: Ends) -> Ends:
    """Replace the ends of columns without spread, and what a formula could not give, by unbounded or no ends."""
    none = ~ratios.defined | ratios.zero
    unbounded = ratios.constant
    low = np.where(unbounded | np.isnan(ends[0]), -np.inf, ends[0])
    high = np.where(unbounded | np.isnan(ends[1]), np.inf, ends[1])
    return np.where(none, np.nan, low), np.where(none, np.nan, high)
