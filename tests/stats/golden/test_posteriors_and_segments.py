"""Every number of stats_bayes.json (baycomp, scipy) and stats_segments.json (R, metafor, plain enumeration)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from rankstats.stats import (
    BayesianShareResult,
    Differences,
    bayesian_sign,
    bayesian_signed_rank,
    bayesian_t,
    cochran_q,
    heterogeneity_test,
    mean_interval,
    paired_differences,
)
from tests.stats.cases import golden
from tests.stats.golden.leaves import EXACT, assert_every_leaf, within

TEXT = {"provenance/*": "text", "agreement/*": "text"}


def _three(result: Any) -> list[float]:
    return [result.worse[0], result.equivalent[0], result.better[0]]


def _sampled(test: Callable[..., BayesianShareResult], d: Differences, rope: float) -> list[list[float]]:
    shares = _three(test(d, rope))
    if rope == 0:
        # baycomp leaves the middle region out afterwards
        shares = [share / (shares[0] + shares[2]) for share in (shares[0], shares[2])]
    return [shares] * 3


def _posterior(row: dict[str, Any]) -> dict[str, Any]:
    data, rope = golden("data")[row["data"]], row["rope"]
    d = paired_differences(data["a"], data["b"])
    plain, correlated = (_three(bayesian_t(d, rope, correlation=rho)) for rho in (0.0, 1 / d.n[0]))
    return {
        "plain_bayesian_t_uncorrelated": dict(zip(("p_a_better", "p_rope", "p_b_better"), plain, strict=True)),
        "baycomp_correlated_t_runs1": correlated if rope else [correlated[0], correlated[2]],
        "signed_rank_mc3": _sampled(bayesian_signed_rank, d, rope),
        "sign_mc3": _sampled(bayesian_sign, d, rope),
    }


def test_bayes() -> None:
    reference = golden("bayes")
    ours = {"cases": {name: _posterior(row) for name, row in reference["cases"].items()}}
    tolerances = {"*_mc3/*": within(0.01), "*": within(1e-9)}
    left_out = {"note": "text", "*/order": "text", "*/data": "name of the input", "*/rope": "input"}
    assert_every_leaf(reference, ours, tolerances, TEXT | left_out)


def _classical_f(d: Differences, between: float, k: int) -> tuple[float, float]:
    """The F of one-way analysis of variance from the sum of squares between segments, and its p-value."""
    n = int(d.n[0])
    inside = (n - 1) * d.standard_deviation[0] ** 2 - between
    f = between / (k - 1) / (inside / (n - k))
    return f, float(special.fdtrc(k - 1, n - k, f))


def _segments(row: dict[str, Any]) -> dict[str, Any]:
    d, labels = paired_differences(np.zeros(20), row["d"]), np.array(row["segment"])
    welch, between = (heterogeneity_test(d, labels, statistic=name, resamples=99) for name in ("welch", "between"))
    f, p = _classical_f(d, between.statistic[0], 3)
    inside = {name: d.within(labels == name) for name in "xyz"}
    return {
        "F": f,
        "p": p,
        "welch_F": welch.statistic[0],
        "welch_df": [int(welch.segments[0]) - 1],
        "welch_p": welch.welch_p[0],
        "means": {name: part.mean[0] for name, part in inside.items()},
        "sd": {name: part.standard_deviation[0] for name, part in inside.items()},
    }


def _interaction(row: dict[str, Any]) -> dict[str, Any]:
    d = paired_differences(np.zeros(7), row["d"])
    result = heterogeneity_test(d, row["label"], statistic="between")
    f, p = _classical_f(d, result.statistic[0], 3)
    share = result.p_value[0]
    return {"observed": result.statistic[0], "count": share * row["total"], "p": share, "F": f, "p_F": p}


def _simpson(rows: list[dict[str, Any]]) -> dict[str, Any]:
    by_system = {name: [row for row in rows if row["system"] == name] for name in "AB"}
    means = {name: [row["mean"] for row in parts] for name, parts in by_system.items()}
    sizes = {name: [row["n"] for row in parts] for name, parts in by_system.items()}
    return {
        "overall": {name: mean_interval(means[name], sizes[name]).mean[0] for name in "AB"},
        "standardised_50_50": {name: mean_interval(means[name]).mean[0] for name in "AB"},
    }


def test_segments() -> None:
    reference = golden("segments")
    studies = reference["cochran_Q"]
    q, p, i_squared = cochran_q(studies["yi"], studies["sei"])
    of_two = [paired_differences(np.zeros(2), [0.05, -0.01], weights).mean[0] for weights in (None, [0.1, 0.9])]
    ours = {
        "cochran_Q": {
            "Q": q,
            "p": p,
            "I2": 100 * i_squared,
            "I2_formula_Q": 100 * i_squared,
            "H2": 1 / (1 - i_squared),
        },
        "segments_p20": _segments(reference["segments_p20"]),
        "exact_interaction_permutation": _interaction(reference["exact_interaction_permutation"]),
        "simpson_unpaired": _simpson(reference["simpson_unpaired"]["rows"]),
        "simpson_weights": {"macro": of_two[0], "weighted": of_two[1]},
    }
    pooled = "an effect pooled over segments by their precision is not offered; means are pooled over queries"
    left_out = {
        "*/note": "text",
        "*/statistic": "text",
        "*/yi/*": "input",
        "*/sei/*": "input",
        "*/d/*": "input",
        "*/segment/*": "input",
        "*/label/*": "input",
        "*/rows/*": "input",
        "cochran_Q/df": "number of estimates less 1, not given back",
        "cochran_Q/fe*": pooled,
        "cochran_Q/re*": pooled,
        "cochran_Q/dl_tau2": pooled,
        "exact_*/total": "not given back; the count is a share of it",
        "*/welch_df/1": "not given back; welch_p, which it decides, is compared",
        "*/kruskal*": "a test of ranks between segments is not offered",
    }
    tolerances = {
        "*/count": EXACT,
        "exact_*/p": EXACT,
        "cochran_Q/*": within(relative=1e-9),
        "*": within(1e-9, 1e-8),
    }
    assert_every_leaf(reference, ours, tolerances, TEXT | left_out)
