"""Where systems stand among three or more: rank intervals, and which of them may be the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from rankstats import stats
from rankstats.comparison.columns import Column, overall_differences
from rankstats.comparison.evidence import Evidence
from rankstats.comparison.pair_draws import PairDraws
from rankstats.comparison.result import Difference, Standing
from rankstats.comparison.significance import chosen_correction, correct, run_test, seed_of
from rankstats.conventions import RANK_TESTS, SMALLEST_VERDICT_N
from rankstats.plan import Plan
from rankstats.tables import exact_mean

FEWEST_SYSTEMS = 3
_NOT_FOR_RANKS = ("none", "bh", "by")


def make_standings(
    evidence: Evidence,
    plan: Plan,
    primary: Sequence[int],
    claims: Sequence[Difference] = (),
    draws: PairDraws | None = None,
) -> tuple[Standing, ...]:
    """Return a row for each primary measure and system, the best mean first; empty for fewer than three systems.

    The rank interval comes from the test of all pairs, corrected together whatever the pairs that the plan compares; it
    holds all true ranks at once with the probability of the level. Whether a system may be the best comes from
    multiple comparisons with the best. Neither is given below 10 queries, or with a test that is not about the mean.

    Parameters
    ----------
    evidence : Evidence
        The values.
    plan : Plan
        Test, correction, level, resamples, seed.
    primary : sequence of int
        Indices of the primary measures.
    claims : sequence of Difference
        The claims: where they are all pairs on one measure, their adjusted p-values are those of the ranks.
    draws : PairDraws, optional
        Joint resamples that the claims were corrected by: they are not drawn again.
    """
    if len(evidence.scores.systems) < FEWEST_SYSTEMS:
        return ()
    withheld = {row.measure for row in claims if row.withheld is not None}
    same = plan.compare == "all-pairs" and len(primary) == 1 and plan.family == "primary"
    kept = PairDraws() if draws is None else draws
    rows = [row for m in primary for row in _standings(evidence, plan, m, claims if same else (), kept)]
    # a verdict that is withheld is not spoken by the ranks either
    return tuple(
        replace(row, low=None, high=None, may_be_best=None) if row.measure in withheld else row for row in rows
    )


def _standings(
    evidence: Evidence, plan: Plan, m: int, claims: Sequence[Difference], draws: PairDraws
) -> list[Standing]:
    scores, weights = evidence.scores, evidence.weights
    info, systems = scores.measures[m], scores.systems
    kept = scores.defined()[:, m] & (evidence.query_weights > 0)
    values = scores.values[kept, :, m]
    means = [exact_mean(values[:, s], None if weights is None else weights[kept]) for s in range(len(systems))]
    sign = 1.0 if info.higher_is_better else -1.0
    oriented = np.array([-np.inf if mean is None else sign * mean for mean in means])
    # equal means share the better rank
    ranks = 1 + (oriented[:, None] < oriented).sum(axis=1)
    low, high, correction = _intervals(evidence, plan, m, sign, claims, draws=draws)
    candidates = _candidates(evidence, plan, sign * values, kept, draws.of_measure.get(m))
    order = sorted(range(len(systems)), key=lambda s: (int(ranks[s]), s))
    return [
        Standing(
            measure=info.name,
            system=systems[s],
            weighting=evidence.weights_name if weights is not None else None,
            n=int(kept.sum()),
            mean=means[s],
            rank=int(ranks[s]),
            low=None if low is None else int(low[s]),
            high=None if high is None else int(high[s]),
            may_be_best=None if candidates is None else bool(candidates[s]),
            level=1 - plan.alpha,
            correction=correction,
        )
        for s in order
    ]


def _intervals(
    evidence: Evidence, plan: Plan, m: int, sign: float, claims: Sequence[Difference], *, draws: PairDraws
) -> tuple[np.ndarray | None, np.ndarray | None, str | None]:
    """Return the ends of the rank intervals and the correction that they rest on."""
    systems = len(evidence.scores.systems)
    columns = [Column(m, b, s) for b, s in combinations(range(systems), 2)]
    differences = overall_differences(evidence, columns, weighted=evidence.weights is not None)
    units = differences if evidence.clusters is None else _clustered(differences, evidence)
    if units.n_effective.min() < SMALLEST_VERDICT_N or plan.test in RANK_TESTS or plan.alternative != "two-sided":
        return None, None, None
    if len(claims) == len(columns) and claims[0].correction not in _NOT_FOR_RANKS:
        p_adjusted = np.array([1.0 if row.p_adjusted is None else row.p_adjusted for row in claims])
        ranks = stats.rank_intervals(sign * differences.mean, p_adjusted <= plan.alpha)
        return ranks.low, ranks.high, claims[0].correction
    sizes = np.full(len(columns), len(columns), dtype=np.int64)
    tested = run_test(plan.test, differences, plan, sizes, evidence.clusters)
    correction = chosen_correction(plan, differences, evidence.clusters)
    if correction in (*_NOT_FOR_RANKS, "tukey"):
        # a rank interval needs the family-wise error of all pairs
        correction = "holm"
    max_t = draws.max_t(evidence, columns)
    corrected = correct(correction, tested, differences, plan, evidence.clusters, max_t=max_t)
    result = stats.rank_intervals(sign * differences.mean, corrected.p_adjusted <= plan.alpha)
    return result.low, result.high, correction


def _clustered(differences: stats.Differences, evidence: Evidence) -> stats.Differences:
    assert evidence.clusters is not None
    return stats.cluster_sums(differences, evidence.clusters)


def _candidates(
    evidence: Evidence, plan: Plan, values: np.ndarray, kept: np.ndarray, drawn: stats.PairBootstrap | None
) -> np.ndarray | None:
    """Return which systems may be the best; None where there are too few queries, or clusters."""
    if evidence.clusters is not None or plan.test in RANK_TESTS:
        return None
    weights = None if evidence.weights is None else evidence.weights[kept]
    effective = len(values) if weights is None else stats.kish_n_effective(weights)
    if effective < SMALLEST_VERDICT_N:
        return None
    method = "bootstrap" if effective >= MCB_BOOTSTRAP_FROM and weights is None else "randomisation"
    if method == "bootstrap" and drawn is not None:
        return drawn.best(plan.alpha).candidate
    result = stats.best_systems(
        values, weights, method=method, alpha=plan.alpha, resamples=plan.resamples, rng=seed_of(plan, "max-T")
    )
    return result.candidate


MCB_BOOTSTRAP_FROM = 25
"""Queries from which multiple comparisons with the best are bootstrapped; below they flip signs."""
