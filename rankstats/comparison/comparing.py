"""Compares: evidence and plan in, a finished Comparison out."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankstats import __version__, stats
from rankstats.comparison.agreement import make_agreement
from rankstats.comparison.checks import check_evidence
from rankstats.comparison.collecting import Given, Progress, canonical_name, collect
from rankstats.comparison.differences import Analysis, analyse
from rankstats.comparison.evidence import Evidence
from rankstats.comparison.findings import Findings
from rankstats.comparison.lists import documents_to_judge, extreme_queries, shown_lists
from rankstats.comparison.pair_draws import PairDraws
from rankstats.comparison.pairs import choose_pairs
from rankstats.comparison.result import (
    Checked,
    Comparison,
    Interval,
    PostStratified,
    Query,
    Score,
    Segment,
    Verdict,
    Warning,
)
from rankstats.comparison.robustness import contributed, explain_queries
from rankstats.comparison.segments import Attribute, SegmentData, make_attributes, too_few
from rankstats.comparison.significance import on_units
from rankstats.comparison.standings import make_standings
from rankstats.comparison.totals import make_totals
from rankstats.comparison.traffic_mix import post_stratify
from rankstats.comparison.verdicts import make_verdicts
from rankstats.errors import PlanError, did_you_mean
from rankstats.plan import Plan
from rankstats.tables import Scores, exact_mean
from rankstats.tables.engines.choice import EngineChoice

_LIBRARIES = ("numpy", "scipy", "pandas", "pyarrow", "matplotlib", "jinja2")


def compare(
    plan: Plan,
    *,
    argv: Sequence[str] = (),
    progress: Progress | None = None,
    engine: EngineChoice | None = None,
) -> Comparison:
    """Read what a plan names and compare.

    Parameters
    ----------
    plan : Plan
        Inputs, measures, pairs, segments and statistics.
    argv : sequence of str
        The command, for the reproduction section.
    progress : callable, optional
        Called as ``progress(what, share)``.
    engine : EngineChoice, optional
        Where runs are ranked; by default in memory, or in DuckDB where they are too large for it.

    Returns
    -------
    Comparison

    Raises
    ------
    RankstatsError
        If something cannot be read, or plan and data do not fit together.
    """
    evidence = collect(plan, given=Given.of_plan(plan, engine), progress=progress, reverse_ties=True)
    return compare_evidence(evidence, plan, argv=argv, progress=progress)


def compare_evidence(
    evidence: Evidence, plan: Plan, *, argv: Sequence[str] = (), progress: Progress | None = None
) -> Comparison:
    """Compare what was collected; parameters as in `compare`."""
    report = progress or (lambda what, share: None)
    scores = evidence.scores
    if not scores.query_ids:
        raise PlanError("there is no query to compare on")
    if "all" in scores.query_ids:
        raise PlanError("a query has the id 'all', which names the mean rows of score files; rename the query")
    primary = primary_measures(plan, scores)
    _check_margins(plan, scores)
    pairs = choose_pairs(plan, scores, scores.measures[primary[0]].name)
    attributes = _attributes(plan, evidence)
    report("tests", 0.7)
    draws = PairDraws()
    analysis = analyse(evidence, plan, pairs, primary, attributes, draws=draws)
    report("agreement and checks", 0.9)
    verdicts = make_verdicts(analysis.confirmatory, {info.name: info for info in scores.measures}, plan.alpha)
    mixes = post_stratify(evidence, plan, pairs, attributes)
    warnings, checked = _checked(evidence, plan, analysis, verdicts, attributes, mixes=mixes)
    shown = extreme_queries(scores, pairs, primary)
    to_judge = documents_to_judge(evidence.hits, scores, pairs, evidence.query_weights) if evidence.hits else ()
    report("report", 0.95)
    return Comparison(
        title=plan.title or _title(scores, pairs),
        baseline=scores.systems[pairs[0][0]] if plan.compare != "all-pairs" else None,
        primary=tuple(scores.measures[m].name for m in primary),
        alpha=plan.alpha,
        compare=plan.compare,
        weights=evidence.weights_name,
        clusters=evidence.clusters_name,
        systems=evidence.systems,
        measures=scores.measures,
        queries=_queries(evidence, attributes),
        scores_table=scores,
        segments=_segments(attributes),
        lists=shown_lists(evidence.hits, scores, shown, contributed(evidence, primary[0], shown)),
        scores=_scores(evidence, plan, attributes),
        differences=analysis.differences,
        families=analysis.families,
        distributions=analysis.distributions,
        heterogeneity=analysis.heterogeneity,
        agreement=make_agreement(
            scores,
            evidence.hits,
            pairs,
            alpha=plan.alpha,
            resamples=plan.resamples,
            seed=plan.seed,
            clusters=evidence.clusters,
        ),
        audit={**evidence.audit, "to_judge": len(to_judge)},
        warnings=warnings,
        verdict=verdicts,
        reproduction=_reproduction(evidence, plan, tuple(scores.measures[m].name for m in primary), argv),
        to_judge=to_judge,
        standings=make_standings(evidence, plan, primary, analysis.confirmatory, draws),
        post_stratified=mixes,
        robustness=analysis.robustness,
        coverage=analysis.coverage,
        condensed=analysis.condensed,
        tie_effects=analysis.tie_effects,
        totals=make_totals(evidence, plan, pairs),
        explanations=explain_queries(evidence, pairs, primary, shown),
        checks=checked,
    )


def _checked(
    evidence: Evidence,
    plan: Plan,
    analysis: Analysis,
    verdicts: tuple[Verdict, ...],
    attributes: Sequence[Attribute],
    *,
    mixes: tuple[PostStratified, ...],
) -> tuple[tuple[Warning, ...], tuple[Checked, ...]]:
    divided = {attribute.specification for attribute in attributes}
    return check_evidence(
        Findings(
            evidence,
            plan,
            analysis.confirmatory,
            analysis.plain,
            verdicts,
            analysis.heterogeneity,
            analysis.carried_by,
            analysis.coverage,
            analysis.tie_effects,
            tuple(specification for specification in plan.segments if specification not in divided),
            analysis.condensed,
            mixes,
        )
    )


def primary_measures(plan: Plan, scores: Scores) -> tuple[int, ...]:
    """Return the indices of the primary measures, in the order of the measures.

    Raises
    ------
    PlanError
        If one is not among the measures.
    """
    names = [info.name for info in scores.measures]
    chosen = set()
    for text in plan.primary:
        name = text if text in names else canonical_name(text)
        if name not in names:
            raise PlanError(
                f"primary measure {text!r} is not among the measures ({', '.join(names)})" + did_you_mean(text, names)
            )
        if scores.measures[names.index(name)].aggregate == "together":
            raise PlanError(f"primary measure {text!r} has no value a query; choose one that has")
        chosen.add(names.index(name))
    by_query = [m for m, info in enumerate(scores.measures) if info.aggregate != "together"]
    if not by_query:
        raise PlanError(f"no measure has a value a query ({', '.join(names)}); name one that has, such as 'nDCG@10'")
    return tuple(sorted(chosen)) or (by_query[0],)


def _check_margins(plan: Plan, scores: Scores) -> None:
    names = [info.name for info in scores.measures]
    for measure in plan.margin:
        if canonical_name(measure) not in names and measure not in names:
            raise PlanError(
                f"margin of {measure!r}: it is not among the measures ({', '.join(names)})"
                + did_you_mean(measure, names)
            )


def _title(scores: Scores, pairs: Sequence[tuple[int, int]]) -> str:
    if len(scores.systems) == 2:
        b, s = pairs[0]
        return f"{scores.systems[s]} against {scores.systems[b]}"
    return f"Comparison of {len(scores.systems)} systems"


def _attributes(plan: Plan, evidence: Evidence) -> tuple[Attribute, ...]:
    relevant = None if evidence.judgments is None else evidence.judgments.relevant()
    data = SegmentData(evidence.scores.query_ids, evidence.queries, evidence.row, relevant)
    # an attribute with one value splits nothing: its only segment is all queries once more
    return tuple(a for a in make_attributes(plan.segments, data) if len(np.unique(a.code)) > 1)


def _queries(evidence: Evidence, attributes: Sequence[Attribute]) -> tuple[Query, ...]:
    columns = {} if evidence.queries is None else {k: v.tolist() for k, v in evidence.queries.columns.items()}
    names = _attribute_names(evidence)
    rows = []
    for q, query_id in enumerate(evidence.scores.query_ids):
        r = int(evidence.row[q])
        known: dict[str, Any] = {names[k]: column[r] for k, column in columns.items()} if r >= 0 else {}
        for attribute in attributes:
            known.setdefault(attribute.name, attribute.values[int(attribute.code[q])])
        rows.append(Query(query_id, float(evidence.query_weights[q]), known))
    return tuple(rows)


def _attribute_names(evidence: Evidence) -> dict[str, str]:
    """Names of the columns in the report: the text is called text, the frequency frequency, others as they are."""
    if evidence.queries is None:
        return {}
    roles = {evidence.queries.text: "text", evidence.queries.frequency: "frequency"}
    roles.pop(None, None)
    names = {column: roles[column] for column in evidence.queries.columns if column in roles}
    for column in evidence.queries.columns:
        if column not in names:
            # another column that is called text or frequency keeps its values under another name
            names[column] = f"{column} (column)" if column in names.values() else column
    return names


def _segments(attributes: Sequence[Attribute]) -> tuple[Segment, ...]:
    return tuple(
        Segment(
            attribute.name,
            value,
            attribute.labels[value],
            n := int(attribute.members(value).sum()),
            float(attribute.share[k]),
            attribute.share_of,
            too_few(n),
        )
        for attribute in attributes
        for k, value in enumerate(attribute.values)
    )


def _scores(evidence: Evidence, plan: Plan, attributes: Sequence[Attribute]) -> tuple[Score, ...]:
    scores = evidence.scores
    everyone = np.ones(len(scores.query_ids), dtype=bool)
    groups: list[tuple[dict[str, str] | None, NDArray[np.bool_]]] = [(None, everyone)]
    groups += [({"attribute": a.name, "value": v}, a.members(v)) for a in attributes for v in a.values]
    defined = scores.defined()
    return tuple(
        row
        for segment, members in groups
        for m in range(len(scores.measures))
        for row in _means(evidence, plan, m, defined[:, m] & members, segment)
    )


def _means(
    evidence: Evidence, plan: Plan, m: int, kept: NDArray[np.bool_], segment: dict[str, str] | None
) -> list[Score]:
    """Means of all systems over some queries; the interval is of the weighted mean where there are weights."""
    scores = evidence.scores
    values = scores.values[kept, :, m]
    weights = None if evidence.weights is None else evidence.weights[kept]
    counts = weights is None or bool((weights > 0).any())
    column = stats.paired_differences(np.zeros(values.shape), values, weights if counts else None)
    clusters = None if evidence.clusters is None else evidence.clusters[kept]
    spread = on_units(stats.interval_of_means, column, clusters, alpha=plan.alpha)
    level = 1 - plan.alpha
    if scores.measures[m].aggregate == "together":
        return _totals(evidence, m) if segment is None else []
    return [
        Score(
            system,
            scores.measures[m].name,
            segment,
            int(kept.sum()),
            exact_mean(values[:, s]),
            None if weights is None else exact_mean(values[:, s], weights),
            Interval.from_ends(float(spread.low[s]), float(spread.high[s]), level, "t") if counts else None,
        )
        for s, system in enumerate(scores.systems)
    ]


def _totals(evidence: Evidence, m: int) -> list[Score]:
    """The values of a measure of all lists together."""
    scores = evidence.scores
    aggregates, n = scores.aggregates(), len(scores.query_ids)
    return [
        Score(system, scores.measures[m].name, None, n, aggregates[(s, m)], None, None)
        for s, system in enumerate(scores.systems)
    ]


def _reproduction(evidence: Evidence, plan: Plan, primary: tuple[str, ...], argv: Sequence[str]) -> dict[str, Any]:
    # the plan as it was carried out, so that it can be kept and run again
    resolved = replace(
        plan,
        measures=tuple(info.name for info in evidence.scores.measures),
        primary=primary,
        baselines=plan.baselines or ((evidence.scores.systems[0],) if plan.compare == "baseline" else ()),
    )
    return {
        "argv": list(argv),
        "seed": plan.seed,
        "resamples": plan.resamples,
        "versions": {
            "rankstats": __version__,
            "python": platform.python_version(),
            **{name: version(name) for name in _LIBRARIES},
        },
        "inputs": [{"name": s.name, "sha256": s.sha256, "bytes": s.size} for s in evidence.sources],
        "plan": resolved.to_dict(),
    }
