"""Measures of where the relevant documents stand: reciprocal rank and average precision."""

from __future__ import annotations

import numpy as np

from rankstats.measures.declaration import (
    NO_RELEVANT,
    REL,
    Alias,
    Declaration,
    Settings,
    Values,
    at_k,
    choice,
    down_to_k,
)
from rankstats.measures.evaluation import Evaluation


def _reciprocal_terms(evaluation: Evaluation, settings: Settings) -> Values:
    first = (evaluation.ordinal(settings["rel"]) == 1) & evaluation.within(settings["cutoff"])
    terms: Values = first / evaluation.hits.rank
    return terms


def _precision_terms(evaluation: Evaluation, settings: Settings) -> Values:
    terms: Values = evaluation.ordinal(settings["rel"]) * evaluation.within(settings["cutoff"]) / evaluation.hits.rank
    return terms


def _ap_denominator(evaluation: Evaluation, settings: Settings) -> Values:
    if settings["denominator"] == "retrieved":
        return evaluation.sum(evaluation.relevant(settings["rel"], settings["cutoff"]))
    relevant = evaluation.pool.relevant(settings["rel"])
    return relevant if settings["denominator"] == "R" else np.minimum(relevant, settings["cutoff"])


def _ap_objection(settings: Settings) -> str | None:
    if settings["denominator"] == "min" and settings["cutoff"] is None:
        return "divides by min(R, k) with denominator='min', which needs a cutoff"
    return None


_AP_SYMBOLS = {"R": "R", "min": "min(R, k)", "retrieved": "(relevant documents returned)"}

RECIPROCAL_RANK = Declaration(
    name="RR",
    title="Reciprocal rank",
    summary="one divided by the rank of the first relevant document; 0 when there is none",
    formula=lambda settings: (
        f"RR{at_k(settings)} = 1 / (rank of the first relevant document), 0 when there is none"
        + ("" if settings["cutoff"] is None else " among the first k")
    ),
    source="Kantor & Voorhees 2000; trec_eval recip_rank",
    bounds=(0, 1),
    cutoff="optional",
    parameters=(REL,),
    terms=_reciprocal_terms,
    aliases=(Alias("MRR", "ir_measures, ranx, BEIR"), Alias("recip_rank", "trec_eval", cutoff=False)),
)

AVERAGE_PRECISION = Declaration(
    name="AP",
    title="Average precision",
    summary="precision at the rank of each relevant document, averaged over the relevant documents",
    formula=lambda settings: (
        f"AP{at_k(settings)} = (sum of P@i over {down_to_k(settings)} with a relevant document) / "
        f"{_AP_SYMBOLS[settings['denominator']]}, R = judged relevant documents of the query"
    ),
    source="Harman 1992; trec_eval map and map_cut",
    bounds=(0, 1),
    cutoff="optional",
    parameters=(
        REL,
        choice(
            "denominator",
            "denominator",
            {
                "R": ("÷ R", "R, the judged relevant documents, returned or not"),
                "min": ("÷ min(R, k)", "the smaller of R and k (R = judged relevant documents)"),
                "retrieved": (
                    "÷ retrieved",
                    "the relevant documents returned at rank k or above; 0 when there are none",
                ),
            },
        ),
    ),
    undefined=NO_RELEVANT,
    objection=_ap_objection,
    terms=_precision_terms,
    denominator=_ap_denominator,
    rewards_moving_up=lambda settings: settings["denominator"] != "retrieved",
    aliases=(
        Alias("MAP", "ir_measures, ranx, BEIR"),
        Alias("map", "trec_eval", cutoff=False),
        Alias("map_cut", "trec_eval", joined=True),
    ),
)

DECLARATIONS = (RECIPROCAL_RANK, AVERAGE_PRECISION)
