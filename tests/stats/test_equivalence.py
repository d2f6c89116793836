from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from statsmodels.stats.weightstats import ttost_paired

from rankstats.errors import RankstatsError
from rankstats.stats import (
    equivalence_test,
    noninferiority_test,
    paired_differences,
    paired_t,
    relative_difference,
    sign_flip_test,
)
from tests.stats.cases import Case, cases, golden

TESTS = st.sampled_from(["randomisation", "t"])
MARGINS = st.sampled_from([1e-6, 0.05, 0.1, 1 / 3, 0.5, 2.0])
ONE_SIDED = st.sampled_from([0.01, 0.05, 0.1, 0.25, 0.4])


@pytest.mark.parametrize("row", golden("equivalence")["tost"].values())
def test_tost_equals_r_statsmodels_and_pingouin(row: dict[str, Any]) -> None:
    data = golden("data")[row["data"]]
    result = equivalence_test(paired_differences(data["a"], data["b"]), row["margin"], test="t")
    assert_allclose([result.p_lower[0], result.p_upper[0]], [row["p_lower"], row["p_upper"]], rtol=1e-6)
    assert_allclose(result.p_value[0], row["statsmodels_p"], rtol=1e-6)
    assert_allclose([result.low[0], result.high[0]], row["ci90"], atol=1e-9)


@pytest.mark.parametrize("name", golden("equivalence")["noninferiority"])
def test_noninferiority_equals_r(name: str) -> None:
    data, row = golden("data")[name], golden("equivalence")["noninferiority"][name]
    result = noninferiority_test(paired_differences(data["a"], data["b"]), row["margin"], test="t")
    assert_allclose(result.p_value[0], row["p"], rtol=1e-6)
    assert_allclose(result.low[0], row["ci95_lower_one_sided"], atol=1e-9)


def test_tost_equals_statsmodels() -> None:
    rng = np.random.default_rng(1)
    for n in (5, 20, 100):
        a, b = rng.random(n), rng.random(n)
        p, (_, p_lower, _), (_, p_upper, _) = ttost_paired(b, a, -0.1, 0.1)
        result = equivalence_test(paired_differences(a, b), 0.1, test="t")
        assert_allclose([result.p_value[0], result.p_lower[0], result.p_upper[0]], [p, p_lower, p_upper], rtol=1e-6)


@settings(deadline=None)
@given(cases(most=60), MARGINS, ONE_SIDED, TESTS, st.sampled_from([1, 3]))
def test_equivalent_exactly_when_the_interval_lies_inside(
    case: Case, margin: float, alpha: float, test: str, family: int
) -> None:
    result = equivalence_test(case.differences, margin, alpha=alpha, test=test, resamples=99, family_size=family)
    assert_array_equal(result.equivalent, (result.low > -margin) & (result.high < margin))
    assert_array_equal(result.p_value <= alpha, result.equivalent)
    inside = (result.adjusted_low > -margin) & (result.adjusted_high < margin)
    assert_array_equal(result.p_adjusted <= alpha, inside)
    assert np.all(result.p_adjusted[result.n > 0] >= result.p_value[result.n > 0])
    assert np.all(result.p_value[result.n > 0] > 0)


@settings(deadline=None)
@given(cases(most=60), MARGINS, ONE_SIDED, TESTS, st.sampled_from(["greater", "less"]))
def test_noninferior_exactly_when_the_interval_lies_beyond_the_margin(
    case: Case, margin: float, alpha: float, test: str, alternative: str
) -> None:
    result = noninferiority_test(
        case.differences, margin, alpha=alpha, test=test, alternative=alternative, resamples=99
    )
    beyond = result.low > -margin if alternative == "greater" else result.high < margin
    assert_array_equal(result.noninferior, beyond)


@settings(deadline=None)
@given(cases(most=60), MARGINS, ONE_SIDED, TESTS)
def test_relative_margins_agree_with_their_intervals(case: Case, margin: float, alpha: float, test: str) -> None:
    baseline = np.abs(case.baseline)
    d = paired_differences(baseline, case.systems, case.weights)
    result = equivalence_test(d, margin, relative_to=baseline, alpha=alpha, test=test, resamples=99, family_size=2)
    assert_array_equal(result.equivalent, (result.low > -margin) & (result.high < margin))
    inside = (result.adjusted_low > -margin) & (result.adjusted_high < margin)
    assert_array_equal(result.p_adjusted <= alpha, inside)


@settings(deadline=None)
@given(cases(most=40), st.integers(0, 2), TESTS)
def test_they_agree_at_the_p_value_itself(case: Case, column: int, test: str) -> None:
    p = equivalence_test(case.differences, 0.5, test=test, resamples=99).p_value[column]
    if not 0 < p < 0.49:
        return
    for alpha in (np.nextafter(p, 0), p, np.nextafter(p, 1)):
        result = equivalence_test(case.differences, 0.5, alpha=float(alpha), test=test, resamples=99)
        assert_array_equal(result.p_value <= alpha, (result.low > -0.5) & (result.high < 0.5))


def _by_hand(values: NDArray[np.float64], weights: NDArray[np.float64], margin: float) -> float:
    """P(the signed sum of the moved differences reaches the observed one), over all sign patterns."""
    moved = weights * (values + margin)
    n = len(moved)
    signs = 1 - 2 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1)
    sums = signs @ moved
    return float(np.mean(sums >= moved.sum() - 1e-9))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("margin", [0.1, 0.25])
def test_randomisation_by_its_definition(weighted: bool, margin: float) -> None:
    rng = np.random.default_rng(5)
    values = rng.integers(-3, 5, 9) / 10
    weights = rng.integers(1, 5, 9).astype(float) if weighted else np.ones(9)
    result = equivalence_test(paired_differences(np.zeros(9), values, weights), margin)
    assert result.p_lower[0] == _by_hand(values, weights, margin)
    assert result.p_upper[0] == _by_hand(-values, weights, margin)


@pytest.mark.parametrize("zeros", [0, 4])
def test_relative_randomisation_by_its_definition(zeros: int) -> None:
    rng = np.random.default_rng(8)
    baseline, values = rng.random(10), rng.normal(0, 0.1, 10)
    baseline[:zeros] = 0
    values[:zeros] = [0.1, 0.05, -0.1, 0.0][:zeros]
    result = equivalence_test(paired_differences(baseline, baseline + values), 0.2, relative_to=baseline)
    moved = values + 0.2 * baseline
    signs = 1 - 2 * ((np.arange(1024)[:, None] >> np.arange(10)) & 1)
    assert result.p_lower[0] == np.mean(signs @ moved >= moved.sum() - 1e-9)
    moved = 0.2 * baseline - values
    assert result.p_upper[0] == np.mean(signs @ moved >= moved.sum() - 1e-9)
    assert_allclose(result.estimate[0], values.mean() / baseline.mean(), rtol=1e-8)


@settings(deadline=None)
@given(cases(most=60), ONE_SIDED)
def test_interval_is_that_of_the_one_sided_sign_flips(case: Case, alpha: float) -> None:
    d = case.differences
    result = equivalence_test(d, 100.0, alpha=alpha, resamples=99)
    greater = sign_flip_test(d, alpha=alpha, alternative="greater", resamples=99)
    less = sign_flip_test(d, alpha=alpha, alternative="less", resamples=99)
    # many queries with few differences: enumerated there
    same = (d.n > 0) & ~np.isnan(greater.low) & (~greater.exact | (d.n <= 16))
    assert_allclose(result.low[same], greater.low[same], rtol=0, atol=1e-8)
    assert_allclose(result.high[same], less.high[same], rtol=0, atol=1e-8)


def test_without_margin_it_is_the_one_sided_test() -> None:
    rng = np.random.default_rng(2)
    d = paired_differences(np.zeros((30, 4)), rng.normal(0.2, 1, (30, 4)))
    for alternative in ("greater", "less"):
        ours = noninferiority_test(d, 0, alternative=alternative)
        flips = sign_flip_test(d, alternative=alternative)
        assert_array_equal(ours.p_value, flips.p_value)
        assert_array_equal([ours.low, ours.high], [flips.low, flips.high])
        t = noninferiority_test(d, 0, alternative=alternative, test="t")
        assert_allclose(t.p_value, paired_t(d, alternative=alternative).p_value, rtol=1e-9)


def test_relative_t_interval_is_fiellers() -> None:
    rng = np.random.default_rng(3)
    a, b = 1 + rng.random(30), 1.1 + rng.random(30)
    result = equivalence_test(paired_differences(a, b), 0.2, relative_to=a, test="t")
    fieller = relative_difference(a, b, alpha=0.1)
    assert_allclose([result.low, result.high], [fieller.low, fieller.high], atol=1e-8)
    for sign, p in ((1, result.p_lower[0]), (-1, result.p_upper[0])):
        contrast = paired_differences(np.zeros(30), sign * (b - a) + 0.2 * a)
        assert_allclose(p, paired_t(contrast, alternative="greater").p_value[0], rtol=1e-6)


@settings(deadline=None)
@given(cases(most=50), TESTS)
def test_a_wider_margin_never_makes_it_harder(case: Case, test: str) -> None:
    p = [
        equivalence_test(case.differences, margin, test=test, resamples=99).p_value for margin in (0.05, 0.2, 0.7, 3.0)
    ]
    spread = case.differences.standard_error > 0
    assert np.all(np.diff(np.array(p)[:, spread], axis=0) <= 1e-12)


@settings(deadline=None)
@given(cases(most=50), TESTS)
def test_mirror_image_and_scale(case: Case, test: str) -> None:
    d = case.differences
    one = equivalence_test(d, 0.25, test=test, resamples=99)
    other = equivalence_test(d.negated(), 0.25, test=test, resamples=99)
    assert_array_equal(one.p_lower, other.p_upper)
    assert_array_equal(one.low, -other.high)
    quadrupled = paired_differences(4 * case.baseline, 4 * case.systems, case.weights)
    scaled = equivalence_test(quadrupled, 1.0, test=test, resamples=99)
    assert_array_equal(one.p_value, scaled.p_value)
    assert_array_equal(4 * one.low, scaled.low)


@pytest.mark.parametrize("test", ["randomisation", "t"])
def test_more_queries_make_it_easier(test: str) -> None:
    values = np.tile(np.random.default_rng(4).normal(0, 0.1, 20), 8)
    p = [
        equivalence_test(paired_differences(np.zeros(n), values[:n]), 0.05, test=test).p_value[0] for n in (20, 60, 160)
    ]
    assert p[0] > p[1] > p[2]


def test_columns_batches_and_order() -> None:
    rng = np.random.default_rng(6)
    values = rng.normal(0, 0.2, (40, 5))
    values[rng.random(values.shape) < 0.1] = np.nan
    values[12:, 4] = np.nan
    d = paired_differences(rng.random((40, 1)) / 3, values, rng.exponential(size=40))
    whole = equivalence_test(d, 0.2)
    for column in range(5):
        alone = equivalence_test(d.select([column]), 0.2, batch=7)
        for name in ("p_value", "low", "high"):
            assert getattr(whole, name)[column] == getattr(alone, name)[0]


def test_identical_systems() -> None:
    zeros = paired_differences(np.zeros((20, 1)), np.zeros((20, 1)))
    flips = equivalence_test(zeros, 0.01, resamples=999)
    assert flips.equivalent[0]
    assert [flips.low[0], flips.high[0]] == [0, 0]
    t = equivalence_test(zeros, 0.01, test="t")
    assert t.p_value[0] == 1
    assert np.isnan(t.low[0])


def test_too_few_queries_and_none() -> None:
    d = paired_differences(np.zeros((4, 2)), [[0.0, np.nan]] * 4)
    result = equivalence_test(d, 1.0)
    assert_array_equal(result.p_value, [1 / 16, np.nan])
    assert_array_equal(result.low, [-np.inf, np.nan])
    assert_array_equal(result.equivalent, [False, False])
    assert result.to_dicts()[1]["p_value"] is None


def test_relative_margin_without_a_baseline_to_speak_of() -> None:
    rng = np.random.default_rng(7)
    half = rng.normal(0, 1, 15)
    baseline = np.concatenate([half, 0.01 - half])
    result = equivalence_test(paired_differences(baseline, baseline + 0.1), 0.1, relative_to=baseline, test="t")
    assert np.isnan([result.p_value, result.low]).all()
    assert not result.equivalent[0]
    zeros = np.zeros(30)
    result = equivalence_test(paired_differences(zeros, rng.random(30)), 0.1, relative_to=zeros)
    assert np.isnan(result.p_value[0])


def test_relative_to_a_negative_baseline() -> None:
    rng = np.random.default_rng(9)
    baseline = -1 - rng.random(25)
    system = baseline + rng.normal(0.02, 0.1, 25)
    d = paired_differences(baseline, system)
    for test in ("randomisation", "t"):
        result = equivalence_test(d, 0.1, relative_to=baseline, test=test)
        turned = equivalence_test(d, 0.1, relative_to=-baseline, test=test)
        assert result.p_value[0] == turned.p_value[0]
        assert np.sign(result.estimate[0]) == np.sign(d.mean[0])
        assert result.low[0] < result.estimate[0] < result.high[0]


def _d() -> Any:
    return paired_differences([0.1, 0.2, 0.4], [0.2, 0.1, 0.3])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: equivalence_test(_d(), 0), "more than 0"),
        (lambda: equivalence_test(_d(), -0.1), "without a sign"),
        (lambda: equivalence_test(_d(), [0.1, 0.2]), "one for each of the 1 columns"),
        (lambda: equivalence_test(_d(), 0.1, alpha=0.5), "0 and 0.5"),
        (lambda: equivalence_test(_d(), 0.1, test="randomization"), "did you mean 'randomisation'"),
        (lambda: equivalence_test(_d(), 0.1, relative_to=[1.0, 2.0]), "shape"),
        (lambda: equivalence_test(_d(), 0.1, relative_to=[1.0, np.nan, 2.0]), "not defined"),
        (lambda: equivalence_test(_d(), 0.1, relative_to=[1.0, -1.0, 2.0]), "both signs"),
        (lambda: noninferiority_test(_d(), 0.1, alternative="two-sided"), "alternative"),
    ],
)
def test_messages(call: Callable[[], object], message: str) -> None:
    with pytest.raises(RankstatsError, match=message):
        call()


@pytest.mark.slow
@pytest.mark.parametrize("test", ["randomisation", "t"])
def test_level_at_the_margin(test: str) -> None:
    """A true difference at the margin is called equivalent in at most alpha of the cases (band: 4 standard errors)."""
    repetitions, n = 2000, 30
    values = np.random.default_rng(10).laplace(0.1, 0.1, (n, repetitions))
    result = equivalence_test(paired_differences(np.zeros((n, repetitions)), values), 0.1, test=test, resamples=999)
    rate, band = result.equivalent.mean(), 4 * np.sqrt(0.05 * 0.95 / repetitions)
    assert 0.05 - band < rate < 0.05 + band
