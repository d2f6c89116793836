"""Who gets the credit for the clicks of an interleaved result page: team-draft, balanced and probabilistic logs.

Rows of a log are the results shown, several for each impression (one result page shown once). Credits are numbers of
clicks, in part or whole, that count for ranker a and for ranker b of the impression.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankstats.errors import RankstatsError
from rankstats.stats.interleaving_logs import Page
from rankstats.stats.resampling import label_codes
from rankstats.stats.validation import check_count

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

_GRAINS = 2.0**36
"""What a click is made of when it is shared between rankers."""


@dataclass(frozen=True, slots=True, eq=False)
class Credits:
    """Credits of m impressions, in the order of their labels.

    Attributes
    ----------
    impressions : ndarray, shape (m,)
        Labels.
    first_row : ndarray of int, shape (m,)
        A row of each impression, to take its query, unit or rankers from; see `of_impressions`.
    credit_a, credit_b : ndarray, shape (m,)
        Clicks that count for each ranker.
    clicks : ndarray of int, shape (m,)
        Clicks, those that count for nobody included.
    codes : ndarray of int, shape (rows,)
        Impression of each row.
    """

    impressions: NDArray[np.generic]
    first_row: Integers
    credit_a: Floats
    credit_b: Floats
    clicks: Integers
    codes: Integers

    def of_impressions(self, attribute: ArrayLike, name: str = "attribute") -> NDArray[np.generic]:
        """Return an attribute of the rows by impression, shape (m,), or raise where rows of one impression disagree."""
        values = np.asarray(attribute)
        if values.shape != self.codes.shape:
            raise RankstatsError(f"{name} has shape {values.shape}; one for each of the {len(self.codes)} rows")
        first = values[self.first_row]
        different = np.flatnonzero(values != first[self.codes])
        if len(different):
            label = self.impressions[self.codes[different[0]]]
            raise RankstatsError(f"impression {label!s} has more than one {name}: {values[different[0]]!s} and others")
        return first

    def select(self, inside: Flags) -> Credits:
        """Return the credits of some impressions (bool, shape (m,)), which keep nothing of their rows."""
        places = np.arange(np.count_nonzero(inside))
        return Credits(
            self.impressions[inside], places, self.credit_a[inside], self.credit_b[inside], self.clicks[inside], places
        )

    def swapped(self, where: Flags) -> Credits:
        """Return the credits with the rankers' parts exchanged in some impressions (bool, shape (m,))."""
        return replace(
            self,
            credit_a=np.where(where, self.credit_b, self.credit_a),
            credit_b=np.where(where, self.credit_a, self.credit_b),
        )


def team_draft_credits(impressions: ArrayLike, teams: ArrayLike, clicked: ArrayLike) -> Credits:
    """Give each click to the ranker whose team the result is in.

    Parameters
    ----------
    impressions : array_like, shape (n,)
        Impression of each row.
    teams : array_like of int, shape (n,)
        −1 for ranker a, 1 for ranker b, 0 for nobody; from `team_signs`. Put 0 where `shared_prefix` is true.
    clicked : array_like, shape (n,)
        Whether (or how often) the result was clicked.

    Returns
    -------
    Credits

    Raises
    ------
    RankstatsError
        If shapes do not fit, a team is something else, or a click is no whole number.

    References
    ----------
    Radlinski, Kurup & Joachims 2008; Chapelle, Joachims, Radlinski & Yue 2012.

    Examples
    --------
    >>> credits = team_draft_credits([1, 1, 1, 2, 2], [-1, 1, -1, 1, -1], [0, 1, 0, 0, 0])
    >>> credits.credit_a.tolist(), credits.credit_b.tolist(), credits.clicks.tolist()
    ([0.0, 0.0], [1.0, 0.0], [1, 0])
    """
    codes, clicks, labels = _rows(impressions, clicked)
    signs = np.asarray(teams)
    if signs.shape != codes.shape or not np.all(np.isin(signs, (-1, 0, 1))):
        raise RankstatsError("teams: −1 (ranker a), 1 (ranker b) or 0 (nobody) for each row; see team_signs")
    return _credits(codes, labels, clicks, clicks * (signs == -1), clicks * (signs == 1))


def balanced_credits(impressions: ArrayLike, rank_a: ArrayLike, rank_b: ArrayLike, clicked: ArrayLike) -> Credits:
    """Give credits for a balanced interleaving: clicks among the top k of each ranking, k as deep as the clicks go.

    k is the smallest depth at which the lowest clicked result of the page is in the top k of either ranking. Known flaw
    of this design: with rankings that differ by a shift of one place, random clicks favour one of them.

    Parameters
    ----------
    impressions : array_like, shape (n,)
        Impression of each row, rows in the order of the page.
    rank_a, rank_b : array_like, shape (n,)
        Rank of the result in each ranking, 1 at the top; NaN where a ranking does not have it.
    clicked : array_like, shape (n,)
        Whether (or how often) the result was clicked.

    Returns
    -------
    Credits

    Raises
    ------
    RankstatsError
        If shapes do not fit or a result is in neither ranking.

    References
    ----------
    Joachims 2002, 2003; Chapelle, Joachims, Radlinski & Yue 2012.

    Examples
    --------
    >>> credits = balanced_credits([1, 1, 1], rank_a=[1, 2, 3], rank_b=[3, 1, 2], clicked=[0, 1, 0])
    >>> credits.credit_a.tolist(), credits.credit_b.tolist()
    ([0.0], [1.0])
    """
    codes, clicks, labels = _rows(impressions, clicked)
    ranks = _ranks(rank_a, rank_b, len(codes))
    nearest = np.fmin(*ranks)
    # the lowest clicked row of each impression: the last one in the order of the page
    lowest = np.full(len(labels), -1)
    hit = np.flatnonzero(clicks > 0)
    np.maximum.at(lowest, codes[hit], hit)
    depth = np.where(lowest >= 0, nearest[lowest], 0.0)[codes]
    counted = [clicks * (np.nan_to_num(rank, nan=np.inf) <= depth) for rank in ranks]
    return _credits(codes, labels, clicks, *counted)


def probabilistic_credits(
    impressions: ArrayLike,
    positions: ArrayLike,
    rank_a: ArrayLike,
    rank_b: ArrayLike,
    clicked: ArrayLike,
    *,
    list_length: int,
    tau: float = 3.0,
) -> Credits:
    """Share each click between the rankers by the probability that either put the result there.

    A page is made by choosing a ranker at each position by a fair coin and drawing from what is left of its list with
    probabilities proportional to 1 / rank^τ; the drawn result leaves both lists. Given page and clicks, the result at a
    position is ranker b's with probability P_b / (P_a + P_b). No team has to be logged, and the noise of the coin is
    gone.

    Parameters
    ----------
    impressions, positions : array_like, shape (n,)
        Impression of each row, and the position on the page from 1 at the top; all shown results are needed.
    rank_a, rank_b : array_like, shape (n,)
        Rank of the result in each ranker's list, 1 at the top; NaN where a list does not have it.
    clicked : array_like, shape (n,)
        Whether (or how often) the result was clicked.
    list_length : int
        Length of the rankers' lists from which the page was drawn.
    tau : float
        Decay of the drawing.

    Returns
    -------
    Credits

    Raises
    ------
    RankstatsError
        If shapes do not fit, a result is in neither list, or a rank lies beyond the lists.

    References
    ----------
    Hofmann, Whiteson & de Rijke 2011.

    Examples
    --------
    >>> credits = probabilistic_credits([1, 1], [1, 2], [1, 2], [2, 1], [1, 0], list_length=2)
    >>> credits.credit_a.round(3).tolist(), credits.credit_b.round(3).tolist()
    ([0.889], [0.111])
    """
    codes, clicks, labels = _rows(impressions, clicked)
    page = Page.of(impressions, positions)
    length = check_count("list_length", list_length)
    if not tau > 0:
        raise RankstatsError(f"tau = {tau!r}: a number of more than 0 is expected")
    ranks = _ranks(rank_a, rank_b, len(codes))
    if any(np.nanmax(rank, initial=1) > length for rank in ranks):
        raise RankstatsError(f"ranks: one lies beyond list_length = {length}; give the length of the rankers' lists")
    whole = float(np.sum(np.arange(1, length + 1) ** -tau))
    drawn = []
    for rank in ranks:
        share = np.nan_to_num(page.ordered(rank) ** -tau, nan=0.0)
        left = whole - (page.cumulated(share) - share)
        # nothing is left but rounding where a list is used up
        drawn.append(page.back(np.divide(share, left, out=np.zeros_like(share), where=left > 1e-12)))
    total = drawn[0] + drawn[1]
    of_b = np.divide(drawn[1], total, out=np.full(len(total), 0.5), where=total > 0)
    return _credits(codes, labels, clicks, clicks * (1 - of_b), clicks * of_b)


def multileaving_credits(
    impressions: ArrayLike, teams: ArrayLike, clicked: ArrayLike, *, rankers: int
) -> tuple[NDArray[np.generic], Floats]:
    """Count the clicks of each of several rankers whose results share the page (team-draft multileaving).

    Parameters
    ----------
    impressions : array_like, shape (n,)
        Impression of each row.
    teams : array_like of int, shape (n,)
        Ranker of each result, 0 … rankers − 1, or −1 for nobody.
    clicked : array_like, shape (n,)
        Whether (or how often) the result was clicked.
    rankers : int
        Number of rankers.

    Returns
    -------
    impressions : ndarray, shape (m,)
        Labels.
    credits : ndarray, shape (m, rankers)
        Clicks for each ranker; two columns make the `Credits` of a pair by `pair_of_rankers`.

    Raises
    ------
    RankstatsError
        If shapes do not fit or a team is unknown.

    References
    ----------
    Schuth, Sietsma, Whiteson, Lefortier & de Rijke 2014.

    Examples
    --------
    >>> multileaving_credits([1, 1, 1, 2], [0, 1, 2, 1], [1, 0, 1, 1], rankers=3)[1].tolist()
    [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
    """
    codes, clicks, labels = _rows(impressions, clicked)
    of_rows = np.asarray(teams)
    if of_rows.shape != codes.shape or not np.all(np.isin(of_rows, np.arange(-1, check_count("rankers", rankers)))):
        raise RankstatsError(f"teams: a number from 0 to {rankers - 1}, or −1 for nobody, is expected for each row")
    credits = np.zeros((len(labels), rankers))
    counted = of_rows >= 0
    np.add.at(credits, (codes[counted], of_rows[counted]), clicks[counted])
    return labels, credits


def pair_of_rankers(labels: NDArray[np.generic], credits: Floats, a: int, b: int) -> Credits:
    """Return the credits of two of the rankers of `multileaving_credits`.

    Clicks on the results of others count for neither: an impression with no click on either of the two decides nothing.

    Examples
    --------
    >>> labels, credits = multileaving_credits([1, 1, 1], [0, 1, 2], [1, 0, 1], rankers=3)
    >>> pair_of_rankers(labels, credits, 1, 2).credit_b.tolist()
    [1.0]
    """
    rows = np.arange(len(labels))
    clicks = (credits[:, a] + credits[:, b]).astype(np.int64)
    return Credits(labels, rows, credits[:, a].copy(), credits[:, b].copy(), clicks, rows)


def credits_of_wins(wins_a: int, wins_b: int, ties: int = 0, without_clicks: int = 0) -> Credits:
    """Return credits that say no more than who won how many impressions: what an aggregated log knows.

    Examples
    --------
    >>> credits_of_wins(1, 2, ties=1).credit_b.tolist()
    [0.0, 1.0, 1.0, 1.0]
    """
    sizes = [
        check_count(name, size, least=0)
        for name, size in (("wins_a", wins_a), ("wins_b", wins_b), ("ties", ties), ("without_clicks", without_clicks))
    ]
    for_a, for_b = np.repeat([1.0, 0.0, 1.0, 0.0], sizes), np.repeat([0.0, 1.0, 1.0, 0.0], sizes)
    rows = np.arange(len(for_a))
    return Credits(rows, rows, for_a, for_b, (for_a + for_b).astype(np.int64), rows)


def _rows(impressions: ArrayLike, clicked: ArrayLike) -> tuple[Integers, Floats, NDArray[np.generic]]:
    """Return the impression of each row as a number, the clicks, and the labels."""
    labels = np.asarray(impressions)
    codes = label_codes(labels, len(labels), "impressions")
    clicks = np.asarray(clicked, dtype=np.float64)
    if clicks.shape != codes.shape or not np.all((clicks >= 0) & (clicks == np.floor(clicks)) & np.isfinite(clicks)):
        raise RankstatsError("clicked: 0, 1 or a number of clicks is expected for each row")
    return codes, clicks, labels[_first_rows(codes)]


def _first_rows(codes: Integers) -> Integers:
    """Return the first row of each code; of several written to one place the last one stays."""
    first = np.empty(int(codes.max(initial=-1)) + 1, dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    return first


def _ranks(rank_a: ArrayLike, rank_b: ArrayLike, n: int) -> tuple[Floats, Floats]:
    ranks = tuple(np.asarray(rank, dtype=np.float64) for rank in (rank_a, rank_b))
    for name, rank in zip(("rank_a", "rank_b"), ranks, strict=True):
        if rank.shape != (n,) or np.any(rank < 1):
            raise RankstatsError(f"{name}: a rank of at least 1, or NaN, is expected for each row")
    neither = np.flatnonzero(np.isnan(ranks[0]) & np.isnan(ranks[1]))
    if len(neither):
        raise RankstatsError(f"row {neither[0]} (counted from 0): the result is in neither ranking")
    return ranks[0], ranks[1]


def _credits(codes: Integers, labels: NDArray[np.generic], clicks: Floats, for_a: Floats, for_b: Floats) -> Credits:
    first = _first_rows(codes)
    # whole numbers of grains: the order of the rows plays no part
    a, b, of_all = (
        np.bincount(codes, weights=np.rint(part * _GRAINS), minlength=len(labels)) / _GRAINS
        for part in (for_a, for_b, clicks)
    )
    return Credits(labels, first, a, b, of_all.astype(np.int64), codes)
