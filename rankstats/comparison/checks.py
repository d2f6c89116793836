"""Evidence checks: what could lead a reader to a wrong decision, each with a code, a severity and a plain sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from rankstats.comparison.evidence import Evidence
from rankstats.comparison.result import Difference, Heterogeneity, Verdict, Warning
from rankstats.comparison.verdicts import outcome_of
from rankstats.conventions import SMALLEST_VERDICT_N
from rankstats.plan import Plan
from rankstats.wording import count, number, percent, signed

_ORDER = {"serious": 0, "warning": 1, "info": 2}
_MUCH_UNJUDGED = 0.2
"""Share of unjudged documents in the top of a list above which a reader is warned."""


@dataclass(frozen=True, slots=True)
class Findings:
    """What the checks look at.

    Attributes
    ----------
    evidence : Evidence
        The data.
    plan : Plan
        What was asked.
    confirmatory : tuple of Difference
        The claims.
    plain : tuple of Difference
        With weights: the same differences of plain means; else empty.
    verdicts : tuple of Verdict
        One a claim.
    heterogeneity : tuple of Heterogeneity
        The tests of the attributes.
    carried_by : tuple of (Difference, str)
        Claims that fall when one query is left out, with that query's id.
    """

    evidence: Evidence
    plan: Plan
    confirmatory: tuple[Difference, ...]
    plain: tuple[Difference, ...]
    verdicts: tuple[Verdict, ...]
    heterogeneity: tuple[Heterogeneity, ...]
    carried_by: tuple[tuple[Difference, str], ...]

    def label(self, measure: str) -> str:
        """Return the short label of a measure."""
        return next(info.label for info in self.evidence.scores.measures if info.name == measure)

    def place(self, row: Difference | Heterogeneity) -> str:
        """Say which pair and measure a warning is about."""
        return f"{row.system} against {row.baseline}, {self.label(row.measure)}"


def check_evidence(findings: Findings) -> tuple[Warning, ...]:
    """Return all warnings, the serious ones first, then in the order of the checks."""
    warnings = [warning for check in CHECKS for warning in check(findings)]
    return tuple(sorted(warnings, key=lambda warning: _ORDER[warning.severity]))


def _queries(n: int) -> str:
    return count(n, "query", "queries")


def missing_queries(findings: Findings) -> Iterator[Warning]:
    """Judged queries that a run does not answer."""
    judged = len(findings.evidence.scores.query_ids)
    for system, ids in findings.evidence.audit["queries"]["missing"].items():
        if ids:
            share = len(ids) / judged
            yield Warning(
                "missing_queries",
                "serious" if share > 0.05 else "warning",
                f"{system} answers {judged - len(ids):,} of {_queries(judged)}; the missing "
                f"{'one counts' if len(ids) == 1 else f'{len(ids):,} count'} as 0.",
                system,
            )


def undefined_scores(findings: Findings) -> Iterator[Warning]:
    """Values that a score file lacks."""
    for system, lacking in findings.evidence.audit["queries"].get("undefined_values", {}).items():
        if lacking:
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
                "unknown_queries", "info", f"{system} answers {_queries(n)} without judgments; left out.", system
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
            f"{n:,} of {_queries(judged)} ({percent(n / judged)}) have no relevant document; they {how}.",
            "all systems",
        )


def without_table_row(findings: Findings) -> Iterator[Warning]:
    """Judged queries that the query table lacks."""
    table = findings.evidence.audit["query_table"]
    if table and table["judged_without_row"]:
        n = table["judged_without_row"]
        yield Warning(
            "not_in_query_table",
            "warning",
            f"{_queries(n)} of {len(findings.evidence.scores.query_ids):,} are not in the query table; "
            "they form the segment (none).",
            "segments",
        )


def few_queries(findings: Findings) -> Iterator[Warning]:
    """Too few queries for a verdict, or for the level."""
    for row in findings.confirmatory:
        if row.n and 2.0 ** (1 - min(row.n, 1000)) > findings.plan.alpha:
            yield Warning(
                "level_unreachable",
                "serious",
                f"With {_queries(row.n)} no sign-flip p-value can reach {findings.plan.alpha:g}; "
                f"the smallest possible is {2.0 ** (1 - row.n):.3g}.",
                findings.place(row),
            )
        elif row.n < SMALLEST_VERDICT_N:
            yield Warning(
                "few_queries",
                "serious",
                f"{_queries(row.n)} are too few for a verdict; at least {SMALLEST_VERDICT_N} are needed.",
                findings.place(row),
            )
        elif row.n < 25:
            yield Warning(
                "few_queries", "warning", f"{_queries(row.n)} can show large differences only.", findings.place(row)
            )


def small_bootstrap(findings: Findings) -> Iterator[Warning]:
    """The bootstrap is too optimistic for few queries."""
    rows = [row for row in findings.confirmatory if SMALLEST_VERDICT_N <= row.n < 50]
    if rows:
        yield Warning(
            "bootstrap_small_n",
            "info",
            f"Bootstrap p-values are slightly too small for {_queries(min(row.n for row in rows))} (below 50); "
            "the randomisation test is not affected.",
            "bootstrap",
        )


def many_queries(findings: Findings) -> Iterator[Warning]:
    """Thousands of queries make everything significant."""
    n = max((row.n for row in findings.confirmatory), default=0)
    if n >= 2000:
        yield Warning(
            "many_queries",
            "info",
            f"With {_queries(n)} even tiny differences can be shown: read the size, not p.",
            "verdict",
        )


def tests_disagree(findings: Findings) -> Iterator[Warning]:
    """Tests of the same mean that decide differently."""
    for row in findings.confirmatory:
        if row.n < SMALLEST_VERDICT_N or row.p_value is None:
            continue
        same = {"randomisation", "bootstrap", "t"}
        p_values = {row.test: row.p_value, **{o.test: o.p_value for o in row.also if o.p_value is not None}}
        mean_tests = {test: p for test, p in p_values.items() if test in same}
        if len({p <= findings.plan.alpha for p in mean_tests.values()}) > 1:
            listed = ", ".join(f"{test} p = {p:.3f}" for test, p in mean_tests.items())
            yield Warning(
                "tests_disagree",
                "warning",
                f"The tests of the mean lie on both sides of {findings.plan.alpha:g} ({listed}): "
                "treat it as borderline.",
                findings.place(row),
            )


def corrections_disagree(findings: Findings) -> Iterator[Warning]:
    """Corrections that control the same error and decide differently."""
    alpha = findings.plan.alpha
    for row in findings.confirmatory:
        if row.n < SMALLEST_VERDICT_N or row.p_adjusted is None:
            continue
        # false discovery rate is another promise, so BH and BY do not count as disagreement
        p_values = {row.correction: row.p_adjusted}
        p_values |= {
            other.correction: other.p_adjusted
            for other in row.also_adjusted
            if other.p_adjusted is not None and other.correction not in ("bh", "by", "none")
        }
        if len({p <= alpha for p in p_values.values()}) > 1:
            listed = ", ".join(f"{name} {p:.3f}" for name, p in p_values.items())
            yield Warning(
                "corrections_disagree",
                "warning",
                f"The verdict depends on the correction (adjusted p: {listed}).",
                findings.place(row),
            )


def one_query_carries(findings: Findings) -> Iterator[Warning]:
    """A verdict that falls without one query."""
    for row, query_id in findings.carried_by:
        yield Warning(
            "one_query_carries",
            "warning",
            f"The verdict hangs on one query: without {query_id} the difference is not shown.",
            findings.place(row),
        )


def mean_against_losses(findings: Findings) -> Iterator[Warning]:
    """The mean says one thing, most queries the other."""
    for row in findings.confirmatory:
        if row.difference is None or row.n < SMALLEST_VERDICT_N:
            continue
        gained = (row.difference > 0) == row.higher_is_better
        if outcome_of(row, findings.plan.alpha) in ("better", "worse") and (row.wins < row.losses) == gained:
            yield Warning(
                "mean_against_losses",
                "warning",
                f"The mean {'rises' if row.difference > 0 else 'falls'} by {number(abs(row.difference))}, "
                f"yet {row.wins:,} queries are better and {row.losses:,} worse: "
                "a few large changes outweigh many small ones.",
                findings.place(row),
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
                    f"{percent(max(a, b))} of {worse}'s top {depth} is unjudged "
                    f"against {percent(min(a, b))} of {better}'s; "
                    f"unjudged counts as not relevant, so {worse} may be better than it looks.",
                    f"{system} against {baseline}",
                )


def unjudged(findings: Findings) -> Iterator[Warning]:
    """Much of what the systems show was never judged."""
    for depth, shares in findings.evidence.audit["unjudged_at"].items():
        high = {system: share for system, share in shares.items() if share is not None and share > _MUCH_UNJUDGED}
        if high:
            listed = ", ".join(f"{system} {percent(share)}" for system, share in high.items())
            yield Warning(
                "unjudged",
                "warning",
                f"Much of the top {depth} is unjudged and counts as not relevant ({listed}); "
                "judge the first documents of to_judge.tsv.",
                "judgments",
            )


def identical_systems(findings: Findings) -> Iterator[Warning]:
    """Two systems with the same values, or nearly so."""
    for row in findings.confirmatory:
        if row.n and row.ties == row.n:
            yield Warning(
                "identical_systems",
                "serious",
                f"{row.system} and {row.baseline} have the same {findings.label(row.measure)} on every query: "
                "is it the same run?",
                findings.place(row),
            )
        elif row.n >= SMALLEST_VERDICT_N and row.ties >= 0.95 * row.n:
            yield Warning(
                "nearly_identical_systems",
                "warning",
                f"{row.system} and {row.baseline} differ on {row.n - row.ties:,} of {_queries(row.n)} only.",
                findings.place(row),
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
    n = len(evidence.scores.query_ids)
    perfect = [
        hit.system
        for hit in evidence.hits
        if n >= SMALLEST_VERDICT_N and len(np.unique(hit.query[(hit.rank == 1) & (hit.grade > 0)])) == n
    ]
    if perfect:
        yield Warning(
            "perfect_run",
            "serious" if len(perfect) == len(evidence.hits) else "warning",
            f"{' and '.join(perfect)} {'has' if len(perfect) == 1 else 'have'} a relevant document first "
            "on every query: check that the judgments did not leak into the run.",
            ", ".join(perfect),
        )


def duplicate_texts(findings: Findings) -> Iterator[Warning]:
    """The same query text under several ids."""
    texts = Counter(text for text in findings.evidence.texts() if text)
    repeated = [n for n in texts.values() if n > 1]
    if repeated:
        yield Warning(
            "duplicate_texts",
            "warning",
            f"{count(len(repeated), 'query text')} {'occurs' if len(repeated) == 1 else 'occur'} under several ids "
            f"({_queries(sum(repeated))}); queries are treated as independent, so intervals may be too narrow.",
            "queries",
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
            f"{_queries(n)} are marked as used for tuning, yet they are scored as test.",
            "queries",
        )


def low_effective_n(findings: Findings) -> Iterator[Warning]:
    """Weights that rest on few queries."""
    for row in findings.confirmatory:
        if row.n_effective is not None and row.weighting is not None and row.n_effective < row.n / 2:
            yield Warning(
                "low_effective_n",
                "warning",
                f"The weights {row.weighting} make {_queries(row.n)} count like {row.n_effective:.0f}: "
                "few queries carry most weight.",
                findings.place(row),
            )


def weights_disagree(findings: Findings) -> Iterator[Warning]:
    """Weighted and plain means that say different things."""
    plain = {(row.baseline, row.system, row.measure): row for row in findings.plain}
    for row in findings.confirmatory:
        other = plain.get((row.baseline, row.system, row.measure))
        if other is None or row.difference is None or other.difference is None:
            continue
        if row.difference * other.difference < 0:
            yield Warning(
                "reversal",
                "serious",
                f"Weighted by {row.weighting} the difference is {signed(row.difference)}, "
                f"without weights {signed(other.difference)}.",
                findings.place(row),
            )
        elif other.p_value is not None and outcome_of(row, findings.plan.alpha) != _plain_outcome(
            other, findings.plan.alpha
        ):
            yield Warning(
                "weights_disagree",
                "info",
                f"With and without the weights {row.weighting} the verdict differs.",
                findings.place(row),
            )


def _plain_outcome(row: Difference, alpha: float) -> str:
    if row.p_value is None or row.difference is None or row.p_value > alpha or row.difference == 0:
        return "not_shown"
    return "better" if (row.difference > 0) == row.higher_is_better else "worse"


def reversals(findings: Findings) -> Iterator[Warning]:
    """An attribute that changes the difference, with segments on the other side."""
    claimed = {(row.baseline, row.system, row.measure) for row in findings.confirmatory}
    for row in findings.heterogeneity:
        changes = row.p_value is not None and row.p_value <= findings.plan.alpha
        if row.reversal and changes and (row.baseline, row.system, row.measure) in claimed:
            yield Warning(
                "segment_reversal",
                "warning",
                f"By {row.attribute}, {' and '.join(row.opposite)} {'moves' if len(row.opposite) == 1 else 'move'} "
                "the other way than all queries together.",
                findings.place(row),
            )


def recall_against_f1(findings: Findings) -> Iterator[Warning]:
    """F1 up while recall falls."""
    scores = findings.evidence.scores
    names = [info.name for info in scores.measures]
    for name in names:
        recall = "R" + name.removeprefix("F1")
        if not name.startswith("F1") or recall not in names:
            continue
        for baseline, system in sorted({(row.baseline, row.system) for row in findings.confirmatory}):
            b, s = scores.systems.index(baseline), scores.systems.index(system)
            change = {
                measure: float(
                    np.nanmean(scores.values[:, s, names.index(measure)] - scores.values[:, b, names.index(measure)])
                )
                for measure in (name, recall)
            }
            if change[name] > 0 > change[recall]:
                yield Warning(
                    "recall_down_f1_up", "info", f"{name} rises while {recall} falls.", f"{system} against {baseline}"
                )


def baseline_by_order(findings: Findings) -> Iterator[Warning]:
    """Nobody named the baseline."""
    if findings.plan.compare == "baseline" and not findings.plan.baselines:
        first = findings.evidence.scores.systems[0]
        yield Warning(
            "baseline_by_order",
            "info",
            f"{first} is the baseline because it was named first; --baseline NAME sets it.",
            "verdict",
        )


def best_by_data(findings: Findings) -> Iterator[Warning]:
    """The reference system was chosen by looking."""
    if findings.plan.compare == "best" and findings.confirmatory:
        yield Warning(
            "best_by_data",
            "info",
            f"{findings.confirmatory[0].baseline} is the reference because it has the best mean here; "
            "that choice favours it.",
            "verdict",
        )


def sampling_only(findings: Findings) -> Iterator[Warning]:
    """What no interval covers."""
    if findings.confirmatory:
        yield Warning(
            "sampling_only",
            "info",
            "Intervals cover the choice of queries only, not errors of the judges or changes of the collection.",
            "intervals",
        )


CHECKS: Sequence[Callable[[Findings], Iterator[Warning]]] = (
    identical_systems,
    perfect_runs,
    tuning_queries,
    few_queries,
    weights_disagree,
    judged_gap,
    unjudged,
    one_query_carries,
    mean_against_losses,
    tests_disagree,
    corrections_disagree,
    reversals,
    missing_queries,
    undefined_scores,
    low_effective_n,
    duplicate_texts,
    constant_measure,
    without_table_row,
    recall_against_f1,
    no_relevant,
    unknown_queries,
    small_bootstrap,
    many_queries,
    baseline_by_order,
    best_by_data,
    sampling_only,
)
"""All checks, in the order in which equal severities are shown."""
