from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from rankstats.stats.studentised_maxima import many_to_one_tail, studentised_range_tail, upper_point

POINTS = np.array([0.01, 0.5, 1.5, 3.0, 4.5, 6.0])


@pytest.mark.parametrize(("m", "df"), [(3, 1), (3, 2), (4, 21), (10, 5), (40, 60), (129, 6272)])
def test_range_equals_scipy(m: int, df: int) -> None:
    assert_allclose(studentised_range_tail(POINTS, m, df), stats.studentized_range.sf(POINTS, m, df), atol=1e-8)


@pytest.mark.parametrize("df", [1, 2, 8, 30, 6000])
def test_two_means_are_students_t_to_the_last_tail(df: int) -> None:
    t = np.array([0.01, 0.5, 2.0, 4.0, 8.0])
    theirs = 2 * stats.t.sf(t, df)
    assert_allclose(studentised_range_tail(np.sqrt(2) * t, 2, df), theirs, rtol=1e-9)
    assert_allclose(many_to_one_tail(t, 1, df), theirs, rtol=1e-9)


def test_known_scale() -> None:
    assert_allclose(many_to_one_tail(POINTS, 1, np.inf), 2 * stats.norm.sf(POINTS), rtol=1e-9)
    assert_allclose(studentised_range_tail(POINTS, 5, np.inf), studentised_range_tail(POINTS, 5, 1e7), rtol=1e-4)


@pytest.mark.parametrize(("k", "df"), [(2, 8), (3, 21), (7, 4)])
def test_many_to_one_equals_the_multivariate_t(k: int, df: int) -> None:
    shape = np.full((k, k), 0.5) + np.eye(k) / 2
    theirs = stats.multivariate_t(shape=shape, df=df, seed=1)
    inside = theirs.cdf(np.full(k, 2.5), lower_limit=np.full(k, -2.5), maxpts=200_000 * k)
    assert_allclose(many_to_one_tail([2.5], k, df), 1 - inside, atol=1e-5)


@pytest.mark.parametrize("alpha", [0.001, 0.05, 0.5])
def test_upper_point(alpha: float) -> None:
    ours = upper_point(lambda q: float(studentised_range_tail([q], 6, 40)[0]), alpha)
    assert_allclose(ours, stats.studentized_range.ppf(1 - alpha, 6, 40), rtol=1e-6)


def test_far_points_are_0_and_near_ones_are_1() -> None:
    assert studentised_range_tail([0.0, 1e6], 5, 100).tolist() == [1.0, 0.0]
