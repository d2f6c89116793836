"""Families: which differences are corrected together, and what the correction gives for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from rankstats import stats
from rankstats.comparison.columns import MOST_SHOWN_BESIDE, Block, Column, make_block
from rankstats.comparison.evidence import Evidence
from rankstats.comparison.pair_draws import PairDraws
from rankstats.comparison.result import Family, Interval, OtherCorrection
from rankstats.comparison.significance import Corrected, chosen_correction, correct, correct_tukey, other_corrections
from rankstats.plan import Plan

CONFIRMATORY, PLAIN, EXPLORATORY, DIAGNOSTIC = "confirmatory", "plain", "exploratory", "diagnostic"
"""Ids of the families: the claims; with weights their plain twins; all else; measures of trust such as Judged@10."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a difference stands: its family, and its correction there."""

    family: str
    correction: str
    p_adjusted: float
    interval: Interval | None
    others: tuple[OtherCorrection, ...] = ()

    @property
    def role(self) -> str:
        """The role of the family."""
        return CONFIRMATORY if self.family == CONFIRMATORY else EXPLORATORY


def place_all(
    evidence: Evidence, plan: Plan, blocks: Sequence[Block], claims: Sequence[int], *, draws: PairDraws
) -> tuple[dict[str, Place], tuple[Family, ...]]:
    """Correct every difference within its family; joint resamples of all pairs are kept in `draws`.

    * confirmatory: the claims, under the plan's weights. Where the reference
      system was chosen by its mean ('best'), the correction covers all pairs of systems.
    * plain: with weights, the same differences without them, corrected in the same way.
    * exploratory: other measures and all segments, by Benjamini and Hochberg's procedure.
    * diagnostic: measures of trust, by the same procedure among themselves.

    Returns
    -------
    places : dict of str to Place
        By the id of the difference.
    families : tuple of Family
        Those with members.
    """
    places: dict[str, Place] = {}
    families: list[Family] = []
    for block, name in zip(blocks, (CONFIRMATORY, PLAIN), strict=False):
        found, size = _claims(evidence, plan, block, claims, name, draws=draws)
        places |= found
        families.append(_family(name, plan, found, size))
    rest = [(block, c) for block in blocks for c in range(len(block.columns)) if block.id(c) not in places]
    for name in (EXPLORATORY, DIAGNOSTIC):
        members = [(b, c) for b, c in rest if _is_diagnostic(evidence, b.columns[c]) == (name == DIAGNOSTIC)]
        if members:
            found = _benjamini_hochberg(plan, members, name)
            places |= found
            families.append(_family(name, plan, found, len(found)))
    return places, tuple(families)


def _is_diagnostic(evidence: Evidence, column: Column) -> bool:
    return evidence.scores.measures[column.measure].diagnostic


def _family(name: str, plan: Plan, places: dict[str, Place], size: int) -> Family:
    first = next(iter(places.values()))
    return Family(name, first.role, first.correction, plan.alpha, tuple(places), size)


def _claims(
    evidence: Evidence, plan: Plan, block: Block, claims: Sequence[int], name: str, *, draws: PairDraws
) -> tuple[dict[str, Place], int]:
    if plan.compare == "best":
        wide = _all_pairs(evidence, plan, block, claims)
        position = {column: c for c, column in enumerate(wide.columns)}
        members = [position[block.columns[c]] for c in claims]
    else:
        wide, members = block, list(claims)
    chosen = np.arange(len(wide.columns)) if plan.compare == "best" else np.asarray(members)
    tested, family = wide.tested[plan.test].select(chosen), wide.differences.select(chosen)
    clusters = block.clusters
    correction = chosen_correction(plan, family, clusters)
    if correction == "tukey":
        measures = dict.fromkeys(block.columns[c].measure for c in claims)
        values = [evidence.scores.values[:, :, m] for m in measures]
        corrected = correct_tukey(tested, values, None if block.weighting is None else evidence.weights, plan)
    else:
        max_t = draws.max_t(evidence, [wide.columns[c] for c in chosen])
        corrected = correct(correction, tested, family, plan, clusters, max_t=max_t)
    few = len(claims) <= MOST_SHOWN_BESIDE
    others = other_corrections(correction, tested, family, plan, clusters) if few else {}
    rank = {int(column): k for k, column in enumerate(chosen)}
    places = {
        block.id(c): Place(
            name,
            correction,
            float(corrected.p_adjusted[rank[member]]),
            corrected.interval(rank[member]),
            tuple(_other(text, other, rank[member]) for text, other in others.items()),
        )
        for c, member in zip(claims, members, strict=True)
    }
    return places, len(chosen)


def _all_pairs(evidence: Evidence, plan: Plan, block: Block, claims: Sequence[int]) -> Block:
    """All pairs of systems on the primary measures; pairs with the reference keep its side."""
    measures = dict.fromkeys(block.columns[c].measure for c in claims)
    reference = block.columns[claims[0]].baseline
    order = [reference, *(s for s in range(len(evidence.scores.systems)) if s != reference)]
    columns = tuple(Column(m, b, s) for m in measures for b, s in combinations(order, 2))
    weighted = block.weighting is not None
    return make_block(evidence, plan, columns, (), range(len(columns)), weighted=weighted, first_id=0)


def _other(name: str, other: Corrected, member: int) -> OtherCorrection:
    p = float(other.p_adjusted[member])
    return OtherCorrection(name, None if np.isnan(p) else p, other.interval(member))


def _benjamini_hochberg(plan: Plan, members: Sequence[tuple[Block, int]], name: str) -> dict[str, Place]:
    p_values = np.array([block.tested[plan.test].p_value[c] for block, c in members])
    adjusted = stats.adjust(p_values, "bh")
    return {
        block.id(c): Place(name, "bh", float(p), None) for (block, c), p in zip(members, adjusted.tolist(), strict=True)
    }
