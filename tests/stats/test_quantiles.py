from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from rankstats.stats.quantiles import QUANTILES, quantile_at


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 40), st.floats(0, 1), st.integers(0, 10**6))
def test_types_6_and_7_are_numpys(size: int, level: float, seed: int) -> None:
    ordered = np.sort(np.random.default_rng(seed).normal(size=(3, size)), axis=1)
    for convention, method in (("type7", "linear"), ("type6", "weibull")):
        expected = np.quantile(ordered, level, axis=1, method=method)  # type: ignore[call-overload] # a name is a name
        assert_allclose(quantile_at(ordered, np.full(3, level), convention), expected, atol=1e-12)


def test_positions_on_the_normal_scale() -> None:
    ordered = np.array([[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]])
    # 8 · .25 = 2 is a position; 8 · .3 = 2.4 is not
    assert quantile_at(ordered, np.array([0.25]), "norm.inter").tolist() == [2.0]
    z = stats.norm.ppf([0.3, 2 / 8, 3 / 8])
    expected = 2 + (z[0] - z[1]) / (z[2] - z[1]) * 2
    assert_allclose(quantile_at(ordered, np.array([0.3]), "norm.inter"), expected, rtol=1e-12)
    assert quantile_at(ordered, np.array([0.01]), "norm.inter").tolist() == [1.0]
    assert quantile_at(ordered, np.array([0.99]), "norm.inter").tolist() == [64.0]


@pytest.mark.parametrize("convention", QUANTILES)
def test_infinite_values_and_undefined_levels(convention: str) -> None:
    ordered = np.array([[-np.inf, -np.inf, 0.0, 1.0, np.inf]] * 5)
    levels = np.array([0.0, 0.3, 0.6, 0.9, np.nan])
    assert_array_equal(np.isfinite(quantile_at(ordered, levels, convention)), [False, False, True, False, False])
    values = quantile_at(ordered, levels, convention)
    assert values[0] == -np.inf
    assert values[1] == -np.inf
    assert values[3] == np.inf
    assert np.isnan(values[4])


@settings(deadline=None)
@given(st.sampled_from(QUANTILES), st.integers(1, 30), st.integers(0, 10**6))
def test_quantiles_rise_with_the_level(convention: str, size: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    ordered = np.sort(rng.integers(0, 9, (1, size)).astype(float), axis=1)
    found = [quantile_at(ordered, np.array([level]), convention)[0] for level in np.linspace(0, 1, 41)]
    assert np.all(np.diff(found) >= -1e-12)
    assert ordered[0, 0] <= min(found)
    assert max(found) <= ordered[0, -1]
