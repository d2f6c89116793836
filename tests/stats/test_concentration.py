"""Concentration of gains against plain Python, and trimmed means against scipy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from rankstats.errors import RankstatsError
from rankstats.stats import concentration, paired_differences


@settings(max_examples=80, deadline=None)
@given(st.lists(st.integers(-20, 20), min_size=1, max_size=40), st.booleans(), st.integers(0, 10**6))
def test_equals_plain_python(numbers: list[int], weighted: bool, seed: int) -> None:
    values = [number / 40 for number in numbers]
    weights = np.random.default_rng(seed).integers(1, 5, len(values)) if weighted else np.ones(len(values), dtype=int)
    result = concentration(paired_differences([0.0] * len(values), values, weights))
    products = [number * int(weight) for number, weight in zip(numbers, weights, strict=True)]
    gain, loss = sum(p for p in products if p > 0), -sum(p for p in products if p < 0)
    side = (gain > loss) - (gain < loss)
    leading = sorted((side * p for p in products if side * p > 0), reverse=True)
    half = next((k for k in range(len(leading) + 1) if 2 * sum(leading[:k]) >= sum(leading)), 0) if leading else 0
    assert (result.side[0], result.movers[0], result.half[0]) == (side, len(leading), half)
    total = int(weights.sum()) * 40
    assert (result.gain[0], result.loss[0]) == (pytest.approx(gain / total), pytest.approx(-loss / total))
    if leading:
        assert result.share_of_largest[0] == pytest.approx(leading[0] / sum(leading))
    else:
        assert np.isnan(result.share_of_largest[0])


@pytest.mark.parametrize("trim", [0, 0.1, 0.2, 0.45])
def test_median_and_trimmed_mean_equal_scipy(trim: float) -> None:
    values = np.random.default_rng(5).normal(0, 1, (37, 3))
    values[::5, 1] = np.nan
    result = concentration(paired_differences(np.zeros(values.shape), values), trim=trim)
    for j in range(3):
        known = values[~np.isnan(values[:, j]), j]
        assert result.median[j] == pytest.approx(np.median(known))
        assert result.trimmed_mean[j] == pytest.approx(scipy_stats.trim_mean(known, trim))


def test_without_queries_and_with_weights_some_numbers_are_undefined() -> None:
    empty = concentration(paired_differences([np.nan], [0.3]))
    assert np.isnan([empty.median[0], empty.trimmed_mean[0], empty.gain[0]]).all()
    assert (empty.half[0], empty.side[0]) == (0, 0)
    weighted = concentration(paired_differences([0.0, 0.0], [0.3, 0.1], [1, 2]))
    assert np.isnan(weighted.median[0])
    with pytest.raises(RankstatsError, match=r"below 0\.5"):
        concentration(paired_differences([0.0], [0.1]), trim=0.5)
