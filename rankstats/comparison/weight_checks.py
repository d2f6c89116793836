"""Evidence checks of weights: on how few queries they rest, and what other weights or mixes would say."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rankstats.comparison.findings import Findings, outcome_words, queries
from rankstats.comparison.result import Difference, PostStratified, Warning
from rankstats.comparison.verdicts import has_too_few, outcome_of, sample
from rankstats.conventions import RANK_TESTS
from rankstats.wording import decimals_for, interval, p_statement, signed


def low_effective_n(findings: Findings) -> Iterator[Warning]:
    """Weights that rest on few queries."""
    for row in findings.confirmatory:
        if row.n_clusters is not None and row.n_effective is not None and row.n_effective < row.n_clusters / 2:
            yield Warning(
                "low_effective_n",
                "warning",
                f"{sample(row)} count like {row.n_effective:.0f} clusters: few clusters carry most "
                f"{'queries' if row.weighting is None else 'weight'}.",
                findings.place(row),
            )
        elif row.n_effective is not None and row.weighting is not None and row.n_effective < row.n / 2:
            yield Warning(
                "low_effective_n",
                "warning",
                f"The weights {row.weighting} make {queries(row.n)} count like {row.n_effective:.0f}: "
                f"{_heaviest(findings)}.",
                findings.place(row),
            )


def _heaviest(findings: Findings) -> str:
    """How few queries have half of the weight."""
    weights = findings.evidence.query_weights
    order = np.argsort(-weights, kind="stable")
    half = 1 + int(np.argmax(np.cumsum(weights[order]) * 2 >= weights.sum()))
    named = ", ".join(findings.evidence.scores.query_ids[q] for q in order[: min(half, 3)].tolist())
    return f"half of the weight lies on {queries(half)} ({named}{', …' if half > 3 else ''})"


def weights_disagree(findings: Findings) -> Iterator[Warning]:
    """Weighted and plain means that say different things, both corrected in the same way."""
    alpha = findings.plan.alpha
    for row, plain in zip(findings.confirmatory, findings.plain, strict=bool(findings.plain)):
        outcomes = (outcome_of(row, alpha), outcome_of(plain, alpha))
        if set(outcomes) == {"better", "worse"}:
            yield Warning(
                "reversal",
                "serious",
                f"Weighted by {row.weighting}, {row.system} is {outcomes[0]}; without weights it is {outcomes[1]}.",
                findings.place(row),
            )
        elif outcomes[0] != outcomes[1]:
            decimals = decimals_for(row.standard_error)
            yield Warning(
                "weights_disagree",
                "warning",
                f"Weighted by {row.weighting} the difference is {signed(row.difference, decimals)} "
                f"({outcome_words(outcomes[0])}), without weights {signed(plain.difference, decimals)} "
                f"({outcome_words(outcomes[1])}).",
                findings.place(row),
            )
        elif row.difference is not None and plain.difference is not None and row.difference * plain.difference < 0:
            decimals = decimals_for(row.standard_error)
            yield Warning(
                "reversal",
                "info",
                f"The difference changes its sign with the weights {row.weighting}: "
                f"{signed(row.difference, decimals)}, without them {signed(plain.difference, decimals)}; "
                "neither is shown.",
                findings.place(row),
            )


def mix_disagrees(findings: Findings) -> Iterator[Warning]:
    """A mix of segments under which a claim would be another one, corrected for the size of the family."""
    alpha, members = findings.plan.alpha, len(findings.confirmatory)
    claims = {(row.measure, row.baseline, row.system): row for row in findings.confirmatory if row.segment is None}
    for found in findings.mixes:
        row = claims.get((found.measure, found.baseline, found.system))
        if row is None or row.withheld is not None or has_too_few(row) or row.test in RANK_TESTS:
            continue
        judged, mixed = outcome_of(row, alpha), _under_mix(found, row, alpha / members)
        if judged == "equivalent" or mixed is None or mixed == judged:
            continue
        decimals = decimals_for(row.standard_error)
        yield Warning(
            "mix_disagrees",
            "warning",
            f"{_mix_words(found)} the difference is {signed(found.difference, decimals)}"
            f"{_evidence(found, decimals, members)}: "
            f"{outcome_words(mixed)}; over the judged queries it is {signed(row.difference, decimals)}: "
            f"{outcome_words(judged)}.",
            findings.place(row),
        )


def _under_mix(found: PostStratified, row: Difference, alpha: float) -> str | None:
    """Return the outcome under a mix; without a p-value only that the sign is another one."""
    if found.difference is None or found.p_value is None:
        turned = (found.difference or 0.0) * (row.difference or 0.0) < 0
        return "not_shown" if turned else None
    if found.p_value > alpha or found.difference == 0:
        return "not_shown"
    return "better" if (found.difference > 0) == row.higher_is_better else "worse"


def _evidence(found: PostStratified, decimals: int, members: int) -> str:
    if found.interval is None:
        return ""
    claims = f", one of {members:,} claims" if members > 1 else ""
    return f" ({interval(*found.interval.ends, decimals)}; {p_statement(found.p_value)}{claims})"


def _mix_words(found: PostStratified) -> str:
    if found.source == "stated":
        return f"Under the stated mix of {found.attribute}"
    return f"With {found.attribute} weighted as in the traffic"
