"""Measures: names such as ``nDCG@10`` to values per query."""

from rankstats.measures.catalogue import DECLARATIONS, spellings
from rankstats.measures.declaration import Declaration
from rankstats.measures.measure import Measure
from rankstats.measures.names import parse_measure, parse_measures, split_measures
from rankstats.measures.values import contributions, evaluate, evaluate_systems

__all__ = [
    "DECLARATIONS",
    "Declaration",
    "Measure",
    "contributions",
    "evaluate",
    "evaluate_systems",
    "parse_measure",
    "parse_measures",
    "spellings",
    "split_measures",
]
