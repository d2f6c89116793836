from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from numpy.typing import NDArray

from rankstats.stats import flip_sums, paired_differences, random_blocks, sign_flip_test
from rankstats.stats.flip_sums import flipped_sums
from rankstats.stats.random_blocks import generator_from, sign_bits, word_blocks


def _all(matrix: NDArray[np.float64], resamples: int, batch: int | None = None, seed: int = 0) -> NDArray[np.float64]:
    parts = list(flipped_sums(generator_from(seed), matrix, resamples, batch))
    assert [part for rows, _ in parts for part in range(rows.start, rows.stop)] == list(range(resamples))
    return np.concatenate([sums for _, sums in parts])


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 200), st.integers(1, 5), st.integers(1, 40), st.integers(0, 10**6), st.booleans())
def test_both_ways_equal_the_product_of_bits_and_matrix(
    n: int, columns: int, resamples: int, seed: int, looked_up: bool
) -> None:
    matrix = np.rint(np.random.default_rng(seed).normal(0, 1e9, (n, columns)))
    bits = np.concatenate([part for _, part in sign_bits(generator_from(seed), n, resamples)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(flip_sums, "_LOOKED_UP_FROM", 0 if looked_up else 10**9)
        patch.setattr(flip_sums, "_LOOKED_UP_COLUMNS", 5)
        patch.setattr(flip_sums, "_OCTETS_AT_ONCE", 3)
        patch.setattr(flip_sums, "_ROWS_AT_ONCE", 16)
        patch.setattr(flip_sums, "_BITS_AT_ONCE", 16 * 7)
        for batch in (None, 1, 9):
            assert_array_equal(_all(matrix, resamples, batch, seed), bits @ matrix)


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_many_rows(columns: int) -> None:
    matrix = np.rint(np.random.default_rng(1).normal(0, 1e9, (5000, columns)))
    bits = np.concatenate([part for _, part in sign_bits(generator_from(0), 5000, 60)])
    assert_array_equal(_all(matrix, 60), bits @ matrix)


def test_blocks_of_words_are_one_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = generator_from(3).integers(0, 2**64 - 1, size=(50, 7), dtype=np.uint64, endpoint=True)
    monkeypatch.setattr(random_blocks, "_PIECE_WORDS", 20)
    for batch in (None, 1, 8):
        parts = [words.copy() for _, words in word_blocks(generator_from(3), 7, 50, batch)]
        assert_array_equal(np.concatenate(parts), whole)


def test_one_column_alone_and_among_others() -> None:
    """One column is looked up, several are multiplied."""
    values = np.random.default_rng(2).normal(0.01, 1, (3000, 4))
    d = paired_differences(np.zeros(3000), values)
    joined = sign_flip_test(d, resamples=300)
    for column in range(4):
        alone = sign_flip_test(d.select([column]), resamples=300)
        for name in ("p_value", "low", "high"):
            assert getattr(alone, name)[0] == getattr(joined, name)[column]


@pytest.mark.slow
def test_a_million_differences_stay_within_a_gibibyte() -> None:
    import tracemalloc  # noqa: PLC0415 - slows everything while it is on

    d = paired_differences(np.zeros(1_000_000), np.random.default_rng(1).normal(0.002, 1, 1_000_000))
    tracemalloc.start()
    result = sign_flip_test(d, resamples=2000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**29
    assert 0 < result.p_value[0] <= 1
