"""Every number of stats_power.json, stats_equivalence.json, stats_weighted.json and stats_risk.json."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from rankstats.stats import (
    Differences,
    detectable_shift,
    equivalence_test,
    fractional_queries_needed,
    geometric_mean,
    mean_interval,
    noninferiority_test,
    paired_differences,
    paired_risk,
    paired_t,
    queries_needed,
    sign_flip_test,
    sign_flips,
    sign_test_power,
    system_risk,
    t_power,
)
from tests.stats.cases import golden
from tests.stats.golden.leaves import EXACT, assert_every_leaf, within

TEXT = {"provenance/*": "text", "agreement/*": "text"}


def _power(row: dict[str, Any]) -> dict[str, Any]:
    n, alpha = row["n"], row["alpha"]
    shift = row["d"] * np.sqrt(n)
    two, one = (t_power(shift, n - 1, alpha=alpha, two_sided=two_sided) for two_sided in (True, False))
    both = dict.fromkeys(("power_two_strict", "pwr_two", "statsmodels_two", "scipy_nct_two"), two)
    return both | {"power_one": one, "statsmodels_one": one}


def _sample_size(row: dict[str, Any]) -> dict[str, Any]:
    asked = {"alpha": row["alpha"], "power": row["power"]}
    n = fractional_queries_needed(1.0, row["d"], **asked)
    return {
        "n_power.t.test": n,
        "n_pwr": n,
        "statsmodels_n": n,
        "n_ceiling": queries_needed(1.0, row["d"], **asked),
    }


def _smallest_detectable(row: dict[str, Any]) -> dict[str, Any]:
    size = detectable_shift(row["n"], alpha=row["alpha"], power=row["power"]) / np.sqrt(row["n"])
    return {"mde_d": size, "statsmodels_d": size}


def test_power() -> None:
    reference = golden("power")
    signs = reference["sign_test_power"]
    ours = {
        "power": [_power(row) for row in reference["power"]],
        "sample_size": [_sample_size(row) for row in reference["sample_size"]],
        "mde": [_smallest_detectable(row) for row in reference["mde"]],
        "sign_test_power": {"power_exact": sign_test_power(signs["n"], signs["p"], alpha=signs["alpha"])},
    }
    tolerances = {
        "*/n_ceiling": EXACT,
        "sample_size/*": within(2e-4),
        # where the search of R's power.t.test stops, and that of statsmodels
        "mde/*/mde_d": within(5e-6),
        "mde/*": within(1e-6),
        "*": within(1e-9),
    }
    inputs = dict.fromkeys(
        ("*/n", "*/d", "*/alpha", "sample_size/*/power", "mde/*/power", "sign_test_power/p"), "input"
    )
    assert_every_leaf(reference, ours, tolerances, TEXT | {"note": "text"} | inputs)


def _of(name: str) -> Differences:
    data = golden("data")[name]
    return paired_differences(data["a"], data["b"])


def _moved(d: Differences, margin: float) -> float:
    """The t statistic of the differences moved by a margin."""
    return float(paired_t(paired_differences(np.zeros(d.values.shape), d.values + margin)).statistic[0])


def _tost(row: dict[str, Any]) -> dict[str, Any]:
    d, margin = _of(row["data"]), row["margin"]
    result = equivalence_test(d, margin, test="t")
    lower, upper = ([_moved(d, sign * margin), p] for sign, p in ((1, result.p_lower[0]), (-1, result.p_upper[0])))
    p = result.p_value[0]
    return {
        "p_lower": lower[1],
        "p_upper": upper[1],
        "p": p,
        "t_lower": lower[0],
        "t_upper": upper[0],
        "ci90": [result.low[0], result.high[0]],
        "statsmodels_p": p,
        "statsmodels_lower": lower,
        "statsmodels_upper": upper,
        "pingouin_p": p,
    }


def _noninferiority(name: str, row: dict[str, Any]) -> dict[str, Any]:
    d = _of(name)
    result = noninferiority_test(d, row["margin"], test="t")
    return {"p": result.p_value[0], "t": _moved(d, row["margin"]), "ci95_lower_one_sided": result.low[0]}


def test_equivalence() -> None:
    reference = golden("equivalence")
    ours = {
        "tost": {name: _tost(row) for name, row in reference["tost"].items()},
        "noninferiority": {name: _noninferiority(name, row) for name, row in reference["noninferiority"].items()},
    }
    tolerances = {"*/ci9*": within(1e-9), "*": within(relative=1e-6)}
    inputs = {"*/data": "name of the input", "*/margin": "input"}
    assert_every_leaf(reference, ours, tolerances, TEXT | inputs)


def _survey(reference: dict[str, Any]) -> dict[str, Any]:
    w = reference["p20"]["w"]
    d, plain = (paired_differences(reference["a"], reference["b"], weights) for weights in (w, None))
    t = paired_t(d)
    left_out = [
        paired_differences(reference["a"], reference["b"], np.where(np.arange(20) == i, 0, w)).mean[0]
        for i in range(20)
    ]
    # R's svyttest counts n − 2 degrees of freedom, here they are n − 1 as without weights
    p_df18 = 2 * stats.t.sf(t.statistic[0], 18)
    return {
        **{f"mean_{system}": mean_interval(reference[system], w).mean[0] for system in "ab"},
        "mean_d": d.mean[0],
        "svymean_se": d.standard_error[0],
        "svymean_ci_df19": [t.low[0], t.high[0]],
        "kish_ess": d.n_effective[0],
        "deff": 20 / d.n_effective[0],
        "svyttest": {"t": t.statistic[0], "p": p_df18},
        "unweighted_mean_d": plain.mean[0],
        "linearised_se": d.standard_error[0],
        "statsmodels_DescrStatsW_mean": d.mean[0],
        "paired_t_weighted": {
            "t": t.statistic[0],
            "df_n_minus_1": {"df": t.df[0], "p": t.p_value[0]},
            "p_df18": p_df18,
        },
        "jackknife_se": np.sqrt(19 / 20 * np.sum((left_out - np.mean(left_out)) ** 2)),
    }


def _all_patterns(d: Differences) -> dict[str, Any]:
    two, greater = sign_flip_test(d), sign_flip_test(d, alternative="greater")
    p = two.p_value[0]
    return {
        "count_two": p * two.patterns[0],
        "total": two.patterns[0],
        "p_two": p,
        "p_greater": greater.p_value[0],
    }


def _average_precision(toy: dict[str, Any]) -> dict[str, Any]:
    repeated = np.repeat(toy["ap"], toy["w"])
    return {
        "map": mean_interval(toy["ap"]).mean[0],
        "wmap": mean_interval(toy["ap"], toy["w"]).mean[0],
        "frequency_expansion_check": mean_interval(repeated).mean[0],
    }


def test_weighted(monkeypatch: pytest.MonkeyPatch) -> None:
    reference = golden("weighted")
    ours = _survey(reference)
    ours["weighted_map_toy"] = _average_precision(reference["p20"]["weighted_map_toy"])
    monkeypatch.setattr(sign_flips, "EXACT_UP_TO", 20)
    ours["sign_flip_exact"] = _all_patterns(paired_differences(reference["a"], reference["b"], reference["p20"]["w"]))
    tolerances = {"*/sign_flip_exact/*": EXACT, "*/t": within(relative=1e-8), "*": within(1e-9)}
    left_out = {
        "a/*": "input",
        "b/*": "input",
        "*/w/*": "input",
        "*/ap/*": "input",
        "*_formula": "text",
        "*/svyttest/df": "n − 2, R's choice; here n − 1",
        "*/df_svyttest": "n − 2, R's choice; here n − 1",
        "*_WRONG_for_importance_weights": "takes weights for numbers of queries, as its name says",
    }
    assert_every_leaf(reference, {"p20": ours}, tolerances, TEXT | left_out)


def _risk(name: str) -> dict[str, Any]:
    data = golden("data")[name]
    values, systems = np.array(data["x"]), data["systems"]
    d = paired_differences(values[:, :1], values[:, 1:])
    found: dict[str, Any] = {"gm_eps1e-5": dict(zip(systems, geometric_mean(values), strict=True))}
    for aversion in (0, 1, 5):
        ours, by_n = (paired_risk(d, aversion=aversion, ddof=ddof) for ddof in (1, 0))
        pool = system_risk(values, aversion=aversion)
        found[f"alpha={aversion}"] = {
            "ZRisk": dict(zip(systems, pool.z_risk, strict=True)),
            "GeoRisk": dict(zip(systems, pool.geo_risk, strict=True)),
        } | {
            f"{system} vs A": {
                "URisk": ours.u_risk[column],
                "TRisk_ddof1": ours.t_risk[column],
                "TRisk_ddof0_rmit": by_n.t_risk[column],
                "p_two_ddof1": ours.p_value[column],
                "wins": ours.wins[column],
                "losses": ours.losses[column],
            }
            for column, system in enumerate(systems[1:])
        }
    return {"results": found}


def test_risk() -> None:
    reference = golden("risk")
    ours = {"cases": {name: _risk(name) for name in reference["cases"]}}
    tolerances = {"*/TRisk*": within(1e-8, 1e-8), "*/p_two*": within(1e-9, 1e-7), "*": within(1e-9)}
    assert_every_leaf(reference, ours, tolerances, TEXT | {"note": "text", "*/data": "name of the input"})
