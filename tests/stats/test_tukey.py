from __future__ import annotations

from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from rankstats.errors import RankstatsError
from rankstats.stats import all_pairs, randomised_tukey, sign_flip_test
from rankstats.stats.complete_values import complete_values, pairwise_differences, systems_of
from rankstats.stats.query_permutations import drawn_sums, enumerated_sums
from tests.stats.cases import leaves_out_zero, levels
from tests.stats.several import assert_same, digests_by_threads, expected, made, matrices, matrix


def test_all_7776_permutations_count_as_plain_enumeration() -> None:
    theirs = expected("m5x3")["python"]["randomised_tukey_hsd_exact"]
    result = randomised_tukey(matrix("m5x3"))
    assert result.exact
    assert result.patterns == theirs["total"]
    assert (result.p_adjusted * theirs["total"]).tolist() == theirs["count"]
    assert result.p_adjusted.tolist() == theirs["p"]


def _by_hand(values: np.ndarray, weights: np.ndarray, alpha: float) -> tuple[list[float], float]:
    """Enumerate with plain sums; the critical value is the largest range reached by more than alpha."""
    m, total = values.shape[1], weights.sum()
    arrangements = [np.array(p) for p in permutations(range(m))]
    ranges = np.array(
        [
            np.ptp(sum(w * row[order] for w, row, order in zip(weights, values, orders, strict=True))) / total
            for orders in product(arrangements, repeat=len(values))
        ]
    )
    mean = weights @ values / total
    first, second = all_pairs(m)
    p = [float(np.mean(ranges >= abs(d) - 1e-9)) for d in mean[second] - mean[first]]
    return p, max(r for r in ranges if np.mean(ranges >= r - 1e-9) > alpha)


@settings(deadline=None, max_examples=25)
@given(st.integers(1, 4), st.integers(2, 3), st.integers(0, 10**6), st.booleans(), st.booleans(), levels)
def test_enumeration_equals_the_definition(n: int, m: int, seed: int, weighted: bool, tied: bool, alpha: float) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 4, (n, m)) / 10 if tied else rng.random((n, m))
    weights = rng.integers(1, 5, n).astype(float) if weighted else np.ones(n)
    result = randomised_tukey(values, weights, alpha=alpha)
    p, critical = _by_hand(values, weights, alpha)
    assert result.exact
    assert_allclose(result.p_adjusted, p, rtol=1e-12)
    if np.isfinite(result.critical_value):
        assert_allclose(result.critical_value, critical, atol=1e-8)


def test_the_level_holds_exactly_over_all_permutations() -> None:
    """With every permutation of the same data as likely, any pair is rejected in at most alpha of them."""
    values = np.random.default_rng(9).random((4, 3)).round(1)
    arrangements = [list(p) for p in permutations(range(3))]
    smallest = np.array(
        [
            randomised_tukey(np.array([row[order] for row, order in zip(values, orders, strict=True)])).p_adjusted.min()
            for orders in product(arrangements, repeat=4)
        ]
    )
    for alpha in (0.02, 0.05, 0.1, 0.2, 0.5):
        assert np.mean(smallest <= alpha) <= alpha
    assert np.mean(smallest <= 0.5) > 0.2


def test_two_systems_are_the_sign_flip_test() -> None:
    values = np.random.default_rng(2).integers(0, 6, (14, 2)) / 5
    assert_allclose(
        randomised_tukey(values).p_adjusted, sign_flip_test(pairwise_differences(values)).p_value, rtol=1e-14
    )


def test_ties_let_more_queries_be_enumerated() -> None:
    values = np.random.default_rng(2).integers(0, 3, (14, 3)) / 2
    exact, drawn = randomised_tukey(values), 40_000
    assert exact.exact
    ranges = np.concatenate(
        [
            np.ptp(sums, axis=1)
            for _, sums in drawn_sums(complete_values(values).integers, drawn, np.random.default_rng(5))
        ]
    )
    sums = complete_values(values).integers.sum(axis=0)
    first, second = all_pairs(3)
    p = np.mean(ranges[:, None] >= np.abs(sums[second] - sums[first]), axis=0)
    assert np.all(np.abs(p - exact.p_adjusted) < 4.5 * np.sqrt(p * (1 - p) / drawn) + 1 / drawn)


def test_drawn_equals_exact_within_error(monkeypatch: pytest.MonkeyPatch) -> None:
    values = matrix("m5x3")
    exact, drawn = randomised_tukey(values), 40_000
    monkeypatch.setattr("rankstats.stats.query_permutations._ENUMERATED_ROWS", 1)
    result = randomised_tukey(values, resamples=drawn)
    assert not result.exact
    p = exact.p_adjusted
    assert np.all(np.abs(result.p_adjusted - p) < 4.5 * np.sqrt(p * (1 - p) / drawn))
    assert_allclose(result.critical_value, exact.critical_value, rtol=0.05)


def test_drawn_permutations_are_uniform() -> None:
    drawn = 24_000
    place_values = 4.0 ** np.arange(4)
    sums = np.concatenate([s for _, s in drawn_sums(place_values[None], drawn, np.random.default_rng(1))])
    distinct, counts = np.unique(sums, axis=0, return_counts=True)
    assert len(distinct) == 24
    chi2 = float(np.sum((counts - drawn / 24) ** 2 / (drawn / 24)))
    assert chi2 < 60


def test_enumeration_gives_up_on_many_sums() -> None:
    assert enumerated_sums(np.random.default_rng(0).random((50, 3))) is None
    assert enumerated_sums(np.random.default_rng(0).random((9, 3))) is None
    assert enumerated_sums(np.random.default_rng(0).random((2, 12))) is None


@settings(deadline=None, max_examples=80)
@given(matrices(), levels, st.sampled_from([1, 19, 199]))
def test_p_and_interval_agree_exactly(values: np.ndarray, alpha: float, resamples: int) -> None:
    result = randomised_tukey(values, alpha=alpha, resamples=resamples)
    assert_array_equal(result.p_adjusted <= alpha, leaves_out_zero(result.adjusted_low, result.adjusted_high))
    if result.n:
        assert np.all(result.p_adjusted > 0)
        assert np.all(result.p_adjusted <= 1)
        assert np.all(result.p_adjusted[result.estimate == 0] == 1)
    wide = randomised_tukey(values, alpha=alpha / 2, resamples=resamples)
    assert_array_equal(wide.p_adjusted, result.p_adjusted)
    assert result.n == 0 or wide.critical_value >= result.critical_value


@settings(deadline=None, max_examples=40)
@given(matrices(), st.randoms(use_true_random=False), st.integers(-20, 20))
def test_names_signs_and_scale(values: np.ndarray, random: Any, power: int) -> None:
    m, factor = values.shape[1], 2.0**power
    order = list(range(m))
    random.shuffle(order)
    one = randomised_tukey(values, resamples=99)
    renamed = randomised_tukey(values[:, order], resamples=99)
    negated = randomised_tukey(-values, resamples=99)
    scaled = randomised_tukey(values * factor, resamples=99)
    table = np.ones((m, m))
    table[one.baseline, one.system] = table[one.system, one.baseline] = one.p_adjusted
    assert_array_equal(renamed.p_adjusted, table[np.array(order)[one.baseline], np.array(order)[one.system]])
    assert_array_equal(one.critical_value, renamed.critical_value)
    assert_array_equal(one.p_adjusted, scaled.p_adjusted)
    assert_array_equal(one.adjusted_low * factor, scaled.adjusted_low)
    assert_allclose(one.estimate, -negated.estimate, atol=1e-8 * np.nanmax(np.abs(values), initial=1.0))
    if one.exact:
        assert_allclose(one.p_adjusted, negated.p_adjusted, atol=1e-12)


def test_adding_a_constant_to_a_query_changes_nothing() -> None:
    values = made(20, 4)
    shifted = values + np.arange(20)[:, None] / 4
    assert_allclose(
        randomised_tukey(values, resamples=199).p_adjusted, randomised_tukey(shifted, resamples=199).p_adjusted
    )


def test_batches() -> None:
    values = made(30, 5)
    whole = randomised_tukey(values, resamples=150)
    for batch in (1, 7, 1000):
        assert_same(whole, randomised_tukey(values, resamples=150, batch=batch))


PROGRAM = """
from tests.stats.several import made
from rankstats.stats import randomised_tukey, tukey_hsd, best_systems
values = made(900, 7) / 3
print([randomised_tukey(values, resamples=99).to_dicts(), tukey_hsd(values).to_dicts()])
print([best_systems(values, method=m, resamples=99).to_dicts() for m in ("bootstrap", "randomisation")])
"""


def test_threads() -> None:
    assert len(digests_by_threads(PROGRAM)) == 1


def test_incomplete_queries_are_left_out_and_counted() -> None:
    values = made(30, 4)
    values[3, 1], values[7, 2] = np.nan, np.nan
    result = randomised_tukey(values, resamples=99)
    assert (result.n, result.left_out) == (28, 2)
    assert_array_equal(result.p_adjusted, randomised_tukey(np.delete(values, [3, 7], axis=0), resamples=99).p_adjusted)


def test_equal_weights_are_no_weights() -> None:
    values = made(12, 3)
    one, other = randomised_tukey(values, resamples=99), randomised_tukey(values, np.full(12, 3.0), resamples=99)
    assert_array_equal(one.p_adjusted, other.p_adjusted)
    assert_allclose(one.adjusted_low, other.adjusted_low)


def test_too_few_queries_for_the_level() -> None:
    result = randomised_tukey([[0.1, 0.9], [0.2, 0.8], [0.0, 0.7]])
    assert result.p_adjusted.tolist() == [0.25]
    assert result.adjusted_low.tolist() == [-np.inf]
    none = randomised_tukey(np.zeros((0, 3)))
    assert np.isnan(none.p_adjusted).all()
    same = randomised_tukey(np.full((5, 3), 0.3))
    assert same.p_adjusted.tolist() == [1.0] * 3


def test_values_one_unit_apart_are_tied() -> None:
    kept = complete_values([[0.3 - 0.1, 0.2, 0.1 + 0.1], [0.5, 0.6, 0.7]])
    assert kept.integers[0].tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([0.1, 0.2], "at least 2 systems"),
        ([[0.1], [0.2]], "at least 2 systems"),
        ([[0.1, np.inf]], "infinite"),
    ],
)
def test_messages(values: Any, message: str) -> None:
    with pytest.raises(RankstatsError, match=message):
        randomised_tukey(values)


def test_more_messages() -> None:
    with pytest.raises(RankstatsError, match="weights"):
        randomised_tukey([[0.1, 0.2]], [-1.0])
    with pytest.raises(RankstatsError, match="resamples"):
        randomised_tukey([[0.1, 0.2]], resamples=0)
    with pytest.raises(RankstatsError, match="7 pairs"):
        systems_of(7)
    with pytest.raises(RankstatsError, match="queries, systems"):
        pairwise_differences([0.1, 0.2])
