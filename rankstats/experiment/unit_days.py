"""Days of rows, in the time zone asked for."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
from numpy.typing import NDArray

from rankstats.errors import PlanError

QUARTER_HOUR = 900
"""Seconds; days of every time zone begin at one of these."""


def day_names(quarters: NDArray[np.int64], timezone: str) -> NDArray[Any]:
    """Return the day of each quarter of an hour since 1970.

    Raises
    ------
    PlanError
        If the time zone is unknown.

    Examples
    --------
    >>> day_names(np.array([0, 95, 96]), "Asia/Tokyo").tolist()
    ['1970-01-01', '1970-01-02', '1970-01-02']
    """
    try:
        zone = ZoneInfo(timezone)
    except (ZoneInfoNotFoundError, ValueError):
        raise PlanError(f"timezone {timezone!r} is unknown; write it as Europe/Berlin, or UTC") from None
    distinct, places = np.unique(quarters, return_inverse=True)
    names = [
        datetime.fromtimestamp(quarter * QUARTER_HOUR, UTC).astimezone(zone).date().isoformat()
        for quarter in distinct.tolist()
    ]
    return np.asarray(names)[places]
