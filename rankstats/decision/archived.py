"""An archived report as the baseline: its values beside new ones, aligned by query id, if both were made alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from rankstats.comparison import Evidence, compare_evidence
from rankstats.comparison.directions import READY_MADE
from rankstats.comparison.result import System
from rankstats.conventions import Policies
from rankstats.decision.reported import Reported
from rankstats.errors import PlanError
from rankstats.plan import Plan
from rankstats.tables import MeasureInfo, Scores, Source

Content = Mapping[str, Any]
_OF_SYSTEMS = ("missing", "unknown", "undefined_values", "runs", "documents", "ties")
_SHOWN = 60


def with_archived(evidence: Evidence, plan: Plan, archived: Content, baseline: str, source: Source) -> Evidence:
    """Return evidence with the archived values of the baseline as its first system.

    Values are matched by query id; a query that the archive lacks has no value there. The lists behind the archived
    values are not known, so nothing is said of documents.

    Parameters
    ----------
    evidence : Evidence
        The new values.
    plan : Plan
        How they were made.
    archived : mapping
        The content of the archived report.json.
    baseline : str
        The archived system.
    source : Source
        The archived file.

    Raises
    ------
    PlanError
        If the archive lacks the system, or was made with other judgments, measures or conventions; the difference is
        named.
    """
    return _joined_evidence(evidence, evidence_made(evidence, plan), archived, baseline, source)


def _joined_evidence(evidence: Evidence, made: Content, archived: Content, baseline: str, source: Source) -> Evidence:
    old = Reported(archived)
    place = f"{source.name}: "
    old.check_system(baseline, f"{place}baseline")
    if baseline in evidence.scores.systems:
        raise PlanError(
            f"{baseline!r} is among the new systems and in {source.name}; leave it out of one, or name it otherwise"
        )
    check_alike(made, made_of(archived), [info.name for info in evidence.scores.measures], place)
    scores = _joined(evidence.scores, old, baseline)
    system = System(baseline, f"{source.name} ({baseline})")
    return replace(
        evidence,
        scores=scores,
        systems=(system, *evidence.systems),
        hits=(),
        audit=_audit(evidence.audit, old, scores, baseline),
        sources=(*evidence.sources, source),
    )


def _joined(new: Scores, old: Reported, baseline: str) -> Scores:
    row = {query["query_id"]: q for q, query in enumerate(old.queries)}
    place = np.array([row.get(query_id, -1) for query_id in new.query_ids], dtype=np.int64)
    if (place < 0).all():
        raise PlanError(
            f"the archived report holds none of the {len(new.query_ids)} queries (new: {new.query_ids[0]!r}; archived: "
            f"{old.queries[0]['query_id'] if old.queries else 'none'!r})"
        )
    columns = [np.where(place >= 0, old.values(baseline, info.name)[place], np.nan) for info in new.measures]
    before = np.stack(columns, axis=1)[:, None, :]
    totals = None if new.totals is None else np.vstack([np.full((1, len(new.measures)), np.nan), new.totals])
    return Scores(
        np.concatenate([before, new.values], axis=1), new.query_ids, (baseline, *new.systems), new.measures, totals
    )


def _audit(new: Content, old: Reported, scores: Scores, baseline: str) -> dict[str, Any]:
    """Return the audit with the archived counts of the baseline beside those of the new systems."""

    def joined(name: str, now: Any, before: Any) -> Any:
        if not isinstance(now, Mapping):
            return now
        then = before if isinstance(before, Mapping) else {}
        content = {key: joined(key, value, then.get(key)) for key, value in now.items()}
        of_systems = name in _OF_SYSTEMS or name.isdigit()
        return {baseline: then[baseline], **content} if of_systems and baseline in then else content

    audit: dict[str, Any] = joined("", new, old.report["audit"])
    queries = audit["queries"]
    answered = {query["query_id"] for query in old.queries} - set(queries["missing"].get(baseline) or ())
    lacking = [query_id for query_id in scores.query_ids if query_id not in answered]
    queries["missing"] = {baseline: lacking, **{s: ids for s, ids in queries["missing"].items() if s != baseline}}
    queries["unknown"] = {baseline: 0, **queries["unknown"]}
    defined = scores.defined()
    queries["scored"] = int(defined.any(axis=1).sum())
    audit["undefined"] = {info.name: int((~defined[:, m]).sum()) for m, info in enumerate(scores.measures)}
    return audit


def report_with_archived(report: Content, archived: Content, baseline: str, source: Source) -> dict[str, Any]:
    """Return the content of a comparison of a report's systems with the archived baseline.

    As `with_archived`, from two reports: values, weights, clusters and attributes of the queries are those of `report`.
    The new content holds the comparisons over all queries; segments can still be made from the attributes.

    Raises
    ------
    PlanError
        As in `with_archived`.
    """
    new = Reported(report)
    evidence, plan = _evidence_of(new), _plan_of(new, baseline)
    evidence = _joined_evidence(evidence, made_of(report), archived, baseline, source)
    content = compare_evidence(evidence, plan, argv=report["reproduction"].get("argv") or ()).to_dict()
    return {**content, "queries": [dict(query) for query in new.queries]}


def _evidence_of(reported: Reported) -> Evidence:
    names = list(reported.measures)
    values = np.stack([[reported.values(s, m) for m in names] for s in reported.systems]).transpose(2, 0, 1)
    infos = tuple(
        MeasureInfo(
            row["name"],
            row["label"],
            row["definition"],
            bool(row["higher_is_better"]),
            bool(row.get("diagnostic")),
            reported.aggregate(row["name"]),
        )
        for row in reported.measures.values()
    )
    known = {
        (row["system"], row["measure"]): row["mean"] for row in reported.report["scores"] if row["segment"] is None
    }
    together = [reported.aggregate(name) == "together" for name in names]
    totals = [
        [known.get((s, m)) if t else None for m, t in zip(names, together, strict=True)] for s in reported.systems
    ]
    ids = tuple(query["query_id"] for query in reported.queries)
    return Evidence(
        scores=Scores(values, ids, reported.systems, infos, np.array(totals, dtype=float) if any(together) else None),
        systems=tuple(System(row["name"], row["source"]) for row in reported.report["systems"]),
        judgments=None,
        hits=(),
        queries=None,
        row=np.full(len(ids), -1, dtype=np.int64),
        weights=reported.weights,
        weights_name=reported.weights_name,
        audit=reported.report["audit"],
        sources=tuple(
            Source(row["name"], row["sha256"], row["bytes"]) for row in reported.report["reproduction"]["inputs"]
        ),
        clusters=reported.clusters,
        clusters_name=reported.report.get("clusters"),
    )


def _plan_of(reported: Reported, baseline: str) -> Plan:
    conventions = (reported.report["reproduction"].get("plan") or {}).get("conventions") or {}
    return Plan(
        primary=tuple(reported.report.get("primary") or ()),
        baselines=(baseline,),
        alpha=float(reported.report.get("alpha", 0.05)),
        seed=reported.seed,
        resamples=reported.resamples,
        policies=Policies(**conventions),
    )


def evidence_made(evidence: Evidence, plan: Plan) -> dict[str, Any]:
    """Return how new values were made, in the words of `made_of`."""
    return {
        "judgments": evidence.sources[0].sha256 if evidence.judgments is not None and evidence.sources else None,
        "conventions": plan.policies.to_dict() if evidence.judgments is not None else None,
        "measures": {info.name: dict(info.definition) for info in evidence.scores.measures},
    }


def made_of(report: Content) -> dict[str, Any]:
    """Return how the values of a report were made: digest of the judgments, conventions, definitions of measures.

    Ready-made values have neither judgments nor conventions.
    """
    inputs, plan = report["reproduction"].get("inputs") or [], report["reproduction"].get("plan") or {}
    judged = bool((report["audit"].get("rows") or {}).get("judgments")) or bool((plan.get("inputs") or {}).get("qrels"))
    return {
        "judgments": inputs[0]["sha256"] if judged and inputs else None,
        "conventions": plan.get("conventions") if judged else None,
        "measures": {row["name"]: dict(row["definition"]) for row in report["measures"]},
    }


def check_alike(new: Content, old: Content, measures: Iterable[str], place: str = "") -> None:
    """Raise a PlanError that names the difference unless values of both kinds may stand side by side."""
    if (new["judgments"] is None) != (old["judgments"] is None):
        ready, judged = ("new", "archived") if new["judgments"] is None else ("archived", "new")
        raise PlanError(
            f"{place}the {ready} values are ready-made and the {judged} ones come from judgments, so it is not known "
            "whether they rest on the same judgments; make both in one way"
        )
    if new["judgments"] != old["judgments"]:
        raise PlanError(
            f"{place}other judgments (sha256 {old['judgments'][:12]}… archived, {new['judgments'][:12]}… now); "
            "make the archived report again with these judgments"
        )
    for name in measures:
        if name not in old["measures"]:
            raise PlanError(
                f"{place}measure {name} is not in the archived report (it holds {', '.join(old['measures'])}); name "
                "the measures of both with --measures"
            )
        changed = _differences(*(_of_values(made["measures"][name]) for made in (old, new)))
        if changed:
            raise PlanError(f"{place}measure {name} is defined otherwise: {changed}")
    ours, theirs = ({k: v for k, v in (made["conventions"] or {}).items() if k != "preset"} for made in (new, old))
    changed = _differences(theirs, ours)
    if changed:
        raise PlanError(f"{place}other conventions: {changed}; compare with the same ones")


def _of_values(definition: Mapping[str, Any]) -> Mapping[str, Any]:
    """Leave out what says nothing of how values were made: which direction of ready-made ones is better."""
    ready_made = str(definition.get("formula", "")).startswith(READY_MADE)
    return {"formula": READY_MADE} if ready_made else definition


def _differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    changed = [key for key in dict.fromkeys([*old, *new]) if old.get(key) != new.get(key)]
    return "; ".join(f"{key} was {_brief(old.get(key))}, is {_brief(new.get(key))}" for key in changed)


def _brief(value: Any) -> str:
    text = "not stated" if value is None else str(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
