"""Every number of stats_bootstrap.json, replayed from its index matrices: R's boot, scipy and plain enumeration."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from rankstats.stats import (
    Differences,
    Ratios,
    bootstrap_intervals,
    bootstrap_max_t,
    cluster_sums,
    mean_ratios,
    paired_bootstrap,
    paired_differences,
    relative_ratios,
)
from rankstats.stats.bca import bca_level
from rankstats.stats.quantiles import quantile_at
from rankstats.stats.random_blocks import generator_from
from rankstats.stats.resampled_ratios import resampled_ratios
from rankstats.stats.resampling import Resampling
from tests.shared import shared
from tests.stats.golden.leaves import EXACT, Tolerance, assert_every_leaf, within

pytestmark = pytest.mark.shared

OF_R = {"norm": "normal", "basic": "basic", "stud": "studentised", "perc": "percentile", "bca_jackL": "bca"}
CASES = ("p20", "p50skew", "p8", "weighted_p20", "stratified_p20", "relative_change_p20")
PLAIN = ("p20", "p50skew", "p8")


def _reference() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(shared("golden/stats_bootstrap.json").read_text(encoding="utf-8"))
    return found


def _statistic(case: dict[str, Any]) -> Differences | Ratios:
    if "a" in case:
        return relative_ratios(case["a"], case["b"])
    return paired_differences(np.zeros(len(case["d"])), case["d"], case.get("w"))


def _replay(case: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"indices": np.array(case["index_matrix_1based"]) - 1}
    return found | ({"strata": case["segment"]} if "segment" in case else {})


def _ratios(statistic: Differences | Ratios) -> Ratios:
    return statistic if isinstance(statistic, Ratios) else mean_ratios(statistic)


def _values(statistic: Differences | Ratios, indices: NDArray[np.int64]) -> NDArray[np.float64]:
    ratios = _ratios(statistic)
    return resampled_ratios(ratios, Resampling(len(indices), ratios.n_rows, generator_from(0), indices=indices)).values


def _pair(ends: tuple[NDArray[np.float64], NDArray[np.float64]]) -> list[float]:
    return [float(ends[0][0]), float(ends[1][0])]


def _percentiles(case: dict[str, Any], convention: str, level: int) -> list[float]:
    result = bootstrap_intervals(
        _statistic(case), methods=["percentile"], alpha=1 - level / 100, quantiles=convention, **_replay(case)
    )
    return _pair(result.interval("percentile"))


def _intervals_of_r(case: dict[str, Any], level: int) -> dict[str, list[float]]:
    result = bootstrap_intervals(_statistic(case), alpha=1 - level / 100, quantiles="norm.inter", **_replay(case))
    return {name: _pair(result.interval(ours)) for name, ours in OF_R.items() if ours in result.methods}


def _bca(case: dict[str, Any]) -> dict[str, Any]:
    """BCa step by step: the moved levels, and quantiles of type 7 there; then as it is offered."""
    statistic, replay = _statistic(case), _replay(case)
    values = np.sort(_values(statistic, replay["indices"]), axis=1)
    result = bootstrap_intervals(statistic, quantiles="norm.inter", **replay)
    levels = [bca_level(result.bias_correction, result.acceleration, np.array([level])) for level in (0.025, 0.975)]
    ours = bootstrap_intervals(statistic, **replay)
    return {
        "n_equal_t0": int(np.count_nonzero(np.abs(values - ours.estimate[0]) < 1e-9)),
        "z0_strict_less": result.bias_correction[0],
        "z0_ties_half": ours.bias_correction[0],
        "acceleration_jackknife": ours.acceleration[0],
        "bca95_adjusted_alphas": np.ravel(levels),
        "bca95_type7": [quantile_at(values, level)[0] for level in levels],
        "bca95_type7_ties_half": _pair(ours.interval("bca")),
        "scipy_ci95": {name: _pair(ours.interval(name.lower())) for name in ("percentile", "basic", "BCa")},
    }


def _tests(case: dict[str, Any]) -> dict[str, Any]:
    d, replay = _statistic(case), _replay(case)
    assert isinstance(d, Differences)
    two, greater = (paired_bootstrap(d, alternative=way, **replay).p_value[0] for way in ("two-sided", "greater"))
    studentised = bootstrap_max_t(d, **replay).p_adjusted[0]
    resamples = len(replay["indices"])
    counts = [round(p * (resamples + 1)) - 1 for p in (two, greater, studentised)]
    values = _values(d, replay["indices"])
    return {
        "shift_test": {
            "count_two": counts[0],
            "count_greater": counts[1],
            "p_two_plus1": two,
            "p_two_raw": counts[0] / resamples,
            "p_greater_plus1": greater,
        },
        "studentised_test": {"count_two": counts[2], "p_two_plus1": studentised},
        "percentile_p_two": {
            "le0": int(np.count_nonzero(values <= 1e-9)),
            "ge0": int(np.count_nonzero(values >= -1e-9)),
        },
    }


def _case(name: str, case: dict[str, Any]) -> dict[str, Any]:
    ours = bootstrap_intervals(_statistic(case), **_replay(case))
    found: dict[str, Any] = {"B": ours.resamples, "t0": ours.estimate[0], "boot_sd": ours.standard_error[0]}
    found["R_ci95"] = {method: ends for method, ends in _intervals_of_r(case, 95).items() if method in case["R_ci95"]}
    if name == "stratified_p20":
        return found | {"quantile_type7_perc95": _percentiles(case, "type7", 95)}
    found |= _bca(case)
    if name not in PLAIN:
        return found | {"quantile_type7_perc95": _percentiles(case, "type7", 95)}
    found |= {"bias": ours.bias[0], "boot_mean": ours.estimate[0] + ours.bias[0]}
    # for a plain mean the regression estimate of influence is the jackknife's
    found["acceleration_empinf_reg"] = ours.acceleration[0]
    found["R_ci90"] = _intervals_of_r(case, 90)
    for level in ("90", "95"):
        found[f"R_ci{level}"]["bca_regL"] = _intervals_of_r(case, int(level))["bca_jackL"]
    del found["R_ci90"]["bca_jackL"]
    for convention in ("type7", "type6"):
        found[f"quantile_{convention}"] = {f"perc{level}": _percentiles(case, convention, level) for level in (90, 95)}
    return found | {"stud95_type7": _pair(ours.interval("studentised"))} | _tests(case)


def _exhaustive(case: dict[str, Any]) -> dict[str, Any]:
    d = paired_differences(np.zeros(4), case["d"])
    indices = np.array(list(product(range(4), repeat=4)))
    ours, values = bootstrap_intervals(d, indices=indices), _values(d, indices)[0]
    p = paired_bootstrap(d, indices=indices).p_value[0]
    return {
        "n_resamples": ours.resamples,
        "mean": ours.estimate[0] + ours.bias[0],
        "sd_population": ours.standard_error[0] * np.sqrt(255 / 256),
        "sd_theory": d.standard_error[0] * np.sqrt(3 / 4),
        "quantile_type7_95": _pair(ours.interval("percentile")),
        "count_le_0": int(np.count_nonzero(values <= 0)),
        "shift_two_count": round(p * 257) - 1,
        "sorted_distinct": np.unique(values.round(9)),
    }


def _poisson(case: dict[str, Any]) -> dict[str, Any]:
    ours = bootstrap_intervals(paired_differences(np.zeros(8), case["d"]), counts=case["counts"])
    return {
        "n_zero_total": ours.undefined[0],
        "mean": ours.estimate[0] + ours.bias[0],
        "sd": ours.standard_error[0],
        "quantile_type7_95": _pair(ours.interval("percentile")),
    }


def _clusters(case: dict[str, Any]) -> dict[str, Any]:
    d = paired_differences(np.zeros(20), case["d"])
    clustered = cluster_sums(d, case["cluster"])
    ours = bootstrap_intervals(clustered, indices=case["cluster_index_matrix_0based"])
    return {
        "t0": ours.estimate[0],
        "boot_sd": ours.standard_error[0],
        "quantile_type7_95": _pair(ours.interval("percentile")),
        "linearised_cluster_se": clustered.standard_error[0],
        "naive_se": d.standard_error[0],
    }


TOLERANCES: dict[str, Tolerance] = {
    "*/count_*": EXACT,
    "*/p_*": within(relative=1e-15),
    "*/n_*": EXACT,
    "*": within(1e-9),
}
LEFT_OUT = {
    "provenance/*": "text",
    "agreement/*": "text",
    "*/statistic": "text",
    "*/d/*": "input",
    "*/w/*": "input",
    "*/a/*": "input",
    "*/b/*": "input",
    "*/segment/*": "input",
    "*/counts/*": "input",
    "*/cluster/*": "input",
    "*/index_matrix_1based/*": "input; see test_every_index_is_replayed_exactly",
    "*/cluster_index_matrix_0based/*": "input; see test_every_index_is_replayed_exactly",
    "*/percentile_p_two/p": "percentile intervals carry no p here",
    "cases/weighted_p20/R_ci95/bca_regL/*": "influence by regression on the resamples, which for a ratio is not the "
    "jackknife's; tests/stats/test_bootstrap_intervals.py makes it from ours",
}


def test_every_number() -> None:
    reference = _reference()
    ours = {
        "cases": {name: _case(name, reference["cases"][name]) for name in CASES},
        "exhaustive_n4": _exhaustive(reference["exhaustive_n4"]),
        "poisson_bootstrap": _poisson(reference["poisson_bootstrap"]),
        "cluster_bootstrap": _clusters(reference["cluster_bootstrap"]),
    }
    assert_every_leaf(reference, ours, TOLERANCES, LEFT_OUT)


def _by_whole_numbers(ratios: Ratios, indices: NDArray[np.int64]) -> list[float]:
    """Ratios of sums of Python's integers, divided once."""
    above = [int(value) for value in ratios.numerators[:, 0]]
    below = [int(value) for value in np.broadcast_to(ratios.denominators, ratios.numerators.shape)[:, 0]]
    sums = [(sum(above[row] for row in rows), sum(below[row] for row in rows)) for rows in indices.tolist()]
    return [top / bottom * float(ratios.scale[0]) for top, bottom in sums]


@pytest.mark.parametrize("name", CASES)
def test_every_index_is_replayed_exactly(name: str) -> None:
    case = _reference()["cases"][name]
    statistic, indices = _statistic(case), _replay(case)["indices"]
    assert indices.shape == (case["B"], 8 if name == "p8" else 50 if name == "p50skew" else 20)
    values = _values(statistic, indices)[0].tolist()
    assert values == _by_whole_numbers(_ratios(statistic), indices)


def test_every_cluster_index_is_replayed_exactly() -> None:
    case = _reference()["cluster_bootstrap"]
    indices = np.array(case["cluster_index_matrix_0based"])
    ratios = mean_ratios(paired_differences(np.zeros(20), case["d"])).of_clusters(case["cluster"])
    values = _values(ratios, indices)[0].tolist()
    assert values == _by_whole_numbers(ratios, indices)
