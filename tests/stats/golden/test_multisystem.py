"""Every number of stats_multisystem.json: R (aov, TukeyHSD, multcomp, multtest), scikit-posthocs, plain enumeration."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankstats.stats import (
    adjust,
    all_pairs,
    conover_test,
    dunnett,
    flip_max_t,
    flip_min_p,
    friedman_test,
    mean_interval,
    nemenyi_test,
    paired_differences,
    paired_t,
    pairwise_differences,
    randomised_tukey,
    tukey_hsd,
    two_way_anova,
)
from tests.stats.cases import golden
from tests.stats.golden.leaves import EXACT, Tolerance, assert_every_leaf, within
from tests.stats.several import MATRICES, matrix

REFERENCE = golden("multisystem")
ENUMERATED = ("m8x4", "m5x3", "m12x4ties")
"""Eight, five and twelve queries: few enough for all sign patterns."""


def _names(name: str) -> list[str]:
    systems: list[str] = golden("data")[name]["systems"]
    return systems


def _pairs(name: str, between: str = "-") -> list[str]:
    systems = _names(name)
    baseline, system = all_pairs(len(systems))
    return [f"{systems[j]}{between}{systems[i]}" for i, j in zip(baseline, system, strict=True)]


def _anova(values: NDArray[np.float64]) -> dict[str, Any]:
    result = two_way_anova(values)
    return {
        "F_sys": result.statistic[0],
        "p_sys": result.p_value[0],
        "df_sys": result.df[0],
        "MS_sys": result.mean_square[0],
        "F_query": result.statistic[1],
        "p_query": result.p_value[1],
        "MS_query": result.mean_square[1],
        "MSE": result.mean_square[2],
        "df_err": result.df[2],
    }


def _of_r(name: str) -> dict[str, Any]:
    values, systems = matrix(name), _names(name)
    honest, against, ranks, nemenyi = tukey_hsd(values), dunnett(values), friedman_test(values), nemenyi_test(values)
    found: dict[str, Any] = {
        "means": dict(zip(systems, mean_interval(values).mean, strict=True)),
        "anova": _anova(values),
        "TukeyHSD": {
            "pair": _pairs(name),
            "diff": honest.estimate,
            "lwr": honest.adjusted_low,
            "upr": honest.adjusted_high,
            "p_adj": honest.p_adjusted,
        },
        "glht_tukey": {"pair": _pairs(name, " - "), "t": honest.statistic, "p": honest.p_adjusted},
        "glht_dunnett_vs_A": {
            "pair": [f"{systems[system]} - A" for system in against.system],
            "t": against.statistic,
            "p": against.p_adjusted,
        },
        "friedman": {"chi2": ranks.statistic, "df": ranks.df, "p": ranks.p_value},
        # theirs count from the lowest value
        "mean_rank_ascending": dict(zip(systems, len(systems) + 1 - ranks.mean_rank, strict=True)),
        "iman_davenport": {
            "F": ranks.iman_davenport,
            "df1": ranks.df,
            "df2": ranks.iman_davenport_df,
            "p": ranks.iman_davenport_p,
        },
        "kendall_W": ranks.kendall_w,
        "nemenyi": {
            "pair": _pairs(name),
            "z": np.abs(nemenyi.statistic),
            "p": nemenyi.p_value,
            "CD_0.05": nemenyi.critical_difference,
        },
    }
    return found | (_multtest(name) if name in ENUMERATED else {})


def _multtest(name: str) -> dict[str, Any]:
    values, systems = matrix(name), _names(name)
    d = paired_differences(values[:, :1], values[:, 1:])
    largest, smallest = flip_max_t(d), flip_min_p(d)
    return {
        "multtest_maxT_pairt_complete": {
            "hypothesis": [f"{system}-A" for system in systems[1:]],
            "teststat": paired_t(d).statistic,
            "rawp": largest.p_value,
            "adjp": largest.p_stepdown,
            "B": largest.patterns,
        },
        "multtest_minP_pairt_complete": {"rawp": smallest.p_value, "adjp": smallest.p_stepdown},
    }


def _of_python(name: str) -> dict[str, Any]:
    values = matrix(name)
    honest, ranks, t = tukey_hsd(values), friedman_test(values), paired_t(pairwise_differences(values))
    anova = _anova(values)
    rows = zip(_pairs(name), honest.to_dicts(), strict=True)
    found: dict[str, Any] = {
        "anova": {key: anova[key] for key in ("F_sys", "p_sys", "F_query", "MSE", "df_err")},
        "tukey_two_way": [
            {
                "pair": pair,
                "diff": row["estimate"],
                "q": abs(row["statistic"]) * 2**0.5,
                "p_adj": row["p_adjusted"],
                "lwr": row["adjusted_low"],
                "upr": row["adjusted_high"],
                "effect_size_diff_over_sqrt_MSE": row["effect_size"],
            }
            for pair, row in rows
        ],
        "friedman": {"chi2": ranks.statistic, "p": ranks.p_value},
        "nemenyi_scikit_posthocs": dict(zip(_pairs(name), nemenyi_test(values).p_value, strict=True)),
        "conover_scikit_posthocs_unadjusted": dict(zip(_pairs(name), conover_test(values).p_value, strict=True)),
        "pairwise_paired_t": {
            "pair": _pairs(name),
            "p": t.p_value,
            "holm": adjust(t.p_value, "holm"),
            "bh": adjust(t.p_value, "bh"),
        },
    }
    if name in ENUMERATED:
        found["westfall_young_joint_sign_flips_vs_baseline"] = _joint_flips(name)
    return found | (_all_permutations(values) if name == "m5x3" else {})


def _joint_flips(name: str) -> dict[str, Any]:
    values = matrix(name)
    d = paired_differences(values[:, :1], values[:, 1:])
    largest, smallest = flip_max_t(d), flip_min_p(d)
    same = {
        "hypotheses": [f"{system}-A" for system in _names(name)[1:]],
        "raw_p": largest.p_value,
        "count_denominator": largest.patterns,
    }
    if name != "m12x4ties":
        same["step_down_minP"] = smallest.p_stepdown
    studentised = {
        "observed": np.abs(paired_t(d).statistic),
        "single_step_maxT": largest.p_adjusted,
        "step_down_maxT": largest.p_stepdown,
    }
    return {"t": same | studentised, "mean": same | {"observed": np.abs(d.mean)}}


def _all_permutations(values: NDArray[np.float64]) -> dict[str, Any]:
    tukey, friedman = randomised_tukey(values), friedman_test(values).p_exact
    return {
        "randomised_tukey_hsd_exact": {
            "total": tukey.patterns,
            "pair": _pairs("m5x3"),
            "count": tukey.p_adjusted * tukey.patterns,
            "p": tukey.p_adjusted,
        },
        "friedman_exact_p": {"count": friedman * tukey.patterns, "total": tukey.patterns, "p": friedman},
    }


TOLERANCES: dict[str, Tolerance] = {
    "*/glht_*/p/*": within(1e-4),
    "*/R/nemenyi/p/*": within(2e-4),
    "*/R/nemenyi/CD_0.05": within(2e-4),
    # shares of enumerated patterns
    "*/multtest_*p/*": EXACT,
    "*/multtest_*/B": EXACT,
    "*/raw_p/*": EXACT,
    "*/single_step_maxT/*": EXACT,
    "*/step_down_*/*": EXACT,
    "*/count*": EXACT,
    "*/total": EXACT,
    "*_exact*/p*": EXACT,
    # R's ptukey is good to nine decimals, its qtukey to fewer
    "*/p_adj*": within(1e-9, 1e-6),
    "*/lwr*": within(1e-8),
    "*/upr*": within(1e-8),
    "*/p_*": within(relative=1e-6),
    "*/p": within(relative=1e-6),
    "*": within(1e-9, 1e-7),
}
MEAN = "the largest mean difference, not studentised: one system of much spread decides for all, so it is not offered"
LEFT_OUT = {
    "provenance/*": "text",
    "notes/*": "text",
    "agreement/*": "text",
    "*/data": "name of the input",
    "*/mean/single_step_maxT/*": MEAN,
    "*/mean/step_down_maxT/*": MEAN,
}


def test_every_number() -> None:
    ours = {name: {"R": _of_r(name), "python": _of_python(name)} for name in MATRICES}
    assert_every_leaf(REFERENCE, {"cases": ours}, TOLERANCES, LEFT_OUT)


def test_shares_of_enumerated_patterns_are_whole_numbers() -> None:
    for name in ENUMERATED:
        values = matrix(name)
        d = paired_differences(values[:, :1], values[:, 1:])
        for result in (flip_max_t(d), flip_min_p(d)):
            for p in (result.p_value, result.p_adjusted, result.p_stepdown):
                counts = p * result.patterns
                assert counts.tolist() == counts.round().tolist()
