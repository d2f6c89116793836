"""The tables of the study: as comma-separated files, and as Markdown within the README."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

COLUMNS = {
    "tests": ("measure", "way", "n", "test", "alpha", "repetitions", "rate", "se"),
    "intervals": (
        *("measure", "way", "n", "interval", "parameter", "alpha", "repetitions", "coverage", "se"),
        *("mean_width", "ratio_to_t", "unbounded", "none"),
    ),
    "families": (
        *("measure", "way", "n", "size", "correction", "repetitions", "rate_05", "se_05", "rate_01", "se_01"),
        *("joint_coverage", "se_coverage", "mean_width", "unbounded", "power"),
    ),
    "all_pairs": (
        *("measure", "way", "n", "size", "correction", "repetitions", "rate_05", "se_05", "rate_01", "se_01"),
        *("joint_coverage", "se_coverage", "mean_width", "unbounded", "power"),
        *("rank_coverage", "se_rank", "rank_width"),
    ),
}
"""Columns of each table; those up to `n` or `size` name the cell."""

START, END = "<!-- tables: start -->", "<!-- tables: end -->"
"""Between these lines the README holds what the study writes."""

STATED = {
    # family of 20, α = .05, centred: n → correction → rates for AP, P@10, RR, nDCG@20
    25: {
        "flip max-T": (0.113, 0.065, 0.077, 0.089),
        "Bonferroni, t": (0.068, 0.047, 0.057, 0.051),
        "bootstrap max-T": (0.038, 0.028, 0.027, 0.037),
    },
    50: {
        "flip max-T": (0.102, 0.074, 0.055, 0.099),
        "Bonferroni, t": (0.068, 0.051, 0.042, 0.074),
        "bootstrap max-T": (0.053, 0.057, 0.045, 0.064),
    },
}
STATED_MEASURES = ("AP", "P@10", "RR", "nDCG@20")
STATED_COVERAGE: dict[int, dict[str, tuple[float, ...]]] = {
    # nominal .95: n → interval → coverage
    10: {
        "inverted flips": (0.935,),
        "t": (0.939, 0.936),
        "percentile": (0.879, 0.878),
        "bca": (0.871,),
        "studentised": (0.928,),
    },
    25: {"inverted flips": (0.935,), "t": (0.938,)},
    50: {"inverted flips": (0.942,), "t": (0.943,)},
    100: {"inverted flips": (0.951,)},
}
"""The figures that the study is compared with."""

Row = dict[str, Any]


def read_rows(path: Path) -> list[Row]:
    """Return the rows of a table, of text; none where there is no file."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write_rows(path: Path, table: str, rows: Iterable[Row]) -> None:
    """Write a table at once, so that an interrupted study leaves whole cells."""
    partial = path.with_suffix(".partial")
    with partial.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS[table], lineterminator="\n", restval="")
        writer.writeheader()
        writer.writerows({name: _number(value) for name, value in row.items()} for row in rows)
    partial.replace(path)


def _number(value: Any) -> Any:
    if value is None:
        return ""
    return f"{value:.5g}" if isinstance(value, float) else value


def write_readme(folder: Path) -> None:
    """Replace the tables in the README and leave its text."""
    readme = folder / "README.md"
    text = readme.read_text(encoding="utf-8") if readme.exists() else f"{START}\n{END}\n"
    before, _, rest = text.partition(START)
    after = rest.partition(END)[2]
    readme.write_text(f"{before}{START}\n\n{markdown(folder)}\n{END}{after}", encoding="utf-8")


def markdown(folder: Path) -> str:
    """Return all tables of a folder as Markdown."""
    tests, intervals, families, all_pairs = (read_rows(folder / f"{table}.csv") for table in COLUMNS)
    parts = [
        "### One comparison: rejection rates of the tests under the two null hypotheses",
        _pivot(tests, ("way", "n", "measure"), ("alpha", "test"), "rate"),
        "### Coverage of the intervals, queries drawn as they are, nominal .95",
        _pivot(_at(intervals, way="as drawn", alpha="0.05"), ("n", "measure"), ("interval",), "coverage"),
        "### The same, nominal .99",
        _pivot(_at(intervals, way="as drawn", alpha="0.01"), ("n", "measure"), ("interval",), "coverage"),
        "### Mean width over that of t, nominal .95",
        _pivot(_at(intervals, way="as drawn", alpha="0.05"), ("n", "measure"), ("interval",), "ratio_to_t", 2),
        "### Coverage of the intervals under swapping, nominal .95",
        _pivot(_at(intervals, way="swapped", alpha="0.05"), ("n", "measure"), ("interval",), "coverage"),
        "### Coverage here and as stated before, nominal .95, mean over the five measures",
        _stated_coverage(_at(intervals, way="as drawn", alpha="0.05")),
        "### Families: share of families with a false rejection, α = .05",
        _pivot(_null(families), ("way", "size", "n", "measure"), ("correction",), "rate_05"),
        "### Families: the same, α = .01",
        _pivot(_null(families), ("way", "size", "n", "measure"), ("correction",), "rate_01"),
        "### Families of 20, centred, α = .05: here and as stated before",
        _stated_families(_at(families, way="centred", size="20")),
        "### Families, queries drawn as they are: joint coverage, nominal .95",
        _pivot(_at(families, way="as drawn"), ("size", "n", "measure"), ("correction",), "joint_coverage"),
        "### Families: mean width of the simultaneous intervals over that of Bonferroni on flips",
        _pivot(_relative(_at(families, way="as drawn")), ("size", "n", "measure"), ("correction",), "ratio", 2),
        "### Families: share of the comparisons that are found, in the right direction, α = .05",
        _pivot(_at(families, way="as drawn"), ("size", "n", "measure"), ("correction",), "power"),
        "### All pairs of 8 systems: share of families with a false rejection, α = .05",
        _pivot(_null(all_pairs), ("way", "n", "measure"), ("correction",), "rate_05"),
        "### All pairs of 8 systems, queries drawn as they are: joint coverage of the intervals, nominal .95",
        _pivot(_at(all_pairs, way="as drawn"), ("n", "measure"), ("correction",), "joint_coverage"),
        "### All pairs of 8 systems: joint coverage of the rank intervals, nominal .95",
        _pivot(_at(all_pairs, way="as drawn"), ("n", "measure"), ("correction",), "rank_coverage"),
        "### All pairs of 8 systems: mean number of ranks in a rank interval",
        _pivot(_at(all_pairs, way="as drawn"), ("n", "measure"), ("correction",), "rank_width", 2),
        "### All pairs of 8 systems: share of the pairs that are found, in the right direction, α = .05",
        _pivot(_at(all_pairs, way="as drawn"), ("n", "measure"), ("correction",), "power"),
    ]
    return "\n\n".join(parts) + "\n"


def _at(rows: list[Row], **wanted: str) -> list[Row]:
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]


def _null(rows: list[Row]) -> list[Row]:
    return [row for row in rows if row["way"] != "as drawn"]


def _distinct(rows: list[Row], names: Sequence[str]) -> list[tuple[str, ...]]:
    return list(dict.fromkeys(tuple(row[name] for name in names) for row in rows))


def _pivot(rows: list[Row], down: Sequence[str], across: Sequence[str], value: str, digits: int = 3) -> str:
    """Return one line for each combination of `down`, one column for each combination of `across`."""
    rows = [row for row in rows if row[value] != ""]
    found = {
        (tuple(row[name] for name in down), tuple(row[name] for name in across)): shown(row[value], digits)
        for row in rows
    }
    sides = sorted(_distinct(rows, down), key=lambda side: [_sortable(part) for part in side])
    heads = sorted(_distinct(rows, across), key=lambda head: -float(head[0]) if len(head) > 1 else 0)
    titles = [f"{head[1]} at {shown(head[0], 2)}" if len(head) > 1 else head[0] for head in heads]
    lines = [[*side, *(found.get((side, head), "") for head in heads)] for side in sides]
    return table([*down, *titles], lines, len(down))


def _sortable(text: str) -> tuple[int, int]:
    return (0, int(text)) if text.isdigit() else (1, 0)


def shown(value: str | float, digits: int = 3) -> str:
    """Return a rate without its leading zero."""
    text = f"{float(value):.{digits}f}"
    return text[1:] if text.startswith("0.") else text


def table(head: Sequence[str], lines: Sequence[Sequence[str]], texts: int) -> str:
    """Return a Markdown table of which the first `texts` columns are text and the others numbers."""
    rule = ["---"] * texts + ["---:"] * (len(head) - texts)
    return "\n".join("| " + " | ".join(line) + " |" for line in (head, rule, *lines))


def _relative(rows: list[Row]) -> list[Row]:
    """Add the width over that of Bonferroni's correction of the flips in the same cell."""

    def cell(row: Row) -> tuple[str, ...]:
        return (row["measure"], row["n"], row["size"])

    widths = {cell(row): row["mean_width"] for row in rows if row["correction"] == "Bonferroni, flips"}
    known = [row for row in rows if row["mean_width"] and widths.get(cell(row)) and float(row["unbounded"]) == 0]
    return [row | {"ratio": float(row["mean_width"]) / float(widths[cell(row)])} for row in known]


def _stated_families(rows: list[Row]) -> str:
    rates = {(row["n"], row["correction"], row["measure"]): row["rate_05"] for row in rows}
    lines = []
    for n, corrections in STATED.items():
        for correction, stated in corrections.items():
            here = [rates.get((str(n), correction, measure), "nan") for measure in STATED_MEASURES]
            pairs = [f"{shown(now)} ({shown(then)})" for now, then in zip(here, stated, strict=True)]
            lines.append([str(n), correction, *pairs])
    return table(["n", "correction", *(f"{measure}, here (stated)" for measure in STATED_MEASURES)], lines, 2)


def _stated_coverage(rows: list[Row]) -> str:
    lines = []
    for n, intervals in STATED_COVERAGE.items():
        for interval, stated in intervals.items():
            here = [float(row["coverage"]) for row in rows if row["n"] == str(n) and row["interval"] == interval]
            now = shown(sum(here) / len(here)) if here else ""
            lines.append([str(n), interval, now, ", ".join(shown(value) for value in stated)])
    return table(["n", "interval", "here", "stated"], lines, 2)
