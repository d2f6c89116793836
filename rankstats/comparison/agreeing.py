"""Do rankings agree: with each other, and with an expert's order or grades? Query by query, and on average."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rankstats import stats
from rankstats.comparison.agreement_rows import ALL, AgreementAnswer, AgreementRow, find, with_interval
from rankstats.comparison.result import Interval, defined
from rankstats.conventions import Policies
from rankstats.errors import InputError, PlanError
from rankstats.stats import RankedLists
from rankstats.tables import Judgments, Ranking
from rankstats.tables.arrow_arrays import values_of
from rankstats.wording import count, percent

Floats = NDArray[np.float64]

_CORRELATIONS = {
    "kendall_tau_b": "tau_b",
    "tau_ap_b": "tau_ap_b",
    "weighted_tau": "weighted_tau",
    "spearman": "rho",
}
"""Statistics of the common documents, and the fields that hold them."""

GRADES = "grades"
"""The name of the judges' grades as an order of documents."""


@dataclass(frozen=True, slots=True)
class ListSettings:
    """How lists are compared.

    Attributes
    ----------
    p : float
        Persistence of RBO, between 0 and 1.
    ties : {'a', 'b', 'w'}
        Version of RBO for ties.
    cutoff : int
        Depth of the overlap.
    alpha : float
        1 − level of the intervals.
    per_query : bool
        Whether the values of single queries are listed.
    """

    p: float = 0.9
    ties: str = "a"
    cutoff: int = 10
    alpha: float = 0.05
    per_query: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.p < 1:
            raise PlanError(f"p = {self.p} of RBO: the persistence lies between 0 and 1, for instance 0.9")
        if self.cutoff < 1:
            raise PlanError(f"cutoff = {self.cutoff}: the overlap needs a depth of 1 at least")
        if self.ties not in stats.TIE_VERSIONS:
            raise PlanError(f"ties = {self.ties!r} of RBO: choose one of {', '.join(stats.TIE_VERSIONS)}")


def agree_on_rankings(
    rankings: Sequence[Ranking],
    *,
    grades: Judgments | None = None,
    expert: Ranking | None = None,
    policies: Policies | None = None,
    settings: ListSettings | None = None,
) -> AgreementAnswer:
    """Compare the rankings of each query with each other and, where there is one, with an expert's order or grades.

    For each pair and query that both answer: RBO (ext, min and residual) of the whole lists and the overlap of their
    tops; Kendall's τ_b, τ_ap,b, weighted τ and Spearman's ρ over the documents that both hold, undefined for fewer than
    two of them. Tied scores are ties. The means are over the queries on which a value is defined, with t intervals.

    Parameters
    ----------
    rankings : sequence of Ranking
        At least two; one is enough beside an expert.
    grades : Judgments, optional
        The judges' grades, an order with many ties.
    expert : Ranking, optional
        An expert's order, which may have ties, instead of grades.
    policies : Policies, optional
        `ties`: 'doc_id' and its 32-bit version leave tied scores tied, 'rank' goes by the rank column, 'input' by the
        order of the lines.
    settings : ListSettings, optional
        Persistence, ties, depth, level.

    Returns
    -------
    AgreementAnswer
        Rows of kind 'rankings' and 'expert'.

    Raises
    ------
    RankstatsError
        If there is nothing to compare, or two of the orders have no query in common.

    Examples
    --------
    >>> from rankstats.inputs import ranking_from_dict
    >>> old = ranking_from_dict("old", {"q1": {"d1": 3, "d2": 2, "d3": 1}})
    >>> new = ranking_from_dict("new", {"q1": {"d2": 3, "d1": 2, "d4": 1}})
    >>> answer = agree_on_rankings([old, new], settings=ListSettings(cutoff=2))
    >>> answer.value("overlap@2", "old", "new"), answer.value("kendall_tau_b", "old", "new")
    (1.0, -1.0)
    """
    settings = settings or ListSettings()
    if grades is not None and expert is not None:
        raise PlanError("give either an expert's order or grades, not both")
    truth = grades if grades is not None else expert
    if len(rankings) < (2 if truth is None else 1):
        raise PlanError("agreement of rankings needs two runs, or one run and an expert's order or grades")
    placed = _Placed.of(rankings, truth, policies or Policies())
    if settings.per_query and ALL in placed.query_ids:
        raise PlanError("a query has the id 'all', which names the rows of means; rename the query")
    pairs = [("rankings", a, b) for a, b in combinations(range(len(rankings)), 2)]
    pairs += [("expert", len(rankings), a) for a in range(len(rankings)) if truth is not None]
    rows, notes = _rows(placed, pairs, settings)
    return AgreementAnswer(_answer(rows, settings), rows, notes)


@dataclass(frozen=True, slots=True, eq=False)
class _Placed:
    """The lists of all orders: list ``order · queries + query``.

    Attributes
    ----------
    names : tuple of str
        The orders, the expert's last.
    query_ids : tuple of str
        All queries, ascending.
    lists : RankedLists
        Their lists, empty where an order lacks a query.
    """

    names: tuple[str, ...]
    query_ids: tuple[str, ...]
    lists: RankedLists

    @classmethod
    def of(cls, rankings: Sequence[Ranking], truth: Judgments | Ranking | None, policies: Policies) -> _Placed:
        orders: list[Ranking | Judgments] = [*rankings, *([truth] if truth is not None else [])]
        ids = tuple(sorted({query_id for order in orders for query_id in order.query_ids}))
        place = {query_id: i for i, query_id in enumerate(ids)}
        index = [
            np.array([place[query_id] for query_id in order.query_ids], dtype=np.int64)[order.query] + i * len(ids)
            for i, order in enumerate(orders)
        ]
        keys = [order.grade if isinstance(order, Judgments) else _key(order, policies) for order in orders]
        names = [order.system if isinstance(order, Ranking) else GRADES for order in orders]
        lists = stats.ranked_lists(
            np.concatenate(index), document_codes(orders), np.concatenate(keys), n_lists=len(orders) * len(ids)
        )
        return cls(tuple(names), ids, lists)

    def list_of(self, order: int) -> NDArray[np.int64]:
        """Return the positions of an order's lists, one a query."""
        return order * len(self.query_ids) + np.arange(len(self.query_ids))


def document_codes(tables: Sequence[Ranking | Judgments]) -> NDArray[np.int64]:
    """Number the documents of several tables, row after row: equal ids have equal numbers."""
    chunks: list[Any] = []
    for table in tables:
        ids = table.doc_ids
        chunks += ids.chunks if isinstance(ids, pa.ChunkedArray) else [ids]
    whole: Any = pa.concat_arrays([pa.nulls(0, pa.large_string()), *(ids.cast(pa.large_string()) for ids in chunks)])
    return values_of(whole.dictionary_encode().indices).astype(np.int64)


def _key(ranking: Ranking, policies: Policies) -> Floats:
    """Return what documents are ordered by, the higher the better; equal keys are ties."""
    if policies.ties == "rank":
        if ranking.rank is None:
            raise InputError("ties = 'rank' needs the rank column, which the run does not have", ranking.source.name)
        return -ranking.rank
    if policies.ties == "input":
        order = np.argsort(-ranking.score, kind="stable")
        key = np.empty(len(order))
        key[order] = -np.arange(len(order))
        return key
    if policies.ties == "float32":
        with np.errstate(over="ignore"):
            return ranking.score.astype(np.float32).astype(np.float64)
    return ranking.score


def _rows(
    placed: _Placed, pairs: Sequence[tuple[str, int, int]], settings: ListSettings
) -> tuple[tuple[AgreementRow, ...], tuple[str, ...]]:
    """Return the rows of all pairs, those of single queries first, and notes on queries that one order lacks."""
    queries = len(placed.query_ids)
    first = np.concatenate([placed.list_of(a) for _, a, _ in pairs])
    second = np.concatenate([placed.list_of(b) for _, _, b in pairs])
    both = ((placed.lists.lengths[first] > 0) & (placed.lists.lengths[second] > 0)).reshape(-1, queries)
    for (_, a, b), answered in zip(pairs, both, strict=True):
        if not answered.any():
            raise InputError(
                f"{placed.names[a]} and {placed.names[b]} have no query in common; check that their query ids are of "
                "one kind"
            )
    found, common = _values(placed, first, second, settings)
    values = {name: column.reshape(both.shape) for name, column in found.items()}
    documents = common.reshape(both.shape)
    single: list[AgreementRow] = []
    for q, query_id in enumerate(placed.query_ids if settings.per_query else ()):
        for i, (kind, a, b) in enumerate(pairs):
            single += [
                AgreementRow(
                    kind,
                    placed.names[a],
                    placed.names[b],
                    "",
                    query_id,
                    name,
                    defined(of[i, q]),
                    None,
                    int(documents[i, q]),
                )
                for name, of in values.items()
            ]
    means: list[AgreementRow] = []
    for i, (kind, a, b) in enumerate(pairs):
        for name, of in values.items():
            mean = mean_over_queries(of[i], settings.alpha, lowest=-1.0 if name in _CORRELATIONS else 0.0)
            means.append(AgreementRow(kind, placed.names[a], placed.names[b], "", ALL, name, *mean))
    return (*single, *means), _notes(placed)


def _values(
    placed: _Placed, first: NDArray[np.int64], second: NDArray[np.int64], settings: ListSettings
) -> tuple[dict[str, Floats], NDArray[np.int64]]:
    """Return the statistics of pairs of lists, and their common documents."""
    lists = placed.lists
    overlap = stats.rank_biased_overlap(lists, first, second, p=settings.p, ties=settings.ties)
    correlated = stats.list_correlation(lists, first, second)
    values = {
        "rbo": overlap.extrapolated,
        "rbo_min": overlap.minimum,
        "rbo_residual": overlap.residual,
        f"overlap@{settings.cutoff}": stats.overlap_at(lists, first, second, settings.cutoff),
        **{statistic: getattr(correlated, field) for statistic, field in _CORRELATIONS.items()},
    }
    return values, correlated.n


def mean_over_queries(values: Floats, alpha: float, lowest: float) -> tuple[float | None, Interval | None, int]:
    """Return the mean of the defined values with its t interval, cut at the bounds of the values, and their number."""
    known = values[~np.isnan(values)]
    result = stats.mean_interval(known, alpha=alpha)
    low, high = (float(np.clip(end, lowest, 1.0)) for end in (result.low[0], result.high[0]))
    interval = Interval.from_ends(low, high, 1 - alpha, "t") if len(known) > 1 else None
    return defined(result.mean[0]), interval, len(known)


def _notes(placed: _Placed) -> tuple[str, ...]:
    queries = len(placed.query_ids)
    notes = []
    for order, name in enumerate(placed.names):
        lacking = [placed.query_ids[q] for q in np.flatnonzero(placed.lists.lengths[placed.list_of(order)] == 0)]
        if lacking:
            shown = ", ".join(lacking[:5]) + " ..." * (len(lacking) > 5)
            notes.append(f"{name} lacks {len(lacking):,} of {count(queries, 'query', 'queries')}, left out ({shown})")
    return tuple(notes)


def _answer(rows: Sequence[AgreementRow], settings: ListSettings) -> str:
    expert = [row for row in rows if row.kind == "expert" and row.query_id == ALL]
    return _on_expert(expert) if expert else _on_rankings(rows, settings)


def _on_expert(rows: Sequence[AgreementRow]) -> str:
    known = find(rows, "kendall_tau_b")
    whose = "the grades" if rows[0].first == GRADES else rows[0].first
    if not known:
        return f"No run can be held against {whose}: no query has two common documents that are told apart."
    best = max(known, key=lambda row: row.value or 0.0)
    runs = {row.second for row in rows}
    which = f"{best.second} follows {whose}" if len(runs) == 1 else f"Of {len(runs)} runs {best.second} follows {whose}"
    how = "with" if len(runs) == 1 else "most closely, with"
    queries = count(best.n, "query", "queries")
    return f"{which} {how} Kendall \N{GREEK SMALL LETTER TAU}-b {with_interval(best)} on average over {queries}."


def _on_rankings(rows: Sequence[AgreementRow], settings: ListSettings) -> str:
    known = find(rows, "rbo")
    alike, unlike = (choose(known, key=lambda row: row.value or 0.0) for choose in (max, min))
    queries = count(alike.n, "query", "queries")
    if len(known) == 1:
        (shared,) = find(rows, f"overlap@{settings.cutoff}")
        return (
            f"{alike.first} and {alike.second} have RBO {with_interval(alike)} on average over {queries} and "
            f"{percent(shared.value)} of their first {settings.cutoff} documents in common."
        )
    return (
        f"Of {count(len(known), 'pair')} of runs {alike.first} and {alike.second} are most alike, RBO "
        f"{with_interval(alike)} on average over {queries}, {unlike.first} and {unlike.second} least, RBO "
        f"{with_interval(unlike)}."
    )
