"""Weighted mean differences against R's survey package and a brute-force enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from rankstats.stats import Differences, paired_differences, paired_t, sign_flip_test, sign_flips
from tests.stats.cases import golden

REFERENCE = golden("weighted")
EXPECTED = REFERENCE["p20"]


def _differences(weights: object = EXPECTED["w"]) -> Differences:
    return paired_differences(REFERENCE["a"], REFERENCE["b"], weights)  # type: ignore[arg-type] # lists and arrays


def test_mean_error_and_design_effect_of_svymean() -> None:
    d = _differences()
    for value, key in (
        (d.mean, "mean_d"),
        (d.mean, "statsmodels_DescrStatsW_mean"),
        (d.standard_error, "svymean_se"),
        (d.standard_error, "linearised_se"),
        (d.n_effective, "kish_ess"),
        (20 / d.n_effective, "deff"),
        (_differences(None).mean, "unweighted_mean_d"),
    ):
        assert_allclose(value[0], EXPECTED[key], rtol=0, atol=1e-9, err_msg=key)


def test_means_of_both_systems() -> None:
    for key, values in (("mean_a", REFERENCE["a"]), ("mean_b", REFERENCE["b"])):
        assert_allclose(paired_differences(np.zeros(20), values, EXPECTED["w"]).mean, EXPECTED[key], rtol=0, atol=1e-9)


def test_jackknife_over_weighted_queries() -> None:
    left_out = [_differences(np.where(np.arange(20) == i, 0, EXPECTED["w"])).mean[0] for i in range(20)]
    assert_allclose(
        np.sqrt(19 / 20 * np.sum((left_out - np.mean(left_out)) ** 2)), EXPECTED["jackknife_se"], rtol=0, atol=1e-9
    )


def test_t_of_svyttest() -> None:
    """R's svyttest takes n − 2 degrees of freedom; here they are n − 1, as for the unweighted test."""
    t = paired_t(_differences())
    assert_allclose(t.statistic[0], EXPECTED["svyttest"]["t"], atol=1e-7)
    assert_allclose(2 * stats.t.sf(t.statistic[0], 18), EXPECTED["svyttest"]["p"], rtol=0, atol=1e-9)
    assert_allclose(t.p_value[0], EXPECTED["paired_t_weighted"]["df_n_minus_1"]["p"], rtol=0, atol=1e-9)


def test_all_1048576_patterns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sign_flips, "EXACT_UP_TO", 20)
    expected = EXPECTED["sign_flip_exact"]
    result = sign_flip_test(_differences())
    assert result.exact.all()
    assert result.p_value[0] * expected["total"] == expected["count_two"]
    assert result.p_value[0] == expected["p_two"]
    assert sign_flip_test(_differences(), alternative="greater").p_value[0] == expected["p_greater"]
