"""Evidence: what a comparison starts from, wherever the numbers came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rankstats.comparison.system import System

if TYPE_CHECKING:
    from rankstats.tables import Hits, Items, Judgments, Queries, Scores, Source


@dataclass(frozen=True, slots=True)
class Evidence:
    """Scores and what is known beside them.

    Attributes
    ----------
    scores : Scores
        Per-query values.
    systems : tuple of System
        Names and sources, in the order of the scores.
    judgments : Judgments or None
        None for ready-made scores.
    hits : tuple of Hits
        One a system, in the order of the scores; empty for ready-made scores.
    queries : Queries or None
        The query table.
    row : ndarray of int64, shape (Q,)
        Row of the query table for each scored query, -1 where it has none.
    weights : ndarray of float64, shape (Q,), or None
        Query weights; None for equal weights.
    weights_name : str or None
        The column they came from.
    clusters : ndarray of int64, shape (Q,), or None
        Cluster of each query; None where every query stands for itself.
    clusters_name : str or None
        The column they came from.
    items : Items or None
        The item table.
    reversed_ties : ndarray of float64, shape (Q, S, M), or None
        The values when the order inside each tie of scores is turned round; None where no run ties or nobody asked.
    audit : mapping
        What was read and left out, as report.json holds it.
    sources : tuple of Source
        The files.
    """

    scores: Scores
    systems: tuple[System, ...]
    judgments: Judgments | None
    hits: tuple[Hits, ...]
    queries: Queries | None
    row: NDArray[np.int64]
    weights: NDArray[np.float64] | None
    weights_name: str | None
    audit: Mapping[str, Any]
    sources: tuple[Source, ...]
    clusters: NDArray[np.int64] | None = None
    clusters_name: str | None = None
    reversed_ties: NDArray[np.float64] | None = None
    items: Items | None = None

    @property
    def query_weights(self) -> NDArray[np.float64]:
        """The weights, 1 for every query when none are given."""
        return np.ones(len(self.scores.query_ids)) if self.weights is None else self.weights

    def texts(self) -> tuple[str | None, ...]:
        """Return the query texts of the scored queries."""
        if self.queries is None or self.queries.text is None:
            return (None,) * len(self.scores.query_ids)
        column = self.queries.columns[self.queries.text].tolist()
        return tuple(None if r < 0 or column[r] is None else str(column[r]) for r in self.row.tolist())
