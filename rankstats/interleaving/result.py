"""InterleavingReadout: everything that was computed of an interleaving log, as frozen rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from rankstats.comparison.plain import flat
from rankstats.comparison.result import (
    SCHEMA_VERSION,
    Checked,
    Family,
    Heterogeneity,
    Interval,
    OtherCorrection,
    OtherTest,
    Score,
    Segment,
    Standing,
    System,
    Verdict,
    Warning,
    plain,
)
from rankstats.experiment.result import Design
from rankstats.tables import MeasureInfo

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Preference:
    """What users prefer of two rankers, over all impressions or in a segment: a row of ``differences``.

    The keys are those of a comparison; n counts impressions with clicks, and `wins`, `ties`, `losses` are of them.
    Ranker a is the baseline, ranker b the system. `n_baseline` and `n_system` are what the test counts: units (else
    queries, else impressions), all of which saw both; `n_clusters` is the same number where impressions are flipped in
    whole units or queries. `difference` is the system's mean less the baseline's: of win shares, twice `delta`.

    Attributes
    ----------
    impressions, without_clicks : int
        Impressions, and those of them without any click.
    win_share : float or None
        (wins + half the ties) / n; None where wins say nothing.
    delta : float or None
        Δ of Chapelle et al.: win share − ½.
    delta_interval : Interval or None
        Of Δ, of the same test.
    """

    id: str
    measure: str
    baseline: str
    system: str
    segment: Mapping[str, str] | None
    weighting: None
    estimand: str
    n: int
    n_clusters: int | None
    n_baseline: int
    n_system: int
    impressions: int
    without_clicks: int
    mean_baseline: float | None
    mean_system: float | None
    difference: float | None
    standard_error: float | None
    relative_difference: None
    relative_interval: None
    margin: None
    test: str
    estimate: float | None
    p_value: float | None
    alternative: str
    interval: Interval | None
    p_adjusted: float | None
    adjusted_interval: Interval | None
    family: str
    role: str
    correction: str
    higher_is_better: bool
    wins: int | None
    ties: int | None
    losses: int | None
    win_share: float | None
    delta: float | None
    delta_interval: Interval | None
    effect_size: float | None
    smallest_detectable: float | None
    detectable_in_family: float | None
    tie_tolerance: float | None = 0.0
    withheld: str | None = None
    also: tuple[OtherTest, ...] = ()
    also_adjusted: tuple[OtherCorrection, ...] = ()


@dataclass(frozen=True, slots=True)
class LogCheck:
    """A check of the log: statistic, p-value and the p below which it warns.

    `outcome` is 'ok', 'warns' or 'blocks' (no verdict); `found` says it in words. `baseline` and `system` are the pair
    that it is about, None where it is about the whole log.
    """

    code: str
    question: str
    statistic: float | None
    p_value: float | None
    threshold: float | None
    outcome: str
    found: str
    baseline: str | None = None
    system: str | None = None


@dataclass(frozen=True, slots=True)
class Level:
    """A pair's test at one level: sign flips of whole units, of whole queries, of impressions, or of decided ones."""

    measure: str
    baseline: str
    system: str
    level: str
    n: int
    p_value: float | None
    interval: Interval | None
    used: bool


@dataclass(frozen=True, slots=True)
class PairCounts:
    """What a pair's impressions hold.

    `went_first` counts the impressions in which the system chose the first result of its own, of `first_known`.
    """

    baseline: str
    system: str
    impressions: int
    without_clicks: int
    undecidable: int
    units: int | None
    queries: int | None
    clicks: int
    went_first: int
    first_known: int


@dataclass(frozen=True, slots=True)
class InterleavingReadout:
    """A finished readout of an interleaving log.

    `to_dict` gives report.json of kind 'interleaving'; the attributes carry the same words.
    """

    title: str
    baseline: str | None
    primary: tuple[str, ...]
    alpha: float
    systems: tuple[System, ...]
    measures: tuple[MeasureInfo, ...]
    segments: tuple[Segment, ...]
    scores: tuple[Score, ...]
    differences: tuple[Preference, ...]
    families: tuple[Family, ...]
    heterogeneity: tuple[Heterogeneity, ...]
    standings: tuple[Standing, ...]
    audit: Mapping[str, Any]
    warnings: tuple[Warning, ...]
    verdict: tuple[Verdict, ...]
    scheme: str
    columns: Mapping[str, str]
    tested_at: str
    rows: int
    left_out: Mapping[str, int]
    pairs: tuple[PairCounts, ...]
    levels: tuple[Level, ...]
    checks: tuple[LogCheck, ...]
    design: Design
    settings: Mapping[str, Any]
    reproduction: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return the content of report.json: plain numbers, texts, lists and dictionaries; undefined is None."""
        return {
            "schema_version": SCHEMA_VERSION,
            "kind": "interleaving",
            "title": self.title,
            "baseline": self.baseline,
            "primary": list(self.primary),
            "alpha": self.alpha,
            "compare": "all-pairs" if self.baseline is None or self._has_other_pairs else "baseline",
            "systems": plain(self.systems),
            "measures": plain(self.measures),
            "queries": [],
            "values": {ranker.name: {info.name: [] for info in self.measures} for ranker in self.systems},
            "segments": plain(self.segments),
            "lists": [],
            "scores": plain(self.scores),
            "differences": plain(self.differences),
            "families": plain(self.families),
            "distributions": [],
            "heterogeneity": plain(self.heterogeneity),
            "agreement": [],
            "ranks": plain(self.standings),
            "checks": plain(self.evidence_checks),
            "audit": plain(self.audit),
            "warnings": plain(self.warnings),
            "verdict": plain(self.verdict),
            "decision": None,
            "experiment": None,
            "interleaving": {
                "scheme": self.scheme,
                "tested_at": self.tested_at,
                "columns": plain(self.columns),
                "rows": self.rows,
                "left_out": plain(self.left_out),
                "pairs": plain(self.pairs),
                "levels": plain(self.levels),
                "checks": plain(self.checks),
                "design": plain(self.design),
                "settings": plain(self.settings),
            },
            "reproduction": plain(self.reproduction),
        }

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        # later layers are looked up when they are asked for
        return str(import_module("rankstats.report.notebook").notebook_html(self.to_dict()))

    @property
    def _has_other_pairs(self) -> bool:
        return any(pair.baseline != self.baseline for pair in self.pairs)

    @property
    def evidence_checks(self) -> tuple[Checked, ...]:
        """The checks in the form of a comparison's."""
        words = {"ok": "ok", "warns": "warning", "blocks": "serious"}
        return tuple(Checked(check.code, check.question, words[check.outcome], check.found) for check in self.checks)

    def to_frame(self) -> pd.DataFrame:
        """Return the preferences as a frame, one row each, with flat columns for segments and intervals."""
        import pandas as pd  # noqa: PLC0415  slow to load and not needed for the report

        return pd.DataFrame([flat(row) for row in plain(self.differences)])
