"""Looks: bounds against published ones, scipy's multivariate normal and simulation; sequences; their duality."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from scipy import optimize, stats

from rankstats.errors import RankstatsError
from rankstats.stats import (
    confidence_sequence,
    mixture_sprt,
    running_sequence,
    sequential_bounds,
    sequential_inflation,
    sequential_test,
    spent_level,
)
from rankstats.stats.sequential_boundaries import exit_probabilities

Floats = NDArray[np.float64]
EQUAL = np.arange(1, 6) / 5
SPENDINGS = ["obrien-fleming", "pocock", "power"]


@pytest.mark.parametrize(
    ("information", "published"),
    [
        # R's ldbounds, two-sided .05, O'Brien–Fleming type
        (EQUAL, [4.8769, 3.3570, 2.6803, 2.2898, 2.0310]),
        # the same at unequal times, as printed on the list R-help in March 2020
        ([0.10, 0.33, 1.00], [6.9913, 3.7308, 1.9605]),
    ],
)
def test_published_bounds(information: Any, published: list[float]) -> None:
    ours = sequential_bounds(information)
    # ldbounds integrates on a grid that is good to about 1e-4
    assert_allclose(ours.bound, published, atol=1.5e-4)
    assert_allclose(ours.nominal_p, 2 * stats.norm.sf(ours.bound), rtol=1e-12)


def test_published_exit_probabilities() -> None:
    """The other columns of that output of ldbounds."""
    assert_allclose(sequential_bounds([0.10, 0.33, 1.00]).spent, [2.7227e-12, 1.9097e-04, 5.0000e-02], rtol=1e-4)


@pytest.mark.parametrize(("looks", "constant"), [(2, 2.178), (3, 2.289), (5, 2.413), (10, 2.555)])
def test_published_constants_of_pocock(looks: int, constant: float) -> None:
    """Jennison & Turnbull 2000, table 2.1: equal bounds of level .05."""
    t = np.arange(1, looks + 1) / looks
    below, above = exit_probabilities(t, np.full(looks, -constant), np.full(looks, constant))
    assert_allclose(below.sum() + above.sum(), 0.05, atol=1e-4)


@pytest.mark.parametrize(("looks", "constant"), [(2, 1.977), (5, 2.040), (10, 2.087)])
def test_published_constants_of_obrien_and_fleming(looks: int, constant: float) -> None:
    """Jennison & Turnbull 2000, table 2.3."""
    t = np.arange(1, looks + 1) / looks
    below, above = exit_probabilities(t, -constant / np.sqrt(t), constant / np.sqrt(t))
    assert_allclose(below.sum() + above.sum(), 0.05, atol=1e-4)


@pytest.mark.parametrize(
    ("bounds", "power", "published"),
    [
        (np.full(5, 2.413), 0.8, 1.228),
        (np.full(5, 2.413), 0.9, 1.206),
        (2.040 / np.sqrt(EQUAL), 0.8, 1.028),
        (2.040 / np.sqrt(EQUAL), 0.9, 1.026),
    ],
)
def test_published_inflation(bounds: Floats, power: float, published: float) -> None:
    """Jennison & Turnbull 2000, tables 2.2 and 2.4: more units at the last look than a fixed test."""

    def missing(drift: float) -> float:
        return float(np.sum(exit_probabilities(EQUAL, -bounds, bounds, drift=drift))) - power

    drift = optimize.brentq(missing, 0.5, 10)
    assert_allclose((drift / (stats.norm.isf(0.025) + stats.norm.ppf(power))) ** 2, published, atol=6e-4)


@pytest.mark.parametrize("information", [[0.3, 1.0], [0.1, 0.35, 1.0], [0.2, 0.5, 0.55, 1.0]])
@pytest.mark.parametrize("spending", SPENDINGS)
@pytest.mark.parametrize("drift", [0.0, 2.5])
def test_probabilities_equal_scipys_multivariate_normal(information: list[float], spending: str, drift: float) -> None:
    t = np.array(information)
    bound = sequential_bounds(t, spending=spending).bound
    below, above = exit_probabilities(t, -bound, bound, drift=drift)
    correlation = np.sqrt(np.minimum.outer(t, t) / np.maximum.outer(t, t))
    stays = stats.multivariate_normal(drift * np.sqrt(t), correlation).cdf(bound, lower_limit=-bound)
    # scipy integrates at random, to about 1e-5
    assert_allclose(below.sum() + above.sum(), 1 - stays, atol=6e-5)


@given(
    st.lists(st.integers(1, 100), min_size=1, max_size=6, unique=True),
    st.sampled_from(SPENDINGS),
    st.sampled_from([0.01, 0.05, 0.2]),
    st.booleans(),
)
@settings(max_examples=20)
def test_every_look_spends_what_it_may(places: list[int], spending: str, alpha: float, two_sided: bool) -> None:
    t = np.sort(places) / 100
    design = sequential_bounds(t, alpha=alpha, spending=spending, two_sided=two_sided)
    lower = -design.bound if two_sided else np.full(len(t), -np.inf)
    below, above = exit_probabilities(t, lower, design.bound)
    spent = above + (below if two_sided else 0)
    assert_allclose(spent, np.diff(design.spent, prepend=0), rtol=1e-8, atol=1e-14)
    assert_allclose(design.spent, spent_level(t, alpha=alpha, spending=spending, two_sided=two_sided))


def test_spending_functions_by_their_formulas() -> None:
    t = np.array([0.1, 0.5, 1.0, 1.2])
    of_side = 2 * stats.norm.sf(stats.norm.isf(0.0125) / np.sqrt(np.minimum(t, 1)))
    assert_allclose(spent_level(t), 2 * of_side, rtol=1e-9)
    assert_allclose(spent_level(t, spending="pocock")[1], 0.05 * np.log(1 + (np.e - 1) / 2))
    assert_allclose(spent_level(t, spending="power", exponent=3)[1], 0.05 / 8)
    assert_allclose(spent_level([0.0, 1.0], alpha=0.1, spending="pocock", two_sided=False), [0, 0.1])


@pytest.mark.parametrize("spending", SPENDINGS)
def test_later_looks_leave_earlier_bounds_alone(spending: str) -> None:
    whole = sequential_bounds(EQUAL, spending=spending).bound
    assert_array_equal(sequential_bounds(EQUAL[:3], spending=spending).bound, whole[:3])


def test_one_look_is_the_fixed_test() -> None:
    for spending in SPENDINGS:
        ours = sequential_test([0.2], [0.1], [1.0], spending=spending)
        assert_allclose(ours.bound[0], stats.norm.isf(0.025), rtol=1e-12)
        assert_allclose([ours.p_repeated[0], ours.p_stagewise], 2 * stats.norm.sf(2.0), rtol=1e-6)
        assert_allclose(ours.low[0], 0.2 - 0.1 * stats.norm.isf(0.025))


def test_the_first_look_is_not_tested_at_the_spent_level_of_the_last() -> None:
    early = sequential_bounds([0.01, 1.0])
    assert early.nominal_p[0] < 1e-100
    assert early.nominal_p[1] == pytest.approx(0.05)


def test_ended_early_and_gone_too_far() -> None:
    ended = sequential_bounds([0.3, 0.7], last=True)
    assert ended.spent[-1] == pytest.approx(0.05)
    assert ended.bound[1] < sequential_bounds([0.3, 0.7]).bound[1]
    beyond = sequential_bounds([0.5, 1.1, 1.3])
    assert beyond.spent[1] == pytest.approx(0.05)
    assert np.isinf(beyond.bound[2])
    read = sequential_test([0.1, 0.1, 9.0], [0.1, 0.1, 0.1], [0.5, 1.1, 1.3])
    assert not read.rejects[2]
    assert np.isinf(read.low[2])


def _paths(rng: np.random.Generator, t: Floats, count: int, drift: float = 0.0) -> Floats:
    steps = rng.normal(size=(count, len(t))) * np.sqrt(np.diff(t, prepend=0))
    return (np.cumsum(steps, axis=1) + drift * t) / np.sqrt(t)


@pytest.mark.parametrize("spending", SPENDINGS)
def test_level_by_simulation(spending: str) -> None:
    """A million paths: the band is 4 Monte Carlo standard errors."""
    t = np.array([0.15, 0.4, 0.75, 1.0])
    bound = sequential_bounds(t, spending=spending).bound
    crossed = np.abs(_paths(np.random.default_rng(1), t, 1_000_000)) >= bound
    assert abs(crossed.any(axis=1).mean() - 0.05) < 4 * np.sqrt(0.05 * 0.95 / 1e6)


def test_inflation_reaches_the_power() -> None:
    design = sequential_bounds(EQUAL, spending="pocock")
    drift = np.sqrt(sequential_inflation(design)) * (stats.norm.isf(0.025) + stats.norm.ppf(0.8))
    crossed = (np.abs(_paths(np.random.default_rng(2), EQUAL, 200_000, drift)) >= design.bound).any(axis=1)
    assert abs(crossed.mean() - 0.8) < 4 * np.sqrt(0.16 / 2e5)
    one_sided = sequential_bounds(EQUAL, alpha=0.025, two_sided=False)
    assert_allclose(sequential_inflation(one_sided), sequential_inflation(sequential_bounds(EQUAL)), rtol=1e-3)


ARGUMENTS = st.tuples(
    st.integers(0, 10_000),
    st.sampled_from(SPENDINGS),
    st.sampled_from(["two-sided", "greater", "less"]),
    st.sampled_from([0.01, 0.05, 0.2]),
    st.sampled_from([np.inf, 12.0]),
)


@given(ARGUMENTS)
@settings(max_examples=15)
def test_bounds_intervals_and_p_values_agree(case: tuple[int, str, str, float, float]) -> None:
    seed, spending, alternative, alpha, df = case
    rng = np.random.default_rng(seed)
    t = np.sort(rng.random(3)) * 0.9 + 0.1
    estimates = rng.normal(0.5, 1, 3) * (-1 if alternative == "less" else 1)
    ours = sequential_test(
        estimates, [0.6, 0.45, 0.3], t, df=df, alpha=alpha, spending=spending, alternative=alternative
    )
    assert_array_equal(ours.rejects, (ours.low > 0) | (ours.high < 0))
    assert_array_equal(ours.rejects, ours.p_repeated <= alpha)
    assert bool(ours.p_stagewise <= alpha) == bool(ours.rejects.any())
    assert np.all(ours.p_repeated >= ours.p_value * (1 - 1e-9))
    assert np.all(ours.nominal_p <= alpha)


@pytest.mark.parametrize("spending", SPENDINGS)
def test_the_repeated_p_value_is_where_the_design_begins_to_reject(spending: str) -> None:
    estimates, errors, t = [0.3, 0.25, 0.2], [0.15, 0.1, 0.08], [0.25, 0.6, 1.0]
    p = sequential_test(estimates, errors, t, spending=spending).p_repeated
    for look in range(3):
        for factor, rejects in ((0.999, False), (1.001, True)):
            again = sequential_test(estimates, errors, t, spending=spending, alpha=min(p[look] * factor, 0.999))
            assert bool(again.rejects[look]) == rejects


@pytest.mark.slow
def test_stagewise_p_values_are_uniform_under_no_effect() -> None:
    t = np.array([0.3, 0.6, 1.0])
    read = [sequential_test(row, np.ones(3), t) for row in _paths(np.random.default_rng(3), t, 1000)]
    assert stats.kstest([one.p_stagewise for one in read], "uniform").pvalue > 0.001
    repeated = np.array([one.p_repeated.min() for one in read])
    for alpha in (0.01, 0.05, 0.2):
        assert np.mean(repeated <= alpha) < alpha + 4 * np.sqrt(alpha * (1 - alpha) / 1000)


def test_no_spread_never_rejects() -> None:
    ours = sequential_test([1.0, 2.0], [0.0, 0.0], [0.5, 1.0])
    assert not ours.rejects.any()
    assert ours.stopped == -1
    assert np.isinf(ours.low).all()
    assert ours.to_dicts()[0]["statistic"] is None


@given(st.integers(0, 10_000), st.sampled_from([0.01, 0.05, 0.2]), st.sampled_from([50, 1000, 100_000]))
def test_sequences_agree_with_their_p_values(seed: int, alpha: float, n_star: int) -> None:
    rng = np.random.default_rng(seed)
    n = np.cumsum(rng.integers(1, 400, 6))
    ours = confidence_sequence(rng.normal(0.2, 0.3, 6), rng.exponential(0.1, 6), n, n_star=n_star, alpha=alpha)
    assert_array_equal(ours.p_value <= alpha, (ours.low > 0) | (ours.high < 0))
    running = running_sequence(ours)
    assert np.all(np.diff(running.p_value) <= 0)
    outside = (running.low > 0) | (running.high < 0)
    empty = np.isnan(running.low)
    assert_array_equal((running.p_value <= alpha)[~empty], outside[~empty])
    assert running.stopped == (int(np.argmax(running.rejects)) if running.rejects.any() else -1)


def test_sequences_are_tightest_near_the_declared_number() -> None:
    n = np.array([100, 1000, 10_000])
    widths = {star: confidence_sequence(0.0, 1 / np.sqrt(n), n, n_star=star).half_width * np.sqrt(n) for star in n}
    for place, star in enumerate(n):
        assert widths[star][place] == min(of[place] for of in widths.values())
        # the price of looking at will: about half as wide again as the fixed interval
        assert 1.96 < widths[star][place] < 1.6 * 1.96


def test_sequences_without_anything_to_go_by() -> None:
    ours = confidence_sequence([np.nan, 0.5, 0.5], [0.1, 0.0, 0.1], [5, 5, 0], n_star=10)
    assert np.isnan([ours.p_value[0], ours.low[0]]).all()
    assert ours.p_value[1:].tolist() == [1.0, 1.0]
    assert np.isinf(ours.half_width[1:]).all()
    assert confidence_sequence(1e6, 1.0, 100, n_star=10).p_value[0] > 0
    early = confidence_sequence([5.0, 5.0], 1.0, [99, 100], n_star=100, least_n=100)
    assert early.p_value[0] == 1
    assert early.p_value[1] < 0.01
    apart = confidence_sequence([1.0, -1.0], [0.01, 0.01], [100, 200], n_star=100)
    assert np.isnan(running_sequence(apart).low[1])


@given(st.integers(0, 10_000), st.sampled_from([0.05, 0.2]))
@settings(max_examples=40)
def test_mixture_intervals_agree_with_their_p_values(seed: int, alpha: float) -> None:
    rng = np.random.default_rng(seed)
    d = rng.normal(0.3, 1, 60)
    n = np.array([3, 10, 30, 60])
    means: Any = [d[:size].mean() for size in n]
    ours = mixture_sprt(means, n, variance=1.0, mixing_variance=0.2, alpha=alpha)
    empty = np.isnan(ours.low)
    assert_array_equal(ours.rejects[~empty], ((ours.low > 0) | (ours.high < 0))[~empty])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sequential_bounds([0.5, 0.5]), "ascending"),
        (lambda: sequential_bounds([0.0, 1.0]), "more than 0"),
        (lambda: sequential_bounds([0.5], spending="obrien-flemming"), "did you mean 'obrien-fleming'"),
        (lambda: sequential_bounds([0.5], spending="power", exponent=0), "exponent"),
        (lambda: sequential_bounds([0.5], alpha=1.0), "between 0 and 1"),
        (lambda: sequential_test([0.1, 0.2], [0.1], [0.5, 1.0]), "one for each of the 2 looks"),
        (lambda: sequential_test([0.1], [-0.1], [1.0]), "at least 0"),
        (lambda: sequential_test([0.1], [0.1], [1.0], alternative="up"), "alternative"),
        (lambda: sequential_inflation(sequential_bounds([0.5])), "information 1"),
        (lambda: sequential_inflation(sequential_bounds([0.5, 1.0]), 0.01), "power"),
        (lambda: confidence_sequence(0.1, 0.1, 10, n_star=0), "planned for"),
        (lambda: confidence_sequence(0.1, -0.1, 10, n_star=10), "at least 0"),
        (lambda: confidence_sequence(0.1, 0.1, 10, n_star=10, least_n=0), "least_n"),
        (lambda: running_sequence(confidence_sequence([0.1, 0.1], 0.1, [10, 5], n_star=10)), "order of their units"),
        (lambda: mixture_sprt([0.1], [5], variance=0.0, mixing_variance=1.0), "more than 0"),
        (lambda: mixture_sprt([0.1, 0.1], [5, 4], variance=1.0, mixing_variance=1.0), "ascending"),
    ],
)
def test_messages(call: Callable[[], object], message: str) -> None:
    with pytest.raises(RankstatsError, match=message):
        call()
