from __future__ import annotations

import json
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from rankstats import stats
from rankstats.stats import (
    bootstrap_max_t,
    effect_sizes,
    grouped_rank_correlation,
    heterogeneity_test,
    mean_interval,
    paired_bootstrap,
    paired_differences,
    paired_t,
    relative_difference,
    sign_flip_test,
    sign_test,
    signed_rank_test,
)

D = paired_differences(np.zeros((20, 3)), np.random.default_rng(0).normal(0.2, 1, (20, 3)))
RESULTS = [
    sign_flip_test(D, resamples=99),
    paired_bootstrap(D, resamples=99),
    bootstrap_max_t(D, resamples=99),
    paired_t(D),
    sign_test(D),
    signed_rank_test(D),
    effect_sizes(D),
    heterogeneity_test(D, np.arange(20) % 2, resamples=99),
    mean_interval(D.values),
    relative_difference(np.ones((20, 3)), D.values),
    grouped_rank_correlation(np.arange(6), np.arange(6), [0, 0, 1, 1, 2, 2]),
]


@pytest.mark.parametrize("result", RESULTS, ids=lambda result: type(result).__name__)
def test_one_row_a_column_of_plain_values(result: object) -> None:
    rows = result.to_dicts()  # type: ignore[attr-defined]  # every result has it
    assert len(rows) == 3
    assert json.loads(json.dumps(rows, allow_nan=True)) == rows


@pytest.mark.parametrize("result", RESULTS, ids=lambda result: type(result).__name__)
def test_frozen_and_slotted(result: object) -> None:
    with pytest.raises((FrozenInstanceError, TypeError)):
        result.n = 3  # type: ignore[attr-defined]  # it must not be possible
    assert not hasattr(result, "__dict__")


def test_undefined_is_none_and_unbounded_is_infinite() -> None:
    row = sign_flip_test(paired_differences([0.1, 0.1], [0.1, 0.1])).to_dicts()[0]
    assert row["low"] is None
    assert sign_flip_test(paired_differences([0.1], [0.2])).to_dicts()[0]["low"] == -np.inf


def test_all_public_names_exist_and_are_documented() -> None:
    for name in stats.__all__:
        assert getattr(stats, name).__doc__, name
