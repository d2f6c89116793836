"""All pairs of several systems: family-wise error, joint coverage, power, and the coverage of rank intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankstats.stats import (
    adjust,
    bootstrap_max_t,
    flip_max_t,
    pairwise_differences,
    randomised_tukey,
    rank_intervals,
    sign_flip_test,
)
from rankstats.stats.complete_values import all_pairs
from tests.calibration.draws import draw_systems, read_matrix, share
from tests.calibration.family import ALPHA, Corrected, Tally

RESAMPLES = 999
RAW_RESAMPLES = 1999

Floats = NDArray[np.float64]
Row = dict[str, Any]


def pair_rows(measure: str, way: str, n: int, systems: int, repetitions: int, rng: np.random.Generator) -> list[Row]:
    """Return one row for every correction in one cell."""
    values = read_matrix(measure)
    tallies: dict[str, Tally] = {}
    ranks: dict[str, list[tuple[bool, float]]] = {}
    baseline, system = all_pairs(systems)
    for _ in range(repetitions):
        drawn, truth = draw_systems(rng, values, n=n, size=systems, way=way)
        estimate = (drawn.mean(axis=0)[system] - drawn.mean(axis=0)[baseline]).astype(np.float64)
        for name, corrected in all_pairs_corrections(drawn, rng).items():
            tallies.setdefault(name, Tally()).add(corrected, estimate, truth[system] - truth[baseline])
            ranks.setdefault(name, []).append(ranks_hold(estimate, corrected[0] <= ALPHA, truth))
    known = way == "as drawn"
    return [
        {"correction": name} | tally.row(way) | (_rank_columns(ranks[name]) if known else {})
        for name, tally in tallies.items()
    ]


def all_pairs_corrections(values: Floats, rng: np.random.Generator) -> dict[str, Corrected]:
    """Return p_adjusted and simultaneous intervals of all pairs by every correction."""
    pairs = pairwise_differences(values)
    flips = sign_flip_test(pairs, resamples=RAW_RESAMPLES, rng=rng, family_size=pairs.n_columns)
    joint = flip_max_t(pairs, resamples=RESAMPLES, rng=rng)
    bootstrap = bootstrap_max_t(pairs, resamples=RESAMPLES, rng=rng)
    tukey = randomised_tukey(values, resamples=RESAMPLES, rng=rng)
    return {
        "bootstrap max-T": (bootstrap.p_adjusted, bootstrap.adjusted_low, bootstrap.adjusted_high),
        "Bonferroni, flips": (flips.p_adjusted, flips.adjusted_low, flips.adjusted_high),
        "Holm, flips": (adjust(flips.p_value, "holm"), None, None),
        "flip max-T": (joint.p_adjusted, joint.adjusted_low, joint.adjusted_high),
        "flip max-T, step-down": (joint.p_stepdown, None, None),
        "randomised Tukey": (tukey.p_adjusted, tukey.adjusted_low, tukey.adjusted_high),
    }


def ranks_hold(estimate: Floats, significant: NDArray[np.bool_], truth: Floats) -> tuple[bool, float]:
    """Return whether all rank intervals hold a true rank of their system, and how many ranks they hold on average.

    Systems of equal true means share ranks; any of the shared ranks will do.
    """
    intervals = rank_intervals(estimate, significant)
    best = 1 + (truth[None, :] > truth[:, None] + 1e-12).sum(axis=1)
    worst = len(truth) - (truth[None, :] < truth[:, None] - 1e-12).sum(axis=1)
    holds = (intervals.low <= worst) & (intervals.high >= best)
    return bool(holds.all()), float(np.mean(intervals.high - intervals.low + 1))


def _rank_columns(ranks: list[tuple[bool, float]]) -> Row:
    rate, error = share(np.array([holds for holds, _ in ranks]))
    return {"rank_coverage": rate, "se_rank": error, "rank_width": float(np.mean([width for _, width in ranks]))}
