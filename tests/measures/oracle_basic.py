"""The common measures straight from their definitions, for one query at a time, in plain Python."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

Judged = Mapping[str, float]
Value = float | None
"""None where the query has no value."""


def top(listed: Sequence[str], k: int | None) -> list[str]:
    return list(listed if k is None else listed[:k])


def relevant_count(judged: Judged, rel: float) -> int:
    return sum(grade >= rel for grade in judged.values())


def found(judged: Judged, listed: Sequence[str], k: int | None, rel: float) -> int:
    return sum(doc_id in judged and judged[doc_id] >= rel for doc_id in top(listed, k))


def precision(judged: Judged, listed: Sequence[str], k: int, rel: float = 1) -> Value:
    return found(judged, listed, k, rel) / k


def precision_of_returned(judged: Judged, listed: Sequence[str], k: int, rel: float = 1) -> Value:
    return found(judged, listed, k, rel) / min(k, len(listed)) if listed else 0.0


def recall(judged: Judged, listed: Sequence[str], k: int, rel: float = 1) -> Value:
    return found(judged, listed, k, rel) / relevant_count(judged, rel) if relevant_count(judged, rel) else None


def capped_recall(judged: Judged, listed: Sequence[str], k: int, rel: float = 1) -> Value:
    possible = min(k, relevant_count(judged, rel))
    return found(judged, listed, k, rel) / possible if possible else None


def f_measure(judged: Judged, listed: Sequence[str], k: int, rel: float = 1, beta: float = 1) -> Value:
    p, r = precision(judged, listed, k, rel), recall(judged, listed, k, rel)
    if p is None or r is None:
        return None
    return 0.0 if p == r == 0 else (1 + beta**2) * p * r / (beta**2 * p + r)


def hit_rate(judged: Judged, listed: Sequence[str], k: int, rel: float = 1) -> Value:
    return 1.0 if found(judged, listed, k, rel) else 0.0


def reciprocal_rank(judged: Judged, listed: Sequence[str], k: int | None, rel: float = 1) -> Value:
    for rank, doc_id in enumerate(top(listed, k), start=1):
        if doc_id in judged and judged[doc_id] >= rel:
            return 1 / rank
    return 0.0


def average_precision(
    judged: Judged, listed: Sequence[str], k: int | None, rel: float = 1, denominator: str = "R"
) -> Value:
    relevant = relevant_count(judged, rel)
    if not relevant:
        return None
    precisions = [
        found(judged, listed, rank, rel) / rank
        for rank, doc_id in enumerate(top(listed, k), start=1)
        if doc_id in judged and judged[doc_id] >= rel
    ]
    by = {"R": relevant, "min": min(relevant, k or relevant), "retrieved": len(precisions)}[denominator]
    return sum(precisions) / by if by else 0.0


def linear(grade: float) -> float:
    return max(grade, 0.0)


def exponential(grade: float) -> float:
    return 2 ** max(grade, 0.0) - 1


def discounted(gains: Sequence[float]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def dcg(judged: Judged, listed: Sequence[str], k: int | None, gain: Callable[[float], float] = linear) -> Value:
    return discounted([gain(judged.get(doc_id, 0.0)) for doc_id in top(listed, k)])


def ndcg(judged: Judged, listed: Sequence[str], k: int | None, gain: Callable[[float], float] = linear) -> Value:
    best = sorted((gain(grade) for grade in judged.values()), reverse=True)
    ideal = discounted(best if k is None else best[:k])
    value = dcg(judged, listed, k, gain)
    return None if ideal == 0 or value is None else value / ideal


def weighted(judged: Judged, listed: Sequence[str], k: int | None, weight: Callable[[int], float]) -> Value:
    """nDCG with another weight of each rank."""
    gains = [linear(judged.get(doc_id, 0.0)) for doc_id in top(listed, k)]
    best = sorted(map(linear, judged.values()), reverse=True)
    ideal = sum(weight(rank) * gain for rank, gain in enumerate(best if k is None else best[:k], start=1))
    return sum(weight(rank) * gain for rank, gain in enumerate(gains, start=1)) / ideal if ideal else None


def normalised_err(judged: Judged, listed: Sequence[str], k: int | None, maximum: float | None = 4) -> Value:
    best = sorted(judged, key=lambda doc_id: -judged[doc_id])
    ideal, value = (expected_reciprocal_rank(judged, docs, k, maximum) for docs in (best, listed))
    assert ideal is not None
    assert value is not None
    return value / ideal if ideal else None


def expected_reciprocal_rank(judged: Judged, listed: Sequence[str], k: int | None, maximum: float | None = 4) -> Value:
    scale = max([*judged.values(), 0.0]) if maximum is None else maximum
    total, goes_on = 0.0, 1.0
    for rank, doc_id in enumerate(top(listed, k), start=1):
        stops = exponential(judged.get(doc_id, 0.0)) / 2**scale
        total += goes_on * stops / rank
        goes_on *= 1 - stops
    return total


def judged_share(judged: Judged, listed: Sequence[str], k: int | None) -> Value:
    shown = top(listed, k)
    return sum(doc_id in judged for doc_id in shown) / len(shown) if shown else 0.0


def unjudged(judged: Judged, listed: Sequence[str], k: int) -> Value:
    return sum(judged.get(doc_id, -1) < 0 for doc_id in top(listed, k)) / k


def judged_of_k(judged: Judged, listed: Sequence[str], k: int, least: float) -> Value:
    return sum(doc_id in judged and judged[doc_id] >= least for doc_id in top(listed, k)) / k


Formula = Callable[[Judged, Sequence[str]], Value]

BASIC: Mapping[str, Formula] = {
    "P@1": lambda j, d: precision(j, d, 1),
    "P@3": lambda j, d: precision(j, d, 3),
    "P(rel=2)@10": lambda j, d: precision(j, d, 10, 2),
    "P(denominator='returned')@5": lambda j, d: precision_of_returned(j, d, 5),
    "R@2": lambda j, d: recall(j, d, 2),
    "R(rel=1.5)@3": lambda j, d: recall(j, d, 3, 1.5),
    "R(denominator='min')@2": lambda j, d: capped_recall(j, d, 2),
    "F1@3": lambda j, d: f_measure(j, d, 3),
    "F(beta=2)@3": lambda j, d: f_measure(j, d, 3, 1, 2),
    "F(beta=0.5,rel=2)@3": lambda j, d: f_measure(j, d, 3, 2, 0.5),
    "HitRate@2": lambda j, d: hit_rate(j, d, 2),
    "HitRate(rel=3)@2": lambda j, d: hit_rate(j, d, 2, 3),
    "RR": lambda j, d: reciprocal_rank(j, d, None),
    "RR@2": lambda j, d: reciprocal_rank(j, d, 2),
    "RR(rel=2)": lambda j, d: reciprocal_rank(j, d, None, 2),
    "AP": lambda j, d: average_precision(j, d, None),
    "AP@2": lambda j, d: average_precision(j, d, 2),
    "AP(rel=2)": lambda j, d: average_precision(j, d, None, 2),
    "AP(denominator='min')@2": lambda j, d: average_precision(j, d, 2, 1, "min"),
    "AP(denominator='retrieved')@3": lambda j, d: average_precision(j, d, 3, 1, "retrieved"),
    "DCG": lambda j, d: dcg(j, d, None),
    "DCG@3": lambda j, d: dcg(j, d, 3),
    "DCG(dcg='exp-log2')@3": lambda j, d: dcg(j, d, 3, exponential),
    "nDCG": lambda j, d: ndcg(j, d, None),
    "nDCG@3": lambda j, d: ndcg(j, d, 3),
    "nDCG(dcg='exp-log2')@3": lambda j, d: ndcg(j, d, 3, exponential),
    "nDCG(dcg='exp-log2')": lambda j, d: ndcg(j, d, None, exponential),
    "nDCG(gains={1: 0, 2: 5})@3": lambda j, d: ndcg(j, d, 3, lambda g: {1.0: 0.0, 2.0: 5.0}.get(g, linear(g))),
    "nDCG(discount='rank')@3": lambda j, d: weighted(j, d, 3, lambda rank: 1 / rank),
    "nDCG(discount='none')@3": lambda j, d: weighted(j, d, 3, lambda rank: 1),
    "nDCG(discount='jk2')@3": lambda j, d: weighted(j, d, 3, lambda rank: 1 if rank < 2 else 1 / math.log2(rank)),
    "nDCG(discount='jk3')": lambda j, d: weighted(j, d, None, lambda rank: 1 if rank < 3 else 1 / math.log(rank, 3)),
    "nDCG(discount=[1, 0.5])": lambda j, d: weighted(j, d, None, lambda rank: {1: 1, 2: 0.5}.get(rank, 0)),
    "nERR@3": lambda j, d: normalised_err(j, d, 3),
    "nERR(max='query')": lambda j, d: normalised_err(j, d, None, None),
    "ERR": lambda j, d: expected_reciprocal_rank(j, d, None),
    "ERR@3": lambda j, d: expected_reciprocal_rank(j, d, 3),
    "ERR(max=5)@3": lambda j, d: expected_reciprocal_rank(j, d, 3, 5),
    "ERR(max='query')@3": lambda j, d: expected_reciprocal_rank(j, d, 3, None),
    "Unjudged@3": lambda j, d: unjudged(j, d, 3),
    "Judged": lambda j, d: judged_share(j, d, None),
    "Judged@3": lambda j, d: judged_share(j, d, 3),
    "Judged(rel=0,denominator='k')@3": lambda j, d: judged_of_k(j, d, 3, 0),
}
