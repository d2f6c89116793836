"""Options and habits that commands share."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rankstats.conventions import QRELS_FORMATS, RUN_FORMATS
from rankstats.errors import PlanError

if TYPE_CHECKING:
    from rankstats.comparison import Progress
    from rankstats.plan import Plan

_LONGEST_NAME = 60
RUN_HELP = (
    "runs: TREC (qid Q0 docid rank score tag), qid docid rank, qid docid score, JSON, CSV/TSV/JSON lines/Parquet with "
    "named columns, predictions for LETOR lines; plain or compressed, named by the file or as NAME=FILE"
)


def add_input_arguments(parser: argparse.ArgumentParser) -> None:
    """Add runs, judgments and what is needed to read them."""
    group = parser.add_argument_group("input")
    group.add_argument("runs", metavar="RUN", nargs="*", help=RUN_HELP)
    group.add_argument(
        "--qrels",
        metavar="FILE",
        help="judgments: TREC qrels, qid docid grade, JSON, LETOR, or CSV/TSV/JSON lines/Parquet with named columns",
    )
    group.add_argument("--id", metavar="COLUMN", dest="query_id", help="column of the query id in headed files")
    group.add_argument("--document", metavar="COLUMN", help="column of the document in headed judgments and runs")
    group.add_argument("--grade", metavar="COLUMN", help="grade column of headed judgments")
    group.add_argument("--score", metavar="COLUMN", help="score column of headed runs")
    group.add_argument(
        "--qrels-format", choices=QRELS_FORMATS, help="format of the judgments (default: recognised by the content)"
    )
    group.add_argument(
        "--run-format",
        metavar="[NAME=]FORMAT",
        action="append",
        help=f"format of all runs, or of one: {', '.join(RUN_FORMATS)} (default: recognised); repeatable",
    )


ITEM_COLUMNS = ("item", "popularity", "category", "vector")
"""Options that name columns of the item table, by their place in a plan's columns."""


def add_item_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what measures of novelty, diversity and coverage need."""
    group = parser.add_argument_group(
        "items (for Coverage, Gini, Novelty, PopularityEntropy, PopularityGap and ILD: rankstats measures)"
    )
    group.add_argument(
        "--items",
        metavar="FILE",
        help="item table, one row a document of the catalogue: doc_id, popularity, category (several with | between "
        "them), vector (numbers with spaces or commas between them, or columns vector_1, vector_2 ...)",
    )
    group.add_argument("--item-id", metavar="COLUMN", dest="item", help="column of the document id in --items")
    group.add_argument("--popularity", metavar="COLUMN", help="column that tells how often an item was used")
    group.add_argument("--category", metavar="COLUMN", help="column of the categories")
    group.add_argument("--vector", metavar="COLUMN", help="column of the vectors, or what their columns begin with")
    group.add_argument(
        "--history",
        metavar="FILE",
        help="what each user (query) has had before, one row a user and item: a table with a header, or lines as in "
        "qrels; for PopularityGap(to='history')",
    )


def add_measure_arguments(parser: argparse.ArgumentParser) -> None:
    """Add measures and the treatment of the data."""
    group = parser.add_argument_group("measures and conventions")
    group.add_argument(
        "--measures",
        metavar="LIST",
        action="append",
        default=[],
        help="measures, separated by commas; repeatable (default: nDCG(dcg='exp-log2')@10,AP,RR,P@10,R@100,Judged@10)",
    )
    group.add_argument(
        "--conventions",
        choices=("default", "trec_eval"),
        help="trec_eval: as trec_eval -c; queries without a relevant document count as 0 (default: they are undefined)",
    )
    group.add_argument(
        "--ties",
        choices=("doc_id", "rank", "input", "float32"),
        help="order among equal scores: document id descending (default), the rank column, the order of lines, "
        "or as trec_eval 9 with 32-bit scores",
    )
    group.add_argument(
        "--duplicates",
        choices=("error", "first", "best"),
        help="a document listed twice for one query: an error (default), the first line counts, or the best score",
    )


def split_list(texts: Sequence[str]) -> tuple[str, ...]:
    """Split comma-separated words outside parentheses, brackets and braces.

    Examples
    --------
    >>> split_list(["nDCG(dcg='exp-log2')@10,AP", "P@10"])
    ("nDCG(dcg='exp-log2')@10", 'AP', 'P@10')
    """
    parts: list[str] = []
    for text in texts:
        depth, part = 0, ""
        for letter in text:
            depth += (letter in "([{") - (letter in ")]}")
            if letter == "," and depth <= 0:
                parts.append(part)
                part = ""
            else:
                part += letter
        parts.append(part)
    return tuple(part.strip() for part in parts if part.strip())


def run_formats(texts: Sequence[str] | None) -> dict[str, str]:
    """Return formats by the name of the run; '' stands for the runs that are not named.

    Examples
    --------
    >>> run_formats(["rank", "new=trec"])
    {'': 'rank', 'new': 'trec'}
    """
    formats: dict[str, str] = {}
    for text in texts or ():
        name, _, form = text.rpartition("=")
        if formats.get(name, form) != form:
            raise PlanError(f"--run-format gives two formats for {name or 'all runs'}: {formats[name]} and {form}")
        formats[name] = form
    return formats


def policy_changes(plan: Plan, options: argparse.Namespace) -> Plan:
    """Return the plan with the policies that options change."""
    from dataclasses import replace  # noqa: PLC0415  help must not load what it does not need

    from rankstats.conventions import Policies  # noqa: PLC0415  as above

    policies = plan.policies
    if options.conventions is not None:
        policies = Policies.from_preset(options.conventions)
    changes = {"ties": options.ties, "duplicate_documents": options.duplicates}
    policies = replace(policies, **{name: value for name, value in changes.items() if value is not None})
    overridden = plan.overridden
    if "conventions" in plan.stated and policies != plan.policies:
        overridden += ("conventions: those of the plan were changed by option",)
    return replace(plan, policies=policies, overridden=overridden)


def safe_name(name: str) -> str:
    """Return a name that can stand in a path; what had to be changed gets a short digest, so that names stay apart.

    Examples
    --------
    >>> safe_name("bm25.v2"), safe_name("a/b c")
    ('bm25.v2', 'a_b_c-0af99a')
    """
    safe = re.sub(r"[^\w.+-]", "_", name).strip(".")[:_LONGEST_NAME]
    if safe == name:
        return safe
    import hashlib  # noqa: PLC0415  loads a library for this alone

    return f"{safe}-{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:6]}"


def default_folder(baseline: str, systems: Sequence[str]) -> str:
    """Return the report folder for a comparison.

    Examples
    --------
    >>> default_folder("a", ["b"]), default_folder("a", ["b", "c"])
    ('reports/a-vs-b', 'reports/a-vs-2-systems')
    """
    other = systems[0] if len(systems) == 1 else f"{len(systems)}-systems"
    return f"reports/{safe_name(baseline)}-vs-{safe_name(other)}"


@contextmanager
def progress_bar(quiet: bool) -> Iterator[Progress | None]:
    """Yield a progress callback that draws on a terminal's stderr, or None elsewhere."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console  # noqa: PLC0415  only where a bar is drawn
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415  as above

    columns: tuple[Any, ...] = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=1.0)

        def show(what: str, share: float) -> None:
            bar.update(task, description=what, completed=share)

        yield show


LARGEST_COUNT = 1_000_000_000


def count_of(text: str) -> int:
    """Read a whole number of at most a billion.

    Examples
    --------
    >>> count_of("10")
    10
    """
    try:
        value = int(text)
    except ValueError:
        value = LARGEST_COUNT + 1
    if value > LARGEST_COUNT:
        raise argparse.ArgumentTypeError(f"{text!r}: a whole number of at most {LARGEST_COUNT:,} is expected")
    return value


def require(condition: bool, message: str) -> None:
    """Raise a usage error unless a condition holds."""
    if not condition:
        raise PlanError(message)


DESIGNS = ("fixed", "group-sequential", "confidence-sequence")
SPENDING = ("obrien-fleming", "pocock", "power")


def add_look_arguments(group: argparse._ArgumentGroup) -> None:
    """Add the arguments of experiments that are looked at more than once."""
    group.add_argument("--looks", metavar="LIST", help="planned looks, fractions of the information: 0.25,0.5,1")
    group.add_argument("--look", type=int, metavar="N", help="which look this is, from 1 (default: the last)")
    group.add_argument(
        "--design",
        choices=DESIGNS,
        help="how looks are allowed for (default: group-sequential with several looks, else fixed)",
    )
    group.add_argument("--spending", choices=SPENDING, help="spending function (default obrien-fleming)")
    group.add_argument("--planned-units", type=int, metavar="N", help="units that are planned for")
