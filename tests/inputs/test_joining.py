from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from rankstats.inputs import joining
from rankstats.inputs.joining import JoinedNumbers, JoinedTexts


@pytest.mark.parametrize("mapped", [1, 1 << 40])
@pytest.mark.parametrize("guess", [0, 3, 1_000])
def test_numbers_grow_beyond_the_guess(monkeypatch: pytest.MonkeyPatch, guess: int, mapped: int) -> None:
    monkeypatch.setattr(joining, "_MAPPED_BYTES", mapped)
    column = JoinedNumbers(np.float64, guess)
    blocks = [np.arange(n) + n / 7 for n in (2, 0, 5, 40, 1)]
    for block in blocks:
        column.add(block)
    assert column.values().tolist() == np.concatenate(blocks).tolist()


@pytest.mark.parametrize(("chunk_bytes", "chunk_rows"), [(1, 100), (100, 2), (7, 3), (1 << 20, 1 << 20)])
def test_texts_survive_whatever_the_chunks(monkeypatch: pytest.MonkeyPatch, chunk_bytes: int, chunk_rows: int) -> None:
    monkeypatch.setattr(joining, "_CHUNK_BYTES", chunk_bytes)
    monkeypatch.setattr(joining, "_CHUNK_ROWS", chunk_rows)
    texts = ["a", "", "süß", "a long one, longer than any chunk", "b", "", "", "z"]
    whole = pa.array(texts, pa.string())
    column = JoinedTexts()
    for start, end in ((0, 3), (3, 3), (3, 4), (4, 8)):
        column.add(whole[start:end])
    chunks = column.chunks()
    for chunk in chunks:
        chunk.validate(full=True)
    assert pa.chunked_array(chunks, pa.string()).to_pylist() == texts


def test_nothing_added_is_nothing() -> None:
    assert list(JoinedTexts().chunks()) == []
    assert len(JoinedNumbers(np.int32, 8).values()) == 0
