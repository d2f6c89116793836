"""Settings of an experiment: what the plan's ``[experiment]`` section and the options say, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from rankstats.errors import PlanError, did_you_mean
from rankstats.experiment.metrics import Metric, metric_from_mapping, with_roles
from rankstats.experiment.segments import attribute_of
from rankstats.plan import Plan
from rankstats.stats import SPENDING

DESIGNS = ("fixed", "group-sequential", "confidence-sequence")


@dataclass(frozen=True, slots=True)
class ExperimentSettings:
    """Everything that decides the numbers of a readout.

    Attributes
    ----------
    rows : tuple of (str or None, str)
        Arm and file; None where the rows name their arm.
    unit, arm : str or None
        Columns of the randomised unit and of the arm.
    control : str or None
        The arm that the others are compared with.
    shares : mapping of str to float
        Relative sizes of the arms by design; equal when empty.
    metrics : tuple of Metric
        At least one of them primary.
    segments : tuple of str
        ``COLUMN``, ``COLUMN:q4`` (quantiles) or ``A+B``, known before the experiment.
    trigger : str or None
        Column of rows (or of the assignments) that is above 0, or true, where the arms would have differed.
    assignments : str or None
        File of all units with their arms, also of those without rows.
    exposed_at, time : str or None
        Columns of a unit's first exposure and of a row's time.
    timezone : str
        In which days are counted.
    looks : tuple of float
        Fractions of the planned information at which the experiment is looked at.
    look : int or None
        Which look this is, from 1; None: the last, or the only one.
    design : {'fixed', 'group-sequential', 'confidence-sequence'} or None
        How looks are allowed for; None: group-sequential where several looks are planned, else fixed.
    spending : str
        Spending function of a group-sequential design.
    planned_units : int or None
        Units of all arms together that the experiment is planned for.
    alpha : float
        Level.
    title : str or None
        Title of the report.
    overridden : tuple of str
        What options changed of the plan.
    """

    rows: tuple[tuple[str | None, str], ...] = ()
    unit: str | None = None
    arm: str | None = None
    control: str | None = None
    shares: Mapping[str, float] = field(default_factory=dict)
    metrics: tuple[Metric, ...] = ()
    segments: tuple[str, ...] = ()
    trigger: str | None = None
    assignments: str | None = None
    exposed_at: str | None = None
    time: str | None = None
    timezone: str = "UTC"
    looks: tuple[float, ...] = ()
    look: int | None = None
    design: str | None = None
    spending: str = "obrien-fleming"
    planned_units: int | None = None
    alpha: float = 0.05
    title: str | None = None
    overridden: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for what, value, known in (("design", self.design, DESIGNS), ("spending", self.spending, SPENDING)):
            if value is not None and value not in known:
                raise PlanError(
                    f"{what} {value!r} is unknown; choose one of {', '.join(known)}" + did_you_mean(value, known)
                )
        if not 1e-6 <= self.alpha < 0.5:
            raise PlanError(f"alpha = {self.alpha} is not between 1e-06 and 0.5; 0.05 is usual")
        self._check_arms()
        self._check_segments()
        self._check_looks()

    def _check_arms(self) -> None:
        for name, share in self.shares.items():
            if not 0 <= share < float("inf"):
                raise PlanError(f"share of {name!r} is {share:g}; relative sizes of 0 or more are expected")
        if self.shares and sum(share > 0 for share in self.shares.values()) < 2:
            raise PlanError("shares: at least two arms need a share above 0")
        if self.control is not None and self.shares and self.control not in self.shares:
            raise PlanError(
                f"control {self.control!r} has no share (shares: {', '.join(self.shares)})"
                + did_you_mean(self.control, self.shares)
            )
        if self.trigger is not None and self.trigger in self.segments:
            raise PlanError(f"{self.trigger!r} is given as trigger and as segment; the trigger makes its own segments")
        if self.unit is not None and self.unit == self.arm:
            raise PlanError(
                f"{self.unit!r} is given as unit and as arm; name the column of what was randomised (--unit)"
            )
        named = [arm for arm, _ in self.rows]
        if self.arm is not None and any(arm is not None for arm in named):
            raise PlanError("give the arm as ARM=FILE or as a column of the rows (--arm), not both")
        if None in named and any(arm is not None for arm in named):
            raise PlanError("some files are named ARM=FILE and some are not; name all, or none")

    def _check_segments(self) -> None:
        """Refuse segments by what a metric measures: the treatment changes who is in them."""
        for segment in self.segments:
            for column in attribute_of(segment).columns:
                measured = [metric.name for metric in self.metrics if column in metric.expression.columns]
                if measured:
                    raise PlanError(
                        f"segment {segment!r}: {column!r} is what the metric {measured[0]!r} measures: the treatment "
                        "may change who is in it; name a column from before the experiment"
                    )

    def _check_looks(self) -> None:
        if list(self.looks) != sorted(set(self.looks)) or any(not 0 < look <= 1 for look in self.looks):
            raise PlanError("looks: ascending fractions of the planned information up to 1 are expected: 0.5, 1")
        if self.look is not None and (self.look < 1 or (self.looks and self.look > len(self.looks))):
            planned = f"; {len(self.looks)} are planned" if self.looks else ""
            raise PlanError(f"look = {self.look}: looks are counted from 1{planned}")
        if self.design == "group-sequential" and not self.looks:
            raise PlanError("a group-sequential design needs its looks: looks = [0.5, 1.0] (--looks 0.5,1)")
        if self.design == "confidence-sequence" and not self.planned_units:
            raise PlanError(
                "a confidence sequence needs the number of units that the experiment is planned for, stated before it "
                "starts: planned_units (--planned-units)"
            )
        if self.planned_units is not None and self.planned_units < 1:
            raise PlanError(f"planned_units = {self.planned_units}; a number of units of at least 1 is expected")

    @property
    def reads(self) -> str:
        """The design that is carried out."""
        return self.design or ("group-sequential" if len(self.looks) > 1 else "fixed")

    @property
    def look_number(self) -> int:
        """Which look this is, from 1."""
        return self.look or max(1, len(self.looks))

    def to_dict(self) -> dict[str, Any]:
        """Return the settings under the keys of a plan file."""
        given = {
            "rows": [path if arm is None else {"arm": arm, "file": path} for arm, path in self.rows],
            "unit": self.unit,
            "arm": self.arm,
            "control": self.control,
            "shares": dict(self.shares),
            "trigger": self.trigger,
            "assignments": self.assignments,
            "exposed_at": self.exposed_at,
            "time": self.time,
            "timezone": self.timezone,
            "looks": list(self.looks),
            "look": self.look,
            "design": self.design,
            "spending": self.spending if self.reads == "group-sequential" else None,
            "planned_units": self.planned_units,
            "metric": [metric.to_dict() for metric in self.metrics],
        }
        return {
            "schema_version": "1",
            "comparison": {"segments": list(self.segments)},
            "statistics": {"alpha": self.alpha},
            "experiment": {key: value for key, value in given.items() if value not in (None, [], {})},
            "overridden": list(self.overridden),
        }


def settings_from_plan(plan: Plan) -> ExperimentSettings:
    """Return the settings of a plan: its ``[experiment]`` section, segments, alpha and title.

    Raises
    ------
    PlanError
        If they contradict each other.
    """
    if plan.alternative != "two-sided":
        raise PlanError("an experiment is read two-sided; leave alternative out (guards are one-sided by themselves)")
    section = dict(plan.experiment)
    rows = tuple(section.pop("metric", ()))
    metrics = tuple(metric_from_mapping(row) for row in rows)
    stated = frozenset(metric.name for metric, row in zip(metrics, rows, strict=True) if "role" in row)
    return ExperimentSettings(
        metrics=with_roles(metrics, stated),
        segments=plan.segments,
        alpha=plan.alpha,
        title=plan.title,
        **section,
    )


def overridden(settings: ExperimentSettings, changes: Mapping[str, Any]) -> ExperimentSettings:
    """Return the settings with those replaced that options give; None and empty ones are not given."""
    given = {name: value for name, value in changes.items() if value is not None and value not in ((), {}, "")}
    default = ExperimentSettings()
    noted = [
        f"{name}: changed by option"
        for name, value in given.items()
        if getattr(settings, name) != getattr(default, name) and getattr(settings, name) != value
    ]
    return replace(settings, **given, overridden=settings.overridden + tuple(noted))
