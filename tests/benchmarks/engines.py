"""Time `rankstats evaluate` on runs larger than memory, each as a whole process that must stay below a limit.

a. Growth: 2 systems of 1,000 documents a query as Parquet in parts, in DuckDB within 4 GiB; 10 to 100 million rows.
b. The same from TREC text, streamed: 100 million rows are 3.5 GB.
c. The same with ranks that are given (`--ties rank`): no window over the rows.
d. Engines side by side on the smallest size: in memory, DuckDB, Polars, Ibis and Spark (local mode), where installed.

Run it from the root of a checkout::

    pip install -e '.[test,spark]' 'ibis-framework[duckdb]'
    python tests/benchmarks/engines.py                      # all of it: 20 GB of disk at most, under TMPDIR
    python tests/benchmarks/engines.py --rows 10 --only abc # 10 million rows alone

It prints a Markdown table: seconds, processor seconds, peak memory of the process, peak size of the temporary folder;
and whether all ways give the same per-query values. Spark's own process is in none of these but the seconds. Files are
removed at the end.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import platform
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

MEASURES = "AP,nDCG,nDCG@10,RR,P@10,R@100"
SYSTEMS = ("a", "b")
DEPTH = 1000
PARTS = 10
JUDGED_A_QUERY = 20

WRITE = """
import sys, duckdb
folder, queries, form = sys.argv[1], int(sys.argv[2]), sys.argv[3]
engine = duckdb.connect()
engine.execute("SET memory_limit = '2GB'; SET threads = 2; SET enable_progress_bar = false")
document = "({i} * 8841 + hash(q * 4096 + {i}) % 8841)::VARCHAR"
place = f"((p * 397 + hash(q * 7 + {{system}}) % {depth}) % {depth})"
if form == "qrels":
    engine.execute(f'''COPY (
        SELECT 1000000 + q, 0, {document.format(i="i")}, (hash(q * 4096 + i + 9) % 4)::INT
        FROM range({queries}) t(q), range({depth}) u(i) WHERE hash(q * 4096 + i + 5) % ({depth} // {judged}) = 0
    ) TO '{folder}/qrels.txt' (FORMAT csv, DELIMITER ' ', HEADER false)''')
for system in range(2) if form != "qrels" else ():
    for part in range({parts}):
        first, last = queries * part // {parts}, queries * (part + 1) // {parts}
        rows = f'''SELECT (1000000 + q)::VARCHAR query_id, {document.format(i=place.format(system=system))} doc_id,
            p + 1 rank, round(20 - 0.01 * p + (hash(q * 4096 + p) % 3) * 0.005, 3) score
            FROM range({first}, {last}) t(q), range({depth}) u(p)'''
        name = f"{folder}/{'ab'[system]}-{part}"
        if form == "parquet":
            engine.execute(f"COPY ({rows}) TO '{name}.parquet' (COMPRESSION zstd)")
        else:
            text = f"SELECT query_id, 'Q0', doc_id, rank, score, 'made' FROM ({rows})"
            engine.execute(f"COPY ({text}) TO '{name}.run' (FORMAT csv, DELIMITER ' ', HEADER false)")
"""
FRAMES = """
import sys
import pyarrow as pa, pyarrow.parquet as pq
import rankstats
kind, folder, output = sys.argv[1:4]
def frame(system):
    pattern = f"{folder}/{system}-*.parquet"
    if kind == "polars":
        import polars
        return polars.scan_parquet(pattern)
    if kind == "ibis":
        import ibis
        return ibis.read_parquet(pattern)
    from pyspark.sql import SparkSession
    builder = SparkSession.builder.master("local[*]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.memory", "3g").config("spark.sql.shuffle.partitions", "16")
    return builder.getOrCreate().read.parquet(pattern)
runs = {system: frame(system) for system in "ab"}
scores = rankstats.evaluate(f"{folder}/qrels.txt", runs, sys.argv[4].split(","))
pq.write_table(pa.Table.from_pandas(scores.to_frame(), preserve_index=False), output)
"""


@dataclass(frozen=True)
class Cost:
    """Seconds from start to end of a process, processor seconds, its peak memory and temporary files in MB."""

    seconds: float
    cpu: float
    megabytes: float
    temporary: float


class Watched(threading.Thread):
    """Looks at the size of a folder ten times a second."""

    def __init__(self, folder: Path) -> None:
        super().__init__(daemon=True)
        self.folder = folder
        self.peak = 0
        self.done = threading.Event()

    def run(self) -> None:
        while not self.done.wait(0.1):
            size = 0
            for path in self.folder.rglob("*"):
                try:
                    size += path.stat().st_size
                except OSError:  # removed in the meantime
                    continue
            self.peak = max(self.peak, size)


def measured(command: list[str], temporary: Path) -> Cost:
    temporary.mkdir(exist_ok=True)
    watched = Watched(temporary)
    watched.start()
    begin = time.perf_counter()
    environment = {**os.environ, "TMPDIR": str(temporary)}
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment) as process:
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
    watched.done.set()
    watched.join()
    if process.returncode:
        raise SystemExit(f"{command[:6]} ended with status {process.returncode}")
    left = [path for path in temporary.iterdir() if path.name.startswith("rankstats-")]
    assert not left, f"left behind: {left}"
    cpu = usage.ru_utime + usage.ru_stime
    return Cost(seconds, cpu, usage.ru_maxrss / 1024, watched.peak / 1e6)


def write(folder: Path, queries: int, form: str) -> None:
    code = WRITE.replace("{depth}", str(DEPTH)).replace("{parts}", str(PARTS)).replace("{judged}", str(JUDGED_A_QUERY))
    subprocess.run([sys.executable, "-c", code, str(folder), str(queries), form], check=True)


def remove(folder: Path, ending: str) -> None:
    for path in folder.glob(f"*.{ending}"):
        path.unlink()


def evaluate(folder: Path, ending: str, output: Path, *options: str) -> list[str]:
    runs = [f"{system}={folder}/{system}-*.{ending}" for system in SYSTEMS]
    command = [sys.executable, "-m", "rankstats", "evaluate", "--qrels", str(folder / "qrels.txt"), *runs]
    command += ["--measures", MEASURES, "--per-query", "--format", "parquet", "--output", str(output), "--quiet"]
    return [*command, *options]


def values_of(output: Path) -> dict[tuple[str, str, str], float]:
    """Read the values of queries by query, system and measure."""
    rows = pq.read_table(output).to_pydict()
    keys = zip(rows["query_id"], rows["system"], rows["measure"], strict=True)
    pairs = zip(keys, rows["value"], strict=True)
    return {key: np.nan if value is None else value for key, value in pairs if key[0] != "all"}


def farthest(one: Path, other: Path) -> float:
    """Return the largest difference of two values of one query, system and measure."""
    first, second = values_of(one), values_of(other)
    assert first.keys() == second.keys()
    difference = np.array([first[key] - second[key] for key in first if not np.isnan(first[key])])
    return float(np.max(np.abs(difference)))


def row(what: str, millions: float, cost: Cost) -> str:
    return (
        f"| {what} | {millions:g} | {cost.seconds:.1f} | {cost.cpu:.1f} | {cost.megabytes:,.0f} "
        f"| {cost.temporary:,.0f} |"
    )


def growth(sizes: list[float], costs: list[Cost]) -> str:
    """Say how far the seconds are from a straight line in the number of rows."""
    seconds = np.array([cost.seconds for cost in costs])
    slope, start = np.polyfit(sizes, seconds, 1)
    off = np.max(np.abs(seconds - (start + slope * np.array(sizes))) / seconds)
    return (
        f"Growth, {sizes[0]:g} to {sizes[-1]:g} million rows: {start:.1f} s and {slope:.3f} s a million; this straight "
        f"line is off by {off:.0%} at most. Rows × {sizes[-1] / sizes[0]:g}, seconds × {seconds[-1] / seconds[0]:.1f}."
    )


def sections(folder: Path, sizes: list[float], only: str, limit: str) -> tuple[list[str], list[str]]:
    rows: list[str] = []
    remarks: list[str] = []
    grown: list[Cost] = []
    duckdb = ("--engine", "duckdb", "--memory-limit", limit)
    temporary = folder / "temporary"
    for millions in sizes:
        queries = round(millions * 1e6 / DEPTH / len(SYSTEMS))
        write(folder, queries, "qrels")
        write(folder, queries, "parquet")
        parquet = folder / "parquet.values"
        if set("abc") & set(only):
            grown.append(measured(evaluate(folder, "parquet", parquet, *duckdb), temporary))
            rows.append(row("a. DuckDB, Parquet", millions, grown[-1]))
        if "c" in only:
            given = folder / "given.values"
            cost = measured(evaluate(folder, "parquet", given, "--ties", "rank", *duckdb), temporary)
            rows.append(row("c. DuckDB, Parquet, ranks given", millions, cost))
        if "d" in only and millions == sizes[0]:
            compared, said = side_by_side(folder, millions, duckdb, temporary)
            rows += compared
            remarks += said
        remove(folder, "parquet")
        if "b" in only and millions in (sizes[0], sizes[-1]):
            write(folder, queries, "text")
            gigabytes = sum(path.stat().st_size for path in folder.glob("*.run")) / 1e9
            text = folder / "text.values"
            rows.append(
                row(
                    f"b. DuckDB, TREC text of {gigabytes:.1f} GB",
                    millions,
                    measured(evaluate(folder, "run", text, *duckdb), temporary),
                )
            )
            remarks.append(
                f"{millions:g} million rows: text and Parquet differ by {farthest(text, parquet):g} at most."
            )
            remove(folder, "run")
    if len(grown) > 1:
        remarks.append(growth(sizes, grown))
    return rows, remarks


def side_by_side(
    folder: Path, millions: float, duckdb: tuple[str, ...], temporary: Path
) -> tuple[list[str], list[str]]:
    """Time every engine on the same Parquet files; what stands in memory reads one file a run."""
    rows, remarks = [], []
    reference = folder / "duckdb.values"
    rows.append(row("d. DuckDB", millions, measured(evaluate(folder, "parquet", reference, *duckdb), temporary)))
    for system in SYSTEMS:
        pq.write_table(pq.read_table(sorted(folder.glob(f"{system}-*.parquet"))), folder / f"{system}.whole")
    whole = evaluate(folder, "whole", folder / "local.values", "--engine", "local")
    whole = [part.replace("-*.whole", ".whole") for part in whole]
    rows.append(row("d. in memory", millions, measured(whole, temporary)))
    found = {"local": folder / "local.values"}
    for kind, module in (("polars", "polars"), ("ibis", "pyarrow_hotfix"), ("spark", "pyspark")):
        if importlib.util.find_spec(module) is None:
            remarks.append(f"Not installed, left out: {kind}.")
            continue
        found[kind] = folder / f"{kind}.values"
        command = [sys.executable, "-c", FRAMES, kind, str(folder), str(found[kind]), MEASURES]
        rows.append(row(f"d. {kind}", millions, measured(command, temporary)))
    for kind, path in found.items():
        remarks.append(f"{kind} and DuckDB differ by {farthest(path, reference):g} at most.")
    remove(folder, "whole")
    return rows, remarks


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0], allow_abbrev=False)
    parser.add_argument("--only", default="abcd", help="sections, such as ac")
    parser.add_argument("--rows", default="10,20,50,100", help="sizes in million rows, ascending")
    parser.add_argument("--memory-limit", default="4GiB")
    options = parser.parse_args()
    sizes = [float(size) for size in options.rows.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        rows, remarks = sections(Path(folder), sizes, options.only, options.memory_limit)
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, limit {options.memory_limit}.\n")
    print("| engine and form | million rows | seconds | processor, s | peak memory, MB | temporary files, MB |")
    print("|---|---:|---:|---:|---:|---:|")
    print("\n".join(rows), "", *remarks, sep="\n")


if __name__ == "__main__":
    main()
