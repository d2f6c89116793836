from __future__ import annotations

import json
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_array_equal

from rankstats.errors import RankstatsError
from rankstats.stats import (
    all_pairs,
    best_systems,
    conover_test,
    discriminative_power,
    dunnett,
    flip_max_t,
    flip_min_p,
    friedman_test,
    nemenyi_test,
    paired_bootstrap,
    pairwise_differences,
    randomised_tukey,
    rank_intervals,
    tukey_hsd,
    two_way_anova,
)
from tests.stats.several import made, matrices


def test_ranks_count_significant_pairs() -> None:
    # D beats A and B; C beats A
    estimates, significant = np.zeros(6), np.zeros(6, dtype=bool)
    for number, (a, b) in enumerate(zip(*all_pairs(4), strict=True)):
        estimates[number], significant[number] = b - a, (int(a), int(b)) in {(0, 3), (1, 3), (0, 2)}
    result = rank_intervals(estimates, significant)
    assert list(zip(result.low.tolist(), result.high.tolist(), strict=True)) == [(3, 4), (2, 4), (1, 3), (1, 2)]
    assert result.n_worse.tolist() == [0, 0, 1, 2]
    mirrored = rank_intervals(-estimates, significant)
    assert_array_equal(mirrored.low, 5 - result.high)


@settings(deadline=None, max_examples=40)
@given(matrices())
def test_observed_ranks_lie_within(values: np.ndarray) -> None:
    result = randomised_tukey(values, resamples=99, alpha=0.2)
    if not result.n:
        return
    means = values[~np.isnan(values).any(axis=1)].mean(axis=0)
    ranks = rank_intervals(result.estimate, result.p_adjusted <= 0.2)
    m = values.shape[1]
    above = np.array([np.count_nonzero(means > mean + 1e-7) for mean in means])
    below = np.array([np.count_nonzero(means < mean - 1e-7) for mean in means])
    assert np.all(ranks.low <= m - below)
    assert np.all(ranks.high >= 1 + above)
    assert np.all((ranks.low >= 1) & (ranks.low <= ranks.high) & (ranks.high <= m))


@pytest.mark.slow
def test_rank_intervals_hold_the_true_ranks_at_once() -> None:
    truth, repetitions, covered = np.array([0.0, 0.1, 0.3, 0.35, 0.8]), 400, 0
    for repetition in range(repetitions):
        rng = np.random.default_rng(repetition)
        d = pairwise_differences(rng.normal(truth, 0.4, (40, 5)) + rng.normal(0, 0.5, (40, 1)))
        result = flip_max_t(d, resamples=399, rng=repetition)
        ranks = rank_intervals(result.estimate, result.p_adjusted <= 0.05)
        covered += bool(np.all((ranks.low <= [5, 4, 3, 2, 1]) & (ranks.high >= [5, 4, 3, 2, 1])))
    assert covered / repetitions > 0.95 - 4 * np.sqrt(0.05 * 0.95 / repetitions)


def test_discriminative_power_by_measures() -> None:
    sharp, blunt = (pairwise_differences(made(30, 6, seed=2, spread=spread)) for spread in (0.4, 0.05))
    results = [paired_bootstrap(d, resamples=499) for d in (sharp, blunt)]
    p = np.column_stack([result.p_value for result in results])
    widths = np.column_stack([(result.high - result.low) / 2 for result in results])
    power = discriminative_power(p, widths)
    assert power.pairs == 15
    assert power.told_apart.tolist() == [int(np.sum(p[:, 0] <= 0.05)), int(np.sum(p[:, 1] <= 0.05))]
    assert power.power[0] > power.power[1]
    assert np.all(np.diff(power.curve, axis=1) <= 0)
    assert_array_equal(np.sort(power.curve[0]), np.sort(p[:, 0]))
    # a difference as large as required is significant for every pair
    for column, result in enumerate(results):
        large = np.abs(result.estimate) > power.required_difference[column]
        assert np.all(p[large, column] <= 0.05)
    assert np.isnan(discriminative_power(p).required_difference).all()


@pytest.mark.parametrize(
    ("p", "arguments", "message"),
    [
        (np.full(6, 0.5), {}, "at least 5 systems"),
        (np.full(11, 0.5), {}, "11 pairs"),
        (np.full(10, 1.5), {}, "from 0 to 1"),
        (np.full(10, np.nan), {}, "from 0 to 1"),
        (np.full((1, 2, 3), 0.5), {}, "measures"),
        (np.full(10, 0.5), {"half_widths": np.ones((10, 2))}, "half_widths"),
        (np.full(10, 0.5), {"alpha": 0}, "alpha"),
    ],
)
def test_messages_of_discriminative_power(p: Any, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(RankstatsError, match=message):
        discriminative_power(p, **arguments)


def test_messages_of_rank_intervals() -> None:
    with pytest.raises(RankstatsError, match="4 pairs"):
        rank_intervals(np.zeros(4), np.zeros(4, dtype=bool))
    with pytest.raises(RankstatsError, match="one entry for each pair"):
        rank_intervals(np.zeros(3), np.zeros(6, dtype=bool))


VALUES = made(12, 3)
RESULTS = [
    (flip_max_t(pairwise_differences(VALUES)), 3),
    (flip_min_p(pairwise_differences(VALUES)), 3),
    (randomised_tukey(VALUES, resamples=99), 3),
    (two_way_anova(VALUES), 3),
    (tukey_hsd(VALUES), 3),
    (dunnett(VALUES), 2),
    (friedman_test(VALUES), 3),
    (nemenyi_test(VALUES), 3),
    (conover_test(VALUES), 3),
    (best_systems(VALUES, resamples=99), 3),
    (rank_intervals([0.1, 0.2, 0.1], [True, True, False]), 3),
    (discriminative_power(np.full((10, 2), 0.1)), 2),
]


@pytest.mark.parametrize(("result", "rows"), RESULTS, ids=lambda value: type(value).__name__)
def test_rows_of_plain_values_frozen_and_slotted(result: Any, rows: int) -> None:
    made_rows = result.to_dicts()
    assert len(made_rows) == rows
    assert json.loads(json.dumps(made_rows, allow_nan=True)) == made_rows
    with pytest.raises((FrozenInstanceError, TypeError)):
        result.n = 3
    assert not hasattr(result, "__dict__")
