"""``rankstats demo``: makes the embedded collection, compares its rankers, renders the report."""

from __future__ import annotations

import argparse
from pathlib import Path

from rankstats.cli.options import progress_bar

EPILOG = """\
The folder then holds the collection (qrels.txt, queries.tsv, three runs) and, in it, the report.
Try your own comparison on it, from inside the folder:
  rankstats compare --qrels qrels.txt keyword.run ngram.run --queries queries.tsv --segment category"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("--out", metavar="DIR", default="demo", help="folder (default: demo)")
    parser.add_argument("--quiet", action="store_true", help="print the verdict and the path only")


def run(options: argparse.Namespace, argv: list[str]) -> int:
    """Write the collection, compare, write the report, print the verdict and the path."""
    from rankstats.cli.compare import print_summary, write_report  # noqa: PLC0415  heavy
    from rankstats.comparison import compare  # noqa: PLC0415  heavy
    from rankstats.demo import TITLE, demo_files  # noqa: PLC0415  only here
    from rankstats.output import write_folder  # noqa: PLC0415  with the rest
    from rankstats.plan import Plan  # noqa: PLC0415  with the rest

    folder = Path(options.out)
    write_folder(folder, demo_files(), ours=())
    plan = Plan(
        qrels=str(folder / "qrels.txt"),
        runs=tuple((name, str(folder / f"{name}.run")) for name in ("keyword", "ngram", "popular")),
        queries=str(folder / "queries.tsv"),
        baselines=("keyword",),
        segments=("length", "popularity", "kind"),
        title=TITLE,
    )
    with progress_bar(options.quiet) as progress:
        comparison = compare(plan, argv=argv, progress=progress)
        report = comparison.to_dict()
        path = write_report(comparison, str(folder), report=report)
    print_summary(report, quiet=options.quiet)
    print(path)
    return 0
