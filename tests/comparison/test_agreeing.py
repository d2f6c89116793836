"""Agreement of rankings, experts, system orders, judgments and raters, above the statistics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
import scipy.stats

from rankstats.comparison.agreeing import ListSettings, agree_on_rankings
from rankstats.comparison.agreement_rows import AgreementAnswer
from rankstats.comparison.judge_agreement import agree_on_judgments, agree_on_ratings
from rankstats.comparison.order_agreement import OrderSettings, agree_on_scores
from rankstats.comparison.segments import SegmentData, make_attributes
from rankstats.conventions import Policies
from rankstats.errors import InputError, PlanError
from rankstats.inputs import judgments_from_dict, ranking_from_dict, read_judgments, read_run
from rankstats.inputs.ratings import Ratings
from rankstats.measures import evaluate_systems, parse_measures
from rankstats.stats import all_pairs, lists_of_items, overlap_at, randomised_tukey, rank_biased_overlap
from rankstats.tables import Scores, make_hits
from tests.comparison.made import evidence_of
from tests.shared import shared

QUICK = OrderSettings(resamples=199)
Run = Mapping[str, Mapping[str, float]]


def made_runs(seed: int, systems: int = 3, queries: int = 6, documents: int = 30) -> dict[str, Run]:
    """Runs with ties and of unequal length."""
    rng = np.random.default_rng(seed)
    runs: dict[str, Run] = {}
    for name in "abcdefgh"[:systems]:
        runs[name] = {
            f"q{q}": {
                f"d{d}": float(rng.integers(0, 12)) for d in rng.permutation(documents)[: rng.integers(18, 25)].tolist()
            }
            for q in range(queries)
        }
    return runs


def ordered(scores: Mapping[str, float]) -> list[list[str]]:
    """Ties of documents, best first."""
    levels = sorted(set(scores.values()), reverse=True)
    return [[doc for doc, score in scores.items() if score == level] for level in levels]


def answer_of(runs: Mapping[str, Run], **more: object) -> AgreementAnswer:
    return agree_on_rankings([ranking_from_dict(name, run) for name, run in runs.items()], **more)  # type: ignore[arg-type]  # any


def test_rankings_query_by_query_and_on_average() -> None:
    runs = made_runs(1)
    answer = answer_of(runs, settings=ListSettings(p=0.8, ties="b", cutoff=5, per_query=True))
    for a, b in combinations(runs, 2):
        found: dict[str, list[float]] = {}
        for query_id in runs[a]:
            x, y = runs[a][query_id], runs[b][query_id]
            lists = lists_of_items(ordered(x), ordered(y))
            common = sorted(x.keys() & y.keys())
            values = [[run[doc] for doc in common] for run in (x, y)]
            expected = {
                "rbo": float(rank_biased_overlap(lists, 0, 1, p=0.8, ties="b").extrapolated[0]),
                "overlap@5": float(overlap_at(lists, 0, 1, 5)[0]),
                "kendall_tau_b": float(scipy.stats.kendalltau(*values).statistic),
                "spearman": float(scipy.stats.spearmanr(*values).statistic),
                "weighted_tau": float(scipy.stats.weightedtau(*values).statistic),
            }
            for statistic, value in expected.items():
                ours = answer.value(statistic, a, b, query_id=query_id)
                assert ours == pytest.approx(value, abs=1e-9, nan_ok=True)
                found.setdefault(statistic, []).append(value)
        for statistic, values in found.items():
            assert answer.value(statistic, a, b) == pytest.approx(np.nanmean(values), abs=1e-9)
    means = [row for row in answer.rows if row.query_id == "all"]
    assert answer.rows[-len(means) :] == tuple(means)
    assert {row.n for row in means if row.statistic == "rbo"} == {6}
    assert answer.answer.startswith("Of 3 pairs of runs ")


def test_renaming_documents_changes_nothing() -> None:
    runs = made_runs(2)
    names = dict(zip([f"d{d}" for d in range(30)], np.random.default_rng(0).permutation(1000).tolist(), strict=False))
    renamed = {
        name: {q: {f"x{names[doc]}": score for doc, score in reversed(docs.items())} for q, docs in run.items()}
        for name, run in runs.items()
    }
    assert answer_of(runs).to_dicts() == answer_of(renamed).to_dicts()


def test_two_runs_in_a_sentence() -> None:
    old = {"q1": {"d1": 3, "d2": 2, "d3": 1}, "q2": {"d1": 1, "d4": 2}}
    answer = answer_of({"old": old, "new": old}, settings=ListSettings(cutoff=2))
    assert answer.answer.replace("\N{NO-BREAK SPACE}", " ") == (
        "old and new have RBO 1.00 (95 % interval 1.00 to 1.00) on average over 2 queries and 100 % of their first 2 "
        "documents in common."
    )
    assert answer.notes == ()


def test_queries_of_one_run_alone_are_left_out_and_named() -> None:
    runs = made_runs(3, systems=2)
    shorter = {"a": runs["a"], "b": {q: docs for q, docs in runs["b"].items() if q not in ("q1", "q4")}}
    answer = answer_of(shorter, settings=ListSettings(per_query=True))
    assert answer.notes == ("b lacks 2 of 6 queries, left out (q1, q4)",)
    assert {row.n for row in answer.rows if row.query_id == "all" and row.statistic == "rbo"} == {4}
    assert np.isnan(answer.value("rbo", "a", "b", query_id="q4"))


def test_disjoint_lists_have_no_correlation_and_no_overlap() -> None:
    answer = answer_of({"a": {"q": {"d1": 2, "d2": 1}}, "b": {"q": {"d3": 2, "d4": 1}}})
    assert answer.value("rbo", "a", "b") == 0
    assert np.isnan(answer.value("kendall_tau_b", "a", "b"))
    assert [row.n for row in answer.rows if row.statistic == "kendall_tau_b"] == [0]


def test_an_expert_order_with_ties() -> None:
    expert = {"q1": {"d1": 3, "d2": 3, "d3": 1, "d9": 1}, "q2": {"d1": 1, "d2": 2}}
    good = {"q1": {"d1": 9, "d2": 8, "d3": 7, "d4": 6}, "q2": {"d2": 2, "d1": 1}}
    bad = {"q1": {"d3": 9, "d2": 8, "d1": 7}, "q2": {"d2": 1, "d1": 2}}
    rankings = [ranking_from_dict("bad", bad), ranking_from_dict("good", good)]
    answer = agree_on_rankings(rankings, expert=ranking_from_dict("editors", expert))
    first = scipy.stats.kendalltau([3, 3, 1], [9, 8, 7]).statistic
    assert answer.value("kendall_tau_b", "editors", "good") == pytest.approx((first + 1) / 2)
    assert answer.answer.startswith("Of 2 runs good follows editors most closely, with Kendall τ-b 0.91")
    alone = agree_on_rankings(rankings[1:], expert=ranking_from_dict("editors", expert))
    assert alone.answer.startswith("good follows editors with Kendall τ-b 0.91")
    assert {row.kind for row in alone.rows} == {"expert"}


def test_grades_are_an_expert_order() -> None:
    run = {"q1": {"d1": 4, "d2": 3, "d3": 2, "d4": 1}}
    grades = {"q1": {"d1": 0, "d2": 2, "d3": 1, "d8": 2}, "q2": {"d1": 1}}
    answer = agree_on_rankings([ranking_from_dict("a", run)], grades=judgments_from_dict(grades))
    assert answer.value("kendall_tau_b", "grades", "a") == pytest.approx(
        scipy.stats.kendalltau([0, 2, 1], [3, 2, 1]).statistic
    )
    assert answer.notes == ("a lacks 1 of 2 queries, left out (q2)",)
    flat = agree_on_rankings([ranking_from_dict("a", run)], grades=judgments_from_dict({"q1": {"d1": 1, "d2": 1}}))
    assert "no query has two common documents" in flat.answer


def test_what_ties_mean_follows_the_policy(tmp_path: object) -> None:
    run = ranking_from_dict("a", {"q": {"d1": 1, "d2": 1, "d3": 0}})
    other = ranking_from_dict("b", {"q": {"d2": 3, "d1": 2, "d3": 1}})
    tied = agree_on_rankings([run, other])
    as_listed = agree_on_rankings([run, other], policies=Policies(ties="input"))
    assert tied.value("kendall_tau_b", "a", "b") == pytest.approx(2 / np.sqrt(6))
    assert as_listed.value("kendall_tau_b", "a", "b") == pytest.approx(1 / 3)
    ranked = [replace(run, rank=np.array([3.0, 2.0, 1.0])), replace(other, rank=np.array([1.0, 2.0, 3.0]))]
    by_rank = agree_on_rankings(ranked, policies=Policies(ties="rank"))
    assert by_rank.value("kendall_tau_b", "a", "b") == pytest.approx(-1 / 3)
    with pytest.raises(InputError, match="needs the rank column"):
        agree_on_rankings([run, other], policies=Policies(ties="rank"))
    close = ranking_from_dict("a", {"q": {"d1": 1.0, "d2": 1.0 + 1e-12, "d3": 0}})
    rounded = agree_on_rankings([close, other], policies=Policies(ties="float32"))
    assert rounded.value("kendall_tau_b", "a", "b") == tied.value("kendall_tau_b", "a", "b")


def test_refusals_of_rankings() -> None:
    run = ranking_from_dict("a", {"q1": {"d1": 1}})
    with pytest.raises(PlanError, match="needs two runs"):
        agree_on_rankings([run])
    with pytest.raises(InputError, match="a and b have no query in common"):
        agree_on_rankings([run, ranking_from_dict("b", {"Q1": {"d1": 1}})])
    with pytest.raises(InputError, match="no query in common"):
        agree_on_rankings([ranking_from_dict(name, {"q1": {}}) for name in "ab"])
    with pytest.raises(PlanError, match="either an expert's order or grades"):
        agree_on_rankings([run], expert=run, grades=judgments_from_dict({"q1": {"d1": 1}}))
    named = [ranking_from_dict(name, {"all": {"d1": 1}}) for name in "ab"]
    with pytest.raises(PlanError, match="a query has the id 'all'"):
        agree_on_rankings(named, settings=ListSettings(per_query=True))
    assert agree_on_rankings(named).value("rbo", "a", "b") == 1


def spread(seed: int, n: int = 40, systems: int = 8, noise: float = 0.3, measures: int = 2) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.linspace(0, 1, systems)[:, None] + rng.normal(0, noise, (n, systems, measures))


def test_orders_under_two_measures() -> None:
    values = spread(1, noise=1.0)
    scores = evidence_of(values, lower_is_better=["m1"]).scores
    answer = agree_on_scores(scores, settings=QUICK)
    x, y = values.mean(axis=0).T
    assert answer.value("kendall_tau_b", "m0", "m1") == pytest.approx(scipy.stats.kendalltau(x, -y).statistic)
    assert answer.value("spearman", "m0", "m1") == pytest.approx(scipy.stats.spearmanr(x, -y).statistic)
    verdicts = []
    for oriented in (values[:, :, 0], -values[:, :, 1]):
        test = randomised_tukey(oriented, resamples=199)
        verdicts.append(np.sign(test.estimate) * (test.p_adjusted <= 0.05))
    first, second = verdicts
    assert answer.value("same_verdict", "m0", "m1") == np.sum(first == second)
    assert answer.value("opposite_verdict", "m0", "m1") == np.sum(first * second == -1)
    one_sided = [answer.value(f"verdict_by_{side}_only", "m0", "m1") for side in ("first", "second")]
    assert one_sided == [np.sum((first != 0) & (second == 0)), np.sum((first == 0) & (second != 0))]
    i, j = all_pairs(8)
    assert answer.value("opposite_pairs", "m0", "m1") == np.sum((x[j] - x[i]) * (y[i] - y[j]) < 0)
    assert answer.answer.startswith("m0 and m1 order 8 systems with Kendall τ-b ")
    assert "coarse" not in " ".join(answer.notes)


def test_few_systems_are_noted() -> None:
    answer = agree_on_scores(evidence_of(spread(2, systems=4)).scores, settings=QUICK)
    assert answer.notes[0] == "with fewer than 6 systems few orders exist, so that their correlation is coarse"


def test_one_measure_has_a_stability_alone() -> None:
    scores = evidence_of(spread(3, measures=1)).scores
    answer = agree_on_scores(scores, settings=replace(QUICK, pairs=True))
    swaps = [row for row in answer.rows if row.kind == "swaps"]
    assert len(swaps) == 28
    assert answer.value("swap_probability", "m0") == pytest.approx(np.mean([row.value for row in swaps]))
    assert answer.answer.startswith("Another sample of queries would turn the order of two of the 8 systems on m0")
    tied = agree_on_scores(evidence_of(np.ones((12, 3, 1))).scores, settings=QUICK)
    assert tied.answer == "All 3 systems are tied; there is no order to compare."


def test_segments_and_clusters() -> None:
    values = spread(4, n=60, measures=1)
    values[:30] = values[:30, ::-1]
    kinds = ["head"] * 30 + ["tail"] * 25 + ["rare"] * 5
    evidence = evidence_of(values, columns={"kind": kinds})
    data = SegmentData(evidence.scores.query_ids, evidence.queries, evidence.row, None)
    attributes = make_attributes(("kind",), data)
    answer = agree_on_scores(evidence.scores, attributes=attributes, settings=QUICK)
    assert answer.value("kendall_tau_b", "head", "tail", about="m0 by kind") < -0.8
    assert answer.value("opposite_verdict", "head", "tail", about="m0 by kind") > 0
    assert "segments of kind below 10 queries are left out: rare (5)" in answer.notes
    assert answer.answer.startswith("The segments head and tail (m0 by kind) order 8 systems")
    assert "of them opposite" in answer.answer
    copies = evidence_of(np.repeat(values[:20], 3, axis=0)).scores
    whole = agree_on_scores(copies, clusters=np.repeat(np.arange(20), 3), settings=QUICK)
    single = agree_on_scores(evidence_of(values[:20]).scores, settings=QUICK)
    assert whole.to_dicts() == single.to_dicts()


def test_refusals_of_orders() -> None:
    with pytest.raises(PlanError, match="only one system"):
        agree_on_scores(evidence_of(np.ones((5, 1, 1))).scores)
    with pytest.raises(PlanError, match="no measure has a value"):
        agree_on_scores(evidence_of(np.full((5, 3, 1), np.nan)).scores)


def test_two_sets_of_judgments() -> None:
    rng = np.random.default_rng(5)
    first = {f"q{q}": {f"d{d}": int(rng.integers(0, 3)) for d in range(12)} for q in range(8)}
    second = {q: {d: int(np.clip(g + rng.integers(-1, 2), 0, 2)) for d, g in docs.items()} for q, docs in first.items()}
    del second["q0"]["d0"]
    second["q9"] = {"d1": 1}
    answer = agree_on_judgments(
        judgments_from_dict(first), judgments_from_dict(second), ("human", "model"), settings=QUICK
    )
    pairs = [(g, second[q][d]) for q, docs in first.items() for d, g in docs.items() if d in second[q]]
    assert answer.value("agreement", "human", "model") == pytest.approx(np.mean([a == b for a, b in pairs]))
    for a in range(3):
        for b in range(3):
            assert answer.value("count", f"{a}", f"{b}", about="human × model") == pairs.count((a, b))
        both = pairs.count((a, a))
        given = sum((x == a) + (y == a) for x, y in pairs)
        assert answer.value("specific_agreement", "human", "model", about=f"{a}") == pytest.approx(2 * both / given)
    assert answer.notes == ("1 document is judged by human alone, 1 by model alone; left out",)
    assert answer.answer.startswith("human and model give ")
    assert {row.interval.method for row in answer.rows if row.interval} == {"bootstrap of clusters"}
    with pytest.raises(InputError, match="judge no document of a query both"):
        agree_on_judgments(judgments_from_dict(first), judgments_from_dict({"q0": {"x": 1}}), ("a", "b"))


def test_human_and_model_judgments_of_trec_rag() -> None:
    folder = shared("data/annotators/rag25-human-vs-llm")
    sets = [read_judgments(folder / f"qrels.rag25.{name}.txt.gz", Policies()).table for name in ("human", "umbrela2")]
    answer = agree_on_judgments(*sets, ("human", "llm"), settings=QUICK)
    assert round(answer.value("agreement", "human", "llm"), 3) == 0.441
    assert round(answer.value("cohen_kappa", "human", "llm"), 3) == 0.233
    assert {row.n for row in answer.rows if row.kind == "judges"} == {10_284}
    counted = sum(row.value or 0 for row in answer.rows if row.kind == "confusion")
    assert counted == 10_284
    assert answer.answer.replace("\N{NO-BREAK SPACE}", " ").startswith(
        "human and llm give 44.1 % of 10,284 documents the same grade, Cohen's κ 0.233 (95 % interval 0.1"
    )


RUNS = ("CSIROmedNIR", "HKPU-BM25-dPRF", "MacEwan-base", "UPrrf93-wt-r5", "r5.fusion2", "xj4wang_run1")


def covid_scores(qrels: Mapping[str, Mapping[str, float]], names: Sequence[str]) -> Scores:
    """Average precision and P@10 of real submissions, by this program."""
    judged = judgments_from_dict(qrels)
    measures = parse_measures(["AP", "P@10"])
    policies = Policies()
    hits = []
    for name in names:
        run = read_run(shared(f"data/ir/trec-covid-r5/runs/{name}.run.gz"), name, policies).table
        hits.append(make_hits(judged, run, policies))
    values = evaluate_systems(measures, judged, hits, policies)
    return Scores(values, judged.query_ids, tuple(names), tuple(measure.info() for measure in measures))


def test_does_the_order_of_submissions_survive_degraded_judgments() -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    table = read_judgments(shared("data/ir/trec-covid-r5/qrels.txt.gz"), Policies()).table
    ids = table.doc_ids.to_pylist()
    rng = np.random.default_rng(6)
    sets: list[dict[str, dict[str, int]]] = []
    for wrong in (0.0, 0.3, 1.0):
        grade = np.maximum(table.grade, 0).astype(int)
        # the worst judge takes grades from a hat, the middle one does so for three documents of ten
        drawn = rng.permutation(grade)
        grade = np.where(rng.random(len(grade)) < wrong, drawn, grade)
        judged: dict[str, dict[str, int]] = {query_id: {} for query_id in table.query_ids}
        for q, doc, g in zip(table.query.tolist(), ids, grade.tolist(), strict=True):
            judged[table.query_ids[q]][doc] = g
        sets.append(judged)
    scores = [covid_scores(judged, RUNS) for judged in sets]
    found = {}
    for name, judged, of in zip(("middle", "hat"), sets[1:], scores[1:], strict=True):
        found[name] = agree_on_judgments(
            judgments_from_dict(sets[0]),
            judgments_from_dict(judged),
            ("true", name),
            scores=(scores[0], of),
            settings=QUICK,
        )
    means = []
    for judged in sets[:2]:
        evaluator = pytrec_eval.RelevanceEvaluator(judged, {"map"})
        row = []
        for name in RUNS:
            run = read_run(shared(f"data/ir/trec-covid-r5/runs/{name}.run.gz"), name, Policies()).table
            docs: dict[str, dict[str, float]] = {query_id: {} for query_id in run.query_ids}
            for q, doc, score in zip(run.query.tolist(), run.doc_ids.to_pylist(), run.score.tolist(), strict=True):
                docs[run.query_ids[q]][doc] = score
            row.append(np.mean([values["map"] for values in evaluator.evaluate(docs).values()]))
        means.append(row)
    tau = scipy.stats.kendalltau(*means).statistic
    assert found["middle"].value("kendall_tau_b", "true", "middle", about="AP") == pytest.approx(tau)
    # an order survives errors that have no favourites, not grades out of a hat
    assert tau > 0.7
    assert found["hat"].value("cohen_kappa", "true", "hat") == pytest.approx(0, abs=0.02)
    assert found["hat"].value("kendall_tau_b", "true", "hat", about="AP") < tau
    assert " on AP they order 6 systems with Kendall τ-b " in found["middle"].answer


def test_raters_of_a_table() -> None:
    rng = np.random.default_rng(7)
    truth = rng.integers(0, 3, 40).astype(float)
    values = np.clip(truth[:, None] + rng.integers(-1, 2, (40, 3)), 0, 2)
    values[:6, 2] = np.nan
    values[39, 1:] = np.nan
    answer = agree_on_ratings(Ratings(values, ("ann", "bob", "eve"), (), None, None), settings=QUICK)
    assert answer.notes == (
        "1 item is rated once only; left out",
        "Fleiss' κ is over the 33 items rated 3 times",
    )
    assert {row.n for row in answer.rows if (row.kind, row.second) == ("judges", "eve")} == {33}
    assert [row.n for row in answer.rows if row.statistic == "krippendorff_alpha_ordinal"] == [39]
    assert answer.answer.startswith("3 raters of 39 items agree with Krippendorff's α (ordinal) 0.")


def test_raters_who_use_words_or_share_nothing() -> None:
    none = np.nan
    values = np.array([[0.0, 0.0, none], [1.0, 1.0, none], [1.0, 0.0, none], [none, 1.0, 1.0], [none, 0.0, 1.0]])
    answer = agree_on_ratings(
        Ratings(values, ("ann", "bob", "eve"), ("no", "yes"), tuple("vvwww"), "query"), settings=QUICK
    )
    assert {row.statistic for row in answer.rows if row.kind == "judges"} == {"agreement", "cohen_kappa"}
    assert answer.value("count", "yes", "no", about="ann × bob") == 1
    assert answer.notes == (
        "1 pair of raters without an item in common; left out",
        "grades are words, which have no order: neither weighted κ nor ordinal α",
        "intervals resample the values of query with all their items",
    )
    with pytest.raises(InputError, match="no item is rated by two raters"):
        agree_on_ratings(Ratings(np.array([[1.0, np.nan], [np.nan, 1.0]]), ("a", "b"), (), None, None))


def test_raters_of_one_grade_have_no_kappa() -> None:
    ratings = Ratings(np.ones((5, 2)), ("a", "b"), (), None, None)
    two = agree_on_ratings(ratings, settings=QUICK)
    assert two.answer.replace("\N{NO-BREAK SPACE}", " ") == (
        "a and b give 100.0 % of 5 items the same grade, all of them one grade."
    )
    three = agree_on_ratings(Ratings(np.ones((5, 3)), ("a", "b", "c"), (), None, None), settings=QUICK)
    assert three.answer.startswith("All 3 raters give one and the same grade")


def test_rows_become_a_frame() -> None:
    answer = agree_on_ratings(Ratings(np.eye(4)[:, :2], ("a", "b"), (), None, None), settings=QUICK)
    frame = answer.to_frame()
    assert list(frame.columns) == [
        "kind", "first", "second", "about", "query_id", "statistic", "value", "low", "high", "n",
    ]  # fmt: skip
    assert len(frame) == len(answer.rows)
    with pytest.raises(KeyError):
        answer.value("rbo", "a", "b")
