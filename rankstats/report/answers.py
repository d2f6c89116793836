"""The sentences that answer the question over a table of evidence."""

from __future__ import annotations

from collections.abc import Sequence

from rankstats import wording
from rankstats.report.source import Row, Source, level, pair_label
from rankstats.report.texts import label, shown
from rankstats.report.tones import SHOWN, TOO_FEW, WITHHELD, WORDS

NAMED = 3
"""Comparisons that a sentence names; the table has all."""
_LIKELY, _UNLIKELY, _OPEN, _UNKNOWN, _HIGHEST, _NEVER = "likely", "unlikely", "open", "unknown", "highest", "never"
_TURNED = {
    _LIKELY: ("Yes", "as many unjudged documents as it takes are likely relevant"),
    _UNKNOWN: ("Perhaps", "some unjudged documents would, but how many are likely relevant is not known"),
    _OPEN: ("Perhaps", "not shown as judged, shown if some unjudged documents were relevant"),
    _UNLIKELY: ("Hardly", "it takes more unjudged documents than are likely relevant"),
    _HIGHEST: ("Hardly", "only if the unjudged documents had the highest grade"),
}
"""What could turn a verdict, the worst first: the answer where nothing worse is found, and why."""


def unjudged_answer(source: Source, rows: Sequence[Row]) -> str:
    """Answer from rows of coverage whether the unjudged documents could turn a verdict, and which."""
    by_kind = {kind: [row for row in rows if _turned_by(row) == kind] for kind in (*_TURNED, _NEVER)}
    stay = len(by_kind[_NEVER])
    if stay == len(rows):
        return "No: the verdict is the same in the worst and in the best case."
    if len(rows) == 1:
        return _one_turned(rows[0])
    found = [(len(own), _names(source, own), *_TURNED[kind]) for kind, own in by_kind.items() if own and kind != _NEVER]
    if len(found) == 1 and not stay:
        return f"{found[0][2]}, all {len(rows):,}: {found[0][3]}."
    (n, named, answer, why), *others = found
    told = [f"{answer}, {n:,} of {len(rows):,} ({named}): {why}."]
    told += [f"{n:,} more ({named}): {why}." for n, named, _, why in others]
    return " ".join([*told, *([f"The other {f'{stay:,} stay' if stay > 1 else 'stays'} in any case."] if stay else [])])


def _one_turned(row: Row) -> str:
    documents = wording.count(row["to_turn"] or 0, "relevant document")
    return {
        _LIKELY: f"Yes: {documents} would turn the verdict, and about {row['likely'] or 0:,.0f} are likely relevant.",
        _UNLIKELY: f"Hardly: it takes {documents}, and only about {row['likely'] or 0:,.0f} are likely relevant.",
        _UNKNOWN: f"Yes: {documents} would turn the verdict.",
        _OPEN: f"Yes: with {documents} more the difference would be shown.",
        _HIGHEST: "Only if all of them had the highest grade; of the lowest relevant grade they would not.",
    }[_turned_by(row)]


def _turned_by(row: Row) -> str:
    if row["to_turn"] is None:
        return _NEVER if {row["worst_outcome"], row["best_outcome"]} == {row["verdict"]} else _HIGHEST
    if row["likely"] is None:
        return _OPEN if row["verdict"] == "not_shown" else _UNKNOWN
    return _LIKELY if row["to_turn"] <= round(row["likely"]) else _UNLIKELY


def ties_answer(telling: Sequence[Row]) -> str:
    """Answer whether the order of tied scores matters, from the rows of tie effects that change what is shown."""
    turned = sum(row["turns_to"] is not None for row in telling)
    if turned:
        return f"Yes: it could turn {wording.count(turned, 'verdict')}."
    if telling:
        return f"Hardly: it changes {wording.count(len(telling), 'difference')} in the digits shown, but no verdict."
    return "No: it changes no difference in the digits shown."


def condensed_answer(rows: Sequence[Row]) -> str:
    """Answer whether condensed lists say the same."""
    verdicts, signs = (sum(row["disagreement"] == kind for row in rows) for kind in ("verdict", "sign"))
    if not verdicts and not signs:
        same = "the same sign and the same verdict" if all(row["outcome"] for row in rows) else "the same sign"
        return f"As judged and on condensed lists every difference has {same}."
    parts = [(verdicts, "another verdict"), (signs, "the opposite sign")]
    if len(rows) == 1:
        found = f"No: on condensed lists it has {next(what for number, what in parts if number)}. The answer"
    else:
        told = [f"{number:,} {'has' if number == 1 else 'have'} {what}" for number, what in parts if number]
        found = f"Not always: of {len(rows):,} comparisons, {' and '.join(told)} on condensed lists. There the answer"
    return f"{found} depends on documents that nobody judged, so judge them (to_judge.tsv) before you decide."


def carried_answer(source: Source, found: Sequence[tuple[Row, Row]]) -> str:
    """Answer from rows of robustness and their differences whether a few queries carry a mean.

    They do where the mean without the queries at both ends is less than half of it. Asked of the differences that are
    shown; where none is, of all. A mean that few carry is one thing, a verdict that one query decides another: it is
    told too.
    """
    answer = _carried_mean(source, found)
    hanging = [(row, told) for _, row in found if (told := told_of(source, "one_query_carries", row))]
    if not answer or not hanging:
        return answer
    if len(found) > 1:
        return f"{answer.replace('No: ', 'The means are not: ', 1)} {_hanging(source, [row for row, _ in hanging])}"
    without = hanging[0][1].partition(": ")[2]
    if not answer.startswith("No: ") or not without:
        return f"{answer} {hanging[0][1]}"
    return f"{answer.replace('No: ', 'The mean is not: ', 1)} The verdict is: {without}"


def _hanging(source: Source, rows: list[Row]) -> str:
    whose = "The verdict of 1 comparison" if len(rows) == 1 else f"The verdicts of {len(rows):,} comparisons"
    hang = "hangs" if len(rows) == 1 else "hang"
    return f"{whose} {hang} on one {source.unit[0]} ({_names(source, rows)}; see “Data health”)."


def told_of(source: Source, code: str, row: Row) -> str:
    """Return what a warning says of a claim; empty where there is none."""
    where = f"{row['system']} against {row['baseline']}, {source.measure_label(row['measure'])}"
    warnings = source.report["warnings"]
    return next((w["message"] for w in warnings if w["code"] == code and w["where"] == where), "")


def _carried_mean(source: Source, found: Sequence[tuple[Row, Row]]) -> str:
    known = [(row, d) for row, d in found if row["trimmed_mean"] is not None and d["difference"]]
    told = [(row, d) for row, d in known if source.tone(d) in SHOWN]
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
    total = f"{len(asked):,} differences{' shown better or worse' if told and len(told) < len(known) else ''}"
    if len(few) in (0, len(asked)):
        return f"{answer}: {without} each of the {total} keeps {'less than' if few else 'at least'} half of its size."
    keep = "keeps" if len(few) == 1 else "keep"
    named = _names(source, [d for _, d in few])
    return f"{answer}: {without} {len(few):,} of {total} {keep} less than half of the size ({named})."


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
    """Return the systems of comparisons, with the baseline and the measure where there are several."""
    several = len(source.primary) > 1
    return [
        f"{_compared(source, row)} on {source.measure_label(row['measure'])}" if several else _compared(source, row)
        for row in rows
    ]


def _names(source: Source, rows: Sequence[Row]) -> str:
    """Return `_named` as one text, the first of them; a measure that all share is named once."""
    measures = {row["measure"] for row in rows}
    if len(source.primary) == 1 or len(measures) > 1 or len(rows) == 1:
        return _first(_named(source, rows))
    return f"on {source.measure_label(measures.pop())}: {_first([_compared(source, row) for row in rows])}"


def _compared(source: Source, row: Row) -> str:
    one_baseline = len({pair[0] for pair in source.pairs}) == 1
    return label(row["system"]) if one_baseline else pair_label((row["baseline"], row["system"]))


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
    # one more is named as briefly as counted
    return between.join(named if more <= 1 else [*named[:NAMED], f"{more:,} more"])
