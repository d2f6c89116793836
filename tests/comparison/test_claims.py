"""What is claimed and on which evidence: clusters, families, one side, intervals by name, the guarded Bonferroni."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from rankstats import stats
from rankstats.comparison import collect, compare_evidence
from rankstats.comparison.result import Comparison, Difference, Warning
from rankstats.comparison.significance import GUARDED, seed_of
from rankstats.errors import PlanError
from rankstats.plan import Columns, Plan
from rankstats.stats import paired_differences
from tests.comparison.made import evidence_of
from tests.comparison.test_comparing import check_consistency, made
from tests.shared import shared

QUICK = Plan(resamples=499)


def warned(comparison: Comparison, code: str) -> list[Warning]:
    return [warning for warning in comparison.warnings if warning.code == code]


def numbers(row: Difference) -> tuple[object, ...]:
    return (row.difference, row.p_value, row.interval, row.p_adjusted, row.adjusted_interval, row.standard_error)


# ── clusters ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_clusters_are_flipped_and_resampled_whole() -> None:
    values, clusters = made(1, 90, 2, 1), np.arange(90) % 23
    (row,) = compare_evidence(evidence_of(values, clusters=clusters), QUICK).differences
    differences = stats.cluster_sums(paired_differences(values[:, 0], values[:, 1]), clusters)
    flips = stats.sign_flip_test(differences, resamples=499, rng=seed_of(QUICK, "sign flips"))
    assert (row.n, row.n_clusters) == (90, 23)
    assert row.p_value == flips.p_value[0]
    assert row.interval is not None
    assert row.interval.ends == (flips.low[0], flips.high[0])
    assert row.difference == pytest.approx((values[:, 1] - values[:, 0]).mean())
    t = stats.paired_t(differences)
    (also,) = [other for other in row.also if other.test == "t"]
    assert also.p_value == t.p_value[0]
    assert row.standard_error == t.standard_error[0]
    assert {other.test for other in row.also} == {"bootstrap", "t"}
    relative = stats.clustered_relative_difference(values[:, 0], values[:, 1], clusters)
    assert row.relative_interval is not None
    assert row.relative_interval.ends == (relative.low[0], relative.high[0])


def test_clusters_of_equal_size_are_the_test_of_their_means() -> None:
    values, clusters = made(2, 80, 2, 1), np.repeat(np.arange(20), 4)
    (row,) = compare_evidence(evidence_of(values, clusters=clusters), replace(QUICK, test="t")).differences
    means = values[:, :, 0].reshape(20, 4, 2).mean(axis=1)
    expected = scipy_stats.ttest_rel(means[:, 1], means[:, 0])
    assert row.p_value == pytest.approx(expected.pvalue, rel=1e-9)
    assert row.interval is not None
    assert row.interval.ends == pytest.approx(expected.confidence_interval(), rel=1e-8)


def test_clusters_of_one_query_change_nothing() -> None:
    values = made(3, 60, 4, 2)
    alone = np.random.default_rng(0).permutation(60)
    plan = replace(QUICK, segments=("kind",))
    columns = {"kind": ["x" if i % 3 else "y" for i in range(60)]}
    plain = compare_evidence(evidence_of(values, columns=columns), plan).differences
    clustered = compare_evidence(evidence_of(values, columns=columns, clusters=alone), plan).differences
    for a, b in zip(plain, clustered, strict=True):
        # the clusters are in another order than the queries: Monte Carlo draws differ, exact numbers do not
        assert (a.difference, a.standard_error, a.n_effective) == (b.difference, b.standard_error, b.n_effective)
        assert b.n_clusters == a.n
        for one, two in zip(a.also, [o for o in b.also if o.test == "t"], strict=False):
            if one.test == "t":
                assert one == two
    in_order = compare_evidence(evidence_of(values, columns=columns, clusters=np.arange(60)), plan).differences
    assert [numbers(row) for row in plain] == [numbers(row) for row in in_order]


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(12, 120),
    sizes=st.integers(1, 6),
    levels=st.sampled_from([0, 2]),
    weighted=st.booleans(),
    test=st.sampled_from(["randomisation", "bootstrap", "t"]),
    correction=st.sampled_from(["auto", "bootstrap-max-t", "max-t", "bonferroni", "sidak", "holm"]),
)
def test_p_and_interval_agree_on_clusters(
    seed: int, n: int, sizes: int, levels: int, weighted: bool, test: str, correction: str
) -> None:
    rng = np.random.default_rng(seed)
    clusters = rng.integers(0, max(1, n // sizes), n)
    weights = rng.integers(1, 9, n) if weighted else None
    plan = Plan(test=test, correction=correction, resamples=199, seed=seed)
    evidence = evidence_of(made(seed, n, 3, 1, levels=levels), weights=weights, clusters=clusters)
    check_consistency(compare_evidence(evidence, plan), 0.05)


def test_a_verdict_needs_ten_clusters() -> None:
    values = made(4, 200, 2, 1)
    values[:, 1] += 1
    plan = replace(QUICK, resamples=1999)
    comparison = compare_evidence(evidence_of(values, clusters=np.arange(200) % 9), plan)
    assert comparison.verdict[0].outcome == "not_shown"
    assert "200 queries in 9 clusters" in comparison.verdict[0].sentence
    assert warned(comparison, "few_queries")[0].severity == "serious"
    enough = compare_evidence(evidence_of(values, clusters=np.arange(200) % 40), plan)
    assert enough.verdict[0].outcome == "better"
    assert "200 queries in 40 clusters" in enough.verdict[0].sentence
    # one cluster of 190 queries and ten of one count like one
    uneven = np.r_[np.zeros(190, dtype=int), np.arange(1, 11)]
    comparison = compare_evidence(evidence_of(values, clusters=uneven), plan)
    assert comparison.verdict[0].outcome == "not_shown"
    assert "whose sizes make them count like 1.1" in comparison.verdict[0].sentence
    assert warned(comparison, "low_effective_n")


def test_members_that_are_undefined_on_part_of_a_cluster_are_corrected_one_by_one() -> None:
    values, clusters = made(5, 120, 2, 2), np.arange(120) % 40
    values[::7, :, 1] = np.nan
    evidence = evidence_of(values, clusters=clusters, measures=["x", "y"])
    plan = replace(QUICK, primary=("x", "y"))
    comparison = compare_evidence(evidence, plan)
    assert comparison.families[0].correction == GUARDED
    check_consistency(comparison, 0.05)
    with pytest.raises(PlanError, match="gives its cluster two weights; name one primary measure"):
        compare_evidence(evidence, replace(plan, correction="max-t"))


def test_heterogeneity_permutes_clusters_and_is_not_tested_where_segments_divide_them() -> None:
    values, clusters = made(6, 120, 2, 1), np.repeat(np.arange(40), 3)
    whole = ["x" if i // 3 % 2 else "y" for i in range(120)]
    plan = replace(QUICK, segments=("kind",))
    comparison = compare_evidence(evidence_of(values, columns={"kind": whole}, clusters=clusters), plan)
    (row,) = comparison.heterogeneity
    means = values[:, 1, 0].reshape(40, 3).mean(axis=1) - values[:, 0, 0].reshape(40, 3).mean(axis=1)
    direct = stats.heterogeneity_test(means, whole[::3], resamples=499, rng=seed_of(plan, "labels"))
    assert (row.n, row.statistic, row.p_value) == (40, pytest.approx(direct.statistic[0]), direct.p_value[0])
    assert not warned(comparison, "segments_divide_clusters")
    divided = ["x" if i % 2 else "y" for i in range(120)]
    comparison = compare_evidence(evidence_of(values, columns={"kind": divided}, clusters=clusters), plan)
    (row,) = comparison.heterogeneity
    assert (row.p_value, row.statistic, row.p_adjusted) == (None, None, None)
    assert "Heterogeneity by kind is not tested" in warned(comparison, "segments_divide_clusters")[0].message


def test_clusters_come_from_a_column_of_the_query_table(tmp_path: Path) -> None:
    scores = tmp_path / "s.csv"
    scores.write_text("query_id,a,b\n" + "".join(f"q{i},0.1,0.{i}\n" for i in range(1, 8)), encoding="utf-8")
    table = tmp_path / "q.csv"
    rows = ["q1,u2", "q2,u1", "q3,", "q4,u2", "q5,u1", "q6,"]
    table.write_text("query_id,user\n" + "\n".join(rows) + "\n", encoding="utf-8")
    plan = Plan(scores=(str(scores),), queries=str(table), columns=Columns(cluster="user"))
    evidence = collect(plan)
    assert evidence.clusters is not None
    groups = {tuple(np.flatnonzero(evidence.clusters == label)) for label in evidence.clusters}
    assert groups == {(0, 3), (1, 4), (2,), (5,), (6,)}
    assert evidence.audit["clusters"] == {"column": "user", "clusters": 5, "without_value": 3}
    comparison = compare_evidence(evidence, replace(plan, resamples=99))
    assert "3 queries have no value of user" in warned(comparison, "no_cluster")[0].message
    assert comparison.to_dict()["clusters"] == "user"
    with pytest.raises(PlanError, match=r"no such column .*did you mean 'user'"):
        collect(replace(plan, columns=Columns(cluster="users")))
    with pytest.raises(PlanError, match="needs a query table"):
        collect(replace(plan, queries=None))


def test_repeated_texts_within_a_cluster_are_taken_care_of() -> None:
    values = made(7, 40, 2, 1)
    texts = [f"t{i // 2}" for i in range(40)]
    plain = compare_evidence(evidence_of(values, columns={"text": texts}, text="text"), QUICK)
    assert "--cluster COLUMN" in warned(plain, "duplicate_texts")[0].message
    same = evidence_of(values, columns={"text": texts}, text="text", clusters=np.arange(40) // 2)
    assert not warned(compare_evidence(same, QUICK), "duplicate_texts")
    other = evidence_of(values, columns={"text": texts}, text="text", clusters=np.arange(40) % 20)
    assert "several clusters" in warned(compare_evidence(other, QUICK), "duplicate_texts")[0].message


# ── families ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_family_can_hold_all_measures_or_every_segment() -> None:
    values = made(8, 80, 3, 2)
    columns = {"kind": ["x"] * 38 + ["y"] * 38 + [None] * 4}
    evidence = evidence_of(values, columns=columns, measures=["x", "y"])
    plan = replace(QUICK, segments=("kind",))
    by_family = {family: compare_evidence(evidence, replace(plan, family=family)) for family in ("primary", "measures")}
    assert [len(c.families[0].members) for c in by_family.values()] == [2, 4]
    assert {row.measure for row in by_family["measures"].verdict} == {"x", "y"}
    segments = compare_evidence(evidence, replace(plan, family="segments"))
    claims = [(row.measure, row.segment and row.segment["value"]) for row in segments.verdict]
    assert claims == [("x", None)] * 2 + [("x", "x")] * 2 + [("x", "y")] * 2
    assert segments.families[0].size == 6
    assert "where kind is y" in segments.verdict[-1].sentence
    check_consistency(segments, 0.05)
    family = [row for row in segments.differences if row.role == "confirmatory"]
    plain = compare_evidence(evidence, replace(plan, correction="bonferroni", family="segments"))
    for row, bonferroni in zip(family, [r for r in plain.differences if r.role == "confirmatory"], strict=True):
        assert row.p_value == bonferroni.p_value
        assert bonferroni.p_adjusted == min(1, 6 * (bonferroni.p_value or 0))


# ── one side ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("test", ["randomisation", "bootstrap", "t", "wilcoxon", "sign"])
def test_one_sided_tests_show_one_side_only(test: str) -> None:
    values = made(9, 60, 2, 1)
    values[:, 1] += 0.1
    evidence = evidence_of(values)
    plan = replace(QUICK, test=test, alternative="greater")
    up = compare_evidence(evidence, plan)
    (row,) = up.differences
    assert up.verdict[0].outcome == "better"
    assert "one-sided p" in up.verdict[0].sentence
    assert row.interval is not None
    assert (row.interval.unbounded, row.alternative) == ("high", "greater")
    two_sided = compare_evidence(evidence, replace(plan, alternative="two-sided")).differences[0]
    assert (row.p_value or 0) <= (two_sided.p_value or 0)
    assert warned(up, "one_sided")
    down = compare_evidence(evidence, replace(plan, alternative="less"))
    assert down.verdict[0].outcome == "not_shown"
    assert "is not shown to be worse than" in down.verdict[0].sentence
    assert (down.differences[0].p_value or 0) > 0.9


def test_one_sided_t_equals_scipy() -> None:
    values = made(10, 30, 2, 1)
    (row,) = compare_evidence(evidence_of(values), replace(QUICK, test="t", alternative="less")).differences
    expected = scipy_stats.ttest_rel(values[:, 1, 0], values[:, 0, 0], alternative="less")
    assert row.p_value == pytest.approx(expected.pvalue)


@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(10, 80),
    levels=st.sampled_from([0, 2]),
    side=st.sampled_from(["greater", "less"]),
    test=st.sampled_from(["randomisation", "bootstrap", "t"]),
    correction=st.sampled_from(["auto", "bonferroni", "sidak", "holm", "none"]),
)
def test_one_sided_p_and_interval_agree(seed: int, n: int, levels: int, side: str, test: str, correction: str) -> None:
    plan = Plan(test=test, correction=correction, alternative=side, resamples=199, seed=seed)
    comparison = compare_evidence(evidence_of(made(seed, n, 3, 1, levels=levels)), plan)
    check_consistency(comparison, 0.05)
    if correction == "auto":
        assert comparison.families[0].correction == ("bonferroni" if test == "t" else GUARDED)


# ── intervals by name ───────────────────────────────────────────────────────────────────────────────────────────────


def test_intervals_by_name_stand_beside_the_test() -> None:
    values = made(11, 40, 2, 1)
    plan = replace(QUICK, intervals=("bca", "percentile"))
    (row,) = compare_evidence(evidence_of(values), plan).differences
    direct = stats.bootstrap_intervals(
        paired_differences(values[:, 0], values[:, 1]),
        methods=["bca", "percentile"],
        resamples=499,
        rng=seed_of(plan, "bootstrap"),
    )
    asked = {other.test: other for other in row.also if other.p_value is None}
    assert list(asked) == ["bca", "percentile"]
    for name, other in asked.items():
        assert other.interval is not None
        low, high = direct.interval(name)
        assert other.interval.ends == (low[0], high[0])
        assert other.interval.method == f"bootstrap, {name}"


def test_narrow_intervals_of_few_queries_are_flagged() -> None:
    few = evidence_of(made(14, 20, 2, 1))
    assert warned(compare_evidence(few, replace(QUICK, intervals=("bca",))), "interval_small_n")
    assert not warned(compare_evidence(few, replace(QUICK, intervals=("studentised",))), "interval_small_n")
    many = evidence_of(made(14, 40, 2, 1))
    assert not warned(compare_evidence(many, replace(QUICK, intervals=("bca",))), "interval_small_n")


def test_the_queries_that_carry_the_weight_are_named() -> None:
    weights = np.ones(40)
    weights[[3, 8]] = 30
    (warning,) = warned(compare_evidence(evidence_of(made(15, 40, 2, 1), weights=weights), QUICK), "low_effective_n")
    assert "half of the weight lies on 2 queries (q00003, q00008)" in warning.message


# ── the guarded Bonferroni ──────────────────────────────────────────────────────────────────────────────────────────


def test_below_25_queries_the_larger_p_and_the_wider_interval_of_flips_and_t_count() -> None:
    values = made(12, 12, 5, 1, levels=4)
    comparison = compare_evidence(evidence_of(values), QUICK)
    assert comparison.families[0].correction == GUARDED
    flips = compare_evidence(evidence_of(values), replace(QUICK, correction="bonferroni")).differences
    t = compare_evidence(evidence_of(values), replace(QUICK, test="t", correction="bonferroni")).differences
    for row, one, two in zip(comparison.differences, flips, t, strict=True):
        assert row.p_adjusted == max(one.p_adjusted or 0, two.p_adjusted or 0)
        if row.adjusted_interval is None:
            assert one.adjusted_interval is None
            continue
        assert one.adjusted_interval is not None
        assert two.adjusted_interval is not None
        ends = np.array([one.adjusted_interval.ends, two.adjusted_interval.ends])
        assert row.adjusted_interval.ends == (ends[:, 0].min(), ends[:, 1].max())


def test_where_t_is_not_defined_the_flips_count_alone() -> None:
    rng = np.random.default_rng(13)
    base = rng.integers(0, 8, (20, 1)) / 16
    values = np.hstack([base, base + 0.25, base + rng.random((20, 1))])
    first = compare_evidence(evidence_of(values), QUICK).differences[0]
    assert first.standard_error == 0
    assert first.p_adjusted == min(1, 2 * (first.p_value or 0)) < 0.05


@pytest.mark.shared
def test_the_reversal_by_weights_of_the_reference_example_is_flagged() -> None:
    golden = json.loads(shared("golden/stats_segments.json").read_text(encoding="utf-8"))["simpson_weights"]
    # head: +.05 under a tenth of the weight; tail: −.01 under the rest
    n = 60
    rng = np.random.default_rng(16)
    base = rng.random((2 * n, 1)) / 2
    d = np.r_[np.full(n, 0.05), np.full(n, -0.01)] + np.tile([1e-4, -1e-4], n)
    values = np.hstack([base, base + d[:, None]])
    weights = np.r_[np.full(n, 0.1 / n), np.full(n, 0.9 / n)]
    kind = ["head"] * n + ["tail"] * n
    evidence = evidence_of(values, columns={"kind": kind}, weights=weights)
    comparison = compare_evidence(evidence, replace(QUICK, segments=("kind",)))
    weighted, plain = (row for row in comparison.differences if row.segment is None)
    assert weighted.difference == pytest.approx(golden["weighted"])
    assert plain.difference == pytest.approx(golden["macro"])
    (warning,) = warned(comparison, "reversal")
    assert (warning.severity, weighted.weighting) == ("serious", "w")
    assert comparison.verdict[0].outcome == "worse"
