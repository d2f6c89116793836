"""Rank-biased overlap, overlap of tops, and correlation over common items, against programs and oracles."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Sequence
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats as scipy_stats

from rankstats.errors import RankstatsError
from rankstats.stats import (
    RankedLists,
    list_correlation,
    lists_of_items,
    overlap_at,
    rank_biased_overlap,
    ranked_lists,
)
from tests.shared import shared
from tests.stats.cases import golden

GOLDEN = golden("rbo")
VERSIONS = ("a", "b", "w")
Ties = Sequence[Any]
"""Items, and lists of tied items, best first."""


def found(lists: RankedLists, p: float, ties: str) -> dict[str, float]:
    result = rank_biased_overlap(lists, 0, 1, p=p, ties=ties)
    return {
        "ext": float(result.extrapolated[0]),
        "min": float(result.minimum[0]),
        "max": float(result.maximum[0]),
        "res": float(result.residual[0]),
    }


def assert_equals(x: Ties, y: Ties, p: float, ties: str, expected: dict[str, float]) -> None:
    for lists in (lists_of_items(x, y), lists_of_items(y, x)):
        ours = found(lists, p, ties)
        for key, value in expected.items():
            assert ours[key] == pytest.approx(value, abs=1e-9), (key, ties, x, y)


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: f"{case['name']}-{case['p']}")
def test_lists_without_ties_equal_independent_programs(case: dict[str, Any]) -> None:
    for ties in VERSIONS:
        assert_equals(case["S"], case["T"], case["p"], ties, case["expected"])


@pytest.mark.parametrize("case", GOLDEN["ties"], ids=lambda case: f"{case['x']}-{case['p']}")
def test_lists_with_ties_equal_independent_programs(case: dict[str, Any]) -> None:
    for ties in VERSIONS:
        assert_equals(case["x"], case["y"], case["p"], ties, case["expected"][ties])


def test_published_example() -> None:
    loaded = json.loads(shared("golden/fetched/rbo_readme_example.json").read_text(encoding="utf-8"))
    for case in loaded["cases"]:
        for ties in VERSIONS:
            assert_equals(case["x"], case["y"], case["p"], ties, case["expected"][ties])
            ours = found(lists_of_items(case["x"], case["y"]), case["p"], ties)
            for key, value in case["published_README"][ties].items():
                assert ours[key] == pytest.approx(value, abs=5e-8)


def test_published_lists() -> None:
    def parsed(text: str) -> list[Any]:
        return [word[1:-1].split() if word[0] == "(" else word for word in re.findall(r"\([^)]*\)|\S+", text)]

    path = shared("golden/fetched/rbo_ties_corsi_urbano_sample.csv")
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 100
    for row in rows:
        for ties in VERSIONS:
            expected = {key: float(row[f"{ties}.{key}"]) for key in ("ext", "min", "max", "res")}
            assert_equals(parsed(row["x"]), parsed(row["y"]), float(row["p"]), ties, expected)


def test_equal_lists_have_the_weight_of_their_prefix() -> None:
    for name, weight in GOLDEN["weight_of_prefix"]["values"].items():
        p, depth = (float(part.split("=")[1]) for part in name.split(","))
        same = lists_of_items(range(int(depth)), range(int(depth)))
        assert float(rank_biased_overlap(same, 0, 1, p=p).minimum[0]) == pytest.approx(weight, abs=1e-9)


def test_overlap_at_each_depth() -> None:
    example = GOLDEN["agreement_at_depth_example"]
    lists = lists_of_items(example["S"], example["T"])
    ours = [float(overlap_at(lists, 0, 1, k)[0]) for k in range(1, 8)]
    assert_allclose(ours, example["agreement"], atol=1e-12)
    assert np.mean(ours) == pytest.approx(example["average_overlap_depth7"], abs=1e-12)


items = st.lists(st.lists(st.integers(0, 8), min_size=1, max_size=3), min_size=1, max_size=5)


@st.composite
def tied(draw: st.DrawFn) -> list[list[int]]:
    """A list of ties in which every item stands once."""
    seen: set[int] = set()
    result = []
    for group in draw(items):
        kept = [item for item in dict.fromkeys(group) if item not in seen]
        seen.update(kept)
        if kept:
            result.append(kept)
    return result


def orders(ties: list[list[int]]) -> list[list[int]]:
    """Every way to break the ties."""
    return [
        [item for group in choice for item in group]
        for choice in product(*(list(permutations(group)) for group in ties))
    ]


def oracle_minimum(x: list[int], y: list[int], p: float) -> float:
    """RBO_min of untied lists, term by term; beyond the ends the common items are spread over ever more places."""
    shared_items = len(set(x) & set(y))
    total = sum(len(set(x[:d]) & set(y[:d])) / d * p ** (d - 1) for d in range(1, max(len(x), len(y)) + 1)) + sum(
        shared_items / d * p ** (d - 1) for d in range(max(len(x), len(y)) + 1, 400)
    )
    return (1 - p) * total


@settings(deadline=None, max_examples=60)
@given(tied(), tied(), st.sampled_from([0.5, 0.8, 0.9]))
def test_version_a_is_the_mean_over_broken_ties(x: list[list[int]], y: list[list[int]], p: float) -> None:
    pairs = list(product(orders(x), orders(y)))
    expected = np.mean([oracle_minimum(one, other, p) for one, other in pairs])
    lists = lists_of_items(x, y)
    assert found(lists, p, "a")["min"] == pytest.approx(expected, abs=1e-9)
    longest = max(sum(map(len, x)), sum(map(len, y)))
    for k in (1, 2, 4, 50):
        overlap = np.mean([len(set(one[:k]) & set(other[:k])) for one, other in pairs]) / min(k, longest)
        assert overlap_at(lists, 0, 1, k)[0] == pytest.approx(overlap, abs=1e-12)


@settings(deadline=None, max_examples=60)
@given(tied(), tied(), st.sampled_from(VERSIONS), st.permutations(range(9)))
def test_invariants(x: list[list[int]], y: list[list[int]], ties: str, names: list[int]) -> None:
    ours = found(lists_of_items(x, y), 0.9, ties)
    assert -1e-12 <= ours["min"] <= ours["ext"] + 1e-9 <= ours["max"] + 2e-9 <= 1 + 1e-8
    renamed = [[[f"d{names[i]}" for i in reversed(group)] for group in one] for one in (x, y)]
    assert found(lists_of_items(*renamed), 0.9, ties) == ours
    if not {i for group in x for i in group} & {i for group in y for i in group}:
        assert ours["ext"] == ours["min"] == 0
    same = found(lists_of_items(x, x), 0.9, ties)
    if ties != "a":
        assert same["ext"] == pytest.approx(1, abs=1e-12)


def made(seed: int, lists: int = 12, documents: int = 40) -> tuple[list[list[int]], RankedLists]:
    rng = np.random.default_rng(seed)
    chosen = [rng.permutation(documents)[: rng.integers(0, 25)].tolist() for _ in range(lists)]
    return chosen, lists_of_items(*chosen)


def test_many_pairs_equal_single_ones_whatever_stands_beside_them() -> None:
    chosen, lists = made(1)
    first, second = np.triu_indices(len(chosen), 1)
    together = rank_biased_overlap(lists, first, second, p=0.8)
    tops, correlated = overlap_at(lists, first, second, 5), list_correlation(lists, first, second)
    for i, (a, b) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        alone = lists_of_items(chosen[a], chosen[b])
        single = rank_biased_overlap(alone, 0, 1, p=0.8)
        for field in ("extrapolated", "minimum", "residual", "n"):
            assert_array_equal(getattr(together, field)[i], getattr(single, field)[0])
        assert_array_equal(tops[i], overlap_at(alone, 0, 1, 5)[0])
        assert correlated.to_dicts()[i] == list_correlation(alone, 0, 1).to_dicts()[0]


def test_chunks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen, lists = made(2)
    first, second = np.triu_indices(len(chosen), 1)
    whole = rank_biased_overlap(lists, first, second), list_correlation(lists, first, second)
    monkeypatch.setattr("rankstats.stats.item_lists._ELEMENTS", 60)
    pieces = rank_biased_overlap(lists, first, second), list_correlation(lists, first, second)
    for one, other in zip(whole, pieces, strict=True):
        assert one.to_dicts() == other.to_dicts()


def test_correlation_of_the_common_items_equals_scipy() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        scores = [
            dict(zip(rng.permutation(30)[:20].tolist(), rng.integers(0, 9, 20).tolist(), strict=True)) for _ in "ab"
        ]
        index, ids, values = zip(*((i, k, v) for i, one in enumerate(scores) for k, v in one.items()), strict=True)
        result = list_correlation(ranked_lists(index, [f"d{i}" for i in ids], values), 0, 1)
        common = sorted(scores[0].keys() & scores[1].keys())
        x, y = ([one[k] for k in common] for one in scores)
        assert result.n.tolist() == [len(common)]
        assert result.tau_b[0] == pytest.approx(scipy_stats.kendalltau(x, y).statistic, abs=1e-12)
        assert result.rho[0] == pytest.approx(scipy_stats.spearmanr(x, y).statistic, abs=1e-12)
        assert result.weighted_tau[0] == pytest.approx(scipy_stats.weightedtau(x, y).statistic, abs=1e-12)


def test_without_common_items_correlations_are_undefined_and_the_overlap_is_none() -> None:
    lists = lists_of_items(["a", "b"], ["c", "d"], ["a"], [])
    result = list_correlation(lists, [0, 0, 0], [1, 2, 3])
    assert result.n.tolist() == [0, 1, 0]
    assert np.isnan([result.tau_b, result.rho, result.tau_ap_b, result.weighted_tau]).all()
    overlap = rank_biased_overlap(lists, [0, 0, 0], [1, 2, 3])
    assert overlap.extrapolated[0] == overlap.minimum[0] == 0
    assert overlap.extrapolated[1] > 0
    assert np.isnan([overlap.extrapolated[2], overlap.minimum[2], overlap.residual[2]]).all()
    assert overlap.to_dicts()[2]["extrapolated"] is None
    assert_array_equal(overlap_at(lists, [0, 0], [1, 3], 2), [0.0, np.nan])


def test_no_lists_at_all() -> None:
    empty = lists_of_items([], [])
    assert empty.lengths.tolist() == [0, 0]
    assert np.isnan(rank_biased_overlap(empty, 0, 1).extrapolated).all()
    assert len(rank_biased_overlap(empty, [], []).n) == 0


def test_messages() -> None:
    lists = lists_of_items(["a"], ["b"])
    with pytest.raises(RankstatsError, match=r"p = 1: the persistence lies between 0 and 1"):
        rank_biased_overlap(lists, 0, 1, p=1)
    with pytest.raises(RankstatsError, match="ties = 'c' is unknown"):
        rank_biased_overlap(lists, 0, 1, ties="c")
    with pytest.raises(RankstatsError, match="counted from 0 to 1"):
        overlap_at(lists, 0, 2, 1)
    with pytest.raises(RankstatsError, match="k = 0"):
        overlap_at(lists, 0, 1, 0)
    with pytest.raises(RankstatsError, match="one is expected"):
        list_correlation(lists, [0, 1], [1])
    with pytest.raises(RankstatsError, match="holds item 'a' twice"):
        ranked_lists([0, 0], ["a", "a"], [1, 2])
    with pytest.raises(RankstatsError, match=r"list 1 \(counted from 0\) holds item 'a' twice"):
        lists_of_items(["a"], ["a", ["b", "a"]])
    with pytest.raises(RankstatsError, match="score holds NaN"):
        ranked_lists([0, 0], ["a", "b"], [1, np.nan])
    with pytest.raises(RankstatsError, match="have shapes"):
        ranked_lists([0, 0], ["a"], [1, 2])
