"""A/A calibration: rates of known tests, what is trusted, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from rankstats.errors import RankstatsError
from rankstats.stats.aa_calibration import CALIBRATED_TESTS, TESTS_OF_THE_MEAN, Calibration, calibrate_tests


def _by_test(found: Calibration) -> dict[str, tuple[float, float]]:
    return {test.test: (test.level_exchanged, test.level_equal_means) for test in found.tests}


def test_normal_values_keep_every_level() -> None:
    values = np.random.default_rng(4).normal(0, 1, (2000, 2))
    found = calibrate_tests(values, n=40, repetitions=250, resamples=199)
    assert [test.test for test in found.tests] == list(CALIBRATED_TESTS)
    assert found.monte_carlo_error == pytest.approx((0.05 * 0.95 / 250) ** 0.5)
    for name, levels in _by_test(found).items():
        # the shifted bootstrap is a little eager at n = 40
        assert max(levels) <= 0.05 + 4 * found.monte_carlo_error + (0.02 if name == "bootstrap" else 0)
        assert min(levels) >= 0.01
    for test in found.tests:
        assert np.isnan(test.coverage) == (test.test not in TESTS_OF_THE_MEAN)
        if test.test in TESTS_OF_THE_MEAN:
            assert test.coverage >= 0.95 - 4 * found.monte_carlo_error - 0.02
    assert found.tests[1].width == 1.0
    assert found.trusted == "randomisation"


def test_a_test_that_speaks_of_the_median_is_seen_on_skewed_differences() -> None:
    rng = np.random.default_rng(5)
    values = np.zeros((400, 2))
    values[:, 1] = rng.exponential(1.0, 400)
    found = calibrate_tests(values, n=100, repetitions=150, resamples=99)
    levels = _by_test(found)
    # an exponential variable lies below its mean with probability 1 − 1/e, which is what the sign test finds
    assert levels["sign"][1] > 0.5
    assert levels["t"][1] < 0.12
    assert not next(test for test in found.tests if test.test == "sign").keeps_level


def test_the_bootstrap_is_not_trusted_with_ten_queries() -> None:
    values = np.random.default_rng(6).normal(0, 1, (500, 3))
    found = calibrate_tests(values, n=10, repetitions=400, resamples=199)
    bootstrap = next(test for test in found.tests if test.test == "bootstrap")
    assert not bootstrap.keeps_level
    assert bootstrap.width < 0.9
    assert found.trusted == "randomisation"
    assert (found.n, found.queries, found.pairs) == (10, 500, 3)


def test_the_same_seed_gives_the_same_rates() -> None:
    values = np.random.default_rng(7).uniform(0, 1, (30, 2))
    first, second = (calibrate_tests(values, repetitions=60, resamples=99, rng=3) for _ in range(2))
    assert _by_test(first) == _by_test(second)


def test_queries_with_an_undefined_value_are_left_out() -> None:
    values = np.random.default_rng(8).uniform(0, 1, (30, 2))
    values[:5, 0] = np.nan
    assert calibrate_tests(values, repetitions=20, resamples=99).queries == 25


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.zeros(5), "queries x systems are expected"),
        (np.ones((20, 2)), "two systems that differ on some query"),
        (np.random.default_rng(0).uniform(0, 1, (20, 1)), "two systems that differ"),
        (np.array([[0.0, 1.0]]), "two queries or more"),
    ],
)
def test_what_cannot_be_calibrated_is_refused(values: np.ndarray, message: str) -> None:
    with pytest.raises(RankstatsError, match=message):
        calibrate_tests(values)
