"""Measures that weigh ranks by how likely a reader gets there: rank-biased precision and the C/W/L family."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from rankstats.measures.declaration import (
    Declaration,
    Parameter,
    Settings,
    Values,
    at_k,
    down_to_k,
    number,
    numeric,
    probability,
    read_number,
)
from rankstats.measures.evaluation import Evaluation, Floats, Pool, divide, side_by_side
from rankstats.measures.graded import maximum, scale_refusal

DEPTH = 1000
"""Documents of a list that cwl_eval looks at; shorter lists go on without gain."""


def _rank_weights(evaluation: Evaluation, settings: Settings) -> Values:
    p = settings["p"]
    weights: Values = (1.0 - p) * p ** (evaluation.hits.rank - 1.0) * evaluation.within(settings["cutoff"])
    return weights


def _rbp_terms(evaluation: Evaluation, settings: Settings) -> Values:
    if settings["rel"] is not None:
        return _rank_weights(evaluation, settings) * evaluation.relevant(settings["rel"], None)
    hits = evaluation.hits
    if settings["max"] == "query":
        largest = evaluation.pool.largest_grades()[hits.query]
    else:
        largest = np.full(len(hits.query), settings["max"])
    return _rank_weights(evaluation, settings) * divide(np.maximum(hits.grade, 0.0), largest)


def _rbp_objection(settings: Settings) -> str | None:
    if settings["rel"] is not None and settings["max"] != "query":
        return "takes rel (gains 0 and 1) or max (gains that are grades divided by it), not both"
    return None


def _rbp_refusal(pool: Pool, settings: Settings) -> str | None:
    return None if settings["rel"] is not None else scale_refusal("RBP")(pool, settings)


def _residual_values(evaluation: Evaluation, settings: Settings) -> Values:
    judged = _rank_weights(evaluation, settings) * (evaluation.hits.grade >= 0)
    values: Values = np.maximum(1.0 - evaluation.sum(judged), 0.0)
    return values


_PERSISTENCE = numeric(
    "p",
    0.8,
    probability,
    lambda p: f"p = {p}",
    lambda p: f"{p}, the chance of going on to the next document",
    convention="persistence",
)

RANK_BIASED_PRECISION = Declaration(
    name="RBP",
    title="Rank-biased precision",
    summary="gain per document looked at by a reader who goes on to the next one with probability p",
    formula=lambda settings: f"RBP{at_k(settings)} = (1 − p) · sum over {down_to_k(settings)} of gain(i) · p^(i − 1)",
    source="Moffat & Zobel 2008; ir_measures RBP(rel=1)",
    bounds=(0, 1),
    cutoff="optional",
    parameters=(
        _PERSISTENCE,
        Parameter(
            name="rel",
            default=None,
            read=lambda text: read_number(text, 0, "a grade of 0 or more"),
            write=lambda value: "none" if value is None else number(value),
            label=lambda value: "graded" if value is None else f"rel ≥ {number(value)}",
            conventions=lambda value: {
                "gain": "grade / max; 0 for grades below 0 and for unjudged documents"
                if value is None
                else f"1 for a grade of at least {number(value)}, else 0"
            },
            usage="rel=none",
        ),
        maximum("query"),
    ),
    objection=_rbp_objection,
    refusal=_rbp_refusal,
    terms=_rbp_terms,
    of_rank_alone=True,
)

RBP_RESIDUAL = Declaration(
    name="RBP_residual",
    title="Residual of rank-biased precision",
    summary="how much larger RBP could be if all that is unjudged or not returned were of the best grade",
    formula=lambda settings: "1 − (1 − p) · sum of p^(i − 1) over " + down_to_k(settings) + " with a judged document",
    source="Moffat & Zobel 2008",
    bounds=(0, 1),
    cutoff="optional",
    parameters=(_PERSISTENCE,),
    conventions={
        "judged": "a document with a grade of 0 or more; ranks after the end of the list are not judged",
        "companion": "RBP with the same p, at least 0 and at most 1 − residual away from what it could be",
    },
    diagnostic=True,
    higher_is_better=False,
    values=_residual_values,
    rewards_moving_up=lambda settings: False,
    missing="a judged query that a run lacks has the value 1: nothing is known",
)

Continues = Callable[[Floats, Settings], Floats]
"""Makes the chance of going on after each rank, shape (N, D), from the gains of lists, shape (N, D)."""


def _gains(grades: Floats, settings: Settings) -> Floats:
    low, high = settings["min_rel"], settings["max_rel"]
    gains: Floats = (np.clip(np.maximum(grades, 0.0), low, high) - low) / (high - low)
    return gains


def _utility(continues: Continues) -> Callable[[Evaluation, Settings], Values]:
    """Return the values of a measure from the chance of going on after each rank: expected gain per document."""

    def values(evaluation: Evaluation, settings: Settings) -> Values:
        hits = evaluation.hits
        shown = np.flatnonzero(hits.rank <= DEPTH)
        query, rank, gains = hits.query[shown], hits.rank[shown], _gains(hits.grade[shown], settings)
        values = np.zeros(evaluation.pool.n_queries)
        for rows, line, _ in side_by_side(query, DEPTH):
            laid = np.zeros((int(line[-1]) + 1, DEPTH))
            laid[line, rank[rows] - 1] = gains[rows]
            reached = np.ones_like(laid)
            np.cumprod(continues(laid, settings)[:, :-1], axis=1, out=reached[:, 1:])
            first = np.flatnonzero(np.append(True, line[1:] != line[:-1]))
            values[query[rows][first]] = (reached * laid).sum(axis=1) / reached.sum(axis=1)
        return values

    return values


_RANKS: NDArray[np.float64] = np.arange(1.0, DEPTH + 1.0)


def _sdcg(gains: Floats, settings: Settings) -> Floats:
    going_on = np.where(settings["cutoff"] > _RANKS, np.log2(_RANKS + 1.0) / np.log2(_RANKS + 2.0), 0.0)
    return np.broadcast_to(going_on, gains.shape)


def _bpm(gains: Floats, settings: Settings) -> Floats:
    wanting = np.cumsum(gains, axis=1) < settings["T"]
    return np.where(wanting & (settings["cutoff"] > _RANKS), 1.0, 0.0)


def _inst(gains: Floats, settings: Settings) -> Floats:
    still = settings["T"] + (settings["T"] - np.cumsum(gains, axis=1))
    going_on: Floats = ((_RANKS + still - 1.0) / (_RANKS + still)) ** 2
    return going_on


def _insq(gains: Floats, settings: Settings) -> Floats:
    still = 2.0 * settings["T"]
    return np.broadcast_to(((_RANKS + still - 1.0) / (_RANKS + still)) ** 2, gains.shape)


def _nerr8(gains: Floats, settings: Settings) -> Floats:
    return np.where(settings["cutoff"] > _RANKS, 1.0 - gains, 0.0)


def _nerr9(gains: Floats, settings: Settings) -> Floats:
    return np.where(settings["cutoff"] > _RANKS, _RANKS / (_RANKS + 1.0) * (1.0 - gains), 0.0)


def _nerr10(gains: Floats, settings: Settings) -> Floats:
    going_on: Floats = settings["p"] * (1.0 - gains)
    return going_on


def _nerr11(gains: Floats, settings: Settings) -> Floats:
    return _insq(gains, settings) * (1.0 - gains)


_MIN_REL = numeric(
    "min_rel",
    0.0,
    lambda text: read_number(text, 0, "a grade of 0 or more"),
    lambda grade: f"from grade {grade}",
    lambda grade: f"grades of {grade} and less gain nothing",
)
_MAX_REL = numeric(
    "max_rel",
    None,
    lambda text: read_number(text, 0, "a grade of 0 or more"),
    lambda grade: f"max {grade}",
    lambda grade: f"grades of {grade} and more gain 1",
)
_TARGET = numeric(
    "T",
    1.0,
    lambda text: read_number(text, 0, "a gain of 0 or more"),
    lambda gain: f"T = {gain}",
    lambda gain: f"{gain}, the gain that the reader wants in all",
    convention="target",
)


def _scale_objection(settings: Settings) -> str | None:
    if settings["min_rel"] >= settings["max_rel"]:
        return "needs a max_rel above min_rel"
    return None


def _positive_target(settings: Settings) -> str | None:
    if settings["T"] <= 0:
        return "needs a target T above 0"
    return _scale_objection(settings)


def _model(  # noqa: PLR0917  the order is that of every declaration
    name: str,
    title: str,
    summary: str,
    continues: Continues,
    going_on: str,
    source: str,
    *parameters: Parameter,
    at_k: bool,
    fixed_weights: bool = False,
) -> Declaration:
    """Declare a measure of the C/W/L family: expected gain of the document a reader looks at."""
    return Declaration(
        name=name,
        title=title,
        summary=summary,
        formula=lambda settings: (
            f"{name} = (sum over ranks i of W(i) · gain(i)) / (sum of W(i)), W(1) = 1, W(i + 1) = C(i) · W(i), "
            f"C(i) = {going_on}"
        ),
        source=f"{source}; ir_measures {name} and cwl_eval",
        bounds=(0, 1),
        cutoff="required" if at_k else "none",
        parameters=(*parameters, _MIN_REL, _MAX_REL),
        conventions={
            "gain": "(grade − min_rel) / (max_rel − min_rel), from 0 to 1; 0 for unjudged documents",
            "list": f"looked at down to rank {DEPTH:,}; ranks after its end gain nothing",
        },
        objection=_positive_target if _TARGET in parameters else _scale_objection,
        values=_utility(continues),
        rewards_moving_up=lambda settings: fixed_weights,
    )


SCALED_DCG = _model(
    "SDCG",
    "Scaled discounted cumulative gain",
    "discounted gain of the first k documents as a share of that of k documents of the best grade",
    _sdcg,
    "log2(i + 1) / log2(i + 2) before rank k, else 0",
    "Järvelin & Kekäläinen 2002",
    at_k=True,
    fixed_weights=True,
)
BEJEWELED_PLAYER = _model(
    "BPM",
    "Bejeweled player model",
    "mean gain of the documents seen by a reader who stops at rank k or when the gain wanted is reached",
    _bpm,
    "1 before rank k while the gain down to rank i is below T, else 0",
    "Zhang et al. 2017 (static)",
    _TARGET,
    at_k=True,
)
INST = _model(
    "INST",
    "INST",
    "gain per document for a reader who wants a gain of T and goes on the more likely the more of it is missing",
    _inst,
    "((i + T + t(i) − 1) / (i + T + t(i)))², t(i) = T − gain down to rank i",
    "Bailey et al. 2015",
    _TARGET,
    at_k=False,
)
INSQ = _model(
    "INSQ",
    "INSQ",
    "gain per document for a reader who wants a gain of T and goes on the more likely the deeper he is",
    _insq,
    "((i + 2T − 1) / (i + 2T))²",
    "Moffat, Scholer & Thomas 2012",
    _TARGET,
    at_k=False,
    fixed_weights=True,
)
NERR8 = _model(
    "NERR8",
    "Nearly expected reciprocal rank, equation 8",
    "gain per document for a reader who stops at each document with the chance of its gain, at rank k at the latest",
    _nerr8,
    "1 − gain(i) before rank k, else 0",
    "Azzopardi, Mackenzie & Moffat 2021",
    at_k=True,
)
NERR9 = _model(
    "NERR9",
    "Nearly expected reciprocal rank, equation 9",
    "as NERR8, and less likely to go on the nearer to the top",
    _nerr9,
    "i / (i + 1) · (1 − gain(i)) before rank k, else 0",
    "Azzopardi, Mackenzie & Moffat 2021",
    at_k=True,
)
NERR10 = _model(
    "NERR10",
    "Nearly expected reciprocal rank, equation 10",
    "as NERR8 without a last rank, going on with the persistence p",
    _nerr10,
    "p · (1 − gain(i))",
    "Azzopardi, Mackenzie & Moffat 2021",
    numeric(
        "p",
        0.9,
        probability,
        lambda p: f"p = {p}",
        lambda p: f"{p}, the chance of going on to the next document",
        convention="persistence",
    ),
    at_k=False,
)
NERR11 = _model(
    "NERR11",
    "Nearly expected reciprocal rank, equation 11",
    "as NERR8 without a last rank, going on as in INSQ",
    _nerr11,
    "((i + 2T − 1) / (i + 2T))² · (1 − gain(i))",
    "Azzopardi, Mackenzie & Moffat 2021",
    _TARGET,
    at_k=False,
)

DECLARATIONS = (
    RANK_BIASED_PRECISION,
    RBP_RESIDUAL,
    SCALED_DCG,
    BEJEWELED_PLAYER,
    INST,
    INSQ,
    NERR8,
    NERR9,
    NERR10,
    NERR11,
)
