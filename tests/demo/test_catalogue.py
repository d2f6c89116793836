"""Products: what the words of the shop promise, and what titles show of it."""

from __future__ import annotations

import pytest

from rankstats.demo.dice import Dice
from rankstats.demo.rankers import words
from rankstats.demo.vocabulary import ACCESSORIES, BRANDS, MATERIALS, PARAPHRASES, PRODUCT_TYPES
from tests.demo.collection import demo


def test_every_type_has_materials_and_every_material_a_type() -> None:
    assert set(MATERIALS) == {product_type.name for product_type in PRODUCT_TYPES}


def test_every_accessory_belongs_to_a_group_of_products() -> None:
    assert {accessory.group for accessory in ACCESSORIES} <= {product_type.group for product_type in PRODUCT_TYPES}


def test_every_paraphrase_is_of_a_feature() -> None:
    assert set(PARAPHRASES) <= {feature for product_type in PRODUCT_TYPES for feature in product_type.features}


def test_titles_say_nothing_that_is_not_true() -> None:
    lines = {word for names in BRANDS.values() for name in names for word in words(name)}
    for product in demo().products:
        names = (product.type.name, *product.type.spellings, *product.type.synonyms)
        true = {word for _, value in product.facts for word in words(value)}
        true |= {word for name in names for word in words(name)} | {"womens", "mens"}
        assert set(words(product.title)) <= true | lines


def test_titles_leave_out_some_facts() -> None:
    silent = [
        product
        for product in demo().products
        if any(word not in words(product.title) for feature in product.features for word in words(feature))
    ]
    assert 0.2 < len(silent) / len(demo().products) < 0.7


def test_choices_are_even_and_repeatable() -> None:
    dice = Dice(11)
    drawn = [dice.below(6) for _ in range(6000)]
    assert all(850 < drawn.count(face) < 1150 for face in range(6))
    assert [Dice(5).below(1000) for _ in range(3)] == [Dice(5).below(1000)] * 3
    assert sorted(dice.shuffled(range(50))) == list(range(50))


@pytest.mark.parametrize("count", [0, 2, 9])
def test_some_keeps_the_order(count: int) -> None:
    chosen = Dice(1).some("abcde", count)
    assert chosen == sorted(set(chosen))
    assert len(chosen) == min(count, 5)
