from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose, assert_array_equal

from rankstats.errors import RankstatsError
from rankstats.stats import paired_differences, stack_columns
from rankstats.stats.exact_sums import power_of_two_at_least, to_grid
from tests.stats.cases import Case, cases, golden


def test_equal_differences_stay_equal() -> None:
    baseline, system = [0.1, 0.2, 0.3, 0.7], [0.3, 0.4, 0.5, 0.9]
    raw = np.subtract(system, baseline)
    assert len(set(raw.tolist())) > 1
    assert len(set(paired_differences(baseline, system).integers.ravel().tolist())) == 1


def test_unit_is_the_smallest_power_of_two_of_at_least_1e_10_of_the_largest_value() -> None:
    d = paired_differences([[0.0, 0.0]] * 2, [[1.0, 0.001]] * 2)
    assert_array_equal(d.unit, [2.0**-33, 2.0**-43])
    assert 2.0**-34 < 1e-10 <= 2.0**-33
    assert 2.0**-44 < 1e-13 <= 2.0**-43


def test_unit_grows_where_sums_would_overflow() -> None:
    n = 2**20
    d = paired_differences(np.zeros(n), np.ones(n))
    assert d.unit[0] == 2.0**-32
    assert np.abs(d.integers).sum() < 2**53


def test_a_difference_of_one_unit_is_a_tie() -> None:
    d = paired_differences([1.0, 1.0, 0.0], [1.0 + 2.0**-33, 1.0 + 2.0**-31, 1.0])
    assert d.integers.ravel().tolist() == [0.0, 4.0, 2.0**33]


@settings(deadline=None)
@given(cases())
def test_sums_are_exact_whatever_the_order(case: Case) -> None:
    d = case.differences
    for column in range(d.n_columns):
        exact = sum(Fraction(value) for value in d.numerators[:, column].tolist())
        assert Fraction(float(d.numerators[:, column].sum())) == exact
        assert sum(abs(Fraction(value)) for value in d.numerators[:, column].tolist()) < 2**53
    order = np.random.default_rng(0).permutation(d.n_rows)
    weights = None if case.weights is None else case.weights[order]
    shuffled = paired_differences(case.baseline[order], case.systems[order], weights)
    for name in ("mean", "standard_error", "standard_deviation", "n_effective", "total_weight"):
        assert_array_equal(getattr(shuffled, name), getattr(d, name), err_msg=name)


@settings(deadline=None)
@given(cases())
def test_rounding_changes_means_and_errors_by_no_more_than_the_unit(case: Case) -> None:
    d = case.differences
    weights = np.ones(d.n_rows) if case.weights is None else case.weights
    raw = case.systems - case.baseline
    for column in np.flatnonzero(d.n > 1):
        here = d.present[:, column]
        values, w, n = raw[here, column], weights[here], d.n[column]
        mean = np.average(values, weights=w)
        error = np.sqrt(n / (n - 1) * np.sum(w**2 * (values - mean) ** 2)) / w.sum()
        largest = max(np.nanmax(np.abs(case.systems[:, column])), np.abs(case.baseline).max())
        assert_allclose(d.mean[column], mean, rtol=0, atol=4e-10 * largest)
        assert_allclose(d.standard_error[column], error, rtol=1e-8, atol=4e-9 * largest)


def test_nan_in_either_makes_a_query_absent() -> None:
    d = paired_differences([0.1, np.nan, 0.3], [0.2, 0.5, np.nan])
    assert d.n.tolist() == [1]
    assert_allclose(d.values.ravel(), [0.1, np.nan, np.nan], atol=1e-10)


def test_linearised_error_and_effective_n_equal_r_survey() -> None:
    reference = golden("weighted")
    d = paired_differences(reference["a"], reference["b"], reference["p20"]["w"])
    assert_allclose(d.mean, reference["p20"]["mean_d"], atol=1e-9)
    assert_allclose(d.standard_error, reference["p20"]["svymean_se"], atol=1e-9)
    assert_allclose(d.n_effective, reference["p20"]["kish_ess"], atol=1e-9)


def test_weighted_mean_average_precision_of_a_toy() -> None:
    toy = golden("weighted")["p20"]["weighted_map_toy"]
    d = paired_differences(np.zeros(4), toy["ap"], toy["w"])
    assert_allclose(d.mean, toy["wmap"], atol=1e-9)


def test_equal_weights_count_as_none() -> None:
    plain = paired_differences([0.1, 0.2, 0.4], [0.3, 0.3, 0.1])
    equal = paired_differences([0.1, 0.2, 0.4], [0.3, 0.3, 0.1], [7, 7, 7])
    assert not equal.weighted
    assert equal.mean.tolist() == plain.mean.tolist()
    assert equal.standard_error.tolist() == plain.standard_error.tolist()


def test_segments_and_columns() -> None:
    d = paired_differences([0.1, 0.2, 0.4], [[0.3, 0.5], [0.3, 0.5], [0.1, 0.5]], [1, 2, 3])
    inside = d.within([True, False, True])
    assert inside.n.tolist() == [2, 2]
    assert stack_columns([d, inside]).select([2, 1]).mean.tolist() == [inside.mean[0], d.mean[1]]
    assert_allclose(d.negated().mean, -d.mean)


def test_queries_without_weight_are_absent() -> None:
    d = paired_differences([0.0, 0.0, 0.0], [0.3, 0.5, 0.9], [1.0, 3.0, 0.0])
    kept = paired_differences([0.0, 0.0], [0.3, 0.5], [1.0, 3.0])
    assert d.n.tolist() == [2]
    assert_allclose([d.mean, d.standard_error], [kept.mean, kept.standard_error], rtol=1e-9)
    assert paired_differences([0.0, 0.0], [0.3, 0.5], [1.0, 1e-12]).n.tolist() == [1]


def test_mean_of_nothing_is_undefined_without_a_warning() -> None:
    d = paired_differences([np.nan, np.nan], [0.1, 0.2])
    assert np.isnan(d.mean).all()
    assert np.isnan(d.standard_error).all()
    assert d.n_effective.tolist() == [0.0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 2], [1, 2, 3]), "queries are rows of both"),
        (([1, 2], [1, np.inf]), "infinite"),
        (([1, 2], [1, -1e101]), "beyond 1e100"),
        (([1, 2], [1, 2], [1]), "one for each of the 2 queries"),
        (([1, 2], [1, 2], [1, -1]), "not negative"),
        (([1, 2], [1, 2], [0, 0]), "at least one query must count"),
        (([[[1]]], [[[1]]]), "3 dimensions"),
    ],
)
def test_messages(arguments: tuple[list[float], ...], message: str) -> None:
    with pytest.raises(RankstatsError, match=message):
        paired_differences(*arguments)


def test_columns_of_other_weights_do_not_stack() -> None:
    with pytest.raises(RankstatsError, match="share their queries and weights"):
        stack_columns([paired_differences([1, 2], [2, 2]), paired_differences([1, 2], [2, 2], [1, 2])])


def test_powers_of_two() -> None:
    values = np.array([2.0**-1060, 1e-10, 1.0, 1.5, 1e300])
    powers = power_of_two_at_least(values)
    assert np.all(powers >= values)
    assert np.all((powers / 2 < values) | (powers == 2.0**-1000))


def test_grid_keeps_halves_and_rounds_symmetrically() -> None:
    values = np.array([[0.3, -0.3], [0.1, -0.1]])
    integers, unit = to_grid(values, 4)
    assert unit[0] == unit[1]
    assert_array_equal(integers[:, 0], -integers[:, 1])
