"""Verdicts of interleaved comparisons in words, as those of comparisons."""

from __future__ import annotations

from rankstats.comparison.result import Interval
from rankstats.comparison.verdicts import level_text
from rankstats.conventions import SMALLEST_VERDICT_N
from rankstats.interleaving.result import Preference
from rankstats.wording import count, decimals_for, interval, number, p_statement, signed

COUNTED = {"unit": ("unit", "units"), "query": ("query", "queries"), "impression": ("impression", "impressions")}
"""What is counted at each level, one and many."""


def preference_outcome(row: Preference, alpha: float) -> str:
    """Return 'better', 'worse' or 'not_shown' for a preference: by the adjusted p-value and the side of the estimate.

    Fewer than 10 units or impressions with clicks, or a check that blocks, show nothing.
    """
    if row.withheld is not None or has_too_few(row) or row.difference is None or row.p_adjusted is None:
        return "not_shown"
    if row.p_adjusted > alpha or row.difference == 0:
        return "not_shown"
    return "better" if row.difference > 0 else "worse"


def has_too_few(row: Preference) -> bool:
    """Whether there are too few units, or impressions with clicks, for a verdict."""
    return min(row.n, row.n_system) < SMALLEST_VERDICT_N


def preference_sentence(row: Preference, outcome: str, tested_at: str) -> str:
    """Return the verdict in words: who, by how much, shares, interval, adjusted p, impressions and units."""
    n = _n(row, tested_at)
    if row.difference is None:
        return f"{row.system} and {row.baseline} cannot be compared on {row.measure}: no impression has a click."
    decimals = decimals_for(row.standard_error)
    size = signed(row.difference, decimals)
    if has_too_few(row):
        return (
            f"Too few {COUNTED[tested_at][1]} for a verdict on {row.measure}: {row.system} against {row.baseline} "
            f"{size} on {n}; at least {SMALLEST_VERDICT_N} are needed."
        )
    if row.withheld is not None:
        return (
            f"The verdict on {row.measure} for {row.system} against {row.baseline} is withheld: {row.withheld} "
            f"(the numbers say {size}, on {n})."
        )
    told = "; ".join(part for part in (shares(row), _evidence(row, decimals)) if part)
    if outcome == "not_shown":
        can = ""
        if row.detectable_in_family is not None:
            smallest = number(row.detectable_in_family, decimals_for(row.detectable_in_family))
            can = f" can show differences of {smallest} or more, 4 times in 5"
        return f"{row.system} is not shown to differ from {row.baseline} on {row.measure}: {size} ({told}; {n}{can})."
    return f"{row.system} is {outcome} than {row.baseline} on {row.measure} by {size} ({told}; {n})."


def shares(row: Preference) -> str:
    """Return both rankers' win shares in words, or their credited clicks: the two numbers that the difference is of."""
    decimals = decimals_for(row.standard_error)
    if row.win_share is None:
        return f"{number(row.mean_system, decimals)} against {number(row.mean_baseline, decimals)} an impression"
    return f"{number(row.win_share, decimals)} against {number(1 - row.win_share, decimals)}"


def _n(row: Preference, tested_at: str) -> str:
    impressions = f"{count(row.n, 'impression')} with clicks"
    return impressions if tested_at == "impression" else f"{impressions} of {count(row.n_system, *COUNTED[tested_at])}"


def _evidence(row: Preference, decimals: int) -> str:
    """Return interval and adjusted p; the interval that agrees with the verdict comes first."""
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


def _ends(shown: Interval, decimals: int) -> str:
    return interval(*shown.ends, decimals)
