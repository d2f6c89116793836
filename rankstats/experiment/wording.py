"""Verdicts of experiments in words, as those of comparisons; and names of metrics' procedures."""

from __future__ import annotations

from rankstats.comparison.result import Interval
from rankstats.comparison.verdicts import level_text
from rankstats.conventions import SMALLEST_VERDICT_N
from rankstats.experiment.result import Effect
from rankstats.wording import count, decimals_for, interval, number, p_statement, percent, signed


def outcome_of(row: Effect, alpha: float) -> str:
    """Return 'better', 'worse', 'equivalent' or 'not_shown' for an effect.

    It follows the adjusted p-value and the side of the estimate; fewer than 10 units in an arm, or a check that blocks,
    show nothing. Equivalence needs a margin and an adjusted interval inside it.
    """
    if row.withheld is not None or has_too_few(row) or row.difference is None or row.p_adjusted is None:
        return "not_shown"
    inside = row.adjusted_interval
    if row.margin is not None and inside is not None and max(abs(end) for end in inside.ends) < row.margin:
        return "equivalent"
    if row.p_adjusted > alpha or row.difference == 0:
        return "not_shown"
    return "better" if (row.difference > 0) == row.higher_is_better else "worse"


def has_too_few(row: Effect) -> bool:
    """Whether an arm has too few units for a verdict."""
    return min(row.n_baseline, row.n_system) < SMALLEST_VERDICT_N


def sentence(row: Effect, outcome: str, label: str) -> str:
    """Return the verdict in words: who, by how much, interval, adjusted p, units."""
    n, label = count(row.n, "unit"), named(label)
    if row.difference is None:
        return f"{row.system} and {row.baseline} cannot be compared on {label}: an arm has no value."
    size = signed(row.difference, decimals_for(row.standard_error)) + relative_words(row)
    if has_too_few(row):
        return (
            f"Too few units for a verdict on {label}: {row.system} against {row.baseline} {size} on {n} "
            f"({row.n_baseline:,} and {row.n_system:,}); at least {SMALLEST_VERDICT_N} an arm are needed."
        )
    if row.withheld is not None:
        return (
            f"The verdict on {label} for {row.system} against {row.baseline} is withheld: {row.withheld} "
            f"(the numbers say {size}, on {n})."
        )
    evidence = evidence_words(row)
    if outcome == "equivalent":
        within = f"within ±{row.margin:g}"
        return f"{row.system} and {row.baseline} are equivalent on {label} {within}: {size} ({evidence}; {n})."
    if outcome == "not_shown":
        told = f"{size} ({evidence}; {_can_show(row, n)})"
        return f"{row.system} is not shown to differ from {row.baseline} on {label}: {told}."
    lower = "" if row.higher_is_better else "; lower is better"
    return f"{row.system} is {outcome} than {row.baseline} on {label} by {size} ({evidence}; {n}{lower})."


def named(name: str) -> str:
    """Return the name of a metric as a part of a sentence: one of several words in quotes.

    Examples
    --------
    >>> named("CTR"), named("day 7")
    ('CTR', '“day 7”')
    """
    return f"“{name}”" if " " in name else name


def relative_words(row: Effect) -> str:
    """Return ', +4.1 %', or nothing where the relative effect is undefined."""
    if row.relative_difference is None:
        return ""
    return f", {percent(row.relative_difference, 1 if abs(row.relative_difference) < 0.1 else 0, sign=True)}"


def evidence_words(row: Effect) -> str:
    """Return interval and adjusted p; the interval that agrees with the verdict comes first."""
    decimals = decimals_for(row.standard_error)
    own, joint = row.interval, row.adjusted_interval
    p = p_statement(row.p_adjusted, "p" if row.correction == "none" else "adjusted p")
    if own is None:
        return f"no interval: {row.no_interval}; {p}" if row.no_interval else f"no interval; {p}"
    alone = f"{level_text(own)} interval {_ends(own, decimals)}"
    if joint is None or joint.ends == own.ends:
        return f"{alone}; {p}"
    if own.leaves_out_zero() and not joint.leaves_out_zero():
        return f"simultaneous {level_text(joint)} interval {_ends(joint, decimals)}; alone {_ends(own, decimals)}; {p}"
    return f"{alone}; simultaneous {_ends(joint, decimals)}; {p}"


def _ends(shown: Interval, decimals: int) -> str:
    return interval(shown.low, shown.high, decimals)


def _can_show(row: Effect, n: str) -> str:
    if row.detectable_in_family is None:
        return n
    decimals = decimals_for(row.detectable_in_family)
    return f"{n} can show differences of {number(row.detectable_in_family, decimals)} or more, 4 times in 5"
