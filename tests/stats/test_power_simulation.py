from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from rankstats.errors import RankstatsError
from rankstats.stats import (
    Differences,
    paired_differences,
    power_analysis,
    simulated_power,
    simulated_queries_needed,
)

QUICK: dict[str, Any] = {"repetitions": 300, "resamples": 199}
TESTS = ["t", "randomisation", "bootstrap"]


def _normal(n: int = 60, columns: int = 1, weights: Any = None, seed: int = 1) -> Differences:
    values = np.random.default_rng(seed).normal(0.3, 1.0, (n, columns))
    return paired_differences(np.zeros((n, columns)), values, weights)


@pytest.mark.parametrize("test", TESTS)
def test_agrees_with_the_formula_for_normal_differences(test: str) -> None:
    d = _normal(200)
    result, formula = simulated_power(d, 0.35, n=60, test=test, **QUICK), power_analysis(d, 0.35, n=60)
    # four standard errors, and what 199 patterns cost
    assert abs(result.power_at_n[0] - formula.power_at_n[0]) < 4 * result.monte_carlo_error[0] + 0.02
    assert result.detectable_low[0] <= result.smallest_detectable[0] <= result.detectable_high[0]
    assert_allclose(result.smallest_detectable, formula.smallest_detectable, rtol=0.1)


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_power_at_the_smallest_detectable_is_the_wanted_power(test: str, alternative: str) -> None:
    d, sign = _normal(40), -1 if alternative == "less" else 1
    arguments: dict[str, Any] = {"test": test, "alternative": alternative, **QUICK}
    smallest = simulated_power(d, sign * 0.5, **arguments).smallest_detectable[0]
    there = simulated_power(d, sign * smallest * (1 + 1e-6), **arguments)
    below = simulated_power(d, sign * smallest * (1 - 1e-6), **arguments)
    assert there.power_at_n[0] == pytest.approx(0.8, abs=1e-12)
    assert below.power_at_n[0] < 0.8


def test_downwards_is_the_mirror_image() -> None:
    d = _normal(40)
    up, down = simulated_power(d, 0.4, test="t", **QUICK), simulated_power(d.negated(), -0.4, test="t", **QUICK)
    assert_array_equal(up.power_at_n, down.power_at_n)
    assert_allclose(up.smallest_detectable, down.smallest_detectable, rtol=1e-7)


def test_observed_mean_plays_no_part_and_scale_does_not_matter() -> None:
    values = np.random.default_rng(1).normal(0, 1, 40)
    one = simulated_power(paired_differences(np.zeros(40), values), 0.4, **QUICK)
    moved = simulated_power(paired_differences(np.zeros(40), values + 5), 0.4, **QUICK)
    scaled = simulated_power(paired_differences(np.zeros(40), 4 * values), 1.6, **QUICK)
    assert_array_equal(one.power_at_n, moved.power_at_n)
    assert_array_equal(one.power_at_n, scaled.power_at_n)
    assert_allclose(4 * one.smallest_detectable, scaled.smallest_detectable, rtol=1e-7)


def test_few_queries_at_hand_do_not_shrink_the_spread() -> None:
    d = paired_differences(np.zeros(4), [1.0, -1.0, 1.0, -1.0])
    result, formula = simulated_power(d, 0.3, n=200, test="t", repetitions=1000), power_analysis(d, 0.3, n=200)
    assert_allclose(result.smallest_detectable, formula.smallest_detectable, rtol=0.06)


def test_monte_carlo_error_and_interval() -> None:
    result = simulated_power(_normal(40), 0.4, test="t", repetitions=400)
    found = round(result.power_at_n[0] * 400)
    interval = stats.binomtest(found, 400).proportion_ci(0.95, "exact")
    assert_allclose([result.power_low[0], result.power_high[0]], [interval.low, interval.high], atol=1e-9)
    assert_allclose(result.monte_carlo_error[0], np.sqrt((found + 1) * (401 - found) / 402**2 / 400))
    sure = simulated_power(_normal(40), 40.0, test="t", repetitions=400)
    assert sure.power_at_n[0] == 1 == sure.power_high[0]
    assert sure.monte_carlo_error[0] > 0
    assert 0.98 < sure.power_low[0] < 1


def test_families() -> None:
    d = _normal(60, 3)
    alone = simulated_power(d, 0.35, **QUICK)
    family = simulated_power(d, 0.35, family_size=3, **QUICK)
    assert np.all(family.power_at_n < alone.power_at_n)
    assert np.all(family.smallest_detectable > alone.smallest_detectable)
    assert family.power_all <= family.power_at_n.min() <= family.power_at_n.max() <= family.power_any
    formula = power_analysis(d, 0.35, family_size=3)
    assert np.all(np.abs(family.power_at_n - formula.power_at_n) < 4 * family.monte_carlo_error + 0.06)


def test_a_column_does_not_depend_on_the_others() -> None:
    values = np.random.default_rng(3).normal(0, 1, (30, 3))
    values[20:, 1] = np.nan
    d = paired_differences(np.zeros((30, 3)), values)
    whole = simulated_power(d, [0.4, 0.5, 0.6], **QUICK)
    for column, wanted in enumerate((0.4, 0.5, 0.6)):
        alone = simulated_power(d.select([column]), wanted, **QUICK)
        for field in fields(whole):
            values_of = getattr(whole, field.name)
            if isinstance(values_of, np.ndarray):
                assert values_of[column] == getattr(alone, field.name)[0], field.name


def test_seeds() -> None:
    d = _normal(30)
    powers = {simulated_power(d, 0.4, rng=seed, **QUICK).power_at_n[0] for seed in (1, 1, 2, 3)}
    assert 1 < len(powers) <= 3


def test_weights_cost_power() -> None:
    weights = np.random.default_rng(2).exponential(size=60) ** 2
    d, plain = _normal(60, weights=weights), _normal(60)
    result = simulated_power(d, 0.4, test="t", **QUICK)
    assert result.power_at_n[0] < simulated_power(plain, 0.4, test="t", **QUICK).power_at_n[0]
    formula = power_analysis(d, 0.4)
    assert_allclose(result.power_at_n, formula.power_at_n, atol=0.15)
    flips = simulated_power(d, 0.4, repetitions=100, resamples=99)
    assert_allclose(flips.power_at_n, result.power_at_n, atol=0.2)


def test_sparse_differences() -> None:
    values = np.zeros(50)
    values[:4] = [1.0, -1.0, 0.5, 0.5]
    result = simulated_power(paired_differences(np.zeros(50), values), 0.1, **QUICK)
    assert 0 < result.power_at_n[0] < 1


def test_nothing_to_simulate_from() -> None:
    d = paired_differences(np.zeros((5, 3)), np.column_stack([np.zeros(5), np.full(5, 0.1), np.full(5, np.nan)]))
    result = simulated_power(d, 0.1, **QUICK)
    assert np.isnan([result.power_at_n, result.smallest_detectable]).all()
    assert np.isnan(result.power_any)
    assert np.isnan(simulated_queries_needed(d, 0.1, **QUICK).queries_needed).all()


def test_too_few_queries_for_the_level() -> None:
    result = simulated_power(_normal(40), 5.0, n=4, **QUICK)
    assert result.power_at_n[0] == 0
    assert result.smallest_detectable[0] == np.inf


@pytest.mark.parametrize("test", ["t", "randomisation"])
def test_queries_needed_agree_with_the_formula(test: str) -> None:
    d = _normal(150)
    result = simulated_queries_needed(d, 0.4, test=test, **QUICK)
    assert result.formula[0] == power_analysis(d, 0.4).queries_needed[0]
    assert result.queries_low[0] <= result.queries_needed[0] <= result.queries_high[0]
    assert_allclose(result.queries_needed, result.formula, rtol=0.2)
    assert result.power_there[0] >= 0.8
    needed = int(result.queries_needed[0])
    assert simulated_power(d, 0.4, n=needed, test=test, **QUICK).power_at_n[0] == result.power_there[0]


def test_queries_needed_grow_with_the_family_and_shrink_with_the_difference() -> None:
    d = _normal(80)
    one = simulated_queries_needed(d, 0.5, test="t", **QUICK).queries_needed[0]
    assert simulated_queries_needed(d, 0.5, test="t", family_size=10, **QUICK).queries_needed[0] > one
    assert simulated_queries_needed(d, 0.8, test="t", **QUICK).queries_needed[0] < one
    assert simulated_queries_needed(d, 0.5, test="t", power=0.5, **QUICK).queries_needed[0] < one
    assert simulated_queries_needed(d, 0.05, test="t", most=100, **QUICK).queries_needed[0] == np.inf


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: simulated_power(_normal(5), 0.1, test="wilcoxon"), "test"),
        (lambda: simulated_power(_normal(5), 0.1, power=0.01), "power"),
        (lambda: simulated_power(_normal(5), [0.1, 0.2]), "difference"),
        (lambda: simulated_power(_normal(5), 0.1, n=1), "n = 1"),
        (lambda: simulated_power(_normal(5), 0.1, repetitions=0), "repetitions"),
        (lambda: simulated_queries_needed(_normal(5), 0.0), "other than 0"),
        (lambda: simulated_queries_needed(_normal(5), -0.1, alternative="greater"), "direction"),
    ],
)
def test_messages(call: Callable[[], object], message: str) -> None:
    with pytest.raises(RankstatsError, match=message):
        call()


@pytest.mark.slow
@pytest.mark.parametrize("n", [10, 25, 100])
def test_simulated_power_is_the_power_of_new_data(n: int) -> None:
    """Over many data sets of one population, mean simulated power equals the power there is (band stated below)."""
    data_sets = 40
    population = np.random.default_rng(n).normal(0, 1, (100, data_sets))
    d = paired_differences(np.zeros(population.shape), population)
    wanted = 2.8 / np.sqrt(n)
    simulated = simulated_power(d, wanted, n=n, test="t", repetitions=400)
    truth = power_analysis(paired_differences(np.zeros(2), [-np.sqrt(0.5), np.sqrt(0.5)]), wanted, n=n).power_at_n[0]
    # the spread of each data set is estimated, so powers scatter about the truth: four standard errors of their mean,
    # and 0.02 for the curvature of power in the spread
    band = 4 * simulated.power_at_n.std(ddof=1) / np.sqrt(data_sets) + 0.02
    assert abs(simulated.power_at_n.mean() - truth) < band


@pytest.mark.slow
@pytest.mark.parametrize("test", TESTS)
def test_level_when_nothing_differs(test: str) -> None:
    """With a wanted difference of 0 the share of rejections is the level (band: four Monte Carlo standard errors)."""
    result = simulated_power(_normal(300), 0.0, n=60, test=test, repetitions=2000, resamples=499)
    assert abs(result.power_at_n[0] - 0.05) < 4 * np.sqrt(0.05 * 0.95 / 2000) + 0.005
