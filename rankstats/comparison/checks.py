"""Evidence checks: what could lead a reader to a wrong decision, each with a code, a severity and a plain sentence.

A check takes the findings and yields warnings. New ones go to `data_checks`, `claim_checks` or `weight_checks`, and
with the question that they answer into `CHECKS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rankstats.comparison import claim_checks, data_checks, direction_checks, weight_checks
from rankstats.comparison.findings import Findings
from rankstats.comparison.result import Checked, Warning
from rankstats.wording import count

_NAMED = 3
"""Places of one warning that are named; more are counted."""
_ORDER = {"serious": 0, "warning": 1, "info": 2}


def always(findings: Findings) -> bool:
    """Applies to every comparison."""
    return True


def with_runs(findings: Findings) -> bool:
    """Applies where ranked lists and judgments are known."""
    return bool(findings.evidence.hits)


def with_ready_made(findings: Findings) -> bool:
    """Applies where values were read and not computed."""
    return findings.evidence.judgments is None


def with_weights(findings: Findings) -> bool:
    """Applies where queries are weighted, or clusters have sizes."""
    return findings.evidence.weights is not None or findings.evidence.clusters is not None


def with_texts(findings: Findings) -> bool:
    """Applies where query texts are known."""
    return any(findings.evidence.texts())


def with_table(findings: Findings) -> bool:
    """Applies where there is a query table."""
    return findings.evidence.queries is not None


def with_segments(findings: Findings) -> bool:
    """Applies where segments are asked for."""
    return bool(findings.plan.segments)


def with_mixes(findings: Findings) -> bool:
    """Applies where a mix of segments is stated, or measured in the traffic."""
    return bool(findings.mixes)


def with_intervals(findings: Findings) -> bool:
    """Applies where bootstrap intervals are asked for by name."""
    return bool(findings.plan.intervals)


def with_best(findings: Findings) -> bool:
    """Applies where the reference is the system with the best mean."""
    return findings.plan.compare == "best"


def with_family(findings: Findings) -> bool:
    """Applies where several claims are made together."""
    return len(findings.confirmatory) > 1


@dataclass(frozen=True, slots=True)
class Check:
    """An evidence check.

    Attributes
    ----------
    question : str
        What it asks, as a heading.
    find : callable
        Yields the warnings.
    codes : tuple of str
        The codes of its warnings; the first names the check.
    applies : callable
        Whether the check has anything to look at.
    """

    question: str
    find: Callable[[Findings], Iterator[Warning]]
    codes: tuple[str, ...]
    applies: Callable[[Findings], bool] = always


CHECKS: Sequence[Check] = (
    Check(
        "are the systems different systems?",
        claim_checks.identical_systems,
        ("identical_systems", "nearly_identical_systems"),
    ),
    Check("is a run too good to be true?", data_checks.perfect_runs, ("perfect_run",), with_runs),
    Check("were the queries used for tuning?", data_checks.tuning_queries, ("tuning_queries",), with_table),
    Check(
        "is the direction of every measure known?",
        direction_checks.assumed_directions,
        ("assumed_direction",),
        with_ready_made,
    ),
    Check(
        "are there enough queries for the level?",
        claim_checks.few_queries,
        ("few_queries", "level_unreachable"),
    ),
    Check(
        "do weighted and plain means agree?",
        weight_checks.weights_disagree,
        ("weights_disagree", "reversal"),
        with_weights,
    ),
    Check("is one system judged less than the other?", data_checks.judged_gap, ("judged_gap",), with_runs),
    Check(
        "could unjudged documents of the lowest relevant grade undo a “better” or “worse”?",
        claim_checks.unjudged_decide,
        ("unjudged_decide",),
        with_runs,
    ),
    Check(
        "do condensed lists say the same?",
        claim_checks.condensed_disagree,
        ("condensed_disagree",),
        with_runs,
    ),
    Check("could the order of tied scores turn a verdict?", claim_checks.ties_decide, ("ties_decide",), with_runs),
    Check("is enough of the lists judged?", data_checks.unjudged, ("unjudged",), with_runs),
    Check("does one query carry a verdict?", claim_checks.one_query_carries, ("one_query_carries",)),
    Check("do mean and counts agree?", claim_checks.mean_against_losses, ("mean_against_losses",)),
    Check("do the tests of the mean agree?", claim_checks.tests_disagree, ("tests_disagree",)),
    Check("do the corrections agree?", claim_checks.corrections_disagree, ("corrections_disagree",), with_family),
    Check("would another mix of segments say the same?", weight_checks.mix_disagrees, ("mix_disagrees",), with_mixes),
    Check("does a segment point the other way?", claim_checks.reversals, ("segment_reversal",), with_segments),
    Check("did every run answer every query?", data_checks.missing_queries, ("missing_queries",)),
    Check("are all values there?", data_checks.undefined_scores, ("undefined_values",)),
    Check("do the weights rest on enough queries?", weight_checks.low_effective_n, ("low_effective_n",), with_weights),
    Check("do query texts repeat?", data_checks.duplicate_texts, ("duplicate_texts",), with_texts),
    Check("has every query a cluster?", data_checks.clusters_without_value, ("no_cluster",), with_weights),
    Check("do the tests look at both sides?", claim_checks.one_sided, ("one_sided",)),
    Check("does every measure vary?", data_checks.constant_measure, ("constant_measure",)),
    Check(
        "are the judged queries in the query table?",
        data_checks.without_table_row,
        ("not_in_query_table",),
        with_table,
    ),
    Check("was anything decided while reading?", data_checks.reading_notes, ("reading",)),
    Check(
        "does every attribute divide the queries?",
        data_checks.undivided_segments,
        ("undivided_segment",),
        with_segments,
    ),
    Check(
        "could every attribute be tested?",
        claim_checks.segments_divide_clusters,
        ("segments_divide_clusters",),
        with_segments,
    ),
    Check("does recall fall while F1 rises?", claim_checks.recall_against_f1, ("recall_down_f1_up",)),
    Check("has every query a relevant document?", data_checks.no_relevant, ("no_relevant",), with_runs),
    Check("are there queries without judgments?", data_checks.unknown_queries, ("unknown_queries",), with_runs),
    Check("are there enough queries for the bootstrap?", claim_checks.small_bootstrap, ("bootstrap_small_n",)),
    Check(
        "are there enough queries for the intervals asked for?",
        claim_checks.small_interval,
        ("interval_small_n",),
        with_intervals,
    ),
    Check("are there so many queries that size matters more than p?", claim_checks.many_queries, ("many_queries",)),
    Check("was the plan carried out as written?", claim_checks.plan_overridden, ("plan_overridden",)),
    Check("was the baseline named?", claim_checks.baseline_by_order, ("baseline_by_order",)),
    Check("was the reference chosen by the data?", claim_checks.best_by_data, ("best_by_data",), with_best),
    Check("what do the intervals not cover?", claim_checks.sampling_only, ("sampling_only",)),
)
"""All checks, in the order in which equal severities are shown."""


def check_evidence(findings: Findings) -> tuple[tuple[Warning, ...], tuple[Checked, ...]]:
    """Run all checks.

    Returns
    -------
    warnings : tuple of Warning
        The serious ones first, then in the order of the checks; the same said twice stands once.
    checked : tuple of Checked
        Every check with its outcome, in the order of the checks.
    """
    grouped: dict[tuple[str, str, str], list[str]] = {}
    checked = []
    for check in CHECKS:
        found = list(check.find(findings))
        for warning in found:
            grouped.setdefault((warning.code, warning.severity, warning.message), []).append(warning.where)
        checked.append(_outcome(check, found, applies=check.applies(findings)))
    warnings = [
        Warning(code, severity, message, _places(list(dict.fromkeys(places))))
        for (code, severity, message), places in grouped.items()
    ]
    return tuple(sorted(warnings, key=lambda warning: _ORDER[warning.severity])), tuple(checked)


def _places(places: Sequence[str]) -> str:
    """Name the places of a warning that is said once for all of them."""
    return "; ".join(places) if len(places) <= _NAMED else count(len(places), "comparison")


def _outcome(check: Check, found: Sequence[Warning], *, applies: bool) -> Checked:
    if not found:
        return Checked(check.codes[0], check.question, "ok" if applies else "not_applicable", "")
    worst = min(found, key=lambda warning: _ORDER[warning.severity])
    others = len({warning.message for warning in found}) - 1
    more = f" ({others:,} more among the warnings)" if others else ""
    return Checked(check.codes[0], check.question, worst.severity, worst.message + more)
