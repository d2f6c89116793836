from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from rankstats.errors import RankstatsError
from rankstats.stats import grouped_rank_correlation, kendall_tau, rank_correlation, spearman_rho
from tests.stats.cases import golden

CASES = golden("rank_correlation")["cases"]


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else np.nan


@pytest.mark.parametrize("name", CASES)
def test_equals_independent_programs(name: str) -> None:
    case = CASES[name]
    result = rank_correlation(case["x"], case["y"])
    for field, key in (("tau_a", "tau_a"), ("tau_b", "tau_b"), ("tau_c", "tau_c"), ("rho", "spearman_by_midranks")):
        assert_allclose(getattr(result, field), _number(case.get(key)), atol=1e-9, err_msg=field)


@settings(deadline=None)
@given(st.integers(2, 300), st.integers(2, 30), st.integers(0, 10**6))
def test_equals_scipy(n: int, distinct: int, seed: int) -> None:
    x, y = np.random.default_rng(seed).integers(0, distinct, (2, n)).astype(float)
    if len(np.unique(x)) < 2 or len(np.unique(y)) < 2:
        assert np.isnan([kendall_tau(x, y), spearman_rho(x, y), kendall_tau(x, y, "c")]).all()
        return
    for variant in ("b", "c"):
        theirs = stats.kendalltau(x, y, variant=variant, method="exact" if n < 3 else "auto").statistic
        assert_allclose(kendall_tau(x, y, variant), theirs, atol=1e-12)
    assert_allclose(spearman_rho(x, y), stats.spearmanr(x, y).statistic, atol=1e-12)


@settings(deadline=None)
@given(st.integers(1, 30), st.integers(0, 10**6))
def test_groups_equal_single_calls(groups: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    group = rng.integers(0, groups, 150)
    x, y = rng.integers(0, 4, 150).astype(float), rng.normal(size=150)
    x[rng.random(150) < 0.05] = np.nan
    result = grouped_rank_correlation(x, y, group)
    assert_array_equal(result.group, np.unique(group))
    for i, name in enumerate(result.group):
        single = rank_correlation(x[group == name], y[group == name])
        assert_array_equal([result.tau_b[i], result.rho[i], result.n[i]], [single.tau_b, single.rho, single.n])


def test_large_groups_are_counted_in_n_log_n_time() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.integers(0, 50, 3000), rng.integers(0, 50, 3000)
    result = grouped_rank_correlation(np.r_[x, x], np.r_[y, x], np.repeat(["a", "b"], 3000))
    assert_allclose(result.tau_b, [stats.kendalltau(x, y).statistic, 1.0], atol=1e-12)
    assert result.tau_b[1] == 1.0


def test_perfect_agreement_is_exactly_one() -> None:
    for n in (2, 3, 7, 150):
        x = np.arange(n) ** 2
        result = rank_correlation(x, -x)
        assert (result.tau_a, result.tau_b, result.tau_c, result.rho) == (-1, -1, -1, -1)


def test_undefined_without_a_warning() -> None:
    result = rank_correlation([1, 1, 1], [1, 2, 3])
    assert result.tau_a == 0
    assert np.isnan([result.tau_b, result.tau_c, result.rho]).all()
    assert np.isnan(rank_correlation([1], [2]).tau_b)
    grouped = grouped_rank_correlation([1, np.nan], [1, 2], ["a", "b"])
    assert grouped.n.tolist() == [1, 0]
    assert grouped.to_dicts()[1] == {"group": "b", "tau_b": None, "rho": None, "n": 0}


def test_messages() -> None:
    with pytest.raises(RankstatsError, match="two of one length"):
        rank_correlation([1, 2], [1, 2, 3])
    with pytest.raises(RankstatsError, match="one is expected"):
        grouped_rank_correlation([1, 2], [1, 2], ["a"])
    with pytest.raises(RankstatsError, match="variant"):
        kendall_tau([1, 2], [1, 2], "d")
