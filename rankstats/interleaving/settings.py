"""Settings of an interleaving readout, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from rankstats.errors import PlanError, did_you_mean
from rankstats.experiment.settings import ExperimentSettings
from rankstats.plan import SCHEMA_VERSION, Plan
from rankstats.plan.settings import is_given
from rankstats.stats.interleaving import OUTCOMES

TAU = 3.0
SCHEMES = ("team-draft", "balanced", "probabilistic")
COLUMNS: dict[str, tuple[str, ...]] = {
    "query": ("query_id", "qid", "query"),
    "unit": ("unit_id", "unit", "user_id", "user", "uid", "visitor_id", "visitor", "session_id", "session"),
    "impression": ("impression_id", "impression", "serp_id", "page_id", "search_id", "request_id"),
    "ranker_a": ("ranker_a",),
    "ranker_b": ("ranker_b",),
    "position": ("position", "pos"),
    "team": ("team",),
    "clicked": ("clicked", "click", "clicks"),
    "rank_a": ("rank_a",),
    "rank_b": ("rank_b",),
}
"""What a column may hold, and the names that are recognised, in any case; the first that is there is taken."""


@dataclass(frozen=True, slots=True)
class InterleavingSettings:
    """Everything that decides the numbers of an interleaving readout.

    Attributes
    ----------
    logs : tuple of str
        Files of rows, one row a result shown.
    columns : mapping of str to str
        Column of each role of `COLUMNS` that is not called by a usual name.
    scheme : {'team-draft', 'balanced', 'probabilistic'} or None
        How pages were made; None: team-draft where there is a column of teams.
    outcome : {'wins', 'clicks'} or None
        What the verdict is about; None: wins, and credited clicks of probabilistic pages, whose shares of clicks have
        no wins that random clicks would split evenly.
    rankers : tuple of str
        Names of ranker a and ranker b where the log has no columns of them.
    baseline : str or None
        The ranker that the others are compared with.
    list_length : int or None
        Length of the rankers' lists from which probabilistic pages were drawn.
    tau : float
        Decay of the drawing of probabilistic pages.
    segments : tuple of str
        Columns of the log or of the query table, or ``length``, ``popularity`` of the query table.
    queries : str or None
        The query table.
    id_column, text, frequency : str or None
        Columns of the query table: query id, text (for ``length``), frequency (for ``popularity``).
    alpha, resamples, seed
        Level of tests and intervals; sign patterns; seed.
    looks, look, design, spending, planned_units
        How looks are allowed for; see `ExperimentSettings`.
    title : str or None
        Title of the report.
    overridden : tuple of str
        Settings of a plan that options on the command line changed.
    """

    logs: tuple[str, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    scheme: str | None = None
    outcome: str | None = None
    rankers: tuple[str, ...] = ()
    baseline: str | None = None
    list_length: int | None = None
    tau: float = TAU
    segments: tuple[str, ...] = ()
    queries: str | None = None
    id_column: str | None = None
    text: str | None = None
    frequency: str | None = None
    alpha: float = 0.05
    resamples: int = 10_000
    seed: int = 0
    looks: tuple[float, ...] = ()
    look: int | None = None
    design: str | None = None
    spending: str = "obrien-fleming"
    planned_units: int | None = None
    title: str | None = None
    overridden: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for role in self.columns:
            if role not in COLUMNS:
                raise PlanError(
                    f"columns: {role!r} is unknown; the roles are {', '.join(COLUMNS)}" + did_you_mean(role, COLUMNS)
                )
        for what, value, known in (("scheme", self.scheme, SCHEMES), ("outcome", self.outcome, OUTCOMES)):
            if value is not None and value not in known:
                raise PlanError(
                    f"{what} {value!r} is unknown; choose one of {', '.join(known)}" + did_you_mean(value, known)
                )
        if self.rankers and (len(self.rankers) != 2 or len(set(self.rankers)) != 2 or not all(self.rankers)):
            raise PlanError("rankers: the names of ranker a and ranker b are expected, such as prod,new (--rankers)")
        if self.resamples < 1:
            raise PlanError(f"resamples = {self.resamples}; a number of at least 1 is expected")
        if self.seed < 0:
            raise PlanError(f"seed = {self.seed}; a whole number of at least 0 is expected")
        if self.list_length is not None and self.list_length < 1:
            raise PlanError(f"list_length = {self.list_length}; a number of at least 1 is expected")
        if not 0 < self.tau < float("inf"):
            raise PlanError(f"tau = {self.tau:g}; a number of more than 0 is expected")
        # looks and level are those of any experiment, and checked there
        _ = self.sequential

    @property
    def sequential(self) -> ExperimentSettings:
        """How looks are allowed for, in the form of an experiment's settings."""
        return ExperimentSettings(
            looks=self.looks,
            look=self.look,
            design=self.design,
            spending=self.spending,
            planned_units=self.planned_units,
            alpha=self.alpha,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the settings by name; what is not given is absent."""
        given = {
            "logs": list(self.logs),
            "columns": dict(self.columns),
            "scheme": self.scheme,
            "outcome": self.outcome,
            "rankers": list(self.rankers),
            "baseline": self.baseline,
            "list_length": self.list_length,
            "tau": self.tau if self.scheme == "probabilistic" else None,
            "segments": list(self.segments),
            "queries": self.queries,
            "id_column": self.id_column,
            "text": self.text,
            "frequency": self.frequency,
            "alpha": self.alpha,
            "resamples": self.resamples,
            "seed": self.seed,
            "looks": list(self.looks),
            "look": self.look,
            "design": self.design,
            "spending": self.spending if self.sequential.reads == "group-sequential" else None,
            "planned_units": self.planned_units,
        }
        return {key: value for key, value in given.items() if value not in (None, [], {})}

    def to_plan(self) -> dict[str, Any]:
        """Return the settings under the keys of a plan file."""
        section = self.to_dict()
        names = ("queries", "id_column", "text", "frequency", "baseline", "segments", "alpha", "resamples", "seed")
        shared = {name: section.pop(name, None) for name in names}
        baselines = [] if self.baseline is None else [self.baseline]
        return {
            "schema_version": SCHEMA_VERSION,
            "inputs": {"queries": self.queries},
            "columns": {"query_id": self.id_column, "text": self.text, "frequency": self.frequency},
            "comparison": {"baselines": baselines, "segments": list(self.segments)},
            "statistics": {name: shared[name] for name in ("alpha", "resamples", "seed")},
            "interleaving": section.pop("columns", {}) | section,
            "overridden": list(self.overridden),
        }


def settings_from_plan(plan: Plan) -> InterleavingSettings:
    """Return the settings of a plan: its ``[interleaving]`` section, query table, baseline, segments, level and title.

    Raises
    ------
    PlanError
        If they contradict each other.
    """
    if plan.alternative != "two-sided":
        raise PlanError("an interleaving log is read two-sided; leave alternative out")
    if len(plan.baselines) > 1:
        raise PlanError(f"baselines = {', '.join(plan.baselines)}; of a log one baseline is expected")
    section = dict(plan.interleaving)
    return InterleavingSettings(
        columns={role: section.pop(role) for role in COLUMNS if role in section},
        baseline=plan.baselines[0] if plan.baselines else None,
        segments=plan.segments,
        queries=plan.queries,
        id_column=plan.columns.query_id,
        text=plan.columns.text,
        frequency=plan.columns.frequency,
        alpha=plan.alpha,
        resamples=plan.resamples,
        seed=plan.seed,
        title=plan.title,
        **section,
    )


def overridden(settings: InterleavingSettings, changes: Mapping[str, Any]) -> InterleavingSettings:
    """Return the settings with those replaced that options give, each noted; None and empty ones are not given."""
    given = {name: value for name, value in changes.items() if is_given(value)}
    if "columns" in given:
        given["columns"] = {**settings.columns, **given["columns"]}
    default = InterleavingSettings()
    noted = tuple(
        f"{name}: changed by option"
        for name, value in given.items()
        if getattr(settings, name) not in (getattr(default, name), value)
    )
    return replace(settings, **given, overridden=settings.overridden + noted)


def settings_from(settings: InterleavingSettings | None, changes: Mapping[str, Any]) -> InterleavingSettings:
    """Return settings with some replaced by name; lists become tuples, one text a tuple of one.

    Raises
    ------
    PlanError
        If a setting is unknown.
    """
    known = InterleavingSettings.__dataclass_fields__
    made: dict[str, Any] = {}
    for name, value in changes.items():
        if name not in known:
            raise PlanError(f"setting {name!r} is unknown" + did_you_mean(name, known))
        is_sequence = name in ("logs", "rankers", "segments", "looks")
        made[name] = ((value,) if isinstance(value, str) else tuple(value)) if is_sequence else value
    return replace(settings or InterleavingSettings(), **made)
