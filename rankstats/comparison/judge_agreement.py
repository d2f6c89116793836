"""Agreement of judges: two sets of judgments, such as a person's and a language model's, or the raters of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankstats import stats
from rankstats.comparison.agreeing import document_codes
from rankstats.comparison.agreement_rows import ALL, AgreementAnswer, AgreementRow, find, with_interval
from rankstats.comparison.order_agreement import (
    OrderSettings,
    Side,
    check_systems,
    compared,
    judging_measures,
    order_notes,
    order_sentence,
    stability,
)
from rankstats.comparison.result import Interval, defined
from rankstats.errors import InputError
from rankstats.inputs.ratings import Ratings
from rankstats.tables import Judgments, Scores
from rankstats.wording import count, percent

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

_MOST_INTERVALS = 200
"""With more pairs of raters their agreement has no intervals, which would take minutes."""

_KAPPAS = {"none": "cohen_kappa", "linear": "cohen_kappa_linear", "quadratic": "cohen_kappa_quadratic"}


def agree_on_judgments(
    first: Judgments,
    second: Judgments,
    names: tuple[str, str],
    *,
    scores: tuple[Scores, Scores] | None = None,
    settings: OrderSettings | None = None,
) -> AgreementAnswer:
    """Compare two sets of judgments, and the orders of systems that they give.

    Over the documents that both judged: the share of equal grades, Cohen's κ (unweighted, linear, quadratic),
    Krippendorff's α, how often each grade meets each other one, and the agreement on each grade. Intervals come from
    resampled queries. With scores: how alike the two sets order the systems on each measure, over the queries of both,
    whether the verdicts are the same, and how easily other queries would turn the order.

    Parameters
    ----------
    first, second : Judgments
        The two sets.
    names : (str, str)
        Their names.
    scores : (Scores, Scores), optional
        Values of the same systems and measures under the first and the second set.
    settings : OrderSettings, optional
        Level, resamples, seed.

    Returns
    -------
    AgreementAnswer
        Rows of kind 'judges', 'grades', 'confusion' and, with scores, 'judgments', 'stability' and 'swaps'.

    Raises
    ------
    RankstatsError
        If no document was judged twice.

    Examples
    --------
    >>> from rankstats.inputs import judgments_from_dict
    >>> person = judgments_from_dict({"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 2, "d4": 0}})
    >>> model = judgments_from_dict({"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 1, "d5": 0}})
    >>> answer = agree_on_judgments(person, model, ("person", "model"), settings=OrderSettings(resamples=99))
    >>> round(answer.value("agreement", "person", "model"), 3), answer.notes[0]
    (0.667, '1 document is judged by person alone, 1 by model alone; left out')
    """
    settings = settings or OrderSettings()
    both = _JudgedTwice.of(first, second, names)
    rated = _Rated(settings, both.query)
    rows = _pair_rows(names, both.first, both.second, rated)
    rows += _alpha_rows("judges", names, np.column_stack([both.first, both.second]), rated)
    rows += _grade_rows(names, both.first, both.second)
    notes = [*both.notes]
    sentence = _on_judges(rows, "document", "documents")
    if scores is not None:
        orders = _orders(scores, names, settings)
        rows += orders
        notes += order_notes(len(scores[0].systems))
        sentence += _on_orders(orders)
    return AgreementAnswer(f"{sentence}.", tuple(rows), tuple(notes))


def agree_on_ratings(ratings: Ratings, *, settings: OrderSettings | None = None) -> AgreementAnswer:
    """Compare the raters of a table, pair by pair and all together.

    For each two raters, over the items that both rated: the share of equal grades and Cohen's κ (unweighted and, for
    grades that are numbers, linear and quadratic), how often each grade meets each other one, and the agreement on each
    grade. For all together Krippendorff's α, over all items rated twice at least, and Fleiss' κ over those that were
    rated as often as most. Intervals come from resampled items or, where items are alike, clusters of them.

    Parameters
    ----------
    ratings : Ratings
        At least two raters.
    settings : OrderSettings, optional
        Level, resamples, seed.

    Returns
    -------
    AgreementAnswer
        Rows of kind 'judges', 'raters', 'grades' and 'confusion'.

    Raises
    ------
    RankstatsError
        If no item was rated twice.

    Examples
    --------
    >>> values = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 1.0], [2.0, np.nan]])
    >>> answer = agree_on_ratings(Ratings(values, ("ann", "bob"), (), None, None), settings=OrderSettings(resamples=99))
    >>> round(answer.value("cohen_kappa_linear", "ann", "bob"), 3), answer.notes
    (0.571, ('1 item is rated once only; left out',))
    """
    settings = settings or OrderSettings()
    values, raters = ratings.values, ratings.raters
    times = np.count_nonzero(~np.isnan(values), axis=1)
    if not (times >= 2).any():
        raise InputError("no item is rated by two raters; agreement needs items in common")
    clusters = None if ratings.clusters is None else np.array(ratings.clusters, dtype=object)
    rated = _Rated(settings, clusters, ratings.words)
    pairs = [(a, b) for a, b in combinations(range(len(raters)), 2) if _overlap(values, a, b)]
    rows: list[AgreementRow] = []
    many = len(pairs) > _MOST_INTERVALS
    each = replace(rated, settings=replace(settings, resamples=0)) if many else rated
    for a, b in pairs:
        rows += _pair_rows((raters[a], raters[b]), values[:, a], values[:, b], each)
    rows += _alpha_rows("raters", ("all raters", ""), values, rated)
    fleiss, notes = _fleiss(values, times)
    rows += fleiss
    for a, b in pairs:
        rows += _grade_rows((raters[a], raters[b]), values[:, a], values[:, b], ratings.words)
    once = int(np.count_nonzero(times < 2))
    if once:
        notes = [f"{count(once, 'item is', 'items are')} rated once only; left out", *notes]
    if many:
        notes.append(f"{len(pairs):,} pairs of raters: their agreement has no intervals")
    apart = len(raters) * (len(raters) - 1) // 2 - len(pairs)
    if apart:
        notes.append(f"{count(apart, 'pair')} of raters without an item in common; left out")
    if ratings.words:
        notes.append("grades are words, which have no order: neither weighted \N{GREEK SMALL LETTER KAPPA} nor ordinal "
                     "\N{GREEK SMALL LETTER ALPHA}")  # fmt: skip
    if ratings.cluster_name is not None:
        notes.append(f"intervals resample the values of {ratings.cluster_name} with all their items")
    return AgreementAnswer(_on_raters(rows, len(raters)), tuple(rows), tuple(notes))


@dataclass(frozen=True, slots=True, eq=False)
class _JudgedTwice:
    """Documents that both sets judge: their grades and queries."""

    first: Floats
    second: Floats
    query: Codes
    notes: tuple[str, ...]

    @classmethod
    def of(cls, first: Judgments, second: Judgments, names: tuple[str, str]) -> _JudgedTwice:
        place = {query_id: i for i, query_id in enumerate(sorted({*first.query_ids, *second.query_ids}))}
        documents = document_codes([first, second])
        width = int(documents.max(initial=0)) + 1
        queries = [
            np.array([place[query_id] for query_id in judged.query_ids], dtype=np.int64)[judged.query]
            for judged in (first, second)
        ]
        keys = np.concatenate(queries) * width + documents
        one, other = keys[: len(first.query)], keys[len(first.query) :]
        both, at, also = np.intersect1d(one, other, assume_unique=True, return_indices=True)
        if not len(both):
            raise InputError(
                f"{names[0]} and {names[1]} judge no document of a query both; check that their ids are of one kind"
            )
        alone = (len(one) - len(both), len(other) - len(both))
        notes = (
            f"{count(alone[0], 'document is', 'documents are')} judged by {names[0]} alone, {alone[1]:,} by {names[1]} "
            "alone; left out",
        )
        return cls(first.grade[at], second.grade[also], both // width, notes if any(alone) else ())


@dataclass(frozen=True, slots=True, eq=False)
class _Rated:
    """What κ and α of a table need beside the grades: clusters of the items, and the words that grades stand for."""

    settings: OrderSettings
    clusters: NDArray[np.generic] | None
    words: tuple[str, ...] = ()

    @property
    def resampling(self) -> dict[str, Any]:
        """Arguments of the statistics."""
        settings = self.settings
        return {
            "clusters": self.clusters,
            "alpha": settings.alpha,
            "resamples": settings.resamples,
            "rng": settings.seed,
        }

    def row(
        self, kind: str, names: Sequence[str], statistic: str, value: tuple[float, float, float], n: int
    ) -> AgreementRow:
        """Return the row of a value with the ends of its interval."""
        method = "bootstrap of items" if self.clusters is None else "bootstrap of clusters"
        interval = Interval.from_ends(value[1], value[2], 1 - self.settings.alpha, method)
        return AgreementRow(kind, names[0], names[1], "", ALL, statistic, defined(value[0]), interval, n)


def _pair_rows(names: Sequence[str], first: Floats, second: Floats, rated: _Rated) -> list[AgreementRow]:
    """Return agreement and κ of two raters; grades that are words have no weights."""
    weightings = ("none",) if rated.words else tuple(_KAPPAS)
    found = stats.cohen_kappa(first, second, weightings=weightings, **rated.resampling)
    agreement = (found.agreement, found.agreement_low, found.agreement_high)
    kappas = zip(found.kappa.tolist(), found.low.tolist(), found.high.tolist(), strict=True)
    return [
        rated.row("judges", names, "agreement", agreement, found.n),
        *(
            rated.row("judges", names, _KAPPAS[weighting], kappa, found.n)
            for weighting, kappa in zip(weightings, kappas, strict=True)
        ),
    ]


def _alpha_rows(kind: str, names: Sequence[str], values: Floats, rated: _Rated) -> list[AgreementRow]:
    """Return Krippendorff's α of all raters."""
    levels = ("nominal",) if rated.words else ("nominal", "ordinal", "interval")
    found = stats.krippendorff_alpha(values, levels=levels, **rated.resampling)
    alphas = zip(found.reliability.tolist(), found.low.tolist(), found.high.tolist(), strict=True)
    return [
        rated.row(kind, names, f"krippendorff_alpha_{level}", alpha, found.n)
        for level, alpha in zip(levels, alphas, strict=True)
    ]


def _overlap(values: Floats, a: int, b: int) -> bool:
    return bool((~np.isnan(values[:, [a, b]])).all(axis=1).any())


def _fleiss(values: Floats, rated: Codes) -> tuple[list[AgreementRow], list[str]]:
    """Return Fleiss' κ of the items that were rated as often as most, the more often of two such numbers."""
    times, items = np.unique(rated[rated >= 2], return_counts=True)
    often = int(times[np.flatnonzero(items == items.max())[-1]])
    chosen = values[rated == often]
    scale = np.unique(chosen[~np.isnan(chosen)])
    table = np.stack([np.count_nonzero(chosen == grade, axis=1) for grade in scale], axis=1)
    row = AgreementRow(
        "raters", "all raters", "", "", ALL, "fleiss_kappa", defined(stats.fleiss_kappa(table)), None, len(chosen)
    )
    if len(times) == 1:
        return [row], []
    return [row], [f"Fleiss' \N{GREEK SMALL LETTER KAPPA} is over the {len(chosen):,} items rated {often} times"]


def _grade_rows(names: Sequence[str], first: Floats, second: Floats, words: Sequence[str] = ()) -> list[AgreementRow]:
    """Return the agreement on each grade and how often each meets each other one."""
    found = stats.grade_confusion(first, second)
    grades = [words[int(grade)] if words else f"{grade:g}" for grade in found.grade.tolist()]
    rows = [
        AgreementRow("grades", names[0], names[1], grade, ALL, "specific_agreement", defined(value), None, found.n)
        for grade, value in zip(grades, found.specific_agreement, strict=True)
    ]
    about = f"{names[0]} \N{MULTIPLICATION SIGN} {names[1]}"
    return rows + [
        AgreementRow("confusion", one, other, about, ALL, "count", float(value), None, found.n)
        for one, row in zip(grades, found.counts.tolist(), strict=True)
        for other, value in zip(grades, row, strict=True)
    ]


def _orders(scores: tuple[Scores, Scores], names: tuple[str, str], settings: OrderSettings) -> list[AgreementRow]:
    """Return how alike the two sets order the systems on each measure, over the queries that both judge."""
    check_systems(scores[0].systems)
    common = {*scores[0].query_ids} & {*scores[1].query_ids}
    members = [np.array([query_id in common for query_id in table.query_ids]) for table in scores]
    rows: list[AgreementRow] = []
    for m in judging_measures(scores[0]):
        name = scores[0].measures[m].name
        sides = [Side.of(table, m, settings, members=chosen) for table, chosen in zip(scores, members, strict=True)]
        if not all(side.n for side in sides):
            continue
        found = stats.order_agreement(sides[0].values, sides[1].values, **settings.resampling)
        rows += compared("judgments", (name, *names), (sides[0], sides[1]), found)
        for side, by in zip(sides, names, strict=True):
            rows += stability(side, scores[0].systems, settings, about=f"{name} by {by}")
    return rows


def _on_judges(rows: Sequence[AgreementRow], one: str, many: str) -> str:
    (agreed,) = find(rows, "agreement")
    items = count(agreed.n, one, many)
    sentence = f"{agreed.first} and {agreed.second} give {percent(agreed.value, 1)} of {items} the same grade"
    kappa = find(rows, "cohen_kappa")
    if not kappa:
        return f"{sentence}, all of them one grade"
    return f"{sentence}, Cohen's \N{GREEK SMALL LETTER KAPPA} {with_interval(kappa[0], 3)}"


def _on_orders(rows: Sequence[AgreementRow]) -> str:
    known = find(rows, "kendall_tau_b")
    if not known:
        return "; on no measure do both tell the systems apart"
    return f"; on {known[0].about} they order {order_sentence(rows, known[0])}"


def _on_raters(rows: Sequence[AgreementRow], raters: int) -> str:
    if raters == 2:
        return f"{_on_judges(rows, 'item', 'items')}."
    reliable = find(rows, "krippendorff_alpha_ordinal") or find(rows, "krippendorff_alpha_nominal")
    kappas = find(rows, "cohen_kappa")
    if not reliable or not kappas:
        return f"All {raters} raters give one and the same grade, so that agreement beyond chance is undefined."
    level = reliable[0].statistic.rpartition("_")[2]
    least, most = (choose(kappas, key=lambda row: row.value or 0.0) for choose in (min, max))
    return (
        f"{raters} raters of {count(reliable[0].n, 'item')} agree with Krippendorff's \N{GREEK SMALL LETTER ALPHA} "
        f"({level}) {with_interval(reliable[0])}; of two of them {least.first} and {least.second} agree least, Cohen's "
        f"\N{GREEK SMALL LETTER KAPPA} {with_interval(least)}, {most.first} and {most.second} most, "
        f"{with_interval(most)}."
    )
