"""The study's own arithmetic on matrices small enough to check by hand."""

from __future__ import annotations

import numpy as np
import pytest

from tests.calibration.draws import (
    draw,
    draw_systems,
    median_set,
    pseudo_median_set,
    random_families,
    random_pairs,
    share,
)

VALUES = np.array([[0.0, 0.5, 0.5, 0.25], [1.0, 0.25, 0.25, 0.5], [0.5, 1.0, 1.0, 0.75]])
"""The second and the third system are the same."""


def test_pairs_differ_on_some_query() -> None:
    first, second = random_pairs(np.random.default_rng(1), VALUES, 500)
    assert np.all(np.any(VALUES[:, first] != VALUES[:, second], axis=0))
    assert set(first) == set(second) == {0, 1, 2, 3}


def test_families_have_one_baseline_and_distinct_systems() -> None:
    baselines, systems = random_families(np.random.default_rng(1), VALUES, 200, 2)
    assert np.all(baselines[:, 0] == baselines[:, 1])
    assert np.all(systems[:, 0] != systems[:, 1])
    assert np.all(np.any(VALUES[:, baselines] != VALUES[:, systems], axis=0))


def test_families_larger_than_the_matrix_take_a_system_twice() -> None:
    _, systems = random_families(np.random.default_rng(1), VALUES, 50, 4)
    assert systems.shape == (50, 4)


def test_drawn_differences_are_those_of_some_query_and_their_truth_is_the_mean_of_all() -> None:
    rng = np.random.default_rng(2)
    sample = draw(rng, VALUES, np.array([0, 3]), np.array([1, 0]), n=40, way="as drawn")
    drawn = sample.differences.integers * sample.differences.unit
    for column, (baseline, system) in enumerate([(0, 1), (3, 0)]):
        assert set(np.unique(drawn[:, column])) == set(VALUES[:, system] - VALUES[:, baseline])
    assert sample.truth.tolist() == pytest.approx([0.25 / 3, 0.0])


def test_centred_differences_have_mean_0_in_the_population() -> None:
    sample = draw(np.random.default_rng(2), VALUES, np.array([0]), np.array([1]), n=40, way="centred")
    assert sample.truth == pytest.approx([0.0], abs=1e-15)
    drawn = np.unique(sample.differences.integers * sample.differences.unit)
    assert drawn == pytest.approx(np.unique(VALUES[:, 1] - VALUES[:, 0] - 0.25 / 3), abs=1e-9)


def test_swapping_turns_the_sign_of_half_the_queries_in_all_columns_of_a_family() -> None:
    baselines, systems = np.zeros(6, dtype=np.int64), np.array([1, 2, 3, 1, 2, 3])
    sample = draw(np.random.default_rng(3), VALUES, baselines, systems, n=400, way="swapped", joint=3)
    drawn = sample.differences.integers * sample.differences.unit
    # on each query the second and the fourth system lie on the same side of the first one
    for family in (slice(0, 3), slice(3, 6)):
        sides = np.sign(drawn[:, family])
        assert np.all(sides == sides[:, :1])
    assert 0.4 < np.mean(drawn[:, 0] > 0) < 0.6
    assert np.any(drawn[:, 0] != drawn[:, 3])
    assert np.all(sample.truth == 0)


def test_queries_of_a_family_are_drawn_together() -> None:
    baselines, systems = np.zeros(3, dtype=np.int64), np.array([1, 2, 3])
    sample = draw(np.random.default_rng(3), VALUES, baselines, systems, n=60, way="as drawn", joint=3)
    drawn = sample.differences.integers * sample.differences.unit
    assert np.array_equal(drawn[:, 0], drawn[:, 1])


@pytest.mark.parametrize("way", ["centred", "swapped", "as drawn"])
def test_systems_drawn_together(way: str) -> None:
    values, truth = draw_systems(np.random.default_rng(4), VALUES, n=500, size=3, way=way)
    assert values.shape == (500, 3)
    assert truth.shape == (3,)
    assert values.mean(axis=0) == pytest.approx(truth if way != "swapped" else np.full(3, values.mean()), abs=0.06)
    assert (np.ptp(truth) == 0) == (way != "as drawn")


def test_medians_of_an_even_and_an_odd_number_of_values() -> None:
    least, most = median_set(np.array([[4.0], [1.0], [2.0], [8.0]]))
    assert (least.tolist(), most.tolist()) == ([2.0], [4.0])
    least, most = median_set(np.array([[4.0], [1.0], [8.0]]))
    assert least.tolist() == most.tolist() == [4.0]


def test_pseudo_median_counts_ordered_pairs_of_independent_draws() -> None:
    # averages 0, 1.5, 1.5, 3: unlike the estimate from a sample, both orders of a pair count
    least, most = pseudo_median_set(np.array([[0.0], [3.0]]))
    assert least.tolist() == most.tolist() == [1.5]


def test_share_and_its_standard_error() -> None:
    rate, error = share(np.array([True, False, False, False]))
    assert rate == 0.25
    assert error == pytest.approx(np.sqrt(0.25 * 0.75 / 4))
