"""Errors of predicted ratings: the run's scores against the judges' grades. They do not judge a ranking."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankstats.errors import MeasureError
from rankstats.measures.declaration import Declaration, Parameter, Settings, Together, Values, choice
from rankstats.measures.evaluation import Evaluation, Floats, Pool, sums

Loss = Callable[[Floats], Floats]


def _parts(loss: Loss) -> Callable[[Evaluation, Settings], Floats]:
    """Return, from a loss of errors, the function to sums of losses and numbers of ratings, shape (Q, 2)."""

    def parts(evaluation: Evaluation, settings: Settings) -> Floats:
        hits, n_queries = evaluation.hits, evaluation.pool.n_queries
        if hits.score is None:
            raise MeasureError(f"{hits.system} has no scores that could be read as predicted ratings")
        losses = sums(hits.query, loss(hits.score - hits.grade), n_queries)
        return np.stack([losses, np.bincount(hits.query, minlength=n_queries)], axis=1)

    return parts


def _mean_loss(parts: Floats) -> Floats:
    losses, n = parts[..., 0], parts[..., 1]
    return np.asarray(np.divide(losses, n, out=np.full(losses.shape, np.nan), where=n > 0))


def _root(values: Floats) -> Floats:
    return np.sqrt(values)


def _same(values: Floats) -> Floats:
    return values


def _over_pairs(settings: Settings) -> bool:
    return bool(settings["over"] == "pairs")


def _per_query(loss: Loss, finish: Loss) -> Callable[[Evaluation, Settings], Values]:
    def values(evaluation: Evaluation, settings: Settings) -> Values:
        parts = _parts(loss)(evaluation, settings)
        return np.full(len(parts), np.nan) if _over_pairs(settings) else finish(_mean_loss(parts))

    return values


def _together(loss: Loss, finish: Loss) -> Together:
    def statistic(pool: Pool, settings: Settings) -> Callable[[NDArray[Any]], Values]:
        return lambda parts: finish(_mean_loss(parts.sum(axis=1)))

    return Together(parts=_parts(loss), statistic=statistic, applies=_over_pairs)


OVER: Parameter = choice(
    "over",
    "average",
    {
        "queries": ("mean of queries", "over the ratings of each query (user), whose values are then averaged"),
        "pairs": ("over all pairs", "over all ratings of all queries at once; no value a query"),
    },
)
_CONVENTIONS = {
    "judges": "predicted ratings, not a ranking: the run's scores are read as predictions of the grades, and a list in "
    "any other order has the same value",
    "ratings": "all judged documents returned, whatever their grade; judged documents not returned have no prediction "
    "and are left out",
}


def _without_value(settings: Settings) -> str:
    return (
        "every single query: all pairs have one value" if _over_pairs(settings) else "a list without judged documents"
    )


ROOT_MEAN_SQUARED_ERROR = Declaration(
    name="RMSE",
    title="Root mean squared error of predicted ratings",
    summary="root of the mean squared difference of scores and grades; it does not judge a ranking",
    formula=lambda settings: "RMSE = root of the mean over judged documents returned of (score − grade)²",
    source="Herlocker et al. 2004",
    bounds=(0, None),
    cutoff="none",
    parameters=(OVER,),
    conventions=_CONVENTIONS,
    without_value=_without_value,
    missing="none: there is no prediction",
    values=_per_query(np.square, _root),
    together=_together(np.square, _root),
    rewards_moving_up=lambda settings: False,
    higher_is_better=False,
    remark="of ratings, not of the ranking",
)

MEAN_ABSOLUTE_ERROR = Declaration(
    name="MAE",
    title="Mean absolute error of predicted ratings",
    summary="mean absolute difference of scores and grades; it does not judge a ranking",
    formula=lambda settings: "MAE = mean over judged documents returned of |score − grade|",
    source="Herlocker et al. 2004",
    bounds=(0, None),
    cutoff="none",
    parameters=(OVER,),
    conventions=_CONVENTIONS,
    without_value=_without_value,
    missing="none: there is no prediction",
    values=_per_query(np.abs, _same),
    together=_together(np.abs, _same),
    rewards_moving_up=lambda settings: False,
    higher_is_better=False,
    remark="of ratings, not of the ranking",
)

DECLARATIONS = (ROOT_MEAN_SQUARED_ERROR, MEAN_ABSOLUTE_ERROR)
