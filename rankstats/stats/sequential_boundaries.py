"""Probabilities of a test statistic that is looked at several times, by numerical integration from look to look.

Z_k, the statistic at information t_k, is normal with mean drift · √t_k, and Z_k √t_k has independent increments. The
density of Z_k among the paths that were inside all bounds before is carried from look to look on Gauss–Legendre nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy import special

_REACH = 9.0
"""Standard deviations from its mean beyond which a statistic is not followed: less than 1e-18 lies there."""

_NODES_PER_DEVIATION = 3.0
_NODE_STEP = 48
_FURTHEST = 38.0
"""Where the normal tail leaves the range of doubles."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Continuing:
    """Paths that no look has stopped: density of the statistic at the last look, on nodes with weights.

    Attributes
    ----------
    information : float
        Information at the last look; 0 before the first.
    values, mass : ndarray, shape (nodes,)
        Nodes, and density times weight.
    drift : float
        Mean of the statistic at information 1.
    """

    information: float
    values: Floats
    mass: Floats
    drift: float

    @classmethod
    def start(cls, drift: float = 0.0) -> Continuing:
        """Return all paths, before the first look."""
        return cls(0.0, np.zeros(1), np.ones(1), drift)

    def _next(self, information: float) -> tuple[Floats, float]:
        """Return the means and the standard deviation of the statistic at the next look, given that at the last."""
        step = information - self.information
        means = (self.values * np.sqrt(self.information) + self.drift * step) / np.sqrt(information)
        return means, float(np.sqrt(step / information))

    def above(self, information: float, bound: float) -> float:
        """Return the probability of going on until now and lying above a bound at the next look."""
        means, deviation = self._next(information)
        return float(self.mass @ special.ndtr((means - bound) / deviation))

    def below(self, information: float, bound: float) -> float:
        """Return the probability of going on until now and lying below a bound at the next look."""
        means, deviation = self._next(information)
        return float(self.mass @ special.ndtr((bound - means) / deviation))

    def bound_for(self, information: float, probability: float) -> float:
        """Return the bound at the next look that is passed upwards with a given probability; infinite for none."""
        if probability <= 0 or self.above(information, _FURTHEST) >= probability:
            return np.inf
        low = -_FURTHEST
        if self.above(information, low) <= probability:
            return low
        logarithm = np.log(probability)
        return float(
            scipy.optimize.brentq(
                lambda bound: np.log(max(self.above(information, bound), 1e-320)) - logarithm,
                low,
                _FURTHEST,
                xtol=1e-13,
                rtol=1e-14,
            )
        )

    def after(self, information: float, lower: float, upper: float) -> Continuing:
        """Return the paths that lie between two bounds at the next look."""
        means, deviation = self._next(information)
        centre = self.drift * np.sqrt(information)
        low, high = max(lower, centre - _REACH), min(upper, centre + _REACH)
        if not low < high:
            return Continuing(information, np.zeros(1), np.zeros(1), self.drift)
        # whole steps, so that few different sets of nodes are ever needed
        steps = int(np.ceil(_NODES_PER_DEVIATION * (high - low) / deviation / _NODE_STEP))
        nodes, weights = _legendre(_NODE_STEP * steps)
        values = low + (high - low) * (nodes + 1) / 2
        distance = (values[:, None] - means) / deviation
        density = np.exp(-(distance**2) / 2) @ self.mass / (deviation * np.sqrt(2 * np.pi))
        return Continuing(information, values, density * weights * (high - low) / 2, self.drift)


@cache
def _legendre(count: int) -> tuple[Floats, Floats]:
    return np.polynomial.legendre.leggauss(count)


def exit_probabilities(
    information: Floats, lower: Floats, upper: Floats, *, drift: float = 0.0
) -> tuple[Floats, Floats]:
    """Return the probabilities of leaving below and above for the first time at each look, both of shape (looks,).

    Parameters
    ----------
    information : ndarray, shape (looks,)
        Ascending, more than 0.
    lower, upper : ndarray, shape (looks,)
        Bounds of the statistic; infinite where there is none.
    drift : float
        Mean of the statistic at information 1.

    References
    ----------
    Armitage, McPherson & Rowe 1969; Jennison & Turnbull 2000, chapter 19.

    Examples
    --------
    >>> bounds = np.array([1.96, 1.96])
    >>> below, above = exit_probabilities(np.array([0.5, 1.0]), -bounds, bounds)
    >>> round(float(below.sum() + above.sum()), 4)
    0.0831
    """
    paths, left = Continuing.start(drift), np.zeros((2, len(information)))
    for look, (t, low, high) in enumerate(zip(information.tolist(), lower.tolist(), upper.tolist(), strict=True)):
        left[:, look] = paths.below(t, low), paths.above(t, high)
        paths = paths.after(t, low, high)
    return left[0], left[1]
