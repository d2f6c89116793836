"""Does the effect of a treatment differ between segments? Differences of differences, and Cochran's Q over all."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankstats.errors import RankstatsError
from rankstats.stats.arm_comparison import ArmComparison, compare_arms
from rankstats.stats.arm_pairs import ArmPair
from rankstats.stats.arm_scales import scale_of
from rankstats.stats.heterogeneity import cochran_q
from rankstats.stats.multiplicity import adjust
from rankstats.stats.results import ColumnResult

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class SegmentEffects(ColumnResult):
    """Result of `segment_effects`; array fields have one entry a pair of segments.

    Attributes
    ----------
    first, second : ndarray of int
        Places of the two segments.
    estimate : ndarray
        Effect in the second segment less that in the first.
    standard_error : ndarray
        Of that difference of differences.
    df : ndarray
        Satterthwaite's degrees of freedom over the four arms.
    p_value : ndarray
        1 without any spread, NaN where an effect is undefined.
    low, high : ndarray
        Interval of level 1 − alpha, leaving out 0 exactly when p ≤ alpha.
    p_adjusted : ndarray
        Holm over the pairs.
    q, q_p_value, i_squared : float
        Cochran's Q over all segments that have a spread, its p-value, and I².
    reversal : bool
        Whether segments' effects have opposite signs.
    alpha : float
        Level.
    scale : str
        'difference' or 'delta'.
    """

    first: Integers
    second: Integers
    estimate: Floats
    standard_error: Floats
    df: Floats
    p_value: Floats
    low: Floats
    high: Floats
    p_adjusted: Floats
    q: float
    q_p_value: float
    i_squared: float
    reversal: bool
    alpha: float
    scale: str


def segment_effects(pair: ArmPair, *, scale: str = "difference", alpha: float = 0.05) -> SegmentEffects:
    """Compare the effects of disjoint segments with each other.

    1. Q weighs the segments' effects by their precision; its p-value answers whether any of them differ. Read "better
       only for new users" only when it is small.
    2. Each two segments: the difference of their effects over its standard error, on Satterthwaite's degrees of freedom
       over the four arms; Holm over the pairs. With two segments that is the test of the interaction.

    Segments must be known before the experiment (country, device, past activity): one that the treatment can change
    compares different kinds of units in the two arms.

    Parameters
    ----------
    pair : ArmPair
        One column a segment; no unit in two of them.
    scale : {'difference', 'delta'}
        Absolute or relative effects.
    alpha : float
        Level.

    Returns
    -------
    SegmentEffects

    Raises
    ------
    RankstatsError
        If there are fewer than two segments or an argument is out of range.

    References
    ----------
    Cochran 1954; Higgins & Thompson 2002.

    Examples
    --------
    >>> from rankstats.stats.arm_pairs import mean_pair
    >>> from rankstats.stats.unit_moments import aggregated_moments
    >>> control = aggregated_moments([500, 400], [2.0, 3.0], [1.0, 1.5])
    >>> treatment = aggregated_moments([510, 390], [2.3, 3.0], [1.1, 1.4])
    >>> result = segment_effects(mean_pair(control, treatment))
    >>> result.estimate.round(2).tolist(), result.p_value.round(4).tolist(), round(result.q_p_value, 4)
    ([-0.3], [0.0052], 0.0051)
    """
    if scale not in ("difference", "delta"):
        raise RankstatsError(f"scale = {scale!r}: effects of segments are compared on 'difference' or 'delta'")
    if pair.n_columns < 2:
        raise RankstatsError("segment_effects: at least two segments are expected, one a column")
    on_scale = scale_of(pair, scale, "t")
    known = on_scale.told_from_zero(alpha)
    effects = np.where(known, on_scale.estimate, np.nan)
    errors = np.where(known, on_scale.standard_error, np.nan)
    first, second = (
        np.array(places, dtype=np.int64) for places in zip(*combinations(range(pair.n_columns), 2), strict=True)
    )
    result = _contrast(effects, errors, pair.df, places=(first, second), alpha=alpha)
    q, q_p_value, i_squared = cochran_q(effects, errors)
    return SegmentEffects(
        first=first,
        second=second,
        estimate=result.estimate,
        standard_error=result.standard_error,
        df=result.df,
        p_value=result.p_value,
        low=result.low,
        high=result.high,
        p_adjusted=adjust(result.p_value, "holm"),
        q=q,
        q_p_value=q_p_value,
        i_squared=i_squared,
        reversal=bool(np.nanmax(effects, initial=0.0) > 0 > np.nanmin(effects, initial=0.0)),
        alpha=alpha,
        scale=scale,
    )


def _contrast(
    effects: Floats, errors: Floats, df: Floats, *, places: tuple[Integers, Integers], alpha: float
) -> ArmComparison:
    """Compare effects as if they were the estimates of two arms."""
    first, second = places
    variances = errors**2
    parts = [(variances[some], np.where(df[some] > 0, df[some], np.nan)) for some in places]
    total = parts[0][0] + parts[1][0]
    shares = sum((variance / np.where(total > 0, total, np.nan)) ** 2 / own_df for variance, own_df in parts)
    n = np.zeros(len(first), dtype=np.int64)
    pair = ArmPair(
        effects[first],
        effects[second],
        parts[0][0],
        parts[1][0],
        np.zeros(len(first)),
        np.asarray(1 / shares),
        parts[0][1],
        n,
        n,
    )
    return compare_arms(pair, alpha=alpha)


def effects_weighted(pair: ArmPair, shares: ArrayLike) -> tuple[float, float]:
    """Return the effect post-stratified to stated shares of the segments, and its standard error.

    Parameters
    ----------
    pair : ArmPair
        One column a segment.
    shares : array_like, shape (c,)
        Relative sizes of the segments in the traffic that the effect is to hold for.

    Raises
    ------
    RankstatsError
        If shares do not fit.

    Examples
    --------
    >>> from rankstats.stats.arm_pairs import mean_pair
    >>> from rankstats.stats.unit_moments import aggregated_moments
    >>> control = aggregated_moments([500, 400], [2.0, 3.0], [1.0, 1.5])
    >>> treatment = aggregated_moments([510, 390], [2.3, 3.0], [1.1, 1.4])
    >>> [round(number, 4) for number in effects_weighted(mean_pair(control, treatment), [3, 1])]
    [0.225, 0.0529]
    """
    weights = np.asarray(shares, dtype=np.float64)
    if weights.shape != (pair.n_columns,) or not np.all(weights >= 0) or not weights.sum() > 0:
        raise RankstatsError(f"shares: one of at least 0 for each of the {pair.n_columns} segments is expected")
    weights = weights / weights.sum()
    used = weights > 0
    effect = float(np.sum(weights[used] * pair.difference[used]))
    return effect, float(np.sqrt(np.sum(weights[used] ** 2 * pair.variance[used])))
