"""Tests of interleaved comparisons: which ranker wins more impressions, at the level of units, queries, impressions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankstats.errors import RankstatsError
from rankstats.stats.classical import sign_test
from rankstats.stats.clusters import cluster_sums
from rankstats.stats.confidence_sequences import ConfidenceSequence, confidence_sequence
from rankstats.stats.differences import Differences, paired_differences
from rankstats.stats.interleaving_credit import Credits
from rankstats.stats.random_blocks import RNG, generator_from, replayed
from rankstats.stats.resampling import label_codes
from rankstats.stats.results import ColumnResult
from rankstats.stats.sign_flips import SignFlipResult, sign_flip_test
from rankstats.stats.validation import check_alpha, check_choice, check_count

OUTCOMES = ("wins", "clicks")

_TIE = 1e-9
"""Credits of one impression that differ by no more are equal: shares of clicks are rounded."""

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Labels = NDArray[np.generic]


@dataclass(frozen=True, slots=True, eq=False)
class InterleavingResult(ColumnResult):
    """Result of `interleaving_test`; array fields have one entry a pair of rankers.

    Attributes
    ----------
    ranker_a, ranker_b : ndarray of str
        The rankers.
    impressions, without_clicks : ndarray of int
        Impressions, and those of them without any click, which decide nothing.
    wins_a, ties, wins_b : ndarray of int
        Impressions with clicks by which ranker has more credit.
    win_share : ndarray
        (wins of b + half the ties) / impressions with clicks; NaN without any.
    estimate : ndarray
        'wins': win share − ½ (Δ of Chapelle et al.); 'clicks': mean credit of b less that of a. Positive for b.
    p_value, low, high : ndarray
        Of the sign flips at the level of `tested_at`; p ≤ alpha exactly when the interval leaves out 0. NaN without
        clicks.
    p_adjusted, adjusted_low, adjusted_high : ndarray
        Bonferroni over the pairs.
    standard_error : ndarray
        Of the estimate, between whole units (or what is tested); NaN with fewer than two.
    p_unit, p_query, p_impression : ndarray
        Sign flips of whole units, of whole queries, and of impressions; NaN where no labels were given.
    low_unit, high_unit, low_query, high_query, low_impression, high_impression : ndarray
        The intervals that belong to them.
    p_binomial : ndarray
        Sign test of the impressions' wins without ties: right only if impressions are independent.
    units, queries : ndarray of int
        Units and queries with clicks; 0 where no labels were given.
    tested_at : str
        'unit', 'query' or 'impression': the first of these for which there are labels.
    outcome : str
        'wins' or 'clicks'.
    alpha : float
        Level.
    """

    ranker_a: NDArray[np.str_]
    ranker_b: NDArray[np.str_]
    impressions: Integers
    without_clicks: Integers
    wins_a: Integers
    ties: Integers
    wins_b: Integers
    win_share: Floats
    estimate: Floats
    p_value: Floats
    low: Floats
    high: Floats
    p_adjusted: Floats
    adjusted_low: Floats
    adjusted_high: Floats
    standard_error: Floats
    p_unit: Floats
    low_unit: Floats
    high_unit: Floats
    p_query: Floats
    low_query: Floats
    high_query: Floats
    p_impression: Floats
    low_impression: Floats
    high_impression: Floats
    p_binomial: Floats
    units: Integers
    queries: Integers
    tested_at: str
    outcome: str
    alpha: float


def impression_outcomes(credits: Credits, outcome: str = "wins") -> Floats:
    """Return what each impression says, shape (m,), positive for ranker b; NaN without clicks.

    Parameters
    ----------
    credits : Credits
        From one of the functions of `interleaving_credit`.
    outcome : {'wins', 'clicks'}
        ½ for the ranker with more credit, 0 for a tie; or the difference of the credits.

    Examples
    --------
    >>> from rankstats.stats.interleaving_credit import team_draft_credits
    >>> impression_outcomes(team_draft_credits([1, 1, 2], [-1, 1, 1], [0, 2, 0])).tolist()
    [0.5, nan]
    """
    check_choice("outcome", outcome, OUTCOMES)
    difference = credits.credit_b - credits.credit_a
    difference = np.where(np.abs(difference) <= _TIE, 0.0, difference)
    values = np.sign(difference) / 2 if outcome == "wins" else difference
    return np.where(credits.clicks > 0, values, np.nan)


def interleaving_test(
    credits: Credits,
    *,
    units: ArrayLike | None = None,
    queries: ArrayLike | None = None,
    ranker_a: ArrayLike = "a",
    ranker_b: ArrayLike = "b",
    baseline: str | None = None,
    outcome: str = "wins",
    alpha: float = 0.05,
    resamples: int = 10_000,
    rng: RNG = 0,
    beside: bool = True,
) -> InterleavingResult:
    """Test which of two rankers wins more, for each pair of rankers in a log.

    1. Impressions without clicks decide nothing and are counted apart; ties count half for each.
    2. The rankers of an impression may be logged in either order. In the result ranker a is the baseline where it is
       one of the two, else the one whose name comes first.
    3. Impressions of one unit (user) are not independent, nor are those of one query: signs of whole units, and of
       whole queries, are flipped; the estimate stays the mean over impressions. That is exact where, under no
       preference, the rankers' parts could have been exchanged: in team-draft and probabilistic interleaving.

    Parameters
    ----------
    credits : Credits
        Of m impressions.
    units, queries : array_like, shape (m,), optional
        Unit and query of each impression; from ``credits.of_impressions(column)``.
    ranker_a, ranker_b : str or array_like of str, shape (m,)
        Names of the rankers of each impression.
    baseline : str, optional
        The ranker that the others are compared with.
    outcome : {'wins', 'clicks'}
        What an impression says: see `impression_outcomes`.
    alpha : float
        Level of tests and intervals.
    resamples : int
        Sign patterns drawn where not all are enumerated.
    rng : int, SeedSequence, BitGenerator, Generator or None
        Seed or source of the random bits; the same for all pairs and levels.
    beside : bool
        Whether the levels beside the one that is tested are tested too; else their fields are NaN.

    Returns
    -------
    InterleavingResult

    Raises
    ------
    RankstatsError
        If shapes do not fit, there are no impressions, or a ranker is compared with itself.

    References
    ----------
    Chapelle, Joachims, Radlinski & Yue 2012.

    Examples
    --------
    >>> from rankstats.stats.interleaving_credit import team_draft_credits
    >>> credits = team_draft_credits([1, 1, 2, 2, 3, 3], [-1, 1, 1, -1, -1, 1], [0, 1, 1, 0, 1, 1])
    >>> result = interleaving_test(credits, units=["u", "u", "v"])
    >>> result.wins_b.tolist(), result.ties.tolist(), result.win_share.round(3).tolist(), result.p_unit.tolist()
    ([2], [1], [0.833], [1.0])
    """
    alpha, count = check_alpha(alpha), len(credits.impressions)
    if not count:
        raise RankstatsError("there are no impressions to compare rankers by")
    labels = [
        None if of is None else label_codes(of, count, name) for of, name in ((units, "units"), (queries, "queries"))
    ]
    pairs, pair_of, turned = _pairs(ranker_a, ranker_b, baseline, count)
    values = impression_outcomes(credits.swapped(turned), outcome)
    generator = generator_from(rng)
    check_count("resamples", resamples)

    def flip(differences: Differences) -> SignFlipResult:
        same = replayed(generator)
        return sign_flip_test(differences, alpha=alpha, resamples=resamples, rng=same, family_size=len(pairs))

    read = [
        _Read.of(values[pair_of == place], [_at(of, pair_of == place) for of in labels]) for place in range(len(pairs))
    ]
    level = 0 if units is not None else 1 if queries is not None else 2
    levels = range(3) if beside else (level,)
    tests = [[one.flipped(flip, place) if place in levels else None for place in range(3)] for one in read]
    return _result(pairs, read, tests, level=level, outcome=outcome, alpha=alpha)


def _pairs(
    ranker_a: ArrayLike, ranker_b: ArrayLike, baseline: str | None, count: int
) -> tuple[list[tuple[str, str]], Integers, NDArray[np.bool_]]:
    """Return the pairs in order, the pair of each impression, and where the log has it the other way round."""
    given = [np.asarray(ranker) for ranker in (ranker_a, ranker_b)]
    if any(ranker.shape not in ((), (count,)) for ranker in given):
        raise RankstatsError(
            f"ranker_a and ranker_b: one name, or one for each of the {count} impressions, is expected"
        )
    named = [_named(ranker) for ranker in given]
    names = sorted({name for found, _ in named for name in found}, key=lambda name: (name != baseline, name))
    place = {name: number for number, name in enumerate(names)}
    first, second = (
        np.broadcast_to(np.array([place[name] for name in found], dtype=np.int64)[codes], (count,))
        for found, codes in named
    )
    itself = first[first == second]
    if len(itself):
        raise RankstatsError(f"ranker {names[itself[0]]} is compared with itself")
    turned = first > second
    together = np.minimum(first, second) * len(names) + np.maximum(first, second)
    there = np.unique(together)
    pairs = [(names[key // len(names)], names[key % len(names)]) for key in there.tolist()]
    return pairs, np.searchsorted(there, together), turned


def _named(ranker: Labels) -> tuple[list[str], Integers]:
    """Return the distinct names of rankers and the place of each."""
    if ranker.dtype.kind != "O":
        ranker = ranker.astype(str)
        distinct, codes = np.unique(ranker, return_inverse=True)
        return distinct.tolist(), codes.reshape(ranker.shape).astype(np.int64)
    place: dict[str, int] = {}
    codes = np.array([place.setdefault(str(name), len(place)) for name in ranker.ravel().tolist()], dtype=np.int64)
    return list(place), codes.reshape(ranker.shape)


def _at(labels: Integers | None, inside: NDArray[np.bool_]) -> Integers | None:
    return None if labels is None else labels[inside]


@dataclass(frozen=True, slots=True, eq=False)
class _Read:
    """Outcomes of one pair's impressions that have clicks, their units and queries, and how many have none."""

    values: Floats
    labels: list[Integers | None]
    without_clicks: int

    @classmethod
    def of(cls, values: Floats, labels: list[Integers | None]) -> _Read:
        known = ~np.isnan(values)
        return cls(values[known], [_at(of, known) for of in labels], int(np.count_nonzero(~known)))

    @property
    def differences(self) -> Differences:
        """Outcomes as differences from none."""
        return paired_differences(np.zeros(len(self.values)), self.values)

    def at(self, level: int) -> Differences | None:
        """Return the outcomes of whole units (0), of whole queries (1) or of impressions (2); None without labels."""
        if level == len(self.labels):
            return self.differences
        of = self.labels[level]
        return None if of is None else cluster_sums(self.differences, of)

    def flipped(self, flip: Callable[[Differences], SignFlipResult], level: int) -> SignFlipResult | None:
        """Return the test at a level; None without labels."""
        differences = self.at(level)
        return None if differences is None else flip(differences)

    def standard_error(self, level: int) -> float:
        """Return the standard error of the mean outcome at a level."""
        differences = self.at(level)
        return np.nan if differences is None or not len(self.values) else float(differences.standard_error[0])

    def distinct(self, level: int) -> int:
        """Return how many units (0) or queries (1) there are."""
        of = self.labels[level]
        return 0 if of is None else len(np.unique(of))


def _result(
    pairs: list[tuple[str, str]],
    read: list[_Read],
    tests: list[list[SignFlipResult | None]],
    *,
    level: int,
    outcome: str,
    alpha: float,
) -> InterleavingResult:
    wins_b, wins_a = (
        np.array([np.count_nonzero(sign * one.values > 0) for one in read], dtype=np.int64) for sign in (1, -1)
    )
    n = np.array([len(one.values) for one in read], dtype=np.int64)
    without = np.array([one.without_clicks for one in read], dtype=np.int64)
    main = [_known(of_pair[level]) for of_pair in tests]

    def of_main(name: str) -> Floats:
        return np.array([getattr(test, name)[0] for test in main])

    beside = {
        f"{short}_{name}": np.array([np.nan if test is None else getattr(test, field)[0] for test in column])
        for name, column in zip(("unit", "query", "impression"), zip(*tests, strict=True), strict=True)
        for short, field in (("p", "p_value"), ("low", "low"), ("high", "high"))
    }
    ties = n - wins_a - wins_b
    return InterleavingResult(
        ranker_a=np.array([pair[0] for pair in pairs]),
        ranker_b=np.array([pair[1] for pair in pairs]),
        impressions=n + without,
        without_clicks=without,
        wins_a=wins_a,
        ties=ties,
        wins_b=wins_b,
        win_share=(wins_b + ties / 2) / np.where(n > 0, n, np.nan),
        estimate=np.array([one.differences.mean[0] for one in read]),
        p_value=of_main("p_value"),
        low=of_main("low"),
        high=of_main("high"),
        p_adjusted=of_main("p_adjusted"),
        adjusted_low=of_main("adjusted_low"),
        adjusted_high=of_main("adjusted_high"),
        standard_error=np.array([one.standard_error(level) for one in read]),
        **beside,
        p_binomial=np.array([sign_test(one.differences).p_value[0] for one in read]),
        units=np.array([one.distinct(0) for one in read], dtype=np.int64),
        queries=np.array([one.distinct(1) for one in read], dtype=np.int64),
        tested_at=("unit", "query", "impression")[level],
        outcome=outcome,
        alpha=alpha,
    )


def _known(test: SignFlipResult | None) -> SignFlipResult:
    if test is None:
        raise RankstatsError("there are no labels for the level that is tested")
    return test


def interleaving_sequence(
    outcomes: ArrayLike,
    looks: ArrayLike,
    *,
    n_star: int,
    units: ArrayLike | None = None,
    alpha: float = 0.05,
    least_n: int = 30,
) -> ConfidenceSequence:
    """Return the confidence sequence of the mean outcome of impressions that come in over time.

    At each look: the mean over the impressions until then, its standard error between whole units, and the number of
    units as n.

    Parameters
    ----------
    outcomes : array_like, shape (m,)
        From `impression_outcomes`, in the order of time; NaN (no clicks) decides nothing.
    looks : array_like of int
        Number of impressions until each look, ascending.
    n_star : int
        Units (impressions where no units are given) that the experiment is planned for, declared beforehand.
    units : array_like, shape (m,), optional
        Unit of each impression.
    alpha : float
        Level of the whole sequence.
    least_n : int
        Looks at fewer units claim nothing: with few units, some of them with most of the impressions, the standard
        error comes out too small.

    Returns
    -------
    ConfidenceSequence
        One column a look; see `running_sequence`.

    Raises
    ------
    RankstatsError
        If shapes do not fit or looks are not ascending.

    Examples
    --------
    >>> outcomes = np.tile([0.5, 0.5, -0.5, 0.0], 100)
    >>> sequence = interleaving_sequence(outcomes, [100, 400], n_star=400)
    >>> sequence.estimate.tolist(), sequence.low.round(3).tolist()
    ([0.125, 0.125], [-0.011, 0.062])
    """
    values = np.asarray(outcomes, dtype=np.float64)
    ends = np.atleast_1d(np.asarray(looks))
    if values.ndim != 1 or ends.ndim != 1 or np.any(ends != np.floor(ends)) or np.any(np.diff(ends) <= 0):
        raise RankstatsError("looks: whole numbers of impressions in ascending order are expected")
    if len(ends) and (ends[0] < 1 or ends[-1] > len(values)):
        raise RankstatsError(f"looks: numbers from 1 to the {len(values)} impressions are expected")
    labels = np.arange(len(values)) if units is None else label_codes(units, len(values), "units")
    known = ~np.isnan(values)
    read = []
    for end in ends.astype(np.int64):
        inside = np.flatnonzero(known[:end])
        until = cluster_sums(paired_differences(np.zeros(len(inside)), values[inside]), labels[inside])
        read.append((until.mean[0], np.nan_to_num(until.standard_error[0]), until.n[0]))
    mean, error, n = np.array(read, dtype=np.float64).reshape(-1, 3).T
    return confidence_sequence(mean, error, n, n_star=n_star, alpha=alpha, least_n=least_n)
