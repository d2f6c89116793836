"""Do two sets of effects agree? Signs and correlations over segments or launches, honest where there are few."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from rankstats.errors import RankstatsError
from rankstats.stats.correlation import rank_correlation
from rankstats.stats.validation import check_alpha

Floats = NDArray[np.float64]

LEAST_FOR_CORRELATION = 4
"""Fewer pairs have no correlation that says anything: two are always in line, and three nearly so."""

LEAST_FOR_RANKS = 10
"""Intervals of rank correlations are approximate and not given for fewer pairs."""

_ON_A_LINE = 1e-12
"""Pairs so nearly on one line say nothing of how far others would be from it."""


@dataclass(frozen=True, slots=True)
class Correlation:
    """A correlation with its interval; NaN where there is none."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class EffectAgreement:
    """Result of `effect_agreement`.

    Attributes
    ----------
    n : int
        Pairs of effects that are both defined.
    same, opposite : int
        Pairs whose signs are the same, or opposite; pairs with an effect of 0 are neither.
    same_share, same_low, same_high : float
        same / (same + opposite) with the interval of Clopper and Pearson; NaN without such pairs.
    sign_p_value : float
        Two-sided binomial test of a share of ½: twice the smaller tail, at most 1; it is at most alpha exactly when the
        interval leaves out ½.
    kendall, spearman, pearson : Correlation
        τ_b, ρ on mid-ranks, r; NaN for fewer than 4 pairs or where one side is constant. Intervals are by Fisher's z;
        those of τ_b and ρ from 10 pairs on, that of r where the pairs are not all on one line.
    alpha : float
        1 − level.
    """

    n: int
    same: int
    opposite: int
    same_share: float
    same_low: float
    same_high: float
    sign_p_value: float
    kendall: Correlation
    spearman: Correlation
    pearson: Correlation
    alpha: float

    @property
    def correlations(self) -> Mapping[str, Correlation]:
        """The correlations by name."""
        return {"kendall_tau_b": self.kendall, "spearman_rho": self.spearman, "pearson_r": self.pearson}


def effect_agreement(first: ArrayLike, second: ArrayLike, *, alpha: float = 0.05) -> EffectAgreement:
    """Compare two sets of effects, such as offline and online differences of the same segments or launches.

    Errors of the effects themselves pull correlations towards 0: effects that agree in truth are correlated less the
    less is known of each.

    Parameters
    ----------
    first, second : array_like, shape (n,)
        Effects, so that positive is better in both; a pair with NaN in either is left out.
    alpha : float
        1 − level.

    Returns
    -------
    EffectAgreement

    Raises
    ------
    RankstatsError
        If the shapes differ, or an effect is infinite.

    References
    ----------
    Clopper & Pearson 1934; Fisher 1921 (r); Bonett & Wright 2000 (ρ: variance (1 + ρ²/2) / (n − 3)); Fieller, Hartley &
    Pearson 1957 (τ: variance .437 / (n − 4)).

    Examples
    --------
    >>> result = effect_agreement([0.03, 0.01, -0.02, 0.04, 0.02], [0.5, 0.1, -0.1, 0.7, -0.2])
    >>> result.same, result.opposite, round(result.same_low, 2), round(result.kendall.value, 2)
    (4, 1, 0.28, 0.6)
    >>> result.kendall.low, effect_agreement([1, 2], [1, 2]).pearson.value
    (nan, nan)
    """
    check_alpha(alpha)
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if x.shape != y.shape or x.ndim != 1:
        raise RankstatsError(f"effects have shapes {x.shape} and {y.shape}; two of one length are expected")
    if np.isinf(x).any() or np.isinf(y).any():
        raise RankstatsError("an effect is infinite; give NaN where it is undefined")
    known = ~(np.isnan(x) | np.isnan(y))
    x, y = x[known], y[known]
    signs = np.sign(x) * np.sign(y)
    same, opposite = int(np.count_nonzero(signs > 0)), int(np.count_nonzero(signs < 0))
    low, high, p = _share(same, same + opposite, alpha)
    return EffectAgreement(
        n=len(x),
        same=same,
        opposite=opposite,
        same_share=same / (same + opposite) if same + opposite else math.nan,
        same_low=low,
        same_high=high,
        sign_p_value=p,
        **_correlations(x, y, alpha),
        alpha=alpha,
    )


def _share(successes: int, n: int, alpha: float) -> tuple[float, float, float]:
    """Return Clopper and Pearson's interval and the test of ½ that belongs to it."""
    if not n:
        return math.nan, math.nan, math.nan
    low = float(special.betaincinv(successes, n - successes + 1, alpha / 2)) if successes else 0.0
    high = float(special.betaincinv(successes + 1, n - successes, 1 - alpha / 2)) if successes < n else 1.0
    tail = float(special.bdtr(min(successes, n - successes), n, 0.5))
    return low, high, min(1.0, 2 * tail)


def _correlations(x: Floats, y: Floats, alpha: float) -> dict[str, Correlation]:
    n, nothing = len(x), Correlation(math.nan, math.nan, math.nan)
    if n < LEAST_FOR_CORRELATION or np.ptp(x) == 0 or np.ptp(y) == 0:
        return dict.fromkeys(("kendall", "spearman", "pearson"), nothing)
    ranks = rank_correlation(x, y)
    # no interval ends at a correlation of 1 that one exchange of neighbours would end
    tau_most, rho_most = 1 - 4 / (n * (n - 1)), 1 - 12 / (n * (n**2 - 1))
    few, r = n < LEAST_FOR_RANKS, _pearson(x, y)
    return {
        "kendall": _with_interval(ranks.tau_b, math.nan if few else 0.437 / (n - 4), tau_most, alpha),
        "spearman": _with_interval(ranks.rho, math.nan if few else (1 + ranks.rho**2 / 2) / (n - 3), rho_most, alpha),
        "pearson": _with_interval(r, math.nan if 1 - abs(r) < _ON_A_LINE else 1 / (n - 3), 1.0, alpha),
    }


def _pearson(x: Floats, y: Floats) -> float:
    """Return r of values scaled to at most 1, so that nothing overflows."""
    parts = [(v - v.mean()) / np.abs(v - v.mean()).max() for v in (x / np.abs(x).max(), y / np.abs(y).max())]
    product = float(parts[0] @ parts[1]) / math.sqrt(float(parts[0] @ parts[0]) * float(parts[1] @ parts[1]))
    return max(-1.0, min(1.0, product))


def _with_interval(value: float, variance: float, most: float, alpha: float) -> Correlation:
    """Return a correlation with the interval tanh(atanh r ± q·sd)."""
    if math.isnan(variance):
        return Correlation(value, math.nan, math.nan)
    bounded = math.copysign(min(abs(value), most), value)
    half = -float(special.ndtri(alpha / 2)) * math.sqrt(variance)
    centre = math.atanh(bounded)
    low, high = math.tanh(centre - half), math.tanh(centre + half)
    return Correlation(value, min(low, value), max(high, value))
