"""What a measure is: one declaration each, from which names, help, conventions and values are made."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rankstats.errors import did_you_mean
from rankstats.measures.evaluation import Evaluation, Pool

Settings = Mapping[str, Any]
"""Values of a measure's parameters, with 'cutoff' (None for the whole list)."""
Values = NDArray[np.float64]

_NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A parameter that may stand in a measure's name.

    Attributes
    ----------
    name : str
        The word in the name.
    default : object
        The value that a bare name means.
    read : callable
        Makes the value from the text in the name; raises ValueError with what is expected.
    write : callable
        Makes the text of the canonical name from the value.
    label : callable
        Makes the words of a short label from a value other than the default.
    conventions : callable
        Says what a value means: names of conventions and words.
    usage : str
        How the parameter is written in help texts, with its default.
    required : bool
        Whether the name must give a value.
    """

    name: str
    default: Any
    read: Callable[[str], Any]
    write: Callable[[Any], str]
    label: Callable[[Any], str]
    conventions: Callable[[Any], Mapping[str, str]]
    usage: str
    required: bool = False


@dataclass(frozen=True, slots=True)
class Undefined:
    """When a measure has no value for a query, whatever the system.

    Attributes
    ----------
    words : callable
        Names the queries in words, for given settings.
    where : callable
        Marks them, shape (Q,).
    """

    words: Callable[[Settings], str]
    where: Callable[[Pool, Settings], NDArray[np.bool_]]


@dataclass(frozen=True, slots=True)
class Alias:
    """Another program's spelling of exactly the same formula.

    Attributes
    ----------
    name : str
        The spelling without its cutoff.
    programs : str
        Who spells it so.
    settings : mapping
        Parameters that the spelling fixes.
    joined : bool
        Whether the cutoff follows after '_' or '.', as in trec_eval's ``P_10``; otherwise after '@'.
    cutoff : bool
        Whether the spelling takes a cutoff.
    """

    name: str
    programs: str
    settings: Settings = field(default_factory=lambda: _NOTHING)
    joined: bool = False
    cutoff: bool = True


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Declaration:
    """Everything that is known of a measure, in one place.

    A measure is given either by `terms` (and `denominator`), a sum over the judged documents returned, or by `values`.

    Attributes
    ----------
    name : str
        The canonical name without parameters.
    title, summary, source : str
        What it is called, what it says in one sentence, and where it comes from.
    formula : callable
        Makes the formula in words from the settings.
    bounds : tuple of (float, float or None)
        Smallest and largest value; None where there is no largest.
    cutoff : {'required', 'optional'}
        Whether the name must give a cutoff.
    parameters : tuple of Parameter
        In the order of the canonical name.
    conventions : mapping
        Conventions that no parameter changes, in words.
    undefined : Undefined or None
        The queries without a value; None where every query has one.
    terms : callable or None
        Contribution of each hit before the division, shape (H,).
    denominator : callable or None
        What the sum is divided by, shape (Q,); where it is 0 the value is 0.
    values : callable or None
        Values, shape (Q,), for a measure that is not a sum over documents.
    objection : callable or None
        Says why certain settings make no sense, or None.
    refusal : callable or None
        Says why the measure cannot be computed on certain judgments, or None.
    rewards_moving_up : callable
        Says whether exchanging a document with a less relevant one above it never lowers the value, for given settings.
    higher_is_better : bool
        The direction of better.
    diagnostic : bool
        Whether the measure says how far the others can be trusted, not how good a system is.
    synonyms : tuple of str
        Names of equal standing.
    short_names : mapping
        Names that fix parameters, such as F1.
    aliases : tuple of Alias
        Spellings of other programs.
    """

    name: str
    title: str
    summary: str
    formula: Callable[[Settings], str]
    source: str
    bounds: tuple[float, float | None]
    cutoff: Literal["required", "optional"]
    parameters: tuple[Parameter, ...] = ()
    conventions: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    undefined: Undefined | None = None
    terms: Callable[[Evaluation, Settings], Values] | None = None
    denominator: Callable[[Evaluation, Settings], Values] | None = None
    values: Callable[[Evaluation, Settings], Values] | None = None
    objection: Callable[[Settings], str | None] | None = None
    refusal: Callable[[Pool, Settings], str | None] | None = None
    rewards_moving_up: Callable[[Settings], bool] = lambda settings: True
    higher_is_better: bool = True
    diagnostic: bool = False
    synonyms: tuple[str, ...] = ()
    short_names: Mapping[str, Settings] = field(default_factory=lambda: _NOTHING)
    aliases: tuple[Alias, ...] = ()

    @property
    def usage(self) -> str:
        """How the name is written, with every parameter and its default."""
        inside = f"({', '.join(p.usage for p in self.parameters)})" if self.parameters else ""
        return f"{self.name}{inside}{'@k' if self.cutoff == 'required' else '[@k]'}"

    @property
    def example(self) -> str:
        """The shortest name that can be computed, with a cutoff of 10 where one is needed."""
        inside = ",".join(f"{p.name}=1" for p in self.parameters if p.required)
        return self.name + (f"({inside})" if inside else "") + ("@10" if self.cutoff == "required" else "")

    @property
    def range(self) -> str:
        """Smallest and largest value in words."""
        low, high = self.bounds
        return f"{low:g} or more" if high is None else f"{low:g} to {high:g}"


def number(value: float) -> str:
    """Write a number without a trailing '.0'."""
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def read_number(text: str, least: float, what: str) -> float:
    """Read a finite number of at least `least`."""
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not least <= value < float("inf"):
        raise ValueError(f"is {text!r}, where {what} is expected")
    return value


def choice(name: str, convention: str, options: Mapping[str, tuple[str, str]]) -> Parameter:
    """Declare a parameter with named values; the first option is the default.

    Parameters
    ----------
    name : str
        The word in the name.
    convention : str
        The convention it settles.
    options : mapping
        For each value, the words of the label and the words of the convention.
    """

    def read(text: str) -> str:
        if text not in options:
            known = " or ".join(repr(option) for option in options)
            raise ValueError(f"is {text!r}; choose {known}{did_you_mean(text, options)}")
        return text

    return Parameter(
        name=name,
        default=next(iter(options)),
        read=read,
        write=repr,
        label=lambda value: options[value][0],
        conventions=lambda value: {convention: options[value][1]},
        usage=f"{name}={next(iter(options))!r}",
    )


def read_gains(text: str) -> tuple[tuple[float, float], ...]:
    """Read a table of gains such as ``{1: 1, 2: 3}``; sorted by grade."""
    expected = "a table of grades and gains such as {1: 1, 2: 3} is expected"
    try:
        table = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        raise ValueError(f"is {text!r}, where {expected}") from None
    numbers = (int, float)
    if not isinstance(table, dict) or not table:
        raise ValueError(f"is {text!r}, where {expected}")
    if not all(isinstance(k, numbers) and isinstance(v, numbers) and v >= 0 for k, v in table.items()):
        raise ValueError(f"is {text!r}; grades and gains are numbers, gains are not below 0")
    return tuple(sorted((float(grade), float(gain)) for grade, gain in table.items()))


def write_gains(gains: tuple[tuple[float, float], ...]) -> str:
    """Write a table of gains as in a name."""
    return "{" + ", ".join(f"{number(grade)}: {number(gain)}" for grade, gain in gains) + "}"


def at_k(settings: Settings) -> str:
    """Return the cutoff as it stands in a formula."""
    return "" if settings["cutoff"] is None else "@k"


def down_to_k(settings: Settings) -> str:
    """Return the ranks that a formula goes through."""
    return "all ranks i" if settings["cutoff"] is None else "the ranks i ≤ k"


REL = Parameter(
    name="rel",
    default=1.0,
    read=lambda text: read_number(text, 0, "a grade of 0 or more"),
    write=number,
    label=lambda value: f"rel ≥ {number(value)}",
    conventions=lambda value: {
        "relevant": f"a document with a grade of at least {number(value)}; unjudged documents are not relevant"
    },
    usage="rel=1",
)
"""The smallest grade that counts as relevant."""

NO_RELEVANT = Undefined(
    words=lambda settings: f"a query without a document of grade {number(settings['rel'])} or more",
    where=lambda pool, settings: pool.relevant(settings["rel"]) == 0,
)
"""For measures that divide by the number of relevant documents."""
