"""The sentences that answer the question over a table of evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rankstats import wording
from rankstats.report.source import Row, Source, level
from rankstats.report.texts import label, sentence_list, shown
from rankstats.report.tones import BETTER, TOO_FEW, WITHHELD, WORDS, WORSE

NAMED = 3
"""Comparisons that a sentence names; the table has all."""
_LIKELY, _UNLIKELY, _UNKNOWN, _HIGHEST, _NEVER = "likely", "unlikely", "unknown", "highest", "never"
_TURNED = {
    _LIKELY: "by no more documents than are likely relevant",
    _UNLIKELY: "only by more than are likely relevant",
    _UNKNOWN: "by relevant documents (how many are likely is not known)",
    _HIGHEST: "only by documents of the highest grade",
    _NEVER: "by none",
}


def unjudged_answer(rows: Sequence[Row]) -> str:
    """Answer from rows of coverage whether the unjudged documents could turn a verdict."""
    kinds = Counter(_turned_by(row) for row in rows)
    if kinds[_NEVER] == len(rows):
        return "No: the verdict is the same in the worst and in the best case."
    if len(rows) == 1:
        return _one_turned(rows[0])
    found = [(kinds[kind], words) for kind, words in _TURNED.items() if kinds[kind]]
    if len(found) == 1:
        return f"All {len(rows):,} verdicts could be turned {found[0][1]}."
    told = [f"{n:,} {'could be turned ' if not k else ''}{words}" for k, (n, words) in enumerate(found)]
    return f"Of {len(rows):,} verdicts, {sentence_list(told)}."


def _one_turned(row: Row) -> str:
    documents = wording.count(row["to_turn"] or 0, "relevant document")
    return {
        _LIKELY: f"Yes: {documents} would turn the verdict, and about {row['likely'] or 0:,.0f} are likely relevant.",
        _UNLIKELY: f"Hardly: it takes {documents}, and only about {row['likely'] or 0:,.0f} are likely relevant.",
        _UNKNOWN: f"Yes: {documents} would turn the verdict.",
        _HIGHEST: "Only if all of them had the highest grade; of the lowest relevant grade they would not.",
    }[_turned_by(row)]


def _turned_by(row: Row) -> str:
    if row["to_turn"] is None:
        return _NEVER if {row["worst_outcome"], row["best_outcome"]} == {row["verdict"]} else _HIGHEST
    if row["likely"] is None:
        return _UNKNOWN
    return _LIKELY if row["to_turn"] <= round(row["likely"]) else _UNLIKELY


def condensed_answer(rows: Sequence[Row]) -> str:
    """Answer whether condensed lists say the same."""
    verdicts, signs = (sum(row["disagreement"] == kind for row in rows) for kind in ("verdict", "sign"))
    if not verdicts and not signs:
        same = "the same sign and the same verdict" if all(row["outcome"] for row in rows) else "the same sign"
        return f"As judged and on condensed lists every difference has {same}."
    parts = [
        f"{wording.count(number, 'comparison has', 'comparisons have')} {what}"
        for number, what in ((verdicts, "another verdict"), (signs, "the opposite sign"))
        if number
    ]
    return (
        f"Of {wording.count(len(rows), 'comparison')}, {' and '.join(parts)} on condensed lists: there the answer "
        "depends on documents that nobody judged, so judge them (to_judge.tsv) before you decide."
    )


def carried_answer(source: Source, found: Sequence[tuple[Row, Row]]) -> str:
    """Answer from rows of robustness and their differences whether a few queries carry a mean.

    They do where the mean without the queries at both ends is less than half of it. Asked of the differences that are
    shown; where none is, of all.
    """
    known = [(row, d) for row, d in found if row["trimmed_mean"] is not None and d["difference"]]
    told = [(row, d) for row, d in known if source.tone(d) in (BETTER, WORSE)]
    asked = told or known
    if not asked:
        return ""
    few = [(row, d) for row, d in asked if row["trimmed_mean"] / d["difference"] < 0.5]
    answer = "No" if not few else "Yes" if len(few) == len(asked) else "In part"
    without = f"without the {wording.percent(asked[0][0]['trim'])} most extreme {source.unit[1]} on each side"
    if len(asked) == 1:
        row, d = asked[0]
        mean, trimmed = (source.signed(d["measure"], size) for size in (d["difference"], row["trimmed_mean"]))
        name, side = source.measure_label(d["measure"]), {"gain": "gains", "loss": "losses"}.get(row["side"])
        half = f"half of all {side} comes from {row['half']:,} of {source.n_text(d['n'])}; " if side else ""
        return f"{answer}: {half}{without} {label(d['system'])}'s {mean} on {name} is {trimmed}."
    total = f"{len(asked):,} differences{' that are shown' if told and len(told) < len(known) else ''}"
    if not few:
        return f"No: {without} each of the {total} keeps at least half of its size."
    keep = "keeps" if len(few) == 1 else "keep"
    named = _named(source, [d for _, d in few])
    return f"{answer}: {without} {len(few):,} of {total} {keep} less than half of the size ({_first(named)})."


def mix_answer(source: Source, rows: Sequence[tuple[Row, str, str]]) -> str:
    """Answer whether a mix of segments changes a verdict, from rows with their tone and that of the claim as judged."""
    told = [found for found in rows if found[1] not in ("", WITHHELD, TOO_FEW)]
    if not told:
        return ""
    if len(told) == 1:
        return _one_mixed(source, *told[0])
    changed = [found for found in told if found[1] != found[2]]
    if not changed:
        return f"No: all {len(told):,} verdicts under a mix are those of the judged queries."
    named = _named(source, [row for row, _, _ in changed])
    texts = [
        f"{name} with the mix of {shown(row['attribute'], 40)}: {WORDS[tone]} instead of {WORDS[before]}"
        for name, (row, tone, before) in zip(named, changed, strict=True)
    ]
    are = "is another" if len(changed) == 1 else "are others"
    return f"Yes: {len(changed):,} of {len(told):,} verdicts {are} under a mix ({_first(texts, '; ')})."


def _named(source: Source, rows: Sequence[Row]) -> list[str]:
    """Return the systems of comparisons, with their measure where several measures have claims."""
    several = len(source.primary) > 1
    return [
        f"{label(row['system'])} on {source.measure_label(row['measure'])}" if several else label(row["system"])
        for row in rows
    ]


def _one_mixed(source: Source, row: Row, tone: str, before: str) -> str:
    measure = row["measure"]
    found = (
        f"the difference is {source.signed(measure, row['difference'])} ({level(row['interval'])} "
        f"{source.range(measure, row['interval'])}; {wording.p_statement(row['p_value'])})"
    )
    under = f"with the mix of {shown(row['attribute'], 40)} {found}: {WORDS[tone]}"
    if tone == before:
        return f"No: {under}, as over the judged queries."
    return f"Yes: {under}, while over the judged queries it is {WORDS[before]}."


def _first(named: list[str], between: str = ", ") -> str:
    more = len(named) - NAMED
    return between.join([*named[:NAMED], *([f"{more:,} more"] if more > 0 else [])])
