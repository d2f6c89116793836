"""Scenarios over the unjudged documents of two lists: could what nobody judged turn a verdict.

The lists are looked at as deep as the measure looks, down to rank 100 at most. A scenario grades some of their unjudged
documents and evaluates both systems again, so it holds for every measure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rankstats.comparison.columns import Block
from rankstats.comparison.depth import DEPTH, depth_of_scenarios
from rankstats.comparison.evidence import Evidence
from rankstats.comparison.findings import share_words
from rankstats.comparison.result import Coverage, Difference
from rankstats.comparison.scenarios import ClaimedFamily
from rankstats.comparison.verdicts import outcome_of
from rankstats.measures import evaluate_systems, parse_measure
from rankstats.measures.measure import Measure
from rankstats.plan import Plan
from rankstats.tables import Hits, Judgments
from rankstats.tables.arrow_arrays import arrow_of, text_array

MOST_CLAIMS = 40
"""Larger families are not looked at: each claim means some twenty runs of the whole family."""
LARGEST_GAP = 0.05
"""Difference of the unjudged shares of two lists above which a verdict may be withheld."""

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Unjudged:
    """Unjudged documents in the tops of two lists; rank 0 where a list's top lacks the document."""

    query: Codes
    doc_ids: tuple[str, ...]
    rank_baseline: Codes
    rank_system: Codes

    def __len__(self) -> int:
        return len(self.query)

    def towards(self, side: int, weights: Floats) -> Codes:
        """Return the documents that would help the system (side 1) or the baseline (−1), the most telling first."""
        swing = side * (_discount(self.rank_system) - _discount(self.rank_baseline))
        order = np.argsort(-np.round(swing * weights[self.query], 12), kind="stable")
        return np.asarray(order[swing[order] * weights[self.query[order]] > 0], dtype=np.int64)


def _discount(rank: Codes) -> Floats:
    return np.where(rank > 0, 1 / np.log2(1 + np.maximum(rank, 1)), 0.0)


def make_coverage(
    evidence: Evidence, plan: Plan, block: Block, claims: Sequence[int], rows: Sequence[Difference]
) -> tuple[Coverage, ...]:
    """Return for each claim over all queries what the unjudged documents in the tops of both lists could change.

    * The worst and best case grade the documents that stand higher in the baseline's list (or in the system's) with the
      highest grade of the judgments, and none of the others.
    * `to_turn` is the smallest number of documents, the most telling first, that with the lowest relevant grade would
      change the verdict; None where all of them would not.

    Parameters
    ----------
    evidence : Evidence
        Judgments and hits; without them there is nothing to say.
    plan : Plan
        Test and level.
    block : Block
        The columns under the plan's weights.
    claims : sequence of int
        Columns of the confirmatory family.
    rows : sequence of Difference
        The same claims as rows.
    """
    if evidence.judgments is None or not evidence.hits or not can_decide_anew(plan, claims):
        return ()
    found = []
    for k, (c, row) in enumerate(zip(claims, rows, strict=True)):
        measure = parse_measure(evidence.scores.measures[block.columns[c].measure].name)
        if measure.declaration.needs:
            continue
        if block.columns[c].attribute is None and row.difference is not None:
            found.append(_Claim.of(evidence, plan, block, (claims, k), row).coverage())
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Claim:
    """A claim with what it takes to decide it anew."""

    evidence: Evidence
    judgments: Judgments
    plan: Plan
    family: ClaimedFamily
    member: int
    row: Difference
    measure: Measure
    pair: tuple[Hits, Hits]
    depth: int
    unjudged: _Unjudged

    @classmethod
    def of(
        cls, evidence: Evidence, plan: Plan, block: Block, place: tuple[Sequence[int], int], row: Difference
    ) -> _Claim:
        claims, member = place
        column = block.columns[claims[member]]
        pair = (evidence.hits[column.baseline], evidence.hits[column.system])
        measure = parse_measure(evidence.scores.measures[column.measure].name)
        assert evidence.judgments is not None
        depth = depth_of_scenarios(measure, evidence.judgments.n_queries)
        return cls(
            evidence,
            evidence.judgments,
            plan,
            ClaimedFamily.of(evidence, plan, block, claims).anchored(member, row, plan),
            member,
            row,
            measure,
            pair,
            depth,
            _find_unjudged(*pair, depth),
        )

    def coverage(self) -> Coverage:
        row, alpha = self.row, self.plan.alpha
        verdict = outcome_of(replace(row, withheld=None), alpha)
        highest = max(float(np.max(self.judgments.grade, initial=1.0)), 1.0)
        weights = self.evidence.query_weights
        cases = {side: self.unjudged.towards(side, weights) for side in (1, -1)}
        best, worst = (self._decide(cases[side], highest) for side in (1, -1))
        sides = {"better": (-1,), "worse": (1,)} if row.higher_is_better else {"better": (1,), "worse": (-1,)}
        turned = [self._to_turn(cases[side], verdict) for side in sides.get(verdict, (1, -1))]
        to_turn = min((t for t in turned if t is not None), default=None)
        shares = tuple(_unjudged_share(hits, self.depth) for hits in self.pair)
        return Coverage(
            difference_id=row.id,
            measure=row.measure,
            baseline=row.baseline,
            system=row.system,
            depth=self.depth,
            unjudged_baseline=shares[0],
            unjudged_system=shares[1],
            documents=len(self.unjudged),
            worst=worst[0],
            worst_outcome=worst[1],
            best=best[0],
            best_outcome=best[1],
            verdict=verdict,
            to_turn=None if to_turn is None else to_turn[0],
            turns_to=None if to_turn is None else to_turn[1],
            likely=self._likely(verdict),
        )

    def _likely(self, verdict: str) -> float | None:
        """How many unjudged documents that help the losing list would be relevant at the rate of its judged ones.

        Judgments that name relevant documents only (clicks, purchases) tell no such rate.
        """
        if verdict == "not_shown" or not (self.judgments.grade < self._lowest()).any():
            return None
        shares = [_unjudged_share(hits, self.depth) or 0.0 for hits in self.pair]
        # of two equivalent systems the one that is judged less may be the better one
        place = {"better": 0, "worse": 1}.get(verdict, int(shares[1] > shares[0]))
        loser, side = self.pair[place], 1 if place else -1
        telling = self.unjudged.towards(side, self.evidence.query_weights)
        shown = loser.rank <= self.depth
        if not shown.any():
            return 0.0
        rate = float(np.mean(loser.grade[shown] >= self._lowest()))
        rank = self.unjudged.rank_system if place else self.unjudged.rank_baseline
        return rate * int(np.count_nonzero(rank[telling] > 0))

    def _lowest(self) -> float:
        """The lowest grade that counts as relevant for the measure."""
        settings = self.measure.settings
        return max(1.0, float(settings.get("rel") or 1.0))

    def _to_turn(self, order: Codes, verdict: str) -> tuple[int, str] | None:
        """The smallest number of documents that change the verdict, and what it becomes."""
        grade = self._lowest()
        if not len(order) or self._decide(order, grade)[1] == verdict:
            return None
        unchanged, changed = 0, len(order)
        while changed - unchanged > 1:
            middle = (unchanged + changed) // 2
            if self._decide(order[:middle], grade)[1] == verdict:
                unchanged = middle
            else:
                changed = middle
        return changed, self._decide(order[:changed], grade)[1]

    def _decide(self, documents: Codes, grade: float) -> tuple[float | None, str]:
        """Return the difference and the outcome when some unjudged documents are given a grade."""
        judgments, pair = with_grades(self.judgments, self.pair, self.unjudged, documents, grade)
        values = evaluate_systems([self.measure], judgments, pair, self.plan.policies)[:, :, 0]
        return self.family.decide(self.member, self.row, values[:, 0], values[:, 1])


def _unjudged_share(hits: Hits, depth: int) -> float | None:
    shown = int(np.count_nonzero(hits.top.rank <= depth))
    unjudged = int(np.count_nonzero(np.isnan(hits.top.grade) & (hits.top.rank <= depth)))
    return unjudged / shown if shown else None


def _find_unjudged(baseline: Hits, system: Hits, depth: int = DEPTH) -> _Unjudged:
    found: dict[tuple[int, str], list[int]] = {}
    for place, hits in enumerate((baseline, system)):
        top = hits.top
        rows = np.flatnonzero(np.isnan(top.grade) & (top.rank <= depth))
        ids = [str(doc_id) for doc_id in top.doc_ids.take(arrow_of(rows)).to_pylist()]
        for query, rank, doc_id in zip(top.query[rows].tolist(), top.rank[rows].tolist(), ids, strict=True):
            found.setdefault((query, doc_id), [0, 0])[place] = rank
    keys = sorted(found)
    ranks = np.array([found[key] for key in keys], dtype=np.int64).reshape(len(keys), 2)
    query = np.array([key[0] for key in keys], dtype=np.int64)
    return _Unjudged(query, tuple(key[1] for key in keys), ranks[:, 0], ranks[:, 1])


def with_grades(
    judgments: Judgments, pair: tuple[Hits, Hits], unjudged: _Unjudged, documents: Codes, grade: float
) -> tuple[Judgments, tuple[Hits, Hits]]:
    """Return judgments and hits as if some of the unjudged documents had been given a grade."""
    if not len(documents):
        return judgments, pair
    old, new = len(judgments.query), len(documents)
    query = np.concatenate([judgments.query, unjudged.query[documents].astype(np.int32)])
    order = np.argsort(query, kind="stable")
    place = np.empty(old + new, dtype=np.int64)
    place[order] = np.arange(old + new)
    added = text_array([unjudged.doc_ids[d] for d in documents.tolist()]).cast(judgments.doc_ids.type)
    doc_ids = pa.concat_arrays([judgments.doc_ids, added]).take(arrow_of(order))
    grades = np.concatenate([judgments.grade, np.full(new, grade)])[order]
    subtopics = judgments.subtopics
    if subtopics is not None:
        subtopics = replace(subtopics, judgment=place[subtopics.judgment])
    graded = replace(
        judgments,
        query=query[order],
        doc_ids=doc_ids,
        grade=grades,
        offsets=np.searchsorted(query[order], np.arange(judgments.n_queries + 1)).astype(np.int64),
        subtopics=subtopics,
    )
    ranks = (unjudged.rank_baseline[documents], unjudged.rank_system[documents])
    both = [
        _with_hits(hits, place[:old], (unjudged.query[documents], rank, place[old:]), grade)
        for hits, rank in zip(pair, ranks, strict=True)
    ]
    return graded, (both[0], both[1])


def _with_hits(hits: Hits, place: Codes, added: tuple[Codes, Codes, Codes], grade: float) -> Hits:
    queries, ranks, rows = (part[added[1] > 0] for part in added)
    query = np.concatenate([hits.query, queries.astype(np.int32)])
    rank = np.concatenate([hits.rank, ranks])
    order = np.lexsort((rank, query))
    score = None
    if hits.score is not None:
        score = np.concatenate([hits.score, np.full(len(queries), np.nan)])[order]
    return replace(
        hits,
        query=query[order],
        rank=rank[order],
        grade=np.concatenate([hits.grade, np.full(len(queries), grade)])[order],
        judgment=np.concatenate([place[hits.judgment], rows])[order],
        score=score,
    )


def can_decide_anew(plan: Plan, claims: Sequence[int]) -> bool:
    """Whether scenarios can be decided as the claims are: in the same family, and in reasonable time."""
    return len(claims) <= MOST_CLAIMS and plan.correction != "tukey" and plan.compare != "best"


def withheld(coverage: Coverage, row: Difference) -> bool:
    """Whether a verdict is withheld because the losing list is judged less and likely holds what would turn it.

    Its unjudged share must be more than 5 points above the other's, and the documents that turn the verdict no more
    than would be relevant at the rate of its judged ones.
    """
    shares = (coverage.unjudged_baseline, coverage.unjudged_system)
    if None in shares or coverage.to_turn is None or coverage.likely is None:
        return False
    baseline, system = (share or 0.0 for share in shares)
    gap = {"better": baseline - system, "worse": system - baseline}.get(coverage.verdict, abs(baseline - system))
    return gap > LARGEST_GAP and coverage.to_turn <= coverage.likely


def reason_to_withhold(coverage: Coverage) -> str:
    """Return in words why a verdict is withheld."""
    shares = (coverage.unjudged_baseline or 0.0, coverage.unjudged_system or 0.0)
    wins = {"better": True, "worse": False}.get(coverage.verdict, shares[0] >= shares[1])
    loser, winner = (coverage.baseline, coverage.system) if wins else (coverage.system, coverage.baseline)
    lost, won = shares if wins else shares[::-1]
    return (
        f"{share_words(lost)} of {loser}'s top {coverage.depth} is unjudged ({winner}: {share_words(won)}); if "
        f"{coverage.to_turn or 0:,} of those documents, over all queries, were relevant the verdict would change, and "
        f"about {coverage.likely or 0.0:,.0f} are likely relevant, at the rate of the judged ones"
    )
