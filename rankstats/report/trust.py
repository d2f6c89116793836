"""Whether to believe a verdict: all checks with their outcomes, unjudged documents, tied scores, carrying queries."""

from __future__ import annotations

from rankstats import wording
from rankstats.report.blocks import MARKS, Block, Cell, Column, Paragraph, Subheading, Table
from rankstats.report.choice import limited
from rankstats.report.rows import share_text
from rankstats.report.source import Row, Source, pair_label
from rankstats.report.texts import shown

_OUTCOMES = {
    "ok": ("nothing found", ""),
    "info": ("note", "ℹ"),
    "warning": ("warning", "⚠"),
    "serious": ("serious", "⚠"),
    "not_applicable": ("does not apply", ""),
}


def checks(source: Source) -> list[Block]:
    """Return one table of every evidence check with its outcome, those that found something first."""
    rows = source.report.get("checks") or []
    if not rows:
        return []
    order = ("serious", "warning", "info", "ok", "not_applicable")
    columns = (
        Column("question", number=False),
        Column("outcome", number=False),
        Column("what was found", number=False),
    )
    body = tuple(
        (
            Cell(shown(row["question"], 120)),
            Cell(
                _OUTCOMES[row["outcome"]][0],
                tone="quiet" if row["outcome"] in ("ok", "not_applicable") else f"severity-{row['outcome']}",
                mark=_OUTCOMES[row["outcome"]][1],
            ),
            Cell(shown(row["found"], 400)),
        )
        for row in sorted(rows, key=lambda row: order.index(row["outcome"]))
    )
    found = sum(row["outcome"] in ("serious", "warning") for row in rows)
    looked = sum(row["outcome"] != "not_applicable" for row in rows)
    caption = f"All checks: {wording.count(found, 'warning')} from {wording.count(looked, 'check')} that apply"
    return [Table("evidence-checks", caption, columns, body, folded=True)]


def unjudged(source: Source) -> list[Block]:
    """Return what the unjudged documents could change, a row a claim."""
    rows, left_out = limited(source, [row for row in source.report.get("coverage") or [] if row["documents"]])
    if not rows:
        return []
    depths = sorted({row["depth"] for row in rows})
    depth = f"{depths[0]}" if len(depths) == 1 else f"{depths[0]} to {depths[-1]}"
    columns = (
        Column("comparison", number=False),
        Column("verdict", number=False),
        Column("unjudged", note="baseline, system"),
        Column("worst case"),
        Column("best case"),
        Column("documents that turn it"),
        Column("likely relevant", note="at the rate of the judged"),
    )
    body = tuple(_coverage_cells(source, row) for row in rows)
    remark = (
        f"The lists are looked at as deep as the measure looks, down to rank 100 at most: here the top {depth}. "
        "Worst and best case grade all unjudged documents there that favour the baseline, or the system, "
        "with the highest grade. The documents that turn a verdict are the fewest that would have to be relevant, the "
        "most telling first; how many of the losing list's are likely relevant follows the rate of its judged ones."
    )
    return [
        Subheading("unjudged-cases", "Could the unjudged documents turn a verdict?"),
        Table("coverage", "The claims under other judgments", columns, body),
        Paragraph(f"{left_out} {remark}".strip(), small=True),
    ]


def condensed(source: Source) -> list[Block]:
    """Return each claim beside what it is on condensed lists; the ones that disagree first, with a sentence."""
    found = [row for row in source.report.get("condensed") or [] if row["removed_baseline"] or row["removed_system"]]
    rows, left_out = limited(source, sorted(found, key=lambda row: row["disagreement"] is None))
    if not rows:
        return []
    columns = (
        Column("comparison", number=False),
        Column("taken out", note="baseline, system"),
        Column("as judged"),
        Column("on condensed lists"),
        Column("interval", number=False),
        Column("agree", number=False),
    )
    body = tuple(_condensed_cells(source, row) for row in rows)
    verdicts = sum(row["disagreement"] == "verdict" for row in found)
    signs = sum(row["disagreement"] == "sign" for row in found)
    remark = (
        "As judged, an unjudged document counts as not relevant; a condensed list leaves it out, so that the judged "
        "ones move up. The first favours the list that the judges knew better, the second often the other one."
    )
    return [
        Subheading("condensed-lists", "Do condensed lists say the same?"),
        Paragraph(_agreement_in_words(len(found), verdicts, signs, decided=all(row["outcome"] for row in found))),
        Table("condensed", "The claims without unjudged documents", columns, body),
        Paragraph(f"{left_out} {remark}".strip(), small=True),
    ]


def _agreement_in_words(claims: int, verdicts: int, signs: int, *, decided: bool) -> str:
    if not verdicts and not signs:
        same = "the same sign and the same verdict" if decided else "the same sign"
        return f"As judged and on condensed lists every difference has {same}."
    parts = [
        f"{wording.count(number, 'comparison has', 'comparisons have')} {what}"
        for number, what in ((verdicts, "another verdict"), (signs, "the opposite sign"))
        if number
    ]
    return (
        f"Of {wording.count(claims, 'comparison')}, {' and '.join(parts)} on condensed lists: there the answer depends "
        "on documents that nobody judged, so judge them (to_judge.tsv) before you decide."
    )


def _condensed_cells(source: Source, row: Row) -> tuple[Cell, ...]:
    measure = row["measure"]
    said = {None: "yes", "sign": "no: opposite sign", "verdict": "no: another verdict"}[row["disagreement"]]
    return (
        _claim(source, row),
        Cell(f"{row['removed_baseline']:,}, {row['removed_system']:,}"),
        Cell(source.signed(measure, row["plain"]), note=_words(row["verdict"])),
        Cell(source.signed(measure, row["difference"]), note=_words(row["outcome"] or "")),
        Cell(source.range(measure, row["interval"])),
        Cell(said, tone="" if row["disagreement"] is None else "severity-warning"),
    )


def _coverage_cells(source: Source, row: Row) -> tuple[Cell, ...]:
    measure = row["measure"]
    turns = wording.UNDEFINED if row["to_turn"] is None else f"{row['to_turn']:,}"
    note = "" if row["to_turn"] is None else f"to {_words(row['turns_to'])}"
    return (
        _claim(source, row),
        _outcome(row["verdict"]),
        Cell(
            f"{share_text(row['unjudged_baseline'])}, {share_text(row['unjudged_system'])}", note=f"top {row['depth']}"
        ),
        Cell(source.signed(measure, row["worst"]), note=_words(row["worst_outcome"])),
        Cell(source.signed(measure, row["best"]), note=_words(row["best_outcome"])),
        Cell(turns, note=note),
        Cell(wording.UNDEFINED if row["likely"] is None else wording.number(row["likely"], 0)),
    )


def ties(source: Source) -> list[Block]:
    """Return what the order of tied scores changes, a row a claim that it changes."""
    rows, left_out = limited(source, source.report.get("tie_effects") or [])
    if not rows:
        return []
    columns = (
        Column("comparison", number=False),
        Column("verdict", number=False),
        Column("queries", note="baseline, system"),
        Column("difference from"),
        Column("to"),
        Column("would be", number=False),
    )
    body = tuple(
        (
            _claim(source, row),
            _outcome(row["verdict"]),
            Cell(f"{row['queries_baseline']:,}, {row['queries_system']:,}"),
            Cell(source.signed(row["measure"], row["low"])),
            Cell(source.signed(row["measure"], row["high"])),
            Cell(wording.UNDEFINED if row["turns_to"] is None else _words(row["turns_to"])),
        )
        for row in rows
    )
    table = Table("tie-effects", "The claims with each tie of scores turned round", columns, body)
    return [table, *([Paragraph(left_out, small=True)] if left_out else [])]


def carriers(source: Source) -> list[Block]:
    """Return how few queries carry each claim, and what median and trimmed mean say."""
    rows = {row["difference_id"]: row for row in source.report.get("robustness") or []}
    about, left_out = limited(source, [row for row in source.report["differences"] if row["id"] in rows])
    found = [(rows[row["id"]], row) for row in about]
    if not found:
        return []
    trim = wording.percent(found[0][0]["trim"])
    columns = (
        Column("comparison", number=False),
        Column("mean"),
        Column("median"),
        Column("trimmed mean", note=f"without {trim} on each side"),
        Column("half of it comes from", number=False),
        Column("the largest", number=False),
    )
    body = tuple(_carrier_cells(source, row, difference) for row, difference in found)
    table = Table("carriers", "How many queries carry the difference", columns, body)
    return [table, *([Paragraph(left_out, small=True)] if left_out else [])]


def _carrier_cells(source: Source, row: Row, difference: Row) -> tuple[Cell, ...]:
    measure = difference["measure"]
    half = "gain and loss are equal"
    if row["side"] is not None:
        half = f"{row['half']:,} of the {source.n_text(row['movers'])} on the side of the {row['side']}"
    named = ", ".join(
        f"{shown(carrier['query_id'], 24)} {source.signed(measure, carrier['difference'])}"
        for carrier in row["carriers"][:3]
    )
    return (
        _claim(source, difference),
        Cell(source.signed(measure, difference["difference"])),
        Cell(source.signed(measure, row["median"])),
        Cell(source.signed(measure, row["trimmed_mean"])),
        Cell(half),
        Cell(named),
    )


def mixes(source: Source) -> list[Block]:
    """Return the differences of the primary measures under a stated or measured mix of segments."""
    asked = [
        row
        for row in source.report.get("post_stratified") or []
        if row["measure"] in source.primary and row["difference"] is not None
    ]
    rows, left_out = limited(source, asked)
    if not rows:
        return []
    columns = (
        Column("comparison", number=False),
        Column("mix", number=False),
        Column("as judged"),
        Column("under the mix"),
        Column("interval", number=False),
        Column("p"),
    )
    body = tuple(
        (
            _claim(source, row),
            Cell(_mix_words(row), note="stated" if row["source"] == "stated" else "measured traffic"),
            Cell(source.signed(row["measure"], row["plain"])),
            Cell(source.signed(row["measure"], row["difference"])),
            Cell(source.range(row["measure"], row["interval"])),
            Cell(wording.p_value(row["p_value"])),
        )
        for row in rows
    )
    remark = (
        "The mean of each segment counts by its share of the mix instead of its share of the judged queries: what the "
        "difference would be for the queries that are asked. Not corrected for the number of comparisons."
    )
    return [
        Table("mixes", "Differences re-weighted to a mix of segments", columns, body),
        Paragraph(f"{left_out} {remark}".strip(), small=True),
    ]


def _mix_words(row: Row) -> str:
    shares = ", ".join(f"{shown(str(value), 24)} {share_text(share)}" for value, share in row["mix"].items())
    return f"{shown(row['attribute'], 40)}: {shares}"


def totals(source: Source) -> list[Block]:
    """Return the measures of all lists together, with p of exchanging the lists."""
    rows, left_out = limited(source, source.report.get("totals") or [])
    if not rows:
        return []
    columns = (
        *(Column(text, number=False) for text in ("measure", "system", "baseline")),
        *(Column(text) for text in ("system's value", "baseline's value", "difference", "p")),
    )
    body = tuple(
        (
            Cell(source.measure_label(row["measure"])),
            Cell(shown(row["system"], 60)),
            Cell(shown(row["baseline"], 60)),
            Cell(wording.number(row["value_system"], 4)),
            Cell(wording.number(row["value_baseline"], 4)),
            Cell(wording.signed(row["difference"], 4)),
            Cell(wording.p_value(row["p_value"])),
        )
        for row in rows
    )
    remark = (
        "These have one value a system and none a query. p comes from exchanging the two systems' lists query by query "
        "and computing the value anew; it is not corrected for the number of comparisons."
    )
    table = Table("totals", "Measures of all lists together", columns, body)
    return [table, Paragraph(f"{left_out} {remark}".strip(), small=True)]


def _claim(source: Source, row: Row) -> Cell:
    return Cell(pair_label((row["baseline"], row["system"])), note=source.measure_label(row["measure"]))


def _outcome(outcome: str) -> Cell:
    tone = outcome.replace("_", "-")
    return Cell(_words(outcome), tone=tone, mark=MARKS.get(tone, ""))


def _words(outcome: str) -> str:
    return outcome.replace("_", " ")
