"""Run the study of A/B statistics and interleaving: level, coverage, width, bias; and write its tables.

From the root of a checkout::

    python -m tests.calibration.experiments --out reports/calibration

writes `experiments.csv` and the tables of `experiments.md`. Everything is simulated: no data are needed. The numbers
depend on the seed only; ``--scale`` multiplies the numbers of repetitions, ``--scenarios`` runs some and keeps the rows
of the others.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tests.calibration.experiment_arms import (
    clustered_quantiles,
    conversions,
    covariates,
    margins,
    ratios,
    revenue,
    segments,
    several_arms,
    several_metrics,
)
from tests.calibration.experiment_looks import balanced_flaw, group_sequential, interleaving, sample_ratios, sequences
from tests.calibration.tables import END, START, shown, table

SEED = 20261201
COLUMNS = (
    *("scenario", "n", "setting", "method", "repetitions", "rejects", "se_rejects", "coverage", "se_coverage"),
    *("width", "bias", "se_bias"),
)
"""`width` is relative to that of the first method of the cell, `bias` is in standard errors of the estimate."""

SCENARIOS = {
    "revenue": revenue,
    "conversions": conversions,
    "ratios": ratios,
    "covariates": covariates,
    "quantiles": clustered_quantiles,
    "several arms": several_arms,
    "several metrics": several_metrics,
    "segments": segments,
    "margins": margins,
    "sample ratio": sample_ratios,
    "group-sequential": group_sequential,
    "sequences": sequences,
    "interleaving": interleaving,
    "balanced interleaving": balanced_flaw,
}

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Cell:
    """One simulated situation: what, how many units an arm, a setting in words, and how often."""

    scenario: str
    n: int
    setting: str
    repetitions: int

    def run(self) -> list[Row]:
        """Simulate; the seed depends on the cell alone."""
        key = f"{self.scenario}|{self.n}|{self.setting}"
        rng = np.random.default_rng([SEED, zlib.crc32(key.encode())])
        start = {"scenario": self.scenario, "n": self.n, "setting": self.setting}
        return [start | row for row in SCENARIOS[self.scenario](rng, self.n, self.setting, self.repetitions)]


PLAN: tuple[tuple[str, dict[int, int], tuple[str, ...]], ...] = (
    ("revenue", {200: 4000, 1000: 4000, 5000: 2000}, ("50/50, no effect", "90/10, no effect", "50/50, +20 %")),
    ("conversions", {500: 4000, 2000: 4000, 10_000: 4000}, ("no effect", "+30 %")),
    ("ratios", {100: 4000, 500: 4000, 2500: 1000}, ("no effect", "+10 %")),
    (
        "covariates",
        {30: 4000, 100: 4000, 1000: 4000},
        ("normal", "skewed", "slopes differ, 80/20", "unrelated"),
    ),
    ("quantiles", {100: 500, 1000: 500}, ("median", "p90")),
    ("several arms", {1000: 3000}, ("2 arms", "3 arms", "4 arms", "5 arms")),
    (
        "several metrics",
        {1000: 2000},
        ("1 metric, 2 arms", "5 metrics, 2 arms", "20 metrics, 2 arms", "5 metrics, 5 arms", "20 metrics, 5 arms"),
    ),
    ("segments", {50: 2000, 500: 2000}, ("2 segments", "5 segments")),
    ("margins", {500: 3000, 5000: 1500}, ("difference", "delta", "log", "fieller")),
    ("sample ratio", {10_000: 100_000}, ("50/50", "95/5", "3 arms")),
    ("group-sequential", {500: 4000, 5000: 2000}, ("obrien-fleming", "pocock", "power")),
    ("sequences", {1000: 2000, 10_000: 1000}, ("100 looks",)),
    ("interleaving", {20: 2000, 100: 2000}, ("one impression a user", "heavy users")),
    ("balanced interleaving", {400: 200}, ("lists shifted by one place",)),
)
"""Scenario; units of an arm and repetitions; settings."""


def cells(scale: float = 1.0) -> Iterator[Cell]:
    """Yield all cells of the study; `scale` multiplies the numbers of repetitions."""
    for scenario, sizes, settings in PLAN:
        for n, repetitions in sizes.items():
            for setting in settings:
                yield Cell(scenario, n, setting, max(2, round(scale * repetitions)))


def markdown(rows: Iterable[Row]) -> str:
    """Return one table for each scenario."""
    parts: list[str] = []
    by_scenario: dict[str, list[Row]] = {}
    for row in rows:
        by_scenario.setdefault(row["scenario"], []).append(row)
    for scenario, members in by_scenario.items():
        columns = [name for name in COLUMNS[5:] if any(row.get(name) not in (None, "") for row in members)]
        lines = [
            [
                row["setting"],
                str(row["n"]),
                row["method"],
                str(row["repetitions"]),
                *(_text(row, name) for name in columns),
            ]
            for row in members
        ]
        head = ["setting", "n", "method", "repetitions", *(name.replace("_", " ") for name in columns)]
        parts.append(f"### {scenario.capitalize()}\n\n{table(head, lines, 3)}")
    return "\n\n".join(parts) + "\n"


def _text(row: Row, name: str) -> str:
    value = row.get(name)
    if value in (None, ""):
        return ""
    return shown(value, 4 if name.startswith("se_") else 3)


def read(folder: Path) -> list[Row]:
    """Return the rows that `experiments.csv` holds, of text; none where there is no file."""
    path = folder / "experiments.csv"
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write(folder: Path, rows: list[Row]) -> None:
    """Write the rows, and replace the tables within `experiments.md`, leaving its text."""
    with (folder / "experiments.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n", restval="")
        writer.writeheader()
        for row in rows:
            writer.writerow(
                {name: f"{value:.5g}" if isinstance(value, float) else value for name, value in row.items()}
            )
    page = folder / "experiments.md"
    text = page.read_text(encoding="utf-8") if page.exists() else f"{START}\n{END}\n"
    before, _, rest = text.partition(START)
    page.write_text(f"{before}{START}\n\n{markdown(rows)}\n{END}{rest.partition(END)[2]}", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Simulate level, coverage and width of A/B and interleaving statistics."
    )
    parser.add_argument("--out", type=Path, required=True, help="folder of experiments.csv and experiments.md")
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies the numbers of repetitions")
    parser.add_argument("--scenarios", nargs="+", choices=list(SCENARIOS), default=list(SCENARIOS), help="which ones")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    # small matrix products: threads would wait for each other
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    started = time.monotonic()
    rows = [row for row in read(asked.out) if row["scenario"] not in asked.scenarios]
    for cell in (cell for cell in cells(asked.scale) if cell.scenario in asked.scenarios):
        rows += cell.run()
        print(f"{(time.monotonic() - started) / 60:.1f} min  {cell.scenario} {cell.n} {cell.setting}", flush=True)
    order = list(SCENARIOS)
    write(asked.out, sorted(rows, key=lambda row: order.index(row["scenario"])))


if __name__ == "__main__":
    main()
