"""Policy: what a candidate must show before it is launched, written down beforehand; read from TOML."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

from rankstats.comparison.checks import CHECKS
from rankstats.errors import InputError, PlanError, did_you_mean
from rankstats.plan import BETTER, SMALLEST_ALPHA

SCHEMA_VERSION = "1"
OPEN_EXITS = (1, 3)
"""Exit statuses that an open decision may have; 0 would let pass what is not known."""
COMPARISON_WARNINGS = tuple(code for check in CHECKS for code in check.codes)
EXPERIMENT_WARNINGS = (
    *("sample_ratio", "two_arms", "unit_of_analysis", "missing_values", "dominant_unit", "covariate_balance"),
    *("segment_balance", "looks", "unassigned_units", "relabelled_units", "before_exposure", "empty_cells"),
    "unequal_arms",
)
WARNING_CODES = tuple(dict.fromkeys((*COMPARISON_WARNINGS, *EXPERIMENT_WARNINGS)))
"""Codes of warnings that can keep a decision open, of comparisons of runs and of experiments."""

_Rule = TypeVar("_Rule", "Claim", "Guard", "Floor")


@dataclass(frozen=True, slots=True)
class Part:
    """The queries that a rule is about: one segment, or every segment of an attribute.

    Attributes
    ----------
    attribute : str
        What divides the queries, such as ``popularity`` or a column of the query table.
    value : str or None
        The segment; None for every one.
    """

    attribute: str
    value: str | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    """How much of the lists must be judged.

    Attributes
    ----------
    k : int
        Depth of the lists.
    at_least : float or None
        Least share of judged documents of either system, from 0 to 1.
    gap : float or None
        Largest difference of the two shares, from 0 to 1.
    """

    k: int = 10
    at_least: float | None = None
    gap: float | None = None

    def __post_init__(self) -> None:
        if self.k < 1:
            raise PlanError(f"[evidence] judged: k = {self.k}; a depth of 1 or more is expected")
        if self.at_least is None and self.gap is None:
            raise PlanError("[evidence] judged says neither at_least nor gap, such as { k = 10, at_least = 0.8 }")
        for name, share in (("at_least", self.at_least), ("gap", self.gap)):
            if share is not None and not 0 <= share <= 1:
                raise PlanError(f"[evidence] judged: {name} = {share:g}; a share from 0 to 1 is expected")


@dataclass(frozen=True, slots=True)
class Requirements:
    """What the evidence must be like; unmet it keeps the decision open and never makes it a no-go.

    Attributes
    ----------
    queries : int or None
        Least number of queries on which the measures of the policy are defined.
    missing_queries : int
        Largest number of judged queries that either system may lack.
    judged : Judged or None
        How much of the lists must be judged.
    warnings : tuple of str
        Codes of warnings that must not be there; unless said otherwise, that of two identical systems, and of
        experiments that of skewed metrics in unequal arms.
    units : int or None
        Of experiments: least number of units of each of the two arms. The others but `warnings` are of comparisons.
    """

    queries: int | None = None
    missing_queries: int = 0
    judged: Judged | None = None
    warnings: tuple[str, ...] = ("identical_systems",)
    units: int | None = None

    def __post_init__(self) -> None:
        for name, least in (("queries", self.queries), ("units", self.units)):
            if least is not None and least < 1:
                raise PlanError(f"[evidence] {name} = {least}; a number of 1 or more is expected")
        if self.missing_queries < 0:
            raise PlanError(f"[evidence] missing_queries = {self.missing_queries} is below 0")
        for code in self.warnings:
            if code not in WARNING_CODES:
                raise PlanError(
                    f"[evidence] warnings: there is no warning {code!r}" + did_you_mean(code, WARNING_CODES)
                )


@dataclass(frozen=True, slots=True)
class Claim:
    """The candidate must be better by more than an amount.

    Attributes
    ----------
    id : str
        Its name, unique in the policy.
    measure : str
        A measure or a ready-made column of values.
    more_than : float
        0 or more, in units of the measure.
    segment : Part or None
        None for all queries.
    better : {None, 'higher', 'lower'}
        Direction of a ready-made column; None as the report has it.
    """

    id: str
    measure: str
    more_than: float = 0.0
    segment: Part | None = None
    better: str | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.more_than < math.inf:
            raise PlanError(
                f"more_than = {self.more_than:g} is not 0 or more; harm that is tolerated belongs in [[guard]]"
            )


@dataclass(frozen=True, slots=True)
class Guard:
    """The candidate must not be worse by as much as a margin.

    Attributes
    ----------
    id, measure, segment, better
        As in `Claim`.
    margin : float or None
        Harm that is tolerated, above 0, in units of the measure.
    margin_relative : float or None
        The same as a fraction of the baseline's mean; one of the two is given.
    """

    id: str
    measure: str
    margin: float | None = None
    margin_relative: float | None = None
    segment: Part | None = None
    better: str | None = None

    def __post_init__(self) -> None:
        if (self.margin is None) == (self.margin_relative is None):
            raise PlanError("needs one of margin and margin_relative, such as margin = 0.02")
        for name, size in (("margin", self.margin), ("margin_relative", self.margin_relative)):
            if size is not None and not 0 < size < math.inf:
                raise PlanError(f"{name} = {size:g}; harm that is tolerated is a number above 0")


@dataclass(frozen=True, slots=True)
class Floor:
    """The candidate itself must reach a level, whatever the baseline does.

    Attributes
    ----------
    id, measure, segment, better
        As in `Claim`; measures of all queries together (coverage) have a level too.
    at_least : float or None
        The level where higher values are better.
    at_most : float or None
        The level where lower values are better; one of the two is given.
    """

    id: str
    measure: str
    at_least: float | None = None
    at_most: float | None = None
    segment: Part | None = None
    better: str | None = None

    def __post_init__(self) -> None:
        if (self.at_least is None) == (self.at_most is None):
            raise PlanError("needs one of at_least and, where lower values are better, at_most")
        for name, size in (("at_least", self.at_least), ("at_most", self.at_most)):
            if size is not None and not math.isfinite(size):
                raise PlanError(f"{name} = {size:g}; a finite number is expected")


@dataclass(frozen=True, slots=True)
class Policy:
    """What is decided, and how.

    Attributes
    ----------
    baseline, candidate : str
        Names of the two systems; the order of runs plays no part.
    alpha : float
        Level: a rule holds at one-sided alpha / 2, and that any fails is said wrongly with probability alpha at most.
    open_exit : {3, 1}
        Exit status of a decision that cannot be told; 1 blocks like a no-go.
    evidence : Requirements
        What the data must be like.
    claims, guards, floors : tuple
        The rules.

    Raises
    ------
    PlanError
        If names are equal or repeated, a number is out of range, or nothing is asked.

    Examples
    --------
    >>> policy = Policy("prod", "new", guards=(Guard("tail", "AP", margin=0.02, segment=Part("popularity", "tail")),))
    >>> policy.alpha, policy.open_exit, [rule.id for rule in policy.rules]
    (0.05, 3, ['tail'])
    """

    baseline: str
    candidate: str
    alpha: float = 0.05
    open_exit: int = 3
    evidence: Requirements = Requirements()
    claims: tuple[Claim, ...] = ()
    guards: tuple[Guard, ...] = ()
    floors: tuple[Floor, ...] = ()

    def __post_init__(self) -> None:
        if self.baseline == self.candidate:
            raise PlanError(f"baseline and candidate are both {self.baseline!r}; a decision needs two systems")
        if not SMALLEST_ALPHA <= self.alpha < 0.5:
            raise PlanError(f"alpha = {self.alpha:g} is not between {SMALLEST_ALPHA:g} and 0.5; 0.05 is usual")
        if self.open_exit not in OPEN_EXITS:
            raise PlanError(
                f"open_exit = {self.open_exit}; 3 is usual and 1 blocks (0 would let pass what is not known)"
            )
        ids = [rule.id for rule in self.rules]
        repeated = next((name for name in ids if ids.count(name) > 1), None)
        if repeated is not None:
            raise PlanError(f"two rules have the id {repeated!r}; ids are unique")
        if not self.rules and self.evidence == Requirements():
            raise PlanError("is empty: it asks for nothing; add a [[claim]], [[guard]] or [[floor]]")

    @property
    def rules(self) -> tuple[Claim | Guard | Floor, ...]:
        """Claims, guards and floors, in this order."""
        return (*self.claims, *self.guards, *self.floors)

    def to_dict(self) -> dict[str, Any]:
        """Return the policy under the keys of a policy file; what is not set is left out."""
        return {
            "schema_version": SCHEMA_VERSION,
            "baseline": self.baseline,
            "candidate": self.candidate,
            "alpha": self.alpha,
            "open_exit": self.open_exit,
            "evidence": _given(self.evidence),
            "claim": [_given(rule) for rule in self.claims],
            "guard": [_given(rule) for rule in self.guards],
            "floor": [_given(rule) for rule in self.floors],
        }


def _given(settings: Any) -> dict[str, Any]:
    values = {field.name: getattr(settings, field.name) for field in fields(settings)}
    nested = {name: _given(value) for name, value in values.items() if isinstance(value, Part | Judged)}
    listed = {name: list(value) for name, value in values.items() if isinstance(value, tuple)}
    return {name: value for name, value in (values | nested | listed).items() if value is not None}


def read_policy(path: str | Path) -> Policy:
    """Read a policy file.

    Parameters
    ----------
    path : str or Path
        TOML file.

    Raises
    ------
    InputError
        If the file cannot be read or is not TOML.
    PlanError
        If a key is unknown, a value does not fit, or nothing is asked.
    """
    try:
        document = tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"cannot read the policy: {error.strerror}", path) from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"not a TOML file: {error}", path) from error
    try:
        return policy_from_document(document)
    except PlanError as error:
        raise PlanError(f"{path}: {error}") from error


def policy_from_document(document: Mapping[str, Any]) -> Policy:
    """Return the policy that a parsed TOML document, or a dictionary like one, describes.

    Raises
    ------
    PlanError
        If a key is unknown, a value does not fit, or nothing is asked.

    Examples
    --------
    >>> asked = {"baseline": "prod", "candidate": "new", "claim": [{"id": "better", "measure": "AP"}]}
    >>> policy_from_document(asked).claims[0].more_than
    0.0
    """
    _check_keys(document, (*_TOP, "evidence", "claim", "guard", "floor"), "")
    version = document.get("schema_version", SCHEMA_VERSION)
    if version != SCHEMA_VERSION:
        raise PlanError(f"schema_version = {version!r}; this version reads {SCHEMA_VERSION!r}")
    for name in ("baseline", "candidate"):
        if name not in document:
            raise PlanError(f"names no {name}; systems are named, never taken from the order of runs")
    top = _read(document, _TOP, "")
    top.pop("schema_version", None)
    return Policy(
        **top,
        evidence=_requirements(document.get("evidence", {})),
        claims=_rules(document, "claim", Claim),
        guards=_rules(document, "guard", Guard),
        floors=_rules(document, "floor", Floor),
    )


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise PlanError(f"is {value!r}; a text is expected")
    return value


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


def _direction(value: Any) -> str:
    if value not in BETTER:
        raise PlanError(f"is {value!r}; 'higher' or 'lower' is expected" + did_you_mean(str(value), BETTER))
    return str(value)


def _codes(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(code, str) for code in value):
        raise PlanError(f'is {value!r}; a list of codes such as ["identical_systems"] is expected')
    return tuple(value)


def _part(value: Any) -> Part:
    if not isinstance(value, Mapping) or "attribute" not in value:
        raise PlanError(
            f'is {value!r}; a table such as {{ attribute = "popularity", value = "tail" }} is expected (without value: '
            "every segment of the attribute)"
        )
    return Part(**_read(value, {"attribute": _text, "value": _text}, "segment: "))


def _judged(value: Any) -> Judged:
    if not isinstance(value, Mapping):
        raise PlanError(f"is {value!r}; a table such as {{ k = 10, at_least = 0.8, gap = 0.05 }} is expected")
    return Judged(**_read(value, {"k": _whole, "at_least": _real, "gap": _real}, "judged: "))


_Reader = Callable[[Any], Any]
_TOP: dict[str, _Reader] = {
    "schema_version": _text,
    "baseline": _text,
    "candidate": _text,
    "alpha": _real,
    "open_exit": _whole,
}
_EVIDENCE: dict[str, _Reader] = {
    **dict.fromkeys(("queries", "missing_queries", "units"), _whole),
    "judged": _judged,
    "warnings": _codes,
}
_READERS: dict[str, _Reader] = {
    "id": _text,
    "measure": _text,
    "segment": _part,
    "better": _direction,
    **dict.fromkeys(("more_than", "margin", "margin_relative", "at_least", "at_most"), _real),
}


def _requirements(content: Any) -> Requirements:
    if not isinstance(content, Mapping):
        raise PlanError(f"evidence is {content!r}; a section [evidence] is expected")
    return Requirements(**_read(content, _EVIDENCE, "[evidence] "))


def _rules(document: Mapping[str, Any], kind: str, make: type[_Rule]) -> tuple[_Rule, ...]:
    listed = document.get(kind, [])
    if not isinstance(listed, list) or not all(isinstance(content, Mapping) for content in listed):
        raise PlanError(f"[{kind}] is one section; rules are lists of sections, so write [[{kind}]]")
    readers = {field.name: _READERS[field.name] for field in fields(make)}
    made = []
    for number, content in enumerate(listed, start=1):
        named = content.get("id")
        place = f"[[{kind}]] {named!r}: " if isinstance(named, str) else f"[[{kind}]] number {number}: "
        values = _read(content, readers, place)
        for needed in ("id", "measure"):
            if needed not in values:
                raise PlanError(f"{place}has no {needed}")
        try:
            made.append(make(**values))
        except PlanError as error:
            raise PlanError(f"{place}{error}") from error
    return tuple(made)


def _read(content: Mapping[str, Any], readers: Mapping[str, _Reader], place: str) -> dict[str, Any]:
    if place:
        _check_keys(content, readers, place)
    read: dict[str, Any] = {}
    for key, reader in readers.items():
        if key in content:
            try:
                read[key] = reader(content[key])
            except PlanError as error:
                raise PlanError(f"{place}{key} {error}") from error
    return read


def _check_keys(content: Mapping[str, Any], known: Iterable[str], place: str) -> None:
    names = list(known)
    for key in content:
        if key not in names:
            raise PlanError(f"{place}{key} is unknown (known: {', '.join(names)})" + did_you_mean(str(key), names))


EXAMPLE = """\
# What a candidate must show before it is launched. Write it down before you see the numbers.
schema_version = "1"
baseline = "prod"          # names of the two systems; the order of runs plays no part
candidate = "new"
alpha = 0.05               # each rule at one-sided alpha/2; that any fails is wrong with probability alpha at most
open_exit = 3              # exit status of CANNOT TELL; 1 blocks like NO-GO

# What the data must be like. Unmet: CANNOT TELL, never NO-GO.
[evidence]
queries = 50               # at least so many
missing_queries = 0        # judged queries that a run may lack (0 unless said otherwise)
judged = { k = 10, at_least = 0.8, gap = 0.05 }   # share of judged documents in the top k, and how far apart
warnings = ["identical_systems"]                  # codes of the report that keep the decision open
# Of an experiment (gate --rows): units = 1000, the least of each arm, instead of queries, missing_queries and judged.

# Better by more than an amount.
[[claim]]
id = "better"              # unique: the name of the JUnit case
measure = "nDCG(dcg='exp-log2')@10"
more_than = 0.0

# Not worse by as much as a margin: overall, in one segment, or in every segment of an attribute.
[[guard]]
id = "tail"
measure = "nDCG(dcg='exp-log2')@10"
segment = { attribute = "popularity", value = "tail" }   # without value: every one
margin = 0.02              # harm that is tolerated, in units of the measure

# [[guard]]
# id = "latency"
# measure = "latency_ms"   # any column of ready-made values
# better = "lower"
# margin_relative = 0.05   # the same as a share of the baseline's mean

# A level that the candidate itself must reach; judged on the interval of its mean.
[[floor]]
id = "absolute"
measure = "AP"
at_least = 0.2             # at_most where lower is better
"""
"""A policy with comments, for a start."""
