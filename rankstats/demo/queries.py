"""What customers look for, how they write it, and how often.

A need comes first: a type of product (or a broad word for several) and wishes taken from a product that exists. The
text is then written in one of several manners; the judges see the need, the rankers the text.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from rankstats.demo.catalogue import Product, is_suffix
from rankstats.demo.dice import Dice
from rankstats.demo.vocabulary import AUDIENCE_SYNONYM, PARAPHRASES, PRODUCT_TYPES, ProductType

Wish = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Need:
    """What a customer wants.

    Attributes
    ----------
    types : tuple of ProductType
        The types of product that are meant.
    wishes : tuple of (str, str)
        What it should be, as (aspect, value).
    """

    types: tuple[ProductType, ...]
    wishes: tuple[Wish, ...] = ()

    def wish(self, aspect: str) -> str | None:
        """Return the wish for an aspect, or None."""
        return next((value for name, value in self.wishes if name == aspect), None)


@dataclass(frozen=True, slots=True)
class Query:
    """One query of the demonstration.

    Attributes
    ----------
    query_id : str
        Its id.
    text : str
        What the customer typed.
    frequency : int
        How often it was asked in a month.
    category : str
        The department of what is wanted.
    kind : str
        How it is written: 'broad', 'plain', 'attributes', 'brand', 'natural', 'misspelled', 'compound', 'number' or
        'synonym'.
    need : Need
        What is wanted.
    """

    query_id: str
    text: str
    frequency: int
    category: str
    kind: str
    need: Need


def make_queries(products: Sequence[Product], dice: Dice) -> list[Query]:
    """Return the queries, sorted by id; the most asked ones are broad and short, the least asked long or odd."""
    drafts: dict[str, Query] = {}
    for kind, count, _, write in _KINDS:
        types = [product_type for product_type in PRODUCT_TYPES if _fits(kind, product_type)]
        start, made = dice.below(len(types)), 0
        for turn in range(20 * count):
            product_type = types[(start + turn) % len(types)]
            own = [product for product in products if product.type is product_type and not product.late]
            text, need = write(product_type, dice.pick(own), dice)
            if text not in drafts:
                drafts[text] = Query("", text, 0, product_type.department, kind, need)
                made += 1
            if made == count:
                break
    return _with_frequencies(list(drafts.values()), dice)


def _with_frequencies(drafts: list[Query], dice: Dice) -> list[Query]:
    """Give frequencies that fall as a power of the rank (in whole numbers: 60,000 / (rank + 10)^1.5), and ids."""
    first = {kind: place for kind, _, place, _ in _KINDS}
    order = sorted((first[d.kind] + dice.below(_SPREAD) - _demand(d.need), d.text) for d in drafts)
    rank = {text: place for place, (_, text) in enumerate(order, start=1)}
    shuffled = dice.shuffled(drafts)
    return [
        replace(draft, query_id=f"q{number:03d}", frequency=60_000 // math.isqrt((rank[draft.text] + 10) ** 3))
        for number, draft in enumerate(shuffled, start=1)
    ]


def _demand(need: Need) -> int:
    """Return how much of what is wanted is sold: what sells is also what is looked for."""
    return sum(product_type.demand for product_type in need.types)


def _fits(kind: str, product_type: ProductType) -> bool:
    """Return whether queries of a kind can be written for a type."""
    if kind == "broad":
        return next(other for other in PRODUCT_TYPES if other.group == product_type.group) is product_type
    if kind == "plain":
        return product_type.name != product_type.group
    return {"compound": bool(product_type.spellings), "synonym": bool(product_type.synonyms)}.get(kind, True)


def _broad(product_type: ProductType, _: Product, __: Dice) -> tuple[str, Need]:
    return product_type.group, Need(tuple(other for other in PRODUCT_TYPES if other.group == product_type.group))


def _plain(product_type: ProductType, _: Product, __: Dice) -> tuple[str, Need]:
    return product_type.name, Need((product_type,))


def _attributes(product_type: ProductType, product: Product, dice: Dice) -> tuple[str, Need]:
    need = _need(product_type, product, 1 + dice.below(2), dice)
    return _short(product_type.name, need), need


def _brand(product_type: ProductType, product: Product, _: Dice) -> tuple[str, Need]:
    brand = product.value("brand") or ""
    return f"{brand} {product_type.name}".lower(), Need((product_type,), (("brand", brand),))


def _natural(product_type: ProductType, product: Product, dice: Dice) -> tuple[str, Need]:
    """Write a whole phrase; at times one wish is said in other words than the shop's."""
    need = _need(product_type, product, 2 + dice.below(2), dice)
    features = [value for aspect, value in need.wishes if aspect == "feature"]
    reworded = next((value for value in features if value in PARAPHRASES and dice.percent(50)), None)
    parts = [
        dice.pick(("", "", "looking for", "i need", "best")),
        need.wish("colour"),
        *(value for value in features if value != reworded and not is_suffix(value)),
        product_type.name,
        need.wish("size"),
        _phrase("made of", need.wish("material")),
        _phrase("for", _audience(need, dice)),
        *(value for value in features if is_suffix(value)),
        dice.pick(PARAPHRASES[reworded]) if reworded else None,
    ]
    return " ".join(part for part in parts if part), need


def _audience(need: Need, dice: Dice) -> str | None:
    asked = need.wish("audience")
    return AUDIENCE_SYNONYM[asked] if asked and dice.percent(30) else asked


def _phrase(preposition: str, value: str | None) -> str | None:
    return f"{preposition} {value}" if value else None


def _misspelled(product_type: ProductType, product: Product, dice: Dice) -> tuple[str, Need]:
    need = _need(product_type, product, dice.below(3), dice)
    terms = _short(product_type.name, need).split()
    long_enough = [place for place, term in enumerate(terms) if len(term) >= 5]
    place = dice.pick(long_enough or [len(terms) - 1])
    terms[place] = _slip(terms[place], dice)
    return " ".join(terms), need


def _slip(term: str, dice: Dice) -> str:
    """Drop, double, swap or mistake one letter after the first."""
    at = 1 + dice.below(len(term) - 2)
    slips = (
        term[:at] + term[at + 1 :],
        term[:at] + term[at] + term[at:],
        term[:at] + term[at + 1] + term[at] + term[at + 2 :],
        term[:at] + _NEXT_KEY.get(term[at], "e") + term[at + 1 :],
    )
    return next((slip for slip in dice.shuffled(slips) if slip != term), term[:-1])


def _compound(product_type: ProductType, product: Product, dice: Dice) -> tuple[str, Need]:
    need = _need(product_type, product, dice.below(2), dice)
    return _short(dice.pick(product_type.spellings), need), need


def _number(product_type: ProductType, product: Product, dice: Dice) -> tuple[str, Need]:
    """Write the plural where the shop writes the singular, and the other way round."""
    need = _need(product_type, product, dice.below(2), dice)
    name = product_type.name
    plural = f"{name[:-2]}ves" if name.endswith("fe") else f"{name}es" if name.endswith(("x", "ch")) else f"{name}s"
    return _short(name[:-1] if name.endswith("s") else plural, need), need


def _synonym(product_type: ProductType, product: Product, dice: Dice) -> tuple[str, Need]:
    need = _need(product_type, product, dice.below(2), dice)
    return _short(dice.pick(product_type.synonyms), need), need


def _need(product_type: ProductType, product: Product, wishes: int, dice: Dice) -> Need:
    """Return a need that the product meets, with some of its facts as wishes."""
    aspects = [name for name in ("audience", "size", "colour", "material") if product.value(name)]
    chosen = dice.some([*(("feature", value) for value in product.features), *((name, "") for name in aspects)], wishes)
    return Need((product_type,), tuple((name, value or product.value(name) or "") for name, value in chosen))


def _short(name: str, need: Need) -> str:
    """Write a name and its wishes as people type them: no small words."""
    before = [need.wish("colour"), need.wish("material")]
    features = [value for aspect, value in need.wishes if aspect == "feature"]
    before += [value for value in features if not is_suffix(value)]
    after = [value for value in features if is_suffix(value)]
    parts = [*before, name, need.wish("size"), *after, need.wish("audience")]
    return " ".join(part for part in parts if part)


_Writer = Callable[[ProductType, Product, Dice], tuple[str, Need]]
_KINDS: tuple[tuple[str, int, int, _Writer], ...] = (
    ("broad", 26, 0, _broad),
    ("plain", 20, 25, _plain),
    ("number", 14, 40, _number),
    ("attributes", 58, 50, _attributes),
    ("brand", 16, 50, _brand),
    ("synonym", 16, 60, _synonym),
    ("compound", 12, 60, _compound),
    ("misspelled", 34, 75, _misspelled),
    ("natural", 44, 90, _natural),
)
"""Kinds of query: name, how many, how far down the frequency order they begin, and what writes them."""
_SPREAD = 70
"""How far a kind spreads over the frequency order."""
_NEXT_KEY = dict(zip("qwertyuiopasdfghjklzxcvbnm", "wertyuioopsdfghjkllxcvbnmn", strict=True))
