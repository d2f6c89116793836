"""Collects evidence: reads what a plan names, evaluates the measures, and audits what was left out."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rankstats import inputs as readers
from rankstats.comparison.beyond_accuracy import (
    ItemInputs,
    audit_items,
    depth_of_lists,
    rating_notes,
    read_item_inputs,
)
from rankstats.comparison.depth import DEPTH, deepest_scenario
from rankstats.comparison.directions import described
from rankstats.comparison.engines import run_in_engine
from rankstats.comparison.evidence import Evidence
from rankstats.comparison.system import System
from rankstats.errors import InputError, PlanError, RankstatsError, did_you_mean
from rankstats.inputs import read_judgments, read_run
from rankstats.measures import Measure, evaluate_systems, evaluate_together, parse_measure, parse_measures
from rankstats.plan import Plan
from rankstats.tables import Hits, Scores, make_hits
from rankstats.tables.engines.choice import EngineChoice

if TYPE_CHECKING:
    from rankstats.inputs import Read, ReadAudit, ScoresInput
    from rankstats.tables import Judgments, Queries, Ranking, Source

Progress = Callable[[str, float], None]
"""Called with what is being done and the share that is done."""


@dataclass(frozen=True, slots=True)
class Given:
    """What stands in for the files that a plan names: paths, or data handed in from Python.

    Attributes
    ----------
    qrels : path, mapping, iterable, frame or Judgments
        As `rankstats.inputs.read_judgments` takes it.
    runs : tuple of (str, path, mapping, iterable, frame, array or Ranking)
        Pairs of name and run, as `rankstats.inputs.read_run` takes it.
    scores : path, iterable, frame, mapping or Scores
        As `rankstats.inputs.read_scores` takes it, instead of judgments and runs.
    queries : path, mapping, iterable or frame
        The query table, as `rankstats.inputs.read_queries` takes it.
    items : path, mapping, iterable, frame or Items
        The item table, as `rankstats.inputs.read_items` takes it.
    histories : path, iterable, frame or Histories
        What each user has had before, as `rankstats.inputs.read_histories` takes it.
    engine : EngineChoice
        Where runs are ranked, and what that may take; the values do not depend on it.
    """

    qrels: Any = None
    runs: tuple[tuple[str, Any], ...] = ()
    scores: Any = None
    queries: Any = None
    items: Any = None
    histories: Any = None
    engine: EngineChoice = field(default_factory=EngineChoice)

    @classmethod
    def of_plan(cls, plan: Plan, engine: EngineChoice | None = None) -> Given:
        """Return the files of a plan."""
        files = (plan.qrels, plan.runs, plan.scores or None, plan.queries, plan.items, plan.history)
        return cls(*files, engine or EngineChoice())


@dataclass(frozen=True, slots=True)
class _Table:
    """The query table of a plan and where it came from."""

    queries: Queries | None
    sources: tuple[Source, ...]
    notes: tuple[str, ...] = ()


def collect(
    plan: Plan,
    *,
    given: Given | None = None,
    progress: Progress | None = None,
    reverse_ties: bool = False,
    digests: bool = True,
) -> Evidence:
    """Read the inputs of a plan and return per-query values with everything known beside them.

    Parameters
    ----------
    plan : Plan
        Names judgments and runs, or files of ready-made scores.
    given : Given, optional
        Inputs that stand in for all files of the plan.
    progress : callable, optional
        Called as ``progress(what, share)``.
    reverse_ties : bool, optional
        Evaluate runs with tied scores a second time, the order inside each tie turned round.
    digests : bool, optional
        Whether the files of judgments and runs get a digest, and the tops of lists are kept, as a report needs them.

    Returns
    -------
    Evidence

    Raises
    ------
    RankstatsError
        If something cannot be read or does not fit together.
    """
    given = given or Given.of_plan(plan)
    if given.scores is not None and given.runs:
        raise PlanError("give either runs or scores, not both")
    if given.scores is not None:
        return _from_scores(plan, given)
    if plan.better:
        raise PlanError("better states the direction of ready-made scores; measures of runs have theirs by definition")
    if not given.runs or given.qrels is None:
        raise PlanError("runs need judgments: give --qrels FILE and the runs, or --scores FILE")
    progress = progress or (lambda what, share: None)
    return _from_runs(plan, given, progress, reverse_ties=reverse_ties, digests=digests)


def _from_runs(plan: Plan, given: Given, progress: Progress, *, reverse_ties: bool, digests: bool) -> Evidence:
    measures = parse_measures(plan.wanted_measures)
    _check_run_formats(plan, given)
    progress("judgments", 0.0)
    judged = _read_judged(plan, given, measures, digest=digests)
    table = _query_table(plan, given)
    inputs = read_item_inputs(plan, given.items, given.histories)
    claimed = [m.name for m in measures] if plan.family == "measures" else [canonical_name(p) for p in plan.primary]
    depth = max(depth_of_lists(measures), deepest_scenario(measures, claimed, judged.table.n_queries))
    # without digests nobody makes a report, which shows lists
    if not digests and not any("lists" in measure.declaration.needs for measure in measures):
        depth = 0
    hits: list[Hits] = []
    turned: list[Hits] = []
    audits: list[ReadAudit] = []
    for i, (name, data) in enumerate(given.runs):
        progress(f"reading {name}", 0.6 * i / len(given.runs))
        report = partial(_report, progress, 0.6 * i / len(given.runs))
        held = run_in_engine(plan, name, data, given.engine, report=report, digest=digests)
        run: Any = held or _read_run(plan, name, data, judged, digest=digests)
        make: Any = partial(held.make_hits if held else make_hits, judged.table, run.table, plan.policies)
        hits.append(make(depth=depth))
        again = reverse_ties and bool(hits[-1].tied.any())
        turned.append(make(depth=depth, reverse_ties=True) if again else hits[-1])
        audits.append(run.audit)
        _check_overlap(judged.table, hits[-1], run.audit.sources[0].name)
        del run, held, make, report  # or the next one is read beside it
    _check_columns_used(plan, judged.audit, audits)
    progress("measures", 0.6)
    scores = _scores(plan, measures, judged.table, hits, inputs)
    read_before = (*judged.audit.sources, *(source for audit in audits for source in audit.sources))
    evidence = _with_table(plan, scores, table.queries, (*read_before, *table.sources, *inputs.sources))
    audit = _audit_runs(evidence, judged.table, judged.audit, hits, audits)
    audit["items"], left_out = audit_items(measures, judged.table, hits, inputs)
    of_runs = [note for read in audits for note in read.notes]
    ratings = rating_notes(measures, judged.table, hits)
    audit["notes"] = [*judged.audit.notes, *of_runs, *table.notes, *inputs.notes, *left_out, *ratings]
    systems = tuple(System(name, _named(data, read)) for (name, data), read in zip(given.runs, audits, strict=True))
    evidence = replace(evidence, systems=systems, judgments=judged.table, hits=tuple(hits), audit=audit)
    if any(other is not one for one, other in zip(hits, turned, strict=True)):
        values = _scores(plan, measures, judged.table, turned, inputs).values
        evidence = replace(evidence, reversed_ties=values)
    return replace(evidence, items=inputs.items)


def _report(progress: Progress, share: float, what: str) -> None:
    progress(what, share)


def _check_run_formats(plan: Plan, given: Given) -> None:
    unknown = next((name for name in plan.run_format if name and name not in dict(given.runs)), None)
    if unknown is not None:
        names = [name for name, _ in given.runs]
        raise PlanError(f"run_format names {unknown!r}, which is no run" + did_you_mean(unknown, names))


def _read_judged(plan: Plan, given: Given, measures: Sequence[Measure], *, digest: bool) -> Read[Judgments]:
    return read_judgments(
        given.qrels,
        plan.policies,
        form=plan.qrels_format,
        id_column=plan.columns.query_id,
        grade_column=plan.columns.grade,
        document_column=plan.columns.document,
        subtopics=any("subtopics" in measure.declaration.needs for measure in measures),
        digest=digest,
    )


def _scores(
    plan: Plan, measures: Sequence[Measure], judgments: Judgments, hits: Sequence[Hits], inputs: ItemInputs
) -> Scores:
    items, histories = inputs.items, inputs.histories
    return Scores(
        evaluate_systems(measures, judgments, hits, plan.policies, items=items, histories=histories),
        judgments.query_ids,
        tuple(system.system for system in hits),
        tuple(measure.info() for measure in measures),
        evaluate_together(measures, judgments, hits, items=items),
    )


def _check_columns_used(plan: Plan, judged: ReadAudit, runs: Sequence[ReadAudit]) -> None:
    """Raise for a named column where nothing that was read has named columns."""
    tables = [read.format.startswith("table") for read in (judged, *runs)]
    if plan.columns.document and not any(tables):
        raise PlanError(f"--document {plan.columns.document}: neither judgments nor runs have named columns")
    if plan.columns.score and not any(tables[1:]):
        raise PlanError(f"--score {plan.columns.score}: no run has named columns")


def _read_run(plan: Plan, name: str, data: Any, judged: Read[Judgments], *, digest: bool) -> Read[Ranking]:
    return read_run(
        data,
        name,
        plan.policies,
        form=plan.run_format.get(name, plan.run_format.get("")),
        id_column=plan.columns.query_id,
        document_column=plan.columns.document,
        score_column=plan.columns.score,
        listed=judged.listed,
        digest=digest,
    )


def _named(data: Any, read: ReadAudit) -> str:
    return str(data) if isinstance(data, str | Path) else read.sources[0].name


def _from_scores(plan: Plan, given: Given) -> Evidence:
    read = readers.read_scores(
        given.scores,
        measures=plan.measures,
        id_column=plan.columns.query_id,
        numeric=_numeric_columns(plan),
        form=plan.scores_format,
    )
    scores = described(_selected(read.table.scores, plan.measures), plan.better)
    table = _query_table(plan, given)
    queries = table.queries if table.queries is not None else read.table.queries
    evidence = _with_table(plan, scores, queries, (*read.audit.sources, *table.sources))
    source = ", ".join(plan.scores) or ", ".join(source.name for source in read.audit.sources)
    audit = _audit_scores(evidence, read)
    audit["notes"] = [*read.audit.notes, *table.notes]
    return replace(evidence, systems=tuple(System(name, source) for name in scores.systems), audit=audit)


def _selected(scores: Scores, wanted: Sequence[str]) -> Scores:
    """Keep the wanted measures, in the wanted order."""
    if not wanted:
        return scores
    names = [info.name for info in scores.measures]
    places = []
    for text in wanted:
        name = text if text in names else canonical_name(text)
        if name not in names:
            raise PlanError(
                f"the scores hold no measure {text!r} (they hold {', '.join(names)})" + did_you_mean(text, names)
            )
        places.append(names.index(name))
    return replace(
        scores,
        values=scores.values[:, :, places],
        measures=tuple(scores.measures[place] for place in places),
        totals=None if scores.totals is None else scores.totals[:, places],
    )


def canonical_name(text: str) -> str:
    """Return the name that a spelling of a measure stands for, or the text itself."""
    try:
        return parse_measure(text).name
    except RankstatsError:
        return text


def _query_table(plan: Plan, given: Given) -> _Table:
    if given.queries is None:
        return _Table(None, ())
    columns = plan.columns
    read = readers.read_queries(
        given.queries,
        id_column=columns.query_id,
        text=columns.text,
        frequency=columns.frequency,
        numeric=_numeric_columns(plan),
    )
    return _Table(read.table, read.audit.sources, read.audit.notes)


def _numeric_columns(plan: Plan) -> tuple[str, ...]:
    """Columns that are asked for as numbers: the weights, and those cut into quantiles."""
    cut = [name for spec in plan.segments for name in re.findall(r"(?:^|\+)\s*([^+]+?):q\d+", spec)]
    return (*([plan.columns.weight] if plan.columns.weight else []), *cut)


def _with_table(plan: Plan, scores: Scores, queries: Queries | None, sources: Sequence[Source]) -> Evidence:
    n_queries = len(scores.query_ids)
    row = np.full(n_queries, -1, dtype=np.int64) if queries is None else queries.rows_of(scores.query_ids)
    if queries is not None and (row < 0).all():
        raise PlanError(
            f"none of the {len(scores.query_ids)} judged queries is in the query table "
            f"(judged: {scores.query_ids[0]!r}; table: {queries.query_ids[0]!r}); name its id column with --id COLUMN"
        )
    weights = _weights(plan.columns.weight, queries, row, scores.query_ids)
    clusters = _clusters(plan.columns.cluster, queries, row)
    return Evidence(
        scores=scores,
        systems=(),
        judgments=None,
        hits=(),
        queries=queries,
        row=row,
        weights=weights,
        weights_name=plan.columns.weight,
        audit={},
        sources=tuple(sources),
        clusters=clusters,
        clusters_name=plan.columns.cluster,
    )


def _weights(
    name: str | None, queries: Queries | None, row: NDArray[np.int64], query_ids: Sequence[str]
) -> NDArray[np.float64] | None:
    if name is None:
        return None
    if queries is None:
        raise PlanError(f"--weights {name} needs a query table; give one with --queries FILE")
    if name not in queries.columns:
        listed = ", ".join(queries.columns)
        raise PlanError(
            f"--weights {name}: the query table has no such column ({listed})" + did_you_mean(name, queries.columns)
        )
    column = queries.columns[name]
    if column.dtype.kind != "f":
        raise PlanError(f"--weights {name}: the column does not hold numbers only")
    weights = np.where(row >= 0, column[row], np.nan)
    lacking = [query_ids[q] for q in np.flatnonzero(np.isnan(weights)).tolist()]
    if lacking:
        raise PlanError(
            f"--weights {name}: {len(lacking)} of {len(query_ids)} judged queries have no weight "
            f"({', '.join(lacking[:5])}); add them to the query table, with 0 to leave them out"
        )
    if (weights < 0).any() or not (weights > 0).any():
        raise PlanError(f"--weights {name}: weights are 0 or more, and at least one is above 0")
    if (weights > 1e100).any() or (weights[weights > 0] < 1e-100).any():
        raise PlanError(f"--weights {name}: weights above 0 lie between 1e-100 and 1e100; give them on another scale")
    return np.asarray(weights, dtype=np.float64)


def _clusters(name: str | None, queries: Queries | None, row: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Number the clusters in the order of their labels; a query without a label is a cluster of its own."""
    if name is None:
        return None
    if queries is None:
        raise PlanError(f"--cluster {name} needs a query table; give one with --queries FILE")
    if name not in queries.columns:
        listed = ", ".join(queries.columns)
        raise PlanError(
            f"--cluster {name}: the query table has no such column ({listed})" + did_you_mean(name, queries.columns)
        )
    column = queries.columns[name]
    labels = [column[r] if r >= 0 else None for r in row.tolist()]
    known = [label is not None and not (isinstance(label, float) and np.isnan(label)) for label in labels]
    if not any(known):
        raise PlanError(f"--cluster {name}: no judged query has a value; name another column")
    values: Any = {label for label, has in zip(labels, known, strict=True) if has}
    places = {label: k for k, label in enumerate(sorted(values))}
    # numbers from Q on: these queries have no label
    alone = iter(range(len(labels), 2 * len(labels)))
    return np.array(
        [places[label] if has else next(alone) for label, has in zip(labels, known, strict=True)], dtype=np.int64
    )


def _check_overlap(judgments: Judgments, hits: Hits, path: str) -> None:
    if not (hits.returned > 0).any():
        theirs = hits.unknown_queries[0] if hits.unknown_queries else ""
        raise InputError(
            f"answers none of the {judgments.n_queries} judged queries: its query ids look like {theirs!r}, "
            f"those of the judgments like {judgments.query_ids[0]!r}; check that the files belong together",
            path,
        )


def _audit_runs(
    evidence: Evidence,
    judgments: Judgments,
    read: ReadAudit,
    hits: Sequence[Hits],
    runs: Sequence[ReadAudit],
) -> dict[str, Any]:
    ids = judgments.query_ids
    audit = _audit_common(evidence)
    audit["queries"] |= {
        "judged": len(ids),
        "without_relevant": int((judgments.relevant() == 0).sum()),
        "missing": {hit.system: [ids[q] for q in np.flatnonzero(hit.returned == 0)] for hit in hits},
        "unknown": {hit.system: len(hit.unknown_queries) for hit in hits},
    }
    audit["rows"] = {
        "judgments": read.rows,
        "runs": {hit.system: audit_.rows for hit, audit_ in zip(hits, runs, strict=True)},
    }
    audit["duplicates"] = {
        "judgments": read.duplicates,
        "documents": {hit.system: audit_.duplicates for hit, audit_ in zip(hits, runs, strict=True)},
    }
    audit["ties"] = {
        hit.system: {"queries": int((hit.tied > 0).sum()), "documents": int(hit.tied.sum())} for hit in hits
    }
    audit["unjudged_at"] = {str(DEPTH): {hit.system: unjudged_share(hit, DEPTH) for hit in hits}}
    audit["formats"] = {
        "judgments": read.format,
        "runs": {hit.system: audit_.format for hit, audit_ in zip(hits, runs, strict=True)},
    }
    return audit


def unjudged_share(hits: Hits, depth: int) -> float | None:
    """Return the share of unjudged documents among the first `depth` of all judged queries' lists."""
    shown = int(np.minimum(hits.returned, depth).sum())
    judged = int((hits.rank <= depth).sum())
    return (shown - judged) / shown if shown else None


def _audit_scores(evidence: Evidence, read: Read[ScoresInput]) -> dict[str, Any]:
    scores = evidence.scores
    audit = _audit_common(evidence)
    audit["queries"] |= {
        "judged": len(scores.query_ids),
        "without_relevant": 0,
        "missing": {system: list(read.table.missing.get(system, ())) for system in scores.systems},
        "unknown": dict.fromkeys(scores.systems, 0),
        "undefined_values": {
            system: int(np.isnan(scores.values[:, s]).sum()) for s, system in enumerate(scores.systems)
        },
    }
    audit["rows"] = {"judgments": 0, "runs": {}, "scores": read.audit.rows, "mean_rows_left_out": read.audit.mean_rows}
    audit["duplicates"] = {"judgments": 0, "documents": {}}
    audit["ties"] = {}
    audit["unjudged_at"] = {}
    audit["formats"] = {"scores": read.audit.format}
    return audit


def _audit_common(evidence: Evidence) -> dict[str, Any]:
    scores, queries = evidence.scores, evidence.queries
    defined = scores.defined()
    used = {query_id for query_id, r in zip(scores.query_ids, evidence.row.tolist(), strict=True) if r >= 0}
    return {
        "queries": {"scored": int(defined.any(axis=1).sum())},
        "undefined": {info.name: int((~defined[:, m]).sum()) for m, info in enumerate(scores.measures)},
        "clusters": None
        if evidence.clusters is None
        else {
            "column": evidence.clusters_name,
            "clusters": len(np.unique(evidence.clusters)),
            "without_value": int((evidence.clusters >= len(evidence.clusters)).sum()),
        },
        "query_table": None
        if queries is None
        else {
            "rows": len(queries.query_ids),
            "judged_without_row": int((evidence.row < 0).sum()),
            "rows_without_judgments": len(queries.query_ids) - len(used),
        },
    }
