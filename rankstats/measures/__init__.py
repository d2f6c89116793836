"""Measures: names such as ``nDCG@10`` to values per query."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rankstats.measures.catalogue import DECLARATIONS, WRAPPERS, spellings
from rankstats.measures.declaration import Declaration
from rankstats.measures.measure import Measure
from rankstats.measures.names import parse_measure, parse_measures, split_measures
from rankstats.measures.values import (
    Exchangeable,
    contributions,
    documents_left_out,
    evaluate,
    evaluate_systems,
    evaluate_together,
    exchangeable,
)

if TYPE_CHECKING:
    from rankstats.measures.ties import TieSensitivity, tie_sensitivity
    from rankstats.measures.unjudged import UnjudgedBounds, unjudged_bounds

_HOMES = {
    "TieSensitivity": "ties",
    "UnjudgedBounds": "unjudged",
    "tie_sensitivity": "ties",
    "unjudged_bounds": "unjudged",
}

__all__ = [
    "DECLARATIONS",
    "Declaration",
    "Exchangeable",
    "Measure",
    "TieSensitivity",
    "UnjudgedBounds",
    "WRAPPERS",
    "contributions",
    "documents_left_out",
    "evaluate",
    "evaluate_systems",
    "evaluate_together",
    "exchangeable",
    "parse_measure",
    "parse_measures",
    "spellings",
    "split_measures",
    "tie_sensitivity",
    "unjudged_bounds",
]


def __getattr__(name: str) -> Any:
    # what a comparison asks of its claims is not needed for the values
    if name in _HOMES:
        return getattr(import_module(f"rankstats.measures.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'rankstats.measures' has no attribute {name!r}")
