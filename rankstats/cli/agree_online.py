"""The part of ``rankstats agree`` that sets offline against online reports: options, files, the table side by side."""

from __future__ import annotations

import argparse
import csv
import io
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankstats.cli.options import require, split_list
from rankstats.errors import InputError, PlanError

_MOST_DECIMALS = 9

if TYPE_CHECKING:
    from rankstats.comparison.agreement_rows import AgreementAnswer, AgreementRow
    from rankstats.experiment import Readout
    from rankstats.experiment.offline_online import Launch

_ALIAS = "a system or segment attribute that has another name online: keyword=A; repeatable"


def add_online_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    group = parser.add_argument_group("offline against online (report.json of compare, and of ab or interleave)")
    group.add_argument(
        "--offline", metavar="REPORT", action="append", default=[], help="report.json of a comparison; repeatable"
    )
    group.add_argument(
        "--online",
        metavar="REPORT",
        action="append",
        default=[],
        help="report.json of the experiment of the same launch; as many as --offline, in the same order",
    )
    group.add_argument(
        "--launches", metavar="FILE", help="table of past launches: columns offline, online and, if wanted, name"
    )
    group.add_argument(
        "--metric",
        metavar="NAME",
        help="online metric (default: the first primary one; --measures names the offline one)",
    )
    group.add_argument(
        "--alias",
        metavar="OFFLINE=ONLINE",
        action="append",
        default=[],
        help=_ALIAS,
    )


def add_offline_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``rankstats ab``."""
    group = parser.add_argument_group("offline against online")
    group.add_argument(
        "--offline", metavar="REPORT", help="report.json of the comparison of the same launch: differences side by side"
    )
    group.add_argument("--alias", metavar="OFFLINE=ONLINE", action="append", default=[], help=_ALIAS)


def beside_offline(options: argparse.Namespace, readout: Readout) -> dict[str, Any] | None:
    """Return what the page says of an offline report, or None where there is none."""
    from rankstats.experiment.offline_online import agree_offline_online, offline_to_dict  # noqa: PLC0415  heavy

    require(options.offline is not None or not options.alias, "--alias is of --offline REPORT")
    if options.offline is None:
        return None
    launch = _launch("this launch", options.offline, readout.to_dict())
    return offline_to_dict(agree_offline_online([launch], aliases=_aliases(options.alias), alpha=readout.alpha))


def agree_on_reports(options: argparse.Namespace, alpha: float) -> tuple[AgreementAnswer, list[str]]:
    """Return the answer and the files that were read."""
    from rankstats.experiment.offline_online import agree_offline_online  # noqa: PLC0415  heavy

    named = list(_named(options))
    launches = [_launch(*row) for row in named]
    measures = split_list(options.measures)
    require(len(measures) <= 1, f"one offline measure is compared, not {len(measures)}: --measures {measures[0:1]}")
    aliases, measure = _aliases(options.alias), next(iter(measures), None)
    answer = agree_offline_online(launches, measure=measure, metric=options.metric, aliases=aliases, alpha=alpha)
    return answer, [path for _, *paths in named for path in paths] + ([options.launches] if options.launches else [])


def _aliases(texts: Sequence[str]) -> dict[str, str]:
    found = {}
    for text in texts:
        offline, separator, online = text.partition("=")
        require(
            bool(separator and offline.strip() and online.strip()),
            f"--alias {text}: write OFFLINE=ONLINE, such as keyword=A",
        )
        found[offline.strip()] = online.strip()
    return found


def _named(options: argparse.Namespace) -> Iterator[tuple[str, str, str]]:
    """Yield name, offline and online report of each launch."""
    require(
        len(options.offline) == len(options.online),
        f"--offline is given {len(options.offline)} times and --online {len(options.online)} times; give both of every "
        "launch",
    )
    for place, (offline, online) in enumerate(zip(options.offline, options.online, strict=True), 1):
        yield f"launch {place}", offline, online
    if options.launches:
        yield from _table(options.launches)


def _table(path: str) -> Iterator[tuple[str, str, str]]:
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError("no such file", path) from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read ({error})", path) from None
    first = text.split("\n", 1)[0]
    rows = csv.DictReader(io.StringIO(text), delimiter=max("\t,;", key=first.count))
    columns = [name.strip() for name in rows.fieldnames or ()]
    if not {"offline", "online"} <= set(columns):
        known = ", ".join(columns) or "none"
        raise InputError(f"the columns offline and online are expected (columns: {known})", path, 1)
    folder, found = Path(path).parent, 0
    for row in rows:
        cells = {(name or "").strip(): (cell or "").strip() for name, cell in row.items() if not isinstance(cell, list)}
        if not cells.get("offline") or not cells.get("online"):
            raise InputError("the offline and the online report of a launch are expected", path, rows.line_num)
        found += 1
        yield cells.get("name") or cells["offline"], str(folder / cells["offline"]), str(folder / cells["online"])
    if not found:
        raise InputError("there are no launches under the header", path)


def _launch(name: str, offline: str, online: str | dict[str, Any]) -> Launch:
    from rankstats.experiment.offline_online import Launch  # noqa: PLC0415  heavy

    return Launch(name, _report(offline), _report(online) if isinstance(online, str) else online)


def _report(path: str) -> dict[str, Any]:
    place = Path(path) / "report.json" if Path(path).is_dir() else Path(path)
    try:
        found = json.loads(place.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError("no such file; name the report.json of rankstats compare, ab or interleave", path) from None
    except (OSError, ValueError) as error:
        raise InputError(f"is no report.json ({error})", path) from None
    if not isinstance(found, dict):
        raise PlanError(f"{path}: is no report.json of rankstats")
    return found


def side_by_side(members: Sequence[AgreementRow], plain: Callable[[str], str]) -> tuple[list[list[str]], int]:
    """Return the lines of the table, the header first, and how many columns hold text; `plain` fits the texts."""
    from rankstats.wording import decimals_for, signed  # noqa: PLC0415  with the rest

    def cells(row: AgreementRow) -> list[str]:
        ends = (None, None) if row.interval is None else (row.interval.low, row.interval.high)
        known = [end for end in ends if end is not None]
        decimals = decimals_for((known[1] - known[0]) / 4 if len(known) == 2 else None)
        # on which side of 0 an end lies is what the reader looks for
        while decimals < _MOST_DECIMALS and any(end != 0 and round(end, decimals) == 0 for end in known):
            decimals += 1
        return [*("-" if value is None else plain(signed(value, decimals)) for value in (row.value, *ends)), f"{row.n}"]

    lines: dict[tuple[str, str, str], dict[str, AgreementRow]] = {}
    for row in members:
        lines.setdefault((row.first, row.second, row.about), {})[row.statistic] = row
    words = {1.0: "same", -1.0: "opposite", 0.0: "none", None: "undefined"}
    header = ["launch", "systems", "segment", "offline", "low", "high", "n", "online", "low", "high", "n", "direction"]
    body = [
        [
            *map(plain, key),
            *cells(of["offline_difference"]),
            *cells(of["online_difference"]),
            words[of["same_direction"].value],
        ]
        for key, of in lines.items()
    ]
    return [header, *body], 3
