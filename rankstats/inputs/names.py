"""Names of runs: the file name less its endings, or ``NAME=FILE``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from rankstats.errors import InputError
from rankstats.inputs.quoting import LONGEST, printable, quoted

COMPRESSION_ENDINGS = (".gz", ".bz2", ".xz", ".zst")
FORMAT_ENDINGS = (".run", ".txt", ".trec", ".tsv", ".csv", ".json", ".jsonl", ".parquet", ".eval")


def run_name(argument: str | Path) -> tuple[str, Path]:
    """Return the name and the path of a run.

    The name is the file name less one compression ending (.gz .bz2 .xz .zst), then less one of .run .txt .trec .tsv
    .csv .json .jsonl .parquet .eval; ``NAME=FILE`` names it. An argument that is itself the path of a file is never
    split at its equals sign, nor is one whose part before the equals sign holds a slash.

    Parameters
    ----------
    argument : str or Path
        A path, or a string of the form ``NAME=FILE``. A `Path` is always a path.

    Raises
    ------
    InputError
        If the name or the file of ``NAME=FILE`` is empty, or the name is not UTF-8 text.

    Examples
    --------
    >>> run_name("runs/covidex.r5.2s.lr.run.gz")[0]
    'covidex.r5.2s.lr'
    >>> run_name("prod=runs/a.run")[0]
    'prod'
    """
    if isinstance(argument, Path) or "=" not in argument or _exists(argument):
        return _name_of_file(Path(argument)), Path(argument)
    name, _, file = argument.partition("=")
    if "/" in name or "\\" in name:
        return _name_of_file(Path(argument)), Path(argument)
    if not name.strip() or not file:
        raise InputError(f"{quoted(argument)} is not of the form NAME=FILE")
    return _checked(name.strip(), str(argument)), Path(file)


def run_names(arguments: Iterable[str | Path], what: str = "runs") -> list[tuple[str, Path]]:
    """Return names and paths of several runs, in the order given; `what` is what errors call them.

    Raises
    ------
    InputError
        If two runs have one name.

    Examples
    --------
    >>> [name for name, _ in run_names(["old/bm25.run", "new=new/bm25.run"])]
    ['bm25', 'new']
    """
    runs: dict[str, Path] = {}
    for argument in arguments:
        name, path = run_name(argument)
        if name in runs:
            raise InputError(
                f"two {what} are named {quoted(name)} ({runs[name]} and {path}); give one of them a name of its own, "
                f"such as {name}-2={path}"
            )
        runs[name] = path
    return list(runs.items())


def _name_of_file(path: Path) -> str:
    name = path.name
    for endings in (COMPRESSION_ENDINGS, FORMAT_ENDINGS):
        for ending in endings:
            if name.lower().endswith(ending) and len(name) > len(ending):
                name = name[: -len(ending)]
                break
    return _checked(name, path.name)


def _checked(name: str, given: str) -> str:
    try:
        name.encode()
    except UnicodeEncodeError:
        shown = printable(given)[:LONGEST]
        raise InputError(f"'{shown}' is not UTF-8 text, so it names no run; give a name, as in NAME=FILE") from None
    return name


def _exists(argument: str) -> bool:
    try:
        return Path(argument).exists()
    except (OSError, ValueError):  # too long for a path, or no path at all
        return False
