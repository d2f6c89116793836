"""Agreement of system orders: under two measures, in two segments, by two sets of judgments; and of their verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankstats import stats
from rankstats.comparison.agreement_rows import ALL, FEW_SYSTEMS, AgreementAnswer, AgreementRow, find, with_interval
from rankstats.comparison.result import Interval, defined
from rankstats.comparison.segments import Attribute
from rankstats.conventions import SMALLEST_VERDICT_N
from rankstats.errors import PlanError
from rankstats.tables import Scores
from rankstats.wording import count, percent

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

BOOTSTRAP = "bootstrap of queries"
"""How intervals of correlations of system orders are made."""


@dataclass(frozen=True, slots=True)
class OrderSettings:
    """How orders of systems are compared.

    Attributes
    ----------
    alpha : float
        Level of the verdicts, and 1 − level of the intervals.
    resamples : int
        Resamples of the queries, and permutations of the test behind the verdicts.
    seed : int
        Seed of the random numbers.
    pairs : bool
        Whether every pair of systems is listed with its swap probability.
    """

    alpha: float = 0.05
    resamples: int = 10_000
    seed: int = 0
    pairs: bool = False

    @property
    def resampling(self) -> dict[str, Any]:
        """Arguments of the statistics of orders."""
        return {"alpha": self.alpha, "resamples": self.resamples, "rng": self.seed}


def agree_on_scores(
    scores: Scores,
    *,
    clusters: Codes | None = None,
    attributes: Sequence[Attribute] = (),
    settings: OrderSettings | None = None,
) -> AgreementAnswer:
    """Compare the orders of systems that measures, and segments of the queries, give.

    For each two measures, and for each two segments on each measure: Kendall's τ_b and τ_ap,b of the systems' means
    with bootstrap intervals over queries, Spearman's ρ, weighted τ, the pairs of systems that are ordered the other
    way, and whether the same system is best. Verdicts are those of the randomised Tukey test of all pairs of systems
    on each side. For each measure the mean swap probability of the pairs: how easily another sample of queries turns
    an order.

    Parameters
    ----------
    scores : Scores
        At least two systems.
    clusters : ndarray of int, shape (Q,), optional
        Cluster of each query; clusters are resampled whole.
    attributes : sequence of Attribute
        Ways to split the queries; segments of fewer than 10 queries are left out and named.
    settings : OrderSettings, optional
        Level, resamples, seed.

    Returns
    -------
    AgreementAnswer
        Rows of kind 'measures', 'segments', 'stability' and, where asked for, 'swaps'.

    Raises
    ------
    RankstatsError
        If there are fewer than two systems or no measure with values.

    Examples
    --------
    >>> values = np.random.default_rng(0).random((30, 6, 2)) / 4 + np.linspace(0, 1, 6)[:, None]
    >>> ids, systems = tuple(f"q{i:02}" for i in range(30)), tuple("abcdef")
    >>> from rankstats.tables import MeasureInfo
    >>> scores = Scores(values, ids, systems, (MeasureInfo("AP", "AP"), MeasureInfo("RR", "RR")))
    >>> agree_on_scores(scores, settings=OrderSettings(resamples=99)).value("kendall_tau_b", "AP", "RR")
    1.0
    """
    settings = settings or OrderSettings()
    check_systems(scores.systems)
    judging = judging_measures(scores)
    if not judging:
        raise PlanError("no measure has a value for every system on some query; there is no order to compare")
    sides = [Side.of(scores, m, settings, clusters) for m in judging]
    rows: list[AgreementRow] = []
    found = stats.order_agreements([side.values for side in sides], **settings.resampling) if len(sides) > 1 else ()
    for (first, second), order in zip(combinations(sides, 2), found, strict=True):
        rows += compared("measures", ("", first.name, second.name), (first, second), order)
    between, notes = _segments(scores, judging, attributes, settings, clusters)
    rows += between
    for side in sides:
        rows += stability(side, scores.systems, settings)
    systems = len(scores.systems)
    return AgreementAnswer(_answer(rows, systems), tuple(rows), (*order_notes(systems), *notes))


def judging_measures(scores: Scores) -> list[int]:
    """Return the measures that order systems: those defined on some query, without diagnostic ones among others."""
    defined_somewhere = np.flatnonzero(scores.defined().any(axis=0)).tolist()
    return [m for m in defined_somewhere if not scores.measures[m].diagnostic] or defined_somewhere


def check_systems(systems: Sequence[str]) -> None:
    """Raise where there are too few systems for an order."""
    if len(systems) < 2:
        raise PlanError(f"only one system ({systems[0] if systems else 'none'}); an order needs at least two")


def order_notes(systems: int) -> tuple[str, ...]:
    """Return what qualifies the correlations of orders of so many systems."""
    tests = "verdicts are those of the randomised Tukey test of all pairs of systems"
    if systems < FEW_SYSTEMS:
        return (f"with fewer than {FEW_SYSTEMS} systems few orders exist, so that their correlation is coarse", tests)
    return (tests,)


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One order of the systems: a measure's values, the higher the better, with the verdict on every pair.

    Attributes
    ----------
    name : str
        The measure.
    values : ndarray, shape (n, S)
        One row a query, or the sums of a cluster of queries, which order systems alike and are resampled whole; NaN
        where a system is not defined.
    outcome : ndarray of int, shape (pairs,)
        1 where the later system of a pair is shown to be better, −1 where the earlier one is, else 0.
    n : int
        Rows on which all systems are defined.
    """

    name: str
    values: Floats
    outcome: Codes
    n: int

    @classmethod
    def of(
        cls,
        scores: Scores,
        m: int,
        settings: OrderSettings,
        clusters: Codes | None = None,
        members: NDArray[np.bool_] | None = None,
    ) -> Side:
        """Test all pairs of systems on one measure, over some of the queries or all."""
        chosen = np.ones(len(scores.query_ids), dtype=np.bool_) if members is None else members
        info = scores.measures[m]
        values = scores.values[chosen, :, m] * (1.0 if info.higher_is_better else -1.0)
        if clusters is not None:
            values = _cluster_sums(values, clusters[chosen])
        test = stats.randomised_tukey(values, **settings.resampling)
        shown = test.p_adjusted <= settings.alpha
        outcome = np.where(shown, np.sign(test.estimate), 0).astype(np.int64)
        return cls(info.name, values, outcome, test.n)


def _cluster_sums(values: Floats, clusters: Codes) -> Floats:
    """Add up the rows of each cluster on which all systems are defined; NaN where there is none."""
    complete = ~np.isnan(values).any(axis=1)
    names, codes = np.unique(clusters, return_inverse=True)
    sums = np.zeros((len(names), values.shape[1]))
    np.add.at(sums, codes[complete], values[complete])
    sums[np.bincount(codes[complete], minlength=len(names)) == 0] = np.nan
    return sums


def compared(
    kind: str, names: tuple[str, str, str], sides: tuple[Side, Side], found: stats.OrderAgreement
) -> list[AgreementRow]:
    """Return the rows of two orders; `names` are what they are compared on, and those of the two."""
    about, *two = names
    level = 1 - found.alpha

    def row(statistic: str, value: float, n: int, ends: tuple[float, float] = (np.nan, np.nan)) -> AgreementRow:
        interval = Interval.from_ends(*ends, level, BOOTSTRAP)
        return AgreementRow(kind, two[0], two[1], about, ALL, statistic, defined(value), interval, n)

    systems, pairs = found.n_systems, len(sides[0].outcome)
    first, second = sides[0].outcome, sides[1].outcome
    return [
        row("kendall_tau_b", found.tau_b, systems, (found.tau_b_low, found.tau_b_high)),
        row("tau_ap_b", found.tau_ap_b, systems, (found.tau_ap_b_low, found.tau_ap_b_high)),
        row("spearman", found.rho, systems),
        row("weighted_tau", found.weighted_tau, systems),
        row("same_best", float(found.same_best), systems),
        row("opposite_pairs", found.opposite, pairs),
        row("same_verdict", int(np.count_nonzero(first == second)), pairs),
        row("verdict_by_first_only", int(np.count_nonzero((first != 0) & (second == 0))), pairs),
        row("verdict_by_second_only", int(np.count_nonzero((first == 0) & (second != 0))), pairs),
        row("opposite_verdict", int(np.count_nonzero(first * second < 0)), pairs),
    ]


def stability(side: Side, systems: Sequence[str], settings: OrderSettings, about: str = "") -> list[AgreementRow]:
    """Return how easily other queries turn the order of two systems: the mean, and every pair if asked."""
    found = stats.swap_probabilities(side.values, resamples=settings.resamples, rng=settings.seed)
    known = found.probability[~np.isnan(found.probability)]
    mean = float(np.mean(np.sort(known))) if len(known) else np.nan
    name = about or side.name
    rows = [AgreementRow("stability", name, "", "", ALL, "swap_probability", defined(mean), None, len(known))]
    if settings.pairs:
        rows += [
            AgreementRow("swaps", systems[a], systems[b], name, ALL, "swap_probability", defined(value), None, found.n)
            for a, b, value in zip(found.baseline, found.system, found.probability, strict=True)
        ]
    return rows


def _segments(
    scores: Scores,
    judging: Sequence[int],
    attributes: Sequence[Attribute],
    settings: OrderSettings,
    clusters: Codes | None,
) -> tuple[list[AgreementRow], list[str]]:
    rows: list[AgreementRow] = []
    notes: list[str] = []
    for attribute in attributes:
        size = {value: int(attribute.members(value).sum()) for value in attribute.values}
        small = [f"{value} ({n})" for value, n in size.items() if n < SMALLEST_VERDICT_N]
        if small:
            notes.append(
                f"segments of {attribute.name} below {SMALLEST_VERDICT_N} queries are left out: {', '.join(small)}"
            )
        large = [value for value, n in size.items() if n >= SMALLEST_VERDICT_N]
        for m in judging:
            sides = {value: Side.of(scores, m, settings, clusters, attribute.members(value)) for value in large}
            for first, second in combinations(large, 2):
                two = (sides[first], sides[second])
                found = stats.order_agreement(two[0].values, two[1].values, same_queries=False, **settings.resampling)
                names = (f"{scores.measures[m].name} by {attribute.name}", first, second)
                rows += compared("segments", names, two, found)
    return rows, notes


def _answer(rows: Sequence[AgreementRow], systems: int) -> str:
    known = [row for row in find(rows, "kendall_tau_b") if row.kind == "measures"]
    known = known or [row for row in find(rows, "kendall_tau_b") if row.kind == "segments"]
    if not known:
        return _on_stability(rows, systems)
    least = min(known, key=lambda row: row.value or 0.0)
    return f"{_which(least, len(known))} {order_sentence(rows, least)}."


def _which(row: AgreementRow, number: int) -> str:
    two = f"{row.first} and {row.second}"
    if row.kind == "segments":
        two = f"the segments {two} ({row.about})"
    if number == 1:
        return f"{two[0].upper()}{two[1:]} order" if row.kind == "segments" else f"{two} order"
    what = "segments" if row.kind == "segments" else "measures"
    return f"Of {count(number, 'pair')} of {what} {two} agree least: they order"


def order_sentence(rows: Sequence[AgreementRow], tau: AgreementRow) -> str:
    """Return, from the row of τ_b of two orders on, how alike they are and whether the verdicts are the same."""
    beside = {
        row.statistic: row
        for row in rows
        if (row.kind, row.first, row.second, row.about) == (tau.kind, tau.first, tau.second, tau.about)
    }
    best = "is the same" if beside["same_best"].value else "changes"
    same, pairs = int(beside["same_verdict"].value or 0), beside["same_verdict"].n
    verdicts = "all verdicts agree"
    if pairs > same:
        opposite = int(beside["opposite_verdict"].value or 0)
        against = f"{opposite:,}" if opposite else "none"
        differ = "differs" if pairs - same == 1 else "differ"
        verdicts = f"{count(pairs - same, 'verdict')} of {pairs:,} {differ}, {against} of them opposite"
    tau_b = f"Kendall \N{GREEK SMALL LETTER TAU}-b {with_interval(tau)}"
    return f"{count(tau.n, 'system')} with {tau_b}; the best system {best}, and {verdicts}"


def _on_stability(rows: Sequence[AgreementRow], systems: int) -> str:
    known = find(rows, "swap_probability")
    if not known:
        return f"All {systems} systems are tied; there is no order to compare."
    row = known[0]
    return (
        f"Another sample of queries would turn the order of two of the {systems} systems on {row.first} with a "
        f"probability of {percent(row.value, 1)} on average over {count(row.n, 'pair')}."
    )
