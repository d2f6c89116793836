"""Makes hits: ranks the documents of a run and finds the judged ones among them.

The work follows what a run usually looks like. Rows that are grouped by query and descending in score are not sorted;
tied scores are settled only where the order inside the tie can be seen (a judged document, or the top of the list);
documents are looked up among the judged ids only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rankstats.conventions import Policies
from rankstats.errors import InputError
from rankstats.tables.arrow_arrays import arrow_of, is_valid, values_of
from rankstats.tables.hits import Hits, TopLists
from rankstats.tables.judgments import Judgments
from rankstats.tables.ranking import Ranking

_LARGEST_STRING_ARRAY = 2**31 - 1
_NAMES_SHOWN = 5


@dataclass(frozen=True, slots=True)
class _Order:
    """Rows of a run query by query, best first; arrays over positions of that order.

    `rows` is None where the order is that of the file. `tie` numbers the groups of equal keys.
    """

    rows: NDArray[np.int64] | None
    query: NDArray[np.int32]
    starts: NDArray[np.int64]
    tied: NDArray[np.bool_]
    tie: NDArray[np.int64]

    def row(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the rows of the run that stand at `positions`."""
        return positions if self.rows is None else self.rows[positions]


@dataclass(frozen=True, slots=True)
class _Placed:
    """What stands at each position of an order; queries and judgments that do not exist are -1."""

    row: NDArray[np.int64] | None
    query: NDArray[np.int32]
    rank: NDArray[np.int64]
    judged_row: NDArray[np.int64]

    def sorted_by_query(self, wanted: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the wanted positions in the order of the judged queries, then of ranks."""
        positions = np.flatnonzero(wanted)
        return positions[np.argsort(self.query[positions], kind="stable")]


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
    judged_row = _find_judgments(judgments, ranking, to_judged)
    order = _settle_ties(_order(ranking, policies), ranking, judged_row, policies, depth)
    if reverse_ties:
        order = _reversed_ties(order)
    placed = _place(order, to_judged, judged_row)
    hit = placed.sorted_by_query(placed.judged_row >= 0)
    answered = placed.query[placed.query >= 0]
    tied = placed.query[order.tied & (placed.query >= 0)]
    return Hits(
        system=ranking.system,
        query=placed.query[hit],
        rank=placed.rank[hit],
        grade=judgments.grade[placed.judged_row[hit]],
        judgment=placed.judged_row[hit],
        returned=np.bincount(answered, minlength=judgments.n_queries).astype(np.int64),
        tied=np.bincount(tied, minlength=judgments.n_queries).astype(np.int64),
        top=_top_lists(judgments, ranking, placed, depth),
        unknown_queries=unknown,
        score=ranking.score[order.row(hit)],
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


def _find_judgments(judgments: Judgments, ranking: Ranking, to_judged: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return for each row of the run the row of its judgment, or -1."""
    judged_row = np.full(len(ranking.query), -1, dtype=np.int64)
    if not len(judgments.query) or not len(ranking.query):
        return judged_row
    encoded = judgments.doc_ids.cast(pa.large_string()).dictionary_encode()
    document = values_of(encoded.indices).astype(np.int64)
    width = len(encoded.dictionary)
    pairs = judgments.query.astype(np.int64) * width + document
    sorting = np.argsort(pairs, kind="stable")
    pairs = pairs[sorting]
    code = _codes(ranking.doc_ids, encoded.dictionary)
    rows = np.flatnonzero(code >= 0)
    # an unknown query makes a negative number, which no judgment has
    wanted = to_judged[ranking.query[rows]].astype(np.int64) * width + code[rows]
    at = np.minimum(np.searchsorted(pairs, wanted), len(pairs) - 1)
    found = pairs[at] == wanted
    judged_row[rows[found]] = sorting[at[found]]
    return judged_row


def _codes(doc_ids: pa.Array[Any] | pa.ChunkedArray[Any], dictionary: pa.Array[Any]) -> NDArray[np.int32]:
    """Return each document's place in the dictionary, or -1."""
    values = dictionary if doc_ids.type == dictionary.type else dictionary.cast(doc_ids.type)
    found: Any = pc.index_in(doc_ids, value_set=values)
    return np.where(is_valid(found), values_of(found), np.int32(-1))


def _order(ranking: Ranking, policies: Policies) -> _Order:
    """Order rows query by query, best first; rows with equal keys stay in the order of the file."""
    key = _key(ranking, policies)
    query = ranking.query
    rows = None
    if not _is_ordered(query, key):
        rows = np.lexsort((-key, query))
        query, key = query[rows], key[rows]
    new_query = np.ones(len(query), dtype=bool)
    new_query[1:] = query[1:] != query[:-1]
    new_tie = new_query.copy()
    new_tie[1:] |= key[1:] != key[:-1]
    tied = ~new_tie
    tied[:-1] |= ~new_tie[1:]
    return _Order(rows, query, np.flatnonzero(new_query), tied, np.cumsum(new_tie))


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
    same = query[1:] == query[:-1]
    if not len(query) or not np.all(~same | (key[1:] <= key[:-1])):
        return not len(query)
    blocks = 1 + np.count_nonzero(~same)
    return bool(blocks == np.count_nonzero(np.bincount(query)))


def _settle_ties(
    order: _Order, ranking: Ranking, judged_row: NDArray[np.int64], policies: Policies, depth: int
) -> _Order:
    """Order tied documents by id, descending, in the ties whose inner order matters."""
    if policies.ties == "input" or not order.tied.any():
        return order
    positions = np.flatnonzero(order.tied)
    matters = (judged_row[order.row(positions)] >= 0) | (_ranks(order)[positions] <= depth)
    seen = np.zeros(int(order.tie[-1]) + 1, dtype=bool)
    seen[order.tie[positions[matters]]] = True
    positions = positions[seen[order.tie[positions]]]
    if not len(positions):
        return order
    rows = np.arange(len(order.query)) if order.rows is None else order.rows.copy()
    moved = rows[positions]
    score = ranking.score[moved] if policies.ties == "rank" else np.zeros(len(moved))
    rows[positions] = moved[np.lexsort((_descending_ids(ranking.doc_ids, moved), -score, order.tie[positions]))]
    return _Order(rows, order.query, order.starts, order.tied, order.tie)


def _reversed_ties(order: _Order) -> _Order:
    """Turn the order inside each tie round."""
    positions = np.flatnonzero(order.tied)
    rows = np.arange(len(order.query)) if order.rows is None else order.rows.copy()
    rows[positions] = rows[positions[np.lexsort((-positions, order.tie[positions]))]]
    return _Order(rows, order.query, order.starts, order.tied, order.tie)


def _descending_ids(doc_ids: pa.Array[Any] | pa.ChunkedArray[Any], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the place of each row's document id among those rows, the largest id first."""
    sorting = values_of(pc.sort_indices(_take(doc_ids, rows), sort_keys=[("", "descending")]))
    place = np.empty(len(rows), dtype=np.int64)
    place[sorting] = np.arange(len(rows))
    return place


def _ranks(order: _Order) -> NDArray[np.int64]:
    """Return the rank that goes with each position; 1 is the top of its query."""
    n_rows = len(order.query)
    lengths = np.diff(np.append(order.starts, n_rows))
    return np.arange(1, n_rows + 1) - np.repeat(order.starts, lengths)


def _take(doc_ids: pa.Array[Any] | pa.ChunkedArray[Any], rows: NDArray[np.int64]) -> pa.Array[Any]:
    """Return the document ids of some rows as one array."""
    if isinstance(doc_ids, pa.ChunkedArray):
        # taking from one piece is several times faster than taking from many
        whole = doc_ids.cast(pa.large_string()) if doc_ids.nbytes > _LARGEST_STRING_ARRAY else doc_ids
        doc_ids = whole.combine_chunks()
    return doc_ids.take(arrow_of(rows))


def _place(order: _Order, to_judged: NDArray[np.int32], judged_row: NDArray[np.int64]) -> _Placed:
    """Bring what is known of the rows into the order of ranks."""
    in_order = judged_row if order.rows is None else judged_row[order.rows]
    return _Placed(order.rows, to_judged[order.query], _ranks(order), in_order)


def _top_lists(judgments: Judgments, ranking: Ranking, placed: _Placed, depth: int) -> TopLists:
    """Keep the first documents of every judged query."""
    positions = placed.sorted_by_query((placed.rank <= depth) & (placed.query >= 0))
    judged_row = placed.judged_row[positions]
    grade = np.full(len(positions), np.nan)
    grade[judged_row >= 0] = judgments.grade[judged_row[judged_row >= 0]]
    rows = positions if placed.row is None else placed.row[positions]
    doc_ids = _take(ranking.doc_ids, rows).cast(pa.string())
    return TopLists(query=placed.query[positions], rank=placed.rank[positions], doc_ids=doc_ids, grade=grade)
