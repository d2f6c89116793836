"""Result pages as three designs of interleaving make them, for simulated logs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Columns = tuple[NDArray[Any], ...]


def team_draft_page(rng: np.random.Generator, first: list[int], second: list[int], length: int = 4) -> Columns:
    """Return the team of each result: −1, 1, or 0 in the shared prefix."""
    shown: list[int] = []
    teams: list[int] = []
    while len(shown) < length and first[len(shown)] == second[len(shown)]:
        shown.append(first[len(shown)])
        teams.append(0)
        if len(shown) == min(len(first), len(second)):
            break
    sizes = {-1: 0, 1: 0}
    while len(shown) < length:
        team = int(rng.choice([-1, 1])) if sizes[-1] == sizes[1] else min(sizes, key=lambda key: sizes[key])
        left = [doc for doc in (first if team == -1 else second) if doc not in shown]
        if not left:
            break
        shown.append(left[0])
        teams.append(team)
        sizes[team] += 1
    return (np.array(teams),)


def _rank(doc: int, ranking: list[int]) -> float:
    return ranking.index(doc) + 1.0 if doc in ranking else np.nan


def balanced_page(rng: np.random.Generator, first: list[int], second: list[int], length: int = 4) -> Columns:
    """Return the ranks of each result in both rankings."""
    shown: list[int] = []
    first_begins = rng.random() < 0.5
    at = [0, 0]
    while len(shown) < length and at[0] < len(first) and at[1] < len(second):
        turn = 0 if at[0] < at[1] or (at[0] == at[1] and first_begins) else 1
        doc = (first, second)[turn][at[turn]]
        at[turn] += 1
        if doc not in shown:
            shown.append(doc)
    return tuple(np.array([_rank(doc, ranking) for doc in shown]) for ranking in (first, second))


def probabilistic_page(
    rng: np.random.Generator, first: list[int], second: list[int], length: int = 4, tau: float = 3.0
) -> Columns:
    """Return position and ranks of each result."""
    shown: list[int] = []
    for _ in range(length):
        ranking = (first, second)[int(rng.integers(2))]
        left = [doc for doc in ranking if doc not in shown]
        if not left:
            ranking = second if ranking is first else first
            left = [doc for doc in ranking if doc not in shown]
        weights = np.array([_rank(doc, ranking) ** -tau for doc in left])
        shown.append(int(rng.choice(left, p=weights / weights.sum())))
    ranks = [np.array([_rank(doc, ranking) for doc in shown]) for ranking in (first, second)]
    return np.arange(1, len(shown) + 1), ranks[0], ranks[1]
