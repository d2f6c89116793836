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
        Names the queries in words, for given settings; an empty text where every query has a value.
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
    fills : str
        What the text after '_' or '.' gives: the cutoff or a parameter, as in ``Rprec_mult_0.20``.
    lists : bool
        Whether that text may be a list with commas that belong to one measure, as in ``ndcg.1=3,2=9``.
    rewritten : callable
        Makes the text that the parameter reads from that text.
    """

    name: str
    programs: str
    settings: Settings = field(default_factory=lambda: _NOTHING)
    joined: bool = False
    cutoff: bool = True
    fills: str = "cutoff"
    lists: bool = False
    rewritten: Callable[[str], str] = str


@dataclass(frozen=True, slots=True, kw_only=True)
class Together:
    """How all queries together make one value of a system.

    Attributes
    ----------
    parts : callable
        What each query brings, shape (Q, …): listed documents as numbers with −1 for none, or sums.
    statistic : callable
        Makes, from pool and settings, the function from R such arrays, shape (R, Q, …), to R values.
    applies : callable
        Says whether the measure is of this kind, for given settings.
    """

    parts: Callable[[Evaluation, Settings], NDArray[Any]]
    statistic: Callable[[Pool, Settings], Callable[[NDArray[Any]], Values]]
    applies: Callable[[Settings], bool] = lambda settings: True


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
    cutoff : {'required', 'optional', 'none'}
        Whether the name must or may give a cutoff.
    at : {'rank', 'recall'}
        What stands after '@': a rank, or a level of recall from 0 to 1.
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
    of_rank_alone : bool
        Whether a contribution depends on nothing but the grade and the rank of its own document.
    objection : callable or None
        Says why certain settings make no sense, or None.
    refusal : callable or None
        Says why the measure cannot be computed on certain judgments, or None.
    rewards_moving_up : callable
        Says whether exchanging a document with a less relevant one above it never lowers the value, for given settings.
        Both are judged; grades below 0 count as 0. Unjudged documents must count as 0, or their place not at all.
    best_is_one : callable
        Says whether all judged documents, best first, have the value 1, for given settings.
    zero : float
        The value of a query without a relevant document under the policy 'zero'.
    missing : str
        What becomes of a judged query that a run lacks, in words.
    aggregate : {'mean', 'sum', 'geometric mean'}
        How the values of queries become one number for a system. Values of a geometric mean are logarithms.
    needs : tuple of {'subtopics', 'items', 'histories', 'lists'}
        What the measure is computed from beside judgments and hits: grades by subtopic, the item table, the users'
        histories, the lists with their unjudged documents.
    known : callable or None
        Marks the items of the item table that say what the measure asks for, shape (N,); it gives None, for given
        settings, where the measure takes every document.
    without_value : callable or None
        Names the lists of a system that have no value, in words, whatever the conventions; None where every list has.
    together : Together or None
        How all queries together make the value of a system, for a measure that has none a query.
    remark : str
        What every label of the measure must say beside its name.
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
    cutoff: Literal["required", "optional", "none"]
    at: Literal["rank", "recall"] = "rank"
    parameters: tuple[Parameter, ...] = ()
    conventions: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    undefined: Undefined | None = None
    terms: Callable[[Evaluation, Settings], Values] | None = None
    denominator: Callable[[Evaluation, Settings], Values] | None = None
    values: Callable[[Evaluation, Settings], Values] | None = None
    of_rank_alone: bool = False
    objection: Callable[[Settings], str | None] | None = None
    refusal: Callable[[Pool, Settings], str | None] | None = None
    rewards_moving_up: Callable[[Settings], bool] = lambda settings: True
    best_is_one: Callable[[Settings], bool] = lambda settings: False
    zero: float = 0.0
    missing: str = "a judged query that a run lacks has the value 0"
    aggregate: Literal["mean", "sum", "geometric mean"] = "mean"
    needs: tuple[str, ...] = ()
    known: Callable[[Pool, Settings], NDArray[np.bool_] | None] | None = None
    without_value: Callable[[Settings], str] | None = None
    together: Together | None = None
    remark: str = ""
    higher_is_better: bool = True
    diagnostic: bool = False
    synonyms: tuple[str, ...] = ()
    short_names: Mapping[str, Settings] = field(default_factory=lambda: _NOTHING)
    aliases: tuple[Alias, ...] = ()

    @property
    def usage(self) -> str:
        """How the name is written, with every parameter and its default."""
        inside = f"({', '.join(p.usage for p in self.parameters)})" if self.parameters else ""
        return (
            self.name
            + inside
            + {"required": f"@{self._symbol}", "optional": f"[@{self._symbol}]", "none": ""}[self.cutoff]
        )

    @property
    def example(self) -> str:
        """The shortest name that can be computed, with a cutoff of 10 (or a recall of 0.5) where one is needed."""
        inside = ",".join(f"{p.name}=1" for p in self.parameters if p.required)
        return (
            self.name + (f"({inside})" if inside else "") + (self.example_cutoff if self.cutoff == "required" else "")
        )

    @property
    def example_cutoff(self) -> str:
        """A cutoff as it may stand in the name."""
        return "@10" if self.at == "rank" else "@0.5"

    @property
    def _symbol(self) -> str:
        return "k" if self.at == "rank" else "recall"

    @property
    def range(self) -> str:
        """Smallest and largest value in words."""
        low, high = self.bounds
        return f"{low:.4g} or more" if high is None else f"{low:.4g} to {high:.4g}"


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


def flag(name: str, convention: str, no: tuple[str, str], yes: tuple[str, str], *, default: bool = False) -> Parameter:
    """Declare a parameter that is True or False.

    Parameters
    ----------
    name : str
        The word in the name.
    convention : str
        The convention it settles.
    no, yes : tuple of (str, str)
        The words of the label and of the convention, for False and True.
    default : bool, optional
        What a bare name means.
    """

    def read(text: str) -> bool:
        if text.casefold() not in ("true", "false"):
            raise ValueError(f"is {text!r}; choose True or False")
        return text.casefold() == "true"

    return Parameter(
        name=name,
        default=default,
        read=read,
        write=repr,
        label=lambda value: (yes if value else no)[0],
        conventions=lambda value: {convention: (yes if value else no)[1]},
        usage=f"{name}={default}",
    )


def numeric(
    name: str,
    default: float | None,
    read: Callable[[str], float],
    label: Callable[[str], str],
    words: Callable[[str], str],
    *,
    convention: str | None = None,
) -> Parameter:
    """Declare a parameter that is a number; a default of None makes it required.

    Parameters
    ----------
    name : str
        The word in the name.
    default : float or None
        What a bare name means.
    read : callable
        Makes the number from the text.
    label, words : callable
        Make the words of the label and of the convention from the number as written.
    convention : str, optional
        The convention it settles; the name itself by default.
    """
    return Parameter(
        name=name,
        default=default,
        read=read,
        write=number,
        label=lambda value: label(number(value)),
        conventions=lambda value: {convention or name: words(number(value))},
        usage=f"{name}={'…' if default is None else number(default)}",
        required=default is None,
    )


def probability(text: str) -> float:
    """Read a number between 0 and 1, both left out."""
    what = "a number above 0 and below 1"
    value = read_number(text, 0, what)
    if not 0 < value < 1:
        raise ValueError(f"is {text!r}, where {what} is expected")
    return value


def read_gains(text: str) -> tuple[tuple[float, float], ...]:
    """Read a table of gains such as ``{1: 1, 2: 3}``; sorted by grade."""
    expected = "a table of grades and gains such as {1: 1, 2: 3} is expected"
    try:
        table = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        raise ValueError(f"is {text!r}, where {expected}") from None
    if not isinstance(table, dict) or not table:
        raise ValueError(f"is {text!r}, where {expected}")
    if not all(_is_number(grade) and _is_number(gain) and gain >= 0 for grade, gain in table.items()):
        raise ValueError(f"is {text!r}; grades and gains are numbers, gains are not below 0")
    return tuple(sorted((float(grade), float(gain)) for grade, gain in table.items()))


def write_gains(gains: tuple[tuple[float, float], ...]) -> str:
    """Write a table of gains as in a name."""
    return "{" + ", ".join(f"{number(grade)}: {number(gain)}" for grade, gain in gains) + "}"


def gain_pairs(text: str) -> str:
    """Rewrite gains as trec_eval takes them, ``1=3,2=9``, into a table.

    Examples
    --------
    >>> gain_pairs("1=3,2=9")
    '{1: 3, 2: 9}'
    """
    return "{" + text.replace("=", ": ").replace(",", ", ") + "}"


def read_list(text: str, least: float, what: str) -> tuple[float, ...]:
    """Read a list of finite numbers of at least `least`, such as ``[0, 0.5]``."""
    try:
        values = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        values = None
    if not isinstance(values, list) or not values or not all(_is_number(v) and v >= least for v in values):
        raise ValueError(f"is {text!r}, where {what} is expected")
    return tuple(float(value) for value in values)


def write_list(values: tuple[float, ...]) -> str:
    """Write a list of numbers as in a name."""
    return "[" + ", ".join(map(number, values)) + "]"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < float("inf")


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

NO_GAIN = Undefined(
    words=lambda settings: "a query without a document of a grade above 0",
    where=lambda pool, settings: pool.largest_grades() == 0,
)
"""For measures that divide by an ideal made from grades."""

NO_RELEVANT = Undefined(
    words=lambda settings: f"a query without a document of grade {number(settings['rel'])} or more",
    where=lambda pool, settings: pool.relevant(settings["rel"]) == 0,
)
"""For measures that divide by the number of relevant documents."""
