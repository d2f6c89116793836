"""Measures for incomplete judgments: Bpref and inferred average precision."""

from __future__ import annotations

import numpy as np

from rankstats.measures.declaration import NO_RELEVANT, REL, Alias, Declaration, Settings, Values
from rankstats.measures.evaluation import Evaluation, Flags

_EPSILON = 0.00001
"""Smoothing of trec_eval (INFAP_EPSILON)."""


def _not_relevant(evaluation: Evaluation, rel: float) -> Flags:
    """Mark the hits that the judges found not relevant; a grade below 0 stands for pooled but not judged."""
    return np.asarray((evaluation.hits.grade >= 0) & (evaluation.hits.grade < rel))


def _bpref_terms(evaluation: Evaluation, settings: Settings) -> Values:
    rel, query = settings["rel"], evaluation.hits.query
    relevant = evaluation.pool.relevant(rel)
    most = np.minimum(relevant, evaluation.pool.not_relevant(rel))[query]
    above = np.minimum(evaluation.so_far(_not_relevant(evaluation, rel)), relevant[query])
    kept = 1.0 - np.divide(above, most, out=np.zeros(len(query)), where=most > 0)
    terms: Values = evaluation.relevant(rel, None) * kept
    return terms


def _inferred_terms(evaluation: Evaluation, settings: Settings) -> Values:
    rel, hits = settings["rel"], evaluation.hits
    relevant_above = evaluation.ordinal(rel) - 1.0
    not_relevant_above = evaluation.so_far(_not_relevant(evaluation, rel))
    pooled_above = relevant_above + not_relevant_above + evaluation.so_far(hits.grade < 0)
    above = hits.rank - 1.0
    share = (relevant_above + _EPSILON) / (relevant_above + not_relevant_above + 2.0 * _EPSILON)
    # above / rank · pooled / above is pooled / rank; at rank 1 nothing is above
    pooled = np.divide(pooled_above, above, out=np.zeros(len(above)), where=above > 0)
    expected = 1.0 / hits.rank + above / hits.rank * pooled * share
    terms: Values = evaluation.relevant(rel, None) * expected
    return terms


_POOLED = {
    "unjudged": "documents without a grade of 0 or more are not counted as not relevant; "
    "a grade below 0 stands for pooled but not judged"
}

BPREF = Declaration(
    name="Bpref",
    title="Binary preference",
    summary="share of judged not relevant documents that stand below the relevant ones; unjudged ones do not count",
    formula=lambda settings: (
        "Bpref = (sum over the relevant documents returned of 1 − min(n, R) / min(N, R)) / R, n = documents judged not "
        "relevant above it, N = all judged not relevant, R = all judged relevant"
    ),
    source="Buckley & Voorhees 2004, as in trec_eval bpref",
    bounds=(0, 1),
    cutoff="none",
    parameters=(REL,),
    conventions={"denominator": "R, the judged relevant documents, returned or not", **_POOLED},
    undefined=NO_RELEVANT,
    terms=_bpref_terms,
    denominator=lambda evaluation, settings: evaluation.pool.relevant(settings["rel"]),
    best_is_one=lambda settings: True,
    aliases=(Alias("bpref", "trec_eval", cutoff=False),),
)

INFERRED_AP = Declaration(
    name="infAP",
    title="Inferred average precision",
    summary="average precision with the precision at each relevant document estimated from the judged ones above it",
    formula=lambda settings: (
        "infAP = (sum over the relevant documents returned of 1/i + d/i · (r + ε) / (r + n + 2ε)) / R, i = its rank, "
        "r, n = relevant and not relevant documents above it, d = pooled documents above it, ε = 0.00001"
    ),
    source="Yilmaz & Aslam 2006, as in trec_eval infAP",
    bounds=(0, 1),
    cutoff="none",
    parameters=(REL,),
    conventions={"denominator": "R, the judged relevant documents, returned or not", **_POOLED},
    undefined=NO_RELEVANT,
    terms=_inferred_terms,
    denominator=lambda evaluation, settings: evaluation.pool.relevant(settings["rel"]),
    # documents that are pooled but not relevant raise it when they stand above others that are not pooled
    rewards_moving_up=lambda settings: False,
    aliases=(Alias("infAP", "trec_eval", cutoff=False),),
)

DECLARATIONS = (BPREF, INFERRED_AP)
