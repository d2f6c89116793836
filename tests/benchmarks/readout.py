"""Time the aggregation of ``rankstats ab`` against DuckDB alone and against tea-tasting, on one Parquet file of units.

Ten million units, five metrics (a ratio, means, a share), three segments of 2, 3 and 8 values. Every program runs in a
process of its own, in turn, with its libraries loaded before the clock starts:

* DuckDB, grouped sums: the same sums and cross-products by arm and segment, nothing else: the floor.
* the same and the check that no unit has two rows.
* rankstats, rows are units: `read_experiment`, from the file to the moments that all tests start from.
* rankstats, --unit id: the same with the check that no unit has two rows.
* rankstats, digest of the file: what of it goes into the digest that the report names.
* rankstats ab: the whole command in its process, from start to exit, with page and figures.
* tea-tasting: all units and each of the 13 segments, through Polars' lazy frames.

Run it from the root of a checkout::

    pip install -e '.[bench]'
    python tests/benchmarks/readout.py

It checks that all programs give the same difference and standard error, and prints a Markdown table: best seconds, best
processor seconds, peak memory, and processor time as a ratio to that of DuckDB.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import multiprocessing
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from rankstats.experiment import ExperimentSettings, metric_from_text, read_experiment, read_out_evidence, with_roles
from rankstats.inputs.row_tables import RowTables

METRICS = ("ctr = sum(clicks)/sum(impressions)", "revenue", "share(converted)", "sessions", "dwell")
SEGMENTS = ("length", "device", "country")
SUMS = (
    *("count(*)", "sum(clicks)", "sum(impressions)", "sum(clicks * clicks)", "sum(clicks * impressions)"),
    *("sum(impressions * impressions)", "sum(revenue)", "sum(revenue * revenue)", "sum(converted)", "sum(sessions)"),
    *("sum(sessions * sessions)", "sum(dwell)", "sum(dwell * dwell)"),
)

Answer = dict[str, float]


def write(path: Path, units: int) -> None:
    """Write the units: arm, three segments, seven numbers."""
    rng = np.random.default_rng(10)
    impressions = rng.integers(1, 40, units)
    converted = (rng.random(units) < 0.02).astype(np.int64)
    buys = rng.random(units) < 0.2
    table = {
        "id": rng.permutation(units),
        "arm": np.array(["control", "new"])[rng.integers(0, 2, units)],
        "length": np.array(["short", "long"])[rng.integers(0, 2, units)],
        "device": np.array(["desktop", "phone", "tablet"])[rng.integers(0, 3, units)],
        "country": np.array([f"c{i}" for i in range(8)])[rng.integers(0, 8, units)],
        "impressions": impressions,
        "clicks": rng.binomial(impressions, 0.2),
        "sessions": rng.poisson(3, units) + 1,
        "converted": converted,
        "revenue": np.where(buys, np.round(rng.lognormal(3, 1, units), 2), 0.0),
        "dwell": rng.gamma(2.0, 30.0, units),
    }
    pq.write_table(pa.table(table), path)


def duckdb_sums(path: Path, checks: str = "") -> Answer:
    keys = f"arm, {', '.join(SEGMENTS)}"
    engine = duckdb.connect()
    engine.execute("SET enable_progress_bar = false")
    if checks:
        engine.execute(f"SELECT count({checks}), count(DISTINCT {checks}) FROM read_parquet('{path}')").fetchall()
    rows = engine.execute(f"SELECT {keys}, {', '.join(SUMS)} FROM read_parquet('{path}') GROUP BY {keys}").fetchall()
    n, total, squares = (
        np.array([sum(float(row[4 + place]) for row in rows if row[0] == arm) for arm in ("control", "new")])
        for place in (0, 6, 7)
    )
    variance = (squares - total**2 / n) / (n - 1)
    return {"difference": float(np.diff(total / n)[0]), "error": float(np.sqrt((variance / n).sum()))}


def duckdb_sums_and_check(path: Path) -> Answer:
    return duckdb_sums(path, "id")


def rankstats_sums(path: Path, unit: str | None = None) -> Answer:
    metrics = with_roles(tuple(map(metric_from_text, METRICS)), frozenset())
    settings = ExperimentSettings(rows=((None, str(path)),), metrics=metrics, segments=SEGMENTS, unit=unit, arm="arm")
    evidence = read_experiment(settings)
    clock()
    row = next(row for row in read_out_evidence(evidence, settings).differences if row.measure == "revenue")
    return {"difference": row.difference or 0.0, "error": row.standard_error or 0.0}


def rankstats_with_unit(path: Path) -> Answer:
    return rankstats_sums(path, "id")


def rankstats_digest(path: Path) -> Answer:
    with RowTables() as tables:
        _ = tables.open(path).source  # waits for the digest
    return {}


def rankstats_command(path: Path) -> Answer:
    with tempfile.TemporaryDirectory() as folder:
        asked = [part for metric in METRICS for part in ("--metric", metric)]
        asked += ["--segment", ",".join(SEGMENTS), "--unit", "id", "--arm", "arm", "--quiet", "--out", folder]
        subprocess.run([sys.executable, "-m", "rankstats", "ab", str(path), *asked], check=True, capture_output=True)
        report = json.loads((Path(folder) / "report.json").read_text(encoding="utf-8"))
    row = next(r for r in report["differences"] if r["measure"] == "revenue" and r["segment"] is None)
    return {"difference": row["difference"], "error": row["standard_error"]}


def tea_tasting(path: Path) -> Answer:
    import polars as pl  # noqa: PLC0415  only in its own process
    import tea_tasting as tt  # noqa: PLC0415  only in its own process

    data = pl.scan_parquet(path)
    asked = {
        "ctr": tt.RatioOfMeans("clicks", "impressions"),
        "revenue": tt.Mean("revenue"),
        "converted": tt.Mean("converted"),
        "sessions": tt.Mean("sessions"),
        "dwell": tt.Mean("dwell"),
    }
    experiment = tt.Experiment(asked, variant="arm")
    whole = experiment.analyze(data, control="control")
    for segment in SEGMENTS:
        for value in data.select(pl.col(segment).unique()).collect()[segment]:
            experiment.analyze(data.filter(pl.col(segment) == value), control="control")
    found = whole["revenue"]
    half = (found.effect_size_ci_upper - found.effect_size_ci_lower) / 2
    return {"difference": float(found.effect_size), "error": float(half / 1.959964)}


PROGRAMS: dict[str, tuple[str, Callable[[Path], Answer]]] = {
    "DuckDB, grouped sums": ("duckdb", duckdb_sums),
    "DuckDB, grouped sums and the check of units": ("duckdb", duckdb_sums_and_check),
    "rankstats, rows are units": ("rankstats", rankstats_sums),
    "rankstats, --unit id": ("rankstats", rankstats_with_unit),
    "rankstats, digest of the file": ("rankstats", rankstats_digest),
    "rankstats ab, whole command": ("rankstats", rankstats_command),
    "tea-tasting, all units and 13 segments": ("tea_tasting", tea_tasting),
}
_stopped: list[tuple[float, float]] = []


def clock() -> None:
    """Stop the clock of this process: what comes after is not timed."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    _stopped.append((time.perf_counter(), sum(part.ru_utime + part.ru_stime for part in used)))


def timed(name: str, path: str, answers: multiprocessing.Queue[tuple[float, float, float, Answer]]) -> None:
    """Run a program in this process and put seconds, processor seconds, megabytes and its answer."""
    module, call = PROGRAMS[name]
    importlib.import_module(module)
    if module == "tea_tasting":
        importlib.import_module("polars")
    clock()
    answer = call(Path(path))
    clock()
    (start, before), (end, after) = _stopped[0], _stopped[1]
    whose = resource.RUSAGE_CHILDREN if "command" in name else resource.RUSAGE_SELF
    megabytes = resource.getrusage(whose).ru_maxrss / (1024 if sys.platform != "darwin" else 1 << 20)
    answers.put((end - start, after - before, megabytes, answer))


def measure(name: str, path: Path) -> tuple[float, float, float, Answer]:
    context = multiprocessing.get_context("spawn")
    answers: multiprocessing.Queue[tuple[float, float, float, Answer]] = context.Queue()
    process = context.Process(target=timed, args=(name, str(path), answers))
    process.start()
    while process.is_alive() and answers.empty():
        process.join(0.05)
    if answers.empty():
        raise SystemExit(f"{name} failed")
    found = answers.get()
    process.join()
    return found


def check(answers: dict[str, Answer]) -> None:
    """Raise if two programs do not give the same numbers: a race counts only between equal answers."""
    floor = answers["DuckDB, grouped sums"]
    for name, answer in answers.items():
        for key, value in answer.items():
            near = 1e-3 if name.startswith("tea") and key == "error" else 1e-6
            if abs(value - floor[key]) > near * abs(floor[key]):
                raise SystemExit(f"{name}: {key} is {value!r}, of DuckDB {floor[key]!r}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Time the aggregation of rankstats ab.")
    parser.add_argument("--units", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    names = [name for name, (module, _) in PROGRAMS.items() if importlib.util.find_spec(module)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "units.parquet"
        # in a process of its own: a process starts with the peak memory of the one that starts it
        maker = multiprocessing.get_context("spawn").Process(target=write, args=(path, options.units))
        maker.start()
        maker.join()
        runs = {name: [] for name in names}
        for _ in range(options.repeats):
            for name in names:
                runs[name].append(measure(name, path))
        megabytes = path.stat().st_size / 1e6
    check({name: found[0][3] for name, found in runs.items()})
    print(
        f"{options.units:,} units, {megabytes:,.0f} MB of Parquet, {len(METRICS)} metrics, {len(SEGMENTS)} segments; "
        f"{options.repeats} repetitions in turn; Python {platform.python_version()}, {os.cpu_count()} cores:\n"
    )
    print("| program | best, s | best, processor s | peak memory, MB | processor time, ratio to DuckDB |")
    print("|---|---:|---:|---:|---:|")
    floor = min(run[1] for run in runs["DuckDB, grouped sums"])
    for name, found in runs.items():
        seconds, used, memory = (min(run[part] for run in found) for part in range(3))
        print(f"| {name} | {seconds:.2f} | {used:.2f} | {memory:,.0f} | {used / floor:.2f} |")
    for name in PROGRAMS.keys() - set(names):
        print(f"\n{name}: not installed")


if __name__ == "__main__":
    main()
