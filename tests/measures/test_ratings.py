"""Errors of predicted ratings, against scikit-learn and by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from sklearn.metrics import mean_absolute_error, root_mean_squared_error

from rankstats.conventions import Policies
from rankstats.errors import MeasureError
from rankstats.measures import evaluate, evaluate_together, exchangeable, parse_measure, parse_measures
from rankstats.tables import make_hits
from tests.tables.made import Row, collections, judgments_of, patient, ranking_of

NAMES = ["RMSE", "MAE", "RMSE(over='pairs')", "MAE(over='pairs')"]
MEASURES = parse_measures(NAMES)


@patient
@given(collections())
def test_scikit_learn(made: tuple[dict[str, dict[str, float]], list[Row]]) -> None:
    grades, rows = made
    judgments = judgments_of(grades)
    hits = make_hits(judgments, ranking_of(rows), Policies())
    values = evaluate(MEASURES, judgments, hits, Policies(no_relevant="zero"))
    totals = evaluate_together(MEASURES, judgments, [hits])
    assert totals is not None
    pairs = [(q, grades[q][d], score) for q, d, score in rows if d in grades.get(q, {})]
    for q, query_id in enumerate(judgments.query_ids):
        of_query = [(grade, score) for other, grade, score in pairs if other == query_id]
        expected = [math.nan, math.nan]
        if of_query:
            true, predicted = zip(*of_query, strict=True)
            expected = [root_mean_squared_error(true, predicted), mean_absolute_error(true, predicted)]
        assert values[q, :2].tolist() == pytest.approx(expected, abs=1e-12, nan_ok=True)
    assert np.isnan(values[:, 2:]).all()
    assert np.isnan(totals[0, :2]).all()
    if pairs:
        _, true, predicted = zip(*pairs, strict=True)
        expected = [root_mean_squared_error(true, predicted), mean_absolute_error(true, predicted)]
        assert totals[0, 2:].tolist() == pytest.approx(expected, abs=1e-12)
    else:
        assert np.isnan(totals).all()


def test_by_hand() -> None:
    judgments = judgments_of({"u1": {"a": 4.0, "b": 2.0, "not predicted": 5.0}, "u2": {"a": 1.0}})
    rows = [("u1", "a", 3.0), ("u1", "b", 4.0), ("u1", "not rated", 5.0), ("u2", "a", 1.0)]
    hits = make_hits(judgments, ranking_of(rows), Policies())
    values = evaluate(MEASURES[:2], judgments, hits, Policies())
    assert values[0].tolist() == pytest.approx([math.sqrt((1 + 4) / 2), 1.5], abs=1e-12)
    assert values[1].tolist() == [0, 0]
    totals = evaluate_together(MEASURES, judgments, [hits])
    assert totals is not None
    assert totals[0, 2:].tolist() == pytest.approx([math.sqrt(5 / 3), 1], abs=1e-12)


def test_the_order_of_the_list_changes_nothing() -> None:
    judgments = judgments_of({"u": {"a": 4.0, "b": 2.0}})
    first, second = (
        evaluate(MEASURES[:2], judgments, make_hits(judgments, ranking_of(rows), Policies()), Policies())
        for rows in ([("u", "a", 2.0), ("u", "b", 4.0)], [("u", "a", 6.0), ("u", "b", 0.0)])
    )
    np.testing.assert_array_equal(first, second)


def test_they_are_labelled_as_not_judging_a_ranking() -> None:
    assert [measure.label for measure in MEASURES] == [
        "RMSE (of ratings, not of the ranking)",
        "MAE (of ratings, not of the ranking)",
        "RMSE (of ratings, not of the ranking; over all pairs)",
        "MAE (of ratings, not of the ranking; over all pairs)",
    ]
    for measure in MEASURES:
        info = measure.info()
        assert not info.higher_is_better
        assert info.definition["judges"].startswith("predicted ratings, not a ranking")
        assert parse_measure(info.name) == measure
    assert [measure.info().aggregate for measure in MEASURES] == ["mean", "mean", "together", "together"]


def test_hits_without_scores_are_refused() -> None:
    judgments = judgments_of({"u": {"a": 4.0}})
    hits = replace(make_hits(judgments, ranking_of([("u", "a", 1.0)]), Policies()), score=None)
    with pytest.raises(MeasureError, match="new has no scores"):
        evaluate(MEASURES[:1], judgments, hits, Policies())


def test_parts_of_a_pooled_error() -> None:
    judgments = judgments_of({"u1": {"a": 4.0, "b": 2.0}, "u2": {"a": 1.0}})
    hits = make_hits(judgments, ranking_of([("u1", "a", 3.0), ("u1", "b", 4.0)]), Policies())
    made = exchangeable(parse_measure("RMSE(over='pairs')"), judgments, [hits])
    assert made.parts[0].tolist() == [[5, 2], [0, 0]]
    assert made.statistic(np.stack(made.parts)).tolist() == pytest.approx([math.sqrt(2.5)])


def test_no_condensed_list() -> None:
    with pytest.raises(MeasureError, match="has no condensed list"):
        parse_measure("Condensed(RMSE)")


def test_no_cutoff() -> None:
    with pytest.raises(MeasureError, match="takes no cutoff"):
        parse_measure("RMSE@10")
