"""Novelty, popularity and diversity of lists: against plain Python on real recommendations, by hand, and in general."""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankstats.conventions import Policies
from rankstats.errors import MeasureError
from rankstats.measures import (
    documents_left_out,
    evaluate,
    evaluate_systems,
    parse_measure,
    parse_measures,
)
from rankstats.measures.beyond_accuracy import DECLARATIONS
from rankstats.tables import Histories, Hits, Items, Judgments, make_hits
from tests.shared import shared
from tests.tables.made import Row, histories_of, items_of, judgments_of, lines_of, patient, ranking_of

few = settings(patient, max_examples=40)
RECSYS = "data/recsys/ml-latest-small-2016"
Lists = Mapping[str, Sequence[str]]
"""Query, documents, best first."""


def hits_of(lists: Lists, queries: Sequence[str], depth: int = 10) -> tuple[Judgments, Hits]:
    rows: list[Row] = [(q, doc_id, float(-rank)) for q, docs in lists.items() for rank, doc_id in enumerate(docs)]
    judgments = judgments_of({query_id: {"judged": 1.0} for query_id in queries})
    return judgments, make_hits(judgments, ranking_of(rows), Policies(), depth=depth)


def values_of(
    names: Sequence[str], lists: Lists, items: Items | None, histories: Histories | None = None
) -> dict[str, list[float]]:
    """Return the values by query, for queries that all have lists, empty or not."""
    judgments, hits = hits_of(lists, list(lists))
    values = evaluate(parse_measures(names), judgments, hits, Policies(), items=items, histories=histories)
    return dict(zip(judgments.query_ids, values.tolist(), strict=True))


def value_of(name: str, listed: Sequence[str], items: Items | None, histories: Histories | None = None) -> float:
    return values_of([name], {"q": listed}, items, histories)["q"][0]


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    return math.fsum(a * b for a, b in zip(one, other, strict=True)) / (math.hypot(*one) * math.hypot(*other))


def overlap(one: set[str], other: set[str]) -> float:
    return len(one & other) / math.sqrt(len(one) * len(other))


def diversity(described: Sequence[object], similarity: Callable[..., float]) -> float:
    pairs = list(itertools.combinations(described, 2))
    return 1 - math.fsum(similarity(a, b) for a, b in pairs) / len(pairs) if pairs else math.nan


POPULAR = items_of(["a", "b", "c", "d"], popularity=[8, 4, 4, 0])


def test_novelty_by_hand() -> None:
    items = items_of(["a", "b", "c", "d"], popularity=[8, 4, 2, 2])
    assert value_of("Novelty@3", ["a", "c", "b", "d"], items) == pytest.approx((1 + 3 + 2) / 3, abs=1e-12)
    assert value_of("Novelty(users=32)@2", ["a", "b"], items) == pytest.approx((2 + 3) / 2, abs=1e-12)
    assert value_of("Novelty(users=8)@1", ["a"], items) == 0
    assert math.copysign(1, value_of("Novelty(users=8)@1", ["a"], items)) == 1
    # popularity + 1 of 16 + 4 in all
    assert value_of("Novelty(smoothing=1)@1", ["b"], items) == pytest.approx(2, abs=1e-12)
    assert value_of("Novelty(users=9,smoothing=1)@1", ["b"], items) == pytest.approx(1, abs=1e-12)


def test_entropy_of_popularity_by_hand() -> None:
    items = items_of(["a", "b", "c", "d"], popularity=[8, 4, 4, 0])
    assert value_of("PopularityEntropy@3", ["a", "b", "d"], items) == pytest.approx(0.5 * 1 + 0.25 * 2, abs=1e-12)
    assert value_of("PopularityEntropy(users=32)@1", ["a"], items) == pytest.approx(0.25 * 2, abs=1e-12)
    assert value_of("PopularityEntropy@1", ["d"], items) == 0


def test_popularity_gap_by_hand() -> None:
    histories = histories_of([("q", "a"), ("q", "b"), ("q", "a"), ("other", "d")])
    assert value_of("PopularityGap@2", ["a", "d"], POPULAR) == pytest.approx(4 / 4 - 1, abs=1e-12)
    assert value_of("PopularityGap@1", ["a", "d"], POPULAR) == pytest.approx(8 / 4 - 1, abs=1e-12)
    # the history holds a and b, a once although it was had twice
    gap = value_of("PopularityGap(to='history')@2", ["a", "d"], POPULAR, histories)
    assert gap == pytest.approx(4 / 6 - 1, abs=1e-12)


def test_a_history_without_known_items_or_without_popularity_is_undefined() -> None:
    lists = {"q1": ["a"], "q2": ["a"], "q3": ["a"], "q4": ["a"]}
    histories = histories_of([("q1", "zzz"), ("q2", "d"), ("q3", "b"), ("q3", "zzz")])
    values = values_of(["PopularityGap(to='history')@2"], lists, POPULAR, histories)
    assert [math.isnan(values[q][0]) for q in ("q1", "q2", "q4")] == [True] * 3
    assert values["q3"] == [1.0]


def test_diversity_by_hand() -> None:
    categories = [["x"], ["x"], ["y"], ["x", "y"], []]
    items = items_of(["a", "b", "c", "d", "e"], categories=categories)
    assert value_of("ILD@2", ["a", "b"], items) == 0
    assert value_of("ILD@2", ["a", "c"], items) == 1
    assert value_of("ILD@3", ["a", "c", "d"], items) == pytest.approx(1 - 2 / math.sqrt(2) / 3, abs=1e-12)
    assert math.isnan(value_of("ILD@1", ["a", "c"], items))
    assert math.isnan(value_of("ILD@2", ["a", "e"], items))
    assert value_of("ILD@3", ["a", "e", "c"], items) == 1


def test_diversity_of_vectors_by_hand() -> None:
    vectors = [[1.0, 0.0], [3.0, 0.0], [0.0, 2.0], [-1.0, 0.0], [0.0, 0.0], None]
    items = items_of(["a", "b", "c", "d", "zero", "none"], vectors=vectors)
    name = "ILD(by='vectors')@3"
    assert value_of(name, ["a", "b"], items) == 0
    assert value_of(name, ["a", "c"], items) == 1
    assert value_of(name, ["a", "d"], items) == 2
    assert value_of(name, ["a", "b", "c"], items) == pytest.approx(2 / 3, abs=1e-12)
    assert value_of(name, ["a", "zero", "c"], items) == 1
    assert math.isnan(value_of(name, ["a", "zero", "none"], items))


def test_vectors_of_any_length_have_a_direction() -> None:
    items = items_of(["a", "b"], vectors=[[1e100, 1e100], [1e-100, 0.0]])
    assert value_of("ILD(by='vectors')@2", ["a", "b"], items) == pytest.approx(1 - 1 / math.sqrt(2), abs=1e-12)


DOCUMENTS = ("a", "b", "c", "d", "e", "f")
lists_of_documents = st.dictionaries(
    st.sampled_from(["q1", "q2", "q3"]),
    st.lists(st.sampled_from([*DOCUMENTS, "unknown"]), unique=True, max_size=7),
    min_size=1,
)
described = st.lists(
    st.lists(st.sampled_from(["x", "y", "z"]), unique=True), min_size=len(DOCUMENTS), max_size=len(DOCUMENTS)
)
numbers = st.lists(st.sampled_from([-2.0, 0.0, 0.5, 1.0, 3.0]), min_size=3, max_size=3)
pointing = st.lists(st.none() | numbers, min_size=len(DOCUMENTS), max_size=len(DOCUMENTS))
popular = st.lists(
    st.none() | st.sampled_from([1.0, 2.0, 0.5, 100.0]), min_size=len(DOCUMENTS), max_size=len(DOCUMENTS)
)


@few
@given(lists_of_documents, described, pointing, st.integers(1, 7))
def test_diversity_is_that_of_all_pairs(
    lists: Lists, categories: list[list[str]], vectors: list[list[float] | None], k: int
) -> None:
    items = items_of(DOCUMENTS, categories=categories, vectors=vectors)
    values = values_of([f"ILD@{k}", f"ILD(by='vectors')@{k}"], lists, items)
    kinds = dict(zip(DOCUMENTS, map(set, categories), strict=True))
    points = {d: v for d, v in zip(DOCUMENTS, vectors, strict=True) if v and any(v)}
    for query_id, listed in lists.items():
        by_categories = diversity([kinds[d] for d in listed[:k] if kinds.get(d)], overlap)
        by_vectors = diversity([points[d] for d in listed[:k] if d in points], cosine)
        assert values[query_id] == pytest.approx([by_categories, by_vectors], abs=1e-12, nan_ok=True)


POPULARITY = ["Novelty", "Novelty(users=200)", "PopularityEntropy", "PopularityGap"]


@few
@given(lists_of_documents, popular, st.integers(1, 7))
def test_novelty_is_that_of_the_known_documents(lists: Lists, popularity: list[float | None], k: int) -> None:
    items = items_of(DOCUMENTS, popularity=popularity)
    values = values_of([f"{name}@{k}" for name in POPULARITY], lists, items)
    known = {d: p for d, p in zip(DOCUMENTS, popularity, strict=True) if p is not None}
    total = sum(known.values())
    for query_id, listed in lists.items():
        shown = [known[d] for d in listed[:k] if d in known]
        expected = [math.nan] * 4
        if shown:
            mean = sum(shown) / len(shown)
            expected = [
                sum(-math.log2(p / total) for p in shown) / len(shown),
                sum(-math.log2(p / 200) for p in shown) / len(shown),
                sum(-p / total * math.log2(p / total) for p in shown),
                mean / (total / len(known)) - 1,
            ]
        assert values[query_id] == pytest.approx(expected, abs=1e-12, nan_ok=True)


ALL = ["Novelty@3", "PopularityEntropy@3", "PopularityGap@3", "ILD@3", "ILD(by='vectors')@3"]


@few
@given(lists_of_documents, described, pointing, popular)
def test_values_stay_within_their_bounds(
    lists: Lists, categories: list[list[str]], vectors: list[list[float] | None], popularity: list[float | None]
) -> None:
    items = items_of(DOCUMENTS, categories=categories, vectors=vectors, popularity=popularity)
    for row in values_of(ALL, lists, items).values():
        for name, value in zip(ALL, row, strict=True):
            low, high = parse_measure(name).declaration.bounds
            assert math.isnan(value) or (low <= value and (high is None or value <= high))


@few
@given(lists_of_documents, described, popular, st.permutations(DOCUMENTS))
def test_the_order_of_the_item_table_does_not_matter(
    lists: Lists, categories: list[list[str]], popularity: list[float | None], order: list[str]
) -> None:
    names = ["Novelty@3", "PopularityGap@3", "ILD@3"]
    place = [DOCUMENTS.index(d) for d in order]
    first = items_of(DOCUMENTS, categories=categories, popularity=popularity)
    second = items_of(order, categories=[categories[i] for i in place], popularity=[popularity[i] for i in place])
    before, after = values_of(names, lists, first), values_of(names, lists, second)
    for query_id, values in before.items():
        assert after[query_id] == pytest.approx(values, abs=1e-12, nan_ok=True)


def test_unknown_documents_are_left_out_and_counted() -> None:
    items = items_of(["a", "b", "c"], popularity=[8, None, 4], categories=[["x"], ["y"], []])
    judgments, hits = hits_of({"q1": ["new", "a", "b", "c"], "q2": ["c"]}, ["q1", "q2", "q3"])
    measures = parse_measures("Novelty@3, Novelty@10, ILD@4, Coverage@10, Coverage(catalogue=7)@10, HitRate@10")
    counts = documents_left_out(measures, judgments, [hits], items)
    assert counts.tolist() == [[2, 2, 3, 1, 0, 0]]
    values = evaluate(measures[:3], judgments, hits, Policies(), items=items)
    of_a, of_c = -math.log2(8 / 12), -math.log2(4 / 12)
    assert values[0].tolist() == pytest.approx([of_a, (of_a + of_c) / 2, 1], abs=1e-12)
    assert values[1].tolist() == pytest.approx([of_c, of_c, math.nan], abs=1e-12, nan_ok=True)
    assert np.isnan(values[2]).all()


def test_a_table_that_knows_no_popularity() -> None:
    nothing, never = (items_of(["a", "b"], popularity=[count, count]) for count in (None, 0))
    names = ["Novelty(smoothing=1)@2", "PopularityEntropy@2", "PopularityGap@2"]
    assert np.isnan(values_of(names, {"q": ["a", "b"]}, nothing)["q"]).all()
    values = values_of(names, {"q": ["a", "b"]}, never)["q"]
    assert values == pytest.approx([1, 0, math.nan], abs=1e-12, nan_ok=True)


def test_a_query_without_a_list_has_no_value_whatever_the_conventions() -> None:
    judgments, hits = hits_of({"q1": ["a", "b"]}, ["q1", "q2"])
    items = items_of(["a", "b"], popularity=[1, 1], categories=[["x"], ["y"]])
    names = ["Novelty@2", "PopularityEntropy@2", "PopularityGap@2", "ILD@2"]
    values = evaluate(parse_measures(names), judgments, hits, Policies.from_preset("trec_eval"), items=items)
    assert np.isnan(values[1]).all()
    assert not np.isnan(values[0]).any()
    for name in names:
        assert parse_measure(name).info().definition["missing query"].startswith("none: there is no list")


@pytest.mark.parametrize(
    ("name", "items", "message"),
    [
        ("ILD@10", None, "needs an item table, .* --items FILE"),
        ("Novelty@10", None, "needs an item table"),
        ("ILD@10", POPULAR, "made here has no category column; name it with --category COLUMN .*there are doc_id"),
        ("ILD(by='vectors')@10", POPULAR, "has no vector column; name it with --vector"),
        ("ILD@10", items_of(["a"], vectors=[[1.0]]), r"or write ILD\(by='vectors'\)"),
        ("PopularityGap@10", items_of(["a"], vectors=[[1.0]]), "has no popularity column; .*--popularity"),
        ("PopularityGap(to='history')@10", POPULAR, "--history FILE"),
        ("Novelty@10", POPULAR, r"1 items of popularity 0.*Novelty\(smoothing=1\)@10"),
        ("Novelty(users=5,smoothing=1)@10", POPULAR, "popularity 8, more than the 5 users in the name"),
        ("PopularityEntropy(users=5)@10", POPULAR, "more than the 5 users"),
    ],
)
def test_what_is_lacking_is_named(name: str, items: Items | None, message: str) -> None:
    with pytest.raises(MeasureError, match=message):
        value_of(name, ["a"], items)


def test_a_column_that_is_nearly_called_so_is_hinted_at() -> None:
    items = Items(POPULAR.doc_ids, POPULAR.source, ("doc_id", "popularty"))
    with pytest.raises(MeasureError, match="did you mean 'popularty'"):
        value_of("Novelty@10", ["a"], items)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ILD", "needs a cutoff"),
        ("ILD(by='tags')@10", "choose 'categories' or 'vectors'"),
        ("Novelty(users=0)@10", "a whole number of at least 1"),
        ("Novelty(users=1.5)@10", "a whole number of at least 1"),
        ("Novelty(smoothing=-1)@10", "a number of 0 or more"),
        ("Condensed(ILD@10)", "judged or not"),
        ("ILD(judged_only=True)@10", "judged or not"),
    ],
)
def test_wrong_names(text: str, message: str) -> None:
    with pytest.raises(MeasureError, match=message):
        parse_measure(text)


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Novelty(users=9,smoothing=0.5)@3", "Novelty@3 (of 9 users; popularity + 0.5)"),
        ("PopularityEntropy@10", "PopularityEntropy@10"),
        ("PopularityGap(to='history')@4", "PopularityGap@4 (to the history)"),
        ("ILD(by='vectors')@7", "ILD@7 (by vectors)"),
    ],
)
def test_names_parse_back(text: str, label: str) -> None:
    measure = parse_measure(text)
    assert (measure.name, measure.label) == (text, label)
    assert parse_measure(measure.declaration.example).declaration is measure.declaration


def test_directions() -> None:
    better = {d.name: d.higher_is_better for d in DECLARATIONS}
    assert better == {"Novelty": True, "PopularityEntropy": False, "PopularityGap": False, "ILD": True}


@cache
def movies() -> tuple[Items, dict[str, float], dict[str, set[str]]]:
    """The item table of all movies: popularity among the training ratings (0 for movies without any), and genres."""
    folder = shared(RECSYS)
    header, *counted = lines_of(folder / "item_popularity.tsv")
    assert header == ["movieId", "train_ratings"]
    popularity = {movie: float(n) for movie, n in counted}
    text = gzip.decompress((folder / "movies.csv.gz").read_bytes()).decode()
    genres = {row["movieId"]: set(row["genres"].split("|")) for row in csv.DictReader(io.StringIO(text))}
    movie_ids = list(genres)
    items = items_of(
        movie_ids,
        popularity=[popularity.get(movie, 0.0) for movie in movie_ids],
        categories=[sorted(genres[movie]) for movie in movie_ids],
    )
    return items, {movie: popularity.get(movie, 0.0) for movie in movie_ids}, genres


@cache
def recommended() -> tuple[Judgments, dict[str, dict[str, list[str]]], list[Hits]]:
    """The judgments, the first ten movies of every system and user, and the hits."""
    folder = shared(RECSYS)
    grades: dict[str, dict[str, float]] = {}
    for user, _, movie, grade in lines_of(folder / "qrels.test.txt.gz"):
        grades.setdefault(user, {})[movie] = float(grade)
    judgments = judgments_of(grades)
    lists: dict[str, dict[str, list[str]]] = {}
    hits = []
    for path in sorted((folder / "runs_generated").iterdir()):
        system = path.name.removesuffix(".run.gz")
        rows = [(line[0], line[2], float(line[4])) for line in lines_of(path)]
        lists[system] = {}
        for user, movie, _ in sorted(rows, key=lambda row: (row[2], row[1]), reverse=True):
            lists[system].setdefault(user, []).append(movie)
        hits.append(make_hits(judgments, ranking_of(rows), Policies()))
    return judgments, lists, hits


@pytest.mark.shared
def test_recommendations_of_movies() -> None:
    items, popularity, genres = movies()
    judgments, lists, hits = recommended()
    names = ["Novelty(smoothing=1)@10", "PopularityEntropy(users=671)@10", "PopularityGap@10", "ILD@10", "HitRate@10"]
    values = evaluate_systems(parse_measures(names), judgments, hits, Policies(), items=items)
    total, catalogue = sum(popularity.values()) + len(popularity), sum(popularity.values()) / len(popularity)
    for s, of_system in enumerate(lists.values()):
        for q, user in enumerate(judgments.query_ids):
            shown = of_system[user][:10]
            counts = [popularity[movie] for movie in shown]
            rows = slice(judgments.offsets[q], judgments.offsets[q + 1])
            liked = {
                movie
                for movie, grade in zip(
                    judgments.doc_ids[rows].to_pylist(), judgments.grade[rows].tolist(), strict=True
                )
                if grade >= 1
            }
            shares = [count / 671 for count in counts if count]
            expected = [
                sum(-math.log2((count + 1) / total) for count in counts) / 10,
                sum(-share * math.log2(share) for share in shares),
                sum(counts) / 10 / catalogue - 1,
                diversity([genres[movie] for movie in shown], overlap),
                float(bool(liked & set(shown))),
            ]
            assert values[q, s].tolist() == pytest.approx(expected, abs=1e-9), (user, s)
    means = dict(zip(lists, values.mean(axis=0).tolist(), strict=True))
    assert max(means, key=lambda system: means[system][0]) == "random"
    assert min(means, key=lambda system: means[system][0]) == "most-popular"
    assert max(means, key=lambda system: means[system][2]) == "most-popular"
    assert min(means, key=lambda system: means[system][4]) == "random"


@pytest.mark.shared
def test_the_gap_to_what_users_had_before() -> None:
    items, popularity, _ = movies()
    judgments, lists, hits = recommended()
    # a made history of whole numbers of the first movies, so that the expected means are plain
    had = {user: list(popularity)[: 1 + int(user) % 7] for user in judgments.query_ids}
    histories = histories_of([(user, movie) for user, known in had.items() for movie in known])
    (measure,) = parse_measures("PopularityGap(to='history')@10")
    values = evaluate_systems([measure], judgments, hits[:2], Policies(), items=items, histories=histories)
    for s, of_system in enumerate(list(lists.values())[:2]):
        for q, user in enumerate(judgments.query_ids):
            before = sum(popularity[movie] for movie in had[user]) / len(had[user])
            after = sum(popularity[movie] for movie in of_system[user][:10]) / 10
            assert values[q, s, 0] == pytest.approx(after / before - 1, abs=1e-9)
