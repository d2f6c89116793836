"""Two arms of an experiment as every comparison sees them: estimates, their variances, and degrees of freedom."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankstats.errors import RankstatsError
from rankstats.stats.results import ColumnResult
from rankstats.stats.unit_moments import UnitMoments

Floats = NDArray[np.float64]

_NOISE = 1e-13
"""A linearised variance below this fraction of its parts is what rounding leaves of 0."""


@dataclass(frozen=True, slots=True, eq=False)
class ArmPair(ColumnResult):
    """Estimates of a control and a treatment arm in c columns (metrics, arms, segments, days).

    Attributes
    ----------
    control, treatment : ndarray
        Estimates (means, ratios, quantiles); NaN where undefined.
    control_variance, treatment_variance : ndarray
        Their squared standard errors; NaN where there is no estimate of spread.
    covariance : ndarray
        Covariance of the two estimates: 0 but where both are adjusted by the covariate means of all units.
    df : ndarray
        Degrees of freedom of the difference (Welch–Satterthwaite); infinite for the normal distribution.
    control_df : ndarray
        Degrees of freedom of the control's estimate.
    control_n, treatment_n : ndarray of int
        Units.
    """

    control: Floats
    treatment: Floats
    control_variance: Floats
    treatment_variance: Floats
    covariance: Floats
    df: Floats
    control_df: Floats
    control_n: NDArray[np.int64]
    treatment_n: NDArray[np.int64]

    @property
    def n_columns(self) -> int:
        """Number of columns c."""
        return len(self.control)

    @property
    def difference(self) -> Floats:
        """Treatment − control."""
        return self.treatment - self.control

    @property
    def variance(self) -> Floats:
        """Squared standard error of the difference."""
        return self.variance_at(np.ones(self.n_columns))

    @property
    def standard_error(self) -> Floats:
        """Standard error of the difference."""
        return np.sqrt(self.variance)

    def variance_at(self, factor: Floats) -> Floats:
        """Return the variance of treatment − factor × control."""
        parts = self.treatment_variance + factor**2 * self.control_variance
        return _above_noise(parts - 2 * factor * self.covariance, parts)

    def select(self, columns: ArrayLike) -> ArmPair:
        """Return the chosen columns, in the chosen order."""
        chosen = np.asarray(columns)
        return ArmPair(*(getattr(self, name)[chosen] for name in self.__dataclass_fields__))


def _above_noise(variance: Floats, parts: Floats) -> Floats:
    with np.errstate(invalid="ignore"):  # no spread known is NaN
        return np.where(variance > _NOISE * parts, variance, np.where(np.isnan(variance), np.nan, 0.0))


def mean_pair(control: UnitMoments, treatment: UnitMoments) -> ArmPair:
    """Compare means: Welch's standard error and degrees of freedom.

    Parameters
    ----------
    control, treatment : UnitMoments
        Moments of the metric (the first variable); a control of one column serves all columns of the treatment.

    Returns
    -------
    ArmPair

    References
    ----------
    Welch 1947; Satterthwaite 1946.

    Examples
    --------
    >>> from rankstats.stats.unit_moments import unit_moments
    >>> pair = mean_pair(unit_moments([1.0, 2.0, 3.0]), unit_moments([2.0, 4.0]))
    >>> pair.difference.tolist(), pair.df.round(3).tolist()
    ([1.0], [1.684])
    """
    return independent_pair(*both_arms(control, treatment, least=1), ratio=False)


def ratio_pair(control: UnitMoments, treatment: UnitMoments) -> ArmPair:
    """Compare ratios of sums, Σ numerator / Σ denominator, by the delta method at the unit.

    The variance of an arm's ratio r is that of (numerator − r × denominator) / mean denominator over its units, divided
    by n: numerator and denominator may be correlated, and rows of one unit too.

    Parameters
    ----------
    control, treatment : UnitMoments
        Moments of numerator and denominator (the first two variables); a control of one column serves all columns.

    Returns
    -------
    ArmPair
        NaN where the denominators of an arm add up to 0.

    References
    ----------
    Deng, Knoblich & Lu 2018; R's ``survey::svyratio``.

    Examples
    --------
    >>> from rankstats.stats.unit_moments import unit_moments
    >>> pair = ratio_pair(unit_moments([1, 0, 3], [4, 2, 6]), unit_moments([2, 2, 1], [4, 5, 1]))
    >>> pair.control.round(4).tolist(), pair.treatment.tolist()
    ([0.3333], [0.5])
    """
    return independent_pair(*both_arms(control, treatment, least=2), ratio=True)


def both_arms(control: UnitMoments, treatment: UnitMoments, least: int) -> tuple[UnitMoments, UnitMoments]:
    """Return both arms with the same columns, or raise when they do not fit."""
    if control.n_variables != treatment.n_variables or control.n_variables < least:
        raise RankstatsError(
            f"control has {control.n_variables} variables, treatment {treatment.n_variables}; both need the same, at "
            f"least {least}" + (" (numerator, then denominator)" if least == 2 else "")
        )
    if control.n_columns == 1:
        return control.select(np.zeros(treatment.n_columns, dtype=np.int64)), treatment
    if control.n_columns != treatment.n_columns:
        raise RankstatsError(
            f"control has {control.n_columns} columns, treatment {treatment.n_columns}; one, or the same number"
        )
    return control, treatment


def linearised(arm: UnitMoments, *, ratio: bool) -> tuple[Floats, UnitMoments]:
    """Return the estimate of an arm, shape (c,), and the moments of its units' linear parts and their covariates.

    The linear part of a mean is the value itself; that of a ratio r is r + (numerator − r × denominator) / mean
    denominator, which has the mean r.
    """
    if not ratio:
        return arm.mean[:, 0], arm
    bottom = np.where(arm.mean[:, 1] != 0, arm.mean[:, 1], np.nan)
    estimate = arm.mean[:, 0] / bottom
    # rows: the linear part, then the covariates, in terms of the variables
    combine = np.zeros((arm.n_columns, arm.n_variables - 1, arm.n_variables))
    combine[:, 0, 0], combine[:, 0, 1] = 1 / bottom, -estimate / bottom
    combine[:, 1:, 2:] = np.eye(arm.n_variables - 2)
    covariance = combine @ arm.covariance @ np.swapaxes(combine, 1, 2)
    parts = (arm.covariance[:, 0, 0] + estimate**2 * arm.covariance[:, 1, 1]) / bottom**2
    covariance[:, 0, 0] = _above_noise(covariance[:, 0, 0], parts)
    return estimate, UnitMoments(arm.n, np.hstack([estimate[:, None], arm.mean[:, 2:]]), covariance)


def independent_pair(control: UnitMoments, treatment: UnitMoments, *, ratio: bool) -> ArmPair:
    """Return the pair of two arms whose units have nothing to do with each other."""
    of_control, control_variance = _arm(control, ratio=ratio)
    of_treatment, treatment_variance = _arm(treatment, ratio=ratio)
    return ArmPair(
        control=of_control,
        treatment=of_treatment,
        control_variance=control_variance,
        treatment_variance=treatment_variance,
        covariance=np.zeros(control.n_columns),
        df=welch_df(control_variance, treatment_variance, control.n - 1, treatment.n - 1),
        control_df=np.maximum(control.n - 1.0, 0.0),
        control_n=control.n.copy(),
        treatment_n=treatment.n.copy(),
    )


def _arm(arm: UnitMoments, *, ratio: bool) -> tuple[Floats, Floats]:
    estimate, parts = linearised(arm, ratio=ratio)
    return estimate, parts.covariance[:, 0, 0] / np.where(arm.n > 0, arm.n, np.nan)


def welch_df(first: Floats, second: Floats, first_df: NDArray[np.int64], second_df: NDArray[np.int64]) -> Floats:
    """Return Satterthwaite's degrees of freedom of a sum of two variances; NaN without any variance.

    Examples
    --------
    >>> welch_df(np.array([1.0]), np.array([1.0]), np.array([4]), np.array([9])).round(3).tolist()
    [11.077]
    """
    total = first + second
    known = (first_df > 0) & (second_df > 0)
    with np.errstate(invalid="ignore"):  # no spread known is NaN
        known &= total > 0
    of_first = first / np.where(known, total, np.nan)
    shares = of_first**2 / np.maximum(first_df, 1) + (1 - of_first) ** 2 / np.maximum(second_df, 1)
    return np.asarray(1 / shares)
