from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from rankstats.tables.documents import Documents
from tests.tables.made import DOCUMENTS, items_of, patient


@patient
@given(st.lists(st.lists(st.sampled_from(DOCUMENTS), max_size=8), max_size=4), st.permutations(DOCUMENTS))
def test_a_document_keeps_its_number(lists: list[list[str]], order: list[str]) -> None:
    table = order[:4]
    documents = Documents(items_of(table))
    numbers: dict[str, int] = {doc_id: row for row, doc_id in enumerate(table)}
    for listed in lists:
        for doc_id in listed:
            numbers.setdefault(doc_id, len(numbers))
        assert documents.numbers(pa.array(listed, pa.string())).tolist() == [numbers[doc_id] for doc_id in listed]


def test_without_an_item_table_numbers_start_at_0() -> None:
    found = Documents(None).numbers(pa.array(["é", "b", "é"]))
    assert found.tolist() == [0, 1, 0]
    assert found.dtype == np.int64
    assert not len(Documents(None).numbers(pa.array([], pa.string())))
