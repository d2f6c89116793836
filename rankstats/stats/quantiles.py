"""Quantiles of resampled values by named conventions, one level a column, without warnings for infinite values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import special

QUANTILES = ("type7", "type6", "norm.inter")

Floats = NDArray[np.float64]


def quantile_at(ordered: Floats, levels: Floats, convention: str = "type7") -> Floats:
    """Return one quantile of each row of ordered values.

    * ``type7``: linear interpolation at position 1 + (B − 1) level; the default of R and numpy.
    * ``type6``: linear interpolation at position (B + 1) level.
    * ``norm.inter``: position (B + 1) level, interpolated on the normal scale: what R's ``boot.ci`` does.

    Positions beyond the values give the outermost one; an infinite value on either side of a position that lies
    between two values is returned as it is.

    Parameters
    ----------
    ordered : ndarray, shape (c, B)
        Values of each row in ascending order.
    levels : ndarray, shape (c,)
        From 0 to 1; NaN gives NaN.
    convention : {'type7', 'type6', 'norm.inter'}
        See above.

    References
    ----------
    Hyndman & Fan 1996 (types); Davison & Hinkley 1997, equation 5.8 (normal scale).

    Examples
    --------
    >>> values = np.array([[1.0, 2.0, 3.0, 4.0]])
    >>> [quantile_at(values, np.array([0.3]), name).round(3).tolist() for name in QUANTILES]
    [[1.9], [1.5], [1.539]]
    """
    size = ordered.shape[1]
    known = np.where(np.isnan(levels), 0.5, levels)
    position = 1 + (size - 1) * known if convention == "type7" else (size + 1) * known
    position = np.clip(position, 1, size)
    below = np.minimum(np.floor(position), size)
    share = position - below
    if convention == "norm.inter":
        share = np.where(share > 0, _normal_share(known, below, size), 0.0)
    row, first = np.arange(len(ordered)), below.astype(np.int64) - 1
    lower, upper = ordered[row, first], ordered[row, np.minimum(first + 1, size - 1)]
    between = (share > 0) & np.isfinite(lower) & np.isfinite(upper)
    step = np.subtract(upper, lower, out=np.zeros(len(ordered)), where=between)
    value = np.where(between, lower + share * step, np.where((share > 0) & np.isinf(upper), upper, lower))
    return np.where(np.isnan(levels), np.nan, value)


def _normal_share(levels: Floats, below: Floats, size: int) -> Floats:
    inner = np.clip(below, 1, max(size - 1, 1))
    start, stop = special.ndtri(inner / (size + 1)), special.ndtri((inner + 1) / (size + 1))
    reached = special.ndtri(np.clip(levels, inner / (size + 1), (inner + 1) / (size + 1)))
    between = np.isfinite(stop) & (stop > start)
    return np.asarray(np.divide(reached - start, stop - start, out=np.zeros(len(below)), where=between))
