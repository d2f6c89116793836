"""Launch or not? Compare rankers query by query, test the differences honestly, render one report.

The public names are loaded when they are first used, so that importing rankstats is quick:

* `evaluate`, `compare_systems`, `compare_scores` — from files, dictionaries, named tuples or frames to values, or to a
  comparison;
* `Plan`, `read_plan`, `compare`, `collect` — what to compare, and the comparison;
* `Policy`, `read_policy`, `decide` — what a candidate must show, and whether it does;
* `readout`, `Readout`, `Metric`, `ExperimentSettings` — the readout of an A/B experiment;
* `Comparison`, `Scores`, `Judgments`, `Queries` — what flows;
* `interleaving_readout` — which ranker users prefer where two share a page;
* `parse_measure`, `parse_measures` — names such as ``nDCG@10`` to measures;
* `RankstatsError` and its kinds — what goes wrong with bad input.

The packages `rankstats.stats` (arrays in, results out) and `rankstats.measures` stand on their own.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rankstats.errors import InputError, MeasureError, PlanError, RankstatsError

if TYPE_CHECKING:
    from rankstats.api import compare_scores, compare_systems, evaluate, explain, readout
    from rankstats.comparison import Comparison, Evidence, collect, compare
    from rankstats.conventions import Policies
    from rankstats.decision import Decision, Policy, decide, read_policy
    from rankstats.experiment import ExperimentSettings, Metric, Readout
    from rankstats.interleaving import interleaving_readout
    from rankstats.measures import parse_measure, parse_measures
    from rankstats.plan import Plan, read_plan
    from rankstats.tables import Judgments, Queries, Scores
    from rankstats.tables.engines.choice import EngineChoice

__version__ = "0.1.0"

_HOMES = {
    "compare_scores": "api",
    "compare_systems": "api",
    "evaluate": "api",
    "explain": "api",
    "readout": "api",
    "Comparison": "comparison",
    "Evidence": "comparison",
    "collect": "comparison",
    "compare": "comparison",
    "Policies": "conventions",
    "ExperimentSettings": "experiment",
    "Metric": "experiment",
    "Readout": "experiment",
    "Decision": "decision",
    "Policy": "decision",
    "decide": "decision",
    "read_policy": "decision",
    "interleaving_readout": "interleaving",
    "parse_measure": "measures",
    "parse_measures": "measures",
    "Plan": "plan",
    "read_plan": "plan",
    "Judgments": "tables",
    "Queries": "tables",
    "Scores": "tables",
    "EngineChoice": "tables.engines.choice",
}

__all__ = [
    "Comparison",
    "Decision",
    "EngineChoice",
    "Evidence",
    "ExperimentSettings",
    "InputError",
    "Judgments",
    "MeasureError",
    "Metric",
    "Plan",
    "PlanError",
    "Policies",
    "Policy",
    "Queries",
    "RankstatsError",
    "Readout",
    "Scores",
    "collect",
    "compare",
    "compare_scores",
    "compare_systems",
    "decide",
    "evaluate",
    "explain",
    "interleaving_readout",
    "parse_measure",
    "parse_measures",
    "read_plan",
    "read_policy",
    "readout",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"rankstats.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'rankstats' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
