"""Best, expected and worst values over the orders of tied documents, against all orders."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankstats.conventions import Policies
from rankstats.errors import InputError, MeasureError
from rankstats.measures import TieSensitivity, parse_measure, parse_measures, tie_sensitivity
from tests.measures.oracle import FORMULAS
from tests.tables.made import Row, judgments_of, ranking_of

PROMISING = [
    name
    for name in FORMULAS
    if (measure := parse_measure(name)).declaration.rewards_moving_up(measure.settings) and "max_rel" not in name
]
NAMES = tuple({(parse_measure(name).declaration, parse_measure(name).condensed): name for name in PROMISING}.values())
"""One name of each measure."""
DOCUMENTS = ("a", "b", "c", "d", "e")


def orders_of(rows: Sequence[Row], query_id: str) -> list[list[str]]:
    """Return every order of a query's documents that keeps to the scores."""
    scores: dict[float, list[str]] = {}
    for q, doc_id, score in sorted(rows, key=lambda row: -row[2]):
        if q == query_id:
            scores.setdefault(score, []).append(doc_id)
    ways = itertools.product(*(itertools.permutations(tied) for tied in scores.values()))
    return [list(itertools.chain.from_iterable(way)) for way in ways]


def values_over(name: str, judged: Mapping[str, float], orders: Sequence[Sequence[str]]) -> list[float]:
    values = [FORMULAS[name](judged, order) for order in orders]
    return [math.nan if value is None else value for value in values]


def sensitivity(grades: Mapping[str, Mapping[str, float]], rows: Sequence[Row], **options: int) -> TieSensitivity:
    return tie_sensitivity(parse_measures(NAMES), judgments_of(grades), ranking_of(rows), Policies(), **options)


@st.composite
def tied_collections(draw: st.DrawFn) -> tuple[dict[str, dict[str, float]], list[Row]]:
    grades = draw(
        st.dictionaries(
            st.sampled_from(["q1", "q2", "q3"]),
            st.dictionaries(st.sampled_from(DOCUMENTS), st.sampled_from([-1.0, 0.0, 1.0, 2.0, 3.0]), min_size=1),
            min_size=1,
        )
    )
    pairs = draw(st.lists(st.tuples(st.sampled_from(["q1", "q2", "q9"]), st.sampled_from(DOCUMENTS[:4])), unique=True))
    scores = draw(st.lists(st.sampled_from([0.0, 0.0, 1.0, 2.0]), min_size=len(pairs), max_size=len(pairs)))
    return grades, [(q, d, score) for (q, d), score in zip(pairs, scores, strict=True)]


@settings(deadline=None, max_examples=25)
@given(tied_collections())
def test_against_every_order(made: tuple[dict[str, dict[str, float]], list[Row]]) -> None:
    grades, rows = made
    ties = sensitivity(grades, rows)
    assert not ties.standard_error.any()
    for q, query_id in enumerate(ties.query_ids):
        orders = orders_of(rows, query_id)
        for m, name in enumerate(NAMES):
            values = values_over(name, grades[query_id], orders)
            expected = [min(values), float(np.mean(values)), max(values)]
            found = [ties.worst[q, m], ties.expected[q, m], ties.best[q, m]]
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11, err_msg=f"{name} {query_id}")


def test_orders_drawn_at_random_come_close_to_all_orders() -> None:
    grades = {"q": {"a": 2.0, "c": 1.0, "e": 1.0, "f": 0.0}, "r": {"b": 1.0, "x": 1.0}, "s": {"a": 1.0}}
    rows = [(q, doc_id, 1.0) for q in ("q", "r") for doc_id in DOCUMENTS] + [("s", "a", 2.0), ("s", "b", 1.0)]
    exact = sensitivity(grades, rows)
    drawn = sensitivity(grades, rows, enumerate_up_to=3, samples=600)
    assert not exact.standard_error.any()
    off = np.nan_to_num(np.abs(drawn.expected - exact.expected))
    assert np.all(off <= 4.5 * drawn.standard_error + 1e-12)
    assert np.count_nonzero(drawn.standard_error) > 20
    assert not drawn.standard_error[2].any()
    np.testing.assert_array_equal(drawn.best, exact.best)


def test_the_same_seed_draws_the_same_orders() -> None:
    grades = {"q": {"a": 2.0, "c": 1.0}}
    rows = [("q", doc_id, 1.0) for doc_id in DOCUMENTS]
    first, again, other = (sensitivity(grades, rows, enumerate_up_to=1, samples=20, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.expected, again.expected)
    assert np.any(first.expected != other.expected)


def test_a_constant_scorer() -> None:
    grades = {"q": {"d0007": 1.0}}
    rows = [("q", f"d{number:04}", 1.0) for number in range(1000)]
    (row,) = tie_sensitivity(parse_measures("RR"), judgments_of(grades), ranking_of(rows), Policies()).to_dicts()
    harmonic = math.fsum(1 / rank for rank in range(1, 1001)) / 1000
    assert row == pytest.approx(
        {
            "query_id": "q",
            "measure": "RR",
            "value": 1 / 993,
            "worst": 1 / 1000,
            "best": 1.0,
            "expected": harmonic,
            "standard_error": 0.0,
            "tied": 1000,
        },
        abs=1e-12,
    )


@pytest.mark.parametrize(("ties", "best"), [("doc_id", 0.5), ("input", 0.5), ("float32", 1.0), ("rank", 0.5)], ids=str)
def test_what_is_tied_follows_the_policy(ties: str, best: float) -> None:
    run = ranking_of([("q", "x", 1.0 + 1e-9), ("q", "a", 1.0)], ranks=[1, 2])
    judgments = judgments_of({"q": {"a": 1.0}})
    found = tie_sensitivity(parse_measures("RR"), judgments, run, Policies(ties=ties))
    assert (found.best.item(), found.worst.item()) == (best, 0.5)


def test_equal_ranks_with_equal_scores_are_tied() -> None:
    run = ranking_of([("q", "x", 1.0), ("q", "a", 1.0)], ranks=[1, 1])
    found = tie_sensitivity(parse_measures("RR"), judgments_of({"q": {"a": 1.0}}), run, Policies(ties="rank"))
    assert (found.best.item(), found.expected.item(), found.worst.item()) == (1.0, 0.75, 0.5)


def test_the_rank_policy_needs_ranks() -> None:
    run = ranking_of([("q", "a", 1.0)])
    with pytest.raises(InputError, match="needs the rank column"):
        tie_sensitivity(parse_measures("RR"), judgments_of({"q": {"a": 1.0}}), run, Policies(ties="rank"))


def test_measures_that_promise_nothing_are_refused() -> None:
    run = ranking_of([("q", "a", 1.0)])
    with pytest.raises(MeasureError, match=r"best and worst orders of ties .* for G; leave it out"):
        tie_sensitivity(parse_measures("AP, G"), judgments_of({"q": {"a": 1.0}}), run, Policies())
