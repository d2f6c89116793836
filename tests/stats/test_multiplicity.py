from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from statsmodels.stats.multitest import multipletests

from rankstats.errors import RankstatsError
from rankstats.stats import CORRECTIONS, adjust, not_tighter
from tests.stats.cases import golden

NAMES = {
    "bonferroni": "bonferroni",
    "holm": "holm",
    "hochberg": "hochberg",
    "hommel": "hommel",
    "bh": "BH",
    "by": "BY",
    "sidak": "sidak_single",
    "holm-sidak": "sidak_stepdown",
}
p_values = st.lists(st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.01, 0.02, 0.05, 1.0])), min_size=1, max_size=30)


@pytest.mark.parametrize("method", NAMES)
@pytest.mark.parametrize("case", list(golden("multiplicity")["cases"]))
def test_equals_r(method: str, case: str) -> None:
    expected = golden("multiplicity")["cases"][case]
    assert_allclose(adjust(expected["p"], method), expected[NAMES[method]]["adjusted"], rtol=0, atol=1e-12)


@given(p_values, st.sampled_from(["bonferroni", "holm", "hochberg", "hommel", "sidak", "holm-sidak", "bh", "by"]))
def test_equals_statsmodels(p: list[float], method: str) -> None:
    theirs = {"hochberg": "simes-hochberg", "bh": "fdr_bh", "by": "fdr_by"}.get(method, method)
    with np.errstate(divide="ignore"):  # statsmodels takes the logarithm of 0 for p = 1
        expected = multipletests(p, method=theirs)[1]
    assert_allclose(adjust(p, method), expected, rtol=1e-9, atol=1e-12)


@given(p_values, st.sampled_from(CORRECTIONS))
def test_adjusted_is_never_below_and_keeps_the_order(p: list[float], method: str) -> None:
    adjusted = adjust(p, method)
    raw = np.array(p)
    assert np.all(adjusted >= raw * (1 - 1e-12))
    assert np.all(adjusted <= 1)
    assert np.all(np.diff(adjusted[np.argsort(raw, kind="stable")]) >= -1e-15)


@given(p_values, st.sampled_from(CORRECTIONS), st.randoms())
def test_the_order_of_comparisons_plays_no_part(p: list[float], method: str, random: object) -> None:
    order = np.random.default_rng(len(p)).permutation(len(p))
    assert_array_equal(adjust(np.array(p)[order], method), adjust(p, method)[order])


@pytest.mark.parametrize("method", CORRECTIONS)
def test_nan_is_no_comparison_and_one_is(method: str) -> None:
    assert_array_equal(adjust([0.01, np.nan, 0.04], method), np.insert(adjust([0.01, 0.04], method), 1, np.nan))
    assert adjust([0.01, 1.0], "bonferroni").tolist() == [0.02, 1.0]
    assert not np.isnan(adjust([0.01, 1.0, 1.0], method)).any()
    assert adjust([], method).shape == (0,)


def test_wider_ends_and_larger_p_win() -> None:
    p, low, high = not_tighter(([0.01, np.nan], [0.2, np.nan], [0.4, np.nan]), ([0.02, 0.5], [0.3, -1], [0.5, 1]))
    assert p.tolist() == [0.02, 0.5]
    assert low.tolist() == [0.2, -1]
    assert high.tolist() == [0.5, 1]


def test_messages() -> None:
    with pytest.raises(RankstatsError, match="did you mean 'holm'"):
        adjust([0.1], "holmes")
    with pytest.raises(RankstatsError, match="from 0 to 1"):
        adjust([1.2], "holm")
