from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from rankstats.errors import RankstatsError
from rankstats.stats import best_systems, paired_differences, sign_flip_test
from tests.stats.several import assert_same, made, matrices

METHODS = ("bootstrap", "randomisation")


def test_exact_flips_equal_the_definition() -> None:
    values = made(9, 4, spread=0.4)
    signs = np.array(list(product([1, -1], repeat=9)))
    p, critical = [], []
    for i in range(4):
        d = np.delete(values, i, axis=1) - values[:, [i]]
        root = np.sqrt((d**2).sum(axis=0))
        largest, observed = (signs @ d / root).max(axis=1), (d.sum(axis=0) / root).max()
        p.append(np.mean(largest >= observed - 1e-9))
        # 512 patterns: p ≤ .05 for at most 25 of them
        critical.append(np.sort(largest)[-26])
    result = best_systems(values, method="randomisation")
    assert result.exact
    assert_allclose(result.p_value, p, rtol=1e-12)
    assert_array_equal(result.candidate, np.array(p) > 0.05)
    means = values.mean(axis=0)
    assert_allclose(result.estimate, [means[i] - np.delete(means, i).max() for i in range(4)], atol=1e-9)


def test_two_systems_are_the_one_sided_sign_flip_test() -> None:
    values = made(14, 2)
    first = best_systems(values, method="randomisation")
    for system, alternative in ((0, "greater"), (1, "less")):
        alone = sign_flip_test(paired_differences(values[:, 0], values[:, 1]), alternative=alternative)
        assert_allclose(first.p_value[system], alone.p_value[0], rtol=1e-14)


def test_bootstrap_by_hand() -> None:
    values = np.random.default_rng(2).normal([0.0, 0.4, 0.5], 0.5, (30, 3))
    words = np.random.default_rng(7).integers(0, 2**64 - 1, size=(199, 15), dtype=np.uint64, endpoint=True)
    rows = ((words.astype("<u8").view("<u4").astype(np.uint64) * np.uint64(30)) >> np.uint64(32)).astype(int)
    means, n = values.mean(axis=0), 30
    largest = np.empty((199, 3))
    for b, chosen in enumerate(rows):
        for i in range(3):
            d = np.delete(values, i, axis=1) - values[:, [i]]
            drawn = d[chosen]
            error = drawn.std(axis=0, ddof=1) / np.sqrt(n)
            largest[b, i] = np.max((drawn.mean(axis=0) - d.mean(axis=0)) / error)
    result = best_systems(values, resamples=199, rng=7)
    for i in range(3):
        d = np.delete(values, i, axis=1) - values[:, [i]]
        observed = np.max(d.mean(axis=0) / (d.std(axis=0, ddof=1) / np.sqrt(n)))
        assert_allclose(result.p_value[i], (np.count_nonzero(largest[:, i] >= observed) + 1) / 200)
    critical = np.sort(largest, axis=0)[-10]
    d = values[:, [0, 1]] - values[:, [2]]
    upper = np.min(-(d.mean(axis=0) - critical[2] * d.std(axis=0, ddof=1) / np.sqrt(n)))
    assert_allclose(result.high[2], max(upper, 0.0), rtol=1e-6)
    assert_allclose(result.estimate[2], means[2] - means[:2].max(), atol=1e-9)


@settings(deadline=None, max_examples=60)
@given(matrices(), st.sampled_from([0.01, 0.05, 0.2, 0.4]), st.sampled_from(METHODS), st.sampled_from([19, 199]))
def test_consistent(values: np.ndarray, alpha: float, method: str, resamples: int) -> None:
    result = best_systems(values, method=method, alpha=alpha, resamples=resamples)
    if not result.n:
        assert np.isnan(result.p_value).all()
        return
    leader = result.estimate >= 0
    assert leader.any()
    assert result.candidate[leader].all()
    assert_array_equal(result.candidate, (result.p_value > alpha) | leader)
    assert np.all(result.high[~result.candidate] == 0)
    assert np.all(result.low <= 0)
    assert np.all(result.high >= 0)
    assert np.all(result.p_value > 0)
    tolerance = 1e-6 * np.nanmax(np.abs(values))
    assert np.all(result.low <= result.estimate + tolerance)
    assert np.all(result.high >= result.estimate - tolerance)
    fewer = best_systems(values, method=method, alpha=min(2 * alpha, 0.45), resamples=resamples)
    assert np.all(fewer.candidate <= result.candidate)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n", [10, 40])
def test_batches_and_names(method: str, n: int) -> None:
    values = made(n, 5) ** 2
    weights = np.random.default_rng(3).exponential(size=n)
    whole = best_systems(values, weights, method=method, resamples=150)
    for batch in (1, 7, 1000):
        assert_same(whole, best_systems(values, weights, method=method, resamples=150, batch=batch))
    order = np.array([3, 0, 4, 1, 2])
    renamed = best_systems(values[:, order], weights, method=method, resamples=150)
    for name in ("p_value", "candidate"):
        assert_array_equal(getattr(renamed, name), getattr(whole, name)[order])
    for name in ("estimate", "low", "high"):
        assert_allclose(getattr(renamed, name), getattr(whole, name)[order], atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_a_clear_winner_is_alone_and_identical_systems_share(method: str) -> None:
    rng = np.random.default_rng(1)
    values = rng.random((40, 1)) / 10 + rng.normal(0, 0.02, (40, 4)) + np.array([0.0, 0.1, 0.2, 0.5])
    result = best_systems(values, method=method)
    assert result.candidate.tolist() == [False, False, False, True]
    assert result.low[3] == 0
    assert 0.28 < result.high[3] < 0.32
    twins = best_systems(np.column_stack([values, values[:, 3]]), method=method)
    assert twins.candidate.tolist() == [False, False, False, True, True]
    assert_array_equal(twins.p_value[:3], result.p_value[:3])
    assert np.all(twins.high == 0)
    same = best_systems(values[:, [0, 0]], method=method)
    assert same.p_value.tolist() == [1.0, 1.0]
    assert same.candidate.all()


@pytest.mark.parametrize("method", METHODS)
def test_incomplete_queries_are_left_out_and_counted(method: str) -> None:
    values = made(30, 3)
    values[4, 1] = np.nan
    given_values = values.copy()
    result = best_systems(values, method=method, resamples=99)
    assert (result.n, result.left_out) == (29, 1)
    assert_array_equal(values, given_values)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_the_best_is_kept_with_its_probability(method: str) -> None:
    repetitions, kept, covered = 600, 0, 0
    truth = np.array([0.0, 0.2, 0.25, 0.3])
    differences = np.array([truth[i] - np.delete(truth, i).max() for i in range(4)])
    for repetition in range(repetitions):
        rng = np.random.default_rng(repetition)
        values = rng.normal(0, 0.5, (40, 1)) + rng.normal(truth, 0.4, (40, 4))
        result = best_systems(values, method=method, resamples=399, rng=repetition)
        kept += bool(result.candidate[3])
        covered += bool(np.all((result.low <= differences + 1e-12) & (result.high >= differences - 1e-12)))
    band = 4 * np.sqrt(0.05 * 0.95 / repetitions)
    assert kept / repetitions > 0.95 - band
    assert covered / repetitions > 0.95 - band
    assert covered <= kept


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({"method": "bootstrp"}, "did you mean 'bootstrap'"), ({"alpha": 0}, "alpha"), ({"batch": 0}, "batch")],
)
def test_messages(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(RankstatsError, match=message):
        best_systems(made(5, 3), **arguments)
    with pytest.raises(RankstatsError, match="at least 2 systems"):
        best_systems([0.1, 0.2])
