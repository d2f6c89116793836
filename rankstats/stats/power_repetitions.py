"""Repetitions of an experiment with queries resampled from those at hand and moved to a wanted mean difference."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from rankstats.errors import RankstatsError
from rankstats.stats.bootstrap import paired_bootstrap
from rankstats.stats.classical import paired_t
from rankstats.stats.differences import Differences, paired_differences
from rankstats.stats.random_blocks import RNG, generator_from, index_words
from rankstats.stats.sign_flips import sign_flip_test
from rankstats.stats.validation import ALTERNATIVES, check_alpha, check_choice, check_count, check_family_size

SIMULATED_TESTS = ("randomisation", "bootstrap", "t")
"""Tests of a mean difference: their intervals move with the differences."""

_REPETITIONS_AT_ONCE = 128
_MONTE_CARLO_ALPHA = 0.05

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Ends = tuple[Floats, Floats]


@dataclass(frozen=True, slots=True)
class Repetitions:
    """The checked question, and the seeds from which every column and every n starts afresh."""

    difference: Floats
    spread: Floats
    test: str
    alpha: float
    power: float
    alternative: str
    family: Integers
    repetitions: int
    resamples: int
    seeds: tuple[int, int]

    @classmethod
    def checked(
        cls,
        differences: Differences,
        difference: ArrayLike,
        *,
        test: str,
        alpha: float,
        power: float,
        alternative: str,
        family_size: ArrayLike,
        repetitions: int,
        resamples: int,
        rng: RNG,
    ) -> Repetitions:
        """Check what the functions of `power_simulation` take."""
        check_choice("test", test, SIMULATED_TESTS)
        check_choice("alternative", alternative, ALTERNATIVES)
        if not check_alpha(alpha) < power < 1:
            raise RankstatsError(f"power = {power!r}: a number between alpha = {alpha!r} and 1 is expected")
        family = check_family_size(family_size, differences.n_columns)
        wanted = np.asarray(difference, dtype=np.float64)
        if wanted.shape not in ((), family.shape) or not np.all(np.isfinite(wanted)):
            raise RankstatsError(
                f"difference: one finite number, or one for each of {len(family)} columns, is expected"
            )
        return cls(
            difference=np.broadcast_to(wanted, family.shape).copy(),
            spread=differences.standard_error * np.sqrt(differences.n),
            test=test,
            alpha=float(alpha),
            power=float(power),
            alternative=alternative,
            family=family,
            repetitions=check_count("repetitions", repetitions),
            resamples=check_count("resamples", resamples),
            seeds=_two_seeds(rng),
        )

    def ends(self, differences: Differences, column: int, n: int) -> Ends:
        """Return the intervals of all repetitions of a column, each of shape (repetitions,)."""
        rows = np.flatnonzero(differences.present[:, column])
        stretch = np.sqrt(len(rows) / (len(rows) - 1))
        population = differences.centred()[rows, column] * stretch + self.difference[column]
        weights = differences.weights[rows] if differences.weighted else None
        queries, flips = (np.random.default_rng(seed) for seed in self.seeds)
        low, high = np.empty(self.repetitions), np.empty(self.repetitions)
        for at, words in index_words(queries, n, self.repetitions, _REPETITIONS_AT_ONCE):
            drawn = ((words.astype(np.uint64) * np.uint64(len(rows))) >> np.uint64(32)).astype(np.int64).T
            if weights is None:
                sample = paired_differences(np.zeros((n, 1)), population[drawn])
                low[at], high[at] = self._intervals(sample, int(self.family[column]), flips)
                continue
            for repetition, chosen in zip(range(at.start, at.stop), drawn.T, strict=True):
                sample = paired_differences(np.zeros(n), population[chosen], weights[chosen])
                found = self._intervals(sample, int(self.family[column]), flips)
                low[repetition], high[repetition] = found[0][0], found[1][0]
        return low, high

    def _intervals(self, sample: Differences, family: int, generator: np.random.Generator) -> Ends:
        if self.test == "t":
            t = paired_t(sample, alpha=self.alpha / family, alternative=self.alternative)
            return t.low, t.high
        test = sign_flip_test if self.test == "randomisation" else paired_bootstrap
        result = test(
            sample,
            alpha=self.alpha,
            alternative=self.alternative,
            family_size=family,
            resamples=self.resamples,
            rng=generator,
        )
        return result.adjusted_low, result.adjusted_high

    def detectable(self, low: Floats, high: Floats, difference: float) -> tuple[float, float, float]:
        """Return the size that the wanted share of repetitions would find, and its Monte Carlo interval."""
        downwards = self.alternative == "less" or (self.alternative == "two-sided" and difference < 0)
        # with no difference anywhere there is no interval, and nothing is found
        sizes = np.sort(np.nan_to_num(high - difference if downwards else difference - low, nan=np.inf, posinf=np.inf))
        wanted = int(np.ceil(self.power * self.repetitions))
        spread = special.ndtri(1 - _MONTE_CARLO_ALPHA / 2) * np.sqrt(self.repetitions * self.power * (1 - self.power))
        places = (wanted, int(np.floor(wanted - spread)), int(np.ceil(wanted + spread)))
        ordered = np.concatenate([[0.0], np.maximum(sizes, 0.0), [np.inf]])
        at, under, over = (float(ordered[min(max(place, 0), self.repetitions + 1)]) for place in places)
        return at, under, over


def _two_seeds(rng: RNG) -> tuple[int, int]:
    first, second = generator_from(rng).integers(0, 2**63 - 1, size=2).tolist()
    return first, second


def share_with_error(found: int, repetitions: int) -> tuple[float, float, float, float]:
    """Return a share, its standard error and its Clopper–Pearson interval."""
    smoothed = (found + 1) / (repetitions + 2)
    half = _MONTE_CARLO_ALPHA / 2
    low = special.betaincinv(found, repetitions - found + 1, half) if found else 0.0
    high = special.betaincinv(found + 1, repetitions - found, 1 - half) if found < repetitions else 1.0
    return found / repetitions, float(np.sqrt(smoothed * (1 - smoothed) / repetitions)), float(low), float(high)
