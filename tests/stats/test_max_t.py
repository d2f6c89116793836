from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from rankstats.stats import Differences, bootstrap_max_t, not_tighter, paired_differences, sign_flip_test
from tests.shared import shared
from tests.stats.cases import Case, cases, leaves_out_zero, levels

NUMBERS = ("estimate", "standard_error", "p_adjusted", "adjusted_low", "adjusted_high")


@settings(deadline=None, max_examples=100)
@given(cases(columns=4), levels, st.sampled_from([1, 19, 199]))
def test_p_and_interval_agree_exactly(case: Case, alpha: float, resamples: int) -> None:
    result = bootstrap_max_t(case.differences, alpha=alpha, resamples=resamples)
    assert_array_equal(result.p_adjusted <= alpha, leaves_out_zero(result.adjusted_low, result.adjusted_high))
    assert np.all(result.p_adjusted[result.n > 0] > 0)
    assert np.all(result.p_adjusted[result.n > 0] <= 1)


@settings(deadline=None, max_examples=60)
@given(cases(columns=4), levels)
def test_the_reconciled_numbers_agree_too(case: Case, alpha: float) -> None:
    raw = sign_flip_test(case.differences, alpha=alpha, resamples=199)
    family = bootstrap_max_t(case.differences, alpha=alpha, resamples=199)
    p, low, high = not_tighter(
        (family.p_adjusted, family.adjusted_low, family.adjusted_high), (raw.p_value, raw.low, raw.high)
    )
    assert_array_equal(p <= alpha, leaves_out_zero(low, high))
    tested = raw.n > 0
    assert np.all(p[tested] >= raw.p_value[tested])
    has_interval = ~np.isnan(raw.low)
    assert np.all(low[has_interval] <= raw.low[has_interval])
    assert np.all(high[has_interval] >= raw.high[has_interval])


def _by_hand(d: Differences, weights: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Largest studentised deviations by plain loops."""
    largest = []
    for rows in indices:
        values, w, n = d.values[rows], weights[rows][:, None], len(rows)
        mean = (w * values).sum(axis=0) / w.sum()
        error = np.sqrt(n / (n - 1) * (w**2 * (values - mean) ** 2).sum(axis=0)) / w.sum()
        largest.append(np.max(np.abs(mean - d.mean) / error))
    return np.array(largest)


@pytest.mark.parametrize("weighted", [False, True])
def test_equals_the_definition(weighted: bool) -> None:
    rng = np.random.default_rng(7)
    weights = rng.integers(1, 9, 30).astype(float) if weighted else np.ones(30)
    d = paired_differences(np.zeros(30), rng.normal([0, 0.3, 0.6], 1, (30, 3)), weights)
    indices = rng.integers(0, 30, (199, 30))
    result = bootstrap_max_t(d, indices=indices)
    largest = _by_hand(d, weights, indices)
    expected = [(np.count_nonzero(largest >= abs(t)) + 1) / 200 for t in d.mean / d.standard_error]
    assert_allclose(result.p_adjusted, expected)
    critical = np.sort(largest)[-10]
    assert_allclose(result.critical_value, critical, rtol=1e-8)
    assert_allclose(result.adjusted_low, d.mean - critical * d.standard_error, rtol=1e-6)


@pytest.mark.shared
@pytest.mark.parametrize("name", ["p20", "p50skew", "p8"])
def test_one_column_equals_the_studentised_test_of_r_boot(name: str) -> None:
    case = json.loads(shared("golden/stats_bootstrap.json").read_text(encoding="utf-8"))["cases"][name]
    d = paired_differences(np.zeros(len(case["d"])), case["d"])
    result = bootstrap_max_t(d, indices=np.array(case["index_matrix_1based"]) - 1)
    assert_allclose(result.p_adjusted, case["studentised_test"]["p_two_plus1"], rtol=1e-15)


def test_columns_that_cannot_be_studentised_touch_nobody() -> None:
    values = np.random.default_rng(3).normal(0.4, 1, (30, 2))
    alone = bootstrap_max_t(paired_differences(np.zeros(30), values), resamples=499)
    columns = [values[:, 0], np.zeros(30), np.full(30, 0.1), values[:, 1]]
    joined = bootstrap_max_t(paired_differences(np.zeros(30), np.column_stack(columns)), resamples=499)
    assert joined.p_adjusted[1:3].tolist() == [1.0, 1.0]
    assert np.isnan(joined.adjusted_low[1])
    assert joined.adjusted_low[2] == -np.inf
    assert joined.family_size == 2
    for name in NUMBERS:
        assert_array_equal(getattr(joined, name)[[0, 3]], getattr(alone, name), err_msg=name)


def test_resamples_without_spread_are_left_out_of_the_maximum() -> None:
    values = np.zeros((25, 2))
    values[:2, 0] = 0.5
    values[:, 1] = np.random.default_rng(3).normal(0.5, 1, 25)
    result = bootstrap_max_t(paired_differences(np.zeros(25), values), resamples=1999)
    expected = (23 / 25) ** 25
    assert abs(result.left_out[0] / 1999 - expected) < 4 * np.sqrt(expected / 1999)
    assert result.left_out[1] == 0
    assert np.isfinite(result.critical_value)


def test_columns_of_different_queries_are_resampled_jointly() -> None:
    values = np.random.default_rng(3).normal(0.5, 1, (40, 2))
    values[:10, 0], values[30:, 1] = np.nan, np.nan
    result = bootstrap_max_t(paired_differences(np.zeros(40), values), resamples=499)
    assert result.n.tolist() == [30, 30]
    assert np.all(np.isfinite(result.adjusted_low))


def test_more_members_widen_every_interval() -> None:
    values = np.random.default_rng(3).normal(0.5, 1, (40, 10))
    d = paired_differences(np.zeros(40), values)
    few, many = (bootstrap_max_t(d.select(range(m)), resamples=999) for m in (2, 10))
    assert many.critical_value > few.critical_value
    assert np.all(many.p_adjusted[:2] >= few.p_adjusted)


def test_nothing_to_test() -> None:
    result = bootstrap_max_t(paired_differences([0.1, 0.2], [0.1, 0.2]), resamples=99)
    assert result.p_adjusted.tolist() == [1.0]
    assert result.critical_value == 0
