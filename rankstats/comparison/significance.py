"""Runs the tests of a plan over all columns at once, and corrects within families."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rankstats import stats
from rankstats.comparison.result import Interval
from rankstats.conventions import RANK_TESTS
from rankstats.errors import PlanError, RankstatsError
from rankstats.plan import JOINT_CORRECTIONS, Plan
from rankstats.stats import Differences
from rankstats.stats.classical import agreeing_ends
from rankstats.stats.results import ColumnResult

Floats = NDArray[np.float64]
Clusters = NDArray[np.int64] | None
"""Cluster of each query, shape (n,); None where every query stands for itself."""
Result = TypeVar("Result", bound=ColumnResult)

MAX_T_FROM, DENSE_FROM = 25.0, 12.0
"""Queries, and queries with a difference, in effective number, from which a member takes part in the bootstrap max-T.

With fewer the studentised bootstrap is erratic: far too wide, or above its level. Such a member is corrected by the
guarded Bonferroni.
"""
GUARDED = "guarded-bonferroni"
"""Bonferroni on the test and on t: the larger p and the wider interval.

Below 25 queries the flips can hardly reach the small levels that a family leaves to its members: their interval ends at
the extremes of the data, or at 0 where all differences have one sign. The t interval has no such floor.
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


def run_test(
    test: str, differences: Differences, plan: Plan, family_size: NDArray[np.int64], clusters: Clusters = None
) -> Tested:
    """Run one test over all columns.

    Parameters
    ----------
    test : str
        One of the plan's tests.
    differences : Differences
        Queries × columns.
    plan : Plan
        Level, side, resamples and seed.
    family_size : ndarray of int64, shape (c,)
        Number of members of the family of each column, for Bonferroni's correction.
    clusters : ndarray of int64, shape (n,), optional
        Clusters that are flipped and resampled whole.
    """
    if test in _CLASSICAL:
        return _classical(test, differences, plan, family_size, clusters)
    run = bootstrap if test == "bootstrap" else _flips
    result = run(differences, plan, family_size, clusters)
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


def on_units(function: Callable[..., Result], differences: Differences, clusters: Clusters, **arguments: Any) -> Result:
    """Call a function of differences on the queries, or on their clusters where there are some."""
    if clusters is None:
        return function(differences, **arguments)
    return stats.on_clusters(function, differences, clusters, **arguments)


_CLASSICAL: dict[str, Callable[..., stats.PairedTResult | stats.SignedRankResult | stats.SignTestResult]] = {
    "t": stats.paired_t,
    "wilcoxon": stats.signed_rank_test,
    "sign": stats.sign_test,
}


def _classical(
    test: str, differences: Differences, plan: Plan, family_size: NDArray[np.int64], clusters: Clusters
) -> Tested:
    def run(columns: Differences, alpha: float) -> Any:
        return on_units(_CLASSICAL[test], columns, clusters, alpha=alpha, alternative=plan.alternative)

    result = run(differences, plan.alpha)
    p_bonferroni, low, high = result.p_value.copy(), result.low.copy(), result.high.copy()
    for size in np.unique(family_size[family_size > 1]).tolist():
        chosen = np.flatnonzero(family_size == size)
        strict = run(differences.select(chosen), plan.alpha / size)
        p_bonferroni[chosen] = np.minimum(1.0, size * strict.p_value)
        low[chosen], high[chosen] = strict.low, strict.high
        if test == "t":
            # m · p and α / m round differently; p decides
            significant = p_bonferroni[chosen] <= plan.alpha
            towards = _towards(strict.estimate, plan)
            low[chosen], high[chosen] = agreeing_ends(significant, towards, strict.low, strict.high)
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


def _towards(estimate: Floats, plan: Plan) -> Floats:
    """The side on which a significant interval lies."""
    side = {"greater": 1.0, "less": -1.0}.get(plan.alternative)
    return estimate if side is None else np.full(len(estimate), side)


def _flips(
    differences: Differences, plan: Plan, family_size: NDArray[np.int64], clusters: Clusters
) -> stats.SignFlipResult:
    return on_units(
        stats.sign_flip_test,
        differences,
        clusters,
        alpha=plan.alpha,
        alternative=plan.alternative,
        resamples=plan.resamples,
        rng=seed_of(plan, "sign flips"),
        family_size=family_size,
    )


def bootstrap(
    differences: Differences, plan: Plan, family_size: NDArray[np.int64] | int = 1, clusters: Clusters = None
) -> stats.BootstrapResult:
    """Run the paired bootstrap over all columns."""
    return on_units(
        stats.paired_bootstrap,
        differences,
        clusters,
        alpha=plan.alpha,
        alternative=plan.alternative,
        resamples=plan.resamples,
        rng=seed_of(plan, "bootstrap"),
        family_size=family_size,
    )


def bootstrap_intervals(
    differences: Differences, plan: Plan, clusters: Clusters = None
) -> stats.BootstrapIntervals | None:
    """Return the bootstrap intervals that the plan asks for by name, from the resamples of `bootstrap`."""
    if not plan.intervals:
        return None
    return on_units(
        stats.bootstrap_intervals,
        differences,
        clusters,
        methods=plan.intervals,
        alpha=plan.alpha,
        resamples=plan.resamples,
        rng=seed_of(plan, "bootstrap"),
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


def joint_units(family: Differences, clusters: Clusters) -> Differences | None:
    """Return what is resampled for all members together: the queries, or their clusters.

    None where undefined queries give a cluster another weight in one member than in another.
    """
    if clusters is None:
        return family
    try:
        return stats.cluster_sums(family, clusters)
    except RankstatsError:
        return None


def _dense(units: Differences, plan: Plan) -> NDArray[np.bool_]:
    """Which members the bootstrap max-T can studentise; by name it takes all that have a spread."""
    changed = changed_queries(units)
    dense = (changed > 0) & ~units.constant
    if plan.correction == "bootstrap-max-t":
        return dense
    return dense & (changed >= DENSE_FROM) & (units.n_effective >= MAX_T_FROM)


def _can_resample(units: Differences | None, plan: Plan) -> bool:
    """Whether the bootstrap max-T has something to go by where it is not asked for by name."""
    if units is None or plan.test in RANK_TESTS or plan.alternative != "two-sided":
        return False
    # unequal weights make the studentised bootstrap erratic however many queries there are
    return not units.weighted and bool(_dense(units, plan).any())


def chosen_correction(plan: Plan, family: Differences, clusters: Clusters = None) -> str:
    """Return the correction of the confirmatory family.

    By default the bootstrap max-T where the queries (or their clusters) count alike and some member has enough of them
    with a difference, else the guarded Bonferroni; rank and sign tests have the plain one.
    """
    if family.n_columns < 2:
        return "none"
    if plan.correction != "auto":
        return plan.correction
    if _can_resample(joint_units(family, clusters), plan):
        return "bootstrap-max-t"
    return "bonferroni" if plan.test in RANK_TESTS or plan.test == "t" else GUARDED


MaxT = Callable[[Differences, NDArray[np.bool_], float, Plan], stats.MaxTResult]
"""Bootstrap max-T of some of the columns, at a level."""


def max_t_of(units: Differences, members: NDArray[np.bool_], alpha: float, plan: Plan) -> stats.MaxTResult:
    """Draw the bootstrap max-T of some columns."""
    return stats.bootstrap_max_t(
        units.select(np.flatnonzero(members)), alpha=alpha, resamples=plan.resamples, rng=seed_of(plan, "max-T")
    )


def correct(
    correction: str,
    tested: Tested,
    family: Differences,
    plan: Plan,
    clusters: Clusters = None,
    *,
    max_t: MaxT = max_t_of,
) -> Corrected:
    """Correct the p-values of a family, all of whose columns are members; `max_t` draws the bootstrap max-T.

    p_adjusted is never below p_value and the simultaneous interval never inside the interval of the test: where they
    come from different procedures the larger p and the wider end are taken, so that p_adjusted ≤ α exactly when the
    simultaneous interval leaves out 0.

    Raises
    ------
    PlanError
        If members cannot be resampled together.
    """
    plain = (tested.p_value, tested.low, tested.high)
    bonferroni = (tested.p_bonferroni, tested.bonferroni_low, tested.bonferroni_high)
    if correction == "none":
        return Corrected("none", tested.level, *plain, METHODS[tested.test])
    if correction == "bonferroni":
        method = f"{METHODS[tested.test]}, Bonferroni"
        return Corrected(correction, tested.level, *stats.not_tighter(bonferroni, plain), method)
    if correction == "sidak":
        own = _sidak(tested, family, plan, clusters)
        return Corrected(correction, tested.level, *stats.not_tighter(own, plain), f"{METHODS[tested.test]}, Šidák")
    if correction == GUARDED:
        own = _guarded(tested, family, plan, clusters)
        method = f"the wider of {METHODS[tested.test]} and t, Bonferroni"
        return Corrected(correction, tested.level, *stats.not_tighter(own, plain), method)
    nothing = np.full(family.n_columns, np.nan)
    if correction not in JOINT_CORRECTIONS:
        adjusted = stats.adjust(tested.p_value, correction)
        return Corrected(correction, tested.level, np.fmax(tested.p_value, adjusted), nothing, nothing, "")
    units = joint_units(family, clusters)
    if units is None:
        raise PlanError(
            f"correction {correction!r}: a query that is undefined for one measure but not for another gives its "
            "cluster two weights; name one primary measure, or use 'bonferroni'"
        )
    if correction == "bootstrap-max-t":
        others = bonferroni if plan.correction == correction else _guarded(tested, family, plan, clusters)
        own = _max_t(others, units, plan, max_t)
        return Corrected(correction, tested.level, *stats.not_tighter(own, plain), METHODS[correction])
    flips = _joint_flips(units, plan)
    if correction == "max-t-stepdown":
        return Corrected(correction, tested.level, np.fmax(tested.p_value, flips.p_stepdown), nothing, nothing, "")
    own = (flips.p_adjusted, flips.adjusted_low, flips.adjusted_high)
    return Corrected(correction, tested.level, *stats.not_tighter(own, plain), METHODS[correction])


def _joint_flips(units: Differences, plan: Plan) -> stats.FlipMaxTResult:
    return stats.flip_max_t(units, alpha=plan.alpha, resamples=plan.resamples, rng=seed_of(plan, "sign flips"))


def _guarded(tested: Tested, family: Differences, plan: Plan, clusters: Clusters) -> tuple[Floats, Floats, Floats]:
    """Bonferroni on the test and on t, the larger p and the wider interval; the test alone where t is not defined."""
    own = (tested.p_bonferroni, tested.bonferroni_low, tested.bonferroni_high)
    if tested.test == "t" or tested.test in RANK_TESTS:
        return own
    members = np.full(family.n_columns, family.n_columns, dtype=np.int64)
    t = run_test("t", family, plan, members, clusters)
    wider = stats.not_tighter(own, (t.p_bonferroni, t.bonferroni_low, t.bonferroni_high))
    spread = on_units(stats.paired_t, family, clusters).standard_error > 0
    p_adjusted, low, high = (np.where(spread, new, old) for new, old in zip(wider, own, strict=True))
    return p_adjusted, low, high


def _sidak(tested: Tested, family: Differences, plan: Plan, clusters: Clusters) -> tuple[Floats, Floats, Floats]:
    """Šidák's p, and the interval of the same test at the level that it leaves to one member."""
    members = family.n_columns
    p_adjusted = stats.adjust(tested.p_value, "sidak")
    strict = replace(plan, alpha=-math.expm1(math.log1p(-plan.alpha) / members))
    own = run_test(tested.test, family, strict, np.ones(members, dtype=np.int64), clusters)
    # the two levels round differently; p decides
    low, high = agreeing_ends(p_adjusted <= plan.alpha, _towards(own.estimate, plan), own.low, own.high)
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


def _max_t(
    others: tuple[Floats, Floats, Floats], units: Differences, plan: Plan, max_t: MaxT
) -> tuple[Floats, Floats, Floats]:
    """Bootstrap max-T of the dense members, a correction of `others` by Bonferroni; the level is shared out.

    Of m members k are not dense: each takes α/m, the max-T of the others α(m − k)/m, which adds up to α.
    """
    dense = _dense(units, plan)
    members = int((changed_queries(units) > 0).sum())
    if not dense.any():
        return others
    share = members / int(dense.sum())
    # the largest count whose p, scaled to the family, still reaches alpha: p and interval are read off the same count
    counts = np.arange(plan.resamples + 2)
    reached = int(counts[np.minimum(1.0, share * (counts / (plan.resamples + 1))) <= plan.alpha].max())
    alpha = plan.alpha if share == 1 else (reached + 0.5) / (plan.resamples + 1)
    joint = max_t(units, dense, alpha, plan)
    own = (np.minimum(1.0, share * joint.p_adjusted), joint.adjusted_low, joint.adjusted_high)
    merged = tuple(column.copy() for column in others)
    for column, values in zip(merged, own, strict=True):
        column[dense] = values
    return merged[0], merged[1], merged[2]


def other_corrections(
    chosen: str, tested: Tested, family: Differences, plan: Plan, clusters: Clusters = None
) -> Mapping[str, Corrected]:
    """Return the corrections shown beside the chosen one, by name; empty for a family of one."""
    if family.n_columns < 2:
        return {}
    names = ["bonferroni", "holm", "bh"]
    if _can_resample(joint_units(family, clusters), plan):
        names.insert(0, "bootstrap-max-t")
    return {name: correct(name, tested, family, plan, clusters) for name in names if name != chosen}
