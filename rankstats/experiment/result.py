"""Readout: everything that was computed of an experiment, as frozen rows; the source of report.json and of the page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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
    System,
    Verdict,
    Warning,
    plain,
)
from rankstats.stats.sample_ratio import WARNS_BELOW
from rankstats.tables import MeasureInfo

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of an arm on a metric, over all units or in a segment: a row of ``differences``.

    The keys are those of a comparison, and `n_baseline`, `n_system` (units), `adjusted_for` (covariates) with
    `variance_reduction` (fraction by which they lower the variance). `variances` holds what intervals at other levels
    take: squared standard errors of the two estimates, their covariance, and degrees of freedom (of the difference, and
    of the control's estimate; null where infinite). Wins, ties and losses do not exist: no unit is in both arms.
    `no_interval` says why `interval` is null.
    """

    id: str
    measure: str
    baseline: str
    system: str
    segment: Mapping[str, str] | None
    weighting: None
    estimand: str
    n: int
    n_baseline: int
    n_system: int
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
    alternative: str
    interval: Interval | None
    p_adjusted: float | None
    adjusted_interval: Interval | None
    family: str
    role: str
    correction: str
    higher_is_better: bool
    effect_size: float | None
    smallest_detectable: float | None
    detectable_in_family: float | None
    adjusted_for: tuple[str, ...] = ()
    variance_reduction: float | None = None
    variances: Mapping[str, float | None] | None = None
    wins: None = None
    ties: None = None
    losses: None = None
    withheld: str | None = None
    no_interval: str | None = None
    also: tuple[OtherTest, ...] = ()
    also_adjusted: tuple[OtherCorrection, ...] = ()


@dataclass(frozen=True, slots=True)
class OtherEffect(OtherTest):
    """The same effect by another procedure: without covariates, without a cap, without one unit."""

    difference: float | None = None


@dataclass(frozen=True, slots=True)
class ArmUnits:
    """Randomised units of an arm, and its designed share."""

    arm: str
    n: int
    designed_share: float


@dataclass(frozen=True, slots=True)
class Check:
    """A check of the experiment: statistic, p-value and the p below which it warns.

    `outcome` is 'ok', 'warns' or 'blocks' (no verdict); `found` says it in words, `measure` is the metric it is about.
    """

    code: str
    question: str
    statistic: float | None
    p_value: float | None
    threshold: float | None
    outcome: str
    found: str
    measure: str | None = None


@dataclass(frozen=True, slots=True)
class Guard:
    """Whether an arm harms a guard metric by more than its margin: 'holds', 'fails' or 'open'.

    The interval is of level 1 − alpha, two-sided; `p_value` is one-sided, to be compared with alpha / 2. `relative`
    tells whether margin, effect and interval are fractions of the control.
    """

    measure: str
    baseline: str
    system: str
    margin: float
    relative: bool
    effect: float | None
    p_value: float | None
    interval: Interval | None
    outcome: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Cap:
    """What winsorising capped: the cap, and the units above it by arm."""

    measure: str
    level: float
    cap: float
    capped: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class DayEffect:
    """The effect on one day, and of all days up to it."""

    measure: str
    baseline: str
    system: str
    day: str
    n: int
    difference: float | None
    interval: Interval | None
    n_to_date: int
    difference_to_date: float | None
    interval_to_date: Interval | None


@dataclass(frozen=True, slots=True)
class TriggerEffect:
    """The effect on the units that the treatment could reach, and what it makes over all units.

    `share` is the triggered units' share of all; `diluted` is the effect over all units that follows from the effect on
    the triggered ones, None for ratios and quantiles; `untriggered_p` tests the units where no effect can be.
    """

    measure: str
    baseline: str
    system: str
    n: int
    share: float
    difference: float | None
    interval: Interval | None
    p_value: float | None
    diluted: float | None
    diluted_interval: Interval | None
    untriggered_p: float | None


@dataclass(frozen=True, slots=True)
class Design:
    """How looks are allowed for.

    `bound` and `nominal_p` are those of this look in a group-sequential design for one member of the family.
    """

    kind: str
    look: int
    looks: tuple[float, ...]
    spending: str | None
    bound: float | None
    nominal_p: float | None
    planned_units: int | None
    earlier: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Readout:
    """A finished readout of an experiment.

    `to_dict` gives report.json of kind 'experiment'; the attributes carry the same words.
    """

    title: str
    baseline: str
    primary: tuple[str, ...]
    alpha: float
    systems: tuple[System, ...]
    measures: tuple[MeasureInfo, ...]
    segments: tuple[Segment, ...]
    scores: tuple[Score, ...]
    differences: tuple[Effect, ...]
    families: tuple[Family, ...]
    heterogeneity: tuple[Heterogeneity, ...]
    audit: Mapping[str, Any]
    warnings: tuple[Warning, ...]
    verdict: tuple[Verdict, ...]
    units: tuple[ArmUnits, ...]
    unit: str | None
    checks: tuple[Check, ...]
    guards: tuple[Guard, ...]
    caps: tuple[Cap, ...]
    days: tuple[DayEffect, ...]
    design: Design
    trigger: tuple[TriggerEffect, ...]
    reproduction: Mapping[str, Any]
    decision: Mapping[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the content of report.json: plain numbers, texts, lists and dictionaries; undefined is None."""
        return {
            "schema_version": SCHEMA_VERSION,
            "kind": "experiment",
            "title": self.title,
            "baseline": self.baseline,
            "primary": list(self.primary),
            "alpha": self.alpha,
            "compare": "baseline",
            "systems": plain(self.systems),
            "measures": plain(self.measures),
            "queries": [],
            "values": {arm.name: {info.name: [] for info in self.measures} for arm in self.systems},
            "segments": plain(self.segments),
            "lists": [],
            "scores": plain(self.scores),
            "differences": plain(self.differences),
            "families": plain(self.families),
            "distributions": [],
            "heterogeneity": plain(self.heterogeneity),
            "agreement": [],
            "checks": plain(self.evidence_checks),
            "audit": plain(self.audit),
            "warnings": plain(self.warnings),
            "verdict": plain(self.verdict),
            "decision": plain(self.decision),
            "experiment": {
                "unit": self.unit,
                "units": plain(self.units),
                "checks": plain(self.checks),
                "guards": plain(self.guards),
                "caps": plain(self.caps),
                "days": plain(self.days),
                "trigger": plain(self.trigger),
                "design": plain(self.design),
            },
            "reproduction": plain(self.reproduction),
        }

    @property
    def evidence_checks(self) -> tuple[Checked, ...]:
        """The checks in the form of a comparison's; a p that is small, but no warning, is worth a note."""
        words = {"ok": "ok", "warns": "warning", "blocks": "serious"}
        return tuple(
            Checked(check.code, check.question, "info" if self._is_close(check) else words[check.outcome], check.found)
            for check in self.checks
        )

    def _is_close(self, check: Check) -> bool:
        """Return whether units without a trigger differ at the usual level, shared as the level of the check is."""
        if check.code != "untriggered_effect" or check.outcome != "ok":
            return False
        p, threshold = check.p_value, check.threshold
        return p is not None and threshold is not None and p < threshold * self.alpha / WARNS_BELOW

    def to_frame(self) -> pd.DataFrame:
        """Return the effects as a frame, one row each, with flat columns for segments and intervals."""
        import pandas as pd  # noqa: PLC0415  slow to load and not needed for the report

        return pd.DataFrame([flat(row) for row in plain(self.differences)])
