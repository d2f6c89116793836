"""What only experiments have: guards, the trigger, effects without adjustment, caps and days."""

from __future__ import annotations

from collections.abc import Sequence

from rankstats import wording
from rankstats.report.adjustment import UNADJUSTED, unadjusted
from rankstats.report.axis import difference_axis
from rankstats.report.blocks import Block, Cell, Column, Figure, Paragraph, Section, Table
from rankstats.report.drawings import Forest, ForestRow
from rankstats.report.rows import forest_row, share_text
from rankstats.report.source import Row, Source, ends, level, pair_label
from rankstats.report.texts import capital, label, sentence_list, shown
from rankstats.report.tones import NOT_TESTED

GLOSSARY = (
    (
        "unit",
        "What was randomised: a user, a session. Rows of events are added up by unit before anything is compared.",
    ),
    ("arm", "A group of units that got the same treatment; the control is the arm that the others are compared with."),
    ("difference", "The arm's value less the control's."),
    (
        "interval",
        "The values of the true difference that the data do not speak against, at the level given; made by the same "
        "procedure as its p-value, so it leaves out zero exactly when p is at most alpha.",
    ),
    ("simultaneous interval", "Wider, so that all intervals of the family are right together at the level given."),
    ("p", "How often the test would give a difference at least this large if the arms had the same true value."),
    ("adjusted p", "The p-value after allowing for the number of comparisons in its family."),
    (
        "better, worse",
        "The adjusted p is at most alpha, and the difference lies on that side. It says nothing of size: read the "
        "difference and its interval.",
    ),
    ("not shown", "The data do not settle the sign. It does not mean that the arms are equal."),
    ("withheld", "A check says that the arms cannot be compared: there is no verdict, whatever the numbers are."),
    ("equivalent", "The simultaneous interval lies within the margin that was stated beforehand."),
    (
        "guard",
        "A metric that must not get worse by more than a margin. It holds when the interval of the difference stays "
        "on the tolerated side of the margin, fails when it lies beyond it, and is open otherwise.",
    ),
    (
        "triggered",
        "A unit is triggered when it has a row in which the arms would have differed. Only there can be an effect.",
    ),
    ("sample ratio", "Whether the arms have the shares of units that the design gave them."),
    ("heterogeneity", "Whether the effect differs between the segments of an attribute by more than chance."),
    ("confirmatory", "The claims: primary metrics and guards over all units. They must be fixed before looking."),
    ("exploratory", "Secondary metrics and all segments: hints, corrected among themselves."),
    ("CUPED", "Values less what a covariate from before the experiment predicts: the same effect with less variance."),
)
"""What the terms mean where units are in one arm each."""
RAW, UNCAPPED = UNADJUSTED, "not winsorised"
WITHOUT_UNIT, BOOTSTRAP = "without unit ", "Poisson bootstrap ("
_BESIDE = {RAW: "adjustment", UNCAPPED: "adjustment", WITHOUT_UNIT: "the largest unit", BOOTSTRAP: "bootstrap"}
"""What stands beside the claims: the beginning of its name, and the word for it in the heading."""
FIGURES_SHOWN = 4

_GUARDS = {"holds": ("✓", ""), "fails": ("▼", "worse"), "open": ("●", "not-shown")}
"""A guard that holds is no gain: its mark has no colour."""


def experiment(source: Source) -> Section:
    """Return the section of an experiment; without blocks where the report is of another kind."""
    found = source.report["experiment"]
    if not found:
        return Section("experiment", "", ())
    blocks: list[Block] = []
    blocks += _guards(source, found.get("guards") or [])
    blocks += _trigger(source, found.get("trigger") or [])
    blocks += _beside(source)
    blocks += _caps(source, found.get("caps") or [])
    blocks += _days(source, found.get("days") or [])
    heading = _heading(source, {block.key for block in blocks if isinstance(block, Table | Figure)})
    return Section("experiment", heading, tuple(blocks))


def _heading(source: Source, keys: set[str]) -> str:
    """Name what the section holds."""
    others = [words for row in _overall(source) for other in row["also"] if (words := _kind_of(other))]
    told = ["guards"] if "guards" in keys else []
    told += ["trigger"] if "trigger" in keys else []
    told += ["adjustment"] if "adjustment" in others or "caps" in keys else []
    told += [words for words in ("the largest unit", "bootstrap") if words in others]
    told += ["days"] if any(key.startswith("days-") for key in keys) else []
    return "Without the largest unit" if told == ["the largest unit"] else capital(sentence_list(told))


def _overall(source: Source) -> list[Row]:
    return [row for row in source.report["differences"] if row["segment"] is None]


def stands_beside(other: Row) -> bool:
    """Return whether another reading of a claim stands in the table beside the claims."""
    return bool(_kind_of(other))


def _kind_of(other: Row) -> str:
    """Return what a reading beside the claim is, in one word; nothing for tests of the same effect."""
    return next((words for start, words in _BESIDE.items() if other["test"].startswith(start)), "")


def _arm(source: Source, row: Row) -> list[Cell]:
    """Return the arm as a cell; nothing where there is one pair, which the caption names."""
    return [Cell(shown(row["system"], 60))] if len(source.pairs) > 1 else []


def _arm_column(source: Source) -> list[Column]:
    return [Column("arm", number=False)] if len(source.pairs) > 1 else []


def _of_pair(source: Source, caption: str) -> str:
    return caption if len(source.pairs) != 1 else f"{caption} ({pair_label(source.pairs[0])})"


def _guards(source: Source, guards: Sequence[Row]) -> list[Block]:
    if not guards:
        return []
    columns = (
        Column("guard", number=False), *_arm_column(source), Column("outcome", number=False),
        Column("effect"), Column(_level_of(guards, "interval")), Column("harm tolerated"), Column("one-sided p"),
    )  # fmt: skip
    rows = []
    for guard in guards:
        mark, tone = _GUARDS[guard["outcome"]]
        rows.append(
            (
                Cell(source.measure_label(guard["measure"])),
                *_arm(source, guard),
                Cell(guard["outcome"], tone=tone, mark=mark),
                *(Cell(text) for text in _guard_numbers(source, guard)),
                Cell(wording.p_value(guard["p_value"])),
            )
        )
    remark = "Each guard is tested at its own level, one-sided at alpha / 2: a launch needs all of them to hold."
    return [
        Table("guards", _of_pair(source, "Guards: not worse by more than the margin"), columns, tuple(rows)),
        Paragraph(remark, small=True),
    ]


def _level_of(rows: Sequence[Row], name: str) -> str:
    """Return the heading of a column of intervals, with their level."""
    return level(next((row[name] for row in rows if row[name]), None))


def _guard_numbers(source: Source, guard: Row) -> tuple[str, str, str]:
    both = ends(guard["interval"])
    if guard["relative"]:
        interval = " to ".join(wording.percent(end, 2, sign=True) for end in both) if both else wording.UNDEFINED
        return wording.percent(guard["effect"], 2, sign=True), interval, wording.percent(guard["margin"], 2)
    measure = guard["measure"]
    allowed = wording.number(guard["margin"], max(source.decimals(measure), wording.decimals_for(guard["margin"])))
    return source.signed(measure, guard["effect"]), source.range(measure, guard["interval"]), allowed


def _trigger(source: Source, rows: Sequence[Row]) -> list[Block]:
    """Show the effect on the triggered units; what it makes over all units where that is known, which is of means."""
    if not rows:
        return []
    spread = any(row["diluted"] is not None for row in rows)
    named = _level_of(rows, "interval")
    columns = (
        Column("metric", number=False), *_arm_column(source), Column("triggered units"), Column("share"),
        Column("difference"), Column(named), Column("p"),
        *([Column("effect over all units", note=f"below: its {named}")] if spread else []),
        Column("p among the not triggered"),
    )  # fmt: skip
    body = tuple(
        (
            Cell(source.measure_label(row["measure"])),
            *_arm(source, row),
            Cell(f"{row['n']:,}"),
            Cell(share_text(row["share"])),
            Cell(source.signed(row["measure"], row["difference"]), note="adjusted" if _covariates(source, row) else ""),
            Cell(source.range(row["measure"], row["interval"])),
            Cell(wording.p_value(row["p_value"])),
            *([_spread(source, row)] if spread else []),
            Cell(wording.p_value(row["untriggered_p"])),
        )
        for row in rows
    )
    caption = _of_pair(source, "Trigger analysis: units that the treatment could reach")
    return [Table("trigger", caption, columns, body), Paragraph(_trigger_remark(source, rows), small=True)]


def _spread(source: Source, row: Row) -> Cell:
    interval = source.range(row["measure"], row["diluted_interval"]) if row["diluted_interval"] else ""
    return Cell(source.signed(row["measure"], row["diluted"]), note=interval)


def _covariates(source: Source, row: Row) -> Sequence[str]:
    """Return the covariates that adjust an effect on the triggered units: those of the metric."""
    found = source.difference(row["measure"], (row["baseline"], row["system"]))
    return () if found is None else found.get("adjusted_for") or ()


def _trigger_remark(source: Source, rows: Sequence[Row]) -> str:
    told = "Triggered units are those with a row in which the arms would have differed. "
    adjusted = {source.measure_label(row["measure"]): names for row in rows if (names := _covariates(source, row))}
    for name, names in adjusted.items():
        told += f"The effect on {name} is adjusted for {sentence_list([shown(n, 40) for n in names])} here too. "
    if any(row["diluted"] is not None for row in rows):
        told += (
            "The effect over all units spreads theirs over everyone, which has a narrower interval than the plain "
            "difference over all units; it is known for means and shares only. "
        )
    told += "Units that are not triggered can have no effect, so a small p there speaks against the trigger"
    checks = source.report["experiment"]["checks"]
    check = next((check for check in checks if check["code"] == "untriggered_effect"), None)
    if check is None:
        return f"{told}."
    threshold = f"{check['threshold']:.2g}".lstrip("0")
    return f"{told}: below {threshold} it is a warning."


def _beside(source: Source) -> list[Block]:
    """Show raw effects beside those that covariates or a cap adjust, and effects without a unit that dominates."""
    rows = []
    for row in _overall(source):
        others = [other for other in row["also"] if _kind_of(other)]
        if others:
            names = (Cell(source.measure_label(row["measure"])), *_arm(source, row))
            rows.append(_beside_cells(source, row, (*names, Cell(_as_claimed(row))), row))
            rows += [_beside_cells(source, row, (*names, Cell(shown(o["test"], 80))), o) for o in others]
    if not rows:
        return []
    columns = (
        Column("metric", number=False), *_arm_column(source), Column("how", number=False),
        Column("difference"), Column(_level_of(_overall(source), "interval")), Column("p"),
    )  # fmt: skip
    return [Table("beside", _of_pair(source, "The same effects otherwise"), columns, tuple(rows))]


def _as_claimed(row: Row) -> str:
    """Say what the other readings leave out: covariates, a cap, or one unit."""
    adjusted = row.get("adjusted_for") or []
    if adjusted:
        reduction = row.get("variance_reduction")
        less = "" if reduction is None else f", variance {wording.percent(-reduction, 0, sign=True)}"
        return f"with {', '.join(shown(name, 40) for name in adjusted)}{less}"
    tests = [other["test"] for other in row["also"]]
    return "winsorised" if UNCAPPED in tests else "all units"


def _beside_cells(source: Source, row: Row, names: tuple[Cell, ...], reading: Row) -> tuple[Cell, ...]:
    measure = row["measure"]
    return (
        *names,
        Cell(source.signed(measure, reading.get("difference"))),
        Cell(source.range(measure, reading["interval"])),
        Cell(wording.p_value(reading["p_value"])),
    )


def _caps(source: Source, caps: Sequence[Row]) -> list[Block]:
    if not caps:
        return []
    columns = (
        Column("metric", number=False),
        Column("quantile"),
        Column("cap"),
        Column("units above it", number=False),
    )
    rows = tuple(
        (
            Cell(source.measure_label(cap["measure"])),
            Cell(f"{cap['level']:g}"),
            Cell(f"{cap['cap']:g}"),
            Cell(", ".join(f"{shown(arm, 60)} {n:,}" for arm, n in cap["capped"].items())),
        )
        for cap in caps
    )
    return [Table("caps", "Winsorising: one cap for all arms", columns, rows)]


def _days(source: Source, days: Sequence[Row]) -> list[Block]:
    blocks: list[Block] = []
    keys = dict.fromkeys((row["measure"], (row["baseline"], row["system"])) for row in days)
    for i, (measure, pair) in enumerate(keys, 1):
        own = [row for row in days if (row["measure"], (row["baseline"], row["system"])) == (measure, pair)]
        name = source.measure_label(measure)
        title = f"{pair_label(pair)}: effect on {name} by day"
        table = _day_table(source, own, f"days-{i}-table", title)
        if i > FIGURES_SHOWN:
            blocks.append(table)
            continue
        overall, reference = _all_days(source, own)
        rows = (*overall, *(_day_row(source, row, shown(row["day"], 40)) for row in own))
        forest = Forest(
            rows,
            difference_axis(rows),
            f"difference in {name}",
            "adj. p",
            reference=reference,
            higher_is_better=source.measures[measure]["higher_is_better"],
        )
        ends_told = f"{rows[-len(own)].spoken}; {rows[-1].spoken}"
        told = f"The effect of each day alone, over the units with rows on it; {ends_told}."
        blocks.append(Figure(f"days-{i}", title, told, forest, table))
    if blocks:
        remark = (
            "Days are shown to find faults and novelty, not to choose one: none of them is tested for itself, and the "
            "numbers to date are no place to stop at."
        )
        wholes = [row for measure, pair in keys if (row := source.difference(measure, pair))]
        if any(_adds_up(days, row) for row in wholes):
            remark += (
                " A day holds what a unit did on that day; the whole period adds up a unit's days, so it is no mean of "
                "the days. A unit counts on every day on which it has rows."
            )
        if any(row.get("adjusted_for") for row in wholes):
            remark += " Days and the whole period stand here without adjustment by covariates."
        blocks.append(Paragraph(remark, small=True))
    return blocks


def _all_days(source: Source, days: Sequence[Row]) -> tuple[list[ForestRow], float | None]:
    """Return the effect of the whole period as a row, without covariates as the days are, and as a line for the days.

    There is no line where a value of the whole period is the sum of several days: the days do not lie round it.
    """
    whole = source.difference(days[0]["measure"], (days[0]["baseline"], days[0]["system"]))
    if whole is None:
        return [], None
    name = "whole period, per unit" if _adds_up(days, whole) else "all days"
    raw = unadjusted(whole)
    if raw is None and not whole.get("adjusted_for"):
        rows, difference = [forest_row(source, whole, name)], whole["difference"]
    elif raw is None or raw.get("difference") is None:
        return [], None
    else:
        rows, difference = [_day_row(source, {**whole, **raw}, f"{name}, not adjusted")], raw["difference"]
    return rows, None if _adds_up(days, whole) else difference


def _adds_up(days: Sequence[Row], whole: Row) -> bool:
    """Return whether a unit's value is made of several days: not of ratios and quantiles, which are of all rows."""
    n = sum(row["n"] for row in days if all(row[key] == whole[key] for key in ("measure", "baseline", "system")))
    return str(whole["estimand"]).endswith("units") and n > int(whole["n"])


def _day_row(source: Source, row: Row, name: str) -> ForestRow:
    measure = row["measure"]
    difference, interval = source.signed(measure, row["difference"]), source.range(measure, row["interval"])
    return ForestRow(
        name=name,
        label=label(name),
        n=f"{row['n']:,}",
        share="",
        difference=difference,
        interval=interval,
        own_p="",
        p="",
        spoken=f"{name}: {difference}, {interval}",
        adjusted=False,
        tone=NOT_TESTED,
        value=row["difference"],
        inner=ends(row["interval"]),
        outer=None,
        level=level(row["interval"]),
    )


def _day_table(source: Source, rows: Sequence[Row], key: str, caption: str) -> Table:
    columns = (
        Column("day", number=False), Column("units"), Column("difference"), Column(_level_of(rows, "interval")),
        Column("units to date"), Column("difference to date"),
        Column(f"{_level_of(rows, 'interval_to_date')} to date"),
    )  # fmt: skip
    body = tuple(
        (
            Cell(shown(row["day"], 40)),
            Cell(f"{row['n']:,}"),
            Cell(source.signed(row["measure"], row["difference"])),
            Cell(source.range(row["measure"], row["interval"])),
            Cell(f"{row['n_to_date']:,}"),
            Cell(source.signed(row["measure"], row["difference_to_date"])),
            Cell(source.range(row["measure"], row["interval_to_date"])),
        )
        for row in rows
    )
    return Table(key, caption, columns, body, folded=True)
