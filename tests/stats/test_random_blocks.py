from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import stats

from rankstats.stats.random_blocks import (
    generator_from,
    index_words,
    indices_from_words,
    replayed,
    resample_counts,
    sign_bits,
)


@pytest.mark.parametrize("n", [1, 63, 64, 65, 200])
@pytest.mark.parametrize("batch", [1, 3, 64, 1000])
def test_blocks_do_not_depend_on_the_batch(n: int, batch: int) -> None:
    for draw in (sign_bits, index_words):
        whole = np.concatenate([block for _, block in draw(generator_from(1), n, 70)])
        parts = np.concatenate([block for _, block in draw(generator_from(1), n, 70, batch)])
        assert whole.shape == (70, n)
        assert_array_equal(whole, parts)


def test_slices_tile_the_resamples() -> None:
    rows = [rows for rows, _ in sign_bits(generator_from(1), 5, 10, 4)]
    assert [(r.start, r.stop) for r in rows] == [(0, 4), (4, 8), (8, 10)]


def test_bits_are_fair_and_independent_of_their_neighbours() -> None:
    bits = np.concatenate([block for _, block in sign_bits(generator_from(5), 100, 4000)])
    assert set(np.unique(bits)) == {0.0, 1.0}
    assert stats.chi2.sf(np.sum((bits.sum(axis=0) - 2000) ** 2) / 1000, 100) > 1e-4
    assert abs(np.mean(bits[:, 1:] == bits[:, :-1]) - 0.5) < 4 * 0.5 / np.sqrt(bits.size)


@pytest.mark.parametrize("n", [1, 2, 7, 50])
def test_indices_are_uniform(n: int) -> None:
    words = next(index_words(generator_from(2), n, 2000))[1]
    indices = indices_from_words(words, n)
    counts = np.bincount(indices.ravel(), minlength=n)
    assert len(counts) == n
    if n > 1:
        assert stats.chisquare(counts).pvalue > 1e-4


def test_a_smaller_set_uses_the_first_words() -> None:
    words = next(index_words(generator_from(2), 10, 5))[1]
    assert_array_equal(indices_from_words(words, 4), indices_from_words(words[:, :4], 4))


def test_counts_add_up_to_the_size_of_each_resample() -> None:
    indices = indices_from_words(next(index_words(generator_from(2), 9, 20))[1], 9)
    counts = resample_counts(indices, 9)
    assert_array_equal(counts.sum(axis=1), 9)
    assert_array_equal(counts[3], np.bincount(indices[3], minlength=9))


def test_a_replay_leaves_the_generator_where_it_is() -> None:
    generator = generator_from(4)
    copy = replayed(generator)
    assert copy.integers(1000, size=5).tolist() == generator.integers(1000, size=5).tolist()


def test_other_bit_generators_serve() -> None:
    for kind in (np.random.MT19937, np.random.Philox, np.random.SFC64):
        blocks = [np.concatenate([b for _, b in sign_bits(generator_from(kind(1)), 70, 9, size)]) for size in (1, 9)]
        assert_array_equal(*blocks)
