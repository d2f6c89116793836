from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from rankstats.errors import RankstatsError
from rankstats.stats import geometric_mean, paired_differences, paired_risk, paired_t, system_risk
from tests.stats.cases import Case, cases, golden

CASES = golden("risk")["cases"]
AVERSIONS = (0, 1, 5)


@pytest.mark.parametrize("aversion", AVERSIONS)
@pytest.mark.parametrize("name", CASES)
def test_u_risk_and_t_risk_equal_the_formulas(name: str, aversion: int) -> None:
    matrix = np.array(golden("data")[name]["x"])
    systems = golden("data")[name]["systems"]
    d = paired_differences(matrix[:, :1], matrix[:, 1:])
    ours, by_n = paired_risk(d, aversion=aversion), paired_risk(d, aversion=aversion, ddof=0)
    for column, system in enumerate(systems[1:]):
        expected = CASES[name]["results"][f"alpha={aversion}"][f"{system} vs A"]
        assert_allclose(ours.u_risk[column], expected["URisk"], atol=1e-9)
        assert_allclose(ours.t_risk[column], expected["TRisk_ddof1"], rtol=1e-7)
        assert_allclose(by_n.t_risk[column], expected["TRisk_ddof0_rmit"], rtol=1e-7)
        assert_allclose([ours.p_value[column], by_n.p_value[column]], expected["p_two_ddof1"], atol=1e-8)
        assert [ours.wins[column], ours.losses[column]] == [expected["wins"], expected["losses"]]


@pytest.mark.parametrize("aversion", AVERSIONS)
@pytest.mark.parametrize("name", CASES)
def test_z_risk_and_geo_risk_equal_the_published_program(name: str, aversion: int) -> None:
    data, expected = golden("data")[name], CASES[name]["results"][f"alpha={aversion}"]
    ours = system_risk(data["x"], aversion=aversion)
    assert_allclose(ours.z_risk, [expected["ZRisk"][system] for system in data["systems"]], atol=1e-9)
    assert_allclose(ours.geo_risk, [expected["GeoRisk"][system] for system in data["systems"]], atol=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_geometric_mean(name: str) -> None:
    data = golden("data")[name]
    expected = [CASES[name]["results"]["gm_eps1e-5"][system] for system in data["systems"]]
    assert_allclose(geometric_mean(data["x"]), expected, rtol=1e-12)
    positive = np.random.default_rng(1).random(20) + 0.01
    assert_allclose(geometric_mean(positive), stats.gmean(positive), rtol=1e-12)
    assert_allclose(geometric_mean([0.5, np.nan, 0.125]), 0.25)
    assert np.isnan(geometric_mean([np.nan])[0])


@settings(deadline=None)
@given(cases(most=60), st.sampled_from([0.0, 0.5, 1.0, 5.0]))
def test_more_aversion_is_never_less_risk(case: Case, aversion: float) -> None:
    d = case.differences
    result, plain = paired_risk(d, aversion=aversion), paired_risk(d, aversion=0)
    known = d.n > 0
    assert_allclose(plain.u_risk[known], d.mean[known], atol=1e-9)
    assert_allclose(plain.p_value[known], paired_t(d).p_value[known], rtol=1e-6)
    assert np.all(result.u_risk[known] <= plain.u_risk[known] + 1e-9)
    assert np.all((result.p_value[known] > 0) & (result.p_value[known] <= 1))


def test_two_sided_p_of_a_negative_t_risk() -> None:
    values = np.random.default_rng(2).normal(-0.5, 1, 40)
    result = paired_risk(paired_differences(np.zeros(40), values), aversion=2)
    weighed = np.where(values < 0, 3 * values, values)
    expected = stats.ttest_1samp(weighed, 0)
    assert_allclose([result.t_risk[0], result.p_value[0]], [expected.statistic, expected.pvalue], rtol=1e-7)


def test_weights_are_those_of_the_t_test() -> None:
    rng = np.random.default_rng(3)
    values, weights = rng.normal(0, 1, 20), rng.exponential(size=20)
    result = paired_risk(paired_differences(np.zeros(20), values, weights), aversion=1)
    test = paired_t(paired_differences(np.zeros(20), np.where(values < 0, 2 * values, values), weights))
    assert_allclose([result.u_risk, result.t_risk], [test.estimate, test.statistic], rtol=1e-9)


def test_without_spread_or_queries() -> None:
    result = paired_risk(paired_differences(np.zeros((3, 3)), [[0.5, 0.0, np.nan]] * 3))
    assert_array_equal(result.p_value, [1, 1, np.nan])
    assert np.isnan(result.t_risk).all()
    assert_array_equal(result.u_risk, [0.5, 0, np.nan])


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32), st.sampled_from([0.0, 1.0, 5.0]))
def test_order_of_queries_and_systems_does_not_matter(seed: int, aversion: float) -> None:
    rng = np.random.default_rng(seed)
    matrix = np.where(rng.random((25, 5)) < 0.3, 0.0, rng.random((25, 5)))
    rows, columns = rng.permutation(25), rng.permutation(5)
    one, other = system_risk(matrix, aversion=aversion), system_risk(matrix[rows][:, columns], aversion=aversion)
    assert_array_equal(one.z_risk[columns], other.z_risk)
    assert_array_equal(one.geo_risk[columns], other.geo_risk)
    assert np.all(one.z_risk <= system_risk(matrix, aversion=0).z_risk + 1e-12)


def test_zeros_and_gaps() -> None:
    matrix = np.array([[0.2, 0.4], [0.0, 0.0], [0.5, 0.3], [np.nan, 0.4]])
    result = system_risk(matrix)
    assert [result.n, result.left_out] == [3, 1]
    without = system_risk(matrix[[0, 2]])
    assert_allclose(result.z_risk, without.z_risk, rtol=1e-12)
    assert_array_equal(system_risk(np.zeros((4, 2))).geo_risk, [0, 0])
    assert np.isnan(system_risk(np.full((2, 2), np.nan)).geo_risk).all()
    assert result.to_dicts()[0]["n"] == 3


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: paired_risk(paired_differences([0.1], [0.2]), aversion=-1), "aversion"),
        (lambda: paired_risk(paired_differences([0.1], [0.2]), ddof=2), "ddof"),
        (lambda: system_risk([0.1, 0.2]), "rows"),
        (lambda: system_risk([[0.1, -0.2]]), "at least 0"),
        (lambda: geometric_mean([-0.1]), "at least 0"),
        (lambda: geometric_mean([0.1], floor=0), "floor"),
    ],
)
def test_messages(call: Callable[[], object], message: str) -> None:
    with pytest.raises(RankstatsError, match=message):
        call()
