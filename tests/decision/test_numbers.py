"""The numbers of a decision against plain programs written here, scipy, statsmodels, and the report's own rows."""

from __future__ import annotations

import itertools
import json
import math
from typing import Any

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.power import TTestPower

from rankstats.decision import RuleOutcome, decide, policy_from_document
from rankstats.plan import Plan
from tests.decision.made import Content, claim, guard, noise, pair, policy_of, report_of, shuffled


def rule_of(report: Content, **rules: Any) -> RuleOutcome:
    return decide(report, policy_from_document(policy_of(evidence={"warnings": []}, **rules))).rules[-1]


def flipped_share(moved: list[float], clusters: list[int] | None = None) -> float:
    """Share of all sign patterns whose sum is at least as large as the observed one; whole clusters flip together."""
    labels = clusters or list(range(len(moved)))
    names = sorted(set(labels))
    sums = [math.fsum(x for x, label in zip(moved, labels, strict=True) if label == name) for name in names]
    observed = math.fsum(sums)
    reached = 0
    for signs in itertools.product((1, -1), repeat=len(sums)):
        reached += math.fsum(s * x for s, x in zip(signs, sums, strict=True)) >= observed - 1e-9
    return reached / 2 ** len(sums)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_a_guard_holds_just_when_all_sign_patterns_say_so(seed: int, alpha: float) -> None:
    rng = np.random.default_rng(seed)
    difference = np.round(rng.normal(-0.01, 0.05, 10 + seed % 3), 3)
    values = pair(difference, seed=seed)
    report = report_of(values)
    exact = (values[:, 1] - values[:, 0]).tolist()
    for margin in (0.005, 0.02, 0.03, 0.05, 0.08):
        found = rule_of(report, alpha=alpha, guard=[guard(margin)])
        p = flipped_share([d + margin for d in exact])
        assert (found.outcome == "holds") == (p <= alpha / 2), (margin, p)


@pytest.mark.parametrize("seed", range(8))
def test_a_claim_holds_just_when_all_sign_patterns_of_clusters_say_so(seed: int) -> None:
    rng = np.random.default_rng(seed)
    clusters = np.sort(np.concatenate([np.arange(11), rng.integers(0, 11, 13)])).tolist()
    values = pair(np.round(rng.normal(0.03, 0.05, 24), 3), seed=seed)
    columns = {"user": [f"u{label:02}" for label in clusters]}
    report = report_of(values, clusters=clusters, columns=columns)
    report["clusters"] = "user"
    found = decide(report, policy_from_document(policy_of(alpha=0.1, claim=[claim(0.01)]))).rules[-1]
    p = flipped_share([d - 0.01 for d in (values[:, 1] - values[:, 0]).tolist()], clusters)
    # clusters of unequal size may count like fewer than ten
    sizes = np.bincount(clusters)
    if sizes.sum() ** 2 / (sizes**2).sum() < 10:
        assert found.reason == "too_few"
    else:
        assert (found.outcome == "holds") == (p <= 0.05), p


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("lower", [False, True])
def test_a_relative_guard_holds_just_when_all_sign_patterns_say_so(seed: int, lower: bool) -> None:
    rng = np.random.default_rng(seed)
    base = rng.uniform(0.5, 1.5, 11)
    after = base * (1 + rng.normal(0.03 if lower else -0.03, 0.06, 11))
    report = report_of(np.stack([base, after], axis=1), lower_is_better=["AP"] if lower else [])
    for margin in (0.02, 0.05, 0.08, 0.12):
        found = rule_of(report, guard=[{"id": "g", "measure": "AP", "margin_relative": margin}])
        moved = (-1 if lower else 1) * (after - base) + margin * base
        assert (found.outcome == "holds") == (flipped_share(moved.tolist()) <= 0.025)
        assert found.observed == pytest.approx(after.sum() / base.sum() - 1, rel=1e-8)


@pytest.mark.parametrize("made", ["plain", "weights", "clusters", "segment"])
def test_the_interval_of_a_rule_is_that_of_the_report(made: str) -> None:
    rng = np.random.default_rng(4)
    n = 80
    users = [f"u{q // 2:02}" for q in range(n)]
    weights = rng.uniform(0.5, 2.0, n)
    settings: dict[str, Any] = {"columns": {"user": users, "kind": ["x", "y"] * (n // 2), "w": weights.tolist()}}
    if made == "weights":
        settings["weights"] = weights
    if made == "clusters":
        settings["clusters"] = [q // 2 for q in range(n)]
    report = report_of(pair(noise(n, 0.02, 0.1)), plan=Plan(resamples=1999, seed=3, segments=("kind",)), **settings)
    segment = {"attribute": "kind", "value": "y"} if made == "segment" else None
    found = rule_of(report, claim=[claim(**({} if segment is None else {"segment": segment}))])
    row = next(
        row
        for row in report["differences"]
        if row["segment"] == segment and (row["weighting"] is not None) == (made == "weights")
    )
    assert found.interval is not None
    assert [found.interval.low, found.interval.high] == [row["interval"]["low"], row["interval"]["high"]]
    assert (found.n, found.observed) == (row["n"], pytest.approx(row["difference"], abs=1e-9))


def test_the_interval_agrees_with_t_on_many_normal_differences() -> None:
    difference = noise(400, 0.03, 0.2)
    found = rule_of(report_of(pair(difference), plan=Plan(resamples=9999)), claim=[claim()])
    ends = stats.ttest_1samp(difference, 0).confidence_interval(0.95)
    assert found.interval is not None
    assert found.interval.ends == pytest.approx(tuple(ends), abs=0.002)


@pytest.mark.parametrize("rules", [1, 4, 20])
def test_a_rule_fails_by_the_wider_of_flips_and_t_at_the_level_of_the_family(rules: int) -> None:
    difference = noise(60, -0.05, 0.1)
    report = report_of(pair(difference), plan=Plan(resamples=9999))
    asked = [guard(0.01 + k / 1000, id=f"g{k}") for k in range(rules)]
    found = decide(report, policy_from_document(policy_of(guard=asked)))
    ends = stats.ttest_1samp(difference, 0).confidence_interval(1 - 0.05 / rules)
    for rule in found.rules[2:]:
        assert rule.family_interval is not None
        low, high = rule.family_interval.ends
        assert low <= ends.low + 1e-9
        assert high >= ends.high - 1e-9
        assert (low, high) == pytest.approx(tuple(ends), abs=0.004)
        assert (rule.outcome == "fails") == (high < -rule.asked)


def test_a_floor_is_judged_on_the_t_interval_of_the_mean() -> None:
    values = pair(noise(40, 0.0, 0.1))
    report = report_of(values)
    low = stats.ttest_1samp(values[:, 1], 0).confidence_interval(0.95).low
    assert rule_of(report, floor=[{"id": "f", "measure": "AP", "at_least": low - 1e-6}]).outcome == "holds"
    found = rule_of(report, floor=[{"id": "f", "measure": "AP", "at_least": low + 1e-6}])
    assert found.outcome == "open"
    assert found.interval is not None
    assert found.interval.low == pytest.approx(low, abs=1e-9)
    high = stats.ttest_1samp(values[:, 1], 0).confidence_interval(0.95).high
    assert rule_of(report, floor=[{"id": "f", "measure": "AP", "at_least": high + 1e-6}]).outcome == "fails"


@pytest.mark.parametrize(("aggregate", "values"), [("sum", "means"), ("geometric mean", "logarithms")])
def test_a_floor_is_on_the_scale_of_the_measure(aggregate: str, values: str) -> None:
    drawn = pair(noise(30, 0.0, 0.1))
    report = report_of(np.log(drawn) if values == "logarithms" else drawn)
    report["measures"][0]["aggregate"] = aggregate
    found = rule_of(report, floor=[{"id": "f", "measure": "AP", "at_least": 0.01}])
    column = drawn[:, 1]
    assert found.observed == pytest.approx(column.sum() if aggregate == "sum" else stats.gmean(column), rel=1e-7)
    assert found.interval is not None
    assert found.interval.ends[0] < found.observed < found.interval.ends[1]


@pytest.mark.parametrize(("mean", "margin", "size"), [(0.005, 0.02, 1), (-0.01, 0.02, 1), (-0.025, 0.02, 3)])
def test_the_queries_needed_are_those_of_the_t_test(mean: float, margin: float, size: int) -> None:
    report = report_of(pair(noise(30, mean, 0.1)))
    asked = [guard(margin, id=f"g{k}") for k in range(size)]
    found = decide(report, policy_from_document(policy_of(guard=asked))).rules[-1]
    effect = abs(mean + margin) / 0.1
    # to hold at its own level; to fail at the level of the family
    alpha = 0.05 if mean > -margin else 0.05 / size
    n = TTestPower().solve_power(effect_size=effect, alpha=alpha, power=0.8, alternative="two-sided")
    assert found.outcome == "open"
    assert found.queries_needed == math.ceil(n - 1e-6)


def test_no_number_of_queries_is_named_where_the_difference_is_what_is_asked() -> None:
    found = rule_of(report_of(pair(noise(30, -0.02, 0.1))), guard=[guard(0.02)])
    assert (found.outcome, found.queries_needed) == ("open", None)
    assert "no number of queries that could be named would settle it" in found.sentence


def test_a_difference_of_the_margin_does_not_hold() -> None:
    for level in (0.1, 0.3, 0.7):
        values = np.full((40, 2), level) + np.arange(40)[:, None] / 1000
        values[:, 1] -= 0.02
        found = rule_of(report_of(values), guard=[guard(0.02)])
        assert found.outcome == "open"
        assert rule_of(report_of(values), guard=[guard(0.0200001)]).outcome == "holds"
        assert rule_of(report_of(values), guard=[guard(0.0199999)]).outcome == "fails"


def test_the_order_of_queries_systems_and_measures_changes_no_byte() -> None:
    rng = np.random.default_rng(9)
    values = rng.uniform(0, 1, (60, 3, 2))
    columns = {"kind": ["x", "y", "z"] * 20}
    report = report_of(values, systems=["other", "prod", "new"], measures=["AP", "RR"], columns=columns)
    rules = [guard(0.05, segment={"attribute": "kind"}), guard(0.1, id="RR", measure="RR")]
    relative = {"id": "relative", "measure": "AP", "margin_relative": 0.2}
    policy = policy_from_document(
        policy_of(claim=[claim()], guard=[*rules, relative], floor=[{"id": "f", "measure": "RR", "at_least": 0.4}])
    )
    first = json.dumps(decide(report, policy).to_dict())
    for seed in range(3):
        assert json.dumps(decide(shuffled(report, seed), policy).to_dict()) == first


def test_another_rule_changes_no_interval_of_its_own_level() -> None:
    report = report_of(pair(noise(40, 0.02, 0.1)), plan=Plan(resamples=999))
    alone = rule_of(report, guard=[guard()])
    among = decide(report, policy_from_document(policy_of(claim=[claim()], guard=[guard(0.1, id="x"), guard()]))).rules
    assert among[-1].interval == alone.interval
    assert among[-1].family_interval != alone.family_interval


def test_a_comparison_and_its_report_give_the_same_decision() -> None:
    from rankstats import compare_scores  # noqa: PLC0415  only here

    values = pair(noise(40, 0.02, 0.1))
    rows = [(f"q{q}", s, "AP", float(values[q, k])) for q in range(40) for k, s in enumerate(("prod", "new"))]
    comparison = compare_scores(rows)
    policy = policy_from_document(policy_of(claim=[claim()], guard=[guard()]))
    content = json.loads(json.dumps(comparison.to_dict()))
    assert decide(comparison, policy).to_dict() == decide(content, policy).to_dict()
