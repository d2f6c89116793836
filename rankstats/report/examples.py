"""The biggest wins and losses, with both lists of each query."""

from __future__ import annotations

from rankstats.report.blocks import BETTER, MARKS, WORSE, Block, Example, Examples, Paragraph, Section, Subheading
from rankstats.report.choice import first_of, leading_pairs
from rankstats.report.lists import Lists
from rankstats.report.source import Pair, Row, Source, pair_label
from rankstats.report.texts import shown

EXAMPLES_SHOWN = 10
PAIRS_SHOWN = 6
MOVES_SHOWN = 3
"""Documents named as the reason of a difference."""


def query_text(query: Row, longest: int = 240) -> str:
    """Return the text of a query, its id where no text is known."""
    text = query["attributes"].get("text")
    return shown(str(text) if text not in (None, "") else query["query_id"], longest)


def differences_of(source: Source, measure: str, pair: Pair) -> list[tuple[int, float]]:
    """Return the per-query differences of a pair, as index of the query and system − baseline.

    The queries are those of the statistics: defined for all systems and, with weights, of a weight above 0.
    """
    a, b = (source.report["values"].get(system, {}).get(measure, ()) for system in pair)
    used = source.used_queries(measure)
    return [(i, y - x) for i, (x, y) in enumerate(zip(a, b, strict=True)) if i in used]


def examples(source: Source) -> Section:
    """Return section 10: the queries that each system wins and loses by most, with both lists."""
    measure = source.primary[0]
    lists = Lists.of(source)
    blocks: list[Block] = []
    pairs = leading_pairs(source, measure)
    for i, (pair, row) in enumerate(pairs[:PAIRS_SHOWN], 1):
        found = _extremes(source, measure, pair, row)
        parts = [
            Examples(
                f"examples-{i}-{key}",
                4 if len(pairs) > 1 else 3,
                heading,
                shown(pair[0], 60),
                shown(pair[1], 60),
                source.measure_label(measure),
                tuple(
                    _example(source, measure, pair, lists, index, key=f"e{i}-{key}-{k}")
                    for k, index in enumerate(indexes, 1)
                ),
            )
            for key, heading, indexes in zip(("wins", "losses"), ("Biggest wins", "Biggest losses"), found, strict=True)
            if indexes
        ]
        if parts:
            if len(pairs) > 1:
                blocks.append(Subheading(f"examples-{i}", pair_label(pair)))
            blocks += parts
    if lists.docs and blocks:
        blocks.insert(0, Paragraph(_legend(source, lists), small=True))
    left_out = first_of(min(PAIRS_SHOWN, len(pairs)), len(list(source.planned_pairs(measure))), "per_query.csv")
    if blocks and left_out:
        blocks.append(Paragraph(left_out, small=True))
    return Section("examples", "Biggest wins and losses", tuple(blocks))


def _legend(source: Source, lists: Lists) -> str:
    told = "Open a query to see both lists. ● is one grade step, “?” is a document that nobody judged."
    if any("contribution" in doc for docs in lists.docs.values() for doc in docs):
        told += f" The small number is what the document brings to {source.measure_label(source.primary[0])}."
    return told


def _extremes(source: Source, measure: str, pair: Pair, row: Row) -> tuple[list[int], list[int]]:
    """Return indexes of the best and the worst queries, largest difference first, then by order."""
    sign = 1 if source.measures[measure]["higher_is_better"] else -1
    tolerance = row.get("tie_tolerance") or 0.0
    gains = [(sign * d, i) for i, d in differences_of(source, measure, pair)]
    wins = sorted((-gain, i) for gain, i in gains if gain > tolerance)
    losses = sorted((gain, i) for gain, i in gains if gain < -tolerance)
    return [i for _, i in wins[:EXAMPLES_SHOWN]], [i for _, i in losses[:EXAMPLES_SHOWN]]


def _example(source: Source, measure: str, pair: Pair, lists: Lists, index: int, *, key: str) -> Example:
    query = source.report["queries"][index]
    a, b = (source.report["values"][system][measure][index] for system in pair)
    tone = BETTER if (b > a) == source.measures[measure]["higher_is_better"] else WORSE
    text = query_text(query)
    return Example(
        key=key,
        index=index,
        query_id=shown(query["query_id"], 60) if text != shown(query["query_id"]) else "",
        text=text,
        baseline=source.mean(measure, a),
        system=source.mean(measure, b),
        difference=source.signed(measure, b - a),
        tone=tone,
        mark=MARKS[tone],
        facts=" · ".join(
            text for text in (_facts(source, query), _reasons(source, measure, pair, query["query_id"])) if text
        ),
        lists=lists.beside(source, measure, query["query_id"], pair),
    )


def _reasons(source: Source, measure: str, pair: Pair, query_id: str) -> str:
    """Say which relevant documents moved, came or went, the most telling first."""
    for row in source.report.get("explanations") or []:
        if (row["query_id"], row["measure"], row["baseline"], row["system"]) == (query_id, measure, *pair):
            moves = [
                f"{shown(move['doc_id'], 40)} (grade {move['grade']:g}) {_place(move['rank_baseline'])} → "
                f"{_place(move['rank_system'])}"
                for move in row["moves"][:MOVES_SHOWN]
            ]
            return f"Moved: {', '.join(moves)}"
    return ""


def _place(rank: int | None) -> str:
    return "not listed" if rank is None else f"{rank:,}"


def _facts(source: Source, query: Row) -> str:
    values = [query["attributes"].get(attribute) for attribute in source.attributes]
    return " · ".join(shown(str(value), 40) for value in values if value not in (None, ""))
