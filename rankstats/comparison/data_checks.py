"""Evidence checks of the data: what was read, judged and left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from rankstats.comparison.findings import Findings, all_of, queries, share_words
from rankstats.comparison.leaks import perfect_systems
from rankstats.comparison.result import Warning
from rankstats.wording import count

_MUCH_UNJUDGED = 0.2
"""Share of unjudged documents in the top of a list above which a reader is warned."""


def missing_queries(findings: Findings) -> Iterator[Warning]:
    """Judged queries that a run does not answer."""
    judged = len(findings.evidence.scores.query_ids)
    ready_made = findings.evidence.judgments is None
    for system, ids in findings.evidence.audit["queries"]["missing"].items():
        if ids:
            share = len(ids) / judged
            counted = f"{'one counts' if len(ids) == 1 else f'{len(ids):,} count'} as 0"
            left_out = f"{len(ids):,} {'is' if len(ids) == 1 else 'are'} left out of all systems' means"
            yield Warning(
                "missing_queries",
                "serious" if share > 0.05 else "warning",
                f"{system} answers {judged - len(ids):,} of {queries(judged)}; "
                f"the missing {left_out if ready_made else counted}.",
                system,
            )


def undefined_scores(findings: Findings) -> Iterator[Warning]:
    """Values that a score file lacks."""
    for system, lacking in findings.evidence.audit["queries"].get("undefined_values", {}).items():
        if lacking and not findings.evidence.audit["queries"]["missing"].get(system):
            yield Warning(
                "undefined_values",
                "warning",
                f"{system} lacks {count(lacking, 'value')}; "
                "a query without a value is left out of all systems' means alike.",
                system,
            )


def unknown_queries(findings: Findings) -> Iterator[Warning]:
    """Queries of a run that nobody judged."""
    for system, n in findings.evidence.audit["queries"]["unknown"].items():
        if n:
            yield Warning(
                "unknown_queries", "info", f"{system} answers {queries(n)} without judgments; left out.", system
            )


def no_relevant(findings: Findings) -> Iterator[Warning]:
    """Queries without a relevant document."""
    n = findings.evidence.audit["queries"]["without_relevant"]
    if n:
        judged = len(findings.evidence.scores.query_ids)
        how = (
            "count as 0"
            if findings.plan.policies.no_relevant == "zero"
            else "are left out where a measure is undefined"
        )
        yield Warning(
            "no_relevant",
            "info",
            f"{n:,} of {queries(judged)} ({share_words(n / judged)}) have no relevant document; they {how}.",
            "all systems",
        )


def reading_notes(findings: Findings) -> Iterator[Warning]:
    """What a reader decided by itself."""
    for note in findings.evidence.audit.get("notes", ()):
        yield Warning("reading", "info", note, "inputs")


def without_table_row(findings: Findings) -> Iterator[Warning]:
    """Judged queries that the query table lacks."""
    table = findings.evidence.audit["query_table"]
    if table and table["judged_without_row"]:
        n = table["judged_without_row"]
        yield Warning(
            "not_in_query_table",
            "warning",
            f"{queries(n)} of {len(findings.evidence.scores.query_ids):,} are not in the query table; "
            "they form the segment (none).",
            "segments",
        )


def undivided_segments(findings: Findings) -> Iterator[Warning]:
    """Attributes that split nothing."""
    for specification in findings.undivided:
        yield Warning(
            "undivided_segment",
            "info",
            f"--segment {specification} puts all queries into one segment; it is left out.",
            "segments",
        )


def judged_gap(findings: Findings) -> Iterator[Warning]:
    """One system's top documents are judged less often."""
    for depth, shares in findings.evidence.audit["unjudged_at"].items():
        for baseline, system in sorted({(row.baseline, row.system) for row in findings.confirmatory}):
            a, b = shares.get(baseline), shares.get(system)
            if a is not None and b is not None and abs(a - b) > 0.05:
                worse, better = (system, baseline) if b > a else (baseline, system)
                yield Warning(
                    "judged_gap",
                    "warning",
                    f"{share_words(max(a, b))} of {worse}'s top {depth} is unjudged "
                    f"against {share_words(min(a, b))} of {better}'s; "
                    f"unjudged counts as not relevant, so {worse} may be better than it looks.",
                    f"{system} against {baseline}",
                )


def unjudged(findings: Findings) -> Iterator[Warning]:
    """Much of what the systems show was never judged."""
    for depth, shares in findings.evidence.audit["unjudged_at"].items():
        high = {system: share for system, share in shares.items() if share is not None and share > _MUCH_UNJUDGED}
        if high:
            listed = ", ".join(f"{system} {share_words(share)}" for system, share in high.items())
            yield Warning(
                "unjudged",
                "warning",
                f"Much of the top {depth} is unjudged and counts as not relevant ({listed}); "
                "judge the first documents of to_judge.tsv.",
                "judgments",
            )


def constant_measure(findings: Findings) -> Iterator[Warning]:
    """A measure that is the same everywhere."""
    scores = findings.evidence.scores
    for m, info in enumerate(scores.measures):
        values = scores.values[:, :, m]
        known = values[~np.isnan(values)]
        if len(known) > 1 and known.min() == known.max():
            yield Warning(
                "constant_measure",
                "warning",
                f"{info.name} is {known[0]:g} for every query and system; it tells nothing.",
                info.name,
            )


def perfect_runs(findings: Findings) -> Iterator[Warning]:
    """A relevant document on top of every list: too good to be true, above all when every run does it."""
    evidence = findings.evidence
    perfect = perfect_systems(evidence)
    if perfect:
        yield Warning(
            "perfect_run",
            "serious" if len(perfect) == len(evidence.hits) else "warning",
            f"{all_of(perfect)} {'has' if len(perfect) == 1 else 'have'} a relevant document first "
            "on every query: check that the judgments did not leak into the run.",
            all_of(perfect),
        )


def duplicate_texts(findings: Findings) -> Iterator[Warning]:
    """The same query text under several ids."""
    texts = findings.evidence.texts()
    counts = Counter(text for text in texts if text)
    clusters = findings.evidence.clusters
    if clusters is not None:
        # a text all of whose queries are in one cluster is taken care of
        spread = Counter(text for text, _ in {*zip(texts, clusters.tolist(), strict=True)} if text)
        counts = Counter({text: n for text, n in counts.items() if spread[text] > 1})
    repeated = [n for n in counts.values() if n > 1]
    if repeated:
        yield Warning(
            "duplicate_texts",
            "warning",
            f"{count(len(repeated), 'query text')} {'occurs' if len(repeated) == 1 else 'occur'} under several ids "
            f"({queries(sum(repeated))}); "
            + (
                "queries are treated as independent, so intervals may be too narrow: --cluster COLUMN keeps them "
                "together."
                if clusters is None
                else "they lie in several clusters, which are treated as independent."
            ),
            "queries",
        )


def clusters_without_value(findings: Findings) -> Iterator[Warning]:
    """Queries that belong to no cluster."""
    clusters = findings.evidence.audit.get("clusters")
    if clusters and clusters["without_value"]:
        n = clusters["without_value"]
        yield Warning(
            "no_cluster",
            "warning",
            f"{queries(n)} {'has' if n == 1 else 'have'} no value of {clusters['column']}; "
            f"{'it counts as a cluster of its' if n == 1 else 'each counts as a cluster of its'} own.",
            "clusters",
        )


def tuning_queries(findings: Findings) -> Iterator[Warning]:
    """Queries that were used for tuning."""
    evidence = findings.evidence
    if evidence.queries is None or "split" not in evidence.queries.columns:
        return
    column = evidence.queries.columns["split"].tolist()
    used = [column[r] for r in evidence.row.tolist() if r >= 0]
    n = sum(str(value).casefold() in {"train", "training", "dev", "tune", "tuning", "validation"} for value in used)
    if n:
        yield Warning(
            "tuning_queries",
            "serious",
            f"{queries(n)} are marked as used for tuning, yet they are scored as test.",
            "queries",
        )
