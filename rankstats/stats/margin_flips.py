"""One-sided sign-flip tests at ±margin: p-values and interval ends read off the same flipped sets.

Moving the differences d by margin f (times the baseline b of the query where the margin is relative) and flipping signs
reaches the observed sum exactly when the flipped set F has Σ_F w(d + f b) ≤ 0, that is when its ratio Σ_F wd / Σ_F wb
(b = 1: its weighted mean) is at most −f. So these ratios serve every margin, and their order statistics are the ends of
the interval.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankstats.stats.differences import Differences
from rankstats.stats.flip_readings import TOLERANCE, column_chunks, distinct_masks, halves
from rankstats.stats.flip_sums import flipped_sums
from rankstats.stats.random_blocks import replayed
from rankstats.stats.reading import adjusted_p, exact_rank, largest_at, monte_carlo_p, monte_carlo_rank, smallest_at
from rankstats.stats.sign_flips import EXACT_UP_TO

_COLUMNS_AT_ONCE = 64
_ENUMERATED_AT_ONCE = 16

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class MarginReadings:
    """One-sided p-values, shape (c,), and one-sided ends, shape (2, c): plain, and for the family."""

    p_lower: Floats
    p_upper: Floats
    low: Floats
    high: Floats

    def agreeing(self, margin: Floats, alpha: float, family: Integers) -> MarginReadings:
        """Settle, in favour of p, ends that are on the wrong side of a margin by the rounding of a quantile."""
        above = adjusted_p(self.p_lower, family) <= alpha
        below = adjusted_p(self.p_upper, family) <= alpha
        low = np.where(above, np.maximum(self.low, np.nextafter(-margin, np.inf)), np.minimum(self.low, -margin))
        high = np.where(below, np.minimum(self.high, np.nextafter(margin, -np.inf)), np.maximum(self.high, margin))
        return MarginReadings(self.p_lower, self.p_upper, low, high)


@dataclass(frozen=True, slots=True)
class _Fractions:
    """What flipped sets are made of: Σ numerators / Σ denominators in units of `scale`.

    Numerators have shape (n, c), scale, margin and rounding (c,); columns may share a denominator, `shared` says which
    is theirs. Rounding is what can move Σ numerators + margin · Σ denominators, in units of the numerators.
    """

    numerators: Floats
    denominators: Floats
    shared: Integers
    scale: Floats
    margin: Floats
    rounding: Floats

    @classmethod
    def of(cls, differences: Differences, base: Differences | None, margin: Floats) -> _Fractions:
        if base is None:
            masks, shared = distinct_masks(differences.present)
            weights = differences.weight_integers[:, None] * masks
            scale = differences.numerator_unit / differences.weight_unit
            rounding = differences.rounding
        else:
            weights, shared = base.numerators, np.arange(base.n_columns)
            scale = differences.numerator_unit / base.numerator_unit
            rounding = differences.rounding + margin / scale * base.rounding
        return cls(differences.numerators, weights, shared, scale, margin, rounding)

    def at(self, rows: Integers | slice, columns: Integers) -> _Fractions:
        used, shared = np.unique(self.shared[columns], return_inverse=True)
        return _Fractions(
            self.numerators[rows][:, columns],
            self.denominators[rows][:, used],
            shared,
            self.scale[columns],
            self.margin[columns],
            self.rounding[columns],
        )

    @property
    def matrix(self) -> Floats:
        """What is added up over the flipped queries."""
        return np.hstack([self.numerators, self.denominators])

    def lower_and_upper(self, sums: Floats) -> tuple[Floats, Floats]:
        """Return the sets' ratios, shape (patterns, c), as they count for the lower and for the upper end.

        A set without weight reaches both margins. Ratios within the tolerance of a margin are set equal to it.
        """
        n_columns = len(self.scale)
        top, bottom = sums[:, :n_columns], sums[:, n_columns + self.shared]
        margin = self.margin / self.scale
        whole = self.denominators.sum(axis=0)[self.shared]
        tolerance = np.maximum(TOLERANCE * (np.abs(self.numerators).sum(axis=0) + margin * whole), self.rounding)
        none = bottom == 0
        ratio = top / np.where(none, 1.0, bottom) * self.scale
        ratio = np.where(np.abs(top + margin * bottom) <= tolerance, -self.margin, ratio)
        ratio = np.where(np.abs(top - margin * bottom) <= tolerance, self.margin, ratio)
        lower = np.where(none, np.where(top > tolerance, np.inf, -np.inf), ratio)
        upper = np.where(none, np.where(top < -tolerance, -np.inf, np.inf), ratio)
        return lower, upper


def read_margins(
    differences: Differences,
    base: Differences | None,
    margin: Floats,
    *,
    alpha: float,
    family: Integers,
    resamples: int,
    generator: np.random.Generator,
    batch: int | None,
) -> MarginReadings:
    """Return p-values and ends of all columns, by enumeration up to 16 queries and by random patterns above.

    Parameters
    ----------
    differences : Differences
        n queries, c columns.
    base : Differences or None
        Baseline values (0 or more) as differences from 0, for a relative margin.
    margin : ndarray, shape (c,)
        0 or more.
    alpha : float
        Level of each one-sided test.
    family : ndarray of int, shape (c,)
        Comparisons for the adjusted ends.
    resamples : int
        Patterns drawn for columns of more than 16 queries.
    generator : numpy.random.Generator
        Advanced only where patterns are drawn.
    batch : int or None
        Patterns a block.

    Returns
    -------
    MarginReadings
        NaN for columns without queries or, where `base` is given, with a baseline of 0 throughout.
    """
    fractions = _Fractions.of(differences, base, margin)
    n_columns = differences.n_columns
    readings = MarginReadings(
        *(np.full(n_columns, np.nan) for _ in range(2)), *(np.full((2, n_columns), np.nan) for _ in range(2))
    )
    counted = (differences.n > 0) & (fractions.denominators.sum(axis=0)[fractions.shared] > 0)
    few, many = counted & (differences.n <= EXACT_UP_TO), counted & (differences.n > EXACT_UP_TO)
    _enumerate(differences, fractions, np.flatnonzero(few), readings, alpha=alpha, family=family)
    chunks = column_chunks(np.flatnonzero(many), _COLUMNS_AT_ONCE)
    for number, chunk in enumerate(chunks):
        source = generator if number == len(chunks) - 1 else replayed(generator)
        chosen = fractions.at(slice(None), chunk)
        lower, upper = np.empty((len(chunk), resamples)), np.empty((len(chunk), resamples))
        for drawn, sums in flipped_sums(source, chosen.matrix, resamples, batch):
            block = chosen.lower_and_upper(sums)
            lower[:, drawn], upper[:, drawn] = block[0].T, block[1].T
        _store(readings, chunk, chosen.margin, lower, upper, alpha=alpha, family=family[chunk], exact=False)
    return readings


def _enumerate(
    differences: Differences,
    fractions: _Fractions,
    columns: Integers,
    readings: MarginReadings,
    *,
    alpha: float,
    family: Integers,
) -> None:
    masks, mask_of = distinct_masks(differences.present[:, columns])
    for mask in range(masks.shape[1]):
        rows = np.flatnonzero(masks[:, mask])
        half = halves(len(rows))
        bits = np.concatenate([half, 1 - half])
        for chunk in column_chunks(columns[mask_of == mask], _ENUMERATED_AT_ONCE):
            chosen = fractions.at(rows, chunk)
            lower, upper = (np.ascontiguousarray(part.T) for part in chosen.lower_and_upper(bits @ chosen.matrix))
            _store(readings, chunk, chosen.margin, lower, upper, alpha=alpha, family=family[chunk], exact=True)


def _store(
    readings: MarginReadings,
    columns: Integers,
    margin: Floats,
    lower: Floats,
    upper: Floats,
    *,
    alpha: float,
    family: Integers,
    exact: bool,
) -> None:
    patterns = lower.shape[1]
    rank = exact_rank if exact else monte_carlo_rank
    of_size = {int(size): rank(alpha, patterns, int(size)) for size in {1, *family.tolist()}}
    ranks = np.array([[of_size[1]] * len(columns), [of_size[int(size)] for size in family]])
    counts = [
        np.count_nonzero(lower <= -margin[:, None], axis=1),
        np.count_nonzero(upper >= margin[:, None], axis=1),
    ]
    p_lower, p_upper = (count / patterns if exact else monte_carlo_p(count, patterns) for count in counts)
    readings.p_lower[columns], readings.p_upper[columns] = p_lower, p_upper
    readings.low[:, columns], readings.high[:, columns] = smallest_at(lower, ranks), largest_at(upper, ranks)
