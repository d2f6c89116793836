"""Reads out an experiment: settings and rows in, a finished Readout out."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

from rankstats import __version__, stats
from rankstats.comparison.result import Interval, Score, Segment, System, Verdict, Warning, defined
from rankstats.conventions import SMALLEST_VERDICT_N
from rankstats.errors import PlanError
from rankstats.experiment.checks import make_checks, warnings_of
from rankstats.experiment.contrasts import plain_pair
from rankstats.experiment.effects import Effects, make_effects
from rankstats.experiment.evidence import Evidence, MetricEvidence
from rankstats.experiment.reading import read_experiment
from rankstats.experiment.result import ArmUnits, Cap, Design, Effect, Readout
from rankstats.experiment.settings import ExperimentSettings
from rankstats.experiment.summary import ExperimentSummary
from rankstats.experiment.summary_evidence import completed_settings, evidence_of_summary
from rankstats.experiment.trigger import trigger_checks, trigger_effects, trigger_warnings
from rankstats.experiment.wording import outcome_of, sentence
from rankstats.stats.arm_scales import critical_value
from rankstats.tables import MeasureInfo

_LIBRARIES = ("numpy", "scipy", "duckdb", "pyarrow", "matplotlib", "jinja2")
_TESTS = {
    "share": "score test (χ²) of two shares",
    "mean": "Welch's t test; the score test (χ²) where all values are 0 or 1",
    "ratio": "delta method at the unit, Welch's t",
    "quantile": "delta method at the unit for quantiles of clustered rows",
}


def read_out(
    settings: ExperimentSettings,
    *,
    rows: Any = None,
    assignments: Any = None,
    argv: Sequence[str] = (),
    earlier: Sequence[Mapping[str, Any]] = (),
) -> Readout:
    """Read an experiment and compare its arms.

    Parameters
    ----------
    settings : ExperimentSettings
        Files, columns, metrics, design.
    rows, assignments
        Data handed in instead of the files of the settings; see `read_experiment`.
    argv : sequence of str
        The command, for the reproduction section.
    earlier : sequence of mapping
        Looks before this one, each with ``units``.

    Returns
    -------
    Readout

    Raises
    ------
    RankstatsError
        If something cannot be read, or settings and data do not fit together.

    Examples
    --------
    >>> from rankstats.experiment.metrics import metric_from_text, with_roles
    >>> metrics = with_roles((metric_from_text("mean(paid)"),), frozenset())
    >>> rows = [{"user": str(i), "arm": "AB"[i % 2], "paid": (i * 7) % 5 + i % 2} for i in range(200)]
    >>> readout = read_out(ExperimentSettings(metrics=metrics), rows=rows)
    >>> readout.verdict[0].outcome, readout.differences[0].difference
    ('better', 1.0)
    """
    evidence = read_experiment(settings, rows=rows, assignments=assignments)
    if evidence.source_kind == "summaries" and evidence.summary is not None:
        settings = completed_settings(settings, evidence.summary)
    return read_out_evidence(evidence, settings, argv=argv, earlier=earlier)


def read_out_summary(
    summary: ExperimentSummary, settings: ExperimentSettings | None = None, *, argv: Sequence[str] = ()
) -> Readout:
    """Compare the arms of a summary, or of several that were merged.

    Parameters
    ----------
    summary : ExperimentSummary
        From `summarise_experiment`, `read_summaries` or `merge_summaries`.
    settings : ExperimentSettings, optional
        What they say replaces the plan of the summary; what they leave at its default does not.
    argv : sequence of str
        The command, for the reproduction section.

    Returns
    -------
    Readout
        The same numbers as from the rows, but for the last digit: sums are rounded once, from their exact values.

    Raises
    ------
    RankstatsError
        If something is asked for that the summary does not hold.

    Examples
    --------
    >>> from rankstats.experiment import metric_from_text, summarise_experiment, with_roles
    >>> metrics = with_roles((metric_from_text("mean(paid)"),), frozenset())
    >>> rows = [{"user": str(i), "arm": "AB"[i % 2], "paid": (i * 7) % 5 + i % 2} for i in range(200)]
    >>> summary = summarise_experiment(ExperimentSettings(metrics=metrics), rows=rows)
    >>> read_out_summary(summary).differences[0].difference
    1.0
    """
    completed = completed_settings(settings or ExperimentSettings(), summary)
    return read_out_evidence(evidence_of_summary(summary, completed), completed, argv=argv)


def read_out_evidence(
    evidence: Evidence,
    settings: ExperimentSettings,
    *,
    argv: Sequence[str] = (),
    earlier: Sequence[Mapping[str, Any]] = (),
) -> Readout:
    """Compare the arms of what was read; parameters as in `read_out`."""
    if not evidence.units[0]:
        raise PlanError(f"the control {evidence.arms[0]!r} has no units; name another one with --control")
    checks = make_checks(evidence, settings, earlier)
    effects = make_effects(evidence, settings, checks)
    primary = tuple(m.metric.name for m in evidence.metrics if m.metric.role == "primary")
    trigger = trigger_effects(evidence, effects.differences, settings.trigger, settings.alpha)
    found = (*warnings_of(checks, evidence, settings), *trigger_warnings(trigger, effects.differences, primary))
    # looks are told last; a difference among the untriggered is warned of for each metric, above
    checks = (*checks[:-1], *trigger_checks(trigger), *checks[-1:])
    labels = {metric.metric.name: metric.metric.name for metric in evidence.metrics}
    return Readout(
        title=settings.title or _title(evidence),
        baseline=evidence.arms[0],
        primary=primary,
        alpha=settings.alpha,
        systems=tuple(System(arm, _source_of(arm, settings)) for arm in evidence.arms),
        measures=tuple(_measure(metric, evidence) for metric in evidence.metrics),
        segments=_segments(evidence),
        scores=tuple(row for metric in evidence.metrics for row in _scores(metric, evidence, settings.alpha)),
        differences=effects.differences,
        families=effects.families,
        heterogeneity=effects.heterogeneity,
        audit=_audit(evidence),
        warnings=_warnings(evidence, settings, effects, found),
        verdict=tuple(_verdict(row, settings.alpha, labels) for row in effects.claims),
        units=tuple(map(ArmUnits, evidence.arms, evidence.units, evidence.shares)),
        unit=evidence.unit,
        checks=checks,
        guards=effects.guards,
        caps=_caps(evidence),
        days=effects.days,
        trigger=trigger,
        design=_design(settings, len(effects.claims), earlier),
        reproduction=_reproduction(evidence, settings, argv),
    )


def _title(evidence: Evidence) -> str:
    if len(evidence.arms) == 2:
        return f"{evidence.arms[1]} against {evidence.arms[0]}"
    return f"Experiment with {len(evidence.arms)} arms"


def _source_of(arm: str, settings: ExperimentSettings) -> str:
    own = [path for name, path in settings.rows if name == arm]
    return ", ".join(own or [path for name, path in settings.rows if name is None])


def _measure(found: MetricEvidence, evidence: Evidence) -> MeasureInfo:
    metric = found.metric
    definition = {"meaning": metric.expression.words, "formula": metric.text, "role": metric.role}
    if evidence.source_kind == "aggregates":
        definition["meaning"] = "ratio of means of aggregates" if found.is_ratio else "mean of aggregates over units"
    definition["unit"] = evidence.unit or "every row"
    definition["test"] = _TESTS["share" if found.binary else metric.expression.kind]
    if metric.covariate:
        names = ", ".join(metric.covariate)
        definition["covariates"] = f"{names} (CUPED, one pooled slope); the scoreboard shows unadjusted means"
    if found.cap is not None:
        definition["winsorised"] = (
            f"values above {found.cap.cap:g} (the {found.cap.level:g} quantile of all arms) are set to it"
        )
    if metric.margin is not None:
        definition["margin"] = f"{metric.margin:g}"
    if metric.margin_relative is not None:
        definition["margin"] = f"{metric.margin_relative:g} of the control"
    definition["undefined"] = "units without a value are left out of n and counted"
    return MeasureInfo(metric.name, metric.name, definition, metric.higher_is_better)


def _segments(evidence: Evidence) -> tuple[Segment, ...]:
    everyone = sum(evidence.units)
    return tuple(
        Segment(cell.attribute, cell.value, cell.value, n := sum(cell.n), n / everyone, "units", n < SMALLEST_VERDICT_N)
        for cell in evidence.cells
        if cell.attribute
    )


def _scores(metric: MetricEvidence, evidence: Evidence, alpha: float) -> list[Score]:
    """Return the arms' own means, without covariates, over all units and by segment."""
    rows = []
    for a, arm in enumerate(evidence.arms):
        estimate, low, high, n, method = _own(metric, a, alpha)
        for c, cell in enumerate(evidence.cells):
            shown = Interval.from_ends(float(low[c]), float(high[c]), 1 - alpha, method)
            rows.append(Score(arm, metric.metric.name, cell.segment, int(n[c]), defined(estimate[c]), None, shown))
    return rows


def _own(metric: MetricEvidence, arm: int, alpha: float) -> tuple[Any, Any, Any, Any, str]:
    if metric.quantiles:
        cells = metric.quantiles[arm]
        estimate = np.array([np.nan if q is None else q.quantile[0] for q in cells])
        n = np.array([0 if q is None else int(q.moments.n[0]) for q in cells])
        variance = np.array([np.nan if q is None else q.variance[0] for q in cells])
        method = "quantile of clustered rows"
    else:
        moments = metric.arms[arm]
        pair = plain_pair(moments, moments, ratio=metric.is_ratio)
        estimate, variance, n = pair.control, pair.control_variance, moments.n
        method = "delta method" if metric.is_ratio else "t"
        if metric.binary:
            counts = np.rint(np.nan_to_num(moments.sums[:, 0])).astype(np.int64)
            _, low, high = _wilson(counts, n, alpha)
            return estimate, low, high, n, "Wilson"
    half = critical_value(alpha / 2, np.where(n > 1, n - 1.0, np.nan)) * np.sqrt(variance)
    return estimate, estimate - half, estimate + half, n, method


def _wilson(counts: Any, n: Any, alpha: float) -> tuple[Any, Any, Any]:
    low, high = stats.proportion_interval(counts, n, alpha=alpha)
    return counts, low, high


def _audit(evidence: Evidence) -> dict[str, Any]:
    return {
        "queries": {
            "judged": None,
            "scored": sum(evidence.units),
            "without_relevant": None,
            "missing": {},
            "unknown": {},
        },
        "duplicates": {},
        "ties": {},
        "unjudged_at": {},
        "undefined": {m.metric.name: sum(m.absent) for m in evidence.metrics if any(m.absent)},
        "rows": {"experiment": evidence.rows, "kind": evidence.source_kind},
        "left_out": {key: value for key, value in evidence.counts.items() if isinstance(value, int)},
    }


def _warnings(
    evidence: Evidence, settings: ExperimentSettings, effects: Effects, found: tuple[Warning, ...]
) -> tuple[Warning, ...]:
    out = list(found)
    for guard in effects.guards:
        if guard.outcome != "holds":
            severity = "serious" if guard.outcome == "fails" else "warning"
            place = f"{guard.system} against {guard.baseline}, {guard.measure}"
            out.append(Warning(f"guard_{guard.outcome}", severity, guard.sentence, place))
    if effects.guards and all(guard.outcome == "holds" for guard in effects.guards):
        out.append(Warning("guards_hold", "info", " ".join(guard.sentence for guard in effects.guards), ""))
    for row in effects.claims:
        if row.n >= 100_000 and row.p_adjusted is not None and row.p_adjusted <= settings.alpha:
            text = "With so many units small differences are shown too: read the size, not p."
            out.append(Warning("large_n", "info", text, f"{row.system} against {row.baseline}, {row.measure}"))
    for metric in evidence.metrics:
        if metric.cap is not None:
            capped = ", ".join(f"{arm} {n:,}" for arm, n in zip(evidence.arms, metric.cap.capped.tolist(), strict=True))
            text = f"{metric.metric.name} is capped at {metric.cap.cap:g}; units above it: {capped}."
            out.append(Warning("winsorised", "info", text, metric.metric.name))
    return tuple(out)


def _verdict(row: Effect, alpha: float, labels: Mapping[str, str]) -> Verdict:
    outcome = outcome_of(row, alpha)
    return Verdict(
        row.id, row.baseline, row.system, row.measure, row.segment, outcome, sentence(row, outcome, labels[row.measure])
    )


def _caps(evidence: Evidence) -> tuple[Cap, ...]:
    return tuple(
        Cap(m.metric.name, m.cap.level, m.cap.cap, dict(zip(evidence.arms, m.cap.capped.tolist(), strict=True)))
        for m in evidence.metrics
        if m.cap is not None
    )


def _design(settings: ExperimentSettings, claims: int, earlier: Sequence[Mapping[str, Any]]) -> Design:
    bound = nominal = None
    if settings.reads == "group-sequential":
        looks = settings.looks[: settings.look_number]
        bounds = stats.sequential_bounds(
            np.asarray(looks), alpha=settings.alpha / max(1, claims), spending=settings.spending
        )
        bound, nominal = defined(bounds.bound[-1]), defined(bounds.nominal_p[-1])
    return Design(
        settings.reads,
        settings.look_number,
        settings.looks,
        settings.spending if settings.reads == "group-sequential" else None,
        bound,
        nominal,
        settings.planned_units,
        tuple(earlier),
    )


def _reproduction(evidence: Evidence, settings: ExperimentSettings, argv: Sequence[str]) -> dict[str, Any]:
    return {
        "argv": list(argv),
        "seed": None,
        "resamples": None,
        "versions": {
            "rankstats": __version__,
            "python": platform.python_version(),
            **{name: version(name) for name in _LIBRARIES},
        },
        "inputs": [{"name": s.name, "sha256": s.sha256, "bytes": s.size} for s in evidence.sources],
        "plan": settings.to_dict(),
    }
