"""Measures: names such as ``nDCG@10`` to values per query."""

from rankstats.measures.catalogue import DECLARATIONS, WRAPPERS, spellings
from rankstats.measures.declaration import Declaration
from rankstats.measures.measure import Measure
from rankstats.measures.names import parse_measure, parse_measures, split_measures
from rankstats.measures.ties import TieSensitivity, tie_sensitivity
from rankstats.measures.unjudged import UnjudgedBounds, unjudged_bounds
from rankstats.measures.values import (
    Exchangeable,
    contributions,
    documents_left_out,
    evaluate,
    evaluate_systems,
    evaluate_together,
    exchangeable,
)

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
