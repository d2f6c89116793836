"""Result pages of an interleaving log: rows in the order of the pages, without those that cannot be right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rankstats.interleaving.rows import LogRows, Signs, Texts
from rankstats.stats import impression_labels, shared_prefix

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Flags = NDArray[np.bool_]
Column = NDArray[np.float64 | np.int64 | np.int32 | np.int8]

TWICE = "with two results at one position"
MIXED = "with rows of several queries, units or pairs of rankers"
NOWHERE = "with a result that is in neither ranking"
GAPS = "with positions missing"
BEYOND = "with a rank beyond the lists"


@dataclass(frozen=True, slots=True)
class Pages:
    """Rows sorted by impression and position, and what is known of each impression.

    Attributes
    ----------
    row : ndarray of int, shape (n,)
        Place of each row in the log.
    impression : ndarray of int, shape (n,)
        Impression of each row, from 0.
    position, clicks : ndarray, shape (n,)
        Position and clicks.
    team : ndarray of int, shape (n,)
        −1 for ranker a, 1 for b, 0 for nobody: shared prefixes and rows without a team.
    rank_a, rank_b : ndarray, shape (n,)
        Ranks in the rankings; NaN where unknown.
    first_row : ndarray of int, shape (m,)
        First row of each impression.
    ranker_a, ranker_b : ndarray of int, shape (m,)
        Places among `ranker_names`.
    unit, query : ndarray of int, shape (m,), or None
        Places among the names of the log.
    went_first : ndarray of int, shape (m,)
        −1 where ranker a chose the first result of its own, 1 where ranker b did, 0 where that is not known.
    gaps : int
        Impressions with missing positions that are kept.
    undecidable : ndarray of bool, shape (m,)
        No result tells the rankers apart: both show the same.
    without_team, clicks_without_team : int
        Rows that should belong to a team and do not, and clicks on them.
    duplicates : int
        Rows that repeat another one; they count once.
    left_out : mapping of str to int
        Impressions that cannot be right, by the reason.
    labelled : bool
        Whether the log names its impressions.
    mixed_up : int
        Impressions that the log does not name, whose query and unit come again, with rows out of order: they may be
        made of rows of several pages.
    """

    row: Codes
    impression: Codes
    position: Column
    clicks: Floats
    team: Signs
    rank_a: Floats
    rank_b: Floats
    first_row: Codes
    ranker_a: Codes
    ranker_b: Codes
    ranker_names: tuple[str, ...]
    unit: Codes | None
    query: Codes | None
    went_first: Codes
    gaps: int
    undecidable: Flags
    without_team: int
    clicks_without_team: float
    duplicates: int
    left_out: Mapping[str, int]
    labelled: bool
    mixed_up: int

    @property
    def count(self) -> int:
        """Number of impressions."""
        return len(self.first_row)

    def turned(self, where: Flags) -> Pages:
        """Return the pages with ranker a and ranker b exchanged in some impressions (shape (m,))."""
        if not where.any():
            return self
        rows = where[self.impression]
        return replace(
            self,
            team=np.where(rows, -self.team, self.team),
            rank_a=np.where(rows, self.rank_b, self.rank_a),
            rank_b=np.where(rows, self.rank_a, self.rank_b),
            ranker_a=np.where(where, self.ranker_b, self.ranker_a),
            ranker_b=np.where(where, self.ranker_a, self.ranker_b),
            went_first=np.where(where, -self.went_first, self.went_first),
        )


def clean_pages(rows: LogRows, scheme: str, list_length: int | None) -> Pages:
    """Sort the rows into pages; leave out repeated rows and impressions that cannot be right, and count them."""
    labels = _impressions(rows)
    order, repeated = _sorted_rows(rows, labels)
    order = order[~repeated]
    codes = _numbered(labels[order])
    reasons = _reasons(rows, order, codes, scheme=scheme, list_length=list_length)
    bad = np.zeros(len(codes) and int(codes[-1]) + 1, dtype=bool)
    left_out: dict[str, int] = {}
    for why, impressions in reasons.items():
        left_out[why] = int(np.count_nonzero(impressions & ~bad))
        bad |= impressions
    if bad.any():
        kept = ~bad[codes]
        order, codes = order[kept], _numbered(codes[kept])
    return _pages(rows, order, codes, left_out, duplicates=int(np.count_nonzero(repeated)))


def _impressions(rows: LogRows) -> Column:
    """Return the impression of each row: the one that the log names, or what query, unit and position tell."""
    if "impression" in rows.texts:
        return rows.texts["impression"].codes
    nothing = np.zeros(rows.count, dtype=np.int64)
    query, unit = (rows.texts[role].codes if role in rows.texts else nothing for role in ("query", "unit"))
    labels = impression_labels(query, unit, rows.position)
    first = np.unique(labels, return_index=True)[1]
    order = np.lexsort((np.arange(len(first)), unit[first], query[first]))
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return np.asarray(place[labels])


def _sorted_rows(rows: LogRows, labels: Column) -> tuple[Codes, Flags]:
    """Return the rows by impression and position, and which of them repeat the one before in everything."""
    order = np.argsort(labels, kind="stable")
    label, position = labels[order], rows.position[order]
    if np.any((label[1:] == label[:-1]) & (position[1:] <= position[:-1])):
        order = np.lexsort((rows.position, labels))
        label, position = labels[order], rows.position[order]
    same = np.zeros(len(order), dtype=bool)
    same[1:] = (label[1:] == label[:-1]) & (position[1:] == position[:-1])
    # only rows at one place of one page have anything else compared: they are few
    beside = np.flatnonzero(same | np.append(same[1:], False))
    tied = order[beside]
    place = np.cumsum(~same)[beside]
    columns = [place, *(column[tied] for column in _told(rows))]
    within = np.lexsort(tuple(reversed(columns)))
    order[beside] = tied[within]
    repeated = np.zeros(len(order), dtype=bool)
    repeated[beside] = np.logical_and.reduce([_repeats(column[within]) for column in columns])
    return order, repeated


def _told(rows: LogRows) -> list[Column]:
    """Return all columns that say something beside the impression and the position."""
    texts = [column.codes for role, column in rows.texts.items() if role != "impression"]
    numbers = [column for column in (rows.team, rows.clicks, rows.rank_a, rows.rank_b) if column is not None]
    return [*texts, *numbers]


def _numbered(label: Column) -> Codes:
    """Return sorted labels as numbers from 0 without gaps."""
    return np.asarray(np.cumsum(np.diff(label, prepend=label[:1]) != 0))


def _repeats(column: Column) -> Flags:
    """Return which entries are the same as the one before; two absent ones are the same."""
    out = np.zeros(len(column), dtype=bool)
    absent = np.isnan(column)
    out[1:] = (column[1:] == column[:-1]) | (absent[1:] & absent[:-1])
    return out


def _reasons(rows: LogRows, order: Codes, codes: Codes, *, scheme: str, list_length: int | None) -> dict[str, Flags]:
    """Return which impressions cannot be right, by the reason."""
    size, position = len(codes) and int(codes[-1]) + 1, rows.position[order]

    def any_of(wrong: Flags) -> Flags:
        return np.asarray(np.bincount(codes, weights=wrong, minlength=size) > 0)

    next_one = np.zeros(len(codes), dtype=bool)
    next_one[1:] = codes[1:] == codes[:-1]
    twice = next_one & _repeats(position)
    mixed = np.zeros(len(codes), dtype=bool)
    for role in ("query", "unit", "ranker_a", "ranker_b"):
        if role in rows.texts:
            column = rows.texts[role].codes[order]
            mixed |= next_one & ~_repeats(column)
    found = {TWICE: any_of(twice), MIXED: any_of(mixed)}
    if scheme != "team-draft" and rows.rank_a is not None and rows.rank_b is not None:
        rank_a, rank_b = rows.rank_a[order], rows.rank_b[order]
        found[NOWHERE] = any_of(np.isnan(rank_a) & np.isnan(rank_b))
        if scheme == "probabilistic":
            # what was shown above decides what could be drawn below
            found[GAPS] = any_of(_gaps(codes, position))
            found[BEYOND] = any_of(np.fmax(rank_a, rank_b) > (list_length or 1))
    return found


def _gaps(codes: Codes, position: Column) -> Flags:
    """Return which rows do not stand where counting from the top of their page puts them."""
    start = np.flatnonzero(np.diff(codes, prepend=-1) != 0)
    place = np.arange(len(codes)) - np.repeat(start, np.diff(np.append(start, len(codes))))
    return np.asarray(position != place + 1)


def _pages(rows: LogRows, order: Codes, impression: Codes, left_out: Mapping[str, int], *, duplicates: int) -> Pages:
    first = np.flatnonzero(np.diff(impression, prepend=-1))
    position, clicks = rows.position[order], rows.clicks[order]
    nothing = np.broadcast_to(np.nan, len(order))
    rank_a, rank_b = (nothing if rank is None else rank[order] for rank in (rows.rank_a, rows.rank_b))
    logged = np.zeros(len(order), dtype=np.int8) if rows.team is None else rows.team[order]
    team = logged
    shared = np.zeros(len(order), dtype=bool)
    if rows.rank_a is not None and len(order):
        shared = shared_prefix(impression, position, rank_a, rank_b)
        team = np.where(shared, np.int8(0), logged)
    missing = _below_the_first_team(impression, logged) & (logged == 0) & ~shared
    tells = team != 0 if rows.team is not None else _ranks_differ(rank_a, rank_b)
    size = len(first)
    return Pages(
        row=order,
        impression=impression,
        position=position,
        clicks=clicks,
        team=team,
        rank_a=rank_a,
        rank_b=rank_b,
        first_row=first,
        ranker_a=_of_pages(rows.texts["ranker_a"], order[first]),
        ranker_b=_of_pages(rows.texts["ranker_b"], order[first]),
        ranker_names=rows.texts["ranker_a"].names,
        unit=_of_pages(rows.texts["unit"], order[first]) if "unit" in rows.texts else None,
        query=_of_pages(rows.texts["query"], order[first]) if "query" in rows.texts else None,
        went_first=_went_first(impression, size, logged, (rank_a, rank_b), by_team=rows.team is not None),
        gaps=int(np.count_nonzero(np.bincount(impression, weights=_gaps(impression, position), minlength=size))),
        undecidable=np.bincount(impression, weights=tells, minlength=size) == 0,
        without_team=0 if rows.team is None else int(np.count_nonzero(missing)),
        clicks_without_team=0.0 if rows.team is None else float(clicks[missing].sum()),
        duplicates=duplicates,
        left_out=left_out,
        labelled="impression" in rows.texts,
        mixed_up=0 if "impression" in rows.texts else _mixed_up(rows, order, impression, first),
    )


def _mixed_up(rows: LogRows, order: Codes, impression: Codes, first: Codes) -> int:
    """Count impressions of a query and unit that come again whose rows do not stand in the order of the page."""
    back = (np.diff(order) < 0) & (np.diff(impression) == 0)
    out_of_order = np.zeros(len(first), dtype=bool)
    out_of_order[impression[1:][back]] = True
    key = np.zeros(len(first), dtype=np.int64)
    for role in ("query", "unit"):
        if role in rows.texts:
            column = _of_pages(rows.texts[role], order[first])
            key = key * (int(column.max(initial=0)) + 1) + column
    _, place, times = np.unique(key, return_inverse=True, return_counts=True)
    return int(np.count_nonzero(out_of_order & (times[place] > 1)))


def _of_pages(column: Texts, row: Codes) -> Codes:
    return column.codes[row].astype(np.int64)


def _below_the_first_team(impression: Codes, team: Signs) -> Flags:
    """Return which rows stand below the first row of their page that has a team."""
    seen = np.cumsum(team != 0)
    start = np.flatnonzero(np.diff(impression, prepend=-1))
    before = np.where(start > 0, seen[start - 1], 0)[impression] if len(seen) else seen
    return np.asarray(seen > before)


def _ranks_differ(rank_a: Floats, rank_b: Floats) -> Flags:
    return np.asarray(~((rank_a == rank_b) | (np.isnan(rank_a) & np.isnan(rank_b))))


def _went_first(impression: Codes, size: int, team: Signs, ranks: tuple[Floats, Floats], *, by_team: bool) -> Codes:
    """Return which ranker put the first result that is not shared on the page: by its team, or by its ranks."""
    sign = team
    if not by_team:
        # the one that went first shows its own next result; of the other's list it stands further down
        differ = _ranks_differ(*ranks)
        sign = np.where(differ, np.where(np.fmin(*ranks) == np.nan_to_num(ranks[0], nan=np.inf), -1, 1), 0)
    rows = np.flatnonzero(sign != 0)
    first = np.flatnonzero(np.diff(impression[rows], prepend=-1))
    places = impression[rows[first]]
    out = np.zeros(size, dtype=np.int64)
    out[places] = sign[rows[first]]
    return out
