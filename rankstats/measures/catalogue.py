"""Every measure that is known, and the spellings that lead to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rankstats.measures import (
    beyond_accuracy,
    counts,
    exposure,
    geometric,
    graded,
    graded_averages,
    incomplete,
    interpolated,
    overlap,
    ranked,
    ratings,
    set_based,
    subtopics,
    user_models,
    whole_list,
)
from rankstats.measures.declaration import Alias, Declaration, Settings

DECLARATIONS: tuple[Declaration, ...] = (
    *set_based.DECLARATIONS,
    *ranked.DECLARATIONS,
    *graded.DECLARATIONS,
    *graded_averages.DECLARATIONS,
    *user_models.DECLARATIONS,
    *overlap.DECLARATIONS,
    *incomplete.DECLARATIONS,
    *interpolated.DECLARATIONS,
    *geometric.DECLARATIONS,
    *whole_list.DECLARATIONS,
    *counts.DECLARATIONS,
    *subtopics.DECLARATIONS,
    *beyond_accuracy.DECLARATIONS,
    *exposure.DECLARATIONS,
    *ratings.DECLARATIONS,
)


@dataclass(frozen=True, slots=True)
class Wrapper:
    """A way to make a measure out of any other.

    Attributes
    ----------
    name, usage : str
        Its name, and how it is written.
    summary : str
        What it does, in one sentence.
    """

    name: str
    usage: str
    summary: str


CONDENSED = Wrapper(
    name="Condensed",
    usage="Condensed(MEASURE)",
    summary="any measure on the list without its unjudged documents; ir_measures writes judged_only=True",
)
WRAPPERS: tuple[Wrapper, ...] = (CONDENSED,)


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
    alias : Alias or None
        What another program's spelling does with the text joined to it.
    """

    text: str
    declaration: Declaration
    written_as: str
    settings: Settings
    joined: bool = False
    cutoff: bool = True
    programs: str = ""
    alias: Alias | None = None


def spellings() -> Iterator[Spelling]:
    """Yield every spelling, canonical names first, then synonyms and short names, then those of other programs."""
    for declaration in DECLARATIONS:
        for name in (declaration.name, *declaration.synonyms):
            yield Spelling(name, declaration, name, {}, cutoff=declaration.cutoff != "none")
        for name, settings in declaration.short_names.items():
            yield Spelling(name, declaration, declaration.name, settings, cutoff=declaration.cutoff != "none")
    for declaration in DECLARATIONS:
        for alias in declaration.aliases:
            yield Spelling(
                alias.name,
                declaration,
                declaration.name,
                alias.settings,
                alias.joined,
                alias.cutoff and alias.fills == "cutoff" and declaration.cutoff != "none",
                alias.programs,
                alias,
            )
