"""Which units a part of the data holds, in little space: enough to tell whether two parts have units in common."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankstats.stats.poisson_bootstrap import unit_keys

Words = NDArray[np.uint64]

MOST_KEPT = 1 << 14
"""Hashes that are kept: all of them up to so many units, the smallest above."""

_SALT = 0x756E6974
_SPACE = 2.0**64


@dataclass(frozen=True, slots=True, eq=False)
class UnitSketch:
    """The smallest hashes of a set of units (a bottom-k sketch).

    Attributes
    ----------
    n : int
        Units.
    smallest : ndarray of uint64, ascending
        All hashes where there are at most 16,384 units, else the 16,384 smallest.
    """

    n: int
    smallest: Words

    @property
    def complete(self) -> bool:
        """Whether all hashes are held."""
        return self.n == len(self.smallest)

    @property
    def reach(self) -> float:
        """Share of all possible hashes that lie within the sketch: 1 where it is complete."""
        return 1.0 if self.complete else (float(self.smallest[-1]) + 1) / _SPACE

    def __add__(self, other: UnitSketch) -> UnitSketch:
        """Return the sketch of the units of both, which have none in common."""
        kept = np.union1d(self.smallest, other.smallest)[:MOST_KEPT]
        return UnitSketch(self.n + other.n, kept)


@dataclass(frozen=True, slots=True)
class SharedUnits:
    """Units that two sets have in common.

    Attributes
    ----------
    found : int
        Common units among the hashes that both sketches reach.
    estimate : float
        Estimated number of common units: found over reach.
    reach : float
        Share of the units that are compared: m common units all stay unseen with probability (1 − reach)**m; 1 where
        all are compared.
    """

    found: int
    estimate: float
    reach: float


def unit_sketch(unit_ids: ArrayLike) -> UnitSketch:
    """Return the sketch of a set of units.

    Parameters
    ----------
    unit_ids : array_like, shape (n,)
        Ids, text or whole numbers; an id that occurs twice is one unit.

    References
    ----------
    Bar-Yossef, Jayram, Kumar, Sivakumar & Trevisan 2002 (the k smallest hashes); Beyer et al. 2007 (intersections).

    Examples
    --------
    >>> days = unit_sketch(["u1", "u2"]), unit_sketch(["u2", "u3"])
    >>> shared_units(*days)
    SharedUnits(found=1, estimate=1.0, reach=1.0)
    """
    ids = np.asarray(unit_ids)
    keys = np.unique(unit_keys(ids, len(ids), _SALT)[0])
    return UnitSketch(len(keys), keys[:MOST_KEPT])


def shared_units(first: UnitSketch, second: UnitSketch) -> SharedUnits:
    """Count the units that two sets have in common.

    A common unit whose hash both sketches reach is in both, so it is found for certain. Two sets of at most 16,384
    units are compared in full; else the share `reach` of the units is, chosen by their hashes.

    Examples
    --------
    >>> sets = unit_sketch(np.arange(40_000)), unit_sketch(np.arange(39_000, 90_000))
    >>> found = shared_units(*sets)
    >>> 200 < found.found < 450, 700 < found.estimate < 1300, round(found.reach, 1)
    (True, True, 0.3)
    """
    reach = min(first.reach, second.reach)
    common = np.intersect1d(first.smallest, second.smallest, assume_unique=True)
    return SharedUnits(len(common), len(common) / reach, reach)
