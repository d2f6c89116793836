"""Tails of the studentised range and of the largest of many-to-one t statistics, by quadrature.

Both are integrals over a standard normal variable z and over the scale s = √(χ²/df) of a function that decays fast
on both sides; the trapezoidal rule in z and in log s is then accurate to about ten digits. Tails are integrated
themselves, not taken from 1, so that small p-values keep their digits.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray
from scipy import special

_TAIL = 1e-30
"""Probability beyond either end of the scales that are integrated over."""
_STEP = 0.12
_POINTS_AT_ONCE = 1 << 18

Floats = NDArray[np.float64]

_Z: Floats = np.arange(-13.0, 13.0 + _STEP, _STEP)
_DENSITY: Floats = np.exp(-(_Z**2) / 2) / np.sqrt(2 * np.pi) * _STEP
_TABLE: Floats = np.linspace(0.0, 24.0, 2401)
"""Where the tails for a known scale are tabulated; between them their logarithm is a cubic spline."""


def studentised_range_tail(q: ArrayLike, n_means: int, df: float) -> NDArray[np.float64]:
    """Return P(Q ≥ q) for the range of m independent means in units of the estimated error of one of them.

    Parameters
    ----------
    q : array_like, shape (c,)
        Range over the standard error of a single mean.
    n_means : int
        Means m.
    df : float
        Degrees of freedom of the error; inf where it is known.

    References
    ----------
    Tukey 1953; Copenhaver & Holland 1988; R's ``ptukey``.

    Examples
    --------
    >>> studentised_range_tail([3.5], 3, 20.0).round(6).tolist()
    [0.055892]
    """
    return _over_scales(np.asarray(q, dtype=np.float64), df, _range_table(n_means))


def many_to_one_tail(t: ArrayLike, n_comparisons: int, df: float) -> NDArray[np.float64]:
    """Return P(max |T| ≥ t) for k t statistics of means against one common mean: correlation ½, a common error.

    Parameters
    ----------
    t : array_like, shape (c,)
        Difference over its standard error.
    n_comparisons : int
        Comparisons k.
    df : float
        Degrees of freedom of the error; inf where it is known.

    References
    ----------
    Dunnett 1955; R's multcomp.

    Examples
    --------
    >>> many_to_one_tail([2.5], 1, 20.0).round(6).tolist(), many_to_one_tail([2.5], 3, 20.0).round(6).tolist()
    ([0.021234], [0.054308])
    """
    return _over_scales(np.asarray(t, dtype=np.float64), df, _many_to_one_table(n_comparisons))


def upper_point(tail: Callable[[float], float], alpha: float) -> float:
    """Return the point at which a falling tail probability is alpha.

    Examples
    --------
    >>> round(upper_point(lambda q: float(studentised_range_tail([q], 3, 20.0)[0]), 0.05), 4)
    3.5779
    """
    high = 1.0
    while tail(high) > alpha:
        high *= 2
    return float(scipy.optimize.brentq(lambda point: tail(point) - alpha, 0.0, high, xtol=1e-12, rtol=1e-12))


def _one_less_power(beyond: Floats, power: int) -> Floats:
    """Return 1 − (1 − beyond)**power, with all digits of small values."""
    with np.errstate(divide="ignore"):  # the logarithm of 0
        return np.asarray(-np.expm1(power * np.log1p(-np.minimum(beyond, 1.0))))


@lru_cache(maxsize=32)
def _range_table(n_means: int) -> scipy.interpolate.CubicSpline:
    """Return the logarithm of the tail of the range of m standard normal variables."""
    below, density = special.ndtr(_Z), n_means * _DENSITY * special.ndtr(_Z) ** (n_means - 1)
    beyond = np.minimum(special.ndtr(_Z - _TABLE[:, None]) / below, 1.0)
    return scipy.interpolate.CubicSpline(_TABLE, np.log(_one_less_power(beyond, n_means - 1) @ density))


@lru_cache(maxsize=32)
def _many_to_one_table(n_comparisons: int) -> scipy.interpolate.CubicSpline:
    """Return the logarithm of the tail of max |Z_j − Z_0| / √2 of standard normal variables."""
    half = np.sqrt(2) * _TABLE[:, None]
    beyond = special.ndtr(_Z - half) + special.ndtr(-_Z - half)
    return scipy.interpolate.CubicSpline(_TABLE, np.log(_one_less_power(beyond, n_comparisons) @ _DENSITY))


def _over_scales(points: Floats, df: float, log_tail: scipy.interpolate.CubicSpline) -> Floats:
    """Average a tail over the distribution of the estimated scale; beyond the table it is 0."""
    scale, weight = _scales(df)
    tail = np.empty(len(points))
    at_once = max(1, _POINTS_AT_ONCE // len(scale))
    for start in range(0, len(points), at_once):
        scaled = np.outer(points[start : start + at_once], scale)
        known = np.exp(log_tail(np.minimum(scaled, _TABLE[-1])))
        # one sum a point: a matrix product may depend on how many points there are
        tail[start : start + at_once] = np.sum(np.where(scaled <= _TABLE[-1], known, 0.0) * weight, axis=1)
    return np.minimum(tail, 1.0)


def _scales(df: float) -> tuple[Floats, Floats]:
    if not np.isfinite(df):
        return np.ones(1), np.ones(1)
    half = df / 2
    ends = np.log([special.gammaincinv(half, _TAIL) / half, special.gammainccinv(half, _TAIL) / half]) / 2
    step = min(0.1, 0.7 / np.sqrt(2 * df))
    log_scale = np.arange(ends[0], ends[1] + step, step)
    log_density = np.log(2) + half * np.log(half) - special.gammaln(half) + df * log_scale
    weight = np.exp(log_density - half * np.exp(2 * log_scale)) * step
    # the density's own constant loses digits for many degrees of freedom
    return np.exp(log_scale), weight / weight.sum()
