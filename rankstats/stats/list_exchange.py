"""Exchange test for a statistic of all queries together: coverage, Gini index, entropy, geometric or pooled means.

Such a statistic has no value a query, so there are no differences whose signs could be flipped, and the bootstrap is
wrong for counts of distinct items: a resample of queries repeats lists and so always covers less.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankstats.errors import RankstatsError
from rankstats.stats.flip_readings import TOLERANCE
from rankstats.stats.joint_flips import JointSigns
from rankstats.stats.random_blocks import RNG, generator_from
from rankstats.stats.validation import ALTERNATIVES, check_choice, check_count

_ELEMENTS_AT_ONCE = 1 << 21
_ROUNDINGS = 8
"""Half units in the last place by which each term of four statistics may be off."""

Floats = NDArray[np.float64]
Parts = NDArray[Any]
Statistic = Callable[[Parts], Floats]
"""From what each query brings, shape (R, n, …), to R statistics."""


@dataclass(frozen=True, slots=True)
class ListExchangeResult:
    """Result of `list_exchange_test`.

    Attributes
    ----------
    first, second : float
        The statistic of each system.
    difference : float
        second − first.
    p_value : float
        1 where the systems agree on every query, NaN where the statistic of one of them is not defined, never 0.
    smallest_p : float
        The smallest p-value that this number of exchanges can give.
    exact : bool
        Whether all exchanges were enumerated.
    patterns : int
        Exchanges: 2**k for k queries that differ, or the number drawn.
    n : int
        Queries.
    n_different : int
        Queries on which the systems differ; exchanging the others changes nothing.
    alternative : str
        'two-sided', 'greater' or 'less'.
    """

    first: float
    second: float
    difference: float
    p_value: float
    smallest_p: float
    exact: bool
    patterns: int
    n: int
    n_different: int
    alternative: str

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return one dictionary of plain Python values; NaN (undefined) becomes None."""
        row = {f.name: getattr(self, f.name) for f in fields(self)}
        return [{name: None if isinstance(v, float) and np.isnan(v) else v for name, v in row.items()}]


def list_exchange_test(
    first: ArrayLike,
    second: ArrayLike,
    statistic: Statistic,
    *,
    resamples: int = 10_000,
    rng: RNG = 0,
    alternative: str = "two-sided",
    batch: int | None = None,
) -> ListExchangeResult:
    """Test the difference of a statistic of all queries by exchanging the two systems' lists within queries.

    1. The hypothesis is that on every query the two lists could as well have come from the other system.
    2. An exchange pattern swaps what the systems bring on some of the queries; both statistics are computed again, and
       b counts the patterns whose difference reaches the observed one (by at least its size when two-sided).
    3. Only queries on which the systems differ matter. Up to 16 of them all M = 2**k patterns are enumerated and
       p = b / M; otherwise B patterns are drawn and p = (b + 1) / (B + 1).

    The test has no interval: a statistic that is no mean cannot be shifted query by query.

    Parameters
    ----------
    first, second : array_like, shape (n, …)
        What each query brings, in the same order of queries and the same shape for both systems: the listed documents
        as whole numbers with −1 for none, shape (n, k); or values, shape (n,).
    statistic : callable
        Takes an array of shape (R, n, …) and returns R finite numbers, each from one block of shape (n, …).
    resamples : int
        Patterns drawn where not all are enumerated.
    rng : int, SeedSequence, BitGenerator, Generator or None
        Seed or source of the random bits; the bits of a query depend on its position only.
    alternative : {'two-sided', 'greater', 'less'}
        'greater' tests for a larger statistic of the second system.
    batch : int, optional
        Patterns held in memory at once; no number depends on it.

    Returns
    -------
    ListExchangeResult

    Raises
    ------
    RankstatsError
        If the shapes do not fit, or resamples, alternative or batch are out of range.

    References
    ----------
    Fisher 1935; Smucker, Allan & Carterette 2007 (randomisation in IR); Phipson & Smyth 2010 (p-values are never 0).

    Examples
    --------
    Two systems that list two documents for each of four queries; how many different ones do they show?

    >>> same = [[0, 1], [0, 1], [0, 1], [0, 1]]
    >>> varied = [[0, 1], [2, 3], [4, 5], [6, 7]]
    >>> def distinct(lists):
    ...     return np.array([float(len(np.unique(block))) for block in lists])
    >>> result = list_exchange_test(same, varied, distinct)
    >>> result.difference, result.p_value, result.patterns
    (6.0, 0.25, 8)
    """
    pair = _checked(first, second)
    two_sided = check_choice("alternative", alternative, ALTERNATIVES) == "two-sided"
    n = pair.shape[1]
    differs = (pair[0] != pair[1]).reshape(n, -1).any(axis=1)
    signs = JointSigns.of(differs, check_count("resamples", resamples), two_sided=two_sided)
    observed = np.asarray(statistic(pair), dtype=np.float64)
    difference = float(observed[1] - observed[0])
    size = check_count("batch", batch) if batch is not None else max(1, _ELEMENTS_AT_ONCE // max(pair[0].size, 1))
    slack = _slack(pair, observed)
    count = 0
    for _, block in signs.blocks(generator_from(rng), size):
        exchanged = np.zeros((len(block), n), dtype=bool)
        exchanged[:, signs.rows] = block < 0
        count += _reaching(_differences(pair, exchanged, statistic), difference, slack, alternative)
    p_value = float(signs.p_value(np.array(count)))
    return ListExchangeResult(
        first=float(observed[0]),
        second=float(observed[1]),
        difference=difference,
        p_value=float("nan") if np.isnan(difference) else p_value,
        smallest_p=float(signs.p_value(np.array(int(signs.exact)))),
        exact=signs.exact,
        patterns=signs.patterns,
        n=n,
        n_different=len(signs.rows),
        alternative=alternative,
    )


def _checked(first: ArrayLike, second: ArrayLike) -> Parts:
    """Return both systems in one array, shape (2, n, …)."""
    one, other = np.asarray(first), np.asarray(second)
    if one.shape != other.shape or one.ndim == 0 or not one.size:
        raise RankstatsError(
            f"first and second have the shapes {one.shape} and {other.shape}; one block for each query, the same "
            "queries and the same shape for both systems are expected"
        )
    return np.stack([one, other])


def _slack(pair: Parts, observed: Floats) -> float:
    """Return by how much differences of equal size may differ: a part of their size, and the rounding of the values.

    Rounding grows with what is added up; it is taken to be no more than a billionth of the values.
    """
    size = float(np.abs(observed).max())
    if pair.dtype.kind == "f":
        known = np.abs(pair[np.isfinite(pair)])
        size = max(size, float(known.mean()) if known.size else 0.0)
    rounding = min(TOLERANCE, _ROUNDINGS * float(np.finfo(np.float64).eps) * pair[0].size) * size
    return float(max(TOLERANCE * abs(observed[1] - observed[0]), rounding))


def _differences(pair: Parts, exchanged: NDArray[np.bool_], statistic: Statistic) -> Floats:
    """Return second − first after each exchange, shape (R,)."""
    swap = exchanged.reshape(*exchanged.shape, *[1] * (pair.ndim - 2))
    firsts, seconds = np.where(swap, pair[1], pair[0]), np.where(swap, pair[0], pair[1])
    return np.asarray(statistic(seconds), dtype=np.float64) - np.asarray(statistic(firsts), dtype=np.float64)


def _reaching(moved: Floats, difference: float, slack: float, alternative: str) -> int:
    """Count the differences that reach the observed one; an undefined one does, so that p errs on the safe side."""
    if alternative == "two-sided":
        misses = np.abs(moved) < abs(difference) - slack
    else:
        misses = moved < difference - slack if alternative == "greater" else moved > difference + slack
    return int(np.count_nonzero(~misses))
