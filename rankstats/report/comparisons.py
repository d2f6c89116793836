"""Differences between systems: over all queries, and by segment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rankstats import wording
from rankstats.report.axis import difference_axis
from rankstats.report.blocks import Block, Cell, Column, Figure, Paragraph, Section, Subheading, Table
from rankstats.report.choice import ROWS_DRAWN, Chosen, chosen, first_of, listed
from rankstats.report.drawings import Axis, Forest, ForestRow
from rankstats.report.order import told_first, told_pairs
from rankstats.report.rows import (
    GUARDS,
    difference_cells,
    difference_columns,
    forest_row,
    is_adjusted,
    p_of,
    segment_share,
    tests_line,
    without_constants,
)
from rankstats.report.source import Pair, Row, Segment, Source, effect_of, pair_label
from rankstats.report.texts import label, sentence_list, shown
from rankstats.report.tones import BETTER, DIRECTION_ASSUMED, MARKS, TOO_FEW, WORDS, WORSE
from rankstats.report.trust import mixes
from rankstats.report.verdict import everything, heterogeneity_words, segment_rows

FIGURES_SHOWN = 8
SORTED_FROM = 9
"""Rows from which a reader wants to order a table."""
PAIRS_SHOWN = 24
"""Comparisons beyond this number have no part of their own."""
LOSSES_NAMED = 6
"""Losses by segment that a sentence names; the table has all."""


def pairwise(source: Source) -> Section:
    """Return section 4: a forest of the pairs on each primary measure, and a table over all measures."""
    blocks: list[Block] = []
    for i, measure in enumerate(source.primary, 1):
        picked = chosen(source, measure)
        if picked.rows:
            blocks.append(_pairs_figure(source, measure, picked, f"pairs-{i}"))
            blocks.append(Paragraph(f"{picked.remark} {tests_line(source, picked.rows)}".strip(), small=True))
    return Section("pairwise", "Every comparison", (*blocks, *_other_measures(source)))


def _other_measures(source: Source) -> list[Block]:
    """Return the table of the measures without a figure; what all rows share stands in its caption."""
    found, remark = listed(source, [m for m in source.outcome_measures if m not in source.primary])
    if not found:
        return []
    rows, order = in_order(source, found)
    heads, against = _pair_heads(rows)
    cells = tuple(
        _measure_first(
            source, r, difference_cells(source, r, (source.measure_label(r["measure"]), *_pair_names(r, heads)), rows)
        )
        for r in rows
    )
    columns, body, said = without_constants(
        difference_columns(("measure", *heads), rows), cells, ("system", "n"), least=1
    )
    against = f": {said['system']}{against}" if "system" in said else against
    n = f", n = {said['n']}" if "n" in said else ""
    table = Table("pairs-other", f"The other measures{against}{n}{order}", columns, body, sortable=_many(rows),
                  folded=len(rows) > ROWS_DRAWN)  # fmt: skip
    guards = "Whether a guard holds: see “Guards”." if any(row["family"] == GUARDS for row in rows) else ""
    return [table, *remarks(remark, _doubted(source), tests_line(source, rows), guards)]


def in_order(source: Source, rows: Sequence[Row]) -> tuple[list[Row], str]:
    """Return the rows of a table over several measures, the best first where they are many, and words for that."""
    measures = dict.fromkeys(row["measure"] for row in rows)
    by_measure = [[row for row in rows if row["measure"] == m] for m in measures]
    one_baseline = len({row["baseline"] for row in rows}) == 1
    if not one_baseline or max(map(len, by_measure), default=0) < SORTED_FROM:
        return list(rows), ""
    return [row for one in by_measure for row in told_first(source, one)], ", the best differences first"


def _doubted(source: Source) -> str:
    """Name the comparisons whose verdict is withheld: the other measures rest on the same lists."""
    withheld = _withheld(source)
    if not withheld:
        return ""
    named = list(dict.fromkeys(label(row["system"], 40) for row in withheld))
    if len(named) > LOSSES_NAMED:
        named[LOSSES_NAMED:] = [f"{len(named) - LOSSES_NAMED:,} more"]
    return f"With {sentence_list(named)} a verdict above is withheld, and these measures rest on the same lists."


def _withheld(source: Source) -> list[Row]:
    """Return the claims on ranked lists whose verdict is withheld."""
    if source.unit[0] != "query":
        return []
    return [row for m in source.primary for _, row in source.planned_pairs(m) if row.get("withheld")]


def _measure_first(source: Source, row: Row, cells: tuple[Cell, ...]) -> tuple[Cell, ...]:
    """Say under the name of the measure what a reader must know of it: a guard, its direction."""
    notes = ["guard"] if row["family"] == GUARDS else []
    notes += [direction_note(source, row["measure"]).replace(" ", "\N{NO-BREAK SPACE}")]
    first = replace(cells[0], note=" · ".join(note for note in notes if note))
    doubted = any(row["system"] == r["system"] and row["baseline"] == r["baseline"] for r in _withheld(source))
    return (first, *cells[1:-1], replace(cells[-1], note="but withheld above") if doubted else cells[-1])


def direction_note(source: Source, measure: str) -> str:
    """Return what a reader must know of the direction of a measure; empty where higher is better."""
    if measure in source.assumed:
        return DIRECTION_ASSUMED
    return "" if source.measures[measure]["higher_is_better"] else "lower is better"


def _many(rows: Sequence[Row]) -> bool:
    return len(rows) >= SORTED_FROM


def _pair_heads(rows: Sequence[Row]) -> tuple[tuple[str, ...], str]:
    """Return the heading columns that name a pair, and what the caption adds: one baseline is named once."""
    baselines = {row["baseline"] for row in rows}
    if len(baselines) > 1:
        return ("system", "baseline"), ""
    return ("system",), f" against {label(baselines.pop())}"


def _pair_names(row: Row, heads: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(row[head] for head in heads)


def _pairs_figure(source: Source, measure: str, picked: Chosen, key: str) -> Figure:
    """Draw the chosen rows; the table holds all of them where they are few enough to be read."""
    rows = told_first(source, listed(source, [measure])[0])
    one_baseline = len({row["baseline"] for row in rows}) == 1
    drawn = [
        forest_row(source, r, r["system"] if one_baseline else f"{r['system']} − {r['baseline']}")
        for r in told_first(source, picked.rows)
    ]
    if picked.skipped:
        # a little space where the middle is left out
        place = len(drawn) // 2
        drawn[place] = replace(drawn[place], first=True, before=not_drawn(picked))
    margin = next((row["margin"] for row in rows if row["margin"] is not None), None)
    name = source.measure_label(measure)
    heads, against = _pair_heads(rows)
    forest = _forest(source, measure, tuple(drawn), margin=margin)
    body = tuple(difference_cells(source, r, _pair_names(r, heads), rows) for r in rows)
    table = Table(
        f"{key}-table", f"Differences in {name}{against}", difference_columns(heads, rows), body,
        sortable=_many(rows), folded=True,
    )  # fmt: skip
    title = f"Differences in {name}{against}{part_drawn(source, measure, picked)}"
    return Figure(key, title, _told(tuple(drawn), forest), forest, table)


def not_drawn(picked: Chosen) -> str:
    """Return the words that stand where a figure leaves out the middle."""
    return f"{picked.skipped:,} not drawn"


def part_drawn(source: Source, measure: str, picked: Chosen) -> str:
    """Return what the title of a figure says of what it draws: which part, and that a direction is only assumed."""
    assumed = f", {DIRECTION_ASSUMED}" if measure in source.assumed else ""
    return f"{assumed}: {picked.words}" if picked.words else assumed


def _forest(
    source: Source,
    measure: str,
    rows: tuple[ForestRow, ...],
    *,
    margin: float | None = None,
    reference: float | None = None,
) -> Forest:
    return Forest(
        rows,
        difference_axis(rows, margin=margin),
        f"difference in {source.measure_label(measure)}",
        p_label="adj. p" if any(row.adjusted for row in rows) else "p",
        margin=margin,
        reference=reference,
        higher_is_better=source.measures[measure]["higher_is_better"],
        directed=measure not in source.assumed,
    )


def _told(rows: tuple[ForestRow, ...], forest: Forest) -> str:
    side = "right" if forest.higher_is_better else "left"
    word = "better" if forest.directed else "higher"
    return f"Zero is a vertical line; {word} is to the {side}. " + "; ".join(row.spoken for row in rows) + "."


def segments(source: Source) -> Section:
    """Return section 5: for each pair, the primary measure by segment, then all measures as a table."""
    if not source.segments:
        return Section("segments", "Where it wins and loses", ())
    blocks: list[Block] = []
    measure = source.primary[0]
    found = dict(told_pairs(source, measure)[:PAIRS_SHOWN])
    # One scale for all pairs, so that two figures can be compared.
    lists = {pair: tuple(segment_rows(source, measure, pair)) for pair in found}
    axis = difference_axis([*(rows[0] for rows in lists.values()), *(r for rows in lists.values() for r in rows[1:])])
    for i, (pair, rows) in enumerate(lists.items(), 1):
        blocks += _segment_blocks(source, measure, pair, i, drawn=(rows, axis))
    segment_planned = [
        row for pair in found for s in source.segments
        if (row := source.planned(measure, pair, (s["attribute"], s["value"]))) is not None
    ]  # fmt: skip
    left_out = first_of(len(found), len(list(source.planned_pairs(measure))), "report.json")
    if left_out:
        blocks.append(Paragraph(left_out, small=True))
    if segment_planned:
        blocks.append(Paragraph(tests_line(source, segment_planned), small=True))
    blocks += mixes(source)
    return Section("segments", "Where it wins and loses", tuple(blocks))


def _share_note(source: Source) -> str:
    """Say what the shares are of: one kind for all segments, or which for which attributes."""
    if source.report["kind"] == "interleaving":
        return "of those with clicks"
    by_kind: dict[str, list[str]] = {}
    for segment in source.segments:
        name = source.attributes[segment["attribute"]]
        names = by_kind.setdefault(str(segment["share_of"] or source.unit[1]), [])
        if name not in names:
            names.append(name)
    if len(by_kind) == 1:
        return f"of all {next(iter(by_kind))}"
    return "; ".join(f"{sentence_list(names)}: of all {kind}" for kind, names in by_kind.items())


def _segment_blocks(
    source: Source, measure: str, pair: Pair, i: int, *, drawn: tuple[tuple[ForestRow, ...], Axis]
) -> list[Block]:
    name = source.measure_label(measure)
    title = f"{pair_label(pair)}: difference in {name} by segment"
    table = _segment_table(source, measure, pair, f"segments-{i}-table", title)
    overall = source.planned(measure, pair)
    out: list[Block] = [Subheading(f"segments-{i}", pair_label(pair))]
    told = heterogeneity_words(source, measure, pair)
    withheld = overall is not None and bool(source.withheld(overall))
    if told and not withheld:
        out.append(Paragraph(told))
    if withheld:
        what = {"query": "lists", "impression": "log"}.get(source.unit[0], "units")
        doubt = f"The verdict is withheld, and the segments rest on the same {what}."
        out.append(Paragraph(f"{doubt} As it stands: {told}" if told else doubt, small=True))
    if i <= FIGURES_SHOWN:
        rows, axis = drawn
        forest = replace(_forest(source, measure, rows, reference=rows[0].value), axis=axis)
        description = f"{_told(rows, forest)} The dashed line is the overall effect."
        out.append(Figure(f"segments-{i}-figure", title, description, forest, replace(table, folded=True)))
    else:
        out.append(table)
    others = _segment_matrix(source, pair, f"segments-{i}-measures")
    return out + ([_beyond_the_figure(source, measure, pair), others] if others else [])


def _beyond_the_figure(source: Source, measure: str, pair: Pair) -> Paragraph:
    """Name the losses by segment on the measures that the figure does not draw, and count the gains."""
    by_name = [(str(s["label"]), (s["attribute"], s["value"])) for s in source.segments]
    overall = source.planned(measure, pair)
    if overall is not None and overall.get("withheld"):
        return Paragraph("The other measures rest on the same lists: their segments, in the table, are as doubtful.")
    rows = [
        (name, row)
        for m in source.outcome_measures if m != measure and m not in source.assumed
        for name, segment in by_name
        if (row := source.planned(m, pair, segment)) is not None
    ]  # fmt: skip
    apart = [_loss(source, n, r) for n, r in rows if _untriggered(source, r) and source.tone(r) in (BETTER, WORSE)]
    rows = [(name, row) for name, row in rows if not _untriggered(source, row)]
    worse = [_loss(source, name, row) for name, row in rows if source.tone(row) == WORSE]
    better = sum(source.tone(row) == BETTER for _, row in rows)
    if len(worse) > LOSSES_NAMED + 1:
        worse[LOSSES_NAMED:] = [f"{len(worse) - LOSSES_NAMED:,} more"]
    lost = f"shown worse: {'; '.join(worse)}" if worse else "no segment is shown worse"
    what = "metrics" if source.unit[0] == "unit" else "measures"
    told = f"{wording.count(len(rows), 'difference')} by segment there, {better:,} {'is' if better == 1 else 'are'}"
    where = f" Where no effect can be, the arms differ: {'; '.join(apart)}; see “Data health”." if apart else ""
    return Paragraph(f"On the other {what}, {lost}. Of {told} shown better.{where}")


def _untriggered(source: Source, row: Row) -> bool:
    """Return whether a difference is one of units without a trigger: it says whether the trigger is right."""
    segment = row["segment"]
    return segment is not None and segment["attribute"] == source.trigger and segment["value"] == "not triggered"


def _loss(source: Source, name: str, row: Row) -> str:
    p = wording.p_statement(p_of(row), "adjusted p" if is_adjusted(row) else "p")
    size = source.signed(row["measure"], effect_of(row))
    return f"{source.measure_label(row['measure'])} on {shown(name, 60)} ({size}, {p})"


def _segment_table(source: Source, measure: str, pair: Pair, key: str, caption: str) -> Table:
    overall = source.planned(measure, pair)
    listed: list[tuple[str, str, Row]] = []
    if overall is not None:
        listed.append((everything(source), segment_share(source, 1.0), overall))
    for segment in source.segments:
        row = source.planned(measure, pair, (segment["attribute"], segment["value"]))
        if row is not None:
            name = source.segment_labels[segment["attribute"], segment["value"]]
            listed.append((name, segment_share(source, segment["share"]) or wording.UNDEFINED, row))
    rows = [row for _, _, row in listed]
    share = "share" if any(s["share"] is not None for s in source.segments) else ""
    body = tuple(difference_cells(source, row, (name,), rows, text if share else None) for name, text, row in listed)
    return Table(key, caption, difference_columns(("segment",), rows, share, _share_note(source)), body)


def _segment_matrix(source: Source, pair: Pair, key: str) -> Table | None:
    """Put all measures side by side, so that one segment can be read across."""
    if len(source.outcome_measures) < 2:
        return None
    measures = source.outcome_measures
    columns = (
        Column("segment", number=False),
        *(Column(source.measure_label(m), note=direction_note(source, m)) for m in measures),
    )
    keys: list[tuple[str, Segment]] = [(everything(source), None)]
    keys += [(name, segment) for segment, name in source.segment_labels.items()]
    rows = tuple(
        (Cell(shown(name, 80)), *(_outcome_cell(source, source.planned(m, pair, s)) for m in measures))
        for name, s in keys
    )
    caption = f"{pair_label(pair)}: differences in all measures by segment, with adjusted p"
    return Table(key, caption, columns, rows, folded=True)


def _outcome_cell(source: Source, row: Row | None) -> Cell:
    if row is None:
        return Cell(wording.UNDEFINED)
    tone = source.tone(row)
    note = WORDS[tone] if tone == TOO_FEW else f"{wording.p_statement(p_of(row))} · {WORDS[tone]}"
    size = source.signed(row["measure"], row["difference"])
    return Cell(size, note=note, tone=tone, mark=MARKS[tone], stars=source.stars(row))


def remarks(*sentences: str) -> list[Block]:
    """Return one small paragraph of the sentences that say something; nothing where none does."""
    text = " ".join(sentence for sentence in sentences if sentence)
    return [Paragraph(text, small=True)] if text else []
