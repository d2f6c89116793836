"""What holds for every test alike: levels nest, signs mirror, scales scale, constants shift, ties stay ties."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise, product
from typing import Any, TypeAlias

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from rankstats.stats import (
    Differences,
    adjust,
    best_systems,
    bootstrap_max_t,
    equivalence_test,
    flip_max_t,
    flip_min_p,
    heterogeneity_test,
    on_clusters,
    paired_bootstrap,
    paired_differences,
    paired_t,
    randomised_tukey,
    sign_flip_test,
    sign_test,
    signed_rank_test,
)
from tests.stats.cases import Case, cases, leaves_out_zero

Floats: TypeAlias = NDArray[np.float64]
Reading: TypeAlias = tuple[Floats, Floats, Floats]

RESAMPLES = 99
LADDER = (0.001, 0.01, 0.03, 0.05, 0.1, 0.2, 0.5)


def _plain(result: Any) -> Reading:
    return result.p_value, result.low, result.high


def _adjusted(result: Any) -> Reading:
    return result.p_adjusted, result.adjusted_low, result.adjusted_high


def _pairs_of_queries(d: Differences, **arguments: Any) -> Any:
    return on_clusters(sign_flip_test, d, np.arange(d.n_rows) // 2, **arguments)


TESTS: dict[str, Callable[..., Reading]] = {
    "sign flips": lambda d, **a: _plain(sign_flip_test(d, resamples=RESAMPLES, **a)),
    "sign flips, of a family": lambda d, **a: _adjusted(sign_flip_test(d, resamples=RESAMPLES, family_size=3, **a)),
    "bootstrap": lambda d, **a: _plain(paired_bootstrap(d, resamples=RESAMPLES, **a)),
    "bootstrap, of a family": lambda d, **a: _adjusted(paired_bootstrap(d, resamples=RESAMPLES, family_size=3, **a)),
    "t": lambda d, **a: _plain(paired_t(d, **a)),
    "signed ranks": lambda d, **a: _plain(signed_rank_test(d, **a)),
    "signs": lambda d, **a: _plain(sign_test(d, **a)),
    "flips of clusters": lambda d, **a: _plain(_pairs_of_queries(d, resamples=RESAMPLES, rng=0, **a)),
    "max-T by flips": lambda d, **a: _adjusted(flip_max_t(d, resamples=RESAMPLES, **a)),
    "max-T by bootstrap": lambda d, **a: _adjusted(bootstrap_max_t(d, resamples=RESAMPLES, **a)),
}
UNWEIGHTED = ("signed ranks", "signs")
named = pytest.mark.parametrize("name", TESTS)


@named
@settings(deadline=None, max_examples=20)
@given(case=cases(most=60))
def test_a_smaller_level_leaves_p_and_widens_the_interval(name: str, case: Case) -> None:
    d = case.differences
    readings = [TESTS[name](d, alpha=alpha) for alpha in LADDER]
    for (p, low, high), (_, inner_low, inner_high) in pairwise(readings):
        assert_array_equal(p, readings[0][0])
        known = ~np.isnan(low)
        assert np.all(low[known] <= inner_low[known])
        assert np.all(high[known] >= inner_high[known])


@named
@settings(deadline=None, max_examples=20)
@given(case=cases(most=60))
def test_swapping_the_systems_mirrors(name: str, case: Case) -> None:
    d = case.differences
    (p, low, high), (swapped, swapped_low, swapped_high) = TESTS[name](d), TESTS[name](d.negated())
    assert_array_equal(p, swapped)
    assert_array_equal(low, -swapped_high)
    assert_array_equal(high, -swapped_low)


@named
@settings(deadline=None, max_examples=20)
@given(case=cases(most=60), power=st.integers(-20, 20))
def test_a_power_of_two_scales(name: str, case: Case, power: int) -> None:
    factor = 2.0**power
    scaled = paired_differences(case.baseline * factor, case.systems * factor, case.weights)
    (p, low, high), (same, scaled_low, scaled_high) = TESTS[name](case.differences), TESTS[name](scaled)
    assert_array_equal(p, same)
    assert_array_equal(low * factor, scaled_low)
    assert_array_equal(high * factor, scaled_high)


def _sixty_fourths(n: int, seed: int, weighted: bool) -> tuple[Floats, Floats | None]:
    """Distinct positive values that every unit holds exactly."""
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 6, n).astype(float) if weighted else None
    return 1 + rng.permutation(200)[:n] / 256, weights


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [12, 40])
@pytest.mark.parametrize("name", [name for name in TESTS if name != "max-T by flips"])
def test_a_constant_shifts_the_interval(name: str, n: int, weighted: bool) -> None:
    """Max-T by flips is the exception: its critical value comes from the differences as they are."""
    values, weights = _sixty_fourths(n, 5, weighted)
    _, low, high = TESTS[name](paired_differences(np.zeros(n), values, weights), alpha=0.2)
    _, moved_low, moved_high = TESTS[name](paired_differences(np.zeros(n), values + 0.75, weights), alpha=0.2)
    assert np.isfinite([low[0], high[0]]).all()
    assert_allclose([moved_low, moved_high], [low + 0.75, high + 0.75], rtol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [9, 16, 17, 40])
@pytest.mark.parametrize("name", [name for name in TESTS if name != "max-T by flips"])
def test_the_interval_holds_what_is_not_rejected(name: str, n: int, weighted: bool) -> None:
    """Moving the differences by a constant just inside and just outside of either end turns the verdict."""
    alpha, step = 0.2, 2.0**-14
    values, weights = _sixty_fourths(n, n, weighted and name not in UNWEIGHTED)
    _, low, high = TESTS[name](paired_differences(np.zeros(n), values, weights), alpha=alpha)
    for end, outwards in ((low[0], -1), (high[0], 1)):
        at = np.round(end / step) * step
        for constant, rejected in ((at + 2 * outwards * step, True), (at - 2 * outwards * step, False)):
            moved = paired_differences(np.zeros(n), values - constant, weights)
            assert (TESTS[name](moved, alpha=alpha)[0][0] <= alpha) == rejected


@named
@pytest.mark.parametrize("n", [12, 40])
def test_identical_and_absent_systems_touch_nobody(name: str, n: int) -> None:
    values = np.random.default_rng(3).normal(0.4, 1, (n, 2))
    joined = np.column_stack([values[:, 0], np.zeros(n), np.full(n, np.nan), values[:, 1]])
    alone, all_four = (TESTS[name](paired_differences(np.zeros(n), columns)) for columns in (values, joined))
    assert all_four[0][1] == 1
    assert np.isnan([all_four[1][1], all_four[2][1], all_four[0][2], all_four[1][2]]).all()
    for one, other in zip(alone, all_four, strict=True):
        assert_array_equal(one, other[[0, 3]])


@named
def test_p_is_never_0(name: str) -> None:
    rng = np.random.default_rng(1)
    for n in (3, 30, 3000):
        d = paired_differences(np.zeros(n), 1 + rng.random((n, 2)) / 1000)
        p, low, _ = TESTS[name](d, alpha=0.05)
        assert np.all((p > 0) & (p <= 1))
        assert_array_equal(p <= 0.05, leaves_out_zero(low, -low))


def test_p_of_other_tests_is_never_0() -> None:
    rng = np.random.default_rng(1)
    segments = np.repeat([0, 1], 20)
    values = rng.random(40) / 1000 + segments
    assert heterogeneity_test(values, segments, resamples=RESAMPLES).p_value.tolist() == [1 / (RESAMPLES + 1)]
    d = paired_differences(np.zeros(40), values)
    for test in ("randomisation", "t"):
        assert equivalence_test(d, 100.0, test=test, resamples=RESAMPLES).p_value[0] > 0
    matrix = np.column_stack([values, values + 5, values + 9])
    assert np.all(randomised_tukey(matrix, resamples=RESAMPLES).p_adjusted > 0)
    for method in ("bootstrap", "randomisation"):
        assert np.all(best_systems(matrix, method=method, resamples=RESAMPLES).p_value > 0)


p_values = st.lists(st.one_of(st.floats(0, 1), st.sampled_from([0.01, 0.02, 0.05, 1.0])), min_size=1, max_size=20)


@given(p_values)
def test_stepwise_corrections_are_never_above_their_single_step(p: list[float]) -> None:
    adjusted = {method: adjust(p, method) for method in ("bonferroni", "holm", "hochberg", "hommel", "bh", "by")}
    adjusted |= {method: adjust(p, method) for method in ("sidak", "holm-sidak")}
    for smaller, larger in (
        ("holm", "bonferroni"),
        ("holm-sidak", "sidak"),
        ("sidak", "bonferroni"),
        ("hochberg", "holm"),
        ("hommel", "hochberg"),
        ("bh", "hommel"),
        ("bh", "by"),
    ):
        assert np.all(adjusted[smaller] <= adjusted[larger] * (1 + 1e-12)), (smaller, larger)


DRAWS = 40_000
DRAWN: dict[str, tuple[str, Callable[[Differences], Floats]]] = {
    "greater": (
        "sign_flips",
        lambda d: sign_flip_test(d, alternative="greater", resamples=DRAWS).p_value,
    ),
    "less": ("sign_flips", lambda d: sign_flip_test(d, alternative="less", resamples=DRAWS).p_value),
    "min-P": ("joint_flips", lambda d: flip_min_p(d, resamples=DRAWS).p_adjusted),
    "equivalence": ("margin_flips", lambda d: equivalence_test(d, 0.5, resamples=DRAWS).p_value),
    "clusters": ("sign_flips", lambda d: _pairs_of_queries(d, resamples=DRAWS, rng=0).p_value),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", DRAWN)
def test_drawn_equals_exact_within_error(name: str, weighted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    module, p_of = DRAWN[name]
    rng = np.random.default_rng(8)
    values = rng.normal([0.1, 0.3], 1, (14, 2))
    d = paired_differences(np.zeros(14), values, rng.integers(1, 6, 14) if weighted else None)
    exact = p_of(d)
    monkeypatch.setattr(f"rankstats.stats.{module}.EXACT_UP_TO", 4)
    drawn = p_of(d)
    assert np.all(drawn != exact)
    assert np.all(np.abs(drawn - exact) < 4.5 * np.sqrt(exact * (1 - exact) / DRAWS) + 2 / DRAWS)


def test_drawn_equals_exact_where_few_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.zeros(60)
    values[::5] = np.random.default_rng(4).integers(-3, 6, 12) / 10
    d = paired_differences(np.zeros(60), values)
    exact = sign_flip_test(d)
    monkeypatch.setattr("rankstats.stats.sign_flips.EXACT_UP_TO", 4)
    drawn = sign_flip_test(d, resamples=DRAWS)
    p = exact.p_value[0]
    assert exact.exact[0]
    assert not drawn.exact[0]
    assert abs(drawn.p_value[0] - p) < 4.5 * np.sqrt(p * (1 - p) / DRAWS) + 2 / DRAWS
    assert_allclose([drawn.low[0], drawn.high[0]], [exact.low[0], exact.high[0]], atol=0.005)


@pytest.mark.parametrize("weighted", [False, True])
def test_replayed_resamples_do_not_depend_on_the_order_of_the_queries(weighted: bool) -> None:
    rng = np.random.default_rng(6)
    values, weights = rng.normal(0.2, 1, (50, 3)) / 3, rng.exponential(size=50) if weighted else None
    indices, order = rng.integers(0, 50, (RESAMPLES, 50)), rng.permutation(50)
    place = np.argsort(order)
    one = paired_differences(np.zeros(50), values, weights)
    other = paired_differences(np.zeros(50), values[order], None if weights is None else weights[order])
    for test in (paired_bootstrap, bootstrap_max_t):
        first, second = test(one, indices=indices), test(other, indices=place[indices])
        assert_array_equal(first.to_dicts(), second.to_dicts())


def _all_patterns(wholes: NDArray[np.int64], weights: NDArray[np.int64]) -> tuple[float, float]:
    """Two-sided and one-sided p-values by whole numbers."""
    signs = np.array(list(product([1, -1], repeat=len(wholes))))
    sums, observed = signs @ (wholes * weights), int(wholes @ weights)
    return float(np.mean(np.abs(sums) >= abs(observed))), float(np.mean(sums >= observed))


def _ten_thousandths(rng: np.random.Generator, n: int, largest: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Differences, and values of a baseline between .5 and .9, in ten thousandths."""
    return rng.integers(-largest, largest + 1, n), rng.integers(5000, 9000, n)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("largest", [1, 3, 10, 1000])
def test_ties_of_small_differences_of_large_values_stay_ties(largest: int, weighted: bool) -> None:
    """Rounded to units that are a ten-billionth of the values, such differences are no longer multiples of one."""
    for seed in range(25):
        rng, n = np.random.default_rng(seed), 4 + seed % 6
        wholes, baseline = _ten_thousandths(rng, n, largest)
        weights = rng.integers(1, 4, n) if weighted else np.ones(n, dtype=np.int64)
        d = paired_differences(baseline / 10_000, (baseline + wholes) / 10_000, weights)
        both, greater = _all_patterns(wholes, weights)
        assert sign_flip_test(d).p_value[0] == both
        assert sign_flip_test(d, alternative="greater").p_value[0] == greater
        assert flip_max_t(d).p_adjusted[0] == both
        assert flip_min_p(d).p_adjusted[0] == both
        assert on_clusters(sign_flip_test, d, np.arange(n)).p_value[0] == both


@pytest.mark.parametrize("largest", [1, 3, 30])
def test_ties_of_small_differences_in_other_tests(largest: int) -> None:
    """The same from ten thousandths as from whole numbers, whose sums no rounding touches."""
    for seed in range(25):
        rng, n = np.random.default_rng(seed), 4 + seed % 3
        wholes, baseline = _ten_thousandths(rng, n, largest)
        small = paired_differences(baseline / 10_000, (baseline + wholes) / 10_000)
        whole = paired_differences(np.zeros(n), wholes)
        indices = rng.integers(0, n, (RESAMPLES, n))
        for test in (signed_rank_test, sign_test):
            assert_array_equal(test(small).p_value, test(whole).p_value)
        assert_array_equal(
            paired_bootstrap(small, indices=indices).p_value, paired_bootstrap(whole, indices=indices).p_value
        )
        equal = equivalence_test(small, 2 / 10_000), equivalence_test(whole, 2.0)
        assert_array_equal(equal[0].p_value, equal[1].p_value)
        matrix = np.column_stack([baseline, baseline + wholes, baseline - wholes])[:4]
        tukey = randomised_tukey(matrix / 10_000), randomised_tukey(matrix)
        assert_allclose(tukey[0].p_adjusted, tukey[1].p_adjusted, rtol=1e-12)


@pytest.mark.parametrize("statistic", ["welch", "between"])
def test_ties_of_small_differences_between_segments(statistic: str) -> None:
    labels = np.array([0, 0, 0, 1, 1, 1, 2, 2])
    for seed in range(40):
        rng = np.random.default_rng(seed)
        wholes, baseline = _ten_thousandths(rng, 8, 4)
        # made different: a segment without spread has only the tiny one that it is given
        wholes[[0, 3, 6]] = wholes[[1, 4, 7]] + 1
        small = paired_differences(baseline / 10_000, (baseline + wholes) / 10_000)
        whole = paired_differences(np.zeros(8), wholes)
        p = [heterogeneity_test(d, labels, statistic=statistic).p_value for d in (small, whole)]
        assert_allclose(p[0], p[1], rtol=1e-12)


@pytest.mark.parametrize("largest", [3, 10])
def test_ties_of_few_small_differences_among_many_queries(largest: int) -> None:
    for seed in range(25):
        wholes, baseline = _ten_thousandths(np.random.default_rng(seed), 8, largest)
        values = np.full(100, 9000)
        values[:8] = baseline
        system = values.copy()
        system[:8] += wholes
        result = sign_flip_test(paired_differences(values / 10_000, system / 10_000))
        assert result.exact[0]
        assert result.p_value[0] == _all_patterns(wholes, np.ones(8, dtype=np.int64))[0]


FLIPS: dict[str, Callable[[Floats, Floats], float]] = {
    "sign flips": lambda a, b: sign_flip_test(paired_differences(a, b)).p_value[0],
    "max-T": lambda a, b: flip_max_t(paired_differences(a, b)).p_adjusted[0],
    "min-P": lambda a, b: flip_min_p(paired_differences(a, b)).p_adjusted[0],
    "clusters": lambda a, b: on_clusters(sign_flip_test, paired_differences(a, b), np.arange(len(a))).p_value[0],
    "Tukey": lambda a, b: randomised_tukey(np.column_stack([a, b])).p_adjusted[0],
    "at a margin of 0, doubled": lambda a, b: 2 * equivalence_test(paired_differences(b, a), 1e-300).p_upper[0],
}


@pytest.mark.parametrize("name", FLIPS)
def test_known_p_values_of_flips(name: str) -> None:
    p = FLIPS[name]
    assert p(np.full(6, 0.1), np.full(6, 0.3)) == 0.03125
    assert p(np.array([0.1, 0.3, 0.2] * 2), np.array([0.3, 0.5, 0.4] * 2)) == 0.03125
    assert p(np.array([0.1, 0.1]), np.array([0.2, 0.2])) == 0.5
    if "doubled" not in name:
        for level, scale in ((0.0, 1.0), (0.9, 0.001)):
            values = level + scale * np.array([0.1, 0.2, -0.3, 0.7, 0.1, -0.8, 0.0])
            assert p(np.full(7, level), values) == 1.0


@pytest.mark.parametrize("name", [*UNWEIGHTED, "t", "sign flips"])
def test_absent_pairs_are_left_out_and_counted(name: str) -> None:
    rng = np.random.default_rng(2)
    baseline, system = rng.random(20), rng.random(20)
    baseline[[1, 5]], system[[5, 9, 12, 13]] = np.nan, np.nan
    kept = ~np.isnan(baseline + system)
    with_gaps, without = paired_differences(baseline, system), paired_differences(baseline[kept], system[kept])
    for one, other in zip(TESTS[name](with_gaps), TESTS[name](without), strict=True):
        assert_array_equal(one, other)
    for test in (sign_flip_test, paired_bootstrap, paired_t, signed_rank_test, sign_test, flip_max_t, bootstrap_max_t):
        assert test(with_gaps).n.tolist() == [15]
    assert heterogeneity_test(with_gaps, np.arange(20) % 2).n.tolist() == [15]
    assert equivalence_test(with_gaps, 0.1).n.tolist() == [15]
    tukey = randomised_tukey(np.column_stack([baseline, system]))
    assert (tukey.n, tukey.left_out) == (15, 5)
