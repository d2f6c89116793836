"""Results of pieces of the columns, put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from rankstats.stats.results import ColumnResult

Result = TypeVar("Result", bound=ColumnResult)


def join_columns(parts: Sequence[Result], order: NDArray[np.int64] | None = None) -> Result:
    """Put the columns of results of one kind side by side.

    Parameters
    ----------
    parts : sequence of results
        At least one; fields that are no arrays are taken from the first.
    order : ndarray of int, shape (c,), optional
        The column that each joined column becomes.
    """
    first = cast(Any, parts[0])
    arrays = [f.name for f in fields(first) if isinstance(getattr(first, f.name), np.ndarray)]
    joined = {name: np.concatenate([getattr(part, name) for part in parts]) for name in arrays}
    if order is not None:
        place = np.argsort(order, kind="stable")
        joined = {name: value[place] for name, value in joined.items()}
    return cast(Result, replace(first, **joined))
