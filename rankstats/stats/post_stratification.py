"""The mean difference under a stated mix of segments: post-stratification."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from rankstats.errors import RankstatsError
from rankstats.stats.differences import Differences
from rankstats.stats.results import ColumnResult
from rankstats.stats.validation import check_alpha

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class PostStratified(ColumnResult):
    """Result of `post_stratified`; array fields have shape (c,).

    Attributes
    ----------
    estimate : ndarray
        Sum of share × mean difference over the segments; NaN where a segment with a share has no query.
    standard_error : ndarray
        NaN where a segment with a share has fewer than two queries.
    df : ndarray
        Satterthwaite's degrees of freedom; NaN where the standard error is undefined or 0.
    p_value, low, high : ndarray
        Of the t statistic; where there is no spread p = 1 and the interval is unbounded, NaN where undefined.
    n : ndarray of int
        Queries in segments with a share.
    empty : ndarray of int
        Segments with a share but without a query.
    alpha : float
        1 − level.
    """

    estimate: Floats
    standard_error: Floats
    df: Floats
    p_value: Floats
    low: Floats
    high: Floats
    n: NDArray[np.int64]
    empty: NDArray[np.int64]
    alpha: float


def post_stratified(
    differences: Differences, codes: ArrayLike, shares: ArrayLike, *, alpha: float = 0.05
) -> PostStratified:
    """Return the mean difference that a stated mix of segments would have.

    The (weighted) means of the segments are combined by the shares: Σ s_k d̄_k with standard error √(Σ s_k² se_k²) and
    Satterthwaite's degrees of freedom over the n_k − 1 of the segments. Segments without a share play no part.

    Parameters
    ----------
    differences : Differences
        n queries, c columns.
    codes : array_like of int, shape (n,)
        Segment of each query, an index into `shares`; -1 for none.
    shares : array_like, shape (k,)
        The mix: 0 or more each, on any scale; they are divided by their sum.
    alpha : float
        1 − level, between 0 and 1.

    Returns
    -------
    PostStratified

    Raises
    ------
    RankstatsError
        If shapes do not fit, a code is out of range, or the shares are negative, not finite or all 0.

    References
    ----------
    Cochran 1977, chapter 5A; Satterthwaite 1946.

    Examples
    --------
    >>> from rankstats.stats import paired_differences
    >>> d = paired_differences([0.0] * 5, [0.04, 0.06, -0.02, 0.0, -0.01])
    >>> post_stratified(d, [0, 0, 1, 1, 1], [0.1, 0.9]).estimate.round(9).tolist()
    [-0.004]
    """
    alpha = check_alpha(alpha)
    code, share = np.asarray(codes, dtype=np.int64), np.asarray(shares, dtype=np.float64)
    if code.shape != (differences.n_rows,) or share.ndim != 1:
        raise RankstatsError(f"codes have shape {code.shape}, shares {share.shape}; (n,) and (k,) are expected")
    if not np.all(np.isfinite(share)) or np.any(share < 0) or not share.sum() > 0:
        raise RankstatsError("shares must be finite, not negative, and not all 0")
    if np.any((code < -1) | (code >= len(share))):
        raise RankstatsError(f"codes must lie between -1 and {len(share) - 1}")
    used = np.flatnonzero(share > 0)
    share = share[used] / share[used].sum()
    parts = [differences.within(code == k) for k in used.tolist()]
    n = np.array([part.n for part in parts])
    estimate = _combined(share, np.array([part.mean for part in parts]))
    pieces = (share[:, None] * np.array([part.standard_error for part in parts])) ** 2
    variance = pieces.sum(axis=0)
    df = _satterthwaite(pieces, variance, n)
    error = np.sqrt(variance)
    spread = error > 0
    statistic = np.divide(np.abs(estimate), error, out=np.full(len(error), np.nan), where=spread)
    width = np.where(spread, special.stdtrit(np.where(spread, df, 1.0), 1 - alpha / 2) * error, np.inf)
    p_value = np.where(spread, 2 * special.stdtr(np.where(spread, df, 1.0), -statistic), 1.0)
    unknown = np.isnan(error) | np.isnan(estimate)
    return PostStratified(
        estimate=estimate,
        standard_error=error,
        df=df,
        p_value=np.where(unknown, np.nan, np.clip(p_value, np.finfo(float).tiny, 1.0)),
        low=np.where(unknown, np.nan, estimate - width),
        high=np.where(unknown, np.nan, estimate + width),
        n=n.sum(axis=0),
        empty=np.count_nonzero(n == 0, axis=0),
        alpha=alpha,
    )


def _combined(share: Floats, means: Floats) -> Floats:
    return np.asarray((share[:, None] * means).sum(axis=0))


def _satterthwaite(pieces: Floats, variance: Floats, n: NDArray[np.int64]) -> Floats:
    """Return V² / Σ V_k² / (n_k − 1), NaN where there is no spread."""
    terms = np.divide(pieces**2, n - 1, out=np.zeros(pieces.shape), where=n > 1).sum(axis=0)
    defined = (terms > 0) & (variance > 0)
    return np.asarray(np.divide(variance**2, terms, out=np.full(len(variance), np.nan), where=defined))
