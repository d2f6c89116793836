"""Planning: how many queries a wanted difference takes, and what the queries at hand can show."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankstats import stats
from rankstats.comparison.result import plain
from rankstats.decision.reported import Reported
from rankstats.errors import PlanError, RankstatsError
from rankstats.stats import Differences

if TYPE_CHECKING:
    from rankstats.comparison import Comparison

SMALLEST_CURVE_N = 10
_CURVE_POINTS = 25
_MOST_QUERIES = 100_000_000


@dataclass(frozen=True, slots=True)
class Terms:
    """What is wanted of a test.

    Attributes
    ----------
    alpha : float
        Level of the family.
    power : float
        Wanted probability of finding the difference.
    comparisons : int
        Comparisons m that are made together; each is tested at alpha / m (Bonferroni).
    two_sided : bool
        Whether the test is two-sided.
    """

    alpha: float = 0.05
    power: float = 0.8
    comparisons: int = 1
    two_sided: bool = True


@dataclass(frozen=True, slots=True)
class Simulated:
    """The same by simulation from the queries at hand, each with its Monte Carlo interval of level 0.95.

    `queries_needed` is infinite where 20,000 queries are not enough.
    """

    test: str
    repetitions: int
    smallest_detectable: float
    smallest_detectable_low: float
    smallest_detectable_high: float
    power_at_n: float | None
    power_low: float | None
    power_high: float | None
    queries_needed: float | None
    queries_low: float | None
    queries_high: float | None


@dataclass(frozen=True, slots=True)
class PlannedDifference:
    """What it takes to find a difference.

    Attributes
    ----------
    measure, baseline, system : str or None
        Where the standard deviation comes from; None where it was given.
    segment : mapping or None
        Attribute and value; None for all queries.
    n : int or None
        Queries for which power and smallest detectable difference hold.
    per_unit : float
        Queries that stand for one independent unit: 1, or the mean size of a cluster.
    standard_deviation : float or None
        Of the differences, a unit; None where the data do not tell.
    difference : float or None
        The wanted difference.
    power_at_n, queries_needed, smallest_detectable : float, int, float or None
        By the paired t test.
    terms : Terms
        Level, power, comparisons, sides.
    simulated : Simulated or None
        The same by simulation.
    """

    measure: str | None
    baseline: str | None
    system: str | None
    segment: Mapping[str, str] | None
    n: int | None
    per_unit: float
    standard_deviation: float | None
    difference: float | None
    power_at_n: float | None
    queries_needed: int | None
    smallest_detectable: float | None
    terms: Terms
    simulated: Simulated | None = None

    noun = "queries"

    @property
    def needed(self) -> int | None:
        """Queries that are needed, for the curve."""
        return self.queries_needed

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers under their names; undefined ones are None."""
        content: dict[str, Any] = plain(self)
        return content

    def curve(self, last: int | None = None) -> tuple[tuple[int, float | None, float], ...]:
        """Return rows of queries, power for the wanted difference, and smallest detectable difference.

        From 10 queries to `last`, or about twice as many as are needed or at hand, evenly on a logarithmic scale; empty
        where the standard deviation is not known.
        """
        if not self.standard_deviation:
            return ()
        last = last or max(2 * (self.queries_needed or 0), 2 * (self.n or 0), 10 * SMALLEST_CURVE_N)
        grid = np.geomspace(SMALLEST_CURVE_N, last, _CURVE_POINTS).round().astype(int).tolist()
        marked = {n for n in (self.n, self.queries_needed) if n is not None and SMALLEST_CURVE_N <= n <= last}
        rows = []
        for n in sorted({*grid, *marked}):
            units = max(2, round(n / self.per_unit))
            found = _by_formula(self.standard_deviation, self.difference, units, self.terms)
            rows.append((n, found[0], found[2]))
        return tuple(rows)


def plan_deviation(
    standard_deviation: float, difference: float | None = None, *, n: int | None = None, terms: Terms | None = None
) -> PlannedDifference:
    """Return what a standard deviation of per-query differences says.

    Parameters
    ----------
    standard_deviation : float
        Above 0.
    difference : float, optional
        The wanted mean difference, not 0.
    n : int, optional
        Queries, 2 or more, for power and smallest detectable difference.
    terms : Terms, optional
        Level, power, comparisons, sides.

    Raises
    ------
    RankstatsError
        If a number is out of range.

    Examples
    --------
    >>> planned = plan_deviation(1.0, 0.2, n=50)
    >>> planned.queries_needed, round(planned.power_at_n, 6), round(planned.smallest_detectable, 4)
    (199, 0.283592, 0.4042)
    """
    asked = terms or Terms()
    if not 0 < standard_deviation < math.inf:
        raise RankstatsError(f"standard deviation = {standard_deviation:g}; a number above 0 is expected")
    if n is not None and n < 2:
        raise RankstatsError(f"n = {n}; 2 queries or more are expected")
    power, needed, detectable = _by_formula(standard_deviation, difference, n, asked)
    return PlannedDifference(
        None,
        None,
        None,
        None,
        n,
        1.0,
        standard_deviation,
        difference,
        power,
        needed,
        None if n is None else detectable,
        asked,
    )


def plan_report(
    report: Mapping[str, Any] | Comparison,
    difference: float | Mapping[str, float] | None = None,
    *,
    measures: Sequence[str] = (),
    baseline: str | None = None,
    system: str | None = None,
    segments: Sequence[str] = (),
    n: int | None = None,
    terms: Terms | None = None,
    simulate: str | None = None,
    repetitions: int = 1000,
    resamples: int = 999,
) -> tuple[PlannedDifference, ...]:
    """Return what the differences of a finished report say about the queries that are needed.

    Only their spread is used, with the weights and clusters of the report, never their mean: the power for the
    difference that happened to be observed says no more than its p-value.

    Parameters
    ----------
    report : mapping or Comparison
        The content of a report.json, or a comparison.
    difference : float or mapping of str to float, optional
        The wanted difference, for all measures or by measure.
    measures : sequence of str
        Measures; those that a difference is wanted for, or all of the report that are not diagnostic, if there is none.
    baseline, system : str, optional
        Names; the compared pairs of the report if not given.
    segments : sequence of str
        Attributes whose segments get rows of their own.
    n : int, optional
        Queries for power and smallest detectable difference; those at hand if not given.
    terms : Terms, optional
        Level, power, comparisons and sides.
    simulate : {None, 'randomisation', 'bootstrap', 't'}
        Test to simulate as well.
    repetitions, resamples : int
        Simulated data sets, and sign patterns or resamples in each.

    Returns
    -------
    tuple of PlannedDifference
        One a measure, pair and segment, all queries first.

    Raises
    ------
    RankstatsError
        If a name is not in the report or a number is out of range.
    """
    reported = Reported(report if isinstance(report, Mapping) else report.to_dict())
    asked = terms or Terms()
    listed = measures or (list(difference) if isinstance(difference, Mapping) else ())
    names = [reported.measure(text) for text in listed] or _outcome_measures(reported)
    wanted = _wanted(difference, reported, names)
    rows = []
    for measure in names:
        for pair in _pairs(reported, baseline, system):
            whole = reported.differences(measure, *pair)
            for segment, column in _parts(reported, whole, segments):
                planned = _planned(reported, column, (measure, *pair), segment, wanted.get(measure), n=n, terms=asked)
                if simulate is not None:
                    planned = _simulated(
                        reported, planned, column, test=simulate, repetitions=repetitions, resamples=resamples
                    )
                rows.append(planned)
    return tuple(rows)


def family_size(report: Mapping[str, Any]) -> int:
    """Return the number of comparisons that the claims of a report were corrected for."""
    sizes = [
        family.get("size") or len(family["members"])
        for family in report["families"]
        if family["role"] == "confirmatory"
    ]
    return max([1, *sizes[:1]])


def _outcome_measures(reported: Reported) -> list[str]:
    return [
        name
        for name, row in reported.measures.items()
        if not row.get("diagnostic") and reported.aggregate(name) != "together"
    ]


def _wanted(
    difference: float | Mapping[str, float] | None, reported: Reported, measures: Iterable[str]
) -> dict[str, float]:
    if difference is None:
        return {}
    if not isinstance(difference, Mapping):
        return dict.fromkeys(measures, float(difference))
    return {reported.measure(text): float(size) for text, size in difference.items()}


def _pairs(reported: Reported, baseline: str | None, system: str | None) -> list[tuple[str, str]]:
    for role, name in (("baseline", baseline), ("system", system)):
        if name is not None:
            reported.check_system(name, role)
    if baseline is not None and system is not None:
        return [(baseline, system)]
    rows = [(row["baseline"], row["system"]) for row in reported.report["differences"]]
    pairs = [pair for pair in dict.fromkeys(rows) if baseline in (None, pair[0]) and system in (None, pair[1])]
    if not pairs:
        raise PlanError(f"the report compares no pair of baseline {baseline!r} and system {system!r}; name both")
    return pairs


def _parts(
    reported: Reported, whole: Differences, attributes: Sequence[str]
) -> list[tuple[dict[str, str] | None, Differences]]:
    parts: list[tuple[dict[str, str] | None, Differences]] = [(None, whole)]
    for attribute in attributes:
        for value, members in reported.segments(attribute).items():
            parts.append(({"attribute": attribute, "value": value}, whole.within(members)))
    return parts


def _units(reported: Reported, column: Differences) -> Differences:
    return column if reported.clusters is None else stats.cluster_sums(column, reported.clusters)


def _planned(
    reported: Reported,
    column: Differences,
    names: tuple[str, str, str],
    segment: dict[str, str] | None,
    difference: float | None,
    *,
    n: int | None,
    terms: Terms,
) -> PlannedDifference:
    units = _units(reported, column)
    at_hand, count = int(column.n[0]), int(units.n[0])
    per_unit = at_hand / count if count else 1.0
    spread = float(units.standard_error[0]) * math.sqrt(count) if count > 1 else math.nan
    queries = at_hand if n is None else n
    known = spread > 0
    power, needed, detectable = (
        _by_formula(spread, difference, max(2, round(queries / per_unit)), terms) if known else (None, None, None)
    )
    return PlannedDifference(
        *names,
        segment,
        queries,
        per_unit,
        spread if known else None,
        difference,
        power,
        None if needed is None else math.ceil(needed * per_unit),
        detectable,
        terms,
    )


def _by_formula(
    spread: float, difference: float | None, units: int | None, terms: Terms
) -> tuple[float | None, int | None, float]:
    """Return power, units needed and smallest detectable difference of the paired t test."""
    asked: dict[str, Any] = {"alpha": terms.alpha, "power": terms.power, "two_sided": terms.two_sided}
    asked["family_size"] = terms.comparisons
    detectable = math.nan
    if units is not None:
        detectable = stats.detectable_shift(units, **asked) * spread / math.sqrt(units)
    if difference is None:
        return None, None, detectable
    if difference != 0 and (spread / difference) ** 2 > _MOST_QUERIES:
        raise RankstatsError(f"difference = {difference:g} is too small beside a standard deviation of {spread:g}")
    needed = stats.queries_needed(spread, difference, **asked)
    if units is None:
        return None, needed, detectable
    level = terms.alpha / terms.comparisons
    shift = abs(difference) / spread * math.sqrt(units)
    return stats.t_power(shift, units - 1, alpha=level, two_sided=terms.two_sided), needed, detectable


def _simulated(
    reported: Reported,
    planned: PlannedDifference,
    column: Differences,
    *,
    test: str,
    repetitions: int,
    resamples: int,
) -> PlannedDifference:
    """Add the simulation; nothing where the spread is not known."""
    if planned.standard_deviation is None or planned.n is None:
        return planned
    units, terms = _units(reported, column), planned.terms
    wanted = planned.difference
    asked: dict[str, Any] = {
        "test": test,
        "alpha": terms.alpha,
        "power": terms.power,
        # one-sided: in the direction of the wanted difference
        "alternative": "two-sided" if terms.two_sided else "less" if (wanted or 1.0) < 0 else "greater",
        "family_size": terms.comparisons,
        "repetitions": repetitions,
        "resamples": max(resamples, math.ceil(2 * terms.comparisons / terms.alpha) - 1),
        "rng": reported.seed,
    }
    at = stats.simulated_power(units, wanted or 0.0, n=max(2, round(planned.n / planned.per_unit)), **asked)
    found = None if wanted is None else stats.simulated_queries_needed(units, wanted, **asked)

    simulated = Simulated(
        test=test,
        repetitions=repetitions,
        smallest_detectable=float(at.smallest_detectable[0]),
        smallest_detectable_low=float(at.detectable_low[0]),
        smallest_detectable_high=float(at.detectable_high[0]),
        power_at_n=None if wanted is None else float(at.power_at_n[0]),
        power_low=None if wanted is None else float(at.power_low[0]),
        power_high=None if wanted is None else float(at.power_high[0]),
        queries_needed=_queries(found, "queries_needed", planned.per_unit),
        queries_low=_queries(found, "queries_low", planned.per_unit),
        queries_high=_queries(found, "queries_high", planned.per_unit),
    )
    return replace(planned, simulated=simulated)


def _queries(found: stats.SimulatedQueriesResult | None, name: str, per_unit: float) -> float | None:
    number = math.nan if found is None else float(getattr(found, name)[0]) * per_unit
    return None if math.isnan(number) else number if math.isinf(number) else math.ceil(number)
