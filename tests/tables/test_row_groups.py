from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankstats.tables import row_groups
from rankstats.tables.row_groups import are_distinct, group_starts

numbers = st.lists(st.integers(0, 3), max_size=30)


@given(numbers)
def test_group_starts(values: list[int]) -> None:
    expected = [row for row, value in enumerate(values) if row == 0 or value != values[row - 1]]
    assert group_starts(np.array(values, np.int32)).tolist() == expected


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_group_starts_where_pieces_meet(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_groups, "_ROWS_AT_ONCE", size)
    assert group_starts(np.array([5, 5, 5, 2, 5, 5, 2, 2])).tolist() == [0, 3, 4, 6]


@given(numbers)
def test_are_distinct(values: list[int]) -> None:
    assert are_distinct(np.array(values, np.int32)) == (len(set(values)) == len(values))
