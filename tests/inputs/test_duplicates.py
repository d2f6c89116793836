from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankstats.inputs import duplicates
from rankstats.inputs.duplicates import repeated_rows

ids = st.one_of(st.text("ab", max_size=3), st.text("ab", min_size=7, max_size=20), st.text(max_size=12))


def naive(query: list[int], documents: list[str]) -> list[list[int]]:
    groups: dict[tuple[int, str], list[int]] = {}
    for row, pair in enumerate(zip(query, documents, strict=True)):
        groups.setdefault(pair, []).append(row)
    return sorted((rows for rows in groups.values() if len(rows) > 1), key=lambda rows: rows[1])


def found(query: list[int], chunks: list[list[str]]) -> list[list[int]]:
    arrays = [pa.array(chunk, pa.string()) for chunk in chunks]
    return repeated_rows(np.array(query, np.int32), pa.chunked_array(arrays, pa.string()))


@settings(deadline=None)  # pa.array loads pandas once
@given(st.lists(st.tuples(st.integers(0, 2), ids), min_size=1, max_size=40), st.integers(0, 40))
def test_equals_the_naive_search(rows: list[tuple[int, str]], cut: int) -> None:
    query, documents = [number for number, _ in rows], [document for _, document in rows]
    expected = naive(query, documents)
    assert found(query, [documents[:cut], documents[cut:]]) == expected
    sliced = pa.array(["xyz", *documents, "xyz"], pa.string())[1:-1]
    assert repeated_rows(np.array(query, np.int32), pa.chunked_array([sliced])) == expected


def test_the_hash_of_an_id_does_not_depend_on_its_block() -> None:
    for length in range(1, 20):
        assert found([0] * 4, [["x" * length, "long" * 9, ""], ["x" * length]]) == [[0, 3]]


def test_equal_hashes_are_no_duplicates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duplicates, "hashes_of_ends", lambda chunk: np.zeros(len(chunk), np.uint32))
    monkeypatch.setattr(duplicates, "hashes_of_all", lambda chunk: np.zeros(len(chunk), np.uint64))
    assert found([0, 0, 1, 0], [["a", "b", "a", "b"]]) == [[1, 3]]


def test_ids_that_differ_in_the_middle_only() -> None:
    documents = [f"beginning-{number}-the-end" for number in range(2_000)]
    assert found([0] * 2_001, [[*documents, documents[7]]]) == [[7, 2_000]]
