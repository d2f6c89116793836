"""The exchange test of statistics that are no means: enumerated by hand, by scipy, and in general."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats as scipy_stats

from rankstats.errors import RankstatsError
from rankstats.stats import list_exchange_test, paired_differences, sign_flip_test

Lists = list[list[int]]
few = settings(deadline=None, max_examples=40)


def coverage(lists: NDArray[Any]) -> NDArray[np.float64]:
    return np.array([float(len(np.unique(block[block >= 0]))) for block in lists])


def entropy(lists: NDArray[Any]) -> NDArray[np.float64]:
    found = []
    for block in lists:
        counts = np.array(sorted(Counter(block[block >= 0].tolist()).values()), dtype=float)
        share = counts / counts.sum()
        found.append(-float((share * np.log2(share)).sum()))
    return np.array(found)


def geometric_mean(values: NDArray[Any]) -> NDArray[np.float64]:
    return np.exp(np.log(np.maximum(values, 1e-5)).mean(axis=1))


STATISTICS: dict[str, Callable[[NDArray[Any]], NDArray[np.float64]]] = {"coverage": coverage, "entropy": entropy}


@st.composite
def pairs_of_lists(draw: st.DrawFn) -> tuple[Lists, Lists]:
    n, k = draw(st.integers(1, 7)), draw(st.integers(1, 3))
    one_list = st.lists(st.integers(0, 5), min_size=k, max_size=k, unique=True)
    several = st.lists(one_list, min_size=n, max_size=n)
    return draw(several), draw(several)


def brute_force(first: Lists, second: Lists, name: str, alternative: str) -> float:
    """Share of all 2**n exchanges whose difference reaches the observed one."""
    of = STATISTICS[name]

    def difference(one: Lists, other: Lists) -> float:
        return float(of(np.array([other]))[0] - of(np.array([one]))[0])

    observed = difference(first, second)
    reached = []
    for swaps in itertools.product([False, True], repeat=len(first)):
        one = [b if swap else a for a, b, swap in zip(first, second, swaps, strict=True)]
        other = [a if swap else b for a, b, swap in zip(first, second, swaps, strict=True)]
        moved = difference(one, other)
        reached.append(
            {
                "two-sided": abs(moved) >= abs(observed) - 1e-9,
                "greater": moved >= observed - 1e-9,
                "less": moved <= observed + 1e-9,
            }[alternative]
        )
    return sum(reached) / len(reached)


@few
@given(pairs_of_lists(), st.sampled_from(list(STATISTICS)), st.sampled_from(["two-sided", "greater", "less"]))
def test_exact_p_is_that_of_all_exchanges(pair: tuple[Lists, Lists], name: str, alternative: str) -> None:
    result = list_exchange_test(*pair, STATISTICS[name], alternative=alternative)
    assert result.exact
    assert result.p_value == pytest.approx(brute_force(*pair, name, alternative), abs=1e-12)
    assert 0 < result.smallest_p <= result.p_value <= 1


@few
@given(pairs_of_lists(), st.sampled_from(list(STATISTICS)))
def test_exchanging_whole_systems_mirrors_the_result(pair: tuple[Lists, Lists], name: str) -> None:
    first, second = pair
    there = list_exchange_test(first, second, STATISTICS[name])
    back = list_exchange_test(second, first, STATISTICS[name])
    assert (there.first, there.second, there.difference) == (back.second, back.first, -back.difference)
    assert there.p_value == back.p_value
    greater = list_exchange_test(first, second, STATISTICS[name], alternative="greater")
    less = list_exchange_test(second, first, STATISTICS[name], alternative="less")
    assert greater.p_value == less.p_value


def made(n: int = 60, k: int = 4) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Lists of a narrow and of a wider choice of documents, equal on every fifth query."""
    rng = np.random.default_rng(7)
    first = np.array([rng.permutation(20)[:k] for _ in range(n)])
    second = np.array([rng.permutation(60)[:k] for _ in range(n)])
    second[::5] = first[::5]
    return first, second


@pytest.mark.parametrize("name", STATISTICS)
def test_drawn_exchanges_mirror_too(name: str) -> None:
    first, second = made()
    there = list_exchange_test(first, second, STATISTICS[name], resamples=199)
    back = list_exchange_test(second, first, STATISTICS[name], resamples=199)
    assert not there.exact
    assert there.difference == -back.difference
    assert there.p_value == back.p_value


def test_identical_systems() -> None:
    first, _ = made()
    for lists in (first, first[:5]):
        result = list_exchange_test(lists, lists, coverage)
        assert (result.difference, result.p_value, result.n_different, result.patterns) == (0, 1, 0, 1)


def test_equal_statistics_of_different_lists() -> None:
    first, second = [[0, 1], [2, 3]], [[2, 3], [0, 1]]
    assert list_exchange_test(first, second, coverage).p_value == 1


def test_what_the_result_says() -> None:
    first, second = made()
    result = list_exchange_test(first, second, coverage, resamples=999)
    assert (result.n, result.n_different, result.patterns) == (60, 48, 999)
    assert result.first == len(np.unique(first)) < result.second == len(np.unique(second))
    assert result.p_value == result.smallest_p == 1 / 1000
    assert list_exchange_test(first, second, coverage, resamples=999, alternative="less").p_value == 1
    (row,) = result.to_dicts()
    assert row["p_value"] == 0.001
    assert row["alternative"] == "two-sided"
    with pytest.raises(FrozenInstanceError):
        result.n = 3  # type: ignore[misc]  # it must not be possible


@pytest.mark.parametrize("name", STATISTICS)
def test_numbers_do_not_depend_on_the_batch_and_follow_the_seed(name: str) -> None:
    first, second = made(n=40)
    second = np.where(second < 22, second, first)
    whole = list_exchange_test(first, second, STATISTICS[name], resamples=300)
    assert not whole.exact
    assert 0.01 < whole.p_value < 0.99
    for batch in (1, 7, 1000):
        assert list_exchange_test(first, second, STATISTICS[name], resamples=300, batch=batch) == whole
    seeds = (list_exchange_test(first, second, STATISTICS[name], resamples=300, rng=s) for s in (0, 1, 2, 3))
    p_values = [result.p_value for result in seeds]
    assert p_values[0] == whole.p_value
    assert len(set(p_values)) > 1


def test_drawn_p_is_near_the_exact_one() -> None:
    rng = np.random.default_rng(1)
    first, second = rng.integers(0, 12, (12, 2)), rng.integers(0, 15, (12, 2))
    exact = list_exchange_test(first, second, coverage)
    assert exact.exact
    assert exact.patterns == 2**exact.n_different
    # queries whose two lists hold the same documents: their exchange changes no number, but they are too many
    same = np.array([[20, 21], [22, 23]] * 3)
    drawn = list_exchange_test(
        np.concatenate([first, same]), np.concatenate([second, same[:, ::-1]]), coverage, resamples=4000
    )
    assert not drawn.exact
    assert drawn.difference == exact.difference
    assert 0.01 < exact.p_value < 0.9
    assert abs(drawn.p_value - exact.p_value) < 4 * np.sqrt(exact.p_value * (1 - exact.p_value) / 4000)


def test_scipy_exchanges_alike() -> None:
    rng = np.random.default_rng(3)
    first, second = rng.integers(0, 9, (8, 3)), rng.integers(0, 14, (8, 3))
    both = np.concatenate([first, second])

    def difference(x: NDArray[Any], y: NDArray[Any]) -> float:
        return float(coverage(both[None, y])[0] - coverage(both[None, x])[0])

    for alternative in ("two-sided", "greater", "less"):
        # scipy's statistic is of the first sample less the second, ours of the second less the first
        theirs = scipy_stats.permutation_test(
            (np.arange(8), np.arange(8, 16)),
            difference,
            permutation_type="samples",
            n_resamples=np.inf,
            alternative=alternative,
            vectorized=False,
        )
        ours = list_exchange_test(first, second, coverage, alternative=alternative)
        assert ours.difference == theirs.statistic
        assert ours.p_value == pytest.approx(theirs.pvalue, abs=1e-12)


@few
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=8))
def test_of_a_mean_it_is_the_sign_flip_test(values: list[tuple[int, int]]) -> None:
    first, second = np.array(values, dtype=float).T
    ours = list_exchange_test(first, second, lambda blocks: blocks.mean(axis=1))
    flips = sign_flip_test(paired_differences(first, second))
    assert ours.p_value == pytest.approx(flips.p_value[0], abs=1e-12)


def test_a_geometric_mean() -> None:
    rng = np.random.default_rng(5)
    first = rng.random(40)
    result = list_exchange_test(first, np.minimum(1.0, first * 1.5), geometric_mean, resamples=999)
    assert result.difference > 0
    assert result.p_value == 0.001


@few
@given(pairs_of_lists())
def test_the_level_is_kept_over_all_exchanges(pair: tuple[Lists, Lists]) -> None:
    first, second = pair
    p_values = []
    for swaps in itertools.product([False, True], repeat=len(first)):
        one = [b if swap else a for a, b, swap in zip(first, second, swaps, strict=True)]
        other = [a if swap else b for a, b, swap in zip(first, second, swaps, strict=True)]
        p_values.append(list_exchange_test(one, other, coverage).p_value)
    for level in sorted(set(p_values)):
        assert np.mean(np.array(p_values) <= level) <= level + 1e-12


def test_an_undefined_statistic() -> None:
    def undefined(blocks: NDArray[Any]) -> NDArray[np.float64]:
        return np.full(len(blocks), np.nan)

    result = list_exchange_test([[1], [2]], [[1], [3]], undefined)
    assert np.isnan(result.p_value)
    assert result.to_dicts()[0]["p_value"] is None


@pytest.mark.parametrize(
    ("first", "second", "arguments", "message"),
    [
        ([[1]], [[1], [2]], {}, r"shapes \(1, 1\) and \(2, 1\)"),
        ([[1]], [[1, 2]], {}, "same shape for both systems"),
        ([], [], {}, "one block for each query"),
        (1, 2, {}, "one block for each query"),
        ([[1]], [[2]], {"alternative": "bigger"}, "choose one of two-sided, greater, less"),
        ([[1]], [[2]], {"resamples": 0}, "resamples = 0"),
        ([[1]], [[2]], {"batch": 0}, "batch = 0"),
    ],
)
def test_wrong_arguments(first: Any, second: Any, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(RankstatsError, match=message):
        list_exchange_test(first, second, coverage, **arguments)


def test_what_is_handed_in_stays_as_it_is() -> None:
    first, second = made()
    before = first.copy(), second.copy()
    list_exchange_test(first, second, coverage, resamples=99)
    np.testing.assert_array_equal(first, before[0])
    np.testing.assert_array_equal(second, before[1])


def arithmetic_mean(values: NDArray[Any]) -> NDArray[np.float64]:
    return np.asarray(values.mean(axis=1))


@few
@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=8),
    st.sampled_from([0.0, 1.0, 1e6, -1e6]),
    st.sampled_from([0.1, 1e-4, 1e-6]),
)
def test_small_differences_beside_large_values_are_told_apart(
    pairs: list[tuple[int, int]], level: float, unit: float
) -> None:
    """Exact ties stay ties and differences remain differences: p is that of the whole numbers behind the values."""
    whole = np.array(pairs, dtype=float)
    expected = list_exchange_test(whole[:, 0], whole[:, 1], arithmetic_mean)
    values = level + unit * whole
    found = list_exchange_test(values[:, 0], values[:, 1], arithmetic_mean)
    signs = np.array(list(itertools.product([-1.0, 1.0], repeat=len(pairs))))
    moved = signs @ (whole[:, 1] - whole[:, 0])
    by_hand = float(np.mean(np.abs(moved) >= abs((whole[:, 1] - whole[:, 0]).sum())))
    assert expected.p_value == pytest.approx(by_hand)
    assert found.p_value == expected.p_value
    if unit >= 1e-7 * abs(level):  # differences of a ten-billionth of the values are ties to the flips
        flips = sign_flip_test(paired_differences(values[:, 0], values[:, 1]))
        assert found.p_value == pytest.approx(float(flips.p_value[0]))


def test_drawn_exchanges_of_values_far_from_0_agree_with_those_near_0() -> None:
    rng = np.random.default_rng(3)
    near = np.round(rng.normal(0.3, 1.0, 40) * 2**10) / 2**10
    zero = np.zeros(40)
    plain = list_exchange_test(zero, near, arithmetic_mean, resamples=999)
    far = list_exchange_test(zero + 2.0**20, near + 2.0**20, arithmetic_mean, resamples=999)
    assert plain.p_value == far.p_value < 0.5
