"""Measures of graded relevance beside DCG: Q, graded average precision, and trec_eval's nDCG averages and G."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankstats.measures.declaration import (
    NO_RELEVANT,
    REL,
    Alias,
    Declaration,
    Settings,
    Undefined,
    Values,
    at_k,
    choice,
    down_to_k,
    gain_pairs,
    numeric,
    read_number,
)
from rankstats.measures.evaluation import (
    Evaluation,
    Floats,
    Gain,
    IdealLists,
    Pool,
    Whole,
    divide,
    log2_discount,
    ordinals,
    running_sums,
    sums,
)
from rankstats.measures.graded import GAINS, LINEAR, gain_key, gain_of, gains_rise


def _lists(pool: Pool, settings: Settings) -> IdealLists:
    return pool.ideal_lists(gain_key(settings), gain_of(settings))


def _total_gain(pool: Pool, settings: Settings) -> Values:
    lists = _lists(pool, settings)
    return sums(lists.query, lists.gain, pool.n_queries)


def _gained(lists: IdealLists, pool: Pool, name: tuple[object, ...]) -> Floats:
    """Return the gain of the ideal list down to each place, shape (I,)."""
    made: Floats = pool.once(("ideal gain so far", *name), lambda: running_sums(lists.query, lists.gain))
    return made


def _gain_from(rel: float, gain: Gain) -> Gain:
    """Return the gain of relevant documents; the others gain nothing."""
    return lambda grades: np.where(grades >= rel, gain(grades), 0.0)


def _q_terms(evaluation: Evaluation, settings: Settings) -> Values:
    hits, pool, rel, beta = evaluation.hits, evaluation.pool, settings["rel"], settings["beta"]
    gain, name = _gain_from(rel, gain_of(settings)), ("from", rel, *settings["gains"])
    gained = evaluation.running_sums(gain(hits.grade))
    lists = pool.ideal_lists(name, gain)
    ideal = lists.at(_gained(lists, pool, name), hits.query, hits.rank)
    blended = (evaluation.ordinal(rel) + beta * gained) / (hits.rank + beta * ideal)
    terms: Values = evaluation.relevant(rel, settings["cutoff"]) * blended
    return terms


def _q_denominator(evaluation: Evaluation, settings: Settings) -> Values:
    relevant = evaluation.pool.relevant(settings["rel"])
    return relevant if settings["denominator"] == "R" else np.minimum(relevant, settings["cutoff"])


def _q_objection(settings: Settings) -> str | None:
    if settings["denominator"] == "min" and settings["cutoff"] is None:
        return "divides by min(R, k) with denominator='min', which needs a cutoff"
    return None


def _graded_ap_terms(evaluation: Evaluation, settings: Settings) -> Values:
    # min(a, b) is the sum over gain levels of step · [a reaches it] · [b reaches it], so each level is a binary AP sum
    hits = evaluation.hits
    gains = gain_of(settings)(hits.grade) * evaluation.within(settings["cutoff"])
    terms = np.zeros(len(gains))
    left = np.flatnonzero(gains > 0)
    below = np.zeros(evaluation.pool.n_queries)
    while len(left):
        query = hits.query[left]
        level = np.full(evaluation.pool.n_queries, np.inf)
        np.minimum.at(level, query, gains[left])
        terms[left] += (level - below)[query] * ordinals(query) / hits.rank[left]
        below = np.where(np.isfinite(level), level, below)
        left = left[gains[left] > level[query]]
    return terms


def _ideal_dcg(pool: Pool, lists: IdealLists, settings: Settings) -> Floats:
    """Return the discounted gain of the ideal list down to each place, shape (I,)."""
    made: Floats = pool.once(
        ("ideal dcg so far", gain_key(settings)),
        lambda: running_sums(lists.query, lists.gain * log2_discount(lists.place.astype(np.float64))),
    )
    return made


def _dcg_terms(evaluation: Evaluation, settings: Settings) -> Values:
    terms: Values = gain_of(settings)(evaluation.hits.grade) / np.log2(evaluation.hits.rank + 1.0)
    return terms


def _ndcg_rel_values(evaluation: Evaluation, settings: Settings) -> Values:
    hits, pool = evaluation.hits, evaluation.pool
    lists, terms = _lists(pool, settings), _dcg_terms(evaluation, settings)
    ideal = _ideal_dcg(pool, lists, settings)
    gained = np.flatnonzero(terms > 0)
    query = hits.query[gained]
    at_document = evaluation.running_sums(terms)[gained] / lists.at(ideal, query, hits.rank[gained])
    found = np.bincount(query, minlength=pool.n_queries)
    every = np.arange(pool.n_queries, dtype=np.int32)
    at_end = divide(evaluation.sum(terms), lists.at(ideal, every, lists.lengths))
    total = sums(query, at_document, pool.n_queries) + (lists.lengths - found) * at_end
    return divide(total, lists.lengths.astype(np.float64))


def _r_ndcg_values(evaluation: Evaluation, settings: Settings) -> Values:
    hits, pool = evaluation.hits, evaluation.pool
    lists, terms = _lists(pool, settings), _dcg_terms(evaluation, settings)
    ideal = _ideal_dcg(pool, lists, settings)
    # the last document of each gain in the ideal list, after which the gain changes
    changes = np.ones(len(lists.gain), dtype=bool)
    changes[:-1] = (lists.gain[1:] != lists.gain[:-1]) | (lists.query[1:] != lists.query[:-1])
    ends = np.flatnonzero(changes)
    query, place = lists.query[ends], lists.place[ends]
    dcg = _down_to(evaluation, evaluation.running_sums(terms), query, place)
    total = sums(query, dcg / ideal[ends], pool.n_queries)
    counted = np.bincount(query, minlength=pool.n_queries).astype(np.float64)
    every = np.arange(pool.n_queries, dtype=np.int32)
    goes_on = hits.returned > lists.lengths + 1
    total += goes_on * divide(evaluation.sum(terms), lists.at(ideal, every, lists.lengths))
    return divide(total, counted + goes_on)


def _down_to(evaluation: Evaluation, so_far: Floats, query: NDArray[np.int32], rank: Whole) -> Floats:
    """Return the running sum of a query's list down to a rank, 0 where no hit stands there or above."""
    hits = evaluation.hits
    width = int(max(hits.rank.max(initial=0), rank.max(initial=0))) + 1
    keys = hits.query.astype(np.int64) * width + hits.rank
    row = np.searchsorted(keys, query.astype(np.int64) * width + rank, side="right") - 1
    if not len(keys):
        return np.zeros(len(query))
    found = (row >= 0) & (hits.query[np.maximum(row, 0)] == query)
    return np.where(found, so_far[np.maximum(row, 0)], 0.0)


def _g_terms(evaluation: Evaluation, settings: Settings) -> Values:
    hits, pool = evaluation.hits, evaluation.pool
    lists = _lists(pool, settings)
    # each place of the ideal list costs its gain, but at least 1, and so does each place after its end
    dearer: Floats = pool.once(
        ("ideal cost so far", gain_key(settings)),
        lambda: running_sums(lists.query, np.maximum(lists.gain - 1.0, 0.0)),
    )
    gains = gain_of(settings)(hits.grade)
    cost = hits.rank + lists.at(dearer, hits.query, hits.rank)
    terms: Values = gains / np.log2(2.0 + cost - evaluation.running_sums(gains))
    return terms


_NO_GAIN = Undefined(
    words=lambda settings: "a query without a document of gain above 0",
    where=lambda pool, settings: _lists(pool, settings).lengths == 0,
)
_IDEAL = {"ideal": "all judged documents of the query, returned or not, largest gain first"}

Q_MEASURE = Declaration(
    name="Q",
    title="Q-measure",
    summary="average precision whose precision is blended with the gain collected as a share of the ideal gain",
    formula=lambda settings: (
        f"Q{at_k(settings)} = (sum over {down_to_k(settings)} with a relevant document of (r(i) + β · g(i)) / "
        f"(i + β · g*(i))) / {'R' if settings['denominator'] == 'R' else 'min(R, k)'}, r(i) = relevant documents, "
        "g(i) = gain down to rank i, g*(i) = that of the ideal list"
    ),
    source="Sakai 2004; NTCIREVAL",
    bounds=(0, 1),
    cutoff="optional",
    parameters=(
        REL,
        numeric(
            "beta",
            1.0,
            lambda text: read_number(text, 0, "a number of 0 or more"),
            lambda beta: f"β = {beta}",
            lambda beta: f"{beta}: weight of the gain; with 0 it is AP",
        ),
        GAINS,
        choice(
            "denominator",
            "denominator",
            {
                "R": ("÷ R", "R, the judged relevant documents, returned or not"),
                "min": ("÷ min(R, k)", "the smaller of R and k (R = judged relevant documents)"),
            },
        ),
    ),
    conventions={**LINEAR, **_IDEAL},
    undefined=NO_RELEVANT,
    objection=_q_objection,
    terms=_q_terms,
    denominator=_q_denominator,
    rewards_moving_up=lambda settings: False,
    best_is_one=lambda settings: (
        gains_rise(settings) and (settings["cutoff"] is None or settings["denominator"] == "min")
    ),
)

GRADED_AP = Declaration(
    name="GAP",
    title="Graded average precision",
    summary="average precision expected when the grade from which a reader finds documents relevant is drawn by chance",
    formula=lambda settings: (
        f"GAP{at_k(settings)} = (sum over {down_to_k(settings)} of 1/i · sum over j ≤ i of min(gain(i), gain(j))) / "
        "(sum of the gains of all judged documents)"
    ),
    source="Robertson, Kanoulas & Yilmaz 2010",
    bounds=(0, 1),
    cutoff="optional",
    parameters=(GAINS,),
    conventions={
        **LINEAR,
        "thresholds": "every step from one grade to the next is as likely as it is high in gain; the scale cancels out",
        "denominator": "the gains of all judged documents, returned or not",
    },
    undefined=_NO_GAIN,
    terms=_graded_ap_terms,
    denominator=lambda evaluation, settings: _total_gain(evaluation.pool, settings),
    rewards_moving_up=gains_rise,
    best_is_one=lambda settings: gains_rise(settings) and settings["cutoff"] is None,
)

NDCG_REL = Declaration(
    name="nDCG_rel",
    title="nDCG averaged over relevant documents",
    summary="nDCG at the rank of each document with a gain, averaged; those not returned count with nDCG at the end",
    formula=lambda settings: (
        "nDCG_rel = (sum over documents returned with a gain, at rank i, of DCG@i / IDCG@i + documents with a gain not "
        "returned · DCG / IDCG) / documents with a gain"
    ),
    source="trec_eval ndcg_rel",
    bounds=(0, 1),
    cutoff="none",
    parameters=(GAINS,),
    conventions={**LINEAR, "discount": "1 / log2(rank + 1)", **_IDEAL},
    undefined=_NO_GAIN,
    values=_ndcg_rel_values,
    rewards_moving_up=lambda settings: False,
    best_is_one=gains_rise,
    aliases=(
        Alias("ndcg_rel", "trec_eval", cutoff=False),
        Alias("ndcg_rel", "trec_eval", joined=True, fills="gains", lists=True, rewritten=gain_pairs),
    ),
)

R_NDCG = Declaration(
    name="Rndcg",
    title="nDCG at R levels",
    summary="nDCG averaged over the ranks where the ideal gain changes, and the end of the list",
    formula=lambda settings: (
        "Rndcg = mean of DCG@c / IDCG@c over c = the numbers of documents of at least each gain, and of DCG / IDCG if "
        "more than one document is returned after the last of them"
    ),
    source="trec_eval Rndcg",
    bounds=(0, 1),
    cutoff="none",
    parameters=(GAINS,),
    conventions={**LINEAR, "discount": "1 / log2(rank + 1)", **_IDEAL},
    undefined=_NO_GAIN,
    values=_r_ndcg_values,
    rewards_moving_up=gains_rise,
    best_is_one=gains_rise,
    aliases=(
        Alias("Rndcg", "trec_eval", cutoff=False),
        Alias("Rndcg", "trec_eval", joined=True, fills="gains", lists=True, rewritten=gain_pairs),
    ),
)

G_MEASURE = Declaration(
    name="G",
    title="Normalised gain G",
    summary="gain of each document discounted by the gain missed above it, as a share of the gain possible",
    formula=lambda settings: (
        "G = (sum over all ranks i of gain(i) / log2(2 + cost(i) − g(i))) / (sum of the gains of all judged "
        "documents), g(i) = gain down to rank i, cost(i) = that of the ideal list, every rank counting at least 1"
    ),
    source="Buckley 2008; trec_eval G",
    bounds=(0, 1),
    cutoff="none",
    parameters=(GAINS,),
    conventions={**LINEAR, **_IDEAL},
    undefined=_NO_GAIN,
    terms=_g_terms,
    denominator=lambda evaluation, settings: _total_gain(evaluation.pool, settings),
    rewards_moving_up=lambda settings: False,
    aliases=(
        Alias("G", "trec_eval", cutoff=False),
        Alias("G", "trec_eval", joined=True, fills="gains", lists=True, rewritten=gain_pairs),
    ),
)

DECLARATIONS = (Q_MEASURE, GRADED_AP, NDCG_REL, R_NDCG, G_MEASURE)
