"""The shop's products: what each one is, which the judges know, and its title, which the rankers see."""

from __future__ import annotations

from dataclasses import dataclass

from rankstats.demo.dice import Dice
from rankstats.demo.vocabulary import (
    ACCESSORIES,
    AUDIENCE_IN_TITLE,
    AUDIENCES,
    BRANDS,
    COLOURS,
    MATERIALS,
    PRODUCT_TYPES,
    ProductType,
)

PRODUCTS_PER_TYPE = 8
PRODUCTS_PER_ACCESSORY = 2


@dataclass(frozen=True, slots=True)
class Product:
    """One product.

    Attributes
    ----------
    doc_id : str
        Its id: the type, the brand and a number.
    title : str
        What the shop shows and what the rankers search; it leaves out some of the facts.
    type : ProductType
        What it is.
    facts : frozenset of (str, str)
        What is true of it, as (aspect, value): brand, colour, material, audience, size, feature.
    sales : int
        Pieces sold last year.
    late : bool
        Listed after the judges had finished: without judgments.
    """

    doc_id: str
    title: str
    type: ProductType
    facts: frozenset[tuple[str, str]]
    sales: int
    late: bool

    def value(self, aspect: str) -> str | None:
        """Return the product's value of an aspect that it has once at most, such as 'colour'."""
        return next((value for name, value in self.facts if name == aspect), None)

    @property
    def features(self) -> list[str]:
        """The product's features in the order in which its type lists them."""
        return [feature for feature in self.type.features if ("feature", feature) in self.facts]


def is_suffix(feature: str) -> bool:
    """Return whether a feature is written after the name ('with hood') and not before it ('waterproof').

    Examples
    --------
    >>> is_suffix("with hood"), is_suffix("waterproof")
    (True, False)
    """
    return feature.startswith(("with ", "for "))


def make_catalogue(dice: Dice) -> list[Product]:
    """Return the products, sorted by id."""
    types = [product_type for product_type in PRODUCT_TYPES for _ in range(PRODUCTS_PER_TYPE)]
    types += [product_type for product_type in ACCESSORIES for _ in range(PRODUCTS_PER_ACCESSORY)]
    numbers = dice.shuffled(range(1, len(types) + 1))
    products = [_product(product_type, number, dice) for product_type, number in zip(types, numbers, strict=True)]
    return sorted(products, key=lambda product: product.doc_id)


def _product(product_type: ProductType, number: int, dice: Dice) -> Product:
    brand = dice.pick(list(BRANDS))
    facts = [("brand", brand), ("colour", dice.pick(COLOURS))]
    if product_type.name in MATERIALS:
        facts.append(("material", dice.pick(MATERIALS[product_type.name])))
    facts += [("feature", feature) for feature in dice.some(product_type.features, 2 + dice.below(2))]
    if product_type.sizes:
        facts.append(("size", dice.pick(product_type.sizes)))
    if product_type.worn:
        facts.append(("audience", dice.pick(AUDIENCES)))
    return Product(
        doc_id=f"{product_type.name}-{brand}-{number:03d}".replace(" ", "-").lower(),
        title=_title(product_type, dict(facts), [value for aspect, value in facts if aspect == "feature"], dice),
        type=product_type,
        facts=frozenset(facts),
        sales=_sales(product_type, dict(facts).get("audience"), dice),
        late=dice.percent(4),
    )


def _sales(product_type: ProductType, audience: str | None, dice: Dice) -> int:
    """Draw sales: few products of a type sell most of it, and children's sizes sell less."""
    of_type = 60 * product_type.demand // (1 + dice.below(12))
    return of_type // 3 if audience == "kids" else of_type


def _title(product_type: ProductType, facts: dict[str, str], features: list[str], dice: Dice) -> str:
    shown = [feature for feature in features if dice.percent(80)]
    words = [facts["brand"]]
    if dice.percent(60):
        words.append(dice.pick(BRANDS[facts["brand"]]))
    words += [feature for feature in shown if not is_suffix(feature)]
    if "material" in facts and dice.percent(55):
        words.append(facts["material"])
    words.append(_written(product_type, dice))
    if "size" in facts:
        words.append(facts["size"])
    words += [feature for feature in shown if is_suffix(feature)]
    if "audience" in facts:
        words.append(AUDIENCE_IN_TITLE[facts["audience"]])
    if dice.percent(75):
        words.append(facts["colour"])
    return " ".join(word if word[0].isdigit() or is_suffix(word) else _capitals(word) for word in words)


def _capitals(name: str) -> str:
    return " ".join(word[0].upper() + word[1:] for word in name.split())


def _written(product_type: ProductType, dice: Dice) -> str:
    """Choose how a title names the type: mostly the shop's word, at times another spelling or another word."""
    roll = dice.below(100)
    if roll < 20 and product_type.spellings:
        return dice.pick(product_type.spellings)
    if roll >= 85 and product_type.synonyms:
        return dice.pick(product_type.synonyms)
    return product_type.name
