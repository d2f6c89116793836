"""Runs the tests of a plan over all columns at once, and corrects within families."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from rankstats import stats
from rankstats.comparison.result import Interval
from rankstats.conventions import RANK_TESTS
from rankstats.errors import PlanError
from rankstats.plan import Plan
from rankstats.stats import Differences
from rankstats.stats.classical import agreeing_ends

Floats = NDArray[np.float64]

DENSE_FROM = 25.0
"""Queries with a difference, in effective number, from which a member of a family takes part in the bootstrap max-T.

With fewer the studentised bootstrap is erratic: too wide, or above its level; such a member is corrected by Bonferroni.
"""

METHODS = {
    "randomisation": "inverted sign flips",
    "bootstrap": "dual of the shifted bootstrap",
    "t": "paired t",
    "wilcoxon": "inverted signed-rank test (Hodges–Lehmann)",
    "sign": "order statistics of the median",
    "bootstrap-max-t": "bootstrap max-T",
    "max-t": "sign-flip max-T",
    "tukey": "randomised Tukey",
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
    estimate : ndarray of float64, shape (c,)
        The test's own parameter: the mean difference, the pseudo-median, or the median.
    smallest_p : ndarray of float64, shape (c,)
        The smallest p-value that the test can give on these data; 0 where there is no such bound.
    """

    test: str
    level: float
    p_value: Floats
    low: Floats
    high: Floats
    p_bonferroni: Floats
    bonferroni_low: Floats
    bonferroni_high: Floats
    estimate: Floats
    smallest_p: Floats

    def select(self, columns: NDArray[np.int64]) -> Tested:
        """Return the chosen columns."""
        arrays = {f.name: getattr(self, f.name)[columns] for f in fields(self) if f.name not in ("test", "level")}
        return Tested(self.test, self.level, **arrays)

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
        result.estimate,
        result.smallest_p
        if isinstance(result, stats.SignFlipResult)
        else np.full(len(result.n), 1 / (plan.resamples + 1)),
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
    unbounded = np.zeros(differences.n_columns)
    return Tested(
        test,
        1 - plan.alpha,
        result.p_value,
        result.low,
        result.high,
        p_bonferroni,
        low,
        high,
        result.estimate,
        unbounded,
    )


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


def changed_queries(differences: Differences) -> Floats:
    """Return the effective number of queries with a difference other than 0, shape (c,): Kish's (Σw)² / Σw²."""
    changed = differences.present & (differences.integers != 0)
    weights = differences.weights
    total, squares = weights @ changed, (weights**2) @ changed
    return np.asarray(np.divide(total**2, squares, out=np.zeros(differences.n_columns), where=squares > 0))


def _dense(differences: Differences, plan: Plan) -> NDArray[np.bool_]:
    """Which members the bootstrap max-T can studentise; by name it takes all that have a spread."""
    least = DENSE_FROM if plan.correction != "bootstrap-max-t" else 0.0
    changed = changed_queries(differences)
    return (changed > 0) & (changed >= least) & ~differences.constant


def chosen_correction(plan: Plan, family: Differences) -> str:
    """Return the correction of the confirmatory family.

    By default the bootstrap max-T where the queries count alike and some member has enough of them with a difference,
    else Bonferroni's.
    """
    if family.n_columns < 2:
        return "none"
    if plan.correction != "auto":
        return plan.correction
    # unequal weights make the studentised bootstrap erratic however many queries there are
    if plan.test in RANK_TESTS or family.weighted or not _dense(family, plan).any():
        return "bonferroni"
    return "bootstrap-max-t"


def correct(correction: str, tested: Tested, family: Differences, plan: Plan) -> Corrected:
    """Correct the p-values of a family, all of whose columns are members.

    p_adjusted is never below p_value and the simultaneous interval never inside the interval of the test: where they
    come from different procedures the larger p and the wider end are taken, so that p_adjusted ≤ α exactly when the
    simultaneous interval leaves out 0.
    """
    plain = (tested.p_value, tested.low, tested.high)
    bonferroni = (tested.p_bonferroni, tested.bonferroni_low, tested.bonferroni_high)
    if correction == "none":
        return Corrected("none", tested.level, *plain, METHODS[tested.test])
    if correction == "bonferroni":
        method = f"{METHODS[tested.test]}, Bonferroni"
        return Corrected(correction, tested.level, *stats.not_tighter(bonferroni, plain), method)
    if correction == "bootstrap-max-t":
        own = _max_t(bonferroni, family, plan)
        return Corrected(correction, tested.level, *stats.not_tighter(own, plain), METHODS[correction])
    if correction == "sidak":
        own = _sidak(tested, family, plan)
        return Corrected(correction, tested.level, *stats.not_tighter(own, plain), f"{METHODS[tested.test]}, Šidák")
    if correction == "max-t":
        flips = _joint_flips(family, plan)
        own = (flips.p_adjusted, flips.adjusted_low, flips.adjusted_high)
        return Corrected(correction, tested.level, *stats.not_tighter(own, plain), METHODS[correction])
    adjusted = (
        _joint_flips(family, plan).p_stepdown
        if correction == "max-t-stepdown"
        else stats.adjust(tested.p_value, correction)
    )
    nothing = np.full(family.n_columns, np.nan)
    return Corrected(correction, tested.level, np.fmax(tested.p_value, adjusted), nothing, nothing, "")


def _joint_flips(family: Differences, plan: Plan) -> stats.FlipMaxTResult:
    return stats.flip_max_t(family, alpha=plan.alpha, resamples=plan.resamples, rng=seed_of(plan, "sign flips"))


def _sidak(tested: Tested, family: Differences, plan: Plan) -> tuple[Floats, Floats, Floats]:
    """Šidák's p, and the interval of the same test at the level that it leaves to one member."""
    members = family.n_columns
    p_adjusted = stats.adjust(tested.p_value, "sidak")
    strict = replace(plan, alpha=-math.expm1(math.log1p(-plan.alpha) / members))
    own = run_test(tested.test, family, strict, np.ones(members, dtype=np.int64))
    # the two levels round differently; p decides
    low, high = agreeing_ends(p_adjusted <= plan.alpha, own.estimate, own.low, own.high)
    absent = np.isnan(own.low)
    return p_adjusted, np.where(absent, np.nan, low), np.where(absent, np.nan, high)


def correct_tukey(tested: Tested, values: Sequence[Floats], weights: Floats | None, plan: Plan) -> Corrected:
    """Correct all pairs of systems by the randomised Tukey test: systems permuted within queries.

    Parameters
    ----------
    tested : Tested
        The pairs in the order (0, 1), (0, 2) … of one measure.
    values : sequence of one ndarray of float64, shape (Q, S)
        The measure's values.
    weights : ndarray of float64, shape (Q,), or None
        Query weights.
    plan : Plan
        Level, resamples and seed.

    Raises
    ------
    PlanError
        If the family holds more than one measure: the range of means is that of one.
    """
    if len(values) != 1:
        raise PlanError("correction 'tukey' is for one primary measure; name one with --primary")
    result = stats.randomised_tukey(
        values[0], weights, alpha=plan.alpha, resamples=plan.resamples, rng=seed_of(plan, "max-T")
    )
    own = (result.p_adjusted, result.adjusted_low, result.adjusted_high)
    plain = (tested.p_value, tested.low, tested.high)
    return Corrected("tukey", tested.level, *stats.not_tighter(own, plain), METHODS["tukey"])


def _max_t(bonferroni: tuple[Floats, Floats, Floats], family: Differences, plan: Plan) -> tuple[Floats, Floats, Floats]:
    """Bootstrap max-T of the dense members, Bonferroni's correction of the others; the level is shared out.

    Of m members k are not dense: each takes α/m, the max-T of the others α(m − k)/m, which adds up to α.
    """
    dense = _dense(family, plan)
    members = int((changed_queries(family) > 0).sum())
    if not dense.any():
        return bonferroni
    share = members / int(dense.sum())
    # the largest count whose p, scaled to the family, still reaches alpha: p and interval are read off the same count
    counts = np.arange(plan.resamples + 2)
    reached = int(counts[np.minimum(1.0, share * (counts / (plan.resamples + 1))) <= plan.alpha].max())
    alpha = plan.alpha if share == 1 else (reached + 0.5) / (plan.resamples + 1)
    joint = stats.bootstrap_max_t(
        family.select(np.flatnonzero(dense)), alpha=alpha, resamples=plan.resamples, rng=seed_of(plan, "max-T")
    )
    own = (np.minimum(1.0, share * joint.p_adjusted), joint.adjusted_low, joint.adjusted_high)
    merged = tuple(column.copy() for column in bonferroni)
    for column, values in zip(merged, own, strict=True):
        column[dense] = values
    return merged[0], merged[1], merged[2]


def other_corrections(chosen: str, tested: Tested, family: Differences, plan: Plan) -> Mapping[str, Corrected]:
    """Return the corrections shown beside the chosen one, by name; empty for a family of one."""
    if family.n_columns < 2:
        return {}
    names = ["bonferroni", "holm", "bh"]
    if tested.test not in RANK_TESTS and not family.weighted and _dense(family, plan).any():
        names.insert(0, "bootstrap-max-t")
    return {name: correct(name, tested, family, plan) for name in names if name != chosen}
