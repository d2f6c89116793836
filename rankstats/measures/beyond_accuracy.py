"""Measures of what is listed, right or wrong: novelty, popularity and diversity of each list.

They look at all documents of the first k, judged or not, and need the item table. A document that the table lacks, or
of which it does not know what is asked, is left out of the value; callers count those documents and say so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rankstats.errors import did_you_mean
from rankstats.measures.declaration import Declaration, Parameter, Settings, Values, choice, number, read_number
from rankstats.measures.evaluation import Evaluation, Floats, Pool, Whole, sums

if TYPE_CHECKING:
    from rankstats.tables import Categories, Items


@dataclass(frozen=True, slots=True)
class Listed:
    """Documents of the first ranks of every query, in the order of queries and ranks.

    Attributes
    ----------
    query : ndarray of int32, shape (T,)
        Index of the judged query.
    rank : ndarray of int64, shape (T,)
        From 1.
    document : ndarray of int64, shape (T,)
        Row of the item table; numbers from its length on for other documents.
    """

    query: NDArray[np.int32]
    rank: Whole
    document: Whole

    def only(self, chosen: NDArray[np.bool_]) -> Listed:
        """Return some of the rows, bool of shape (T,)."""
        return Listed(self.query[chosen], self.rank[chosen], self.document[chosen])


def listed(evaluation: Evaluation, cutoff: int) -> Listed:
    """Return the documents at rank `cutoff` or above."""

    def make() -> Listed:
        top = evaluation.hits.top
        return Listed(top.query, top.rank, document_numbers(evaluation.pool, top.doc_ids))

    whole: Listed = evaluation.once("listed", make)
    return whole.only(whole.rank <= cutoff)


def document_numbers(pool: Pool, doc_ids: Any) -> Whole:
    """Return the numbers of documents, given as an Arrow array of text: rows of the item table, then others."""
    # pyarrow is loaded when there are documents, not for the names of measures
    from rankstats.tables.documents import Documents  # noqa: PLC0415  loads pyarrow

    documents: Documents = pool.once("documents", lambda: Documents(pool.items))
    return documents.numbers(doc_ids)


def _items(pool: Pool) -> Items:
    if pool.items is None:
        raise TypeError("the measure was not refused although there is no item table")
    return pool.items


def _known(evaluation: Evaluation, settings: Settings, known: NDArray[np.bool_]) -> Listed:
    """Return the listed documents that the item table has and says enough of; `known` has shape (N,)."""
    rows = listed(evaluation, settings["cutoff"])
    return rows.only(is_known(rows.document, known))


def is_known(document: Whole, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Mark the documents that the item table has and says enough of, from which of its items it does, shape (N,)."""
    in_table = document < len(known)
    in_table[in_table] = known[document[in_table]]
    return in_table


def _means(query: NDArray[np.int32] | Whole, values: Floats, n_queries: int) -> Values:
    """Return the mean of the numbers of each query; NaN where there are none."""
    count = np.bincount(query, minlength=n_queries)
    return _ratio(sums(query, values, n_queries), count.astype(np.float64))


def _ratio(total: Floats, by: Floats) -> Floats:
    """Divide, with NaN where the divisor is not above 0."""
    return np.asarray(np.divide(total, by, out=np.full(len(total), np.nan), where=by > 0))


def _popularity(pool: Pool) -> Floats:
    popularity = _items(pool).popularity
    if popularity is None:
        raise TypeError("the measure was not refused although the item table has no popularity")
    return popularity


def _has_popularity(pool: Pool, settings: Settings) -> NDArray[np.bool_]:
    return ~np.isnan(_popularity(pool))


def _shares(pool: Pool, settings: Settings) -> Floats:
    """Return each item's share of all interactions, or of the users, shape (N,)."""
    popularity, smoothing = _popularity(pool), settings.get("smoothing", 0.0)
    known = np.count_nonzero(~np.isnan(popularity))
    of = np.nansum(popularity) + smoothing * known if settings["users"] is None else settings["users"] + smoothing
    return np.asarray((popularity + smoothing) / of if of > 0 else popularity, dtype=np.float64)


def _novelty(evaluation: Evaluation, settings: Settings) -> Values:
    pool = evaluation.pool
    rows = _known(evaluation, settings, _has_popularity(pool, settings))
    # less 0 is plus 0: an item that everybody had tells 0 bits, not −0
    return _means(rows.query, 0.0 - np.log2(_shares(pool, settings)[rows.document]), pool.n_queries)


def _popularity_entropy(evaluation: Evaluation, settings: Settings) -> Values:
    pool = evaluation.pool
    rows = _known(evaluation, settings, _has_popularity(pool, settings))
    share = _shares(pool, settings)[rows.document]
    terms = 0.0 - share * np.log2(np.where(share > 0, share, 1.0))
    empty = np.bincount(rows.query, minlength=pool.n_queries) == 0
    return np.where(empty, np.nan, sums(rows.query, terms, pool.n_queries))


def _popularity_gap(evaluation: Evaluation, settings: Settings) -> Values:
    pool, popularity = evaluation.pool, _popularity(evaluation.pool)
    rows = _known(evaluation, settings, _has_popularity(pool, settings))
    of_lists = _means(rows.query, popularity[rows.document], pool.n_queries)
    if settings["to"] == "catalogue":
        reference = np.full(pool.n_queries, np.nanmean(popularity) if not np.isnan(popularity).all() else np.nan)
    else:
        reference = _popularity_of_histories(pool)
    return _ratio(of_lists - reference, reference)


def _popularity_of_histories(pool: Pool) -> Floats:
    """Return the mean popularity of the different items that each query's user has had, shape (Q,)."""

    def make() -> Floats:
        histories = pool.histories
        if histories is None:
            raise TypeError("the measure was not refused although there are no histories")
        place = {query_id: q for q, query_id in enumerate(pool.judgments.query_ids)}
        to_judged = np.array([place.get(query_id, -1) for query_id in histories.query_ids], dtype=np.int64)
        query, document = to_judged[histories.query], document_numbers(pool, histories.doc_ids)
        kept = (query >= 0) & (document < len(_items(pool)))
        kept[kept] = _has_popularity(pool, {})[document[kept]]
        pairs = np.unique(np.stack([query[kept], document[kept]], axis=1), axis=0)
        return _means(pairs[:, 0], _popularity(pool)[pairs[:, 1]], pool.n_queries)

    made: Floats = pool.once("popularity of histories", make)
    return made


def _diversity(evaluation: Evaluation, settings: Settings) -> Values:
    """Return 1 − mean cosine over the pairs of a list, from the length of the sum of its unit vectors."""
    rows = _known(evaluation, settings, _has_direction(evaluation.pool, settings))
    n_queries = evaluation.pool.n_queries
    squared = (_category_sums if settings["by"] == "categories" else _vector_sums)(evaluation.pool, rows)
    n = np.bincount(rows.query, minlength=n_queries).astype(np.float64)
    return np.clip(1.0 - _ratio(squared - n, n * (n - 1.0)), 0.0, 2.0)


def _has_direction(pool: Pool, settings: Settings) -> NDArray[np.bool_]:
    if settings["by"] == "categories":
        return _categories(pool).count > 0
    return ~np.isnan(_unit_vectors(pool)[:, 0])


def _categories(pool: Pool) -> Categories:
    categories = _items(pool).categories
    if categories is None:
        raise TypeError("the measure was not refused although the item table has no categories")
    return categories


def _category_sums(pool: Pool, rows: Listed) -> Floats:
    """Return the squared length of the sum of each query's unit vectors, with a dimension for every category."""
    categories = _categories(pool)
    count = categories.count[rows.document]
    at = np.repeat(np.arange(len(count)), count)
    within = np.arange(len(at)) - np.repeat(np.cumsum(count) - count, count)
    code = categories.code[categories.offsets[rows.document][at] + within]
    query = rows.query[at].astype(np.int64)
    cells, cell = np.unique(query * len(categories.names) + code, return_inverse=True)
    length = np.bincount(cell, weights=1.0 / np.sqrt(count[at]), minlength=len(cells))
    return sums(cells // max(len(categories.names), 1), np.square(length), pool.n_queries)


def _unit_vectors(pool: Pool) -> Floats:
    """Return the vectors at length 1, shape (N, D); NaN where an item has none or it is zero."""

    def make() -> Floats:
        vectors = _items(pool).vectors
        if vectors is None:
            raise TypeError("the measure was not refused although the item table has no vectors")
        # squares of very large or small numbers would leave the range of float64
        largest = np.abs(vectors).max(axis=1, keepdims=True)
        scaled = np.divide(vectors, largest, out=np.full(vectors.shape, np.nan), where=largest > 0)
        return np.asarray(scaled / np.sqrt((scaled**2).sum(axis=1, keepdims=True)))

    made: Floats = pool.once("unit vectors", make)
    return made


def _vector_sums(pool: Pool, rows: Listed) -> Floats:
    """Return the squared length of the sum of each query's unit vectors."""
    units = _unit_vectors(pool)
    total = np.zeros((pool.n_queries, units.shape[1]))
    # at one rank each query has one document at most
    for rank in np.unique(rows.rank):
        at = rows.rank == rank
        total[rows.query[at]] += units[rows.document[at]]
    return np.asarray((total**2).sum(axis=1))


def _without_table(pool: Pool, settings: Settings) -> str | None:
    if pool.items is None:
        return "needs an item table, one row a document of the catalogue; give it with --items FILE"
    return None


def _lacks(pool: Pool, column: str, option: str) -> str:
    items = _items(pool)
    hint = did_you_mean(column, items.columns)
    return (
        f"the item table {items.source.name} has no {column} column; name it with {option} COLUMN{hint} "
        f"(there are {', '.join(items.columns) or 'none'})"
    )


def _without_popularity(pool: Pool, settings: Settings) -> str | None:
    if pool.items is None:
        return _without_table(pool, settings)
    if pool.items.popularity is None:
        return _lacks(pool, "popularity", "--popularity")
    users, most = settings.get("users"), float(np.nanmax(pool.items.popularity, initial=0.0))
    if users is not None and most > users:
        return f"an item has the popularity {number(most)}, more than the {number(users)} users in the name"
    return None


def _without_information(pool: Pool, settings: Settings) -> str | None:
    refusal = _without_popularity(pool, settings)
    if refusal or pool.items is None or pool.items.popularity is None or settings["smoothing"] > 0:
        return refusal
    never = int(np.count_nonzero(pool.items.popularity == 0))
    if not never:
        return None
    return (
        f"the item table holds {never:,} items of popularity 0, whose self-information is infinite; add a number to "
        f"every item's popularity: Novelty(smoothing=1)@{settings['cutoff']}"
    )


def _without_reference(pool: Pool, settings: Settings) -> str | None:
    refusal = _without_popularity(pool, settings)
    if refusal is None and settings["to"] == "history" and pool.histories is None:
        return "needs what each user has had before, one row a user and item; give it with --history FILE"
    return refusal


def _without_similarity(pool: Pool, settings: Settings) -> str | None:
    if pool.items is None:
        return _without_table(pool, settings)
    if settings["by"] == "categories" and pool.items.categories is None:
        other = ", or write ILD(by='vectors')" if pool.items.vectors is not None else ""
        return _lacks(pool, "category", "--category") + other
    if settings["by"] == "vectors" and pool.items.vectors is None:
        return _lacks(pool, "vector", "--vector")
    return None


def read_count(text: str) -> float:
    """Read a whole number of at least 1."""
    what = "a whole number of at least 1"
    value = read_number(text, 1, what)
    if not value.is_integer():
        raise ValueError(f"is {text!r}, where {what} is expected")
    return value


def nothing_listed(settings: Settings) -> str:
    """Name the lists without a value, for measures that need one known document."""
    return "a list without a known document among the first k"


USERS = Parameter(
    name="users",
    default=None,
    read=read_count,
    write=lambda value: "none" if value is None else number(value),
    label=lambda value: f"of {number(value)} users",
    conventions=lambda value: {
        "share": "popularity ÷ the sum of all items' popularity in the item table"
        if value is None
        else f"popularity ÷ {number(value)} users"
    },
    usage="users=…",
)
SMOOTHING = Parameter(
    name="smoothing",
    default=0.0,
    read=lambda text: read_number(text, 0, "a number of 0 or more"),
    write=number,
    label=lambda value: f"popularity + {number(value)}",
    conventions=lambda value: {
        "smoothing": "none; an item of popularity 0 is an error"
        if value == 0
        else f"{number(value)} is added to the popularity of every item (and to the number of users)"
    },
    usage="smoothing=0",
)

UNKNOWN: Mapping[str, str] = {
    "documents": "all of the first k, judged or not; those that the item table does not know are left out and counted"
}
_MISSING = "none: there is no list"

NOVELTY = Declaration(
    name="Novelty",
    title="Novelty",
    summary="mean self-information of the first k documents: how unlikely one is to meet them by popularity, in bits",
    formula=lambda settings: "Novelty@k = mean over the first k documents of −log2(share of the document)",
    source="Zhou et al. 2010; Vargas & Castells 2011",
    bounds=(0, None),
    cutoff="required",
    parameters=(USERS, SMOOTHING),
    conventions=UNKNOWN,
    needs=("items", "lists"),
    refusal=_without_information,
    known=_has_popularity,
    without_value=nothing_listed,
    missing=_MISSING,
    values=_novelty,
    rewards_moving_up=lambda settings: False,
)

POPULARITY_ENTROPY = Declaration(
    name="PopularityEntropy",
    title="Entropy of popularity",
    summary="entropy of the popularity of the first k documents, in bits; the lower, the more novel the list",
    formula=lambda settings: "PopularityEntropy@k = −sum over the first k documents of share · log2(share)",
    source="Bellogín, Cantador & Castells 2010 (entropy-based novelty)",
    bounds=(0, None),
    cutoff="required",
    parameters=(USERS,),
    conventions={**UNKNOWN, "share of 0": "adds nothing"},
    needs=("items", "lists"),
    refusal=_without_popularity,
    known=_has_popularity,
    without_value=nothing_listed,
    missing=_MISSING,
    values=_popularity_entropy,
    rewards_moving_up=lambda settings: False,
    higher_is_better=False,
)

POPULARITY_GAP = Declaration(
    name="PopularityGap",
    title="Popularity gap",
    summary="how much more popular the first k documents are than the catalogue, or than what the user has had before",
    formula=lambda settings: (
        "PopularityGap@k = (mean popularity of the first k documents − reference) / reference: "
        "0 as popular, 1 twice as popular"
    ),
    source="Abdollahpouri et al. 2019 (popularity lift of the history)",
    bounds=(-1, None),
    cutoff="required",
    parameters=(
        choice(
            "to",
            "reference",
            {
                "catalogue": ("to the catalogue", "the mean popularity of all items of the item table"),
                "history": ("to the history", "the mean popularity of the different items in the user's history"),
            },
        ),
    ),
    conventions=UNKNOWN,
    needs=("items", "histories", "lists"),
    refusal=_without_reference,
    known=_has_popularity,
    without_value=lambda settings: (
        "a list without a known document among the first k"
        + (", or a user without a known item in the history" if settings["to"] == "history" else "")
    ),
    missing=_MISSING,
    values=_popularity_gap,
    rewards_moving_up=lambda settings: False,
    higher_is_better=False,
    diagnostic=True,
)

INTRA_LIST_DIVERSITY = Declaration(
    name="ILD",
    title="Intra-list diversity",
    summary="how different the first k documents are from one another",
    formula=lambda settings: "ILD@k = 1 − mean cosine over the pairs of the first k documents",
    source="Smyth & McClave 2001; Ziegler et al. 2005",
    bounds=(0, 2),
    cutoff="required",
    parameters=(
        choice(
            "by",
            "cosine",
            {
                "categories": ("by categories", "common categories ÷ the root of (categories of one · of the other)"),
                "vectors": ("by vectors", "of the items' vectors; the value is above 1 where they point apart"),
            },
        ),
    ),
    conventions={
        "documents": "all of the first k, judged or not; those without a category, without a vector or with a vector "
        "of zeros, and those that the item table does not know, are left out and counted"
    },
    needs=("items", "lists"),
    refusal=_without_similarity,
    known=_has_direction,
    without_value=lambda settings: "a list with fewer than two documents to compare among the first k",
    missing=_MISSING,
    values=_diversity,
    rewards_moving_up=lambda settings: False,
)

DECLARATIONS = (NOVELTY, POPULARITY_ENTROPY, POPULARITY_GAP, INTRA_LIST_DIVERSITY)
