"""Whether a difference is carried by a few queries, and which documents made the difference on a query."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from rankstats import stats
from rankstats.comparison.columns import Block
from rankstats.comparison.evidence import Evidence
from rankstats.comparison.result import Carrier, Explanation, Move, Robustness, defined
from rankstats.measures import contributions, parse_measure
from rankstats.tables import Hits, Judgments

CARRIERS = 5
"""Queries named as those that move a difference most."""
MOST_CLAIMS = 1000
"""Larger families are not described claim by claim."""
MOST_MOVES = 6
"""Documents named for a query."""


def make_robustness(evidence: Evidence, block: Block, claims: Sequence[int]) -> tuple[Robustness, ...]:
    """Return a row for each claim over all queries: concentration, the largest queries, median and trimmed mean.

    Parameters
    ----------
    evidence : Evidence
        Names the queries.
    block : Block
        The columns under the plan's weights.
    claims : sequence of int
        Columns of the confirmatory family.
    """
    chosen = [c for c in claims if block.columns[c].attribute is None]
    if len(chosen) > MOST_CLAIMS:
        return ()
    columns = block.differences.select(np.asarray(chosen, dtype=np.int64))
    result = stats.concentration(columns)
    rows = []
    for k, c in enumerate(chosen):
        side = int(result.side[k])
        rows.append(
            Robustness(
                difference_id=block.id(c),
                median=defined(result.median[k]),
                trimmed_mean=defined(result.trimmed_mean[k]),
                trim=result.trim,
                gain=defined(result.gain[k]),
                loss=defined(result.loss[k]),
                side={1: "gain", -1: "loss"}.get(side),
                movers=int(result.movers[k]),
                half=int(result.half[k]),
                share_of_largest=defined(result.share_of_largest[k]),
                carriers=_carriers(evidence, columns, k, side),
            )
        )
    return tuple(rows)


def _carriers(evidence: Evidence, columns: stats.Differences, k: int, side: int) -> tuple[Carrier, ...]:
    """The queries with the largest (weighted) differences on the leading side; equal ones in order of query id."""
    amount = side * columns.numerators[:, k]
    total = amount[amount > 0].sum()
    order = np.argsort(-amount, kind="stable")[:CARRIERS]
    ids, values = evidence.scores.query_ids, columns.integers[:, k] * columns.unit[k]
    return tuple(
        Carrier(ids[q], float(values[q]), float(amount[q] / total)) for q in order.tolist() if side and amount[q] > 0
    )


def contributed(evidence: Evidence, m: int, systems: Iterable[int]) -> dict[int, NDArray[np.float64] | None]:
    """Return what each hit of some systems brings to a measure; None where it is no sum over documents."""
    if evidence.judgments is None or not evidence.hits:
        return {}
    measure = parse_measure(evidence.scores.measures[m].name)
    if measure.declaration.needs:
        return dict.fromkeys(systems)
    return {s: contributions(measure, evidence.judgments, evidence.hits[s]) for s in systems}


def explain_queries(
    evidence: Evidence,
    pairs: Sequence[tuple[int, int]],
    primary: Sequence[int],
    shown: Mapping[int, set[int]],
) -> tuple[Explanation, ...]:
    """Return which judged documents moved, came or went on the shown queries, the most telling first.

    The change of a document is what it brings to the system's value less what it brings to the baseline's. For a
    measure that is not a sum over documents it is None, and documents are ordered by grade and rank.

    Parameters
    ----------
    evidence : Evidence
        Judgments and hits; without them nothing is explained.
    pairs : sequence of (int, int)
        Compared (baseline, system) indices.
    primary : sequence of int
        Indices of the primary measures.
    shown : mapping of int to set of int
        Query indices by system, as `extreme_queries` gives them.
    """
    if evidence.judgments is None or not evidence.hits:
        return ()
    rows = []
    for m in primary:
        info = evidence.scores.measures[m]
        brought = contributed(evidence, m, shown)
        for b, s in pairs:
            for q in sorted(shown.get(b, set()) & shown.get(s, set())):
                value = evidence.scores.values[q, [b, s], m]
                if value[0] == value[1] or np.isnan(value).any():
                    continue
                moves = _moves(evidence.judgments, (evidence.hits[b], brought[b]), (evidence.hits[s], brought[s]), q)
                if moves:
                    ids = evidence.scores
                    rows.append(Explanation(ids.query_ids[q], ids.systems[b], ids.systems[s], info.name, moves))
    return tuple(rows)


_Listed = tuple[Hits, NDArray[np.float64] | None]


def _moves(judgments: Judgments, before: _Listed, after: _Listed, q: int) -> tuple[Move, ...]:
    found: dict[int, list[tuple[int, float | None] | None]] = defaultdict(lambda: [None, None])
    grades: dict[int, float] = {}
    for place, (hits, brought) in enumerate((before, after)):
        start, stop = (int(end) for end in np.searchsorted(hits.query, [q, q + 1]))
        for h in range(start, stop):
            row = int(hits.judgment[h])
            grades[row] = float(hits.grade[h])
            if grades[row] > 0:
                found[row][place] = (int(hits.rank[h]), None if brought is None else float(brought[h]))
    ranked = []
    for row, (old, new) in found.items():
        if (old and old[0]) == (new and new[0]):
            continue
        change = None
        if before[1] is not None:
            change = (new[1] or 0.0 if new else 0.0) - (old[1] or 0.0 if old else 0.0)
        best = min(rank for rank in (old and old[0], new and new[0]) if rank)
        ranked.append((-abs(change or 0.0), -grades[row], best, row, old, new, change))
    ranked.sort(key=lambda item: item[:4])
    return tuple(
        Move(str(judgments.doc_ids[row].as_py()), grades[row], old and old[0], new and new[0], change)
        for *_, row, old, new, change in ranked[:MOST_MOVES]
    )
