"""Rows behind a claim: which queries and documents carry it, and what it hangs on."""

from __future__ import annotations

from dataclasses import dataclass

from rankstats.comparison.interval import Interval


@dataclass(frozen=True, slots=True)
class Carrier:
    """A query that moves a difference: its own difference, and its share of the leading side."""

    query_id: str
    difference: float
    share: float


@dataclass(frozen=True, slots=True)
class Robustness:
    """How few queries carry a claim, and what median and trimmed mean say.

    `side` is 'gain' where the gains outweigh, 'loss' where the losses do; `half` of the `movers` on that side make up
    half of it.
    """

    difference_id: str
    median: float | None
    trimmed_mean: float | None
    trim: float
    gain: float | None
    loss: float | None
    side: str | None
    movers: int
    half: int
    share_of_largest: float | None
    carriers: tuple[Carrier, ...]


@dataclass(frozen=True, slots=True)
class Coverage:
    """What the unjudged documents in the tops of two lists could change about a claim.

    `worst` and `best` are the differences when all documents that favour the baseline (or the system) had the highest
    grade; `to_turn` is how many of the lowest relevant grade change the verdict, `turns_to` what it becomes, and
    `likely` how many of the losing list's would be relevant at the rate of its judged ones.
    """

    difference_id: str
    measure: str
    baseline: str
    system: str
    depth: int
    unjudged_baseline: float | None
    unjudged_system: float | None
    documents: int
    worst: float | None
    worst_outcome: str
    best: float | None
    best_outcome: str
    verdict: str
    to_turn: int | None
    turns_to: str | None
    likely: float | None


@dataclass(frozen=True, slots=True)
class CondensedDifference:
    """A claim on condensed lists: compared again with all unjudged documents taken out of the lists.

    `plain` and `verdict` are the difference and the outcome as judged; `disagreement` is 'verdict' where the outcomes
    differ, 'sign' where the differences lie on two sides of 0, else None. `outcome` is None where the correction of
    the claim cannot be repeated for its measure alone.
    """

    difference_id: str
    measure: str
    baseline: str
    system: str
    removed_baseline: int
    removed_system: int
    n: int
    mean_baseline: float | None
    mean_system: float | None
    difference: float | None
    interval: Interval | None
    p_adjusted: float | None
    adjusted_interval: Interval | None
    outcome: str | None
    plain: float | None
    verdict: str
    disagreement: str | None


@dataclass(frozen=True, slots=True)
class TieEffect:
    """What the order inside ties of scores changes about a claim: queries of each list, range of the difference."""

    difference_id: str
    measure: str
    baseline: str
    system: str
    queries_baseline: int
    queries_system: int
    low: float
    high: float
    verdict: str
    turns_to: str | None


@dataclass(frozen=True, slots=True)
class Move:
    """A relevant document that stands at another rank; None where a list lacks it.

    `change` is in the unit of the measure.
    """

    doc_id: str
    grade: float
    rank_baseline: int | None
    rank_system: int | None
    change: float | None


@dataclass(frozen=True, slots=True)
class Explanation:
    """The documents that made the difference on a query."""

    query_id: str
    baseline: str
    system: str
    measure: str
    moves: tuple[Move, ...]
