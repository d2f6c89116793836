"""How far a value depends on the order of documents with the same score: its best, expected and worst case."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rankstats.conventions import Policies
from rankstats.errors import InputError
from rankstats.measures.evaluation import Evaluation, Floats, Pool, Whole, divide
from rankstats.measures.measure import Measure
from rankstats.measures.unjudged import refuse_unpromising
from rankstats.measures.values import check_measures, evaluate, measure_values
from rankstats.tables import Hits, Judgments, Ranking


@dataclass(frozen=True, slots=True)
class TieSensitivity:
    """Values of measures over the orders of documents with the same score.

    Attributes
    ----------
    query_ids : tuple of str, length Q
        The judged queries.
    measures : tuple of str, length M
        Canonical names.
    value : ndarray of float64, shape (Q, M)
        The value in the order that the policy gives; NaN where a query has none.
    worst, best : ndarray of float64, shape (Q, M)
        The smallest and the largest value over all orders of tied documents.
    expected : ndarray of float64, shape (Q, M)
        The mean over all orders, each as likely as the others.
    standard_error : ndarray of float64, shape (Q, M)
        Monte Carlo error of `expected`; 0 where it is exact.
    tied : ndarray of int64, shape (Q,)
        Documents that share their score with another one.
    """

    query_ids: tuple[str, ...]
    measures: tuple[str, ...]
    value: NDArray[np.float64]
    worst: NDArray[np.float64]
    best: NDArray[np.float64]
    expected: NDArray[np.float64]
    standard_error: NDArray[np.float64]
    tied: NDArray[np.int64]

    def to_dicts(self) -> list[dict[str, str | float | int]]:
        """Return a row for each query and measure."""
        return [
            {
                "query_id": query_id,
                "measure": name,
                "value": float(self.value[q, m]),
                "worst": float(self.worst[q, m]),
                "best": float(self.best[q, m]),
                "expected": float(self.expected[q, m]),
                "standard_error": float(self.standard_error[q, m]),
                "tied": int(self.tied[q]),
            }
            for q, query_id in enumerate(self.query_ids)
            for m, name in enumerate(self.measures)
        ]


def tie_sensitivity(
    measures: Sequence[Measure],
    judgments: Judgments,
    ranking: Ranking,
    policies: Policies,
    *,
    enumerate_up_to: int = 1000,
    samples: int = 1000,
    seed: int = 0,
) -> TieSensitivity:
    """Return best, expected and worst values of one system over the orders of documents with the same score.

    The best order has the better grades first among documents of one score, the worst has them last. The expected value
    is exact for measures whose contributions depend on grade and rank alone (P, R, DCG, nDCG, RBP …): the mean over the
    ranks that a document may take. For others it is exact where a query has few orders, all of which are tried, and
    else the mean over orders drawn at random, with its standard error.

    Parameters
    ----------
    measures : sequence of Measure, length M
        Measures that reward moving a relevant document up.
    judgments : Judgments
        The judged documents.
    ranking : Ranking
        The system's rows.
    policies : Policies
        Scores are tied as the policy of ties compares them: in 32 bits under 'float32', with their ranks under 'rank'.
    enumerate_up_to : int, optional
        Queries with at most this number of orders of their judged documents have all of them tried.
    samples : int, optional
        Orders drawn for the other queries.
    seed : int, optional
        Seed of the draws.

    Returns
    -------
    TieSensitivity

    Raises
    ------
    MeasureError
        If a measure does not reward moving a relevant document up, or cannot be computed on the judgments.
    InputError
        As in `make_hits`.

    Examples
    --------
    >>> import numpy as np
    >>> import pyarrow as pa
    >>> from rankstats.measures import parse_measures
    >>> from rankstats.tables import Source
    >>> source, query = Source("made here"), np.zeros(2, np.int32)
    >>> judgments = Judgments(("q1",), query[:1], pa.array(["a"]), np.array([1.0]), np.array([0, 1]), source)
    >>> run = Ranking("new", ("q1",), query, pa.array(["a", "b"]), np.array([1.0, 1.0]), None, source)
    >>> ties = tie_sensitivity(parse_measures("RR"), judgments, run, Policies())
    >>> ties.worst.item(), ties.value.item(), ties.expected.item(), ties.best.item()
    (0.5, 0.5, 0.75, 1.0)
    """
    from rankstats.tables import make_hits  # noqa: PLC0415  loads pyarrow

    refuse_unpromising(measures, "best and worst orders of ties")
    hits = make_hits(judgments, ranking, policies)
    value = evaluate(measures, judgments, hits, policies)
    pool = Pool(judgments)
    check_measures(measures, pool)
    ties = _Ties(judgments, ranking, policies, hits)
    best, worst = (_values(measures, pool, ties.by_grade(better)) for better in ("first", "last"))
    expected, error = _expected(
        measures, pool, ties, enumerate_up_to=enumerate_up_to, samples=samples, rng=np.random.default_rng(seed)
    )
    untied = ~ties.has_choice
    for made in (best, worst, expected):
        made[untied] = value[untied]
        made[np.isnan(value)] = np.nan
    without_value = _without_value(measures, pool)
    for made in (best, worst, expected):
        made[without_value] = value[without_value]
    names = tuple(measure.name for measure in measures)
    return TieSensitivity(judgments.query_ids, names, value, worst, best, expected, error, hits.tied)


def _values(measures: Sequence[Measure], pool: Pool, hits: Hits) -> Floats:
    evaluation = Evaluation(pool, hits)
    return np.stack([measure_values(measure, evaluation) for measure in measures], axis=1)


def _without_value(measures: Sequence[Measure], pool: Pool) -> NDArray[np.bool_]:
    """Mark the queries whose value a policy settles, shape (Q, M)."""
    marks = np.zeros((pool.n_queries, len(measures)), dtype=bool)
    for column, measure in enumerate(measures):
        if measure.declaration.undefined is not None:
            marks[:, column] = measure.declaration.undefined.where(pool, measure.settings)
    return marks


def _expected(
    measures: Sequence[Measure],
    pool: Pool,
    ties: _Ties,
    *,
    enumerate_up_to: int,
    samples: int,
    rng: np.random.Generator,
) -> tuple[Floats, Floats]:
    """Return expected values and their Monte Carlo errors, shape (Q, M) each."""
    expected, error = np.zeros((2, pool.n_queries, len(measures)))
    alone = [m.declaration.of_rank_alone and not m.condensed for m in measures]
    for column, measure in enumerate(measures):
        if alone[column]:
            expected[:, column] = ties.mean_over_ranks(measure, pool)
    drawn = [column for column, exact in enumerate(alone) if not exact]
    if drawn:
        others = [measures[column] for column in drawn]
        means, errors = _over_orders(others, pool, ties, enumerate_up_to=enumerate_up_to, samples=samples, rng=rng)
        expected[:, drawn], error[:, drawn] = means, errors
    return expected, error


def _over_orders(
    measures: Sequence[Measure],
    pool: Pool,
    ties: _Ties,
    *,
    enumerate_up_to: int,
    samples: int,
    rng: np.random.Generator,
) -> tuple[Floats, Floats]:
    """Return means over all orders or over drawn ones, and the error of the latter, shape (Q, M) each."""
    few = ties.orders <= enumerate_up_to
    tried = np.where(few, ties.orders, samples).astype(np.int64)
    tried[~ties.has_choice] = 0
    every = ties.every_order(few & ties.has_choice)
    total, squares = np.zeros((2, pool.n_queries, len(measures)))
    shift = _values(measures, pool, ties.hits)
    for number in range(int(tried.max(initial=0))):
        counted = (number < tried)[:, None]
        moved = _values(measures, pool, ties.drawn(rng, next(every, None))) - shift
        total += np.where(counted, moved, 0.0)
        squares += np.where(counted, moved**2, 0.0)
    n = np.maximum(tried, 1)[:, None]
    spread = np.maximum(squares - total**2 / n, 0.0) / np.maximum(n - 1, 1)
    return shift + total / n, np.where(few[:, None], 0.0, np.sqrt(spread / n))


class _Ties:
    """The documents of one system that share their score, and the hits among them."""

    def __init__(self, judgments: Judgments, ranking: Ranking, policies: Policies, hits: Hits) -> None:
        self.hits = hits
        first, last = _spans(judgments, ranking, policies, hits)
        row = (np.cumsum(hits.returned) - hits.returned)[hits.query] + hits.rank - 1
        self._first, self._last = first[row], last[row]
        self._size = self._last - self._first + 1
        tied = np.flatnonzero(last > first)
        self._group = np.cumsum(first[tied] == _ranks(hits)[tied])
        self._rank = _ranks(hits)[tied]
        self._grade = np.zeros(len(tied))
        self._moving = np.flatnonzero(self._size > 1)
        self._place = np.searchsorted(tied, row[self._moving])
        self._grade[self._place] = np.maximum(hits.grade[self._moving], 0.0)
        self.has_choice = np.bincount(hits.query[self._moving], minlength=judgments.n_queries) > 0
        self.orders = self._count_orders()

    def _count_orders(self) -> Floats:
        """Return in how many ways the hits of each query can be placed in their ties, shape (Q,)."""
        moving = self._moving
        group = self._group[self._place]
        again = np.arange(len(moving)) - np.searchsorted(group, group)
        # the second hit of a tie of five has four places left
        ways = np.log(np.maximum(self._size[moving] - again, 1))
        logs = np.bincount(self.hits.query[moving], weights=ways, minlength=len(self.has_choice))
        return np.where(logs < math.log(1e15), np.rint(np.exp(np.minimum(logs, 35.0))), np.inf)

    def _at(self, rank: Whole) -> Hits:
        """Return the hits with other ranks for the tied ones."""
        ranks = self.hits.rank.copy()
        ranks[self._moving] = rank
        order = np.lexsort((ranks, self.hits.query))
        hits = self.hits
        return replace(
            hits,
            query=hits.query[order],
            rank=ranks[order],
            grade=hits.grade[order],
            judgment=hits.judgment[order],
            score=None if hits.score is None else hits.score[order],
        )

    def by_grade(self, better: str) -> Hits:
        """Return the hits with the better grades 'first' or 'last' among documents of one score."""
        key = -self._grade if better == "first" else self._grade
        ranks = np.empty(len(self._rank), dtype=np.int64)
        ranks[np.lexsort((key, self._group))] = self._rank
        return self._at(ranks[self._place])

    def drawn(self, rng: np.random.Generator, given: dict[int, tuple[int, ...]] | None) -> Hits:
        """Return the hits in an order drawn at random, or as given for some queries."""
        ranks = self._rank[np.lexsort((rng.random(len(self._rank)), self._group))][self._place]
        if given:
            query = self.hits.query[self._moving]
            for q, places in given.items():
                ranks[np.searchsorted(query, q) : np.searchsorted(query, q, side="right")] = places
        return self._at(ranks)

    def every_order(self, queries: NDArray[np.bool_]) -> Iterator[dict[int, tuple[int, ...]]]:
        """Yield, until all are done, the next order of each marked query: the ranks of its tied hits."""
        waiting = {int(q): self._orders_of(int(q)) for q in np.flatnonzero(queries)}
        while waiting:
            found = {q: order for q, orders in waiting.items() if (order := next(orders, None)) is not None}
            waiting = {q: waiting[q] for q in found}
            if found:
                yield found

    def _orders_of(self, q: int) -> Iterator[tuple[int, ...]]:
        here = self._moving[self.hits.query[self._moving] == q]
        spans = dict.fromkeys(zip(self._first[here].tolist(), self._last[here].tolist(), strict=True))
        ways = [
            itertools.permutations(range(first, last + 1), int(np.count_nonzero(self._first[here] == first)))
            for first, last in spans
        ]
        for placed in itertools.product(*ways):
            yield tuple(itertools.chain.from_iterable(placed))

    def mean_over_ranks(self, measure: Measure, pool: Pool) -> Floats:
        """Return the expected value of a sum over documents whose terms depend on grade and rank alone."""
        hits, declaration = self.hits, measure.declaration
        assert declaration.terms is not None
        again = np.repeat(np.arange(len(hits.query)), self._size)
        step = np.arange(len(again)) - np.repeat(np.cumsum(self._size) - self._size, self._size)
        spread = replace(
            hits,
            query=hits.query[again],
            rank=self._first[again] + step,
            grade=hits.grade[again],
            judgment=hits.judgment[again],
            score=None if hits.score is None else hits.score[again],
        )
        everywhere = Evaluation(pool, spread)
        total = everywhere.sum(declaration.terms(everywhere, measure.settings) / self._size[again])
        if declaration.denominator is None:
            return total
        return divide(total, declaration.denominator(Evaluation(pool, hits), measure.settings))


def _ranks(hits: Hits) -> Whole:
    """Return the rank of every document returned for the judged queries, query by query."""
    starts = np.repeat(np.cumsum(hits.returned) - hits.returned, hits.returned)
    return np.asarray(np.arange(1, len(starts) + 1) - starts, dtype=np.int64)


def _spans(judgments: Judgments, ranking: Ranking, policies: Policies, hits: Hits) -> tuple[Whole, Whole]:
    """Return the first and the last rank of the tie that each document returned is in, query by query."""
    number = {query_id: index for index, query_id in enumerate(judgments.query_ids)}
    to_judged = np.array([number.get(query_id, -1) for query_id in ranking.query_ids], dtype=np.int64)
    query = to_judged[ranking.query] if len(ranking.query) else np.zeros(0, dtype=np.int64)
    rows = np.flatnonzero(query >= 0)
    score = ranking.score[rows]
    if policies.ties == "float32":
        with np.errstate(over="ignore"):
            score = score.astype(np.float32).astype(np.float64)
    if policies.ties == "rank":
        if ranking.rank is None:
            raise InputError("ties = 'rank' needs the rank column, which the run does not have", ranking.source.name)
        keys: tuple[Floats, ...] = (score, -ranking.rank[rows])
    else:
        keys = (score,)
    order = np.lexsort((*(-key for key in keys), query[rows]))
    query = query[rows][order]
    new = np.ones(len(order), dtype=bool)
    same = query[1:] == query[:-1]
    for key in keys:
        same &= key[order][1:] == key[order][:-1]
    new[1:] = ~same
    ranks = _ranks(hits)
    begins = np.flatnonzero(new)
    sizes = np.diff(np.append(begins, len(order)))
    first = np.repeat(ranks[begins], sizes)
    return first, first + np.repeat(sizes, sizes) - 1
