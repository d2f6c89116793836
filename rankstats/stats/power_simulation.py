"""Power, queries needed and smallest detectable differences, by simulation from the differences at hand.

Where the formula of the t test assumes normal differences, here the queries themselves are resampled, moved to the
wanted mean and tested. The mean that happened to be observed plays no part.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankstats.errors import RankstatsError
from rankstats.stats.differences import Differences
from rankstats.stats.power import queries_needed
from rankstats.stats.power_repetitions import Repetitions, share_with_error
from rankstats.stats.random_blocks import RNG
from rankstats.stats.results import ColumnResult
from rankstats.stats.validation import check_count

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class SimulatedPowerResult(ColumnResult):
    """Result of `simulated_power`; array fields have shape (c,).

    All but `difference`, `n` and `family_size` are NaN where the differences at hand give no estimate of spread.

    Attributes
    ----------
    difference : ndarray
        The wanted mean difference.
    n : ndarray of int
        Queries of each repetition.
    power_at_n : ndarray
        Share of repetitions with p_adjusted ≤ alpha.
    monte_carlo_error : ndarray
        Its standard error, ``sqrt(x (1 − x) / repetitions)`` with x = (rejections + 1) / (repetitions + 2), so that it
        is not 0 for a share of 0 or 1.
    power_low, power_high : ndarray
        Clopper–Pearson interval of the power, of level 0.95: what more repetitions could show.
    smallest_detectable : ndarray
        Size of the mean difference that is found with probability `power` at n queries; infinite where none is.
    detectable_low, detectable_high : ndarray
        Its Monte Carlo interval of level 0.95.
    family_size : ndarray of int
        Comparisons that the level is divided by.
    power_any, power_all : float
        Share of the repetitions in which any, and in which all, of the columns are found; columns with the same
        queries share their resamples. NaN where a column has no power.
    power, alpha : float
        Wanted power, of `smallest_detectable`; level of the family.
    test, alternative : str
        What was simulated.
    repetitions, resamples : int
        Simulated data sets; sign patterns or bootstrap resamples in each.
    """

    difference: Floats
    n: Integers
    power_at_n: Floats
    monte_carlo_error: Floats
    power_low: Floats
    power_high: Floats
    smallest_detectable: Floats
    detectable_low: Floats
    detectable_high: Floats
    family_size: Integers
    power_any: float
    power_all: float
    power: float
    alpha: float
    test: str
    alternative: str
    repetitions: int
    resamples: int


@dataclass(frozen=True, slots=True, eq=False)
class SimulatedQueriesResult(ColumnResult):
    """Result of `simulated_queries_needed`; array fields have shape (c,).

    Attributes
    ----------
    difference : ndarray
        The wanted mean difference.
    queries_needed : ndarray
        Least number tried whose simulated power reaches `power`, to within 2 %; infinite where `most` queries are not
        enough, NaN where the differences at hand give no estimate of spread.
    queries_low, queries_high : ndarray
        The same for the upper and the lower end of the simulated power's Clopper–Pearson interval of level 0.95: what
        more repetitions could show.
    power_there, monte_carlo_error : ndarray
        Simulated power at `queries_needed` and its standard error.
    formula : ndarray
        What the formula of the t test gives.
    family_size : ndarray of int
        Comparisons that the level is divided by.
    power, alpha : float
        Wanted power; level of the family.
    test, alternative : str
        What was simulated.
    repetitions, resamples : int
        Simulated data sets; sign patterns or bootstrap resamples in each.
    """

    difference: Floats
    queries_needed: Floats
    queries_low: Floats
    queries_high: Floats
    power_there: Floats
    monte_carlo_error: Floats
    formula: Floats
    family_size: Integers
    power: float
    alpha: float
    test: str
    alternative: str
    repetitions: int
    resamples: int


def simulated_power(
    differences: Differences,
    difference: ArrayLike,
    *,
    n: int | None = None,
    test: str = "randomisation",
    alpha: float = 0.05,
    power: float = 0.8,
    alternative: str = "two-sided",
    family_size: ArrayLike = 1,
    repetitions: int = 1_000,
    resamples: int = 999,
    rng: RNG = 0,
) -> SimulatedPowerResult:
    """Simulate the power of a test for a wanted mean difference, and the smallest difference it detects.

    1. The differences at hand are centred at 0 and stretched by √(n / (n − 1)), so that their variance is the unbiased
       estimate, and moved to the wanted mean.
    2. Each repetition draws `n` queries (with their weights) with replacement, the same for all columns with the same
       queries, and is tested; the power is the share of p_adjusted ≤ alpha, that is of intervals that leave out 0.
    3. The intervals move with the differences, so the same repetitions tell which other wanted means each would find:
       the smallest detectable difference is the quantile `power` of these thresholds, in the direction of the wanted
       difference, and the simulated power at it is `power`, to one repetition.

    The power to show non-inferiority within a margin is that of a one-sided test for the true difference plus the
    margin. A simulation knows the queries at hand only: below about 20 of them neither it nor the formula is to be
    relied on.

    Parameters
    ----------
    differences : Differences
        Queries at hand, c columns.
    difference : float or array_like, shape (c,)
        Wanted mean difference (system − baseline); 0 gives the level of the test.
    n : int, optional
        Queries of each repetition; those at hand when not given.
    test : {'randomisation', 'bootstrap', 't'}
        Which test of the mean is made. The sign test has an exact power: `sign_test_power`.
    alpha, power : float
        Level of the family; wanted power.
    alternative : {'two-sided', 'greater', 'less'}
        'greater' tests for a positive mean difference.
    family_size : int or array_like of int, shape (c,)
        Comparisons m; each is tested at alpha / m (Bonferroni).
    repetitions, resamples : int
        Simulated data sets; sign patterns or bootstrap resamples in each.
    rng : int, SeedSequence, BitGenerator, Generator or None
        Seed or source of the random words.

    Returns
    -------
    SimulatedPowerResult

    Raises
    ------
    RankstatsError
        If an argument is out of range.

    References
    ----------
    Efron & Tibshirani 1993, section 25.4 (power from resampled data).

    Examples
    --------
    >>> import numpy as np
    >>> from rankstats.stats import paired_differences
    >>> d = paired_differences(np.zeros(40), np.random.default_rng(1).normal(0.3, 1.0, 40))
    >>> result = simulated_power(d, 0.5, test="t", n=50)
    >>> result.power_at_n.round(2).tolist(), result.monte_carlo_error.round(3).tolist()
    ([0.96], [0.007])
    """
    plan = Repetitions.checked(
        differences,
        difference,
        test=test,
        alpha=alpha,
        power=power,
        alternative=alternative,
        family_size=family_size,
        repetitions=repetitions,
        resamples=resamples,
        rng=rng,
    )
    wanted_n = None if n is None else check_count("n", n, least=2)
    sizes = differences.n if wanted_n is None else np.full(differences.n_columns, wanted_n)
    summaries = np.full((7, differences.n_columns), np.nan)
    found = np.zeros((differences.n_columns, plan.repetitions), dtype=bool)
    testable = plan.spread > 0
    for column in np.flatnonzero(testable):
        low, high = plan.ends(differences, int(column), int(sizes[column]))
        found[column] = (low > 0) | (high < 0)
        summaries[:4, column] = share_with_error(int(found[column].sum()), plan.repetitions)
        summaries[4:, column] = plan.detectable(low, high, float(plan.difference[column]))
    at_n, error, power_low, power_high, detectable, detectable_low, detectable_high = summaries
    known = bool(np.all(testable)) and differences.n_columns > 0
    return SimulatedPowerResult(
        difference=plan.difference,
        n=np.asarray(sizes, dtype=np.int64),
        power_at_n=at_n,
        monte_carlo_error=error,
        power_low=power_low,
        power_high=power_high,
        smallest_detectable=detectable,
        detectable_low=detectable_low,
        detectable_high=detectable_high,
        family_size=plan.family,
        power_any=float(found.any(axis=0).mean()) if known else np.nan,
        power_all=float(found.all(axis=0).mean()) if known else np.nan,
        power=plan.power,
        alpha=plan.alpha,
        test=test,
        alternative=alternative,
        repetitions=plan.repetitions,
        resamples=plan.resamples,
    )


def simulated_queries_needed(
    differences: Differences,
    difference: ArrayLike,
    *,
    test: str = "randomisation",
    alpha: float = 0.05,
    power: float = 0.8,
    alternative: str = "two-sided",
    family_size: ArrayLike = 1,
    repetitions: int = 1_000,
    resamples: int = 999,
    rng: RNG = 0,
    most: int = 20_000,
) -> SimulatedQueriesResult:
    """Simulate the number of queries with which a test finds a wanted mean difference with the given power.

    The number is sought by halving, with the power of each number tried simulated as in `simulated_power`; it is the
    least that reaches `power`, to within 2 %. The search starts where the t test's ends, and that where the formula
    says. With the default sizes each of some ten numbers tried takes a second or two at 200 queries, 't' much less.

    Parameters
    ----------
    differences : Differences
        Queries at hand, c columns.
    difference : float or array_like, shape (c,)
        Wanted mean difference (system − baseline), not 0; for a one-sided test in the direction of the alternative.
    test, alpha, power, alternative, family_size, repetitions, resamples, rng
        As in `simulated_power`.
    most : int
        The largest number tried.

    Returns
    -------
    SimulatedQueriesResult

    Raises
    ------
    RankstatsError
        If an argument is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from rankstats.stats import paired_differences
    >>> d = paired_differences(np.zeros(40), np.random.default_rng(1).normal(0.3, 1.0, 40))
    >>> result = simulated_queries_needed(d, 0.5, test="t")
    >>> result.queries_needed.tolist(), result.formula.tolist()
    ([30.0], [30.0])
    """
    plan = Repetitions.checked(
        differences,
        difference,
        test=test,
        alpha=alpha,
        power=power,
        alternative=alternative,
        family_size=family_size,
        repetitions=repetitions,
        resamples=resamples,
        rng=rng,
    )
    wrong = {"two-sided": plan.difference == 0, "greater": plan.difference <= 0, "less": plan.difference >= 0}
    if np.any(wrong[alternative]):
        raise RankstatsError(f"difference: other than 0 and in the direction of alternative = {alternative!r} expected")
    most = check_count("most", most, least=2)
    read = np.array([_search(differences, column, plan, most) for column in range(differences.n_columns)])
    needed, low, high, there, error, formula = read.reshape(-1, 6).T
    return SimulatedQueriesResult(
        difference=plan.difference,
        queries_needed=needed,
        queries_low=low,
        queries_high=high,
        power_there=there,
        monte_carlo_error=error,
        formula=formula,
        family_size=plan.family,
        power=plan.power,
        alpha=plan.alpha,
        test=test,
        alternative=alternative,
        repetitions=plan.repetitions,
        resamples=plan.resamples,
    )


def _search(differences: Differences, column: int, plan: Repetitions, most: int) -> tuple[float, ...]:
    """Return the numbers for the wanted power, optimistic and pessimistic; power and error; the formula's number."""
    spread, family = float(plan.spread[column]), int(plan.family[column])
    if not spread > 0:
        return (np.nan,) * 6
    formula = queries_needed(
        spread,
        float(plan.difference[column]),
        alpha=plan.alpha,
        power=plan.power,
        two_sided=plan.alternative == "two-sided",
        family_size=family,
    )
    tried: dict[int, tuple[float, float, float, float]] = {}

    def share(n: int) -> tuple[float, float, float, float]:
        if n not in tried:
            low, high = plan.ends(differences, column, n)
            tried[n] = share_with_error(int(np.count_nonzero((low > 0) | (high < 0))), plan.repetitions)
        return tried[n]

    start = formula
    if plan.test != "t":
        start = int(min(_search(differences, column, replace(plan, test="t"), most)[0], most))
    needed = _least(lambda n: share(n)[0] >= plan.power, start, most)
    optimistic = _least(lambda n: share(n)[3] >= plan.power, needed or most, most)
    pessimistic = _least(lambda n: share(n)[2] >= plan.power, needed or most, most)
    there, error = share(needed)[:2] if needed else (np.nan, np.nan)
    return *(float(n or np.inf) for n in (needed, optimistic, pessimistic)), there, error, float(formula)


def _least(enough: Callable[[int], bool], start: int, most: int) -> int | None:
    """Return the least number from 2 to `most` that is enough, to within 2 %; None when there is none."""
    low, high = 1, min(max(start, 2), most)
    step = max(1, high // 16)
    if enough(high):
        while high - step > 1 and enough(high - step):
            high, step = high - step, 2 * step
        low = max(1, high - step)
    else:
        while not enough(high):
            if high == most:
                return None
            low, high, step = high, min(high + step, most), 2 * step
    while high - low > max(1, high // 50):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
