"""Agreement of raters beyond chance: Cohen's and Fleiss' κ, and how often each grade is confused with another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankstats.errors import RankstatsError
from rankstats.stats.random_blocks import RNG
from rankstats.stats.results import ColumnResult
from rankstats.stats.table_bootstrap import bootstrap_tables, check_table_size, cluster_tables, percentile_ends
from rankstats.stats.validation import check_alpha, check_choice

WEIGHTINGS = ("none", "linear", "quadratic")

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class GradeConfusion(ColumnResult):
    """Result of `grade_confusion`; array fields have one entry, or one row, a grade.

    Attributes
    ----------
    grade : ndarray, shape (g,)
        The grades that occur (or that were given), ascending.
    counts : ndarray of int, shape (g, g)
        Items by the first rater's grade (row) and the second's (column).
    specific_agreement : ndarray, shape (g,)
        2 · both / (first + second): of the times that a rater gave the grade, the share in which the other one did
        too. NaN for a grade that neither gave.
    n : int
        Items that both rated.
    """

    grade: NDArray[np.generic]
    counts: Codes
    specific_agreement: Floats
    n: int


def grade_confusion(first: ArrayLike, second: ArrayLike, *, grades: ArrayLike | None = None) -> GradeConfusion:
    """Count how often a grade of one rater meets each grade of another.

    Parameters
    ----------
    first, second : array_like, shape (n,)
        Grades of the same items, as numbers, NaN where one is missing. An item that one of them did not rate is left
        out.
    grades : array_like, shape (g,), optional
        The scale, ascending; by default the grades that occur.

    Returns
    -------
    GradeConfusion

    Raises
    ------
    RankstatsError
        If the shapes differ, or a grade is not on the scale.

    Examples
    --------
    >>> result = grade_confusion([0, 1, 1, 2], [0, 1, 2, 2])
    >>> result.counts.tolist(), result.specific_agreement.round(3).tolist()
    ([[1, 0, 0], [0, 1, 1], [0, 0, 1]], [1.0, 0.667, 0.667])
    """
    rated = _Rated.of(first, second, grades)
    size = len(rated.scale)
    counts = np.bincount(rated.cell, minlength=size * size).reshape(size, size)
    given = counts.sum(axis=0) + counts.sum(axis=1)
    specific = np.divide(2.0 * np.diag(counts), given, out=np.full(size, np.nan), where=given > 0)
    return GradeConfusion(rated.scale, counts, specific, len(rated.cell))


@dataclass(frozen=True, slots=True, eq=False)
class CohenKappa(ColumnResult):
    """Result of `cohen_kappa`; array fields have one entry a weighting.

    Attributes
    ----------
    weighting : ndarray of str
        'none', 'linear' or 'quadratic'.
    kappa : ndarray
        (observed − expected) / (1 − expected) agreement; NaN without items or where both gave one and the same grade.
    standard_error : ndarray
        Asymptotic, of items drawn one by one.
    low, high : ndarray
        Percentile bootstrap interval of level 1 − alpha; NaN where none was asked for.
    observed, expected : ndarray
        Weighted agreement, and that of raters who give their grades at random.
    agreement : float
        Share of items with equal grades; NaN without items.
    agreement_low, agreement_high : float
        Its percentile bootstrap interval.
    n : int
        Items that both rated.
    alpha : float
        1 − level.
    """

    weighting: NDArray[np.str_]
    kappa: Floats
    standard_error: Floats
    low: Floats
    high: Floats
    observed: Floats
    expected: Floats
    agreement: float
    agreement_low: float
    agreement_high: float
    n: int
    alpha: float


def cohen_kappa(
    first: ArrayLike,
    second: ArrayLike,
    *,
    weightings: Sequence[str] = WEIGHTINGS,
    grades: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    alpha: float = 0.05,
    resamples: int = 0,
    rng: RNG = 0,
) -> CohenKappa:
    """Return Cohen's κ of two raters: agreement beyond what their grades would give by chance.

    Two grades that stand i places apart on the scale of g grades agree by 1 − i/(g − 1) (linear) or 1 − (i/(g − 1))²
    (quadratic); unweighted, equal grades alone agree.

    Parameters
    ----------
    first, second : array_like, shape (n,)
        Grades of the same items, as numbers, NaN where one is missing. An item that one of them did not rate is left
        out.
    weightings : sequence of {'none', 'linear', 'quadratic'}
        What is computed.
    grades : array_like, shape (g,), optional
        The scale, ascending; by default the grades that occur.
    clusters : array_like, shape (n,), optional
        Labels of items that are resampled together, such as their queries.
    alpha : float
        1 − level of the intervals.
    resamples : int
        Bootstrap resamples of items or clusters; 0 for no interval.
    rng : int, SeedSequence, BitGenerator, Generator or None
        Seed or source of the random numbers.

    Returns
    -------
    CohenKappa

    Raises
    ------
    RankstatsError
        If an argument is out of range, or a grade is not on the scale.

    References
    ----------
    Cohen 1960, 1968; Fleiss, Cohen & Everitt 1969 (standard errors).

    Examples
    --------
    >>> result = cohen_kappa([0, 1, 1, 2, 2], [0, 1, 2, 2, 1])
    >>> dict(zip(result.weighting.tolist(), result.kappa.round(4).tolist()))
    {'none': 0.375, 'linear': 0.5, 'quadratic': 0.6429}
    """
    alpha = check_alpha(alpha)
    rated = _Rated.of(first, second, grades)
    size = len(rated.scale)
    weights = [_agreement_weights(size, check_choice("weightings", name, WEIGHTINGS)) for name in weightings]
    table = np.bincount(rated.cell, minlength=size * size).reshape(1, size, size).astype(np.float64)
    check_table_size(len(rated.cell) if resamples else 1, size)
    one_each = np.zeros((len(rated.cell) if resamples else 0, size * size))
    one_each[np.arange(len(one_each)), rated.cell[: len(one_each)]] = 1.0
    drawn = bootstrap_tables(
        cluster_tables(one_each, clusters, rated.kept) if resamples else one_each,
        lambda sums: _statistics(sums.reshape(len(sums), size, size), weights),
        resamples=resamples,
        rng=rng,
    )
    *kappas, agreement = _statistics(table, weights)[:, 0].tolist()
    ends = [percentile_ends(values, alpha) for values in drawn]
    shares = [_shares(table, weight) for weight in weights]
    return CohenKappa(
        weighting=np.array(weightings, dtype=np.str_),
        kappa=np.array(kappas),
        standard_error=np.array([_standard_error(table[0], weight) for weight in weights]),
        low=np.array([end[0] for end in ends[:-1]]),
        high=np.array([end[1] for end in ends[:-1]]),
        observed=np.array([observed[0] for observed, _ in shares]),
        expected=np.array([expected[0] for _, expected in shares]),
        agreement=agreement,
        agreement_low=ends[-1][0],
        agreement_high=ends[-1][1],
        n=len(rated.cell),
        alpha=alpha,
    )


def fleiss_kappa(counts: ArrayLike) -> float:
    """Return Fleiss' κ of items that were all rated equally often, by whomever.

    Parameters
    ----------
    counts : array_like of int, shape (n, g)
        How many raters gave each item each of the g grades.

    Returns
    -------
    float
        NaN where all ratings are one grade, or without items.

    Raises
    ------
    RankstatsError
        If the items were not rated equally often, at least twice.

    References
    ----------
    Fleiss 1971.

    Examples
    --------
    >>> round(fleiss_kappa([[3, 0], [1, 2], [0, 3], [2, 1]]), 4)
    0.3333
    """
    table = np.asarray(counts, dtype=np.float64)
    if table.ndim != 2 or not np.all((table >= 0) & (table == np.rint(table))):
        raise RankstatsError(f"counts have shape {table.shape}; whole numbers of shape (items, grades) are expected")
    raters = table.sum(axis=1)
    if len(raters) and (raters.min() < 2 or np.ptp(raters) > 0):
        raise RankstatsError(
            f"items were rated {raters.min():g} to {raters.max():g} times; Fleiss' κ needs equally many ratings of "
            "each, at least two: leave out the others, or use Krippendorff's α"
        )
    given = table.sum(axis=0)
    if np.count_nonzero(given) < 2:
        return np.nan
    expected = float(np.sum(given**2)) / float(given.sum()) ** 2
    agreeing = float(np.sum(table * (table - 1))) / float(np.sum(raters * (raters - 1)))
    return (agreeing - expected) / (1 - expected)


@dataclass(frozen=True, slots=True, eq=False)
class _Rated:
    """Items that two raters rated.

    Attributes
    ----------
    scale : ndarray, shape (g,)
        The grades.
    cell : ndarray of int, shape (m,)
        Place of the first grade times g, plus the place of the second one.
    kept : ndarray of bool, shape (n,)
        Which of the items both rated.
    """

    scale: NDArray[np.generic]
    cell: Codes
    kept: NDArray[np.bool_]

    @classmethod
    def of(cls, first: ArrayLike, second: ArrayLike, grades: ArrayLike | None) -> _Rated:
        one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
        if one.shape != other.shape or one.ndim != 1:
            raise RankstatsError(f"first has shape {one.shape}, second {other.shape}; two of one length are expected")
        kept = ~(np.isnan(one) | np.isnan(other))
        both = np.concatenate([one[kept], other[kept]])
        scale = np.unique(both if grades is None else np.asarray(grades, dtype=np.float64))
        place = np.searchsorted(scale, both)
        wrong = np.flatnonzero(scale[np.minimum(place, len(scale) - 1)] != both) if len(scale) else range(len(both))
        if len(wrong):
            raise RankstatsError(f"grade {both[wrong[0]]:g} is not one of the grades given")
        return cls(scale, place[: len(both) // 2] * len(scale) + place[len(both) // 2 :], kept)


def _agreement_weights(size: int, weighting: str) -> Floats:
    """Return how far two grades agree, shape (g, g): 1 on the diagonal, 0 in the corners."""
    place = np.arange(size)
    distance = np.abs(place[:, None] - place) / max(size - 1, 1)
    if weighting == "none":
        return np.eye(size)
    return np.asarray(1 - (distance if weighting == "linear" else distance**2))


def _shares(tables: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Return observed and expected agreement of tables, shape (b, g, g); NaN for an empty one."""
    total = tables.sum(axis=(1, 2))
    observed = (tables * weight).sum(axis=(1, 2))
    expected = (tables.sum(axis=2)[:, :, None] * tables.sum(axis=1)[:, None, :] * weight).sum(axis=(1, 2))
    some = total > 0
    return (
        np.divide(observed, total, out=np.full(len(total), np.nan), where=some),
        np.divide(expected, total**2, out=np.full(len(total), np.nan), where=some),
    )


def _statistics(tables: Floats, weights: Sequence[Floats]) -> Floats:
    """Return κ for each weighting and then the share of equal grades, shape (w + 1, b)."""
    rows = []
    one_grade = np.count_nonzero(tables.sum(axis=1) + tables.sum(axis=2), axis=1) < 2
    for weight in weights:
        observed, expected = _shares(tables, weight)
        room = np.where(one_grade, np.nan, 1 - expected)
        rows.append((observed - expected) / room)
    return np.stack([*rows, _shares(tables, np.eye(tables.shape[1]))[0]])


def _standard_error(table: Floats, weight: Floats) -> float:
    """Return the asymptotic standard error of κ."""
    total = table.sum()
    (observed,), (expected,) = _shares(table[None], weight)
    if not total or expected >= 1:
        return np.nan
    share = table / total
    kappa = (observed - expected) / (1 - expected)
    rows, columns = weight @ share.sum(axis=0), share.sum(axis=1) @ weight
    spread = np.sum(share * (weight - (rows[:, None] + columns) * (1 - kappa)) ** 2)
    variance = (spread - (kappa - expected * (1 - kappa)) ** 2) / (total * (1 - expected) ** 2)
    return float(np.sqrt(max(variance, 0.0)))
