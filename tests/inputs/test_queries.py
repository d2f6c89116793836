from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from rankstats.errors import InputError
from rankstats.inputs import read_queries
from rankstats.tables import Queries


def write(folder: Path, content: str) -> Path:
    path = folder / "queries"
    path.write_bytes(content.encode())
    return path


def read(folder: Path, content: str, **columns: str) -> Queries:
    return read_queries(write(folder, content), **columns).table


def problem(folder: Path, content: str, **columns: str) -> str:
    path = write(folder, content)
    with pytest.raises(InputError) as error:
        read_queries(path, **columns)
    return str(error.value).removeprefix(str(path))


@pytest.mark.parametrize(
    "content",
    [
        "query_id\tquery\tclicks\tkind\n007\tred shoes\t12\ta\n1e5\t\t\t\n",
        "query_id,query,clicks,kind\r\n007,red shoes,12,a\r\n1e5,,,\r\n",
        "\ufeffquery_id;query;clicks;kind\n\n007;red shoes; 12 ;a\n1e5;;;",
        '"query_id","query","clicks","kind"\n"007","red shoes","12","a"\n"1e5","","",""\n',
        '{"query_id": "007", "query": "red shoes", "clicks": 12, "kind": "a"}\n\n{"query_id": "1e5", "clicks": null}\n',
    ],
)
def test_formats(tmp_path: Path, content: str) -> None:
    queries = read(tmp_path, content)
    assert (queries.query_ids, queries.text, queries.frequency) == (("007", "1e5"), "query", "clicks")
    assert list(queries.columns) == ["query", "clicks", "kind"]
    assert queries.columns["query"].tolist() == ["red shoes", None]
    assert queries.columns["kind"].tolist() == ["a", None]
    assert queries.columns["clicks"].dtype == np.float64
    assert np.array_equal(queries.columns["clicks"], [12, np.nan], equal_nan=True)


def test_parquet(tmp_path: Path) -> None:
    path = tmp_path / "queries.parquet"
    table = pa.table(
        {
            "qid": pa.array([12345678901234567890, 7], pa.uint64()),
            "text": pa.array(["a", None]).dictionary_encode(),
            "freq": [3, None],
            "share": [0.5, float("nan")],
            "new": [True, False],
            "vector": [[1, 2], None],
            "day": pa.array([0, 1], pa.date32()),
        }
    )
    pa.parquet.write_table(table, path)
    queries = read_queries(path).table
    assert (queries.query_ids, queries.text, queries.frequency) == (("12345678901234567890", "7"), "text", "freq")
    assert queries.columns["text"].tolist() == ["a", None]
    assert np.array_equal(queries.columns["freq"], [3, np.nan], equal_nan=True)
    assert np.array_equal(queries.columns["share"], [0.5, np.nan], equal_nan=True)
    assert queries.columns["new"].tolist() == ["true", "false"]
    assert queries.columns["vector"].tolist() == ["[1, 2]", None]
    assert queries.columns["day"].tolist() == ["1970-01-01", "1970-01-02"]


def test_damaged_parquet(tmp_path: Path) -> None:
    assert problem(tmp_path, "PAR1 and no more").startswith(": is a damaged Parquet file (")


def test_two_columns_without_a_header_row(tmp_path: Path) -> None:
    queries = read(tmp_path, '007\t"red" shoes, size 7\nNA\tquery\n')
    assert (queries.query_ids, queries.text) == (("007", "NA"), "text")
    assert queries.columns["text"].tolist() == ['"red" shoes, size 7', "query"]
    by_comma = read(tmp_path, 'a,"red, shoes"\nb,\n')
    assert by_comma.columns["text"].tolist() == ["red, shoes", None]


@pytest.mark.parametrize(
    ("content", "columns", "ids", "text"),
    [
        ("qid\ttext\n1\ta\n", {}, ("1",), "text"),
        ("query\tkind\nred shoes\ta\n", {}, ("red shoes",), "query"),
        ("kind\tquery\na\tred shoes\n", {"id_column": "query"}, ("red shoes",), "query"),
        ("nr\twords\n1\ta\n", {"id_column": "nr", "text": "words"}, ("1",), "words"),
        ("Query ID,Title\n1,a\n", {}, ("1",), "Title"),
        ("id,query,title\n1,a,b\n", {"text": "title"}, ("1",), "title"),
        ("title,query\n1,a\n", {"text": "query"}, ("a",), "query"),
        ("q1\tquery\n", {}, ("q1",), "text"),
        ("1\tid\n", {}, ("1",), "text"),
        ("id\nq1\n", {}, ("q1",), None),
    ],
)
def test_header_and_columns(
    tmp_path: Path, content: str, columns: dict[str, str], ids: tuple[str, ...], text: str | None
) -> None:
    queries = read(tmp_path, content, **columns)
    assert (queries.query_ids, queries.text) == (ids, text)
    assert text is None or text in queries.columns


def test_text_stays_text_and_numbers_become_numbers(tmp_path: Path) -> None:
    queries = read(tmp_path, "qid,query,a,b,c\n1,42,+1.5,nan,1\n2,7,.5e1,2,\n3,,-3,,x\n")
    assert queries.columns["query"].tolist() == ["42", "7", None]
    assert queries.columns["a"].tolist() == [1.5, 5, -3]
    assert queries.columns["b"].tolist() == ["nan", "2", None]
    assert queries.columns["c"].tolist() == ["1", None, "x"]


def test_quoted_cells_hold_anything(tmp_path: Path) -> None:
    queries = read(tmp_path, 'qid,query\n1,"a ""b"",\n\nc"\n"2,3",d\n')
    assert queries.query_ids == ("1", "2,3")
    assert queries.columns["query"].tolist() == ['a "b",\n\nc', "d"]


def test_quotes_are_ordinary_between_tabs(tmp_path: Path) -> None:
    queries = read(tmp_path, 'qid\tquery\n1\t"27 inch" monitor\n2\t27" monitor\n3\t"open\n')
    assert queries.columns["query"].tolist() == ['"27 inch" monitor', '27" monitor', '"open']


@pytest.mark.parametrize(
    ("content", "columns", "message"),
    [
        ("qid,text\n1,a\n2,b\n\n1,c\n", {}, ":5: query '1' is listed twice, first in line 2; remove one"),
        ('qid,text\n1,"a\nb"\n1,c\n', {}, ":4: query '1' is listed twice, first in line 2; remove one"),
        ("1\ta\n2\tb\n1\tc\n", {}, ":3: query '1' is listed twice, first in line 1; remove one"),
        ("qid,text\n1,a\n,b\n", {}, ":3: qid is empty"),
        ("qid,text\n1,a\n2\n", {}, ":3: 1 cell where 2 are expected (qid, text)"),
        ('qid\ttext\n1\t"a\nb"\n', {}, ":3: 1 cell where 2 are expected (qid, text)"),
        (
            'qid\ttext\n1\t"a\tb"\n',
            {},
            ":2: 3 cells where 2 are expected (qid, text); quotes do not enclose cells in a tab-separated file",
        ),
        ("qid,text,freq\n1,a,2\n2,b,x\n", {}, ":3: freq 'x' is not a finite number"),
        ("qid,text,freq\n1,a,2\n2,b,-1\n", {}, ":3: freq -1 is below 0"),
        ("qid,text,freq\n1,a,2\n2,b,1e308\n", {}, ":3: freq 1e+308 is beyond 1e+100"),
        (
            'qid,text,freq\n1,a,"1,234"\n2,b,"12,345"\n',
            {},
            ":2: freq '1,234' is not a number; leave out separators of thousands, and write a decimal point",
        ),
        ("qid,text,freq\n1,a,\n2,b,1 234\n", {}, ":3: freq '1 234' is not a number; leave out separators"),
        ("qid,text,freq\n1,a,0x10\n", {}, ":2: freq '0x10' is not a finite number"),
        ("qid,text,freq\n1,a,inf\n", {}, ":2: freq 'inf' is not a finite number"),
        ("qid,text,freq\n1,a,١٢\n", {}, ":2: freq '١٢' is not a finite number"),
        ("qid,text,kind\n1,a,x\n", {"frequency": "kind"}, ":2: kind 'x' is not a finite number"),
        (
            "qid,text\n1,a\n",
            {"text": "tex"},
            ": no column 'tex' (--text); did you mean 'text'? (there are qid, text)",
        ),
        ("qid,text\n1,a\n", {"frequency": "n"}, ": no column 'n' (--frequency) (there are qid, text)"),
        ("a,b,c\n1,2,3\n", {}, ": no header row (3 comma-separated cells, none a known column name)"),
        ("text,kind\n1,a\n", {}, ": no query id column; name it with --id (there are text, kind)"),
        (
            "text,kind\n1,a\n",
            {"id_column": "x"},
            ": no column 'x' (--id) (there are text, kind)",
        ),
        ("qid,text\n", {}, ": the table has no rows"),
        ("", {}, ": the file is empty"),
        ("[1]", {}, ": is JSON or XML, not a table; give TSV, CSV, JSON lines or Parquet"),
        ("[{}]", {}, ": the table has no rows"),
        ('[\n {"qid": 1, "query": "a"},\n {"qid": }\n]', {}, ":3: is not JSON (Expecting value)"),
        ('[{"qid": 1}, 7]', {}, ": row 2: is not a JSON object"),
        ('[{"qid": 1}, {"qid": 1}]', {}, ": row 2: query '1' is listed twice, first in row 1; remove one"),
        ('[{"qid": 1, "a": NaN}]', {}, ": row 1: NaN is not a finite number"),
        ('[{"qid": 1, "a": 1, "a": 2}]', {}, ": row 1: the key 'a' stands twice in one object; remove one"),
        ('[{"qid": ' + "[" * 100_000 + "]", {}, ": is nested too deep"),
        ('[{"qid": 1, "a": ' + "1" * 5000 + "}]", {}, ": is not JSON ("),
        ('{"qid": 1}\n{"qid": }\n', {}, ":2: is not a JSON object on one line ("),
        ('{"qid": 1, "query": "\\ud800"}\n', {}, r":1: '\ud800' holds half a surrogate pair, which is no character"),
        ('{"qid": 1, "a": {"b": ["\\ud800"]}}\n', {}, ':1: \'{"b": ["\\ud800"]}\' holds half a surrogate pair'),
        ('{"qid": 1}\n{"qid": 2, "\\udc00": 1}\n', {}, r":2: '\udc00' holds half a surrogate pair"),
        ('{"qid": ' + "1" * 5000 + "}\n", {}, ":1: is not a JSON object on one line ("),
        ('{"qid": 1, "a": ' + "[" * 100_000 + "}\n", {}, ":1: is nested too deep"),
        ('{"qid": 1, "a": 2, "a": 3}\n', {}, ":1: the key 'a' stands twice in one object; remove one"),
        ('{"qid": 1}\n{"qid": 2, "a": {"b": 1, "b": 1}}\n', {}, ":2: the key 'b' stands twice in one object"),
        ('{"qid": 1}\n\n{"qid": 1}\n', {}, ":3: query '1' is listed twice, first in line 1; remove one"),
    ],
)
def test_fault_is_named_with_its_line(tmp_path: Path, content: str, columns: dict[str, str], message: str) -> None:
    assert problem(tmp_path, content, **columns).startswith(message)


def test_an_array_of_objects_reads_like_lines(tmp_path: Path) -> None:
    lines = '{"qid": "007", "query": "red", "clicks": 3, "x": [1]}\n{"qid": 2, "query": null, "clicks": 0.5}\n'
    array = "[\n" + lines.strip().replace("\n", ",\n") + "\n]"
    expected, got = read(tmp_path, lines), read(tmp_path, array)
    assert (got.query_ids, got.text, got.frequency) == (expected.query_ids, expected.text, expected.frequency)
    assert {name: column.tolist() for name, column in got.columns.items()} == {
        name: column.tolist() for name, column in expected.columns.items()
    }


def test_bytes_that_are_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "queries"
    path.write_bytes(b"qid,text\n1,a\n2,\xe9\n")
    with pytest.raises(InputError, match=r":3: is not UTF-8 text; save the file as UTF-8"):
        read_queries(path)


def test_parquet_rows_are_named_as_rows(tmp_path: Path) -> None:
    path = tmp_path / "queries.parquet"
    pa.parquet.write_table(pa.table({"qid": ["1", "2", "1"], "text": ["a", "b", "c"]}), path)
    with pytest.raises(InputError, match=r": row 3: query '1' is listed twice, first in row 1; remove one"):
        read_queries(path)


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["007", "7", "07"], ["007", "7", "07"]),
        (["12345678901234567890", "12345678901234567891", ""], ["12345678901234567890", "12345678901234567891", None]),
        (["1234567890123456", "1", "2"], ["1234567890123456", "1", "2"]),
        (["-0", "0", "1"], ["-0", "0", "1"]),
        (["+007", " 07 ", "1"], ["+007", "07", "1"]),
        (["00.5", "0.5", "1"], ["00.5", "0.5", "1"]),
        (["123456789012345", "0", "-1"], [123456789012345, 0, -1]),
        (["0.5", "0.30000000000000004", "-0.0"], [0.5, 0.30000000000000004, 0]),
        (["0", "10", "1e20"], [0, 10, 1e20]),
    ],
)
def test_whole_numbers_that_are_ids_stay_text(tmp_path: Path, cells: list[str], values: list[object]) -> None:
    content = "qid,kind\n" + "".join(f"q{row},{cell}\n" for row, cell in enumerate(cells))
    column = read(tmp_path, content).columns["kind"]
    assert column.tolist() == values
    assert (column.dtype == object) == isinstance(values[0], str)
    lines = "".join(f'{{"qid": "q{row}", "kind": "{cell}"}}\n' for row, cell in enumerate(cells))
    assert read(tmp_path, lines).columns["kind"].tolist() == values


def test_ids_in_formats_that_know_numbers(tmp_path: Path) -> None:
    path = tmp_path / "queries.parquet"
    ids = [12345678901234567890, 12345678901234567891]
    pa.parquet.write_table(pa.table({"qid": ["a", "b"], "kind": pa.array(ids, pa.uint64()), "x": [1e16, 2.0]}), path)
    columns = read_queries(path).table.columns
    assert columns["kind"].tolist() == list(map(str, ids))
    assert columns["x"].tolist() == [1e16, 2.0]
    lines = f'{{"qid": 1, "kind": {ids[0]}}}\n{{"qid": 2, "kind": {ids[1]}}}\n{{"qid": 3, "kind": 0.5}}\n'
    assert read(tmp_path, lines).columns["kind"].tolist() == [str(ids[0]), str(ids[1]), "0.5"]


def test_columns_that_are_asked_for_as_numbers(tmp_path: Path) -> None:
    path = write(tmp_path, "qid,query,kind,clicks\n1,a,007,0012\n2,b,1234567890123456,\n3,c,,-0\n")
    queries = read_queries(path, numeric=["kind", "absent"]).table
    assert np.array_equal(queries.columns["kind"], [7, 1234567890123456, np.nan], equal_nan=True)
    assert np.array_equal(queries.columns["clicks"], [12, np.nan, 0], equal_nan=True)
    path = write(tmp_path, "qid,query,kind\n1,a,1\n2,b,x\n")
    with pytest.raises(InputError, match=r":3: kind 'x' is not a finite number$"):
        read_queries(path, numeric=["kind"])


def test_a_frequency_without_numbers_is_an_attribute_and_said(tmp_path: Path) -> None:
    path = write(tmp_path, "qid,query,frequency,clicks\n1,a,high,3\n2,b,low,4\n")
    queries = read_queries(path)
    assert queries.table.frequency == "clicks"
    assert queries.table.columns["frequency"].tolist() == ["high", "low"]
    note = f"column frequency of {path} holds no number, so it is not read as the frequency"
    assert queries.audit.notes == (note,)
    assert queries.audit.to_dict()["notes"] == [note]


def test_columns_named_by_numbers(tmp_path: Path) -> None:
    queries = read(tmp_path, "query_id,2023,2024\na,1,2\nb,3,4\n")
    assert (queries.query_ids, list(queries.columns)) == (("a", "b"), ["2023", "2024"])
    assert problem(tmp_path, "12,query,3\n13,shoes,4\n").startswith(": no header row (3 comma-separated cells")
    assert read(tmp_path, "7,words\na,b\n", id_column="7", text="words").query_ids == ("a",)


def test_two_parquet_columns_of_one_name(tmp_path: Path) -> None:
    path = tmp_path / "queries.parquet"
    table = pa.Table.from_arrays([pa.array(["a"]), pa.array([1]), pa.array([2])], ["qid", "x", "x"])
    pa.parquet.write_table(table, path)
    with pytest.raises(InputError, match=r": two columns are named 'x'; rename one$"):
        read_queries(path)
