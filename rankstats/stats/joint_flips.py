"""Sign patterns that flip whole queries, the same for all columns; and intervals of the statistic that they leave."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankstats.stats.differences import Differences
from rankstats.stats.exact_sums import to_grid
from rankstats.stats.flip_readings import halves, negligible_sums
from rankstats.stats.random_blocks import batches, sign_bits
from rankstats.stats.reading import exact_rank, monte_carlo_p, monte_carlo_rank
from rankstats.stats.sign_flips import EXACT_UP_TO

_PATTERNS_AT_ONCE = 2048

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class JointSigns:
    """Which sign patterns are looked at: all of them, or some that are drawn.

    Attributes
    ----------
    rows : ndarray of int
        Queries that differ in any column; flipping the others changes nothing.
    n_rows : int
        All queries: the position among them decides a query's random bits.
    exact : bool
        Whether all patterns are enumerated.
    looked_at : int
        Patterns that `blocks` gives; exact and two-sided, one of each pattern and its opposite.
    patterns : int
        2**rows where exact, else the number drawn.
    two_sided : bool
        Whether a pattern and its opposite say the same.
    """

    rows: NDArray[np.int64]
    n_rows: int
    exact: bool
    looked_at: int
    patterns: int
    two_sided: bool

    @classmethod
    def of(cls, differs: NDArray[np.bool_], resamples: int, *, two_sided: bool = True) -> JointSigns:
        """Enumerate up to 16 queries that differ (bool, shape (n,)); draw `resamples` patterns for more."""
        rows = np.flatnonzero(differs)
        if len(rows) > EXACT_UP_TO:
            return cls(rows, len(differs), False, resamples, resamples, two_sided)
        patterns = 2 ** len(rows)
        halved = two_sided and len(rows) > 0
        return cls(rows, len(differs), True, patterns // 2 if halved else patterns, patterns, two_sided)

    def blocks(self, generator: np.random.Generator, batch: int | None = None) -> Iterator[tuple[slice, Floats]]:
        """Yield which patterns, and their signs −1.0 or 1.0, shape (batch, rows)."""
        if not self.exact:
            size = batch or max(1, min(_PATTERNS_AT_ONCE, (1 << 21) // max(self.n_rows, 1)))
            for drawn, bits in sign_bits(generator, self.n_rows, self.looked_at, size):
                yield drawn, _signs(bits if len(self.rows) == self.n_rows else bits[:, self.rows])
            return
        bits = halves(len(self.rows)) if len(self.rows) else np.zeros((1, 0))
        if not self.two_sided and len(self.rows):
            bits = np.concatenate([bits, 1 - bits])
        for start, stop in batches(self.looked_at, max(len(self.rows), 1), batch or _PATTERNS_AT_ONCE):
            yield slice(start, stop), _signs(bits[start:stop].copy())

    def p_value(self, count: Counts) -> Floats:
        """Return p from counts of the patterns looked at that reach the observed statistic."""
        if self.exact:
            return np.asarray(count / self.looked_at, dtype=np.float64)
        return monte_carlo_p(count, self.looked_at)

    def critical_value(self, largest: Floats, alpha: float) -> float:
        """Return the value that a statistic has to pass for p ≤ alpha; inf where no p-value can be that small.

        `largest` holds the maximum of each pattern, ascending.
        """
        rank = exact_rank(alpha, self.looked_at) if self.exact else monte_carlo_rank(alpha, self.looked_at)
        reachable = rank > (1 if self.exact else 0)
        return float(largest[len(largest) - rank]) if reachable else np.inf


def _signs(bits: Floats) -> Floats:
    """Turn 0 and 1 into 1 and −1, in place: a block may be as large as memory allows."""
    bits *= -2
    bits += 1
    return bits


def grid_sum(values: Floats) -> Floats:
    """Return the sum of each column, the same whatever the order of its rows."""
    integers, unit = to_grid(values, len(values))
    return np.asarray(integers.sum(axis=0) * unit)


def inverse_root(numerators: Floats) -> Floats:
    """Return 1 / √Σ(wd)² of each column, which no flip changes; 0 where all differences are 0."""
    squares = grid_sum(numerators**2)
    return np.divide(1.0, np.sqrt(squares), out=np.zeros(len(squares)), where=squares > 0)


def slack(differences: Differences, inverse: Floats) -> Floats:
    """Return by how much a statistic may miss another and still count as equal: no less than single columns allow."""
    return np.asarray(3 * negligible_sums(differences) * inverse)


def flip_ends(differences: Differences, critical: float | Floats) -> tuple[Floats, Floats]:
    """Solve |Σw(d − θ)| ≤ c · √Σw²(d − θ)² for θ, in each column.

    With x = d − mean, A = (Σw)² − c²Σw² and θ = mean + η this is A η² + 2c²(Σw²x) η ≤ c²Σw²x². Where A > 0 that is
    an interval around the mean, without weights mean ± c · √(Σx² / (n² − c²n)). Otherwise the part of the solution
    that holds the mean is taken; it is unbounded on one or both sides.

    Parameters
    ----------
    differences : Differences
        n queries, c columns.
    critical : float or ndarray, shape (c,)
        Critical value c of |Σwd| / √Σ(wd)².

    Returns
    -------
    low, high : ndarray, shape (c,)
        NaN where all differences are 0.

    Examples
    --------
    >>> from rankstats.stats import paired_differences
    >>> low, high = flip_ends(paired_differences([0.0, 0.0, 0.0, 0.0], [1.0, 2.0, 3.0, 6.0]), 1.0)
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([1.9199], [4.0801])
    """
    x, w = differences.centred(), np.where(differences.present, differences.weights[:, None], 0.0)
    square = np.where(differences.constant, 0.0, grid_sum(w**2 * x**2))
    cross = np.where(differences.constant, 0.0, grid_sum(w**2 * x)) if differences.weighted else np.zeros(w.shape[1])
    c2 = np.square(np.broadcast_to(np.asarray(critical, dtype=np.float64), square.shape))
    bounded = np.isfinite(c2)
    c2 = np.where(bounded, c2, 0.0)
    leading = grid_sum(w) ** 2 - c2 * grid_sum(w**2)
    discriminant = (c2 * cross) ** 2 + leading * c2 * square
    root, proper = np.sqrt(np.maximum(discriminant, 0.0)), leading > 0
    above, below = (
        np.divide(c2 * square, side, out=np.zeros(len(side)), where=side > 0)
        for side in (root + c2 * cross, root - c2 * cross)
    )
    has_root = bounded & (discriminant >= 0)
    mean = differences.mean
    low = np.where(has_root & (proper | (cross < 0)), mean - below, -np.inf)
    high = np.where(has_root & (proper | (cross > 0)), mean + above, np.inf)
    zero = ~np.any(differences.integers != 0, axis=0)
    return np.where(zero, np.nan, low), np.where(zero, np.nan, high)
