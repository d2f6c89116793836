"""Errors that a user can act on, and the hints that come with them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path


class RankstatsError(ValueError):
    """Base of every error that rankstats raises for bad input; a `ValueError`.

    The message names the thing, the rule, the place and the way out. The command line prints it as one message and
    exits with status 2.
    """


class InputError(RankstatsError):
    """A file that cannot be read as what it is said to be.

    Parameters
    ----------
    problem : str
        What is wrong and what to do, without the place.
    path : str or Path, optional
        The file.
    line : int, optional
        The line, counted from 1.
    """

    def __init__(self, problem: str, path: str | Path | None = None, line: int | None = None) -> None:
        self.problem = problem
        self.path = None if path is None else str(path)
        self.line = line
        place = "" if self.path is None else f"{self.path}: " if line is None else f"{self.path}:{line}: "
        super().__init__(place + problem)


class MeasureError(RankstatsError):
    """A measure name that cannot be understood, or a measure that cannot be computed from what is there."""


class PlanError(RankstatsError):
    """An option, a plan or a policy that contradicts itself or the data."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a hint in the form ``"; did you mean 'AP'?"``, or an empty string when nothing is close.

    Examples
    --------
    >>> did_you_mean("holmes", ["holm", "bonferroni"])
    "; did you mean 'holm'?"
    >>> did_you_mean("xyz", ["holm"])
    ''
    """
    names = list(known)
    folded = {name.casefold(): name for name in names}
    close = difflib.get_close_matches(word.casefold(), list(folded), n=1, cutoff=0.6)
    return f"; did you mean {folded[close[0]]!r}?" if close else ""
