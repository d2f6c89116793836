"""Queries: texts that say the need, each in its kind's own way."""

from __future__ import annotations

from rankstats.demo.queries import Query
from rankstats.demo.rankers import words
from rankstats.demo.vocabulary import PRODUCT_TYPES
from tests.demo.collection import demo


def of_kind(kind: str) -> list[Query]:
    return [query for query in demo().queries if query.kind == kind]


def shop_words() -> set[str]:
    return {word for product in demo().products for word in words(product.title)}


def test_plain_and_broad_queries_are_the_shops_words() -> None:
    assert {query.text for query in of_kind("plain")} <= {product_type.name for product_type in PRODUCT_TYPES}
    assert {query.text for query in of_kind("broad")} <= {product_type.group for product_type in PRODUCT_TYPES}


def test_misspelled_queries_hold_a_word_one_slip_away() -> None:
    strange = [query for query in of_kind("misspelled") if not set(words(query.text)) <= shop_words()]
    assert len(strange) == len(of_kind("misspelled"))


def test_compound_queries_differ_from_the_name_by_spaces_alone() -> None:
    for query in of_kind("compound"):
        name = query.need.types[0].name
        assert name not in query.text
        assert name.replace(" ", "") in query.text.replace(" ", "")


def test_number_queries_change_the_number() -> None:
    for query in of_kind("number"):
        name = query.need.types[0].name
        assert f" {name} " not in f" {query.text} "


def test_brand_queries_name_the_brand() -> None:
    for query in of_kind("brand"):
        assert query.text.startswith((query.need.wish("brand") or "?").lower())


def test_categories_are_those_of_the_wanted_products() -> None:
    for query in demo().queries:
        assert query.category in {product_type.department for product_type in query.need.types}


def test_frequencies_fall_from_broad_to_long_queries() -> None:
    def mean(kind: str) -> float:
        asked = [query.frequency for query in of_kind(kind)]
        return sum(asked) / len(asked)

    assert mean("broad") > mean("plain") > mean("attributes") > mean("natural")
    assert min(query.frequency for query in demo().queries) >= 1
