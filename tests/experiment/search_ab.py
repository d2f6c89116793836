"""A search experiment made up for the tests: users, sessions, queries, clicks by position, latency; two rankings.

The new ranking is better on long queries only: on seven of ten of them it puts what is wanted higher. Short queries get
the same list in both arms, so the row says whether the rankings differ (``differs``), in both arms alike. Users type
mostly long or mostly short queries; what the first query was is known before any list is shown (``first_query``), what
later ones are is not (``query_length``). Run it to write the full size::

    python -m tests.experiment.search_ab FOLDER
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

USERS = 200_000
DEPTH = 10
DAYS = 14
METRICS = (
    "clicks per user = mean(clicks)",
    "CTR = sum(clicks)/sum(results)",
    "RR per query = sum(rr)/count(*)",
    "quick returns = sum(quick_returns)/sum(clicks)",
    "p95 latency = quantile(latency, 0.95)",
)
ASKED = (
    *("--unit", "user", "--control", "current", "--time", "time", "--trigger", "differs"),
    *(part for metric in METRICS for part in ("--metric", metric)),
    *("--primary", "clicks per user", "--guard", "p95 latency=5%", "--guard", "quick returns=0.02"),
    *("--lower", "p95 latency", "--lower", "quick returns", "--segment", "first_query,device"),
    *("--covariate", "clicks per user=past_clicks", "--title", "New ranking of long queries"),
)

Made = dict[str, NDArray[Any]]


def search_experiment(users: int = USERS, seed: int = 0) -> tuple[Made, Made]:
    """Return one row a query, and one row a user (the assignments)."""
    rng = np.random.default_rng(seed)
    new = rng.random(users) < 0.5
    wordy = rng.random(users) < 0.35
    taste = rng.gamma(3.0, 1 / 3.0, users)
    owner = np.repeat(np.arange(users), 1 + rng.poisson(1.0, users))
    session = np.repeat(np.arange(len(owner)), 1 + rng.geometric(0.6, len(owner)) - 1)
    user = owner[session]
    queries = len(user)
    words = np.where(rng.random(queries) < np.where(wordy[user], 0.9, 0.1), 4, 1) + rng.integers(0, 3, queries)
    long = words > 3
    differs = long & (rng.random(queries) < 0.7)
    clicked = _clicks(rng, taste[user], differs & new[user])
    clicks = clicked.sum(axis=1)
    first = np.where(clicks > 0, clicked.argmax(axis=1) + 1, 0)
    start = rng.integers(0, DAYS * 86_400 - 1_200, len(owner))
    events = {
        "user": np.char.add("u", user.astype(str)),
        "session": session,
        "time": np.datetime64("2024-05-06") + (start[session] + 30 * rng.integers(0, 40, queries)).astype("m8[s]"),
        "words": words,
        "query_length": np.where(long, "long", "short"),
        "differs": differs.astype(np.int64),
        "results": np.full(queries, DEPTH),
        "clicks": clicks,
        "first_click": first,
        "rr": np.divide(1.0, first, out=np.zeros(queries), where=first > 0),
        "quick_returns": rng.binomial(clicks, 0.3),
        "latency": np.round(rng.lognormal(4.6, 0.35, queries) * rng.gamma(30, 1 / 30, users)[user], 1),
    }
    _, opening = np.unique(user, return_index=True)
    assignments = {
        "user": np.char.add("u", np.arange(users).astype(str)),
        "arm": np.where(new, "new", "current"),
        "first_query": np.where(long[opening], "long", "short"),
        "device": np.array(["desktop", "phone", "tablet"])[rng.choice(3, users, p=[0.35, 0.55, 0.1])],
        "past_clicks": rng.poisson(20 * taste),
    }
    return events, assignments


def _clicks(rng: np.random.Generator, taste: NDArray[np.float64], better: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return who clicked where: positions are looked at less and less, the new ranking has better ones on top."""
    position = np.arange(DEPTH)
    looked_at = 0.75**position
    lift = np.where(better[:, None], 1 + 0.25 * (0.5**position)[None, :], 1.0)
    return np.asarray(rng.random((len(taste), DEPTH)) < np.minimum(0.95, 0.22 * looked_at * lift * taste[:, None]))


def write(folder: Path, users: int = USERS, seed: int = 0) -> tuple[Path, Path]:
    """Write ``events.parquet`` and ``assignments.parquet`` and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = folder / "events.parquet", folder / "assignments.parquet"
    for path, made in zip(paths, search_experiment(users, seed), strict=True):
        pq.write_table(pa.table(made), path)
    return paths


if __name__ == "__main__":
    for place in write(Path(sys.argv[1])):
        print(place)
