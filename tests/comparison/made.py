"""Made evidence for tests: scores, segments and weights without files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from rankstats.comparison import Evidence
from rankstats.comparison.result import System
from rankstats.tables import MeasureInfo, Queries, Scores


def evidence_of(
    values: ArrayLike,
    *,
    systems: Sequence[str] | None = None,
    measures: Sequence[str] | None = None,
    columns: Mapping[str, Sequence[object]] | None = None,
    weights: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    lower_is_better: Sequence[str] = (),
    query_ids: Sequence[str] | None = None,
    text: str | None = None,
    frequency: str | None = None,
) -> Evidence:
    """Return evidence for values of shape (queries, systems) or (queries, systems, measures)."""
    array = np.asarray(values, dtype=float)
    if array.ndim == 2:
        array = array[:, :, None]
    n, s, m = array.shape
    ids = tuple(query_ids or (f"q{i:05d}" for i in range(n)))
    names = tuple(systems or "abcdefghij"[:s])
    infos = tuple(
        MeasureInfo(name, name, {"formula": "made"}, name not in lower_is_better)
        for name in (measures or [f"m{i}" for i in range(m)])
    )
    queries = None
    if columns is not None:
        arrays = {
            name: np.array(column, dtype=float if all(isinstance(x, int | float) for x in column) else object)
            for name, column in columns.items()
        }
        queries = Queries(ids, arrays, text, frequency)
    scores = Scores(array, ids, names, infos)
    defined = scores.defined()
    return Evidence(
        scores=scores,
        systems=tuple(System(name, "made") for name in names),
        judgments=None,
        hits=(),
        queries=queries,
        row=np.arange(n) if queries is not None else np.full(n, -1),
        weights=None if weights is None else np.asarray(weights, dtype=float),
        weights_name=None if weights is None else "w",
        audit={
            "queries": {
                "judged": n,
                "scored": int(defined.any(axis=1).sum()),
                "without_relevant": 0,
                "missing": {name: [] for name in names},
                "unknown": dict.fromkeys(names, 0),
            },
            "rows": {"judgments": 0, "runs": {}},
            "duplicates": {"judgments": 0, "documents": {}},
            "ties": {},
            "unjudged_at": {},
            "undefined": {info.name: int((~defined[:, i]).sum()) for i, info in enumerate(infos)},
            "query_table": None,
        },
        sources=(),
        clusters=None if clusters is None else np.asarray(clusters, dtype=np.int64),
        clusters_name=None if clusters is None else "user",
    )
