"""The simulation of decisions, thinned: guards at their margin and whole policies, within stated bands."""

from __future__ import annotations

import numpy as np
import pytest

from tests.calibration.gate import ALPHA, KINDS, content_of, decisions, margin_rows, markdown, outcomes_at_the_margin

pytestmark = [pytest.mark.slow]


def _most(rate: float, repetitions: int) -> float:
    """The rate that is passed but once in 30,000 times: 4 Monte Carlo standard errors above."""
    return rate + 4 * float(np.sqrt(rate * (1 - rate) / repetitions))


@pytest.mark.parametrize("n", [25, 50, 100, 1000])
@pytest.mark.parametrize(("shape", "measure"), [("normal", ""), ("symmetric", "RR"), ("symmetric", "nDCG@20")])
@pytest.mark.shared
def test_a_guard_at_its_margin_holds_no_more_often_than_its_level(shape: str, measure: str, n: int) -> None:
    row = outcomes_at_the_margin(shape, measure, n, 500, np.random.default_rng([n, len(measure)]))
    assert row["holds"] <= _most(ALPHA / 2, 500)
    assert row["fails"] <= _most(ALPHA / 2, 500)
    # a rule that never holds would keep its level too
    assert row["holds"] >= 0.004


@pytest.mark.parametrize("n", [25, 100])
@pytest.mark.parametrize("measure", ["AP", "RR", "nDCG@20"])
@pytest.mark.shared
def test_real_differences_are_skewed_and_cost_a_little(measure: str, n: int) -> None:
    row = outcomes_at_the_margin("as drawn", measure, n, 500, np.random.default_rng([n, 7]))
    # of two systems the worse one loses much on few queries: up to twice the level with 25 queries
    assert row["holds"] <= _most(0.05 if n == 25 else 0.04, 500)


@pytest.mark.parametrize("correlation", [0.0, 0.5])
def test_twenty_safe_guards_are_a_go_in_about_three_of_four(correlation: float) -> None:
    row = decisions("safe", 100, 150, np.random.default_rng(1), shared=correlation)
    assert 0.45 <= row["go"] <= 0.95
    assert row["no_go"] == 0


@pytest.mark.parametrize("n", [25, 200])
def test_one_guard_at_its_margin_among_safe_ones_is_hardly_ever_a_go(n: int) -> None:
    row = decisions("one at its margin", n, 200, np.random.default_rng(n))
    assert row["go"] <= _most(ALPHA / 2, 200)
    assert row["no_go"] <= _most(ALPHA, 200)


@pytest.mark.parametrize("kind", ["no harm", "all at their margins", "no gain"])
@pytest.mark.parametrize("n", [25, 100])
def test_a_policy_is_hardly_ever_a_no_go_where_nothing_is_worse(kind: str, n: int) -> None:
    row = decisions(kind, n, 100, np.random.default_rng([n, KINDS.index(kind)]), shared=0.0)
    assert row["no_go"] <= _most(ALPHA, 100)


@pytest.mark.shared
def test_the_tables_are_made() -> None:
    rows = [row | {"holds": 0.025} for row in margin_rows(2)]
    text = markdown(rows, [decisions("safe", 25, 2, np.random.default_rng(0))])
    assert text.count("\n| ") >= 8
    assert "| normal |" in text
    assert content_of(np.zeros((3, 2)))["values"]["new"]["m1"] == [0.5] * 3
