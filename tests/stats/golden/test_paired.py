"""Every number of stats_paired.json: R (stats, exactRankTests, coin), scipy and exact distributions by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import special

from rankstats.stats import (
    Differences,
    SignedRankResult,
    effect_intervals,
    effect_sizes,
    mean_interval,
    paired_differences,
    paired_t,
    relative_difference,
    sign_flip_test,
    sign_flips,
    sign_test,
    signed_rank_test,
)
from tests.stats.cases import golden
from tests.stats.golden.leaves import EXACT, Tolerance, assert_every_leaf, drawn, within

CASES = golden("paired")["cases"]
DRAWS = 40_000
ALTERNATIVES = {"two": "two-sided", "greater": "greater", "less": "less"}
RANKS = {"zeros_dropped": "wilcox", "wilcoxon": "wilcox", "wilcox": "wilcox", "pratt": "pratt"}
UNTIED = ("p8", "p5allpos", "pconst", "p20")
"""Without zeros; of p5allpos, p8 and p20 no two absolute differences are equal, of pconst all are."""


def _differences(name: str) -> Differences:
    data = golden("data")[name]
    return paired_differences(data["a"], data["b"])


def _ends(result: Any) -> list[float]:
    return [result.low[0], result.high[0]]


def _t(d: Differences, *levels: int) -> dict[str, Any]:
    two, greater, less = (paired_t(d, alternative=alternative) for alternative in ALTERNATIVES.values())
    found = {"t": two.statistic[0], "df": two.df[0], "p_two": two.p_value[0]}
    found |= {"p_greater": greater.p_value[0], "p_less": less.p_value[0]}
    return found | {f"ci{level}": _ends(paired_t(d, alpha=1 - level / 100)) for level in levels}


def _ranks(d: Differences, zero_method: str, **arguments: Any) -> SignedRankResult:
    return signed_rank_test(d, zero_method=zero_method, **arguments)


def _z(d: Differences, zero_method: str) -> float:
    """The standardised rank sum, from its own one-sided normal p-value."""
    return float(-special.ndtri(_ranks(d, zero_method, method="normal", alternative="greater").p_value[0]))


def _of_r(d: Differences, name: str) -> dict[str, Any]:
    identical, exact = name == "pident", name in ("p8", "p5allpos", "p20")
    found: dict[str, Any] = {"n": d.n[0], "mean_diff": d.mean[0], "sd_diff": d.standard_deviation[0]}
    signs = sign_test(d)
    found["sign"] = {"pos": signs.wins[0], "neg": signs.losses[0], "zero": signs.ties[0]}
    positive = np.where(d.values > 0, d.values, 0.0).sum()
    found["perm.test_exact"] = {"V": positive * 10_000}
    found |= {f"wilcox.test_{kind}": {"V": _ranks(d, "wilcox").statistic[0]} for kind in ("default", "exactTRUE")}
    for kind, correction in (("correct", True), ("nocorrect", False)):
        normal = _ranks(d, "wilcox", method="normal", correction=correction)
        found[f"wilcox.test_normal_{kind}"] = {"V": normal.statistic[0]}
        if not identical:
            found[f"wilcox.test_normal_{kind}"]["p"] = normal.p_value[0]
    if identical:
        found["t_test"] = {"t": paired_t(d).statistic[0], "df": paired_t(d).df[0]} | {
            f"ci{level}": _ends(paired_t(d)) for level in (95, 99)
        }
        return found
    found["sign"] |= {f"p_{key}": sign_test(d, alternative=ALTERNATIVES[key]).p_value[0] for key in ("two", "greater")}
    for kind in ("default", "exactTRUE"):
        # R falls back on the corrected normal approximation where there are ties or zeros, even when asked for exact
        p = _ranks(d, "wilcox").p_value[0] if exact else found["wilcox.test_normal_correct"]["p"]
        found[f"wilcox.test_{kind}"]["p"] = p
    for kind, alternative in (("", "two-sided"), ("_greater", "greater")):
        ranks = _ranks(d, "wilcox", alternative=alternative)
        found[f"exactRankTests_wilcox.exact{kind}"] = {"V": ranks.statistic[0], "p": ranks.p_value[0]}
    for kind in ("pratt", "wilcoxon"):
        for method, ours in (("exact", "exact"), ("asymptotic", "normal")):
            p = _ranks(d, RANKS[kind], method=ours).p_value[0]
            found[f"coin_{kind}_{method}"] = {"Z": _z(d, RANKS[kind]), "p": p}
    if name != "pconst":
        found["t_test"] = _t(d, 95, 99)
    ranks = _ranks(d, "wilcox")
    if name in UNTIED:
        found["hodges_lehmann"] = {"est": ranks.estimate[0]}
        if name in ("p8", "p20"):
            found["hodges_lehmann"]["ci"] = _ends(ranks)
    return found


def _scipys_wilcoxon(d: Differences, name: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for kind in ("wilcox", "pratt"):
        of_both = [_ranks(some, kind).statistic[0] for some in (d, d.negated())]
        for method, arguments in {
            "exact": {"method": "exact"},
            "approx": {"method": "normal"},
            "approx_cc": {"method": "normal", "correction": True},
        }.items():
            found[f"{kind}_{method}"] = {"stat": min(of_both)}
            if name != "pident" and (method != "exact" or name in UNTIED):
                found[f"{kind}_{method}"]["p"] = _ranks(d, kind, **arguments).p_value[0]
    return found


def _sign_flips(d: Differences, name: str) -> dict[str, Any]:
    results = {key: sign_flip_test(d, alternative=ALTERNATIVES[key], resamples=DRAWS) for key in ALTERNATIVES}
    found: dict[str, Any] = {f"p_{key}": result.p_value[0] for key, result in results.items()}
    if name == "p50skew":
        return found
    two = results["two"]
    patterns = 2 ** int(d.n[0])
    count = two.p_value[0] * patterns
    found |= {"mid_p_two": two.mid_p[0], "mid_p_greater": results["greater"].mid_p[0]}
    if name != "pident":
        # all zeros need no enumeration
        patterns = two.patterns[0]
    return found | {"total": patterns, "count_two": count, "bruteforce_count_two": count}


def _effects(name: str) -> dict[str, Any]:
    data, d = golden("data")[name], _differences(name)
    sizes = effect_sizes(d)
    return {
        "cohen_dz": sizes.effect_size[0],
        "hedges_gz_exact_J": effect_intervals(d).hedges[0],
        "relative_change": relative_difference(data["a"], data["b"]).estimate[0],
        "prob_superiority_paired": sizes.superiority[0],
    }


def _of_python(d: Differences, name: str) -> dict[str, Any]:
    data, sizes = golden("data")[name], effect_sizes(d)
    a, b = (mean_interval(data[system]).mean[0] for system in "ab")
    found: dict[str, Any] = {"n": d.n[0], "mean_a": a, "mean_b": b, "mean_diff": d.mean[0]}
    found |= {"sd_diff": d.standard_deviation[0], "se": d.standard_error[0]}
    found |= {key: getattr(sizes, key)[0] for key in ("wins", "losses", "ties")}
    found |= {"scipy_wilcoxon": _scipys_wilcoxon(d, name), "sign_flip_exact": _sign_flips(d, name)}
    if name == "pident":
        return found | {"t_test": {"t": paired_t(d).statistic[0], "df": paired_t(d).df[0]}}
    for kind in ("zeros_dropped", "pratt"):
        two, greater = (
            _ranks(d, RANKS[kind], method="exact", alternative=way).p_value[0] for way in ("two-sided", "greater")
        )
        ranks = {"W_plus": _ranks(d, RANKS[kind]).statistic[0], "p_two": two, "p_greater": greater}
        found[f"signed_rank_exact_{kind}"] = ranks
    plus, minus = (_ranks(some, "wilcox").statistic[0] for some in (d, d.negated()))
    found["rank_biserial_zeros_dropped"] = (plus - minus) / (plus + minus)
    found["sign_test"] = {
        f"p_{key}": sign_test(d, alternative=ALTERNATIVES[key]).p_value[0] for key in ("two", "greater")
    }
    flips = found["sign_flip_exact"]
    if name not in ("p20", "p50skew"):
        flips |= {f"scipy_permutation_test_p_{key}": flips[f"p_{key}"] for key in ("two", "greater")}
        flips["bruteforce_count_two_no_tolerance"] = flips["count_two"]
    if name == "pconst":
        return found | {"t_test": {"df": paired_t(d).df[0]}}
    return found | {"t_test": _t(d, 95), "effect": _effects(name)}


TOLERANCES: dict[str, Tolerance] = {
    "p50skew/python/sign_flip_exact/p_*": drawn(DRAWS),
    "p50skew/R/perm.test_exact/p": drawn(DRAWS),
    "*/sign_flip_exact/*": EXACT,
    "*/perm.test_exact/p": within(relative=1e-14),
    "*/perm.test_exact/V": within(1e-5),
    "*/wilcox*/V": EXACT,
    "*/W_plus": EXACT,
    "*/stat": EXACT,
    "*/signed_rank_exact_*": within(relative=1e-12),
    "*/sign/p_*": within(relative=1e-12),
    "*/sign_test/p_*": within(relative=1e-12),
    "*/p": within(relative=1e-9),
    # quotients by a standard error that is some hundred million units of rounding
    "*/t": within(relative=1e-8),
    "*/effect/*": within(relative=1e-8),
    "*": within(1e-9),
}
ZEROS = "all differences are 0: here p is 1, the interval null; R and scipy say NaN, fail, or give a point"
LEFT_OUT = {
    "*/data": "name of the input",
    "*/method": "description",
    "pident/*/p": ZEROS,
    "pident/*/p_two": ZEROS,
    "pident/*/p_greater": ZEROS,
    "pident/*/p_less": ZEROS,
    "pident/python/t_test/ci95/*": ZEROS,
    "pident/R/exactRankTests*": ZEROS,
    "pident/R/coin_*": ZEROS,
    "pident/R/hodges_lehmann/*": ZEROS,
    "pident/python/signed_rank_exact_*": ZEROS,
    "pident/python/sign_flip_exact/bruteforce_count_two_no_tolerance": ZEROS,
    "pconst/*/t_test*": "no spread: R refuses, scipy says t = inf and p = 0; here t is not defined and p is 1",
    "pconst/R/hodges_lehmann/ci/*": "R gives none for tied differences; here the exact interval of untied ranks",
    "p5allpos/R/hodges_lehmann/ci/*": "5 queries have no 95 % interval: R gives their range, here it is unbounded",
    "p10ties/R/hodges_lehmann/*": "with ties and zeros R drops the zeros and solves the normal approximation",
    "p12sparse/R/hodges_lehmann/*": "with ties and zeros R drops the zeros and solves the normal approximation",
    "p50skew/R/hodges_lehmann/*": "with ties and zeros R drops the zeros and solves the normal approximation",
    "*/scipy_wilcoxon/*_exact/p": "scipy's exact p ignores ties and zeros; signed_rank_exact_* have the right one",
    "*/scipy_wilcoxon/zsplit_*": "zeros that count half to either side are not offered",
    "p20/*/bruteforce_count_two_no_tolerance": "what rounding noise makes of 14 tied patterns",
    "p50skew/*/total": "2**50 patterns are drawn from, not enumerated",
    "p50skew/*/count_two": "2**50 patterns are drawn from, not enumerated",
    "p50skew/*/mid_p_*": "drawn p-values have no mid-p",
    "*/effect/hedges_gz_approx": "the approximation of hedges_gz_exact_J",
    "*/effect/cohen_d_av": "in standard deviations between queries, which the pairing takes out: not offered",
    "*/effect/glass_delta_a": "in standard deviations between queries, which the pairing takes out: not offered",
    "*/effect/cles_unpaired": "compares different queries with one another: not offered",
    "*/effect/cliffs_delta": "compares different queries with one another: not offered",
}


def test_every_number(monkeypatch: pytest.MonkeyPatch) -> None:
    ours: dict[str, Any] = {}
    for name in CASES:
        d = _differences(name)
        if name == "p20":
            monkeypatch.setattr(sign_flips, "EXACT_UP_TO", 20)
        ours[name] = {"R": _of_r(d, name), "python": _of_python(d, name)}
        if name != "pident":
            ours[name]["R"]["perm.test_exact"]["p"] = ours[name]["python"]["sign_flip_exact"]["p_two"]
        monkeypatch.undo()
    assert_every_leaf(CASES, ours, TOLERANCES, LEFT_OUT)


def test_what_is_said_where_others_give_up() -> None:
    identical, constant = _differences("pident"), _differences("pconst")
    for test in (paired_t, signed_rank_test, sign_test, sign_flip_test):
        for alternative in ALTERNATIVES.values():
            result = test(identical, alternative=alternative)
            assert result.p_value[0] == 1
            assert np.isnan([result.low[0], result.high[0]]).all()
    assert paired_t(constant).p_value[0] == 1
    assert np.isnan(paired_t(constant).statistic[0])
    assert _ends(signed_rank_test(constant)) == [0.125, 0.125]
    assert _ends(signed_rank_test(_differences("p5allpos"))) == [-np.inf, np.inf]
