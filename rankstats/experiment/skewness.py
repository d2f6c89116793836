"""Third moments of the units, where unequal arms make them matter for the level of Welch's test."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rankstats.stats import ArmPair

UNEQUAL = 2.0
"""From this ratio of arms on, skewness of the arms does not cancel in the difference."""
SKEWED = 0.25
"""Skewness of the difference from which Welch's test at .05 rejects more than .06 of true nulls in simulations."""


def are_unequal(units: Sequence[int]) -> bool:
    """Whether some arm has at least twice the units of another one."""
    return min(units) > 0 and max(units) >= UNEQUAL * min(units)


def third_moment(variables: Sequence[NDArray[np.float64]]) -> float:
    """Return the third central moment of a mean's values, or of the linear parts of a ratio, whatever their order.

    Examples
    --------
    >>> third_moment([np.array([0.0, 0.0, 0.0, 4.0])])
    6.0
    """
    values = np.sort(variables[0])
    if len(variables) == 2:
        top, bottom = (np.sort(part).sum() for part in variables)
        if not bottom:
            return float("nan")
        values = np.sort((variables[0] - top / bottom * variables[1]) / (bottom / len(values)))
    return float(np.sort((values - values.mean()) ** 3).sum() / len(values)) if len(values) else float("nan")


def third_moments(arms: Sequence[Sequence[NDArray[np.float64]]]) -> tuple[float, ...]:
    """Return the third moment of each arm's variables; nothing where the arms are about equal.

    Examples
    --------
    >>> third_moments([[np.zeros(3)], [np.zeros(4)]]), third_moments([[np.zeros(3)], [np.array([0.0, 0.0, 3.0] * 9)]])
    ((), (0.0, 2.0))
    """
    if not are_unequal([len(variables[0]) for variables in arms]):
        return ()
    return tuple(map(third_moment, arms))


def skewness_of_difference(pair: ArmPair, thirds: Sequence[float]) -> float:
    """Return the skewness of the difference of the first column if both arms had the shape of all units together.

    A small arm has not seen its rare large values, so its own third moment is no guide. 0 for arms of one size.

    Examples
    --------
    >>> from rankstats.stats import aggregated_moments, mean_pair
    >>> pair = mean_pair(aggregated_moments(1800, 1.0, 1.0), aggregated_moments(200, 1.0, 1.0))
    >>> round(skewness_of_difference(pair, (10.0, 10.0)), 3)
    0.596
    """
    sizes = np.array([pair.control_n[0], pair.treatment_n[0]], dtype=np.float64)
    spreads = sizes * np.array([pair.control_variance[0], pair.treatment_variance[0]])
    spread, third = (float(np.average(part, weights=sizes)) for part in (spreads, np.asarray(thirds)))
    if not spread**1.5 > 0 or np.isnan(third):
        return 0.0
    control, treatment = 1 / sizes
    return float(third / spread**1.5 * (treatment**2 - control**2) / (treatment + control) ** 1.5)
