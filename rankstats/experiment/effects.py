"""Effects: every metric × arm × segment tested, placed in its family, and what stands beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rankstats import stats
from rankstats.comparison.result import Family, Heterogeneity, Interval, OtherCorrection, OtherTest, defined
from rankstats.experiment.checks import withheld_by
from rankstats.experiment.contrasts import Contrast, Tested, contrast, detectable, plain_pair, relative, tested
from rankstats.experiment.evidence import Evidence
from rankstats.experiment.metrics import Metric
from rankstats.experiment.result import Check, DayEffect, Effect, Guard
from rankstats.experiment.settings import ExperimentSettings
from rankstats.stats import ArmPair
from rankstats.wording import decimals_for, interval, number, p_statement, percent, signed

CONFIRMATORY, GUARDS, EXPLORATORY = "confirmatory", "guards", "exploratory"
_ESTIMANDS = {
    "mean": "difference of means over units",
    "share": "difference of shares of units",
    "ratio": "difference of ratios of sums",
    "quantile": "difference of quantiles over rows",
}


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
        rows += _rows(found, readings, evidence, settings, (size, withheld_by(checks, found.metric.metric.name)))
    rows = [replace(row, id=f"d{place}") for place, row in enumerate(rows, 1)]
    rows = _adjusted_together(rows)
    return Effects(
        tuple(rows),
        _families(rows, settings.alpha, size),
        _heterogeneity(contrasts, evidence),
        tuple(_guard(found, evidence, settings) for found in contrasts if found.metric.metric.role == "guard"),
        tuple(day for found in contrasts for day in _days(found, evidence, settings)),
    )


def _rows(
    found: Contrast,
    readings: Tested,
    evidence: Evidence,
    settings: ExperimentSettings,
    claim: tuple[int, str | None],
) -> list[Effect]:
    metric, pair = found.metric.metric, found.pair
    size, withheld = claim
    level, shown = 1 - settings.alpha, relative(found, readings, settings)
    smallest = detectable(pair, settings.alpha)
    in_family = detectable(pair, settings.alpha / size)
    rows = []
    for c, cell in enumerate(evidence.cells):
        family = _family_of(metric, whole=c == 0)
        corrected = family == CONFIRMATORY and size > 1
        interval_method = readings.method if c == 0 or settings.reads != "group-sequential" else "Welch t"
        joint = Interval.from_ends(readings.adjusted_low[c], readings.adjusted_high[c], level, interval_method)
        reduction = found.variance_reduction
        rows.append(
            Effect(
                id="",
                measure=metric.name,
                baseline=evidence.arms[0],
                system=evidence.arms[found.arm],
                segment=cell.segment,
                weighting=None,
                estimand=_ESTIMANDS[metric.expression.kind],
                n=int(pair.control_n[c] + pair.treatment_n[c]),
                n_baseline=int(pair.control_n[c]),
                n_system=int(pair.treatment_n[c]),
                mean_baseline=defined(pair.control[c]),
                mean_system=defined(pair.treatment[c]),
                difference=defined(pair.difference[c]),
                standard_error=defined(pair.standard_error[c]),
                relative_difference=defined(shown[0][c]),
                relative_interval=Interval.from_ends(shown[1][c], shown[2][c], level, "Fieller"),
                margin=_margin(metric, pair, c),
                test=readings.test if c == 0 or settings.reads != "group-sequential" else readings.test.split(",")[0],
                estimate=defined(pair.difference[c]),
                p_value=defined(readings.p_value[c]),
                alternative="two-sided",
                interval=Interval.from_ends(readings.low[c], readings.high[c], level, interval_method),
                p_adjusted=defined(readings.p_adjusted[c]),
                adjusted_interval=joint if family == CONFIRMATORY else None,
                family=family,
                role=CONFIRMATORY if family in (CONFIRMATORY, GUARDS) else EXPLORATORY,
                correction="bonferroni" if corrected else "none" if family != EXPLORATORY else "bh",
                higher_is_better=metric.higher_is_better,
                effect_size=defined(pair.difference[c] / found.sd[c]) if found.sd[c] > 0 else None,
                smallest_detectable=defined(smallest[c]),
                detectable_in_family=defined(in_family[c]) if family == CONFIRMATORY else None,
                adjusted_for=metric.covariate if reduction is not None else (),
                variance_reduction=None if reduction is None else defined(reduction[c]),
                withheld=withheld if family == CONFIRMATORY else None,
                also=_also(found, settings) if c == 0 else (),
            )
        )
    return rows


def _family_of(metric: Metric, *, whole: bool) -> str:
    if not whole or metric.role == "secondary":
        return EXPLORATORY
    return CONFIRMATORY if metric.role == "primary" else GUARDS


def _margin(metric: Metric, pair: ArmPair, c: int) -> float | None:
    """Return the margin in the metric's unit."""
    if metric.margin_relative is None:
        return metric.margin
    return defined(metric.margin_relative * abs(float(pair.control[c])))


def _also(found: Contrast, settings: ExperimentSettings) -> tuple[OtherTest, ...]:
    """Return what other procedures give: raw effects beside adjusted and capped ones, exact tests, without a unit."""
    metric = found.metric
    out: list[OtherTest] = []
    if found.variance_reduction is not None:
        out.append(_other("without covariates", found.raw, settings.alpha))
    if metric.uncapped:
        uncapped = plain_pair(metric.uncapped[0], metric.uncapped[found.arm], ratio=False)
        out.append(_other("not winsorised", uncapped, settings.alpha))
    if metric.binary:
        counts = [np.rint(np.nan_to_num(metric.arms[a].sums[:1, 0])).astype(np.int64) for a in (0, found.arm)]
        units = [metric.arms[a].n[:1] for a in (0, found.arm)]
        shares = stats.compare_proportions(counts[0], units[0], counts[1], units[1], alpha=settings.alpha)
        out.append(OtherTest("Fisher's exact test", defined(shares.p_fisher[0]), None))
        out.append(OtherTest("χ² with Yates's correction", defined(shares.p_corrected[0]), None))
    unit = metric.dominant
    if unit is not None and unit.arm in (0, found.arm):
        arms = [metric.arms[0].select([0]), metric.arms[found.arm].select([0])]
        arms[0 if unit.arm == 0 else 1] = unit.without
        pair = plain_pair(arms[0], arms[1], ratio=metric.is_ratio)
        out.append(_other(f"without unit {unit.unit}", pair, settings.alpha))
    return tuple(out)


def _other(name: str, pair: ArmPair, alpha: float) -> OtherTest:
    result = stats.compare_arms(pair.select([0]), alpha=alpha)
    return OtherTest(
        name, defined(result.p_value[0]), Interval.from_ends(result.low[0], result.high[0], 1 - alpha, "Welch t")
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
    shown = Interval.from_ends(low, high, 1 - settings.alpha, "Fieller" if is_relative else "Welch t")
    effect, p = defined(result.estimate[0]), defined(result.p_value[0])
    return Guard(
        measure=metric.name,
        baseline=evidence.arms[0],
        system=evidence.arms[found.arm],
        margin=margin,
        relative=is_relative,
        effect=effect,
        p_value=p,
        interval=shown,
        outcome=outcome,
        sentence=_guard_sentence(
            metric, evidence.arms[found.arm], (effect, shown, p), outcome, defined(pair.standard_error[0])
        ),
    )


def _guard_sentence(
    metric: Metric,
    arm: str,
    numbers: tuple[float | None, Interval | None, float | None],
    outcome: str,
    standard_error: float | None,
) -> str:
    effect, shown, p = numbers
    if effect is None or shown is None:
        return f"Guard {metric.name} is open: the effect of {arm} is not defined."
    if metric.margin_relative is not None:
        low, high = (percent(end, 2, sign=True) for end in shown.ends)
        size, ends, allowed = percent(effect, 2, sign=True), f"{low} to {high}", percent(metric.margin_relative, 2)
    else:
        decimals = decimals_for(standard_error)
        size, ends = signed(effect, decimals), interval(*shown.ends, decimals)
        allowed = number(metric.margin, max(decimals, decimals_for(metric.margin)))
    verb = {"holds": "holds", "fails": "fails", "open": "is open"}[outcome]
    return (
        f"Guard {metric.name} {verb} for {arm}: {size} (interval {ends}; {allowed} of harm is tolerated; "
        f"{p_statement(p, 'one-sided p')})."
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
    level = 1 - settings.alpha
    return [
        DayEffect(
            measure=found.metric.metric.name,
            baseline=evidence.arms[0],
            system=evidence.arms[found.arm],
            day=str(day),
            n=int(pairs[0].control_n[d] + pairs[0].treatment_n[d]),
            difference=defined(pairs[0].difference[d]),
            interval=Interval.from_ends(results[0].low[d], results[0].high[d], level, "Welch t"),
            n_to_date=int(pairs[1].control_n[d] + pairs[1].treatment_n[d]),
            difference_to_date=defined(pairs[1].difference[d]),
            interval_to_date=Interval.from_ends(results[1].low[d], results[1].high[d], level, "Welch t"),
        )
        for d, day in enumerate(control.day.tolist())
    ]
