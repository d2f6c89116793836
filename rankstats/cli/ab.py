"""``rankstats ab``: the readout of an A/B experiment into a folder."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankstats.cli.ab_summary import (
    add_summary_arguments,
    chosen_metrics,
    settings_with_summaries,
    summarise_alone,
    summary_request,
    write_summary,
)
from rankstats.cli.agree_online import add_offline_arguments, beside_offline
from rankstats.cli.engine_options import add_room_arguments
from rankstats.cli.options import add_look_arguments, default_folder, require, split_list
from rankstats.errors import PlanError, did_you_mean
from rankstats.tables.engines.choice import EngineChoice

if TYPE_CHECKING:
    from rankstats.experiment import ExperimentSettings, Metric, Readout


_OF_EXPERIMENTS = (
    ("--share", "ARM=SIZE", "designed relative size; repeatable (default: equal)"),
    (
        "--metric",
        "[NAME=]EXPRESSION",
        "mean(x) or x, sum(x)/sum(y), sum(x)/count(*), share(x), quantile(x, 0.95); repeatable",
    ),
    ("--guard", "METRIC=MARGIN", "metric that may fall by less than a margin (0.01, or 1%%)"),
    ("--lower", "LIST", "metrics of which lower is better"),
    ("--winsorise", "METRIC=LEVEL", "cap at a quantile of all arms, such as 0.999"),
    (
        "--covariate",
        "LIST",
        "columns from before the experiment: less variance (CUPED), the raw effect beside; METRIC=COLUMN for one "
        "metric",
    ),
)
_OF_READOUTS = (
    ("--primary", "LIST", "metrics that the verdict is about (default: the first)"),
    ("--margin", "METRIC=SIZE", "difference that does not matter; repeatable"),
    ("--segment", "LIST", "COLUMN, COLUMN:q4, A+B, known before; repeatable"),
)

EPILOG = """\
examples:
  rankstats ab users.csv --unit user_id --arm arm --control A --metric 'mean(revenue)' --metric converted
  rankstats ab events.parquet --unit user_id --metric 'ctr = sum(clicks)/sum(impressions)' --segment country
  rankstats ab A=a.csv B=b.csv --unit user_id --metric 'quantile(latency, 0.95)' --lower 'quantile(latency, 0.95)'
  rankstats ab aggregates.csv
  rankstats ab monday.csv --unit user_id --metric converted --summary-out monday.json --summary-only
  rankstats ab monday.json tuesday.json
  rankstats ab --plan launch.toml

Rows may be units or events (added up by --unit), one file or one an arm, or aggregates with the columns arm, metric, n,
mean, variance. The first line printed is the verdict, the last the path of the report."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    inputs = parser.add_argument_group("input")
    inputs.add_argument(
        "rows",
        metavar="ROWS",
        nargs="*",
        help="rows of units or events, or aggregates: CSV, TSV, JSON lines or Parquet, plain or compressed; one file, "
        "several of one kind, or ARM=FILE for every arm; or summaries that --summary-out wrote",
    )
    inputs.add_argument("--plan", metavar="FILE", help="plan in TOML; options override it")
    add_room_arguments(inputs, "what DuckDB takes by itself, four fifths of the memory")
    asked = parser.add_argument_group("what is compared")
    statistics = parser.add_argument_group("statistics")
    add_experiment_arguments(inputs, asked, statistics)
    _add_repeatable(asked, _OF_READOUTS)
    statistics.add_argument("--alpha", type=float, metavar="LEVEL", help="default 0.05")
    out = parser.add_argument_group("output")
    out.add_argument("--out", metavar="DIR", help="folder of the report (default: reports/CONTROL-vs-ARM)")
    out.add_argument("--title", metavar="TEXT", help="title of the report")
    out.add_argument("--quiet", action="store_true", help="print the verdict and the path only")
    add_offline_arguments(parser)
    add_summary_arguments(parser)


def add_experiment_arguments(
    inputs: argparse._ArgumentGroup, asked: argparse._ArgumentGroup, statistics: argparse._ArgumentGroup
) -> None:
    """Add the options that only experiments have; ``rankstats gate --rows`` takes them too."""
    inputs.add_argument("--unit", metavar="COLUMN", help="column of what was randomised: user, session")
    inputs.add_argument("--arm", metavar="COLUMN", help="column of the arm")
    inputs.add_argument("--assignments", metavar="FILE", help="all units with their arms, also those without rows")
    inputs.add_argument("--time", metavar="COLUMN", help="column of the time of a row: effects by day")
    inputs.add_argument(
        "--exposed-at",
        metavar="COLUMN",
        help="column of a unit's exposure: earlier rows are left out, later segments and covariates (NAME_at) refused",
    )
    inputs.add_argument("--timezone", metavar="NAME", help="in which days are counted (default UTC)")
    asked.add_argument("--control", metavar="ARM", help="the arm that the others are compared with")
    asked.add_argument(
        "--trigger",
        metavar="COLUMN",
        help="column that is above 0 in rows where the arms would have differed: the effect on units with such rows",
    )
    _add_repeatable(asked, _OF_EXPERIMENTS)
    add_look_arguments(statistics)


def _add_repeatable(group: argparse._ArgumentGroup, options: Sequence[tuple[str, str, str]]) -> None:
    for flag, metavar, told in options:
        group.add_argument(flag, metavar=metavar, action="append", default=[], help=told)


def make_settings(options: argparse.Namespace) -> ExperimentSettings:
    """Return the settings that options and plan file describe together."""
    from rankstats.experiment import ExperimentSettings, overridden, settings_from_plan  # noqa: PLC0415  heavy
    from rankstats.plan import read_plan  # noqa: PLC0415  with the rest

    settings = settings_from_plan(read_plan(options.plan)) if options.plan else ExperimentSettings()
    require(options.out != "", "--out names nothing")
    rows = tuple(map(_arm_file, options.rows))
    completed = settings_with_summaries(settings, rows)
    if completed is not settings:
        settings = replace(completed, metrics=chosen_metrics(options.metric, completed.metrics))
        options = argparse.Namespace(**{**vars(options), "metric": []})
    changes: dict[str, Any] = {
        "rows": rows,
        "unit": options.unit,
        "arm": options.arm,
        "control": options.control,
        "shares": _pairs(options.share, "--share", "ARM=SIZE, such as A=0.5"),
        "metrics": _metrics(options, settings.metrics),
        "segments": split_list(options.segment),
        "trigger": options.trigger,
        "assignments": options.assignments,
        "exposed_at": options.exposed_at,
        "time": options.time,
        "timezone": options.timezone,
        "looks": _looks(options.looks),
        "look": options.look,
        "design": options.design,
        "spending": options.spending,
        "planned_units": options.planned_units,
        "alpha": options.alpha,
        "title": options.title,
    }
    settings = overridden(settings, changes)
    require(bool(settings.rows), "give ROWS, or ARM=FILE for every arm, or --plan FILE (rankstats ab --help)")
    return settings


def _arm_file(text: str) -> tuple[str | None, str]:
    arm, separator, path = text.partition("=")
    if not separator or Path(text).exists():
        return None, text
    require(bool(arm.strip() and path), f"{text!r}: write ARM=FILE, such as A=a.csv")
    return arm.strip(), path


def _pairs(texts: Sequence[str], flag: str, form: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for text in texts:
        name, separator, size = text.rpartition("=")
        try:
            found[name.strip()] = float(size)
        except ValueError:
            separator = ""
        require(bool(separator and name.strip()), f"{flag} {text}: write {form}")
    return found


def _looks(text: str | None) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(",")) if text else ()
    except ValueError:
        raise PlanError(f"--looks {text}: write fractions with commas between them, such as 0.5,1") from None


def _metrics(options: argparse.Namespace, planned: tuple[Metric, ...]) -> tuple[Metric, ...]:
    """Return the metrics of the plan or of --metric, with what the other options say of them."""
    from rankstats.experiment import metric_from_text, with_roles  # noqa: PLC0415  heavy

    metrics = {metric.name: metric for metric in planned}
    if options.metric:
        given = [metric_from_text(text) for text in options.metric]
        with_roles(tuple(given), frozenset())
        metrics = {metric.name: metric for metric in given}
    covariates: dict[str, tuple[str, ...]] = {}
    for text in split_list(options.covariate):
        name, _, column = text.rpartition("=")
        covariates[name] = (*covariates.get(name, ()), column)
    stated: set[str] = set()
    changes: list[tuple[str, dict[str, Any]]] = [(name, {"role": "primary"}) for name in split_list(options.primary)]
    changes += [_guard(text) for text in options.guard]
    changes += [(name, {"better": "lower"}) for name in split_list(options.lower)]
    changes += [(n, {"margin": v}) for n, v in _pairs(options.margin, "--margin", "METRIC=SIZE").items()]
    changes += [(n, {"winsorise": v}) for n, v in _pairs(options.winsorise, "--winsorise", "METRIC=0.999").items()]
    changes += [(name, {"covariate": columns}) for name, columns in covariates.items() if name]
    if options.primary:
        metrics = {n: replace(m, role="secondary") if m.role == "primary" else m for n, m in metrics.items()}
    for name, change in changes:
        if not metrics or name not in metrics:
            raise PlanError(
                f"{name!r} is not among the metrics ({', '.join(metrics) or 'none are given'})"
                + did_you_mean(name, metrics)
            )
        metrics[name] = replace(metrics[name], **change)
        stated |= {name} if "role" in change else set()
    for name, metric in metrics.items():
        if "" in covariates and not metric.covariate and metric.expression.kind != "quantile":
            metrics[name] = replace(metric, covariate=covariates[""])
    return with_roles(tuple(metrics.values()), frozenset(stated))


def _guard(text: str) -> tuple[str, dict[str, Any]]:
    name, _, size = text.rpartition("=")
    try:
        share = size.strip().endswith("%")
        margin = float(size.strip().removesuffix("%")) / (100 if share else 1)
    except ValueError:
        name = ""
    require(bool(name.strip()), f"--guard {text}: write METRIC=MARGIN, such as revenue=0.02 or revenue=1%")
    return name.strip(), {"role": "guard", "margin_relative" if share else "margin": margin}


def run(options: argparse.Namespace, argv: list[str]) -> int:
    """Read out, write the folder, print the verdict and the path."""
    from rankstats.experiment import read_experiment, read_out_evidence  # noqa: PLC0415  heavy
    from rankstats.output import write_folder  # noqa: PLC0415  with the rest
    from rankstats.report.experiment_files import experiment_files  # noqa: PLC0415  heavy

    settings = make_settings(options)
    files = [path for _, path in settings.rows] + ([settings.assignments] if settings.assignments else [])
    check_files([path for _, path in settings.rows])
    request = summary_request(options, settings)
    room = EngineChoice(memory_limit=options.memory_limit, temp_folder=options.temp_dir)
    if options.summary_only and request is not None:
        return summarise_alone(options, settings, request, files, room)
    evidence = read_experiment(settings, summarise=request, room=room)
    folder = options.out or default_folder(evidence.arms[0], evidence.arms[1:])
    earlier = earlier_looks(Path(folder) / "report.json", [source.sha256 or "" for source in evidence.sources])
    readout = read_out_evidence(evidence, settings, argv=argv, earlier=earlier)
    offline = beside_offline(options, readout)
    files += [options.offline] if options.offline else []
    if options.summary_out:
        write_summary(evidence.summary, options.summary_out, files)
    written = write_folder(folder, experiment_files(readout, offline=offline), inputs=files)
    _print(readout, quiet=options.quiet)
    print(written[0])
    return 0


def check_files(paths: Sequence[str]) -> None:
    """Refuse a file that is named twice: its rows would count twice."""
    seen: dict[Path, str] = {}
    for path in paths:
        first = seen.setdefault(Path(path).resolve(), path)
        require(first is path, f"{path} is named twice; its rows would count twice")


def earlier_looks(path: Path, digests: list[str]) -> list[dict[str, Any]]:
    """Return the looks that a report in the same folder was made at, from other data of the same experiment."""
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
        if report["kind"] != "experiment":
            return []
        looks = list(report["experiment"]["design"]["earlier"])
        before = [row["sha256"] for row in report["reproduction"]["inputs"]]
        units = sum(row["n"] for row in report["experiment"]["units"])
    except (OSError, ValueError, KeyError, TypeError):
        return []
    return looks if before == digests else [*looks, {"units": units, "inputs": before}]


def _print(readout: Readout, *, quiet: bool) -> None:
    """Print the verdict first, then the tables unless `quiet`."""
    from rankstats.report import render_terminal  # noqa: PLC0415  heavy
    from rankstats.report.texts import whole  # noqa: PLC0415  with the rest
    from rankstats.wording import MINUS  # noqa: PLC0415  with the rest

    terminal = sys.stdout.isatty()
    if quiet:
        text = "\n".join(whole(verdict.sentence) for verdict in readout.verdict)
    else:
        text = render_terminal(readout.to_dict(), shutil.get_terminal_size().columns if terminal else None)
    # scripts that read a pipe want the minus of numbers
    print(text if terminal else text.replace(MINUS, "-").replace("\N{NO-BREAK SPACE}", " "))
