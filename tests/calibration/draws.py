"""Samples of queries from matrices of real per-query values, of which the true differences are known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankstats.stats import Differences, paired_differences
from tests.shared import shared

MATRICES = {
    "AP": "adhoc8_ap",
    "P@10": "adhoc8_p10",
    "RR": "adhoc8_rr",
    "nDCG@20": "web2010_ndcg20",
    "ERR@20": "web2010_err20",
}
"""Measures and the matrices (queries × systems) that hold them."""

WAYS = ("centred", "swapped", "as drawn")
"""What is done to the differences: two kinds of null hypothesis, and none."""

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Sample:
    """Differences of n drawn queries, one column a comparison, and what is true of each column.

    Attributes
    ----------
    differences : Differences
        n queries, c columns.
    population : ndarray, shape (queries, c)
        The differences that were drawn from; symmetric about 0, and so all 0, under swapping.
    """

    differences: Differences
    population: Floats

    @property
    def truth(self) -> Floats:
        """True mean difference of each column."""
        return np.asarray(self.population.mean(axis=0))


def read_matrix(measure: str) -> Floats:
    """Return values, shape (queries, systems)."""
    path = shared(f"data/ir/perquery-matrices/{MATRICES[measure]}.csv")
    return np.loadtxt(path, delimiter=",", skiprows=1)


def random_pairs(rng: np.random.Generator, values: Floats, count: int) -> tuple[Codes, Codes]:
    """Return `count` pairs of systems that differ on some query."""
    kind = np.unique(values, axis=1, return_inverse=True)[1].ravel()
    first = rng.integers(0, values.shape[1], count)
    second = rng.integers(0, values.shape[1], count)
    while np.any(equal := kind[first] == kind[second]):
        second[equal] = rng.integers(0, values.shape[1], int(equal.sum()))
    return first, second


def random_families(rng: np.random.Generator, values: Floats, count: int, size: int) -> tuple[Codes, Codes]:
    """Return baselines and systems, shape (count, size): in each row one random baseline and `size` other systems."""
    kind = np.unique(values, axis=1, return_inverse=True)[1].ravel()
    systems = np.empty((count, size), dtype=np.int64)
    baselines = rng.integers(0, values.shape[1], count)
    for row, baseline in enumerate(baselines):
        others = np.flatnonzero(kind != kind[baseline])
        # a copy of the baseline, if there is one, is replaced by another system once more
        chosen = rng.permutation(others)
        systems[row] = np.resize(chosen, size)
    return np.repeat(baselines[:, None], size, axis=1), systems


def draw(
    rng: np.random.Generator, values: Floats, baselines: Codes, systems: Codes, *, n: int, way: str, joint: int = 1
) -> Sample:
    """Draw n queries with replacement for every `joint` columns.

    Centred differences have their population mean taken off. Swapped ones have the values of the two systems exchanged
    with probability ½ on each query, in all `joint` columns together.
    """
    groups = len(baselines) // joint
    rows = np.repeat(rng.integers(0, len(values), (n, groups)), joint, axis=1)
    before, after = values[rows, baselines], values[rows, systems]
    population = values[:, systems] - values[:, baselines]
    if way == "centred":
        mean = population.mean(axis=0)
        return Sample(paired_differences(np.zeros(before.shape), after - before - mean), population - mean)
    if way == "swapped":
        swap = np.repeat(rng.integers(0, 2, (n, groups)) == 1, joint, axis=1)
        before, after = np.where(swap, after, before), np.where(swap, before, after)
        population = np.zeros((1, len(systems)))
    return Sample(paired_differences(before, after), population)


def draw_systems(rng: np.random.Generator, values: Floats, *, n: int, size: int, way: str) -> tuple[Floats, Floats]:
    """Return values of `size` random systems on n drawn queries, shape (n, size), and their true means.

    Swapped: the systems' values are permuted within each query.
    """
    chosen = values[:, rng.permutation(values.shape[1])[:size]]
    truth = chosen.mean(axis=0)
    drawn = chosen[rng.integers(0, len(values), n)]
    if way == "centred":
        return drawn - truth, np.zeros(size)
    if way == "swapped":
        return rng.permuted(drawn, axis=1), np.zeros(size)
    return drawn, truth


def median_set(population: Floats) -> tuple[Floats, Floats]:
    """Return the smallest and the largest median of each column: they differ where the number of rows is even."""
    ordered, n = np.sort(population, axis=0), len(population)
    return ordered[(n - 1) // 2], ordered[n // 2]


def pseudo_median_set(population: Floats) -> tuple[Floats, Floats]:
    """Return the smallest and the largest median of the average of two independent draws from each column."""
    n, columns = population.shape
    averages = (population[:, None, :] + population[None, :, :]) / 2
    return median_set(averages.reshape(n * n, columns))


def share(hits: NDArray[np.bool_]) -> tuple[float, float]:
    """Return a share and its Monte Carlo standard error."""
    rate = float(np.mean(hits))
    return rate, float(np.sqrt(rate * (1 - rate) / len(hits)))
