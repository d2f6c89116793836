"""Agreement of system orders with its bootstrap interval, and swap probabilities."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats as scipy_stats

from rankstats.errors import RankstatsError
from rankstats.stats import (
    all_pairs,
    ap_correlation,
    order_agreement,
    order_agreements,
    swap_probabilities,
    weighted_tau,
)
from tests.shared import shared


def made(seed: int, n: int = 40, m: int = 8) -> tuple[np.ndarray, np.ndarray]:
    """Two measures of the same systems, which share what makes a query hard."""
    rng = np.random.default_rng(seed)
    quality, hard = np.linspace(0, 0.3, m), rng.normal(0, 0.3, (n, 1))
    return tuple(quality + hard + rng.normal(0, 0.2, (n, m)) for _ in range(2))  # type: ignore[return-value]  # of length 2


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 12), st.integers(2, 9), st.integers(0, 10**6))
def test_correlations_are_those_of_the_means(n: int, m: int, seed: int) -> None:
    first, second = np.random.default_rng(seed).integers(0, 4, (2, n, m)) / 4
    result = order_agreement(first, second, resamples=0)
    x, y = first.sum(axis=0), second.sum(axis=0)
    if np.ptp(x) and np.ptp(y):
        assert result.tau_b == pytest.approx(scipy_stats.kendalltau(x, y).statistic, abs=1e-12)
        assert result.rho == pytest.approx(scipy_stats.spearmanr(x, y).statistic, abs=1e-12)
        assert result.weighted_tau == pytest.approx(weighted_tau(x, y), abs=1e-12)
    assert_allclose(result.tau_ap_b, ap_correlation(x, y).tau_ap_b, atol=1e-12)
    i, j = all_pairs(m)
    assert result.opposite == np.sum((x[j] - x[i]) * (y[j] - y[i]) < 0)
    assert result.same_best == (set(np.flatnonzero(x == x.max())) == set(np.flatnonzero(y == y.max())))
    assert np.isnan(result.tau_b_low)


def test_interval_is_that_of_resampled_queries() -> None:
    # to one step of τ, of which 8 systems have 28
    first, second = made(1)
    result = order_agreement(first, second, resamples=4000)
    rng = np.random.default_rng(9)
    taus, aps = [], []
    for _ in range(700):
        rows = rng.integers(0, len(first), len(first))
        x, y = first[rows].mean(axis=0), second[rows].mean(axis=0)
        taus.append(scipy_stats.kendalltau(x, y).statistic)
        aps.append(ap_correlation(x, y).tau_ap_b)
    for drawn, value, low, high in (
        (taus, result.tau_b, result.tau_b_low, result.tau_b_high),
        (aps, result.tau_ap_b, result.tau_ap_b_low, result.tau_ap_b_high),
    ):
        lower, upper = np.quantile(drawn, [0.025, 0.975])
        assert low == pytest.approx(max(-1, min(lower, 2 * value - upper)), abs=0.08)
        assert high == pytest.approx(min(1, max(upper, 2 * value - lower)), abs=0.08)


def test_many_sets_share_their_resamples() -> None:
    sets = [*made(12, m=6), made(13, m=6)[0]]
    sets[1][5] = np.nan
    together = order_agreements(sets, resamples=300, clusters=np.arange(40) // 2)
    pairs = [(0, 1), (0, 2), (1, 2)]
    for (i, j), result in zip(pairs, together, strict=True):
        assert result == order_agreement(sets[i], sets[j], resamples=300, clusters=np.arange(40) // 2)
    assert [result.n_first for result in together] == [40, 40, 39]


def test_segments_are_resampled_by_themselves() -> None:
    values, _ = made(2, n=90)
    long, short = values[:60], values[60:]
    result = order_agreement(long, short, same_queries=False, resamples=3000)
    assert (result.n_first, result.n_second) == (60, 30)
    rng = np.random.default_rng(3)
    taus = []
    for _ in range(700):
        x, y = (part[rng.integers(0, len(part), len(part))].mean(axis=0) for part in (long, short))
        taus.append(scipy_stats.kendalltau(x, y).statistic)
    lower, upper = np.quantile(taus, [0.025, 0.975])
    assert result.tau_b_low == pytest.approx(min(lower, 2 * result.tau_b - upper), abs=0.08)


def test_naming_the_systems_otherwise_changes_nothing() -> None:
    first, second = made(4, m=15)
    second[:, 3] = second[:, 7]
    result = order_agreement(first, second, resamples=500)
    order = np.random.default_rng(0).permutation(15)
    assert order_agreement(first[:, order], second[:, order], resamples=500) == result
    swapped = order_agreement(second, first, resamples=500)
    assert (swapped.tau_b, swapped.tau_b_low, swapped.tau_b_high) == (result.tau_b, result.tau_b_low, result.tau_b_high)


def test_clusters_of_copies_are_single_queries() -> None:
    first, second = made(5)
    label = np.repeat(np.arange(40), 3)
    once = order_agreement(first, second, resamples=300)
    thrice = order_agreement(np.repeat(first, 3, axis=0), np.repeat(second, 3, axis=0), clusters=label, resamples=300)
    assert replace(thrice, n_first=40, n_second=40) == once
    swaps = swap_probabilities(first, resamples=300)
    copied = swap_probabilities(np.repeat(first, 3, axis=0), clusters=label, resamples=300)
    assert_array_equal(swaps.probability, copied.probability)


def test_a_query_that_lacks_a_system_is_left_out_of_its_set_alone() -> None:
    first, second = made(6)
    first[4, 2] = second[9] = np.nan
    result = order_agreement(first, second, resamples=200)
    assert (result.n_first, result.n_second) == (39, 39)
    x, y = np.delete(first, 4, axis=0).mean(axis=0), np.delete(second, 9, axis=0).mean(axis=0)
    assert result.tau_b == pytest.approx(scipy_stats.kendalltau(x, y).statistic)
    assert swap_probabilities(first, resamples=50).n == 39


def test_equal_means_are_ties_however_they_are_rounded() -> None:
    values = np.array([[0.1, 0.3], [0.2, 0.2], [0.3, 0.1]])
    assert sum(values[:, 0].tolist()) != sum(values[:, 1].tolist())
    result = order_agreement(values, values, resamples=50)
    assert np.isnan([result.tau_b, result.tau_ap_b, result.tau_b_low]).all()
    assert np.isnan(swap_probabilities(values, resamples=50).probability).all()


def test_decimal_fractions_order_systems_as_whole_numbers_do() -> None:
    whole = np.random.default_rng(21).integers(0, 11, (2, 30, 7)).astype(float)
    tenths = whole / 10
    assert order_agreement(*tenths, resamples=400) == order_agreement(*whole, resamples=400)
    ours, theirs = (swap_probabilities(values[0], resamples=400) for values in (tenths, whole))
    assert_array_equal(ours.probability, theirs.probability)


def test_swap_probability_is_the_share_of_turned_resamples() -> None:
    values, _ = made(7, n=12, m=5)
    values = np.round(values, 1)
    result = swap_probabilities(values, resamples=20_000)
    rng = np.random.default_rng(8)
    rows = rng.integers(0, 12, (20_000, 12))
    sums = np.rint(values * 10)[rows].sum(axis=1)
    total = np.rint(values * 10).sum(axis=0)
    for i, j, probability in zip(result.baseline, result.system, result.probability, strict=True):
        turned = (sums[:, j] - sums[:, i]) * np.sign(total[j] - total[i])
        expected = np.mean(turned < 0) + np.mean(turned == 0) / 2
        assert probability == pytest.approx(expected, abs=0.02)
    order = np.array([3, 1, 4, 0, 2])
    again = swap_probabilities(values[:, order], resamples=20_000)
    renamed = zip(order[again.baseline], order[again.system], again.probability, strict=True)
    known = {frozenset((a, b)): probability for a, b, probability in renamed}
    for i, j, probability in zip(result.baseline, result.system, result.probability, strict=True):
        assert known[frozenset((i, j))] == probability


def test_an_order_beyond_doubt() -> None:
    values = np.arange(6.0) + np.random.default_rng(0).random((20, 6)) / 10
    result = order_agreement(values, values**2, resamples=99)
    assert (result.tau_b, result.tau_b_low, result.tau_b_high) == (1, 1, 1)
    assert not swap_probabilities(values, resamples=99).probability.any()


def test_many_systems_take_seconds() -> None:
    first, second = made(11, n=50, m=129)
    start = time.perf_counter()
    result = order_agreement(first, second, resamples=2000)
    swap_probabilities(first, resamples=2000)
    assert time.perf_counter() - start < 10
    assert result.n_systems == 129


def test_no_query_at_all() -> None:
    nothing = np.full((3, 4), np.nan)
    result = order_agreement(nothing, nothing, resamples=20)
    assert (result.n_first, result.undefined) == (0, 20)
    assert np.isnan([result.tau_b, result.tau_b_low]).all()
    assert order_agreement(nothing, made(0, m=4)[0], same_queries=False, resamples=20).undefined == 20


def test_messages() -> None:
    values = np.ones((3, 4))
    with pytest.raises(RankstatsError, match="the sets have 3 and 4 systems"):
        order_agreement(values, values[:, :3])
    with pytest.raises(RankstatsError, match="set same_queries = False"):
        order_agreement(values, values[:2])
    with pytest.raises(RankstatsError, match="clusters are for the same queries"):
        order_agreement(values, values, same_queries=False, clusters=[0, 1, 2])
    with pytest.raises(RankstatsError, match="1 set of values"):
        order_agreements([values])
    with pytest.raises(RankstatsError, match="at least 2 systems"):
        swap_probabilities([1.0, 2.0])
    with pytest.raises(RankstatsError, match="infinite"):
        swap_probabilities([[1.0, np.inf]])


@pytest.mark.slow
@pytest.mark.parametrize(("m", "least"), [(6, 0.93), (30, 0.88)])
def test_interval_covers_the_order_of_all_topics(m: int, least: float) -> None:
    """Topics are drawn from the 50 of a TREC track; the truth is the order of systems over all of them."""
    matrices = [
        np.genfromtxt(shared(f"data/ir/perquery-matrices/adhoc8_{name}.csv"), delimiter=",", skip_header=1)
        for name in ("ap", "p10")
    ]
    rng = np.random.default_rng(1)
    covered = []
    for seed in range(300):
        systems = rng.choice(matrices[0].shape[1], m, replace=False)
        first, second = (matrix[:, systems] for matrix in matrices)
        truth = order_agreement(first, second, resamples=0).tau_b
        rows = rng.integers(0, 50, 25)
        found = order_agreement(first[rows], second[rows], resamples=499, rng=seed)
        covered.append(found.tau_b_low - 1e-12 <= truth <= found.tau_b_high + 1e-12)
    assert least <= np.mean(covered) <= 1
