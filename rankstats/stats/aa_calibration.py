"""A/A calibration: level and coverage of the tests on values at hand, where the truth is made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankstats.errors import RankstatsError
from rankstats.stats.bootstrap import paired_bootstrap
from rankstats.stats.classical import paired_t, sign_test
from rankstats.stats.differences import Differences, paired_differences
from rankstats.stats.sign_flips import sign_flip_test
from rankstats.stats.signed_ranks import signed_rank_test
from rankstats.stats.validation import check_alpha, check_count

CALIBRATED_TESTS = ("randomisation", "t", "bootstrap", "wilcoxon", "sign")
"""The tests, those of the mean first, in the order in which they are preferred."""
TESTS_OF_THE_MEAN = CALIBRATED_TESTS[:3]
BAND = 3.0
"""Monte Carlo standard errors by which a rate may pass its level."""

_COLUMNS_AT_ONCE = 200
_MUCH_NARROWER = 0.9

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class CalibratedTest:
    """How one test fares.

    Attributes
    ----------
    test : str
        One of `CALIBRATED_TESTS`.
    level_exchanged : float
        Share of A/A comparisons with p ≤ alpha, the two systems' values exchanged at random on every query: nothing
        differs, in no respect.
    level_equal_means : float
        The same with the observed differences less their mean: only the means are equal, shapes stay as they are.
    coverage : float
        Share of intervals, queries drawn as they are, that hold the true mean difference; NaN for tests that are about
        another parameter.
    width : float
        Mean width of these intervals over that of t; NaN likewise.
    keeps_level : bool
        Whether neither level passes alpha by more than 3 Monte Carlo standard errors.
    """

    test: str
    level_exchanged: float
    level_equal_means: float
    coverage: float
    width: float
    keeps_level: bool


@dataclass(frozen=True, slots=True)
class Calibration:
    """Result of `calibrate_tests`.

    Attributes
    ----------
    tests : tuple of CalibratedTest
        One a test, in the order of `CALIBRATED_TESTS`.
    trusted : str or None
        The test of the mean to trust at this n: of those that keep their level the first, unless the intervals of a
        later one cover as often as they say and are narrower by more than 10 %; None where none keeps its level.
    n : int
        Queries of each repetition.
    queries, pairs : int
        Queries at hand, and pairs of different systems.
    alpha, monte_carlo_error : float
        The level, and the standard error of a rate that is equal to it.
    repetitions, resamples : int
        Repetitions for each rate; sign patterns and resamples in each.
    """

    tests: tuple[CalibratedTest, ...]
    trusted: str | None
    n: int
    queries: int
    pairs: int
    alpha: float
    monte_carlo_error: float
    repetitions: int
    resamples: int


def calibrate_tests(
    values: ArrayLike,
    *,
    n: int | None = None,
    alpha: float = 0.05,
    repetitions: int = 500,
    resamples: int = 999,
    rng: int = 0,
) -> Calibration:
    """Return level and coverage of the tests on the values of one measure.

    Each repetition takes a random pair of different systems and draws n queries with replacement, so the queries at
    hand are the whole population and every true difference is known.

    Parameters
    ----------
    values : array_like, shape (Q, S)
        Values of S systems; queries with a NaN are left out.
    n : int, optional
        Queries of each repetition; those at hand when not given.
    alpha : float
        Level.
    repetitions, resamples : int
        Repetitions for each rate; sign patterns and resamples in each.
    rng : int
        Seed.

    Returns
    -------
    Calibration

    Raises
    ------
    RankstatsError
        If there are no two different systems, fewer than two queries, or a number is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> values = np.random.default_rng(1).normal(0.5, 0.2, (40, 3))
    >>> found = calibrate_tests(values, repetitions=100, resamples=199)
    >>> found.n, found.pairs, found.trusted
    (40, 3, 'randomisation')
    """
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2:
        raise RankstatsError(f"values have {table.ndim} dimensions; queries x systems are expected")
    table = table[~np.isnan(table).any(axis=1)]
    pairs = _pairs(table)
    if len(table) < 2 or not len(pairs):
        raise RankstatsError("an A/A calibration needs two systems that differ on some query, and two queries or more")
    size = len(table) if n is None else check_count("n", n, least=2)
    alpha, repetitions = check_alpha(alpha), check_count("repetitions", repetitions)
    draws = _Draws(table, pairs, size, alpha, check_count("resamples", resamples))
    rates = draws.rates(repetitions, np.random.default_rng(rng))
    error = float(np.sqrt(alpha * (1 - alpha) / repetitions))
    tests = tuple(
        CalibratedTest(name, *found, keeps_level=max(found[:2]) <= alpha + BAND * error)
        for name, found in rates.items()
    )
    trusted = _trusted(tests, 1 - alpha)
    return Calibration(tests, trusted, size, len(table), len(pairs), alpha, error, repetitions, draws.resamples)


def _pairs(table: Floats) -> NDArray[np.int64]:
    """Return all pairs of systems that differ on some query, shape (pairs, 2)."""
    systems = range(table.shape[1])
    found = [(a, b) for a in systems for b in systems if a < b and np.any(table[:, a] != table[:, b])]
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def _trusted(tests: tuple[CalibratedTest, ...], level: float) -> str | None:
    kept = [test for test in tests if test.test in TESTS_OF_THE_MEAN and test.keeps_level]
    if not kept:
        return None
    better = [t for t in kept[1:] if t.coverage >= level and t.width < _MUCH_NARROWER * kept[0].width]
    return (better or kept)[0].test


@dataclass(frozen=True, slots=True)
class _Draws:
    table: Floats
    pairs: NDArray[np.int64]
    n: int
    alpha: float
    resamples: int

    def rates(self, repetitions: int, rng: np.random.Generator) -> dict[str, tuple[float, float, float, float]]:
        """Return for each test the two levels, the coverage and the width over that of t."""
        errors = {name: np.zeros(3) for name in CALIBRATED_TESTS}
        widths: dict[str, list[Floats]] = {name: [] for name in CALIBRATED_TESTS}
        for start in range(0, repetitions, _COLUMNS_AT_ONCE):
            drawn = self._draw(min(_COLUMNS_AT_ONCE, repetitions - start), rng)
            for place, (differences, truth) in enumerate(drawn):
                for name, (p, *ends) in self._tested(differences, rng).items():
                    if place < 2:
                        errors[name][place] += np.count_nonzero(p <= self.alpha)
                        continue
                    slack = 1e-9 * (1 + np.abs(truth))
                    # without any difference there is no interval: the point 0; an unbounded end stays infinite
                    low, high = (np.where(np.isnan(end), 0.0, end) for end in ends)
                    errors[name][2] += np.count_nonzero((low > truth + slack) | (high < truth - slack))
                    widths[name].append(high - low)
        return {name: self._summary(name, errors[name] / repetitions, widths) for name in CALIBRATED_TESTS}

    def _summary(self, name: str, rates: Floats, widths: dict[str, list[Floats]]) -> tuple[float, float, float, float]:
        if name not in TESTS_OF_THE_MEAN:
            return float(rates[0]), float(rates[1]), float("nan"), float("nan")
        own, of_t = np.concatenate(widths[name]), np.concatenate(widths["t"])
        bounded = np.isfinite(own) & np.isfinite(of_t)
        total = of_t[bounded].sum()
        width = float(own[bounded].sum() / total) if total > 0 else float("nan")
        return float(rates[0]), float(rates[1]), 1 - float(rates[2]), width

    def _draw(self, columns: int, rng: np.random.Generator) -> tuple[tuple[Differences, Floats], ...]:
        """Return drawn differences and their true means: exchanged, with equal means, and as they are."""
        first, second = self.pairs[rng.integers(0, len(self.pairs), columns)].T
        rows = rng.integers(0, len(self.table), (self.n, columns))
        before, after = self.table[rows, first], self.table[rows, second]
        truth = (self.table[:, second] - self.table[:, first]).mean(axis=0)
        swap = rng.integers(0, 2, before.shape) == 1
        exchanged = paired_differences(np.where(swap, after, before), np.where(swap, before, after))
        centred = paired_differences(np.zeros(before.shape), after - before - truth)
        none = np.zeros(columns)
        return (exchanged, none), (centred, none), (paired_differences(before, after), truth)

    def _tested(self, differences: Differences, rng: np.random.Generator) -> dict[str, tuple[Floats, Floats, Floats]]:
        asked: dict[str, Any] = {"alpha": self.alpha, "resamples": self.resamples, "rng": rng}
        tests: dict[str, Callable[[], Any]] = {
            "randomisation": lambda: sign_flip_test(differences, **asked),
            "t": lambda: paired_t(differences, alpha=self.alpha),
            "bootstrap": lambda: paired_bootstrap(differences, **asked),
            "wilcoxon": lambda: signed_rank_test(differences, alpha=self.alpha),
            "sign": lambda: sign_test(differences, alpha=self.alpha),
        }
        found = {name: test() for name, test in tests.items()}
        return {name: (result.p_value, result.low, result.high) for name, result in found.items()}
