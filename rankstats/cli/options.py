"""Options and habits that commands share."""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rankstats.errors import PlanError

if TYPE_CHECKING:
    from rankstats.comparison import Progress
    from rankstats.plan import Plan

_LONGEST_NAME = 60
RUN_HELP = "runs in TREC format (qid Q0 docid rank score tag), plain or compressed, named by the file or as NAME=FILE"


def add_input_arguments(parser: argparse.ArgumentParser) -> None:
    """Add runs, judgments and what is needed to read them."""
    group = parser.add_argument_group("input")
    group.add_argument("runs", metavar="RUN", nargs="*", help=RUN_HELP)
    group.add_argument(
        "--qrels", metavar="FILE", help="judgments: TREC qrels, or a CSV/TSV file with a header (see --id, --grade)"
    )
    group.add_argument("--id", metavar="COLUMN", dest="query_id", help="column of the query id in headed files")
    group.add_argument("--grade", metavar="COLUMN", help="grade column of headed judgments")


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


def require(condition: bool, message: str) -> None:
    """Raise a usage error unless a condition holds."""
    if not condition:
        raise PlanError(message)
