"""Reads measure names: ``nDCG(dcg='exp-log2')@10``, ``ndcg_cut_10``, lists of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from rankstats.errors import MeasureError, did_you_mean
from rankstats.measures.catalogue import Spelling, spellings
from rankstats.measures.declaration import Declaration
from rankstats.measures.measure import Measure

_AT = r"(?:@\s*(?P<{}>[^\s(]*))?\s*"
_FORM = re.compile(
    r"\s*(?P<base>[^\s@(]+)\s*" + _AT.format("before") + r"(?:\((?P<inside>.*)\))?\s*" + _AT.format("after")
)
_JOINED = re.compile(r"(?P<base>.+)[_.](?P<cutoff>[0-9]+)")
_CUTOFF = re.compile(r"[1-9][0-9]*")
_OPENING, _CLOSING = "([{", ")]}"

_AMBIGUOUS = {
    "hits": "ranx's hits@k counts relevant documents, others mean the hit rate by it; write HitRate@k for the hit rate",
    "hr": "write HitRate@k for the hit rate",
    "accuracy": "ir_measures and BEIR mean different things by it; write HitRate@k for BEIR's",
}
"""Names that programs use for different formulas."""


def parse_measure(text: str) -> Measure:
    """Read one measure name.

    Spaces, quotes, upper and lower case and the order of parameters are free. Spellings of trec_eval, ranx, BEIR and
    ir_measures are read as the measure that has exactly their formula.

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
        Such as ``"AP, nDCG(dcg='exp-log2')@10"``.

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
    """
    given = [texts] if isinstance(texts, str) else list(texts)
    names = [name for text in given for name in split_measures(text)]
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


def _repetition(first: str, second: str, measure: Measure) -> str:
    if first == second:
        return f"measure {second!r} is named twice; name it once"
    return f"measures {first!r} and {second!r} are the same ({measure.name}); name one of them"


def _parse(text: str) -> Measure:
    form = _FORM.fullmatch(text)
    if form is None or (form["before"] is not None and form["after"] is not None):
        raise ValueError("is not of the form NAME(parameter=value)@k")
    base, cutoff_text = form["base"], form["before"] if form["before"] is not None else form["after"]
    spelling, joined_cutoff = _find(base, cutoff_text)
    given = _split_parameters(form["inside"] or "")
    if "cutoff" in given:
        if cutoff_text is not None or joined_cutoff is not None:
            raise ValueError("names its cutoff twice")
        cutoff_text = given.pop("cutoff")
    cutoff = _cutoff(spelling, joined_cutoff if joined_cutoff is not None else cutoff_text)
    parameters = _parameters(spelling, given)
    measure = Measure(spelling.declaration, cutoff, parameters, spelling.written_as)
    objection = spelling.declaration.objection
    reason = objection(measure.settings) if objection else None
    if reason:
        raise ValueError(reason)
    return measure


def _find(base: str, cutoff: str | None) -> tuple[Spelling, str | None]:
    """Return the spelling of a name, and the cutoff where it is joined to the name."""
    known = list(spellings())
    named = [s for s in known if not s.joined and s.text.casefold() == base.casefold()]
    for spelling in named:
        if spelling.cutoff or cutoff is None:
            return spelling, None
    if named:
        raise ValueError(f"takes no cutoff; write {named[0].declaration.name}@{cutoff}")
    joined = _JOINED.fullmatch(base)
    for spelling in known if joined and cutoff is None else []:
        if joined and spelling.joined and spelling.text.casefold() == joined["base"].casefold():
            return spelling, joined["cutoff"]
    raise ValueError(_unknown(base, cutoff, known))


def _unknown(base: str, cutoff: str | None, known: list[Spelling]) -> str:
    if base.isdecimal():
        return f"is not a measure; write every cutoff with its name, such as P@{base}"
    if base.casefold() in _AMBIGUOUS:
        return f"is ambiguous: {_AMBIGUOUS[base.casefold()]}"
    needs_base = [s for s in known if s.joined and s.text.casefold() == base.casefold()]
    if needs_base:
        return f"needs a cutoff: {base}_{_example(cutoff)} or {needs_base[0].declaration.name}@{_example(cutoff)}"
    # canonical names come first among the spellings and last here, so that they win over other programs' cases
    hint = did_you_mean(base, [s.text for s in reversed(known) if not s.joined])
    if hint and cutoff:
        hint = hint.replace("'?", f"@{cutoff}'?")
    return f"is unknown{hint or '; `rankstats measures` lists all'}"


def _example(cutoff: str | None) -> str:
    return cutoff or "10"


def _cutoff(spelling: Spelling, text: str | None) -> int | None:
    declaration = spelling.declaration
    if text is None:
        if declaration.cutoff == "required":
            raise ValueError(f"needs a cutoff: {spelling.written_as if spelling.programs else spelling.text}@10")
        return None
    if not _CUTOFF.fullmatch(text):
        raise ValueError(f"has the cutoff {text!r}, where a whole number from 1 is expected")
    return int(text)


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
    return ", ".join([p.name for p in declaration.parameters] + ["cutoff"])
