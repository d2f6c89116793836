"""``rankstats measures``: lists and explains measures and conventions."""

from __future__ import annotations

import argparse

EPILOG = """\
examples:
  rankstats measures
  rankstats measures "nDCG(dcg='exp-log2')@10" map"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("names", metavar="NAME", nargs="*", help="measures to explain; none lists all")


def run(options: argparse.Namespace, argv: list[str]) -> int:
    """Print the list, or the full conventions of some measures."""
    from rankstats.cli.options import split_list  # noqa: PLC0415  with the rest
    from rankstats.measures import describe_measures, parse_measures  # noqa: PLC0415  heavy

    if options.names:
        print("\n\n".join(_explained(info) for info in (m.info() for m in parse_measures(split_list(options.names)))))
    else:
        print(describe_measures())
    return 0


def _explained(info: object) -> str:
    from rankstats.tables import MeasureInfo  # noqa: PLC0415  with the rest

    assert isinstance(info, MeasureInfo)
    width = max(map(len, info.definition), default=0)
    better = "higher" if info.higher_is_better else "lower"
    lines = [info.name, f"  {'better':<{width}}  {better}"]
    lines += [f"  {key:<{width}}  {text}" for key, text in info.definition.items()]
    return "\n".join(lines)
