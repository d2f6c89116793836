"""Runs the tests of a plan over all columns at once, and corrects within families."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankstats import stats
from rankstats.comparison.result import Interval
from rankstats.plan import Plan
from rankstats.stats import Differences
from rankstats.stats.classical import agreeing_ends

Floats = NDArray[np.float64]

SMALLEST_MAX_T_N = 25
"""Below this many queries the bootstrap max-T has no power, and Bonferroni's correction is the default."""

METHODS = {
    "randomisation": "inverted sign flips",
    "bootstrap": "dual of the shifted bootstrap",
    "t": "paired t",
    "wilcoxon": "inverted signed-rank test (Hodges–Lehmann)",
    "sign": "order statistics of the median",
    "bootstrap-max-t": "bootstrap max-T",
}
"""How the interval of each test and correction is made."""

ESTIMANDS = {
    "randomisation": "mean difference",
    "bootstrap": "mean difference",
    "t": "mean difference",
    "wilcoxon": "pseudo-median of the differences",
    "sign": "median of the differences",
}
"""The parameter that each test is about."""


@dataclass(frozen=True, slots=True)
class Tested:
    """One test over c columns.

    Attributes
    ----------
    test : str
        Its name.
    level : float
        Level of the intervals.
    p_value, low, high : ndarray of float64, shape (c,)
        NaN where undefined; ends are infinite where unbounded.
    p_bonferroni, bonferroni_low, bonferroni_high : ndarray of float64, shape (c,)
        The same test corrected by Bonferroni over the family sizes that were asked for.
    """

    test: str
    level: float
    p_value: Floats
    low: Floats
    high: Floats
    p_bonferroni: Floats
    bonferroni_low: Floats
    bonferroni_high: Floats

    def interval(self, column: int) -> Interval | None:
        """Return the interval of one column."""
        return Interval.from_ends(float(self.low[column]), float(self.high[column]), self.level, METHODS[self.test])


@dataclass(frozen=True, slots=True)
class Corrected:
    """One correction over the k members of a family; ends are NaN where the correction has no interval."""

    correction: str
    level: float
    p_adjusted: Floats
    low: Floats
    high: Floats
    method: str

    def interval(self, member: int) -> Interval | None:
        """Return the simultaneous interval of one member."""
        return Interval.from_ends(float(self.low[member]), float(self.high[member]), self.level, self.method)


def run_test(test: str, differences: Differences, plan: Plan, family_size: NDArray[np.int64]) -> Tested:
    """Run one test over all columns.

    Parameters
    ----------
    test : str
        One of the plan's tests.
    differences : Differences
        Queries × columns.
    plan : Plan
        Level, resamples and seed.
    family_size : ndarray of int64, shape (c,)
        Number of members of the family of each column, for Bonferroni's correction.
    """
    if test in _CLASSICAL:
        return _classical(test, differences, plan, family_size)
    result = (
        bootstrap(differences, plan, family_size) if test == "bootstrap" else _flips(differences, plan, family_size)
    )
    return Tested(
        test,
        1 - plan.alpha,
        result.p_value,
        result.low,
        result.high,
        result.p_adjusted,
        result.adjusted_low,
        result.adjusted_high,
    )


_CLASSICAL: dict[str, Callable[..., stats.PairedTResult | stats.SignedRankResult | stats.SignTestResult]] = {
    "t": stats.paired_t,
    "wilcoxon": stats.signed_rank_test,
    "sign": stats.sign_test,
}


def _classical(test: str, differences: Differences, plan: Plan, family_size: NDArray[np.int64]) -> Tested:
    run = _CLASSICAL[test]
    result = run(differences, alpha=plan.alpha)
    p_bonferroni, low, high = result.p_value.copy(), result.low.copy(), result.high.copy()
    for size in np.unique(family_size[family_size > 1]).tolist():
        chosen = np.flatnonzero(family_size == size)
        strict = run(differences.select(chosen), alpha=plan.alpha / size)
        p_bonferroni[chosen] = np.minimum(1.0, size * strict.p_value)
        low[chosen], high[chosen] = strict.low, strict.high
        if test == "t":
            # m · p and α / m round differently; p decides
            significant = p_bonferroni[chosen] <= plan.alpha
            low[chosen], high[chosen] = agreeing_ends(significant, strict.estimate, strict.low, strict.high)
    return Tested(test, 1 - plan.alpha, result.p_value, result.low, result.high, p_bonferroni, low, high)


def _flips(differences: Differences, plan: Plan, family_size: NDArray[np.int64]) -> stats.SignFlipResult:
    return stats.sign_flip_test(
        differences,
        alpha=plan.alpha,
        resamples=plan.resamples,
        rng=seed_of(plan, "sign flips"),
        family_size=family_size,
    )


def bootstrap(differences: Differences, plan: Plan, family_size: NDArray[np.int64] | int = 1) -> stats.BootstrapResult:
    """Run the paired bootstrap over all columns."""
    return stats.paired_bootstrap(
        differences,
        alpha=plan.alpha,
        resamples=plan.resamples,
        rng=seed_of(plan, "bootstrap"),
        family_size=family_size,
    )


_STREAMS = ("sign flips", "bootstrap", "max-T", "labels")


def seed_of(plan: Plan, stream: str) -> np.random.SeedSequence:
    """Return the seed of one kind of random numbers: the kinds do not share numbers, calls of one kind do."""
    return np.random.SeedSequence([plan.seed, _STREAMS.index(stream)])


def chosen_correction(plan: Plan, members: int, smallest_n: int) -> str:
    """Return the correction of the confirmatory family.

    Examples
    --------
    >>> chosen_correction(Plan(), 3, 50), chosen_correction(Plan(), 3, 20), chosen_correction(Plan(), 1, 50)
    ('bootstrap-max-t', 'bonferroni', 'none')
    """
    if members < 2:
        return "none"
    if plan.correction != "auto":
        return plan.correction
    if plan.test in ("wilcoxon", "sign"):
        return "bonferroni"
    return "bootstrap-max-t" if smallest_n >= SMALLEST_MAX_T_N else "bonferroni"


def correct(correction: str, tested: Tested, differences: Differences, members: Sequence[int], plan: Plan) -> Corrected:
    """Correct the p-values of a family.

    p_adjusted is never below p_value and the simultaneous interval never inside the interval of the test: where they
    come from different procedures the larger p and the wider end are taken, so that p_adjusted ≤ α exactly when the
    simultaneous interval leaves out 0.
    """
    chosen = np.asarray(members, dtype=np.int64)
    p, low, high = tested.p_value[chosen], tested.low[chosen], tested.high[chosen]
    if correction == "none":
        return Corrected("none", tested.level, p, low, high, METHODS[tested.test])
    if correction == "bonferroni":
        own = (tested.p_bonferroni[chosen], tested.bonferroni_low[chosen], tested.bonferroni_high[chosen])
        method = f"{METHODS[tested.test]}, Bonferroni"
    elif correction == "bootstrap-max-t":
        joint = stats.bootstrap_max_t(
            differences.select(chosen), alpha=plan.alpha, resamples=plan.resamples, rng=seed_of(plan, "max-T")
        )
        # a difference that is the same on every query has no spread to studentise by: Bonferroni's correction for it
        constant = np.isnan(joint.statistic) & (joint.estimate != 0)
        own = (
            np.where(constant, tested.p_bonferroni[chosen], joint.p_adjusted),
            np.where(constant, tested.bonferroni_low[chosen], joint.adjusted_low),
            np.where(constant, tested.bonferroni_high[chosen], joint.adjusted_high),
        )
        method = METHODS["bootstrap-max-t"]
    else:
        nothing = np.full(len(chosen), np.nan)
        return Corrected(correction, tested.level, np.fmax(p, stats.adjust(p, correction)), nothing, nothing, "")
    return Corrected(correction, tested.level, *stats.not_tighter(own, (p, low, high)), method)


def other_corrections(
    chosen: str, tested: Tested, differences: Differences, members: Sequence[int], plan: Plan, *, smallest_n: int
) -> Mapping[str, Corrected]:
    """Return the corrections shown beside the chosen one, by name; empty for a family of one."""
    if len(members) < 2:
        return {}
    names = ["bonferroni", "holm", "bh"]
    if smallest_n >= SMALLEST_MAX_T_N and tested.test not in ("wilcoxon", "sign"):
        names.insert(0, "bootstrap-max-t")
    return {name: correct(name, tested, differences, members, plan) for name in names if name != chosen}
