"""Interpolated precision at levels of recall, and its average."""

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
    read_list,
    write_list,
)
from rankstats.measures.evaluation import Evaluation

ELEVEN = tuple(tenth / 10 for tenth in range(11))


def _wanted(evaluation: Evaluation, level: float, rounding: str, rel: float) -> Values:
    """Return how many relevant documents a level of recall means, at least 1, shape (Q,)."""
    exact = level * evaluation.pool.relevant(rel)
    whole = np.floor(exact)
    wanted = np.floor(exact + 0.9) if rounding == "up" else whole + (exact - whole >= 0.5)
    # the best precision from the start on is that from the first relevant document on
    at_least_one: Values = np.maximum(wanted, 1.0)
    return at_least_one


def _interpolated(evaluation: Evaluation, level: float, settings: Settings) -> Values:
    """Return the best precision at or below the rank where a level of recall is reached, 0 where it is not."""
    hits, ordinal = evaluation.hits, evaluation.ordinal(settings["rel"])
    wanted = _wanted(evaluation, level, settings["rounding"], settings["rel"])
    reached = np.flatnonzero((ordinal > 0) & (ordinal >= wanted[hits.query]))
    values = np.zeros(evaluation.pool.n_queries)
    np.maximum.at(values, hits.query[reached], ordinal[reached] / hits.rank[reached])
    return values


def _level_values(evaluation: Evaluation, settings: Settings) -> Values:
    return _interpolated(evaluation, settings["cutoff"], settings)


def _average_values(evaluation: Evaluation, settings: Settings) -> Values:
    levels = settings["levels"]
    total = np.zeros(evaluation.pool.n_queries)
    # from the deepest level up, as trec_eval adds
    for level in reversed(levels):
        total += _interpolated(evaluation, level, settings)
    values: Values = total / len(levels)
    return values


def _read_levels(text: str) -> tuple[float, ...]:
    levels = read_list(text, 0, "a list of levels of recall such as [0.2, 0.5, 0.8]")
    if max(levels) > 1:
        raise ValueError(f"is {text!r}; levels of recall are from 0 to 1")
    return levels


_ROUNDING = choice(
    "rounding",
    "recall reached",
    {
        "up": ("rounded up", "with level · R + 0.9, rounded down, relevant documents (trec_eval 9)"),
        "nearest": ("rounded", "with level · R relevant documents, rounded to the nearest (trec_eval 10)"),
    },
)

INTERPOLATED_PRECISION = Declaration(
    name="IPrec",
    title="Interpolated precision",
    summary="best precision at or below the rank where a level of recall is reached",
    formula=lambda settings: (
        f"IPrec@{number(settings['cutoff'])} = largest P@i over the ranks i at which at least "
        f"{number(settings['cutoff'])} · R relevant documents are found; 0 when there is no such rank"
    ),
    source="ir_measures IPrec; trec_eval iprec_at_recall",
    bounds=(0, 1),
    cutoff="required",
    at="recall",
    parameters=(REL, _ROUNDING),
    undefined=NO_RELEVANT,
    values=_level_values,
    best_is_one=lambda settings: True,
    aliases=(Alias("iprec_at_recall", "trec_eval", {"rounding": "nearest"}, joined=True),),
)

INTERPOLATED_AVERAGE = Declaration(
    name="IAP",
    title="Interpolated average precision",
    summary="interpolated precision averaged over levels of recall, eleven unless others are given",
    formula=lambda settings: f"IAP = mean of IPrec@l over the levels l = {', '.join(map(number, settings['levels']))}",
    source="trec_eval 11pt_avg",
    bounds=(0, 1),
    cutoff="none",
    parameters=(
        REL,
        Parameter(
            name="levels",
            default=ELEVEN,
            read=_read_levels,
            write=write_list,
            label=lambda value: f"levels {write_list(value)}",
            conventions=lambda value: {"levels": ", ".join(map(number, value))},
            usage="levels=[0, 0.1, …]",
        ),
        _ROUNDING,
    ),
    undefined=NO_RELEVANT,
    values=_average_values,
    best_is_one=lambda settings: True,
    aliases=(
        Alias("11pt_avg", "trec_eval", {"rounding": "nearest"}, cutoff=False),
        Alias(
            "11pt_avg",
            "trec_eval",
            {"rounding": "nearest"},
            joined=True,
            fills="levels",
            lists=True,
            rewritten=lambda text: f"[{text}]",
        ),
    ),
)


DECLARATIONS = (INTERPOLATED_PRECISION, INTERPOLATED_AVERAGE)
