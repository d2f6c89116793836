"""Agreement: rank correlation between measures, between systems, and between a ranking and the judges' grades."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from rankstats import stats
from rankstats.comparison.result import Agreement
from rankstats.tables import Hits, Scores

_STATISTICS = ("kendall_tau_b", "spearman")


def make_agreement(scores: Scores, hits: Sequence[Hits], pairs: Sequence[tuple[int, int]]) -> tuple[Agreement, ...]:
    """Return Kendall's τ-b and Spearman's ρ of measures, of compared systems, and of rankings with the grades.

    * measures: do two measures order the systems alike? Over the systems' means.
    * systems: are two systems good on the same queries? Over the queries, for each measure.
    * grades: does a system rank better judged documents higher? For each query over the judged documents that it
      returned, averaged over the queries where it is defined.
    """
    return (*_measures(scores), *_systems(scores, pairs), *_grades(hits))


def _pair(kind: str, what: tuple[str, ...], x: NDArray[np.float64], y: NDArray[np.float64]) -> list[Agreement]:
    values = (stats.kendall_tau(x, y), stats.spearman_rho(x, y))
    return [
        Agreement(kind, what, statistic, None if np.isnan(value) else float(value), None, len(x))
        for statistic, value in zip(_STATISTICS, values, strict=True)
    ]


def _measures(scores: Scores) -> list[Agreement]:
    known = scores.means()
    means = np.array(
        [
            [np.nan if (mean := known[(s, m)]) is None else mean for s in range(len(scores.systems))]
            for m in range(len(scores.measures))
        ]
    )
    means *= np.array([[1.0 if info.higher_is_better else -1.0] for info in scores.measures])
    rows: list[Agreement] = []
    judging = [m for m, info in enumerate(scores.measures) if not info.diagnostic]
    for a, b in combinations(judging, 2):
        if not np.isnan(means[[a, b]]).any():
            rows += _pair("measures", (scores.measures[a].name, scores.measures[b].name), means[a], means[b])
    return rows


def _systems(scores: Scores, pairs: Sequence[tuple[int, int]]) -> list[Agreement]:
    defined = scores.defined()
    rows: list[Agreement] = []
    for m, info in enumerate(scores.measures):
        if info.diagnostic:
            continue
        values = scores.values[defined[:, m], :, m]
        for b, s in pairs:
            rows += _pair("systems", (info.name, scores.systems[b], scores.systems[s]), values[:, b], values[:, s])
    return rows


def _grades(hits: Sequence[Hits]) -> list[Agreement]:
    rows: list[Agreement] = []
    for hit in hits:
        result = stats.grouped_rank_correlation(-hit.rank.astype(np.float64), hit.grade, hit.query)
        for statistic, values in zip(_STATISTICS, (result.tau_b, result.rho), strict=True):
            known = np.sort(values[~np.isnan(values)])
            mean = float(np.mean(known)) if len(known) else None
            rows.append(Agreement("grades", (hit.system,), statistic, mean, None, len(known)))
    return rows
