"""Verdicts: one plain sentence for each pair and primary measure, with its outcome."""

from __future__ import annotations

from collections.abc import Mapping

from rankstats.comparison.result import Difference, Interval, Verdict
from rankstats.conventions import SMALLEST_VERDICT_N
from rankstats.tables import MeasureInfo
from rankstats.wording import count, decimals_for, interval, p_statement, percent, signed

OUTCOMES = ("better", "worse", "equivalent", "not_shown")


def outcome_of(row: Difference, alpha: float) -> str:
    """Return 'better', 'worse', 'equivalent' or 'not_shown' for a difference.

    A verdict needs at least 10 queries. It follows the adjusted p-value and interval; equivalence needs a margin and
    an interval inside it.
    """
    if row.n < SMALLEST_VERDICT_N or row.difference is None or row.p_adjusted is None:
        return "not_shown"
    shown = row.adjusted_interval or row.interval
    if row.margin is not None and shown is not None and max(abs(end) for end in shown.ends) < row.margin:
        return "equivalent"
    if row.p_adjusted > alpha or row.difference == 0:
        return "not_shown"
    return "better" if (row.difference > 0) == row.higher_is_better else "worse"


def make_verdicts(
    rows: tuple[Difference, ...], measures: Mapping[str, MeasureInfo], alpha: float
) -> tuple[Verdict, ...]:
    """Return the verdicts of the confirmatory differences, in their order.

    Parameters
    ----------
    rows : tuple of Difference
        The members of the confirmatory family.
    measures : mapping of str to MeasureInfo
        The measures by name.
    alpha : float
        The level.
    """
    return tuple(
        Verdict(
            difference_id=row.id,
            baseline=row.baseline,
            system=row.system,
            measure=row.measure,
            segment=row.segment,
            outcome=(outcome := outcome_of(row, alpha)),
            sentence=sentence(row, outcome, measures[row.measure].label),
        )
        for row in rows
    )


def sentence(row: Difference, outcome: str, label: str) -> str:
    """Return the verdict in words: who, by how much, interval, adjusted p, n."""
    n = count(row.n, "query", "queries")
    decimals = decimals_for(row.standard_error)
    if row.weighting is not None:
        label = f"{label} (weighted by {row.weighting})"
    if row.difference is None:
        return f"{row.system} and {row.baseline} cannot be compared on {label}: no query is defined for both."
    if row.wins == 0 and row.losses == 0:
        return f"{row.system} and {row.baseline} do not differ on {label} on any of {n}: nothing can be shown."
    size = signed(row.difference, decimals) + _relative(row)
    evidence = _evidence(row, decimals)
    if row.n < SMALLEST_VERDICT_N:
        return (
            f"Too few queries for a verdict on {label}: {row.system} against {row.baseline} {size} "
            f"on {n}; at least {SMALLEST_VERDICT_N} are needed."
        )
    if outcome == "equivalent":
        return (
            f"{row.system} and {row.baseline} are equivalent on {label} within ±{row.margin:g}: "
            f"{size} ({evidence}; {n})."
        )
    if outcome == "not_shown":
        return (
            f"{row.system} is not shown to differ from {row.baseline} on {label}: "
            f"{size} ({evidence}; {_can_show(row, n)})."
        )
    lower = "" if row.higher_is_better else "; lower is better"
    return f"{row.system} is {outcome} than {row.baseline} on {label} by {size} ({evidence}; {n}{lower})."


def _relative(row: Difference) -> str:
    if row.relative_difference is None:
        return ""
    decimals = 1 if abs(row.relative_difference) < 0.1 else 0
    return f", {percent(row.relative_difference, decimals, sign=True)}"


def _evidence(row: Difference, decimals: int) -> str:
    """The intervals and the adjusted p; the interval that agrees with the verdict comes first."""
    own, joint = row.interval, row.adjusted_interval
    p = p_statement(row.p_adjusted, "p" if row.correction == "none" else "adjusted p")
    if own is None:
        return f"no interval; {p}"
    alone = f"{level_text(own)} interval {_ends(own, decimals)}"
    if joint is None or joint.ends == own.ends:
        return f"{alone}; {p}"
    if own.leaves_out_zero() and not joint.leaves_out_zero():
        return f"simultaneous {level_text(joint)} interval {_ends(joint, decimals)}; alone {_ends(own, decimals)}; {p}"
    return f"{alone}; simultaneous {_ends(joint, decimals)}; {p}"


def level_text(shown: Interval) -> str:
    """Return the level of an interval, such as '95 %'."""
    return percent(shown.level, 0 if round(shown.level * 100, 6).is_integer() else 1)


def _ends(shown: Interval, decimals: int) -> str:
    return interval(shown.low, shown.high, decimals)


def _can_show(row: Difference, n: str) -> str:
    if row.smallest_detectable is None:
        return n
    decimals = decimals_for(row.smallest_detectable)
    return f"{n} can show differences of {row.smallest_detectable:.{decimals}f} or more"
