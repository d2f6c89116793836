"""Method and reproduction: what exactly was computed, and how to repeat it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from rankstats import wording
from rankstats.conventions import SMALLEST_VERDICT_N
from rankstats.plan import plan_text
from rankstats.report.blocks import Block, Cell, Code, Column, Paragraph, Section, Subheading, Table, Terms
from rankstats.report.choice import listed
from rankstats.report.experiment_sections import GLOSSARY as EXPERIMENT_GLOSSARY
from rankstats.report.interleaving_sections import GLOSSARY as INTERLEAVING_GLOSSARY
from rankstats.report.rows import CORRECTION_NAMES, TEST_NAMES
from rankstats.report.source import Row, Source
from rankstats.report.texts import shown

GLOSSARY = (
    ("difference", "The system's value less the baseline's, query by query, then averaged."),
    (
        "interval",
        "The values of the true difference that the data do not speak against, at the level given. For tests of the "
        "mean it is made by the same procedure as its p-value, so it leaves out zero exactly when p is at most the "
        "level's alpha.",
    ),
    (
        "simultaneous interval",
        "Wider, so that all intervals of the family are right together at the level given.",
    ),
    (
        "p",
        "How often the test would give a difference at least this large if there were none. The randomisation test "
        "supposes that the two systems are exchangeable query by query.",
    ),
    ("adjusted p", "The p-value after allowing for the number of comparisons in its family."),
    (
        "better, worse",
        "The adjusted p is at most alpha, and the difference lies on that side. It says nothing of size: read the "
        "difference and its interval.",
    ),
    ("not shown", "The data do not settle the sign. It does not mean that the systems are equal."),
    (
        "equivalent",
        "The simultaneous interval lies within the margin that was stated beforehand: two one-sided tests, each at "
        "half of alpha.",
    ),
    (
        "heterogeneity",
        "Whether the effect differs between the segments of an attribute by more than chance. Without it, an effect "
        "in one segment and none in another may be chance alone.",
    ),
    ("too few", f"Fewer than {SMALLEST_VERDICT_N} queries: shown hollow, without a verdict."),
    (
        "confirmatory",
        "The claims: the primary measure over all queries, unless the plan says otherwise. They must be fixed before "
        "looking; where the reference system is the best found here, the correction covers all pairs.",
    ),
    ("exploratory", "All other measures and all segments: hints, corrected among themselves."),
    ("unjudged", "A document in the list that no judge has graded; it counts as not relevant."),
)


def method(source: Source) -> Section:
    """Return section 13: measures, statistics, inputs, versions, command, plan, glossary."""
    blocks: list[Block] = [Subheading("measures", "Measures" if source.unit[0] == "query" else "Metrics")]
    blocks += _measures(source)
    blocks.append(Subheading("statistics", "Statistics"))
    blocks.append(Terms(tuple(_statistics(source))))
    families = _families(source)
    if families:
        blocks.append(families)
    blocks += _also(source)
    blocks += _reproduction(source.report["reproduction"])
    terms = {"unit": EXPERIMENT_GLOSSARY, "impression": INTERLEAVING_GLOSSARY}.get(source.unit[0], GLOSSARY)
    blocks += [Subheading("glossary", "Glossary"), Terms(terms)]
    return Section("method", "Method and reproduction", tuple(blocks))


def _measures(source: Source) -> list[Block]:
    """Put meaning and formula first; every other convention is one click away."""
    out: list[Block] = []
    columns = tuple(Column(text, number=False) for text in ("measure", "full name", "meaning", "better"))
    rows = tuple(
        (
            Cell(source.measure_label(name)),
            Cell(shown(name, 160)),
            Cell(_meaning(row["definition"])),
            Cell("higher" if row["higher_is_better"] else "lower"),
        )
        for name, row in source.measures.items()
    )
    out.append(Table("measure-definitions", "What they mean", columns, rows))
    for i, (name, row) in enumerate(source.measures.items(), 1):
        conventions = tuple((Cell(shown(k, 60)), Cell(shown(str(v), 600))) for k, v in row["definition"].items())
        if conventions:
            columns = (Column("convention", number=False), Column("value", number=False))
            caption = f"{source.measure_label(name)}: all conventions"
            out.append(Table(f"measure-{i}", caption, columns, conventions, folded=True))
    return out


def _meaning(definition: Mapping[str, Any]) -> str:
    return shown(str(definition.get("meaning") or definition.get("formula") or wording.UNDEFINED), 400)


def _statistics(source: Source) -> list[tuple[str, str]]:
    differences = source.report["differences"]
    reproduction = source.report["reproduction"]
    tests = dict.fromkeys(TEST_NAMES.get(row["test"], shown(row["test"], 60)) for row in differences)
    estimands = dict.fromkeys(shown(row["estimand"], 120) for row in differences)
    methods = dict.fromkeys(shown(row["interval"]["method"], 60) for row in differences if row["interval"])
    sides = list(dict.fromkeys(row.get("alternative", "two-sided") for row in differences))
    items = [
        ("compared", {"baseline": "the baseline with each other system", "all-pairs": "all pairs of systems",
                      "best": "the best system with each other"}.get(source.report.get("compare", ""), "")),
        ("estimand", "; ".join(estimands)),
        ("test", "; ".join(tests)),
        ("intervals", "; ".join(methods)),
        ("alpha", f"{source.alpha:g}"),
        ("weights", source.planned_weighting or ("none" if differences else "")),
        ("clusters", shown(source.report.get("clusters") or "", 60)),
        ("side", ", ".join(sides) if sides != ["two-sided"] else ""),
        ("resamples", "" if reproduction["resamples"] is None else f"{reproduction['resamples']:,}"),
        ("seed", "" if reproduction["seed"] is None else str(reproduction["seed"])),
    ]  # fmt: skip
    return [(term, text) for term, text in items if text]


def _families(source: Source) -> Table | None:
    families = source.report["families"]
    if not families:
        return None
    columns = (
        Column("family", number=False), Column("role", number=False), Column("correction", number=False),
        Column("alpha"), Column("comparisons"),
    )  # fmt: skip
    rows = tuple(
        (
            Cell(shown(family["id"], 80)),
            Cell(family["role"]),
            Cell(CORRECTION_NAMES.get(family["correction"], shown(family["correction"], 60))),
            Cell(f"{family['alpha']:g}"),
            Cell(f"{len(family['members']):,}"),
        )
        for family in families
    )
    return Table("families", "Families of comparisons, each corrected within itself", columns, rows)


def _also(source: Source) -> list[Block]:
    """Show what other tests and corrections give for the confirmatory claims."""
    rows: list[tuple[Cell, ...]] = []
    claims, remark = listed(source, source.primary)
    for row in claims:
        measure = row["measure"]
        names = f"{shown(row['system'], 60)} against {shown(row['baseline'], 60)}, {source.measure_label(measure)}"
        for other in row["also"]:
            named = TEST_NAMES.get(other["test"], shown(other["test"], 60))
            rows.append(_also_cells(source, (names, named), measure, other["p_value"], other["interval"]))
        for other in row["also_adjusted"]:
            named = f"{CORRECTION_NAMES.get(other['correction'], shown(other['correction'], 60))} (adjusted)"
            found = (other["p_adjusted"], other["adjusted_interval"])
            rows.append(_also_cells(source, (names, named), measure, *found))
    if not rows:
        return []
    columns = (
        Column("comparison", number=False), Column("procedure", number=False), Column("p"), Column("interval"),
    )  # fmt: skip
    table = Table("also", "Other tests and corrections of the same claims", columns, tuple(rows))
    return [table, Paragraph(remark, small=True)] if remark else [table]


def _also_cells(
    source: Source, names: tuple[str, str], measure: str, p: float | None, interval: Row | None
) -> tuple[Cell, ...]:
    made_by = "" if interval is None else shown(interval["method"], 80)
    ends = Cell(source.range(measure, interval), note=made_by)
    return (*(Cell(name) for name in names), Cell(wording.p_value(p)), ends)


def _reproduction(reproduction: Row) -> list[Block]:
    out: list[Block] = [Subheading("reproduction", "How to repeat it")]
    if reproduction["argv"]:
        out.append(Code("The command", shown(shlex.join(reproduction["argv"]), 4000)))
    if reproduction["plan"]:
        out.append(Code("The plan as it was carried out, ready for --plan", _plan_text(reproduction["plan"])))
    if reproduction["inputs"]:
        rows = tuple(
            (Cell(shown(row["name"], 120)), Cell(f"{row['bytes']:,}"), Cell(row["sha256"]))
            for row in reproduction["inputs"]
        )
        columns = (Column("file", number=False), Column("bytes"), Column("SHA-256", number=False))
        out.append(Table("inputs", "Inputs", columns, rows))
    if reproduction["versions"]:
        out.append(Terms(tuple((shown(k, 40), shown(str(v), 80)) for k, v in reproduction["versions"].items())))
    sentence = "`rankstats render report.json` makes this page again from the file beside it."
    out.append(Paragraph(sentence.replace("`", ""), small=True))
    return out


def _plan_text(plan: Mapping[str, Any]) -> str:
    """Write the plan as TOML, a line a setting; texts are cleaned."""
    settings = {key: value for key, value in plan.items() if key != "overridden"}
    return "\n".join(shown(line, 2000) for line in plan_text(settings).split("\n"))
