"""Which runs an engine ranks where they are, and what the engine plans to do."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankstats.inputs import read_judgments
from rankstats.measures import parse_measures
from rankstats.plan import Plan
from rankstats.tables.engines.choice import PART_OF_MEMORY, EngineChoice

if TYPE_CHECKING:
    from rankstats.inputs.lazy_frames import EngineRead

_MOST_TIMES = 4
"""A compressed file is taken to hold at most so many times its size; as in `inputs.engine_files`."""


def run_in_engine(
    plan: Plan,
    name: str,
    data: Any,
    choice: EngineChoice,
    *,
    report: Callable[[str], None] = lambda what: None,
    digest: bool = True,
) -> EngineRead | None:
    """Return a run that an engine ranks where it is, or None for one that is read into memory.

    Parameters
    ----------
    plan : Plan
        Formats, columns and policies.
    name : str
        The name of the run.
    data : path, frame or anything else
        The run.
    choice : EngineChoice
        The engine, and what it may take.
    report : callable, optional
        Called with what is being done.
    digest : bool, optional
        Whether files get a digest.
    """
    if choice.name == "local" or not _may_be_held(data, choice):
        return None
    from rankstats.inputs.engine_runs import read_engine_run  # noqa: PLC0415  loads what small files do without

    return read_engine_run(
        data,
        name,
        plan.policies,
        choice,
        form=plan.run_format.get(name, plan.run_format.get("")),
        columns=(plan.columns.query_id, plan.columns.document, plan.columns.score),
        report=report,
        digest=digest,
    )


def _may_be_held(data: Any, choice: EngineChoice) -> bool:
    """Say, at no cost, whether an engine could be meant: for nearly all runs it is not."""
    if not isinstance(data, str | Path):
        return not isinstance(data, bytes | Mapping | Sequence)
    if choice.name == "duckdb" or re.search(r"[*?]", str(data)):
        return True
    try:
        path = Path(data)
        return path.is_dir() or path.stat().st_size * _MOST_TIMES * PART_OF_MEMORY > choice.memory
    except (OSError, ValueError):  # the readers of files say what is wrong
        return False


def explain_runs(plan: Plan, qrels: Any, runs: Sequence[tuple[str, Any]], choice: EngineChoice) -> str:
    """Return the engine's plan of every step on every run; nothing but the judgments is read.

    Parameters
    ----------
    plan : Plan
        Formats, columns, measures and policies.
    qrels : path, mapping, iterable or frame
        Judgments.
    runs : sequence of (str, path or frame)
        Pairs of name and run.
    choice : EngineChoice
        The engine, and what it may take.

    Raises
    ------
    RankstatsError
        If something cannot be read, or an engine cannot do what a policy asks for.
    """
    from rankstats.comparison.beyond_accuracy import depth_of_lists  # noqa: PLC0415  with the rest
    from rankstats.tables.engines.hit_making import explain_engine_hits  # noqa: PLC0415  loads what small files do without

    judged = read_judgments(
        qrels,
        plan.policies,
        form=plan.qrels_format,
        id_column=plan.columns.query_id,
        grade_column=plan.columns.grade,
        document_column=plan.columns.document,
    )
    depth = depth_of_lists(parse_measures(plan.wanted_measures))
    texts = []
    for name, data in runs:
        run = run_in_engine(plan, name, data, choice, digest=False)
        if run is None:
            texts.append(f"== {name}: read into memory, without an engine\n")
        else:
            texts.append(explain_engine_hits(judged.table, run.table, plan.policies, depth=depth))
    return "\n".join(texts)
