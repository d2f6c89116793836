from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from rankstats.errors import RankstatsError
from rankstats.stats import (
    Differences,
    bayesian_sign,
    bayesian_signed_rank,
    bayesian_t,
    paired_differences,
    paired_t,
)
from tests.stats.cases import Case, cases, golden

CASES = golden("bayes")["cases"]
SAMPLED: dict[str, Callable[..., Any]] = {"signed rank": bayesian_signed_rank, "sign": bayesian_sign}

FEW_DRAWS: list[Callable[..., Any]] = [bayesian_t, *(partial(test, draws=80) for test in SAMPLED.values())]


def _of(row: dict[str, Any]) -> Differences:
    data = golden("data")[row["data"]]
    return paired_differences(data["a"], data["b"])


def _probabilities(result: Any) -> NDArray[np.float64]:
    return np.array([result.worse[0], result.equivalent[0], result.better[0]])


@pytest.mark.parametrize("name", CASES)
def test_t_equals_scipy_and_baycomp(name: str) -> None:
    row = CASES[name]
    d, expected = _of(row), row["plain_bayesian_t_uncorrelated"]
    ours = _probabilities(bayesian_t(d, row["rope"]))
    assert_allclose(ours, [expected["p_a_better"], expected["p_rope"], expected["p_b_better"]], atol=1e-9)
    correlated = _probabilities(bayesian_t(d, row["rope"], correlation=1 / d.n[0]))
    theirs = row["baycomp_correlated_t_runs1"]
    assert_allclose(correlated[[0, -1]], [theirs[0], theirs[-1]], atol=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_signed_rank_equals_baycomp(name: str) -> None:
    row = CASES[name]
    ours = _probabilities(bayesian_signed_rank(_of(row), row["rope"]))
    theirs = np.mean(row["signed_rank_mc3"], axis=0)
    assert_allclose(ours if row["rope"] else ours[[0, 2]], theirs, atol=0.01)


@pytest.mark.parametrize("name", CASES)
def test_sign_equals_baycomp(name: str) -> None:
    row = CASES[name]
    ours = _probabilities(bayesian_sign(_of(row), row["rope"]))
    if row["rope"] == 0:  # there the middle region is left out afterwards
        ours = ours[[0, 2]] / ours[[0, 2]].sum()
    assert_allclose(ours, np.mean(row["sign_mc3"], axis=0), atol=0.01)


@settings(deadline=None)
@given(cases(most=60), st.sampled_from([0.01, 0.05, 0.3]))
def test_t_without_rope_is_the_paired_t_test(case: Case, alpha: float) -> None:
    d = case.differences
    posterior, test = bayesian_t(d, alpha=alpha), paired_t(d, alpha=alpha)
    known = d.standard_error > 0
    assert_allclose(posterior.worse[known], paired_t(d, alternative="greater").p_value[known], atol=1e-12)
    assert_allclose(posterior.low[known], test.low[known], atol=1e-9)
    assert_allclose(posterior.high[known], test.high[known], atol=1e-9)
    assert np.isnan(posterior.worse[~known]).all()


@settings(deadline=None)
@given(cases(most=40), st.sampled_from([0.0, 0.1, 0.5]))
def test_probabilities_add_up_and_mirror(case: Case, rope: float) -> None:
    d = case.differences
    for test in FEW_DRAWS:
        one, other = test(d, rope), test(d.negated(), rope)
        total = one.worse + one.equivalent + one.better
        assert_allclose(total[~np.isnan(total)], 1, atol=1e-12)
    t, mirrored = bayesian_t(d, rope), bayesian_t(d.negated(), rope)
    assert_array_equal(t.worse, mirrored.better)
    # exact, so it does not depend on which query got which random word
    one, other = (bayesian_signed_rank(e, rope, draws=1) for e in (d, d.negated()))
    assert_allclose(one.share_worse, other.share_better, atol=1e-12)


@settings(deadline=None)
@given(cases(most=40))
def test_a_wider_rope_holds_more(case: Case) -> None:
    d = case.differences
    for test in FEW_DRAWS:
        inside = np.array([test(d, rope).equivalent for rope in (0.01, 0.1, 0.5, 2.0)])
        known = ~np.isnan(inside[0])
        assert np.all(np.diff(inside[:, known], axis=0) >= -1e-12)


def _naive_shares(values: NDArray[np.float64], weights: NDArray[np.float64], rope: float) -> NDArray[np.float64]:
    """Σᵢ Σⱼ wᵢ wⱼ over pairs below, within and above the region, by the definition."""
    sums = values[:, None] + values
    products = weights[:, None] * weights
    below, above = products[sums < -2 * rope].sum(), products[sums > 2 * rope].sum()
    middle = 1 - below - above
    return np.array([below + middle / 2, 0, above + middle / 2] if rope == 0 else [below, middle, above])


@pytest.mark.parametrize("rope", [0.0, 0.25, 0.5])
def test_signed_rank_by_its_definition(rope: float) -> None:
    rng = np.random.default_rng(1)
    values = rng.integers(-3, 5, 12) / 4
    result = bayesian_signed_rank(paired_differences(np.zeros(12), values), rope, draws=20_000)
    with_prior = np.concatenate([[0.0], values])
    draws = rng.dirichlet([0.5] + [1.0] * 12, 20_000)
    shares = np.array([_naive_shares(with_prior, weights, rope) for weights in draws])
    winners = np.bincount(shares.argmax(axis=1), minlength=3) / len(shares)
    assert_allclose(_probabilities(result), winners, atol=0.02)
    ours = [result.share_worse[0], result.share_equivalent[0], result.share_better[0]]
    assert_allclose(ours, shares.mean(axis=0), atol=0.005)


def test_sign_has_known_answers() -> None:
    d = paired_differences(np.zeros(6), [0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    # Beta(6, 1): the share of wins exceeds ½ with probability 1 − 2⁻⁶
    result = bayesian_sign(d)
    assert_allclose(result.better, 1 - 2**-6, atol=0.003)
    assert_allclose([result.share_better[0], result.share_equivalent[0]], [6 / 7, 1 / 7], atol=1e-12)
    within = bayesian_sign(d, 0.3)
    assert_allclose(within.share_equivalent, 4 / 7, atol=1e-12)


@pytest.mark.parametrize("name", SAMPLED)
def test_a_difference_as_large_as_the_rope_lies_within(name: str) -> None:
    d = paired_differences([0.2] * 8, [0.3] * 8)
    assert SAMPLED[name](d, 0.1, draws=100).equivalent[0] == 1
    assert SAMPLED[name](d, 0.0999, draws=100).better[0] > 0.9


def test_identical_systems() -> None:
    d = paired_differences(np.zeros((5, 2)), [[0.0, np.nan]] * 5)
    ranks = bayesian_signed_rank(d, draws=100)
    assert_array_equal([ranks.worse[0], ranks.equivalent[0], ranks.better[0]], [0.5, 0, 0.5])
    assert bayesian_signed_rank(d, 0.01, draws=100).equivalent[0] == 1
    assert bayesian_sign(d, draws=100).equivalent[0] == 1
    assert np.isnan(ranks.worse[1])
    assert np.isnan(ranks.share_better[1])


@pytest.mark.parametrize("name", SAMPLED)
def test_batches_and_columns(name: str) -> None:
    rng = np.random.default_rng(5)
    values = rng.normal(0.1, 1, (45, 3))
    values[rng.random(values.shape) < 0.2] = np.nan
    d = paired_differences(np.zeros((45, 3)), values)
    whole = SAMPLED[name](d, 0.1, draws=500)
    for column in range(3):
        for batch in (1, 7, None):
            alone = SAMPLED[name](d.select([column]), 0.1, draws=500, batch=batch)
            for field in fields(whole):
                value = getattr(whole, field.name)
                if isinstance(value, np.ndarray):
                    assert value[column] == getattr(alone, field.name)[0]


def test_seeds_and_error() -> None:
    d = paired_differences(np.zeros(20), np.random.default_rng(1).normal(0.1, 1, 20))
    results = [bayesian_signed_rank(d, 0.2, draws=4000, rng=seed) for seed in range(12)]
    better = np.array([result.better[0] for result in results])
    assert bayesian_signed_rank(d, 0.2, draws=4000, rng=3).better[0] == better[3]
    assert 0 < better.std(ddof=1) < 3 * results[0].monte_carlo_error[0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda d: bayesian_t(d, -0.1), "rope"),
        (lambda d: bayesian_t(d, [0.1, 0.2]), "rope"),
        (lambda d: bayesian_t(d, correlation=1.0), "correlation"),
        (lambda d: bayesian_sign(d, prior=0), "prior"),
        (lambda d: bayesian_signed_rank(d, draws=0), "draws"),
        (lambda d: bayesian_signed_rank(d, batch=0), "batch"),
    ],
)
def test_messages(call: Callable[[Differences], object], message: str) -> None:
    with pytest.raises(RankstatsError, match=message):
        call(paired_differences([0.1, 0.2], [0.2, 0.1]))
