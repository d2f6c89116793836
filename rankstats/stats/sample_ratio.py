"""Did the arms get the shares of units that the design gave them? To be asked before anything else."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from rankstats.errors import RankstatsError
from rankstats.stats.results import ColumnResult

WARNS_BELOW, BLOCKS_BELOW = 0.01, 0.001

_RARE = 5.0

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class SampleRatioResult(ColumnResult):
    """Result of `sample_ratio_test`; array fields have shape (k,), one entry an arm.

    Attributes
    ----------
    n : ndarray of int
        Units.
    designed_share, observed_share : ndarray
        Shares of all units, fractions.
    expected : ndarray
        Units that the design leads one to expect.
    contribution : ndarray
        What the arm adds to χ².
    statistic, p_value : float
        χ² and its p-value, never 0.
    df : int
        One less than the number of arms that have a share.
    few : bool
        Whether some arm expects fewer than 5 units, where the χ² distribution is rough.
    outcome : str
        'blocks' where p < .001 or units are in an arm without a share; 'warns' where p < .01 or an arm with a share has
        no units; else 'ok'.
    """

    n: NDArray[np.int64]
    designed_share: Floats
    observed_share: Floats
    expected: Floats
    contribution: Floats
    statistic: float
    p_value: float
    df: int
    few: bool
    outcome: str


def sample_ratio_test(counts: ArrayLike, shares: ArrayLike | None = None) -> SampleRatioResult:
    """Compare the number of randomised units in each arm with the designed shares by χ².

    Parameters
    ----------
    counts : array_like of int, shape (k,)
        Units of each arm: all that were randomised, not only those with events. An arm that the design has and that got
        no units takes part with 0.
    shares : array_like, shape (k,), optional
        Relative sizes of the arms by design, on any scale; equal when not given.

    Returns
    -------
    SampleRatioResult

    Raises
    ------
    RankstatsError
        If there are fewer than two arms, a count is no whole number, there are no units, or shares do not fit.

    References
    ----------
    Fabijan et al. 2019 (sample ratio mismatch).

    Examples
    --------
    >>> result = sample_ratio_test([50321, 49412])
    >>> round(result.p_value, 5), result.outcome, sample_ratio_test([9510, 490], [95, 5]).outcome
    (0.004, 'warns', 'ok')
    """
    n = _checked_counts(counts)
    designed = _checked_shares(shares, len(n))
    total = int(n.sum())
    expected = designed * total
    has_share = designed > 0
    contribution = np.where(n > 0, np.inf, 0.0)
    contribution[has_share] = (n[has_share] - expected[has_share]) ** 2 / expected[has_share]
    statistic, df = float(contribution.sum()), int(np.count_nonzero(has_share)) - 1
    p_value = float(special.chdtrc(df, statistic)) if np.isfinite(statistic) and df else float(np.isfinite(statistic))
    p_value = max(p_value, float(np.finfo(np.float64).tiny))
    empty = bool(np.any(has_share & (n == 0)))
    return SampleRatioResult(
        n=n,
        designed_share=designed,
        observed_share=n / total,
        expected=expected,
        contribution=contribution,
        statistic=statistic,
        p_value=p_value,
        df=df,
        few=bool(np.any(expected[has_share] < _RARE)),
        outcome="blocks" if p_value < BLOCKS_BELOW else "warns" if p_value < WARNS_BELOW or empty else "ok",
    )


def _checked_counts(counts: ArrayLike) -> NDArray[np.int64]:
    n = np.asarray(counts)
    if n.ndim != 1 or len(n) < 2:
        raise RankstatsError("counts: the units of at least two arms are expected; name arms without units with 0")
    if n.dtype.kind not in "iuf" or not np.all(np.isfinite(n)) or np.any(n != np.floor(n)) or np.any(n < 0):
        raise RankstatsError("counts: whole numbers of units, 0 or more, are expected")
    if not n.sum():
        raise RankstatsError("counts: no arm has any units")
    return n.astype(np.int64)


def _checked_shares(shares: ArrayLike | None, arms: int) -> Floats:
    if shares is None:
        return np.full(arms, 1 / arms)
    sizes = np.asarray(shares, dtype=np.float64)
    if sizes.shape != (arms,):
        raise RankstatsError(f"shares have shape {sizes.shape}; one for each of the {arms} arms is expected")
    if not np.all(np.isfinite(sizes)) or np.any(sizes < 0) or np.count_nonzero(sizes) < 2:
        raise RankstatsError("shares: relative sizes of at least 0 are expected, more than 0 for two arms or more")
    return np.asarray(sizes / sizes.sum())
