from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from statsmodels.stats.oneway import anova_oneway

from rankstats.errors import RankstatsError
from rankstats.stats import cochran_q, heterogeneity_test, paired_differences
from tests.stats.cases import golden


def test_welch_equals_r() -> None:
    expected = golden("segments")["segments_p20"]
    result = heterogeneity_test(expected["d"], expected["segment"])
    assert_allclose(result.statistic, expected["welch_F"], rtol=1e-8)
    assert_allclose(result.welch_p, expected["welch_p"], rtol=1e-8)
    assert abs(result.p_value[0] - expected["welch_p"]) < 0.05
    assert result.segments.tolist() == [3]


def test_exact_arrangements_are_counted_as_by_hand() -> None:
    expected = golden("segments")["exact_interaction_permutation"]
    result = heterogeneity_test(expected["d"], expected["label"], statistic="between")
    assert_allclose(result.statistic, expected["observed"], rtol=1e-8)
    assert result.exact.tolist() == [True]
    assert result.p_value[0] == expected["count"] / expected["total"]


def test_drawn_permutations_equal_the_exact_p_within_error() -> None:
    d, labels = np.random.default_rng(2).normal([0] * 5 + [0.8] * 7, 1), list("aaaaabbbbbbb")
    exact = heterogeneity_test(d, labels, resamples=1000)
    drawn = heterogeneity_test(d, labels, resamples=791)
    many = [heterogeneity_test(d, labels, resamples=791, rng=seed).p_value[0] for seed in range(20)]
    assert exact.exact[0]
    assert not drawn.exact[0]
    p = exact.p_value[0]
    assert abs(np.mean(many) - p) < 4 * np.sqrt(p * (1 - p) / (791 * 20)) + 1 / 792


def test_welch_f_equals_statsmodels() -> None:
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 4, 60)
    values = rng.normal(0, 1 + labels, 60)
    theirs = anova_oneway([values[labels == k] for k in range(4)], use_var="unequal")
    ours = heterogeneity_test(values, labels, resamples=99)
    assert_allclose(ours.statistic, theirs.statistic, rtol=1e-7)
    assert_allclose(ours.welch_p, theirs.pvalue, rtol=1e-7)


def test_cochran_equals_metafor() -> None:
    expected = golden("segments")["cochran_Q"]
    q, p, i_squared = cochran_q(expected["yi"], expected["sei"])
    assert_allclose([q, p, 100 * i_squared], [expected["Q"], expected["p"], expected["I2"]], rtol=1e-9)


def test_cochran_from_segments() -> None:
    expected = golden("segments")["segments_p20"]
    d, labels = np.array(expected["d"]), np.array(expected["segment"])
    groups = [d[labels == name] for name in "xyz"]
    q = cochran_q([g.mean() for g in groups], [stats.sem(g) for g in groups])
    result = heterogeneity_test(d, labels, resamples=99)
    assert_allclose([result.cochran_q[0], result.q_p_value[0], result.i_squared[0]], q, rtol=1e-7)


def test_segments_of_one_query_are_left_out_and_counted() -> None:
    d = [0.1, 0.2, 0.4, 0.3, 0.9]
    with_single = heterogeneity_test(d, ["a", "a", "b", "b", "c"])
    without = heterogeneity_test(d[:4], ["a", "a", "b", "b"])
    assert with_single.left_out.tolist() == [1]
    assert with_single.segments.tolist() == [2]
    assert with_single.n.tolist() == [4]
    assert_allclose(with_single.statistic, without.statistic, rtol=1e-7)
    assert_array_equal(with_single.p_value, without.p_value)


@pytest.mark.parametrize("labels", [["a"] * 4, ["a", "b", "c", "d"], ["a", "a", "a", "b"]])
def test_fewer_than_two_segments_are_undefined(labels: list[str]) -> None:
    result = heterogeneity_test([0.1, 0.2, 0.4, 0.3], labels)
    assert np.isnan([result.statistic, result.p_value, result.cochran_q]).all()


def test_no_spread_at_all_has_p_one() -> None:
    result = heterogeneity_test(np.full((6, 2), [0.0, 0.3]), list("aaabbb"))
    assert result.p_value.tolist() == [1.0, 1.0]
    assert np.isnan(result.statistic).all()


def test_a_segment_without_spread_is_compared_all_the_same() -> None:
    rng = np.random.default_rng(1)
    d = np.concatenate([np.zeros(10), rng.normal(2, 0.5, 10)])
    far = heterogeneity_test(d, ["a"] * 10 + ["b"] * 10, resamples=999)
    near = heterogeneity_test(d - np.repeat([0, 2], 10), ["a"] * 10 + ["b"] * 10, resamples=999)
    assert far.p_value[0] == 0.001
    assert near.p_value[0] > 0.05


def test_columns_do_not_depend_on_each_other() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(size=(60, 12))
    values[rng.random((60, 12)) < 0.1] = np.nan
    labels = rng.choice(list("abcdefghijk"), 60)
    together = heterogeneity_test(values, labels, resamples=199)
    for column in range(12):
        alone = heterogeneity_test(values[:, column], labels, resamples=199)
        for name in ("statistic", "p_value", "welch_p", "cochran_q", "n", "left_out"):
            assert_array_equal(getattr(together, name)[column], getattr(alone, name)[0], err_msg=name)


def test_weights_enter_means_and_errors() -> None:
    rng = np.random.default_rng(1)
    values, labels = rng.normal(size=40), np.repeat(["a", "b"], 20)
    weights = rng.integers(1, 9, 40)
    result = heterogeneity_test(paired_differences(np.zeros(40), values, weights), labels, resamples=99)
    parts = [paired_differences(np.zeros(20), values[labels == s], weights[labels == s]) for s in "ab"]
    difference = parts[0].mean - parts[1].mean
    variance = parts[0].standard_error ** 2 + parts[1].standard_error ** 2
    assert_allclose(result.statistic, difference**2 / variance, rtol=1e-6)


def test_level_under_unequal_variances() -> None:
    rng = np.random.default_rng(6)
    labels = np.repeat(["a", "b"], [10, 40])
    values = rng.normal(size=(50, 400)) * np.repeat([3.0, 0.5], [10, 40])[:, None]
    result = heterogeneity_test(values, labels, resamples=199)
    plain = heterogeneity_test(values, labels, resamples=199, statistic="between")
    assert np.mean(result.p_value <= 0.05) < 0.05 + 4 * np.sqrt(0.05 * 0.95 / 400)
    assert np.mean(plain.p_value <= 0.05) > 0.2


def test_messages() -> None:
    with pytest.raises(RankstatsError, match="one for each of the 3 queries"):
        heterogeneity_test([1.0, 2.0, 3.0], ["a"])
    with pytest.raises(RankstatsError, match="statistic"):
        heterogeneity_test([1.0, 2.0, 3.0], ["a", "a", "b"], statistic="f")
