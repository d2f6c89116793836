"""The part of ``rankstats ab`` that is about summaries: options, settings of summaries that are read, files written."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rankstats.cli.options import require
from rankstats.errors import PlanError, did_you_mean

if TYPE_CHECKING:
    from rankstats.experiment import ExperimentSettings, ExperimentSummary, Metric, SummaryRequest
    from rankstats.tables.engines.choice import EngineChoice


def add_summary_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    group = parser.add_argument_group(
        "summaries (of the units first exposed on a day, say; rankstats ab DAY1 DAY2 ... reads them together)"
    )
    group.add_argument(
        "--summary-out",
        metavar="FILE",
        help="write exact sums by arm, segment and day with all that was asked, as JSON (compressed where FILE ends in "
        ".gz); of summaries that are read, write the merged one",
    )
    group.add_argument(
        "--summary-only", action="store_true", help="write the summary and no report: nothing is compared or shown"
    )
    group.add_argument(
        "--resamples",
        type=int,
        metavar="N",
        help="Poisson bootstrap of the units by the hash of their ids, beside the tests and in the summary",
    )
    group.add_argument("--seed", type=int, metavar="N", help="of the resamples; the same in all summaries (default 0)")


def settings_with_summaries(settings: ExperimentSettings, rows: Sequence[tuple[str | None, str]]) -> ExperimentSettings:
    """Return the settings with what they leave open taken from the files, where these are summaries."""
    from rankstats.experiment import holds_summaries, read_summary  # noqa: PLC0415  heavy
    from rankstats.experiment.summary_evidence import completed_settings  # noqa: PLC0415  heavy

    asked = replace(settings, rows=tuple(rows) or settings.rows)
    if not holds_summaries(asked):
        return settings
    return completed_settings(settings, read_summary(asked.rows[0][1]))


def chosen_metrics(texts: Sequence[str], held: Sequence[Metric]) -> tuple[Metric, ...]:
    """Return the metrics of a summary that ``--metric`` names, with their roles; all of them where it names none."""
    from rankstats.experiment import metric_from_text  # noqa: PLC0415  heavy

    by_name = {metric.name: metric for metric in held}
    chosen = []
    for text in texts:
        metric = metric_from_text(text)
        alike = [known for known in held if known.expression == metric.expression]
        if metric.name not in by_name and not alike:
            raise PlanError(
                f"metric {metric.name!r} is not in the summary ({', '.join(by_name)})"
                + did_you_mean(metric.name, by_name)
            )
        chosen.append(by_name[metric.name] if metric.name in by_name else alike[0])
    return tuple(dict.fromkeys(chosen)) or tuple(held)


def summary_request(options: argparse.Namespace, settings: ExperimentSettings) -> SummaryRequest | None:
    """Return what a summary shall hold, or None where neither a summary nor resamples are asked for."""
    from rankstats.experiment import SummaryRequest, holds_summaries  # noqa: PLC0415  heavy

    require(options.summary_out != "", "--summary-out names nothing")
    require(bool(options.summary_out) or not options.summary_only, "--summary-only needs --summary-out FILE")
    require(not options.summary_only or options.out is None, "--summary-only makes no report; leave --out out")
    require(options.seed is None or bool(options.resamples), "--seed is that of --resamples N")
    if options.summary_out is None and options.resamples is None:
        return None
    require(
        options.resamples is None or not holds_summaries(settings),
        "resamples are drawn where rows are summarised: give --resamples there, not with summaries",
    )
    require(options.resamples is None or options.resamples >= 1, "--resamples is a number of at least 1; 1000 is usual")
    return SummaryRequest(options.resamples or 0, options.seed or 0)


def write_summary(summary: ExperimentSummary | None, path: str, inputs: Iterable[str]) -> None:
    """Write a summary."""
    from rankstats.experiment import summary_bytes  # noqa: PLC0415  heavy
    from rankstats.output import write_file  # noqa: PLC0415  with the rest

    if summary is None:
        raise PlanError("no summary can be made of aggregates: units are not in them; give the rows")
    write_file(path, summary_bytes(summary, compressed=path.endswith(".gz")), inputs=inputs)


def summarise_alone(
    options: argparse.Namespace,
    settings: ExperimentSettings,
    request: SummaryRequest,
    inputs: Iterable[str],
    room: EngineChoice,
) -> int:
    """Write the summary, print what it holds and its path."""
    from rankstats.experiment import summarise_experiment  # noqa: PLC0415  heavy

    summary = summarise_experiment(settings, resamples=request.resamples, seed=request.seed, room=room)
    write_summary(summary, options.summary_out, inputs)
    arms = ", ".join(f"{arm} {n:,}" for arm, n in sorted(summary.units.items()))
    print(f"Summary of {summary.n:,} units ({arms}); nothing was compared.")
    print(options.summary_out)
    return 0
