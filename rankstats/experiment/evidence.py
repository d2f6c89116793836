"""What an experiment is read from: units by arm and, for each metric, their moments over all units and by segment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rankstats.experiment.metrics import Metric
from rankstats.experiment.summary import ExperimentSummary
from rankstats.stats import ArmQuantiles, DailyMoments, PoissonSums, UnitMoments, WinsorisingCap
from rankstats.tables.judgments import Source


@dataclass(frozen=True, slots=True)
class Cell:
    """A segment, or all units where the attribute is empty: units of each arm."""

    attribute: str
    value: str
    n: tuple[int, ...]

    @property
    def segment(self) -> dict[str, str] | None:
        """The segment of report.json."""
        return {"attribute": self.attribute, "value": self.value} if self.attribute else None


@dataclass(frozen=True, slots=True)
class Dominant:
    """A unit that makes up much of the spread of an arm: its share of the sum of squares, the arm without it."""

    unit: str
    arm: int
    value: float
    share: float
    without: UnitMoments


@dataclass(frozen=True, slots=True)
class MetricEvidence:
    """A metric over the arms.

    Attributes
    ----------
    metric : Metric
        What is computed.
    arms : tuple of UnitMoments
        One an arm, a column a cell; the metric (or numerator and denominator), then covariates. Empty for quantiles.
    binary : bool
        Whether every unit has 0 or 1.
    uncapped : tuple of UnitMoments
        The same before winsorising, over all units; empty where nothing is capped.
    quantiles : tuple of tuple of (ArmQuantiles or None)
        One an arm, then one a cell; empty for other kinds.
    cap : WinsorisingCap or None
        The cap, one entry an arm.
    dominant : Dominant or None
        A unit that makes up much of the spread.
    thirds : tuple of float
        Third central moment of each arm's units; empty where arms are about equal, or values are 0 and 1.
    absent : tuple of int
        Units of each arm that have no value.
    empty_cells : int
        Cells of rows without a value.
    daily : tuple of DailyMoments
        One an arm; empty where rows have no time.
    replicates : tuple of PoissonSums
        One an arm, a column a cell: resamples of the units, without covariates; empty where none are asked for.
    """

    metric: Metric
    arms: tuple[UnitMoments, ...]
    binary: bool = False
    uncapped: tuple[UnitMoments, ...] = ()
    quantiles: tuple[tuple[ArmQuantiles | None, ...], ...] = ()
    cap: WinsorisingCap | None = None
    dominant: Dominant | None = None
    thirds: tuple[float, ...] = ()
    absent: tuple[int, ...] = ()
    empty_cells: int = 0
    daily: tuple[DailyMoments, ...] = ()
    replicates: tuple[PoissonSums, ...] = ()

    @property
    def is_ratio(self) -> bool:
        """Whether the first two variables are numerator and denominator."""
        return self.metric.expression.kind == "ratio"

    @property
    def covariates(self) -> bool:
        """Whether there are covariates behind the metric."""
        return bool(self.arms) and self.arms[0].n_variables > (2 if self.is_ratio else 1)


@dataclass(frozen=True, slots=True)
class Evidence:
    """An experiment as it was read.

    Attributes
    ----------
    arms : tuple of str
        The control first, then the others by name.
    units : tuple of int
        Randomised units of each arm.
    shares : tuple of float
        Designed shares, adding up to 1.
    cells : tuple of Cell
        All units, then the segments.
    metrics : tuple of MetricEvidence
        In the order of the settings.
    unit : str or None
        Column of the unit; None where every row is a unit.
    source_kind : {'rows', 'aggregates', 'summaries'}
        What was read.
    covariates : mapping of str to tuple of UnitMoments
        Moments of each covariate by arm.
    sources : tuple of Source
        Files with digests.
    rows : int
        Rows read.
    counts : mapping of str to int
        What was left out or odd: ``twice`` (units in two arms), ``unassigned``, ``relabelled``, ``before``,
        ``repeated`` (rows whose unit-like column repeats) …
    notes : tuple of str
        What was decided and could surprise.
    summary : ExperimentSummary or None
        The sums that can be merged with those of other units, where they are asked for or were read.
    """

    arms: tuple[str, ...]
    units: tuple[int, ...]
    shares: tuple[float, ...]
    cells: tuple[Cell, ...]
    metrics: tuple[MetricEvidence, ...]
    unit: str | None
    source_kind: str
    covariates: Mapping[str, tuple[UnitMoments, ...]] = field(default_factory=dict)
    sources: tuple[Source, ...] = ()
    rows: int = 0
    counts: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    summary: ExperimentSummary | None = None

    @property
    def attributes(self) -> tuple[str, ...]:
        """The segment attributes, in order."""
        return tuple(dict.fromkeys(cell.attribute for cell in self.cells if cell.attribute))
