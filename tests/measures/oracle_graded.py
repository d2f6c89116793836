"""Measures of graded relevance beside DCG, straight from their definitions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from tests.measures.oracle_basic import (
    Formula,
    Judged,
    Value,
    average_precision,
    discounted,
    linear,
    relevant_count,
    top,
)


def ideal_gains(judged: Judged, rel: float = 0) -> list[float]:
    return sorted((linear(grade) for grade in judged.values() if linear(grade) > 0 and grade >= rel), reverse=True)


def q_measure(
    judged: Judged, listed: Sequence[str], k: int | None, rel: float = 1, beta: float = 1, denominator: str = "R"
) -> Value:
    relevant = relevant_count(judged, rel)
    if not relevant:
        return None
    ideal = ideal_gains(judged, rel)
    total, found, gained = 0.0, 0, 0.0
    for rank, doc_id in enumerate(top(listed, k), start=1):
        grade = judged.get(doc_id, 0.0)
        if doc_id in judged and grade >= rel:
            found += 1
            gained += linear(grade)
            total += (found + beta * gained) / (rank + beta * sum(ideal[:rank]))
    return total / (relevant if denominator == "R" else min(relevant, k or relevant))


def graded_ap(judged: Judged, listed: Sequence[str], k: int | None) -> Value:
    ideal = sum(ideal_gains(judged))
    gains = [linear(judged.get(doc_id, 0.0)) for doc_id in top(listed, k)]
    pairs = ((rank, min(gain, above)) for rank, gain in enumerate(gains, start=1) for above in gains[:rank])
    return sum(shared / rank for rank, shared in pairs) / ideal if ideal else None


def graded_ap_by_threshold(judged: Judged, listed: Sequence[str]) -> Value:
    """The definition of the paper: the threshold is drawn among whole grades, the sums are expectations over it."""
    grades = [int(max(grade, 0)) for grade in judged.values()]
    if not any(grades):
        return None
    expected_sum = expected_relevant = 0.0
    for threshold in range(1, max(grades) + 1):
        relevant = sum(grade >= threshold for grade in grades)
        expected_sum += (average_precision(judged, listed, None, threshold) or 0.0) * relevant
        expected_relevant += relevant
    return expected_sum / expected_relevant


def dcg_down_to(judged: Judged, listed: Sequence[str], rank: int) -> float:
    return discounted([linear(judged.get(doc_id, 0.0)) for doc_id in listed[:rank]])


def ndcg_rel(judged: Judged, listed: Sequence[str]) -> Value:
    ideal = ideal_gains(judged)
    if not ideal:
        return None
    ranks = [rank for rank, doc_id in enumerate(listed, start=1) if judged.get(doc_id, 0.0) > 0]
    at_documents = sum(dcg_down_to(judged, listed, rank) / discounted(ideal[:rank]) for rank in ranks)
    at_end = dcg_down_to(judged, listed, len(listed)) / discounted(ideal)
    return (at_documents + (len(ideal) - len(ranks)) * at_end) / len(ideal)


def r_ndcg(judged: Judged, listed: Sequence[str]) -> Value:
    ideal = ideal_gains(judged)
    if not ideal:
        return None
    levels = [sum(gain >= level for gain in ideal) for level in sorted(set(ideal), reverse=True)]
    points = [dcg_down_to(judged, listed, rank) / discounted(ideal[:rank]) for rank in levels]
    if len(listed) > len(ideal) + 1:
        points.append(dcg_down_to(judged, listed, len(listed)) / discounted(ideal))
    return sum(points) / len(points)


def g_measure(judged: Judged, listed: Sequence[str]) -> Value:
    ideal = ideal_gains(judged)
    total, gained, cost = 0.0, 0.0, 0.0
    for place, doc_id in enumerate(listed):
        gain = linear(judged.get(doc_id, 0.0))
        gained += gain
        cost += max(ideal[place] if place < len(ideal) else 0.0, 1.0)
        total += gain / math.log2(2 + cost - gained)
    return total / sum(ideal) if ideal else None


def binary_g(judged: Judged, listed: Sequence[str], rel: float = 1) -> Value:
    total, passed = 0.0, 0
    for doc_id in listed:
        if doc_id in judged and judged[doc_id] >= rel:
            total += 1 / math.log2(2 + passed)
        else:
            passed += 1
    relevant = relevant_count(judged, rel)
    return total / relevant if relevant else None


GRADED: Mapping[str, Formula] = {
    "Q": lambda j, d: q_measure(j, d, None),
    "Q(rel=2,beta=0.5)@3": lambda j, d: q_measure(j, d, 3, 2, 0.5),
    "Q(denominator='min')@2": lambda j, d: q_measure(j, d, 2, denominator="min"),
    "GAP": lambda j, d: graded_ap(j, d, None),
    "GAP@3": lambda j, d: graded_ap(j, d, 3),
    "nDCG_rel": ndcg_rel,
    "Rndcg": r_ndcg,
    "G": g_measure,
    "binG": binary_g,
    "binG(rel=2)": lambda j, d: binary_g(j, d, 2),
}
