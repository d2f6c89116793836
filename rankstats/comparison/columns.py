"""Columns of differences: every measure, pair and segment side by side, under one weighting, with their tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankstats.comparison.evidence import Evidence
from rankstats.comparison.segments import Attribute
from rankstats.comparison.significance import Clusters, Tested, bootstrap_intervals, on_units, run_test
from rankstats.plan import Plan
from rankstats.stats import (
    BootstrapIntervals,
    Differences,
    EffectSizes,
    RelativeDifference,
    clustered_relative_difference,
    effect_sizes,
    paired_differences,
    paired_t,
    relative_difference,
    stack_columns,
)
from rankstats.tables import Scores

MOST_SHOWN_BESIDE = 1000
"""Columns up to which other tests than the plan's are made for being shown beside it; the paired t always is."""


@dataclass(frozen=True, slots=True)
class Column:
    """One difference to be tested.

    Attributes
    ----------
    measure : int
        Index of the measure.
    baseline, system : int
        Indices of the systems.
    attribute, value : str or None
        The segment; None for all queries.
    """

    measure: int
    baseline: int
    system: int
    attribute: str | None = None
    value: str | None = None

    @property
    def segment(self) -> dict[str, str] | None:
        """The segment as report.json writes it."""
        if self.attribute is None or self.value is None:
            return None
        return {"attribute": self.attribute, "value": self.value}


@dataclass(frozen=True, slots=True)
class Block:
    """Differences under one weighting, with their tests.

    Attributes
    ----------
    weighting : str or None
        Name of the weights; None for equal weights.
    columns : tuple of Column, length c
        All queries first, then the segments.
    differences : Differences
        Queries × c columns.
    baseline, system : ndarray of float64, shape (Q, c)
        The values that the differences are made of; NaN outside segment or definition.
    tested : mapping of str to Tested
        The plan's test and those shown beside it, over all columns.
    overall : mapping of str to Tested
        Tests made for the columns of all queries only (the first columns).
    intervals : BootstrapIntervals or None
        The intervals that the plan asks for by name, for the columns of all queries.
    clusters : ndarray of int64, shape (Q,), or None
        Clusters of the queries.
    standard_error : ndarray of float64, shape (c,)
        Of the mean differences; between clusters where there are some.
    sizes : EffectSizes
        Sizes of all columns, query by query.
    units : EffectSizes
        The same by clusters: their number, effective number, and the smallest detectable difference.
    relative : RelativeDifference
        Relative differences of all columns.
    first_id : int
        Number of differences in earlier blocks.
    """

    weighting: str | None
    columns: tuple[Column, ...]
    differences: Differences
    baseline: NDArray[np.float64]
    system: NDArray[np.float64]
    tested: Mapping[str, Tested]
    overall: Mapping[str, Tested]
    intervals: BootstrapIntervals | None
    clusters: Clusters
    standard_error: NDArray[np.float64]
    sizes: EffectSizes
    units: EffectSizes
    relative: RelativeDifference
    first_id: int

    def id(self, column: int) -> str:
        """Return the id of a column's difference."""
        return f"d{self.first_id + column + 1}"


def make_columns(
    scores: Scores, pairs: Sequence[tuple[int, int]], attributes: Sequence[Attribute]
) -> tuple[Column, ...]:
    """Return one column for each measure, pair and segment: all queries first, then the segments in display order.

    Measures of all lists together have no value a query and no column.
    """
    splits: list[tuple[str | None, str | None]] = [(None, None)]
    splits += [(attribute.name, value) for attribute in attributes for value in attribute.values]
    return tuple(
        Column(m, b, s, attribute, value)
        for attribute, value in splits
        for m, info in enumerate(scores.measures)
        if info.aggregate != "together"
        for b, s in pairs
    )


def overall_differences(evidence: Evidence, columns: Sequence[Column], *, weighted: bool) -> Differences:
    """Return the differences of columns over all queries, whatever their segments."""
    baseline, system = _values(evidence.scores, columns)
    return paired_differences(baseline, system, evidence.weights if weighted else None)


def _values(scores: Scores, columns: Sequence[Column]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    defined = scores.defined()
    measure = np.array([column.measure for column in columns])
    kept = defined[:, measure]
    baseline = scores.values[:, np.array([column.baseline for column in columns]), measure]
    system = scores.values[:, np.array([column.system for column in columns]), measure]
    return np.where(kept, baseline, np.nan), np.where(kept, system, np.nan)


def make_block(
    evidence: Evidence,
    plan: Plan,
    columns: tuple[Column, ...],
    attributes: Sequence[Attribute],
    claims: Sequence[int],
    *,
    weighted: bool,
    first_id: int,
) -> Block:
    """Make all columns under one weighting and run the tests: one block of random numbers for all of them."""
    overall = [column for column in columns if column.attribute is None]
    base = overall_differences(evidence, overall, weighted=weighted)
    groups = [attribute.members(value) for attribute in attributes for value in attribute.values]
    differences = stack_columns([base, *(base.within(group) for group in groups)])
    baseline, system = (np.where(differences.present, values, np.nan) for values in _values(evidence.scores, columns))
    family_size = np.ones(len(columns), dtype=np.int64)
    family_size[list(claims)] = len(claims)
    few = len(columns) <= MOST_SHOWN_BESIDE
    tests = dict.fromkeys((plan.test, "randomisation", *(("bootstrap",) if few else ()), "t"))
    clusters, weights = evidence.clusters, evidence.weights if weighted else None
    # rank and sign tests know no weights and no clusters
    extra = ["wilcoxon", "sign"] if few and not weighted and clusters is None else []
    first, alone = base.select(np.arange(len(overall))), np.ones(len(overall), dtype=np.int64)
    return Block(
        weighting=evidence.weights_name if weighted else None,
        columns=columns,
        differences=differences,
        baseline=baseline,
        system=system,
        tested={test: run_test(test, differences, plan, family_size, clusters) for test in tests},
        overall={test: run_test(test, first, plan, alone) for test in extra if test not in tests},
        intervals=bootstrap_intervals(first, plan, clusters),
        clusters=clusters,
        standard_error=on_units(paired_t, differences, clusters).standard_error,
        sizes=effect_sizes(differences, alpha=two_sided_alpha(plan)),
        units=on_units(effect_sizes, differences, clusters, alpha=two_sided_alpha(plan)),
        relative=relative_difference(baseline, system, weights, alpha=plan.alpha)
        if clusters is None
        else clustered_relative_difference(baseline, system, clusters, weights, alpha=plan.alpha),
        first_id=first_id,
    )


def two_sided_alpha(plan: Plan) -> float:
    """Return the level of the two-sided test that finds as much as the plan's: one-sided at alpha is 2 · alpha."""
    return plan.alpha if plan.alternative == "two-sided" else 2 * plan.alpha
