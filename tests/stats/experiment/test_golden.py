"""Every number of stats_ab.json and stats_sequential.json."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankstats.stats import (
    ArmPair,
    aggregated_moments,
    compare_arms,
    compare_proportions,
    confidence_sequence,
    cuped,
    interleaving_test,
    mean_pair,
    mixture_sprt,
    permutation_p,
    proportion_interval,
    ratio_pair,
    regression_adjustment,
    sample_ratio_test,
    team_draft_credits,
    unit_moments,
)
from rankstats.stats.confidence_sequences import log_mixture_ratio
from rankstats.stats.unit_moments import UnitMoments
from tests.stats.cases import golden
from tests.stats.golden.leaves import EXACT, assert_every_leaf, within

TEXT = {"provenance/*": "text", "agreement/*": "text"}


def _proportions(row: dict[str, Any]) -> dict[str, Any]:
    (x1, x2), (n1, n2) = row["x"], row["n"]
    # the reference has the first less the second: the second is the control
    ours = compare_proportions(x2, n2, x1, n1)
    wald = [ours.wald_low[0], ours.wald_high[0]]
    return {
        "chi2": ours.chi_squared[0],
        "p": ours.p_value[0],
        "p_corrected": ours.p_corrected[0],
        "ci_diff": wald,
        "fisher_p": ours.p_fisher[0],
        "fisher_or": ours.odds_ratio[0],
        "wilson1": [end[0] for end in proportion_interval(x1, n1)],
        "clopper1": [end[0] for end in proportion_interval(x1, n1, method="clopper-pearson")],
        "newcombe_ci_p1_minus_p2": [ours.newcombe_low[0], ours.newcombe_high[0]],
        "wald_ci": wald,
    }


def _welch(pair: ArmPair) -> dict[str, Any]:
    ours = compare_arms(pair)
    lift = compare_arms(pair, scale="delta", reference="normal")
    return {
        "t": ours.statistic[0],
        "df": ours.df[0],
        "p": ours.p_value[0],
        "ci95": [ours.low[0], ours.high[0]],
        "relative_lift": {
            "lift": lift.estimate[0],
            "se_delta": lift.standard_error[0],
            "ci95_normal": [lift.low[0], lift.high[0]],
        },
    }


def _ratio(row: dict[str, Any], pair: ArmPair) -> dict[str, Any]:
    ours = compare_arms(pair, reference="normal")
    clicks, shown = np.array(row["num"], dtype=float), np.array(row["den"], dtype=float)
    # each impression as a unit of its own: what must not be done
    impressions = np.concatenate([np.ones(int(clicks.sum())), np.zeros(int(shown.sum() - clicks.sum()))])
    naive = unit_moments(impressions)
    return {
        "ratio": pair.control[0],
        "se": np.sqrt(pair.control_variance[0]),
        "ratio2": pair.treatment[0],
        "se2": np.sqrt(pair.treatment_variance[0]),
        "difference": ours.estimate[0],
        "difference_se": ours.standard_error[0],
        "z": ours.statistic[0],
        "p_two_normal": ours.p_value[0],
        "naive_binomial_se": np.sqrt(naive.covariance[0, 0, 0] * (naive.n[0] - 1)) / naive.n[0],
    }


def _cuped(control: UnitMoments, treatment: UnitMoments) -> dict[str, Any]:
    arms = cuped(control, treatment)
    ours, raw = compare_arms(arms.adjusted), compare_arms(arms.raw)
    ancova = compare_arms(regression_adjustment(control, treatment, slopes="common").adjusted)
    return {
        "theta_pooled": arms.slopes[0, 0],
        "adj_mean_t": ours.treatment[0],
        "adj_mean_c": ours.control[0],
        "diff": ours.estimate[0],
        "welch_se": ours.standard_error[0],
        "welch_df": ours.df[0],
        "p": ours.p_value[0],
        "unadjusted_diff": raw.estimate[0],
        "unadjusted_se": raw.standard_error[0],
        "var_reduction_corr2": arms.r_squared[0],
        "ancova_coef": ancova.estimate[0],
        "ancova_se": ancova.standard_error[0],
        "ancova_p": ancova.p_value[0],
    }


def _interleaving(row: dict[str, Any]) -> dict[str, Any]:
    wins_a, wins_b, ties = row["wins_A"], row["wins_B"], row["ties"]
    # every impression shows one result of each team
    shown = np.repeat(np.arange(wins_a + wins_b + ties), 2)
    clicked = np.concatenate([np.tile([1, 0], wins_a), np.tile([0, 1], wins_b), np.tile([1, 1], ties)])
    ours = interleaving_test(team_draft_credits(shown, np.tile([-1, 1], len(shown) // 2), clicked))
    return {
        "wins_A": int(ours.wins_a[0]),
        "wins_B": int(ours.wins_b[0]),
        "ties": int(ours.ties[0]),
        "binomial_excluding_ties": ours.p_binomial[0],
        "delta_AB_Chapelle": ours.estimate[0],
    }


def _permutation_p(row: dict[str, Any]) -> dict[str, Any]:
    p = permutation_p(row["x"], row["nperm"], row["total.nperm"])
    ours = {"permp_exact": p, "plus1": (row["x"] + 1) / (row["nperm"] + 1)}
    return ours | ({"own_mean_binom_cdf_over_k/mt": p} if "own_mean_binom_cdf_over_k/mt" in row else {})


def _aggregates(moments: UnitMoments) -> UnitMoments:
    """The same arm by way of aggregates, as a warehouse would deliver them."""
    return aggregated_moments(moments.n.tolist(), moments.mean.tolist(), moments.covariance.tolist())


def test_experiments() -> None:
    reference = golden("ab")
    ratio, shares, past = reference["ratio_metric"], reference["srm"], reference["cuped"]
    treated = np.array(past["treat"]) == 1
    y, x = np.array(past["y"]), np.array(past["pre"])
    arms = {
        "welch": (unit_moments(reference["welch"]["a"]), unit_moments(reference["welch"]["b"])),
        "ratio": (unit_moments(ratio["num"], ratio["den"]), unit_moments(ratio["num2"], ratio["den2"])),
        "cuped": (unit_moments(y[~treated], x[~treated]), unit_moments(y[treated], x[treated])),
    }
    srm = sample_ratio_test(shares["counts"], shares["expected"])
    left_out = {
        "proportions/[xn]/*": "input",
        "srm/counts/*": "input",
        "srm/expected/*": "input",
        "welch/[ab]/*": "input",
        "ratio_metric/num*": "input",
        "ratio_metric/den*": "input",
        "ratio_metric/delta_formula": "text",
        "cuped/pre/*": "input",
        "cuped/treat/*": "input",
        "cuped/y/*": "input",
        "interleaving/binomial_ties_half_rounded": "undefined in the reference",
        "permutation_p/R_permp/*/x": "input",
        "permutation_p/R_permp/*/nperm": "input",
        "permutation_p/R_permp/*/total.nperm": "input",
    }
    tolerances = {
        "interleaving/wins_?": EXACT,
        "interleaving/ties": EXACT,
        # where R's search for the conditional odds ratio stops
        "proportions/fisher_or": within(1e-5),
        "*": within(1e-12, 1e-9),
    }
    for of in (lambda moments: moments, _aggregates):
        welch, ratios, adjusted = ([of(arm) for arm in arms[name]] for name in ("welch", "ratio", "cuped"))
        ours = {
            "proportions": _proportions(reference["proportions"]),
            "srm": {"chi2": srm.statistic, "p": srm.p_value},
            "welch": _welch(mean_pair(*welch)),
            "ratio_metric": _ratio(ratio, ratio_pair(*ratios)),
            "cuped": _cuped(*adjusted),
            "interleaving": _interleaving(reference["interleaving"]),
            "permutation_p": {"R_permp": [_permutation_p(row) for row in reference["permutation_p"]["R_permp"]]},
        }
        assert_every_leaf(reference, ours, tolerances, TEXT | left_out)


def _two_sample(pair: ArmPair, n: int, alpha: float, n_star: int) -> tuple[dict[str, Any], dict[str, Any]]:
    ours = confidence_sequence(pair.difference, pair.standard_error, n, n_star=n_star, alpha=alpha)
    interval, p = [ours.low[0], ours.high[0]], ours.p_value[0]
    mine = {
        "rho": ours.rho,
        "half_width": ours.half_width[0],
        "ci": interval,
        "e_value": ours.e_value[0],
        "p": p,
    }
    other = {"point": ours.estimate[0], "ci": interval, "p": p, "rho": ours.rho, "variance": pair.variance[0]}
    return mine, other


def test_sequences() -> None:
    reference, ab = golden("sequential"), golden("ab")["ratio_metric"]
    two = reference["two_sample"]
    pair = mean_pair(unit_moments(two["a"]), unit_moments(two["b"]))
    settings = {"alpha=0.05,N*=5000": (0.05, 5000), "alpha=0.05,N*=100": (0.05, 100), "alpha=0.01,N*=500": (0.01, 500)}
    sequences = {name: _two_sample(pair, 22, *setting) for name, setting in settings.items()}
    relative = compare_arms(pair, scale="delta")
    ratio = compare_arms(ratio_pair(unit_moments(ab["num"], ab["den"]), unit_moments(ab["num2"], ab["den2"])))
    one, msprt = reference["one_sample_asymptotic_cs"], reference["msprt"]
    ours = {
        "two_sample": {
            "results": {name: mine for name, (mine, _) in sequences.items()},
            "gbstats": {name: other for name, (_, other) in sequences.items()}
            | {
                "fixed_relative": {
                    "point": relative.estimate[0],
                    "ci": [relative.low[0], relative.high[0]],
                    "p": relative.p_value[0],
                },
                "ratio_absolute": {
                    "point": ratio.estimate[0],
                    "ci": [ratio.low[0], ratio.high[0]],
                    "se": ratio.standard_error[0],
                    "p": ratio.p_value[0],
                },
            },
        },
        "one_sample_asymptotic_cs": _one_sample(one),
        "msprt": {"rows": _msprt(msprt)},
    }
    left_out = {
        "two_sample/[ab]/*": "input",
        "*/d/*": "input",
        "*/t": "input",
        "one_sample_asymptotic_cs/alpha": "input",
        "one_sample_asymptotic_cs/rho_formula": "text",
        "msprt/sigma2": "input",
        "msprt/tau2": "input",
    }
    assert_every_leaf(reference, ours, {"*": within(1e-12, 1e-8)}, TEXT | left_out)


def _one_sample(reference: dict[str, Any]) -> dict[str, Any]:
    d, rows = np.array(reference["d"]), []
    for row in reference["rows"]:
        until = d[: row["t"]]
        deviation = until.std()
        ours = confidence_sequence(until.mean(), deviation / np.sqrt(len(until)), len(until), n_star=50)
        rows.append(
            {
                "mean": ours.estimate[0],
                "sd_ddof0": deviation,
                "half_width": ours.half_width[0],
                "ci": [ours.low[0], ours.high[0]],
            }
        )
    return {"rho": ours.rho, "rows": rows}


def _msprt(reference: dict[str, Any]) -> list[dict[str, Any]]:
    d = np.array(reference["d"])
    n = np.array([row["t"] for row in reference["rows"]])
    mean = np.array([d[:size].mean() for size in n])
    variances = {"variance": reference["sigma2"], "mixing_variance": reference["tau2"]}
    ours = mixture_sprt(mean, n, **variances)
    ratio = np.exp(log_mixture_ratio(mean, n, *variances.values()))
    return [{"lambda_": value, "always_valid_p": p} for value, p in zip(ratio, ours.p_value, strict=True)]
