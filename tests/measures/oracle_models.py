"""Measures with a model of the reader, and overlap with the ideal list, straight from their definitions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from tests.measures.oracle_basic import Formula, Judged, Value, top

LENGTH = 1000
"""cwl_eval cuts and fills every list to it."""


def rank_biased(
    judged: Judged, listed: Sequence[str], k: int | None, p: float, gain: Callable[[float], float]
) -> Value:
    return sum(
        (1 - p) * p ** (rank - 1) * gain(judged[doc_id])
        for rank, doc_id in enumerate(top(listed, k), start=1)
        if doc_id in judged
    )


def graded_rbp(judged: Judged, listed: Sequence[str], k: int | None, p: float = 0.8, most: float = 0) -> Value:
    scale = most or max([0.0, *judged.values()])
    return rank_biased(judged, listed, k, p, lambda grade: max(grade, 0.0) / scale if scale else 0.0)


def binary_rbp(judged: Judged, listed: Sequence[str], k: int | None, p: float = 0.8, rel: float = 1) -> Value:
    return rank_biased(judged, listed, k, p, lambda grade: float(grade >= rel))


def residual(judged: Judged, listed: Sequence[str], k: int | None, p: float = 0.8) -> Value:
    shown = top(listed, k)
    unknown = [rank for rank, doc_id in enumerate(shown, start=1) if judged.get(doc_id, -1) < 0]
    return sum((1 - p) * p ** (rank - 1) for rank in unknown) + p ** len(shown)


Goes = Callable[[int, float, float], float]
"""Chance of going on after rank i, given the gain there and the gain down to there."""


def model(judged: Judged, listed: Sequence[str], goes_on: Goes, low: float, high: float) -> Value:
    """Walk down the list as the C/W/L framework does: weights are products of the chances of going on."""
    grades = [max(judged.get(doc_id, 0.0), 0.0) for doc_id in listed[:LENGTH]]
    gains = [(min(max(grade, low), high) - low) / (high - low) for grade in grades]
    gains += [0.0] * (LENGTH - len(gains))
    weight, gained, weights, so_far = 1.0, 0.0, 0.0, 0.0
    for rank, gain in enumerate(gains, start=1):
        gained += weight * gain
        weights += weight
        so_far += gain
        weight *= goes_on(rank, gain, so_far)
    return gained / weights


def bejeweled(target: float, k: int) -> Goes:
    return lambda rank, gain, so_far: float(rank < k and so_far < target)


def inst(target: float) -> Goes:
    return lambda i, gain, so_far: ((i + 2 * target - so_far - 1) / (i + 2 * target - so_far)) ** 2


def insq(target: float) -> Goes:
    return lambda rank, gain, so_far: ((rank + 2 * target - 1) / (rank + 2 * target)) ** 2


def scaled_dcg(judged: Judged, listed: Sequence[str], k: int, high: float) -> Value:
    gains = [min(max(judged.get(doc_id, 0.0), 0.0), high) / high for doc_id in listed[:k]]
    best = sum(1 / math.log2(rank + 1) for rank in range(1, k + 1))
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1)) / best


def compatibility(judged: Judged, listed: Sequence[str], p: float = 0.95, normalize: bool = True) -> Value:
    wanted = [doc_id for doc_id, grade in judged.items() if grade > 0]
    if not wanted:
        return None
    place = {doc_id: rank for rank, doc_id in enumerate(listed)}
    ideal = sorted(wanted, key=lambda doc_id: (-judged[doc_id], place.get(doc_id, len(listed))))
    depth = max(len(listed), len(ideal))

    def overlap(first: Sequence[str], second: Sequence[str]) -> float:
        return sum(
            p ** (depth_now - 1) * len(set(first[:depth_now]) & set(second[:depth_now])) / depth_now
            for depth_now in range(1, depth + 1)
        )

    by = overlap(ideal, ideal) if normalize else sum(p**rank for rank in range(depth))
    return overlap(listed, ideal) / by


MODELS: Mapping[str, Formula] = {
    "RBP": lambda j, d: graded_rbp(j, d, None),
    "RBP(p=0.5,max=4)@3": lambda j, d: graded_rbp(j, d, 3, 0.5, 4),
    "RBP(rel=1)": lambda j, d: binary_rbp(j, d, None),
    "RBP(p=0.95,rel=2)@3": lambda j, d: binary_rbp(j, d, 3, 0.95, 2),
    "RBP_residual": lambda j, d: residual(j, d, None),
    "RBP_residual(p=0.5)@2": lambda j, d: residual(j, d, 2, 0.5),
    "SDCG(max_rel=4)@3": lambda j, d: scaled_dcg(j, d, 3, 4),
    "BPM(max_rel=4)@3": lambda j, d: model(j, d, bejeweled(1, 3), 0, 4),
    "BPM(T=0.5,min_rel=1,max_rel=3)@5": lambda j, d: model(j, d, bejeweled(0.5, 5), 1, 3),
    "INST(max_rel=4)": lambda j, d: model(j, d, inst(1), 0, 4),
    "INST(T=2,max_rel=2)": lambda j, d: model(j, d, inst(2), 0, 2),
    "INSQ(max_rel=4)": lambda j, d: model(j, d, insq(1), 0, 4),
    "NERR8(max_rel=4)@3": lambda j, d: model(j, d, lambda i, g, _: (1 - g) * (i < 3), 0, 4),
    "NERR9(max_rel=4)@3": lambda j, d: model(j, d, lambda i, g, _: i / (i + 1) * (1 - g) * (i < 3), 0, 4),
    "NERR10(max_rel=4)": lambda j, d: model(j, d, lambda i, g, _: 0.9 * (1 - g), 0, 4),
    "NERR11(max_rel=4)": lambda j, d: model(j, d, lambda i, g, s: insq(1)(i, g, s) * (1 - g), 0, 4),
    "Compat": compatibility,
    "Compat(p=0.8)": lambda j, d: compatibility(j, d, 0.8),
    "Compat(normalize=False)": lambda j, d: compatibility(j, d, normalize=False),
}
