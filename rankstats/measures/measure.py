"""A measure: a declaration with its parameters settled."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from rankstats.measures.declaration import Declaration
from rankstats.tables import MeasureInfo

_TIES = "equal scores are ordered by the policy of the data, the same for every measure (conventions: ties)"
_MISSING = "a judged query that a run lacks has the value 0, unless it is an error (conventions: missing_query)"


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure that can be computed; made by `parse_measure`.

    Two measures are equal when they compute the same, whichever of its names of equal standing was used.

    Attributes
    ----------
    declaration : Declaration
        What is known of the measure.
    cutoff : int or None
        The rank down to which documents count; None for the whole list.
    parameters : tuple of (str, object)
        Every parameter with its value, in the declared order.
    written_as : str
        The name without parameters: the canonical one or a synonym.

    Examples
    --------
    >>> from rankstats.measures import parse_measure
    >>> measure = parse_measure("nDCG( dcg = exp-log2 )@10")
    >>> measure.name, measure.label
    ("nDCG(dcg='exp-log2')@10", 'nDCG@10 (2^rel − 1)')
    """

    declaration: Declaration
    cutoff: int | None
    parameters: tuple[tuple[str, Any], ...]
    written_as: str = field(compare=False)

    @property
    def settings(self) -> dict[str, Any]:
        """The parameters with the cutoff, as the formulas take them."""
        return {**dict(self.parameters), "cutoff": self.cutoff}

    @property
    def name(self) -> str:
        """The canonical name; it parses back to this measure."""
        base, shown = self._shown()
        inside = ",".join(f"{p.name}={p.write(value)}" for p, value in shown)
        return base + (f"({inside})" if inside else "") + self._at()

    @property
    def label(self) -> str:
        """A short label for tables and figures; different measures have different labels."""
        base, shown = self._shown()
        inside = "; ".join(p.label(value) for p, value in shown)
        return base + self._at() + (f" ({inside})" if inside else "")

    def info(self) -> MeasureInfo:
        """Return the name, the label and every convention in words and values."""
        return MeasureInfo(
            name=self.name,
            label=self.label,
            definition=self._definition(),
            higher_is_better=self.declaration.higher_is_better,
            diagnostic=self.declaration.diagnostic,
        )

    def _at(self) -> str:
        return "" if self.cutoff is None else f"@{self.cutoff}"

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
        undefined = declaration.undefined
        definition = {
            "meaning": f"{declaration.title}: {declaration.summary}",
            "formula": declaration.formula(self.settings),
            "cutoff": "none: the whole list" if self.cutoff is None else f"k = {self.cutoff}",
        }
        for parameter, (_, value) in zip(declaration.parameters, self.parameters, strict=True):
            definition.update(parameter.conventions(value))
        definition.update(declaration.conventions)
        definition["undefined"] = (
            "never: every judged query has a value"
            if undefined is None
            else f"{undefined.words(self.settings)}: no value, left out for every system alike, or 0 (conventions: "
            "no_relevant)"
        )
        definition["missing query"] = _MISSING
        definition["ties"] = _TIES
        definition["range"] = declaration.range
        definition["direction"] = "higher is better" if declaration.higher_is_better else "lower is better"
        definition["source"] = declaration.source
        return definition
