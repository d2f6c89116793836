"""Intervals that hold at all looks together, however many and whenever: asymptotic confidence sequences, and mSPRT."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankstats.errors import RankstatsError
from rankstats.stats.classical import SMALLEST_P, agreeing_ends
from rankstats.stats.results import ColumnResult
from rankstats.stats.validation import check_alpha, check_count

Floats = NDArray[np.float64]

_LARGEST_EXPONENT = 700.0


@dataclass(frozen=True, slots=True, eq=False)
class ConfidenceSequence(ColumnResult):
    """Result of `confidence_sequence`; array fields have shape (c,): looks, or metrics at one look.

    Attributes
    ----------
    estimate, standard_error : ndarray
        As given.
    n : ndarray of int
        Units until then.
    half_width : ndarray
        Of the interval; infinite with fewer units than asked for, or without any spread.
    low, high : ndarray
        Interval of the sequence of level 1 − alpha: leaves out 0 exactly when p ≤ alpha.
    e_value : ndarray
        Evidence against no effect: the mixture likelihood ratio.
    p_value : ndarray
        min(1, 1 / e_value), valid at any look, never 0; NaN where the estimate is undefined.
    rho : float
        Width of the mixture, from `n_star` and alpha.
    n_star : int
        Number of units, declared beforehand, at which the sequence is tightest.
    alpha : float
        Level of the whole sequence.
    """

    estimate: Floats
    standard_error: Floats
    n: NDArray[np.int64]
    half_width: Floats
    low: Floats
    high: Floats
    e_value: Floats
    p_value: Floats
    rho: float
    n_star: int
    alpha: float


@dataclass(frozen=True, slots=True, eq=False)
class RunningSequence(ColumnResult):
    """Result of `running_sequence` and `mixture_sprt`; array fields have one entry a look.

    Attributes
    ----------
    n : ndarray of int
        Units until the look.
    p_value : ndarray
        Smallest p-value of all looks until then.
    low, high : ndarray
        Intersection of the intervals until then; NaN from where it is empty, which happens with probability alpha at
        most if the effect is constant.
    rejects : ndarray of bool
        Whether p ≤ alpha until then.
    stopped : int
        Place of the first look that rejects, −1 when none does.
    alpha : float
        Level of the whole sequence.
    """

    n: NDArray[np.int64]
    p_value: Floats
    low: Floats
    high: Floats
    rejects: NDArray[np.bool_]
    stopped: int
    alpha: float


def mixture_width(n_star: int, alpha: float = 0.05) -> float:
    """Return ρ, √((−2 log alpha + log(−2 log alpha + 1)) / n*), which makes the sequence tightest near n* units.

    References
    ----------
    Waudby-Smith et al. 2024, appendix B.2.

    Examples
    --------
    >>> round(mixture_width(5000), 6)
    0.03984
    """
    if isinstance(n_star, bool) or int(n_star) != n_star or n_star < 1:
        raise RankstatsError(f"n_star = {n_star!r}: the number of units that is planned for, at least 1")
    twice = -2 * np.log(check_alpha(alpha))
    return float(np.sqrt((twice + np.log1p(twice)) / n_star))


def confidence_sequence(
    estimate: ArrayLike,
    standard_error: ArrayLike,
    n: ArrayLike,
    *,
    n_star: int,
    alpha: float = 0.05,
    least_n: int = 2,
) -> ConfidenceSequence:
    """Return intervals that all looks may use, however often and whenever one looks.

    With σ² = n · standard error², the half width is σ √(2 (nρ² + 1) / (nρ)² · log(√(nρ² + 1) / alpha)). The guarantee
    is asymptotic: it holds from the number of units on at which estimates are nearly normal.

    Parameters
    ----------
    estimate, standard_error : array_like, shape () or (c,)
        Of the effect (the difference of the arms, never of an arm's level), from all units until the look.
    n : array_like of int, shape () or (c,)
        Units until the look; of both arms together for a difference.
    n_star : int
        Units at which the sequence is tightest, on the scale of n; to be declared before the data are seen: choosing it
        afterwards spoils the level.
    alpha : float
        Level of the whole sequence.
    least_n : int
        Looks at fewer units claim nothing: their interval is unbounded and p = 1. To be raised, beforehand, where a few
        units carry most of the spread and their standard error cannot be trusted yet.

    Returns
    -------
    ConfidenceSequence

    Raises
    ------
    RankstatsError
        If an argument is out of range.

    References
    ----------
    Waudby-Smith, Arbour, Sinha, Kennedy & Ramdas 2024 (asymptotic confidence sequences, theorem 2.2).

    Examples
    --------
    >>> result = confidence_sequence([0.2, 0.15], [0.08, 0.04], [500, 2000], n_star=2000)
    >>> result.low.round(4).tolist(), result.p_value.round(4).tolist()
    ([-0.0611, 0.0286], [0.2163, 0.0058])
    """
    rho = mixture_width(n_star, alpha)
    effect, error, units = _looks(estimate, standard_error, n)
    inside = units * rho**2 + 1
    usable = (units >= check_count("least_n", least_n)) & (error > 0)
    safe_error, safe_n = np.where(usable, error, 1.0), np.where(usable, units, 1)
    shape = np.sqrt(2 * inside / (safe_n * rho**2) * np.log(np.sqrt(inside) / alpha))
    half = np.where(usable, safe_error * shape, np.inf)
    exponent = (effect / safe_error) ** 2 * safe_n * rho**2 / (2 * inside) - np.log(inside) / 2
    e_value = np.where(usable, np.exp(np.minimum(exponent, _LARGEST_EXPONENT)), 1.0)
    p_value = np.where(np.isnan(effect), np.nan, np.clip(1 / e_value, SMALLEST_P, 1.0))
    with np.errstate(invalid="ignore"):  # undefined effects are NaN
        low, high = agreeing_ends(p_value <= alpha, effect, effect - half, effect + half)
    return ConfidenceSequence(
        estimate=effect,
        standard_error=error,
        n=units,
        half_width=half,
        low=np.where(np.isnan(effect), np.nan, low),
        high=np.where(np.isnan(effect), np.nan, high),
        e_value=np.where(np.isnan(effect), np.nan, e_value),
        p_value=p_value,
        rho=rho,
        n_star=int(n_star),
        alpha=alpha,
    )


def _looks(estimate: ArrayLike, standard_error: ArrayLike, n: ArrayLike) -> tuple[Floats, Floats, NDArray[np.int64]]:
    effect, error, units = np.broadcast_arrays(
        np.atleast_1d(np.asarray(estimate, dtype=np.float64)),
        np.atleast_1d(np.asarray(standard_error, dtype=np.float64)),
        np.atleast_1d(np.asarray(n)),
    )
    if effect.ndim != 1 or np.any(units != np.floor(units)) or np.any(units < 0) or np.any(error < 0):
        raise RankstatsError("one estimate, one standard error of at least 0 and one number of units for each look")
    return effect.copy(), error.copy(), units.astype(np.int64)


def running_sequence(sequence: ConfidenceSequence) -> RunningSequence:
    """Return what may be said at each look from all looks until then: intersected intervals, smallest p-values.

    Parameters
    ----------
    sequence : ConfidenceSequence
        One column a look, in their order.

    Raises
    ------
    RankstatsError
        If the looks are not in the order of their units.

    Examples
    --------
    >>> sequence = confidence_sequence([0.2, 0.15, 0.09], [0.05, 0.04, 0.03], [900, 1500, 2000], n_star=2000)
    >>> running_sequence(sequence).low.round(3).tolist()
    [0.045, 0.045, 0.045]
    """
    if np.any(np.diff(sequence.n) < 0):
        raise RankstatsError("running_sequence: looks are expected in the order of their units")
    return _running(
        sequence.n,
        sequence.p_value,
        np.where(np.isnan(sequence.low), -np.inf, sequence.low),
        np.where(np.isnan(sequence.high), np.inf, sequence.high),
        sequence.alpha,
    )


def _running(n: NDArray[np.int64], p_value: Floats, low: Floats, high: Floats, alpha: float) -> RunningSequence:
    p = np.minimum.accumulate(np.where(np.isnan(p_value), 1.0, p_value))
    low, high = np.maximum.accumulate(low), np.minimum.accumulate(high)
    empty = low > high
    rejects = p <= alpha
    return RunningSequence(
        n=n,
        p_value=p,
        low=np.where(empty, np.nan, low),
        high=np.where(empty, np.nan, high),
        rejects=rejects,
        stopped=int(np.argmax(rejects)) if rejects.any() else -1,
        alpha=alpha,
    )


def mixture_sprt(
    mean: ArrayLike, n: ArrayLike, *, variance: float, mixing_variance: float, alpha: float = 0.05
) -> RunningSequence:
    """Return the always-valid p-values and intervals of the mixture sequential probability ratio test.

    λ = √(σ² / (σ² + nτ²)) · exp(n²τ²x̄² / (2σ²(σ² + nτ²))) for means x̄ of n values of known variance σ², with a normal
    mixture of variance τ² over the effects; p is the running minimum of 1 / λ.

    Parameters
    ----------
    mean : array_like, shape (looks,)
        Mean of all values until the look.
    n : array_like of int, shape (looks,)
        Values until the look, ascending.
    variance : float
        σ² of one value.
    mixing_variance : float
        τ², declared beforehand.
    alpha : float
        Level of the whole sequence.

    Returns
    -------
    RunningSequence

    Raises
    ------
    RankstatsError
        If an argument is out of range.

    References
    ----------
    Johari, Koomen, Pekelis & Walsh 2022.

    Examples
    --------
    >>> mixture_sprt([0.0, 0.021], [5, 30], variance=0.0032, mixing_variance=0.001).p_value.round(3).tolist()
    [1.0, 0.497]
    """
    check_alpha(alpha)
    if not variance > 0 or not mixing_variance > 0:
        raise RankstatsError("variance and mixing_variance: numbers of more than 0 are expected")
    effect, _, values = _looks(mean, 0.0, n)
    if np.any(np.diff(values) < 0) or np.any(values < 1):
        raise RankstatsError("n: at least 1 and ascending, one number a look, is expected")
    log_ratio = log_mixture_ratio(effect, values, variance, mixing_variance)
    p_value = np.clip(np.exp(-np.clip(log_ratio, 0.0, _LARGEST_EXPONENT)), SMALLEST_P, 1.0)
    together = variance + values * mixing_variance
    evidence = np.log(together / variance) / 2 - np.log(alpha)
    half = np.sqrt(2 * variance * together * evidence / mixing_variance) / values
    low, high = agreeing_ends(p_value <= alpha, effect, effect - half, effect + half)
    return _running(values, p_value, low, high, alpha)


def log_mixture_ratio(mean: Floats, n: NDArray[np.int64], variance: float, mixing_variance: float) -> Floats:
    """Return log λ of `mixture_sprt` at each look, shape (looks,).

    Examples
    --------
    >>> log_mixture_ratio(np.array([0.0]), np.array([3]), 1.0, 1.0).round(4).tolist()
    [-0.6931]
    """
    together = variance + n * mixing_variance
    exponent = n**2 * mixing_variance * mean**2 / (2 * variance * together)
    return np.asarray(exponent + np.log(variance / together) / 2)
