"""From sums of flipped sets to p-values and interval ends, for enumerated and for drawn sign patterns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankstats.stats.differences import Differences
from rankstats.stats.flip_sums import flipped_sums
from rankstats.stats.random_blocks import replayed
from rankstats.stats.reading import exact_rank, monte_carlo_p, monte_carlo_rank, smallest_at

TOLERANCE = 1e-9
"""Sums of at most this fraction of Σ|wd| count as 0; see `negligible_sums`."""

_COLUMNS_AT_ONCE = 128
_COLUMNS_READ = 8
"""Columns whose patterns are worked out at once: their arrays stay near the processor."""
_ENUMERATED_AT_ONCE = 16

Floats = NDArray[np.float64]
Columns = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of every column: level, sidedness, number of drawn patterns, family size of each column."""

    alpha: float
    two_sided: bool
    resamples: int
    family: NDArray[np.int64]


@dataclass(slots=True)
class Readings:
    """The read-off arrays of all columns, shape (c,); filled by the functions below, 'greater' as seen from here."""

    p_value: Floats
    low: Floats
    high: Floats
    adjusted_low: Floats
    adjusted_high: Floats
    mid_p: Floats
    smallest_p: Floats
    exact: NDArray[np.bool_]
    patterns: NDArray[np.int64]

    @classmethod
    def of_zeros(cls, n: NDArray[np.int64]) -> Readings:
        """Return the readings of columns of which every difference is 0: p = 1, no interval; NaN for n = 0."""
        undefined = np.full(len(n), np.nan)
        one = np.where(n > 0, 1.0, np.nan)
        return cls(
            one,
            undefined.copy(),
            undefined.copy(),
            undefined.copy(),
            undefined.copy(),
            one / 2,
            one.copy(),
            np.ones(len(n), dtype=bool),
            np.ones(len(n), dtype=np.int64),
        )

    def put_ends(self, columns: Columns, lows: Floats, highs: Floats) -> None:
        """Store ends of shape (2, columns): plain and adjusted."""
        self.low[columns], self.adjusted_low[columns] = lows
        self.high[columns], self.adjusted_high[columns] = highs

    def mirror(self) -> None:
        """Turn the readings of negated differences into those of the differences."""
        self.low, self.high = -self.high, -self.low
        self.adjusted_low, self.adjusted_high = -self.adjusted_high, -self.adjusted_low


def negligible_sums(differences: Differences) -> Floats:
    """Return how large a sum of numerators may be and still count as 0, shape (c,).

    That is 1e-9 · Σ|wd|, or what rounding to whole units can make of a sum of 0 where that is more: differences that
    are small beside the values they come from are only few units large, and ties between their sums have to stay ties.

    Examples
    --------
    >>> from rankstats.stats import paired_differences
    >>> d = paired_differences([0.5, 0.5, 0.5], [0.6, 0.7, 0.2])
    >>> bool(d.integers.sum() != 0), bool(abs(d.integers.sum()) <= negligible_sums(d)[0])
    (True, True)
    """
    return np.asarray(np.maximum(TOLERANCE * np.abs(differences.numerators).sum(axis=0), differences.rounding))


@dataclass(frozen=True, slots=True)
class _Sets:
    """What patterns say of columns: outermost means of their sets, and whether they reach the observed sum.

    `beyond` is 0 or less where a pattern reaches the sum, and 0 where it equals it.
    """

    lower: Floats
    upper: Floats
    beyond: Floats


def _read_sets(
    flipped: Floats, weight: Floats, *, total: Floats, tolerance: Floats, total_weight: Floats, two_sided: bool
) -> _Sets:
    """Compare the flipped sets, sums and weights, with the rest; all shapes broadcast to that of the sums."""
    flipped, kept, beyond = _without_noise(flipped, total, tolerance)
    empty, full = weight == 0, weight == total_weight
    outside = empty | full
    some_outside = bool(outside.any())
    mean = flipped / (np.where(empty, 1.0, weight) if some_outside else weight)
    if not two_sided:
        low = np.where(empty, -np.inf, mean)
        return _Sets(low, low, flipped)
    other = kept / (np.where(full, 1.0, total_weight - weight) if some_outside else total_weight - weight)
    # for a mean between the two means of a pattern only the smaller one can lie below: r-th smallest of the smaller
    # ones and r-th smallest of all are the same number
    lower, upper = np.minimum(mean, other), np.maximum(mean, other, out=mean)
    if some_outside:
        lower, upper = np.where(outside, -np.inf, lower), np.where(outside, np.inf, upper)
    return _Sets(lower, upper, beyond)


def _without_noise(flipped: Floats, total: Floats, tolerance: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the sums of both sets and their product.

    Negligible sums are 0, of both sets only the smaller unless the whole is 0.
    """
    kept = total - flipped
    # whole numbers below 2**53: the product vanishes only where one of them is 0
    product = flipped * kept
    most = np.abs(total) + tolerance
    # where one sum is negligible the other one is the total, up to that
    if not np.any(np.abs(product).min(axis=-1, keepdims=True) <= 2 * tolerance * most):
        return flipped, kept, product
    size, rest = np.abs(flipped), np.abs(kept)
    cancelled = np.abs(total) <= tolerance
    zero_flipped = (size <= tolerance) & ((size < rest) | cancelled)
    zero_kept = (rest <= tolerance) & ((rest < size) | cancelled)
    flipped, kept = np.where(zero_flipped, 0.0, flipped), np.where(zero_kept, 0.0, kept)
    return flipped, kept, np.multiply(flipped, kept, out=product)


def distinct_masks(present: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Return the distinct columns of `present`, shape (n, masks), and the mask of each column, shape (c,)."""
    if present.shape[1] and np.all(present == present[:, :1]):
        return present[:, :1], np.zeros(present.shape[1], dtype=np.int64)
    packed = np.ascontiguousarray(np.packbits(present, axis=0).T)
    _, first, inverse = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    return present[:, first], inverse.ravel()


def column_chunks(columns: Columns, at_once: int) -> list[Columns]:
    """Return the columns in pieces that bound the memory of what is kept for each column."""
    return [columns[start : start + at_once] for start in range(0, len(columns), at_once)]


def _ends(
    lower: Floats, negated_upper: Floats, ranks: NDArray[np.int64], scale: Floats, two_sided: bool
) -> tuple[Floats, Floats]:
    lows = smallest_at(lower, ranks) * scale
    highs = -smallest_at(negated_upper, ranks) * scale if two_sided else np.full(lows.shape, np.inf)
    return lows, highs


def _ranks(exact: bool, patterns: int, question: Question, columns: Columns) -> NDArray[np.int64]:
    """Return plain and adjusted ranks of the columns, shape (2, columns)."""
    rank = exact_rank if exact else monte_carlo_rank
    of_size = {int(size): rank(question.alpha, patterns, int(size)) for size in {1, *question.family[columns].tolist()}}
    return np.array([[of_size[1]] * len(columns), [of_size[int(size)] for size in question.family[columns]]])


def read_drawn(
    differences: Differences,
    columns: Columns,
    question: Question,
    readings: Readings,
    *,
    generator: np.random.Generator,
    batch: int | None,
) -> None:
    """Fill the readings of `columns` from random sign patterns, the same for all columns."""
    chunks = column_chunks(columns, _COLUMNS_AT_ONCE)
    # one array for all chunks: fresh memory of this size costs as much as what is worked out in it
    ends = np.empty((1 + question.two_sided, min(len(columns), _COLUMNS_AT_ONCE), question.resamples))
    for number, chunk in enumerate(chunks):
        source = generator if number == len(chunks) - 1 else replayed(generator)
        _draw_chunk(differences.select(chunk), chunk, question, readings, generator=source, batch=batch, ends=ends)


def _draw_chunk(
    differences: Differences,
    columns: Columns,
    question: Question,
    readings: Readings,
    *,
    generator: np.random.Generator,
    batch: int | None,
    ends: Floats,
) -> None:
    resamples, n_columns = question.resamples, len(columns)
    masks, mask_of = distinct_masks(differences.present)
    weights = differences.weight_integers[:, None] * masks
    matrix = np.hstack([differences.numerators, weights])
    whole = {
        "total": differences.numerators.sum(axis=0),
        "tolerance": negligible_sums(differences),
        "total_weight": weights.sum(axis=0)[mask_of],
    }
    lower, negated = ends[0, :n_columns], ends[-1, :n_columns]
    count = np.zeros(n_columns, dtype=np.int64)
    pieces = [slice(start, start + _COLUMNS_READ) for start in range(0, n_columns, _COLUMNS_READ)]
    for patterns, sums in flipped_sums(generator, matrix, resamples, batch):
        flipped, weight = sums.T[:n_columns], sums.T[n_columns:]
        for some in pieces:
            sets = _read_sets(
                flipped[some],
                weight if len(weight) == 1 else weight[mask_of[some]],
                total=whole["total"][some, None],
                tolerance=whole["tolerance"][some, None],
                total_weight=whole["total_weight"][some, None],
                two_sided=question.two_sided,
            )
            lower[some, patterns] = sets.lower
            if question.two_sided:
                np.negative(sets.upper, out=negated[some, patterns])
            count[some] += np.count_nonzero(sets.beyond <= 0, axis=1)
    scale = differences.numerator_unit / differences.weight_unit
    ranks = _ranks(False, resamples, question, columns)
    readings.put_ends(columns, *_ends(lower, negated, ranks, scale, question.two_sided))
    readings.p_value[columns] = monte_carlo_p(count, resamples)
    readings.mid_p[columns] = np.nan
    readings.smallest_p[columns] = 1 / (resamples + 1)
    readings.exact[columns] = False
    readings.patterns[columns] = resamples


def read_enumerated(differences: Differences, columns: Columns, question: Question, readings: Readings) -> None:
    """Fill the readings of `columns` (few queries each) from all sign patterns."""
    if not len(columns):
        return
    masks, mask_of = distinct_masks(differences.present[:, columns])
    for mask in range(masks.shape[1]):
        chosen = columns[mask_of == mask]
        for chunk in column_chunks(chosen, _ENUMERATED_AT_ONCE):
            _enumerate_chunk(differences, chunk, np.flatnonzero(masks[:, mask]), question, readings)


def halves(n: int) -> Floats:
    """Return one of the two sets of every split of n queries, shape (2**(n − 1), n): the last query is never in it."""
    numbers = np.arange(2 ** (n - 1), dtype=np.uint32)[:, None]
    return ((numbers >> np.arange(n, dtype=np.uint32)) & 1).astype(np.float64)


def _enumerate_chunk(
    differences: Differences, columns: Columns, rows: NDArray[np.int64], question: Question, readings: Readings
) -> None:
    bits = halves(len(rows))
    numerators = differences.numerators[np.ix_(rows, columns)]
    weights = differences.weight_integers[rows]
    flipped, weight = bits @ numerators, np.broadcast_to((bits @ weights)[:, None], (len(bits), len(columns)))
    if not question.two_sided:
        flipped = np.concatenate([flipped, numerators.sum(axis=0) - flipped])
        weight = np.concatenate([weight, weights.sum() - weight])
    sets = _read_sets(
        flipped,
        weight,
        total=numerators.sum(axis=0),
        tolerance=negligible_sums(differences.select(columns)),
        total_weight=weights.sum(),
        two_sided=question.two_sided,
    )
    # two-sided, a pattern and its opposite are one row: both counts are halved, which leaves p as it is
    patterns = len(flipped)
    ranks = _ranks(True, patterns, question, columns)
    scale = differences.numerator_unit[columns] / differences.weight_unit
    lower, negated = np.ascontiguousarray(sets.lower.T), np.ascontiguousarray(-sets.upper.T)
    readings.put_ends(columns, *_ends(lower, negated, ranks, scale, question.two_sided))
    readings.p_value[columns] = np.count_nonzero(sets.beyond <= 0, axis=0) / patterns
    readings.mid_p[columns] = readings.p_value[columns] - np.count_nonzero(sets.beyond == 0, axis=0) / patterns / 2
    readings.smallest_p[columns] = 1 / patterns
    readings.patterns[columns] = 2 ** len(rows)
