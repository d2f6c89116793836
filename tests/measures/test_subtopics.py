"""Measures of subtopics: against their definitions, ndeval, values worked out by hand, and ndeval's values on TREC."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path

import ir_measures
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankstats.conventions import Policies
from rankstats.errors import MeasureError
from rankstats.inputs import read_judgments
from rankstats.measures import contributions, evaluate, parse_measure, parse_measures
from rankstats.measures.subtopics import DECLARATIONS
from rankstats.tables import Judgments, make_hits
from tests.measures.computed import values_of
from tests.shared import shared
from tests.tables.made import (
    DOCUMENTS,
    QUERIES,
    Aspects,
    Row,
    judgments_of,
    lines_of,
    patient,
    ranking_of,
    subtopic_judgments_of,
)

TREC_WEB = "data/ir/trec-web-2013-2014-diversity"
Judged = Mapping[str, Mapping[str, float]]
"""Document, subtopic, grade."""


def relevant(judged: Judged, rel: float) -> dict[str, list[str]]:
    """The subtopics of each document that is relevant to one."""
    found = {d: sorted(s for s, grade in grades.items() if grade >= rel) for d, grades in judged.items()}
    return {d: subtopics for d, subtopics in found.items() if subtopics}


def sizes(judged: Judged, rel: float) -> Counter[str]:
    return Counter(s for subtopics in relevant(judged, rel).values() for s in subtopics)


def gain(subtopics: Sequence[str], seen: Mapping[str, int], alpha: float) -> Fraction:
    return sum(((1 - Fraction(str(alpha))) ** seen[s] for s in subtopics), Fraction(0))


def gains(judged: Judged, listed: Sequence[str], rel: float, alpha: float) -> list[float]:
    seen: Counter[str] = Counter()
    found = []
    for document in listed:
        subtopics = relevant(judged, rel).get(document, [])
        found.append(float(gain(subtopics, seen, alpha)))
        seen.update(subtopics)
    return found


def greedy(judged: Judged, rel: float, alpha: float) -> list[str]:
    """The document that gains most at each rank; among equals the largest id."""
    seen: Counter[str] = Counter()
    listed: list[str] = []
    left = relevant(judged, rel)
    while left:
        best = max(left, key=lambda d: (gain(left[d], seen, alpha), d.encode("utf-32-be")))
        listed.append(best)
        seen.update(left.pop(best))
    return listed


Discount = Callable[[int], float]


def log2(rank: int) -> float:
    return 1 / math.log2(rank + 1)


def reciprocal(rank: int) -> float:
    return 1 / rank


def weighed(values: Sequence[float], discount: Discount, k: int | None) -> float:
    return sum(value * discount(rank) for rank, value in enumerate(values[:k], start=1))


def over_full(
    judged: Judged, listed: Sequence[str], discount: Discount, k: int, rel: float = 1, alpha: float = 0.5
) -> float:
    full = len(sizes(judged, rel)) * sum((1 - alpha) ** (rank - 1) * discount(rank) for rank in range(1, k + 1))
    return weighed(gains(judged, listed, rel, alpha), discount, k) / full


def over_greedy(
    judged: Judged, listed: Sequence[str], discount: Discount, k: int | None, rel: float = 1, alpha: float = 0.5
) -> float:
    ideal = gains(judged, greedy(judged, rel, alpha), rel, alpha)
    return weighed(gains(judged, listed, rel, alpha), discount, k) / weighed(ideal, discount, k)


def nrbp(judged: Judged, listed: Sequence[str], alpha: float = 0.5, beta: float = 0.5, rel: float = 1) -> float:
    total = weighed(gains(judged, listed, rel, alpha), lambda rank: beta ** (rank - 1), None)
    return total * (1 - (1 - alpha) * beta) / len(sizes(judged, rel))


def average_precision(judged: Judged, listed: Sequence[str], rel: float = 1) -> float:
    total = 0.0
    for subtopic, size in sizes(judged, rel).items():
        ranks = [r for r, d in enumerate(listed, start=1) if subtopic in relevant(judged, rel).get(d, [])]
        total += sum(place / rank for place, rank in enumerate(ranks, start=1)) / size
    return total / len(sizes(judged, rel))


def found_in(judged: Judged, listed: Sequence[str], k: int, rel: float) -> list[str]:
    return [s for d in listed[:k] for s in relevant(judged, rel).get(d, [])]


def precision(judged: Judged, listed: Sequence[str], k: int, rel: float = 1) -> float:
    return len(found_in(judged, listed, k, rel)) / (k * len(sizes(judged, rel)))


def recall(judged: Judged, listed: Sequence[str], k: int, rel: float = 1) -> float:
    return len(set(found_in(judged, listed, k, rel))) / len(sizes(judged, rel))


FORMULAS: Mapping[str, Callable[[Judged, Sequence[str]], float]] = {
    "alpha_DCG@1": lambda j, d: over_full(j, d, log2, 1),
    "alpha_DCG@3": lambda j, d: over_full(j, d, log2, 3),
    "alpha_DCG(alpha=0.7,rel=2)@5": lambda j, d: over_full(j, d, log2, 5, 2, 0.7),
    "alpha_nDCG@3": lambda j, d: over_greedy(j, d, log2, 3),
    "alpha_nDCG(alpha=0.2)@30": lambda j, d: over_greedy(j, d, log2, 30, 1, 0.2),
    "alpha_nDCG(alpha=1)@3": lambda j, d: over_greedy(j, d, log2, 3, 1, 1.0),
    "ERR_IA@3": lambda j, d: over_full(j, d, reciprocal, 3),
    "ERR_IA(alpha=0)@4": lambda j, d: over_full(j, d, reciprocal, 4, 1, 0.0),
    "nERR_IA@2": lambda j, d: over_greedy(j, d, reciprocal, 2),
    "nERR_IA(rel=1.5)@20": lambda j, d: over_greedy(j, d, reciprocal, 20, 1.5),
    "NRBP": nrbp,
    "NRBP(alpha=0.3,beta=0.8,rel=2)": lambda j, d: nrbp(j, d, 0.3, 0.8, 2),
    "nNRBP": lambda j, d: over_greedy(j, d, lambda rank: 0.5 ** (rank - 1), None),
    "nNRBP(alpha=0.1,beta=0.9)": lambda j, d: over_greedy(j, d, lambda rank: 0.9 ** (rank - 1), None, 1, 0.1),
    "AP_IA": average_precision,
    "AP_IA(rel=2)": lambda j, d: average_precision(j, d, 2),
    "P_IA@3": lambda j, d: precision(j, d, 3),
    "P_IA(rel=2)@20": lambda j, d: precision(j, d, 20, 2),
    "StRecall@2": lambda j, d: recall(j, d, 2),
    "StRecall(rel=2)@20": lambda j, d: recall(j, d, 20, 2),
}
NAMES = tuple(FORMULAS)
MEASURES = parse_measures(NAMES)
SUBTOPICS = ("1", "2", "10", "x")
few = settings(patient, max_examples=40)
Collection = tuple[dict[str, dict[str, dict[str, float]]], list[Row]]


@st.composite
def collections(draw: st.DrawFn) -> Collection:
    grades = st.dictionaries(st.sampled_from(SUBTOPICS), st.sampled_from([-1.0, 0, 1, 1.5, 2]), min_size=1)
    aspects = draw(
        st.dictionaries(
            st.sampled_from(QUERIES[:3]), st.dictionaries(st.sampled_from(DOCUMENTS), grades, min_size=1), min_size=1
        )
    )
    rows: list[Row] = []
    for query_id in draw(st.lists(st.sampled_from(QUERIES), unique=True)):
        listed = draw(st.permutations(DOCUMENTS))[: draw(st.integers(1, len(DOCUMENTS)))]
        rows += [(query_id, doc_id, float(-rank)) for rank, doc_id in enumerate(listed)]
    return aspects, rows


def lists_of(rows: Sequence[Row]) -> dict[str, list[str]]:
    lists: dict[str, list[str]] = {}
    for query_id, doc_id, _ in sorted(rows, key=lambda row: -row[2]):
        lists.setdefault(query_id, []).append(doc_id)
    return lists


def table_of(
    names: Sequence[str], judgments: Judgments, rows: Sequence[Row], policies: Policies | None = None
) -> dict[str, dict[str, float]]:
    values = values_of(names, judgments, ranking_of(rows), policies)
    return {q: dict(zip(names, row, strict=True)) for q, row in zip(judgments.query_ids, values.tolist(), strict=True)}


def values_of_list(names: Sequence[str], judged: Judged, listed: Sequence[str]) -> list[float]:
    rows = [("q", doc_id, float(-rank)) for rank, doc_id in enumerate(listed)]
    return list(table_of(names, subtopic_judgments_of({"q": judged}), rows)["q"].values())


def test_every_measure_has_a_formula_here() -> None:
    assert {parse_measure(name).declaration for name in NAMES} == set(DECLARATIONS)


@few
@given(collections(), st.sampled_from(["undefined", "zero"]))
def test_agrees_with_the_definitions(made: Collection, policy: str) -> None:
    aspects, rows = made
    table = table_of(NAMES, subtopic_judgments_of(aspects), rows, Policies(no_relevant=policy))
    lists = lists_of(rows)
    for query_id, judged in aspects.items():
        for name, formula in FORMULAS.items():
            rel = parse_measure(name).settings["rel"]
            if sizes(judged, rel):
                expected = formula(judged, lists.get(query_id, []))
            else:
                expected = math.nan if policy == "undefined" else 0.0
            assert table[query_id][name] == pytest.approx(expected, abs=1e-12, nan_ok=True), (query_id, name)


@few
@given(collections())
def test_values_stay_within_their_bounds_and_contributions_add_up_to_them(made: Collection) -> None:
    judgments = subtopic_judgments_of(made[0])
    hits = make_hits(judgments, ranking_of(made[1]), Policies())
    values = evaluate(MEASURES, judgments, hits, Policies(no_relevant="zero"))
    for column, measure in enumerate(MEASURES):
        low, high = measure.declaration.bounds
        assert (values[:, column] >= low).all()
        assert high is None or (values[:, column] <= high + 1e-12).all()
        parts = contributions(measure, judgments, hits)
        assert parts is not None
        sums = np.bincount(hits.query, weights=parts, minlength=judgments.n_queries)
        np.testing.assert_allclose(sums, values[:, column], rtol=0, atol=1e-12)


@few
@given(collections())
def test_the_greedy_list_scores_1_and_covers_every_subtopic(made: Collection) -> None:
    for judged in made[0].values():
        if not sizes(judged, 1):
            continue
        listed = greedy(judged, 1, 0.5)
        assert values_of_list(["alpha_nDCG@3", "nERR_IA@20", "nNRBP"], judged, listed) == pytest.approx(
            [1, 1, 1], abs=1e-12
        )
        assert values_of_list(["StRecall@30", "AP_IA"], judged, listed)[0] == 1


@few
@given(collections(), st.permutations(SUBTOPICS))
def test_names_of_subtopics_do_not_matter(made: Collection, other: list[str]) -> None:
    aspects, rows = made
    new = dict(zip(SUBTOPICS, other, strict=True))
    renamed = {
        q: {d: {new[s]: grade for s, grade in grades.items()} for d, grades in judged.items()}
        for q, judged in aspects.items()
    }
    before = table_of(NAMES, subtopic_judgments_of(aspects), rows)
    after = table_of(NAMES, subtopic_judgments_of(renamed), rows)
    for query_id, values in before.items():
        assert after[query_id] == pytest.approx(values, abs=1e-12, nan_ok=True)


def test_a_list_can_be_better_than_the_greedy_one() -> None:
    # the greedy list takes c first, by its id, and then gains 1 + 1/2; a and b gain two each
    judged = {"a": {"1": 1, "2": 1}, "b": {"3": 1, "4": 1}, "c": {"1": 1, "3": 1}}
    (value,) = values_of_list(["alpha_nDCG@2"], judged, ["a", "b"])
    assert value == pytest.approx((2 + 2 * log2(2)) / (2 + 1.5 * log2(2)), abs=1e-12)
    assert value > 1
    assert "above 1" in parse_measure("alpha_nDCG@2").info().definition["ideal"]


def test_by_hand() -> None:
    judged = {"a": {"1": 1, "2": 1}, "b": {"1": 1}, "c": {"2": 0, "3": 2}, "d": {"4": 0}}
    names = ["alpha_DCG@2", "alpha_nDCG@2", "ERR_IA@2", "nERR_IA@2", "NRBP", "AP_IA", "P_IA@2", "StRecall@2"]
    # three subtopics have a relevant document; b gains 1, a gains 1/2 + 1
    assert values_of_list(names, judged, ["b", "a", "d"]) == pytest.approx(
        [
            (1 + 1.5 * log2(2)) / (3 * (1 + 0.5 * log2(2))),
            (1 + 1.5 * log2(2)) / (2 + 1 * log2(2)),
            (1 + 1.5 / 2) / (3 * (1 + 0.5 / 2)),
            (1 + 1.5 / 2) / (2 + 1 / 2),
            (1 + 1.5 * 0.5) * 0.75 / 3,
            ((1 + 1) / 2 + 1 / 2 + 0) / 3,
            3 / (2 * 3),
            2 / 3,
        ],
        abs=1e-12,
    )


def test_no_relevant_document_for_any_subtopic() -> None:
    judgments = subtopic_judgments_of({"q": {"a": {"1": 0.0, "2": -1.0}}})
    table = table_of(NAMES, judgments, [("q", "a", 1.0)])["q"]
    assert all(math.isnan(value) for value in table.values())
    zero = table_of(NAMES, judgments, [("q", "a", 1.0)], Policies(no_relevant="zero"))["q"]
    assert set(zero.values()) == {0.0}


def test_a_missing_query_is_0() -> None:
    judgments = subtopic_judgments_of({"q": {"a": {"1": 2.0, "2": 2.0}}})
    assert set(table_of(NAMES, judgments, [("other", "a", 1.0)])["q"].values()) == {0.0}


def test_without_subtopics_every_measure_is_refused_in_one_message() -> None:
    judgments = judgments_of({"q": {"a": 1.0}})
    with pytest.raises(MeasureError) as caught:
        table_of(NAMES, judgments, [("q", "a", 1.0)])
    lines = str(caught.value).split("\n")
    assert [line.split(": ")[0] for line in lines] == list(NAMES)
    assert "qid subtopic docid grade" in lines[0]


def test_the_grade_of_a_document_is_that_of_its_best_subtopic_for_other_measures() -> None:
    judged = {"a": {"1": 0, "2": 3}, "b": {"1": 1, "2": 1}}
    assert values_of_list(["nDCG@2", "RR(rel=2)"], judged, ["b", "a"]) == pytest.approx(
        [(1 + 3 * log2(2)) / (3 + 1 * log2(2)), 0.5], abs=1e-12
    )


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("α_nDCG@10", "alpha_nDCG@10"),
        ("alpha-nDCG@10", "alpha_nDCG@10"),
        ("ALPHA_NDCG@10", "alpha_nDCG@10"),
        ("α_DCG@5", "alpha_DCG@5"),
        ("alpha-DCG@5", "alpha_DCG@5"),
        ("ERR-IA@20", "ERR_IA@20"),
        ("nERR-IA@20", "nERR_IA@20"),
        ("MAP_IA", "AP_IA"),
        ("MAP-IA", "AP_IA"),
        ("P-IA@5", "P_IA@5"),
        ("strec@5", "StRecall@5"),
        ("NRBP(beta=0.5, alpha=0.5)", "NRBP"),
        ("alpha_nDCG(rel=2,alpha=0.7)@10", "alpha_nDCG(alpha=0.7,rel=2)@10"),
    ],
)
def test_spellings(spelling: str, name: str) -> None:
    assert parse_measure(spelling).name == name


@pytest.mark.parametrize(
    ("spelling", "message"),
    [
        ("alpha_nDCG", "needs a cutoff"),
        ("alpha_nDCG(alpha=1.5)@10", "alpha is '1.5', where a number from 0 to 1 is expected"),
        ("NRBP(beta=-1)", "beta is '-1', where a number from 0 to 1 is expected"),
        ("NRBP(alpha=0,beta=1)", "set beta below 1"),
        ("NRBP@10", "takes no cutoff"),
        ("strecc@10", "did you mean 'strec@10'"),
    ],
)
def test_wrong_spellings(spelling: str, message: str) -> None:
    with pytest.raises(MeasureError, match=message.replace("(", r"\(")):
        parse_measure(spelling)


@pytest.mark.shared
def test_golden_values() -> None:
    golden = json.loads(shared("golden/metrics_diversity.json").read_text())
    compared = 0
    for query_id, qrels in golden["qrels"].items():
        judged: dict[str, dict[str, float]] = {}
        for doc_id, subtopic, grade in qrels:
            judged.setdefault(doc_id, {})[subtopic] = grade
        by_program = golden["values"][query_id]["pyndeval_via_ir_measures"]
        names = list(by_program)
        assert values_of_list(names, judged, golden["run"][query_id]) == pytest.approx(
            list(by_program.values()), abs=1e-9
        )
        formula = golden["values"][query_id]["formula"]
        n = len(sizes(judged, 1))
        for k in (3, 5):
            ours = values_of_list([f"{name}@{k}" for name in ("alpha_DCG", "ERR_IA")], judged, golden["run"][query_id])
            full = [n * sum(0.5 ** (r - 1) * of(r) for r in range(1, k + 1)) for of in (log2, reciprocal)]
            sums = [formula[f"alphaDCG@{k}"], formula[f"ERR_IA_sum@{k}"]]
            assert ours == pytest.approx([total / by for total, by in zip(sums, full, strict=True)], abs=1e-9)
            compared += len(ours)
        compared += len(names)
    assert compared == 24


def read_trec_web(year: str) -> tuple[Judgments, list[Row]]:
    folder = shared(TREC_WEB)
    judged = read_judgments(folder / f"qrels.wt{year}.ndeval.txt.gz", Policies())
    assert "grades documents by subtopic (the second field" in judged.audit.notes[0]
    run = lines_of(folder / f"runs/cedr-bm25.wt{year}.run.gz")
    return judged.table, [(line[0], line[2], float(line[4])) for line in run]


def ndeval_values(path: Path) -> dict[str, dict[str, float]]:
    header, *rows = lines_of(path)
    return {row[0]: dict(zip(header[1:], map(float, row[1:]), strict=True)) for row in rows}


@pytest.mark.shared
@pytest.mark.parametrize(("year", "tied"), [("13", {"210", "249"}), ("14", set())])
def test_every_value_of_the_trec_web_tracks(year: str, tied: set[str]) -> None:
    judgments, rows = read_trec_web(year)
    expected = ndeval_values(shared(f"{TREC_WEB}/perquery_ndeval.wt{year}.tsv"))
    assert set(expected) == set(judgments.query_ids)
    names = list(next(iter(expected.values())))
    # the program that made the values orders tied scores by document id ascending, where trec_eval has it descending
    as_theirs = sorted(rows, key=lambda row: (row[0], -row[2], row[1]))
    table = table_of(names, judgments, as_theirs, Policies.from_preset("trec_eval", ties="input"))
    for query_id, values in expected.items():
        assert table[query_id] == pytest.approx(values, abs=5.1e-9), query_id
    by_default = table_of(names, judgments, rows, Policies.from_preset("trec_eval"))
    far = {q for q, values in expected.items() if by_default[q] != pytest.approx(values, abs=5.1e-9)}
    assert far == tied


OF_NDEVAL = [
    *("alpha_DCG@5", "alpha_DCG(alpha=0.7)@10", "alpha_nDCG@1", "alpha_nDCG@10", "alpha_nDCG(alpha=0.25)@20"),
    *("alpha_nDCG(rel=2)@5", "ERR_IA@10", "ERR_IA@20", "nERR_IA@1", "nERR_IA@20", "NRBP", "NRBP(alpha=0.2,beta=0.8)"),
    *("nNRBP", "nNRBP(alpha=0.75,beta=0.8)", "AP_IA", "AP_IA(rel=2)", "P_IA@1", "P_IA@10", "StRecall@5"),
    "StRecall(rel=2)@20",
]
"""With alpha in binary fractions where the ideal list matters: ndeval's sums of others round equal gains apart."""
Qrels = list[tuple[str, str, str, int]]


def from_ir_measures(names: Sequence[str], qrels: Qrels, rows: Sequence[Row]) -> dict[tuple[str, str], float]:
    judged = [ir_measures.util.Qrel(q, d, grade, s) for q, s, d, grade in qrels]
    run = [ir_measures.ScoredDoc(*row) for row in rows]
    # asked together, ir_measures reads the run for the first of them only
    return {
        (metric.query_id, name): 0.0 if math.isnan(metric.value) else metric.value
        for name in names
        for metric in ir_measures.iter_calc([ir_measures.parse_measure(name)], judged, run)
    }


def compare_with_ir_measures(names: Sequence[str], qrels: Qrels, rows: Sequence[Row]) -> None:
    aspects: dict[str, dict[str, dict[str, float]]] = {}
    for query_id, subtopic, doc_id, grade in qrels:
        aspects.setdefault(query_id, {}).setdefault(doc_id, {})[subtopic] = grade
    theirs = from_ir_measures(names, qrels, rows)
    table = table_of(names, subtopic_judgments_of(aspects), rows, Policies.from_preset("trec_eval"))
    assert len(theirs) >= len(names)
    for query_id, values in table.items():
        expected = {name: theirs.get((query_id, name), 0.0) for name in names}
        assert values == pytest.approx(expected, abs=1e-12), query_id


def without_ties(rows: Sequence[Row]) -> list[Row]:
    ordered = sorted(rows, key=lambda row: (row[0], -row[2], row[1]))
    return [(query_id, doc_id, float(-place)) for place, (query_id, doc_id, _) in enumerate(ordered)]


def needs_ndeval() -> None:
    pytest.importorskip("pyndeval", reason="ndeval, which ir_measures calls, comes with the package pyndeval")


@pytest.mark.parametrize("seed", range(4))
def test_ir_measures(seed: int) -> None:
    needs_ndeval()
    rng = np.random.default_rng(seed)
    documents = [f"d{number}" for number in range(40)]
    qrels = [
        (str(query), str(subtopic), str(doc_id), int(rng.choice([0, 0, 1, 2, 3])) if query < 8 else 0)
        for query in range(1, 9)
        for doc_id in rng.permutation(documents)[:25]
        for subtopic in range(1, 6)
        if rng.random() < 0.6
    ]
    rows = [
        (str(query), str(doc_id), float(-place))
        for query in [*range(2, 9), 99]
        for place, doc_id in enumerate(rng.permutation(documents)[: rng.integers(1, 35)])
    ]
    compare_with_ir_measures(OF_NDEVAL, qrels, rows)


@pytest.mark.shared
@pytest.mark.parametrize("year", ["13", "14"])
def test_ir_measures_on_the_trec_web_tracks(year: str) -> None:
    needs_ndeval()
    qrels = [(q, s, d, int(g)) for q, s, d, g in lines_of(shared(f"{TREC_WEB}/qrels.wt{year}.ndeval.txt.gz"))]
    compare_with_ir_measures(OF_NDEVAL[3::3], qrels, without_ties(read_trec_web(year)[1]))


def test_a_document_alone_above_the_ideal_of_one_rank_is_divided_by_all_subtopics() -> None:
    # pyndeval leaves the division out at k = 1 alone, a cutoff that ndeval does not print
    judged = {"a": {"1": 1, "2": 1}, "b": {"3": 1}}
    assert values_of_list(["ERR_IA@1", "alpha_DCG@1"], judged, ["a"]) == pytest.approx([2 / 3, 2 / 3], abs=1e-12)


def test_aspects_are_made_as_they_are_read(tmp_path: Path) -> None:
    aspects: Aspects = {"q1": {"b": {"2": 1.0, "1": 0.0}, "a": {"10": 2.0}}, "q0": {"x": {"2": 1.0}}}
    path = tmp_path / "qrels"
    rows = [f"{q} {s} {d} {g:g}\n" for q, docs in aspects.items() for d, of in docs.items() for s, g in of.items()]
    path.write_text("".join(rows))
    made, read = subtopic_judgments_of(aspects), read_judgments(path, Policies()).table
    assert made.subtopics is not None
    assert read.subtopics is not None
    assert read.subtopics.names == made.subtopics.names == ("1", "10", "2")
    for field in ("judgment", "subtopic", "grade"):
        np.testing.assert_array_equal(getattr(read.subtopics, field), getattr(made.subtopics, field))
    np.testing.assert_array_equal(read.grade, made.grade)
