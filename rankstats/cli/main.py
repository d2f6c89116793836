"""Chooses the command and turns errors into messages and exit statuses."""

from __future__ import annotations

import argparse
import gc
import io
import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import NoReturn

from rankstats import __version__
from rankstats.errors import RankstatsError, did_you_mean

COMMANDS = {
    "demo": "make the embedded example collection, compare its rankers, render the report",
    "evaluate": "per-query and mean values of runs",
    "compare": "the whole comparison of two or more systems into a folder",
    "ab": "the readout of an A/B experiment into a folder",
    "interleave": "the readout of an interleaving log into a folder",
    "agree": "agreement of rankings, measures, segments, judgments and assessors",
    "gate": "go, no-go or cannot tell, by a policy",
    "power": "queries needed, smallest detectable differences, and which test to trust",
    "measures": "list and explain measures and conventions",
    "render": "make the page again from a report.json",
}
OK, USAGE, INTERNAL, INTERRUPTED = 0, 2, 4, 130


def run() -> NoReturn:
    """Run the command line of this process and exit with its status."""
    # a terminated run ends like an interrupted one: nothing half-written stays behind
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # reports of thousands of rows are no garbage: looked through as often as usual they cost more than they free
    gc.set_threshold(100_000, 50, 100)
    status = main(sys.argv[1:])
    try:
        sys.stdout.flush()
    except OSError as error:
        _to_nowhere()
        if status == OK and not isinstance(error, BrokenPipeError):
            print(f"rankstats: cannot write to the standard output: {error.strerror}", file=sys.stderr)
            status = USAGE
    gc.freeze()  # or Python looks through all that the libraries hold for cycles, only to end
    sys.exit(status)


def _to_nowhere() -> None:
    """Point stdout nowhere: Python would complain once more while closing it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main(arguments: Sequence[str]) -> int:
    """Run one command.

    Parameters
    ----------
    arguments : sequence of str
        The words after the program's name.

    Returns
    -------
    int
        0 done, 2 usage or input error, 4 internal error, 130 interrupted; of gate also 1 no-go and 3 cannot tell.
    """
    _never_fail_to_print()
    try:
        return _dispatch(list(arguments))
    except RankstatsError as error:
        print(f"rankstats: {error}", file=sys.stderr)
        return USAGE
    except KeyboardInterrupt:
        print("rankstats: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        _to_nowhere()
        return OK
    except OSError as error:
        # files are read and written under errors of our own; what is left is the standard output
        print(f"rankstats: cannot write to the standard output: {error.strerror}", file=sys.stderr)
        return USAGE
    except Exception as error:
        if os.environ.get("RANKSTATS_DEBUG"):
            raise
        print(
            f"rankstats: internal error: {type(error).__name__}: {error}\n"
            "This is a fault of rankstats, not of your files; set RANKSTATS_DEBUG=1 for the trace when you report it.",
            file=sys.stderr,
        )
        return INTERNAL


def _never_fail_to_print() -> None:
    """Replace letters that the terminal's or the pipe's encoding lacks; a closed stream swallows all."""
    if sys.stdout is None:
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  it lives as long as the process
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  it lives as long as the process
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _dispatch(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(_overview(), file=sys.stdout if arguments else sys.stderr)
        return OK if arguments else USAGE
    if arguments[0] in ("-V", "--version"):
        print(f"rankstats {__version__}")
        return OK
    name = arguments[0]
    if name not in COMMANDS:
        raise RankstatsError(f"{name!r} is not a command (known: {', '.join(COMMANDS)})" + did_you_mean(name, COMMANDS))
    module = import_module(f"rankstats.cli.{name}")
    parser = argparse.ArgumentParser(
        prog=f"rankstats {name}",
        description=COMMANDS[name][0].upper() + COMMANDS[name][1:] + ".",
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=module.EPILOG,
    )
    module.add_arguments(parser)
    options = parser.parse_intermixed_args(arguments[1:])
    status: int = module.run(options, ["rankstats", *arguments])
    return status


def _overview() -> str:
    width = max(map(len, COMMANDS))
    lines = [
        "usage: rankstats COMMAND ...",
        "",
        "Launch or not? Compare rankers query by query, test the differences honestly, render one report.",
        "",
        "commands:",
        *(f"  {name:<{width}}  {text}" for name, text in COMMANDS.items()),
        "",
        "rankstats COMMAND --help explains a command; rankstats --version tells the version.",
        "Start with: rankstats demo",
    ]
    return "\n".join(lines)
