"""Rank correlations in which the top counts more: τ_ap with its versions for ties, and weighted τ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from rankstats.stats.concordance import Codes, Concordance, Groups, Levels, balances, concordance
from rankstats.stats.correlation import grouped_values, paired_values
from rankstats.stats.results import ColumnResult
from rankstats.stats.validation import check_choice

RANKED_BY = ("both", "x", "y")

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ApCorrelation:
    """AP correlations of an estimated order with a true one.

    Attributes
    ----------
    tau_ap_a : float
        τ_ap, averaged over all ways to break the ties of the estimate; NaN where the truth has ties (and for n < 2).
    tau_ap_b : float
        Symmetric τ_ap with ties in either order; NaN where one of them is constant.
    n : int
        Pairs of values.
    """

    tau_ap_a: float
    tau_ap_b: float
    n: int


def ap_correlation(truth: ArrayLike, estimate: ArrayLike) -> ApCorrelation:
    """Return τ_ap, the rank correlation that punishes errors near the top more than errors near the bottom.

    Without ties τ_ap = 2/(n − 1) · Σ C_i/(i − 1) − 1 over the ranks i ≥ 2 of the estimate, C_i the number of values
    above rank i that the truth holds to be greater as well. It is 1 for the same order, −1 for the opposite one, and
    changes when the two variables change places.

    * a: the ties of the estimate are an accident; the mean over all ways to break them. The truth has none. Without
      ties this is τ_ap itself.
    * b: ties are part of both orders. With p_i the rank of the first value that ties with i, τ_ap,b of one order is
      2/m · Σ C_i/(p_i − 1) − 1 over the m values with p_i ≥ 2, C_i counting the values above i's tie that are greater
      in the other order too; the mean of both directions. Without ties it is the mean of τ_ap in both directions.

    Parameters
    ----------
    truth, estimate : array_like, shape (n,)
        Values, the greatest at the top (not sort positions of ids); a pair with NaN in either is left out.

    Returns
    -------
    ApCorrelation

    Raises
    ------
    RankstatsError
        If the shapes differ.

    References
    ----------
    Yilmaz, Aslam & Robertson 2008 (τ_ap); Urbano & Marrero 2017 (a and b).

    Examples
    --------
    >>> result = ap_correlation([4, 3, 2, 1], [3, 4, 2, 1])
    >>> round(result.tau_ap_a, 4), round(result.tau_ap_b, 4), result.n
    (0.3333, 0.3333, 4)
    """
    x, y = paired_values(truth, estimate)
    counted = concordance(x, y, Groups.of(np.zeros(len(x), dtype=np.int64), 1))
    return ApCorrelation(float(tau_ap_a(counted)[0]), float(tau_ap_b(counted)[0]), len(x))


@dataclass(frozen=True, slots=True, eq=False)
class GroupedApCorrelation(ColumnResult):
    """Result of `grouped_ap_correlation`; array fields have shape (g,).

    Attributes
    ----------
    group : ndarray
        The distinct groups, ascending.
    tau_ap_a, tau_ap_b : ndarray
        See `ApCorrelation`.
    n : ndarray of int
        Pairs of values in the group.
    """

    group: NDArray[np.generic]
    tau_ap_a: Floats
    tau_ap_b: Floats
    n: Codes


def grouped_ap_correlation(truth: ArrayLike, estimate: ArrayLike, group: ArrayLike) -> GroupedApCorrelation:
    """Return τ_ap within each group, such as two rankings of the documents of each query; see `ap_correlation`.

    Parameters
    ----------
    truth, estimate : array_like, shape (n,)
        Values, the greatest at the top; a pair with NaN in either is left out.
    group : array_like, shape (n,)
        The group of each pair, in any order.

    Returns
    -------
    GroupedApCorrelation
        All groups that occur, also those of which every pair was left out (n = 0).

    Raises
    ------
    RankstatsError
        If the shapes differ.

    Examples
    --------
    >>> result = grouped_ap_correlation([3, 2, 1, 2, 1], [3, 2, 1, 1, 2], ["q1", "q1", "q1", "q2", "q2"])
    >>> result.tau_ap_b.tolist(), result.n.tolist()
    ([1.0, -1.0], [3, 2])
    """
    names, x, y, groups = grouped_values(truth, estimate, group)
    counted = concordance(x, y, groups)
    return GroupedApCorrelation(names, tau_ap_a(counted), tau_ap_b(counted), groups.size)


def weighted_tau(x: ArrayLike, y: ArrayLike, *, ranked_by: str = "both", additive: bool = True) -> float:
    """Return Vigna's weighted τ with hyperbolic weights: an exchange of the values ranked r and s weighs 1/r + 1/s.

    Parameters
    ----------
    x, y : array_like, shape (n,)
        Values, the greatest at the top; a pair with NaN in either is left out.
    ranked_by : {'both', 'x', 'y'}
        The variable that gives the ranks (ties in it are broken by the other one); 'both' is the mean of the two.
    additive : bool
        Whether the weights of two ranks are added or multiplied.

    Returns
    -------
    float
        From −1 to 1; NaN for fewer than two values or a constant variable.

    Raises
    ------
    RankstatsError
        If the shapes differ or `ranked_by` is unknown.

    References
    ----------
    Vigna 2015 (A weighted correlation index for rankings with ties).

    Examples
    --------
    >>> round(weighted_tau([4, 3, 2, 1], [3, 4, 2, 1]), 4), round(weighted_tau([4, 3, 2, 1], [4, 3, 1, 2]), 4)
    (0.52, 0.8133)
    """
    check_choice("ranked_by", ranked_by, RANKED_BY)
    first, second = paired_values(x, y)
    if len(first) < 2 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return np.nan
    if ranked_by == "y":
        first, second = second, first
    # scipy's stubs know no None, which ranks by the first variable
    by: Any = True if ranked_by == "both" else None
    return float(scipy.stats.weightedtau(first, second, rank=by, additive=additive).statistic)


def grouped_weighted_tau(counted: Concordance) -> Floats:
    """Return additive weighted τ of each group, the mean of the ranks by x and by y; see `weighted_tau`."""
    balance = balances(counted)
    return (_weighted(counted, balance, counted.x, counted.y) + _weighted(counted, balance, counted.y, counted.x)) / 2


def _weighted(counted: Concordance, balance: Codes, by: Levels, then: Levels) -> Floats:
    """Return Σ w·(concordant − discordant) over the sizes of both orders, w the inverse ranks by one variable."""
    groups = counted.groups
    order = np.lexsort((-then.slot, -by.slot, groups.group))
    weight = 1 / (np.arange(len(order)) - groups.start[groups.group] + 1)
    sizes = [
        groups.sums(weight * (groups.size[groups.group] - levels.count[levels.slot])[order]) for levels in (by, then)
    ]
    size = np.sqrt(sizes[0] * sizes[1])
    return np.asarray(
        np.divide(groups.sums(weight * balance[order]), size, out=np.full(len(size), np.nan), where=size > 0)
    )


def tau_ap_b(counted: Concordance) -> Floats:
    """Return version b of each group."""
    return (_one_direction(counted, counted.x) + _one_direction(counted, counted.y)) / 2


def _one_direction(counted: Concordance, order: Levels) -> Floats:
    """Return 2/m · Σ C/(p − 1) − 1 over the m values below the top of an order."""
    groups = counted.groups
    # level by level, so that the order of equal values cannot show in the sum
    right = np.bincount(order.slot, counted.above, minlength=len(order.slot))
    higher = groups.size[groups.group] - order.below - order.count
    share = np.divide(right, higher, out=np.zeros(len(right)), where=higher > 0)
    below_top = groups.sums(np.where(higher > 0, order.count, 0))
    total = groups.sums(share)
    return np.asarray(np.divide(2 * total, below_top, out=np.full(len(total), np.nan), where=below_top > 0)) - 1


def tau_ap_a(counted: Concordance) -> Floats:
    """Return version a of each group, x the truth."""
    groups, order = counted.groups, counted.y
    # a slot stands for the place that many values from the bottom of its group
    place = groups.size[groups.group] - (np.arange(len(groups.group)) - groups.start[groups.group])
    on_level = np.sort(order.slot)
    right = np.bincount(order.slot, counted.above, minlength=len(place))[on_level]
    count, below = order.count[on_level], order.below[on_level]
    top = groups.size[groups.group] - below - count + 1
    # any of the tied values may stand at the place: those above it in the tie are greater in x half of the time
    expected = right / count + (place - top) / 2
    share = np.divide(expected, place - 1, out=np.zeros(len(place)), where=place > 1)
    untied = (groups.size > 1) & (counted.untied_x == groups.pairs)
    total = groups.sums(share)
    size = np.where(untied, groups.size - 1.0, 1.0)
    return np.where(untied, 2 * total / size - 1, np.nan)
