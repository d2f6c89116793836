"""What the script of the page shows of all queries: columns of small numbers and texts, made once from the report.

A value is written as the whole number that its text shows (0.463 as 463), so that page, script and table agree to the
digit; a category is a number that points into a list of texts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankstats import wording
from rankstats.report.examples import query_text
from rankstats.report.lists import LONGEST_ID, LONGEST_TITLE, Lists, contribution, grade_marks, is_relevant
from rankstats.report.source import Pair, Row, Source
from rankstats.report.texts import LONGEST_TEXT, attribute_text, beginning, label, shown

MOST_VALUES = 400_000
"""Values that a page carries; measures beyond are in the file beside it."""
LONG_TEXTS = 2_000
"""Of more queries the texts are cut at `SHORT_TEXT` characters."""
SHORT_TEXT = 100
MOST_CHOICES = 50
"""Values of an attribute up to which it can be chosen from a list."""
LONG_VALUE = 40
"""An attribute whose texts are mostly longer is read query by query, not down a column."""
MOST_DETAIL = 200_000
"""Characters of such texts that a page carries; each is cut to its part, and left out where the part says nothing."""
_SPECIAL = re.compile(r"[^\d.−]")
_LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class Offered:
    """What the table of queries offers: systems, pairs, measures (the first is shown first) and attributes.

    `order` has the queries as they are listed, as indexes of the report; `long` are the attributes that only an opened
    query shows.
    """

    order: tuple[int, ...]
    systems: tuple[str, ...]
    pairs: tuple[Pair, ...]
    measures: tuple[str, ...]
    attributes: tuple[str, ...]
    long: tuple[str, ...]
    with_text: bool
    weighted: bool


def query_data(source: Source, offered: Offered) -> dict[str, Any]:
    """Return the columns of the query table, ready for JSON.

    Returns
    -------
    dict
        ``unit``, ``texts``, ``ids`` (None where the text is the id) and ``keys`` (ids that are shown otherwise than
        written); ``systems`` and ``pairs`` of their indexes; ``measures`` with values by system, differences and
        outcomes by pair (one letter a query: b, e, w, or - where the statistics leave it out); ``columns`` of
        attributes; ``details`` of long ones; ``lists`` of the queries that have them. All in the order of `offered`.
    """
    queries = [source.report["queries"][i] for i in offered.order]
    longest = 240 if len(queries) <= LONG_TEXTS else SHORT_TEXT
    ids = [shown(query["query_id"], _LONGEST_NAME) for query in queries]
    return {
        "unit": list(source.unit),
        "texts": [query_text(query, longest) for query in queries],
        "ids": ids if offered.with_text else None,
        "keys": {str(i): query["query_id"] for i, query in enumerate(queries) if ids[i] != query["query_id"]},
        "systems": [shown(system, _LONGEST_NAME) for system in offered.systems],
        "heads": [label(system, 24) for system in offered.systems],
        "pairs": [[offered.systems.index(system) for system in pair] for pair in offered.pairs],
        "measures": [_measure(source, offered, measure) for measure in _fitting(offered, len(queries))],
        "columns": _columns(source, offered, queries),
        "details": _details(offered, queries),
        "lists": _lists(source, offered, queries),
    }


def _fitting(offered: Offered, n: int) -> Sequence[str]:
    """Return the measures whose values fit, the first always among them."""
    each = n * (len(offered.systems) + len(offered.pairs))
    return offered.measures[: max(1, MOST_VALUES // max(each, 1))]


def _measure(source: Source, offered: Offered, measure: str) -> dict[str, Any]:
    values = source.report["values"]
    decimals = source.decimals(measure)
    columns = {system: [values[system][measure][i] for i in offered.order] for system in offered.systems}
    differences = []
    for baseline, system in offered.pairs:
        gaps = [
            None if a is None or b is None else b - a for a, b in zip(columns[baseline], columns[system], strict=True)
        ]
        differences.append(gaps)
    return {
        "label": source.measure_label(measure),
        "decimals": decimals,
        "values": [coded(column, decimals) for column in columns.values()],
        "differences": [coded(gaps, decimals) for gaps in differences],
        "outcomes": [
            _outcomes(source, measure, pair, dict(zip(offered.order, gaps, strict=True)))
            for pair, gaps in zip(offered.pairs, differences, strict=True)
        ],
    }


def coded(values: Sequence[float | None], decimals: int) -> list[int | str | None]:
    """Return numbers as the whole numbers that their texts show; as texts where these show something else.

    Examples
    --------
    >>> coded([0.4634, -0.5, None, 1e15], 3)
    [463, -500, None, '1e+15']
    """
    out: list[int | str | None] = []
    for value in values:
        if value is None:
            out.append(None)
        elif abs(value) < 1e9 and decimals < 6:
            out.append(int(f"{value:.{decimals}f}".replace(".", "")))
        else:
            text = wording.number(value, decimals).replace(",", "")
            out.append(text if _SPECIAL.search(text) else int(text.replace(".", "").replace(wording.MINUS, "-")))
    return out


def _outcomes(source: Source, measure: str, pair: Pair, gaps: Mapping[int, float | None]) -> str:
    """Return one letter a query, as wins, ties and losses are counted; `gaps` are by index of the report."""
    row = source.planned(measure, pair)
    tolerance = 0.0 if row is None else row.get("tie_tolerance") or 0.0
    sign = 1 if source.measures[measure]["higher_is_better"] else -1
    used = source.used_queries(measure)
    letters = []
    for i, gap in gaps.items():
        if gap is None or i not in used:
            letters.append("-")
        else:
            letters.append("b" if sign * gap > tolerance else "w" if sign * gap < -tolerance else "e")
    return "".join(letters)


# ── attributes ──────────────────────────────────────────────────────────────────────────────────────────────────────


def is_numeric(queries: Sequence[Row], attribute: str) -> bool:
    """Return whether an attribute holds numbers only."""
    found = (query["attributes"].get(attribute) for query in queries)
    return all(v is None or (isinstance(v, (int, float)) and not isinstance(v, bool)) for v in found)


def is_long(queries: Sequence[Row], attribute: str) -> bool:
    """Return whether the values of an attribute are mostly longer texts than a column has room for."""
    lengths = sorted(len(str(v)) for query in queries if (v := query["attributes"].get(attribute)) not in (None, ""))
    return bool(lengths) and lengths[len(lengths) // 2] > LONG_VALUE


def _columns(source: Source, offered: Offered, queries: Sequence[Row]) -> list[dict[str, Any]]:
    weights = [_numbers("weight", [query["weight"] for query in queries])] if offered.weighted else []
    labels = {(s["attribute"], s["value"]): shown(str(s["label"]), 80) for s in source.segments}
    return weights + [
        _numbers(label(name, 24), [query["attributes"].get(name) for query in queries])
        if is_numeric(queries, name)
        else _categories(name, [query["attributes"].get(name) for query in queries], labels)
        for name in offered.attributes
    ]


def _numbers(name: str, values: Sequence[float | None]) -> dict[str, Any]:
    whole = all(value is None or (float(value).is_integer() and abs(value) < 1e12) for value in values)
    if whole:
        return {"label": name, "decimals": 0, "values": [None if value is None else int(value) for value in values]}
    return {"label": name, "decimals": 0, "values": [None if v is None else attribute_text(v) for v in values]}


def _categories(name: str, values: Sequence[Any], labels: dict[tuple[str, str], str]) -> dict[str, Any]:
    """Return codes and texts; an attribute of few values can be chosen from a list, by its segments' names."""
    texts: dict[str, str] = {}
    kept = [None if value is None else str(value) for value in values]
    for value in kept:
        if value is not None and value not in texts:
            texts[value] = attribute_text(value)
    place = {value: i for i, value in enumerate(texts)}
    column = {
        "label": label(name, 24),
        "texts": list(texts.values()),
        "codes": [-1 if value is None else place[value] for value in kept],
    }
    # a column of which nearly every query has a value of its own is for reading, not for choosing
    if 1 < len(texts) <= MOST_CHOICES and (2 * len(texts) <= len(kept) or name in {key for key, _ in labels}):
        column["choices"] = [labels.get((name, value), text) for value, text in texts.items()]
    return column


def _details(offered: Offered, queries: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the texts of long attributes, each cut to its part of what a page may carry."""
    room = MOST_DETAIL // max(1, len(queries) * len(offered.long))
    if room < LONG_VALUE:
        return []
    longest = min(room, LONGEST_TEXT)
    found = {name: [str(query["attributes"].get(name) or "") for query in queries] for name in offered.long}
    return [
        {"label": label(name, 24), "texts": [beginning(text, longest) for text in texts]}
        for name, texts in found.items()
    ]


# ── lists ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _lists(source: Source, offered: Offered, queries: Sequence[Row]) -> dict[str, Any]:
    """Return the lists of the shown systems: documents and grades by number, each told once."""
    lists = Lists.of(source)
    measure = offered.measures[0]
    place = {query["query_id"]: i for i, query in enumerate(queries)}
    systems = {system: i for i, system in enumerate(offered.systems)}
    documents: dict[str, int] = {}
    titles: dict[int, str] = {}
    grades: dict[tuple[str, str, bool], int] = {}
    found: dict[str, dict[str, Any]] = {}
    for (query_id, system), docs in lists.docs.items():
        if system not in systems or query_id not in place:
            continue
        for doc in docs:
            number = documents.setdefault(doc["doc_id"], len(documents))
            if doc.get("title"):
                titles[number] = shown(str(doc["title"]), LONGEST_TITLE)
        marks = [(*grade_marks(doc["grade"], lists.best_grade), is_relevant(doc["grade"])) for doc in docs]
        entry: dict[str, Any] = {
            "d": [documents[doc["doc_id"]] for doc in docs],
            "g": [grades.setdefault(mark, len(grades)) for mark in marks],
        }
        if [doc["rank"] for doc in docs] != list(range(1, len(docs) + 1)):
            entry["r"] = [doc["rank"] for doc in docs]
        if any(doc.get("contribution") is not None for doc in docs):
            entry["c"] = [contribution(source, measure, doc) for doc in docs]
        found.setdefault(str(place[query_id]), {})[str(systems[system])] = entry
    return {
        "documents": [shown(doc_id, LONGEST_ID) for doc_id in documents],
        "titles": {str(number): title for number, title in titles.items()},
        "grades": [list(mark) for mark in grades],
        "legend": lists.legend(source.measure_label(measure)),
        "of": found,
    }
