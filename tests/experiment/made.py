"""Experiments made up for the tests, as lists of rows, and their readouts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rankstats.experiment import ExperimentSettings, Readout, metric_from_text, read_out, with_roles
from rankstats.experiment.result import Check, Effect

Rows = list[dict[str, Any]]


def settings(*metrics: str, **changes: Any) -> ExperimentSettings:
    made = with_roles(tuple(map(metric_from_text, metrics)), frozenset())
    return ExperimentSettings(**{"metrics": made, **changes})


def readout(rows: Any, *metrics: str, assignments: Any = None, earlier: Sequence[Any] = (), **changes: Any) -> Readout:
    return read_out(settings(*metrics, **changes), rows=rows, assignments=assignments, earlier=earlier)


def units(n: int = 400, seed: int = 0, effect: float = 0.5) -> Rows:
    """One row a unit: a past value, revenue that depends on it, a conversion, clicks, impressions, a country."""
    rng = np.random.default_rng(seed)
    arms = rng.permutation(np.arange(n) % 2)
    rows = []
    for i in range(n):
        past = float(rng.gamma(2.0, 2.0))
        shown = int(rng.integers(1, 12))
        rows.append(
            {
                "user": f"u{i:05d}",
                "arm": "AB"[int(arms[i])],
                "past": past,
                "revenue": round(past + effect * float(arms[i]) + float(rng.normal()), 6),
                "paid": int(rng.random() < 0.2 + 0.1 * arms[i]),
                "clicks": int(rng.binomial(shown, 0.3)),
                "impressions": shown,
                "country": ("de", "fr", "it")[int(rng.integers(3))],
            }
        )
    return rows


def events(rows: Rows, seed: int = 1) -> Rows:
    """The same units as events: revenue, clicks and impressions spread over one to four rows each, shuffled."""
    rng = np.random.default_rng(seed)
    out = []
    for row in rows:
        parts = int(rng.integers(1, 5))
        for part in range(parts):
            last = part == parts - 1
            out.append(
                {
                    **row,
                    "revenue": row["revenue"] if last else 0.0,
                    "clicks": row["clicks"] if last else 0,
                    "impressions": row["impressions"] if last else 0,
                }
            )
    return [out[i] for i in rng.permutation(len(out))]


def column(rows: Rows, arm: str, name: str) -> list[float]:
    return [row[name] for row in rows if row["arm"] == arm and row[name] is not None]


def effect(found: Readout, measure: str, segment: str | None = None, system: str | None = None) -> Effect:
    return next(
        row
        for row in found.differences
        if row.measure == measure
        and (row.segment["value"] if row.segment else None) == segment
        and system in (None, row.system)
    )


def check(found: Readout, code: str) -> Check:
    return next(row for row in found.checks if row.code == code)


def codes(found: Readout) -> set[str]:
    return {warning.code for warning in found.warnings}
