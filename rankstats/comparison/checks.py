"""Evidence checks: what could lead a reader to a wrong decision, each with a code, a severity and a plain sentence.

A check takes the findings and yields warnings. New ones go to `data_checks` or `claim_checks` and into `CHECKS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from rankstats.comparison import claim_checks, data_checks
from rankstats.comparison.findings import Findings
from rankstats.comparison.result import Warning
from rankstats.wording import count

_ORDER = {"serious": 0, "warning": 1, "info": 2}


def check_evidence(findings: Findings) -> tuple[Warning, ...]:
    """Return all warnings, the serious ones first, then in the order of the checks; the same said twice stands once."""
    grouped: dict[tuple[str, str, str], list[str]] = {}
    for check in CHECKS:
        for warning in check(findings):
            grouped.setdefault((warning.code, warning.severity, warning.message), []).append(warning.where)
    warnings = [
        Warning(code, severity, message, places[0] if len(places) == 1 else count(len(places), "comparison"))
        for (code, severity, message), places in grouped.items()
    ]
    return tuple(sorted(warnings, key=lambda warning: _ORDER[warning.severity]))


CHECKS: Sequence[Callable[[Findings], Iterator[Warning]]] = (
    claim_checks.identical_systems,
    data_checks.perfect_runs,
    data_checks.tuning_queries,
    claim_checks.few_queries,
    claim_checks.weights_disagree,
    data_checks.judged_gap,
    data_checks.unjudged,
    claim_checks.one_query_carries,
    claim_checks.mean_against_losses,
    claim_checks.tests_disagree,
    claim_checks.corrections_disagree,
    claim_checks.reversals,
    data_checks.missing_queries,
    data_checks.undefined_scores,
    claim_checks.low_effective_n,
    data_checks.duplicate_texts,
    data_checks.clusters_without_value,
    claim_checks.one_sided,
    data_checks.constant_measure,
    data_checks.without_table_row,
    data_checks.reading_notes,
    data_checks.undivided_segments,
    claim_checks.segments_divide_clusters,
    claim_checks.recall_against_f1,
    data_checks.no_relevant,
    data_checks.unknown_queries,
    claim_checks.small_bootstrap,
    claim_checks.many_queries,
    claim_checks.plan_overridden,
    claim_checks.baseline_by_order,
    claim_checks.best_by_data,
    claim_checks.sampling_only,
)
"""All checks, in the order in which equal severities are shown."""
