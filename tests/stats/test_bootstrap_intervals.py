from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import fields
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from scipy import stats

from rankstats.errors import RankstatsError
from rankstats.stats import (
    INTERVAL_METHODS,
    Differences,
    Ratios,
    bootstrap_intervals,
    bootstrap_max_t,
    mean_ratios,
    paired_bootstrap,
    paired_differences,
    relative_difference,
    relative_ratios,
)
from rankstats.stats.bca import bca_level
from rankstats.stats.quantiles import quantile_at
from rankstats.stats.random_blocks import generator_from
from rankstats.stats.resampled_ratios import resampled_ratios
from rankstats.stats.resampling import Resampling
from tests.shared import shared
from tests.stats.cases import Case, cases

OF_R = {"norm": "normal", "basic": "basic", "stud": "studentised", "perc": "percentile"}
REPLAYED = ("p20", "p50skew", "p8", "weighted_p20", "stratified_p20", "relative_change_p20")


def _golden(name: str) -> tuple[dict[str, Any], Differences | Ratios, dict[str, Any]]:
    """Return a case of R's boot, its statistic, and what replays it."""
    case = json.loads(shared("golden/stats_bootstrap.json").read_text(encoding="utf-8"))["cases"][name]
    arguments: dict[str, Any] = {"indices": np.array(case["index_matrix_1based"]) - 1}
    if "segment" in case:
        arguments["strata"] = case["segment"]
    if "a" in case:
        return case, relative_ratios(case["a"], case["b"]), arguments
    return case, paired_differences(np.zeros(len(case["d"])), case["d"], case.get("w")), arguments


def _pair(ends: tuple[NDArray[np.float64], NDArray[np.float64]]) -> list[float]:
    return [float(ends[0][0]), float(ends[1][0])]


@pytest.mark.shared
@pytest.mark.parametrize("name", REPLAYED)
def test_intervals_of_r_boot(name: str) -> None:
    case, statistic, arguments = _golden(name)
    for level in ("90", "95"):
        for method, expected in case.get(f"R_ci{level}", {}).items():
            if method == "bca_regL" and name == "weighted_p20":
                continue  # see test_bca_with_r_boots_regression_estimate_of_influence
            ours = bootstrap_intervals(
                statistic, alpha=1 - int(level) / 100, quantiles="norm.inter", **arguments
            ).interval(OF_R.get(method, "bca"))
            assert_allclose(_pair(ours), expected, rtol=0, atol=1e-9, err_msg=f"{level} {method}")


@pytest.mark.shared
@pytest.mark.parametrize("name", REPLAYED)
def test_moments_of_r_boot(name: str) -> None:
    case, statistic, arguments = _golden(name)
    as_r = bootstrap_intervals(statistic, quantiles="norm.inter", **arguments)
    ours = bootstrap_intervals(statistic, **arguments)
    assert_allclose(ours.estimate[0], case["t0"], rtol=0, atol=1e-9)
    assert_allclose(ours.standard_error[0], case["boot_sd"], rtol=0, atol=1e-9)
    for key, value in {
        "bias": ours.bias,
        "boot_mean": ours.estimate + ours.bias,
        "z0_strict_less": as_r.bias_correction,
        "z0_ties_half": ours.bias_correction,
        "acceleration_jackknife": ours.acceleration,
    }.items():
        if key in case:
            assert_allclose(value[0], case[key], rtol=0, atol=1e-9, err_msg=key)
    if name.startswith("p"):
        # for a plain mean the regression estimate of influence is the jackknife's
        assert_allclose(ours.acceleration[0], case["acceleration_empinf_reg"], rtol=0, atol=1e-9)


@pytest.mark.shared
@pytest.mark.parametrize("name", REPLAYED)
def test_intervals_of_scipy_and_type_7(name: str) -> None:
    case, statistic, arguments = _golden(name)
    ours = bootstrap_intervals(statistic, **arguments)
    for method, expected in case.get("scipy_ci95", {}).items():
        assert_allclose(_pair(ours.interval(method.lower())), expected, rtol=0, atol=1e-9, err_msg=method)
    if "bca95_type7_ties_half" in case:
        assert_allclose(_pair(ours.interval("bca")), case["bca95_type7_ties_half"], rtol=0, atol=1e-9)
    if "stud95_type7" in case:
        assert_allclose(_pair(ours.interval("studentised")), case["stud95_type7"], rtol=0, atol=1e-9)
    if "quantile_type7_perc95" in case:
        assert_allclose(_pair(ours.interval("percentile")), case["quantile_type7_perc95"], rtol=0, atol=1e-9)
    for convention in ("type7", "type6"):
        for key, expected in case.get(f"quantile_{convention}", {}).items():
            alpha = 1 - int(key.removeprefix("perc")) / 100
            chosen = bootstrap_intervals(
                statistic, methods=["percentile"], alpha=alpha, quantiles=convention, **arguments
            )
            assert_allclose(_pair(chosen.interval("percentile")), expected, rtol=0, atol=1e-9, err_msg=convention + key)


def _values(statistic: Differences | Ratios, indices: NDArray[np.int64]) -> NDArray[np.float64]:
    ratios = statistic if isinstance(statistic, Ratios) else mean_ratios(statistic)
    resampling = Resampling(len(indices), ratios.n_rows, generator_from(0), indices=indices)
    return resampled_ratios(ratios, resampling).values


@pytest.mark.shared
@pytest.mark.parametrize("name", ["p20", "p50skew", "p8", "weighted_p20", "relative_change_p20"])
def test_bca_step_by_step(name: str) -> None:
    case, statistic, arguments = _golden(name)
    values = np.sort(_values(statistic, arguments["indices"]), axis=1)
    ours = bootstrap_intervals(statistic, quantiles="norm.inter", **arguments)
    assert np.count_nonzero(np.abs(values - ours.estimate[0]) < 1e-9) == case["n_equal_t0"]
    levels = [bca_level(ours.bias_correction, ours.acceleration, np.array([p])) for p in (0.025, 0.975)]
    assert_allclose(np.ravel(levels), case["bca95_adjusted_alphas"], rtol=0, atol=1e-9)
    assert_allclose([quantile_at(values, level)[0] for level in levels], case["bca95_type7"], rtol=0, atol=1e-9)
    if "percentile_p_two" in case:
        assert np.count_nonzero(values <= 1e-9) == case["percentile_p_two"]["le0"]
        assert np.count_nonzero(values >= -1e-9) == case["percentile_p_two"]["ge0"]


@pytest.mark.shared
def test_bca_with_r_boots_regression_estimate_of_influence() -> None:
    case, statistic, arguments = _golden("weighted_p20")
    indices = arguments["indices"]
    values = _values(statistic, indices)
    counts = np.array([np.bincount(row, minlength=20) for row in indices])
    design = np.column_stack([np.ones(len(counts)), counts[:, 1:] / 20])
    influence = np.concatenate([[0.0], np.linalg.lstsq(design, values[0], rcond=None)[0][1:]])
    influence -= influence.mean()
    a = np.array([np.sum(influence**3) / np.sum(influence**2) ** 1.5 / 6])
    z0 = bootstrap_intervals(statistic, quantiles="norm.inter", **arguments).bias_correction
    ends = [quantile_at(np.sort(values), bca_level(z0, a, np.array([p])), "norm.inter")[0] for p in (0.025, 0.975)]
    assert_allclose(ends, case["R_ci95"]["bca_regL"], rtol=0, atol=1e-9)


@pytest.mark.shared
@pytest.mark.parametrize("name", ["p20", "p50skew", "p8"])
def test_tests_on_the_replayed_resamples(name: str) -> None:
    case, statistic, arguments = _golden(name)
    assert isinstance(statistic, Differences)
    shifted = paired_bootstrap(statistic, **arguments)
    assert shifted.p_value[0] == case["shift_test"]["p_two_plus1"]
    resamples = len(arguments["indices"])
    assert round(shifted.p_value[0] * (resamples + 1)) - 1 == case["shift_test"]["count_two"]
    studentised = bootstrap_max_t(statistic, **arguments)
    assert_allclose(studentised.p_adjusted, case["studentised_test"]["p_two_plus1"], rtol=1e-12)


@pytest.mark.shared
def test_replayed_poisson_counts() -> None:
    case = json.loads(shared("golden/stats_bootstrap.json").read_text(encoding="utf-8"))["poisson_bootstrap"]
    d = paired_differences(np.zeros(8), case["d"])
    ours = bootstrap_intervals(d, counts=case["counts"])
    assert ours.undefined[0] == case["n_zero_total"]
    assert_allclose(ours.estimate + ours.bias, case["mean"], rtol=0, atol=1e-9)
    assert_allclose(ours.standard_error, case["sd"], rtol=0, atol=1e-9)
    assert_allclose(_pair(ours.interval("percentile")), case["quantile_type7_95"], rtol=0, atol=1e-9)
    assert_allclose(paired_bootstrap(d, counts=case["counts"]).standard_error, case["sd"], rtol=0, atol=1e-9)


def test_all_256_resamples_of_four_queries() -> None:
    d = paired_differences(np.zeros(4), [0.1, -0.02, 0.05, 0.2])
    indices = np.array(list(product(range(4), repeat=4)))
    ours = bootstrap_intervals(d, indices=indices)
    assert_allclose(ours.estimate + ours.bias, 0.0825, rtol=0, atol=1e-9)
    assert_allclose(ours.standard_error * np.sqrt(255 / 256), 0.04005855089740516, rtol=0, atol=1e-9)
    assert_allclose(_pair(ours.interval("percentile")), [0.01, 0.1625], rtol=0, atol=1e-9)
    values = _values(d, indices)[0]
    assert np.count_nonzero(values <= 0) == 5
    distinct = np.unique(np.round(values, 9))
    assert len(distinct) == 31
    assert_allclose(distinct[[0, 1, -1]], [-0.02, -0.0025, 0.2], rtol=0, atol=1e-9)
    assert ours.unstudentised[0] == 4


@pytest.mark.parametrize("method", ["percentile", "basic", "BCa"])
@pytest.mark.parametrize("kind", ["mean", "relative"])
def test_scipys_bootstrap_on_the_same_resamples(method: str, kind: str) -> None:
    rng = np.random.default_rng(7)
    before, after = rng.gamma(2, 0.2, 30), rng.gamma(2, 0.24, 30)
    indices = rng.integers(0, 30, (777, 30))

    def relative(a: Any, b: Any, axis: int = -1) -> Any:
        return b.mean(axis=axis) / a.mean(axis=axis) - 1

    def difference(a: Any, b: Any, axis: int = -1) -> Any:
        return b.mean(axis=axis) - a.mean(axis=axis)

    statistic = relative if kind == "relative" else difference
    given_values = stats._resampling.BootstrapResult(
        confidence_interval=None,
        bootstrap_distribution=statistic(before[indices], after[indices]),
        standard_error=0.0,
    )
    theirs = stats.bootstrap(
        (before, after), statistic, paired=True, n_resamples=0, bootstrap_result=given_values, method=method
    )
    ratios = relative_ratios(before, after) if kind == "relative" else mean_ratios(paired_differences(before, after))
    ours = bootstrap_intervals(ratios, methods=[method.lower()], indices=indices)
    assert_allclose(_pair(ours.interval(method.lower())), list(theirs.confidence_interval), rtol=0, atol=1e-9)
    assert_allclose(ours.standard_error, theirs.standard_error, rtol=0, atol=1e-9)


def test_expanded_percentile_is_the_percentile_of_a_wider_level() -> None:
    d = paired_differences(np.zeros(12), np.random.default_rng(3).normal(0.2, 1, 12))
    level = stats.norm.cdf(np.sqrt(12 / 11) * stats.t.ppf(0.025, 11))
    expanded = bootstrap_intervals(d, methods=["expanded"])
    percentile = bootstrap_intervals(d, methods=["percentile"], alpha=2 * level)
    assert_allclose(_pair(expanded.interval("expanded")), _pair(percentile.interval("percentile")), rtol=1e-12)


def _same(one: Any, other: Any, columns: Any = slice(None)) -> None:
    for field in fields(one):
        left, right = getattr(one, field.name), getattr(other, field.name)
        assert_array_equal(left[columns] if isinstance(left, np.ndarray) else left, right, err_msg=field.name)


def _made(weighted: bool) -> Differences:
    rng = np.random.default_rng(11)
    values = rng.normal(0.2, 1, (70, 5)) ** 3
    values[rng.random(values.shape) < 0.1] = np.nan
    values[12:, -1] = np.nan
    return paired_differences(rng.random((70, 1)) / 3, values, rng.exponential(size=70) if weighted else None)


@pytest.mark.parametrize("arguments", [{}, {"scheme": "poisson"}, {"strata": np.arange(70) % 3}])
@pytest.mark.parametrize("weighted", [False, True])
def test_batches_columns_and_pieces_change_nothing(
    arguments: dict[str, Any], weighted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    d = _made(weighted)
    whole = bootstrap_intervals(d, resamples=150, **arguments)
    for batch in (1, 7, 1000):
        _same(whole, bootstrap_intervals(d, resamples=150, batch=batch, **arguments))
    for column in range(d.n_columns):
        _same(whole, bootstrap_intervals(d.select([column]), resamples=150, **arguments), [column])
    monkeypatch.setattr(sys.modules["rankstats.stats.bootstrap_intervals"], "_COLUMNS_AT_ONCE", 2)
    generators = [np.random.default_rng(3) for _ in range(2)]
    _same(
        bootstrap_intervals(d, resamples=150, rng=generators[0], **arguments),
        bootstrap_intervals(d, resamples=150, rng=3, **arguments),
    )
    monkeypatch.undo()
    bootstrap_intervals(d, resamples=150, rng=generators[1], **arguments)
    assert generators[0].random() == generators[1].random()


PROGRAM = """
import hashlib
from dataclasses import fields
import numpy as np
from rankstats.stats import (
    bootstrap_intervals, cluster_sums, paired_bootstrap, paired_differences, relative_ratios, sign_flip_test
)
rng = np.random.default_rng(1)
before, after = rng.gamma(3, 0.1, (1500, 1)), rng.gamma(3, 0.11, (1500, 20))
d = paired_differences(before, after, rng.exponential(size=1500))  # plain sums of this size do differ
digest = hashlib.sha256()
for result in (
    bootstrap_intervals(d, resamples=150),
    bootstrap_intervals(d, resamples=150, scheme="poisson"),
    bootstrap_intervals(d, resamples=150, strata=np.arange(1500) % 3),
    bootstrap_intervals(relative_ratios(before, after), resamples=150),
    paired_bootstrap(cluster_sums(d, np.arange(1500) // 7), resamples=150),
    sign_flip_test(d.select([0]), resamples=150),
):
    for field in fields(result):
        value = getattr(result, field.name)
        digest.update(value.tobytes() if isinstance(value, np.ndarray) else repr(value).encode())
print(digest.hexdigest())
"""


def test_threads() -> None:
    digests = set()
    for threads in ("1", "2"):
        limits = {f"{name}_NUM_THREADS": threads for name in ("OPENBLAS", "OMP", "MKL", "VECLIB")}
        program = subprocess.run(
            [sys.executable, "-c", PROGRAM], env=os.environ | limits, capture_output=True, text=True, check=True
        )
        digests.add(program.stdout)
    assert len(digests) == 1


@settings(deadline=None, max_examples=40)
@given(cases(most=60), st.sampled_from(["type7", "type6", "norm.inter"]), st.sampled_from(["rows", "poisson"]))
def test_swapping_the_systems_mirrors_and_a_level_nests(case: Case, quantiles: str, scheme: str) -> None:
    arguments: dict[str, Any] = {"resamples": 99, "scheme": scheme}
    one = bootstrap_intervals(case.differences, quantiles="type7", **arguments)
    other = bootstrap_intervals(case.differences.negated(), quantiles="type7", **arguments)
    assert_allclose(one.low, -other.high, rtol=1e-9, atol=1e-9)
    assert_array_equal(one.standard_error, other.standard_error)
    wide = bootstrap_intervals(case.differences, alpha=0.01, quantiles=quantiles, **arguments)
    narrow = bootstrap_intervals(case.differences, alpha=0.2, quantiles=quantiles, **arguments)
    has = ~np.isnan(wide.low)
    assert_array_equal(has, ~np.isnan(narrow.low))
    rounding = 1e-9
    assert np.all(wide.low[has] <= narrow.low[has] + rounding)
    assert np.all(wide.high[has] >= narrow.high[has] - rounding)


@settings(deadline=None, max_examples=30)
@given(cases(most=60), st.integers(-20, 20))
def test_a_power_of_two_scales_every_interval(case: Case, power: int) -> None:
    factor = 2.0**power
    one = bootstrap_intervals(case.differences, resamples=99)
    scaled = paired_differences(case.baseline * factor, case.systems * factor, case.weights)
    other = bootstrap_intervals(scaled, resamples=99)
    assert_allclose(one.low * factor, other.low, rtol=1e-12)
    assert_allclose(one.high * factor, other.high, rtol=1e-12)
    assert_array_equal(one.bias_correction, other.bias_correction)


def test_a_constant_shifts_every_interval() -> None:
    values = np.random.default_rng(3).normal(0.2, 1, 25)
    one = bootstrap_intervals(paired_differences(np.zeros(25), values), resamples=499)
    other = bootstrap_intervals(paired_differences(np.zeros(25), values + 0.25), resamples=499)
    assert_allclose(other.low - one.low, 0.25, atol=1e-8)
    assert_allclose(other.high - one.high, 0.25, atol=1e-8)


def test_relative_differences_do_not_depend_on_the_scale_and_follow_the_sign() -> None:
    rng = np.random.default_rng(5)
    before, after = rng.gamma(3, 0.1, 40), rng.gamma(3, 0.11, 40)
    one = bootstrap_intervals(relative_ratios(before, after), resamples=499)
    for factor, side in ((8.0, 1.0), (-1.0, -1.0)):
        other = bootstrap_intervals(relative_ratios(before * factor, after * factor), resamples=499)
        assert_allclose(other.estimate, side * one.estimate, rtol=1e-9)
        assert_allclose(np.sort(side * other.low), np.sort(one.low if side > 0 else one.high), rtol=1e-6)
    closed = relative_difference(before, after)
    assert_allclose(one.estimate, closed.estimate, rtol=1e-9)
    for method in ("percentile", "bca", "studentised"):
        assert_allclose(_pair(one.interval(method)), [closed.low[0], closed.high[0]], atol=0.06)


def test_relative_differences_of_an_uncertain_baseline_are_undefined() -> None:
    before, after = [-1.0, 1.0, 0.5, -0.4], [1.0, 2.0, 1.0, 1.0]
    result = bootstrap_intervals(relative_ratios(before, after), resamples=99)
    assert np.isnan(result.estimate[0])
    assert np.all(np.isnan(result.low))


def test_resamples_without_denominator_widen_the_interval() -> None:
    before = np.array([0.0] * 8 + [1.0, 1.2, 0.9, 1.1])
    after = before * 1.3 + 0.01 * np.arange(12)
    ratios = relative_ratios(before, after, alpha=0.2)
    result = bootstrap_intervals(ratios, methods=["percentile", "basic"], resamples=2000)
    # none of the four is drawn with probability (8/12)**12 = .0077
    assert 2 <= result.undefined[0] <= 32
    strict = bootstrap_intervals(ratios, methods=["percentile"], resamples=2000, alpha=0.002)
    assert (strict.low[0, 0], strict.high[0, 0]) == (-np.inf, np.inf)
    assert np.all(np.isfinite(result.low))


def test_identical_systems_constant_differences_one_query_and_none() -> None:
    values = np.full((20, 4), np.nan)
    values[:, 0], values[:, 1], values[0, 2] = 0.0, 0.1, 0.4
    for scheme in ("rows", "poisson"):
        result = bootstrap_intervals(paired_differences(np.zeros(20), values), resamples=99, scheme=scheme)
        assert np.all(np.isnan(result.low[[0, 3]]))
        assert np.all(result.low[[1, 2]] == -np.inf)
        assert np.all(result.high[[1, 2]] == np.inf)
        assert result.n.tolist() == [20, 20, 1, 0]
        assert_array_equal(result.undefined[[0, 1, 3]], 0)
    relative = bootstrap_intervals(relative_ratios(values[:, 1] + 1, 1.1 * (values[:, 1] + 1)), resamples=99)
    assert_allclose(relative.estimate, 0.1, rtol=0, atol=1e-9)
    assert np.all(relative.low == -np.inf)


def test_a_sparse_column_leaves_bootstrap_t_unbounded() -> None:
    values = np.zeros(20)
    values[0] = 1.0
    result = bootstrap_intervals(paired_differences(np.zeros(20), values), resamples=999)
    # without the one difference all are 0: t* is minus infinity in a third of the resamples
    assert 250 < result.unstudentised[0] < 480
    assert result.interval("studentised")[1][0] == np.inf
    assert np.isfinite(result.interval("percentile")[1][0])


def test_one_resample_and_no_columns() -> None:
    d = paired_differences([0.1, 0.2, 0.4], [0.3, 0.1, 0.9])
    result = bootstrap_intervals(d, resamples=1)
    assert np.isnan(result.standard_error[0])
    assert result.interval("bca")[0][0] == -np.inf
    for scheme in ("rows", "poisson"):
        none = bootstrap_intervals(d.select(np.arange(0)), resamples=9, scheme=scheme)
        assert none.low.shape == (0, 6)


def test_strata_keep_their_sizes() -> None:
    labels = np.array(["b", "a", "b", "c", "a", "b"])
    values = np.array([0.0, 1.0, 0.0, 5.0, 1.0, 0.0])
    # within strata nothing varies, so every resample has the mean of the data
    result = bootstrap_intervals(paired_differences(np.zeros(6), values), strata=labels, resamples=200)
    assert_allclose(result.standard_error, 0, atol=1e-12)
    assert "studentised" not in result.methods
    one = bootstrap_intervals(_made(True), strata=["all"] * 70, resamples=99)
    plain = bootstrap_intervals(_made(True), methods=one.methods, resamples=99)
    _same(one, plain)


def test_stratified_standard_error_is_that_of_theory() -> None:
    rng = np.random.default_rng(2)
    strata = np.repeat([0, 1], [30, 20])
    values = rng.normal(0, 1, 50) + 5 * strata
    d = paired_differences(np.zeros(50), values)
    theory = np.sqrt(sum(values[strata == s].var() * np.sum(strata == s) for s in (0, 1))) / 50
    for result in (bootstrap_intervals(d, strata=strata), paired_bootstrap(d, strata=strata)):
        assert_allclose(result.standard_error, theory, rtol=4 / np.sqrt(2 * 10_000))


def test_poisson_counts_give_the_standard_error_of_theory() -> None:
    values = np.random.default_rng(1).exponential(size=400)
    d = paired_differences(np.zeros(400), values)
    theory = values.std() / 20
    for result in (bootstrap_intervals(d, scheme="poisson"), paired_bootstrap(d, scheme="poisson")):
        assert_allclose(result.standard_error, theory, rtol=4 / np.sqrt(2 * 10_000) + 1 / 400)


def test_the_resamples_are_those_of_the_shifted_test() -> None:
    d = _made(True)
    assert_array_equal(
        bootstrap_intervals(d, resamples=99).standard_error, paired_bootstrap(d, resamples=99).standard_error
    )


def test_results_are_rows() -> None:
    rows = bootstrap_intervals(_made(False), methods=["basic", "bca"], resamples=99).to_dicts()
    assert len(rows) == 5
    assert len(rows[0]["low"]) == 2
    assert rows[0]["methods"] == ("basic", "bca")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"methods": ["bcca"]}, "did you mean 'bca'"),
        ({"methods": []}, "name at least one"),
        ({"methods": ["bca", "bca"]}, "only once"),
        ({"quantiles": "type8"}, "type7"),
        ({"scheme": "poison"}, "did you mean 'poisson'"),
        ({"alpha": 0}, "alpha = 0"),
        ({"resamples": 0}, "resamples = 0"),
        ({"strata": [1, 2]}, "strata have shape"),
        ({"strata": [1.0, np.nan, 2.0]}, "row 1"),
        ({"strata": ["a", None, "b"]}, "row 1"),
        ({"strata": [1, 1, 1], "scheme": "poisson"}, "use scheme = 'rows'"),
        ({"strata": [1, 1, 1], "methods": ["studentised"]}, "choose 'bca'"),
        ({"indices": [[0, 1, 3]]}, "between 0 and 2"),
        ({"counts": [[0, 1, -3]]}, "not be negative"),
        ({"counts": [[0.5, 1, 3]]}, "whole numbers"),
        ({"counts": [[1, 1, 1]], "indices": [[0, 1, 2]]}, "not both"),
    ],
)
def test_messages(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(RankstatsError, match=message):
        bootstrap_intervals(paired_differences([0.1, 0.2, 0.3], [0.2, 0.4, 0.5]), **arguments)


def test_messages_about_the_statistic_and_the_method() -> None:
    with pytest.raises(RankstatsError, match="paired_differences"):
        bootstrap_intervals([0.1, 0.2])  # type: ignore[arg-type] # what is tested
    with pytest.raises(RankstatsError, match="method"):
        bootstrap_intervals(_made(False), methods=["bca"], resamples=9).interval("basic")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "least"),
    # nominal .95; the bands are those of the literature for skewed differences
    [
        (10, {"percentile": 0.85, "expanded": 0.91, "basic": 0.84, "bca": 0.84, "studentised": 0.91}),
        (50, {"percentile": 0.92, "expanded": 0.93, "basic": 0.91, "bca": 0.92, "studentised": 0.93}),
    ],
)
def test_coverage_of_the_intervals(n: int, least: dict[str, float]) -> None:
    repetitions = 2000
    rng = np.random.default_rng(n)
    values = rng.gamma(2.0, 0.1, (n, repetitions)) - rng.exponential(0.1, (n, repetitions))
    result = bootstrap_intervals(paired_differences(np.zeros(n), values), resamples=999)
    for method in INTERVAL_METHODS[1:]:
        low, high = result.interval(method)
        coverage = float(np.mean((low <= 0.1) & (high >= 0.1)))
        assert least[method] < coverage < 0.975 + (0.01 if method == "studentised" else 0), (method, coverage)
    ratio_before = rng.gamma(4.0, 0.1, (n, repetitions))
    ratios = relative_ratios(ratio_before, ratio_before * 1.2 + rng.normal(0, 0.1, (n, repetitions)))
    low, high = bootstrap_intervals(ratios, methods=["bca"], resamples=999).interval("bca")
    assert least["bca"] < float(np.mean((low <= 0.2) & (high >= 0.2))) < 0.975
