"""Digests of files that an engine reads, made beside its reading."""

from __future__ import annotations

import hashlib
import stat
import threading
from pathlib import Path
from typing import Any

from rankstats.errors import InputError
from rankstats.tables.judgments import Source

_BLOCK = 1 << 20


class FileDigest:
    """The digest of a file, made in a thread.

    Parameters
    ----------
    path : Path
        The file.
    name : str
        The file as the user named it.

    Raises
    ------
    InputError
        If it is absent, no file that can be read twice, unreadable or empty.
    """

    def __init__(self, path: Path, name: str) -> None:
        self._name = name
        self._hash = hashlib.sha256()
        self._size = 0
        self._fault: OSError | None = None
        if _is_read_once(path):  # the engine opens it again: it would find nothing, or wait for ever
            raise InputError("is a pipe or a device, which cannot be read twice; write it to a file first", name)
        try:
            self._file: Any = path.open("rb")
            first = self._file.read(_BLOCK)
        except FileNotFoundError:
            raise InputError("no such file", name) from None
        except IsADirectoryError:
            raise InputError("is a folder; name a file", name) from None
        except (OSError, ValueError) as error:
            raise InputError(f"cannot be read ({error})", name) from None
        if not first:
            self._file.close()
            raise InputError("the file is empty", name)
        self._thread = threading.Thread(target=self._digest, args=(first,), daemon=True)
        self._thread.start()

    def _digest(self, block: bytes) -> None:
        try:
            with self._file:
                while block:
                    self._hash.update(block)
                    self._size += len(block)
                    block = self._file.read(_BLOCK)
        except OSError as error:
            self._fault = error

    def source(self) -> Source:
        """Return name, digest and size; waits for the digest."""
        self._thread.join()
        if self._fault is not None:
            raise InputError(f"cannot be read ({self._fault})", self._name)
        return Source(self._name, self._hash.hexdigest(), self._size)


def _is_read_once(path: Path) -> bool:
    try:
        kind = path.stat().st_mode
    except (OSError, ValueError):
        return False  # to open it says why
    return not stat.S_ISREG(kind) and not stat.S_ISDIR(kind)
