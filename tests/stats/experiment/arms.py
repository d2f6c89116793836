"""Random arms of an experiment for the properties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from rankstats.stats import ArmPair, UnitMoments, aggregated_moments, mean_pair, ratio_pair, unit_moments

Floats = NDArray[np.float64]

KINDS = ("revenue", "converted", "counts", "normal", "negative", "constant", "tenths")
SCALES = st.sampled_from(["difference", "delta", "log", "fieller"])
LEVELS = st.sampled_from([0.001, 0.01, 0.05, 0.2, 0.5])
ALTERNATIVES = st.sampled_from(["two-sided", "greater", "less"])
REFERENCES = st.sampled_from(["t", "normal"])


@dataclass(frozen=True)
class Arms:
    """Rows of a control and a treatment: value; or numerator and denominator; and covariates after them."""

    control: Floats
    treatment: Floats
    ratio: bool

    @property
    def moments(self) -> tuple[UnitMoments, UnitMoments]:
        return unit_moments(*self.control.T), unit_moments(*self.treatment.T)

    @property
    def pair(self) -> ArmPair:
        return ratio_pair(*self.moments) if self.ratio else mean_pair(*self.moments)


def values(kind: str, rng: np.random.Generator, n: int) -> Floats:
    if kind == "revenue":
        return np.where(rng.random(n) < 0.3, rng.lognormal(2, 1.2, n), 0.0)
    if kind == "converted":
        return (rng.random(n) < 0.2).astype(float)
    if kind == "counts":
        return rng.poisson(3, n).astype(float)
    if kind == "negative":
        return -1 - rng.exponential(size=n)
    if kind == "constant":
        return np.full(n, 0.1)
    if kind == "tenths":
        return rng.integers(0, 11, n) / 10
    return rng.normal(1, 1, n)


@st.composite
def arms(draw: st.DrawFn, most: int = 60, ratio: bool | None = None, covariates: int = 0) -> Arms:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    of_ratio = draw(st.booleans()) if ratio is None else ratio
    parts = []
    for _ in range(2):
        n = draw(st.integers(2, most))
        columns = [values(draw(st.sampled_from(KINDS)), rng, n)]
        if of_ratio:
            columns.append(1.0 + rng.poisson(4, n))
        columns += [columns[0] * rng.normal() + rng.normal(size=n) for _ in range(covariates)]
        parts.append(np.stack(columns, axis=1))
    return Arms(*parts, of_ratio)


def same(moments: UnitMoments) -> UnitMoments:
    """Moments by way of plain numbers, as an aggregate file has them."""
    return aggregated_moments(moments.n.tolist(), moments.mean.tolist(), moments.covariance.tolist())


def fields(result: Any) -> dict[str, Any]:
    return {name: getattr(result, name) for name in result.__dataclass_fields__}
