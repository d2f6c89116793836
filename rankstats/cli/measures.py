"""``rankstats measures``: lists and explains measures and conventions."""

from __future__ import annotations

import argparse
import re
import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rankstats.tables import MeasureInfo

LINE = 110
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
    from rankstats.measures import parse_measures  # noqa: PLC0415  heavy

    if options.names:
        print("\n\n".join(explained(measure.info()) for measure in parse_measures(split_list(options.names))))
    else:
        print(_overview())
    return 0


def _overview() -> str:
    from rankstats.measures import DECLARATIONS, WRAPPERS, spellings  # noqa: PLC0415  heavy

    rows = [(_short(declaration.usage), declaration.summary) for declaration in DECLARATIONS]
    rows += [(wrapper.usage, wrapper.summary) for wrapper in WRAPPERS]
    width = max(len(usage) for usage, _ in rows)
    also: dict[str, list[str]] = {}
    for spelling in spellings():
        if spelling.programs:
            mark = "" if not spelling.cutoff else "_k" if spelling.joined else "@k"
            also.setdefault(spelling.programs, []).append(spelling.text + mark)
    return "\n".join(
        [
            *(_hanging(f"{usage:<{width}}  ", summary) for usage, summary in rows),
            "",
            "k cuts the list. rankstats measures NAME explains one in full, with its parameters.",
            "Names of other programs for exactly these values:",
            *(_hanging(f"  {programs}: ", ", ".join(dict.fromkeys(names)), 4) for programs, names in also.items()),
        ]
    )


def _short(usage: str) -> str:
    """Leave the parameters out of a usage.

    Examples
    --------
    >>> _short("AP(rel=1, denominator='R')[@k]"), _short("Condensed(MEASURE)")
    ('AP[@k]', 'Condensed(MEASURE)')
    """
    return re.sub(r"\([^()]*[=…](?:[^()]|\([^()]*\))*\)", "", usage)


def _hanging(head: str, text: str, indent: int | None = None) -> str:
    """Wrap a text after its head; further lines stand under its beginning."""
    hang = " " * (len(head) if indent is None else indent)
    return textwrap.fill(text, LINE, initial_indent=head, subsequent_indent=hang, break_on_hyphens=False)


def explained(info: MeasureInfo) -> str:
    """Return the conventions of a measure, a line each.

    Examples
    --------
    >>> from rankstats.tables import MeasureInfo
    >>> print(explained(MeasureInfo("latency", "latency", {"formula": "ms"}, higher_is_better=False)))
    latency
      better   lower
      formula  ms
    """
    width = max(map(len, ["better", *info.definition]))
    better = "higher" if info.higher_is_better else "lower"
    lines = [info.name, f"  {'better':<{width}}  {better}"]
    lines += [f"  {key:<{width}}  {text}" for key, text in info.definition.items() if key != "direction"]
    return "\n".join(lines)
