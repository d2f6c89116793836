"""What every result of this package shares: one row a column."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any, cast

import numpy as np


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and math.isnan(value) else value


class ColumnResult:
    """Base of the results: array fields have one entry a column, the other fields hold for all columns."""

    __slots__ = ()

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return one dictionary a column, with plain Python values; NaN (undefined) becomes None.

        Ends of unbounded intervals stay infinite.
        """
        values = {f.name: getattr(self, f.name) for f in fields(cast(Any, self))}
        n_columns = next(len(value) for value in values.values() if isinstance(value, np.ndarray))
        return [
            {name: _plain(value[j] if isinstance(value, np.ndarray) else value) for name, value in values.items()}
            for j in range(n_columns)
        ]
