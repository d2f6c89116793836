"""The embedded engine for files larger than memory: DuckDB with a memory limit and a temporary folder of its own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import duckdb
import narwhals as nw

from rankstats.errors import InputError
from rankstats.tables.engines.adapters import DuckDBEngine
from rankstats.tables.engines.choice import EngineChoice
from rankstats.tables.engines.memory import readable_size
from rankstats.tables.engines.temporary import TemporaryFolder

if TYPE_CHECKING:
    from rankstats.tables.engines.steps import Frame

_OWN_SHARE = 0.7
"""Part of the limit that DuckDB gets; Python, the judgments and what is collected take the rest."""
_LINE = re.compile(r"CSV Error on Line: (\d+)")
_WIDTH = re.compile(r"Expected Number of Columns: (\d+) Found: (\d+)")
_NO_NUMBER = re.compile(r"Could not convert string \"(.*?)\" to 'DOUBLE'")
_WAY_OUT = "check the file, or evaluate it in memory (--engine local)"
_FILE = re.compile(r"^\s*file = (.+)$", re.MULTILINE)


class DuckDBFiles(DuckDBEngine):
    """Files in DuckDB.

    Parameters
    ----------
    relation : str
        SQL of a table function that reads the files.
    choice : EngineChoice
        Memory limit and temporary folder.
    """

    rows_at_once = 100_000_000

    def __init__(self, relation: str, choice: EngineChoice, what: str) -> None:
        self._folder = TemporaryFolder(choice.temp_folder)
        self._limit = int(choice.limit * _OWN_SHARE)
        self._engine = duckdb.connect(":memory:", config={"temp_directory": str(self._folder.path / "spill")})
        for setting in (
            "autoinstall_known_extensions = false",
            "autoload_known_extensions = false",
            "enable_progress_bar = false",
            "preserve_insertion_order = false",
            # text files tell nothing of their length: the run would be taken for the small side of a join, and hashed
            "disabled_optimizers = 'join_order,build_side_probe_side'",
            f"memory_limit = '{self._limit // 1024}KiB'",
        ):
            self._engine.execute(f"SET {setting}")
        self._staged = 0
        try:
            super().__init__(self._engine.sql(f"SELECT * FROM {relation}"))
        except duckdb.Error as error:
            raise self.fault(error, what) from None

    def in_buckets(self, rows: Frame, buckets: int, what: str) -> list[Frame]:
        """Write the rows of each bucket of queries to files of its own, so that each is read once more only."""
        if buckets == 1:
            return [rows]
        self._staged += 1
        folder = self._folder.path / f"buckets-{self._staged}"
        numbered: Any = rows.with_columns(bucket=nw.col("query") % buckets).to_native()
        try:
            numbered.to_parquet(str(folder), partition_by=["bucket"], compression="lz4_raw")
            parts = sorted(folder.iterdir()) if folder.is_dir() else []
            if not parts:  # not one row is of a judged query
                return [rows]
            return [nw.from_native(self._engine.sql(f"SELECT * FROM '{part}/*.parquet'")) for part in parts]
        except duckdb.Error as error:
            raise self.fault(error, what) from None

    def fault(self, error: BaseException, what: str) -> InputError:
        """Return the error for a failure: memory or disk that ran out, or a file with its line."""
        text = str(error)
        if isinstance(error, duckdb.OutOfMemoryException) or "No space left" in text:
            return InputError(
                f"DuckDB ran out of room: {readable_size(self._limit)} of memory, and {self._folder.path.parent} for "
                f"what does not fit ({_first_line(text)}); raise --memory-limit, free space, or name another folder "
                "with --temp-dir",
                what,
            )
        line, file = _LINE.search(text), _FILE.search(text)
        where = file[1].strip() if file else what
        return InputError(_problem(text), where, int(line[1]) if line else None)


def _problem(text: str) -> str:
    """Return what DuckDB says, in the words of the readers of files where it is one of their faults."""
    width, number = _WIDTH.search(text), _NO_NUMBER.search(text)
    if width:
        found = f"{width[2]} field{'s' * (width[2] != '1')}"
        return f"{found} where {width[1]} are expected, with one separator between each; {_WAY_OUT}"
    if number:
        return f"score {number[1]!r} is not a number"
    if "Invalid unicode" in text:
        return "the line is not UTF-8 text; save the file as UTF-8"
    return f"cannot be read: {_first_line(text)}; {_WAY_OUT}"


def _first_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    first = next((line for line in lines if "CSV Error on Line" not in line), text)
    return re.sub(r"^\w[\w ]* Error: ", "", first)[:300]
