"""Interleaving logs made up for the tests: users with tastes, queries, pages of three schemes, clicks by position.

``python -m tests.interleaving.made LOG.csv`` writes a team-draft log of 5,000 impressions.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rankstats.interleaving import InterleavingReadout, interleaving_readout
from rankstats.interleaving.result import LogCheck, Preference
from tests.stats.experiment.interleaving_designs import balanced_page, probabilistic_page, team_draft_page

Rows = list[dict[str, Any]]
DEVICES = ("desktop", "phone", "tablet")
_LENGTH = 6
_CLICK_BY_POSITION = 0.45 / np.arange(1, _LENGTH + 1) ** 0.5


def log(
    impressions: int = 400,
    users: int = 120,
    seed: int = 0,
    *,
    effect: float = 0.3,
    scheme: str = "team-draft",
    pairs: Sequence[tuple[str, str]] = (("prod", "new"),),
    by_device: Sequence[float] = (1.0, 1.0, 1.0),
    taste: float = 0.2,
) -> Rows:
    """Return the rows of a log.

    Parameters
    ----------
    impressions, users : int
        Pages, and users among whom they are dealt out unevenly.
    effect : float
        How much likelier a result of the second ranker is clicked than one of the first: factors 1 ± effect.
    scheme : str
        How pages are made.
    pairs : sequence of (str, str)
        The pairs of rankers, used in turn; the effect is that of the second over the first.
    by_device : sequence of float
        What the effect is multiplied with on each device.
    taste : float
        Standard deviation of users' own effects.
    """
    rng = np.random.default_rng(seed)
    share = rng.gamma(0.6, 1.0, users)
    tastes, devices = rng.normal(0.0, taste, users), rng.integers(0, 3, users)
    lists = [_lists(rng) for _ in range(max(1, impressions // 12))]
    rows: Rows = []
    for page in range(impressions):
        user, query = int(rng.choice(users, p=share / share.sum())), int(rng.integers(len(lists)))
        pair = pairs[page % len(pairs)]
        lift = effect * by_device[devices[user]] + tastes[user]
        rows += _page(rng, scheme, lists[query], lift, {
            "impression_id": f"i{page:06d}",
            "query_id": f"q{query:04d}",
            "unit_id": f"u{user:05d}",
            "ranker_a": pair[0],
            "ranker_b": pair[1],
            "device": DEVICES[devices[user]],
        })  # fmt: skip
    return rows


def _lists(rng: np.random.Generator) -> tuple[list[int], list[int]]:
    """Return two rankings of one query that share their first result half the time."""
    first = rng.permutation(10).tolist()
    second = rng.permutation(10).tolist()
    if rng.random() < 0.5:
        second.remove(first[0])
        second.insert(0, first[0])
    return first, second


def _page(
    rng: np.random.Generator, scheme: str, lists: tuple[list[int], list[int]], lift: float, names: dict[str, Any]
) -> Rows:
    first, second = lists
    ranks: tuple[Any, ...]
    if scheme == "team-draft":
        teams = team_draft_page(rng, first, second, _LENGTH)[0]
        rows = [{**names, "position": k + 1, "team": ("", "b", "a")[team]} for k, team in enumerate(teams.tolist())]
        sides = teams.astype(float)
    else:
        if scheme == "balanced":
            ranks = balanced_page(rng, first, second, _LENGTH)[:2]
        else:
            ranks = probabilistic_page(rng, first, second, _LENGTH)[1:]
        rows = [
            {**names, "position": k + 1, "rank_a": int(a), "rank_b": int(b)}
            for k, (a, b) in enumerate(zip(*ranks, strict=True))
        ]
        sides = np.sign(ranks[0] - ranks[1])
    chance = np.clip(_CLICK_BY_POSITION[: len(rows)] * (1 + lift * sides), 0.0, 1.0)
    clicks = rng.random(len(rows)) < chance
    return [{**row, "clicked": int(clicked)} for row, clicked in zip(rows, clicks, strict=True)]


def queries(rows: Rows) -> dict[str, dict[str, Any]]:
    """Return a query table for a log: texts of one to five words, and how often they are asked."""
    ids = sorted({row["query_id"] for row in rows})
    return {
        query: {"text": " ".join(["word"] * (1 + i % 5)), "frequency": 1000 // (1 + i)} for i, query in enumerate(ids)
    }


def renamed(rows: Rows) -> Rows:
    """Return the same log with ranker a and ranker b exchanged everywhere."""
    sides = {"a": "b", "b": "a"}
    out = []
    for row in rows:
        new = {**row, "ranker_a": row["ranker_b"], "ranker_b": row["ranker_a"]}
        if "team" in row:
            new["team"] = sides.get(row["team"], row["team"])
        if "rank_a" in row:
            new |= {"rank_a": row["rank_b"], "rank_b": row["rank_a"]}
        out.append(new)
    return out


def page_rows(name: str, teams: str, clicked: str, **more: Any) -> Rows:
    """Return the rows of one page from letters: 'abba' and '0100'; a dash is a result without a team."""
    return [
        {"impression_id": name, "query_id": "q", "unit_id": name, "ranker_a": "prod", "ranker_b": "new",
         "position": k + 1, "team": "" if team == "-" else team, "clicked": int(click)} | more
        for k, (team, click) in enumerate(zip(teams, clicked, strict=True))
    ]  # fmt: skip


def written(rows: Rows, path: Path, delimiter: str = ",") -> Path:
    """Write a log as a delimited file and return its path."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return path


def preference(found: InterleavingReadout, measure: str = "win share", segment: str | None = None) -> Preference:
    return next(
        row
        for row in found.differences
        if row.measure == measure and (row.segment["value"] if row.segment else None) == segment
    )


def check(found: InterleavingReadout, code: str) -> LogCheck:
    return next(row for row in found.checks if row.code == code)


def codes(found: InterleavingReadout) -> set[str]:
    return {warning.code for warning in found.warnings}


def readout(rows: Any, **changes: Any) -> InterleavingReadout:
    return interleaving_readout(rows, **{"resamples": 999, **changes})


if __name__ == "__main__":
    written(log(5000, 1200, effect=0.12, by_device=(0.2, 2.0, 1.0)), Path(sys.argv[1]))
