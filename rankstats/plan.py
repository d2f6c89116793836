"""Plan: what is compared and claimed, with which conventions and statistics; from keywords or a TOML file."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from rankstats.conventions import (
    DEFAULT_MEASURES,
    QRELS_FORMATS,
    RANK_TESTS,
    RUN_FORMATS,
    SCORES_FORMATS,
    Policies,
)
from rankstats.errors import InputError, PlanError, did_you_mean

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
            "overridden": list(self.overridden),
        }


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise PlanError(f"is {value!r}; a text is expected")
    return value


def _texts(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise PlanError(f"is {value!r}; a list of texts is expected")
    return tuple(value)


def _whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise PlanError(f"is {value!r}; a whole number is expected")
    return value


def _real(value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise PlanError(f"is {value!r}; a number is expected")
    try:
        return float(value)
    except OverflowError:
        raise PlanError("is too large a number") from None


def _margins(value: Any) -> dict[str, float]:
    if not isinstance(value, dict):
        raise PlanError(f'is {value!r}; a table such as {{ "nDCG@10" = 0.01 }} is expected')
    return {str(name): _real(margin) for name, margin in value.items()}


def _mixes(value: Any) -> dict[str, dict[str, float]]:
    if not isinstance(value, dict) or not all(isinstance(shares, dict) for shares in value.values()):
        raise PlanError(f"is {value!r}; a table such as {{ popularity = {{ head = 0.6, tail = 0.4 }} }} is expected")
    return {name: {str(part): _real(share) for part, share in shares.items()} for name, shares in value.items()}


def _runs(value: Any) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, dict):
        raise PlanError(f'is {value!r}; a table such as {{ prod = "a.run" }} is expected')
    return tuple((str(name), _text(path)) for name, path in value.items())


def _formats(value: Any) -> dict[str, str]:
    if isinstance(value, dict):
        return {str(name): _text(form) for name, form in value.items()}
    return {"": _text(value)}


def _reals(value: Any) -> tuple[float, ...]:
    if not isinstance(value, list):
        raise PlanError(f"is {value!r}; a list of numbers is expected")
    return tuple(_real(item) for item in value)


def _shares(value: Any) -> dict[str, float]:
    if not isinstance(value, dict):
        raise PlanError(f"is {value!r}; a table such as {{ A = 0.5, B = 0.5 }} is expected")
    return {str(name): _real(share) for name, share in value.items()}


def _rows(value: Any) -> tuple[tuple[str | None, str], ...]:
    if isinstance(value, dict):
        return tuple((str(arm), _text(path)) for arm, path in value.items())
    if isinstance(value, str):
        return ((None, value),)
    if not isinstance(value, list):
        raise PlanError(f'is {value!r}; a file, a list of files, or a table {{ A = "a.csv" }} is expected')
    return tuple(_arm_file(item) if isinstance(item, dict) else (None, _text(item)) for item in value)


def _arm_file(item: Mapping[str, Any]) -> tuple[str, str]:
    if set(item) != {"arm", "file"}:
        raise PlanError(f'is {item!r}; a file, or {{ arm = "A", file = "a.csv" }}, is expected')
    return _text(item["arm"]), _text(item["file"])


def _metrics(value: Any) -> tuple[dict[str, Any], ...]:
    if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
        raise PlanError("is no list of tables; write [[experiment.metric]]")
    return tuple(_read_keys("experiment.metric", row, _METRIC) for row in value)


_Reader = Callable[[Any], Any]
_METRIC: dict[str, _Reader] = {
    "name": _text,
    "value": _text,
    "role": _text,
    "better": _text,
    "winsorise": _real,
    "covariate": _texts,
    "margin": _real,
    "margin_relative": _real,
}
_SECTIONS: dict[str, dict[str, _Reader]] = {
    "inputs": {
        "qrels": _text,
        "runs": _runs,
        "scores": _texts,
        "queries": _text,
        "items": _text,
        "history": _text,
        "qrels_format": _text,
        "run_format": _formats,
        "scores_format": _text,
    },
    "columns": {f.name: _text for f in fields(Columns)},
    "comparison": {
        "measures": _texts,
        "primary": _texts,
        "baselines": _texts,
        "compare": _text,
        "segments": _texts,
        "mix": _mixes,
        "title": _text,
    },
    "conventions": {
        "preset": _text,
        **{f.name: _text for f in fields(Policies) if f.name != "preset"},
    },
    "statistics": {
        "test": _text,
        "correction": _text,
        "family": _text,
        "intervals": _texts,
        "alpha": _real,
        "resamples": _whole,
        "seed": _whole,
        "alternative": _text,
        "margin": _margins,
    },
    "experiment": {
        "rows": _rows,
        "unit": _text,
        "arm": _text,
        "control": _text,
        "shares": _shares,
        "assignments": _text,
        "exposed_at": _text,
        "time": _text,
        "timezone": _text,
        "looks": _reals,
        "look": _whole,
        "design": _text,
        "spending": _text,
        "planned_units": _whole,
        "metric": _metrics,
    },
}


def read_plan(path: str | Path) -> Plan:
    """Read a plan file.

    Parameters
    ----------
    path : str or Path
        TOML file; paths in it are relative to its folder.

    Returns
    -------
    Plan

    Raises
    ------
    InputError
        If the file cannot be read or is not TOML.
    PlanError
        If a section or key is unknown, or a value does not fit.
    """
    file = Path(path)
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"cannot read the plan: {error.strerror}", path) from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"not a TOML file: {error}", path) from error
    try:
        return plan_from_document(document, base=file.parent)
    except PlanError as error:
        raise PlanError(f"{path}: {error}") from error


def plan_text(settings: Mapping[str, Any]) -> str:
    """Return a plan as TOML that reads back to the same plan; what is not set is left out.

    Parameters
    ----------
    settings : mapping
        What `Plan.to_dict` gives.

    Examples
    --------
    >>> print(plan_text({"schema_version": "1", "statistics": {"alpha": 0.05, "margin": {"nDCG@10": 0.01}}}))
    schema_version = "1"
    <BLANKLINE>
    [statistics]
    alpha = 0.05
    margin = { "nDCG@10" = 0.01 }
    """
    parts = []
    top = [f"{key} = {_toml(value)}" for key, value in settings.items() if not isinstance(value, Mapping | list)]
    if top:
        parts.append("\n".join(top))
    for section, content in settings.items():
        if isinstance(content, Mapping):
            lines = [f"{key} = {_toml(value)}" for key, value in content.items() if _is_given(value)]
            if lines:
                parts.append("\n".join([f"[{section}]", *lines]))
    return "\n\n".join(parts)


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_toml(key)} = {_toml(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    # JSON's texts, numbers and truth values are TOML's
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def plan_from_document(document: Mapping[str, Any], *, base: Path | None = None) -> Plan:
    """Return the plan that a parsed TOML document describes.

    Parameters
    ----------
    document : mapping
        Sections of a plan.
    base : Path, optional
        Folder that relative paths start from.

    Examples
    --------
    >>> plan_from_document({"schema_version": "1", "statistics": {"alpha": 0.01}}).alpha
    0.01
    """
    version = document.get("schema_version", SCHEMA_VERSION)
    if version != SCHEMA_VERSION:
        raise PlanError(f"schema_version = {version!r}; this version reads {SCHEMA_VERSION!r}")
    values: dict[str, dict[str, Any]] = {}
    for section, content in document.items():
        if section == "schema_version":
            continue
        if section not in _SECTIONS or not isinstance(content, Mapping):
            raise PlanError(f"[{section}] is not a section of a comparison plan" + did_you_mean(section, _SECTIONS))
        values[section] = _read_section(section, content)
    inputs = _rebase(values.get("inputs", {}), base)
    conventions = dict(values.get("conventions", {}))
    policies = Policies.from_preset(conventions.pop("preset", "default"), **conventions)
    rest = {**values.get("comparison", {}), **values.get("statistics", {})}
    columns = values.get("columns", {})
    stated = (*inputs, *rest, *columns, *(["conventions"] if "conventions" in values else []))
    experiment = _rebase_experiment(values.get("experiment", {}), base)
    return Plan(**inputs, columns=Columns(**columns), policies=policies, experiment=experiment, stated=stated, **rest)


def _rebase_experiment(section: Mapping[str, Any], base: Path | None) -> dict[str, Any]:
    placed = dict(section)
    if base is not None and "rows" in placed:
        placed["rows"] = tuple((arm, str(base / path)) for arm, path in placed["rows"])
    if base is not None and "assignments" in placed:
        placed["assignments"] = str(base / placed["assignments"])
    return placed


def _read_section(section: str, content: Mapping[str, Any]) -> dict[str, Any]:
    return _read_keys(section, content, _SECTIONS[section])


def _read_keys(section: str, content: Mapping[str, Any], known: Mapping[str, _Reader]) -> dict[str, Any]:
    read: dict[str, Any] = {}
    for key, value in content.items():
        if key not in known:
            raise PlanError(f"[{section}] {key} is unknown" + did_you_mean(key, known))
        try:
            read[key] = known[key](value)
        except PlanError as error:
            raise PlanError(f"[{section}] {key} {error}") from error
    return read


def _rebase(inputs: Mapping[str, Any], base: Path | None) -> dict[str, Any]:
    def place(path: str) -> str:
        return str(base / path) if base is not None else path

    placed = dict(inputs)
    for key in ("qrels", "queries", "items", "history"):
        if key in placed:
            placed[key] = place(placed[key])
    if "runs" in placed:
        placed["runs"] = tuple((name, place(path)) for name, path in placed["runs"])
    if "scores" in placed:
        placed["scores"] = tuple(place(path) for path in placed["scores"])
    return placed


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
    given = {name: value for name, value in changes.items() if _is_given(value)}
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


def _is_given(value: Any) -> bool:
    return value is not None and not (isinstance(value, Sequence | Mapping) and not value)
