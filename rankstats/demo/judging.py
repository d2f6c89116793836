"""The judges: grades from what a product is and what was wanted. They see neither titles nor rankings."""

from __future__ import annotations

from collections.abc import Sequence

from rankstats.demo.catalogue import Product
from rankstats.demo.dice import Dice
from rankstats.demo.queries import Need, Query
from rankstats.demo.vocabulary import ACCESSORIES


def grade(need: Need, product: Product) -> int:
    """Return how well a product meets a need.

    Parameters
    ----------
    need : Need
        What is wanted.
    product : Product
        What is offered.

    Returns
    -------
    int
        3: the product that is wanted, every wish met; 2: the right type, at least half of the wishes met (or a
        children's size that nobody asked for); 1: the right type with fewer of them, or a type that can stand in for
        it (for the same audience); 0: anything else, accessories included.
    """
    if product.type in ACCESSORIES:
        return 0
    missed = sum(not _met(wish, product) for wish in need.wishes)
    if product.type not in need.types:
        stands_in = product.type.group == need.types[0].group
        wrong_audience = need.wish("audience") not in (None, product.value("audience"))
        return int(stands_in and not wrong_audience)
    if missed == 0:
        unasked = product.value("audience") == "kids" and need.wish("audience") is None
        return 2 if unasked else 3
    return 2 if 2 * missed <= len(need.wishes) else 1


def judge(products: Sequence[Product], queries: Sequence[Query], dice: Dice) -> list[tuple[str, str, int]]:
    """Return (query_id, doc_id, grade) of every pair that was judged, sorted.

    Everything in the department asked for was judged, everything that meets one of the wishes, and about half of
    the rest; products that came into the shop later were not.
    """
    rows = []
    for query in queries:
        for product in products:
            near = product.type.department == query.category or any(w in product.facts for w in query.need.wishes)
            if (near or dice.percent(50)) and not product.late:
                rows.append((query.query_id, product.doc_id, grade(query.need, product)))
    return sorted(rows)


def _met(wish: tuple[str, str], product: Product) -> bool:
    return wish in product.facts
