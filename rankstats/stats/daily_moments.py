"""An arm by day: what its units did on each day, and up to each day."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankstats.errors import RankstatsError
from rankstats.stats.resampling import label_codes
from rankstats.stats.unit_moments import UnitMoments, stack_moments, unit_moments

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class DailyMoments:
    """Result of `daily_moments`; one column a day.

    Attributes
    ----------
    day : ndarray, shape (days,)
        The days, ascending.
    on_day : UnitMoments
        Sums of each unit's rows on the day, over the units with a row on it.
    to_date : UnitMoments
        Sums of each unit's rows up to the day, over the units with a row until then: the experiment as it would have
        been read that evening, and what looks and confidence sequences are made of.
    """

    day: NDArray[np.generic]
    on_day: UnitMoments
    to_date: UnitMoments


def daily_moments(
    units: ArrayLike, days: ArrayLike, *variables: ArrayLike, all_days: ArrayLike | None = None
) -> DailyMoments:
    """Add up the rows of one arm by unit and day.

    Parameters
    ----------
    units : array_like, shape (n,)
        Unit of each row. A unit is counted from its first row on: give it a row of zeros on the day of its assignment.
    days : array_like, shape (n,)
        Day of each row, in any sortable form (dates, numbers, ISO text).
    *variables : array_like, shape (n,)
        Values to be added up: the metric, or numerator and denominator; NaN adds nothing.
    all_days : array_like, optional
        The days to report, so that both arms have the same; those of the rows when not given.

    Returns
    -------
    DailyMoments

    Raises
    ------
    RankstatsError
        If shapes do not fit or `all_days` misses a day that has rows.

    Examples
    --------
    >>> arm = daily_moments(["u", "v", "u", "w"], [1, 1, 2, 3], [2.0, 0.0, 1.0, 6.0])
    >>> arm.to_date.n.tolist(), arm.to_date.mean.ravel().tolist(), arm.on_day.n.tolist()
    ([2, 2, 3], [1.0, 1.5, 3.0], [2, 1, 1])
    """
    of_day = np.asarray(days)
    codes = label_codes(units, len(of_day), "units")
    values = [np.asarray(variable, dtype=np.float64) for variable in variables]
    if of_day.ndim != 1 or not values or any(value.shape != of_day.shape for value in values):
        raise RankstatsError("days and variables: one entry for each row, at least one variable, are expected")
    wanted = np.unique(of_day if all_days is None else np.asarray(all_days))
    place = np.searchsorted(wanted, of_day)
    if len(of_day) and (not len(wanted) or np.any(wanted[np.minimum(place, len(wanted) - 1)] != of_day)):
        raise RankstatsError("all_days misses a day that has rows; leave the rows out, or name the day")
    matrix = np.nan_to_num(np.stack(values, axis=1))
    read = list(_read(codes, place, matrix, len(wanted)))
    return DailyMoments(wanted, *(stack_moments(list(parts)) for parts in zip(*read, strict=True)))


def _read(
    codes: NDArray[np.int64], place: NDArray[np.int64], matrix: Floats, days: int
) -> Iterator[tuple[UnitMoments, UnitMoments]]:
    """Yield the moments of each day and of all days up to it."""
    n_units, k = int(codes.max(initial=-1)) + 1, matrix.shape[1]
    order = np.argsort(place, kind="stable")
    ends = np.searchsorted(place[order], np.arange(days), side="right")
    seen, totals, start = np.zeros(n_units, dtype=bool), np.zeros((n_units, k)), 0
    for end in ends:
        rows = order[start:end]
        of_day = np.stack(
            [np.bincount(codes[rows], weights=matrix[rows, j], minlength=n_units) for j in range(k)], axis=1
        )
        here = np.zeros(n_units, dtype=bool)
        here[codes[rows]] = True
        seen |= here
        totals += of_day
        yield unit_moments(*of_day[here].T), unit_moments(*totals[seen].T)
        start = end
