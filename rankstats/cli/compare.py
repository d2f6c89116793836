"""``rankstats compare``: the whole comparison into a folder."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rankstats.cli.engine_options import add_engine_arguments, engine_choice, print_engine_plans
from rankstats.cli.options import (
    ITEM_COLUMNS,
    add_input_arguments,
    add_item_arguments,
    add_measure_arguments,
    default_folder,
    policy_changes,
    progress_bar,
    require,
    run_formats,
    split_list,
)
from rankstats.cli.report_options import (
    add_author_arguments,
    add_file_arguments,
    author_files,
    author_settings,
    check_beside,
    write_beside,
)
from rankstats.conventions import SCORES_FORMATS
from rankstats.plan import BETTER, COMPARE, CORRECTIONS, FAMILIES, INTERVALS, TESTS

if TYPE_CHECKING:
    from rankstats.comparison import Comparison
    from rankstats.plan import Plan

EPILOG = """\
examples:
  rankstats compare --qrels qrels.txt keyword.run hybrid.run
  rankstats compare --qrels qrels.txt keyword.run hybrid.run --queries queries.tsv --segment length,popularity
  rankstats compare --scores per_query.csv --baseline keyword
  rankstats compare --plan launch.toml

The first line printed is the verdict, the last the path of the report."""


def add_arguments(parser: argparse.ArgumentParser, *, lower: bool = True) -> None:
    """Add the arguments of the command; without ``--lower`` for a command that adds it for experiments too."""
    add_input_arguments(parser)
    inputs = parser.add_argument_group("more input")
    inputs.add_argument("--scores", metavar="FILE", action="append", default=[], help="ready-made per-query values")
    inputs.add_argument(
        "--scores-format", choices=SCORES_FORMATS, help="format of --scores (default: recognised by the content)"
    )
    inputs.add_argument("--queries", metavar="FILE", help="query table: id, text, frequency, any attribute")
    inputs.add_argument("--text", metavar="COLUMN", help="column of the query text")
    inputs.add_argument("--frequency", metavar="COLUMN", help="column that tells how often a query is asked")
    inputs.add_argument("--plan", metavar="FILE", help="plan in TOML; options override it")
    add_item_arguments(parser)
    add_measure_arguments(parser)
    add_engine_arguments(parser)
    _add_comparisons(parser, lower=lower)
    _add_statistics(parser)
    out = parser.add_argument_group("output")
    out.add_argument("--out", metavar="DIR", help="folder of the report (default: reports/BASELINE-vs-SYSTEM)")
    out.add_argument("--title", metavar="TEXT", help="title of the report")
    add_author_arguments(out)
    add_file_arguments(out)
    out.add_argument("--quiet", action="store_true", help="print the verdict and the path only")


def _add_comparisons(parser: argparse.ArgumentParser, *, lower: bool) -> None:
    asked = parser.add_argument_group("what is compared")
    asked.add_argument(
        "--primary",
        metavar="LIST",
        action="append",
        default=[],
        help="measures that the verdict is about (default: the first)",
    )
    for direction in BETTER if lower else BETTER[:1]:
        asked.add_argument(
            f"--{direction}",
            metavar="LIST",
            action="append",
            default=[],
            help=f"columns of --scores of which {direction} is better (default: higher, but for known measures)",
        )
    asked.add_argument("--baseline", metavar="NAME", action="append", default=[], help="default: the first system")
    asked.add_argument(
        "--compare",
        choices=COMPARE,
        help="which pairs: the baseline against the others (default), all pairs, or the best against the others",
    )
    asked.add_argument(
        "--segment",
        metavar="LIST",
        action="append",
        default=[],
        help="length, length:6, popularity, relevant, COLUMN, COLUMN:q4, A+B; repeatable",
    )
    asked.add_argument(
        "--mix",
        metavar="ATTRIBUTE:VALUE=SHARE,...",
        action="append",
        default=[],
        help="re-weight the differences to this mix of segments, such as popularity:head=0.6,torso=0.3,tail=0.1 "
        "(default: the measured traffic); repeatable",
    )
    asked.add_argument("--weights", metavar="COLUMN", help="column of query weights: weighted means lead the report")
    asked.add_argument(
        "--cluster",
        metavar="COLUMN",
        help="column of sessions, users or paraphrase groups: their queries are flipped and resampled together",
    )


def _add_statistics(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("statistics")
    group.add_argument(
        "--test",
        choices=TESTS,
        help="sign-flip randomisation of the mean (default), paired bootstrap, paired t, signed-rank test, sign test",
    )
    group.add_argument(
        "--correction",
        choices=CORRECTIONS,
        help="for the claims (default auto: bootstrap max-T; with weights or few queries Bonferroni on the test and "
        "on t, the larger p)",
    )
    group.add_argument(
        "--family",
        choices=FAMILIES,
        help="what is claimed and corrected together: the primary measures over all queries (default), all measures, "
        "or the primary measures over all queries and in every segment",
    )
    group.add_argument(
        "--interval",
        metavar="LIST",
        action="append",
        default=[],
        help=f"bootstrap intervals to show beside that of the test: {', '.join(INTERVALS)}; repeatable",
    )
    group.add_argument(
        "--margin",
        metavar="MEASURE=SIZE",
        action="append",
        default=[],
        help="difference that does not matter: makes the verdict 'equivalent' possible; repeatable",
    )
    group.add_argument("--alpha", type=float, metavar="LEVEL", help="default 0.05")
    group.add_argument("--resamples", type=int, metavar="N", help="sign patterns and bootstrap samples, default 10000")
    group.add_argument("--seed", type=int, metavar="N", help="default 0")


def make_plan(options: argparse.Namespace) -> Plan:
    """Return the plan that options and plan file describe together."""
    from rankstats.comparison import split_specifications  # noqa: PLC0415  heavy
    from rankstats.inputs import run_names  # noqa: PLC0415  heavy
    from rankstats.plan import Plan, override, read_plan  # noqa: PLC0415  with the rest

    plan = read_plan(options.plan) if options.plan else Plan()
    runs = tuple((name, str(path)) for name, path in run_names(options.runs))
    changes = {
        "qrels": options.qrels,
        "runs": runs,
        "scores": tuple(options.scores),
        "queries": options.queries,
        "items": options.items,
        "history": options.history,
        "qrels_format": options.qrels_format,
        "run_format": run_formats(options.run_format),
        "scores_format": options.scores_format,
        "measures": split_list(options.measures),
        "primary": split_list(options.primary),
        "baselines": _baselines(options, runs),
        "better": _directions(options, plan),
        "compare": options.compare,
        "segments": split_specifications(options.segment),
        "test": options.test,
        "correction": options.correction,
        "family": options.family,
        "intervals": split_list(options.interval),
        "alpha": options.alpha,
        "resamples": options.resamples,
        "seed": options.seed,
        "margin": _margins(options.margin),
        "mix": _mixes(options.mix),
        "title": options.title,
    }
    columns = {
        "query_id": options.query_id,
        "text": options.text,
        "frequency": options.frequency,
        "document": options.document,
        "grade": options.grade,
        "score": options.score,
        "weight": options.weights,
        "cluster": options.cluster,
        **{name: getattr(options, name) for name in ITEM_COLUMNS},
    }
    for name in ("measures", "primary", "segments", "baselines", "intervals"):
        option = {"segments": "segment", "baselines": "baseline", "intervals": "interval"}.get(name, name)
        require(bool(changes[name]) or not getattr(options, option), f"--{option} names nothing")
    require(options.out != "", "--out names nothing")
    plan = policy_changes(override(plan, changes, columns=columns), options)
    require(
        bool(plan.scores or plan.runs),
        "give --qrels FILE and two runs or more, or --scores FILE, or --plan FILE (rankstats compare --help)",
    )
    useless = [flag for flag, value in _FOR_RUNS.items() if plan.scores and getattr(options, value) is not None]
    require(not useless, f"{' and '.join(useless)} tell how runs are evaluated; ready-made --scores are not")
    stated = [f"--{direction}" for direction in BETTER if plan.runs and getattr(options, direction)]
    require(not stated, f"{' and '.join(stated)} state the direction of ready-made --scores; those of runs are known")
    return plan


def _directions(options: argparse.Namespace, plan: Plan) -> dict[str, str]:
    """Return the directions stated by options, beside those of the plan that they do not replace."""
    stated: dict[str, str] = {}
    for direction in BETTER:
        names = split_list(getattr(options, direction))
        require(bool(names) or not getattr(options, direction), f"--{direction} names nothing")
        both = next((name for name in names if name in stated), None)
        require(both is None, f"--higher and --lower both name {both}; leave one out")
        stated |= dict.fromkeys(names, direction)
    return {**plan.better, **stated} if stated else {}


def _margins(texts: Sequence[str]) -> dict[str, float]:
    margins = {}
    for text in texts:
        measure, separator, size = text.rpartition("=")
        try:
            margins[measure.strip()] = float(size)
        except ValueError:
            separator = ""
        require(bool(separator), f"--margin {text}: write MEASURE=SIZE, such as nDCG@10=0.01")
    return margins


def _mixes(texts: Sequence[str]) -> dict[str, dict[str, float]]:
    mixes: dict[str, dict[str, float]] = {}
    for text in texts:
        name, _, shares = text.partition(":")
        stated: list[tuple[str, float]] = []
        try:
            pairs = [part.rpartition("=") for part in split_list([shares])]
            stated = [(value.strip(), float(share)) for value, _, share in pairs]
        except ValueError:
            shares = ""
        require(
            bool(name.strip() and shares.strip()) and "=" in shares,
            f"--mix {text}: write ATTRIBUTE:VALUE=SHARE,..., such as popularity:head=0.6,torso=0.3,tail=0.1",
        )
        values = [value for value, _ in stated]
        twice = next((value for value in values if values.count(value) > 1), None)
        require(twice is None, f"--mix {text}: {twice!r} has two shares; give each value one")
        require(name.strip() not in mixes, f"--mix {text}: {name.strip()!r} has two mixes; give each attribute one")
        mixes[name.strip()] = dict(stated)
    return mixes


_FOR_RUNS = {
    "--qrels": "qrels",
    "--document": "document",
    "--grade": "grade",
    "--score": "score",
    "--qrels-format": "qrels_format",
    "--run-format": "run_format",
    "--items": "items",
    "--history": "history",
    "--item-id": "item",
    "--popularity": "popularity",
    "--category": "category",
    "--vector": "vector",
    "--conventions": "conventions",
    "--ties": "ties",
    "--duplicates": "duplicates",
}
"""Options that mean nothing for ready-made scores."""


def _baselines(options: argparse.Namespace, runs: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Split the baselines at commas, but for names of runs that hold one."""
    names = {name for name, _ in runs}
    return tuple(n for text in options.baseline for n in ([text] if text in names else split_list([text])))


def run(options: argparse.Namespace, argv: list[str]) -> int:
    """Compare, write the folder, print the verdict and the path."""
    from rankstats.comparison import compare  # noqa: PLC0415  heavy
    from rankstats.report import annotated  # noqa: PLC0415  heavy

    plan = make_plan(options)
    choice = engine_choice(options)
    if options.explain_plan:
        return print_engine_plans(plan, choice)
    check_beside(options)
    known = author_settings(options)
    with progress_bar(options.quiet) as progress:
        comparison = compare(plan, argv=argv, progress=progress, engine=choice)
        folder = options.out or default_folder(*_names(comparison))
        inputs = [*files_of(plan), *author_files(options)]
        report = annotated(comparison.to_dict(), **known)
        path = write_report(comparison, folder, inputs=inputs, report=report)
        if options.tables or options.figures:
            write_beside(report, options, inputs)
    print_summary(report, quiet=options.quiet)
    print(path)
    return 0


def _names(comparison: Comparison) -> tuple[str, list[str]]:
    baseline = comparison.baseline or comparison.systems[0].name
    return baseline, [system.name for system in comparison.systems if system.name != baseline]


def files_of(plan: Plan) -> list[str]:
    """Return the files that a plan reads."""
    named = [plan.qrels, plan.queries, plan.items, plan.history, *plan.scores, *(path for _, path in plan.runs)]
    return [path for path in named if path is not None]


def write_report(
    comparison: Comparison, folder: str, *, inputs: Sequence[str] = (), report: Mapping[str, Any] | None = None
) -> str:
    """Write the folder of a comparison, or of its annotated report, and return the path of its page."""
    from rankstats.output import write_folder  # noqa: PLC0415  with the rest
    from rankstats.report import report_files  # noqa: PLC0415  heavy

    written = write_folder(folder, report_files(comparison, report=report), inputs=inputs)
    return str(written[0])


def print_summary(report: Mapping[str, Any], *, quiet: bool) -> None:
    """Print the verdict of a report first, then the tables unless `quiet`."""
    from rankstats.report import render_terminal, verdict_lines  # noqa: PLC0415  heavy
    from rankstats.wording import MINUS  # noqa: PLC0415  with the rest

    terminal = sys.stdout.isatty()
    if quiet:
        text = verdict_lines(report)
    else:
        text = render_terminal(report, shutil.get_terminal_size().columns if terminal else None)
    # scripts that read a pipe want the minus of numbers
    print(text if terminal else text.replace(MINUS, "-").replace("\N{NO-BREAK SPACE}", " "))
