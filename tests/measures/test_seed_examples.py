"""The worked examples of three tutorials, as corrected where their texts are wrong."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import average_precision_score  # type: ignore[import-untyped]  # sklearn ships no types

from rankstats.conventions import Policies
from rankstats.measures import contributions, parse_measure
from rankstats.tables import make_hits
from tests.measures.computed import table_of, value_of_grades, values_of_grades
from tests.shared import shared
from tests.tables.made import judgments_of, ranking_of

pytestmark = pytest.mark.shared

EXPONENTIAL = "nDCG(dcg='exp-log2')"
GAINED = "DCG(dcg='exp-log2')"
A_ONE = (1.0,)


def at_rank(rank: int) -> list[float]:
    """Return a list whose only relevant document stands at a rank."""
    return [0.0] * (rank - 1) + [1.0]


def at_ranks(ranks: Sequence[int]) -> list[float]:
    return [float(rank in ranks) for rank in range(1, max(ranks) + 1)]


def parts(name: str, grades: Sequence[float]) -> list[float]:
    """Return what each document contributes, best rank first."""
    listed = [f"d{rank:03}" for rank in range(len(grades))]
    judgments = judgments_of({"q": dict(zip(listed, grades, strict=True))})
    rows = [("q", doc_id, float(-rank)) for rank, doc_id in enumerate(listed)]
    found = contributions(parse_measure(name), judgments, make_hits(judgments, ranking_of(rows), Policies()))
    assert found is not None
    return [float(part) for part in found]


def mean(name: str, lists: Sequence[Sequence[float]]) -> float:
    """Return the mean over queries, one list each."""
    grades = {f"q{i}": {f"d{r}": grade for r, grade in enumerate(listed)} for i, listed in enumerate(lists)}
    rows = [(q, doc_id, -float(doc_id[1:])) for q, judged in grades.items() for doc_id in judged]
    return float(np.mean([values[name] for values in table_of([name], grades, rows).values()]))


def dcg_and_ndcg(grades: Sequence[float]) -> dict[str, float]:
    values = values_of_grades([GAINED, EXPONENTIAL], grades)
    return {"DCG": values[GAINED], "NDCG": values[EXPONENTIAL]}


def agrees_with_sklearn() -> bool:
    rng = np.random.default_rng(0)
    lists = [[*rng.integers(0, 2, 9).astype(float), 1.0] for _ in range(20)]
    theirs = [average_precision_score(grades, np.arange(10, 0, -1)) for grades in lists]
    return [value_of_grades("AP", grades) for grades in lists] == pytest.approx(theirs, abs=1e-12)


COMPUTED: Mapping[str, Callable[[], Any]] = {
    "000-rr": lambda: value_of_grades("RR", [0, 1]),
    "000-ap-terms": lambda: [value_of_grades(f"P@{rank}", [1, 0, 1, 0, 1]) for rank in (1, 3, 5)],
    "000-ap": lambda: value_of_grades("AP", [1, 0, 1, 0, 1]),
    "000-ap-single-1": lambda: value_of_grades("AP", at_rank(1)),
    "000-ap-single-3": lambda: value_of_grades("AP", at_rank(3)),
    "000-ap-single-30": lambda: value_of_grades("AP", at_rank(30)),
    "000-graded-ignored": lambda: {
        name: [value_of_grades(ours, grades) for grades in ([3, 1, 0], [1, 3, 0])]
        for name, ours in {"AP": "AP", "RR": "RR", "nDCG_exp": EXPONENTIAL}.items()
    },
    "000-err1-R": lambda: [value_of_grades("ERR(max=3)@1", [grade]) for grade in (2, 3, 0)],
    "000-err1": lambda: value_of_grades("ERR(max=3)", [2, 3, 0]),
    "000-err1-rr": lambda: value_of_grades("RR", [2, 3, 0]),
    "000-err2-R": lambda: [value_of_grades("ERR(max=8)@1", [grade]) for grade in (4, 8)],
    "000-err2-rank1": lambda: value_of_grades("ERR(max=8)", [8, 4, 4, 4, 4]),
    "000-err2-rank2": lambda: value_of_grades("ERR(max=8)", [4, 4, 4, 4, 8]),
    "000-err2-contrib": lambda: [parts("ERR(max=8)", [8, 4, 4, 4, 4])[0], parts("ERR(max=8)", [4, 4, 4, 4, 8])[4]],
    "000-err2-factor": lambda: parts("ERR(max=8)", [8, 4, 4, 4, 4])[0] / parts("ERR(max=8)", [4, 4, 4, 4, 8])[4],
    "000-ndcg-A": lambda: dcg_and_ndcg([3, 2, 1]) | {"IDCG": value_of_grades(GAINED, [3, 2, 1])},
    "000-ndcg-B": lambda: dcg_and_ndcg([2, 1, 3]),
    "000-ndcg-B-table": lambda: dcg_and_ndcg([2, 3, 1]) | {"contributions": parts(GAINED, [2, 3, 1])},
    "000-discount-table": lambda: {
        "linear": [value_of_grades("RR", at_rank(rank)) for rank in (1, 2, 5, 10, 50)],
        "log": [value_of_grades("DCG", at_rank(rank)) for rank in (1, 2, 5, 10, 50)],
    },
    "001-p5": lambda: value_of_grades("P@5", [1, 1, 1, 0, 0]),
    "001-ap-A": lambda: value_of_grades("AP", [1, 1, 1, 0, 0]),
    "001-ap-B": lambda: value_of_grades("AP", [0, 0, 1, 1, 1]),
    "001-map-B": lambda: mean("AP", [[0, 0, 1, 1, 1], [0, 1]]),
    "001-map-AC": lambda: mean("AP", [[1, 1, 1, 0, 0], [1, 0]]),
    "001-gains": lambda: [value_of_grades(f"{GAINED}@1", [grade]) for grade in (0, 1, 2, 3)],
    "001-disc": lambda: [1 / value_of_grades("DCG", at_rank(rank)) for rank in (1, 2, 3)],
    "001-dcg-C": lambda: value_of_grades(f"{GAINED}@3", [1, 2, 3, 0, 0]),
    "001-idcg": lambda: value_of_grades(f"{GAINED}@3", [3, 2, 1]),
    "001-ndcg-C": lambda: value_of_grades(f"{EXPONENTIAL}@3", [1, 2, 3, 0, 0]),
    "001-ndcg-C-mean": lambda: mean(f"{EXPONENTIAL}@3", [[1, 2, 3, 0, 0], [3]]),
    "001-ndcg-C-linear": lambda: {
        "query1": value_of_grades("nDCG@3", [1, 2, 3, 0, 0]),
        "mean": mean("nDCG@3", [[1, 2, 3, 0, 0], [3]]),
    },
    "001-ndcg-B-q2": lambda: value_of_grades(f"{EXPONENTIAL}@3", [0, 3]),
    "001-rr": lambda: [value_of_grades("RR", at_rank(rank)) for rank in (1, 2, 5)],
    "001-mrr-B": lambda: mean("RR", [[0, 0, 1, 1, 1], [0, 1]]),
    "001-apk-denominator": lambda: {
        "den_R": value_of_grades("AP@5", [1] * 5, not_returned=A_ONE * 5),
        "den_min_R_k": value_of_grades("AP(denominator='min')@5", [1] * 5, not_returned=A_ONE * 5),
    },
    "001-sklearn-ap": agrees_with_sklearn,
    "002-ndcg5": lambda: value_of_grades("nDCG@5", [1, 0, 1, 0, 1]),
    "002-dcg5": lambda: value_of_grades("DCG@5", [1, 0, 1, 0, 1]),
    "002-idcg5": lambda: value_of_grades("DCG@5", [1, 1, 1]),
    "002-discounts": lambda: [value_of_grades("DCG", at_rank(rank)) for rank in (1, 3, 5, 2)],
    "002-ndcg10-5-8-10": lambda: {f"ndcg@{k}": value_of_grades(f"nDCG@{k}", at_ranks([5, 8, 10])) for k in (10, 5)},
    "002-recall10": lambda: value_of_grades("R@10", at_ranks([5, 8, 10])),
    "002-code-ideal": lambda: {"ndcg@10": value_of_grades("nDCG@10", [1] + [0] * 9, not_returned=A_ONE * 2)},
    "002-map-equals-ndcg": lambda: {
        name: [value_of_grades(name, grades) for grades in ([0, 1, 1, 1, 0, 0], [1, 0, 0, 0, 1, 1])]
        for name in ("AP", "nDCG")
    },
    "002-ap-def": lambda: {
        key: value_of_grades(name, [1] + [0] * 9, not_returned=A_ONE * 2)
        for key, name in {
            "den_R": "AP@10",
            "den_min_R_k": "AP(denominator='min')@10",
            "den_retrieved": "AP(denominator='retrieved')@10",
        }.items()
    },
    "002-precision-monotone": lambda: {f"P@{k}": value_of_grades(f"P@{k}", [0, 1]) for k in (1, 2)},
    "002-p10-order": lambda: {
        key: [value_of_grades(name, at_rank(rank)) for rank in (1, 10)]
        for key, name in {"P@10": "P@10", "ndcg@10": "nDCG@10"}.items()
    },
}
CLASSES = {
    # documents returned (called relevant) and not returned, by grade
    "001-acc": ([1.0] * 5 + [0.0] * 4, [1.0] * 6 + [0.0] * 85),
    "001-acc-ABC": ([1.0, 0.0, 1.0, 1.0, 0.0], []),
    "001-acc-100": ([], [1.0] * 3 + [0.0] * 97),
}
COMPUTED = {
    **COMPUTED,
    **{
        example: lambda lists=lists: value_of_grades("ClassAccuracy", lists[0], not_returned=lists[1])
        for example, lists in CLASSES.items()
    },
}
IN_WORDS = {
    "000-idcg-def": "a definition; the ideal from all judged documents is what 002-code-ideal and 000-ndcg-A compute",
    "000-err-product": "a matter of typesetting; 000-err1 holds the product",
}
ELSEWHERE = {
    "001-rel-gain": "a relative difference, which comparisons compute",
    "002-coverage": "coverage of a catalogue, which test_beyond_exposure computes",
}
WRONG_CODE = "document_code"
"""What a tutorial's program prints, beside the right value."""


def examples() -> dict[str, Any]:
    loaded = json.loads(shared("golden/seed_examples.json").read_text())["examples"]
    return {example["id"]: example for example in loaded}


def flat(value: Any) -> list[float]:
    if isinstance(value, dict):
        return [number for key in sorted(value) if key != WRONG_CODE for number in flat(value[key])]
    if isinstance(value, list):
        return [number for part in value for number in flat(part)]
    return [float(value)]


@pytest.mark.parametrize("example", COMPUTED)
def test_example_gives_the_right_value(example: str) -> None:
    right, ours = examples()[example]["right"], COMPUTED[example]()
    assert flat(ours) == pytest.approx(flat(right), abs=1e-9)


def test_every_example_is_listed() -> None:
    assert len(COMPUTED) == 50
    assert set(examples()) == set(COMPUTED) | set(IN_WORDS) | set(ELSEWHERE)
