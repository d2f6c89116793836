from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from rankstats.stats import paired_bootstrap, paired_differences, resampling
from rankstats.stats.random_blocks import generator_from, index_words, indices_from_words, resample_counts
from rankstats.stats.resampling import POISSON_SHARES, Resampling, Summands, poisson_counts, resampled_sums


def _counts(n: int, resamples: int, **arguments: object) -> np.ndarray:
    """Return how often each row was drawn: the sums of unit columns."""
    some = Summands(np.arange(n), np.eye(n))
    source = Resampling(resamples, n, generator_from(0), **arguments)  # type: ignore[arg-type] # any field
    return np.concatenate([sums[0] for _, sums in resampled_sums([some], source)])


def test_poisson_shares_are_those_of_the_distribution() -> None:
    k = np.arange(len(POISSON_SHARES))
    shares = np.array(POISSON_SHARES)
    assert shares.sum() == 65536
    assert np.sum(k * shares) == 65536
    assert np.sum(k**2 * shares) == 2 * 65536
    exact = np.array([65536 * math.exp(-1) / math.factorial(int(value)) for value in k])
    assert np.all(np.abs(shares - exact) < 2)


def test_every_word_stands_for_its_count() -> None:
    words = np.arange(65536).astype("<u2")
    assert_array_equal(np.bincount(poisson_counts(words)), POISSON_SHARES)


def test_poisson_counts_of_rows_are_independent() -> None:
    counts = _counts(9, 40_000, scheme="poisson")
    assert_allclose(counts.mean(axis=0), 1, atol=4 / 200)
    assert_allclose(np.cov(counts.T), np.eye(9), atol=4 * np.sqrt(3 / 40_000))
    assert_allclose(np.mean(counts == 0), math.exp(-1), atol=4 * math.sqrt(0.233 / 360_000))


def test_drawn_rows_are_those_of_the_index_words() -> None:
    words = np.concatenate([part for _, part in index_words(generator_from(0), 11, 30)])
    assert_array_equal(_counts(11, 30), resample_counts(indices_from_words(words, 11), 11))


def test_few_counters_at_once_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = _counts(11, 30)
    monkeypatch.setattr(resampling, "_COUNTERS", 25)
    assert_array_equal(_counts(11, 30), whole)


def test_strata_keep_their_numbers_and_all_rows_can_be_drawn() -> None:
    strata = np.array([1, 0, 1, 2, 0, 1, 1])
    rows = np.argsort(strata, kind="stable")
    counts = np.empty((2000, 7))
    counts[:, rows] = _counts(7, 2000, strata=strata)[:, rows]
    for stratum, size in enumerate([2, 4, 1]):
        assert_array_equal(counts[:, strata == stratum].sum(axis=1), size)
    assert_allclose(counts.mean(axis=0), 1, atol=4 / np.sqrt(2000))


def test_poisson_pieces_of_rows_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(1).normal(0.1, 1, (90, 2))
    values[::4, 1] = np.nan
    d = paired_differences(np.zeros(90), values)
    whole = paired_bootstrap(d, scheme="poisson", resamples=99)
    monkeypatch.setattr(resampling, "_POISSON_ROWS", 16)
    monkeypatch.setattr(resampling, "_POISSON_RESAMPLES", 5)
    for batch in (None, 1, 13):
        part = paired_bootstrap(d, scheme="poisson", resamples=99, batch=batch)
        assert_array_equal(part.low, whole.low)
        assert_array_equal(part.p_value, whole.p_value)


def test_a_resample_without_any_row_counts_against_the_difference() -> None:
    d = paired_differences(np.zeros(2), [0.4, 0.5])
    for alternative in ("two-sided", "greater", "less"):
        result = paired_bootstrap(d, scheme="poisson", resamples=999, alternative=alternative)
        # both counts are 0 with probability exp(−2) = .135
        assert result.p_value[0] > 0.09
        assert result.counts.sum() < 950
    result = paired_bootstrap(d, scheme="poisson", resamples=999)
    assert (result.low[0], result.high[0]) == (-np.inf, np.inf)
    assert 0 < result.standard_error[0] < 0.05


@pytest.mark.slow
def test_a_million_rows_stay_within_a_gibibyte() -> None:
    import tracemalloc  # noqa: PLC0415 - slows everything while it is on

    values = np.random.default_rng(1).normal(0.002, 1, 1_000_000)
    d = paired_differences(np.zeros(1_000_000), values)
    tracemalloc.start()
    result = paired_bootstrap(d, scheme="poisson", resamples=1000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**29
    assert_allclose(result.standard_error, values.std() / 1000, rtol=4 / np.sqrt(2000))
