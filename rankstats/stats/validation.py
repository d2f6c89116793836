"""Checks of arguments that several statistics share."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankstats.errors import RankstatsError, did_you_mean

ALTERNATIVES = ("two-sided", "greater", "less")


def check_choice(name: str, value: str, known: tuple[str, ...]) -> str:
    """Return `value`, or raise with the known words."""
    if value not in known:
        raise RankstatsError(
            f"{name} = {value!r} is unknown; choose one of {', '.join(known)}" + did_you_mean(str(value), known)
        )
    return value


def check_alpha(alpha: float) -> float:
    """Return the level as a float, or raise when it is not between 0 and 1."""
    if not 0 < alpha < 1:
        raise RankstatsError(f"alpha = {alpha!r}: a level lies between 0 and 1, for instance 0.05")
    return float(alpha)


def check_count(name: str, value: int, least: int = 1) -> int:
    """Return `value` as an int, or raise when it is not a whole number of at least `least`."""
    if isinstance(value, bool) or int(value) != value or value < least:
        raise RankstatsError(f"{name} = {value!r}: a whole number of at least {least} is expected")
    return int(value)


def check_family_size(family_size: ArrayLike, n_columns: int) -> NDArray[np.int64]:
    """Return the family size of each column, shape (c,)."""
    sizes = np.asarray(family_size, dtype=np.int64)
    if sizes.ndim > 1 or (sizes.ndim == 1 and sizes.shape != (n_columns,)) or np.any(sizes < 1):
        raise RankstatsError(
            f"family_size: one whole number of at least 1, or one for each of the {n_columns} columns, is expected"
        )
    return np.broadcast_to(sizes, (n_columns,)).copy()
