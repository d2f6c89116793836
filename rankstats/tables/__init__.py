"""What flows: judgments, rankings, hits, scores and the query table."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rankstats.tables.hits import Hits, TopLists
from rankstats.tables.items import Categories, Histories, Items
from rankstats.tables.judgments import Judgments, Source, Subtopics
from rankstats.tables.ranking import Ranking
from rankstats.tables.scores import MeasureInfo, Queries, Scores, exact_mean

__all__ = [
    "Categories",
    "Histories",
    "Hits",
    "Items",
    "Judgments",
    "MeasureInfo",
    "Queries",
    "Ranking",
    "Scores",
    "Source",
    "Subtopics",
    "TopLists",
    "exact_mean",
    "make_hits",
]

if TYPE_CHECKING:
    from rankstats.tables.hit_making import make_hits


def __getattr__(name: str) -> Any:
    # pyarrow is loaded when hits are made, not for the tables or the names of measures
    if name == "make_hits":
        return import_module("rankstats.tables.hit_making").make_hits
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
