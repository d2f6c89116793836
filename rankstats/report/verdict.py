"""The first screen: sentences that answer, the strip that shows where, the warnings that qualify."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

from rankstats import wording
from rankstats.report.axis import difference_axis
from rankstats.report.blocks import (
    BETTER,
    EQUIVALENT,
    MARKS,
    NOT_SHOWN,
    TOO_FEW,
    WORDS,
    WORSE,
    Axis,
    Cell,
    Column,
    Forest,
    ForestRow,
    Panel,
    Statement,
    Table,
    Where,
)
from rankstats.report.choice import ROWS_DRAWN, chosen, leading_pairs
from rankstats.report.interleaving_sections import log_impressions, order_words, preference_lines
from rankstats.report.rows import counts_words, forest_row, interval_words, is_adjusted, p_of, relative_text
from rankstats.report.source import Pair, Row, Source, effect_of, ends, level, pair_label
from rankstats.report.texts import capital, label, sentence_list, shown

STATEMENTS_SHOWN = 6
SINGLED_OUT = 3
"""Statements about single comparisons under a summary of many."""
NOTICES_SHOWN = 3
PANELS_SHOWN = 2
STRIP_ROWS = 9
LONGEST_SENTENCE = 600

_DECISIONS = {
    "go": ("▲", "better", "GO"),
    "no_go": ("▼", "worse", "NO-GO"),
    "cannot_tell": ("●", "not-shown", "CANNOT TELL"),
}
_RULES = {"fails": ("▼", "worse"), "open": ("●", "not-shown"), "holds": ("▲", "better")}
_DECIDING = {"no_go": "fails", "cannot_tell": "open"}
_WITHHELD = " is withheld: "
_RELATIVE = re.compile("(?<=\\d), [+\N{MINUS SIGN}]?[\\d,.]+\\s%$")
"""The change in percent at the end of a headline; the line below has it."""
_LONGEST_NAME = 60
_BUILT_IN = ("length ", "popularity ", "relevant ")
REASONS_SHOWN = 3
"""Rules whose finding stands under the decision; the table has all."""


def statements(source: Source) -> tuple[Statement, ...]:
    """Return one statement a verdict, in the order of the report; of too many comparisons those that are drawn."""
    by_id = {row["id"]: row for row in source.report["differences"]}
    verdicts = source.report["verdict"]
    if len(verdicts) > ROWS_DRAWN:
        by_difference = {row["difference_id"]: row for row in verdicts}
        drawn = [row["id"] for measure in source.primary for row in chosen(source, measure).rows]
        verdicts = [by_difference[key] for key in drawn if key in by_difference] or verdicts[:ROWS_DRAWN]
    elif len(verdicts) > STATEMENTS_SHOWN and len({row["baseline"] for row in verdicts}) == 1:
        # a summary counts them: the best ones are those that it speaks of
        verdicts = sorted(verdicts, key=lambda row: -_gain(source, by_id[row["difference_id"]]))
    return tuple(_statement(source, row, by_id[row["difference_id"]]) for row in verdicts)


def _gain(source: Source, row: Row) -> float:
    """Return how much better a system is, whichever way its measure goes."""
    effect = effect_of(row) or 0.0
    return effect if source.measures[row["measure"]]["higher_is_better"] else -effect


def summaries(source: Source) -> tuple[Statement, ...]:
    """Return one statement a primary measure that sums up more comparisons than a first screen holds; else nothing."""
    if source.report["kind"] == "interleaving" and source.ranks:
        headline, detail, alone = order_words(source)
        return (_summary(BETTER if alone else NOT_SHOWN, headline, detail),)
    if len(source.report["verdict"]) <= STATEMENTS_SHOWN:
        return ()
    out = []
    for measure in source.primary:
        found = [(pair, source.tone(row)) for pair, row in source.planned_pairs(measure)]
        if len(found) > STATEMENTS_SHOWN:
            baselines = {pair[0] for pair, _ in found}
            tones = Counter(tone for _, tone in found)
            make = _against_one if len(baselines) == 1 else _among_all
            out.append(make(source, measure, found[0][0], tones))
    return tuple(out)


def _against_one(source: Source, measure: str, pair: Pair, tones: Counter[str]) -> Statement:
    """Sum up how many systems are better and worse than the one baseline."""
    total, better = sum(tones.values()), tones[BETTER]
    name, baseline = source.measure_label(measure), label(pair[0], 60)
    said = f"{better:,} of {total:,} systems {'is' if better == 1 else 'are'} better than {baseline} on {name}"
    if not better:
        said = f"None of {total:,} systems is shown to be better than {baseline} on {name}"
    words = {WORSE: "worse", EQUIVALENT: "equivalent", NOT_SHOWN: "not shown to differ"}
    words[TOO_FEW] = f"of too few {'units' if source.report['kind'] == 'experiment' else 'queries'}"
    rest = [f"{tones[tone]:,} {word}" for tone, word in words.items() if tones[tone]]
    told = f"{sentence_list(rest)}; " if rest else ""
    return _summary(BETTER if better else NOT_SHOWN, said, f"{told}all claims are adjusted together")


def _among_all(source: Source, measure: str, _: Pair, tones: Counter[str]) -> Statement:
    """Name the best mean, and how many systems may be the best."""
    total, differ = sum(tones.values()), tones[BETTER] + tones[WORSE]
    name, best = source.measure_label(measure), source.by_mean(measure)[0]
    score = source.overall.get((best, measure))
    mean = source.mean(measure, None if score is None else source.lead_mean(score))
    headline = f"{label(best, 60)} has the best mean of {len(source.systems):,} systems on {name}: {mean}"
    shown_to = f"{differ:,} of {total:,} comparisons are shown to differ"
    candidates = [row["may_be_best"] for (m, _), row in source.ranks.items() if m == measure]
    may = sum(1 for candidate in candidates if candidate)
    known = candidates and all(candidate is not None for candidate in candidates)
    words = "no other system may be the best" if may == 1 else f"{may:,} systems may be the best"
    return _summary(NOT_SHOWN, headline, f"{words}; {shown_to}" if known and may else shown_to)


def _summary(tone: str, headline: str, detail: str) -> Statement:
    return Statement(MARKS[tone], tone, WORDS[tone], headline, (f"{detail}.",), f"{headline}: {detail}.")


def _statement(source: Source, verdict: Row, row: Row) -> Statement:
    tone = source.tone(row)
    p = wording.p_statement(p_of(row), _letter(row))
    relative = "" if row["relative_difference"] is None else relative_text(row["relative_difference"])
    clusters = row.get("n_clusters")
    n = f"n = {row['n']:,}" + ("" if clusters is None else f" in {wording.count(clusters, 'cluster')}")
    evidence = (_intervals(source, row), _held(p), relative, _held(n))
    counts = (counts_words(source, row), _sensitivity(source, row) if tone == NOT_SHOWN else "")
    lines: tuple[str, ...] = (" · ".join(part for part in evidence if part), "; ".join(part for part in counts if part))
    if source.report["kind"] == "interleaving":
        lines = preference_lines(source, row, _intervals(source, row), counts[1])
    if row.get("withheld"):
        reason = shown(row["withheld"], LONGEST_SENTENCE)
        lines = (f"{capital(reason)}.", *lines)
    headline, sentence = _headline(source, verdict, row), shown(verdict["sentence"], LONGEST_SENTENCE)
    if len(verdict["sentence"]) > LONGEST_SENTENCE:
        # names without end would leave no room for what is said of them
        sentence = f"{headline} ({lines[0].removesuffix('.')})."
    return Statement(
        mark=MARKS[tone],
        tone=tone,
        word=WORDS[tone],
        headline=headline,
        details=tuple(line for line in lines if line),
        sentence=sentence,
    )


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


def decision(source: Source) -> tuple[Statement | None, Table | None]:
    """Return the decision of a policy and the table of its rules, or two times None."""
    found = source.report["decision"]
    if found is None:
        return None, None
    mark, tone, word = _DECISIONS[found["outcome"]]
    rules = found["rules"]
    against = f"{label(found['candidate'], 60)} against {label(found['baseline'], 60)}"
    headline = f"{word}: {_decisive(found['outcome'], rules)}"
    deciding = [rule for rule in rules if rule["outcome"] == _DECIDING.get(found["outcome"])]
    reasons = [_reason(rule, len(deciding) > 1) for rule in deciding[:REASONS_SHOWN]]
    details = (*reasons, f"{against}; {_rule_counts(rules)}" if deciding else f"{against}.")
    places = list(_RULES)
    columns = (Column("rule", number=False), Column("outcome", number=False), Column("what was found", number=False))
    rows = tuple(
        (
            Cell(shown(rule["id"], 60)),
            Cell(rule["outcome"], tone=_RULES[rule["outcome"]][1], mark=_RULES[rule["outcome"]][0]),
            Cell(shown(rule["sentence"], 300)),
        )
        for rule in sorted(rules, key=lambda rule: places.index(rule["outcome"]))
    )
    return Statement(mark, tone, word, headline, details, headline), Table(
        "rules", "Rules of the policy", columns, rows
    )


def _decisive(outcome: str, rules: list[Row]) -> str:
    """Say which rules decide: all of them, those that fail, or those that are open."""
    if outcome == "go":
        return f"all {len(rules)} rules hold" if len(rules) > 1 else "the rule holds"
    wanted = _DECIDING[outcome]
    one, many = ("fails", "fail") if outcome == "no_go" else ("is open", "are open")
    names = [f"“{shown(rule['id'], 60)}”" for rule in rules if rule["outcome"] == wanted]
    if len(names) > REASONS_SHOWN + 1:
        names[REASONS_SHOWN:] = [f"{len(names) - REASONS_SHOWN:,} more"]
    return f"{sentence_list(names)} {one if len(names) == 1 else many}"


def _reason(rule: Row, named: bool) -> str:
    """Return what was found; with its name where several rules decide."""
    text = shown(rule["sentence"], 300)
    return f"{shown(rule['id'], 60)}: {text}." if named else f"{text}."


def _rule_counts(rules: list[Row]) -> str:
    counts = {outcome: sum(rule["outcome"] == outcome for rule in rules) for outcome in _RULES}
    verbs = {"holds": ("holds", "hold"), "fails": ("fails", "fail"), "open": ("is open", "are open")}
    told = [f"{n} {verbs[outcome][n != 1]}" for outcome, n in counts.items() if n]
    return f"of {wording.count(len(rules), 'rule')}, {sentence_list(told)}."


def where(source: Source) -> Where | None:
    """Return the strip: all queries and every segment, for the first pairs on the first primary measure."""
    measure = source.primary[0]
    pairs = [pair for pair, _ in leading_pairs(source, measure)]
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
        key=_key(source, [row for rows in lists for row in rows]),
        panels=panels,
        remarks=tuple(remark for remark in remarks if remark),
        share=_share_heading(source),
        more=f"{capital(sentence_list(told))}: see “Where it wins and loses”." if told else "",
    )


def _share_heading(source: Source) -> str:
    """Name what the shares are of; empty where there are none."""
    kinds = {segment["share_of"] for segment in source.segments if segment["share"] is not None}
    return "" if not kinds else kinds.pop() if len(kinds) == 1 else "share"


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


def _key(source: Source, rows: list[ForestRow]) -> str:
    """Explain only the marks that are drawn."""
    tones = [tone for tone in MARKS if any(row.tone == tone for row in rows)]
    parts = [f"{MARKS[tone]} {WORDS[tone]}" for tone in tones]
    parts.append("thick: interval" if any(row.outer for row in rows) else "line: interval")
    if any(row.outer for row in rows):
        parts.append("thin: simultaneous")
    return " · ".join([*parts, f"dashed: all {source.unit[1]}"])


def _leading(source: Source, pairs: list[Pair], measure: str) -> list[Pair]:
    """Take all of up to two pairs; of more, the best that is shown to differ from one baseline, else the first."""
    if len(pairs) <= PANELS_SHOWN:
        return pairs
    rows = [(pair, source.planned(measure, pair)) for pair in pairs]
    found = [(pair, row) for pair, row in rows if row is not None and source.tone(row) in {"better", "worse"}]
    if len({pair[0] for pair in pairs}) == 1:
        found.sort(key=lambda item: -_gain(source, item[1]))
    return ([pair for pair, _ in found] or pairs)[:1]


def _forest(source: Source, measure: str, rows: list[ForestRow], axis: Axis) -> Forest:
    return Forest(
        tuple(rows),
        axis,
        f"difference in {source.measure_label(measure)}",
        p_label="adj. p" if any(row.adjusted for row in rows) else "p",
        reference=rows[0].value,
        higher_is_better=source.measures[measure]["higher_is_better"],
    )


def segment_rows(source: Source, measure: str, pair: Pair) -> list[ForestRow]:
    """Return forest rows of a pair: all queries first, then the segments, each attribute a group."""
    overall = source.planned(measure, pair)
    rows = [] if overall is None else [forest_row(source, overall, f"all {source.unit[1]}", 1.0)]
    before = None
    for segment in source.segments:
        row = source.planned(measure, pair, (segment["attribute"], segment["value"]))
        if row is not None:
            first = segment["attribute"] != before
            made = forest_row(source, row, shown(str(segment["label"]), 80), segment["share"], first=first)
            rows.append(replace(made, cut=_cut(segment)))
            before = segment["attribute"]
    return rows


def _cut(segment: Row) -> str:
    """Return the part of a built-in label that explains its value, such as ' (≤ 3 words)'."""
    value, text = str(segment["value"]), str(segment["label"])
    return text[len(value) :] if text.startswith(f"{value} (") else ""


def heterogeneity_words(source: Source, measure: str, pair: Pair, *, named: bool = False) -> str:
    """Return in words which attributes change the effect of a pair, and whether a segment reverses it."""
    told: list[str] = []
    reversed_by: list[str] = []
    rows = source.heterogeneity(measure, pair)
    unweighted = source.planned_weighting is not None and any(row.get("weighting") is None for row in rows)
    effect = "the unweighted effect" if unweighted else "the effect"
    for row in rows:
        adjusted = row["p_adjusted"] is not None
        p = row["p_adjusted"] if adjusted else row["p_value"]
        if p is None:
            continue
        name = shown(str(row.get("label") or row["attribute"]), 40)
        letter = ("" if told else "heterogeneity, ") + ("adjusted p" if adjusted else "p")
        changes = p <= source.alpha
        told.append(
            f"{name} {'changes' if changes else 'is not shown to change'} {'it' if told else effect} "
            f"({wording.p_statement(p, letter)})"
        )
        if row["reversal"] and changes:
            reversed_by.append(name)
    if not told:
        return ""
    text = "; ".join(told)
    if reversed_by:
        text += f"; the estimate of a segment of {sentence_list(reversed_by)} has the opposite sign"
    if named:
        return f"{label(pair[1])}: {text}."
    # the name of a column stays as it is written
    return f"{text[0].upper()}{text[1:]}." if text.startswith(_BUILT_IN) else f"{text}."


def facts(source: Source) -> tuple[str, ...]:
    """Return what stands beside the title: how many queries, systems and measures."""
    out = [
        source.n_text(len(source.report["queries"])),
        wording.count(len(source.systems), {"unit": "arm", "impression": "ranker"}.get(source.unit[0], "system")),
        wording.count(len(source.measures), "metric" if source.unit[0] == "unit" else "measure"),
    ]
    if source.report["experiment"]:
        total = sum(unit["n"] for unit in source.report["experiment"]["units"])
        out[0] = wording.count(total, "unit")
    if source.report["kind"] == "interleaving":
        out[0] = source.n_text(log_impressions(source))
    return tuple(out)
