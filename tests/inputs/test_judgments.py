from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from rankstats.conventions import Policies
from rankstats.errors import InputError
from rankstats.inputs import judgments_from_dict, read_judgments
from tests.inputs.naive import rows_of_judgments


def write(folder: Path, content: str) -> Path:
    path = folder / "judged"
    path.write_bytes(content.encode())
    return path


def problem(path: Path, policies: Policies | None = None, **columns: str) -> str:
    with pytest.raises(InputError) as error:
        read_judgments(path, policies or Policies(), **columns)
    return str(error.value).removeprefix(str(path))


SHUFFLED = "q2 0 d1 1\nq10 0 é 2\nq10 0 z 0.5\nq10 0 D -1\n"
SORTED = [("q10", "D", -1), ("q10", "z", 0.5), ("q10", "é", 2), ("q2", "d1", 1)]


@pytest.mark.parametrize(
    "content",
    [
        SHUFFLED,
        SHUFFLED.replace(" ", "\t"),
        SHUFFLED.replace(" ", " \t "),
        SHUFFLED.replace("\n", "\r\n"),
        "\ufeff" + SHUFFLED.rstrip(),
        "\n" + SHUFFLED.replace("\n", "\n\n"),
        "# q 0 d comment\n" + SHUFFLED + "#\n",
        "query_id,doc_id,grade\nq2,d1,1\nq10,é,2\nq10,z,0.5\nq10,D,-1\n",
        "query-id\tcorpus-id\tscore\nq2\td1\t1\nq10\té\t2\nq10\tz\t0.5\nq10\tD\t-1",
        "QID;iter;DocNo;Relevance\r\nq2;0;d1;1\r\nq10;0;é;+2\r\n\r\nq10;0;z;.5\r\nq10;0;D;-1\r\n",
        'rating,"product_id",query\n1,"d1","q2"\n"2",é,q10\n0.5,z,q10\n-1,D,q10\n',
        '{"qid": "q2", "docid": "d1", "label": 1}\n{"qid": "q10", "docid": "é", "label": 2}\n'
        '{"qid": "q10", "docid": "z", "label": 0.5}\n{"qid": "q10", "docid": "D", "label": -1}\n',
    ],
)
def test_formats(tmp_path: Path, content: str) -> None:
    judgments = read_judgments(write(tmp_path, content), Policies()).table
    assert rows_of_judgments(judgments) == SORTED
    assert judgments.query_ids == ("q10", "q2")
    assert judgments.offsets.tolist() == [0, 3, 4]
    assert judgments.query.dtype == np.int32


def test_parquet_ids_are_text(tmp_path: Path) -> None:
    path = tmp_path / "judged.parquet"
    table = pa.table({"query_id": [12345678901234567, 7], "doc_id": ["007", "1e5"], "grade": [1.9, 0.5]})
    pa.parquet.write_table(table, path)
    rows = rows_of_judgments(read_judgments(path, Policies()).table)
    assert rows == [("12345678901234567", "007", 1.9), ("7", "1e5", 0.5)]


def test_the_text_of_the_query_may_be_the_id(tmp_path: Path) -> None:
    path = write(tmp_path, 'query,docid,rating\n"a, ""b""\nc",7,3\nlaptop,8,0\n')
    assert rows_of_judgments(read_judgments(path, Policies()).table) == [('a, "b"\nc', "7", 3), ("laptop", "8", 0)]
    spaced = write(tmp_path, "blue shoe\t0\td 1\t3\nlaptop\t0\td2\t1\n")
    assert rows_of_judgments(read_judgments(spaced, Policies()).table) == [("blue shoe", "d 1", 3), ("laptop", "d2", 1)]


def test_a_run_where_qrels_are_expected(tmp_path: Path) -> None:
    fields = ":1: 6 fields where 4 are expected (qid iter docid grade)"
    assert problem(write(tmp_path, "q1 Q0 d1 1 2.5 a\n")) == (
        f"{fields}; this looks like a run; are --qrels and the run swapped?"
    )
    assert problem(write(tmp_path, "q1 Q0 d1 1 x a\n")) == fields


def test_named_columns(tmp_path: Path) -> None:
    path = write(tmp_path, "topic_nr,query,doc,first,second\n7,shoes,d1,1,2\n")
    assert problem(path) == (": no grade column; name it with --grade (there are topic_nr, query, doc, first, second)")
    judgments = read_judgments(path, Policies(), id_column="topic_nr", grade_column="second").table
    assert rows_of_judgments(judgments) == [("7", "d1", 2)]
    by_text = read_judgments(path, Policies(), id_column="only_in_the_query_table", grade_column="first").table
    assert rows_of_judgments(by_text) == [("shoes", "d1", 1)]
    assert problem(path, grade_column="secnd") == (
        ": no column 'secnd' (--grade); did you mean 'second'? (there are topic_nr, query, doc, first, second)"
    )


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("query_id,doc_id,grade,score", ": 'grade' and 'score' may each be the grade column; choose one with --grade"),
        ("query_id,qid,doc_id,grade", ": 'query_id' and 'qid' may each be the query id column; choose one with --id"),
        (
            "query_id,doc_id,document,grade",
            ": 'doc_id' and 'document' may each be the document column; choose one with --document",
        ),
        ("query_id,a,b,grade", ": no document column; name it with --document (there are query_id, a, b, grade)"),
        (
            "query_id,doc_id,score,rank",
            ": columns score and rank are those of a run; are --qrels and the run swapped? "
            "If score is the grade, say so with --grade",
        ),
        ("a,doc_id,b,grade", ": no query id column; name it with --id (there are a, doc_id, b, grade)"),
        ("query_id,doc_id,grade,grade", ":1: two columns are named 'grade'; rename one"),
    ],
)
def test_ambiguous_or_missing_columns(tmp_path: Path, header: str, message: str) -> None:
    assert problem(write(tmp_path, header + "\n1,2,3,4\n")) == message


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("q1 0 d1 1\nq1 0 d2\n", ":2: 3 fields where 4 are expected (qid iter docid grade)"),
        ("q1 0 d1 1\n\nq1 0 d2 x\n", ":3: grade 'x' is not a number"),
        ("q1 0 d1 1\r\nq1 0 d2 1,5\r\n", ":2: grade '1,5' is not a number; write a decimal point"),
        ("q1 0 d1 nan\n", ":1: grade 'nan' is not a finite number"),
        ("q1 0 d1 one\n", ":1: grade 'one' is not a number; a qrels file has no header row"),
        ("# one\n# two\n", ": holds comments only, no judgment"),
        ("# one", ": holds comments only, no judgment"),
        ("q1 0 d1 1\n# 0 d1 1\n", ":2: is this a comment or a judgment of query '#'? Remove the line"),
        ("query_id,doc_id,grade\nq1,d1,1\n\nq1,d2,\n", ":4: grade is empty"),
        ('query_id,doc_id,grade\n"q\n1",d1,1\nq1,d2,x\n', ":4: grade 'x' is not a finite number"),
        ("query_id,doc_id,grade\nq1,d1,nan\n", ":2: grade 'nan' is not a finite number"),
        ('query_id,doc_id,grade\nq1,d1,"1,5"\n', ":2: grade '1,5' is not a number; write a decimal point"),
        ("query_id,doc_id,grade\nq1,,1\n", ":2: doc_id is empty"),
        ("query_id,doc_id,grade\nq1,d1,1\nq1,d2\n", ":3: 2 cells where 3 are expected (query_id, doc_id, grade)"),
        ("query_id,doc_id,grade\n", ": the table has no rows"),
        ('query_id,doc_id,grade\nq1,"d1,1\n', ":2: 2 cells where 3 are expected (query_id, doc_id, grade)"),
        ('{"qid": 1, "docid": 2, "grade": NaN}\n', ":1: NaN is not a finite number"),
        ('{"qid": 1, "docid": 2, "grade": 1}\n[]\n', ":2: is not a JSON object on one line"),
    ],
)
def test_fault_is_named_with_its_line(tmp_path: Path, content: str, message: str) -> None:
    assert problem(write(tmp_path, content)) == message


def test_grade_option_on_qrels(tmp_path: Path) -> None:
    message = problem(write(tmp_path, SHUFFLED), grade_column="rating")
    assert message == ": has no header row, so no column 'rating'; leave --grade out"
    message = problem(write(tmp_path, '{"q": {"d": 1}}'), grade_column="rating")
    assert message == ": is no table, so it has no column 'rating'; leave --grade out"
    assert read_judgments(write(tmp_path, SHUFFLED), Policies(), id_column="qid").table.n_queries == 2


def test_comments_are_counted_and_ids_with_a_hash_are_ids(tmp_path: Path) -> None:
    judgments = read_judgments(write(tmp_path, "# one\n#5 0 #6 1\n\n# two words\n"), Policies())
    assert rows_of_judgments(judgments.table) == [("#5", "#6", 1)]
    assert (judgments.audit.comment_lines, judgments.audit.blank_lines, judgments.audit.rows) == (2, 1, 1)


@pytest.mark.parametrize("name", ["{", '{"a"', "[", "PAR", '"', "query", "NA", "007"])
def test_ids_are_text_whatever_they_look_like(tmp_path: Path, name: str) -> None:
    judgments = read_judgments(write(tmp_path, f"{name} 0 {name} 1\nq2 0 x 0\n"), Policies())
    assert sorted(rows_of_judgments(judgments.table)) == sorted([(name, name, 1), ("q2", "x", 0)])


DUPLICATED = "q1 0 d1 1\nq1 0 d2 0\n\nq2 0 d1 3\nq1 0 d2 1\nq1 0 d1 1\nq1 0 d2 0.5\n"


def test_duplicates_are_an_error_that_names_both_lines(tmp_path: Path) -> None:
    tail = "remove one, or set duplicate_judgments = 'max' or 'mean'"
    assert problem(write(tmp_path, DUPLICATED)) == (
        f":5: document 'd2' of query 'q1' is judged twice, first in line 2; {tail}"
    )
    headed = "query_id,doc_id,grade\nq,d,1\nq,d,1\n"
    assert problem(write(tmp_path, headed)) == (
        f":3: document 'd' of query 'q' is judged twice, first in line 2; {tail}"
    )


@pytest.mark.parametrize(("policy", "grade"), [("max", 1), ("mean", 0.5)])
def test_duplicates_settled(tmp_path: Path, policy: str, grade: float) -> None:
    judgments = read_judgments(write(tmp_path, DUPLICATED), Policies(duplicate_judgments=policy))
    assert rows_of_judgments(judgments.table) == [("q1", "d1", 1), ("q1", "d2", grade), ("q2", "d1", 3)]
    assert judgments.table.offsets.tolist() == [0, 2, 3]
    assert judgments.table.duplicates == judgments.audit.duplicates == 2


def test_negative_grades(tmp_path: Path) -> None:
    assert read_judgments(write(tmp_path, SHUFFLED), Policies()).table.grade.min() == -1
    message = problem(write(tmp_path, SHUFFLED), Policies(negative_grades="error"))
    assert message == ":4: grade -1 is below 0 (negative_grades = 'error')"


def test_shuffled_lines_give_equal_tables(tmp_path: Path) -> None:
    rng = random.Random(3)
    lines = [f"q{rng.randrange(20)} 0 d{rng.randrange(40)} {rng.choice([0, 1, 0.1, 0.7])}" for _ in range(600)]
    policies = Policies(duplicate_judgments="mean")
    tables = []
    for _ in range(3):
        rng.shuffle(lines)
        tables.append(read_judgments(write(tmp_path, "\n".join(lines)), policies).table)
    for table in tables[1:]:
        assert rows_of_judgments(table) == rows_of_judgments(tables[0])
        assert table.offsets.tolist() == tables[0].offsets.tolist()


def test_from_dict_leaves_what_it_is_given() -> None:
    given = {"q2": {"d2": 1, "d10": 0.5}, "q1": {}}
    judgments = judgments_from_dict(given)
    assert rows_of_judgments(judgments) == [("q2", "d10", 0.5), ("q2", "d2", 1)]
    assert (judgments.query_ids, judgments.offsets.tolist()) == (("q1", "q2"), [0, 0, 2])
    assert given == {"q2": {"d2": 1, "d10": 0.5}, "q1": {}}
    with pytest.raises(InputError, match="there are no judgments"):
        judgments_from_dict({})
    with pytest.raises(InputError, match="grade None of query 'q', document 'd' is not a finite number"):
        judgments_from_dict({"q": {"d": None}})  # type: ignore[dict-item]  # the fault under test
