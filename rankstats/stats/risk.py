"""Risk-sensitive comparisons: losses against a baseline count more than gains."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from rankstats.errors import RankstatsError
from rankstats.stats.classical import SMALLEST_P
from rankstats.stats.differences import Differences, paired_differences
from rankstats.stats.exact_sums import to_grid
from rankstats.stats.results import ColumnResult

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class RiskResult(ColumnResult):
    """Result of `paired_risk`; array fields have shape (c,).

    Attributes
    ----------
    u_risk : ndarray
        URisk: (weighted) mean of the differences, losses multiplied by 1 + aversion; NaN without queries.
    t_risk : ndarray
        TRisk: URisk over its standard error; NaN where that is 0 or n < 2.
    df : ndarray of int
        n − 1.
    p_value : ndarray
        Two-sided p of TRisk with ddof = 1 on n − 1 degrees of freedom, whatever `ddof`; 1 where it is not defined, NaN
        without queries, never 0.
    wins, losses : ndarray of int
        Queries on which the system is better and worse.
    n : ndarray of int
        Queries.
    aversion : float
        How much more than a gain a loss counts, the α of the literature.
    ddof : int
        1 or 0: n − ddof is the denominator of the variance in `t_risk`.
    """

    u_risk: Floats
    t_risk: Floats
    df: NDArray[np.int64]
    p_value: Floats
    wins: NDArray[np.int64]
    losses: NDArray[np.int64]
    n: NDArray[np.int64]
    aversion: float
    ddof: int


def paired_risk(differences: Differences, *, aversion: float = 1.0, ddof: int = 1) -> RiskResult:
    """Weigh losses against one baseline 1 + aversion times, and compare with 0.

    TRisk below about −2 says that the system carries a real risk of losses, above 2 that it does not. Its p is that of
    a t test of the weighed differences and always two-sided, of |TRisk|; it does not replace the test of the
    difference.

    Parameters
    ----------
    differences : Differences
        n queries, c columns.
    aversion : float
        0 or more; with 0 URisk is the mean difference and TRisk its t.
    ddof : {1, 0}
        0 reproduces programs that divide the variance by n.

    Returns
    -------
    RiskResult

    Raises
    ------
    RankstatsError
        If aversion or ddof are out of range.

    References
    ----------
    Wang, Bennett & Collins-Thompson 2012 (URisk); Dinçer, Macdonald & Ounis 2014 (TRisk).

    Examples
    --------
    >>> from rankstats.stats import paired_differences
    >>> result = paired_risk(paired_differences([0.1, 0.2, 0.4, 0.3], [0.3, 0.3, 0.4, 0.2]), aversion=1)
    >>> result.u_risk.round(9).tolist(), result.t_risk.round(4).tolist()
    ([0.025], [0.2928])
    """
    aversion = _checked_aversion(aversion)
    if ddof not in (0, 1):
        raise RankstatsError(f"ddof = {ddof!r}: 1 (variance over n − 1) or 0 (over n) is expected")
    values = differences.values
    weighed = np.where(values < 0, (1 + aversion) * values, values)
    moved = paired_differences(np.zeros(values.shape), weighed, differences.weights)
    n, error = differences.n, moved.standard_error
    t = np.divide(moved.mean, error, out=np.full(len(n), np.nan), where=error > 0)
    p_value = np.clip(2 * special.stdtr(np.maximum(n - 1, 1), -np.abs(t)), SMALLEST_P, 1.0)
    return RiskResult(
        u_risk=moved.mean,
        t_risk=t if ddof else t * np.sqrt(n / np.maximum(n - 1, 1)),
        df=np.maximum(n - 1, 0),
        p_value=np.where(error > 0, p_value, np.where(n > 0, 1.0, np.nan)),
        wins=np.count_nonzero(differences.integers > 0, axis=0),
        losses=np.count_nonzero(differences.integers < 0, axis=0),
        n=n,
        aversion=aversion,
        ddof=ddof,
    )


@dataclass(frozen=True, slots=True, eq=False)
class SystemRiskResult(ColumnResult):
    """Result of `system_risk`; array fields have shape (m,), one entry a system.

    Attributes
    ----------
    mean : ndarray
        Mean value.
    z_risk : ndarray
        ZRisk: sum over queries of the standardised deviations from what the pool of systems lets expect, losses
        multiplied by 1 + aversion.
    geo_risk : ndarray
        GeoRisk: ``sqrt(mean × Φ(ZRisk / n))``.
    n, left_out : int
        Queries that count, and queries left out because a system has no value there.
    aversion : float
        How much more than a gain a loss counts.
    """

    mean: Floats
    z_risk: Floats
    geo_risk: Floats
    n: int
    left_out: int
    aversion: float


def system_risk(values: ArrayLike, *, aversion: float = 1.0) -> SystemRiskResult:
    """Return ZRisk and GeoRisk of systems against what their pool lets expect; without a baseline.

    The expected value of system i on query j is e = S_i T_j / N, from the systems' totals S, the queries' totals T and
    the grand total N; z = (x − e) / √e, negative ones multiplied by 1 + aversion. A query on which every system has 0,
    or a system with 0 everywhere, deviates from nothing: z = 0. The numbers depend on which systems are in the pool.

    Parameters
    ----------
    values : array_like, shape (n, m)
        Values of m systems on n queries, 0 or more. A query with a NaN is left out for all systems.
    aversion : float
        0 or more.

    Returns
    -------
    SystemRiskResult

    Raises
    ------
    RankstatsError
        If values are not two-dimensional, negative or infinite, or aversion is out of range.

    References
    ----------
    Dinçer, Macdonald & Ounis 2016 (ZRisk, GeoRisk).

    Examples
    --------
    >>> result = system_risk([[0.3, 0.5], [0.2, 0.1], [0.6, 0.7]], aversion=1)
    >>> result.z_risk.round(3).tolist(), result.geo_risk.round(3).tolist()
    ([-0.046, -0.219], [0.426, 0.452])
    """
    aversion = _checked_aversion(aversion)
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 2:
        raise RankstatsError(f"values have shape {array.shape}; queries in rows and systems in columns are expected")
    kept = array[~np.isnan(array).any(axis=1)]
    if not np.all((kept >= 0) & (kept < np.inf)):
        raise RankstatsError("values: finite numbers of at least 0 are expected; ZRisk is not defined for others")
    n = len(kept)
    # sums over grids of their own, so that neither the order of systems nor that of queries matters
    of_system, of_query = _exact_sums(kept), _exact_sums(kept.T)
    total = _exact_sums(of_system[:, None])[0]
    expected = of_query[:, None] * of_system / (total if total > 0 else 1.0)
    deviation = np.divide(kept - expected, np.sqrt(expected), out=np.zeros_like(kept), where=expected > 0)
    z_risk = _exact_sums(np.where(deviation < 0, (1 + aversion) * deviation, deviation))
    z_risk = z_risk if n else np.full(array.shape[1], np.nan)
    mean = of_system / n if n else np.full(array.shape[1], np.nan)
    geo_risk = np.sqrt(mean * special.ndtr(z_risk / max(n, 1)))
    return SystemRiskResult(mean, z_risk, geo_risk, n, len(array) - n, aversion)


def _exact_sums(values: Floats) -> Floats:
    integers, unit = to_grid(values, len(values))
    return np.asarray(integers.sum(axis=0) * unit)


def geometric_mean(values: ArrayLike, *, floor: float = 1e-5) -> Floats:
    """Return geometric means over queries, as GMAP is of AP: values below `floor` count as `floor`.

    Parameters
    ----------
    values : array_like, shape (n,) or (n, m)
        Values from 0, NaN where undefined (left out).
    floor : float
        More than 0; trec_eval's is 1e-5.

    Returns
    -------
    ndarray, shape (m,)
        NaN for a column without values.

    Raises
    ------
    RankstatsError
        If a value is negative or infinite, or floor is not more than 0.

    References
    ----------
    Robertson 2006; trec_eval's ``gm_map``.

    Examples
    --------
    >>> geometric_mean([0.5, 0.125, 0.0]).round(6).tolist()
    [0.00855]
    """
    if not 0 < floor < np.inf:
        raise RankstatsError(f"floor = {floor!r}: a finite number of more than 0 is expected")
    array = np.asarray(values, dtype=np.float64)
    array = array[:, None] if array.ndim == 1 else array
    present = ~np.isnan(array)
    if array.ndim != 2 or np.any(present & ~((array >= 0) & (array < np.inf))):
        raise RankstatsError("values: an array of shape (n,) or (n, m) of finite numbers of at least 0 is expected")
    logarithms = np.where(present, np.log(np.maximum(np.where(present, array, 1.0), floor)), 0.0)
    n = np.count_nonzero(present, axis=0)
    mean = np.divide(_exact_sums(logarithms), n, out=np.full(array.shape[1], np.nan), where=n > 0)
    return np.asarray(np.exp(mean))


def _checked_aversion(aversion: float) -> float:
    if not 0 <= aversion < np.inf:
        raise RankstatsError(f"aversion = {aversion!r}: a finite number of at least 0 is expected")
    return float(aversion)
