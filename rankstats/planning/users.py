"""Planning an experiment: units of each arm, days, and the smallest effects that can be found."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankstats import stats
from rankstats.comparison.result import plain
from rankstats.decision.reported_experiment import ReportedExperiment
from rankstats.errors import PlanError, RankstatsError
from rankstats.planning.queries import Terms

MEAN, SHARE = "mean", "share"
_CURVE_POINTS = 25
_SMALLEST_ARM = 10


@dataclass(frozen=True, slots=True)
class Traffic:
    """How many units there are, and which arms they go to.

    Attributes
    ----------
    users_per_day : tuple of float
        New units a day where it is one number; else the distinct units up to each day, ascending: users come back.
    arms : int
        Arms, the control included.
    control_share : float or None
        Share of the units that the control gets, the others sharing the rest equally; None for equal arms.
    """

    users_per_day: tuple[float, ...] = ()
    arms: int = 2
    control_share: float | None = None

    def __post_init__(self) -> None:
        steps = np.diff(self.users_per_day)
        if not all(0 < users < math.inf for users in self.users_per_day) or np.any(steps < 0):
            raise RankstatsError(
                "users per day: one number above 0, or the ascending numbers of distinct users up to each day"
            )
        if self.arms < 2:
            raise RankstatsError(f"arms = {self.arms}; an experiment has two arms or more, the control included")
        if self.control_share is not None and not 0 < self.control_share < 1:
            raise RankstatsError(f"control share = {self.control_share:g}; a share between 0 and 1 is expected")

    @property
    def shares(self) -> tuple[float, float]:
        """Shares of all units of the control and of one other arm."""
        control = 1 / self.arms if self.control_share is None else self.control_share
        return control, (1 - control) / (self.arms - 1)

    def units_by(self, days: int) -> float:
        """Return how many units there are after some days; infinite where nothing is known of them."""
        if not self.users_per_day:
            return math.inf
        if len(self.users_per_day) == 1:
            return self.users_per_day[0] * days
        return self.users_per_day[min(days, len(self.users_per_day)) - 1]

    def days_for(self, units: float) -> float | None:
        """Return the days until there are so many units; infinite where they never come, None where unknown."""
        if not self.users_per_day:
            return None
        if len(self.users_per_day) == 1:
            return float(math.ceil(units / self.users_per_day[0] - 1e-9))
        day = int(np.searchsorted(self.users_per_day, units))
        return float(day + 1) if day < len(self.users_per_day) else math.inf


@dataclass(frozen=True, slots=True)
class PlannedMetric:
    """What is known of a metric beforehand.

    Attributes
    ----------
    name : str or None
        Its name.
    kind : {'mean', 'share'}
        Whether it is read by Welch's t (means, ratios, whatever is adjusted by covariates) or as a share of units.
    level : float or None
        The control's mean, ratio or share; a share needs it.
    standard_deviation : float or None
        Of one unit's value (of a ratio: of its linear part), before covariates; a mean needs it.
    correlation : float
        Correlation with a covariate from before the experiment (CUPED); 0 without one.
    baseline, system : str or None
        The arms that the numbers come from.
    """

    name: str | None
    kind: str
    level: float | None = None
    standard_deviation: float | None = None
    correlation: float = 0.0
    baseline: str | None = None
    system: str | None = None

    def __post_init__(self) -> None:
        place = f"metric {self.name!r}: " if self.name else ""
        if self.kind == SHARE and not (self.level is not None and 0 < self.level < 1):
            raise PlanError(f"{place}base rate = {self.level}; a share between 0 and 1 is expected")
        if self.kind == MEAN and not (self.standard_deviation is not None and 0 < self.standard_deviation < math.inf):
            raise PlanError(f"{place}standard deviation = {self.standard_deviation}; a number above 0 is expected")
        if self.level is not None and not math.isfinite(self.level):
            raise PlanError(f"{place}mean = {self.level}; a finite number is expected")
        if not -1 < self.correlation < 1:
            raise PlanError(f"{place}correlation = {self.correlation:g}; a number between -1 and 1 is expected")

    @property
    def deviation(self) -> float:
        """Standard deviation of one unit's value, after covariates."""
        of_share = 0.0 if self.level is None else math.sqrt(max(self.level * (1 - self.level), 0.0))
        raw = of_share if self.kind == SHARE else float(self.standard_deviation or 0.0)
        return raw * math.sqrt(1 - self.correlation**2)

    @property
    def read_as_share(self) -> bool:
        """Whether the test of two shares reads it: with a covariate it is read as a mean."""
        return self.kind == SHARE and self.correlation == 0


@dataclass(frozen=True, slots=True)
class PlannedEffect:
    """What it takes to find an effect on a metric.

    Attributes
    ----------
    measure, baseline, system : str or None
        Metric, and the arms that its spread comes from.
    control_value : float or None
        The control's mean, ratio or share.
    standard_deviation : float
        Of one unit, after covariates.
    difference, relative_difference : float or None
        The wanted effect, absolute and as a fraction of the control.
    units : float or None
        Units of all arms together for which power and smallest detectable effect hold.
    days : float or None
        Days until there are so many.
    power_at_units : float or None
        Probability of finding the wanted effect with them.
    smallest_detectable, smallest_detectable_relative : float or None
        Effect that is found with the wanted power with them.
    units_needed : int or None
        Units of all arms with which the wanted effect is found with the wanted power.
    control_needed, arm_needed : int or None
        The same of the control, and of every other arm.
    days_needed : float or None
        Days until then; infinite where they never come.
    arms : int
        Arms, the control included.
    formula : str
        Where the power comes from.
    terms : Terms
        Level, power, comparisons, sides.
    """

    measure: str | None
    baseline: str | None
    system: str | None
    control_value: float | None
    standard_deviation: float
    difference: float | None
    relative_difference: float | None
    units: float | None
    days: float | None
    power_at_units: float | None
    smallest_detectable: float | None
    smallest_detectable_relative: float | None
    units_needed: int | None
    control_needed: int | None
    arm_needed: int | None
    days_needed: float | None
    arms: int
    formula: str
    terms: Terms
    metric: PlannedMetric
    traffic: Traffic

    noun = "units of all arms"
    segment = None
    simulated = None

    @property
    def n(self) -> int | None:
        """Units at hand, for the curve."""
        return None if self.units is None else round(self.units)

    @property
    def needed(self) -> int | None:
        """Units that are needed, for the curve."""
        return self.units_needed

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers under their names; undefined ones are None."""
        content: dict[str, Any] = plain(self)
        return content

    def curve(self, last: int | None = None) -> tuple[tuple[int, float | None, float], ...]:
        """Return rows of units, power for the wanted effect, and smallest detectable effect.

        Up to `last`, or about twice as many as are needed or at hand, over two decades, but from 10 units an arm on;
        evenly on a logarithmic scale.
        """
        least = math.ceil(_SMALLEST_ARM / min(self.traffic.shares))
        last = last or max(2 * (self.needed or 0), 2 * (self.n or 0), 10 * least)
        first = max(least, last // 100)
        grid = np.geomspace(first, last, _CURVE_POINTS).round().astype(int).tolist()
        marked = {n for n in (self.n, self.needed) if n is not None and first <= n <= last}
        rows = []
        for n in sorted({*grid, *marked}):
            found = plan_effect(self.metric, self.difference, units=n, traffic=self.traffic, terms=self.terms)
            smallest = found.smallest_detectable
            rows.append((n, found.power_at_units, math.nan if smallest is None else smallest))
        return tuple(rows)


def plan_effect(
    metric: PlannedMetric,
    difference: float | None = None,
    *,
    relative: bool = False,
    units: float | None = None,
    traffic: Traffic | None = None,
    terms: Terms | None = None,
) -> PlannedEffect:
    """Return what a metric says about the units that an experiment needs.

    Every other arm is compared with the control, each at alpha / comparisons (Bonferroni).

    Parameters
    ----------
    metric : PlannedMetric
        What is known of it.
    difference : float, optional
        The wanted effect, not 0, with its sign.
    relative : bool
        Whether it is a fraction of the control.
    units : float, optional
        Units of all arms together, for power and smallest detectable effect.
    traffic : Traffic, optional
        Units a day, arms and their shares.
    terms : Terms, optional
        Level, power, comparisons, sides.

    Raises
    ------
    RankstatsError
        If a number is out of range.

    Examples
    --------
    >>> found = plan_effect(PlannedMetric("paid", "share", 0.05), 0.01, traffic=Traffic((2000,)))
    >>> found.units_needed, found.control_needed, found.days_needed
    (16316, 8158, 9.0)
    """
    asked, going = terms or Terms(), traffic or Traffic()
    control, arm = going.shares
    both = control + arm
    if relative and not metric.level:
        raise PlanError("a difference in % is of the control: say its base rate or mean (--base-rate, --mean)")
    wanted = None if difference is None else difference * (abs(metric.level or 0.0) if relative else 1.0)
    if wanted is not None and metric.kind == SHARE and not 0 < (reached := float(metric.level or 0.0) + wanted) < 1:
        raise PlanError(
            f"a base rate of {metric.level:g} and a difference of {wanted:g} make {reached:g}, which is no share of "
            "units; a fraction of the control is written in %, such as 10%"
        )
    pair_units = None if units is None else units * both
    if pair_units is not None and pair_units * min(control, arm) / both < 2:
        raise RankstatsError(f"units = {units:g}; at least two in each arm are expected")
    found = _plan(metric, wanted, pair_units, arm / both, asked)
    needed = None if wanted is None else float(found.units_needed[0])
    known = needed is not None and math.isfinite(needed)
    arms_needed = (int(found.control_needed[0]), int(found.treatment_needed[0])) if known else None
    total = None if arms_needed is None else arms_needed[0] + (going.arms - 1) * arms_needed[1]
    detectable = None if units is None else _defined(found.smallest_detectable[0])
    return PlannedEffect(
        measure=metric.name,
        baseline=metric.baseline,
        system=metric.system,
        control_value=metric.level,
        standard_deviation=metric.deviation,
        difference=wanted,
        relative_difference=_share_of(wanted, metric.level),
        units=units,
        days=None if units is None else going.days_for(units),
        power_at_units=None if units is None or wanted is None else _defined(found.power_at_units[0]),
        smallest_detectable=detectable,
        smallest_detectable_relative=_share_of(detectable, metric.level),
        units_needed=total,
        control_needed=None if arms_needed is None else arms_needed[0],
        arm_needed=None if arms_needed is None else arms_needed[1],
        days_needed=None if total is None else going.days_for(total),
        arms=going.arms,
        formula=found.formula,
        terms=asked,
        metric=metric,
        traffic=going,
    )


def _plan(
    metric: PlannedMetric, wanted: float | None, units: float | None, share: float, terms: Terms
) -> stats.ExperimentPlan:
    asked: dict[str, Any] = {
        "units": units,
        "treatment_share": share,
        "alpha": terms.alpha,
        "power": terms.power,
        "two_sided": terms.two_sided,
        "family_size": terms.comparisons,
    }
    if metric.read_as_share:
        level = float(metric.level or 0.0)
        # without a wanted effect any one upwards leaves the smallest detectable one what it is
        return stats.plan_proportions(level, (1 - level) / 2 if wanted is None else wanted, **asked)
    return stats.plan_means(metric.deviation**2, metric.deviation if wanted is None else wanted, **asked)


def _share_of(size: float | None, level: float | None) -> float | None:
    return None if size is None or not level else size / abs(level)


def _defined(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def metrics_of_report(
    report: Mapping[str, Any], measures: Sequence[str] = (), *, system: str | None = None
) -> tuple[PlannedMetric, ...]:
    """Return what an earlier experiment says of its metrics: level and spread of the control's units.

    Metrics that were adjusted by covariates keep what the covariates left; quantiles are taken as if they were means.

    Parameters
    ----------
    report : mapping
        The content of a report.json of kind 'experiment'.
    measures : sequence of str
        Metrics; the primary ones of the report if none are named.
    system : str, optional
        The arm whose row is taken; the first one if not given.

    Raises
    ------
    RankstatsError
        If a metric or an arm is not in the report, or the control has no spread.
    """
    reported = ReportedExperiment(report)
    names = [reported.measure(text) for text in measures] or list(report.get("primary") or reported.measures)
    other = system or next(name for name in reported.systems if name != reported.control)
    reported.check_system(other, "system")
    return tuple(_metric_of(reported, name, (reported.control, other)) for name in names)


def _metric_of(reported: ReportedExperiment, name: str, arms: tuple[str, str]) -> PlannedMetric:
    pair = reported.pair(name, arms, None)
    level = float(pair.control[0])
    # what adjusted arms share is the covariates' mean over all units, which no difference has
    variance = float(pair.control_variance[0] - pair.covariance[0]) * float(pair.control_n[0])
    rest: dict[str, Any] = {"level": level, "baseline": arms[0], "system": arms[1]}
    if reported.counts(name, arms, None) is not None and 0 < level < 1:
        return PlannedMetric(name, SHARE, **rest)
    if not variance > 0:
        raise PlanError(f"metric {name!r}: {arms[0]} has no spread in the report, so nothing can be planned from it")
    return PlannedMetric(name, MEAN, standard_deviation=math.sqrt(variance), **rest)


def with_correlation(metrics: Iterable[PlannedMetric], correlation: Mapping[str, float]) -> tuple[PlannedMetric, ...]:
    """Return metrics with the correlations of their covariates, by name; '' stands for all that are not named."""
    return tuple(
        replace(metric, correlation=correlation.get(metric.name or "", correlation.get("", 0.0))) for metric in metrics
    )
