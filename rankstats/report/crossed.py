"""Three or more systems: every one against every other."""

from __future__ import annotations

from collections import Counter

from rankstats import wording
from rankstats.report.blocks import Block, Cell, Column, Figure, Paragraph, Section, Table
from rankstats.report.choice import PAIRS_FILE, is_cut
from rankstats.report.drawings import Crossed
from rankstats.report.rows import p_of, tests_line
from rankstats.report.source import Pair, Row, Source, effect_of
from rankstats.report.texts import label, shown
from rankstats.report.tones import BETTER, MARKS, NOT_SHOWN, OPPOSITE, PALE, SHOWN, WITHHELD, WORDS, WORSE

FEWEST_SYSTEMS = 3
SYSTEMS_SPELLED = 24
"""Of more systems the table counts outcomes instead of spelling out every pair."""
SYSTEMS_WRITTEN = 12
"""Of more systems the figure's cells hold marks only."""


def matrix(source: Source) -> Section:
    """Return section 9: every system against every other, where not all are compared with one baseline only."""
    heading = "Systems against each other"
    measure = source.primary[0]
    found = dict(source.planned_pairs(measure))
    if len(source.systems) < FEWEST_SYSTEMS or len({baseline for baseline, _ in found}) < 2:
        return Section("matrix", heading, ())
    systems = source.by_mean(measure)
    tones = _tones(source, found, systems)
    name = source.measure_label(measure)
    title = f"Difference in {name}: the row's system less the column's, the best mean first"
    spelled = len(systems) <= SYSTEMS_SPELLED
    table = _table(source, found, systems, title) if spelled else _counts(source, tones, systems, name)
    written = _texts(source, found, systems) if len(systems) <= SYSTEMS_WRITTEN else ()
    drawing = Crossed(tuple(label(s, 30) for s in systems), tones, written)
    blocks: list[Block] = [Figure("matrix-figure", title, _told(found, tones), drawing, table)]
    blocks += [
        Paragraph(text, small=True) for text in (tests_line(source, list(found.values())), _remark(source, tones))
    ]
    return Section("matrix", heading, tuple(blocks))


def _remark(source: Source, tones: tuple[tuple[str, ...], ...]) -> str:
    withheld = any(WITHHELD in line for line in tones)
    pale = "not shown, which does not mean equal" + (", or withheld" if withheld else "")
    remark = f"A cell is coloured where the adjusted p shows a difference; pale is {pale}."
    return f"{remark} {PAIRS_FILE} beside this page has every pair." if is_cut(source) else remark


def _tones(source: Source, found: dict[Pair, Row], systems: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Return what each row's system is shown to be against each column's."""
    place = {system: i for i, system in enumerate(systems)}
    tones = [[""] * len(systems) for _ in systems]
    for (baseline, system), row in found.items():
        tone = source.tone(row)
        tones[place[system]][place[baseline]] = tone
        tones[place[baseline]][place[system]] = OPPOSITE.get(tone, tone)
    return tuple(tuple(line) for line in tones)


def _facing(found: dict[Pair, Row], system: str, other: str) -> tuple[Row, int] | None:
    """Return the comparison of two systems and the sign that makes it the first less the second."""
    if (other, system) in found:
        return found[other, system], 1
    return (found[system, other], -1) if (system, other) in found else None


def _difference(source: Source, found: dict[Pair, Row], system: str, other: str) -> str:
    facing = _facing(found, system, other)
    if facing is None:
        return ""
    row, sign = facing
    size = effect_of(row)
    return source.signed(row["measure"], None if size is None else sign * size)


def _texts(source: Source, found: dict[Pair, Row], systems: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(_difference(source, found, s, other) for other in systems) for s in systems)


def _told(found: dict[Pair, Row], tones: tuple[tuple[str, ...], ...]) -> str:
    outcomes = Counter(tone for line in tones for tone in line if tone)
    differ = sum(outcomes[tone] for tone in SHOWN)
    # each comparison stands in two cells
    return (
        f"{len(tones)} systems, {len(found):,} comparisons: {differ // 2:,} are shown to differ, "
        f"{len(found) - differ // 2:,} are not."
    )


def _table(source: Source, found: dict[Pair, Row], systems: tuple[str, ...], caption: str) -> Table:
    columns = (Column("system", number=False), *(Column(f"− {label(s, 24)}") for s in systems))
    rows = tuple((Cell(shown(s, 60)), *(_cell(source, found, s, other) for other in systems)) for s in systems)
    return Table("matrix-table", f"{caption}, with adjusted p", columns, rows, folded=True)


def _cell(source: Source, found: dict[Pair, Row], system: str, other: str) -> Cell:
    facing = _facing(found, system, other)
    if facing is None:
        return Cell("·" if system == other else wording.UNDEFINED, tone="quiet")
    row, sign = facing
    tone = source.tone(row)
    tone = tone if sign > 0 else OPPOSITE.get(tone, tone)
    note = f"{wording.p_statement(p_of(row))} · {WORDS[tone]}"
    size = _difference(source, found, system, other)
    return Cell(size, note=note, tone=tone, mark=MARKS[tone], stars=source.stars(row))


def _counts(source: Source, tones: tuple[tuple[str, ...], ...], systems: tuple[str, ...], name: str) -> Table:
    """Count for each system the others that it is shown to be better and worse than."""
    measure = source.primary[0]
    kinds = [t for t in (BETTER, WORSE, *PALE) if any(t in line for line in tones)]
    heads = {t: f"{WORDS[t]} than" for t in SHOWN} | {NOT_SHOWN: "not shown to differ from"}
    columns = (Column("system", number=False), Column("mean"), *(Column(heads.get(t, WORDS[t])) for t in kinds))
    rows = []
    for system, line in zip(systems, tones, strict=True):
        score = source.overall.get((system, measure))
        mean = source.mean(measure, None if score is None else source.lead_mean(score))
        counts = Counter(line)
        rows.append((Cell(shown(system, 60)), Cell(mean), *(Cell(f"{counts[t]:,}") for t in kinds)))
    caption = f"How many of the others each system is better and worse than on {name}, the best mean first"
    return Table("matrix-table", caption, columns, tuple(rows), sortable=True, folded=True)
