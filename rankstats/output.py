"""Writes files: whole or not at all.

Every file is written beside its place under a temporary name and renamed when all files of a call are complete, so an
interrupted run leaves what was there before.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from rankstats.errors import InputError

OUR_FILES = ("report.html", "report.json", "summary.md", "per_query.csv", "to_judge.tsv", "junit.xml")
"""Names that a report folder may hold; a stale one of these is removed, anything else is left alone."""


def write_file(path: str | Path, content: str | bytes) -> Path:
    """Write one file whole, making its folder where needed, and return its path.

    Text is stored as UTF-8 with the line ends that it has.

    Raises
    ------
    InputError
        If the place cannot be written.
    """
    target = Path(path)
    return write_folder(target.parent, {target.name: content}, ours=())[0]


def write_folder(
    folder: str | Path, files: Mapping[str, str | bytes], *, ours: Iterable[str] = OUR_FILES
) -> tuple[Path, ...]:
    """Write a set of files into a folder, all or none, and remove stale files of ours that are not in the set.

    Parameters
    ----------
    folder : str or Path
        Made where needed.
    files : mapping of str to str or bytes
        File name to content.
    ours : iterable of str
        Names that belong to this kind of folder; those not in `files` are removed.

    Returns
    -------
    tuple of Path
        The written files, in the order of `files`.

    Raises
    ------
    InputError
        If the place cannot be written. Nothing is changed then.
    """
    place = Path(folder)
    waiting: list[tuple[Path, Path]] = []
    try:
        place.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            waiting.append((_write_beside(place, name, content), place / name))
        for temporary, target in waiting:
            temporary.replace(target)
        for name in ours:
            if name not in files:
                (place / name).unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror or error}; choose another place with --out", place) from error
    finally:
        for temporary, _ in waiting:
            temporary.unlink(missing_ok=True)
    return tuple(target for _, target in waiting)


def _write_beside(place: Path, name: str, content: str | bytes) -> Path:
    handle, temporary = tempfile.mkstemp(prefix=f".{name}.", suffix=".part", dir=place)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content.encode("utf-8") if isinstance(content, str) else content)
        path = Path(temporary)
        path.chmod(0o666 & ~_umask())
    except BaseException:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        raise
    return path


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
