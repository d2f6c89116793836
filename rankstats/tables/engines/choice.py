"""Which engine makes the hits of a run, and what it may take."""

from __future__ import annotations

from dataclasses import dataclass

from rankstats.errors import PlanError, did_you_mean
from rankstats.tables.engines.memory import machine_memory, size_of

ENGINES = ("auto", "local", "duckdb")
PART_OF_MEMORY = 4
"""'auto' hands a file to DuckDB where it is larger than this part of the memory: a fourth."""


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """Where runs are ranked; the values do not depend on it.

    Attributes
    ----------
    name : {'auto', 'local', 'duckdb'}
        'local' holds one run at a time in memory and is the fastest; 'duckdb' reads files in pieces; 'auto' takes
        DuckDB for files larger than a quarter of the memory (times 4 where they are compressed), for several files a
        run, and an engine's own frames where they are.
    memory_limit : str or None
        What the process is to stay below, such as '4GiB'; None for half of the memory.
    temp_folder : str or None
        Where DuckDB puts what does not fit; None for the system's folder for temporary files.

    Raises
    ------
    PlanError
        If the engine is unknown or the limit is no size.

    Examples
    --------
    >>> EngineChoice("duckdb", memory_limit="4GiB").limit == 4 << 30
    True
    """

    name: str = "auto"
    memory_limit: str | None = None
    temp_folder: str | None = None

    def __post_init__(self) -> None:
        if self.name not in ENGINES:
            raise PlanError(
                f"engine {self.name!r} is unknown; choose one of {', '.join(ENGINES)}"
                + did_you_mean(str(self.name), ENGINES)
            )
        if self.memory_limit is not None:
            size_of(self.memory_limit)

    @property
    def memory(self) -> int:
        """Bytes of memory that there are to be used: the limit, or what the machine has."""
        return machine_memory() if self.memory_limit is None else size_of(self.memory_limit)

    @property
    def limit(self) -> int:
        """Bytes that the process is to stay below."""
        return machine_memory() // 2 if self.memory_limit is None else size_of(self.memory_limit)
