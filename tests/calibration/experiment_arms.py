"""Simulated experiments read once: revenue, conversions, ratios, covariates, quantiles, several arms, margins."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankstats.stats import (
    ArmComparison,
    ArmPair,
    adjust,
    arm_noninferiority,
    arm_quantiles,
    bootstrap_quantiles,
    compare_arms,
    compare_proportions,
    cuped,
    mean_pair,
    poisson_bootstrap,
    poisson_sums,
    quantile_pair,
    ratio_pair,
    regression_adjustment,
    segment_effects,
    stack_moments,
    unit_moments,
    unit_permutation_test,
    winsorising_cap,
)
from tests.calibration.draws import share

ALPHA = 0.05
VALUES_AT_ONCE = 1 << 20
RESAMPLED = 10
"""One repetition in so many is resampled."""

Floats = NDArray[np.float64]
Row = dict[str, Any]


@dataclass(slots=True)
class Tally:
    """What one method said in each repetition."""

    p: list[Floats] = field(default_factory=list)
    ends: list[tuple[Floats, Floats]] = field(default_factory=list)
    estimates: list[Floats] = field(default_factory=list)

    def add(self, p: Any, low: Any = None, high: Any = None, estimate: Any = None) -> None:
        """Count some repetitions."""
        self.p.append(np.atleast_1d(np.asarray(p, dtype=float)))
        if low is not None:
            self.ends.append((np.atleast_1d(low), np.atleast_1d(high)))
        if estimate is not None:
            self.estimates.append(np.atleast_1d(estimate))

    def add_result(self, result: Any) -> None:
        """Count the columns of a result."""
        self.add(result.p_value, result.low, result.high, result.estimate)

    def row(self, truth: float | None, width: float | None) -> tuple[Row, float | None]:
        """Return rates with Monte Carlo errors, and the mean width."""
        p = np.concatenate(self.p)
        row: Row = {"repetitions": len(p)}
        # nothing is rejected where nothing is defined
        row |= dict(zip(("rejects", "se_rejects"), share(np.nan_to_num(p, nan=1.0) <= ALPHA), strict=True))
        mean_width = None
        if self.ends:
            low, high = (np.concatenate(side) for side in zip(*self.ends, strict=True))
            known = ~np.isnan(low)
            if truth is not None:
                inside = (low[known] <= truth) & (high[known] >= truth)
                row |= dict(zip(("coverage", "se_coverage"), share(inside), strict=True))
            bounded = known & np.isfinite(low) & np.isfinite(high)
            if bounded.any():
                mean_width = float(np.mean(high[bounded] - low[bounded]))
                row["width"] = mean_width / (width or mean_width)
        if self.estimates and truth is not None:
            estimates = np.concatenate(self.estimates)
            estimates = estimates[~np.isnan(estimates)]
            if estimates.std() > 0:
                row["bias"] = float((estimates.mean() - truth) / estimates.std())
                row["se_bias"] = float(1 / np.sqrt(len(estimates)))
        return row, mean_width


@dataclass(slots=True)
class Tallies:
    """Tallies by method, in the order of their first appearance; true effects by scale."""

    truth: dict[str, float]
    by_method: dict[str, tuple[Tally, str]] = field(default_factory=dict)

    def of(self, method: str, scale: str = "difference") -> Tally:
        return self.by_method.setdefault(method, (Tally(), scale))[0]

    def rows(self) -> list[Row]:
        rows, widths = [], {}
        for method, (tally, scale) in self.by_method.items():
            row, width = tally.row(self.truth.get(scale), widths.get(scale))
            widths.setdefault(scale, width)
            rows.append({"method": method} | row)
        return rows


def pieces(n: int, repetitions: int) -> Iterator[int]:
    """Yield numbers of repetitions that fit into memory together."""
    size = max(1, min(repetitions, VALUES_AT_ONCE // n))
    for start in range(0, repetitions, size):
        yield min(size, repetitions - start)


def spending(rng: np.random.Generator, shape: tuple[int, ...], lift: float = 1.0) -> Floats:
    """Revenue of users: one in five buys, for a log-normal sum."""
    return np.where(rng.random(shape) < 0.2, lift * rng.lognormal(3.0, 1.0, shape), 0.0)


MEAN_SPENDING = 0.2 * float(np.exp(3.5))


def revenue(rng: np.random.Generator, n: int, setting: str, repetitions: int) -> list[Row]:
    """Skewed revenue with many zeros: means, and relative effects."""
    lift = 1.2 if setting.endswith("+20 %") else 1.0
    sizes = (round(1.8 * n), round(0.2 * n)) if setting.startswith("90/10") else (n, n)
    tallies = Tallies({"difference": (lift - 1) * MEAN_SPENDING, "relative": lift - 1})
    for count in pieces(max(sizes), repetitions):
        control, treatment = spending(rng, (sizes[0], count)), spending(rng, (sizes[1], count), lift)
        pair = mean_pair(unit_moments(control), unit_moments(treatment))
        tallies.of("Welch").add_result(compare_arms(pair))
        for scale in ("delta", "log", "fieller"):
            tallies.of(scale, "relative").add_result(compare_arms(pair, scale=scale))
        for column in range(0, count, RESAMPLED):
            before, after = control[:, column], treatment[:, column]
            cap = winsorising_cap([before, after], 0.99)
            capped = mean_pair(unit_moments(cap.apply(before)), unit_moments(cap.apply(after)))
            # what is left after capping is another, smaller effect
            tallies.of("Welch, winsorised at .99", "capped").add_result(compare_arms(capped))
            if n <= 1000:
                _resample(tallies, rng, before, after)
    return tallies.rows()


def _resample(tallies: Tallies, rng: np.random.Generator, before: Floats, after: Floats) -> None:
    tallies.of("permutation").add_result(unit_permutation_test(before, after, resamples=499, rng=rng))
    seed = int(rng.integers(2**31))
    sums = [
        poisson_sums(np.arange(first, first + len(values)), values, resamples=499, seed=seed)
        for first, values in ((0, before), (len(before), after))
    ]
    tallies.of("Poisson bootstrap").add_result(poisson_bootstrap(*sums))


def conversions(rng: np.random.Generator, n: int, setting: str, repetitions: int) -> list[Row]:
    """One unit in a hundred converts."""
    rates = (0.01, 0.013 if setting != "no effect" else 0.01)
    tallies = Tallies({"difference": rates[1] - rates[0]})
    before, after = (rng.binomial(n, rate, repetitions) for rate in rates)
    ours = compare_proportions(before, n, after, n)
    tallies.of("score (χ²)").add_result(ours)
    tallies.of("Fisher").add(ours.p_fisher)
    tallies.of("Yates").add(ours.p_corrected)
    # an interval without a p-value: whether it leaves out 0
    for name in ("wald", "newcombe"):
        low, high = getattr(ours, f"{name}_low"), getattr(ours, f"{name}_high")
        tallies.of(name.capitalize()).add(np.where((low > 0) | (high < 0), 0.0, 1.0), low, high)
    return tallies.rows()


def clicks_of_users(rng: np.random.Generator, shape: tuple[int, ...], lift: float = 1.0) -> tuple[Floats, Floats]:
    """Clicks and impressions of users: those who see more click less often, and users differ."""
    activity = rng.gamma(1.0, 1.0, shape)
    shown = 1.0 + rng.poisson(8 * activity)
    rate = np.clip(lift * rng.beta(2, 10, shape) / np.sqrt(0.5 + activity), 0, 1)
    return rng.binomial(shown.astype(np.int64), rate).astype(np.float64), shown


@cache
def true_ratio(lift: float) -> float:
    """Return the ratio of very many users; the same users for every lift, so that its noise is common to all."""
    clicks, shown = clicks_of_users(np.random.default_rng(1), (4_000_000,), lift)
    return float(clicks.sum() / shown.sum())


def ratios(rng: np.random.Generator, n: int, setting: str, repetitions: int) -> list[Row]:
    """Clicks over impressions, correlated within users: the delta method, and rows taken as units."""
    lift = 1.1 if setting != "no effect" else 1.0
    true = (true_ratio(1.0), true_ratio(lift))
    tallies = Tallies({"difference": true[1] - true[0], "relative": true[1] / true[0] - 1})
    for count in pieces(n, repetitions):
        arms = [clicks_of_users(rng, (n, count), factor) for factor in (1.0, lift)]
        pair = ratio_pair(*(unit_moments(*arm) for arm in arms))
        tallies.of("delta method").add_result(compare_arms(pair))
        tallies.of("delta method, relative", "relative").add_result(compare_arms(pair, scale="fieller"))
        naive = compare_proportions(*(part.sum(axis=0) for arm in arms for part in arm))
        tallies.of("impressions as units").add_result(naive)
    return tallies.rows()


def _past_and_outcome(
    rng: np.random.Generator, shape: tuple[int, int], setting: str, arm: int
) -> tuple[Floats, Floats]:
    past = rng.lognormal(0, 1, shape) if setting == "skewed" else rng.normal(3, 1, shape)
    slope = 0.0 if setting == "unrelated" else 1.6 if setting.startswith("slopes") and arm else 0.8
    noise = rng.exponential(0.6, shape) if setting == "skewed" else rng.normal(0, 0.6, shape)
    centre = np.exp(0.5) if setting == "skewed" else 3.0
    return slope * (past - centre) + noise + 0.1 * arm, past


def covariates(rng: np.random.Generator, n: int, setting: str, repetitions: int) -> list[Row]:
    """A covariate from before the experiment; the true effect is 0.1 on a mean of 0."""
    sizes = (round(1.6 * n), round(0.4 * n)) if setting.endswith("80/20") else (n, n)
    tallies = Tallies({"difference": 0.1})
    for count in pieces(max(sizes), repetitions):
        arms = [unit_moments(*_past_and_outcome(rng, (size, count), setting, arm)) for arm, size in enumerate(sizes)]
        adjusted = cuped(*arms)
        tallies.of("raw").add_result(_null_at(adjusted.raw, 0.1))
        tallies.of("CUPED").add_result(_null_at(adjusted.adjusted, 0.1))
        for slopes in ("common", "separate"):
            pair = regression_adjustment(*arms, slopes=slopes).adjusted
            tallies.of(f"regression, {slopes} slopes").add_result(_null_at(pair, 0.1))
    return tallies.rows()


def _null_at(pair: ArmPair, effect: float) -> ArmComparison:
    """Compare arms, p being that of the true effect: `rejects` is the level although there is an effect."""
    moved = ArmPair(
        **{name: getattr(pair, name) for name in pair.__dataclass_fields__ if name != "treatment"},
        treatment=pair.treatment - effect,
    )
    result, level = compare_arms(pair), compare_arms(moved)
    return ArmComparison(
        **{name: getattr(result, name) for name in result.__dataclass_fields__ if name != "p_value"},
        p_value=level.p_value,
    )


def _latencies(rng: np.random.Generator, n: int) -> tuple[Floats, NDArray[np.int64]]:
    """Page loads of n users with a connection each."""
    loads = 1 + rng.poisson(4 * rng.gamma(1.0, 1.0, n))
    users = np.repeat(np.arange(n), loads)
    return rng.lognormal(0, 0.5, n)[users] * rng.lognormal(0, 0.4, len(users)), users


def clustered_quantiles(rng: np.random.Generator, n: int, setting: str, repetitions: int) -> list[Row]:
    """Quantiles of page loads; users have connections of their own."""
    level = {"median": 0.5, "p90": 0.9}[setting]
    tallies = Tallies({"difference": 0.0})
    for repetition in range(repetitions):
        arms = [_latencies(rng, n) for _ in range(2)]
        pair = quantile_pair(*(arm_quantiles(*arm, levels=level) for arm in arms))
        tallies.of("delta method").add_result(compare_arms(pair))
        alone = quantile_pair(*(arm_quantiles(values, levels=level) for values, _ in arms))
        tallies.of("page loads as units").add_result(compare_arms(alone))
        if repetition % 2 == 0 and n <= 100:
            ids = (arms[0], (arms[1][0], arms[1][1] + n))
            seed = int(rng.integers(2**31))
            tallies.of("bootstrap").add_result(bootstrap_quantiles(*ids, levels=level, resamples=299, seed=seed))
    return tallies.rows()


def several_arms(rng: np.random.Generator, n: int, setting: str, repetitions: int) -> list[Row]:
    """Treatments against one control, no effects: share of experiments with any rejection."""
    treatments = int(setting.split(maxsplit=1)[0]) - 1
    tallies = Tallies({})
    for count in pieces(n, repetitions):
        control = unit_moments(spending(rng, (n, count)))
        results = [compare_arms(mean_pair(control, unit_moments(spending(rng, (n, count))))) for _ in range(treatments)]
        p = np.array([result.p_value for result in results])
        for correction in ("none", "bonferroni", "holm", "hommel", "bh"):
            adjusted = [np.min(adjust(p[:, column], correction)) for column in range(count)]
            tallies.of(correction).add(adjusted)
    return tallies.rows()


def several_metrics(rng: np.random.Generator, n: int, setting: str, repetitions: int) -> list[Row]:
    """Skewed metrics that go together, some arms, no effects: share of experiments with any rejection."""
    metrics, arms = (int(part.split()[0]) for part in setting.split(", "))
    tallies = Tallies({})
    for _ in range(repetitions):
        # what a user spends in all goes into every metric, beside something of the metric's own
        values = [spending(rng, (n, 1)) + spending(rng, (n, metrics)) for _ in range(arms)]
        control, *treatments = map(unit_moments, values)
        p = np.concatenate([compare_arms(mean_pair(control, arm)).p_value for arm in treatments])
        for correction in ("none", "bonferroni", "holm", "hommel", "bh"):
            tallies.of(correction).add([np.min(adjust(p, correction))])
    return tallies.rows()


def margins(rng: np.random.Generator, n: int, setting: str, repetitions: int) -> list[Row]:
    """The truth lies on the margin of non-inferiority, 5 % below the control."""
    tallies = Tallies({})
    margin = 0.05 * (MEAN_SPENDING if setting == "difference" else 1.0)
    for count in pieces(n, repetitions):
        arms = [unit_moments(spending(rng, (n, count), lift)) for lift in (1.0, 0.95)]
        result = arm_noninferiority(mean_pair(*arms), margin, scale=setting)
        tallies.of("non-inferiority").add(result.p_value)
    return tallies.rows()


def segments(rng: np.random.Generator, n: int, setting: str, repetitions: int) -> list[Row]:
    """Revenue in segments that differ in level and share one effect: does the effect differ between them?"""
    count = int(setting.split(maxsplit=1)[0])
    levels = 1.0 + np.arange(count)
    tallies = Tallies({"difference": 0.0})
    for _ in range(repetitions):
        arms = [
            stack_moments([unit_moments(level * rng.lognormal(0, 0.8, n) + effect) for level in levels])
            for effect in (0.0, 0.2)
        ]
        result = segment_effects(mean_pair(*arms))
        tallies.of("Cochran's Q").add(result.q_p_value)
        tallies.of("smallest p of the pairs, Holm").add(result.p_adjusted.min())
        tallies.of("first two").add(result.p_value[0], result.low[0], result.high[0], result.estimate[0])
    return tallies.rows()
