from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

from rankstats.errors import RankstatsError
from rankstats.stats import dunnett, paired_t, tukey_hsd, two_way_anova
from rankstats.stats.complete_values import pairwise_differences
from tests.stats.cases import leaves_out_zero, levels
from tests.stats.several import MATRICES, expected, made, matrices, matrix


@pytest.mark.parametrize("name", MATRICES)
def test_analysis_of_variance_equals_r(name: str) -> None:
    result, theirs = two_way_anova(matrix(name)), expected(name)["R"]["anova"]
    assert_allclose(result.statistic[:2], [theirs["F_sys"], theirs["F_query"]], rtol=1e-6)
    assert_allclose(result.p_value[:2], [theirs["p_sys"], theirs["p_query"]], rtol=1e-6)
    squares = [theirs["MS_sys"], theirs["MS_query"], theirs["MSE"]]
    assert_allclose(result.mean_square, squares, rtol=1e-6)
    assert result.df.tolist()[::2] == [theirs["df_sys"], theirs["df_err"]]
    assert np.isnan(result.p_value[2])


def test_analysis_of_variance_equals_statsmodels() -> None:
    values = made(23, 5, seed=4)
    frame = pd.DataFrame(values).rename_axis("query").reset_index().melt("query", var_name="system", value_name="y")
    theirs = anova_lm(ols("y ~ C(system) + C(query)", frame).fit())
    result = two_way_anova(values)
    assert_allclose(result.sum_of_squares, theirs["sum_sq"], rtol=1e-9)
    assert_allclose(result.p_value[:2], theirs["PR(>F)"][:2], rtol=1e-9)
    assert [row["source"] for row in result.to_dicts()] == ["systems", "queries", "error"]


@pytest.mark.parametrize("name", MATRICES)
def test_all_pairs_equal_r_and_python(name: str) -> None:
    result, theirs = tukey_hsd(matrix(name)), expected(name)
    honest, multcomp = theirs["R"]["TukeyHSD"], theirs["R"]["glht_tukey"]
    assert_allclose(result.estimate, honest["diff"], atol=1e-12)
    assert_allclose(result.p_adjusted, honest["p_adj"], atol=1e-6)
    assert_allclose(result.adjusted_low, honest["lwr"], atol=1e-6)
    assert_allclose(result.adjusted_high, honest["upr"], atol=1e-6)
    assert_allclose(result.statistic, multcomp["t"], rtol=1e-7)
    assert_allclose(result.p_adjusted, multcomp["p"], atol=1e-4)
    python = theirs["python"]["tukey_two_way"]
    assert_allclose(np.abs(result.statistic) * np.sqrt(2), [row["q"] for row in python], rtol=1e-7)
    sizes = [row["effect_size_diff_over_sqrt_MSE"] for row in python]
    assert_allclose(result.effect_size, sizes, rtol=1e-6)


@pytest.mark.parametrize("name", MATRICES)
def test_dunnett_equals_multcomp(name: str) -> None:
    result, theirs = dunnett(matrix(name)), expected(name)["R"]["glht_dunnett_vs_A"]
    assert_allclose(result.statistic, theirs["t"], rtol=1e-7)
    assert_allclose(result.p_adjusted, theirs["p"], atol=1e-4)


def test_two_systems_are_the_paired_t_test() -> None:
    values = made(20, 2)
    t = paired_t(pairwise_differences(values))
    for result in (tukey_hsd(values), dunnett(values)):
        assert_allclose(result.p_adjusted, t.p_value, rtol=1e-8)
        assert_allclose([result.adjusted_low, result.adjusted_high], [t.low, t.high], rtol=1e-8)
        assert result.df == 19


@settings(deadline=None, max_examples=50)
@given(matrices(), levels)
def test_p_and_interval_agree_exactly(values: np.ndarray, alpha: float) -> None:
    for result in (tukey_hsd(values, alpha=alpha), dunnett(values, alpha=alpha)):
        assert_array_equal(result.p_adjusted <= alpha, leaves_out_zero(result.adjusted_low, result.adjusted_high))
        if result.n:
            assert np.all((result.p_adjusted > 0) & (result.p_adjusted <= 1))


@settings(deadline=None, max_examples=30)
@given(matrices(), st.randoms(use_true_random=False))
def test_names_of_systems_and_order_of_queries(values: np.ndarray, random: Any) -> None:
    m = values.shape[1]
    order, rows = list(range(m)), list(range(len(values)))
    random.shuffle(order)
    random.shuffle(rows)
    one, other = tukey_hsd(values), tukey_hsd(values[rows][:, order])
    table = np.ones((m, m))
    table[one.baseline, one.system] = table[one.system, one.baseline] = one.p_adjusted
    assert_allclose(other.p_adjusted, table[np.array(order)[one.baseline], np.array(order)[one.system]], rtol=1e-9)
    assert_array_equal(tukey_hsd(values[rows]).p_adjusted, one.p_adjusted)


def test_more_comparisons_cost_more() -> None:
    values = made(20, 5, spread=0.3)
    tukey, many = tukey_hsd(values), dunnett(values, 2)
    chosen = [(a, b) in {(0, 2), (1, 2), (2, 3), (2, 4)} for a, b in zip(tukey.baseline, tukey.system, strict=True)]
    assert many.system.tolist() == [0, 1, 3, 4]
    assert_allclose(np.abs(tukey.statistic[chosen]), np.abs(many.statistic))
    assert np.all(tukey.p_adjusted[chosen] > many.p_adjusted)
    assert tukey.critical_value > many.critical_value


def test_without_error_nothing_is_tested() -> None:
    values = np.random.default_rng(1).random((6, 1)) + np.array([0.0, 0.1, 0.1])
    result = tukey_hsd(values)
    assert result.p_adjusted.tolist() == [1.0] * 3
    assert result.adjusted_low.tolist() == [-np.inf] * 3
    assert np.isnan(two_way_anova(values).statistic).all()
    assert np.isnan(tukey_hsd(np.zeros((0, 3))).p_adjusted).all()
    assert dunnett([[0.1, 0.2, 0.4]]).p_adjusted.tolist() == [1.0, 1.0]


def test_messages() -> None:
    with pytest.raises(RankstatsError, match="from 0 to 2"):
        dunnett(made(5, 3), 3)
    with pytest.raises(RankstatsError, match="alpha"):
        tukey_hsd(made(5, 3), alpha=2)
