"""Makes hits: ranks the documents of a run and finds the judged ones among them.

The work follows what a run usually looks like. Rows that are grouped by query and descending in score are not sorted;
tied scores are settled only where the order inside the tie can be seen (a judged document, or the top of the list);
documents are looked up among the judged ids only.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rankstats.conventions import Policies
from rankstats.errors import InputError
from rankstats.tables.arrow_arrays import is_valid, rows_of, values_of
from rankstats.tables.arrow_functions import cast, encoded, index_in, sorting
from rankstats.tables.hits import Hits, TopLists
from rankstats.tables.judgments import Judgments
from rankstats.tables.ranking import Ranking
from rankstats.tables.row_groups import are_distinct, group_starts, pieces
from rankstats.tables.text_hashes import hashes_of_ends
from rankstats.tables.threads import in_threads

_LOOKED_UP_AT_ONCE = 1 << 19
_NAMES_SHOWN = 5
_PLACES_A_DOCUMENT = 64  # so that one in 64 of the other documents is looked up in vain
_MOST_BITS = 22  # of a hash: more would not fit in the processor's cache


class _Order(NamedTuple):
    """Rows of a run list by list, best first.

    `rows` holds the row at each position; None where the order is that of the file. `starts`, `lengths` and `query` say
    where the list of each query begins, how long it is and whose it is. `tied` are the positions, ascending, whose keys
    equal a neighbour's in their list, and `tie` numbers the groups of equal keys among them.
    """

    rows: NDArray[np.int64] | None
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    query: NDArray[np.int32]
    tied: NDArray[np.int64]
    tie: NDArray[np.int64]

    def row(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the rows of the run that stand at `positions`."""
        return positions if self.rows is None else self.rows[positions]

    def position(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the positions, ascending, at which `rows`, ascending, stand."""
        if self.rows is None:
            return rows
        wanted = np.zeros(len(self.rows), dtype=bool)
        wanted[rows] = True
        return np.flatnonzero(wanted[self.rows])

    def list_at(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return in which list each position is."""
        return np.searchsorted(self.starts, positions, side="right") - 1

    def rank(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the rank that goes with each position; 1 is the top of its list."""
        return positions - self.starts[self.list_at(positions)] + 1

    def all_rows(self) -> NDArray[np.int64]:
        """Return the row at every position, as an array of its own."""
        return np.arange(int(self.lengths.sum())) if self.rows is None else self.rows.copy()


class _Judged(NamedTuple):
    """Rows of a run, ascending, whose documents are judged, and the row of each one's judgment."""

    row: NDArray[np.int64]
    judgment: NDArray[np.int64]

    def of(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the judgment of each of some rows, or -1."""
        if not len(self.row):
            return np.full(len(rows), -1, dtype=np.int64)
        at = np.minimum(np.searchsorted(self.row, rows), len(self.row) - 1)
        return np.where(self.row[at] == rows, self.judgment[at], -1)


class _Lookup(NamedTuple):
    """Judged pairs of query and document as numbers, ascending, and the judgment of each.

    A pair is the query's number times the number of distinct documents, plus the document's place among them.
    `may_be` says of the highest bits of a document's hash whether some judged document has them.
    """

    documents: pa.Array[Any]
    pairs: NDArray[np.int64]
    judgment: NDArray[np.int64]
    may_be: NDArray[np.bool_]

    @classmethod
    def of(cls, judgments: Judgments) -> _Lookup:
        codes = encoded(cast(judgments.doc_ids, pa.string()))
        pairs = judgments.query.astype(np.int64) * len(codes.dictionary) + values_of(codes.indices)
        order = np.argsort(pairs, kind="stable")
        bits = min(max((_PLACES_A_DOCUMENT * len(codes.dictionary)).bit_length(), 8), _MOST_BITS)
        may_be = np.zeros(1 << bits, dtype=bool)
        may_be[hashes_of_ends(codes.dictionary) >> np.uint32(32 - bits)] = True
        return cls(codes.dictionary, pairs[order], order, may_be)

    def candidates(self, hashes: NDArray[np.uint32]) -> NDArray[np.int64]:
        """Return the rows whose documents may be judged: all that are, and few others."""
        shift = np.uint32(33 - len(self.may_be).bit_length())
        return np.flatnonzero(self.may_be[hashes >> shift])


def make_hits(
    judgments: Judgments, ranking: Ranking, policies: Policies, *, depth: int = 10, reverse_ties: bool = False
) -> Hits:
    """Rank a system's documents within each judged query and keep the judged ones.

    Documents are ordered by the tie policy: 'doc_id' score descending, then document id descending by code point;
    'float32' the same after rounding the scores to 32 bits; 'rank' the rank column ascending, then as 'doc_id'; 'input'
    score descending, then the order of the lines. Except under 'input', the order of the lines has no influence.

    Parameters
    ----------
    judgments : Judgments
        The judged documents, one grade a pair of query and document.
    ranking : Ranking
        The system's rows in any order, each document once a query.
    policies : Policies
        `ties`, `missing_query` and `unknown_query` are used.
    depth : int, optional
        Documents of each query kept in `Hits.top`.
    reverse_ties : bool, optional
        Turn the order inside each tie round: for seeing what hangs on it.

    Returns
    -------
    Hits
        With Q queries in the order of `judgments.query_ids`.

    Raises
    ------
    InputError
        If ties are to follow a rank column that was not read, or a query is missing or unknown where the policies make
        that an error.

    Examples
    --------
    >>> import numpy as np
    >>> import pyarrow as pa
    >>> from rankstats.tables import Source
    >>> source = Source("made here")
    >>> judgments = Judgments(
    ...     ("q1",), np.zeros(2, np.int32), pa.array(["a", "b"]), np.array([0.0, 2.0]), np.array([0, 2]), source
    ... )
    >>> scores = np.array([0.5, 0.5, 0.9])
    >>> run = Ranking("new", ("q1",), np.zeros(3, np.int32), pa.array(["a", "b", "x"]), scores, None, source)
    >>> hits = make_hits(judgments, run, Policies())
    >>> hits.rank.tolist(), hits.grade.tolist(), hits.top.doc_ids.to_pylist()
    ([2, 3], [2.0, 0.0], ['x', 'b', 'a'])
    """
    to_judged, unknown = _match_queries(judgments, ranking)
    _check_queries(judgments, ranking, to_judged, unknown, policies)
    judged = _find_judgments(judgments, ranking, to_judged)
    order = _settle_ties(_order(ranking, policies), ranking, judged, policies, depth)
    if reverse_ties:
        order = _reversed_ties(order)
    query = to_judged[order.query]
    hit = order.position(judged.row)
    hit = hit[np.argsort(query[order.list_at(hit)], kind="stable")]
    rows = order.row(hit)
    judgment = judged.of(rows)
    answered = query >= 0
    tied = query[order.list_at(order.tied)]
    return Hits(
        system=ranking.system,
        query=query[order.list_at(hit)],
        rank=order.rank(hit),
        grade=judgments.grade[judgment],
        judgment=judgment,
        # sums of whole numbers below 2^53 are exact
        returned=np.bincount(query[answered], order.lengths[answered], judgments.n_queries).astype(np.int64),
        tied=np.bincount(tied[tied >= 0], minlength=judgments.n_queries).astype(np.int64),
        top=_top_lists(judgments, ranking, order, query, judged, depth=depth),
        unknown_queries=unknown,
        score=ranking.score[rows],
    )


def _match_queries(judgments: Judgments, ranking: Ranking) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """Return the judged query of each query of the run (-1 for none) and the unknown queries."""
    known = {query_id: index for index, query_id in enumerate(judgments.query_ids)}
    to_judged = np.array([known.get(query_id, -1) for query_id in ranking.query_ids], dtype=np.int32)
    return to_judged, tuple(sorted(query_id for query_id in ranking.query_ids if query_id not in known))


def _check_queries(
    judgments: Judgments, ranking: Ranking, to_judged: NDArray[np.int32], unknown: tuple[str, ...], policies: Policies
) -> None:
    """Raise where the policies do not allow missing or unknown queries."""
    if policies.unknown_query == "error" and unknown:
        raise InputError(
            f"{len(unknown)} queries have no judgments ({_some(unknown)}); judge them, remove them from the run, or "
            "set unknown_query = 'leave_out'",
            ranking.source.name,
        )
    if policies.missing_query == "error":
        answered = set(to_judged.tolist())
        missing = [query_id for index, query_id in enumerate(judgments.query_ids) if index not in answered]
        if missing:
            raise InputError(
                f"{len(missing)} judged queries are missing from the run ({_some(missing)}); add them, or set "
                "missing_query = 'zero'",
                ranking.source.name,
            )


def _some(names: tuple[str, ...] | list[str]) -> str:
    shown = ", ".join(names[:_NAMES_SHOWN])
    return shown if len(names) <= _NAMES_SHOWN else f"{shown}, …"


def _find_judgments(judgments: Judgments, ranking: Ranking, to_judged: NDArray[np.int32]) -> _Judged:
    """Return the rows of the run that are judged."""
    if not len(judgments.query) or not len(ranking.query):
        return _Judged(np.zeros(0, np.int64), np.zeros(0, np.int64))
    lookup = judgments.made.get("lookup")
    if lookup is None:
        lookup = judgments.made["lookup"] = _Lookup.of(judgments)
    rows, code = _judged_somewhere(ranking, lookup)
    # an unknown query makes a negative number, which no judgment has
    wanted = to_judged[ranking.query[rows]].astype(np.int64) * len(lookup.documents) + code
    at = np.minimum(np.searchsorted(lookup.pairs, wanted), len(lookup.pairs) - 1)
    found = lookup.pairs[at] == wanted
    return _Judged(rows[found], lookup.judgment[at[found]])


def _judged_somewhere(ranking: Ranking, lookup: _Lookup) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the rows, ascending, whose documents are judged for some query, and their places in the dictionary."""
    doc_ids, hashes = ranking.doc_ids, ranking.doc_hashes
    values = cast(lookup.documents, doc_ids.type)
    # each part makes a table of the dictionary for itself
    size = max(_LOOKED_UP_AT_ONCE, 4 * len(values))
    cuts = [*range(0, len(doc_ids), size), len(doc_ids)]

    def look_up(part: tuple[int, int]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        start, end = part
        if hashes is None:
            rows, texts = np.arange(start, end), doc_ids.slice(start, end - start)
        else:
            rows = start + lookup.candidates(hashes[start:end])
            texts = rows_of(doc_ids, rows)
        found = index_in(texts, values)
        at = np.flatnonzero(is_valid(found))
        return rows[at], values_of(found)[at]

    rows, codes = zip(*in_threads(look_up, list(pairwise(cuts))), strict=True)
    return np.concatenate(rows), np.concatenate(codes)


def _order(ranking: Ranking, policies: Policies) -> _Order:
    """Order rows list by list, best first; rows with equal keys stay in the order of the file."""
    key = _key(ranking, policies)
    query = ranking.query
    rows = None
    if not _is_ordered(query, key):
        rows = np.lexsort((-key, query))
        query, key = query[rows], key[rows]
    starts = group_starts(query)
    # positions whose key equals the one before, of the same list
    equal = [
        first + np.flatnonzero((key[first:last] == key[first - 1 : last - 1]) & _same(query, first, last))
        for first, last in pieces(query)
    ]
    again = np.concatenate([np.zeros(0, np.int64), *equal])
    begins = np.setdiff1d(again - 1, again, assume_unique=True) if len(again) else again
    tied = np.sort(np.concatenate([again, begins]))
    tie = np.searchsorted(begins, tied, side="right") - 1
    return _Order(rows, starts, np.diff(starts, append=len(query)), query[starts], tied, tie)


def _same(query: NDArray[np.int32], first: int, last: int) -> NDArray[np.bool_]:
    """Return which rows from `first` to `last` have the query of the row before."""
    return np.asarray(query[first:last] == query[first - 1 : last - 1])


def _key(ranking: Ranking, policies: Policies) -> NDArray[np.float64] | NDArray[np.float32]:
    """Return the numbers by which documents are ordered, higher is better."""
    if policies.ties == "rank":
        if ranking.rank is None:
            raise InputError("ties = 'rank' needs the rank column, which the run does not have", ranking.source.name)
        return -ranking.rank
    if policies.ties == "float32":
        with np.errstate(over="ignore"):
            return ranking.score.astype(np.float32)
    return ranking.score


def _is_ordered(query: NDArray[np.int32], key: NDArray[np.float64] | NDArray[np.float32]) -> bool:
    """Say whether each query's rows stand together and descend."""
    descends = all(
        np.all((key[first:last] <= key[first - 1 : last - 1]) | ~_same(query, first, last))
        for first, last in pieces(query)
    )
    return descends and are_distinct(query[group_starts(query)])


def _settle_ties(order: _Order, ranking: Ranking, judged: _Judged, policies: Policies, depth: int) -> _Order:
    """Order tied documents by id, descending, in the ties whose inner order matters."""
    if policies.ties == "input" or not len(order.tied):
        return order
    matters = (judged.of(order.row(order.tied)) >= 0) | (order.rank(order.tied) <= depth)
    seen = np.zeros(int(order.tie[-1]) + 1, dtype=bool)
    seen[order.tie[matters]] = True
    seen_here = seen[order.tie]
    positions, tie = order.tied[seen_here], order.tie[seen_here]
    if not len(positions):
        return order
    rows = order.all_rows()
    moved = rows[positions]
    score = ranking.score[moved] if policies.ties == "rank" else np.zeros(len(moved))
    rows[positions] = moved[np.lexsort((_descending_ids(ranking.doc_ids, moved), -score, tie))]
    return order._replace(rows=rows)


def _reversed_ties(order: _Order) -> _Order:
    """Turn the order inside each tie round."""
    rows = order.all_rows()
    rows[order.tied] = rows[order.tied[np.lexsort((-order.tied, order.tie))]]
    return order._replace(rows=rows)


def _descending_ids(doc_ids: pa.Array[Any] | pa.ChunkedArray[Any], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the place of each row's document id among those rows, the largest id first."""
    order = values_of(sorting(rows_of(doc_ids, rows), order="descending"))
    place = np.empty(len(rows), dtype=np.int64)
    place[order] = np.arange(len(rows))
    return place


def _top_lists(
    judgments: Judgments, ranking: Ranking, order: _Order, query: NDArray[np.int32], judged: _Judged, *, depth: int
) -> TopLists:
    """Keep the first documents of every judged query; `query` says whose each list is, -1 for none."""
    lists = np.flatnonzero(query >= 0)
    lists = lists[np.argsort(query[lists], kind="stable")]
    kept = np.minimum(order.lengths[lists], max(depth, 0))
    rank = np.arange(1, 1 + int(kept.sum())) - np.repeat(np.cumsum(kept) - kept, kept)
    rows = order.row(np.repeat(order.starts[lists], kept) + rank - 1)
    judgment = judged.of(rows)
    grade = np.full(len(rows), np.nan)
    grade[judgment >= 0] = judgments.grade[judgment[judgment >= 0]]
    doc_ids = cast(rows_of(ranking.doc_ids, rows), pa.string())
    return TopLists(query=np.repeat(query[lists], kept), rank=rank, doc_ids=doc_ids, grade=grade)
