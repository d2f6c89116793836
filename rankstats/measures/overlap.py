"""Compatibility: how far a list overlaps with the ideal one, the top counting most."""

from __future__ import annotations

import numpy as np

from rankstats.measures.declaration import NO_GAIN, Declaration, Settings, Values, flag, numeric, probability
from rankstats.measures.evaluation import Evaluation, Floats, IdealLists, Pool, Whole, ordinals, sums


def _ideal(pool: Pool) -> IdealLists:
    return pool.ideal_lists("grades", lambda grades: np.maximum(grades, 0.0))


def _depths(evaluation: Evaluation) -> Whole:
    """Return the depth down to which the lists of a query are compared, shape (Q,)."""
    return np.maximum(evaluation.hits.returned, _ideal(evaluation.pool).lengths)


def _weights_down_to(evaluation: Evaluation, p: float) -> Floats:
    """Return the sum of p^(i − 1) / i down to each rank, 0 at first, shape (deepest + 1,)."""
    ranks = np.arange(1.0, _depths(evaluation).max(initial=0) + 1.0)
    return np.append(0.0, np.cumsum(p ** (ranks - 1.0) / ranks))


def _ideal_places(evaluation: Evaluation) -> Whole:
    """Return the place of each hit with a gain in the ideal list that resembles its list most, 0 for other hits."""
    hits, places = evaluation.hits, np.zeros(len(evaluation.hits.rank), dtype=np.int64)
    gained = np.flatnonzero(hits.grade > 0)
    if not len(gained):
        return places
    # grade by grade; in a grade the documents returned come first, in the order of their ranks
    order = gained[np.lexsort((-hits.grade[gained], hits.query[gained]))]
    query, grade = hits.query[order], hits.grade[order]
    lists = _ideal(evaluation.pool)
    grades, place_in_all = np.unique(np.concatenate([lists.gain, grade]), return_inverse=True)
    width = len(grades) + 1
    rising = lists.query.astype(np.int64) * width + (width - place_in_all[: len(lists.gain)])
    wanted = query.astype(np.int64) * width + (width - place_in_all[len(lists.gain) :])
    first_of_grade = np.searchsorted(rising, wanted) - lists.starts[query]
    block = np.cumsum(np.append(0, (wanted[1:] != wanted[:-1]).astype(np.int64)))
    places[order] = first_of_grade + ordinals(block.astype(np.int32))
    return places


def _overlap_terms(evaluation: Evaluation, settings: Settings) -> Values:
    hits, down_to = evaluation.hits, _weights_down_to(evaluation, settings["p"])
    # a document is in both lists from the deeper of its two places on
    both = np.maximum(hits.rank, _ideal_places(evaluation))
    shared = down_to[_depths(evaluation)[hits.query]] - down_to[both - 1]
    return np.where(hits.grade > 0, shared, 0.0)


def _overlap_denominator(evaluation: Evaluation, settings: Settings) -> Values:
    depths, p = _depths(evaluation), settings["p"]
    if not settings["normalize"]:
        whole: Values = (1.0 - p**depths) / (1.0 - p)
        return whole
    lists, down_to = _ideal(evaluation.pool), _weights_down_to(evaluation, p)
    return sums(lists.query, down_to[depths[lists.query]] - down_to[lists.place - 1], evaluation.pool.n_queries)


COMPATIBILITY = Declaration(
    name="Compat",
    title="Compatibility",
    summary="rank-biased overlap between the list and the ideal one",
    formula=lambda settings: (
        "Compat = (sum over depths i of p^(i − 1) · overlap(i) / i) / "
        + ("the same of the ideal list with itself" if settings["normalize"] else "(sum of p^(i − 1))")
        + ", overlap(i) = documents among the first i of both lists, down to the end of the longer one"
    ),
    source="Clarke, Vtyurina & Smucker 2021; ir_measures Compat",
    bounds=(0, 1),
    cutoff="none",
    parameters=(
        numeric(
            "p",
            0.95,
            probability,
            lambda p: f"p = {p}",
            lambda p: f"{p}, the chance of going on to the next document",
            convention="persistence",
        ),
        flag(
            "normalize",
            "denominator",
            ("not normalised", "the weights of all depths; a short ideal list cannot reach 1"),
            ("normalised", "the value of the ideal list"),
            default=True,
        ),
    ),
    conventions={
        "ideal": "documents of a grade above 0, best grade first; in a grade those returned first, in their order"
    },
    undefined=NO_GAIN,
    terms=_overlap_terms,
    denominator=_overlap_denominator,
    best_is_one=lambda settings: bool(settings["normalize"]),
)

DECLARATIONS = (COMPATIBILITY,)
