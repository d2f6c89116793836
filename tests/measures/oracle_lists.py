"""Measures of whole lists, of levels of recall and of incomplete judgments, straight from their definitions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from tests.measures.oracle_basic import (
    Formula,
    Judged,
    Value,
    average_precision,
    found,
    ndcg,
    precision,
    recall,
    relevant_count,
    top,
)

EPSILON = 0.00001


def relevant(judged: Judged, doc_id: str, rel: float) -> bool:
    return doc_id in judged and judged[doc_id] >= rel


def not_relevant(judged: Judged, doc_id: str, rel: float) -> bool:
    return doc_id in judged and 0 <= judged[doc_id] < rel


def bpref(judged: Judged, listed: Sequence[str], rel: float = 1) -> Value:
    r = relevant_count(judged, rel)
    n = sum(not_relevant(judged, doc_id, rel) for doc_id in judged)
    if not r:
        return None
    total = 0.0
    for place, doc_id in enumerate(listed):
        if relevant(judged, doc_id, rel):
            above = sum(not_relevant(judged, other, rel) for other in listed[:place])
            total += 1 - (min(above, r) / min(n, r) if above else 0)
    return total / r


def inferred_ap(judged: Judged, listed: Sequence[str], rel: float = 1) -> Value:
    r = relevant_count(judged, rel)
    if not r:
        return None
    total = 0.0
    for above, doc_id in enumerate(listed):
        if relevant(judged, doc_id, rel):
            good = sum(relevant(judged, other, rel) for other in listed[:above])
            bad = sum(not_relevant(judged, other, rel) for other in listed[:above])
            pooled = sum(other in judged for other in listed[:above])
            share = (good + EPSILON) / (good + bad + 2 * EPSILON)
            total += 1 / (above + 1) + (above / (above + 1) * (pooled / above) * share if above else 0)
    return total / r


def condensed(formula: Formula) -> Formula:
    return lambda judged, listed: formula(judged, [doc_id for doc_id in listed if judged.get(doc_id, -1) >= 0])


def r_precision(judged: Judged, listed: Sequence[str], rel: float = 1, multiple: float = 1) -> Value:
    r = relevant_count(judged, rel)
    cut = int(multiple * r + 0.9)
    return None if not r else found(judged, listed, cut, rel) / cut if cut else 0.0


def interpolated(
    judged: Judged, listed: Sequence[str], level: float, rel: float = 1, *, nearest: bool = False
) -> Value:
    r = relevant_count(judged, rel)
    if not r:
        return None
    wanted = math.floor(level * r + 0.5) if nearest else int(level * r + 0.9)
    precisions = [
        found(judged, listed, rank, rel) / rank
        for rank in range(1, len(listed) + 1)
        if found(judged, listed, rank, rel) >= wanted
    ]
    return max(precisions, default=0.0)


def eleven_points(judged: Judged, listed: Sequence[str], *, nearest: bool = False) -> Value:
    values = [interpolated(judged, listed, tenth / 10, nearest=nearest) for tenth in range(11)]
    return None if None in values else sum(value or 0.0 for value in values) / 11


def logarithm(value: Value) -> Value:
    return None if value is None else math.log(max(value, 0.00001))


def set_precision(judged: Judged, listed: Sequence[str], rel: float = 1) -> float:
    return found(judged, listed, None, rel) / len(listed) if listed else 0.0


def set_recall(judged: Judged, listed: Sequence[str], rel: float = 1) -> Value:
    r = relevant_count(judged, rel)
    return found(judged, listed, None, rel) / r if r else None


def set_f(judged: Judged, listed: Sequence[str], beta: float = 1, rel: float = 1) -> Value:
    p, r = set_precision(judged, listed, rel), set_recall(judged, listed, rel)
    if r is None:
        return None
    return (1 + beta) * p * r / (beta * p + r) if p + r else 0.0


def set_ap(judged: Judged, listed: Sequence[str]) -> Value:
    r = set_recall(judged, listed)
    return None if r is None else set_precision(judged, listed) * r


def set_relative(judged: Judged, listed: Sequence[str]) -> Value:
    r = relevant_count(judged, 1)
    if not r:
        return None
    return found(judged, listed, None, 1) / min(len(listed), r) if listed else 0.0


def pairwise(judged: Judged, listed: Sequence[str], k: int | None = None) -> Value:
    """Share of pairs in the right order, counted one by one."""
    if not relevant_count(judged, 1):
        return None
    classes = [relevant(judged, doc_id, 1) for doc_id in top(listed, k)]
    pairs = [
        (good < bad)
        for good, is_good in enumerate(classes)
        for bad, is_bad in enumerate(classes)
        if is_good and not is_bad
    ]
    if not any(classes):
        return 0.0
    return sum(pairs) / len(pairs) if pairs else 1.0


def class_accuracy(judged: Judged, listed: Sequence[str], k: int | None = None, rel: float = 1) -> Value:
    positive = set(top(listed, k))
    return sum((doc_id in positive) == (grade >= rel) for doc_id, grade in judged.items()) / len(judged)


def count(condition: Callable[[str], bool], documents: Sequence[str]) -> Value:
    return float(sum(condition(doc_id) for doc_id in documents))


LISTS: Mapping[str, Formula] = {
    "Rprec": r_precision,
    "Rprec(rel=2,mult=1.4)": lambda j, d: r_precision(j, d, 2, 1.4),
    "Rprec(mult=0.05)": lambda j, d: r_precision(j, d, 1, 0.05),
    "IPrec@0": lambda j, d: interpolated(j, d, 0),
    "IPrec@0.3": lambda j, d: interpolated(j, d, 0.3),
    "IPrec@1": lambda j, d: interpolated(j, d, 1),
    "IPrec(rel=2)@0.5": lambda j, d: interpolated(j, d, 0.5, 2),
    "IPrec(rounding='nearest')@0.3": lambda j, d: interpolated(j, d, 0.3, nearest=True),
    "IAP": eleven_points,
    "IAP(rounding='nearest')": lambda j, d: eleven_points(j, d, nearest=True),
    "IAP(levels=[0.25, 1])": lambda j, d: (
        None if interpolated(j, d, 1) is None else ((interpolated(j, d, 0.25) or 0) + (interpolated(j, d, 1) or 0)) / 2
    ),
    "Bpref": bpref,
    "Bpref(rel=2)": lambda j, d: bpref(j, d, 2),
    "infAP": inferred_ap,
    "infAP(rel=2)": lambda j, d: inferred_ap(j, d, 2),
    "Condensed(AP)": condensed(lambda j, d: average_precision(j, d, None)),
    "Condensed(nDCG@3)": condensed(lambda j, d: ndcg(j, d, 3)),
    "Condensed(P@2)": condensed(lambda j, d: precision(j, d, 2)),
    "Condensed(R(rel=2)@2)": condensed(lambda j, d: recall(j, d, 2, 2)),
    "Condensed(SetP)": condensed(set_precision),
    "Condensed(IPrec@0.5)": condensed(lambda j, d: interpolated(j, d, 0.5)),
    "GMAP": lambda j, d: logarithm(average_precision(j, d, None)),
    "GMAP(rel=2)": lambda j, d: logarithm(average_precision(j, d, None, 2)),
    "GMBpref": lambda j, d: logarithm(bpref(j, d)),
    "SetP": set_precision,
    "SetRelP": set_relative,
    "SetR": set_recall,
    "SetF": set_f,
    "SetF(rel=2,beta=3)": lambda j, d: set_f(j, d, 3, 2),
    "SetAP": set_ap,
    "Accuracy": pairwise,
    "Accuracy@3": lambda j, d: pairwise(j, d, 3),
    "ClassAccuracy": class_accuracy,
    "ClassAccuracy(rel=2)@2": lambda j, d: class_accuracy(j, d, 2, 2),
    "NumQ": lambda j, d: 1.0,
    "NumRel": lambda j, d: float(relevant_count(j, 1)),
    "NumNonRel(rel=2)": lambda j, d: count(lambda doc_id: not_relevant(j, doc_id, 2), list(j)),
    "NumRet": lambda j, d: float(len(d)),
    "NumRet@3": lambda j, d: float(len(d[:3])),
    "NumRelRet": lambda j, d: float(found(j, d, None, 1)),
    "NumRet(rel=2)@3": lambda j, d: float(found(j, d, 3, 2)),
    "NumNonRelRet": lambda j, d: count(lambda doc_id: not_relevant(j, doc_id, 1), d),
}
