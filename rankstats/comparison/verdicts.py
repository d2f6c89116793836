"""Verdicts: one plain sentence for each pair and primary measure, with its outcome."""

from __future__ import annotations

from collections.abc import Mapping

from rankstats.comparison.result import Difference, Interval, Verdict
from rankstats.conventions import RANK_TESTS, SMALLEST_VERDICT_N
from rankstats.tables import MeasureInfo
from rankstats.wording import count, decimals_for, interval, number, p_statement, percent, signed


def outcome_of(row: Difference, alpha: float) -> str:
    """Return 'better', 'worse', 'equivalent' or 'not_shown' for a difference.

    A verdict needs at least 10 queries, in effective number where there are weights. It follows the adjusted p-value
    and the side of the test's own estimate; a rank or sign test whose interval does not agree shows nothing.
    Equivalence needs a margin and a simultaneous interval inside it. A verdict may be withheld for a reason that the
    row names.
    """
    if row.withheld is not None or has_too_few(row) or row.estimate is None or row.p_adjusted is None:
        return "not_shown"
    if _is_equivalent(row):
        return "equivalent"
    if row.p_adjusted > alpha or row.estimate == 0:
        return "not_shown"
    if row.test in RANK_TESTS and (row.interval is None or not row.interval.leaves_out_zero()):
        return "not_shown"
    return "better" if (row.estimate > 0) == row.higher_is_better else "worse"


def has_too_few(row: Difference) -> bool:
    """Whether there are too few queries or clusters for a verdict, in number or by their weights."""
    return independent(row) < SMALLEST_VERDICT_N


def independent(row: Difference) -> float:
    """Return how many independent observations a difference rests on: queries or clusters, as their weights count."""
    plain = row.weighting is None and row.n_clusters is None
    return row.n if plain or row.n_effective is None else min(row.n, row.n_effective)


def _is_equivalent(row: Difference) -> bool:
    if row.margin is None or row.test in RANK_TESTS:
        return False
    if row.ties == row.n:
        return True
    shown = row.adjusted_interval
    return shown is not None and max(abs(end) for end in shown.ends) < row.margin


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
    n = sample(row)
    decimals = decimals_for(row.standard_error)
    if row.weighting is not None:
        label = f"{label} (weighted by {row.weighting})"
    if row.segment is not None:
        label = f"{label} where {row.segment['attribute']} is {row.segment['value']}"
    if row.difference is None:
        return f"{row.system} and {row.baseline} cannot be compared on {label}: no query is defined for both."
    size = _size(row, decimals)
    if has_too_few(row):
        return (
            f"Too few queries for a verdict on {label}: {row.system} against {row.baseline} {size} "
            f"on {_few(row, n)}; at least {SMALLEST_VERDICT_N} are needed."
        )
    if row.withheld is not None:
        return (
            f"The verdict on {label} for {row.system} against {row.baseline} is withheld: {size} ({n}), "
            f"but {row.withheld}."
        )
    if row.wins == 0 and row.losses == 0 and outcome == "not_shown":
        return f"{row.system} and {row.baseline} do not differ on {label} on any of {n}: nothing can be shown."
    evidence = _evidence(row, decimals)
    if outcome == "equivalent":
        return (
            f"{row.system} and {row.baseline} are equivalent on {label} within ±{row.margin:g}: "
            f"{size} ({evidence}; {n})."
        )
    if outcome == "not_shown":
        return (
            f"{row.system} is not shown to {_asked(row)} {row.baseline} on {label}: "
            f"{size} ({evidence}; {_can_show(row, n)})."
        )
    lower = "" if row.higher_is_better else "; lower is better"
    return f"{row.system} is {outcome} than {row.baseline} on {label} by {size} ({evidence}; {n}{lower})."


def sample(row: Difference) -> str:
    """Return the number of queries, and of their clusters, in words."""
    n = count(row.n, "query", "queries")
    return n if row.n_clusters is None else f"{n} in {count(row.n_clusters, 'cluster')}"


def _asked(row: Difference) -> str:
    """What the test could have shown."""
    if row.alternative == "two-sided":
        return "differ from"
    return f"be {'better' if (row.alternative == 'greater') == row.higher_is_better else 'worse'} than"


def _size(row: Difference, decimals: int) -> str:
    """The size that the test is about; beside a median the mean."""
    assert row.difference is not None
    if row.test not in RANK_TESTS or row.estimate is None:
        return signed(row.difference, decimals) + _relative(row)
    return f"a {row.estimand} of {signed(row.estimate, decimals)} (mean difference {signed(row.difference, decimals)})"


def _few(row: Difference, n: str) -> str:
    if row.n < SMALLEST_VERDICT_N or row.n_effective is None or row.n_effective == row.n_clusters:
        return n
    cause = "whose sizes make them" if row.weighting is None else "that the weights make"
    return f"{n} {cause} count like {row.n_effective:.1f}"


def _relative(row: Difference) -> str:
    if row.relative_difference is None:
        return ""
    decimals = 1 if abs(row.relative_difference) < 0.1 else 0
    return f", {percent(row.relative_difference, decimals, sign=True)}"


def _evidence(row: Difference, decimals: int) -> str:
    """The intervals and the adjusted p; the interval that agrees with the verdict comes first."""
    own, joint = row.interval, row.adjusted_interval
    letter = "p" if row.correction == "none" else "adjusted p"
    p = p_statement(row.p_adjusted, letter if row.alternative == "two-sided" else f"one-sided {letter}")
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
    if row.detectable_in_family is None:
        return n
    decimals = decimals_for(row.detectable_in_family)
    return f"{n} can show differences of {number(row.detectable_in_family, decimals)} or more, 4 times in 5"
