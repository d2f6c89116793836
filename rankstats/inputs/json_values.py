"""JSON as it stands: keys that stand twice and constants such as NaN are kept, to be named."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rankstats.errors import InputError
from rankstats.inputs.quoting import quoted


class Members(list[tuple[str, Any]]):
    """A JSON object as pairs of key and value."""

    def repeated_key(self) -> str | None:
        """Return a key that stands twice, or None."""
        names = [name for name, _ in self]
        return next((name for name in names if names.count(name) > 1), None) if len(set(names)) < len(names) else None


@dataclass(frozen=True, slots=True)
class Constant:
    """NaN, Infinity or -Infinity, which are no JSON but often written."""

    name: str


def json_decoder() -> json.JSONDecoder:
    """Return a decoder that gives `Members` and `Constant`."""
    return json.JSONDecoder(object_pairs_hook=Members, parse_constant=Constant)


def without_members(value: Any, fault: Callable[[str], InputError]) -> Any:
    """Return a value with dictionaries for objects.

    Raises
    ------
    InputError
        If a key stands twice in one object, or a number is a constant.

    Examples
    --------
    >>> without_members(json_decoder().decode('{"a": [{"b": 1}]}'), InputError)
    {'a': [{'b': 1}]}
    """
    if isinstance(value, Members):
        twice = value.repeated_key()
        if twice is not None:
            raise fault(f"the key {quoted(twice)} stands twice in one object; remove one")
        return {name: without_members(member, fault) for name, member in value}
    if isinstance(value, list):
        return [without_members(item, fault) for item in value]
    if isinstance(value, Constant):
        raise fault(f"{value.name} is not a finite number")
    return value
