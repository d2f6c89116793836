"""Options that say where runs are ranked, and what that may take."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from rankstats.tables.engines.choice import ENGINES, EngineChoice

if TYPE_CHECKING:
    from rankstats.plan import Plan


def add_engine_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the choice of the engine."""
    group = parser.add_argument_group("runs larger than memory (the values are the same)")
    group.add_argument(
        "--engine",
        choices=ENGINES,
        default="auto",
        help="local: one run at a time in memory, the fastest; duckdb: TREC text, headed text and Parquet in pieces, "
        "also several files a run (NAME='parts/*.parquet', or a folder); auto (default): duckdb for several files and "
        "for a file larger than a quarter of the memory (compressed: a sixteenth)",
    )
    add_room_arguments(group, "half the memory")
    group.add_argument(
        "--explain-plan", action="store_true", help="print the engine's plan for every step and run, and do nothing"
    )


def add_room_arguments(group: argparse._ArgumentGroup, default: str) -> None:
    """Add what the embedded engine may take."""
    group.add_argument(
        "--memory-limit", metavar="SIZE", help=f"what the process is to stay below, such as 4GiB (default: {default})"
    )
    group.add_argument(
        "--temp-dir", metavar="DIR", help="where DuckDB puts what does not fit (default: the system's temporary folder)"
    )


def engine_choice(options: argparse.Namespace) -> EngineChoice:
    """Return the engine that options choose."""
    return EngineChoice(options.engine, options.memory_limit, options.temp_dir)


def print_engine_plans(plan: Plan, choice: EngineChoice) -> int:
    """Print what an engine would do with the runs of a plan."""
    from rankstats.comparison.engines import explain_runs  # noqa: PLC0415  heavy
    from rankstats.errors import PlanError  # noqa: PLC0415  with the rest

    if plan.qrels is None or not plan.runs:
        raise PlanError("--explain-plan explains how runs are ranked: give --qrels FILE and the runs")
    print(explain_runs(plan, plan.qrels, plan.runs, choice), end="")
    return 0
