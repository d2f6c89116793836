"""The Poisson bootstrap of units: its counts, that it streams and merges, and quantiles of clustered rows."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from rankstats.errors import RankstatsError
from rankstats.stats import (
    arm_quantiles,
    bootstrap_quantiles,
    compare_arms,
    mean_pair,
    merge_poisson_sums,
    poisson_bootstrap,
    poisson_sums,
    quantile_pair,
    ratio_pair,
    unit_moments,
)
from rankstats.stats.poisson_bootstrap import unit_counts, unit_keys
from rankstats.stats.resampling import poisson_counts


def test_counts_are_poisson_in_both_directions() -> None:
    counts = unit_counts(unit_keys([f"user-{i}" for i in range(2000)], 2000, seed=7)[0], 500)
    observed = np.bincount(counts.ravel(), minlength=8)[:8]
    expected = stats.poisson.pmf(np.arange(8), 1) * counts.size
    # the shares are those of 65,536 values, no further than 2 of them from Poisson's
    assert np.all(np.abs(observed - expected) < 5 * np.sqrt(expected) + 3e-5 * counts.size)
    for axis in (0, 1):
        totals = counts.sum(axis=axis)
        variance = counts.shape[axis]
        assert abs(totals.var() / variance - 1) < 5 * np.sqrt(2 / len(totals))
    correlation = np.corrcoef(counts[:60].astype(float))[np.triu_indices(60, 1)]
    assert np.abs(correlation).max() < 5 / np.sqrt(500)


def test_neighbouring_seeds_and_ids_have_nothing_in_common() -> None:
    ids = np.arange(1000)
    keys = [unit_keys(ids, 1000, seed)[0] for seed in (0, 1)]
    counts = [unit_counts(key, 400).astype(float) for key in keys]
    assert abs(np.corrcoef(counts[0].ravel(), counts[1].ravel())[0, 1]) < 5 / np.sqrt(400_000)
    assert abs(np.corrcoef(counts[0][1:].ravel(), counts[0][:-1].ravel())[0, 1]) < 5 / np.sqrt(400_000)


def test_ids_are_text() -> None:
    numbers, texts = unit_keys([7, 10], 2, 0)[0], unit_keys(["7", "10"], 2, 0)[0]
    assert set(numbers.tolist()) == set(texts.tolist())
    assert_array_equal(unit_keys(np.array(["7", "10"], dtype=object), 2, 0)[0], texts)
    digest = blake2b(b"user", digest_size=8, salt=(3).to_bytes(8, "little")).digest()
    assert unit_keys(["user"], 1, 3)[0].tolist() == [int.from_bytes(digest, "little")]


def test_words_are_those_of_splitmix64() -> None:
    """The published sequence of seed 1234567 (Rosetta Code)."""
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
    seed = np.array([1234567], dtype=np.uint64)
    words = np.array(published, dtype="<u8").view("<u2")
    assert_array_equal(unit_counts(seed, 16)[0], poisson_counts(words))


def test_a_resample_is_the_sum_of_its_counted_rows() -> None:
    rng = np.random.default_rng(0)
    ids, values = np.array([f"u{i}" for i in range(40)]), rng.lognormal(size=(40, 2))
    values[3, 1] = np.nan
    keys, of_row = unit_keys(ids, 40, 5)
    counts = unit_counts(keys[of_row], 30).T.astype(float)
    ours = poisson_sums(ids, values, resamples=30, seed=5)
    present = ~np.isnan(values)
    wanted = counts @ np.nan_to_num(values) / (counts @ present)
    assert_allclose(ours.estimates, wanted, rtol=1e-13)
    assert_allclose(ours.estimate, np.nanmean(values, axis=0), rtol=1e-14)


@given(st.integers(0, 10_000), st.integers(1, 4))
@settings(max_examples=25)
def test_order_and_pieces_play_no_part(seed: int, pieces: int) -> None:
    rng = np.random.default_rng(seed)
    events = 60
    ids, clicks, shown = rng.integers(0, 20, events), rng.lognormal(size=events), 1.0 + rng.poisson(3, events)
    whole = poisson_sums(ids, clicks, shown, resamples=50, seed=seed)
    order = rng.permutation(events)
    parts = [
        poisson_sums(ids[rows], clicks[rows], shown[rows], resamples=50, seed=seed)
        for rows in np.array_split(order, pieces)
    ]
    merged = merge_poisson_sums(parts)
    assert_array_equal(merged.estimates, whole.estimates)
    assert_array_equal(merged.estimate, whole.estimate)


def test_spread_is_that_of_the_delta_method() -> None:
    rng = np.random.default_rng(1)
    shown = 1.0 + rng.poisson(5, 3000)
    clicks = rng.binomial(shown.astype(int), rng.beta(2, 6, 3000)).astype(float)
    arms = [slice(0, 1400), slice(1400, 3000)]
    sums = [poisson_sums(np.arange(3000)[rows], clicks[rows], shown[rows], resamples=2000) for rows in arms]
    ours = poisson_bootstrap(*sums)
    theirs = compare_arms(ratio_pair(*(unit_moments(clicks[rows], shown[rows]) for rows in arms)))
    assert_allclose(ours.estimate, theirs.estimate, rtol=1e-12)
    assert_allclose(ours.standard_error, theirs.standard_error, rtol=0.08)
    assert_allclose([ours.low, ours.high], [theirs.low, theirs.high], atol=0.15 * theirs.standard_error[0])
    relative = poisson_bootstrap(*sums, effect="relative")
    assert_allclose(
        relative.standard_error, compare_arms(_pair(clicks, shown, arms), scale="delta").standard_error, rtol=0.08
    )


def _pair(clicks: np.ndarray, shown: np.ndarray, arms: list[slice]) -> object:
    return ratio_pair(*(unit_moments(clicks[rows], shown[rows]) for rows in arms))


@given(st.integers(0, 10_000), st.sampled_from([0.01, 0.05, 0.3]), st.sampled_from(["difference", "relative"]))
@settings(max_examples=40)
def test_p_and_interval_agree(seed: int, alpha: float, effect: str) -> None:
    rng = np.random.default_rng(seed)
    control = poisson_sums(np.arange(30), rng.integers(0, 3, (30, 1)).astype(float), resamples=99)
    treatment = poisson_sums(np.arange(100, 130), rng.integers(0, 4, (30, 3)).astype(float), resamples=99)
    ours = poisson_bootstrap(control, treatment, effect=effect, alpha=alpha)
    known = ~np.isnan(ours.p_value)
    assert_array_equal((ours.p_value <= alpha)[known], ((ours.low > 0) | (ours.high < 0))[known])
    assert np.all(ours.p_value[known] > 0)


def test_arms_without_values() -> None:
    empty = poisson_sums(["a"], [np.nan], resamples=20)
    other = poisson_sums(["b", "c"], [1.0, 2.0], resamples=20)
    ours = poisson_bootstrap(empty, other)
    assert np.isnan([ours.p_value[0], ours.low[0], ours.percentile_low[0]]).all()
    assert ours.undefined[0] == 20
    zero = poisson_bootstrap(poisson_sums(["a", "d"], [0.0, 0.0], resamples=20), other, effect="relative")
    assert np.isnan(zero.estimate[0])


def test_quantiles_by_their_definition() -> None:
    rng = np.random.default_rng(2)
    values, units = rng.exponential(size=101), rng.integers(0, 30, 101)
    ours = arm_quantiles(values, units, levels=[0.25, 0.5, 0.9])
    assert_array_equal(ours.quantile, np.quantile(values, [0.25, 0.5, 0.9], method="inverted_cdf"))
    # the share of rows below is a ratio of sums over units
    below = np.bincount(units, weights=values <= ours.quantile[1], minlength=30)
    rows = np.bincount(units, minlength=30).astype(float)
    seen = rows > 0
    residual = below[seen] - below.sum() / rows.sum() * rows[seen]
    error = np.sqrt(residual.var(ddof=1) / seen.sum()) / rows[seen].mean()
    ends = np.quantile(values, [0.5 - 1.959964 * error, 0.5 + 1.959964 * error])
    assert_allclose(np.sqrt(ours.variance[1]), (ends[1] - ends[0]) / 2 / 1.959964, rtol=1e-6)


def test_the_standard_error_of_a_median_of_independent_rows() -> None:
    """The textbook's √(p (1 − p) / n) over the density, for an exponential distribution."""
    values = stats.expon.ppf((np.arange(20_000) + 0.5) / 20_000)
    ours = arm_quantiles(np.random.default_rng(0).permutation(values), levels=[0.5, 0.9])
    for place, level in enumerate((0.5, 0.9)):
        wanted = np.sqrt(level * (1 - level) / 20_000) / (1 - level)
        assert_allclose(np.sqrt(ours.variance[place]), wanted, rtol=0.01)
        assert_allclose(ours.density[place], 1 - level, rtol=0.01)


def test_rows_of_one_unit_are_not_independent() -> None:
    rng = np.random.default_rng(3)
    speed = rng.lognormal(0, 1, 200)
    values, units = np.repeat(speed, 20) * rng.lognormal(0, 0.1, 4000), np.repeat(np.arange(200), 20)
    clustered, alone = arm_quantiles(values, units), arm_quantiles(values)
    assert np.sqrt(clustered.variance[0] / alone.variance[0]) > 3


def test_delta_method_and_bootstrap_agree() -> None:
    rng = np.random.default_rng(4)
    arms = []
    for arm, factor in ((0, 1.0), (1, 1.15)):
        units = rng.integers(0, 400, 3000) + 1000 * arm
        arms.append((factor * rng.lognormal(0, 0.5, 3000) * np.exp(0.3 * np.sin(units)), units))
    pair = quantile_pair(*(arm_quantiles(*arm, levels=[0.5, 0.9]) for arm in arms))
    ours, theirs = compare_arms(pair), bootstrap_quantiles(*arms, levels=[0.5, 0.9])
    assert_allclose(ours.estimate, theirs.estimate, rtol=1e-12)
    assert_allclose(ours.standard_error, theirs.standard_error, rtol=0.2)
    relative = compare_arms(pair, scale="log")
    assert np.all((relative.low < 0.15) & (relative.high > 0.15))


def test_quantiles_in_pieces_of_resamples_and_any_order() -> None:
    rng = np.random.default_rng(5)
    values, units = rng.exponential(size=500), rng.integers(0, 90, 500)
    order = rng.permutation(500)
    arms = [(values, units), (values[::-1] + 0.1, units[::-1] + 1000)]
    one = bootstrap_quantiles(*arms, levels=[0.5], resamples=64)
    other = bootstrap_quantiles((values[order], units[order]), arms[1], levels=[0.5], resamples=64)
    assert_array_equal([one.p_value, one.low], [other.p_value, other.low])


def test_ties_leave_the_delta_method_without_spread() -> None:
    ours = compare_arms(quantile_pair(arm_quantiles([1.0] * 50), arm_quantiles([2.0] * 60)))
    assert ours.p_value[0] == 1
    assert np.isinf(ours.low[0])
    assert bootstrap_quantiles(([1.0] * 50, np.arange(50)), ([2.0] * 60, np.arange(60) + 50)).p_value[0] < 0.01


def test_missing_rows_do_not_count() -> None:
    ours = arm_quantiles([1.0, np.nan, 3.0, 2.0], ["u", "x", "v", "v"])
    assert ours.moments.n.tolist() == [2]
    assert ours.quantile[0] == 2


def test_means_agree_with_welch() -> None:
    rng = np.random.default_rng(6)
    a, b = rng.lognormal(size=800), rng.lognormal(0.1, 1, 900)
    ours = poisson_bootstrap(poisson_sums(np.arange(800), a), poisson_sums(np.arange(900) + 800, b))
    theirs = compare_arms(mean_pair(unit_moments(a), unit_moments(b)))
    assert abs(ours.p_value[0] - theirs.p_value[0]) < 0.05
    assert_allclose(ours.standard_error, theirs.standard_error, rtol=0.1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: poisson_sums(["a", "a"], [1.0, 2.0]), "unit a has more than one row"),
        (lambda: poisson_sums(["a"], [1.0, 2.0]), "one for each of the 2 rows"),
        (lambda: poisson_sums(["a", None], [1.0, 2.0]), "one for every row"),
        (lambda: poisson_sums([1.5], [1.0]), "text or whole numbers"),
        (lambda: poisson_sums(["a"], [1.0], [1.0, 2.0]), "rows are the same"),
        (lambda: poisson_sums(["a"], [np.inf]), "infinite"),
        (lambda: poisson_sums(["a"], [1.0], seed=2**63), "below 2"),
        (lambda: poisson_sums(["a"], [1.0], resamples=0), "at least 1"),
        (
            lambda: poisson_bootstrap(poisson_sums(["a"], [1.0], seed=1), poisson_sums(["b"], [1.0], seed=2)),
            "same seed",
        ),
        (
            lambda: merge_poisson_sums([poisson_sums(["a"], [1.0], resamples=4), poisson_sums(["b"], [1.0])]),
            "number of resamples",
        ),
        (lambda: arm_quantiles([1.0], levels=1.0), "between 0 and 1"),
        (lambda: arm_quantiles([np.nan]), "there is none"),
        (lambda: arm_quantiles([[1.0]]), "of shape"),
        (lambda: quantile_pair(arm_quantiles([1.0]), arm_quantiles([1.0], levels=0.9)), "treatment"),
        (lambda: bootstrap_quantiles(([1.0], [1, 2]), ([1.0], [3])), "one id for each row"),
        (lambda: bootstrap_quantiles(([1.0], [1]), ([1.0], [3]), effect="ratio"), "effect"),
    ],
)
def test_messages(call: Callable[[], object], message: str) -> None:
    with pytest.raises(RankstatsError, match=message):
        call()
