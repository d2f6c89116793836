"""Measures of all lists together: how much of the catalogue they show, and how evenly.

They have one value a system and none a query. The hypothesis that two systems do not differ is tested by exchanging
their lists (`rankstats.stats.list_exchange_test`), with the statistics that are declared here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankstats.errors import MeasureError
from rankstats.measures.beyond_accuracy import listed, read_count
from rankstats.measures.declaration import Declaration, Parameter, Settings, Together, Values, choice, number
from rankstats.measures.evaluation import Evaluation, Pool, Whole

Statistic = Callable[[NDArray[Any]], Values]


def listed_documents(evaluation: Evaluation, settings: Settings) -> Whole:
    """Return the numbers of the documents at ranks 1 to k, −1 where there is none, shape (Q, k).

    Numbers ascend, so that lists with the same documents are equal. Where the item table is the catalogue, documents
    that it lacks are −1 too.
    """
    pool, cutoff = evaluation.pool, settings["cutoff"]
    rows = listed(evaluation, cutoff)
    documents = np.full((pool.n_queries, cutoff), -1, dtype=np.int64)
    documents[rows.query, rows.rank - 1] = rows.document
    size = settings.get("catalogue")
    if size is not None:
        shown = len(np.unique(rows.document))
        if shown > size:
            raise MeasureError(
                f"the catalogue in the name has {number(size)} documents, but the lists of {evaluation.hits.system} "
                f"show {shown:,} different ones among their first {cutoff}; name its real size, or give it with "
                "--items FILE"
            )
    elif "catalogue" in settings and pool.items is not None:
        documents[documents >= len(pool.items)] = -1
    return np.sort(documents, axis=1)


def exposures(lists: Whole) -> Whole:
    """Count how often each document is listed.

    Parameters
    ----------
    lists : ndarray of int64, shape (R, Q, k)
        Numbers of documents, −1 for none.

    Returns
    -------
    ndarray of int64, shape (R, D)
        D is 1 + the largest number.

    Examples
    --------
    >>> exposures(np.array([[[0, 2], [2, -1]]])).tolist()
    [[1, 0, 2]]
    """
    blocks, width = lists.shape[0], int(lists.max(initial=-1)) + 2
    numbers = lists.reshape(blocks, -1) + 1 + width * np.arange(blocks)[:, None]
    counts = np.bincount(numbers.ravel(), minlength=blocks * width).reshape(blocks, width)
    return counts[:, 1:].astype(np.int64)


def _catalogue(pool: Pool, settings: Settings) -> float:
    return float(len(pool.items) if settings["catalogue"] is None and pool.items else settings["catalogue"])


def _coverage(pool: Pool, settings: Settings) -> Statistic:
    size = _catalogue(pool, settings)
    return lambda lists: np.count_nonzero(exposures(lists), axis=1) / size


def _gini(pool: Pool, settings: Settings) -> Statistic:
    size = _catalogue(pool, settings)

    def statistic(lists: NDArray[Any]) -> Values:
        counts = np.sort(exposures(lists), axis=1)
        # documents never listed stand before all others and add nothing
        place = size - np.arange(counts.shape[1] - 1, -1, -1)
        weighed = ((2 * place - size - 1) * counts).sum(axis=1)
        by = counts.sum(axis=1) * (size if settings["denominator"] == "n" else size - 1)
        return np.asarray(np.divide(weighed, by, out=np.full(len(counts), np.nan), where=by > 0))

    return statistic


def _exposure_entropy(pool: Pool, settings: Settings) -> Statistic:
    def statistic(lists: NDArray[Any]) -> Values:
        # in the order of counts, so that the sum does not depend on how documents are numbered
        counts = np.sort(exposures(lists), axis=1)
        total = counts.sum(axis=1, keepdims=True)
        share = np.divide(counts, total, out=np.zeros(counts.shape), where=total > 0)
        entropy = -(share * np.log2(np.where(share > 0, share, 1.0))).sum(axis=1) + 0.0
        return np.where(total[:, 0] > 0, entropy, np.nan)

    return statistic


def _in_catalogue(pool: Pool, settings: Settings) -> NDArray[np.bool_] | None:
    return np.ones(len(pool.items), dtype=bool) if settings["catalogue"] is None and pool.items else None


def no_value_a_query(evaluation: Evaluation, settings: Settings) -> Values:
    """Return NaN for every query."""
    return np.full(evaluation.pool.n_queries, np.nan)


def _without_catalogue(pool: Pool, settings: Settings) -> str | None:
    if pool.items is None and settings["catalogue"] is None:
        return (
            "needs the catalogue; give it with --items FILE, or its size in the name: (catalogue=5000)"
            f"@{settings['cutoff']}"
        )
    return None


def _read_catalogue(text: str) -> float | None:
    return None if text == "items" else read_count(text)


def every_query(settings: Settings) -> str:
    """Name the lists without a value, for measures of all lists together."""
    return "every single query: all lists together have one value"


CATALOGUE = Parameter(
    name="catalogue",
    default=None,
    read=_read_catalogue,
    write=lambda value: "items" if value is None else number(value),
    label=lambda value: f"of {number(value)}",
    conventions=lambda value: {
        "catalogue": "the item table; documents that it lacks are left out and counted"
        if value is None
        else f"{number(value)} documents, as declared in the name"
    },
    usage="catalogue=items",
)
_CONVENTIONS: Mapping[str, str] = {
    "documents": "all of the first k of the judged queries, judged or not",
    "exposure": "the number of lists that show the document, at whatever rank among the first k",
}
_MISSING = "none: there is no list"

COVERAGE = Declaration(
    name="Coverage",
    title="Catalogue coverage",
    summary="share of the catalogue that stands among the first k documents of at least one list",
    formula=lambda settings: (
        "Coverage@k = (different documents among the first k of all lists) / (documents in the catalogue)"
    ),
    source="Herlocker et al. 2004; Ge, Delgado-Battenfeld & Jannach 2010",
    bounds=(0, 1),
    cutoff="required",
    parameters=(CATALOGUE,),
    conventions=_CONVENTIONS,
    needs=("items", "lists"),
    refusal=_without_catalogue,
    known=_in_catalogue,
    without_value=every_query,
    missing=_MISSING,
    values=no_value_a_query,
    together=Together(parts=listed_documents, statistic=_coverage),
    rewards_moving_up=lambda settings: False,
    synonyms=("CatalogueCoverage",),
)

GINI = Declaration(
    name="Gini",
    title="Gini index of exposure",
    summary="how unevenly the lists show the catalogue: 0 all documents equally often, near 1 always the same few",
    formula=lambda settings: (
        "Gini@k = sum over the catalogue's documents, least shown first, of (2i − n − 1) · exposure(i) / "
        f"({'n' if settings['denominator'] == 'n' else '(n − 1)'} · sum of exposures), n = documents in the catalogue"
    ),
    source="Gini 1912; Fleder & Hosanagar 2009",
    bounds=(0, 1),
    cutoff="required",
    parameters=(
        CATALOGUE,
        choice(
            "denominator",
            "denominator",
            {
                "n": ("÷ n", "n, the documents in the catalogue; the largest value is 1 − 1/n"),
                "n-1": ("÷ (n − 1)", "n − 1; the value is 1 where one document has all exposure"),
            },
        ),
    ),
    conventions=_CONVENTIONS,
    needs=("items", "lists"),
    refusal=_without_catalogue,
    known=_in_catalogue,
    without_value=every_query,
    missing=_MISSING,
    values=no_value_a_query,
    together=Together(parts=listed_documents, statistic=_gini),
    rewards_moving_up=lambda settings: False,
    higher_is_better=False,
)

EXPOSURE_ENTROPY = Declaration(
    name="ExposureEntropy",
    title="Entropy of exposure",
    summary="entropy of how often each document is shown, in bits: the more documents, and the more evenly, the higher",
    formula=lambda settings: (
        "ExposureEntropy@k = −sum over documents of share · log2(share), share = exposure / all exposures"
    ),
    source="Shannon 1948; Adomavicius & Kwon 2012",
    bounds=(0, None),
    cutoff="required",
    conventions={**_CONVENTIONS, "catalogue": "none: documents never shown add nothing"},
    needs=("lists",),
    without_value=every_query,
    missing=_MISSING,
    values=no_value_a_query,
    together=Together(parts=listed_documents, statistic=_exposure_entropy),
    rewards_moving_up=lambda settings: False,
)

DECLARATIONS = (COVERAGE, GINI, EXPOSURE_ENTROPY)
