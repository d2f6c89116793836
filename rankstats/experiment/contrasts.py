"""One arm against the control on one metric: the pair of estimates, its test and interval under the design."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankstats import stats
from rankstats.comparison.result import Interval
from rankstats.experiment.evidence import Evidence, MetricEvidence
from rankstats.experiment.settings import ExperimentSettings
from rankstats.stats import ArmPair, UnitMoments
from rankstats.stats.arm_scales import critical_value
from rankstats.stats.classical import agreeing_ends

Floats = NDArray[np.float64]

POWER = 0.8
LEAST_SEQUENCE_UNITS = 100
"""A confidence sequence claims nothing before: it holds where estimates are nearly normal."""


@dataclass(frozen=True, slots=True, eq=False)
class Tested:
    """p-values and intervals of a contrast, one entry a cell; `test` and `method` name the procedure."""

    p_value: Floats
    low: Floats
    high: Floats
    p_adjusted: Floats
    adjusted_low: Floats
    adjusted_high: Floats
    test: str
    method: str


@dataclass(frozen=True, slots=True, eq=False)
class Contrast:
    """An arm against the control on a metric.

    Attributes
    ----------
    metric : MetricEvidence
        The metric.
    arm : int
        Place of the treatment arm.
    pair : ArmPair
        Estimates that the claim is about, a column a cell: adjusted by covariates where there are some.
    raw : ArmPair
        The same without covariates.
    variance_reduction : ndarray or None
        Fraction by which covariates lower the variance.
    sd : ndarray
        Standard deviation of the units, pooled over the arms; NaN for quantiles.
    """

    metric: MetricEvidence
    arm: int
    pair: ArmPair
    raw: ArmPair
    variance_reduction: Floats | None
    sd: Floats


def contrast(metric: MetricEvidence, arm: int) -> Contrast:
    """Return the contrast of an arm with the control, which is arm 0."""
    if metric.quantiles:
        pair = _quantile_pairs(metric, arm)
        return Contrast(metric, arm, pair, pair, None, np.full(pair.n_columns, np.nan))
    control, treatment = metric.arms[0], metric.arms[arm]
    raw = plain_pair(control, treatment, ratio=metric.is_ratio)
    sd = _pooled_sd(raw)
    if not metric.covariates:
        return Contrast(metric, arm, raw, raw, None, sd)
    adjusted = stats.cuped(control, treatment, ratio=metric.is_ratio)
    return Contrast(metric, arm, adjusted.adjusted, adjusted.raw, adjusted.explained, sd)


def plain_pair(control: UnitMoments, treatment: UnitMoments, *, ratio: bool) -> ArmPair:
    """Return the pair of means, or of ratios, without covariates."""
    if ratio:
        return stats.ratio_pair(control.variables([0, 1]), treatment.variables([0, 1]))
    return stats.mean_pair(control.variables([0]), treatment.variables([0]))


def _pooled_sd(pair: ArmPair) -> Floats:
    variances = (pair.control_variance * pair.control_n + pair.treatment_variance * pair.treatment_n) / 2
    return np.sqrt(variances)


def _quantile_pairs(metric: MetricEvidence, arm: int) -> ArmPair:
    parts = []
    for control, treatment in zip(metric.quantiles[0], metric.quantiles[arm], strict=True):
        parts.append(_nothing() if control is None or treatment is None else stats.quantile_pair(control, treatment))
    return ArmPair(*(np.concatenate([getattr(part, name) for part in parts]) for name in ArmPair.__dataclass_fields__))


def _nothing() -> ArmPair:
    nan, none = np.array([np.nan]), np.array([0])
    return ArmPair(nan, nan, nan, nan, np.zeros(1), nan, np.zeros(1), none, none)


def tested(found: Contrast, settings: ExperimentSettings, evidence: Evidence, family_size: int) -> Tested:
    """Return tests and intervals of all cells, the first of them adjusted for the family.

    Fixed horizon: the score test for shares, Welch's t for everything else. Group-sequential: repeated p-values and
    intervals for all units; segments have ordinary ones. Confidence sequence: for every cell.
    """
    if settings.reads == "confidence-sequence":
        return _sequence(found.pair, settings, family_size)
    ordinary = _fixed(found, settings, family_size)
    if settings.reads == "group-sequential":
        return _with_repeated(ordinary, found.pair, settings, family_size)
    return ordinary


def _fixed(found: Contrast, settings: ExperimentSettings, family_size: int) -> Tested:
    metric, pair = found.metric, found.pair
    sizes = np.ones(pair.n_columns, dtype=np.int64)
    sizes[0] = family_size
    if metric.binary and found.variance_reduction is None:
        control, treatment = metric.arms[0], metric.arms[found.arm]
        counts = [np.rint(np.nan_to_num(arm.sums[:, 0])).astype(np.int64) for arm in (control, treatment)]
        shares = stats.compare_proportions(
            counts[0], control.n, counts[1], treatment.n, alpha=settings.alpha, family_size=sizes
        )
        result: stats.ProportionComparison | stats.ArmComparison = shares
        test, method = "score", "score"
    else:
        result = stats.compare_arms(pair, alpha=settings.alpha, family_size=sizes)
        test = "quantile" if metric.quantiles else "delta" if metric.is_ratio else "welch"
        test, method = ("cuped" if found.variance_reduction is not None else test), test
    return Tested(
        result.p_value,
        result.low,
        result.high,
        result.p_adjusted,
        result.adjusted_low,
        result.adjusted_high,
        test,
        {"welch": "Welch t", "delta": "delta method", "quantile": "quantile of clustered rows"}.get(method, method),
    )


def _with_repeated(ordinary: Tested, pair: ArmPair, settings: ExperimentSettings, family_size: int) -> Tested:
    """Replace the first cell's readings by those that hold at all looks together."""
    parts = {
        name: np.array(getattr(ordinary, name))
        for name in Tested.__dataclass_fields__
        if name not in ("test", "method")
    }
    first = pair.select([0])
    looks = settings.looks[: settings.look_number]
    error = float(first.standard_error[0])
    if np.isfinite(error) and error > 0:
        for size, names in (
            (1, ("p_value", "low", "high")),
            (family_size, ("p_adjusted", "adjusted_low", "adjusted_high")),
        ):
            p, low, high = _repeated(first, looks, settings, settings.alpha / size)
            parts[names[0]][0], parts[names[1]][0], parts[names[2]][0] = min(1.0, p * size), low, high
    return Tested(**parts, test=f"{ordinary.test}, group-sequential", method="repeated interval")


def _repeated(
    pair: ArmPair, looks: tuple[float, ...], settings: ExperimentSettings, alpha: float
) -> tuple[float, float, float]:
    """Return the repeated p-value and interval of the last look; earlier looks have no say in them."""
    result = stats.sequential_test(
        np.where(np.arange(len(looks)) == len(looks) - 1, pair.difference[0], 0.0),
        float(pair.standard_error[0]),
        np.asarray(looks),
        alpha=alpha,
        spending=settings.spending,
    )
    return float(result.p_repeated[-1]), float(result.low[-1]), float(result.high[-1])


def _sequence(pair: ArmPair, settings: ExperimentSettings, family_size: int) -> Tested:
    n = pair.control_n + pair.treatment_n
    readings = []
    for size in (1, family_size):
        result = stats.confidence_sequence(
            pair.difference,
            np.where(np.isnan(pair.standard_error), 0.0, pair.standard_error),
            n,
            n_star=settings.planned_units or 1,
            alpha=settings.alpha / size,
            least_n=LEAST_SEQUENCE_UNITS,
        )
        readings.append((np.minimum(1.0, result.p_value * size), result.low, result.high))
    return Tested(*readings[0], *readings[1], test="confidence-sequence", method="confidence sequence")


def relative(found: Contrast, tests: Tested, settings: ExperimentSettings) -> tuple[Floats, Floats, Floats]:
    """Return relative effects with Fieller's intervals, which leave out 0 exactly when p ≤ alpha; NaN if undefined."""
    pair = found.pair
    result = stats.compare_arms(pair, scale="fieller", alpha=settings.alpha)
    low, high = result.low, result.high
    if settings.reads != "fixed":
        half = (tests.high - tests.low) / 2
        known = np.isfinite(half) & (pair.standard_error > 0)
        critical = np.where(known, half / np.where(known, pair.standard_error, 1.0), np.inf)
        low, high = stats.repeated_interval(pair, critical, scale="fieller", alpha=settings.alpha)
    with np.errstate(invalid="ignore"):  # undefined effects are NaN
        low, high = agreeing_ends(tests.p_value <= settings.alpha, pair.difference, low, high)
    defined = ~np.isnan(low) & ~np.isnan(high)
    return np.where(defined, result.estimate, np.nan), np.where(defined, low, np.nan), np.where(defined, high, np.nan)


def detectable(pair: ArmPair, alpha: float) -> Floats:
    """Return the differences that two-sided tests at alpha show with power .8, at these standard errors."""
    df = np.where(pair.df > 0, pair.df, np.nan)
    return np.asarray((critical_value(alpha / 2, df) + critical_value(1 - POWER, df)) * pair.standard_error)


def interval_of(low: float, high: float, standard_error: float, level: float, method: str) -> Interval | None:
    """Return an interval; None where it says nothing because there is no spread to judge by."""
    if standard_error == 0 and np.isinf(low) and np.isinf(high):
        return None
    return Interval.from_ends(float(low), float(high), level, method)


def why_no_interval(pair: ArmPair, column: int) -> str:
    """Say why a difference has no interval."""
    if np.isnan(pair.difference[column]):
        return "an arm has no value"
    if np.isnan(pair.standard_error[column]):
        return "an arm has fewer than two units"
    if pair.standard_error[column] == 0:
        return "all units of an arm have one value, so there is no spread to judge a difference by"
    return "the interval is not defined"
