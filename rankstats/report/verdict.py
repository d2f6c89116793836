"""The first screen: sentences that answer, the strip that shows where, the warnings that qualify."""

from __future__ import annotations

import re
from dataclasses import replace

from rankstats import wording
from rankstats.report.adjustment import adjustment_line
from rankstats.report.axis import difference_axis
from rankstats.report.blocks import Panel, Statement, Where
from rankstats.report.drawings import Axis, Forest, ForestRow
from rankstats.report.interleaving_sections import log_impressions, preference_lines
from rankstats.report.order import gain, told_pairs
from rankstats.report.rows import counts_words, forest_row, interval_words, is_adjusted, p_of, relative_text
from rankstats.report.source import BUILT_IN, Pair, Row, Source, effect_of, ends, level, pair_label
from rankstats.report.summaries import NOUNS, claims_told
from rankstats.report.texts import capital, label, sentence_list, shown
from rankstats.report.tones import ASSUMED, DIRECTION_ASSUMED, MARKS, NOT_SHOWN, SHOWN, WITHHELD, WORDS

STATEMENTS_SHOWN = 6
SINGLED_OUT = 3
"""Statements about single comparisons under a summary of many."""
NOTICES_SHOWN = 3
PANELS_SHOWN = 2
STRIP_ROWS = 9
LONGEST_SENTENCE = 600
SHARES = "difference of shares of units"
"""The estimand of a metric that is a share of units."""

_WITHHELD = " is withheld: "
_RELATIVE = re.compile("(?<=\\d), [+\N{MINUS SIGN}]?[\\d,.]+\\s%$")
"""The change in percent at the end of a headline; the line below has it."""
_LONGEST_NAME = 60


def statements(source: Source) -> tuple[Statement, ...]:
    """Return one statement a claim, in the order of `claims_told`; a reason that several share is given once."""
    verdicts = {verdict["difference_id"]: verdict for verdict in source.report["verdict"]}
    out: list[Statement] = []
    reasons: set[str] = set()
    for row in claims_told(source):
        reason = str(row.get("withheld") or "")
        out.append(_statement(source, verdicts[row["id"]], row, said_before=reason in reasons))
        reasons |= {reason} - {""}
    return tuple(out)


def _statement(source: Source, verdict: Row, row: Row, *, said_before: bool) -> Statement:
    tone = source.tone(row)
    p = wording.p_statement(p_of(row), _letter(row))
    # what the headline of a withheld verdict does not say
    size = f"difference {source.signed(row['measure'], effect_of(row))}" if tone == WITHHELD else ""
    assumed = DIRECTION_ASSUMED if tone in ASSUMED.values() else ""
    clusters = row.get("n_clusters")
    n = f"n = {row['n']:,}" + ("" if clusters is None else f" in {wording.count(clusters, 'cluster')}")
    evidence = (assumed, size, _intervals(source, row), _held(p), _relative(row), _held(n))
    counts = (counts_words(source, row), _sensitivity(source, row) if tone == NOT_SHOWN else "")
    lines: tuple[str, ...] = (
        " · ".join(part for part in evidence if part),
        ", ".join(part for part in (_means(source, row), adjustment_line(source, row)) if part),
        "; ".join(part for part in counts if part),
    )
    if source.report["kind"] == "interleaving":
        lines = preference_lines(source, row, _intervals(source, row), counts[1])
    if row.get("withheld"):
        reason = shown(row["withheld"], LONGEST_SENTENCE)
        lines = ("For the same reason as above." if said_before else f"{capital(reason)}.", *lines)
    headline, sentence = _headline(source, verdict, row), shown(verdict["sentence"], LONGEST_SENTENCE)
    if len(verdict["sentence"]) > LONGEST_SENTENCE:
        # names without end would leave no room for what is said of them
        sentence = f"{headline} ({lines[0].removesuffix('.')})."
    if assumed:
        headline, sentence = _undirected(row, headline), f"{_undirected(row, sentence).removesuffix('.')} ({assumed})."
        sentence = sentence.replace(f") ({assumed})", f"; {assumed})")
    return Statement(
        mark=MARKS[tone],
        tone=tone,
        word=WORDS[tone],
        headline=headline,
        details=tuple(line for line in lines if line),
        sentence=sentence,
    )


def _means(source: Source, row: Row) -> str:
    """Return the two values of a metric, shares in percent, in the order of the headline; of experiments alone."""
    both = (row["mean_system"], row["mean_baseline"])
    if source.report["kind"] != "experiment" or None in both:
        return ""
    if row["estimand"] != SHARES:
        return " against ".join(source.mean(row["measure"], value) for value in both)
    decimals = max(0, source.decimals(row["measure"]) - 2)
    points = wording.signed(100 * row["difference"], decimals)
    return f"{' against '.join(wording.percent(value, decimals) for value in both)}, {_held(f'{points} points')}"


def _relative(row: Row) -> str:
    """Return the relative difference, said to be one: that of a share would be read as points."""
    if row["relative_difference"] is None:
        return ""
    text = relative_text(row["relative_difference"])
    return _held(f"{text} {'relative' if text.endswith('%') else 'as large'}")


def _undirected(row: Row, said: str) -> str:
    """Say higher for better and lower for worse, where only assumed is which side is the good one."""
    for baseline in dict.fromkeys((str(row["baseline"]), label(row["baseline"], _LONGEST_NAME))):
        for good, plain in ASSUMED.items():
            than = f"than {baseline} on "
            said = said.replace(f" is {WORDS[good]} {than}", f" is {WORDS[plain]} {than}", 1)
    return said


def _letter(row: Row) -> str:
    letter = "adjusted p" if is_adjusted(row) else "p"
    return letter if row.get("alternative", "two-sided") == "two-sided" else f"one-sided {letter}"


def _held(text: str) -> str:
    """Keep a short statement on one line."""
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def _headline(source: Source, verdict: Row, row: Row) -> str:
    """Return the sentence of the verdict up to its evidence, which stands below; odd names made fit to show."""
    said = str(verdict["sentence"]).removesuffix(".")
    if row.get("withheld"):
        said = said.rpartition(_WITHHELD)[0] + _WITHHELD.removesuffix(": ")
    elif said.endswith(")"):
        said = said[: said.rindex(" (")]
    segment = row["segment"] or {}
    names = (row["system"], row["baseline"], source.measures[row["measure"]]["label"], row["weighting"])
    odd = {str(name) for name in (*names, *segment.values()) if name and label(str(name), _LONGEST_NAME) != name}
    if odd:
        pattern = "|".join(re.escape(name) for name in sorted(odd, key=lambda name: (-len(name), name)))
        said = re.sub(pattern, lambda match: label(match[0], _LONGEST_NAME), said)
    return _RELATIVE.sub("", said)


def _intervals(source: Source, row: Row) -> str:
    """Put the simultaneous interval first where the row's own would contradict 'not shown'."""
    own, joint = ends(row["interval"]), ends(row["adjusted_interval"])
    if own and joint and own[0] * own[1] > 0 and joint[0] * joint[1] <= 0:
        return (
            f"simultaneous {level(row['adjusted_interval'])} {source.range(row['measure'], row['adjusted_interval'])} "
            f"(alone {source.range(row['measure'], row['interval'])})"
        )
    return interval_words(source, row)


def _sensitivity(source: Source, row: Row) -> str:
    size = row.get("detectable_in_family", row["smallest_detectable"])
    if size is None:
        return ""
    smallest = wording.number(size, wording.decimals_for(size))
    return f"{source.n_text(row['n'])} can show differences of {smallest} or more, 4 times in 5"


def where(source: Source) -> Where | None:
    """Return the strip: all queries and every segment, for the first pairs on the first primary measure."""
    measure = source.primary[0]
    pairs = [pair for pair, _ in told_pairs(source, measure)]
    if not pairs or not source.segments:
        return None
    leading = _leading(source, pairs, measure)
    lists = [_strip_rows(source, segment_rows(source, measure, pair)) for pair in leading]
    axis = difference_axis([row for rows in lists for row in rows[:1]] + [r for rows in lists for r in rows[1:]])
    panels = tuple(
        Panel(pair_label(pair, 28), _forest(source, measure, rows, axis))
        for pair, rows in zip(leading, lists, strict=True)
    )
    remarks = [heterogeneity_words(source, measure, pair, named=len(leading) > 1) for pair in leading]
    left_out = [shown(n, 40) for a, n in source.attributes.items() if a not in _strip_attributes(source)]
    more = len(list(source.planned_pairs(measure))) - len(leading)
    told = [*([f"by {sentence_list(left_out)}"] if left_out else []), *(["the other comparisons"] if more > 0 else [])]
    caption = f"Difference in {source.measure_label(measure)} by segment"
    return Where(
        caption=caption,
        key=_forest(source, measure, [row for rows in lists for row in rows], axis).key,
        panels=panels,
        remarks=tuple(remark for remark in remarks if remark),
        share=_share_heading(source),
        more=f"{capital(sentence_list(told))}: see “Where it wins and loses”." if told else "",
    )


def _share_heading(source: Source) -> str:
    """Name what the shares are of; empty where there are none."""
    kinds = {segment["share_of"] for segment in source.segments if segment["share"] is not None}
    if source.report["kind"] == "interleaving":
        return "share of those with clicks" if kinds else ""
    return "" if not kinds else f"share of {kinds.pop()}" if len(kinds) == 1 else "share"


def _strip_attributes(source: Source) -> list[str]:
    """Return the attributes that fit on the first screen: whole ones, in order, at least one."""
    kept: list[str] = []
    rows = 0
    for attribute in source.attributes:
        rows += sum(segment["attribute"] == attribute for segment in source.segments)
        if kept and rows > STRIP_ROWS:
            break
        kept.append(attribute)
    return kept


def _strip_rows(source: Source, rows: list[ForestRow]) -> list[ForestRow]:
    """Keep the overall row and those of the attributes that fit."""
    kept = _strip_attributes(source)
    return rows[: 1 + sum(segment["attribute"] in kept for segment in source.segments)]


def _leading(source: Source, pairs: list[Pair], measure: str) -> list[Pair]:
    """Take all of up to two pairs; of more, the best that is shown to differ from one baseline, else the first."""
    if len(pairs) <= PANELS_SHOWN:
        return pairs
    rows = [(pair, source.planned(measure, pair)) for pair in pairs]
    found = [row for _, row in rows if row is not None and source.tone(row) in SHOWN]
    if len({pair[0] for pair in pairs}) == 1:
        found.sort(key=lambda row: -gain(source, row))
    return ([(row["baseline"], row["system"]) for row in found] or pairs)[:1]


def _forest(source: Source, measure: str, rows: list[ForestRow], axis: Axis) -> Forest:
    return Forest(
        tuple(rows),
        axis,
        f"difference in {source.measure_label(measure)}",
        p_label="adj. p" if any(row.adjusted for row in rows) else "p",
        reference=rows[0].value,
        higher_is_better=source.measures[measure]["higher_is_better"],
        directed=measure not in source.assumed,
    )


def segment_rows(source: Source, measure: str, pair: Pair) -> list[ForestRow]:
    """Return forest rows of a pair: all queries first, then the segments, each attribute a group."""
    overall = source.planned(measure, pair)
    rows = [] if overall is None else [forest_row(source, overall, everything(source), 1.0)]
    before = None
    for segment in source.segments:
        row = source.planned(measure, pair, (segment["attribute"], segment["value"]))
        if row is not None:
            first = segment["attribute"] != before
            named = source.segment_labels[segment["attribute"], segment["value"]]
            made = forest_row(source, row, named, segment["share"], first=first)
            cut = _cut(segment)
            # a name that is too long loses its middle, and perhaps a part of this end
            rows.append(replace(made, cut=cut if made.label.endswith(cut) else ""))
            before = segment["attribute"]
    return rows


def everything(source: Source) -> str:
    """Return what the overall effect is over: of a log, the impressions that decide something."""
    return "all with clicks" if source.report["kind"] == "interleaving" else f"all {source.unit[1]}"


def _cut(segment: Row) -> str:
    """Return the part of a built-in label that explains its value, such as ' (≤ 3 words)'."""
    value, text = str(segment["value"]), str(segment["label"])
    return text[len(value) :] if text.startswith(f"{value} (") else ""


def heterogeneity_words(source: Source, measure: str, pair: Pair, *, named: bool = False) -> str:
    """Return in words which attributes change the effect of a pair, and what it is where it has the other sign."""
    told: list[str] = []
    rows = source.heterogeneity(measure, pair)
    unweighted = source.planned_weighting is not None and any(row.get("weighting") is None for row in rows)
    effect = "the unweighted effect" if unweighted else "the effect"
    for row in rows:
        adjusted = row["p_adjusted"] is not None
        p = row["p_adjusted"] if adjusted else row["p_value"]
        if p is None:
            continue
        letter = ("" if told else "heterogeneity, ") + ("adjusted p" if adjusted else "p")
        changes = p <= source.alpha
        told.append(
            f"{_attribute_words(source, row)} {'changes' if changes else 'is not shown to change'} "
            f"{'it' if told else effect} ({wording.p_statement(p, letter)}){_reversed(source, row) if changes else ''}"
        )
    if not told:
        return ""
    text = "; ".join(told)
    return f"{label(pair[1])}: {text}." if named else f"{capital(text)}."


def _reversed(source: Source, row: Row) -> str:
    """Return the effects of the segments on the other side of zero: each with its verdict, a sign may be chance."""
    # without a trigger there is no effect: its sign there is chance
    if not row["reversal"] or row["attribute"] == source.trigger:
        return ""
    pair = (row["baseline"], row["system"])
    told: list[str] = []
    for value in row.get("opposite") or ():
        found = source.planned(row["measure"], pair, (row["attribute"], value))
        if found is not None:
            size = f"{source.signed(row['measure'], effect_of(found))} ({WORDS[source.tone(found)]})"
            told.append(f"on {shown(str(value), 40)} {size if told else f'it is {size}'}")
    return f": {sentence_list(told)}" if told else ", and a segment has the other sign"


def _attribute_words(source: Source, row: Row) -> str:
    """Return an attribute as the subject of a sentence: the name of a column in quotes, others in words."""
    if row["attribute"] == source.trigger:
        return "the trigger"
    name = str(row.get("label") or row["attribute"])
    if name in BUILT_IN:
        return "the number of relevant documents" if name == "relevant" else name
    return f"“{shown(name, 40)}”"


def facts(source: Source) -> tuple[str, ...]:
    """Return what stands beside the title: how many queries, systems and measures."""
    out = [
        source.n_text(len(source.report["queries"])),
        wording.count(len(source.systems), NOUNS.get(source.unit[0], "system")),
        wording.count(len(source.measures), "metric" if source.unit[0] == "unit" else "measure"),
    ]
    if source.report["experiment"]:
        total = sum(unit["n"] for unit in source.report["experiment"]["units"])
        out[0] = wording.count(total, "unit")
    if source.report["kind"] == "interleaving":
        out[0] = source.n_text(log_impressions(source))
    return tuple(out)
