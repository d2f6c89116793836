"""Findings: what the evidence checks look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rankstats.comparison.evidence import Evidence
from rankstats.comparison.result import (
    CondensedDifference,
    Coverage,
    Difference,
    Heterogeneity,
    PostStratified,
    TieEffect,
    Verdict,
)
from rankstats.plan import Plan
from rankstats.wording import count, decimals_for, percent


@dataclass(frozen=True, slots=True)
class Findings:
    """What the checks look at.

    Attributes
    ----------
    evidence : Evidence
        The data.
    plan : Plan
        What was asked.
    confirmatory : tuple of Difference
        The claims.
    plain : tuple of Difference
        With weights: the same differences of plain means; else empty.
    verdicts : tuple of Verdict
        One a claim.
    heterogeneity : tuple of Heterogeneity
        The tests of the attributes.
    carried_by : tuple of (Difference, str)
        Claims that fall when one query is left out, with that query's id.
    coverage : tuple of Coverage
        What unjudged documents could change.
    tie_effects : tuple of TieEffect
        What the order of tied scores changes.
    undivided : tuple of str
        Segment specifications that put all scored queries into one segment.
    condensed : tuple of CondensedDifference
        The claims on condensed lists.
    mixes : tuple of PostStratified
        The differences under stated or measured mixes of segments.
    """

    evidence: Evidence
    plan: Plan
    confirmatory: tuple[Difference, ...]
    plain: tuple[Difference, ...]
    verdicts: tuple[Verdict, ...]
    heterogeneity: tuple[Heterogeneity, ...]
    carried_by: tuple[tuple[Difference, str], ...]
    coverage: tuple[Coverage, ...] = ()
    tie_effects: tuple[TieEffect, ...] = ()
    undivided: tuple[str, ...] = ()
    condensed: tuple[CondensedDifference, ...] = ()
    mixes: tuple[PostStratified, ...] = ()

    def label(self, measure: str) -> str:
        """Return the short label of a measure."""
        return next(info.label for info in self.evidence.scores.measures if info.name == measure)

    def decimals(self, measure: str) -> int:
        """Return the decimals with which a report writes a measure: the middle of what its claims support."""
        rows = [row for row in (*self.confirmatory, *self.plain) if row.measure == measure and row.segment is None]
        found = sorted(decimals_for(row.standard_error) for row in rows)
        return found[len(found) // 2] if found else 3

    def place(self, row: Difference | Heterogeneity) -> str:
        """Say which pair and measure a warning is about."""
        return f"{row.system} against {row.baseline}, {self.label(row.measure)}"


def share_words(share: float) -> str:
    r"""Return a share as the tables write it: whole percent, one decimal below ten.

    Examples
    --------
    >>> share_words(0.46), share_words(0.022)
    ('46\xa0%', '2.2\xa0%')
    """
    return percent(share, 1 if 0 < share < 0.0995 else 0)


def all_of(names: Sequence[str]) -> str:
    """Return names as a list in words.

    Examples
    --------
    >>> all_of(["a", "b", "c"]), all_of(["a"])
    ('a, b and c', 'a')
    """
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


def outcome_words(outcome: str) -> str:
    """Return an outcome in words, such as 'not shown'."""
    return outcome.replace("_", " ")


def queries(n: int) -> str:
    """Return a number of queries in words."""
    return count(n, "query", "queries")
