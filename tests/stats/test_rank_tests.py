from __future__ import annotations

import json
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from rankstats.stats import conover_test, friedman_test, nemenyi_test
from tests.shared import shared
from tests.stats.cases import leaves_out_zero, levels
from tests.stats.several import MATRICES, assert_same, expected, made, matrices, matrix


@pytest.mark.parametrize("name", MATRICES)
def test_friedman_equals_r(name: str) -> None:
    result, theirs = friedman_test(matrix(name)), expected(name)["R"]
    m = len(result.mean_rank)
    assert_allclose(
        [result.statistic, result.p_value], [theirs["friedman"]["chi2"], theirs["friedman"]["p"]], rtol=1e-6
    )
    assert result.df == theirs["friedman"]["df"]
    # theirs are ranked from the lowest value
    assert_allclose(m + 1 - result.mean_rank, list(theirs["mean_rank_ascending"].values()), rtol=1e-9)
    iman = theirs["iman_davenport"]
    assert_allclose([result.iman_davenport, result.iman_davenport_p], [iman["F"], iman["p"]], rtol=1e-6)
    assert [result.df, result.iman_davenport_df] == [iman["df1"], iman["df2"]]
    assert_allclose(result.kendall_w, theirs["kendall_W"], rtol=1e-6)


@pytest.mark.parametrize("name", MATRICES)
def test_nemenyi_equals_r_and_scikit_posthocs(name: str) -> None:
    result, theirs = nemenyi_test(matrix(name)), expected(name)
    assert_allclose(np.abs(result.statistic), theirs["R"]["nemenyi"]["z"], rtol=1e-6)
    assert_allclose(result.p_value, theirs["R"]["nemenyi"]["p"], atol=2e-4)
    assert_allclose(result.p_value, list(theirs["python"]["nemenyi_scikit_posthocs"].values()), atol=1e-6)
    assert_allclose(result.critical_difference, theirs["R"]["nemenyi"]["CD_0.05"], atol=2e-4)


@pytest.mark.parametrize("name", MATRICES)
def test_conover_equals_scikit_posthocs(name: str) -> None:
    theirs = expected(name)["python"]["conover_scikit_posthocs_unadjusted"]
    assert_allclose(conover_test(matrix(name)).p_value, list(theirs.values()), atol=1e-6)


def test_exact_friedman_counts_as_plain_enumeration() -> None:
    theirs = expected("m5x3")["python"]["friedman_exact_p"]
    assert friedman_test(matrix("m5x3")).p_exact * theirs["total"] == theirs["count"]


@pytest.mark.parametrize("n", [3, 4])
def test_exact_friedman_with_ties_equals_the_definition(n: int) -> None:
    values = np.random.default_rng(n).integers(0, 3, (n, 3)).astype(float)
    values[0] = 1.0
    ranks = stats.rankdata(-values, axis=1)
    arrangements = [list(p) for p in permutations(range(3))]
    squares = [
        np.sum(sum(row[order] for row, order in zip(ranks, orders, strict=True)) ** 2)
        for orders in product(arrangements, repeat=n)
    ]
    expected_p = np.mean(np.array(squares) >= np.sum(ranks.sum(axis=0) ** 2) - 1e-9)
    assert_allclose(friedman_test(values).p_exact, expected_p, rtol=1e-12)


def test_exact_friedman_of_many_queries_and_few_systems() -> None:
    values = made(18, 3)
    result = friedman_test(values)
    assert not np.isnan(result.p_exact)
    assert abs(result.p_exact - result.p_value) < 0.02
    assert np.isnan(friedman_test(made(40, 4)).p_exact)


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 20), st.integers(3, 8), st.integers(0, 10**6), st.booleans())
def test_friedman_equals_scipy(n: int, m: int, seed: int, tied: bool) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 4, (n, m)).astype(float) if tied else rng.random((n, m))
    values[0] = np.arange(m)
    theirs, result = stats.friedmanchisquare(*values.T), friedman_test(values)
    assert_allclose([result.statistic, result.p_value], [theirs.statistic, theirs.pvalue], rtol=1e-8, atol=1e-12)


@pytest.mark.shared
def test_matrices_of_many_systems_equal_scipy() -> None:
    folder = shared("data/ir/perquery-matrices")
    for case in json.loads((folder / "friedman_scipy.json").read_text(encoding="utf-8")):
        values = np.loadtxt(folder / case["file"], delimiter=",", skiprows=1)
        result = friedman_test(values)
        assert (result.n, len(result.mean_rank)) == (case["topics"], case["systems"])
        assert_allclose(result.statistic, case["friedman_chi2"], rtol=1e-9)
        assert_allclose(result.p_value, case["p"], rtol=1e-6, atol=1e-300)
        assert result.p_value > 0


@settings(deadline=None, max_examples=60)
@given(matrices(), levels)
def test_p_and_interval_agree_exactly(values: np.ndarray, alpha: float) -> None:
    for test in (nemenyi_test, conover_test):
        result = test(values, alpha=alpha)
        assert_array_equal(result.p_value <= alpha, leaves_out_zero(result.low, result.high), err_msg=test.__name__)
        if result.n:
            assert np.all((result.p_value > 0) & (result.p_value <= 1))
            assert np.all(result.p_value[result.estimate == 0] == 1)


@settings(deadline=None, max_examples=40)
@given(matrices(), st.integers(0, 10**6))
def test_order_and_scale_play_no_part(values: np.ndarray, seed: int) -> None:
    rows = np.random.default_rng(seed).permutation(len(values))
    for test in (friedman_test, nemenyi_test, conover_test):
        assert_same(test(values), test(values[rows]))
        assert_same(test(values), test(values * 4))


def test_tied_by_rounding_noise() -> None:
    assert friedman_test([[0.3 - 0.1, 0.2, 0.5]]).mean_rank.tolist() == [2.5, 2.5, 1.0]


def test_all_queries_agree() -> None:
    values = np.arange(5)[:, None] + np.array([0.1, 0.2, 0.3])
    result = friedman_test(values)
    assert result.kendall_w == 1
    assert result.iman_davenport == np.inf
    assert result.iman_davenport_p == result.p_exact == 6.0**-4
    assert conover_test(values).p_value.tolist() == [2.0**-4] * 3
    assert conover_test(values, alpha=0.1).low.max() < 3
    assert nemenyi_test(values).estimate.tolist() == [1.0, 2.0, 1.0]


def test_nothing_to_tell_apart() -> None:
    same = friedman_test(np.full((4, 3), 0.2))
    assert (same.p_value, same.p_exact, same.iman_davenport_p, same.statistic) == (1.0, 1.0, 1.0, 0.0)
    assert np.isnan(same.kendall_w)
    assert nemenyi_test(np.full((4, 3), 0.2)).p_value.tolist() == [1.0] * 3
    assert conover_test(np.full((4, 3), 0.2)).p_value.tolist() == [1.0] * 3
    none = friedman_test(np.zeros((0, 3)))
    assert np.isnan([none.p_value, none.statistic, none.mean_rank[0]]).all()
    assert np.isnan(conover_test(np.zeros((0, 3))).p_value).all()
    assert np.isnan(nemenyi_test(np.zeros((0, 3))).p_value).all()


def test_mean_ranks_depend_on_the_pool() -> None:
    """Why the docstrings warn: A ranks above B or below it by which third system is there."""
    a, b = np.array([0.6, 0.6, 0.3, 0.3, 0.3]), np.array([0.5, 0.5, 0.4, 0.4, 0.4])
    between = np.array([0.55, 0.55, 0.1, 0.1, 0.1])
    alone = friedman_test(np.column_stack([a, b])).mean_rank
    third = friedman_test(np.column_stack([a, b, *[between] * 3])).mean_rank
    assert alone[0] > alone[1]
    assert third[0] < third[1]
