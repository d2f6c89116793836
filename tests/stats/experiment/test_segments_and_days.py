"""Effects of segments compared with each other, and arms by day."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from statsmodels.regression.linear_model import OLS

from rankstats.errors import RankstatsError
from rankstats.stats import (
    aggregated_moments,
    compare_arms,
    confidence_sequence,
    daily_moments,
    effects_weighted,
    mean_pair,
    segment_effects,
    stack_moments,
    unit_moments,
)


def _segments(seed: int, sizes: list[int]) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    return tuple(  # type: ignore[return-value]  # two arms
        stack_moments(
            [unit_moments(rng.gamma(2, 1 + place, size) + effect * place) for place, size in enumerate(sizes)]
        )
        for effect in (0.0, 0.2)
    )


@given(st.integers(0, 10_000))
@settings(max_examples=30)
def test_the_interaction_by_least_squares(seed: int) -> None:
    """Four cells of equal size: the interaction of a saturated regression is the difference of differences."""
    rng = np.random.default_rng(seed)
    cells = [rng.normal(size=40) for _ in range(4)]
    control = stack_moments([unit_moments(cells[0]), unit_moments(cells[1])])
    treatment = stack_moments([unit_moments(cells[2]), unit_moments(cells[3])])
    ours = segment_effects(mean_pair(control, treatment))
    treated, second = np.repeat([0, 0, 1, 1], 40), np.tile(np.repeat([0, 1], 40), 2)
    fit = OLS(np.concatenate(cells), np.column_stack([np.ones(160), treated, second, treated * second])).fit()
    assert_allclose(ours.estimate[0], fit.params[3], rtol=1e-8)
    assert_allclose(ours.standard_error[0], fit.bse[3], rtol=1e-8)
    assert_allclose(ours.p_value[0], 2 * stats.t.sf(abs(fit.tvalues[3]), ours.df[0]), rtol=1e-6)
    assert 39 <= ours.df[0] <= 156 + 1e-9


def test_two_segments_by_hand() -> None:
    pair = mean_pair(
        aggregated_moments([500, 400], [2.0, 3.0], [1.0, 1.5]), aggregated_moments([510, 390], [2.3, 3.0], [1.1, 1.4])
    )
    parts = np.array([1.0 / 500, 1.1 / 510, 1.5 / 400, 1.4 / 390])
    ours = segment_effects(pair)
    error, df = np.sqrt(parts.sum()), parts.sum() ** 2 / np.sum(parts**2 / np.array([499, 509, 399, 389]))
    assert_allclose([ours.estimate[0], ours.standard_error[0], ours.df[0]], [-0.3, error, df], rtol=1e-9)
    assert_allclose(ours.p_value[0], 2 * stats.t.sf(0.3 / error, df), rtol=1e-9)
    # Cochran's Q of two effects is the square of their standardised difference
    assert_allclose([ours.q, ours.q_p_value], [(0.3 / error) ** 2, stats.chi2.sf((0.3 / error) ** 2, 1)], rtol=1e-9)
    assert not ours.reversal


def test_several_segments() -> None:
    control, treatment = _segments(3, [60, 80, 70])
    pair = mean_pair(control, treatment)
    ours = segment_effects(pair, alpha=0.1)
    assert list(zip(ours.first.tolist(), ours.second.tolist(), strict=True)) == [(0, 1), (0, 2), (1, 2)]
    weights = 1 / pair.variance
    centre = np.sum(weights * pair.difference) / weights.sum()
    assert_allclose(ours.q, np.sum(weights * (pair.difference - centre) ** 2))
    assert_array_equal(ours.p_value <= 0.1, (ours.low > 0) | (ours.high < 0))
    assert np.all(ours.p_adjusted >= ours.p_value)
    relative = segment_effects(pair, scale="delta")
    of_segments = compare_arms(pair, scale="delta")
    assert_allclose(relative.estimate[0], of_segments.estimate[1] - of_segments.estimate[0])


def test_a_reversal_and_a_segment_without_spread() -> None:
    pair = mean_pair(
        stack_moments([unit_moments([1.0, 2.0, 3.0]), unit_moments([5.0, 6.0, 7.0]), unit_moments([1.0])]),
        stack_moments([unit_moments([2.0, 3.0, 4.0]), unit_moments([4.0, 5.0, 5.0]), unit_moments([1.0, 3.0])]),
    )
    ours = segment_effects(pair)
    assert ours.reversal
    # the third segment has no standard error and no say
    assert ours.p_value[1] == 1
    assert np.isinf(ours.low[1])
    assert ours.p_value[0] < 0.2
    assert np.isfinite(ours.q)


def test_post_stratification() -> None:
    control, treatment = _segments(4, [50, 50, 60])
    pair = mean_pair(control, treatment)
    effect, error = effects_weighted(pair, [2, 0, 6])
    assert_allclose(effect, 0.25 * pair.difference[0] + 0.75 * pair.difference[2])
    assert_allclose(error, np.sqrt(0.0625 * pair.variance[0] + 0.5625 * pair.variance[2]))


def _by_hand(units: Any, days: Any, values: Any, day: Any, *, to_date: bool) -> tuple[int, float, float]:
    totals: dict[Any, float] = {}
    for unit, when, value in zip(units, days, values, strict=True):
        if when == day or (to_date and when <= day):
            totals[unit] = totals.get(unit, 0.0) + value
    numbers = np.array(list(totals.values()))
    return len(numbers), float(numbers.mean()), float(numbers.var(ddof=1)) if len(numbers) > 1 else np.nan


@given(st.integers(0, 10_000))
@settings(max_examples=30)
def test_days_by_hand(seed: int) -> None:
    rng = np.random.default_rng(seed)
    units = rng.choice([f"u{i}" for i in range(12)], 50)
    days, values = rng.integers(1, 6, 50), rng.lognormal(size=50)
    ours = daily_moments(units, days, values, values * 2)
    assert_array_equal(ours.day, np.unique(days))
    for place, day in enumerate(ours.day):
        for moments, to_date in ((ours.on_day, False), (ours.to_date, True)):
            n, mean, variance = _by_hand(units, days, values, day, to_date=to_date)
            assert moments.n[place] == n
            assert_allclose(moments.mean[place], [mean, 2 * mean], rtol=1e-12)
            assert_allclose(moments.covariance[place, 0, 0], variance, rtol=1e-9)


def test_days_without_rows_and_days_as_text() -> None:
    ours = daily_moments(
        ["u", "v"], ["2024-05-02", "2024-05-04"], [1.0, 3.0], all_days=["2024-05-02", "2024-05-03", "2024-05-04"]
    )
    assert ours.on_day.n.tolist() == [1, 0, 1]
    assert ours.to_date.n.tolist() == [1, 1, 2]
    assert ours.to_date.mean.ravel().tolist() == [1.0, 1.0, 2.0]


def test_the_last_day_is_the_experiment_and_days_make_looks() -> None:
    rng = np.random.default_rng(7)
    arms = []
    for shift in (0.0, 0.4):
        units, days = rng.integers(0, 300, 2000), rng.integers(0, 14, 2000)
        values = rng.exponential(size=2000) + shift
        arms.append((daily_moments(units, days, values), unit_moments(np.bincount(units, values)[np.unique(units)])))
    whole = compare_arms(mean_pair(arms[0][1], arms[1][1]))
    pair = mean_pair(arms[0][0].to_date, arms[1][0].to_date)
    by_day = compare_arms(pair)
    assert_allclose(by_day.p_value[-1], whole.p_value[0], rtol=1e-9)
    n = pair.control_n + pair.treatment_n
    sequence = confidence_sequence(pair.difference, pair.standard_error, n, n_star=600)
    assert np.all(np.diff(sequence.n) >= 0)
    assert np.all(sequence.low <= by_day.low)


PAIR = mean_pair(aggregated_moments([10, 10], [1.0, 1.0], [1.0, 1.0]), aggregated_moments(10, 2.0, 1.0).select([0, 0]))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: segment_effects(PAIR.select([0])), "at least two segments"),
        (lambda: segment_effects(PAIR, scale="log"), "'difference' or 'delta'"),
        (lambda: effects_weighted(PAIR, [1.0]), "one of at least 0 for each of the 2 segments"),
        (lambda: daily_moments(["u"], [1, 2], [1.0, 2.0]), "units have shape"),
        (lambda: daily_moments(["u"], [1]), "at least one variable"),
        (lambda: daily_moments(["u", "v"], [1, 3], [1.0, 2.0], all_days=[1, 2]), "misses a day"),
        (lambda: daily_moments(["u"], [3], [1.0], all_days=[]), "misses a day"),
    ],
)
def test_messages(call: Callable[[], object], message: str) -> None:
    with pytest.raises(RankstatsError, match=message):
        call()
