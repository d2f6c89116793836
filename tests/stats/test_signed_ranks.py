from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from rankstats.errors import RankstatsError
from rankstats.stats import paired_differences, signed_rank_test
from tests.stats.cases import SCIPYS_NORMAL, Case, alternatives, cases, golden

PAIRED = ["p8", "p10ties", "p12sparse", "p5allpos", "pconst", "p20", "p50skew"]
zero_methods = st.sampled_from(["wilcox", "pratt"])


@pytest.mark.parametrize("name", PAIRED)
@pytest.mark.parametrize(("zero_method", "key"), [("wilcox", "zeros_dropped"), ("pratt", "pratt")])
def test_exact_equals_independent_programs(name: str, zero_method: str, key: str) -> None:
    data, expected = golden("data")[name], golden("paired")["cases"][name]["python"][f"signed_rank_exact_{key}"]
    d = paired_differences(data["a"], data["b"])
    result = signed_rank_test(d, method="exact", zero_method=zero_method)
    assert result.statistic[0] == expected["W_plus"]
    assert_allclose(result.p_value, expected["p_two"], rtol=1e-12)
    one_sided = signed_rank_test(d, method="exact", zero_method=zero_method, alternative="greater")
    assert_allclose(one_sided.p_value, expected["p_greater"], rtol=1e-12)


@pytest.mark.parametrize("name", PAIRED)
@pytest.mark.parametrize(("correction", "key"), [(True, "correct"), (False, "nocorrect")])
def test_normal_equals_r(name: str, correction: bool, key: str) -> None:
    data, expected = golden("data")[name], golden("paired")["cases"][name]["R"][f"wilcox.test_normal_{key}"]
    result = signed_rank_test(paired_differences(data["a"], data["b"]), method="normal", correction=correction)
    assert_allclose(result.p_value, expected["p"], rtol=1e-9)


@pytest.mark.filterwarnings("ignore:Sample size too small")  # older scipy warns; the numbers are compared all the same
@settings(deadline=None)
@given(cases(weights=False), zero_methods, st.booleans(), alternatives)
def test_normal_equals_scipy(case: Case, zero_method: str, correction: bool, alternative: str) -> None:
    d = case.differences
    ours = signed_rank_test(d, method="normal", zero_method=zero_method, correction=correction, alternative=alternative)
    for column in np.flatnonzero(np.any(d.integers != 0, axis=0)):
        theirs = stats.wilcoxon(
            d.values[d.present[:, column], column],
            zero_method=zero_method,
            correction=correction,
            alternative=alternative,
            method=SCIPYS_NORMAL,
        )
        assert_allclose(ours.p_value[column], theirs.pvalue, rtol=1e-9)


@settings(deadline=None, max_examples=50)
@given(st.integers(1, 9), st.integers(0, 10**6), zero_methods, alternatives)
def test_exact_equals_enumeration(n: int, seed: int, zero_method: str, alternative: str) -> None:
    values = np.random.default_rng(seed).integers(-3, 5, n) / 10
    if not values.any():
        return
    kept = values[values != 0] if zero_method == "wilcox" else values
    ranks = stats.rankdata(np.abs(kept).round(6))[kept != 0]
    observed = ranks[kept[kept != 0] > 0].sum()
    sums = np.array(list(product([0, 1], repeat=len(ranks)))) @ ranks
    upper, lower = np.mean(sums >= observed), np.mean(sums <= observed)
    expected = {"two-sided": min(1, 2 * min(upper, lower)), "greater": upper, "less": lower}[alternative]
    result = signed_rank_test(paired_differences(np.zeros(n), values), zero_method=zero_method, alternative=alternative)
    assert_allclose(result.p_value, expected, rtol=1e-12)


@settings(deadline=None)
@given(cases(most=80, weights=False))
def test_estimate_is_the_median_of_all_pair_averages(case: Case) -> None:
    d = case.differences
    result = signed_rank_test(d)
    for column in np.flatnonzero(d.n):
        values = d.values[d.present[:, column], column]
        i, j = np.triu_indices(len(values))
        assert_allclose(result.estimate[column], np.median((values[i] + values[j]) / 2), atol=1e-15)


@pytest.mark.parametrize("name", ["p8", "p20"])
def test_interval_equals_r(name: str) -> None:
    data, expected = golden("data")[name], golden("paired")["cases"][name]["R"]["hodges_lehmann"]
    result = signed_rank_test(paired_differences(data["a"], data["b"]))
    assert_allclose(result.estimate, expected["est"], atol=1e-9)
    assert_allclose([result.low[0], result.high[0]], expected["ci"], atol=1e-9)


@pytest.mark.parametrize("n", [12, 150])
def test_without_ties_test_and_interval_agree(n: int) -> None:
    outcomes = set()
    for seed in range(30):
        values = np.random.default_rng(seed).normal(2 / np.sqrt(n), 1, n)
        result = signed_rank_test(paired_differences(np.zeros(n), values))
        outcomes.add(bool(result.p_value[0] <= 0.05))
        assert (result.p_value[0] <= 0.05) == (result.low[0] > 0 or result.high[0] < 0)
    assert outcomes == {True, False}


def test_many_queries_use_the_normal_approximation() -> None:
    values = np.random.default_rng(1).normal(0.1, 1, 5000)
    result = signed_rank_test(paired_differences(np.zeros(5000), values))
    assert not result.exact[0]
    assert result.low[0] < result.estimate[0] < result.high[0]
    assert abs(result.estimate[0] - 0.1) < 0.1


def test_identical_systems_and_no_queries() -> None:
    result = signed_rank_test(paired_differences(np.zeros((5, 2)), [[0.0, np.nan]] * 5))
    assert_array_equal(result.p_value, [1, np.nan])
    assert np.isnan(result.low).all()
    assert result.zeros.tolist() == [5, 0]


def test_messages() -> None:
    with pytest.raises(RankstatsError, match="did you mean 'pratt'"):
        signed_rank_test(paired_differences([0.1], [0.2]), zero_method="prat")
