"""The heavy steps from events to units, each one expression for all engines.

Rows have the columns u (the unit) and a (the arm), both texts, x0, x1 … (float64: what metrics add up), f0, f1 …
(texts: segments) and c0, c1 … (float64: covariates). What is absent is null.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

import narwhals as nw

if TYPE_CHECKING:
    from rankstats.tables.engines.steps import Frame

LARGEST = 1e100
_BITS = 62
_LARGEST_EXPONENT = 1000


@dataclass(frozen=True, slots=True)
class Scale:
    """How numbers become pairs of whole numbers, whose sums do not depend on the order of rows."""

    high: int
    low: int

    @classmethod
    def of(cls, bound: float, rows: int) -> Scale:
        """Return the scale for numbers up to a bound.

        Examples
        --------
        >>> Scale.of(100.0, 1_000_000)
        Scale(high=35, low=42)
        """
        bits = _BITS - rows.bit_length()
        return cls(min(bits - math.frexp(bound)[1], _LARGEST_EXPONENT), bits)


@dataclass(frozen=True, slots=True)
class UnitMetric:
    """What a metric takes of a unit's rows.

    Attributes
    ----------
    columns : tuple of (int or None)
        Places of its columns among x0, x1 …; None counts rows.
    share : bool
        Whether it is 1 where a row has a number above 0, else 0.
    scales : tuple of (Scale or None)
        How each column is added up; None for whole numbers, whose plain sums are exact.
    """

    columns: tuple[int | None, ...]
    share: bool
    scales: tuple[Scale | None, ...]


def cell_facts(rows: Frame, numbers: int) -> Frame:
    """Return one row: how many rows there are, and of each column what is absent, unusable, its bounds; no grouping.

    Returns
    -------
    LazyFrame
        Columns n, no_unit, no_arm, and for each x: present, bad, low, high, broken (numbers that are not whole).
    """
    sums = {
        "n": nw.len(),
        "no_unit": _number_of(nw.col("u").is_null()),
        "no_arm": _number_of(nw.col("a").is_null()),
    }
    for place in range(numbers):
        x = nw.col(f"x{place}")
        sums |= {
            f"present{place}": x.count(),
            f"bad{place}": _number_of(((x > LARGEST) | (x < -LARGEST)).fill_null(False)),
            f"low{place}": x.min(),
            f"high{place}": x.max(),
            f"broken{place}": _number_of((x % 1 != 0).fill_null(False)),
        }
    return rows.select(**sums)


def _number_of(condition: nw.Expr) -> nw.Expr:
    return condition.cast(nw.Int64).sum()


def units_of_rows(rows: Frame, metrics: Sequence[UnitMetric], texts: int, covariates: int) -> Frame:
    """Return one row a unit; one grouping.

    Parameters
    ----------
    rows : LazyFrame
        As above.
    metrics : sequence of UnitMetric
        What is added up.
    texts, covariates : int
        How many columns f and c there are.

    Returns
    -------
    LazyFrame
        Columns u, arm, twice (whether it is in two arms), rows, m0_0, m0_1 … (sums of the metrics; null where no row
        has all numbers), f0 …, c0 …, and vf0 …, vc0 … (whether the unit has several values).
    """
    made = {name: part for i, metric in enumerate(metrics) for name, part in _parts(i, metric).items()}
    kept = [*(f"f{place}" for place in range(texts)), *(f"c{place}" for place in range(covariates))]
    prepared = rows.select("u", "a", *kept, **made)
    if any(scale for metric in metrics for scale in metric.scales):
        prepared = prepared.with_columns(
            **{
                f"l{name[1:]}": ((nw.col(f"y{name[1:]}") - nw.col(name)) * 2.0**scale.low).cast(nw.Int64)
                for i, metric in enumerate(metrics)
                for name, scale in _scaled(i, metric)
            }
        )
    sums: dict[str, nw.Expr] = {"arm": nw.col("a").min(), "arm_last": nw.col("a").max(), "rows": nw.len()}
    for name in [*made, *(f"l{name[1:]}" for i, metric in enumerate(metrics) for name, _ in _scaled(i, metric))]:
        if name[0] != "y":
            sums[name] = nw.col(name).max() if name[0] == "s" else nw.col(name).sum()
    for name in kept:
        sums |= {f"low_{name}": nw.col(name).min(), f"high_{name}": nw.col(name).max()}
    found = {"twice": nw.col("arm") != nw.col("arm_last"), **dict(_sums(metrics))}
    found |= {name: nw.col(f"low_{name}") for name in kept}
    found |= {f"v{name}": (nw.col(f"low_{name}") != nw.col(f"high_{name}")).fill_null(False) for name in kept}
    return prepared.group_by("u").agg(**sums).select("u", "arm", "rows", **found)


def _scaled(i: int, metric: UnitMetric) -> list[tuple[str, Scale]]:
    return [(f"h{i}_{j}", scale) for j, scale in enumerate(metric.scales) if scale is not None]


def _parts(i: int, metric: UnitMetric) -> dict[str, nw.Expr]:
    """Return what of a row is added up: y (scaled), h (its whole part), p (plain), k (has all numbers), s (a share)."""
    columns = [nw.col(f"x{place}") for place in metric.columns if place is not None]
    if metric.share:
        return {f"s{i}": nw.when(~columns[0].is_null()).then((columns[0] > 0).cast(nw.Int64))}
    complete = reduce(lambda one, other: one & other, (~column.is_null() for column in columns))
    parts: dict[str, Any] = {f"k{i}": complete.cast(nw.Int64)}
    for j, (place, scale) in enumerate(zip(metric.columns, metric.scales, strict=True)):
        if place is None:
            continue
        inside = nw.when(complete).then(nw.col(f"x{place}"))
        if scale is None:
            parts[f"p{i}_{j}"] = inside
        else:
            scaled = inside * 2.0**scale.high
            parts |= {f"y{i}_{j}": scaled, f"h{i}_{j}": scaled.cast(nw.Int64)}
    return parts


def _sums(metrics: Sequence[UnitMetric]) -> list[tuple[str, nw.Expr]]:
    found: list[tuple[str, nw.Expr]] = []
    for i, metric in enumerate(metrics):
        for j, (place, scale) in enumerate(zip(metric.columns, metric.scales, strict=True)):
            if metric.share:
                total = nw.col(f"s{i}").cast(nw.Float64)
            elif place is None:
                total = nw.col(f"k{i}").cast(nw.Float64)
            elif scale is None:
                total = nw.col(f"p{i}_{j}")
            else:
                low = nw.col(f"l{i}_{j}").cast(nw.Float64) * 2.0**-scale.low
                total = (nw.col(f"h{i}_{j}").cast(nw.Float64) + low) * 2.0**-scale.high
            # a sum over nothing is 0 for engines, and unknown here
            found.append((f"m{i}_{j}", total if metric.share else nw.when(nw.col(f"k{i}") > 0).then(total)))
    return found
