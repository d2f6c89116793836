"""A baseline against several systems: the corrections' family-wise error, joint coverage, width and power."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankstats.comparison.significance import (
    DENSE_FROM,
    GUARDED,
    MAX_T_FROM,
    Tested,
    changed_queries,
    chosen_correction,
    correct,
    run_test,
)
from rankstats.plan import Plan
from rankstats.stats import Differences, adjust, flip_max_t
from tests.calibration.draws import draw, random_families, read_matrix, share

ALPHA, STRICT = 0.05, 0.01
MAX_T_RESAMPLES = 999
FAMILIES_AT_ONCE = 50
"""Families that share the sign patterns of the raw tests; the queries are drawn for each by itself."""

Floats = NDArray[np.float64]
Row = dict[str, Any]
Corrected = tuple[Floats, Floats | None, Floats | None]


@dataclass(slots=True)
class Tally:
    """What one correction did in each repetition."""

    smallest_p: list[float] = field(default_factory=list)
    covered: list[bool] = field(default_factory=list)
    found: list[float] = field(default_factory=list)
    widths: list[Floats] = field(default_factory=list)

    def add(self, corrected: Corrected, estimate: Floats, truth: Floats) -> None:
        """Count one family."""
        p, low, high = corrected
        self.smallest_p.append(float(np.nanmin(p)))
        self.found.append(float(np.mean((p <= ALPHA) & (estimate * truth > 0))))
        if low is not None and high is not None:
            self.covered.append(bool(np.all(covers(low, high, truth))))
            self.widths.append(high - low)

    def row(self, way: str) -> Row:
        """Return rates: of errors under a null hypothesis, else of coverage, width and power."""
        row: Row = {"repetitions": len(self.smallest_p)}
        if way == "as drawn":
            row |= {"power": float(np.mean(self.found))}
        else:
            smallest = np.array(self.smallest_p)
            row |= dict(zip(("rate_05", "se_05"), share(smallest <= ALPHA), strict=True))
            row |= dict(zip(("rate_01", "se_01"), share(smallest <= STRICT), strict=True))
        if self.covered:
            widths = np.concatenate(self.widths)
            bounded = np.isfinite(widths)
            row |= dict(zip(("joint_coverage", "se_coverage"), share(np.array(self.covered)), strict=True))
            row["mean_width"] = float(widths[bounded].mean()) if bounded.any() else None
            row["unbounded"] = float(np.mean(np.isinf(widths)))
        return row


def covers(low: Floats, high: Floats, truth: Floats) -> NDArray[np.bool_]:
    """Return which intervals hold the truth; where there is none (all differences 0) nothing wrong is claimed."""
    slack = 1e-9 * (1 + np.abs(truth))
    return np.asarray(np.isnan(low) | ((low <= truth + slack) & (high >= truth - slack)))


def family_rows(
    measure: str, way: str, n: int, comparisons: int, repetitions: int, rng: np.random.Generator
) -> list[Row]:
    """Return one row for every correction in one cell."""
    values = read_matrix(measure)
    tallies: dict[str, Tally] = {}
    plan = Plan(alpha=ALPHA, resamples=9999 if comparisons > 20 else 4999 if way == "as drawn" else 1999)
    for start in range(0, repetitions, FAMILIES_AT_ONCE):
        count = min(FAMILIES_AT_ONCE, repetitions - start)
        baselines, systems = random_families(rng, values, count, comparisons)
        sample = draw(rng, values, baselines.ravel(), systems.ravel(), n=n, way=way, joint=comparisons)
        size = np.full(count * comparisons, comparisons)
        plan = replace(plan, seed=int(rng.integers(2**31)))
        flips = run_test("randomisation", sample.differences, plan, size)
        t = run_test("t", sample.differences, plan, size)
        for first in range(0, count * comparisons, comparisons):
            columns = np.arange(first, first + comparisons)
            family = sample.differences.select(columns)
            short = replace(plan, resamples=MAX_T_RESAMPLES, seed=int(rng.integers(2**31)))
            for name, corrected in corrections(family, flips.select(columns), t.select(columns), short).items():
                tallies.setdefault(name, Tally()).add(corrected, family.mean, sample.truth[columns])
    return [{"correction": name} | tally.row(way) for name, tally in tallies.items()]


def corrections(family: Differences, flips: Tested, t: Tested, plan: Plan) -> dict[str, Corrected]:
    """Return p_adjusted and simultaneous intervals of every correction; the default as the comparison chooses it."""
    default = correct(chosen_correction(plan, family), flips, family, plan)
    by_name = default
    # by name the members with few changed queries take part as well
    if family.n_rows < MAX_T_FROM or bool(np.any(changed_queries(family) < DENSE_FROM)):
        by_name = correct("bootstrap-max-t", flips, family, replace(plan, correction="bootstrap-max-t"))
    guarded = correct(GUARDED, flips, family, plan)
    joint = flip_max_t(family, alpha=plan.alpha, resamples=plan.resamples, rng=plan.seed)
    return {
        "default": (default.p_adjusted, default.low, default.high),
        "bootstrap max-T": (by_name.p_adjusted, by_name.low, by_name.high),
        "Bonferroni, flips": (flips.p_bonferroni, flips.bonferroni_low, flips.bonferroni_high),
        "Bonferroni, guarded": (guarded.p_adjusted, guarded.low, guarded.high),
        "Holm, flips": (adjust(flips.p_value, "holm"), None, None),
        "Bonferroni, t": (t.p_bonferroni, t.bonferroni_low, t.bonferroni_high),
        "flip max-T": (joint.p_adjusted, joint.adjusted_low, joint.adjusted_high),
        "flip max-T, step-down": (joint.p_stepdown, None, None),
    }
