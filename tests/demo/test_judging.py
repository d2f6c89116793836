"""Grades follow from needs and products alone."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import pytest

import rankstats.demo
from rankstats.demo.catalogue import Product
from rankstats.demo.dice import Dice
from rankstats.demo.judging import grade, judge
from rankstats.demo.queries import Need
from rankstats.demo.vocabulary import ACCESSORIES, PRODUCT_TYPES
from tests.demo.collection import demo

TYPES = {product_type.name: product_type for product_type in (*PRODUCT_TYPES, *ACCESSORIES)}


def product(name: str, *facts: tuple[str, str]) -> Product:
    return Product("id", "", TYPES[name], frozenset(facts), 1, False)


WOMEN_HOOD = (("audience", "women"), ("feature", "with hood"))


@pytest.mark.parametrize(
    ("offered", "expected"),
    [
        (product("rain jacket", *WOMEN_HOOD, ("colour", "red")), 3),
        (product("rain jacket", ("audience", "women"), ("colour", "red")), 2),
        (product("rain jacket", ("audience", "men")), 1),
        (product("down jacket", *WOMEN_HOOD), 1),
        (product("down jacket", ("audience", "men"), ("feature", "with hood")), 0),
        (product("jacket wash"), 0),
        (product("kettle"), 0),
    ],
)
def test_grades_of_a_need_with_two_wishes(offered: Product, expected: int) -> None:
    assert grade(Need((TYPES["rain jacket"],), WOMEN_HOOD), offered) == expected


def test_a_childrens_size_that_nobody_asked_for_is_second_best() -> None:
    need = Need((TYPES["rain jacket"], TYPES["down jacket"]))
    assert grade(need, product("down jacket", ("audience", "kids"))) == 2
    assert grade(need, product("down jacket", ("audience", "men"))) == 3


def test_judges_do_not_read_titles() -> None:
    blank = [replace(offered, title="") for offered in demo().products]
    rows = judge(blank, demo().queries[:20], Dice(3))
    assert rows == judge(demo().products, demo().queries[:20], Dice(3))


def test_judges_do_not_read_the_texts_of_queries() -> None:
    blank = [replace(query, text="") for query in demo().queries[:20]]
    assert judge(demo().products, blank, Dice(3)) == judge(demo().products, demo().queries[:20], Dice(3))


def test_judgments_do_not_depend_on_the_rankers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rankstats.demo, "RANKERS", {"nothing": lambda products, queries: [[] for _ in queries]})
    other = rankstats.demo.make_demo()
    assert other.runs == {"nothing": ()}
    assert other.qrels == demo().qrels


def test_what_is_judged_knows_no_ranker() -> None:
    folder = Path(rankstats.demo.__file__).parent
    for name in ("judging", "queries", "catalogue", "vocabulary", "dice"):
        tree = ast.parse((folder / f"{name}.py").read_text(encoding="utf-8"))
        imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        assert "rankstats.demo.rankers" not in imported


def test_late_products_are_unjudged() -> None:
    late = {offered.doc_id for offered in demo().products if offered.late}
    assert late
    assert not late & {doc_id for _, doc_id, _ in demo().qrels}
