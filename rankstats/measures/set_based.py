"""Measures of the set of documents above a cutoff: precision, recall, F, hit rate, judged and unjudged share."""

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
    choice,
    number,
    read_number,
)
from rankstats.measures.evaluation import Evaluation


def _relevant_shown(evaluation: Evaluation, settings: Settings) -> Values:
    return evaluation.relevant(settings["rel"], settings["cutoff"])


def _precision_denominator(evaluation: Evaluation, settings: Settings) -> Values:
    if settings["denominator"] == "returned":
        return evaluation.shown(settings["cutoff"])
    return np.full(evaluation.pool.n_queries, float(settings["cutoff"]))


def _recall_denominator(evaluation: Evaluation, settings: Settings) -> Values:
    relevant = evaluation.pool.relevant(settings["rel"])
    return relevant if settings["denominator"] == "R" else np.minimum(relevant, settings["cutoff"])


def _f_values(evaluation: Evaluation, settings: Settings) -> Values:
    found = evaluation.sum(_relevant_shown(evaluation, settings))
    precision = found / settings["cutoff"]
    relevant = evaluation.pool.relevant(settings["rel"])
    recall = found / np.maximum(relevant, 1.0)
    beta = settings["beta"] ** 2
    both = beta * precision + recall
    values: Values = np.divide((1.0 + beta) * precision * recall, both, out=np.zeros_like(both), where=both > 0)
    return values


def _hit_values(evaluation: Evaluation, settings: Settings) -> Values:
    return np.minimum(evaluation.sum(_relevant_shown(evaluation, settings)), 1.0)


def _judged_terms(evaluation: Evaluation, settings: Settings) -> Values:
    shown = evaluation.within(settings["cutoff"])
    counted = shown if settings["rel"] is None else shown & (evaluation.hits.grade >= settings["rel"])
    return counted.astype(np.float64)


def _unjudged_values(evaluation: Evaluation, settings: Settings) -> Values:
    judged = evaluation.sum(((evaluation.hits.grade >= 0) & evaluation.within(settings["cutoff"])).astype(np.float64))
    values: Values = (evaluation.shown(settings["cutoff"]) - judged) / settings["cutoff"]
    return values


def _judged_objection(settings: Settings) -> str | None:
    whole = settings["cutoff"] is None and settings["denominator"] == "k"
    return "divides by k with denominator='k', which needs a cutoff" if whole else None


PRECISION = Declaration(
    name="P",
    title="Precision",
    summary="share of relevant documents among the first k",
    formula=lambda settings: (
        f"P@k = (relevant documents in the first k) / {'k' if settings['denominator'] == 'k' else 'min(k, returned)'}"
    ),
    source="van Rijsbergen 1979; trec_eval P",
    bounds=(0, 1),
    cutoff="required",
    parameters=(
        REL,
        choice(
            "denominator",
            "denominator",
            {
                "k": ("÷ k", "k, also when fewer documents are returned"),
                "returned": ("÷ returned", "the documents returned, at most k; 0 when nothing is returned"),
            },
        ),
    ),
    terms=_relevant_shown,
    of_rank_alone=True,
    denominator=_precision_denominator,
    aliases=(
        Alias("P", "trec_eval", joined=True),
        Alias("Precision", "ir_measures, ranx, BEIR"),
    ),
)

RECALL = Declaration(
    name="R",
    title="Recall",
    summary="share of the relevant documents that stand among the first k",
    formula=lambda settings: (
        f"R@k = (relevant documents in the first k) / {'R' if settings['denominator'] == 'R' else 'min(R, k)'}, "
        "R = judged relevant documents of the query"
    ),
    source="van Rijsbergen 1979; trec_eval recall",
    bounds=(0, 1),
    cutoff="required",
    parameters=(
        REL,
        choice(
            "denominator",
            "denominator",
            {
                "R": ("÷ R", "R, the judged relevant documents, returned or not"),
                "min": ("÷ min(R, k)", "the smaller of R and k (R = judged relevant documents)"),
            },
        ),
    ),
    undefined=NO_RELEVANT,
    terms=_relevant_shown,
    of_rank_alone=True,
    denominator=_recall_denominator,
    best_is_one=lambda settings: settings["denominator"] == "min",
    aliases=(
        Alias("recall", "trec_eval", joined=True),
        Alias("relative_P", "trec_eval", {"denominator": "min"}, joined=True),
        Alias("Recall", "ir_measures, ranx, BEIR"),
        Alias("R_cap", "BEIR", {"denominator": "min"}),
    ),
)

F_MEASURE = Declaration(
    name="F",
    title="F measure",
    summary="harmonic mean of precision and recall among the first k, recall weighing beta times as much",
    formula=lambda settings: (
        "F1@k = 2 · P@k · R@k / (P@k + R@k); 0 when both are 0"
        if settings["beta"] == 1
        else "F@k = (1 + β²) · P@k · R@k / (β² · P@k + R@k); 0 when both are 0"
    ),
    source="van Rijsbergen 1979",
    bounds=(0, 1),
    cutoff="required",
    parameters=(
        Parameter(
            name="beta",
            default=None,
            required=True,
            read=lambda text: read_number(text, 0, "a number of 0 or more"),
            write=number,
            label=lambda value: f"β = {number(value)}",
            conventions=lambda value: {
                "beta": "1: precision and recall weigh the same"
                if value == 1
                else f"{number(value)}: recall weighs {number(value)} times as much as precision"
            },
            usage="beta=…",
        ),
        REL,
    ),
    conventions={"denominator": "precision divides by k, recall by R, the judged relevant documents"},
    undefined=NO_RELEVANT,
    values=_f_values,
    short_names={"F1": {"beta": 1.0}},
    aliases=(Alias("f1", "ranx", {"beta": 1.0}),),
)

HIT_RATE = Declaration(
    name="HitRate",
    title="Hit rate",
    summary="1 when at least one relevant document stands among the first k, else 0",
    formula=lambda settings: "1 if (relevant documents in the first k) ≥ 1, else 0",
    source="trec_eval success; the same as Success@k",
    bounds=(0, 1),
    cutoff="required",
    parameters=(REL,),
    values=_hit_values,
    synonyms=("Success",),
    aliases=(Alias("success", "trec_eval", joined=True), Alias("hit_rate", "ranx")),
)

JUDGED = Declaration(
    name="Judged",
    title="Judged share",
    summary="share of the first k documents that the judges have seen; it says how far the other values can be trusted",
    formula=lambda settings: (
        "Judged = (judged documents returned) / (documents returned)"
        if settings["cutoff"] is None
        else "Judged@k = (judged documents in the first k) / "
        + ("k" if settings["denominator"] == "k" else "min(k, documents returned)")
    ),
    source="ir_measures Judged",
    diagnostic=True,
    bounds=(0, 1),
    cutoff="optional",
    parameters=(
        Parameter(
            name="rel",
            default=None,
            read=lambda text: read_number(text, float("-1e9"), "a grade"),
            write=lambda value: "any" if value is None else number(value),
            label=lambda value: f"grade ≥ {number(value)}",
            conventions=lambda value: {
                "judged": "a document with any grade, also below 0"
                if value is None
                else f"a document with a grade of at least {number(value)}"
            },
            usage="rel=any",
        ),
        choice(
            "denominator",
            "denominator",
            {
                "returned": ("÷ returned", "the documents returned, at most k; 0 when nothing is returned"),
                "k": ("÷ k", "k, also when fewer documents are returned"),
            },
        ),
    ),
    objection=_judged_objection,
    terms=_judged_terms,
    of_rank_alone=True,
    denominator=_precision_denominator,
    rewards_moving_up=lambda settings: False,
)

UNJUDGED = Declaration(
    name="Unjudged",
    title="Unjudged share",
    summary="share of the first k places that hold a document without a grade of 0 or more",
    formula=lambda settings: "Unjudged@k = (documents in the first k without a grade of 0 or more) / k",
    source="trec_eval 10 unj",
    diagnostic=True,
    higher_is_better=False,
    bounds=(0, 1),
    cutoff="required",
    conventions={
        "judged": "a document with a grade of 0 or more; a grade below 0 stands for pooled but not judged",
        "denominator": "k, also when fewer documents are returned",
    },
    values=_unjudged_values,
    rewards_moving_up=lambda settings: False,
    aliases=(Alias("unj", "trec_eval", joined=True),),
)

DECLARATIONS = (PRECISION, RECALL, F_MEASURE, HIT_RATE, JUDGED, UNJUDGED)
