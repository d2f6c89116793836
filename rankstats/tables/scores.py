"""Scores: per-query values of systems on measures. Every statistic starts here."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd


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
    aggregate : {'mean', 'sum', 'geometric mean', 'together'}
        How the values of queries become one number for a system. Values of a geometric mean are natural logarithms. A
        measure of all queries together, such as coverage, has no value a query; see `Scores.totals`.
    """

    name: str
    label: str
    definition: Mapping[str, str] = field(default_factory=dict)
    higher_is_better: bool = True
    diagnostic: bool = False
    aggregate: str = "mean"


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
    totals : ndarray of float64, shape (S, M), or None
        Values of the measures of all queries together, whose `values` are NaN; NaN for the other measures. None where
        there are no such measures.
    """

    values: NDArray[np.float64]
    query_ids: tuple[str, ...]
    systems: tuple[str, ...]
    measures: tuple[MeasureInfo, ...]
    totals: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        shape = (len(self.query_ids), len(self.systems), len(self.measures))
        if self.values.shape != shape:
            raise ValueError(f"values have shape {self.values.shape}, queries x systems x measures are {shape}")
        if self.totals is not None and self.totals.shape != shape[1:]:
            raise ValueError(f"totals have shape {self.totals.shape}, systems x measures are {shape[1:]}")

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

    def aggregates(self) -> dict[tuple[int, int], float | None]:
        """Return one number for each (system, measure) as the measure declares it, over the queries of `means`.

        The mean of the values, their sum (counts of documents), or the geometric mean of what their logarithms stand
        for (GMAP); None where no query is defined. A measure of all queries together (coverage) has its total.
        """
        defined = self.defined()
        aggregates = self.means()
        for (s, m), mean in aggregates.items():
            kind = self.measures[m].aggregate
            if kind == "together" and self.totals is not None:
                total = float(self.totals[s, m])
                aggregates[(s, m)] = None if math.isnan(total) else total
            elif mean is not None and kind == "geometric mean":
                aggregates[(s, m)] = math.exp(mean)
            elif mean is not None and kind == "sum":
                aggregates[(s, m)] = math.fsum(self.values[defined[:, m], s, m].tolist())
        return aggregates

    def to_dicts(self) -> list[dict[str, str | float | None]]:
        """Return one row a query, system and measure: query_id, system, measure and value, None where undefined.

        Examples
        --------
        >>> Scores(np.array([[[0.5]], [[np.nan]]]), ("q1", "q2"), ("a",), (MeasureInfo("AP", "AP"),)).to_dicts()[1]
        {'query_id': 'q2', 'system': 'a', 'measure': 'AP', 'value': None}
        """
        keys = ("query_id", "system", "measure", "value")
        return [
            dict(zip(keys, (query_id, system, info.name, None if math.isnan(value) else value), strict=True))
            for query_id, of_query in zip(self.query_ids, self.values.tolist(), strict=True)
            for system, of_system in zip(self.systems, of_query, strict=True)
            for info, value in zip(self.measures, of_system, strict=True)
        ]

    def to_frame(self) -> pd.DataFrame:
        """Return the rows of `to_dicts` as a pandas frame, whose values are float64 with NaN where undefined."""
        import pandas as pd  # noqa: PLC0415  slow to load and not needed for the report

        q, s, m = (axis.ravel() for axis in np.indices(self.values.shape))
        names = [info.name for info in self.measures]
        return pd.DataFrame(
            {
                "query_id": np.array(self.query_ids, object)[q],
                "system": np.array(self.systems, object)[s],
                "measure": np.array(names, object)[m],
                "value": self.values.ravel(),
            }
        )


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

    def rows_of(self, query_ids: Sequence[str]) -> NDArray[np.int64]:
        """Return the row of each query, shape (len(query_ids),); -1 where the table lacks it.

        Examples
        --------
        >>> Queries(("q2", "q1"), {}).rows_of(["q1", "q3"]).tolist()
        [1, -1]
        """
        place = {query_id: i for i, query_id in enumerate(self.query_ids)}
        return np.array([place.get(query_id, -1) for query_id in query_ids], dtype=np.int64)
