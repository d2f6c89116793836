"""Comparison: everything that was computed, as frozen rows; the one source of report.json and of every page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from rankstats.comparison.claim_rows import (
    Carrier,
    CondensedDifference,
    Coverage,
    Explanation,
    Move,
    Robustness,
    TieEffect,
)
from rankstats.comparison.difference_rows import (
    Difference,
    Distribution,
    Family,
    Heterogeneity,
    OtherCorrection,
    OtherTest,
    PostStratified,
    Standing,
    Total,
)
from rankstats.comparison.interval import Interval, defined
from rankstats.comparison.plain import flat, plain
from rankstats.comparison.system import System
from rankstats.tables import MeasureInfo, Scores

if TYPE_CHECKING:
    import pandas as pd

SCHEMA_VERSION = "1"

__all__ = [
    "Agreement",
    "Carrier",
    "Checked",
    "Comparison",
    "CondensedDifference",
    "Coverage",
    "Difference",
    "Distribution",
    "Explanation",
    "Family",
    "Heterogeneity",
    "Interval",
    "JudgeRow",
    "ListedDocument",
    "Move",
    "OtherCorrection",
    "OtherTest",
    "PostStratified",
    "Query",
    "RankedList",
    "Robustness",
    "SCHEMA_VERSION",
    "Score",
    "Segment",
    "Standing",
    "System",
    "TieEffect",
    "Total",
    "Verdict",
    "Warning",
    "defined",
    "plain",
]


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
    condensed: tuple[CondensedDifference, ...] = ()
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
            "condensed": plain(self.condensed),
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

        return pd.DataFrame([flat(row) for row in plain(self.differences)])

    def _values(self) -> dict[str, dict[str, list[float | None]]]:
        table = self.scores_table
        return {
            system: {info.name: plain(table.values[:, s, m]) for m, info in enumerate(table.measures)}
            for s, system in enumerate(table.systems)
        }
