"""A temporary folder a process, which the next one removes where this one is killed."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from pathlib import Path

from rankstats.errors import InputError

_PREFIX = "rankstats-engine-"
_LOCK = "in-use"
_NEW_LOCK = "in-use-soon"


class TemporaryFolder:
    """A folder that is removed with the object, at the end of the process, or by the next process after a kill.

    A file in it stays locked as long as the process lives; the system lets go of the lock however the process ends.

    Parameters
    ----------
    parent : str, optional
        Where the folder is made; the system's folder for temporary files if it is not given.

    Raises
    ------
    InputError
        If no folder can be made there.

    Examples
    --------
    >>> folder = TemporaryFolder()
    >>> folder.path.is_dir()
    True
    >>> folder.remove()
    >>> folder.path.exists()
    False
    """

    def __init__(self, parent: str | None = None) -> None:
        base = Path(parent or tempfile.gettempdir())
        try:
            _remove_abandoned(base)
            self.path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=base))
            lock = _locked(self.path / _NEW_LOCK)
            (self.path / _NEW_LOCK).rename(self.path / _LOCK)  # others see it locked, or not at all
        except OSError as error:
            reason = error.strerror or error
            raise InputError(f"no temporary folder can be made there ({reason}); name another", base) from None
        self._finalizer = weakref.finalize(self, _remove, self.path, lock)

    def remove(self) -> None:
        """Remove the folder with everything in it, once."""
        self._finalizer()


def _locked(file: Path) -> int | None:
    """Return the open lock of a file, or None where another process holds it."""
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        import fcntl  # noqa: PLC0415  Windows has none: there, nothing abandoned is removed

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        os.close(descriptor)
        return None
    return descriptor


def _remove_abandoned(base: Path) -> None:
    for folder in base.glob(f"{_PREFIX}*"):
        if not (folder / _LOCK).exists():  # of a process that is just making it, or another user's
            continue
        try:
            lock = _locked(folder / _LOCK)
        except OSError:
            continue
        if lock is not None:
            _remove(folder, lock)


def _remove(folder: Path, lock: int | None) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    if lock is not None:
        os.close(lock)
