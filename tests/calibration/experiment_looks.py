"""Simulated experiments that are looked at again and again, sample ratios, and interleaving."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from rankstats.stats import (
    balanced_credits,
    confidence_sequence,
    impression_outcomes,
    interleaving_sequence,
    interleaving_test,
    sample_ratio_test,
    sequential_bounds,
    team_draft_credits,
)
from tests.calibration.experiment_arms import ALPHA, Tallies, spending
from tests.stats.experiment.interleaving_designs import balanced_page

Floats = NDArray[np.float64]
Row = dict[str, Any]


def _paths(rng: np.random.Generator, n: int, looks: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Return difference and standard error at each look of an experiment on revenue without effect."""
    moments = []
    for _ in range(2):
        values = spending(rng, (n,))
        sums, squares = np.cumsum(values)[looks - 1], np.cumsum(values**2)[looks - 1]
        mean = sums / looks
        moments.append((mean, (squares - looks * mean**2) / (looks - 1) / looks))
    return moments[1][0] - moments[0][0], np.sqrt(moments[0][1] + moments[1][1])


def group_sequential(rng: np.random.Generator, n: int, setting: str, repetitions: int) -> list[Row]:
    """Five looks at unequal times on skewed revenue, variances estimated at each."""
    information = np.array([0.2, 0.35, 0.6, 0.8, 1.0])
    looks = np.round(n * information).astype(np.int64)
    bound = sequential_bounds(information, spending=setting).bound
    tallies = Tallies({})
    fixed = -float(special.ndtri(ALPHA / 2))
    for _ in range(repetitions):
        difference, error = _paths(rng, n, looks)
        z = np.abs(difference) / np.where(error > 0, error, np.inf)
        tallies.of(f"{setting} bounds").add(0.0 if np.any(z >= bound) else 1.0)
        tallies.of("α at every look").add(0.0 if np.any(z >= fixed) else 1.0)
        tallies.of("last look only").add(0.0 if z[-1] >= fixed else 1.0)
    return tallies.rows()


def sequences(rng: np.random.Generator, n: int, setting: str, repetitions: int) -> list[Row]:
    """A hundred looks on skewed revenue without effect: whether any of them rejects."""
    looks = np.linspace(n / 100, n, int(setting.split(maxsplit=1)[0])).astype(np.int64)
    fixed = -float(special.ndtri(ALPHA / 2))
    tallies = Tallies({})
    for _ in range(repetitions):
        difference, error = _paths(rng, n, looks)
        for star in (n // 5, 2 * n):
            sequence = confidence_sequence(difference, error, 2 * looks, n_star=star)
            tallies.of(f"confidence sequence, n* = {star / (2 * n):g} of all units").add(sequence.p_value.min())
        z = np.abs(difference) / np.where(error > 0, error, np.inf)
        tallies.of("α at every look").add(0.0 if np.any(z >= fixed) else 1.0)
    return tallies.rows()


def sample_ratios(rng: np.random.Generator, n: int, setting: str, repetitions: int) -> list[Row]:
    """Units dealt out by the design: how often the check warns and blocks."""
    shares = {"50/50": [0.5, 0.5], "95/5": [0.95, 0.05], "3 arms": [0.5, 0.3, 0.2]}[setting]
    counts = rng.multinomial(n, shares, repetitions)
    outcomes = [sample_ratio_test(arms, shares).outcome for arms in counts]
    tallies = Tallies({})
    tallies.of("warns or blocks (.01)").add([0.0 if outcome != "ok" else 1.0 for outcome in outcomes])
    tallies.of("blocks (.001)").add([0.0 if outcome == "blocks" else 1.0 for outcome in outcomes])
    return tallies.rows()


def interleaving(rng: np.random.Generator, n: int, setting: str, repetitions: int) -> list[Row]:
    """Users who favour one ranker or the other, but none on the whole; heavy users have many impressions."""
    tallies = Tallies({})
    for _ in range(repetitions):
        pages = 1 + (rng.poisson(8 * rng.gamma(0.5, 1.0, n)) if setting == "heavy users" else np.zeros(n, dtype=int))
        units = np.repeat(np.arange(n), pages)
        taste = rng.choice([0.25, 0.75], n)[units]
        clicked_b = rng.random(len(units)) < taste
        clicks = np.stack([~clicked_b, clicked_b], axis=1) * (rng.random((len(units), 1)) < 0.7)
        page = np.repeat(np.arange(len(units)), 2)
        credits = team_draft_credits(page, np.tile([-1, 1], len(units)), clicks.ravel().astype(int))
        result = interleaving_test(credits, units=units, resamples=499, rng=rng)
        tallies.of("units flipped").add(result.p_unit)
        tallies.of("impressions flipped").add(result.p_impression)
        looks = np.unique(np.linspace(len(units) / 10, len(units), 20).astype(int))
        looks = looks[looks >= 10]
        if len(looks):
            outcomes, order = impression_outcomes(credits), rng.permutation(len(units))
            sequence = interleaving_sequence(outcomes[order], looks, n_star=n, units=units[order])
            tallies.of("sequence, 20 looks").add(np.nanmin(sequence.p_value, initial=1.0))
    return tallies.rows()


def balanced_flaw(rng: np.random.Generator, n: int, setting: str, repetitions: int) -> list[Row]:
    """Random clicks on balanced pages of two lists that differ by a shift: a design that favours one ranker."""
    tallies = Tallies({})
    for _ in range(repetitions):
        made = [balanced_page(rng, [1, 2, 3, 4], [2, 3, 4, 1]) for _ in range(n)]
        rank_a, rank_b = (np.concatenate([page[side] for page in made]) for side in (0, 1))
        label = np.repeat(np.arange(n), [len(page[0]) for page in made])
        credits = balanced_credits(label, rank_a, rank_b, (rng.random(len(label)) < 0.4).astype(int))
        tallies.of("balanced").add(interleaving_test(credits, resamples=499, rng=rng).p_value)
    return tallies.rows()
