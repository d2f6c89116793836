"""System: what is compared."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class System:
    """A system and where its values came from."""

    name: str
    source: str
