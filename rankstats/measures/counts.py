"""Counts of queries and documents."""

from __future__ import annotations

import numpy as np

from rankstats.measures.declaration import (
    REL,
    Alias,
    Declaration,
    Parameter,
    Settings,
    Values,
    number,
    read_number,
)
from rankstats.measures.evaluation import Evaluation


def _returned(evaluation: Evaluation, settings: Settings) -> Values:
    if settings["rel"] is None:
        return evaluation.shown(settings["cutoff"])
    return evaluation.sum(evaluation.relevant(settings["rel"], settings["cutoff"]))


def _not_relevant_returned(evaluation: Evaluation, settings: Settings) -> Values:
    grade = evaluation.hits.grade
    counted = (grade >= 0) & (grade < settings["rel"]) & evaluation.within(settings["cutoff"])
    return evaluation.sum(counted.astype(np.float64))


_JUDGED = "a document with a grade of 0 or more that is below the smallest relevant grade"

NUMBER_OF_QUERIES = Declaration(
    name="NumQ",
    title="Number of queries",
    summary="1 for every judged query; the sum is the number of queries",
    formula=lambda settings: "NumQ = 1",
    source="ir_measures NumQ; trec_eval num_q",
    bounds=(0, 1),
    cutoff="none",
    values=lambda evaluation, settings: np.ones(evaluation.pool.n_queries),
    diagnostic=True,
    missing="a judged query counts, also when a run lacks it",
    aggregate="sum",
    aliases=(Alias("num_q", "trec_eval", cutoff=False),),
)

NUMBER_RELEVANT = Declaration(
    name="NumRel",
    title="Number of relevant documents",
    summary="documents judged relevant, returned or not",
    formula=lambda settings: "NumRel = R, the judged relevant documents of the query",
    source="ir_measures NumRel; trec_eval num_rel",
    bounds=(0, None),
    cutoff="none",
    parameters=(REL,),
    values=lambda evaluation, settings: evaluation.pool.relevant(settings["rel"]),
    diagnostic=True,
    missing="a judged query counts, also when a run lacks it",
    aggregate="sum",
    aliases=(Alias("num_rel", "trec_eval", cutoff=False),),
)

NUMBER_NOT_RELEVANT = Declaration(
    name="NumNonRel",
    title="Number of not relevant documents",
    summary="documents judged not relevant, returned or not",
    formula=lambda settings: "NumNonRel = documents of the query with a grade of 0 or more that are not relevant",
    source="the counterpart of NumRel",
    bounds=(0, None),
    cutoff="none",
    parameters=(REL,),
    conventions={"not relevant": _JUDGED},
    values=lambda evaluation, settings: evaluation.pool.not_relevant(settings["rel"]),
    diagnostic=True,
    missing="a judged query counts, also when a run lacks it",
    aggregate="sum",
)

NUMBER_RETURNED = Declaration(
    name="NumRet",
    title="Number of documents returned",
    summary="documents returned; with rel, the relevant ones among them",
    formula=lambda settings: (
        (
            "NumRet = documents"
            if settings["rel"] is None
            else f"NumRet = documents of grade {number(settings['rel'])} or more"
        )
        + (" returned" if settings["cutoff"] is None else " in the first k")
    ),
    source="ir_measures NumRet; trec_eval num_ret and num_rel_ret",
    bounds=(0, None),
    cutoff="optional",
    parameters=(
        Parameter(
            name="rel",
            default=None,
            read=lambda text: read_number(text, 0, "a grade of 0 or more"),
            write=lambda value: "any" if value is None else number(value),
            label=lambda value: "all" if value is None else f"rel ≥ {number(value)}",
            conventions=lambda value: {
                "counted": "every document, judged or not"
                if value is None
                else f"a document with a grade of at least {number(value)}"
            },
            usage="rel=any",
        ),
    ),
    values=_returned,
    aggregate="sum",
    short_names={"NumRelRet": {"rel": 1.0}},
    aliases=(
        Alias("num_ret", "trec_eval", cutoff=False),
        Alias("num_rel_ret", "trec_eval", {"rel": 1.0}, cutoff=False),
    ),
)

NUMBER_NOT_RELEVANT_RETURNED = Declaration(
    name="NumNonRelRet",
    title="Number of not relevant documents returned",
    summary="documents judged not relevant that were returned",
    formula=lambda settings: (
        "NumNonRelRet = documents with a grade of 0 or more that are not relevant"
        + (", among those returned" if settings["cutoff"] is None else ", in the first k")
    ),
    source="trec_eval num_nonrel_judged_ret",
    bounds=(0, None),
    cutoff="optional",
    parameters=(REL,),
    conventions={"not relevant": _JUDGED},
    values=_not_relevant_returned,
    higher_is_better=False,
    rewards_moving_up=lambda settings: False,
    aggregate="sum",
    aliases=(Alias("num_nonrel_judged_ret", "trec_eval", cutoff=False),),
)

DECLARATIONS = (
    NUMBER_OF_QUERIES,
    NUMBER_RELEVANT,
    NUMBER_NOT_RELEVANT,
    NUMBER_RETURNED,
    NUMBER_NOT_RELEVANT_RETURNED,
)
