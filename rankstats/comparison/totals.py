"""Measures of all lists together, such as coverage of the catalogue: values and differences with an exchange test."""

from __future__ import annotations

from collections.abc import Sequence

from rankstats import stats
from rankstats.comparison.evidence import Evidence
from rankstats.comparison.result import Total, defined
from rankstats.comparison.significance import seed_of
from rankstats.measures import exchangeable, parse_measure
from rankstats.plan import Plan


def make_totals(evidence: Evidence, plan: Plan, pairs: Sequence[tuple[int, int]]) -> tuple[Total, ...]:
    """Return a row for each measure of all lists together and each pair.

    Such a measure has one value a system and no value a query: queries cannot be resampled without counting the same
    document twice. The two systems' lists are exchanged query by query instead, and the value is computed anew.

    Parameters
    ----------
    evidence : Evidence
        Judgments, hits and items; ready-made scores have no such measures.
    plan : Plan
        Resamples and seed.
    pairs : sequence of (int, int)
        Baseline and system indices.
    """
    if evidence.judgments is None or not evidence.hits:
        return ()
    rows = []
    for info in evidence.scores.measures:
        if info.aggregate != "together":
            continue
        made = exchangeable(parse_measure(info.name), evidence.judgments, evidence.hits, items=evidence.items)
        for b, s in pairs:
            result = stats.list_exchange_test(
                made.parts[b], made.parts[s], made.statistic, resamples=plan.resamples, rng=seed_of(plan, "labels")
            )
            # the test's first value is the baseline's, and its difference first − second
            rows.append(
                Total(
                    measure=info.name,
                    baseline=evidence.scores.systems[b],
                    system=evidence.scores.systems[s],
                    n=result.n,
                    value_baseline=defined(result.first),
                    value_system=defined(result.second),
                    difference=defined(result.second - result.first),
                    p_value=defined(result.p_value),
                    higher_is_better=info.higher_is_better,
                )
            )
    return tuple(rows)
