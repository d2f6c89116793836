"""How many queries carry a mean difference: concentration of gains, and means that outliers do not move."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankstats.errors import RankstatsError
from rankstats.stats.differences import Differences
from rankstats.stats.results import ColumnResult

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Concentration(ColumnResult):
    """Result of `concentration`; array fields have shape (c,).

    Attributes
    ----------
    gain, loss : ndarray
        Sums of the (weighted) differences above and below 0, over the sum of all weights: gain − |loss| is the mean.
    side : ndarray of int
        1 where the gains outweigh, −1 where the losses do, 0 where they are equal.
    movers : ndarray of int
        Queries on that side.
    half : ndarray of int
        The fewest queries that make up half of that side; 0 where it is empty.
    share_of_largest : ndarray
        Share of that side that its largest query has; NaN where it is empty.
    median : ndarray
        Median difference; NaN with weights and without queries.
    trimmed_mean : ndarray
        Mean without the `trim` share of lowest and of highest differences; NaN with weights and without queries.
    trim : float
        Share cut off on each side.
    n : ndarray of int
        Queries.
    """

    gain: Floats
    loss: Floats
    side: NDArray[np.int64]
    movers: NDArray[np.int64]
    half: NDArray[np.int64]
    share_of_largest: Floats
    median: Floats
    trimmed_mean: Floats
    trim: float
    n: NDArray[np.int64]


def concentration(differences: Differences, *, trim: float = 0.2) -> Concentration:
    """Return how few queries make up half of a gain (or of a loss), with the median and a trimmed mean beside it.

    Parameters
    ----------
    differences : Differences
        n queries, c columns.
    trim : float
        Share of the queries cut off at each end, from 0 and below 0.5; ⌊trim · n⌋ queries are cut.

    Returns
    -------
    Concentration

    Raises
    ------
    RankstatsError
        If `trim` is out of range.

    References
    ----------
    Tukey & McLaughlin 1963 (trimmed means); Lorenz 1905 (the share of the largest values).

    Examples
    --------
    >>> from rankstats.stats import paired_differences
    >>> result = concentration(paired_differences([0.0] * 6, [0.5, 0.1, 0.1, 0.1, 0.0, -0.1]))
    >>> result.half.tolist(), result.movers.tolist(), result.trimmed_mean.round(3).tolist()
    ([1], [4], [0.075])
    """
    if not 0 <= trim < 0.5:
        raise RankstatsError(f"trim = {trim!r}: a share from 0 and below 0.5 is expected")
    products = differences.numerators
    gains, losses = np.maximum(products, 0.0), np.maximum(-products, 0.0)
    total_gain, total_loss = gains.sum(axis=0), losses.sum(axis=0)
    outweighs = total_gain - total_loss
    # what rounding to whole units explains is no side
    side = np.where(np.abs(outweighs) <= differences.rounding, 0.0, np.sign(outweighs)).astype(np.int64)
    leading = np.where(side > 0, gains, np.where(side < 0, losses, 0.0))
    ordered = -np.sort(-leading, axis=0)
    total = leading.sum(axis=0)
    # whole numbers, each of which was rounded by half a unit at most
    reached = np.cumsum(ordered, axis=0) * 2 >= total - 2 * len(ordered)
    largest = ordered[0] if len(ordered) else np.zeros(len(total))
    scale = differences.numerator_unit / np.where(differences.total_weight > 0, differences.total_weight, np.nan)
    median, trimmed = _robust(differences, trim)
    return Concentration(
        gain=total_gain * scale,
        loss=-total_loss * scale,
        side=side,
        movers=np.count_nonzero(leading > 0, axis=0),
        half=np.where(total > 0, 1 + np.argmax(reached, axis=0) if len(reached) else 0, 0),
        share_of_largest=np.divide(largest, total, out=np.full(len(total), np.nan), where=total > 0),
        median=median,
        trimmed_mean=trimmed,
        trim=trim,
        n=differences.n,
    )


def _robust(differences: Differences, trim: float) -> tuple[Floats, Floats]:
    """Return median and trimmed mean of each column, in whole numbers of its unit before the division."""
    columns = differences.n_columns
    median, trimmed = np.full(columns, np.nan), np.full(columns, np.nan)
    if differences.weighted:
        return median, trimmed
    for j in range(columns):
        values = np.sort(differences.integers[differences.present[:, j], j])
        if len(values):
            cut = int(trim * len(values))
            kept = values[cut : len(values) - cut]
            median[j] = np.median(values) * differences.unit[j]
            trimmed[j] = kept.sum() / len(kept) * differences.unit[j]
    return median, trimmed
