"""Tables of rows of any size (CSV, TSV, JSON lines, Parquet, frames) as views of the embedded engine DuckDB.

Nothing is held in memory but what a query asks for. Cells of text files stay text until a query says what a column is,
so that ids such as ``007`` survive.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import hashlib
import lzma
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import duckdb
import pyarrow as pa

from rankstats.errors import InputError, did_you_mean
from rankstats.inputs.digests import FileDigest
from rankstats.inputs.frames_to_arrow import arrow_table
from rankstats.tables.engines.choice import EngineChoice
from rankstats.tables.engines.memory import machine_memory
from rankstats.tables.engines.temporary import TemporaryFolder
from rankstats.tables.judgments import Source

_START = 1 << 16
_BLOCK = 1 << 20
_OWN_SHARE = 0.6
"""Part of a memory limit that DuckDB gets; Python and what a query asks for take the rest."""
_SHARE_UNASKED = 0.8
"""Part of the machine's memory that DuckDB may take where no limit is given."""
_LINE = re.compile(r"CSV Error on Line: (\d+)")
_FIELDS = re.compile(r"Expected Number of Columns: (\d+) Found: (\d+)")
_MAGIC = ((b"\x1f\x8b", "gzip"), (b"BZh", "bz2"), (b"\xfd7zXZ\x00", "xz"), (b"\x28\xb5\x2f\xfd", "zstd"))
_SEPARATORS = "\t,;|"
NO_VALUE = ("", "na", "nan", "null", "none", "\\n")
"""What counts as an absent number in a text file, in any case."""


@dataclass(frozen=True, slots=True)
class RowTable:
    """A table that queries can name.

    Attributes
    ----------
    name : str
        The file as the user named it, or what the data are.
    view : str
        Its name in SQL.
    columns : mapping of str to str
        DuckDB's types by column.
    origin : Source or FileDigest
        Name, digest and size, or what will tell them.
    """

    name: str
    view: str
    columns: dict[str, str]
    origin: Source | FileDigest

    @property
    def source(self) -> Source:
        """Name, digest and size; waits for the digest."""
        return self.origin.source() if isinstance(self.origin, FileDigest) else self.origin

    def column(self, name: str, what: str) -> str:
        """Return the name of a column as it is spelled here.

        Raises
        ------
        InputError
            If there is no such column; the message names those there are.
        """
        if name in self.columns:
            return name
        known = ", ".join(self.columns)
        raise InputError(
            f"{what} {name!r} is no column (columns: {known})" + did_you_mean(name, self.columns), self.name
        )


class RowTables:
    """An engine in memory with the tables that were opened; a context manager.

    Parameters
    ----------
    choice : EngineChoice, optional
        What the process is to stay below, and where what does not fit goes.

    Attributes
    ----------
    engine : DuckDBPyConnection
        The engine.
    memory : int
        Bytes that it may take.
    at_exit : list of callable
        Called before the engine is closed.
    """

    def __init__(self, choice: EngineChoice | None = None) -> None:
        self.choice = choice or EngineChoice()
        self.at_exit: list[Callable[[], object]] = []
        self._folder = TemporaryFolder(self.choice.temp_folder)
        self.engine = duckdb.connect(":memory:", config={"temp_directory": str(self._folder.path / "spill")})
        self.memory = int(machine_memory() * _SHARE_UNASKED)
        if self.choice.memory_limit is not None:
            self.memory = int(self.choice.limit * _OWN_SHARE)
        self.engine.execute(f"SET memory_limit = '{self.memory // 1024}KiB'")
        for setting in (
            "autoinstall_known_extensions = false",
            "autoload_known_extensions = false",
            "enable_progress_bar = false",
            "preserve_insertion_order = true",
            "TimeZone = 'UTC'",
        ):
            self.engine.execute(f"SET {setting}")
        self._opened = 0

    @property
    def folder(self) -> Path:
        """The folder for what does not fit, removed at the end."""
        return self._folder.path

    def __enter__(self) -> RowTables:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        for ending in self.at_exit:
            ending()
        self.engine.close()
        self._folder.remove()

    def open(self, data: Any, name: str = "rows") -> RowTable:
        """Open a file, a frame or an iterable of mappings as a table.

        Parameters
        ----------
        data : path, frame, or sequence of mappings
            CSV, TSV (also with ; or |), JSON lines, a JSON list of objects or Parquet, plain or compressed (gz, bz2,
            xz, zst); the format is recognised by the content.
        name : str
            What data handed in are called in errors.

        Raises
        ------
        InputError
            If it cannot be read; the message names the file and, where it is known, the line.
        """
        self._opened += 1
        view = f"table_{self._opened}"
        if isinstance(data, str | Path):
            return self._open_file(Path(data), str(data), view)
        table = arrow_table(data, name)
        if table is None:
            table = _table_of_mappings(data, name)
        if not table.num_rows:
            raise InputError("there are no rows", name)
        self.engine.register(view, table)
        digest = hashlib.sha256()
        for column in table.columns:
            for chunk in column.chunks:
                for buffer in chunk.buffers():
                    digest.update(buffer or b"")
        return self._described(name, view, Source(name, digest.hexdigest(), table.nbytes))

    def _open_file(self, path: Path, name: str, view: str) -> RowTable:
        digest = FileDigest(path, name)
        compression, start = _start(path, name)
        place = str(path)
        if compression in ("bz2", "xz"):
            place, compression = self._unpacked(path, name, compression), "none"
        relation = _relation(place, name, start, compression)
        try:
            self.engine.execute(f"CREATE VIEW {view} AS SELECT * FROM {relation}")
        except duckdb.Error as error:
            raise _fault(error, name) from None
        return self._described(name, view, digest)

    def _unpacked(self, path: Path, name: str, compression: str) -> str:
        place = self._folder.path / f"unpacked_{self._opened}"
        opened: Any = (bz2.open if compression == "bz2" else lzma.open)(path, "rb")
        try:
            with opened as packed, place.open("wb") as plain:
                while block := packed.read(_BLOCK):
                    plain.write(block)
        except (OSError, EOFError, lzma.LZMAError) as error:
            raise InputError(f"is a damaged {compression} file ({error}); make or fetch it again", name) from None
        return str(place)

    def _described(self, name: str, view: str, origin: Source | FileDigest) -> RowTable:
        columns = {str(row[0]): str(row[1]) for row in self.rows(f"DESCRIBE {view}", name)}
        folded: dict[str, str] = {}
        for column in columns:
            if column.casefold() in folded:
                raise InputError(f"two columns are named {folded[column.casefold()]!r}; rename one", name)
            folded[column.casefold()] = column
        return RowTable(name, view, columns, origin)

    def run(self, sql: str, name: str) -> duckdb.DuckDBPyConnection:
        """Run a statement; what the engine cannot read becomes an error that names the file."""
        with _faults(name):
            return self.engine.execute(sql)

    def rows(self, sql: str, name: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        with _faults(name):
            return self.engine.execute(sql).fetchall()

    def arrow(self, sql: str, name: str) -> pa.Table:
        """Return the rows of a query as an Arrow table."""
        with _faults(name):
            return self.engine.sql(sql).to_arrow_table()

    def batches(self, sql: str, name: str) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a query as Arrow batches, in order; what was yielded is not held."""
        with _faults(name):
            yield from pa.RecordBatchReader.from_stream(self.engine.sql(sql))


@contextmanager
def _faults(name: str) -> Iterator[None]:
    """Turn what the engine raises into an error that names the file; its own word for an interrupt becomes Python's."""
    try:
        yield
    except (duckdb.Error, pa.ArrowException, RuntimeError) as error:
        if "interrupted" in str(error).casefold():
            raise KeyboardInterrupt from None
        if not isinstance(error, duckdb.Error | pa.ArrowException):
            raise
        raise _fault(error, name) from None


def identifier(name: str) -> str:
    """Return a name as an SQL identifier.

    Examples
    --------
    >>> print(identifier('say "hi" twice'))
    "say ""hi"" twice"
    """
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return a text as an SQL literal.

    Examples
    --------
    >>> print(literal("it's"))
    'it''s'
    """
    return "'" + text.replace("'", "''") + "'"


def text_of(column: str) -> str:
    """Return SQL for the text of a column; NULL where it is empty."""
    return f"nullif(trim(CAST({identifier(column)} AS VARCHAR)), '')"


def is_value(sql: str) -> str:
    """Return SQL that tells whether a fraction is no NaN (NULL is none).

    DuckDB takes ``isnan`` for false where the bounds that a Parquet file states are numbers, which leave NaN out.
    """
    return f"(isfinite({sql}) OR isinf({sql}))"


def number_of(column: str, kind: str) -> str:
    """Return SQL for the number in a column: truth values are 1 and 0, what is no number is NULL."""
    name = identifier(column)
    if kind != "VARCHAR":
        cast = f"TRY_CAST({name} AS DOUBLE)"
        return f"CASE WHEN {is_value(cast)} THEN {cast} END"
    absent = ", ".join(map(literal, NO_VALUE))
    return (
        f"CASE WHEN lower(trim({name})) IN ({absent}) THEN NULL WHEN lower(trim({name})) = 'true' THEN 1.0 "
        f"WHEN lower(trim({name})) = 'false' THEN 0.0 ELSE TRY_CAST(replace(trim({name}), '_', ' ') AS DOUBLE) END"
    )


def no_number(column: str, kind: str) -> str:
    """Return SQL that tells whether a cell holds something that is no finite number."""
    name, number = identifier(column), number_of(column, kind)
    given = f"{name} IS NOT NULL"
    if kind == "VARCHAR":
        given += f" AND lower(trim({name})) NOT IN ({', '.join(map(literal, NO_VALUE))})"
    elif kind in ("DOUBLE", "FLOAT"):
        given += f" AND {is_value(name)}"
    return f"({given} AND ({number} IS NULL OR isinf({number}) OR abs({number}) > 1e100))"


def time_of(column: str) -> str:
    """Return SQL for the time in a column, in UTC; NULL where it is none."""
    return f"make_timestamp(epoch_us(TRY_CAST(CAST({identifier(column)} AS VARCHAR) AS TIMESTAMPTZ)))"


def _fault(error: Exception, name: str) -> InputError:
    text = str(error)
    if isinstance(error, duckdb.OutOfMemoryException) or "No space left" in text:
        said = next(line.strip() for line in text.splitlines() if line.strip())
        return InputError(
            f"DuckDB ran out of room ({said[:200]}); raise --memory-limit, free space on the disk, or name another "
            "folder for what does not fit with --temp-dir",
            name,
        )
    line = _LINE.search(text)
    if fields := _FIELDS.search(text):
        said = f"{fields[2]} fields where {fields[1]} are expected, one a column of the first line"
        return InputError(said, name, int(line[1]) if line else None)
    first = next((part.strip() for part in text.splitlines() if part.strip() and "CSV Error" not in part), text)
    said = re.sub(r"^\w[\w ]* Error: ", "", first)
    return InputError(f"cannot be read as a table: {said[:300]}", name, int(line[1]) if line else None)


def _start(path: Path, name: str) -> tuple[str, bytes]:
    """Return the compression of a file and the first bytes of its content."""
    with path.open("rb") as file:
        stored = file.read(_START)
    kind = next((kind for magic, kind in _MAGIC if stored.startswith(magic)), "none")
    if stored.startswith(b"PK\x03\x04"):
        raise InputError("is a zip archive; unpack it first", name)
    try:
        if kind == "gzip":
            with gzip.open(path) as file:
                stored = file.read(_START)
        elif kind == "bz2":
            with bz2.open(path) as file:
                stored = file.read(_START)
        elif kind == "xz":
            with lzma.open(path) as file:
                stored = file.read(_START)
        elif kind == "zstd":
            with pa.CompressedInputStream(pa.OSFile(str(path)), "zstd") as stream:
                stored = stream.read(_START)
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise InputError(f"is a damaged {kind} file ({error}); make or fetch it again", name) from None
    if stored[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise InputError("is in UTF-16; save it as UTF-8", name)
    if not stored.strip():
        raise InputError("the file is empty", name)
    return kind, stored.removeprefix(b"\xef\xbb\xbf")


def _relation(place: str, name: str, start: bytes, compression: str) -> str:
    """Return SQL that reads a file."""
    file = literal(place)
    if start.startswith(b"PAR1"):
        return f"read_parquet({file})"
    if start.lstrip()[:1] in (b"{", b"["):
        form = "array" if start.lstrip()[:1] == b"[" else "newline_delimited"
        packed = "uncompressed" if compression == "none" else compression
        return f"read_json({file}, format = '{form}', records = true, sample_size = -1, compression = '{packed}')"
    line = start.split(b"\n", 1)[0].decode("utf-8", "replace").rstrip("\r")
    separator = max(_SEPARATORS, key=line.count)
    # a column without a heading is often the number of the row
    names = [text.strip() or f"column_{i}" for i, text in enumerate(next(csv.reader([line], delimiter=separator)), 1)]
    _check_header(names, name)
    columns = ", ".join(f"{literal(column)}: 'VARCHAR'" for column in names)
    return (
        f"read_csv({file}, header = true, all_varchar = true, auto_detect = false, delim = {literal(separator)}, "
        f"quote = '\"', escape = '\"', compression = '{compression}', max_line_size = 20000000, "
        f"columns = {{{columns}}})"
    )


def _check_header(names: Sequence[str], name: str) -> None:
    for column in names:
        if names.count(column) > 1:
            raise InputError(f"two columns are named {column!r}; rename one", name, 1)
    if all(re.fullmatch(r"[-+]?[\d.]+", column) for column in names):
        raise InputError("the first line holds numbers; a header with the names of the columns is expected", name, 1)


def _table_of_mappings(data: Any, name: str) -> pa.Table:
    try:
        return pa.Table.from_pylist([dict(row) for row in data])
    except (TypeError, ValueError, pa.ArrowException) as error:
        raise InputError(
            f"a path, a pandas, Polars or Arrow frame, or rows as dictionaries are expected ({error})", name
        ) from None
