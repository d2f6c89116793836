"""Judgments that grade a document once for each subtopic of its query."""

from __future__ import annotations

import random
from pathlib import Path

import pandas as pd
import pytest

from rankstats.conventions import Policies
from rankstats.errors import InputError
from rankstats.inputs import Read, read_judgments
from rankstats.tables import Judgments
from tests.inputs.naive import naive_lines, rows_of_judgments
from tests.shared import shared


def read(folder: Path, content: str, policies: Policies | None = None, *, wanted: bool = False) -> Read[Judgments]:
    path = folder / "judged"
    path.write_bytes(content.encode())
    return read_judgments(path, policies or Policies(), subtopics=wanted)


def subtopics_of(judgments: Judgments) -> list[tuple[str, str, str, float]]:
    table = judgments.subtopics
    assert table is not None
    pairs = [(q, d) for q, d, _ in rows_of_judgments(judgments)]
    rows = zip(table.judgment.tolist(), table.subtopic.tolist(), table.grade.tolist(), strict=True)
    return [(*pairs[row], table.names[subtopic], grade) for row, subtopic, grade in rows]


DIVERSE = "q2 1 d1 0\nq1 10 d2 0.5\nq1 2 d2 2\nq1 2 d1 -1\nq2 3 d1 0\n"
SORTED = [
    ("q1", "d1", "2", -1),
    ("q1", "d2", "10", 0.5),
    ("q1", "d2", "2", 2),
    ("q2", "d1", "1", 0),
    ("q2", "d1", "3", 0),
]


@pytest.mark.parametrize(
    "content",
    [
        DIVERSE,
        DIVERSE.replace(" ", " \t "),
        "# comment\n" + DIVERSE.replace("\n", "\r\n\r\n"),
        "query_id,subtopic,doc_id,grade\n" + DIVERSE.replace(" ", ","),
        "qid\tIteration\tdocno\tlabel\n" + DIVERSE.replace(" ", "\t"),
    ],
)
def test_diversity_qrels(tmp_path: Path, content: str) -> None:
    judged = read(tmp_path, content)
    assert subtopics_of(judged.table) == SORTED
    assert rows_of_judgments(judged.table) == [("q1", "d1", -1), ("q1", "d2", 2), ("q2", "d1", 0)]
    assert judged.table.offsets.tolist() == [0, 2, 3]
    assert (judged.audit.rows, judged.audit.duplicates) == (3, 0)
    (note,) = [note for note in judged.audit.notes if "subtopic" in note]
    assert "2 documents have several grades); measures without subtopics take the highest" in note


def test_frames() -> None:
    rows = [line.split() for line in DIVERSE.splitlines()]
    frame = pd.DataFrame(rows, columns=["query_id", "subtopic", "doc_id", "relevance"]).astype({"relevance": float})
    assert subtopics_of(read_judgments(frame, Policies()).table) == SORTED


def test_the_order_of_lines_does_not_matter(tmp_path: Path) -> None:
    rng = random.Random(2)
    lines = [
        f"q{rng.randrange(4)} {rng.randrange(3)} d{rng.randrange(9)} {rng.choice([0, 0.1, 0.7])}" for _ in range(300)
    ]
    tables = []
    for _ in range(3):
        rng.shuffle(lines)
        tables.append(read(tmp_path, "\n".join(lines), Policies(duplicate_judgments="mean")).table)
    for table in tables[1:]:
        assert subtopics_of(table) == subtopics_of(tables[0])
        assert rows_of_judgments(table) == rows_of_judgments(tables[0])


def test_the_second_field_of_other_qrels_means_nothing(tmp_path: Path) -> None:
    rounds = "q1 0.5 d1 1\nq1 1 d2 0\nq2 1 d1 2\n"
    judged = read(tmp_path, rounds)
    assert judged.table.subtopics is None
    assert judged.audit.notes == ()
    assert read(tmp_path, rounds.replace("0.5", "1"), wanted=True).table.subtopics is None


def test_where_subtopics_are_wanted_it_is_enough_that_a_query_has_two(tmp_path: Path) -> None:
    judged = read(tmp_path, "q1 1 d1 1\nq1 2 d2 0\nq2 1 d1 2\n", wanted=True)
    assert subtopics_of(judged.table) == [("q1", "d1", "1", 1), ("q1", "d2", "2", 0), ("q2", "d1", "1", 2)]
    assert len(judged.audit.notes) == 1


TWICE = "q1 1 d1 1\nq1 2 d1 0\n\nq1 2 d1 3\nq1 1 d2 1\n"


def test_two_grades_for_one_subtopic(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r":4: document 'd1' of query 'q1' is judged twice, first in line 2; remove"):
        read(tmp_path, TWICE)
    largest = read(tmp_path, TWICE, Policies(duplicate_judgments="max"))
    assert subtopics_of(largest.table) == [("q1", "d1", "1", 1), ("q1", "d1", "2", 3), ("q1", "d2", "1", 1)]
    mean = read(tmp_path, TWICE, Policies(duplicate_judgments="mean"))
    assert subtopics_of(mean.table) == [("q1", "d1", "1", 1), ("q1", "d1", "2", 1.5), ("q1", "d2", "1", 1)]
    assert rows_of_judgments(mean.table) == [("q1", "d1", 1.5), ("q1", "d2", 1)]
    assert largest.audit.duplicates == mean.table.duplicates == 1


def test_negative_grades_of_any_subtopic_can_be_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r":4: grade -1 is below 0"):
        read(tmp_path, DIVERSE, Policies(negative_grades="error"))


@pytest.mark.shared
@pytest.mark.parametrize("year", ["13", "14"])
def test_trec_web(year: str) -> None:
    path = shared(f"data/ir/trec-web-2013-2014-diversity/qrels.wt{year}.ndeval.txt.gz")
    judgments = read_judgments(path, Policies()).table
    lines = [(fields[0], fields[2], fields[1], float(fields[3])) for fields in naive_lines(path)]
    assert subtopics_of(judgments) == sorted(lines)
    best: dict[tuple[str, str], float] = {}
    for query_id, doc_id, _, grade in lines:
        best[query_id, doc_id] = max(grade, best.get((query_id, doc_id), grade))
    assert rows_of_judgments(judgments) == sorted((q, d, grade) for (q, d), grade in best.items())


@pytest.mark.shared
def test_rounds_of_trec_covid_are_not_subtopics() -> None:
    assert read_judgments(shared("data/ir/trec-covid-r5/qrels.txt.gz"), Policies()).table.subtopics is None
