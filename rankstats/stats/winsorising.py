"""Capping the largest values of a metric at a quantile of all arms together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankstats.errors import RankstatsError
from rankstats.stats.results import ColumnResult

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class WinsorisingCap(ColumnResult):
    """Result of `winsorising_cap`; array fields have one entry an arm.

    Attributes
    ----------
    capped : ndarray of int
        Units whose value lies above the cap.
    capped_share : ndarray
        Their share of the arm's units; NaN for an arm without units.
    n : ndarray of int
        Units with a value.
    cap : float
        The largest value that is left as it is; it occurs in the data.
    level : float
        Quantile that was asked for.
    positive_only : bool
        Whether the quantile is that of the values above 0.
    """

    capped: NDArray[np.int64]
    capped_share: Floats
    n: NDArray[np.int64]
    cap: float
    level: float
    positive_only: bool

    def apply(self, values: ArrayLike) -> Floats:
        """Return values with those above the cap set to it; NaN stays."""
        return np.minimum(np.asarray(values, dtype=np.float64), self.cap)


def winsorising_cap(
    arms: Sequence[ArrayLike],
    level: float = 0.999,
    *,
    counts: Sequence[ArrayLike] | None = None,
    positive_only: bool = False,
) -> WinsorisingCap:
    """Choose one cap for all arms: the smallest value that at least `level` of the units do not exceed.

    A cap of each arm's own would take more from the arm whose large values are larger, and hide or make an effect.

    Parameters
    ----------
    arms : sequence of array_like, shape (n,)
        Values of the units of each arm, one a unit; NaN is no value. With `counts`, distinct values.
    level : float
        Quantile, between 0 and 1.
    counts : sequence of array_like of int, optional
        Units that have each of the values: the aggregate from which the same cap follows.
    positive_only : bool
        Whether to take the quantile of the values above 0 only: for a metric that is 0 for nearly all units.

    Returns
    -------
    WinsorisingCap

    Raises
    ------
    RankstatsError
        If there are no values, the level is out of range, or the cap would leave every unit with one value although
        they differ: a cap of 0 for a metric that is 0 for at least `level` of the units.

    Examples
    --------
    >>> cap = winsorising_cap([[0.0, 1.0, 2.0, 90.0], [1.0, 1.0, 3.0, 4.0]], 0.8)
    >>> cap.cap, cap.capped.tolist(), cap.apply([0.0, 90.0]).tolist()
    (4.0, [1, 0], [0.0, 4.0])
    """
    if not 0 < level < 1:
        raise RankstatsError(f"level = {level!r}: a quantile lies between 0 and 1, for instance 0.999")
    weighted = [_counted(arm, None if counts is None else counts[place]) for place, arm in enumerate(arms)]
    values, units = (np.concatenate(parts) for parts in zip(*weighted, strict=True))
    if not units.sum():
        raise RankstatsError("there are no values to choose a cap from")
    inside = values > 0 if positive_only else np.ones(len(values), dtype=bool)
    if not inside.any():
        raise RankstatsError("positive_only: no value is above 0; there is nothing to cap")
    cap = _weighted_quantile(values[inside], units[inside], level)
    _refuse_flat(values, cap, level)
    capped = np.array([int(unit[value > cap].sum()) for value, unit in weighted], dtype=np.int64)
    n = np.array([int(unit.sum()) for _, unit in weighted], dtype=np.int64)
    return WinsorisingCap(capped, capped / np.where(n > 0, n, np.nan), n, cap, float(level), positive_only)


def _counted(values: ArrayLike, counts: ArrayLike | None) -> tuple[Floats, NDArray[np.int64]]:
    array = np.asarray(values, dtype=np.float64)
    units = np.ones(array.shape, dtype=np.int64) if counts is None else np.asarray(counts)
    if array.ndim != 1 or units.shape != array.shape:
        raise RankstatsError(
            f"an arm has values of shape {array.shape} and counts of shape {units.shape}; (n,) of both is expected"
        )
    if np.any(units != np.floor(units)) or np.any(units < 0):
        raise RankstatsError("counts: whole numbers of units, 0 or more, are expected")
    if np.any(np.isinf(array)):
        raise RankstatsError("values must be finite; use NaN for a unit without a value")
    kept = ~np.isnan(array) & (units > 0)
    return array[kept], units[kept].astype(np.int64)


def _weighted_quantile(values: Floats, units: NDArray[np.int64], level: float) -> float:
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(units[order])
    # the same count from values and from aggregates: level · n, rounded up but for the rounding of the product
    wanted = np.ceil(level * int(reached[-1]) * (1 - 1e-12))
    return float(values[order][np.searchsorted(reached, wanted)])


def _refuse_flat(values: Floats, cap: float, level: float) -> None:
    if values.min() < values.max() and cap <= values.min():
        raise RankstatsError(
            f"winsorising at {level:g} would cap every unit at {cap:g}: at least that share of the units has this "
            "value. Leave the metric as it is, raise the level, or take the quantile of the values above 0 only "
            "(positive_only)"
        )
