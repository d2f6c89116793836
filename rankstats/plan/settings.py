"""The settings of a comparison or an experiment, checked against each other, and options that override them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from rankstats.conventions import (
    DEFAULT_MEASURES,
    QRELS_FORMATS,
    RANK_TESTS,
    RUN_FORMATS,
    SCORES_FORMATS,
    Policies,
)
from rankstats.errors import PlanError, did_you_mean

SCHEMA_VERSION = "1"
TESTS = ("randomisation", "bootstrap", "t", "wilcoxon", "sign")
CORRECTIONS = (
    *("auto", "bootstrap-max-t", "max-t", "max-t-stepdown", "tukey"),
    *("guarded-bonferroni", "bonferroni", "sidak", "holm", "holm-sidak", "hochberg", "hommel", "bh", "by", "none"),
)
JOINT_CORRECTIONS = ("bootstrap-max-t", "max-t", "max-t-stepdown", "tukey")
"""Corrections that resample all members of a family together; they are about means."""
SMALLEST_ALPHA = 1e-6
MOST_RESAMPLES = 10_000_000
COMPARE = ("baseline", "all-pairs", "best")
INTERVALS = ("normal", "percentile", "expanded", "basic", "bca", "studentised")
"""Bootstrap intervals that can be shown beside the test's own; they carry no p-value."""
FAMILIES = ("primary", "measures", "segments")
"""What is claimed: the primary measures over all queries, all measures, or the primary ones in each segment as well."""
ALTERNATIVES = ("two-sided", "greater", "less")
BETTER = ("higher", "lower")


@dataclass(frozen=True, slots=True)
class Columns:
    """Names of columns; None means that the usual names are looked for.

    Attributes
    ----------
    query_id, text, frequency : str or None
        Columns of the query table; `query_id` also of headed judgments and runs.
    document : str or None
        The document column of headed judgments and runs.
    grade : str or None
        The grade column of headed judgments.
    score : str or None
        The score column of headed runs.
    weight : str or None
        The column of the query table that holds the query weights.
    cluster : str or None
        The column of the query table whose values are flipped and resampled whole: session, user, paraphrase group.
    item, popularity, category, vector : str or None
        Columns of the item table; `item` also of the histories.
    """

    query_id: str | None = None
    text: str | None = None
    frequency: str | None = None
    grade: str | None = None
    weight: str | None = None
    document: str | None = None
    score: str | None = None
    cluster: str | None = None
    item: str | None = None
    popularity: str | None = None
    category: str | None = None
    vector: str | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that decides the numbers of a comparison.

    Attributes
    ----------
    qrels : str or None
        File of judgments.
    runs : tuple of (str, str)
        Pairs of name and file, in the order given.
    scores : tuple of str
        Files of ready-made per-query values, instead of judgments and runs.
    queries : str or None
        File of the query table.
    items : str or None
        File of the item table.
    history : str or None
        File of what each user has had before.
    qrels_format, scores_format : str or None
        Formats of judgments and of scores, one of `QRELS_FORMATS` and of `SCORES_FORMATS`; None: recognised.
    run_format : mapping of str to str
        Formats of runs by name, each one of `RUN_FORMATS`; '' stands for the runs that are not named.
    columns : Columns
        Names of columns.
    measures : tuple of str
        Measure names; empty means all measures of a score file, or the default list.
    primary : tuple of str
        Measures that the verdict is about; empty means the first measure.
    baselines : tuple of str
        Names of the systems that the others are compared with; empty means the first system.
    better : mapping of str to {'higher', 'lower'}
        The direction of ready-made measures; of those that are not named, higher is taken as better.
    compare : {'baseline', 'all-pairs', 'best'}
        Which pairs are compared.
    segments : tuple of str
        Segment specifications such as ``length:6`` or ``popularity``.
    mix : mapping of str to mapping of str to float
        Shares of an attribute's values, on any scale, that the differences are re-weighted to.
    policies : Policies
        Treatment of the data.
    test : str
        One of `TESTS`.
    correction : str
        One of `CORRECTIONS`, for the confirmatory family.
    family : str
        One of `FAMILIES`: which differences are claims, corrected together.
    intervals : tuple of str
        Which of `INTERVALS` are shown beside the interval of the test.
    alternative : str
        One of `ALTERNATIVES`; 'greater' claims positive differences only. A plan file alone can declare it.
    alpha : float
        Level, between 0 and 0.5.
    resamples : int
        Number of sign patterns and of bootstrap resamples, at least 99.
    seed : int
        Seed of the random numbers, at least 0.
    margin : mapping of str to float
        Differences that do not matter, per measure.
    title : str or None
        Title of the report.
    experiment : mapping of str to object
        The ``[experiment]`` section, read key by key; see `rankstats.experiment`.
    interleaving : mapping of str to object
        The ``[interleaving]`` section, likewise; see `rankstats.interleaving`.
    stated : tuple of str
        Settings that the plan file states.
    overridden : tuple of str
        Those of them that options on the command line replaced, with both values.
    """

    qrels: str | None = None
    runs: tuple[tuple[str, str], ...] = ()
    scores: tuple[str, ...] = ()
    queries: str | None = None
    items: str | None = None
    history: str | None = None
    qrels_format: str | None = None
    run_format: Mapping[str, str] = field(default_factory=dict)
    scores_format: str | None = None
    columns: Columns = field(default_factory=Columns)
    measures: tuple[str, ...] = ()
    primary: tuple[str, ...] = ()
    baselines: tuple[str, ...] = ()
    better: Mapping[str, str] = field(default_factory=dict)
    compare: str = "baseline"
    segments: tuple[str, ...] = ()
    mix: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    policies: Policies = field(default_factory=Policies)
    test: str = "randomisation"
    correction: str = "auto"
    family: str = "primary"
    intervals: tuple[str, ...] = ()
    alternative: str = "two-sided"
    alpha: float = 0.05
    resamples: int = 10_000
    seed: int = 0
    margin: Mapping[str, float] = field(default_factory=dict)
    title: str | None = None
    experiment: Mapping[str, Any] = field(default_factory=dict)
    interleaving: Mapping[str, Any] = field(default_factory=dict)
    stated: tuple[str, ...] = ()
    overridden: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, value, known in (
            ("test", self.test, TESTS),
            ("correction", self.correction, CORRECTIONS),
            ("compare", self.compare, COMPARE),
            ("family", self.family, FAMILIES),
            ("alternative", self.alternative, ALTERNATIVES),
            *(("qrels_format", name, QRELS_FORMATS) for name in (self.qrels_format,) if name is not None),
            *(("run_format", name, RUN_FORMATS) for name in self.run_format.values()),
            *(("scores_format", name, SCORES_FORMATS) for name in (self.scores_format,) if name is not None),
            *(("interval", name, INTERVALS) for name in self.intervals),
            *(("better", name, BETTER) for name in self.better.values()),
        ):
            if value not in known:
                raise PlanError(
                    f"{name} {value!r} is unknown; choose one of {', '.join(known)}" + did_you_mean(str(value), known)
                )
        if not SMALLEST_ALPHA <= self.alpha < 0.5:
            raise PlanError(f"alpha = {self.alpha} is not between {SMALLEST_ALPHA:g} and 0.5; 0.05 is usual")
        if not 99 <= self.resamples <= MOST_RESAMPLES:
            raise PlanError(
                f"resamples = {self.resamples} is not between 99 and {MOST_RESAMPLES:,}; 10,000 is the default"
            )
        if self.baselines and self.compare != "baseline":
            raise PlanError(f"a baseline has no meaning where compare is {self.compare!r}; leave one of them out")
        self._check_test()
        self._check_correction()
        if self.seed < 0:
            raise PlanError(f"seed = {self.seed} is below 0")
        for name, shares in self.mix.items():
            if not shares or any(not 0 <= share < float("inf") for share in shares.values()):
                raise PlanError(f"mix of {name!r}: shares are numbers of 0 or more, at least one for each mix")
            if not sum(shares.values()) > 0:
                raise PlanError(f"mix of {name!r}: all shares are 0")
        for measure, margin in self.margin.items():
            if not 0 < margin < float("inf"):
                raise PlanError(f"margin of {measure} is {margin}; a margin is a number above 0")

    def _check_test(self) -> None:
        if self.test not in RANK_TESTS:
            return
        unknown = {
            "weights": self.columns.weight,
            "clusters": self.columns.cluster,
            f"correction {self.correction!r}": self.correction in JOINT_CORRECTIONS,
        }
        for what, asked in unknown.items():
            if asked:
                raise PlanError(f"test {self.test!r} is not about the mean and knows no {what}; use 'randomisation'")

    def _check_correction(self) -> None:
        if self.correction == "tukey":
            if self.compare != "all-pairs":
                raise PlanError("correction 'tukey' is for all pairs of systems; use it with compare 'all-pairs'")
            if self.columns.cluster:
                raise PlanError("correction 'tukey' permutes systems within queries and knows no clusters; use 'auto'")
            if self.family != "primary":
                raise PlanError("correction 'tukey' is for one measure over all queries; use it with family 'primary'")
        if self.alternative != "two-sided":
            if self.correction in JOINT_CORRECTIONS:
                raise PlanError(
                    f"correction {self.correction!r} is two-sided; with alternative {self.alternative!r} use "
                    "'auto', 'bonferroni', 'holm' or another correction of single p-values"
                )
            if self.margin:
                raise PlanError(
                    "a margin asks for equivalence, which needs both ends of an interval; "
                    "leave out the margin, or set alternative = 'two-sided'"
                )
        if self.family == "segments" and not self.segments:
            raise PlanError("family 'segments' makes claims about segments; name some with --segment")
        if self.family == "segments" and self.compare == "best":
            raise PlanError("family 'segments' needs a baseline that was not chosen by the data; name one")

    @property
    def wanted_measures(self) -> tuple[str, ...]:
        """The measures asked for, or the default list."""
        return self.measures or DEFAULT_MEASURES

    def to_dict(self) -> dict[str, Any]:
        """Return the plan under the keys of a plan file, without the inputs' paths being made absolute."""
        return {
            "schema_version": SCHEMA_VERSION,
            "inputs": {
                "qrels": self.qrels,
                "runs": dict(self.runs),
                "scores": list(self.scores),
                "queries": self.queries,
                "items": self.items,
                "history": self.history,
                "qrels_format": self.qrels_format,
                "run_format": self.run_format[""] if set(self.run_format) == {""} else dict(self.run_format),
                "scores_format": self.scores_format,
            },
            "columns": {f.name: getattr(self.columns, f.name) for f in fields(self.columns)},
            "comparison": {
                "measures": list(self.measures),
                "primary": list(self.primary),
                "baselines": list(self.baselines),
                "better": dict(self.better),
                "compare": self.compare,
                "segments": list(self.segments),
                "mix": {name: dict(shares) for name, shares in self.mix.items()},
            },
            "conventions": self.policies.to_dict(),
            "statistics": {
                "test": self.test,
                "correction": self.correction,
                "family": self.family,
                "intervals": list(self.intervals),
                "alpha": self.alpha,
                "resamples": self.resamples,
                "seed": self.seed,
                "alternative": self.alternative,
                "margin": dict(self.margin),
            },
            **({"experiment": dict(self.experiment)} if self.experiment else {}),
            **({"interleaving": dict(self.interleaving)} if self.interleaving else {}),
            "overridden": list(self.overridden),
        }


def override(plan: Plan, changes: Mapping[str, Any], *, columns: Mapping[str, str | None] | None = None) -> Plan:
    """Return the plan with settings replaced; what a plan file had said otherwise is noted in `overridden`.

    Parameters
    ----------
    plan : Plan
        The plan of a file, or the default plan.
    changes : mapping
        Field names of `Plan` to values; None and empty sequences mean 'not given'.
    columns : mapping, optional
        Field names of `Columns` to values.
    """
    given = {name: value for name, value in changes.items() if is_given(value)}
    named = {name: value for name, value in (columns or {}).items() if value is not None}
    replaced = [
        f"{name}: {_brief(before)} in the plan, {_brief(value)} by option"
        for place, settings in ((plan, given), (plan.columns, named))
        for name, value in settings.items()
        if name in plan.stated and (before := getattr(place, name)) != value
    ]
    return replace(
        plan,
        **given,
        columns=replace(plan.columns, **named),
        overridden=plan.overridden + tuple(replaced),
    )


def _brief(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(item if isinstance(item, str) else "=".join(item) for item in value)
    return str(value)


def is_given(value: Any) -> bool:
    """Return whether an option says anything: neither None nor empty."""
    return value is not None and not (isinstance(value, Sequence | Mapping) and not value)
