"""Power, queries needed and smallest detectable differences, by formula.

Power is always that for a difference which somebody wants to find, stated beforehand: the power for the difference that
happened to be observed says no more than its p-value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray
from scipy import special

from rankstats.errors import RankstatsError
from rankstats.stats.differences import Differences
from rankstats.stats.results import ColumnResult
from rankstats.stats.validation import check_alpha, check_count, check_family_size

_TAIL = 12.0
"""Standard deviations beyond which a normal variable is never found in double precision."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class PowerResult(ColumnResult):
    """Result of `power_analysis`; array fields have shape (c,).

    All but `difference`, `n` and `family_size` are NaN where the differences at hand give no estimate of spread.

    Attributes
    ----------
    difference : ndarray
        The wanted mean difference.
    standard_deviation : ndarray
        Standard error of the data at hand times √n: the standard deviation of the differences, with weights that of an
        unweighted set of the same n and precision.
    n : ndarray of int
        Queries for which power and smallest detectable difference hold.
    power_at_n : ndarray
        Probability that the test finds the wanted difference with n queries.
    queries_needed : ndarray
        Least number of queries with which that probability reaches `power`.
    smallest_detectable : ndarray
        Mean difference that is found with probability `power` at n queries; NaN for n < 2.
    family_size : ndarray of int
        Comparisons that the level is divided by.
    alpha, power : float
        Level of the family and wanted power.
    two_sided : bool
        Whether the test is two-sided.
    """

    difference: Floats
    standard_deviation: Floats
    n: NDArray[np.int64]
    power_at_n: Floats
    queries_needed: Floats
    smallest_detectable: Floats
    family_size: NDArray[np.int64]
    alpha: float
    power: float
    two_sided: bool


def power_analysis(
    differences: Differences,
    difference: ArrayLike,
    *,
    n: ArrayLike | None = None,
    alpha: float = 0.05,
    power: float = 0.8,
    two_sided: bool = True,
    family_size: ArrayLike = 1,
) -> PowerResult:
    """Plan the number of queries by the paired t test, with the spread of the differences at hand.

    Parameters
    ----------
    differences : Differences
        n queries, c columns: only their standard error is used, never their mean.
    difference : float or array_like, shape (c,)
        The mean difference to be found, not 0, in units of the measure; its sign plays no part.
    n : int or array_like of int, shape (c,), optional
        Queries for which power is wanted; those at hand when not given.
    alpha, power : float
        Level of the family and wanted power.
    two_sided : bool
        Whether the test is two-sided.
    family_size : int or array_like of int, shape (c,)
        Comparisons m; each is tested at alpha / m (Bonferroni).

    Returns
    -------
    PowerResult
        With ``power_at_n`` at `smallest_detectable` equal to `power`.

    Raises
    ------
    RankstatsError
        If an argument is out of range.

    References
    ----------
    R's ``power.t.test(type = "paired", strict = TRUE)``; Sakai 2016 (topic set sizes).

    Examples
    --------
    >>> from rankstats.stats import paired_differences
    >>> d = paired_differences([0.1, 0.2, 0.4, 0.3, 0.2], [0.3, 0.3, 0.4, 0.2, 0.4])
    >>> plan = power_analysis(d, 0.05, n=50)
    >>> plan.queries_needed.tolist(), plan.smallest_detectable.round(4).tolist()
    ([56.0], [0.0527])
    """
    family = check_family_size(family_size, differences.n_columns)
    wanted = np.broadcast_to(np.asarray(difference, dtype=np.float64), family.shape).copy()
    sizes = np.broadcast_to(differences.n if n is None else np.asarray(n), family.shape)
    sizes = np.array([check_count("n", size, least=0) for size in sizes.tolist()], dtype=np.int64)
    spread = differences.standard_error * np.sqrt(differences.n)
    spread = np.where(spread > 0, spread, np.nan)
    read = [
        _plan_column(*column, alpha=alpha, power=power, two_sided=two_sided)
        for column in zip(spread.tolist(), wanted.tolist(), sizes.tolist(), family.tolist(), strict=True)
    ]
    at_n, needed, detectable = np.array(read, dtype=np.float64).reshape(-1, 3).T
    return PowerResult(wanted, spread, sizes, at_n, needed, detectable, family, alpha, power, two_sided)


def _plan_column(
    spread: float, difference: float, n: int, family: int, *, alpha: float, power: float, two_sided: bool
) -> tuple[float, float, float]:
    shift = detectable_shift(n, alpha=alpha, power=power, two_sided=two_sided, family_size=family)
    if np.isnan(spread):
        return np.nan, np.nan, np.nan
    needed = queries_needed(spread, difference, alpha=alpha, power=power, two_sided=two_sided, family_size=family)
    if n < 2:
        return np.nan, needed, np.nan
    wanted = abs(difference) / spread * np.sqrt(n)
    return t_power(wanted, n - 1, alpha=alpha / family, two_sided=two_sided), needed, shift * spread / np.sqrt(n)


def t_power(shift: float, df: float, *, alpha: float = 0.05, two_sided: bool = True) -> float:
    """Return the power of a t test whose mean is `shift` standard errors from 0.

    Both tails are counted in a two-sided test, as with ``strict = TRUE`` in R's power.t.test.

    Examples
    --------
    >>> round(t_power(0.5 * 20**0.5, 19), 6)
    0.564504
    """
    critical = -float(special.stdtrit(df, alpha / 2 if two_sided else alpha))
    return noncentral_t_tail(shift, df, critical) + (noncentral_t_tail(-shift, df, critical) if two_sided else 0.0)


def noncentral_t_tail(shift: float, df: float, critical: float) -> float:
    """Return P(T > critical) of a noncentral t on `df` degrees of freedom; scipy's own is NaN in far tails.

    T = (Z + shift) / S with Z normal and S² = χ² / df, so for critical > 0 the integral of φ(z) P(S < (z + shift) /
    critical) over z > −shift, by Gauss–Legendre in three pieces: before, at and after the rise of that probability.

    Examples
    --------
    >>> round(noncentral_t_tail(0.0, 5, 2.015048), 6), round(noncentral_t_tail(1.0, 5, -2.0), 6)
    (0.05, 0.994104)
    """
    if critical < 0:
        return 1 - noncentral_t_tail(-shift, df, -critical)
    if critical == 0:
        return float(special.ndtr(shift))
    low, high = min(max(-_TAIL, -shift), _TAIL), _TAIL
    rise = critical / np.sqrt(2 * df)
    edges = np.clip([low, critical - shift - _TAIL * rise, critical - shift + _TAIL * rise, high], low, high)
    nodes, node_weights = _legendre()
    normal = edges[:-1, None] + np.diff(edges)[:, None] * (nodes + 1) / 2
    inside = special.chdtr(df, df * (np.maximum(normal + shift, 0.0) / critical) ** 2)
    density = np.exp(-(normal**2) / 2) / np.sqrt(2 * np.pi)
    return float(np.sum(np.diff(edges)[:, None] / 2 * node_weights * density * inside))


@cache
def _legendre() -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.legendre.leggauss(128)
    return nodes, weights


def detectable_shift(
    n: int, *, alpha: float = 0.05, power: float = 0.8, two_sided: bool = True, family_size: int = 1
) -> float:
    """Return the mean difference, in standard errors, that a paired t test of n queries finds with `power`.

    NaN for n < 2. Divided by √n it is the smallest detectable d_z. With a family of m comparisons the level is
    alpha / m.

    Examples
    --------
    >>> round(detectable_shift(50) / 50**0.5, 6)
    0.404183
    """
    level = _level(alpha, power, family_size)
    if n < 2:
        return np.nan
    return _root(lambda shift: t_power(shift, n - 1, alpha=level, two_sided=two_sided) - power, 1.0)


def _level(alpha: float, power: float, family_size: int) -> float:
    check_alpha(alpha)
    if not alpha < power < 1:
        raise RankstatsError(f"power = {power!r}: a number between alpha = {alpha!r} and 1 is expected")
    return alpha / check_count("family_size", family_size)


def _root(function: Callable[[float], float], upper: float) -> float:
    while function(upper) < 0:
        upper *= 2
    return float(scipy.optimize.brentq(function, 0.0, upper, xtol=1e-12))


def queries_needed(
    standard_deviation: float,
    difference: float,
    *,
    alpha: float = 0.05,
    power: float = 0.8,
    two_sided: bool = True,
    family_size: int = 1,
) -> int:
    """Return the least number of queries with which a paired t test finds a mean difference with the given power.

    Parameters
    ----------
    standard_deviation : float
        Of the per-query differences; 0 or more.
    difference : float
        The wanted mean difference, not 0; its sign plays no part.
    alpha, power : float
        Level and power.
    two_sided : bool
        Whether the test is two-sided.
    family_size : int
        Comparisons m; the test is made at alpha / m (Bonferroni).

    Returns
    -------
    int
        At least 2.

    Raises
    ------
    RankstatsError
        If an argument is out of range.

    Examples
    --------
    >>> queries_needed(1.0, 0.2), queries_needed(1.0, 0.2, family_size=10)
    (199, 337)
    """
    enough = _reaches(standard_deviation, difference, alpha, power, two_sided=two_sided, family_size=family_size)
    low, high = 1, 2
    while enough(high) < 0:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) >= 0 else (middle, high)
    return high


def fractional_queries_needed(
    standard_deviation: float,
    difference: float,
    *,
    alpha: float = 0.05,
    power: float = 0.8,
    two_sided: bool = True,
    family_size: int = 1,
) -> float:
    """Return the real number at which `queries_needed` is rounded up, as R's power.t.test prints it; at least 2.

    Takes and raises what `queries_needed` does.

    Examples
    --------
    >>> round(fractional_queries_needed(1.0, 0.2), 3)
    198.151
    """
    enough = _reaches(standard_deviation, difference, alpha, power, two_sided=two_sided, family_size=family_size)
    if enough(2.0) >= 0:
        return 2.0
    upper = 4.0
    while enough(upper) < 0:
        upper *= 2
    return float(scipy.optimize.brentq(enough, upper / 2, upper, xtol=1e-9))


def _reaches(
    standard_deviation: float, difference: float, alpha: float, power: float, *, two_sided: bool, family_size: int
) -> Callable[[float], float]:
    """Return the function of n that is 0 or more where the power is enough."""
    level = _level(alpha, power, family_size)
    if not standard_deviation >= 0 or not np.isfinite(standard_deviation):
        raise RankstatsError(f"standard_deviation = {standard_deviation!r}: a finite number of at least 0 is expected")
    if difference == 0 or not np.isfinite(difference):
        raise RankstatsError(f"difference = {difference!r}: a finite difference other than 0 is expected")
    if standard_deviation == 0:
        return lambda n: 1.0
    size = abs(difference) / standard_deviation
    return lambda n: t_power(size * np.sqrt(n), n - 1, alpha=level, two_sided=two_sided) - power


def sign_test_power(n: int, win_share: float, *, alpha: float = 0.05, two_sided: bool = True) -> float:
    """Return the exact power of the sign test with n decided queries, of which the system wins each with `win_share`.

    Both tails are counted in a two-sided test. Power is not monotone in n: the test's level jumps.

    Parameters
    ----------
    n : int
        Queries on which the systems differ.
    win_share : float
        Probability of a win among them, from 0 to 1.
    alpha : float
        Level of the test, between 0 and 1; with a family of m comparisons alpha / m.
    two_sided : bool
        Whether the test is two-sided; one-sided, it tests for more wins than losses.

    Raises
    ------
    RankstatsError
        If an argument is out of range.

    References
    ----------
    Binomial probabilities of the rejection region of R's ``binom.test``.

    Examples
    --------
    >>> round(sign_test_power(50, 0.65), 6)
    0.50598
    """
    check_alpha(alpha)
    check_count("n", n)
    if not 0 <= win_share <= 1:
        raise RankstatsError(f"win_share = {win_share!r}: a share from 0 to 1 is expected")
    tails = special.bdtr(np.arange(n // 2 + 1), n, 0.5) * (2 if two_sided else 1)
    losses = int(np.searchsorted(tails, alpha, side="right")) - 1
    if losses < 0:
        return 0.0
    power = float(special.bdtr(losses, n, 1 - win_share))
    return power + float(special.bdtr(losses, n, win_share)) if two_sided else power
