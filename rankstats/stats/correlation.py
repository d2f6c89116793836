"""Rank correlation with ties: Kendall's τ (a, b, c) and Spearman's ρ, singly and for many groups at once."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from rankstats.errors import RankstatsError
from rankstats.stats.results import ColumnResult
from rankstats.stats.validation import check_choice

VARIANTS = ("a", "b", "c")

_PAIRWISE_UP_TO = 128
_PAIR_ELEMENTS = 1 << 20

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RankCorrelation:
    """Rank correlations of two variables.

    Attributes
    ----------
    tau_a, tau_b, tau_c : float
        Kendall's τ; NaN where undefined (n < 2, or for b and c a constant variable).
    rho : float
        Spearman's ρ on mid-ranks; NaN for a constant variable.
    n : int
        Pairs of values.
    """

    tau_a: float
    tau_b: float
    tau_c: float
    rho: float
    n: int


def rank_correlation(x: ArrayLike, y: ArrayLike) -> RankCorrelation:
    """Return Kendall's τ and Spearman's ρ of two variables, ties allowed.

    Parameters
    ----------
    x, y : array_like, shape (n,)
        Values (not sort positions of ids); a pair with NaN in either is left out.

    Returns
    -------
    RankCorrelation
        A constant variable gives NaN, not 0 and not 1.

    Raises
    ------
    RankstatsError
        If the shapes differ.

    References
    ----------
    Kendall 1945; Stuart 1953 (τ_c); Spearman 1904.

    Examples
    --------
    >>> result = rank_correlation([1, 2, 2, 3], [1, 3, 2, 4])
    >>> round(result.tau_b, 4), round(result.rho, 4), result.n
    (0.9129, 0.9487, 4)
    """
    first, second = _paired(x, y)
    n = len(first)
    if n < 2:
        return RankCorrelation(np.nan, np.nan, np.nan, np.nan, n)
    balance, untied_x, untied_y = _pair_counts(first, second)
    pairs = n * (n - 1) / 2
    fewest = min(len(np.unique(first)), len(np.unique(second)))
    constant = untied_x == 0 or untied_y == 0
    return RankCorrelation(
        balance / pairs,
        np.nan if constant else balance / math.sqrt(untied_x * untied_y),
        np.nan if constant else 2 * balance * fewest / (n**2 * (fewest - 1)),
        float(_rho(first[None], second[None])[0]),
        n,
    )


def kendall_tau(x: ArrayLike, y: ArrayLike, variant: str = "b") -> float:
    """Return Kendall's τ of the given variant ('a', 'b' or 'c'); see `rank_correlation`.

    Examples
    --------
    >>> kendall_tau([1, 2, 3], [1, 3, 2], "a")
    0.3333333333333333
    """
    check_choice("variant", variant, VARIANTS)
    return float(getattr(rank_correlation(x, y), f"tau_{variant}"))


def spearman_rho(x: ArrayLike, y: ArrayLike) -> float:
    """Return Spearman's ρ on mid-ranks; see `rank_correlation`.

    Examples
    --------
    >>> spearman_rho([1, 2, 3], [1, 3, 2])
    0.5
    """
    return rank_correlation(x, y).rho


@dataclass(frozen=True, slots=True, eq=False)
class GroupedRankCorrelation(ColumnResult):
    """Result of `grouped_rank_correlation`; array fields have shape (g,).

    Attributes
    ----------
    group : ndarray
        The distinct groups, ascending.
    tau_b, rho : ndarray
        Kendall's τ_b and Spearman's ρ on mid-ranks; NaN where n < 2 or a variable is constant.
    n : ndarray of int
        Pairs of values in the group.
    """

    group: NDArray[np.generic]
    tau_b: Floats
    rho: Floats
    n: NDArray[np.int64]


def grouped_rank_correlation(x: ArrayLike, y: ArrayLike, group: ArrayLike) -> GroupedRankCorrelation:
    """Return τ_b and ρ within each group, such as a system's scores against grades within each query.

    Parameters
    ----------
    x, y : array_like, shape (n,)
        Values; a pair with NaN in either is left out.
    group : array_like, shape (n,)
        The group of each pair, in any order.

    Returns
    -------
    GroupedRankCorrelation
        All groups that occur, also those of which every pair was left out (n = 0).

    Raises
    ------
    RankstatsError
        If the shapes differ.

    Examples
    --------
    >>> result = grouped_rank_correlation([3, 2, 1, 1, 2], [3, 2, 1, 2, 1], ["q1", "q1", "q1", "q2", "q2"])
    >>> result.tau_b.tolist(), result.n.tolist()
    ([1.0, -1.0], [3, 2])
    """
    groups, codes = np.unique(np.asarray(group), return_inverse=True)
    first, second = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if not first.shape == second.shape == codes.shape or first.ndim != 1:
        raise RankstatsError(
            f"x, y and group have shapes {first.shape}, {second.shape} and {codes.shape}; one is expected"
        )
    usable = ~(np.isnan(first) | np.isnan(second))
    order = np.flatnonzero(usable)[np.argsort(codes[usable], kind="stable")]
    sizes = np.bincount(codes[usable], minlength=len(groups))
    starts = np.cumsum(sizes) - sizes
    tau, rho = np.full(len(groups), np.nan), np.full(len(groups), np.nan)
    for size in np.unique(sizes[sizes > 1]):
        same = np.flatnonzero(sizes == size)
        at_once = max(1, _PAIR_ELEMENTS // int(min(size, _PAIRWISE_UP_TO)) ** 2)
        for begin in range(0, len(same), at_once):
            some = same[begin : begin + at_once]
            members = order[starts[some][:, None] + np.arange(size)]
            tau[some], rho[some] = _tau_b(first[members], second[members]), _rho(first[members], second[members])
    return GroupedRankCorrelation(groups, tau, rho, sizes)


def _paired(x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    first, second = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if first.shape != second.shape or first.ndim != 1:
        raise RankstatsError(f"x has shape {first.shape}, y {second.shape}; two of one length are expected")
    usable = ~(np.isnan(first) | np.isnan(second))
    return first[usable], second[usable]


def _tied_pairs(values: Floats) -> int:
    counts = np.unique(values, return_counts=True)[1].astype(np.int64)
    return int(np.sum(counts * (counts - 1) // 2))


def _counts_of_pairs(x: Floats, y: Floats) -> Floats:
    """Return, for rows of (g, n) arrays, concordant less discordant pairs and the pairs not tied in x and in y."""
    left, right = np.triu_indices(x.shape[1], 1)
    sign_x, sign_y = np.sign(x[:, right] - x[:, left]), np.sign(y[:, right] - y[:, left])
    return np.array([np.sum(sign_x * sign_y, axis=1), np.sum(np.abs(sign_x), axis=1), np.sum(np.abs(sign_y), axis=1)])


def _pair_counts(x: Floats, y: Floats) -> tuple[float, float, float]:
    """Return concordant less discordant pairs, and the pairs that are not tied in x and in y."""
    n = len(x)
    if n <= _PAIRWISE_UP_TO:
        balance, untied_x, untied_y = _counts_of_pairs(x[None], y[None])[:, 0]
        return float(balance), float(untied_x), float(untied_y)
    pairs = n * (n - 1) // 2
    untied_x, untied_y = float(pairs - _tied_pairs(x)), float(pairs - _tied_pairs(y))
    if untied_x == 0 or untied_y == 0:
        return 0.0, untied_x, untied_y
    # τ_b is a ratio of which scipy's n log n count gives the upper part, a whole number, by rounding
    tau = float(stats.kendalltau(x, y, method="asymptotic").statistic)
    return float(round(tau * math.sqrt(untied_x * untied_y))), untied_x, untied_y


def _tau_b(x: Floats, y: Floats) -> Floats:
    """Return τ_b of each row of two (g, n) arrays."""
    if x.shape[1] > _PAIRWISE_UP_TO:
        balance, untied_x, untied_y = np.array([_pair_counts(*rows) for rows in zip(x, y, strict=True)]).T
    else:
        balance, untied_x, untied_y = _counts_of_pairs(x, y)
    return _ratio(balance, np.sqrt(untied_x * untied_y))


def _rho(x: Floats, y: Floats) -> Floats:
    """Return Spearman's ρ of each row of two (g, n) arrays."""
    # twice the mid-ranks less their mean: whole numbers, so the sums are exact
    ranks_x = 2 * stats.rankdata(x, axis=1) - (x.shape[1] + 1)
    ranks_y = 2 * stats.rankdata(y, axis=1) - (y.shape[1] + 1)
    spread = np.sqrt(np.sum(ranks_x**2, axis=1) * np.sum(ranks_y**2, axis=1))
    return _ratio(np.sum(ranks_x * ranks_y, axis=1), spread)


def _ratio(upper: Floats, lower: Floats) -> Floats:
    return np.asarray(np.divide(upper, lower, out=np.full(len(lower), np.nan), where=lower > 0))
