"""Scores: per-query values of systems on measures. Every statistic starts here."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class MeasureInfo:
    """What a reader must know of a measure to read its numbers.

    Attributes
    ----------
    name : str
        The full name that parses back to this measure, such as ``nDCG(dcg='exp-log2')@10``.
    label : str
        A short label for tables and figures, unique within a comparison.
    definition : mapping of str to str
        Every convention in words and values: 'formula', 'relevant', 'cutoff', 'undefined', 'source' …
    higher_is_better : bool
        The direction of better.
    diagnostic : bool
        Whether the measure says how far the others can be trusted, not how good a system is (Judged@10).
    """

    name: str
    label: str
    definition: Mapping[str, str] = field(default_factory=dict)
    higher_is_better: bool = True
    diagnostic: bool = False


@dataclass(frozen=True, slots=True)
class Scores:
    """Per-query values.

    Attributes
    ----------
    values : ndarray of float64, shape (Q, S, M)
        NaN means undefined (or absent from a score file).
    query_ids : tuple of str, length Q
        Ascending by code point.
    systems : tuple of str, length S
        In the order given by the user.
    measures : tuple of MeasureInfo, length M
        In the order given by the user.
    """

    values: NDArray[np.float64]
    query_ids: tuple[str, ...]
    systems: tuple[str, ...]
    measures: tuple[MeasureInfo, ...]

    def __post_init__(self) -> None:
        shape = (len(self.query_ids), len(self.systems), len(self.measures))
        if self.values.shape != shape:
            raise ValueError(f"values have shape {self.values.shape}, queries x systems x measures are {shape}")

    def defined(self) -> NDArray[np.bool_]:
        """Return which queries are defined for all systems, per measure, shape (Q, M): one n for every system."""
        return np.asarray(~np.isnan(self.values).any(axis=1), dtype=np.bool_)

    def means(self) -> dict[tuple[int, int], float | None]:
        """Return the mean of each (system, measure) over the queries that are defined for all systems.

        Sums are exactly rounded, so the order of queries changes nothing; None where no query is defined.
        """
        defined = self.defined()
        means: dict[tuple[int, int], float | None] = {}
        for s in range(len(self.systems)):
            for m in range(len(self.measures)):
                means[(s, m)] = exact_mean(self.values[defined[:, m], s, m])
        return means


def exact_mean(values: NDArray[np.float64], weights: NDArray[np.float64] | None = None) -> float | None:
    """Return the (weighted) mean by exactly rounded sums, which depend on no order; None without any weight.

    Parameters
    ----------
    values : ndarray of float64, shape (n,)
        Without NaN.
    weights : ndarray of float64, shape (n,), optional
        0 or more.

    Examples
    --------
    >>> exact_mean(np.array([0.1] * 10)), exact_mean(np.array([1.0, 0.0]), np.array([3.0, 1.0]))
    (0.1, 0.75)
    """
    total = float(len(values)) if weights is None else math.fsum(weights.tolist())
    products = values if weights is None else values * weights
    return math.fsum(products.tolist()) / total if total > 0 else None


@dataclass(frozen=True, slots=True)
class Queries:
    """The query table: attributes of queries, also of queries that were not judged.

    Attributes
    ----------
    query_ids : tuple of str, length N
        In the order of the file; distinct.
    columns : mapping of str to ndarray, each of shape (N,)
        float64 arrays for numeric columns (NaN where empty), object arrays of str or None for the others, named and
        ordered as in the file, without the id column.
    text : str or None
        The column that holds the query text.
    frequency : str or None
        The column that holds how often a query is asked.
    """

    query_ids: tuple[str, ...]
    columns: Mapping[str, NDArray[Any]]
    text: str | None = None
    frequency: str | None = None
