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


def test_texts_that_are_kept_among_others_leave_no_chunk_half_full() -> None:
    blocks = [[f"{i} {k}" for k in range(50)] for i in range(40)]
    column = JoinedTexts()
    for i, texts in enumerate(blocks):
        (column.add if i % 2 else column.keep)(pa.array(texts, pa.string()))
    chunks = column.chunks()
    assert pa.chunked_array(chunks, pa.string()).to_pylist() == [text for texts in blocks for text in texts]
    assert len(chunks) == 2


def test_empty_texts_after_kept_ones_spoil_no_chunk_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joining, "_CHUNK_BYTES", 4)
    column = JoinedTexts()
    column.add(pa.array(["ab", "c"]))
    column.keep(pa.array(["longer"]))
    column.add(pa.array(["", ""]))
    assert pa.chunked_array(column.chunks(), pa.string()).to_pylist() == ["ab", "c", "longer", "", ""]


def test_nothing_added_is_nothing() -> None:
    assert list(JoinedTexts().chunks()) == []
    assert len(JoinedNumbers(np.int32, 8).values()) == 0
