"""Measures of graded relevance: discounted cumulative gain and expected reciprocal rank."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Hashable

import numpy as np

from rankstats.measures.declaration import (
    NO_GAIN,
    Alias,
    Declaration,
    Parameter,
    Settings,
    Undefined,
    Values,
    at_k,
    choice,
    down_to_k,
    gain_pairs,
    number,
    read_gains,
    read_list,
    read_number,
    write_gains,
    write_list,
)
from rankstats.measures.evaluation import (
    Discount,
    Evaluation,
    Floats,
    Gain,
    Pool,
    log2_discount,
    reaches,
    sums,
)

LARGEST_EXPONENTIAL_GRADE = 10
"""Above it 2^grade − 1 lets one document outweigh a thousand others: such grades are percentages or counts."""


def gain_of(settings: Settings) -> Gain:
    """Return the function from grades to gains; grades below 0 gain nothing."""
    exponential = settings.get("dcg") == "exp-log2"

    def gain(grades: Floats) -> Floats:
        gains = grades
        if settings["gains"]:
            gains = grades.copy()
            for grade, value in settings["gains"]:
                gains[grades == grade] = value
        gains = np.maximum(gains, 0.0)
        return np.exp2(gains) - 1.0 if exponential else gains

    return gain


def gain_key(settings: Settings) -> Hashable:
    """Return what identifies the gain of `gain_of`."""
    return (settings.get("dcg") == "exp-log2", settings["gains"])


def gains_rise(settings: Settings) -> bool:
    """Say whether a better grade surely has a gain that is not smaller."""
    return not settings["gains"]


def _discount(settings: Settings) -> Discount:
    """Return the weight of each rank."""
    shape: str | tuple[float, ...] = settings["discount"]
    if isinstance(shape, tuple):
        weights = np.append(np.array(shape), 0.0)
        return lambda rank: weights[np.minimum(rank.astype(np.int64), len(shape) + 1) - 1]
    if shape == "log2":
        return log2_discount
    if shape == "rank":
        return lambda rank: 1.0 / rank
    if shape == "none":
        return np.ones_like
    base = float(shape.removeprefix("jk"))
    return lambda rank: 1.0 / np.maximum(np.log(rank) / np.log(base), 1.0)


def _discounted_gains(evaluation: Evaluation, settings: Settings) -> Values:
    gains = gain_of(settings)(evaluation.hits.grade) * evaluation.within(settings["cutoff"])
    if settings["discount"] == "log2":
        terms: Values = gains / np.log2(evaluation.hits.rank + 1.0)
        return terms
    return gains * _discount(settings)(evaluation.hits.rank.astype(np.float64))


def _ideal(pool: Pool, settings: Settings) -> Values:
    return pool.ideal(
        gain_key(settings), gain_of(settings), settings["cutoff"], _discount(settings), settings["discount"]
    )


def _gain_objection(settings: Settings) -> str | None:
    if settings["gains"] and settings["dcg"] != "log2":
        return "takes gains from a table or dcg='exp-log2', not both: write the gains wanted into the table"
    return None


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


def _stops(grades: Floats, scale: Floats) -> Floats:
    """Return the chance that a reader is satisfied by documents of certain grades."""
    stops: Floats = np.exp2(np.maximum(grades, 0.0) - scale) - np.exp2(-scale)
    return stops


def _err_terms(evaluation: Evaluation, settings: Settings) -> Values:
    scale = _scale(evaluation.pool, settings)[evaluation.hits.query]
    stops = _stops(evaluation.hits.grade, scale) * evaluation.within(settings["cutoff"])
    terms: Values = evaluation.reaches(stops) * stops / evaluation.hits.rank
    return terms


def _ideal_err(pool: Pool, settings: Settings) -> Values:
    lists = pool.ideal_lists("grades", lambda grades: np.maximum(grades, 0.0))
    within = True if settings["cutoff"] is None else lists.place <= settings["cutoff"]
    stops = _stops(lists.gain, _scale(pool, settings)[lists.query]) * within
    return sums(lists.query, reaches(lists.query, stops, pool.n_queries) * stops / lists.place, pool.n_queries)


def scale_refusal(measure: str) -> Callable[[Pool, Settings], str | None]:
    """Return the check that no grade is above the maximum that a name gives."""

    def refusal(pool: Pool, settings: Settings) -> str | None:
        largest = pool.largest_grade()
        if settings["max"] == "query" or largest <= settings["max"]:
            return None
        return (
            f"the judgments hold a grade of {number(largest)}, above the scale's maximum of "
            f"{number(settings['max'])}; name the maximum: {measure}(max={number(largest)})"
        )

    return refusal


def _read_maximum(text: str) -> float | str:
    return text if text == "query" else read_number(text, 1, "a grade of 1 or more, or 'query',")


def maximum(default: float | str) -> Parameter:
    """Declare the largest grade of the scale; 'query' is the largest grade judged for each query."""

    def write(value: float | str) -> str:
        return repr(value) if isinstance(value, str) else number(value)

    return Parameter(
        name="max",
        default=default,
        read=_read_maximum,
        write=write,
        label=lambda value: "max of the query" if value == "query" else f"max {number(value)}",
        conventions=lambda value: {
            "max": "the largest grade judged for the query"
            if value == "query"
            else f"{number(value)}, the largest grade of the scale"
        },
        usage=f"max={write(default)}",
    )


GAINS = Parameter(
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
)
"""Gains of grades that are not their number."""

_LINEAR_GAIN = "the grade; 0 for grades below 0 and for unjudged documents"
LINEAR = {"gain": _LINEAR_GAIN}
"""The convention of measures whose gain is the grade, unless a table says otherwise."""

_DISCOUNTS = {
    "log2": "1 / log2(rank + 1)",
    "rank": "1 / rank",
    "none": "none: every rank counts the same",
}
_JK = re.compile(r"jk([0-9]+(?:\.[0-9]+)?)")


def _read_discount(text: str) -> str | tuple[float, ...]:
    if text.startswith("["):
        weights = read_list(text, 0, "a list of weights such as [1, 0.5, 0.25]")
        if any(above < below for above, below in itertools.pairwise(weights)) or not weights[0]:
            raise ValueError(f"is {text!r}; weights begin above 0 and do not rise from rank to rank")
        return weights
    found = _JK.fullmatch(text)
    if text in _DISCOUNTS or (found and float(found[1]) > 1):
        return text
    known = ", ".join(repr(name) for name in _DISCOUNTS)
    raise ValueError(f"is {text!r}; choose {known}, 'jk2' (or another base) or a list of weights such as [1, 0.5]")


def _discount_in_words(value: str | tuple[float, ...]) -> str:
    if isinstance(value, tuple):
        return f"the weights {write_list(value)} from rank 1 on, then 0"
    base = value.removeprefix("jk")
    return _DISCOUNTS.get(value, f"1 / log{base}(rank), and none above rank {base} (Järvelin & Kekäläinen 2002)")


_GAIN_PARAMETERS = (
    choice(
        "dcg",
        "gain",
        {
            "log2": ("linear gain", _LINEAR_GAIN),
            "exp-log2": ("2^rel − 1", "2^grade − 1; 0 for grades below 0 and for unjudged documents"),
        },
    ),
    GAINS,
    Parameter(
        name="discount",
        default="log2",
        read=_read_discount,
        write=lambda value: write_list(value) if isinstance(value, tuple) else repr(value),
        label=lambda value: "weights " + write_list(value) if isinstance(value, tuple) else f"discount {value}",
        conventions=lambda value: {"discount": _discount_in_words(value)},
        usage="discount='log2'",
    ),
)


def _dcg_formula(settings: Settings) -> str:
    gain = "gain(i)" if settings["gains"] else "grade(i)" if settings["dcg"] == "log2" else "(2^grade(i) − 1)"
    weighted = f"{gain} / log2(i + 1)" if settings["discount"] == "log2" else f"{gain} · discount(i)"
    return f"DCG{at_k(settings)} = sum over {down_to_k(settings)} of {weighted}"


DCG = Declaration(
    name="DCG",
    title="Discounted cumulative gain",
    summary="sum of the gains of the first k documents, each discounted by its rank",
    formula=_dcg_formula,
    source="Järvelin & Kekäläinen 2002, with the discount of trec_eval ndcg",
    bounds=(0, None),
    cutoff="optional",
    parameters=_GAIN_PARAMETERS,
    objection=_gain_objection,
    refusal=_gain_refusal,
    terms=_discounted_gains,
    of_rank_alone=True,
    rewards_moving_up=gains_rise,
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
    of_rank_alone=True,
    rewards_moving_up=gains_rise,
    best_is_one=gains_rise,
    denominator=lambda evaluation, settings: _ideal(evaluation.pool, settings),
    aliases=(
        Alias("NDCG", "ir_measures, ranx, BEIR"),
        Alias("ndcg", "trec_eval", cutoff=False),
        Alias("ndcg", "trec_eval", joined=True, fills="gains", lists=True, rewritten=gain_pairs),
        Alias("ndcg_cut", "trec_eval", joined=True),
        Alias("ndcg_burges", "ranx", {"dcg": "exp-log2"}),
    ),
)

_CASCADE = {
    "gain": "chance of stopping (2^grade − 1) / 2^max; 0 for grades below 0 and for unjudged documents",
    "discount": "1 / rank",
}


def _err_formula(settings: Settings) -> str:
    return (
        f"ERR{at_k(settings)} = sum over {down_to_k(settings)} of 1/i · S(i) · product over j < i of (1 − S(j)), "
        "S = (2^grade − 1) / 2^max"
    )


EXPECTED_RECIPROCAL_RANK = Declaration(
    name="ERR",
    title="Expected reciprocal rank",
    summary="expected 1 / rank at which a reader going down the list is satisfied and stops",
    formula=_err_formula,
    source="Chapelle et al. 2009; gdeval err, whose scale ends at 4",
    bounds=(0, 1),
    cutoff="optional",
    parameters=(maximum(4.0),),
    conventions=_CASCADE,
    refusal=scale_refusal("ERR"),
    terms=_err_terms,
)

NORMALISED_ERR = Declaration(
    name="nERR",
    title="Normalised expected reciprocal rank",
    summary="expected reciprocal rank as a share of that of the best list possible",
    formula=lambda settings: (
        f"nERR{at_k(settings)} = ERR{at_k(settings)} / ERR of the ideal list; {_err_formula(settings)}"
    ),
    source="Chapelle et al. 2009; NTCIREVAL nERR",
    bounds=(0, 1),
    cutoff="optional",
    parameters=(maximum(4.0),),
    conventions={
        **_CASCADE,
        "ideal": "all judged documents of the query, returned or not, best grade first, cut at the same rank",
    },
    undefined=NO_GAIN,
    refusal=scale_refusal("nERR"),
    terms=_err_terms,
    denominator=lambda evaluation, settings: _ideal_err(evaluation.pool, settings),
    best_is_one=lambda settings: True,
)

DECLARATIONS = (DCG, NDCG, EXPECTED_RECIPROCAL_RANK, NORMALISED_ERR)
