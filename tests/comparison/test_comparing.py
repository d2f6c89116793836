"""Comparisons: families, dualities of p and interval, and numbers that depend on no order."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankstats.comparison import Evidence, compare_evidence
from rankstats.comparison.result import Comparison, Difference
from rankstats.comparison.significance import seed_of
from rankstats.errors import PlanError
from rankstats.plan import Columns, Plan
from rankstats.stats import randomised_tukey
from tests.comparison.made import evidence_of

QUICK = Plan(resamples=499)


def made(seed: int, n: int, s: int = 3, m: int = 2, *, levels: int = 0) -> np.ndarray:
    """Random values; with `levels` they are few and tie often."""
    rng = np.random.default_rng(seed)
    base = rng.random((n, 1, m))
    values = np.clip(base + rng.normal(0.03, 0.15, (n, s, m)) * rng.random((1, s, 1)), 0, 1)
    return np.round(values * levels) / levels if levels else values


def by_key(comparison: Comparison) -> dict[tuple[object, ...], Difference]:
    return {
        (
            row.measure,
            row.baseline,
            row.system,
            None if row.segment is None else tuple(row.segment.values()),
            row.weighting,
        ): row
        for row in comparison.differences
    }


def check_consistency(comparison: Comparison, alpha: float) -> None:
    for row in comparison.differences:
        if row.n == 0:
            assert row.p_value is None
            continue
        assert row.p_value is not None
        assert row.p_adjusted is not None
        assert 0 < row.p_value <= row.p_adjusted <= 1
        assert row.wins + row.ties + row.losses == row.n
        assert row.difference == pytest.approx(row.mean_system - row.mean_baseline, abs=1e-9)
        for p, interval, test in [(row.p_value, row.interval, row.test)] + [
            (other.p_value, other.interval, other.test) for other in row.also
        ]:
            if test in ("randomisation", "bootstrap", "t"):
                assert (p <= alpha) == (interval is not None and interval.leaves_out_zero()), (test, row)
        pairs = [(row.correction, row.p_adjusted, row.adjusted_interval)] if row.role == "confirmatory" else []
        pairs += [(o.correction, o.p_adjusted, o.adjusted_interval) for o in row.also_adjusted]
        for correction, p, interval in pairs:
            assert p >= row.p_value
            if correction in ("bootstrap-max-t", "max-t", "tukey", "bonferroni", "guarded-bonferroni", "sidak", "none"):
                assert (p <= alpha) == (interval is not None and interval.leaves_out_zero()), (correction, row)
            else:
                assert interval is None
            if interval is not None and row.interval is not None:
                assert interval.ends[0] <= row.interval.ends[0]
                assert interval.ends[1] >= row.interval.ends[1]


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.one_of(st.integers(2, 30), st.integers(31, 200)),
    s=st.integers(2, 4),
    levels=st.sampled_from([0, 1, 2, 5]),
    weighted=st.booleans(),
    test=st.sampled_from(["randomisation", "bootstrap", "t"]),
    correction=st.sampled_from(
        ["auto", "bootstrap-max-t", "max-t", "max-t-stepdown", "bonferroni", "sidak", "holm", "bh", "none"]
    ),
    alpha=st.sampled_from([0.05, 0.01, 0.2]),
    resamples=st.sampled_from([99, 199, 1000]),
)
def test_p_and_interval_never_contradict_each_other(
    seed: int, n: int, s: int, levels: int, weighted: bool, test: str, correction: str, alpha: float, resamples: int
) -> None:
    values = made(seed, n, s, 1, levels=levels)
    weights = np.random.default_rng(seed).integers(1, 9, n) if weighted else None
    kind = ["x" if i % 3 else "y" for i in range(n)]
    plan = Plan(test=test, correction=correction, alpha=alpha, resamples=resamples, segments=("kind",), seed=seed)
    evidence = evidence_of(values, weights=weights, columns={"kind": kind})
    check_consistency(compare_evidence(evidence, plan), alpha)


@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(3, 60),
    s=st.integers(2, 4),
    levels=st.sampled_from([0, 2]),
    weighted=st.booleans(),
)
def test_tukey_covers_all_pairs_consistently(seed: int, n: int, s: int, levels: int, weighted: bool) -> None:
    weights = np.random.default_rng(seed).integers(1, 9, n) if weighted else None
    plan = Plan(correction="tukey", compare="all-pairs", resamples=499, seed=seed)
    comparison = compare_evidence(evidence_of(made(seed, n, s, 1, levels=levels), weights=weights), plan)
    check_consistency(comparison, 0.05)
    assert comparison.families[0].correction == ("none" if s == 2 else "tukey")


def test_tukey_equals_the_test_of_the_values() -> None:
    values = made(19, 40, 4, 1)
    plan = Plan(correction="tukey", compare="all-pairs", resamples=999)
    rows = compare_evidence(evidence_of(values), plan).differences
    direct = randomised_tukey(values[:, :, 0], resamples=999, rng=seed_of(plan, "max-T"))
    for row, p in zip(rows, direct.p_adjusted.tolist(), strict=True):
        assert row.p_adjusted == max(p, row.p_value or 0)
    with pytest.raises(PlanError, match="for all pairs of systems"):
        Plan(correction="tukey")
    with pytest.raises(PlanError, match="for one primary measure"):
        compare_evidence(evidence_of(made(20, 20)), replace(plan, primary=("m0", "m1")))


def test_stepping_down_never_raises_p() -> None:
    evidence = evidence_of(made(21, 40, 5, 1))
    single = compare_evidence(evidence, replace(QUICK, correction="max-t")).differences
    stepped = compare_evidence(evidence, replace(QUICK, correction="max-t-stepdown")).differences
    for one, other in zip(single, stepped, strict=True):
        assert (one.p_value or 0) <= (other.p_adjusted or 0) <= (one.p_adjusted or 0)
        assert other.adjusted_interval is None


def numbers(row: Difference) -> tuple[object, ...]:
    return (row.n, row.difference, row.p_value, row.interval, row.wins, row.ties, row.losses, row.also)


def test_order_and_names_of_systems_and_measures_change_nothing() -> None:
    values = made(1, 60, 4, 3, levels=10)
    kind = ["x" if i % 2 else "y" for i in range(60)]
    plan = replace(QUICK, segments=("kind",), compare="baseline", baselines=("a",), primary=("m0", "m2"))
    first = compare_evidence(evidence_of(values, columns={"kind": kind}), plan)
    systems, measures = [2, 0, 3, 1], [2, 0, 1]
    shuffled = compare_evidence(
        evidence_of(
            values[:, systems][:, :, measures],
            systems=[f"new-{'abcd'[i]}" for i in systems],
            measures=[f"m{i}" for i in measures],
            columns={"kind": kind},
        ),
        replace(plan, baselines=("new-a",)),
    )
    other = by_key(shuffled)
    for key, row in by_key(first).items():
        twin = other[(key[0], f"new-{key[1]}", f"new-{key[2]}", *key[3:])]
        assert numbers(row) == numbers(twin)
        assert (row.p_adjusted, row.adjusted_interval, row.also_adjusted) == (
            twin.p_adjusted,
            twin.adjusted_interval,
            twin.also_adjusted,
        )


def test_adding_a_system_or_measure_leaves_unadjusted_numbers() -> None:
    values = made(2, 80, 4, 2)
    few = by_key(compare_evidence(evidence_of(values[:, :2, :1]), QUICK))
    many = by_key(compare_evidence(evidence_of(values), QUICK))
    for key, row in few.items():
        assert numbers(row) == numbers(many[key])


def test_identical_systems_have_p_one_and_leave_the_others_alone() -> None:
    values = made(3, 50, 3, 1)
    values[:, 1] = values[:, 0]
    plan = replace(QUICK, correction="bonferroni")
    comparison = compare_evidence(evidence_of(values), plan)
    same, other = comparison.differences
    assert (same.p_value, same.p_adjusted, same.difference, same.interval) == (1.0, 1.0, 0.0, None)
    assert other.p_adjusted == min(1, 2 * (other.p_value or 0))
    codes = [warning.code for warning in comparison.warnings]
    assert "identical_systems" in codes
    assert comparison.verdict[0].outcome == "not_shown"
    assert "do not differ on m0 on any of 50 queries" in comparison.verdict[0].sentence


def test_families_hold_every_difference_once() -> None:
    plan = replace(QUICK, segments=("kind",), primary=("m1",))
    values = made(4, 40)
    comparison = compare_evidence(evidence_of(values, columns={"kind": ["x"] * 20 + ["y"] * 20}), plan)
    confirmatory, exploratory = comparison.families
    assert (confirmatory.role, confirmatory.correction) == ("confirmatory", "bootstrap-max-t")
    assert (exploratory.role, exploratory.correction) == ("exploratory", "bh")
    rows = {row.id: row for row in comparison.differences}
    assert sorted([*confirmatory.members, *exploratory.members]) == sorted(rows)
    assert {(rows[i].measure, rows[i].segment) for i in confirmatory.members} == {("m1", None)}
    assert len(confirmatory.members) == 2
    assert [v.difference_id for v in comparison.verdict] == list(confirmatory.members)


@pytest.mark.parametrize(("n", "correction"), [(24, "guarded-bonferroni"), (25, "bootstrap-max-t")])
def test_the_default_correction_changes_at_25_queries(n: int, correction: str) -> None:
    comparison = compare_evidence(evidence_of(made(5, n)), QUICK)
    assert comparison.families[0].correction == correction


def test_one_claim_needs_no_correction() -> None:
    comparison = compare_evidence(evidence_of(made(6, 30, 2)), QUICK)
    row = comparison.differences[0]
    assert comparison.families[0].correction == "none"
    assert row.p_adjusted == row.p_value
    assert row.adjusted_interval == row.interval


def test_undefined_values_are_left_out_of_all_systems_alike() -> None:
    values = made(7, 30, 3, 1)
    values[4, 1] = np.nan
    comparison = compare_evidence(evidence_of(values), QUICK)
    assert {row.n for row in comparison.differences} == {29}
    kept = np.delete(values[:, :, 0], 4, axis=0)
    for score in comparison.scores:
        assert score.n == 29
        assert score.mean == pytest.approx(kept[:, "abc".index(score.system)].mean(), abs=1e-12)


def test_weighted_results_lead_and_plain_ones_stand_beside() -> None:
    values = made(8, 40, 2, 1)
    weights = np.random.default_rng(1).integers(1, 20, 40).astype(float)
    comparison = compare_evidence(evidence_of(values, weights=weights), QUICK)
    weighted, plain = comparison.differences
    assert (weighted.weighting, weighted.role) == ("w", "confirmatory")
    assert (plain.weighting, plain.role) == (None, "exploratory")
    difference = values[:, 1, 0] - values[:, 0, 0]
    assert weighted.difference == pytest.approx(np.average(difference, weights=weights), abs=1e-9)
    assert plain.difference == pytest.approx(difference.mean(), abs=1e-9)
    assert weighted.n_effective == pytest.approx(weights.sum() ** 2 / (weights**2).sum())
    unweighted = compare_evidence(evidence_of(values), QUICK).differences[0]
    assert numbers(plain)[:4] == numbers(unweighted)[:4]
    scores = {score.system: score for score in comparison.scores}
    assert scores["b"].weighted_mean == pytest.approx(np.average(values[:, 1, 0], weights=weights), abs=1e-12)


def test_equal_weights_change_nothing() -> None:
    values = made(9, 40, 2, 1)
    plain = compare_evidence(evidence_of(values), QUICK).differences[0]
    weighted = compare_evidence(evidence_of(values, weights=np.full(40, 7.0)), QUICK).differences[0]
    assert numbers(plain)[:4] == numbers(weighted)[:4]


def test_lower_is_better_turns_the_verdict() -> None:
    values = np.column_stack([np.linspace(10, 20, 40), np.linspace(9, 18, 40)])
    plan = replace(QUICK, resamples=999)
    up = compare_evidence(evidence_of(values, measures=["clicks"]), plan).verdict[0]
    down = compare_evidence(evidence_of(values, measures=["latency"], lower_is_better=["latency"]), plan).verdict[0]
    assert (up.outcome, down.outcome) == ("worse", "better")
    assert "b is better than a on latency by −1." in down.sentence
    assert "lower is better" in down.sentence


def test_no_verdict_below_ten_queries() -> None:
    values = np.column_stack([np.zeros(9), np.linspace(0.1, 0.9, 9)])
    comparison = compare_evidence(evidence_of(values), QUICK)
    assert comparison.differences[0].p_adjusted == pytest.approx(2 / 2**9)
    assert comparison.verdict[0].outcome == "not_shown"
    assert "Too few queries for a verdict" in comparison.verdict[0].sentence


def test_equivalence_needs_a_margin() -> None:
    rng = np.random.default_rng(1)
    values = rng.random((200, 2))
    values[:, 1] = values[:, 0] + rng.normal(0, 0.01, 200)
    assert compare_evidence(evidence_of(values), QUICK).verdict[0].outcome == "not_shown"
    verdict = compare_evidence(evidence_of(values), replace(QUICK, margin={"m0": 0.01})).verdict[0]
    assert verdict.outcome == "equivalent"
    assert "equivalent on m0 within ±0.01" in verdict.sentence


def test_pairs_by_baseline_all_pairs_and_best() -> None:
    values = made(10, 30, 4, 1)
    values[:, 2] += 0.5
    evidence = evidence_of(values)

    def pairs(plan: Plan) -> list[tuple[str, str]]:
        return [(row.baseline, row.system) for row in compare_evidence(evidence, plan).differences]

    assert pairs(QUICK) == [("a", "b"), ("a", "c"), ("a", "d")]
    assert pairs(replace(QUICK, baselines=("b", "a"))) == [("b", "a"), ("b", "c"), ("b", "d"), ("a", "c"), ("a", "d")]
    assert pairs(replace(QUICK, compare="best")) == [("c", "a"), ("c", "b"), ("c", "d")]
    assert len(pairs(replace(QUICK, compare="all-pairs"))) == 6


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (Plan(baselines=("A1",)), r"baseline 'A1' is not among the systems \(a, b, c\)"),
        (Plan(primary=("m9",)), r"primary measure 'm9' is not among the measures"),
        (Plan(segments=("kind",)), r"--segment kind needs a query table"),
    ],
)
def test_plans_that_do_not_fit_the_data(plan: Plan, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        compare_evidence(evidence_of(made(11, 20)), plan)


def test_one_system_cannot_be_compared() -> None:
    with pytest.raises(PlanError, match="two systems or more; 1 given"):
        compare_evidence(evidence_of(np.zeros((20, 1))), QUICK)


def test_segments_of_few_queries_are_marked_and_never_judged() -> None:
    columns = {"kind": ["x"] * 45 + ["y"] * 5}
    comparison = compare_evidence(evidence_of(made(12, 50, 2), columns=columns), replace(QUICK, segments=("kind",)))
    assert [(s.value, s.n, s.too_few) for s in comparison.segments] == [("x", 45, False), ("y", 5, True)]
    assert all(verdict.segment is None for verdict in comparison.verdict)


def test_a_query_that_carries_the_result_is_named() -> None:
    solid = np.column_stack([np.zeros(20), np.full(20, 0.02)])
    assert "one_query_carries" not in [w.code for w in compare_evidence(evidence_of(solid), QUICK).warnings]
    comparison = compare_evidence(
        evidence_of(np.column_stack([np.zeros(20), np.r_[np.full(6, 0.02), np.zeros(14)]])), replace(QUICK, alpha=0.05)
    )
    assert comparison.differences[0].p_value == pytest.approx(2 / 64)
    (warning,) = [w for w in comparison.warnings if w.code == "one_query_carries"]
    assert warning.message.startswith("The verdict hangs on one query: without q00000")


def test_means_against_losses_are_flagged() -> None:
    difference = np.r_[np.full(12, 0.5), np.full(18, -0.02)]
    values = np.column_stack([np.full(30, 0.4), 0.4 + difference])
    comparison = compare_evidence(evidence_of(values), replace(QUICK, resamples=999))
    assert comparison.verdict[0].outcome == "better"
    assert "mean_against_losses" in [w.code for w in comparison.warnings]


def test_weights_that_turn_the_verdict_are_flagged() -> None:
    noise = np.random.default_rng(0).normal(0, 0.01, 60)
    difference = np.r_[np.full(45, 0.1), np.full(15, -0.1)] + noise
    values = np.column_stack([np.full(60, 0.5), 0.5 + difference])
    weights = np.r_[np.ones(45), np.full(15, 20.0)]
    comparison = compare_evidence(evidence_of(values, weights=weights), replace(QUICK, resamples=999))
    (warning,) = [w for w in comparison.warnings if w.code == "reversal"]
    assert warning.severity == "serious"
    assert warning.message == "Weighted by w, b is worse; without weights it is better."


def test_weights_that_rest_on_one_query_give_no_verdict() -> None:
    values = np.column_stack([np.full(60, 0.5), np.r_[np.full(59, 0.6), 0.1]])
    weights = np.r_[np.ones(59), 1e6]
    comparison = compare_evidence(evidence_of(values, weights=weights), replace(QUICK, test="t"))
    assert comparison.verdict[0].outcome == "not_shown"
    assert "60 queries that the weights make count like 1.0" in comparison.verdict[0].sentence
    assert {"few_queries", "low_effective_n"} <= {w.code for w in comparison.warnings}


@pytest.mark.parametrize("test", ["sign", "wilcoxon"])
def test_rank_tests_speak_of_their_own_parameter(test: str) -> None:
    rng = np.random.default_rng(1)
    difference = np.r_[rng.normal(-0.01, 0.001, 40), rng.normal(0.5, 0.01, 8)]
    comparison = compare_evidence(evidence_of(np.column_stack([np.full(48, 0.3), 0.3 + difference])), Plan(test=test))
    row, verdict = comparison.differences[0], comparison.verdict[0]
    assert row.difference is not None
    assert row.difference > 0
    assert row.estimate is not None
    assert row.estimate < 0
    assert verdict.outcome == "worse"
    assert "median difference of −0.01" in verdict.sentence.replace("median of the differences", "median difference")
    assert "mean difference +0.07" in verdict.sentence


def test_rank_tests_know_no_weights() -> None:
    with pytest.raises(PlanError, match="test 'sign' is not about the mean and knows no weights"):
        Plan(test="sign", columns=Columns(weight="w"))
    with pytest.raises(PlanError, match="knows no correction 'bootstrap-max-t'"):
        Plan(test="wilcoxon", correction="bootstrap-max-t")


def test_wins_follow_the_direction_of_the_measure() -> None:
    values = np.column_stack([np.full(40, 10.0), np.r_[np.full(32, 9.0), np.full(8, 10.5)]])
    row = compare_evidence(evidence_of(values, measures=["ms"], lower_is_better=["ms"]), QUICK).differences[0]
    assert (row.wins, row.ties, row.losses) == (32, 0, 8)
    assert row.probability_of_superiority == 0.8


def test_a_sparse_member_is_corrected_by_bonferroni_and_the_level_is_shared_out() -> None:
    rng = np.random.default_rng(4)
    base = rng.random((60, 1))
    values = np.hstack([base, base, base + rng.normal(0.05, 0.1, (60, 2))])
    values[:8, 1] += 0.2
    comparison = compare_evidence(evidence_of(values), replace(QUICK, resamples=1999))
    sparse, *dense = comparison.differences
    assert comparison.families[0].correction == "bootstrap-max-t"
    assert sparse.p_value is not None
    assert sparse.p_adjusted == min(1, 3 * sparse.p_value)
    pure = compare_evidence(
        evidence_of(values[:, [0, 2, 3]], systems=["a", "c", "d"]), replace(QUICK, resamples=1999)
    ).differences
    for row, alone in zip(dense, pure, strict=True):
        assert alone.p_adjusted is not None
        assert row.p_adjusted == pytest.approx(max(row.p_value or 0, min(1, 1.5 * alone.p_adjusted)))


def test_the_best_is_compared_under_a_correction_for_all_pairs() -> None:
    values = made(16, 40, 5, 1)
    comparison = compare_evidence(evidence_of(values), replace(QUICK, compare="best", correction="bonferroni"))
    assert comparison.families[0].size == 10
    assert len(comparison.families[0].members) == 4
    for row in comparison.verdict:
        (difference,) = [d for d in comparison.differences if d.id == row.difference_id]
        assert difference.p_adjusted == min(1, 10 * (difference.p_value or 0))


def test_an_unreachable_level_is_serious() -> None:
    values = np.column_stack([np.zeros(60), np.r_[np.full(4, 0.5), np.zeros(56)]])
    (warning,) = [w for w in compare_evidence(evidence_of(values), QUICK).warnings if w.code == "level_unreachable"]
    assert warning.severity == "serious"
    assert "with 60 queries, 4 of them with a difference" in warning.message
    rng = np.random.default_rng(0)
    values = np.hstack([np.zeros((12, 1)), 1 + rng.normal(0, 0.1, (12, 9))])
    plan = replace(QUICK, resamples=99, correction="bonferroni")
    warnings = [w for w in compare_evidence(evidence_of(values), plan).warnings if w.code == "level_unreachable"]
    assert warnings == []
    plan = replace(plan, resamples=99)
    values = np.hstack([np.zeros((20, 1)), 1 + rng.normal(0, 0.1, (20, 9))])
    (warning,) = [w for w in compare_evidence(evidence_of(values), plan).warnings if w.code == "level_unreachable"]
    assert warning.where == "9 comparisons"


def test_small_segments_take_no_part_in_heterogeneity() -> None:
    rng = np.random.default_rng(2)
    difference = np.r_[rng.normal(0, 0.1, 60), rng.normal(0.15, 0.1, 60), [3.0, -3.0]]
    values = np.column_stack([np.zeros(122), difference])
    columns = {"kind": ["x"] * 60 + ["y"] * 60 + ["z"] * 2}
    plan = replace(QUICK, segments=("kind",))
    (test,) = compare_evidence(evidence_of(values, columns=columns), plan).heterogeneity
    without = evidence_of(values[:120], columns={"kind": columns["kind"][:120]})
    (same,) = compare_evidence(without, plan).heterogeneity
    assert (test.segments, test.n) == (2, 120)
    assert test.p_value == pytest.approx(same.p_value or 0, abs=0.02)


def test_heterogeneity_and_reversals_follow_the_weights() -> None:
    rng = np.random.default_rng(6)
    difference = np.r_[rng.normal(0.1, 0.02, 30), rng.normal(-0.1, 0.02, 30)]
    values = np.column_stack([np.zeros(60), difference])
    columns = {"kind": ["x"] * 30 + ["y"] * 30}
    weights = np.r_[np.full(30, 5.0), np.ones(30)]
    plan = replace(QUICK, segments=("kind",))
    (test,) = compare_evidence(evidence_of(values, columns=columns, weights=weights), plan).heterogeneity
    assert (test.weighting, test.opposite, test.reversal) == ("w", ("y",), True)
    (test,) = compare_evidence(evidence_of(values, columns=columns, weights=1 / weights), plan).heterogeneity
    assert test.opposite == ("x",)


def test_an_attribute_that_splits_nothing_is_left_out() -> None:
    comparison = compare_evidence(
        evidence_of(made(17, 20), columns={"kind": ["x"] * 20}), replace(QUICK, segments=("kind",))
    )
    assert comparison.segments == ()
    assert "undivided_segment" in [w.code for w in comparison.warnings]


def test_a_diagnostic_measure_has_a_family_of_its_own() -> None:
    evidence = evidence_of(made(18, 40), measures=["m", "seen"])
    first, second = evidence.scores.measures
    scores = replace(evidence.scores, measures=(first, replace(second, diagnostic=True)))
    comparison = compare_evidence(replace(evidence, scores=scores), QUICK)
    assert [(f.id, len(f.members)) for f in comparison.families] == [("confirmatory", 2), ("diagnostic", 2)]
    assert all("seen" not in row.what for row in comparison.agreement)


def test_equivalence_is_not_claimed_without_a_simultaneous_interval() -> None:
    rng = np.random.default_rng(1)
    base = rng.random((200, 1))
    values = np.hstack([base, base + rng.normal(0, 0.01, (200, 3))])
    plan = replace(QUICK, margin={"m0": 0.01})
    assert {v.outcome for v in compare_evidence(evidence_of(values), plan).verdict} == {"equivalent"}
    holm = compare_evidence(evidence_of(values), replace(plan, correction="holm"))
    assert "equivalent" not in {v.outcome for v in holm.verdict}
    same = np.hstack([base, base])
    assert compare_evidence(evidence_of(same), plan).verdict[0].outcome == "equivalent"


def test_repeated_texts_and_tuning_queries_are_flagged() -> None:
    columns = {"text": ["shoes"] * 3 + [f"t{i}" for i in range(27)], "split": ["dev"] * 2 + ["test"] * 28}
    evidence: Evidence = evidence_of(made(13, 30, 2), columns=columns, text="text")
    found = {w.code: w for w in compare_evidence(evidence, QUICK).warnings}
    assert "1 query text occurs under several ids (3 queries)" in found["duplicate_texts"].message
    assert found["tuning_queries"].severity == "serious"


def test_the_report_holds_plain_json_values_only() -> None:
    comparison = compare_evidence(evidence_of(made(14, 20)), QUICK)
    text = json.dumps(comparison.to_dict(), allow_nan=False)
    assert json.loads(text)["kind"] == "comparison"


def test_differences_as_a_frame() -> None:
    plan = replace(QUICK, segments=("kind",))
    comparison = compare_evidence(evidence_of(made(15, 30), columns={"kind": ["x", "y"] * 15}), plan)
    frame = comparison.to_frame()
    assert len(frame) == len(comparison.differences)
    assert frame["p_value"].tolist() == [row.p_value for row in comparison.differences]
    assert set(frame["value"].dropna()) == {"x", "y"}
    first = comparison.differences[0]
    assert first.interval is not None
    assert frame["interval_low"][0] == first.interval.low


def test_relative_differences_are_ratios_of_means() -> None:
    # 0.72 to 0.75 is +4.2 %
    rng = np.random.default_rng(3)
    noise = rng.normal(0, 0.05, 50)
    noise -= noise.mean()
    values = np.column_stack([0.72 + noise, 0.75 + noise[::-1]])
    row = compare_evidence(evidence_of(values), QUICK).differences[0]
    assert row.difference == pytest.approx(0.03, abs=1e-9)
    assert row.relative_difference == pytest.approx(0.041666666666666664, abs=1e-8)
    losses = compare_evidence(evidence_of(np.column_stack([-10 + noise, -5 + noise])), QUICK).differences[0]
    assert losses.relative_difference == pytest.approx(0.5, abs=1e-8)


def test_a_mix_of_segments_that_would_decide_otherwise_is_told() -> None:
    rng = np.random.default_rng(3)
    kinds = np.array(["rare"] * 40 + ["often"] * 20)
    change = np.where(kinds == "rare", 0.1, 0.0) + rng.normal(0, 0.03, 60)
    evidence = evidence_of(np.column_stack([np.full(60, 0.5), 0.5 + change]), columns={"kind": kinds.tolist()})
    plan = replace(QUICK, segments=("kind",))
    for mix, told in (({"rare": 0.01, "often": 0.99}, True), ({"rare": 0.6, "often": 0.4}, False)):
        comparison = compare_evidence(evidence, replace(plan, mix={"kind": mix}))
        (row,) = comparison.post_stratified
        assert comparison.verdict[0].outcome == "better"
        assert ((row.p_value or 0) > 0.05) == told
        found = [w for w in comparison.warnings if w.code == "mix_disagrees"]
        assert [w.severity for w in found] == ["warning"] * told
        if told:
            assert found[0].message.startswith("Under the stated mix of kind the difference is ")
            assert ": not shown; over the judged queries it is +0.0" in found[0].message
            assert found[0].message.endswith(": better.")


def test_nothing_is_equal_within_a_step_where_nothing_differs() -> None:
    (row,) = compare_evidence(evidence_of(np.full((20, 2), 1.0)), QUICK).differences
    assert (row.ties, row.tie_tolerance) == (20, 0.0)
    (row,) = compare_evidence(evidence_of(made(4, 20)[:, :2, :1]), QUICK).differences
    assert row.tie_tolerance is not None
    assert 0 < row.tie_tolerance < 1e-6


def test_names_of_procedures_and_segments_are_those_that_a_reader_knows() -> None:
    # one query of one: no p-value can be small
    (warning,) = [
        w for w in compare_evidence(evidence_of([[0.1, 0.4]]), QUICK).warnings if w.code == "level_unreachable"
    ]
    assert warning.message.endswith("here: with 1 query the smallest possible p is 1.")
