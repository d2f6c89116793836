"""Differences as rows: of a forest, and of the table that holds the same numbers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from rankstats import wording
from rankstats.conventions import RANK_TESTS
from rankstats.procedure_names import CORRECTION_NAMES, TEST_NAMES
from rankstats.report.blocks import Cell, Column
from rankstats.report.drawings import ForestRow
from rankstats.report.source import Row, Source, effect_of, ends, level, says_nothing
from rankstats.report.texts import label, shown
from rankstats.report.tones import ASSUMED, BETTER, DIRECTION_ASSUMED, MARKS, NOT_SHOWN, TOO_FEW, WORDS, WORSE

GUARDS = "guards"
"""The family of the guards of an experiment."""
TWICE = 1
"""A relative difference from which a column says ratios where one of its rows does."""
MANY_TIMES = 9
"""A relative difference from which the ratio says more than a percentage."""

_RATIOS = "times: as large as the baseline"


def share_text(share: float | None, decimals: int | None = None) -> str:
    r"""Return a share: whole percent, one decimal below ten, unless the decimals of its column are given.

    Examples
    --------
    >>> share_text(0.714), share_text(0.0123), share_text(0.714, 1), share_text(None)
    ('71\xa0%', '1.2\xa0%', '71.4\xa0%', '')
    """
    if share is None:
        return ""
    return wording.percent(share, decimals_of_shares([share]) if decimals is None else decimals)


def decimals_of_shares(shares: Iterable[float | None]) -> int:
    """Return the decimals with which a column of shares is written: one where a share is below ten percent.

    Examples
    --------
    >>> decimals_of_shares([1.0, 0.71, 0.29]), decimals_of_shares([1.0, 0.96, 0.04])
    (0, 1)
    """
    return int(any(share is not None and 0 < abs(share) < 0.0995 for share in shares))


def segment_share(source: Source, share: float | None) -> str:
    """Return the share of a segment with as many decimals as those of all segments."""
    return share_text(share, decimals_of_shares(segment["share"] for segment in source.segments))


def relative_text(share: float | None, decimals: int | None = None, *, times_from: float = MANY_TIMES) -> str:
    r"""Return a relative difference: whole percent, one decimal below ten, unless the decimals are given.

    What would be written as 0 gets the decimals that show its side; from ten times on, or from a smaller share that a
    column shares, it is a ratio.

    Examples
    --------
    >>> relative_text(0.345), relative_text(-0.079), relative_text(-0.0004), relative_text(None)
    ('+34\xa0%', '−7.9\xa0%', '−0.04\xa0%', '—')
    >>> relative_text(107.37), relative_text(3.08, times_from=1)
    ('108\xa0times', '4.1\xa0times')
    """
    if share is not None and share >= times_from:
        return f"{wording.number(1 + share, int(share < MANY_TIMES))}\N{NO-BREAK SPACE}times"
    places = decimals_of_shares([share]) if decimals is None else decimals
    while share and places < 6 and round(share * 100, places) == 0:
        places += 1
    return wording.percent(share, places, sign=True)


def p_of(row: Row) -> float | None:
    """Return the adjusted p-value of a difference, its own where nothing is adjusted."""
    value = row["p_value"] if row["p_adjusted"] is None else row["p_adjusted"]
    return None if value is None else float(value)


def is_adjusted(row: Row) -> bool:
    """Return whether the adjusted p-value of a difference allows for other comparisons, even where it is its own."""
    correction = row.get("correction") or ("none" if row["p_adjusted"] == row["p_value"] else "")
    return row["p_adjusted"] is not None and correction != "none"


def interval_words(source: Source, row: Row) -> str:
    """Return the intervals of a difference in words: its own, and the simultaneous one where it is another."""
    own, joint = row["interval"], row["adjusted_interval"]
    if own is None or says_nothing(own):
        return "no interval"
    text = f"{level(own)} {source.range(row['measure'], own)}"
    if joint is not None and ends(joint) != ends(own):
        return f"{text} (simultaneous {source.range(row['measure'], joint)})"
    return text


def deciding_interval(source: Source, row: Row) -> str:
    """Return the interval that goes with what a difference shows.

    Its own, but the simultaneous one where the own one leaves out 0 and the adjusted p does not show a side.
    """
    own, joint = ends(row["interval"]), ends(row["adjusted_interval"])
    if own and joint and source.tone(row) == NOT_SHOWN and own[0] * own[1] > 0 and joint[0] * joint[1] <= 0:
        return f"simult. {source.range(row['measure'], row['adjusted_interval'])}"
    return source.range(row["measure"], row["interval"])


def counts_words(source: Source, row: Row) -> str:
    """Return better, equal and worse counts in words, or an empty text."""
    if row["wins"] is None:
        return ""
    up, down = (WORDS[source.directed(row["measure"], tone)] for tone in (BETTER, WORSE))
    return f"{source.n_text(row['wins'])} {up}, {row['ties']:,} equal, {row['losses']:,} {down}"


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
        share=segment_share(source, share),
        difference=difference,
        interval=deciding_interval(source, row),
        level=level(row["interval"]),
        own_p=wording.p_value(row["p_value"]),
        p="too few" if tone == TOO_FEW else wording.p_value(p),
        spoken=spoken,
        adjusted=is_adjusted(row),
        tone=tone,
        value=effect_of(row),
        inner=ends(row["interval"]),
        outer=None if ends(row["adjusted_interval"]) == ends(row["interval"]) else ends(row["adjusted_interval"]),
        first=first,
    )


@dataclass(frozen=True, slots=True)
class _Layout:
    """Which columns a table of differences needs: one that says nothing in any row is left out."""

    joint: bool
    adjusted: bool
    weighted: bool
    relative: bool
    times_from: float

    @classmethod
    def of(cls, rows: Sequence[Row]) -> _Layout:
        joint = ((ends(row["adjusted_interval"]), ends(row["interval"])) for row in rows)
        relatives = [row["relative_difference"] for row in rows if row["relative_difference"] is not None]
        many = max(relatives, default=0) >= MANY_TIMES
        return cls(
            joint=any(both is not None and both != own for both, own in joint),
            adjusted=any(is_adjusted(row) for row in rows),
            weighted=any(row["weighting"] is not None for row in rows),
            relative=bool(relatives),
            times_from=TWICE if many else MANY_TIMES,
        )


def difference_columns(
    heads: Sequence[str], rows: Sequence[Row], share: str = "", share_note: str = ""
) -> tuple[Column, ...]:
    """Return the columns of a table of differences after the given heading columns."""
    layout = _Layout.of(rows)
    named = level(next((row["interval"] for row in rows if row["interval"]), None))
    return (
        *(Column(head, number=False) for head in heads),
        Column("n"),
        *([Column("effective n")] if layout.weighted else []),
        *([Column(share, note=share_note)] if share else []),
        Column("baseline mean"),
        Column("system mean"),
        Column(str(rows[0]["estimand"]) if rows and rows[0]["test"] in RANK_TESTS else "difference"),
        *([Column("relative", note=_RATIOS if layout.times_from == TWICE else "")] if layout.relative else []),
        Column(named, note="below: simultaneous" if layout.joint else ""),
        Column("p"),
        *([Column("adj. p")] if layout.adjusted else []),
        Column("shown?", number=False),
    )


def difference_cells(
    source: Source, row: Row, heads: Sequence[str], rows: Sequence[Row], share: str | None = None
) -> tuple[Cell, ...]:
    """Return a difference as cells that fit `difference_columns`."""
    measure, tone, layout = row["measure"], source.tone(row), _Layout.of(rows)
    relatives = [r["relative_difference"] for r in rows]
    relative = relative_text(row["relative_difference"], decimals_of_shares(relatives), times_from=layout.times_from)
    # too few decide nothing: no adjusted p that looks like a verdict
    adjusted = wording.UNDEFINED if tone == TOO_FEW else wording.p_value(row["p_adjusted"])
    joint = source.range(measure, row["adjusted_interval"]) if layout.joint and row["adjusted_interval"] else ""
    means = "adjusted" if row.get("adjusted_for") else ""
    return (
        *(Cell(shown(head, 80)) for head in heads),
        Cell(f"{row['n']:,}"),
        *([Cell(wording.number(row.get("n_effective"), 1))] if layout.weighted else []),
        *([Cell(share)] if share is not None else []),
        Cell(source.mean(measure, row["mean_baseline"]), note=means),
        Cell(source.mean(measure, row["mean_system"]), note=means),
        Cell(source.signed(measure, effect_of(row)), tone=tone, stars=source.stars(row)),
        *([Cell(relative)] if layout.relative else []),
        Cell(source.range(measure, row["interval"]), note=joint),
        Cell(wording.p_value(row["p_value"])),
        *([Cell(adjusted)] if layout.adjusted else []),
        Cell(WORDS[tone], note=DIRECTION_ASSUMED if tone in ASSUMED.values() else "", tone=tone, mark=MARKS[tone]),
    )


Rows = tuple[tuple[Cell, ...], ...]


def without_constants(
    columns: Sequence[Column], rows: Rows, labels: Collection[str], *, least: int = 2
) -> tuple[tuple[Column, ...], Rows, dict[str, str]]:
    """Leave out columns that say the same in every row; return what they said, for the caption.

    Parameters
    ----------
    columns, rows : sequence
        Of a table.
    labels : collection of str
        The columns that may be left out.
    least : int
        Rows from which they are.

    Examples
    --------
    >>> rows = ((Cell("AP"), Cell("50")), (Cell("RR"), Cell("50")))
    >>> without_constants((Column("measure"), Column("n")), rows, {"n"})[2]
    {'n': '50'}
    """
    said = {
        i: rows[0][i].text
        for i, column in enumerate(columns)
        if len(rows) >= least and column.label in labels and len({row[i] for row in rows}) == 1
    }
    kept = tuple(column for i, column in enumerate(columns) if i not in said)
    body = tuple(tuple(cell for i, cell in enumerate(row) if i not in said) for row in rows)
    return kept, body, {columns[i].label: text for i, text in said.items()}


def tests_line(source: Source, rows: Sequence[Row]) -> str:
    """Return in words how p-values and intervals of the rows were made."""
    by_role: dict[str, list[str]] = {}
    for row in rows:
        family = source.family(row)
        role = str(row.get("role") or (family["role"] if family else "exploratory"))
        named = CORRECTION_NAMES.get(source.correction(row), source.correction(row))
        size = int(family.get("size", len(family["members"]))) if family else 1
        text = f"{named}, family of {wording.count(size, 'comparison')}" if size > 1 else "one comparison, not adjusted"
        by_role.setdefault(GUARDS if row["family"] == GUARDS else role, []).append(text)
    parts = [f"{role.capitalize()}: {'; '.join(dict.fromkeys(texts))}" for role, texts in by_role.items()]
    return ". ".join([_tests(source, rows), *parts]) + "."


def _tests(source: Source, rows: Sequence[Row]) -> str:
    """Name the tests; of several that differ by measure, each with its measures."""
    found: dict[str, dict[str, None]] = {}
    for row in rows:
        found.setdefault(str(TEST_NAMES.get(row["test"], row["test"])), {})[source.measure_label(row["measure"])] = None
    if len(found) < 2:
        return f"Test: {''.join(found)}"
    if sum(map(len, found.values())) > len(set().union(*found.values())):
        return f"Tests: {'; '.join(found)}"
    return "Tests: " + "; ".join(f"{name} ({', '.join(measures)})" for name, measures in found.items())
