"""Post-stratified differences against formulas worked by hand, golden means, and the plain mean."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats as scipy_stats

from rankstats.errors import RankstatsError
from rankstats.stats import paired_differences, paired_t, post_stratified
from rankstats.stats.differences import Differences
from tests.shared import shared


def from_zero(values: np.ndarray, weights: np.ndarray | None = None) -> Differences:
    return paired_differences(np.zeros(values.shape), values, weights)


def test_equals_the_formula() -> None:
    rng = np.random.default_rng(1)
    values, codes = rng.normal(0.1, 1, (60, 2)), rng.integers(0, 3, 60)
    shares = np.array([0.5, 0.2, 0.3])
    result = post_stratified(from_zero(values), codes, 10 * shares, alpha=0.1)
    for j in range(2):
        parts = [values[codes == k, j] for k in range(3)]
        pieces = np.array([s**2 * part.var(ddof=1) / len(part) for s, part in zip(shares, parts, strict=True)])
        estimate = sum(s * part.mean() for s, part in zip(shares, parts, strict=True))
        df = pieces.sum() ** 2 / sum(p**2 / (len(part) - 1) for p, part in zip(pieces, parts, strict=True))
        assert result.estimate[j] == pytest.approx(estimate)
        assert result.standard_error[j] == pytest.approx(np.sqrt(pieces.sum()))
        assert result.df[j] == pytest.approx(df)
        t = scipy_stats.t(df)
        assert result.p_value[j] == pytest.approx(2 * t.sf(abs(estimate) / np.sqrt(pieces.sum())))
        half = t.ppf(0.95) * np.sqrt(pieces.sum())
        assert (result.low[j], result.high[j]) == pytest.approx((estimate - half, estimate + half))


def test_two_segments_are_welchs_test() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.normal(0, 1, 20), rng.normal(0.5, 3, 31)
    # equal shares of a segment and the negated other one: half their difference
    result = post_stratified(from_zero(np.r_[a, -b]), np.repeat([0, 1], [20, 31]), [1, 1])
    expected = scipy_stats.ttest_ind(a, b, equal_var=False)
    assert result.p_value[0] == pytest.approx(expected.pvalue)
    assert result.df[0] == pytest.approx(expected.df)


def test_one_segment_is_the_paired_t_test() -> None:
    values = np.random.default_rng(3).normal(0.2, 1, 30)
    result, t = post_stratified(from_zero(values), np.zeros(30), [1.0]), paired_t(from_zero(values))
    assert result.p_value[0] == pytest.approx(t.p_value[0])
    assert (result.low[0], result.high[0]) == pytest.approx((t.low[0], t.high[0]))


@pytest.mark.shared
def test_the_stated_mix_of_the_reference_example() -> None:
    golden = json.loads(shared("golden/stats_segments.json").read_text(encoding="utf-8"))
    rows = golden["simpson_unpaired"]["rows"]
    means = {(row["segment"], row["system"]): row["mean"] for row in rows}
    for system, expected in golden["simpson_unpaired"]["standardised_50_50"].items():
        values = np.repeat([means["head", system], means["tail", system]], 4)
        assert post_stratified(from_zero(values), [0] * 4 + [1] * 4, [1, 1]).estimate[0] == pytest.approx(expected)
    # per-segment differences +.05 and −.01 under weights .1 and .9
    d = from_zero(np.array([0.05, 0.05, -0.01, -0.01]))
    found = post_stratified(d, [0, 0, 1, 1], [0.1, 0.9]).estimate[0]
    assert found == pytest.approx(golden["simpson_weights"]["weighted"])


def test_the_shares_of_the_queries_give_the_plain_mean() -> None:
    values, codes = np.random.default_rng(4).normal(0, 1, 50), np.arange(50) % 3
    result = post_stratified(from_zero(values), codes, np.bincount(codes))
    assert result.estimate[0] == pytest.approx(values.mean())


def test_segments_without_queries_or_spread() -> None:
    values = np.array([0.1, 0.2, 0.3, 0.4, np.nan])
    empty = post_stratified(from_zero(values), [0, 0, 0, 0, 1], [0.5, 0.5])
    assert (empty.empty[0], empty.n[0]) == (1, 4)
    assert np.isnan([empty.estimate[0], empty.p_value[0], empty.low[0]]).all()
    unused = post_stratified(from_zero(values), [0, 0, 0, 0, 1], [1.0, 0.0])
    assert unused.estimate[0] == pytest.approx(0.25)
    single = post_stratified(from_zero(values), [0, 0, 0, 1, -1], [0.5, 0.5])
    assert single.estimate[0] == pytest.approx(0.3)
    assert np.isnan(single.standard_error[0])
    flat = post_stratified(from_zero(np.array([0.1, 0.1, 0.3, 0.3])), [0, 0, 1, 1], [1, 1])
    assert (flat.p_value[0], flat.low[0], flat.high[0]) == (1, -np.inf, np.inf)


def test_weights_count_within_segments() -> None:
    values, weights = np.array([0.0, 1.0, 0.0, 1.0]), np.array([1.0, 3.0, 1.0, 1.0])
    result = post_stratified(from_zero(values, weights), [0, 0, 1, 1], [1, 1])
    assert result.estimate[0] == pytest.approx((0.75 + 0.5) / 2)


@pytest.mark.parametrize(
    ("codes", "shares", "message"),
    [([0, 1], [1, 1], "shape"), ([0, 1, 2], [1, 1], "codes must lie"), ([0, 1, 1], [0, 0], "not all 0"),
     ([0, 1, 1], [-1, 2], "not negative")],
)  # fmt: skip
def test_wrong_arguments(codes: list[int], shares: list[float], message: str) -> None:
    with pytest.raises(RankstatsError, match=message):
        post_stratified(from_zero(np.array([0.1, 0.2, 0.3])), codes, shares)
