from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from rankstats.errors import RankstatsError
from rankstats.stats import paired_differences, sign_flip_test, sign_flips
from tests.stats.cases import Case, alternatives, cases, golden, leaves_out_zero, levels

ENDS = ("low", "high", "adjusted_low", "adjusted_high")
NUMBERS = ("estimate", "p_value", "p_adjusted", *ENDS)


@settings(deadline=None, max_examples=150)
@given(cases(), levels, alternatives, st.integers(1, 40), st.sampled_from([1, 19, 199, 500]))
def test_p_and_interval_agree_exactly(case: Case, alpha: float, alternative: str, m: int, resamples: int) -> None:
    result = sign_flip_test(case.differences, alpha=alpha, alternative=alternative, family_size=m, resamples=resamples)
    assert_array_equal(result.p_value <= alpha, leaves_out_zero(result.low, result.high))
    assert_array_equal(result.p_adjusted <= alpha, leaves_out_zero(result.adjusted_low, result.adjusted_high))
    tested = result.n > 0
    assert np.all(result.p_value[tested] > 0)
    assert np.all(result.p_value[tested] <= 1)
    assert np.all(result.p_adjusted[tested] >= result.p_value[tested])
    has_interval = ~np.isnan(result.low)
    assert np.all(result.adjusted_low[has_interval] <= result.low[has_interval])
    assert np.all(result.adjusted_high[has_interval] >= result.high[has_interval])


@settings(deadline=None)
@given(cases(most=40), levels)
def test_intervals_widen_as_alpha_falls(case: Case, alpha: float) -> None:
    wide, narrow = (sign_flip_test(case.differences, alpha=a, resamples=199) for a in (alpha / 2, alpha))
    assert_array_equal(wide.p_value, narrow.p_value)
    has_interval = ~np.isnan(wide.low)
    assert np.all(wide.low[has_interval] <= narrow.low[has_interval])
    assert np.all(wide.high[has_interval] >= narrow.high[has_interval])


@settings(deadline=None)
@given(cases(most=40), alternatives)
def test_swapping_the_systems_mirrors_everything(case: Case, alternative: str) -> None:
    opposite = {"two-sided": "two-sided", "greater": "less", "less": "greater"}[alternative]
    one = sign_flip_test(case.differences, alternative=alternative, resamples=199)
    other = sign_flip_test(case.differences.negated(), alternative=opposite, resamples=199)
    assert_array_equal(one.p_value, other.p_value)
    assert_array_equal(one.low, -other.high)
    assert_array_equal(one.adjusted_high, -other.adjusted_low)


@settings(deadline=None)
@given(cases(most=60), st.integers(-20, 20))
def test_scaling_by_a_power_of_two_scales_the_interval(case: Case, power: int) -> None:
    factor = 2.0**power
    one = sign_flip_test(case.differences, resamples=199)
    scaled = paired_differences(case.baseline * factor, case.systems * factor, case.weights)
    other = sign_flip_test(scaled, resamples=199)
    assert_array_equal(one.p_value, other.p_value)
    assert_array_equal(one.low * factor, other.low)
    assert_array_equal(one.high * factor, other.high)


def test_a_constant_shifts_the_interval() -> None:
    values = np.random.default_rng(3).integers(0, 20, 12) / 20
    one = sign_flip_test(paired_differences(np.zeros(12), values))
    other = sign_flip_test(paired_differences(np.zeros(12), values + 0.25))
    assert_allclose([other.low - one.low, other.high - one.high], 0.25, atol=1e-9)


def _by_hand(values: np.ndarray, weights: np.ndarray, alpha: float) -> tuple[float, float, float]:
    """Enumerate with plain sums and the definition's order statistics."""
    n, observed = len(values), abs(np.sum(weights * values))
    signs = np.array(list(product([0, 1], repeat=n)))
    flipped, kept = signs @ (weights * values), (1 - signs) @ (weights * values)
    b = np.count_nonzero(np.abs(kept - flipped) >= observed - 1e-9 * np.sum(np.abs(weights * values)))
    means = [(s / w if w else None) for s, w in zip(flipped, signs @ weights, strict=True)]
    rank = int(np.floor(alpha * 2**n / 2 + 1e-9))
    low = sorted(-np.inf if mean is None else mean for mean in means)[rank]
    high = sorted(np.inf if mean is None else mean for mean in means)[-rank - 1]
    return b / 2**n, low, high


@settings(deadline=None, max_examples=60)
@given(st.integers(2, 9), st.integers(0, 10**6), st.booleans(), levels)
def test_enumeration_equals_the_definition(n: int, seed: int, weighted: bool, alpha: float) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(-5, 9, n) / 10
    values[0] = 0.3
    weights = rng.integers(1, 6, n).astype(float) if weighted else np.ones(n)
    result = sign_flip_test(paired_differences(np.zeros(n), values, weights), alpha=alpha)
    p, low, high = _by_hand(values, weights, alpha)
    assert result.p_value[0] == p
    assert_allclose([result.low[0], result.high[0]], [low, high], atol=2e-9)


@settings(deadline=None, max_examples=15)
@given(st.integers(17, 19), st.integers(1, 15), st.integers(0, 10**6), alternatives, levels)
def test_few_non_zero_differences_equal_full_enumeration(
    n: int, non_zero: int, seed: int, alternative: str, alpha: float
) -> None:
    values = np.zeros(n)
    values[:non_zero] = np.random.default_rng(seed).integers(-4, 8, non_zero) / 10
    arguments: dict[str, Any] = {"alternative": alternative, "alpha": alpha, "family_size": 3}
    d = paired_differences(np.zeros(n), values)
    sparse = sign_flip_test(d, **arguments)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sign_flips, "EXACT_UP_TO", n)
        full = sign_flip_test(d, **arguments)
    assert sparse.exact.all()
    for name in (*NUMBERS, "mid_p"):
        assert_allclose(getattr(sparse, name), getattr(full, name), rtol=1e-12, err_msg=name)


@pytest.mark.parametrize("name", ["p8", "p10ties", "p12sparse", "p5allpos", "pident", "pconst"])
def test_exact_values_of_independent_programs(name: str) -> None:
    data, expected = golden("data")[name], golden("paired")["cases"][name]["python"]["sign_flip_exact"]
    d = paired_differences(data["a"], data["b"])
    for alternative, key in (("two-sided", "two"), ("greater", "greater"), ("less", "less")):
        result = sign_flip_test(d, alternative=alternative)
        assert result.p_value[0] == expected[f"p_{key}"]
        if key != "less":
            assert result.mid_p[0] == expected[f"mid_p_{key}"]


@pytest.mark.parametrize(("name", "weighted"), [("p20", False), ("p50skew", False), ("p20", True)])
def test_drawn_patterns_equal_the_exact_p_within_error(name: str, weighted: bool) -> None:
    data = golden("data")[name]
    weights = golden("weighted")["p20"]["w"] if weighted else None
    if weighted:
        expected = golden("weighted")["p20"]["sign_flip_exact"]["p_two"]
    else:
        expected = golden("paired")["cases"][name]["python"]["sign_flip_exact"]["p_two"]
    result = sign_flip_test(paired_differences(data["a"], data["b"], weights), resamples=40_000)
    assert not result.exact[0]
    assert abs(result.p_value[0] - expected) < 4 * np.sqrt(expected * (1 - expected) / 40_000)


def test_drawn_interval_approaches_the_exact_one() -> None:
    values = np.random.default_rng(8).normal(0.3, 1.0, 16)
    d = paired_differences(np.zeros(16), values)
    exact = sign_flip_test(d)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sign_flips, "EXACT_UP_TO", 8)
        drawn = sign_flip_test(d, resamples=40_000)
    assert exact.exact[0]
    assert not drawn.exact[0]
    assert_allclose([drawn.low, drawn.high], [exact.low, exact.high], atol=0.02)


def test_rounding_noise_does_not_break_ties() -> None:
    result = sign_flip_test(paired_differences([0.1] * 6, [0.3] * 6))
    assert result.p_value.tolist() == [0.03125]
    assert sign_flip_test(paired_differences([0.1, 0.3, 0.2] * 2, [0.3, 0.5, 0.4] * 2)).p_value.tolist() == [0.03125]


def test_a_sum_of_zero_has_p_one() -> None:
    values = [0.1, 0.2, -0.3, 0.7, 0.1, -0.8, 0.0]
    assert sum(values) != 0
    result = sign_flip_test(paired_differences(np.zeros(7), values))
    assert result.p_value.tolist() == [1.0]
    assert result.low[0] < 0 < result.high[0]


def test_two_equal_differences() -> None:
    result = sign_flip_test(paired_differences([0.1, 0.1], [0.2, 0.2]))
    assert result.p_value.tolist() == [0.5]
    assert (result.low[0], result.high[0]) == (-np.inf, np.inf)
    assert result.smallest_p.tolist() == [0.5]


def test_identical_systems_have_p_one_and_touch_nobody() -> None:
    values = np.random.default_rng(5).normal(0.2, 1, (40, 2))
    alone = sign_flip_test(paired_differences(np.zeros(40), values), resamples=499)
    joined = sign_flip_test(
        paired_differences(np.zeros(40), np.column_stack([values[:, 0], np.zeros(40), values[:, 1]])), resamples=499
    )
    assert joined.p_value[1] == 1
    assert np.isnan(joined.low[1])
    for name in NUMBERS:
        assert_array_equal(getattr(joined, name)[[0, 2]], getattr(alone, name), err_msg=name)


def test_one_query_and_none() -> None:
    result = sign_flip_test(paired_differences([[0.1, np.nan]], [[0.4, 0.4]]))
    assert_array_equal(result.p_value, [1.0, np.nan])
    assert (result.low[0], result.high[0]) == (-np.inf, np.inf)
    assert result.to_dicts()[1]["p_value"] is None


def test_queries_without_weight_are_absent() -> None:
    result = sign_flip_test(paired_differences(np.zeros(3), [1.0, 1.0, 1.0], [1.0, 2.0, 0.0]), alpha=0.6)
    assert result.n.tolist() == [2]
    assert result.p_value.tolist() == [0.5]
    assert_allclose([result.low[0], result.high[0]], 1.0)


def test_family_sizes_of_columns_are_read_off_one_pass() -> None:
    values = np.random.default_rng(5).normal(0.4, 1, (50, 2))
    d = paired_differences(np.zeros(50), values)
    both = sign_flip_test(d, family_size=[1, 7], resamples=999)
    for column, m in enumerate([1, 7]):
        single = sign_flip_test(d.select([column]), family_size=m, resamples=999)
        for name in NUMBERS:
            assert getattr(both, name)[column] == getattr(single, name)[0], name
    assert both.adjusted_low[1] < both.low[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"alpha": 0}, "alpha = 0"),
        ({"alpha": 1.5}, "between 0 and 1"),
        ({"resamples": 0}, "resamples = 0"),
        ({"resamples": 10.5}, "whole number"),
        ({"alternative": "greatr"}, "did you mean 'greater'"),
        ({"family_size": 0}, "family_size"),
        ({"family_size": [1, 2]}, "1 columns"),
        ({"batch": 0}, "batch = 0"),
    ],
)
def test_messages(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(RankstatsError, match=message):
        sign_flip_test(paired_differences([0.1, 0.2], [0.2, 0.4]), **arguments)


def test_rng_takes_seeds_and_generators() -> None:
    d = paired_differences(np.zeros(30), np.random.default_rng(2).normal(0.3, 1, 30))
    seeded = sign_flip_test(d, rng=7, resamples=199)
    assert_array_equal(seeded.p_value, sign_flip_test(d, rng=np.random.default_rng(7), resamples=199).p_value)
    assert_array_equal(seeded.low, sign_flip_test(d, rng=np.random.SeedSequence(7), resamples=199).low)
    generator = np.random.default_rng(7)
    first, second = (sign_flip_test(d, rng=generator, resamples=199).low[0] for _ in range(2))
    assert first != second
