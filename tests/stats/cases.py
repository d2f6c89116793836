"""Random data sets for the properties, and the reference numbers of independent programs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from hypothesis import strategies as st
from numpy.typing import NDArray

from rankstats.stats import Differences, paired_differences

GOLDEN = Path(__file__).parent / "golden"


def golden(name: str) -> Any:
    """Return reference numbers of R and Python programs (inputs invented for them)."""
    return json.loads((GOLDEN / f"stats_{name}.json").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Case:
    """Values of a baseline and of some systems over n queries."""

    baseline: NDArray[np.float64]
    systems: NDArray[np.float64]
    weights: NDArray[np.float64] | None

    @property
    def differences(self) -> Differences:
        return paired_differences(self.baseline, self.systems, self.weights)


SCIPY_BEFORE_1_15 = tuple(int(part) for part in scipy.__version__.split(".")[:2]) < (1, 15)
"""The lowest allowed versions name some arguments otherwise."""

SCIPYS_NORMAL = "approx" if SCIPY_BEFORE_1_15 else "asymptotic"
SCIPYS_SEED = "random_state" if SCIPY_BEFORE_1_15 else "rng"

KINDS = ("tenths", "thirds", "reciprocal ranks", "normal", "sparse", "heavy", "constant")


def _values(kind: str, rng: np.random.Generator, shape: tuple[int, int]) -> NDArray[np.float64]:
    if kind == "tenths":
        return rng.integers(0, 11, shape) / 10
    if kind == "thirds":
        return rng.integers(0, 4, shape) / 3
    if kind == "reciprocal ranks":
        return 1 / rng.integers(1, 6, shape)
    if kind == "sparse":
        return np.where(rng.random(shape) < 0.15, rng.integers(-3, 6, shape) / 5, 0.0)
    if kind == "heavy":
        return rng.standard_t(2, shape)
    if kind == "constant":
        return np.full(shape, 0.1)
    return rng.normal(size=shape)


@st.composite
def cases(draw: st.DrawFn, most: int = 200, columns: int = 3, weights: bool = True) -> Case:
    n = draw(st.one_of(st.integers(2, 20), st.integers(2, most)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    baseline, systems = _values(draw(st.sampled_from(KINDS)), rng, (n, 1)), np.empty((n, columns))
    for column in range(columns):
        kind = draw(st.sampled_from(KINDS))
        systems[:, column] = baseline[:, 0] + _values(kind, rng, (n, 1))[:, 0] - draw(st.sampled_from([0.0, 0.1, 0.5]))
    if draw(st.booleans()):
        systems[rng.random(systems.shape) < 0.2] = np.nan
    if draw(st.booleans()):
        systems[:, 0] = baseline[:, 0]
    kind = draw(st.sampled_from(["none", "counts", "real"])) if weights else "none"
    of_queries = {"none": None, "counts": rng.integers(1, 50, n).astype(float), "real": rng.exponential(size=n)}[kind]
    return Case(baseline, systems, of_queries)


levels = st.sampled_from([0.001, 0.01, 0.05, 0.1, 0.2, 0.5])
alternatives = st.sampled_from(["two-sided", "greater", "less"])


def leaves_out_zero(low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether intervals exclude 0; NaN means that there is no interval."""
    return (low > 0) | (high < 0)
