"""Exact sums against fractions, and the law by which they, sketches of units and Poisson resamples merge."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from rankstats.errors import RankstatsError
from rankstats.stats import (
    ExactPoissonSums,
    compare_arms,
    exact_cubes,
    exact_moments,
    exact_poisson_sums,
    mean_pair,
    moments_of,
    no_moments,
    poisson_bootstrap,
    poisson_sums,
    ratio_pair,
    rounded_poisson_sums,
    shared_units,
    unit_moments,
    unit_sketch,
)
from rankstats.stats.exact_moments import SCALE, exact_number, exact_text, third_moment
from rankstats.stats.unit_sketch import MOST_KEPT

VALUES = st.floats(min_value=-1e100, max_value=1e100, allow_nan=False)
PAIRS = st.lists(st.tuples(VALUES, VALUES), max_size=12)


@given(PAIRS)
def test_sums_are_those_of_fractions(pairs: list[tuple[float, float]]) -> None:
    x, y = ([pair[place] for pair in pairs] for place in (0, 1))
    found = exact_moments(x, y)
    for total, values in zip(found.sums, (x, y), strict=True):
        assert Fraction(total, 1 << SCALE) == sum(map(Fraction, values))
    for product, (a, b) in zip(found.products, ((x, x), (x, y), (y, y)), strict=True):
        exact = sum((Fraction(i) * Fraction(j) for i, j in zip(a, b, strict=True)), Fraction(0))
        assert Fraction(product, 1 << 2 * SCALE) == exact


@given(PAIRS)
def test_cubes_are_those_of_fractions(pairs: list[tuple[float, float]]) -> None:
    exact = [(Fraction(a), Fraction(b)) for a, b in pairs]
    sums = [sum((a**i * b ** (3 - i) for a, b in exact), Fraction(0)) for i in (3, 2, 1, 0)]
    found = exact_cubes([a for a, _ in pairs], [b for _, b in pairs])
    assert [Fraction(cube, 1 << 3 * SCALE) for cube in found.sums] == sums


def test_third_moments_are_those_of_scipy() -> None:
    rng = np.random.default_rng(8)
    x, y = rng.exponential(2, 400), rng.integers(1, 9, 400).astype(float)
    assert third_moment(exact_moments(x), exact_cubes(x)) == pytest.approx(stats.moment(x, 3), rel=1e-12)
    parts = (x - x.sum() / y.sum() * y) / y.mean()
    assert third_moment(exact_moments(x, y), exact_cubes(x, y)) == pytest.approx(stats.moment(parts, 3), rel=1e-12)
    assert np.isnan(third_moment(no_moments(1), exact_cubes([])))


def test_tiny_and_huge_values_lose_nothing() -> None:
    values = [5e-324, -1e-300, 1e100, 0.1, -1e100, 3.0]
    exact = sum(map(Fraction, values))
    assert Fraction(exact_moments(values).sums[0], 1 << SCALE) == exact


def test_means_and_covariances_are_those_of_the_moments_of_units() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(5, 2, 500), rng.exponential(3, 500)
    x[::7] = np.nan
    found, expected = exact_moments(x, y).moments(), unit_moments(x, y)
    assert_array_equal(found.n, expected.n)
    assert_allclose(found.mean, expected.mean, rtol=1e-15)
    assert_allclose(found.covariance, expected.covariance, rtol=1e-13)


def test_equal_values_have_no_variance_and_few_units_none_at_all() -> None:
    assert exact_moments([0.1] * 10).moments().covariance.item() == 0.0
    assert np.isnan(moments_of([no_moments(1), exact_moments([2.0])]).covariance).all()


def test_units_can_be_taken_out_and_variables_chosen() -> None:
    x, y = [1.5, 0.1, 7.0], [2.0, 3.0, 0.3]
    assert exact_moments(x, y) - exact_moments(x[:1], y[:1]) == exact_moments(x[1:], y[1:])
    assert exact_moments(x, y).variables([1]) == exact_moments(y)
    assert exact_moments(x, y).variables([1, 0]) == exact_moments(y, x)
    with pytest.raises(RankstatsError, match="variables"):
        exact_moments(x) + exact_moments(x, y)


@given(st.integers(), st.sampled_from([SCALE, 2 * SCALE, 3 * SCALE]))
def test_numbers_survive_being_written(number: int, scale: int) -> None:
    assert exact_number(exact_text(number, scale), scale) == number


@pytest.mark.parametrize("text", ["", "5", "5p", "p3", "0x5p3", "5p-9999", "5.0p1", "--5p1"])
def test_what_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(RankstatsError, match="exact number"):
        exact_number(text)


@given(st.data())
@settings(max_examples=40)
def test_merging_in_any_order_and_grouping_gives_one_pass(data: st.DataObject) -> None:
    values = data.draw(st.lists(VALUES, min_size=1, max_size=20))
    part = data.draw(st.lists(st.integers(0, 3), min_size=len(values), max_size=len(values)))
    ids, x, of = np.arange(len(values)), np.array(values), np.array(part)
    order = data.draw(st.permutations(range(4)))
    cut = data.draw(st.integers(1, 3))

    def merged(make: Callable[..., Any]) -> Any:
        parts = [make(ids[of == p], x[of == p]) for p in order]
        return reduce(add, parts[:cut]) + reduce(add, parts[cut:])

    assert merged(lambda _, v: exact_moments(v)) == exact_moments(x)
    assert merged(lambda i, v: exact_poisson_sums(i, v, resamples=5)) == exact_poisson_sums(ids, x, resamples=5)
    sketch = merged(lambda i, _: unit_sketch(i))
    assert_array_equal(sketch.smallest, unit_sketch(ids).smallest)


def test_exact_resamples_are_those_of_the_streaming_bootstrap() -> None:
    rng = np.random.default_rng(1)
    ids, x, y = np.arange(9_000), rng.lognormal(0, 1, 9_000), rng.integers(1, 9, 9_000).astype(float)
    x[:50] = np.nan
    found = rounded_poisson_sums([exact_poisson_sums(ids, x, y, resamples=20, seed=4)])
    expected = poisson_sums(ids, x, y, resamples=20, seed=4)
    assert_allclose(found.estimates, expected.estimates, rtol=1e-14)
    assert_allclose(found.estimate, expected.estimate, rtol=1e-14)


def test_parts_of_two_bootstraps_do_not_mix() -> None:
    one = exact_poisson_sums(["a"], [1.0], resamples=4)
    for other in (exact_poisson_sums(["b"], [1.0], resamples=4, seed=1), exact_poisson_sums(["b"], [1.0], resamples=5)):
        with pytest.raises(RankstatsError, match="share the seed"):
            one + other


@pytest.mark.parametrize("ratio", [False, True])
def test_standard_errors_of_hashed_resamples_are_those_of_formulas_and_of_local_draws(ratio: bool) -> None:
    rng = np.random.default_rng(7)
    n, resamples = 3_000, 2_000
    arms = []
    for first in (0, n):
        bottom = rng.integers(1, 12, n).astype(float)
        arms.append((np.arange(first, first + n), rng.binomial(bottom.astype(int), 0.3) + rng.random(n), bottom))
    sums = [
        rounded_poisson_sums([exact_poisson_sums(ids, x, y if ratio else None, resamples=resamples)])
        for ids, x, y in arms
    ]
    found = float(poisson_bootstrap(sums[0], sums[1]).standard_error[0])
    made = ratio_pair if ratio else mean_pair
    pair = made(*(unit_moments(x, y) if ratio else unit_moments(x) for _, x, y in arms))
    formula = float(pair.standard_error[0])
    drawn = []
    for _, x, y in arms:
        picks = rng.integers(n, size=(resamples, n))
        top, below = x[picks].sum(axis=1), y[picks].sum(axis=1) if ratio else n
        drawn.append(top / below)
    local = float(np.std(drawn[1] - drawn[0], ddof=1))
    # the relative Monte Carlo error of a standard deviation of B draws is 1 / sqrt(2 B)
    error = 1 / np.sqrt(2 * resamples)
    assert abs(found / formula - 1) < 4 * error
    assert abs(found / local - 1) < 4 * error * np.sqrt(2)
    assert compare_arms(pair).p_value.shape == (1,)


def test_small_sets_are_compared_in_full_and_large_ones_by_their_hashes() -> None:
    small = shared_units(unit_sketch(np.arange(100)), unit_sketch(np.arange(99, 300)))
    assert (small.found, small.estimate, small.reach) == (1, 1.0, 1.0)
    n = 3 * MOST_KEPT
    large = shared_units(unit_sketch(np.arange(n)), unit_sketch(np.arange(n - 1_000, 2 * n)))
    assert large.reach == pytest.approx(0.33, abs=0.02)
    assert abs(large.estimate - 1_000) < 4 * np.sqrt(1_000 * 0.67 / 0.33)
    apart = shared_units(unit_sketch(np.arange(n)), unit_sketch(np.arange(n, 2 * n)))
    assert apart.found == 0
    whole = unit_sketch(np.arange(n)) + unit_sketch(np.arange(n, 2 * n))
    assert_array_equal(whole.smallest, unit_sketch(np.arange(2 * n)).smallest)
    assert (whole.n, whole.complete) == (2 * n, False)


def test_nothing_adds_nothing() -> None:
    assert exact_moments([1.0, 2.0]) + no_moments(1) == exact_moments([2.0, 1.0])
    empty = exact_poisson_sums(np.array([], dtype=int), np.array([]), resamples=3)
    assert empty == ExactPoissonSums((0, 0), ((0, 0, 0), (0, 0, 0)), 0)
