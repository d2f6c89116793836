"""Findings: what the evidence checks look at."""

from __future__ import annotations

from dataclasses import dataclass

from rankstats.comparison.evidence import Evidence
from rankstats.comparison.result import CondensedDifference, Coverage, Difference, Heterogeneity, TieEffect, Verdict
from rankstats.plan import Plan
from rankstats.wording import count


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

    def label(self, measure: str) -> str:
        """Return the short label of a measure."""
        return next(info.label for info in self.evidence.scores.measures if info.name == measure)

    def place(self, row: Difference | Heterogeneity) -> str:
        """Say which pair and measure a warning is about."""
        return f"{row.system} against {row.baseline}, {self.label(row.measure)}"


def queries(n: int) -> str:
    """Return a number of queries in words."""
    return count(n, "query", "queries")
