"""Effects that a report.json holds, by pair of systems and segment, or by query."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rankstats.comparison.result import Interval
from rankstats.errors import PlanError, did_you_mean

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Effect:
    """A difference as a report holds it: system − baseline, in the unit of the measure; `better` is 1 or −1."""

    difference: float | None
    interval: Interval | None
    n: int
    better: int

    @property
    def improvement(self) -> float:
        """The difference, so that positive is better; NaN where undefined."""
        return math.nan if self.difference is None else self.better * self.difference

    @property
    def shown(self) -> int:
        """1 where it is shown to be better, −1 where worse, 0 where the interval holds 0 or there is none."""
        ends = self.interval
        if ends is None or (ends.low is None and ends.high is None):
            return 0
        low, high = (-math.inf if ends.low is None else ends.low, math.inf if ends.high is None else ends.high)
        return self.better * ((low > 0) - (high < 0))


def measure_of(report: Row, asked: str | None, what: str) -> str:
    """Return the measure asked for, or the first primary one."""
    known = [row["name"] for row in report["measures"]]
    if asked is None:
        return str(next(iter(report.get("primary") or known)))
    if asked not in known:
        raise PlanError(
            f"{what} {asked!r} is not in the report (it holds {', '.join(known)})" + did_you_mean(asked, known)
        )
    return asked


def direction_of(report: Row, measure: str, place: str) -> int:
    """Return 1 where higher values are better, else -1."""
    for row in report["measures"]:
        if row["name"] == measure:
            return 1 if row.get("higher_is_better", True) else -1
    known = ", ".join(row["name"] for row in report["measures"])
    raise PlanError(f"{place}: {measure!r} is not in the report (it holds {known}); launches need one measure")


def effects_of(report: Row, measure: str, place: str) -> dict[tuple[str, str], dict[tuple[str, str], Effect]]:
    """Return the effects on a measure by pair of systems and segment (empty for all)."""
    better, found = direction_of(report, measure, place), dict[tuple[str, str], dict[tuple[str, str], Effect]]()
    for row in report["differences"]:
        if row["measure"] != measure or row.get("weighting") != report.get("weights"):
            continue
        segment = row.get("segment") or {"attribute": "", "value": ""}
        ends = row.get("interval")
        shown = None if ends is None else Interval(ends["low"], ends["high"], ends["level"], ends["method"])
        effect = Effect(row.get("difference"), shown, int(row.get("n") or 0), better)
        pair = found.setdefault((row["baseline"], row["system"]), {})
        pair[segment["attribute"], str(segment["value"])] = effect
    return {pair: cells for pair, cells in found.items() if ("", "") in cells}


def query_effects(report: Row, measure: str, pair: tuple[str, str], better: int) -> dict[str, Effect]:
    """Return the difference of each query."""
    values = report.get("values", {})
    if not all(measure in values.get(name, {}) for name in pair):
        return {}
    columns = [values[name][measure] for name in pair]
    return {
        str(query["query_id"]): Effect(None if None in ends else ends[1] - ends[0], None, 1, better)
        for query, ends in zip(report.get("queries", ()), zip(*columns, strict=True), strict=True)
    }


def mirrored(effect: Effect) -> Effect:
    """Return the effect with the sides exchanged."""
    ends = effect.interval
    turned = None
    if ends is not None:
        low, high = (None if end is None else -end for end in (ends.high, ends.low))
        turned = Interval(low, high, ends.level, ends.method)
    return Effect(None if effect.difference is None else -effect.difference, turned, effect.n, effect.better)
