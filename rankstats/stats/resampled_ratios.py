"""Resampled values of ratios of sums, and their studentised deviations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankstats.stats.moments import CentredMoments
from rankstats.stats.ratios import Ratios
from rankstats.stats.resampling import Resampling, Summands, resampled_sums

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Resampled:
    """Resampled ratios of c columns, shape (c, B), NaN where undefined; and t*, shape (c, 0) where not asked for."""

    values: Floats
    studentised: Floats
    unstudentised: NDArray[np.int64]


def resampled_ratios(ratios: Ratios, resampling: Resampling, *, studentised: bool = False) -> Resampled:
    """Return the resampled ratios and, where asked for, their studentised deviations, each of shape (c, B)."""
    columns, summands = ratios.n_columns, ratios.summands()
    moments = ratios.moments() if studentised else []
    values = np.full((columns, resampling.resamples), np.nan)
    t_values = np.full((columns, resampling.resamples if studentised else 0), np.nan)
    flat = np.zeros(columns, dtype=np.int64)
    for resamples, sums in resampled_sums(_with_moments(summands, moments), resampling):
        for number, (chosen, place, some) in enumerate(summands):
            own, width = sums[number], some.matrix.shape[1]
            total = own[:, place]
            values[chosen, resamples] = (own[:, : len(chosen)] / np.where(total > 0, total, np.nan)).T
            if studentised:
                t, spreadless = _t_values(moments[number][1], own[:, width:])
                t_values[chosen, resamples] = t.T
                flat[chosen] += spreadless
    return Resampled(values * ratios.scale[:, None], t_values, flat)


def _with_moments(
    summands: list[tuple[NDArray[np.int64], NDArray[np.int64], Summands]],
    moments: list[tuple[NDArray[np.int64], CentredMoments]],
) -> list[Summands]:
    if not moments:
        return [some for _, _, some in summands]
    return [
        Summands(some.rows, np.hstack([some.matrix, of.columns, of.sets]))
        for (_, _, some), (_, of) in zip(summands, moments, strict=True)
    ]


def standard_errors(ratios: Ratios) -> Floats:
    """Return linearised standard errors, shape (c,): √(n/(n − 1) Σ(x − Ry)²) / Σy; NaN where there are none."""
    errors = np.full(ratios.n_columns, np.nan)
    for columns, moments in ratios.moments():
        _, variance = moments.deviation_and_variance(np.ones((1, len(moments.columns))))
        errors[columns] = np.sqrt(variance[0])
    return errors * ratios.scale


def _t_values(moments: CentredMoments, sums: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """Return t*, shape (batch, c), infinite without spread and NaN without weight; and how many are infinite."""
    width = moments.columns.shape[1]
    deviation, variance = moments.from_sums(sums[:, :width], sums[:, width:])
    spread = variance > 0
    with np.errstate(invalid="ignore"):  # a deviation of 0 without spread: 0 times infinity
        unbounded = np.sign(deviation) * np.inf
    ratio = np.divide(deviation, np.sqrt(variance), out=unbounded, where=spread)
    return ratio, np.count_nonzero(~spread, axis=0)


def mean_and_deviation(values: Floats) -> tuple[Floats, Floats]:
    """Return mean and standard deviation (denominator one less) of the values of each row that are not NaN."""
    known = np.isfinite(values)
    count = np.count_nonzero(known, axis=1)
    mean = np.where(known, values, 0.0).sum(axis=1) / np.where(count > 0, count, np.nan)
    squares = np.where(known, (values - mean[:, None]) ** 2, 0.0).sum(axis=1)
    return mean, np.sqrt(squares / np.where(count > 1, count - 1, np.nan))
