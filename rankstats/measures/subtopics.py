"""Measures of diversity over subtopics (intents, aspects), as ndeval of the TREC Web tracks computes them.

All of them are sums over the judged documents returned, divided by a number of the query. A document is relevant to a
subtopic or not; a subtopic without any relevant document is left out of its query.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankstats.measures.declaration import (
    NO_RELEVANT,
    REL,
    Alias,
    Declaration,
    Settings,
    Values,
    at_k,
    numeric,
    read_number,
)
from rankstats.measures.evaluation import Evaluation, Floats, Pool, Whole, log2_discount, ordinals, sums

Discount = Callable[[Floats], Floats]
_ROUNDING = 1e-12


class _Relevant(NamedTuple):
    """Which judged documents are relevant to which subtopics: one row a document and subtopic, sorted by document.

    Attributes
    ----------
    judgment : ndarray of int64, shape (N,)
        Row of the judgments.
    pair : ndarray of int64, shape (N,)
        Number of the query's subtopic among those of all queries; ascending with the query.
    size : ndarray of int64, shape (P,)
        Relevant documents of each query's subtopic.
    subtopics : ndarray of float64, shape (Q,)
        Subtopics with a relevant document.
    """

    judgment: Whole
    pair: Whole
    size: Whole
    subtopics: Floats


class _Found(NamedTuple):
    """The relevant documents and subtopics among the hits, in the order of ranks.

    Attributes
    ----------
    hit : ndarray of int64, shape (N,)
        Which hit.
    pair : ndarray of int64, shape (N,)
        As in `_Relevant`.
    ordinal : ndarray of int64, shape (N,)
        Which document of its subtopic it is in the list, from 1.
    """

    hit: Whole
    pair: Whole
    ordinal: Whole


class _GreedyLists(NamedTuple):
    """The list of every query that gains most at each rank in turn: query, place from 1, and gain of each document."""

    query: NDArray[np.int64]
    place: Whole
    gain: Floats


def _relevant(pool: Pool, rel: float) -> _Relevant:
    def make() -> _Relevant:
        table = pool.judgments.subtopics
        if table is None:
            raise TypeError("the judgments hold no subtopics")
        keep = table.grade >= rel
        judgment = table.judgment[keep]
        query = pool.judgments.query[judgment].astype(np.int64)
        key = query * max(len(table.names), 1) + table.subtopic[keep]
        distinct, pair, size = np.unique(key, return_inverse=True, return_counts=True)
        per_query = np.bincount(distinct // max(len(table.names), 1), minlength=pool.n_queries)
        return _Relevant(judgment, pair.astype(np.int64), size.astype(np.int64), per_query.astype(np.float64))

    made: _Relevant = pool.once(("relevant to subtopics", rel), make)
    return made


def _found(evaluation: Evaluation, rel: float) -> _Found:
    relevant = _relevant(evaluation.pool, rel)
    first, end = (np.searchsorted(relevant.judgment, evaluation.hits.judgment, side) for side in ("left", "right"))
    lengths = end - first
    hit = np.repeat(np.arange(len(lengths)), lengths)
    row = np.repeat(first, lengths) + ordinals(hit) - 1
    pair = relevant.pair[row]
    ordinal = np.empty(len(pair), dtype=np.int64)
    by_pair = np.argsort(pair, kind="stable")
    ordinal[by_pair] = ordinals(pair[by_pair])
    return _Found(hit, pair, ordinal)


def _per_hit(evaluation: Evaluation, found: _Found, terms: Floats) -> Values:
    """Add up a number per document and subtopic for each hit, shape (H,)."""
    return sums(found.hit, terms, len(evaluation.hits.rank))


def _greedy_lists(pool: Pool, settings: Settings) -> _GreedyLists:
    """Return the lists that gain most at each rank in turn; among equal gains the largest document id goes first."""
    rel, alpha, cutoff = settings["rel"], settings["alpha"], settings["cutoff"]

    def make() -> _GreedyLists:
        relevant = _relevant(pool, rel)
        starts = np.searchsorted(relevant.judgment, pool.judgments.offsets)
        gains = [
            _greedy_gains(relevant, slice(*ends), alpha, cutoff) for ends in np.stack([starts[:-1], starts[1:]], 1)
        ]
        query = np.repeat(np.arange(pool.n_queries), [len(of_query) for of_query in gains])
        return _GreedyLists(query, ordinals(query), np.concatenate([*gains, np.zeros(0)]))

    made: _GreedyLists = pool.once(("greedy lists", rel, alpha, cutoff), make)
    return made


def _greedy_gains(relevant: _Relevant, rows: slice, alpha: float, cutoff: int | None) -> Floats:
    """Return the gains of one query's list, best document first at every rank."""
    _, subtopic = np.unique(relevant.pair[rows], return_inverse=True)
    # judgments ascend by document id
    documents, document = np.unique(-relevant.judgment[rows], return_inverse=True)
    covers = np.zeros((int(subtopic.max(initial=-1)) + 1, len(documents)))
    covers[subtopic, document] = 1.0
    worth = np.ones(len(covers))
    gains = np.zeros(len(documents) if cutoff is None else min(cutoff, len(documents)))
    for place in range(len(gains)):
        gain = (covers * worth[:, None]).sum(axis=0)
        # equal sums that were added in another order are equal
        best = int(np.argmax(gain >= gain.max() * (1.0 - _ROUNDING)))
        gains[place] = gain[best]
        worth[covers[:, best] == 1.0] *= 1.0 - alpha
        covers[:, best] = -1.0
    return gains


def _novel_gains(evaluation: Evaluation, settings: Settings) -> Values:
    """Return the gain of each hit: its subtopics, each worth (1 − alpha) times less for every document before it."""
    found = _found(evaluation, settings["rel"])
    gains = _per_hit(evaluation, found, (1.0 - settings["alpha"]) ** (found.ordinal - 1.0))
    return gains * evaluation.within(settings["cutoff"])


def _reciprocal_discount(rank: Floats) -> Floats:
    return 1.0 / rank


def _discounted(discount: Discount) -> Callable[[Evaluation, Settings], Values]:
    def terms(evaluation: Evaluation, settings: Settings) -> Values:
        return _novel_gains(evaluation, settings) * discount(evaluation.hits.rank.astype(np.float64))

    return terms


def _over_greedy(discount: Discount) -> Callable[[Evaluation, Settings], Values]:
    def denominator(evaluation: Evaluation, settings: Settings) -> Values:
        lists = _greedy_lists(evaluation.pool, settings)
        return sums(lists.query, lists.gain * discount(lists.place.astype(np.float64)), evaluation.pool.n_queries)

    return denominator


def _over_full(discount: Discount) -> Callable[[Evaluation, Settings], Values]:
    """Divide by what k documents would gain if each were relevant to every subtopic."""

    def denominator(evaluation: Evaluation, settings: Settings) -> Values:
        rank = np.arange(1.0, settings["cutoff"] + 1)
        full = float(np.sum((1.0 - settings["alpha"]) ** (rank - 1) * discount(rank)))
        return _relevant(evaluation.pool, settings["rel"]).subtopics * full

    return denominator


def _patient(settings: Settings) -> Discount:
    return lambda rank: np.asarray(settings["beta"] ** (rank - 1.0), dtype=np.float64)


def _nrbp_terms(evaluation: Evaluation, settings: Settings) -> Values:
    return _discounted(_patient(settings))(evaluation, settings)


def _nrbp_denominator(evaluation: Evaluation, settings: Settings) -> Values:
    subtopics = _relevant(evaluation.pool, settings["rel"]).subtopics
    return subtopics / float(1.0 - (1.0 - settings["alpha"]) * settings["beta"])


def _nnrbp_denominator(evaluation: Evaluation, settings: Settings) -> Values:
    return _over_greedy(_patient(settings))(evaluation, settings)


def _ap_terms(evaluation: Evaluation, settings: Settings) -> Values:
    found = _found(evaluation, settings["rel"])
    precision = found.ordinal / evaluation.hits.rank[found.hit]
    size = _relevant(evaluation.pool, settings["rel"]).size
    return _per_hit(evaluation, found, precision / size[found.pair])


def _subtopics(evaluation: Evaluation, settings: Settings) -> Values:
    return _relevant(evaluation.pool, settings["rel"]).subtopics


def _p_terms(evaluation: Evaluation, settings: Settings) -> Values:
    found = _found(evaluation, settings["rel"])
    return _per_hit(evaluation, found, np.ones(len(found.hit))) * evaluation.within(settings["cutoff"])


def _recall_terms(evaluation: Evaluation, settings: Settings) -> Values:
    found = _found(evaluation, settings["rel"])
    return _per_hit(evaluation, found, (found.ordinal == 1).astype(np.float64)) * evaluation.within(settings["cutoff"])


def _refusal(pool: Pool, settings: Settings) -> str | None:
    if pool.judgments.subtopics is not None:
        return None
    return (
        "the judgments name no subtopics; give qrels whose second field is the subtopic (qid subtopic docid grade), or "
        "a table with a column subtopic"
    )


def _endless(settings: Settings) -> str | None:
    if settings["alpha"] == 0 and settings["beta"] == 1:
        return "has no largest value with alpha=0 and beta=1; set beta below 1"
    return None


def _share(text: str) -> float:
    what = "a number from 0 to 1"
    value = read_number(text, 0, what)
    if value > 1:
        raise ValueError(f"is {text!r}, where {what} is expected")
    return value


ALPHA = numeric(
    "alpha",
    0.5,
    _share,
    lambda text: f"α = {text}",
    lambda text: f"{text}: each relevant document makes the next one for its subtopic worth 1 − {text} times as much",
)
BETA = numeric(
    "beta",
    0.5,
    _share,
    lambda text: f"β = {text}",
    lambda text: f"{text}: the chance that a reader goes on from a rank to the next",
)

_CONVENTIONS: Mapping[str, str] = {
    "subtopics": "those of the query with a relevant document, N of them; relevance to a subtopic is yes or no",
}
_FULL: Mapping[str, str] = {
    **_CONVENTIONS,
    "denominator": "the same sum for k documents each relevant to all N subtopics, whatever the judgments (ndeval's "
    "collection-independent normalisation, here from k = 1 on)",
}
_GREEDY: Mapping[str, str] = {
    **_CONVENTIONS,
    "denominator": "the same sum for the ideal list (ndeval's collection-dependent normalisation)",
    "ideal": "from all judged documents, built greedily: at each rank the document that gains most, among equals the "
    "largest id; a list that is better than this one has a value above 1",
}
_GAIN = "sum over the subtopics of document i of (1 − α)^(documents for that subtopic above i)"


def _sum_of(name: str, discount: str) -> Callable[[Settings], str]:
    return lambda settings: (
        f"{name}{at_k(settings)} = (sum over the ranks i{' ≤ k' if settings['cutoff'] else ''} of gain(i){discount}) / "
        f"denominator, gain(i) = {_GAIN}"
    )


_declared = partial(
    Declaration,
    undefined=NO_RELEVANT,
    refusal=_refusal,
    needs=("subtopics",),
    # what a document is worth depends on the documents above it
    rewards_moving_up=lambda settings: False,
)
_CLARKE = "Clarke et al. 2008"
_NOVELTY = "every subtopic being worth less the more documents for it were listed before"

ALPHA_DCG = _declared(
    name="alpha_DCG",
    title="Alpha-discounted cumulative gain",
    summary=f"new subtopics found by the first k documents, discounted by rank, {_NOVELTY}",
    formula=_sum_of("alpha_DCG", " / log2(i + 1)"),
    source=f"{_CLARKE}; ndeval alpha-DCG",
    bounds=(0, 1),
    cutoff="required",
    parameters=(ALPHA, REL),
    conventions={"discount": "1 / log2(rank + 1)", **_FULL},
    terms=_discounted(log2_discount),
    denominator=_over_full(log2_discount),
    aliases=(Alias("α_DCG", "ir_measures"), Alias("alpha-DCG", "ndeval")),
)

ALPHA_NDCG = _declared(
    name="alpha_nDCG",
    title="Alpha-normalised discounted cumulative gain",
    summary=f"new subtopics found by the first k documents as a share of the ideal list, {_NOVELTY}",
    formula=_sum_of("alpha_nDCG", " / log2(i + 1)"),
    source=f"{_CLARKE}; ndeval alpha-nDCG",
    bounds=(0, None),
    cutoff="required",
    parameters=(ALPHA, REL),
    conventions={"discount": "1 / log2(rank + 1)", **_GREEDY},
    terms=_discounted(log2_discount),
    denominator=_over_greedy(log2_discount),
    aliases=(Alias("α_nDCG", "ir_measures"), Alias("alpha-nDCG", "ndeval")),
)

ERR_IA = _declared(
    name="ERR_IA",
    title="Intent-aware expected reciprocal rank",
    summary="expected reciprocal rank at which a reader with one of the subtopics in mind is satisfied, over subtopics",
    formula=_sum_of("ERR_IA", " / i"),
    source="Chapelle et al. 2009, 2011; ndeval ERR-IA",
    bounds=(0, 1),
    cutoff="required",
    parameters=(ALPHA, REL),
    conventions={"discount": "1 / rank", **_FULL},
    terms=_discounted(_reciprocal_discount),
    denominator=_over_full(_reciprocal_discount),
    aliases=(Alias("ERR-IA", "ndeval"),),
)

NERR_IA = _declared(
    name="nERR_IA",
    title="Normalised intent-aware expected reciprocal rank",
    summary="intent-aware expected reciprocal rank as a share of the ideal list",
    formula=_sum_of("nERR_IA", " / i"),
    source="Chapelle et al. 2009, 2011; ndeval nERR-IA",
    bounds=(0, None),
    cutoff="required",
    parameters=(ALPHA, REL),
    conventions={"discount": "1 / rank", **_GREEDY},
    terms=_discounted(_reciprocal_discount),
    denominator=_over_greedy(_reciprocal_discount),
    aliases=(Alias("nERR-IA", "ndeval"),),
)

NRBP = _declared(
    name="NRBP",
    title="Novelty- and rank-biased precision",
    summary=f"new subtopics found by a reader who goes on from rank to rank with probability beta, {_NOVELTY}",
    formula=lambda settings: (
        f"NRBP = (1 − (1 − α) β) / N · sum over all ranks i of gain(i) β^(i − 1), gain(i) = {_GAIN}"
    ),
    source="Clarke et al. 2009; ndeval NRBP",
    bounds=(0, 1),
    cutoff="none",
    parameters=(ALPHA, BETA, REL),
    conventions={
        **_CONVENTIONS,
        "denominator": "the same sum for an endless list of documents relevant to all N subtopics (ndeval's "
        "collection-independent normalisation)",
    },
    objection=_endless,
    terms=_nrbp_terms,
    denominator=_nrbp_denominator,
)

NNRBP = _declared(
    name="nNRBP",
    title="Normalised novelty- and rank-biased precision",
    summary="novelty- and rank-biased precision as a share of the ideal list",
    formula=_sum_of("nNRBP", " · β^(i − 1)"),
    source="Clarke et al. 2009; ndeval nNRBP",
    bounds=(0, None),
    cutoff="none",
    parameters=(ALPHA, BETA, REL),
    conventions=_GREEDY,
    terms=_nrbp_terms,
    denominator=_nnrbp_denominator,
)

AP_IA = _declared(
    name="AP_IA",
    title="Intent-aware average precision",
    summary="average precision for each subtopic, averaged over the subtopics",
    formula=lambda settings: (
        "AP_IA = (sum over subtopics of (sum of P@i over the ranks i with a relevant document) / R) / N, "
        "R = judged relevant documents of the subtopic"
    ),
    source="Agrawal et al. 2009; ndeval MAP-IA",
    bounds=(0, 1),
    cutoff="none",
    parameters=(REL,),
    conventions=_CONVENTIONS,
    terms=_ap_terms,
    denominator=_subtopics,
    aliases=(Alias("MAP_IA", "ir_measures", cutoff=False), Alias("MAP-IA", "ndeval", cutoff=False)),
)

P_IA = _declared(
    name="P_IA",
    title="Intent-aware precision",
    summary="share of the first k documents that are relevant to a subtopic, averaged over the subtopics",
    formula=lambda settings: "P_IA@k = (sum over subtopics of the relevant documents in the first k) / (k · N)",
    source="Agrawal et al. 2009; ndeval P-IA",
    bounds=(0, 1),
    cutoff="required",
    parameters=(REL,),
    conventions={**_CONVENTIONS, "denominator": "k, also when fewer documents are returned, times N"},
    terms=_p_terms,
    denominator=lambda evaluation, settings: settings["cutoff"] * _subtopics(evaluation, settings),
    aliases=(Alias("P-IA", "ndeval"),),
)

SUBTOPIC_RECALL = _declared(
    name="StRecall",
    title="Subtopic recall",
    summary="share of the subtopics that the first k documents cover",
    formula=lambda settings: "StRecall@k = (subtopics with a relevant document in the first k) / N",
    source="Zhai et al. 2003; ndeval strec",
    bounds=(0, 1),
    cutoff="required",
    parameters=(REL,),
    conventions=_CONVENTIONS,
    terms=_recall_terms,
    denominator=_subtopics,
    aliases=(Alias("strec", "ndeval"),),
)

DECLARATIONS = (ALPHA_DCG, ALPHA_NDCG, ERR_IA, NERR_IA, NRBP, NNRBP, AP_IA, P_IA, SUBTOPIC_RECALL)
