"""Values of measures from plain judgments and rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np
from hypothesis import settings
from numpy.typing import NDArray

from rankstats.conventions import Policies
from rankstats.measures import DECLARATIONS, Declaration, Measure, evaluate, parse_measures
from rankstats.tables import Judgments, Ranking, make_hits
from tests.tables.made import Grades, Row, judgments_of, ranking_of

brisk = settings(deadline=None, max_examples=30)
"""For properties of which every example evaluates many measures."""

OF_HITS: tuple[Declaration, ...] = tuple(d for d in DECLARATIONS if not d.needs and d.together is None)
"""The measures that need judgments and hits only, and have a value a query."""


def values_of(
    names: Sequence[str], judgments: Judgments, ranking: Ranking, policies: Policies | None = None
) -> NDArray[np.float64]:
    policies = policies or Policies()
    return evaluate(_parsed(tuple(names)), judgments, make_hits(judgments, ranking, policies), policies)


@cache
def _parsed(names: tuple[str, ...]) -> tuple[Measure, ...]:
    return parse_measures(names)


def table_of(
    names: Sequence[str], grades: Grades, rows: Sequence[Row], policies: Policies | None = None
) -> Mapping[str, Mapping[str, float]]:
    """Return the values by query and measure."""
    judgments = judgments_of(grades)
    values = values_of(names, judgments, ranking_of(rows), policies)
    return {
        query_id: dict(zip(names, row, strict=True))
        for query_id, row in zip(judgments.query_ids, values.tolist(), strict=True)
    }


def value_of(name: str, judged: Mapping[str, float], listed: Sequence[str], policies: Policies | None = None) -> float:
    """Return the value of one list of documents, best first."""
    rows = [("q", doc_id, float(-rank)) for rank, doc_id in enumerate(listed)]
    return table_of([name], {"q": judged}, rows, policies)["q"][name]


def values_of_grades(
    names: Sequence[str], grades: Sequence[float], *, not_returned: Sequence[float] = ()
) -> Mapping[str, float]:
    """Return the values of a list given by its grades, best rank first, beside judged documents not returned."""
    listed = [f"d{rank:03}" for rank in range(len(grades))]
    judged = dict(zip(listed, grades, strict=True)) | {f"z{i}": grade for i, grade in enumerate(not_returned)}
    return table_of(names, {"q": judged}, [("q", doc_id, float(-rank)) for rank, doc_id in enumerate(listed)])["q"]


def value_of_grades(name: str, grades: Sequence[float], *, not_returned: Sequence[float] = ()) -> float:
    """Return one value of `values_of_grades`."""
    return values_of_grades([name], grades, not_returned=not_returned)[name]
