"""Bytes of a file: read once, digested, decompressed by magic bytes, without a byte order mark."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import lzma
import mmap
import re
import threading
import zlib
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa

from rankstats.errors import InputError
from rankstats.tables.judgments import Source

LARGE = 1 << 20
"""Files of at least this many bytes are mapped instead of copied, and digested while they are parsed."""


class StoredFile:
    """The contents of a file.

    Parameters
    ----------
    path : str or Path
        The file as the user named it.

    Attributes
    ----------
    path : str
        The path as given.
    view : bytes or mmap
        The contents, decompressed, without a byte order mark; a large file is mapped, not copied.

    Raises
    ------
    InputError
        If the file is absent, unreadable, empty, damaged, or not in UTF-8.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = str(path)
        stored = _read(Path(path), self.path)
        self._size = len(stored)
        self._data: bytes | None = None
        self._hash = hashlib.sha256()
        self._thread: threading.Thread | None = None
        if len(stored) >= LARGE:
            self._thread = threading.Thread(target=self._hash.update, args=(stored,), daemon=True)
            self._thread.start()
        else:
            self._hash.update(stored)
        self.view = _without_mark(_decompressed(stored, self.path), self.path)

    @property
    def data(self) -> bytes:
        """The contents as bytes; copies a mapped file, once."""
        if self._data is None:
            self._data = self.view if isinstance(self.view, bytes) else bytes(self.view)
        return self._data

    def source(self) -> Source:
        """Return name, digest and size of the stored bytes; waits for the digest."""
        if self._thread is not None:
            self._thread.join()
        return Source(self.path, self._hash.hexdigest(), self._size)

    def error(self, problem: str, line: int | None = None) -> InputError:
        """Return an error that names this file."""
        return InputError(problem, self.path, line)


def _read(path: Path, name: str) -> bytes | mmap.mmap:
    try:
        with path.open("rb") as file:
            if path.is_file() and path.stat().st_size >= LARGE:
                return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            return file.read()
    except FileNotFoundError:
        raise InputError("no such file", name) from None
    except IsADirectoryError:
        raise InputError("is a folder; name a file", name) from None
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror or error})", name) from None


def _zstd(stored: bytes) -> bytes:
    with pa.CompressedInputStream(pa.BufferReader(stored), "zstd") as stream:
        return bytes(stream.read())


_COMPRESSIONS: tuple[tuple[bytes, str, Callable[[bytes], bytes]], ...] = (
    (b"\x1f\x8b", "gzip", gzip.decompress),
    (b"BZh", "bzip2", bz2.decompress),
    (b"\xfd7zXZ\x00", "xz", lzma.decompress),
    (b"\x28\xb5\x2f\xfd", "zstd", _zstd),
)


def _decompressed(stored: bytes | mmap.mmap, name: str) -> bytes | mmap.mmap:
    start = stored[:8]
    for magic, kind, decompress in _COMPRESSIONS:
        if start.startswith(magic):
            try:
                return decompress(bytes(stored))
            except (OSError, EOFError, zlib.error, lzma.LZMAError, ValueError) as error:
                raise InputError(f"is a damaged {kind} file ({error}); make or fetch it again", name) from None
    if start.startswith(b"PK\x03\x04"):
        raise InputError("is a zip archive; unpack it first", name)
    return stored


def _without_mark(data: bytes | mmap.mmap, name: str) -> bytes | mmap.mmap:
    if data[:3] == b"\xef\xbb\xbf":
        data = data[3:]
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise InputError("is in UTF-16; save it as UTF-8", name)
    if not re.search(rb"\S", data):
        raise InputError("the file is empty", name)
    return data
