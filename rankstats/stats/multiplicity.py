"""Adjusting p-values for several comparisons."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankstats.errors import RankstatsError
from rankstats.stats.reading import adjusted_p
from rankstats.stats.validation import check_choice

Floats = NDArray[np.float64]


def _bonferroni(p: Floats) -> Floats:
    return adjusted_p(p, len(p))


def _sidak_of(p: Floats, m: NDArray[np.int64] | int) -> Floats:
    certain = p >= 1
    return np.where(certain, 1.0, -np.expm1(m * np.log1p(-np.where(certain, 0.0, p))))


def _sidak(p: Floats) -> Floats:
    return _sidak_of(p, len(p))


def _step_down(p: Floats, adjust_one: Callable[[Floats, NDArray[np.int64]], Floats]) -> Floats:
    """Adjust ascending p-values with m, m − 1, … 1 comparisons and keep the results ascending."""
    remaining = np.arange(len(p), 0, -1)
    return np.minimum(1.0, np.maximum.accumulate(adjust_one(p, remaining)))


def _step_up(scaled: Floats) -> Floats:
    return np.minimum(1.0, np.minimum.accumulate(scaled[::-1])[::-1])


def _holm(p: Floats) -> Floats:
    return _step_down(p, lambda values, m: m * values)


def _holm_sidak(p: Floats) -> Floats:
    return _step_down(p, _sidak_of)


def _hochberg(p: Floats) -> Floats:
    return _step_up(np.arange(len(p), 0, -1) * p)


def _benjamini_hochberg(p: Floats) -> Floats:
    return _step_up(len(p) / np.arange(1, len(p) + 1) * p)


def _benjamini_yekutieli(p: Floats) -> Floats:
    harmonic = np.sum(1 / np.arange(1, len(p) + 1))
    return _step_up(harmonic * len(p) / np.arange(1, len(p) + 1) * p)


def _hommel(p: Floats) -> Floats:
    """Hommel 1988 by the algorithm of Wright 1992, as in R's p.adjust."""
    n = len(p)
    position = np.arange(1, n + 1)
    current = np.full(n, np.min(n * p / position))
    adjusted = current.copy()
    for m in range(n - 1, 1, -1):
        lower, upper = slice(0, n - m + 1), slice(n - m + 1, n)
        smallest = np.min(m * p[upper] / np.arange(2, m + 1))
        current[lower] = np.minimum(m * p[lower], smallest)
        current[upper] = current[n - m]
        adjusted = np.maximum(adjusted, current)
    return np.maximum(adjusted, p)


_METHODS: dict[str, Callable[[Floats], Floats]] = {
    "none": lambda p: p,
    "bonferroni": _bonferroni,
    "holm": _holm,
    "hochberg": _hochberg,
    "hommel": _hommel,
    "sidak": _sidak,
    "holm-sidak": _holm_sidak,
    "bh": _benjamini_hochberg,
    "by": _benjamini_yekutieli,
}

CORRECTIONS = tuple(_METHODS)
"""Methods that `adjust` knows."""


def adjust(p_values: ArrayLike, method: str) -> NDArray[np.float64]:
    """Return p-values adjusted for their number.

    Parameters
    ----------
    p_values : array_like, shape (m,)
        Values from 0 to 1. NaN (nothing was tested) stays NaN and does not count as a comparison; a comparison that
        was made but cannot be told apart has p = 1 and counts.
    method : {'none', 'bonferroni', 'holm', 'hochberg', 'hommel', 'sidak', 'holm-sidak', 'bh', 'by'}
        Family-wise error rate: Bonferroni, Holm, Hochberg, Hommel, Šidák, Holm–Šidák. False discovery rate:
        Benjamini–Hochberg ('bh'), Benjamini–Yekutieli ('by').

    Returns
    -------
    ndarray, shape (m,)
        Equal to R's ``p.adjust`` where that has the method; 'bonferroni' is ``min(1, m * p)``.

    Raises
    ------
    RankstatsError
        If the method is unknown or a p-value lies outside 0 to 1.

    References
    ----------
    R's ``stats::p.adjust``; multtest's ``mt.rawp2adjp`` for Šidák.

    Examples
    --------
    >>> adjust([0.01, 0.02, float("nan"), 0.03], "holm").tolist()
    [0.03, 0.04, nan, 0.04]
    """
    check_choice("method", method, CORRECTIONS)
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1 or np.any((p < 0) | (p > 1)):
        raise RankstatsError("p_values: one-dimensional, each from 0 to 1 (or NaN where nothing was tested)")
    known = np.flatnonzero(~np.isnan(p))
    adjusted = np.full(len(p), np.nan)
    if len(known):
        order = known[np.argsort(p[known], kind="stable")]
        adjusted[order] = _METHODS[method](p[order])
    return adjusted


def not_tighter(
    adjusted: tuple[ArrayLike, ArrayLike, ArrayLike], plain: tuple[ArrayLike, ArrayLike, ArrayLike]
) -> tuple[Floats, Floats, Floats]:
    """Return adjusted p-values and intervals that are never below, or inside, the unadjusted ones.

    The larger p and the wider ends are taken, so that p_adjusted ≤ alpha still holds exactly when the adjusted interval
    leaves out 0, if that held for both of the inputs.

    Parameters
    ----------
    adjusted, plain : tuple of three array_like, each of shape (m,)
        p-values, lower ends and upper ends. NaN (undefined) on either side gives way to the other side.

    Returns
    -------
    p_value, low, high : ndarray, shape (m,)

    Examples
    --------
    >>> not_tighter(([0.01], [0.2], [0.4]), ([0.02], [0.1], [0.3]))
    (array([0.02]), array([0.1]), array([0.4]))
    """
    return (
        np.fmax(np.asarray(adjusted[0], dtype=np.float64), plain[0]),
        np.fmin(np.asarray(adjusted[1], dtype=np.float64), plain[1]),
        np.fmax(np.asarray(adjusted[2], dtype=np.float64), plain[2]),
    )
