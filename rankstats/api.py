"""Evaluate and compare from Python: files, dictionaries, named tuples and frames alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from rankstats.comparison.collecting import Given, Progress, collect
from rankstats.comparison.engines import explain_runs
from rankstats.errors import InputError, PlanError, did_you_mean
from rankstats.inputs import run_name, run_names
from rankstats.plan import Columns, Plan
from rankstats.tables import Scores
from rankstats.tables.engines.choice import EngineChoice

if TYPE_CHECKING:
    from rankstats.comparison import Comparison
    from rankstats.experiment import ExperimentSettings, Metric, Readout

_Settings = TypeVar("_Settings", Plan, Columns)
_INPUTS = {"qrels", "runs", "scores", "queries", "measures", "stated", "overridden"}
"""Fields of a plan that the functions take as arguments of their own, or that only plan files have."""
_TEXTS = {"primary", "baselines", "segments", "intervals"}


def evaluate(
    qrels: Any,
    runs: Any,
    measures: str | Iterable[str] = (),
    *,
    plan: Plan | None = None,
    progress: Progress | None = None,
    engine: str | EngineChoice = "auto",
    **settings: Any,
) -> Scores:
    """Compute the values of measures for every judged query and every run.

    Parameters
    ----------
    qrels : path, mapping, iterable or frame
        Judgments: a file of any format that is recognised, ``{query_id: {doc_id: grade}}``, an iterable of named tuples
        (query_id, doc_id, relevance), or a pandas, Polars or Arrow frame with such columns.
    runs : mapping, path or sequence of paths
        Runs by name, each a path, ``{query_id: {doc_id: score}}``, an iterable of named tuples (query_id, doc_id,
        score), a frame with such columns, or the predictions for the lines of a LETOR file. Files alone are named by
        their file names, or as ``NAME=FILE``. Lazy frames (DuckDB relations, Polars' LazyFrame, Spark's DataFrame, Ibis
        tables) are ranked where they are, and only hits and totals are collected; so are several files a run (a pattern
        with ``*``, or a folder) and files larger than a quarter of the memory, in DuckDB.
    measures : str or iterable of str, optional
        Measure names; the default list if there is none.
    plan : Plan, optional
        Settings to start from; its judgments, runs and scores are passed over.
    progress : callable, optional
        Called as ``progress(what, share)``.
    engine : {'auto', 'local', 'duckdb'} or EngineChoice, optional
        Where runs are ranked; 'local' collects lazy frames into memory. The values do not depend on it. An
        `EngineChoice` also limits memory and names the temporary folder.
    **settings
        Settings of `Plan` by name: ``policies=Policies.from_preset("trec_eval")``, ``columns={"grade": "rating"}``,
        ``qrels_format="grade"``, ``run_format="rank"`` or ``{"a": "rank"}``.

    Returns
    -------
    Scores
        Values of shape (queries, systems, measures), NaN where undefined. A judged query that a run lacks has the value
        0, a query without judgments is left out; `collect` tells how many.

    Raises
    ------
    InputError
        If the data cannot be read or do not fit together; it names the row, or file and line.
    MeasureError
        If a measure is unknown.
    PlanError
        If a setting is unknown.

    Examples
    --------
    >>> qrels = {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 2}}
    >>> scores = evaluate(qrels, {"a": {"q1": {"d2": 0.9, "d1": 0.8}, "q2": {"d3": 1.5}}}, ["RR"])
    >>> scores.values[:, 0, 0].tolist()
    [0.5, 1.0]
    >>> scores.means()[(0, 0)]
    0.75
    """
    given = Given(qrels=qrels, runs=_named_runs(runs), engine=_choice(engine))
    return collect(_plan(plan, given, measures, settings), given=given, progress=progress, digests=False).scores


def explain(
    qrels: Any,
    runs: Any,
    measures: str | Iterable[str] = (),
    *,
    plan: Plan | None = None,
    engine: str | EngineChoice = "auto",
    **settings: Any,
) -> str:
    """Return the plans of the engines that would rank runs, for every step; only the judgments are read.

    Parameters
    ----------
    qrels, runs, measures, plan, engine, **settings
        As in `evaluate`.

    Returns
    -------
    str
        Per run and step a heading and the engine's own plan: DuckDB's, Polars' or Spark's, or the SQL that Ibis sends.

    Raises
    ------
    RankstatsError
        If something cannot be read, or an engine cannot do what a policy asks for.

    Examples
    --------
    >>> import polars
    >>> run = polars.LazyFrame({"query_id": ["q1"], "doc_id": ["d1"], "score": [0.5]})
    >>> explain({"q1": {"d1": 1}}, {"a": run}).splitlines()[0]
    '== a in Polars: totals by query'
    """
    given = Given(qrels=qrels, runs=_named_runs(runs))
    return explain_runs(_plan(plan, given, measures, settings), qrels, given.runs, _choice(engine))


def compare_systems(
    qrels: Any,
    runs: Any,
    measures: str | Iterable[str] = (),
    *,
    queries: Any = None,
    plan: Plan | None = None,
    progress: Progress | None = None,
    engine: str | EngineChoice = "auto",
    **settings: Any,
) -> Comparison:
    """Compare runs as ``rankstats compare`` does, from files or from data handed in.

    Parameters
    ----------
    qrels, runs, measures, plan, progress, engine
        As in `evaluate`; at least two runs.
    queries : path, mapping, iterable or frame, optional
        The query table: ``{query_id: text}``, or rows with a column query_id and any others; else that of the plan.
    **settings
        Settings of `Plan` by name: ``primary``, ``baselines``, ``compare``, ``segments``, ``test``, ``correction``,
        ``alpha``, ``resamples``, ``seed``, ``margin``, ``title`` …

    Returns
    -------
    Comparison
        The same as for files with the same content, but for the names of sources.

    Raises
    ------
    RankstatsError
        If the data cannot be read, or data and settings do not fit together.

    Examples
    --------
    >>> qrels = {f"q{n}": {"d1": 1, "d2": 0} for n in range(12)}
    >>> good = {query_id: {"d1": 2.0, "d2": 1.0} for query_id in qrels}
    >>> bad = {query_id: {"d1": 1.0, "d2": 2.0} for query_id in qrels}
    >>> comparison = compare_systems(qrels, {"bad": bad, "good": good}, ["RR"])
    >>> comparison.verdict[0].outcome, comparison.differences[0].difference
    ('better', 0.5)
    """
    given = Given(qrels=qrels, runs=_named_runs(runs), queries=_queries(queries, plan), engine=_choice(engine))
    return _compared(_plan(plan, given, measures, settings), given, progress)


def compare_scores(
    scores: Any,
    measures: str | Iterable[str] = (),
    *,
    queries: Any = None,
    plan: Plan | None = None,
    progress: Progress | None = None,
    **settings: Any,
) -> Comparison:
    """Compare ready-made per-query values, as ``rankstats compare --scores`` does.

    Parameters
    ----------
    scores : Scores, path, sequence of paths, frame, iterable of rows, or mapping
        What `evaluate` gives; files; a long table (query_id, system, measure, value) or a wide one (query_id, then one
        column a system) as a frame or named tuples; or, by system, rows of query_id, measure and value (ir_measures) or
        ``{query_id: {measure: value}}`` (pytrec_eval).
    measures : str or iterable of str, optional
        The measures to compare, in this order; for a wide table the name of its measure.
    queries, plan, progress, **settings
        As in `compare_systems`.

    Returns
    -------
    Comparison

    Raises
    ------
    RankstatsError
        If the data cannot be read, or data and settings do not fit together.

    Examples
    --------
    >>> rows = [(f"q{n}", system, "AP", value) for n in range(12) for system, value in (("a", 0.25), ("b", 0.5))]
    >>> compare_scores(rows).differences[0].difference
    0.25
    """
    given = Given(scores=scores, queries=_queries(queries, plan))
    return _compared(_plan(plan, given, measures, settings), given, progress)


def readout(
    rows: Any,
    metrics: str | Metric | Iterable[str | Metric] = (),
    *,
    assignments: Any = None,
    primary: str | Iterable[str] = (),
    settings: ExperimentSettings | None = None,
    **changes: Any,
) -> Readout:
    """Read out an A/B experiment, as ``rankstats ab`` does; `decide` tells what a policy says of it.

    Parameters
    ----------
    rows : path, sequence of paths or of mappings, mapping of arm to rows, or frame
        Units, events or aggregates.
    metrics : str, Metric or iterable of them, optional
        Such as ``mean(revenue)`` or ``ctr = sum(clicks)/sum(impressions)``; those of `settings`, or of aggregates all,
        if there are none.
    assignments : path or frame, optional
        All units with their arms, also those without rows.
    primary : str or iterable of str, optional
        Names of the metrics that the verdict is about; the first one if none is named.
    settings : ExperimentSettings, optional
        Settings to start from, such as those of a plan.
    **changes
        Fields of `ExperimentSettings`: ``unit``, ``arm``, ``control``, ``shares``, ``segments``, ``alpha`` …

    Returns
    -------
    Readout

    Raises
    ------
    RankstatsError
        If the data cannot be read, or data and settings do not fit together.

    Examples
    --------
    >>> rows = [{"user": str(i), "arm": "AB"[i % 2], "paid": (i * 7) % 5 + i % 2} for i in range(200)]
    >>> found = readout(rows, "mean(paid)", unit="user", control="A")
    >>> found.verdict[0].outcome, found.differences[0].difference
    ('better', 1.0)
    """
    from rankstats import experiment  # noqa: PLC0415  loads scipy

    known = [field.name for field in fields(experiment.ExperimentSettings)]
    for name in changes:
        if name not in known:
            raise PlanError(f"{name!r} is not a setting of an experiment" + did_you_mean(name, known))
    listed = [metrics] if isinstance(metrics, str | experiment.Metric) else list(metrics)
    made = [experiment.metric_from_text(item) if isinstance(item, str) else item for item in listed]
    names = {primary} if isinstance(primary, str) else set(primary)
    unknown = names - {metric.name for metric in made}
    if unknown:
        name = min(unknown)
        raise PlanError(f"{name!r} is not among the metrics" + did_you_mean(name, [metric.name for metric in made]))
    if made:
        made = [replace(metric, role="primary") if metric.name in names else metric for metric in made]
        changes["metrics"] = experiment.with_roles(tuple(made), frozenset())
    paths = _row_files(rows)
    if paths:
        changes["rows"] = tuple((None, path) for path in paths)
    asked = replace(settings or experiment.ExperimentSettings(), **changes)
    return experiment.read_out(asked, rows=None if paths else rows, assignments=assignments)


def _row_files(rows: Any) -> list[str]:
    """Return the paths that are given as rows; none where rows are data."""
    listed = rows if isinstance(rows, list | tuple) else [rows]
    return [str(row) for row in listed] if all(isinstance(row, str | Path) for row in listed) else []


def _compared(plan: Plan, given: Given, progress: Progress | None) -> Comparison:
    from rankstats.comparison import compare_evidence  # noqa: PLC0415  loads scipy, which values alone do without

    evidence = collect(plan, given=given, progress=progress, reverse_ties=True)
    return compare_evidence(evidence, plan, progress=progress)


def _choice(engine: str | EngineChoice) -> EngineChoice:
    return engine if isinstance(engine, EngineChoice) else EngineChoice(engine)


def _queries(queries: Any, plan: Plan | None) -> Any:
    return plan.queries if queries is None and plan is not None else queries


def _named_runs(runs: Any) -> tuple[tuple[str, Any], ...]:
    if isinstance(runs, str | Path):
        return (run_name(runs),)
    if isinstance(runs, Mapping):
        _check_names(runs)
        return tuple(runs.items())
    if isinstance(runs, Sequence) and runs and all(isinstance(run, str | Path) for run in runs):
        return tuple(run_names(runs))
    raise InputError("runs are a mapping of names to runs, {'bm25': run}, or a list of files")


def _check_names(runs: Mapping[Any, Any]) -> None:
    for name, run in runs.items():
        if not isinstance(name, str):
            raise InputError(f"the name of a run is a text, not {name!r}; runs are a mapping of names to runs")
        if isinstance(run, Mapping) and run and all(isinstance(value, Real) for value in run.values()):
            raise InputError(
                f"run {name} is a mapping of documents to scores; runs are a mapping of names to runs, "
                "{'bm25': {query_id: {doc_id: score}}}"
            )


def _plan(plan: Plan | None, given: Given, measures: str | Iterable[str], settings: Mapping[str, Any]) -> Plan:
    """Return the plan with settings replaced; paths among the inputs are named in it, as for files."""
    names = (measures,) if isinstance(measures, str) else tuple(measures)
    changes = dict(settings)
    plan = plan or Plan()
    if isinstance(changes.get("columns"), Mapping):
        changes["columns"] = _replaced(plan.columns, changes["columns"], "columns", set())
    if isinstance(changes.get("run_format"), str):
        changes["run_format"] = {"": changes["run_format"]}
    changes |= {name: (changes[name],) for name in _TEXTS & changes.keys() if isinstance(changes[name], str)}
    changes = {name: tuple(value) if isinstance(value, list) else value for name, value in changes.items()}
    plan = _replaced(plan, changes, "setting", _INPUTS)
    paths = {name: str(path) for name, path in given.runs if isinstance(path, str | Path)}
    return replace(
        plan,
        qrels=str(given.qrels) if isinstance(given.qrels, str | Path) else None,
        runs=tuple(paths.items()),
        scores=_paths(given.scores),
        queries=str(given.queries) if isinstance(given.queries, str | Path) else None,
        measures=names or plan.measures,
    )


def _paths(scores: Any) -> tuple[str, ...]:
    listed = scores if isinstance(scores, list | tuple) else [scores]
    return tuple(str(path) for path in listed) if all(isinstance(path, str | Path) for path in listed) else ()


def _replaced(settings: _Settings, changes: Mapping[str, Any], what: str, not_here: set[str]) -> _Settings:
    known = [field.name for field in fields(settings) if field.name not in not_here]
    for name in changes:
        if name not in known:
            raise PlanError(f"{what} {name!r} is unknown" + did_you_mean(str(name), known))
    return replace(settings, **changes)
