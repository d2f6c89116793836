"""Standardised effect sizes of paired differences, with intervals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy import special

from rankstats.stats.classical import agreeing_ends, paired_t
from rankstats.stats.differences import Differences
from rankstats.stats.power import noncentral_t_tail
from rankstats.stats.results import ColumnResult
from rankstats.stats.validation import check_alpha

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class EffectIntervalsResult(ColumnResult):
    """Result of `effect_intervals`; array fields have shape (c,).

    The first nine are NaN where all differences are equal or n < 2, the last three where all are 0.

    Attributes
    ----------
    effect_size, effect_low, effect_high : ndarray
        d_z: mean difference over the standard deviation of the differences.
    hedges, hedges_low, hedges_high : ndarray
        d_z times Hedges' correction for small samples.
    common_language, common_language_low, common_language_high : ndarray
        Φ(d_z): the probability of a positive difference were the differences normal.
    superiority, superiority_low, superiority_high : ndarray
        Probability of superiority: share of wins plus half the share of ties, whatever the distribution.
    correction : ndarray
        Hedges' factor; NaN for n < 2.
    n : ndarray of int
        Queries.
    alpha : float
        1 − level of the intervals.
    """

    effect_size: Floats
    effect_low: Floats
    effect_high: Floats
    hedges: Floats
    hedges_low: Floats
    hedges_high: Floats
    common_language: Floats
    common_language_low: Floats
    common_language_high: Floats
    superiority: Floats
    superiority_low: Floats
    superiority_high: Floats
    correction: Floats
    n: NDArray[np.int64]
    alpha: float


def effect_intervals(differences: Differences, *, alpha: float = 0.05) -> EffectIntervalsResult:
    """Return effect sizes that use the pairing, each with an interval of level 1 − alpha.

    1. d_z: t is noncentral on n − 1 degrees of freedom; the ends are the noncentralities that put t at its upper and
       its lower alpha / 2 point, over √n. So the interval leaves out 0 exactly when the paired t test is significant at
       alpha. Exact for normal differences. With weights (linearised) standard error and weighted standard deviation.
    2. Hedges' correction multiplies estimate and ends by Γ(f/2) / (√(f/2) Γ((f − 1)/2)), f = n − 1; for f = 1 it is 0.
    3. The common language effect is Φ(d_z), ends alike.
    4. Probability of superiority: of each query 1, ½ or 0; with share of ties t their variance at a true value θ is
       θ(1 − θ) − t/4, and the interval holds the θ with (estimate − θ)² ≤ z² (θ(1 − θ) − t/4) / n. Without ties that is
       Wilson's. With weights n is Kish's effective number. It leaves out ½ exactly when the sign test's normal
       approximation is significant (losses from wins), so at the margin it may differ from the exact sign test.

    Parameters
    ----------
    differences : Differences
        n queries, c columns.
    alpha : float
        1 − level, between 0 and 1.

    Returns
    -------
    EffectIntervalsResult

    Raises
    ------
    RankstatsError
        If alpha is out of range.

    References
    ----------
    Cumming & Finch 2001 (noncentral t); Hedges 1981; McGraw & Wong 1992 (common language); Wilson 1927.

    Examples
    --------
    >>> from rankstats.stats import paired_differences
    >>> d = paired_differences([0.31, 0.52, 0.11, 0.75], [0.36, 0.49, 0.25, 0.86])
    >>> result = effect_intervals(d)
    >>> result.effect_size.round(3).tolist(), result.effect_low.round(3).tolist(), result.effect_high.round(3).tolist()
    ([0.9], [-0.34], [2.052])
    """
    alpha = check_alpha(alpha)
    t = paired_t(differences, alpha=alpha)
    deviation = np.where(differences.standard_deviation > 0, differences.standard_deviation, np.nan)
    effect = t.estimate / deviation
    ends = [_noncentralities(float(value), int(df), alpha) for value, df in zip(t.statistic, t.df, strict=True)]
    shifts = np.array(ends).reshape(-1, 2).T * (t.standard_error / deviation)
    low, high = agreeing_ends(t.p_value <= alpha, t.estimate, shifts[0], shifts[1])
    low, high = np.where(np.isnan(effect), np.nan, low), np.where(np.isnan(effect), np.nan, high)
    factor = hedges_correction(t.df)
    superiority = _superiority(differences, alpha)
    return EffectIntervalsResult(
        effect_size=effect,
        effect_low=low,
        effect_high=high,
        hedges=effect * factor,
        hedges_low=low * factor,
        hedges_high=high * factor,
        common_language=special.ndtr(effect),
        common_language_low=special.ndtr(low),
        common_language_high=special.ndtr(high),
        superiority=superiority[0],
        superiority_low=superiority[1],
        superiority_high=superiority[2],
        correction=factor,
        n=differences.n,
        alpha=alpha,
    )


def hedges_correction(df: NDArray[np.int64]) -> Floats:
    """Return Hedges' exact correction factors for standardised differences; NaN for df < 1.

    Examples
    --------
    >>> hedges_correction(np.array([19, 49])).round(6).tolist()
    [0.95991, 0.984602]
    """
    f = np.maximum(df, 2).astype(np.float64)
    factor = np.exp(special.gammaln(f / 2) - special.gammaln((f - 1) / 2)) / np.sqrt(f / 2)
    return np.where(df > 1, factor, np.where(df == 1, 0.0, np.nan))


def _noncentralities(statistic: float, df: int, alpha: float) -> tuple[float, float]:
    """Return the noncentralities at which P(T > t) is alpha / 2 and 1 − alpha / 2."""
    if np.isnan(statistic):
        return np.nan, np.nan
    if statistic < 0:
        low, high = _noncentralities(-statistic, df, alpha)
        return -high, -low
    # √(1 + t²/2f) is the standard deviation of the noncentrality's estimate, in large samples
    reach = (2 - special.ndtri(alpha / 2)) * np.sqrt(1 + statistic**2 / (2 * df)) * (1 + 4 / df)
    return _shift_at(statistic, df, alpha / 2, reach), _shift_at(statistic, df, 1 - alpha / 2, reach)


def _shift_at(statistic: float, df: int, tail: float, reach: float) -> float:
    def excess(shift: float) -> float:
        return noncentral_t_tail(shift, df, statistic) - tail

    low, high = statistic - reach, statistic + reach
    while excess(low) > 0:
        low, reach = low - reach, 2 * reach
    while excess(high) < 0:
        high, reach = high + reach, 2 * reach
    return float(scipy.optimize.brentq(excess, low, high, xtol=1e-11))


def _superiority(differences: Differences, alpha: float) -> tuple[Floats, Floats, Floats]:
    weights = differences.weight_integers
    total = weights @ differences.present
    total = np.where(total > 0, total, np.nan)
    sign = np.sign(differences.integers)
    estimate = (1 + weights @ sign / total) / 2
    ties = 1 - weights @ np.abs(sign) / total
    n = np.where(differences.n_effective > 0, differences.n_effective, np.nan)
    z_squared = special.ndtri(alpha / 2) ** 2
    # around ½: (x − y)² ≤ z² ((1 − t) / 4 − y²) / n for x = estimate − ½ and y = θ − ½
    x, leading = estimate - 0.5, 1 + z_squared / n
    root = np.sqrt(np.maximum(x**2 - leading * (x**2 - z_squared * (1 - ties) / (4 * n)), 0.0))
    zero = ~np.any(sign != 0, axis=0)
    low, high = 0.5 + (x - root) / leading, 0.5 + (x + root) / leading
    return estimate, np.where(zero, np.nan, low), np.where(zero, np.nan, high)
