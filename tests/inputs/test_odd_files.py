"""Every odd file, real and made, and what comes of reading it: the rows, or the one error with file and line."""

from __future__ import annotations

import pytest

from rankstats.conventions import Policies
from rankstats.errors import InputError
from rankstats.inputs import read_judgments, read_run
from tests.inputs.naive import naive_judgments, naive_run, rows_of_judgments, rows_of_run
from tests.shared import shared

pytestmark = pytest.mark.shared

RUN_FIELDS = "where 6 are expected (qid Q0 docid rank score tag)"

# file: (queries, rows, blank lines), or the message after the path
RUNS: dict[str, tuple[int, int, int] | str] = {
    "made/01-ties-broken-by-docid/run1.txt": (1, 2, 0),
    "made/01-ties-broken-by-docid/run2.txt": (1, 2, 0),
    "made/02-duplicate-doc-adjacent/run.txt": (
        ":2: document 'd2' is listed twice for query 'q1', first in line 1; remove one, "
        "or set duplicate_documents = 'first' or 'best'"
    ),
    "made/03-line-with-4-fields/run.txt": f":6: 4 fields {RUN_FIELDS}",
    "made/04-missing-queries/run.txt": (1, 2, 0),
    "made/05-negative-grades/run.txt": (1, 4, 0),
    "made/06-hash-in-docid/run.txt": (1, 3, 0),
    "made/07-no-topic-overlap/run.txt": (1, 2, 0),
    "made/08-all-scores-equal/run.txt": (3, 7, 0),
    "made/09-negative-scores/run.txt": (3, 7, 0),
    "made/10-tabs-and-spaces/run.txt": (3, 5, 0),
    "made/11-crlf/run.txt": (3, 9, 0),
    "made/12-bom/run.txt": (3, 9, 0),
    "made/13-nan-score/run.txt": ":2: score 'nan' is not a finite number",
    "made/14-empty-run/run.txt": ": the file is empty",
    "made/15-query-without-relevant/run.txt": (4, 11, 0),
    "made/16-scientific-scores/run.txt": (3, 7, 0),
    "made/17-gz/run.txt.gz": (3, 9, 0),
    "made/18-float32-ties/run.txt": (1, 2, 0),
    "real/covid-r1-ixa-ir-filter-query.run.gz": (30, 30_000, 0),
    "real/covid-r1-savantx_nist_run_3.run.gz": (30, 10_198, 0),
    "real/covid-r2-GUIR_S2_run3.run.gz": (35, 6_281, 0),
    "real/scifact-blank-lines.run.gz": (153, 15_300, 124),
    "real/scifact-half-the-queries.run.gz": (153, 15_300, 0),
    "real/scifact-oneword-lines.run.gz": f":101: 1 field {RUN_FIELDS}",
    "real/scifact-prose-and-rows.txt": f":1: 9 fields {RUN_FIELDS}",
    "real/trectools-input.uic0301_top30": (10, 300, 0),
    "real/trectools-r1.run": (2, 6, 0),
    "real/trectools-r2.run": (2, 6, 0),
    "real/trectools-r3.run": (2, 6, 0),
    "real/trectools-r4.run": (3, 9, 0),
}

THREE = ("q1", "q2", "q3")

# file: (queries, rows)
QRELS: dict[str, tuple[tuple[str, ...], int]] = {
    "made/01-ties-broken-by-docid/qrels.txt": (("t1",), 3),
    "made/02-duplicate-doc-adjacent/qrels.txt": (THREE, 9),
    "made/03-line-with-4-fields/qrels.txt": (THREE, 9),
    "made/04-missing-queries/qrels.txt": (THREE, 9),
    "made/05-negative-grades/qrels.txt": (("w1",), 4),
    "made/06-hash-in-docid/qrels.txt": (("m1",), 3),
    "made/07-no-topic-overlap/qrels.txt": (("2024-1.X", "2024-2.X"), 2),
    "made/08-all-scores-equal/qrels.txt": (THREE, 9),
    "made/09-negative-scores/qrels.txt": (THREE, 9),
    "made/10-tabs-and-spaces/qrels.txt": (THREE, 9),
    "made/11-crlf/qrels.txt": (THREE, 9),
    "made/12-bom/qrels.txt": (THREE, 9),
    "made/13-nan-score/qrels.txt": (THREE, 9),
    "made/14-empty-run/qrels.txt": (THREE, 9),
    "made/15-query-without-relevant/qrels.txt": ((*THREE, "q4"), 11),
    "made/16-scientific-scores/qrels.txt": (THREE, 9),
    "made/17-gz/qrels.txt": (THREE, 9),
    "made/18-float32-ties/qrels.txt": (("f1",), 2),
    "real/trectools-qrel1.txt": (("1", "2", "3"), 30),
}


def test_every_file_is_listed() -> None:
    folder = shared("data/odd")
    files = [*folder.glob("made/*/*"), *folder.glob("real/*")]
    assert {str(file.relative_to(folder)) for file in files} == {*RUNS, *QRELS}


@pytest.mark.parametrize("name", RUNS)
def test_run_ends_in_rows_or_one_error(name: str) -> None:
    path = shared(f"data/odd/{name}")
    expected = RUNS[name]
    if isinstance(expected, str):
        with pytest.raises(InputError) as error:
            read_run(path, "x", Policies())
        assert str(error.value) == f"{path}{expected}"
        return
    run = read_run(path, "x", Policies())
    assert (len(run.table.query_ids), run.audit.rows, run.audit.blank_lines) == expected
    assert rows_of_run(run.table) == naive_run(path)


@pytest.mark.parametrize("name", QRELS)
def test_judgments(name: str) -> None:
    path = shared(f"data/odd/{name}")
    queries, rows = QRELS[name]
    judgments = read_judgments(path, Policies())
    assert (judgments.table.query_ids, judgments.audit.rows) == (queries, rows)
    assert rows_of_judgments(judgments.table) == naive_judgments(path)


@pytest.mark.parametrize(
    ("policy", "kept"),
    [
        ("first", [("q1", "d2", 9.5), ("q1", "d3", 8.1), ("q2", "d5", 4.2), ("q2", "d6", 3.3)]),
        ("best", [("q1", "d2", 9.5), ("q1", "d3", 8.1), ("q2", "d5", 4.2), ("q2", "d6", 3.3)]),
    ],
)
def test_duplicates_are_settled_and_counted(policy: str, kept: list[tuple[str, str, float]]) -> None:
    path = shared("data/odd/made/02-duplicate-doc-adjacent/run.txt")
    run = read_run(path, "x", Policies(duplicate_documents=policy))
    assert rows_of_run(run.table) == kept
    assert (run.audit.rows, run.audit.duplicates) == (4, 2)
