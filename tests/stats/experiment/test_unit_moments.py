"""Moments of units: exact, in any order, in pieces, from counts and from aggregates."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from rankstats.errors import RankstatsError
from rankstats.stats import (
    aggregated_moments,
    count_moments,
    covariate_with_missing,
    merge_moments,
    ratio_aggregates,
    stack_moments,
    unit_moments,
)
from rankstats.stats.compensated_sums import double_sums, merge_double_sums
from tests.stats.experiment.arms import Arms, arms, fields

NUMBERS = st.one_of(st.just(0.0), st.floats(1e-100, 1e12), st.floats(-1e12, -1e-100))


@given(st.lists(NUMBERS, min_size=1, max_size=80))
def test_sums_are_those_of_fsum(numbers: list[float]) -> None:
    ours = float(double_sums(np.array(numbers)).value)
    assert abs(ours - math.fsum(numbers)) <= 2**-90 * max(map(abs, numbers)) + abs(math.fsum(numbers)) * 2**-52


@given(st.lists(NUMBERS, min_size=2, max_size=80), st.integers(0, 2**32))
@settings(max_examples=60)
def test_sums_of_pieces_in_any_order(numbers: list[float], seed: int) -> None:
    rng = np.random.default_rng(seed)
    shuffled = rng.permutation(np.array(numbers))
    cut = int(rng.integers(1, len(numbers)))
    parts = merge_double_sums([double_sums(shuffled[:cut]), double_sums(shuffled[cut:])])
    assert_allclose(parts.value, double_sums(np.array(numbers)).value, rtol=1e-15, atol=2**-80)


@given(arms(covariates=1))
@settings(max_examples=50)
def test_moments_equal_numpy(case: Arms) -> None:
    ours = unit_moments(*case.control.T)
    assert_allclose(ours.mean[0], case.control.mean(axis=0), rtol=1e-12, atol=1e-12)
    assert_allclose(ours.covariance[0], np.cov(case.control.T, ddof=1), rtol=1e-9, atol=1e-12)


def test_variance_far_from_zero_is_exact() -> None:
    values = [10**9 + 0.25, 10**9 + 0.5, 10**9 + 1.0, 10**9]
    exact = [Fraction(value) for value in values]
    mean = sum(exact) / 4
    variance = sum((value - mean) ** 2 for value in exact) / 3
    assert unit_moments(values).covariance[0, 0, 0] == float(variance)


@given(arms(), st.integers(0, 2**32))
@settings(max_examples=40)
def test_order_plays_no_part(case: Arms, seed: int) -> None:
    shuffled = np.random.default_rng(seed).permutation(case.control, axis=0)
    one, other = unit_moments(*case.control.T), unit_moments(*shuffled.T)
    assert_array_equal(one.mean, other.mean)
    assert_array_equal(one.covariance, other.covariance)


@given(arms(), st.integers(1, 50))
@settings(max_examples=50)
def test_pieces_add_up(case: Arms, cut: int) -> None:
    pieces = [part for part in (case.control[:cut], case.control[cut:]) if len(part)]
    merged = merge_moments([unit_moments(*part.T) for part in pieces])
    whole = unit_moments(*case.control.T)
    assert_array_equal(merged.n, whole.n)
    assert_allclose(merged.mean, whole.mean, rtol=1e-12)
    assert_allclose(merged.covariance, whole.covariance, rtol=1e-9, atol=1e-13)


def test_equal_values_have_no_variance() -> None:
    assert unit_moments([0.1] * 7).covariance[0, 0, 0] == 0
    assert_array_equal(unit_moments([0.1] * 7, np.arange(7)).covariance[0, 0], [0, 0])


def test_absent_values_leave_the_unit_out_of_its_column() -> None:
    values = np.array([[1.0, 2.0], [np.nan, 4.0], [3.0, 9.0]])
    ours = unit_moments(values, np.array([1.0, 5.0, np.nan]))
    assert ours.n.tolist() == [1, 2]
    assert ours.mean[:, 0].tolist() == [1.0, 3.0]
    assert np.isnan(ours.covariance[0]).all()
    empty = unit_moments(np.full((3, 1), np.nan))
    assert empty.n[0] == 0
    assert np.isnan(empty.mean).all()
    assert empty.sums[0, 0] == 0


def test_columns_are_independent_of_each_other() -> None:
    rng = np.random.default_rng(0)
    values = rng.lognormal(size=(50, 4))
    together, alone = unit_moments(values), [unit_moments(values[:, j]) for j in range(4)]
    assert_array_equal(together.covariance, stack_moments(alone).covariance)
    assert_array_equal(together.select([2]).mean, alone[2].mean)
    assert together.variables([0]).n_variables == 1


@given(st.integers(0, 40), st.integers(0, 60))
@settings(max_examples=40)
def test_counts_are_zeros_and_ones(successes: int, failures: int) -> None:
    ours = count_moments(successes, successes + failures)
    theirs = unit_moments([1.0] * successes + [0.0] * failures)
    assert_array_equal(ours.n, theirs.n)
    assert_allclose(ours.mean, theirs.mean, rtol=1e-14)
    assert_allclose(ours.covariance, theirs.covariance, rtol=1e-12, atol=1e-16)


def test_aggregates_of_a_ratio() -> None:
    clicks, shown = np.array([1.0, 0, 3, 2]), np.array([4.0, 2, 9, 5])
    arm = unit_moments(clicks, shown)
    ours = ratio_aggregates(
        4,
        numerator_mean=clicks.mean(),
        numerator_variance=clicks.var(ddof=1),
        denominator_mean=shown.mean(),
        denominator_variance=shown.var(ddof=1),
        covariance=np.cov(clicks, shown)[0, 1],
    )
    for name, value in fields(arm).items():
        assert_allclose(getattr(ours, name), value, rtol=1e-12)


def test_missing_covariates() -> None:
    filled, missing = covariate_with_missing([1.0, np.nan])
    assert filled.tolist() == [1.0, 0.0]
    assert missing.tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (unit_moments, "at least one variable"),
        (lambda: unit_moments([1.0], [1.0, 2.0]), "the same units are rows"),
        (lambda: unit_moments(np.zeros((2, 2, 2))), "dimensions"),
        (lambda: unit_moments([np.inf]), "infinite"),
        (lambda: aggregated_moments(1.5, 1.0, 1.0), "whole numbers"),
        (lambda: aggregated_moments([3, 4], [1.0], [1.0]), "for 2 columns"),
        (lambda: aggregated_moments(3, 1.0, -1.0), "negative"),
        (lambda: aggregated_moments(3, np.nan, 1.0), "must be finite"),
        (lambda: aggregated_moments([3], [[1.0, 1.0]], [[[1.0, 2.0], [2.0, 1.0]]]), "larger than its variances"),
        (lambda: aggregated_moments([3], [[1.0, 1.0]], [[[1.0, 0.5], [0.1, 1.0]]]), "mirror image"),
        (lambda: count_moments(5, 4), "more successes than units"),
        (lambda: count_moments(-1, 4), "whole numbers"),
        (lambda: merge_moments([unit_moments([1.0]), unit_moments([1.0], [1.0])]), "same columns and variables"),
        (lambda: stack_moments([unit_moments([1.0]), unit_moments([1.0], [1.0])]), "same number of variables"),
    ],
)
def test_messages(call: Callable[[], object], message: str) -> None:
    with pytest.raises(RankstatsError, match=message):
        call()
