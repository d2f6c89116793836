"""Reads measure names: ``nDCG(dcg='exp-log2')@10``, ``ndcg_cut_10``, lists of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from rankstats.errors import MeasureError, did_you_mean
from rankstats.measures.catalogue import CONDENSED, WRAPPERS, Spelling, spellings
from rankstats.measures.declaration import Declaration
from rankstats.measures.measure import Measure

_AT = r"(?:@\s*(?P<{}>[^\s(]*))?\s*"
_FORM = re.compile(
    r"\s*(?P<base>[^\s@(]+)\s*" + _AT.format("before") + r"(?:\((?P<inside>.*)\))?\s*" + _AT.format("after")
)
_CUTOFF = re.compile(r"[1-9][0-9]*")
_NUMBER = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)"
_ENTRY = rf"{_NUMBER}(?:={_NUMBER})?"
_CONTINUATION = re.compile(_ENTRY)
"""An item of a list of cutoffs or gains as trec_eval takes it: the 10 of ``P.5,10``."""
_OPENING, _CLOSING = "([{", ")]}"

_AMBIGUOUS = {
    "hits": (
        "ranx's hits@k counts relevant documents, others mean the hit rate by it; write NumRelRet@k for the count or "
        "HitRate@k for the hit rate"
    ),
    "hr": "write HitRate@k for the hit rate",
}
"""Names that programs use for different formulas."""
_LOWER_CASE_RBP = (
    "is ambiguous: trec_eval means p = 0.9 by it, ranx gains that are not divided by the largest grade; write "
    "RBP(p=0.9) for grades as shares of the largest one judged for the query, RBP(p=0.9,rel=1) for gains 0 and 1"
)


def parse_measure(text: str) -> Measure:
    """Read one measure name.

    Spaces, quotes, upper and lower case and the order of parameters are free. Spellings of trec_eval, ranx, BEIR and
    ir_measures are read as the measure that has exactly their formula. ``Condensed(nDCG@10)`` takes any measure on the
    list without its unjudged documents.

    Parameters
    ----------
    text : str
        Such as ``AP(rel=2)@100`` or ``map_cut_100``.

    Returns
    -------
    Measure
        Its `name` is the canonical spelling.

    Raises
    ------
    MeasureError
        If the name, a parameter or the cutoff cannot be understood.

    Examples
    --------
    >>> parse_measure("ndcg_cut_10").name
    'nDCG@10'
    >>> parse_measure('ap( denominator = "min", rel=2 ) @ 100').name
    "AP(rel=2,denominator='min')@100"
    """
    try:
        return _parse(text)
    except ValueError as error:
        raise MeasureError(f"measure {text.strip()!r} {error}") from None


def parse_measures(texts: str | Iterable[str]) -> tuple[Measure, ...]:
    """Read measure names, each of which may be a list separated by commas outside parentheses.

    Parameters
    ----------
    texts : str or iterable of str
        Such as ``"AP, nDCG(dcg='exp-log2')@10"``. Lists of cutoffs as in trec_eval's ``P.5,10`` are several measures.

    Returns
    -------
    tuple of Measure
        In the order given, at least one, no two the same.

    Raises
    ------
    MeasureError
        One message that names everything wrong in the list.

    Examples
    --------
    >>> [measure.name for measure in parse_measures("map, P_10,recip_rank")]
    ['AP', 'P@10', 'RR']
    >>> [measure.name for measure in parse_measures("P.5,10")]
    ['P@5', 'P@10']
    """
    given = [texts] if isinstance(texts, str) else list(texts)
    names = _spread_lists([name for text in given for name in split_measures(text)])
    if not names:
        raise MeasureError("no measure is named; name one or more, such as 'nDCG@10,AP'")
    problems: list[str] = []
    first_spelling: dict[Measure, str] = {}
    for name in names:
        try:
            measure = parse_measure(name)
        except MeasureError as error:
            problems.append(str(error))
            continue
        if measure in first_spelling:
            problems.append(_repetition(first_spelling[measure], name, measure))
        first_spelling.setdefault(measure, name)
    if problems:
        raise MeasureError("\n".join(problems))
    return tuple(first_spelling)


def split_measures(text: str) -> list[str]:
    """Split a list at the commas outside parentheses, brackets and braces; empty items are left out.

    Examples
    --------
    >>> split_measures("AP(rel=2,denominator='min')@10, RR")
    ["AP(rel=2,denominator='min')@10", 'RR']
    """
    pieces = [""]
    depth = 0
    for character in text:
        depth += (character in _OPENING) - (character in _CLOSING)
        if character == "," and depth <= 0:
            pieces.append("")
        else:
            pieces[-1] += character
    return [piece.strip() for piece in pieces if piece.strip()]


def _spread_lists(names: list[str]) -> list[str]:
    """Give each cutoff of ``P.5,10`` its own name, and put a list such as ``ndcg.1=3,2=9`` together again."""
    spread: list[str] = []
    head: str | None = None
    for name in names:
        if head is not None and _CONTINUATION.fullmatch(name):
            if head:
                spread.append(head + name)
            else:
                spread[-1] += f",{name}"
            continue
        head = _head_of_list(name)
        spread.append(name)
    return spread


def _head_of_list(name: str) -> str | None:
    """Return what goes before each cutoff of a list, '' where the list is one parameter, None for other names."""
    found = _joined(name)
    if found is None:
        return None
    spelling, tail = found
    if spelling.alias is not None and spelling.alias.lists:
        return ""
    return name.removesuffix(tail) if name.removesuffix(tail).endswith(".") else None


def _repetition(first: str, second: str, measure: Measure) -> str:
    if first == second:
        return f"measure {second!r} is named twice; name it once"
    return f"measures {first!r} and {second!r} are the same ({measure.name}); name one of them"


def _parse(text: str) -> Measure:
    form = _FORM.fullmatch(text)
    if form is None or (form["before"] is not None and form["after"] is not None):
        raise ValueError("is not of the form NAME(parameter=value)@k")
    base, cutoff_text = form["base"], form["before"] if form["before"] is not None else form["after"]
    if base.casefold() == CONDENSED.name.casefold():
        return _parse_condensed(form["inside"] or "", cutoff_text)
    if base.startswith("rbp."):
        raise ValueError(_LOWER_CASE_RBP)
    spelling, tail = _find(base, cutoff_text)
    given = _split_parameters(form["inside"] or "")
    judged_only = _judged_only(given)
    if base == "rbp" and "p" not in given:
        raise ValueError(_LOWER_CASE_RBP)
    if tail is not None:
        cutoff_text = _take_tail(spelling, tail, given)
    declaration = spelling.declaration
    for name in ("cutoff", "recall") if declaration.at == "recall" else ("cutoff",):
        if name in given:
            if cutoff_text is not None:
                raise ValueError("names its cutoff twice")
            cutoff_text = given.pop(name)
    cutoff = _cutoff(spelling, cutoff_text)
    parameters = _parameters(spelling, given)
    measure = Measure(declaration, cutoff, parameters, spelling.written_as)
    reason = declaration.objection(measure.settings) if declaration.objection else None
    if reason:
        raise ValueError(reason)
    return _condensed(measure) if judged_only else measure


def _parse_condensed(inside: str, cutoff: str | None) -> Measure:
    if cutoff is not None:
        raise ValueError("has its cutoff outside; write it inside, such as Condensed(nDCG@10)")
    if not inside.strip():
        raise ValueError("needs a measure: Condensed(nDCG@10)")
    return _condensed(_parse(inside))


def _condensed(measure: Measure) -> Measure:
    if measure.condensed:
        raise ValueError("condenses its list twice")
    return replace(measure, condensed=True)


def _judged_only(given: dict[str, str]) -> bool:
    """Take ir_measures' way to write a condensed list out of the parameters."""
    text = given.pop("judged_only", "False")
    if text.casefold() not in ("true", "false"):
        raise ValueError(f"is wrong: judged_only is {text!r}; choose True or False")
    return text.casefold() == "true"


def _take_tail(spelling: Spelling, tail: str, given: dict[str, str]) -> str | None:
    """Return the cutoff that is joined to a name, or give a parameter what is joined to the name."""
    alias = spelling.alias
    if alias is None or alias.fills == "cutoff":
        return tail
    if alias.fills in given:
        raise ValueError(f"names {alias.fills} twice")
    given[alias.fills] = alias.rewritten(tail)
    return None


def _find(base: str, cutoff: str | None) -> tuple[Spelling, str | None]:
    """Return the spelling of a name, and what is joined to the name."""
    known = _spellings()
    named = [s for s in known if not s.joined and s.text.casefold() == base.casefold()]
    for spelling in named:
        if spelling.cutoff or cutoff is None:
            return spelling, None
    if named:
        declaration = named[0].declaration
        raise ValueError(
            f"takes no cutoff; write {declaration.name}" + ("" if declaration.cutoff == "none" else f"@{cutoff}")
        )
    joined = _joined(base) if cutoff is None else None
    if joined is not None:
        return joined
    raise ValueError(_unknown(base, cutoff, known))


def _joined(base: str) -> tuple[Spelling, str] | None:
    """Return the spelling that a name begins with, and the numbers joined to it."""
    folded = base.casefold()
    for start, spelling in _joined_spellings():
        # few forms are compiled: names begin in many ways
        found = re.fullmatch(_joined_form(spelling), base, re.IGNORECASE) if folded.startswith(start) else None
        if found:
            return spelling, found["tail"]
    return None


@cache
def _joined_spellings() -> tuple[tuple[str, Spelling], ...]:
    """Return the spellings to which numbers are joined, each with its text without regard to case."""
    return tuple((s.text.casefold(), s) for s in _spellings() if s.alias is not None and s.alias.joined)


def _joined_form(spelling: Spelling) -> str:
    """Return the form of names that begin with a spelling to which numbers are joined."""
    alias = spelling.alias
    whole = alias is not None and alias.fills == "cutoff" and spelling.declaration.at == "rank"
    tail = rf"{_ENTRY}(?:,{_ENTRY})*" if alias is not None and alias.lists else "[0-9]+" if whole else _NUMBER
    return rf"{re.escape(spelling.text)}[_.](?P<tail>{tail})"


@cache
def _spellings() -> tuple[Spelling, ...]:
    return tuple(spellings())


def _unknown(base: str, cutoff: str | None, known: Sequence[Spelling]) -> str:
    if base.isdecimal():
        return f"is not a measure; write every cutoff with its name, such as P@{base}"
    if base.casefold() in _AMBIGUOUS:
        return f"is ambiguous: {_AMBIGUOUS[base.casefold()]}"
    needs_base = [s for s in known if s.joined and s.text.casefold() == base.casefold()]
    if needs_base:
        return _needs_more(base, needs_base[0], cutoff)
    # canonical names come first among the spellings and last here, so that they win over other programs' cases
    hint = did_you_mean(base, [*(w.name for w in WRAPPERS), *(s.text for s in reversed(known) if not s.joined)])
    if hint and cutoff:
        hint = hint.replace("'?", f"@{cutoff}'?")
    return f"is unknown{hint or '; `rankstats measures` lists all'}"


def _needs_more(base: str, spelling: Spelling, cutoff: str | None) -> str:
    if spelling.alias is not None and spelling.alias.fills != "cutoff":
        return f"needs a number: {base}_0.5"
    if spelling.declaration.at == "recall":
        return f"needs a level of recall: {base}_{cutoff or '0.5'}"
    return f"needs a cutoff: {base}_{cutoff or '10'} or {spelling.declaration.name}@{cutoff or '10'}"


def _cutoff(spelling: Spelling, text: str | None) -> float | None:
    declaration = spelling.declaration
    if text is None:
        if declaration.cutoff == "required":
            name = spelling.written_as if spelling.programs else spelling.text
            what = "a cutoff" if declaration.at == "rank" else "a level of recall"
            raise ValueError(f"needs {what}: {name}{declaration.example_cutoff}")
        return None
    if declaration.cutoff == "none":
        raise ValueError(f"takes no cutoff; write {declaration.name}")
    if declaration.at == "recall":
        return _recall(text)
    if not _CUTOFF.fullmatch(text):
        raise ValueError(f"has the cutoff {text!r}, where a whole number from 1 is expected")
    return int(text)


def _recall(text: str) -> float:
    if not re.fullmatch(_NUMBER, text) or float(text) > 1:
        raise ValueError(f"has the level of recall {text!r}, where a number from 0 to 1 is expected")
    return float(text)


def _split_parameters(inside: str) -> dict[str, str]:
    """Return parameter names and values as written, without quotes."""
    given: dict[str, str] = {}
    for piece in split_measures(inside):
        name, equals, value = (part.strip() for part in piece.partition("="))
        if not equals or not name or not value:
            raise ValueError(f"has {piece!r} in parentheses, where parameter=value is expected")
        if name in given:
            raise ValueError(f"names {name} twice")
        quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "'\""
        given[name] = value[1:-1] if quoted else value
    return given


def _parameters(spelling: Spelling, given: Mapping[str, str]) -> tuple[tuple[str, Any], ...]:
    """Return every declared parameter with its value."""
    declaration = spelling.declaration
    names = [p.name for p in declaration.parameters]
    for name in given:
        if name not in names:
            raise ValueError(
                f"has the unknown parameter {name!r}{did_you_mean(name, names)}; it takes {_takes(declaration)}"
            )
        if name in spelling.settings:
            raise ValueError(f"already says what {name} is; write {declaration.name}({name}={given[name]})")
    values = {p.name: p.default for p in declaration.parameters} | dict(spelling.settings)
    for parameter in declaration.parameters:
        if parameter.name in given:
            try:
                values[parameter.name] = parameter.read(given[parameter.name])
            except ValueError as error:
                raise ValueError(f"is wrong: {parameter.name} {error}") from None
        elif parameter.required and parameter.name not in spelling.settings:
            raise ValueError(f"needs {parameter.name}: {declaration.usage}")
    return tuple(values.items())


def _takes(declaration: Declaration) -> str:
    names = [p.name for p in declaration.parameters] + ["cutoff"] * (declaration.cutoff != "none")
    return ", ".join([*names, "judged_only"])
