"""τ_ap with its versions for ties, weighted τ, and the counting of concordant pairs."""

from __future__ import annotations

from itertools import pairwise, permutations
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats as scipy_stats

from rankstats.errors import RankstatsError
from rankstats.stats import ap_correlation, grouped_ap_correlation, weighted_tau
from rankstats.stats.concordance import Groups, concordance
from rankstats.stats.top_correlation import grouped_weighted_tau
from tests.stats.cases import golden

CASES = golden("rank_correlation")["cases"]


def _number(value: object) -> float:
    """Numbers as they are; what a program has no number for (errors, None, nan) as NaN."""
    return float(value) if isinstance(value, int | float) else np.nan


@pytest.mark.parametrize("name", CASES)
def test_equals_independent_programs(name: str) -> None:
    case = CASES[name]
    result = ap_correlation(case["x"], case["y"])
    theirs = case["ircor"]
    assert_allclose([result.tau_ap_a, result.tau_ap_b], [_number(theirs[k]) for k in ("tauAP_a", "tauAP_b")], atol=1e-9)
    if "tau_ap_y_vs_truth_x" in case:
        assert result.tau_ap_a == pytest.approx(case["tau_ap_y_vs_truth_x"], abs=1e-9)
        assert ap_correlation(case["y"], case["x"]).tau_ap_a == pytest.approx(case["tau_ap_x_vs_truth_y"], abs=1e-9)
        assert result.tau_ap_b == pytest.approx(case["tau_ap_symmetric_mean"], abs=1e-9)
    if "tau_ap_a_mean_over_tie_permutations" in case:
        assert result.tau_ap_a == pytest.approx(case["tau_ap_a_mean_over_tie_permutations"], abs=1e-9)
    assert result.n == case["n"]


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if "weighted_tau" in case])
def test_weighted_tau_equals_independent_programs(name: str) -> None:
    case = CASES[name]
    ours = {
        "additive_hyperbolic_both": weighted_tau(case["x"], case["y"]),
        "additive_hyperbolic_rank_by_x": weighted_tau(case["x"], case["y"], ranked_by="x"),
        "additive_hyperbolic_rank_by_y": weighted_tau(case["x"], case["y"], ranked_by="y"),
        "multiplicative_both": weighted_tau(case["x"], case["y"], additive=False),
    }
    assert ours.keys() == case["weighted_tau"].keys()
    for key, value in ours.items():
        assert_allclose(value, _number(case["weighted_tau"][key]["naive"]), atol=1e-9, err_msg=key)


small = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=7)


def untied_tau_ap(truth: list[int], order: tuple[int, ...]) -> float:
    """τ_ap of an order of positions, the best first, against true values."""
    rows = [
        sum(truth[above] > truth[item] for above in order[:place]) / place for place, item in enumerate(order) if place
    ]
    return 2 * sum(rows) / len(rows) - 1


@settings(deadline=None, max_examples=80)
@given(st.lists(st.integers(0, 3), min_size=2, max_size=6), st.randoms())
def test_version_a_is_the_mean_over_broken_ties(estimate: list[int], random: Random) -> None:
    truth = list(range(len(estimate)))
    random.shuffle(truth)
    orders = [
        order
        for order in permutations(range(len(estimate)))
        if all(estimate[a] >= estimate[b] for a, b in pairwise(order))
    ]
    expected = np.mean([untied_tau_ap(truth, order) for order in orders])
    assert ap_correlation(truth, estimate).tau_ap_a == pytest.approx(expected, abs=1e-12)


@settings(deadline=None, max_examples=80)
@given(small, st.randoms())
def test_order_of_pairs_changes_nothing(pairs: list[tuple[int, int]], random: Random) -> None:
    first = ap_correlation([x for x, _ in pairs], [y for _, y in pairs])
    random.shuffle(pairs)
    x, y = [x for x, _ in pairs], [y for _, y in pairs]
    second = ap_correlation(x, y)
    assert_array_equal([first.tau_ap_a, first.tau_ap_b], [second.tau_ap_a, second.tau_ap_b])
    # monotone changes of the values change no rank
    third = ap_correlation(np.exp(x), [y**3 - 7 for y in y])
    assert_array_equal([first.tau_ap_a, first.tau_ap_b], [third.tau_ap_a, third.tau_ap_b])
    assert_array_equal(second.tau_ap_b, ap_correlation(y, x).tau_ap_b)


@settings(deadline=None, max_examples=50)
@given(st.integers(1, 20), st.integers(2, 12), st.integers(0, 10**6))
def test_groups_equal_single_calls(groups: int, distinct: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    group = rng.integers(0, groups, 120)
    x, y = rng.integers(0, distinct, (2, 120)).astype(float)
    y[rng.random(120) < 0.05] = np.nan
    result = grouped_ap_correlation(x, y, group)
    assert_array_equal(result.group, np.unique(group))
    for i, name in enumerate(result.group):
        single = ap_correlation(x[group == name], y[group == name])
        ours = [result.tau_ap_a[i], result.tau_ap_b[i], result.n[i]]
        assert_array_equal(ours, [single.tau_ap_a, single.tau_ap_b, single.n])


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 80), st.integers(1, 5), st.integers(1, 9), st.integers(0, 10**6))
def test_concordance_equals_comparing_all_pairs(n: int, groups: int, distinct: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    group = np.sort(rng.integers(0, groups, n))
    x, y = rng.integers(0, distinct, (2, n)).astype(float)
    counted = concordance(x, y, Groups.of(group, groups))
    same = group[:, None] == group
    signs = np.sign(x - x[:, None]) * np.sign(y - y[:, None]) * same
    assert_array_equal(counted.above, ((x > x[:, None]) & (y > y[:, None]) & same).sum(axis=1))
    for ours, pairs in (
        (counted.balance, signs),
        (counted.untied_x, (x != x[:, None]) & same),
        (counted.untied_y, (y != y[:, None]) & same),
    ):
        assert_array_equal(2 * ours, np.bincount(group, pairs.sum(axis=1), minlength=groups))


@settings(deadline=None, max_examples=50)
@given(st.integers(2, 60), st.integers(2, 30), st.integers(0, 10**6))
def test_weighted_tau_depends_on_no_order(n: int, distinct: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, distinct, (2, n)).astype(float)
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        assert np.isnan(weighted_tau(x, y))
        return
    order = rng.permutation(n)
    assert weighted_tau(x, y) == weighted_tau(x[order], y[order])
    assert weighted_tau(x, y) == pytest.approx(scipy_stats.weightedtau(x, y).statistic, abs=1e-12)
    assert weighted_tau(x, y, ranked_by="x") == pytest.approx(weighted_tau(y, x, ranked_by="y"), abs=1e-12)


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 60), st.integers(1, 4), st.integers(1, 12), st.integers(0, 10**6))
def test_grouped_weighted_tau_equals_single_calls(n: int, groups: int, distinct: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    group = np.sort(rng.integers(0, groups, n))
    x, y = rng.integers(0, distinct, (2, n)).astype(float)
    ours = grouped_weighted_tau(concordance(x, y, Groups.of(group, groups)))
    assert_allclose(ours, [weighted_tau(x[group == g], y[group == g]) for g in range(groups)], atol=1e-12)


def test_perfect_and_undefined() -> None:
    values = np.arange(40)
    assert ap_correlation(values, values**2).tau_ap_a == 1
    assert ap_correlation(values // 3, values // 3).tau_ap_b == 1
    assert ap_correlation(values, -values).tau_ap_b == -1
    assert np.isnan(ap_correlation([1, 1, 2], [1, 2, 3]).tau_ap_a)
    for x, y in (([1], [2]), ([], []), ([1, 1], [1, 2])):
        result = ap_correlation(x, y)
        assert np.isnan([result.tau_ap_a, result.tau_ap_b]).all()
        assert np.isnan(weighted_tau(x, y))


def test_a_fault_at_the_top_costs_more() -> None:
    truth = [5, 4, 3, 2, 1]
    top, bottom = [4, 5, 3, 2, 1], [5, 4, 3, 1, 2]
    assert ap_correlation(truth, top).tau_ap_a < ap_correlation(truth, bottom).tau_ap_a
    assert weighted_tau(truth, top) < weighted_tau(truth, bottom)


def test_messages() -> None:
    with pytest.raises(RankstatsError, match="two of one length"):
        ap_correlation([1, 2], [1])
    with pytest.raises(RankstatsError, match="one is expected"):
        grouped_ap_correlation([1, 2], [1, 2], [1])
    with pytest.raises(RankstatsError, match="ranked_by"):
        weighted_tau([1, 2], [1, 2], ranked_by="z")
