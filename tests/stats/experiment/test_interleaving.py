"""Interleaving: credits by their definitions and by simulation of the designs, and tests at each level."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from scipy import stats

from rankstats.errors import RankstatsError
from rankstats.stats import (
    Credits,
    balanced_credits,
    credits_of_wins,
    impression_labels,
    impression_outcomes,
    interleaving_sequence,
    interleaving_test,
    multileaving_credits,
    pair_of_rankers,
    paired_differences,
    paired_t,
    probabilistic_credits,
    running_sequence,
    shared_prefix,
    sign_flip_test,
    team_draft_credits,
    team_signs,
)
from tests.stats.experiment.interleaving_designs import balanced_page, probabilistic_page, team_draft_page

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def test_teams_by_name_by_letter_and_none() -> None:
    assert team_signs(["old", "new", "old", ""], "old", "new").tolist() == [-1, 1, -1, 0]
    assert team_signs(["A", "b ", "both", "none", "shared"], "old", "new").tolist() == [-1, 1, 0, 0, 0]
    # rankers that are called by letters are what they are called
    assert team_signs(["b", "a"], "b", "a").tolist() == [-1, 1]
    assert team_signs(["x", "y"], ["x", "x"], ["y", "y"]).tolist() == [-1, 1]
    assert team_signs(np.array([None, float("nan"), "x"], dtype=object), "x", "y").tolist() == [0, 0, -1]


def test_shared_prefixes() -> None:
    # page 1: both put d1, then part; page 2: the same two lists; page 3: nothing in common. In any order of rows
    rows = [(1, 1, 1, 1), (1, 2, 2, 3), (1, 3, 4, 2), (2, 1, 1, 1), (2, 2, 2, 2), (3, 1, 1, 2), (3, 2, 2, 1)]
    wanted = [True, False, False, True, True, False, False]
    for order in (np.arange(7), np.random.default_rng(0).permutation(7)):
        page, position, rank_a, rank_b = np.array(rows)[order].T
        assert_array_equal(shared_prefix(page, position, rank_a, rank_b), np.array(wanted)[order])
    # equal ranks below the first difference are not shared any more
    assert shared_prefix([1, 1, 1], [1, 2, 3], [1, np.nan, 3], [2, 2, 3]).tolist() == [False, False, False]


@st.composite
def logs(draw: st.DrawFn) -> tuple[Integers, Integers, Floats]:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    rows = draw(st.integers(1, 60))
    return rng.integers(0, 15, rows), rng.integers(-1, 2, rows), (rng.random(rows) < 0.4).astype(float)


@given(logs(), st.integers(0, 2**32))
def test_team_draft_credits_by_hand(log: tuple[Integers, Integers, Floats], seed: int) -> None:
    page, team, clicked = log
    ours = team_draft_credits(page, team, clicked)
    for place, label in enumerate(ours.impressions):
        here = page == label
        assert ours.credit_a[place] == clicked[here & (team == -1)].sum()
        assert ours.credit_b[place] == clicked[here & (team == 1)].sum()
        assert ours.clicks[place] == clicked[here].sum()
    order = np.random.default_rng(seed).permutation(len(page))
    other = team_draft_credits(page[order], team[order], clicked[order])
    assert_array_equal([ours.credit_a, ours.credit_b], [other.credit_a, other.credit_b])
    assert_array_equal(ours.of_impressions(page), ours.impressions)


def test_balanced_credits_of_the_literature() -> None:
    """Chapelle et al. 2012, figure 1: A = a b c d g h, B = b e a f g h; the page a b e c d f, and b a e c f d."""
    rank = {"A": dict(zip("abcdgh", range(1, 7), strict=True)), "B": dict(zip("beafgh", range(1, 7), strict=True))}
    for page, clicked, wanted in (
        ("abecdf", "be", (1, 2)),
        ("baecfd", "be", (1, 2)),
        ("abecdf", "a", (1, 0)),
        ("abecdf", "c", (1, 0)),
        ("abecdf", "", (0, 0)),
    ):
        ours = balanced_credits(
            [1] * len(page),
            [rank["A"].get(doc, np.nan) for doc in page],
            [rank["B"].get(doc, np.nan) for doc in page],
            [int(doc in clicked) for doc in page],
        )
        assert (ours.credit_a[0], ours.credit_b[0]) == wanted, (page, clicked)


def _probability_of_team_b(rank_a: list[float], rank_b: list[float], length: int, tau: float) -> list[float]:
    """P(b put it there | page) at each position, by Bayes over all 2^n assignments of the page."""
    n = len(rank_a)
    joint: dict[tuple[int, ...], float] = {}
    for teams in product((0, 1), repeat=n):
        probability = 1.0
        left = [set(range(1, length + 1)) for _ in range(2)]
        for position, team in enumerate(teams):
            rank = (rank_a, rank_b)[team][position]
            whole = sum(r**-tau for r in left[team])
            probability *= 0.5 * (0.0 if np.isnan(rank) else rank**-tau / whole)
            for which, of in enumerate((rank_a, rank_b)):
                left[which].discard(of[position])
        joint[teams] = probability
    total = sum(joint.values())
    return [sum(p for teams, p in joint.items() if teams[position]) / total for position in range(n)]


@pytest.mark.parametrize("tau", [1.0, 3.0])
def test_probabilistic_credits_by_all_assignments(tau: float) -> None:
    pages: list[tuple[list[float], list[float]]] = [
        ([1, 3, 2], [2, 1, 5]), ([1, 2, np.nan], [4, np.nan, 1]), ([1, 2, 3], [1, 2, 3]),
    ]  # fmt: skip
    impression, position, rank_a, rank_b, clicked = [], [], [], [], []
    for label, (a, b) in enumerate(pages):
        for place in range(3):
            impression.append(label)
            position.append(place + 1)
            rank_a.append(a[place])
            rank_b.append(b[place])
            clicked.append(int(place != 1))
    ours = probabilistic_credits(impression, position, rank_a, rank_b, clicked, list_length=5, tau=tau)
    for label, (a, b) in enumerate(pages):
        of_b = _probability_of_team_b(a, b, 5, tau)
        assert_allclose(ours.credit_b[label], of_b[0] + of_b[2], rtol=1e-9, atol=1e-10)
        assert_allclose(ours.credit_a[label], 2 - of_b[0] - of_b[2], rtol=1e-9, atol=1e-10)


@given(st.integers(0, 10_000))
@settings(max_examples=20)
def test_pages_do_not_see_each_other(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pages = [(rng.permutation(6)[:4] + 1, rng.permutation(6)[:4] + 1, rng.integers(0, 2, 4)) for _ in range(5)]
    label, position = np.repeat(np.arange(5), 4), np.tile(np.arange(1, 5), 5)
    a, b, clicked = (np.concatenate([page[part] for page in pages]) for part in range(3))
    order = rng.permutation(20)
    columns = [column[order] for column in (label, position, a, b, clicked)]
    together = probabilistic_credits(*columns, list_length=6)
    for place, (of_a, of_b, clicks) in enumerate(pages):
        alone = probabilistic_credits([0] * 4, [1, 2, 3, 4], of_a, of_b, clicks, list_length=6)
        assert together.credit_b[place] == alone.credit_b[0]


def test_several_rankers_on_one_page() -> None:
    page, team, clicked = [1, 1, 1, 1, 2, 2], [0, 1, 2, -1, 2, 1], [1, 0, 2, 1, 1, 0]
    labels, credits = multileaving_credits(page, team, clicked, rankers=3)
    assert credits.tolist() == [[1, 0, 2], [0, 0, 1]]
    pair = pair_of_rankers(labels, credits, 0, 2)
    assert impression_outcomes(pair).tolist() == [0.5, 0.5]
    assert impression_outcomes(pair, "clicks").tolist() == [1.0, 1.0]
    # the clicks on the second page were for another ranker
    assert_array_equal(impression_outcomes(pair_of_rankers(labels, credits, 0, 1)), [-0.5, np.nan])


def test_impressions_that_the_log_does_not_name() -> None:
    rows = [("q", "u", 1), ("q", "u", 2), ("q", "v", 1), ("q", "u", 1), ("q", "v", 2), ("r", "u", 1), ("q", "u", 3)]
    assert impression_labels(*zip(*rows, strict=True)).tolist() == [0, 0, 1, 2, 1, 3, 2]
    assert impression_labels(["q"] * 3, [7] * 3, [3, 1, 2]).tolist() == [0, 0, 0]


def test_counts_of_wins_are_an_aggregated_log() -> None:
    ours = interleaving_test(credits_of_wins(58, 81, 61, 40))
    assert [ours.wins_a[0], ours.wins_b[0], ours.ties[0], ours.without_clicks[0]] == [58, 81, 61, 40]
    assert_allclose(ours.p_binomial[0], stats.binomtest(81, 139).pvalue)


def _random_clicks(
    design: Callable[..., Any], lists: tuple[list[int], list[int]], pages: int, seed: int
) -> tuple[NDArray[Any], list[NDArray[Any]]]:
    """Pages of a design and clicks that look at neither rank nor result."""
    rng = np.random.default_rng(seed)
    made = [design(rng, *lists) for _ in range(pages)]
    columns = [np.concatenate([page[part] for page in made]) for part in range(len(made[0]))]
    label = np.repeat(np.arange(pages), [len(page[0]) for page in made])
    return label, [*columns, (rng.random(len(label)) < 0.4).astype(float)]


LISTS = [([1, 2, 3, 4], [2, 3, 4, 1]), ([1, 2, 3, 4], [1, 2, 4, 3]), ([1, 2, 3, 4], [5, 6, 7, 1])]


@pytest.mark.parametrize("lists", LISTS)
def test_random_clicks_favour_no_ranker(lists: tuple[list[int], list[int]]) -> None:
    """Mean outcome within 4 standard errors of 0."""
    pages, seed = 2000, 1
    label, (team, clicked) = _random_clicks(team_draft_page, lists, pages, seed)
    team_draft = team_draft_credits(label, team, clicked)
    label, (position, rank_a, rank_b, clicked) = _random_clicks(probabilistic_page, lists, pages, seed)
    probabilistic = probabilistic_credits(label, position, rank_a, rank_b, clicked, list_length=4)
    for credits, outcome in product((team_draft, probabilistic), ("wins", "clicks")):
        if credits is probabilistic and outcome == "wins":
            continue  # whose share is larger is not symmetric, the shares are
        outcomes = impression_outcomes(credits, outcome)
        outcomes = outcomes[~np.isnan(outcomes)]
        assert abs(outcomes.mean()) < 4 * outcomes.std() / np.sqrt(len(outcomes)) + 1e-12


def test_random_clicks_show_the_known_flaw_of_balanced_interleaving() -> None:
    label, (rank_a, rank_b, clicked) = _random_clicks(balanced_page, LISTS[0], 2000, 1)
    result = interleaving_test(balanced_credits(label, rank_a, rank_b, clicked), resamples=999)
    # B = A moved up by one place wins, as Chapelle et al. 2012 say
    assert result.low[0] > 0.05


def _log(seed: int, pages: int = 60) -> tuple[Credits, Integers, Integers, Integers]:
    rng = np.random.default_rng(seed)
    clicks = rng.poisson([0.6, 0.9], (pages, 2))
    team, page = np.tile([-1, 1], pages), np.repeat(np.arange(pages), 2)
    credits = team_draft_credits(page, team, clicks.ravel())
    return credits, rng.integers(0, 25, pages), rng.integers(0, 12, pages), clicks


def test_wins_and_tests_by_their_definitions() -> None:
    credits, units, queries, clicks = _log(0)
    ours = interleaving_test(credits, units=units, queries=queries, resamples=4999, rng=3)
    sign = np.sign(clicks[:, 1] - clicks[:, 0])
    seen = clicks.sum(axis=1) > 0
    assert ours.without_clicks[0] == np.count_nonzero(~seen)
    assert [ours.wins_a[0], ours.ties[0], ours.wins_b[0]] == [np.count_nonzero(sign[seen] == v) for v in (-1, 0, 1)]
    assert_allclose(ours.estimate[0], sign[seen].mean() / 2)
    assert_allclose(ours.win_share[0], 0.5 + ours.estimate[0])
    assert ours.tested_at == "unit"
    assert ours.p_unit[0] == ours.p_value[0]
    decided = ours.wins_a[0] + ours.wins_b[0]
    assert_allclose(ours.p_binomial[0], stats.binomtest(ours.wins_b[0], decided).pvalue)
    for labels, p in ((units, ours.p_unit[0]), (queries, ours.p_query[0])):
        sums = np.bincount(labels[seen], sign[seen])
        flips = np.random.default_rng(9).choice([-1, 1], (20_000, len(sums))) @ sums
        wanted = np.mean(np.abs(flips) >= abs(sums.sum()))
        assert abs(p - wanted) < 4.5 * np.sqrt(wanted * (1 - wanted) * (1 / 4999 + 1 / 20_000))
    plain = sign_flip_test(paired_differences(np.zeros(seen.sum()), sign[seen]), resamples=4999, rng=3)
    assert ours.p_impression[0] == plain.p_value[0]


@given(st.integers(0, 10_000), st.sampled_from([0.01, 0.05, 0.2]), st.sampled_from(["wins", "clicks"]))
@settings(max_examples=30)
def test_p_and_interval_agree(seed: int, alpha: float, outcome: str) -> None:
    credits, units, queries, _ = _log(seed, pages=14)
    for level in ({}, {"queries": queries}, {"units": units}):
        ours = interleaving_test(credits, alpha=alpha, outcome=outcome, resamples=199, **level)  # type: ignore[arg-type]  # of several kinds
        assert bool(ours.p_value[0] <= alpha) == bool(ours.low[0] > 0 or ours.high[0] < 0)


def test_a_pair_is_one_pair_whichever_way_it_is_logged() -> None:
    credits, units, _, _ = _log(1)
    turned = np.arange(60) % 3 == 0
    first, second = np.where(turned, "new", "old"), np.where(turned, "old", "new")
    mixed = interleaving_test(credits.swapped(turned), units=units, ranker_a=first, ranker_b=second, baseline="old")
    plain = interleaving_test(credits, units=units, ranker_a="old", ranker_b="new", baseline="old")
    assert (mixed.ranker_a[0], mixed.ranker_b[0]) == ("old", "new")
    assert mixed.to_dicts() == plain.to_dicts()
    by_name = interleaving_test(credits, units=units, ranker_a="old", ranker_b="new")
    assert (by_name.ranker_a[0], by_name.ranker_b[0]) == ("new", "old")
    assert_allclose(by_name.estimate, -plain.estimate)


def test_several_pairs_are_a_family() -> None:
    parts = [_log(seed, pages=40) for seed in (2, 3, 4)]
    page = np.arange(120)
    names = [("prod", "x"), ("y", "prod"), ("x", "y")]
    together = Credits(
        page,
        page,
        np.concatenate([part[0].credit_a for part in parts]),
        np.concatenate([part[0].credit_b for part in parts]),
        np.concatenate([part[0].clicks for part in parts]),
        page,
    )
    units = np.concatenate([part[1] for part in parts])
    first, second = (np.repeat([pair[side] for pair in names], 40) for side in (0, 1))
    ours = interleaving_test(together, units=units, ranker_a=first, ranker_b=second, baseline="prod", resamples=999)
    pairs = list(zip(ours.ranker_a.tolist(), ours.ranker_b.tolist(), strict=True))
    assert pairs == [("prod", "x"), ("prod", "y"), ("x", "y")]
    assert_allclose(ours.p_adjusted, np.minimum(1, 3 * ours.p_value))
    for place, (credits, of_units, _, _) in enumerate(parts):
        alone = interleaving_test(credits, units=of_units, resamples=999)
        sign = -1 if names[place][1] == "prod" else 1
        assert_allclose(ours.estimate[place], sign * alone.estimate[0])
        assert ours.p_value[place] == alone.p_value[0]
    assert np.all(ours.adjusted_low <= ours.low)


def test_a_log_without_clicks() -> None:
    ours = interleaving_test(team_draft_credits([1, 1, 2], [-1, 1, 1], [0, 0, 0]), units=["u", "v"])
    assert ours.without_clicks[0] == 2
    assert np.isnan([ours.p_value[0], ours.win_share[0], ours.low[0], ours.p_binomial[0]]).all()
    assert ours.to_dicts()[0]["p_value"] is None


def test_heavy_users_count_once_in_the_tests() -> None:
    """One user with forty impressions that all go one way is one user."""
    page = np.arange(50)
    credits = Credits(page, page, np.zeros(50), np.r_[np.ones(40), np.tile([1, 0], 5)], np.ones(50, dtype=int), page)
    credits = Credits(page, page, 1 - credits.credit_b, credits.credit_b, credits.clicks, page)
    ours = interleaving_test(credits, units=np.r_[np.zeros(40), np.arange(1, 11)])
    assert ours.p_impression[0] < 0.001
    assert ours.p_unit[0] > 0.1


def test_sequences_of_outcomes() -> None:
    credits, units, _, _ = _log(5, pages=400)
    outcomes = impression_outcomes(credits)
    looks = [50, 150, 400]
    ours = interleaving_sequence(outcomes, looks, n_star=25, units=units, least_n=2)
    for place, end in enumerate(looks):
        seen = ~np.isnan(outcomes[:end])
        values, of = outcomes[:end][seen], np.unique(units[:end][seen], return_inverse=True)[1]
        assert_allclose(ours.estimate[place], values.mean())
        residual = np.bincount(of, values - values.mean())
        n = len(residual)
        assert ours.n[place] == n
        assert_allclose(ours.standard_error[place], np.sqrt(n / (n - 1) * residual @ residual) / len(values), rtol=1e-9)
    alone = interleaving_sequence(outcomes, [400], n_star=400)
    known = outcomes[~np.isnan(outcomes)]
    t = paired_t(paired_differences(np.zeros(len(known)), known))
    assert_allclose([alone.estimate[0], alone.standard_error[0]], [t.estimate[0], t.standard_error[0]])
    assert len(running_sequence(ours).n) == 3
    # 25 units are too few to go by
    assert interleaving_sequence(outcomes, looks, n_star=25, units=units).p_value.tolist() == [1.0, 1.0, 1.0]
    assert all(first <= second for first, second in pairwise(ours.n))


CREDITS = team_draft_credits([1, 1], [-1, 1], [1, 0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: team_signs(["x"], "y", "z"), "team x is neither y nor z"),
        (lambda: team_signs(["x"], "x", "x"), "compared with itself"),
        (lambda: team_draft_credits([1], [2], [0]), "see team_signs"),
        (lambda: team_draft_credits([1], [1], [0.5]), "number of clicks"),
        (lambda: team_draft_credits([1], [1], [-1]), "number of clicks"),
        (lambda: balanced_credits([1], [np.nan], [np.nan], [0]), "in neither ranking"),
        (lambda: balanced_credits([1], [0], [1], [0]), "rank of at least 1"),
        (lambda: probabilistic_credits([1, 1], [1, 1], [1, 2], [1, 2], [0, 0], list_length=3), "two results at"),
        (lambda: probabilistic_credits([1], [1], [4], [1], [0], list_length=3), "beyond list_length"),
        (lambda: probabilistic_credits([1], [1], [1], [1], [0], list_length=3, tau=0), "tau"),
        (lambda: impression_labels(["q"], ["u", "v"], [1, 2]), "queries have shape"),
        (lambda: credits_of_wins(-1, 2), "wins_a"),
        (lambda: multileaving_credits([1], [3], [0], rankers=3), "from 0 to 2"),
        (lambda: CREDITS.of_impressions(["q", "r"], "query"), "more than one query"),
        (lambda: interleaving_test(CREDITS, ranker_a="x", ranker_b="x"), "compared with itself"),
        (lambda: interleaving_test(CREDITS, ranker_a=["x", "y"]), "one for each of the 1 impressions"),
        (lambda: interleaving_test(CREDITS, units=["u", "v"]), "units have shape"),
        (lambda: interleaving_test(CREDITS, outcome="win"), "did you mean 'wins'"),
        (lambda: interleaving_sequence([0.5], [2], n_star=5), "from 1 to the 1 impressions"),
        (lambda: interleaving_sequence([0.5, 0.5], [2, 1], n_star=5), "ascending"),
    ],
)
def test_messages(call: Callable[[], object], message: str) -> None:
    with pytest.raises(RankstatsError, match=message):
        call()
