"""The rankers rank: scores equal a second implementation, lists are ordered, and each does what its name says."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer  # type: ignore[import-untyped]  # it ships no types

from rankstats.demo.catalogue import Product
from rankstats.demo.rankers import DEPTH, keyword, ngram, popular
from rankstats.demo.vocabulary import PRODUCT_TYPES
from tests.demo.collection import demo

TITLES = (
    "Norrvik Rain Jacket Women's Red",
    "Norrvik Rainjacket Men's",
    "Granmark Pan Lid",
    "Granmark Pro Frying Pan with lid Red Red",
)
SALES = (10, 500, 2, 90)


def shelf() -> list[Product]:
    return [
        Product(f"d{number}", title, PRODUCT_TYPES[0], frozenset(), sales, False)
        for number, (title, sales) in enumerate(zip(TITLES, SALES, strict=True))
    ]


def bm25(query: str) -> dict[str, float]:
    """BM25 by matrices: k1 = 1.2, b = 0.75, idf = log(1 + (N - n + 0.5) / (n + 0.5))."""
    vectors = CountVectorizer(token_pattern=r"[a-z0-9]+")
    counts = vectors.fit_transform([title.replace("'", "") for title in TITLES]).toarray().astype(float)
    length = counts.sum(axis=1, keepdims=True)
    weight = counts * 2.2 / (counts + 1.2 * (0.25 + 0.75 * length / length.mean()))
    holding = (counts > 0).sum(axis=0)
    weight *= np.log(1 + (len(TITLES) - holding + 0.5) / (holding + 0.5))
    asked = vectors.transform([query]).toarray()[0]
    return {f"d{number}": score for number, score in enumerate(weight @ asked) if score > 0}


@pytest.mark.parametrize("query", ["red jacket", "pan", "frying pan with lid", "norrvik womens rain jacket", "pan pan"])
def test_keyword_is_bm25(query: str) -> None:
    [found] = keyword(shelf(), [query])
    expected = bm25(query)
    assert dict(found) == pytest.approx(expected, abs=1e-6)
    assert [doc_id for doc_id, _ in found] == sorted(expected, key=lambda doc_id: (-round(expected[doc_id], 6), doc_id))


@pytest.mark.parametrize("query", ["rain jaket", "pan", "fryingpan"])
def test_ngram_is_the_jaccard_of_trigrams(query: str) -> None:
    pieces = CountVectorizer(analyzer="char", ngram_range=(3, 3), lowercase=True)
    texts = ["".join(f"<<{word}>~~" for word in text.replace("'", "").split()) for text in [*TITLES, query]]
    sets = pieces.fit_transform(texts).toarray()[:, ["~" not in gram for gram in pieces.get_feature_names_out()]] > 0
    shared = (sets[:-1] & sets[-1]).sum(axis=1)
    either = (sets[:-1] | sets[-1]).sum(axis=1)
    expected = {f"d{number}": shared[number] / either[number] for number in range(len(TITLES)) if shared[number]}
    [found] = ngram(shelf(), [query])
    assert dict(found) == pytest.approx(expected, abs=1e-6)


def test_popular_is_the_keyword_score_pushed_by_sales() -> None:
    [found] = popular(shelf(), ["pan red"])
    expected = {doc_id: score * math.log(1 + SALES[int(doc_id[1])]) for doc_id, score in bm25("pan red").items()}
    assert dict(found) == pytest.approx(expected, abs=1e-6)


def test_keyword_needs_the_exact_word_and_ngram_does_not() -> None:
    assert keyword(shelf(), ["jackets"]) == [[]]
    assert ngram(shelf(), ["jackets"])[0][0][0] in {"d0", "d1"}
    assert ngram(shelf(), ["rainjacket"])[0][0][0] == "d1"


def test_tied_scores_are_ordered_by_id_descending() -> None:
    twins = [Product(f"t{number}", "Red Kettle", PRODUCT_TYPES[0], frozenset(), 5, False) for number in range(3)]
    for ranker in (keyword, ngram, popular):
        assert [doc_id for doc_id, _ in ranker(twins, ["kettle"])[0]] == ["t2", "t1", "t0"]


def test_lists_are_ranked_without_repetition() -> None:
    for rows in demo().runs.values():
        by_query: dict[str, list[tuple[int, float, str]]] = {}
        for query, doc, rank, score in rows:
            by_query.setdefault(query, []).append((rank, score, doc))
        for found in by_query.values():
            assert [rank for rank, *_ in found] == list(range(1, len(found) + 1))
            assert len(found) <= DEPTH
            assert len({doc for *_, doc in found}) == len(found)
            assert all(a >= b for (_, a, _), (_, b, _) in pairwise(found))
            assert all(score == round(score, 6) for _, score, _ in found)
