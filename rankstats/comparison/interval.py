"""Intervals and numbers of a comparison, as report.json holds them."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Interval:
    """An interval of a number; an unbounded end is None.

    Attributes
    ----------
    low, high : float or None
        The ends.
    level : float
        Confidence level as a fraction.
    method : str
        How it was made.
    unbounded : {None, 'low', 'high', 'both'}
        Which ends are unbounded.
    """

    low: float | None
    high: float | None
    level: float
    method: str
    unbounded: str | None = None

    @classmethod
    def from_ends(cls, low: float, high: float, level: float, method: str) -> Interval | None:
        """Return the interval of two ends: NaN ends give None, infinite ends are unbounded."""
        if math.isnan(low) or math.isnan(high):
            return None
        open_ends = (math.isinf(low), math.isinf(high))
        unbounded = {(True, True): "both", (True, False): "low", (False, True): "high"}.get(open_ends)
        return cls(
            None if open_ends[0] else float(low), None if open_ends[1] else float(high), level, method, unbounded
        )

    @property
    def ends(self) -> tuple[float, float]:
        """The ends as numbers, infinite where unbounded."""
        return (-math.inf if self.low is None else self.low, math.inf if self.high is None else self.high)

    def leaves_out_zero(self) -> bool:
        """Whether 0 lies outside."""
        low, high = self.ends
        return low > 0 or high < 0


def defined(value: float) -> float | None:
    """Return a number as Python holds it, or None where it is not finite."""
    return float(value) if math.isfinite(value) else None
