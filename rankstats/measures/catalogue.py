"""Every measure that is known, and the spellings that lead to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rankstats.measures import graded, ranked, set_based
from rankstats.measures.declaration import Declaration, Settings

DECLARATIONS: tuple[Declaration, ...] = (*set_based.DECLARATIONS, *ranked.DECLARATIONS, *graded.DECLARATIONS)


@dataclass(frozen=True, slots=True)
class Spelling:
    """One way to write a measure's name.

    Attributes
    ----------
    text : str
        The name without cutoff and parameters.
    declaration : Declaration
        The measure.
    written_as : str
        The name that stands in the canonical name.
    settings : mapping
        Parameters that the spelling fixes.
    joined : bool
        Whether the cutoff is joined by '_' or '.' instead of '@'.
    cutoff : bool
        Whether a cutoff may follow.
    programs : str
        Whose spelling it is; empty for our own names.
    """

    text: str
    declaration: Declaration
    written_as: str
    settings: Settings
    joined: bool = False
    cutoff: bool = True
    programs: str = ""


def spellings() -> Iterator[Spelling]:
    """Yield every spelling, canonical names first, then synonyms and short names, then those of other programs."""
    for declaration in DECLARATIONS:
        for name in (declaration.name, *declaration.synonyms):
            yield Spelling(name, declaration, name, {})
        for name, settings in declaration.short_names.items():
            yield Spelling(name, declaration, declaration.name, settings)
    for declaration in DECLARATIONS:
        for alias in declaration.aliases:
            yield Spelling(
                alias.name, declaration, declaration.name, alias.settings, alias.joined, alias.cutoff, alias.programs
            )
