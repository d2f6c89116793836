"""Time the resampling of rankstats against scipy and ranx on the same numbers, every call in a process of its own.

a. Sign flips: 10,000 patterns, 6,980 queries, 6 measures.
b. Bootstrap: 10,000 resamples, 6,980 queries, 60 columns.
c. Max-T: all 8,256 pairs of 129 systems on 50 queries, 10,000 patterns or resamples.
d. One column of a million queries, 10,000 patterns or Poisson resamples.

scipy and ranx take one column at a time and are timed on a few of them; the seconds of all columns are those times as
many. ranx is compiled before. Programs and data are loaded before the clock starts. Run it from the root of a
checkout::

    pip install -e '.[bench]'
    python tests/benchmarks/resampling.py

It prints a Markdown table: best and median seconds, peak memory beyond that of loading programs and data, and the best
time as a ratio to that of rankstats. Programs that are not installed are left out and named.
"""

from __future__ import annotations

import argparse
import importlib.util
import multiprocessing
import os
import platform
import resource
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from rankstats.stats import (
    bootstrap_intervals,
    bootstrap_max_t,
    flip_max_t,
    paired_bootstrap,
    paired_differences,
    pairwise_differences,
    sign_flip_test,
)

SECTIONS = {"a": "sign flips", "b": "bootstrap", "c": "max-T", "d": "a million queries"}
ERRORS = 4.5
"""Monte Carlo standard errors by which answers may differ."""

Call = Callable[[], dict[str, float]]


@dataclass(frozen=True)
class Sizes:
    """How much is resampled in each section."""

    resamples: int
    queries: int
    measures: int
    columns: int
    timed_columns: int
    systems: int
    topics: int
    million: int

    @property
    def pairs(self) -> int:
        return self.systems * (self.systems - 1) // 2


@dataclass(frozen=True)
class Program:
    """What is timed: `prepare` makes the input and returns the call; `columns` says how many it takes of how many."""

    section: str
    name: str
    module: str
    prepare: Callable[[Sizes], Call]
    columns: Callable[[Sizes], tuple[int, int]] = lambda _: (1, 1)
    wanted: float | None = None

    def extent(self, sizes: Sizes) -> str:
        taken, of = self.columns(sizes)
        return f"{taken} of {of} columns" if taken < of else "all"


@dataclass(frozen=True)
class Measurement:
    """Seconds for all columns, megabytes at the peak beyond those of the input, and numbers to be compared."""

    seconds: float
    megabytes: float
    answer: dict[str, float]


def values(queries: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Reciprocal ranks of a baseline and of systems that are a little better, shape (queries, columns)."""
    generator = np.random.default_rng(6980)
    ranks = generator.geometric(0.15, (queries, columns))
    moved = ranks + generator.integers(-2, 3, ranks.shape) - (generator.random(ranks.shape) < 0.04)
    moved = np.maximum(moved, 1)
    return np.where(ranks <= 10, 1 / ranks, 0.0), np.where(moved <= 10, 1 / moved, 0.0)


def flips_of_rankstats(sizes: Sizes) -> Call:
    baseline, system = values(sizes.queries, sizes.measures)

    def call() -> dict[str, float]:
        result = sign_flip_test(paired_differences(baseline, system), resamples=sizes.resamples)
        return {"p": float(result.p_value[0])}

    return call


def flips_of_scipy(sizes: Sizes) -> Call:
    baseline, system = values(sizes.queries, sizes.measures)

    def difference(a: np.ndarray, b: np.ndarray, axis: int) -> np.ndarray:
        return np.mean(b, axis=axis) - np.mean(a, axis=axis)

    def call() -> dict[str, float]:
        result = stats.permutation_test(
            (baseline[:, 0], system[:, 0]),
            difference,
            permutation_type="samples",
            vectorized=True,
            n_resamples=sizes.resamples,
            batch=200,  # faster than 50, 1,000, and all at once
        )
        return {"p": float(result.pvalue)}

    return call


def flips_of_ranx(sizes: Sizes) -> Call:
    test = importlib.import_module("ranx.statistical_tests").fisher_randomization_test
    baseline, system = (np.ascontiguousarray(part[:, 0]) for part in values(sizes.queries, sizes.measures))
    test(baseline, system, 10, 0.05)

    def call() -> dict[str, float]:
        return {"p": float(test(baseline, system, sizes.resamples, 0.05)[0])}

    return call


def bootstrap_of_rankstats(sizes: Sizes) -> Call:
    baseline, system = values(sizes.queries, sizes.columns)

    def call() -> dict[str, float]:
        result = paired_bootstrap(paired_differences(baseline, system), resamples=sizes.resamples)
        return {"error": float(result.standard_error[0])}

    return call


def percentiles_of_rankstats(sizes: Sizes) -> Call:
    baseline, system = values(sizes.queries, sizes.columns)

    def call() -> dict[str, float]:
        d = paired_differences(baseline, system)
        result = bootstrap_intervals(d, methods=["percentile"], resamples=sizes.resamples)
        low, high = result.interval("percentile")
        return {"error": float(result.standard_error[0]), "low": float(low[0]), "high": float(high[0])}

    return call


def bootstrap_of_scipy(sizes: Sizes, batch: int | None = None) -> Call:
    baseline, system = values(sizes.queries, sizes.columns)
    columns = [(system[:, j] - baseline[:, j],) for j in range(min(sizes.timed_columns, sizes.columns))]

    def call() -> dict[str, float]:
        results = [
            stats.bootstrap(
                column, np.mean, n_resamples=sizes.resamples, method="percentile", vectorized=True, batch=batch
            )
            for column in columns
        ]
        interval = results[0].confidence_interval
        return {"error": float(results[0].standard_error), "low": float(interval.low), "high": float(interval.high)}

    return call


def bootstrap_of_scipy_in_batches(sizes: Sizes) -> Call:
    return bootstrap_of_scipy(sizes, batch=100)  # faster than 20 and 1,000


def _family(sizes: Sizes) -> np.ndarray:
    generator = np.random.default_rng(129)
    return generator.beta(1.2, 2.5, (sizes.topics, 1)) * generator.beta(4, 2, (sizes.topics, sizes.systems))


def flip_max_t_of_rankstats(sizes: Sizes) -> Call:
    family = _family(sizes)

    def call() -> dict[str, float]:
        result = flip_max_t(pairwise_differences(family), resamples=sizes.resamples)
        return {"pairs": float(result.family_size)}

    return call


def bootstrap_max_t_of_rankstats(sizes: Sizes) -> Call:
    family = _family(sizes)

    def call() -> dict[str, float]:
        result = bootstrap_max_t(pairwise_differences(family), resamples=sizes.resamples)
        return {"pairs": float(result.family_size)}

    return call


def million_flips_of_rankstats(sizes: Sizes) -> Call:
    baseline, system = values(sizes.million, 1)

    def call() -> dict[str, float]:
        result = sign_flip_test(paired_differences(baseline, system), resamples=sizes.resamples)
        return {"half width": float(result.high[0] - result.low[0]) / 2}

    return call


def million_poisson_of_rankstats(sizes: Sizes) -> Call:
    baseline, system = values(sizes.million, 1)

    def call() -> dict[str, float]:
        d = paired_differences(baseline, system)
        result = paired_bootstrap(d, resamples=sizes.resamples, scheme="poisson")
        return {"half width": float(result.high[0] - result.low[0]) / 2}

    return call


def one_measure(sizes: Sizes) -> tuple[int, int]:
    return 1, sizes.measures


def some_columns(sizes: Sizes) -> tuple[int, int]:
    return min(sizes.timed_columns, sizes.columns), sizes.columns


PROGRAMS = (
    Program("a", "rankstats sign_flip_test", "rankstats", flips_of_rankstats),
    Program("a", "scipy permutation_test", "scipy", flips_of_scipy, one_measure, wanted=60),
    Program("a", "ranx fisher_randomization_test", "ranx", flips_of_ranx, one_measure, wanted=25),
    Program("b", "rankstats paired_bootstrap", "rankstats", bootstrap_of_rankstats),
    Program("b", "rankstats bootstrap_intervals, percentile", "rankstats", percentiles_of_rankstats),
    Program("b", "scipy bootstrap, percentile", "scipy", bootstrap_of_scipy, some_columns, wanted=40),
    Program("b", "the same in batches of 100", "scipy", bootstrap_of_scipy_in_batches, some_columns, wanted=40),
    Program("c", "rankstats flip_max_t", "rankstats", flip_max_t_of_rankstats),
    Program("c", "rankstats bootstrap_max_t", "rankstats", bootstrap_max_t_of_rankstats),
    Program("d", "rankstats sign_flip_test", "rankstats", million_flips_of_rankstats),
    Program("d", "rankstats paired_bootstrap, Poisson", "rankstats", million_poisson_of_rankstats),
)


def peak_megabytes() -> float:
    """Peak memory of this process so far."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def measure(number: int, sizes: Sizes) -> Measurement:
    """Run one program once; called in a fresh process."""
    program = PROGRAMS[number]
    call = program.prepare(sizes)
    before, begin = peak_megabytes(), time.perf_counter()
    answer = call()
    seconds = time.perf_counter() - begin
    taken, of = program.columns(sizes)
    return Measurement(seconds * of / taken, peak_megabytes() - before, answer)


def measure_all(chosen: list[int], sizes: Sizes, repeats: int) -> dict[int, list[Measurement]]:
    """Run the programs of a section in turn, so that a busy moment of the machine falls on all of them."""
    found: dict[int, list[Measurement]] = {number: [] for number in chosen}
    context = multiprocessing.get_context("spawn")
    for section in SECTIONS:
        for _ in range(repeats):
            for number in chosen:
                if PROGRAMS[number].section == section:
                    with context.Pool(1) as pool:
                        found[number].append(pool.apply(measure, (number, sizes)))
    return found


def table(found: dict[int, list[Measurement]], sizes: Sizes) -> str:
    rows, reference = [], {}
    for number, measurements in found.items():
        program = PROGRAMS[number]
        seconds = [measurement.seconds for measurement in measurements]
        best, megabytes = min(seconds), max(measurement.megabytes for measurement in measurements)
        ratio = best / reference.setdefault(program.section, best)
        wanted = f"≥ {program.wanted:g}" if program.wanted else ""
        rows.append(
            f"| {program.section}. {SECTIONS[program.section]} | {program.name} | {program.extent(sizes)} | {best:.2f} "
            f"| {statistics.median(seconds):.2f} | {megabytes:,.0f} | {ratio:.1f} | {wanted} |"
        )
    head = [
        "| task | program | timed | best, s | median, s | memory beyond the input, MB | ratio to rankstats | wanted |",
        "|---|---|---|---:|---:|---:|---:|---:|",
    ]
    return "\n".join([*head, *rows])


def disagreements(found: dict[int, list[Measurement]], resamples: int) -> list[str]:
    """Answers that differ by more than the Monte Carlo error of both; a race counts only between equal answers."""
    problems, reference = [], dict[tuple[str, str], float]()
    for number, measurements in found.items():
        program, answer = PROGRAMS[number], measurements[0].answer
        for key, value in answer.items():
            ours = reference.setdefault((program.section, key), value)
            if abs(value - ours) > allowed(key, answer, resamples):
                problems.append(f"{program.section}. {program.name}: {key} is {value}, rankstats says {ours}")
    return problems


def allowed(key: str, answer: dict[str, float], resamples: int) -> float:
    """How far a number may be from ours."""
    if key == "p":
        # scipy doubles a one-sided p-value, and its error with it
        return float(ERRORS * np.sqrt(3 * answer["p"] / resamples) + 2 / resamples)
    if key == "error":
        return float(ERRORS * answer["error"] / np.sqrt(resamples))
    if key in ("low", "high"):
        # a 2.5 % quantile of B values has a standard error of some 2.7 / √B of their standard deviation
        return float(ERRORS * 2.7 * answer["error"] * np.sqrt(2 / resamples))
    return 0.05 * answer[key] if key == "half width" else 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0], allow_abbrev=False)
    for name, default in {
        "resamples": 10_000,
        "queries": 6980,
        "measures": 6,
        "columns": 60,
        "timed-columns": 3,
        "systems": 129,
        "topics": 50,
        "million": 1_000_000,
    }.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", default="abcd", help="sections, for instance ac")
    options = vars(parser.parse_args())
    repeats, only = options.pop("repeats"), options.pop("only")
    sizes = Sizes(**options)
    chosen = [number for number, program in enumerate(PROGRAMS) if program.section in only]
    absent = sorted({PROGRAMS[number].module for number in chosen if not _installed(PROGRAMS[number])})
    before = os.getloadavg()[0]
    found = measure_all([number for number in chosen if _installed(PROGRAMS[number])], sizes, repeats)
    print(
        f"{sizes.resamples:,} resamples; a: {sizes.queries:,} queries, {sizes.measures} columns; b: {sizes.queries:,} "
        f"queries, {sizes.columns} columns; c: {sizes.pairs:,} pairs of {sizes.systems} systems, {sizes.topics} "
        f"queries; d: {sizes.million:,} queries; {repeats} repetitions in turn; Python {platform.python_version()}, "
        f"numpy {np.__version__}, {os.cpu_count()} cores, load {before:.1f} before and {os.getloadavg()[0]:.1f} after\n"
    )
    print(table(found, sizes))
    if absent:
        print(f"\nNot installed, left out: {', '.join(absent)}.")
    problems = disagreements(found, sizes.resamples)
    print("\n" + ("\n".join(problems) or "All programs give the same answers within their Monte Carlo error."))
    if problems:
        raise SystemExit(1)


def _installed(program: Program) -> Any:
    return importlib.util.find_spec(program.module)


if __name__ == "__main__":
    main()
