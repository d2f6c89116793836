"""What flows: judgments, rankings, hits, scores and the query table."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rankstats.tables.hits import Hits, TopLists
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
    from rankstats.tables.items import Categories, Histories, Items

_HOMES = {"Categories": "items", "Histories": "items", "Items": "items", "make_hits": "hit_making"}


def __getattr__(name: str) -> Any:
    # pyarrow is loaded when hits are made, not for the tables or the names of measures; few have an item table
    if name in _HOMES:
        return getattr(import_module(f"rankstats.tables.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
