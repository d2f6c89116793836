"""Bytes of a file: read once, digested, decompressed by magic bytes, without a byte order mark."""

from __future__ import annotations

import errno
import mmap
import os
import re
import threading
import weakref
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rankstats.errors import InputError
from rankstats.inputs.quoting import LONGEST, printable
from rankstats.tables.judgments import Source

_SAMPLE_BYTES = 4096
LARGE = 1 << 20
"""Files of at least this many bytes are mapped instead of copied, and digested while they are parsed."""
_DIGESTED_AT_ONCE = 1 << 20
MARGIN = 16
"""Bytes of a `Room` before and behind what it holds, so that words of several bytes can be read at its ends."""


class MappedFile(mmap.mmap):
    """A file mapped for looking into it here and there, which can also be read in pieces.

    To read a piece costs a quarter of fetching its pages, and leaves none of them behind.
    """

    _descriptor: int
    _name: str

    def __new__(cls, descriptor: int, name: str) -> MappedFile:
        """Map the file that an open descriptor stands for, and which errors call `name`."""
        made = super().__new__(cls, descriptor, 0, access=mmap.ACCESS_READ)
        made._name = name
        made._descriptor = os.dup(descriptor)
        weakref.finalize(made, os.close, made._descriptor)
        return made

    def read_into(self, target: memoryview, start: int) -> None:
        """Fill `target` with the bytes from `start` on.

        Raises
        ------
        InputError
            If they cannot be read, or the file has become shorter meanwhile.
        """
        if not hasattr(os, "preadv"):
            np.copyto(np.frombuffer(target, np.uint8), np.frombuffer(self, np.uint8, len(target), start))
            return
        done = 0
        while done < len(target):
            try:
                got = os.preadv(self._descriptor, [target[done:]], start + done)
            except OSError as error:
                raise InputError(f"cannot be read ({error.strerror or error})", self._name) from None
            if not got:
                raise InputError("has become shorter while it was read; wait until it is written", self._name)
            done += got


Contents = bytes | mmap.mmap


class StoredFile:
    """The contents of a file.

    Parameters
    ----------
    path : str or Path
        The file as the user named it.
    digest : bool, optional
        Whether its source is to have a digest.

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

    def __init__(self, path: str | Path, *, digest: bool = True) -> None:
        self.path = printable(path)
        stored = _read(Path(path), self.path)
        self._size = len(stored)
        self._data: bytes | None = None
        self._hash: Any = None
        self._thread: threading.Thread | None = None
        self._fault: InputError | None = None
        if digest:
            self._start_digest(stored)
        self.view = _without_mark(_decompressed(stored, self.path), self.path)

    @property
    def data(self) -> bytes:
        """The contents as bytes; copies a mapped file, once."""
        if self._data is None:
            self._data = self.view if isinstance(self.view, bytes) else bytes(self.view)
        return self._data

    def _start_digest(self, stored: Contents) -> None:
        """Digest the bytes, those of a large file while it is parsed."""
        self._hash = import_module("hashlib").sha256()  # loads a library that nothing else needs
        if len(stored) < LARGE:
            self._hash.update(stored)
            return
        self._thread = threading.Thread(target=self._digest, args=(stored,), daemon=True)
        self._thread.start()

    def _digest(self, stored: Contents) -> None:
        room = memoryview(bytearray(_DIGESTED_AT_ONCE))
        try:
            for start in range(0, len(stored), _DIGESTED_AT_ONCE):
                end = min(start + _DIGESTED_AT_ONCE, len(stored))
                self._hash.update(piece_of(stored, start, end, room[: end - start]))
        except InputError as error:
            self._fault = error

    def source(self) -> Source:
        """Return name, digest and size of the stored bytes; waits for the digest."""
        if self._thread is not None:
            self._thread.join()
        if self._fault is not None:
            raise self._fault
        return Source(self.path, self._hash and self._hash.hexdigest(), self._size)

    def error(self, problem: str, line: int | None = None) -> InputError:
        """Return an error that names this file."""
        return InputError(problem, self.path, line)


def piece_of(data: Contents, start: int, end: int, room: memoryview) -> memoryview:
    """Copy ``data[start:end]`` into `room`, which has this size, and return it; other threads go on meanwhile."""
    if isinstance(data, MappedFile):
        data.read_into(room, start)
    else:
        np.copyto(np.frombuffer(room, np.uint8), np.frombuffer(data, np.uint8, end - start, start))
    return room


def let_go(data: Contents) -> None:
    """Let the system take the memory of a mapped file's pages; they are fetched again when they are looked at."""
    if isinstance(data, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        data.madvise(mmap.MADV_DONTNEED)


class Room:
    """A buffer for one piece of a file after the other; a piece is done with when the next one comes.

    Arrow owns the buffer: a thread of Arrow may drop the last reference to what it reads while Python ends, and letting
    go of Python's memory is then fatal.
    """

    def __init__(self) -> None:
        self._buffer: pa.Buffer | None = None
        self._size = 0

    def fill(self, data: Contents, start: int, end: int) -> NDArray[np.uint8]:
        """Copy ``data[start:end]`` into the buffer and return it."""
        self._size = end - start
        if self._buffer is None or self._buffer.size < self._size + 2 * MARGIN:
            # the system's pool: others keep much of what is given back
            self._buffer = pa.allocate_buffer(self._size + 2 * MARGIN, memory_pool=pa.system_memory_pool())
            np.frombuffer(memoryview(self._buffer), np.uint8).fill(0)
        piece = piece_of(data, start, end, memoryview(self._buffer)[MARGIN : MARGIN + self._size])
        return np.frombuffer(piece, np.uint8)

    def stream(self) -> pa.BufferReader:
        """Return a stream over the piece."""
        return pa.BufferReader(self._held().slice(MARGIN, self._size))

    def windows(self, dtype: str, shift: int) -> NDArray[Any]:
        """Return what begins `shift` bytes after each byte of the piece.

        Parameters
        ----------
        dtype : str
            What is read at each byte, like ``'<u8'``.
        shift : int
            At least -`MARGIN`; together with the size of `dtype`, at most `MARGIN`. What lies before and behind the
            piece is arbitrary.

        Returns
        -------
        ndarray of `dtype`, one for each byte
            Of overlapping bytes of the buffer, not to be written to.
        """
        buffer: Any = memoryview(self._held())
        return np.ndarray((self._size,), dtype, buffer, MARGIN + shift, (1,))

    def _held(self) -> pa.Buffer:
        if self._buffer is None:
            raise ValueError("nothing was read")
        return self._buffer


def arrow_stream(data: bytes) -> pa.BufferReader:
    """Return a stream over a copy of `data` that Arrow owns."""
    room = Room()
    room.fill(data, 0, len(data))
    return room.stream()


def _read(path: Path, name: str) -> Contents:
    try:
        with path.open("rb") as file:
            if path.is_file() and path.stat().st_size >= LARGE:
                return MappedFile(file.fileno(), name)
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


_COMPRESSIONS = (
    (rb"\x1f\x8b", "gzip", "gzip"),
    (rb"BZh[1-9](?:1AY&SY|\x17\x72\x45\x38\x50\x90)", "bzip2", "bz2"),
    (rb"\xfd7zXZ\x00", "xz", "lzma"),
    (rb"\x28\xb5\x2f\xfd", "zstd", ""),
)
"""The first bytes of compressed files, what the compression is called, and the library that takes it back."""
_MOST_TIMES = 2


def _decompressed(stored: Contents, name: str) -> Contents:
    for times in range(_MOST_TIMES + 1):
        start = stored[:16]
        if start.startswith((b"PK\x03\x04", b"PK\x05\x06")):
            raise InputError("is a zip archive; unpack it first", name)
        found = next((of for of in _COMPRESSIONS if re.match(of[0], start)), None)
        if found is None:
            return stored
        _, kind, library = found
        if times == _MOST_TIMES:
            raise InputError(f"is compressed more than {_MOST_TIMES} times; unpack it first", name)
        stored = _unpacked(bytes(stored), kind, library, name)
    return stored


def _unpacked(stored: bytes, kind: str, library: str, name: str) -> bytes:
    import lzma  # noqa: PLC0415  few files are compressed
    import zlib  # noqa: PLC0415  few files are compressed

    try:
        if not library:
            return _zstd(stored)
        unpacked: bytes = import_module(library).decompress(stored)
    except (OSError, EOFError, zlib.error, lzma.LZMAError, ValueError) as error:
        raise InputError(f"is a damaged {kind} file ({error}); make or fetch it again", name) from None
    return unpacked


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
