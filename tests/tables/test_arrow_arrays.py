from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from rankstats.tables.arrow_arrays import arrow_of, floats_of, is_valid, values_of
from tests.tables.made import patient

TYPES: dict[str, tuple[Any, st.SearchStrategy[Any]]] = {
    "int8": (pa.int8(), st.integers(-128, 127)),
    "int32": (pa.int32(), st.integers(-(2**31), 2**31 - 1)),
    "int64": (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    "uint64": (pa.uint64(), st.integers(0, 2**64 - 1)),
    "float64": (pa.float64(), st.floats(allow_nan=False)),
    "bool": (pa.bool_(), st.booleans()),
}


@patient
@given(data=st.data(), kind=st.sampled_from(list(TYPES)), cut=st.integers(0, 30), start=st.integers(0, 9))
def test_values_and_nulls_of_slices_and_chunks(data: st.DataObject, kind: str, cut: int, start: int) -> None:
    type_, values = TYPES[kind]
    cells = data.draw(st.lists(st.none() | values, max_size=30))
    array = pa.array([*cells[:start], *cells], type_)[min(start, len(cells)) :]
    chunked = pa.chunked_array([array[:cut], array[cut:]], type_)
    for column in (array, chunked):
        valid = is_valid(column)
        assert valid.tolist() == [cell is not None for cell in cells]
        assert values_of(column)[valid].tolist() == [cell for cell in cells if cell is not None]
        if kind == "float64":
            assert np.array_equal(floats_of(column), [np.nan if cell is None else cell for cell in cells], True)


def test_columns_without_memory() -> None:
    assert values_of(pa.chunked_array([], pa.int32())).dtype == np.int32
    assert is_valid(pa.nulls(2, pa.string())).tolist() == [False, False]
    assert is_valid(pa.nulls(2)).tolist() == [False, False]
    assert np.isnan(floats_of(pa.nulls(2, pa.float64()))).all()


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.uint64, np.float64])
def test_there_and_back(dtype: type) -> None:
    values: NDArray[Any] = np.arange(20).astype(dtype)[::3]
    assert arrow_of(values).to_pylist() == values.tolist()
    assert arrow_of(values).type == pa.array(values).type
