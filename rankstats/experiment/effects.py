"""Effects: every metric × arm × segment tested, placed in its family, and what stands beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rankstats import stats
from rankstats.comparison.result import Family, Heterogeneity, Interval, OtherCorrection, defined
from rankstats.comparison.verdicts import level_text
from rankstats.experiment.checks import withheld_by
from rankstats.experiment.contrasts import Contrast, contrast, interval_of, plain_pair, tested, why_no_interval
from rankstats.experiment.effect_rows import CONFIRMATORY, EXPLORATORY, GUARDS, effect_rows
from rankstats.experiment.evidence import Evidence
from rankstats.experiment.metrics import Metric
from rankstats.experiment.result import Check, DayEffect, Effect, Guard
from rankstats.experiment.settings import ExperimentSettings
from rankstats.experiment.wording import named
from rankstats.stats import ArmPair
from rankstats.wording import decimals_for, interval, number, p_statement, percent, signed


@dataclass(frozen=True, slots=True)
class Effects:
    """The rows of a readout that are about effects."""

    differences: tuple[Effect, ...]
    families: tuple[Family, ...]
    heterogeneity: tuple[Heterogeneity, ...]
    guards: tuple[Guard, ...]
    days: tuple[DayEffect, ...]

    @property
    def claims(self) -> tuple[Effect, ...]:
        """The members of the confirmatory family."""
        return tuple(row for row in self.differences if row.family == CONFIRMATORY)


def make_effects(evidence: Evidence, settings: ExperimentSettings, checks: Sequence[Check]) -> Effects:
    """Test every metric of every arm against the control, over all units and in every segment.

    * confirmatory: primary metrics × arms over all units, Bonferroni.
    * guards: guard metrics × arms, each at its own level, by non-inferiority at its margin.
    * exploratory: secondary metrics and all segments, by Benjamini and Hochberg's procedure.
    """
    contrasts = [contrast(metric, arm) for metric in evidence.metrics for arm in range(1, len(evidence.arms))]
    size = max(1, sum(found.metric.metric.role == "primary" for found in contrasts))
    rows: list[Effect] = []
    for found in contrasts:
        own = size if found.metric.metric.role == "primary" else 1
        readings = tested(found, settings, evidence, own)
        rows += effect_rows(found, readings, evidence, settings, (size, withheld_by(checks, found.metric.metric.name)))
    rows = [replace(row, id=f"d{place}") for place, row in enumerate(rows, 1)]
    rows = _adjusted_together(rows)
    return Effects(
        tuple(rows),
        _families(rows, settings.alpha, size),
        _heterogeneity(contrasts, evidence),
        tuple(_guard(found, evidence, settings) for found in contrasts if found.metric.metric.role == "guard"),
        tuple(day for found in contrasts for day in _days(found, evidence, settings)),
    )


def _adjusted_together(rows: list[Effect]) -> list[Effect]:
    """Fill in the adjusted p-values of the exploratory family, and Holm's beside those of the claims."""
    out = list(rows)
    exploratory = [place for place, row in enumerate(rows) if row.family == EXPLORATORY]
    if exploratory:
        adjusted = _adjusted([rows[place].p_value for place in exploratory], "bh")
        for place, p in zip(exploratory, adjusted, strict=True):
            out[place] = replace(rows[place], p_adjusted=p)
    claims = [place for place, row in enumerate(rows) if row.family == CONFIRMATORY]
    if len(claims) > 1:
        for place, p in zip(claims, _adjusted([rows[place].p_value for place in claims], "holm"), strict=True):
            out[place] = replace(out[place], also_adjusted=(OtherCorrection("holm", p, None),))
    return out


def _adjusted(p_values: Sequence[float | None], correction: str) -> list[float | None]:
    known = np.array([np.nan if p is None else p for p in p_values])
    found = np.full(len(known), np.nan)
    there = ~np.isnan(known)
    if there.any():
        found[there] = stats.adjust(known[there], correction)
    return [defined(p) for p in found.tolist()]


def _families(rows: Sequence[Effect], alpha: float, size: int) -> tuple[Family, ...]:
    out = []
    for name in (CONFIRMATORY, GUARDS, EXPLORATORY):
        members = [row for row in rows if row.family == name]
        if members:
            ids = tuple(row.id for row in members)
            n = size if name == CONFIRMATORY else len(members)
            out.append(Family(name, members[0].role, members[0].correction, alpha, ids, n))
    return tuple(out)


# ── segments, guards, days ──────────────────────────────────────────────────────────────────────────────────────────


def _heterogeneity(contrasts: Sequence[Contrast], evidence: Evidence) -> tuple[Heterogeneity, ...]:
    rows = []
    for found in contrasts:
        for attribute in evidence.attributes:
            cells = [c for c, cell in enumerate(evidence.cells) if cell.attribute == attribute]
            pair = found.pair.select(cells)
            known = np.flatnonzero((pair.df > 0) & (pair.standard_error > 0))
            if len(known) < 2:
                continue
            result = stats.segment_effects(pair.select(known))
            whole = float(found.pair.difference[0])
            opposite = tuple(
                evidence.cells[cells[k]].value for k in known.tolist() if float(pair.difference[k]) * whole < 0
            )
            rows.append(
                Heterogeneity(
                    measure=found.metric.metric.name,
                    baseline=evidence.arms[0],
                    system=evidence.arms[found.arm],
                    attribute=attribute,
                    label=attribute,
                    weighting=None,
                    segments=len(known),
                    n=int(pair.control_n[known].sum() + pair.treatment_n[known].sum()),
                    statistic=defined(result.q),
                    p_value=defined(result.q_p_value),
                    p_adjusted=None,
                    q=defined(result.q),
                    i_squared=defined(result.i_squared),
                    reversal=bool(opposite),
                    opposite=opposite,
                )
            )
    adjusted = _adjusted([row.p_value for row in rows], "bh")
    return tuple(replace(row, p_adjusted=p if len(rows) > 1 else None) for row, p in zip(rows, adjusted, strict=True))


def _guard(found: Contrast, evidence: Evidence, settings: ExperimentSettings) -> Guard:
    """Test that the arm is not worse than the control by the margin, one-sided at alpha / 2."""
    metric, pair = found.metric.metric, found.pair.select([0])
    is_relative = metric.margin_relative is not None
    margin = float(metric.margin_relative if is_relative else metric.margin or 0.0)  # type: ignore[arg-type]  # a guard has one
    scale = "fieller" if is_relative else "difference"
    side = "greater" if metric.higher_is_better else "less"
    result = stats.arm_noninferiority(pair, margin, scale=scale, alpha=settings.alpha / 2, alternative=side)
    both = stats.compare_arms(pair, scale=scale, alpha=settings.alpha)
    low = float(result.low[0] if metric.higher_is_better else both.low[0])
    high = float(both.high[0] if metric.higher_is_better else result.high[0])
    harmed = high < -margin if metric.higher_is_better else low > margin
    outcome = "holds" if bool(result.holds[0]) else "fails" if harmed else "open"
    error = float(pair.standard_error[0])
    shown = interval_of(low, high, error, 1 - settings.alpha, "Fieller" if is_relative else "Welch t")
    effect, p = defined(result.estimate[0]), defined(result.p_value[0])
    arm = evidence.arms[found.arm]
    sentence = f"Guard {named(metric.name)} is open for {arm}: {why_no_interval(pair, 0)}."
    if effect is not None and shown is not None:
        sentence = _guard_sentence(metric, arm, (effect, shown, p), outcome, defined(error))
    return Guard(metric.name, evidence.arms[0], arm, margin, is_relative, effect, p, shown, outcome, sentence)


def _guard_sentence(
    metric: Metric,
    arm: str,
    numbers: tuple[float, Interval, float | None],
    outcome: str,
    standard_error: float | None,
) -> str:
    effect, shown, p = numbers
    if metric.margin_relative is not None:
        low, high = (percent(end, 2, sign=True) for end in shown.ends)
        size, ends, allowed = percent(effect, 2, sign=True), f"{low} to {high}", percent(metric.margin_relative, 2)
    else:
        decimals = decimals_for(standard_error)
        size, ends = signed(effect, decimals), interval(*shown.ends, decimals)
        allowed = number(metric.margin, max(decimals, decimals_for(metric.margin)))
    verb = {"holds": "holds", "fails": "fails", "open": "is open"}[outcome]
    return (
        f"Guard {named(metric.name)} {verb} for {arm}: {size} ({level_text(shown)} interval {ends}; {allowed} of harm "
        f"is tolerated; {p_statement(p, 'one-sided p')})."
    )


def _days(found: Contrast, evidence: Evidence, settings: ExperimentSettings) -> list[DayEffect]:
    daily = found.metric.daily
    if not daily:
        return []
    control, treatment = daily[0], daily[found.arm]
    pairs = [
        plain_pair(getattr(control, part), getattr(treatment, part), ratio=found.metric.is_ratio)
        for part in ("on_day", "to_date")
    ]
    results = [stats.compare_arms(pair, alpha=settings.alpha) for pair in pairs]
    return [
        DayEffect(
            measure=found.metric.metric.name,
            baseline=evidence.arms[0],
            system=evidence.arms[found.arm],
            day=str(day),
            n=int(pairs[0].control_n[d] + pairs[0].treatment_n[d]),
            difference=defined(pairs[0].difference[d]),
            interval=_day_interval(pairs[0], results[0], d),
            n_to_date=int(pairs[1].control_n[d] + pairs[1].treatment_n[d]),
            difference_to_date=defined(pairs[1].difference[d]),
            interval_to_date=_day_interval(pairs[1], results[1], d),
        )
        for d, day in enumerate(control.day.tolist())
    ]


def _day_interval(pair: ArmPair, result: stats.ArmComparison, day: int) -> Interval | None:
    return interval_of(result.low[day], result.high[day], pair.standard_error[day], 1 - result.alpha, "Welch t")
