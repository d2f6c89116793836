"""The heavy steps over rows that an engine holds, each one expression for all engines.

Rows have the columns query_id, doc_id and score, all engines' names for text and float64, and rank where the data give
one. Each step is one grouping, or one window, over the rows; joins are with small tables of the judgments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import narwhals as nw

if TYPE_CHECKING:
    Frame: TypeAlias = nw.LazyFrame[Any]

LARGEST_FLOAT = 1.7976931348623157e308
_LARGEST_IN_32_BITS = 3.4028235677973366e38
"""Half way from the largest float32 to the next power of two: from here on, rounding gives infinity."""


def totals(rows: Frame, *, ranked: bool) -> Frame:
    """Return one row a query of the run: its rows, and how many of them cannot be used; one grouping.

    Parameters
    ----------
    rows : LazyFrame
        Columns query_id, doc_id, score, and rank if `ranked`.
    ranked : bool
        Whether to look at the ranks as well.

    Returns
    -------
    LazyFrame
        Columns query_id, n, bad_scores, bad_documents, and lowest, highest and bad_ranks of the ranks.
    """
    sums = {
        "n": nw.len(),
        "bad_scores": _number_of(~is_finite("score")),
        "bad_documents": _number_of(is_no_id("doc_id")),
    }
    if ranked:
        sums |= {
            "lowest": nw.col("rank").min(),
            "highest": nw.col("rank").max(),
            "bad_ranks": _number_of(~is_finite("rank") | (nw.col("rank") % 1 != 0).fill_null(True)),
        }
    return rows.group_by("query_id").agg(**sums)


def is_finite(column: str) -> nw.Expr:
    """Return whether a number is neither absent nor NaN nor infinite."""
    number = nw.col(column)
    # NaN lies above every number for some engines, and compares with none for others
    return ((number >= -LARGEST_FLOAT) & (number <= LARGEST_FLOAT)).fill_null(False)


def is_no_id(column: str) -> nw.Expr:
    """Return whether a text is absent, empty, or has white space at its ends."""
    text = nw.col(column)
    return (text.is_null() | (text == "") | (text.str.strip_chars() != text)).fill_null(True)


def _number_of(condition: nw.Expr) -> nw.Expr:
    return condition.cast(nw.Int64).sum()


def judged_rows(rows: Frame, queries: Frame, *, ranked: bool) -> Frame:
    """Return the rows of judged queries, with the number of the query instead of its id."""
    kept = ["query", "doc_id", "score", *(["rank"] if ranked else [])]
    return rows.join(queries, on="query_id", how="inner").select(*kept)


def repeated(rows: Frame, column: str) -> Frame:
    """Return the values of a column that stand more than once in the list of a query; one grouping."""
    return rows.select("query", column).group_by("query", column).agg(copies=nw.len()).filter(nw.col("copies") > 1)


def best_of_repeated(rows: Frame) -> Frame:
    """Return each document of a query once, with its best score and the number of its rows; one grouping."""
    return rows.group_by("query", "doc_id").agg(score=nw.col("score").max(), copies=nw.len())


def ranked_by_key(rows: Frame, ties: str, *, reverse_ties: bool = False) -> Frame:
    """Return rows with their rank and, on each row, the length of the list and how many of it are tied; one window.

    The rank is an ordered count over key, then document id, both descending: a rank of the key alone would leave tied
    documents in the order in which the engine happens to meet them.

    Parameters
    ----------
    rows : LazyFrame
        Columns query, doc_id, score, and rank where `ties` is 'rank'.
    ties : {'doc_id', 'float32', 'rank'}
        What the key is: the score, the score in 32 bits, or the rank, then the score.
    reverse_ties : bool, optional
        Turn the order inside each tie round.

    Returns
    -------
    LazyFrame
        With columns place (1 is the top), listed and tied.
    """
    rows = rows.with_columns(key=_key(ties))
    order = ["key", *(["score"] if ties == "rank" else []), "doc_id"]
    listed = nw.len().over("query")
    if reverse_ties:
        rows = rows.with_columns(worse=0 - nw.col("key"))
        order[0] = "worse"
        place = nw.col("doc_id").cum_count().over("query", order_by=order)
    else:
        # ascending, as the neighbours are looked up: one sort serves both
        place = listed - nw.col("doc_id").cum_count().over("query", order_by=order) + 1
    key = nw.col("key")
    rows = rows.with_columns(
        place=place,
        listed=listed,
        before=key.shift(1).over("query", order_by=order),
        after=key.shift(-1).over("query", order_by=order),
    )
    is_tied = ((nw.col("before") == key) | (nw.col("after") == key)).fill_null(False)
    return rows.with_columns(tied=is_tied.cast(nw.Int64).sum().over("query"))


def _key(ties: str) -> nw.Expr:
    """Return what documents are ordered by, higher is better."""
    if ties == "rank":
        return 0 - nw.col("rank")
    score = nw.col("score")
    if ties == "float32":
        # engines that refuse what 32 bits cannot hold are given the infinity that rounding makes of it
        above = nw.when(score >= _LARGEST_IN_32_BITS).then(nw.lit(float("inf"))).otherwise(score)
        held = nw.when(score <= -_LARGEST_IN_32_BITS).then(nw.lit(float("-inf"))).otherwise(above)
        return held.cast(nw.Float32)
    return score


def ranked_as_given(rows: Frame, lowest: float) -> Frame:
    """Return rows whose ranks count every list without a gap or a tie; no window."""
    return rows.with_columns(place=(nw.col("rank") - lowest + 1).cast(nw.Int64), listed=nw.lit(0), tied=nw.lit(0))


def kept_rows(ranked: Frame, judged: Frame, depth: int) -> Frame:
    """Return the judged rows, and those of the top `depth`; one join with the judgments.

    Parameters
    ----------
    ranked : LazyFrame
        What `ranked_by_key` or `ranked_as_given` returns.
    judged : LazyFrame
        Columns query, doc_id and judgment, the row of the judgments.
    depth : int
        At least 1: the top row of each list tells its length.

    Returns
    -------
    LazyFrame
        Columns query, judgment (null where unjudged), place, score, listed, tied, and doc_id (null beyond the top).
    """
    is_top = nw.col("place") <= depth
    found = ranked.join(judged, on=["query", "doc_id"], how="left").filter(~nw.col("judgment").is_null() | is_top)
    shown = nw.when(is_top).then(nw.col("doc_id")).alias("shown")
    return found.select("query", "judgment", "place", "score", "listed", "tied", shown)


def bucket_of(rows: Frame, bucket: int, buckets: int) -> Frame:
    """Return the rows of one bucket of queries; a query is in one bucket alone."""
    return rows if buckets == 1 else rows.filter(nw.col("query") % buckets == bucket)
