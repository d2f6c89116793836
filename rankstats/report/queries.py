"""Single queries: the biggest wins and losses with their lists, and the table of all of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankstats import wording
from rankstats.report.blocks import (
    BETTER,
    MARKS,
    WORSE,
    Block,
    Cell,
    Column,
    Document,
    Example,
    Examples,
    Paragraph,
    ResultList,
    Section,
    Subheading,
    Table,
)
from rankstats.report.source import Pair, Row, Source, pair_label
from rankstats.report.texts import label, shown

EXAMPLES_SHOWN = 10
PAIRS_SHOWN = 6
MOST_DOTS = 5
ATTRIBUTE_COLUMNS = 6
VALUE_COLUMNS = 10


@dataclass(frozen=True, slots=True)
class Lists:
    """The lists of the report by query and system, and the best grade in them."""

    docs: Mapping[tuple[str, str], Sequence[Row]]
    best_grade: float

    @classmethod
    def of(cls, source: Source) -> Lists:
        """Return the lists of a report."""
        docs = {(row["query_id"], row["system"]): row["docs"] for row in source.report["lists"]}
        grades = [doc["grade"] for listed in docs.values() for doc in listed if doc["grade"] is not None]
        return cls(docs, max(grades, default=0))


def query_text(query: Row) -> str:
    """Return the text of a query, its id where no text is known."""
    text = query["attributes"].get("text")
    return shown(str(text)) if text not in (None, "") else shown(query["query_id"])


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
    pairs = list(source.planned_pairs(measure))
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
        remark = "Open a query to see both lists. ● is one grade step, “?” is a document that nobody judged."
        blocks.insert(0, Paragraph(remark, small=True))
    if len(pairs) > PAIRS_SHOWN:
        remark = f"The first {PAIRS_SHOWN} of {len(pairs)} comparisons; all values are in per_query.csv."
        blocks.append(Paragraph(remark, small=True))
    return Section("examples", "Biggest wins and losses", tuple(blocks))


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
    docs = [lists.docs.get((query["query_id"], system), ()) for system in pair]
    text = query_text(query)
    return Example(
        key=key,
        query_id=shown(query["query_id"], 60) if text != shown(query["query_id"]) else "",
        text=text,
        baseline=source.mean(measure, a),
        system=source.mean(measure, b),
        difference=source.signed(measure, b - a),
        tone=tone,
        mark=MARKS[tone],
        facts=_facts(source, query),
        lists=tuple(
            ResultList(shown(system, 60), _documents(docs[side], docs[1 - side], lists.best_grade, moves=side == 1))
            for side, system in enumerate(pair)
        )
        if any(docs)
        else (),
    )


def _facts(source: Source, query: Row) -> str:
    values = [query["attributes"].get(attribute) for attribute in source.attributes]
    return " · ".join(shown(str(value), 40) for value in values if value not in (None, ""))


def _documents(docs: Sequence[Row], other: Sequence[Row], best_grade: float, *, moves: bool) -> tuple[Document, ...]:
    ranks = {doc["doc_id"]: doc["rank"] for doc in other}
    out = []
    for doc in docs:
        dots, spoken = grade_marks(doc["grade"], best_grade)
        before = ranks.get(doc["doc_id"])
        tone = BETTER if moves and before is not None and doc["rank"] < before else ""
        tone = WORSE if moves and before is not None and doc["rank"] > before else tone
        out.append(
            Document(
                str(doc["rank"]), shown(doc["doc_id"], 80), dots, spoken, _move(doc, before) if moves else "", tone
            )
        )
    return tuple(out)


def _move(doc: Row, before: int | None) -> str:
    if before is None:
        return "new"
    arrow = "=" if before == doc["rank"] else "↑" if before > doc["rank"] else "↓"
    return f"{arrow} was {before}" if arrow != "=" else "= same"


def grade_marks(grade: float | None, best: float) -> tuple[str, str]:
    """Return a grade as dots and in words.

    Examples
    --------
    >>> grade_marks(2, 3)
    ('●●○', 'grade 2 of 3')
    >>> grade_marks(None, 3)
    ('?', 'not judged')
    """
    if grade is None:
        return "?", "not judged"
    if grade != int(grade) or not 0 < best <= MOST_DOTS or grade < 0:
        return f"{grade:g}".replace("-", wording.MINUS), f"grade {grade:g}"
    return "●" * int(grade) + "○" * (int(best) - int(grade)), f"grade {int(grade)} of {int(best)}"


def query_table(source: Source) -> Section:
    """Return section 11: every query with its values on the primary measure."""
    measure = source.primary[0]
    queries = source.report["queries"]
    if not queries:
        return Section("queries", "All queries", ())
    with_text = any(query["attributes"].get("text") not in (None, "", query["query_id"]) for query in queries)
    weighted = any(query["weight"] not in (None, 1) for query in queries)
    systems, pairs = _table_columns(source, measure)
    attributes = _shown_attributes(source, queries)
    columns = (
        Column(source.unit[0], number=False),
        *([Column("id", number=False)] if with_text else []),
        *(Column(f"{label(pair[1], 24)} − {label(pair[0], 24)}") for pair in pairs),
        *(Column(label(system, 24)) for system in systems),
        *([Column("weight")] if weighted else []),
        *(Column(label(attribute, 24), number=_numeric(queries, attribute)) for attribute in attributes),
    )
    rows = tuple(
        (
            Cell(query_text(query)),
            *([Cell(shown(query["query_id"], 60))] if with_text else []),
            *_value_cells(source, measure, systems, pairs, i),
            *([Cell(_attribute(query["weight"]))] if weighted else []),
            *(Cell(_attribute(query["attributes"].get(attribute))) for attribute in attributes),
        )
        for i, query in enumerate(queries)
    )
    caption = f"{source.measure_label(measure)} of every {source.unit[0]}"
    blocks: list[Block] = [Table("query-table", caption, columns, rows, searchable=True)]
    left_out = len(source.systems) - len(systems)
    if left_out > 0:
        blocks.append(Paragraph(f"{left_out} more systems are in per_query.csv.", small=True))
    return Section("queries", "All queries" if source.unit[0] == "query" else "All units", tuple(blocks))


def _table_columns(source: Source, measure: str) -> tuple[list[str], list[Pair]]:
    systems = [s for s in source.systems if measure in source.report["values"].get(s, {})][:VALUE_COLUMNS]
    pairs = [pair for pair, _ in source.planned_pairs(measure) if set(pair) <= set(systems)]
    return systems, pairs[: VALUE_COLUMNS - len(systems)] if len(systems) > 2 else pairs


def _value_cells(source: Source, measure: str, systems: list[str], pairs: list[Pair], i: int) -> list[Cell]:
    values = source.report["values"]
    higher = source.measures[measure]["higher_is_better"]
    cells: list[Cell] = []
    for baseline, system in pairs:
        a, b = values[baseline][measure][i], values[system][measure][i]
        gap = None if a is None or b is None else b - a
        tone = "" if not gap else BETTER if (gap > 0) == higher else WORSE
        cells.append(Cell(source.signed(measure, gap), tone=tone))
    return cells + [Cell(source.mean(measure, values[system][measure][i])) for system in systems]


def _shown_attributes(source: Source, queries: Sequence[Row]) -> list[str]:
    known = dict.fromkeys(name for query in queries for name in query["attributes"])
    first = [name for name in (*source.attributes, "frequency") if name in known]
    rest = [name for name in known if name not in first and name != "text"]
    return (first + rest)[:ATTRIBUTE_COLUMNS]


def _numeric(queries: Sequence[Row], attribute: str) -> bool:
    found = [query["attributes"].get(attribute) for query in queries]
    return all(v is None or (isinstance(v, (int, float)) and not isinstance(v, bool)) for v in found)


def _attribute(value: Any) -> str:
    if value is None:
        return wording.UNDEFINED
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and not value.is_integer():
        return re.sub("^-", wording.MINUS, f"{value:g}")
    return wording.number(value, 0) if isinstance(value, (int, float)) else shown(str(value), 80)
