"""How far down lists are looked at."""

from __future__ import annotations

from collections.abc import Sequence

from rankstats.measures.measure import Measure

DEPTH = 10
"""Documents of a list that are shown, and within which unjudged documents are collected."""
DEEPEST = 100
"""Documents of a list that scenarios over unjudged documents look at where a measure looks at all of them."""
MOST_PLACES = 100_000
"""Places of a system's lists that scenarios look at; with many queries only the tops of the lists are."""


def depth_of_scenarios(measure: Measure, n_queries: int) -> int:
    """Return how many documents of each list the scenarios of a measure grade.

    As many as the measure looks at, at most 100, and fewer (never below 10) where that makes more than 100,000 places.

    Examples
    --------
    >>> from rankstats.measures import parse_measure
    >>> [depth_of_scenarios(parse_measure(name), 200) for name in ("RR@5", "P@20", "AP", "Condensed(P@5)", "IPrec@0.5")]
    [5, 20, 100, 100, 100]
    >>> depth_of_scenarios(parse_measure("AP"), 6980)
    14
    """
    by_rank = measure.cutoff is not None and measure.declaration.at == "rank" and not measure.condensed
    wanted = min(int(measure.cutoff), DEEPEST) if by_rank and measure.cutoff else DEEPEST
    return min(wanted, max(DEPTH, MOST_PLACES // max(n_queries, 1)))


def deepest_scenario(measures: Sequence[Measure], claimed: Sequence[str], n_queries: int) -> int:
    """Return how many documents of each list are kept for the scenarios of the claimed measures; of none the first."""
    chosen = [measure for measure in measures if measure.name in claimed] or measures[:1]
    return max((depth_of_scenarios(measure, n_queries) for measure in chosen), default=0)
