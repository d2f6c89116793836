"""What only experiments have: guards, effects without adjustment, caps, days, and how looks are allowed for."""

from __future__ import annotations

from collections.abc import Sequence

from rankstats import wording
from rankstats.report.axis import difference_axis
from rankstats.report.blocks import (
    NOT_SHOWN,
    Block,
    Cell,
    Column,
    Figure,
    Forest,
    ForestRow,
    Paragraph,
    Section,
    Table,
    Terms,
)
from rankstats.report.rows import forest_row
from rankstats.report.source import Row, Source, ends, pair_label
from rankstats.report.texts import label, shown

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
    ("confirmatory", "The claims: primary metrics over all units. They must be fixed before looking."),
    ("exploratory", "Secondary metrics and all segments: hints, corrected among themselves."),
    ("CUPED", "Values less what a covariate from before the experiment predicts: the same effect with less variance."),
)
"""What the terms mean where units are in one arm each."""
BESIDE = ("without covariates", "not winsorised")
BESIDE_STARTS = ("without unit ", "Poisson bootstrap (")
FIGURES_SHOWN = 4

_GUARDS = {"holds": ("▲", "better"), "fails": ("▼", "worse"), "open": ("●", "not-shown")}
_DESIGNS = {
    "fixed": "fixed horizon: one look, at the end",
    "group-sequential": "group-sequential: planned looks share the level",
    "confidence-sequence": "confidence sequence: valid at every look",
}


def experiment(source: Source) -> Section:
    """Return the section of an experiment; without blocks where the report is of another kind."""
    found = source.report["experiment"]
    heading = "Guards, adjustment and days"
    if not found:
        return Section("experiment", heading, ())
    blocks: list[Block] = []
    blocks += _guards(source, found.get("guards") or [])
    blocks += _trigger(source, found.get("trigger") or [])
    blocks += _beside(source)
    blocks += _caps(source, found.get("caps") or [])
    blocks += _days(source, found.get("days") or [])
    blocks += _design(found.get("design"))
    return Section("experiment", heading, tuple(blocks))


def _guards(source: Source, guards: Sequence[Row]) -> list[Block]:
    if not guards:
        return []
    columns = (
        Column("guard", number=False), Column("arm", number=False), Column("outcome", number=False),
        Column("effect"), Column("interval"), Column("harm tolerated"), Column("one-sided p"),
    )  # fmt: skip
    rows = []
    for guard in guards:
        mark, tone = _GUARDS[guard["outcome"]]
        rows.append(
            (
                Cell(source.measure_label(guard["measure"])),
                Cell(shown(guard["system"], 60)),
                Cell(guard["outcome"], tone=tone, mark=mark),
                *(Cell(text) for text in _guard_numbers(source, guard)),
                Cell(wording.p_value(guard["p_value"])),
            )
        )
    remark = "Each guard is tested at its own level, one-sided at alpha / 2: a launch needs all of them to hold."
    return [
        Table("guards", "Guards: not worse by more than the margin", columns, tuple(rows)),
        Paragraph(remark, small=True),
    ]


def _guard_numbers(source: Source, guard: Row) -> tuple[str, str, str]:
    both = ends(guard["interval"])
    if guard["relative"]:
        interval = " to ".join(wording.percent(end, 2, sign=True) for end in both) if both else wording.UNDEFINED
        return wording.percent(guard["effect"], 2, sign=True), interval, wording.percent(guard["margin"], 2)
    measure = guard["measure"]
    allowed = wording.number(guard["margin"], max(source.decimals(measure), wording.decimals_for(guard["margin"])))
    return source.signed(measure, guard["effect"]), source.range(measure, guard["interval"]), allowed


def _trigger(source: Source, rows: Sequence[Row]) -> list[Block]:
    if not rows:
        return []
    columns = (
        Column("metric", number=False), Column("arm", number=False), Column("triggered units"), Column("share"),
        Column("difference"), Column("interval"), Column("p"), Column("over all units"), Column("its interval"),
        Column("p without trigger"),
    )  # fmt: skip
    body = tuple(
        (
            Cell(source.measure_label(row["measure"])),
            Cell(shown(row["system"], 60)),
            Cell(f"{row['n']:,}"),
            Cell(wording.percent(row["share"], 1)),
            Cell(source.signed(row["measure"], row["difference"])),
            Cell(source.range(row["measure"], row["interval"])),
            Cell(wording.p_value(row["p_value"])),
            Cell(source.signed(row["measure"], row["diluted"])),
            Cell(source.range(row["measure"], row["diluted_interval"])),
            Cell(wording.p_value(row["untriggered_p"])),
        )
        for row in rows
    )
    remark = (
        "Triggered units are those with a row in which the arms would have differed. What the effect on them makes "
        "over all units has a narrower interval than the plain difference over all units; units without a trigger can "
        "have no effect, so a small p there speaks against the trigger."
    )
    return [Table("trigger", "Trigger analysis: units that the treatment could reach", columns, body),
            Paragraph(remark, small=True)]  # fmt: skip


def _beside(source: Source) -> list[Block]:
    """Show raw effects beside those that covariates or a cap adjust, and effects without a unit that dominates."""
    rows = []
    for row in source.report["differences"]:
        others = [o for o in row["also"] if o["test"] in BESIDE or o["test"].startswith(BESIDE_STARTS)]
        if row["segment"] is None and others:
            names = (source.measure_label(row["measure"]), shown(row["system"], 60))
            rows.append(_beside_cells(source, row, (*names, _as_claimed(row)), row))
            rows += [_beside_cells(source, row, (*names, shown(o["test"], 80)), o) for o in others]
    if not rows:
        return []
    columns = (
        Column("metric", number=False), Column("arm", number=False), Column("how", number=False),
        Column("interval of the difference"), Column("p"),
    )  # fmt: skip
    return [Table("beside", "The same effects otherwise", columns, tuple(rows))]


def _as_claimed(row: Row) -> str:
    adjusted = row.get("adjusted_for") or []
    if not adjusted:
        return "as above"
    reduction = row.get("variance_reduction")
    less = "" if reduction is None else f", variance {wording.percent(-reduction, 0, sign=True)}"
    return f"with {', '.join(shown(name, 40) for name in adjusted)}{less}"


def _beside_cells(source: Source, row: Row, names: tuple[str, str, str], reading: Row) -> tuple[Cell, ...]:
    text = source.range(row["measure"], reading["interval"])
    return (*(Cell(name) for name in names), Cell(text), Cell(wording.p_value(reading["p_value"])))


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
        whole = source.difference(measure, pair)
        overall = [] if whole is None else [forest_row(source, whole, "all days")]
        rows = (*overall, *(_day_row(source, row) for row in own))
        forest = Forest(
            rows,
            difference_axis(rows),
            f"difference in {name}",
            "adj. p",
            reference=None if whole is None else whole["difference"],
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
        blocks.append(Paragraph(remark, small=True))
    return blocks


def _day_row(source: Source, row: Row) -> ForestRow:
    measure, day = row["measure"], shown(row["day"], 40)
    difference, interval = source.signed(measure, row["difference"]), source.range(measure, row["interval"])
    return ForestRow(
        name=day,
        label=label(day),
        n=f"{row['n']:,}",
        share="",
        difference=difference,
        interval=interval,
        own_p="",
        p="",
        spoken=f"{day}: {difference}, {interval}",
        adjusted=False,
        tone=NOT_SHOWN,
        value=row["difference"],
        inner=ends(row["interval"]),
        outer=None,
    )


def _day_table(source: Source, rows: Sequence[Row], key: str, caption: str) -> Table:
    columns = (
        Column("day", number=False), Column("units"), Column("difference"), Column("interval"),
        Column("units to date"), Column("difference to date"), Column("interval to date"),
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


def _design(design: Row | None) -> list[Block]:
    if not design:
        return []
    items = [("design", _DESIGNS.get(design["kind"], shown(str(design["kind"]), 60)))]
    if design["looks"]:
        items.append(("planned looks", ", ".join(wording.percent(look, 0) for look in design["looks"])))
    if design["kind"] != "fixed" or design["look"] > 1:
        items.append(("this look", str(design["look"])))
    if design["bound"] is not None:
        bound = f"{design['bound']:.4f} standard errors, p ≤ {design['nominal_p']:.5f} of an ordinary test"
        items.append((f"bound at this look ({shown(design['spending'] or '', 40)} spending)", bound))
    if design["planned_units"]:
        items.append(("planned units", f"{design['planned_units']:,}"))
    if design.get("earlier"):
        items.append(("earlier looks", ", ".join(f"at {row['units']:,} units" for row in design["earlier"])))
    return [Terms(tuple(items))]
