"""What stands beside the differences: ranks, traffic mixes, concentration, reasons in the lists, checks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rankstats import stats
from rankstats.comparison import compare_evidence
from rankstats.comparison.checks import CHECKS
from rankstats.comparison.collecting import collect
from rankstats.comparison.significance import seed_of
from rankstats.decision.policy import Claim, Policy
from rankstats.errors import PlanError
from rankstats.plan import Plan
from rankstats.stats import paired_differences
from tests.comparison.made import evidence_of
from tests.comparison.test_comparing import made
from tests.shared import shared

QUICK = Plan(resamples=499)


def systems_of(seed: int, n: int, shifts: list[float]) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.asarray(rng.random((n, 1)) + np.array(shifts) + rng.normal(0, 0.1, (n, len(shifts))))


# ── ranks ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_ranks_come_from_all_pairs_whatever_is_compared() -> None:
    values = systems_of(1, 60, [0.0, 0.3, 0.31, 0.1])
    evidence = evidence_of(values)
    by_baseline = compare_evidence(evidence, QUICK).standings
    all_pairs = compare_evidence(evidence, replace(QUICK, compare="all-pairs"))
    assert by_baseline == all_pairs.standings
    assert [row.system for row in by_baseline] == ["c", "b", "d", "a"]
    assert [(row.rank, row.low, row.high) for row in by_baseline] == [(1, 1, 2), (2, 1, 2), (3, 3, 3), (4, 4, 4)]
    assert [row.may_be_best for row in by_baseline] == [True, True, False, False]
    significant = [(row.p_adjusted or 1) <= 0.05 for row in all_pairs.differences if row.role == "confirmatory"]
    estimates = [row.difference or 0 for row in all_pairs.differences if row.role == "confirmatory"]
    direct = stats.rank_intervals(estimates, significant)
    found = {row.system: (row.low, row.high) for row in by_baseline}
    assert [found[name] for name in "abcd"] == list(zip(direct.low.tolist(), direct.high.tolist(), strict=True))
    best = stats.best_systems(values, resamples=499, rng=seed_of(QUICK, "max-T"))
    assert [row.may_be_best for row in sorted(by_baseline, key=lambda r: r.system)] == best.candidate.tolist()


def test_lower_is_better_turns_the_ranks() -> None:
    values = systems_of(2, 50, [0.0, 0.5, 1.0])
    up = compare_evidence(evidence_of(values, measures=["x"]), QUICK).standings
    down = compare_evidence(evidence_of(-values, measures=["x"], lower_is_better=["x"]), QUICK).standings
    assert [(r.system, r.rank, r.low, r.high) for r in up] == [(r.system, r.rank, r.low, r.high) for r in down]


def test_renaming_and_reordering_systems_moves_the_ranks_with_them() -> None:
    values = made(3, 40, 5, 1)
    order = [3, 0, 4, 1, 2]
    plain = {row.system: row for row in compare_evidence(evidence_of(values), QUICK).standings}
    names = ["abcde"[i] for i in order]
    moved = {row.system: row for row in compare_evidence(evidence_of(values[:, order], systems=names), QUICK).standings}
    assert {s: (r.rank, r.low, r.high, r.may_be_best) for s, r in plain.items()} == {
        s: (r.rank, r.low, r.high, r.may_be_best) for s, r in moved.items()
    }


def test_few_systems_or_few_queries_have_no_rank_interval() -> None:
    assert compare_evidence(evidence_of(made(4, 40, 2, 1)), QUICK).standings == ()
    rows = compare_evidence(evidence_of(made(4, 8, 3, 1)), QUICK).standings
    assert [(row.low, row.high, row.may_be_best) for row in rows] == [(None, None, None)] * 3
    equal = compare_evidence(evidence_of(np.repeat(made(4, 30, 1, 1), 3, axis=1)), QUICK).standings
    assert [(row.rank, row.low, row.high, row.may_be_best) for row in equal] == [(1, 1, 3, True)] * 3


def test_false_discovery_corrections_do_not_make_rank_intervals() -> None:
    rows = compare_evidence(evidence_of(made(5, 60, 4, 1)), replace(QUICK, correction="bh")).standings
    assert {row.correction for row in rows} == {"holm"}


# ── traffic mixes ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_differences_are_re_weighted_to_measured_traffic_or_a_stated_mix() -> None:
    values = made(6, 60, 2, 1)
    clicks = [1000 if i < 6 else 100 if i < 20 else 1 for i in range(60)]
    evidence = evidence_of(values, columns={"clicks": clicks}, frequency="clicks")
    plan = replace(QUICK, segments=("popularity",))
    (row,) = compare_evidence(evidence, plan).post_stratified
    assert (row.attribute, row.source, row.n) == ("popularity", "traffic", 60)
    assert sum(row.mix.values()) == pytest.approx(1)
    total = sum(clicks)
    assert row.mix["head"] == pytest.approx(6000 / total)
    d = values[:, 1, 0] - values[:, 0, 0]
    code = np.array([0] * 6 + [1] * 14 + [2] * 40)
    expected = sum(row.mix[name] * d[code == k].mean() for k, name in enumerate(["head", "torso", "tail"]))
    assert row.difference == pytest.approx(expected)
    assert row.plain == pytest.approx(d.mean())
    stated = replace(plan, mix={"popularity": {"head": 1, "torso": 0, "tail": 3}})
    (row,) = compare_evidence(evidence, stated).post_stratified
    assert (row.source, dict(row.mix), row.n) == ("stated", {"head": 0.25, "tail": 0.75}, 46)
    # the head has six queries, which may agree by chance
    assert (row.interval, row.p_value) == (None, None)
    stated = replace(plan, mix={"popularity": {"head": 0, "torso": 1, "tail": 3}})
    (row,) = compare_evidence(evidence, stated).post_stratified
    direct = stats.post_stratified(paired_differences(values[:, 0], values[:, 1]), code, [0, 1, 3])
    assert row.interval is not None
    assert row.interval.ends == pytest.approx((direct.low[0], direct.high[0]))


def test_a_mix_must_fit_the_segments() -> None:
    evidence = evidence_of(made(7, 30, 2, 1), columns={"kind": ["x", "y"] * 15})
    plan = replace(QUICK, segments=("kind",))
    assert compare_evidence(evidence, plan).post_stratified == ()
    with pytest.raises(PlanError, match=r"mix of 'kinds': it is not among the segments .*did you mean 'kind'"):
        compare_evidence(evidence, replace(plan, mix={"kinds": {"x": 1}}))
    with pytest.raises(PlanError, match=r"segments \(none\); add the segments \(--segment kind\)"):
        compare_evidence(evidence, replace(QUICK, mix={"kind": {"x": 1}}))
    with pytest.raises(PlanError, match=r"mix of 'kind': 'z' is not among its values \(x, y\)"):
        compare_evidence(evidence, replace(plan, mix={"kind": {"z": 1}}))
    clustered = evidence_of(made(7, 30, 2, 1), columns={"kind": ["x", "y"] * 15}, clusters=np.arange(30) // 2)
    with pytest.raises(PlanError, match="knows no clusters"):
        compare_evidence(clustered, replace(plan, mix={"kind": {"x": 1, "y": 0}}))
    with pytest.raises(PlanError, match="all shares are 0"):
        Plan(mix={"kind": {"x": 0}})


# ── concentration and reasons ───────────────────────────────────────────────────────────────────────────────────────


def test_a_gain_that_few_queries_carry_is_described() -> None:
    base = np.random.default_rng(8).random(50)
    values = np.column_stack([base, base])
    values[[3, 7], 1] += 0.5
    values[10:20, 1] += 0.01
    values[20, 1] -= 0.2
    (row,) = compare_evidence(evidence_of(values), QUICK).robustness
    assert (row.side, row.movers, row.half) == ("gain", 12, 2)
    assert [c.query_id for c in row.carriers] == ["q00003", "q00007", "q00010", "q00011", "q00012"]
    assert row.carriers[0].share == pytest.approx(0.5 / 1.1)
    assert row.median == 0
    assert row.gain == pytest.approx(1.1 / 50)
    assert row.loss == pytest.approx(-0.2 / 50)


@pytest.mark.shared
def test_reasons_name_the_documents_that_moved() -> None:
    folder = shared("data/ir/trec-web-2012")
    runs = sorted(path for path in (folder / "runs").iterdir())[:2]
    qrels = next(path for path in folder.iterdir() if path.name.startswith("qrels"))
    plan = Plan(
        qrels=str(qrels),
        runs=tuple((path.name.split(".")[0], str(path)) for path in runs),
        measures=("AP",),
        resamples=99,
    )
    evidence = collect(plan)
    comparison = compare_evidence(evidence, plan)
    assert comparison.explanations
    judgments = evidence.judgments
    assert judgments is not None
    ranks = [
        {
            (int(q), judgments.doc_ids[int(j)].as_py()): int(r)
            for q, j, r in zip(hit.query, hit.judgment, hit.rank, strict=True)
        }
        for hit in evidence.hits
    ]
    place = {query_id: q for q, query_id in enumerate(evidence.scores.query_ids)}
    for row in comparison.explanations:
        q = place[row.query_id]
        changes = [abs(move.change or 0) for move in row.moves]
        assert changes == sorted(changes, reverse=True)
        for move in row.moves:
            assert move.grade > 0
            assert move.rank_baseline == ranks[0].get((q, move.doc_id))
            assert move.rank_system == ranks[1].get((q, move.doc_id))
            assert move.rank_baseline != move.rank_system
    # where few documents moved, their changes add up to the difference of the query
    few = [row for row in comparison.explanations if len(row.moves) < 6]
    for row in few:
        q = place[row.query_id]
        total = evidence.scores.values[q, 1, 0] - evidence.scores.values[q, 0, 0]
        unmoved = {doc for (query, doc), rank in ranks[0].items() if query == q and ranks[1].get((query, doc)) == rank}
        if not unmoved:
            assert sum(move.change or 0 for move in row.moves) == pytest.approx(total)


# ── the table of checks ─────────────────────────────────────────────────────────────────────────────────────────────


def test_every_check_is_listed_with_its_outcome() -> None:
    values = made(9, 40, 3, 2)
    comparison = compare_evidence(evidence_of(values), QUICK)
    assert [row.code for row in comparison.checks] == [check.codes[0] for check in CHECKS]
    by_code = {row.code: row for row in comparison.checks}
    assert by_code["perfect_run"].outcome == "not_applicable"
    assert by_code["identical_systems"].outcome == "ok"
    assert by_code["baseline_by_order"].outcome == "info"
    known = {code for check in CHECKS for code in check.codes}
    assert {warning.code for warning in comparison.warnings} <= known
    identical = compare_evidence(evidence_of(np.repeat(values[:, :1], 3, axis=1)), QUICK)
    row = next(r for r in identical.checks if r.code == "identical_systems")
    assert row.outcome == "serious"
    assert "(1 more among the warnings)" in row.found


# ── what a comparison can be asked ──────────────────────────────────────────────────────────────────────────────────


def test_a_comparison_shows_itself_in_a_notebook_and_decides() -> None:
    comparison = compare_evidence(evidence_of(made(10, 40, 2, 1), systems=["old", "new"], measures=["x"]), QUICK)
    html = comparison._repr_html_()
    assert "new" in html
    assert "<script" not in html
    policy = Policy(baseline="old", candidate="new", claims=(Claim("better", "x", 5.0),))
    assert comparison.decide(policy).outcome == "no_go"
