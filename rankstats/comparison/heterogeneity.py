"""Does a difference change with an attribute? Without this test nobody may read "better only on long queries"."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rankstats import stats
from rankstats.comparison.columns import Column, make_columns, overall_differences
from rankstats.comparison.evidence import Evidence
from rankstats.comparison.result import Heterogeneity, defined
from rankstats.comparison.segments import NONE, Attribute
from rankstats.comparison.significance import seed_of
from rankstats.conventions import SMALLEST_VERDICT_N
from rankstats.plan import Plan
from rankstats.stats import Differences


def attribute_tests(
    evidence: Evidence, plan: Plan, pairs: Sequence[tuple[int, int]], attributes: Sequence[Attribute]
) -> tuple[Heterogeneity, ...]:
    """Test every attribute, measure and pair by permuting the segment labels over the queries.

    The differences are those under the plan's weights. With clusters whole clusters are permuted, where all queries of
    each have the same label; an attribute that divides clusters is not tested. Queries without a value of the
    attribute, and those of segments below 10 queries, are left out: Welch's statistic is not trustworthy there. The
    p-values of all attributes, measures and pairs are corrected together by Benjamini and Hochberg's procedure.

    Parameters
    ----------
    evidence : Evidence
        The values.
    plan : Plan
        Resamples and seed.
    pairs : sequence of (int, int)
        Baseline and system indices.
    attributes : sequence of Attribute
        The segments.
    """
    if not attributes:
        return ()
    columns = make_columns(evidence.scores, pairs, ())
    differences = overall_differences(evidence, columns, weighted=evidence.weights is not None)
    rows = [row for attribute in attributes for row in _one(evidence, plan, attribute, columns, differences)]
    p_values = np.array([math.nan if row.p_value is None else row.p_value for row in rows])
    adjusted = stats.adjust(p_values, "bh")
    return tuple(
        replace(row, p_adjusted=None if math.isnan(p) else p) for row, p in zip(rows, adjusted.tolist(), strict=True)
    )


def _one(
    evidence: Evidence, plan: Plan, attribute: Attribute, columns: Sequence[Column], differences: Differences
) -> list[Heterogeneity]:
    scores = evidence.scores
    large = [value != NONE and int(attribute.members(value).sum()) >= SMALLEST_VERDICT_N for value in attribute.values]
    labelled = np.array(large)[attribute.code]
    result = _test(evidence, plan, differences.within(labelled), attribute.code)
    opposite = _opposite(differences, attribute)
    return [
        Heterogeneity(
            measure=scores.measures[column.measure].name,
            baseline=scores.systems[column.baseline],
            system=scores.systems[column.system],
            attribute=attribute.name,
            label=attribute.name,
            weighting=evidence.weights_name if evidence.weights is not None else None,
            segments=0 if result is None else int(result.segments[c]),
            n=0 if result is None else int(result.n[c]),
            statistic=None if result is None else defined(result.statistic[c]),
            p_value=None if result is None else defined(result.p_value[c]),
            p_adjusted=None,
            q=None if result is None else defined(result.cochran_q[c]),
            i_squared=None if result is None else defined(result.i_squared[c]),
            reversal=bool(opposite[c]),
            opposite=opposite[c],
        )
        for c, column in enumerate(columns)
    ]


def _test(
    evidence: Evidence, plan: Plan, differences: Differences, code: NDArray[np.int64]
) -> stats.HeterogeneityResult | None:
    """Permute labels over queries or clusters; None where the attribute divides clusters."""

    def permute(rows: Differences, labels: NDArray[np.int64]) -> stats.HeterogeneityResult:
        return stats.heterogeneity_test(rows, labels, resamples=plan.resamples, rng=seed_of(plan, "labels"))

    if evidence.clusters is None:
        return permute(differences, code)
    if divides_clusters(evidence.clusters, code):
        return None
    _, first = np.unique(evidence.clusters, return_index=True)
    return stats.on_clusters(lambda rows: permute(rows, code[first]), differences, evidence.clusters)


def divides_clusters(clusters: NDArray[np.int64], code: NDArray[np.int64]) -> bool:
    """Return whether some cluster holds queries of several segments."""
    _, first, cluster = np.unique(clusters, return_index=True, return_inverse=True)
    return bool((code[first][cluster] != code).any())


def _opposite(pooled: Differences, attribute: Attribute) -> list[tuple[str, ...]]:
    """For each column, segments of enough queries whose mean has the opposite sign of all queries together."""
    sign = np.sign(pooled.mean)
    found: list[list[str]] = [[] for _ in sign]
    for value in attribute.values:
        segment = pooled.within(attribute.members(value))
        opposite = (segment.n >= SMALLEST_VERDICT_N) & (np.sign(segment.mean) * sign < 0)
        for c in np.flatnonzero(opposite).tolist() if value != NONE else ():
            found[c].append(value)
    return [tuple(values) for values in found]
