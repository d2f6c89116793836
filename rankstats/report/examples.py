"""The biggest wins and losses, with both lists of each query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rankstats.report.blocks import Block, Example, Examples, Paragraph, Section, Subheading
from rankstats.report.choice import first_of
from rankstats.report.lists import Lists
from rankstats.report.order import told_pairs
from rankstats.report.source import Pair, Row, Source, pair_label
from rankstats.report.texts import attribute_text, beginning, label, natural_key, shown
from rankstats.report.tones import BETTER, MARKS, WORSE

EXAMPLES_SHOWN = 10
PAIRS_SHOWN = 6
MOVES_SHOWN = 3
"""Documents named as the reason of a difference."""
_HELD = "\N{NO-BREAK SPACE}"


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


def query_order(source: Source) -> list[int]:
    """Return the queries in the order in which the page lists them, that of their ids, as indexes of the report."""
    keys = [natural_key(shown(query["query_id"], 60)) for query in source.report["queries"]]
    return sorted(range(len(keys)), key=keys.__getitem__)


def examples(source: Source) -> Section:
    """Return section 10: the queries that each system wins and loses by most, with both lists."""
    measure = source.primary[0]
    made = _Examples.of(source, measure)
    pairs = told_pairs(source, measure)
    blocks: list[Block] = []
    for i, (pair, row) in enumerate(pairs[:PAIRS_SHOWN], 1):
        parts = made.parts(pair, row, f"{i}", 4 if len(pairs) > 1 else 3)
        if parts and len(pairs) > 1:
            blocks.append(Subheading(f"examples-{i}", pair_label(pair)))
        blocks += parts
    legend = made.lists.legend(source.measure_label(measure))
    if legend and blocks:
        blocks.insert(0, Paragraph(f"Open a {source.unit[0]} to see both lists. {legend}", small=True))
    left_out = first_of(min(PAIRS_SHOWN, len(pairs)), len(list(source.planned_pairs(measure))), "per_query.csv")
    if blocks and left_out:
        blocks.append(Paragraph(left_out, small=True))
    return Section("examples", "Biggest wins and losses", tuple(blocks))


@dataclass(frozen=True, slots=True)
class _Examples:
    """What the examples of every pair share.

    Attributes
    ----------
    place : sequence of int
        Where the page lists each query.
    moves : mapping
        The documents that moved, by query, baseline and system.
    labels : mapping
        The labels of segments by attribute and value.
    """

    source: Source
    measure: str
    lists: Lists
    place: Sequence[int]
    moves: Mapping[tuple[str, str, str], Sequence[Row]]
    labels: Mapping[tuple[str, str], str]

    @classmethod
    def of(cls, source: Source, measure: str) -> _Examples:
        place = [0] * len(source.report["queries"])
        for k, index in enumerate(query_order(source)):
            place[index] = k
        explained = [row for row in source.report.get("explanations") or [] if row["measure"] == measure]
        moves = {(row["query_id"], row["baseline"], row["system"]): row["moves"] for row in explained}
        labels = {(row["attribute"], row["value"]): str(row["label"]) for row in source.segments}
        return cls(source, measure, Lists.of(source), place, moves, labels)

    def parts(self, pair: Pair, row: Row, key: str, level: int) -> list[Block]:
        """Return the wins and the losses of a pair; in words where one of the two is empty."""
        found = _extremes(self.source, self.measure, pair, row)
        if not any(found):
            return []
        parts: list[Block] = []
        for side, word, indexes in zip(("wins", "losses"), (BETTER, WORSE), found, strict=True):
            if not indexes:
                parts.append(Paragraph(f"No {self.source.unit[0]} is {word}."))
                continue
            # equal differences in the order of the table of all
            ordered = sorted(indexes, key=lambda i: (-abs(self._gap(pair, i)), self.place[i]))
            made = tuple(self._example(pair, i, f"e{key}-{side}-{k}") for k, i in enumerate(ordered, 1))
            names = (shown(pair[0], 60), shown(pair[1], 60), self.source.measure_label(self.measure))
            parts.append(Examples(f"examples-{key}-{side}", level, f"Biggest {side}", *names, made))
        return parts

    def _gap(self, pair: Pair, index: int) -> float:
        a, b = (self.source.report["values"][system][self.measure][index] for system in pair)
        return float(b - a)

    def _example(self, pair: Pair, index: int, key: str) -> Example:
        source, measure = self.source, self.measure
        query = source.report["queries"][index]
        a, b = (source.report["values"][system][measure][index] for system in pair)
        tone = BETTER if (b > a) == source.measures[measure]["higher_is_better"] else WORSE
        text, query_id = query_text(query), shown(query["query_id"])
        missing = [_nothing(system, v) for system, v in zip(pair, (a, b), strict=True) if self._lacks(system, query)]
        # beside an empty list every document of the other one is new
        facts = (*missing, *self._facts(query), "" if missing else self._reasons(pair, query["query_id"]))
        return Example(
            key=key,
            index=self.place[index],
            query_id="" if text == query_id else f"id{_HELD}{shown(query['query_id'], 60)}",
            text=f"{source.unit[0]}{_HELD}{text}" if text == query_id else text,
            baseline=source.mean(measure, a),
            system=source.mean(measure, b),
            difference=source.signed(measure, b - a),
            tone=tone,
            mark=MARKS[tone],
            facts=" · ".join(fact for fact in facts if fact),
            lists=self.lists.beside(source, measure, query["query_id"], pair),
        )

    def _lacks(self, system: str, query: Row) -> bool:
        missing = self.source.report["audit"]["queries"]["missing"]
        return query["query_id"] in missing.get(system, ())

    def _reasons(self, pair: Pair, query_id: str) -> str:
        """Say which relevant documents moved, came or went, the most telling first."""
        moves = self.moves.get((query_id, *pair), ())[:MOVES_SHOWN]
        told = []
        for move in moves:
            name = beginning(self.lists.titles.get(move["doc_id"]) or move["doc_id"], 40)
            ranks = f"{_place(move['rank_baseline'])} → {_place(move['rank_system'])}"
            told.append(f"{name} " + f"(grade {move['grade']:g}) {ranks}".replace(" ", _HELD))
        return f"Moved: {'; '.join(told)}" if told else ""

    def _facts(self, query: Row) -> list[str]:
        """Return what is known of a query; a value without a word in it says of what it is."""
        out = []
        for attribute in self.source.attributes:
            value = query["attributes"].get(attribute)
            if value in (None, ""):
                continue
            text = attribute_text(value)
            if not any(c.isalpha() for c in text):
                named = self.labels.get((attribute, str(value)), text)
                text = named if any(c.isalpha() for c in named) else f"{label(attribute, 24)} {text}"
            out.append(shown(text, 60))
        return out


def _extremes(source: Source, measure: str, pair: Pair, row: Row) -> tuple[list[int], list[int]]:
    """Return indexes of the best and the worst queries; of equal ones those whose lists the report has."""
    sign = 1 if source.measures[measure]["higher_is_better"] else -1
    tolerance = row.get("tie_tolerance") or 0.0
    gains = [(sign * d, i) for i, d in differences_of(source, measure, pair)]
    wins = sorted((-gain, i) for gain, i in gains if gain > tolerance)
    losses = sorted((gain, i) for gain, i in gains if gain < -tolerance)
    return [i for _, i in wins[:EXAMPLES_SHOWN]], [i for _, i in losses[:EXAMPLES_SHOWN]]


def _nothing(system: str, value: float) -> str:
    return f"{shown(system, 60)} returned nothing" + (" (counts as 0)" if value == 0 else "")


def _place(rank: int | None) -> str:
    return "not listed" if rank is None else f"{rank:,}"
