"""Non-inferiority and equivalence of two arms: one-sided tests at a margin, and intervals that decide the same way."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankstats.errors import RankstatsError
from rankstats.stats.arm_comparison import p_from_tail
from rankstats.stats.arm_pairs import ArmPair
from rankstats.stats.arm_scales import Scale, critical_value, scale_of, tail
from rankstats.stats.margin_flips import MarginReadings
from rankstats.stats.reading import adjusted_p
from rankstats.stats.results import ColumnResult
from rankstats.stats.validation import check_alpha, check_choice, check_family_size

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ArmMarginResult(ColumnResult):
    """Result of `arm_noninferiority` and `arm_equivalence`; array fields have shape (c,).

    Attributes
    ----------
    estimate : ndarray
        Treatment − control; on a relative scale that difference over the size of the control.
    margin : ndarray
        Size of the difference that is tolerated, on the scale of the estimate.
    p_lower, p_upper : ndarray
        One-sided p-values of 'not below −margin' and 'not above margin'.
    p_value : ndarray
        Equivalence: the larger of the two; non-inferiority: the one on the side of harm. Never 0.
    low, high : ndarray
        One-sided ends of level 1 − alpha. Equivalence has both: an interval of level 1 − 2 alpha, inside ±margin
        exactly when p ≤ alpha. Non-inferiority has the one on the side of harm, within the margin
        exactly when p ≤ alpha.
    p_adjusted, adjusted_low, adjusted_high : ndarray
        Bonferroni over `family_size`.
    holds : ndarray of bool
        Whether p ≤ alpha: equivalent, or not inferior.
    control_n, treatment_n : ndarray of int
        Units.
    family_size : ndarray of int
        Comparisons that the adjustment covers.
    alpha : float
        Level of each one-sided test.
    alternative : str
        'equivalence'; or the direction that is better: 'greater' or 'less'.
    scale, reference : str
        As in `compare_arms`.
    """

    estimate: Floats
    margin: Floats
    p_lower: Floats
    p_upper: Floats
    p_value: Floats
    low: Floats
    high: Floats
    p_adjusted: Floats
    adjusted_low: Floats
    adjusted_high: Floats
    holds: NDArray[np.bool_]
    control_n: NDArray[np.int64]
    treatment_n: NDArray[np.int64]
    family_size: NDArray[np.int64]
    alpha: float
    alternative: str
    scale: str
    reference: str


def arm_noninferiority(
    pair: ArmPair,
    margin: ArrayLike,
    *,
    scale: str = "difference",
    alpha: float = 0.05,
    alternative: str = "greater",
    reference: str = "t",
    family_size: ArrayLike = 1,
) -> ArmMarginResult:
    """Test that a treatment is worse than the control by less than a margin: what a guard metric needs.

    Parameters
    ----------
    pair : ArmPair
        The arms.
    margin : float or array_like, shape (c,)
        Tolerated harm without a sign, 0 or more, on the scale: 0.01 on a relative scale is 1 %.
    scale, reference, family_size
        As in `compare_arms`.
    alpha : float
        Level of the one-sided test, between 0 and 0.5.
    alternative : {'greater', 'less'}
        'greater' where higher values are better: tests effect > −margin; 'less' tests effect < margin.

    Returns
    -------
    ArmMarginResult

    Raises
    ------
    RankstatsError
        If an argument is out of range.

    Examples
    --------
    >>> from rankstats.stats.arm_pairs import mean_pair
    >>> from rankstats.stats.unit_moments import aggregated_moments
    >>> pair = mean_pair(aggregated_moments(2000, 5.0, 4.0), aggregated_moments(2000, 4.98, 4.0))
    >>> result = arm_noninferiority(pair, 0.03, scale="fieller")
    >>> result.holds.tolist(), result.p_value.round(4).tolist(), result.low.round(4).tolist()
    ([True], [0.0185], [-0.0246])
    """
    check_choice("alternative", alternative, ("greater", "less"))
    return _at_margin(
        pair,
        margin,
        scale=scale_of(pair, scale, reference),
        alpha=alpha,
        kind=alternative,
        reference=reference,
        family_size=family_size,
    )


def arm_equivalence(
    pair: ArmPair,
    margin: ArrayLike,
    *,
    scale: str = "difference",
    alpha: float = 0.05,
    reference: str = "t",
    family_size: ArrayLike = 1,
) -> ArmMarginResult:
    """Test that the effect lies within ±margin, by two one-sided tests (TOST).

    Parameters
    ----------
    pair : ArmPair
        The arms.
    margin : float or array_like, shape (c,)
        More than 0, on the scale.
    scale, alpha, reference, family_size
        As in `arm_noninferiority`.

    Returns
    -------
    ArmMarginResult

    Raises
    ------
    RankstatsError
        If an argument is out of range.

    References
    ----------
    Schuirmann 1987.

    Examples
    --------
    >>> from rankstats.stats.arm_pairs import mean_pair
    >>> from rankstats.stats.unit_moments import aggregated_moments
    >>> pair = mean_pair(aggregated_moments(2000, 5.0, 4.0), aggregated_moments(2000, 4.98, 4.0))
    >>> arm_equivalence(pair, 0.1).holds.tolist(), arm_equivalence(pair, 0.15).holds.tolist()
    ([False], [True])
    """
    if np.any(np.asarray(margin) == 0):
        raise RankstatsError("margin = 0: equivalence needs a margin of more than 0")
    return _at_margin(
        pair,
        margin,
        scale=scale_of(pair, scale, reference),
        alpha=alpha,
        kind="equivalence",
        reference=reference,
        family_size=family_size,
    )


def _at_margin(
    pair: ArmPair, margin: ArrayLike, *, scale: Scale, alpha: float, kind: str, reference: str, family_size: ArrayLike
) -> ArmMarginResult:
    if not check_alpha(alpha) < 0.5:
        raise RankstatsError(f"alpha = {alpha!r}: the level of a one-sided test at a margin lies between 0 and 0.5")
    margins = _margins(margin, pair.n_columns)
    family = check_family_size(family_size, pair.n_columns)
    readings = _readings(scale, margins, alpha, np.stack([np.ones_like(family), family]))
    p_value, low, high = np.maximum(readings.p_lower, readings.p_upper), readings.low, readings.high
    if kind == "greater":
        p_value, high = readings.p_lower, np.where(np.isnan(low), np.nan, np.inf)
    if kind == "less":
        p_value, low = readings.p_upper, np.where(np.isnan(high), np.nan, -np.inf)
    defined_for_family = scale.told_from_zero(np.minimum(2 * alpha / family, 1.0))
    with np.errstate(invalid="ignore"):  # undefined columns are NaN
        holds = p_value <= alpha
    return ArmMarginResult(
        estimate=scale.estimate,
        margin=margins,
        p_lower=readings.p_lower,
        p_upper=readings.p_upper,
        p_value=p_value,
        low=low[0],
        high=high[0],
        p_adjusted=np.where(defined_for_family, adjusted_p(p_value, family), np.nan),
        adjusted_low=low[1],
        adjusted_high=high[1],
        holds=holds,
        control_n=pair.control_n,
        treatment_n=pair.treatment_n,
        family_size=family,
        alpha=float(alpha),
        alternative=kind,
        scale=scale.name,
        reference=reference,
    )


def _margins(margin: ArrayLike, columns: int) -> Floats:
    margins = np.asarray(margin, dtype=np.float64)
    if margins.shape not in ((), (columns,)) or not np.all(np.isfinite(margins) & (margins >= 0)):
        raise RankstatsError(
            f"margin: one finite number of at least 0, or one for each of the {columns} columns, is expected; give the "
            "size of the tolerated difference without a sign"
        )
    return np.broadcast_to(margins, (columns,)).copy()


def _readings(scale: Scale, margin: Floats, alpha: float, sizes: NDArray[np.int64]) -> MarginReadings:
    """Return one-sided p-values and ends, NaN where undefined and unbounded without spread."""
    p_lower = p_from_tail(scale, tail(scale.statistic(-margin), scale.df))
    p_upper = p_from_tail(scale, tail(-scale.statistic(margin), scale.df))
    equal = (scale.pair.difference == 0) & (scale.pair.variance == 0)
    defined = scale.told_from_zero(np.minimum(2 * alpha / sizes, 1.0)) & ~np.isnan(p_lower)
    p_lower, p_upper = np.where(defined[0], p_lower, np.nan), np.where(defined[0], p_upper, np.nan)
    spreadless = np.isnan(scale.statistic()) & ~np.isnan(p_lower)
    ends = [scale.ends(critical_value(alpha / size, scale.df)) for size in sizes]
    low, high = (np.stack([pair[side] for pair in ends]) for side in (0, 1))
    low, high = np.where(spreadless, -np.inf, low), np.where(spreadless, np.inf, high)
    low, high = (np.where(defined & ~equal, end, np.nan) for end in (low, high))
    with np.errstate(invalid="ignore"):  # undefined columns are NaN
        return MarginReadings(p_lower, p_upper, low, high).agreeing(margin, alpha, sizes)
