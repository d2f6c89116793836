"""Rows of differences: what was tested, and what follows for segments, ranks and other mixes of queries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rankstats.comparison.interval import Interval


@dataclass(frozen=True, slots=True)
class OtherTest:
    """Another test of the same difference, shown beside the chosen one."""

    test: str
    p_value: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class OtherCorrection:
    """Another correction of the same p-value, shown beside the chosen one."""

    correction: str
    p_adjusted: float | None
    adjusted_interval: Interval | None


@dataclass(frozen=True, slots=True)
class Difference:
    """One paired difference, system minus baseline, with its test, sizes and place in a family.

    `estimate` is the parameter of the test: the mean difference, or the (pseudo-)median of a rank or sign test.
    Wins are queries on which the system is better, whatever the direction of the measure. With clusters `n_clusters`
    counts them and `n_effective` is their effective number. `smallest_p` is the smallest
    adjusted p-value that test and correction can give, `detectable_in_family` the smallest detectable difference at the
    level left to one member of the family.
    """

    id: str
    measure: str
    baseline: str
    system: str
    segment: Mapping[str, str] | None
    weighting: str | None
    estimand: str
    n: int
    n_clusters: int | None
    n_effective: float | None
    mean_baseline: float | None
    mean_system: float | None
    difference: float | None
    standard_error: float | None
    relative_difference: float | None
    relative_interval: Interval | None
    margin: float | None
    test: str
    estimate: float | None
    p_value: float | None
    smallest_p: float | None
    alternative: str
    interval: Interval | None
    p_adjusted: float | None
    adjusted_interval: Interval | None
    family: str
    role: str
    correction: str
    higher_is_better: bool
    wins: int
    ties: int
    losses: int
    tie_tolerance: float | None
    effect_size: float | None
    probability_of_superiority: float | None
    smallest_detectable: float | None
    detectable_in_family: float | None
    withheld: str | None = None
    also: tuple[OtherTest, ...] = ()
    also_adjusted: tuple[OtherCorrection, ...] = ()


@dataclass(frozen=True, slots=True)
class Family:
    """Differences that are corrected together; `size` counts comparisons that are corrected for but not shown."""

    id: str
    role: str
    correction: str
    alpha: float
    members: tuple[str, ...]
    size: int


@dataclass(frozen=True, slots=True)
class Distribution:
    """Histogram of the resampled mean difference."""

    difference_id: str
    edges: tuple[float, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Heterogeneity:
    """Whether the difference changes with an attribute; `opposite` names the segments on the other side of 0."""

    measure: str
    baseline: str
    system: str
    attribute: str
    label: str
    weighting: str | None
    segments: int
    n: int
    statistic: float | None
    p_value: float | None
    p_adjusted: float | None
    q: float | None
    i_squared: float | None
    reversal: bool
    opposite: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a system stands on a measure: its rank, the ranks that it may have, and whether it may be the best.

    `low` and `high` are None where there are too few queries for a test of all pairs.
    """

    measure: str
    system: str
    weighting: str | None
    n: int
    mean: float | None
    rank: int
    low: int | None
    high: int | None
    may_be_best: bool | None
    level: float
    correction: str | None


@dataclass(frozen=True, slots=True)
class PostStratified:
    """A difference under a stated mix of an attribute's segments; `mix` holds the shares, adding up to 1."""

    measure: str
    baseline: str
    system: str
    weighting: str | None
    attribute: str
    mix: Mapping[str, float]
    source: str
    n: int
    plain: float | None
    difference: float | None
    standard_error: float | None
    p_value: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class Total:
    """A measure of all lists together, such as coverage: two systems' values, and p of exchanging their lists."""

    measure: str
    baseline: str
    system: str
    n: int
    value_baseline: float | None
    value_system: float | None
    difference: float | None
    p_value: float | None
    higher_is_better: bool
