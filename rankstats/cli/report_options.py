"""Options that say what a report is made with and what is written beside it."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rankstats.cli.options import require, split_list
from rankstats.errors import did_you_mean

TABLE_FORMATS = ("csv", "parquet", "latex")
FIGURE_FORMATS = ("svg", "png", "pdf")


def add_author_arguments(group: argparse._ArgumentGroup) -> None:
    """Add what the author of a report knows: notes, and titles of documents."""
    group.add_argument("--notes", metavar="FILE", help="notes in Markdown, shown on the page; HTML in them is text")
    group.add_argument(
        "--documents", metavar="FILE", help="document table (doc_id, title): titles in the lists, TSV/CSV/JSON/Parquet"
    )


def add_file_arguments(group: argparse._ArgumentGroup) -> None:
    """Add the files that are written beside a report on request."""
    group.add_argument("--tables", metavar="DIR", help="write every table into this folder as well")
    group.add_argument(
        "--table-formats",
        metavar="LIST",
        action="append",
        default=[],
        help=f"formats of --tables: {', '.join(TABLE_FORMATS)} (default: csv,latex); repeatable",
    )
    group.add_argument("--figures", metavar="DIR", help="write every figure into this folder as well")
    group.add_argument(
        "--figure-formats",
        metavar="LIST",
        action="append",
        default=[],
        help=f"formats of --figures: {', '.join(FIGURE_FORMATS)} (default: all); repeatable",
    )


def check_beside(options: argparse.Namespace) -> None:
    """Refuse formats and places before anything is computed or written.

    Raises
    ------
    PlanError
        If a format is unknown or a place is a file.
    """
    for option, known in (("table_formats", TABLE_FORMATS), ("figure_formats", FIGURE_FORMATS)):
        for name in split_list(getattr(options, option)):
            flag = option.replace("_", "-")
            require(name in known, f"--{flag} {name}: choose from {', '.join(known)}" + did_you_mean(name, known))
    check_folder("out", options.out)
    for option in ("tables", "figures"):
        given = getattr(options, option)
        check_folder(option, given)
        formats = getattr(options, f"{option.removesuffix('s')}_formats")
        require(not formats or bool(given), f"--{option.removesuffix('s')}-formats needs --{option} DIR")


def check_folder(option: str, given: str | None) -> None:
    """Refuse a folder that is a file, or lies below one, before anything is computed.

    Raises
    ------
    PlanError
        If it names nothing or a file.
    """
    require(given != "", f"--{option} names nothing")
    if given:
        existing = [place for place in (Path(given), *Path(given).parents) if place.exists()]
        folder = not existing or existing[0].is_dir()
        require(folder, f"--{option} {given}: {existing[0] if existing else given} is a file; name a folder")


def author_settings(options: argparse.Namespace) -> dict[str, Any]:
    """Return notes, titles and where titles came from as `report_files` takes them; files are read once."""
    from rankstats.inputs.titles import read_titles  # noqa: PLC0415  heavy
    from rankstats.report import read_notes  # noqa: PLC0415  heavy

    titles = read_titles(options.documents) if options.documents else None
    return {
        "notes": read_notes(options.notes) if options.notes else None,
        "titles": titles.table if titles else None,
        "sources": titles.audit.sources if titles else (),
    }


def author_files(options: argparse.Namespace) -> list[str]:
    """Return the files that `author_settings` reads."""
    return [path for path in (options.notes, options.documents) if path]


def write_beside(report: Mapping[str, Any], options: argparse.Namespace, inputs: Sequence[str] = ()) -> None:
    """Write the tables and the figures that are asked for.

    Raises
    ------
    RankstatsError
        If a format is unknown or a place cannot be written.
    """
    from rankstats.output import write_folder  # noqa: PLC0415  with the rest
    from rankstats.report import figure_files, table_files  # noqa: PLC0415  heavy

    if options.tables:
        formats = split_list(options.table_formats) or ("csv", "latex")
        write_folder(options.tables, table_files(report, formats), ours=(), inputs=inputs)
    if options.figures:
        formats = split_list(options.figure_formats) or FIGURE_FORMATS
        write_folder(options.figures, figure_files(report, formats), ours=(), inputs=inputs)
