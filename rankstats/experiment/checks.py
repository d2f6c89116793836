"""Checks of an experiment, made before anything is claimed: shares of units, two arms, missing values, balance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import special

from rankstats import stats
from rankstats.comparison.result import Warning
from rankstats.experiment.contrasts import plain_pair
from rankstats.experiment.evidence import Dominant, Evidence, MetricEvidence
from rankstats.experiment.result import Check
from rankstats.experiment.settings import ExperimentSettings
from rankstats.experiment.skewness import SKEWED, are_unequal, skewness_of_difference
from rankstats.stats.sample_ratio import BLOCKS_BELOW, WARNS_BELOW
from rankstats.wording import count, number, p_statement, percent, signed

MOST_IN_TWO_ARMS = 0.01
"""Share of the units in two arms from which there is no verdict."""
_OFF_PLAN = 0.05
"""Fraction by which the units of a look may differ from the plan without a word."""
_BLOCKING = {"sample_ratio": "the arms' sizes do not fit the design", "two_arms": "too many units are in two arms",
             "missing_values": "values are missing more often in one arm"}  # fmt: skip


def make_checks(
    evidence: Evidence, settings: ExperimentSettings, earlier: Sequence[Mapping[str, Any]] = ()
) -> tuple[Check, ...]:
    """Return all checks that apply, in the order in which they are to be read."""
    found = [_sample_ratio(evidence, settings)]
    if evidence.source_kind != "aggregates":
        found += [_two_arms(evidence), _unit_of_analysis(evidence)]
    found += [_missing(metric, evidence) for metric in evidence.metrics if any(metric.absent)]
    found += [
        _dominant(metric, metric.dominant, evidence) for metric in evidence.metrics if metric.dominant is not None
    ]
    found += [check for metric in evidence.metrics for check in _skewed(metric, evidence)]
    found += [check for name in evidence.covariates for check in _covariate_balance(name, evidence)]
    found += _logging(evidence)
    found += [_segment_balance(attribute, evidence, settings.trigger) for attribute in evidence.attributes]
    found.append(_looks(settings, earlier, sum(evidence.units)))
    return tuple(found)


def withheld_by(checks: Sequence[Check], metric: str) -> str | None:
    """Say why there is no verdict on a metric, or None."""
    for check in checks:
        if check.outcome == "blocks" and check.measure in (None, metric):
            return f"{_BLOCKING[check.code]} ({p_statement(check.p_value)})" if check.p_value else _BLOCKING[check.code]
    return None


def warnings_of(checks: Sequence[Check], evidence: Evidence, settings: ExperimentSettings) -> Iterator[Warning]:
    """Yield a warning for each check that found something, and for what was left out or decided."""
    for check in checks:
        if check.outcome != "ok":
            severity = "serious" if check.outcome == "blocks" else "warning"
            yield Warning(check.code, severity, check.found, check.measure or "")
    counts = evidence.counts
    if counts.get("unassigned"):
        n = count(counts["unassigned"], "unit")
        yield Warning("unassigned_units", "warning", f"{n} with rows have no assignment; their rows are left out.", "")
    if counts.get("relabelled"):
        n = count(counts["relabelled"], "unit")
        yield Warning(
            "relabelled_units",
            "warning",
            f"{n} were logged in another arm than the one assigned; every unit counts in the arm assigned.",
            "",
        )
    if counts.get("before"):
        n = count(counts["before"], "row")
        yield Warning("before_exposure", "info", f"{n} from before the unit's exposure are left out.", "")
    for metric in evidence.metrics:
        if metric.empty_cells:
            n = count(metric.empty_cells, "cell")
            text = f"{n} of {', '.join(metric.metric.expression.columns)} are empty: not counted as 0 and not in n."
            yield Warning("empty_cells", "info", text, metric.metric.name)
    if evidence.notes:
        yield Warning("decided", "info", " ".join(evidence.notes), "")


def _sample_ratio(evidence: Evidence, settings: ExperimentSettings) -> Check:
    result = stats.sample_ratio_test(evidence.units, evidence.shares)
    parts = ", ".join(
        f"{arm} {n:,} ({percent(n / sum(evidence.units), 2)} of {percent(share, 2)} designed)"
        for arm, n, share in zip(evidence.arms, evidence.units, evidence.shares, strict=True)
    )
    empty = [
        arm for arm, n, share in zip(evidence.arms, evidence.units, evidence.shares, strict=True) if share and not n
    ]
    said = {
        "ok": f"The arms' sizes fit the design: {parts}; {p_statement(result.p_value)}.",
        "warns": f"The arms' sizes may not fit the design: {parts}; {p_statement(result.p_value)}. Look for a fault in "
        "assignment or logging before believing an effect.",
        "blocks": f"The arms' sizes do not fit the design: {parts}; {p_statement(result.p_value)}. Units are lost or "
        "assigned wrongly, so no effect can be believed; there is no verdict.",
    }[result.outcome]
    if empty:
        said += f" No unit is in {', '.join(empty)}."
    few = " Some arm expects fewer than 5 units: p is rough." if result.few else ""
    statistic = result.statistic if np.isfinite(result.statistic) else None
    return Check(
        "sample_ratio",
        "Do the arms have their designed shares of units?",
        statistic,
        result.p_value,
        WARNS_BELOW,
        result.outcome,
        said + few,
    )


def _two_arms(evidence: Evidence) -> Check:
    n, kept = int(evidence.counts.get("twice", 0)), sum(evidence.units)
    share = n / (n + kept)
    outcome = "ok" if not n else "blocks" if share > MOST_IN_TWO_ARMS else "warns"
    found = "No unit is in two arms."
    if n:
        found = f"{count(n, 'unit')} ({percent(share, 2)}) are in two arms and left out of both."
        found += " That is too many for a verdict." if outcome == "blocks" else ""
    return Check("two_arms", "Is every unit in one arm?", float(n), None, None, outcome, found)


def _unit_of_analysis(evidence: Evidence) -> Check:
    question = "Are rows added up to what was randomised?"
    if evidence.unit is not None:
        found = f"Rows are added up by {evidence.unit}: {evidence.rows:,} rows, {sum(evidence.units):,} units."
        if evidence.rows > sum(evidence.units) and "unassigned" not in evidence.counts:
            found += " Units without rows are not among them, for no assignments are given (--assignments)."
        return Check("unit_of_analysis", question, None, None, None, "ok", found)
    repeated = evidence.counts.get("repeated", 0)
    found = "Every row is taken as a unit of its own: name the column of what was randomised with --unit, or standard "
    found += "errors are too small where units have several rows."
    if repeated:
        found += f" The column {evidence.counts['repeated_column']} repeats in {repeated:,} rows."
    return Check("unit_of_analysis", question, float(repeated), None, None, "warns", found)


def _missing(metric: MetricEvidence, evidence: Evidence) -> Check:
    """Compare the shares of units without a value, each arm with the control."""
    name, absent = metric.metric.name, metric.absent
    p_values = []
    for arm in range(1, len(evidence.arms)):
        if evidence.units[0] and evidence.units[arm]:
            result = stats.compare_proportions(absent[0], evidence.units[0], absent[arm], evidence.units[arm])
            p_values.append(float(result.p_value[0]))
    p = min(1.0, min(p_values) * len(p_values)) if p_values else 1.0
    outcome = "blocks" if p < BLOCKS_BELOW else "warns" if p < WARNS_BELOW else "ok"
    parts = ", ".join(f"{arm} {n:,}" for arm, n in zip(evidence.arms, absent, strict=True))
    found = f"Units without a value of {name}: {parts}; they are not in n ({p_statement(p)} that the arms differ)."
    if outcome != "ok":
        found = (
            f"Units without a value of {name} are not equally many: {parts}; {p_statement(p)}. What is left of the "
            "arms may not be comparable."
        )
    return Check("missing_values", f"Is {name} missing equally often?", None, p, WARNS_BELOW, outcome, found, name)


def _dominant(metric: MetricEvidence, unit: Dominant, evidence: Evidence) -> Check:
    name, arm = metric.metric.name, evidence.arms[unit.arm]
    with_it, without = (_p_values(metric, unit, leave_out=out) for out in (False, True))
    others = [evidence.arms[k] for k in _against(unit, len(evidence.arms))]
    parts = [
        f"{f'{other} ' if len(others) > 1 else ''}{p_statement(p)} with it, {p_statement(q)} without"
        for other, p, q in zip(others, with_it, without, strict=True)
    ]
    value = number(unit.value, 0 if unit.value.is_integer() else 3)
    which = f"{unit.unit}, {metric.metric.expression.columns[0]} = {value}"
    found = (
        f"One unit ({which}) makes up {percent(unit.share)} of the spread of the metric “{name}” in {arm}. "
        f"Difference in {name}: {'; '.join(parts)} (Welch's t). Is the unit real? Consider winsorising."
    )
    question = f"Does one unit carry the metric “{name}”?"
    return Check("dominant_unit", question, unit.share, None, None, "warns", found, name)


def _skewed(metric: MetricEvidence, evidence: Evidence) -> Iterator[Check]:
    """Yield a check for each arm of another size than the control's, where the level of Welch's test may be off."""
    name = metric.metric.name
    for arm in range(1, len(evidence.arms)) if metric.thirds else ():
        control, treatment = metric.arms[0].select([0]), metric.arms[arm].select([0])
        if not are_unequal((int(control.n[0]), int(treatment.n[0]))):
            continue
        pair = plain_pair(control, treatment, ratio=metric.is_ratio)
        skewness = skewness_of_difference(pair, (metric.thirds[0], metric.thirds[arm]))
        sizes = f"{evidence.arms[0]} {int(control.n[0]):,}, {evidence.arms[arm]} {int(treatment.n[0]):,}"
        found = f"The arms are of unequal size ({sizes}); {name} is not skewed enough to matter."
        warns = abs(skewness) > SKEWED
        if warns:
            found = (
                f"The arms are of unequal size ({sizes}) and {name} is skewed (skewness of the difference "
                f"{signed(skewness, 2)}): Welch's test claims a difference too often here. At .3, .6 and 1.4 it "
                "claimed an effect in 6, 9 and 13 % of simulated experiments without one, instead of 5 %. Winsorise "
                "the metric, or give the small arm more units."
            )
        question = f"Do unequal arms and skewness spoil the test of {name}?"
        yield Check("unequal_arms", question, skewness, None, SKEWED, "warns" if warns else "ok", found, name)


def _logging(evidence: Evidence) -> list[Check]:
    """Compare the arms' units with rows day by day: rows that one arm lost for some time."""
    daily = next((metric.daily for metric in evidence.metrics if metric.daily), ())
    everyone = [int(arm.to_date.n[-1]) for arm in daily]
    if not daily or not all(everyone):
        return []
    days = daily[0].day.tolist()
    tests = [stats.sample_ratio_test([int(arm.on_day.n[d]) for arm in daily], everyone) if
             any(arm.on_day.n[d] for arm in daily) else None for d in range(len(days))]  # fmt: skip
    p_values = [1.0 if test is None else min(1.0, test.p_value * len(days)) for test in tests]
    worst = int(np.argmin(p_values))
    p, question = p_values[worst], "Are rows logged alike in the arms on every day?"
    if p >= BLOCKS_BELOW:
        found = f"No day has other shares of units with rows than all days together ({p_statement(p, 'smallest p')})."
        return [Check("logging", question, None, p, BLOCKS_BELOW, "ok", found)]
    off = [day for day, value in zip(days, p_values, strict=True) if value < BLOCKS_BELOW]
    parts = ", ".join(
        f"{arm} {int(moments.on_day.n[worst]):,} of {n:,}"
        for arm, moments, n in zip(evidence.arms, daily, everyone, strict=True)
    )
    found = (
        f"Units with rows are not shared as on all days together on {_listed(off)} (on {days[worst]}: {parts}; "
        f"{p_statement(p)}): either rows of an arm are missing, or the treatment changes how often units come back."
    )
    return [Check("logging", question, None, p, BLOCKS_BELOW, "warns", found)]


def _listed(days: Sequence[str]) -> str:
    more = f" and {len(days) - 3} more days" if len(days) > 3 else ""
    return ", ".join(map(str, days[:3])) + more


def _against(unit: Dominant, arms: int) -> range:
    return range(1, arms) if unit.arm == 0 else range(unit.arm, unit.arm + 1)


def _p_values(metric: MetricEvidence, unit: Dominant, *, leave_out: bool) -> list[float]:
    found = []
    for arm in _against(unit, len(metric.arms)):
        parts = [metric.arms[0].select([0]), metric.arms[arm].select([0])]
        if leave_out:
            parts[0 if unit.arm == 0 else 1] = unit.without
        pair = plain_pair(parts[0], parts[1], ratio=metric.is_ratio)
        found.append(float(stats.compare_arms(pair).p_value[0]))
    return found


def _covariate_balance(name: str, evidence: Evidence) -> Iterator[Check]:
    arms = evidence.covariates[name]
    for place in range(1, len(arms)):
        p = float(stats.compare_arms(stats.mean_pair(arms[0], arms[place])).p_value[0])
        if np.isnan(p):
            continue
        outcome = "warns" if p < WARNS_BELOW else "ok"
        means = f"{evidence.arms[0]} {arms[0].mean[0, 0]:.4g}, {evidence.arms[place]} {arms[place].mean[0, 0]:.4g}"
        found = f"The means of {name} agree ({means}; {p_statement(p)})."
        if outcome == "warns":
            found = (
                f"The arms differ in {name} ({means}; {p_statement(p)}) although it should be older than the "
                "experiment: was it measured after the exposure, or the assignment not random?"
            )
        question = f"Is {name} alike in {evidence.arms[place]} and {evidence.arms[0]}?"
        yield Check("covariate_balance", question, None, p, WARNS_BELOW, outcome, found, None)


def _segment_balance(attribute: str, evidence: Evidence, trigger: str | None) -> Check:
    """χ² of arms × segments: segments that were known before are as frequent in every arm."""
    table = np.array([cell.n for cell in evidence.cells if cell.attribute == attribute], dtype=np.float64)
    table = table[:, table.sum(axis=0) > 0]
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    statistic = float(((table - expected) ** 2 / np.where(expected > 0, expected, 1.0)).sum())
    df = (table.shape[0] - 1) * (table.shape[1] - 1)
    p = max(float(special.chdtrc(df, statistic)), float(np.finfo(np.float64).tiny)) if df else 1.0
    outcome = "warns" if p < WARNS_BELOW else "ok"
    what = "Triggered units are" if attribute == trigger else f"The segments of “{attribute}” are"
    found = f"{what} as frequent in every arm as chance allows ({p_statement(p)})."
    if outcome == "warns":
        found = (
            f"{what} not equally frequent in the arms ({p_statement(p)}): the treatment may "
            "change which segment a unit is in; effects by segment are then not effects of the treatment."
        )
    question = f"Are the segments of “{attribute}” alike in the arms?"
    if attribute == trigger:
        question = "Are as many units triggered in every arm?"
    return Check("segment_balance", question, statistic, p, WARNS_BELOW, outcome, found)


def _looks(settings: ExperimentSettings, earlier: Sequence[Mapping[str, Any]], units: int) -> Check:
    question = "Is every look at the data allowed for?"
    looks = max(settings.look_number, len(earlier) + 1)
    found, good = _looks_found(settings, len(earlier), looks)
    told, as_planned = _as_planned(settings, units)
    found = f"{found} {told}".rstrip()
    return Check("looks", question, float(looks), None, None, "ok" if good and as_planned else "warns", found)


def _looks_found(settings: ExperimentSettings, earlier: int, looks: int) -> tuple[str, bool]:
    if settings.reads == "confidence-sequence":
        return "A confidence sequence holds at every look.", True
    if settings.reads == "group-sequential":
        planned = len(settings.looks)
        if earlier >= planned:
            return f"This is a look more than the {planned} that were planned: the level does not hold.", False
        return f"Look {settings.look_number} of {planned} planned; bounds by {settings.spending} spending.", True
    if looks > 1:
        return (
            f"This is look {looks} at an experiment read as if there were one: with every look the chance of a false "
            "claim grows. Plan the looks (--looks), or read a confidence sequence (--design confidence-sequence)."
        ), False
    return "One look, at the end: p-values and intervals do not allow for looking before.", True


def _as_planned(settings: ExperimentSettings, units: int) -> tuple[str, bool]:
    """Say where the units are not those that the look was planned at."""
    planned = settings.planned_units
    if planned is None:
        return "", True
    if settings.reads == "confidence-sequence":
        more = f"There are {units:,} units, more than the {planned:,} planned: it holds all the same, but is wider than"
        return (f"{more} one planned for them.", True) if units > planned else ("", True)
    share = settings.looks[settings.look_number - 1] if settings.reads == "group-sequential" else 1.0
    wanted = share * planned
    if abs(units - wanted) <= _OFF_PLAN * wanted:
        return "", True
    said = f"The plan has {wanted:,.0f} units at this look; there are {units:,}."
    if settings.reads == "group-sequential":
        return f"{said} The bounds are those of the plan: state the fraction reached (--looks), and why.", False
    if units < wanted:
        return f"{said} Reading before the end is a look of its own: plan the looks (--looks).", False
    return f"{said} If the end was moved after looking, the level does not hold.", False
