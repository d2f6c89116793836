"""Measures of where the relevant documents stand: reciprocal rank, average precision, precision at R, binary G."""

from __future__ import annotations

import numpy as np

from rankstats.measures.declaration import (
    NO_RELEVANT,
    REL,
    Alias,
    Declaration,
    Parameter,
    Settings,
    Values,
    at_k,
    choice,
    down_to_k,
    number,
    read_number,
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


def _at_r(evaluation: Evaluation, settings: Settings) -> Values:
    cutoffs: Values = np.floor(settings["mult"] * evaluation.pool.relevant(settings["rel"]) + 0.9)
    return cutoffs


def _at_r_terms(evaluation: Evaluation, settings: Settings) -> Values:
    above = evaluation.hits.rank <= _at_r(evaluation, settings)[evaluation.hits.query]
    return evaluation.relevant(settings["rel"], None) * above


def _binary_g_terms(evaluation: Evaluation, settings: Settings) -> Values:
    ordinal = evaluation.ordinal(settings["rel"])
    passed = evaluation.hits.rank - ordinal
    terms: Values = (ordinal > 0) / np.log2(2.0 + passed)
    return terms


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
    best_is_one=lambda settings: settings["cutoff"] is None or settings["denominator"] != "R",
    rewards_moving_up=lambda settings: settings["denominator"] != "retrieved",
    aliases=(
        Alias("MAP", "ir_measures, ranx, BEIR"),
        Alias("map", "trec_eval", cutoff=False),
        Alias("map_cut", "trec_eval", joined=True),
    ),
)

R_PRECISION = Declaration(
    name="Rprec",
    title="Precision at R",
    summary="precision among the first R documents, R being the number of relevant ones; it equals the recall there",
    formula=lambda settings: (
        "Rprec = (relevant documents in the first c) / c, c = "
        + ("R" if settings["mult"] == 1 else f"{number(settings['mult'])} · R + 0.9 rounded down")
        + ", R = judged relevant documents of the query"
    ),
    source="Buckley & Voorhees 2005; trec_eval Rprec and Rprec_mult",
    bounds=(0, 1),
    cutoff="none",
    parameters=(
        REL,
        Parameter(
            name="mult",
            default=1.0,
            read=lambda text: read_number(text, 0, "a multiple of R of 0 or more"),
            write=number,
            label=lambda value: f"at {number(value)} R",
            conventions=lambda value: {
                "cutoff": "R"
                if value == 1
                else f"{number(value)} · R + 0.9, rounded down; the value is 0 where it is 0"
            },
            usage="mult=1",
        ),
    ),
    undefined=NO_RELEVANT,
    terms=_at_r_terms,
    denominator=_at_r,
    best_is_one=lambda settings: 0.1 <= settings["mult"] <= 1,
    aliases=(
        Alias("Rprec", "trec_eval", cutoff=False),
        Alias("Rprec_mult", "trec_eval", joined=True, fills="mult"),
        Alias("r-precision", "ranx", cutoff=False),
    ),
)

BINARY_G = Declaration(
    name="binG",
    title="Binary G",
    summary="discounted by the documents passed in vain: the mean over relevant documents of 1 / log2(2 + those)",
    formula=lambda settings: (
        "binG = (sum over the relevant documents returned of 1 / log2(2 + not relevant documents above)) / R"
    ),
    source="Buckley 2008; trec_eval binG",
    bounds=(0, 1),
    cutoff="none",
    parameters=(REL,),
    conventions={"denominator": "R, the judged relevant documents, returned or not"},
    undefined=NO_RELEVANT,
    terms=_binary_g_terms,
    denominator=lambda evaluation, settings: evaluation.pool.relevant(settings["rel"]),
    best_is_one=lambda settings: True,
    aliases=(Alias("binG", "trec_eval", cutoff=False),),
)

DECLARATIONS = (RECIPROCAL_RANK, AVERAGE_PRECISION, R_PRECISION, BINARY_G)
