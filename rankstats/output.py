"""Writes files: whole or not at all.

Every file is written beside its place under a temporary name and renamed when all files of a call are complete, with
signals held back meanwhile, so an interrupted run leaves what was there before.
"""

from __future__ import annotations

import contextlib
import os
import signal
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from rankstats.errors import InputError

OUR_FILES = (
    *("report.html", "report.json", "summary.md", "per_query.csv", "pairs.csv", "segments.csv", "to_judge.tsv"),
    "junit.xml",
)
"""Names that a report folder may hold; a stale one of these is removed, anything else is left alone."""


def write_file(path: str | Path, content: str | bytes, *, inputs: Iterable[str | Path] = ()) -> Path:
    """Write one file whole, making its folder where needed, and return its path.

    Text is stored as UTF-8 with the line ends that it has. A link is followed; a device or pipe is written to as it is.

    Parameters
    ----------
    path : str or Path
        The file.
    content : str or bytes
        What it will hold.
    inputs : iterable of paths
        Files that were read and must not be replaced.

    Raises
    ------
    InputError
        If the place cannot be written, or is one of the inputs.
    """
    given = Path(path)
    target = Path(os.path.realpath(given))
    if target.exists() and not target.is_file() and not target.is_dir():
        try:
            target.write_bytes(_bytes(content))
        except OSError as error:
            raise InputError(f"cannot write: {error.strerror or error}", given) from error
        return given
    write_folder(target.parent, {target.name: content}, ours=(), inputs=inputs)
    return given


def write_folder(
    folder: str | Path,
    files: Mapping[str, str | bytes],
    *,
    ours: Iterable[str] = OUR_FILES,
    inputs: Iterable[str | Path] = (),
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
    inputs : iterable of paths
        Files that were read and must not be replaced.

    Returns
    -------
    tuple of Path
        The written files, in the order of `files`.

    Raises
    ------
    InputError
        If the place cannot be written, or a file is one of the inputs. Nothing is changed then.
    """
    place = Path(folder)
    if place.exists() and not place.is_dir():
        raise InputError("is a file; name a folder", place)
    stale = [name for name in ours if name not in files]
    _check_targets(place, [*files, *stale], inputs)
    made = _missing_folders(place)
    waiting: list[tuple[Path, Path]] = []
    try:
        place.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            waiting.append((_write_beside(place, content), place / name))
        with _signals_held():
            for temporary, target in waiting:
                temporary.replace(target)
            for name in stale:
                (place / name).unlink(missing_ok=True)
            made = []
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror or error}; choose another place", place) from error
    finally:
        for temporary, _ in waiting:
            temporary.unlink(missing_ok=True)
        for empty in made:
            with contextlib.suppress(OSError):
                empty.rmdir()
    return tuple(target for _, target in waiting)


def _check_targets(place: Path, names: Iterable[str], inputs: Iterable[str | Path]) -> None:
    read = {os.path.realpath(path) for path in inputs}
    for name in names:
        target = place / name
        if target.is_dir():
            raise InputError("is a folder where a file would be written; choose another place", target)
        if os.path.realpath(target) in read:
            raise InputError("is one of the files that are read; choose another place", target)


def _missing_folders(place: Path) -> list[Path]:
    """Folders that do not exist yet, the innermost first."""
    return [folder for folder in (place, *place.parents) if not folder.exists()]


@contextlib.contextmanager
def _signals_held() -> Iterator[None]:
    """Hold back interrupts, so that a set of renames happens as one."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _bytes(content: str | bytes) -> bytes:
    return content.encode("utf-8") if isinstance(content, str) else content


def _write_beside(place: Path, content: str | bytes) -> Path:
    handle, temporary = tempfile.mkstemp(prefix=".rankstats-", suffix=".part", dir=place)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(_bytes(content))
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
