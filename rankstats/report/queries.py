"""The table of all queries: the rows that a page shows without a script, and what the script shows."""

from __future__ import annotations

from collections.abc import Sequence

from rankstats.report.blocks import Cell, Column, Paragraph, QueryTable, Section
from rankstats.report.examples import differences_of, query_order, query_text
from rankstats.report.order import told_pairs
from rankstats.report.query_data import Offered, is_long, is_numeric, query_data
from rankstats.report.source import Pair, Source, pair_label
from rankstats.report.texts import attribute_text, label, sentence_list, shown
from rankstats.report.tones import BETTER, WORSE

WRITTEN = 300
"""Up to so many queries all rows are in the page itself."""
ENDS = 25
"""Of more queries so many with the largest and so many with the smallest differences."""
SYSTEMS_SHOWN = 10
SYSTEMS_BESIDE = 3
"""Up to so many systems stand side by side; of more, the two that are compared."""
ATTRIBUTE_COLUMNS = 6
FILE = "per_query.csv"
TONES = {"b": BETTER, "w": WORSE}


def query_table(source: Source) -> Section:
    """Return section 11: every query with its values."""
    heading = "All queries" if source.unit[0] == "query" else "All units"
    if not source.report["queries"]:
        return Section("queries", heading, ())
    offered = _offered(source)
    pair = offered.pairs[0] if offered.pairs else None
    data = query_data(source, offered)
    places, which = _written(source, offered, pair)
    letters = data["measures"][0]["outcomes"][0] if pair else ""
    rows = tuple(_cells(source, offered, pair, offered.order[k], letters[k : k + 1]) for k in places)
    name = source.measure_label(offered.measures[0])
    caption = f"{name} of every {source.unit[0]}" + (f": {pair_label(pair, 24)}" if pair else "")
    remark = f"{which}; all of them are in {FILE} beside this page." if which else ""
    table = QueryTable("query-table", caption, _columns(source, offered, pair), rows, remark, data)
    return Section("queries", heading, (table, Paragraph(_beside(source, offered, data["details"]), small=True)))


def _beside(source: Source, offered: Offered, details: Sequence[object]) -> str:
    """Say what is not in the table, and where it is."""
    told, comparisons = "", len(list(source.planned_pairs(offered.measures[0])))
    if offered.pairs and len(offered.pairs) < comparisons:
        told = f"On screen the table can show {len(offered.pairs):,} of {comparisons:,} comparisons. "
    elif len(offered.systems) < len(source.systems):
        told = f"The table has {len(offered.systems):,} of {len(source.systems):,} systems. "
    if offered.long:
        place = f"in every opened {source.unit[0]} and " if details else ""
        stand = "stands" if len(offered.long) == 1 else "stand"
        told += f"{sentence_list([shown(name, 40) for name in offered.long])} {stand} {place}in {FILE}. "
    return f"{told}Every value of every measure and system is in {FILE} and report.json."


def _offered(source: Source) -> Offered:
    """Choose systems, pairs and attributes that the table offers: those of the drawn pairs first."""
    measure = source.primary[0]
    drawn = [pair for pair, _ in told_pairs(source, measure)]
    ordered = dict.fromkeys((*(s for pair in drawn for s in pair), *source.by_mean(measure)))
    kept = [s for s in ordered if measure in source.report["values"].get(s, {})][:SYSTEMS_SHOWN]
    systems = tuple(s for s in source.systems if s in kept)
    pairs = tuple(pair for pair in drawn if set(pair) <= set(systems))
    queries = source.report["queries"]
    with_text = any(query["attributes"].get("text") not in (None, "", query["query_id"]) for query in queries)
    weighted = any(query["weight"] not in (None, 1) for query in queries)
    asked = (measure, *(m for m in source.outcome_measures if m != measure))
    # a measure that is one value of all lists has none for a query
    known = tuple(m for m in asked if any(v is not None for s in systems for v in source.report["values"][s][m]))
    columns, long = _attributes(source)
    order = tuple(query_order(source))
    return Offered(order, systems, pairs, known or asked[:1], columns, long, with_text, weighted)


def _attributes(source: Source) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the attributes that make columns, and those whose texts are too long for one."""
    queries = source.report["queries"]
    known = dict.fromkeys(name for query in queries for name in query["attributes"])
    first = [name for name in (*source.attributes, "frequency") if name in known]
    rest = [name for name in known if name not in first and name != "text"]
    long = [name for name in rest if not is_numeric(queries, name) and is_long(queries, name)]
    columns = [name for name in (*first, *rest) if name not in long]
    return tuple(columns[:ATTRIBUTE_COLUMNS]), tuple(long[:ATTRIBUTE_COLUMNS])


def _written(source: Source, offered: Offered, pair: Pair | None) -> tuple[Sequence[int], str]:
    """Return the places of the queries whose rows are in the page itself, and in words which they are."""
    n = len(offered.order)
    if n <= WRITTEN:
        return range(n), ""
    if pair is None:
        return range(2 * ENDS), f"The first {2 * ENDS} of {source.n_text(n)}"
    gaps = dict(differences_of(source, offered.measures[0], pair))
    found = sorted((k for k, i in enumerate(offered.order) if i in gaps), key=lambda k: -gaps[offered.order[k]])
    ends = found[:ENDS] + found[-ENDS:] if len(found) > 2 * ENDS else found
    return ends, f"The {ENDS} largest and the {ENDS} smallest differences of {source.n_text(n)}"


def beside(offered: Offered, pair: Pair | None) -> Sequence[str]:
    """Return the systems whose values stand beside the difference."""
    return offered.systems if pair is None or len(offered.systems) <= SYSTEMS_BESIDE else pair


def _columns(source: Source, offered: Offered, pair: Pair | None) -> tuple[Column, ...]:
    queries = source.report["queries"]
    return (
        Column(source.unit[0], number=False),
        *([Column("id", number=False)] if offered.with_text else []),
        *([Column("difference")] if pair else []),
        *(Column(label(system, 24)) for system in beside(offered, pair)),
        *([Column("weight")] if offered.weighted else []),
        *(Column(label(attribute, 24), number=is_numeric(queries, attribute)) for attribute in offered.attributes),
    )


def _cells(source: Source, offered: Offered, pair: Pair | None, i: int, outcome: str) -> tuple[Cell, ...]:
    """Return the row of a query, by its index in the report; `outcome` is its letter in the data of the script."""
    query, measure = source.report["queries"][i], offered.measures[0]
    values = source.report["values"]
    cells = [Cell(query_text(query))]
    if offered.with_text:
        cells.append(Cell(shown(query["query_id"], 60)))
    if pair is not None:
        a, b = (values[system][measure][i] for system in pair)
        text = source.signed(measure, None if a is None or b is None else b - a)
        # what is shown as 0 has no side
        tone = TONES.get(outcome, "") if any(digit in text for digit in "123456789") else ""
        cells.append(Cell(text, tone=tone))
    cells += [Cell(source.mean(measure, values[system][measure][i])) for system in beside(offered, pair)]
    if offered.weighted:
        cells.append(Cell(attribute_text(query["weight"])))
    return (*cells, *(Cell(attribute_text(query["attributes"].get(name))) for name in offered.attributes))
