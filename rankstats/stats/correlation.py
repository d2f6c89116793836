"""Rank correlation with ties: Kendall's τ (a, b, c) and Spearman's ρ, singly and for many groups at once."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankstats.errors import RankstatsError
from rankstats.stats.concordance import Concordance, Groups, Levels, concordance
from rankstats.stats.results import ColumnResult
from rankstats.stats.validation import check_choice

VARIANTS = ("a", "b", "c")

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
    first, second = paired_values(x, y)
    n = len(first)
    if n < 2:
        return RankCorrelation(np.nan, np.nan, np.nan, np.nan, n)
    counted = concordance(first, second, Groups.of(np.zeros(n, dtype=np.int64), 1))
    balance, untied_x, untied_y = (int(c[0]) for c in (counted.balance, counted.untied_x, counted.untied_y))
    fewest = min(np.count_nonzero(counted.x.count), np.count_nonzero(counted.y.count))
    constant = untied_x == 0 or untied_y == 0
    return RankCorrelation(
        balance / (n * (n - 1) / 2),
        np.nan if constant else balance / math.sqrt(untied_x * untied_y),
        np.nan if constant else 2 * balance * fewest / (n**2 * (fewest - 1)),
        float(rho(counted)[0]),
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
    names, first, second, groups = grouped_values(x, y, group)
    counted = concordance(first, second, groups)
    return GroupedRankCorrelation(names, tau_b(counted), rho(counted), groups.size)


def paired_values(x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    """Return the pairs of values without NaN, or raise where the shapes differ."""
    first, second = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if first.shape != second.shape or first.ndim != 1:
        raise RankstatsError(f"x has shape {first.shape}, y {second.shape}; two of one length are expected")
    usable = ~(np.isnan(first) | np.isnan(second))
    return first[usable], second[usable]


def grouped_values(x: ArrayLike, y: ArrayLike, group: ArrayLike) -> tuple[NDArray[np.generic], Floats, Floats, Groups]:
    """Return the names of the groups, and the pairs of values without NaN, group by group.

    Raises
    ------
    RankstatsError
        If the shapes differ.
    """
    names, codes = np.unique(np.asarray(group), return_inverse=True)
    first, second = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if not first.shape == second.shape == codes.shape or first.ndim != 1:
        raise RankstatsError(
            f"x, y and group have shapes {first.shape}, {second.shape} and {codes.shape}; one is expected"
        )
    usable = ~(np.isnan(first) | np.isnan(second))
    order = np.flatnonzero(usable)[np.argsort(codes[usable], kind="stable")]
    return names, first[order], second[order], Groups.of(codes[order], len(names))


def tau_b(counted: Concordance) -> Floats:
    """Return τ_b of each group, NaN where a variable is constant."""
    untied_x, untied_y = counted.untied_x.astype(np.float64), counted.untied_y.astype(np.float64)
    return _ratio(counted.balance.astype(np.float64), np.sqrt(untied_x * untied_y))


def rho(counted: Concordance) -> Floats:
    """Return Spearman's ρ of each group."""
    groups = counted.groups
    ranks_x, ranks_y = _centred_ranks(counted.x, groups), _centred_ranks(counted.y, groups)
    spread = np.sqrt(groups.sums(ranks_x**2) * groups.sums(ranks_y**2))
    return _ratio(groups.sums(ranks_x * ranks_y), spread)


def _centred_ranks(levels: Levels, groups: Groups) -> Floats:
    """Return twice the mid-ranks less their mean: whole numbers, so that sums of their products are exact."""
    twice = 2 * levels.below + levels.count
    return (twice[levels.slot] - groups.size[groups.group]).astype(np.float64)


def _ratio(upper: Floats, lower: Floats) -> Floats:
    return np.asarray(np.divide(upper, lower, out=np.full(len(lower), np.nan), where=lower > 0))
