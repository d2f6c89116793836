"""What an experiment says of rules: differences and levels of arms, with intervals at the level of the policy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankstats import stats
from rankstats.comparison.result import Interval
from rankstats.decision.policy import Policy
from rankstats.decision.reported_experiment import ReportedExperiment
from rankstats.decision.rules import Measured, Rule
from rankstats.experiment.contrasts import LEAST_SEQUENCE_UNITS
from rankstats.stats import ArmPair
from rankstats.stats.arm_scales import critical_value

Ends = tuple[float, float]
_NOTHING: Ends = (math.nan, math.nan)


def measure_arms(rules: Sequence[Rule], reported: ReportedExperiment, policy: Policy) -> list[Measured]:
    """Return what the arms show of each rule, in their order.

    * Absolute differences: Welch's t (with covariates of the adjusted difference); the score interval where the metric
      is a share of units. Relative margins: Fieller's interval.
    * Levels of the candidate: t, Wilson's interval for shares; never adjusted by covariates.
    * A group-sequential design or a confidence sequence has its own critical values, for every rule.
    * `family_interval` is corrected by Bonferroni over all rules.
    """
    judge = _Judge(reported, policy, max(1, len(rules)))
    return [judge.level(rule) if rule.kind == "floor" else judge.difference(rule) for rule in rules]


@dataclass(frozen=True, slots=True)
class _Judge:
    """Measures rules of one policy on one experiment."""

    reported: ReportedExperiment
    policy: Policy
    family: int

    def difference(self, rule: Rule) -> Measured:
        """Return the difference of the arms, or the relative one."""
        names = (self.policy.baseline, self.policy.candidate)
        pair = self.reported.pair(rule.measure, names, rule.segment)
        scale = "fieller" if rule.criterion == "margin_relative" else "difference"
        counts = self.reported.counts(rule.measure, names, rule.segment) if scale == "difference" else None
        n = int(pair.control_n[0] + pair.treatment_n[0])
        measured = stats.compare_arms(pair, scale=scale, alpha=self.policy.alpha)
        error = measured.standard_error[0]
        if scale == "fieller":
            error = stats.compare_arms(pair, scale="delta", alpha=self.policy.alpha).standard_error[0]
        own, joint = (self._ends(pair, scale, counts, size) for size in (1, self.family))
        method = "Fieller" if scale == "fieller" else "score" if counts else "Welch t"
        estimate = measured.estimate[0]
        return Measured(
            n=n,
            units=n,
            independent=float(min(pair.control_n[0], pair.treatment_n[0])),
            estimate=float(estimate) if math.isfinite(estimate) else None,
            interval=self._interval(own, method),
            family_interval=self._interval(joint, f"{method}, Bonferroni"),
            # as if the estimate were a mean of n units: what more of them would do
            deviation=float(error) * math.sqrt(n),
        )

    def level(self, rule: Rule) -> Measured:
        """Return the candidate's own value."""
        names = (self.policy.baseline, self.policy.candidate)
        row = self.reported.score(rule.measure, self.policy.candidate, rule.segment)
        if row is None or row["mean"] is None:
            return Measured(0 if row is None else int(row["n"]), 0, 0.0, None, None, None)
        n, mean = int(row["n"]), float(row["mean"])
        is_share = self.reported.counts(rule.measure, names, rule.segment) is not None
        error = math.sqrt(mean * (1 - mean) / n) if is_share else _error_of(row)
        own, joint = (self._level_ends(mean, n, error, size, is_share) for size in (1, self.family))
        method = "Wilson" if is_share else str((row["interval"] or {}).get("method", "t"))
        return Measured(
            n=n,
            units=n,
            independent=float(n),
            estimate=mean,
            interval=self._interval(own, method),
            family_interval=self._interval(joint, f"{method}, Bonferroni"),
            deviation=error * math.sqrt(n),
        )

    # ── ends ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def _ends(self, pair: ArmPair, scale: str, counts: Any, size: int) -> Ends:
        alpha = self.policy.alpha / size
        if self._kind != "fixed":
            error = float(pair.standard_error[0])
            critical = self._critical(error, int(pair.control_n[0] + pair.treatment_n[0]), alpha)
            return _only(stats.repeated_interval(pair, critical, scale=scale, alpha=alpha))
        if counts:
            shares = stats.compare_proportions(*counts, alpha=alpha)
            return _only((shares.low, shares.high))
        found = stats.compare_arms(pair, scale=scale, alpha=alpha)
        return _only((found.low, found.high))

    def _level_ends(self, mean: float, n: int, error: float, size: int, is_share: bool) -> Ends:
        alpha = self.policy.alpha / size
        if self._kind != "fixed":
            half = self._critical(error, n, alpha) * error if error > 0 else 0.0
        elif is_share:
            return _only(stats.proportion_interval(round(mean * n), n, alpha=alpha))
        elif n < 2 or math.isnan(error):
            return _NOTHING
        else:
            half = float(critical_value(alpha / 2, np.array([n - 1.0]))[0]) * error
        return mean - half, mean + half

    @property
    def _kind(self) -> str:
        return str(self.reported.design["kind"])

    def _critical(self, error: float, n: int, alpha: float) -> float:
        """Return the critical value of a design with several looks, in standard errors."""
        design = self.reported.design
        if self._kind == "group-sequential":
            looks = np.asarray(design["looks"][: design["look"]])
            return float(stats.sequential_bounds(looks, alpha=alpha, spending=design["spending"]).bound[-1])
        if not error > 0:
            return math.inf
        found = stats.confidence_sequence(
            0.0, error, n, n_star=design["planned_units"] or 1, alpha=alpha, least_n=LEAST_SEQUENCE_UNITS
        )
        return float(found.half_width[0]) / error

    def _interval(self, ends: Ends, method: str) -> Interval | None:
        looked = {"group-sequential": "repeated interval", "confidence-sequence": "confidence sequence"}
        return Interval.from_ends(*ends, 1 - self.policy.alpha, looked.get(self._kind, method))


def _only(ends: Any) -> Ends:
    return float(ends[0][0]), float(ends[1][0])


def _error_of(row: Any) -> float:
    """Return the standard error of an arm's value from the interval that the report shows."""
    shown, n = row["interval"], int(row["n"])
    if shown is None or shown["low"] is None or shown["high"] is None or n < 2:
        return math.nan
    critical = float(critical_value((1 - shown["level"]) / 2, np.array([n - 1.0]))[0])
    return float(shown["high"] - shown["low"]) / 2 / critical
