"""``rankstats power`` for experiments: units of each arm, days, and the smallest effects that can be found."""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rankstats.cli.options import count_of, require, split_list
from rankstats.errors import PlanError, did_you_mean
from rankstats.wording import count

if TYPE_CHECKING:
    from rankstats.planning import PlannedEffect, PlannedMetric, Terms, Traffic

_ONLY = ("base_rate", "mean", "correlation", "users_per_day", "units", "days", "arms", "control_share")
_OF_QUERIES = ("n", "simulate", "segment", "baseline")
COLUMNS = (
    *("measure", "control_value", "standard_deviation", "units", "days", "smallest_detectable"),
    *("smallest_detectable_relative", "difference", "relative_difference", "power_at_units", "units_needed"),
    *("control_needed", "arm_needed", "days_needed"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what only experiments have."""
    group = parser.add_argument_group("experiment: units (users) in arms instead of queries")
    group.add_argument(
        "--base-rate",
        metavar="[METRIC=]SHARE",
        action="append",
        default=[],
        help="the control's share of units, such as 0.05; repeatable, one a metric",
    )
    group.add_argument(
        "--mean",
        metavar="[METRIC=]NUMBER",
        action="append",
        default=[],
        help="the control's mean of a metric whose --sd (of one unit's value) is given: for differences in %%",
    )
    group.add_argument(
        "--correlation",
        metavar="[METRIC=]R",
        action="append",
        default=[],
        help="correlation with a covariate from before the experiment (CUPED): leaves 1 - R² of the variance",
    )
    group.add_argument(
        "--users-per-day",
        metavar="N",
        help="new units a day, all arms together; or N1,N2,...: distinct units up to each day, as users come back",
    )
    group.add_argument("--units", type=count_of, metavar="N", help="units of all arms (default: those of the report)")
    group.add_argument("--days", type=count_of, metavar="N", help="the units of so many days instead")
    group.add_argument("--arms", type=count_of, metavar="K", help="arms, the control included (default: 2)")
    group.add_argument(
        "--control-share", type=float, metavar="SHARE", help="share of the control (default: as every other arm)"
    )


def is_asked(options: argparse.Namespace) -> bool:
    """Whether any option of experiments is given."""
    return any(getattr(options, name) not in (None, []) for name in _ONLY)


def plan(options: argparse.Namespace, report: Mapping[str, Any] | None) -> tuple[PlannedEffect, ...]:
    """Return one planned effect a metric, of a report or of given numbers.

    Raises
    ------
    PlanError
        If options are missing or contradict each other.
    """
    from rankstats.planning import (  # noqa: PLC0415  heavy
        metrics_of_report,
        plan_effect,
        with_correlation,
    )

    useless = [f"--{name}" for name in _OF_QUERIES if getattr(options, name)]
    require(not useless, f"{' and '.join(useless)}: of queries; an experiment takes --units or --days")
    if report is None:
        unknown = [f"--{name}" for name in ("measures", "system") if getattr(options, name)]
        require(not unknown, f"{' and '.join(unknown)}: of a report; given numbers are named as METRIC=NUMBER")
        metrics = _given(options)
    else:
        require(not options.mean, "--mean: the report tells that; leave it out, or leave out the report")
        metrics = metrics_of_report(report, split_list(options.measures), system=options.system)
    correlation = numbers_of(options.correlation, "--correlation", "[METRIC=]R, such as 0.6")
    _check_named(correlation, metrics, "--correlation")
    metrics = with_correlation(metrics, correlation)
    wanted = _effects(options.difference, metrics)
    going = _traffic(options, report)
    units = _units(options, going, report)
    require(
        bool(wanted) or units is not None,
        "give --difference SIZE (or SIZE%), or --units N, or --days N with --users-per-day N, or both",
    )
    terms = _terms(options, (going.arms - 1) * len(metrics))
    return tuple(
        plan_effect(metric, size, relative=relative, units=units, traffic=going, terms=terms)
        for metric in metrics
        for size, relative in [wanted.get(metric.name or "", wanted.get("", (None, False)))]
    )


def heading(planned: Sequence[PlannedEffect]) -> str:
    """Return what the numbers rest on: arms, level, comparisons, power, and the formulas by name."""
    terms, arms = planned[0].terms, planned[0].arms
    sides = "two-sided" if terms.two_sided else "one-sided"
    together = "" if terms.comparisons == 1 else f", {terms.comparisons:,} comparisons made together (Bonferroni)"
    shares = "" if arms == 2 else f"{arms} arms, each of {arms - 1} against the control; "
    formulas = dict.fromkeys(("shares" if row.metric.read_as_share else "means", row.formula) for row in planned)
    told = "; ".join(f"{what}: {formula}" for what, formula in formulas)
    few = any(row.units is not None and row.smallest_detectable is None for row in planned)
    none = f"\nso few units find no effect at all with probability {terms.power:g}" if few else ""
    return f"{shares}{sides}, level {terms.alpha:g}{together}; found with probability {terms.power:g}\n{told}{none}"


def row_of(found: PlannedEffect) -> dict[str, Any]:
    """Return the row of a table, with everything for JSON beside it."""
    full = {key: value for key, value in found.to_dict().items() if key not in ("metric", "traffic")}
    full["correlation"] = found.metric.correlation
    return {**{name: getattr(found, name) for name in COLUMNS}, "full": full}


def numbers_of(texts: Sequence[str], flag: str, form: str) -> dict[str, float]:
    """Return numbers by metric; '' stands for a number without a name.

    Raises
    ------
    PlanError
        If a text is no number, or a metric is named twice.
    """
    found: dict[str, float] = {}
    for text in split_list(texts):
        name, _, number = text.rpartition("=")
        try:
            value = float(number)
        except ValueError:
            raise PlanError(f"{flag} {text}: write {form}") from None
        require(math.isfinite(value), f"{flag} {text}: a finite number is expected")
        require(name.strip() not in found, f"{flag} {text}: that is said twice; name the metrics: METRIC=NUMBER")
        found[name.strip()] = value
    return found


def _given(options: argparse.Namespace) -> tuple[PlannedMetric, ...]:
    from rankstats.planning import MEAN, SHARE, PlannedMetric  # noqa: PLC0415  heavy

    rates = numbers_of(options.base_rate, "--base-rate", "[METRIC=]SHARE, such as 0.05")
    deviations = numbers_of(options.sd, "--sd", "[METRIC=]NUMBER, such as 12.5")
    means = numbers_of(options.mean, "--mean", "[METRIC=]NUMBER, such as 30")
    both = [name for name in rates if name in deviations]
    require(not both, f"--base-rate and --sd are both of {both[0] if both and both[0] else 'one metric'}; give one")
    require(bool(rates or deviations), "give --base-rate SHARE or --sd NUMBER (of one unit's value), or a report.json")
    made = [PlannedMetric(name or None, SHARE, rate) for name, rate in rates.items()]
    made += [
        PlannedMetric(name or None, MEAN, means.get(name, means.get("")), deviation)
        for name, deviation in deviations.items()
    ]
    _check_named(means, [metric for metric in made if metric.kind == MEAN], "--mean")
    return tuple(made)


def _check_named(found: Mapping[str, Any], metrics: Sequence[PlannedMetric], flag: str) -> None:
    known = [metric.name for metric in metrics if metric.name]
    for name in found:
        require(not name or name in known, f"{flag}: there is no metric {name!r}" + did_you_mean(name, known))


def _effects(texts: Sequence[str], metrics: Sequence[PlannedMetric]) -> dict[str, tuple[float | None, bool]]:
    relative = {text.rpartition("=")[0].strip(): text.strip().endswith("%") for text in split_list(texts)}
    bare = [text.strip().removesuffix("%") for text in split_list(texts)]
    sizes = numbers_of(bare, "--difference", "[METRIC=]SIZE, such as 0.01 or 2%")
    require(all(sizes.values()), "--difference: a difference other than 0 is expected")
    _check_named(sizes, metrics, "--difference")
    return {name: (size / 100 if relative[name] else size, relative[name]) for name, size in sizes.items()}


def _traffic(options: argparse.Namespace, report: Mapping[str, Any] | None) -> Traffic:
    from rankstats.planning import Traffic  # noqa: PLC0415  heavy

    try:
        users = tuple(float(part) for part in (options.users_per_day or "").split(",") if part.strip())
    except ValueError:
        raise PlanError(f"--users-per-day {options.users_per_day}: write N, or N1,N2,... for distinct users") from None
    require(options.users_per_day is None or bool(users), "--users-per-day names nothing")
    arms = options.arms
    if arms is None:
        arms = 2 if report is None else len(report["systems"])
    return Traffic(users, arms, options.control_share)


def _units(options: argparse.Namespace, going: Traffic, report: Mapping[str, Any] | None) -> float | None:
    require(options.units is None or options.days is None, "give --units or --days, not both")
    if options.units is not None:
        return float(options.units)
    if options.days is not None:
        require(bool(going.users_per_day), "--days needs --users-per-day N")
        require(options.days >= 1, f"--days {options.days}: 1 or more is expected")
        named = len(going.users_per_day)
        require(
            named == 1 or options.days <= named,
            f"--days {options.days}: --users-per-day names the users of {count(named, 'day')}; name those of more days",
        )
        return going.units_by(options.days)
    return None if report is None else float(sum(row["n"] for row in report["experiment"]["units"]))


def _terms(options: argparse.Namespace, comparisons: int) -> Terms:
    from rankstats.planning import Terms  # noqa: PLC0415  heavy

    made = Terms(options.alpha, options.power, comparisons, two_sided=not options.one_sided)
    return made if options.comparisons is None else replace(made, comparisons=options.comparisons)
