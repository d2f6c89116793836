"""Differences as rows: of a forest, and of the table that holds the same numbers."""

from __future__ import annotations

from collections.abc import Sequence

from rankstats import wording
from rankstats.conventions import RANK_TESTS
from rankstats.report.blocks import MARKS, TOO_FEW, WORDS, Cell, Column, ForestRow
from rankstats.report.source import Row, Source, effect_of, ends, level
from rankstats.report.texts import label, shown

TEST_NAMES = {
    "randomisation": "sign-flip randomisation test",
    "bootstrap": "paired bootstrap",
    "t": "paired t test",
    "wilcoxon": "Wilcoxon signed-rank test",
    "sign": "sign test",
    "welch": "Welch's t test",
    "score": "score test of two shares",
    "delta": "delta method, Welch's t",
    "quantile": "quantiles of clustered rows, delta method",
    "cuped": "Welch's t after adjustment by covariates (CUPED)",
    "confidence-sequence": "asymptotic confidence sequence",
    "normal": "normal bootstrap interval",
    "percentile": "percentile bootstrap interval",
    "expanded": "expanded percentile bootstrap interval",
    "basic": "basic bootstrap interval",
    "bca": "BCa bootstrap interval",
    "studentised": "bootstrap-t interval",
}
CORRECTION_NAMES = {
    "none": "no correction",
    "auto": "chosen by the family",
    "bootstrap-max-t": "bootstrap max-T",
    "max-t": "max-T by sign flips",
    "max-t-stepdown": "max-T by sign flips, stepping down",
    "bonferroni": "Bonferroni",
    "guarded-bonferroni": "Bonferroni on the test and t, the larger p",
    "holm": "Holm",
    "holm-sidak": "Holm–Šidák",
    "hochberg": "Hochberg",
    "hommel": "Hommel",
    "sidak": "Šidák",
    "tukey": "Tukey's randomised HSD",
    "bh": "Benjamini–Hochberg",
    "by": "Benjamini–Yekutieli",
}


def share_text(share: float | None) -> str:
    r"""Return a share of the segments: whole percent, one decimal below ten.

    Examples
    --------
    >>> share_text(0.714), share_text(0.0123), share_text(None)
    ('71\xa0%', '1.2\xa0%', '')
    """
    if share is None:
        return ""
    return wording.percent(share, 1 if 0 < share < 0.0995 else 0)


def relative_text(share: float | None) -> str:
    r"""Return a relative difference: whole percent, one decimal below ten.

    Examples
    --------
    >>> relative_text(0.345), relative_text(-0.079), relative_text(None)
    ('+34\xa0%', '−7.9\xa0%', '—')
    """
    decimals = 1 if share is not None and abs(share) < 0.1 else 0
    return wording.percent(share, decimals, sign=True)


def p_of(row: Row) -> float | None:
    """Return the adjusted p-value of a difference, its own where nothing is adjusted."""
    value = row["p_value"] if row["p_adjusted"] is None else row["p_adjusted"]
    return None if value is None else float(value)


def is_adjusted(row: Row) -> bool:
    """Return whether a difference carries an adjusted p-value that is more than its own."""
    return row["p_adjusted"] is not None and row["p_adjusted"] != row["p_value"]


def interval_words(source: Source, row: Row) -> str:
    """Return the intervals of a difference in words: its own, and the simultaneous one where it is another."""
    own, joint = row["interval"], row["adjusted_interval"]
    if own is None:
        return "no interval"
    text = f"{level(own)} {source.range(row['measure'], own)}"
    if joint is not None and ends(joint) != ends(own):
        return f"{text} (simultaneous {source.range(row['measure'], joint)})"
    return text


def counts_words(source: Source, row: Row) -> str:
    """Return better, equal and worse counts in words, or an empty text."""
    if row["wins"] is None:
        return ""
    return f"{source.n_text(row['wins'])} better, {row['ties']:,} equal, {row['losses']:,} worse"


def forest_row(source: Source, row: Row, name: str, share: float | None = None, *, first: bool = False) -> ForestRow:
    """Return a difference as a row of a forest, marks and words alike."""
    measure, tone, name = row["measure"], source.tone(row), shown(name, 80)
    difference, p = source.signed(measure, effect_of(row)), p_of(row)
    letter = "adjusted p" if is_adjusted(row) else "p"
    spoken = (
        f"{name}: {difference}, {interval_words(source, row)}, {wording.p_statement(p, letter)}, "
        f"{source.n_text(row['n'])}: {WORDS[tone]}"
    )
    return ForestRow(
        name=name,
        label=label(name),
        n=f"{row['n']:,}",
        share=share_text(share),
        difference=difference,
        interval=source.range(measure, row["interval"]),
        own_p=wording.p_value(row["p_value"]),
        p="too few" if tone == TOO_FEW else wording.p_value(p),
        spoken=spoken,
        adjusted=row["p_adjusted"] is not None,
        tone=tone,
        value=effect_of(row),
        inner=ends(row["interval"]),
        outer=None if ends(row["adjusted_interval"]) == ends(row["interval"]) else ends(row["adjusted_interval"]),
        first=first,
    )


def difference_columns(heads: Sequence[str], rows: Sequence[Row], share: str = "") -> tuple[Column, ...]:
    """Return the columns of a table of differences after the given heading columns."""
    joint = any(row["adjusted_interval"] is not None for row in rows)
    adjusted = any(row["p_adjusted"] is not None for row in rows)
    weighted = any(row["weighting"] is not None for row in rows)
    named = level(next((row["interval"] for row in rows if row["interval"]), None))
    return (
        *(Column(head, number=False) for head in heads),
        Column("n"),
        *([Column("effective n")] if weighted else []),
        *([Column(share)] if share else []),
        Column("baseline mean"),
        Column("system mean"),
        Column(str(rows[0]["estimand"]) if rows and rows[0]["test"] in RANK_TESTS else "difference"),
        Column("relative"),
        Column(named, note="below: simultaneous" if joint else ""),
        Column("p"),
        *([Column("adj. p")] if adjusted else []),
        Column("shown?", number=False),
    )


def difference_cells(
    source: Source, row: Row, heads: Sequence[str], rows: Sequence[Row], share: str | None = None
) -> tuple[Cell, ...]:
    """Return a difference as cells that fit `difference_columns`."""
    measure, tone = row["measure"], source.tone(row)
    adjusted = any(r["p_adjusted"] is not None for r in rows)
    weighted = any(r["weighting"] is not None for r in rows)
    joint = row["adjusted_interval"]
    return (
        *(Cell(shown(head, 80)) for head in heads),
        Cell(f"{row['n']:,}"),
        *([Cell(wording.number(row.get("n_effective"), 1))] if weighted else []),
        *([Cell(share)] if share is not None else []),
        Cell(source.mean(measure, row["mean_baseline"])),
        Cell(source.mean(measure, row["mean_system"])),
        Cell(source.signed(measure, effect_of(row)), tone=tone, stars=source.stars(row)),
        Cell(relative_text(row["relative_difference"])),
        Cell(source.range(measure, row["interval"]), note="" if joint is None else source.range(measure, joint)),
        Cell(wording.p_value(row["p_value"])),
        *([Cell(wording.p_value(row["p_adjusted"]))] if adjusted else []),
        Cell(WORDS[tone], tone=tone, mark=MARKS[tone]),
    )


def tests_line(source: Source, rows: Sequence[Row]) -> str:
    """Return in words how p-values and intervals of the rows were made."""
    tests = dict.fromkeys(str(TEST_NAMES.get(row["test"], row["test"])) for row in rows)
    parts = [f"Test: {', '.join(tests)}"]
    by_role: dict[str, list[str]] = {}
    for row in rows:
        family = source.family(row)
        role = str(row.get("role") or (family["role"] if family else "exploratory"))
        named = CORRECTION_NAMES.get(source.correction(row), source.correction(row))
        size = int(family.get("size", len(family["members"]))) if family else 1
        text = f"{named}, family of {wording.count(size, 'comparison')}" if size > 1 else "one comparison, not adjusted"
        by_role.setdefault(role, []).append(text)
    parts += [f"{role.capitalize()}: {'; '.join(dict.fromkeys(texts))}" for role, texts in by_role.items()]
    return ". ".join(parts) + "."
