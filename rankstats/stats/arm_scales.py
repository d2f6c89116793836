"""The scales on which two arms are compared: one statistic a scale gives p, interval and tests at a margin.

A scale's statistic compares its estimate with any wanted value of the effect; the interval holds the values at which
the statistic stays within a critical value. So p ≤ alpha exactly when the interval leaves out 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from rankstats.stats.arm_pairs import ArmPair
from rankstats.stats.validation import check_choice

EFFECT_SCALES = ("difference", "delta", "log", "fieller")
"""'difference' is absolute; the others are relative differences, with the interval of that name."""

REFERENCES = ("t", "normal")

Floats = NDArray[np.float64]


def tail(statistic: Floats, df: Floats) -> Floats:
    """Return P(T > statistic); the normal tail where `df` is infinite.

    Examples
    --------
    >>> tail(np.array([1.96, 1.96]), np.array([np.inf, 10.0])).round(4).tolist()
    [0.025, 0.0392]
    """
    normal = np.isinf(df)
    return np.where(normal, special.ndtr(-statistic), special.stdtr(np.where(normal, 1.0, df), -statistic))


def critical_value(alpha: Floats | float, df: Floats) -> Floats:
    """Return the value that T exceeds with probability alpha.

    Examples
    --------
    >>> critical_value(0.025, np.array([np.inf, 10.0])).round(4).tolist()
    [1.96, 2.2281]
    """
    normal = np.isinf(df)
    return np.where(normal, -special.ndtri(alpha), -special.stdtrit(np.where(normal, 1.0, df), alpha))


@dataclass(frozen=True, slots=True, eq=False)
class Scale:
    """An arm pair on one scale; made by `scale_of`.

    Attributes
    ----------
    pair : ArmPair
        The arms.
    name : str
        One of `EFFECT_SCALES`.
    df : ndarray, shape (c,)
        Degrees of freedom, infinite for the normal distribution; one number for every wanted value of the effect.
    control_df : ndarray, shape (c,)
        The same for the control alone.
    """

    pair: ArmPair
    name: str
    df: Floats
    control_df: Floats

    @property
    def relative(self) -> bool:
        """Whether effects are fractions of the control."""
        return self.name != "difference"

    @property
    def sign(self) -> Floats:
        """Sign by which both arms are turned, so that the control is positive."""
        return np.where(self.pair.control < 0, -1.0, 1.0)

    @property
    def _level(self) -> Floats:
        return np.where(self.pair.control != 0, np.abs(self.pair.control), np.nan)

    @property
    def _ratio(self) -> Floats:
        """Treatment over control."""
        return self.sign * self.pair.treatment / self._level

    @property
    def estimate(self) -> Floats:
        """The difference, or the relative difference: the difference over the size of the control."""
        return self.pair.difference / self._level if self.relative else self.pair.difference

    @property
    def standard_error(self) -> Floats:
        """Of the difference, of the relative difference ('delta'), or of the log ratio; NaN for Fieller."""
        if self.name == "difference":
            return self.pair.standard_error
        if self.name == "fieller":
            return np.full(self.pair.n_columns, np.nan)
        error = np.sqrt(self.pair.variance_at(self._ratio)) / self._level
        if self.name == "delta":
            return error
        return error / np.where(self._ratio > 0, self._ratio, np.nan)

    def statistic(self, wanted: Floats | float = 0.0) -> Floats:
        """Return the standardised distance of the estimate from a wanted effect; NaN where undefined or spreadless."""
        pair, factor = self.pair, 1 + self.sign * wanted
        if self.name == "difference":
            distance, error = pair.difference - wanted, self.standard_error
        elif self.name == "delta":
            distance, error = self.estimate - wanted, self.standard_error
        elif self.name == "log":
            # a ratio of at most 0 is infinitely far away
            below = np.log(factor, out=np.full(np.shape(factor), -np.inf), where=factor > 0)
            known = np.where(self._ratio > 0, self._ratio, np.nan)
            distance, error = self.sign * (np.log(known) - below), self.standard_error
        else:
            distance, error = pair.treatment - factor * pair.control, np.sqrt(pair.variance_at(factor))
        return distance / np.where(error > 0, error, np.nan)

    def ends(self, critical: Floats) -> tuple[Floats, Floats]:
        """Return the effects between which the statistic stays within ±critical; NaN where it has no bounds."""
        if self.name == "fieller":
            return self._turned(*self._fieller(critical))
        error = np.where(self.standard_error > 0, self.standard_error, np.nan)
        if self.name != "log":
            return self.estimate - critical * error, self.estimate + critical * error
        known = np.where(self._ratio > 0, self._ratio, np.nan)
        return self._turned(known * np.exp(-critical * error), known * np.exp(critical * error))

    def _turned(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Return relative differences from ratios."""
        turned = self.sign < 0
        return np.where(turned, 1 - high, low - 1), np.where(turned, 1 - low, high - 1)

    def _fieller(self, critical: Floats) -> tuple[Floats, Floats]:
        pair, square = self.pair, critical**2
        a = pair.control**2 - square * pair.control_variance
        b = pair.treatment * pair.control - square * pair.covariance
        c = pair.treatment**2 - square * pair.treatment_variance
        with np.errstate(invalid="ignore"):  # undefined arms are NaN
            bounded = (a > 0) & (pair.variance > 0)
        a = np.where(bounded, a, np.nan)
        root = np.sqrt(np.maximum(b**2 - a * c, 0.0))
        return (b - root) / a, (b + root) / a

    def told_from_zero(self, alpha: Floats | float) -> NDArray[np.bool_]:
        """Whether the control's interval of level 1 − alpha leaves out 0: relative effects are undefined elsewhere."""
        if not self.relative:
            return ~np.isnan(self.pair.difference)
        df = np.fmin(self.df, self.control_df)
        critical = critical_value(np.asarray(alpha) / 2, np.where(df > 0, df, np.nan))
        with np.errstate(invalid="ignore"):  # undefined arms are NaN
            return np.asarray(np.abs(self.pair.control) > critical * np.sqrt(self.pair.control_variance))


def scale_of(pair: ArmPair, scale: str, reference: str) -> Scale:
    """Return a pair on a scale, with the t distribution or the normal one."""
    check_choice("scale", scale, EFFECT_SCALES)
    if check_choice("reference", reference, REFERENCES) == "normal":
        infinite = np.full(pair.n_columns, np.inf)
        return Scale(pair, scale, np.where(np.isnan(pair.df), np.nan, infinite), infinite)
    return Scale(pair, scale, pair.df, pair.control_df)
