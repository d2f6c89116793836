"""Measures of everything that was returned: set precision, recall, F and average precision, and two accuracies."""

from __future__ import annotations

import numpy as np

from rankstats.errors import MeasureError
from rankstats.measures.declaration import (
    NO_RELEVANT,
    REL,
    Alias,
    Declaration,
    Parameter,
    Settings,
    Undefined,
    Values,
    at_k,
    flag,
    number,
    numeric,
    read_number,
)
from rankstats.measures.evaluation import Evaluation, divide


def _relevant_returned(evaluation: Evaluation, settings: Settings) -> Values:
    return evaluation.relevant(settings["rel"], None)


def _set_precision_denominator(evaluation: Evaluation, settings: Settings) -> Values:
    returned = evaluation.shown(None)
    return np.minimum(returned, evaluation.pool.relevant(settings["rel"])) if settings["relative"] else returned


def _set_precision_and_recall(evaluation: Evaluation, settings: Settings) -> tuple[Values, Values]:
    found = evaluation.sum(_relevant_returned(evaluation, settings))
    return divide(found, evaluation.shown(None)), divide(found, evaluation.pool.relevant(settings["rel"]))


def _set_f_values(evaluation: Evaluation, settings: Settings) -> Values:
    precision, recall = _set_precision_and_recall(evaluation, settings)
    beta = settings["beta"]
    return divide((beta + 1.0) * precision * recall, beta * precision + recall)


def _set_ap_values(evaluation: Evaluation, settings: Settings) -> Values:
    found = evaluation.sum(_relevant_returned(evaluation, settings))
    return divide(found * found, evaluation.shown(None) * evaluation.pool.relevant(settings["rel"]))


def _accuracy_values(evaluation: Evaluation, settings: Settings) -> Values:
    shown = evaluation.relevant(settings["rel"], settings["cutoff"])
    found = evaluation.sum(shown)
    in_vain = evaluation.shown(settings["cutoff"]) - found
    # documents that are not relevant above each relevant one: its rank less the relevant ones down to it
    passed = evaluation.sum(shown * (evaluation.hits.rank - evaluation.ordinal(settings["rel"])))
    return np.where(found > 0, 1.0 - divide(passed, in_vain * found), 0.0)


def _class_accuracy_values(evaluation: Evaluation, settings: Settings) -> Values:
    hits, pool, rel, threshold = evaluation.hits, evaluation.pool, settings["rel"], settings["threshold"]
    positive = evaluation.within(settings["cutoff"])
    if threshold is not None:
        if hits.score is None:
            raise MeasureError(
                f"ClassAccuracy with a threshold needs the scores of {hits.system}, which its hits do not carry; "
                "make the hits from a run, or leave out the threshold"
            )
        positive = positive & (hits.score > threshold)
    judged = np.diff(pool.judgments.offsets).astype(np.float64)
    missed = pool.relevant(rel) - evaluation.sum((positive & (hits.grade >= rel)).astype(np.float64))
    wrong = evaluation.sum((positive & (hits.grade < rel)).astype(np.float64))
    return divide(judged - missed - wrong, judged)


def _read_threshold(text: str) -> float:
    return read_number(text, -1.7e308, "a score")


_OF_R = "R, the judged relevant documents, returned or not"

SET_PRECISION = Declaration(
    name="SetP",
    title="Set precision",
    summary="share of relevant documents among all that were returned",
    formula=lambda settings: (
        "SetP = (relevant documents returned) / " + ("min(returned, R)" if settings["relative"] else "returned")
    ),
    source="ir_measures SetP; trec_eval set_P and set_relative_P",
    bounds=(0, 1),
    cutoff="none",
    parameters=(
        REL,
        flag(
            "relative",
            "denominator",
            ("÷ returned", "the documents returned; 0 when nothing is returned"),
            ("÷ min(returned, R)", "the smaller of the documents returned and R, the most that could be relevant"),
        ),
    ),
    undefined=Undefined(
        words=lambda settings: NO_RELEVANT.words(settings) if settings["relative"] else "",
        where=lambda pool, settings: NO_RELEVANT.where(pool, settings) & settings["relative"],
    ),
    terms=_relevant_returned,
    of_rank_alone=True,
    denominator=_set_precision_denominator,
    best_is_one=lambda settings: bool(settings["relative"]),
    short_names={"SetRelP": {"relative": True}},
    aliases=(
        Alias("set_P", "trec_eval", cutoff=False),
        Alias("set_relative_P", "trec_eval", {"relative": True}, cutoff=False),
    ),
)

SET_RECALL = Declaration(
    name="SetR",
    title="Set recall",
    summary="share of the relevant documents that were returned at all",
    formula=lambda settings: "SetR = (relevant documents returned) / R, R = judged relevant documents of the query",
    source="ir_measures SetR; trec_eval set_recall",
    bounds=(0, 1),
    cutoff="none",
    parameters=(REL,),
    conventions={"denominator": _OF_R},
    undefined=NO_RELEVANT,
    terms=_relevant_returned,
    of_rank_alone=True,
    denominator=lambda evaluation, settings: evaluation.pool.relevant(settings["rel"]),
    best_is_one=lambda settings: True,
    aliases=(Alias("set_recall", "trec_eval", cutoff=False),),
)

SET_F = Declaration(
    name="SetF",
    title="Set F measure",
    summary="harmonic mean of set precision and set recall, recall weighing beta times as much",
    formula=lambda settings: "SetF = (1 + β) · SetP · SetR / (β · SetP + SetR); 0 when both are 0",
    source="ir_measures SetF; trec_eval set_F, whose β stands for β² of van Rijsbergen 1979",
    bounds=(0, 1),
    cutoff="none",
    parameters=(
        REL,
        numeric(
            "beta",
            1.0,
            lambda text: read_number(text, 0, "a number of 0 or more"),
            lambda beta: f"β = {beta}",
            lambda beta: f"{beta}, not squared",
        ),
    ),
    conventions={"denominator": "precision divides by the documents returned, recall by R, the judged relevant ones"},
    undefined=NO_RELEVANT,
    values=_set_f_values,
    aliases=(
        Alias("set_F", "trec_eval", cutoff=False),
        Alias("set_F", "trec_eval", joined=True, fills="beta"),
    ),
)

SET_AP = Declaration(
    name="SetAP",
    title="Set average precision",
    summary="set precision times set recall",
    formula=lambda settings: "SetAP = (relevant documents returned)² / (returned · R)",
    source="ir_measures SetAP; trec_eval set_map",
    bounds=(0, 1),
    cutoff="none",
    parameters=(REL,),
    conventions={"denominator": "the documents returned times R, the judged relevant ones"},
    undefined=NO_RELEVANT,
    values=_set_ap_values,
    aliases=(Alias("set_map", "trec_eval", cutoff=False),),
)

ACCURACY = Declaration(
    name="Accuracy",
    title="Pairwise accuracy",
    summary="probability that a relevant document returned stands above one returned that is not relevant",
    formula=lambda settings: (
        f"Accuracy{at_k(settings)} = 1 − (not relevant documents above, added up over the relevant ones) / "
        "(relevant · not relevant documents), all among the " + ("first k" if settings["cutoff"] else "returned")
    ),
    source="ir_measures Accuracy",
    bounds=(0, 1),
    cutoff="optional",
    parameters=(REL,),
    conventions={
        "pairs": "of documents returned; 0 without a relevant one among them (ir_measures gives no value), 1 with "
        "relevant ones only"
    },
    undefined=NO_RELEVANT,
    values=_accuracy_values,
    rewards_moving_up=lambda settings: settings["cutoff"] is None,
    best_is_one=lambda settings: True,
)

CLASS_ACCURACY = Declaration(
    name="ClassAccuracy",
    title="Accuracy of classes",
    summary="share of judged documents put into the right class, returned standing for relevant",
    formula=lambda settings: (
        f"ClassAccuracy{at_k(settings)} = (relevant documents among the positive + judged not relevant documents among "
        "the others) / judged documents"
    ),
    source="accuracy of a classifier; the pairs are the judged ones",
    bounds=(0, 1),
    cutoff="optional",
    parameters=(
        REL,
        Parameter(
            name="threshold",
            default=None,
            read=_read_threshold,
            write=lambda value: "none" if value is None else number(value),
            label=lambda value: f"score > {number(value)}",
            conventions=lambda value: {
                "positive": "a document returned"
                + ("" if value is None else f" with a score above {number(value)}")
                + ", at rank k or above if there is a cutoff"
            },
            usage="threshold=none",
        ),
    ),
    conventions={"denominator": "judged documents of the query, also with grades below 0"},
    values=_class_accuracy_values,
    rewards_moving_up=lambda settings: settings["cutoff"] is None and settings["threshold"] is None,
    missing="a judged query that a run lacks has the share of judged documents that are not relevant",
)

DECLARATIONS = (SET_PRECISION, SET_RECALL, SET_F, SET_AP, ACCURACY, CLASS_ACCURACY)
