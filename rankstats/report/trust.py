"""Whether to believe a verdict: all checks with their outcomes, unjudged documents, tied scores, mixes."""

from __future__ import annotations

from collections.abc import Sequence

from rankstats import wording
from rankstats.conventions import RANK_TESTS
from rankstats.report.answers import condensed_answer, mix_answer, ties_answer, unjudged_answer
from rankstats.report.blocks import Block, Cell, Column, Paragraph, Subheading, Table
from rankstats.report.choice import limited
from rankstats.report.rows import decimals_of_shares, share_text
from rankstats.report.source import Row, Source, ends, level, pair_label
from rankstats.report.texts import shown
from rankstats.report.tones import BETTER, EQUIVALENT, MARKS, NOT_SHOWN, TOO_FEW, WITHHELD, WORDS, WORSE

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
    told = f"{found:,} of the {looked:,} that apply found something to warn of"
    if not found:
        told = f"none of the {looked:,} that apply found anything to warn of"
    return [Table("evidence-checks", f"All checks: {told}", columns, body, folded=True)]


def unjudged(source: Source) -> list[Block]:
    """Return what the unjudged documents could change, a row a claim."""
    found = [row for row in _decided(source, source.report.get("coverage") or []) if row["documents"]]
    rows, left_out = limited(source, found)
    if not rows:
        return []
    columns = (
        Column("comparison", number=False),
        Column("verdict", number=False),
        Column("unjudged", note="baseline and system"),
        Column("worst case"),
        Column("best case"),
        Column("documents to turn it", note="lowest relevant grade"),
        Column("likely relevant", note="at the rate of the judged"),
    )
    body = tuple(_coverage_cells(source, row) for row in rows)
    return [
        Subheading("unjudged-cases", "Could the unjudged documents turn a verdict?"),
        Paragraph(unjudged_answer(source, found)),
        Table("coverage", "The claims under other judgments", columns, body),
        Paragraph(f"{left_out} {_coverage_remark(source, rows)}".strip(), small=True),
    ]


def _coverage_remark(source: Source, rows: Sequence[Row]) -> str:
    depths = sorted({row["depth"] for row in rows})
    depth = f"{depths[0]}" if len(depths) == 1 else f"{depths[0]} to {depths[-1]}"
    told = (
        f"The lists are looked at as deep as the measure looks, down to rank 100 at most: here the top {depth}. "
        "Worst and best case grade all unjudged documents there that favour the baseline, or the system, with the "
        "highest grade. The documents that turn a verdict are the fewest that would have to be relevant, the most "
        "telling first. Likely relevant are, of those that would help the list that loses, as many as the rate of its "
        "judged ones says."
    )
    if any(row["likely"] is None for row in rows):
        told += " “—” there: no list loses, or the judgments name relevant documents only."
    if any("unjudged" in source.withheld(source.by_id[row["difference_id"]]) for row in rows):
        from rankstats.comparison.coverage import LARGEST_GAP  # noqa: PLC0415  the rest of the page needs no measures

        told += (
            f" A verdict is withheld where the losing list's unjudged share is more than {LARGEST_GAP * 100:g} points "
            "above the other's and no more documents turn the verdict than are likely relevant."
        )
    return told


def condensed(source: Source) -> list[Block]:
    """Return each claim beside what it is on condensed lists; the ones that disagree first, with a sentence."""
    decided = _decided(source, source.report.get("condensed") or [])
    found = [row for row in decided if row["removed_baseline"] or row["removed_system"]]
    rows, left_out = limited(source, sorted(found, key=lambda row: row["disagreement"] is None))
    if not rows:
        return []
    columns = (
        Column("comparison", number=False),
        Column("taken out", note="baseline and system"),
        Column("as judged"),
        Column("on condensed lists"),
        _interval_column(rows),
        Column("agree", number=False),
    )
    body = tuple(_condensed_cells(source, row) for row in rows)
    remark = (
        "As judged, an unjudged document counts as not relevant; a condensed list leaves it out, so that the judged "
        "ones move up. The first favours the list that the judges knew better, the second often the other one."
    )
    return [
        Subheading("condensed-lists", "Do condensed lists say the same?"),
        Paragraph(condensed_answer(found)),
        Table("condensed", "The claims without unjudged documents", columns, body),
        Paragraph(f"{left_out} {remark}".strip(), small=True),
    ]


def _condensed_cells(source: Source, row: Row) -> tuple[Cell, ...]:
    measure, verdict, would_be = row["measure"], _words(row["verdict"]), _would_be(source, row)
    said = {None: "yes", "sign": "no: opposite sign", "verdict": "no: another verdict"}[row["disagreement"]]
    outcome = _words(row["outcome"] or "")
    if source.claim_tone(row) == WITHHELD:
        outcome = f"would be {outcome}" if row["outcome"] not in (None, "not_shown") else outcome
        verdict = f"withheld ({would_be})" if would_be else "withheld"
    return (
        claim_cell(source, row),
        Cell(f"{row['removed_baseline']:,} and {row['removed_system']:,}"),
        Cell(source.signed(measure, row["plain"]), note=verdict),
        Cell(source.signed(measure, row["difference"]), note=outcome),
        Cell(source.range(measure, row["interval"]), note=_joint(source, row)),
        Cell(said, tone="" if row["disagreement"] is None else "severity-warning"),
    )


def _joint(source: Source, row: Row) -> str:
    """Return the simultaneous interval of a difference that is not shown although its own interval leaves out 0."""
    own, joint = ends(row["interval"]), ends(row.get("adjusted_interval"))
    if row["outcome"] != "not_shown" or not own or not joint or own[0] * own[1] <= 0 or joint[0] * joint[1] > 0:
        return ""
    return f"simult. {source.range(row['measure'], row['adjusted_interval'])}"


def _coverage_cells(source: Source, row: Row) -> tuple[Cell, ...]:
    measure = row["measure"]
    shares = (row["unjudged_baseline"], row["unjudged_system"])
    unjudged_shares = " and ".join(wording.UNDEFINED if share is None else share_text(share) for share in shares)
    if row["to_turn"] is not None:
        turns = Cell(f"{row['to_turn']:,}", note=f"to {_words(row['turns_to'])}")
    else:
        stays = {row["worst_outcome"], row["best_outcome"]} == {row["verdict"]}
        turns = Cell("none", note="" if stays else "some of the highest grade do")
    return (
        claim_cell(source, row),
        _verdict(source, row),
        Cell(unjudged_shares, note=f"top {row['depth']}"),
        Cell(source.signed(measure, row["worst"]), note=_words(row["worst_outcome"])),
        Cell(source.signed(measure, row["best"]), note=_words(row["best_outcome"])),
        turns,
        Cell(wording.UNDEFINED if row["likely"] is None else wording.number(row["likely"], 0)),
    )


def ties(source: Source) -> list[Block]:
    """Return what the order of tied scores changes, a row a claim that it changes in the digits that are shown."""
    found = _decided(source, source.report.get("tie_effects") or [])
    telling = [row for row in found if row["turns_to"] is not None or len(set(_tie_ends(source, row))) > 1]
    rows, left_out = limited(source, telling)
    if not found:
        return []
    heading = Subheading("tied-scores", "Does the order of tied scores matter?")
    answer = Paragraph(ties_answer(telling))
    if not rows:
        return [heading, answer]
    other = len(found) - len(telling)
    rest = f"{wording.count(other, 'other difference stays', 'other differences stay')} the same in the digits shown."
    columns = (
        Column("comparison", number=False),
        Column("verdict", number=False),
        Column("queries", note="baseline and system"),
        Column("difference from"),
        Column("to"),
        Column("verdict then", number=False),
    )
    body = tuple(
        (
            claim_cell(source, row),
            _verdict(source, row),
            Cell(f"{row['queries_baseline']:,} and {row['queries_system']:,}"),
            *(Cell(end) for end in _tie_ends(source, row)),
            Cell("the same" if row["turns_to"] is None else f"can be {_words(row['turns_to'])}"),
        )
        for row in rows
    )
    remark = (
        "Documents with one score have no order of their own. Here each such group is turned round, in one list, in "
        "the other and in both; from and to are the smallest and the largest difference found."
    )
    table = Table("tie-effects", "The claims with each tie of scores turned round", columns, body)
    parts = (left_out, remark, rest if other else "")
    return [heading, answer, table, Paragraph(" ".join(part for part in parts if part), small=True)]


def _tie_ends(source: Source, row: Row) -> tuple[str, str]:
    low, high = (source.signed(row["measure"], row[end]) for end in ("low", "high"))
    return low, high


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
        _interval_column(rows),
        Column("p"),
        Column("shown?", number=False),
    )
    body = tuple(_mix_cells(source, row) for row in rows)
    answer = mix_answer(source, [(row, *_mix_tones(source, row)) for row in asked])
    sizes = [_family_size(source, row) for row in rows]
    remark = (
        "The mean of each segment counts by its share of the mix instead of its share of the judged queries: what the "
        "difference would be for the queries that are asked. p is not corrected for the number of comparisons"
        + (f"; “shown?” asks {max(sizes):,} times p, the claims of the family." if max(sizes) > 1 else ".")
    )
    return [
        Subheading("mix", f"Does the mix of {source.unit[1]} that are asked change a verdict?"),
        *([Paragraph(answer)] if answer else []),
        Table("mixes", "Differences re-weighted to a mix of segments", columns, body),
        Paragraph(f"{left_out} {remark}".strip(), small=True),
    ]


def _mix_cells(source: Source, row: Row) -> tuple[Cell, ...]:
    measure = row["measure"]
    tone, before = _mix_tones(source, row)
    return (
        claim_cell(source, row),
        Cell(_mix_words(row), note="stated" if row["source"] == "stated" else "measured traffic"),
        Cell(source.signed(measure, row["plain"]), note=WORDS.get(before, "")),
        Cell(source.signed(measure, row["difference"])),
        Cell(source.range(measure, row["interval"])),
        Cell(wording.p_value(row["p_value"])),
        Cell(WORDS[tone], tone=tone, mark=MARKS[tone]) if tone else Cell(wording.UNDEFINED),
    )


def _mix_tones(source: Source, row: Row) -> tuple[str, str]:
    """Return what a claim shows under a mix, corrected for its family, and as judged; empty where nothing tells.

    The mix is about the mean: it says nothing on a rank test, and is not asked whether two systems are equivalent.
    """
    claim = source.planned(row["measure"], (row["baseline"], row["system"]))
    before = "" if claim is None else source.tone(claim)
    if before in (WITHHELD, TOO_FEW):
        return before, before
    if claim is None or row["p_value"] is None or claim["test"] in RANK_TESTS or before == EQUIVALENT:
        return "", before
    if row["p_value"] > source.alpha / _family_size(source, row) or not row["difference"]:
        return NOT_SHOWN, before
    higher = source.measures[row["measure"]]["higher_is_better"]
    return source.directed(row["measure"], BETTER if (row["difference"] > 0) == higher else WORSE), before


def _family_size(source: Source, row: Row) -> int:
    claim = source.planned(row["measure"], (row["baseline"], row["system"]))
    family = None if claim is None else source.family(claim)
    return int(family.get("size", len(family["members"]))) if family else 1


def _mix_words(row: Row) -> str:
    decimals = decimals_of_shares(row["mix"].values())
    shares = ", ".join(f"{shown(str(value), 24)} {share_text(share, decimals)}" for value, share in row["mix"].items())
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


def claim_cell(source: Source, row: Row) -> Cell:
    """Return the comparison that a row is about, with its measure."""
    return Cell(pair_label((row["baseline"], row["system"])), note=source.measure_label(row["measure"]))


def _decided(source: Source, rows: Sequence[Row]) -> list[Row]:
    """Return the rows about claims of enough queries: no evidence could turn what is no verdict."""
    return [row for row in rows if source.claim_tone(row) != TOO_FEW]


def _verdict(source: Source, row: Row) -> Cell:
    """Return the verdict of the claim that a row is about; of a withheld one also what it would be."""
    tone = source.claim_tone(row)
    return Cell(WORDS[tone], note=_would_be(source, row), tone=tone, mark=MARKS[tone])


def _would_be(source: Source, row: Row) -> str:
    """Return what a withheld verdict would be; empty where that is no verdict either."""
    known = source.claim_tone(row) == WITHHELD and row["verdict"] != "not_shown"
    return f"would be {_words(row['verdict'])}" if known else ""


def _interval_column(rows: Sequence[Row]) -> Column:
    return Column(level(next((row["interval"] for row in rows if row["interval"]), None)))


def _words(outcome: str) -> str:
    return outcome.replace("_", " ")
