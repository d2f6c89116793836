"""Which format a content is taken for, or the error that names the option which settles it."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankstats.conventions import QRELS_FORMATS, RUN_FORMATS, Policies
from rankstats.errors import InputError, PlanError
from rankstats.inputs import read_judgments, read_run
from tests.inputs.naive import rows_of_judgments, rows_of_run

RANK_OR_SCORE = (
    ": has three columns, and the third may be a rank or a score; say which with --run-format rank (1 is the best) or "
    "--run-format score (the highest is the best)"
)
SIX_OR_THREE = (
    ": the first line has six fields at spaces and three at tabs; say which with --run-format trec, "
    "--run-format rank or --run-format score"
)
COMMAS = ": has no header row; write one that names the columns, such as query_id,doc_id,"
LETOR_RUN = ": looks like a LETOR file of judgments; give it as --qrels, and the predictions as the run"
NO_LETOR = (
    ": holds one number a line, as predictions for the lines of a LETOR file, but the judgments are no LETOR file"
)

# content: (format, rows), or the message after the path
RUNS: dict[str, tuple[str, list[tuple[str, str, float]]] | str] = {
    "q1 Q0 d1 1 2.5 t\n": ("TREC", [("q1", "d1", 2.5)]),
    "q 1\tQ0\td 1\t1\t2.5\tt t\n": ("TREC", [("q 1", "d 1", 2.5)]),
    '{"a" [ qid 1 7 t\n': ("TREC", [('{"a"', "qid", 7)]),
    # what counts 1, 2, 3 for every query is a rank
    "1\t7\t1\n1\t8\t2\n1\t9\t3\n2\t7\t1\n": ("rank", [("1", "7", -1), ("1", "8", -2), ("1", "9", -3), ("2", "7", -1)]),
    "a b\tc d\t1\na b\te\t2\na b\tf\t3\n": ("rank", [("a b", "c d", -1), ("a b", "e", -2), ("a b", "f", -3)]),
    "q a 1.0\nq b 2.0\nq c 3.0\n": ("rank", [("q", "a", -1), ("q", "b", -2), ("q", "c", -3)]),
    # fractions and numbers below 0 are scores
    "1 7 0.5\n1 8 2\n": ("score", [("1", "7", 0.5), ("1", "8", 2)]),
    "1 7 -1\n1 8 -2\n": ("score", [("1", "7", -1), ("1", "8", -2)]),
    "1 7 1\n1 8 2\n1 9 3\n1 6 3.5\n": ("score", [("1", "7", 1), ("1", "8", 2), ("1", "9", 3), ("1", "6", 3.5)]),
    "1 7 12\n2 7 15\n": ("score", [("1", "7", 12), ("2", "7", 15)]),
    # whole numbers may be either
    "1 7 1\n1 8 2\n": RANK_OR_SCORE,
    "1 7 1\n1 8 2\n2 7 1\n2 8 2\n": RANK_OR_SCORE,
    "1 7 0\n1 8 1\n1 9 2\n": RANK_OR_SCORE,
    "1 7 1\n1 8 2\n1 9 4\n": RANK_OR_SCORE,
    "1 7 3\n1 8 2\n1 9 1\n": RANK_OR_SCORE,
    "1 7 1\n1 8 3\n1 9 2\n": RANK_OR_SCORE,
    "1 7 1\n1 8 2\n1 9 3\n2 7 2\n2 8 1\n": RANK_OR_SCORE,
    "1 7 1\n1 8 2\n1 9 3\n2 7 1\n1 6 4\n": RANK_OR_SCORE,
    "1 7 30\n1 8 20\n": RANK_OR_SCORE,
    "how to cook rice\td\t0.5\nq\t7\t2\n": ("score", [("how to cook rice", "d", 0.5), ("q", "7", 2)]),
    "how to cook 5 6\t7\t0.5\n": ("score", [("how to cook 5 6", "7", 0.5)]),
    "how to cook rice\t7\t5\n": SIX_OR_THREE,
    # names of columns
    "qid,docno,score\nq,d,1\n": ("table: qid, docno, score", [("q", "d", 1)]),
    "rank\tquery_id\tdoc_id\n1\tq\td\n2\tq\te\n": ("table: query_id, doc_id, rank", [("q", "d", -1), ("q", "e", -2)]),
    "qid,docid,docno,rank,score\nq,0,d,1,7\n": ("table: qid, docno, score, rank", [("q", "d", 7)]),
    "query,asin,similarity\nred shoes,B0,0.5\n": ("table: query, asin, similarity", [("red shoes", "B0", 0.5)]),
    "qid\tQ0\tdocid\trank\tscore\ttag\nq\tQ0\td\t1\t2.5\tt\n": ("table: qid, docid, score, rank", [("q", "d", 2.5)]),
    '{"qid": 1, "docid": "007", "score": 2}\n': ("table: qid, docid, score", [("1", "007", 2)]),
    '[{"qid": 1, "docid": "007", "score": 2}]': ("table: qid, docid, score", [("1", "007", 2)]),
    '{"qid": 1, "docid": 7, "score": 2, "meta": {"a": 1}}\n': ("table: qid, docid, score", [("1", "7", 2)]),
    '{"meta": {"a": 1}, "qid": 1, "docid": 7, "score": 2}\n': ("table: qid, docid, score", [("1", "7", 2)]),
    '{"q1": {"d1": 2, "d2": "1e-1"}, "q2": {}}': ("JSON", [("q1", "d1", 2), ("q1", "d2", 0.1)]),
    '{"query": {"id": 2}}': ("JSON", [("query", "id", 2)]),
    # what is none of these
    "0.5\n": NO_LETOR,
    "q,d,0.5\n": f"{COMMAS}score",
    "2 qid:1 1:0.5 # d1\n": LETOR_RUN,
    "q d x\n": (
        ":1: rank or score 'x' is not a number; a header row has known names (query_id, doc_id, rank or score) "
        "with tabs or commas between them"
    ),
    "query_id doc_id score\nq d 1\n": (
        ":1: rank or score 'score' is not a number; a header row has known names (query_id, doc_id, rank or score) "
        "with tabs or commas between them"
    ),
    "a b c d e\n": ":1: 5 fields where 6 are expected (qid Q0 docid rank score tag)",
    "[1, 2]": ":1: 2 fields where 6 are expected (qid Q0 docid rank score tag)",
}


def write(folder: Path, content: str) -> Path:
    path = folder / "file"
    path.write_bytes(content.encode())
    return path


@pytest.mark.parametrize("content", RUNS)
@pytest.mark.parametrize("before", ["", "\ufeff", "\n \r\n"])
def test_runs(tmp_path: Path, content: str, before: str) -> None:
    path = write(tmp_path, before + content)
    expected = RUNS[content]
    if isinstance(expected, str):
        with pytest.raises(InputError) as error:
            read_run(path, "a", Policies())
        message = expected.replace(":1:", f":{1 + before.count(chr(10))}:")
        assert str(error.value).startswith(f"{path}{message}")
    else:
        read = read_run(path, "a", Policies())
        assert (read.audit.format, rows_of_run(read.table)) == expected


GRADE = "say which with --qrels-format grade if they are qid, docid and grade"
LIKE_SCORES = f": has three columns, and the third may be a grade or the score of a run; {GRADE}"
LIKE_RANKS = f": has three columns, and the third counts 1, 2, 3 … for every query like the ranks of a run; {GRADE}"

JUDGMENTS: dict[str, tuple[str, list[tuple[str, str, float]]] | str] = {
    "q 0 d 1\n": ("TREC", [("q", "d", 1)]),
    "# remark\nq 0 d 1.5\n": ("TREC", [("q", "d", 1.5)]),
    "blue shoe\t0\td 1\t1\n": ("TREC", [("blue shoe", "d 1", 1)]),
    "q d 1\nq e 0\np d -2\n": ("grade", [("p", "d", -2), ("q", "d", 1), ("q", "e", 0)]),
    "# a b 7 8\nq d 100\n": ("grade", [("q", "d", 100)]),
    "blue suede shoe\td 1\t1\nq\te\t0\n": ("grade", [("blue suede shoe", "d 1", 1), ("q", "e", 0)]),
    "q d 1\nq e 2\n": ("grade", [("q", "d", 1), ("q", "e", 2)]),
    "q d 1\nq e 2\nq f 3\n": LIKE_RANKS,
    "q d 0.5\nq e 1\n": LIKE_SCORES,
    "q d 101\nq e 1\n": LIKE_SCORES,
    "q 0 7\np 0 8\n": (
        f": has three columns, and the second is the same in every line, as if the grade were missing; {GRADE}"
    ),
    "blue shoe\td\t1\n": (
        ": the first line has four fields at spaces and three at tabs; say which with --qrels-format trec or "
        "--qrels-format grade"
    ),
    "query-id\tcorpus-id\tscore\nq\td\t1\n": ("table: query-id, corpus-id, score", [("q", "d", 1)]),
    '{"q": {"d": 1}}\n': ("JSON", [("q", "d", 1)]),
    '{"q": {"d": 1, "e": 2}, "p": {}}': ("JSON", [("q", "d", 1), ("q", "e", 2)]),
    '{"judgmentRatings": [{"query": "a b", "ratings": [{"docId": "d", "rating": "2.000"}]}]}': (
        "JSON: judgmentRatings",
        [("a b", "d", 2)],
    ),
    "2 qid:1 1:0.5 2:0 #docid = d-1 inc = 0.5\n": ("LETOR", [("1", "d-1", 2)]),
    "# qid:1: rambo\n4\tqid:1 #\t7555\tRambo\n": ("LETOR", [("1", "7555", 4)]),
    "0 qid:a 1:0.5\n1 qid:a 1:0.25\n1 qid:b 1:0\n": ("LETOR", [("a", "0", 0), ("a", "1", 1), ("b", "0", 1)]),
    "1 qid:1 # 7\n": ("LETOR", [("1", "7", 1)]),
    "q,d,1\n": f"{COMMAS}grade",
    "q d x\n": ":1: grade 'x' is not a number; a header row has known names (query_id, doc_id, grade) with tabs or",
    "a b c d e\n": ":1: 5 fields where 4 are expected (qid iter docid grade)",
}


@pytest.mark.parametrize("content", JUDGMENTS)
@pytest.mark.parametrize("before", ["", "\ufeff", "\n \r\n"])
def test_judgments(tmp_path: Path, content: str, before: str) -> None:
    path = write(tmp_path, before + content)
    expected = JUDGMENTS[content]
    if isinstance(expected, str):
        with pytest.raises(InputError) as error:
            read_judgments(path, Policies())
        message = expected.replace(":1:", f":{1 + before.count(chr(10))}:")
        assert str(error.value).startswith(f"{path}{message}")
    else:
        read = read_judgments(path, Policies())
        assert (read.audit.format, rows_of_judgments(read.table)) == expected


@pytest.mark.parametrize(
    ("content", "form", "rows"),
    [
        ("1 7 1\n1 8 2\n", "rank", [("1", "7", -1), ("1", "8", -2)]),
        ("1 7 1\n1 8 2\n", "score", [("1", "7", 1), ("1", "8", 2)]),
        ("1 7 1\n1 8 2\n1 9 3\n", "score", [("1", "7", 1), ("1", "8", 2), ("1", "9", 3)]),
        ("1 7 0\n1 8 0.5\n", "rank", [("1", "7", 0), ("1", "8", -0.5)]),
        ("a b\t7\t5\n", "rank", [("a b", "7", -5)]),
        ("id Q0 d 1 2 t\n", "trec", [("id", "d", 2)]),
        ("qid,docid,score\nq,d,1\n", "table", [("q", "d", 1)]),
        ('{"q": {"d": 1}}', "json", [("q", "d", 1)]),
    ],
)
def test_a_named_run_format_settles_it(
    tmp_path: Path, content: str, form: str, rows: list[tuple[str, str, float]]
) -> None:
    read = read_run(write(tmp_path, content), "a", Policies(), form=form)
    assert rows_of_run(read.table) == rows
    assert read.audit.notes == ()


@pytest.mark.parametrize(
    ("content", "form", "rows"),
    [
        ("q d 1\nq e 2\nq f 3\n", "grade", [("q", "d", 1), ("q", "e", 2), ("q", "f", 3)]),
        ("q d 0.5\n", "grade", [("q", "d", 0.5)]),
        ("q 0 7\np 0 8\n", "grade", [("p", "0", 8), ("q", "0", 7)]),
        ("blue 0 d 1\n", "trec", [("blue", "d", 1)]),
        ("1 qid:1 # 7\n", "trec", [("1", "#", 7)]),
        ("1 qid:1 # 7\n", "letor", [("1", "7", 1)]),
    ],
)
def test_a_named_qrels_format_settles_it(
    tmp_path: Path, content: str, form: str, rows: list[tuple[str, str, float]]
) -> None:
    read = read_judgments(write(tmp_path, content), Policies(), form=form)
    assert rows_of_judgments(read.table) == rows
    assert read.audit.notes == ()


TREC_RUN, TREC_QRELS = "q1 Q0 d1 1 2.5 t\n", "q1 0 d1 1\n"
MISNAMED_RUNS = {
    "rank": ":1: 6 fields where 3 are expected (qid docid rank); this line looks like a TREC run",
    "score": ":1: 6 fields where 3 are expected (qid docid score); this line looks like a TREC run",
    "table": ": no query id column; name it with --id (there are q1 Q0 d1 1 2.5 t)",
    "json": ": is no JSON object {query_id: {doc_id: score}}; leave out --run-format",
    "predictions": ": holds one number a line, as predictions",
}
MISNAMED_QRELS = {
    "grade": ":1: 4 fields where 3 are expected (qid docid grade); this line looks like qrels",
    "table": ": no query id column; name it with --id (there are q1 0 d1 1)",
    "json": ": is no JSON object {query_id: {doc_id: grade}}; leave out --qrels-format",
    "letor": ":1: no query id after the grade (grade qid:ID feature:value … # docid)",
}


@pytest.mark.parametrize("form", [form for form in RUN_FORMATS if form != "trec"])
def test_a_wrongly_named_run_format(tmp_path: Path, form: str) -> None:
    path = write(tmp_path, TREC_RUN + "q1 Q0 d2 2 2 t\n")
    with pytest.raises(InputError) as error:
        read_run(path, "a", Policies(), form=form)
    assert str(error.value).startswith(f"{path}{MISNAMED_RUNS[form]}")


@pytest.mark.parametrize("form", [form for form in QRELS_FORMATS if form != "trec"])
def test_a_wrongly_named_qrels_format(tmp_path: Path, form: str) -> None:
    path = write(tmp_path, TREC_QRELS + "q1 0 d2 0\n")
    with pytest.raises(InputError) as error:
        read_judgments(path, Policies(), form=form)
    assert str(error.value).startswith(f"{path}{MISNAMED_QRELS[form]}")


def test_an_unknown_format() -> None:
    with pytest.raises(
        PlanError, match=r"run format 'ranks' is unknown; choose one of trec, rank.*did you mean 'rank'"
    ):
        read_run("absent", "a", Policies(), form="ranks")
    with pytest.raises(PlanError, match=r"qrels format 'letter' is unknown; .*did you mean 'letor'"):
        read_judgments("absent", Policies(), form="letter")


@pytest.mark.parametrize(
    ("content", "note"),
    [
        (TREC_RUN, None),
        (
            "q a 1\nq b 2\nq c 3\n",
            "has three columns, read as query, document and rank, because the third counts 1, 2, 3 …",
        ),
        (
            "q a 0.5\n",
            "has three columns, read as query, document and score, because the third holds fractions or numbers",
        ),
        ("q a 5\n", "has three columns, read as query, document and score, because every query has one document"),
        ("qid,docid,score\nq,d,1\n", None),
        ("qid,docid,rank\nq,d,1\n", "has no score column; documents are ordered by rank, 1 the best"),
        ("qid,docid,docno,score\nq,1,d,1\n", "has columns docno and docid; the first is read as the document"),
    ],
)
def test_what_was_recognised_is_noted(tmp_path: Path, content: str, note: str | None) -> None:
    path = write(tmp_path, content)
    notes = read_run(path, "a", Policies()).audit.notes
    assert len(notes) == (note is not None)
    assert all(text.startswith(f"{path} {note}") for text in notes)


def test_notes_on_judgments(tmp_path: Path) -> None:
    path = write(tmp_path, "q d 1\n")
    assert read_judgments(path, Policies()).audit.notes == (
        f"{path} has three columns, read as query, document and grade",
    )
    path = write(tmp_path, "1 qid:7 1:0.5\n")
    note = f"{path} names no documents; they are called by their number within the query, from 0"
    assert read_judgments(path, Policies()).audit.notes == (note,)


def test_one_line_of_json_is_not_split(tmp_path: Path) -> None:
    inner = ", ".join(f'"d{n}": {n}' for n in range(40_000))
    path = write(tmp_path, '{"q": {' + inner + "}}")
    assert len(read_run(path, "a", Policies()).table.score) == 40_000


def test_several_systems_in_one_table(tmp_path: Path) -> None:
    path = write(tmp_path, "system,qid,docid,score\na,q,d,1\nb,q,d,2\n")
    with pytest.raises(InputError, match=r": holds 2 systems in column system \(a, b\); give one file for each$"):
        read_run(path, "a", Policies())
    assert read_run(write(tmp_path, "run,qid,docid,score\na,q,d,1\na,q,e,2\n"), "a", Policies()).audit.rows == 2


def test_columns_that_only_tables_have(tmp_path: Path) -> None:
    for content in (TREC_RUN, "q1 d1 0.5\n", '{"q1": {"d1": 1}}'):
        path = write(tmp_path, content)
        read = read_run(path, "a", Policies(), id_column="x", document_column="y", score_column="z")
        assert read.audit.rows == 1
    table = write(tmp_path, "user,item,x,score\nu,i,1,2\n")
    read = read_run(table, "a", Policies(), id_column="user", document_column="item", score_column="x")
    assert rows_of_run(read.table) == [("u", "i", 1)]
