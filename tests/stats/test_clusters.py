from __future__ import annotations

import json
from itertools import product
from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from rankstats.errors import RankstatsError
from rankstats.stats import (
    bootstrap_intervals,
    bootstrap_max_t,
    cluster_sums,
    mean_ratios,
    on_clusters,
    paired_bootstrap,
    paired_differences,
    paired_t,
    relative_ratios,
    sign_flip_test,
    sign_flips,
    strata_of_clusters,
)
from tests.shared import shared
from tests.stats.cases import Case, alternatives, cases, leaves_out_zero, levels
from tests.stats.test_invariance import assert_same

NUMBERS = ("estimate", "p_value", "low", "high", "p_adjusted", "adjusted_low", "adjusted_high")


@pytest.mark.shared
def test_replayed_clusters() -> None:
    golden = json.loads(shared("golden/stats_bootstrap.json").read_text(encoding="utf-8"))["cluster_bootstrap"]
    d = paired_differences(np.zeros(20), golden["d"])
    indices = np.array(golden["cluster_index_matrix_0based"])
    for statistic in (cluster_sums(d, golden["cluster"]), mean_ratios(d).of_clusters(golden["cluster"])):
        result = bootstrap_intervals(statistic, indices=indices)
        assert result.n.tolist() == [8]
        assert_allclose(result.estimate, golden["t0"], rtol=0, atol=1e-9)
        assert_allclose(result.standard_error, golden["boot_sd"], rtol=0, atol=1e-9)
        low, high = result.interval("percentile")
        assert_allclose([low[0], high[0]], golden["quantile_type7_95"], rtol=0, atol=1e-9)
    clustered = cluster_sums(d, golden["cluster"])
    assert_allclose(clustered.standard_error, golden["linearised_cluster_se"], rtol=0, atol=1e-9)
    assert_allclose(d.standard_error, golden["naive_se"], rtol=0, atol=1e-9)
    assert_allclose(paired_bootstrap(clustered, indices=indices).standard_error, golden["boot_sd"], rtol=0, atol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_cluster_robust_t_of_statsmodels(weighted: bool) -> None:
    rng = np.random.default_rng(4)
    clusters = rng.integers(0, 15, 80)
    values = rng.normal(0.2, 1, 80) + rng.normal(0, 0.7, 15)[clusters]
    weights = rng.integers(1, 6, 80).astype(float) if weighted else np.ones(80)
    model = sm.WLS(values, np.ones(80), weights=weights)
    theirs = model.fit(cov_type="cluster", cov_kwds={"groups": clusters}, use_t=True)
    ours = paired_t(cluster_sums(paired_differences(np.zeros(80), values, weights), clusters))
    assert ours.df.tolist() == [14]
    assert_allclose(ours.estimate, theirs.params, rtol=1e-8)
    assert_allclose(ours.standard_error, theirs.bse, rtol=1e-7)
    assert_allclose(ours.p_value, theirs.pvalues, rtol=1e-6)
    assert_allclose([ours.low[0], ours.high[0]], theirs.conf_int()[0], rtol=1e-6)


@settings(deadline=None, max_examples=100)
@given(cases(), levels, alternatives, st.integers(1, 40), st.integers(0, 10**6))
def test_p_and_interval_agree_exactly(case: Case, alpha: float, alternative: str, m: int, seed: int) -> None:
    labels = np.random.default_rng(seed).integers(0, 1 + len(case.systems) // 2, len(case.systems))
    arguments: dict[str, Any] = {"alpha": alpha, "alternative": alternative, "family_size": m, "resamples": 199}
    for test in (sign_flip_test, paired_bootstrap):
        result = on_clusters(test, case.differences, labels, **arguments)
        assert_array_equal(result.p_value <= alpha, leaves_out_zero(result.low, result.high))
        assert_array_equal(result.p_adjusted <= alpha, leaves_out_zero(result.adjusted_low, result.adjusted_high))
        assert np.all(result.p_value[result.n > 0] > 0)
        assert_array_equal(result.n > 0, case.differences.n > 0)


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 7), st.integers(0, 10**6), st.booleans(), levels)
def test_enumeration_over_clusters_equals_the_definition(k: int, seed: int, weighted: bool, alpha: float) -> None:
    rng = np.random.default_rng(seed)
    n = 3 * k
    clusters = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
    values = rng.integers(-5, 9, n) / 10
    weights = rng.integers(1, 6, n).astype(float) if weighted else np.ones(n)
    d = cluster_sums(paired_differences(np.zeros(n), values, weights), clusters)
    result = sign_flip_test(d, alpha=alpha)
    sums = np.round(np.bincount(clusters, weights * values), 9)
    of_clusters = np.bincount(clusters, weights)
    signs = np.array(list(product([0, 1], repeat=k)))
    flipped, kept = np.round(signs @ sums, 9), np.round((1 - signs) @ sums, 9)
    if np.all(sums == 0):
        assert result.p_value[0] == 1
        return
    assert result.patterns.tolist() == [2**k]
    assert result.p_value[0] == np.mean(flipped * kept <= 0)
    size = signs @ of_clusters
    means = np.sort(np.where(size > 0, flipped / np.maximum(size, 1e-300), -np.inf))
    rank = int(np.floor(alpha * 2**k / 2 + 1e-9))
    assert_allclose(result.low, means[rank], atol=2e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_clusters_of_one_query_give_the_plain_test(weighted: bool) -> None:
    rng = np.random.default_rng(6)
    values = rng.normal(0.2, 1, (40, 3))
    values[20:, 1] = np.nan
    values[:, 2] = np.where(np.arange(40) < 9, values[:, 2], 0.0)
    d = paired_differences(np.zeros(40), values, rng.integers(1, 5, 40).astype(float) if weighted else None)
    for test in (sign_flip_test, paired_bootstrap, bootstrap_max_t):
        plain, clustered = (test(some, resamples=199) for some in (d, cluster_sums(d, np.arange(40))))
        for name in NUMBERS[:2] + NUMBERS[4:] if test is bootstrap_max_t else NUMBERS:
            if hasattr(plain, name):
                assert_allclose(getattr(plain, name), getattr(clustered, name), rtol=1e-8, err_msg=name)
    if not weighted:
        assert_same(sign_flip_test(d, resamples=199), sign_flip_test(cluster_sums(d, np.arange(40)), resamples=199))


def test_clusters_of_one_size_give_the_plain_test_of_their_means() -> None:
    values = np.random.default_rng(3).integers(-4, 8, (30, 2)) / 8
    labels = np.repeat(np.arange(10), 3)
    clustered = sign_flip_test(cluster_sums(paired_differences(np.zeros(30), values), labels), family_size=2)
    means = values.reshape(10, 3, 2).mean(axis=1)
    plain = sign_flip_test(paired_differences(np.zeros(10), means), family_size=2)
    for name in NUMBERS:
        assert_allclose(getattr(clustered, name), getattr(plain, name), rtol=0, atol=1e-9, err_msg=name)
    assert clustered.exact.all()


def test_more_than_16_clusters_of_one_size_of_which_few_differ_are_enumerated() -> None:
    values = np.zeros(60)
    values[:10] = [0.1, 0.2, 0.3, -0.1, 0.2, 0.1, 0.4, 0.2, 0.3, 0.1]
    labels = np.repeat(np.arange(30), 2)
    d = cluster_sums(paired_differences(np.zeros(60), values), labels)
    result = sign_flip_test(d)
    assert result.exact.all()
    assert result.patterns.tolist() == [2**5]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sign_flips, "EXACT_UP_TO", 4)
        drawn = sign_flip_test(d, resamples=20_000)
    assert_allclose(drawn.p_value, result.p_value, atol=4 * np.sqrt(0.25 / 20_000))


def test_sums_that_cancel_within_a_cluster_are_zero() -> None:
    d = paired_differences(np.zeros(6), [0.1, 0.2, -0.3, 0.7, 0.1, -0.8])
    clustered = cluster_sums(d, [0, 0, 0, 1, 1, 1])
    assert clustered.numerators.ravel().tolist() == [0.0, 0.0]
    assert sign_flip_test(clustered).p_value.tolist() == [1.0]


def test_equal_differences_in_clusters_of_different_size_and_weight() -> None:
    labels = [0, 0, 0, 1, 1, 2]
    d = paired_differences([0.1] * 6, [0.3] * 6, [0.3, 1.7, 0.9, 2.2, 0.1, 1.0])
    clustered = cluster_sums(d, labels)
    assert clustered.constant.tolist() == [True]
    assert paired_t(clustered).p_value.tolist() == [1.0]
    assert np.isinf(bootstrap_intervals(clustered, resamples=99).low).all()
    assert np.isinf(bootstrap_intervals(mean_ratios(d).of_clusters(labels), resamples=99).low).all()
    assert sign_flip_test(clustered).p_value.tolist() == [0.25]


@settings(deadline=None, max_examples=40)
@given(cases(most=60), st.integers(0, 10**6))
def test_the_order_of_the_queries_plays_no_part(case: Case, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = len(case.systems)
    labels, order = rng.integers(0, 1 + n // 2, n), rng.permutation(n)
    weights = None if case.weights is None else case.weights[order]
    shuffled = paired_differences(case.baseline[order], case.systems[order], weights)
    for test in (sign_flip_test, paired_bootstrap):
        one = on_clusters(test, case.differences, labels, resamples=99)
        assert_same(one, on_clusters(test, shuffled, labels[order], resamples=99))
        named = np.char.add("user", np.char.zfill(labels.astype(str), 6))
        assert_same(one, on_clusters(test, case.differences, named, resamples=99))


@settings(deadline=None, max_examples=30)
@given(cases(most=60), st.integers(0, 10**6))
def test_columns_do_not_depend_on_each_other(case: Case, seed: int) -> None:
    labels = np.random.default_rng(seed).integers(0, 1 + len(case.systems) // 3, len(case.systems))
    d = case.differences
    whole = on_clusters(sign_flip_test, d, labels, resamples=99, rng=4, family_size=[1, 2, 3])
    for column in range(d.n_columns):
        alone = on_clusters(sign_flip_test, d.select([column]), labels, resamples=99, rng=4, family_size=column + 1)
        assert_same(whole, alone, [column])
    assert_allclose(whole.estimate, d.mean, rtol=1e-9, atol=1e-12)


def test_partly_absent_clusters() -> None:
    values = np.random.default_rng(1).normal(0.3, 1, (40, 2))
    values[::3, 1] = np.nan
    d, labels = paired_differences(np.zeros(40), values), np.arange(40) // 4
    with pytest.raises(RankstatsError, match="on_clusters"):
        cluster_sums(d, labels)
    generator, other = np.random.default_rng(5), np.random.default_rng(5)
    result = on_clusters(paired_bootstrap, d, labels, rng=generator, resamples=99)
    assert_allclose(result.estimate, d.mean, rtol=1e-9)
    assert result.n.tolist() == [10, 10]
    single = paired_bootstrap(cluster_sums(d.select([1]), labels), rng=other, resamples=99)
    assert single.low[0] == result.low[1]
    assert generator.random() == other.random()
    ratios = bootstrap_intervals(mean_ratios(d).of_clusters(labels), resamples=99, methods=["percentile"])
    assert_allclose(ratios.estimate, d.mean, rtol=1e-9)


def test_relative_differences_over_clusters() -> None:
    rng = np.random.default_rng(2)
    labels = np.repeat(np.arange(25), 4)
    before = rng.gamma(3, 0.1, 100) + np.repeat(rng.gamma(2, 0.2, 25), 4)
    after = before * 1.1 + np.repeat(rng.normal(0, 0.2, 25), 4)
    ratios = relative_ratios(before, after)
    plain, clustered = (bootstrap_intervals(r, resamples=2000) for r in (ratios, ratios.of_clusters(labels)))
    assert_allclose(plain.estimate, clustered.estimate, rtol=1e-12)
    # differences are the same within clusters, so that queries as units understate the error by about √4
    assert 1.5 < clustered.standard_error[0] / plain.standard_error[0] < 2.5


def test_clusters_are_what_the_standard_error_rests_on() -> None:
    rng = np.random.default_rng(9)
    values = np.repeat(rng.normal(0, 1, 50), 6)
    labels = np.repeat(np.arange(50), 6)
    d = paired_differences(np.zeros(300), values)
    assert_allclose(cluster_sums(d, labels).standard_error, values[::6].std(ddof=1) / np.sqrt(50), rtol=1e-8)
    assert d.standard_error[0] < 0.5 * cluster_sums(d, labels).standard_error[0]


def test_strata_of_clusters_are_kept() -> None:
    clusters, strata = np.repeat(np.arange(20), 2), np.repeat(["x", "y"], 20)
    values = np.repeat([0.0, 1.0], 20)
    d = cluster_sums(paired_differences(np.zeros(40), values), clusters)
    result = bootstrap_intervals(d, strata=strata_of_clusters(strata, clusters), resamples=99)
    assert_allclose(result.standard_error, 0, atol=1e-12)
    with pytest.raises(RankstatsError, match="cluster 0 lies in several strata"):
        strata_of_clusters(["x", "y"], [0, 0])


@pytest.mark.parametrize(
    ("labels", "message"),
    [([1, 2], "clusters have shape"), ([1.0, np.nan, 2.0], "row 1"), (["a", "b", None], "row 2")],
)
def test_messages(labels: Any, message: str) -> None:
    d = paired_differences([0.1, 0.2, 0.3], [0.2, 0.4, 0.5])
    for function in (cluster_sums, mean_ratios(d).of_clusters):
        with pytest.raises(RankstatsError, match=message):
            function(labels) if function is not cluster_sums else cluster_sums(d, labels)
