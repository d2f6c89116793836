"""Bytes of a file: read once, digested, decompressed by magic bytes, without a byte order mark."""

from __future__ import annotations

import bz2
import errno
import gzip
import hashlib
import lzma
import mmap
import re
import threading
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa

from rankstats.errors import InputError
from rankstats.inputs.quoting import LONGEST, printable
from rankstats.tables.judgments import Source

_SAMPLE_BYTES = 4096
LARGE = 1 << 20
"""Files of at least this many bytes are mapped instead of copied, and digested while they are parsed."""
_DIGESTED_AT_ONCE = 1 << 20

Contents = bytes | mmap.mmap


class StoredFile:
    """The contents of a file.

    Parameters
    ----------
    path : str or Path
        The file as the user named it.

    Attributes
    ----------
    path : str
        The path as given; bytes of it that are not UTF-8 are escaped.
    view : bytes or mmap
        The contents, decompressed, without a byte order mark; a large file is mapped, not copied.

    Raises
    ------
    InputError
        If the file is absent, unreadable, empty, damaged, or not in UTF-8.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = printable(path)
        stored = _read(Path(path), self.path)
        self._size = len(stored)
        self._data: bytes | None = None
        self._hash = hashlib.sha256()
        self._thread: threading.Thread | None = None
        if len(stored) >= LARGE:
            self._thread = threading.Thread(target=self._digest, args=(stored,), daemon=True)
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

    def _digest(self, stored: Contents) -> None:
        with memoryview(stored) as view:
            for start in range(0, len(view), _DIGESTED_AT_ONCE):
                end = start + _DIGESTED_AT_ONCE
                self._hash.update(view[start:end])
                _let_go(stored, start, end)

    def source(self) -> Source:
        """Return name, digest and size of the stored bytes; waits for the digest."""
        if self._thread is not None:
            self._thread.join()
        return Source(self.path, self._hash.hexdigest(), self._size)

    def error(self, problem: str, line: int | None = None) -> InputError:
        """Return an error that names this file."""
        return InputError(problem, self.path, line)


def arrow_stream(data: Contents, start: int = 0, end: int | None = None) -> pa.BufferReader:
    """Return a stream over a copy of ``data[start:end]`` that Arrow owns.

    A thread of Arrow may drop the last reference to what it reads while Python ends, and letting go of Python's memory
    is then fatal. What is copied of a mapped file is let go of, so that a file takes no more memory than its pieces.
    """
    end = len(data) if end is None else end
    buffer = pa.allocate_buffer(end - start, memory_pool=pa.system_memory_pool())
    # NumPy copies without holding Python's lock
    np.copyto(np.frombuffer(buffer, np.uint8), np.frombuffer(data, np.uint8, end - start, start))
    _let_go(data, start, end)
    return pa.BufferReader(buffer)


def _let_go(data: Contents, start: int, end: int) -> None:
    """Let the system take the memory of whole pages of a mapped file; they are read again when they are needed."""
    if isinstance(data, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        first = -(-start // mmap.PAGESIZE) * mmap.PAGESIZE
        last = min(end, len(data)) // mmap.PAGESIZE * mmap.PAGESIZE
        if first < last:
            data.madvise(mmap.MADV_DONTNEED, first, last - first)


def _read(path: Path, name: str) -> Contents:
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
        if error.errno == errno.ENAMETOOLONG:
            name = f"{name[:LONGEST]}…"
        raise InputError(f"cannot be read ({error.strerror or error})", name) from None
    except ValueError as error:  # a NUL, or half a surrogate pair
        raise InputError(f"is no path of a file ({error})", name) from None


def _zstd(stored: bytes) -> bytes:
    with pa.CompressedInputStream(arrow_stream(stored), "zstd") as stream:
        return bytes(stream.read())


_COMPRESSIONS: tuple[tuple[bytes, str, Callable[[bytes], bytes]], ...] = (
    (rb"\x1f\x8b", "gzip", gzip.decompress),
    (rb"BZh[1-9](?:1AY&SY|\x17\x72\x45\x38\x50\x90)", "bzip2", bz2.decompress),
    (rb"\xfd7zXZ\x00", "xz", lzma.decompress),
    (rb"\x28\xb5\x2f\xfd", "zstd", _zstd),
)
_MOST_TIMES = 2


def _decompressed(stored: Contents, name: str) -> Contents:
    for times in range(_MOST_TIMES + 1):
        start = stored[:16]
        if start.startswith((b"PK\x03\x04", b"PK\x05\x06")):
            raise InputError("is a zip archive; unpack it first", name)
        found = next((of for of in _COMPRESSIONS if re.match(of[0], start)), None)
        if found is None:
            return stored
        _, kind, decompress = found
        if times == _MOST_TIMES:
            raise InputError(f"is compressed more than {_MOST_TIMES} times; unpack it first", name)
        try:
            stored = decompress(bytes(stored))
        except (OSError, EOFError, zlib.error, lzma.LZMAError, ValueError) as error:
            raise InputError(f"is a damaged {kind} file ({error}); make or fetch it again", name) from None
    return stored


def _without_mark(data: Contents, name: str) -> Contents:
    if data[:3] == b"\xef\xbb\xbf":
        data = data[3:]
    wide = _wide_encoding(data[:_SAMPLE_BYTES])
    if wide:
        raise InputError(f"{wide}; save it as UTF-8", name)
    if not re.search(rb"[^\s\0]", data):
        raise InputError("the file is empty" + " (NUL bytes only)" * (data[:1] == b"\0"), name)
    return data


def _wide_encoding(start: bytes) -> str:
    """Say whether a file begins like UTF-16 or UTF-32, with a mark or with a NUL in every character."""
    if start[:4] in (b"\xff\xfe\0\0", b"\0\0\xfe\xff"):
        return "is in UTF-32"
    if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "is in UTF-16"
    if start[:4] == b"PAR1" or not len(start) / 4 < start.count(0) < len(start):
        return ""
    return f"looks like UTF-{32 if start.count(0) > len(start) / 2 else 16}"
