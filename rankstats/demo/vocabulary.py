"""The words of the demonstration shop: types of product, what they can be, and how people write them.

Every brand is invented. The lists are data; `catalogue` makes products of them and `queries` makes search queries.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ProductType:
    """A type of product.

    Attributes
    ----------
    name : str
        What the shop calls it.
    group : str
        The broad word that covers it; two types of one group can stand in for each other.
    department : str
        The category shown to customers.
    features : tuple of str
        What it can have; a feature that begins with 'with' or 'for' follows the name, others precede it.
    sizes : tuple of str
        Sizes that people ask for; empty where they do not.
    worn : bool
        Made for women, men or children.
    demand : int
        How much of it is sold, relative to other types.
    spellings : tuple of str
        The name written together or apart.
    synonyms : tuple of str
        Other words for it.
    """

    name: str
    group: str
    department: str
    features: tuple[str, ...]
    sizes: tuple[str, ...] = ()
    worn: bool = False
    demand: int = 10
    spellings: tuple[str, ...] = ()
    synonyms: tuple[str, ...] = ()


CLOTHING, FOOTWEAR, CAMPING, BAGS, KITCHEN, CYCLING = (
    "Clothing",
    "Footwear",
    "Camping",
    "Bags",
    "Kitchen",
    "Cycling",
)

_RAIN = ("waterproof", "breathable", "packable", "lightweight", "with hood", "with taped seams")
_WARM = ("insulated", "windproof", "lightweight", "packable", "with hood", "with zip pockets")
_LEGS = ("stretch", "quick dry", "lightweight", "with zip pockets", "with belt")
_SHOES = ("waterproof", "breathable", "lightweight", "with grip sole", "for wide feet", "with ankle support")
_PACKS = ("waterproof", "lightweight", "padded", "with hip belt", "with laptop sleeve", "with bottle pocket")
_PANS = ("non stick", "induction", "ovenproof", "with lid", "with wooden handle", "dishwasher safe")
_LITRES = ("20 litre", "30 litre", "45 litre", "60 litre")
_BOTTLES = ("500 ml", "750 ml", "1 litre")
_TENTS = ("2 person", "3 person", "4 person", "6 person")
_PAN_SIZES = ("20 cm", "24 cm", "28 cm")

PRODUCT_TYPES = (
    ProductType(
        "rain jacket",
        "jacket",
        CLOTHING,
        _RAIN,
        worn=True,
        demand=30,
        spellings=("rainjacket",),
        synonyms=("raincoat", "anorak"),
    ),
    ProductType("hiking jacket", "jacket", CLOTHING, _RAIN, worn=True, demand=24, synonyms=("trekking parka",)),
    ProductType("down jacket", "jacket", CLOTHING, _WARM, worn=True, demand=26, synonyms=("puffer coat",)),
    ProductType("fleece jacket", "jacket", CLOTHING, _WARM, worn=True, demand=18, synonyms=("fleece pullover",)),
    ProductType("hiking trousers", "trousers", CLOTHING, _LEGS, worn=True, demand=20, synonyms=("hiking pants",)),
    ProductType("rain trousers", "trousers", CLOTHING, _RAIN[:4], worn=True, demand=10, synonyms=("rain pants",)),
    ProductType("hiking shorts", "shorts", CLOTHING, _LEGS, worn=True, demand=10),
    ProductType(
        "base layer",
        "shirt",
        CLOTHING,
        ("thermal", "breathable", "quick dry", "with long sleeves"),
        worn=True,
        demand=10,
        spellings=("baselayer",),
        synonyms=("thermal underwear",),
    ),
    ProductType(
        "hiking shirt",
        "shirt",
        CLOTHING,
        ("quick dry", "breathable", "with long sleeves", "with collar"),
        worn=True,
        demand=12,
    ),
    ProductType(
        "hiking socks",
        "socks",
        CLOTHING,
        ("cushioned", "thermal", "quick dry", "with reinforced heel"),
        worn=True,
        demand=22,
    ),
    ProductType(
        "winter gloves",
        "gloves",
        CLOTHING,
        ("waterproof", "insulated", "windproof", "with touchscreen tips"),
        worn=True,
        demand=14,
        synonyms=("mittens",),
    ),
    ProductType(
        "beanie",
        "hat",
        CLOTHING,
        ("thermal", "lined", "reflective", "with pompom"),
        worn=True,
        demand=12,
        synonyms=("woolly hat",),
    ),
    ProductType(
        "sun hat",
        "hat",
        CLOTHING,
        ("breathable", "packable", "with chin strap", "with wide brim"),
        worn=True,
        demand=8,
        spellings=("sunhat",),
    ),
    ProductType("hiking boots", "boots", FOOTWEAR, _SHOES, worn=True, demand=34, synonyms=("walking boots",)),
    ProductType(
        "winter boots",
        "boots",
        FOOTWEAR,
        ("insulated", *_SHOES[:1], "lined", "with grip sole"),
        worn=True,
        demand=18,
        synonyms=("snow boots",),
    ),
    ProductType(
        "rubber boots",
        "boots",
        FOOTWEAR,
        ("waterproof", "lined", "lightweight", "with grip sole"),
        worn=True,
        demand=10,
        synonyms=("wellies",),
    ),
    ProductType("trail running shoes", "shoes", FOOTWEAR, _SHOES, worn=True, demand=24, synonyms=("trail runners",)),
    ProductType(
        "hiking sandals",
        "sandals",
        FOOTWEAR,
        ("quick dry", "lightweight", "padded", "with toe cap"),
        worn=True,
        demand=10,
    ),
    ProductType(
        "trekking tent",
        "tent",
        CAMPING,
        ("lightweight", "waterproof", "freestanding", "with porch"),
        _TENTS[:2],
        demand=22,
    ),
    ProductType(
        "family tent",
        "tent",
        CAMPING,
        ("waterproof", "blackout", "with porch", "with standing height"),
        _TENTS[2:],
        demand=24,
    ),
    ProductType(
        "sleeping bag",
        "sleeping bag",
        CAMPING,
        ("lightweight", "thermal", "insulated", "with hood", "for summer"),
        demand=26,
        spellings=("sleepingbag",),
    ),
    ProductType(
        "sleeping mat",
        "sleeping mat",
        CAMPING,
        ("inflatable", "insulated", "lightweight", "with pillow"),
        demand=18,
        spellings=("sleepingmat",),
        synonyms=("sleeping pad", "camping mattress"),
    ),
    ProductType(
        "camping stove",
        "stove",
        CAMPING,
        ("compact", "windproof", "lightweight", "with igniter"),
        demand=14,
        synonyms=("gas cooker",),
    ),
    ProductType(
        "headlamp",
        "lamp",
        CAMPING,
        ("rechargeable", "waterproof", "dimmable", "with red light"),
        demand=20,
        spellings=("head lamp",),
        synonyms=("head torch",),
    ),
    ProductType("camping lantern", "lamp", CAMPING, ("rechargeable", "dimmable", "solar", "with hook"), demand=10),
    ProductType("camping chair", "chair", CAMPING, ("folding", "compact", "padded", "with cup holder"), demand=14),
    ProductType(
        "hammock", "hammock", CAMPING, ("lightweight", "packable", "with mosquito net", "with straps"), demand=8
    ),
    ProductType(
        "cool box",
        "cool box",
        CAMPING,
        ("insulated", "electric", "with wheels", "with handle"),
        _LITRES[1:],
        demand=12,
        spellings=("coolbox",),
        synonyms=("cooler",),
    ),
    ProductType("water filter", "filter", CAMPING, ("compact", "lightweight", "with pump", "with pouch"), demand=8),
    ProductType(
        "hiking backpack",
        "backpack",
        BAGS,
        _PACKS,
        _LITRES[1:],
        demand=30,
        spellings=("hiking back pack",),
        synonyms=("hiking rucksack",),
    ),
    ProductType(
        "daypack",
        "backpack",
        BAGS,
        _PACKS,
        _LITRES[:2],
        demand=16,
        spellings=("day pack",),
        synonyms=("small rucksack",),
    ),
    ProductType(
        "duffel bag",
        "travel bag",
        BAGS,
        ("waterproof", "padded", "with wheels", "with shoulder strap"),
        _LITRES[2:],
        demand=14,
        synonyms=("holdall",),
    ),
    ProductType(
        "bike pannier",
        "bike bag",
        CYCLING,
        ("waterproof", "reflective", "with quick release", "with laptop sleeve"),
        _LITRES[:1],
        demand=10,
        synonyms=("bicycle saddlebag",),
    ),
    ProductType(
        "bike helmet",
        "helmet",
        CYCLING,
        ("lightweight", "ventilated", "reflective", "with rear light"),
        worn=True,
        demand=22,
        synonyms=("cycle helmet",),
    ),
    ProductType(
        "bike lock",
        "lock",
        CYCLING,
        ("heavy duty", "folding", "with key", "with code"),
        demand=14,
        synonyms=("bicycle chain",),
    ),
    ProductType(
        "bike light",
        "bike light",
        CYCLING,
        ("rechargeable", "waterproof", "with mount", "with brake sensor"),
        demand=12,
        spellings=("bikelight",),
        synonyms=("bicycle lamp",),
    ),
    ProductType("bike pump", "pump", CYCLING, ("compact", "with gauge", "with mount", "electric"), demand=10),
    ProductType("frying pan", "pan", KITCHEN, _PANS, _PAN_SIZES, demand=28, synonyms=("skillet",)),
    ProductType(
        "saucepan",
        "pan",
        KITCHEN,
        _PANS,
        _PAN_SIZES[:2],
        demand=18,
        spellings=("sauce pan",),
        synonyms=("cooking pot",),
    ),
    ProductType("casserole", "casserole", KITCHEN, _PANS, _PAN_SIZES[1:], demand=10, synonyms=("dutch oven",)),
    ProductType(
        "kettle",
        "kettle",
        KITCHEN,
        ("electric", "cordless", "whistling", "with temperature control"),
        _BOTTLES[2:],
        demand=24,
    ),
    ProductType(
        "kitchen knife",
        "knife",
        KITCHEN,
        ("forged", "dishwasher safe", "with wooden handle", "with sheath"),
        _PAN_SIZES[:1],
        demand=18,
        synonyms=("cooks blade",),
    ),
    ProductType(
        "cutting board",
        "board",
        KITCHEN,
        ("reversible", "dishwasher safe", "with juice groove", "with handle"),
        demand=12,
        synonyms=("chopping block",),
    ),
    ProductType(
        "water bottle",
        "bottle",
        KITCHEN,
        ("insulated", "leakproof", "with straw", "with carabiner"),
        _BOTTLES,
        demand=28,
        spellings=("waterbottle",),
        synonyms=("drinking flask",),
    ),
    ProductType(
        "vacuum flask",
        "bottle",
        KITCHEN,
        ("insulated", "leakproof", "with cup", "with handle"),
        _BOTTLES[1:],
        demand=14,
        synonyms=("thermo jug",),
    ),
    ProductType(
        "lunch box",
        "lunch box",
        KITCHEN,
        ("leakproof", "insulated", "with compartments", "with cutlery"),
        demand=14,
        spellings=("lunchbox",),
        synonyms=("bento",),
    ),
    ProductType(
        "coffee maker",
        "coffee maker",
        KITCHEN,
        ("compact", "with timer", "with grinder", "induction"),
        demand=18,
        synonyms=("espresso pot",),
    ),
)

ACCESSORIES = (
    ProductType("jacket wash", "jacket", CLOTHING, ("gentle", "concentrated"), demand=3),
    ProductType("jacket hanger", "jacket", CLOTHING, ("wooden", "folding"), demand=2),
    ProductType("glove liner", "gloves", CLOTHING, ("thermal", "thin"), demand=2),
    ProductType("boot laces", "boots", FOOTWEAR, ("round", "waxed"), demand=3),
    ProductType("boots wax", "boots", FOOTWEAR, ("natural", "clear"), demand=3),
    ProductType("shoes bag", "shoes", FOOTWEAR, ("ventilated", "packable"), demand=2),
    ProductType("tent pegs", "tent", CAMPING, ("lightweight", "heavy duty"), demand=4),
    ProductType("tent repair tape", "tent", CAMPING, ("clear", "waterproof"), demand=2),
    ProductType("tent footprint", "tent", CAMPING, ("lightweight", "waterproof"), demand=3),
    ProductType("sleeping bag liner", "sleeping bag", CAMPING, ("thermal", "lightweight"), demand=3),
    ProductType("stove cartridge", "stove", CAMPING, ("refillable", "compact"), demand=4),
    ProductType("backpack cover", "backpack", BAGS, ("waterproof", "reflective"), demand=3),
    ProductType("helmet visor", "helmet", CYCLING, ("clear", "tinted"), demand=1),
    ProductType("bike lock holder", "lock", CYCLING, ("compact", "with mount"), demand=1),
    ProductType("pan lid", "pan", KITCHEN, ("ovenproof", "with steam vent"), demand=3),
    ProductType("pan rack", "pan", KITCHEN, ("compact", "folding"), demand=2),
    ProductType("bottle brush", "bottle", KITCHEN, ("long", "with handle"), demand=3),
    ProductType("knife sharpener", "knife", KITCHEN, ("compact", "electric"), demand=4),
    ProductType("kettle descaler", "kettle", KITCHEN, ("gentle", "concentrated"), demand=3),
    ProductType("coffee maker filters", "coffee maker", KITCHEN, ("unbleached", "compact"), demand=3),
)
"""Things for a product, which are not the product: someone who asks for a tent does not want pegs."""

BRANDS = {
    "Alderpeak": ("Summit", "Ridge"),
    "Brackenfell": ("Moor", "Heath"),
    "Granmark": ("Classic", "Pro"),
    "Hollowbrook": ("Home", "Daily"),
    "Kestrun": ("Swift", "Aero"),
    "Lumivale": ("Glow", "Nova"),
    "Norrvik": ("Fjord", "Skerry"),
    "Ostervane": ("Drift", "Gale"),
    "Polarhaven": ("Frost", "Tundra"),
    "Ravenmoor": ("Scout", "Nomad"),
    "Solstrand": ("Coast", "Dune"),
    "Tarnwood": ("Grove", "Trail"),
}
"""Invented brands and their product lines."""

COLOURS = ("black", "blue", "red", "green", "grey", "orange", "yellow")
AUDIENCES = ("women", "men", "kids")
AUDIENCE_IN_TITLE = {"women": "Women's", "men": "Men's", "kids": "Kids'"}
AUDIENCE_SYNONYM = {"women": "ladies", "men": "gents", "kids": "children"}
_MADE_OF = {
    ("nylon", "polyester"): ("rain jacket", "hiking jacket", "down jacket", "rain trousers", "sleeping bag"),
    ("wool", "polyester"): ("fleece jacket", "base layer", "beanie"),
    ("cotton", "polyester", "nylon"): ("hiking trousers", "hiking shorts", "hiking shirt", "hammock", "family tent"),
    ("wool", "cotton"): ("hiking socks",),
    ("leather", "nylon"): ("winter gloves", "hiking sandals"),
    ("cotton", "straw"): ("sun hat",),
    ("leather", "suede"): ("hiking boots", "winter boots"),
    ("rubber", "neoprene"): ("rubber boots",),
    ("mesh", "nylon"): ("trail running shoes",),
    ("nylon", "silnylon"): ("trekking tent",),
    ("foam", "polyester"): ("sleeping mat",),
    ("aluminium", "plastic"): ("headlamp", "bike light", "bike pump", "water filter", "cool box"),
    ("aluminium", "steel"): ("camping stove", "camping lantern", "camping chair"),
    ("canvas", "nylon", "recycled polyester"): ("hiking backpack", "daypack", "duffel bag", "bike pannier"),
    ("plastic", "carbon"): ("bike helmet",),
    ("steel", "titanium"): ("bike lock",),
    ("stainless steel", "cast iron", "aluminium"): ("frying pan", "saucepan", "casserole"),
    ("stainless steel", "glass"): ("kettle", "coffee maker", "vacuum flask"),
    ("stainless steel", "carbon steel"): ("kitchen knife",),
    ("bamboo", "oak", "plastic"): ("cutting board",),
    ("stainless steel", "aluminium", "glass"): ("water bottle",),
    ("stainless steel", "plastic"): ("lunch box",),
}
MATERIALS = {name: materials for materials, names in _MADE_OF.items() for name in names}
"""What a type of product can be made of; accessories are without."""

PARAPHRASES = {
    "waterproof": ("to keep the rain out", "for rainy days"),
    "insulated": ("for cold winter days", "to keep the cold out"),
    "thermal": ("for freezing nights", "to keep me warm"),
    "lightweight": ("not too heavy", "for long walks"),
    "packable": ("to fold up small", "to keep in my bag"),
    "compact": ("for a small cupboard", "for small spaces"),
    "rechargeable": ("charging by usb", "without batteries"),
    "breathable": ("not sweaty", "for hot days"),
}
"""How people say what they want without the shop's word for it."""
