"""Run the study of level, coverage, width and power, and write its tables.

From the root of a checkout that has the shared collections beside it::

    python -m tests.calibration.study --out reports/calibration

Cells that the tables hold already are not run again; ``--fresh`` runs all of them. The numbers depend on the seed only,
not on the order of the cells or on ``--jobs``.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import time
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tests.calibration.draws import MATRICES, WAYS
from tests.calibration.family import family_rows
from tests.calibration.pairs import pair_rows
from tests.calibration.single import interval_rows, rejection_rows
from tests.calibration.tables import COLUMNS, read_rows, write_readme, write_rows

SEED = 20261130
QUERIES = (10, 25, 50, 100)
NULLS = WAYS[:2]
SPARSE_MEASURES = ("P@10", "RR")
"""Many of their differences are 0, which is enumerated and slow at n = 25."""

Row = dict[str, Any]
_ROWS_OF: dict[str, Callable[..., list[Row]]] = {
    "tests": rejection_rows,
    "intervals": interval_rows,
    "families": family_rows,
    "all_pairs": pair_rows,
}


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of one table: where the values come from, how they are drawn, and how often."""

    table: str
    measure: str
    way: str
    n: int
    repetitions: int
    size: int = 0
    """Comparisons of a family, or systems of which all pairs are compared; 0 for a single comparison."""

    @property
    def key(self) -> tuple[str, ...]:
        """What its rows in the table start with."""
        of_size = (str(self.size),) if self.size else ()
        return (self.measure, self.way, str(self.n), *of_size)

    def run(self) -> list[Row]:
        """Simulate; the seed depends on the cell alone."""
        seed = np.random.SeedSequence([SEED, zlib.crc32("|".join((self.table, *self.key)).encode())])
        size = (self.size,) if self.size else ()
        rows = _ROWS_OF[self.table](
            self.measure, self.way, self.n, *size, self.repetitions, np.random.default_rng(seed)
        )
        start = dict(zip(COLUMNS[self.table], self.key, strict=False))
        return [start | row for row in rows]


def cells(scale: float = 1.0) -> Iterator[Cell]:
    """Yield all cells of the study; `scale` shrinks the numbers of repetitions."""

    def times(repetitions: int) -> int:
        return max(2, round(scale * repetitions))

    for n in QUERIES:
        for measure in MATRICES:
            for way in NULLS:
                yield Cell("tests", measure, way, n, times(4000))
            yield Cell("intervals", measure, "as drawn", n, times(2000))
            yield Cell("intervals", measure, "swapped", n, times(2000))
    for size in (20, 5):
        for n in (25, 50, 10, 100):
            for measure in MATRICES:
                slow = n == 25 and measure in SPARSE_MEASURES
                for way in WAYS:
                    fewer = 1000 if slow and way != "centred" else 2000
                    yield Cell("families", measure, way, n, times(fewer), size)
    for measure, n in (("AP", 25), ("AP", 50)):
        for way in NULLS:
            yield Cell("families", measure, way, n, times(1000), 128)
    for measure, n in (("AP", 25), ("AP", 50), ("RR", 50), ("nDCG@20", 50), ("AP", 100)):
        for way in WAYS:
            yield Cell("all_pairs", measure, way, n, times(2000), 8)


def main() -> None:
    parser = argparse.ArgumentParser(description="Simulate level, coverage, width and power of tests and corrections.")
    parser.add_argument("--out", type=Path, required=True, help="folder of the tables and of README.md")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies the numbers of repetitions")
    parser.add_argument("--tables", nargs="+", choices=list(COLUMNS), default=list(COLUMNS), help="which tables")
    parser.add_argument("--fresh", action="store_true", help="run cells again that the tables hold already")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    tables = {table: [] if asked.fresh else read_rows(asked.out / f"{table}.csv") for table in COLUMNS}
    order = [cell for cell in cells(asked.scale) if cell.table in asked.tables]
    known = {table: {_key_of(table, row) for row in rows} for table, rows in tables.items()}
    missing = [cell for cell in order if cell.key not in known[cell.table]]
    # small matrix products: threads would wait for each other
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    started = time.monotonic()
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(asked.jobs, mp_context=context) as pool:
        running = {pool.submit(cell.run): cell for cell in missing}
        for done, future in enumerate(as_completed(running), 1):
            cell = running[future]
            tables[cell.table] += future.result()
            write_rows(asked.out / f"{cell.table}.csv", cell.table, _sorted(tables[cell.table], cell.table, order))
            minutes = (time.monotonic() - started) / 60
            print(f"{done}/{len(missing)} {minutes:.1f} min  {cell.table} {' '.join(cell.key)}", flush=True)
    write_readme(asked.out)


def _key_of(table: str, row: Row) -> tuple[str, ...]:
    length = 4 if "size" in COLUMNS[table] else 3
    return tuple(str(row[name]) for name in COLUMNS[table][:length])


def _sorted(rows: list[Row], table: str, order: list[Cell]) -> list[Row]:
    """Put the cells in the order of the study; rows of cells that are no part of it come first."""
    place = {cell.key: i for i, cell in enumerate(order) if cell.table == table}
    return sorted(rows, key=lambda row: place.get(_key_of(table, row), -1))


if __name__ == "__main__":
    main()
