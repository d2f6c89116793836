"""More comparisons than are read one by one: one sentence that sums them up, and the order in which they are told."""

from __future__ import annotations

from collections import Counter
from itertools import zip_longest

from rankstats.report.blocks import Statement
from rankstats.report.choice import ROWS_DRAWN, chosen
from rankstats.report.interleaving_sections import order_words
from rankstats.report.order import ORDERED_ABOVE, told_first
from rankstats.report.source import Row, Source, effect_of
from rankstats.report.texts import capital, label, sentence_list
from rankstats.report.tones import (
    BETTER,
    DIRECTION_ASSUMED,
    EQUIVALENT,
    MARKS,
    NOT_SHOWN,
    SHOWN,
    TOO_FEW,
    WITHHELD,
    WORDS,
    WORSE,
)

NOUNS = {"unit": "arm", "impression": "ranker"}
"""What is compared where it is no system, by what is counted."""
WINNERS_NAMED = 3
"""Systems that a summary names as better."""


def claims_told(source: Source) -> list[Row]:
    """Return the differences of the claims in the order in which the page tells them.

    With one baseline the best ones first, in the places that the report gives their measure; of more comparisons than
    are read one by one the measures in turn, and of too many those that are drawn.
    """
    claims = [source.by_id[verdict["difference_id"]] for verdict in source.report["verdict"]]
    if len(claims) > ROWS_DRAWN:
        ids = {row["id"] for row in claims}
        drawn = [row for measure in source.primary for row in chosen(source, measure).rows if row["id"] in ids]
        claims = drawn or claims[:ROWS_DRAWN]
    whole = [row for row in claims if row["segment"] is None]
    measures = dict.fromkeys(row["measure"] for row in whole)
    by_measure = {m: told_first(source, [row for row in whole if row["measure"] == m]) for m in measures}
    if is_summed(source):
        in_turn = [row for rows in zip_longest(*by_measure.values()) for row in rows if row is not None]
    else:
        left = {m: iter(rows) for m, rows in by_measure.items()}
        in_turn = [next(left[row["measure"]]) for row in whole]
    ids = {row["id"] for row in in_turn}
    return [*in_turn, *(row for row in claims if row["id"] not in ids)]


def is_summed(source: Source) -> bool:
    """Return whether a summary stands above the statements: there are more comparisons than are read one by one."""
    return len(source.pairs) > ORDERED_ABOVE


def summaries(source: Source) -> tuple[Statement, ...]:
    """Return one statement a primary measure that sums up more comparisons than are read one by one; else nothing."""
    if source.report["kind"] == "interleaving" and source.ranks:
        headline, detail, alone = order_words(source)
        return (_summary(BETTER if alone else NOT_SHOWN, headline, detail),)
    if not is_summed(source):
        return ()
    out = []
    for measure in source.primary:
        rows = [row for _, row in source.planned_pairs(measure)]
        if len(rows) > ORDERED_ABOVE:
            make = _against_one if len({row["baseline"] for row in rows}) == 1 else _among_all
            out.append(make(source, measure, rows))
    return tuple(out)


def _against_one(source: Source, measure: str, rows: list[Row]) -> Statement:
    """Sum up how many systems are better and worse than the one baseline, and name the best."""
    tones = Counter(source.tone(row) for row in rows)
    up, down = (source.directed(measure, tone) for tone in (BETTER, WORSE))
    winners = told_first(source, [row for row in rows if source.tone(row) == up])
    total, name, baseline = len(rows), source.measure_label(measure), label(rows[0]["baseline"], 60)
    systems = NOUNS.get(source.unit[0], "system") + "s"
    if winners:
        verb = "is" if len(winners) == 1 else "are"
        said = f"{len(winners):,} of {total:,} {systems} {verb} {WORDS[up]} than {baseline} on {name}"
        said += (
            f": {_sized(source, winners[0])}" if len(winners) == 1 else f", {_sized(source, winners[0], ' by most')}"
        )
    else:
        said = f"None of {total:,} {systems} is shown to be {WORDS[up]} than {baseline} on {name}"
    words = {down: WORDS[down], EQUIVALENT: "equivalent", NOT_SHOWN: "not shown to differ", WITHHELD: "withheld"}
    words[TOO_FEW] = f"of too few {source.unit[1]}"
    rest = [f"{tones[tone]:,} {word}" for tone, word in words.items() if tones[tone]]
    parts = [_others_better(source, winners[1:]), sentence_list(rest)]
    if source.correction(rows[0]) != "none":
        parts.append("all claims are adjusted together")
    parts += [DIRECTION_ASSUMED] if measure in source.assumed else []
    return _summary(up if winners else NOT_SHOWN, said, "; ".join(part for part in parts if part))


def _sized(source: Source, row: Row, how: str = "") -> str:
    """Return a system with its difference: 'hybrid (+0.031)'."""
    return f"{label(row['system'], 40)}{how} ({source.signed(row['measure'], effect_of(row))})"


def _others_better(source: Source, rows: list[Row]) -> str:
    """Name the next best systems and count those that are better as well."""
    if not rows:
        return ""
    named = [_sized(source, row) for row in rows[: WINNERS_NAMED - 1]]
    more = len(rows) - len(named)
    return f"then {sentence_list([*named, *([f'{more:,} more'] if more else [])])}"


def _among_all(source: Source, measure: str, rows: list[Row]) -> Statement:
    """Name the best mean, and how many systems may be the best."""
    tones = Counter(source.tone(row) for row in rows)
    total, differ = len(rows), sum(tones[tone] for tone in SHOWN)
    name, best = source.measure_label(measure), source.by_mean(measure)[0]
    score = source.overall.get((best, measure))
    mean = source.mean(measure, None if score is None else source.lead_mean(score))
    word = "highest" if measure in source.assumed else "best"
    headline = f"{label(best, 60)} has the {word} mean of {len(source.systems):,} systems on {name}: {mean}"
    shown_to = f"{differ:,} of {total:,} comparisons are shown to differ"
    shown_to += f", {tones[WITHHELD]:,} withheld" if tones[WITHHELD] else ""
    candidates = [row["may_be_best"] for (m, _), row in source.ranks.items() if m == measure]
    may = sum(1 for candidate in candidates if candidate)
    known = candidates and all(candidate is not None for candidate in candidates)
    words = "no other system may be the best" if may == 1 else f"{may:,} systems may be the best"
    return _summary(NOT_SHOWN, headline, f"{words}; {shown_to}" if known and may else shown_to)


def _summary(tone: str, headline: str, detail: str) -> Statement:
    return Statement(MARKS[tone], tone, WORDS[tone], headline, (f"{capital(detail)}.",), f"{headline}: {detail}.")
