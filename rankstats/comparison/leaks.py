"""Runs too good to be true: a relevant document on top of every list."""

from __future__ import annotations

import numpy as np

from rankstats.comparison.evidence import Evidence
from rankstats.conventions import SMALLEST_VERDICT_N


def perfect_systems(evidence: Evidence) -> list[str]:
    """Return the systems whose run has a relevant document first on every query, of at least 10."""
    n = len(evidence.scores.query_ids)
    if n < SMALLEST_VERDICT_N:
        return []
    return [hit.system for hit in evidence.hits if len(np.unique(hit.query[(hit.rank == 1) & (hit.grade > 0)])) == n]


def reason_of_leak(evidence: Evidence) -> str | None:
    """Return why no verdict can be given where every run is perfect, or None."""
    if not evidence.hits or len(perfect_systems(evidence)) < len(evidence.hits):
        return None
    return "every run has a relevant document first on every query: the judgments may have leaked into the runs"
