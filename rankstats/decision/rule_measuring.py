"""What the values of a report say of rules: differences, relative differences and levels, with their intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankstats import stats
from rankstats.comparison.result import Interval
from rankstats.comparison.significance import METHODS, on_units, run_test, seed_of
from rankstats.decision.policy import Policy
from rankstats.decision.reported import Reported
from rankstats.decision.rules import Measured, Rule
from rankstats.errors import PlanError
from rankstats.plan import Plan
from rankstats.stats import Differences

Ends = tuple[float, float]


def measure_rules(rules: Sequence[Rule], reported: Reported, policy: Policy) -> list[Measured]:
    """Return what the values say of each rule, in their order.

    * Differences (claims, absolute margins): inverted sign flips with the weights, clusters, seed and number of
      patterns of the report. The interval of level 1 − alpha is the one that the report shows at that level.
    * Relative margins: the same flips of differences moved by a share of the baseline's values.
    * Levels of the candidate: the t interval of the mean. A measure of all queries together has its value alone.
    * `family_interval` is corrected by Bonferroni over all rules; of differences it is the wider one of flips and t.
    """
    plan = Plan(alpha=policy.alpha, resamples=reported.resamples, seed=reported.seed)
    judge = _Judge(reported, policy, plan, max(1, len(rules)))
    found: dict[int, Measured] = {}
    absolute = [k for k, rule in enumerate(rules) if rule.criterion in ("more_than", "margin")]
    found |= dict(zip(absolute, judge.differences([rules[k] for k in absolute]), strict=True))
    for k, rule in enumerate(rules):
        if rule.criterion == "margin_relative":
            found[k] = judge.relative(rule)
        elif rule.kind == "floor":
            together = reported.aggregate(rule.measure) == "together"
            found[k] = judge.total(rule) if together else judge.level(rule)
    return [found[k] for k in range(len(rules))]


@dataclass(frozen=True, slots=True)
class _Judge:
    """Measures rules of one policy on one report."""

    reported: Reported
    policy: Policy
    plan: Plan
    family: int

    def differences(self, rules: Sequence[Rule]) -> list[Measured]:
        """Return what the flips say of rules about absolute differences."""
        if not rules:
            return []
        pair = (self.policy.baseline, self.policy.candidate)
        of_measure = {m: self.reported.differences(m, *pair) for m in dict.fromkeys(rule.measure for rule in rules)}
        columns = stats.stack_columns([of_measure[rule.measure].within(self._members(rule)) for rule in rules])
        clusters, sizes = self.reported.clusters, np.full(len(rules), self.family, dtype=np.int64)
        flips = run_test("randomisation", columns, self.plan, sizes, clusters)
        t = run_test("t", columns, self.plan, sizes, clusters)
        error = on_units(stats.paired_t, columns, clusters).standard_error
        own = (flips.p_bonferroni, flips.bonferroni_low, flips.bonferroni_high)
        wider = stats.not_tighter(own, (t.p_bonferroni, t.bonferroni_low, t.bonferroni_high))
        _, low, high = (np.where(error > 0, new, old) for new, old in zip(wider, own, strict=True))
        method = f"the wider of {METHODS['randomisation']} and t, Bonferroni"
        units = on_units(stats.effect_sizes, columns, clusters)
        return [
            Measured(
                n=int(columns.n[k]),
                units=int(units.n[k]),
                independent=float(units.n_effective[k]),
                estimate=_known(columns.mean[k]),
                interval=flips.interval(k),
                family_interval=Interval.from_ends(float(low[k]), float(high[k]), flips.level, method),
                deviation=float(error[k]) * math.sqrt(units.n[k]),
                slack=4 * float(columns.unit[k]),
            )
            for k in range(len(rules))
        ]

    def relative(self, rule: Rule) -> Measured:
        """Return what the flips say of a relative difference."""
        column = self._column(rule, self.policy.baseline, self.policy.candidate)
        base = self._column(rule, None, self.policy.baseline)
        self._check_sign(rule, base)
        units, levels = self._units(column), self._units(base)
        n, independent = int(column.n[0]), _independent(units)
        if not n or levels.mean[0] == 0:
            return Measured(n, int(units.n[0]), independent, None, None, None)
        asked: dict[str, Any] = {
            "relative_to": levels.values,
            "alpha": self.policy.alpha / 2,
            "resamples": self.plan.resamples,
            "rng": seed_of(self.plan, "sign flips"),
            "family_size": self.family,
        }
        flips = stats.equivalence_test(units, rule.asked, **asked)
        t = stats.equivalence_test(units, rule.asked, test="t", **asked)
        low, high = np.fmin(flips.adjusted_low, t.adjusted_low), np.fmax(flips.adjusted_high, t.adjusted_high)
        residual = units.values - float(flips.estimate[0]) * levels.values
        spread = stats.paired_differences(np.zeros(residual.shape), residual, units.weights).standard_error[0]
        method = "inverted sign flips of differences moved by a share of the baseline"
        return Measured(
            n=n,
            units=int(units.n[0]),
            independent=independent,
            estimate=_known(flips.estimate[0]),
            interval=self._interval((float(flips.low[0]), float(flips.high[0])), method),
            family_interval=self._interval((float(low[0]), float(high[0])), f"{method}, or t, Bonferroni"),
            deviation=float(spread) * math.sqrt(units.n[0]) / abs(float(levels.mean[0])),
        )

    def level(self, rule: Rule) -> Measured:
        """Return the t interval of the candidate's own mean, as the measure makes a number of it."""
        column = self._column(rule, None, self.policy.candidate)
        units, n, kind = self._units(column), int(column.n[0]), self.reported.aggregate(rule.measure)
        scaled = _SCALES.get(kind, _SCALES["mean"])(n)
        ends = [self._mean_ends(units, size, scaled) for size in (1, self.family)]
        mean, error = _known(column.mean[0]), float(stats.interval_of_means(units).standard_error[0])
        return Measured(
            n=n,
            units=int(units.n[0]),
            independent=_independent(units),
            estimate=None if mean is None else scaled(mean),
            interval=self._interval(ends[0], "t"),
            family_interval=self._interval(ends[1], "t, Bonferroni"),
            # more queries settle a mean, not a sum
            deviation=error * math.sqrt(units.n[0]) if kind == "mean" else math.nan,
            slack=4 * float(column.unit[0]),
        )

    def _mean_ends(self, units: Differences, family: int, scaled: Callable[[float], float]) -> Ends:
        found = stats.interval_of_means(units, alpha=self.policy.alpha / family)
        low, high = float(found.low[0]), float(found.high[0])
        return (scaled(low), scaled(high)) if math.isfinite(low) and math.isfinite(high) else (low, high)

    def total(self, rule: Rule) -> Measured:
        """Return the value of a measure of all queries together: it has no interval and is judged as it is."""
        rows = self.reported.report.get("scores") or ()
        found = [
            row["mean"]
            for row in rows
            if row["segment"] is None and (row["system"], row["measure"]) == (self.policy.candidate, rule.measure)
        ]
        n = len(self.reported.queries)
        return Measured(n, n, float(n), found[0] if found else None, None, None)

    def _interval(self, ends: Ends, method: str) -> Interval | None:
        return Interval.from_ends(*ends, 1 - self.policy.alpha, method)

    def _column(self, rule: Rule, baseline: str | None, system: str) -> Differences:
        return self.reported.differences(rule.measure, baseline, system).within(self._members(rule))

    def _members(self, rule: Rule) -> NDArray[np.bool_]:
        if rule.segment is None:
            return np.ones(len(self.reported.queries), dtype=bool)
        return self.reported.segments(rule.segment[0])[rule.segment[1]]

    def _units(self, column: Differences) -> Differences:
        return column if self.reported.clusters is None else stats.cluster_sums(column, self.reported.clusters)

    def _check_sign(self, rule: Rule, base: Differences) -> None:
        if np.any(base.integers < 0) and np.any(base.integers > 0):
            raise PlanError(
                f"rule {rule.id!r}: {rule.measure} of {self.policy.baseline} has values of both signs, of which no "
                "share can be taken; use margin instead of margin_relative"
            )


_SCALES: dict[str, Callable[[int], Callable[[float], float]]] = {
    "mean": lambda n: lambda mean: mean,
    "sum": lambda n: lambda mean: n * mean,
    "geometric mean": lambda n: math.exp,
}
"""How the mean of the values becomes the number of a system, by the aggregate of the measure."""


def _independent(units: Differences) -> float:
    return float(units.n_effective[0]) if units.n[0] else 0.0


def _known(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
