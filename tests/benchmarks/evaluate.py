"""Time `rankstats evaluate` against other programs, each as a whole process on the same files in one go.

The files have the shape of the MS MARCO passage development set: 6,980 queries with about one relevant passage each,
two runs of 200 passages a query, ids of seven digits. Run it from the root of a checkout::

    pip install -e '.[bench]'
    python tests/benchmarks/evaluate.py

It prints a Markdown table: best and median seconds, peak memory, and the best time as a ratio to that of rankstats.
Programs that are not installed are left out and named.
"""

from __future__ import annotations

import argparse
import importlib.util
import multiprocessing
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

MEASURES = ("nDCG@10", "AP", "RR", "P@10", "R@100")
PASSAGES = 8_841_823
TOLERANCE = 1e-6

PYARROW = """
import sys
from pyarrow import csv
names = ["query_id", "q0", "doc_id", "rank", "score", "tag"]
for path in sys.argv[2:]:
    csv.read_csv(path, csv.ReadOptions(column_names=names), csv.ParseOptions(delimiter=" "))
"""
PYTREC_EVAL = """
import sys
import pytrec_eval
with open(sys.argv[1]) as file:
    qrels = pytrec_eval.parse_qrel(file)
names = {"ndcg_cut_10": "nDCG@10", "map": "AP", "recip_rank": "RR", "P_10": "P@10", "recall_100": "R@100"}
evaluator = pytrec_eval.RelevanceEvaluator(qrels, set(names))
for path in sys.argv[2:]:
    with open(path) as file:
        values = evaluator.evaluate(pytrec_eval.parse_run(file))
    for theirs, ours in names.items():
        print(path, ours, sum(row[theirs] for row in values.values()) / len(qrels), sep="\\t")
"""
IR_MEASURES = """
import sys
import ir_measures
qrels = list(ir_measures.read_trec_qrels(sys.argv[1]))
measures = [ir_measures.parse_measure(name) for name in ("nDCG@10", "AP", "RR", "P@10", "R@100")]
evaluator = ir_measures.evaluator(measures, qrels)
for path in sys.argv[2:]:
    for measure, value in evaluator.calc_aggregate(ir_measures.read_trec_run(path)).items():
        print(path, measure, value, sep="\\t")
"""
RANX = """
import sys
from ranx import Qrels, Run, evaluate
qrels = Qrels.from_file(sys.argv[1], kind="trec")
names = {"ndcg@10": "nDCG@10", "map": "AP", "mrr": "RR", "precision@10": "P@10", "recall@100": "R@100"}
for path in sys.argv[2:]:
    values = evaluate(qrels, Run.from_file(path, kind="trec"), list(names), make_comparable=True)
    for theirs, ours in names.items():
        print(path, ours, values[theirs], sep="\\t")
"""


@dataclass(frozen=True)
class Program:
    """A program to be timed; `module` must be importable, `code` is run with the judgments and the runs."""

    name: str
    module: str
    code: str | None

    def command(self, qrels: Path, runs: list[Path]) -> list[str]:
        if self.code is not None:
            return [sys.executable, "-c", self.code, str(qrels), *map(str, runs)]
        options = ["--conventions", "trec_eval", "--measures", ",".join(MEASURES), "--format", "tsv"]
        return [sys.executable, "-m", "rankstats", "evaluate", "--qrels", str(qrels), *map(str, runs), *options]


PROGRAMS = (
    Program("rankstats evaluate", "rankstats", None),
    Program("pyarrow, reading alone", "pyarrow", PYARROW),
    Program("pytrec_eval-terrier", "pytrec_eval", PYTREC_EVAL),
    Program("ir_measures", "ir_measures", IR_MEASURES),
    Program("ranx", "ranx", RANX),
)


@dataclass(frozen=True)
class Timing:
    """Seconds of every repetition, peak memory in megabytes, and what was printed."""

    seconds: list[float]
    megabytes: float
    output: str


def write_collection(folder: Path, queries: int, depth: int, runs: int) -> tuple[Path, list[Path]]:
    """Write judgments and runs; a relevant passage tends to stand high."""
    generator = np.random.default_rng(6980)
    ids = np.sort(generator.choice(1_200_000, size=queries, replace=False))
    relevant = [generator.choice(PASSAGES, size=1 + (generator.random() < 0.07), replace=False) for _ in range(queries)]
    qrels = folder / "qrels.txt"
    rows = [f"{query} 0 {passage} 1\n" for query, found in zip(ids, relevant, strict=True) for passage in found]
    qrels.write_text("".join(rows), encoding="utf-8")
    paths = [folder / f"{'abcdefgh'[number]}.run" for number in range(runs)]
    for number, path in enumerate(paths):
        with path.open("w", encoding="utf-8") as file:
            for query, found in zip(ids, relevant, strict=True):
                file.write(ranking(generator, query, found, depth, f"system{number}"))
    return qrels, paths


def ranking(generator: np.random.Generator, query: int, relevant: np.ndarray, depth: int, tag: str) -> str:
    """One query's lines: distinct passages, falling scores, the relevant one at a geometric rank."""
    passages = generator.choice(PASSAGES // depth, size=depth) * depth + np.arange(depth)
    place = int(generator.geometric(0.06))
    if place <= depth and relevant[0] not in passages:
        passages[place - 1] = relevant[0]
    scores = 20 - np.cumsum(generator.integers(1, 2000, size=depth)) / 12_345
    pairs = zip(passages.tolist(), scores.tolist(), strict=True)
    return "".join(f"{query} Q0 {doc} {rank} {score:.6f} {tag}\n" for rank, (doc, score) in enumerate(pairs, start=1))


def run_once(command: list[str]) -> tuple[float, float, str]:
    """Seconds from start to end of a process, its peak memory in megabytes, and its output."""
    with tempfile.TemporaryFile("w+") as output:
        begin = time.perf_counter()
        with subprocess.Popen(command, stdout=output) as process:
            _, status, usage = os.wait4(process.pid, 0)
            seconds = time.perf_counter() - begin
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"{command[:4]} ended with status {process.returncode}")
        output.seek(0)
        return seconds, usage.ru_maxrss / 1024, output.read()


def time_all(programs: list[Program], qrels: Path, runs: list[Path], repeats: int) -> dict[str, Timing]:
    """Run the programs in turn, so that a busy moment of the machine falls on all of them."""
    found: dict[str, list[tuple[float, float, str]]] = {program.name: [] for program in programs}
    for _ in range(repeats):
        for program in programs:
            found[program.name].append(run_once(program.command(qrels, runs)))
    return {
        name: Timing([seconds for seconds, *_ in rows], max(memory for _, memory, _ in rows), rows[-1][2])
        for name, rows in found.items()
    }


def means(output: str) -> dict[tuple[str, str], float]:
    """Read (run, measure) → mean from 'run, measure, value' or 'all, run, measure, value' lines."""
    values = {}
    for line in output.splitlines():
        *_, run, measure, value = line.split("\t")
        if measure in MEASURES:
            values[Path(run).stem, measure] = float(value)
    return values


def disagreements(timings: dict[str, Timing]) -> list[str]:
    """Means of other programs that differ from those of rankstats; a race counts only between equal answers."""
    ours = means(timings[PROGRAMS[0].name].output)
    problems = []
    for name, timing in timings.items():
        for key, value in means(timing.output).items():
            if abs(value - ours[key]) > TOLERANCE:
                problems.append(f"{name}: {key[1]} of {key[0]} is {value}, rankstats says {ours[key]}")
    return problems


def table(timings: dict[str, Timing]) -> str:
    best = {name: min(timing.seconds) for name, timing in timings.items()}
    reference = best[PROGRAMS[0].name]
    rows = [
        f"| {name} | {best[name]:.2f} | {statistics.median(timing.seconds):.2f} | {timing.megabytes:,.0f} "
        f"| {best[name] / reference:.2f} |"
        for name, timing in timings.items()
    ]
    head = ["| program | best, s | median, s | peak memory, MB | ratio to rankstats |", "|---|---:|---:|---:|---:|"]
    return "\n".join([*head, *rows])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0], allow_abbrev=False)
    parser.add_argument("--queries", type=int, default=6980)
    parser.add_argument("--depth", type=int, default=200)
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    programs = [program for program in PROGRAMS if importlib.util.find_spec(program.module)]
    absent = [program.name for program in PROGRAMS if program not in programs]
    with tempfile.TemporaryDirectory() as folder:
        # In a process of its own: the peak memory of a child process begins with that of its parent.
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            shape = (Path(folder), options.queries, options.depth, options.runs)
            qrels, runs = pool.apply(write_collection, shape)
        size = sum(path.stat().st_size for path in runs) / 1e6
        timings = time_all(programs, qrels, runs, options.repeats)
    lines = options.queries * options.depth * options.runs
    print(
        f"{options.runs} runs, {lines:,} lines, {size:.0f} MB, {options.queries:,} judged queries; "
        f"{options.repeats} repetitions in turn; Python {platform.python_version()}, {os.cpu_count()} cores\n"
    )
    print(table(timings))
    if absent:
        print(f"\nNot installed, left out: {', '.join(absent)}.")
    problems = disagreements(timings)
    print("\n" + ("\n".join(problems) or f"All programs give the same means within {TOLERANCE:g}."))
    if problems:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
