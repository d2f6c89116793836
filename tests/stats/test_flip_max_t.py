from __future__ import annotations

import json
from dataclasses import fields
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import brentq

from rankstats.errors import RankstatsError
from rankstats.stats import (
    Differences,
    adjust,
    flip_max_t,
    flip_min_p,
    paired_differences,
    pairwise_differences,
    sign_flip_test,
    stack_columns,
)
from rankstats.stats.joint_flips import flip_ends
from tests.shared import shared
from tests.stats.cases import Case, cases, leaves_out_zero, levels
from tests.stats.several import assert_same, digests_by_threads, expected, made, matrix

P_VALUES = ("p_value", "p_adjusted", "p_stepdown")
BY_COLUMN = (*P_VALUES, "estimate", "statistic", "adjusted_low", "adjusted_high")


@pytest.mark.parametrize("name", ["m8x4", "m5x3", "m12x4ties"])
def test_complete_enumeration_counts_as_multtest_and_python(name: str) -> None:
    values, theirs = matrix(name), expected(name)
    joint = theirs["python"]["westfall_young_joint_sign_flips_vs_baseline"]
    result = flip_max_t(paired_differences(values[:, :1], values[:, 1:]))
    assert result.exact
    assert result.patterns == joint["t"]["count_denominator"]
    for ours, key in (("p_value", "raw_p"), ("p_adjusted", "single_step_maxT"), ("p_stepdown", "step_down_maxT")):
        counts, whole = getattr(result, ours) * result.patterns, np.array(joint["t"][key]) * result.patterns
        assert_array_equal(counts, whole, err_msg=key)
        assert_array_equal(counts, counts.round())
    multtest = theirs["R"]["multtest_maxT_pairt_complete"]
    assert result.p_stepdown.tolist() == multtest["adjp"]
    assert result.p_value.tolist() == multtest["rawp"]


@pytest.mark.parametrize("name", ["m8x4", "m5x3", "m12x4ties"])
def test_min_p_counts_as_multtest_and_python(name: str) -> None:
    values, theirs = matrix(name), expected(name)
    result = flip_min_p(paired_differences(values[:, :1], values[:, 1:]))
    assert result.exact
    assert result.p_stepdown.tolist() == theirs["R"]["multtest_minP_pairt_complete"]["adjp"]
    joint = theirs["python"]["westfall_young_joint_sign_flips_vs_baseline"]["t"]
    assert result.p_stepdown.tolist() == joint.get("step_down_minP", result.p_stepdown.tolist())
    assert result.p_value.tolist() == joint["raw_p"]


def _by_hand(d: Differences, weights: np.ndarray) -> tuple[list[float], list[float]]:
    """Single-step and step-down by plain loops over all 2**n patterns."""
    products = np.nan_to_num(d.values) * weights[:, None]
    roots = np.sqrt((products**2).sum(axis=0))
    signs = np.array(list(product([1, -1], repeat=len(products))))
    flipped, observed = np.abs(signs @ products) / roots, np.abs(products.sum(axis=0)) / roots
    single = [float(np.mean(flipped.max(axis=1) >= t - 1e-9)) for t in observed]
    order, stepdown, worst = np.argsort(-observed), [0.0] * len(observed), 0.0
    for position, column in enumerate(order):
        rest = flipped[:, order[position:]].max(axis=1)
        worst = max(worst, float(np.mean(rest >= observed[column] - 1e-9)))
        stepdown[column] = worst
    return single, stepdown


@pytest.mark.parametrize("weighted", [False, True])
def test_equals_the_definition_also_with_absent_queries(weighted: bool) -> None:
    rng = np.random.default_rng(4)
    values = rng.normal([0.2, 0.5, 0.9, 0.0], 1, (9, 4))
    values[:2, 0], values[5:, 3] = np.nan, np.nan
    weights = rng.integers(1, 6, 9).astype(float) if weighted else np.ones(9)
    d = paired_differences(np.zeros(9), values, weights)
    result = flip_max_t(d)
    single, stepdown = _by_hand(d, weights)
    assert_allclose(result.p_adjusted, single, rtol=1e-14)
    assert_allclose(result.p_stepdown, stepdown, rtol=1e-14)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("critical", [0.5, 1.2, 1.9])
def test_ends_solve_the_equation(weighted: bool, critical: float) -> None:
    rng = np.random.default_rng(6)
    values, weights = rng.normal(0.3, 1, 12), rng.integers(1, 4, 12).astype(float) if weighted else np.ones(12)
    d = paired_differences(np.zeros(12), values, weights)

    def beyond(theta: float) -> float:
        left = weights * (values - theta)
        return float(abs(left.sum()) - critical * np.sqrt((left**2).sum()))

    mean = float(d.mean[0])
    low, high = flip_ends(d, critical)
    assert_allclose(low, brentq(beyond, mean - 50, mean), rtol=1e-8)
    assert_allclose(high, brentq(beyond, mean, mean + 50), rtol=1e-8)


def test_half_unbounded_ends_hold_the_mean_and_leave_out_0_where_the_test_does() -> None:
    weights, values = np.array([30.0, 1, 1, 1, 1, 1, 1]), np.array([0.01, 1.0, 1.1, 0.9, 1.0, 1.2, 0.8])
    d = paired_differences(np.zeros(7), values, weights)
    low, high = flip_ends(d, 1.4)
    inside = np.linspace(low[0] if np.isfinite(low[0]) else -5, high[0] if np.isfinite(high[0]) else 5, 200)[1:-1]
    left = weights[:, None] * (values[:, None] - inside)
    assert np.isinf([low[0], high[0]]).sum() == 1
    assert low[0] <= d.mean[0] <= high[0]
    assert np.all(np.abs(left.sum(axis=0)) <= 1.4 * np.sqrt((left**2).sum(axis=0)) + 1e-12)


def test_without_weights_the_half_width_is_a_multiple_of_the_standard_error() -> None:
    d = paired_differences(np.zeros(40), np.random.default_rng(1).normal(0.2, 1, (40, 3)))
    result = flip_max_t(d, resamples=999)
    c, n = result.critical_value, 40
    assert_allclose(result.adjusted_high - d.mean, c * d.standard_error * np.sqrt((n - 1) / (n - c**2)), rtol=1e-9)


@settings(deadline=None, max_examples=100)
@given(cases(columns=4), levels, st.sampled_from([1, 19, 199]))
def test_p_and_interval_agree_exactly(case: Case, alpha: float, resamples: int) -> None:
    result = flip_max_t(case.differences, alpha=alpha, resamples=resamples)
    assert_array_equal(result.p_adjusted <= alpha, leaves_out_zero(result.adjusted_low, result.adjusted_high))
    has_interval = ~np.isnan(result.adjusted_low)
    assert np.all(result.adjusted_low[has_interval] <= result.estimate[has_interval] + 1e-12)
    assert np.all(result.adjusted_high[has_interval] >= result.estimate[has_interval] - 1e-12)


@settings(deadline=None, max_examples=100)
@given(cases(columns=4), st.sampled_from([1, 19, 199]))
def test_raw_at_most_step_down_at_most_single_step(case: Case, resamples: int) -> None:
    for test in (flip_max_t, flip_min_p):
        result = test(case.differences, resamples=resamples)
        tested = result.n > 0
        raw, stepdown, single = (p[tested] for p in (result.p_value, result.p_stepdown, result.p_adjusted))
        assert np.all(raw > 0)
        assert np.all(raw <= stepdown)
        assert np.all(stepdown <= single)
        assert np.all(single <= 1)
        order = np.argsort(raw, kind="stable")
        if test is flip_min_p:
            assert np.all(np.diff(stepdown[order]) >= 0)


@settings(deadline=None, max_examples=60)
@given(cases(columns=4, most=40))
def test_raw_p_is_that_of_single_columns(case: Case) -> None:
    d = case.differences
    joint, alone = flip_max_t(d, resamples=199), sign_flip_test(d, resamples=199)
    comparable = (alone.exact == joint.exact) & (alone.n > 0)
    assert_allclose(joint.p_value[comparable], alone.p_value[comparable], rtol=1e-15)
    assert np.all(joint.p_adjusted[comparable] >= alone.p_value[comparable])


@settings(deadline=None, max_examples=40)
@given(cases(columns=3, most=40), levels)
def test_intervals_widen_as_alpha_falls(case: Case, alpha: float) -> None:
    wide, narrow = (flip_max_t(case.differences, alpha=a, resamples=199) for a in (alpha / 2, alpha))
    assert_array_equal(wide.p_adjusted, narrow.p_adjusted)
    assert wide.critical_value >= narrow.critical_value
    has_interval = ~np.isnan(wide.adjusted_low)
    assert np.all(wide.adjusted_low[has_interval] <= narrow.adjusted_low[has_interval])
    assert np.all(wide.adjusted_high[has_interval] >= narrow.adjusted_high[has_interval])


@settings(deadline=None, max_examples=40)
@given(cases(columns=3, most=40), st.integers(-20, 20), st.integers(0, 7))
def test_signs_and_scale(case: Case, power: int, negated: int) -> None:
    d, factor = case.differences, 2.0**power
    one = flip_max_t(d, resamples=99)
    other = flip_max_t(d.negated(), resamples=99)
    scaled = flip_max_t(paired_differences(case.baseline * factor, case.systems * factor, case.weights), resamples=99)
    sign = np.where((negated >> np.arange(3)) & 1, -1.0, 1.0)
    columns = [(d.negated() if s < 0 else d).select([j]) for j, s in enumerate(sign)]
    mixed = flip_max_t(stack_columns(columns), resamples=99)
    for name in P_VALUES:
        for result in (other, scaled, mixed):
            assert_array_equal(getattr(one, name), getattr(result, name))
    assert_array_equal(one.adjusted_low, -other.adjusted_high)
    assert_array_equal(one.adjusted_low * factor, scaled.adjusted_low)


def _odd(weighted: bool = False, n: int = 60) -> Differences:
    rng = np.random.default_rng(11)
    values = rng.normal(0.2, 1, (n, 9)) ** 3
    values[rng.random(values.shape) < 0.1] = np.nan
    values[:, 1], values[:, 4] = 0.0, values[:, 0]
    return paired_differences(rng.random((n, 1)) / 3, values, rng.exponential(size=n) if weighted else None)


@pytest.mark.parametrize("test", [flip_max_t, flip_min_p])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [12, 60])
def test_batches_pieces_and_order_of_columns(
    test: Any, weighted: bool, n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    d = _odd(weighted, n)
    whole = test(d, resamples=150)
    for batch in (1, 7, 1000):
        assert_same(whole, test(d, resamples=150, batch=batch))
    order = np.random.default_rng(0).permutation(9)
    shuffled = test(d.select(order), resamples=150)
    for field in fields(whole):
        value = getattr(whole, field.name)
        value = value[order] if isinstance(value, np.ndarray) else value
        assert_array_equal(value, getattr(shuffled, field.name), err_msg=field.name)
    monkeypatch.setitem(test.__globals__, "_COLUMNS_AT_ONCE", 2)
    assert_same(whole, test(d, resamples=150))


@pytest.mark.parametrize("test", [flip_max_t, flip_min_p])
def test_order_of_queries_plays_no_part_where_exact(test: Any) -> None:
    rng = np.random.default_rng(5)
    values, weights, order = rng.normal(0.4, 1, (11, 4)), rng.exponential(size=11), rng.permutation(11)
    one = test(paired_differences(np.zeros(11), values, weights))
    other = test(paired_differences(np.zeros(11), values[order], weights[order]))
    assert_same(one, other)


PROGRAM = """
import hashlib
from dataclasses import fields
import numpy as np
from rankstats.stats import flip_max_t, flip_min_p
from tests.stats.test_flip_max_t import _odd
digest = hashlib.sha256()
for test in (flip_max_t, flip_min_p):
    result = test(_odd(True, 1500), resamples=300)
    for field in fields(result):
        digest.update(np.asarray(getattr(result, field.name)).tobytes())
print(digest.hexdigest())
"""


def test_threads() -> None:
    assert len(digests_by_threads(PROGRAM)) == 1


@pytest.mark.parametrize("test", [flip_max_t, flip_min_p])
@pytest.mark.parametrize("n", [12, 40])
def test_identical_systems_touch_nobody(test: Any, n: int) -> None:
    values = np.random.default_rng(3).normal(0.4, 1, (n, 2))
    alone = test(paired_differences(np.zeros(n), values), resamples=499)
    joined = test(
        paired_differences(np.zeros(n), np.column_stack([values[:, 0], np.zeros(n), np.full(n, np.nan), values[:, 1]])),
        resamples=499,
    )
    assert joined.p_adjusted[1] == 1
    assert joined.p_stepdown[1] == 1
    assert np.isnan(joined.p_adjusted[2])
    assert joined.family_size == 2
    for name in BY_COLUMN if test is flip_max_t else P_VALUES:
        assert_array_equal(getattr(joined, name)[[0, 3]], getattr(alone, name), err_msg=name)


@pytest.mark.parametrize("test", [flip_max_t, flip_min_p])
def test_the_level_holds_exactly_over_all_sign_patterns(test: Any) -> None:
    """With every pattern of the same data as likely, any member is rejected in at most alpha of them."""
    values = np.random.default_rng(9).normal(0.5, 1, (7, 3))
    values[0, 2] = np.nan
    smallest = []
    for signs in product([1.0, -1.0], repeat=7):
        result = test(paired_differences(np.zeros(7), values * np.array(signs)[:, None]))
        smallest.append([result.p_adjusted.min(), result.p_stepdown.min()])
    for alpha in (0.02, 0.05, 0.1, 0.2, 0.5):
        rates = np.mean(np.array(smallest) <= alpha, axis=0)
        assert np.all(rates <= alpha)
        if test is flip_max_t:
            # nothing is given away: the next patterns, four where a query is absent from a column, would pass the level
            assert np.all(rates > alpha - 4 / 2**7)


def test_one_column_is_the_sign_flip_test() -> None:
    d = paired_differences(np.zeros(50), np.random.default_rng(3).normal(0.4, 1, 50))
    joint, alone = flip_max_t(d), sign_flip_test(d)
    assert joint.p_adjusted.tolist() == joint.p_stepdown.tolist() == alone.p_value.tolist()
    # the critical value is that of the differences as they are, the other interval flips d − θ anew
    assert_allclose([joint.adjusted_low, joint.adjusted_high], [alone.low, alone.high], atol=0.03)


def test_copies_of_a_column_cost_nothing() -> None:
    values = np.random.default_rng(3).normal(0.3, 1, (30, 1))
    d = paired_differences(np.zeros(30), np.hstack([values, values * 3, values / 7]))
    result = flip_max_t(d, resamples=999)
    assert_array_equal(result.p_adjusted, result.p_value)
    assert_array_equal(result.p_stepdown, result.p_value)
    assert np.all(adjust(result.p_value, "bonferroni") > result.p_adjusted)


def test_drawn_equals_exact_within_error() -> None:
    d = pairwise_differences(made(16, 4, spread=0.3))
    exact, patterns = flip_max_t(d), 20_000
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rankstats.stats.joint_flips.EXACT_UP_TO", 4)
        drawn = flip_max_t(d, resamples=patterns)
    assert exact.exact
    assert not drawn.exact
    for name in P_VALUES:
        p = getattr(exact, name)
        assert np.all(np.abs(getattr(drawn, name) - p) < 4.5 * np.sqrt(p * (1 - p) / patterns) + 2 / patterns), name
    assert_allclose(drawn.critical_value, exact.critical_value, rtol=0.02)


def test_too_few_queries_for_the_level_leave_the_interval_unbounded() -> None:
    d = paired_differences(np.zeros(4), np.random.default_rng(0).normal(3, 0.1, (4, 2)))
    result = flip_max_t(d)
    assert result.p_adjusted.tolist() == [0.125, 0.125]
    assert result.critical_value == np.inf
    assert result.adjusted_low.tolist() == [-np.inf, -np.inf]
    assert flip_max_t(d, alpha=0.2).adjusted_low.min() > 0


def test_rounding_noise_does_not_break_ties() -> None:
    result = flip_max_t(paired_differences([0.1] * 6, np.full((6, 2), 0.3)))
    assert result.p_adjusted.tolist() == [0.03125, 0.03125]
    assert_allclose(result.adjusted_low, 0.2)


def test_nothing_to_test() -> None:
    result = flip_max_t(paired_differences([0.1, 0.2], [0.1, 0.2]))
    assert result.p_adjusted.tolist() == result.p_stepdown.tolist() == [1.0]
    assert np.isnan(result.adjusted_low[0])
    assert flip_min_p(paired_differences([0.1, 0.2], [0.1, 0.2])).p_adjusted.tolist() == [1.0]
    empty = flip_max_t(paired_differences(np.zeros(0), np.zeros((0, 2))))
    assert np.isnan(empty.p_adjusted).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({"alpha": 0}, "alpha = 0"), ({"resamples": 0}, "resamples = 0"), ({"batch": 0}, "batch = 0")],
)
def test_messages(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(RankstatsError, match=message):
        flip_max_t(paired_differences([0.1, 0.2], [0.2, 0.4]), **arguments)


def _published() -> Any:
    return json.loads(shared("golden/fetched/permtest_boytsov2013.json").read_text(encoding="utf-8"))["cases"]["map"]


def _within_error(ours: np.ndarray, theirs: list[float], drawn: int) -> None:
    p = np.maximum(np.array(theirs), 1 / drawn)
    # both were drawn; step-down values also depend on which of two nearly equal statistics comes first
    assert_array_equal(np.abs(ours - p) < 4.5 * np.sqrt(p * (1 - p) * (1 / drawn + 1 / 20_000)) + 3 / drawn, True)


@pytest.mark.shared
def test_published_p_values_of_349_queries() -> None:
    published = _published()
    values = np.array(published["matrix"]).T
    against = flip_max_t(paired_differences(values[:, :1], values[:, 1:]), resamples=20_000)
    _within_error(against.p_stepdown, published["recomputed_step_down_maxT_joint_sign_flips"], 4_000)
    _within_error(against.p_value, published["published_unadjusted"][0][1:], 10_000)
    pairs = flip_max_t(pairwise_differences(values), resamples=20_000)
    raw = np.array(published["published_unadjusted"])[np.triu_indices(4, 1)]
    _within_error(pairs.p_value, raw.tolist(), 10_000)


@pytest.mark.shared
@pytest.mark.slow
def test_all_pairs_of_129_systems() -> None:
    path = shared("data/ir/perquery-matrices/adhoc8_ap.csv")
    d = pairwise_differences(np.loadtxt(path, delimiter=",", skiprows=1))
    result = flip_max_t(d)
    some = np.arange(0, 8256, 60)
    alone = sign_flip_test(d.select(some))
    assert d.n_columns == 8256
    drawn = ~alone.exact
    assert_array_equal(result.p_value[some][drawn], alone.p_value[drawn])
    assert np.all(result.p_adjusted >= result.p_stepdown)
    assert_array_equal(result.p_adjusted <= 0.05, leaves_out_zero(result.adjusted_low, result.adjusted_high))
