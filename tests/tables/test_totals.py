"""Values of all queries together beside per-query values."""

from __future__ import annotations

import numpy as np
import pytest

from rankstats.tables import MeasureInfo, Scores

SYSTEMS = ("one", "two")
MEASURES = (MeasureInfo("P@1", "P@1"), MeasureInfo("Coverage@1", "Coverage@1", aggregate="together"))
VALUES = np.array([[[0.0, np.nan], [1.0, np.nan]], [[1.0, np.nan], [1.0, np.nan]]])


def test_the_total_stands_for_the_mean() -> None:
    totals = np.array([[np.nan, 0.25], [np.nan, np.nan]])
    scores = Scores(VALUES, ("q1", "q2"), SYSTEMS, MEASURES, totals)
    assert scores.aggregates() == {(0, 0): 0.5, (0, 1): 0.25, (1, 0): 1.0, (1, 1): None}
    assert scores.means() == {(0, 0): 0.5, (0, 1): None, (1, 0): 1.0, (1, 1): None}


def test_without_totals_there_is_none() -> None:
    scores = Scores(VALUES, ("q1", "q2"), SYSTEMS, MEASURES)
    assert scores.aggregates()[(0, 1)] is None


def test_totals_are_one_a_system_and_measure() -> None:
    with pytest.raises(ValueError, match=r"totals have shape \(2,\), systems x measures are \(2, 2\)"):
        Scores(VALUES, ("q1", "q2"), SYSTEMS, MEASURES, np.zeros(2))
