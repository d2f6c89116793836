"""Files of a run for the embedded engine: which it can read in pieces, how they are read, and when they should be."""

from __future__ import annotations

import csv
import gzip
import hashlib
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from glob import glob
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from rankstats.errors import InputError
from rankstats.inputs.columns import DOCUMENT_NAMES, ID_NAMES, RANK_NAMES, SCORE_NAMES, TEXT_ID_NAMES, folded
from rankstats.inputs.quoting import printable
from rankstats.tables.judgments import Source

_START = 1 << 16
_MAGIC = (
    (b"PAR1", "parquet"),
    (b"\x1f\x8b", "gzip"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"BZh", "bz2"),
    (b"\xfd7zXZ\0", "xz"),
)
_TIMES_COMPRESSED = 4
"""How much larger a compressed file is taken to be in memory."""
_NUMBER = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_ENOUGH_RANKS = 3


class RunFiles:
    """One or several files of a run: a path, a pattern with * or ?, or a folder of parts.

    Parameters
    ----------
    given : str or Path
        As the user named them.

    Attributes
    ----------
    path : str
        What errors name.
    parts : tuple of Path
        The files, ascending; empty where there are none.
    is_several : bool
        Whether a pattern or a folder was given.
    """

    def __init__(self, given: str | Path) -> None:
        self.path = printable(given)
        place = Path(given)
        try:
            if place.is_dir():
                found = [part for part in place.rglob("*") if part.is_file()]
                parts = [part for part in found if not part.name.startswith((".", "_"))]
            elif place.exists() or not re.search(r"[*?]", str(given)):
                parts = [place] if place.is_file() else []
            else:
                parts = [Path(part) for part in glob(str(given), recursive=True) if Path(part).is_file()]  # noqa: PTH207  the pattern may be absolute
        except (OSError, ValueError):  # no path at all: the readers of files say so
            parts = []
        self.parts = tuple(sorted(parts))
        self.is_several = bool(self.parts) and self.parts != (place,)
        self._digests: tuple[Source, ...] = ()
        self._thread: threading.Thread | None = None

    @property
    def bytes_in_memory(self) -> int:
        """About how much memory the contents take."""
        sizes = [(part.stat().st_size, _compression(part)) for part in self.parts]
        return sum(size * (1 if compression == "none" else _TIMES_COMPRESSED) for size, compression in sizes)

    def start_digests(self) -> None:
        """Begin to digest the files beside other work."""
        self._thread = threading.Thread(target=self._digest, daemon=True)
        self._thread.start()

    def _digest(self) -> None:
        sources = []
        for part in self.parts:
            with part.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            sources.append(Source(printable(part), digest, part.stat().st_size))
        self._digests = tuple(sources)

    def sources(self) -> tuple[Source, ...]:
        """Return name, digest (if it was asked for) and size of every file; waits for the digests."""
        if self._thread is not None:
            self._thread.join()
        return self._digests or tuple(Source(printable(part), None, part.stat().st_size) for part in self.parts)

    def source(self) -> Source:
        """Return the name that the user gave."""
        return Source(self.path)

    def error(self, problem: str, line: int | None = None) -> InputError:
        """Return an error that names the files."""
        return InputError(problem, self.path, line)


@dataclass(frozen=True, slots=True)
class Layout:
    """How files are read.

    Attributes
    ----------
    form : str
        The format, for the audit.
    names : tuple of str
        The columns.
    kind : {'parquet', 'text'}
        What reads them.
    separator : str
        What stands between the fields of text.
    header : bool
        Whether text begins with the names of the columns.
    compression : str
        Of text: 'none', 'gzip' or 'zstd'.
    """

    form: str
    names: tuple[str, ...]
    kind: str
    separator: str = ""
    header: bool = False
    compression: str = "none"

    @property
    def has_named_columns(self) -> bool:
        """Whether the files name their columns."""
        return self.kind == "parquet" or self.header

    def relation(self, parts: Sequence[Path], numbers: Sequence[str]) -> str:
        """Return SQL that reads the files, the columns `numbers` as float64 and all others as text."""
        listed = "[" + ", ".join(_literal(str(part)) for part in parts) + "]"
        if self.kind == "parquet":
            return f"read_parquet({listed})"
        kinds = [f"{_literal(name)}: '{'DOUBLE' if name in numbers else 'VARCHAR'}'" for name in self.names]
        quote = "'\"'" if self.header else "''"
        return (
            f"read_csv({listed}, auto_detect = false, header = {str(self.header).lower()}, "
            f"delim = {_literal(self.separator)}, quote = {quote}, escape = {quote}, nullstr = '', "
            f"compression = '{self.compression}', columns = {{{', '.join(kinds)}}})"
        )


def layout_of(files: RunFiles, form: str | None) -> Layout:
    """Return how the files of a run are read.

    Parameters
    ----------
    files : RunFiles
        At least one file.
    form : {'trec', 'rank', 'score', 'table'} or None
        The format if it is named.

    Raises
    ------
    InputError
        If the embedded engine cannot read them in pieces; the message says what can.
    """
    compressions = {_compression(part) for part in files.parts}
    if len(compressions) > 1:
        raise files.error(f"holds files of several kinds ({', '.join(sorted(compressions))}); give files of one kind")
    compression = compressions.pop()
    if compression == "parquet":
        return Layout("table, Parquet", _parquet_names(files), "parquet")
    if compression in ("bz2", "xz"):
        raise files.error(f"is compressed with {compression}, which DuckDB does not read; use gzip or zstd, {_LOCAL}")
    lines = [line.rstrip(b"\r") for line in _start(files, compression).split(b"\n")]
    lines = [line for line in lines[: max(len(lines) - 1, 1)] if line.strip()]
    if not lines:
        raise files.error("the file is empty")
    return _layout_of_lines(files, form, lines, compression)


_LOCAL = "or evaluate in memory (--engine local)"
_TREC = ("query_id", "q0", "doc_id", "rank", "score", "tag")


def _layout_of_lines(files: RunFiles, form: str | None, lines: list[bytes], compression: str) -> Layout:
    first = lines[0]
    if form in ("json", "predictions") or first.lstrip()[:1] in (b"{", b"["):
        raise files.error(f"DuckDB does not read this format in pieces here; give TREC text or Parquet, {_LOCAL}")
    header = _header(first, is_named=form == "table") if form in (None, "table") else None
    if header is not None:
        return Layout("table, text", header[1], "text", header[0], True, compression)
    for separator in (" ", "\t"):
        fields = first.rstrip(b" ").split(separator.encode())
        if not all(fields):
            continue
        if len(fields) == 6 and form in (None, "trec"):
            return Layout("TREC", _TREC, "text", separator, False, compression)
        if len(fields) == 3 and form in (None, "rank", "score"):
            number = form or _rank_or_score(files, lines, separator.encode())
            return Layout(number, ("query_id", "doc_id", number), "text", separator, False, compression)
    raise files.error(
        f"{len(first.split())} fields in the first line; DuckDB reads six (qid Q0 docid rank score tag) or three, "
        f"separated by single spaces or single tabs, or a header with the names of columns; write them so, {_LOCAL}",
        1,
    )


def _header(first: bytes, *, is_named: bool) -> tuple[str, tuple[str, ...]] | None:
    """Return separator and column names of a line of names, or None where it holds none."""
    text = first.decode("utf-8", "replace")
    separator = max("\t,;|", key=text.count)
    names = tuple(name.strip() for name in next(csv.reader([text], delimiter=separator)))
    known = {*ID_NAMES, *TEXT_ID_NAMES, *DOCUMENT_NAMES, *SCORE_NAMES, *RANK_NAMES}
    n_known = sum(folded(name) in known for name in names)
    return (separator, names) if (is_named or n_known > 1) and len(set(names)) == len(names) else None


def _rank_or_score(files: RunFiles, lines: list[bytes], separator: bytes) -> str:
    """Say what the third column is, by the rules of the reader of files, on the first lines."""
    rows = [line.split(separator) for line in lines]
    rows = [row for row in rows if len(row) == 3 and _NUMBER.fullmatch(row[2].strip())]
    numbers = [float(row[2]) for row in rows]
    counted: dict[bytes, int] = {}
    counts = []
    for row, number in zip(rows, numbers, strict=True):
        counted[row[0]] = counted.get(row[0], 0) + 1
        counts.append(number == counted[row[0]])
    if counts and all(counts) and max(counted.values()) >= _ENOUGH_RANKS:
        return "rank"
    if any(number < 0 or number % 1 for number in numbers):
        return "score"
    raise files.error(
        "the third column may be a rank or a score; say which with --run-format rank (1 is the best) or --run-format "
        "score (the highest is the best)"
    )


def _parquet_names(files: RunFiles) -> tuple[str, ...]:
    names: tuple[str, ...] = ()
    for part in files.parts:
        try:
            names = tuple(pq.read_schema(part).names)
        except (pa.ArrowException, OSError, ValueError) as error:
            reason = " ".join(str(error).split())[:200]
            raise InputError(f"is a damaged Parquet file ({reason})", printable(part)) from None
    return names


def _compression(part: Path) -> str:
    try:
        with part.open("rb") as file:
            start = file.read(8)
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror or error})", printable(part)) from None
    return next((kind for magic, kind in _MAGIC if start.startswith(magic)), "none")


def _start(files: RunFiles, compression: str) -> bytes:
    """Return the first bytes of the content of the first file."""
    part = files.parts[0]
    try:
        if compression == "gzip":
            with gzip.open(part) as file:
                stored = file.read(_START)
        elif compression == "zstd":
            with pa.CompressedInputStream(pa.OSFile(str(part)), "zstd") as stream:
                stored = bytes(stream.read(_START))
        else:
            with part.open("rb") as file:
                stored = file.read(_START)
    except (OSError, EOFError, pa.ArrowException) as error:
        raise InputError(
            f"is a damaged {compression} file ({error}); make or fetch it again", printable(part)
        ) from None
    return stored.removeprefix(b"\xef\xbb\xbf")


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
