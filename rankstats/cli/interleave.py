"""``rankstats interleave``: the readout of an interleaving log into a folder."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankstats.cli.options import add_look_arguments, count_of, default_folder, require, split_list
from rankstats.errors import PlanError

if TYPE_CHECKING:
    from rankstats.interleaving import InterleavingReadout, InterleavingSettings

SCHEMES = ("team-draft", "balanced", "probabilistic")
OUTCOMES = ("wins", "clicks")
COLUMNS = {
    "query": "query of the page (query_id, qid, query)",
    "unit": "unit that is independent: user, session (unit_id, user_id, session_id …)",
    "impression": "one page shown once (impression_id, serp_id, request_id …)",
    "ranker-a": "name of ranker a (ranker_a)",
    "ranker-b": "name of ranker b (ranker_b)",
    "position": "place on the page, 1 at the top (position)",
    "team": "ranker that put the result there: its name, or a / b; empty where both did (team)",
    "clicked": "0, 1 or a number of clicks (clicked, clicks)",
    "rank-a": "rank of the result in ranker a's list; empty where it is not there (rank_a)",
    "rank-b": "rank of the result in ranker b's list (rank_b)",
}

EPILOG = """\
examples:
  rankstats interleave log.csv
  rankstats interleave monday.parquet tuesday.parquet --unit user --baseline prod --segment device
  rankstats interleave log.csv --queries queries.tsv --segment length --segment popularity
  rankstats interleave log.csv --scheme balanced --rank-a rank_prod --rank-b rank_new --rankers prod,new
  rankstats interleave log.csv --scheme probabilistic --list-length 10
  rankstats interleave week1.csv --looks 0.5,1 --look 1
  rankstats interleave --plan launch.toml

A log has one row a result shown: query_id, unit_id, ranker_a, ranker_b, position, team, clicked, best also
impression_id; for balanced and probabilistic interleaving rank_a and rank_b in the place of team. CSV, TSV, JSON lines
or Parquet, plain or compressed. The verdict is about whole units (users): one with many impressions counts once. The
first line printed is the verdict, the last the path of the report."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    inputs = parser.add_argument_group("input")
    inputs.add_argument("logs", metavar="LOG", nargs="*", help="logs of shown results; several are read as one")
    inputs.add_argument("--plan", metavar="FILE", help="plan in TOML; options override it")
    inputs.add_argument("--queries", metavar="FILE", help="query table, for segments of queries")
    inputs.add_argument("--id", metavar="COLUMN", dest="id_column", help="query id column of --queries")
    inputs.add_argument("--text", metavar="COLUMN", help="text column of --queries")
    inputs.add_argument("--frequency", metavar="COLUMN", help="frequency column of --queries")
    columns = parser.add_argument_group("columns (default: the first of the usual names that is there)")
    for name, said in COLUMNS.items():
        columns.add_argument(f"--{name}", metavar="COLUMN", help=said)
    _add_asked(parser)
    _add_statistics(parser)
    out = parser.add_argument_group("output")
    out.add_argument("--out", metavar="DIR", help="folder of the report (default: reports/BASELINE-vs-RANKER)")
    out.add_argument("--title", metavar="TEXT", help="title of the report")
    out.add_argument("--quiet", action="store_true", help="print the verdict and the path only")


def _add_asked(parser: argparse.ArgumentParser) -> None:
    asked = parser.add_argument_group("what is compared")
    asked.add_argument(
        "--scheme",
        choices=SCHEMES,
        help="how pages were made (default: team-draft where there are teams; the others need rank_a and rank_b)",
    )
    asked.add_argument(
        "--rankers", metavar="A,B", help="names of ranker a and ranker b of a log that has no columns of them"
    )
    asked.add_argument("--baseline", metavar="NAME", help="the ranker that the others are compared with")
    asked.add_argument(
        "--outcome",
        choices=OUTCOMES,
        help="what the verdict is about: impressions won, or credited clicks (default: wins; probabilistic: clicks)",
    )
    asked.add_argument(
        "--list-length", type=count_of, metavar="N", help="length of the lists that probabilistic pages draw from"
    )
    asked.add_argument("--tau", type=float, metavar="T", help="decay of that drawing, weights 1 / rank^T (default 3)")
    asked.add_argument(
        "--segment",
        metavar="LIST",
        action="append",
        default=[],
        help="COLUMN of the log or of --queries, COLUMN:q4, A+B; length, popularity of --queries; repeatable",
    )


def _add_statistics(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("statistics")
    group.add_argument("--alpha", type=float, metavar="LEVEL", help="default 0.05")
    group.add_argument("--resamples", type=count_of, metavar="N", help="sign patterns drawn (default 10000)")
    group.add_argument("--seed", type=count_of, metavar="N", help="default 0")
    add_look_arguments(group)


def make_settings(options: argparse.Namespace) -> InterleavingSettings:
    """Return the settings that options and plan file describe together."""
    from rankstats.interleaving import InterleavingSettings, overridden, settings_from_plan  # noqa: PLC0415  heavy
    from rankstats.plan import read_plan  # noqa: PLC0415  with the rest

    settings = settings_from_plan(read_plan(options.plan)) if options.plan else InterleavingSettings()
    require(options.out != "", "--out names nothing")
    named = {name.replace("-", "_"): getattr(options, name.replace("-", "_")) for name in COLUMNS}
    changes: dict[str, Any] = {
        "logs": tuple(options.logs),
        "columns": {role: column for role, column in named.items() if column is not None},
        "scheme": options.scheme,
        "outcome": options.outcome,
        "rankers": split_list([options.rankers]) if options.rankers is not None else None,
        "baseline": options.baseline,
        "list_length": options.list_length,
        "tau": options.tau,
        "segments": split_list(options.segment),
        "queries": options.queries,
        "id_column": options.id_column,
        "text": options.text,
        "frequency": options.frequency,
        "alpha": options.alpha,
        "resamples": options.resamples,
        "seed": options.seed,
        "looks": _looks(options.looks),
        "look": options.look,
        "design": options.design,
        "spending": options.spending,
        "planned_units": options.planned_units,
        "title": options.title,
    }
    require(changes["rankers"] != (), "--rankers names nothing; write --rankers prod,new")
    settings = overridden(settings, changes)
    require(
        bool(settings.logs), "give LOG..., or --plan FILE with logs under [interleaving] (rankstats interleave --help)"
    )
    return settings


def _looks(text: str | None) -> tuple[float, ...] | None:
    try:
        return tuple(float(part) for part in text.split(",")) if text else None
    except ValueError:
        raise PlanError(f"--looks {text}: write fractions with commas between them, such as 0.5,1") from None


def run(options: argparse.Namespace, argv: list[str]) -> int:
    """Read out, write the folder, print the verdict and the path."""
    from rankstats.interleaving import read_evidence, read_out_log  # noqa: PLC0415  heavy
    from rankstats.output import write_folder  # noqa: PLC0415  with the rest
    from rankstats.report.interleaving_files import interleaving_files  # noqa: PLC0415  heavy

    settings = make_settings(options)
    _check_files(settings.logs)
    evidence = read_evidence(settings)
    folder = options.out or default_folder(evidence.rankers[0], evidence.rankers[1:])
    earlier = _earlier(Path(folder) / "report.json", [source.sha256 or "" for source in evidence.sources])
    readout = read_out_log(evidence, settings, argv=argv, earlier=earlier)
    inputs = [*settings.logs, *([settings.queries] if settings.queries else [])]
    written = write_folder(folder, interleaving_files(readout), inputs=inputs)
    _print(readout, quiet=options.quiet)
    print(written[0])
    return 0


def _check_files(paths: Sequence[str]) -> None:
    """Refuse a file that is named twice: its rows would count twice."""
    seen: set[Path] = set()
    for path in paths:
        place = Path(path).resolve()
        require(place not in seen, f"{path} is named twice; its rows would count twice")
        seen.add(place)


def _earlier(path: Path, digests: list[str]) -> list[dict[str, Any]]:
    """Return the looks that a report in the same folder was made at, from other data of the same log."""
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
        found = report["interleaving"]
        looks = list(found["design"]["earlier"])
        before = [row["sha256"] for row in report["reproduction"]["inputs"]]
        units = max(row["n_system"] for row in report["differences"])
    except (OSError, ValueError, KeyError, TypeError):
        return []
    return looks if before == digests else [*looks, {"units": units, "inputs": before}]


def _print(readout: InterleavingReadout, *, quiet: bool) -> None:
    """Print the verdict first, then the tables unless `quiet`."""
    from rankstats.report import render_terminal, verdict_lines  # noqa: PLC0415  heavy

    terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if terminal else None
    report = readout.to_dict()
    print(verdict_lines(report) if quiet else render_terminal(report, width))
