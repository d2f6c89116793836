"""Planning an experiment: power, units and days needed, and the smallest detectable effect."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray
from scipy import special

from rankstats.errors import RankstatsError
from rankstats.stats.arm_pairs import linearised
from rankstats.stats.covariate_adjustment import cuped
from rankstats.stats.power import t_power
from rankstats.stats.results import ColumnResult
from rankstats.stats.unit_moments import UnitMoments
from rankstats.stats.validation import check_alpha, check_family_size

MEAN_FORMULA = "noncentral t, Welch–Satterthwaite degrees of freedom, equal variances in the arms, both tails"
PROPORTION_FORMULA = "normal, pooled share under no effect and separate shares under the effect, both tails"

_MOST_UNITS = 1e15
_ROUNDING = 1e-9
"""What a share times a number of units may lie above a whole number by."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ExperimentPlan(ColumnResult):
    """Result of `plan_means` and `plan_proportions`; array fields have shape (c,), one entry a metric.

    Attributes
    ----------
    baseline : ndarray
        Mean, ratio or share of the control that is supposed; NaN where none was given.
    effect : ndarray
        The difference that is wanted; its sign plays no part in means.
    standard_deviation : ndarray
        Of one unit's (linearised, adjusted) value.
    units : ndarray
        Units of both arms for which power and smallest detectable effect hold; NaN where none were given.
    power_at_units : ndarray
        Probability that the test finds the wanted difference with these units.
    smallest_detectable : ndarray
        Difference that is found with probability `power` with these units: ``power_at_units`` for it is `power`.
    units_needed : ndarray
        Least number of units of both arms with which the wanted difference is found with probability `power`.
    control_needed, treatment_needed : ndarray
        The same for each arm, rounded up.
    days_needed : ndarray
        Days until then; infinite where they never come, NaN where no daily units were given.
    family_size : ndarray of int
        Comparisons that the level is divided by.
    treatment_share : float
        Share of the units that the treatment gets.
    alpha, power : float
        Level of the family and wanted power.
    two_sided : bool
        Whether the test is two-sided.
    formula : str
        Where the power comes from.
    """

    baseline: Floats
    effect: Floats
    standard_deviation: Floats
    units: Floats
    power_at_units: Floats
    smallest_detectable: Floats
    units_needed: Floats
    control_needed: Floats
    treatment_needed: Floats
    days_needed: Floats
    family_size: NDArray[np.int64]
    treatment_share: float
    alpha: float
    power: float
    two_sided: bool
    formula: str


def unit_variance(moments: UnitMoments, *, ratio: bool = False, covariates: bool = False) -> Floats:
    """Return the variance of one unit's value that planning needs, shape (c,), from units of the past.

    Parameters
    ----------
    moments : UnitMoments
        Of the metric; with `ratio` of numerator and denominator (the variance is that of the linear part); with
        `covariates` followed by covariates.
    ratio : bool
        Whether the first two variables are numerator and denominator.
    covariates : bool
        Whether the analysis will be adjusted by the covariates (CUPED): the variance that they leave.

    Examples
    --------
    >>> from rankstats.stats.unit_moments import unit_moments
    >>> past = unit_moments([1.0, 2.0, 4.0, 5.0], [1.0, 2.0, 3.0, 4.0])
    >>> unit_variance(past).round(3).tolist(), unit_variance(past, covariates=True).round(3).tolist()
    ([3.333], [0.067])
    """
    _, parts = linearised(moments, ratio=ratio)
    variance = parts.covariance[:, 0, 0]
    if not covariates:
        return np.asarray(variance)
    return np.asarray(variance * (1 - cuped(moments, moments, ratio=ratio).r_squared))


def plan_means(
    variance: ArrayLike,
    effect: ArrayLike,
    *,
    baseline: ArrayLike = np.nan,
    relative: bool = False,
    variance_reduction: ArrayLike = 0.0,
    units: ArrayLike | None = None,
    daily_units: ArrayLike | None = None,
    treatment_share: float = 0.5,
    alpha: float = 0.05,
    power: float = 0.8,
    two_sided: bool = True,
    family_size: ArrayLike = 1,
) -> ExperimentPlan:
    """Plan an experiment on means or ratios, read by `compare_arms`.

    Parameters
    ----------
    variance : float or array_like, shape (c,)
        Of one unit's value; for ratio metrics and CUPED from `unit_variance`.
    effect : float or array_like, shape (c,)
        Wanted difference, not 0; with `relative` a fraction of the baseline.
    baseline : float or array_like, shape (c,), optional
        The control's mean or ratio.
    relative : bool
        Whether `effect` is a fraction of the baseline. `smallest_detectable` stays an absolute difference.
    variance_reduction : float or array_like, shape (c,)
        Squared correlation with the covariates of CUPED, from 0 to below 1 (``AdjustedArms.r_squared``).
    units : int or array_like of int, shape (c,), optional
        Units of both arms together for which power is wanted.
    daily_units : float or array_like, shape (days,), optional
        New units a day, or the number of distinct units up to each day: users come back, so the second is nearer the
        truth.
    treatment_share : float
        Share of the units that the treatment gets, between 0 and 1.
    alpha, power : float
        Level of the family and wanted power.
    two_sided : bool
        Whether the test is two-sided.
    family_size : int or array_like of int, shape (c,)
        Comparisons m; each is tested at alpha / m (Bonferroni).

    Returns
    -------
    ExperimentPlan

    Raises
    ------
    RankstatsError
        If an argument is out of range.

    References
    ----------
    R's ``power.t.test(strict = TRUE)``, with which it agrees for equal arms.

    Examples
    --------
    >>> plan = plan_means(4.0, 0.1, units=10_000, daily_units=800)
    >>> plan.units_needed.tolist(), plan.days_needed.tolist(), plan.smallest_detectable.round(4).tolist()
    ([12561.0], [16.0], [0.1121])
    """
    spread = np.asarray(variance, dtype=np.float64) * (1 - np.asarray(variance_reduction, dtype=np.float64))
    if not np.all((np.asarray(variance_reduction) >= 0) & (np.asarray(variance_reduction) < 1)):
        raise RankstatsError("variance_reduction: a squared correlation from 0 to below 1 is expected")
    if not np.all(np.isfinite(spread) & (spread > 0)):
        raise RankstatsError("variance: finite numbers of more than 0 are expected")
    asked = _Asked.of(effect, baseline, relative, spread, treatment_share, alpha, power, two_sided, family_size)

    def of_column(column: int) -> _Power:
        deviation = float(np.sqrt(asked.spread[column]))
        level = asked.alpha / int(asked.family[column])

        def reached(difference: float, n: float) -> float:
            return _mean_power(difference / deviation, n, treatment_share, level, two_sided=two_sided)

        return reached

    return _plan(
        asked,
        of_column,
        units=units,
        daily_units=daily_units,
        furthest=np.full(asked.columns, np.inf),
        formula=MEAN_FORMULA,
    )


def plan_proportions(
    baseline: ArrayLike,
    effect: ArrayLike,
    *,
    relative: bool = False,
    units: ArrayLike | None = None,
    daily_units: ArrayLike | None = None,
    treatment_share: float = 0.5,
    alpha: float = 0.05,
    power: float = 0.8,
    two_sided: bool = True,
    family_size: ArrayLike = 1,
) -> ExperimentPlan:
    """Plan an experiment on shares of units, read by `compare_proportions`.

    Parameters
    ----------
    baseline : float or array_like, shape (c,)
        The control's share, between 0 and 1.
    effect : float or array_like, shape (c,)
        Wanted difference, not 0, with its sign; with `relative` a fraction of the baseline.
    relative, units, daily_units, treatment_share, alpha, power, two_sided, family_size
        As in `plan_means`. `smallest_detectable` is a difference in the direction of `effect`; NaN where none between
        0 and 1 is large enough.

    Returns
    -------
    ExperimentPlan

    Raises
    ------
    RankstatsError
        If an argument is out of range, or baseline + effect is no share.

    References
    ----------
    Fleiss, Levin & Paik 2003, section 4; R's ``power.prop.test(strict = TRUE)``.

    Examples
    --------
    >>> plan = plan_proportions(0.05, 0.01, daily_units=2000)
    >>> plan.units_needed.tolist(), plan.days_needed.tolist()
    ([16316.0], [9.0])
    """
    share = np.asarray(baseline, dtype=np.float64)
    if not np.all((share > 0) & (share < 1)):
        raise RankstatsError("baseline: shares between 0 and 1 are expected")
    asked = _Asked.of(
        effect, baseline, relative, share * (1 - share), treatment_share, alpha, power, two_sided, family_size
    )
    after = asked.baseline + asked.effect
    if not np.all((after > 0) & (after < 1)):
        raise RankstatsError(
            "effect: the treatment's share, baseline + effect, must lie between 0 and 1"
            + ("" if relative else "; for a fraction of the baseline say relative=True")
        )

    def of_column(column: int) -> _Power:
        rate, sign = float(asked.baseline[column]), float(np.sign(asked.effect[column]))
        level = asked.alpha / int(asked.family[column])

        def reached(difference: float, n: float) -> float:
            return _share_power(rate, rate + sign * abs(difference), n, treatment_share, level, two_sided=two_sided)

        return reached

    furthest = np.where(asked.effect > 0, 1 - asked.baseline, asked.baseline)
    return _plan(
        asked,
        of_column,
        units=units,
        daily_units=daily_units,
        furthest=furthest,
        formula=PROPORTION_FORMULA,
    )


class _Power(Protocol):
    def __call__(self, difference: float, n: float, /) -> float: ...


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """The checked question, shape (c,)."""

    effect: Floats
    baseline: Floats
    spread: Floats
    family: NDArray[np.int64]
    treatment_share: float
    alpha: float
    power: float
    two_sided: bool

    @classmethod
    def of(  # noqa: PLR0917  the order of the fields
        cls,
        effect: ArrayLike,
        baseline: ArrayLike,
        relative: bool,
        spread: Floats,
        treatment_share: float,
        alpha: float,
        power: float,
        two_sided: bool,
        family_size: ArrayLike,
    ) -> _Asked:
        level = check_alpha(alpha)
        if not level < power < 1:
            raise RankstatsError(f"power = {power!r}: a number between alpha = {alpha!r} and 1 is expected")
        if not 0 < treatment_share < 1:
            raise RankstatsError(f"treatment_share = {treatment_share!r}: a share between 0 and 1 is expected")
        wanted, before, variance = (
            array.astype(np.float64)
            for array in np.broadcast_arrays(*(np.atleast_1d(np.asarray(part)) for part in (effect, baseline, spread)))
        )
        if relative:
            wanted = wanted * np.abs(before)
        if wanted.ndim != 1 or not np.all(np.isfinite(wanted) & (wanted != 0)):
            raise RankstatsError(
                "effect: finite differences other than 0 are expected" + (", and a baseline" if relative else "")
            )
        family = check_family_size(family_size, len(wanted))
        return cls(wanted, before, variance, family, float(treatment_share), level, float(power), two_sided)

    @property
    def columns(self) -> int:
        return len(self.effect)


def _arms(n: float, treatment_share: float) -> tuple[float, float]:
    return n * (1 - treatment_share), n * treatment_share


def _mean_power(size: float, n: float, treatment_share: float, level: float, *, two_sided: bool) -> float:
    """Return the power for a difference of `size` standard deviations of one unit; 0 where an arm has one unit."""
    control, treatment = _arms(n, treatment_share)
    if min(control, treatment) <= 1:
        return 0.0
    of_control, of_treatment = 1 / control, 1 / treatment
    error = of_control + of_treatment
    df = error**2 / (of_control**2 / (control - 1) + of_treatment**2 / (treatment - 1))
    return t_power(abs(size) / np.sqrt(error), df, alpha=level, two_sided=two_sided)


def _share_power(
    before: float, after: float, n: float, treatment_share: float, level: float, *, two_sided: bool
) -> float:
    control, treatment = _arms(n, treatment_share)
    if min(control, treatment) <= 0:
        return 0.0
    pooled = before * (1 - treatment_share) + after * treatment_share
    under_null = np.sqrt(pooled * (1 - pooled) * (1 / control + 1 / treatment))
    under_effect = np.sqrt(before * (1 - before) / control + max(after * (1 - after), 0.0) / treatment)
    critical = -special.ndtri(level / 2 if two_sided else level) * under_null
    size = abs(after - before)
    tails = special.ndtr((size - critical) / under_effect)
    return float(tails + special.ndtr((-size - critical) / under_effect) if two_sided else tails)


def _plan(
    asked: _Asked,
    of_column: Callable[[int], _Power],
    *,
    units: ArrayLike | None,
    daily_units: ArrayLike | None,
    furthest: Floats,
    formula: str,
) -> ExperimentPlan:
    at = np.broadcast_to(np.asarray(np.nan if units is None else units, dtype=np.float64), (asked.columns,)).copy()
    if np.any(at < 4):
        raise RankstatsError("units: at least 4, two in each arm, are expected")
    powers = [of_column(column) for column in range(asked.columns)]
    rows = [
        _plan_column(power, float(asked.effect[j]), float(at[j]), asked.power, float(furthest[j]))
        for j, power in enumerate(powers)
    ]
    at_units, detectable, needed = np.array(rows, dtype=np.float64).reshape(-1, 3).T
    return ExperimentPlan(
        baseline=asked.baseline,
        effect=asked.effect,
        standard_deviation=np.sqrt(asked.spread),
        units=at,
        power_at_units=at_units,
        smallest_detectable=detectable,
        units_needed=needed,
        control_needed=np.ceil(needed * (1 - asked.treatment_share) - _ROUNDING),
        treatment_needed=np.ceil(needed * asked.treatment_share - _ROUNDING),
        days_needed=np.array([_days(number, daily_units) for number in needed.tolist()]),
        family_size=asked.family,
        treatment_share=asked.treatment_share,
        alpha=asked.alpha,
        power=asked.power,
        two_sided=asked.two_sided,
        formula=formula,
    )


def _plan_column(reached: _Power, effect: float, units: float, power: float, furthest: float) -> tuple[float, ...]:
    needed = _units_needed(lambda n: reached(effect, n) - power)
    if np.isnan(units):
        return np.nan, np.nan, needed
    return reached(effect, units), _smallest(lambda size: reached(size, units) - power, furthest), needed


def _units_needed(excess: Callable[[float], float]) -> float:
    low, high = 1.0, 4.0
    while excess(high) < 0:
        low, high = high, 2 * high
        if high > _MOST_UNITS:
            return np.inf
    while high - low > 1:
        middle = float((low + high) // 2)
        low, high = (low, middle) if excess(middle) >= 0 else (middle, high)
    return high


def _smallest(excess: Callable[[float], float], furthest: float) -> float:
    """Return the difference whose power is the wanted one; NaN where none is large enough."""
    upper = 1e-6 if np.isinf(furthest) else furthest * (1 - 1e-9)
    while np.isinf(furthest) and excess(upper) < 0:
        upper *= 2
    if excess(upper) < 0:
        return np.nan
    return float(scipy.optimize.brentq(excess, 0.0, upper, xtol=1e-300, rtol=1e-14))


def _days(needed: float, daily_units: ArrayLike | None) -> float:
    if daily_units is None:
        return np.nan
    arrivals = np.asarray(daily_units, dtype=np.float64)
    if arrivals.ndim == 0:
        if not arrivals > 0:
            raise RankstatsError("daily_units: more than 0 units a day are expected")
        return float(np.ceil(needed / arrivals))
    if arrivals.ndim != 1 or np.any(np.diff(arrivals) < 0):
        raise RankstatsError("daily_units: one number, or the ascending numbers of units up to each day, are expected")
    day = int(np.searchsorted(arrivals, needed))
    return float(day + 1) if day < len(arrivals) else np.inf
