"""Trigger analysis: the effect on the units that the treatment could reach, and what it makes over all units."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankstats.comparison.result import Interval, Warning
from rankstats.comparison.verdicts import level_text
from rankstats.experiment.evidence import Evidence
from rankstats.experiment.metrics import Metric
from rankstats.experiment.result import Check, Effect, TriggerEffect
from rankstats.experiment.segments import TRIGGERED, UNTRIGGERED
from rankstats.stats.arm_scales import critical_value
from rankstats.stats.sample_ratio import WARNS_BELOW
from rankstats.wording import count, decimals_for, interval, p_statement, percent, signed

UNTRIGGERED_EFFECT = "untriggered_effect"


def trigger_effects(
    evidence: Evidence, differences: Sequence[Effect], trigger: str | None, alpha: float
) -> tuple[TriggerEffect, ...]:
    """Return a row for each metric and arm; nothing where no trigger is named or all units are alike.

    Over all units the effect is share × effect on the triggered units, for units without a trigger have none: less
    noise than the plain difference over all units. Its variance is share² × variance + effect² × share (1 − share) / n.

    References
    ----------
    Deng & Hu 2015 (diluted treatment effect estimation for trigger analysis).
    """
    if trigger is None:
        return ()
    kinds = {metric.metric.name: metric.metric for metric in evidence.metrics}
    of = {(row.measure, row.system, row.segment["value"]): row for row in differences
          if row.segment is not None and row.segment["attribute"] == trigger}  # fmt: skip
    rows = []
    for (measure, system, value), row in of.items():
        if value == TRIGGERED:
            rows.append(_effect(kinds[measure], row, of.get((measure, system, UNTRIGGERED)), alpha))
    return tuple(rows)


def _effect(metric: Metric, row: Effect, rest: Effect | None, alpha: float) -> TriggerEffect:
    n = row.n + (rest.n if rest is not None else 0)
    share = row.n / n if n else 0.0
    diluted, over_all = None, None
    known = row.difference is not None and row.standard_error is not None
    if metric.expression.kind in ("mean", "share") and known:
        diluted = share * float(row.difference or 0.0)
        variance = (share * float(row.standard_error or 0.0)) ** 2
        variance += float(row.difference or 0.0) ** 2 * share * (1 - share) / n
        df = (row.variances or {}).get("df")
        critical = critical_value(alpha / 2, np.array([np.inf if df is None else df]))
        half = float(critical[0]) * float(np.sqrt(variance))
        over_all = Interval.from_ends(diluted - half, diluted + half, 1 - alpha, "diluted, delta method")
    return TriggerEffect(
        metric.name,
        row.baseline,
        row.system,
        row.n,
        share,
        row.difference,
        row.interval,
        row.p_value,
        diluted,
        over_all,
        None if rest is None else rest.p_value,
    )


def trigger_warnings(
    rows: Sequence[TriggerEffect], differences: Sequence[Effect], primary: Sequence[str]
) -> tuple[Warning, ...]:
    """Say what the claims are by trigger, and warn where units without a trigger differ between the arms."""
    wholes = {(row.measure, row.system): row for row in differences if row.segment is None}
    told = []
    for row in rows:
        if row.measure in primary and row.diluted is not None and row.diluted_interval is not None:
            whole, shown = wholes[row.measure, row.system], row.diluted_interval
            decimals = decimals_for(whole.standard_error)
            ends = f"{level_text(shown)} interval {interval(*shown.ends, decimals)}"
            adjusted = f"adjusted for {' and '.join(whole.adjusted_for)} and " if whole.adjusted_for else ""
            text = (
                f"{percent(row.share)} of the units are triggered. The effect on them, {adjusted}spread over all "
                f"units, is {signed(row.diluted, decimals)} ({ends})."
            )
            told.append(Warning("trigger", "info", text, f"{row.system} against {row.baseline}, {row.measure}"))
    return (*told, *_untriggered(rows))


def trigger_checks(rows: Sequence[TriggerEffect]) -> tuple[Check, ...]:
    """Return the check that units without a trigger do not differ, if there are such units.

    The smallest p-value of all metrics and arms is compared with the threshold divided by their number. What is no
    warning is said without a verdict: among the exploratory differences the same one may be shown.
    """
    known = [(row.untriggered_p, row) for row in rows if row.untriggered_p is not None]
    if not known:
        return ()
    p, least = min(known, key=lambda found: found[0])
    threshold = WARNS_BELOW / len(rows)
    name = least.measure if len({row.system for row in rows}) == 1 else f"{least.measure}, {least.system}"
    warns = p < threshold
    limit = f"below {_short(threshold)} it warns"
    limit += f", {_short(WARNS_BELOW)} shared by {count(len(rows), 'comparison')}" if len(rows) > 1 else ""
    found = f"Among the units without a trigger: {p_statement(p, 'smallest p')} ({name}; {limit})."
    if warns:
        found = f"The arms differ among the units without a trigger ({p_statement(p, 'smallest p')}, {name}; {limit})."
    question = "Are the arms alike where no effect can be?"
    return (Check(UNTRIGGERED_EFFECT, question, None, p, threshold, "warns" if warns else "ok", found),)


def _short(threshold: float) -> str:
    return f"{threshold:.2g}".lstrip("0")


def _untriggered(rows: Sequence[TriggerEffect]) -> tuple[Warning, ...]:
    return tuple(
        Warning(
            UNTRIGGERED_EFFECT,
            "warning",
            f"{row.system} and {row.baseline} differ in {row.measure} among the units without a trigger "
            f"({p_statement(row.untriggered_p)}), where no effect can be: does the trigger miss some of the "
            "changes, or is it logged in one arm only?",
            f"{row.system} against {row.baseline}, {row.measure}",
        )
        for row in rows
        if row.untriggered_p is not None and row.untriggered_p < WARNS_BELOW / len(rows)
    )
