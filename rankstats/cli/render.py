"""``rankstats render``: makes the page again from a report.json."""

from __future__ import annotations

import argparse
from pathlib import Path

from rankstats.cli.report_options import add_file_arguments, check_beside, write_beside
from rankstats.errors import InputError

EPILOG = """\
examples:
  rankstats render reports/a-vs-b/report.json --out again
  rankstats render reports/a-vs-b/report.json --tables paper --table-formats latex --figures paper"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("report", metavar="REPORT.json", help="a report.json of rankstats")
    parser.add_argument("--out", metavar="DIR", help="folder of the page (default: the folder of the JSON file)")
    add_file_arguments(parser.add_argument_group("more files"))


def run(options: argparse.Namespace, argv: list[str]) -> int:
    """Render the page, the summary and what else is asked for, and print the page's path."""
    from rankstats.output import write_folder  # noqa: PLC0415  with the rest
    from rankstats.report import read_report, rendered_files  # noqa: PLC0415  heavy

    check_beside(options)
    report = read_report(options.report)
    folder = options.out or str(Path(options.report).parent)
    try:
        files = rendered_files(report)
        write_beside(report, options, [options.report])
    except (TypeError, KeyError, ValueError, AttributeError, IndexError) as error:
        raise InputError(f"is not a report.json as rankstats writes it ({error!r})", options.report) from error
    print(write_folder(folder, files, ours=(), inputs=[options.report])[0])
    return 0
