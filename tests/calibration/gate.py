"""How often the rules of a policy hold where the truth is known, and what that makes of the decision.

Run from the root of a checkout that has the shared collections beside it, it writes the tables::

    python -m tests.calibration.gate --out reports/calibration/gate.md
"""

from __future__ import annotations

import argparse
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankstats.decision import Claim, Guard, Policy, decide
from tests.calibration.draws import MATRICES, random_pairs, read_matrix
from tests.calibration.tables import END, START, shown, table

ALPHA = 0.05
RESAMPLES = 999
RULES = 20
QUERIES = (10, 25, 50, 100, 250, 1000)
SHAPES = ("normal", "symmetric", "as drawn", "rare")
"""Differences: normal; of real systems, each mirrored about its mean at random; of real systems as they are; and 0 but
for a loss of 0.5 on so few queries that it makes up the margin of 0.02 (4 % of them)."""
_AT_ONCE = 100

Floats = NDArray[np.float64]
Row = dict[str, Any]


def content_of(differences: Floats, seed: int = 0) -> Row:
    """Return what a decision reads of a report, for differences of shape (queries, measures) of two systems."""
    n, measures = differences.shape
    names = [f"m{k}" for k in range(measures)]
    return {
        "kind": "comparison",
        "systems": [{"name": "prod", "source": "made"}, {"name": "new", "source": "made"}],
        "measures": [
            {"name": name, "label": name, "definition": {"formula": "made"}, "higher_is_better": True} for name in names
        ],
        "queries": [{"query_id": f"q{q:06}", "weight": 1.0, "attributes": {}} for q in range(n)],
        "values": {
            "prod": {name: [0.5] * n for name in names},
            "new": {name: (0.5 + differences[:, k]).tolist() for k, name in enumerate(names)},
        },
        "differences": [],
        "verdict": [],
        "warnings": [],
        "audit": {"queries": {"missing": {}}},
        "reproduction": {"seed": seed, "resamples": RESAMPLES},
    }


def _policy(margins: Floats) -> Policy:
    guards = tuple(Guard(f"g{k}", f"m{k}", margin=float(margin)) for k, margin in enumerate(margins))
    return Policy("prod", "new", alpha=ALPHA, guards=guards)


def outcomes_at_the_margin(shape: str, measure: str, n: int, repetitions: int, rng: np.random.Generator) -> Row:
    """Return how often a guard holds, and how often it would fail alone, where the true harm is exactly its margin."""
    holds, fails = 0, 0
    for start in range(0, repetitions, _AT_ONCE):
        count = min(_AT_ONCE, repetitions - start)
        differences, margins = _at_the_margin(shape, measure, n, count, rng)
        content = content_of(differences, seed=start)
        for rule in decide(content, _policy(margins)).rules[-count:]:
            holds += rule.outcome == "holds"
            # at the rule's own level, as in a policy of one rule
            fails += rule.interval is not None and rule.interval.ends[1] < -rule.asked
    error = float(np.sqrt(ALPHA / 2 * (1 - ALPHA / 2) / repetitions))
    return {"shape": shape, "measure": measure, "n": n, "holds": holds / repetitions, "fails": fails / repetitions} | {
        "repetitions": repetitions,
        "se": error,
    }


def _at_the_margin(shape: str, measure: str, n: int, count: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    if shape == "normal":
        return rng.normal(-0.02, 0.1, (n, count)), np.full(count, 0.02)
    if shape == "rare":
        return np.where(rng.random((n, count)) < 0.04, -0.5, 0.0), np.full(count, 0.02)
    values = read_matrix(measure)
    first, second = random_pairs(rng, values, count)
    population = values[:, second] - values[:, first]
    # the second system is the worse one
    population = population * np.where(population.mean(axis=0) > 0, -1.0, 1.0)
    truth = population.mean(axis=0)
    kept = truth < 0
    population, truth = population[:, kept], truth[kept]
    while population.shape[1] < count:  # pairs of equal means have no margin
        again, margins = _at_the_margin("as drawn", measure, len(values), count, rng)
        population, truth = np.hstack([population, again])[:, :count], np.concatenate([truth, -margins])[:count]
    drawn = np.take_along_axis(population, rng.integers(0, len(values), (n, population.shape[1])), axis=0)
    if shape == "symmetric":
        drawn = truth + (drawn - truth) * rng.choice([-1.0, 1.0], drawn.shape)
    return drawn, -truth


def decisions(kind: str, n: int, repetitions: int, rng: np.random.Generator, *, shared: float = 0.5) -> Row:
    """Return how often a policy of 20 rules says GO and NO-GO.

    Differences are normal; `shared` is the correlation of the measures. Kinds: 'safe' (each guard 4 standard errors
    from its margin), 'one at its margin' (19 such and one whose true harm is its margin), 'no harm' (no difference,
    margins of 0.02), 'all at their margins' (the true harm of every guard is its margin), 'no gain' (20 claims of a
    gain, and no difference).
    """
    found = {"go": 0, "no_go": 0, "cannot_tell": 0}
    for repetition in range(repetitions):
        noise = rng.normal(0, 0.1, (n, RULES)) * np.sqrt(1 - shared) + rng.normal(0, 0.1, (n, 1)) * np.sqrt(shared)
        margins = np.full(RULES, 0.02 if kind in ("no harm", "all at their margins") else 4 * 0.1 / np.sqrt(n))
        harm = np.zeros(RULES)
        if kind == "one at its margin":
            harm[0] = margins[0]
        if kind == "all at their margins":
            harm = margins
        policy = _policy(margins)
        if kind == "no gain":
            policy = Policy("prod", "new", alpha=ALPHA, claims=tuple(Claim(f"c{k}", f"m{k}") for k in range(RULES)))
        found[decide(content_of(noise - harm, seed=repetition), policy).outcome] += 1
    return {"kind": kind, "n": n, "correlation": shared, "repetitions": repetitions} | {
        name: count / repetitions for name, count in found.items()
    }


KINDS = ("safe", "one at its margin", "no harm", "all at their margins", "no gain")


def _seeded(*parts: object) -> np.random.Generator:
    return np.random.default_rng([20261130, zlib.crc32("|".join(map(str, parts)).encode())])


def margin_rows(repetitions: int) -> Iterator[Row]:
    """Yield the cells of guards at their margin."""
    for n in QUERIES:
        for shape in SHAPES:
            for measure in list(MATRICES) if shape in ("symmetric", "as drawn") else [""]:
                yield outcomes_at_the_margin(shape, measure, n, repetitions, _seeded(shape, measure, n))


def decision_rows(repetitions: int) -> Iterator[Row]:
    """Yield the cells of whole policies."""
    for kind in KINDS:
        for n in (25, 50, 200):
            for correlation in (0.0, 0.5):
                yield decisions(kind, n, repetitions, _seeded(kind, n, correlation), shared=correlation)


def markdown(margins: list[Row], policies: list[Row]) -> str:
    """Return the tables."""
    repetitions, error = margins[0]["repetitions"], margins[0]["se"]
    heads = list(dict.fromkeys((row["shape"], row["measure"]) for row in margins))
    titles = ["n", *(shape if not measure else f"{shape}, {measure}" for shape, measure in heads)]

    def pivot(value: str) -> str:
        found = {(row["n"], row["shape"], row["measure"]): shown(row[value]) for row in margins}
        return table(titles, [[str(n), *(found[n, *head] for head in heads)] for n in QUERIES], 1)

    names = ["kind", "n", "correlation", "GO", "NO-GO", "CANNOT TELL"]
    lines = [
        [
            row["kind"],
            str(row["n"]),
            f"{row['correlation']:g}",
            *(shown(row[o]) for o in ("go", "no_go", "cannot_tell")),
        ]
        for row in policies
    ]
    return "\n\n".join(
        [
            f"### True harm exactly at the margin: share of guards that hold (nominal .025; {repetitions:,} "
            f"repetitions, standard error {shown(error, 4)})",
            pivot("holds"),
            "### The same: share whose interval at their own level lies wholly beyond the margin",
            pivot("fails"),
            f"### Policies of {RULES} rules ({policies[0]['repetitions']:,} repetitions)",
            table(names, lines, 1),
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Simulate how often rules hold and policies say GO.")
    parser.add_argument("--out", type=Path, required=True, help="Markdown file; its text outside the tables is kept")
    parser.add_argument("--repetitions", type=int, default=4000, help="for each guard; a quarter of it for policies")
    asked = parser.parse_args()
    margins: list[Row] = []
    for row in margin_rows(asked.repetitions):
        print(row, flush=True)
        margins.append(row)
    policies: list[Row] = []
    for row in decision_rows(max(2, asked.repetitions // 4)):
        print(row, flush=True)
        policies.append(row)
    text = asked.out.read_text(encoding="utf-8") if asked.out.exists() else f"{START}\n{END}\n"
    before, _, rest = text.partition(START)
    after = rest.partition(END)[2]
    asked.out.write_text(f"{before}{START}\n\n{markdown(margins, policies)}\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
