"""Summaries of experiments as files: JSON with exact numbers, a version and a digest; written and read back whole.

Numbers are whole numbers in hexadecimal and the power of two that they count: ``5p-3`` is 0.625. Keys are sorted, so
equal summaries are equal bytes.
"""

from __future__ import annotations

import base64
import binascii
import gzip
import hashlib
import json
import re
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from rankstats import __version__
from rankstats.errors import InputError, RankstatsError
from rankstats.experiment.summary import CellSums, ExperimentSummary, Extremes, MetricSums, in_order, merge_summaries
from rankstats.stats import ExactCubes, ExactMoments, ExactPoissonSums, UnitSketch
from rankstats.stats.exact_moments import SCALE, exact_number, exact_text
from rankstats.tables.judgments import Source

FORMAT = "rankstats experiment summary"
VERSION = 1

_START = re.compile(rb'\s*\{\s*"format"\s*:\s*"' + FORMAT.encode() + b'"')
_GZIP = b"\x1f\x8b"
_SNIFFED = 4096
_T = TypeVar("_T")


def is_summary(path: str | Path) -> bool:
    """Whether a file says that it is a summary, plain or compressed by gzip; its content decides, not its name."""
    try:
        if not Path(path).is_file():
            return False  # what comes from a pipe is gone once it was looked at
        with Path(path).open("rb") as file:
            start = file.read(_SNIFFED)
        if start.startswith(_GZIP):
            # what there is of a file that was cut short tells what it was
            start = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16).decompress(start, _SNIFFED)
    except (OSError, zlib.error, ValueError):
        return False
    return _START.match(start.removeprefix(b"\xef\xbb\xbf")) is not None


def read_summary(path: str | Path) -> ExperimentSummary:
    """Return the summary that a file holds.

    Raises
    ------
    InputError
        If it cannot be read, is of another version, or is damaged.
    """
    name = str(path)
    try:
        content = Path(path).read_bytes()
        if content.startswith(_GZIP):
            content = gzip.decompress(content)
    except FileNotFoundError:
        raise InputError("no such file", name) from None
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"cannot be read ({error})", name) from None
    return summary_from_text(content, name)


def read_summaries(paths: Sequence[str | Path]) -> ExperimentSummary:
    """Return the summary of all units of several files; see `merge_summaries`."""
    return merge_summaries([read_summary(path) for path in paths], [str(path) for path in paths])


def summary_bytes(summary: ExperimentSummary, *, compressed: bool = False) -> bytes:
    """Return the content of a file; the same summary gives the same bytes."""
    content = summary_text(summary).encode("utf-8")
    return gzip.compress(content, mtime=0) if compressed else content


def summary_text(summary: ExperimentSummary) -> str:
    """Return a summary as JSON, one line."""
    held = _summary_to_json(summary)
    head = {"format": FORMAT, "version": VERSION, "rankstats": __version__, "digest": _digest(held)}
    return json.dumps({**head, "summary": held}, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"


def _digest(held: Mapping[str, Any]) -> str:
    text = json.dumps(held, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def summary_from_text(content: str | bytes, name: str = "summary") -> ExperimentSummary:
    """Return the summary that `summary_text` wrote.

    Raises
    ------
    InputError
        If the version is another one, or the content does not fit its digest.
    """
    way_out = "make it again from its rows (rankstats ab ROWS --summary-out FILE)"
    try:
        whole = json.loads(content)
        version = whole["version"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise InputError(f"is a damaged summary, perhaps cut short; {way_out}", name) from None
    if version != VERSION:
        raise InputError(
            f"is a summary of version {version!r}, made by rankstats {whole.get('rankstats', 'unknown')}; this one "
            f"reads version {VERSION}: use that rankstats, or {way_out}",
            name,
        )
    try:
        held = whole["summary"]
        if whole["digest"] != _digest(held):
            raise InputError(f"is a damaged or edited summary: its content does not fit its digest; {way_out}", name)
        return _summary_of_json(held)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"is a damaged summary ({type(error).__name__}: {error}); {way_out}", name) from None


# ── to JSON ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _summary_to_json(summary: ExperimentSummary) -> dict[str, Any]:
    sketch = summary.sketch
    return {
        "plan": summary.plan,
        "resamples": summary.resamples,
        "seed": summary.seed,
        "sources": [{"name": s.name, "sha256": s.sha256, "bytes": s.size} for s in summary.sources],
        "rows": summary.rows,
        "units": _sorted(summary.units),
        "sketch": None if sketch is None else {"n": sketch.n, "smallest": _packed(sketch)},
        "counts": _sorted(summary.counts),
        "notes": sorted(summary.notes),
        "cells": [_cell_to_json(cell) for cell in summary.cells],
        "metrics": {name: _metric_to_json(metric) for name, metric in sorted(summary.metrics.items())},
        "covariates": {name: _moments_to_json(arms) for name, arms in sorted(summary.covariates.items())},
    }


def _sorted(mapping: Mapping[str, _T]) -> dict[str, _T]:
    return dict(sorted(mapping.items()))


def _packed(sketch: UnitSketch) -> str:
    return base64.b64encode(sketch.smallest.astype("<u8").tobytes()).decode("ascii")


def _cell_to_json(cell: CellSums) -> dict[str, Any]:
    return {
        "attribute": cell.attribute,
        "value": list(cell.parts),
        "units": _sorted(cell.units),
        "sums": {name: _moments_to_json(arms) for name, arms in sorted(cell.sums.items())},
        "replicates": {
            name: {arm: _replicates_to_json(sums) for arm, sums in sorted(arms.items())}
            for name, arms in sorted(cell.replicates.items())
        },
    }


def _moments_to_json(arms: Mapping[str, ExactMoments]) -> dict[str, Any]:
    return {
        arm: {
            "n": sums.n,
            "sums": " ".join(map(exact_text, sums.sums)),
            "products": " ".join(exact_text(product, 2 * SCALE) for product in sums.products),
        }
        for arm, sums in sorted(arms.items())
    }


def _replicates_to_json(sums: ExactPoissonSums) -> dict[str, str]:
    return {
        "observed": " ".join(map(exact_text, sums.observed)),
        "numerators": " ".join(map(exact_text, sums.resampled[0])),
        "denominators": " ".join(map(exact_text, sums.resampled[1])),
    }


def _cubes_to_text(cubes: ExactCubes) -> str:
    return " ".join(exact_text(cube, 3 * SCALE) for cube in cubes.sums)


def _metric_to_json(metric: MetricSums) -> dict[str, Any]:
    return {
        "binary": metric.binary,
        "empty_cells": metric.empty_cells,
        "absent": _sorted(metric.absent),
        "cap": metric.cap,
        "capped": _sorted(metric.capped),
        "uncapped": _moments_to_json(metric.uncapped),
        "cubes": {arm: _cubes_to_text(cubes) for arm, cubes in sorted(metric.cubes.items())},
        "extremes": {arm: [*ends.low, *ends.high] for arm, ends in sorted(metric.extremes.items())},
        "on_day": {day: _moments_to_json(arms) for day, arms in sorted(metric.on_day.items())},
        "to_date": {day: _moments_to_json(arms) for day, arms in sorted(metric.to_date.items())},
    }


# ── from JSON ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _summary_of_json(held: Mapping[str, Any]) -> ExperimentSummary:
    plan, seed, sketch = held["plan"], int(held["seed"]), held["sketch"]
    segments = plan.get("comparison", {}).get("segments", ())
    return ExperimentSummary(
        plan=plan,
        resamples=int(held["resamples"]),
        seed=seed,
        sources=tuple(Source(row["name"], row["sha256"], row["bytes"]) for row in held["sources"]),
        rows=int(held["rows"]),
        units={arm: int(n) for arm, n in held["units"].items()},
        sketch=None if sketch is None else _sketch_of_json(sketch),
        counts=dict(held["counts"]),
        notes=tuple(held["notes"]),
        cells=in_order((_cell_of_json(cell, seed) for cell in held["cells"]), segments),
        metrics={name: _metric_of_json(metric) for name, metric in held["metrics"].items()},
        covariates={name: _moments_of_json(arms) for name, arms in held["covariates"].items()},
    )


def _sketch_of_json(held: Mapping[str, Any]) -> UnitSketch:
    try:
        packed = base64.b64decode(held["smallest"], validate=True)
    except binascii.Error as error:
        raise RankstatsError(str(error)) from None
    return UnitSketch(int(held["n"]), np.frombuffer(packed, dtype="<u8").astype(np.uint64))


def _cell_of_json(held: Mapping[str, Any], seed: int) -> CellSums:
    return CellSums(
        attribute=held["attribute"],
        parts=tuple(held["value"]),
        units=dict(held["units"]),
        sums={name: _moments_of_json(arms) for name, arms in held["sums"].items()},
        replicates={
            name: {arm: _replicates_of_json(sums, seed) for arm, sums in arms.items()}
            for name, arms in held["replicates"].items()
        },
    )


def _moments_of_json(arms: Mapping[str, Any]) -> dict[str, ExactMoments]:
    return {
        arm: ExactMoments(
            int(held["n"]),
            tuple(map(exact_number, held["sums"].split())),
            tuple(exact_number(text, 2 * SCALE) for text in held["products"].split()),
        )
        for arm, held in arms.items()
    }


def _replicates_of_json(held: Mapping[str, str], seed: int) -> ExactPoissonSums:
    observed, numerators, denominators = (
        tuple(map(exact_number, held[name].split())) for name in ("observed", "numerators", "denominators")
    )
    return ExactPoissonSums((observed[0], observed[1]), (numerators, denominators), seed)


def _metric_of_json(held: Mapping[str, Any]) -> MetricSums:
    return MetricSums(
        binary=bool(held["binary"]),
        empty_cells=int(held["empty_cells"]),
        absent=dict(held["absent"]),
        cap=held["cap"],
        capped=dict(held["capped"]),
        uncapped=_moments_of_json(held["uncapped"]),
        cubes={
            arm: ExactCubes(tuple(exact_number(cube, 3 * SCALE) for cube in cubes.split()))
            for arm, cubes in held["cubes"].items()
        },
        extremes={arm: Extremes((e[0], e[1]), (e[2], e[3])) for arm, e in held["extremes"].items()},
        on_day={day: _moments_of_json(arms) for day, arms in held["on_day"].items()},
        to_date={day: _moments_of_json(arms) for day, arms in held["to_date"].items()},
    )
