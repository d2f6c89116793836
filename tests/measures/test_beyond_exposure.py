"""Measures of all lists together: coverage, Gini index and entropy of exposure."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankstats.conventions import Policies
from rankstats.errors import MeasureError
from rankstats.measures import evaluate_systems, evaluate_together, exchangeable, parse_measure, parse_measures
from rankstats.measures.exposure import DECLARATIONS, exposures
from rankstats.stats import list_exchange_test
from rankstats.tables import Hits, Items, Judgments, make_hits
from tests.measures.test_beyond_accuracy import hits_of, movies, recommended
from tests.shared import shared
from tests.tables.made import items_of, judgments_of, patient, ranking_of

few = settings(patient, max_examples=40)
Lists = Mapping[str, Sequence[str]]
CATALOGUE = ("a", "b", "c", "d", "e")


def together(names: Sequence[str], lists: Lists, items: Items | None = None) -> list[float]:
    judgments, hits = hits_of(lists, list(lists))
    values = evaluate_together(parse_measures(names), judgments, [hits], items=items)
    assert values is not None
    return [float(value) for value in values[0]]


def gini(counts: Sequence[int]) -> float:
    """From the definition: half the mean absolute difference of all pairs over the mean."""
    n, mean = len(counts), sum(counts) / len(counts)
    return sum(abs(x - y) for x in counts for y in counts) / (2 * n**2 * mean)


def entropy(counts: Sequence[int]) -> float:
    return -sum(count / sum(counts) * math.log2(count / sum(counts)) for count in counts if count)


def test_by_hand() -> None:
    items = items_of(["a", "b", "c", "d"])
    lists = {"q1": ["a", "b"], "q2": ["a", "c"]}
    names = ["Coverage@1", "Coverage@2", "Gini@1", "Gini@2", "Gini(denominator='n-1')@1", "ExposureEntropy@2"]
    # exposures 2, 1, 1, 0 of four: the ordered sum is −1·1 + 1·1 + 3·2
    expected = [1 / 4, 3 / 4, 3 / 4, 6 / (4 * 4), 1.0, 1.5]
    assert together(names, lists, items) == pytest.approx(expected, abs=1e-12)


def test_equal_exposure_and_a_single_document() -> None:
    items = items_of(["a", "b", "c", "d"])
    equal = {"q1": ["a", "b"], "q2": ["c", "d"]}
    assert together(["Gini@2", "ExposureEntropy@2", "Coverage@2"], equal, items) == [0, 2, 1]
    single = {"q1": ["a"], "q2": ["a"]}
    values = together(["Gini@2", "ExposureEntropy@2", "Coverage@2"], single, items)
    assert values == [0.75, 0, 0.25]
    assert math.copysign(1, values[1]) == 1


@pytest.mark.shared
def test_twenty_courses_of_a_catalogue() -> None:
    examples = json.loads(shared("golden/seed_examples.json").read_text())["examples"]
    (example,) = (example for example in examples if example["id"] == "002-coverage")
    size, shown = example["right"]["implied_catalogue"], example["input"]["recommended"]
    lists = {f"q{i}": [f"course {(2 * i + j) % shown}" for j in range(10)] for i in range(50)}
    assert together([f"Coverage(catalogue={size})@10"], lists) == [example["input"]["coverage"]]
    table = items_of([f"course {i}" for i in range(size)])
    assert together(["Coverage@10"], lists, table) == [example["input"]["coverage"]]


lists_of_documents = st.dictionaries(
    st.sampled_from([f"q{i}" for i in range(6)]),
    st.lists(st.sampled_from([*CATALOGUE, "unknown"]), unique=True, max_size=6),
    min_size=1,
)
NAMES = ["Coverage", "Gini", "Gini(denominator='n-1')", "Gini(catalogue=9)", "Coverage(catalogue=9)", "ExposureEntropy"]


@few
@given(lists_of_documents, st.integers(1, 6))
def test_agrees_with_the_definitions(lists: Lists, k: int) -> None:
    values = together([f"{name}@{k}" for name in NAMES], lists, items_of(CATALOGUE))
    counted = Counter(d for listed in lists.values() for d in listed[:k])
    of_catalogue = [counted[d] for d in CATALOGUE]
    of_nine = [*counted.values(), *[0] * (9 - len(counted))]
    uneven = gini(of_catalogue) if any(of_catalogue) else math.nan
    expected = [
        sum(count > 0 for count in of_catalogue) / 5,
        uneven,
        uneven * 5 / 4,
        gini(of_nine) if counted else math.nan,
        len(counted) / 9,
        entropy(list(counted.values())) if counted else math.nan,
    ]
    assert values == pytest.approx(expected, abs=1e-12, nan_ok=True)
    for name, value in zip(NAMES, values, strict=True):
        low, high = parse_measure(f"{name}@1").declaration.bounds
        assert math.isnan(value) or (low <= value and (high is None or value <= high))


@few
@given(lists_of_documents, st.integers(1, 4), st.permutations(CATALOGUE))
def test_the_order_of_items_and_systems_does_not_matter(lists: Lists, k: int, order: list[str]) -> None:
    names = [f"{name}@{k}" for name in NAMES]
    np.testing.assert_array_equal(together(names, lists, items_of(CATALOGUE)), together(names, lists, items_of(order)))
    judgments, hits = hits_of(lists, list(lists))
    other = make_hits(judgments, ranking_of([("q0", "z", 2.0), ("q0", "e", 1.0)]), Policies())
    measures = parse_measures(names)
    one_way = evaluate_together(measures, judgments, [hits, other], items=items_of(CATALOGUE))
    other_way = evaluate_together(measures, judgments, [other, hits], items=items_of(CATALOGUE))
    assert one_way is not None
    assert other_way is not None
    np.testing.assert_array_equal(one_way, other_way[::-1])


def test_queries_have_no_value() -> None:
    judgments, hits = hits_of({"q1": ["a"], "q2": ["b"]}, ["q1", "q2"])
    measures = parse_measures("Coverage(catalogue=3)@10, ExposureEntropy@10, Gini(catalogue=3)@10, P@1")
    values = evaluate_systems(measures, judgments, [hits], Policies.from_preset("trec_eval"))
    assert np.isnan(values[:, 0, :3]).all()
    assert not np.isnan(values[:, 0, 3]).any()
    totals = evaluate_together(measures, judgments, [hits])
    assert totals is not None
    assert np.isnan(totals).tolist() == [[False, False, False, True]]
    assert evaluate_together(measures[3:], judgments, [hits]) is None
    info = measures[0].info()
    assert info.aggregate == "together"
    assert info.definition["undefined"] == "every single query: all lists together have one value"
    assert measures[3].info().aggregate == "mean"


def test_what_is_lacking_is_named() -> None:
    lists = {"q1": ["a", "b"], "q2": ["c"]}
    with pytest.raises(MeasureError, match=r"Coverage@10: needs the catalogue; .*--items FILE.*\(catalogue=5000\)@10"):
        together(["Coverage@10"], lists)
    with pytest.raises(MeasureError, match=r"has 2 documents, but the lists of new show 3 different ones"):
        together(["Gini(catalogue=2)@10"], lists)
    judgments, hits = hits_of(lists, list(lists))
    with pytest.raises(MeasureError, match=r"P@5 has a value a query"):
        exchangeable(parse_measure("P@5"), judgments, [hits])


@pytest.mark.parametrize(
    ("text", "name", "label"),
    [
        ("CatalogueCoverage@10", "CatalogueCoverage@10", "CatalogueCoverage@10"),
        ("coverage( catalogue = 500 )@10", "Coverage(catalogue=500)@10", "Coverage@10 (of 500)"),
        ("Coverage(catalogue=items)@10", "Coverage@10", "Coverage@10"),
        ("Gini(denominator='n-1')@5", "Gini(denominator='n-1')@5", "Gini@5 (÷ (n − 1))"),
        ("ExposureEntropy@5", "ExposureEntropy@5", "ExposureEntropy@5"),
    ],
)
def test_names(text: str, name: str, label: str) -> None:
    measure = parse_measure(text)
    assert (measure.name, measure.label) == (name, label)
    assert parse_measure(name) == measure


def test_two_names_of_coverage_are_one_measure() -> None:
    with pytest.raises(MeasureError, match="are the same"):
        parse_measures("Coverage@10, CatalogueCoverage@10")
    assert {d.name: d.higher_is_better for d in DECLARATIONS} == {
        "Coverage": True,
        "Gini": False,
        "ExposureEntropy": True,
    }


def test_exposures() -> None:
    lists = np.array([[[0, 2, -1], [2, 0, 4]], [[-1, -1, -1], [1, 1, 1]]])
    assert exposures(lists).tolist() == [[2, 0, 2, 0, 1], [0, 3, 0, 0, 0]]
    assert exposures(np.full((2, 3, 4), -1)).shape == (2, 0)


@pytest.mark.shared
def test_recommendations_of_movies() -> None:
    items, popularity, _ = movies()
    judgments, lists, hits = recommended()
    names = ["Coverage@10", "Gini@10", "ExposureEntropy@10", "Coverage(catalogue=9125)@5"]
    values = evaluate_together(parse_measures(names), judgments, hits, items=items)
    assert values is not None
    for s, of_system in enumerate(lists.values()):
        counts = Counter(movie for shown in of_system.values() for movie in shown[:10])
        ordered = sorted(counts[movie] for movie in popularity)
        n = len(ordered)
        uneven = sum((2 * i - n - 1) * count for i, count in enumerate(ordered, start=1)) / (n * sum(ordered))
        first_five = {movie for shown in of_system.values() for movie in shown[:5]}
        expected = [len(counts) / n, uneven, entropy(list(counts.values())), len(first_five) / 9125]
        assert values[s].tolist() == pytest.approx(expected, abs=1e-9)
    coverage, concentration = (dict(zip(lists, values[:, m].tolist(), strict=True)) for m in (0, 1))
    assert max(coverage, key=coverage.__getitem__) == min(concentration, key=concentration.__getitem__) == "random"
    assert (
        min(coverage, key=coverage.__getitem__) == max(concentration, key=concentration.__getitem__) == "most-popular"
    )
    assert coverage["random"] > 0.49
    assert coverage["most-popular"] < 0.012


def exchanged(measure: str, judgments: Judgments, hits: Sequence[Hits], items: Items) -> tuple[float, float, float]:
    made = exchangeable(parse_measure(measure), judgments, hits, items=items)
    result = list_exchange_test(*made.parts, made.statistic, resamples=199)
    return result.first, result.second, result.p_value


@pytest.mark.shared
def test_coverage_of_two_systems_is_compared_by_exchanging_their_lists() -> None:
    items, _, _ = movies()
    judgments, lists, hits = recommended()
    systems = list(lists)
    pair = [hits[systems.index(name)] for name in ("most-popular", "random")]
    for name in ("Coverage@10", "Gini@10", "ExposureEntropy@10"):
        first, second, p_value = exchanged(name, judgments, pair, items)
        totals = evaluate_together([parse_measure(name)], judgments, pair, items=items)
        assert totals is not None
        assert [first, second] == totals[:, 0].tolist()
        assert p_value == 1 / 200
    assert exchanged("Coverage@10", judgments, [pair[0], pair[0]], items)[2] == 1


def test_parts_are_numbered_alike_for_all_systems() -> None:
    judgments = judgments_of({"q": {"x": 1.0}})
    first, second = (
        make_hits(judgments, ranking_of([("q", d, -float(i)) for i, d in enumerate(docs)]), Policies())
        for docs in (["m", "x"], ["x", "n", "m"])
    )
    made = exchangeable(parse_measure("Coverage(catalogue=1000000)@3"), judgments, [first, second])
    assert [parts.tolist() for parts in made.parts] == [[[-1, 0, 1]], [[0, 1, 2]]]
    np.testing.assert_allclose(made.statistic(np.stack(made.parts)), [2e-6, 3e-6])
