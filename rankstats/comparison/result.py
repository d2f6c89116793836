"""Comparison: everything that was computed, as frozen rows; the one source of report.json and of every page."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rankstats.tables import MeasureInfo, Scores

if TYPE_CHECKING:
    import pandas as pd

SCHEMA_VERSION = "1"


@dataclass(frozen=True, slots=True)
class Interval:
    """An interval of a number; an unbounded end is None.

    Attributes
    ----------
    low, high : float or None
        The ends.
    level : float
        Confidence level as a fraction.
    method : str
        How it was made.
    unbounded : {None, 'low', 'high', 'both'}
        Which ends are unbounded.
    """

    low: float | None
    high: float | None
    level: float
    method: str
    unbounded: str | None = None

    @classmethod
    def from_ends(cls, low: float, high: float, level: float, method: str) -> Interval | None:
        """Return the interval of two ends: NaN ends give None, infinite ends are unbounded."""
        if math.isnan(low) or math.isnan(high):
            return None
        open_ends = (math.isinf(low), math.isinf(high))
        unbounded = {(True, True): "both", (True, False): "low", (False, True): "high"}.get(open_ends)
        return cls(
            None if open_ends[0] else float(low), None if open_ends[1] else float(high), level, method, unbounded
        )

    @property
    def ends(self) -> tuple[float, float]:
        """The ends as numbers, infinite where unbounded."""
        return (-math.inf if self.low is None else self.low, math.inf if self.high is None else self.high)

    def leaves_out_zero(self) -> bool:
        """Whether 0 lies outside."""
        low, high = self.ends
        return low > 0 or high < 0


@dataclass(frozen=True, slots=True)
class System:
    """A system and where its values came from."""

    name: str
    source: str


@dataclass(frozen=True, slots=True)
class Query:
    """A query with its weight and attributes (text, frequency, columns, segments)."""

    query_id: str
    weight: float
    attributes: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment: one value of one attribute."""

    attribute: str
    value: str
    label: str
    n: int
    share: float | None
    share_of: str
    too_few: bool


@dataclass(frozen=True, slots=True)
class ListedDocument:
    """A document in a shown list; the grade of an unjudged one is None.

    `contribution` is what it brings to the first primary measure, where that is a sum over documents.
    """

    doc_id: str
    rank: int
    grade: float | None
    contribution: float | None = None


@dataclass(frozen=True, slots=True)
class RankedList:
    """The top of one system's list for one query."""

    query_id: str
    system: str
    docs: tuple[ListedDocument, ...]


@dataclass(frozen=True, slots=True)
class Score:
    """A system's mean on a measure, overall or in a segment."""

    system: str
    measure: str
    segment: Mapping[str, str] | None
    n: int
    mean: float | None
    weighted_mean: float | None
    interval: Interval | None


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
class Carrier:
    """A query that moves a difference: its own difference, and its share of the leading side."""

    query_id: str
    difference: float
    share: float


@dataclass(frozen=True, slots=True)
class Robustness:
    """How few queries carry a claim, and what median and trimmed mean say.

    `side` is 'gain' where the gains outweigh, 'loss' where the losses do; `half` of the `movers` on that side make up
    half of it.
    """

    difference_id: str
    median: float | None
    trimmed_mean: float | None
    trim: float
    gain: float | None
    loss: float | None
    side: str | None
    movers: int
    half: int
    share_of_largest: float | None
    carriers: tuple[Carrier, ...]


@dataclass(frozen=True, slots=True)
class Coverage:
    """What the unjudged documents in the tops of two lists could change about a claim.

    `worst` and `best` are the differences when all documents that favour the baseline (or the system) had the highest
    grade; `to_turn` is how many of the lowest relevant grade change the verdict, `turns_to` what it becomes, and
    `likely` how many of the losing list's would be relevant at the rate of its judged ones.
    """

    difference_id: str
    measure: str
    baseline: str
    system: str
    depth: int
    unjudged_baseline: float | None
    unjudged_system: float | None
    documents: int
    worst: float | None
    worst_outcome: str
    best: float | None
    best_outcome: str
    verdict: str
    to_turn: int | None
    turns_to: str | None
    likely: float | None


@dataclass(frozen=True, slots=True)
class TieEffect:
    """What the order inside ties of scores changes about a claim: queries of each list, range of the difference."""

    difference_id: str
    measure: str
    baseline: str
    system: str
    queries_baseline: int
    queries_system: int
    low: float
    high: float
    verdict: str
    turns_to: str | None


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


@dataclass(frozen=True, slots=True)
class Move:
    """A relevant document that stands at another rank; None where a list lacks it.

    `change` is in the unit of the measure.
    """

    doc_id: str
    grade: float
    rank_baseline: int | None
    rank_system: int | None
    change: float | None


@dataclass(frozen=True, slots=True)
class Explanation:
    """The documents that made the difference on a query."""

    query_id: str
    baseline: str
    system: str
    measure: str
    moves: tuple[Move, ...]


@dataclass(frozen=True, slots=True)
class Checked:
    """An evidence check with its outcome: 'ok', 'info', 'warning', 'serious' or 'not_applicable'."""

    code: str
    question: str
    outcome: str
    found: str


@dataclass(frozen=True, slots=True)
class Agreement:
    """A rank correlation."""

    kind: str
    what: tuple[str, ...]
    statistic: str
    value: float | None
    interval: Interval | None
    n: int


@dataclass(frozen=True, slots=True)
class Warning:
    """Something a reader must know before deciding."""

    code: str
    severity: str
    message: str
    where: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer for one pair and primary measure."""

    difference_id: str
    baseline: str
    system: str
    measure: str
    segment: Mapping[str, str] | None
    outcome: str
    sentence: str


@dataclass(frozen=True, slots=True)
class JudgeRow:
    """An unjudged document in the top of some list."""

    query_id: str
    doc_id: str
    systems: tuple[str, ...]
    best_rank: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """A finished comparison.

    `to_dict` gives report.json; the attributes carry the same words.
    """

    title: str
    baseline: str | None
    primary: tuple[str, ...]
    alpha: float
    compare: str
    weights: str | None
    clusters: str | None
    systems: tuple[System, ...]
    measures: tuple[MeasureInfo, ...]
    queries: tuple[Query, ...]
    scores_table: Scores
    segments: tuple[Segment, ...]
    lists: tuple[RankedList, ...]
    scores: tuple[Score, ...]
    differences: tuple[Difference, ...]
    families: tuple[Family, ...]
    distributions: tuple[Distribution, ...]
    heterogeneity: tuple[Heterogeneity, ...]
    agreement: tuple[Agreement, ...]
    audit: Mapping[str, Any]
    warnings: tuple[Warning, ...]
    verdict: tuple[Verdict, ...]
    reproduction: Mapping[str, Any]
    to_judge: tuple[JudgeRow, ...] = ()
    standings: tuple[Standing, ...] = ()
    post_stratified: tuple[PostStratified, ...] = ()
    robustness: tuple[Robustness, ...] = ()
    coverage: tuple[Coverage, ...] = ()
    tie_effects: tuple[TieEffect, ...] = ()
    totals: tuple[Total, ...] = ()
    explanations: tuple[Explanation, ...] = ()
    checks: tuple[Checked, ...] = ()
    decision: Mapping[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the content of report.json: plain numbers, texts, lists and dictionaries; undefined is None."""
        return {
            "schema_version": SCHEMA_VERSION,
            "kind": "comparison",
            "title": self.title,
            "baseline": self.baseline,
            "primary": list(self.primary),
            "alpha": self.alpha,
            "compare": self.compare,
            "weights": self.weights,
            "clusters": self.clusters,
            "systems": plain(self.systems),
            "measures": plain(self.measures),
            "queries": plain(self.queries),
            "values": self._values(),
            "segments": plain(self.segments),
            "lists": plain(self.lists),
            "scores": plain(self.scores),
            "differences": plain(self.differences),
            "families": plain(self.families),
            "distributions": plain(self.distributions),
            "heterogeneity": plain(self.heterogeneity),
            "agreement": plain(self.agreement),
            "ranks": plain(self.standings),
            "post_stratified": plain(self.post_stratified),
            "robustness": plain(self.robustness),
            "coverage": plain(self.coverage),
            "tie_effects": plain(self.tie_effects),
            "totals": plain(self.totals),
            "explanations": plain(self.explanations),
            "checks": plain(self.checks),
            "audit": plain(self.audit),
            "warnings": plain(self.warnings),
            "verdict": plain(self.verdict),
            "decision": plain(self.decision),
            "experiment": None,
            "reproduction": plain(self.reproduction),
        }

    def decide(self, policy: Any) -> Any:
        """Return the decision of a policy: `rankstats.decision.decide`."""
        # later layers are looked up when they are asked for
        return import_module("rankstats.decision").decide(self, policy)

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        return str(import_module("rankstats.report.notebook").notebook_html(self.to_dict()))

    def to_frame(self) -> pd.DataFrame:
        """Return the differences as a frame, one row each, with flat columns for segments and intervals."""
        import pandas as pd  # noqa: PLC0415  slow to load and not needed for the report

        return pd.DataFrame([_flat(row) for row in plain(self.differences)])

    def _values(self) -> dict[str, dict[str, list[float | None]]]:
        table = self.scores_table
        return {
            system: {info.name: plain(table.values[:, s, m]) for m, info in enumerate(table.measures)}
            for s, system in enumerate(table.systems)
        }


def defined(value: float) -> float | None:
    """Return a number as Python holds it, or None where it is not finite."""
    return float(value) if math.isfinite(value) else None


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """Spread segments and intervals over columns; leave out the nested lists of other tests and corrections."""
    flat: dict[str, Any] = {}
    for key, value in row.items():
        if key == "segment":
            flat |= {"attribute": value and value["attribute"], "value": value and value["value"]}
        elif key.endswith("interval"):
            flat |= {f"{key}_low": value and value["low"], f"{key}_high": value and value["high"]}
        elif not key.startswith("also"):
            flat[key] = value
    return flat


def plain(value: Any) -> Any:
    """Return a value made of plain Python only: NaN and infinities become None, tuples and arrays lists."""
    if isinstance(value, str):
        # paths may hold bytes that are no text; they are written as escapes
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, np.integer | np.bool_):
        return value.item()
    if isinstance(value, np.ndarray):
        return _plain_array(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Iterable):
        return [plain(item) for item in value]
    raise TypeError(f"{type(value).__name__} has no plain form")


def _plain_array(array: NDArray[Any]) -> list[Any]:
    return [plain(item) for item in array.tolist()]
