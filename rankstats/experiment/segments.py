"""Segments of units: one a value of a column, quantiles of a number, or several columns together."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankstats.errors import PlanError

NONE = "(none)"
TRIGGERED, UNTRIGGERED = "triggered", "not triggered"
MOST_VALUES = 60
_QUANTILES = re.compile(r"(.+):q(\d+)")


@dataclass(frozen=True, slots=True)
class Attribute:
    """A specification: its columns, each with a number of quantiles, or 0 for its values."""

    name: str
    parts: tuple[tuple[str, int], ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it needs."""
        return tuple(column for column, _ in self.parts)


def attribute_of(text: str) -> Attribute:
    """Read a segment specification.

    Examples
    --------
    >>> attribute_of("country+age:q4").parts
    (('country', 0), ('age', 4))
    """
    parts = []
    for part in text.split("+"):
        name = part.strip().removeprefix("column:")
        found = _QUANTILES.fullmatch(name)
        if not name or (found and int(found[2]) < 2):
            raise PlanError(f"segment {text!r}: write COLUMN, COLUMN:q4 (quantiles) or A+B")
        parts.append((found[1], int(found[2])) if found else (name, 0))
    return Attribute(text.strip(), tuple(parts))


def attribute_codes(attribute: Attribute, columns: Mapping[str, NDArray[Any]]) -> tuple[list[str], NDArray[np.int64]]:
    """Return the values of an attribute, and the place of each unit's value; errors as `attribute_keys`."""
    keys, codes = attribute_keys(attribute, columns)
    return [" + ".join(key) for key in keys], codes


def attribute_keys(
    attribute: Attribute, columns: Mapping[str, NDArray[Any]]
) -> tuple[list[tuple[str, ...]], NDArray[np.int64]]:
    """Return the values of an attribute, column by column, and the place of each unit's value.

    Raises
    ------
    PlanError
        If there are more than 60 values, or quantiles are asked of a column that holds no numbers.
    """
    texts: list[list[str]] = []
    order: list[dict[str, int]] = []
    for column, quantiles in attribute.parts:
        cells = [NONE if cell is None else str(cell) for cell in columns[column]]
        names = sorted(set(cells), key=_natural)
        if quantiles:
            cells, names = _quantile_names(column, cells, quantiles)
        texts.append(cells)
        order.append({name: place for place, name in enumerate(names)})
    keys = list(zip(*texts, strict=True))
    distinct = sorted(set(keys), key=lambda key: [order[i][part] for i, part in enumerate(key)])
    refuse_many_values(attribute, len(distinct))
    place = {key: code for code, key in enumerate(distinct)}
    return distinct, np.array([place[key] for key in keys], dtype=np.int64)


def refuse_many_values(attribute: Attribute, values: int) -> None:
    """Raise where there are more than 60 values."""
    if values > MOST_VALUES:
        raise PlanError(
            f"segment {attribute.name!r} has {values:,} values; up to {MOST_VALUES} can be read. Use quantiles "
            f"of a number ({attribute.columns[0]}:q4), or a coarser column"
        )


def natural_order(key: tuple[str, ...]) -> tuple[tuple[int, float, str], ...]:
    """Return what the values of segments are sorted by: numbers by size, then texts, then those without a value.

    Examples
    --------
    >>> sorted([("de",), ("10",), ("9",)], key=natural_order)
    [('9',), ('10',), ('de',)]
    """
    return tuple(map(_natural, key))


def _natural(text: str) -> tuple[int, float, str]:
    try:
        value = float(text)
    except ValueError:
        return (2 if text == NONE else 1, 0.0, text)
    return (0, value, text) if math.isfinite(value) else (1, 0.0, text)


def _quantile_names(column: str, cells: list[str], parts: int) -> tuple[list[str], list[str]]:
    try:
        values = np.array([math.nan if cell == NONE else float(cell) for cell in cells])
    except ValueError:
        raise PlanError(f"segment {column}:q{parts}: the column holds texts; leave ':q{parts}' out") from None
    known = values[np.isfinite(values)]
    if not len(known):
        raise PlanError(f"segment {column}:q{parts}: the column holds no numbers")
    ends = np.unique(np.quantile(known, np.arange(1, parts) / parts, method="inverted_cdf"))
    codes = np.searchsorted(ends, values, side="left")
    bounds = [f"{end:g}" for end in ends]
    names = [
        f"≤ {bounds[0]}",
        *(f"{low} to {high}" for low, high in pairwise(bounds)),
        f"> {bounds[-1]}",
    ]
    found = [names[code] if math.isfinite(value) else NONE for code, value in zip(codes, values, strict=True)]
    return found, [*names, NONE]
