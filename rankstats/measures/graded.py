"""Measures of graded relevance: discounted cumulative gain and expected reciprocal rank."""

from __future__ import annotations

import numpy as np

from rankstats.measures.declaration import (
    Alias,
    Declaration,
    Parameter,
    Settings,
    Undefined,
    Values,
    at_k,
    choice,
    down_to_k,
    number,
    read_gains,
    read_number,
    write_gains,
)
from rankstats.measures.evaluation import Evaluation, Floats, Gain, Pool

LARGEST_EXPONENTIAL_GRADE = 10
"""Above it 2^grade − 1 lets one document outweigh a thousand others: such grades are percentages or counts."""


def _gain(settings: Settings) -> Gain:
    """Return the function from grades to gains; grades below 0 gain nothing."""

    def gain(grades: Floats) -> Floats:
        if settings["gains"]:
            gains = grades.copy()
            for grade, value in settings["gains"]:
                gains[grades == grade] = value
        else:
            gains = grades
        gains = np.maximum(gains, 0.0)
        return np.exp2(gains) - 1.0 if settings["dcg"] == "exp-log2" else gains

    return gain


def _discounted_gains(evaluation: Evaluation, settings: Settings) -> Values:
    gains = _gain(settings)(evaluation.hits.grade) * evaluation.within(settings["cutoff"])
    terms: Values = gains / np.log2(evaluation.hits.rank + 1.0)
    return terms


def _ideal(pool: Pool, settings: Settings) -> Values:
    return pool.ideal((settings["dcg"], settings["gains"]), _gain(settings), settings["cutoff"])


def _gain_objection(settings: Settings) -> str | None:
    if settings["gains"] and settings["dcg"] != "log2":
        return "takes gains from a table or dcg='exp-log2', not both: write the gains wanted into the table"
    return None


def _gains_rise(settings: Settings) -> bool:
    """Say whether a better grade surely has a gain that is not smaller."""
    return not settings["gains"]


def _gain_refusal(pool: Pool, settings: Settings) -> str | None:
    largest = pool.largest_grade()
    if settings["dcg"] != "exp-log2" or largest <= LARGEST_EXPONENTIAL_GRADE:
        return None
    return (
        f"the judgments hold a grade of {number(largest)}, and the gain 2^grade − 1 is meant for grades up to "
        f"{LARGEST_EXPONENTIAL_GRADE}; use the linear gain (leave out dcg='exp-log2') or a table of gains "
        f"(gains={{{number(largest)}: 3, …}})"
    )


def _scale(pool: Pool, settings: Settings) -> Values:
    """Return the largest grade of the scale per query, shape (Q,)."""
    if settings["max"] == "query":
        return pool.largest_grades()
    return np.full(pool.n_queries, settings["max"])


def _err_terms(evaluation: Evaluation, settings: Settings) -> Values:
    scale = _scale(evaluation.pool, settings)[evaluation.hits.query]
    grades = np.maximum(evaluation.hits.grade, 0.0)
    stops = (np.exp2(grades - scale) - np.exp2(-scale)) * evaluation.within(settings["cutoff"])
    terms: Values = evaluation.reaches(stops) * stops / evaluation.hits.rank
    return terms


def _err_refusal(pool: Pool, settings: Settings) -> str | None:
    largest = pool.largest_grade()
    if settings["max"] == "query" or largest <= settings["max"]:
        return None
    return (
        f"the judgments hold a grade of {number(largest)}, above the scale's maximum of {number(settings['max'])}; "
        f"name the maximum: ERR(max={number(largest)})"
    )


def _read_maximum(text: str) -> float | str:
    return text if text == "query" else read_number(text, 1, "a grade of 1 or more, or 'query',")


_GAIN_PARAMETERS = (
    choice(
        "dcg",
        "gain",
        {
            "log2": ("linear gain", "the grade; 0 for grades below 0 and for unjudged documents"),
            "exp-log2": ("2^rel − 1", "2^grade − 1; 0 for grades below 0 and for unjudged documents"),
        },
    ),
    Parameter(
        name="gains",
        default=(),
        read=read_gains,
        write=write_gains,
        label=lambda value: "gains " + ", ".join(f"{number(grade)}→{number(gain)}" for grade, gain in value),
        conventions=lambda value: (
            {"gain": f"from the table {write_gains(value)}, other grades their number; 0 for unjudged documents"}
            if value
            else {}
        ),
        usage="gains={grade: gain, …}",
    ),
)


def _dcg_formula(settings: Settings) -> str:
    gain = "gain(i)" if settings["gains"] else "grade(i)" if settings["dcg"] == "log2" else "(2^grade(i) − 1)"
    return f"DCG{at_k(settings)} = sum over {down_to_k(settings)} of {gain} / log2(i + 1)"


_DISCOUNT = "1 / log2(rank + 1)"

DCG = Declaration(
    name="DCG",
    title="Discounted cumulative gain",
    summary="sum of the gains of the first k documents, each discounted by its rank",
    formula=_dcg_formula,
    source="Järvelin & Kekäläinen 2002, with the discount of trec_eval ndcg",
    bounds=(0, None),
    cutoff="optional",
    parameters=_GAIN_PARAMETERS,
    conventions={"discount": _DISCOUNT},
    objection=_gain_objection,
    refusal=_gain_refusal,
    terms=_discounted_gains,
    rewards_moving_up=_gains_rise,
    aliases=(Alias("dcg", "ranx"), Alias("dcg_burges", "ranx", {"dcg": "exp-log2"})),
)

NDCG = Declaration(
    name="nDCG",
    title="Normalised discounted cumulative gain",
    summary="discounted gain of the first k documents as a share of the best list possible",
    formula=lambda settings: (
        f"nDCG{at_k(settings)} = DCG{at_k(settings)} / IDCG{at_k(settings)}, {_dcg_formula(settings)}"
    ),
    source="Järvelin & Kekäläinen 2002; trec_eval ndcg and ndcg_cut; 2^rel − 1: Burges et al. 2005",
    bounds=(0, 1),
    cutoff="optional",
    parameters=_GAIN_PARAMETERS,
    conventions={
        "discount": _DISCOUNT,
        "ideal": "all judged documents of the query, returned or not, largest gain first, cut at the same rank",
        "denominator": "IDCG@k, the discounted gain of the ideal list",
    },
    undefined=Undefined(
        words=lambda settings: "a query without a document of gain above 0",
        where=lambda pool, settings: _ideal(pool, settings) == 0,
    ),
    objection=_gain_objection,
    refusal=_gain_refusal,
    terms=_discounted_gains,
    rewards_moving_up=_gains_rise,
    denominator=lambda evaluation, settings: _ideal(evaluation.pool, settings),
    aliases=(
        Alias("NDCG", "ir_measures, ranx, BEIR"),
        Alias("ndcg", "trec_eval", cutoff=False),
        Alias("ndcg_cut", "trec_eval", joined=True),
        Alias("ndcg_burges", "ranx", {"dcg": "exp-log2"}),
    ),
)

EXPECTED_RECIPROCAL_RANK = Declaration(
    name="ERR",
    title="Expected reciprocal rank",
    summary="expected 1 / rank at which a reader going down the list is satisfied and stops",
    formula=lambda settings: (
        f"ERR{at_k(settings)} = sum over {down_to_k(settings)} of 1/i · S(i) · product over j < i of (1 − S(j)), "
        "S = (2^grade − 1) / 2^max"
    ),
    source="Chapelle et al. 2009; gdeval err, whose scale ends at 4",
    bounds=(0, 1),
    cutoff="optional",
    parameters=(
        Parameter(
            name="max",
            default=4.0,
            read=_read_maximum,
            write=lambda value: repr(value) if value == "query" else number(value),
            label=lambda value: "max of the query" if value == "query" else f"max {number(value)}",
            conventions=lambda value: {
                "max": "the largest grade judged for the query"
                if value == "query"
                else f"{number(value)}, the largest grade of the scale"
            },
            usage="max=4",
        ),
    ),
    conventions={
        "gain": "chance of stopping (2^grade − 1) / 2^max; 0 for grades below 0 and for unjudged documents",
        "discount": "1 / rank",
    },
    refusal=_err_refusal,
    terms=_err_terms,
)

DECLARATIONS = (DCG, NDCG, EXPECTED_RECIPROCAL_RANK)
