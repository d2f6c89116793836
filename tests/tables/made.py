"""Tables from plain Python values, and a plain reader of TREC files."""

from __future__ import annotations

import gzip
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
from hypothesis import settings
from hypothesis import strategies as st

from rankstats.tables import Categories, Histories, Items, Judgments, Ranking, Source, Subtopics
from rankstats.tables.text_hashes import hashes_of_ends

Grades = Mapping[str, Mapping[str, float]]
Row = tuple[str, str, float]
"""Query, document, score."""

SOURCE = Source("made here")
patient = settings(deadline=None)
"""For properties, whose first example also pays for imports and other people's load on the machine."""

QUERIES = ("q1", "q2", "q3", "q4")
DOCUMENTS = ("a", "B", "b", "ba", "é", "￿", "\U00010000", "10", "9")


def judgments_of(grades: Grades) -> Judgments:
    query_ids = tuple(sorted(grades))
    rows = [(index, doc_id, grades[q][doc_id]) for index, q in enumerate(query_ids) for doc_id in sorted(grades[q])]
    query = np.array([row[0] for row in rows], dtype=np.int32)
    return Judgments(
        query_ids=query_ids,
        query=query,
        doc_ids=pa.array([row[1] for row in rows], pa.string()),
        grade=np.array([row[2] for row in rows], dtype=np.float64),
        offsets=np.searchsorted(query, np.arange(len(query_ids) + 1)).astype(np.int64),
        source=SOURCE,
    )


Aspects = Mapping[str, Mapping[str, Mapping[str, float]]]
"""Query, document, subtopic, grade."""


def subtopic_judgments_of(aspects: Aspects) -> Judgments:
    judgments = judgments_of({q: {d: max(grades.values()) for d, grades in aspects[q].items()} for q in aspects})
    names = tuple(sorted({s for documents in aspects.values() for grades in documents.values() for s in grades}))
    pairs = zip(judgments.query.tolist(), judgments.doc_ids.to_pylist(), strict=True)
    of_pairs = [aspects[judgments.query_ids[q]][d] for q, d in pairs]
    rows = [(row, s, grades[s]) for row, grades in enumerate(of_pairs) for s in sorted(grades)]
    subtopics = Subtopics(
        names=names,
        judgment=np.array([row for row, _, _ in rows], dtype=np.int64),
        subtopic=np.array([names.index(s) for _, s, _ in rows], dtype=np.int32),
        grade=np.array([grade for _, _, grade in rows], dtype=np.float64),
    )
    return replace(judgments, subtopics=subtopics)


def items_of(
    doc_ids: Sequence[str],
    *,
    popularity: Sequence[float | None] | None = None,
    categories: Sequence[Sequence[str]] | None = None,
    vectors: Sequence[Sequence[float] | None] | None = None,
) -> Items:
    """Return an item table; None and empty lists stand for what is not known."""
    names = tuple(sorted({name for of_item in categories or () for name in of_item}))
    codes = [sorted(names.index(name) for name in of_item) for of_item in categories or ()]
    width = max((len(vector) for vector in vectors or () if vector), default=1)
    return Items(
        doc_ids=pa.array(doc_ids, pa.string()),
        source=SOURCE,
        columns=("doc_id",),
        popularity=None if popularity is None else np.array([np.nan if p is None else p for p in popularity]),
        categories=None
        if categories is None
        else Categories(
            names,
            np.cumsum([0, *map(len, codes)]).astype(np.int64),
            np.array([code for of_item in codes for code in of_item], dtype=np.int32),
        ),
        vectors=None if vectors is None else np.array([vector or [np.nan] * width for vector in vectors], dtype=float),
    )


def histories_of(rows: Sequence[tuple[str, str]]) -> Histories:
    query_ids = tuple(dict.fromkeys(query_id for query_id, _ in rows))
    query = np.array([query_ids.index(query_id) for query_id, _ in rows], dtype=np.int32)
    return Histories(query_ids, query, pa.array([doc_id for _, doc_id in rows], pa.string()), SOURCE)


def ranking_of(
    rows: Sequence[Row], ranks: Sequence[float] | None = None, *, pieces: int = 1, is_hashed: bool = False
) -> Ranking:
    query_ids = tuple(dict.fromkeys(row[0] for row in rows))
    number = {query_id: index for index, query_id in enumerate(query_ids)}
    documents = [row[1] for row in rows]
    step = max(1, -(-len(documents) // pieces))
    chunks = [pa.array(documents[start : start + step], pa.string()) for start in range(0, len(documents), step)]
    return Ranking(
        system="new",
        query_ids=query_ids,
        query=np.array([number[row[0]] for row in rows], dtype=np.int32),
        doc_ids=pa.chunked_array(chunks, pa.string()) if pieces > 1 else pa.array(documents, pa.string()),
        score=np.array([row[2] for row in rows], dtype=np.float64),
        rank=None if ranks is None else np.array(ranks, dtype=np.float64),
        source=SOURCE,
        doc_hashes=hashes_of_ends(pa.array(documents, pa.string())) if is_hashed else None,
    )


def lines_of(path: Path) -> list[list[str]]:
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [line.split() for line in data.decode("utf-8-sig").split("\n") if line.strip()]


def qrels_of(path: Path) -> Judgments:
    grades: dict[str, dict[str, float]] = {}
    for query_id, _, doc_id, grade in lines_of(path):
        grades.setdefault(query_id, {})[doc_id] = float(grade)
    return judgments_of(grades)


def run_of(path: Path) -> Ranking:
    return ranking_of([(line[0], line[2], float(line[4])) for line in lines_of(path)])


@st.composite
def collections(draw: st.DrawFn) -> tuple[dict[str, dict[str, float]], list[Row]]:
    """Small judgments and a run with ties, unjudged documents, missing and unknown queries, in any order of lines."""
    grades = draw(
        st.dictionaries(
            st.sampled_from(QUERIES[:3]),
            st.dictionaries(
                st.sampled_from(DOCUMENTS), st.sampled_from([-2.0, 0.0, 1.0, 1.5, 2.0, 3.0, 4.0]), min_size=1
            ),
            min_size=1,
        )
    )
    pairs = draw(st.lists(st.tuples(st.sampled_from(QUERIES), st.sampled_from(DOCUMENTS)), unique=True, max_size=24))
    scores = draw(
        st.lists(
            st.sampled_from([-1.0, -0.0, 0.0, 0.5, 1.0, 1.0 + 1e-9, 2.0, 3.0]), min_size=len(pairs), max_size=len(pairs)
        )
    )
    return grades, [(query_id, doc_id, score) for (query_id, doc_id), score in zip(pairs, scores, strict=True)]
