"""A measure: a declaration with its parameters settled."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from rankstats.measures.declaration import Declaration, Together, number
from rankstats.tables import MeasureInfo

_TIES = "equal scores are ordered by the policy of the data, the same for every measure (conventions: ties)"
_CONDENSED = "the list without the documents that have no grade of 0 or more; the others move up"


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure that can be computed; made by `parse_measure`.

    Two measures are equal when they compute the same, whichever of its names of equal standing was used.

    Attributes
    ----------
    declaration : Declaration
        What is known of the measure.
    cutoff : int, float or None
        The rank down to which documents count, or the level of recall of a measure that is taken there; None for the
        whole list.
    parameters : tuple of (str, object)
        Every parameter with its value, in the declared order.
    written_as : str
        The name without parameters: the canonical one or a synonym.
    condensed : bool
        Whether it is taken on the list without the unjudged documents.

    Examples
    --------
    >>> from rankstats.measures import parse_measure
    >>> measure = parse_measure("nDCG( dcg = exp-log2 )@10")
    >>> measure.name, measure.label
    ("nDCG(dcg='exp-log2')@10", 'nDCG@10 (2^rel − 1)')
    """

    declaration: Declaration
    cutoff: float | None
    parameters: tuple[tuple[str, Any], ...]
    written_as: str = field(compare=False)
    condensed: bool = False

    def __post_init__(self) -> None:
        if self.condensed and "lists" in self.declaration.needs:
            raise ValueError("looks at all documents of the list, judged or not; it has no condensed list")
        if self.condensed and self.declaration.together is not None:
            raise ValueError("looks at judged documents only, whatever their order; it has no condensed list")

    @property
    def settings(self) -> dict[str, Any]:
        """The parameters with the cutoff, as the formulas take them."""
        return {**dict(self.parameters), "cutoff": self.cutoff}

    @property
    def name(self) -> str:
        """The canonical name; it parses back to this measure."""
        base, shown = self._shown()
        inside = ",".join(f"{p.name}={p.write(value)}" for p, value in shown)
        name = base + (f"({inside})" if inside else "") + self._at()
        return f"Condensed({name})" if self.condensed else name

    @property
    def label(self) -> str:
        """A short label for tables and figures; different measures have different labels."""
        base, shown = self._shown()
        notes = [self.declaration.remark, "condensed" if self.condensed else ""]
        inside = "; ".join(filter(None, [*notes, *(p.label(value) for p, value in shown)]))
        return base + self._at() + (f" ({inside})" if inside else "")

    @property
    def together(self) -> Together | None:
        """How all queries together make one value of a system; None for a measure with a value a query."""
        together = self.declaration.together
        return together if together is not None and together.applies(self.settings) else None

    def info(self) -> MeasureInfo:
        """Return the name, the label and every convention in words and values."""
        return MeasureInfo(
            name=self.name,
            label=self.label,
            definition=self._definition(),
            higher_is_better=self.declaration.higher_is_better,
            diagnostic=self.declaration.diagnostic,
            aggregate="together" if self.together else self.declaration.aggregate,
        )

    def _at(self) -> str:
        return "" if self.cutoff is None else f"@{number(self.cutoff)}"

    def _shown(self) -> tuple[str, list[tuple[Any, Any]]]:
        """Return the base of the name and the parameters that it does not imply."""
        values = dict(self.parameters)
        implied = {p.name: p.default for p in self.declaration.parameters if not p.required}
        base = self.written_as
        for short_name, fixed in self.declaration.short_names.items():
            if all(values[name] == value for name, value in fixed.items()):
                base, implied = short_name, {**implied, **fixed}
        shown = [
            (p, values[p.name])
            for p in self.declaration.parameters
            if p.name not in implied or values[p.name] != implied[p.name]
        ]
        return base, shown

    def _definition(self) -> dict[str, str]:
        declaration = self.declaration
        definition = {
            "meaning": f"{declaration.title}: {declaration.summary}",
            "formula": declaration.formula(self.settings),
            "cutoff": self._cutoff_in_words(),
        }
        if self.condensed:
            definition["condensed"] = _CONDENSED
        for parameter, (_, value) in zip(declaration.parameters, self.parameters, strict=True):
            definition.update(parameter.conventions(value))
        definition.update(declaration.conventions)
        definition["undefined"] = self._undefined()
        definition["missing query"] = f"{declaration.missing}, unless it is an error (conventions: missing_query)"
        definition["ties"] = _TIES
        definition["range"] = declaration.range
        if declaration.aggregate == "sum":
            definition["aggregate"] = "sum over the queries"
        definition["direction"] = "higher is better" if declaration.higher_is_better else "lower is better"
        definition["source"] = declaration.source
        return definition

    def _undefined(self) -> str:
        undefined, without_value = self.declaration.undefined, self.declaration.without_value
        if without_value is not None:
            left_out = "" if self.together else ": no value, left out for every system alike"
            return without_value(self.settings) + left_out
        words = undefined.words(self.settings) if undefined is not None else ""
        if words:
            return (
                f"{words}: no value, left out for every system alike, or {self.declaration.zero:.4g} (conventions: "
                "no_relevant)"
            )
        return "never: every judged query has a value"

    def _cutoff_in_words(self) -> str:
        if self.cutoff is None:
            return "none: the whole list"
        return f"{'k' if self.declaration.at == 'rank' else 'recall'} = {number(self.cutoff)}"
