"""Evidence checks of the claims: what could lead a reader to a wrong decision."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rankstats.comparison.findings import Findings, all_of, outcome_words, queries
from rankstats.comparison.result import Coverage, Difference, Warning
from rankstats.comparison.verdicts import has_too_few, independent, outcome_of, sample
from rankstats.conventions import RANK_TESTS, SMALLEST_VERDICT_N
from rankstats.procedure_names import CORRECTION_NAMES, TEST_NAMES
from rankstats.wording import count, decimals_for, number, p_statement, p_value, signed


def few_queries(findings: Findings) -> Iterator[Warning]:
    """Too few queries for a verdict, or for the level."""
    for row in findings.confirmatory:
        if row.smallest_p is not None and row.smallest_p > findings.plan.alpha and row.ties < row.n:
            yield Warning(
                "level_unreachable",
                "serious",
                f"No sign-flip p-value can reach {findings.plan.alpha:g} here: {_smallest(row)}.",
                findings.place(row),
            )
        elif has_too_few(row):
            yield Warning(
                "few_queries",
                "serious",
                f"{sample(row)} are too few for a verdict"
                f"{'' if row.n < SMALLEST_VERDICT_N or row.weighting is None else ' with these weights'}; "
                f"at least {SMALLEST_VERDICT_N} are needed.",
                findings.place(row),
            )
        elif independent(row) < 25:
            yield Warning(
                "few_queries", "warning", f"{sample(row)} can show large differences only.", findings.place(row)
            )


def _smallest(row: Difference) -> str:
    """Say how small p can be, and of what that follows."""
    moved = f", {row.n - row.ties:,} of them with a difference," if row.ties else ""
    corrected = "" if row.correction == "none" else " and this correction"
    smallest = row.smallest_p or 0.0
    return f"with {sample(row)}{moved}{corrected} the smallest possible p is {p_value(smallest) if smallest < 1 else 1}"


def small_bootstrap(findings: Findings) -> Iterator[Warning]:
    """The bootstrap is too optimistic for few queries."""
    small = [row for row in findings.confirmatory if SMALLEST_VERDICT_N <= independent(row) < 50]
    if small:
        leads = findings.plan.test == "bootstrap"
        fewest = min(small, key=independent)
        yield Warning(
            "bootstrap_small_n",
            "warning" if leads else "info",
            f"Bootstrap p-values are slightly too small for {sample(fewest)} (below 50)"
            + ("." if leads else "; the test of the verdict is not affected."),
            "bootstrap",
        )


def small_interval(findings: Findings) -> Iterator[Warning]:
    """Bootstrap intervals asked for by name that are too narrow for few queries."""
    asked = [name for name in findings.plan.intervals if name in ("percentile", "basic", "bca", "normal")]
    small = [row for row in findings.confirmatory if SMALLEST_VERDICT_N <= independent(row) < 30]
    if asked and small:
        yield Warning(
            "interval_small_n",
            "warning",
            f"Bootstrap intervals ({', '.join(asked)}) are too narrow for {sample(min(small, key=independent))} "
            "(below 30); expanded and studentised ones, and the interval of the test, are not.",
            "intervals",
        )


def many_queries(findings: Findings) -> Iterator[Warning]:
    """Thousands of queries make everything significant."""
    n = max((row.n for row in findings.confirmatory), default=0)
    if n >= 2000:
        yield Warning(
            "many_queries",
            "info",
            f"With {queries(n)} even tiny differences can be shown: read the size, not p.",
            "verdict",
        )


def tests_disagree(findings: Findings) -> Iterator[Warning]:
    """Tests of the same mean that decide differently, each corrected for the size of the family."""
    alpha, members = findings.plan.alpha, len(findings.confirmatory)
    for row in findings.confirmatory:
        if has_too_few(row) or row.p_value is None or row.effect_size is None or row.test in RANK_TESTS:
            continue
        p_values = {row.test: row.p_value, **{o.test: o.p_value for o in row.also if o.p_value is not None}}
        means = {test: min(1.0, members * p) for test, p in p_values.items() if test not in RANK_TESTS}
        if len({p <= alpha for p in means.values()}) > 1:
            listed = ", ".join(f"{TEST_NAMES.get(test, test)} {p_statement(p)}" for test, p in means.items())
            corrected = ", times the size of the family" if members > 1 else ""
            yield Warning(
                "tests_disagree",
                "warning",
                f"The tests of the mean lie on both sides of {alpha:g} ({listed}{corrected}): treat it as borderline.",
                findings.place(row),
            )


def corrections_disagree(findings: Findings) -> Iterator[Warning]:
    """Corrections that control the same error and decide differently."""
    alpha = findings.plan.alpha
    for row in findings.confirmatory:
        if has_too_few(row) or row.p_adjusted is None:
            continue
        # false discovery rate is another promise, so BH and BY do not count as disagreement
        p_values = {row.correction: row.p_adjusted}
        p_values |= {
            other.correction: other.p_adjusted
            for other in row.also_adjusted
            if other.p_adjusted is not None and other.correction not in ("bh", "by", "none")
        }
        if len({p <= alpha for p in p_values.values()}) > 1:
            listed = ", ".join(f"{CORRECTION_NAMES.get(name, name)} {p_statement(p)}" for name, p in p_values.items())
            yield Warning(
                "corrections_disagree",
                "warning",
                f"The verdict depends on the correction ({listed}).",
                findings.place(row),
            )


def unjudged_decide(findings: Findings) -> Iterator[Warning]:
    """Unjudged documents that could turn a verdict."""
    rows = {row.id: row for row in findings.confirmatory}
    for found in findings.coverage:
        row = rows[found.difference_id]
        if row.withheld is not None and "unjudged" in row.withheld:
            yield Warning(
                "unjudged_decide", "serious", f"The verdict is withheld: {row.withheld}.", findings.place(row)
            )
        elif found.to_turn is not None and found.verdict in ("better", "worse"):
            yield Warning(
                "unjudged_decide",
                "warning" if found.likely and found.to_turn <= found.likely else "info",
                _turning(found, row.n),
                findings.place(row),
            )


def _turning(found: Coverage, n: int) -> str:
    """Say how many documents turn a verdict, and how many are likely relevant where that is known."""
    documents = found.to_turn or 0
    them = "it was" if documents == 1 else "they were"
    text = (
        f"{count(documents, 'unjudged document')} (top {found.depth} of {queries(n)}) would turn the verdict if {them} "
        "relevant, of the lowest grade"
    )
    if not found.likely:
        return f"{text}."
    loser = found.baseline if found.verdict == "better" else found.system
    many = "fewer than 1 is" if found.likely < 1 else f"about {found.likely:,.0f} are"
    return f"{text}; of those that would help {loser} {many} likely relevant, at the rate of its judged ones."


def condensed_disagree(findings: Findings) -> Iterator[Warning]:
    """Condensed lists that say something else."""
    rows = {row.id: row for row in findings.confirmatory}
    for found in findings.condensed:
        if found.disagreement is None:
            continue
        row = rows[found.difference_id]
        decimals = decimals_for(row.standard_error)
        plain, condensed = signed(found.plain, decimals), signed(found.difference, decimals)
        turned = found.disagreement == "verdict" and found.outcome is not None
        yield Warning(
            "condensed_disagree",
            "warning" if turned else "info",
            f"Without the unjudged documents (condensed lists) the difference is {condensed}"
            + (f" ({outcome_words(found.outcome or '')})" if turned else "")
            + f", as judged {plain}"
            + (f" ({outcome_words(found.verdict)}{'' if row.withheld is None else ', withheld'})" if turned else "")
            + ": what is read off depends on documents that nobody judged.",
            findings.place(row),
        )


def ties_decide(findings: Findings) -> Iterator[Warning]:
    """Tied scores whose order changes values, or a verdict."""
    rows = {row.id: row for row in findings.confirmatory}
    for found in findings.tie_effects:
        row = rows[found.difference_id]
        parts = [
            f"{queries(n)} of {system}"
            for system, n in ((found.baseline, found.queries_baseline), (found.system, found.queries_system))
            if n
        ]
        decimals = findings.decimals(row.measure)
        if signed(found.low, decimals) == signed(found.high, decimals):
            if found.turns_to is None:
                # less than the digits that a report shows
                continue
            decimals = decimals_for(found.high - found.low)
        text = (
            f"The order of tied scores changes the value of {' and '.join(parts)}: the difference lies between "
            f"{signed(found.low, decimals)} and {signed(found.high, decimals)}"
        )
        turned = f", and the verdict would be “{outcome_words(found.turns_to)}”" if found.turns_to else ""
        severity = "warning" if found.turns_to else "info"
        yield Warning("ties_decide", severity, f"{text}{turned}.", findings.place(row))


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
        outcome = outcome_of(row, findings.plan.alpha)
        against = {"better": row.losses > row.wins, "worse": row.wins > row.losses}
        if row.difference is not None and row.test not in RANK_TESTS and against.get(outcome, False):
            yield Warning(
                "mean_against_losses",
                "warning",
                f"The mean {'rises' if row.difference > 0 else 'falls'} by "
                f"{number(abs(row.difference), decimals_for(row.standard_error))}, "
                f"yet {row.wins:,} queries are better and {row.losses:,} worse: "
                "a few large changes outweigh many small ones.",
                findings.place(row),
            )


def identical_systems(findings: Findings) -> Iterator[Warning]:
    """Two systems with the same values, or nearly so."""
    scores = findings.evidence.scores
    same_everywhere = set()
    compared = {frozenset((row.baseline, row.system)) for row in findings.confirmatory}
    for names in _same_values(findings):
        # pairs that are compared are told below
        if not any(pair <= set(names) for pair in compared):
            yield Warning(
                "identical_systems",
                "serious",
                f"{all_of(names)} have the same value of every measure on every query: is it the same run?",
                all_of(names),
            )
    for row in findings.confirmatory:
        pair = (scores.systems.index(row.baseline), scores.systems.index(row.system))
        if pair in same_everywhere:
            continue
        if np.array_equal(scores.values[:, pair[0]], scores.values[:, pair[1]], equal_nan=True):
            same_everywhere.add(pair)
            yield Warning(
                "identical_systems",
                "serious",
                f"{row.system} and {row.baseline} have the same value of every measure on every query: "
                "is it the same run?",
                f"{row.system} against {row.baseline}",
            )
        elif row.n >= SMALLEST_VERDICT_N and row.ties >= 0.95 * row.n:
            yield Warning(
                "nearly_identical_systems",
                "warning",
                f"{row.system} and {row.baseline} differ on {row.n - row.ties:,} of {queries(row.n)} only.",
                findings.place(row),
            )


def _same_values(findings: Findings) -> list[list[str]]:
    """Return the groups of systems that have all values in common."""
    scores = findings.evidence.scores
    groups: dict[bytes, list[str]] = {}
    for s, system in enumerate(scores.systems):
        # adding 0 makes −0 and 0 one
        groups.setdefault((np.ascontiguousarray(scores.values[:, s]) + 0.0).tobytes(), []).append(system)
    return [names for names in groups.values() if len(names) > 1]


def reversals(findings: Findings) -> Iterator[Warning]:
    """An attribute that changes the difference, with segments on the other side."""
    claimed = {(row.baseline, row.system, row.measure) for row in findings.confirmatory}
    for row in findings.heterogeneity:
        changes = row.p_adjusted is not None and row.p_adjusted <= findings.plan.alpha
        if row.reversal and changes and (row.baseline, row.system, row.measure) in claimed:
            yield Warning(
                "segment_reversal",
                "warning",
                f"By {row.attribute} the estimate on {all_of(row.opposite)} has the opposite sign of the one on all "
                "queries.",
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


def one_sided(findings: Findings) -> Iterator[Warning]:
    """The plan asks about one side only."""
    if findings.plan.alternative != "two-sided":
        side = "above" if findings.plan.alternative == "greater" else "below"
        yield Warning(
            "one_sided",
            "warning",
            f"The plan declares one-sided tests: only differences {side} 0 can be shown, and a difference on the other "
            "side, however large, is “not shown”.",
            "verdict",
        )


def segments_divide_clusters(findings: Findings) -> Iterator[Warning]:
    """Attributes that cannot be tested with clusters."""
    divided = dict.fromkeys(row.attribute for row in findings.heterogeneity if row.segments == 0)
    if findings.evidence.clusters is not None and divided:
        yield Warning(
            "segments_divide_clusters",
            "info",
            f"Heterogeneity by {', '.join(divided)} is not tested: some clusters hold queries of several segments.",
            "segments",
        )


def plan_overridden(findings: Findings) -> Iterator[Warning]:
    """Options that replaced what the plan file states."""
    for change in findings.plan.overridden:
        yield Warning("plan_overridden", "warning", f"The plan was overridden: {change}.", "plan")


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
