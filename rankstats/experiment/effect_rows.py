"""Rows of ``differences``: an arm against the control on a metric, over all units and in every segment."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankstats import stats
from rankstats.comparison.result import Interval, OtherTest, defined
from rankstats.experiment.contrasts import (
    Contrast,
    Tested,
    detectable,
    interval_of,
    plain_pair,
    relative,
    why_no_interval,
)
from rankstats.experiment.evidence import Cell, Evidence, MetricEvidence
from rankstats.experiment.metrics import Metric
from rankstats.experiment.result import Effect, OtherEffect
from rankstats.experiment.settings import ExperimentSettings
from rankstats.stats import ArmPair
from rankstats.stats.poisson_bootstrap import bootstrapped_effect

CONFIRMATORY, GUARDS, EXPLORATORY = "confirmatory", "guards", "exploratory"
_ESTIMANDS = {
    "mean": "difference of means over units",
    "share": "difference of shares of units",
    "ratio": "difference of ratios of sums",
    "quantile": "difference of quantiles over rows",
}


def effect_rows(
    found: Contrast, readings: Tested, evidence: Evidence, settings: ExperimentSettings, claim: tuple[int, str | None]
) -> list[Effect]:
    """Return a row for all units and one a segment, without ids.

    Parameters
    ----------
    found : Contrast
        The arm and the metric.
    readings : Tested
        p-values and intervals of the cells.
    evidence : Evidence
        Arms and cells.
    settings : ExperimentSettings
        Level and design.
    claim : tuple of int and (str or None)
        Size of the confirmatory family, and why there is no verdict on the metric.
    """
    size, withheld = claim
    sizes = _sizes(found, readings, settings, size)
    rows = []
    for c, cell in enumerate(evidence.cells):
        values = _of_what(found, cell, evidence.arms) | _estimates(found, c) | sizes[c]
        values |= _tests(found, readings, settings, c)
        family = _family_of(found.metric.metric, whole=c == 0)
        values |= _family(family, size, withheld)
        if family != CONFIRMATORY:
            values |= dict.fromkeys(("adjusted_interval", "detectable_in_family", "withheld"))
        rows.append(Effect(id="", **values, also=_also(found, settings) if c == 0 else ()))
    return rows


def _of_what(found: Contrast, cell: Cell, arms: tuple[str, ...]) -> dict[str, Any]:
    metric, reduction = found.metric.metric, found.variance_reduction
    return {
        "measure": metric.name,
        "baseline": arms[0],
        "system": arms[found.arm],
        "segment": cell.segment,
        "weighting": None,
        "estimand": _ESTIMANDS[metric.expression.kind],
        "higher_is_better": metric.higher_is_better,
        "adjusted_for": metric.covariate if reduction is not None else (),
    }


def _estimates(found: Contrast, c: int) -> dict[str, Any]:
    pair, reduction = found.pair, found.variance_reduction
    return {
        "n": int(pair.control_n[c] + pair.treatment_n[c]),
        "n_baseline": int(pair.control_n[c]),
        "n_system": int(pair.treatment_n[c]),
        "mean_baseline": defined(pair.control[c]),
        "mean_system": defined(pair.treatment[c]),
        "difference": defined(pair.difference[c]),
        "estimate": defined(pair.difference[c]),
        "standard_error": defined(pair.standard_error[c]),
        "margin": _margin(found.metric.metric, pair, c),
        "effect_size": defined(pair.difference[c] / found.sd[c]) if found.sd[c] > 0 else None,
        "variance_reduction": None if reduction is None else defined(reduction[c]),
        "variances": _variances(pair, c),
    }


def _sizes(found: Contrast, readings: Tested, settings: ExperimentSettings, size: int) -> list[dict[str, Any]]:
    """Return relative effects and detectable differences of every cell."""
    level, (estimate, low, high) = 1 - settings.alpha, relative(found, readings, settings)
    smallest, in_family = (detectable(found.pair, settings.alpha / m) for m in (1, size))
    error = found.pair.standard_error
    return [
        {
            "relative_difference": defined(estimate[c]),
            "relative_interval": interval_of(low[c], high[c], error[c], level, "Fieller"),
            "smallest_detectable": defined(smallest[c]),
            "detectable_in_family": defined(in_family[c]),
        }
        for c in range(found.pair.n_columns)
    ]


def _tests(found: Contrast, readings: Tested, settings: ExperimentSettings, c: int) -> dict[str, Any]:
    level, error = 1 - settings.alpha, found.pair.standard_error[c]
    repeated = settings.reads == "group-sequential" and c > 0
    method = "Welch t" if repeated else readings.method
    own = interval_of(readings.low[c], readings.high[c], error, level, method)
    return {
        "test": readings.test.split(",")[0] if repeated else readings.test,
        "p_value": defined(readings.p_value[c]),
        "alternative": "two-sided",
        "interval": own,
        "no_interval": why_no_interval(found.pair, c) if own is None else None,
        "p_adjusted": defined(readings.p_adjusted[c]),
        "adjusted_interval": interval_of(readings.adjusted_low[c], readings.adjusted_high[c], error, level, method),
    }


def _family(family: str, size: int, withheld: str | None) -> dict[str, Any]:
    claim = family == CONFIRMATORY
    return {
        "family": family,
        "role": EXPLORATORY if family == EXPLORATORY else CONFIRMATORY,
        "correction": "bonferroni" if claim and size > 1 else "bh" if family == EXPLORATORY else "none",
        "withheld": withheld,
    }


def _variances(pair: ArmPair, c: int) -> dict[str, float | None]:
    names = {"baseline": "control_variance", "system": "treatment_variance", "covariance": "covariance", "df": "df"}
    return {name: defined(getattr(pair, of)[c]) for name, of in (names | {"df_baseline": "control_df"}).items()}


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
    if metric.replicates:
        out.append(_bootstrapped(metric, found.arm, settings.alpha))
    unit = metric.dominant
    if unit is not None and unit.arm in (0, found.arm):
        arms = [metric.arms[0].select([0]), metric.arms[found.arm].select([0])]
        arms[0 if unit.arm == 0 else 1] = unit.without
        pair = plain_pair(arms[0], arms[1], ratio=metric.is_ratio)
        out.append(_other(f"without unit {unit.unit}", pair, settings.alpha))
    return tuple(out)


def _bootstrapped(metric: MetricEvidence, arm: int, alpha: float) -> OtherEffect:
    """Return the Poisson bootstrap of the units, whose resamples are decided by the hash of the unit's id."""
    arms = [metric.replicates[a] for a in (0, arm)]
    result = bootstrapped_effect(
        (arms[0].estimate[:1], arms[0].estimates[:, :1]),
        (arms[1].estimate[:1], arms[1].estimates[:, :1]),
        effect="difference",
        alpha=alpha,
    )
    without = ", without covariates" if metric.covariates else ""
    shown = Interval.from_ends(result.low[0], result.high[0], 1 - alpha, "Poisson bootstrap")
    name = f"Poisson bootstrap ({result.resamples:,} resamples{without})"
    return OtherEffect(name, defined(result.p_value[0]), shown, defined(result.estimate[0]))


def _other(name: str, pair: ArmPair, alpha: float) -> OtherEffect:
    result = stats.compare_arms(pair.select([0]), alpha=alpha)
    error = pair.standard_error[0]
    shown = interval_of(result.low[0], result.high[0], error, 1 - alpha, "Welch t")
    return OtherEffect(name, defined(result.p_value[0]), shown, defined(pair.difference[0]))
