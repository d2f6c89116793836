"""Level and coverage by simulation: thinned, with fixed seeds and bands of four Monte Carlo standard errors."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from rankstats.stats import (
    adjust,
    bootstrap_max_t,
    paired_bootstrap,
    paired_differences,
    paired_t,
    sign_flip_test,
    signed_rank_test,
)

pytestmark = pytest.mark.slow

ALPHA = 0.05


def _band(rate: float, repetitions: int) -> float:
    return 4 * float(np.sqrt(rate * (1 - rate) / repetitions))


def _reciprocal_ranks(rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
    return 1 / rng.geometric(0.35, shape)


@pytest.mark.parametrize("n", [10, 25, 60])
@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_sign_flips_keep_their_level_when_systems_are_exchangeable(n: int, alternative: str) -> None:
    repetitions = 2000
    rng = np.random.default_rng(n)
    result = sign_flip_test(
        paired_differences(_reciprocal_ranks(rng, (n, repetitions)), _reciprocal_ranks(rng, (n, repetitions))),
        resamples=999,
        alternative=alternative,
    )
    rate = float(np.mean(result.p_value <= ALPHA))
    assert rate <= ALPHA + _band(ALPHA, repetitions)
    assert rate >= ALPHA / 3


@pytest.mark.parametrize(
    ("n", "least", "most"),
    # nominal .95; skewed differences lose a little, as t does
    [(10, 0.90, 0.97), (25, 0.92, 0.97), (100, 0.93, 0.97)],
)
def test_coverage_of_the_intervals_of_the_mean(n: int, least: float, most: float) -> None:
    repetitions = 2000
    rng = np.random.default_rng(100 + n)
    values = rng.gamma(2.0, 0.1, (n, repetitions)) - rng.exponential(0.1, (n, repetitions))
    d = paired_differences(np.zeros((n, repetitions)), values)
    for result in (sign_flip_test(d, resamples=999), paired_t(d)):
        coverage = float(np.mean((result.low <= 0.1) & (result.high >= 0.1)))
        assert least - _band(0.95, repetitions) < coverage < most + _band(0.95, repetitions)
    short = paired_bootstrap(d, resamples=999)
    assert np.mean((short.low <= 0.1) & (short.high >= 0.1)) > least - 0.06


def test_coverage_of_the_pseudo_median() -> None:
    values = np.random.default_rng(1).laplace(0.3, 1, (30, 1500))
    result = signed_rank_test(paired_differences(np.zeros((30, 1500)), values))
    coverage = float(np.mean((result.low <= 0.3) & (result.high >= 0.3)))
    assert abs(coverage - 0.95) < _band(0.95, 1500) + 0.005


@pytest.mark.parametrize(("n", "members"), [(25, 5), (50, 20)])
def test_max_t_and_bonferroni_keep_the_level_of_the_family(n: int, members: int) -> None:
    repetitions = 500
    rng = np.random.default_rng(n)
    rejected = np.zeros((2, repetitions), dtype=bool)
    covered = np.zeros(repetitions, dtype=bool)
    for repetition in range(repetitions):
        shared = rng.normal(0, 1, (n, 1))
        d = paired_differences(np.zeros((n, members)), shared + rng.normal(0, 0.7, (n, members)))
        family = bootstrap_max_t(d, resamples=399, rng=repetition)
        rejected[0, repetition] = np.any(family.p_adjusted <= ALPHA)
        rejected[1, repetition] = np.any(adjust(paired_t(d).p_value, "bonferroni") <= ALPHA)
        covered[repetition] = np.all((family.adjusted_low <= 0) & (family.adjusted_high >= 0))
    rates = rejected.mean(axis=1)
    assert np.all(rates <= ALPHA + _band(ALPHA, repetitions))
    assert rates[0] > 0
    assert covered.mean() == 1 - rates[0]
