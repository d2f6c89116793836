"""One comparison: how often each test rejects, how often each interval holds its parameter, and how wide it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankstats.stats import (
    Differences,
    bootstrap_intervals,
    paired_bootstrap,
    paired_t,
    sign_flip_test,
    sign_test,
    signed_rank_test,
)
from tests.calibration.draws import Sample, draw, median_set, pseudo_median_set, random_pairs, read_matrix, share

LEVELS = (0.05, 0.01)
RESAMPLES = 1999
COLUMNS_AT_ONCE = 250
"""Comparisons that share sign patterns and resamples; the queries are drawn for each by itself."""

Floats = NDArray[np.float64]
Row = dict[str, Any]
Ends = tuple[Floats, Floats]


def rejection_rows(measure: str, way: str, n: int, repetitions: int, rng: np.random.Generator) -> list[Row]:
    """Return the rejection rates of all tests in one cell."""
    p_values: dict[str, list[Floats]] = {}
    for sample in _samples(measure, way, n, repetitions, rng):
        for name, p in _p_values(sample.differences, rng).items():
            p_values.setdefault(name, []).append(p)
    rows = []
    for name, parts in p_values.items():
        for alpha in LEVELS:
            rate, error = share(np.concatenate(parts) <= alpha)
            rows.append({"test": name, "alpha": alpha, "repetitions": repetitions, "rate": rate, "se": error})
    return rows


def interval_rows(measure: str, way: str, n: int, repetitions: int, rng: np.random.Generator) -> list[Row]:
    """Return coverage and width of all intervals in one cell."""
    found: dict[tuple[str, float], list[Floats]] = {}
    for sample in _samples(measure, way, n, repetitions, rng):
        targets = {
            "mean": (sample.truth, sample.truth),
            "pseudo-median": pseudo_median_set(sample.population),
            "median": median_set(sample.population),
        }
        for alpha in LEVELS:
            for name, ends in intervals_of(sample.differences, alpha, rng).items():
                low, high = targets[PARAMETERS.get(name, "mean")]
                found.setdefault((name, alpha), []).append(np.array([*ends, low, high]))
    joined = {key: np.concatenate(parts, axis=1) for key, parts in found.items()}
    return [
        {"interval": name, "parameter": PARAMETERS.get(name, "mean"), "alpha": alpha}
        | _coverage(ends, joined["t", alpha])
        for (name, alpha), ends in joined.items()
    ]


def _samples(measure: str, way: str, n: int, repetitions: int, rng: np.random.Generator) -> Iterator[Sample]:
    values = read_matrix(measure)
    for start in range(0, repetitions, COLUMNS_AT_ONCE):
        pairs = random_pairs(rng, values, min(COLUMNS_AT_ONCE, repetitions - start))
        yield draw(rng, values, *pairs, n=n, way=way)


def _p_values(differences: Differences, rng: np.random.Generator) -> dict[str, Floats]:
    return {
        "sign flips": sign_flip_test(differences, resamples=RESAMPLES, rng=rng).p_value,
        "bootstrap": paired_bootstrap(differences, resamples=RESAMPLES, rng=rng).p_value,
        "t": paired_t(differences).p_value,
        "Wilcoxon": signed_rank_test(differences).p_value,
        "sign": sign_test(differences).p_value,
    }


PARAMETERS = {"Hodges–Lehmann": "pseudo-median", "sign": "median"}
"""What an interval is about, where not the mean."""


def intervals_of(differences: Differences, alpha: float, rng: np.random.Generator) -> dict[str, Ends]:
    """Return the ends of every interval by its name."""
    flips = sign_flip_test(differences, alpha=alpha, resamples=RESAMPLES, rng=rng)
    shifted = paired_bootstrap(differences, alpha=alpha, resamples=RESAMPLES, rng=rng)
    t = paired_t(differences, alpha=alpha)
    bootstrap = bootstrap_intervals(differences, alpha=alpha, resamples=RESAMPLES, rng=rng)
    ranks, signs = signed_rank_test(differences, alpha=alpha), sign_test(differences, alpha=alpha)
    return {
        "inverted flips": (flips.low, flips.high),
        "shifted bootstrap": (shifted.low, shifted.high),
        "t": (t.low, t.high),
        **{name: bootstrap.interval(name) for name in bootstrap.methods},
        "Hodges–Lehmann": (ranks.low, ranks.high),
        "sign": (signs.low, signs.high),
    }


def _coverage(ends: Floats, of_t: Floats) -> Row:
    """Return coverage of a parameter that may be any number of a set, over the samples that have an interval."""
    low, high, least, most = ends
    there = ~np.isnan(low)
    # rounding of a mean in its last digits is no miss
    slack = 1e-9 * (1 + np.abs(least))
    rate, error = share(((low <= most + slack) & (high >= least - slack))[there])
    width, width_of_t = high - low, of_t[1] - of_t[0]
    bounded = there & np.isfinite(width)
    both = bounded & np.isfinite(width_of_t)
    return {
        "repetitions": len(low),
        "coverage": rate,
        "se": error,
        "mean_width": float(width[bounded].mean()),
        "ratio_to_t": float(width[both].mean() / width_of_t[both].mean()),
        "unbounded": float(np.mean(there & ~np.isfinite(width))),
        "none": float(np.mean(~there)),
    }
