"""Every way to spoil a file of each format ends in one error with file and line, or row."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

from rankstats.conventions import Policies
from rankstats.errors import InputError
from rankstats.inputs import read_judgments, read_run


def write(folder: Path, content: str | bytes, name: str = "file") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def problem_of_run(path: Path, **options: Any) -> str:
    with pytest.raises(InputError) as error:
        read_run(path, "a", Policies(), **options)
    assert error.value.path == str(path)
    return str(error.value).removeprefix(str(path))


def problem_of_judgments(path: Path, policies: Policies | None = None) -> str:
    with pytest.raises(InputError) as error:
        read_judgments(path, policies or Policies())
    assert error.value.path == str(path)
    return str(error.value).removeprefix(str(path))


SPOILT_RUNS: list[tuple[str | bytes, str]] = [
    # three columns
    ("q a 0.5\nq b\n", ":2: 2 fields where 3 are expected (qid docid rank or score)"),
    ("q a 0.5\nq b 1 2\n", ":2: 4 fields where 3 are expected (qid docid rank or score)"),
    ("q a 0.5\n\nq b nan\n", ":3: rank or score 'nan' is not a finite number"),
    ("q a 0.5\nq b x\n", ":2: rank or score 'x' is not a number"),
    ("q a 0.5\nq b 1,5\n", ":2: rank or score '1,5' is not a number; write a decimal point"),
    ("q a 0.5\nq b 1e999\n", ":2: rank or score '1e999' is too large"),
    ("q\ta\t0.5\nq\t\t1\n", ":2: 2 fields (3 at tabs) where 3 are expected (qid docid rank or score)"),
    (
        "q a 0.5\np a 1\nq a 2\n",
        ":3: document 'a' is listed twice for query 'q', first in line 1; remove one, or set duplicate_documents = ",
    ),
    (b"q a 0.5\nq \xe9 1\n", r":2: b'\xe9' is not UTF-8 text; save the file as UTF-8"),
    # tables
    ("qid,docid,score\nq,a,1\nq,b\n", ":3: 2 cells where 3 are expected (qid, docid, score)"),
    ("qid,docid,score\nq,a,1\nq,b,\n", ":3: score is empty"),
    ("qid,docid,score\nq,a,1\n\nq,b,nan\n", ":4: score 'nan' is not a finite number"),
    ('qid,docid,score\nq,a,"1,5"\n', ":2: score '1,5' is not a number; write a decimal point"),
    ("qid,docid,score\nq,a,1e999\n", ":2: score '1e999' is not a finite number"),
    ("qid,docid,score\nq,,1\n", ":2: docid is empty"),
    ("qid,docid,score\n ,a,1\n", ":2: qid is empty"),
    ("qid,docid,score\nq,a,1\nq,a,2\n", ":3: document 'a' is listed twice for query 'q', first in line 2; remove one"),
    ("qid,docid,score\n", ": the table has no rows"),
    ("qid,docid,score,score\n1,2,3,4\n", ":1: two columns are named 'score'; rename one"),
    (
        "qid,docid,score,similarity\n1,2,3,4\n",
        ": 'score' and 'similarity' may each be the score column; choose one with",
    ),
    ("qid,docid,price\n1,2,3\n", ": no score or rank column; name it with --score (there are qid, docid, price)"),
    (
        "qid,docid,relevance\n1,2,3\n",
        ": no score or rank column; name it with --score (there are qid, docid, relevance); relevance is a column of "
        "judgments: are --qrels and the run swapped?",
    ),
    ("docid,score\n2,3\n", ": no query id column; name it with --id (there are docid, score)"),
    ("qid,score\n2,3\n", ": no document column; name it with --document (there are qid, score)"),
    ("qid,docid,rank\nq,a,1\nq,b,-2\n", ":3: rank -2 is below 0; is this a score?"),
    (b"qid,docid,score\nq,a,1\nq,\xe9,2\n", ":3: is not UTF-8 text; save the file as UTF-8"),
    # JSON lines and arrays
    ('{"qid": 1, "docid": 2, "score": 1}\n{"qid": 1, "docid": 3}\n', ":2: score is empty"),
    ('{"qid": 1, "docid": 2, "score": 1}\n{"qid": 1, "docid": null, "score": 1}\n', ":2: docid is empty"),
    ('{"qid": 1, "docid": 2, "score": 1}\n\n{"qid": 1, "docid": 3, "score": NaN}\n', ":3: NaN is not a finite number"),
    ('{"qid": 1, "docid": 2, "score": 1e999}\n', ":1: score inf is not a finite number"),
    ('{"qid": 1, "docid": 2, "score": "x"}\n', ":1: score 'x' is not a finite number"),
    ('{"qid": 1, "docid": 2, "score": true}\n', ":1: score 'true' is not a finite number"),
    ('{"qid": 1, "docid": 2, "score": [1]}\n', ":1: score '[1]' is not a finite number"),
    ('{"qid": 1, "docid": 2, "score": 1}\nx\n', ":2: is not a JSON object on one line ("),
    ('{"qid": 1, "docid": 2, "score": 1}\n7\n', ":2: is not a JSON object on one line"),
    (
        '{"qid": 1.5e17, "docid": 2, "score": 1}\n',
        ":1: qid 150000000000000000 has lost digits as a floating-point number",
    ),
    (
        '{"qid": "q ", "docid": 2, "score": 1}\n{"qid": "q", "docid": 3, "score": 1}\n',
        ":2: qid 'q' and 'q ' (line 1) are one without white space at their ends; give ids without it",
    ),
    ('[{"qid": 1, "docid": 2, "score": 1}, {"qid": 1, "docid": 3}]', ": row 2: score is empty"),
    (
        '[{"qid": 1, "docid": 2, "score": 1}, {"qid": 1, "docid": 2, "score": 2}]',
        ": row 2: document '2' is listed twice for query '1', first in row 1; remove one",
    ),
    ('[{"qid": 1, "docid": 2, "score": 1},\n {"qid": 1\n', ":3: is not JSON (Expecting ',' delimiter)"),
    # dictionaries
    ('{"q": {"a": 1,\n "b": "x"}}', ":2: score 'x' of query 'q', document 'b' is not a finite number"),
    ('{"q": {"a": 1,\n\n "b": null}}', ":3: score None of query 'q', document 'b' is not a finite number"),
    ('{"q": {"a": 1},\n"p": {"b": NaN}}', ":2: score NaN of query 'p', document 'b' is not a finite number"),
    (
        '{"q": {"a": 1},\n"p": {"b": -Infinity}}',
        ":2: score -Infinity of query 'p', document 'b' is not a finite number",
    ),
    ('{"q": {"a": 1e999}}', ":1: score inf of query 'q', document 'a' is not a finite number"),
    (
        '{"q": {"a": ' + "9" * 400 + "}}",
        ":1: score 9999999999999999999999999999999999999999… of query 'q', document 'a' is",
    ),
    ('{"q": {"a": true}}', ":1: score True of query 'q', document 'a' is not a finite number"),
    ('{"q": {"a": [1]}}', ":1: score of query 'q', document 'a' is a list or an object; a number is expected"),
    ('{"q": {"a": {"b": 1}}}', ":1: score of query 'q', document 'a' is a list or an object; a number is expected"),
    ('{"q": {"": 1}}', ":1: a document id is empty"),
    ('{" ": {"a": 1}}', ":1: a query id is empty"),
    ('{"q": {"a": 1},\n "p": 7}', ":2: query 'p' has no object {document: score}"),
    ('{"q": {"a": 1},\n "p": ["a"]}', ":2: query 'p' has no object {document: score}"),
    ('{"q": {"a": 1},\n "p": {},\n "q": {"b": 1}}', ":3: query 'q' stands twice, first in line 1; put them together"),
    ('{"q": {"a": 1},\n "q ": {"b": 1}}', ":2: query 'q' stands twice, first in line 1; put them together"),
    ('{"q": {"a": 1,\n "a": 1}}', ":2: document 'a' is listed twice for query 'q', first in line 1; remove one"),
    ('{"q": {"a": 1,\n "a ": 1}}', ":2: document 'a' is listed twice for query 'q', first in line 1; remove one"),
    ('{"q": {"\\ud800": 1}}', r":1: document id '\ud800' holds half a surrogate pair, which is no character"),
    ('{"\\ud800": {"a": 1}}', r":1: query id '\ud800' holds half a surrogate pair, which is no character"),
    ('{"q": {}}', ": lists no document"),
    ("{}", ": holds no query"),
    ('{\n "q": {"a": 1,\n "b": }}', ":3: is not JSON (Expecting value)"),
    ('{\n "q": {"a": 1\n', ":3: is not JSON ("),
    (b'{"q": {"a": 1},\n"\xe9": {"b": 1}}', ":2: is not UTF-8 text; save the file as UTF-8"),
    # damaged
    (gzip.compress(b'{"q": {"a": 1}}' * 50, mtime=0)[:-9], ": is a damaged gzip file ("),
    (b"PAR1 and nothing else", ": is a damaged Parquet file ("),
]


@pytest.mark.parametrize(("content", "message"), SPOILT_RUNS)
def test_spoilt_runs(tmp_path: Path, content: str | bytes, message: str) -> None:
    assert problem_of_run(write(tmp_path, content)).startswith(message)


SPOILT_JUDGMENTS: list[tuple[str | bytes, str]] = [
    # three columns
    ("q a 1\nq b\n", ":2: 2 fields where 3 are expected (qid docid grade)"),
    ("q a 1\n# x\nq b x\n", ":3: grade 'x' is not a number"),
    ("q a 1\n# b 1\n", ":2: is this a comment or a judgment of query '#'? Remove the line"),
    ("q a 1\nq 0 b 1\n", ":2: 4 fields where 3 are expected (qid docid grade)"),
    ("q a 1\nq a 1\n", ":2: document 'a' of query 'q' is judged twice, first in line 1; remove one, or set dupl"),
    # LETOR
    ("1 qid:7 1:0.5 # a\n2\n", ":2: no query id after the grade (grade qid:ID feature:value … # docid)"),
    ("1 qid:7 1:0.5 # a\n2 7 1:0.5 # b\n", ":2: no query id after the grade"),
    ("1 qid:7 1:0.5 # a\n2 qid: 1:0.5 # b\n", ":2: no query id after the grade"),
    ("1 qid:7 1:0.5 # a\n\nx qid:7 1:0.5 # b\n", ":3: grade 'x' is not a finite number"),
    ("1 qid:7 1:0.5 # a\nnan qid:7 1:0.5 # b\n", ":2: grade 'nan' is not a finite number"),
    ("1 qid:7 1:0.5 # a\n1e999 qid:7 1:0.5 # b\n", ":2: grade '1e999' is not a finite number"),
    ("1 qid:7 1:0.5 # a\n1 qid:7 0.5 # b\n", ":2: '0.5' is no feature:value (grade qid:ID"),
    ("1 qid:7 1:0.5 # a\n1 qid:7 1:0.5\n", ":2: names no document after #, but line 1 one; name all or none"),
    ("1 qid:7 1:0.5\n1 qid:7 1:0.5 # b\n", ":2: names a document after #, but line 1 none; name all or none"),
    ("1 qid:7 # a\n1 qid:7 # a\n", ":2: document 'a' of query '7' is judged twice, first in line 1; remove one"),
    ("1 qid:7 # doc 5\n1 qid:7 # doc 6\n", ":2: document 'doc' of query '7' is judged twice, first in line 1"),
    (b"1 qid:7 # a\n1 qid:7 # \xe9\n", ":2: is not UTF-8 text; save the file as UTF-8"),
    # ratings
    ('{"judgmentRatings": []}', ": holds no rating"),
    ('{"judgmentRatings": 7}', ": judgmentRatings is no list"),
    ('{"judgmentRatings": [7]}', ": row 1: an object with one key 'query' is expected"),
    ('{"judgmentRatings": [{"query": "a"}]}', ": row 1: an object with one key 'ratings' is expected"),
    ('{"judgmentRatings": [{"query": "a", "ratings": {}}]}', ": ratings is no list"),
    (
        '{"judgmentRatings": [{"query": "a", "ratings": [{"docId": "d", "rating": 1}, {"docId": "e"}]}]}',
        ": row 2: an object with one key 'rating' is expected",
    ),
    (
        '{"judgmentRatings": [{"query": "a", "ratings": [{"docId": "d", "rating": "x"}]}]}',
        ": row 1: grade 'x' of query 'a', document 'd' is not a finite number",
    ),
    ('{"judgmentRatings": [{"query": "", "ratings": [{"docId": "d", "rating": 1}]}]}', ": row 1: the query is empty"),
    ('{"judgmentRatings": [{"query": "a", "ratings": [{"docId": " ", "rating": 1}]}]}', ": row 1: docId is empty"),
    (
        '{"judgmentRatings": [{"query": ["a"], "ratings": [{"docId": "d", "rating": 1}]}]}',
        ": row 1: ['a'] is no id; ids are text",
    ),
    (
        '{"judgmentRatings": [{"query": "a", "ratings": [{"docId": "d", "rating": 1}, {"docId": "d", "rating": 1}]}]}',
        ": row 2: document 'd' of query 'a' is judged twice, first in row 1; remove one",
    ),
    # dictionaries
    ('{"q": {"a": 1,\n "a": 2}}', ":2: document 'a' of query 'q' is judged twice, first in line 1; remove one"),
    ('{"q": {"a": null}}', ":1: grade None of query 'q', document 'a' is not a finite number"),
]


@pytest.mark.parametrize(("content", "message"), SPOILT_JUDGMENTS)
def test_spoilt_judgments(tmp_path: Path, content: str | bytes, message: str) -> None:
    assert problem_of_judgments(write(tmp_path, content)).startswith(message)


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ("q a 1\n\nq b -1\n", ":3"),
        ("1 qid:q # a\n# x\n-1 qid:q # b\n", ":3"),
        ('{"q": {"a": 1,\n\n"b": -1}}', ":3"),
        ("qid,docid,grade\nq,a,1\nq,b,-1\n", ":3"),
    ],
)
def test_grades_below_zero_by_policy(tmp_path: Path, content: str, place: str) -> None:
    path = write(tmp_path, content)
    assert read_judgments(path, Policies()).table.grade.min() == -1
    problem = problem_of_judgments(path, Policies(negative_grades="error"))
    assert problem == f"{place}: grade -1 is below 0 (negative_grades = 'error')"


LETOR = "1 qid:7 1:0.5 # a\n0 qid:7 1:1 # b\n2 qid:8 1:0 # a\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("0.5\n1\n", ": 2 predictions for 3 judged lines; there must be one for each line"),
        ("0.5\n1\n2\n3\n", ": 4 predictions for 3 judged lines"),
        ("0.5\nx\n2\n", ":2: prediction 'x' is not a finite number"),
        ("0.5\n\nnan\n2\n", ":3: prediction 'nan' is not a finite number"),
        ("0.5\n1 2\n2\n", ":2: prediction '1 2' is not a finite number"),
        ("0.5\n1,5\n2\n", ":2: prediction '1,5' is not a finite number"),
        (b"0.5\n\xe9\n2\n".decode("latin-1"), ":2: prediction 'é' is not a finite number"),
    ],
)
def test_spoilt_predictions(tmp_path: Path, content: str, message: str) -> None:
    listed = read_judgments(write(tmp_path, LETOR, "letor"), Policies()).listed
    path = write(tmp_path, content)
    assert problem_of_run(path, listed=listed).startswith(message)
    good = read_run(write(tmp_path, "0.5\n\n1e-3\r\n-2"), "a", Policies(), listed=listed)
    assert (good.table.score.tolist(), good.audit.blank_lines) == ([0.5, 1e-3, -2], 1)


def test_predictions_need_a_letor_file(tmp_path: Path) -> None:
    assert problem_of_run(write(tmp_path, "0.5\n1\n")) == (
        ": holds one number a line, as predictions for the lines of a LETOR file, but the judgments are no LETOR file; "
        "give a run that names queries and documents"
    )


def spoilt_parquet(**columns: Any) -> bytes:
    sink = io.BytesIO()
    pa.parquet.write_table(pa.table({"qid": ["q", "q"], "docid": ["a", "b"], "score": [1.0, 2.0]} | columns), sink)
    return sink.getvalue()


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"score": [1.0, None]}, ": row 2: score is empty"),
        ({"score": [1.0, float("nan")]}, ": row 2: score nan is not a finite number"),
        ({"score": [1.0, float("-inf")]}, ": row 2: score -inf is not a finite number"),
        ({"score": ["1", "x"]}, ": row 2: score 'x' is not a finite number"),
        ({"score": [[1.0], [2.0]]}, ": row 1: score '[1.0]' is not a finite number"),
        ({"docid": ["a", None]}, ": row 2: docid is empty"),
        ({"docid": ["a", "a"]}, ": row 2: document 'a' is listed twice for query 'q', first in row 1; remove one"),
        ({"docid": ["a", "a "]}, ": row 2: docid 'a ' and 'a' (row 1) are one without white space at their ends"),
        (
            {"qid": [1e16, 2.0]},
            ": row 1: qid 10000000000000000 has lost digits as a floating-point number; give ids as text",
        ),
    ],
)
def test_spoilt_parquet(tmp_path: Path, columns: dict[str, Any], message: str) -> None:
    assert problem_of_run(write(tmp_path, spoilt_parquet(**columns))).startswith(message)
