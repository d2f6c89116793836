"""``rankstats gate --rows``: the readout of an experiment as ``rankstats ab`` makes it, and the decision on top."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankstats.cli import ab
from rankstats.cli.options import default_folder, require
from rankstats.errors import PlanError

if TYPE_CHECKING:
    from rankstats.decision import Decision, Policy
    from rankstats.decision.policy import Claim, Floor, Guard
    from rankstats.experiment import ExperimentSettings, Metric

_FOR_RUNS = (
    "qrels",
    "scores",
    "queries",
    "against",
    "measures",
    "higher",
    "baseline",
    "weights",
    "cluster",
    "test",
    "correction",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of experiments."""
    group = parser.add_argument_group("experiment (rows of units or events instead of runs)")
    group.add_argument(
        "--rows",
        metavar="ROWS",
        action="append",
        default=[],
        help="rows or aggregates as rankstats ab takes them; more files may follow; candidate and baseline of the "
        "policy are arms, its measures are metrics",
    )
    ab.add_experiment_arguments(group, group, group)


def is_asked(options: argparse.Namespace) -> bool:
    """Whether an experiment is to be read: rows are given, or the plan has a section [experiment] and no runs.

    Raises
    ------
    PlanError
        If options of experiments are given without rows.
    """
    asked = bool(options.rows)
    if options.plan and not (asked or options.qrels or options.scores):
        from rankstats.plan import read_plan  # noqa: PLC0415  heavy

        plan = read_plan(options.plan)
        asked = bool(plan.experiment) and not (plan.runs or plan.scores)
    useless = [] if asked else [f"--{name}" for name in ("unit", "arm", "metric", "control") if getattr(options, name)]
    require(not useless, f"{' and '.join(useless)}: of experiments; give their rows with --rows ROWS")
    return asked


def decide_rows(options: argparse.Namespace, policy: Policy, argv: list[str]) -> tuple[Decision, dict[str, str], Any]:
    """Return the decision, the files of the folder and the paths that were read, the folder first."""
    from rankstats.decision import decide  # noqa: PLC0415  heavy
    from rankstats.experiment import read_experiment, read_out_evidence  # noqa: PLC0415  heavy
    from rankstats.report.experiment_files import experiment_files  # noqa: PLC0415  heavy

    useless = [f"--{name}" for name in _FOR_RUNS if getattr(options, name)]
    require(not useless, f"{' and '.join(useless)}: of runs, and --rows are of an experiment")
    settings = _settings(options, policy)
    ab.check_files([path for _, path in settings.rows])
    evidence = read_experiment(settings)
    folder = options.out or default_folder(policy.baseline, [policy.candidate])
    digests = [source.sha256 or "" for source in evidence.sources]
    earlier = ab.earlier_looks(Path(folder) / "report.json", digests)
    readout = read_out_evidence(evidence, settings, argv=argv, earlier=earlier)
    decision = decide(readout, policy)
    files = experiment_files(replace(readout, decision=decision.to_dict()))
    read = [path for _, path in settings.rows] + ([settings.assignments] if settings.assignments else [])
    return decision, files, (folder, read)


def _settings(options: argparse.Namespace, policy: Policy) -> ExperimentSettings:
    """Return the settings, with metrics, segments, control and level of the policy where nothing else is stated."""
    from rankstats.experiment import metric_from_text  # noqa: PLC0415  heavy

    named = {metric_from_text(text).name for text in options.metric}
    asked_of = dict.fromkeys(rule.measure for rule in policy.rules)
    # with the others, so that covariates and caps hold for them too
    measures = [] if options.plan else [measure for measure in asked_of if measure not in named]
    metrics = [*options.metric, *(_as_metric(measure) for measure in measures)]
    changed = {"rows": [*options.rows, *options.runs], "metric": metrics}
    settings = ab.make_settings(argparse.Namespace(**{**vars(options), **changed}))
    asked = dict.fromkeys(rule.segment.attribute for rule in policy.rules if rule.segment is not None)
    names = {part for text in settings.segments for part in (text, text.split(":")[0])}
    changes: dict[str, Any] = {
        "metrics": _metrics(settings.metrics, policy, by_claims=not options.plan and not options.primary),
        "segments": (*settings.segments, *(attribute for attribute in asked if attribute not in names)),
        "control": settings.control or policy.baseline,
    }
    if options.alpha is None and not options.plan:
        changes["alpha"] = policy.alpha
    return replace(settings, **changes)


def _as_metric(measure: str) -> str:
    """Return a measure as --metric takes it: a name with = in it stands for a column of that name."""
    return measure if "=" not in measure else f'"{measure}"'


def _metrics(planned: tuple[Metric, ...], policy: Policy, *, by_claims: bool) -> tuple[Metric, ...]:
    """Return the planned metrics and those that the policy names besides.

    With `by_claims` the claims of the policy are the primary metrics, which the verdict is about.

    Raises
    ------
    PlanError
        If two rules give a metric two directions.
    """
    from rankstats.experiment import metric_from_text, with_roles  # noqa: PLC0415  heavy

    metrics = {metric.name: metric for metric in planned}
    for rule in policy.rules:
        if rule.measure not in metrics:
            metrics[rule.measure] = replace(metric_from_text(_as_metric(rule.measure)), name=rule.measure)
    claimed = {rule.measure for rule in policy.claims}
    for name, metric in metrics.items():
        if by_claims and claimed and metric.role != "guard":
            metrics[name] = replace(metric, role="primary" if name in claimed else "secondary")
    for name, better in _directions(policy.rules):
        if better == "lower":
            metrics[name] = replace(metrics[name], better="lower")
    return with_roles(tuple(metrics.values()), frozenset())


def _directions(rules: Iterable[Claim | Guard | Floor]) -> Iterable[tuple[str, str]]:
    told: dict[str, str] = {}
    for rule in rules:
        better = rule.better or told.get(rule.measure)
        if better is not None and told.setdefault(rule.measure, better) != better:
            raise PlanError(f"rule {rule.id!r}: another rule says better = {told[rule.measure]!r} of {rule.measure}")
    return told.items()
