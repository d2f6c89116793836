from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from rankstats.tables.text_hashes import hashes_of_all, hashes_of_ends
from tests.tables.made import patient

texts = st.lists(st.one_of(st.text(max_size=12), st.text("ab", min_size=6, max_size=20)), max_size=12)


@patient
@given(texts, st.integers(0, 12), st.booleans())
def test_a_hash_depends_on_the_text_alone(values: list[str], cut: int, ends: bool) -> None:
    hashes = hashes_of_ends if ends else hashes_of_all
    whole = pa.array(["before", *values, "after"], pa.string())[1:-1]
    alone = [hashes(pa.array([value], pa.string()))[0] for value in values]
    assert hashes(whole).tolist() == alone
    assert np.concatenate([hashes(whole[:cut]), hashes(whole[cut:])]).tolist() == alone


def test_ids_seldom_share_a_hash() -> None:
    ids = [f"{number}" for number in range(100_000)]
    # of n texts with hashes of 32 bits, n² / 2³³ pairs share one: here 1.2
    assert len(np.unique(hashes_of_ends(pa.array(ids, pa.string())))) > len(ids) - 20
    assert len(np.unique(hashes_of_all(pa.array(ids, pa.string())))) == len(ids)


def test_all_bytes_count_where_the_ends_are_equal() -> None:
    column = pa.array(["starts-so-A-ends-so", "starts-so-B-ends-so"], pa.string())
    assert len(set(hashes_of_ends(column).tolist())) == 1
    assert len(set(hashes_of_all(column).tolist())) == 2
