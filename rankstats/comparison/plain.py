"""Rows as plain Python, for report.json and for frames."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

_INTERVALS = frozenset({"interval", "adjusted_interval", "relative_interval", "delta_interval"})


def plain(value: Any) -> Any:
    """Return a value made of plain Python only: NaN and infinities become None, tuples and arrays lists."""
    # the kinds that a report holds by the hundred thousand come first
    kind: type = type(value)
    if kind is float:
        return value if math.isfinite(value) else None
    if value is None or kind is bool or kind is int:
        return value
    if isinstance(value, str):
        # paths may hold bytes that are no text; they are written as escapes
        return value if value.isascii() else value.encode("utf-8", "backslashreplace").decode("utf-8")
    names = _field_names(kind)
    if names is not None:
        return {name: plain(getattr(value, name)) for name in names}
    return _plain_other(value)


@cache
def _field_names(kind: type) -> tuple[str, ...] | None:
    return tuple(f.name for f in fields(kind)) if is_dataclass(kind) else None


def _plain_other(value: Any) -> Any:
    if isinstance(value, bool | int):
        return value
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, np.integer | np.bool_):
        return value.item()
    if isinstance(value, np.ndarray):
        return _plain_array(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, type):
        return [plain(item) for item in value]
    raise TypeError(f"{type(value).__name__} has no plain form")


def _plain_array(array: NDArray[Any]) -> list[Any]:
    return [plain(item) for item in array.tolist()]


def flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """Spread segments and intervals over columns; leave out what is nested, such as other tests and corrections."""
    flat: dict[str, Any] = {}
    for key, value in row.items():
        if key == "segment":
            flat |= {"attribute": value and value["attribute"], "value": value and value["value"]}
        elif key in _INTERVALS:
            flat |= {f"{key}_low": value and value["low"], f"{key}_high": value and value["high"]}
        elif not isinstance(value, dict | list):
            flat[key] = value
    return flat
