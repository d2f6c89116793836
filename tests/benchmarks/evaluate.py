"""Time `rankstats evaluate` against other programs, each as a whole process on the same files in one go.

a. 2 runs of 200 documents for each of 6,980 queries, in the shape of the MS MARCO passage development set: about one
   relevant passage a query, ids of seven digits.
b. The same with 1,000 documents a query.
c. 8 runs of 1,000 documents for each of 250 queries, 300 documents a query judged from 0 to 3.
d. Growth: one run of 6,980 queries with 200, 500, 1,000 and 2,000 documents each, 1.4 to 14 million lines.
e. `rankstats compare` on TREC-COVID (8 runs, 4 measures, 10,000 resamples, 2 segmentations, HTML) against a process
   that only imports what it is made of; needs the shared collections beside the checkout.

Run it from the root of a checkout::

    pip install -e '.[bench]'
    python tests/benchmarks/evaluate.py

It prints a Markdown table: best and median seconds, processor seconds (all cores together), peak memory, and each as a
ratio to that of rankstats. Programs that are not installed are left out and named. Every program runs once untimed, so
that its bytecode is compiled and the files are in memory. Files are written to the temporary folder (TMPDIR), up to
600 MB at a time.
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
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

MEASURES = ("AP", "nDCG", "nDCG@10", "RR", "P@10", "R@100")
PASSAGES = 8_841_823
TOLERANCE = 1e-6
COVID = Path(__file__).resolve().parents[3] / "shared/data/ir/trec-covid-r5"

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
names = {"map": "AP", "ndcg": "nDCG", "ndcg_cut_10": "nDCG@10"}
names |= {"recip_rank": "RR", "P_10": "P@10", "recall_100": "R@100"}
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
measures = [ir_measures.parse_measure(name) for name in ("AP", "nDCG", "nDCG@10", "RR", "P@10", "R@100")]
evaluator = ir_measures.evaluator(measures, qrels)
for path in sys.argv[2:]:
    for measure, value in evaluator.calc_aggregate(ir_measures.read_trec_run(path)).items():
        print(path, measure, value, sep="\\t")
"""
RANX = """
import sys
from ranx import Qrels, Run, evaluate
qrels = Qrels.from_file(sys.argv[1], kind="trec")
names = {"ndcg": "nDCG", "ndcg@10": "nDCG@10", "map": "AP", "mrr": "RR", "precision@10": "P@10", "recall@100": "R@100"}
for path in sys.argv[2:]:
    values = evaluate(qrels, Run.from_file(path, kind="trec"), list(names), make_comparable=True)
    for theirs, ours in names.items():
        print(path, ours, values[theirs], sep="\\t")
"""


ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""What all programs run in: with compiled bytecode kept, as an installed program has it."""
IMPORTS = "import pandas, scipy.stats, matplotlib.figure, jinja2, pyarrow.csv"


@dataclass(frozen=True)
class Shape:
    """How large a collection is; with `judged` documents a query graded 0 to 3, or None for about one relevant."""

    runs: int
    queries: int
    depth: int
    judged: int | None = None

    @property
    def lines(self) -> int:
        return self.runs * self.queries * self.depth

    def __str__(self) -> str:
        return f"{self.runs} × {self.queries:,} × {self.depth:,}"


SECTIONS = {
    "a": (Shape(2, 6980, 200),),
    "b": (Shape(2, 6980, 1000),),
    "c": (Shape(8, 250, 1000, judged=300),),
    "d": tuple(Shape(1, 6980, depth) for depth in (200, 500, 1000, 2000)),
}


@dataclass(frozen=True)
class Program:
    """A program to be timed; `module` must be importable, `code` is run with the judgments and the runs."""

    name: str
    module: str
    code: str | None

    def command(self, qrels: Path, runs: list[Path]) -> list[str]:
        if self.code is not None:
            return [sys.executable, "-c", self.code, str(qrels), *map(str, runs)]
        options = ["--conventions", "trec_eval", "--measures", ",".join(MEASURES), "--format", "tsv", "--quiet"]
        return [sys.executable, "-m", "rankstats", "evaluate", "--qrels", str(qrels), *map(str, runs), *options]


PROGRAMS = (
    Program("rankstats evaluate", "rankstats", None),
    Program("pyarrow, reading alone", "pyarrow", PYARROW),
    Program("pytrec_eval-terrier", "pytrec_eval", PYTREC_EVAL),
    Program("ir_measures", "ir_measures", IR_MEASURES),
    Program("ranx", "ranx", RANX),
)


@dataclass(frozen=True)
class Once:
    """Seconds from start to end of a process, processor seconds, peak memory in megabytes, and its output."""

    seconds: float
    cpu: float
    megabytes: float
    output: str


@dataclass(frozen=True)
class Timing:
    """The best of several repetitions, and the median of the seconds."""

    best: float
    median: float
    cpu: float
    megabytes: float
    output: str

    @classmethod
    def of(cls, rows: list[Once]) -> Timing:
        seconds = [row.seconds for row in rows]
        cpu, megabytes = min(row.cpu for row in rows), max(row.megabytes for row in rows)
        return cls(min(seconds), statistics.median(seconds), cpu, megabytes, rows[-1].output)


def write_collection(folder: Path, shape: Shape) -> tuple[Path, list[Path]]:
    """Write judgments and runs; a relevant passage tends to stand high."""
    generator = np.random.default_rng(6980)
    ids = np.sort(generator.choice(1_200_000, size=shape.queries, replace=False)).tolist()
    qrels = folder / "qrels.txt"
    judged = [judgments(generator, shape) for _ in ids]
    rows = [
        f"{query} 0 {passage} {grade}\n"
        for query, (found, grades) in zip(ids, judged, strict=True)
        for passage, grade in zip(found.tolist(), grades.tolist(), strict=True)
    ]
    qrels.write_text("".join(rows), encoding="utf-8")
    paths = [folder / f"{'abcdefgh'[number]}.run" for number in range(shape.runs)]
    for number, path in enumerate(paths):
        with path.open("w", encoding="utf-8") as file:
            for query, (found, _) in zip(ids, judged, strict=True):
                file.write(ranking(generator, query, found, shape.depth, f"system{number}"))
    return qrels, paths


def judgments(generator: np.random.Generator, shape: Shape) -> tuple[np.ndarray, np.ndarray]:
    """Return the judged passages of a query and their grades."""
    n = shape.judged or 1 + int(generator.random() < 0.07)
    grades = np.ones(n, int) if shape.judged is None else generator.choice(4, size=n, p=[0.6, 0.2, 0.15, 0.05])
    return generator.choice(PASSAGES, size=n, replace=False), grades


def ranking(generator: np.random.Generator, query: int, judged: np.ndarray, depth: int, tag: str) -> str:
    """One query's lines: distinct passages, falling scores, judged ones at geometric distances."""
    passages = generator.choice(PASSAGES // depth, size=depth) * depth + np.arange(depth)
    judged = judged[~np.isin(judged, passages)]
    places = np.cumsum(generator.geometric(0.06, size=len(judged))) - 1
    inside = places < depth
    passages[places[inside]] = generator.permutation(judged)[: np.count_nonzero(inside)]
    scores = 20 - np.cumsum(generator.integers(1, 2000, size=depth)) / 12_345
    pairs = zip(passages.tolist(), scores.tolist(), strict=True)
    return "".join(f"{query} Q0 {doc} {rank} {score:.6f} {tag}\n" for rank, (doc, score) in enumerate(pairs, start=1))


def run_once(command: list[str]) -> Once:
    with tempfile.TemporaryFile("w+") as output:
        begin = time.perf_counter()
        with subprocess.Popen(command, stdout=output, env=ENVIRONMENT) as process:
            _, status, usage = os.wait4(process.pid, 0)
            seconds = time.perf_counter() - begin
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"{command[:4]} ended with status {process.returncode}")
        output.seek(0)
        return Once(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, output.read())


def time_all(commands: dict[str, list[str]], repeats: int) -> dict[str, Timing]:
    """Run the programs in turn, so that a busy moment of the machine falls on all of them; once untimed before."""
    for command in commands.values():
        run_once(command)
    found: dict[str, list[Once]] = {name: [] for name in commands}
    for _ in range(repeats):
        for name, command in commands.items():
            found[name].append(run_once(command))
    return {name: Timing.of(rows) for name, rows in found.items()}


def time_shape(shape: Shape, programs: list[Program], repeats: int) -> dict[str, Timing]:
    with tempfile.TemporaryDirectory() as folder:
        # In a process of its own: the peak memory of a child process begins with that of its parent.
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            qrels, runs = pool.apply(write_collection, (Path(folder), shape))
        return time_all({program.name: program.command(qrels, runs) for program in programs}, repeats)


def time_compare(repeats: int) -> dict[str, Timing]:
    with tempfile.TemporaryDirectory() as folder:
        runs = sorted(map(str, (COVID / "runs").glob("*.run.gz")))
        options = ["--queries", str(COVID / "topics_text.tsv"), "--measures", "nDCG@10,AP,RR,P@10", "--quiet"]
        options += ["--segment", "length,relevant", "--resamples", "10000", "--out", str(Path(folder) / "out")]
        command = [sys.executable, "-m", "rankstats", "compare", "--qrels", str(COVID / "qrels.txt.gz"), *runs]
        return time_all(
            {"rankstats compare": [*command, *options], "its imports alone": [sys.executable, "-c", IMPORTS]}, repeats
        )


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


def table_rows(what: str, timings: dict[str, Timing]) -> Iterator[str]:
    """Rows of the table; ratios are to the first program."""
    first = next(iter(timings.values()))
    for name, timing in timings.items():
        ratios = (timing.best / first.best, timing.cpu / first.cpu, timing.megabytes / first.megabytes)
        yield (
            f"| {what} | {name} | {timing.best:.2f} | {timing.median:.2f} | {timing.cpu:.2f} | {timing.megabytes:,.0f} "
            f"| {' | '.join(f'{ratio:.2f}' for ratio in ratios)} |"
        )


def growth(shapes: tuple[Shape, ...], timings: list[Timing]) -> str:
    """Say how far the seconds are from a straight line in the number of lines."""
    millions = np.array([shape.lines / 1e6 for shape in shapes])
    seconds = np.array([timing.best for timing in timings])
    slope, start = np.polyfit(millions, seconds, 1)
    off = np.max(np.abs(seconds - (start + slope * millions)) / seconds)
    return (
        f"Growth, {millions[0]:.1f} to {millions[-1]:.1f} million lines: {start:.2f} s and {slope:.3f} s a million; "
        f"this straight line is off by {off:.0%} at most. Lines × {millions[-1] / millions[0]:.0f}, "
        f"seconds × {seconds[-1] / seconds[0]:.1f}."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0], allow_abbrev=False)
    parser.add_argument("--only", default="abcde", help="sections, such as ac")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the queries")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    programs = [program for program in PROGRAMS if importlib.util.find_spec(program.module)]
    rows, remarks, problems = [], [], []
    for section, full in SECTIONS.items():
        if section not in options.only:
            continue
        shapes = tuple(replace(shape, queries=round(shape.queries * options.scale)) for shape in full)
        of_rankstats = []
        for shape in shapes:
            timings = time_shape(shape, programs[:1] if section == "d" else programs, options.repeats)
            rows += table_rows(f"{section}. {shape}", timings)
            problems += disagreements(timings)
            of_rankstats.append(timings[PROGRAMS[0].name])
        if section == "d":
            remarks.append(growth(shapes, of_rankstats))
    if "e" in options.only and COVID.exists():
        rows += table_rows("e. compare", time_compare(options.repeats))
    elif "e" in options.only:
        remarks.append(f"Left out: compare, for want of {COVID.name}.")
    print(f"{options.repeats} repetitions in turn; Python {platform.python_version()}, {os.cpu_count()} cores.\n")
    print("| runs × queries × documents | program | best, s | median, s | processor, s | peak memory, MB ", end="")
    print("| seconds / ours | processor / ours | memory / ours |\n|---|---|---:|---:|---:|---:|---:|---:|---:|")
    print("\n".join(rows))
    absent = [program.name for program in PROGRAMS if program not in programs]
    remarks += [f"Not installed, left out: {', '.join(absent)}."] if absent else []
    remarks.append("\n".join(problems) or f"All programs give the same means within {TOLERANCE:g}.")
    print("", *remarks, sep="\n")
    if problems:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
