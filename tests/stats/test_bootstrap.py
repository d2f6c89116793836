from __future__ import annotations

import json
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from rankstats.errors import RankstatsError
from rankstats.stats import paired_bootstrap, paired_differences
from tests.shared import shared
from tests.stats.cases import SCIPYS_SEED, Case, alternatives, cases, leaves_out_zero, levels

NUMBERS = ("estimate", "standard_error", "p_value", "low", "high", "p_adjusted", "adjusted_low", "adjusted_high")


@settings(deadline=None, max_examples=100)
@given(cases(), levels, alternatives, st.integers(1, 40), st.sampled_from([1, 19, 199]))
def test_p_and_interval_agree_exactly(case: Case, alpha: float, alternative: str, m: int, resamples: int) -> None:
    result = paired_bootstrap(
        case.differences, alpha=alpha, alternative=alternative, family_size=m, resamples=resamples
    )
    assert_array_equal(result.p_value <= alpha, leaves_out_zero(result.low, result.high))
    assert_array_equal(result.p_adjusted <= alpha, leaves_out_zero(result.adjusted_low, result.adjusted_high))
    tested = result.n > 0
    assert np.all(result.p_value[tested] > 0)
    assert np.all(result.p_adjusted[tested] >= result.p_value[tested])
    has_interval = ~np.isnan(result.low)
    assert np.all(result.adjusted_low[has_interval] <= result.low[has_interval])
    if alternative == "two-sided":
        assert np.all(result.low[has_interval] <= result.estimate[has_interval])
    assert_array_equal(result.counts.sum(axis=1)[tested], resamples)


@settings(deadline=None, max_examples=30)
@given(cases(most=40), alternatives)
def test_swapping_the_systems_mirrors_everything(case: Case, alternative: str) -> None:
    opposite = {"two-sided": "two-sided", "greater": "less", "less": "greater"}[alternative]
    one = paired_bootstrap(case.differences, alternative=alternative, resamples=199)
    other = paired_bootstrap(case.differences.negated(), alternative=opposite, resamples=199)
    assert_array_equal(one.p_value, other.p_value)
    assert_array_equal(one.low, -other.high)
    assert_array_equal(one.standard_error, other.standard_error)


@pytest.mark.shared
@pytest.mark.parametrize("name", ["p20", "p50skew", "p8"])
def test_replayed_resamples_of_r_boot(name: str) -> None:
    case = json.loads(shared("golden/stats_bootstrap.json").read_text(encoding="utf-8"))["cases"][name]
    d = paired_differences(np.zeros(len(case["d"])), case["d"])
    indices = np.array(case["index_matrix_1based"]) - 1
    result = paired_bootstrap(d, indices=indices)
    assert_allclose(result.estimate, case["t0"], atol=1e-9)
    assert_allclose(result.standard_error, case["boot_sd"], atol=1e-9)
    assert_allclose(result.p_value, case["shift_test"]["p_two_plus1"], rtol=1e-15)
    one_sided = paired_bootstrap(d, indices=indices, alternative="greater")
    assert_allclose(one_sided.p_value, case["shift_test"]["p_greater_plus1"], rtol=1e-15)


@pytest.mark.shared
def test_replayed_weighted_resamples_of_r_boot() -> None:
    case = json.loads(shared("golden/stats_bootstrap.json").read_text(encoding="utf-8"))["cases"]["weighted_p20"]
    d = paired_differences(np.zeros(20), case["d"], case["w"])
    result = paired_bootstrap(d, indices=np.array(case["index_matrix_1based"]) - 1)
    assert_allclose(result.estimate, case["t0"], atol=1e-9)
    assert_allclose(result.standard_error, case["boot_sd"], atol=1e-9)


def test_all_256_resamples_of_four_queries() -> None:
    values = [0.1, -0.02, 0.05, 0.2]
    indices = np.array(list(product(range(4), repeat=4)))
    result = paired_bootstrap(paired_differences(np.zeros(4), values), indices=indices)
    assert result.p_value[0] == (10 + 1) / 257
    assert_allclose(result.standard_error[0] * np.sqrt(255 / 256), 0.04005855089740516, atol=1e-9)


def test_drawn_resamples_have_the_standard_error_of_theory() -> None:
    values = np.random.default_rng(1).exponential(size=60)
    result = paired_bootstrap(paired_differences(np.zeros(60), values), resamples=20_000)
    theory = values.std() / np.sqrt(60)
    assert_allclose(result.standard_error, theory, rtol=4 / np.sqrt(2 * 20_000))


def test_interval_agrees_with_scipy_within_error() -> None:
    values = np.random.default_rng(1).normal(0.2, 1, 80)
    ours = paired_bootstrap(paired_differences(np.zeros(80), values), resamples=20_000)
    seed: dict[str, Any] = {SCIPYS_SEED: 1}
    theirs = stats.bootstrap((values,), np.mean, n_resamples=20_000, method="basic", **seed).confidence_interval
    assert_allclose([ours.low[0], ours.high[0]], list(theirs), atol=0.02)


def test_identical_systems_and_constant_differences() -> None:
    result = paired_bootstrap(paired_differences(np.zeros((30, 2)), [[0.0, 0.1]] * 30), resamples=99)
    assert result.p_value.tolist() == [1.0, 1.0]
    assert np.isnan(result.low[0])
    assert (result.low[1], result.high[1]) == (-np.inf, np.inf)
    assert result.counts.sum(axis=1).tolist() == [99, 99]


def test_a_column_uses_its_own_queries_only() -> None:
    values = np.random.default_rng(1).normal(0.3, 1, 40)
    inside = np.arange(40) % 3 == 0
    part = paired_bootstrap(paired_differences(np.zeros(40), values).within(inside), resamples=499)
    assert part.n.tolist() == [14]
    theory = values[inside].std() / np.sqrt(14)
    assert_allclose(part.standard_error, theory, rtol=4 / np.sqrt(2 * 499))


def test_histogram_is_numpys() -> None:
    values = np.random.default_rng(1).normal(0.3, 1, 30)
    indices = np.random.default_rng(2).integers(0, 30, (500, 30))
    result = paired_bootstrap(paired_differences(np.zeros(30), values), indices=indices, bins=20)
    counts, edges = np.histogram(values[indices].mean(axis=1), bins=20)
    assert_allclose(result.edges[0], edges, atol=1e-9)
    assert np.abs(result.counts[0] - counts).sum() <= 2


@pytest.mark.parametrize(
    ("indices", "message"),
    [
        ([[0, 1]], "shape"),
        ([[0, 1, 3]], "between 0 and 2"),
        ([[0.0, 1.0, 2.0]], "whole numbers"),
    ],
)
def test_messages_about_replayed_indices(indices: Any, message: str) -> None:
    with pytest.raises(RankstatsError, match=message):
        paired_bootstrap(paired_differences([0.1, 0.2, 0.3], [0.2, 0.4, 0.5]), indices=indices)


def test_absent_queries_cannot_be_replayed() -> None:
    with pytest.raises(RankstatsError, match="absent"):
        paired_bootstrap(paired_differences([0.1, np.nan], [0.2, 0.4]), indices=[[0, 1]])
