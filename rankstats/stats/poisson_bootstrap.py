"""Poisson bootstrap of units whose random counts come from their ids: it streams, merges and knows no order.

A unit counts a Poisson(1) number of times in each resample, and that number is a hash of its id, the seed and the
resample. So sums over pieces of the data add up to the sums over all of it, whichever rows lie in which piece.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankstats.errors import RankstatsError
from rankstats.stats.classical import agreeing_ends
from rankstats.stats.compensated_sums import DoubleSums, merge_double_sums, weighted_double_sums
from rankstats.stats.differences import LARGEST_VALUE
from rankstats.stats.exact_moments import SCALE, exact_resampled
from rankstats.stats.flip_readings import TOLERANCE
from rankstats.stats.reading import largest_at, monte_carlo_p, monte_carlo_rank
from rankstats.stats.resampled_ratios import mean_and_deviation
from rankstats.stats.resampling import POISSON_SHARES, poisson_counts
from rankstats.stats.results import ColumnResult
from rankstats.stats.validation import check_alpha, check_choice, check_count

EFFECTS = ("difference", "relative")

_MOST = len(POISSON_SHARES) - 1
_ROWS_AT_ONCE = 1 << 13
_WORDS_AT_ONCE = 1 << 20

Floats = NDArray[np.float64]
Words = NDArray[np.uint64]


@dataclass(frozen=True, slots=True, eq=False)
class PoissonSums:
    """Sums of numerators and denominators over the units of an arm, as they are and resampled.

    Attributes
    ----------
    observed : DoubleSums
        Shape (2, c): numerators, denominators.
    resampled : DoubleSums
        Shape (B, 2, c).
    seed : int
        Sums of one seed belong together.
    """

    observed: DoubleSums
    resampled: DoubleSums
    seed: int

    @property
    def resamples(self) -> int:
        """Number of resamples B."""
        return len(self.resampled.high)

    @property
    def estimate(self) -> Floats:
        """Ratio of the sums, shape (c,); NaN where the denominators add up to 0."""
        return _ratio(self.observed.value)

    @property
    def estimates(self) -> Floats:
        """Resampled ratios, shape (B, c)."""
        return _ratio(self.resampled.value)


def _ratio(sums: Floats) -> Floats:
    top, bottom = sums[..., 0, :], sums[..., 1, :]
    return np.asarray(top / np.where(bottom != 0, bottom, np.nan))


def poisson_sums(
    unit_ids: ArrayLike,
    numerators: ArrayLike,
    denominators: ArrayLike | None = None,
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> PoissonSums:
    """Add up the rows of an arm, or of a piece of it, as they are and in B Poisson resamples of the units.

    Parameters
    ----------
    unit_ids : array_like, shape (n,)
        Unit of each row, text or whole numbers: 7 and '7' are the same unit.
    numerators : array_like, shape (n,) or (n, c)
        Values; NaN leaves the row out of that column.
    denominators : array_like, shape (n,) or (n, c), optional
        For a ratio metric; then a unit may have any number of rows (events). Without, the statistic is the mean over
        the units, and a unit may have only one row.
    resamples : int
        Number of resamples B.
    seed : int
        Arms and pieces of one analysis share it.

    Returns
    -------
    PoissonSums

    Raises
    ------
    RankstatsError
        If shapes do not fit, an id is missing, or a unit has two rows where it may have one.

    References
    ----------
    Chamandy, Muralidharan, Najmi & Naidu 2012; Steele, Lea & Flood 2014 (the generator, SplitMix64).

    Examples
    --------
    >>> one = poisson_sums(["a", "b", "c"], [1.0, 2.0, 6.0], resamples=8)
    >>> parts = [poisson_sums(["c"], [6.0], resamples=8), poisson_sums(["b", "a"], [2.0, 1.0], resamples=8)]
    >>> bool(np.array_equal(merge_poisson_sums(parts).estimates, one.estimates, equal_nan=True))
    True
    """
    check_count("resamples", resamples)
    top = _columns(numerators, "numerators")
    bottom = np.ones_like(top) if denominators is None else _columns(denominators, "denominators")
    if len(top) != len(bottom) or bottom.shape[1] not in (1, top.shape[1]):
        raise RankstatsError(f"numerators have shape {top.shape}, denominators {bottom.shape}; rows are the same")
    present = ~(np.isnan(top) | np.isnan(bottom))
    values = np.where(present[:, None, :], np.stack(np.broadcast_arrays(top, bottom), axis=1), 0.0)
    keys, unit_of_row = unit_keys(unit_ids, len(top), seed)
    if denominators is None and len(keys) < len(top):
        twice = np.asarray(unit_ids)[np.flatnonzero(np.bincount(unit_of_row)[unit_of_row] > 1)[0]]
        raise RankstatsError(
            f"unit {twice!s} has more than one row: add up the rows of a unit first, or give denominators"
        )
    pieces = []
    for start in range(0, len(top), _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        counts = unit_counts(keys[unit_of_row[rows]], resamples).T.astype(np.float64)
        pieces.append(weighted_double_sums(counts, values[rows], _MOST))
    nothing = DoubleSums(np.zeros((resamples, *values.shape[1:])), np.zeros((resamples, *values.shape[1:])))
    return PoissonSums(weighted_double_sums(None, values, 1), merge_double_sums([nothing, *pieces]), seed)


def _columns(values: ArrayLike, name: str) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim not in (1, 2):
        raise RankstatsError(f"{name} have {array.ndim} dimensions; (n,) or (n, c) is expected")
    if np.any(np.abs(array) > LARGEST_VALUE):
        raise RankstatsError(f"{name} hold values that are infinite or beyond 1e100")
    return array if array.ndim == 2 else array[:, None]


def unit_keys(unit_ids: ArrayLike, n: int, seed: int) -> tuple[Words, NDArray[np.int64]]:
    """Return the 64-bit key of each distinct unit, and which of them each of the n rows belongs to.

    The key is a hash of the id's text and the seed, the same on every machine.

    Examples
    --------
    >>> keys, of_row = unit_keys(["u2", "u1", "u2"], 3, seed=0)
    >>> len(keys), of_row.tolist()
    (2, [1, 0, 1])
    """
    array = np.asarray(unit_ids)
    if array.shape != (n,):
        raise RankstatsError(f"unit_ids have shape {array.shape}; one for each of the {n} rows is expected")
    if array.dtype.kind == "f" or (array.dtype.kind == "O" and any(isinstance(id_, float | None) for id_ in array)):
        raise RankstatsError("unit_ids: text or whole numbers are expected, one for every row")
    if check_count("seed", seed, least=0) >= 1 << 63:
        raise RankstatsError(f"seed = {seed!r}: a whole number below 2**63 is expected")
    distinct, of_row = np.unique(array.astype(str) if array.dtype.kind in "OS" else array, return_inverse=True)
    salt = int(seed).to_bytes(8, "little")
    hashes = [blake2b(str(id_).encode(), digest_size=8, salt=salt).digest() for id_ in distinct.tolist()]
    return np.frombuffer(b"".join(hashes), dtype="<u8").astype(np.uint64), of_row.ravel().astype(np.int64)


def unit_counts(keys: Words, resamples: int) -> NDArray[np.uint8]:
    """Return how often units count in each resample, shape (n, resamples): Poisson(1), a function of the keys alone.

    Examples
    --------
    >>> counts = unit_counts(unit_keys(np.arange(500), 500, seed=1)[0], 400)
    >>> round(float(counts.mean()), 2), round(float(counts.var()), 2)
    (1.0, 1.0)
    """
    words = -(-resamples // 4)
    counts = np.empty((len(keys), 4 * words), dtype=np.uint8)
    step = max(1, _WORDS_AT_ONCE // words)
    places = np.arange(1, words + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for start in range(0, len(keys), step):
        mixed = _mixed(keys[start : start + step, None] + places).astype("<u8", copy=False)
        counts[start : start + step] = poisson_counts(mixed.view("<u2"))
    return counts[:, :resamples]


def _mixed(words: Words) -> Words:
    """Finish SplitMix64: every bit of the result depends on every bit of the word."""
    words = words ^ (words >> np.uint64(30))
    words *= np.uint64(0xBF58476D1CE4E5B9)
    words ^= words >> np.uint64(27)
    words *= np.uint64(0x94D049BB133111EB)
    words ^= words >> np.uint64(31)
    return words


def merge_poisson_sums(parts: Sequence[PoissonSums]) -> PoissonSums:
    """Return the sums over the rows of all parts.

    Raises
    ------
    RankstatsError
        If the parts differ in seed, resamples or columns.
    """
    if len({(part.seed, part.resampled.high.shape) for part in parts}) != 1:
        raise RankstatsError("parts of one bootstrap share the seed, the number of resamples and the columns")
    observed = merge_double_sums([part.observed for part in parts])
    return PoissonSums(observed, merge_double_sums([part.resampled for part in parts]), parts[0].seed)


@dataclass(frozen=True, slots=True)
class ExactPoissonSums:
    """Sums of a numerator and a denominator over units, as they are and resampled, without any rounding.

    Attributes
    ----------
    observed : tuple of int
        Numerator and denominator, in units of 2**-1088.
    resampled : tuple of two tuples of int, length B
        The same of every resample.
    seed : int
        Sums of one seed belong together.
    """

    observed: tuple[int, int]
    resampled: tuple[tuple[int, ...], tuple[int, ...]]
    seed: int

    def __add__(self, other: ExactPoissonSums) -> ExactPoissonSums:
        """Return the sums over the units of both, which have none in common."""
        if self.seed != other.seed or len(self.resampled[0]) != len(other.resampled[0]):
            raise RankstatsError("parts of one bootstrap share the seed and the number of resamples")
        pairs = [zip(*parts, strict=True) for parts in zip(self.resampled, other.resampled, strict=True)]
        return ExactPoissonSums(
            (self.observed[0] + other.observed[0], self.observed[1] + other.observed[1]),
            (tuple(a + b for a, b in pairs[0]), tuple(a + b for a, b in pairs[1])),
            self.seed,
        )


def exact_poisson_sums(
    unit_ids: ArrayLike,
    numerators: ArrayLike,
    denominators: ArrayLike | None = None,
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> ExactPoissonSums:
    """Add up units as `poisson_sums` does, without rounding; one row a unit, one column.

    Notes
    -----
    Merge law: for sets of units U and V without a common unit, the sums of U plus those of V are the sums of U ∪ V, to
    the last bit, in any order and any grouping: how often a unit counts is decided by its id, seed and resample alone.

    Examples
    --------
    >>> one = exact_poisson_sums(["a", "b", "c"], [0.1, 0.2, 0.3], resamples=8)
    >>> one == exact_poisson_sums(["c"], [0.3], resamples=8) + exact_poisson_sums(["b", "a"], [0.2, 0.1], resamples=8)
    True
    """
    check_count("resamples", resamples)
    top = _columns(numerators, "numerators")[:, 0]
    bottom = np.ones_like(top) if denominators is None else _columns(denominators, "denominators")[:, 0]
    if len(top) != len(bottom):
        raise RankstatsError(f"there are {len(top)} numerators and {len(bottom)} denominators; one a unit is expected")
    keys, of_row = unit_keys(unit_ids, len(top), seed)
    present = ~(np.isnan(top) | np.isnan(bottom))
    keys, values = keys[of_row[present]], np.stack([top[present], bottom[present]], axis=1)
    once = iter([(slice(0, len(values)), np.ones((1, len(values))))])
    observed = exact_resampled(once, values, 1)
    resampled = exact_resampled(_counted(keys, resamples), values, resamples)
    return ExactPoissonSums((observed[0][0], observed[1][0]), (tuple(resampled[0]), tuple(resampled[1])), seed)


def _counted(keys: Words, resamples: int) -> Iterator[tuple[slice, Floats]]:
    """Yield pieces of the units and how often they count, shape (B, units)."""
    for start in range(0, len(keys), _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        yield rows, unit_counts(keys[rows], resamples).T.astype(np.float64)


def rounded_poisson_sums(cells: Sequence[ExactPoissonSums]) -> PoissonSums:
    """Return exact sums of one seed side by side, a column each, every sum the double nearest to it.

    Examples
    --------
    >>> rounded_poisson_sums([exact_poisson_sums(["a", "b"], [1.0, 2.0], resamples=4)]).estimate.tolist()
    [1.5]
    """
    observed = np.array([[number / (1 << SCALE) for number in cell.observed] for cell in cells]).T
    resampled = np.array([[[number / (1 << SCALE) for number in part] for part in cell.resampled] for cell in cells])
    drawn = np.moveaxis(resampled, (0, 1, 2), (2, 1, 0))
    return PoissonSums(
        DoubleSums(observed, np.zeros_like(observed)), DoubleSums(drawn, np.zeros_like(drawn)), cells[0].seed
    )


@dataclass(frozen=True, slots=True, eq=False)
class ArmBootstrapResult(ColumnResult):
    """Result of `poisson_bootstrap` and `bootstrap_quantiles`; array fields have shape (c,).

    Attributes
    ----------
    control, treatment : ndarray
        Estimates of the arms.
    estimate : ndarray
        The difference, or the difference over the size of the control's estimate.
    standard_error : ndarray
        Standard deviation of the resampled effects.
    p_value : ndarray
        Share of the resampled effects that are as far from the estimate as the estimate is from 0: (b + 1) / (B + 1); 1
        where the effect is 0 in all of them, NaN where undefined.
    low, high : ndarray
        estimate ± q, q from the same distances: leaves out 0 exactly when p ≤ alpha.
    percentile_low, percentile_high : ndarray
        Quantiles of the resampled effects; they carry no p.
    undefined : ndarray of int
        Resamples without a value (no denominator); they count as infinitely far away.
    resamples : int
        Number of resamples.
    alpha : float
        1 − level.
    effect : str
        'difference' or 'relative'.
    """

    control: Floats
    treatment: Floats
    estimate: Floats
    standard_error: Floats
    p_value: Floats
    low: Floats
    high: Floats
    percentile_low: Floats
    percentile_high: Floats
    undefined: NDArray[np.int64]
    resamples: int
    alpha: float
    effect: str


def poisson_bootstrap(
    control: PoissonSums, treatment: PoissonSums, *, effect: str = "difference", alpha: float = 0.05
) -> ArmBootstrapResult:
    """Compare two arms by the Poisson bootstrap of their units.

    Parameters
    ----------
    control, treatment : PoissonSums
        Sums of the same seed and number of resamples; a control of one column serves all columns of the treatment.
    effect : {'difference', 'relative'}
        Treatment − control, or that over the size of the control.
    alpha : float
        1 − level.

    Returns
    -------
    ArmBootstrapResult

    Raises
    ------
    RankstatsError
        If the arms do not belong together.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> arms = [poisson_sums(np.arange(n, n + 300), rng.exponential(2, 300)) for n in (0, 300)]
    >>> result = poisson_bootstrap(*arms)
    >>> bool(result.low[0] < result.estimate[0] < result.high[0])
    True
    """
    if control.seed != treatment.seed or control.resamples != treatment.resamples:
        raise RankstatsError("both arms need the same seed and the same number of resamples")
    return bootstrapped_effect(
        (control.estimate, control.estimates), (treatment.estimate, treatment.estimates), effect=effect, alpha=alpha
    )


def bootstrapped_effect(
    control: tuple[Floats, Floats], treatment: tuple[Floats, Floats], *, effect: str, alpha: float
) -> ArmBootstrapResult:
    """Return test and intervals from the estimates, shape (c,), and resampled estimates, shape (B, c), of two arms."""
    check_choice("effect", effect, EFFECTS)
    check_alpha(alpha)
    before, after = (np.broadcast_to(arm[0], treatment[0].shape).copy() for arm in (control, treatment))
    estimate = _effect(before, after, effect)
    drawn = _effect(np.broadcast_to(control[1], treatment[1].shape), treatment[1], effect).T
    undefined = np.count_nonzero(np.isnan(drawn), axis=1)
    distance = np.where(np.isnan(drawn), np.inf, np.abs(drawn - estimate[:, None]))
    size, resamples = np.abs(estimate), drawn.shape[1]
    reached = np.count_nonzero(distance >= (size * (1 - TOLERANCE))[:, None], axis=1)
    p_value = np.where(np.isnan(estimate), np.nan, monte_carlo_p(reached, resamples))
    rank = np.full(len(estimate), monte_carlo_rank(alpha, resamples))
    half = largest_at(distance, rank)
    with np.errstate(invalid="ignore"):  # undefined effects are NaN
        low, high = agreeing_ends(p_value <= alpha, estimate, estimate - half, estimate + half)
    quantiles = _percentiles(drawn, alpha)
    return ArmBootstrapResult(
        control=before,
        treatment=after,
        estimate=estimate,
        standard_error=mean_and_deviation(drawn)[1],
        p_value=p_value,
        low=np.where(np.isnan(estimate), np.nan, low),
        high=np.where(np.isnan(estimate), np.nan, high),
        percentile_low=quantiles[0],
        percentile_high=quantiles[1],
        undefined=undefined.astype(np.int64),
        resamples=resamples,
        alpha=alpha,
        effect=effect,
    )


def _effect(control: Floats, treatment: Floats, effect: str) -> Floats:
    difference = treatment - control
    return difference if effect == "difference" else difference / np.where(control != 0, np.abs(control), np.nan)


def _percentiles(drawn: Floats, alpha: float) -> Floats:
    known = np.sum(~np.isnan(drawn), axis=1) > 0
    out = np.full((2, len(drawn)), np.nan)
    if known.any():
        out[:, known] = np.nanquantile(drawn[known], [alpha / 2, 1 - alpha / 2], axis=1)
    return out
